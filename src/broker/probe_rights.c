// probe_rights: which ACLs are missing, one by one, each with the command that adds it, for `redrive doctor`.
//
// Rights are found by trying, since a client may not ask for its own before librdkafka 2.3, and few may list
// ACLs. Nothing is written to a topic: Write is tried by a producer that was fenced before. The broker looks
// at the topic's ACL first (KafkaApis.handleAddPartitionsToTxnRequest) and then refuses the epoch.
#include "broker/probe_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/clock.h"
#include "broker/kafka.h"
#include "broker/marker.h"
#include "broker/producer.h"

#define TIMEOUT_MS 5000
#define PATIENCE_MS 15000

static const char *
property(const struct broker_settings *settings, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < settings->property_count; i++)
        if (strcmp(settings->properties[i].name, name) == 0)
            value = settings->properties[i].value;
    return value;
}

// Whom the ACLs are for, as kafka-acls.sh wants it.
static void
principal(const struct broker_settings *settings, char *out, size_t room)
{
    const char *user = property(settings, "sasl.username"),
               *protocol = property(settings, "security.protocol");
    if (user)
        snprintf(out, room, "User:%.80s", user);
    else if (protocol && strcasecmp(protocol, "ssl") == 0)
        snprintf(out, room, "'User:<the subject of its certificate>'");
    else
        snprintf(out, room, "User:ANONYMOUS");
}

// The tool's words up to what is asked of it.
static void
begin_command(const struct broker_settings *settings, const char *tool, char *out, size_t room)
{
    snprintf(out, room, "%s --bootstrap-server %.100s", tool,
             settings->brokers ? settings->brokers : "HOST:PORT");
}

__attribute__((format(printf, 4, 5))) static void
lacks(struct probe *probe, const struct broker_settings *settings, const char *resource, const char *format,
      ...)
{
    char who[120], command[160], remedy[PROBE_REMEDY], sentence[200];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    principal(settings, who, sizeof who);
    begin_command(settings, "kafka-acls.sh", command, sizeof command);
    snprintf(remedy, sizeof remedy, "%s --add --allow-principal %s %s", command, who, resource);
    probe_found(probe, false, remedy, "%s", sentence);
}

// --- what the protocol needs ---

// Is the answer this one? The sentence carries librdkafka's words for the code.
static bool
is_code(const struct err *err, rd_kafka_resp_err_t code)
{
    return strstr(err->text, rd_kafka_err2str(code)) != NULL;
}

static bool
init_handle(const struct broker_settings *settings, const char *id, struct producer **producer,
            struct err *err)
{
    const struct producer_settings how = {.txn_id = id, .records = 1};
    if (!producer_open(producer, settings, &how, err))
        return false;
    int64_t deadline = clock_mono() + PATIENCE_MS * 1000LL;
    for (bool is_done = false; !is_done;) {
        if (!producer_init(*producer, 20, &is_done, err))
            return false;
        if (!is_done && clock_mono() > deadline)
            return err_set(err, ERR_UNREACHABLE, "Kafka did not give a transactional id within %d s",
                           PATIENCE_MS / 1000);
    }
    return true;
}

static void
look_at_transactions(const struct broker_settings *settings, const char *id, struct probe *probe)
{
    struct producer *producer = NULL;
    struct err err = {0};
    if (!init_handle(settings, id, &producer, &err) && err.kind == ERR_DENIED)
        lacks(probe, settings,
              "--operation Write --operation Describe --transactional-id redrive. --resource-pattern-type "
              "prefixed",
              "Write on transactional ids that begin with redrive. is missing");
    producer_destroy(producer);
}

static void
lacks_marker(const struct broker_settings *settings, struct probe *probe)
{
    lacks(probe, settings, "--operation Read --operation Describe --topic " MARKER_TOPIC,
          "Read on the topic " MARKER_TOPIC " is missing");
}

static void
look_at_marker(struct broker *broker, const struct broker_settings *settings, const char *group,
               struct probe *probe)
{
    struct topic topic;
    struct err err = {0}, failure = {0};
    bool is_known = broker_topic(broker, MARKER_TOPIC, TIMEOUT_MS, &topic, &err);
    bool is_denied = is_known && topic.state == TOPIC_DENIED;
    if (is_known && topic.state == TOPIC_MISSING) {
        char remedy[PROBE_REMEDY];
        begin_command(settings, "kafka-topics.sh", remedy, 200);
        snprintf(remedy + strlen(remedy), sizeof remedy - strlen(remedy),
                 " --create --topic " MARKER_TOPIC " --partitions 2");
        probe_found(probe, false, remedy, "the topic " MARKER_TOPIC " is missing and may not be created");
    }

    bool is_written = marker_write_nonce(broker, group, 0, TIMEOUT_MS, &failure);
    if (!is_written && is_code(&failure, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED))
        lacks(probe, settings,
              "--operation Read --operation Describe --group redrive. --resource-pattern-type prefixed",
              "Read on groups that begin with redrive. is missing");
    if (is_denied || (!is_written && is_code(&failure, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)))
        lacks_marker(settings, probe);
}

void
probe_rights(struct broker *broker, const struct broker_settings *settings, const char *id,
             struct probe *probe)
{
    look_at_transactions(settings, id, probe);
    look_at_marker(broker, settings, id, probe);
}

