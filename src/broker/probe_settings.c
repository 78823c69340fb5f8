// probe_settings: what the configuration of brokers and topics says about the promise, for `redrive doctor`.
#include "broker/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "broker/kafka.h"
#include "broker/marker.h"

#define TIMEOUT_MS 5000

struct examination {
    struct broker *broker;
    const char *brokers; // for commands
    struct probe *probe;
};

// One row per setting: at least `least` (or, for a flag, exactly `word`).
struct rule {
    const char *name;
    long long least;
    const char *word;
    const char *why;
    bool is_dynamic; // kafka-configs.sh changes it; else server.properties and a restart
};

static const struct rule broker_rules[] = {
    {"default.replication.factor", 3, NULL, "a topic made with it may be lost with one broker", false},
    {"min.insync.replicas", 2, NULL, "an acknowledged record may exist on one broker only", true},
    {"unclean.leader.election.enable", 0, "false",
     "a broker that is behind may become leader and lose records", true},
    {"transaction.state.log.replication.factor", 3, NULL,
     "the fate of transactions may be lost with one broker", false},
    {"transaction.state.log.min.isr", 2, NULL, "the fate of a transaction may be known to one broker only",
     false},
    {"offsets.topic.replication.factor", 3, NULL, "markers may be lost with one broker", false},
    {"offsets.retention.minutes", 1440, NULL, "markers of idle slots expire before they are refreshed",
     false},
    {"transaction.max.timeout.ms", 30000, NULL, "transactions of redrive need 30 s", false},
    {"transactional.id.expiration.ms", 86400000, NULL, "transactional ids of idle slots expire early", false},
};

static const struct rule topic_rules[] = {
    {"min.insync.replicas", 2, NULL, "an acknowledged record may exist on one broker only", true},
    {"unclean.leader.election.enable", 0, "false",
     "a broker that is behind may become leader and lose records", true},
};

// topic NULL: of the brokers.
static void
judge(const struct examination *examination, const struct rule *rule, const char *topic, const char *value)
{
    bool is_ok = rule->word ? strcmp(value, rule->word) == 0 : strtoll(value, NULL, 10) >= rule->least;
    char remedy[PROBE_REMEDY], wanted[80], of[300] = "";
    if (rule->word)
        snprintf(wanted, sizeof wanted, "%s=%s", rule->name, rule->word);
    else
        snprintf(wanted, sizeof wanted, "%s=%lld", rule->name, rule->least);
    if (topic)
        snprintf(of, sizeof of, "--entity-type topics --entity-name %.249s", topic);
    else
        snprintf(of, sizeof of, "--entity-type brokers --entity-default");
    if (rule->is_dynamic)
        snprintf(remedy, sizeof remedy,
                 "kafka-configs.sh --bootstrap-server %.100s --alter %s --add-config %s",
                 examination->brokers, of, wanted);
    else
        snprintf(remedy, sizeof remedy,
                 "put %s into server.properties of every broker and restart them in turn", wanted);
    probe_found(examination->probe, is_ok, remedy, "%s%s%.100s is %s%s%s", rule->name,
                topic ? " of the topic " : "", topic ? topic : "", value, is_ok ? "" : ": ",
                is_ok ? "" : rule->why);
}

struct wanted {
    rd_kafka_ResourceType_t type;
    const char *name;
};

static void
ask_configs(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options,
            rd_kafka_queue_t *queue)
{
    const struct wanted *wanted = request;
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(wanted->type, wanted->name);
    rd_kafka_DescribeConfigs(handle, &resource, 1, options, queue);
    rd_kafka_ConfigResource_destroy(resource);
}

static void
judge_entries(const struct examination *examination, const struct rule *rules, size_t rule_count,
              const char *topic, const rd_kafka_ConfigResource_t *resource)
{
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t r = 0; r < rule_count; r++)
        for (size_t i = 0; i < count; i++) {
            const char *value = rd_kafka_ConfigEntry_value(entries[i]);
            if (value && strcmp(rd_kafka_ConfigEntry_name(entries[i]), rules[r].name) == 0)
                judge(examination, &rules[r], topic, value);
        }
}

