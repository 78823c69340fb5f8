#include "tests/broker/kafka_harm.h"

static rd_kafka_event_t *
await(rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 20000);
    assert_non_null(event);
    if (rd_kafka_event_error(event))
        fail_msg("%s", rd_kafka_event_error_string(event));
    return event;
}

void
delete_group(const char *name)
{
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_DeleteGroup_t *group = rd_kafka_DeleteGroup_new(name);
    rd_kafka_DeleteGroups(client, &group, 1, NULL, queue);
    rd_kafka_event_t *event = await(queue);
    size_t count;
    const rd_kafka_group_result_t **results =
        rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &count);
    if (rd_kafka_group_result_error(results[0]))
        fail_msg("%s", rd_kafka_error_string(rd_kafka_group_result_error(results[0])));
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteGroup_destroy(group);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

void
delete_topic(const char *name)
{
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
    rd_kafka_DeleteTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_destroy(await(queue));
    rd_kafka_DeleteTopic_destroy(topic);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

// As retention does: everything that is in the topic now is gone.
void
delete_records(const char *name, int partitions)
{
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, name, i)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_DeleteRecords_t *records = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(client, &records, 1, NULL, queue);
    rd_kafka_event_destroy(await(queue));
    rd_kafka_DeleteRecords_destroy(records);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

void
write_marker(const char *group, int64_t offset, const char *text)
{
    rd_kafka_t *client = kafka_client(RD_KAFKA_PRODUCER, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *partition = rd_kafka_topic_partition_list_add(list, "redrive.marker", 0);
    partition->offset = offset;
    partition->metadata = strdup(text);
    partition->metadata_size = strlen(text);
    rd_kafka_AlterConsumerGroupOffsets_t *change = rd_kafka_AlterConsumerGroupOffsets_new(group, list);
    rd_kafka_AlterConsumerGroupOffsets(client, &change, 1, NULL, queue);
    rd_kafka_event_destroy(await(queue));
    rd_kafka_AlterConsumerGroupOffsets_destroy(change);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}
