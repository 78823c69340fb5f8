#include "settings/values.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include "base/clock.h"
#include "base/text.h"
#include "core/event.h"
#include "core/json/json.h"
#include "settings/conninfo.h"

struct setting_row {
    const char *name;
    enum settings_kind kind;
    size_t offset; // of the member in struct settings
    const char *value;
    int64_t low, high;
    const char *choices;
    const char *help;
};

static const struct setting_row rows[SETTING_ID_COUNT] = {
#define SETTING(part, name, kind, value, low, high, choices, help)                                           \
    {#name, SETTING_##kind, offsetof(struct settings, part.name), value, low, high, choices, help},
#include "settings/settings.def"
#undef SETTING
};

const char *
setting_name(enum setting_id id)
{
    return rows[id].name;
}

const char *
setting_help(enum setting_id id)
{
    return rows[id].help;
}

const char *
setting_built_in(enum setting_id id)
{
    return rows[id].value;
}

enum settings_kind
setting_kind(enum setting_id id)
{
    return rows[id].kind;
}

static void *
member(struct settings *settings, const struct setting_row *row)
{
    return (char *)settings + row->offset;
}

static const void *
member_const(const struct settings *settings, const struct setting_row *row)
{
    return (const char *)settings + row->offset;
}

static const char *
setting_values_keep(struct settings *settings, const char *text)
{
    return arena_text(&settings->arena, bytes_of(text));
}

static bool
flag_parse(const char *value, bool *flag)
{
    static const char *const words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i]) == 0) {
            *flag = i % 2 == 1;
            return true;
        }
    return false;
}

static bool
is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *c = choices; c != NULL && *c != '\0'; c += strspn(c, " ")) {
        size_t word = strcspn(c, " ");
        if (word == len && strncmp(c, value, len) == 0)
            return true;
        c += word;
    }
    return false;
}

static bool
setting_values_refuse(const struct setting_row *row, const char *where, const char *value, struct err *err)
{
    switch (row->kind) {
    case SETTING_FLAG:
        return err_set(err, ERR_USAGE, "%s: %s is on or off, not \"%s\"", where, row->name, value);
    case SETTING_CHOICE:
        return err_set(err, ERR_USAGE, "%s: %s is one of: %s; not \"%s\"", where, row->name, row->choices,
                       value);
    case SETTING_DURATION:
        return err_set(err, ERR_USAGE,
                       "%s: %s is a duration such as 500ms, 2s or 1m, from %gs to %gs, not \"%s\"", where,
                       row->name, (double)row->low / US_PER_SECOND, (double)row->high / US_PER_SECOND, value);
    case SETTING_SIZE:
        return err_set(err, ERR_USAGE, "%s: %s is a size such as 512kB, 256MB or 2GB, not \"%s\"", where,
                       row->name, value);
    case SETTING_COUNT:
        return err_set(err, ERR_USAGE, "%s: %s is a whole number from %" PRId64 " to %" PRId64 ", not \"%s\"",
                       where, row->name, row->low, row->high, value);
    case SETTING_TEXT:
    case SETTING_LINES:
        break;
    }
    return err_set(err, ERR_USAGE, "%s: %s cannot be \"%s\"", where, row->name, value);
}

static bool
check_path(const char *value, const char *where, struct err *err)
{
    struct json_path *path = NULL;
    if (event_letter_column_is(bytes_of(value)))
        return true;
    bool ok = json_path_parse(&path, bytes_of(value), err);
    json_path_destroy(path);
    return ok || err_context(err, "%s: column, character %d", where, err->column);
}

// The texts that are more than texts.
static bool
check_text(enum setting_id id, const char *value, const char *where, struct err *err)
{
    if (id == SETTING_ID_database && conninfo_has_password(value))
        return err_set(
            err, ERR_USAGE,
            "%s: the connection holds a password, which others can read in the process list, in histories "
            "and in logs; use ~/.pgpass, a service file, or -W",
            where);
    if (id == SETTING_ID_key && strcmp(value, "source_id") != 0 && strcmp(value, "event_id") != 0 &&
        strcmp(value, "none") != 0 && strncmp(value, "$.", 2) != 0)
        return err_set(err, ERR_USAGE,
                       "%s: key is source_id, event_id, none, or a path like $.order.id; not \"%s\"", where,
                       value);
    return id != SETTING_ID_column || check_path(value, where, err);
}

