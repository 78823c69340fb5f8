// The keys that work in the view below, from the rows of actions.def and the keymap in force: nothing here
// can go stale. With the fields of the filter language and the signs of the lists.
#include "ui/views/help.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/filter/filter.h"
#include "ui/app/app.h"
#include "ui/views/text_page.h"
#include "ui/widgets/statusbar.h"

enum { KEYS_SHOWN = 5, KEYS_WIDTH = 16, WORDS_AT = KEYS_WIDTH + 1 };

struct help {
    struct text_page page;   // first: see text_page.h
    const struct view *view; // NULL: the whole keymap
};

static const enum action footer[] = {DO_SEARCH, DO_NEXT_MATCH, DO_FOLD, DO_WRAP, DO_BACK, DO_NONE};

void
help_keys(const struct keymap *keymap, enum context context, enum action action, size_t most,
          struct strbuf *out)
{
    struct key_sequence keys;
    for (size_t i = 0; i < most && keymap_keys(keymap, context, action, i, &keys); i++) {
        if (i > 0)
            strbuf_add_char(out, ' ');
        key_print_label(&keys, out);
    }
}

// Which part of the text an action belongs in.
enum part { PART_HERE, PART_DECISIONS, PART_OPERATIONS, PART_MOVEMENT, PART_EVERYWHERE, PART_COUNT };
static const char *const part_titles[PART_COUNT] = {
    [PART_HERE] = "here",         [PART_DECISIONS] = "decisions",   [PART_OPERATIONS] = "one operation",
    [PART_MOVEMENT] = "movement", [PART_EVERYWHERE] = "everywhere",
};

static enum part
part_of(enum action action)
{
    const struct action_row *row = action_row(action);
    if (row->contexts & IN_GLOBAL)
        return PART_EVERYWHERE;
    if (row->contexts & IN_STEER)
        return PART_OPERATIONS;
    if (row->effect == EFFECT_CHANGES)
        return PART_DECISIONS;
    return row->effect == EFFECT_MOVES ? PART_MOVEMENT : PART_HERE;
}

static void
add_paragraph(struct help *help, enum role role, const char *text)
{
    pager_hang(help->page.pager, 0);
    pager_line(help->page.pager, role, bytes_of(text));
    pager_hang(help->page.pager, WORDS_AT);
}

// The same key does another thing in another view.
static const char *
command_of(const struct view *view, enum action action)
{
    const struct view_action *row = view ? view_action(view, action, NULL) : NULL;
    return row && row->command ? row->command : action_row(action)->command;
}

// "R               send the selected events…", with its headless twin below.
static void
add_action(struct help *help, const struct keymap *keymap, enum context context, enum action action)
{
    const struct action_row *row = action_row(action);
    struct strbuf line = {0};
    help_keys(keymap, context, action, KEYS_SHOWN, &line);
    if (line.len) {
        struct canvas_span span = {.from = 0, .len = line.len, .role = ROLE_FOOTER_KEY};
        int width = text_cells(strbuf_bytes(&line), false);
        strbuf_printf(&line, "%*s %s", width < KEYS_WIDTH ? KEYS_WIDTH - width : 1, "", row->help);
        pager_spans(help->page.pager, ROLE_TEXT, strbuf_bytes(&line), &span, 1);
        const char *command = command_of(help->view, action);
        if (command && strncmp(command, "redrive", 7) == 0)
            pager_printf(help->page.pager, ROLE_DIM, "%*s = %s", KEYS_WIDTH, "", command);
    }
    strbuf_release(&line);
}

static bool
has_any(const struct keymap *keymap, const struct view *view, enum part part)
{
    struct key_sequence keys;
    for (int i = DO_NONE + 1; i < DO_COUNT; i++)
        if (part_of((enum action)i) == part && app_handles(view, (enum action)i) &&
            keymap_keys(keymap, view->context, (enum action)i, 0, &keys))
            return true;
    return false;
}

static void
add_parts(struct help *help, const struct keymap *keymap)
{
    for (int part = 0; part < PART_COUNT; part++) {
        if (!has_any(keymap, help->view, (enum part)part))
            continue;
        pager_section(help->page.pager, part_titles[part], NULL, false);
        if (part == PART_DECISIONS)
            add_paragraph(help, ROLE_STRONG,
                          "About the selected events if there are any, else about the cursor row. Each only "
                          "opens a dialog.");
        for (int i = DO_NONE + 1; i < DO_COUNT; i++)
            if (part_of((enum action)i) == (enum part)part && app_handles(help->view, (enum action)i))
                add_action(help, keymap, help->view->context, (enum action)i);
    }
}

// All that the keymap binds in a prompt or dialog.
static void
add_of_context(struct help *help, const struct keymap *keymap, enum context context, const char *title)
{
    pager_section(help->page.pager, title, NULL, true);
    for (int i = DO_NONE + 1; i < DO_COUNT; i++)
        if (action_allowed((enum action)i, context))
            add_action(help, keymap, context, (enum action)i);
}

