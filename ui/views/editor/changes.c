// The differences before they are saved, or between two persons' versions: side by side where there is room.
#include "ui/views/editor/changes.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/json/changes.h"
#include "core/json/json.h"
#include "core/shape/shape.h"
#include "ui/app/app.h"
#include "ui/views/difference.h"
#include "ui/views/text_page.h"
#include "ui/widgets/statusbar.h"

enum {
    AROUND = 3, // lines that are the same, beside those that differ
    BESIDE_FROM_COLS = 120,
    LINE_LONG = 160, // bytes; JSON with longer lines is compared formatted
    PATHS = 3,       // of changes, named
    DEPARTURES = 5,  // told; the others are counted
    DEPARTURE_BYTES = 1 << 20,
};

struct changes {
    struct text_page page; // first: see text_page.h
    struct changes_argument given;
    struct arena arena;
    // Of the payload after, from the shape it was opened with.
    struct shape_departure *departures;
    size_t departure_count, shape_events; // shape_events 0: nothing is known
    int cols;                             // it was built for; 0: not yet
    size_t removed, added;
};

static const enum action footer[] = {DO_SAVE, DO_BACK, DO_SEARCH, DO_WRAP, DO_HELP, DO_NONE};

static bool
has_long_line(struct bytes text)
{
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '\n')
            continue;
        if (i - from > LINE_LONG)
            return true;
        from = i + 1;
    }
    return text.len - from > LINE_LONG;
}

