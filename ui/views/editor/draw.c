// Draws the text with line numbers, marks and colours, and the lines around it that say what it is.
#include "ui/views/editor/state.h"

#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "ui/editor/fold.h"
#include "ui/editor/motion.h"
#include "ui/editor/place.h"
#include "ui/editor/syntax.h"
#include "ui/views/editor/texts.h"
#include "ui/widgets/statusbar.h"

enum {
    NUMBERS_FROM_COLS = 30,
    SOURCE_FROM_ROWS = 5,
    FINDING_FROM_ROWS = 4,
    RULE_FROM_ROWS = 14,
    SPANS = 1024,
    MATCHES = 128,
    PAIR_MOST = 256 << 10, // a longer document has no marked brackets: their partner may be far
};

// The parts of the body.
struct parts {
    struct area source, text, rule, finding;
    int numbers; // cells of a line number
    int gutter;  // cells before the text
};

static int
digits(size_t n)
{
    int count = 1;
    for (; n >= 10; n /= 10)
        count++;
    return count;
}

static struct parts
split(const struct editing *editing, struct area body)
{
    struct parts parts = {.text = body};
    int rows = body.rows;
    if (rows >= SOURCE_FROM_ROWS)
        parts.source = area_take_top(&parts.text, 1);
    if (rows >= FINDING_FROM_ROWS)
        parts.finding = area_take_bottom(&parts.text, 1);
    if (rows >= RULE_FROM_ROWS)
        parts.rule = area_take_bottom(&parts.text, 1);
    if (body.cols >= NUMBERS_FROM_COLS)
        parts.numbers = digits(buffer_lines(editor_buffer(editing_editor(editing))));
    parts.gutter = 1 + parts.numbers + 2;
    return parts;
}

// --- the cursor stays on the screen

static void
fit(struct editing_text *text, int rows, int cols)
{
    struct buffer *buffer = editor_buffer(text->editor);
    size_t cursor = editor_cursor(text->editor);
    size_t row = editor_row_of(text->editor, buffer_line_at(buffer, cursor));
    size_t shown = rows > 0 ? (size_t)rows : 1;
    if (row < text->top)
        text->top = row;
    else if (row >= text->top + shown)
        text->top = row - shown + 1;
    size_t cell = buffer_cell_at(buffer, cursor);
    size_t width = cols > 4 ? (size_t)cols - 2 : 2; // the last cells may say that the line goes on
    if (cell < width && text->left < width / 2)
        text->left = 0;
    if (cell < text->left || (text->left && cell == text->left))
        text->left = cell > width / 4 ? cell - width / 4 : 0;
    else if (cell >= text->left + width)
        text->left = cell - width + width / 4 + 1;
}

void
editing_layout(struct app *app, void *state, const struct view_areas *areas)
{
    (void)app;
    struct editing *editing = state;
    if (editing->life != EDITING_OPEN)
        return;
    struct parts parts = split(editing, areas->body);
    int gutter = editing_is_hex(editing) ? 1 : parts.gutter;
    editing->place = (struct editing_place){.row = parts.text.row,
                                            .col = parts.text.col + gutter,
                                            .rows = parts.text.rows,
                                            .cols = parts.text.cols - gutter};
    if (editing_is_hex(editing))
        editing_hex_fit(editing);
    else if (editing_is_embedded(editing))
        fit(&editing->embedded.levels[editing->embedded.count - 1].text, editing->place.rows,
            editing->place.cols);
    else
        fit(&editing->texts[editing->section], editing->place.rows, editing->place.cols);
}

bool
editing_click(struct app *app, void *state, int row, int col)
{
    (void)app;
    struct editing *editing = state;
    const struct editing_place *place = &editing->place;
    int at_row = row - place->row, at_col = col - place->col;
    if (editing->life != EDITING_OPEN || at_row < 0 || at_row >= place->rows || at_col < 0)
        return false;
    if (editing_is_hex(editing)) {
        editing_hex_click(editing, at_row, at_col);
        return true;
    }
    const struct editing_text *text = editing_shown_text(editing);
    size_t line = editor_line_of(text->editor, text->top + (size_t)at_row);
    editor_set_cursor(text->editor,
                      buffer_at_cell(editor_buffer(text->editor), line, text->left + (size_t)at_col, NULL),
                      false);
    return true;
}

