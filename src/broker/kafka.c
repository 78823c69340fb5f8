#include "broker/kafka.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

void
kafka_note_trouble(struct trouble *trouble, rd_kafka_resp_err_t code, const char *reason)
{
    // "all brokers down" only repeats what the lines before it said better.
    if (!trouble || code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
        return;
    // The rest is its duration and how often it was seen.
    const char *tail = strstr(reason, " (after ");
    int len = tail ? (int)(tail - reason) : (int)strlen(reason);
    snprintf(trouble->text, sizeof trouble->text, "%.*s", len, reason);
    // A broker without TLS may close the connection instead of answering, which has the code of any
    // disconnect.
    bool is_tls = code == RD_KAFKA_RESP_ERR__SSL || strstr(trouble->text, "SSL handshake failed");
    trouble->kind = is_tls                                      ? TROUBLE_TLS
                    : code == RD_KAFKA_RESP_ERR__AUTHENTICATION ? TROUBLE_LOGIN
                                                                : TROUBLE_PASSES;
}

static void
on_error(rd_kafka_t *handle, int code, const char *reason, void *opaque)
{
    (void)handle;
    kafka_note_trouble(opaque, code, reason);
}

// OpenSSL's verdict stands; it is only remembered, because the error that follows does not tell what was
// wrong.
static int
on_certificate(rd_kafka_t *handle, const char *broker, int32_t id, int *flaw, int depth, const char *bytes,
               size_t size, char *reason, size_t room, void *opaque)
{
    (void)handle;
    (void)broker;
    (void)id;
    (void)depth;
    (void)bytes;
    (void)size;
    struct trouble *trouble = opaque;
    if (*flaw != 0 && trouble)
        atomic_store(&trouble->flaw, *flaw);
    if (*flaw != 0 && room > 0)
        snprintf(reason, room, "verification error %d", *flaw);
    return *flaw == 0;
}

#define METRICS_SINCE 0x020500ff // the version whose clients push metrics to the brokers
#define LOG_CRITICAL 2           // of syslog, whose levels the library takes

static void
on_log(const rd_kafka_t *handle, int level, const char *facility, const char *text)
{
    (void)handle;
    // Errors that matter are returned by the call that met them; being fenced, for one, is an orderly
    // end, although the library thinks it an emergency. A critical line is the last one before the library
    // ends the process.
    log_line(level == LOG_CRITICAL ? LOG_ERROR : LOG_DEBUG, "Kafka client", LOG_INT("severity", level),
             LOG_TEXT("facility", facility), LOG_TEXT("text", text));
}

static bool
set_given(rd_kafka_conf_t *conf, const char *name, const char *value, struct err *err)
{
    char text[256];
    switch (rd_kafka_conf_set(conf, name, value, text, sizeof text)) {
    case RD_KAFKA_CONF_OK:
        return true;
    case RD_KAFKA_CONF_UNKNOWN:
        return err_set(err, ERR_USAGE,
                       "the Kafka property %s is not known to this version of librdkafka (%s)", name,
                       rd_kafka_version_str());
    case RD_KAFKA_CONF_INVALID:
        break;
    }
    // The reason would repeat the value, which may be a secret.
    return err_set(err, ERR_USAGE, "the Kafka property %s has a value that librdkafka does not accept", name);
}

static bool
is_given(const struct broker_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->property_count; i++)
        if (strcmp(settings->properties[i].name, name) == 0)
            return true;
    return false;
}

rd_kafka_conf_t *
kafka_conf(const struct broker_settings *settings, struct trouble *trouble, struct err *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_ssl_cert_verify_cb(conf, on_certificate);
    rd_kafka_conf_set_opaque(conf, trouble);

    bool is_good = true;
    if (settings->brokers && settings->brokers[0])
        is_good = set_given(conf, "bootstrap.servers", settings->brokers, err);
    for (size_t i = 0; is_good && i < settings->property_count; i++)
        is_good = set_given(conf, settings->properties[i].name, settings->properties[i].value, err);
    if (!is_good) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }

    kafka_set(conf, "allow.auto.create.topics", "false"); // librdkafka's default for producers is true
    kafka_set_default(conf, settings, "client.id", "redrive");
    kafka_set_default(conf, settings, "socket.timeout.ms", "10000");
    kafka_set_default(conf, settings, "socket.nagle.disable", "true");
    kafka_set_default(conf, settings, "reconnect.backoff.max.ms", "2000");
    // Versions 2.5 to 2.9 can miss the signal that the last metrics were pushed, and then wait a second for
    // it in rd_kafka_destroy.
    if (rd_kafka_version() >= METRICS_SINCE)
        kafka_set_default(conf, settings, "enable.metrics.push", "false");
    return conf;
}

