// event_reader: which columns an event is read with, and how a row becomes a struct event. Private to
// src/store.
//
// The statement is `SELECT <extra>, <columns> FROM (<rows>) e <joins> ORDER BY <order>`: rows picks the
// events first (so that joins are made for a page and not for the table), an order of NULL is none, all parts
// are constants, and every value is a parameter: $1 the zone, $2 the cut, the caller's from $3.
#ifndef REDRIVE_STORE_EVENTS_READER_H
#define REDRIVE_STORE_EVENTS_READER_H

#include <libpq-fe.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/strbuf.h"
#include "core/event.h"
#include "store/pg.h"

struct event_reader {
    struct store *store;
    struct arena *arena;
    unsigned fields;    // enum event_fields
    size_t cut;         // bytes of error, stack and payload; 0: whole
    int extra;          // columns of the caller that stand before
    uint64_t page;      // number of this page, for texts that its events share
    int message, stack; // columns that a group is derived from, or -1
};

void event_reader_init(struct event_reader *reader, struct store *store, struct arena *arena, unsigned fields,
                       size_t cut);
void event_reader_sql(struct event_reader *reader, struct strbuf *sql, const char *extra, int extra_count,
                      const char *rows, const char *order);
void event_reader_params(const struct event_reader *reader, struct params *params);
void event_reader_row(struct event_reader *reader, const PGresult *result, int row, struct event *event);

// groups.c: what is known of a group key already, so that its texts are looked at once.
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
