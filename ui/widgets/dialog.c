#include "ui/widgets/dialog_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

static const char *
dialog_keep(struct dialog *dialog, const char *text)
{
    return text ? arena_text(&dialog->kept, bytes_of(text)) : NULL;
}

bool
dialog_has_fields(const struct dialog *dialog)
{
    return dialog->request.confirm && dialog->refusal.len == 0;
}

static bool
is_edited(const struct dialog *dialog, int field)
{
    return dialog->request.fields[field].is_counted &&
           !bytes_equal(dialog_value(dialog, field), strbuf_bytes(&dialog->counted[field]));
}

bool
dialog_is_edited(const struct dialog *dialog)
{
    for (int i = 0; i < dialog->request.field_count; i++)
        if (is_edited(dialog, i))
            return true;
    return false;
}

bool
dialog_can_confirm(const struct dialog *dialog)
{
    return dialog_has_fields(dialog) && !dialog->is_waiting && !dialog_is_edited(dialog);
}

bool
dialog_asks_typed(const struct dialog *dialog)
{
    return dialog->typed_count > 0 || dialog->request.typed_word;
}

const char *
dialog_typed_text(const struct dialog *dialog, char out[TEXT_SHORT])
{
    if (dialog->typed_count > 0)
        snprintf(out, TEXT_SHORT, "%" PRId64, dialog->typed_count);
    else
        snprintf(out, TEXT_SHORT, "%s", dialog->request.typed_word ? dialog->request.typed_word : "");
    return out;
}

static bool
has_focus_stop(const struct dialog *dialog, int focus)
{
    if (focus == FOCUS_CANCEL)
        return true;
    if (!dialog_has_fields(dialog))
        return false;
    if (focus == FOCUS_COUNT)
        return dialog_can_confirm(dialog) && dialog_asks_typed(dialog);
    return focus == FOCUS_CONFIRM || focus < dialog->request.field_count;
}

// The first field, the count where there is none, else Cancel: never the button that confirms.
static int
first_stop(const struct dialog *dialog)
{
    if (has_focus_stop(dialog, 0))
        return 0;
    return has_focus_stop(dialog, FOCUS_COUNT) ? FOCUS_COUNT : FOCUS_CANCEL;
}

// What must be filled in comes before the button.
static void
set_order(struct dialog *dialog)
{
    const struct dialog_request *request = &dialog->request;
    int *order = dialog->order;
    int n = 0;
    for (int i = 0; i < request->field_count; i++)
        if (i == 0 || request->fields[i].is_required)
            order[n++] = i;
    order[n++] = FOCUS_COUNT;
    order[n++] = FOCUS_CONFIRM;
    for (int i = 1; i < request->field_count; i++)
        if (!request->fields[i].is_required)
            order[n++] = i;
    order[n++] = FOCUS_CANCEL;
    dialog->order_count = n;
}

struct dialog *
dialog_create(const struct dialog_request *request, const char *environment, enum role environment_role)
{
    struct dialog *dialog = alloc_bytes(sizeof *dialog);
    dialog->request = *request;
    dialog->request.title = dialog_keep(dialog, request->title);
    dialog->request.confirm = dialog_keep(dialog, request->confirm);
    dialog->request.typed_word = dialog_keep(dialog, request->typed_word);
    for (int i = 0; i < request->field_count; i++) {
        struct dialog_field *field = &dialog->request.fields[i];
        field->label = dialog_keep(dialog, field->label);
        field->hint = dialog_keep(dialog, field->hint);
        line_edit_set(&dialog->edits[i], bytes_of(field->value ? field->value : ""));
        strbuf_add_text(&dialog->counted[i], field->value ? field->value : "");
        field->value = NULL;
    }
    dialog->request.command = NULL;
    strbuf_add_text(&dialog->command, request->command ? request->command : "");
    snprintf(dialog->environment, sizeof dialog->environment, "%s", environment ? environment : "");
    dialog->environment_role = environment_role;
    dialog->typed_count = request->typed_count;
    dialog->bad_field = -1;
    set_order(dialog);
    dialog->focus = first_stop(dialog);
    dialog->pace.touched_at = clock_mono();
    return dialog;
}

