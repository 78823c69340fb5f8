// partitions: which are read, and from where.
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "ingest/begin.h"

#define CLAIM_EVERY (2 * US_PER_SECOND)
#define LEASE (17 * US_PER_SECOND)    // until the partitions of a dead ingester are free
#define SHORT_FOR (5 * US_PER_SECOND) // that partitions may be shorter than they were
#define MISSING_EVERY (60 * US_PER_SECOND)

static bool
list_topics(struct reading *reading, struct arena *arena, struct tail_topic **topics, size_t *count,
            struct err *err)
{
    const struct ingest_settings *settings = reading->settings;
    if (!tail_topics(reading->tail, settings->topics, settings->topic_count, settings->wanted,
                     settings->wanted_context, KAFKA_MS, arena, topics, count, err))
        return false;
    reading->total = 0;
    for (size_t i = 0; i < *count; i++)
        reading->total += (*topics)[i].partitions;
    reading->report->topics = (int32_t)*count;
    if (*count > 0)
        return true;
    const char *name = settings->topic_count > 0 ? settings->topics[0] : "of that pattern";
    if (settings->mode != INGEST_SERVICE)
        return err_set(err, ERR_NOT_FOUND, "there is no topic %s, or Describe on it is missing", name);
    if (reading->times.told_missing == 0 || clock_mono() - reading->times.told_missing > MISSING_EVERY) {
        reading->times.told_missing = clock_mono();
        log_line(LOG_WARN, "no such topic yet, or Describe on it is missing", LOG_TEXT("topic", name));
    }
    return true;
}

static bool
claim(struct reading *reading, const struct tail_topic *topics, size_t topic_count, struct arena *arena,
      struct ingest_position **positions, size_t *count, struct err *err)
{
    const char **names = arena_array(arena, topic_count, sizeof *names);
    int32_t *partitions = arena_array(arena, topic_count, sizeof *partitions);
    for (size_t i = 0; i < topic_count; i++) {
        names[i] = topics[i].name;
        partitions[i] = topics[i].partitions;
    }
    if (reading->is_registered) {
        struct err lost = {0};
        if (ingest_claim(reading->store, &reading->ingester, names, partitions, topic_count, arena, positions,
                         count, &lost))
            return true;
        if (lost.kind != ERR_CONFLICT) {
            *err = lost;
            return false;
        }
        log_line(LOG_WARN, "this ingester was away for too long: it begins again",
                 LOG_TEXT("why", lost.text));
        reading->is_registered = false;
    }
    if (!ingest_begin(reading->store, reading->cluster, &reading->ingester, err))
        return false;
    reading->is_registered = true;
    return ingest_claim(reading->store, &reading->ingester, names, partitions, topic_count, arena, positions,
                        count, err);
}

static void
find_position(const struct ingest_position *known, size_t count, struct ingest_position *position)
{
    for (size_t i = 0; i < count; i++)
        if (known[i].partition == position->partition && strcmp(known[i].topic, position->topic) == 0)
            *position = known[i];
}

// What a claim would give, with nobody else there and without a trace. How far this run has read, only it
// knows.
static bool
look(struct reading *reading, const struct tail_topic *topics, size_t topic_count, struct arena *arena,
     struct ingest_position **positions, size_t *count, struct err *err)
{
    struct ingest_position *known;
    size_t known_count;
    if (!ingest_positions(reading->store, reading->cluster, arena, &known, &known_count, err))
        return false;
    *positions = arena_array(arena, (size_t)reading->total, sizeof **positions);
    *count = 0;
    for (size_t t = 0; t < topic_count; t++)
        for (int32_t p = 0; p < topics[t].partitions; p++) {
            struct ingest_position *position = &(*positions)[(*count)++];
            *position = (struct ingest_position){
                .topic = topics[t].name, .partition = p, .next = -1, .last_offset = -1};
            find_position(known, known_count, position);
            for (size_t i = 0; i < reading->part_count; i++)
                find_position(&reading->parts[i].position, 1, position);
            position->topic = topics[t].name;
        }
    return true;
}