void
kafka_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[256];
    if (rd_kafka_conf_set(conf, name, value, text, sizeof text) != RD_KAFKA_CONF_OK)
        die("librdkafka %s does not take %s=%s: %s", rd_kafka_version_str(), name, value, text);
}

void
kafka_set_number(rd_kafka_conf_t *conf, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    kafka_set(conf, name, text);
}

void
kafka_set_default(rd_kafka_conf_t *conf, const struct broker_settings *settings, const char *name,
                  const char *value)
{
    if (!is_given(settings, name))
        kafka_set(conf, name, value);
}

rd_kafka_t *
kafka_handle(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err)
{
    char text[256];
    rd_kafka_t *handle = rd_kafka_new(type, conf, text, sizeof text);
    if (!handle) {
        rd_kafka_conf_destroy(conf);
        err_set(err, ERR_USAGE, "Kafka cannot be used with these settings: %s", text);
    }
    return handle;
}

enum err_kind
kafka_kind(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
        return ERR_UNREACHABLE;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return ERR_DENIED;
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
        return ERR_CONFLICT;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        return ERR_NOT_FOUND;
    default:
        return ERR_DATA;
    }
}

// The remedy for the person; "" if the sentence has it already.
static const char *
advice(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
        return "; check security.protocol, sasl.mechanism, sasl.username and the password";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return "; needed are Write on target topics and Read on the topic redrive.marker";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        return "; needed is Read on groups with the prefix redrive.";
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return "; needed is Write on transactional ids with the prefix redrive.";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        return "; needed is IdempotentWrite on the cluster (Kafka before 3.0)";
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
        return "; the broker's transaction.max.timeout.ms is below 30000, raise it";
    default:
        return "";
    }
}

// Before 2.6.1, librdkafka's SCRAM sends a nonce that Kafka 4.0 and newer no longer take (edenhill/kcat#462).
enum { SCRAM_MENDED = 0x020601ff };

static bool
fail_login(struct err *err, const char *said, const char *tried)
{
    bool is_scram = strstr(said, "SCRAM") != NULL && rd_kafka_version() < SCRAM_MENDED;
    return err_set(
        err, ERR_DENIED, "%s: %s; check sasl.mechanism, sasl.username and the password%s%s%s", tried, said,
        is_scram ? "; with brokers of Kafka 4.0 or newer, SCRAM needs librdkafka 2.6.1, this is " : "",
        is_scram ? rd_kafka_version_str() : "",
        is_scram ? ", which can use PLAIN over TLS or a client certificate" : "");
}

// Numbers of <openssl/x509_vfy.h>, as far as a person can do something about them.
static const struct flaw {
    int code;
    const char *what, *remedy;
} flaws[] = {
    {9, "it is not valid yet", "set the clock of this host, or of whoever issued it"},
    {10, "it has expired", "its owner renews it"},
    {2, "no authority that is trusted here signed it", "let ssl.ca.location name the authority's file"},
    {18, "it is signed by itself only", "let ssl.ca.location name its file, if it is the right one"},
    {19, "no authority that is trusted here signed it", "let ssl.ca.location name the authority's file"},
    {20, "no authority that is trusted here signed it", "let ssl.ca.location name the authority's file"},
    {21, "no authority that is trusted here signed it", "let ssl.ca.location name the authority's file"},
    {23, "it was revoked", "its owner renews it"},
    {62, "it is for another name",
     "use the name that is in it, in brokers and in the broker's advertised.listeners"},
    {64, "it is for another address",
     "use the name that is in it, in brokers and in the broker's advertised.listeners"},
};

static bool
fail_tls(struct err *err, const struct trouble *trouble, const char *tried)
{
    // "sasl_ssl://HOST:PORT/bootstrap: SSL handshake failed: …"
    int len = (int)strcspn(trouble->text, " ");
    if (len > 0 && trouble->text[len - 1] == ':')
        len--;
    int code = atomic_load(&trouble->flaw);
    for (size_t i = 0; code && i < sizeof flaws / sizeof *flaws; i++)
        if (flaws[i].code == code)
            return err_set(err, ERR_UNREACHABLE, "%s: the certificate of %.*s is not believed: %s; %s", tried,
                           len, trouble->text, flaws[i].what, flaws[i].remedy);
    return err_set(err, ERR_UNREACHABLE, "%s: %s; check security.protocol and ssl.ca.location", tried,
                   trouble->text);
}