// --- the topics that events go to ---

enum may { MAY, MAY_NOT, MAY_PERHAPS };

// `fenced` can write nowhere any more; how it is refused tells the ACL.
static enum may
try_write(struct producer *fenced, const char *topic)
{
    const struct producer_record record = {.topic = topic, .partition = 0};
    struct err err = {0};
    struct report report;
    bool is_full = false;
    size_t count = 0;
    if (!producer_begin(fenced, &err) || !producer_warm(fenced, &topic, 1, TIMEOUT_MS, &err) ||
        !producer_send(fenced, &record, 0, &is_full, &err))
        return MAY_PERHAPS;
    for (int i = 0; !count && i < PATIENCE_MS / 100; i++)
        if (!producer_serve(fenced, 100, &report, 1, &count, &err))
            return MAY_PERHAPS;
    if (!count)
        return MAY_PERHAPS;
    if (report.kind == REPORT_TOPIC)
        return report.cause == ERR_DENIED ? MAY_NOT : MAY_PERHAPS;
    if (report.kind != REPORT_BROKEN)
        return MAY_PERHAPS;
    producer_why(fenced, &err);
    return err.kind == ERR_DENIED ? MAY_NOT : err.kind == ERR_CONFLICT ? MAY : MAY_PERHAPS;
}

// Fetches from the end of partition 0: one answer, whether there is something or not.
static enum may
try_read(rd_kafka_t *reader, const char *name)
{
    enum may may = MAY_PERHAPS;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(reader, name, NULL);
    if (!topic || rd_kafka_consume_start(topic, 0, RD_KAFKA_OFFSET_TAIL(1))) {
        if (topic)
            rd_kafka_topic_destroy(topic);
        return may;
    }
    int64_t deadline = clock_mono() + TIMEOUT_MS * 1000LL;
    while (may == MAY_PERHAPS && kafka_wait(deadline, 1) > 0) {
        rd_kafka_message_t *message = rd_kafka_consume(topic, 0, kafka_wait(deadline, 200));
        rd_kafka_poll(reader, 0);
        if (message && (!message->err || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF))
            may = MAY;
        else if (message && message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
            may = MAY_NOT;
        if (message)
            rd_kafka_message_destroy(message);
    }
    rd_kafka_consume_stop(topic, 0);
    rd_kafka_topic_destroy(topic);
    return may;
}

static void
lacks_on_topic(struct probe *probe, const struct broker_settings *settings, const char *operation,
               const char *name, const char *why)
{
    char resource[320];
    snprintf(resource, sizeof resource, "--operation %s --operation Describe --topic %.249s", operation,
             name);
    lacks(probe, settings, resource, "%s on the topic %.60s is missing: %s", operation, name, why);
}

struct targets {
    struct broker *broker;
    const struct broker_settings *settings;
    char id[200];
    struct producer *holder; // of the id; the next one fences it
    rd_kafka_t *reader;
    struct trouble trouble;
    struct probe *probe;
};

static bool
look_at_target(struct targets *targets, const char *name, struct err *err)
{
    struct topic topic;
    struct producer *next = NULL;
    if (!broker_topic(targets->broker, name, TIMEOUT_MS, &topic, err))
        return false;
    if (topic.state == TOPIC_MISSING) {
        probe_found(targets->probe, false,
                    "its events are refused until it is there, or are sent elsewhere with --to",
                    "the topic %.100s does not exist", name);
        return true;
    }
    if (!init_handle(targets->settings, targets->id, &next, err)) {
        producer_destroy(next);
        return false;
    }
    enum may may_write = topic.state == TOPIC_DENIED ? MAY_NOT : try_write(targets->holder, name);
    producer_destroy(targets->holder);
    targets->holder = next;
    enum may may_read = topic.state == TOPIC_DENIED ? MAY_NOT : try_read(targets->reader, name);

    if (may_write == MAY_NOT)
        lacks_on_topic(targets->probe, targets->settings, "Write", name, "its events are refused");
    if (may_read == MAY_NOT)
        lacks_on_topic(targets->probe, targets->settings, "Read", name,
                       "original bytes are not fetched, chunks in doubt are not searched");
    if (may_write == MAY && may_read == MAY)
        probe_found(targets->probe, true, "", "the topic %.100s may be written to and read", name);
    else if (may_write == MAY_PERHAPS || may_read == MAY_PERHAPS)
        probe_found(targets->probe, true, "", "whether %.100s may be written to and read was not found out",
                    name);
    return true;
}

bool
probe_targets(struct broker *broker, const struct broker_settings *settings, const char *install,
              const char *const *topics, size_t count, struct probe *probe, struct err *err)
{
    struct targets targets = {.broker = broker, .settings = settings, .probe = probe};
    snprintf(targets.id, sizeof targets.id, "redrive.%.40s.%s.probe.rights", install, probe->cluster.name);
    targets.reader = kafka_reader(settings, &targets.trouble, true, err);
    bool is_good = targets.reader && init_handle(settings, targets.id, &targets.holder, err);
    for (size_t i = 0; is_good && i < count; i++)
        is_good = look_at_target(&targets, topics[i], err);
    producer_destroy(targets.holder);
    if (targets.reader)
        rd_kafka_destroy(targets.reader);
    return is_good;
}
