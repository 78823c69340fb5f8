// TLS, SASL and ACLs, against a broker that has all three (kafka.sh --secure): who is let in, what is said to
// who is not, and which right is missing.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "broker/marker.h"
#include "broker/probe/probe.h"
#include "tests/broker/work_world.h"
#include "tests/lib/program.h"

#define PASSWORD "right-horse"
#define INSTALL "0b5e55ed-0000-4000-8000-000000000000"

static struct server {
    char dir[100];
    char plain[60], secure[60], misnamed[60], expired[60], tls[160];
    char authority[200], stranger[200]; // files
} server;

static int
begin_server(void **state)
{
    (void)state;
    char text[1000];
    program_own_servers();
    // Before 2.6.1 librdkafka's SCRAM is refused by Kafka 4.
    if (rd_kafka_version() < 0x020601ff)
        setenv("REDRIVE_KAFKA", "3.9.1", 1);
    snprintf(server.dir, sizeof server.dir, "/tmp/redrive-secure.XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    if (program_run(text, sizeof text,
                    (const char *[]){"tests/lib/kafka.sh", "start", server.dir, "--secure", NULL}))
        return -1;
    program_value(text, "BROKERS=", server.plain, sizeof server.plain);
    program_value(text, "SECURE=", server.secure, sizeof server.secure);
    program_value(text, "MISNAMED=", server.misnamed, sizeof server.misnamed);
    program_value(text, "EXPIRED=", server.expired, sizeof server.expired);
    program_value(text, "TLS=", server.tls, sizeof server.tls);
    snprintf(server.authority, sizeof server.authority, "%s/ca.pem", server.tls);
    snprintf(server.stranger, sizeof server.stranger, "%s/stranger.pem", server.tls);
    setenv("REDRIVE_TEST_KAFKA", server.plain, 1); // the test itself may do everything
    return 0;
}

static int
end_server(void **state)
{
    (void)state;
    char text[100];
    return program_run(text, sizeof text, (const char *[]){"tests/lib/kafka.sh", "remove", server.dir, NULL});
}

enum { PROPERTIES = 5 };

// How user app logs in.
static struct broker_settings
login(struct broker_property properties[PROPERTIES], const char *brokers, const char *authority,
      const char *password)
{
    properties[0] = (struct broker_property){"security.protocol", "sasl_ssl"};
    properties[1] = (struct broker_property){"sasl.mechanism", "SCRAM-SHA-512"};
    properties[2] = (struct broker_property){"sasl.username", "app"};
    properties[3] = (struct broker_property){"sasl.password", password};
    properties[4] = (struct broker_property){"ssl.ca.location", authority};
    return (struct broker_settings){
        .brokers = brokers, .properties = properties, .property_count = PROPERTIES};
}

// --- who is let in ---

static void
the_right_password_over_tls_is_let_in(void **state)
{
    (void)state;
    struct broker_property properties[PROPERTIES];
    const struct broker_settings settings = login(properties, server.secure, server.authority, PASSWORD);
    struct broker *broker;
    char id[64];
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(broker_cluster_id(broker, 15000, id, &err));
    broker_close(broker);
}

static void
assert_kept_out(const char *brokers, const char *authority, const char *password, enum err_kind kind,
                const char *sentence)
{
    struct broker_property properties[PROPERTIES];
    const struct broker_settings settings = login(properties, brokers, authority, password);
    struct broker *broker;
    char id[64];
    int64_t start = clock_mono();
    assert_works(broker_open(&broker, &settings, &err));
    struct err err = {0};
    if (broker_cluster_id(broker, 60000, id, &err))
        fail_msg("%s let us in", brokers);
    broker_close(broker);
    if (err.kind != kind || !strstr(err.text, sentence))
        fail_msg("kind %d: %s", (int)err.kind, err.text);
    assert_null(strstr(err.text, password));
    // What waiting does not change is said long before the time is over, and is not tried until the account
    // is locked. Questions are asked for 1, 2, 4, 8, 16 s: on a busy machine the refusal may come in the
    // fourth.
    assert_in_range(clock_mono() - start, 0, 40 * US_PER_SECOND);
}

