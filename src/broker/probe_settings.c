// probe_settings: what the configuration of brokers and topics says about the promise, for `redrive doctor`.
#include "broker/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "broker/kafka.h"
#include "broker/marker.h"

#define TIMEOUT_MS 5000

// One row per setting: at least `least` (or, for a flag, exactly `word`).
static const struct rule {
    const char *name;
    long long least;
    const char *word;
    const char *why;
} rules[] = {
    {"default.replication.factor", 3, NULL, "a topic made with it may be lost with one broker"},
    {"min.insync.replicas", 2, NULL, "an acknowledged record may exist on one broker only"},
    {"unclean.leader.election.enable", 0, "false",
     "a broker that is behind may become leader and lose records"},
    {"transaction.state.log.replication.factor", 3, NULL,
     "the fate of transactions may be lost with one broker"},
    {"transaction.state.log.min.isr", 2, NULL, "the fate of a transaction may be known to one broker only"},
    {"offsets.topic.replication.factor", 3, NULL, "markers may be lost with one broker"},
    {"offsets.retention.minutes", 1440, NULL, "markers of idle slots expire before they are refreshed"},
    {"transaction.max.timeout.ms", 30000, NULL, "transactions of redrive need 30 s"},
    {"transactional.id.expiration.ms", 86400000, NULL, "transactional ids of idle slots expire early"},
};

static void
judge(struct probe *probe, const struct rule *rule, const char *value)
{
    bool is_ok = rule->word ? strcmp(value, rule->word) == 0 : strtoll(value, NULL, 10) >= rule->least;
    char remedy[200], wanted[32];
    snprintf(wanted, sizeof wanted, "%lld", rule->least);
    snprintf(remedy, sizeof remedy, "set %s=%s on the brokers", rule->name, rule->word ? rule->word : wanted);
    probe_found(probe, is_ok, remedy, "%s is %s%s%s", rule->name, value, is_ok ? "" : ": ",
                is_ok ? "" : rule->why);
}

static void
ask_broker(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue)
{
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, request);
    rd_kafka_DescribeConfigs(handle, &resource, 1, options, queue);
    rd_kafka_ConfigResource_destroy(resource);
}

static void
judge_entries(struct probe *probe, const rd_kafka_ConfigResource_t *resource)
{
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t i = 0; i < count; i++) {
            const char *value = rd_kafka_ConfigEntry_value(entries[i]);
            if (value && strcmp(rd_kafka_ConfigEntry_name(entries[i]), rules[r].name) == 0)
                judge(probe, &rules[r], value);
        }
}

static void
look_at_broker(struct broker *broker, struct probe *probe, int id)
{
    char text[16];
    snprintf(text, sizeof text, "%d", id);
    struct err err = {0};
    rd_kafka_event_t *event = kafka_ask(broker, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, ask_broker, text,
                                        TIMEOUT_MS, "reading the brokers' settings", &err);
    size_t count = 0;
    const rd_kafka_ConfigResource_t **resources =
        event
            ? rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)
            : NULL;
    rd_kafka_resp_err_t code =
        count ? rd_kafka_ConfigResource_error(resources[0]) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (count && !code)
        judge_entries(probe, resources[0]);
    else
        probe_found(probe, false, "grant DescribeConfigs on the cluster, or ask an administrator for them",
                    "the brokers' settings may not be read (%.200s)",
                    count ? rd_kafka_err2str(code) : err.text);
    if (event)
        rd_kafka_event_destroy(event);
}

static void
look_at_topic(struct probe *probe, const rd_kafka_metadata_topic_t *topic, int brokers)
{
    if (topic->err || topic->partition_cnt == 0)
        return;
    int copies = topic->partitions[0].replica_cnt;
    char remedy[200];
    snprintf(remedy, sizeof remedy, "raise the replication of %.100s to 3 with kafka-reassign-partitions.sh",
             topic->topic);
    probe_found(probe, copies >= 3,
                brokers >= 3 ? remedy
                             : "a cluster of one or two brokers cannot do better; production needs three",
                "the topic %s has %d cop%s", topic->topic, copies, copies == 1 ? "y" : "ies");
}

void
probe_cluster_settings(struct broker *broker, struct probe *probe)
{
    static const char *const names[] = {MARKER_TOPIC, "__consumer_offsets", "__transaction_state"};
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(broker->handle, 1, NULL, &metadata, TIMEOUT_MS);
    if (code) {
        probe_found(probe, false, "see whether the brokers answer",
                    "the cluster's topics could not be read: %s", rd_kafka_err2str(code));
        return;
    }
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int i = 0; i < metadata->topic_cnt; i++)
            if (strcmp(metadata->topics[i].topic, names[n]) == 0)
                look_at_topic(probe, &metadata->topics[i], metadata->broker_cnt);
    if (metadata->broker_cnt > 0)
        look_at_broker(broker, probe, metadata->brokers[0].id);
    rd_kafka_metadata_destroy(metadata);
}
