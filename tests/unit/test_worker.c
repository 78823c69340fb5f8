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
#include "publish/worker.h"

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

int
main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--as-worker") == 0)
        return be_the_worker(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paces_in_halves_of_a_second),
        cmocka_unit_test(one_a_second_is_one_a_second),
        cmocka_unit_test(measures_the_last_seconds),
        cmocka_unit_test(a_detached_worker_has_nothing_of_its_parent),
        cmocka_unit_test(a_log_that_cannot_be_written_is_a_sentence),
    };
    return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
