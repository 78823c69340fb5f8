#include "broker/marker.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "broker/kafka.h"

static rd_kafka_topic_partition_list_t *
both_partitions(void)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(2);
    rd_kafka_topic_partition_list_add(list, MARKER_TOPIC, MARKER_PARTITION);
    rd_kafka_topic_partition_list_add(list, MARKER_TOPIC, NONCE_PARTITION);
    return list;
}

static void
ask_offsets(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options,
            rd_kafka_queue_t *queue)
{
    rd_kafka_topic_partition_list_t *list = both_partitions();
    rd_kafka_ListConsumerGroupOffsets_t *question = rd_kafka_ListConsumerGroupOffsets_new(request, list);
    rd_kafka_ListConsumerGroupOffsets(handle, &question, 1, options, queue);
    rd_kafka_ListConsumerGroupOffsets_destroy(question);
    rd_kafka_topic_partition_list_destroy(list);
}

void
marker_parse(struct bytes text, int64_t seq, struct marker *marker)
{
    size_t blank = bytes_find(text, BYTES(" "), 0);
    struct bytes id = bytes_slice(text, 0, blank);
    struct bytes topics = blank < text.len ? bytes_slice(text, blank + 1, text.len) : BYTES("");
    *marker = (struct marker){.is_present = true, .seq = seq};
    snprintf(marker->id, sizeof marker->id, "%.*s", BYTES_ARGS(id));
    snprintf(marker->topics, sizeof marker->topics, "%.*s", BYTES_ARGS(topics));
}

static void
take_marker(const rd_kafka_topic_partition_t *partition, struct marker *marker)
{
    struct bytes text = {partition->metadata, partition->metadata ? partition->metadata_size : 0};
    marker_parse(text, partition->offset, marker);
}

static bool
take_partition(const rd_kafka_topic_partition_t *partition, struct marker_reading *reading, const char *group,
               struct err *err)
{
    if (partition->err == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT) {
        reading->is_stable = false;
        return true;
    }
    if (partition->err)
        return kafka_fail(err, partition->err, NULL, "reading the marker of %s", group);
    if (partition->offset < 0) // -1001: no offset
        return true;

    if (partition->partition == MARKER_PARTITION) {
        take_marker(partition, &reading->marker);
    } else {
        reading->has_nonce = true;
        reading->nonce = partition->offset;
    }
    return true;
}

static bool
take_group(const rd_kafka_group_result_t *result, struct marker_reading *reading, const char *group,
           struct err *err)
{
    const rd_kafka_error_t *error = rd_kafka_group_result_error(result);
    if (error) {
        rd_kafka_resp_err_t code = rd_kafka_error_code(error);
        if (code == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT)
            return reading->is_stable = false, true;
        if (code == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND) // some brokers' way to say "no offsets"
            return true;
        return kafka_fail(err, code, NULL, "reading the marker of %s", group);
    }

    const rd_kafka_topic_partition_list_t *list = rd_kafka_group_result_partitions(result);
    for (int i = 0; list && i < list->cnt; i++)
        if (!take_partition(&list->elems[i], reading, group, err))
            return false;
    return true;
}

static bool
take_answer(rd_kafka_event_t *event, const char *const *groups, size_t group_count,
            struct marker_reading *readings, struct err *err)
{
    size_t count = 0;
    const rd_kafka_group_result_t **results = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
    if (count != 1)
        return err_set(err, ERR_INTERNAL, "Kafka answered for %zu groups instead of one", count);
    for (size_t i = 0; i < group_count; i++)
        if (strcmp(groups[i], rd_kafka_group_result_name(results[0])) == 0)
            return take_group(results[0], &readings[i], groups[i], err);
    return err_set(err, ERR_INTERNAL, "Kafka answered for the group %s, which was not asked for",
                   rd_kafka_group_result_name(results[0]));
}

bool
marker_read(struct broker *broker, const char *group, int timeout_ms, struct marker_reading *reading,
            struct err *err)
{
    return marker_read_all(broker, &group, 1, timeout_ms, reading, err);
}

struct reading_all {
    const char *const *groups;
    size_t count;
    struct marker_reading *readings;
};

static bool
take_reading(void *context, rd_kafka_event_t *event, struct err *err)
{
    struct reading_all *all = context;
    return take_answer(event, all->groups, all->count, all->readings, err);
}

bool
marker_read_all(struct broker *broker, const char *const *groups, size_t count, int timeout_ms,
                struct marker_reading *readings, struct err *err)
{
    struct reading_all all = {groups, count, readings};
    for (size_t i = 0; i < count; i++)
        readings[i] = (struct marker_reading){.is_stable = true};
    const struct kafka_questions questions = {
        .operation = RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
        .ask = ask_offsets,
        .requests = (const void *const *)groups,
        .count = count,
        .tried = "reading the marker",
        .take = take_reading,
        .context = &all,
    };
    return kafka_ask_all(broker, &questions, timeout_ms, err);
}

struct nonce_request {
    const char *group;
    int64_t nonce;
};

static void
ask_commit(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue)
{
    const struct nonce_request *nonce = request;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, MARKER_TOPIC, NONCE_PARTITION)->offset = nonce->nonce;
    rd_kafka_AlterConsumerGroupOffsets_t *change = rd_kafka_AlterConsumerGroupOffsets_new(nonce->group, list);
    rd_kafka_AlterConsumerGroupOffsets(handle, &change, 1, options, queue);
    rd_kafka_AlterConsumerGroupOffsets_destroy(change);
    rd_kafka_topic_partition_list_destroy(list);
}

