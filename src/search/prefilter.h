// prefilter: for commands, which look at the table once: the ids that one term of a filter lets through, by
// one pass over that term's column instead of over whole rows. What comes through is then read and matched
// with the whole filter, so a prefilter may let too much through and never too little.
//
// Where it is known what every match holds, the server is asked only for rows that hold it (by a trigram
// index, if there is one). Whether that is worth it is measured on the newest rows before, and told by
// --explain.
#ifndef REDRIVE_SEARCH_PREFILTER_H
#define REDRIVE_SEARCH_PREFILTER_H

#include "base/strbuf.h"
#include "core/filter/filter.h"
#include "store/events/texts.h"

struct prefilter {
    bool is_usable; // there is a term that reads a long column
    size_t term;    // of the filter
    enum event_text text;
    struct strbuf required; // that the server is asked for; empty: there is none it could be asked for
    bool is_caseless;
    bool is_enough;   // what fits the required matches
    char index[64];   // "" none
    bool asks_server; // for the required
    // Measured on the newest rows.
    int64_t sample;  // rows
    double read_us;  // a row read and matched here
    double asked_us; // a row where the server looks for the required
};

// Fills in what a server is to look for where the pattern is to match (of required, is_caseless and
// is_enough); the required is the pattern's, and absent where it is too little to be worth it.
void prefilter_ask(const struct pattern *pattern, struct event_scan *scan);

// Chooses and measures. The filter is borrowed until the end of prefilter_run.
bool prefilter_init(struct prefilter *prefilter, struct store *store, struct filter *filter,
                    struct err *err) MUST_CHECK;
void prefilter_release(struct prefilter *prefilter);
// What came through, heap, highest id first.
struct prefiltered {
    int64_t id;
    int64_t created_wall;
    bool is_undecided;
};
// tick is told how many rows came, and stops by false: ERR_CANCELLED.
typedef bool prefilter_tick_fn(void *context, int64_t rows);
bool prefilter_run(const struct prefilter *prefilter, struct store *store, struct filter *filter,
                   unsigned statuses, prefilter_tick_fn *tick, void *context,
                   struct prefiltered **prefiltered, size_t *count, struct err *err) MUST_CHECK;
// In words, some lines.
void prefilter_explain(const struct prefilter *prefilter, const struct filter *filter, struct strbuf *out);

#endif
