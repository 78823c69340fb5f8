// alerts: what fires, and what else is watched; or checks a file of alerts. Status 1 where an alert fires
// that is neither silenced nor acknowledged.
#include "core/alerts.h"

#include <stdio.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/alert_line.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "settings/alerts_file.h"
#include "store/watch/alerts.h"

static const struct output_column columns[] = {{"state", ALIGN_LEFT, 12, 0},   {"since", ALIGN_LEFT, 19, 0},
                                               {"alert", ALIGN_LEFT, 20, 40},  {"value", ALIGN_RIGHT, 10, 0},
                                               {"severity", ALIGN_LEFT, 8, 0}, {"summary", ALIGN_LAST, 0, 0}};

static bool
alerts_print_rows(const struct call *call, const struct alert_board *board, struct err *err)
{
    struct output_table table;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < board->count; i++) {
        const struct alert_row *row = &board->rows[i];
        struct strbuf value = {0};
        alert_row_add_value(row, row->value, &value);
        table_add_text(&table, alert_state_name(row->state));
        table_add_time(&table, row->state == ALERT_INACTIVE ? TIME_ABSENT : row->since);
        table_add_text(&table, row->rule);
        table_add_text(&table, strbuf_text(&value));
        table_add_text(&table, row->severity);
        table_add_text(&table, row->summary ? row->summary : row->words);
        strbuf_release(&value);
    }
    return table_end(&table, err);
}

// What keeps alerts from being told, on standard error.
static void
alerts_remark(const struct call *call, const struct alert_board *board)
{
    char age[TEXT_SHORT], count[TEXT_SHORT];
    if (board->measured_at == TIME_ABSENT)
        remark(call, "no redrive watch has evaluated alerts yet: start one");
    else if (board->as_of - board->measured_at > 2 * 60 * US_PER_SECOND)
        remark(call, "alerts were last evaluated %s ago: is redrive watch running?",
               text_age(board->as_of - board->measured_at, age));
    for (size_t i = 0; i < board->delivery_count; i++) {
        const struct alert_delivery *delivery = &board->deliveries[i];
        if (delivery->error) {
            struct strbuf why = {0};
            text_visible(&why, bytes_of(delivery->error), false);
            remark(call, delivery->waiting == 1 ? "%s: %s notice waits: %s" : "%s: %s notices wait: %s",
                   delivery->name, text_count(delivery->waiting, count), strbuf_text(&why));
            strbuf_release(&why);
        }
        if (delivery->dropped > 0)
            remark(call, "%s: %s dropped so far, because they waited for a day, or behind 1,000 others",
                   delivery->name, text_count(delivery->dropped, count));
    }
}

static int
alerts_check(struct call *call, struct err *err)
{
    struct alerts_file file;
    char rules[TEXT_SHORT], disabled[TEXT_SHORT], destinations[TEXT_SHORT];
    if (!alerts_file_read(call->arg_count > 0 ? call->args[0] : call->settings.watch.alerts, &file, err))
        return command_status(err);
    remark(call, "sound: %s alerts, %s more that are not enabled, %s destinations",
           text_count((int64_t)file.rule_count, rules), text_count((int64_t)file.disabled, disabled),
           text_count((int64_t)file.destination_count, destinations));
    alerts_file_release(&file);
    return STATUS_DONE;
}

int
command_alerts(struct call *call, struct err *err)
{
    struct store *store = NULL;
    if (call->options.command.check && call->arg_count < 2)
        return alerts_check(call, err);
    if (!command_no_args(call, err) || !command_store(call, STORE_SCHEMA, &store, err))
        return command_status(err);
    struct arena arena = {0};
    struct alert_board board;
    bool ok = alerts_read(store, &arena, &board, err);
    if (ok && call->options.general.json)
        for (size_t i = 0; ok && i < board.count; i++)
            ok = alert_line_json(&board.rows[i], store_info(store)->zone_us, err);
    else if (ok)
        ok = alerts_print_rows(call, &board, err);
    if (ok)
        alerts_remark(call, &board);
    int status = !ok ? command_status(err) : alert_board_firing(&board) > 0 ? STATUS_PART : STATUS_DONE;
    arena_release(&arena);
    store_close(store);
    return status;
}
