// Faults that last: PostgreSQL away, its disk full, Kafka away, statements cut short by a setting of the
// database. Each part of the program that runs for long says within seconds what it waits for, goes on by
// itself, keeps its size, and every event is sent once. REDRIVE_FAULT_SECONDS is how long each fault lasts,
// REDRIVE_FAULT a pattern of the tests to run ("*is_away").
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "tests/acceptance/programs.h"
#include "tests/acceptance/screen.h"
#include "tests/broker/fixture.h"
#include "tests/broker/work_world.h"
#include "tests/lib/program.h"

enum { EVENTS = 1200, RATE = 60, PARTITIONS = 4, LASTS = 12, TELLS = 30, GROWTH_KIB = 24 * 1024 };

static struct broker_fixture fixture = {.stem = "faults", .partitions = PARTITIONS};
static char disk[60], pg_dir[100], kafka_dir[100], brokers[60], last_words[2000];
static const char *why_no_small_disk; // NULL: PostgreSQL's disk is a small one

// --- servers ---

static void
server(const char *script, const char *action, const char *dir)
{
    if (program_run(last_words, sizeof last_words, (const char *[]){script, action, dir, NULL}) != 0)
        fail_msg("%s %s: %s", script, action, last_words);
}

// A disk of its own that can be filled. It is gone with this process, whatever happens.
static const char *
mount_small_disk(const char *dir)
{
    static char why[200];
    const char *at = "unshare";
    if (geteuid() != 0)
        return "only root can mount a small disk";
    if (unshare(CLONE_NEWNS) == 0) {
        at = "mount";
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("tmpfs", dir, "tmpfs", 0, "size=200m,mode=755") == 0)
            return NULL;
    }
    snprintf(why, sizeof why, "%s: %s", at, strerror(errno));
    return why;
}

static int
start_servers(void **state)
{
    (void)state;
    char host[100];
    program_own_servers();
    snprintf(disk, sizeof disk, "/tmp/redrive-faults-disk.XXXXXX");
    snprintf(kafka_dir, sizeof kafka_dir, "/tmp/redrive-faults-kafka.XXXXXX");
    assert_non_null(mkdtemp(disk));
    assert_non_null(mkdtemp(kafka_dir));
    assert_int_equal(chmod(disk, 0755), 0);
    why_no_small_disk = mount_small_disk(disk);
    snprintf(pg_dir, sizeof pg_dir, "%s/pg", disk);
    if (program_run(last_words, sizeof last_words,
                    (const char *[]){"tests/lib/pg.sh", "start", pg_dir, "max_wal_size=48MB",
                                     "min_wal_size=32MB", "shared_buffers=16MB", "synchronous_commit=on",
                                     "full_page_writes=on", NULL}))
        return -1;
    program_value(last_words, "PGHOST=", host, sizeof host);
    char conninfo[200];
    snprintf(conninfo, sizeof conninfo, "host=%s port=5433 user=postgres dbname=postgres", host);
    setenv("REDRIVE_TEST_PG", conninfo, 1);
    if (program_run(last_words, sizeof last_words,
                    (const char *[]){"tests/lib/kafka.sh", "start", kafka_dir, NULL}))
        return -1;
    program_value(last_words, "BROKERS=", brokers, sizeof brokers);
    setenv("REDRIVE_TEST_KAFKA", brokers, 1);
    // What was freed would be kept for a while, and look like growth.
    setenv("ASAN_OPTIONS", "detect_leaks=1:quarantine_size_mb=1", 1);
    setenv("REDRIVE_SEND_AFTER", "0s", 1);
    return 0;
}

static int
stop_servers(void **state)
{
    (void)state;
    char text[500];
    (void)program_run(text, sizeof text, (const char *[]){"tests/lib/kafka.sh", "remove", kafka_dir, NULL});
    (void)program_run(text, sizeof text, (const char *[]){"tests/lib/pg.sh", "remove", pg_dir, NULL});
    if (!why_no_small_disk)
        umount2(disk, MNT_DETACH);
    rmdir(disk);
    return 0;
}

