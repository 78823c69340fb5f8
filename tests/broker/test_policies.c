// Policies on a real Kafka from end to end: redrive watch runs them, a worker sends, and a consumer of the
// team takes or fails. Killed watchers and workers: each event is sent once, and the policy goes on.
#include "tests/acceptance/programs.h"
#include "tests/broker/consumer_world.h"
#include "tests/broker/fixture.h"
#include "tests/lib/folder.h"

#include <unistd.h>

#define PARTITIONS 2
#define EVENTS 40

static struct broker_fixture fixture = {.stem = "policies", .partitions = PARTITIONS};
static char folder[40];

static void
write_file(const char *name, const char *text)
{
    char path[80];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// A policy for timeouts that is on, with these lines besides; and 40 timeouts.
static void
begin(const char *lines)
{
    struct arena *arena = &fixture.world.arena;
    broker_fixture_fail(&fixture, EVENTS);
    test_sql(fixture.world.admin, "UPDATE dlq_events SET error_message = 'java.net.SocketTimeoutException: "
                                  "Read timed out'");
    snprintf(folder, sizeof folder, "/tmp/redrive-policies.XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_file("policies",
               arena_printf(arena,
                            "policy \"timeouts\" { category = \"transient\"  filter = "
                            "\"topic:%s\"  action = \"reprocess\"\n"
                            "schedule = \"every 1s\"  backoff = \"1s\"  enabled = \"yes\"\n%s }\n",
                            fixture.topic, lines));
    write_file("config", arena_printf(arena,
                                      "policies = \"%s/policies\"\nwatch_every = \"200ms\"\n"
                                      "policies_every = \"100ms\"\nsend_after = \"0s\"\n",
                                      folder));
    assert_int_equal(setenv("REDRIVE_CONFIG", arena_printf(arena, "%s/config", folder), 1), 0);
}

static struct running
watch_as(const char *conninfo, const char *kill)
{
    if (kill)
        setenv("REDRIVE_KILL", kill, 1);
    struct running running = program_start(
        redrive_program(), (const char *[]){"watch", "-d", conninfo, "--listen", "127.0.0.1:0", NULL});
    unsetenv("REDRIVE_KILL");
    return running;
}

static struct running
watch(const char *kill)
{
    return watch_as(fixture.world.conninfo, kill);
}

static void
watch_end(struct running *running)
{
    char said[PROGRAM_ROOM];
    kill(running->pid, SIGTERM);
    int status = program_end(running, said);
    if (status != 0)
        fail_msg("redrive watch ended with %d: %s", status, said);
}

static pid_t
work(void)
{
    return work_start(&fixture.world, &(struct work_how){.lives = 60 * US_PER_SECOND});
}

static void
work_end(pid_t pid)
{
    kill(pid, SIGTERM);
    assert_int_equal(work_wait(pid), 0);
}

// All that begin and billing began.
static void
end(struct running *watcher, pid_t worker, struct test_consumer *consumer)
{
    watch_end(watcher);
    work_end(worker);
    consumer_stop(consumer);
    folder_remove(folder);
}

// The number that this statement counts gets there, within a minute and a half.
static void
await_number(const char *sql, int64_t wanted)
{
    int64_t deadline = clock_mono() + 90 * US_PER_SECOND, number;
    while ((number = test_number(fixture.world.admin, sql)) != wanted && clock_mono() < deadline)
        clock_sleep(50000);
    if (number != wanted)
        fail_msg(
            "%s: %lld instead of %lld; the policy says: %s; the operations: %s", sql, (long long)number,
            (long long)wanted,
            test_text(fixture.world.admin, "SELECT string_agg(p::text, ' / ') FROM redrive.policy p"),
            test_text(fixture.world.admin, "SELECT string_agg(o::text, ' / ') FROM redrive.operation o"));
}

static const char *const resolved_sql = "SELECT count(*) FROM dlq_events WHERE status = 'RESOLVED' AND "
                                        "resolved_by = 'policy timeouts'";

static struct test_consumer
billing(enum consumer_mood mood)
{
    struct test_consumer consumer;
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int32_t i = 0; i < PARTITIONS; i++) // the group has read the topic before
        put_record(producer, fixture.topic, i, "k", "{}", "");
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
    consumer_start(&consumer, &fixture.world, arena_printf(&fixture.world.arena, "billing.%s", fixture.topic),
                   fixture.topic, mood);
    consumer_wait(&consumer, PARTITIONS);
    return consumer;
}

