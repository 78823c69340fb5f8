#include "commands/cli/command.h"

#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "commands/cli/password.h"
#include "settings/rules_file.h"
#include "core/category.h"
#include "store/schema.h"
#include "store/tables.h"

const struct command commands[] = {
#define COMMAND(name, options, args, help) {#name, options, args, help, command_##name},
#include "commands/commands.def"
#undef COMMAND
};
const size_t command_count = sizeof commands / sizeof *commands;

int
command_status(const struct err *err)
{
    switch (err->kind) {
    case ERR_NONE:
        return STATUS_DONE;
    case ERR_USAGE:
    case ERR_DATA:
        return STATUS_USAGE;
    case ERR_UNREACHABLE:
        return STATUS_UNREACHABLE;
    case ERR_DENIED:
        return STATUS_DENIED;
    case ERR_NOT_FOUND:
        return STATUS_NOTHING;
    case ERR_STOPPED:
        return STATUS_STOPPED;
    case ERR_CANCELLED:
        return STATUS_INTERRUPTED;
    case ERR_CONFLICT:
    case ERR_INTERNAL:
        break;
    }
    return STATUS_PART;
}

bool
command_no_args(const struct call *call, struct err *err)
{
    if (call->arg_count == 0)
        return true;
    return err_set(err, ERR_USAGE, "redrive %s does not know what to do with \"%s\"; see redrive %s --help",
                   call->command->name, call->args[0], call->command->name);
}

bool
command_number(const char *text, const char *what, int64_t *number, struct err *err)
{
    if (text_parse_int(bytes_of(text), number, NULL) && *number > 0)
        return true;
    return err_set(err, ERR_USAGE, "%s is a whole number above 0, not \"%s\"", what, text);
}

bool
command_event_id(const char *text, int64_t *id, struct err *err)
{
    return text_parse_int(bytes_of(text), id, NULL) ||
           err_set(err, ERR_USAGE, "the id of an event is a whole number, not \"%s\"", text);
}

// --- the database ---

struct store_settings
command_store_settings(const struct call *call, enum store_need need)
{
    const struct connection_settings *connection = &call->settings.connection;
    bool is_named = call->settings.origins[SETTING_ID_table].place != PLACE_BUILT_IN;
    bool is_read_only = need == STORE_READ || need == STORE_USUAL;
    return (struct store_settings){
        .conninfo = is_read_only ? connection->read_conninfo : connection->conninfo,
        .table = call->table ? call->table
                 : is_named  ? connection->table
                             : NULL,
        .takes_usual = need == STORE_USUAL,
        .zone = connection->zone,
        .is_read_only = connection->read_only || is_read_only,
        .may_number = !connection->read_only,
        .program = call->command->name,
        .max_replays = call->settings.decision.max_replays,
        .rules = call->rules,
        .group_rules = call->group_rules,
    };
}

static bool
open_once(struct call *call, enum store_need need, struct store **store, struct err *err)
{
    const struct store_settings settings = command_store_settings(call, need);
    return store_open(store, &settings, err);
}

static bool
ask_password(struct call *call, struct err *err)
{
    char password[256];
    if (!password_ask("Password for PostgreSQL: ", password, sizeof password, err))
        return false;
    settings_set_password(&call->settings, password);
    explicit_bzero(password, sizeof password);
    return true;
}

// libpq's words when the server asked and nothing had a password (fe_sendauth in libpq/fe-auth.c).
static bool
wants_password(const struct err *err)
{
    return strstr(err->text, "no password supplied") != NULL;
}

// After a first attempt without one.
static bool
may_ask(const struct call *call, const struct err *err)
{
    const struct connection_settings *connection = &call->settings.connection;
    return wants_password(err) && !connection->no_password && !connection->ask_password &&
           (call->in_is_terminal || call->err_is_terminal);
}

// Is the schema there, and one that this program knows? What is missing is put right by a command, so it is
// wrong usage.
static bool
check_schema(struct store *store, struct err *err)
{
    if (schema_check(store, err))
        return true;
    if (err->kind == ERR_NOT_FOUND)
        err->kind = ERR_USAGE;
    return false;
}

bool
command_rules(struct call *call, struct err *err)
{
    if (call->rules == NULL &&
        (call->rules = category_rules_create(call->settings.grouping.categories, err)) == NULL)
        return err_context(err, "%s", call->settings.origins[SETTING_ID_categories].where);
    return call->group_rules != NULL ||
           rules_file_read(call->settings.grouping.rules, &call->group_rules, err);
}

// Once, however often the call connects.
static bool
ask_before(struct call *call, struct err *err)
{
    if (!call->settings.connection.ask_password)
        return true;
    call->settings.connection.ask_password = false;
    return ask_password(call, err);
}

static bool
may_open(const struct call *call, enum store_need need, struct err *err)
{
    return need != STORE_WRITE || !call->settings.connection.read_only ||
           err_set(err, ERR_DENIED, "redrive %s changes something, and read_only is on (%s)",
                   call->command->name, call->settings.origins[SETTING_ID_read_only].where);
}

// Where it is not what the command needs, the connection is gone.
static bool
keep_if_fit(struct call *call, enum store_need need, struct store **store, struct err *err)
{
    call->table = arena_text(&call->settings.arena, bytes_of(store_info(*store)->table));
    call->settings.connection.table = call->table;
    if ((need != STORE_SCHEMA && need != STORE_WRITE) || check_schema(*store, err))
        return true;
    store_close(*store);
    *store = NULL;
    return false;
}

static bool
find_tables(struct call *call, const char ***tables, size_t *count, struct store **only, struct err *err)
{
    const struct store_settings settings = command_store_settings(call, only ? STORE_WRITE : STORE_READ);
    return store_tables(&settings, &call->settings.arena, tables, count, only, err);
}

bool
command_tables(struct call *call, const char ***tables, size_t *count, struct store **only, struct err *err)
{
    const char *named = command_store_settings(call, STORE_READ).table;
    *tables = arena_array(&call->settings.arena, 1, sizeof **tables);
    *count = named != NULL;
    (*tables)[0] = named;
    if (only)
        *only = NULL;
    if (named)
        return true;
    if (!may_open(call, only ? STORE_WRITE : STORE_READ, err) || !ask_before(call, err))
        return false;
    bool ok = find_tables(call, tables, count, only, err);
    if (!ok && may_ask(call, err)) {
        err_clear(err);
        ok = ask_password(call, err) && find_tables(call, tables, count, only, err);
    }
    return ok && (!only || !*only || keep_if_fit(call, STORE_WRITE, only, err));
}

bool
command_store(struct call *call, enum store_need need, struct store **store, struct err *err)
{
    *store = NULL;
    if (!command_rules(call, err) || !may_open(call, need, err) || !ask_before(call, err))
        return false;
    bool ok = open_once(call, need, store, err);
    if (!ok && may_ask(call, err)) {
        err_clear(err);
        ok = ask_password(call, err) && open_once(call, need, store, err);
    }
    return ok && keep_if_fit(call, need, store, err);
}
