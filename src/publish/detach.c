// detach: a worker that outlives the terminal it was started from.
#include "publish/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"

// In the child everything between fork and exec must be safe there: no allocation, no stdio.
struct launch {
    char **argv;
    int log;
    int answer; // takes errno when exec fails, closes by itself when it does not
};

static void
tell(int fd, int code)
{
    ssize_t written;
    do
        written = write(fd, &code, sizeof code);
    while (written < 0 && errno == EINTR);
}

static _Noreturn void
become_worker(const struct launch *launch)
{
    setsid();
    pid_t child = fork(); // not a session leader, so it can never get a terminal again
    if (child != 0)
        _exit(child < 0);

    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    static const int signals[] = {SIGHUP,   SIGINT,  SIGTERM, SIGPIPE, SIGCHLD,
                                  SIGWINCH, SIGTSTP, SIGCONT, SIGQUIT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &standard, NULL);

    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(launch->log, STDOUT_FILENO) < 0 ||
        dup2(launch->log, STDERR_FILENO) < 0) {
        tell(launch->answer, errno);
        _exit(1);
    }
    // The parent's terminal and connections must not stay open here.
    for (int fd = STDERR_FILENO + 1, end = (int)sysconf(_SC_OPEN_MAX); fd < (end > 4096 ? 4096 : end); fd++)
        if (fd != launch->answer)
            close(fd);
    execv("/proc/self/exe", launch->argv);
    tell(launch->answer, errno);
    _exit(1);
}

static char **
make_argv(const char *const *arguments)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    char **argv = alloc_array(size_add(count, 2), sizeof *argv);
    argv[0] = alloc_text("redrive");
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = alloc_text(arguments[i]);
    return argv;
}

static void
free_argv(char **argv)
{
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    free(argv);
}

static int
open_log(const char *state_home, struct err *err)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/worker.log", state_home);
    if (length < 0 || (size_t)length >= sizeof path)
        return err_set(err, ERR_USAGE, "the state folder's name is too long"), -1;
    int log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (log < 0)
        err_set(err, ERR_DENIED, "the worker's log %.300s cannot be written: %s", path, strerror(errno));
    return log;
}

// Waits for the first child (which ends at once) and for what exec says.
static bool
await_start(pid_t child, int answer, struct err *err)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            break; // SIGCHLD is ignored in this process: the answer below is enough

    int code = 0;
    ssize_t got;
    do
        got = read(answer, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof code)
        return err_set(err, ERR_INTERNAL, "a worker could not be started: %s", strerror(code));
    return true;
}

bool
worker_start_detached(const char *const *arguments, const char *state_home, struct err *err)
{
    int answer[2];
    struct launch launch = {.log = open_log(state_home, err)};
    if (launch.log < 0)
        return false;
    if (pipe2(answer, O_CLOEXEC) < 0) {
        close(launch.log);
        return err_set(err, ERR_INTERNAL, "a worker could not be started: %s", strerror(errno));
    }
    launch.argv = make_argv(arguments);
    launch.answer = answer[1];

    pid_t child = fork();
    if (child == 0)
        become_worker(&launch);
    bool is_good =
        child > 0 || err_set(err, ERR_INTERNAL, "a worker could not be started: %s", strerror(errno));
    close(answer[1]);
    close(launch.log);
    if (child > 0)
        is_good = await_start(child, answer[0], err);
    close(answer[0]);
    free_argv(launch.argv);
    return is_good;
}
