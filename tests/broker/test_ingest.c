// Dead letters taken in from a real Kafka: every format, byte for byte; transactions; what is missing; who
// was away.
#include "tests/broker/ingest_world.h"

#include <librdkafka/rdkafka_mock.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "store/ingest/ingest.h"
#include "tests/broker/kafka_harm.h"
#include "tests/lib/envelope_case.h"

static struct broker_fixture fixture = {.stem = "ingest-dlq", .partitions = 2};

static void
put_text(rd_kafka_t *producer, const char *value)
{
    put_record(producer, fixture.topic, 0, "k", value, "t");
}

static void
put_texts(const char *const *values)
{
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    for (; *values; values++)
        put_text(producer, *values);
    letters_sent(producer);
}

static void
put_case(const struct envelope_case *one, void *producer)
{
    struct envelope_record record = one->record;
    record.partition = one->line % fixture.partitions;
    put_letter(producer, fixture.topic, &record);
}

// Every dead letter that the formats were made from, as frameworks of all languages write them.
static void
every_format_is_kept_byte_for_byte(void **state)
{
    (void)state;
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    size_t cases = envelope_cases("tests/cases/envelope", put_case, producer);
    letters_sent(producer);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 0), cases);
    assert_int_equal(report.events + report.attempts, cases);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM dlq_events"), report.events);
    assert_true(test_number(fixture.world.admin, "SELECT count(DISTINCT format) FROM redrive.record") >= 25);

    // Nothing is there twice, however often it runs.
    report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.events + report.attempts, 0);
}

// Spring's numbers are binary, its cause is what failed; the row has the original's place.
static void
rows_tell_what_failed_and_where_from(void **state)
{
    (void)state;
    const struct event_header headers[] = {
        {BYTES("kafka_dlt-original-topic"), BYTES("orders")},
        {BYTES("kafka_dlt-original-partition"), {"\0\0\0\3", 4}},
        {BYTES("kafka_dlt-original-offset"), {"\0\0\0\0\0\0\1\0", 8}},
        {BYTES("kafka_dlt-exception-fqcn"),
         BYTES("org.springframework.kafka.ListenerExecutionFailedException")},
        {BYTES("kafka_dlt-exception-cause-fqcn"), BYTES("java.lang.IllegalStateException")},
        {BYTES("kafka_dlt-exception-message"), BYTES("no stock")},
        {BYTES("kafka_dlt-original-consumer-group"), BYTES("billing")},
    };
    const struct envelope_record record = {.key = BYTES("customer-1"),
                                           .value = BYTES("{ \"order\" : 1.00 }"),
                                           .headers = headers,
                                           .header_count = sizeof headers / sizeof *headers};
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    put_letter(producer, fixture.topic, &record);
    letters_sent(producer);
    ingest_once(&fixture.world, fixture.topic);
    assert_string_equal(
        test_text(
            fixture.world.admin,
            "SELECT concat_ws(' | ', event_id, event_type, source_id, event_payload, error_message, status, "
            "kafka_topic, kafka_partition, kafka_offset, format, consumer, created_at <= now()) FROM "
            "dlq_events e JOIN redrive.record r ON r.dlq_id = e.id"),
        "orders/3/256 | orders | customer-1 | {\"order\": 1.00} | java.lang.IllegalStateException: no stock "
        "| "
        "PENDING | orders | 3 | 256 | spring-dlt | billing | t");
}

static void
put_large(const char *codec, char fill)
{
    enum { TICKET = 2 << 20 };
    char *value = malloc(TICKET);
    for (size_t i = 0; i < TICKET; i++)
        value[i] = (char)(i % 7 == 0 ? i / 7 : (size_t)fill);
    const struct envelope_record record = {.key = BYTES("ticket"), .value = {value, TICKET}};
    rd_kafka_t *producer = letter_producer("compression.codec", codec);
    put_letter(producer, fixture.topic, &record);
    letters_sent(producer);
    free(value);
}