static void
assert_sent_once(void)
{
    struct tally tally = {.most = EVENTS};
    unsigned char times[EVENTS + 1] = {0};
    tally.times = times;
    (void)read_topic(fixture.topic, PARTITIONS, "read_committed", tally_record, &tally);
    for (int64_t id = 1; id <= EVENTS; id++)
        assert_in_range(times[id], 0, 1);
}

static void
what_it_sends_is_taken(void **state)
{
    (void)state;
    begin("canary = 5  settle_for = \"1s\"");
    struct test_consumer consumer = billing(CONSUMER_TAKES_ALL);
    pid_t worker = work();
    struct running watcher = watch(NULL);
    await_number(resolved_sql, EVENTS);
    await_number("SELECT taken FROM redrive.operation WHERE policy = 'timeouts'", EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation WHERE state = "
                                                      "'done' AND returned + refused + skipped = 0"),
                     1);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    await_number("SELECT count(*) FROM redrive.policy WHERE halted_at IS NULL AND note = 'no event matches'",
                 1); // it ran again, and there was nothing left
    end(&watcher, worker, &consumer);
}

static void
await_halted_policy(void)
{
    char said[PROGRAM_ROOM];
    await_number("SELECT count(*) FROM redrive.policy WHERE halted_at IS NOT NULL", 1);
    await_number("SELECT count(*) FROM redrive.alert WHERE rule = 'RedriveHalted' AND instance = 'policy "
                 "timeouts' AND state = 'firing'",
                 1);
    struct running shown =
        program_start(redrive_program(), (const char *[]){"alerts", "-d", fixture.world.conninfo, NULL});
    assert_int_equal(program_end(&shown, said), 1);
    if (!strstr(said, "RedriveHalted") || !strstr(said, "policy timeouts"))
        fail_msg("no alert says that the policy halted: %s", said);
}

static void
what_it_sends_returns(void **state)
{
    (void)state;
    begin("canary = 5  settle_for = \"2s\"");
    struct test_consumer consumer = billing(CONSUMER_FAILS_ALL);
    pid_t worker = work();
    struct running watcher = watch(NULL);
    await_halted_policy();
    // The rest stays where it is, however long the policy would have had.
    clock_sleep(3 * US_PER_SECOND);
    assert_int_equal(test_number(fixture.world.admin, resolved_sql), 5);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation"), 1);
    assert_sent_once();
    end(&watcher, worker, &consumer);
}

