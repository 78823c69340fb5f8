// Which events of a preview have to be looked at one by one, told by the server without their payloads.
#include "store/operations/operations.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "store/events/preview_rows.h"
#include "store/events/unreadable.h"

// Each of two connections measures every other one, so that both have large ones.
enum { HALVES = 2 };

#define BYTES_OF(column) "coalesce(octet_length(convert_to(" column "::text, 'UTF8')), 0)"
// In the order of the ids. NULL: the event has to be looked at. What the record is made of beside the row is
// not measured here. $2: unreadable ones. $3, $4 and $6: as in struct preview_large; $5: a predicate of
// payloads.
// clang-format off
static const char bytes_sql[] =
    "SELECT m.bytes FROM unnest($1) WITH ORDINALITY AS w (id, place) LEFT JOIN LATERAL (SELECT"
    "   CASE WHEN clock_timestamp() - statement_timestamp() > interval '0.5 s' THEN NULL"
    "        WHEN x.event_payload::jsonb @@ $5::jsonpath THEN NULL WHEN $6 THEN 0"
    "        ELSE octet_length(convert_to(x.event_payload::text, 'UTF8'))::int8 + " BYTES_OF("x.event_id")
    "             + " BYTES_OF("x.source_id") " + " BYTES_OF("x.kafka_topic") " END AS bytes"
    "  FROM :\"events\" x WHERE x.id = w.id AND x.id <> ALL ($2)"
    "   AND (x.kafka_topic::text = ANY ($3)) IS NOT TRUE AND NOT ($4 AND coalesce(x.kafka_topic, '') = '')"
    "   AND NOT EXISTS (SELECT FROM redrive.record r WHERE r.dlq_id = x.id)"
    "   AND NOT EXISTS (SELECT FROM redrive.original o WHERE o.dlq_id = x.id)"
    "   AND NOT EXISTS (SELECT FROM redrive.revision v WHERE v.dlq_id = x.id) LIMIT 1) AS m ON true"
    " ORDER BY w.place";
// clang-format on

static void
half_params(const struct store *store, const struct preview_large *large, const char *unsendable,
            const int64_t *ids, size_t count, size_t half, struct params *params)
{
    int64_t *of_half = alloc_array(count + 1, sizeof *of_half);
    size_t kept = 0;
    for (size_t i = half; i < count; i += HALVES)
        of_half[kept++] = ids[i];
    param_ids(params, of_half, kept);
    unreadable_param(store, LONG_PAYLOAD, params);
    param_texts(params, large->topics, large->topic_count);
    param_bool(params, large->has_none);
    param_text(params, unsendable);
    param_bool(params, large->fits_all);
    free(of_half);
}

static bool
ask(struct store *store, const struct preview_query *query, struct pg_step steps[HALVES], struct err *err)
{
    return query->rows ? preview_rows_ask(query->rows, store, &steps[0], &steps[1], 1, err)
                       : pg_run(store, FOR_SCANNING, steps, HALVES, err);
}

bool
operation_bytes(struct store *store, const struct preview_query *query, const struct preview_large *large,
                const char *unsendable, const int64_t *ids, size_t count, int64_t *bytes, struct err *err)
{
    PGresult *answers[HALVES] = {0};
    struct params params[HALVES] = {0};
    struct pg_step steps[HALVES];
    struct err failure = {0};
    for (size_t half = 0; half < HALVES; half++) {
        half_params(store, large, unsendable, ids, count, half, &params[half]);
        steps[half] = (struct pg_step){.sql = bytes_sql, .params = &params[half], .whole = &answers[half]};
    }
    bool is_asked = ask(store, query, steps, &failure);
    for (size_t i = 0; i < count; i++) {
        const PGresult *r = answers[i % HALVES];
        int row = (int)(i / HALVES);
        bytes[i] = !is_asked || value_is_null(r, row, 0) ? -1 : value_int8(r, row, 0);
    }
    for (size_t half = 0; half < HALVES; half++) {
        PQclear(answers[half]);
        params_release(&params[half]);
    }
    // One that cannot be read is found page by page.
    if (is_asked || unreadable_is_cause(&failure))
        return true;
    if (err && err->kind == ERR_NONE)
        *err = failure;
    return false;
}