static void
what_is_no_json_is_kept_as_well(void **state)
{
    (void)state;
    char topic[64];
    snprintf(topic, sizeof topic, "%s", fixture.topic);
    make_topic(fixture.topic, "ingest-large-dlq", 2, "max.message.bytes", "8000000");
    static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd"};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        put_large(codecs[i], (char)('a' + i));
    put_texts((const char *const[]){"{\"a\":\"\\u0000\"}", "{\"a\":1e131071}", "{\"a\":\"\\ud800\"}", "",
                                    "\xff\xfe", "{\"a\":\"\x01\"}", "[1]", NULL});
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    put_text(producer, NULL);
    letters_sent(producer);
    ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, 2, 0), 13);
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM dlq_events WHERE event_payload ? 'not_json'"),
        12);
    assert_string_equal(
        test_text(fixture.world.admin,
                  "SELECT event_payload FROM dlq_events WHERE event_payload->>'bytes' = '2097152' LIMIT 1"),
        "{\"bytes\": 2097152, \"not_json\": \"bytes that are not text\"}");
    snprintf(fixture.topic, sizeof fixture.topic, "%s", topic);
}

// A stack trace is a header: what a transaction holds, and memory has to, is bounded with them.
static void
large_headers_make_small_transactions(void **state)
{
    (void)state;
    enum { LETTERS = 1200, STACK = 20000 };
    char *stack = malloc(STACK);
    memset(stack, 'x', STACK);
    const struct event_header headers[] = {{BYTES("stack"), {stack, STACK}}};
    const struct envelope_record record = {
        .key = BYTES("k"), .value = BYTES("{}"), .headers = headers, .header_count = 1};
    rd_kafka_t *producer = letter_producer("compression.codec", "lz4");
    for (size_t i = 0; i < LETTERS; i++)
        put_letter(producer, fixture.topic, &record);
    letters_sent(producer);
    free(stack);
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, LETTERS);
    assert_true(test_number(fixture.world.admin,
                            "SELECT max(n) FROM (SELECT count(*) AS n FROM redrive.record GROUP BY "
                            "xmin::text) x") <= 512);
}

// A chunk is written while the next one is read: what PostgreSQL refuses for a moment is read again, also
// where it is the last one.
static void
a_chunk_that_is_not_written_is_read_again(void **state)
{
    (void)state;
    enum { LETTERS = 9000 };
    test_sql(fixture.world.admin,
             "CREATE SEQUENCE public.refused;"
             "CREATE FUNCTION public.refuse_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$"
             " BEGIN IF NEW.event_payload ? 'marked' AND nextval('public.refused') %% 2 = 1 THEN"
             " RAISE EXCEPTION 'not now' USING ERRCODE = 'query_canceled'; END IF; RETURN NEW; END $$;"
             "CREATE TRIGGER refuse_once BEFORE INSERT ON dlq_events FOR EACH ROW EXECUTE FUNCTION "
             "public.refuse_once()");
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    for (size_t i = 1; i <= LETTERS; i++)
        put_text(producer, i == 1 || i == LETTERS ? "{\"marked\":1}" : "{}");
    letters_sent(producer);
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, LETTERS);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 0), LETTERS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT last_value FROM public.refused"), 4);
    test_sql(fixture.world.admin, "DROP TRIGGER refuse_once ON dlq_events;"
                                  "DROP FUNCTION public.refuse_once(); DROP SEQUENCE public.refused");
}

// Partitions are written beside each other, and both have each event: whichever letter comes second has to
// find the first one.
static void
an_event_in_two_partitions_is_one_event(void **state)
{
    (void)state;
    enum { EVENTS = 5000 };
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    for (int i = 0; i < EVENTS; i++) {
        char value[200];
        snprintf(
            value, sizeof value,
            "{\"message_id\": \"%d\", \"queue\": \"orders\", \"data\": {\"n\": %d}, \"error\": {\"message\": "
            "\"no stock\"}, \"retry_count\": 3}",
            i, i);
        struct envelope_record record = {.key = BYTES("k"), .value = bytes_of(value)};
        for (record.partition = 0; record.partition < 2; record.partition++)
            put_letter(producer, fixture.topic, &record);
    }
    letters_sent(producer);
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.events, EVENTS);
    assert_int_equal(report.attempts, EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(DISTINCT event_id) FROM dlq_events"),
                     EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(DISTINCT dlq_id) FROM redrive.attempt"),
                     EVENTS);
}

static rd_kafka_t *
transaction(void)
{
    rd_kafka_t *client = letter_producer("transactional.id", fixture.topic);
    assert_null(rd_kafka_init_transactions(client, 20000));
    assert_null(rd_kafka_begin_transaction(client));
    return client;
}

