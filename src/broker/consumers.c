#include "broker/consumers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "broker/kafka.h"

#define ALL_EVERY (30 * US_PER_SECOND)      // all groups of the cluster
#define ALL_AGAIN (5 * US_PER_SECOND)       // where none had committed
#define LIVE_MS (24 * 3600 * INT64_C(1000)) // an empty group that has read what is older is not forgotten
#define OWN_PREFIX "redrive."
enum { GROUPS_MOST = 500 };

// A topic while it is looked at.
struct looked {
    int32_t partitions; // 0: it cannot be looked at
    int64_t *ends;      // of each partition; -1: not known
    int64_t *day_old;   // the first record of the last day; the end where there is none
};

struct look {
    struct broker *broker;
    const char *const *topics;
    size_t topic_count;
    struct looked *looked;
    struct topic_consumers *found;
    struct arena *arena;
    size_t denied; // groups that may not be read
};

// --- which groups there are ---

static void
add_group(struct known_groups *groups, const char *name, const char *state)
{
    groups->rows = alloc_grow(groups->rows, groups->count, &groups->capacity, sizeof *groups->rows);
    struct known_group *row = &groups->rows[groups->count++];
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->state, sizeof row->state, "%s", state);
}

static void
ask_groups(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue)
{
    (void)request;
    rd_kafka_ListConsumerGroups(handle, options, queue);
}

static bool
list_groups(struct broker *broker, int timeout_ms, struct err *err)
{
    static const char tried[] = "asking for the consumer groups";
    struct known_groups *groups = &broker->groups;
    rd_kafka_event_t *event =
        kafka_ask(broker, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, ask_groups, NULL, timeout_ms, tried, err);
    if (!event)
        return false;
    const rd_kafka_ListConsumerGroups_result_t *result = rd_kafka_event_ListConsumerGroups_result(event);
    size_t count = 0, errors = 0;
    const rd_kafka_ConsumerGroupListing_t **all = rd_kafka_ListConsumerGroups_result_valid(result, &count);
    const rd_kafka_error_t **failures = rd_kafka_ListConsumerGroups_result_errors(result, &errors);
    groups->count = 0;
    groups->note[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *name = rd_kafka_ConsumerGroupListing_group_id(all[i]);
        if (strncmp(name, OWN_PREFIX, strlen(OWN_PREFIX)) == 0 || strlen(name) >= sizeof groups->rows->name)
            continue;
        if (groups->count < GROUPS_MOST)
            add_group(groups, name,
                      rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupListing_state(all[i])));
        else
            snprintf(groups->note, sizeof groups->note,
                     "only %d of the cluster's %zu consumer groups were looked at", GROUPS_MOST, count);
    }
    bool ok = errors == 0 || kafka_fail(err, rd_kafka_error_code(failures[0]), &broker->trouble, "%s: %s",
                                        tried, rd_kafka_error_string(failures[0]));
    rd_kafka_event_destroy(event);
    return ok;
}

// --- where topics begin and end ---

// Partitions without an answer get -1. False: Kafka does not answer at all.
static bool
ask_times(struct broker *broker, const char *topic, int32_t partitions, int64_t when, int timeout_ms,
          int64_t *offsets, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = when;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(kafka_admin(broker), list, timeout_ms);
    for (int32_t i = 0; i < partitions; i++)
        offsets[i] = code || list->elems[i].err ? -1 : list->elems[i].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return !code || kafka_kind(code) != ERR_UNREACHABLE ||
           kafka_fail(err, code, &broker->trouble, "asking where the topic %s ends", topic);
}

static bool
look_at_topic(struct look *look, size_t t, int timeout_ms, struct err *err)
{
    struct topic topic;
    struct looked *looked = &look->looked[t];
    look->found[t] = (struct topic_consumers){.topic = look->topics[t], .read_at = clock_now()};
    if (!broker_topic(look->broker, look->topics[t], timeout_ms, &topic, err))
        return false;
    if (topic.state != TOPIC_KNOWN) {
        look->found[t].note =
            arena_printf(look->arena, "topic %s %s", look->topics[t],
                         topic.state == TOPIC_DENIED ? "may not be seen" : "does not exist");
        return true;
    }
    looked->partitions = topic.partitions;
    looked->ends = arena_array(look->arena, (size_t)topic.partitions, sizeof *looked->ends);
    looked->day_old = arena_array(look->arena, (size_t)topic.partitions, sizeof *looked->day_old);
    if (!ask_times(look->broker, look->topics[t], topic.partitions, RD_KAFKA_OFFSET_END, timeout_ms,
                   looked->ends, err) ||
        !ask_times(look->broker, look->topics[t], topic.partitions, clock_now() / 1000 - LIVE_MS, timeout_ms,
                   looked->day_old, err))
        return false;
    for (int32_t i = 0; i < topic.partitions; i++)
        if (looked->day_old[i] < 0)
            looked->day_old[i] = looked->ends[i];
    return true;
}

