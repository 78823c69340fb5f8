// Checks: real processes that answer, die, hang, flood and say nonsense. Each answer comes, in order and in
// time, and no process and no file is left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/check.h"
#include "process/check_probe.h"
#include "tests/lib/program.h"

enum { MS = 1000, MB = 1 << 20 };

struct world {
    struct checks *checks;
    struct check_answer answer;
    int files; // open ones before the test
    char folder[40];
    struct strbuf text; // of a file
};

static int
open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static int
set_up(void **state)
{
    static struct world world;
    world = (struct world){.files = open_files(), .folder = "/tmp/redrive-check.XXXXXX"};
    if (!mkdtemp(world.folder))
        return -1;
    setenv("D", world.folder, 1);
    *state = &world;
    return 0;
}

static int
tear_down(void **state)
{
    struct world *world = *state;
    checks_destroy(world->checks);
    strbuf_release(&world->text);
    char path[300];
    DIR *folder = opendir(world->folder);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s", world->folder, entry->d_name);
        unlink(path);
    }
    closedir(folder);
    rmdir(world->folder);
    assert_int_equal(open_files(), world->files);
    return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD; // no zombie
}

static const char *
file_text(struct world *world, const char *name)
{
    char path[300], line[4096];
    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    strbuf_reset(&world->text);
    FILE *file = fopen(path, "r");
    for (size_t got; file && (got = fread(line, 1, sizeof line, file)) > 0;)
        strbuf_add(&world->text, (struct bytes){line, got});
    if (file)
        fclose(file);
    return strbuf_text(&world->text);
}

// With more time than any test needs that is not about time.
static void
begin(struct world *world, const char *rows, size_t processes)
{
    const struct check_limits limits = {
        .time = 20 * US_PER_SECOND, .start = CHECK_START, .memory = 256 * MB, .processes = processes};
    checks_destroy(world->checks);
    struct err err = {0};
    world->checks = checks_create(rows, &limits, &err);
    if (!world->checks)
        fail_msg("%s", err.text);
}

static void
ask(struct world *world, int64_t id, const char *type, const char *payload)
{
    const struct question question = {
        .id = id, .type = bytes_of(type), .topic = BYTES("orders"), .payload = bytes_of(payload)};
    assert_true(checks_ask(world->checks, &question));
}

static void
assert_answer(struct world *world, int64_t id, enum check_verdict verdict, const char *reason)
{
    assert_true(checks_answer(world->checks, &world->answer, 30 * US_PER_SECOND));
    assert_int_equal(world->answer.id, id);
    if (world->answer.verdict != verdict)
        fail_msg("event %d: verdict %d, %s", (int)id, world->answer.verdict, world->answer.reason);
    if (!reason)
        assert_null(world->answer.reason);
    else if (!world->answer.reason || !strstr(world->answer.reason, reason))
        fail_msg("event %d: %s", (int)id, world->answer.reason);
}

// --- what is asked and answered ---

static void
test_answers(void **state)
{
    struct world *world = *state;
    begin(world,
          "type Order* while read -r line; do case $line in *bad*) echo \"'postal_code' is missing \";; "
          "*) echo ok;; esac; done",
          2);
    for (int i = 0; i < 200; i++)
        ask(world, i, "OrderCreated", i % 3 == 0 ? "{\"a\":\"bad\"}" : "{\"a\":1}");
    assert_int_equal(checks_waiting(world->checks), 200);
    for (int i = 0; i < 200; i++)
        assert_answer(world, i, i % 3 == 0 ? CHECK_REFUSED : CHECK_OK,
                      i % 3 == 0 ? "'postal_code' is missing" : NULL);
    assert_false(checks_answer(world->checks, &world->answer, -1));
    assert_null(checks_trouble(world->checks));
}

