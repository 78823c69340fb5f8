// A dialog as it is drawn: bottom up, so that fields and buttons stay on a small screen.
#include "ui/widgets/dialog_private.h"

#include <stdio.h>
#include "base/text.h"
#include "ui/widgets/statusbar.h"

#define WIDEST 76
#define TYPE_WORDS "type %s to confirm: "
#define COUNT_WIDTH 12

// The form as it is drawn: how many rows each part takes.
struct dialog_form {
    struct canvas *canvas;
    struct area inner;
    int label_width;
};

// The headless twin of the form as it is filled in now; nothing where it has none.
static void
add_command(const struct dialog *dialog, struct strbuf *out)
{
    if (dialog->command.len == 0)
        return;
    strbuf_printf(out, "same as: %s", strbuf_text(&dialog->command));
    for (int i = 0; i < dialog->request.field_count; i++) {
        const struct dialog_field *field = &dialog->request.fields[i];
        struct bytes value = dialog_value(dialog, i);
        if (value.len > 0 && field->as_options)
            field->as_options(value, out);
        else if (value.len > 0 && field->option) {
            strbuf_printf(out, " %s ", field->option);
            text_shell(out, value);
        }
    }
}

static int
wrapped_rows(const char *text, int width, bool is_ascii)
{
    struct bytes bytes = bytes_of(text);
    int rows = 0;
    for (size_t at = 0; at < bytes.len; rows++)
        at = text_resume(bytes, at + text_fit(bytes, at, width, is_ascii));
    return rows ? rows : 1;
}

static int
command_rows(const struct dialog *dialog, int width, bool is_ascii)
{
    struct strbuf command = {0};
    add_command(dialog, &command);
    int rows = command.len ? wrapped_rows(strbuf_text(&command), width, is_ascii) : 0;
    strbuf_release(&command);
    return rows;
}

static int
lines_rows(const struct dialog *dialog, int width, bool is_ascii)
{
    int rows = 0;
    for (size_t i = 0; i < dialog->line_count; i++)
        rows += wrapped_rows(dialog->lines[i].text, width, is_ascii);
    return rows;
}

static void
draw_lines(const struct dialog *dialog, struct dialog_form *form, struct area area)
{
    int row = area.row;
    int end = area.row + area.rows;
    for (size_t i = 0; i < dialog->line_count && row < end; i++) {
        struct bytes text = bytes_of(dialog->lines[i].text);
        size_t at = 0;
        do {
            size_t len = text_fit(text, at, area.cols, form->canvas->is_ascii);
            (void)canvas_text(form->canvas, row++, area.col, area.cols, bytes_slice(text, at, len),
                              dialog->lines[i].role);
            at = text_resume(text, at + len);
        } while (at < text.len && row < end);
        bool is_cut = row == end && (at < text.len || i + 1 < dialog->line_count);
        if (is_cut && area.rows > 0)
            (void)canvas_glyph(form->canvas, end - 1, area.col + area.cols - 1, GLYPH_ELLIPSIS,
                               ROLE_DIALOG_DANGER);
    }
}

static enum role
field_role(const struct dialog *dialog, int field)
{
    if (dialog->focus == field)
        return ROLE_INPUT_FOCUS;
    return dialog->bad_field == field ? ROLE_INPUT_INVALID : ROLE_INPUT;
}

static void
draw_field(const struct dialog *dialog, struct dialog_form *form, int field, int row)
{
    const struct dialog_field *asked = &dialog->request.fields[field];
    struct area inner = form->inner;
    (void)canvas_text(form->canvas, row, inner.col, form->label_width, bytes_of(asked->label), ROLE_DIALOG);
    int col = inner.col + form->label_width + 1;
    int room = inner.col + inner.cols - col;
    int width = asked->width > 0 && asked->width < room ? asked->width : room;
    line_edit_draw(&dialog->edits[field], form->canvas, row, col, width, field_role(dialog, field),
                   dialog->focus == field);
    int caret = dialog->focus == field ? 2 : 0;
    if (dialog->edits[field].text.len == 0 && asked->hint)
        (void)canvas_text(form->canvas, row, col + caret, room - caret, bytes_of(asked->hint), ROLE_DIM);
    else if (asked->width > 0 && asked->hint)
        (void)canvas_text(form->canvas, row, col + width + 1, room - width - 1, bytes_of(asked->hint),
                          ROLE_DIM);
}

