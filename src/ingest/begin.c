// begin: from where a partition is read, after a look at what Kafka has of it now.
#include "ingest/begin.h"

#include <string.h>
#include "base/clock.h"
#include "base/log.h"

enum { RANGE_MS = 3000 }; // of each silent broker: a look at all of them must not take as long as a lease

static int32_t
leader_of(const struct beginning *beginning, const struct ingest_position *position)
{
    for (size_t i = 0; i < beginning->topic_count; i++) {
        const struct tail_topic *topic = &beginning->topics[i];
        if (position->partition < topic->partitions && strcmp(topic->name, position->topic) == 0)
            return topic->leaders[position->partition];
    }
    return -1;
}

static bool
is_silent(const struct beginning *beginning, int32_t leader)
{
    for (size_t i = 0; i < beginning->silent_count; i++)
        if (beginning->silent[i] == leader)
            return true;
    return leader < 0;
}

// Where it ends is asked for again while it is shorter than what was read of it: a new leader may not know
// better yet. All partitions together wait for that once.
static bool
ask_range(struct reading *reading, struct beginning *beginning, const struct ingest_position *position,
          int64_t *low, int64_t *high, struct err *err)
{
    for (;;) {
        if (!tail_range(reading->tail, position->topic, position->partition, RANGE_MS, low, high, err))
            return false;
        if (*high >= position->next || clock_mono() >= beginning->short_until || reading_is_stopped(reading))
            return true;
        clock_sleep(US_PER_SECOND / 2);
    }
}

// false: not now, or not at all (*is_failed).
static bool
look_at(struct reading *reading, struct beginning *beginning, const struct ingest_position *position,
        int64_t *low, int64_t *high, bool *is_failed, struct err *err)
{
    int32_t leader = leader_of(beginning, position);
    struct err failure = {0};
    *is_failed = false;
    if (is_silent(beginning, leader))
        return false;
    if (ask_range(reading, beginning, position, low, high, &failure)) {
        beginning->looked++;
        return true;
    }
    *is_failed = failure.kind != ERR_UNREACHABLE;
    *err = failure;
    if (!*is_failed && beginning->silent_count < BEGINNING_SILENT)
        beginning->silent[beginning->silent_count++] = leader;
    return false;
}

static bool
begin_anew(struct reading *reading, struct ingest_position *position, struct err *err)
{
    reading->report->alarms++;
    log_line(LOG_WARN, "the topic was deleted and made anew; it is read from its beginning",
             LOG_TEXT("topic", position->topic), LOG_INT("partition", position->partition));
    if (reading->settings->mode != INGEST_DRY &&
        !ingest_anew(reading->store, &reading->ingester, position, err))
        return false;
    position->generation++;
    position->next = position->last_offset = -1;
    return true;
}

static bool
fall_back(struct reading *reading, struct ingest_position *position, const struct ingest_known *common,
          struct err *err)
{
    reading->report->alarms++;
    log_line(LOG_ERROR, "Kafka lost records that were read already: a leader that was behind took over",
             LOG_TEXT("topic", position->topic), LOG_INT("partition", position->partition),
             LOG_INT("from", common->offset + 1), LOG_INT("to", position->next - 1));
    if (reading->settings->mode != INGEST_DRY &&
        !ingest_fell_back(reading->store, &reading->ingester, position, common, err))
        return false;
    position->generation++;
    position->next = common->offset + 1;
    position->last_offset = common->offset;
    position->last_crc = common->crc;
    return true;
}

static bool
note_hole(struct reading *reading, struct ingest_position *position, int64_t low, struct err *err)
{
    reading->report->alarms++;
    log_line(LOG_ERROR, "Kafka removed dead letters before they were read",
             LOG_TEXT("topic", position->topic), LOG_INT("partition", position->partition),
             LOG_INT("from", position->next), LOG_INT("to", low - 1));
    if (reading->settings->mode != INGEST_DRY &&
        !ingest_hole(reading->store, &reading->ingester, position, low, err))
        return false;
    position->next = low;
    return true;
}

// --- what a partition and PostgreSQL have in common ---

