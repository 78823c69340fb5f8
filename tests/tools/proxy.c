// proxy LISTEN TARGET: a bad network between a client and a server, for the crash loop. Each is a port of
// 127.0.0.1 or the path of a unix socket. What it does to connections is said on standard input, a word a
// line; it ends with its input:
//   open         forwards everything at once, as at the beginning
//   cut          closes every connection, and each new one when it comes
//   half         takes and keeps connections, and forwards nothing: neither side is told
//   delay MS     forwards everything, that much later
//   dribble N    forwards N bytes in each direction every ten milliseconds
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 512, HOLD = 64 * 1024, PIECES = 64, TICK_MS = 10 };

enum weather { OPEN, CUT, HALF, DELAY, DRIBBLE };

// One direction of a connection: bytes that were read and not written yet, in pieces that are due at
// different times.
struct stream {
    int from, to;
    bool is_ended;
    size_t begin, end; // of the bytes in hold
    size_t pieces, len[PIECES];
    int64_t due[PIECES];
    int64_t dribbled_at;
    char hold[HOLD];
};

struct link {
    bool is_used;
    struct stream up, down;
};

static struct link links[LINKS];
static enum weather weather = OPEN;
static int amount;

static int64_t
now_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static void
fail(const char *what)
{
    fprintf(stderr, "proxy: %s: %s\n", what, strerror(errno));
    exit(1);
}

static socklen_t
address_of(const char *name, struct sockaddr_storage *address)
{
    *address = (struct sockaddr_storage){0};
    if (name[0] == '/') {
        struct sockaddr_un *local = (struct sockaddr_un *)address;
        local->sun_family = AF_UNIX;
        snprintf(local->sun_path, sizeof local->sun_path, "%s", name);
        return sizeof *local;
    }
    struct sockaddr_in *port = (struct sockaddr_in *)address;
    port->sin_family = AF_INET;
    port->sin_port = htons((uint16_t)strtoul(name, NULL, 10));
    port->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof *port;
}

static int
open_socket(const struct sockaddr_storage *address)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fail("a socket");
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return fd;
}

static int
listen_on(const char *name)
{
    struct sockaddr_storage address;
    socklen_t len = address_of(name, &address);
    int fd = open_socket(&address);
    if (name[0] == '/')
        unlink(name);
    if (bind(fd, (const struct sockaddr *)&address, len) != 0 || listen(fd, 128) != 0)
        fail(name);
    return fd;
}

static void
close_link(struct link *link)
{
    close(link->up.from);
    close(link->up.to);
    link->is_used = false;
}

static void
begin_stream(struct stream *stream, int from, int to)
{
    stream->from = from;
    stream->to = to;
    stream->is_ended = false;
    stream->begin = stream->end = stream->pieces = 0;
    stream->dribbled_at = 0;
    const int yes = 1;
    fcntl(from, F_SETFL, O_NONBLOCK);
    setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void
take_link(int listener, const char *target)
{
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return;
    struct sockaddr_storage address;
    socklen_t len = address_of(target, &address);
    int server = open_socket(&address);
    for (size_t i = 0; i < LINKS && weather != CUT; i++) {
        if (links[i].is_used)
            continue;
        if (connect(server, (const struct sockaddr *)&address, len) != 0)
            break;
        links[i].is_used = true;
        begin_stream(&links[i].up, client, server);
        begin_stream(&links[i].down, server, client);
        return;
    }
    close(client);
    close(server);
}

static bool
may_read(const struct stream *stream)
{
    return weather != HALF && !stream->is_ended && stream->end < HOLD && stream->pieces < PIECES;
}

// False when the connection is over.
static bool
read_some(struct stream *stream)
{
    ssize_t got = read(stream->from, stream->hold + stream->end, HOLD - stream->end);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0) {
        stream->is_ended = true;
        return true;
    }
    stream->end += (size_t)got;
    stream->len[stream->pieces] = (size_t)got;
    stream->due[stream->pieces++] = now_ms() + (weather == DELAY ? amount : 0);
    return true;
}

static void
drop_written(struct stream *stream, size_t len)
{
    stream->begin += len;
    stream->len[0] -= len;
    if (stream->len[0] == 0) {
        stream->pieces--;
        memmove(stream->len, stream->len + 1, stream->pieces * sizeof stream->len[0]);
        memmove(stream->due, stream->due + 1, stream->pieces * sizeof stream->due[0]);
    }
    if (stream->begin == stream->end)
        stream->begin = stream->end = 0;
}

static bool
write_some(struct stream *stream)
{
    int64_t now = now_ms();
    while (weather != HALF && stream->pieces > 0 && stream->due[0] <= now) {
        size_t len = stream->len[0];
        if (weather == DRIBBLE) {
            if (now - stream->dribbled_at < TICK_MS)
                break;
            len = len < (size_t)amount ? len : (size_t)amount;
            stream->dribbled_at = now;
        }
        ssize_t put = send(stream->to, stream->hold + stream->begin, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0)
            return errno == EAGAIN || errno == EINTR;
        drop_written(stream, (size_t)put);
    }
    return !stream->is_ended || stream->pieces > 0;
}

// False at the end of standard input.
static bool
obey(void)
{
    static const char *const words[] = {
        [OPEN] = "open", [CUT] = "cut", [HALF] = "half", [DELAY] = "delay", [DRIBBLE] = "dribble"};
    char line[64];
    if (!fgets(line, sizeof line, stdin))
        return false;
    char *number = line + strcspn(line, " \n");
    amount = (int)strtol(number, NULL, 10);
    *number = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(line, words[i]) == 0)
            weather = (enum weather)i;
    for (size_t i = 0; weather == CUT && i < LINKS; i++)
        if (links[i].is_used)
            close_link(&links[i]);
    return true;
}

static void
serve_link(struct link *link)
{
    struct stream *const both[] = {&link->up, &link->down};
    for (int i = 0; i < 2; i++) {
        if (may_read(both[i]) && !read_some(both[i])) {
            close_link(link);
            return;
        }
        if (!write_some(both[i])) {
            close_link(link);
            return;
        }
    }
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: proxy LISTEN TARGET\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdin, NULL, _IONBF, 0); // poll must see what is there
    int listener = listen_on(argv[1]);
    static struct pollfd polled[2 + 2 * LINKS];
    for (;;) {
        nfds_t count = 2;
        bool is_waiting = false;
        polled[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (size_t i = 0; i < LINKS; i++) {
            struct stream *const both[] = {&links[i].up, &links[i].down};
            for (int j = 0; links[i].is_used && j < 2; j++) {
                is_waiting |= both[j]->pieces > 0;
                if (may_read(both[j]))
                    polled[count++] = (struct pollfd){.fd = both[j]->from, .events = POLLIN};
            }
        }
        if (poll(polled, count, is_waiting ? TICK_MS : 1000) < 0 && errno != EINTR)
            fail("poll");
        if (polled[0].revents && !obey())
            return 0;
        if (polled[1].revents)
            take_link(listener, argv[2]);
        for (size_t i = 0; i < LINKS; i++)
            if (links[i].is_used)
                serve_link(&links[i]);
    }
}
