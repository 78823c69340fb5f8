// keys, themes: the keymap in force and the themes there are; the screen's own files, read without a screen.
#include "commands/look.h"

#include "commands/cli/output.h"
#include "ui/keymap/keymap.h"
#include "ui/theme/theme.h"

static struct ui_places
places(const struct call *call)
{
    return (struct ui_places){.config_home = call->settings.config_home, .share = REDRIVE_SHARE};
}

static void
say_warnings(const struct call *call, struct strbuf *warnings)
{
    struct bytes rest = strbuf_bytes(warnings);
    while (rest.len > 0) {
        size_t end = bytes_find(rest, BYTES("\n"), 0);
        struct bytes line = bytes_slice(rest, 0, end);
        remark(call, "%.*s", BYTES_ARGS(line));
        rest = end == SIZE_MAX ? BYTES("") : bytes_slice(rest, end + 1, SIZE_MAX);
    }
    strbuf_release(warnings);
}

static struct keymap *
load_keymap(const struct call *call, const struct ui_places *where, struct err *err)
{
    struct strbuf warnings = {0};
    struct keymap *keymap = keymap_load(call->settings.screen.keymap, where, &warnings, err);
    say_warnings(call, &warnings);
    return keymap;
}

static struct theme *
load_theme(const struct call *call, const struct ui_places *where, struct err *err)
{
    struct strbuf warnings = {0};
    struct theme *theme = theme_load(call->settings.screen.theme, where, &warnings, err);
    say_warnings(call, &warnings);
    return theme;
}

bool
look_check(const struct call *call, struct err *err)
{
    struct ui_places where = places(call);
    struct keymap *keymap = load_keymap(call, &where, err);
    struct theme *theme = keymap != NULL ? load_theme(call, &where, err) : NULL;
    bool ok = theme != NULL;
    keymap_destroy(keymap);
    theme_destroy(theme);
    return ok;
}

int
command_keys(struct call *call, struct err *err)
{
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    struct strbuf text = {0};
    struct ui_places where = places(call);
    struct keymap *keymap = load_keymap(call, &where, err);
    if (keymap == NULL)
        return command_status(err);
    keymap_describe(keymap, &text);
    bool ok = output_bytes(strbuf_bytes(&text), err);
    keymap_destroy(keymap);
    strbuf_release(&text);
    return ok ? STATUS_DONE : command_status(err);
}

int
command_themes(struct call *call, struct err *err)
{
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    struct strbuf text = {0};
    struct ui_places where = places(call);
    struct theme *theme = load_theme(call, &where, err);
    if (theme == NULL)
        return command_status(err);
    strbuf_printf(&text, "in force: %s (%s)\n\n", theme_name(theme), theme_background(theme));
    theme_list(&where, &text);
    strbuf_add_char(&text, '\n');
    theme_roles(&text);
    bool ok = output_bytes(strbuf_bytes(&text), err);
    theme_destroy(theme);
    strbuf_release(&text);
    return ok ? STATUS_DONE : command_status(err);
}
