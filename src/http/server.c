#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

enum {
    MOST_CONNECTIONS = 64,
    MOST_OF_ADDRESS = 16,
    MOST_HEADERS = 16 * 1024, // bytes of a connection's memory: request line and headers
    WAITING = 64,             // connections that the kernel keeps for us
    MOST_NAME = 256,          // of a host
};
static const int64_t LONGEST = 5 * US_PER_SECOND; // of a connection
static const unsigned SILENT_SECONDS = 5;
static const char bearer[] = "Bearer ";
// Priorities of GnuTLS (gnutls_priority_init): nothing older than TLS 1.2.
static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

struct open_connection {
    int fd; // -1: the place is free
    int64_t until;
};

struct http_server {
    struct MHD_Daemon *daemon;
    const struct http_route *routes;
    size_t route_count;
    void *context;
    char *token;
    char address[MOST_NAME];
    bool is_local;
    struct open_connection connections[MOST_CONNECTIONS];
    char complaint[256]; // of libmicrohttpd, at the start
};

// --- one request ---

static struct MHD_Response *
make_response(struct bytes body)
{
    char *copy = alloc_bytes(size_add(body.len, 1));
    if (body.len)
        memcpy(copy, body.data, body.len);
    struct MHD_Response *response = MHD_create_response_from_buffer(body.len, copy, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(copy);
    return response;
}

static bool
add_headers(struct MHD_Response *response, const struct http_answer *answer)
{
    const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CONTENT_TYPE, answer->type},
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {MHD_HTTP_HEADER_CONNECTION, "close"},
        {"X-Content-Type-Options", "nosniff"},
        {MHD_HTTP_HEADER_WWW_AUTHENTICATE, answer->status == MHD_HTTP_UNAUTHORIZED ? "Bearer" : NULL},
        {MHD_HTTP_HEADER_ALLOW, answer->status == MHD_HTTP_METHOD_NOT_ALLOWED ? "GET, HEAD" : NULL},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (headers[i][1] && MHD_add_response_header(response, headers[i][0], headers[i][1]) != MHD_YES)
            return false;
    return true;
}

