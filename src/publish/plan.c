#include "publish/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "base/strbuf.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/envelope/dropped_headers.h"
#include "core/envelope/topic_name.h"
#include "core/json/json.h"
#include "core/target.h"
#include "publish/undoing.h"

#define OUR_HEADERS 8

bool
plan_key_check(const char *rule, struct err *err)
{
    if (!rule || strcmp(rule, "source_id") == 0 || strcmp(rule, "event_id") == 0 || strcmp(rule, "none") == 0)
        return true;
    if (rule[0] != '$')
        return err_set(err, ERR_USAGE,
                       "%s is no rule for record keys: source_id, event_id, none, or $.path in the payload",
                       rule);

    struct json_path *path;
    if (!json_path_parse(&path, bytes_of(rule), err))
        return err_context(err, "the rule for record keys");
    json_path_destroy(path);
    return true;
}

bool
plan_wants_original(const struct event *event)
{
    return bytes_present(event->topic) && event->origin.has_partition && event->origin.has_offset &&
           event->origin.partition >= 0 && event->origin.offset >= 0 &&
           (!event->record.is_kept || undoing_is_pointer(event));
}

static uint64_t
varint_size(uint64_t n)
{
    // Lengths are written zigzag, which doubles them.
    uint64_t size = 1;
    for (n *= 2; n >= 0x80; n >>= 7)
        size++;
    return size;
}

static uint64_t
field_size(struct bytes b)
{
    return varint_size(b.len) + b.len;
}

uint64_t
plan_size(const struct plan *plan)
{
    uint64_t record = 3 + field_size(plan->key) + field_size(plan->value) + varint_size(plan->header_count);
    for (uint32_t i = 0; i < plan->header_count; i++)
        record += field_size(plan->headers[i].name) + field_size(plan->headers[i].value);
    return 61 + varint_size(record) + record;
}

// One plan in the making.
struct making {
    const struct plan_settings *settings;
    const struct plan_input *input;
    const struct record *original; // NULL: not available
    struct letter_undoing undoing; // with has_undoing
    bool has_undoing;
    struct arena *arena;
    struct plan *plan;
};

