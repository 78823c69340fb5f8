#include "commands/one_event.h"

#include <inttypes.h>
#include "commands/publishing.h"
#include "publish/originals.h"
#include "publish/undoing.h"
#include "store/events/decode.h"
#include "store/events/events.h"
#include "store/events/history.h"
#include "store/events/revisions.h"
#include "store/operations/operations.h"

enum { KAFKA_TIMEOUT_MS = 8000 };

bool
one_event_read(struct store *store, int64_t id, struct one_event *one, struct err *err)
{
    bool has_schema = store_info(store)->schema_version > 0;
    unsigned fields = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_RAW | EVENT_REPLACED |
                      EVENT_GROUP | EVENT_KNOWN;
    struct event_query query = {.takes_unreadable = true, .fields = fields, .ids = &id, .id_count = 1};
    struct event_page page = {0};
    if (!store_events(store, &query, &page, err))
        return false;
    bool is_there = page.count == 1;
    if (is_there)
        one->event = page.events[0];
    arena_adopt(&one->arena, &page.arena);
    event_page_release(&page);
    one->zone_us = one->event.created_wall - one->event.created_at;
    if (!is_there)
        return err_set(err, ERR_NOT_FOUND, "no event has the id %" PRId64, id);
    return !has_schema ||
           (store_revisions(store, id, &one->arena, &one->revisions, &one->revision_count, err) &&
            event_decisions(store, id, &one->arena, &one->decisions, &one->decision_count, err) &&
            event_attempts(store, id, &one->arena, &one->attempts, &one->attempt_count, err) &&
            event_letters(store, id, &one->arena, &one->letters, &one->letter_count, err));
}

// Asks Kafka for the original record where none is kept, and for the target topic. Without brokers, or when
// they do not answer, the plan says that Kafka was not asked.
static bool
ask_kafka(struct call *call, struct store *store, struct one_event *one, struct plan_input *input,
          struct topic *topic, struct err *err)
{
    struct broker_settings settings;
    struct broker *broker = NULL;
    if (!publishing_broker_ready(call, &settings, err))
        return false;
    if (!broker_settings_present(&settings))
        return true;
    if (!broker_open(&broker, &settings, err))
        return false;
    const struct event *event = &one->event;
    bool ok = true;
    if (plan_wants_original(event)) {
        ok = originals_find(store, broker, &event, 1, KAFKA_TIMEOUT_MS, NULL, NULL, &one->arena,
                            &one->original, err);
        input->original = &one->original;
    }
    struct plan_settings plan_settings = publishing_plan(call);
    struct plan plan = {
        0}; // where it would go decides which topic is looked at, and that decides the partition
    struct err unknown = {0}; // then the partition is shown as far as it is known
    plan_make(&plan_settings, input, &one->arena, &plan);
    if (ok && plan.topic != NULL && broker_topic(broker, plan.topic, KAFKA_TIMEOUT_MS, topic, &unknown))
        input->topic = topic;
    broker_close(broker);
    return ok;
}

bool
one_event_plan(struct call *call, struct store *store, struct one_event *one, struct err *err)
{
    struct plan_settings settings = publishing_plan(call);
    struct topic topic = {0};
    struct plan_input input = {.event = &one->event, .reprocess_count = one->event.known.published + 1};
    if (!ask_kafka(call, store, one, &input, &topic, err))
        return false;
    plan_make(&settings, &input, &one->arena, &one->plan);

    struct letter_undoing undoing;
    bool is_found = one->original.state == ORIGINAL_FOUND && input.original;
    undoing_read(settings.rules, &one->event, is_found ? &one->original.record : NULL, &one->arena, &undoing);
    one->letter = (struct letter){undoing.record, undoing.envelope, undoing.undo,
                                  event_original_text(&one->event, &one->arena)};
    one->has_letter =
        envelope_format_is_known(undoing.envelope.format) || bytes_present(one->event.record.format);
    return event_decode(store, &one->event, &undoing.record, &undoing.undo, &one->arena, &one->decoded, err);
}

// A revision, even the newest, is not asked for: the payload that was received is wanted.
bool
one_event_original(struct call *call, struct store *store, struct one_event *one, struct bytes *payload,
                   bool *is_exact, struct err *err)
{
    struct event *event = &one->event;
    *payload = event->payload;
    *is_exact = event->record.is_kept;
    if (event->known.correction.has_payload && store_info(store)->schema_version > 0 &&
        !store_original(store, event->id, &one->arena, payload, is_exact, err))
        return false;
    if (*is_exact)
        return true;
    if (!one_event_plan(call, store, one, err))
        return false;
    if (one->original.state == ORIGINAL_FOUND) {
        *payload = one->original.record.value;
        *is_exact = true;
    }
    return true;
}

const struct revision *
one_event_revision(const struct one_event *one, int64_t no)
{
    for (size_t i = 0; i < one->revision_count; i++)
        if (one->revisions[i].no == no)
            return &one->revisions[i];
    return NULL;
}

void
one_event_release(struct one_event *one)
{
    arena_release(&one->arena);
}
