// audit: who did what, newest first.
#include "store/operations/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"

enum { PAGE = 500 };

static const struct column columns[] = {{"at", ALIGN_LEFT, 19, 0},        {"who", ALIGN_LEFT, 8, 20},
                                        {"host", ALIGN_LEFT, 8, 30},      {"action", ALIGN_LEFT, 10, 0},
                                        {"operation", ALIGN_RIGHT, 0, 0}, {"events", ALIGN_RIGHT, 8, 0},
                                        {"reason", ALIGN_LAST, 0, 0}};

static bool
command_audit_print_json(const struct audit_row *row, int64_t zone_us, struct err *err)
{
    struct value *object = value_object();
    value_add_time(object, "at", row->at, zone_us);
    value_add_text(object, "who", row->who);
    value_add_text(object, "host", row->host);
    value_add_text(object, "action", row->action);
    json_int_or_null(object, "operation", row->operation > 0, row->operation);
    value_add_int(object, "events", row->events);
    value_add_text(object, "reason", row->reason);
    value_add_text(object, "detail", row->detail);
    return json_print(object, err);
}

static void
command_audit_add_row(struct table *table, const struct audit_row *row)
{
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
command_audit_print_all(struct call *call, struct store *store, struct err *err)
{
    struct table table;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    int64_t zone_us = store_info(store)->zone_us,
            left = call->options.choice.limit.number > 0 ? call->options.choice.limit.number : INT64_MAX;
    int64_t before = 0;
    bool ok = true;
    for (size_t count = PAGE; ok && count == PAGE && left > 0;) {
        struct arena arena = {0};
        struct audit_row *rows = NULL;
        ok = audit_list(store, 0, before, PAGE, &arena, &rows, &count, err);
        for (size_t i = 0; ok && i < count && left > 0; i++, left--) {
            before = rows[i].no;
            if (call->options.general.json)
                ok = command_audit_print_json(&rows[i], zone_us, err);
            else
                command_audit_add_row(&table, &rows[i]);
        }
        ok = ok && table_flush(&table, err);
        arena_release(&arena);
    }
    return table_end(&table, err) && ok;
}

int
command_audit(struct call *call, struct err *err)
{
    struct store *store = NULL;
    bool ok = command_no_args(call, err) && command_store(call, STORE_SCHEMA, &store, err) &&
              command_audit_print_all(call, store, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
