// The text of a recipe: a line of it in the prompt, and recipes that are kept: in the database or in a file.
#include "ui/views/recipe/state.h"

#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/recipe/texts.h"

enum { LINES_SHOWN = 40, SAVED_SHOWN = 60, BEFORE_SAVED = 3 };

// --- one line ---

static size_t
line_count(struct bytes text)
{
    size_t count = 0;
    for (size_t at = 0; at < text.len; count++) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        at = (end < text.len ? end : text.len) + 1;
    }
    return count;
}

// Line `index` without its end; behind the last one: empty, at the end.
static struct bytes
line_at(struct bytes text, size_t index)
{
    size_t at = 0;
    for (size_t i = 0; i < index && at < text.len; i++) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        at = end < text.len ? end + 1 : text.len;
    }
    size_t end = bytes_find(text, BYTES("\n"), at);
    return bytes_slice(text, at, (end < text.len ? end : text.len) - at);
}

// An empty line is taken away.
static bool
line_given(struct app *app, void *state, struct bytes typed)
{
    struct recipe_view *view = state;
    struct strbuf changed = {0};
    struct bytes text = strbuf_bytes(&view->text);
    size_t count = line_count(text);
    for (size_t i = 0; i <= count; i++) {
        struct bytes line = i == view->line ? bytes_trim(typed) : line_at(text, i);
        if ((i == view->line && line.len == 0) || (i == count && i != view->line))
            continue;
        strbuf_add(&changed, line);
        strbuf_add_char(&changed, '\n');
    }
    view->is_typed |= !bytes_equal(strbuf_bytes(&changed), text);
    recipe_take_text(app, view, strbuf_bytes(&changed), NULL);
    strbuf_release(&changed);
    return true;
}

static void
ask_for_line(struct app *app, struct recipe_view *view, size_t line)
{
    struct bytes now = line_at(strbuf_bytes(&view->text), line);
    view->line = line;
    app_prompt(app, &(struct prompt_request){.label = arena_printf(app_frame(app), "line %zu: ", line + 1),
                                             .text = arena_text(app_frame(app), now),
                                             .history = "recipe",
                                             .accepted = line_given});
}

static void
line_chosen(struct app *app, void *state, size_t index)
{
    ask_for_line(app, state, index);
}

