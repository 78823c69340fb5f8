// audit: who did what, newest first.
#include "store/operations/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/text.h"
#include "commands/audit_line.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/pages.h"

static const struct output_column columns[] = {
    {"at", ALIGN_LEFT, 19, 0},     {"who", ALIGN_LEFT, 8, 20},       {"host", ALIGN_LEFT, 8, 30},
    {"action", ALIGN_LEFT, 10, 0}, {"operation", ALIGN_RIGHT, 0, 0}, {"events", ALIGN_RIGHT, 8, 0},
    {"reason", ALIGN_LAST, 0, 0}};

static bool
command_audit_print_json(const void *from, int64_t zone_us, struct err *err)
{
    return json_print(audit_object(from, zone_us), err);
}

static void
command_audit_add_row(struct output_table *table, const void *from)
{
    const struct audit_row *row = from;
    char number[TEXT_SHORT];
    snprintf(number, sizeof number, "%" PRId64, row->operation);
    table_add_time(table, row->at);
    table_add_text(table, row->who);
    table_add_text(table, row->host);
    table_add_text(table, row->action);
    table_add_text(table, row->operation > 0 ? number : NULL);
    table_add_count(table, row->events);
    struct strbuf why = {0};
    strbuf_printf(&why, "%s%s%s", row->detail ? row->detail : "", row->detail && row->reason ? ": " : "",
                  row->reason ? row->reason : "");
    table_add_text(table, why.len ? strbuf_text(&why) : NULL);
    strbuf_release(&why);
}

static bool
read_audit(struct store *store, int64_t before, size_t page, struct arena *arena, void **rows, size_t *count,
           struct err *err)
{
    struct audit_row *found = NULL;
    const struct audit_query query = {.before = before, .limit = page};
    bool ok = audit_list(store, &query, arena, &found, count, err);
    *rows = found;
    return ok;
}

static int64_t
audit_number(const void *row)
{
    return ((const struct audit_row *)row)->no;
}

static const struct pages pages = {.columns = columns,
                                   .column_count = sizeof columns / sizeof *columns,
                                   .none = "nothing was done yet",
                                   .page = 500,
                                   .row_size = sizeof(struct audit_row),
                                   .read = read_audit,
                                   .number = audit_number,
                                   .print_json = command_audit_print_json,
                                   .add_row = command_audit_add_row};

int
command_audit(struct call *call, struct err *err)
{
    return pages_command(&pages, call, err);
}