// Without a canary all of them are sent once; what returned is not sent again.
static void
all_of_a_run_return(void **state)
{
    (void)state;
    begin("settle_for = \"2s\"  halt_above = \"20%\"");
    struct test_consumer consumer = billing(CONSUMER_FAILS_ALL);
    pid_t worker = work();
    struct running watcher = watch(NULL);
    await_halted_policy();
    clock_sleep(2 * US_PER_SECOND);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation"), 1);
    assert_int_equal(test_number(fixture.world.admin, "SELECT returned FROM redrive.operation"), EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    end(&watcher, worker, &consumer);
}

// At each step of a run one watcher dies; another goes on at once, since the dead one's session is gone.
static void
watchers_die(void **state)
{
    static const char *const points[] = {"policy_claimed:1", "policy_chosen:1", "policy_begun:1"};
    (void)state;
    begin("limit = 100000");
    struct test_consumer consumer = billing(CONSUMER_TAKES_ALL);
    pid_t worker = work();
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char said[PROGRAM_ROOM];
        struct running dead = watch(points[i]);
        assert_int_equal(program_end(&dead, said), -SIGKILL);
    }
    struct running watcher = watch(NULL);
    await_number(resolved_sql, EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation"), 1);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    end(&watcher, worker, &consumer);
}

// Two policies send to one topic, each half of the events: together no faster than the slower of both may.
static void
two_policies_share_the_rate_of_a_topic(void **state)
{
    (void)state;
    begin("rate = 5  limit = 20\n}\npolicy \"more\" { filter = \"category:transient id:21..40\"  action = "
          "\"reprocess\"  schedule = \"every 1s\"  backoff = \"1s\"  enabled = \"yes\"  rate = 50");
    struct test_consumer consumer = billing(CONSUMER_TAKES_ALL);
    pid_t worker = work();
    struct running watcher = watch(NULL);
    await_number("SELECT count(*) FROM dlq_events WHERE status = 'RESOLVED'", EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(DISTINCT policy) FROM redrive.operation"),
                     2);
    // While the slower one sends, the bucket of the topic begins with five and gets five a second.
    const char *most = "SELECT count(*) FROM (SELECT sum(c.events) OVER (ORDER BY c.created_at) - 5 - 5 * "
                       "extract(epoch FROM c.created_at - min(c.created_at) OVER ()) AS beyond FROM "
                       "redrive.chunk c WHERE c.created_at <= (SELECT o.finished_at FROM redrive.operation o "
                       "WHERE o.policy = 'timeouts')) s WHERE beyond > 1";
    assert_int_equal(test_number(fixture.world.admin, most), 0);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    end(&watcher, worker, &consumer);
}

// A login with the rights of a worker, as a service has.
static const char *
service_conninfo(void)
{
    PGconn *admin = fixture.world.admin;
    char login[80];
    snprintf(login, sizeof login, "%s_service", fixture.world.db.name);
    test_sql(admin, "CREATE ROLE %s LOGIN", login);
    PGresult *r =
        PQexec(admin, arena_printf(&fixture.world.arena, "SELECT redrive.grants('%s', 'worker')", login));
    for (int i = 0; i < PQntuples(r); i++)
        test_sql(admin, "%s", PQgetvalue(r, i, 0));
    PQclear(r);
    return arena_printf(&fixture.world.arena, "%s user=%s", fixture.world.conninfo, login);
}

static void
a_service_runs_what_a_person_switched_on(void **state)
{
    (void)state;
    begin("");
    const char *conninfo = service_conninfo();
    struct test_consumer consumer = billing(CONSUMER_TAKES_ALL);
    pid_t worker =
        work_start(&fixture.world, &(struct work_how){.lives = 60 * US_PER_SECOND, .conninfo = conninfo});
    struct running watcher = watch_as(conninfo, NULL);
    await_number("SELECT count(*) FROM redrive.policy WHERE note LIKE 'only its file enables it%'", 1);
    clock_sleep(2 * US_PER_SECOND);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation"), 0);
    struct running switching = program_start(
        redrive_program(), (const char *[]){"policy", "timeouts", "on", "-d", fixture.world.conninfo, NULL});
    char said[PROGRAM_ROOM];
    if (program_end(&switching, said) != 0)
        fail_msg("it was not switched on: %s", said);
    await_number(resolved_sql, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    end(&watcher, worker, &consumer);
    test_sql(fixture.world.admin, "DROP OWNED BY %s_service; DROP ROLE %s_service", fixture.world.db.name,
             fixture.world.db.name);
}

// The watcher and the worker die while a run sends; those that come after them end it.
static void
all_die_while_it_sends(void **state)
{
    (void)state;
    begin("rate = 10");
    struct test_consumer consumer = billing(CONSUMER_TAKES_ALL);
    for (int i = 0; i < 3; i++) {
        struct running watcher = watch(NULL);
        pid_t worker = work();
        char said[PROGRAM_ROOM];
        int64_t before = test_number(fixture.world.admin, resolved_sql);
        int64_t deadline = clock_mono() + 60 * US_PER_SECOND;
        while (test_number(fixture.world.admin, resolved_sql) == before && clock_mono() < deadline)
            clock_sleep(20000);
        kill(watcher.pid, SIGKILL);
        kill(worker, SIGKILL);
        assert_int_equal(program_end(&watcher, said), -SIGKILL);
        assert_int_equal(work_wait(worker), -SIGKILL);
        expire_leases(&fixture.world);
    }
    struct running watcher = watch(NULL);
    pid_t worker = work();
    await_number(resolved_sql, EVENTS);
    assert_int_equal(test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation"), 1);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    end(&watcher, worker, &consumer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        on_fixture(what_it_sends_is_taken),
        on_fixture(what_it_sends_returns),
        on_fixture(all_of_a_run_return),
        on_fixture(watchers_die),
        on_fixture(two_policies_share_the_rate_of_a_topic),
        on_fixture(all_die_while_it_sends),
        on_fixture(a_service_runs_what_a_person_switched_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
