// Dead letters into PostgreSQL (store/ingest): who may write, what becomes of further letters of one event,
// and what the staging table refuses.
#include "tests/store/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "store/checkup.h"
#include "store/ingest/decode_again.h"
#include "store/ingest/ingest.h"
#include "store/ingest/letter_rows.h"
#include "store/ingest/letter_topics.h"
#include "store/ingest/originals.h"
#include "store/pg.h"

static struct world world;
static struct arena arena;

static int
set_up(void **state)
{
    (void)state;
    world_make(&world, 0);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    world_end(&world);
    return 0;
}

static struct ingester
begin(struct store *store)
{
    struct ingester ingester;
    assert_works(ingest_begin(store, "kafka-1", &ingester, &err));
    return ingester;
}

static size_t
claim(struct store *store, const struct ingester *ingester, struct ingest_position **positions)
{
    static const char *const topics[] = {"orders-dlq", "pay-dlq"};
    static const int32_t partitions[] = {3, 1};
    size_t count;
    assert_works(ingest_claim(store, ingester, topics, partitions, 2, &arena, positions, &count, &err));
    return count;
}

static struct ingest_letter
letter(int64_t offset, const char *event_id)
{
    return (struct ingest_letter){.topic = "orders-dlq",
                                  .offset = offset,
                                  .timestamp = TIME_ABSENT,
                                  .key = BYTES_ABSENT,
                                  .value = BYTES("{}"),
                                  .format = "unknown",
                                  .failed_at = TIME_ABSENT,
                                  .identity = event_id[0],
                                  .event_id = bytes_of(event_id),
                                  .event_type = BYTES("t"),
                                  .payload = BYTES("{}"),
                                  .error_message = BYTES("boom"),
                                  .attempts = -1,
                                  .original.partition = -1,
                                  .original.offset = -1};
}

static struct ingest_arrays *used; // by the last chunk that was taken in

// The letters in the order of their offsets, from that position on.
static bool
take(struct store *store, const struct ingester *ingester, const struct ingest_letter *letters, size_t count,
     int64_t from, struct ingest_taken *taken, struct err *err)
{
    const struct ingest_stretch stretch = {.topic = "orders-dlq",
                                           .from = from,
                                           .to = letters[count - 1].offset + 1,
                                           .last_offset = letters[count - 1].offset,
                                           .last_crc = 7};
    struct ingest_chunk chunk = {
        .letters = letters, .letter_count = count, .stretches = &stretch, .stretch_count = 1};
    chunk.arrays = used = ingest_arrays_make(&chunk, used);
    return ingest_take(store, ingester, &chunk, taken, err);
}

static void
hear(void *context, enum checkup_verdict verdict, const char *sentence, const char *remedy)
{
    strbuf_printf(context, "%d %s; %s\n", (int)verdict, sentence, remedy);
}

static void
assert_heard(const char *words, bool is_heard)
{
    struct strbuf told = {0};
    assert_works(store_checkup(world.store, hear, &told, &err));
    if (!!strstr(strbuf_text(&told), words) != is_heard)
        fail_msg("\"%s\" %s:\n%s", words, is_heard ? "is missing" : "is told", strbuf_text(&told));
    strbuf_release(&told);
}

static void
positions_move_with_the_rows(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    assert_int_equal(claim(world.store, &ingester, &positions), 4);
    assert_int_equal(positions[0].next, -1);
    const struct ingest_letter letters[] = {letter(3, "a"), letter(4, "b")};
    assert_works(take(world.store, &ingester, letters, 2, -1, &taken, &err));
    assert_int_equal(taken.events, 2);
    // The same chunk again, as after an answer that was lost.
    assert_refused(take(world.store, &ingester, letters, 2, -1, &taken, &err), ERR_CONFLICT, "read on");
    assert_int_equal(claim(world.store, &ingester, &positions), 4);
    assert_int_equal(positions[0].next, 5);
    assert_int_equal(positions[0].last_offset, 4);
    assert_int_equal(positions[0].last_crc, 7);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 2);
    assert_works(ingest_end(world.store, &ingester, &err));
    assert_works(ingest_positions(world.store, "kafka-1", &arena, &positions, &(size_t){0}, &err));
    assert_int_equal(positions[0].next, 5);
}

// Two sessions of one ingester, each with letters of other partitions: the second one ends first.
static void
partitions_are_written_beside_each_other(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct store *beside;
    struct ingester ingester = begin(world.store);
    assert_int_equal(claim(world.store, &ingester, &positions), 4);
    assert_works(store_open(&beside, &world.settings, &err));
    test_sql(world.admin, "BEGIN; SELECT FROM redrive.ingester FOR SHARE");
    struct ingest_letter letters[] = {letter(0, "a")};
    assert_works(take(beside, &ingester, letters, 1, -1, &taken, &err));
    assert_int_equal(taken.events, 1);
    // What may move all of them waits for whoever writes, here until it is tired of it.
    assert_refused(ingest_end(world.store, &ingester, &err), ERR_CONFLICT, "");
    test_sql(world.admin, "COMMIT");
    store_close(beside);
    assert_int_equal(claim(world.store, &ingester, &positions), 4);
    assert_int_equal(positions[0].next, 1);
}

static void
chunks_with_an_event_in_common_meet(void **state)
{
    (void)state;
    const struct ingest_letter some[] = {letter(0, "e"), letter(1, "a"), letter(2, "c")};
    const struct ingest_letter others[] = {letter(0, "d"), letter(1, "b"), letter(2, "e")};
    const struct ingest_chunk chunk = {.letters = some, .letter_count = 3};
    struct ingest_chunk other = {.letters = others, .letter_count = 3};
    struct ingest_arrays *arrays = ingest_arrays_make(&chunk, NULL),
                         *meets = ingest_arrays_make(&other, NULL);
    other.letter_count = 2;
    struct ingest_arrays *does_not = ingest_arrays_make(&other, NULL);
    assert_true(ingest_arrays_meet(arrays, meets));
    assert_true(ingest_arrays_meet(meets, arrays));
    assert_false(ingest_arrays_meet(arrays, does_not));
    assert_false(ingest_arrays_meet(does_not, arrays));
    does_not = ingest_arrays_make(&chunk, does_not);
    meets = ingest_arrays_make(&other, meets); // of a chunk that is shorter than the one before
    assert_true(ingest_arrays_meet(arrays, does_not));
    assert_false(ingest_arrays_meet(arrays, meets));
    ingest_arrays_free(arrays);
    ingest_arrays_free(meets);
    ingest_arrays_free(does_not);
}

