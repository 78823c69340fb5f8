// The palette: any action by its name, with the key that would have done it; and a few orders of its own.
//
// The line is a prompt of the app's; what it says narrows the list above, whose first row is what Enter does.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/app/app.h"
#include "ui/app/texts.h"
#include "ui/views/care.h"
#include "ui/views/events/events.h"
#include "ui/views/help.h"
#include "ui/views/output.h"
#include "ui/widgets/statusbar.h"

enum { KEYS_SHOWN = 2, WORD_WIDTH = 18, KEYS_WIDTH = 14 };

// The commands of a line that are not words of actions.
struct order {
    const char *word;
    const char *argument; // NULL: none
    const char *help;
    bool (*run)(struct app *app, struct bytes argument, struct err *err);
};

struct match {
    const struct order *order; // or
    enum action action;
    int rank;
};

struct palette {
    const struct view *view; // the one below; NULL: none
    struct match *matches;
    size_t count;
    bool is_typed; // something is on the line
};

static const enum action footer[] = {DO_NONE};

// The palette is closed when these run.

static bool
run_quit(struct app *app, struct bytes argument, struct err *err)
{
    (void)argument;
    (void)err;
    app_perform(app, DO_QUIT);
    return true;
}

static bool
run_theme(struct app *app, struct bytes argument, struct err *err)
{
    struct arena arena = {0};
    bool ok = true;
    if (argument.len)
        ok = app_set_theme(app, arena_text(&arena, argument), err);
    else
        app_perform(app, DO_THEME);
    arena_release(&arena);
    return ok;
}

// What a connection is called in an order; NULL: not at all.
typedef const char *connection_name_fn(const struct app *app, size_t i);

static const char *
profile_of(const struct app *app, size_t i)
{
    const struct app_connections *all = &app_config(app)->connections;
    return all->list[i].of == i ? all->list[i].profile : NULL;
}

static const char *
table_of(const struct app *app, size_t i)
{
    const struct app_connections *all = &app_config(app)->connections;
    return all->list[i].of == all->list[all->current].of ? all->list[i].table : NULL;
}

