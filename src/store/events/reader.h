// event_reader: chooses the columns to read of an event, and turns a row into a struct event. Private to
// src/store.
//
// The statement is `SELECT <extra>, <columns> FROM (<rows>) e <joins> ORDER BY <order>`: rows picks the
// events first, so that joins run for a page and not for the table. The names `zone`, `cut`,
// `payload_cut`, `lowest` and `highest` of the query belong to the reader, all others to the caller.
#ifndef REDRIVE_STORE_EVENTS_READER_H
#define REDRIVE_STORE_EVENTS_READER_H

#include <libpq-fe.h>
#include <stddef.h>
#include "base/arena.h"
#include "core/event.h"
#include "store/pg.h"
#include "store/query.h"

struct event_reader {
    struct store *store;
    struct arena *arena;
    unsigned fields;       // enum event_fields
    size_t cut;            // bytes of error, stack and payload; 0: whole
    size_t payload_cut;    // of the payload, where it has a limit of its own; 0: that is `cut`
    int extra;             // number of the caller's columns, which come first
    uint64_t page;         // number of this page, for texts that its events share
    int payload;           // column of a plain reader, or -1
    int message, stack;    // columns from which the group is derived, or -1
    bool takes_unreadable; // payloads that are known to be unreadable are left out
    bool is_plain;         // what redrive's tables know is not looked for: see EVENT_READER_IS_PLAIN
};

// What a plain reader reads is whole: `cut` is 0. Where a statement is for one, this is a condition in it, so
// that one snapshot answers both: redrive has neither the record nor a revision of any event
// between `lowest` and `highest`.
#define EVENT_READER_IS_PLAIN                                                                                \
    "NOT EXISTS (SELECT FROM redrive.record x WHERE x.dlq_id BETWEEN :lowest AND :highest)"                  \
    " AND NOT EXISTS (SELECT FROM redrive.revision x WHERE x.dlq_id BETWEEN :lowest AND :highest)"

// Two rows of one event id, whose ids in SQL these are: not those that were taken in as dead letters of
// different events, since a key may occur in several topics (redrive.record.identity).
#define EVENT_IS_SAME(a, b)                                                                                  \
    "NOT EXISTS (SELECT FROM redrive.record one JOIN redrive.record other ON other.dlq_id = " b              \
    " WHERE one.dlq_id = " a " AND one.identity <> other.identity)"

// The state of a row of redrive.original as enum event_original_state; NULL: there is no row.
#define EVENT_ORIGINAL_STATE(o) "array_position('{waiting,fetched,gone}'::text[], " o ".state)"

void event_reader_init(struct event_reader *reader, struct store *store, struct arena *arena, unsigned fields,
                       size_t cut);
// The caller's part of the statement.
struct event_source {
    struct query_piece extra; // columns of the caller, which come first; or none
    int extra_count;
    const struct query_piece *rows; // a SELECT of columns of the contract table, in pieces
    size_t row_count;
    struct query_piece order; // or none
    int64_t lowest, highest;  // ids between which all rows are; both 0: not known
};
void event_reader_query(struct event_reader *reader, struct query *query, const struct event_source *source);
// A condition on e.status for one status that consumers write, to be added behind WHERE. No condition for
// other sets; then the caller checks the rows.
struct query_piece event_reader_has_status(unsigned statuses);
// Headers from two arrays in binary form: first the names (text[]), which make the list, then the values
// (bytea[]). An absent array leaves the list as it is.
void event_headers_read(struct bytes array, bool names, struct arena *arena, struct event_header **headers,
                        uint32_t *header_count);
void event_reader_row(struct event_reader *reader, const PGresult *result, int row, struct event *event);

// groups.c: the category and class of known group keys, so that texts of a group are evaluated once.
struct group_entry {
    uint64_t key;
    enum category category;
    char *error_class; // heap, or NULL
    size_t error_class_len;
    uint64_t page; // the page that has a copy of the class
    struct bytes page_class;
};
struct group_entry *group_cache_get(struct store *store, uint64_t key, struct bytes message,
                                    struct bytes stack);

#endif
