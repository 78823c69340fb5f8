#include "broker/broker.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "broker/kafka.h"

#define OWN_GROUP "redrive.looks" // within the prefix that rights are granted for
#define TOPIC_SHELF_LIFE (30 * US_PER_SECOND)
#define UNANSWERED_MOST (20 * US_PER_SECOND) // a slow connection needs some round trips

static rd_kafka_t *
open_handle(struct broker *broker, struct err *err)
{
    rd_kafka_conf_t *conf = kafka_conf(&broker->settings, &broker->trouble, err);
    if (!conf)
        return NULL;
    // Told that a group's coordinator has moved, librdkafka (2.0.2, and 2.12 still:
    // confluentinc/librdkafka#5315) tells the handle's own group, and follows a null pointer where there
    // is none. So this handle has one, which it never joins.
    kafka_set(conf, "group.id", OWN_GROUP);
    return kafka_handle(RD_KAFKA_CONSUMER, conf, err);
}

static void
close_handle(rd_kafka_t *handle)
{
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

bool
broker_open(struct broker **broker, const struct broker_settings *settings, struct err *err)
{
    *broker = NULL;
    if (!broker_settings_present(settings))
        return err_set(err, ERR_USAGE,
                       "no Kafka brokers are given: use -b HOST:PORT, or brokers in the configuration");

    struct broker *fresh = alloc_bytes(sizeof *fresh);
    fresh->settings = *settings;
    fresh->handle = open_handle(fresh, err);
    if (!fresh->handle) {
        free(fresh);
        return false;
    }
    *broker = fresh;
    return true;
}

void
broker_set_tick(struct broker *broker, broker_tick_fn *tick, void *context)
{
    broker->tick = tick;
    broker->tick_context = context;
}

void
broker_close(struct broker *broker)
{
    if (!broker)
        return;

    if (broker->reader)
        rd_kafka_destroy(broker->reader);
    close_handle(broker->handle);
    free(broker->topics);
    free(broker->watermarks);
    free(broker->leaders);
    for (size_t i = 0; i < broker->ends_count; i++)
        strbuf_release(&broker->ends[i].text);
    free(broker->ends);
    strbuf_release(&broker->groups.topics);
    free(broker->groups.rows);
    free(broker);
}

void
broker_tend(struct broker *broker)
{
    if (!broker->unanswered_at || clock_mono() - broker->unanswered_at < UNANSWERED_MOST)
        return;
    struct err ignored = {0};
    rd_kafka_t *fresh = open_handle(broker, &ignored);
    if (!fresh) // the old one serves until then
        return;
    close_handle(broker->handle);
    broker->handle = fresh;
    broker->unanswered_at = 0;
}

rd_kafka_t *
kafka_admin(struct broker *broker)
{
    broker_tend(broker);
    return broker->handle;
}

// Waits for an answer of any broker, so that what made the connection fail is known when none comes.
static bool
reach(struct broker *broker, int timeout_ms, struct err *err)
{
    int64_t deadline = clock_mono() + timeout_ms * 1000LL;
    rd_kafka_t *handle = kafka_admin(broker);
    for (int patience = 1000;; patience *= 2) { // an answer that comes too late for one question is no answer
        const struct rd_kafka_metadata *metadata;
        int wait = kafka_wait(deadline, patience);
        rd_kafka_resp_err_t code = rd_kafka_metadata(handle, 0, NULL, &metadata, wait > 0 ? wait : 1);
        rd_kafka_poll(handle, 0);
        if (!code) {
            rd_kafka_metadata_destroy(metadata);
            broker->trouble.text[0] = '\0';
            return true;
        }
        // Another broker may be luckier within a second; a login refused again and again may lock the
        // account.
        bool is_lasting = broker->trouble.text[0] && broker->trouble.kind != TROUBLE_PASSES &&
                          kafka_wait(deadline, timeout_ms) < timeout_ms - 1000;
        if (is_lasting || kafka_wait(deadline, 1) == 0)
            return kafka_fail(err, code, &broker->trouble, "Kafka cannot be reached");
        if (code == RD_KAFKA_RESP_ERR__TRANSPORT)
            clock_sleep(100000); // refused at once: do not spin
        if (patience > timeout_ms)
            patience = timeout_ms;
    }
}

bool
broker_cluster_id(struct broker *broker, int timeout_ms, char id[64], struct err *err)
{
    if (!broker->cluster_id[0]) {
        if (!reach(broker, timeout_ms, err))
            return false;
        char *told = rd_kafka_clusterid(broker->handle, timeout_ms);
        if (!told)
            return kafka_fail(err, RD_KAFKA_RESP_ERR__TIMED_OUT, &broker->trouble,
                              "Kafka does not tell its cluster id");
        snprintf(broker->cluster_id, sizeof broker->cluster_id, "%s", told);
        rd_kafka_mem_free(broker->handle, told);
        for (char *c = broker->cluster_id; *c; c++)
            if (!isalnum((unsigned char)*c) && *c != '-')
                *c = '_';
    }
    memcpy(id, broker->cluster_id, sizeof broker->cluster_id);
    return true;
}

bool
broker_is_mock(const char *cluster_id)
{
    return strncmp(cluster_id, "mockCluster", strlen("mockCluster")) == 0;
}

static struct known_topic *
find_topic(struct broker *broker, const char *name)
{
    for (size_t i = 0; i < broker->topic_count; i++)
        if (strcmp(broker->topics[i].name, name) == 0)
            return &broker->topics[i];
    return NULL;
}

static void
ask_configs(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options,
            rd_kafka_queue_t *queue)
{
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, request);
    rd_kafka_DescribeConfigs(handle, &resource, 1, options, queue);
    rd_kafka_ConfigResource_destroy(resource);
}