// What a person reads in place of the library's own words for it ("Local: Timed out").
static const char *
in_words(rd_kafka_resp_err_t code, const char *said)
{
    if (strcmp(said, rd_kafka_err2str(code)) != 0)
        return said;
    switch (code) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
        return "no answer in time";
    case RD_KAFKA_RESP_ERR__TRANSPORT:
        return "the connection broke";
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        return "no broker can be reached";
    default:
        return said;
    }
}

static bool
fail(struct err *err, rd_kafka_resp_err_t code, const char *said, const struct trouble *trouble,
     const char *tried)
{
    enum err_kind kind = kafka_kind(code);
    bool is_told = kind == ERR_UNREACHABLE && trouble && trouble->text[0];
    if (is_told && trouble->kind == TROUBLE_LOGIN)
        return fail_login(err, trouble->text, tried);
    // A broker without TLS closes the connection instead of answering, which passes for an ordinary
    // disconnect.
    // librdkafka says "SSL handshake failed: …", or where it was interrupted only what OpenSSL says.
    if (is_told && (trouble->kind == TROUBLE_TLS || strstr(trouble->text, "SSL handshake failed") ||
                    strstr(trouble->text, "SSL routines")))
        return fail_tls(err, trouble, tried);
    if (is_told)
        return err_set(err, kind, "%s: %s", tried, trouble->text);
    return err_set(err, kind, "%s: %s%s", tried, in_words(code, said), advice(code));
}

bool
kafka_fail(struct err *err, rd_kafka_resp_err_t code, const struct trouble *trouble, const char *tried, ...)
{
    char text[300];
    va_list args;
    va_start(args, tried);
    vsnprintf(text, sizeof text, tried, args);
    va_end(args);

    return fail(err, code, rd_kafka_err2str(code), trouble, text);
}

bool
kafka_fail_error(struct err *err, rd_kafka_error_t *error, const struct trouble *trouble, const char *tried)
{
    fail(err, rd_kafka_error_code(error), rd_kafka_error_string(error), trouble, tried);
    rd_kafka_error_destroy(error);
    return false;
}

rd_kafka_resp_err_t
kafka_ends(rd_kafka_t *reader, rd_kafka_topic_partition_list_t *partitions, bool is_high, int timeout_ms)
{
    for (int i = 0; i < partitions->cnt; i++)
        partitions->elems[i].offset = is_high ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
    return rd_kafka_offsets_for_times(reader, partitions, timeout_ms);
}

// One end of a partition.
static rd_kafka_resp_err_t
ask_end(rd_kafka_t *reader, const char *topic, int32_t partition, bool is_high, int timeout_ms,
        int64_t *offset)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code = kafka_ends(reader, list, is_high, timeout_ms);
    if (!code)
        code = list->elems[0].err;
    if (!code && list->elems[0].offset < 0)
        code = RD_KAFKA_RESP_ERR_UNKNOWN;
    if (!code)
        *offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

rd_kafka_resp_err_t
kafka_range(rd_kafka_t *reader, const char *topic, int32_t partition, int timeout_ms, int64_t *low,
            int64_t *high)
{
    int64_t deadline = clock_mono() + timeout_ms * 1000LL;
    rd_kafka_resp_err_t code = ask_end(reader, topic, partition, false, timeout_ms, low);
    if (!code)
        code = ask_end(reader, topic, partition, true, kafka_wait(deadline, timeout_ms) + 1, high);
    return code;
}

int
kafka_wait(int64_t deadline, int most)
{
    int64_t left = (deadline - clock_mono()) / 1000;
    if (left < 0)
        return 0;
    return left < most ? (int)left : most;
}

#define TICK_MS 1000
#define ADMIN_LONGEST_MS (3600 * 1000) // the longest timeout that librdkafka takes

// Options for requests of one kind.
static rd_kafka_AdminOptions_t *
admin_options(rd_kafka_t *handle, rd_kafka_admin_op_t operation, int timeout_ms, bool takes_unstable)
{
    char text[128];
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(handle, operation);
    if (rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms, text, sizeof text))
        die("a timeout of %d ms is not taken by librdkafka: %s", timeout_ms, text);
    if (operation == RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS && !takes_unstable) {
        rd_kafka_error_t *error = rd_kafka_AdminOptions_set_require_stable_offsets(options, 1);
        if (error)
            die("librdkafka does not take require-stable: %s", rd_kafka_error_string(error));
    }
    return options;
}