// Also in a chunk with partitions of several generations; and further dead letters among them.
static void
records_have_the_generation_of_their_partition(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    assert_int_equal(claim(world.store, &ingester, &positions), 4);
    test_sql(world.admin, "UPDATE redrive.ingest_position SET generation = 2 WHERE partition = 1");
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b"), letter(0, "c"), letter(1, "a")};
    letters[2].partition = letters[3].partition = 1;
    const struct ingest_stretch stretches[] = {
        {.topic = "orders-dlq", .partition = 0, .from = -1, .to = 2, .last_offset = 1},
        {.topic = "orders-dlq", .partition = 1, .from = -1, .to = 2, .last_offset = 1}};
    const struct ingest_chunk chunk = {
        .letters = letters, .letter_count = 4, .stretches = stretches, .stretch_count = 2};
    assert_works(ingest_take(world.store, &ingester, &chunk, &taken, &err));
    assert_int_equal(taken.events, 3);
    assert_int_equal(taken.attempts, 1);
    assert_string_equal(
        test_text(world.admin, "SELECT string_agg(concat(e.event_id, k.partition, k.\"offset\", ':', "
                               "k.generation), ' ' ORDER BY k.partition, k.\"offset\") FROM dlq_events e "
                               "JOIN (SELECT dlq_id, partition, \"offset\", generation FROM redrive.record "
                               "UNION ALL SELECT dlq_id, partition, \"offset\", generation FROM "
                               "redrive.attempt) k ON k.dlq_id = e.id"),
        "a00:0 b01:0 c10:2 a11:2");
}

static void
whoever_was_away_writes_nothing(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester frozen = begin(world.store);
    assert_int_equal(claim(world.store, &frozen, &positions), 4);
    test_sql(world.admin, "UPDATE redrive.ingester SET seen_at = seen_at - interval '16 s'");
    struct store *other = open_store(world.conninfo);
    struct ingester awake = begin(other);
    assert_int_equal(claim(other, &awake, &positions), 4);
    const struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b")};
    assert_refused(take(world.store, &frozen, letters, 2, -1, &taken, &err), ERR_CONFLICT,
                   "away for too long");
    assert_refused(ingest_hole(world.store, &frozen, &positions[0], 9, &err), ERR_CONFLICT, "away");
    assert_refused(ingest_anew(world.store, &frozen, &positions[0], &err), ERR_CONFLICT, "away");
    assert_refused(ingest_ends(world.store, &frozen, &(struct ingest_mark){"orders-dlq", 0, 3}, 1, &err),
                   ERR_CONFLICT, "away");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 0);
    assert_works(take(other, &awake, letters, 2, -1, &taken, &err));

    // One that came later gets half of them, and the first one cannot write to these any more.
    struct ingester third = begin(world.store);
    assert_int_equal(claim(world.store, &third, &positions), 0);
    assert_int_equal(claim(other, &awake, &positions), 2);
    assert_int_equal(claim(world.store, &third, &positions), 2);
    store_close(other);
}

// A share of a topic is left only to whoever reads that topic.
static void
readers_of_other_topics_share_nothing(void **state)
{
    (void)state;
    static const char *const refunds[] = {"refunds-dlq"};
    static const int32_t two[] = {2};
    struct ingest_position *positions;
    size_t count;
    struct store *other = open_store(world.conninfo);
    struct ingester first = begin(world.store), second = begin(other);
    assert_int_equal(claim(world.store, &first, &positions), 4);
    assert_works(ingest_claim(other, &second, refunds, two, 1, &arena, &positions, &count, &err));
    assert_int_equal(count, 2);
    assert_int_equal(claim(world.store, &first, &positions), 4);
    store_close(other);
}

static void
one_event_has_attempts_until_it_is_closed(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter first[] = {letter(0, "a"), letter(1, "a"), letter(2, "b")};
    assert_works(take(world.store, &ingester, first, 3, -1, &taken, &err));
    assert_int_equal(taken.events, 2);
    assert_int_equal(taken.attempts, 1);
    struct ingest_letter again[] = {letter(3, "a"), letter(4, "b")};
    again[0].was_sent = true; // by redrive: it has returned
    assert_works(take(world.store, &ingester, again, 2, 3, &taken, &err));
    assert_int_equal(taken.events, 1);
    assert_int_equal(taken.attempts, 1);
    test_sql(world.admin, "UPDATE dlq_events SET status = 'RESOLVED'");
    struct ingest_letter later[] = {letter(5, "a"), letter(6, "b")};
    assert_works(take(world.store, &ingester, later, 2, 5, &taken, &err));
    assert_int_equal(taken.events, 2);
    assert_string_equal(
        test_text(world.admin,
                  "SELECT string_agg(e.event_id || a.\"offset\", ' ' ORDER BY a.\"offset\") FROM "
                  "redrive.attempt a JOIN dlq_events e ON e.id = a.dlq_id"),
        "a1 b4");
}

static void
what_jsonb_refuses_does_not_stop_the_rest(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b"), letter(2, "c")};
    letters[1].payload = BYTES("{\"a\": \"\\u0000\"}");
    letters[1].value = letters[1].payload;
    assert_works(take(world.store, &ingester, letters, 3, -1, &taken, &err));
    assert_string_equal(
        test_text(world.admin, "SELECT string_agg(event_payload::text, ' ' ORDER BY id) FROM dlq_events"),
        "{} {\"bytes\": 15, \"not_json\": \"PostgreSQL cannot hold it\"} {}");
}

