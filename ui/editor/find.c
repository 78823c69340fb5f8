#include "ui/editor/find.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/private.h"

// What a look at a part of a line sees: so much ahead of the place, and so much before it for ^, \b and
// look-behind. Where the part ends within the line, the next one overlaps it.
static const size_t AHEAD = 16 << 10;
static const size_t BEFORE = 4 << 10;
static const size_t CALL = 64; // bytes that a call costs besides those that it reads
static const size_t POINT_STRIDE = 4 << 10;

void
searching_release(struct searching *searching)
{
    pattern_destroy(searching->pattern);
    strbuf_release(&searching->scratch);
    free(searching->points);
    *searching = (struct searching){0};
}

// Appends plain text as an expression.
static void
add_literal(struct strbuf *out, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x80 && !is_word_byte(c))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, (char)c);
    }
}

bool
editor_set_search(struct editor *editor, struct bytes text, bool is_regex, struct err *err)
{
    struct searching *searching = &editor->searching;
    struct pattern *pattern = NULL;
    struct strbuf expression = {0};
    if (is_regex)
        strbuf_add(&expression, text);
    else
        add_literal(&expression, text);
    bool ok = text.len == 0 || pattern_compile(&pattern, strbuf_bytes(&expression), err);
    strbuf_release(&expression);
    if (!ok)
        return false;
    pattern_destroy(searching->pattern);
    searching->pattern = pattern;
    searching->version = 0;
    return true;
}

bool
editor_has_search(const struct editor *editor)
{
    return editor->searching.pattern != NULL;
}

// A look from one place on.
struct find_look {
    size_t at;   // from here on; behind it: where the next look begins
    size_t cost; // bytes
    bool is_limited;
    struct find_match match;
};

// Searches [at, end) of a line that reaches from `start` to `line_end`.
static enum pattern_verdict
look_at_part(struct editor *editor, struct find_look *look, size_t start, size_t end)
{
    size_t from;
    size_t len;
    struct bytes part = buffer_slice(editor->buffer, start, end - start, &editor->searching.scratch);
    enum pattern_verdict verdict =
        pattern_find(editor->searching.pattern, part, look->at - start, &from, &len);
    look->cost += CALL;
    if (verdict != PATTERN_YES) {
        look->cost += part.len;
        return verdict;
    }
    // All of it is only looked over for bytes that are no UTF-8.
    look->cost += part.len / 16;
    look->cost += start + from + len > look->at ? start + from + len - look->at : 0;
    look->match = (struct find_match){.from = start + from, .to = start + from + len};
    return verdict;
}

// Looks at one line, or a part of it, from look->at (below the length) on, and moves it. true: a match.
static bool
look_on(struct editor *editor, struct find_look *look)
{
    struct buffer *buffer = editor->buffer;
    size_t line = buffer_line_at(buffer, look->at);
    size_t start = buffer_line_start(buffer, line);
    size_t line_end = buffer_line_end(buffer, line);
    size_t next_line =
        line + 1 < buffer_lines(buffer) ? buffer_line_start(buffer, line + 1) : buffer_len(buffer);
    look->cost += CALL;
    if (look->at >= line_end) {
        look->at = next_line;
        return false;
    }
    if (line_end - start > AHEAD && look->at - start > BEFORE)
        start = buffer_character(buffer, look->at - BEFORE);
    for (size_t ahead = AHEAD;; ahead *= 2) {
        bool is_all = line_end - look->at <= ahead;
        size_t end = is_all ? line_end : buffer_character(buffer, look->at + ahead);
        enum pattern_verdict verdict = look_at_part(editor, look, start, end);
        // The match might be longer, or end the line in its view only.
        if (verdict == PATTERN_YES && look->match.to == end && !is_all)
            continue;
        look->is_limited |= verdict == PATTERN_LIMIT;
        if (verdict != PATTERN_YES) {
            look->at = is_all ? next_line : buffer_character(buffer, end - BEFORE);
            return false;
        }
        if (look->match.to > look->match.from && look->match.from >= look->at) {
            look->at = look->match.to;
            return true;
        }
        size_t empty = look->match.from > look->at ? look->match.from : look->at;
        look->at = buffer_next(buffer, empty);
        return false;
    }
}

// --- the next match ---

void
editor_find_begin(struct editor *editor, struct find_run *run, size_t from, bool is_forward)
{
    *run =
        (struct find_run){.origin = from, .at = from, .is_forward = is_forward, .version = editor->version};
}

