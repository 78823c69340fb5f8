// prefilter: the ids that one part of a filter (a term, or several with or between them) lets through, by one
// pass over the column that it reads instead of over whole rows. For commands, which look at the table once.
// The events are then read and matched with the whole filter, so a prefilter may let too much through, never
// too little.
//
// Where every match holds certain literals, the server may return only rows that hold them (by a trigram
// index, if the column has one). A measurement on the newest rows decides whether that is worth it; --explain
// shows the figures.
#ifndef REDRIVE_SEARCH_PREFILTER_H
#define REDRIVE_SEARCH_PREFILTER_H

#include "base/strbuf.h"
#include "core/filter/filter.h"
#include "store/events/texts.h"

struct prefilter {
    bool is_usable; // false: no part reads one long column
    size_t part;    // of the filter
    enum event_text text;
    struct strbuf required; // literals that every match holds; empty: none worth asking the server for
    bool is_caseless;
    bool is_enough;   // a row that holds them matches
    char index[64];   // "" none
    bool asks_server; // for rows that hold them
    // Measured on the newest rows.
    int64_t sample;  // rows
    double read_us;  // a row read and matched here
    double asked_us; // a row where the server looks for the literals
};

// Fills in required, is_caseless and is_enough of a scan: what the server looks for on behalf of a part that
// reads one long text. The literals are in `required`, and absent from the scan where they are too short to
// be worth it.
void prefilter_ask(const struct filter *filter, size_t part, struct strbuf *required,
                   struct event_scan *scan);

// Chooses and measures. The filter is borrowed until the end of prefilter_run.
bool prefilter_init(struct prefilter *prefilter, struct store *store, struct filter *filter,
                    struct err *err) MUST_CHECK;
void prefilter_release(struct prefilter *prefilter);
// An event that came through.
struct prefiltered {
    int64_t id;
    int64_t created_wall;
    bool is_undecided;
};
// tick gets the number of rows so far; false stops: ERR_CANCELLED. *prefiltered: heap, highest id first.
typedef bool prefilter_tick_fn(void *context, int64_t rows);
bool prefilter_run(const struct prefilter *prefilter, struct store *store, struct filter *filter,
                   unsigned statuses, prefilter_tick_fn *tick, void *context,
                   struct prefiltered **prefiltered, size_t *count, struct err *err) MUST_CHECK;
// How it works and why, in lines for a person.
void prefilter_explain(const struct prefilter *prefilter, struct strbuf *out);

#endif
