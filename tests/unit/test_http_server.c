// http/server: what it answers, and what it does to clients that mean no good. Client and server share a
// thread: the server runs whenever the client waits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "http/server.h"

static void
answer_accept(void *context, const char *accept, struct http_answer *answer)
{
    int *asked = context;
    (*asked)++;
    answer->type = "text/x-test";
    answer->body = bytes_of(accept ? accept : "nothing");
}

static void
answer_sorry(void *context, const char *accept, struct http_answer *answer)
{
    (void)context;
    (void)accept;
    answer->status = 503;
    answer->body = bytes_of("sorry\n");
}

static const struct http_route routes[] = {{"/page", false, answer_accept}, {"/open", true, answer_sorry}};

struct served {
    struct http_server *server;
    int asked;
};

static void
serve(struct served *served, const char *token)
{
    struct err err = {0};
    *served = (struct served){0};
    served->server = http_server_start(&(struct http_server_settings){.listen = "127.0.0.1:0",
                                                                      .token = token,
                                                                      .routes = routes,
                                                                      .route_count = 2,
                                                                      .context = &served->asked},
                                       &err);
    if (!served->server)
        fail_msg("%s", err.text);
}

static int
dial(const struct served *served)
{
    const char *address = http_server_address(served->server);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(strrchr(address, ':') + 1, NULL, 10))};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void
say(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Everything until the server hangs up; fails after some seconds of the test's own clock.
static const char *
hear(struct served *served, int fd, struct strbuf *out)
{
    char bytes[4096];
    strbuf_reset(out);
    for (int i = 0; i < 400; i++) {
        http_server_run(served->server, 5000);
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got > 0)
            strbuf_add(out, (struct bytes){.data = bytes, .len = (size_t)got});
        else if (got == 0 || errno == ECONNRESET) {
            close(fd);
            return strbuf_text(out);
        }
    }
    fail_msg("the server keeps the connection; it said:\n%s", strbuf_text(out));
    return NULL;
}

static const char *
ask(struct served *served, const char *request, struct strbuf *out)
{
    int fd = dial(served);
    say(fd, request);
    return hear(served, fd, out);
}

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void
test_answers(void **state)
{
    (void)state;
    struct served served;
    struct strbuf out = {0};
    serve(&served, NULL);
    const char *said = ask(&served, "GET /page HTTP/1.1\r\nHost: x\r\nAccept: a/b\r\n\r\n", &out);
    assert_true(begins(said, "HTTP/1.1 200 "));
    assert_non_null(strstr(said, "Content-Type: text/x-test\r\n"));
    assert_non_null(strstr(said, "\r\n\r\na/b"));
    said = ask(&served, "HEAD /page HTTP/1.1\r\nHost: x\r\n\r\n", &out);
    assert_true(begins(said, "HTTP/1.1 200 "));
    assert_non_null(strstr(said, "Content-Length: 7\r\n"));
    assert_null(strstr(said, "nothing"));
    assert_true(begins(ask(&served, "GET /open HTTP/1.0\r\n\r\n", &out), "HTTP/1.1 503 ") ||
                begins(strbuf_text(&out), "HTTP/1.0 503 "));
    assert_true(begins(ask(&served, "GET /else HTTP/1.1\r\nHost: x\r\n\r\n", &out), "HTTP/1.1 404 "));
    said = ask(&served, "POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nabc", &out);
    assert_true(begins(said, "HTTP/1.1 405 "));
    assert_non_null(strstr(said, "Allow: GET, HEAD\r\n"));
    assert_int_equal(served.asked, 2);
    strbuf_release(&out);
    http_server_stop(served.server);
}

static void
test_token(void **state)
{
    (void)state;
    struct served served;
    struct strbuf out = {0};
    serve(&served, "secret");
    static const char *const refused[] = {"",
                                          "Authorization: Bearer\r\n",
                                          "Authorization: Bearer secre\r\n",
                                          "Authorization: Bearer secretsecret\r\n",
                                          "Authorization: Basic secret\r\n",
                                          "Authorization: Bearer Secret\r\n"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char request[200];
        snprintf(request, sizeof request, "GET /page HTTP/1.1\r\nHost: x\r\n%s\r\n", refused[i]);
        const char *said = ask(&served, request, &out);
        assert_true(begins(said, "HTTP/1.1 401 "));
        assert_non_null(strstr(said, "WWW-Authenticate: Bearer\r\n"));
    }
    assert_int_equal(served.asked, 0);
    // Not even which paths there are.
    assert_true(begins(ask(&served, "GET /else HTTP/1.1\r\nHost: x\r\n\r\n", &out), "HTTP/1.1 401 "));
    assert_true(begins(ask(&served, "GET /open HTTP/1.1\r\nHost: x\r\n\r\n", &out), "HTTP/1.1 503 "));
    assert_true(
        begins(ask(&served, "GET /page HTTP/1.1\r\nHost: x\r\nAuthorization: bearer secret\r\n\r\n", &out),
               "HTTP/1.1 200 "));
    strbuf_release(&out);
    http_server_stop(served.server);
}

