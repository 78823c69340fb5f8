// profiles: the profiles of the configuration, the chosen one first, and what each of them is. Connects to
// none.
#include <string.h>
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/screen_connections.h"

static const struct output_column columns[] = {
    {"profile", ALIGN_LEFT, 12, 0}, {"label", ALIGN_LEFT, 8, 0},      {"table", ALIGN_LEFT, 18, 0},
    {"protect", ALIGN_LEFT, 7, 0},  {"changes", ALIGN_LEFT, 9, 0},    {"brokers", ALIGN_LEFT, 10, 32},
    {"from", ALIGN_LEFT, 10, 0},    {"connects to", ALIGN_LAST, 0, 0}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *
place_of(const struct settings *settings, const char *profile)
{
    for (size_t i = 0; i < settings->profile_count; i++)
        if (strcmp(settings->profiles[i].name, profile) == 0)
            return settings->profiles[i].where;
    return NULL;
}

static bool
print_profile(struct output_table *table, bool is_json, const struct settings *settings, bool is_chosen,
              struct err *err)
{
    const char *from = place_of(settings, settings->profile);
    if (!is_json) {
        table_add_text(table, settings->profile);
        table_add_text(table, settings->decision.label);
        table_add_text(table, settings->connection.table);
        table_add_text(table, settings->decision.protect);
        table_add_text(table, settings->connection.read_only ? "read-only" : "allowed");
        table_add_text(table, settings->kafka.brokers);
        table_add_text(table, from);
        table_add_text(table, settings->connection.conninfo);
        return true;
    }
    struct value *object = value_object();
    value_add_text(object, "profile", settings->profile);
    value_add_bool(object, "is_chosen", is_chosen);
    value_add_text(object, "label", settings->decision.label);
    value_add_text(object, "label_color", settings->decision.label_color);
    value_add_text(object, "conninfo", settings->connection.conninfo);
    value_add_text(object, "table", settings->connection.table);
    value_add_text(object, "brokers", settings->kafka.brokers);
    value_add_text(object, "protect", settings->decision.protect);
    value_add_bool(object, "read_only", settings->connection.read_only);
    value_add_text(object, "from", from);
    return json_print(object, err);
}

int
command_profiles(struct call *call, struct err *err)
{
    struct screen_connections connections = {0};
    struct output_table table;
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    table_begin(&table, call, columns, COLUMNS);
    bool ok = screen_connections_read(&connections, call, err);
    for (size_t i = 0; ok && i < connections.count; i++) {
        const struct settings *settings = &connections.list[i]->call->settings;
        if (settings->profile)
            ok = print_profile(&table, call->options.general.json, settings, i == 0, err);
    }
    bool is_written = table_end(&table, err);
    if (ok && call->settings.profile_count == 0)
        remark(call, "no profiles: write profile \"prod\" { service = … } into %s/config",
               call->settings.config_home);
    screen_connections_release(&connections);
    return ok && is_written ? STATUS_DONE : command_status(err);
}