// "[ Cancel ]" with the focus, "  Cancel  " without.
static int
draw_button(const struct dialog *dialog, struct dialog_form *form, int row, int col, const char *word,
            int focus)
{
    bool is_focused = dialog->focus == focus;
    bool is_dim = focus == FOCUS_CONFIRM && !dialog_can_confirm(dialog);
    enum role role = is_dim ? ROLE_DIM : is_focused ? ROLE_BUTTON_FOCUS : ROLE_BUTTON;
    return canvas_printf(form->canvas, row, col, form->inner.col + form->inner.cols - col, role, "%s%s%s",
                         is_focused ? "[ " : "  ", word, is_focused ? " ]" : "  ");
}

static const char *
cancel_word(const struct dialog *dialog)
{
    return dialog->request.confirm ? "Cancel" : "Close";
}

static int
buttons_width(const struct dialog *dialog, bool is_ascii)
{
    int width = text_cells(bytes_of(cancel_word(dialog)), is_ascii) + 4;
    return dialog_has_fields(dialog) ? width + text_cells(bytes_of(dialog->request.confirm), is_ascii) + 5
                                     : width;
}

static void
draw_buttons(const struct dialog *dialog, struct dialog_form *form, int row)
{
    struct area inner = form->inner;
    int width = buttons_width(dialog, form->canvas->is_ascii);
    int col = inner.cols > width ? inner.col + inner.cols - width : inner.col;
    col += draw_button(dialog, form, row, col, cancel_word(dialog), FOCUS_CANCEL) + 1;
    if (dialog_has_fields(dialog))
        (void)draw_button(dialog, form, row, col, dialog->request.confirm, FOCUS_CONFIRM);
}

// Has the line of the buttons room for the count to type as well?
static bool
count_fits(const struct dialog *dialog, int width, bool is_ascii)
{
    char wanted[TEXT_SHORT];
    int len = snprintf(NULL, 0, TYPE_WORDS, dialog_typed_text(dialog, wanted));
    return len + COUNT_WIDTH + 2 + buttons_width(dialog, is_ascii) <= width;
}

static void
draw_count(const struct dialog *dialog, struct dialog_form *form, int row)
{
    char wanted[TEXT_SHORT];
    int used = canvas_printf(form->canvas, row, form->inner.col, form->inner.cols, ROLE_DIALOG, TYPE_WORDS,
                             dialog_typed_text(dialog, wanted));
    int room = form->inner.cols - used;
    line_edit_draw(&dialog->edits[FOCUS_COUNT], form->canvas, row, form->inner.col + used,
                   room < COUNT_WIDTH ? room : COUNT_WIDTH, field_role(dialog, FOCUS_COUNT),
                   dialog->focus == FOCUS_COUNT);
}

static void
draw_frame(const struct dialog *dialog, struct canvas *canvas, struct area box)
{
    canvas_fill(canvas, box, ROLE_DIALOG);
    canvas_box(canvas, box, ROLE_DIALOG_BORDER);
    (void)canvas_printf(canvas, box.row, box.col + 2, box.cols - 4,
                        dialog->request.is_danger ? ROLE_DIALOG_DANGER : ROLE_DIALOG_TITLE, " %s ",
                        dialog->request.title);
    int width = text_cells(bytes_of(dialog->environment), canvas->is_ascii) + 2;
    enum role role = names_production(dialog->environment) ? ROLE_ENV_PROD : ROLE_ENV;
    if (dialog->environment[0] && width < box.cols / 2)
        (void)canvas_printf(canvas, box.row, box.col + box.cols - width - 2, width, role, " %s ",
                            dialog->environment);
}

// As many as there is room for, the one in focus among them.
static void
draw_fields(const struct dialog *dialog, struct dialog_form *form, struct area *inner)
{
    int count = dialog->request.field_count;
    int shown = count < inner->rows ? count : inner->rows;
    bool is_field = dialog->focus >= 0 && dialog->focus < count;
    int first = is_field && dialog->focus >= shown ? dialog->focus - shown + 1 : 0;
    struct area rows = area_take_bottom(inner, shown);
    for (int i = 0; i < shown; i++)
        draw_field(dialog, form, first + i, rows.row + i);
}

static void
dialog_draw_wrapped(struct canvas *canvas, struct area place, struct bytes text, enum role role)
{
    for (size_t at = 0; at < text.len && place.rows > 0; place.row++, place.rows--) {
        size_t len = text_fit(text, at, place.cols, canvas->is_ascii);
        (void)canvas_text(canvas, place.row, place.col, place.cols, bytes_slice(text, at, len), role);
        at = text_resume(text, at + len);
    }
}

