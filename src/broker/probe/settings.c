// probe_settings: reads the settings of brokers and topics that affect the guarantee, and those of topics of
// dead letters, for `redrive doctor`.
#include "broker/probe/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "broker/kafka.h"
#include "broker/marker.h"
#include "core/event.h"

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

typedef void judge_fn(void *context, const struct broker_property *values, size_t count);

static void
hand_on(const rd_kafka_ConfigResource_t *resource, judge_fn *judge, void *context)
{
    size_t count = 0;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    struct broker_property *values = alloc_array(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct broker_property){rd_kafka_ConfigEntry_name(entries[i]),
                                             rd_kafka_ConfigEntry_value(entries[i])};
    judge(context, values, count);
    free(values);
}

// topic NULL: of the broker with this id.
static bool
read_configs(const struct settings_probe *examination, const char *topic, const char *id, judge_fn *judge,
             void *context)
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
        hand_on(resources[0], judge, context);
    if (event)
        rd_kafka_event_destroy(event);
    return !code;
}

struct judged {
    const struct settings_probe *examination;
    const char *topic;
};

static void
judge_values(void *context, const struct broker_property *values, size_t count)
{
    const struct judged *judged = context;
    probe_judge_settings(judged->examination->settings, judged->topic, values, count,
                         judged->examination->probe);
}

static bool
look_at_configs(const struct settings_probe *examination, const char *topic, const char *id)
{
    struct judged judged = {examination, topic};
    return read_configs(examination, topic, id, judge_values, &judged);
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

static int
copies_of(const rd_kafka_metadata_topic_t *topic)
{
    int copies = topic->partition_cnt ? topic->partitions[0].replica_cnt : 0;
    for (int i = 1; i < topic->partition_cnt; i++)
        if (topic->partitions[i].replica_cnt < copies)
            copies = topic->partitions[i].replica_cnt;
    return copies;
}

static void
look_at_copies(const struct settings_probe *examination, const rd_kafka_metadata_topic_t *topic)
{
    if (topic->err || topic->partition_cnt == 0)
        return;
    probe_judge_copies(examination->settings, topic->topic, copies_of(topic), examination->probe);
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
    bool is_enough = metadata->broker_cnt >= BROKERS_ENOUGH;
    if (!broker_is_mock(broker->cluster_id))
        probe_judge_brokers(metadata->broker_cnt, probe);
    for (size_t i = 0; is_enough && i < sizeof ours / sizeof *ours + count; i++) {
        const char *name = i < sizeof ours / sizeof *ours ? ours[i] : topics[i - sizeof ours / sizeof *ours];
        const rd_kafka_metadata_topic_t *topic = find_topic(metadata, name);
        if (topic)
            look_at_copies(&examination, topic);
    }
    if (metadata->broker_cnt > 0)
        look_at_broker(&examination, metadata->brokers[0].id);
    rd_kafka_metadata_destroy(metadata);
}

// --- topics of dead letters ---

// The topics that are named like dead letter queues, by name.
struct queues {
    const struct rd_kafka_metadata *metadata;
    const rd_kafka_metadata_topic_t **topics;
    size_t count;
};

static int
by_name(const void *a, const void *b)
{
    const rd_kafka_metadata_topic_t *const *one = a, *const *other = b;
    return strcmp((*one)->topic, (*other)->topic);
}

static struct queues
find_queues(const struct rd_kafka_metadata *metadata)
{
    struct queues queues = {metadata, alloc_array((size_t)metadata->topic_cnt + 1, sizeof *queues.topics), 0};
    for (int i = 0; i < metadata->topic_cnt; i++) {
        const rd_kafka_metadata_topic_t *topic = &metadata->topics[i];
        if (!topic->err && topic->partition_cnt > 0 && topic_is_queue(bytes_of(topic->topic)))
            queues.topics[queues.count++] = topic;
    }
    qsort(queues.topics, queues.count, sizeof *queues.topics, by_name);
    return queues;
}

// Another dead letter queue of the same topic, further on in the list; NULL: none.
static const char *
find_other(const struct queues *queues, size_t at)
{
    struct bytes of = topic_original(bytes_of(queues->topics[at]->topic));
    for (size_t i = at + 1; i < queues->count; i++)
        if (bytes_equal(topic_original(bytes_of(queues->topics[i]->topic)), of))
            return queues->topics[i]->topic;
    return NULL;
}

struct queue_judged {
    const struct settings_probe *examination;
    struct queue_seen seen;
};

static void
judge_queue(void *context, const struct broker_property *values, size_t count)
{
    struct queue_judged *judged = context;
    judged->seen.values = values;
    judged->seen.count = count;
    probe_judge_queue(judged->examination->settings, &judged->seen, judged->examination->probe);
}

static void
look_at_queue(const struct settings_probe *examination, const struct queues *queues, size_t at,
              int64_t oldest)
{
    const rd_kafka_metadata_topic_t *topic = queues->topics[at];
    struct arena arena = {0};
    const rd_kafka_metadata_topic_t *source =
        find_topic(queues->metadata, arena_text(&arena, topic_original(bytes_of(topic->topic))));
    struct queue_judged judged = {.examination = examination,
                                  .seen = {.topic = topic->topic,
                                           .source = source ? source->topic : NULL,
                                           .other = find_other(queues, at),
                                           .partitions = topic->partition_cnt,
                                           .source_partitions = source ? source->partition_cnt : 0,
                                           .copies = copies_of(topic),
                                           .brokers = queues->metadata->broker_cnt,
                                           .oldest = oldest}};
    if (!read_configs(examination, topic->topic, NULL, judge_queue, &judged))
        judge_queue(&judged, NULL, 0);
    arena_release(&arena);
}

// Only that all is well was found since there were `before` findings.
static bool
is_well(const struct probe *probe, size_t before)
{
    const struct finding *last = &probe->findings[before];
    return probe->count == before + 1 && last->is_ok && last->remedy[0] == '\0';
}

static void
look_at_queues(const struct settings_probe *examination, const struct queues *queues, int64_t oldest)
{
    enum { QUEUES = 200, NAMED = 10, ROOM = 6 };
    struct probe *probe = examination->probe;
    size_t looked = 0;
    int well = 0;
    for (; looked < queues->count && looked < QUEUES && probe->count + ROOM < PROBE_FINDINGS; looked++) {
        size_t before = probe->count;
        look_at_queue(examination, queues, looked, oldest);
        if (is_well(probe, before) && ++well > NAMED)
            probe->count = before;
    }
    if (well > NAMED)
        probe_note(probe, "", "%d further dead letter queues keep what they get", well - NAMED);
    if (looked < queues->count)
        probe_note(probe, "", "%zu further topics are named like dead letter queues and were not looked at",
                   queues->count - looked);
}

void
probe_queues(struct broker *broker, const struct broker_settings *settings, int64_t oldest,
             struct probe *probe)
{
    const struct settings_probe examination = {.broker = broker, .settings = settings, .probe = probe};
    const struct rd_kafka_metadata *metadata;
    if (broker_is_mock(broker->cluster_id) ||
        rd_kafka_metadata(kafka_admin(broker), 1, NULL, &metadata, TIMEOUT_MS))
        return; // said by probe_cluster_settings
    struct queues queues = find_queues(metadata);
    look_at_queues(&examination, &queues, oldest);
    free(queues.topics);
    rd_kafka_metadata_destroy(metadata);
}
