#include "commands/letter_fetch.h"

#include "base/text.h"
#include "broker/ends.h"
#include "broker/fetch.h"
#include "commands/cli/interrupt.h"
#include "commands/publishing.h"
#include "core/recipe/parts.h"

enum { LAST = 4, PARTITIONS = 1000 };
enum { ASK_MS = 5000, FETCH_MS = 20000 }; // that Kafka has for a question, and for all records

// The number behind the last colon, which is taken off.
static bool
take_number(struct bytes *text, int64_t *number)
{
    size_t colon = bytes_find_last(*text, BYTES(":"));
    if (colon == SIZE_MAX || !text_parse_int(bytes_slice(*text, colon + 1, SIZE_MAX), number, NULL) ||
        *number < 0)
        return false;
    text->len = colon;
    return true;
}

bool
letter_place_read(const char *text, struct arena *arena, struct letter_place *place)
{
    struct bytes name = bytes_of(text);
    int64_t last, before;
    *place = (struct letter_place){.partition = -1, .offset = -1};
    if (take_number(&name, &last)) {
        bool has_both = take_number(&name, &before);
        int64_t partition = has_both ? before : last;
        if (partition > INT32_MAX)
            return false;
        place->partition = (int32_t)partition;
        place->offset = has_both ? last : -1;
    }
    place->topic = arena_text(arena, name);
    return parts_topic_is_legal(name);
}

static bool
go_on(void *context)
{
    (void)context;
    return !interrupt_is_set();
}

// Adds what is to be read of a partition: one place, or the last offsets, the newest first.
static void
add_fetches(const struct letter_place *place, int32_t partition, int64_t end, struct fetch *fetches,
            size_t *count)
{
    int64_t offset = place->offset >= 0 ? place->offset : end - 1;
    int64_t least = place->offset >= 0 ? offset : end - LAST;
    for (; offset >= 0 && offset >= least; offset--)
        fetches[(*count)++] = (struct fetch){.topic = place->topic, .partition = partition, .offset = offset};
}

static struct envelope_record
record_of(const struct fetch *fetch)
{
    return (struct envelope_record){.topic = bytes_of(fetch->topic),
                                    .partition = fetch->partition,
                                    .offset = fetch->offset,
                                    .timestamp = fetch->record.timestamp,
                                    .key = fetch->record.key,
                                    .value = fetch->record.value,
                                    .headers = fetch->record.headers,
                                    .header_count = fetch->record.header_count};
}

// Where each partition ends, as far as that is asked for.
static bool
plan_fetches(struct broker *broker, const struct letter_place *place, struct arena *arena,
             struct fetch **fetches, size_t *count, struct err *err)
{
    struct topic topic;
    struct strbuf ends = {0};
    if (!broker_topic(broker, place->topic, ASK_MS, &topic, err))
        return false;
    if (topic.state != TOPIC_KNOWN)
        return err_set(err, ERR_NOT_FOUND, "the topic %s does not exist, or Describe on it is missing",
                       place->topic);
    if (place->partition >= topic.partitions)
        return err_set(err, ERR_NOT_FOUND, "%s has no partition %d; it has %d", place->topic,
                       (int)place->partition, (int)topic.partitions);
    if (place->partition < 0 && topic.partitions > PARTITIONS)
        return err_set(err, ERR_USAGE, "%s has %d partitions: name one", place->topic, (int)topic.partitions);
    bool ok = place->offset >= 0 || broker_ends(broker, place->topic, ASK_MS, &ends, err);
    *fetches = arena_array(arena, (size_t)LAST * (size_t)topic.partitions + 1, sizeof **fetches);
    for (int32_t p = 0; ok && p < topic.partitions; p++)
        if (place->partition < 0 || place->partition == p)
            add_fetches(place, p, ends_of(strbuf_text(&ends), place->topic, p), *fetches, count);
    strbuf_release(&ends);
    return ok;
}

// The first that was found of each partition.
static size_t
choose(const struct fetch *fetches, size_t count, struct envelope_record *records, const char **why)
{
    size_t chosen = 0;
    int32_t of = -1;
    *why = NULL;
    for (size_t i = 0; i < count; i++) {
        if (fetches[i].state == FETCH_FOUND && fetches[i].partition != of) {
            records[chosen++] = record_of(&fetches[i]);
            of = fetches[i].partition;
        } else if (fetches[i].state != FETCH_FOUND && !*why) {
            *why = fetches[i].why;
        }
    }
    return chosen;
}

bool
letter_fetch(struct call *call, const struct letter_place *place, struct arena *arena,
             struct envelope_record **records, size_t *count, struct err *err)
{
    struct broker_settings settings;
    struct broker *broker = NULL;
    struct fetch *fetches = NULL;
    size_t planned = 0;
    const char *why = NULL;
    *count = 0;
    if (!publishing_broker_ready(call, &settings, err))
        return false;
    if (!broker_settings_present(&settings))
        return err_set(err, ERR_USAGE,
                       "%s is no file, and no brokers are configured to read a topic from: give -b HOST:PORT",
                       place->topic);
    bool ok =
        broker_open(&broker, &settings, err) && plan_fetches(broker, place, arena, &fetches, &planned, err);
    if (ok && planned > 0) {
        broker_fetch(broker, fetches, planned, FETCH_MS, go_on, NULL, arena);
        *records = arena_array(arena, planned, sizeof **records);
        *count = choose(fetches, planned, *records, &why);
    }
    broker_close(broker);
    if (ok && *count == 0)
        return err_set(err, ERR_NOT_FOUND, "no record of %s can be read: %s", place->topic,
                       why ? why : "it is empty");
    return ok;
}
