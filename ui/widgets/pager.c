#include "ui/widgets/pager_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/text.h"

#define TAB 4
#define SIDE_STEP 8
#define LEAST_HUNG 24 // cells beside a hanging indent; with fewer there is none

struct pager *
pager_create(void)
{
    return alloc_bytes(sizeof(struct pager));
}

static void
free_sections(struct pager_section *sections, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(sections[i].title);
    free(sections);
}

void
pager_destroy(struct pager *pager)
{
    if (!pager)
        return;
    free_sections(pager->sections, pager->section_count);
    free_sections(pager->before, pager->before_count);
    free(pager->lines);
    free(pager->rows);
    pattern_destroy(pager->pattern);
    arena_release(&pager->arena);
    free(pager);
}

void
pager_begin(struct pager *pager)
{
    free_sections(pager->before, pager->before_count);
    pager->before = pager->sections;
    pager->before_count = pager->section_count;
    pager->sections = NULL;
    pager->section_count = pager->section_capacity = 0;
    pager->line_count = 0;
    pager->hang = 0;
    pager->is_stale = true;
    arena_reset(&pager->arena);
}

static bool
was_folded(const struct pager *pager, const char *title, bool otherwise)
{
    for (size_t i = 0; i < pager->before_count; i++)
        if (strcmp(pager->before[i].title, title) == 0)
            return pager->before[i].is_folded;
    return otherwise;
}

static struct pager_line *
pager_add_line(struct pager *pager, enum role role, struct bytes text)
{
    pager->lines = alloc_grow(pager->lines, pager->line_count, &pager->line_capacity, sizeof *pager->lines);
    struct pager_line *line = &pager->lines[pager->line_count++];
    *line = (struct pager_line){.text = text,
                                .role = role,
                                .section = pager->section_count ? pager->section_count - 1 : NO_SECTION,
                                .hang = pager->hang};
    return line;
}

void
pager_section(struct pager *pager, const char *title, const char *note, bool is_folded)
{
    pager->sections =
        alloc_grow(pager->sections, pager->section_count, &pager->section_capacity, sizeof *pager->sections);
    pager->sections[pager->section_count++] = (struct pager_section){
        .title = alloc_text(title),
        .note = note ? arena_text(&pager->arena, bytes_of(note)) : NULL,
        .is_folded = was_folded(pager, title, is_folded),
    };
    pager_add_line(pager, ROLE_SECTION, arena_copy(&pager->arena, bytes_of(title)))->is_heading = true;
}

// A copy with tabs as blanks up to the next stop.
static struct bytes
copy_line(struct pager *pager, struct bytes text)
{
    if (bytes_find(text, BYTES("\t"), 0) == SIZE_MAX)
        return arena_copy(&pager->arena, text);
    struct strbuf flat = {0};
    size_t cells = 0;
    for (size_t i = 0; i < text.len; i++) {
        do
            strbuf_add_char(&flat, text.data[i] == '\t' ? ' ' : text.data[i]);
        while ((((unsigned char)text.data[i] & 0xc0) != 0x80 && ++cells % TAB != 0) && text.data[i] == '\t');
    }
    struct bytes copy = arena_copy(&pager->arena, strbuf_bytes(&flat));
    strbuf_release(&flat);
    return copy;
}

void
pager_line(struct pager *pager, enum role role, struct bytes untrusted)
{
    size_t at = 0;
    do {
        size_t end = bytes_find(untrusted, BYTES("\n"), at);
        size_t stop = end == SIZE_MAX ? untrusted.len : end;
        struct bytes text = bytes_slice(untrusted, at, stop - at);
        if (text.len && text.data[text.len - 1] == '\r' && end != SIZE_MAX)
            text.len--;
        (void)pager_add_line(pager, role, copy_line(pager, text));
        at = stop + 1;
    } while (at < untrusted.len);
}

void
pager_printf(struct pager *pager, enum role role, const char *format, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    pager_line(pager, role, strbuf_bytes(&text));
    strbuf_release(&text);
}