// The topic's max.message.bytes; -1 where it cannot be asked: knowing it is a convenience, not a need.
static int64_t
ask_max_bytes(struct broker *broker, const char *name, int timeout_ms)
{
    if (broker->lacks_configs || broker_is_mock(broker->cluster_id))
        return -1;
    struct err ignored = {0};
    rd_kafka_event_t *event = kafka_ask(broker, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, ask_configs, name,
                                        timeout_ms, "asking for max.message.bytes", &ignored);
    broker->lacks_configs = !event;
    if (!event)
        return -1;

    int64_t bytes = -1;
    size_t resource_count = 0, entry_count = 0;
    const rd_kafka_DescribeConfigs_result_t *result = rd_kafka_event_DescribeConfigs_result(event);
    const rd_kafka_ConfigResource_t **resources =
        rd_kafka_DescribeConfigs_result_resources(result, &resource_count);
    if (resource_count == 1 && !rd_kafka_ConfigResource_error(resources[0])) {
        const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resources[0], &entry_count);
        for (size_t i = 0; i < entry_count; i++) {
            const char *value = rd_kafka_ConfigEntry_value(entries[i]);
            if (value && strcmp(rd_kafka_ConfigEntry_name(entries[i]), "max.message.bytes") == 0)
                bytes = strtoll(value, NULL, 10);
        }
    }
    rd_kafka_event_destroy(event);
    return bytes;
}

static bool
ask_partitions(struct broker *broker, const char *name, int timeout_ms, struct topic *topic, struct err *err)
{
    rd_kafka_t *admin = kafka_admin(broker);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(admin, name, NULL);
    if (!handle) // a name that Kafka does not allow
        return topic->state = TOPIC_MISSING, true;

    const struct rd_kafka_metadata *metadata;
    rd_kafka_resp_err_t code = rd_kafka_metadata(admin, 0, handle, &metadata, timeout_ms);
    rd_kafka_poll(admin, 0);
    rd_kafka_topic_destroy(handle);
    if (code)
        return kafka_fail(err, code, &broker->trouble, "asking for topic %s", name);

    code = metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    topic->partitions = code ? 0 : metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    switch (code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
        topic->state = TOPIC_KNOWN;
        return true;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        topic->state = TOPIC_DENIED;
        return true;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        topic->state = TOPIC_MISSING;
        return true;
    default:
        return kafka_fail(err, code, &broker->trouble, "asking for topic %s", name);
    }
}

bool
broker_topic(struct broker *broker, const char *name, int timeout_ms, struct topic *topic, struct err *err)
{
    struct known_topic *known = find_topic(broker, name);
    if (known && clock_mono() - known->asked_at < TOPIC_SHELF_LIFE) {
        *topic = known->topic;
        return true;
    }

    *topic = (struct topic){.max_bytes = -1};
    if (strlen(name) >= sizeof known->name) // Kafka's names end at 249 characters
        return topic->state = TOPIC_MISSING, true;
    if (!ask_partitions(broker, name, timeout_ms, topic, err))
        return false;
    if (topic->state == TOPIC_KNOWN)
        topic->max_bytes = ask_max_bytes(broker, name, timeout_ms);

    if (!known) {
        broker->topics =
            alloc_grow(broker->topics, broker->topic_count, &broker->topic_capacity, sizeof *broker->topics);
        known = &broker->topics[broker->topic_count++];
        snprintf(known->name, sizeof known->name, "%s", name);
    }
    known->topic = *topic;
    known->asked_at = clock_mono();
    return true;
}

int64_t
broker_smallest_limit(const struct broker *broker, int64_t otherwise)
{
    int64_t smallest = otherwise;
    for (size_t i = 0; i < broker->topic_count; i++) {
        int64_t limit = broker->topics[i].topic.max_bytes;
        if (limit > 0 && limit < smallest)
            smallest = limit;
    }
    return smallest;
}

void
broker_deny_topic(struct broker *broker, const char *name)
{
    struct known_topic *known = find_topic(broker, name);
    if (!known)
        return;
    known->topic.state = TOPIC_DENIED;
    known->asked_at = clock_mono();
}

void
broker_forget_topics(struct broker *broker)
{
    for (size_t i = 0; i < broker->topic_count; i++)
        broker->topics[i].asked_at = INT64_MIN / 2;
}