static void
add_filter_line(struct help *help, const char *name, const char *sentence)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "%-*s %s", KEYS_WIDTH, name, sentence);
    struct canvas_span span = {.from = 0, .len = bytes_of(name).len, .role = ROLE_FILTER};
    pager_spans(help->page.pager, ROLE_TEXT, strbuf_bytes(&line), &span, 1);
    strbuf_release(&line);
}

static void
add_filter(struct help *help)
{
    const char *name;
    const char *sentence;
    pager_section(help->page.pager, "the filter line of groups and events", NULL, false);
    add_paragraph(help, ROLE_TEXT,
                  "field:value terms; what remains is one regular expression on the error message. All must "
                  "hold; ! before a term inverts it.");
    add_paragraph(help, ROLE_TEXT,
                  "A capital letter makes it exact; = takes the text as it is; \"…\" or /…/ hold blanks.");
    for (size_t i = 0; filter_join_help(i, &name, &sentence); i++)
        add_filter_line(help, name, sentence);
    for (size_t i = 0; filter_field_help(i, &name, &sentence); i++)
        add_filter_line(help, name, sentence);
    add_paragraph(
        help, ROLE_TEXT,
        "Groups count the events that match. Operations and the audit take one regular expression on "
        "all that a row says.");
}

static void
add_signs(const struct app *app, struct help *help)
{
    const struct canvas like = {.is_ascii = app_config(app)->is_ascii};
    static const struct {
        enum glyph glyph;
        const char *help;
    } signs[] = {
        {GLYPH_SELECTED, "selected; of a group: all events it had when it was selected"},
        {GLYPH_EDITED, "its payload was corrected"},
        {GLYPH_BACK, "failed again after it was sent, with the number of times"},
        {GLYPH_QUARANTINE, "in quarantine: returned too often"},
        {GLYPH_BUSY, "in an operation that is not over"},
    };
    pager_section(help->page.pager, "signs", NULL, false);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        pager_printf(help->page.pager, ROLE_TEXT, "%s%*s%s", glyph_text(&like, signs[i].glyph), KEYS_WIDTH,
                     "", signs[i].help);
    pager_printf(help->page.pager, ROLE_TEXT, "%-*s %s", KEYS_WIDTH, "NEW",
                 "a group first seen within the hour");
    pager_printf(help->page.pager, ROLE_TEXT, "%-*s %s", KEYS_WIDTH, "BACK",
                 "a group that an operation had emptied, and that returned");
}

static void
add_unbound(struct help *help, const struct keymap *keymap)
{
    struct key_sequence keys;
    pager_section(help->page.pager, "by name only, after :", NULL, false);
    for (int i = DO_NONE + 1; i < DO_COUNT; i++) {
        const struct action_row *row = action_row((enum action)i);
        if (app_handles(help->view, (enum action)i) &&
            !keymap_keys(keymap, help->view->context, (enum action)i, 0, &keys))
            pager_printf(help->page.pager, ROLE_TEXT, "%-*s %s", KEYS_WIDTH, row->word, row->help);
    }
}

static void
help_build(const struct app *app, struct help *help)
{
    const struct keymap *keymap = app_keymap(app);
    pager_begin(help->page.pager);
    if (!help->view) {
        struct strbuf text = {0};
        keymap_describe(keymap, &text);
        pager_line(help->page.pager, ROLE_TEXT, strbuf_bytes(&text));
        strbuf_release(&text);
    } else {
        pager_hang(help->page.pager, WORDS_AT);
        add_parts(help, keymap);
        add_unbound(help, keymap);
        add_filter(help);
        add_signs(app, help);
        add_of_context(help, keymap, CONTEXT_PROMPT, "while typing a line");
        add_of_context(help, keymap, CONTEXT_DIALOG, "in a dialog");
    }
    pager_end(help->page.pager);
}

static void
help_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct help *help = state;
    int col;
    int limit = text_page_draw_line(&help->page, canvas, areas->line, &col);
    if (areas->line.rows > 0) {
        int row = areas->line.row;
        chip_draw(canvas, row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(app_frame(app), "keymap %s", keymap_name(app_keymap(app)))));
        const char *section = pager_section_at(help->page.pager);
        if (section)
            chip_draw(canvas, row, &col, limit, ROLE_DIM, bytes_of(section));
    }
    pager_draw(help->page.pager, canvas, areas->body);
}

static void *
help_open(struct app *app, const void *argument)
{
    struct help *help = alloc_bytes(sizeof *help);
    help->view = argument;
    text_page_init(&help->page, app, help->view ? "help" : "keymap");
    help_build(app, help);
    return help;
}

static void
help_close(struct app *app, void *state)
{
    (void)app;
    struct help *help = state;
    text_page_release(&help->page);
    free(help);
}

const struct view view_help = {
    .name = "help",
    .context = CONTEXT_VIEW_help,
    .actions = text_page_actions,
    .footer = footer,
    .open = help_open,
    .close = help_close,
    .crumb = text_page_crumb,
    .draw = help_draw,
    .layout = text_page_layout,
};