void
pager_spans(struct pager *pager, enum role role, struct bytes untrusted, const struct canvas_span *spans,
            size_t count)
{
    struct pager_line *line = pager_add_line(pager, role, arena_copy(&pager->arena, untrusted));
    line->spans = arena_array(&pager->arena, count ? count : 1, sizeof *line->spans);
    if (count)
        memcpy(line->spans, spans, count * sizeof *spans);
    line->span_count = count;
}

void
pager_link(struct pager *pager, size_t line, size_t from)
{
    pager->lines[line].link = from;
}

void
pager_hang(struct pager *pager, int cells)
{
    pager->hang = cells;
}

void
pager_marks(struct pager *pager, size_t line, const struct canvas_span *marks, size_t count)
{
    struct pager_line *marked = &pager->lines[line];
    marked->marks = arena_array(&pager->arena, count ? count : 1, sizeof *marked->marks);
    if (count)
        memcpy(marked->marks, marks, count * sizeof *marks);
    marked->mark_count = count;
}

static bool
is_hidden(const struct pager *pager, const struct pager_line *line)
{
    return !line->is_heading && line->section != NO_SECTION && pager->sections[line->section].is_folded;
}

static void
pager_add_row(struct pager *pager, size_t line, size_t from, size_t len, int indent)
{
    pager->rows = alloc_grow(pager->rows, pager->row_count, &pager->row_capacity, sizeof *pager->rows);
    pager->rows[pager->row_count++] =
        (struct pager_row){.line = line, .from = from, .len = len, .indent = indent};
}

static void
make_rows(struct pager *pager)
{
    pager->row_count = 0;
    for (size_t i = 0; i < pager->line_count && pager->width > 0; i++) {
        const struct pager_line *line = &pager->lines[i];
        if (is_hidden(pager, line))
            continue;
        size_t at = 0;
        if (pager->is_cut || line->is_heading || line->text.len == 0) {
            pager_add_row(pager, i, 0, line->text.len, 0);
            continue;
        }
        int hang = pager->width - line->hang < LEAST_HUNG ? 0 : line->hang;
        while (at < line->text.len) {
            int indent = at > 0 ? hang : 0;
            size_t len = text_fit(line->text, at, pager->width - indent, pager->is_ascii);
            pager_add_row(pager, i, at, len, indent);
            at = text_resume(line->text, at + len);
        }
    }
}

size_t
pager_line_of_row(const struct pager *pager, size_t row)
{
    return row < pager->row_count ? pager->rows[row].line : 0;
}

// The first row of a line, or of the nearest one before it that is shown.
static size_t
row_of_line(const struct pager *pager, size_t line)
{
    size_t low = 0;
    size_t high = pager->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pager->rows[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < pager->row_count && pager->rows[low].line == line)
        return low;
    return low > 0 ? low - 1 : 0;
}

static void
fit(struct pager *pager)
{
    size_t height = pager->height > 0 ? (size_t)pager->height : 1;
    if (pager->cursor >= pager->row_count)
        pager->cursor = pager->row_count ? pager->row_count - 1 : 0;
    if (pager->top + height > pager->row_count)
        pager->top = pager->row_count > height ? pager->row_count - height : 0;
    if (pager->cursor < pager->top)
        pager->top = pager->cursor;
    if (pager->cursor >= pager->top + height)
        pager->top = pager->cursor - height + 1;
}

// Makes the rows anew around the line that the cursor is on, which keeps its place on the screen.
static void
refresh_rows(struct pager *pager)
{
    size_t line = pager_line_of_row(pager, pager->cursor);
    size_t below_top = pager->cursor - (pager->top < pager->cursor ? pager->top : pager->cursor);
    make_rows(pager);
    pager->is_stale = false;
    pager->cursor = row_of_line(pager, line);
    pager->top = pager->cursor > below_top ? pager->cursor - below_top : 0;
    fit(pager);
}