// --- faults ---

static void
pg_leaves(void)
{
    server("tests/lib/pg.sh", "kill", pg_dir);
}

static void
pg_comes_back(void)
{
    server("tests/lib/pg.sh", "again", pg_dir);
}

static void
kafka_leaves(void)
{
    server("tests/lib/kafka.sh", "kill", kafka_dir);
}

static void
kafka_comes_back(void)
{
    server("tests/lib/kafka.sh", "again", kafka_dir);
}

// To the last byte.
static void
disk_fills(void)
{
    static const char zeros[1 << 16];
    char path[120];
    snprintf(path, sizeof path, "%s/full", disk);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    for (size_t len = sizeof zeros; len > 0;)
        if (write(fd, zeros, len) < 0)
            len /= 2;
    assert_int_equal(errno, ENOSPC);
    close(fd);
    // Something that needs room: rows of others, until PostgreSQL has none left for anybody.
    PGconn *conn = PQconnectdb(fixture.world.conninfo);
    PQclear(
        PQexec(conn, "CREATE TABLE hog AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 200000)"));
    PQfinish(conn);
}

// PostgreSQL may have ended itself over it: then its administrator starts it again.
static void
disk_is_freed(void)
{
    char path[120];
    snprintf(path, sizeof path, "%s/full", disk);
    assert_int_equal(unlink(path), 0);
    PGconn *conn = PQconnectdb(fixture.world.conninfo);
    bool is_up = PQstatus(conn) == CONNECTION_OK;
    PQfinish(conn);
    if (!is_up)
        server("tests/lib/pg.sh", "again", pg_dir);
}

// A test that failed in the middle of its fault leaves the fault and its programs behind.
static void
end_children(void)
{
    char path[60], list[1000];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    list[fread(list, 1, sizeof list - 1, file)] = '\0';
    fclose(file);
    char *at = list;
    for (pid_t pid = (pid_t)strtol(at, &at, 10); pid > 0; pid = (pid_t)strtol(at, &at, 10)) {
        kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
    }
}

static void
servers_come_back(void)
{
    char path[120];
    snprintf(path, sizeof path, "%s/full", disk);
    (void)unlink(path);
    PGconn *conn = PQconnectdb(getenv("REDRIVE_TEST_PG"));
    if (PQstatus(conn) != CONNECTION_OK)
        pg_comes_back();
    PQfinish(conn);
    if (program_run(last_words, sizeof last_words,
                    (const char *[]){"/usr/bin/env", "kcat", "-L", "-m", "5", "-b", brokers, NULL}))
        kafka_comes_back();
    setenv("REDRIVE_TEST_KAFKA", brokers, 1);
}

static int
tear_down(void **state)
{
    end_children();
    servers_come_back();
    return broker_fixture_tear_down(state);
}

// --- the program ---

struct parts {
    struct running worker, wait;
    struct screen screen;
};

static void
begin_operation(const char *rate)
{
    char said[PROGRAM_ROOM];
    struct running made = program_start(
        redrive_program(), (const char *[]){"reprocess", "-d", fixture.world.conninfo, "-b", brokers, "--all",
                                            "--yes", "--detach", "--rate", rate, "--reason", "faults", NULL});
    if (program_end(&made, said) != 0)
        fail_msg("%s", said);
}

static struct running
start_worker(void)
{
    return program_start(redrive_program(),
                         (const char *[]){"work", "-d", fixture.world.conninfo, "-b", brokers, NULL});
}

static void
parts_start(struct parts *parts)
{
    char rate[20];
    snprintf(rate, sizeof rate, "%d", RATE);
    broker_fixture_fail(&fixture, EVENTS);
    begin_operation(rate);
    parts->worker = start_worker();
    parts->wait = program_start(
        redrive_program(), (const char *[]){"operation", "1", "wait", "-d", fixture.world.conninfo, NULL});
    screen_open(&parts->screen, fixture.world.conninfo, NULL);
    screen_see(&parts->screen, "live");
}

