// notify: what a receiver of each channel gets, over a real HTTP connection or on a command's standard input,
// and what becomes of one that refuses, redirects, or says nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "http/client.h"
#include "notify/delivery.h"
#include "notify/message.h"

// A receiver that keeps the last request. Its threads write between two deliveries' begin and end only.
static struct receiver {
    struct MHD_Daemon *daemon;
    int status; // what it answers; 0: it answers nothing for a long time
    const char *says;
    bool breaks; // the connection, in the middle of its answer
    char path[200], token[200];
    char body[20000];
    size_t len;
    atomic_int requests, strays;
} receiver;

static ssize_t
break_off(void *context, uint64_t at, char *data, size_t most)
{
    (void)context;
    if (at > 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return snprintf(data, most, "%s", receiver.says);
}

static struct MHD_Response *
make_answer(void)
{
    enum { MORE_THAN_COMES = 1000 };
    if (receiver.breaks)
        return MHD_create_response_from_callback(MORE_THAN_COMES, 1024, break_off, NULL, NULL);
    return MHD_create_response_from_buffer(strlen(receiver.says), (char *)(uintptr_t)receiver.says,
                                           MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result
take(void *context, struct MHD_Connection *connection, const char *url, const char *method,
     const char *version, const char *data, size_t *len, void **request)
{
    (void)context;
    (void)version;
    if (*request == NULL) {
        *request = &receiver;
        receiver.len = 0;
        return MHD_YES;
    }
    if (*len > 0) {
        assert_true(receiver.len + *len < sizeof receiver.body);
        memcpy(receiver.body + receiver.len, data, *len);
        receiver.len += *len;
        *len = 0;
        return MHD_YES;
    }
    receiver.body[receiver.len] = '\0';
    receiver.requests++;
    receiver.strays += strcmp(method, "POST") != 0;
    const char *token = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    snprintf(receiver.path, sizeof receiver.path, "%s", url);
    snprintf(receiver.token, sizeof receiver.token, "%s", token ? token : "");
    while (receiver.status == 0)
        usleep(10000);
    struct MHD_Response *response = make_answer();
    if (receiver.status == 302)
        MHD_add_response_header(response, "Location", "file:///etc/passwd");
    enum MHD_Result queued = MHD_queue_response(connection, (unsigned)receiver.status, response);
    MHD_destroy_response(response);
    return queued;
}

static char url[100];

static int
begin(void **state)
{
    struct err err = {0};
    (void)state;
    receiver.says = "no \x1b[2J way";
    unsetenv("http_proxy");
    setenv("no_proxy", "127.0.0.1", 1);
    receiver.daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0,
                                       NULL, NULL, take, NULL, MHD_OPTION_END);
    if (!receiver.daemon || !http_client_begin(&err))
        return 1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/services/T0/secret",
             (int)MHD_get_daemon_info(receiver.daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    MHD_stop_daemon(receiver.daemon);
    http_client_end();
    return 0;
}

static struct alert_label labels[] = {{"team", "orders"}, {"error_class", "a \"b\" <c> & d"}};

static struct alert_notice
a_notice(bool is_firing)
{
    return (struct alert_notice){.no = 1,
                                 .is_firing = is_firing,
                                 .table = "public.dlq_events",
                                 .rule = "DLQPendingHigh",
                                 .instance = "",
                                 .fingerprint = "0123456789abcdef0123456789abcdef",
                                 .condition = "pending above 1,000 for 5m",
                                 .severity = "page",
                                 .summary = "1,204 events <are> pending",
                                 .description = "Open redrive & look.",
                                 .runbook = "https://wiki.example/dlq",
                                 .value = 1204,
                                 .since = 1763900000LL * US_PER_SECOND,
                                 .at = 1763900600LL * US_PER_SECOND,
                                 .labels = labels,
                                 .label_count = 2};
}

static struct alert_destination
to(enum alert_channel channel)
{
    return (struct alert_destination){
        .name = "x", .channel = channel, .url = url, .key = channel == CHANNEL_PAGERDUTY ? "routing" : NULL};
}

// Delivers it, and gives the body that came.
static const char *
deliver(const struct alert_destination *destination, bool is_firing)
{
    struct alert_notice notice = a_notice(is_firing);
    struct err err = {0};
    receiver.status = 202;
    if (!delivery_make(destination, &notice, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return receiver.body;
}

static void
has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("%s\nis not in\n%s", part, text);
}

static void
lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("%s\nis in\n%s", part, text);
}

static void
test_slack(void **state)
{
    (void)state;
    struct alert_destination slack = to(CHANNEL_SLACK);
    const char *body = deliver(&slack, true);
    assert_string_equal(receiver.path, "/services/T0/secret");
    assert_string_equal(receiver.token, "");
    assert_string_equal(
        body, "{\"text\":\"*firing* page: *DLQPendingHigh* in public.dlq_events\\n1,204 events &lt;are&gt; "
              "pending\\nOpen redrive &amp; look.\\nhttps://wiki.example/dlq\"}");
    has(deliver(&slack, false), "*resolved* page: *DLQPendingHigh*");
}

static void
test_pagerduty(void **state)
{
    (void)state;
    struct alert_destination pagerduty = to(CHANNEL_PAGERDUTY);
    const char *body = deliver(&pagerduty, true);
    has(body, "\"routing_key\":\"routing\"");
    has(body, "\"event_action\":\"trigger\"");
    has(body, "\"dedup_key\":\"0123456789abcdef0123456789abcdef\"");
    has(body, "\"summary\":\"DLQPendingHigh: 1,204 events <are> pending in public.dlq_events\"");
    has(body, "\"severity\":\"critical\"");
    has(body, "\"timestamp\":\"2025-11-23T12:13:20Z\"");
    has(body, "\"links\":[{\"href\":\"https://wiki.example/dlq\"");
    assert_string_equal(receiver.token, "");
    body = deliver(&pagerduty, false);
    has(body, "\"event_action\":\"resolve\"");
    has(body, "\"dedup_key\":\"0123456789abcdef0123456789abcdef\"");
    lacks(body, "payload");
}

// The summary is cut between characters.
static void
test_long_summary(void **state)
{
    (void)state;
    char rule[1400] = "r";
    for (size_t i = 1; i + 2 < sizeof rule; i += 2)
        memcpy(rule + i, "ü", sizeof "ü");
    for (const char *name = rule; name < rule + 2; name++) {
        struct alert_destination pagerduty = to(CHANNEL_PAGERDUTY);
        struct alert_notice notice = a_notice(true);
        struct strbuf body = {0};
        notice.rule = *name == 'r' ? rule : rule + 1;
        message_write(&pagerduty, &notice, &body);
        has(strbuf_text(&body), "üü\"");
        lacks(strbuf_text(&body), "\xEF\xBF\xBD");
        strbuf_release(&body);
    }
}

static void
test_alertmanager(void **state)
{
    (void)state;
    struct alert_destination alertmanager = to(CHANNEL_ALERTMANAGER);
    alertmanager.key = "a token";
    const char *body = deliver(&alertmanager, true);
    assert_string_equal(receiver.path, "/services/T0/secret/api/v2/alerts");
    assert_string_equal(receiver.token, "Bearer a token");
    has(body, "\"labels\":{\"alertname\":\"DLQPendingHigh\",\"severity\":\"page\",\"table\":\"public.dlq_"
              "events\",");
    has(body, "\"startsAt\":\"2025-11-23T12:13:20Z\"");
    has(body, "\"runbook_url\":\"https://wiki.example/dlq\"");
    lacks(body, "endsAt");
    has(deliver(&alertmanager, false), "\"endsAt\":\"2025-11-23T12:23:20Z\"");
}

static void
fails(const struct alert_destination *destination, enum err_kind kind, const char *words,
      delivery_wanted_fn *is_wanted)
{
    struct alert_notice notice = a_notice(true);
    struct err err = {0};
    assert_false(delivery_make(destination, &notice, is_wanted, NULL, &err));
    if (err.kind != kind || !strstr(err.text, words))
        fail_msg("kind %d: %s", (int)err.kind, err.text);
    lacks(err.text, "secret");
    lacks(err.text, "\x1b");
}

static atomic_int asked;

static bool
is_wanted_once(void *context)
{
    (void)context;
    return asked++ == 0;
}

static void
test_refusals(void **state)
{
    (void)state;
    struct alert_destination slack = to(CHANNEL_SLACK);
    receiver.status = 500;
    fails(&slack, ERR_DATA, "refused with status 500: no \\e[2J way", NULL);
    int before = receiver.requests;
    receiver.status = 302;
    fails(&slack, ERR_DATA, "a redirect, which is not followed", NULL);
    assert_int_equal(receiver.requests, before + 1);
    assert_int_equal(receiver.strays, 0);
    slack.url = "http://user:secret@127.0.0.1:1/";
    fails(&slack, ERR_UNREACHABLE, "http://127.0.0.1:1 cannot be reached", NULL);
    slack.url = "http://user:with@secret@127.0.0.1:1/";
    fails(&slack, ERR_UNREACHABLE, "http://127.0.0.1:1 cannot be reached", NULL);

    // One that says nothing is given up when it is no longer wanted.
    slack = to(CHANNEL_SLACK);
    receiver.status = 0;
    int64_t began = clock_mono();
    fails(&slack, ERR_CANCELLED, "given up", is_wanted_once);
    assert_true(clock_mono() - began < 8 * US_PER_SECOND);
    receiver.status = 200;
}

// Servers repeat what they were asked for, and some what they were told.
static void
test_answers_with_secrets(void **state)
{
    (void)state;
    struct alert_destination slack = to(CHANNEL_SLACK);
    struct alert_destination alertmanager = to(CHANNEL_ALERTMANAGER);
    const char *usual = receiver.says;
    receiver.status = 404;
    receiver.says = "Cannot POST /services/T0/secret";
    fails(&slack, ERR_DATA, "refused with status 404", NULL);
    alertmanager.key = "tok/en-of-secret";
    receiver.says = "the token en-of-secret is not known";
    fails(&alertmanager, ERR_DATA, "refused with status 404", NULL);
    receiver.says = usual;
    receiver.status = 200;
}

static void
test_command(void **state)
{
    char file[100], script[200];
    (void)state;
    snprintf(file, sizeof file, "/tmp/redrive-notify.%d", (int)getpid());
    snprintf(script, sizeof script, "cat >%s; echo loud", file);
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    struct alert_destination command = {.name = "mail",
                                        .channel = CHANNEL_COMMAND,
                                        .argv = argv,
                                        .to = "oncall@example.com",
                                        .from = "redrive@example.com"};
    struct alert_notice notice = a_notice(true);
    struct err err = {0};
    notice.rule = "zu viele Ereignisse für heute, und zwar sehr viele davon";
    notice.summary = "two\nBcc: everybody@example.com";
    if (!delivery_make(&command, &notice, NULL, NULL, &err))
        fail_msg("%s", err.text);
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    char text[4000];
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    unlink(file);
    assert_ptr_equal(strstr(text, "From: redrive@example.com\nTo: oncall@example.com\nSubject: =?UTF-8?B?"),
                     text);
    lacks(text, "\nBcc");
    has(text, "\n\ntwo\\nBcc: everybody@example.com\n\nfirst       Open redrive & look.\n");
    has(text, "state       firing\n");
    has(text, "team        orders\n");

    argv[2] = "echo 'no such mailbox' >&2; exit 3";
    assert_false(delivery_make(&command, &notice, NULL, NULL, &err));
    has(err.text, "/bin/sh ended with status 3: no such mailbox");
    const char *missing[] = {"/nowhere/at/all", NULL};
    command.argv = missing;
    err = (struct err){0};
    assert_false(delivery_make(&command, &notice, NULL, NULL, &err));
    has(err.text, "127");
    const char *slow[] = {"/bin/sleep", "60", NULL};
    command.argv = slow;
    err = (struct err){0};
    asked = 0;
    assert_false(delivery_make(&command, &notice, is_wanted_once, NULL, &err));
    assert_int_equal(err.kind, ERR_CANCELLED);
}

// It was taken, or refused, all the same.
static void
test_answers_that_break_off(void **state)
{
    (void)state;
    const struct alert_destination slack = to(CHANNEL_SLACK);
    struct alert_notice notice = a_notice(true);
    struct err err = {0};
    receiver.breaks = true;
    receiver.status = 200;
    if (!delivery_make(&slack, &notice, NULL, NULL, &err))
        fail_msg("%s", err.text);
    receiver.status = 503;
    fails(&slack, ERR_DATA, "refused with status 503", NULL);
    receiver.breaks = false;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_pagerduty),
        cmocka_unit_test(test_long_summary),
        cmocka_unit_test(test_alertmanager),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_answers_with_secrets),
        cmocka_unit_test(test_answers_that_break_off),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
