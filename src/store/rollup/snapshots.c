#include "store/rollup/snapshots.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "store/pg.h"

enum { WORTH_ARRIVALS = 4000 };        // fewer arrivals are read from the table as quickly
static const int64_t ROOM = 256 << 20; // bytes of all snapshots: about ten million messages

bool
text_snapshots_state(struct store *store, struct text_snapshots *state, struct err *err)
{
    *state = (struct text_snapshots){0};
    PGresult *r;
    if (store->info.schema_version == 0)
        return true;
    if (!pg_ask(
            store, FOR_READING,
            "SELECT s.texts_floor, s.texts_changes, t.events FROM redrive.rollup_state s,"
            " (SELECT sum(n)::int8 AS events FROM redrive.text_snapshot) t WHERE s.texts_floor IS NOT NULL"
            " AND s.uncompared = -9223372036854775808 AND s.lease_until > pg_catalog.clock_timestamp() AND "
            "t.events > 0",
            NULL, &r, err))
        return false;
    if (PQntuples(r))
        *state = (struct text_snapshots){true, value_int8(r, 0, 0), value_int8(r, 0, 1), value_int8(r, 0, 2)};
    PQclear(r);
    return true;
}

static void
read_snapshot(const PGresult *r, struct text_snapshot *snapshot)
{
    struct bytes bytes = value_bytes(r, 0, 2);
    struct bytes stale = value_bytes(r, 0, 3);
    snapshot->low = value_int8(r, 0, 0);
    snapshot->high = value_int8(r, 0, 1);
    snapshot->data = alloc_array(bytes.len + 1, 1);
    memcpy(snapshot->data, bytes.data, bytes.len);
    snapshot->bytes = (struct bytes){snapshot->data, bytes.len};
    snapshot->stale_count = stale.len / 8;
    snapshot->stale = alloc_array(snapshot->stale_count + 1, sizeof *snapshot->stale);
    for (size_t i = 0; i < snapshot->stale_count; i++)
        snapshot->stale[i] = pg_read64(stale.data + 8 * i);
}

bool
text_snapshot_below(struct store *store, int64_t below, struct text_snapshot *snapshot, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *snapshot = (struct text_snapshot){0};
    param_int8(&params, below);
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT low, high, content, (SELECT string_agg(int8send(i), '' ORDER BY i DESC) FROM "
                "unnest(stale) i)"
                " FROM redrive.text_snapshot WHERE low < $1 ORDER BY low DESC LIMIT 1",
                &params, &r, err))
        return false;
    if (PQntuples(r))
        read_snapshot(r, snapshot);
    PQclear(r);
    return true;
}

void
text_snapshot_release(struct text_snapshot *snapshot)
{
    free(snapshot->data);
    free(snapshot->stale);
    *snapshot = (struct text_snapshot){0};
}

bool
text_snapshot_gap(struct store *store, const char *maintainer, int64_t upto, struct text_gap *gap,
                  struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *gap = (struct text_gap){0};
    param_text(&params, maintainer);
    param_int8(&params, upto);
    param_int8(&params, WORTH_ARRIVALS);
    param_int8(&params, ROOM);
    if (!pg_ask(store, FOR_WRITING, "SELECT after, before FROM redrive.text_snapshot_gap($1, $2, $3, $4)",
                &params, &r, err))
        return false;
    *gap = (struct text_gap){value_int8(r, 0, 0), value_int8(r, 0, 1)};
    PQclear(r);
    return true;
}

bool
text_snapshot_put(struct store *store, const char *maintainer, int64_t low, int64_t high, size_t events,
                  struct bytes snapshot, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, low);
    param_int8(&params, high);
    param_int4(&params, (int32_t)events);
    param_blobs(&params, &snapshot, 1);
    return pg_do(store, FOR_WRITING, "SELECT redrive.text_snapshot_put($1, $2, $3, $4, ($5::bytea[])[1])",
                 &params, err);
}

bool
text_snapshot_compared(struct store *store, const char *maintainer, int64_t xmin_floor, int64_t changes,
                       size_t small, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, xmin_floor);
    param_int8(&params, changes);
    param_int8(&params, (int64_t)small);
    return pg_do(store, FOR_WRITING, "SELECT redrive.text_snapshot_compared($1, $2, $3, $4)", &params, err);
}
