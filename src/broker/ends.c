#include "broker/ends.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "broker/kafka.h"

#define ENDS_LIFE (30 * US_PER_SECOND)

// A partition without a leader takes no record and tells no end: said at once, instead of after a timeout
// that names nobody.
static bool
have_leaders(struct broker *broker, const char *topic, int timeout_ms, struct err *err)
{
    rd_kafka_t *admin = kafka_admin(broker);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(admin, topic, NULL);
    const struct rd_kafka_metadata *metadata = NULL;
    bool is_told = handle && !rd_kafka_metadata(admin, 0, handle, &metadata, timeout_ms);
    int without = 0, first = 0;
    for (int i = 0; is_told && i < metadata->topics[0].partition_cnt; i++)
        if (metadata->topics[0].partitions[i].leader < 0 && without++ == 0)
            first = metadata->topics[0].partitions[i].id;
    if (without)
        err_set(err, ERR_NOT_FOUND,
                "Kafka has no leader for partition %d of %s (%d of %d have none): nothing is sent there "
                "until the "
                "broker is back",
                first, topic, without, metadata->topics[0].partition_cnt);
    if (metadata)
        rd_kafka_metadata_destroy(metadata);
    if (handle)
        rd_kafka_topic_destroy(handle);
    return without == 0;
}

// One request to each leader: a timestamp of -1 asks for the end (KIP-79).
static bool
ask_ends(struct broker *broker, const char *topic, int32_t partitions, int timeout_ms, struct strbuf *text,
         struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, topic, i)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(kafka_admin(broker), list, timeout_ms);
    for (int i = 0; !code && i < list->cnt; i++)
        code = list->elems[i].err          ? list->elems[i].err
               : list->elems[i].offset < 0 ? RD_KAFKA_RESP_ERR_UNKNOWN
                                           : RD_KAFKA_RESP_ERR_NO_ERROR;
    strbuf_printf(text, "%s", topic);
    for (int i = 0; !code && i < list->cnt; i++)
        strbuf_printf(text, "%c%" PRId64, i ? ',' : ' ', list->elems[i].offset);
    rd_kafka_topic_partition_list_destroy(list);
    return !code || kafka_fail(err, code, &broker->trouble, "asking where the topic %s ends", topic);
}

static struct known_ends *
find_ends(struct broker *broker, const char *topic)
{
    for (size_t i = 0; i < broker->ends_count; i++)
        if (strcmp(broker->ends[i].topic, topic) == 0)
            return &broker->ends[i];
    broker->ends = alloc_grow(broker->ends, broker->ends_count, &broker->ends_capacity, sizeof *broker->ends);
    struct known_ends *known = &broker->ends[broker->ends_count++];
    *known = (struct known_ends){0};
    snprintf(known->topic, sizeof known->topic, "%s", topic);
    return known;
}

bool
broker_ends(struct broker *broker, const char *name, int timeout_ms, struct strbuf *text, struct err *err)
{
    struct known_ends *known = find_ends(broker, name);
    struct topic topic;
    int64_t now = clock_mono();
    if (!known->text.len || now - known->asked_at > ENDS_LIFE) {
        strbuf_reset(&known->text);
        if (!broker_topic(broker, name, timeout_ms, &topic, err))
            return false;
        if (!have_leaders(broker, name, timeout_ms, err) ||
            !ask_ends(broker, name, topic.partitions, timeout_ms, &known->text, err)) {
            strbuf_reset(&known->text);
            return false;
        }
        known->asked_at = now;
    }
    strbuf_add(text, strbuf_bytes(&known->text));
    return true;
}

// The partitions of a topic, to be asked for; none where Kafka says that it cannot be.
static bool
ends_expect(struct broker *broker, struct topic_ends *of, int timeout_ms, struct arena *arena,
            struct err *err)
{
    struct topic topic;
    if (!broker_topic(broker, of->topic, timeout_ms, &topic, err))
        return false;
    if (topic.state == TOPIC_KNOWN && topic.partitions > 0) {
        of->count = (size_t)topic.partitions;
        of->ends = arena_array(arena, of->count, sizeof *of->ends);
    } else {
        of->note =
            topic.state == TOPIC_DENIED ? "no right to Describe it" : "Kafka does not have it, or hides it";
    }
    return true;
}

// The answers, in the order in which the partitions were listed.
static void
ends_collect(const rd_kafka_topic_partition_list_t *list, struct topic_ends *topics, size_t count,
             struct arena *arena)
{
    int at = 0;
    for (size_t i = 0; i < count; i++) {
        struct topic_ends *of = &topics[i];
        for (size_t p = 0; p < of->count; p++, at++) {
            const rd_kafka_topic_partition_t *answer = &list->elems[at];
            of->ends[p] = answer->offset;
            if ((answer->err || answer->offset < 0) && !of->note)
                of->note =
                    arena_printf(arena, "partition %zu: %s", p,
                                 rd_kafka_err2str(answer->err ? answer->err : RD_KAFKA_RESP_ERR_UNKNOWN));
        }
        of->count = of->note ? 0 : of->count;
    }
}

bool
broker_ends_now(struct broker *broker, struct topic_ends *topics, size_t count, int timeout_ms,
                struct arena *arena, struct err *err)
{
    size_t partitions = 0;
    for (size_t i = 0; i < count; i++) {
        topics[i] = (struct topic_ends){.topic = topics[i].topic};
        if (!ends_expect(broker, &topics[i], timeout_ms, arena, err))
            return false;
        partitions += topics[i].count;
    }
    if (partitions == 0)
        return true;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)partitions);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < topics[i].count; p++)
            rd_kafka_topic_partition_list_add(list, topics[i].topic, (int32_t)p)->offset =
                RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(kafka_admin(broker), list, timeout_ms);
    if (!code)
        ends_collect(list, topics, count, arena);
    rd_kafka_topic_partition_list_destroy(list);
    return !code || kafka_fail(err, code, &broker->trouble, "asking where topics end");
}

int64_t
ends_of(const char *text, const char *topic, int32_t partition)
{
    size_t len = strlen(topic);
    if (strncmp(text, topic, len) != 0 || text[len] != ' ')
        return -1;
    const char *number = text + len + 1;
    for (int32_t i = 0; i < partition && number; i++) {
        number = strchr(number, ',');
        number = number ? number + 1 : NULL;
    }
    return number ? strtoll(number, NULL, 10) : -1;
}
