// probe_settings: reads the settings of brokers and topics that affect the guarantee, for `redrive doctor`.
#include "broker/probe/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "broker/kafka.h"
#include "broker/marker.h"

#define TIMEOUT_MS 5000

struct settings_probe {
    struct broker *broker;
    const struct broker_settings *settings;
    struct probe *probe;
};

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
judge_entries(const struct settings_probe *examination, const char *topic,
              const rd_kafka_ConfigResource_t *resource)
{
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    struct broker_property *values = alloc_array(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct broker_property){rd_kafka_ConfigEntry_name(entries[i]),
                                             rd_kafka_ConfigEntry_value(entries[i])};
    probe_judge_settings(examination->settings, topic, values, count, examination->probe);
    free(values);
}

// topic NULL: of the broker with this id.
static bool
look_at_configs(const struct settings_probe *examination, const char *topic, const char *id)
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
    if (!code)
        judge_entries(examination, topic, resources[0]);
    if (event)
        rd_kafka_event_destroy(event);
    return !code;
}

static void
look_at_broker(const struct settings_probe *examination, int id)
{
    char text[16];
    snprintf(text, sizeof text, "%d", id);
    if (broker_is_mock(examination->broker->cluster_id))
        probe_note(examination->probe, "", "the brokers' settings are those of a demo");
    else if (!look_at_configs(examination, NULL, text))
        probe_judge_unread(examination->settings, examination->probe);
}

static void
look_at_copies(const struct settings_probe *examination, const rd_kafka_metadata_topic_t *topic, int brokers)
{
    if (topic->err || topic->partition_cnt == 0)
        return;
    int copies = topic->partitions[0].replica_cnt;
    for (int i = 1; i < topic->partition_cnt; i++)
        if (topic->partitions[i].replica_cnt < copies)
            copies = topic->partitions[i].replica_cnt;
    probe_judge_copies(examination->settings, topic->topic, copies, brokers, examination->probe);
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
    const struct settings_probe examination = {.broker = broker, .settings = settings, .probe = probe};
    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(kafka_admin(broker), 1, NULL, &metadata, TIMEOUT_MS);
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
