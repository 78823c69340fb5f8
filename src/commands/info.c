// info: versions, files and folders in use.
#include <stdio.h>
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"

static const struct output_column columns[] = {{"what", ALIGN_LEFT, 14, 0}, {"where", ALIGN_LAST, 0, 0}};

static bool
print_row(struct output_table *table, bool is_json, const char *what, const char *where, struct err *err)
{
    if (!is_json) {
        table_add_text(table, what);
        table_add_text(table, where);
        return true;
    }
    struct value *object = value_object();
    value_add_text(object, "what", what);
    value_add_text(object, "where", where);
    return json_print(object, err);
}

int
command_info(struct call *call, struct err *err)
{
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    struct settings *settings = &call->settings;
    bool is_json = call->options.general.json;
    struct output_table table;
    table_begin(&table, call, columns, 2);
    bool ok = print_row(&table, is_json, "version", REDRIVE_VERSION, err) &&
              print_row(&table, is_json, "profile", settings->profile, err) &&
              print_row(&table, is_json, "config folder", settings->config_home, err) &&
              print_row(&table, is_json, "state folder", settings->state_home, err) &&
              print_row(&table, is_json, "shared files", REDRIVE_SHARE, err);
    for (size_t i = 0; ok && i < settings->file_count; i++)
        ok = print_row(&table, is_json, "file read", settings->files[i], err);
    return table_end(&table, err) && ok ? STATUS_DONE : command_status(err);
}
