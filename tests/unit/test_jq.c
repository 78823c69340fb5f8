// jq in a process of its own: what comes out, what is refused, and that its limits hold. This program is its
// own worker.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
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
#include "process/jq.h"
#include "process/jq_worker.h"

enum { MB = 1 << 20 };

// A sanitized worker that may take no more memory is told so by malloc, as any other is.
const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *
__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *
__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

struct world {
    struct jq_process *process;
    struct strbuf out;
    struct err err;
    bool is_wanted;
    int asked;
};

static bool
is_wanted(void *context)
{
    struct world *world = context;
    world->asked++;
    return world->is_wanted;
}

static void
begin(struct world *world, int64_t time)
{
    const struct jq_limits limits = {
        .time = time, .memory = 64 * MB, .is_wanted = is_wanted, .context = world};
    jq_process_destroy(world->process);
    world->process = jq_process_create(&limits);
}

// With more time than any test needs that is not about time.
static int
set_up(void **state)
{
    static struct world world;
    world = (struct world){.is_wanted = true};
    begin(&world, 60 * US_PER_SECOND);
    *state = &world;
    return 0;
}

static int
tear_down(void **state)
{
    struct world *world = *state;
    jq_process_destroy(world->process);
    strbuf_release(&world->out);
    return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD; // no zombie
}

static bool
run(struct world *world, const char *program, const char *payload)
{
    strbuf_reset(&world->out);
    err_clear(&world->err);
    return jq_process_run(world->process, program, bytes_of(payload), &world->out, &world->err);
}

static void
assert_gives(struct world *world, const char *program, const char *payload, const char *result)
{
    if (!run(world, program, payload))
        fail_msg("%s on %s: %s", program, payload, world->err.text);
    assert_string_equal(strbuf_text(&world->out), result);
}

static void
assert_fails(struct world *world, const char *program, const char *payload, const char *sentence)
{
    if (run(world, program, payload))
        fail_msg("%s on %s gave %s", program, payload, strbuf_text(&world->out));
    if (!strstr(world->err.text, sentence))
        fail_msg("%s on %s: %s", program, payload, world->err.text);
    assert_int_equal(world->out.len, 0);
}

static void
test_order_is_kept(void **state)
{
    struct world *world = *state;
    assert_gives(world, ".", " {\"b\": 1, \"a\": [ 2, {\"z\":0,\"y\":0} ], \"c\": null} ",
                 "{\"b\":1,\"a\":[2,{\"z\":0,\"y\":0}],\"c\":null}");
    assert_gives(world, ".b = 2", "{\"c\":0,\"b\":1,\"a\":3}", "{\"c\":0,\"b\":2,\"a\":3}");
    assert_gives(world, ".aa = 2", "{\"c\":0,\"b\":1}", "{\"c\":0,\"b\":1,\"aa\":2}");
    assert_gives(world, "del(.b) | .b = 9", "{\"c\":0,\"b\":1,\"a\":3}", "{\"c\":0,\"a\":3,\"b\":9}");
    assert_gives(world, ".x |= with_entries(.value += 1)", "{\"x\":{\"q\":1,\"p\":2}}",
                 "{\"x\":{\"q\":2,\"p\":3}}");
    assert_gives(world, ". + {b: 7, a: 8}", "{\"c\":0,\"b\":1}", "{\"c\":0,\"b\":7,\"a\":8}");
    assert_gives(world, ".", "{\"b\":1,\"a\":2,\"b\":3}", "{\"b\":3,\"a\":2}");
    // An object that has grown past several tables.
    struct strbuf large = {0};
    for (int i = 0; i < 3000; i++)
        strbuf_printf(&large, "%s\"k%d\":%d", i ? "," : "{", i * 7919 % 3001, i);
    strbuf_add_text(&large, "}");
    assert_gives(world, ".", strbuf_text(&large), strbuf_text(&large));
    strbuf_release(&large);
}

static void
test_values(void **state)
{
    struct world *world = *state;
    assert_gives(world, ".lines[].amount |= tonumber",
                 "{\"lines\":[{\"amount\":\"5.5\"},{\"amount\":\"1\"}]}",
                 "{\"lines\":[{\"amount\":5.5},{\"amount\":1}]}");
    assert_gives(world, ".", "\"\\u0000\\ud83d\\ude00é\\/\"", "\"\\u0000😀é/\"");
    assert_gives(world, ".", "null", "null");
    assert_gives(world, "infinite", "null", "1.7976931348623157e+308");
    assert_gives(world, "nan", "0", "null");
    assert_gives(world, "# a comment\n.a", "{\"a\":true}", "true");
}