static void
transactions_are_respected(void **state)
{
    (void)state;
    rd_kafka_t *client = transaction();
    put_text(client, "{\"n\":\"aborted\"}");
    assert_int_equal(rd_kafka_flush(client, 20000), 0);
    assert_null(rd_kafka_abort_transaction(client, 20000));
    assert_null(rd_kafka_begin_transaction(client));
    put_text(client, "{\"n\":\"committed\"}");
    assert_int_equal(rd_kafka_flush(client, 20000), 0);
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 0);
    assert_null(rd_kafka_commit_transaction(client, 20000));
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 1);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 0), 1);
    rd_kafka_destroy(client);

    // The marks of transactions are passed, so that retention makes no hole of them.
    delete_records(fixture.topic, fixture.partitions);
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).alarms, 0);
}

static void
a_hole_is_an_alarm_with_its_range(void **state)
{
    (void)state;
    put_texts((const char *const[]){"{\"n\":0}", "{\"n\":1}", NULL});
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 2);
    put_texts((const char *const[]){"{\"n\":2}", "{\"n\":3}", "{\"n\":4}", NULL});
    delete_records(fixture.topic, fixture.partitions);
    put_texts((const char *const[]){"{\"n\":5}", NULL});
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.alarms, 1);
    assert_int_equal(report.events, 1);
    assert_string_equal(
        test_text(fixture.world.admin,
                  "SELECT concat_ws(' ', what, partition, first_offset, last_offset, sentence LIKE "
                  "'Kafka removed 3 dead letters of %, partition 0, before redrive read them: "
                  "offsets 2 to 4') FROM redrive.alarm"),
        "hole 0 2 4 t");
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).alarms, 0);
}

// A database that was filled from a file reads the topic from its beginning. The one that is still pending is
// seen again; the one that was closed is an event once more.
static void
what_a_file_brought_stops_no_ingester(void **state)
{
    (void)state;
    put_texts((const char *const[]){"{\"n\":0}", "{\"n\":1}", NULL});
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 2);
    test_sql(fixture.world.admin, "UPDATE redrive.record SET is_imported = true;"
                                  "UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 2;"
                                  "DELETE FROM redrive.ingest_position");
    struct ingest_report report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.attempts, 1);
    assert_int_equal(report.events, 1);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM dlq_events"), 3);
}

static void
make_anew(void)
{
    char name[64], text[200];
    snprintf(name, sizeof name, "%s", fixture.topic);
    delete_topic(name);
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int tries = 0; tries < 100; tries++) { // its name is free once it is gone everywhere
        rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, fixture.partitions, 1, text, sizeof text);
        rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
        rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 20000);
        size_t count;
        bool is_made = rd_kafka_topic_result_error(rd_kafka_CreateTopics_result_topics(
                           rd_kafka_event_CreateTopics_result(event), &count)[0]) == 0;
        rd_kafka_event_destroy(event);
        rd_kafka_queue_destroy(queue);
        rd_kafka_NewTopic_destroy(topic);
        if (is_made)
            break;
        clock_sleep(100000);
    }
    rd_kafka_destroy(client);
}

// As long as the one before: the offsets alone would say that all was read.
static void
a_topic_made_anew_is_read_from_its_beginning(void **state)
{
    (void)state;
    put_texts((const char *const[]){"{\"n\":0}", "{\"n\":1}", "{\"n\":2}", NULL});
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 3);
    make_anew();
    put_texts((const char *const[]){"{\"m\":0}", "{\"m\":1}", "{\"n\":2}", "{\"m\":3}", NULL});
    struct ingest_report report = ingest_dry(&fixture.world, fixture.topic);
    assert_int_equal(report.alarms, 1);
    assert_int_equal(report.events, 4);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.alarm"), 0);
    report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.alarms, 1);
    assert_int_equal(report.events, 4);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 1), 4);
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM redrive.alarm WHERE what = 'topic made anew'"),
        1);

    // And once more, shorter than it was.
    make_anew();
    put_texts((const char *const[]){"{\"o\":0}", NULL});
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 1);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, fixture.partitions, 2), 1);
}