static enum MHD_Result
give_answer(struct MHD_Connection *connection, const struct http_answer *answer)
{
    struct MHD_Response *response = make_response(answer->body);
    if (!response)
        return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (add_headers(response, answer))
        result = MHD_queue_response(connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

// How long it takes does not depend on where the texts differ.
static bool
is_same_secret(const char *given, const char *wanted)
{
    size_t given_len = strlen(given);
    size_t wanted_len = strlen(wanted);
    unsigned difference = given_len != wanted_len;
    for (size_t i = 0; i < given_len; i++)
        difference |= (unsigned char)given[i] ^ (unsigned char)wanted[i % (wanted_len ? wanted_len : 1)];
    return difference == 0;
}

static bool
has_token(const struct http_server *server, struct MHD_Connection *connection)
{
    if (!server->token)
        return true;
    const char *given =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    return given && strncasecmp(given, bearer, sizeof bearer - 1) == 0 &&
           is_same_secret(given + sizeof bearer - 1, server->token);
}

static const struct http_route *
find_route(const struct http_server *server, const char *path)
{
    for (size_t i = 0; i < server->route_count; i++)
        if (strcmp(server->routes[i].path, path) == 0)
            return &server->routes[i];
    return NULL;
}

static struct http_answer
refusal(int status, const char *sentence)
{
    return (struct http_answer){
        .status = status, .type = "text/plain; charset=utf-8", .body = bytes_of(sentence)};
}

// The types are libmicrohttpd's MHD_AccessHandlerCallback. A body is not waited for: the connection ends.
static enum MHD_Result
on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
           const char *version, const char *body, size_t *body_len, void **request)
{
    (void)version;
    (void)body;
    (void)body_len;
    (void)request;
    const struct http_server *server = context;
    const struct http_route *route = find_route(server, path);
    struct http_answer answer;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        answer = refusal(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered here\n");
    else if (!(route && route->is_open) && !has_token(server, connection))
        answer = refusal(MHD_HTTP_UNAUTHORIZED, "send the token: Authorization: Bearer TOKEN\n");
    else if (!route)
        answer = refusal(MHD_HTTP_NOT_FOUND, "there is nothing at this path; try /metrics\n");
    else {
        answer = (struct http_answer){.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
        route->answer(server->context,
                      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
                      &answer);
    }
    return give_answer(connection, &answer);
}

// --- connections ---

static void
on_connection(void *context, struct MHD_Connection *connection, void **place,
              enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = context;
    struct open_connection *open = *place;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (open)
            open->fd = -1;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (size_t i = 0; info && i < MOST_CONNECTIONS; i++) {
        open = &server->connections[i];
        if (open->fd >= 0)
            continue;
        *open = (struct open_connection){.fd = info->connect_fd, .until = clock_mono() + LONGEST};
        *place = open;
        return;
    }
}

// libmicrohttpd only limits silence: a client that sends a byte a second would stay.
static void
end_long_connections(struct http_server *server)
{
    int64_t now = clock_mono();
    for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
        struct open_connection *open = &server->connections[i];
        if (open->fd >= 0 && now >= open->until)
            (void)shutdown(open->fd, SHUT_RDWR);
    }
}

void
http_server_run(struct http_server *server, int64_t us)
{
    int64_t ms = us / 1000;
    if (ms > 1000)
        ms = 1000;
    (void)MHD_run_wait(server->daemon, (int32_t)ms);
    end_long_connections(server);
}

// --- start ---

// "HOST:PORT" into its parts; host NULL: every address.
static bool
split_address(const char *listen, char host[MOST_NAME], const char **port, struct err *err)
{
    const char *colon = strrchr(listen, ':');
    size_t len = colon ? (size_t)(colon - listen) : 0;
    bool is_bracketed = len >= 2 && listen[0] == '[' && listen[len - 1] == ']';
    int64_t number;
    if (!colon || len >= MOST_NAME || !text_parse_int(bytes_of(colon + 1), &number, NULL) || number < 0 ||
        number > 65535 || (!is_bracketed && memchr(listen, ':', len)))
        return err_set(err, ERR_USAGE,
                       "cannot listen on \"%s\": give HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464",
                       listen);
    snprintf(host, MOST_NAME, "%.*s", (int)(is_bracketed ? len - 2 : len), listen + is_bracketed);
    *port = colon + 1;
    return true;
}

static void
keep_address(struct http_server *server, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address;
    socklen_t len = sizeof address;
    char host[INET6_ADDRSTRLEN] = "";
    memset(&address, 0, sizeof address);
    if (getsockname(fd, &address.any, &len) != 0)
        return;
    if (address.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &address.six.sin6_addr, host, sizeof host);
        server->is_local = IN6_IS_ADDR_LOOPBACK(&address.six.sin6_addr);
        snprintf(server->address, sizeof server->address, "[%s]:%d", host, ntohs(address.six.sin6_port));
        return;
    }
    inet_ntop(AF_INET, &address.four.sin_addr, host, sizeof host);
    server->is_local = ntohl(address.four.sin_addr.s_addr) >> 24 == 127;
    snprintf(server->address, sizeof server->address, "%s:%d", host, ntohs(address.four.sin_port));
}

// -1 and errno where it cannot be.
static int
listen_at(const struct addrinfo *place)
{
    int fd = socket(place->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    const int off = 0;
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (place->ai_family == AF_INET6) // "every address" is also that of IPv4
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, place->ai_addr, place->ai_addrlen) == 0 && listen(fd, WAITING) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static bool
open_socket(struct http_server *server, const char *listen, int *fd, struct err *err)
{
    char host[MOST_NAME] = "";
    const char *port = "";
    if (!split_address(listen, host, &port, err))
        return false;
    bool is_every = host[0] == '\0' || strcmp(host, "*") == 0;
    const struct addrinfo hints = {.ai_family = is_every ? AF_INET6 : AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *places = NULL;
    int failed = getaddrinfo(is_every ? NULL : host, port, &hints, &places);
    if (failed)
        return err_set(err, ERR_USAGE, "cannot listen on %s: %s", listen, gai_strerror(failed));
    *fd = listen_at(places);
    int why = errno;
    freeaddrinfo(places);
    if (*fd < 0 && is_every) { // a host without IPv6
        struct sockaddr_in four = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)strtol(port, NULL, 10))};
        *fd = listen_at(&(struct addrinfo){
            .ai_family = AF_INET, .ai_addr = (struct sockaddr *)&four, .ai_addrlen = sizeof four});
        why = errno;
    }
    if (*fd < 0)
        return err_set(err, ERR_USAGE, "cannot listen on %s: %s%s", listen, strerror(why),
                       why == EADDRINUSE ? "; another program listens there, choose another port" : "");
    keep_address(server, *fd);
    return true;
}

