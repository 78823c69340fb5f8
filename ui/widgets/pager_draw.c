// Draws a pager: headings, wrapped lines, matches.
#include "ui/widgets/pager_private.h"

#define MATCHES_SHOWN 64 // of one row

static void
draw_heading(const struct pager *pager, const struct pager_line *line, struct canvas *canvas,
             struct area area)
{
    const struct pager_section *section = &pager->sections[line->section];
    int col = area.col + PAGER_GUTTER;
    col += canvas_glyph(canvas, area.row, col, section->is_folded ? GLYPH_FOLDED : GLYPH_UNFOLDED,
                        ROLE_SECTION) +
           1;
    col += canvas_text(canvas, area.row, col, area.col + area.cols - col, line->text, ROLE_SECTION) + 2;
    if (section->is_folded && section->note)
        (void)canvas_text(canvas, area.row, col, area.col + area.cols - col, bytes_of(section->note),
                          ROLE_DIM);
}

// Parts of the line that fall into this row, counted from the row's beginning.
static size_t
row_spans(const struct pager_line *line, const struct pager_row *row, struct canvas_span *spans, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < line->span_count && count < room; i++) {
        struct canvas_span span = line->spans[i];
        size_t from = span.from > row->from ? span.from : row->from;
        size_t end =
            span.from + span.len < row->from + row->len ? span.from + span.len : row->from + row->len;
        if (from < end)
            spans[count++] =
                (struct canvas_span){.from = from - row->from, .len = end - from, .role = span.role};
    }
    return count;
}

// Bytes of the line that match, as far as they stand in this row.
static void
draw_match(const struct pager *pager, const struct pager_row *row, struct canvas_span match,
           struct canvas *canvas, struct area area)
{
    struct bytes text = pager->lines[row->line].text;
    size_t from = match.from > row->from ? match.from : row->from;
    size_t end =
        match.from + match.len < row->from + row->len ? match.from + match.len : row->from + row->len;
    if (from >= end)
        return;
    int before = text_cells(bytes_slice(text, row->from, from - row->from), canvas->is_ascii);
    int cells = text_cells(bytes_slice(text, from, end - from), canvas->is_ascii);
    int col = row->indent + before - (pager->is_cut ? pager->skip : 0);
    int first = col > 0 ? col : 0;
    int last = col + cells < area.cols - PAGER_GUTTER ? col + cells : area.cols - PAGER_GUTTER;
    if (first < last)
        canvas_restyle(canvas, (struct area){area.row, area.col + PAGER_GUTTER + first, 1, last - first},
                       match.role);
}

static void
draw_matches(const struct pager *pager, const struct pager_row *row, struct canvas *canvas, struct area area)
{
    const struct pager_line *line = &pager->lines[row->line];
    bool is_current = row->line == pager_line_of_row(pager, pager->cursor);
    struct canvas_span match = {.role = is_current ? ROLE_MATCH_CURRENT : ROLE_MATCH};
    if (!pager->pattern) {
        for (size_t i = 0; i < line->mark_count; i++) {
            match.from = line->marks[i].from;
            match.len = line->marks[i].len;
            draw_match(pager, row, match, canvas, area);
        }
        return;
    }
    size_t at = 0;
    for (int i = 0; i < MATCHES_SHOWN && at <= line->text.len; i++) {
        if (pattern_find(pager->pattern, line->text, at, &match.from, &match.len) != PATTERN_YES ||
            match.from >= row->from + row->len)
            return;
        draw_match(pager, row, match, canvas, area);
        at = match.len ? match.from + match.len : match.from + 1;
    }
}

// The part of an address that this row shows.
static void
mark_link(const struct pager *pager, const struct pager_row *row, struct canvas *canvas, struct area area)
{
    const struct pager_line *line = &pager->lines[row->line];
    size_t from = line->link > row->from ? line->link : row->from;
    if (line->link == 0 || from >= row->from + row->len)
        return;
    int before = text_cells(bytes_slice(line->text, row->from, from - row->from), canvas->is_ascii);
    int col = PAGER_GUTTER + row->indent + before - (pager->is_cut ? pager->skip : 0);
    int cells = (int)(row->from + row->len - from);
    int room = area.cols - col;
    if (col >= PAGER_GUTTER && room > 0)
        canvas_link(canvas, area.row, area.col + col, cells < room ? cells : room,
                    line->text.data + line->link);
}

static void
draw_row(const struct pager *pager, size_t index, struct canvas *canvas, struct area area)
{
    const struct pager_row *row = &pager->rows[index];
    const struct pager_line *line = &pager->lines[row->line];
    if (line->is_heading) {
        draw_heading(pager, line, canvas, area);
    } else {
        struct canvas_span spans[64];
        struct canvas_style style = {
            .role = line->role, .skip = pager->is_cut ? pager->skip : 0, .spans = spans};
        style.span_count = row_spans(line, row, spans, sizeof spans / sizeof *spans);
        int col = PAGER_GUTTER + row->indent;
        (void)canvas_styled(canvas, area.row, area.col + col, area.cols - col,
                            bytes_slice(line->text, row->from, row->len), &style);
        draw_matches(pager, row, canvas, area);
        mark_link(pager, row, canvas, area);
    }
    if (index == pager->cursor && !pager->is_aside)
        (void)canvas_glyph(canvas, area.row, area.col, GLYPH_CURSOR, ROLE_CURSOR_MARK);
}

void
pager_draw(const struct pager *pager, struct canvas *canvas, struct area area)
{
    for (int i = 0; i < area.rows && pager->top + (size_t)i < pager->row_count; i++)
        draw_row(pager, pager->top + (size_t)i, canvas, (struct area){area.row + i, area.col, 1, area.cols});
}
