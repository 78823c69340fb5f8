// operations: what was asked for, newest first.
#include "store/operations/operations.h"

#include "commands/cli/command.h"
#include "commands/operation_line.h"
#include "commands/cli/output.h"

enum { PAGE = 200 };

static bool
command_operations_print_all(struct call *call, struct store *store, struct err *err)
{
    struct table table;
    operation_table(&table, call);
    int64_t zone_us = store_info(store)->zone_us,
            left = call->options.choice.limit.number > 0 ? call->options.choice.limit.number : INT64_MAX;
    int64_t before = 0;
    bool ok = true;
    for (size_t count = PAGE; ok && count == PAGE && left > 0;) {
        struct arena arena = {0};
        struct operation *operations = NULL;
        ok = operation_list(store, before, PAGE, &arena, &operations, &count, err);
        for (size_t i = 0; ok && i < count && left > 0; i++, left--) {
            before = operations[i].no;
            if (call->options.general.json)
                ok = operation_json(&operations[i], zone_us, err);
            else
                operation_row(&table, &operations[i]);
        }
        ok = ok && table_flush(&table, err);
        arena_release(&arena);
    }
    return table_end(&table, err) && ok;
}

int
command_operations(struct call *call, struct err *err)
{
    struct store *store = NULL;
    bool ok = command_no_args(call, err) && command_store(call, STORE_SCHEMA, &store, err) &&
              command_operations_print_all(call, store, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