static enum find_state
find_forward(struct editor *editor, struct find_run *run, size_t bytes)
{
    size_t len = buffer_len(editor->buffer);
    for (size_t cost = 0; cost < bytes;) {
        if (run->at >= len && !run->is_wrapped) {
            run->is_wrapped = true;
            run->at = 0;
        }
        if (run->is_wrapped && (run->at >= run->origin || run->at >= len))
            return FIND_NONE;
        struct find_look look = {.at = run->at};
        bool is_found = look_on(editor, &look);
        run->at = look.at;
        cost += look.cost;
        editor->searching.work += look.cost;
        if (!is_found)
            continue;
        run->match = look.match;
        return run->is_wrapped && look.match.from >= run->origin ? FIND_NONE : FIND_FOUND;
    }
    return FIND_MORE;
}

// The last match that begins in [from, to).
static bool
last_match(struct editor *editor, size_t from, size_t to, struct find_match *match, size_t *cost)
{
    bool is_found = false;
    struct find_look look = {.at = from};
    while (look.at < to) {
        if (!look_on(editor, &look) || look.match.from >= to)
            continue;
        *match = look.match;
        is_found = true;
    }
    *cost += look.cost;
    return is_found;
}

static enum find_state
find_backward(struct editor *editor, struct find_run *run, size_t bytes)
{
    struct buffer *buffer = editor->buffer;
    for (size_t cost = 0; cost < bytes;) {
        if (run->at == 0 && !run->is_wrapped) {
            run->is_wrapped = true;
            run->at = buffer_len(buffer);
        }
        if (run->at == 0 || (run->is_wrapped && run->at <= run->origin))
            return FIND_NONE;
        size_t start = buffer_line_start(buffer, buffer_line_at(buffer, run->at - 1));
        if (run->at - start > AHEAD)
            start = buffer_character(buffer, run->at - AHEAD);
        size_t before = cost;
        bool is_found = last_match(editor, start, run->at, &run->match, &cost);
        editor->searching.work += cost - before;
        run->at = start;
        if (!is_found)
            continue;
        run->at = run->match.from;
        return run->is_wrapped && run->match.from < run->origin ? FIND_NONE : FIND_FOUND;
    }
    return FIND_MORE;
}

enum find_state
editor_find(struct editor *editor, struct find_run *run, size_t bytes)
{
    if (!editor->searching.pattern || run->version != editor->version)
        return FIND_NONE;
    return run->is_forward ? find_forward(editor, run, bytes) : find_backward(editor, run, bytes);
}

void
editor_go_to_match(struct editor *editor, struct find_match match)
{
    editor_set_cursor(editor, match.from, false);
}

size_t
editor_matches(struct editor *editor, size_t from, size_t to, struct find_match *matches, size_t room)
{
    struct buffer *buffer = editor->buffer;
    size_t len = buffer_len(buffer);
    to = to < len ? to : len;
    if (!editor->searching.pattern || from >= to)
        return 0;
    size_t start = buffer_line_start(buffer, buffer_line_at(buffer, from));
    if (from - start > BEFORE)
        start = buffer_character(buffer, from - BEFORE);
    struct find_look look = {.at = start};
    size_t count = 0;
    while (look.at < to && count < room) {
        bool is_found = look_on(editor, &look) && look.match.to > from && look.match.from < to;
        if (is_found)
            matches[count++] = look.match;
    }
    editor->searching.work += look.cost;
    return count;
}

// --- counting ---

static void
add_search_point(struct searching *searching)
{
    size_t last = searching->point_count ? searching->points[searching->point_count - 1].at : 0;
    if (searching->point_count && searching->at - last < POINT_STRIDE)
        return;
    searching->points = alloc_grow(searching->points, searching->point_count, &searching->point_capacity,
                                   sizeof *searching->points);
    searching->points[searching->point_count++] =
        (struct search_point){.at = searching->at, .count = searching->count};
}

