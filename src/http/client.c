#include "http/client.h"

// Its checks of types by statement expressions are not clean under -Wpedantic and -Wconversion.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"
#include "base/text.h"

enum { MOST_ANSWER = 300, SECRET_LEAST = 8 };
static const long CONNECT_MS = 5000, LONGEST_MS = 10000;

struct answer {
    char text[MOST_ANSWER];
    size_t len;
};

bool
http_client_begin(struct err *err)
{
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    return code == CURLE_OK ||
           err_set(err, ERR_INTERNAL, "HTTP requests cannot be made: %s", curl_easy_strerror(code));
}

void
http_client_end(void)
{
    curl_global_cleanup();
}

// Keeps the beginning and reads the rest away, but not for ever: the time limit holds.
static size_t
take_answer(char *data, size_t size, size_t count, void *context)
{
    struct answer *answer = context;
    size_t len = size * count, room = MOST_ANSWER - answer->len;
    size_t kept = len < room ? len : room;
    memcpy(answer->text + answer->len, data, kept);
    answer->len += kept;
    return len;
}

static int
look_around(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
    const struct http_post *post = context;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return post->is_wanted && !post->is_wanted(post->context);
}

// "https://host:port" of an address.
static void
place_of(const char *url, char *out, size_t room)
{
    const char *host = strstr(url, "://");
    const char *begin = host ? host + 3 : url;
    const char *end = begin + strcspn(begin, "/?#");
    const char *user = memrchr(begin, '@', (size_t)(end - begin)); // user and password in front of it
    const char *shown = user ? user + 1 : begin;
    (void)snprintf(out, room, "%.*s%.*s", (int)(begin - url), url, (int)(end - shown), shown);
}

static struct curl_slist *
make_headers(const struct http_post *post)
{
    struct strbuf line = {0};
    // Without Expect, curl does not wait a second for servers that do not know it.
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    strbuf_printf(&line, "Content-Type: %s", post->type);
    headers = curl_slist_append(headers, strbuf_text(&line));
    if (post->token) {
        strbuf_reset(&line);
        strbuf_printf(&line, "Authorization: Bearer %s", post->token);
        headers = curl_slist_append(headers, strbuf_text(&line));
        explicit_bzero(line.data, line.len);
    }
    strbuf_release(&line);
    return headers;
}

// curl takes the system's folder of certificates beside a file, unless it is told to take none.
static bool
set_trust(CURL *curl, const char *ca)
{
    return !ca || (curl_easy_setopt(curl, CURLOPT_CAINFO, ca) == CURLE_OK &&
                   curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) == CURLE_OK);
}

static bool
set_options(CURL *curl, const struct http_post *post, struct curl_slist *headers, struct answer *answer,
            char *complaint)
{
    complaint[0] = '\0';
    return curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, complaint) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_URL, post->url) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, LONGEST_MS) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           set_trust(curl, post->ca) && curl_easy_setopt(curl, CURLOPT_USERAGENT, "redrive") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.len) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post->body.data) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFODATA, post) == CURLE_OK;
}

// Does an answer repeat a part of this text that is long enough to be a secret? Its beginning decides, since
// the answer may be cut.
static bool
repeats(struct bytes answer, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "/?#&=");
        if (len >= SECRET_LEAST && bytes_find(answer, (struct bytes){text, SECRET_LEAST}, 0) != SIZE_MAX)
            return true;
        text += len + (text[len] != '\0');
    }
    return false;
}

// "Cannot POST /services/…" is what many servers say of an address that they do not know.
static bool
tells_secret(const struct http_post *post, struct bytes answer)
{
    const char *host = strstr(post->url, "://");
    const char *begin = host ? host + 3 : post->url;
    return repeats(answer, begin + strcspn(begin, "/?#")) || (post->token && repeats(answer, post->token));
}

static bool
judge(CURL *curl, const struct http_post *post, const struct answer *answer, struct err *err)
{
    char place[300];
    long status = 0;
    struct strbuf said = {0};
    if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status >= 200 &&
        status <= 299)
        return true;
    place_of(post->url, place, sizeof place);
    struct bytes text = bytes_trim((struct bytes){answer->text, answer->len});
    if (!tells_secret(post, text))
        text_visible(&said, text, false);
    err_set(err, ERR_DATA, "%s refused with status %ld%s%s%s", place, status,
            status >= 300 && status <= 399 ? ", a redirect, which is not followed" : "", said.len ? ": " : "",
            strbuf_text(&said));
    strbuf_release(&said);
    return false;
}

