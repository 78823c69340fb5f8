// text_watch: which texts of pending events were changed by others, with the new texts.
//
// One look is a pass over the table for rows that were written since the look before. At a million events it
// takes some tenths of a second, so it has a lane (async/lane) that lives for that look only, and the screen
// does not wait. Used by one thread.
#ifndef REDRIVE_SEARCH_TEXT_WATCH_H
#define REDRIVE_SEARCH_TEXT_WATCH_H

#include "search/texts_page.h"

struct text_watch;

struct text_changes {
    int64_t xmin_floor; // for the next look
    int64_t *ids;       // of events, arrivals among them, in no order
    size_t count;
    bool is_too_many;                           // ids to name them one by one, or bytes to hold their texts
    struct texts_page *pages[EVENT_TEXT_COUNT]; // of the columns asked for; NULL: not
    int64_t took;                               // µs
    struct err err;                             // set: nothing of the above is known
};
void text_changes_destroy(struct text_changes *changes);

struct text_watch *text_watch_create(const struct store_settings *settings); // borrowed
void text_watch_destroy(struct text_watch *watch);                           // stops a look; NULL is fine
bool text_watch_is_looking(const struct text_watch *watch);
// Begins a look for events up to `highest` that were written since the floor (store_xmin_floor); columns: set
// of 1 << enum event_text. Not while it is looking.
void text_watch_look(struct text_watch *watch, int64_t xmin_floor, int64_t highest, unsigned columns);
// The changes; NULL: no look was begun, or it is not over. The caller destroys them.
struct text_changes *text_watch_take(struct text_watch *watch);

// The look itself, on a store of the caller.
void text_changes_find(struct store *store, int64_t xmin_floor, int64_t highest, unsigned columns,
                       struct text_changes *changes);

#endif
