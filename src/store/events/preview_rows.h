// preview_rows: what the parts of a preview need of the rows of many events, read in one go.
//
// Part by part, each row would be looked up four times. Here each is looked up once, and the server packs
// what the parts compare: some bytes an event instead of a row.
#ifndef REDRIVE_STORE_EVENTS_PREVIEW_ROWS_H
#define REDRIVE_STORE_EVENTS_PREVIEW_ROWS_H

#include "store/operations/operations.h"
#include "store/pg.h"

enum { PREVIEW_MANY = 20000 }; // from here on statements are made for many ids

// Many events that are a small part of the table: for one statement it is worth it to look each up by its id.
bool preview_is_looked_up(const struct preview_query *query);

// The planner does not know how much it is, and would look in one list for each line of another, or think
// that lines are too many for other processes to hand them over.
#define SETTINGS_OF_MANY                                                                                     \
    "SELECT pg_catalog.set_config('work_mem', '32MB', true),"                                                \
    " pg_catalog.set_config('enable_nestloop', 'off', true),"                                                \
    " pg_catalog.set_config('enable_mergejoin', 'off', true),"                                               \
    " pg_catalog.set_config('parallel_tuple_cost', '0', true)"

// Are they read in one go? Else the parts read for themselves.
bool preview_rows_are_due(const struct preview_query *query);
// Does an index tell which source ids a second row has?
bool preview_rows_find_index(struct store *store, bool *is_keyed, struct err *err) MUST_CHECK;
// The rows of a part of the events.
bool preview_rows_ask_part(struct store *store, bool is_keyed, const int64_t *ids, size_t count,
                           PGresult **part, struct err *err) MUST_CHECK;

// What was read ahead of these events (preview_ahead.h); NULL: nothing.
struct preview_taken {
    struct store *store; // to the same server; NULL: there is none
    PGresult **parts;    // heap, as all of it
    size_t part_count;
    bool is_keyed;
    int64_t *rest; // ids that are in none of the parts
    size_t rest_count;
};
void preview_ahead_take(struct preview_ahead *ahead, const struct store *store,
                        const struct preview_query *query, struct preview_taken *taken);

// Two halves of a question about these rows, at the same time where the server gives a second connection
// (pg_run_both).
bool preview_rows_ask(const struct preview_rows *rows, struct store *store, struct pg_step *steps,
                      struct pg_step *others, size_t count, struct err *err) MUST_CHECK;

// Of the events that a reprocess can act on:
int64_t preview_rows_count(const struct preview_rows *rows);
// Where they came from, most first.
struct preview_origin {
    struct bytes topic;
    int32_t partition; // -1: none
    int64_t count;
};
size_t preview_rows_origins(const struct preview_rows *rows);
struct preview_origin preview_rows_origin(const struct preview_rows *rows, size_t i);
// How many are overtaken; false: not known. Not among them are events of keys that many rows have: these ids,
// ascending, and valid as long as the rows.
bool preview_rows_overtaken(const struct preview_rows *rows, struct preview_overtaken *overtaken,
                            const int64_t **crowded, size_t *count);
// Those that share their event id with another one of them.
void preview_rows_doubled(const struct preview_rows *rows, const int64_t **ids, size_t *count);
// The events that have to be looked at one by one, as far as their rows say so, in no order; heap.
struct preview_sized {
    int64_t id, size; // bytes of the stored payload
};
void preview_rows_large(const struct preview_rows *rows, const struct preview_large *large,
                        struct preview_sized **sized, size_t *count);

#endif
