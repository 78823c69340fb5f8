#include "tests/acceptance/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/store/world.h"

const char *
redrive_program(void)
{
    const char *path = getenv("REDRIVE");
    return path && *path ? path : "build/redrive";
}

const char *
built_program(const char *name)
{
    static char path[500];
    const char *build = getenv("REDRIVE_TEST_BUILD");
    snprintf(path, sizeof path, "%s/%s", build && *build ? build : "build/asan", name);
    return path;
}

struct running
program_start(const char *path, const char *const arguments[])
{
    union {
        const char *in[PROGRAM_WORDS + 2];
        char *out[PROGRAM_WORDS + 2];
    } words = {.in = {path}}; // execv changes none of them
    for (size_t i = 0; arguments[i]; i++) {
        assert_in_range(i, 0, PROGRAM_WORDS - 1);
        words.in[i + 1] = arguments[i];
    }
    char name[] = "/tmp/redrive-program.XXXXXX";
    struct running running = {.out = mkstemp(name)};
    assert_true(running.out >= 0);
    unlink(name);
    fflush(NULL);
    running.pid = fork();
    assert_true(running.pid >= 0);
    if (running.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // a test that failed has left it
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
said_by(const struct running *running, char said[PROGRAM_ROOM])
{
    ssize_t got = pread(running->out, said, PROGRAM_ROOM - 1, 0);
    said[got > 0 ? got : 0] = '\0';
}

int
program_end(struct running *running, char said[PROGRAM_ROOM])
{
    int status;
    assert_int_equal(waitpid(running->pid, &status, 0), running->pid);
    said_by(running, said);
    close(running->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void
program_await(const struct running *running, const char *words)
{
    char said[PROGRAM_ROOM];
    for (int64_t end = clock_mono() + 90 * US_PER_SECOND; clock_mono() < end; clock_sleep(20000)) {
        said_by(running, said);
        if (strstr(said, words))
            return;
    }
    fail_msg("never said: %s; but: %s", words, said);
}
