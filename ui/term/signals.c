#include "ui/term/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"

// Handlers use nothing else.
static struct {
    int pipe[2];
    volatile sig_atomic_t is_end_asked;
    volatile sig_atomic_t is_guarded;
    char sequence[256];
    size_t len;
    struct termios modes;
} state = {.pipe = {-1, -1}};

static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
#define FATAL_COUNT (sizeof fatal / sizeof *fatal)
static const int told[] = {SIGWINCH, SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT};
#define TOLD_COUNT (sizeof told / sizeof *told)
static struct sigaction fatal_before[FATAL_COUNT];
static struct sigaction told_before[TOLD_COUNT];

static void
give_back(void)
{
    if (!state.is_guarded)
        return;
    state.is_guarded = 0;
    (void)!write(STDOUT_FILENO, state.sequence, state.len);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &state.modes);
}

static void
on_fatal(int number)
{
    give_back();
    for (size_t i = 0; i < FATAL_COUNT; i++)
        if (fatal[i] == number)
            (void)sigaction(number, &fatal_before[i], NULL);
    (void)raise(number);
}

static void
on_failure(const char *sentence)
{
    (void)sentence;
    give_back();
}

static void
on_told(int number)
{
    int saved = errno;
    bool is_end = number == SIGTERM || number == SIGINT;
    if (is_end && state.is_end_asked) { // the second time: the loop did not come round
        give_back();
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    if (is_end)
        state.is_end_asked = 1;
    char byte = (char)number;
    (void)!write(state.pipe[1], &byte, 1);
    errno = saved;
}

bool
signals_open(struct err *err)
{
    if (state.pipe[0] < 0 && pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_set(err, ERR_INTERNAL, "no pipe could be made (%s); raise the limit of open files",
                       strerror(errno));
    state.is_end_asked = 0;

    static char stack[65536]; // a stack that overflowed must also give the terminal back
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    (void)sigaltstack(&alternate, NULL);
    struct sigaction deadly = {.sa_handler = on_fatal, .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};
    sigemptyset(&deadly.sa_mask);
    for (size_t i = 0; i < FATAL_COUNT; i++)
        (void)sigaction(fatal[i], &deadly, &fatal_before[i]);

    struct sigaction action = {.sa_handler = on_told, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < TOLD_COUNT; i++)
        (void)sigaction(told[i], &action, &told_before[i]);
    alloc_on_failure(on_failure);
    return true;
}

void
signals_guard(const char *sequence, size_t len, const struct termios *modes)
{
    state.is_guarded = 0;
    if (!sequence)
        return;
    state.len = len < sizeof state.sequence ? len : sizeof state.sequence;
    memcpy(state.sequence, sequence, state.len);
    state.modes = *modes;
    state.is_guarded = 1;
}

void
signals_close(void)
{
    state.is_guarded = 0;
    alloc_on_failure(NULL);
    for (size_t i = 0; i < FATAL_COUNT; i++)
        (void)sigaction(fatal[i], &fatal_before[i], NULL);
    for (size_t i = 0; i < TOLD_COUNT; i++)
        (void)sigaction(told[i], &told_before[i], NULL);
}

int
signals_fd(void)
{
    return state.pipe[0];
}

int
signals_next(void)
{
    char number;
    return read(state.pipe[0], &number, 1) == 1 ? number : 0;
}

void
signals_stop_group(void)
{
    // Nobody needs to be told of a stop and a continuation that are asked for here.
    struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction stop_before, continue_before;
    (void)sigaction(SIGTSTP, &plain, &stop_before);
    (void)sigaction(SIGCONT, &plain, &continue_before);
    (void)kill(0, SIGTSTP);
    (void)sigaction(SIGTSTP, &stop_before, NULL);
    (void)sigaction(SIGCONT, &continue_before, NULL);
}

// The group of the terminal's keys has the program and this one in it.
static const struct {
    int number;
    void (*handler)(int number);
} while_running[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTSTP, SIG_DFL}};
#define RUNNING_COUNT (sizeof while_running / sizeof *while_running)

static int
await(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 126;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int
signals_run(const char *command, const char *file)
{
    struct sigaction before[RUNNING_COUNT];
    for (size_t i = 0; i < RUNNING_COUNT; i++) {
        struct sigaction action = {.sa_handler = while_running[i].handler};
        (void)sigaction(while_running[i].number, &action, &before[i]);
    }
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < RUNNING_COUNT; i++)
            (void)signal(while_running[i].number, SIG_DFL);
        for (size_t i = 0; i < TOLD_COUNT; i++)
            (void)signal(told[i], SIG_DFL);
        // With a trap the shell outlives a Ctrl-C that the program takes as one of its keys.
        (void)execl("/bin/sh", "sh", "-c", "trap : INT QUIT; eval \"$0\"", command, file, (char *)NULL);
        _exit(126);
    }
    int status = child < 0 ? 126 : await(child);
    for (size_t i = 0; i < RUNNING_COUNT; i++)
        (void)sigaction(while_running[i].number, &before[i], NULL);
    return status;
}
