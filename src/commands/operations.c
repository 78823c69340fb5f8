// operations: lists operations, newest first.
#include "store/operations/operations.h"

#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/pages.h"
#include "commands/operation_line.h"

static bool
read_operations(struct store *store, int64_t before, size_t page, struct arena *arena, void **rows,
                size_t *count, struct err *err)
{
    struct operation *found = NULL;
    bool ok = operation_list(store, before, page, arena, &found, count, err);
    *rows = found;
    return ok;
}

static int64_t
operation_number(const void *row)
{
    return ((const struct operation *)row)->no;
}

static bool
print_operation(const void *row, int64_t zone_us, struct err *err)
{
    return json_print(operation_object(row, zone_us), err);
}

static void
add_operation(struct output_table *table, const void *row)
{
    operation_row(table, row);
}

static const int leaves[] = {6, 7, 2, -1}; // rate, created, who
static const struct pages pages = {.columns = operation_line_columns,
                                   .column_count = OPERATION_LINE_COLUMNS,
                                   .leaves = leaves,
                                   .none = "no operations yet",
                                   .page = 200,
                                   .row_size = sizeof(struct operation),
                                   .read = read_operations,
                                   .number = operation_number,
                                   .print_json = print_operation,
                                   .add_row = add_operation};

int
command_operations(struct call *call, struct err *err)
{
    return pages_command(&pages, call, err);
}
