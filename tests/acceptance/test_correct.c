// Payloads that are wrong, mended from a script: the demo's broken orders lie in Kafka, a recipe corrects
// them, they are sent, and the demo's consumer, which fails what is still wrong, takes every one. On Kafka's
// side each is there once, and every byte outside the edit is the original's. And two operators who correct
// the same event at the same moment.
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/broker/kafka_world.h"
#include "tests/store/actors.h"

enum { COMMAS = 200, MISSING = 20, ALL = COMMAS + MISSING, PARTITIONS = 4, WORDS = 20, ROOM = 4000 };

static const char *
built(const char *name)
{
    static char path[500];
    const char *build = getenv("REDRIVE_TEST_BUILD");
    snprintf(path, sizeof path, "%s/%s", build && *build ? build : "build/asan", name);
    return path;
}

static const char *
program(void)
{
    const char *path = getenv("REDRIVE");
    return path && *path ? path : "build/redrive";
}

// --- programs ---

struct running {
    pid_t pid;
    int out; // a file that is gone from its folder
};

static struct running
start(const char *path, const char *const arguments[])
{
    union {
        const char *in[WORDS + 2];
        char *out[WORDS + 2];
    } words = {.in = {path}}; // execv changes none of them
    for (size_t i = 0; arguments[i]; i++) {
        assert_in_range(i, 0, WORDS - 1);
        words.in[i + 1] = arguments[i];
    }
    char name[] = "/tmp/redrive-correct.XXXXXX";
    struct running running = {.out = mkstemp(name)};
    assert_true(running.out >= 0);
    unlink(name);
    fflush(NULL);
    running.pid = fork();
    assert_true(running.pid >= 0);
    if (running.pid == 0) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(running.out, STDOUT_FILENO);
        dup2(running.out, STDERR_FILENO);
        execv(path, words.out);
        _exit(127);
    }
    return running;
}

static void
said_by(const struct running *running, char said[ROOM])
{
    ssize_t got = pread(running->out, said, ROOM - 1, 0);
    said[got > 0 ? got : 0] = '\0';
}