// In up to `most` rows: what is needed more goes first.
static void
draw_command(const struct dialog *dialog, const struct dialog_form *form, struct area *inner, int most)
{
    int rows = command_rows(dialog, inner->cols, form->canvas->is_ascii);
    rows = rows < most ? rows : most;
    if (rows <= 0)
        return;
    struct strbuf command = {0};
    add_command(dialog, &command);
    dialog_draw_wrapped(form->canvas, area_take_bottom(inner, rows), strbuf_bytes(&command), ROLE_DIM);
    strbuf_release(&command);
}

// Draws what stands below the lines, bottom up, so that fields and buttons stay on a small screen.
static void
draw_controls(const struct dialog *dialog, struct dialog_form *form, struct area *inner)
{
    struct area buttons = area_take_bottom(inner, 1);
    draw_buttons(dialog, form, buttons.row);
    bool has_fields = dialog_has_fields(dialog);
    if (dialog_can_confirm(dialog) && dialog_asks_typed(dialog)) {
        bool fits = count_fits(dialog, inner->cols, form->canvas->is_ascii);
        struct area line = fits ? buttons : area_take_bottom(inner, 1);
        draw_count(dialog, form, line.row);
    }
    if (dialog->bad_field >= 0 && inner->rows > 0)
        (void)canvas_text(form->canvas, area_take_bottom(inner, 1).row, inner->col, inner->cols,
                          bytes_of(dialog->trouble.text), ROLE_PROMPT_ERROR);
    int needed = (has_fields ? dialog->request.field_count : 0) +
                 lines_rows(dialog, inner->cols, form->canvas->is_ascii);
    draw_command(dialog, form, inner, inner->rows - needed);
    if (has_fields)
        draw_fields(dialog, form, inner);
}

static int
wanted_rows(const struct dialog *dialog, int width, bool is_ascii)
{
    int rows = 4 + lines_rows(dialog, width, is_ascii); // frame, a blank, buttons
    if (dialog->refusal.len)
        rows += wrapped_rows(strbuf_text(&dialog->refusal), width, is_ascii);
    rows += dialog_has_fields(dialog) ? dialog->request.field_count : 0;
    rows += dialog_asks_typed(dialog) && dialog_can_confirm(dialog) && !count_fits(dialog, width, is_ascii)
                ? 1
                : 0;
    rows += command_rows(dialog, width, is_ascii);
    return rows + (dialog->is_waiting || dialog->bad_field >= 0 ? 1 : 0);
}

// Of a form that has not its full height: what it is about, in words and numbers, stays before any field
// does: the first line, or two rows of it.
static int
scope_rows(const struct dialog *dialog, struct area inner, bool is_ascii)
{
    enum { MOST = 2, CONTROLS = 3 }; // a field, the count, the buttons
    int rows = dialog->line_count ? wrapped_rows(dialog->lines[0].text, inner.cols, is_ascii) : 0;
    rows = rows < MOST ? rows : MOST;
    return inner.rows - rows >= CONTROLS ? rows : inner.rows > CONTROLS ? inner.rows - CONTROLS : 0;
}

void
dialog_draw(const struct dialog *dialog, struct canvas *canvas, struct area area)
{
    int width = area.cols - 2 < WIDEST ? area.cols - 2 : WIDEST;
    int rows = wanted_rows(dialog, width - 4, canvas->is_ascii);
    bool is_cut = rows > area.rows;
    if (is_cut)
        rows = area.rows;
    if (width < 10 || rows < 3)
        return;
    struct area box = {area.row + (area.rows - rows) / 2, area.col + (area.cols - width) / 2, rows, width};
    draw_frame(dialog, canvas, box);

    struct dialog_form form = {.canvas = canvas, .inner = {box.row + 1, box.col + 2, rows - 2, width - 4}};
    for (int i = 0; i < dialog->request.field_count; i++) {
        int label = text_cells(bytes_of(dialog->request.fields[i].label), canvas->is_ascii);
        form.label_width = label > form.label_width ? label : form.label_width;
    }
    struct area inner = form.inner;
    struct area scope = area_take_top(&inner, is_cut ? scope_rows(dialog, inner, canvas->is_ascii) : 0);
    draw_controls(dialog, &form, &inner);
    if (dialog->is_waiting && inner.rows > 1)
        (void)canvas_text(canvas, area_take_bottom(&inner, 1).row, inner.col, inner.cols, BYTES("counting"),
                          ROLE_DIM);
    if (dialog->refusal.len && inner.rows > 0) {
        struct bytes why = strbuf_bytes(&dialog->refusal);
        struct area place = area_take_bottom(&inner, wrapped_rows(why.data, inner.cols, canvas->is_ascii));
        dialog_draw_wrapped(canvas, place, why, ROLE_DIALOG_DANGER);
    }
    inner.row = scope.row;
    inner.rows += scope.rows;
    draw_lines(dialog, &form, inner);
}
