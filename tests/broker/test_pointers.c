// Dead letters of share groups, which only point at their originals: the originals are read from a real Kafka
// when the dead letters are taken in, or their events say why they are not there.
#include "tests/broker/ingest_world.h"

#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "store/events/events.h"
#include "tests/broker/kafka_harm.h"

static struct broker_fixture fixture = {.stem = "share-dlq", .partitions = 2};
static char orders[64]; // what failed

static const char value[] = "{ \"amount\" : 1.00,\t\"id\":12345678901234567.89 }";

static void
put_originals(int count)
{
    const struct event_header headers[] = {{BYTES("traceparent"), BYTES("00-1")},
                                           {BYTES("bytes"), {"\0\xff", 2}}};
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    for (int i = 0; i < count; i++)
        put_letter(producer, orders,
                   &(struct envelope_record){.partition = 0,
                                             .key = BYTES("customer-1"),
                                             .value = bytes_of(value),
                                             .headers = headers,
                                             .header_count = 2});
    letters_sent(producer);
}

static void
put_pointer(rd_kafka_t *producer, const char *topic, int32_t partition, int64_t offset)
{
    char p[16], o[32];
    snprintf(p, sizeof p, "%d", (int)partition);
    snprintf(o, sizeof o, "%lld", (long long)offset);
    const struct event_header headers[] = {{BYTES("__dlq.errors.topic"), bytes_of(topic)},
                                           {BYTES("__dlq.errors.partition"), bytes_of(p)},
                                           {BYTES("__dlq.errors.offset"), bytes_of(o)},
                                           {BYTES("__dlq.errors.group"), BYTES("billing")},
                                           {BYTES("__dlq.errors.message"), BYTES("rejected by client")}};
    put_letter(producer, fixture.topic,
               &(struct envelope_record){.partition = (int32_t)(offset % fixture.partitions),
                                         .headers = headers,
                                         .header_count = 5});
}

static void
put_pointers(const char *topic, int64_t from, int64_t count)
{
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    for (int64_t i = 0; i < count; i++)
        put_pointer(producer, topic, 0, from + i);
    letters_sent(producer);
}

static int
pointers_set_up(void **state)
{
    int failed = broker_fixture_set_up(state);
    make_topic(orders, "share-orders", 1, NULL, NULL);
    return failed;
}

#define on_pointers(test)                                                                                    \
    cmocka_unit_test_prestate_setup_teardown(test, pointers_set_up, broker_fixture_tear_down, &fixture)

static void
assert_counts(const struct ingest_report *report, int64_t fetched, int64_t gone, int64_t waiting)
{
    if (report->originals.fetched != fetched || report->originals.gone != gone ||
        report->originals.waiting != waiting)
        fail_msg("fetched %lld, gone %lld, waiting %lld", (long long)report->originals.fetched,
                 (long long)report->originals.gone, (long long)report->originals.waiting);
}

// Bytes and checksums of all dead letters.
static const char *
records(void)
{
    return arena_text(&fixture.world.arena,
                      bytes_of(test_text(fixture.world.admin,
                                         "SELECT string_agg(concat_ws('|', dlq_id, topic, partition, "
                                         "\"offset\", key, value, header_names, header_values, crc32c), ' ' "
                                         "ORDER BY dlq_id) FROM redrive.record")));
}

static struct event
read_event(int64_t id)
{
    const struct event_query query = {.fields = EVENT_NARROW | EVENT_PLANNED, .ids = &id, .id_count = 1};
    struct event_page page = {0};
    assert_works(store_events(fixture.world.store, &query, &page, &err));
    assert_int_equal(page.count, 1);
    struct event event = page.events[0];
    arena_adopt(&fixture.world.arena, &page.arena);
    return event;
}

static int times_sent;

static void
take_sent(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    if (*header_text(message, "redrive-event-id") == '\0')
        return;
    times_sent++;
    assert_int_equal(message->len, strlen(value));
    assert_memory_equal(message->payload, value, message->len);
    assert_int_equal(message->key_len, strlen("customer-1"));
    assert_memory_equal(message->key, "customer-1", message->key_len);
    assert_string_equal(header_text(message, "traceparent"), "00-1");
    assert_string_equal(header_text(message, "__dlq.errors.topic"), "");
}

