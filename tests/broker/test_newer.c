// Newer records of the same key behind those that events came from: found by a command's own connection and
// by a worker, on a real Kafka.
#include "tests/broker/fixture.h"

#include "publish/newer.h"
#include "store/operations/newer.h"

static struct broker_fixture fixture = {.stem = "newer", .partitions = 2};

static rd_kafka_t *
transaction(void)
{
    char text[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_property(conf, "bootstrap.servers", test_kafka());
    kafka_property(conf, "transactional.id", fixture.topic);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (!client)
        fail_msg("%s", text);
    assert_null(rd_kafka_init_transactions(client, 20000));
    assert_null(rd_kafka_begin_transaction(client));
    return client;
}

static void
put_aborted(const char *key)
{
    rd_kafka_t *client = transaction();
    put_record(client, fixture.topic, 0, key, "{}", "never");
    assert_int_equal(rd_kafka_flush(client, 20000), 0);
    assert_null(rd_kafka_abort_transaction(client, 20000));
    rd_kafka_destroy(client);
}

// As a worker sends them.
static void
put_of_redrive(rd_kafka_t *producer, const char *key)
{
    union {
        const char *in;
        void *out;
    } k = {.in = key}, v = {.in = "{}"}, h = {.in = "7"};
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = fixture.topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = 0},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = k.out, .size = strlen(key)}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {.ptr = v.out, .size = 2}},
        {.vtype = RD_KAFKA_VTYPE_HEADER, .u.header = {.name = "redrive-event-id", .val = h.out, .size = 1}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
    };
    assert_null(rd_kafka_produceva(producer, arguments, sizeof arguments / sizeof *arguments));
}

// An event whose record is at that offset; "NULL" is one.
static void
put_event(int64_t id, const char *topic, int32_t partition, const char *offset)
{
    test_sql(fixture.world.admin,
             "INSERT INTO dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, "
             "kafka_partition, kafka_offset) VALUES (%lld, 'e%lld', 't', '{}', 'boom', '%s', %d, %s)",
             (long long)id, (long long)id, topic, (int)partition, offset);
}

// Records of both partitions:
//   0: k0 k1 k2 k3 - (k2: aborted) k0 k1(tombstone) k3(redrive's own)
//   1: k0 k2
// and events 1 … 4 of the first four, 5 without key, 6 without offset, 7 of a dead letter queue, 8 of k2 in
// the other partition, 9 behind the end.
static void
begin(void)
{
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 0; i < 4; i++)
        put_record(producer, fixture.topic, 0, (const char *[]){"k0", "k1", "k2", "k3"}[i], "{}", "old");
    put_record(producer, fixture.topic, 0, NULL, "{}", "old");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    put_aborted("k2");
    put_record(producer, fixture.topic, 0, "k0", "{}", "new");
    put_record(producer, fixture.topic, 0, "k1", NULL, "gone");
    put_of_redrive(producer, "k3");
    put_record(producer, fixture.topic, 1, "k0", "{}", "new");
    put_record(producer, fixture.topic, 1, "k2", "{}", "new");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
    for (int i = 0; i < 5; i++)
        put_event(i + 1, fixture.topic, 0, (const char *[]){"0", "1", "2", "3", "4"}[i]);
    put_event(6, fixture.topic, 0, "NULL");
    put_event(7, "orders.events-dlq", 0, "3");
    put_event(8, fixture.topic, 1, "1");
    put_event(9, fixture.topic, 1, "400");
}

static void
ask(const int64_t *ids, size_t count, int64_t most_records, struct newer *newer)
{
    const struct broker_settings settings = {.brokers = test_kafka()};
    const struct plan_settings plan = {0};
    struct newer_question question = {.store = fixture.world.store,
                                      .broker = &settings,
                                      .plan = &plan,
                                      .ids = ids,
                                      .count = count,
                                      .most_records = most_records};
    struct newer_search *search = newer_begin(&question);
    bool is_over = false;
    int64_t deadline = clock_mono() + 40 * US_PER_SECOND;
    while (!is_over && clock_mono() < deadline)
        assert_works(newer_step(search, 50, &is_over, &err));
    assert_true(is_over);
    newer_result(search, &fixture.world.arena, newer);
    newer_end(search);
}

