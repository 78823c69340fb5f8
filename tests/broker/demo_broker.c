#include "tests/broker/demo_broker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/program.h"
#include "tests/store/world.h"

enum { WORDS = 16 };

static struct {
    char brokers[100];
    pid_t pid;
} demo;

static const char *
test_build(void)
{
    const char *build = getenv("REDRIVE_TEST_BUILD");
    return build && *build ? build : "build/asan";
}

void
demo_broker_start(const char *const topics[])
{
    char path[500], said[200];
    union {
        const char *in[WORDS];
        char *out[WORDS];
    } words = {.in = {path}}; // execv changes none of them
    snprintf(path, sizeof path, "%s/tests/demo/broker", test_build());
    for (size_t i = 0; topics[i]; i++) {
        assert_in_range(i, 0, WORDS - 3);
        words.in[i + 1] = topics[i];
    }

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    demo.pid = fork();
    assert_true(demo.pid >= 0);
    if (demo.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(path, words.out);
        perror(path);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    if (got <= 0)
        fail_msg("%s did not start", path);
    said[got] = '\0';
    program_value(said, "BROKERS=", demo.brokers, sizeof demo.brokers);
}

void
demo_broker_stop(void)
{
    kill(demo.pid, SIGKILL);
    waitpid(demo.pid, NULL, 0);
}

const char *
demo_broker(void)
{
    return demo.brokers;
}
