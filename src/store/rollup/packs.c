#include "store/rollup/packs.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "store/pg.h"

enum { WORTH_ARRIVALS = 4000 };        // so many are read from the table as quickly
static const int64_t ROOM = 256 << 20; // bytes of all packs: about ten million messages

bool
text_packs_state(struct store *store, struct text_packs_state *state, struct err *err)
{
    *state = (struct text_packs_state){0};
    PGresult *r;
    if (store->info.schema_version == 0)
        return true;
    if (!pg_ask(
            store, FOR_READING,
            "SELECT s.texts_floor, s.texts_changes, t.events FROM redrive.rollup_state s,"
            " (SELECT sum(n)::int8 AS events FROM redrive.text_snapshot) t WHERE s.texts_floor IS NOT NULL"
            " AND s.uncompared = 0 AND s.lease_until > pg_catalog.clock_timestamp() AND t.events > 0",
            NULL, &r, err))
        return false;
    if (PQntuples(r))
        *state =
            (struct text_packs_state){true, value_int8(r, 0, 0), value_int8(r, 0, 1), value_int8(r, 0, 2)};
    PQclear(r);
    return true;
}

static void
read_pack(const PGresult *r, struct text_pack *pack)
{
    struct bytes bytes = value_bytes(r, 0, 2);
    struct bytes stale = value_bytes(r, 0, 3);
    pack->low = value_int8(r, 0, 0);
    pack->high = value_int8(r, 0, 1);
    pack->data = alloc_array(bytes.len + 1, 1);
    memcpy(pack->data, bytes.data, bytes.len);
    pack->bytes = (struct bytes){pack->data, bytes.len};
    pack->stale_count = stale.len / 8;
    pack->stale = alloc_array(pack->stale_count + 1, sizeof *pack->stale);
    for (size_t i = 0; i < pack->stale_count; i++)
        pack->stale[i] = pg_read64(stale.data + 8 * i);
}

bool
text_packs_below(struct store *store, int64_t below, struct text_pack *pack, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *pack = (struct text_pack){0};
    param_int8(&params, below);
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT low, high, content, (SELECT string_agg(int8send(i), '' ORDER BY i DESC) FROM "
                "unnest(stale) i)"
                " FROM redrive.text_snapshot WHERE low < $1 ORDER BY low DESC LIMIT 1",
                &params, &r, err))
        return false;
    if (PQntuples(r))
        read_pack(r, pack);
    PQclear(r);
    return true;
}

void
text_pack_release(struct text_pack *pack)
{
    free(pack->data);
    free(pack->stale);
    *pack = (struct text_pack){0};
}

bool
text_packs_hole(struct store *store, const char *maintainer, int64_t upto, struct text_hole *hole,
                struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *hole = (struct text_hole){0};
    param_text(&params, maintainer);
    param_int8(&params, upto);
    param_int8(&params, WORTH_ARRIVALS);
    param_int8(&params, ROOM);
    if (!pg_ask(store, FOR_WRITING, "SELECT after, before FROM redrive.text_snapshot_gap($1, $2, $3, $4)",
                &params, &r, err))
        return false;
    *hole = (struct text_hole){value_int8(r, 0, 0), value_int8(r, 0, 1)};
    PQclear(r);
    return true;
}

bool
text_packs_put(struct store *store, const char *maintainer, int64_t low, int64_t high, size_t events,
               struct bytes pack, struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, low);
    param_int8(&params, high);
    param_int4(&params, (int32_t)events);
    param_blobs(&params, &pack, 1);
    return pg_do(store, FOR_WRITING, "SELECT redrive.text_snapshot_put($1, $2, $3, $4, ($5::bytea[])[1])",
                 &params, err);
}

bool
text_packs_mark(struct store *store, const char *maintainer, int64_t mark, int64_t changes, size_t small,
                struct err *err)
{
    struct params params = {0};
    param_text(&params, maintainer);
    param_int8(&params, mark);
    param_int8(&params, changes);
    param_int8(&params, (int64_t)small);
    return pg_do(store, FOR_WRITING, "SELECT redrive.text_snapshot_compared($1, $2, $3, $4)", &params, err);
}