static void
originals_are_in_their_events_and_are_sent(void **state)
{
    (void)state;
    PGconn *admin = fixture.world.admin;
    put_originals(3);
    put_pointers(orders, 0, 3);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.events, 3);
    assert_counts(&report, 3, 0, 0);
    // The dead letters are kept as their topic has them.
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 0), 3);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.record WHERE value IS NULL AND key IS "
                                        "NULL AND cardinality(header_names) = 5"),
                     3);
    // The originals beside them, byte for byte.
    assert_int_equal(
        test_number(admin, "SELECT count(*) FROM redrive.original WHERE state = 'fetched' AND value = "
                           "convert_to(E'{ \"amount\" : 1.00,\\t\"id\":12345678901234567.89 }', 'UTF8') AND "
                           "key = 'customer-1' AND header_names = '{traceparent,bytes}' AND header_values = "
                           "'{00-1,\"\\\\x00ff\"}' AND \"timestamp\" IS NOT NULL"),
        3);
    // What people filter and group by.
    assert_int_equal(test_number(admin, "SELECT count(*) FROM dlq_events WHERE event_payload->>'amount' = "
                                        "'1.00' AND source_id = 'customer-1'"),
                     3);
    const char *before = records();
    report = ingest_once(&fixture.world, fixture.topic);
    assert_counts(&report, 0, 0, 0);

    struct event event = read_event(test_number(admin, "SELECT min(id) FROM dlq_events"));
    assert_true(bytes_equal_text(event.payload, value));
    assert_int_equal(event.record.original.state, EVENT_ORIGINAL_FETCHED);
    assert_true(bytes_equal_text(event_key(&event), "customer-1"));

    // Kafka has it no more: what was read is sent.
    int64_t no = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 3);
    delete_records(orders, 1);
    times_sent = 0;
    assert_works(work_here(&fixture.world, &(struct work_how){.operation = no}, &err));
    assert_int_equal(get_operation(&fixture.world, no).done, 3);
    read_topic(orders, 1, "read_committed", take_sent, NULL);
    assert_int_equal(times_sent, 3);
    assert_string_equal(records(), before);
}

static int64_t sent_offsets[3]; // by event

static void
note_sent(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    long id = strtol(header_text(message, "redrive-event-id"), NULL, 10);
    if (id > 0 && id <= 3)
        sent_offsets[id - 1] = message->offset;
}

// Neither a share group nor this consumer copies a header of what redrive sent: the place of the record tells
// whose failure it is.
static void
what_was_sent_and_fails_again_has_returned(void **state)
{
    (void)state;
    PGconn *admin = fixture.world.admin;
    put_originals(3);
    put_pointers(orders, 0, 3);
    ingest_once(&fixture.world, fixture.topic);
    int64_t no = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 3);
    assert_works(work_here(&fixture.world, &(struct work_how){.operation = no}, &err));
    read_topic(orders, 1, "read_committed", note_sent, NULL);

    char offset[32];
    snprintf(offset, sizeof offset, "%lld", (long long)sent_offsets[1]);
    const struct event_header headers[] = {{BYTES("dlq.original.topic"), bytes_of(orders)},
                                           {BYTES("dlq.original.partition"), BYTES("0")},
                                           {BYTES("dlq.original.offset"), bytes_of(offset)},
                                           {BYTES("dlq.error.message"), BYTES("again")}};
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    put_pointer(producer, orders, 0, sent_offsets[0]);
    put_letter(producer, fixture.topic,
               &(struct envelope_record){.value = BYTES("{}"), .headers = headers, .header_count = 4});
    // The record that failed first, which nobody sent. Which of them is event 2 depends on what was read
    // first.
    put_pointer(producer, orders, 0, test_number(admin, "SELECT kafka_offset FROM dlq_events WHERE id = 2"));
    letters_sent(producer);
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 3);
    assert_works(work_here(&fixture.world, &(struct work_how){0}, &err));
    assert_string_equal(
        test_text(admin,
                  "SELECT string_agg(concat_ws(' ', e.kafka_offset, r.sent_id, r.known_by), '|' ORDER BY "
                  "r.sent_id) FROM redrive.returned r JOIN dlq_events e ON e.id = r.dlq_id WHERE known_by = "
                  "'sent place'"),
        arena_printf(&fixture.world.arena, "%lld 1 sent place|%lld 2 sent place", (long long)sent_offsets[0],
                     (long long)sent_offsets[1]));
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.returned WHERE known_by = 'event id'"),
                     1);
    assert_int_equal(get_operation(&fixture.world, no).returned, 2);
}

