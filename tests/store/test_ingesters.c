// Ingesters beside each other, and an import beside one: letters of one event in what both have.
#include "tests/store/world.h"

#include <pthread.h>
#include "base/clock.h"
#include "store/ingest/import.h"
#include "store/ingest/ingest.h"
#include "store/ingest/letter_arrays.h"

static struct world world;
static struct arena arena;

static int
set_up(void **state)
{
    (void)state;
    world_make(&world, 0);
    // Whoever inserts is slow, so that the other one comes meanwhile.
    test_sql(world.admin,
             "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS "
             "'BEGIN PERFORM pg_sleep(0.8); RETURN NEW; END';"
             "CREATE TRIGGER slow BEFORE INSERT ON dlq_events FOR EACH ROW EXECUTE FUNCTION public.slow()");
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    test_sql(world.admin, "DROP TRIGGER slow ON dlq_events; DROP FUNCTION public.slow()");
    world_end(&world);
    return 0;
}

// Each has a topic of its own, so it has the whole of it.
struct reader {
    struct store *store;
    struct ingester ingester;
    const char *topic;
    bool is_mixed;
    pthread_t thread;
    bool has_taken;
    struct ingest_taken taken;
    struct err err;
};

static void
claim(struct reader *reader)
{
    struct ingest_position *positions;
    size_t count;
    assert_works(ingest_claim(reader->store, &reader->ingester, &reader->topic, &(int32_t){1}, 1, &arena,
                              &positions, &count, &err));
    assert_int_equal(count, 1);
}

static struct reader
begin(const char *topic)
{
    struct reader reader = {.store = open_store(world.conninfo), .topic = topic};
    assert_works(ingest_begin(reader.store, "kafka-1", &reader.ingester, &err));
    return reader;
}

static void
end(struct reader *reader)
{
    assert_works(ingest_end(reader->store, &reader->ingester, &err));
    store_close(reader->store);
}

static void *
take(void *context)
{
    struct reader *reader = context;
    const struct ingest_letter letter = {.topic = reader->topic,
                                         .timestamp = TIME_ABSENT,
                                         .key = BYTES_ABSENT,
                                         .value = BYTES("{}"),
                                         .format = "unknown",
                                         .failed_at = TIME_ABSENT,
                                         .identity = 7,
                                         .event_id = BYTES("e-7"),
                                         .event_type = BYTES("t"),
                                         .payload = BYTES("{}"),
                                         .error_message = BYTES("boom"),
                                         .attempts = -1,
                                         .original.partition = -1,
                                         .original.offset = -1};
    const struct ingest_stretch stretch = {.topic = reader->topic, .from = -1, .to = 1, .last_crc = 7};
    struct ingest_chunk chunk = {.letters = &letter,
                                 .letter_count = 1,
                                 .stretches = &stretch,
                                 .stretch_count = 1,
                                 .is_mixed = reader->is_mixed};
    chunk.arrays = ingest_arrays_make(&chunk, NULL);
    reader->has_taken = ingest_take(reader->store, &reader->ingester, &chunk, &reader->taken, &reader->err);
    ingest_arrays_free(chunk.arrays);
    return NULL;
}

static void
start(struct reader *reader)
{
    assert_int_equal(pthread_create(&reader->thread, NULL, take, reader), 0);
}

static void
wait_for(struct reader *reader)
{
    pthread_join(reader->thread, NULL);
    if (!reader->has_taken)
        fail_msg("%s: %s", reader->topic, reader->err.text);
}