static bool
matches(const struct pager *pager, size_t line)
{
    if (!pager->pattern)
        return pager->lines[line].mark_count > 0;
    return pattern_find(pager->pattern, pager->lines[line].text, 0, NULL, NULL) == PATTERN_YES;
}

// Counts the lines that match, and says which of them the cursor is on.
static void
count_matches(struct pager *pager)
{
    size_t at = pager_line_of_row(pager, pager->cursor);
    pager->match_count = pager->match_at = 0;
    for (size_t i = 0; i < pager->line_count; i++) {
        if (!matches(pager, i))
            continue;
        pager->match_count++;
        if (i == at)
            pager->match_at = pager->match_count;
    }
}

void
pager_end(struct pager *pager)
{
    free_sections(pager->before, pager->before_count);
    pager->before = NULL;
    pager->before_count = 0;
    refresh_rows(pager);
    count_matches(pager);
}

void
pager_set_ascii(struct pager *pager, bool is_ascii)
{
    pager->is_stale |= pager->is_ascii != is_ascii;
    pager->is_ascii = is_ascii;
}

const char *
pager_glyph(const struct pager *pager, enum glyph glyph)
{
    const struct canvas like = {.is_ascii = pager->is_ascii};
    return glyph_text(&like, glyph);
}

void
pager_set_focus(struct pager *pager, bool has_focus)
{
    pager->is_aside = !has_focus;
}

void
pager_layout(struct pager *pager, struct area area)
{
    int width = area.cols > PAGER_GUTTER ? area.cols - PAGER_GUTTER : 1;
    pager->height = area.rows;
    if (width != pager->width || pager->is_stale) {
        pager->width = width;
        refresh_rows(pager);
    }
    fit(pager);
}

static void
move_cursor(struct pager *pager, int64_t rows)
{
    int64_t target = (int64_t)pager->cursor + rows;
    pager->cursor = target < 0 ? 0 : (size_t)target;
    fit(pager);
}

static void
page(struct pager *pager, int64_t rows)
{
    int64_t top = (int64_t)pager->top + rows;
    pager->top = top < 0 ? 0 : (size_t)top;
    move_cursor(pager, rows);
}

static void
scroll(struct pager *pager, int rows)
{
    size_t height = pager->height > 0 ? (size_t)pager->height : 1;
    if (rows > 0 && pager->top + height < pager->row_count)
        pager->top++;
    if (rows < 0 && pager->top > 0)
        pager->top--;
    if (pager->cursor < pager->top)
        pager->cursor = pager->top;
    if (pager->cursor >= pager->top + height)
        pager->cursor = pager->top + height - 1;
}

static bool
pager_fold(struct pager *pager)
{
    size_t line = pager_line_of_row(pager, pager->cursor);
    size_t section = pager->row_count ? pager->lines[line].section : NO_SECTION;
    if (section == NO_SECTION)
        return false;
    pager->sections[section].is_folded = !pager->sections[section].is_folded;
    while (!pager->lines[line].is_heading)
        line--;
    pager->cursor = row_of_line(pager, line);
    refresh_rows(pager);
    return true;
}

static void
fold_all(struct pager *pager, bool is_folded)
{
    for (size_t i = 0; i < pager->section_count; i++)
        pager->sections[i].is_folded = is_folded;
    refresh_rows(pager);
}

static bool
go_to_line(struct pager *pager, size_t line)
{
    if (is_hidden(pager, &pager->lines[line])) {
        pager->sections[pager->lines[line].section].is_folded = false;
        refresh_rows(pager);
    }
    pager->cursor = row_of_line(pager, line);
    fit(pager);
    count_matches(pager);
    return true;
}

// The next line with a match after (or before) the cursor's, going round at the ends.
static bool
find_match(struct pager *pager, int step, bool includes_here)
{
    if (pager->line_count == 0)
        return false;
    size_t count = pager->line_count;
    size_t line = pager_line_of_row(pager, pager->cursor);
    for (size_t i = includes_here ? 0 : 1; i <= count; i++) {
        size_t candidate = step > 0 ? (line + i) % count : (line + count - i % count) % count;
        if (matches(pager, candidate))
            return go_to_line(pager, candidate);
    }
    count_matches(pager);
    return false;
}