// It is sent to PostgreSQL once, and large ones are compressed on their way.
static void
a_payload_that_is_the_value_is_there_twice(void **state)
{
    (void)state;
    enum { LARGE = 5000 };
    struct ingest_position *positions;
    struct ingest_taken taken;
    char *large = arena_array(&arena, LARGE, 1);
    memset(large, 'x', LARGE);
    large[0] = large[LARGE - 1] = '"';
    const struct bytes text = BYTES("[\"\xC3\xA4\xE2\x82\xAC\"]"), values[] = {text, text, {large, LARGE}};
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    test_sql(world.admin, "ALTER TABLE dlq_events ADD CONSTRAINT no_b CHECK (event_id <> 'b')");
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b"), letter(2, "c")};
    for (size_t i = 0; i < 3; i++)
        letters[i].value = letters[i].payload = values[i];
    assert_works(take(world.store, &ingester, letters, 3, -1, &taken, &err));
    assert_int_equal(taken.unfit, 1);
    assert_string_equal(test_text(world.admin, "SELECT payload FROM redrive.unfit"),
                        "[\"\xC3\xA4\xE2\x82\xAC\"]");
    test_sql(world.admin, "ALTER TABLE dlq_events DROP CONSTRAINT no_b");
    assert_works(ingest_again(world.store, &ingester, &taken, &err));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events e JOIN redrive.record r ON "
                                              "r.dlq_id = e.id WHERE e.event_payload = convert_from(r.value, "
                                              "'UTF8')::jsonb"),
                     3);
    if (test_number(world.admin, "SELECT count(*) FROM pg_settings WHERE name = 'default_toast_compression' "
                                 "AND 'lz4' = ANY (enumvals)") == 1)
        assert_string_equal(test_text(world.admin, "SELECT pg_column_compression(value) FROM redrive.record "
                                                   "WHERE length(value) = 5000"),
                            "lz4");
}

// A constraint of the team's own: what it refuses is kept whole, the rest is taken in, and once the
// constraint is gone it is an event with its attempts.
static void
what_the_table_refuses_is_kept_aside(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    test_sql(world.admin, "ALTER TABLE dlq_events ADD CONSTRAINT no_b CHECK (event_id <> 'b')");
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b"), letter(2, "c"), letter(3, "b"),
                                      letter(4, "c")};
    letters[1].value = BYTES("\xff\0 whole");
    letters[2].payload = BYTES("{\"a\": \"\\u0000\"}");
    assert_works(take(world.store, &ingester, letters, 5, -1, &taken, &err));
    assert_int_equal(taken.events, 2);
    assert_int_equal(taken.attempts, 1);
    assert_int_equal(taken.unfit, 2);
    assert_string_equal(
        test_text(world.admin,
                  "SELECT string_agg(event_id || status, ' ' ORDER BY event_id) FROM dlq_events"),
        "aPENDING cPENDING");
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(concat_ws(' ', \"offset\", encode(value, 'escape'), why "
                                  "LIKE '%no_b%'), '|' ORDER BY \"offset\") FROM redrive.unfit"),
                        "1 \\377\\000 whole t|3 {} t");
    assert_string_equal(test_text(world.admin,
                                  "SELECT string_agg(concat_ws(' ', what, topic, first_offset, last_offset), "
                                  "'|') FROM redrive.alarm"),
                        "unfit orders-dlq 1 3");
    assert_heard("the table of dead letters refuses 2 dead letters of 1 topics: new row for relation", true);

    struct ingest_letter more[] = {letter(5, "b"), letter(6, "d")};
    assert_works(take(world.store, &ingester, more, 2, 5, &taken, &err));
    assert_int_equal(taken.unfit, 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.alarm"), 1);
    assert_works(ingest_again(world.store, &ingester, &taken, &err));
    assert_int_equal(taken.unfit, 3);
    test_sql(world.admin, "ALTER TABLE dlq_events DROP CONSTRAINT no_b");
    assert_works(ingest_again(world.store, &ingester, &taken, &err));
    assert_int_equal(taken.events, 1);
    assert_int_equal(taken.attempts, 2);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.unfit"), 0);
    assert_string_equal(test_text(world.admin, "SELECT encode(value, 'escape') FROM redrive.record r JOIN "
                                               "dlq_events e ON e.id = r.dlq_id WHERE event_id = 'b'"),
                        "\\377\\000 whole");
    assert_heard("refuses", false);
}

// Triggers, deferred constraints, columns of the team's own, and indexes that have no room for long texts.
static void
whatever_refuses_does_not_stop_the_rest(void **state)
{
    (void)state;
    static const char *const refusals[] = {
        "ALTER TABLE dlq_events ADD COLUMN team text NOT NULL",
        "ALTER TABLE dlq_events ADD CONSTRAINT once UNIQUE (error_message) DEFERRABLE INITIALLY DEFERRED",
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; "
        "END $$; CREATE TRIGGER refuse BEFORE INSERT ON dlq_events FOR EACH ROW WHEN (NEW.event_id LIKE "
        "'%x') "
        "EXECUTE FUNCTION refuse()",
    };
    static const int64_t fit[] = {0, 1, 1};
    struct ingest_position *positions;
    struct ingest_taken taken;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct ingester ingester = begin(world.store);
        claim(world.store, &ingester, &positions);
        test_sql(world.admin, "%s", refusals[i]);
        struct ingest_letter letters[] = {letter(0, "a"), letter(1, "x")};
        assert_works(take(world.store, &ingester, letters, 2, -1, &taken, &err));
        assert_int_equal(taken.events, fit[i]);
        assert_int_equal(taken.unfit, 2 - fit[i]);
        world_end(&world);
        world_make(&world, 0);
    }
}

// Whatever a column may hold, each in a letter of its own.
static size_t
letters_of_all_kinds(struct ingest_letter *letters)
{
    static struct event_header headers[3];
    static char value[5002], topic[121];
    size_t count = 12;
    for (size_t i = 0; i < count; i++) {
        letters[i] = letter((int64_t)i * 2,
                            (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}[i]);
        letters[i].timestamp = 1500000000000000 + (int64_t)i;
        letters[i].crc = 0xfffffff0u + (uint32_t)i;
    }
    headers[0] = (struct event_header){BYTES("a"), BYTES("1")};
    headers[1] = (struct event_header){BYTES("\xc3\xa9"), BYTES_ABSENT};
    headers[2] = (struct event_header){BYTES("a"), BYTES("\xff\0")};
    letters[1].headers = headers;
    letters[1].header_count = 3;
    letters[2].key = BYTES("k\0\xff");
    letters[2].value = BYTES_ABSENT;
    letters[2].timestamp = TIME_ABSENT;
    letters[3].event_id = BYTES("d\xc3\xa4\xc3\xa4 0123456789 0123456789 0123456789 0123456789 0123456789");
    letters[3].event_type = letters[3].source_table = letters[3].source_id =
        BYTES("\xc3\xa4 of more characters than the contract table takes of a name");
    memset(value, '1', sizeof value - 1);
    letters[4].value = letters[4].payload = (struct bytes){value, 5000};
    letters[5].payload = BYTES("{\"a\": 1.50, \"a\": [true, null]}");
    letters[5].stack_trace = BYTES("at b\nat c");
    letters[5].attempts = 3;
    letters[6].has_correlation = true;
    memcpy(letters[6].correlation, "0123456789abcdef", 16);
    letters[6].original.topic = BYTES("orders");
    letters[6].original.partition = 2;
    letters[6].original.offset = 7;
    memset(topic, 't', sizeof topic - 1);
    letters[7].original = letters[6].original;
    letters[7].original.topic = (struct bytes){topic, 120};
    letters[8].original = letters[6].original;
    letters[8].is_pointer = true;
    letters[8].schema = "id 7";
    letters[8].decoding = "waiting";
    letters[9].was_sent = true;
    letters[10].consumer = BYTES("billing");
    letters[10].failed_at = 1400000000000000;
    letters[11].timestamp = 4000000000000000; // of a clock that is ahead
    return count;
}

