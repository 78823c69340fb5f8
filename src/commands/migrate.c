// migrate: makes or upgrades the schema redrive; --print for a DBA; --roles for those who use it;
// --with-indexes on the table of dead letters. After a stop: --adopt and --as-copy (migrate_history.h).
#include <string.h>
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/migrate_history.h"
#include "settings/mapping_file.h"
#include "store/events/texts.h"
#include "store/schema.h"

// The database knows whether the table is a further one, whose schema has another name. A DBA may look at the
// SQL before there is any.
static bool
ask_for_schema(struct call *call, struct store **store, struct err *err)
{
    if (command_store(call, STORE_BARE, store, err))
        return true;
    if (err->kind != ERR_UNREACHABLE && err->kind != ERR_DENIED)
        return false;
    remark(call, "no database could be asked, so this is the schema of the first table of a database");
    err_clear(err);
    return true;
}

static int
print_sql(struct call *call, const char *mapping, struct err *err)
{
    struct strbuf sql = {0};
    struct store *store = NULL;
    if (!ask_for_schema(call, &store, err))
        return command_status(err);
    const struct schema_wanted wanted = {.store = store,
                                         .table = call->settings.connection.table,
                                         .zone = call->settings.connection.zone,
                                         .owner = call->options.command.owner,
                                         .mapping = mapping,
                                         .with_roles = call->options.command.roles};
    bool ok = schema_print(&wanted, &sql, err) &&
              (!call->options.command.with_indexes ||
               schema_print_indexes(call->settings.connection.table, &sql, err)) &&
              output_bytes(strbuf_bytes(&sql), err);
    strbuf_release(&sql);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}

static bool
say_result(struct call *call, const struct store *store, const struct schema_result *result, struct err *err)
{
    const char *schema = store_info(store)->schema;
    if (call->options.general.json) {
        struct value *object = value_object();
        value_add_text(object, "schema", schema);
        value_add_text(object, "table", store_info(store)->table);
        value_add_int(object, "from", result->from);
        value_add_int(object, "to", result->to);
        value_add_bool(object, "renewed", result->has_renewed);
        return json_print(object, err);
    }
    if (result->from == result->to && result->has_renewed)
        remark(call, "replaced the functions of the schema %s by those of this program: version %d", schema,
               result->to);
    else if (result->from == result->to)
        remark(call, "the schema %s is up to date: version %d", schema, result->to);
    else if (result->from == 0)
        remark(call, "created the schema %s, version %d", schema, result->to);
    else
        remark(call, "upgraded the schema %s from version %d to %d", schema, result->from, result->to);
    return true;
}

static bool
migrate_roles(struct call *call, struct store *store, struct err *err)
{
    struct strbuf left = {0};
    bool ok = schema_roles(store, call->options.command.roles, &left, err);
    if (ok && call->options.command.roles)
        remark(call, "the roles redrive_viewer, redrive_worker, redrive_operator and redrive_admin exist: "
                     "GRANT redrive_operator TO …;");
    for (const char *line = strbuf_text(&left); ok && *line != '\0'; line = strchr(line, '\n') + 1)
        remark(call, "the owner of %s must still run: %.*s", call->settings.connection.table,
               (int)strcspn(line, "\n"), line);
    strbuf_release(&left);
    return ok;
}

// A schema may be made before its table. A name that was misspelt looks the same, so it is said.
static void
warn_missing_table(struct call *call, struct store *store)
{
    struct err missing = {0};
    int64_t lowest, highest;
    if (!store_id_bounds(store, &lowest, &highest, &missing) && missing.kind == ERR_NOT_FOUND)
        remark(call, "%s", missing.text);
}

static bool
migrate(struct call *call, struct store *store, const char *mapping, struct err *err)
{
    struct schema_result result = {0};
    if (!schema_migrate_mapped(store, call->options.command.owner, mapping, &result, err) ||
        !say_result(call, store, &result, err) || !migrate_roles(call, store, err))
        return false;
    if (store_info(store)->is_copy && !migrate_history_is_asked(call))
        remark(call,
               "this database is another than the one that redrive was installed in, and does not publish; "
               "redrive migrate --adopt goes on with it as the true one, --as-copy makes it one of its own");
    warn_missing_table(call, store);
    if (!call->options.command.with_indexes)
        return true;
    if (!schema_create_indexes(store, err))
        return false;
    remark(call, "the indexes on %s exist", call->settings.connection.table);
    return true;
}

static bool
migrate_table(struct call *call, const char *mapping, struct err *err)
{
    struct store *store = NULL;
    bool is_decision = migrate_history_is_asked(call);
    bool ok = command_store(call, is_decision ? STORE_WRITE : STORE_BARE, &store, err) &&
              (is_decision ? migrate_history_decide(call, store, err) : migrate(call, store, mapping, err));
    store_close(store);
    return ok;
}

static int
migrate_tables(struct call *call, const char *mapping, struct err *err)
{
    const char **tables;
    size_t count;
    if (call->options.command.print)
        return print_sql(call, mapping, err);
    if (call->settings.connection.read_only) {
        err_set(err, ERR_DENIED, "redrive migrate changes the database, and read_only is on (%s)",
                call->settings.origins[SETTING_ID_read_only].where);
        return STATUS_DENIED;
    }
    if (!command_rules(call, err) || !command_tables(call, &tables, &count, NULL, err))
        return command_status(err);
    // An upgrade is for all tables; a decision about a stop is for one.
    bool is_each = count > 1 && !migrate_history_is_asked(call);
    bool ok = is_each || migrate_table(call, mapping, err);
    for (size_t i = 0; ok && is_each && i < count; i++) {
        call->table = tables[i];
        ok = migrate_table(call, NULL, err);
    }
    return ok ? STATUS_DONE : command_status(err);
}

// A mapping is of one table, and that is named: nothing of another program is read by a mistake.
static bool
read_mapping(struct call *call, struct strbuf *mapping, struct err *err)
{
    const char *wanted = call->options.command.mapping;
    if (!wanted)
        return true;
    if (migrate_history_is_asked(call) || call->options.command.with_indexes)
        return err_set(err, ERR_USAGE,
                       "--mapping goes with neither --adopt, --as-copy nor --with-indexes: the "
                       "table is another program's");
    if (!call->settings.connection.table)
        return err_set(err, ERR_USAGE, "--mapping needs --table: the table of the other program");
    return mapping_file_read(wanted, mapping, err);
}

int
command_migrate(struct call *call, struct err *err)
{
    struct strbuf mapping = {0};
    int status = STATUS_USAGE;
    if (command_no_args(call, err) && migrate_history_check(call, err) && read_mapping(call, &mapping, err))
        status = migrate_tables(call, mapping.len > 0 ? strbuf_text(&mapping) : NULL, err);
    strbuf_release(&mapping);
    return status;
}
