// Reprocessing on a real Kafka: what arrives, what is refused and with which words, and what happens when the
// other side is away.
#include "tests/broker/fixture.h"

#define PARTITIONS 4

static struct broker_fixture fixture = {.stem = "publish", .partitions = PARTITIONS};

struct seen {
    char key[64], value[200], trace[64], source[100], operator_name[64], count[16], attempt[16], chunk[64];
    int32_t partition;
    int64_t id, timestamp;
    size_t headers;
    bool has_key, has_value;
};
struct seen_all {
    struct seen rows[64];
    size_t count;
};

static void
note_seen(void *context, const rd_kafka_message_t *message)
{
    struct seen_all *all = context;
    if (!*header_text(message, "redrive-event-id"))
        return;
    assert_true(all->count < 64);
    struct seen *row = &all->rows[all->count++];
    row->id = strtoll(header_text(message, "redrive-event-id"), NULL, 10);
    row->partition = message->partition;
    row->has_key = message->key != NULL;
    row->has_value = message->payload != NULL;
    snprintf(row->key, sizeof row->key, "%.*s", (int)message->key_len,
             message->key ? (const char *)message->key : "");
    snprintf(row->value, sizeof row->value, "%.*s", (int)message->len,
             message->payload ? (const char *)message->payload : "");
    snprintf(row->trace, sizeof row->trace, "%.60s", header_text(message, "trace"));
    snprintf(row->source, sizeof row->source, "%.90s", header_text(message, "redrive-source"));
    snprintf(row->operator_name, sizeof row->operator_name, "%.60s",
             header_text(message, "redrive-operator"));
    snprintf(row->count, sizeof row->count, "%.15s", header_text(message, "reprocess.count"));
    snprintf(row->attempt, sizeof row->attempt, "%.15s", header_text(message, "redrive-attempt"));
    snprintf(row->chunk, sizeof row->chunk, "%.60s", header_text(message, "redrive-chunk-id"));
    row->timestamp = rd_kafka_message_timestamp(message, NULL);
    rd_kafka_headers_t *headers;
    row->headers = rd_kafka_message_headers(message, &headers) ? 0 : rd_kafka_header_cnt(headers);
}

static const struct seen *
seen_of(const struct seen_all *all, int64_t id)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i].id == id)
            return &all->rows[i];
    fail_msg("event %lld did not arrive", (long long)id);
    return NULL;
}

static const char *
reason_of(int64_t id)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT state || ': ' || coalesce(detail, '') FROM redrive.item WHERE dlq_id = %lld",
             (long long)id);
    return test_text(fixture.world.admin, sql);
}

static void
assert_refusal(int64_t id, const char *words)
{
    const char *reason = reason_of(id);
    if (strncmp(reason, "refused: ", 9) != 0 || !strstr(reason, words))
        fail_msg("event %lld is %s, expected a refusal with \"%s\"", (long long)id, reason, words);
}

