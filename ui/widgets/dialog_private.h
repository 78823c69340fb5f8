// dialog_private: how a dialog keeps its form, for its two files only.
#ifndef REDRIVE_UI_DIALOG_PRIVATE_H
#define REDRIVE_UI_DIALOG_PRIVATE_H

#include "ui/widgets/dialog.h"
#include "ui/widgets/prompt.h"

struct dialog_text {
    enum role role;
    const char *text;
};

struct dialog {
    struct dialog_request request; // texts in `kept`
    char environment[64];
    uint32_t opened_by;
    struct arena kept;
    struct arena written; // of the lines
    struct dialog_text *lines;
    size_t line_count;
    size_t line_capacity;
    struct strbuf command;
    struct strbuf refusal;
    struct line_edit edits[DIALOG_FIELDS + 1]; // the last is the typed count
    struct err trouble;                        // with a field
    int bad_field;                             // or -1
    int64_t typed_count;
    bool is_waiting;
    int focus; // a field, or one of the three below
};

enum { FOCUS_COUNT = DIALOG_FIELDS, FOCUS_CANCEL, FOCUS_CONFIRM };

bool dialog_can_confirm(const struct dialog *dialog);

#endif