// However the rest of the answer ends, its first line said what became of the request: to make it again would
// tell the receiver twice.
static bool
has_status(CURL *curl)
{
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status >= 200;
}

bool
http_client_post(const struct http_post *post, struct err *err)
{
    char complaint[CURL_ERROR_SIZE], place[300];
    struct answer answer = {.len = 0};
    CURL *curl = curl_easy_init();
    if (!curl)
        return err_set(err, ERR_INTERNAL, "there is no memory for an HTTP request");
    struct curl_slist *headers = make_headers(post);
    CURLcode code =
        set_options(curl, post, headers, &answer, complaint) ? curl_easy_perform(curl) : CURLE_FAILED_INIT;
    bool is_answered = code == CURLE_OK || (code != CURLE_ABORTED_BY_CALLBACK && has_status(curl));
    bool ok = is_answered && judge(curl, post, &answer, err);
    place_of(post->url, place, sizeof place);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        err_set(err, ERR_CANCELLED, "the request to %s was given up", place);
    else if (!is_answered)
        err_set(err, ERR_UNREACHABLE, "%s cannot be reached: %s", place,
                complaint[0] ? complaint : curl_easy_strerror(code));
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return ok;
}

// --- what is at an address ---

struct getting {
    const struct http_get *get;
    struct strbuf *out;
    size_t len;
    bool is_too_long;
};

static size_t
take_got(char *data, size_t size, size_t count, void *context)
{
    struct getting *getting = context;
    size_t len = size * count;
    getting->is_too_long = len > getting->get->most - getting->len;
    if (getting->is_too_long)
        return 0; // which ends the request
    getting->len += len;
    strbuf_add(getting->out, (struct bytes){data, len});
    return len;
}

static int
look_around_get(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
    const struct http_get *get = context;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    return get->is_wanted && !get->is_wanted(get->context);
}

static bool
set_get_options(CURL *curl, struct getting *getting, char *complaint)
{
    const struct http_get *get = getting->get;
    complaint[0] = '\0';
    return curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, complaint) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_URL, get->url) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, get->limit_ms / 2) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, get->limit_ms) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           set_trust(curl, get->ca) && curl_easy_setopt(curl, CURLOPT_USERAGENT, "redrive") == CURLE_OK &&
           (!get->user ||
            (curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
             curl_easy_setopt(curl, CURLOPT_USERNAME, get->user) == CURLE_OK &&
             curl_easy_setopt(curl, CURLOPT_PASSWORD, get->password ? get->password : "") == CURLE_OK)) &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_got) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, getting) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around_get) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFODATA, get) == CURLE_OK;
}

static bool
judge_got(CURL *curl, CURLcode code, const struct getting *getting, const char *complaint, struct err *err)
{
    char place[300];
    long status = 0;
    place_of(getting->get->url, place, sizeof place);
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return err_set(err, ERR_CANCELLED, "the request to %s was given up", place);
    if (getting->is_too_long)
        return err_set(err, ERR_DATA, "%s answers with more than %zu bytes", place, getting->get->most);
    if (code != CURLE_OK)
        return err_set(err, ERR_UNREACHABLE, "%s cannot be reached: %s", place,
                       complaint[0] ? complaint : curl_easy_strerror(code));
    if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status == 200)
        return true;
    return err_set(err, status == 404 ? ERR_NOT_FOUND : ERR_DATA, "%s answers with status %ld%s", place,
                   status, status >= 300 && status <= 399 ? ", a redirect, which is not followed" : "");
}

bool
http_client_get(const struct http_get *get, struct strbuf *out, struct err *err)
{
    char complaint[CURL_ERROR_SIZE];
    struct getting getting = {.get = get, .out = out};
    size_t begin = out->len;
    CURL *curl = curl_easy_init();
    if (!curl)
        return err_set(err, ERR_INTERNAL, "there is no memory for an HTTP request");
    CURLcode code = set_get_options(curl, &getting, complaint) ? curl_easy_perform(curl) : CURLE_FAILED_INIT;
    bool ok = judge_got(curl, code, &getting, complaint, err);
    if (!ok)
        strbuf_splice(out, begin, out->len - begin, BYTES(""));
    curl_easy_cleanup(curl);
    return ok;
}
