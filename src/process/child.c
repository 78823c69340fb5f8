#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"

enum { KILL_WAIT_US = 1000000, LOOK_US = 2000, MOST_FILES = 65536, LAST_PORTIONS = 8 };

// Both ends of three pipes, none of them 0, 1 or 2, so that the child can put its ends there one by one.
struct pipes {
    int in[2], out[2], err[2];
};

static void
close_ends(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

static void
close_pipes(struct pipes *pipes)
{
    close_ends(pipes->in);
    close_ends(pipes->out);
    close_ends(pipes->err);
}

static bool
open_ends(int ends[2])
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) < 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(raw[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static bool
open_pipes(struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (open_ends(pipes->in) && open_ends(pipes->out) && open_ends(pipes->err))
        return true;
    int why = errno;
    close_pipes(pipes);
    errno = why;
    return false;
}

// --- in the child, between fork and exec: only what is safe there, no allocation and no stdio ---

// A handler of ours, a signal that this program ignores or blocks, would change how the program behaves.
static void
reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
close_others(void)
{
    if (close_range(STDERR_FILENO + 1, ~0U, 0) == 0)
        return;
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t end = files.rlim_cur < MOST_FILES ? files.rlim_cur : MOST_FILES;
    for (int fd = STDERR_FILENO + 1; fd < (int)end; fd++)
        close(fd);
}

// What can be written counts, not what is reserved: Java and node reserve gigabytes that they never use,
// which a limit of addresses (RLIMIT_AS) would refuse.
static void
limit_memory(int64_t memory)
{
    if (memory > 0)
        setrlimit(RLIMIT_DATA, &(struct rlimit){(rlim_t)memory, (rlim_t)memory});
}

static _Noreturn void
become(const struct child_program *program, const struct pipes *pipes, char *const *argv, pid_t parent)
{
    setsid();
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent || dup2(pipes->in[0], STDIN_FILENO) < 0 ||
        dup2(pipes->out[1], STDOUT_FILENO) < 0 || dup2(pipes->err[1], STDERR_FILENO) < 0)
        _exit(127);
    close_others();
    limit_memory(program->memory);
    execv(program->path, argv);
    _exit(127);
}

// --- in redrive ---

static void
make_patient(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool
child_start(struct child *child, const struct child_program *program, struct err *err)
{
    *child = (struct child){.in = -1, .out = -1, .err = -1};
    struct pipes pipes;
    if (!open_pipes(&pipes))
        return err_set(err, ERR_INTERNAL, "%s cannot be started: %s", program->argv[0], strerror(errno));

    pid_t parent = getpid();
    // execv takes its words without const and changes none.
    char *const *argv = (char *const *)(uintptr_t)program->argv;
    pid_t pid = fork();
    if (pid == 0)
        become(program, &pipes, argv, parent);
    if (pid < 0) {
        err_set(err, ERR_INTERNAL, "%s cannot be started: %s", program->argv[0], strerror(errno));
        close_pipes(&pipes);
        return false;
    }
    close(pipes.in[0]);
    close(pipes.out[1]);
    close(pipes.err[1]);
    child->pid = pid;
    child->in = pipes.in[1];
    child->out = pipes.out[0];
    child->err = pipes.err[0];
    make_patient(child->in);
    make_patient(child->out);
    make_patient(child->err);
    return true;
}

// A pipe knows no MSG_NOSIGNAL: the signal is blocked for this thread, and taken back where the write raised
// it.
static ssize_t
write_quietly(int fd, struct bytes b)
{
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t written;
    do
        written = write(fd, b.data, b.len);
    while (written < 0 && errno == EINTR);
    int why = errno;
    if (written < 0 && why == EPIPE && sigismember(&pending, SIGPIPE) == 0)
        sigtimedwait(&broken, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return written;
}

enum child_transfer
child_write(struct child *child, struct bytes b, size_t *count)
{
    *count = 0;
    if (child->in < 0)
        return CHILD_GONE;
    if (b.len == 0)
        return CHILD_DONE;
    ssize_t written = write_quietly(child->in, b);
    if (written < 0)
        return errno == EAGAIN ? CHILD_LATER : CHILD_GONE;
    *count = (size_t)written;
    return CHILD_DONE;
}

size_t
child_unread(const struct child *child)
{
    int unread = 0;
    return child->in >= 0 && ioctl(child->in, FIONREAD, &unread) == 0 && unread > 0 ? (size_t)unread : 0;
}

static enum child_transfer
child_read_from(int *fd, char *into, size_t room, size_t *count)
{
    *count = 0;
    if (*fd < 0)
        return CHILD_GONE;
    ssize_t got;
    do
        got = read(*fd, into, room);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return CHILD_LATER;
    if (got > 0) {
        *count = (size_t)got;
        return CHILD_DONE;
    }
    close(*fd);
    *fd = -1;
    return CHILD_GONE;
}

enum child_transfer
child_read(struct child *child, char *into, size_t room, size_t *count)
{
    return child_read_from(&child->out, into, room, count);
}

// A flood is taken in portions: the caller comes back when there is more.
void
child_listen(struct child *child)
{
    char heard[16384];
    size_t count;
    if (child_read_from(&child->err, heard, sizeof heard, &count) != CHILD_DONE)
        return;
    size_t kept = count < CHILD_SAID ? count : CHILD_SAID;
    size_t left = child->said_len + kept > CHILD_SAID ? CHILD_SAID - kept : child->said_len;
    memmove(child->said, child->said + child->said_len - left, left);
    memcpy(child->said + left, heard + count - kept, kept);
    child->said_len = left + kept;
}

static void
close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void
child_finish(struct child *child)
{
    if (child->pid != 0)
        close_end(&child->in);
}

// The zombie stays, so that its group's number cannot become somebody else's before the group is killed.
static bool
has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ? errno == ECHILD
                                                                            : info.si_pid == pid;
}

static bool
await_end(pid_t pid, int64_t deadline)
{
    bool is_over;
    while (!(is_over = has_ended(pid)) && clock_mono() < deadline)
        clock_sleep(LOOK_US);
    return is_over;
}

void
child_end(struct child *child, int64_t deadline)
{
    if (child->pid == 0)
        return;
    child_finish(child);
    bool is_over = await_end(child->pid, deadline);
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL); // it may not have come to setsid() yet
    // A process that hangs in the kernel is left behind rather than waited for.
    if (await_end(child->pid, clock_mono() + KILL_WAIT_US))
        child->is_known = waitpid(child->pid, &child->status, WNOHANG) == child->pid && is_over;
    for (int i = 0; i < LAST_PORTIONS && child->err >= 0; i++)
        child_listen(child);
    close_end(&child->out);
    close_end(&child->err);
    child->pid = 0;
}

static struct bytes
last_line(const struct child *child)
{
    struct bytes said = bytes_trim((struct bytes){child->said, child->said_len});
    size_t end = bytes_find_last(said, BYTES("\n"));
    return end == SIZE_MAX ? said : bytes_trim(bytes_slice(said, end + 1, said.len));
}

void
child_describe(const struct child *child, struct strbuf *out)
{
    if (!child->is_known)
        strbuf_add_text(out, "was ended");
    else if (WIFSIGNALED(child->status))
        strbuf_printf(out, "was ended by signal %d (%s)", WTERMSIG(child->status),
                      strsignal(WTERMSIG(child->status)));
    else
        strbuf_printf(out, "ended with status %d", WEXITSTATUS(child->status));
    struct bytes line = last_line(child);
    if (line.len > 0) {
        strbuf_add_text(out, ": ");
        text_visible(out, line, false);
    }
}
