// A worker's small parts: how fast it may go, and how it is started so that it outlives a terminal. This
// program is its own worker.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "core/operation.h"
#include "publish/pace.h"
#include "publish/setback.h"
#include "publish/worker_private.h"

static void
paces_in_halves_of_a_second(void **state)
{
    (void)state;
    struct paces paces = {0};
    int64_t wait, now = 50 * US_PER_SECOND;

    assert_int_equal(pace_allow(&paces, 1, RATE_UNLIMITED, 2000, now, &wait), 2000);
    assert_int_equal(pace_allow(&paces, 1, 0, 2000, now, &wait), 0);
    assert_true(wait > 0);
    assert_int_equal(pace_allow(&paces, 1, 10, 2000, now, &wait), 5);
    pace_spend(&paces, 1, 5);
    assert_int_equal(pace_allow(&paces, 1, 10, 2000, now, &wait), 0);
    assert_in_range(wait, 490000, 510000);
    assert_int_equal(pace_allow(&paces, 1, 10, 2000, now + wait, &wait), 5);
    pace_spend(&paces, 1, 5);
    assert_int_equal(pace_allow(&paces, 2, 4, 2000, now, &wait), 2); // another operation has its own
    assert_int_equal(pace_allow(&paces, 1, 10, 2000, now + 60 * US_PER_SECOND, &wait),
                     10); // and nothing is saved up
    assert_int_equal(pace_allow(&paces, 1, 1000000, 2000, now + 61 * US_PER_SECOND, &wait), 2000);
}

static void
one_a_second_is_one_a_second(void **state)
{
    (void)state;
    struct paces paces = {0};
    int64_t wait;
    size_t sent = 0;
    for (int64_t now = US_PER_SECOND; now <= 11 * US_PER_SECOND; now += 10000) {
        size_t count = pace_allow(&paces, 7, 1, 2000, now, &wait);
        pace_spend(&paces, 7, count);
        sent += count;
    }
    assert_in_range(sent, 10, 11);
}

// Others take an operation over after five seconds without a sign, which is as old as the question.
static void
signs_are_not_too_far_apart_on_a_slow_link(void **state)
{
    (void)state;
    for (int64_t trip = 1000; trip <= US_PER_SECOND + US_PER_SECOND / 5; trip += 1000)
        for (int trips = 1; trips <= 3; trips += 2)
            assert_in_range(trips * trip + pace_sign(trips * trip, trips), US_PER_SECOND,
                            5 * US_PER_SECOND - 1);
    assert_int_equal(pace_sign(US_PER_SECOND, 1), 2 * US_PER_SECOND); // a third of the time for signs
}

static void
measures_the_last_seconds(void **state)
{
    (void)state;
    struct meter meter = {0};
    for (int64_t second = 100; second < 110; second++)
        meter_add(&meter, second * US_PER_SECOND, 50);
    assert_in_range((int)meter_rate(&meter, 110 * US_PER_SECOND - 1), 45, 55);
    assert_int_equal((int)meter_rate(&meter, 130 * US_PER_SECOND), 0);
}

static void
what_failed_is_tried_later_and_smaller(void **state)
{
    (void)state;
    struct setbacks setbacks = {0};
    int64_t now = 50 * US_PER_SECOND;
    assert_int_equal(setback_wait(&setbacks, 1, now), 0);
    assert_int_equal(setback_limit(&setbacks, 1, 5000), 5000);

    const int64_t waits[] = {1, 2, 4, 8, 16, 32, 60, 60};
    size_t limit = 5000;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        setback_add(&setbacks, 1, 5000, now, "no room");
        limit /= 2;
        assert_int_equal(setback_wait(&setbacks, 1, now), waits[i] * US_PER_SECOND);
        assert_int_equal(setback_limit(&setbacks, 1, 5000), limit);
        const struct setback *told = setback_tell(&setbacks, now);
        assert_non_null(told);
        assert_string_equal(told->why, "no room");
        assert_int_equal(told->tries, i + 1);
        assert_null(setback_tell(&setbacks, now));
    }
    assert_int_equal(setback_wait(&setbacks, 2, now), 0); // another operation passes it
    assert_int_equal(setback_soonest(&setbacks, now, NULL), 60 * US_PER_SECOND);

    setback_end(&setbacks, 1, 5000);
    assert_int_equal(setback_wait(&setbacks, 1, now), 0);
    assert_int_equal(setback_limit(&setbacks, 1, 5000), limit * 2);
    for (int i = 0; i < 20; i++)
        setback_end(&setbacks, 1, 5000);
    assert_int_equal(setback_limit(&setbacks, 1, 5000), 5000);
    setback_end(&setbacks, 0, 5000); // no operation
}

