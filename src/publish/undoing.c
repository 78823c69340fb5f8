#include "publish/undoing.h"

#include "base/clock.h"

static struct envelope_record
dead_letter(const struct event *event, const struct record *original)
{
    const struct event_record *kept = &event->record;
    struct envelope_record record = {.topic = event->topic,
                                     .partition = event->origin.has_partition ? event->origin.partition : -1,
                                     .offset = event->origin.has_offset ? event->origin.offset : -1,
                                     .timestamp = TIME_ABSENT,
                                     .value = event->payload};
    if (kept->is_kept) {
        if (bytes_present(kept->topic)) {
            record.topic = kept->topic;
            record.partition = kept->partition;
            record.offset = kept->offset;
        }
        record.timestamp = kept->timestamp > 0 ? kept->timestamp : TIME_ABSENT;
        record.key = kept->key;
        record.headers = kept->headers;
        record.header_count = kept->header_count;
        if (kept->original.state != EVENT_ORIGINAL_INSIDE)
            record.value = BYTES_ABSENT; // the payload is that of the original, or a correction of it
    } else if (original) {
        record.timestamp = original->timestamp;
        record.key = original->key;
        record.headers = original->headers;
        record.header_count = original->header_count;
        if (!event->known.correction.has_payload)
            record.value = original->value;
    }
    return record;
}

// The value of the dead letter before somebody corrected it; absent: not known.
static struct bytes
received_value(const struct event *event, const struct record *original)
{
    return !event->record.is_kept && original ? original->value : event->known.correction.replaced;
}

// A second format that would send another value; NULL: they agree.
static const struct envelope_format *
other_value(const struct letter_undoing *undoing, struct arena *arena)
{
    for (size_t i = 0; i < ENVELOPE_ALSO && undoing->envelope.also[i]; i++) {
        struct envelope envelope;
        struct envelope_undo undo;
        envelope_read_as(undoing->envelope.also[i], &undoing->record, arena, &envelope);
        envelope_undo(&undoing->record, &envelope, arena, &undo);
        if (!bytes_equal(undo.value, undoing->undo.value))
            return undoing->envelope.also[i];
    }
    return NULL;
}

// A value that was wrapped for another topic than the one that the row says it came from.
static bool
is_elsewhere(const struct letter_undoing *undoing, const struct event *event)
{
    return undoing->undo.how == UNDO_UNWRAPPED && bytes_present(event->topic) &&
           !topic_is_queue(event->topic) && bytes_equal(event->topic, undoing->record.topic) &&
           bytes_present(undoing->envelope.facts[FACT_TOPIC]) &&
           !bytes_equal(event->topic, undoing->envelope.facts[FACT_TOPIC]);
}

static const char *
doubt(const struct letter_undoing *undoing, const struct event *event, struct arena *arena)
{
    const struct envelope_format *other = other_value(undoing, arena);
    if (other)
        return arena_printf(arena,
                            "it looks like %s and like %s, which would send different values: nothing is "
                            "undone; name its topic's format in the setting consumers",
                            envelope_format_name(undoing->envelope.format), envelope_format_name(other));
    if (is_elsewhere(undoing, event))
        return arena_printf(arena,
                            "its value is wrapped for another topic (%s) than the row says: nothing is "
                            "undone; name its topic's format in the setting consumers",
                            envelope_format_name(undoing->envelope.format));
    return NULL;
}

static bool
looks_like(const struct envelope_record *record, const struct envelope_format *format, struct arena *arena)
{
    struct envelope envelope;
    envelope_read(record, arena, &envelope);
    bool is_format = envelope.format == format;
    for (size_t i = 0; i < ENVELOPE_ALSO && envelope.also[i]; i++)
        is_format = is_format || envelope.also[i] == format;
    return is_format;
}

static bool
changes_value(const struct letter_undoing *undoing)
{
    return undoing->undo.how == UNDO_CHANGED || undoing->undo.how == UNDO_UNWRAPPED;
}