static void
test_question(void **state)
{
    struct world *world = *state;
    begin(world, "topic o[qr]ders tee \"$D/asked\" | sed -u 's/.*/ok/'", 1);
    const struct event_header headers[] = {
        {BYTES("trace"), BYTES("a\"b\n")}, {BYTES("raw"), BYTES("\xff\x00")}, {BYTES("null"), BYTES_ABSENT}};
    struct question question = {
        .id = 17,
        .type = BYTES("OrderCreated"),
        .topic = BYTES("orders"),
        .key = BYTES("k\xfe"),
        .payload = BYTES(" {\"n\": 12345678901234567890.10,\n \"n\": [\"\\ud800\" , 1e400]}\n"),
        .headers = headers,
        .header_count = 3};
    assert_true(checks_ask(world->checks, &question));
    question = (struct question){.id = -1, .topic = BYTES("orders"), .payload = BYTES("{\"cut")};
    assert_true(checks_ask(world->checks, &question));
    question = (struct question){.id = 2, .topic = BYTES("orders")};
    assert_true(checks_ask(world->checks, &question));
    assert_answer(world, 17, CHECK_OK, NULL);
    assert_answer(world, -1, CHECK_OK, NULL);
    assert_answer(world, 2, CHECK_OK, NULL);
    assert_string_equal(
        file_text(world, "asked"),
        "{\"id\":17,\"type\":\"OrderCreated\",\"topic\":\"orders\",\"key_base64\":\"a/4=\",\"headers\":["
        "{\"name\":\"trace\",\"value\":\"a\\\"b\\n\"},{\"name\":\"raw\",\"value_base64\":\"/wA=\"},"
        "{\"name\":\"null\",\"value\":null}],"
        "\"payload\":{\"n\":12345678901234567890.10,\"n\":[\"\\ud800\",1e400]}}\n"
        "{\"id\":-1,\"type\":null,\"topic\":\"orders\",\"key\":null,\"headers\":[],"
        "\"payload_base64\":\"eyJjdXQ=\"}\n"
        "{\"id\":2,\"type\":null,\"topic\":\"orders\",\"key\":null,\"headers\":[]}\n");
}

