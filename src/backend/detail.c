// Everything about one event, why it is in its group, and the audit.
#include "backend/reader.h"

#include <string.h>
#include "base/text.h"
#include "core/envelope/schema_id.h"
#include "core/fingerprint/fingerprint.h"
#include "core/fingerprint/rules.h"
#include "publish/undoing.h"
#include "store/operations/audit.h"
#include "store/rollup/categories.h"
#include "store/events/decode.h"
#include "store/events/history.h"
#include "store/events/payload.h"
#include "store/events/revisions.h"

enum {
    PAYLOAD_SHOWN = 4 << 20,  // parsed and rendered at once up to here: a 2 MB payload opens without delay
    PAYLOAD_WHOLE = 64 << 20, // for the editor, which shows what is longer than it edits
    AUDIT_PAGE = 200,
};

static bool
reader_detail_read_beginning(struct reader *reader, int64_t id, size_t cut, struct reply *reply,
                             struct event *event, struct err *err)
{
    unsigned fields = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_RAW | EVENT_REPLACED |
                      EVENT_GROUP | EVENT_KNOWN;
    struct event_query query = {.takes_unreadable = true,
                                .fields = fields,
                                .ids = &id,
                                .id_count = 1,
                                .cut = cut,
                                .payload_cut = PAYLOAD_SLICE};
    struct event_page page = {0};
    if (!store_events(reader->session.store, &query, &page, err))
        return false;
    bool is_there = page.count == 1;
    if (is_there)
        *event = page.events[0];
    arena_adopt(&reply->arena, &page.arena);
    event_page_release(&page);
    return is_there || err_set(err, ERR_NOT_FOUND, "event %lld is no longer in the table", (long long)id);
}

// With the payload up to `cut` bytes, 0: whole. Again where somebody changed it between its beginning and the
// rest.
static bool
reader_detail_read_event(struct reader *reader, int64_t id, size_t cut, struct reply *reply,
                         struct event *event, struct err *err)
{
    enum { TIMES = 3 };
    struct err failure = {0};
    for (int i = 0; i < TIMES; i++) {
        err_clear(&failure);
        if (!reader_detail_read_beginning(reader, id, cut, reply, event, err))
            return false;
        if (payload_complete(reader->session.store, cut ? cut : SIZE_MAX, &reply->arena, event, &failure))
            return true;
        if (failure.kind != ERR_CONFLICT)
            break;
    }
    *err = failure;
    return false;
}

// Plans what a reprocess would send, without asking Kafka: the screen has no connection to it.
static void
plan_event(struct reader *reader, struct reply *reply)
{
    struct event_detail *detail = &reply->detail;
    struct would_send *send = &detail->would_send;
    struct plan plan;
    struct plan_input input = {.event = &detail->event};
    plan_make(&reader->session.settings->plan, &input, &reply->arena, &plan);
    *send = (struct would_send){
        .topic = plan.topic,
        .partition = plan.partition,
        .key = plan.key,
        .headers = plan.headers,
        .header_count = plan.header_count,
        .kept_count = plan.kept_count,
        .dropped = plan.dropped,
        .dropped_count = plan.dropped_count,
        .topic_why = plan.topic_why,
        .size = plan.value.len,
        .is_exact = plan.is_exact,
        .why = plan.why,
        .is_received_exact = plan.received.is_exact,
        .received_why = plan.received.why,
        .refusal = plan.refusal,
    };
}

// What its dead letter says, of the record that is kept or of the row's own payload.
static bool
read_letter(struct reader *reader, struct reply *reply, struct err *err)
{
    struct event_detail *detail = &reply->detail;
    const struct event_record *kept = &detail->event.record;
    struct dead_letter *letter = &detail->letter;
    struct letter_undoing undoing;
    struct schema_id schema;
    undoing_read(reader->session.settings->plan.rules, &detail->event, NULL, &reply->arena, &undoing);
    *letter = (struct dead_letter){
        .is_there = envelope_format_is_known(undoing.envelope.format) || bytes_present(kept->format),
        .envelope = undoing.envelope,
        .unsure = undoing.unsure,
        .original = event_original_text(&detail->event, &reply->arena),
    };
    if (bytes_present(kept->format))
        letter->place = arena_printf(&reply->arena, "%.*s, partition %d, offset %lld",
                                     BYTES_ARGS(kept->topic), (int)kept->partition, (long long)kept->offset);
    if (schema_id_of(&undoing.record, &schema))
        letter->schema = schema_id_text(&schema, &reply->arena);
    letter->is_there |= letter->schema != NULL;
    if (!letter->unsure)
        envelope_parts(&undoing.record, &undoing.envelope, &undoing.undo, &reply->arena, &letter->data,
                       &letter->metadata);
    if (undoing.is_inside) // the payload is the data
        letter->data = BYTES_ABSENT;
    return event_decode(reader->session.store, &detail->event, &undoing.record, &undoing.undo, &reply->arena,
                        &letter->decoded, err);
}