// --- what the groups have committed ---

// Of one group: the group and the topics.
struct offsets_request {
    const char *group;
    const struct look *look;
};

static void
ask_offsets(rd_kafka_t *handle, const void *request, rd_kafka_AdminOptions_t *options,
            rd_kafka_queue_t *queue)
{
    const struct offsets_request *wanted = request;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
    for (size_t t = 0; t < wanted->look->topic_count; t++)
        for (int32_t i = 0; i < wanted->look->looked[t].partitions; i++)
            rd_kafka_topic_partition_list_add(list, wanted->look->topics[t], i);
    rd_kafka_ListConsumerGroupOffsets_t *question =
        rd_kafka_ListConsumerGroupOffsets_new(wanted->group, list);
    rd_kafka_ListConsumerGroupOffsets(handle, &question, 1, options, queue);
    rd_kafka_ListConsumerGroupOffsets_destroy(question);
    rd_kafka_topic_partition_list_destroy(list);
}

static struct consumer *
consumer_of(struct look *look, size_t t, const struct known_group *group)
{
    struct topic_consumers *topic = &look->found[t];
    if (topic->count > 0 && strcmp(topic->rows[topic->count - 1].name, group->name) == 0)
        return &topic->rows[topic->count - 1];
    if (!topic->rows)
        topic->rows = arena_array(look->arena, look->broker->groups.count, sizeof *topic->rows);
    struct consumer *consumer = &topic->rows[topic->count++];
    *consumer = (struct consumer){
        .name = arena_printf(look->arena, "%s", group->name),
        .state = arena_printf(look->arena, "%s", group->state),
        .is_live = strcmp(group->state, "Empty") != 0 && strcmp(group->state, "Dead") != 0,
        .offsets = arena_array(look->arena, (size_t)look->looked[t].partitions, sizeof *consumer->offsets),
    };
    return consumer;
}

static void
take_offset(struct look *look, const struct known_group *group, const rd_kafka_topic_partition_t *partition)
{
    size_t t = 0;
    while (t < look->topic_count && strcmp(look->topics[t], partition->topic) != 0)
        t++;
    if (t == look->topic_count || partition->err || partition->offset < 0 ||
        partition->partition >= look->looked[t].partitions)
        return;
    struct consumer *consumer = consumer_of(look, t, group);
    int64_t end = look->looked[t].ends[partition->partition];
    consumer->offsets[consumer->offset_count++] =
        (struct consumer_offset){.partition = partition->partition, .committed = partition->offset};
    if (end < 0 || consumer->lag < 0)
        consumer->lag = -1;
    else if (end > partition->offset)
        consumer->lag += end - partition->offset;
    consumer->is_live =
        consumer->is_live || (end >= 0 && partition->offset >= look->looked[t].day_old[partition->partition]);
}

static bool
take_group(void *context, rd_kafka_event_t *event, struct err *err)
{
    struct look *look = context;
    size_t count = 0;
    const rd_kafka_group_result_t **results = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
    if (count != 1)
        return err_set(err, ERR_INTERNAL, "Kafka answered for %zu groups instead of one", count);
    const char *name = rd_kafka_group_result_name(results[0]);
    const rd_kafka_error_t *error = rd_kafka_group_result_error(results[0]);
    rd_kafka_resp_err_t code = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
        code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        return look->denied++, true;
    if (code && code != RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND)
        return kafka_fail(err, code, NULL, "asking how far the group %s has read", name);
    const rd_kafka_topic_partition_list_t *list = code ? NULL : rd_kafka_group_result_partitions(results[0]);
    const struct known_groups *groups = &look->broker->groups;
    for (size_t g = 0; list && g < groups->count; g++)
        for (int i = 0; i < list->cnt && strcmp(groups->rows[g].name, name) == 0; i++)
            take_offset(look, &groups->rows[g], &list->elems[i]);
    return true;
}