static bool
connect_to(struct app *app, struct bytes asked, connection_name_fn *name_of, const char *what,
           struct err *err)
{
    size_t most = app_config(app)->connections.count;
    const char **names = arena_array(app_frame(app), most + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < most; i++) {
        if (!name_of(app, i))
            continue;
        names[count++] = name_of(app, i);
        if (bytes_equal_text(asked, name_of(app, i))) {
            app_connect(app, i);
            return true;
        }
    }
    const char *nearest = text_suggest(arena_text(app_frame(app), asked), names, count);
    return err_set(err, ERR_USAGE, "there is no %s \"%.*s\"%s%s%s", what, BYTES_ARGS(asked),
                   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static bool
run_profile(struct app *app, struct bytes argument, struct err *err)
{
    if (argument.len)
        return connect_to(app, argument, profile_of, "profile", err);
    return app_choose_profile(app) || err_set(err, ERR_USAGE, MSG_NO_PROFILES);
}

static bool
run_table(struct app *app, struct bytes argument, struct err *err)
{
    if (argument.len)
        return connect_to(app, argument, table_of, "table", err);
    return app_choose_table(app) || err_set(err, ERR_USAGE, MSG_ONE_TABLE);
}

static bool
run_mark(struct app *app, struct bytes argument, struct err *err)
{
    if (!argument.len)
        return err_set(err, ERR_USAGE, "a mark needs a text: :mark deploy 1.8");
    app_mark(app, argument);
    return true;
}

static bool
run_who(struct app *app, struct bytes argument, struct err *err)
{
    (void)argument;
    (void)err;
    care_show_people(app);
    return true;
}

static bool
run_acknowledge(struct app *app, struct bytes argument, struct err *err)
{
    if (!argument.len)
        return err_set(err, ERR_USAGE, "which alert? :acknowledge NAME; 3 monitor lists them");
    app_alert(app, argument, false, 0);
    return true;
}

// The name of an alert may have blanks: the duration is the last word.
static bool
run_silence(struct app *app, struct bytes argument, struct err *err)
{
    size_t blank = bytes_find_last(argument, BYTES(" "));
    int64_t length;
    if (blank == SIZE_MAX)
        return err_set(err, ERR_USAGE, "a silence needs an alert and a time: :silence NAME 2h; 0 ends it");
    if (!text_parse_duration(bytes_slice(argument, blank + 1, argument.len), &length, err))
        return false;
    app_alert(app, bytes_trim(bytes_slice(argument, 0, blank)), true, length);
    return true;
}

static bool
run_keymap(struct app *app, struct bytes argument, struct err *err)
{
    (void)argument;
    (void)err;
    app_open(app, &view_help, NULL);
    return true;
}

// "912180", "912,180"
static bool
parse_number(struct bytes text, int64_t *number)
{
    char digits[32];
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != ',') {
            if (len == sizeof digits)
                return false;
            digits[len++] = text.data[i];
        }
    return len > 0 && text_parse_int((struct bytes){digits, len}, number, NULL);
}

static bool
run_event(struct app *app, struct bytes argument, struct err *err)
{
    int64_t id;
    if (!parse_number(argument, &id))
        return err_set(err, ERR_USAGE, "an event is opened by its id: :912180");
    app_open(app, &view_event, &(struct event_argument){.id = id});
    return true;
}

static bool
run_operation(struct app *app, struct bytes argument, struct err *err)
{
    int64_t no;
    if (!parse_number(argument, &no))
        return err_set(err, ERR_USAGE, "an operation is opened by its number: :operation 41");
    app_open(app, &view_operation, &no);
    return true;
}

static bool
run_export(struct app *app, struct bytes argument, struct err *err)
{
    return output_export(app, argument, false, err);
}

static bool
run_export_over(struct app *app, struct bytes argument, struct err *err)
{
    return output_export(app, argument, true, err);
}

static const struct order orders[] = {
    {"event", "ID", "open the event with this id; the number alone does it too", run_event},
    {"operation", "N", "open the operation with this number", run_operation},
    {"export", "FILE", "write the selected events, or all of this view, to FILE: .jsonl, .csv or .ids",
     run_export},
    {"export!", "FILE", "the same, and replace a file that is there", run_export_over},
    {"mark", "TEXT", "set a mark on the time axis of every chart, now: \"deploy 1.8\"", run_mark},
    {"who", NULL, "who has a screen open, and on which group", run_who},
    {"silence", "ALERT TIME", "tell nobody that this alert fires for so long: NAME 2h; 0 ends it",
     run_silence},
    {"acknowledge", "ALERT", "say that you are on this alert, until it is over", run_acknowledge},
    {"profile", "[NAME]", "change to the connection of a profile; alone: choose one", run_profile},
    {"table", "[NAME]", "change to another table of dead letters; alone: choose one", run_table},
    {"theme", "NAME", "other colours for this session", run_theme},
    {"keymap", NULL, "show the whole keymap", run_keymap},
    {"q", NULL, "leave", run_quit},
};
enum { ORDERS = sizeof orders / sizeof *orders };

// Does `text` hold `part`, whatever the case? At its beginning?
static bool
holds(const char *text, struct bytes part, bool at_start)
{
    for (const char *at = text; *at; at++) {
        if (strncasecmp(at, part.data, part.len) == 0 && strlen(at) >= part.len)
            return true;
        if (at_start)
            return false;
    }
    return part.len == 0;
}

// 0 is best; -1: no match. Blanks match the hyphens of words.
static int
rank_of(const char *word, const char *help, struct bytes typed)
{
    if (typed.len == strlen(word) && holds(word, typed, true))
        return 0;
    if (holds(word, typed, true))
        return 1;
    if (holds(word, typed, false))
        return 2;
    return holds(help, typed, false) ? 3 : -1;
}

// Decisions and what belongs to the view before what works everywhere, movement last.
static int
place_of(const struct match *match)
{
    if (match->order)
        return 3;
    const struct action_row *row = action_row(match->action);
    if (row->contexts & IN_GLOBAL)
        return 2;
    return row->effect == EFFECT_CHANGES ? 0 : row->effect == EFFECT_MOVES ? 4 : 1;
}

static int
by_rank(const void *left, const void *right)
{
    const struct match *a = left;
    const struct match *b = right;
    if (a->rank != b->rank)
        return a->rank - b->rank;
    if (place_of(a) != place_of(b))
        return place_of(a) - place_of(b);
    return a->order ? (a->order > b->order) - (a->order < b->order) : (int)a->action - (int)b->action;
}

static bool
is_listed(enum action action)
{
    return action != DO_PALETTE &&
           (action_row(action)->contexts & (IN_GLOBAL | IN_LIST | IN_TEXT | IN_STEER)) != 0;
}

static struct bytes
first_word(struct bytes text)
{
    size_t end = bytes_find(text, BYTES(" "), 0);
    return end == SIZE_MAX ? text : bytes_slice(text, 0, end);
}

// The actions and commands that match the line, best first. Actions that the view below does not offer come
// last.
static void
narrow(struct palette *palette, struct bytes text)
{
    struct strbuf hyphened = {0};
    text = bytes_trim(text);
    strbuf_add(&hyphened, text);
    for (size_t i = 0; i < hyphened.len; i++)
        hyphened.data[i] = hyphened.data[i] == ' ' ? '-' : hyphened.data[i];
    palette->count = 0;
    palette->is_typed = text.len > 0;
    for (int i = DO_NONE + 1; i < DO_COUNT; i++) {
        const struct action_row *row = action_row((enum action)i);
        int rank = rank_of(row->word, row->help, strbuf_bytes(&hyphened));
        if (text.len > 0 && bytes_equal_text(text, row->label))
            rank = 0; // the word of the footer, and of a place: "stats"
        if (rank < 0)
            rank = holds(row->help, text, false) ? 3 : -1;
        if (rank >= 0 && is_listed((enum action)i))
            palette->matches[palette->count++] =
                (struct match){.action = (enum action)i,
                               .rank = app_handles(palette->view, (enum action)i) ? rank : rank + 10};
    }
    struct bytes word = first_word(text);
    int64_t number;
    for (int i = 0; i < ORDERS; i++) {
        bool has_argument = word.len < text.len;
        int rank = rank_of(orders[i].word, orders[i].help, word);
        if (has_argument)
            rank = orders[i].argument && bytes_equal_text(word, orders[i].word) ? -1 : -2;
        if (orders[i].run == run_event && parse_number(text, &number))
            rank = 0;
        else if (rank == -2 || (rank == -1 && !has_argument))
            continue;
        palette->matches[palette->count++] = (struct match){.order = &orders[i], .rank = rank};
    }
    qsort(palette->matches, palette->count, sizeof *palette->matches, by_rank);
    strbuf_release(&hyphened);
}

static void
line_changed(struct app *app, void *state, struct bytes text)
{
    (void)app;
    narrow(state, text);
}

static void
line_left(struct app *app, void *state)
{
    (void)state;
    app_back(app);
}

// The palette, and with it `state`, is gone before what was asked for happens: it is about the view below.
static bool
line_accepted(struct app *app, void *state, struct bytes text)
{
    struct palette *palette = state;
    struct err err = {0};
    text = bytes_trim(text);
    if (bytes_starts(text, "\\"))
        text = bytes_slice(text, 1, text.len - 1);
    narrow(palette, text);
    if (text.len == 0) {
        app_back(app);
        return true;
    }
    if (palette->count == 0) {
        err_set(&err, ERR_USAGE, "no action has that name");
        app_prompt_error(app, &err);
        return false;
    }
    struct match match = palette->matches[0];
    struct bytes word = first_word(text);
    struct bytes argument = bytes_trim(bytes_slice(text, word.len, text.len - word.len));
    int64_t number;
    app_back(app);
    if (!match.order)
        app_perform(app, match.action);
    else if (!match.order->run(app, parse_number(text, &number) ? text : argument, &err))
        app_say_err(app, &err);
    return true;
}

static const char *
complete_theme(struct app *app, struct bytes begun, size_t i)
{
    struct strbuf names = {0};
    const char *found = NULL;
    theme_list(&app_config(app)->places, &names);
    struct bytes list = strbuf_bytes(&names);
    for (size_t at = 0; at < list.len && !found;) {
        size_t end = bytes_find(list, BYTES("\n"), at);
        end = end == SIZE_MAX ? list.len : end;
        const char *name = arena_text(app_frame(app), first_word(bytes_slice(list, at, end - at)));
        if (holds(name, begun, true) && i-- == 0)
            found = name;
        at = end + 1;
    }
    strbuf_release(&names);
    return found;
}

static const char *
complete_connection(struct app *app, struct bytes begun, connection_name_fn *name_of, size_t i)
{
    for (size_t at = 0; at < app_config(app)->connections.count; at++)
        if (name_of(app, at) && holds(name_of(app, at), begun, true) && i-- == 0)
            return name_of(app, at);
    return NULL;
}

// Words of actions and orders; the names of themes behind `theme`, and likewise of profiles and tables.
static const char *
complete(struct app *app, void *state, struct bytes text, size_t i)
{
    (void)state;
    struct bytes word = first_word(text);
    struct bytes begun = bytes_trim(bytes_slice(text, word.len, text.len - word.len));
    if (bytes_equal_text(word, "theme") && word.len < text.len)
        return complete_theme(app, begun, i);
    if (bytes_equal_text(word, "profile") && word.len < text.len)
        return complete_connection(app, begun, profile_of, i);
    if (bytes_equal_text(word, "table") && word.len < text.len)
        return complete_connection(app, begun, table_of, i);
    for (int a = DO_NONE + 1; a < DO_COUNT; a++)
        if (is_listed((enum action)a) && holds(action_row((enum action)a)->word, text, true) && i-- == 0)
            return action_row((enum action)a)->word;
    for (int o = 0; o < ORDERS; o++)
        if (holds(orders[o].word, text, true) && i-- == 0)
            return orders[o].word;
    return NULL;
}

static const char *
order_words(const struct order *order, struct arena *arena)
{
    return order->argument ? arena_printf(arena, "%s %s", order->word, order->argument) : order->word;
}

static void
draw_match(const struct app *app, const struct palette *palette, const struct match *match, bool is_first,
           struct canvas *canvas, struct area line)
{
    enum context context = palette->view ? palette->view->context : CONTEXT_GLOBAL;
    struct strbuf keys = {0};
    bool is_here = true;
    const char *word;
    const char *help;
    if (match->order) {
        word = order_words(match->order, app_frame(app));
        help = match->order->help;
    } else {
        word = action_row(match->action)->word;
        help = action_row(match->action)->help;
        is_here = app_handles(palette->view, match->action);
        help_keys(app_keymap(app), context, match->action, KEYS_SHOWN, &keys);
    }
    int col = line.col + 1;
    int end = line.col + line.cols;
    canvas_text(canvas, line.row, col, WORD_WIDTH, bytes_of(word), is_here ? ROLE_STRONG : ROLE_DIM);
    col += WORD_WIDTH + 1;
    canvas_text(canvas, line.row, col, KEYS_WIDTH, strbuf_bytes(&keys), ROLE_FOOTER_KEY);
    col += KEYS_WIDTH + 1;
    canvas_text(canvas, line.row, col, end - col, bytes_of(help), is_here ? ROLE_TEXT : ROLE_DIM);
    if (is_first) {
        canvas_restyle(canvas, (struct area){line.row, line.col + 1, 1, line.cols - 1}, ROLE_CURSOR);
        canvas_glyph(canvas, line.row, line.col, GLYPH_CURSOR, ROLE_CURSOR_MARK);
    }
    strbuf_release(&keys);
}

static void
palette_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    const struct palette *palette = state;
    if (areas->line.rows > 0) {
        int col = areas->line.col + 1;
        int limit = areas->line.col + areas->line.cols;
        chip_draw(canvas, areas->line.row, &col, limit, ROLE_STATUS,
                  bytes_of(arena_printf(app_frame(app), "%zu action%s", palette->count,
                                        palette->count == 1 ? "" : "s")));
        chip_draw(canvas, areas->line.row, &col, limit, ROLE_DIM,
                  BYTES("type to narrow   Tab completes   Enter does the first"));
    }
    if (palette->count == 0)
        canvas_text(canvas, areas->body.row, areas->body.col + 1, areas->body.cols - 2,
                    BYTES("There is no action of that name."), ROLE_TEXT);
    struct area rest = areas->body;
    for (size_t i = 0; i < palette->count && rest.rows > 0; i++)
        draw_match(app, palette, &palette->matches[i], i == 0 && palette->is_typed, canvas,
                   area_take_top(&rest, 1));
}