// Its exit status, and what it said.
static int
end_of(struct running *running, char said[ROOM])
{
    int status;
    assert_int_equal(waitpid(running->pid, &status, 0), running->pid);
    said_by(running, said);
    close(running->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
await_words(const struct running *running, const char *words)
{
    char said[ROOM];
    for (int64_t end = clock_mono() + 90 * US_PER_SECOND; clock_mono() < end; clock_sleep(20000)) {
        said_by(running, said);
        if (strstr(said, words))
            return;
    }
    fail_msg("never said: %s; but: %s", words, said);
}

// --- the road ---

struct mending {
    struct world world;
    char topic[64];
    char recipe[64]; // a file
    struct running consumer;
};

static void
run_redrive(struct mending *mending, const char *const arguments[], const char *expected)
{
    char said[ROOM];
    const char *words[WORDS + 1] = {
        arguments[0], "-d", mending->world.conninfo, "-b", test_kafka(), "--reason", "INC-4711", "--json"};
    for (size_t i = 1; arguments[i]; i++)
        words[7 + i] = arguments[i];
    struct running redrive = start(program(), words);
    int status = end_of(&redrive, said);
    if (status != 0 || !strstr(said, expected))
        fail_msg("%s ended with %d and said, instead of %s: %s", arguments[0], status, expected, said);
}

static void
write_recipe(struct mending *mending, const char *text)
{
    FILE *file = fopen(mending->recipe, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
begin_mending(struct mending *mending)
{
    char said[ROOM];
    world_make(&mending->world, 0);
    make_topic(mending->topic, "mending", PARTITIONS, NULL, NULL);
    snprintf(mending->recipe, sizeof mending->recipe, "/tmp/redrive-recipe.%ld", (long)getpid());
    const char *const where[] = {"-d", mending->world.conninfo, "-b", test_kafka(),
                                 "-T", mending->topic,          NULL};
    struct running broken = start(built("tests/demo/broken"), where);
    int status = end_of(&broken, said);
    if (status != 0)
        fail_msg("%s: %d: %s", built("tests/demo/broken"), status, said);
    assert_int_equal(events_in(&mending->world, "PENDING"), ALL);
    mending->consumer = start(built("tests/demo/consumer"), where);
    await_words(&mending->consumer, "ready");
}

static void
end_mending(struct mending *mending)
{
    char said[ROOM];
    kill(mending->consumer.pid, SIGTERM);
    assert_int_equal(end_of(&mending->consumer, said), 0);
    unlink(mending->recipe);
    world_end(&mending->world);
}

// --- bytes ---

struct placed {
    int32_t partition;
    int64_t offset;
    int64_t event; // of redrive's: the row it was made from; 0: an original
    char source[100];
    struct bytes value;
};

struct log {
    struct placed records[2 * ALL + 10];
    size_t count;
    struct arena arena;
};

static void
take_placed(void *context, const rd_kafka_message_t *message)
{
    struct log *log = context;
    assert_in_range(log->count, 0, sizeof log->records / sizeof *log->records - 1);
    struct placed *record = &log->records[log->count++];
    record->partition = message->partition;
    record->offset = message->offset;
    record->event = strtoll(header_text(message, "redrive-event-id"), NULL, 10);
    snprintf(record->source, sizeof record->source, "%s", header_text(message, "redrive-source"));
    record->value = arena_copy(&log->arena, (struct bytes){.data = message->payload, .len = message->len});
}

static struct bytes
original_of(const struct log *log, const char *topic, const struct placed *record)
{
    char source[100];
    for (size_t i = 0; i < log->count; i++) {
        const struct placed *other = &log->records[i];
        snprintf(source, sizeof source, "%s/%d/%lld", topic, (int)other->partition, (long long)other->offset);
        if (strcmp(source, record->source) == 0)
            return other->value;
    }
    fail_msg("no record is %s", record->source);
    return BYTES_ABSENT; // never reached, which only cmocka knows
}

// The length of "17,90" at text, with its quotes; 0: it is something else.
static size_t
comma_number(struct bytes text)
{
    size_t at = 1, digits = 0;
    if (text.len < 6 || text.data[0] != '"')
        return 0;
    for (; at < text.len && isdigit((unsigned char)text.data[at]); at++)
        digits++;
    if (!digits || at + 4 > text.len || text.data[at] != ',' || !isdigit((unsigned char)text.data[at + 1]) ||
        !isdigit((unsigned char)text.data[at + 2]) || text.data[at + 3] != '"')
        return 0;
    return at + 4;
}

// The original with each "17,90" as 17.90, made without any code of the program.
static void
without_commas(struct bytes original, struct strbuf *out)
{
    strbuf_reset(out);
    for (size_t i = 0; i < original.len;) {
        struct bytes rest = bytes_slice(original, i, original.len - i);
        size_t len = comma_number(rest);
        for (size_t k = 1; k + 1 < len; k++)
            strbuf_add_char(out, rest.data[k] == ',' ? '.' : rest.data[k]);
        if (!len)
            strbuf_add_char(out, *rest.data);
        i += len ? len : 1;
    }
}

// The member that was put behind the last one of the address, spaced as its neighbours are.
static void
with_postal_code(struct bytes original, struct strbuf *out)
{
    static const char last[] = "\"city\":\"S\\u00e3o Paulo\"";
    size_t i = 0;
    while (i + sizeof last - 1 <= original.len && memcmp(original.data + i, last, sizeof last - 1) != 0)
        i++;
    assert_true(i + sizeof last - 1 < original.len);
    i += sizeof last - 1;
    strbuf_reset(out);
    strbuf_add(out, bytes_slice(original, 0, i));
    strbuf_add_text(out, ",  \"postal_code\":\"00000-000\"");
    strbuf_add(out, bytes_slice(original, i, original.len - i));
}

static void
assert_bytes_of_each(struct mending *mending, int64_t uncorrected)
{
    static struct log log;
    struct strbuf wanted = {0};
    int times[ALL + 2] = {0};
    read_topic(mending->topic, PARTITIONS, "read_committed", take_placed, &log);
    for (size_t i = 0; i < log.count; i++) {
        const struct placed *record = &log.records[i];
        if (!record->event)
            continue;
        assert_in_range(record->event, 1, ALL + 1);
        times[record->event]++;
        struct bytes original = original_of(&log, mending->topic, record);
        strbuf_reset(&wanted);
        if (record->event == uncorrected)
            strbuf_add(&wanted, original);
        else if (record->event > COMMAS && record->event <= ALL)
            with_postal_code(original, &wanted);
        else
            without_commas(original, &wanted);
        if (!bytes_equal(record->value, strbuf_bytes(&wanted)))
            fail_msg("event %lld came as %.*s instead of %s", (long long)record->event,
                     (int)record->value.len, record->value.data, strbuf_text(&wanted));
        if (record->event != uncorrected)
            assert_false(bytes_equal(record->value, original));
    }
    for (int64_t id = 1; id <= ALL + 1; id++)
        if (times[id] != 1)
            fail_msg("event %lld is there %d times", (long long)id, times[id]);
    strbuf_release(&wanted);
    arena_release(&log.arena);
}

static void
a_script_mends_every_order(void **state)
{
    (void)state;
    enum { UNCORRECTED = 1 };
    struct mending mending = {0};
    begin_mending(&mending);
    PGconn *admin = mending.world.admin;

    // What is still wrong fails again, as another row of the same event.
    run_redrive(&mending, (const char *const[]){"reprocess", "--id", "1", "--yes", NULL}, "\"done\":1");
    await_words(&mending.consumer, "consumed 1, failed again 1");
    assert_int_equal(events_in(&mending.world, "PENDING"), ALL);

    // Looked at, applied, and sent, one after the other.
    write_recipe(&mending, "# amounts with a decimal comma\nto-number $.lines[*].amount\n");
    const char *const commas = "type:OrderPlaced deserialize";
    run_redrive(
        &mending,
        (const char *const[]){"correct", "--filter", commas, "--recipe", mending.recipe, "--dry-run", NULL},
        "\"changed\":200");
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.revision"), 0);
    run_redrive(
        &mending,
        (const char *const[]){"correct", "--filter", commas, "--recipe", mending.recipe, "--yes", NULL},
        "\"changed\":200");
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.record"), COMMAS); // kept for good
    assert_int_equal(test_number(admin, "SELECT count(DISTINCT dlq_id) FROM redrive.revision"), COMMAS);
    run_redrive(&mending, (const char *const[]){"reprocess", "--filter", commas, "--yes", NULL},
                "\"done\":200");

    // The other kind in one step.
    write_recipe(&mending, "default $.address.postal_code \"00000-000\"\n");
    run_redrive(&mending,
                (const char *const[]){"correct", "--filter", "type:OrderPlaced postal_code", "--recipe",
                                      mending.recipe, "--reprocess", "--yes", NULL},
                "\"done\":20");
    await_words(&mending.consumer, "consumed 221, failed again 1");
    assert_int_equal(events_in(&mending.world, "PENDING"), 0);
    assert_int_equal(events_in(&mending.world, "RESOLVED"), ALL + 1);
    assert_bytes_of_each(&mending, UNCORRECTED);
    end_mending(&mending);
}

// --- two operators ---

// Holds what a save waits for, until both of them wait for it: they have read the same event.
static void
two_operators_correct_the_same_event(void **state)
{
    (void)state;
    enum { ROUNDS = 5 };
    char other[80], conninfos[2][800];
    make_login(other, "otto", "redrive_operator");
    snprintf(conninfos[0], sizeof conninfos[0], "%s", conninfo_of(actors.operator_));
    snprintf(conninfos[1], sizeof conninfos[1], "%s", conninfo_of(other));
    for (int round = 1; round <= ROUNDS; round++) {
        char said[2][ROOM], id[20], sentence[200];
        struct running running[2];
        snprintf(id, sizeof id, "%d", round);
        test_sql(actors.world.admin, "BEGIN; SELECT FROM redrive.freeze_turn FOR UPDATE");
        for (int i = 0; i < 2; i++)
            running[i] = start(program(), (const char *const[]){"correct", id, "-d", conninfos[i], "--set",
                                                                i ? "$.by=\"otto\"" : "$.by=\"olga\"", NULL});
        int64_t end = clock_mono() + 60 * US_PER_SECOND;
        while (test_number(actors.world.admin, "SELECT count(*) FROM pg_locks WHERE NOT granted AND "
                                               "locktype IN ('tuple', 'transactionid')") < 2)
            assert_true(clock_mono() < end);
        test_sql(actors.world.admin, "COMMIT");
        int first = end_of(&running[0], said[0]), second = end_of(&running[1], said[1]);
        if (!((first == 0 && second == 1) || (first == 1 && second == 0)))
            fail_msg("%d: %s%d: %s", first, said[0], second, said[1]);
        snprintf(sentence, sizeof sentence, "event %s was corrected meanwhile", id);
        if (!strstr(said[first == 0 ? 1 : 0], sentence))
            fail_msg("%s", said[first == 0 ? 1 : 0]);
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT string_agg(no || ' ' || author || ' ' || convert_from(payload, 'UTF8'), ',') FROM "
                 "redrive.revision WHERE dlq_id = %s",
                 id);
        const char *kept = test_text(actors.world.admin, sql);
        const char *winner = first == 0 ? actors.operator_ : other;
        if (strncmp(kept, "1 ", 2) != 0 || !strstr(kept, winner) ||
            !strstr(kept, first == 0 ? "\"by\": \"olga\"" : "\"by\": \"otto\""))
            fail_msg("%s won and %s is kept", winner, kept);
    }
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.revision"), ROUNDS);
    test_sql(actors.world.admin, "DROP OWNED BY %s; DROP ROLE %s", other, other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_mends_every_order),
        cmocka_unit_test_setup_teardown(two_operators_correct_the_same_event, begin_actors, end_actors),
    };
    return cmocka_run_group_tests_name("correct", tests, NULL, NULL);
}