// All that was written of a record, but what differs from one time to the next.
static const char *
what_was_written(int64_t offset)
{
    char sql[800];
    snprintf(sql, sizeof sql,
             "SELECT concat_ws(E'\\n', to_jsonb(e) - '{id,created_at,event_payload}'::text[], "
             "left(e.event_payload::text, 100), md5(e.event_payload::text), CASE WHEN e.created_at < "
             "'2020-01-01' THEN e.created_at::text WHEN e.created_at <= now() AT TIME ZONE 'UTC' THEN 'now' "
             "END, to_jsonb(r) - '{dlq_id,value}'::text[], md5(r.value), to_jsonb(o) - "
             "'{dlq_id,at,next_at}'::text[]) FROM dlq_events e JOIN redrive.record r ON r.dlq_id = e.id LEFT "
             "JOIN redrive.original o ON o.dlq_id = e.id WHERE r.\"offset\" = %" PRId64,
             offset);
    return test_text(world.admin, sql);
}

// New events go without the stage; with it the same comes of them.
static void
both_ways_write_the_same(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingest_letter letters[16];
    char *written[16] = {0};
    size_t count = letters_of_all_kinds(letters);
    const struct ingest_stretch stretch = {
        .topic = "orders-dlq", .from = -1, .to = 30, .last_offset = 22, .last_crc = 7};
    struct ingest_chunk chunk = {
        .letters = letters, .letter_count = count, .stretches = &stretch, .stretch_count = 1};
    for (int is_mixed = 0; is_mixed < 2; is_mixed++) {
        struct ingester ingester = begin(world.store);
        claim(world.store, &ingester, &positions);
        chunk.is_mixed = is_mixed;
        assert_works(ingest_take(world.store, &ingester, &chunk, &taken, &err));
        assert_int_equal(taken.was_staged, is_mixed);
        assert_int_equal(taken.events, count);
        claim(world.store, &ingester, &positions);
        assert_int_equal(positions[0].next, 30);
        assert_int_equal(positions[0].last_offset, 22);
        for (size_t i = 0; i < count; i++) {
            const char *text = what_was_written(letters[i].offset);
            if (!is_mixed)
                written[i] = alloc_text(text);
            else if (strcmp(written[i], text) != 0)
                fail_msg("without the stage:\n%s\nwith it:\n%s", written[i], text);
        }
        world_end(&world);
        world_make(&world, 0);
    }
    assert_true(written[10] && strstr(written[10], "billing"));
    assert_true(written[8] && strstr(written[8], "waiting"));
    for (size_t i = 0; i < count; i++)
        free(written[i]);
}

// Nothing of a chunk is left behind where one of its letters turns out to be no new event.
static void
what_is_no_new_event_is_staged(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    const struct ingest_letter first[] = {letter(0, "a"), letter(1, "b")};
    assert_works(take(world.store, &ingester, first, 2, -1, &taken, &err));
    assert_false(taken.was_staged);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM pg_class WHERE relname = 'redrive_letter'"), 0);
    const struct ingest_letter known[] = {letter(2, "c"), letter(3, "a")};
    assert_works(take(world.store, &ingester, known, 2, 2, &taken, &err));
    assert_true(taken.was_staged);
    assert_int_equal(taken.events, 1);
    assert_int_equal(taken.attempts, 1);
    const struct ingest_letter twice[] = {letter(4, "d"), letter(5, "d")};
    assert_works(take(world.store, &ingester, twice, 2, 4, &taken, &err));
    assert_true(taken.was_staged);
    assert_int_equal(taken.attempts, 1);
    struct ingest_letter refused[] = {letter(7, "e"), letter(8, "f")};
    refused[1].payload = BYTES("{\"a\": \"\\u0000\"}");
    assert_works(take(world.store, &ingester, refused, 2, 6, &taken, &err));
    assert_true(taken.was_staged);
    assert_int_equal(taken.events, 2);

    // Of another partition than the chunk, before its beginning, and beyond its end.
    struct ingest_letter outside[] = {letter(9, "g"), letter(10, "h")};
    outside[0].partition = 1;
    assert_refused(take(world.store, &ingester, outside, 2, 9, &taken, &err), ERR_USAGE, "outside");
    outside[0] = letter(6, "g");
    assert_refused(take(world.store, &ingester, outside, 2, 9, &taken, &err), ERR_USAGE, "outside");
    outside[0] = letter(12, "g");
    assert_refused(take(world.store, &ingester, outside, 2, 9, &taken, &err), ERR_USAGE, "outside");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 6);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.record"), 6);
    assert_int_equal(test_number(world.admin, "SELECT max(next_offset) FROM redrive.ingest_position"), 9);
}

// One letter, as another program might call the function.
static const char *
by_hand(const struct ingester *ingester, const char *event_id, const char *error, int longest)
{
    static char sql[1000];
    snprintf(
        sql, sizeof sql,
        "SELECT redrive.ingest_take_new(%" PRId64 ", %" PRId64 ", '{orders-dlq}', '{0}', '{-1}', '{1}', "
        "'{0}', '{7}', '{1}', '{0}', NULL, NULL, NULL, NULL, NULL, '{1}', '{unknown}', NULL, NULL, '{5}', "
        "NULL, ARRAY[%s], '{t}', NULL, NULL, ARRAY['{}'], ARRAY[%s]::text[], NULL, NULL, NULL, NULL, "
        "NULL, NULL, NULL, NULL, NULL, '{%d,1,0,0,0}', '{5}')",
        ingester->no, ingester->fence, event_id, error, longest);
    return sql;
}