// --- one line of the text

static enum role role_of_class(enum syntax_class class)
{
    switch (class) {
    case SYNTAX_NAME:
        return ROLE_JSON_KEY;
    case SYNTAX_STRING:
        return ROLE_JSON_STRING;
    case SYNTAX_ESCAPE:
        return ROLE_JSON_ESCAPE;
    case SYNTAX_NUMBER:
        return ROLE_JSON_NUMBER;
    case SYNTAX_LITERAL:
        return ROLE_JSON_WORD;
    case SYNTAX_PUNCTUATION:
        return ROLE_JSON_PUNCT;
    case SYNTAX_ERROR:
        return ROLE_JSON_ERROR;
    }
    return ROLE_TEXT;
}

static size_t
colour(struct editor *editor, size_t from, size_t to, struct canvas_span *spans)
{
    static struct syntax_span classes[SPANS]; // the screen has one thread
    size_t count = editor_classes(editor, from, to, classes, SPANS);
    for (size_t i = 0; i < count; i++)
        spans[i] = (struct canvas_span){
            .from = classes[i].from - from, .len = classes[i].len, .role = role_of_class(classes[i].class)};
    return count;
}

// A line being drawn: the bytes [from, to) of it are in sight.
struct shown_line {
    const struct editing_text *text;
    size_t start, end, from, to;
    struct area area; // one row, right of the gutter
};

// Restyles the bytes [from, to) of the line where they are in sight.
static void
restyle(const struct shown_line *line, struct canvas *canvas, size_t from, size_t to, enum role role)
{
    struct buffer *buffer = editor_buffer(line->text->editor);
    from = from < line->from ? line->from : from;
    bool reaches_end = to > line->end && line->to >= line->end;
    to = to > line->to ? line->to : to;
    if (from > to || (from == to && !reaches_end))
        return;
    size_t left = line->text->left;
    size_t first = buffer_cell_at(buffer, from);
    size_t last = buffer_cell_at(buffer, to) + (reaches_end ? 1 : 0); // a blank for the line end
    first = first > left ? first - left : 0;
    last = last > left ? last - left : 0;
    if (last > (size_t)line->area.cols)
        last = (size_t)line->area.cols;
    if (last > first)
        canvas_restyle(
            canvas, (struct area){line->area.row, line->area.col + (int)first, 1, (int)(last - first)}, role);
}

static void
draw_marks(const struct shown_line *line, struct canvas *canvas)
{
    struct editor *editor = line->text->editor;
    size_t from, to;
    if (editor_has_search(editor)) {
        struct find_match matches[MATCHES];
        size_t count = editor_matches(editor, line->from, line->to, matches, MATCHES);
        for (size_t i = 0; i < count; i++)
            restyle(line, canvas, matches[i].from, matches[i].to,
                    matches[i].from == editor_cursor(editor) ? ROLE_MATCH_CURRENT : ROLE_MATCH);
    }
    if (editor_selection(editor, &from, &to) && from <= line->end && to > line->start)
        restyle(line, canvas, from, to, ROLE_RANGE);
}

static void
draw_text_line(const struct shown_line *line, struct canvas *canvas, size_t first_cell)
{
    static struct canvas_span spans[SPANS];
    struct editor *editor = line->text->editor;
    struct strbuf scratch = {0};
    size_t count = colour(editor, line->from, line->to, spans);
    struct bytes text = buffer_slice(editor_buffer(editor), line->from, line->to - line->from, &scratch);
    int used = canvas_styled(canvas, line->area.row, line->area.col, line->area.cols, text,
                             &(struct canvas_style){.role = ROLE_TEXT,
                                                    .skip = (int)(line->text->left - first_cell),
                                                    .spans = spans,
                                                    .span_count = count});
    size_t hidden = editor_folded_at(editor, buffer_line_at(editor_buffer(editor), line->start));
    if (hidden)
        (void)canvas_printf(canvas, line->area.row, line->area.col + used, line->area.cols - used, ROLE_DIM,
                            " %s %zu line%s", glyph_text(canvas, GLYPH_ELLIPSIS), hidden,
                            hidden == 1 ? "" : "s");
    strbuf_release(&scratch);
}