// By the setting of its topic, else as it was taken in, since that is what people have seen of it, else as it
// is recognised. true: a person chose the format.
static bool
read_envelope(struct letter_undoing *undoing, const struct event *event, struct arena *arena)
{
    struct envelope *envelope = &undoing->envelope;
    if (undoing->rule && undoing->rule->format) {
        envelope_read_as(undoing->rule->format, &undoing->record, arena, envelope);
        return true;
    }
    envelope_read(&undoing->record, arena, envelope);
    const struct envelope_format *taken =
        event->record.is_kept ? envelope_format_find(event->record.format) : NULL;
    if (taken && taken != envelope->format) {
        envelope_read_as(taken, &undoing->record, arena, envelope);
        envelope->why = "it was taken in so";
    }
    return false;
}

static void
undo_letter(struct letter_undoing *undoing, const struct event *event, struct arena *arena)
{
    undoing->is_set = read_envelope(undoing, event, arena);
    envelope_undo(&undoing->record, &undoing->envelope, arena, &undoing->undo);
}

// Undoes the dead letter as it was before its payload was corrected, and puts the corrected payload in the
// place of its value. Not where the payload still is the dead letter, or nobody knows what it replaces.
static bool
undo_received(struct letter_undoing *undoing, const struct event *event, const struct record *original,
              struct arena *arena)
{
    if (!event->known.correction.has_payload)
        return false;
    struct letter_undoing received = *undoing;
    received.record.value = received_value(event, original);
    if (!bytes_present(received.record.value))
        return false;
    undo_letter(&received, event, arena);
    if (!changes_value(&received))
        return false;
    if (looks_like(&undoing->record, received.envelope.format, arena)) {
        struct envelope_record inside = received.record;
        inside.value = received.undo.value;
        undoing->is_nested =
            received.undo.how == UNDO_UNWRAPPED && looks_like(&inside, received.envelope.format, arena);
        return false;
    }
    *undoing = received;
    undoing->is_inside = true;
    return true;
}

// Why nothing is undone although it has a format; NULL: it is undone.
static const char *
why_unsure(const struct letter_undoing *undoing, const struct event *event, struct arena *arena)
{
    const struct envelope_format *format = undoing->envelope.format;
    bool is_corrected = event->known.correction.has_payload && changes_value(undoing);
    if (is_corrected && !undoing->is_inside && !looks_like(&undoing->record, format, arena))
        return arena_printf(arena,
                            "the corrected payload does not look like %s, and what it replaces cannot be "
                            "read: nothing of it is undone",
                            envelope_format_name(format));
    if (undoing->is_nested)
        return arena_printf(arena,
                            "the dead letter and what is inside it both look like %s: nobody knows which one "
                            "the corrected payload replaces, and nothing of it is undone",
                            envelope_format_name(format));
    return undoing->is_set ? NULL : doubt(undoing, event, arena);
}

void
undoing_read(const struct topic_rules *rules, const struct event *event, const struct record *original,
             struct arena *arena, struct letter_undoing *undoing)
{
    *undoing = (struct letter_undoing){.record = dead_letter(event, original)};
    const char *topic = arena_text(arena, undoing->record.topic);
    undoing->rule = topic ? topic_rule_of(rules, topic) : NULL;
    if (!undo_received(undoing, event, original, arena))
        undo_letter(undoing, event, arena);
    if (envelope_format_is_known(undoing->envelope.format)) {
        undoing->unsure = why_unsure(undoing, event, arena);
        undoing->is_sure = !undoing->unsure;
    }
    if (undoing->is_inside) {
        undoing->undo.value = event->payload;
        undoing->undo.how_text =
            "the corrected payload as it is; key, topic and headers as the dead letter says";
    }
}

bool
undoing_is_pointer(const struct event *event)
{
    switch (event->record.original.state) {
    case EVENT_ORIGINAL_WAITING:
        return true;
    case EVENT_ORIGINAL_FETCHED:
    case EVENT_ORIGINAL_GONE:
        return false;
    case EVENT_ORIGINAL_INSIDE:
        break;
    }
    if (!event->record.is_kept || bytes_present(event->payload) || event->known.unreadable)
        return false;
    struct arena arena = {0};
    struct envelope envelope;
    const struct envelope_record record = dead_letter(event, NULL);
    envelope_read(&record, &arena, &envelope);
    bool is_pointer = envelope.pointer != NULL;
    arena_release(&arena);
    return is_pointer;
}