bool
recipe_ask_line(struct app *app, void *state, enum action action)
{
    (void)action;
    struct recipe_view *view = state;
    struct menu_item items[LINES_SHOWN + 1] = {0};
    struct bytes text = strbuf_bytes(&view->text);
    size_t count = line_count(text);
    if (err_is_set(&view->mistake) && view->mistake.line > 0) {
        ask_for_line(app, view, (size_t)view->mistake.line - 1);
        return true;
    }
    if (count == 0) {
        ask_for_line(app, view, 0);
        return true;
    }
    if (count > LINES_SHOWN) {
        app_say(app, SAY_INFO, MSG_TOO_MANY_LINES, (int)LINES_SHOWN);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        items[i].text = arena_printf(app_frame(app), "%2zu  %.*s", i + 1, BYTES_ARGS(line_at(text, i)));
    items[count].key = 'a';
    items[count].text = MSG_ADD_LINE;
    app_menu(app, &(struct menu_request){
                      .title = "Edit", .items = items, .count = count + 1, .chosen = line_chosen});
    return true;
}

// --- saving ---

static const struct saved_recipe *
find_saved(const struct recipe_view *view, const char *name)
{
    for (size_t i = 0; i < view->saved.count; i++)
        if (strcmp(view->saved.list[i].name, name) == 0)
            return &view->saved.list[i];
    return NULL;
}

static bool
is_recipe_name(struct bytes name)
{
    bool ok = name.len > 0 && name.len <= RECIPE_NAME && name.data[0] != '.' && name.data[0] != '-' &&
              name.data[0] != '_';
    for (size_t i = 0; ok && i < name.len; i++)
        ok = name.data[i] &&
             strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", name.data[i]);
    return ok;
}

static bool
reason_given(struct app *app, void *state, struct bytes text)
{
    struct recipe_view *view = state;
    struct err err = {0};
    struct bytes reason = bytes_trim(text);
    if (reason.len == 0 && app_config(app)->decision.reason_required) {
        err_set(&err, ERR_USAGE, MSG_REASON_NEEDED);
        app_prompt_error(app, &err);
        return false;
    }
    struct request *request = request_create(REQUEST_RECIPE_SAVE);
    request->recipe.name = alloc_text(strbuf_text(&view->wanted_name));
    request->recipe.text = view->saved.forgets ? NULL : alloc_text(strbuf_text(&view->text));
    request->reason = reason.len ? strndup(reason.data, reason.len) : NULL;
    view->saved.save_number = app_send(app, request);
    return true;
}

static bool
recipe_name_given(struct app *app, void *state, struct bytes text)
{
    struct recipe_view *view = state;
    struct err err = {0};
    struct bytes name = bytes_trim(text);
    if (!is_recipe_name(name)) {
        err_set(&err, ERR_USAGE, MSG_NAME_WRONG);
        app_prompt_error(app, &err);
        return false;
    }
    strbuf_reset(&view->wanted_name);
    strbuf_add(&view->wanted_name, name);
    view->saved.forgets = false;
    const struct saved_recipe *before = find_saved(view, strbuf_text(&view->wanted_name));
    const char *label =
        before ? arena_printf(app_frame(app), MSG_REPLACES_REASON, before->author) : "reason: ";
    app_prompt_close(app);
    app_prompt(app, &(struct prompt_request){.label = label, .accepted = reason_given});
    return false; // this prompt is closed; the one that is open now stays
}

bool
recipe_ask_name(struct app *app, void *state, enum action action)
{
    (void)action;
    struct recipe_view *view = state;
    const char *why_not = NULL;
    const char *name = strbuf_text(&view->name);
    if (view->text.len == 0)
        app_say(app, SAY_INFO, MSG_NO_TEXT);
    else if (err_is_set(&view->mistake))
        app_say(app, SAY_INFO, MSG_MEND_FIRST);
    else if (!app_can_change(app, &why_not))
        app_say(app, SAY_WARN, "%s", why_not);
    else
        app_prompt(app, &(struct prompt_request){.label = "save as: ",
                                                 .text = is_recipe_name(bytes_of(name)) ? name : NULL,
                                                 .accepted = recipe_name_given});
    return true;
}

// --- what was typed and is not kept ---

const char *
recipe_unsaved(const struct app *app, const void *state)
{
    (void)app;
    const struct recipe_view *view = state;
    return view->is_typed && view->text.len ? MSG_UNSAVED_RECIPE : NULL;
}

static void
typed_chosen(struct app *app, void *state, size_t index)
{
    struct recipe_view *view = state;
    if (index == 0) {
        recipe_ask_name(app, view, DO_SAVE_RECIPE);
        return;
    }
    view->is_typed = false;
    if (view->opens_another)
        recipe_ask_saved(app, view, DO_SAVED_RECIPES);
    else
        app_back(app);
}

static void
ask_about_typed(struct app *app, struct recipe_view *view, bool opens_another)
{
    static const struct menu_item items[] = {{.key = 's', .text = MSG_KEEP, .is_current = true},
                                             {.key = 't', .text = MSG_THROW_AWAY}};
    view->opens_another = opens_another;
    app_menu(app, &(struct menu_request){
                      .title = MSG_NOT_KEPT, .items = items, .count = 2, .chosen = typed_chosen});
}

// --- opening ---

static bool
file_given(struct app *app, void *state, struct bytes text)
{
    struct recipe_view *view = state;
    struct bytes name = bytes_trim(text);
    if (name.len == 0)
        return true;
    struct request *request = request_create(REQUEST_RECIPE_FILE);
    request->recipe.name = strndup(name.data, name.len);
    view->saved.file_number = app_send(app, request);
    return true;
}

static bool
forgotten_name_given(struct app *app, void *state, struct bytes text)
{
    struct recipe_view *view = state;
    struct err err = {0};
    strbuf_reset(&view->wanted_name);
    strbuf_add(&view->wanted_name, bytes_trim(text));
    if (!find_saved(view, strbuf_text(&view->wanted_name))) {
        err_set(&err, ERR_NOT_FOUND, MSG_NO_SUCH_RECIPE, strbuf_text(&view->wanted_name));
        app_prompt_error(app, &err);
        return false;
    }
    view->saved.forgets = true;
    app_prompt_close(app);
    app_prompt(app, &(struct prompt_request){.label = "reason: ", .accepted = reason_given});
    return false; // likewise
}

static const char *
saved_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    (void)app;
    (void)text;
    const struct recipe_view *view = state;
    return i < view->saved.count ? view->saved.list[i].name : NULL;
}

