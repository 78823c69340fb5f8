// dialog: a form over the view that asks before something changes: what would happen in words and numbers,
// fields, two buttons.
//
// The focus starts on Cancel and stands in brackets; Tab moves; Enter does what is shown; the key that opened
// the dialog never confirms it. Where a count is to be typed, digits go there from a button as well, and
// Enter behind the right one moves to the button that confirms. Survives resizing. Fields that fail their
// check keep the dialog open and get the focus.
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

#define DIALOG_FIELDS 6

struct dialog_field {
    const char *label;  // "reason"
    const char *value;  // to begin with, or NULL
    const char *hint;   // shown while it is empty, or NULL
    const char *option; // "--reason": what the same command has for it; NULL: nothing, or as_options
    void (*as_options)(struct bytes text, struct strbuf *command);
    int width; // cells; 0: what is left of the line
    bool is_required;
    bool (*check)(struct bytes text,
                  struct err *err); // may be NULL; not asked for an empty field that is not required
};

// Texts are copied. The callbacks get the state of the view that opened the dialog.
struct dialog_request {
    const char *title;   // "Reprocess"
    const char *confirm; // on the button: "Reprocess"; NULL: nothing to confirm, only Close
    bool is_danger;      // cannot be undone
    int64_t typed_count; // > 0: this number must be typed to confirm
    struct dialog_field fields[DIALOG_FIELDS];
    int field_count;
    const char *command; // "same as: …", with what the fields hold behind it; or NULL
    // Everything is checked. The dialog is closed before; read the values by dialog_value within.
    void (*confirmed)(struct app *app, void *state, const struct dialog *dialog);
    void (*cancelled)(struct app *app, void *state); // may be NULL
};

struct dialog *dialog_create(const struct dialog_request *request, const char *environment,
                             uint32_t opened_by);
void dialog_destroy(struct dialog *dialog);

// The lines above the fields; may be rewritten at any time. While is_waiting is set, the confirming button is
// not there yet.
void dialog_clear(struct dialog *dialog);
size_t dialog_lines(const struct dialog *dialog);
void dialog_cut(struct dialog *dialog, size_t lines); // only the first of them stay
void dialog_line(struct dialog *dialog, enum role role, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dialog_set_waiting(struct dialog *dialog, bool is_waiting);
void dialog_set_count(struct dialog *dialog,
                      int64_t typed_count); // known only after the preview; 0: none to type
// Nothing can be confirmed, for this reason; NULL: it can.
void dialog_refuse(struct dialog *dialog, const char *why);

struct bytes dialog_value(const struct dialog *dialog, int field); // trimmed, never absent

enum dialog_outcome { DIALOG_OPEN, DIALOG_CONFIRMED, DIALOG_CANCELLED };
enum dialog_outcome dialog_handle(struct dialog *dialog, enum action action, uint32_t key);
void dialog_type(struct dialog *dialog, struct bytes text, bool is_paste);
bool dialog_is_typing(const struct dialog *dialog); // a field has the focus: letters are text, not y and n
bool dialog_takes(const struct dialog *dialog, struct bytes text); // typed now it is text, not a key
const struct dialog_request *dialog_request(const struct dialog *dialog);
// The word for the key of DO_YES, "reprocess"; NULL while that key would not confirm.
const char *dialog_yes(const struct dialog *dialog, struct arena *arena);
void dialog_draw(const struct dialog *dialog, struct canvas *canvas, struct area area);

#endif