static void
test_rows(void **state)
{
    struct world *world = *state;
    begin(world,
          "# comment\n\n  type\tPaid  while read l; do echo paid; done \ntopic orders sed -u 's/.*/topic/'\n"
          "type * sed -u s/.*/any/",
          1);
    ask(world, 1, "Paid", "1");
    ask(world, 2, "PaidLate", "1");
    const struct question other = {
        .id = 3, .type = BYTES("Other"), .topic = BYTES("x"), .payload = BYTES("1")};
    assert_true(checks_ask(world->checks, &other));
    const struct question none = {.id = 4, .topic = BYTES("x"), .payload = BYTES("1")};
    assert_true(checks_ask(world->checks, &none));
    assert_answer(world, 1, CHECK_REFUSED, "paid");
    assert_answer(world, 2, CHECK_REFUSED, "topic");
    assert_answer(world, 3, CHECK_REFUSED, "any");
    assert_answer(world, 4, CHECK_NONE, NULL);
    assert_string_equal(checks_row(world->checks, BYTES("A"), BYTES("orders")),
                        "topic orders sed -u 's/.*/topic/'");
    assert_null(checks_row(world->checks, BYTES_ABSENT, BYTES("x")));

    static const char *const wrong[][2] = {
        {"type x", "checks, line 1: a command must follow"},
        {"\ntype", "checks, line 2: a pattern for it must follow"},
        {"topic a b\n key x y", "checks, line 2: the first word must be type or topic"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {0};
        const struct check_limits limits = {.time = MS};
        assert_null(checks_create(wrong[i][0], &limits, &err));
        assert_non_null(strstr(err.text, wrong[i][1]));
        assert_int_equal(err.kind, ERR_USAGE);
    }
}

struct probed {
    char faults[8][200]; // by row; "" none
    size_t count;
};

static void
note_finding(void *context, const struct check_finding *finding)
{
    struct probed *probed = context;
    assert_int_equal(finding->no, ++probed->count);
    snprintf(probed->faults[probed->count - 1], sizeof probed->faults[0], "%s",
             finding->fault ? finding->fault : "");
}

static void
commands_that_cannot_work_are_named(void **state)
{
    (void)state;
    static const char rows[] = "type A* /there/is/none --strict\n# a comment\n"
                               "type B no-such-program-anywhere\n"
                               "topic c /etc/passwd\n"
                               "type D while read -r l; do echo ok; done\n"
                               "type E X=1 /there/is/none\n" // only a shell can tell
                               "type F cat\n"
                               "topic g sh -c 'echo lost >&2; exit 3'\n"
                               "topic h exec sleep 60";
    static const char *const by_name[] = {"there is no program /there/is/none",
                                          "no program no-such-program-anywhere in PATH",
                                          "/etc/passwd cannot be executed"};
    struct err err = {0};
    struct probed probed = {0};
    assert_true(check_probe(rows, 0, 0, note_finding, &probed, &err));
    assert_int_equal(probed.count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(i < 3 ? strstr(probed.faults[i], by_name[i]) != NULL : !probed.faults[i][0]);

    probed = (struct probed){0};
    assert_true(check_probe(rows, US_PER_SECOND, 0, note_finding, &probed, &err));
    assert_string_equal(probed.faults[3], "");
    assert_non_null(strstr(probed.faults[4], "status 127"));
    assert_string_equal(probed.faults[5], "");
    assert_non_null(strstr(probed.faults[6], "ended with status 3: lost"));
    assert_non_null(strstr(probed.faults[7], "did not end within 1 s"));
    assert_false(check_probe("type x", 0, 0, note_finding, &probed, &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

static void
rows_know_their_types_and_topics(void **state)
{
    (void)state;
    struct check_finding finding = {.pattern = "Order*"};
    assert_true(check_finding_matches(&finding, BYTES("OrderPlaced")));
    assert_false(check_finding_matches(&finding, BYTES("Payment")));
    assert_false(check_finding_matches(&finding, BYTES_ABSENT));
    finding = (struct check_finding){.is_topic = true, .pattern = "payments.?"};
    assert_true(check_finding_matches(&finding, BYTES("payments.1")));
    assert_false(check_finding_matches(&finding, BYTES("payments.10")));
}

static void
test_no_rows(void **state)
{
    struct world *world = *state;
    begin(world, NULL, 4);
    ask(world, 1, "A", "1");
    assert_answer(world, 1, CHECK_NONE, NULL);
}

static void
test_full(void **state)
{
    struct world *world = *state;
    begin(world, "type * sed -u s/.*/ok/", 2);
    const struct question question = {.id = 1, .type = BYTES("A"), .payload = BYTES("{\"a\":1}")};
    size_t asked = 0;
    while (checks_ask(world->checks, &question))
        asked++;
    assert_int_equal(asked, 4096);
    assert_true(checks_answer(world->checks, &world->answer, -1));
    assert_true(checks_ask(world->checks, &question));
    for (size_t i = 0; i < asked; i++) {
        assert_true(checks_answer(world->checks, &world->answer, -1));
        assert_int_equal(world->answer.verdict, CHECK_OK);
    }
}

// More than any pipe holds, for a reader that takes its time.
static void
test_large(void **state)
{
    struct world *world = *state;
    begin(world, "type * while read -r l; do echo \"${#l}\"; done", 1);
    struct strbuf payload = {0};
    strbuf_add_char(&payload, '"');
    for (int i = 0; i < 300000; i++)
        strbuf_add_char(&payload, 'x');
    strbuf_add_char(&payload, '"');
    ask(world, 1, "A", strbuf_text(&payload));
    assert_answer(world, 1, CHECK_REFUSED, "3000");
    strbuf_release(&payload);
}

// Time that the caller spends elsewhere is not the check's.
static void
test_caller_is_away(void **state)
{
    struct world *world = *state;
    const struct check_limits limits = {.time = 500 * MS, .start = CHECK_START, .processes = 1};
    world->checks = checks_create("type * while read -r l; do echo ok; done", &limits, NULL);
    ask(world, 1, "A", "1");
    assert_answer(world, 1, CHECK_OK, NULL);
    struct strbuf payload = {0};
    strbuf_add_char(&payload, '"');
    for (int i = 0; i < 100000; i++)
        strbuf_add_char(&payload, 'x');
    strbuf_add_char(&payload, '"');
    ask(world, 2, "A", strbuf_text(&payload));
    clock_sleep(1000 * MS);
    assert_answer(world, 2, CHECK_OK, NULL);
    strbuf_release(&payload);
}

static void
test_answers_that_are_none(void **state)
{
    static const struct {
        const char *command, *reason;
        enum check_verdict verdict;
    } cases[] = {
        {"read l; echo; cat", "the check answered with an empty line", CHECK_FAILED},
        {"read l; printf 'caf\\351\\n'; cat", "bytes that are not UTF-8", CHECK_FAILED},
        {"read l; printf 'a\\0b\\n'; cat", "bytes that are not UTF-8", CHECK_FAILED},
        {"read l; printf ' ok \\r\\n'; cat", NULL, CHECK_OK},
        {"read l; echo OK; cat", "OK", CHECK_REFUSED},
        {"read l; printf '\\033[31mred\\n'; cat", "red", CHECK_REFUSED},
        {"read l; echo a; sleep 0.01; echo b; cat", "a", CHECK_REFUSED},
        {"read l; printf 'a\\nb\\n'; cat", "given up: it answers more than one line", CHECK_FAILED},
        {"echo hello; sleep 0.1; read l; cat", "given up: it answers before it has read the whole line",
         CHECK_FAILED},
        {"echo ok; exec sleep 10", "given up: it answers before it has read the whole line", CHECK_FAILED},
        {"yes", "given up: it answers ", CHECK_FAILED},
        {"read l; tr '\\0' x </dev/zero", "given up: its answer is longer than 64 kB", CHECK_FAILED},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char row[200];
        snprintf(row, sizeof row, "type * %s", cases[i].command);
        begin(world, row, 1);
        ask(world, (int64_t)i, "A", "{\"a\":1}");
        assert_answer(world, (int64_t)i, cases[i].verdict, cases[i].reason);
    }
}

static void
test_long_reason(void **state)
{
    struct world *world = *state;
    begin(world, "type * while read l; do printf '%0600d\\n' 0; done", 1);
    ask(world, 1, "A", "1");
    assert_answer(world, 1, CHECK_REFUSED, "000");
    assert_int_equal(strlen(world->answer.reason), 500);
    assert_string_equal(world->answer.reason + 497, "…");
}

// The second line is taken for the answer to the next event, or comes while nothing is asked; soon it is
// noticed.
static void
test_out_of_step(void **state)
{
    struct world *world = *state;
    begin(world, "type * while read l; do echo ok; echo ok; done", 1);
    for (int i = 0; i < 100; i++)
        ask(world, i, "A", "1");
    for (int i = 0; i < 100; i++)
        assert_true(checks_answer(world->checks, &world->answer, -1));
    assert_int_equal(world->answer.verdict, CHECK_FAILED);
    assert_non_null(strstr(checks_trouble(world->checks), "the check \"type * while"));
}

static void
test_talks_between_questions(void **state)
{
    struct world *world = *state;
    begin(world, "type * read l; echo ok; sleep 0.05; echo more; touch \"$D/said\"; cat", 1);
    ask(world, 1, "A", "1");
    assert_answer(world, 1, CHECK_OK, NULL);
    char path[300];
    snprintf(path, sizeof path, "%s/said", world->folder);
    for (int i = 0; i < 1000 && access(path, F_OK) != 0; i++)
        clock_sleep(5 * MS);
    ask(world, 2, "A", "1");
    assert_answer(world, 2, CHECK_FAILED, "given up: it says something that it was not asked for");
}

// --- processes that end, hang and flood ---

static void
test_dies_on_one_event(void **state)
{
    struct world *world = *state;
    begin(
        world,
        "type * while read -r l; do case $l in *poison*) echo \"cannot parse it\" >&2; exit 3;; *) echo ok;; "
        "esac; done",
        1);
    for (int i = 0; i < 12; i++)
        ask(world, i, "A", i % 3 == 2 ? "\"poison\"" : "1");
    for (int i = 0; i < 12; i++)
        assert_answer(world, i, i % 3 == 2 ? CHECK_FAILED : CHECK_OK,
                      i % 3 == 2 ? "the check ended with status 3: cannot parse it" : NULL);
    assert_null(checks_trouble(world->checks));
}

static void
test_dies_now_and_then(void **state)
{
    struct world *world = *state;
    begin(world, "type * for i in 1 2 3 4 5 6 7; do read l || exit; echo ok; done; kill -SEGV $$", 2);
    for (int i = 0; i < 50; i++)
        ask(world, i, "A", "1");
    for (int i = 0; i < 50; i++)
        assert_answer(world, i, CHECK_OK, NULL);
}

static void
test_always_dies(void **state)
{
    struct world *world = *state;
    begin(world, "type * echo started >>\"$D/starts\"; echo no license >&2; exit 1", 2);
    for (int i = 0; i < 50; i++)
        ask(world, i, "A", "1");
    for (int i = 0; i < 50; i++)
        assert_answer(
            world, i, CHECK_FAILED,
            "given up: 10 processes in a row gave no answer; the last one ended with status 1: no license");
    // One more may have been started beside the tenth.
    assert_in_range(strlen(file_text(world, "starts")) / strlen("started\n"), 10, 11);
}

static void
test_cannot_start(void **state)
{
    struct world *world = *state;
    begin(world, "type * /nowhere/check --strict", 2);
    for (int i = 0; i < 3; i++)
        ask(world, i, "A", "1");
    for (int i = 0; i < 3; i++)
        assert_answer(world, i, CHECK_FAILED,
                      "given up: ended with status 127: /bin/sh: 1: /nowhere/check: not found");
    ask(world, 3, "A", "1");
    assert_answer(world, 3, CHECK_FAILED, "given up: ended with status 127");
}

// Orphans that nobody has reaped yet do not run.
static bool
is_running(pid_t pid)
{
    char path[40], stat[200] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_there = read(fd, stat, sizeof stat - 1) > 0;
    close(fd);
    return is_there && !strstr(stat, ") Z");
}

// It ignores signals and has children that would go on.
static void
test_hangs(void **state)
{
    struct world *world = *state;
    const struct check_limits limits = {.time = 300 * MS, .start = CHECK_START, .processes = 1};
    world->checks =
        checks_create("type * trap '' TERM INT HUP PIPE; (trap '' TERM; sleep 60) & echo $! >>\"$D/pids\"; "
                      "while read -r l; do case $l in *hang*) sleep 60;; *) echo ok;; esac; done; sleep 60",
                      &limits, NULL);
    int64_t from = clock_mono();
    ask(world, 1, "A", "1");
    ask(world, 2, "A", "\"hang\"");
    ask(world, 3, "A", "1");
    assert_answer(world, 1, CHECK_OK, NULL);
    assert_false(checks_answer(world->checks, &world->answer, 50 * MS));
    assert_answer(world, 2, CHECK_FAILED, "the check gave no answer within 300 ms");
    assert_answer(world, 3, CHECK_OK, NULL);
    assert_true(clock_mono() - from < 10 * US_PER_SECOND);
    from = clock_mono();
    checks_destroy(world->checks);
    world->checks = NULL;
    assert_true(clock_mono() - from < 3 * US_PER_SECOND);

    char *rest;
    pid_t first = (pid_t)strtol(file_text(world, "pids"), &rest, 10), second = (pid_t)strtol(rest, NULL, 10);
    assert_true(first > 1 && second > 1);
    for (int i = 0; i < 400 && (is_running(first) || is_running(second)); i++)
        clock_sleep(5 * MS);
    assert_false(is_running(first) || is_running(second));
}

static void
test_never_answers(void **state)
{
    struct world *world = *state;
    const struct check_limits limits = {.time = 20 * MS, .start = 30 * MS, .processes = 2};
    struct err err = {0};
    world->checks = checks_create("type * exec sleep 30", &limits, &err);
    assert_non_null(world->checks);
    int64_t from = clock_mono();
    for (int i = 0; i < 1000; i++)
        ask(world, i, "A", "1");
    assert_answer(world, 0, CHECK_FAILED,
                  "the check gave no answer within 50 ms, nor any before; does it flush");
    for (int i = 1; i < 1000; i++)
        assert_true(checks_answer(world->checks, &world->answer, -1));
    assert_non_null(strstr(world->answer.reason, "given up: 10 processes in a row gave no answer"));
    assert_true(clock_mono() - from < 10 * US_PER_SECOND);
}

static void
test_floods_standard_error(void **state)
{
    struct world *world = *state;
    begin(world, "type * while read l; do head -c 3000000 /dev/zero | tr '\\0' e >&2; echo ok; done", 1);
    ask(world, 1, "A", "1");
    ask(world, 2, "A", "1");
    assert_answer(world, 1, CHECK_OK, NULL);
    assert_answer(world, 2, CHECK_OK, NULL);
}

// It takes no line, so that the question stays in the pipe.
static void
test_reads_nothing(void **state)
{
    struct world *world = *state;
    struct strbuf payload = {0};
    strbuf_add_char(&payload, '"');
    for (int i = 0; i < 300000; i++)
        strbuf_add_char(&payload, 'x');
    strbuf_add_char(&payload, '"');
    const struct check_limits limits = {.time = 100 * MS, .processes = 1};
    world->checks = checks_create("type * exec <&-; exec sleep 30", &limits, NULL);
    ask(world, 1, "A", strbuf_text(&payload));
    assert_answer(world, 1, CHECK_FAILED, "the check gave no answer within 100 ms");
    strbuf_release(&payload);
}

static void
test_memory(void **state)
{
    struct world *world = *state;
    const struct check_limits limits = {.time = 20 * US_PER_SECOND, .memory = 32 * MB, .processes = 1};
    world->checks = checks_create("type * while read -r l; do case $l in *much*) awk 'BEGIN { s = \"x\"; "
                                  "while (length(s) < 5e7) s = s s }' "
                                  "|| exit 9;; esac; echo ok; done",
                                  &limits, NULL);
    ask(world, 1, "A", "1");
    ask(world, 2, "A", "\"much\"");
    ask(world, 3, "A", "1");
    assert_answer(world, 1, CHECK_OK, NULL);
    assert_answer(world, 2, CHECK_FAILED, "the check ended with status 9: ");
    assert_answer(world, 3, CHECK_OK, NULL);
}

// --- what the process gets ---

static void
test_inherits_nothing(void **state)
{
    struct world *world = *state;
    int fd = open("/dev/null", O_RDONLY); // without O_CLOEXEC
    signal(SIGPIPE, SIG_IGN);
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    begin(world,
          "type * while read l; do echo $(ls -l /proc/$$/fd | grep -c /dev/null) "
          "$(grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status | tr -d '\\n\\t') "
          "$(test -e /dev/tty && : 2>/dev/null </dev/tty && echo terminal); done",
          1);
    ask(world, 1, "A", "1");
    assert_answer(world, 1, CHECK_REFUSED, "0 SigBlk:0000000000000000SigIgn:");
    // Signals 32 and 33 are the C library's own: no program can set them.
    const char *ignored = strstr(world->answer.reason, "SigIgn:") + strlen("SigIgn:");
    assert_int_equal(strtoull(ignored, NULL, 16) & 0x7fffffff, 0);
    assert_null(strstr(world->answer.reason, "terminal"));
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGPIPE, SIG_DFL);
    close(fd);
}

// With SIGPIPE as it is by default, a judge that is gone does not end the caller.
static void
test_no_sigpipe(void **state)
{
    struct world *world = *state;
    begin(world, "type * read l; echo ok; exec <&- sleep 0.05", 1);
    for (int i = 0; i < 5; i++) {
        ask(world, i, "A", "1");
        assert_answer(world, i, CHECK_OK, NULL);
        clock_sleep(20 * MS);
    }
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
}

static void
test_cancelled(void **state)
{
    struct world *world = *state;
    begin(world, "type * while read l; do sleep 60; echo ok; done", 2);
    for (int i = 0; i < 100; i++)
        ask(world, i, "A", "1");
    assert_false(checks_answer(world->checks, &world->answer, 10 * MS));
    int64_t from = clock_mono();
    checks_destroy(world->checks);
    world->checks = NULL;
    assert_true(clock_mono() - from < 3 * US_PER_SECOND);
}

// A process that is well-behaved has time to end by itself.
static void
test_ends_at_the_end(void **state)
{
    struct world *world = *state;
    begin(world, "type * while read l; do echo ok; done; echo ended >\"$D/end\"", 1);
    ask(world, 1, "A", "1");
    assert_answer(world, 1, CHECK_OK, NULL);
    checks_destroy(world->checks);
    world->checks = NULL;
    assert_string_equal(file_text(world, "end"), "ended\n");
}

// Nobody is there to end the processes of a caller that was killed.
static void
test_caller_is_killed(void **state)
{
    struct world *world = *state;
    pid_t caller = fork();
    if (caller == 0) {
        begin(world, "type * echo $$ >\"$D/new\"; mv \"$D/new\" \"$D/pid\"; exec sleep 60", 1);
        ask(world, 1, "A", "1");
        while (file_text(world, "pid")[0] == '\0')
            clock_sleep(5 * MS);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(caller, &status, 0), caller);
    assert_true(WIFSIGNALED(status));
    pid_t judge = (pid_t)strtol(file_text(world, "pid"), NULL, 10);
    assert_true(judge > 1);
    for (int i = 0; i < 400 && is_running(judge); i++)
        clock_sleep(5 * MS);
    assert_false(is_running(judge));
}

// The check of the demo, where Debian's python3-jsonschema is installed.
static void
test_example(void **state)
{
    struct world *world = *state;
    char command[] = "/usr/bin/python3 -c 'import jsonschema' 2>/dev/null";
    begin(world, "type * tests/demo/check_orders tests/demo/order_created.schema.json", 1);
    const char *const shell[] = {"/bin/sh", "-c", command, NULL};
    char out[16];
    if (access("tests/demo/check_orders", X_OK) != 0 || program_run(out, sizeof out, shell) != 0) {
        print_message("python3-jsonschema is not installed\n");
        skip();
    }
    ask(world, 1, "A",
        "{\"orderId\":1,\"customer\":\"C-000001\",\"items\":[{\"sku\":\"SKU-1\",\"quantity\":1,\"amount\":2."
        "5}]}");
    ask(world, 2, "A",
        "{\"orderId\":1,\"customer\":\"C-000001\",\"items\":[{\"sku\":\"SKU-1\",\"quantity\":1,\"amount\":"
        "\"2,5\"}]}");
    ask(world, 3, "A", "not JSON");
    ask(world, 4, "A", "[\"\\ud800\"]");
    assert_answer(world, 1, CHECK_OK, NULL);
    assert_answer(world, 2, CHECK_REFUSED, "$.items[0].amount: '2,5' is not of type 'number'");
    assert_answer(world, 3, CHECK_REFUSED, "the payload is not JSON");
    assert_answer(world, 4, CHECK_REFUSED, "$: ['\\ud800'] is not of type 'object'");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_question, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_caller_is_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answers_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_of_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_talks_between_questions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dies_on_one_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dies_now_and_then, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_always_dies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cannot_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hangs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_never_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_floods_standard_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reads_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inherits_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_sigpipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_caller_is_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_example, set_up, tear_down),
        cmocka_unit_test(commands_that_cannot_work_are_named),
        cmocka_unit_test(rows_know_their_types_and_topics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