static void
what_is_said_of_the_longest_opens_nothing(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    test_sql(world.admin, "%s", by_hand(&ingester, "repeat('x', 60)", "'boom'", 10));
    assert_refused(pg_script(world.store, by_hand(&ingester, "'x'", "NULL", 1), &err), ERR_USAGE,
                   "no checksum");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 0);
    assert_int_equal(test_number(world.admin, by_hand(&ingester, "repeat('x', 60)", "'boom'", 60)), 1);
    assert_int_equal(test_number(world.admin, "SELECT length(event_id) FROM dlq_events"), 50);
}

// Somebody's own table of that name would get rows with the owner's rights.
static void
the_stage_is_the_owners(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    const struct ingest_letter letters[] = {letter(0, "a")};
    test_sql(world.admin,
             "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'redrive_test_stage') "
             "THEN CREATE ROLE redrive_test_stage; END IF; END $$");
    assert_works(pg_script(world.store,
                           "CREATE TEMP TABLE redrive_letter (no integer); ALTER TABLE "
                           "redrive_letter OWNER TO redrive_test_stage",
                           &err));
    const struct ingest_stretch own = {.topic = "orders-dlq", .from = -1, .to = 1, .last_offset = 0};
    const struct ingest_chunk mixed = {
        .letters = letters, .letter_count = 1, .stretches = &own, .stretch_count = 1, .is_mixed = true};
    assert_refused(ingest_take(world.store, &ingester, &mixed, &taken, &err), ERR_DENIED, "redrive_letter");
    assert_works(pg_script(world.store, "DROP TABLE redrive_letter", &err));
    test_sql(world.admin, "DROP ROLE redrive_test_stage");

    // A record outside its chunk.
    const struct ingest_stretch stretch = {.topic = "orders-dlq", .from = -1, .to = 1, .last_offset = -1};
    const struct ingest_letter far[] = {letter(5, "a")};
    const struct ingest_chunk chunk = {
        .letters = far, .letter_count = 1, .stretches = &stretch, .stretch_count = 1, .is_mixed = true};
    assert_refused(ingest_take(world.store, &ingester, &chunk, &taken, &err), ERR_USAGE, "outside");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 0);
}

static void
doctor_tells_what_is_missing(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    assert_heard("dead letter", false);
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    const struct ingest_letter letters[] = {letter(0, "a")};
    assert_works(take(world.store, &ingester, letters, 1, -1, &taken, &err));
    assert_works(ingest_ends(world.store, &ingester, &(struct ingest_mark){"orders-dlq", 0, 12}, 1, &err));
    assert_heard("reads 4 partitions of 2 dead letter topics; 11 dead letters are left", true);
    claim(world.store, &ingester, &positions);
    assert_works(ingest_hole(world.store, &ingester, &positions[0], 9, &err));
    assert_heard("Kafka removed 8 dead letters of orders-dlq, partition 0", true);

    // What it does not read any more counts no longer.
    static const char *const pay[] = {"pay-dlq"};
    size_t count;
    assert_works(
        ingest_claim(world.store, &ingester, pay, (int32_t[]){1}, 1, &arena, &positions, &count, &err));
    assert_heard("reads 1 partitions of 1 dead letter topics; 0 dead letters are left", true);
    assert_works(ingest_end(world.store, &ingester, &err));
    assert_heard("nobody takes in dead letters now; 2 dead letter topics", true);
}

static void
the_monitor_shows_how_far_it_is_behind(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct letter_topic *topics;
    size_t count;
    assert_works(letter_topics_list(world.store, &arena, &topics, &count, &err));
    assert_int_equal(count, 0);
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    const struct ingest_letter letters[] = {letter(0, "a")};
    assert_works(take(world.store, &ingester, letters, 1, -1, &taken, &err));
    assert_works(letter_topics_list(world.store, &arena, &topics, &count, &err));
    assert_int_equal(topics[0].left, -1); // nobody asked Kafka yet
    const struct ingest_mark ends[] = {
        {"orders-dlq", 0, 12}, {"orders-dlq", 1, 4}, {"orders-dlq", 2, 0}, {"pay-dlq", 0, 3}};
    assert_works(ingest_ends(world.store, &ingester, ends, 4, &err));
    claim(world.store, &ingester, &positions);
    assert_works(ingest_hole(world.store, &ingester, &positions[0], 9, &err));
    assert_works(letter_topics_list(world.store, &arena, &topics, &count, &err));
    assert_int_equal(count, 2);
    assert_string_equal(topics[0].name, "orders-dlq");
    assert_int_equal(topics[0].read, 9);
    assert_int_equal(topics[0].left, 3 + 4);
    assert_true(topics[0].is_read);
    assert_int_equal(topics[0].alarms, 1);
    assert_non_null(strstr(topics[0].alarm, "Kafka removed 8 dead letters"));
    assert_string_equal(topics[1].name, "pay-dlq");
    assert_int_equal(topics[1].left, 3);
    assert_null(topics[1].alarm);

    test_sql(world.admin, "UPDATE redrive.ingester SET seen_at = seen_at - interval '16 s';"
                          "UPDATE redrive.alarm SET at = at - interval '8 days'");
    assert_works(letter_topics_list(world.store, &arena, &topics, &count, &err));
    assert_false(topics[0].is_read);
    assert_int_equal(topics[0].alarms, 0);
}

// --- letters that are decoded again ---

static struct decode_again_counts
decode_again(struct store *store, const struct ingester *ingester, const struct ingest_letter *letters,
             size_t count, bool is_dry)
{
    struct kept_record records[8];
    struct decode_again_counts counts = {0};
    int64_t ids[8];
    size_t found;
    assert_works(
        decode_again_records(store, "kafka-1", "orders-dlq", NULL, &arena, records, 8, &found, &err));
    for (size_t i = 0; i < count; i++) {
        ids[i] = -1; // no pending event of that record
        for (size_t n = 0; n < found; n++)
            ids[i] = records[n].record.offset == letters[i].offset ? records[n].id : ids[i];
    }
    assert_works(decode_again_take(store, ingester, letters, ids, count, count, is_dry, &counts, &err));
    return counts;
}

static const char *
rows(void)
{
    return arena_text(
        &arena, bytes_of(test_text(
                    world.admin,
                    "SELECT string_agg(concat_ws(' ', e.event_id, e.event_type, e.error_message, "
                    "e.retry_count, e.event_payload, e.kafka_topic, e.kafka_offset, r.format, r.consumer, "
                    "r.identity), '|' ORDER BY e.id) FROM dlq_events e JOIN redrive.record r ON r.dlq_id "
                    "= e.id")));
}