static bool
palette_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    (void)state;
    if (i > 0)
        return false;
    strbuf_add_text(out, "commands");
    return true;
}

static void *
palette_open(struct app *app, const void *argument)
{
    struct palette *palette = alloc_bytes(sizeof *palette);
    palette->view = argument;
    palette->matches = alloc_array(DO_COUNT + ORDERS, sizeof *palette->matches);
    narrow(palette, BYTES(""));
    app_prompt(app, &(struct prompt_request){
                        .label = ":",
                        .history = "command",
                        .changed = line_changed,
                        .accepted = line_accepted,
                        .cancelled = line_left,
                        .complete = complete,
                    });
    return palette;
}

// The view above was closed, or the operator went to another place and returned: the line is gone, and a
// palette without one is of no use.
static void
palette_shown(struct app *app, void *state)
{
    (void)state;
    app_back(app);
}

static void
palette_close(struct app *app, void *state)
{
    (void)app;
    struct palette *palette = state;
    free(palette->matches);
    free(palette);
}

const struct view view_palette = {
    .name = "palette",
    .context = CONTEXT_VIEW_palette,
    .footer = footer,
    .open = palette_open,
    .close = palette_close,
    .shown = palette_shown,
    .crumb = palette_crumb,
    .draw = palette_draw,
};