// Kafka cannot be made to lose its last records, so PostgreSQL is made to have more: two that it took in of
// a leader that is gone. What both have is not taken in once more, what comes at the lost offsets is.
static void
an_end_that_fell_back_doubles_nothing(void **state)
{
    (void)state;
    put_texts((const char *const[]){"{\"n\":0}", "{\"n\":1}", "{\"n\":2}", NULL});
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 3);
    test_sql(
        fixture.world.admin,
        "INSERT INTO redrive.attempt (dlq_id, cluster, topic, partition, generation, \"offset\", crc32c, "
        "format, error_message) SELECT dlq_id, cluster, topic, partition, generation, \"offset\" + 2, 77, "
        "format, 'boom' FROM redrive.record WHERE \"offset\" > 0;"
        "UPDATE redrive.ingest_position SET next_offset = 5, last_offset = 4, last_crc32c = 77 WHERE "
        "partition = 0");
    struct ingest_report report = ingest_dry(&fixture.world, fixture.topic);
    assert_int_equal(report.alarms, 1);
    assert_int_equal(report.events, 0);
    report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.alarms, 1);
    assert_int_equal(report.events, 0);
    assert_string_equal(test_text(fixture.world.admin,
                                  "SELECT concat_ws(' ', what, partition, generation, first_offset) FROM "
                                  "redrive.alarm"),
                        "end fell back 0 0 3");

    // And where the new leader has written more meanwhile, the offset alone says nothing.
    put_texts((const char *const[]){"{\"n\":3}", "{\"n\":4}", "{\"n\":5}", NULL});
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).events, 3);
    test_sql(fixture.world.admin, "UPDATE redrive.record SET crc32c = 78 WHERE \"offset\" = 5;"
                                  "UPDATE redrive.ingest_position SET last_crc32c = 78 WHERE partition = 0");
    report = ingest_once(&fixture.world, fixture.topic);
    assert_int_equal(report.alarms, 1);
    assert_int_equal(report.events, 1);
    assert_int_equal(test_number(fixture.world.admin, "SELECT generation FROM redrive.ingest_position WHERE "
                                                      "partition = 0"),
                     2);
    assert_int_equal(ingest_once(&fixture.world, fixture.topic).alarms, 0);
}

struct service {
    struct ingest_settings settings;
    volatile sig_atomic_t stop;
    pthread_t thread;
    bool ok;
    struct err err;
};

static bool
is_of_this_test(void *context, const char *name)
{
    return strncmp(name, context, strlen(context)) == 0;
}

static void *
serve(void *context)
{
    struct service *service = context;
    struct ingest_report report = {0};
    struct arena arena = {0};
    service->ok = ingester_run(&service->settings, &arena, &report, &service->err);
    arena_release(&arena);
    return NULL;
}

static void
serve_begin(struct service *service)
{
    service->settings.store = fixture.world.settings;
    service->settings.broker.brokers = test_kafka();
    service->settings.stop = &service->stop;
    assert_int_equal(pthread_create(&service->thread, NULL, serve, service), 0);
}

static void
serve_end(struct service *service)
{
    service->stop = 1;
    pthread_join(service->thread, NULL);
    if (!service->ok)
        fail_msg("%s", service->err.text);
}

static void
wait_for(const char *sql, int64_t wanted)
{
    for (int64_t until = clock_mono() + 40 * US_PER_SECOND;
         test_number(fixture.world.admin, sql) != wanted;) {
        if (clock_mono() > until)
            fail_msg("%s is %lld instead of %lld", sql, (long long)test_number(fixture.world.admin, sql),
                     (long long)wanted);
        clock_sleep(100000);
    }
}

// A cluster of librdkafka's, in the place of the real one.
struct mock {
    char real[200];
    rd_kafka_t *host;
    rd_kafka_mock_cluster_t *cluster;
};

static void
mock_begin(struct mock *mock)
{
    char text[200];
    snprintf(mock->real, sizeof mock->real, "%s", test_kafka());
    mock->host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    mock->cluster = rd_kafka_mock_cluster_new(mock->host, 2);
    assert_int_equal(rd_kafka_mock_topic_create(mock->cluster, fixture.topic, fixture.partitions, 1), 0);
    for (int p = 0; p < fixture.partitions; p++)
        rd_kafka_mock_partition_set_leader(mock->cluster, fixture.topic, p, 1 + p);
    setenv("REDRIVE_TEST_KAFKA", rd_kafka_mock_cluster_bootstraps(mock->cluster), 1);
}

