// keys, themes: the keymap in force and the themes there are; the screen's own files, read without a screen.
#include "commands/look.h"

#include "commands/cli/json.h"
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

// An action in one context; nothing where no key does it there.
static bool
print_action(const struct keymap *keymap, enum context context, enum action action, struct err *err)
{
    struct key_sequence sequence;
    if (!keymap_own_keys(keymap, context, action, 0, &sequence))
        return true;
    struct value *object = value_object();
    struct value *keys = value_array();
    value_add_text(object, "context", context_name(context));
    value_add_text(object, "action", action_row(action)->word);
    for (size_t i = 0; keymap_own_keys(keymap, context, action, i, &sequence); i++) {
        struct strbuf text = {0};
        key_print_sequence(&sequence, &text);
        value_add_bytes(keys, NULL, strbuf_bytes(&text));
        strbuf_release(&text);
    }
    value_add(object, "keys", keys);
    value_add_text(object, "help", action_row(action)->help);
    return json_print(object, err);
}

static bool
print_actions(const struct keymap *keymap, struct err *err)
{
    bool ok = true;
    for (int c = 0; c < CONTEXT_COUNT; c++)
        for (int a = DO_NONE + 1; ok && a < DO_COUNT; a++)
            ok = print_action(keymap, (enum context)c, (enum action)a, err);
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
    bool ok =
        call->options.general.json ? print_actions(keymap, err) : output_bytes(strbuf_bytes(&text), err);
    keymap_destroy(keymap);
    strbuf_release(&text);
    return ok ? STATUS_DONE : command_status(err);
}

struct printing {
    const char *in_force;
    bool ok;
    struct err *err;
};

static void
print_theme(void *context, struct bytes name, const char *where)
{
    struct printing *printing = context;
    struct value *object = value_object();
    value_add_bytes(object, "theme", name);
    value_add_text(object, "from", where);
    value_add_bool(object, "in_force", bytes_equal_text(name, printing->in_force));
    printing->ok = json_print(object, printing->err) && printing->ok;
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
    if (call->options.general.json) {
        struct printing printing = {.in_force = theme_name(theme), .ok = true, .err = err};
        source_each(&source_themes, &where, print_theme, &printing);
        theme_destroy(theme);
        return printing.ok ? STATUS_DONE : command_status(err);
    }
    strbuf_printf(&text, "in force: %s (%s)\n\n", theme_name(theme), theme_background(theme));
    theme_list(&where, &text);
    strbuf_add_char(&text, '\n');
    theme_roles(&text);
    bool ok = output_bytes(strbuf_bytes(&text), err);
    theme_destroy(theme);
    strbuf_release(&text);
    return ok ? STATUS_DONE : command_status(err);
}