void
dialog_destroy(struct dialog *dialog)
{
    if (!dialog)
        return;
    for (size_t i = 0; i < sizeof dialog->edits / sizeof *dialog->edits; i++)
        line_edit_release(&dialog->edits[i]);
    for (int i = 0; i < DIALOG_FIELDS; i++)
        strbuf_release(&dialog->counted[i]);
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

// The button that has just become one is not pressed by a key that was on its way.
static void
touch_button(struct dialog *dialog, bool could_confirm)
{
    if (!could_confirm && dialog_can_confirm(dialog))
        dialog->pace.touched_at = clock_mono();
    if (!has_focus_stop(dialog, dialog->focus))
        dialog->focus = FOCUS_CANCEL;
}

void
dialog_set_waiting(struct dialog *dialog, bool is_waiting)
{
    bool could_confirm = dialog_can_confirm(dialog);
    dialog->is_waiting = is_waiting;
    touch_button(dialog, could_confirm);
}

void
dialog_set_count(struct dialog *dialog, int64_t typed_count)
{
    dialog->typed_count = typed_count;
    touch_button(dialog, dialog_can_confirm(dialog));
}

void
dialog_set_command(struct dialog *dialog, const char *command)
{
    strbuf_reset(&dialog->command);
    strbuf_add_text(&dialog->command, command);
}

void
dialog_set_offers(struct dialog *dialog, const struct dialog_offer *offers, size_t count)
{
    dialog->offer_count = count < DIALOG_OFFERS ? count : DIALOG_OFFERS;
    for (size_t i = 0; i < dialog->offer_count; i++)
        dialog->offers[i] = offers[i];
}

const struct dialog_offer *
dialog_offer(const struct dialog *dialog, size_t i)
{
    return i < dialog->offer_count ? &dialog->offers[i] : NULL;
}

void
dialog_refuse(struct dialog *dialog, const char *why)
{
    bool could_confirm = dialog_can_confirm(dialog);
    strbuf_reset(&dialog->refusal);
    strbuf_add_text(&dialog->refusal, why ? why : "");
    touch_button(dialog, could_confirm);
}

struct bytes
dialog_value(const struct dialog *dialog, int field)
{
    return bytes_trim(strbuf_bytes(&dialog->edits[field].text));
}

static void
know_value(struct dialog *dialog, int field)
{
    strbuf_reset(&dialog->counted[field]);
    strbuf_add(&dialog->counted[field], dialog_value(dialog, field));
}

void
dialog_set_value(struct dialog *dialog, int field, const char *text)
{
    line_edit_set(&dialog->edits[field], bytes_of(text));
    know_value(dialog, field);
}

bool
dialog_take_edit(struct dialog *dialog)
{
    bool is_one = false;
    for (int i = 0; i < dialog->request.field_count; i++) {
        if (i == dialog->focus || !is_edited(dialog, i))
            continue;
        know_value(dialog, i);
        is_one = true;
    }
    return is_one;
}

const struct dialog_request *
dialog_request(const struct dialog *dialog)
{
    return &dialog->request;
}

static bool
is_button(int focus)
{
    return focus == FOCUS_CANCEL || focus == FOCUS_CONFIRM;
}

static bool
is_typed_right(const struct dialog *dialog)
{
    char wanted[TEXT_SHORT];
    int64_t typed;
    struct bytes value = dialog_value(dialog, FOCUS_COUNT);
    if (dialog->typed_count > 0)
        return text_parse_int(value, &typed, NULL) && typed == dialog->typed_count;
    return bytes_equal_text(value, dialog_typed_text(dialog, wanted));
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
    if (dialog_asks_typed(dialog) && !is_typed_right(dialog)) {
        char wanted[TEXT_SHORT];
        err_set(&dialog->trouble, ERR_USAGE, "type %s to confirm", dialog_typed_text(dialog, wanted));
        return refuse_field(dialog, FOCUS_COUNT);
    }
    return true;
}

// Where Tab (step 1) or Shift-Tab (-1) goes from here; only_fields: where Enter goes.
static int
next_stop(const struct dialog *dialog, int step, bool only_fields)
{
    int at = 0;
    while (dialog->order[at] != dialog->focus)
        at++;
    for (int i = 0; i < dialog->order_count; i++) {
        at = (at + step + dialog->order_count) % dialog->order_count;
        int focus = dialog->order[at];
        if (has_focus_stop(dialog, focus) && !(only_fields && is_button(focus)))
            return focus;
    }
    return dialog->focus;
}

// Where Enter in a field goes.
static int
after_field(const struct dialog *dialog)
{
    bool is_right = dialog->focus == FOCUS_COUNT && is_typed_right(dialog);
    return is_right ? FOCUS_CONFIRM : next_stop(dialog, 1, true);
}

static enum dialog_outcome
accept(struct dialog *dialog)
{
    if (dialog->focus == FOCUS_CANCEL)
        return DIALOG_CANCELLED;
    if (dialog->focus != FOCUS_CONFIRM) {
        dialog->focus = after_field(dialog);
        return DIALOG_OPEN;
    }
    bool counts = dialog->pace.pause >= DIALOG_PAUSE && dialog_can_confirm(dialog);
    return counts && check_fields(dialog) ? DIALOG_CONFIRMED : DIALOG_OPEN;
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
    dialog->focus = next_stop(dialog, 1, false);
    return DIALOG_OPEN;
}

static enum dialog_outcome
go_to_previous(struct dialog *dialog)
{
    dialog->focus = next_stop(dialog, -1, false);
    return DIALOG_OPEN;
}

// Among the fields and the count as they stand below each other, and never to a button.
static enum dialog_outcome
go_down_or_up(struct dialog *dialog, int step)
{
    enum { STOPS = FOCUS_COUNT + 1 };
    int from = !is_button(dialog->focus) ? dialog->focus : step > 0 ? STOPS - 1 : 0;
    for (int i = 1; i <= STOPS; i++) {
        int to = (from + STOPS + step * i) % STOPS;
        if (has_focus_stop(dialog, to)) {
            dialog->focus = to;
            break;
        }
    }
    return DIALOG_OPEN;
}

static enum dialog_outcome
go_down(struct dialog *dialog)
{
    return go_down_or_up(dialog, 1);
}

static enum dialog_outcome
go_up(struct dialog *dialog)
{
    return go_down_or_up(dialog, -1);
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
    dialog->focus = has_focus_stop(dialog, FOCUS_CONFIRM) ? FOCUS_CONFIRM : FOCUS_CANCEL;
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
    {DO_FIELD_NEXT, go_to_next, false},
    {DO_FIELD_PREVIOUS, go_to_previous, false},
    {DO_FIELD_DOWN, go_down, false},
    {DO_FIELD_UP, go_up, false},
    {DO_CHAR_LEFT, choose_left, true},
    {DO_CHAR_RIGHT, choose_right, true},
};

static void
touch(struct dialog *dialog)
{
    int64_t now = clock_mono();
    dialog->pace.pause = now - dialog->pace.touched_at;
    dialog->pace.touched_at = now;
}

// What was said of this field was about another text.
static void
forgive(struct dialog *dialog, int field)
{
    if (dialog->bad_field == field)
        dialog->bad_field = -1;
}

enum dialog_outcome
dialog_handle(struct dialog *dialog, enum action action)
{
    touch(dialog);
    bool is_typing = !is_button(dialog->focus);
    for (size_t i = 0; i < sizeof dialog_actions / sizeof *dialog_actions; i++)
        if (dialog_actions[i].action == action && !(is_typing && dialog_actions[i].is_of_buttons))
            return dialog_actions[i].run(dialog);
    if (is_typing) {
        struct line_edit *edit = &dialog->edits[dialog->focus];
        size_t len = edit->text.len;
        (void)line_edit_handle(edit, action);
        if (edit->text.len != len)
            forgive(dialog, dialog->focus);
    } else if (dialog->focus == FOCUS_CONFIRM) // whoever presses that means something else
        dialog->focus = first_stop(dialog);
    return DIALOG_OPEN;
}

// The field that text goes to while a button has the focus; FOCUS_CANCEL: there is none.
static int
field_for(const struct dialog *dialog, struct bytes text)
{
    bool is_digit = text.len == 1 && text.data[0] >= '0' && text.data[0] <= '9';
    if (is_digit && dialog->typed_count > 0 && has_focus_stop(dialog, FOCUS_COUNT))
        return FOCUS_COUNT;
    return first_stop(dialog);
}

bool
dialog_type(struct dialog *dialog, struct bytes text, bool is_paste)
{
    touch(dialog);
    int field = is_button(dialog->focus) ? field_for(dialog, text) : dialog->focus;
    if (is_button(field) || (is_paste && field == FOCUS_COUNT))
        return false;
    dialog->focus = field;
    line_edit_insert(&dialog->edits[field], text);
    forgive(dialog, field);
    return true;
}

static bool
is_in(struct area area, int row, int col)
{
    return row >= area.row && row < area.row + area.rows && col >= area.col && col < area.col + area.cols;
}

enum dialog_outcome
dialog_click(struct dialog *dialog, int row, int col)
{
    touch(dialog);
    const struct dialog_places *places = &dialog->places;
    if (is_in(places->cancel, row, col))
        return DIALOG_CANCELLED;
    if (is_in(places->confirm, row, col) && dialog_is_edited(dialog)) {
        dialog->focus = FOCUS_CONFIRM; // what was typed is looked at first
    } else if (is_in(places->confirm, row, col)) {
        bool counts = dialog->pace.can_be_clicked && dialog_can_confirm(dialog) &&
                      dialog->pace.pause >= DIALOG_PAUSE &&
                      dialog->pace.touched_at - dialog->pace.shown_at >= DIALOG_SHOWN;
        return counts && check_fields(dialog) ? DIALOG_CONFIRMED : DIALOG_OPEN;
    }
    if (is_in(places->fields, row, col))
        dialog->focus = places->first_field + row - places->fields.row;
    else if (is_in(places->typed, row, col))
        dialog->focus = FOCUS_COUNT;
    return DIALOG_OPEN;
}

static const char *
word_of_stop(const struct dialog *dialog, int focus, struct arena *arena)
{
    if (focus == FOCUS_COUNT)
        return dialog->typed_count > 0 ? "to the count" : "to the word";
    if (focus == FOCUS_CANCEL)
        return dialog->request.confirm ? "to Cancel" : NULL;
    return arena_printf(arena, "to %s",
                        focus == FOCUS_CONFIRM ? dialog->request.confirm
                                               : dialog->request.fields[focus].label);
}

const char *
dialog_next_word(const struct dialog *dialog, struct arena *arena)
{
    int next = next_stop(dialog, 1, false);
    return next == dialog->focus ? NULL : word_of_stop(dialog, next, arena);
}

const char *
dialog_enter_word(const struct dialog *dialog, struct arena *arena)
{
    if (dialog->focus == FOCUS_CANCEL)
        return dialog->request.confirm ? "cancel" : "close";
    if (dialog->focus == FOCUS_CONFIRM && (!dialog_can_confirm(dialog) || dialog_due(dialog) >= 0))
        return NULL;
    if (dialog->focus != FOCUS_CONFIRM) {
        int next = after_field(dialog);
        return next == dialog->focus ? NULL : word_of_stop(dialog, next, arena);
    }
    struct strbuf word = {0};
    for (const char *c = dialog->request.confirm; *c; c++)
        strbuf_add_char(&word, *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c);
    const char *verb = arena_text(arena, strbuf_bytes(&word));
    strbuf_release(&word);
    return verb;
}

int64_t
dialog_due(const struct dialog *dialog)
{
    int64_t due = dialog->pace.touched_at + DIALOG_PAUSE;
    bool is_at_button = dialog->focus == FOCUS_CONFIRM && dialog_can_confirm(dialog);
    return is_at_button && clock_mono() < due ? due : -1;
}
