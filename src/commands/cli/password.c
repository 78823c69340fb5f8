#include "commands/cli/password.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

// One line without its end; false at the end of input or when interrupted.
static bool
password_read_line(int fd, char *out, size_t room)
{
    size_t len = 0;
    for (;;) {
        char c = 0;
        ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        if (c == '\n')
            break;
        if (len + 1 < room)
            out[len++] = c;
    }
    out[len] = '\0';
    return true;
}

static void
say(int fd, const char *text)
{
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t put = write(fd, text, len);
        if (put < 0 && errno != EINTR)
            return;
        text += put > 0 ? put : 0;
        len -= put > 0 ? (size_t)put : 0;
    }
}

bool
password_ask(const char *question, char *out, size_t room, struct err *err)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, ERR_USAGE,
                       "a password is needed and there is no terminal to ask at; use ~/.pgpass or a "
                       "service file");
    struct termios before;
    bool ok = tcgetattr(fd, &before) == 0;
    struct termios silent = before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    sigset_t interrupts, old; // an interrupt in between would leave the terminal without echo
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTSTP);
    sigprocmask(SIG_BLOCK, &interrupts, &old);
    if (ok)
        ok = tcsetattr(fd, TCSAFLUSH, &silent) == 0;
    say(fd, question);
    ok = ok && password_read_line(fd, out, room);
    say(fd, "\n");
    tcsetattr(fd, TCSAFLUSH, &before);
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(fd);
    return ok || err_set(err, ERR_CANCELLED, "no password was given");
}