// The letters of both are one event.
static void
end_as_one_event(struct reader *a, struct reader *b)
{
    wait_for(a);
    wait_for(b);
    assert_int_equal(a->taken.events + b->taken.events, 1);
    assert_int_equal(a->taken.attempts + b->taken.attempts, 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.attempt"), 1);
    end(a);
    end(b);
}

static void
take_beside(bool is_mixed, bool is_other_mixed)
{
    struct reader a = begin("orders-dlq"), b = begin("orders-retry");
    a.is_mixed = is_mixed;
    b.is_mixed = is_other_mixed;
    claim(&a);
    claim(&b);
    start(&a);
    clock_sleep(300000);
    start(&b);
    end_as_one_event(&a, &b);
}

static void
new_letters_of_one_event_are_one_event(void **state)
{
    (void)state;
    take_beside(false, false);
}

static void
staged_letters_of_one_event_are_one_event(void **state)
{
    (void)state;
    take_beside(true, true);
}

static void
staged_and_new_letters_of_one_event_are_one_event(void **state)
{
    (void)state;
    take_beside(true, false);
}

static void
new_and_staged_letters_of_one_event_are_one_event(void **state)
{
    (void)state;
    take_beside(false, true);
}

// The first one was alone when it began to write.
static void
whoever_begins_waits_for_what_is_being_written(void **state)
{
    (void)state;
    struct reader a = begin("orders-dlq");
    claim(&a);
    start(&a);
    clock_sleep(300000);
    struct reader b = begin("orders-retry");
    claim(&b);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 1);
    start(&b);
    end_as_one_event(&a, &b);
}

// --- an import ---

struct importer {
    struct store *store;
    struct arena arena;
    pthread_t thread;
    bool has_taken;
    struct import_taken taken;
    struct err err;
};

// The letter as another database exported it.
static void *
import(void *context)
{
    struct importer *importer = context;
    struct import_row row = {
        .payload = BYTES("{}"),
        .is_exact = true,
        .value = BYTES("{}"),
        .key = BYTES_ABSENT,
        .headers = BYTES("[]"),
        .record =
            BYTES("{\"topic\": \"orders-dlq\", \"partition\": 0, \"offset\": 5, \"format\": \"unknown\","
                  " \"cluster\": \"kafka-1\", \"generation\": 1, \"identity\": \"7\", \"crc32c\": 7}"),
        .revisions = BYTES_ABSENT};
    for (int i = 0; i < IMPORT_COLUMNS; i++)
        row.columns[i] = BYTES_ABSENT;
    row.columns[IMPORT_event_id] = BYTES("e-7");
    row.columns[IMPORT_event_type] = BYTES("t");
    row.columns[IMPORT_error_message] = BYTES("boom");
    const struct import_batch batch = {
        .rows = &row, .count = 1, .source = "file", .part = import_part(BYTES("e-7"))};
    importer->has_taken =
        import_take(importer->store, &batch, &importer->arena, &importer->taken, &importer->err);
    return NULL;
}

static void
start_import(struct importer *importer)
{
    *importer = (struct importer){.store = open_store(world.conninfo)};
    assert_int_equal(pthread_create(&importer->thread, NULL, import, importer), 0);
}

static void
end_import(struct importer *importer, int64_t inserted, int64_t duplicates)
{
    pthread_join(importer->thread, NULL);
    if (!importer->has_taken)
        fail_msg("import: %s", importer->err.text);
    assert_int_equal(importer->taken.inserted, inserted);
    assert_int_equal(importer->taken.duplicates, duplicates);
    arena_release(&importer->arena);
    store_close(importer->store);
}

static void
an_imported_letter_is_one_event_with_an_ingested_one(void **state)
{
    (void)state;
    struct reader reader = begin("orders-dlq");
    struct importer importer;
    claim(&reader);
    start_import(&importer);
    clock_sleep(300000);
    start(&reader);
    wait_for(&reader);
    end_import(&importer, 1, 0);
    assert_int_equal(reader.taken.events, 0);
    assert_int_equal(reader.taken.attempts, 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 1);
    end(&reader);
}

static void
an_ingested_letter_is_one_event_with_an_imported_one(void **state)
{
    (void)state;
    struct reader reader = begin("orders-dlq");
    struct importer importer;
    claim(&reader);
    start(&reader);
    clock_sleep(300000);
    start_import(&importer);
    wait_for(&reader);
    end_import(&importer, 0, 1);
    assert_int_equal(reader.taken.events, 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events"), 1);
    end(&reader);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(new_letters_of_one_event_are_one_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(staged_letters_of_one_event_are_one_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(staged_and_new_letters_of_one_event_are_one_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(new_and_staged_letters_of_one_event_are_one_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whoever_begins_waits_for_what_is_being_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_imported_letter_is_one_event_with_an_ingested_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_ingested_letter_is_one_event_with_an_imported_one, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("ingesters", tests, NULL, NULL);
}