// The number of the match that begins at the cursor, from 1, among those counted; 0: none does.
static size_t
number_at_cursor(struct editor *editor)
{
    struct searching *searching = &editor->searching;
    size_t cursor = editor->place.cursor;
    if (searching->number_cursor == cursor)
        return searching->number;
    searching->number_cursor = cursor;
    searching->number = 0;
    size_t i = searching->point_count;
    while (i > 0 && searching->points[i - 1].at > cursor)
        i--;
    if (i == 0 || searching->at <= cursor)
        return 0;
    size_t number = searching->points[i - 1].count;
    struct find_look look = {.at = searching->points[i - 1].at};
    bool is_at = false;
    while (look.at <= cursor && look.at < buffer_len(editor->buffer) && !is_at) {
        if (!look_on(editor, &look) || look.match.from > cursor)
            continue;
        number++;
        is_at = look.match.from == cursor;
    }
    searching->work += look.cost;
    searching->number = is_at ? number : 0;
    return searching->number;
}

struct find_count
editor_count_matches(struct editor *editor, size_t bytes)
{
    struct searching *searching = &editor->searching;
    size_t len = buffer_len(editor->buffer);
    if (!searching->pattern)
        return (struct find_count){.is_complete = true};
    if (searching->version != editor->version) {
        searching->version = editor->version;
        searching->number_cursor = SIZE_MAX;
        searching->at = searching->count = searching->point_count = 0;
        searching->is_limited = false;
    }
    struct find_look look = {.at = searching->at};
    while (look.at < len && look.cost < bytes) {
        add_search_point(searching);
        searching->count += look_on(editor, &look);
        searching->at = look.at;
    }
    searching->work += look.cost;
    searching->is_limited |= look.is_limited;
    return (struct find_count){.count = searching->count,
                               .at = searching->at >= len ? number_at_cursor(editor) : 0,
                               .is_complete = searching->at >= len,
                               .is_limited = searching->is_limited};
}

// --- replacing ---

bool
editor_replace_match(struct editor *editor, struct bytes by, int64_t now)
{
    size_t cursor = editor->place.cursor;
    struct find_look look = {.at = cursor};
    if (!editor->searching.pattern || cursor >= buffer_len(editor->buffer) || !look_on(editor, &look) ||
        look.match.from != cursor)
        return false;
    return editor_replace(editor, cursor, look.match.to, by, now);
}

static void
add_range(struct editor *editor, struct strbuf *out, size_t from, size_t to)
{
    while (from < to) {
        struct bytes run = bytes_slice(buffer_run(editor->buffer, from), 0, to - from);
        strbuf_add(out, run);
        from += run.len;
    }
}

// The document changes here, and the cursor keeps its line and cell.
static enum find_state
finish_replace(struct editor *editor, struct find_replace *replace, int64_t now)
{
    struct buffer *buffer = editor->buffer;
    size_t cursor = editor->place.cursor;
    size_t line = buffer_line_at(buffer, cursor);
    size_t cell = buffer_cell_at(buffer, cursor);
    bool is_done = replace->count > 0 && editor_apply(editor, UNDO_ALONE, false, replace->from,
                                                      replace->copied, strbuf_bytes(&replace->out), now);
    if (is_done)
        editor_finish(editor, buffer_at_cell(buffer, line, cell, NULL));
    strbuf_release(&replace->out);
    return is_done ? FIND_FOUND : FIND_NONE;
}

enum find_state
editor_replace_all(struct editor *editor, struct find_replace *replace, struct bytes by, size_t bytes,
                   int64_t now)
{
    if (!replace->is_begun) {
        replace->is_begun = true;
        replace->version = editor->version;
        replace->at = replace->from;
        if (replace->to > buffer_len(editor->buffer))
            replace->to = buffer_len(editor->buffer);
    }
    if (!editor->searching.pattern || replace->version != editor->version || editor->is_read_only)
        return FIND_NONE;
    struct find_look look = {.at = replace->at};
    while (look.at < replace->to && look.cost < bytes) {
        if (!look_on(editor, &look) || look.match.to > replace->to)
            continue;
        if (replace->count++ == 0)
            replace->from = replace->copied = look.match.from;
        add_range(editor, &replace->out, replace->copied, look.match.from);
        strbuf_add(&replace->out, by);
        look.cost += by.len;
        replace->copied = look.match.to;
        if (replace->out.len > EDITOR_BYTES)
            return FIND_NONE;
    }
    replace->at = look.at;
    replace->is_limited |= look.is_limited;
    editor->searching.work += look.cost;
    return look.at < replace->to ? FIND_MORE : finish_replace(editor, replace, now);
}

void
find_replace_release(struct find_replace *replace)
{
    strbuf_release(&replace->out);
}