static void
admin_comes_back(void)
{
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; clock_mono() < end; clock_sleep(200000)) {
        PQreset(fixture.world.admin);
        struct err ignored = {0};
        if (PQstatus(fixture.world.admin) == CONNECTION_OK && store_reconnect(fixture.world.store, &ignored))
            return;
    }
    fail_msg("PostgreSQL did not come back: %s", PQerrorMessage(fixture.world.admin));
}

// The last that it said. It writes to the same file, so nothing may move its place there.
static const char *
last_said(const struct running *running)
{
    static char said[PROGRAM_ROOM];
    struct stat file = {0};
    assert_int_equal(fstat(running->out, &file), 0);
    off_t from = file.st_size > PROGRAM_ROOM - 1 ? file.st_size - (PROGRAM_ROOM - 1) : 0;
    ssize_t got = pread(running->out, said, PROGRAM_ROOM - 1, from);
    said[got > 0 ? got : 0] = '\0';
    return said;
}

static void
await_done(const struct running *worker, int64_t count, int seconds)
{
    int64_t done = 0;
    for (int64_t end = clock_mono() + seconds * US_PER_SECOND; clock_mono() < end; clock_sleep(100000)) {
        done = test_number(fixture.world.admin, "SELECT done FROM redrive.operation WHERE no = 1");
        if (done >= count)
            return;
    }
    fprintf(stderr, "%s\n", last_said(worker));
    fail_msg("%lld of %lld sent after %d s: %s", (long long)done, (long long)count, seconds,
             test_text(fixture.world.admin, "SELECT coalesce(state_note, 'no note') FROM redrive.operation"));
}