// Has Kafka that record at that offset still? Reads that one.
static bool
is_same(struct reading *reading, const struct ingest_position *position, const struct ingest_known *known,
        bool *is, struct err *err)
{
    enum { WAIT_MS = 100 };
    const struct tail_start start = {position->topic, position->partition, known->offset};
    bool is_told = false;
    *is = false;
    if (!tail_assign(reading->tail, &start, 1, err))
        return false;
    for (int64_t until = clock_mono() + KAFKA_MS * 1000LL; !is_told && clock_mono() < until;) {
        struct arena arena = {0};
        struct tail_item item;
        if (tail_read(reading->tail, WAIT_MS, &arena, &item, 1, 1) == 1) {
            is_told = item.at == 0 && item.kind != TAIL_TROUBLE;
            *is = is_told && item.kind == TAIL_RECORD && item.offset == known->offset &&
                  letter_crc(&item.record) == known->crc;
            tail_free(&item.message, 1);
        }
        arena_release(&arena);
    }
    return tail_assign(reading->tail, NULL, 0, err) &&
           (is_told || err_set(err, ERR_UNREACHABLE, "partition %d of %s gives no record",
                               (int)position->partition, position->topic));
}

// The last record that both have, of those below `below`; offset -1: none, so it is another topic. Records up
// to it are the same, and after it none is, so halves find it.
static bool
find_common(struct reading *reading, const struct ingest_position *position, int64_t low, int64_t below,
            struct ingest_known *common, struct err *err)
{
    struct ingest_known known;
    bool is;
    int64_t high = below - 1, middle = high;
    *common = (struct ingest_known){.offset = -1};
    if (low > high)
        return true;
    if (!ingest_known(reading->store, reading->cluster, position, low, high, KNOWN_FIRST, &known, err))
        return false;
    if (known.offset < 0)
        return true;
    if (!is_same(reading, position, &known, &is, err))
        return false;
    if (!is)
        return true;
    *common = known;
    for (low = known.offset; low < high; middle = low + (high - low + 1) / 2) {
        if (!ingest_known(reading->store, reading->cluster, position, low + 1, middle, KNOWN_LAST, &known,
                          err))
            return false;
        is = true;
        if (known.offset >= 0 && !is_same(reading, position, &known, &is, err))
            return false;
        if (is && known.offset >= 0)
            *common = known;
        if (is)
            low = middle;
        else
            high = known.offset - 1;
    }
    return true;
}

// It is shorter than what was read of it, or has another record where the last one was: either a leader took
// over that had not all of them, or it is another topic.
static bool
begin_changed(struct reading *reading, struct ingest_position *position, int64_t low, int64_t high,
              struct err *err)
{
    struct ingest_known common;
    if (!find_common(reading, position, low, high < position->next ? high : position->next, &common, err))
        return false;
    if (common.offset >= 0)
        return fall_back(reading, position, &common, err);
    return begin_anew(reading, position, err);
}

// --- a partition ---

static void
add_part(struct reading *reading, const struct part *part, int64_t offset)
{
    reading->parts[reading->part_count] = *part;
    reading->starts[reading->part_count++] = (struct tail_start){
        .topic = part->position.topic, .partition = part->position.partition, .offset = offset};
}

bool
begin_part(struct reading *reading, struct beginning *beginning, const struct ingest_position *claimed,
           bool is_changed, struct err *err)
{
    struct part part = {.position = *claimed, .to = -1, .last_offset = -1, .end = -1, .target = -1};
    struct ingest_position *position = &part.position;
    part.rule = topic_rule_of(reading->settings->rules, position->topic);
    int64_t low, high;
    bool is_failed;
    if (!look_at(reading, beginning, position, &low, &high, &is_failed, err)) {
        if (is_failed)
            return false;
        // It comes by itself once its broker is back, and is looked at then if an offset does not exist.
        beginning->away++;
        part.is_checked = position->last_offset < 0;
        add_part(reading, &part,
                 position->last_offset >= 0 ? position->last_offset
                 : position->next >= 0      ? position->next
                                            : TAIL_BEGINNING);
        return true;
    }
    if (reading_is_stopped(reading))
        return true;
    if ((is_changed || position->next > high) && !begin_changed(reading, position, low, high, err))
        return false;
    if (position->next >= 0 && position->next < low && !note_hole(reading, position, low, err))
        return false;
    part.end = part.target = high;
    part.is_checked = position->last_offset < low;
    // The record before is read once more, to see whether it is still the same.
    add_part(reading, &part,
             !part.is_checked      ? position->last_offset
             : position->next >= 0 ? position->next
                                   : low);
    return true;
}
