// The whole road once, as an operator walks it: consumers fail a thousand times, the operator works through
// it on the real screen with keys only, a worker is killed in the middle, and a consumer that reads committed
// records has each event exactly once.
#include <sys/wait.h>
#include <signal.h>
#include "tests/acceptance/screen.h"
#include "tests/broker/kafka_world.h"

enum {
    TIMEOUTS = 600,
    DUPLICATES = 250,
    INVALID = 150,
    ALL = TIMEOUTS + DUPLICATES + INVALID,
    PARTITIONS = 6
};

struct story {
    struct world world;
    char topic[64];
    char operator[64];
    char conninfo[700];
    struct screen screen;
};

// The bytes a producer wrote: no serialiser of ours or PostgreSQL's would write them so.
static void
original_value(char out[200], int i)
{
    snprintf(
        out, 200,
        "{ \"order\":%d ,\"amount\": %d.50e0,\"note\":\"caf\\u00e9 \\/ %d\",\"big\":12345678901234567890 }",
        i, i, i);
}

static const char *
error_of(int i, char out[200])
{
    if (i <= TIMEOUTS)
        snprintf(out, 200, "connect to pay-%d.internal:443 timed out after %d ms", i % 5, 1000 + i);
    else if (i <= TIMEOUTS + DUPLICATES)
        snprintf(out, 200, "duplicate key value violates unique constraint \"orders_pkey\"");
    else
        snprintf(out, 200, "ValidationError: field \"amount\" must be a number");
    return out;
}

// Two consumers that fail at the same time, each with its own session and a commit per failure.
static void
consumers_fail(const struct story *story)
{
    for (int consumer = 0; consumer < 2; consumer++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        PGconn *conn = PQconnectdb(story->world.conninfo);
        bool ok = PQstatus(conn) == CONNECTION_OK;
        for (int i = 1 + consumer; ok && i <= ALL; i += 2) {
            char value[200], message[200], id[20], key[40], partition[10], offset[20];
            original_value(value, i);
            snprintf(id, sizeof id, "evt-%d", i);
            snprintf(key, sizeof key, "customer-%d", i % 37);
            snprintf(partition, sizeof partition, "%d", i % PARTITIONS);
            snprintf(offset, sizeof offset, "%d", (i - 1) / PARTITIONS);
            const char *values[] = {id, key, value, error_of(i, message), partition, offset, story->topic};
            PGresult *r = PQexecParams(conn,
                                       "INSERT INTO public.dlq_events (event_id, event_type, source_id, "
                                       "event_payload, error_message,"
                                       " kafka_partition, kafka_offset, kafka_topic) VALUES ($1, "
                                       "'order.created', $2, $3::jsonb, $4, $5, $6, $7)",
                                       7, NULL, values, NULL, NULL, 0);
            ok = PQresultStatus(r) == PGRES_COMMAND_OK;
            PQclear(r);
        }
        PQfinish(conn);
        _exit(ok ? 0 : 1);
    }
    for (int consumer = 0; consumer < 2; consumer++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

// The records that failed, where the events say they were. Message i is in partition i % PARTITIONS at offset
// (i - 1) / PARTITIONS.
static void
producers_write(const struct story *story)
{
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 1; i <= ALL; i++) {
        char value[200], key[40], trace[40];
        original_value(value, i);
        snprintf(key, sizeof key, "key-%d", i % 37);
        snprintf(trace, sizeof trace, "trace-%d", i);
        put_record(producer, story->topic, i % PARTITIONS, key, value, trace);
    }
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
}

// An operator of her own name, with the rights that redrive.grants says and no others.
static void
operator_comes(struct story *story)
{
    PGconn *admin = story->world.admin;
    snprintf(story->operator, sizeof story->operator, "ana_%ld", (long)getpid());
    test_sql(admin, "CREATE ROLE %s LOGIN", story->operator);
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT redrive.grants('%s')", story->operator);
    PGresult *r = PQexec(admin, sql);
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(r); i++)
        test_sql(admin, "%s", PQgetvalue(r, i, 0));
    PQclear(r);
    snprintf(story->conninfo, sizeof story->conninfo, "%s user=%s", story->world.conninfo, story->operator);
}

