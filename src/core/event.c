#include "core/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "core/envelope/topic_name.h"

static const char *const status_names[] = {"pending", "resolved", "discarded", "other"};

const char *
event_status_name(enum event_status status)
{
    return status_names[status];
}

enum event_status
event_status_of(struct bytes status_text)
{
    for (int i = EVENT_PENDING; i < EVENT_OTHER; i++)
        if (status_text.data && status_text.len == strlen(status_names[i]) &&
            strncasecmp(status_text.data, status_names[i], status_text.len) == 0)
            return (enum event_status)i;
    return EVENT_OTHER;
}

struct bytes
event_key(const struct event *event)
{
    const struct event_record *record = &event->record;
    return bytes_present(record->key)            ? record->key
           : bytes_present(record->original.key) ? record->original.key
                                                 : event->source_id;
}

struct bytes
event_kept_key(const struct event *event)
{
    const struct event_record *record = &event->record;
    return record->original.state == EVENT_ORIGINAL_FETCHED ? record->original.key : record->key;
}

const struct event_header *
event_kept_headers(const struct event *event, uint32_t *count)
{
    const struct event_record *record = &event->record;
    bool is_fetched = record->original.state == EVENT_ORIGINAL_FETCHED;
    *count = is_fetched ? record->original.header_count : record->header_count;
    return is_fetched ? record->original.headers : record->headers;
}

const char *
event_original_state_name(enum event_original_state state)
{
    static const char *const names[] = {"inside", "waiting", "fetched", "gone"};
    return names[state];
}

struct bytes
event_original_text(const struct event *event, struct arena *arena)
{
    const struct event_original *original = &event->record.original;
    const char *place = arena_printf(arena, "%.*s, partition %d, offset %" PRId64,
                                     BYTES_ARGS(original->topic), (int)original->partition, original->offset);
    switch (original->state) {
    case EVENT_ORIGINAL_INSIDE:
        break;
    case EVENT_ORIGINAL_WAITING:
        return bytes_of(arena_printf(arena, "not fetched yet from %s%s%.*s", place,
                                     original->why.len > 0 ? ": " : "", BYTES_ARGS(original->why)));
    case EVENT_ORIGINAL_FETCHED:
        return bytes_of(arena_printf(arena, "fetched from %s", place));
    case EVENT_ORIGINAL_GONE:
        return bytes_of(arena_printf(arena, "gone from %s: %.*s", place, BYTES_ARGS(original->why)));
    }
    return BYTES_ABSENT;
}

struct bytes
event_payload_shown(const struct event *event)
{
    return bytes_present(event->record.decoded) ? event->record.decoded : event->payload;
}

struct bytes
event_error_text(const struct event *event)
{
    const char *why = event->known.unreadable_error;
    return why ? bytes_of(why) : event->error_message;
}

struct bytes
event_stack_text(const struct event *event)
{
    const char *why = event->known.unreadable_stack;
    return why ? bytes_of(why) : event->stack_trace;
}

const char *
group_text(uint64_t group, char out[GROUP_TEXT])
{
    snprintf(out, GROUP_TEXT, "%016" PRIx64, group);
    return out;
}

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool
group_parse(struct bytes text, uint64_t *low, uint64_t *high)
{
    if (text.len == 0 || text.len > 16)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.data[i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    unsigned open = (unsigned)(16 - text.len) * 4; // bits a prefix leaves open
    *low = value << open;
    *high = open ? *low | ((UINT64_C(1) << open) - 1) : value;
    return true;
}

size_t
groups_parse(struct bytes text, uint64_t keys[GROUPS_LISTED])
{
    size_t count = 0;
    for (bool is_last = false; !is_last && count < GROUPS_LISTED;) {
        size_t comma = bytes_find(text, BYTES(","), 0);
        is_last = comma == SIZE_MAX;
        uint64_t low, high;
        if (group_parse(bytes_slice(text, 0, is_last ? text.len : comma), &low, &high) && low == high)
            keys[count++] = low;
        text = bytes_slice(text, is_last ? text.len : comma + 1, SIZE_MAX);
    }
    return count;
}

bool
topic_is_reserved(struct bytes topic)
{
    static const char *const reserved[] = {"redrive.marker", "redrive.probe", "__consumer_offsets",
                                           "__transaction_state"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (bytes_present(topic) && bytes_equal_text(topic, reserved[i]))
            return true;
    return false;
}

bool
topic_is_queue(struct bytes topic)
{
    return bytes_present(topic_name_original(topic, BYTES_ABSENT));
}

struct bytes
topic_original(struct bytes topic)
{
    struct bytes original = topic_name_original(topic, BYTES_ABSENT);
    return bytes_present(original) ? original : topic;
}

struct bytes
event_queue(const struct event *event)
{
    if (bytes_present(event->record.format))
        return bytes_present(event->record.queue) ? event->record.queue : event->record.topic;
    return topic_is_queue(event->topic) ? event->topic : BYTES_ABSENT;
}

bool
event_letter_column_is(struct bytes name)
{
    static const char *const names[] = {"format", "consumer", "queue", "dlq-topic"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bytes_equal_text(name, names[i]))
            return true;
    return false;
}

struct bytes
event_letter_column(const struct event *event, struct bytes name)
{
    if (bytes_equal_text(name, "format"))
        return event->record.format;
    return bytes_equal_text(name, "consumer") ? event->record.consumer : event_queue(event);
}