static void
sends_the_original_record_where_it_still_is(void **state)
{
    (void)state;
    // Bytes that jsonb would not give back; a stranger at an offset of another event; a record that is not
    // JSON.
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    put_record(producer, fixture.topic, 1, "k-1", "{ \"b\":1.0, \"a\": 1e2 }", "t-1");
    put_record(producer, fixture.topic, 1, NULL, "{\"b\":2}", "t-2");
    put_record(producer, fixture.topic, 1, "k-3", "stranger", "t-3");
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
    rd_kafka_destroy(producer);
    test_sql(fixture.world.admin,
             "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, source_id, "
             "kafka_topic, kafka_partition, kafka_offset)"
             " VALUES ('a', 't', '{\"a\":100,\"b\":1.0}', 'boom', 'src', '%s', 1, 0), ('b', 't', "
             "'{\"b\":2}', 'boom', 'src', '%s', 1, 1),"
             " ('c', 't', '{\"c\":3}', 'boom', 'src', '%s', 1, 2), ('d', 't', '{\"d\":4}', 'boom', NULL, "
             "'%s', 1, 99)",
             fixture.topic, fixture.topic, fixture.topic, fixture.topic);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 4);
    int64_t before = clock_now() / 1000 - 1000;
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
    assert_all_done(&fixture.world, operation, 4);

    struct seen_all all = {0};
    read_topic(fixture.topic, PARTITIONS, "read_committed", note_seen, &all);
    assert_int_equal(all.count, 4);
    const struct seen *a = seen_of(&all, 1), *b = seen_of(&all, 2), *c = seen_of(&all, 3),
                      *d = seen_of(&all, 4);
    assert_string_equal(a->value, "{ \"b\":1.0, \"a\": 1e2 }");
    assert_string_equal(a->key, "k-1");
    assert_string_equal(a->trace, "t-1");
    assert_int_equal(a->partition, 1);
    assert_string_equal(a->source + strlen(fixture.topic), "/1/0");
    assert_string_equal(a->count, "1");
    assert_string_equal(a->attempt, "1");
    assert_int_equal(a->headers, 9);
    assert_true(a->timestamp >= before);
    assert_string_equal(b->value, "{\"b\":2}");
    assert_false(b->has_key);
    assert_string_equal(c->value, "{\"c\": 3}"); // the stranger is not sent
    assert_string_equal(c->key, "src");
    assert_string_equal(c->trace, "");
    assert_string_equal(d->value, "{\"d\": 4}");
    assert_false(d->has_key);
    assert_string_equal(test_text(fixture.world.admin,
                                  "SELECT status || retry_count || resolved_by FROM dlq_events WHERE id = 1"),
                        "RESOLVED1postgres");
}

static void
refuses_single_events_and_sends_the_others(void **state)
{
    (void)state;
    char small[64], words[200];
    make_topic(small, "small", 1, "max.message.bytes", "2000");
    broker_fixture_fail(&fixture, 60);
    test_sql(
        fixture.world.admin,
        "UPDATE dlq_events SET kafka_topic = 'redrive-no-such-topic' WHERE id = 1;"
        "UPDATE dlq_events SET kafka_topic = 'redrive-nowhere-dlq' WHERE id = 2;"
        "UPDATE dlq_events SET kafka_topic = NULL WHERE id = 3;"
        "UPDATE dlq_events SET kafka_partition = 77 WHERE id = 4;"
        "UPDATE dlq_events SET kafka_topic = 'not a name!' WHERE id = 5;"
        "UPDATE dlq_events SET event_payload = jsonb_build_object('x', repeat('y', 1100000)) WHERE id = 6");
    test_sql(
        fixture.world.admin,
        "UPDATE dlq_events SET kafka_topic = '%s', kafka_partition = 0 WHERE id BETWEEN 7 AND 30;"
        "UPDATE dlq_events SET event_payload = jsonb_build_object('x', repeat('y', 3000)) WHERE id = 7;"
        "UPDATE dlq_events SET event_payload = event_payload || jsonb_build_object('x', repeat('y', 500))"
        " WHERE id BETWEEN 8 AND 30",
        small);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 60);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation, .chunk = 40}), 0);

    struct operation found = get_operation(&fixture.world, operation);
    assert_int_equal(found.state, OPERATION_DONE);
    assert_int_equal(found.refused, 7);
    assert_int_equal(found.done, 53);
    assert_refusal(1, "redrive-no-such-topic does not exist");
    assert_refusal(2, "the topic redrive-nowhere does not exist");
    assert_refusal(3, "names no topic");
    snprintf(words, sizeof words,
             "partition 77 of %s no longer exists, the topic has %d; let the key choose with partition = key",
             fixture.topic, PARTITIONS);
    assert_refusal(4, words);
    assert_refusal(5, "does not exist");
    assert_refusal(6, "allows 1,048,588 (max.message.bytes)");
    assert_refusal(7, "allows 2,000 (max.message.bytes)");
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'"), 7);
    assert_each_once(fixture.topic, PARTITIONS, 31, 60);
    assert_each_once(small, 1, 8, 30); // 23 records of half a kilobyte in batches that the topic takes
}

