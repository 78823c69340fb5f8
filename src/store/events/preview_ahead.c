#include "store/events/preview_ahead.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "store/events/preview_rows.h"

// A part is looked up in one statement: of what is left a SHARE, since many keys are looked up faster in
// their order than few, and at the end FEWEST, so that no thread waits long for the last part of another.
enum { SHARE = 2, FEWEST = 4000 };

struct preview_ahead {
    struct store *store;
    int64_t *ids;
    size_t count;
    bool is_keyed;
    size_t *starts;   // of the parts among the ids, and at last their end
    PGresult **parts; // each is written by the thread that took it; NULL: it was not read
    size_t part_count, start_room;
    atomic_size_t next;   // part to take
    atomic_bool is_begun; // what is above is there
    atomic_bool is_stopped;
};

struct preview_ahead *
preview_ahead_create(void)
{
    return alloc_bytes(sizeof(struct preview_ahead));
}

void
preview_ahead_destroy(struct preview_ahead *ahead)
{
    if (!ahead)
        return;
    for (size_t i = 0; i < ahead->part_count; i++)
        PQclear(ahead->parts[i]);
    store_close(ahead->store);
    free(ahead->parts);
    free(ahead->starts);
    free(ahead->ids);
    free(ahead);
}

static void
divide(struct preview_ahead *ahead)
{
    ahead->starts = alloc_grow(NULL, 0, &ahead->start_room, sizeof *ahead->starts);
    ahead->starts[0] = 0;
    for (size_t at = 0; at < ahead->count;) {
        size_t left = ahead->count - at, len = left / SHARE > FEWEST ? left / SHARE : FEWEST;
        at += len < left ? len : left;
        ahead->starts =
            alloc_grow(ahead->starts, ++ahead->part_count, &ahead->start_room, sizeof *ahead->starts);
        ahead->starts[ahead->part_count] = at;
    }
    ahead->parts = alloc_array(ahead->part_count, sizeof *ahead->parts);
}

bool
preview_ahead_begin(struct preview_ahead *ahead, struct store *store, const int64_t *ids, size_t count)
{
    const struct preview_query query = {.action = ACTION_REPROCESS, .ids = ids, .count = count};
    struct err ignored = {0};
    ahead->store = store;
    if (!preview_rows_are_due(&query) || !preview_rows_find_index(store, &ahead->is_keyed, &ignored))
        return false;
    ahead->ids = alloc_array(count, sizeof *ahead->ids);
    memcpy(ahead->ids, ids, count * sizeof *ids);
    ahead->count = count;
    divide(ahead);
    atomic_store(&ahead->is_begun, true);
    return true;
}

static const int64_t *
part_ids(const struct preview_ahead *ahead, size_t part, size_t *count)
{
    *count = ahead->starts[part + 1] - ahead->starts[part];
    return ahead->ids + ahead->starts[part];
}

void
preview_ahead_read(struct preview_ahead *ahead, struct store *store)
{
    struct err ignored = {0};
    for (size_t part; !atomic_load(&ahead->is_stopped) &&
                      (part = atomic_fetch_add(&ahead->next, 1)) < ahead->part_count;) {
        size_t count;
        const int64_t *ids = part_ids(ahead, part, &count);
        if (!preview_rows_ask_part(store, ahead->is_keyed, ids, count, &ahead->parts[part], &ignored))
            preview_ahead_stop(ahead);
    }
}

void
preview_ahead_stop(struct preview_ahead *ahead)
{
    atomic_store(&ahead->is_stopped, true);
}

// Are the events of a part among these, one after another? *at: where they would begin.
static bool
holds_part(const struct preview_ahead *ahead, size_t part, const int64_t *ids, size_t count, size_t *at)
{
    size_t len;
    const int64_t *wanted = part_ids(ahead, part, &len);
    while (*at < count && ids[*at] < wanted[0])
        (*at)++;
    return len <= count - *at && memcmp(ids + *at, wanted, len * sizeof *ids) == 0;
}

bool
preview_ahead_is_of_use(const struct preview_ahead *ahead, const int64_t *ids, size_t count)
{
    size_t parts = 0, at = 0;
    if (!atomic_load(&ahead->is_begun))
        return false;
    for (size_t i = 0; i < ahead->part_count; i++)
        parts += holds_part(ahead, i, ids, count, &at);
    return 2 * parts >= ahead->part_count;
}

static void
add_rest(struct preview_taken *taken, const int64_t *ids, size_t count)
{
    memcpy(taken->rest + taken->rest_count, ids, count * sizeof *ids);
    taken->rest_count += count;
}

static void
take_parts(struct preview_ahead *ahead, const struct preview_query *query, struct preview_taken *taken)
{
    size_t from = 0, at = 0;
    taken->parts = alloc_array(ahead->part_count, sizeof(PGresult *));
    taken->rest = alloc_array(query->count, sizeof *taken->rest);
    for (size_t i = 0; i < ahead->part_count; i++) {
        if (!ahead->parts[i] || !holds_part(ahead, i, query->ids, query->count, &at))
            continue;
        size_t len;
        (void)part_ids(ahead, i, &len);
        add_rest(taken, query->ids + from, at - from);
        from = at += len;
        taken->parts[taken->part_count++] = ahead->parts[i];
        ahead->parts[i] = NULL;
    }
    add_rest(taken, query->ids + from, query->count - from);
}

void
preview_ahead_take(struct preview_ahead *ahead, const struct store *store, const struct preview_query *query,
                   struct preview_taken *taken)
{
    if (!ahead || !ahead->store || !store_is_connected(ahead->store) ||
        !pg_is_same_server(store, ahead->store))
        return;
    taken->store = ahead->store;
    taken->is_keyed = ahead->is_keyed;
    ahead->store = NULL;
    if (atomic_load(&ahead->is_begun))
        take_parts(ahead, query, taken);
}