static void
test_garbage(void **state)
{
    (void)state;
    struct served served;
    struct strbuf out = {0};
    struct strbuf request = {0};
    serve(&served, NULL);
    strbuf_add_text(&request, "GET /");
    for (int i = 0; i < 40000; i++)
        strbuf_add_char(&request, 'a');
    assert_true(begins(ask(&served, strbuf_text(&request), &out), "HTTP/1.1 4"));
    strbuf_reset(&request);
    strbuf_add_text(&request, "GET /page HTTP/1.1\r\nHost: x\r\nA: ");
    for (int i = 0; i < 40000; i++)
        strbuf_add_char(&request, 'a');
    strbuf_add_text(&request, "\r\n\r\n");
    assert_true(begins(ask(&served, strbuf_text(&request), &out), "HTTP/1.1 4"));
    (void)ask(&served, "\x16\x03\x01\x02\x01\x01\xfc\x03\x03\r\n\r\n", &out);
    (void)ask(&served, "GET\r\n\r\n", &out);
    assert_int_equal(served.asked, 0);
    (void)ask(&served, "GET /page HTTP/1.1\r\nHost: x\r\n\r\nGET /page HTTP/1.1\r\nHost: x\r\n\r\n", &out);
    assert_int_equal(served.asked, 1); // a connection has one answer
    strbuf_release(&request);
    strbuf_release(&out);
    http_server_stop(served.server);
}

// A client that sends a byte now and then, and one that asks and does not read.
static void
test_slow_clients(void **state)
{
    (void)state;
    struct served served;
    struct strbuf out = {0};
    serve(&served, NULL);
    clock_hold();
    int slow = dial(&served);
    for (int i = 0; i < 4; i++) {
        say(slow, "G");
        http_server_run(served.server, 1000);
        clock_skip(US_PER_SECOND);
    }
    char byte;
    assert_int_equal(recv(slow, &byte, 1, MSG_DONTWAIT), -1); // not yet
    clock_skip(2 * US_PER_SECOND);
    (void)hear(&served, slow, &out);
    strbuf_release(&out);
    http_server_stop(served.server);
}

// One address takes sixteen connections; when they are gone others are served again.
static void
test_many_connections(void **state)
{
    (void)state;
    enum { MANY = 40 };
    struct served served;
    struct strbuf out = {0};
    int fds[MANY];
    int ended = 0;
    serve(&served, NULL);
    for (int i = 0; i < MANY; i++) {
        fds[i] = dial(&served);
        http_server_run(served.server, 1000);
    }
    for (int i = 0; i < MANY; i++) {
        char byte;
        ssize_t got = recv(fds[i], &byte, 1, MSG_DONTWAIT);
        ended += got == 0 || (got < 0 && errno == ECONNRESET);
    }
    assert_int_equal(ended, MANY - 16);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    for (int i = 0; i < 10; i++)
        http_server_run(served.server, 5000);
    assert_true(begins(ask(&served, "GET /page HTTP/1.1\r\nHost: x\r\n\r\n", &out), "HTTP/1.1 200 "));
    strbuf_release(&out);
    http_server_stop(served.server);
}

static void
test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *listen;
        bool is_local;
    } good[] = {{"127.0.0.1:0", true}, {"localhost:0", true}, {":0", false}, {"0.0.0.0:0", false}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct err err = {0};
        struct http_server *server =
            http_server_start(&(struct http_server_settings){.listen = good[i].listen}, &err);
        if (!server)
            fail_msg("%s: %s", good[i].listen, err.text);
        assert_int_equal(http_server_is_local(server), good[i].is_local);
        http_server_stop(server);
    }
    static const char *const bad[] = {"",           "9464",           "127.0.0.1",
                                      "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536",
                                      "::1:9464",   "no such host:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        assert_null(http_server_start(&(struct http_server_settings){.listen = bad[i]}, &err));
        assert_int_equal(err.kind, ERR_USAGE);
    }
    struct served served;
    struct err err = {0};
    serve(&served, NULL);
    assert_null(http_server_start(
        &(struct http_server_settings){.listen = http_server_address(served.server)}, &err));
    assert_non_null(strstr(err.text, "another program listens there"));
    http_server_stop(served.server);
}

static void
test_broken_certificate(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(http_server_start(
        &(struct http_server_settings){.listen = "127.0.0.1:0", .certificate = "no PEM", .key = "none"},
        &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_slow_clients),
        cmocka_unit_test(test_many_connections),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_broken_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