static void
another_guess_is_written_whole(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b")};
    assert_works(take(world.store, &ingester, letters, 2, -1, &taken, &err));
    const char *before = rows();
    letters[0] = letter(0, "x");
    letters[0].format = "dlq-wrapper";
    letters[0].consumer = BYTES("billing");
    letters[0].error_message = BYTES("late");
    letters[0].event_type = BYTES("OrderPlaced");
    letters[0].payload = BYTES("{\"id\": 1}");
    letters[0].attempts = 3;
    letters[0].original.topic = BYTES("orders");
    letters[0].original.partition = 0;
    letters[0].original.offset = 77;
    struct decode_again_counts counts = decode_again(world.store, &ingester, letters, 2, true);
    assert_int_equal(counts.of[AGAIN_DECODED], 1);
    assert_string_equal(rows(), before);
    struct kept_record records[2];
    size_t found;
    assert_works(
        decode_again_records(world.store, "kafka-1", "orders-dlq", NULL, &arena, records, 1, &found, &err));
    assert_int_equal(found, 1);
    assert_works(decode_again_records(world.store, "kafka-1", "orders-dlq", &records[0], &arena, &records[1],
                                      1, &found, &err));
    assert_int_equal(found, 1);
    assert_int_equal(records[1].record.offset, 1);
    assert_works(decode_again_records(world.store, "kafka-1", "orders-dlq", &records[1], &arena, records, 1,
                                      &found, &err));
    assert_int_equal(found, 0);
    int64_t floor = test_number(world.admin, "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint");
    counts = decode_again(world.store, &ingester, letters, 2, false);
    char changed[128]; // what the rollup reads next: the row and the record of one event
    snprintf(changed, sizeof changed, "SELECT count(*) FROM redrive.changed_since('%d', 1000, 1000)",
             (int)floor);
    assert_int_equal(test_number(world.admin, changed), 2);
    assert_int_equal(counts.of[AGAIN_DECODED], 1);
    assert_int_equal(counts.of[AGAIN_UNCHANGED], 1);
    assert_string_equal(rows(), "x OrderPlaced late 3 {\"id\": 1} orders 77 dlq-wrapper billing 120|"
                                "b t boom 0 {} unknown 98");
    assert_string_equal(test_text(world.admin, "SELECT concat_ws(' ', action, events, detail) FROM "
                                               "redrive.audit ORDER BY no DESC LIMIT 1"),
                        "decode again 1 dead letters of orders-dlq: events 1 to 1");
    counts = decode_again(world.store, &ingester, letters, 2, false);
    assert_int_equal(counts.of[AGAIN_UNCHANGED], 2);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'decode again'"), 1);
    // The count of another program's retries is its own.
    test_sql(world.admin,
             "UPDATE dlq_events SET retry_count = 9, last_retry_at = now() WHERE event_id = 'x'");
    counts = decode_again(world.store, &ingester, letters, 2, false);
    assert_int_equal(counts.of[AGAIN_UNCHANGED], 2);
}

// What somebody decided on, and what would become another event.
static void
what_is_not_decoded_again_is_counted(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b"), letter(2, "c"), letter(3, "d"),
                                      letter(4, "e"), letter(5, "f"), letter(6, "f")};
    assert_works(take(world.store, &ingester, letters, 7, -1, &taken, &err));
    assert_int_equal(taken.events, 6);
    const char *before = rows();
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, payload) SELECT id, 1, '{}' FROM dlq_events WHERE "
             "event_id = 'a'; UPDATE dlq_events SET status = 'RESOLVED' WHERE event_id = 'b';"
             "ALTER TABLE dlq_events ADD CONSTRAINT no_late CHECK (error_message <> 'late')");
    for (int i = 0; i < 5; i++)
        letters[i].error_message = BYTES("late");
    letters[2] = letter(2, "d");                                        // which there is already
    letters[4] = letter(4, "e"), letters[4].value = BYTES("{\"\": 0}"); // which its record is not
    letters[5] = letter(5, "g");
    struct decode_again_counts counts = decode_again(world.store, &ingester, letters, 6, false);
    assert_int_equal(counts.of[AGAIN_CORRECTED], 1);
    assert_int_equal(counts.of[AGAIN_CLOSED], 2);
    assert_int_equal(counts.of[AGAIN_TAKEN], 1);
    assert_int_equal(counts.of[AGAIN_REFUSED], 1);
    assert_int_equal(counts.of[AGAIN_SPLIT], 1);
    assert_int_equal(counts.of[AGAIN_DECODED], 0);
    assert_string_equal(rows(), before);

    // In an operation that has not ended.
    test_sql(world.admin, "ALTER TABLE dlq_events DROP CONSTRAINT no_late");
    int64_t operation = make_operation(&world, world.store, ACTION_DISCARD, 4, 4);
    counts = decode_again(world.store, &ingester, &letters[3], 1, false);
    assert_int_equal(counts.of[AGAIN_BUSY], 1);
    assert_string_equal(rows(), before);
    assert_works(operation_steer(world.store, operation, STEER_CANCEL, 0, NULL, &err));
    counts = decode_again(world.store, &ingester, &letters[3], 1, false);
    assert_int_equal(counts.of[AGAIN_DECODED], 1);
    // Once its namesake is closed, the letter is an event of its own.
    test_sql(world.admin, "UPDATE dlq_events SET status = 'RESOLVED' WHERE event_id = 'd'");
    counts = decode_again(world.store, &ingester, &letters[2], 1, false);
    assert_int_equal(counts.of[AGAIN_DECODED], 1);
}

static const char *
attempts(void)
{
    return arena_text(
        &arena, bytes_of(test_text(world.admin,
                                   "SELECT string_agg(concat_ws(' ', dlq_id, topic, \"offset\", format, "
                                   "consumer, error_message, stack_trace, value), '|' ORDER BY \"offset\") "
                                   "FROM redrive.attempt")));
}