static bool
are_the_same(const struct reading *reading, const struct ingest_position *positions, size_t count)
{
    if (count != reading->part_count || reading->wants_assign)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct ingest_position *had = &reading->parts[i].position;
        if (had->partition != positions[i].partition || had->generation != positions[i].generation ||
            had->next != positions[i].next || strcmp(had->topic, positions[i].topic) != 0)
            return false;
    }
    return true;
}

static const struct part *
find_part(const struct part *parts, size_t count, const struct ingest_position *position)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].position.partition == position->partition &&
            parts[i].position.generation == position->generation &&
            strcmp(parts[i].position.topic, position->topic) == 0)
            return &parts[i];
    return NULL;
}

static bool
begin_parts(struct reading *reading, struct beginning *beginning, const struct ingest_position *positions,
            size_t count, const struct part *had, size_t had_count, struct err *err)
{
    struct err failure = {0};
    for (size_t i = 0; i < count && !reading_is_stopped(reading); i++) {
        const struct part *before = find_part(had, had_count, &positions[i]);
        size_t begun = reading->part_count;
        struct err one = {0};
        bool ok = begin_part(reading, beginning, &positions[i], before && before->is_changed, &one);
        if (one.kind)
            failure = one;
        if (!ok && one.kind != ERR_NOT_FOUND) { // deleted a moment ago: the next claim is without it
            *err = one;
            return false;
        }
        // Targets of a run to the end stay what they were.
        before =
            reading->part_count > begun ? find_part(had, had_count, &reading->parts[begun].position) : NULL;
        if (before && before->target >= 0)
            reading->parts[begun].target = before->target;
    }
    if (beginning->away > 0)
        log_line(LOG_WARN, "brokers of some partitions do not answer; the others are read",
                 LOG_INT("partitions", beginning->away),
                 LOG_TEXT("why", failure.kind ? failure.text : "they have no leader"));
    if (beginning->silent_count > 0 && beginning->looked == 0) {
        *err = failure;
        return false;
    }
    return true;
}

// Partitions are dealt out to the writers. Where a second connection cannot be had, there is one.
static void
deal_out(struct reading *reading)
{
    struct err err = {0};
    bool wants_two = reading->part_count > 1 && reading->settings->mode != INGEST_DRY;
    if (wants_two && !reading->beside && !store_open(&reading->beside, &reading->settings->store, &err))
        log_line(LOG_WARN, "one connection alone writes dead letters", LOG_TEXT("why", err.text));
    reading->writer_count = wants_two && reading->beside ? WRITERS : 1;
    for (size_t i = 0; i < reading->part_count; i++)
        reading->parts[i].writer = i % reading->writer_count;
}

// The arena has topics and positions, and becomes that of the parts.
static bool
assign(struct reading *reading, struct arena *arena, const struct tail_topic *topics, size_t topic_count,
       const struct ingest_position *positions, size_t count, struct err *err)
{
    const struct part *had = reading->parts;
    size_t had_count = reading->part_count;
    struct beginning beginning = {
        .topics = topics, .topic_count = topic_count, .short_until = clock_mono() + SHORT_FOR};
    if (!tail_assign(reading->tail, NULL, 0, err))
        return false;
    chunks_drop(reading); // what was read since is read again, from the positions
    reading->parts = arena_array(arena, count + 1, sizeof *reading->parts);
    reading->starts = arena_array(arena, count + 1, sizeof *reading->starts);
    reading->part_count = 0;
    bool ok = begin_parts(reading, &beginning, positions, count, had, had_count, err);
    deal_out(reading);
    struct arena old = reading->parts_arena;
    reading->parts_arena = *arena;
    *arena = old;
    reading->wants_assign = false;
    reading->report->partitions = (int32_t)reading->part_count;
    ok = ok && tail_assign(reading->tail, reading->starts, reading->part_count, err);
    if (ok)
        log_line(LOG_INFO, "reading", LOG_INT("topics", reading->report->topics),
                 LOG_INT("partitions", reading->part_count),
                 LOG_INT("others_read", reading->total - (int64_t)count));
    return ok;
}