static void
a_wrong_password_is_reported(void **state)
{
    (void)state;
    assert_kept_out(server.secure, server.authority, "wrong-horse", ERR_DENIED,
                    "check sasl.mechanism, sasl.username and the password");
}

static void
an_unknown_authority_is_reported(void **state)
{
    (void)state;
    assert_kept_out(server.secure, server.stranger, PASSWORD, ERR_UNREACHABLE,
                    "is not believed: no authority that is trusted here signed it; let ssl.ca.location name");
}

static void
a_certificate_of_another_host_is_reported(void **state)
{
    (void)state;
    assert_kept_out(server.misnamed, server.authority, PASSWORD, ERR_UNREACHABLE,
                    "is not believed: it is for another ");
}

static void
an_expired_certificate_is_reported(void **state)
{
    (void)state;
    assert_kept_out(server.expired, server.authority, PASSWORD, ERR_UNREACHABLE,
                    "is not believed: it has expired; its owner renews it");
}

static void
tls_to_a_plain_port_is_reported(void **state)
{
    (void)state;
    assert_kept_out(server.plain, server.authority, PASSWORD, ERR_UNREACHABLE, "check security.protocol");
}

// --- which right is missing ---

// Carries out the command that a finding names, as the administrator.
static void
carry_out(const char *command)
{
    static const char beginning[] = "kafka-acls.sh --bootstrap-server ";
    char text[4000], words[PROBE_REMEDY];
    const char *argv[40] = {"tests/lib/kafka.sh", "acls", server.dir};
    size_t count = 3;
    assert_int_equal(strncmp(command, beginning, strlen(beginning)), 0);
    const char *add = strstr(command, "--add");
    assert_non_null(add);
    snprintf(words, sizeof words, "%s", add);
    for (char *c = words; *(c += strspn(c, " ")) && count < 39;) {
        argv[count++] = c;
        c += strcspn(c, " ");
        if (*c)
            *c++ = '\0';
    }
    if (program_run(text, sizeof text, argv))
        fail_msg("%s: %s", command, text);
}

static struct probe
probe_secure(const char *const *topics, size_t count)
{
    struct broker_property properties[PROPERTIES];
    const struct broker_settings settings = login(properties, server.secure, server.authority, PASSWORD);
    struct broker *broker;
    struct probe probe;
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(probe_run(broker, &settings, INSTALL, &probe, &err));
    if (probe.cluster.promise == PROMISE_EXACTLY_ONCE)
        assert_works(probe_targets(broker, &settings, INSTALL, topics, count, &probe, &err));
    broker_close(broker);
    return probe;
}

// The first finding that something is missing; NULL: nothing is.
static const struct finding *
first_missing(const struct probe *probe)
{
    for (size_t i = 0; i < probe->count; i++)
        if (!probe->findings[i].is_ok)
            return &probe->findings[i];
    return NULL;
}

static size_t
missing_count(const struct probe *probe)
{
    size_t count = 0;
    for (size_t i = 0; i < probe->count; i++)
        count += !probe->findings[i].is_ok;
    return count;
}

static void
ignore_record(void *context, const rd_kafka_message_t *message)
{
    (void)context;
    (void)message;
}

static char open_topic[64], closed_topic[64]; // may be written to by app; may not

static void
make_marker_topic(void)
{
    struct broker *broker;
    const struct broker_settings settings = {.brokers = server.plain};
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(marker_topic_ensure(broker, 10000, &err));
    broker_close(broker);
}

