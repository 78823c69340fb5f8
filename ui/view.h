// view: one screenful with its state. One file in ui/views/ and one row in views.def each.
//
// Handlers decide, the backend works, draws look. A view asks with app_send and is told by receive; it never
// waits. Its state is its own; everything visible follows from the state, whole, each time. Views lie on a
// stack: what is opened above leaves the one below as it was, and it still receives its replies there. All
// functions may be NULL except draw.
#ifndef REDRIVE_UI_VIEW_H
#define REDRIVE_UI_VIEW_H

#include <stdbool.h>
#include "async/message.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "ui/keymap/action.h"
#include "ui/canvas/canvas.h"

struct app;

// Where a view draws. Either may have no rows on a small terminal.
struct view_areas {
    struct area line; // line 2: what do I see
    struct area body;
};

// What a view shows of time by itself: when it is drawn again although nothing happened. An unchanged picture
// costs nothing.
enum aging {
    AGES_NOT,
    AGES_BY_MINUTES, // at the start of each, when the ages of text_ago change
    AGES_BY_SECONDS, // it counts down, or tells how fast something goes
};

// A row of a view's table of actions. The table is all that the view handles: help, palette and footers offer
// what it names and nothing else. The first row for an action is asked first; one that answers false leaves
// the action to the next. At the end of the table the app says that the action means nothing here.
struct view_action {
    enum action action;
    // In place of one action: all those of a part that several views have (table_moves, pager_handles).
    bool (*part)(enum action action);

    // true: done. BACK, CANCEL, REFRESH and PAUSE_DISPLAY belong to the app, which asks here as well: true
    // for BACK when the view used it up (left a visual range, cleared the filter), false to be closed.
    bool (*run)(struct app *app, void *state, enum action action);
    // Instead of run: the sentence that says why the view does not do this. Such a row is not offered.
    const char *why_not;

    // Is it worth a word in the footer now? NULL: always.
    bool (*is_possible)(const struct app *app, const void *state, enum action action);

    // The headless twin here; NULL: that of actions.def.
    const char *command;

    // What the footer calls it now; NULL, and where it answers NULL: by its label in actions.def.
    const char *(*word)(const struct app *app, const void *state, enum action action);
};

struct view {
    const char *name; // as in views.def
    enum context context;
    enum aging aging;
    const struct view_action *actions; // ended by a row without action and part; NULL: none
    const enum action *footer; // up to eight of its actions and the app's, ended by DO_NONE; those without a
                               // key in force are left out

    void (*touched)(void *state); // before each action that is offered to it, and each click

    // Makes the state. `argument` belongs to the caller and is only read here; its type is a matter between
    // the views (declared in ui/views/NAME.h). May call app_send.
    void *(*open)(struct app *app, const void *argument);
    void (*close)(struct app *app, void *state);

    // Is it what open would make of this argument, so that opening it again shows nothing new? NULL: never.
    bool (*is_of)(const void *state, const void *argument);

    // The view became the visible one again: after what lay above it was closed, or after a change of places.
    void (*shown)(struct app *app, void *state);

    // Only for views that take text themselves, such as an editor or the palette: typed characters and pastes
    // that are not bound (with is_paste, line ends are kept). true: used.
    bool (*type)(struct app *app, void *state, struct bytes text, bool is_paste);

    // A reply to one of its requests, or news (number 0). The reply stays the app's, except for what
    // message.h lets one take. true: something visible may have changed.
    bool (*receive)(struct app *app, void *state, struct reply *reply);

    // Its steps of the breadcrumb, in order from 0: appends the i-th and returns true, false: no more.
    // Untrusted text is fine.
    bool (*crumb)(const struct app *app, const void *state, int i, struct strbuf *out);

    void (*draw)(const struct app *app, const void *state, struct canvas *canvas,
                 const struct view_areas *areas);

    // Before each draw, with the size it will get: the place to fit scroll positions and to ask for the rows
    // that became visible.
    void (*layout)(struct app *app, void *state, const struct view_areas *areas);

    // The events that it is about: as a list of the backend, whose texts live as app_frame, and what they are
    // called. For what takes them elsewhere (export, pipe). false: none now; the view may say why.
    bool (*events)(struct app *app, void *state, struct list_query *query, const char **what);

    // The one group that it is about, for others to see. NULL or false: none.
    bool (*group)(const void *state, uint64_t *group);

    // Of first views about events, which share one filter: the one in force, "" none; and the one of another
    // place, when the operator comes from there.
    const char *(*filter)(const void *state);
    void (*take_filter)(struct app *app, void *state, struct bytes text);

    // Work of its own that waits for its time, such as a check that runs in slices: clock_mono of the next
    // tick, negative: none. Also while another view lies above.
    int64_t (*due)(const void *state);
    void (*tick)(struct app *app, void *state);

    // Why the program should not end now: a sentence; NULL: it may. A terminal that is gone is not asked.
    const char *(*unsaved)(const struct app *app, const void *state);

    // A click at this cell of the screen; a second one on the same row opens. true: used.
    bool (*click)(struct app *app, void *state, int row, int col);
};

// The first row for the action after that row (NULL: of the table); NULL: no more.
const struct view_action *view_action(const struct view *view, enum action action,
                                      const struct view_action *after);
// Does the view do this, at some time at least?
bool view_handles(const struct view *view, enum action action);

#define VIEW(name, place, parent) extern const struct view view_##name;
#include "ui/views.def"
#undef VIEW

struct view_row {
    const struct view *view;
    int place; // its digit, or 0
};
extern const struct view_row views[];
extern const int view_count;

#endif
