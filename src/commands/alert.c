// alert: one alert: show it, silence it for some time, or say that somebody is on it.
#include "core/alerts.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/alert_line.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "store/watch/alerts.h"

static void
alert_add_note(struct strbuf *out, const char *name, const char *word, const struct alert_note *note)
{
    char time[TIME_TEXT];
    struct strbuf text = {0};
    if (note->who)
        strbuf_printf(&text, "%s %s by %s%s%s", word, time_local(note->at, time), note->who,
                      note->reason ? ": " : "", note->reason ? note->reason : "");
    output_field(out, name, strbuf_bytes(&text));
    strbuf_release(&text);
}

static void
alert_describe(const struct alert_row *row, struct strbuf *out)
{
    char time[TIME_TEXT];
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s%s", alert_state_name(row->state),
                  row->state == ALERT_INACTIVE ? "" : " since ",
                  row->state == ALERT_INACTIVE ? "" : time_local(row->since, time));
    output_field(out, "alert", bytes_of(row->rule));
    output_field(out, "state", strbuf_bytes(&text));
    output_field(out, "summary", bytes_of(row->summary));
    strbuf_reset(&text);
    alert_row_add_value(row, row->value, &text);
    output_field(out, "value", strbuf_bytes(&text));
    output_field(out, "condition", bytes_of(row->words));
    output_field(out, "severity", bytes_of(row->severity));
    strbuf_reset(&text);
    for (size_t i = 0; i < row->label_count; i++)
        strbuf_printf(&text, "%s%s=%s", i ? " " : "", row->labels[i].name, row->labels[i].value);
    output_field(out, "labels", strbuf_bytes(&text));
    output_field(out, "first", bytes_of(row->description));
    output_field(out, "runbook", bytes_of(row->runbook));
    alert_add_note(out, "silenced", "until", &row->silence);
    alert_add_note(out, "acknowledged", "at", &row->acknowledgement);
    if (row->resolved_at != TIME_ABSENT)
        output_field(out, "resolved last", bytes_of(time_local(row->resolved_at, time)));
    strbuf_release(&text);
}

// All instances of the rule.
static bool
alert_show(struct call *call, struct store *store, int *status, struct err *err)
{
    struct arena arena = {0};
    struct alert_board board;
    struct strbuf text = {0};
    bool ok = alerts_read(store, &arena, &board, err), is_found = false;
    for (size_t i = 0; ok && i < board.count; i++) {
        const struct alert_row *row = &board.rows[i];
        if (strcmp(row->rule, call->args[0]) != 0)
            continue;
        if (is_found && !call->options.general.json)
            strbuf_add_char(&text, '\n');
        is_found = true;
        if (row->state == ALERT_FIRING)
            *status = STATUS_PART;
        if (call->options.general.json)
            ok = alert_line_json(row, store_info(store)->zone_us, err);
        else
            alert_describe(row, &text);
    }
    ok = ok && (is_found || err_set(err, ERR_NOT_FOUND, "there is no alert \"%s\"; redrive alerts lists them",
                                    call->args[0]));
    ok = ok && output_bytes(strbuf_bytes(&text), err);
    strbuf_release(&text);
    arena_release(&arena);
    return ok;
}

static bool
alert_silence_for(struct call *call, struct store *store, struct err *err)
{
    int64_t length;
    const char *text = call->options.command.length;
    if (!text)
        return err_set(err, ERR_USAGE, "a silence needs a length: redrive alert NAME silence --for 2h");
    if (!text_parse_duration(bytes_of(text), &length, err) ||
        !alert_silence(store, call->args[0], length, call->options.change.reason, err))
        return false;
    if (length > 0)
        remark(call, "%s is silent for %s", call->args[0], text);
    else
        remark(call, "%s is silent no longer", call->args[0]);
    return true;
}

static bool
alert_take(struct call *call, struct store *store, struct err *err)
{
    if (!alert_acknowledge(store, call->args[0], call->options.change.reason, err))
        return false;
    remark(call, "%s acknowledged", call->args[0]);
    return true;
}

int
command_alert(struct call *call, struct err *err)
{
    const char *verb = call->arg_count == 2 ? call->args[1] : NULL;
    bool is_silence = verb && strcmp(verb, "silence") == 0;
    int status = STATUS_DONE;
    if (call->arg_count < 1 || call->arg_count > 2 ||
        (verb && !is_silence && strcmp(verb, "acknowledge") != 0)) {
        err_set(
            err, ERR_USAGE,
            "redrive alert needs a name, and silence or acknowledge behind it; redrive alerts lists names");
        return STATUS_USAGE;
    }
    if (call->options.command.length && !is_silence) {
        err_set(err, ERR_USAGE, "--for goes with silence: redrive alert NAME silence --for 2h");
        return STATUS_USAGE;
    }
    struct store *store = NULL;
    bool ok = command_store(call, verb ? STORE_WRITE : STORE_SCHEMA, &store, err);
    if (ok && !verb)
        ok = alert_show(call, store, &status, err);
    else if (ok)
        ok = is_silence ? alert_silence_for(call, store, err) : alert_take(call, store, err);
    store_close(store);
    return ok ? status : command_status(err);
}