static void
what_is_gone_says_so(void **state)
{
    (void)state;
    PGconn *admin = fixture.world.admin;
    char deleted[64];
    put_originals(2);
    delete_records(orders, 1);
    put_originals(1);
    make_topic(deleted, "share-deleted", 1, NULL, NULL);
    delete_topic(deleted);
    put_pointers(orders, 1, 1); // retention
    put_pointers(orders, 2, 1);
    put_pointers(orders, 9, 1); // nothing was ever there
    put_pointers(deleted, 0, 1);
    put_pointers("no topic; DROP", 0, 1);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.events, 5);
    assert_counts(&report, 1, 4, 0);
    assert_int_equal(
        test_number(admin,
                    "SELECT count(*) FROM redrive.original o JOIN dlq_events e ON e.id = o.dlq_id WHERE "
                    "o.state = 'gone' AND o.why <> '' AND e.event_payload->>'not_json' = 'the original "
                    "is gone: ' || o.why"),
        4);
    assert_string_equal(test_text(admin, "SELECT why FROM redrive.original WHERE \"offset\" = 1"),
                        "retention has removed it");
    struct event event =
        read_event(test_number(admin, "SELECT dlq_id FROM redrive.original WHERE \"offset\" = 1"));
    assert_true(bytes_starts(event_original_text(&event, &fixture.world.arena), "gone from share-orders"));

    // It is refused, with the reason, until somebody gives it a payload.
    int64_t no = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, event.id, event.id);
    assert_works(work_here(&fixture.world, &(struct work_how){.operation = no}, &err));
    assert_non_null(
        strstr(test_text(admin, "SELECT detail FROM redrive.operation_item WHERE state = 'refused'"),
               "retention has removed it"));
}

// A topic that was made anew has another record at the offset.
static void
a_younger_record_is_another_one(void **state)
{
    (void)state;
    put_pointers(orders, 0, 1);
    clock_sleep(50000);
    put_originals(1);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_counts(&report, 0, 1, 0);
    assert_string_equal(test_text(fixture.world.admin, "SELECT why FROM redrive.original"),
                        "the record in its place is younger than the dead letter");
}

// --- a Kafka that is slow, or away in part ---

struct mock {
    char real[200];
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *cluster;
};

// Dead letters are on broker 1, what failed on broker 2.
static void
mock_begin(struct mock *mock)
{
    char text[200];
    snprintf(mock->real, sizeof mock->real, "%s", test_kafka());
    mock->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    mock->cluster = rd_kafka_mock_cluster_new(mock->host, 2);
    assert_int_equal(rd_kafka_mock_topic_create(mock->cluster, fixture.topic, fixture.partitions, 1), 0);
    assert_int_equal(rd_kafka_mock_topic_create(mock->cluster, orders, 1, 1), 0);
    for (int p = 0; p < fixture.partitions; p++)
        rd_kafka_mock_partition_set_leader(mock->cluster, fixture.topic, p, 1);
    rd_kafka_mock_partition_set_leader(mock->cluster, orders, 0, 2);
    rd_kafka_mock_coordinator_set(mock->cluster, "group", "redrive-dlq-test", 1);
    setenv("REDRIVE_TEST_KAFKA", rd_kafka_mock_cluster_bootstraps(mock->cluster), 1);
}

static void
mock_end(struct mock *mock)
{
    setenv("REDRIVE_TEST_KAFKA", mock->real, 1);
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->host);
}