static struct bytes
formatted(struct bytes text, struct arena *arena)
{
    struct strbuf out = {0};
    (void)json_format(text, &out);
    struct bytes copy = arena_copy(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return copy;
}

static enum role
role_of_kind(enum difference_kind kind)
{
    return kind == DIFFERENCE_REMOVED ? ROLE_DIFF_REMOVED
           : kind == DIFFERENCE_ADDED ? ROLE_DIFF_ADDED
                                      : ROLE_DIM;
}

static void
add_below(struct pager *pager, const struct difference *difference)
{
    static const char signs[] = {' ', '-', '+', ' '};
    struct strbuf line = {0};
    for (size_t i = 0; i < difference->count; i++) {
        const struct difference_line *at = &difference->lines[i];
        strbuf_reset(&line);
        strbuf_add_char(&line, signs[at->kind]);
        strbuf_add_char(&line, ' ');
        if (at->kind == DIFFERENCE_GAP)
            strbuf_add_text(&line, pager_glyph(pager, GLYPH_ELLIPSIS));
        else
            strbuf_add(&line, at->text);
        pager_line(pager, role_of_kind(at->kind), strbuf_bytes(&line));
    }
    strbuf_release(&line);
}

// A text in as many cells, cut or filled up; with its sign.
static void
add_half(struct strbuf *line, char sign, struct bytes text, int width, bool is_ascii, const char *ellipsis)
{
    struct bytes shown = text;
    bool is_cut = text_cells(text, is_ascii) > width - 2;
    if (is_cut)
        shown = bytes_slice(text, 0, text_fit(text, 0, width - 3, is_ascii));
    strbuf_add_char(line, sign);
    strbuf_add_char(line, ' ');
    strbuf_add(line, shown);
    if (is_cut)
        strbuf_add_text(line, ellipsis);
    for (int used = 2 + text_cells(shown, is_ascii) + is_cut; used < width; used++)
        strbuf_add_char(line, ' ');
}

static void
add_pair(struct pager *pager, int width, bool is_ascii, const struct difference_line *left,
         const struct difference_line *right)
{
    struct strbuf line = {0};
    const char *ellipsis = pager_glyph(pager, GLYPH_ELLIPSIS);
    bool is_same = left && left == right;
    struct bytes nothing = BYTES("");
    add_half(&line, left && !is_same ? '-' : ' ', left ? left->text : nothing, width, is_ascii, ellipsis);
    size_t middle = line.len;
    strbuf_printf(&line, " %s ", pager_glyph(pager, GLYPH_BAR));
    size_t from = line.len;
    add_half(&line, right && !is_same ? '+' : ' ', right ? right->text : nothing, width, is_ascii, ellipsis);
    const struct canvas_span spans[] = {
        {.from = 0, .len = middle, .role = is_same ? ROLE_DIM : ROLE_DIFF_REMOVED},
        {.from = middle, .len = from - middle, .role = ROLE_BORDER},
        {.from = from, .len = line.len - from, .role = is_same ? ROLE_DIM : ROLE_DIFF_ADDED},
    };
    pager_spans(pager, ROLE_TEXT, strbuf_bytes(&line), spans, 3);
    strbuf_release(&line);
}

// Nothing that differs would be cut.
static bool
fits_beside(const struct difference *difference, int cols, bool is_ascii)
{
    int width = (cols - 6) / 2;
    for (size_t i = 0; i < difference->count; i++) {
        const struct difference_line *at = &difference->lines[i];
        bool differs = at->kind == DIFFERENCE_REMOVED || at->kind == DIFFERENCE_ADDED;
        if (differs && text_cells(at->text, is_ascii) > width - 2)
            return false;
    }
    return cols >= BESIDE_FROM_COLS;
}

static void
add_beside(struct pager *pager, const struct difference *difference, int cols, bool is_ascii)
{
    int width = (cols - 6) / 2;
    for (size_t i = 0; i < difference->count;) {
        const struct difference_line *at = &difference->lines[i];
        if (at->kind == DIFFERENCE_GAP) {
            pager_printf(pager, ROLE_DIM, "  %s", pager_glyph(pager, GLYPH_ELLIPSIS));
            i++;
        } else if (at->kind == DIFFERENCE_SAME) {
            add_pair(pager, width, is_ascii, at, at);
            i++;
        } else {
            size_t removed = 0, added = 0;
            while (i + removed < difference->count && at[removed].kind == DIFFERENCE_REMOVED)
                removed++;
            while (i + removed + added < difference->count && at[removed + added].kind == DIFFERENCE_ADDED)
                added++;
            for (size_t row = 0; row < removed || row < added; row++)
                add_pair(pager, width, is_ascii, row < removed ? &at[row] : NULL,
                         row < added ? &at[removed + row] : NULL);
            i += removed + added;
        }
    }
}

// "2 values changed, 1 key removed: $.a, $.b.c": of JSON that fits; the paths of a payload only. false: it is
// not, and nothing is said.
static bool
add_structure(struct pager *pager, struct bytes before, struct bytes after, bool is_payload)
{
    struct arena arena = {0};
    struct json_changes found;
    struct strbuf sentence = {0};
    bool ok = json_compare(before, after, &arena, &found, NULL);
    if (ok) {
        json_changes_sentence(&found, &sentence);
        for (size_t i = 0; is_payload && i < found.count && i < PATHS; i++) {
            strbuf_add_text(&sentence, i ? ", " : ": ");
            strbuf_add(&sentence, found.items[i].path);
        }
        if (is_payload && found.count > PATHS)
            strbuf_printf(&sentence, ", %s", pager_glyph(pager, GLYPH_ELLIPSIS));
        pager_line(pager, ROLE_STRONG, strbuf_bytes(&sentence));
    }
    strbuf_release(&sentence);
    arena_release(&arena);
    return ok;
}

// Where the payload departs from others of its type, as it would be saved.
static void
add_departures(struct pager *pager, const struct changes *changes)
{
    char count[TEXT_SHORT];
    if (changes->shape_events < SHAPE_LEAST)
        return;
    for (size_t i = 0; i < changes->departure_count && i < DEPARTURES; i++)
        pager_line(pager, ROLE_STATUS_WARN, bytes_of(changes->departures[i].sentence));
    if (changes->departure_count > DEPARTURES)
        pager_printf(pager, ROLE_STATUS_WARN, "and %s more",
                     text_count((int64_t)(changes->departure_count - DEPARTURES), count));
    else if (changes->departure_count == 0)
        pager_printf(pager, ROLE_STATUS_OK, "departs nowhere from %s other events of this type",
                     text_count((int64_t)changes->shape_events, count));
}

static void
changes_build(const struct app *app, struct changes *changes, int cols)
{
    struct pager *pager = changes->page.pager;
    bool is_ascii = app_config(app)->is_ascii;
    changes->cols = cols;
    changes->removed = changes->added = 0;
    pager_begin(pager);
    pager_printf(pager, ROLE_DIFF_REMOVED, "- %s", changes->given.before_name);
    pager_printf(pager, ROLE_DIFF_ADDED, "+ %s", changes->given.after_name);
    for (size_t i = 0; i < changes->given.count; i++) {
        struct arena arena = {0};
        struct bytes before = changes->given.parts[i].before, after = changes->given.parts[i].after;
        bool is_formatted = (has_long_line(before) || has_long_line(after)) && json_check(before, NULL) &&
                            json_check(after, NULL);
        struct difference difference =
            is_formatted ? difference_of(formatted(before, &arena), formatted(after, &arena), AROUND, &arena)
                         : difference_of(before, after, AROUND, &arena);
        pager_section(pager, section_name(changes->given.parts[i].section), NULL, false);
        bool is_payload = changes->given.parts[i].section == SECTION_PAYLOAD;
        bool is_told = add_structure(pager, before, after, is_payload);
        if (is_payload)
            add_departures(pager, changes);
        if (is_formatted)
            pager_printf(pager, ROLE_DIM, "shown formatted");
        bool is_same = difference.removed == 0 && difference.added == 0;
        if (is_same && !is_told)
            pager_printf(pager, ROLE_DIM, "only white space between tokens differs");
        else if (!is_same && fits_beside(&difference, cols, is_ascii))
            add_beside(pager, &difference, cols, is_ascii);
        else if (!is_same)
            add_below(pager, &difference);
        changes->removed += difference.removed;
        changes->added += difference.added;
        arena_release(&arena);
    }
    pager_end(pager);
}

static bool
changes_accept(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct changes *changes = state;
    void (*accepted)(struct app *, void *) = changes->given.accepted;
    void *below = changes->given.state;
    if (!accepted)
        return false;
    app_back(app);
    accepted(app, below);
    return true;
}

static bool
changes_can_accept(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((const struct changes *)state)->given.accepted != NULL;
}

static const struct view_action actions[] = {
    {.part = pager_handles, .run = text_page_move},
    {.action = DO_SEARCH, .run = text_page_search},
    {.action = DO_SAVE, .run = changes_accept, .is_possible = changes_can_accept},
    {0},
};

static void
find_departures(struct changes *changes)
{
    const struct shape *shape = changes->given.shape;
    changes->given.shape = NULL;
    for (size_t i = 0; shape && i < changes->given.count; i++) {
        struct bytes after = changes->given.parts[i].after;
        if (changes->given.parts[i].section != SECTION_PAYLOAD || after.len > DEPARTURE_BYTES ||
            !json_check(after, NULL))
            continue;
        shape_departures(shape, after, &changes->arena, &changes->departures, &changes->departure_count);
        changes->shape_events = shape_events(shape);
    }
}

static void *
changes_open(struct app *app, const void *argument)
{
    const struct changes_argument *given = argument;
    struct changes *changes = alloc_bytes(sizeof *changes);
    text_page_init(&changes->page, app, "changes");
    changes->given = *given;
    changes->given.before_name = arena_text(&changes->arena, bytes_of(given->before_name));
    changes->given.after_name = arena_text(&changes->arena, bytes_of(given->after_name));
    for (size_t i = 0; i < given->count; i++) {
        changes->given.parts[i].before = arena_copy(&changes->arena, given->parts[i].before);
        changes->given.parts[i].after = arena_copy(&changes->arena, given->parts[i].after);
    }
    find_departures(changes);
    return changes;
}

static void
changes_close(struct app *app, void *state)
{
    (void)app;
    struct changes *changes = state;
    text_page_release(&changes->page);
    arena_release(&changes->arena);
    free(changes);
}

static void
changes_layout(struct app *app, void *state, const struct view_areas *areas)
{
    struct changes *changes = state;
    if (areas->body.cols != changes->cols)
        changes_build(app, changes, areas->body.cols);
    text_page_layout(app, state, areas);
}

static void
changes_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct changes *changes = state;
    int col;
    (void)app;
    int limit = text_page_draw_line(&changes->page, canvas, areas->line, &col);
    if (areas->line.rows > 0)
        chip_draw(canvas, areas->line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(app_frame(app), "%zu line%s removed, %zu added", changes->removed,
                                        changes->removed == 1 ? "" : "s", changes->added)));
    pager_draw(changes->page.pager, canvas, areas->body);
}

const struct view view_changes = {
    .name = "changes",
    .context = CONTEXT_VIEW_changes,
    .actions = actions,
    .footer = footer,
    .open = changes_open,
    .close = changes_close,
    .crumb = text_page_crumb,
    .draw = changes_draw,
    .layout = changes_layout,
};
