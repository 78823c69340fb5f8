// dialog_private: how a dialog keeps its form, for its two files only.
#ifndef REDRIVE_UI_DIALOG_PRIVATE_H
#define REDRIVE_UI_DIALOG_PRIVATE_H

#include "base/text.h"
#include "ui/widgets/dialog.h"
#include "ui/widgets/prompt.h"

struct dialog_text {
    enum role role;
    const char *text;
};

// Where its parts stand on the screen; what is not there has no rows or no columns.
struct dialog_places {
    struct area box, inner, lines, waiting, refusal, fields, command, trouble, typed, cancel, confirm;
    int label_width;
    int first_field; // of those that are shown
};

// How fast the person goes, so that a key held down confirms nothing.
struct dialog_pace {
    int64_t touched_at;  // when the last key or paste came, or the button
    int64_t pause;       // how long nothing came before the last one
    bool can_be_clicked; // the button, where it was drawn last
    int64_t shown_at;    // it has been drawn there since
};

struct dialog {
    struct dialog_request request; // texts in `kept`
    char environment[64];
    enum role environment_role;
    struct arena kept;
    struct arena written; // of the lines
    struct dialog_text *lines;
    size_t line_count;
    size_t line_capacity;
    struct strbuf command;
    struct dialog_offer offers[DIALOG_OFFERS];
    size_t offer_count;
    struct strbuf refusal;
    struct line_edit edits[DIALOG_FIELDS + 1]; // the last is what is typed to confirm
    struct strbuf counted[DIALOG_FIELDS];      // what was known of fields that are counted
    struct err trouble;                        // with a field
    int bad_field;                             // or -1
    int64_t typed_count;
    bool is_waiting;
    int focus;                    // a field, or one of the three below
    int order[DIALOG_FIELDS + 3]; // of Tab
    int order_count;
    struct dialog_pace pace;
    struct dialog_places places; // as drawn last
};

enum { FOCUS_COUNT = DIALOG_FIELDS, FOCUS_CANCEL, FOCUS_CONFIRM };

bool dialog_is_edited(const struct dialog *dialog); // and what depends on it is not known yet
bool dialog_can_confirm(const struct dialog *dialog);
bool dialog_has_fields(const struct dialog *dialog); // they can be filled in
bool dialog_asks_typed(const struct dialog *dialog);
// What is to be typed, "2114"; "" for nothing.
const char *dialog_typed_text(const struct dialog *dialog, char out[TEXT_SHORT]);

#endif
