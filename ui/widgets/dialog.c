#include "ui/widgets/dialog_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"

static const char *
dialog_keep(struct dialog *dialog, const char *text)
{
    return text ? arena_text(&dialog->kept, bytes_of(text)) : NULL;
}

struct dialog *
dialog_create(const struct dialog_request *request, const char *environment, uint32_t opened_by)
{
    struct dialog *dialog = alloc_bytes(sizeof *dialog);
    dialog->request = *request;
    dialog->request.title = dialog_keep(dialog, request->title);
    dialog->request.confirm = dialog_keep(dialog, request->confirm);
    for (int i = 0; i < request->field_count; i++) {
        struct dialog_field *field = &dialog->request.fields[i];
        field->label = dialog_keep(dialog, field->label);
        field->hint = dialog_keep(dialog, field->hint);
        line_edit_set(&dialog->edits[i], bytes_of(field->value ? field->value : ""));
        field->value = NULL;
    }
    dialog->request.command = NULL;
    strbuf_add_text(&dialog->command, request->command ? request->command : "");
    snprintf(dialog->environment, sizeof dialog->environment, "%s", environment ? environment : "");
    dialog->typed_count = request->typed_count;
    dialog->opened_by = opened_by;
    dialog->bad_field = -1;
    dialog->focus = FOCUS_CANCEL;
    return dialog;
}

void
dialog_destroy(struct dialog *dialog)
{
    if (!dialog)
        return;
    for (size_t i = 0; i < sizeof dialog->edits / sizeof *dialog->edits; i++)
        line_edit_release(&dialog->edits[i]);
    strbuf_release(&dialog->command);
    strbuf_release(&dialog->refusal);
    arena_release(&dialog->kept);
    arena_release(&dialog->written);
    free(dialog->lines);
    free(dialog);
}

void
dialog_clear(struct dialog *dialog)
{
    arena_reset(&dialog->written);
    dialog->line_count = 0;
}

size_t
dialog_lines(const struct dialog *dialog)
{
    return dialog->line_count;
}

void
dialog_cut(struct dialog *dialog, size_t lines)
{
    if (lines < dialog->line_count)
        dialog->line_count = lines;
}

void
dialog_line(struct dialog *dialog, enum role role, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dialog->lines =
        alloc_grow(dialog->lines, dialog->line_count, &dialog->line_capacity, sizeof *dialog->lines);
    dialog->lines[dialog->line_count++] =
        (struct dialog_text){.role = role, .text = arena_text(&dialog->written, bytes_of(text))};
}

void
dialog_set_waiting(struct dialog *dialog, bool is_waiting)
{
    dialog->is_waiting = is_waiting;
}

void
dialog_set_count(struct dialog *dialog, int64_t typed_count)
{
    dialog->typed_count = typed_count;
}

void
dialog_refuse(struct dialog *dialog, const char *why)
{
    strbuf_reset(&dialog->refusal);
    strbuf_add_text(&dialog->refusal, why ? why : "");
}

struct bytes
dialog_value(const struct dialog *dialog, int field)
{
    return bytes_trim(strbuf_bytes(&dialog->edits[field].text));
}

const struct dialog_request *
dialog_request(const struct dialog *dialog)
{
    return &dialog->request;
}

bool
dialog_can_confirm(const struct dialog *dialog)
{
    return dialog->request.confirm && !dialog->is_waiting && dialog->refusal.len == 0;
}

static bool
has_focus_stop(const struct dialog *dialog, int focus)
{
    if (focus == FOCUS_CANCEL)
        return true;
    if (!dialog_can_confirm(dialog))
        return false;
    if (focus == FOCUS_CONFIRM)
        return true;
    return focus == FOCUS_COUNT ? dialog->typed_count > 0 : focus < dialog->request.field_count;
}

static void
move_focus(struct dialog *dialog, int step)
{
    const int stops = FOCUS_CONFIRM + 1;
    do
        dialog->focus = (dialog->focus + step + stops) % stops;
    while (!has_focus_stop(dialog, dialog->focus));
}

bool
dialog_is_typing(const struct dialog *dialog)
{
    return dialog->focus <= FOCUS_COUNT && has_focus_stop(dialog, dialog->focus);
}

bool
dialog_takes(const struct dialog *dialog, struct bytes text)
{
    return dialog_is_typing(dialog) || (has_focus_stop(dialog, FOCUS_COUNT) && text.len == 1 &&
                                        text.data[0] >= '0' && text.data[0] <= '9');
}

