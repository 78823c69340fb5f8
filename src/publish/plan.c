#include "publish/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include "base/strbuf.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/envelope/dropped_headers.h"
#include "core/json/json.h"
#include "core/target.h"

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
    return !event->record.is_kept && bytes_present(event->topic) && event->origin.has_partition &&
           event->origin.has_offset && event->origin.partition >= 0 && event->origin.offset >= 0;
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
    const struct record *original; // NULL: not to be had
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
    const struct original *original = making->input->original;
    const char *text =
        "PostgreSQL's text of the payload: same JSON value, but whitespace, key order and number "
        "format may differ";
    if (!plan_wants_original(making->input->event))
        return arena_printf(
            making->arena, "%s; no copy of the record is kept and the event does not say where it was", text);
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
    return arena_printf(making->arena, "%s; the original at %s is not to be had: %s", text, place_of(making),
                        original && original->why ? original->why : "it is gone");
}

static void
plan_value(struct making *making)
{
    const struct plan_input *input = making->input;
    struct plan *plan = making->plan;

    plan->value = input->event->payload;
    if (input->event->known.correction.has_payload) {
        plan->source = PAYLOAD_REVISION;
        plan->why = "the corrected payload; the original is kept";
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

const char *
plan_topic_refusal(enum topic_state state, const char *topic, struct arena *arena)
{
    return arena_printf(arena,
                        state == TOPIC_DENIED
                            ? "Kafka does not allow writing to the topic %s: grant Describe and Write on it"
                            : "the topic %s does not exist; create it, or name another with --to",
                        topic);
}

const char *
plan_topic_of(const struct event *event, const char *target_topic, struct arena *arena)
{
    const struct correction *correction = &event->known.correction;
    struct bytes corrected = correction->has_topic ? correction->topic : BYTES_ABSENT;
    const char *topic = arena_text(arena, target_of(event->topic, corrected, target_topic));
    return topic ? topic : "";
}

static void
plan_topic(struct making *making)
{
    const struct plan_input *input = making->input;
    struct plan *plan = making->plan;

    plan->topic = plan_topic_of(input->event, input->target_topic, making->arena);
    const char *refusal = target_refusal(bytes_of(plan->topic), making->arena);
    if (refusal)
        publish_plan_refuse(making, "%s", refusal);
    else if (input->topic && input->topic->state != TOPIC_KNOWN)
        publish_plan_refuse(making, "%s",
                            plan_topic_refusal(input->topic->state, plan->topic, making->arena));
    const struct topic_rule *rule = topic_rule_of(making->settings->rules, plan->topic);
    if (!refusal && rule && rule->spared_count)
        publish_plan_refuse(making,
                            "%s must not get events of %s again (consumers): --to %s sends them past it",
                            rule->spared[0], plan->topic, rule->to);
}

static void
plan_partition(struct making *making)
{
    const struct plan_input *input = making->input;
    const struct event *event = input->event;
    struct plan *plan = making->plan;

    plan->partition = -1;
    const struct correction *correction = &event->known.correction;
    bool is_own_topic = bytes_equal(event->topic, bytes_of(plan->topic));
    if (correction->has_partition && !input->target_topic)
        plan->partition = correction->partition;
    else if (!making->settings->is_key_only && is_own_topic && event->origin.has_partition &&
             event->origin.partition >= 0)
        plan->partition = event->origin.partition;

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

    if (event->known.correction.has_key)
        making->plan->key = event->known.correction.key;
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
    add_header(making->plan, name, arena_printf(making->arena, "%" PRId64, n));
}

// reprocess.count of the record, raised by one, if that is more than what redrive itself has counted.
static int64_t
raise_count(const struct plan_input *input, const struct event_header *headers, uint32_t count)
{
    int64_t raised = input->reprocess_count;
    for (uint32_t i = 0; i < count; i++) {
        int64_t n;
        if (bytes_equal_text(headers[i].name, "reprocess.count") &&
            text_parse_int(headers[i].value, &n, NULL) && n >= raised && n < INT32_MAX)
            raised = n + 1;
    }
    return raised;
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

    int64_t instant = making->original ? making->original->timestamp : TIME_ABSENT;
    if (instant == TIME_ABSENT)
        instant = event->created_at;
    if (instant != TIME_ABSENT)
        add_number(making, BYTES("redrive-original-timestamp"), instant / 1000);
}

// As corrected, else those of the record that is kept, else those of the record in Kafka.
static void
original_headers(const struct making *making, const struct event_header **headers, uint32_t *count)
{
    const struct event *event = making->input->event;
    *headers = event->record.is_kept ? event->record.headers : NULL;
    *count = event->record.is_kept ? event->record.header_count : 0;
    if (event->known.correction.has_headers) {
        *headers = event->known.correction.headers;
        *count = event->known.correction.header_count;
    } else if (!event->record.is_kept && making->original) {
        *headers = making->original->headers;
        *count = making->original->header_count;
    }
}

// Names of headers: Spring for Apache Kafka, Karafka, and those of hand-written consumers.
static const char *
failed_consumer(const struct making *making, const struct event_header *headers, uint32_t count)
{
    static const char *const names[] = {"kafka_dlt-original-consumer-group", "source_consumer_group",
                                        "dlq.consumer.group"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (uint32_t i = count; i-- > 0;)
            if (bytes_equal_text(headers[i].name, names[n]) && headers[i].value.len > 0 &&
                headers[i].value.len < 256 && utf8_valid(headers[i].value) &&
                !memchr(headers[i].value.data, 0, headers[i].value.len))
                return arena_text(making->arena, headers[i].value);
    return "";
}

static void
plan_headers(struct making *making)
{
    const struct plan_input *input = making->input;
    struct plan *plan = making->plan;
    const struct event_header *headers;
    uint32_t count;
    original_headers(making, &headers, &count);
    plan->consumer = failed_consumer(making, headers, count);

    plan->headers = arena_array(making->arena, (size_t)count + OUR_HEADERS, sizeof *plan->headers);
    for (uint32_t i = 0; i < count; i++) {
        bool is_ours =
            bytes_starts(headers[i].name, "redrive-") || bytes_equal_text(headers[i].name, "reprocess.count");
        if (making->settings->keeps_headers ? !is_ours : !dropped_header(headers[i].name))
            plan->headers[plan->header_count++] = headers[i];
    }

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
    int64_t raised = raise_count(input, headers, count);
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

static struct making
plan_begin(const struct plan_settings *settings, const struct plan_input *input, struct arena *arena,
           struct plan *plan)
{
    *plan = (struct plan){.partition = -1, .consumer = ""};
    const struct original *original = input->original;
    return (struct making){
        .settings = settings,
        .input = input,
        .original = original && original->state == ORIGINAL_FOUND ? &original->record : NULL,
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