// The first refusal wins.
static void publish_plan_refuse(struct making *making, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
publish_plan_refuse(struct making *making, const char *format, ...)
{
    if (making->plan->refusal)
        return;
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    making->plan->refusal = arena_text(making->arena, strbuf_bytes(&text));
    strbuf_release(&text);
}

static const char *
place_of(struct making *making)
{
    const struct event *event = making->input->event;
    return arena_printf(making->arena, "%.*s/%d@%" PRId64, BYTES_ARGS(event->topic),
                        (int)event->origin.partition, event->origin.offset);
}

// Why the text of the jsonb column is all there is.
static const char *
explain_jsonb(struct making *making)
{
#define TEXT_OF_JSONB                                                                                        \
    "PostgreSQL's text of the payload: same JSON value, but whitespace, key order and number format may "    \
    "differ"
    static const char text[] = TEXT_OF_JSONB;
    const struct original *original = making->input->original;
    if (!plan_wants_original(making->input->event))
        return TEXT_OF_JSONB "; no copy of the record is kept and the event does not say where it was";
#undef TEXT_OF_JSONB
    switch (original ? original->state : ORIGINAL_NOT_ASKED) {
    case ORIGINAL_NOT_ASKED:
        return arena_printf(making->arena,
                            "%s; the worker sends the original record instead if it still is at %s and holds "
                            "the same JSON value",
                            text, place_of(making));
    case ORIGINAL_OTHER:
        return arena_printf(making->arena, "%s; the record at %s is not this event's", text,
                            place_of(making));
    case ORIGINAL_FOUND:
    case ORIGINAL_GONE:
    case ORIGINAL_UNREADABLE:
    case ORIGINAL_FAILED:
        break;
    }
    return arena_printf(making->arena, "%s; the original at %s cannot be read: %s", text, place_of(making),
                        original && original->why ? original->why : "it is gone");
}

// What is no dead letter needs of its reading only what the record itself holds. A chunk has thousands of
// such events, and the rest of the reading would stay as long as they do.
static const struct letter_undoing *
undoing_of(struct making *making)
{
    struct letter_undoing *undoing = &making->undoing;
    if (making->has_undoing)
        return undoing;
    struct arena_mark before = arena_mark(making->arena);
    undoing_read(making->settings->rules, making->input->event, making->original, making->arena, undoing);
    making->has_undoing = true;
    if (!envelope_format_is_known(undoing->envelope.format)) {
        *undoing = (struct letter_undoing){.is_set = undoing->is_set,
                                           .rule = undoing->rule,
                                           .record = undoing->record,
                                           .envelope = {.format = undoing->envelope.format},
                                           .undo = {.how = undoing->undo.how,
                                                    .key = undoing->record.key,
                                                    .value = undoing->record.value,
                                                    .reprocessed = undoing->undo.reprocessed}};
        arena_rewind(making->arena, before);
    }
    return undoing;
}

// The value before anything is undone.
static void
plan_received(struct making *making)
{
    const struct plan_input *input = making->input;
    const struct event_original *fetched = &input->event->record.original;
    struct plan *plan = making->plan;

    plan->value = input->event->payload;
    if (input->event->known.correction.has_payload) {
        plan->source = PAYLOAD_REVISION;
        plan->why = "the corrected payload; the original is kept";
    } else if (fetched->state == EVENT_ORIGINAL_FETCHED) {
        plan->source = PAYLOAD_ORIGINAL;
        plan->is_exact = true;
        plan->why =
            arena_printf(making->arena, "the original record, as redrive ingest read it at %.*s/%d@%" PRId64,
                         BYTES_ARGS(fetched->topic), (int)fetched->partition, fetched->offset);
    } else if (input->event->record.is_kept) {
        plan->source = PAYLOAD_RAW;
        plan->is_exact = true;
        plan->why = "the bytes of the record as it was received";
    } else if (making->original) {
        plan->source = PAYLOAD_ORIGINAL;
        plan->value = making->original->value;
        plan->is_exact = true;
        plan->why = arena_printf(making->arena, "the original record, read again at %s", place_of(making));
    } else {
        plan->source = PAYLOAD_JSONB;
        plan->why = explain_jsonb(making);
        // Sending something else than the original because Kafka was slow for a moment would not be what was
        // confirmed.
        if (input->original && input->original->state == ORIGINAL_FAILED)
            publish_plan_refuse(making, "the original record at %s could not be read: %s; try again",
                                place_of(making), input->original->why);
    }
}

// Why the original that a dead letter points at cannot be read.
static const char *
why_not_pointed(struct making *making, const struct letter_undoing *undoing)
{
    const struct original *original = making->input->original;
    const struct event_original *asked = &making->input->event->record.original;
    if (original && original->why)
        return original->why;
    return asked->state == EVENT_ORIGINAL_GONE ? arena_text(making->arena, asked->why) : undoing->undo.why;
}

// The dead letter has no copy of the original: it is the record in Kafka, or nothing is sent.
static void
plan_pointer(struct making *making, const struct letter_undoing *undoing)
{
    const struct original *original = making->input->original;
    struct plan *plan = making->plan;
    if (making->input->event->record.original.state == EVENT_ORIGINAL_FETCHED)
        return; // as it was received
    plan->is_exact = false;
    if (making->original) {
        plan->source = PAYLOAD_ORIGINAL;
        plan->value = making->original->value;
        plan->is_exact = true;
        plan->why = arena_printf(making->arena, "the original record, read again at %s", place_of(making));
    } else if (original && original->state == ORIGINAL_FAILED) {
        publish_plan_refuse(making, "the original record at %s could not be read: %s; try again",
                            place_of(making), original->why);
    } else if (undoing->undo.how == UNDO_POINTER && plan_wants_original(making->input->event) &&
               (!original || original->state == ORIGINAL_NOT_ASKED)) {
        plan->why = arena_printf(making->arena,
                                 "not in the dead letter: the worker reads the original at %s and sends it",
                                 place_of(making));
    } else {
        publish_plan_refuse(making,
                            "the dead letter has no copy of the original, which cannot be read: %s; correct "
                            "the payload to send one",
                            why_not_pointed(making, undoing));
    }
}

static void
plan_value(struct making *making)
{
    struct plan *plan = making->plan;
    const struct letter_undoing *undoing = undoing_of(making);
    const struct envelope_undo *undo = &undoing->undo;
    plan_received(making);
    plan->received.is_exact = plan->is_exact;
    plan->received.why = plan->why;
    if (envelope_format_is_known(undoing->envelope.format))
        plan->format = envelope_format_name(undoing->envelope.format);
    plan->unsure = undoing->unsure;
    if (undoing->unsure) {
        plan->is_exact = false;
        plan->why = arena_printf(making->arena, "%s; %s", plan->why, undoing->unsure);
    }
    bool is_there = undo->how != UNDO_POINTER && undo->how != UNDO_LOST;
    if (!undoing->is_sure || (!is_there && plan->source == PAYLOAD_REVISION))
        return;
    if (!is_there) {
        plan_pointer(making, undoing);
        return;
    }
    if (undoing->is_inside) {
        plan->undone = undo->how_text;
        plan->why =
            arena_printf(making->arena, "%s; key, topic and headers as its dead letter says", plan->why);
        return;
    }
    if (undo->how == UNDO_AS_IS || bytes_equal(undo->value, plan->value))
        return;
    plan->value = undo->value;
    plan->undone = undo->how_text;
    plan->is_exact = plan->is_exact && undo->is_exact;
    plan->why = arena_printf(making->arena, "%s; of it, %s%s%s", plan->why, undo->how_text,
                             undo->is_exact ? "" : ", not exact: ", undo->is_exact ? "" : undo->why);
}

const char *
plan_topic_refusal(enum topic_state state, const char *topic, struct arena *arena)
{
    return arena_printf(arena,
                        state == TOPIC_DENIED
                            ? "Kafka does not allow writing to the topic %s: grant Describe and Write on it"
                            : "the topic %s does not exist; create it, or give another \"to\", or --to",
                        topic);
}

// Is it a topic of dead letters, by its name or by the setting?
static bool
is_of_dead_letters(const struct plan_settings *settings, struct bytes topic, struct arena *arena)
{
    const struct topic_rule *rule =
        settings->rules ? topic_rule_of(settings->rules, arena_text(arena, topic)) : NULL;
    return topic_is_queue(topic) || (rule && rule->of);
}

bool
plan_is_placed(const struct plan_settings *settings, struct bytes topic, bool is_named)
{
    struct arena arena = {0};
    bool is_placed = is_named || (bytes_present(topic) && !is_of_dead_letters(settings, topic, &arena));
    arena_release(&arena);
    return is_placed;
}

// The topic that the dead letters of this event's topic were meant for; absent: nothing says. A record that
// is not kept was not there when somebody confirmed where the event goes: it does not change that.
static struct bytes
topic_of_letter(struct making *making)
{
    struct plan *plan = making->plan;
    const struct letter_undoing *undoing = undoing_of(making);
    struct bytes said = undoing->is_sure ? undoing->envelope.facts[FACT_TOPIC] : BYTES_ABSENT;
    struct bytes named = topic_name_original(undoing->record.topic, undoing->envelope.facts[FACT_CONSUMER]);
    if (undoing->rule && undoing->rule->of) {
        plan->topic_why = "by the setting consumers";
        return bytes_of(undoing->rule->of);
    }
    if (said.len > 0 && making->original && !making->input->event->record.is_kept &&
        !bytes_equal(said, named))
        publish_plan_refuse(making,
                            "the dead letter in Kafka is of %.*s, and by its queue's name it would be of "
                            "%.*s: give \"to\", or --to",
                            BYTES_ARGS(said), BYTES_ARGS(named));
    if (said.len > 0) {
        plan->topic_why = "as its dead letter says";
        return said;
    }
    plan->topic_why = bytes_present(named) ? "by the name of its dead letter queue" : NULL;
    return named;
}

// --to wins over a correction, and both over what the row and its dead letter say.
static void
choose_topic(struct making *making)
{
    const struct plan_input *input = making->input;
    const struct correction *correction = &input->event->known.correction;
    struct plan *plan = making->plan;
    struct bytes own = input->event->topic;
    struct bytes corrected = correction->has_topic ? correction->topic : BYTES_ABSENT;
    bool is_named = input->target_topic || corrected.len > 0;
    if (!is_named && (own.len == 0 || is_of_dead_letters(making->settings, own, making->arena))) {
        struct bytes of = topic_of_letter(making);
        own = bytes_present(of) ? of : own;
    }
    const char *topic = arena_text(making->arena, target_of(own, corrected, input->target_topic));
    plan->topic = topic ? topic : "";
    const struct topic_rule *rule = is_named ? NULL : topic_rule_of(making->settings->rules, plan->topic);
    if (rule && rule->moved) {
        plan->topic_why = arena_printf(making->arena, "%s moved there (consumers)", plan->topic);
        plan->topic = rule->moved;
    }
}

static void
plan_topic(struct making *making)
{
    const struct plan_input *input = making->input;
    struct plan *plan = making->plan;
    struct err wrong = {0};

    choose_topic(making);
    const char *refusal = target_refusal(bytes_of(plan->topic), making->arena);
    if (!refusal && plan->topic_why && !target_name_check(bytes_of(plan->topic), &wrong))
        refusal =
            arena_printf(making->arena, "the topic that its dead letter names cannot be one: %s", wrong.text);
    if (refusal)
        publish_plan_refuse(making, "%s", refusal);
    else if (input->topic && input->topic->state != TOPIC_KNOWN)
        publish_plan_refuse(making, "%s",
                            plan_topic_refusal(input->topic->state, plan->topic, making->arena));
    const struct topic_rule *rule = topic_rule_of(making->settings->rules, plan->topic);
    if (!refusal && rule && rule->spared_count)
        publish_plan_refuse(
            making, "%s must not get events of %s again (consumers): \"to\", or --to, %s sends them past it",
            rule->spared[0], plan->topic, rule->to);
}

// The partition that the original came from, where it goes back to the same topic; -1: by key.
static int32_t
own_partition(struct making *making)
{
    const struct event *event = making->input->event;
    struct bytes topic = bytes_of(making->plan->topic);
    if (making->settings->is_key_only)
        return -1;
    if (bytes_equal(event->topic, topic))
        return event->origin.has_partition && event->origin.partition >= 0 ? event->origin.partition : -1;
    const struct letter_undoing *undoing = making->has_undoing ? &making->undoing : NULL;
    bool is_of_record = undoing && undoing->is_sure && bytes_equal(undoing->undo.topic, topic) &&
                        !undoing->undo.is_topic_by_name && !making->input->target_topic;
    return is_of_record ? undoing->undo.partition : -1;
}

static void
plan_partition(struct making *making)
{
    const struct plan_input *input = making->input;
    const struct event *event = input->event;
    struct plan *plan = making->plan;

    const struct correction *correction = &event->known.correction;
    plan->partition =
        correction->has_partition && !input->target_topic ? correction->partition : own_partition(making);

    if (input->topic && input->topic->state == TOPIC_KNOWN && plan->partition >= input->topic->partitions)
        publish_plan_refuse(
            making, "partition %d of %s %s, the topic has %d; let the key choose with partition = key",
            (int)plan->partition, plan->topic,
            correction->has_partition && !input->target_topic ? "does not exist" : "no longer exists",
            (int)input->topic->partitions);
}

static void
key_by_path(struct making *making, const char *rule)
{
    struct json_path *path;
    struct json_token token;
    struct err err = {0};
    if (!json_path_parse(&path, bytes_of(rule), &err)) {
        publish_plan_refuse(making, "the rule for record keys: %s", err.text);
        return;
    }
    bool is_there = json_path_find(path, making->plan->value, &token);
    json_path_destroy(path);

    struct bytes text = is_there ? bytes_slice(making->plan->value, token.from, token.len) : BYTES_ABSENT;
    if (is_there && token.kind == JSON_STRING) {
        struct strbuf content = {0};
        if (json_decode(text, &content))
            making->plan->key = arena_copy(making->arena, strbuf_bytes(&content));
        strbuf_release(&content);
    } else if (is_there &&
               (token.kind == JSON_NUMBER || token.kind == JSON_TRUE || token.kind == JSON_FALSE)) {
        making->plan->key = text;
    } else {
        publish_plan_refuse(
            making,
            "the payload has no text or number at %s, which the key is taken from; correct it, or set "
            "another key rule",
            rule);
    }
}

struct bytes
plan_key_by_column(const struct plan_settings *settings, const struct event *event)
{
    const char *rule = settings->key ? settings->key : "source_id";
    if (strcmp(rule, "source_id") == 0)
        return event->source_id;
    return strcmp(rule, "event_id") == 0 ? event->event_id : BYTES_ABSENT;
}

static void
plan_key(struct making *making)
{
    const struct event *event = making->input->event;
    const char *rule = making->settings->key ? making->settings->key : "source_id";
    const struct letter_undoing *undoing = undoing_of(making);
    bool is_pointer = undoing->is_sure && undoing->undo.how == UNDO_POINTER;

    if (event->known.correction.has_key)
        making->plan->key = event->known.correction.key;
    else if (making->original && (is_pointer || !event->record.is_kept) && !bytes_present(undoing->undo.key))
        making->plan->key = making->original->key;
    else if (undoing->is_sure && bytes_present(undoing->undo.key))
        making->plan->key = undoing->undo.key;
    else if (event->record.is_kept)
        making->plan->key = event->record.key;
    else if (making->original)
        making->plan->key = making->original->key;
    else if (rule[0] == '$')
        key_by_path(making, rule);
    else
        making->plan->key = plan_key_by_column(making->settings, event);
}

static void
add_header(struct plan *plan, struct bytes name, const char *value)
{
    plan->headers[plan->header_count++] = (struct event_header){.name = name, .value = bytes_of(value)};
}

static void
add_number(struct making *making, struct bytes name, int64_t n)
{
    add_header(making->plan, name, arena_int(making->arena, n));
}

// How often it was sent again before, by its dead letter, raised by one, if that is more than what redrive
// itself has counted.
static int64_t
raise_count(struct making *making)
{
    const struct letter_undoing *undoing = undoing_of(making);
    int64_t raised = undoing->undo.reprocessed;
    if (undoing->undo.how == UNDO_POINTER && making->original)
        raised = envelope_reprocessed(making->original->headers, making->original->header_count, raised);
    raised = raised > 0 ? raised + 1 : 0;
    return raised > making->input->reprocess_count ? raised : making->input->reprocess_count;
}

// The time of the original, else of the failure.
static int64_t
original_time(struct making *making)
{
    const struct letter_undoing *undoing = undoing_of(making);
    if (undoing->is_sure && undoing->envelope.has_number[FACT_TIMESTAMP])
        return undoing->envelope.numbers[FACT_TIMESTAMP];
    int64_t instant = making->original ? making->original->timestamp : TIME_ABSENT;
    return instant == TIME_ABSENT ? making->input->event->created_at : instant;
}

static void
add_source(struct making *making)
{
    const struct event *event = making->input->event;
    if (bytes_present(event->topic))
        add_header(making->plan, BYTES("redrive-source"),
                   event->origin.has_partition && event->origin.has_offset
                       ? arena_printf(making->arena, "%.*s/%d/%" PRId64, BYTES_ARGS(event->topic),
                                      (int)event->origin.partition, event->origin.offset)
                       : arena_text(making->arena, event->topic));

    int64_t instant = original_time(making);
    if (instant != TIME_ABSENT)
        add_number(making, BYTES("redrive-original-timestamp"), instant / 1000);
}

// A header that redrive adds itself.
static bool
is_ours(struct bytes name)
{
    return bytes_starts(name, "redrive-") || bytes_equal_text(name, "reprocess.count");
}

static void
keep_or_drop(struct making *making, struct event_header header, bool is_dropped)
{
    struct plan *plan = making->plan;
    if (making->settings->keeps_headers ? is_ours(header.name) : is_dropped)
        plan->dropped[plan->dropped_count++] = header;
    else
        plan->headers[plan->header_count++] = header;
}

static void
make_room(struct making *making, size_t count)
{
    making->plan->headers = arena_array(making->arena, count + OUR_HEADERS, sizeof *making->plan->headers);
    making->plan->dropped = arena_array(making->arena, count + 1, sizeof *making->plan->dropped);
}

// As the format says of each; with those that the value holds.
static void
headers_of_letter(struct making *making, const struct envelope_undo *undo)
{
    make_room(making, undo->header_count);
    for (size_t i = 0; i < undo->header_count; i++) {
        const struct undo_header *header = &undo->headers[i];
        if (header->fate != FATE_ADDED || !is_ours(header->name))
            keep_or_drop(making, (struct event_header){header->name, header->value},
                         header->fate == FATE_DROPPED);
    }
}

// By their names alone: as corrected, of the record in Kafka that a dead letter points at, or of a record
// that no format knows.
static void
headers_by_name(struct making *making, const struct event_header *headers, size_t count)
{
    make_room(making, count);
    for (size_t i = 0; i < count; i++)
        keep_or_drop(making, headers[i], dropped_header(headers[i].name));
}

// The consumer group that failed, as the dead letter says.
static const char *
failed_consumer(struct making *making)
{
    struct bytes group = undoing_of(making)->envelope.facts[FACT_CONSUMER];
    bool is_name = group.len > 0 && group.len < 256 && utf8_valid(group) && !memchr(group.data, 0, group.len);
    return is_name ? arena_text(making->arena, group) : "";
}

static void
plan_headers(struct making *making)
{
    const struct plan_input *input = making->input;
    const struct correction *correction = &input->event->known.correction;
    const struct letter_undoing *undoing = undoing_of(making);
    struct plan *plan = making->plan;
    plan->consumer = failed_consumer(making);
    if (correction->has_headers)
        headers_by_name(making, correction->headers, correction->header_count);
    else if (undoing->is_sure && undoing->undo.how == UNDO_POINTER && making->original)
        headers_by_name(making, making->original->headers, making->original->header_count);
    else if (undoing->is_sure)
        headers_of_letter(making, &undoing->undo);
    else
        headers_by_name(making, undoing->record.headers, undoing->record.header_count);
    plan->kept_count = plan->header_count;

    add_number(making, BYTES("redrive-event-id"), input->event->id);
    if (input->chunk_id) {
        add_header(plan, BYTES("redrive-chunk-id"), input->chunk_id);
        add_number(making, BYTES("redrive-attempt"), input->attempt);
    }
    add_source(making);
    if (input->operator_name)
        add_header(plan, BYTES("redrive-operator"), input->operator_name);
    if (input->operation)
        add_number(making, BYTES("redrive-operation"), input->operation);
    int64_t raised = raise_count(making);
    if (raised > 0)
        add_number(making, BYTES("reprocess.count"), raised);
}

static void
check_size(struct making *making)
{
    const struct topic *topic = making->input->topic;
    if (!topic || topic->max_bytes <= 0 || making->settings->is_compressing)
        return;

    uint64_t size = plan_size(making->plan);
    char has[TEXT_SHORT], allows[TEXT_SHORT];
    if (size <= (uint64_t)topic->max_bytes)
        return;
    making->plan->is_too_large = !making->plan->refusal;
    publish_plan_refuse(making, "message of %s bytes, topic %s allows %s (max.message.bytes)",
                        text_count((int64_t)size, has), making->plan->topic,
                        text_count(topic->max_bytes, allows));
}

// What was read of it before; NULL: nothing.
static const struct record *
fetched_record(const struct event *event, struct arena *arena)
{
    const struct event_original *fetched = &event->record.original;
    if (fetched->state != EVENT_ORIGINAL_FETCHED)
        return NULL;
    struct record *record = arena_alloc(arena, sizeof *record);
    *record = (struct record){.key = fetched->key,
                              .value = event->payload,
                              .headers = fetched->headers,
                              .header_count = fetched->header_count,
                              .timestamp = fetched->timestamp};
    return record;
}

static struct making
plan_begin(const struct plan_settings *settings, const struct plan_input *input, struct arena *arena,
           struct plan *plan)
{
    *plan = (struct plan){.partition = -1, .consumer = ""};
    const struct original *original = input->original;
    return (struct making){
        .settings = settings,
        .input = input,
        .original = original && original->state == ORIGINAL_FOUND ? &original->record
                                                                  : fetched_record(input->event, arena),
        .arena = arena,
        .plan = plan,
    };
}

void
plan_place(const struct plan_settings *settings, const struct plan_input *input, struct arena *arena,
           struct plan *plan)
{
    struct making making = plan_begin(settings, input, arena, plan);
    plan_topic(&making);
    plan_partition(&making);
}

void
plan_make(const struct plan_settings *settings, const struct plan_input *input, struct arena *arena,
          struct plan *plan)
{
    struct making making = plan_begin(settings, input, arena, plan);
    plan_topic(&making);
    plan_partition(&making);
    plan_value(&making);
    plan_key(&making);
    plan_headers(&making);
    check_size(&making);
    if (!making.original && input->event->known.unreadable)
        publish_plan_refuse(&making, "%s", input->event->known.unreadable);
}
