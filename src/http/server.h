// http server: answers GET and HEAD of a few paths. Home of libmicrohttpd.
//
// It has no thread: the owner calls http_server_run, and answers are made within that call. So an answer may
// read what the owner holds, without a lock.
//
// A client can take only so much. At most 64 connections, 16 of one address; a connection ends after its
// first answer, and at the latest five seconds after it began, whatever it sends or does not read; its
// request line and headers fit into 16 kB; a body is not read. Everything beyond is refused, or waits in the
// kernel.
#ifndef REDRIVE_HTTP_SERVER_H
#define REDRIVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"

struct http_answer {
    int status;
    const char *type;  // Content-Type; a literal
    struct bytes body; // copied when the function returns
};
// accept: what the client asked for in Accept, NULL: nothing.
typedef void http_answer_fn(void *context, const char *accept, struct http_answer *answer);

struct http_route {
    const char *path; // "/metrics"
    bool is_open;     // also without the token, for probes
    http_answer_fn *answer;
};

struct http_server_settings {
    const char *listen; // "127.0.0.1:9464", "[::1]:9464", "localhost:9464", ":9464": every address;
                        // port 0: any free one
    const char *certificate, *key; // PEM; NULL: plain HTTP
    const char *token;             // clients say "Authorization: Bearer TOKEN"; NULL: none is needed
    const struct http_route *routes;
    size_t route_count;
    void *context; // of the routes' functions
};

struct http_server;

// Listens from now on; clients wait until http_server_run. Borrows the routes and copies the rest. ERR_USAGE
// names the address, and what stopped it.
struct http_server *http_server_start(const struct http_server_settings *settings,
                                      struct err *err) MUST_CHECK;
void http_server_stop(struct http_server *server); // NULL is fine
// Serves what clients want, for about so long. A signal ends it early.
void http_server_run(struct http_server *server, int64_t us);
// Where it listens: "127.0.0.1:9464".
const char *http_server_address(const struct http_server *server);
// Do only programs of this host reach it?
bool http_server_is_local(const struct http_server *server);

#endif
