#include "store/operations/consumers.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "store/pg.h"

static bool
consumers_may_change(struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

bool
consumers_wanted(struct store *store, const char *cluster, struct arena *arena, const char ***topics,
                 size_t *count, bool *is_urgent, struct err *err)
{
    *count = 0;
    *is_urgent = false;
    struct params params = {0};
    param_text(&params, cluster);
    PGresult *r;
    if (!consumers_may_change(store, err) ||
        !pg_ask(store, FOR_WRITING,
                "SELECT t.topic, w.is_urgent FROM redrive.work_consumers_wanted($1) w"
                " LEFT JOIN LATERAL unnest(w.topics) AS t (topic) ON true ORDER BY 1",
                &params, &r, err))
        return false;
    *topics = arena_array(arena, (size_t)PQntuples(r), sizeof **topics);
    for (int i = 0; i < PQntuples(r); i++) {
        *is_urgent = value_bool(r, i, 1);
        if (!value_is_null(r, i, 0))
            (*topics)[(*count)++] = value_text(r, i, 0, arena);
    }
    PQclear(r);
    return true;
}

// The arrays of redrive.work_consumers.
struct kept {
    const char **topics, **notes, **names, **states;
    int32_t *of, *awaited, *offset_of, *partitions;
    int64_t *lags, *committed;
    size_t topic_count, count, offset_count;
};

static void
kept_make(struct kept *kept, const struct topic_consumers *topics, size_t count, struct arena *arena)
{
    size_t groups = 0, offsets = 0;
    for (size_t t = 0; t < count; t++) {
        groups += topics[t].count;
        for (size_t c = 0; c < topics[t].count; c++)
            offsets += topics[t].rows[c].offset_count;
    }
    *kept = (struct kept){
        .topics = arena_array(arena, count, sizeof(char *)),
        .notes = arena_array(arena, count, sizeof(char *)),
        .names = arena_array(arena, groups, sizeof(char *)),
        .states = arena_array(arena, groups, sizeof(char *)),
        .of = arena_array(arena, groups, sizeof(int32_t)),
        .awaited = arena_array(arena, groups, sizeof(int32_t)),
        .lags = arena_array(arena, groups, sizeof(int64_t)),
        .offset_of = arena_array(arena, offsets, sizeof(int32_t)),
        .partitions = arena_array(arena, offsets, sizeof(int32_t)),
        .committed = arena_array(arena, offsets, sizeof(int64_t)),
    };
}

static void
kept_add(struct kept *kept, const struct consumer *consumer)
{
    size_t n = kept->count++;
    kept->of[n] = (int32_t)kept->topic_count;
    kept->names[n] = consumer->name;
    kept->states[n] = consumer->state;
    kept->lags[n] = consumer->lag;
    kept->awaited[n] = consumer->is_awaited;
    for (size_t i = 0; i < consumer->offset_count; i++) {
        kept->offset_of[kept->offset_count] = (int32_t)kept->count;
        kept->partitions[kept->offset_count] = consumer->offsets[i].partition;
        kept->committed[kept->offset_count++] = consumer->offsets[i].committed;
    }
}

bool
consumers_keep(struct store *store, const char *cluster, const struct topic_consumers *topics, size_t count,
               struct err *err)
{
    if (!consumers_may_change(store, err))
        return false;
    struct arena arena = {0};
    struct kept kept;
    kept_make(&kept, topics, count, &arena);
    for (size_t t = 0; t < count; t++) {
        kept.topics[t] = topics[t].topic;
        kept.notes[t] = topics[t].note ? topics[t].note : "";
        kept.topic_count++;
        for (size_t c = 0; c < topics[t].count; c++)
            kept_add(&kept, &topics[t].rows[c]);
    }
    struct params params = {0};
    param_text(&params, cluster);
    param_texts(&params, kept.topics, count);
    param_texts(&params, kept.notes, count);
    param_numbers(&params, kept.of, kept.count);
    param_texts(&params, kept.names, kept.count);
    param_texts(&params, kept.states, kept.count);
    param_ids(&params, kept.lags, kept.count);
    param_numbers(&params, kept.awaited, kept.count);
    param_numbers(&params, kept.offset_of, kept.offset_count);
    param_numbers(&params, kept.partitions, kept.offset_count);
    param_ids(&params, kept.committed, kept.offset_count);
    bool ok =
        pg_do(store, FOR_WRITING,
              "SELECT redrive.work_consumers($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)", &params, err);
    arena_release(&arena);
    return ok;
}

bool
consumers_ask(struct store *store, const char *const *topics, size_t count, bool *has_worker, struct err *err)
{
    *has_worker = false;
    if (!consumers_may_change(store, err))
        return false;
    struct params params = {0};
    param_texts(&params, topics, count);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.consumers_ask($1)", &params, &r, err))
        return false;
    *has_worker = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
consumers_read(struct store *store, const char *const *topics, size_t count, struct arena *arena,
               struct topic_consumers **found, struct err *err)
{
    struct params params = {0};
    param_texts(&params, topics, count);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT w.n, t.read_at, t.note, c.name, c.state, coalesce(c.lag, -1), c.is_awaited"
                " FROM unnest($1) WITH ORDINALITY AS w (topic, n)"
                " LEFT JOIN redrive.consumer_topic t ON t.topic = w.topic"
                " LEFT JOIN redrive.consumer c ON c.topic = w.topic ORDER BY w.n, c.name COLLATE \"C\"",
                &params, &r, err))
        return false;
    int rows = PQntuples(r);
    *found = arena_array(arena, count, sizeof **found);
    struct consumer *consumers = arena_array(arena, (size_t)rows, sizeof *consumers);
    for (size_t i = 0; i < count; i++)
        (*found)[i] =
            (struct topic_consumers){.topic = arena_text(arena, bytes_of(topics[i])), .read_at = TIME_ABSENT};
    for (int i = 0; i < rows; i++) {
        struct topic_consumers *topic = &(*found)[value_int8(r, i, 0) - 1];
        topic->read_at = value_time(r, i, 1);
        topic->note = value_text(r, i, 2, arena);
        if (value_is_null(r, i, 3))
            continue;
        if (topic->count == 0)
            topic->rows = &consumers[i];
        topic->rows[topic->count++] = (struct consumer){
            .name = value_text(r, i, 3, arena),
            .state = value_text(r, i, 4, arena),
            .lag = value_int8(r, i, 5),
            .is_awaited = value_bool(r, i, 6),
        };
    }
    PQclear(r);
    return true;
}