static bool
look_at_groups(struct look *look, int timeout_ms, struct err *err)
{
    const struct known_groups *groups = &look->broker->groups;
    struct offsets_request *requests = arena_array(look->arena, groups->count, sizeof *requests);
    const void **each = arena_array(look->arena, groups->count, sizeof *each);
    bool has_partitions = false;
    for (size_t t = 0; t < look->topic_count; t++)
        has_partitions = has_partitions || look->looked[t].partitions > 0;
    for (size_t g = 0; g < groups->count; g++) {
        requests[g] = (struct offsets_request){.group = groups->rows[g].name, .look = look};
        each[g] = &requests[g];
    }
    const struct kafka_questions questions = {
        .operation = RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS,
        .ask = ask_offsets,
        .requests = each,
        .count = has_partitions ? groups->count : 0,
        .tried = "asking how far consumer groups have read",
        .takes_unstable = true,
        .take = take_group,
        .context = look,
    };
    return kafka_ask_all(look->broker, &questions, timeout_ms, err);
}

// --- together ---

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct consumer *)a)->name, ((const struct consumer *)b)->name);
}

static void
finish_topic(struct look *look, struct topic_consumers *topic)
{
    bool has_live = false;
    for (size_t c = 0; c < topic->count; c++)
        has_live = has_live || topic->rows[c].is_live;
    for (size_t c = 0; c < topic->count; c++) {
        topic->rows[c].is_live = topic->rows[c].is_live || !has_live;
        topic->rows[c].is_awaited = topic->rows[c].is_live;
    }
    if (topic->count)
        qsort(topic->rows, topic->count, sizeof *topic->rows, by_name);
    if (!topic->note && look->denied)
        topic->note = arena_printf(look->arena,
                                   "%zu consumer groups may not be read: Describe on the groups is missing",
                                   look->denied);
    else if (!topic->note && look->broker->groups.note[0])
        topic->note = arena_printf(look->arena, "%s", look->broker->groups.note);
    else if (!topic->note && topic->count == 0)
        topic->note = arena_printf(
            look->arena, "no consumer group has committed on %s, or Describe on its groups is missing",
            topic->topic);
}

// From now on only those are asked that have committed on one of the topics.
static void
forget_others(struct look *look)
{
    struct known_groups *groups = &look->broker->groups;
    size_t kept = 0;
    for (size_t g = 0; g < groups->count; g++) {
        bool is_known = false;
        for (size_t t = 0; t < look->topic_count; t++)
            for (size_t c = 0; c < look->found[t].count; c++)
                is_known = is_known || strcmp(look->found[t].rows[c].name, groups->rows[g].name) == 0;
        if (is_known)
            groups->rows[kept++] = groups->rows[g];
    }
    groups->count = kept;
}

static bool
knows_groups(struct broker *broker, const struct strbuf *topics)
{
    const struct known_groups *groups = &broker->groups;
    int64_t life = groups->count ? ALL_EVERY : ALL_AGAIN;
    return groups->asked_at && clock_mono() - groups->asked_at < life &&
           bytes_equal(strbuf_bytes(&groups->topics), strbuf_bytes(topics));
}

bool
broker_consumers(struct broker *broker, const char *const *topics, size_t count, int timeout_ms,
                 struct arena *arena, struct topic_consumers *found, struct err *err)
{
    struct look look = {.broker = broker,
                        .topics = topics,
                        .topic_count = count,
                        .looked = arena_array(arena, count, sizeof(struct looked)),
                        .found = found,
                        .arena = arena};
    struct strbuf names = {0};
    for (size_t t = 0; t < count; t++)
        strbuf_printf(&names, " %s", topics[t]);
    bool is_known = knows_groups(broker, &names), ok = true;
    for (size_t t = 0; ok && t < count; t++) {
        look.looked[t] = (struct looked){0};
        ok = look_at_topic(&look, t, timeout_ms, err);
    }
    ok = ok && (is_known || list_groups(broker, timeout_ms, err)) && look_at_groups(&look, timeout_ms, err);
    if (!is_known) {
        strbuf_release(&broker->groups.topics);
        broker->groups.topics = names;
        broker->groups.asked_at = ok ? clock_mono() : 0;
    } else {
        strbuf_release(&names);
    }
    for (size_t t = 0; ok && t < count; t++)
        finish_topic(&look, &found[t]);
    if (ok && !is_known)
        forget_others(&look);
    return ok;
}
