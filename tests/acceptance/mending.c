#include "tests/acceptance/mending.h"

#include <ctype.h>
#include <signal.h>

enum { PARTITIONS = 4 };

void
mending_begin(struct mending *mending)
{
    char said[PROGRAM_ROOM];
    world_make(&mending->world, 0);
    make_topic(mending->topic, "mending", PARTITIONS, NULL, NULL);
    const char *const where[] = {"-d", mending->world.conninfo, "-b", test_kafka(),
                                 "-T", mending->topic,          NULL};
    struct running broken = program_start(built_program("tests/demo/broken"), where);
    int status = program_end(&broken, said);
    if (status != 0)
        fail_msg("%s: %d: %s", built_program("tests/demo/broken"), status, said);
    assert_int_equal(events_in(&mending->world, "PENDING"), MENDING_ALL);
    assert_int_equal(events_in(&mending->world, "RESOLVED"), MENDING_CLOSED);
    mending->consumer = program_start(built_program("tests/demo/consumer"), where);
    program_await(&mending->consumer, "ready");
}

void
mending_end(struct mending *mending)
{
    char said[PROGRAM_ROOM];
    kill(mending->consumer.pid, SIGTERM);
    assert_int_equal(program_end(&mending->consumer, said), 0);
    world_end(&mending->world);
}

struct placed {
    int32_t partition;
    int64_t offset;
    int64_t event; // of redrive's: the one it was made from; 0: an original
    char source[100];
    struct bytes value;
};

struct log {
    struct placed records[MENDING_CLOSED + 2 * MENDING_ALL + 10];
    size_t count;
    struct arena arena;
};

static void
take_placed(void *context, const rd_kafka_message_t *message)
{
    struct log *log = context;
    assert_in_range(log->count, 0, sizeof log->records / sizeof *log->records - 1);
    struct placed *record = &log->records[log->count++];
    record->partition = message->partition;
    record->offset = message->offset;
    record->event = strtoll(header_text(message, "redrive-event-id"), NULL, 10);
    if (record->event)
        record->event -= MENDING_CLOSED;
    snprintf(record->source, sizeof record->source, "%s", header_text(message, "redrive-source"));
    record->value = arena_copy(&log->arena, (struct bytes){.data = message->payload, .len = message->len});
}

static struct bytes
original_of(const struct log *log, const char *topic, const struct placed *record)
{
    char source[100];
    for (size_t i = 0; i < log->count; i++) {
        const struct placed *other = &log->records[i];
        snprintf(source, sizeof source, "%s/%d/%lld", topic, (int)other->partition, (long long)other->offset);
        if (strcmp(source, record->source) == 0)
            return other->value;
    }
    fail_msg("no record is %s", record->source);
    return BYTES_ABSENT; // never reached, which only cmocka knows
}

// The length of "17,90" at text, with its quotes; 0: it is something else.
static size_t
comma_number(struct bytes text)
{
    size_t at = 1, digits = 0;
    if (text.len < 6 || text.data[0] != '"')
        return 0;
    for (; at < text.len && isdigit((unsigned char)text.data[at]); at++)
        digits++;
    if (!digits || at + 4 > text.len || text.data[at] != ',' || !isdigit((unsigned char)text.data[at + 1]) ||
        !isdigit((unsigned char)text.data[at + 2]) || text.data[at + 3] != '"')
        return 0;
    return at + 4;
}

// The original with each "17,90" as 17.90, made without any code of the program.
static void
without_commas(struct bytes original, struct strbuf *out)
{
    strbuf_reset(out);
    for (size_t i = 0; i < original.len;) {
        struct bytes rest = bytes_slice(original, i, original.len - i);
        size_t len = comma_number(rest);
        for (size_t k = 1; k + 1 < len; k++)
            strbuf_add_char(out, rest.data[k] == ',' ? '.' : rest.data[k]);
        if (!len)
            strbuf_add_char(out, *rest.data);
        i += len ? len : 1;
    }
}

static void
put_behind(struct bytes original, const char *place, const char *text, struct strbuf *out)
{
    size_t i = 0, len = strlen(place);
    while (i + len <= original.len && memcmp(original.data + i, place, len) != 0)
        i++;
    assert_true(i + len < original.len);
    strbuf_reset(out);
    strbuf_add(out, bytes_slice(original, 0, i + len));
    strbuf_add_text(out, text);
    strbuf_add(out, bytes_slice(original, i + len, original.len - i - len));
}

// As redrive must have sent it.
static void
mended(const struct placed *record, const struct mended *how, struct bytes original, struct strbuf *out)
{
    strbuf_reset(out);
    if (record->event == how->uncorrected)
        strbuf_add(out, original);
    else if (record->event <= MENDING_COMMAS || record->event > MENDING_ALL)
        without_commas(original, out);
    else if (record->event == how->by_hand)
        put_behind(original, "\"address\" : {", MENDING_TYPED, out);
    else // behind the last member, spaced as its neighbours are
        put_behind(original, "\"city\":\"S\\u00e3o Paulo\"", ",  \"postal_code\":\"00000-000\"", out);
}

void
mending_check_bytes(struct mending *mending, const struct mended *how)
{
    static struct log log;
    struct strbuf wanted = {0};
    int times[MENDING_ALL + 2] = {0};
    read_topic(mending->topic, PARTITIONS, "read_committed", take_placed, &log);
    for (size_t i = 0; i < log.count; i++) {
        const struct placed *record = &log.records[i];
        if (!record->event)
            continue;
        assert_in_range(record->event, 1, how->rows);
        times[record->event]++;
        struct bytes original = original_of(&log, mending->topic, record);
        mended(record, how, original, &wanted);
        if (!bytes_equal(record->value, strbuf_bytes(&wanted)))
            fail_msg("event %lld came as %.*s instead of %s", (long long)record->event,
                     (int)record->value.len, record->value.data, strbuf_text(&wanted));
        assert_true(record->event == how->uncorrected || !bytes_equal(record->value, original));
    }
    for (int64_t id = 1; id <= how->rows; id++)
        if (times[id] != 1)
            fail_msg("event %lld is there %d times", (long long)id, times[id]);
    strbuf_release(&wanted);
    arena_release(&log.arena);
    log = (struct log){0};
}