void
reader_event_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_EVENT, request->number);
    struct event_detail *detail = &reply->detail;
    bool has_schema = store_info(reader->session.store)->schema_version > 0;
    size_t cut = request->is_on ? PAYLOAD_WHOLE : PAYLOAD_SHOWN;
    bool ok = reader_detail_read_event(reader, request->id, cut, reply, &detail->event, &err) &&
              (!has_schema || (store_revisions(reader->session.store, request->id, &reply->arena,
                                               &detail->revisions, &detail->revision_count, &err) &&
                               event_decisions(reader->session.store, request->id, &reply->arena,
                                               &detail->decisions, &detail->decision_count, &err) &&
                               event_attempts(reader->session.store, request->id, &reply->arena,
                                              &detail->attempts, &detail->attempt_count, &err) &&
                               event_letters(reader->session.store, request->id, &reply->arena,
                                             &detail->letters, &detail->letter_count, &err)));
    ok = ok && read_letter(reader, reply, &err);
    if (!ok) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    plan_event(reader, reply);
    reply->is_last = true;
    session_reply(&reader->session, reply);
}

void
reader_original_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_EVENT, request->number);
    struct event *event = &reply->detail.event;
    bool is_kept;
    if (!store_original(reader->session.store, request->id, &reply->arena, &event->payload, &is_kept, &err)) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    event->id = request->id;
    reply->is_last = true;
    session_reply(&reader->session, reply);
}

static void
explain_category(const struct store *store, const struct category_rules *rules,
                 struct explanation *explanation, struct arena *arena)
{
    const struct fingerprint *print = &explanation->print;
    explanation->by_rules =
        category_of(rules, print->root_class, print->pattern, &explanation->category_rule);
    explanation->category = explanation->by_rules;
    const struct override *override = overrides_of(store_overrides(store), print->key);
    if (!override)
        return;
    explanation->is_overridden = true;
    explanation->category = override->category;
    explanation->override = *override;
    explanation->override.who = arena_text(arena, bytes_of(override->who));
    explanation->override.reason = arena_text(arena, bytes_of(override->reason));
}

void
reader_why_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct event event;
    struct reply *reply = reply_create(REPLY_WHY, request->number);
    if (!reader_categories_look(reader, &err) ||
        !reader_detail_read_event(reader, request->id, 0, reply, &event, &err)) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }

    struct explanation *explanation = &reply->explanation;
    const struct store_settings *store = &reader->session.settings->store;
    struct fingerprint_input input = {
        .message = event.error_message, .stack = event.stack_trace, .rules = store->group_rules};
    explanation->print = fingerprint_explain(&input, &reply->arena);
    char version[GROUP_RULES_VERSION];
    explanation->rules_version =
        arena_text(&reply->arena, bytes_of(group_rules_version(store->group_rules, version)));
    explain_category(reader->session.store, store->rules, explanation, &reply->arena);
    reply->is_last = true;
    session_reply(&reader->session, reply);
}

void
reader_audit_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_AUDIT, request->number);
    const struct audit_query query = {.operation = request->operation,
                                      .before = request->before,
                                      .of_people = request->is_on,
                                      .limit = AUDIT_PAGE};
    if (!audit_list(reader->session.store, &query, &reply->arena, &reply->audit.rows, &reply->audit.count,
                    &err)) {
        reply_destroy(reply);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    reply->is_last = reply->audit.count < AUDIT_PAGE;
    session_reply(&reader->session, reply);
}