// Applies an action, with a step whose sign is its direction. false: there is nothing to do it on.

static bool
do_line(struct pager *pager, int step)
{
    move_cursor(pager, step);
    return true;
}

static bool
do_half(struct pager *pager, int step)
{
    page(pager, step * (pager->height > 1 ? pager->height / 2 : 1));
    return true;
}

static bool
do_page(struct pager *pager, int step)
{
    page(pager, step * (pager->height > 2 ? pager->height - 1 : 1));
    return true;
}

static bool
do_end(struct pager *pager, int step)
{
    if (step < 0)
        pager_top(pager);
    else
        move_cursor(pager, (int64_t)pager->row_count);
    return true;
}

static bool
do_scroll(struct pager *pager, int step)
{
    scroll(pager, step);
    return true;
}

static bool
do_sideways(struct pager *pager, int step)
{
    if (step < 0)
        pager->skip = pager->skip > SIDE_STEP ? pager->skip - SIDE_STEP : 0;
    else if (pager->is_cut)
        pager->skip += SIDE_STEP;
    return true;
}

static bool
do_line_end(struct pager *pager, int step)
{
    pager->skip = 0;
    if (step < 0)
        return true;
    size_t line = pager_line_of_row(pager, pager->cursor);
    int cells = pager->row_count ? text_cells(pager->lines[line].text, pager->is_ascii) : 0;
    if (pager->is_cut && cells > pager->width)
        pager->skip = cells - pager->width;
    return true;
}

static bool
do_wrap(struct pager *pager, int step)
{
    (void)step;
    pager->is_cut = !pager->is_cut;
    pager->skip = 0;
    refresh_rows(pager);
    return true;
}

static bool
do_fold(struct pager *pager, int step)
{
    (void)step;
    return pager_fold(pager);
}

static bool
do_open(struct pager *pager, int step)
{
    (void)step;
    size_t line = pager_line_of_row(pager, pager->cursor);
    return pager->row_count > 0 && pager->lines[line].is_heading && pager_fold(pager);
}

static bool
do_fold_all(struct pager *pager, int step)
{
    fold_all(pager, step > 0);
    return true;
}

// The heading becomes the first row on the screen where there is enough below it.
static bool
do_section(struct pager *pager, int step)
{
    if (pager->row_count == 0)
        return false;
    size_t line = pager_line_of_row(pager, pager->cursor);
    size_t count = pager->line_count;
    for (size_t i = line + (size_t)step; i < count; i += (size_t)step) {
        if (!pager->lines[i].is_heading)
            continue;
        pager->cursor = row_of_line(pager, i);
        pager->top = pager->cursor;
        fit(pager);
        return true;
    }
    return do_end(pager, step);
}

bool
pager_to_section(struct pager *pager, const char *title)
{
    for (size_t i = 0; i < pager->line_count; i++) {
        const struct pager_line *line = &pager->lines[i];
        if (!line->is_heading || strcmp(pager->sections[line->section].title, title) != 0)
            continue;
        pager->cursor = row_of_line(pager, i);
        pager->top = pager->cursor;
        fit(pager);
        return true;
    }
    return false;
}

static bool
do_match(struct pager *pager, int step)
{
    return find_match(pager, step, false) || pager->pattern;
}