static void __attribute__((format(printf, 2, 0)))
on_complaint(void *context, const char *format, va_list args)
{
    struct http_server *server = context;
    char line[sizeof server->complaint];
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    if (!server->daemon)
        memcpy(server->complaint, line, sizeof line);
    else
        log_line(LOG_DEBUG, "http", LOG_TEXT("why", line));
}

static bool
start_daemon(struct http_server *server, const struct http_server_settings *settings, int fd, struct err *err)
{
    bool is_secure = settings->certificate != NULL;
    if (is_secure && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        close(fd);
        return err_set(err, ERR_USAGE, "this libmicrohttpd was built without TLS");
    }
    // By select, which tells again what was not read: for some dozen connections epoll, told once, gains
    // nothing.
    unsigned flags = MHD_USE_ERROR_LOG | (is_secure ? (unsigned)MHD_USE_TLS : 0U);
#define LIMITS                                                                                               \
    MHD_OPTION_EXTERNAL_LOGGER, on_complaint, server, MHD_OPTION_LISTEN_SOCKET, fd,                          \
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,         \
        (unsigned)MOST_OF_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, SILENT_SECONDS,                            \
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MOST_HEADERS, MHD_OPTION_NOTIFY_CONNECTION,              \
        on_connection, server
    server->daemon =
        is_secure
            ? MHD_start_daemon(flags, 0, NULL, NULL, on_request, server, LIMITS, MHD_OPTION_HTTPS_MEM_CERT,
                               settings->certificate, MHD_OPTION_HTTPS_MEM_KEY, settings->key,
                               MHD_OPTION_HTTPS_PRIORITIES, priorities, MHD_OPTION_END)
            : MHD_start_daemon(flags, 0, NULL, NULL, on_request, server, LIMITS, MHD_OPTION_END);
#undef LIMITS
    if (server->daemon)
        return true;
    close(fd);
    return err_set(err, ERR_USAGE, "cannot serve HTTP on %s: %s", server->address,
                   server->complaint[0] ? server->complaint : "libmicrohttpd refused");
}

struct http_server *
http_server_start(const struct http_server_settings *settings, struct err *err)
{
    struct http_server *server = alloc_bytes(sizeof *server);
    int fd;
    server->routes = settings->routes;
    server->route_count = settings->route_count;
    server->context = settings->context;
    for (size_t i = 0; i < MOST_CONNECTIONS; i++)
        server->connections[i].fd = -1;
    if (!open_socket(server, settings->listen, &fd, err) || !start_daemon(server, settings, fd, err)) {
        free(server);
        return NULL;
    }
    if (settings->token)
        server->token = alloc_text(settings->token);
    return server;
}

void
http_server_stop(struct http_server *server)
{
    if (!server)
        return;
    MHD_stop_daemon(server->daemon);
    if (server->token)
        explicit_bzero(server->token, strlen(server->token));
    free(server->token);
    free(server);
}

const char *
http_server_address(const struct http_server *server)
{
    return server->address;
}

bool
http_server_is_local(const struct http_server *server)
{
    return server->is_local;
}
