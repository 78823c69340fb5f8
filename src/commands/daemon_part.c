#include "commands/daemon_part.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"

enum { NOTICE = 200 };
static const int64_t LOOK_EVERY = US_PER_SECOND / 20;

// A socket of the abstract namespace under a name that the kernel chooses (unix(7), autobind), written to
// `name` as NOTIFY_SOCKET has it. A stranger who finds it could only say that a part is ready.
static int
open_notices(char name[sizeof((struct sockaddr_un *)0)->sun_path + 1])
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t len = sizeof at;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, sizeof at.sun_family) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        close(fd);
        return -1;
    }
    size_t chars = len - offsetof(struct sockaddr_un, sun_path);
    memcpy(name, at.sun_path, chars);
    name[0] = '@';
    name[chars] = '\0';
    return fd;
}

bool
daemon_part_start(struct daemon_part *part, bool *is_part, struct err *err)
{
    char name[sizeof((struct sockaddr_un *)0)->sun_path + 1];
    pid_t first = getpid();
    *is_part = false;
    int notices = open_notices(name);
    pid_t pid = notices < 0 ? -1 : fork();
    if (pid < 0) {
        err_set(err, ERR_UNREACHABLE, "the daemon cannot start %s: %s", part->name, strerror(errno));
        if (notices >= 0)
            close(notices);
        return false;
    }
    *part = (struct daemon_part){.name = part->name, .run = part->run, .pid = pid, .notices = notices};
    if (pid > 0)
        return true;
    // In a group of its own, so that Ctrl-C reaches the first process alone, which ends the parts in order.
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != first)
        (void)kill(getpid(), SIGTERM);
    close(notices);
    (void)setenv("NOTIFY_SOCKET", name, 1);
    *is_part = true;
    return true;
}

static void
take_notices(struct daemon_part *part)
{
    char text[NOTICE];
    ssize_t len;
    while ((len = recv(part->notices, text, sizeof text - 1, 0)) >= 0) {
        text[len] = '\0';
        part->is_ready |= strcmp(text, "READY=1") == 0;
    }
}

bool
daemon_part_look(struct daemon_part *part)
{
    int ended;
    if (!part->pid)
        return false;
    take_notices(part);
    if (waitpid(part->pid, &ended, WNOHANG) != part->pid)
        return true;
    part->pid = 0;
    part->status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    close(part->notices);
    return false;
}

void
daemon_part_stop(struct daemon_part *part)
{
    if (part->pid)
        (void)kill(part->pid, SIGTERM);
    while (daemon_part_look(part))
        clock_sleep(LOOK_EVERY);
}
