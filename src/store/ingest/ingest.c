#include "store/ingest/ingest.h"

#include <unistd.h>
#include "base/kill_point.h"
#include "store/ingest/letter_arrays.h"
#include "store/ingest/letter_rows.h"
#include "store/pg.h"

static void
param_ingester(struct params *params, const struct ingester *ingester)
{
    param_int8(params, ingester->no);
    param_int8(params, ingester->fence);
}

static bool
is_ready(struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

bool
ingest_begin(struct store *store, const char *cluster, struct ingester *ingester, struct err *err)
{
    char host[256] = "";
    if (!is_ready(store, err))
        return false;
    gethostname(host, sizeof host - 1);
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, host);
    param_int4(&params, (int32_t)getpid());
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT no, fence FROM redrive.ingest_begin($1, $2, $3)", &params, &r,
                err))
        return false;
    *ingester = (struct ingester){.no = value_int8(r, 0, 0), .fence = value_int8(r, 0, 1)};
    PQclear(r);
    return true;
}

bool
ingest_end(struct store *store, const struct ingester *ingester, struct err *err)
{
    struct params params = {0};
    param_ingester(&params, ingester);
    return is_ready(store, err) &&
           pg_do(store, FOR_WRITING, "SELECT redrive.ingest_end($1, $2)", &params, err);
}

static int64_t
offset_or_none(const PGresult *r, int row, int column)
{
    return value_is_null(r, row, column) ? -1 : value_int8(r, row, column);
}

static struct ingest_position *
read_positions(const PGresult *r, struct arena *arena, size_t *count)
{
    *count = (size_t)PQntuples(r);
    struct ingest_position *positions = arena_array(arena, *count + 1, sizeof *positions);
    for (int i = 0; i < PQntuples(r); i++)
        positions[i] = (struct ingest_position){.topic = value_text(r, i, 0, arena),
                                                .partition = value_int4(r, i, 1),
                                                .generation = value_int4(r, i, 2),
                                                .next = offset_or_none(r, i, 3),
                                                .last_offset = offset_or_none(r, i, 4),
                                                .last_crc = (uint32_t)value_int8(r, i, 5)};
    return positions;
}

bool
ingest_claim(struct store *store, const struct ingester *ingester, const char *const *topics,
             const int32_t *partitions, size_t count, struct arena *arena, struct ingest_position **positions,
             size_t *position_count, struct err *err)
{
    if (!is_ready(store, err))
        return false;
    struct params params = {0};
    param_ingester(&params, ingester);
    param_texts(&params, topics, count);
    param_numbers(&params, partitions, count);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT topic, partition, generation, next_offset, last_offset, last_crc32c FROM "
                "redrive.ingest_claim($1, $2, $3, $4)",
                &params, &r, err))
        return false;
    *positions = read_positions(r, arena, position_count);
    PQclear(r);
    return true;
}

bool
ingest_positions(struct store *store, const char *cluster, struct arena *arena,
                 struct ingest_position **positions, size_t *position_count, struct err *err)
{
    if (!pg_has_schema(store, err))
        return false;
    struct params params = {0};
    param_text(&params, cluster);
    PGresult *r;
    if (!pg_ask(store, FOR_READING,
                "SELECT topic, partition, generation, next_offset, last_offset, last_crc32c FROM "
                "redrive.ingest_position WHERE cluster = $1 ORDER BY topic COLLATE \"C\", partition",
                &params, &r, err))
        return false;
    *positions = read_positions(r, arena, position_count);
    PQclear(r);
    return true;
}

bool
ingest_hole(struct store *store, const struct ingester *ingester, const struct ingest_position *position,
            int64_t to, struct err *err)
{
    if (!is_ready(store, err))
        return false;
    struct params params = {0};
    param_ingester(&params, ingester);
    param_text(&params, position->topic);
    param_int4(&params, position->partition);
    param_int8(&params, position->next);
    param_int8(&params, to);
    return pg_do(store, FOR_WRITING, "SELECT redrive.ingest_hole($1, $2, $3, $4, $5, $6)", &params, err);
}

bool
ingest_anew(struct store *store, const struct ingester *ingester, const struct ingest_position *position,
            struct err *err)
{
    if (!is_ready(store, err))
        return false;
    struct params params = {0};
    param_ingester(&params, ingester);
    param_text(&params, position->topic);
    param_int4(&params, position->partition);
    param_int4(&params, position->generation);
    return pg_do(store, FOR_WRITING, "SELECT redrive.ingest_anew($1, $2, $3, $4, $5)", &params, err);
}

#define KNOWN_IN(table, condition, order)                                                                    \
    "(SELECT \"offset\", crc32c FROM redrive." table                                                         \
    " WHERE cluster = $1 AND topic = $2 AND generation = $3 AND partition = $4 AND \"offset\" BETWEEN $5 "   \
    "AND $6" condition " ORDER BY \"offset\" " order " LIMIT 1)"