static void
test_failures(void **state)
{
    static const struct {
        const char *program, *payload, *sentence;
    } cases[] = {
        {"empty", "1", "jq: it gave 0 results"},
        {".[]", "[]", "jq: it gave 0 results"},
        {".[]", "[1,2]", "jq: it gave more than one result"},
        {".a", "[1]", "jq: Cannot index array with"},
        {"error(\"no \" + .why)", "{\"why\":\"stock\"}", "jq: no stock"},
        {"error({a: 1})", "1", "jq: {\"a\":1}"},
        {".[] | if . == 2 then error(\"late\") else . end", "[1,2]", "jq: late"},
        {"halt", "1", "jq: it halted"},
        {"\"x\\u001b[31m\" | error", "1", "jq: x\\e[31m"},
        {".", "{\"a\":", "jq takes only JSON"},
        {".", "nan", "jq takes only JSON"},
        {".", "1 2", "jq takes only JSON"},
        {".", "", "jq takes only JSON"},
        {".", "\"\xff\"", "jq takes only JSON"},
        {"reduce range(600) as $i (0; [.])", "0", "the result of jq cannot be sent"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_fails(world, cases[i].program, cases[i].payload, cases[i].sentence);
        assert_int_equal(world->err.kind, ERR_DATA);
    }
    assert_gives(world, ".", "[1]", "[1]");
}

static void
test_no_program(void **state)
{
    static const struct {
        const char *program, *sentence;
    } cases[] = {
        {".a |", "the jq program is wrong: syntax error, unexpected"},
        {"foo(1)", "the jq program is wrong: foo/1 is not defined at <top-level>, line 1"},
        {"{", "the jq program is wrong: syntax error"},
        {"$x", "the jq program is wrong: "},
        {"\xff", "the jq program is not UTF-8"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_clear(&world->err);
        assert_false(jq_process_check(world->process, cases[i].program, &world->err));
        assert_int_equal(world->err.kind, ERR_USAGE);
        if (!strstr(world->err.text, cases[i].sentence))
            fail_msg("%s: %s", cases[i].program, world->err.text);
        assert_null(strchr(world->err.text, '\n'));
        assert_false(run(world, cases[i].program, "1"));
        assert_int_equal(world->err.kind, ERR_USAGE);
    }
    struct strbuf large = {0};
    strbuf_add_text(&large, ".");
    for (int i = 1; i < JQ_PROGRAM_BYTES; i++)
        strbuf_add_text(&large, " ");
    err_clear(&world->err);
    if (!jq_process_check(world->process, strbuf_text(&large), &world->err))
        fail_msg("%s", world->err.text);
    strbuf_add_text(&large, " ");
    assert_false(jq_process_check(world->process, strbuf_text(&large), &world->err));
    assert_non_null(strstr(world->err.text, "longer than 64 kB"));
    strbuf_release(&large);
}

static void
test_many_programs(void **state)
{
    struct world *world = *state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < JQ_PROGRAMS + 3; i++) {
            char program[16], result[16];
            snprintf(program, sizeof program, ". + %d", i);
            snprintf(result, sizeof result, "%d", 100 + i);
            assert_gives(world, program, "100", result);
        }
}

static void
test_time(void **state)
{
    struct world *world = *state;
    begin(world, US_PER_SECOND);
    assert_gives(world, ".", "1", "1");
    int64_t from = clock_mono();
    assert_fails(world, "def f: f; f", "1", "jq has no result within 1000 ms");
    int64_t took = clock_mono() - from;
    assert_true(took >= US_PER_SECOND && took < 8 * US_PER_SECOND);
    assert_gives(world, ".", "2", "2");
}

static void
test_memory(void **state)
{
    struct world *world = *state;
    assert_gives(world, ".", "1", "1");
    assert_fails(world, "[range(1e9)]", "1", "jq needs more than 64 MB of memory");
    assert_gives(world, "[range(1000)] | length", "1", "1000");
    assert_fails(world, "\"x\" | until(false; . + .)", "1", "jq needs more than 64 MB of memory");
    assert_gives(world, ".", "2", "2");
}

static void
test_killed(void **state)
{
    struct world *world = *state;
    assert_gives(world, ".", "1", "1");
    char path[64], list[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    assert_non_null(children);
    assert_non_null(fgets(list, sizeof list, children));
    fclose(children);
    pid_t worker = (pid_t)strtol(list, NULL, 10);
    assert_true(worker > 0);
    kill(worker, SIGKILL);
    // It had served before, so a fresh one decides.
    assert_gives(world, ". + 1", "2", "3");
}

static void
test_given_up(void **state)
{
    struct world *world = *state;
    begin(world, 250000);
    assert_gives(world, ".", "1", "1");
    for (int i = 0; i < 10; i++)
        assert_fails(world, "def f: f; f", "1", "jq has no result within 250 ms");
    int64_t from = clock_mono();
    assert_fails(world, ".", "1", "jq was given up");
    assert_true(clock_mono() - from < US_PER_SECOND / 4);
    err_clear(&world->err);
    assert_true(jq_process_check(world->process, ".", &world->err));
    assert_gives(world, ".", "1", "1");
}

static void
test_cancelled(void **state)
{
    struct world *world = *state;
    assert_gives(world, ".", "1", "1");
    world->is_wanted = false;
    int64_t from = clock_mono();
    assert_false(run(world, "def f: f; f", "1"));
    assert_int_equal(world->err.kind, ERR_CANCELLED);
    assert_true(clock_mono() - from < 10 * US_PER_SECOND);
    world->is_wanted = true;
    assert_gives(world, ".", "1", "1");
}

// Environment, files and ~/.jq stay out of reach.
static void
test_shut_in(void **state)
{
    struct world *world = *state;
    char folder[] = "/tmp/redrive-jq.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/.jq", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("def secret: \"from the file\";", file);
    fclose(file);
    snprintf(path, sizeof path, "%s/data.json", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"password\": \"hunter2\"}", file);
    fclose(file);
    setenv("HOME", folder, 1);
    setenv("PGPASSWORD", "hunter2", 1);

    assert_gives(world, "[env, $ENV]", "1", "[{},{}]");
    assert_false(run(world, "secret", "1"));
    assert_non_null(strstr(world->err.text, "secret/0 is not defined"));
    char program[160];
    snprintf(program, sizeof program, "import \"data\" as $d {search: \"%s\"}; $d", folder);
    assert_false(run(world, program, "1"));
    assert_null(strstr(world->err.text, "hunter2"));
    assert_false(run(world, "input", "1"));
    assert_gives(world, "debug | stderr | input_filename", "1", "null");

    unlink(path);
    snprintf(path, sizeof path, "%s/.jq", folder);
    unlink(path);
    rmdir(folder);
    unsetenv("PGPASSWORD");
}

static void
test_large(void **state)
{
    struct world *world = *state;
    struct strbuf large = {0};
    strbuf_add_text(&large, "[\"");
    for (int i = 0; i < 2 * MB; i++)
        strbuf_add_char(&large, (char)('a' + i % 26));
    strbuf_add_text(&large, "\",1]");
    assert_gives(world, ".[1] = 1", strbuf_text(&large), strbuf_text(&large));
    strbuf_release(&large);
}

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

static void
test_no_file_is_left(void **state)
{
    struct world *world = *state;
    int before = open_files();
    assert_gives(world, ".", "1", "1");
    assert_int_equal(open_files(), before + 3);
    assert_false(run(world, "def f: 1 + f; f", "1"));
    assert_gives(world, ".", "1", "1");
    jq_process_destroy(world->process);
    world->process = NULL;
    assert_int_equal(open_files(), before);
}

// oniguruma, which comes with libjq, has a regcomp of its own: librdkafka must not get that one.
static void
test_regular_expressions_of_libc(void **state)
{
    (void)state;
    Dl_info info;
    void *found = dlsym(RTLD_DEFAULT, "regcomp");
    assert_non_null(found);
    assert_int_not_equal(dladdr(found, &info), 0);
    assert_null(strstr(info.dli_fname, "onig"));
}

int
main(int argc, char **argv)
{
    if (jq_worker_is_meant(argc, argv))
        return jq_worker_run(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_programs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shut_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_file_is_left, set_up, tear_down),
        cmocka_unit_test(test_regular_expressions_of_libc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