// broker may be NULL.
static rd_kafka_event_t *
await_event(struct broker *broker, rd_kafka_queue_t *queue, int64_t deadline)
{
    for (;;) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, kafka_wait(deadline, TICK_MS));
        if (event || clock_mono() >= deadline)
            return event;
        if (broker && broker->tick)
            (void)broker->tick(broker->tick_context);
    }
}

// The next answer; NULL with err. The caller destroys it. broker may be NULL.
static rd_kafka_event_t *
next_answer(struct broker *broker, rd_kafka_queue_t *queue, int64_t deadline, const char *tried,
            struct err *err)
{
    struct trouble *trouble = broker ? &broker->trouble : NULL;
    rd_kafka_event_t *event = await_event(broker, queue, deadline);
    if (!event) {
        kafka_fail(err, RD_KAFKA_RESP_ERR__TIMED_OUT, trouble, "%s", tried);
        return NULL;
    }
    rd_kafka_resp_err_t code = rd_kafka_event_error(event);
    if (code) {
        kafka_fail(err, code, trouble, "%s: %s", tried, rd_kafka_event_error_string(event));
        rd_kafka_event_destroy(event);
        return NULL;
    }
    if (trouble)
        trouble->text[0] = '\0';
    return event;
}

bool
kafka_ask_all(struct broker *broker, const struct kafka_questions *questions, int timeout_ms, struct err *err)
{
    rd_kafka_t *handle = kafka_admin(broker);
    rd_kafka_AdminOptions_t *options =
        admin_options(handle, questions->operation, ADMIN_LONGEST_MS, questions->takes_unstable);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    for (size_t i = 0; i < questions->count; i++)
        questions->ask(handle, questions->requests[i], options, queue);
    int64_t deadline = clock_mono() + timeout_ms * 1000LL;
    size_t answered = 0;
    bool is_good = true;
    while (is_good && answered < questions->count) {
        rd_kafka_event_t *event = next_answer(broker, queue, deadline, questions->tried, err);
        is_good = event && questions->take(questions->context, event, err);
        answered += event != NULL;
        rd_kafka_event_destroy(event);
    }
    if (answered < questions->count && !broker->unanswered_at)
        broker->unanswered_at = clock_mono();
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_poll(handle, 0);
    return is_good;
}

bool
kafka_ask_each(rd_kafka_t *const *handles, const struct kafka_questions *questions, int timeout_ms,
               struct err *err)
{
    struct arena arena = {0};
    rd_kafka_queue_t **queues = arena_array(&arena, questions->count, sizeof(rd_kafka_queue_t *));
    for (size_t i = 0; i < questions->count; i++) {
        rd_kafka_AdminOptions_t *options =
            admin_options(handles[i], questions->operation, ADMIN_LONGEST_MS, questions->takes_unstable);
        queues[i] = rd_kafka_queue_new(handles[i]);
        questions->ask(handles[i], questions->requests[i], options, queues[i]);
        rd_kafka_AdminOptions_destroy(options);
    }
    int64_t deadline = clock_mono() + timeout_ms * 1000LL;
    bool is_good = true;
    for (size_t i = 0; i < questions->count; i++) {
        rd_kafka_event_t *event = NULL;
        if (is_good)
            event = next_answer(NULL, queues[i], deadline, questions->tried, err);
        is_good = event && questions->take(questions->context, event, err);
        rd_kafka_event_destroy(event);
        rd_kafka_queue_destroy(queues[i]);
    }
    arena_release(&arena);
    return is_good;
}

rd_kafka_event_t *
kafka_ask(struct broker *broker, rd_kafka_admin_op_t operation, kafka_ask_fn *ask, const void *request,
          int timeout_ms, const char *tried, struct err *err)
{
    rd_kafka_t *handle = kafka_admin(broker);
    rd_kafka_AdminOptions_t *options = admin_options(handle, operation, timeout_ms, false);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(handle);
    ask(handle, request, options, queue);
    int64_t deadline = clock_mono() + (timeout_ms + 1000) * 1000LL;
    rd_kafka_event_t *event = next_answer(broker, queue, deadline, tried, err);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_poll(handle, 0);
    return event;
}
