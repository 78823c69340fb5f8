// A dialog as it is drawn: bottom up, so that fields and buttons stay on a small screen.
#include "ui/widgets/dialog_private.h"

#include <stdio.h>
#include "base/clock.h"
#include "base/text.h"
#include "ui/widgets/statusbar.h"

#define WIDEST 76
#define TYPE_WORDS "type %s to confirm: "
#define TYPED_WIDTH 12

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

// What a row that continues a text begins behind: as many cells as the text has spaces at its beginning.
static int
hang_of(struct bytes text, size_t at, int width)
{
    int spaces = 0;
    while (at > 0 && (size_t)spaces < text.len && text.data[spaces] == ' ')
        spaces++;
    return spaces < width / 2 ? spaces : 0;
}

static int
wrapped_rows(const char *text, int width, bool is_ascii)
{
    struct bytes bytes = bytes_of(text);
    int rows = 0;
    for (size_t at = 0; at < bytes.len; rows++)
        at = text_resume(bytes, at + text_fit(bytes, at, width - hang_of(bytes, at, width), is_ascii));
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
draw_lines(const struct dialog *dialog, struct canvas *canvas, struct area area)
{
    int row = area.row;
    int end = area.row + area.rows;
    for (size_t i = 0; i < dialog->line_count && row < end; i++) {
        struct bytes text = bytes_of(dialog->lines[i].text);
        size_t at = 0;
        do {
            int hang = hang_of(text, at, area.cols);
            size_t len = text_fit(text, at, area.cols - hang, canvas->is_ascii);
            (void)canvas_text(canvas, row++, area.col + hang, area.cols - hang, bytes_slice(text, at, len),
                              dialog->lines[i].role);
            at = text_resume(text, at + len);
        } while (at < text.len && row < end);
        bool is_cut = row == end && (at < text.len || i + 1 < dialog->line_count);
        if (is_cut && area.rows > 0)
            (void)canvas_glyph(canvas, end - 1, area.col + area.cols - 1, GLYPH_ELLIPSIS, ROLE_DIALOG_DANGER);
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
draw_field(const struct dialog *dialog, const struct dialog_places *places, int field, struct canvas *canvas,
           int row)
{
    const struct dialog_field *asked = &dialog->request.fields[field];
    struct area inner = places->inner;
    (void)canvas_text(canvas, row, inner.col, places->label_width, bytes_of(asked->label), ROLE_DIALOG);
    int col = inner.col + places->label_width + 1;
    int room = inner.col + inner.cols - col;
    int width = asked->width > 0 && asked->width < room ? asked->width : room;
    line_edit_draw(&dialog->edits[field], canvas, row, col, width, field_role(dialog, field),
                   dialog->focus == field);
    int caret = dialog->focus == field ? 2 : 0;
    if (dialog->edits[field].text.len == 0 && asked->hint)
        (void)canvas_text(canvas, row, col + caret, room - caret, bytes_of(asked->hint), ROLE_DIM);
    else if (asked->width > 0 && asked->hint)
        (void)canvas_text(canvas, row, col + width + 1, room - width - 1, bytes_of(asked->hint), ROLE_DIM);
}

static const char *
cancel_word(const struct dialog *dialog)
{
    return dialog->request.confirm ? "Cancel" : "Close";
}

// "[ Cancel ]" with the focus, "  Cancel  " without.
static void
draw_button(const struct dialog *dialog, struct canvas *canvas, struct area place, const char *word,
            int focus)
{
    bool is_focused = dialog->focus == focus;
    bool is_dim = focus == FOCUS_CONFIRM && !dialog_can_confirm(dialog);
    enum role role = is_dim ? ROLE_DIM : is_focused ? ROLE_BUTTON_FOCUS : ROLE_BUTTON;
    if (place.cols > 0)
        (void)canvas_printf(canvas, place.row, place.col, place.cols, role, "%s%s%s",
                            is_focused ? "[ " : "  ", word, is_focused ? " ]" : "  ");
}

// Has the line of the buttons room for what is to be typed as well?
static bool
typed_fits(const struct dialog *dialog, int buttons, int width)
{
    char wanted[TEXT_SHORT];
    int len = snprintf(NULL, 0, TYPE_WORDS, dialog_typed_text(dialog, wanted));
    return len + TYPED_WIDTH + 2 + buttons <= width;
}

static int
buttons_width(const struct dialog *dialog, bool is_ascii)
{
    int width = text_cells(bytes_of(cancel_word(dialog)), is_ascii) + 4;
    return dialog_has_fields(dialog) ? width + text_cells(bytes_of(dialog->request.confirm), is_ascii) + 5
                                     : width;
}

static void
draw_typed(const struct dialog *dialog, struct canvas *canvas, struct area place)
{
    char wanted[TEXT_SHORT];
    if (place.rows < 1)
        return;
    int used = canvas_printf(canvas, place.row, place.col, place.cols, ROLE_DIALOG, TYPE_WORDS,
                             dialog_typed_text(dialog, wanted));
    int room = place.cols - used;
    line_edit_draw(&dialog->edits[FOCUS_COUNT], canvas, place.row, place.col + used,
                   room < TYPED_WIDTH ? room : TYPED_WIDTH, field_role(dialog, FOCUS_COUNT),
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
    if (dialog->environment[0] && width < box.cols / 2)
        (void)canvas_printf(canvas, box.row, box.col + box.cols - width - 2, width, dialog->environment_role,
                            " %s ", dialog->environment);
}

static void
draw_wrapped(struct canvas *canvas, struct area place, struct bytes text, enum role role)
{
    for (size_t at = 0; at < text.len && place.rows > 0; place.row++, place.rows--) {
        int hang = hang_of(text, at, place.cols);
        size_t len = text_fit(text, at, place.cols - hang, canvas->is_ascii);
        (void)canvas_text(canvas, place.row, place.col + hang, place.cols - hang, bytes_slice(text, at, len),
                          role);
        at = text_resume(text, at + len);
    }
}

static int
wanted_rows(const struct dialog *dialog, int width, bool is_ascii)
{
    int rows = 4 + lines_rows(dialog, width, is_ascii); // frame, a blank, buttons
    if (dialog->refusal.len)
        rows += wrapped_rows(strbuf_text(&dialog->refusal), width, is_ascii);
    rows += dialog_has_fields(dialog) ? dialog->request.field_count : 0;
    bool has_line = dialog_asks_typed(dialog) && dialog_can_confirm(dialog) &&
                    !typed_fits(dialog, buttons_width(dialog, is_ascii), width);
    rows += has_line ? 1 : 0;
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

// The buttons, and what is to be typed before them or above.
static void
place_buttons(const struct dialog *dialog, bool is_ascii, struct area *rest, struct dialog_places *places)
{
    struct area line = area_take_bottom(rest, 1);
    int width = buttons_width(dialog, is_ascii);
    places->cancel = line;
    places->cancel.col += line.cols > width ? line.cols - width : 0;
    places->cancel.cols = text_cells(bytes_of(cancel_word(dialog)), is_ascii) + 4;
    if (dialog_has_fields(dialog)) {
        places->confirm = line;
        places->confirm.col = places->cancel.col + places->cancel.cols + 1;
        places->confirm.cols = width - places->cancel.cols - 1;
    }
    if (dialog_can_confirm(dialog) && dialog_asks_typed(dialog))
        places->typed = typed_fits(dialog, width, line.cols) ? line : area_take_bottom(rest, 1);
}

// As many fields as there is room for, the one in focus among them.
static void
place_fields(const struct dialog *dialog, struct area *rest, struct dialog_places *places)
{
    int count = dialog->request.field_count;
    int shown = count < rest->rows ? count : rest->rows;
    bool is_field = dialog->focus >= 0 && dialog->focus < count;
    places->first_field = is_field && dialog->focus >= shown ? dialog->focus - shown + 1 : 0;
    places->fields = area_take_bottom(rest, shown);
}

static bool
place_dialog(const struct dialog *dialog, bool is_ascii, struct area area, struct dialog_places *places)
{
    int width = area.cols - 2 < WIDEST ? area.cols - 2 : WIDEST;
    int rows = wanted_rows(dialog, width - 4, is_ascii);
    bool is_cut = rows > area.rows;
    *places = (struct dialog_places){0};
    if (is_cut)
        rows = area.rows;
    if (width < 10 || rows < 3)
        return false;
    struct area box = {area.row + (area.rows - rows) / 2, area.col + (area.cols - width) / 2, rows, width};
    places->box = box;
    places->inner = (struct area){box.row + 1, box.col + 2, rows - 2, width - 4};
    for (int i = 0; i < dialog->request.field_count; i++) {
        int label = text_cells(bytes_of(dialog->request.fields[i].label), is_ascii);
        places->label_width = label > places->label_width ? label : places->label_width;
    }

    struct area rest = places->inner;
    struct area scope = area_take_top(&rest, is_cut ? scope_rows(dialog, rest, is_ascii) : 0);
    place_buttons(dialog, is_ascii, &rest, places);
    if (dialog->bad_field >= 0 && rest.rows > 0)
        places->trouble = area_take_bottom(&rest, 1);
    bool has_fields = dialog_has_fields(dialog);
    int needed = (has_fields ? dialog->request.field_count : 0) + lines_rows(dialog, rest.cols, is_ascii);
    int command = command_rows(dialog, rest.cols, is_ascii);
    int room = rest.rows - needed > 0 ? rest.rows - needed : 0; // what is needed more goes first
    places->command = area_take_bottom(&rest, command < room ? command : room);
    if (has_fields)
        place_fields(dialog, &rest, places);
    if (dialog->is_waiting && rest.rows > 1)
        places->waiting = area_take_bottom(&rest, 1);
    if (dialog->refusal.len && rest.rows > 0)
        places->refusal =
            area_take_bottom(&rest, wrapped_rows(strbuf_text(&dialog->refusal), rest.cols, is_ascii));
    places->lines = rest;
    places->lines.row = scope.row;
    places->lines.rows += scope.rows;
    return true;
}

void
dialog_layout(struct dialog *dialog, bool is_ascii, struct area area)
{
    struct area before = dialog->pace.can_be_clicked ? dialog->places.confirm : (struct area){0};
    (void)place_dialog(dialog, is_ascii, area, &dialog->places);
    struct area now = dialog->places.confirm;
    dialog->pace.can_be_clicked = dialog_can_confirm(dialog) && now.cols > 0;
    if (now.row != before.row || now.col != before.col || now.cols != before.cols)
        dialog->pace.shown_at = clock_mono();
}

void
dialog_draw(const struct dialog *dialog, struct canvas *canvas, struct area area)
{
    struct dialog_places places;
    if (!place_dialog(dialog, canvas->is_ascii, area, &places))
        return;
    draw_frame(dialog, canvas, places.box);
    draw_button(dialog, canvas, places.cancel, cancel_word(dialog), FOCUS_CANCEL);
    draw_button(dialog, canvas, places.confirm, dialog->request.confirm, FOCUS_CONFIRM);
    draw_typed(dialog, canvas, places.typed);
    if (places.trouble.rows > 0)
        (void)canvas_text(canvas, places.trouble.row, places.trouble.col, places.trouble.cols,
                          bytes_of(dialog->trouble.text), ROLE_PROMPT_ERROR);
    if (places.command.rows > 0) {
        struct strbuf command = {0};
        add_command(dialog, &command);
        draw_wrapped(canvas, places.command, strbuf_bytes(&command), ROLE_DIM);
        strbuf_release(&command);
    }
    for (int i = 0; i < places.fields.rows; i++)
        draw_field(dialog, &places, places.first_field + i, canvas, places.fields.row + i);
    if (places.waiting.rows > 0)
        (void)canvas_text(canvas, places.waiting.row, places.waiting.col, places.waiting.cols,
                          BYTES("counting"), ROLE_DIM);
    draw_wrapped(canvas, places.refusal, strbuf_bytes(&dialog->refusal), ROLE_DIALOG_DANGER);
    draw_lines(dialog, canvas, places.lines);
}
