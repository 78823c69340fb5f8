// text_watch: which texts of pending events were changed behind our back, with the new ones.
//
// One look is a pass over the table for rows written since the look before, on a thread and a connection that
// are there for that look only: at a million events it takes some tenths of a second, and the screen does not
// wait for it. Used by one thread.
#ifndef REDRIVE_SEARCH_TEXT_WATCH_H
#define REDRIVE_SEARCH_TEXT_WATCH_H

#include "search/text_reader.h"

struct text_watch;

struct text_changes {
    int64_t mark; // for the next look
    int64_t *ids; // of events, arrivals among them, in no order
    size_t count;
    bool is_too_many;                          // to be told one by one, or their texts are too long
    struct text_page *pages[EVENT_TEXT_COUNT]; // of the columns asked for; NULL: not
    int64_t took;                              // µs
    struct err err;                            // set: nothing of the above is known
};
void text_changes_destroy(struct text_changes *changes);

struct text_watch *text_watch_create(const struct store_settings *settings); // borrowed
void text_watch_destroy(struct text_watch *watch);                           // stops a look
bool text_watch_is_looking(const struct text_watch *watch);
// Looks for what was written since the mark (store_xmin_floor) in events up to `highest`; columns: set of 1
// << enum event_text.
void text_watch_look(struct text_watch *watch, int64_t mark, int64_t highest, unsigned columns);
// What was found; NULL: it is still looking, or does not. The caller destroys it.
struct text_changes *text_watch_take(struct text_watch *watch);

// The look itself, on a store that is given.
void text_changes_find(struct store *store, int64_t mark, int64_t highest, unsigned columns,
                       struct text_changes *changes);

#endif