static void
takes_the_key_from_the_payload(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 4);
    test_sql(fixture.world.admin,
             "UPDATE dlq_events SET event_payload = jsonb_build_object('i', (ARRAY['21', "
             "'foobar', NULL, 'a-little-bit-long-string'])[id]);"
             "UPDATE dlq_events SET event_payload = '{\"other\": 1}' WHERE id = 3");
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 4);
    assert_int_equal(work_run(&fixture.world,
                              &(struct work_how){.operation = operation, .key = "$.i", .is_key_only = true}),
                     0);
    assert_refusal(3, "the payload has no text or number at $.i, which the key is taken from; correct it, or "
                      "set another key rule");

    struct seen_all all = {0};
    read_topic(fixture.topic, PARTITIONS, "read_committed", note_seen, &all);
    assert_int_equal(all.count, 3);
    assert_string_equal(seen_of(&all, 1)->key, "21");
    // Kafka's own UtilsTest: murmur2 of "21", "foobar", "a-little-bit-long-string" is -973932308, -790332482,
    // -985981536.
    assert_int_equal(seen_of(&all, 1)->partition, (-973932308 & 0x7fffffff) % PARTITIONS);
    assert_int_equal(seen_of(&all, 2)->partition, (-790332482 & 0x7fffffff) % PARTITIONS);
    assert_int_equal(seen_of(&all, 4)->partition, (-985981536 & 0x7fffffff) % PARTITIONS);
}

static void
keeps_the_order_of_a_partition(void **state)
{
    (void)state;
    enum { EVENTS = 600 };
    test_sql(fixture.world.admin,
             "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, source_id, "
             "kafka_topic, kafka_partition, kafka_offset)"
             " SELECT 'e' || i, 't', jsonb_build_object('o', %d - i), 'boom', 's', '%s', i %% 2, 1000000 + "
             "(%d - i) FROM"
             " generate_series(1, %d) i",
             EVENTS, fixture.topic, EVENTS, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation, .chunk = 40}), 0);
    assert_all_done(&fixture.world, operation, EVENTS);

    for (int partition = 0; partition < 2; partition++) {
        rd_kafka_t *client = kafka_client(RD_KAFKA_CONSUMER, "read_committed");
        rd_kafka_topic_t *handle = rd_kafka_topic_new(client, fixture.topic, NULL);
        assert_int_equal(rd_kafka_consume_start(handle, partition, RD_KAFKA_OFFSET_BEGINNING), 0);
        long last = -1;
        for (int i = 0; i < EVENTS / 2; i++) {
            rd_kafka_message_t *message = rd_kafka_consume(handle, partition, 20000);
            assert_non_null(message);
            assert_int_equal(message->err, 0);
            char source[200];
            snprintf(source, sizeof source, "%s", header_text(message, "redrive-source"));
            long offset = strtol(strrchr(source, '/') + 1, NULL, 10);
            if (offset <= last)
                fail_msg("offset %ld comes after %ld", offset, last);
            last = offset;
            rd_kafka_message_destroy(message);
        }
        rd_kafka_consume_stop(handle, partition);
        rd_kafka_topic_destroy(handle);
        rd_kafka_destroy(client);
    }
}

// Never faster than asked for, on however slow a machine: what was claimed is measured against the time that
// it took.
static void
keeps_to_the_rate(void **state)
{
    (void)state;
    enum { EVENTS = 600, RATE = 10, SEEN = 40, PATIENCE = 60 };
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    assert_works(operation_steer(fixture.world.store, operation, STEER_RATE, RATE, NULL, &err));
    pid_t pid = work_start(&fixture.world, &(struct work_how){.operation = operation});
    int64_t start, first, claimed = 0;
    do {
        clock_sleep(20000);
        start = clock_mono();
        first = EVENTS - get_operation(&fixture.world, operation).queued;
    } while (first == 0);
    while (claimed < SEEN) {
        clock_sleep(20000);
        claimed = EVENTS - get_operation(&fixture.world, operation).queued - first;
        double seconds = (double)(clock_mono() - start) / 1e6;
        // A second's worth may have been saved up.
        if ((double)claimed > RATE + RATE * seconds || seconds > PATIENCE)
            fail_msg("%lld events in %.1f s at %d/s", (long long)claimed, seconds, RATE);
    }

    start = clock_mono();
    assert_works(operation_steer(fixture.world.store, operation, STEER_RATE, RATE_UNLIMITED, NULL, &err));
    assert_int_equal(work_wait(pid), 0);
    double seconds = (double)(clock_mono() - start) / 1e6;
    if (seconds > (double)(EVENTS - SEEN) / RATE / 2)
        fail_msg("%d events took %.1f s without a rate", EVENTS - SEEN, seconds);
    assert_all_done(&fixture.world, operation, EVENTS);
}