static void
ask_forgotten(struct app *app)
{
    const char *why_not = NULL;
    if (app_can_change(app, &why_not))
        app_prompt(app,
                   &(struct prompt_request){
                       .label = "remove: ", .accepted = forgotten_name_given, .complete = saved_candidate});
    else
        app_say(app, SAY_WARN, "%s", why_not);
}

static void
recipe_saved_chosen(struct app *app, void *state, size_t index)
{
    struct recipe_view *view = state;
    if (index == 0) {
        app_prompt(app,
                   &(struct prompt_request){.label = "file: ", .history = "file", .accepted = file_given});
    } else if (index == 1) {
        view->is_typed = false;
        recipe_take_text(app, view, BYTES(""), "");
        ask_for_line(app, view, 0);
    } else if (index == 2) {
        ask_forgotten(app);
    } else if (index - BEFORE_SAVED < view->saved.count) {
        const struct saved_recipe *saved = &view->saved.list[index - BEFORE_SAVED];
        view->is_typed = false;
        recipe_take_text(app, view, bytes_of(saved->text), saved->name);
    }
}

static void
show_saved(struct app *app, struct recipe_view *view)
{
    struct menu_item items[BEFORE_SAVED + SAVED_SHOWN] = {{.key = 'f', .text = MSG_FROM_FILE},
                                                          {.key = 'n', .text = MSG_NEW_RECIPE},
                                                          {.key = 'r', .text = MSG_REMOVE_RECIPE}};
    size_t count = BEFORE_SAVED;
    view->saved.asks = false;
    for (size_t i = 0; i < view->saved.count && i < SAVED_SHOWN; i++)
        items[count++].text = arena_printf(app_frame(app), "%-20s %s%s%s", view->saved.list[i].name,
                                           view->saved.list[i].author, view->saved.list[i].reason ? ": " : "",
                                           view->saved.list[i].reason ? view->saved.list[i].reason : "");
    app_menu(app, &(struct menu_request){
                      .title = "Recipe", .items = items, .count = count, .chosen = recipe_saved_chosen});
}

void
recipe_saved_ask_list(struct app *app, struct recipe_view *view)
{
    view->saved.list_number = app_send(app, request_create(REQUEST_RECIPES));
}

bool
recipe_ask_saved(struct app *app, void *state, enum action action)
{
    (void)action;
    struct recipe_view *view = state;
    if (recipe_unsaved(app, view)) {
        ask_about_typed(app, view, true);
        return true;
    }
    view->saved.asks = true;
    recipe_saved_ask_list(app, view);
    return true;
}

bool
recipe_leave(struct app *app, void *state, enum action action)
{
    (void)action;
    if (!recipe_unsaved(app, state))
        return false;
    ask_about_typed(app, state, false);
    return true;
}

static void
take_saved(struct recipe_view *view, struct reply *reply)
{
    arena_release(&view->saved.arena);
    arena_adopt(&view->saved.arena, &reply->arena);
    view->saved.list = reply->recipes.list;
    view->saved.count = reply->recipes.count;
}

bool
recipe_saved_receive(struct app *app, struct recipe_view *view, struct reply *reply)
{
    if (!reply->number)
        return false;
    bool is_saved = reply->number == view->saved.save_number;
    bool is_file = reply->number == view->saved.file_number;
    if (!is_saved && !is_file && reply->number != view->saved.list_number)
        return false;
    if (reply->kind != REPLY_RECIPES) {
        app_say_err(app, &reply->err);
        view->saved.asks = false;
    } else if (is_file) {
        view->is_typed = false;
        recipe_take_text(app, view, bytes_of(reply->recipes.list->text), reply->recipes.list->name);
    } else {
        if (is_saved) {
            app_say(app, SAY_OK, "%s", reply->news.sentence);
            strbuf_reset(&view->name);
            view->is_typed &= view->saved.forgets;
            if (!view->saved.forgets)
                strbuf_add_text(&view->name, strbuf_text(&view->wanted_name));
        }
        take_saved(view, reply);
        if (view->saved.asks)
            show_saved(app, view);
    }
    return true;
}