static void
missing_rights_are_named_one_by_one_with_the_command_that_mends_them(void **state)
{
    (void)state;
    make_topic(open_topic, "open", 2, NULL, NULL);
    make_topic(closed_topic, "closed", 2, NULL, NULL);
    make_marker_topic();
    const char *const topics[] = {open_topic, closed_topic};
    static const char *const wanted[] = {
        "Write on transactional ids that begin with redrive. is missing",
        "Read on groups that begin with redrive. is missing",
        "Read on the topic redrive.marker is missing",
        "Write on the topic open",
        "Read on the topic open",
    };
    struct probe probe = probe_secure(topics, 2);
    assert_int_equal(missing_count(&probe),
                     3); // the targets are for later: without transactions nobody can tell
    assert_int_equal(probe.cluster.promise, PROMISE_AT_LEAST_ONCE);
    assert_null(strstr(probe.cluster.words, "exactly once"));
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct finding *finding = first_missing(&probe);
        if (!finding) {
            fail_msg("step %zu: nothing is missing", i);
            return;
        }
        if (strncmp(finding->sentence, wanted[i], strlen(wanted[i])) != 0)
            fail_msg("step %zu: %s", i, finding->sentence);
        carry_out(finding->remedy);
        probe = probe_secure(topics, 2);
    }
    assert_string_equal(probe.cluster.words, "exactly once");
    assert_int_equal(missing_count(&probe), 2);
    for (size_t i = 0; i < probe.count; i++)
        if (!probe.findings[i].is_ok)
            assert_non_null(strstr(probe.findings[i].sentence, closed_topic));
    // Write was tried all those times, and nothing was written.
    assert_int_equal(read_topic(open_topic, 2, "read_uncommitted", ignore_record, NULL), 0);
}

// --- the whole road, by a login that may only work, and with topics that may not be written to ---

// Of three events one goes to each of these topics, so that every chunk holds all three.
enum { EVENTS = 60, OPEN = 0, CLOSED = 1, HIDDEN = 2, FATES = 3 };

static char hidden_topic[64]; // app may not even know that it is there

static void
allow(const char *topic, const char *operation)
{
    char acl[300];
    snprintf(acl, sizeof acl,
             "kafka-acls.sh --bootstrap-server x --add --allow-principal User:app --operation %s --topic %s",
             operation, topic);
    carry_out(acl);
}

// A world with a login that has no more than redrive_worker; conninfo is how it comes in.
static void
make_mere_worker(struct world *world, char *conninfo, size_t room)
{
    world_make(world, 0);
    struct strbuf left = {0};
    assert_works(schema_roles(world->store, true, &left, &err));
    strbuf_release(&left);
    test_sql(world->admin, "CREATE ROLE %s_worker LOGIN IN ROLE redrive_worker", world->db.name);
    snprintf(conninfo, room, "%s user=%s_worker", world->conninfo, world->db.name);
    test_sql(world->admin,
             "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, source_id, "
             "kafka_topic) SELECT 'e' || i, 't', jsonb_build_object('i', i), 'boom', 's' || i,"
             " (ARRAY['%s', '%s', '%s'])[1 + i %% %d] FROM generate_series(1, %d) i",
             open_topic, closed_topic, hidden_topic, FATES, EVENTS);
}

static void
end_mere_worker(struct world *world)
{
    test_sql(world->admin, "DROP OWNED BY %s_worker; DROP ROLE %s_worker", world->db.name, world->db.name);
    world_end(world);
}

static int64_t
reprocess_as_worker(struct world *world, const char *conninfo)
{
    struct broker_property properties[PROPERTIES];
    const struct broker_settings settings = login(properties, server.secure, server.authority, PASSWORD);
    int64_t operation = make_operation(world, world->store, ACTION_REPROCESS, 1, EVENTS);
    assert_int_equal(work_run(world, &(struct work_how){.operation = operation,
                                                        .conninfo = conninfo,
                                                        .brokers = settings.brokers,
                                                        .properties = settings.properties,
                                                        .property_count = settings.property_count}),
                     0);
    return operation;
}