static void
what_is_empty_waits_and_says_so_when_that_lasts(void **state)
{
    (void)state;
    struct setbacks setbacks = {0};
    const int64_t now = 0;
    for (int i = 0; i < 10; i++) { // it proceeds
        setback_empty(&setbacks, 1, 100 - i, now, "nothing there");
        assert_int_equal(setback_wait(&setbacks, 1, 0), US_PER_SECOND);
        assert_null(setback_tell(&setbacks, now));
    }
    setback_empty(&setbacks, 1, 91, now, "nothing there");
    assert_null(setback_tell(&setbacks, now));
    setback_empty(&setbacks, 1, 91, now, "nothing there");
    assert_int_equal(setback_wait(&setbacks, 1, 0), 4 * US_PER_SECOND);
    assert_non_null(setback_tell(&setbacks, now));
    assert_int_equal(setback_limit(&setbacks, 1, 5000), 5000);
}

static void
many_setbacks_forget_the_one_that_ends_first(void **state)
{
    (void)state;
    struct setbacks setbacks = {0};
    const int64_t now = 0;
    for (int64_t no = 1; no <= SETBACKS; no++)
        setback_pass(&setbacks, no, now, no * US_PER_SECOND, "Kafka is away");
    setback_pass(&setbacks, 99, now, 99 * US_PER_SECOND, "Kafka is away");
    assert_int_equal(setback_wait(&setbacks, 1, 0), 0);
    assert_int_equal(setback_wait(&setbacks, 2, 0), 2 * US_PER_SECOND);
    assert_int_equal(setback_wait(&setbacks, 99, 0), 99 * US_PER_SECOND);
    while (setback_tell(&setbacks, now))
        continue;
    setback_pass(&setbacks, 99, now, 100 * US_PER_SECOND, "Kafka is away"); // no news
    assert_null(setback_tell(&setbacks, now));
}

// The operation's row may not have taken it the first time.
static void
a_reason_is_told_once_more(void **state)
{
    (void)state;
    struct setbacks setbacks = {0};
    int64_t now = 50 * US_PER_SECOND;
    setback_pass(&setbacks, 1, now, now, "the clock is wrong");
    assert_non_null(setback_tell(&setbacks, now));
    assert_null(setback_tell(&setbacks, now + SETBACK_SETTLES - 1));
    assert_non_null(setback_tell(&setbacks, now + SETBACK_SETTLES));
    assert_null(setback_tell(&setbacks, now + 9 * SETBACK_SETTLES));

    setback_pass(&setbacks, 1, now, now, "the clock is wrong"); // tried again: no news
    assert_null(setback_tell(&setbacks, now));
    assert_non_null(setback_tell(&setbacks, now + SETBACK_SETTLES));

    setback_pass(&setbacks, 1, now, now, "the clock is wrong");
    setback_end(&setbacks, 1, 5000);
    assert_null(setback_tell(&setbacks, now + SETBACK_SETTLES));
}

static char folder[] = "/tmp/redrive-test-XXXXXX";

// The detached process writes its session, whether it has a terminal, its arguments, and whether it
// inherited a descriptor.
static int
be_the_worker(char **argv)
{
    char path[200];
    snprintf(path, sizeof path, "%s/seen", argv[2]);
    FILE *seen = fopen(path, "w");
    if (!seen)
        return 1;
    bool has_leaked = fcntl(77, F_GETFD) >= 0;
    int terminal = open("/dev/tty", O_RDWR);
    fprintf(seen, "%d %d %d %s\n", getsid(0) == getpid(), terminal >= 0, has_leaked, argv[3]);
    fclose(seen);
    fprintf(stderr, "said on stderr\n");
    char done[200];
    snprintf(done, sizeof done, "%s/done", argv[2]);
    return rename(path, done) ? 1 : 0;
}