// Of event 1 one lies in the same topic and one in another; of event 2 one in another.
static void
further_dead_letters_are_decoded_again(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter letters[] = {letter(0, "a"), letter(1, "b"), letter(2, "a"), letter(3, "a"),
                                      letter(4, "b")};
    assert_works(take(world.store, &ingester, letters, 5, -1, &taken, &err));
    assert_int_equal(taken.attempts, 3);
    test_sql(world.admin, "UPDATE redrive.attempt SET topic = 'pay-dlq' WHERE \"offset\" >= 3");
    letters[3].topic = letters[4].topic = "pay-dlq";

    struct kept_record page[4], *of;
    size_t count;
    int64_t ids[] = {1, 2, 1, 1, 2};
    assert_works(decode_again_attempts_of(world.store, "kafka-1", ids, 2, &arena, &of, &count, &err));
    assert_int_equal(count, 3);
    assert_works(
        decode_again_attempts(world.store, "kafka-1", "orders-dlq", NULL, &arena, page, 4, &count, &err));
    assert_int_equal(count, 0); // they are read with their events
    assert_works(
        decode_again_attempts(world.store, "kafka-1", "pay-dlq", NULL, &arena, page, 1, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(page[0].record.offset, 3);
    assert_works(
        decode_again_attempts(world.store, "kafka-1", "pay-dlq", &page[0], &arena, page, 4, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(page[0].id, 2);

    // Their traces follow, and a new identity where all of an event have it.
    for (int i = 0; i < 5; i++) {
        letters[i].format = "dlq-headers";
        letters[i].consumer = BYTES("billing");
        letters[i].error_message = i < 2 ? BYTES("last") : BYTES("late");
        letters[i].stack_trace = BYTES("at A");
        if (ids[i] == 1) {
            letters[i].identity = 'n';
            letters[i].event_id = BYTES("n");
        }
    }
    letters[1].identity = 'm'; // the other of its event is not of that one
    letters[1].event_id = BYTES("m");
    struct decode_again_counts counts = {0};
    const char *before = attempts();
    assert_works(decode_again_take(world.store, &ingester, letters, ids, 5, 2, true, &counts, &err));
    assert_string_equal(attempts(), before);
    counts = (struct decode_again_counts){0};
    assert_works(decode_again_take(world.store, &ingester, letters, ids, 5, 2, false, &counts, &err));
    assert_int_equal(counts.of[AGAIN_DECODED], 1);
    assert_int_equal(counts.of[AGAIN_SPLIT], 1);
    assert_int_equal(counts.attempts, 3);
    assert_int_equal(counts.attempts_split, 0);
    assert_string_equal(attempts(), "1 orders-dlq 2 dlq-headers billing late at A \\x7b7d|"
                                    "1 pay-dlq 3 dlq-headers billing late at A \\x7b7d|"
                                    "2 pay-dlq 4 dlq-headers billing late at A \\x7b7d");
    assert_string_equal(
        test_text(world.admin, "SELECT string_agg(event_id, ' ' ORDER BY id) FROM dlq_events"), "n b");

    // One that is now of another event stays, as do those of an event that somebody corrected or closed.
    letters[4].identity = 'x';
    letters[4].error_message = letters[2].error_message = BYTES("other");
    test_sql(world.admin, "INSERT INTO redrive.revision (dlq_id, no, payload) VALUES (1, 1, '{}')");
    counts = (struct decode_again_counts){0};
    before = attempts();
    assert_works(decode_again_take(world.store, &ingester, &letters[2], &ids[2], 3, 0, false, &counts, &err));
    assert_int_equal(counts.attempts_split, 1);
    assert_int_equal(counts.attempts, 0);
    assert_string_equal(attempts(), before);
    letters[4].identity = 'b';
    test_sql(world.admin, "UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 2");
    assert_works(decode_again_take(world.store, &ingester, &letters[4], &ids[4], 1, 0, false, &counts, &err));
    assert_int_equal(counts.attempts, 0);
    assert_string_equal(attempts(), before);
}

// --- dead letters that only point at their original ---

static struct ingest_letter
pointer(int64_t offset, const char *event_id)
{
    struct ingest_letter one = letter(offset, event_id);
    one.format = "share-group";
    one.value = BYTES_ABSENT;
    one.payload = BYTES("{\"not_json\": \"elsewhere\", \"bytes\": 0}");
    one.original.topic = BYTES("orders");
    one.original.partition = 3;
    one.original.offset = 100 + offset;
    one.is_pointer = true;
    return one;
}

static const char *
originals(void)
{
    return arena_text(
        &arena, bytes_of(test_text(
                    world.admin, "SELECT string_agg(concat_ws(' ', o.state, o.tries, o.why, o.key, o.value, "
                                 "e.event_id, e.event_type, e.source_id, e.event_payload), '|' ORDER BY "
                                 "e.id) FROM redrive.original o JOIN dlq_events e ON e.id = o.dlq_id")));
}

// Each is written once, with its event's row; which event it is does not change, and neither does the record.
static void
an_original_is_kept_beside_its_dead_letter(void **state)
{
    (void)state;
    enum { POINTERS = 4 };
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter letters[] = {pointer(0, "a"), letter(1, "b"),  pointer(2, "c"),
                                      pointer(3, "d"), pointer(4, "e"), pointer(5, "e")};
    assert_works(take(world.store, &ingester, letters, 6, -1, &taken, &err));
    assert_int_equal(taken.attempts, 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.original"), POINTERS);
    char *before = strdup(
        test_text(world.admin, "SELECT string_agg(r::text, ' ' ORDER BY dlq_id) FROM redrive.record r"));

    struct kept_record records[8];
    size_t count;
    bool are_due;
    int64_t now;
    assert_works(store_now(world.store, &now, &err));
    assert_works(originals_due(world.store, "other", &are_due, &err));
    assert_false(are_due);
    assert_works(originals_due(world.store, "", &are_due, &err));
    assert_true(are_due);
    assert_works(originals_waiting(world.store, "kafka-1", now, &arena, records, 8, &count, &err));
    assert_int_equal(count, POINTERS);
    assert_true(bytes_equal_text(records[1].original.record.topic, "orders"));
    assert_int_equal(records[1].original.record.partition, 3);
    assert_int_equal(records[1].original.record.offset, 102);
    assert_int_equal(records[1].record.offset, 2);

    const struct event_header header = {BYTES("h"), {"\0\xff", 2}};
    struct ingest_letter read[POINTERS];
    struct original_answer answers[POINTERS];
    for (int i = 0; i < POINTERS; i++) {
        read[i] = pointer(records[i].record.offset, "other");
        read[i].event_type = BYTES("OrderPlaced");
        read[i].source_id = BYTES("k");
        read[i].payload = BYTES("{\"n\": 1}");
        answers[i] = (struct original_answer){.id = records[i].id,
                                              .original = {.state = EVENT_ORIGINAL_FETCHED,
                                                           .record = {.key = BYTES("k"),
                                                                      .value = BYTES("{ \"n\" : 1 }"),
                                                                      .timestamp = 1000000}},
                                              .crc = 9};
    }
    answers[0].original.record.headers = &header;
    answers[0].original.record.header_count = 1;
    answers[1].original = (struct kept_original){.state = EVENT_ORIGINAL_GONE, .why = "retention"};
    answers[2].original = (struct kept_original){.state = EVENT_ORIGINAL_WAITING, .why = "slow"};
    read[1].payload = BYTES("{\"not_json\": \"the original is gone: retention\", \"bytes\": 0}");
    read[3].payload = BYTES("{\"a\": \"\\u0000\"}"); // which jsonb does not take
    assert_works(originals_take(world.store, &ingester, answers, read, POINTERS, &err));
    assert_string_equal(
        originals(),
        "fetched 1 \\x6b \\x7b20226e22203a2031207d a OrderPlaced k {\"n\": 1}|"
        "gone 1 retention c OrderPlaced k {\"bytes\": 0, \"not_json\": \"the original is gone: retention\"}|"
        "waiting 1 slow d t {\"bytes\": 0, \"not_json\": \"elsewhere\"}|"
        "fetched 1 \\x6b \\x7b20226e22203a2031207d e OrderPlaced k "
        "{\"bytes\": 11, \"not_json\": \"PostgreSQL cannot hold it\"}");
    assert_string_equal(
        before,
        test_text(world.admin, "SELECT string_agg(r::text, ' ' ORDER BY dlq_id) FROM redrive.record r"));
    free(before);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM redrive.original WHERE header_names = '{h}' AND "
                                 "header_values = ARRAY['\\x00ff'::bytea] AND crc32c = 9"),
                     1);

    // A second one that was as fast, and one that waits for its time.
    const char *after = originals();
    answers[0].original.record.value = BYTES("another");
    assert_works(originals_take(world.store, &ingester, answers, read, 2, &err));
    assert_string_equal(originals(), after);
    assert_works(originals_due(world.store, "kafka-1", &are_due, &err));
    assert_false(are_due);
    test_sql(world.admin, "UPDATE redrive.original SET next_at = now()");
    assert_works(store_now(world.store, &now, &err));
    assert_works(originals_waiting(world.store, "kafka-1", now, &arena, records, 8, &count, &err));
    assert_int_equal(count, 1);
    answers[2].original = (struct kept_original){.state = EVENT_ORIGINAL_GONE, .why = "deleted"};
    // A letter that is not its record's is no answer.
    struct ingest_letter wrong = read[2];
    wrong.offset = 77;
    assert_works(originals_take(world.store, &ingester, &answers[2], &wrong, 1, &err));
    assert_string_equal(originals(), after);
    // What the table refuses does not keep the original from being kept.
    test_sql(world.admin,
             "ALTER TABLE dlq_events ADD CONSTRAINT no_orders CHECK (event_type <> 'OrderPlaced') NOT VALID");
    answers[2].original =
        (struct kept_original){.state = EVENT_ORIGINAL_FETCHED, .record = {.value = BYTES("late")}};
    assert_works(originals_take(world.store, &ingester, &answers[2], &read[2], 1, &err));
    assert_int_equal(
        test_number(world.admin,
                    "SELECT count(*) FROM redrive.original o JOIN dlq_events e ON e.id = o.dlq_id WHERE "
                    "value = 'late' AND event_type = 't'"),
        1);
    int64_t left;
    assert_works(originals_left(world.store, "kafka-1", &left, &err));
    assert_int_equal(left, 0);
}

// What was decoded by a schema that is not at hand now stays decoded.
static void
a_decoded_value_is_not_undone(void **state)
{
    (void)state;
    struct ingest_position *positions;
    struct ingest_taken taken;
    struct ingester ingester = begin(world.store);
    claim(world.store, &ingester, &positions);
    struct ingest_letter one = letter(0, "a");
    one.schema = "42";
    one.decoding = "decoded";
    one.payload = BYTES("{\"id\": 7}");
    assert_works(take(world.store, &ingester, &one, 1, -1, &taken, &err));
    one.decoding = "waiting";
    one.payload = BYTES("{\"not_json\": \"schema 42\", \"bytes\": 2}");
    assert_int_equal(decode_again(world.store, &ingester, &one, 1, false).of[AGAIN_UNCHANGED], 1);
    one.payload = BYTES("{\"a\": \"\\u0000\"}");
    one.decoding = "decoded";
    assert_int_equal(decode_again(world.store, &ingester, &one, 1, false).of[AGAIN_DECODED], 1);
    assert_string_equal(test_text(world.admin, "SELECT event_payload || decoding FROM dlq_events e JOIN "
                                               "redrive.record r ON r.dlq_id = e.id"),
                        "{\"bytes\": 2, \"not_json\": \"PostgreSQL cannot hold it\"}failed");
    assert_int_equal(decode_again(world.store, &ingester, &one, 1, false).of[AGAIN_UNCHANGED], 1);
}

static void
a_worker_decodes_again_and_a_viewer_does_not(void **state)
{
    (void)state;
    const char *level = "SELECT redrive.level_of('ingest_decode_again')";
    assert_string_equal(test_text(world.admin, level), "worker");
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM redrive.grants('postgres', 'viewer') g WHERE g "
                                 "LIKE '%ingest_decode_again%'"),
                     0);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(*) FROM redrive.grants('postgres', 'worker') g WHERE g "
                                 "LIKE '%ingest_decode_again%'"),
                     1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(positions_move_with_the_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partitions_are_written_beside_each_other, set_up, tear_down),
        cmocka_unit_test(chunks_with_an_event_in_common_meet),
        cmocka_unit_test_setup_teardown(records_have_the_generation_of_their_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whoever_was_away_writes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readers_of_other_topics_share_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_event_has_attempts_until_it_is_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_jsonb_refuses_does_not_stop_the_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_payload_that_is_the_value_is_there_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_table_refuses_is_kept_aside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whatever_refuses_does_not_stop_the_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_guess_is_written_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_decoded_again_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_decoded_value_is_not_undone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(further_dead_letters_are_decoded_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_original_is_kept_beside_its_dead_letter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_decodes_again_and_a_viewer_does_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_ways_write_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_new_event_is_staged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_said_of_the_longest_opens_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_stage_is_the_owners, set_up, tear_down),
        cmocka_unit_test_setup_teardown(doctor_tells_what_is_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_monitor_shows_how_far_it_is_behind, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