static void
draw_gutter(const struct editing *editing, struct canvas *canvas, const struct parts *parts, int row,
            size_t line)
{
    const struct editing_text *text = editing_shown_text(editing);
    struct check_finding finding;
    int col = parts->text.col;
    if (editor_finding_of_line(text->editor, line, &finding))
        (void)canvas_text(canvas, row, col, 1, finding.is_warning ? BYTES("?") : BYTES("!"),
                          finding.is_warning ? ROLE_STATUS_WARN : ROLE_STATUS_ERROR);
    else if (editing_departure_of_line(editing, line))
        (void)canvas_text(canvas, row, col, 1, BYTES("?"), ROLE_STATUS_WARN);
    if (parts->numbers)
        (void)canvas_printf(canvas, row, col + 1, parts->numbers, ROLE_DIM, "%*zu", parts->numbers, line + 1);
    if (editor_folded_at(text->editor, line))
        (void)canvas_glyph(canvas, row, col + 1 + parts->numbers, GLYPH_FOLDED, ROLE_CURSOR_MARK);
}

static void
draw_editor_row(const struct editing *editing, struct canvas *canvas, const struct parts *parts, int row,
                size_t line)
{
    const struct editing_text *text = editing_shown_text(editing);
    struct buffer *buffer = editor_buffer(text->editor);
    struct shown_line shown = {
        .text = text,
        .start = buffer_line_start(buffer, line),
        .end = buffer_line_end(buffer, line),
        .area = {row, parts->text.col + parts->gutter, 1, parts->text.cols - parts->gutter}};
    size_t first_cell = 0;
    draw_gutter(editing, canvas, parts, row, line);
    shown.from = buffer_at_cell(buffer, line, text->left, &first_cell);
    shown.to = buffer_at_cell(buffer, line, text->left + (size_t)shown.area.cols + 1, NULL);
    if (shown.to < shown.end)
        shown.to = buffer_next(buffer, shown.to);
    first_cell = first_cell > text->left ? text->left : first_cell;
    draw_text_line(&shown, canvas, first_cell);
    draw_marks(&shown, canvas);
}

static void
draw_caret(const struct editing_text *text, struct canvas *canvas, const struct parts *parts, size_t cursor,
           uint8_t attributes)
{
    struct buffer *buffer = editor_buffer(text->editor);
    size_t row = editor_row_of(text->editor, buffer_line_at(buffer, cursor));
    size_t cell = buffer_cell_at(buffer, cursor);
    if (row < text->top || row >= text->top + (size_t)parts->text.rows || cell < text->left ||
        cell - text->left >= (size_t)(parts->text.cols - parts->gutter))
        return;
    int at_row = parts->text.row + (int)(row - text->top);
    int at_col = parts->text.col + parts->gutter + (int)(cell - text->left);
    if (attributes)
        canvas_add_attributes(canvas, (struct area){at_row, at_col, 1, 1}, attributes);
    else
        canvas_caret(canvas, at_row, at_col);
}

static void
draw_text(const struct editing *editing, struct canvas *canvas, const struct parts *parts)
{
    const struct editing_text *text = editing_shown_text(editing);
    size_t rows = editor_rows(text->editor);
    size_t partner;
    for (int i = 0; i < parts->text.rows && text->top + (size_t)i < rows; i++)
        draw_editor_row(editing, canvas, parts, parts->text.row + i,
                        editor_line_of(text->editor, text->top + (size_t)i));
    size_t cursor = editor_cursor(text->editor);
    if (editor_len(text->editor) <= PAIR_MOST && cursor < editor_len(text->editor) &&
        editor_partner(text->editor, cursor, &partner)) {
        draw_caret(text, canvas, parts, partner, CELL_UNDERLINE | CELL_STRONG);
        draw_caret(text, canvas, parts, cursor, CELL_UNDERLINE | CELL_STRONG);
    }
    draw_caret(text, canvas, parts, cursor, 0);
}

// --- the lines around the text