static bool
take_written(void *context, rd_kafka_event_t *event, struct err *err)
{
    (void)context;
    size_t count = 0;
    const rd_kafka_group_result_t **groups = rd_kafka_AlterConsumerGroupOffsets_result_groups(
        rd_kafka_event_AlterConsumerGroupOffsets_result(event), &count);
    for (size_t i = 0; i < count; i++) {
        const char *group = rd_kafka_group_result_name(groups[i]);
        const rd_kafka_error_t *error = rd_kafka_group_result_error(groups[i]);
        if (error)
            return kafka_fail(err, rd_kafka_error_code(error), NULL,
                              "writing a nonce beside the marker of %s", group);
        const rd_kafka_topic_partition_list_t *list = rd_kafka_group_result_partitions(groups[i]);
        for (int j = 0; list && j < list->cnt; j++)
            if (list->elems[j].err)
                return kafka_fail(err, list->elems[j].err, NULL, "writing a nonce beside the marker of %s",
                                  group);
    }
    return true;
}

bool
marker_write_nonce(struct broker *broker, const char *group, int64_t nonce, int timeout_ms, struct err *err)
{
    return marker_write_nonces(broker, &group, 1, nonce, timeout_ms, err);
}

// Over the broker's handle, or each over one of `handles`.
static bool
write_nonces(struct broker *broker, rd_kafka_t *const *handles, const char *const *groups, size_t count,
             int64_t nonce, int timeout_ms, struct err *err)
{
    struct arena arena = {0};
    struct nonce_request *requests = arena_array(&arena, count, sizeof *requests);
    const void **pointers = arena_array(&arena, count, sizeof *pointers);
    for (size_t i = 0; i < count; i++) {
        requests[i] = (struct nonce_request){.group = groups[i], .nonce = nonce};
        pointers[i] = &requests[i];
    }
    const struct kafka_questions questions = {
        .operation = RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS,
        .ask = ask_commit,
        .requests = pointers,
        .count = count,
        .tried = "writing a nonce beside the marker",
        .take = take_written,
    };
    bool is_good = handles ? kafka_ask_each(handles, &questions, timeout_ms, err)
                           : kafka_ask_all(broker, &questions, timeout_ms, err);
    arena_release(&arena);
    return is_good;
}

bool
marker_write_nonces(struct broker *broker, const char *const *groups, size_t count, int64_t nonce,
                    int timeout_ms, struct err *err)
{
    return write_nonces(broker, NULL, groups, count, nonce, timeout_ms, err);
}

bool
kafka_write_nonces(rd_kafka_t *const *handles, const char *const *groups, size_t count, int64_t nonce,
                   int timeout_ms, struct err *err)
{
    return write_nonces(NULL, handles, groups, count, nonce, timeout_ms, err);
}

static void
ask_create(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue)
{
    const struct topic_wish *wanted = request;
    char text[128];
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(wanted->name, wanted->partitions, -1, text, sizeof text);
    if (wanted->is_stamped)
        (void)rd_kafka_NewTopic_set_config(topic, "message.timestamp.type", "LogAppendTime");
    rd_kafka_CreateTopics(handle, &topic, 1, options, queue);
    rd_kafka_NewTopic_destroy(topic);
}

static bool
create_topic(struct broker *broker, const struct topic_wish *wanted, int timeout_ms, struct err *err)
{
    rd_kafka_event_t *event = kafka_ask(broker, RD_KAFKA_ADMIN_OP_CREATETOPICS, ask_create, wanted,
                                        timeout_ms, "creating a topic", err);
    if (!event)
        return false;

    size_t count = 0;
    const rd_kafka_topic_result_t **topics =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    rd_kafka_resp_err_t code =
        count == 1 ? rd_kafka_topic_result_error(topics[0]) : RD_KAFKA_RESP_ERR_UNKNOWN;
    rd_kafka_event_destroy(event);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return true;
    return err_set(err, kafka_kind(code),
                   "the topic %s is missing and cannot be created (%s): an administrator runs "
                   "kafka-topics.sh --create --topic %s "
                   "--partitions %d",
                   wanted->name, rd_kafka_err2str(code), wanted->name, wanted->partitions);
}

bool
topic_ensure(struct broker *broker, const struct topic_wish *wish, int timeout_ms, struct err *err)
{
    const char *name = wish->name;
    struct topic topic;
    if (!broker_topic(broker, name, timeout_ms, &topic, err))
        return false;
    if (topic.state == TOPIC_DENIED)
        return err_set(err, ERR_DENIED, "the topic %s may not be read: grant Read on it", name);
    if (topic.state == TOPIC_KNOWN)
        return topic.partitions >= wish->partitions ||
               err_set(err, ERR_DATA,
                       "the topic %s needs %d partitions and has %d: kafka-topics.sh --alter --topic %s "
                       "--partitions %d",
                       name, wish->partitions, (int)topic.partitions, name, wish->partitions);

    broker_forget_topics(broker);
    if (!create_topic(broker, wish, timeout_ms, err))
        return false;

    // Until every broker has heard of it, it may still be unknown to the next request.
    for (int i = 0; i < 50; i++) {
        broker_forget_topics(broker);
        if (!broker_topic(broker, name, timeout_ms, &topic, err))
            return false;
        if (topic.state == TOPIC_KNOWN)
            return true;
        clock_sleep(100000);
    }
    return err_set(err, ERR_UNREACHABLE, "the topic %s was created but has not appeared", name);
}

bool
marker_topic_ensure(struct broker *broker, int timeout_ms, struct err *err)
{
    const struct topic_wish wish = {.name = MARKER_TOPIC, .partitions = 2};
    return topic_ensure(broker, &wish, timeout_ms, err);
}