const char *
dialog_yes(const struct dialog *dialog, struct arena *arena)
{
    if (!dialog_can_confirm(dialog) || dialog_is_typing(dialog))
        return NULL;
    struct strbuf word = {0};
    for (const char *c = dialog->request.confirm; *c; c++)
        strbuf_add_char(&word, *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
    const char *yes = arena_text(arena, strbuf_bytes(&word));
    strbuf_release(&word);
    return yes;
}

static bool
is_count_typed(const struct dialog *dialog)
{
    int64_t typed;
    return text_parse_int(dialog_value(dialog, FOCUS_COUNT), &typed, NULL) && typed == dialog->typed_count;
}

static bool
refuse_field(struct dialog *dialog, int field)
{
    dialog->bad_field = dialog->focus = field;
    return false;
}

static bool
check_fields(struct dialog *dialog)
{
    err_clear(&dialog->trouble);
    dialog->bad_field = -1;
    for (int i = 0; i < dialog->request.field_count; i++) {
        const struct dialog_field *field = &dialog->request.fields[i];
        struct bytes value = dialog_value(dialog, i);
        if (value.len == 0 && !field->is_required)
            continue;
        if (value.len == 0)
            err_set(&dialog->trouble, ERR_USAGE, "%s is required", field->label);
        else if (field->check)
            (void)!field->check(value, &dialog->trouble);
        if (err_is_set(&dialog->trouble))
            return refuse_field(dialog, i);
    }
    if (dialog->typed_count > 0 && !is_count_typed(dialog)) {
        err_set(&dialog->trouble, ERR_USAGE, "type %" PRId64 " to confirm", dialog->typed_count);
        return refuse_field(dialog, FOCUS_COUNT);
    }
    return true;
}

static enum dialog_outcome
dialog_confirm(struct dialog *dialog)
{
    if (!dialog_can_confirm(dialog) || !check_fields(dialog))
        return DIALOG_OPEN;
    return DIALOG_CONFIRMED;
}

static enum dialog_outcome
accept(struct dialog *dialog)
{
    if (!has_focus_stop(dialog, dialog->focus))
        dialog->focus = FOCUS_CANCEL;
    if (dialog->focus == FOCUS_CANCEL)
        return DIALOG_CANCELLED;
    if (dialog->focus == FOCUS_CONFIRM)
        return dialog_confirm(dialog);
    // Enter in a field moves to the next one; from the last to Cancel, but not from a right count.
    move_focus(dialog, dialog->focus == FOCUS_COUNT && is_count_typed(dialog) ? 2 : 1);
    return DIALOG_OPEN;
}

static enum dialog_outcome
cancel(struct dialog *dialog)
{
    (void)dialog;
    return DIALOG_CANCELLED;
}

static enum dialog_outcome
go_to_next(struct dialog *dialog)
{
    move_focus(dialog, 1);
    return DIALOG_OPEN;
}

static enum dialog_outcome
go_to_previous(struct dialog *dialog)
{
    move_focus(dialog, -1);
    return DIALOG_OPEN;
}

static enum dialog_outcome
choose_left(struct dialog *dialog)
{
    dialog->focus = FOCUS_CANCEL;
    return DIALOG_OPEN;
}

static enum dialog_outcome
choose_right(struct dialog *dialog)
{
    dialog->focus = dialog_can_confirm(dialog) ? FOCUS_CONFIRM : FOCUS_CANCEL;
    return DIALOG_OPEN;
}

// The actions of a dialog; while a field has the focus, those that are not for buttons alone.
static const struct {
    enum action action;
    enum dialog_outcome (*run)(struct dialog *dialog);
    bool is_of_buttons;
} dialog_actions[] = {
    {DO_LEAVE, cancel, false},
    {DO_CANCEL, cancel, false},
    {DO_ACCEPT, accept, false},
    {DO_YES, dialog_confirm, false},
    {DO_NO, cancel, false},
    {DO_FIELD_NEXT, go_to_next, false},
    {DO_FIELD_PREVIOUS, go_to_previous, false},
    {DO_CHAR_LEFT, choose_left, true},
    {DO_CHAR_RIGHT, choose_right, true},
};

enum dialog_outcome
dialog_handle(struct dialog *dialog, enum action action, uint32_t key)
{
    // The key that opened the dialog does not confirm it: a finger that bounces confirms nothing.
    if (action == DO_YES && key == dialog->opened_by)
        return DIALOG_OPEN;
    bool is_typing = dialog_is_typing(dialog);
    for (size_t i = 0; i < sizeof dialog_actions / sizeof *dialog_actions; i++)
        if (dialog_actions[i].action == action && !(is_typing && dialog_actions[i].is_of_buttons))
            return dialog_actions[i].run(dialog);
    if (is_typing)
        (void)line_edit_handle(&dialog->edits[dialog->focus], action);
    return DIALOG_OPEN;
}

void
dialog_type(struct dialog *dialog, struct bytes text, bool is_paste)
{
    (void)is_paste;
    if (!dialog_takes(dialog, text))
        return;
    if (!dialog_is_typing(dialog))
        dialog->focus = FOCUS_COUNT;
    line_edit_insert(&dialog->edits[dialog->focus], text);
    if (dialog->bad_field == dialog->focus)
        dialog->bad_field = -1;
}