static const char *
check_words(const struct editing *editing, char out[64], enum role *role)
{
    struct editor *editor = editing_editor(editing);
    enum check_state state = editor_check_state(editor);
    size_t errors = editor_errors(editor), warnings = editor_warnings(editor);
    *role = errors ? ROLE_STATUS_ERROR : warnings ? ROLE_STATUS_WARN : ROLE_STATUS_OK;
    if (state == CHECK_OFF)
        snprintf(out, 64, "text");
    else if (errors)
        snprintf(out, 64, "%zu%s error%s", errors, errors >= CHECK_ERRORS ? "+" : "", errors == 1 ? "" : "s");
    else if (warnings)
        snprintf(out, 64, "%zu%s warning%s", warnings, warnings >= CHECK_WARNINGS ? "+" : "",
                 warnings == 1 ? "" : "s");
    else
        snprintf(out, 64, "%s", state == CHECK_VALID ? "ok" : "checking");
    if (state == CHECK_OFF)
        *role = ROLE_STATUS;
    return out;
}

static const char *
find_words(const struct editing *editing, char out[64])
{
    const struct find_count *count = &editing->find.count;
    const char *more = count->is_complete && !count->is_limited ? "" : "+";
    out[0] = '\0';
    if (!editor_has_search(editing_editor(editing)))
        return out;
    if (count->at)
        snprintf(out, 64, "%zu of %zu%s", count->at, count->count, more);
    else
        snprintf(out, 64, "%zu%s found", count->count, more);
    return out;
}

// In brackets: another section is. Nothing is compared here, so what was typed back counts until it is saved.
static const char *
modified_word(const struct editing *editing)
{
    bool is_any = false;
    for (int i = 0; i < SECTION_COUNT; i++)
        is_any |= editor_is_modified(editing->texts[i].editor);
    for (size_t i = 0; i < editing->embedded.count; i++)
        is_any |= editor_is_modified(editing->embedded.levels[i].text.editor);
    return editor_is_modified(editing_editor(editing)) ? "modified" : is_any ? "(modified)" : "";
}

// One word of line 2, from the right: moves *limit to the left of it.
static void
word_at_right(struct canvas *canvas, const struct area *line, int *limit, const char *word, enum role role)
{
    int cells = text_cells(bytes_of(word), canvas->is_ascii);
    if (!*word || *limit - cells < line->col + 1)
        return;
    (void)canvas_text(canvas, line->row, *limit - cells, cells, bytes_of(word), role);
    *limit -= cells + 3;
}

static void
draw_line(const struct app *app, const struct editing *editing, struct canvas *canvas,
          const struct area *line)
{
    enum { SIZE_FROM_COLS = 60, FIND_FROM_COLS = 50 };
    struct editor *editor = editing_editor(editing);
    char words[64], count[TEXT_SHORT];
    size_t row, column;
    enum role role;
    int limit = line->col + line->cols - 1;
    if (line->rows == 0)
        return;
    buffer_position(editor_buffer(editor), editor_cursor(editor), &row, &column);
    if (editing_is_hex(editing))
        snprintf(words, sizeof words, "hex 0x%zx", editing->hex.at);
    else
        snprintf(words, sizeof words, "%zu:%zu", row, column);
    word_at_right(canvas, line, &limit, words, ROLE_STATUS);
    if (line->cols >= SIZE_FROM_COLS) {
        snprintf(words, sizeof words, "%s byte%s", text_count((int64_t)editor_len(editor), count),
                 editor_len(editor) == 1 ? "" : "s");
        word_at_right(canvas, line, &limit, words, ROLE_STATUS);
    }
    const char *state = check_words(editing, words, &role);
    word_at_right(canvas, line, &limit, state, role);
    bool is_read_only = editing_why_not(editing) != NULL;
    word_at_right(canvas, line, &limit, is_read_only ? "read-only" : modified_word(editing),
                  is_read_only ? ROLE_STATUS_WARN : ROLE_EVENT_EDITED);
    if (editing->keys.style == STYLE_VI && editing->keys.vi.is_inserting)
        word_at_right(canvas, line, &limit, "INSERT", ROLE_FILTER);
    if (line->cols >= FIND_FROM_COLS)
        word_at_right(canvas, line, &limit, find_words(editing, words), ROLE_FILTER);

    struct strbuf path = {0};
    if (editing->section != SECTION_PAYLOAD)
        strbuf_printf(&path, "%s ", section_name(editing->section));
    else
        editing_embedded_path(editing, glyph_text(canvas, GLYPH_CRUMB), &path);
    (void)editor_path_at(editor, editor_cursor(editor), &path);
    (void)canvas_styled(canvas, line->row, line->col + 1, limit - line->col - 1, strbuf_bytes(&path),
                        &(struct canvas_style){.role = ROLE_STATUS, .cut = CUT_START});
    strbuf_release(&path);
    (void)app;
}