#define KNOWN(order)                                                                                         \
    "SELECT \"offset\", crc32c FROM (" KNOWN_IN(                                                             \
        "record", " AND format IS NOT NULL AND NOT is_imported",                                             \
        order) " UNION ALL " KNOWN_IN("attempt", "",                                                         \
                                      order) " UNION ALL " KNOWN_IN("unfit", "",                             \
                                                                    order) ") k ORDER BY \"offset\" " order  \
                                                                           " LIMIT 1"

bool
ingest_known(struct store *store, const char *cluster, const struct ingest_position *position, int64_t low,
             int64_t high, enum ingest_known_which which, struct ingest_known *known, struct err *err)
{
    struct params params = {0};
    param_text(&params, cluster);
    param_text(&params, position->topic);
    param_int4(&params, position->generation);
    param_int4(&params, position->partition);
    param_int8(&params, low);
    param_int8(&params, high);
    PGresult *r;
    if (!pg_ask(store, FOR_READING, which == KNOWN_FIRST ? KNOWN("ASC") : KNOWN("DESC"), &params, &r, err))
        return false;
    *known = (struct ingest_known){.offset = -1};
    if (PQntuples(r) == 1)
        *known = (struct ingest_known){.offset = value_int8(r, 0, 0), .crc = (uint32_t)value_int8(r, 0, 1)};
    PQclear(r);
    return true;
}

bool
ingest_fell_back(struct store *store, const struct ingester *ingester, const struct ingest_position *position,
                 const struct ingest_known *common, struct err *err)
{
    if (!is_ready(store, err))
        return false;
    struct params params = {0};
    param_ingester(&params, ingester);
    param_text(&params, position->topic);
    param_int4(&params, position->partition);
    param_int4(&params, position->generation);
    param_int8(&params, common->offset);
    param_int8(&params, common->crc);
    return pg_do(store, FOR_WRITING, "SELECT redrive.ingest_fell_back($1, $2, $3, $4, $5, $6, $7)", &params,
                 err);
}

bool
ingest_ends(struct store *store, const struct ingester *ingester, const struct ingest_mark *marks,
            size_t count, struct err *err)
{
    if (!is_ready(store, err))
        return false;
    struct arena arena = {0};
    const char **topics = arena_array(&arena, count, sizeof *topics);
    int32_t *partitions = arena_array(&arena, count, sizeof *partitions);
    int64_t *ends = arena_array(&arena, count, sizeof *ends);
    for (size_t i = 0; i < count; i++) {
        topics[i] = marks[i].topic;
        partitions[i] = marks[i].partition;
        ends[i] = marks[i].end;
    }
    struct params params = {0};
    param_ingester(&params, ingester);
    param_texts(&params, topics, count);
    param_numbers(&params, partitions, count);
    param_ids(&params, ends, count);
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.ingest_ends($1, $2, $3, $4, $5)", &params, err);
    arena_release(&arena);
    return ok;
}

static void
param_stretches(struct params *params, const struct ingest_chunk *chunk)
{
    struct arena arena = {0};
    size_t count = chunk->stretch_count;
    const char **topics = arena_array(&arena, count, sizeof *topics);
    int32_t *partitions = arena_array(&arena, count, sizeof *partitions);
    int64_t *offsets = arena_array(&arena, count * 4, sizeof *offsets);
    for (size_t i = 0; i < count; i++) {
        const struct ingest_stretch *stretch = &chunk->stretches[i];
        topics[i] = stretch->topic;
        partitions[i] = stretch->partition;
        offsets[i] = stretch->from;
        offsets[count + i] = stretch->to;
        offsets[2 * count + i] = stretch->last_offset;
        offsets[3 * count + i] = stretch->last_crc;
    }
    param_texts(params, topics, count);
    param_numbers(params, partitions, count);
    for (size_t i = 0; i < 4; i++)
        param_ids(params, offsets + i * count, count);
    arena_release(&arena);
}

// Types of the schema's own may have other numbers after a restore. To plan with the arrays at hand would
// copy them, and is of no use.
static bool
prepare_arrays(struct store *store, struct letter_types *types, struct err *err)
{
    PGresult *r = NULL;
    bool ok = pg_ask(store, FOR_WRITING,
                     "SELECT 'redrive.header_names'::regtype::oid::bigint,"
                     " 'redrive.header_values'::regtype::oid::bigint,"
                     " set_config('plan_cache_mode', 'force_generic_plan', true)",
                     NULL, &r, err);
    if (ok)
        *types = (struct letter_types){.header_names = (Oid)value_int8(r, 0, 0),
                                       .header_values = (Oid)value_int8(r, 0, 1)};
    PQclear(r);
    return ok;
}