static const struct pager_move {
    enum action action;
    bool (*run)(struct pager *pager, int step);
    int step;
} moves[] = {
    {DO_DOWN, do_line, 1},
    {DO_UP, do_line, -1},
    {DO_HALF_DOWN, do_half, 1},
    {DO_HALF_UP, do_half, -1},
    {DO_PAGE_DOWN, do_page, 1},
    {DO_PAGE_UP, do_page, -1},
    {DO_TOP, do_end, -1},
    {DO_BOTTOM, do_end, 1},
    {DO_LINE_DOWN, do_scroll, 1},
    {DO_LINE_UP, do_scroll, -1},
    {DO_LEFT, do_sideways, -1},
    {DO_RIGHT, do_sideways, 1},
    {DO_FIRST_COLUMN, do_line_end, -1},
    {DO_LAST_COLUMN, do_line_end, 1},
    {DO_WRAP, do_wrap, 0},
    {DO_FOLD, do_fold, 0},
    {DO_OPEN, do_open, 0},
    {DO_NEXT_SECTION, do_section, 1},
    {DO_PREVIOUS_SECTION, do_section, -1},
    {DO_FOLD_ALL, do_fold_all, 1},
    {DO_UNFOLD_ALL, do_fold_all, -1},
    {DO_NEXT_MATCH, do_match, 1},
    {DO_PREVIOUS_MATCH, do_match, -1},
};

static const struct pager_move *
find_move(enum action action)
{
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].action == action)
            return &moves[i];
    return NULL;
}

bool
pager_handles(enum action action)
{
    return find_move(action);
}

bool
pager_handle(struct pager *pager, enum action action)
{
    const struct pager_move *move = find_move(action);
    return move && move->run(pager, move->step);
}

bool
pager_search(struct pager *pager, struct bytes pattern, struct err *err)
{
    struct pattern *compiled = NULL;
    if (pattern.len && !pattern_compile(&compiled, pattern, err))
        return false;
    pattern_destroy(pager->pattern);
    pager->pattern = compiled;
    count_matches(pager);
    if (compiled)
        (void)find_match(pager, 1, true);
    return true;
}

bool
pager_is_searching(const struct pager *pager)
{
    return pager->pattern != NULL;
}

bool
pager_has_matches(const struct pager *pager)
{
    return pager->match_count > 0;
}

bool
pager_has_match_after(const struct pager *pager, bool is_forward)
{
    size_t here = pager_line_of_row(pager, pager->cursor);
    size_t from = is_forward ? here + 1 : 0;
    size_t to = is_forward ? pager->line_count : here;
    for (size_t i = from; i < to; i++)
        if (matches(pager, i))
            return true;
    return false;
}

const char *
pager_search_words(const struct pager *pager, char out[64])
{
    char at[TEXT_SHORT], of[TEXT_SHORT];
    if (pager->match_count == 0)
        return pager->pattern ? "no match" : "";
    (void)text_count((int64_t)pager->match_count, of);
    const char *lines = pager->match_count == 1 ? "line" : "lines";
    if (pager->match_at)
        snprintf(out, 64, "%s of %s matching %s", text_count((int64_t)pager->match_at, at), of, lines);
    else
        snprintf(out, 64, "%s matching %s", of, lines);
    return out;
}

const char *
pager_position(const struct pager *pager, char out[48])
{
    size_t height = pager->height > 0 ? (size_t)pager->height : 0;
    size_t last = pager->top + height < pager->row_count ? pager->top + height : pager->row_count;
    snprintf(out, 48, "%zu-%zu/%zu", pager->row_count ? pager->top + 1 : 0, last, pager->row_count);
    return out;
}

const char *
pager_section_at(const struct pager *pager)
{
    if (pager->row_count == 0)
        return NULL;
    size_t section = pager->lines[pager_line_of_row(pager, pager->cursor)].section;
    return section == NO_SECTION ? NULL : pager->sections[section].title;
}

struct bytes
pager_line_at(const struct pager *pager)
{
    return pager->row_count ? pager->lines[pager_line_of_row(pager, pager->cursor)].text : BYTES_ABSENT;
}

size_t
pager_lines(const struct pager *pager)
{
    return pager->line_count;
}

size_t
pager_cursor(const struct pager *pager)
{
    return pager_line_of_row(pager, pager->cursor);
}

struct bytes
pager_text(const struct pager *pager, size_t line)
{
    return pager->lines[line].text;
}

void
pager_top(struct pager *pager)
{
    pager->cursor = pager->top = 0;
}