// Every event of that fate ended so in the operation, with these words and no others.
static void
assert_fate(struct world *world, int64_t operation, int fate, const char *state, const char *words)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT count(*) || ' ' || string_agg(DISTINCT state || ': ' || coalesce(detail, ''), ' and ')"
             " FROM redrive.item WHERE operation_no = %lld AND dlq_id %% %d = %d",
             (long long)operation, FATES, fate);
    char expected[300];
    snprintf(expected, sizeof expected, "%d %s: %s", EVENTS / FATES, state, words);
    assert_string_equal(test_text(world->admin, sql), expected);
}

// The topic holds each event of that fate once, and no other.
static void
assert_there(const char *topic, int fate)
{
    struct tally tally = {.times = calloc(EVENTS + 1, 1), .most = EVENTS};
    assert_non_null(tally.times);
    read_topic(topic, 2, "read_committed", tally_record, &tally);
    for (int64_t id = 1; id <= EVENTS; id++)
        if (tally.times[id] != (id % FATES == fate))
            fail_msg("event %lld is %d times in %s", (long long)id, tally.times[id], topic);
    free(tally.times);
}

static void
corrected_payload(void *context, const rd_kafka_message_t *message)
{
    if (strcmp(header_text(message, "redrive-event-id"), "1") == 0)
        snprintf(context, 100, "%.*s", (int)message->len, (const char *)message->payload);
}

static void
closed_topics_block_nobody_and_open_again(void **state)
{
    (void)state;
    struct world world;
    char conninfo[800], words[300], sent[100] = "";
    make_topic(hidden_topic, "hidden", 2, NULL, NULL);
    allow(closed_topic,
          "Describe"); // it can be seen, so the broker alone knows that it may not be written to
    make_mere_worker(&world, conninfo, sizeof conninfo);
    int64_t operation = reprocess_as_worker(&world, conninfo);

    struct operation found = get_operation(&world, operation);
    assert_int_equal(found.state, OPERATION_DONE);
    assert_int_equal(found.done, EVENTS / FATES);
    assert_int_equal(found.refused, 2 * (EVENTS / FATES));
    assert_string_equal(test_text(world.admin, "SELECT words FROM redrive.cluster"), "exactly once");
    assert_fate(&world, operation, OPEN, "done", "");
    static const char denied[] =
        "Kafka does not allow writing to the topic %s: grant Describe and Write on it";
    snprintf(words, sizeof words, denied, closed_topic);
    assert_fate(&world, operation, CLOSED, "refused", words);
    snprintf(words, sizeof words, denied, hidden_topic);
    assert_fate(&world, operation, HIDDEN, "refused", words);
    assert_there(open_topic, OPEN);
    assert_int_equal(read_topic(closed_topic, 2, "read_uncommitted", ignore_record, NULL), 0);
    assert_int_equal(read_topic(hidden_topic, 2, "read_uncommitted", ignore_record, NULL), 0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'"),
                     2 * (EVENTS / FATES));

    // They are pending events like others: one is corrected, and once the rights are there all are sent.
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, payload, reason) VALUES (1, 1, '{\"i\": \"one\"}', "
             "'a word')");
    allow(closed_topic, "Write");
    allow(hidden_topic, "Write");
    operation = reprocess_as_worker(&world, conninfo);
    found = get_operation(&world, operation);
    assert_int_equal(found.state, OPERATION_DONE);
    assert_int_equal(found.done, 2 * (EVENTS / FATES));
    assert_int_equal(found.refused, 0);
    assert_there(open_topic, OPEN);
    assert_there(closed_topic, CLOSED);
    assert_there(hidden_topic, HIDDEN);
    read_topic(closed_topic, 2, "read_committed", corrected_payload, sent);
    assert_string_equal(sent, "{\"i\": \"one\"}");
    end_mere_worker(&world);
}

// --- secrets ---