// topic NULL: of the broker with this id.
static bool
look_at_configs(const struct examination *examination, const char *topic, const char *id)
{
    const struct wanted wanted = {topic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_BROKER,
                                  topic ? topic : id};
    struct err err = {0};
    rd_kafka_event_t *event = kafka_ask(examination->broker, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, ask_configs,
                                        &wanted, TIMEOUT_MS, "reading settings", &err);
    size_t count = 0;
    const rd_kafka_ConfigResource_t **resources =
        event
            ? rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)
            : NULL;
    rd_kafka_resp_err_t code =
        count ? rd_kafka_ConfigResource_error(resources[0]) : RD_KAFKA_RESP_ERR_UNKNOWN;
    if (!code && topic)
        judge_entries(examination, topic_rules, sizeof topic_rules / sizeof *topic_rules, topic,
                      resources[0]);
    else if (!code)
        judge_entries(examination, broker_rules, sizeof broker_rules / sizeof *broker_rules, NULL,
                      resources[0]);
    if (event)
        rd_kafka_event_destroy(event);
    return !code;
}

// Knowing them is not needed to publish, so a right that is missing is only noted.
static void
look_at_broker(const struct examination *examination, int id)
{
    char text[16], remedy[PROBE_REMEDY];
    snprintf(text, sizeof text, "%d", id);
    snprintf(remedy, sizeof remedy,
             "an administrator looks, or allows it: kafka-acls.sh --bootstrap-server %.100s --add "
             "--allow-principal … "
             "--operation DescribeConfigs --cluster",
             examination->brokers);
    if (broker_is_mock(examination->broker->cluster_id))
        probe_note(examination->probe, "", "the brokers' settings are those of a demo");
    else if (!look_at_configs(examination, NULL, text))
        probe_note(examination->probe, remedy,
                   "the brokers' settings may not be read, so that what endangers the promise is not known");
}

static void
look_at_copies(const struct examination *examination, const rd_kafka_metadata_topic_t *topic, int brokers)
{
    if (topic->err || topic->partition_cnt == 0)
        return;
    int copies = topic->partitions[0].replica_cnt;
    for (int i = 1; i < topic->partition_cnt; i++)
        if (topic->partitions[i].replica_cnt < copies)
            copies = topic->partitions[i].replica_cnt;
    char remedy[PROBE_REMEDY];
    snprintf(remedy, sizeof remedy,
             "raise it to 3: kafka-reassign-partitions.sh --bootstrap-server %.100s --generate "
             "--topics-to-move-json-file … --broker-list …, then --execute",
             examination->brokers);
    probe_found(examination->probe, copies >= 3,
                brokers >= 3 ? remedy
                             : "a cluster of one or two brokers cannot do better; production needs three",
                "the topic %.100s has %d cop%s", topic->topic, copies, copies == 1 ? "y" : "ies");
    if (brokers >= 3)
        look_at_configs(examination, topic->topic, NULL);
}

static const rd_kafka_metadata_topic_t *
find_topic(const struct rd_kafka_metadata *metadata, const char *name)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (strcmp(metadata->topics[i].topic, name) == 0)
            return &metadata->topics[i];
    return NULL;
}

void
probe_cluster_settings(struct broker *broker, const struct broker_settings *settings,
                       const char *const *topics, size_t count, struct probe *probe)
{
    static const char *const ours[] = {MARKER_TOPIC, "__consumer_offsets", "__transaction_state"};
    const struct examination examination = {
        .broker = broker, .brokers = settings->brokers ? settings->brokers : "HOST:PORT", .probe = probe};
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(broker->handle, 1, NULL, &metadata, TIMEOUT_MS);
    if (code) {
        probe_found(probe, false, "see whether the brokers answer",
                    "the cluster's topics could not be read: %s", rd_kafka_err2str(code));
        return;
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours + count; i++) {
        const char *name = i < sizeof ours / sizeof *ours ? ours[i] : topics[i - sizeof ours / sizeof *ours];
        const rd_kafka_metadata_topic_t *topic = find_topic(metadata, name);
        if (topic)
            look_at_copies(&examination, topic, metadata->broker_cnt);
    }
    if (metadata->broker_cnt > 0)
        look_at_broker(&examination, metadata->brokers[0].id);
    rd_kafka_metadata_destroy(metadata);
}
