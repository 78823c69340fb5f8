// probe_rights: which ACLs are missing, one by one, each with the command that adds it, for `redrive doctor`.
//
// Rights are found by trying: before librdkafka 2.3 a client cannot query its own rights, and few may list
// ACLs. Nothing is written to a topic: Write is tried by a producer that was fenced before. The broker looks
// at the topic's ACL first (KafkaApis.handleAddPartitionsToTxnRequest) and then refuses the epoch.
#include "broker/probe/private.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "broker/kafka.h"
#include "broker/marker.h"
#include "broker/probe/rules.h"
#include "broker/producer.h"

#define TIMEOUT_MS 5000
#define PATIENCE_MS 15000

// --- what the protocol needs ---

// Is the answer this one? The sentence carries librdkafka's words for the code.
static bool
is_code(const struct err *err, rd_kafka_resp_err_t code)
{
    return strstr(err->text, rd_kafka_err2str(code)) != NULL;
}

static bool
lacks_transactions(const struct broker_settings *settings, const char *id)
{
    struct producer *producer = NULL;
    struct err err = {0};
    bool is_denied = !probe_take_id(settings, id, &producer, &err) && err.kind == ERR_DENIED;
    producer_destroy(producer);
    return is_denied;
}

void
probe_rights(struct broker *broker, const struct broker_settings *settings, const char *id,
             struct probe *probe)
{
    struct rights_seen seen = {.lacks_transactions = lacks_transactions(settings, id)};
    struct topic topic;
    struct err ignored = {0}, failure = {0};
    if (broker_topic(broker, MARKER_TOPIC, TIMEOUT_MS, &topic, &ignored))
        seen.marker_topic = topic.state;
    if (!marker_write_nonce(broker, id, 0, TIMEOUT_MS, &failure)) {
        seen.lacks_group = is_code(&failure, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
        seen.lacks_marker_topic = is_code(&failure, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    }
    probe_judge_rights(settings, &seen, probe);
}

// --- the topics that events go to ---

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
        probe_judge_target(targets->settings, name, false, MAY_PERHAPS, MAY_PERHAPS, targets->probe);
        return true;
    }
    if (!probe_take_id(targets->settings, targets->id, &next, err)) {
        producer_destroy(next);
        return false;
    }
    enum may may_write = topic.state == TOPIC_DENIED ? MAY_NOT : try_write(targets->holder, name);
    producer_destroy(targets->holder);
    targets->holder = next;
    enum may may_read = topic.state == TOPIC_DENIED ? MAY_NOT : try_read(targets->reader, name);
    probe_judge_target(targets->settings, name, true, may_write, may_read, targets->probe);
    return true;
}

bool
probe_targets(struct broker *broker, const struct broker_settings *settings, const char *install,
              const char *const *topics, size_t count, struct probe *probe, struct err *err)
{
    struct targets targets = {.broker = broker, .settings = settings, .probe = probe};
    snprintf(targets.id, sizeof targets.id, "redrive.%.40s.%s.probe.rights", install, probe->cluster.name);
    targets.reader = kafka_reader(settings, &targets.trouble, true, err);
    bool is_good = targets.reader && probe_take_id(settings, targets.id, &targets.holder, err);
    for (size_t i = 0; is_good && i < count; i++)
        is_good = look_at_target(&targets, topics[i], err);
    producer_destroy(targets.holder);
    if (targets.reader)
        rd_kafka_destroy(targets.reader);
    return is_good;
}