static void
read_whole(const char *path, char *out, size_t room, size_t *len)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    ssize_t got;
    for (*len = 0; (got = read(fd, out + *len, room - *len)) > 0;)
        *len += (size_t)got;
    close(fd);
}

static void
assert_not_in(const char *path, const char *secret)
{
    static char text[1 << 20];
    size_t len;
    read_whole(path, text, sizeof text, &len);
    if (memmem(text, len, secret, strlen(secret)))
        fail_msg("%s holds the password", path);
}

// The worker of the program under test, as a service, with the password from a file; its output goes to
// `log`.
static pid_t
start_service(const struct world *world, const char *program, const char *password_file, const char *log)
{
    pid_t pid = fork();
    if (pid > 0)
        return pid;
    char ca[240], password[200];
    snprintf(ca, sizeof ca, "ssl.ca.location=%s", server.authority);
    snprintf(password, sizeof password, "sasl.password.file=%s", password_file);
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
    if (chdir("/tmp")) // where a core would go
        _exit(1);
    execl(program, "redrive", "work", "-d", world->conninfo, "-b", server.secure, "-X",
          "security.protocol=sasl_ssl", "-X", "sasl.mechanism=SCRAM-SHA-512", "-X", "sasl.username=app", "-X",
          ca, "-X", password, (char *)NULL);
    _exit(127);
}

// The service at work, logged in to Kafka.
static pid_t
await_service(const struct world *world, const char *program, const char *log)
{
    char password_file[160];
    snprintf(password_file, sizeof password_file, "%s/password", server.dir);
    int fd = open(password_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, PASSWORD "\n", strlen(PASSWORD) + 1), strlen(PASSWORD) + 1);
    close(fd);
    pid_t pid = start_service(world, program, password_file, log);
    for (int i = 0; i < 600; i++) {
        if (test_number(world->admin,
                        "SELECT count(*) FROM redrive.worker WHERE publishes AND note <> 'starting'"))
            return pid;
        clock_sleep(50000);
    }
    fail_msg("the worker did not begin within 30 s");
    return pid;
}

static void
no_secret_is_in_arguments_logs_or_a_core(void **state)
{
    (void)state;
    struct world world;
    char log[160], path[60], absolute[4096];
    if (!getenv("REDRIVE") || !realpath(getenv("REDRIVE"), absolute))
        skip();
    world_make(&world, 0);
    snprintf(log, sizeof log, "%s/work.log", server.dir);
    pid_t pid = await_service(&world, absolute, log);
    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
    assert_not_in(path, PASSWORD);
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    assert_not_in(path, PASSWORD);
    char limits[4000];
    size_t len;
    snprintf(path, sizeof path, "/proc/%ld/limits", (long)pid);
    read_whole(path, limits, sizeof limits - 1, &len);
    limits[len] = '\0';
    assert_non_null(strstr(limits, "Max core file size        0                    0"));

    kill(pid, SIGSEGV); // as a crash would
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_false(WIFSIGNALED(status) && WCOREDUMP(status));
    assert_not_in(log, PASSWORD);
    test_sql(world.admin, "SELECT 1");
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.audit a WHERE a::text LIKE '%" PASSWORD "%'"),
        0);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_password_over_tls_is_let_in),
        cmocka_unit_test(a_wrong_password_is_reported),
        cmocka_unit_test(an_unknown_authority_is_reported),
        cmocka_unit_test(a_certificate_of_another_host_is_reported),
        cmocka_unit_test(an_expired_certificate_is_reported),
        cmocka_unit_test(tls_to_a_plain_port_is_reported),
        cmocka_unit_test(missing_rights_are_named_one_by_one_with_the_command_that_mends_them),
        cmocka_unit_test(closed_topics_block_nobody_and_open_again),
        cmocka_unit_test(no_secret_is_in_arguments_logs_or_a_core),
    };
    return cmocka_run_group_tests_name("secure", tests, begin_server, end_server);
}
