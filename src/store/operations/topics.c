#include "store/operations/topics.h"

#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "store/pg.h"

static const char *const answer_names[] = {
    [ANSWER_NONE] = NULL, [ANSWER_KNOWN] = "known", [ANSWER_MISSING] = "missing", [ANSWER_DENIED] = "denied"};

static enum topic_answer
answer_of(struct bytes name)
{
    for (size_t i = 1; i < sizeof answer_names / sizeof *answer_names; i++)
        if (bytes_present(name) && bytes_equal_text(name, answer_names[i]))
            return (enum topic_answer)i;
    return ANSWER_NONE;
}

bool
topics_known(struct store *store, const char *const *names, size_t count, struct topic_known *known,
             struct err *err)
{
    static const char sql[] =
        "SELECT t.state, coalesce(t.partitions, 0), coalesce(t.max_bytes, -1), t.asked_at"
        " FROM unnest($1) WITH ORDINALITY AS w (name, n) LEFT JOIN redrive.topic t ON t.name = w.name"
        "   AND t.asked_at IS NOT NULL ORDER BY w.n";
    for (size_t i = 0; i < count; i++)
        known[i] = (struct topic_known){.max_bytes = -1, .asked_at = TIME_ABSENT};
    struct params params = {0};
    param_texts(&params, names, count);
    PGresult *r;
    if (!pg_ask(store, FOR_READING, sql, &params, &r, err))
        return false;
    for (size_t i = 0; i < count && i < (size_t)PQntuples(r); i++)
        known[i] = (struct topic_known){.answer = answer_of(value_bytes(r, (int)i, 0)),
                                        .partitions = value_int4(r, (int)i, 1),
                                        .max_bytes = value_int8(r, (int)i, 2),
                                        .asked_at = value_time(r, (int)i, 3)};
    PQclear(r);
    return true;
}

bool
topics_want(struct store *store, const char *const *names, size_t count, bool *has_worker, struct err *err)
{
    *has_worker = false;
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_texts(&params, names, count);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT redrive.topics_want($1)", &params, &r, err))
        return false;
    *has_worker = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
topics_wanted(struct store *store, char (*names)[TOPIC_NAME], size_t room, size_t *count, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_int4(&params, (int32_t)room);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT w FROM redrive.work_topics_wanted($1) AS w", &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    for (size_t i = 0; i < *count; i++)
        value_copy(r, (int)i, 0, names[i], TOPIC_NAME);
    PQclear(r);
    return true;
}

bool
topics_answer(struct store *store, const char *cluster, const char *const *names,
              const struct topic_known *known, size_t count, struct err *err)
{
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    struct arena arena = {0};
    const char **states = arena_array(&arena, count, sizeof *states);
    int32_t *partitions = arena_array(&arena, count, sizeof *partitions);
    int64_t *max_bytes = arena_array(&arena, count, sizeof *max_bytes);
    for (size_t i = 0; i < count; i++) {
        states[i] = answer_names[known[i].answer];
        partitions[i] = known[i].partitions;
        max_bytes[i] = known[i].max_bytes;
    }
    struct params params = {0};
    param_text(&params, cluster);
    param_texts(&params, names, count);
    param_texts(&params, states, count);
    param_numbers(&params, partitions, count);
    param_ids(&params, max_bytes, count);
    bool ok =
        pg_do(store, FOR_WRITING, "SELECT redrive.work_topics_answer($1, $2, $3, $4, $5)", &params, err);
    arena_release(&arena);
    return ok;
}
