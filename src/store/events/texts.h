// event_texts: one long column of many pending events, for a search that keeps it (search/text_cache).
#ifndef REDRIVE_STORE_EVENTS_TEXTS_H
#define REDRIVE_STORE_EVENTS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "store/store.h"

enum event_text {
    EVENT_TEXT_ERROR,
    EVENT_TEXT_STACK,
    EVENT_TEXT_KEY,     // the record's key where it is kept, else source_id; not for store_scan_texts
    EVENT_TEXT_PAYLOAD, // as event_payload_shown: newest revision, else decoded, else raw bytes, else the
                        // jsonb's text
    EVENT_TEXT_COUNT
};

// Pending events with ids above after_id (INT64_MIN: any) and below before_id (INT64_MAX: any), highest first
// or lowest first, at most `limit`. They come one by one, so that one long text at a time is in memory; the
// bytes are valid during the call. false: skip the rest. Texts that PostgreSQL cannot return do not
// come; store_events says which.
struct event_texts_query {
    enum event_text text;
    int64_t after_id, before_id;
    bool ascending;
    size_t limit;
    const int64_t *ids; // only these, in any order (with id_count); NULL: by the members above
    size_t id_count;
};
typedef bool event_text_fn(void *context, int64_t id, struct bytes text);
bool store_event_texts(struct store *store, const struct event_texts_query *query, event_text_fn *each,
                       void *context, struct err *err) MUST_CHECK;

// Did a text that PostgreSQL cannot return cause this failure of a scan? Without a scan the others can be
// read.
bool store_text_is_unreadable(const struct err *err);

// The lowest and highest id of all events; 0 and 0 when there are none.
bool store_id_bounds(struct store *store, int64_t *lowest, int64_t *highest, struct err *err) MUST_CHECK;

// One pass over the whole column, in the table's order, in one statement. With `required`, only rows whose
// text fits it (core/filter/required_literals). For is_caseless it comes from required_ignore_case, and with
// is_indexed also ignores "i", because then the server's rules of case decide. Rows whose payload is stored
// elsewhere always come.
struct event_scan {
    enum event_text text;
    unsigned statuses;     // set of 1 << enum event_status; more may come
    struct bytes required; // absent or empty: every row
    bool is_caseless;
    bool is_enough;  // every text that fits `required` matches: texts are not read
    bool is_indexed; // by store_trigram_index
    bool has_before; // only ids below before_id; not for store_count_fitting
    int64_t before_id;
};
struct scanned_row {
    int64_t id;
    int64_t created_wall; // as in struct event
    struct bytes text;
    bool fits; // with is_enough: it matches, and the text was not read
};
// One by one; the bytes are valid during the call. false: stop, ERR_CANCELLED.
typedef bool event_scan_fn(void *context, const struct scanned_row *row);
bool store_scan_texts(struct store *store, const struct event_scan *scan, event_scan_fn *each, void *context,
                      struct err *err) MUST_CHECK;
// The same for pending events with ids low … high only, highest first; false: skip the rest.
bool store_scan_range(struct store *store, const struct event_scan *scan, int64_t low, int64_t high,
                      event_scan_fn *each, void *context, struct err *err) MUST_CHECK;

// Lets the server count the rows with ids from `lowest` on that fit the scan's `required`, as a measurement.
bool store_count_fitting(struct store *store, const struct event_scan *scan, int64_t lowest, int64_t *count,
                         struct err *err) MUST_CHECK;

// A number that changes, some seconds late (pg_stat_all_tables), when rows of the contract table change or
// are deleted, or when rows of the tables with other payloads change, are deleted or are added. Arrivals do
// not change it.
bool store_change_count(struct store *store, int64_t *count, struct err *err) MUST_CHECK;

// The xmin floor: the oldest transaction that still runs now. store_changed_ids finds the pending events that
// were written, or whose payloads were written, by that transaction or later: at most `limit` ids up to
// `highest`, heap, the caller frees. It reads the whole table. Arrivals are included.
bool store_xmin_floor(struct store *store, int64_t *xmin_floor, struct err *err) MUST_CHECK;
bool store_changed_ids(struct store *store, int64_t xmin_floor, int64_t highest, size_t limit, int64_t **ids,
                       size_t *count, struct err *err) MUST_CHECK;

// Does the table have a trigram index (pg_trgm) on this column? *name (may be NULL) receives it, "" without.
bool store_trigram_index(struct store *store, enum event_text text, char name[64],
                         struct err *err) MUST_CHECK;

#endif