static void
read_file(const char *name, char *text, size_t size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int i = 0; i < 500 && access(path, R_OK); i++)
        clock_sleep(10000);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t got = fread(text, 1, size - 1, file);
    text[got] = '\0';
    fclose(file);
}

static void
a_detached_worker_has_nothing_of_its_parent(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(dup2(STDERR_FILENO, 77), 77);
    const char *const arguments[] = {"--as-worker", folder, "two words", NULL};
    struct err err = {0};
    if (!worker_start_detached(arguments, folder, &err))
        fail_msg("%s", err.text);
    close(77);

    char text[200];
    read_file("done", text, sizeof text);
    assert_string_equal(text, "0 0 0 two words\n"); // no session leader, so it never gets a terminal
    read_file("worker.log", text, sizeof text);
    assert_non_null(strstr(text, "said on stderr"));
    char path[200];
    struct stat stat_of;
    snprintf(path, sizeof path, "%s/worker.log", folder);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
    unlink(path);
    snprintf(path, sizeof path, "%s/done", folder);
    unlink(path);
    rmdir(folder);
}

static void
a_log_that_cannot_be_written_is_a_sentence(void **state)
{
    (void)state;
    const char *const arguments[] = {NULL};
    struct err err = {0};
    assert_false(worker_start_detached(arguments, "/proc/no-such-folder", &err));
    assert_int_equal(err.kind, ERR_DENIED);
    assert_non_null(strstr(err.text, "worker.log"));
}

// Whoever reads an operation's row has to know which server to look at.
static void
a_failure_of_kafka_names_it_first(void **state)
{
    (void)state;
    static const struct {
        struct err failure;
        const char *named, *line;
    } cases[] = {
        {{.kind = ERR_UNREACHABLE, .text = "reading the marker: no answer in time"},
         "Kafka failed: reading the marker: no answer in time",
         "Kafka failed"},
        {{.kind = ERR_UNREACHABLE, .text = "Kafka did not take 3 of 4 records"},
         "Kafka did not take 3 of 4 records",
         "Kafka failed"},
        {{.kind = ERR_INTERNAL, .sqlstate = "P0001", .text = "not this one"},
         "not this one",
         "PostgreSQL refused"},
        {{.kind = ERR_DATA, .text = "this host's clock is 400 s behind PostgreSQL's"},
         "this host's clock is 400 s behind PostgreSQL's",
         "nothing is published"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err named;
        worker_name_failure(&cases[i].failure, &named);
        assert_string_equal(named.text, cases[i].named);
        assert_int_equal(named.kind, cases[i].failure.kind);
        assert_string_equal(worker_failure_line(&cases[i].failure), cases[i].line);
    }
    struct err longest = {.kind = ERR_UNREACHABLE}, named;
    memset(longest.text, 'x', sizeof longest.text - 1);
    worker_name_failure(&longest, &named);
    assert_int_equal(strlen(named.text), sizeof named.text - 1);
}

int
main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--as-worker") == 0)
        return be_the_worker(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_of_kafka_names_it_first),
        cmocka_unit_test(paces_in_halves_of_a_second),
        cmocka_unit_test(one_a_second_is_one_a_second),
        cmocka_unit_test(measures_the_last_seconds),
        cmocka_unit_test(signs_are_not_too_far_apart_on_a_slow_link),
        cmocka_unit_test(what_failed_is_tried_later_and_smaller),
        cmocka_unit_test(what_is_empty_waits_and_says_so_when_that_lasts),
        cmocka_unit_test(many_setbacks_forget_the_one_that_ends_first),
        cmocka_unit_test(a_reason_is_told_once_more),
        cmocka_unit_test(a_detached_worker_has_nothing_of_its_parent),
        cmocka_unit_test(a_log_that_cannot_be_written_is_a_sentence),
    };
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