static long
size_kib(pid_t pid)
{
    char path[40], line[200];
    long size = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        fail_msg("a part of the program has ended");
    while (file && size == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            size = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return size;
}

static void
hears(const struct running *running, const char *words, const char *who)
{
    for (int64_t end = clock_mono() + TELLS * US_PER_SECOND; clock_mono() < end; clock_sleep(50000))
        if (strstr(last_said(running), words))
            return;
    fprintf(stderr, "%s\n", last_said(running));
    fail_msg("the %s did not say within %d s: %s; what it said stands above", who, TELLS, words);
}

// A fault, and what each part says of it within seconds; NULL: it may say nothing.
struct fault {
    const char *name;
    void (*begin)(void), (*end)(void);
    const char *worker, *wait, *screen;
    bool ends_sessions; // of PostgreSQL
};

static int
fault_seconds(void)
{
    const char *text = getenv("REDRIVE_FAULT_SECONDS");
    int seconds = text ? (int)strtol(text, NULL, 10) : 0;
    return seconds > 0 ? seconds : LASTS;
}

static void
last(const struct fault *fault, struct parts *parts)
{
    const pid_t pids[] = {parts->worker.pid, parts->wait.pid, vt_pid(parts->screen.vt)};
    static const char *const names[] = {"worker", "waiting command", "screen"};
    long before[3];
    int64_t end = clock_mono() + fault_seconds() * US_PER_SECOND;
    if (fault->worker)
        hears(&parts->worker, fault->worker, "worker");
    if (fault->wait)
        hears(&parts->wait, fault->wait, "waiting command");
    if (fault->screen)
        screen_see(&parts->screen, fault->screen);
    for (size_t i = 0; i < 3; i++)
        before[i] = size_kib(pids[i]);
    while (clock_mono() < end)
        (void)vt_run(parts->screen.vt, 200);
    for (size_t i = 0; i < 3; i++) {
        long after = size_kib(pids[i]);
        printf("# figure: %s for %d s: %s %ld KiB before, %ld after\n", fault->name, fault_seconds(),
               names[i], before[i], after);
        if (after - before[i] > GROWTH_KIB)
            fail_msg("the %s grew from %ld to %ld KiB", names[i], before[i], after);
    }
}

static void
parts_end(struct parts *parts)
{
    char said[PROGRAM_ROOM];
    if (program_end(&parts->wait, said) != 0)
        fail_msg("the waiting command: %s", said);
    screen_press(&parts->screen, "r");
    screen_see(&parts->screen, "live");
    screen_close(&parts->screen);
    kill(parts->worker.pid, SIGTERM);
    if (program_end(&parts->worker, said) != 0)
        fail_msg("the worker: %s", said);
}

static void
outlast(const struct fault *fault)
{
    struct parts parts;
    parts_start(&parts);
    await_done(&parts.worker, RATE, 60);
    fault->begin();
    last(fault, &parts);
    fault->end();
    if (fault->ends_sessions)
        admin_comes_back();
    int64_t began = clock_mono();
    await_done(&parts.worker, EVENTS, 120);
    printf("# figure: %s: the rest was sent within %.1f s\n", fault->name,
           (double)(clock_mono() - began) / 1e6);
    parts_end(&parts);
    assert_all_done(&fixture.world, 1, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

static void
postgresql_is_away(void **state)
{
    (void)state;
    outlast(&(struct fault){.name = "PostgreSQL away",
                            .begin = pg_leaves,
                            .end = pg_comes_back,
                            .worker = "PostgreSQL unreachable",
                            .wait = "waiting for PostgreSQL",
                            .screen = "reconnecting",
                            .ends_sessions = true});
}

static void
kafka_is_away(void **state)
{
    (void)state;
    outlast(&(struct fault){.name = "Kafka away",
                            .begin = kafka_leaves,
                            .end = kafka_comes_back,
                            .worker = "msg=\"Kafka ", // failed, or has not answered yet
                            .wait = "operation 1: Kafka"});
}

static void
the_disk_is_full(void **state)
{
    (void)state;
    if (why_no_small_disk) {
        printf("# skip: a full disk: %s\n", why_no_small_disk);
        skip();
    }
    outlast(&(struct fault){.name = "disk full",
                            .begin = disk_fills,
                            .end = disk_is_freed,
                            .worker = "PostgreSQL",
                            .ends_sessions = true});
}

// An administrator's limit for everybody is not one for the program's own statements.
static void
statements_are_cut_short(void **state)
{
    (void)state;
    struct parts parts;
    test_sql(
        fixture.world.admin,
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN "
        "NULL; END $$;"
        "CREATE TRIGGER slow AFTER UPDATE ON public.dlq_events FOR EACH STATEMENT EXECUTE FUNCTION linger()");
    test_sql(fixture.world.admin, "ALTER DATABASE %s SET statement_timeout = '300ms'", fixture.world.db.name);
    parts_start(&parts);
    await_done(&parts.worker, EVENTS, 120);
    parts_end(&parts);
    assert_all_done(&fixture.world, 1, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

// A person in the foreground is told after some twenty seconds, with what to do; a service goes on with it.
static void
the_foreground_gives_up_and_says_how_to_go_on(void **state)
{
    (void)state;
    char said[PROGRAM_ROOM];
    broker_fixture_fail(&fixture, EVENTS);
    struct running foreground = program_start(
        redrive_program(), (const char *[]){"reprocess", "-d", fixture.world.conninfo, "-b", brokers, "--all",
                                            "--yes", "--rate", "60", "--reason", "faults", NULL});
    for (int64_t end = clock_mono() + 60 * US_PER_SECOND; clock_mono() < end; clock_sleep(50000))
        if (test_number(fixture.world.admin, "SELECT count(*) FROM redrive.operation WHERE done > 0"))
            break;
    pg_leaves();
    int64_t began = clock_mono();
    int status = program_end(&foreground, said);
    int64_t took = clock_mono() - began;
    pg_comes_back();
    admin_comes_back();
    if (status != 3 || took > 45 * US_PER_SECOND || !strstr(said, "operation 1 waits for the next worker"))
        fail_msg("status %d after %lld ms: %s", status, (long long)took / 1000, said);

    struct running worker = start_worker();
    expire_leases(&fixture.world);
    await_done(&worker, EVENTS, 120);
    kill(worker.pid, SIGTERM);
    assert_int_equal(program_end(&worker, said), 0);
    assert_all_done(&fixture.world, 1, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

// The worker that a screen starts: it ends when nothing is left to do, and not because Kafka is away for
// longer than a person waits. Meanwhile the operation's row says why nothing is sent.
static void
a_patient_worker_waits_for_kafka(void **state)
{
    (void)state;
    char said[PROGRAM_ROOM];
    broker_fixture_fail(&fixture, EVENTS);
    begin_operation("100000");
    kafka_leaves();
    struct running worker =
        program_start(redrive_program(), (const char *[]){"work", "--once", "--patience", "10m", "-d",
                                                          fixture.world.conninfo, "-b", brokers, NULL});
    clock_sleep(35 * US_PER_SECOND);
    if (waitpid(worker.pid, NULL, WNOHANG) != 0)
        fail_msg("the worker gave up: %s", last_said(&worker));
    assert_non_null(strstr(
        test_text(fixture.world.admin, "SELECT coalesce(state_note, 'no note') FROM redrive.operation"),
        "Kafka"));
    kafka_comes_back();
    if (program_end(&worker, said) != 0)
        fail_msg("%s", said);
    assert_all_done(&fixture.world, 1, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

// --- a slow network ---

enum { FAR_EVENTS = 600, ONE_WAY_MS = 75, LONG_WAY_MS = 500 }; // the long one with REDRIVE_FAULT_SECONDS

static int
free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

// A bad network (tests/tools/proxy): it does what is written to `orders`.
struct proxy {
    pid_t pid;
    int orders;
};

static struct proxy
start_proxy(int port, const char *target)
{
    const char *build = getenv("REDRIVE_TEST_BUILD");
    char program[300], listen[16];
    int ends[2];
    struct proxy proxy = {0};
    snprintf(program, sizeof program, "%s/tests/tools/proxy", build && *build ? build : "build/asan");
    snprintf(listen, sizeof listen, "%d", port);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    proxy.pid = fork();
    assert_true(proxy.pid >= 0);
    if (proxy.pid == 0) {
        (void)dup2(ends[0], STDIN_FILENO);
        (void)execl(program, program, listen, target, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    proxy.orders = ends[1];
    return proxy;
}

static void
end_proxy(const struct proxy *proxy)
{
    close(proxy->orders);
    (void)waitpid(proxy->pid, NULL, 0);
}

// Events of the topic `from`, whose original records are there.
static void
fail_with_originals(const char *from)
{
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 1; i <= FAR_EVENTS; i++) {
        char value[40];
        snprintf(value, sizeof value, "{ \"i\" : %d }", i);
        put_record(producer, from, i % PARTITIONS, "k", value, "t");
    }
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
    broker_fixture_fail(&fixture, FAR_EVENTS);
    test_sql(fixture.world.admin, "UPDATE dlq_events SET kafka_topic = '%s', kafka_offset = (id - 1) / %d",
             from, PARTITIONS);
}

struct exact {
    int count, other;
};

static void
count_exact(void *context, const rd_kafka_message_t *message)
{
    struct exact *exact = context;
    bool is_original = message->len > 4 && memcmp(message->payload, "{ \"i\"", 5) == 0;
    exact->count += is_original;
    exact->other += !is_original;
}

// Each question takes a round trip, and each connection several: slow, but no event is refused for it, and no
// text of PostgreSQL is sent where the original could be read.
static void
the_network_is_slow(void **state)
{
    (void)state;
    char dir[] = "/tmp/redrive-faults-far.XXXXXX", near[60], far[60], from[64], to[64], advertised[100],
         socket_path[200], conninfo[200], host[100], said[PROGRAM_ROOM];
    int kafka_port = free_port(), pg_port = free_port();
    assert_non_null(mkdtemp(dir));
    snprintf(advertised, sizeof advertised, "advertised.listeners=PLAINTEXT://127.0.0.1:%d", kafka_port);
    if (program_run(said, sizeof said,
                    (const char *[]){"tests/lib/kafka.sh", "start", dir, advertised, NULL}))
        fail_msg("%s", said);
    program_value(said, "BROKERS=", near, sizeof near);
    if (program_run(said, sizeof said, (const char *[]){"tests/lib/pg.sh", "env", pg_dir, NULL}))
        fail_msg("%s", said);
    program_value(said, "PGHOST=", host, sizeof host);
    snprintf(socket_path, sizeof socket_path, "%s/.s.PGSQL.5433", host);
    struct proxy proxies[] = {start_proxy(kafka_port, strchr(near, ':') + 1),
                              start_proxy(pg_port, socket_path)};
    snprintf(far, sizeof far, "127.0.0.1:%d", kafka_port);
    snprintf(conninfo, sizeof conninfo, "host=127.0.0.1 port=%d user=postgres dbname=%s", pg_port,
             fixture.world.db.name);
    setenv("REDRIVE_TEST_KAFKA", far, 1);
    make_topic(from, "far", PARTITIONS, NULL, NULL);
    make_topic(to, "back", PARTITIONS, NULL, NULL);
    fail_with_originals(from);
    struct running made = program_start(
        redrive_program(), (const char *[]){"reprocess", "-d", fixture.world.conninfo, "-b", far, "--all",
                                            "--yes", "--detach", "--to", to, "--reason", "faults", NULL});
    if (program_end(&made, said) != 0)
        fail_msg("%s", said);

    int one_way = fault_seconds() > LASTS ? LONG_WAY_MS : ONE_WAY_MS;
    for (size_t i = 0; i < 2; i++)
        dprintf(proxies[i].orders, "delay %d\n", one_way);
    int64_t began = clock_mono();
    struct running worker =
        program_start(redrive_program(), (const char *[]){"work", "-d", conninfo, "-b", far, NULL});
    await_done(&worker, FAR_EVENTS, 900);
    printf("# figure: round trips of %d ms to PostgreSQL and to Kafka: %d events sent within %.1f s\n",
           2 * one_way, FAR_EVENTS, (double)(clock_mono() - began) / 1e6);
    for (size_t i = 0; i < 2; i++)
        dprintf(proxies[i].orders, "open\n");
    kill(worker.pid, SIGTERM);
    if (program_end(&worker, said) != 0)
        fail_msg("the worker: %s", said);
    struct exact exact = {0};
    assert_all_done(&fixture.world, 1, FAR_EVENTS);
    assert_each_once(to, PARTITIONS, 1, FAR_EVENTS);
    (void)read_topic(to, PARTITIONS, "read_committed", count_exact, &exact);
    setenv("REDRIVE_TEST_KAFKA", brokers, 1);
    for (size_t i = 0; i < 2; i++)
        end_proxy(&proxies[i]);
    (void)program_run(said, sizeof said, (const char *[]){"tests/lib/kafka.sh", "remove", dir, NULL});
    assert_int_equal(exact.count, FAR_EVENTS);
    assert_int_equal(exact.other, 0);
}

#define on_servers(test)                                                                                     \
    cmocka_unit_test_prestate_setup_teardown(test, broker_fixture_set_up, tear_down, &fixture)

int
main(void)
{
    const char *only = getenv("REDRIVE_FAULT");
    cmocka_set_test_filter(only && *only ? only : NULL);
    const struct CMUnitTest tests[] = {
        on_servers(postgresql_is_away),
        on_servers(kafka_is_away),
        on_servers(the_disk_is_full),
        on_servers(statements_are_cut_short),
        on_servers(the_network_is_slow),
        on_servers(the_foreground_gives_up_and_says_how_to_go_on),
        on_servers(a_patient_worker_waits_for_kafka),
    };
    return cmocka_run_group_tests_name("faults", tests, start_servers, stop_servers);
}