static int64_t number(const struct story *story, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int64_t
number(const struct story *story, const char *format, ...)
{
    char sql[500];
    va_list args;
    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    return test_number(story->world.admin, sql);
}

static void
await_number(const struct story *story, const char *sql, int64_t wanted, int seconds)
{
    int64_t until = clock_mono() + seconds * US_PER_SECOND;
    while (number(story, "%s", sql) != wanted) {
        if (clock_mono() > until)
            fail_msg("%s is %lld, not %lld, after %d s:\n%s", sql, (long long)number(story, "%s", sql),
                     (long long)wanted, seconds, vt_screen(story->screen.vt));
        clock_sleep(50000);
    }
}

// Confirms, and waits until PostgreSQL has the operation. What the screen says of it is no sign of that: an
// earlier operation can end at this moment, and then the line is about that one.
static void
confirm(struct story *story, int64_t no, const struct screen_answers *answers)
{
    screen_confirm(&story->screen, answers);
    await_number(story, "SELECT max(no) FROM redrive.operation", no, 30);
}

// SIGKILL to the worker while a chunk of it is claimed.
static void
worker_dies(const struct story *story)
{
    await_number(story, "SELECT count(*) FROM redrive.operation WHERE no = 1 AND done > 0 AND claimed > 0", 1,
                 30);
    PGresult *r = PQexec(story->world.admin, "SELECT split_part(name, '/', 2) FROM redrive.worker");
    assert_true(PQntuples(r) >= 1);
    pid_t pid = (pid_t)strtol(PQgetvalue(r, 0, 0), NULL, 10);
    PQclear(r);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(number(story, "SELECT done FROM redrive.operation WHERE no = 1") < TIMEOUTS);
}

struct arrived {
    const struct story *story;
    int times[ALL + 1];
};

static void
take_arrived(void *context, const rd_kafka_message_t *message)
{
    struct arrived *arrived = context;
    long id = strtol(header_text(message, "redrive-event-id"), NULL, 10);
    if (id == 0)
        return; // the original, not the republished one
    char value[200], wanted[120];
    PGresult *r;
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT substr(event_id, 5) FROM public.dlq_events WHERE id = %ld", id);
    r = PQexec(arrived->story->world.admin, sql);
    int i = (int)strtol(PQgetvalue(r, 0, 0), NULL, 10);
    PQclear(r);
    assert_in_range(i, 1, ALL);
    arrived->times[i]++;

    original_value(value, i);
    if (message->len != strlen(value) || memcmp(message->payload, value, message->len) != 0)
        fail_msg("event %d came as %.*s", i, (int)message->len, (const char *)message->payload);
    snprintf(wanted, sizeof wanted, "key-%d", i % 37);
    assert_int_equal(message->key_len, strlen(wanted));
    assert_memory_equal(message->key, wanted, message->key_len);
    assert_int_equal(message->partition, i % PARTITIONS);
    snprintf(wanted, sizeof wanted, "trace-%d", i);
    assert_string_equal(header_text(message, "trace"), wanted);
    assert_string_equal(header_text(message, "reprocess.count"), "1");
    assert_string_equal(header_text(message, "redrive-operation"), "1");
    assert_string_not_equal(header_text(message, "redrive-chunk-id"), "");
    snprintf(wanted, sizeof wanted, "%s/%d/%d", arrived->story->topic, i % PARTITIONS, (i - 1) / PARTITIONS);
    assert_string_equal(header_text(message, "redrive-source"), wanted);
}

static void
consumer_has_each_once(const struct story *story)
{
    struct arrived arrived = {.story = story};
    read_topic(story->topic, PARTITIONS, "read_committed", take_arrived, &arrived);
    for (int i = 1; i <= ALL; i++)
        if (arrived.times[i] != (i <= TIMEOUTS))
            fail_msg("event %d is there %d times", i, arrived.times[i]);
}

static void
postgresql_says_who_did_what(const struct story *story)
{
    const char *who = story->operator;
    assert_int_equal(number(story, "SELECT count(*) FROM public.dlq_events"), ALL);
    assert_int_equal(
        number(story,
               "SELECT count(*) FROM public.dlq_events WHERE status = 'RESOLVED' AND resolved_by = '%s'"
               " AND resolved_at IS NOT NULL AND error_message LIKE 'connect%%' AND retry_count = 1",
               who),
        TIMEOUTS);
    assert_int_equal(
        number(story,
               "SELECT count(*) FROM public.dlq_events WHERE status = 'DISCARDED' AND resolved_by = '%s'"
               " AND error_message LIKE 'duplicate%%' AND coalesce(retry_count, 0) = 0",
               who),
        DUPLICATES);
    assert_int_equal(
        number(story,
               "SELECT count(*) FROM public.dlq_events WHERE status = 'RESOLVED' AND resolved_by = '%s'"
               " AND error_message LIKE 'Validation%%' AND coalesce(retry_count, 0) = 0",
               who),
        INVALID);
    assert_int_equal(
        number(story, "SELECT count(*) FROM redrive.operation WHERE state = 'done' AND requested_by = '%s'",
               who),
        3);
    assert_int_equal(number(story, "SELECT count(*) FROM redrive.item WHERE state = 'done'"), ALL);
    assert_int_equal(number(story,
                            "SELECT count(DISTINCT reason) FROM redrive.audit WHERE who = '%s' AND reason IN"
                            " ('gateway fixed', 'sent twice', 'paid by hand')",
                            who),
                     3);
}

static void
a_thousand_failures_are_worked_through(void **state)
{
    (void)state;
    struct story story = {0};
    world_make(&story.world, 0);
    make_topic(story.topic, "story", PARTITIONS, NULL, NULL);
    producers_write(&story);
    consumers_fail(&story);
    assert_int_equal(number(&story, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING'"),
                     ALL); // none is lost
    operator_comes(&story);

    screen_open(&story.screen, story.conninfo, test_kafka());
    screen_see(&story.screen, "1,000 pending in 3 groups");

    // The largest group, by the cursor row alone; slowly, so that the worker can die in the middle.
    screen_press(&story.screen, "R");
    screen_see(&story.screen, "600 events");
    confirm(&story, 1, &(struct screen_answers){"Reprocess", "gateway fixed", .rate = "200", .count = "600"});
    screen_see(&story.screen, "@ watch");
    worker_dies(&story);

    // A regular expression, everything that matches, discarded, while nobody carries anything out.
    screen_press(&story.screen, "2");
    screen_press(&story.screen, "/");
    screen_press(&story.screen, "duplicate.*orders_pkey<Enter>");
    screen_see(&story.screen, "/250 of ");
    screen_press(&story.screen, "A");
    screen_see(&story.screen, "sel 250");
    screen_press(&story.screen, "D");
    screen_see(&story.screen, "250 selected events");
    confirm(&story, 2, &(struct screen_answers){"Discard", "sent twice", .count = "250"});
    await_number(&story, "SELECT count(*) FROM public.dlq_events WHERE status = 'DISCARDED'", DUPLICATES, 90);

    // What is left of the third kind is finished without sending.
    screen_press(&story.screen, "<Esc>");
    screen_press(&story.screen, "/");
    screen_press(&story.screen, "class:ValidationError<Enter>");
    screen_see(&story.screen, "/150 of ");
    screen_press(&story.screen, "A");
    screen_press(&story.screen, "S");
    screen_see(&story.screen, "150 selected events");
    confirm(&story, 3, &(struct screen_answers){"Resolve", "paid by hand", .count = "150"});

    // The killed worker's chunk is decided by whoever comes next.
    await_number(&story, "SELECT count(*) FROM redrive.operation WHERE state = 'done'", 3, 120);
    screen_press(&story.screen, "1");
    screen_press(&story.screen, "<Esc>"); // the filter
    screen_see(&story.screen, " 0 pending in");
    screen_press(&story.screen, "r"); // rows never move by themselves, so emptied groups stay until then
    screen_see(&story.screen, "No pending events");
    screen_press(&story.screen, "4");
    screen_see(&story.screen, "600");
    screen_close(&story.screen);

    consumer_has_each_once(&story);
    postgresql_says_who_did_what(&story);
    assert_int_equal(number(&story, "SELECT count(*) FROM redrive.slot WHERE is_suspended"), 0);
    assert_int_equal(
        number(&story, "SELECT count(*) FROM redrive.chunk WHERE state IN ('claimed', 'in doubt')"), 0);

    test_sql(story.world.admin, "DROP OWNED BY %s; DROP ROLE %s", story.operator, story.operator);
    world_end(&story.world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_thousand_failures_are_worked_through)};
    return cmocka_run_group_tests_name("story", tests, NULL, NULL);
}