static const int64_t all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void
says_which_keys_and_when(const struct newer *newer)
{
    assert_true(newer->is_over);
    assert_int_equal(newer->events, 9);
    assert_int_equal(newer->stale_count, 2);
    static const int64_t stale[] = {1, 2};
    assert_memory_equal(newer->stale, stale, sizeof stale);
    assert_int_equal(newer->key_count, 2);
    assert_int_equal(newer->shown, 2);
    for (size_t i = 0; i < newer->shown; i++) {
        bool is_k1 = bytes_equal_text(newer->keys[i].key, "k1");
        assert_true(is_k1 || bytes_equal_text(newer->keys[i].key, "k0"));
        assert_int_equal(newer->keys[i].is_deleted, is_k1);
        assert_true(clock_now() - newer->keys[i].at < 600 * US_PER_SECOND);
        assert_true(clock_now() - newer->stale_at[i] < 600 * US_PER_SECOND);
    }
    assert_int_equal(newer->resent, 1);
    assert_int_equal(newer->untold[UNTOLD_KEY], 1);
    assert_int_equal(newer->untold[UNTOLD_PLACE], 1);
    assert_int_equal(newer->untold[UNTOLD_QUEUE], 1);
    assert_int_equal(newer->untold[UNTOLD_OTHER], 1);
    assert_int_equal(newer_untold(newer), 4);
    assert_null(newer->why);
}

static void
only_committed_records_behind_its_own_count(void **state)
{
    (void)state;
    struct newer newer;
    begin();
    ask(all, 9, 0, &newer);
    says_which_keys_and_when(&newer);
}

// The screen has no Kafka: it asks, and a worker reads (worker_newer.c).
static void
a_worker_answers_who_has_no_kafka(void **state)
{
    (void)state;
    struct newer newer = {0};
    int64_t no = 0, deadline = clock_mono() + 40 * US_PER_SECOND;
    bool has_worker = true;
    begin();
    assert_works(newer_ask(fixture.world.store, all, 9, &no, &has_worker, &err));
    assert_false(has_worker);
    pid_t pid = work_start(&fixture.world, &(struct work_how){.lives = 60 * US_PER_SECOND});
    while (!newer.is_over && clock_mono() < deadline) {
        assert_works(newer_look(fixture.world.store, no, &fixture.world.arena, &newer, &has_worker, &err));
        clock_sleep(50000);
    }
    kill(pid, SIGTERM);
    assert_int_equal(work_wait(pid), 0);
    assert_true(has_worker);
    says_which_keys_and_when(&newer);
}

// Events that are sent again too come behind each other as before.
static void
records_of_the_chosen_events_do_not_count(void **state)
{
    (void)state;
    struct newer newer;
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 0; i < 4; i++)
        put_record(producer, fixture.topic, 0, i % 2 ? "k1" : "k0", "{}", "x");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
    put_event(1, fixture.topic, 0, "0");
    put_event(2, fixture.topic, 0, "1");
    put_event(10, fixture.topic, 0, "2");
    ask((const int64_t[]){1, 2, 10}, 3, 0, &newer);
    assert_int_equal(newer.stale_count, 1);
    assert_int_equal(newer.stale[0], 2);
    ask((const int64_t[]){1, 2}, 2, 0, &newer);
    assert_int_equal(newer.stale_count, 2);
}

static void
a_limit_is_said(void **state)
{
    (void)state;
    struct newer newer;
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 0; i < 5000; i++)
        put_record(producer, fixture.topic, 0, i == 1 || i == 4999 ? "a" : i == 0 ? "b" : "other", "{}", "x");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
    put_event(1, fixture.topic, 0, "1");
    put_event(2, fixture.topic, 0, "0");
    ask((const int64_t[]){1, 2}, 2, 1000, &newer);
    assert_int_equal(newer.stale_count, 0);
    assert_int_equal(newer.untold[UNTOLD_CUT], 2);
    assert_non_null(newer.why);
    assert_int_equal(newer.of, 5000);
    assert_true(newer.records >= 1000 && newer.records < 5000);
    ask((const int64_t[]){1, 2}, 2, 0, &newer);
    assert_int_equal(newer.stale_count, 1);
    assert_int_equal(newer_untold(&newer), 0);
}

static void
a_topic_that_is_gone_tells_nothing(void **state)
{
    (void)state;
    struct newer newer;
    put_event(1, "no.such.topic.at.all", 0, "1");
    ask((const int64_t[]){1}, 1, 0, &newer);
    assert_int_equal(newer.untold[UNTOLD_GONE], 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(only_committed_records_behind_its_own_count),
        on_fixture(a_worker_answers_who_has_no_kafka),
        on_fixture(records_of_the_chosen_events_do_not_count),
        on_fixture(a_limit_is_said),
        on_fixture(a_topic_that_is_gone_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