static bool
set_text(struct settings *settings, enum setting_id id, const char *value, const char *where, struct err *err)
{
    if (value != NULL && value[0] == '\0')
        value = rows[id].value; // an empty text is the built-in one: how a variable is taken back
    if (value != NULL && !check_text(id, value, where, err))
        return false;
    *(const char **)member(settings, &rows[id]) = value == NULL ? NULL : setting_values_keep(settings, value);
    return true;
}

bool
setting_set(struct settings *settings, enum setting_id id, const char *value, const char *where,
            struct err *err)
{
    const struct setting_row *row = &rows[id];
    int64_t number = 0;
    bool flag = false;
    switch (row->kind) {
    case SETTING_TEXT:
        return set_text(settings, id, value, where, err);
    case SETTING_LINES:
        *(const char **)member(settings, row) = value == NULL ? NULL : setting_values_keep(settings, value);
        return true;
    case SETTING_CHOICE:
        if (!is_choice(row->choices, value))
            return setting_values_refuse(row, where, value, err);
        *(const char **)member(settings, row) = setting_values_keep(settings, value);
        return true;
    case SETTING_FLAG:
        if (!flag_parse(value, &flag))
            return setting_values_refuse(row, where, value, err);
        *(bool *)member(settings, row) = flag;
        return true;
    case SETTING_COUNT:
        if (!text_parse_int(bytes_of(value), &number, NULL) || number < row->low || number > row->high)
            return setting_values_refuse(row, where, value, err);
        break;
    case SETTING_DURATION:
        if (!text_parse_duration(bytes_of(value), &number, NULL) || number < row->low || number > row->high)
            return setting_values_refuse(row, where, value, err);
        break;
    case SETTING_SIZE:
        if (!text_parse_size(bytes_of(value), &number, NULL) || number < row->low || number > row->high)
            return setting_values_refuse(row, where, value, err);
        break;
    }
    *(int64_t *)member(settings, row) = number;
    return true;
}

int
setting_of_name(const char *name)
{
    char word[64];
    if (strlen(name) >= sizeof word)
        return -1;
    size_t len = 0;
    for (; name[len] != '\0'; len++)
        word[len] = name[len] == '-' ? '_' : name[len];
    word[len] = '\0';
    for (int i = 0; i < SETTING_ID_COUNT; i++)
        if (strcmp(rows[i].name, word) == 0)
            return i;
    return -1;
}

static void
print_size(int64_t bytes, struct strbuf *out)
{
    static const char *const units[] = {"", "kB", "MB", "GB"};
    size_t unit = 0;
    for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; unit++)
        bytes /= 1024;
    strbuf_printf(out, "%" PRId64 "%s", bytes, units[unit]);
}

static void
print_duration(int64_t us, struct strbuf *out)
{
    if (us % US_PER_SECOND == 0)
        strbuf_printf(out, "%" PRId64 "s", (int64_t)(us / US_PER_SECOND));
    else
        strbuf_printf(out, "%" PRId64 "ms", us / 1000);
}

void
setting_print(const struct settings *settings, enum setting_id id, struct strbuf *out)
{
    const struct setting_row *row = &rows[id];
    const void *value = member_const(settings, row);
    switch (row->kind) {
    case SETTING_TEXT:
    case SETTING_CHOICE:
    case SETTING_LINES:
        if (*(const char *const *)value != NULL)
            strbuf_add_text(out, *(const char *const *)value);
        return;
    case SETTING_COUNT:
        strbuf_printf(out, "%" PRId64, *(const int64_t *)value);
        return;
    case SETTING_FLAG:
        strbuf_add_text(out, *(const bool *)value ? "on" : "off");
        return;
    case SETTING_SIZE:
        print_size(*(const int64_t *)value, out);
        return;
    case SETTING_DURATION:
        print_duration(*(const int64_t *)value, out);
        return;
    }
}
