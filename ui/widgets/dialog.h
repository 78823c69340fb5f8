// dialog: a form over the view that asks before something changes: what would happen in words and numbers,
// fields, two buttons.
//
// No key confirms by accident. The focus begins in the first field, so that what is typed is text; where
// there is no field it begins on Cancel. A letter is text or nothing: on a button it goes to the first field,
// a digit to the count that is asked for. Tab goes from the fields that must be filled in (the first one
// among them) to the count, to the button that confirms, then to the other fields and to Cancel. Enter in a
// field goes to the next field, never to a button but from the right count. So confirming takes two acts: to
// bring the focus, which stands in brackets, to the button, and to press Enter there. Enter counts only where
// nothing came for DIALOG_PAUSE before it: neither the dialog nor its button nor another key. What comes
// faster is no hand: a paste in a terminal that does not mark pastes, or a key that bounces. A paste never
// fills in the count. Survives resizing. Fields that fail their check keep the dialog open and get the focus.
//
// Times are those of clock_mono.
#ifndef REDRIVE_UI_DIALOG_H
#define REDRIVE_UI_DIALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "ui/keymap/action.h"
#include "ui/canvas/canvas.h"

struct app;
struct dialog;

#define DIALOG_FIELDS 7
#define DIALOG_PAUSE 50000 // µs
#define DIALOG_SHOWN 300000

struct dialog_field {
    const char *label;  // "reason"
    const char *value;  // to begin with, or NULL
    const char *hint;   // shown while it is empty, or NULL
    const char *option; // "--reason": what the same command has for it; NULL: nothing, or as_options
    void (*as_options)(struct bytes text, struct strbuf *command);
    int width; // cells; 0: what is left of the line
    bool is_required;
    bool is_counted; // what is confirmed depends on it: `edited` is called when the focus leaves it changed,
                     // and nothing is confirmed between
    bool (*check)(struct bytes text,
                  struct err *err); // may be NULL; not asked for an empty field that is not required
};

// Texts are copied. The callbacks get the state of the view that opened the dialog.
struct dialog_request {
    const char *title;      // "Reprocess"
    const char *confirm;    // on the button: "Reprocess"; NULL: nothing to confirm, only Close
    bool is_danger;         // cannot be undone
    int64_t typed_count;    // > 0: this number must be typed to confirm
    const char *typed_word; // or this word; NULL: none
    struct dialog_field fields[DIALOG_FIELDS];
    int field_count;
    const char *command; // "same as: …", with what the fields hold behind it; or NULL
    // Everything is checked. The dialog is closed before; read the values by dialog_value within.
    void (*confirmed)(struct app *app, void *state, const struct dialog *dialog);
    void (*cancelled)(struct app *app, void *state); // may be NULL
    void (*edited)(struct app *app, void *state);    // a field that is_counted; NULL: there is none
    // An action of the keymap's dialog context, after the dialog took it: for those that are offered. May
    // close the dialog. NULL: there is none.
    void (*acted)(struct app *app, void *state, enum action action);
};

// A key that the owner of the dialog takes (request.acted), and what it does now, for the footer; static.
struct dialog_offer {
    enum action action;
    const char *word;
};
enum { DIALOG_OFFERS = 2 };

// environment: its name, or NULL, and how that is drawn (statusbar.h).
struct dialog *dialog_create(const struct dialog_request *request, const char *environment,
                             enum role environment_role);
void dialog_destroy(struct dialog *dialog);

// The lines above the fields; may be rewritten at any time. While is_waiting is set nothing can be confirmed,
// and the button is dimmed.
void dialog_clear(struct dialog *dialog);
size_t dialog_lines(const struct dialog *dialog);
void dialog_cut(struct dialog *dialog, size_t lines); // only the first of them stay
void dialog_line(struct dialog *dialog, enum role role, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dialog_set_waiting(struct dialog *dialog, bool is_waiting);
void dialog_set_count(struct dialog *dialog,
                      int64_t typed_count); // known only after the preview; 0: none to type
void dialog_set_command(struct dialog *dialog, const char *command); // as in the request
void dialog_set_offers(struct dialog *dialog, const struct dialog_offer *offers, size_t count); // copied
const struct dialog_offer *dialog_offer(const struct dialog *dialog, size_t i); // NULL: no more
// Nothing can be confirmed, for this reason; NULL: it can.
void dialog_refuse(struct dialog *dialog, const char *why);

struct bytes dialog_value(const struct dialog *dialog, int field); // trimmed, never absent
// As if it had been there from the beginning: it counts as known.
void dialog_set_value(struct dialog *dialog, int field, const char *text);
// Once after the focus left a changed field that is_counted: it counts as known from now on.
bool dialog_take_edit(struct dialog *dialog);

enum dialog_outcome { DIALOG_OPEN, DIALOG_CONFIRMED, DIALOG_CANCELLED };
// DO_NONE: a key that means nothing here came.
enum dialog_outcome dialog_handle(struct dialog *dialog, enum action action);
// false: there is no field for it, or the count was pasted.
bool dialog_type(struct dialog *dialog, struct bytes text, bool is_paste);
const struct dialog_request *dialog_request(const struct dialog *dialog);
// What Enter and Tab do now: "reprocess", "to rate". NULL: nothing, or Enter not yet.
const char *dialog_enter_word(const struct dialog *dialog, struct arena *arena);
const char *dialog_next_word(const struct dialog *dialog, struct arena *arena);
// When the button begins to take Enter, which the picture tells; negative: that is not to come.
int64_t dialog_due(const struct dialog *dialog);
// Before each draw: notes where the parts stand, for clicks.
void dialog_layout(struct dialog *dialog, bool is_ascii, struct area area);
// The left button, at this cell of the screen.
enum dialog_outcome dialog_click(struct dialog *dialog, int row, int col);
void dialog_draw(const struct dialog *dialog, struct canvas *canvas, struct area area);

#endif
