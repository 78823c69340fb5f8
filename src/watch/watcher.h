// watcher: a thread that looks into the database of one table every few seconds, and hands over the sums that
// it read (store/watch/sums.h). The owner tells them as metrics as often as it is asked, at no cost to the
// database. After each look it evaluates alerts by these sums (store/watch/alerts.h), in turn with the
// watchers of other processes.
//
// A look that takes long makes the next one come later: twenty times as long, half a minute at most.
#ifndef REDRIVE_WATCH_WATCHER_H
#define REDRIVE_WATCH_WATCHER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "store/watch/alerts.h"
#include "store/watch/sums.h"

struct watcher;

// One look.
struct watch_look {
    bool is_good; // else why it failed
    struct err err;
    struct watch_sums sums; // in the arena
    struct arena arena;
    int64_t took;     // µs
    int64_t ended_at; // clock_mono
};
void watch_look_destroy(struct watch_look *look); // NULL is fine

// Borrows the settings and the plan of alerts (NULL: evaluates none). every: µs between two looks at least.
struct watcher *watcher_start(const struct store_settings *settings, int64_t every,
                              const struct alert_plan *alerts);
void watcher_stop(struct watcher *watcher); // interrupts and waits; NULL is fine
// The next look that was made; the caller destroys it. NULL: none is there. Does not wait.
struct watch_look *watcher_take(struct watcher *watcher);
// One look on the caller's thread and connection.
struct watch_look *watch_look_once(struct store *store, int64_t every);

#endif