// Dead letters are events at once; the next run asks again for what could not be read.
static void
a_broker_that_is_away_keeps_nobody_waiting(void **state)
{
    (void)state;
    PGconn *admin = fixture.world.admin;
    struct mock mock = {0};
    mock_begin(&mock);
    put_originals(4);
    put_pointers(orders, 0, 4);
    rd_kafka_mock_broker_set_down(mock.cluster, 2);
    int64_t began = clock_mono();
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    int64_t took = clock_mono() - began;
    assert_int_equal(report.events, 4);
    assert_counts(&report, 0, 0, 4);
    if (took > 40 * US_PER_SECOND)
        fail_msg("it took %lld ms", (long long)took / 1000);
    assert_int_equal(test_number(admin,
                                 "SELECT count(*) FROM redrive.original WHERE state = 'waiting' AND tries "
                                 "= 1 AND why <> '' AND next_at > clock_timestamp()"),
                     4);
    assert_int_equal(test_number(admin,
                                 "SELECT count(*) FROM dlq_events WHERE event_payload->>'not_json' LIKE "
                                 "'%has to be read from there'"),
                     4);

    rd_kafka_mock_broker_set_up(mock.cluster, 2);
    report = ingest_once(&fixture.world, fixture.topic); // too early
    assert_counts(&report, 0, 0, 0);
    test_sql(admin, "UPDATE redrive.original SET next_at = clock_timestamp()");
    report = ingest_once(&fixture.world, fixture.topic);
    assert_counts(&report, 4, 0, 0);
    mock_end(&mock);
}

static void
a_slow_broker_is_waited_for(void **state)
{
    (void)state;
    struct mock mock = {0};
    mock_begin(&mock);
    put_originals(12);
    put_pointers(orders, 0, 12);
    rd_kafka_mock_broker_set_rtt(mock.cluster, 2, 400);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    mock_end(&mock);
    assert_int_equal(report.events, 12);
    assert_counts(&report, 12, 0, 0);
}

// --- whoever dies ---

static int
ingest_and_die(const char *point)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("REDRIVE_KILL", point, 1);
        ingest_once(&fixture.world, fixture.topic);
        _exit(0);
    }
    return work_wait(pid);
}

static void
whoever_dies_leaves_the_rest_to_the_next(void **state)
{
    (void)state;
    PGconn *admin = fixture.world.admin;
    put_originals(10);
    put_pointers(orders, 0, 10);
    // Four are in the first batch, the others in the second one.
    assert_int_equal(ingest_and_die("originals-staged:1"), -SIGKILL);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.original WHERE state = 'waiting'"), 10);
    assert_int_equal(ingest_and_die("originals-taken:2"), -SIGKILL);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.original WHERE state = 'waiting'"), 6);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM dlq_events WHERE event_payload ? 'amount'"), 4);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_counts(&report, 6, 0, 0);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM dlq_events WHERE event_payload ? 'amount'"),
                     10);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 0), 10);
}

// --- a service ---

struct service {
    struct ingest_settings settings;
    const char *topics[1];
    volatile sig_atomic_t stop;
    pthread_t thread;
    bool ok;
};

static void *
serve(void *context)
{
    struct service *service = context;
    struct ingest_report report = {0};
    struct arena arena = {0};
    struct err err = {0};
    service->ok = ingester_run(&service->settings, &arena, &report, &err);
    arena_release(&arena);
    return NULL;
}

static void
a_service_reads_them_beside_the_dead_letters(void **state)
{
    (void)state;
    static struct service service;
    service = (struct service){.topics = {fixture.topic}};
    service.settings = (struct ingest_settings){.store = fixture.world.settings,
                                                .broker = {.brokers = test_kafka()},
                                                .topics = service.topics,
                                                .topic_count = 1,
                                                .stop = &service.stop};
    assert_int_equal(pthread_create(&service.thread, NULL, serve, &service), 0);
    put_originals(2);
    for (int64_t i = 0; i < 2; i++) {
        put_pointers(orders, i, 1);
        for (int64_t until = clock_mono() + 30 * US_PER_SECOND;
             test_number(fixture.world.admin,
                         "SELECT count(*) FROM dlq_events WHERE event_payload ? 'amount'") <= i;) {
            if (clock_mono() > until)
                fail_msg("the original of the dead letter %lld is not there", (long long)i);
            clock_sleep(100000);
        }
    }
    service.stop = 1;
    pthread_join(service.thread, NULL);
    assert_true(service.ok);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.ingester"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_pointers(originals_are_in_their_events_and_are_sent),
        on_pointers(what_was_sent_and_fails_again_has_returned),
        on_pointers(what_is_gone_says_so),
        on_pointers(a_younger_record_is_another_one),
        on_pointers(a_broker_that_is_away_keeps_nobody_waiting),
        on_pointers(a_slow_broker_is_waited_for),
        on_pointers(whoever_dies_leaves_the_rest_to_the_next),
        on_pointers(a_service_reads_them_beside_the_dead_letters),
    };
    return cmocka_run_group_tests_name("pointers", tests, NULL, NULL);
}
