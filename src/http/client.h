// http client: posts a body to an address and tells what the server made of it; gets what is at one. Home of
// libcurl.
//
// Only http and https; certificates and host names are checked; a redirect is not followed, it is an answer
// like any other. At most ten seconds a request. What went wrong is told with the host, never with the whole
// address, which may hold a secret, and without an answer that repeats parts of it or of the token.
#ifndef REDRIVE_HTTP_CLIENT_H
#define REDRIVE_HTTP_CLIENT_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

struct http_post {
    const char *url;
    const char *type; // Content-Type
    struct bytes body;
    const char *token; // "Authorization: Bearer TOKEN"; NULL: none
    const char *ca;    // file of the only certificates that are trusted; NULL: the system's
    // Asked about once a second: false ends the request. NULL: it is always wanted.
    bool (*is_wanted)(void *context);
    void *context;
};

// Once, before any thread posts.
bool http_client_begin(struct err *err) MUST_CHECK;
void http_client_end(void);

// True where the server answered with 200 to 299, even if the connection broke later in its answer. Otherwise
// ERR_UNREACHABLE (no answer), ERR_DATA (another status, with the beginning of the answer) or ERR_CANCELLED.
// Any thread.
bool http_client_post(const struct http_post *post, struct err *err) MUST_CHECK;

struct http_get {
    const char *url;
    const char *user, *password; // NULL: none
    const char *ca;              // as in struct http_post
    size_t most;                 // bytes of an answer: a longer one is refused
    long limit_ms;               // for all of it; connecting takes half of that at most
    bool (*is_wanted)(void *context);
    void *context;
};
// Appends the answer to 200. Otherwise ERR_UNREACHABLE, ERR_NOT_FOUND (404), ERR_DATA (another status, or too
// long) or ERR_CANCELLED. The same holds for what is told. Any thread.
bool http_client_get(const struct http_get *get, struct strbuf *out, struct err *err) MUST_CHECK;

#endif