static void
mock_end(struct mock *mock)
{
    setenv("REDRIVE_TEST_KAFKA", mock->real, 1);
    rd_kafka_mock_cluster_destroy(mock->cluster);
    rd_kafka_destroy(mock->host);
}

static void
mock_put(int partition)
{
    rd_kafka_t *producer = letter_producer(NULL, NULL);
    put_record(producer, fixture.topic, partition, "k", "{}", "t");
    letters_sent(producer);
}

// Two share the partitions; a topic that comes into being meanwhile is found; what one leaves the other
// takes.
static void
two_share_and_find_new_topics(void **state)
{
    (void)state;
    static struct service one, other;
    static char known[sizeof fixture.topic];
    memcpy(known, fixture.topic, sizeof known);
    one = (struct service){.settings = {.wanted = is_of_this_test, .wanted_context = known}};
    other = one;
    serve_begin(&one);
    serve_begin(&other);
    wait_for("SELECT count(DISTINCT holder) FROM redrive.ingest_position", 2);
    put_texts((const char *const[]){"{\"n\":0}", "{\"n\":1}", NULL});
    wait_for("SELECT count(*) FROM dlq_events", 2);
    serve_end(&other);
    wait_for("SELECT count(*) FROM redrive.ingest_position WHERE holder IS NULL", 0);
    wait_for("SELECT count(*) FROM redrive.ingester", 1);

    make_topic(fixture.topic, known, 1, NULL, NULL);
    put_texts((const char *const[]){"{\"n\":3}", NULL});
    wait_for("SELECT count(*) FROM dlq_events", 3);
    serve_end(&one);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.ingester"), 0);
    assert_int_equal(assert_taken_in(&fixture.world, known, fixture.partitions, 0), 2);
    assert_int_equal(assert_taken_in(&fixture.world, fixture.topic, 1, 0), 1);
}

// Partition 0 has no leader for a while. Who reads to the end says so in the end; a service goes on by
// itself.
static void
a_partition_without_leader_stops_no_other(void **state)
{
    (void)state;
    struct mock mock = {0};
    static struct service service;
    mock_begin(&mock);
    put_texts((const char *const[]){"{\"n\":0}", NULL});
    rd_kafka_mock_partition_set_leader(mock.cluster, fixture.topic, 0, -1);
    mock_put(1);
    const char *const topics[] = {fixture.topic};
    const struct ingest_settings settings = {.store = fixture.world.settings,
                                             .broker = {.brokers = test_kafka()},
                                             .topics = topics,
                                             .topic_count = 1,
                                             .mode = INGEST_ONCE};
    struct ingest_report report = {0};
    struct arena arena = {0};
    assert_refused(ingester_run(&settings, &arena, &report, &err), ERR_UNREACHABLE, "partition 0 of");
    arena_release(&arena);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM dlq_events"), 1);

    service = (struct service){.settings = {.wanted = is_of_this_test, .wanted_context = fixture.topic}};
    serve_begin(&service);
    mock_put(1);
    wait_for("SELECT count(*) FROM dlq_events", 2);
    rd_kafka_mock_partition_set_leader(mock.cluster, fixture.topic, 0, 1);
    wait_for("SELECT count(*) FROM dlq_events", 3);
    serve_end(&service);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.alarm"), 0);
    mock_end(&mock);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(every_format_is_kept_byte_for_byte),
        on_fixture(rows_tell_what_failed_and_where_from),
        on_fixture(what_is_no_json_is_kept_as_well),
        on_fixture(large_headers_make_small_transactions),
        on_fixture(a_chunk_that_is_not_written_is_read_again),
        on_fixture(an_event_in_two_partitions_is_one_event),
        on_fixture(transactions_are_respected),
        on_fixture(a_hole_is_an_alarm_with_its_range),
        on_fixture(what_a_file_brought_stops_no_ingester),
        on_fixture(an_end_that_fell_back_doubles_nothing),
        on_fixture(a_topic_made_anew_is_read_from_its_beginning),
        on_fixture(two_share_and_find_new_topics),
        on_fixture(a_partition_without_leader_stops_no_other),
    };
    return cmocka_run_group_tests_name("ingest", tests, NULL, NULL);
}