// Where the bytes come from, and whether they are exact: said before anything is edited.
static void
draw_source(const struct app *app, const struct editing *editing, struct canvas *canvas, struct area area)
{
    const struct event_detail *detail = &editing->detail;
    const char *why = detail->would_send.received_why ? detail->would_send.received_why : "";
    const char *words;
    enum role role = ROLE_DIM;
    if (editing_why_not(editing)) {
        words = editing_why_not(editing);
        role = ROLE_STATUS_WARN;
    } else if (editing_is_embedded(editing)) {
        words = MSG_EMBEDDED_HINT;
    } else if (editing->section == SECTION_KEY) {
        words = MSG_KEY_HINT;
    } else if (editing->section == SECTION_HEADERS) {
        words = MSG_HEADERS_HINT;
    } else if (editing->section == SECTION_TARGET) {
        words = MSG_TARGET_HINT;
    } else if (detail->revision_count && detail->revisions[0].parts.has_payload) {
        words = arena_printf(app_frame(app), MSG_FROM_REVISION, detail->revisions[0].no,
                             detail->revisions[0].author, why);
    } else {
        words = arena_printf(app_frame(app), detail->would_send.is_received_exact ? MSG_EXACT : MSG_NOT_EXACT,
                             why);
        role = detail->would_send.is_received_exact ? ROLE_STATUS_OK : ROLE_STATUS_WARN;
        if (editing_record_words(editing))
            words = editing_record_words(editing);
    }
    if (area.rows > 0)
        (void)canvas_text(canvas, area.row, area.col + 1, area.cols - 2, bytes_of(words), role);
}

static void
draw_finding(const struct editing *editing, struct canvas *canvas, const struct parts *parts)
{
    struct editor *editor = editing_editor(editing);
    struct check_finding finding;
    char sentence[CHECK_SENTENCE];
    if (parts->rule.rows > 0)
        canvas_hline(canvas, parts->rule.row, parts->rule.col + 1, parts->rule.cols - 2, ROLE_BORDER);
    size_t line = buffer_line_at(editor_buffer(editor), editor_cursor(editor));
    if (parts->finding.rows == 0 || editing_is_hex(editing))
        return;
    const struct shape_departure *departure = editing_departure_of_line(editing, line);
    if (!editor_finding_of_line(editor, line, &finding)) {
        if (departure)
            (void)canvas_printf(canvas, parts->finding.row, parts->finding.col + 1, parts->finding.cols - 2,
                                ROLE_STATUS_WARN, "line %zu: %s", line + 1, departure->sentence);
        return;
    }
    (void)canvas_text(canvas, parts->finding.row, parts->finding.col + 1, parts->finding.cols - 2,
                      bytes_of(editor_finding_sentence(editor, &finding, sentence)),
                      finding.is_warning ? ROLE_STATUS_WARN : ROLE_STATUS_ERROR);
}

void
editing_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct editing *editing = state;
    if (editing->life != EDITING_OPEN) {
        (void)canvas_text(canvas, areas->body.row, areas->body.col + 1, areas->body.cols - 1,
                          editing->life == EDITING_FAILED ? bytes_of(editing->err.text) : BYTES(MSG_LOADING),
                          ROLE_DIM);
        return;
    }
    struct parts parts = split(editing, areas->body);
    draw_line(app, editing, canvas, &areas->line);
    draw_source(app, editing, canvas, parts.source);
    draw_finding(editing, canvas, &parts);
    if (editing_is_hex(editing))
        editing_hex_draw(editing, canvas, parts.text);
    else
        draw_text(editing, canvas, &parts);
}