// *are_new: all of them are events of their own, and written.
static bool
take_new(struct store *store, const struct ingester *ingester, const struct ingest_chunk *chunk,
         struct ingest_taken *taken, bool *are_new, struct err *err)
{
    struct params params = {0};
    struct letter_types types;
    PGresult *r = NULL;
    if (!prepare_arrays(store, &types, err))
        return false;
    struct ingest_arrays *made = chunk->arrays ? NULL : ingest_arrays_make(chunk, NULL);
    param_ingester(&params, ingester);
    param_stretches(&params, chunk);
    letter_arrays_share(&params, made ? made : chunk->arrays, &types);
    KILL_POINT("ingest-staged");
    bool ok = pg_ask(store, FOR_WRITING,
                     "SELECT redrive.ingest_take_new($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
                     " $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,"
                     " $31, $32, $33, $34, $35, $36, $37, $38)",
                     &params, &r, err);
    *are_new = ok && !value_is_null(r, 0, 0);
    if (*are_new)
        *taken = (struct ingest_taken){.events = value_int8(r, 0, 0)};
    PQclear(r);
    ingest_arrays_free(made);
    return ok;
}

static bool
take_staged(struct store *store, const struct ingester *ingester, const struct ingest_chunk *chunk,
            struct ingest_taken *taken, struct err *err)
{
    struct params stage = {0}, params = {0};
    param_ingester(&stage, ingester);
    if (!pg_do(store, FOR_WRITING, "SELECT redrive.ingest_stage($1, $2)", &stage, err) ||
        (chunk->letter_count > 0 && !letter_rows_copy(store, chunk, err)))
        return false;
    KILL_POINT("ingest-staged");
    param_ingester(&params, ingester);
    param_stretches(&params, chunk);
    PGresult *r = NULL;
    bool ok =
        pg_ask(store, FOR_WRITING,
               "SELECT events, attempts, unfit FROM redrive.ingest_take($1, $2, $3, $4, $5, $6, $7, $8)",
               &params, &r, err);
    if (ok)
        *taken = (struct ingest_taken){.events = value_int8(r, 0, 0),
                                       .attempts = value_int8(r, 0, 1),
                                       .unfit = value_int8(r, 0, 2),
                                       .was_staged = chunk->letter_count > 0};
    PQclear(r);
    return ok;
}

bool
ingest_take(struct store *store, const struct ingester *ingester, const struct ingest_chunk *chunk,
            struct ingest_taken *taken, struct err *err)
{
    bool is_taken = false;
    if (!is_ready(store, err))
        return false;
    KILL_POINT("ingest-read");
    if (!pg_begin(store, FOR_WRITING, err))
        return false;
    bool ok = chunk->is_mixed || chunk->letter_count == 0 ||
              take_new(store, ingester, chunk, taken, &is_taken, err);
    ok = ok && (is_taken || take_staged(store, ingester, chunk, taken, err));
    KILL_POINT("ingest-taken");
    if (ok)
        KILL_POINT_SOON("ingest-commit");
    ok = ok && pg_commit(store, err);
    KILL_POINT("ingest-committed");
    pg_rollback(store);
    return ok;
}

// As many as one transaction takes. *tried: so many there were.
static bool
try_some(struct store *store, const struct ingester *ingester, const char *before, int64_t *tried,
         struct ingest_taken *taken, struct err *err)
{
    enum { AT_ONCE = 500 };
    struct params params = {0}, wanted = {0};
    PGresult *r = NULL;
    param_ingester(&params, ingester);
    param_ingester(&wanted, ingester);
    param_text(&wanted, before);
    param_int4(&wanted, AT_ONCE);
    *tried = 0;
    if (!pg_begin(store, FOR_WRITING, err))
        return false;
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.ingest_stage($1, $2)", &params, err) &&
              pg_ask(store, FOR_WRITING,
                     "SELECT tried, coalesce(events, 0), coalesce(attempts, 0), coalesce(unfit, 0) FROM "
                     "redrive.ingest_again($1, $2, $3::timestamptz, $4)",
                     &wanted, &r, err);
    ok = ok && pg_commit(store, err);
    pg_rollback(store);
    if (ok) {
        *tried = value_int8(r, 0, 0);
        taken->events += value_int8(r, 0, 1);
        taken->attempts += value_int8(r, 0, 2);
        taken->unfit += value_int8(r, 0, 3);
    }
    PQclear(r);
    return ok;
}

bool
ingest_again(struct store *store, const struct ingester *ingester, struct ingest_taken *taken,
             struct err *err)
{
    PGresult *r;
    char before[64];
    int64_t tried;
    *taken = (struct ingest_taken){0};
    if (!is_ready(store, err) ||
        !pg_ask(store, FOR_WRITING, "SELECT pg_catalog.clock_timestamp()::text", NULL, &r, err))
        return false;
    value_copy(r, 0, 0, before, sizeof before);
    PQclear(r);
    do {
        if (!try_some(store, ingester, before, &tried, taken, err))
            return false;
    } while (tried > 0);
    return true;
}