static void
puts_aside_what_others_closed(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 20);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 20);
    test_sql(fixture.world.admin,
             "UPDATE dlq_events SET status = 'RESOLVED', resolved_by = 'rest-api', resolved_at "
             "= now() WHERE id <= 5");
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
    struct operation found = get_operation(&fixture.world, operation);
    assert_int_equal(found.skipped, 5);
    assert_int_equal(found.done, 15);
    assert_each_once(fixture.topic, PARTITIONS, 6, 20);
}

static void
says_within_25_seconds_that_kafka_is_away(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 5);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 5);
    int64_t start = clock_mono();
    struct err err = {0};
    assert_false(work_here(&fixture.world,
                           &(struct work_how){.operation = operation, .brokers = "127.0.0.1:1"}, &err));
    assert_int_equal(err.kind, ERR_UNREACHABLE);
    assert_non_null(strstr(err.text, "127.0.0.1:1"));
    assert_true(clock_mono() - start < 25 * US_PER_SECOND);
    assert_int_equal(get_operation(&fixture.world, operation).queued, 5);

    // What needs no Kafka is done meanwhile, and the operation is there for the next worker.
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
    assert_all_done(&fixture.world, operation, 5);
}

static void
carries_out_the_rest_without_kafka(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 30);
    int64_t reprocess = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 10);
    int64_t discard = make_operation(&fixture.world, fixture.world.store, ACTION_DISCARD, 11, 20);
    int64_t resolve = make_operation(&fixture.world, fixture.world.store, ACTION_RESOLVE, 21, 30);
    struct err err = {0};
    assert_true(work_here(&fixture.world, &(struct work_how){.brokers = ""}, &err));
    assert_int_equal(get_operation(&fixture.world, reprocess).queued, 10);
    assert_int_equal(get_operation(&fixture.world, discard).done, 10);
    assert_int_equal(get_operation(&fixture.world, resolve).done, 10);
}

static void
sends_again_what_came_back_with_its_count_raised(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 1);
    for (int i = 1; i <= 2; i++) {
        int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 1);
        assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), 0);
        test_sql(fixture.world.admin,
                 "UPDATE dlq_events SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL");
    }
    struct seen_all all = {0};
    read_topic(fixture.topic, PARTITIONS, "read_committed", note_seen, &all);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.rows[0].count, "1");
    assert_string_equal(all.rows[1].count, "2");
    assert_string_equal(all.rows[1].attempt, "2");
    assert_string_not_equal(all.rows[0].chunk, all.rows[1].chunk);
}

static int64_t
old_markers(void)
{
    return test_number(fixture.world.admin,
                       "SELECT count(*) FROM redrive.slot WHERE is_provisioned AND marker_at < "
                       "clock_timestamp() - interval '24 h'");
}

static void
keeps_the_markers_of_idle_slots_fresh(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 400);
    int64_t first = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 200);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.chunk = 40}), 0);
    assert_all_done(&fixture.world, first, 200);
    int64_t seqs = test_number(fixture.world.admin, "SELECT sum(finished_seq)::int8 FROM redrive.slot");

    // A day passes.
    test_sql(fixture.world.admin, "UPDATE redrive.slot SET marker_at = marker_at - interval '25 h'");
    assert_true(old_markers() > 1);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.chunk = 40}), 0);
    assert_int_equal(old_markers(), 0);
    assert_int_equal(test_number(fixture.world.admin, "SELECT sum(finished_seq)::int8 FROM redrive.slot"),
                     seqs);

    // They say what they said: what comes next is not taken for something else.
    test_sql(fixture.world.admin, "UPDATE redrive.slot SET marker_at = marker_at - interval '25 h'");
    int64_t second = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 201, 400);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.chunk = 40}), 0);
    assert_all_done(&fixture.world, second, 200);
    assert_int_equal(old_markers(), 0);
    assert_int_equal(
        test_number(fixture.world.admin, "SELECT count(*) FROM redrive.slot WHERE generation > 1"), 0);
    assert_each_once(fixture.topic, PARTITIONS, 1, 400);
}