// For others to look at: the group's offsets, and where partitions end.
static bool
show_positions(struct reading *reading, struct err *err)
{
    struct arena arena = {0};
    struct ingest_mark *marks = arena_array(&arena, reading->part_count, sizeof *marks);
    struct tail_start *positions = arena_array(&arena, reading->part_count, sizeof *positions);
    size_t mark_count = 0, count = 0;
    for (size_t i = 0; i < reading->part_count; i++) {
        const struct part *part = &reading->parts[i];
        if (part->end >= 0)
            marks[mark_count++] = (struct ingest_mark){
                .topic = part->position.topic,
                .partition = part->position.partition,
                .end = part->end > part->position.next ? part->end : part->position.next};
        if (part->position.next >= 0)
            positions[count++] = (struct tail_start){.topic = part->position.topic,
                                                     .partition = part->position.partition,
                                                     .offset = part->position.next};
    }
    tail_commit(reading->tail, positions, count);
    bool ok = mark_count == 0 || ingest_ends(reading->store, &reading->ingester, marks, mark_count, err);
    arena_release(&arena);
    return ok;
}

bool
partitions_tend(struct reading *reading, struct err *err)
{
    bool is_due = reading->times.claimed_at == 0 || clock_mono() - reading->times.claimed_at >= CLAIM_EVERY;
    bool is_dry = reading->settings->mode == INGEST_DRY;
    if (!is_due && !reading->wants_assign)
        return true;
    if (is_dry && reading->times.claimed_at && !reading->wants_assign)
        return true;
    struct arena arena = {0};
    struct tail_topic *topics;
    struct ingest_position *positions;
    size_t topic_count, count;
    // Kafka is asked while PostgreSQL still writes.
    bool ok = list_topics(reading, &arena, &topics, &topic_count, err) && writing_finish(reading, err) &&
              (is_dry ? look(reading, topics, topic_count, &arena, &positions, &count, err)
                      : claim(reading, topics, topic_count, &arena, &positions, &count, err));
    if (ok && !are_the_same(reading, positions, count))
        ok = assign(reading, &arena, topics, topic_count, positions, count, err);
    if (ok && !is_dry)
        ok = show_positions(reading, err);
    if (ok)
        reading->times.claimed_at = clock_mono();
    arena_release(&arena);
    return ok;
}

static const struct part *
first_unread(const struct reading *reading)
{
    for (size_t i = 0; i < reading->part_count; i++) {
        const struct part *part = &reading->parts[i];
        if (part->target < 0 || part->position.next < part->target || !part->is_checked)
            return part;
    }
    return NULL;
}

bool
partitions_tell_unread(const struct reading *reading, struct err *err)
{
    const struct part *part = first_unread(reading);
    return !part || err_set(err, ERR_UNREACHABLE,
                            "partition %d of %s gives nothing: its broker does not answer, or it has no "
                            "leader; all others are read",
                            (int)part->position.partition, part->position.topic);
}

bool
partitions_are_done(struct reading *reading)
{
    if (reading->times.claimed_at == 0 || reading->wants_assign)
        return false;
    if (first_unread(reading))
        return false;
    reading->report->left = reading->total - (int32_t)reading->part_count;
    if (reading->report->left <= 0)
        return true;
    // Whoever holds the rest may be dead.
    if (reading->times.alone_since == 0)
        reading->times.alone_since = clock_mono();
    return clock_mono() - reading->times.alone_since > LEASE;
}

void
partitions_release(struct reading *reading)
{
    arena_release(&reading->parts_arena);
    reading->parts = NULL;
    reading->starts = NULL;
    reading->part_count = 0;
    reading->times.claimed_at = 0;
    reading->wants_assign = false;
}
