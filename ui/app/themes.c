// Which theme is in force: the one that was named, or the one that suits the terminal's background; and the
// menu of all of them, which shows each on the screen before it is taken.
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "settings/save.h"
#include "ui/app/private.h"
#include "ui/app/texts.h"

enum { NAME = 64, NAMES = 64 };

static void
put_theme(struct app *app, struct theme *theme)
{
    theme_destroy(app->theme.now);
    app->theme.now = theme;
    app->wishes |= WISH_THEME;
    app_redraw(app);
}

bool
app_set_theme(struct app *app, const char *name, struct err *err)
{
    struct theme *theme = theme_load(name, &app->config->places, NULL, err);
    if (!theme)
        return false;
    app->theme.is_chosen = true;
    put_theme(app, theme);
    return true;
}

bool
app_follows_background(const struct app *app)
{
    const char *name = app->config->look.theme;
    return !app->theme.is_chosen && (!name || strcmp(name, THEME_AUTO) == 0);
}

void
app_take_background(struct app *app, bool is_light)
{
    if (!app_follows_background(app))
        return;
    struct theme *theme = theme_load(is_light ? "light" : "dark", &app->config->places, NULL, NULL);
    if (theme)
        put_theme(app, theme);
}

// The names that can be chosen. Returns how many.
static size_t
list_names(struct app *app, char names[NAMES][NAME])
{
    struct strbuf all = {0};
    theme_list(&app->config->places, &all);
    struct bytes list = strbuf_bytes(&all);
    size_t count = 0;
    for (size_t at = 0; at < list.len && count < NAMES;) {
        size_t end = bytes_find(list, BYTES("\n"), at);
        end = end == SIZE_MAX ? list.len : end;
        size_t blank = bytes_find(list, BYTES(" "), at);
        size_t len = (blank < end ? blank : end) - at;
        snprintf(names[count], NAME, "%.*s", (int)len, list.data + at);
        count++;
        at = end + 1;
    }
    strbuf_release(&all);
    return count;
}

static void
show_theme(struct app *app, void *state, size_t index)
{
    char names[NAMES][NAME];
    (void)state;
    struct theme *theme = NULL;
    if (index < list_names(app, names))
        theme = theme_load(names[index], &app->config->places, NULL, NULL);
    if (theme)
        put_theme(app, theme);
}

// The theme on the screen, for the sessions to come.
static void
save_theme(struct app *app)
{
    struct err err = {0};
    const char *name = theme_name(app->theme.now);
    const char *file = arena_printf(&app->picture.frame, "%s/config", app->config->places.config_home);
    const char *by = app->config->look.theme_by;
    app->theme.is_chosen = true;
    if (!setting_save(file, "theme", name, &err))
        app_say_err(app, &err);
    else if (by)
        app_say(app, SAY_WARN, MSG_THEME_SAVED_BUT, name, by, file);
    else
        app_say(app, SAY_OK, MSG_THEME_SAVED, name, file);
}

static void
choose_theme(struct app *app, void *state, size_t index)
{
    char names[NAMES][NAME];
    struct err err = {0};
    (void)state;
    size_t count = list_names(app, names);
    if (index >= count)
        save_theme(app);
    else if (!app_set_theme(app, names[index], &err))
        app_say_err(app, &err);
}

static void
leave_themes(struct app *app, void *state)
{
    (void)state;
    struct theme *theme = theme_load(app->theme.before, &app->config->places, NULL, NULL);
    if (theme)
        put_theme(app, theme);
}

void
app_open_themes(struct app *app)
{
    struct menu_item items[NAMES + 1] = {0};
    char names[NAMES][NAME];
    size_t count = list_names(app, names);
    snprintf(app->theme.before, sizeof app->theme.before, "%s", theme_name(app->theme.now));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct menu_item){.text = names[i],
                                      .is_current = strcmp(names[i], theme_name(app->theme.now)) == 0};
    if (app->config->places.config_home)
        items[count++] = (struct menu_item){.text = MSG_SAVE_THEME, .key = 's'};
    app_menu(app, &(struct menu_request){.title = MSG_THEME_TITLE,
                                         .items = items,
                                         .count = count,
                                         .chosen = choose_theme,
                                         .moved = show_theme,
                                         .left = leave_themes});
}
