// Events that are known by a business key, on a real Kafka: what was sent, failed again and returned through
// its topic joins the operation that sent it; the same key in another topic is another event.
#include "base/clock.h"
#include "core/topic_rules.h"
#include "store/events/events.h"
#include "store/operations/workers.h"
#include "tests/broker/ingest_world.h"

static struct broker_fixture fixture = {.stem = "tickets", .partitions = 1};
static char queue[64], other_queue[64]; // of dead letters
static char rows[400];                  // the setting consumers

#define TICKET(failures)                                                                                     \
    "{\"ticket_id\": \"TKT-7\", \"n\": 1, \"dlq_metadata\": {\"original_error\": \"no gate\", "              \
    "\"retry_count\": " failures "}}"

// As a consumer does that gives up: nothing but the value tells what failed.
static void
give_up(const char *topic, const char *value)
{
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    const struct envelope_record record = {.key = BYTES("k"), .value = bytes_of(value)};
    put_letter(producer, topic, &record);
    letters_sent(producer);
}

static struct ingest_report
take_in(const char *topic)
{
    const char *const topics[] = {topic};
    struct arena arena = {0};
    struct err wrong = {0};
    struct ingest_report report = {0};
    const struct ingest_settings settings = {.store = fixture.world.settings,
                                             .broker = {.brokers = test_kafka()},
                                             .topics = topics,
                                             .topic_count = 1,
                                             .rules = topic_rules_read(rows, &arena, &wrong),
                                             .mode = INGEST_ONCE};
    assert_non_null(settings.rules);
    assert_works(ingester_run(&settings, &arena, &report, &err));
    report.counts = NULL;
    arena_release(&arena);
    return report;
}

static int returned_of[8]; // by id, as lists of events show it

static void
read_list(void)
{
    struct event_page page = {0};
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_KNOWN, .limit = 10};
    assert_works(store_events(fixture.world.store, &query, &page, &err));
    for (size_t i = 0; i < page.count; i++) {
        assert_in_range(page.events[i].id, 1, 7);
        assert_true(bytes_equal_text(page.events[i].event_id, "TKT-7"));
        returned_of[page.events[i].id] = page.events[i].known.returned;
    }
    event_page_release(&page);
}

static void
fail_again(void *context, const rd_kafka_message_t *message)
{
    const char *expected = "{\"ticket_id\": \"TKT-7\", \"n\": 1}";
    ++*(int *)context;
    assert_int_equal(message->len, strlen(expected));
    assert_memory_equal(message->payload, expected, message->len);
    clock_sleep(20000); // times in Kafka are milliseconds
    give_up(queue, TICKET("4"));
}

static void
a_key_returns_in_its_topic_only(void **state)
{
    (void)state;
    struct world *world = &fixture.world;
    int sent = 0;
    make_topic(queue, "tickets-dlq", 1, NULL, NULL);
    make_topic(other_queue, "seats-dlq", 1, NULL, NULL);
    snprintf(rows, sizeof rows, "%s: of %s, key $.ticket_id\n%s: of seats, key $.ticket_id", queue,
             fixture.topic, other_queue);
    give_up(queue, TICKET("3"));
    assert_int_equal(take_in(queue).events, 1);
    give_up(queue, TICKET("3")); // seen twice while it is pending: one event
    assert_int_equal(take_in(queue).attempts, 1);

    int64_t no = make_operation(world, world->store, ACTION_REPROCESS, 1, 1);
    const struct work_how how = {.operation = no, .consumers = rows};
    assert_works(work_here(world, &how, &err));
    assert_int_equal(read_topic(fixture.topic, 1, "read_committed", fail_again, &sent), 1);
    assert_int_equal(sent, 1);
    assert_int_equal(take_in(queue).events, 1);
    clock_sleep(20000);
    give_up(other_queue, TICKET("1"));
    assert_int_equal(take_in(other_queue).events, 1);
    assert_works(worker_beat(world->store, "w", true, "idle", 0, &err)); // looks for those that returned
    assert_string_equal(
        test_text(world->admin, "SELECT string_agg(format('%s was %s of operation %s, by its %s', r.dlq_id, "
                                "r.sent_id, r.operation_no, r.known_by), '; ') FROM redrive.returned r"),
        "2 was 1 of operation 1, by its event id");
    assert_int_equal(get_operation(world, no).returned, 1);
    read_list();
    assert_int_equal(returned_of[2], 1);
    assert_int_equal(returned_of[3], 0);
    test_sql(world->admin, "SELECT 1 / (redrive._returned_often('{2,3}', 1) = '{2}')::int");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(a_key_returns_in_its_topic_only),
    };
    return cmocka_run_group_tests_name("business key", tests, NULL, NULL);
}
