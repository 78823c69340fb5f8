#include "settings/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"

enum { LONGEST = 4096, MOST_FILE = 256 * 1024, PATIENCE_MS = 10000, MOST_WORDS = 64 };

static const char *const endings[] = {
    [SECRET_FILE] = ".file", [SECRET_ENVIRONMENT] = ".env", [SECRET_COMMAND] = ".command"};

enum secret_source
secret_source_of(const char *name, size_t *len)
{
    size_t whole = strlen(name);
    for (enum secret_source source = SECRET_FILE; source <= SECRET_COMMAND; source++) {
        size_t ending = strlen(endings[source]);
        *len = whole - ending;
        if (whole > ending && strcmp(name + *len, endings[source]) == 0)
            return source;
    }
    *len = whole;
    return SECRET_NONE;
}

const char *
secret_source_word(enum secret_source source)
{
    return endings[source] + 1;
}

// Reads up to the first line's end, the end, or LONGEST bytes; false when time runs out or reading fails.
static bool
secret_read_line(int fd, int64_t deadline, struct strbuf *out)
{
    for (size_t start = out->len; out->len - start < LONGEST;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int64_t left = (deadline - clock_mono()) / 1000;
        int found = left > 0 ? poll(&ready, 1, (int)left) : 0;
        char c;
        ssize_t got = found > 0 ? read(fd, &c, 1) : -1;
        if (found == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        if (got == 0 || (got == 1 && c == '\n'))
            return true;
        if (got == 1 && c != '\r')
            strbuf_add_char(out, c);
    }
    return true;
}

// systemd lets the user of a service read what LoadCredential= brings by an access list: the file is root's
// and of root's group, and the list's mask stands where a mode has the rights of the group (acl(5)).
static bool
is_credential(const struct stat *status)
{
    return status->st_uid == 0 && status->st_gid == 0 &&
           (status->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO)) == (S_IRUSR | S_IRGRP);
}

static bool
open_file(const char *path, int *fd, struct err *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (*fd < 0)
        return err_set(err, ERR_USAGE, "the file %s with a secret cannot be read: %s", path, strerror(errno));

    struct stat status;
    bool is_private = fstat(*fd, &status) == 0 && S_ISREG(status.st_mode) &&
                      (status.st_uid == 0 || status.st_uid == geteuid()) &&
                      ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0 || is_credential(&status));
    if (is_private)
        return true;
    close(*fd);
    return err_set(
        err, ERR_USAGE,
        "the file %s with a secret is open to others, or not a file of yours or root's: chmod go= it", path);
}

static bool
read_file(const char *path, struct strbuf *out, struct err *err)
{
    int fd;
    if (!open_file(path, &fd, err))
        return false;
    bool ok = secret_read_line(fd, clock_mono() + PATIENCE_MS * 1000LL, out);
    close(fd);
    return ok || err_set(err, ERR_USAGE, "the file %s with a secret cannot be read", path);
}

bool
secret_read_file(const char *path, struct strbuf *out, struct err *err)
{
    int fd;
    if (!open_file(path, &fd, err))
        return false;
    char bytes[LONGEST];
    size_t start = out->len;
    ssize_t got;
    while ((got = read(fd, bytes, sizeof bytes)) > 0 && out->len - start < MOST_FILE)
        strbuf_add(out, (struct bytes){.data = bytes, .len = (size_t)got});
    close(fd);
    explicit_bzero(bytes, sizeof bytes);
    return got == 0 ||
           err_set(err, ERR_USAGE, "the file %s with a secret cannot be read, or is too long", path);
}

static bool
read_variable(const char *name, struct strbuf *out, struct err *err)
{
    const char *value = getenv(name);
    if (value == NULL)
        return err_set(err, ERR_USAGE, "the variable %s, which shall hold a secret, is not set", name);
    strbuf_add_text(out, value);
    return true;
}

// In the child: nothing but what is safe between fork and exec.
static _Noreturn void
become_program(char *const *words, int answer)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(answer, STDOUT_FILENO) >= 0)
        execv(words[0], words);
    _exit(127);
}

// The program's first line is read; then it has the rest of the time to end by itself.
static bool
await_program(pid_t child, int answer, struct strbuf *out, int *status)
{
    int64_t deadline = clock_mono() + PATIENCE_MS * 1000LL;
    bool ok = secret_read_line(answer, deadline, out);
    close(answer);
    *status = 0;
    pid_t ended = 0;
    while (ok && (ended = waitpid(child, status, WNOHANG)) == 0 && clock_mono() < deadline)
        clock_sleep(5000);
    if (ended != child) {
        kill(child, SIGKILL);
        waitpid(child, status, 0);
        return false;
    }
    return true;
}

static bool
run_program(const char *command, char *const *words, struct strbuf *out, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, ERR_INTERNAL, "%s cannot be run: %s", words[0], strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become_program(words, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return err_set(err, ERR_INTERNAL, "%s cannot be run: %s", words[0], strerror(errno));
    }

    int status;
    if (!await_program(child, ends[0], out, &status))
        return err_set(err, ERR_USAGE, "\"%s\" did not say a secret and end within %d s", command,
                       PATIENCE_MS / 1000);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, ERR_USAGE, "\"%s\", which shall say a secret, cannot be run", command);
    return err_set(err, ERR_USAGE, "\"%s\", which shall say a secret, failed with status %d", command,
                   WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static bool
read_program(const char *command, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    char *words[MOST_WORDS + 1] = {0};
    size_t count = 0;
    for (const char *c = command; *(c += strspn(c, " \t")) != '\0' && count < MOST_WORDS;) {
        size_t len = strcspn(c, " \t");
        words[count] = arena_array(&arena, len + 1, 1);
        memcpy(words[count], c, len);
        words[count++][len] = '\0';
        c += len;
    }
    bool ok = count > 0 && words[0][0] == '/'
                  ? run_program(command, words, out, err)
                  : err_set(err, ERR_USAGE,
                            "a command that says a secret begins with its whole path, not \"%s\"", command);
    arena_release(&arena);
    return ok;
}

bool
secret_read(enum secret_source source, const char *place, struct strbuf *out, struct err *err)
{
    size_t before = out->len;
    bool ok = false;
    switch (source) {
    case SECRET_NONE:
        break;
    case SECRET_FILE:
        ok = read_file(place, out, err);
        break;
    case SECRET_ENVIRONMENT:
        ok = read_variable(place, out, err);
        break;
    case SECRET_COMMAND:
        ok = read_program(place, out, err);
        break;
    }
    return ok && (out->len > before || err_set(err, ERR_USAGE, "%s holds no secret: it is empty", place));
}