// It looks every second for what others left behind, and what it has in flight itself is not that: its slots
// are its own from the first chunk to the last.
static void
keeps_its_slots_while_it_publishes(void **state)
{
    (void)state;
    enum { EVENTS = 3000 }; // several seconds, in chunks of 20
    broker_fixture_fail(&fixture, EVENTS);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, EVENTS);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.chunk = 20}), 0);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT max(fence) FROM redrive.slot"),
                     1); // none twice
}

// What a worker of another Kafka left behind waits for one of its own: it keeps nobody else from coming to an
// end.
static void
leaves_other_clusters_alone(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 20);
    int64_t theirs = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 10);
    struct store *dying = open_store(fixture.world.conninfo);
    struct slot slot = {0};
    struct claim claim = {0};
    assert_works(slot_acquire(dying, "another", "dying", NULL, 0, &slot, &err));
    assert_works(chunk_claim(dying, &slot, theirs, new_uuid(fixture.world.admin), 10, MANY_BYTES,
                             &fixture.world.arena, &claim, &err));
    store_close(dying);
    int64_t ours = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 11, 20);
    assert_int_equal(work_run(&fixture.world, &(struct work_how){0}), 0);
    assert_int_equal(get_operation(&fixture.world, ours).done, 10);
    assert_int_equal(get_operation(&fixture.world, theirs).claimed, 10);
    assert_true(test_number(fixture.world.admin,
                            "SELECT max(fence) FROM redrive.slot WHERE cluster <> 'another'") <= 1);
}

// More workers than slots may be alive: who has nothing to do holds none.
static void
lets_its_slots_go_when_there_is_nothing_to_do(void **state)
{
    (void)state;
    broker_fixture_fail(&fixture, 20);
    int64_t operation = make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, 1, 20);
    pid_t pid = work_start(&fixture.world, &(struct work_how){.lives = 20 * US_PER_SECOND});
    int64_t deadline = clock_mono() + 60 * US_PER_SECOND;
    while (get_operation(&fixture.world, operation).done < 20 && clock_mono() < deadline)
        clock_sleep(20000);
    const char *held = "SELECT count(*) FROM redrive.slot WHERE holder IS NOT NULL";
    assert_true(test_number(fixture.world.admin, held) > 0);
    while (test_number(fixture.world.admin, held) > 0 && kill(pid, 0) == 0 && clock_mono() < deadline)
        clock_sleep(50000);
    assert_int_equal(test_number(fixture.world.admin, held), 0);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.worker"), 1);
    kill(pid, SIGTERM);
    assert_int_equal(work_wait(pid), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(sends_the_original_record_where_it_still_is),
        on_fixture(refuses_single_events_and_sends_the_others),
        on_fixture(takes_the_key_from_the_payload),
        on_fixture(keeps_the_order_of_a_partition),
        on_fixture(keeps_the_markers_of_idle_slots_fresh),
        on_fixture(keeps_its_slots_while_it_publishes),
        on_fixture(leaves_other_clusters_alone),
        on_fixture(lets_its_slots_go_when_there_is_nothing_to_do),
        on_fixture(keeps_to_the_rate),
        on_fixture(puts_aside_what_others_closed),
        on_fixture(says_within_25_seconds_that_kafka_is_away),
        on_fixture(carries_out_the_rest_without_kafka),
        on_fixture(sends_again_what_came_back_with_its_count_raised),
    };
    return cmocka_run_group_tests_name("publish", tests, NULL, NULL);
}
