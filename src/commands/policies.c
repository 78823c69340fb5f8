// policies: what acts by itself, what it did and when it runs next; or checks a file of policies. Status 1
// where one has halted.
#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/policy_line.h"

static const struct output_column columns[] = {
    {"state", ALIGN_LEFT, 8, 0},     {"policy", ALIGN_LEFT, 12, 30},  {"matched", ALIGN_RIGHT, 7, 0},
    {"acted", ALIGN_RIGHT, 5, 0},    {"returned", ALIGN_RIGHT, 8, 0}, {"last run", ALIGN_LEFT, 19, 0},
    {"next run", ALIGN_LEFT, 19, 0}, {"what", ALIGN_LAST, 0, 0}};

static bool
policies_print(const struct call *call, const struct policy_row *rows, size_t count, struct err *err)
{
    struct output_table table;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct policy_row *row = &rows[i];
        table_add_text(&table, policy_state_name(row->state));
        table_add_text(&table, row->name);
        table_add_count(&table, row->matched);
        table_add_count(&table, row->acted);
        table_add_count(&table, row->returned);
        table_add_time(&table, row->ran_at);
        table_add_time(&table, row->state == POLICY_ENABLED ? row->next_at : TIME_ABSENT);
        table_add_text(&table, row->halted_why ? row->halted_why : row->words);
    }
    return table_end(&table, err);
}

static int
policies_check(struct call *call, struct err *err)
{
    struct policies_file file;
    char count[TEXT_SHORT], enabled[TEXT_SHORT];
    int64_t on = 0;
    if (!policies_file_read(call->arg_count > 0 ? call->args[0] : call->settings.watch.policies, &file, err))
        return command_status(err);
    for (size_t i = 0; i < file.count; i++)
        on += file.policies[i].is_enabled;
    remark(call, "sound: %s policies, %s of them enabled", text_count((int64_t)file.count, count),
           text_count(on, enabled));
    policies_file_release(&file);
    return STATUS_DONE;
}

static bool
policies_show(struct call *call, struct store *store, const struct policies_file *file, int *status,
              struct err *err)
{
    struct arena arena = {0};
    struct policy_row *rows = NULL;
    size_t count = 0;
    bool ok = policy_line_rows(store, file, &arena, &rows, &count, err);
    for (size_t i = 0; ok && i < count; i++)
        if (rows[i].state == POLICY_HALTED)
            *status = STATUS_PART;
    if (ok && call->options.general.json)
        for (size_t i = 0; ok && i < count; i++)
            ok = policy_line_json(&rows[i], store_info(store)->zone_us, err);
    else if (ok)
        ok = policies_print(call, rows, count, err);
    if (ok && count == 0)
        remark(call, "there are no policies; redrive-config(5) tells how to write some");
    arena_release(&arena);
    return ok;
}

int
command_policies(struct call *call, struct err *err)
{
    struct store *store = NULL;
    struct policies_file file = {0};
    int status = STATUS_DONE;
    if (call->options.command.check && call->arg_count < 2)
        return policies_check(call, err);
    bool ok = command_no_args(call, err) && policies_file_read(call->settings.watch.policies, &file, err) &&
              command_store(call, STORE_SCHEMA, &store, err) &&
              policies_show(call, store, &file, &status, err);
    policies_file_release(&file);
    store_close(store);
    return ok ? status : command_status(err);
}
