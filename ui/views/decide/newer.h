// decide_newer: newer records of the events' keys in Kafka (core/newer.h), looked for while the dialog is
// open, when somebody asks or the setting consumers does. Such events can be left out, or listed.
#ifndef REDRIVE_UI_VIEWS_DECIDE_NEWER_H
#define REDRIVE_UI_VIEWS_DECIDE_NEWER_H

#include "base/arena.h"
#include "core/newer.h"
#include "ui/app/app.h"

struct decide_newer {
    bool is_asked;
    uint64_t number;  // of the request under way, or 0
    int64_t question; // 0: none yet
    bool has_worker;
    struct newer found; // texts and lists in `arena`
    struct arena arena;
    char trouble[700]; // why it cannot be looked for, or ""
    size_t lines;      // of the dialog, above these
    int64_t *all;      // the ids before stale ones were left out; NULL: they are not
    size_t all_count;
};

void decide_newer_release(struct decide_newer *newer);

// Looks on where somebody asked and it is not over. Not while a preview runs, which it would end.
void decide_newer_look(struct app *app, struct decide_newer *newer, const int64_t *ids, size_t count);
// An answer; the reply's arena is taken over.
void decide_newer_take(struct app *app, struct decide_newer *newer, struct reply *reply);

// Leaves the stale ones out of the ids, or takes them back. False: nothing changed, since it is not known
// yet, or there are none, or nothing would be left.
bool decide_newer_toggle(struct decide_newer *newer, int64_t **ids, size_t *count);

// Rewrites their lines at the end of the dialog, and what its footer offers.
void decide_newer_describe(struct decide_newer *newer, struct dialog *dialog, int64_t now);
// " --check-newer", " --skip-stale" or "".
const char *decide_newer_option(const struct decide_newer *newer);

#endif
