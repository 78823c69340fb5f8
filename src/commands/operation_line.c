#include "commands/operation_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "commands/cli/json.h"
#include "core/outcomes.h"

const struct output_column operation_line_columns[OPERATION_LINE_COLUMNS] = {
    {"no", ALIGN_RIGHT, 5, 0},   {"what", ALIGN_LEFT, 9, 0},     {"who", ALIGN_LEFT, 8, 20},
    {"done", ALIGN_RIGHT, 9, 0}, {"of", ALIGN_RIGHT, 9, 0},      {"state", ALIGN_LEFT, 9, 0},
    {"rate", ALIGN_RIGHT, 0, 0}, {"created", ALIGN_LEFT, 19, 0}, {"reason", ALIGN_LAST, 0, 0}};

static bool
has_taken(const struct operation *operation)
{
    return operation->action == ACTION_REPROCESS && operation->state != OPERATION_STATE_COUNT &&
           operation->sent.taken.count >= 0;
}

static void
counts_json(struct value *object, const struct operation *operation)
{
    value_add_int(object, "total", operation->total);
    value_add_int(object, "done", operation->done);
    value_add_int(object, "refused", operation->refused);
    value_add_int(object, "skipped", operation->skipped);
    value_add_int_or_null(object, "taken", has_taken(operation), operation->sent.taken.count);
    value_add_int(object, "returned", operation->returned);
    const struct recipe_counts *recipe = &operation->recipe;
    bool is_check = operation->action == ACTION_REPROCESS && operation->state == OPERATION_STATE_COUNT;
    if (is_check) {
        value_add_int(object, "failed", recipe->failed);
        value_add_int(object, "refused_by_check", recipe->refused_by_check);
        value_add_int(object, "forced", recipe->forced);
    }
    if (operation->action != ACTION_CORRECT)
        return;
    value_add_int(object, "changed", operation->done - recipe->unchanged - recipe->not_applicable);
    value_add_int(object, "unchanged", recipe->unchanged);
    value_add_int(object, "not_applicable", recipe->not_applicable);
    value_add_int(object, "invalid", operation->refused - recipe->refused_by_check - recipe->failed);
    value_add_int(object, "failed", recipe->failed);
    value_add_int(object, "refused_by_check", recipe->refused_by_check);
    value_add_int(object, "forced", recipe->forced);
    if (operation->state != OPERATION_STATE_COUNT)
        return;
    value_add_int(object, "departs", recipe->departs);
    value_add_int(object, "changed_again", recipe->again);
}

// A dry run has no state of its own in core.
static const char *
state_word(const struct operation *operation)
{
    return operation->state == OPERATION_STATE_COUNT ? "dry run" : operation_state_name(operation->state);
}

// "total 5, done 5, refused 0": the counts for people.
static void
counts_text(struct strbuf *line, const struct operation *operation)
{
    const struct recipe_counts *recipe = &operation->recipe;
    const struct {
        const char *name;
        int64_t count;
        bool is_of_recipe, is_of_others;
    } counts[] = {
        {"total", operation->total, true, true},
        {"done", operation->done, false, true},
        {"changed", operation->done - recipe->unchanged - recipe->not_applicable, true, false},
        {"unchanged", recipe->unchanged, true, false},
        {"not applicable", recipe->not_applicable, true, false},
        {"refused", operation->refused, true, true},
        {"refused by the check", recipe->refused_by_check, recipe->refused_by_check > 0, false},
        {"failed", recipe->failed, recipe->failed > 0, false},
        {"forced", recipe->forced, recipe->forced > 0, false},
        {"skipped", operation->skipped, true, true},
        {"taken", operation->sent.taken.count, false, has_taken(operation)},
        {"returned", operation->returned, false, true},
    };
    char text[TEXT_SHORT];
    bool is_recipe = operation->action == ACTION_CORRECT;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (is_recipe ? counts[i].is_of_recipe : counts[i].is_of_others)
            strbuf_printf(line, ", %s %s", counts[i].name, text_count(counts[i].count, text));
}

bool
operation_result(const struct call *call, const struct operation *operation, struct err *err)
{
    if (call->options.general.json) {
        struct value *object = value_object();
        value_add_int_or_null(object, "operation", operation->no > 0, operation->no);
        value_add_text(object, "action", action_name(operation->action));
        value_add_text(object, "state", state_word(operation));
        counts_json(object, operation);
        return json_print(object, err);
    }
    struct strbuf line = {0};
    if (operation->no > 0)
        strbuf_printf(&line, "operation %" PRId64 ": ", operation->no);
    strbuf_printf(&line, "%s %s", action_name(operation->action), state_word(operation));
    counts_text(&line, operation);
    strbuf_add_char(&line, '\n');
    bool ok = output_bytes(strbuf_bytes(&line), err);
    strbuf_release(&line);
    return ok;
}

struct value *
operation_object(const struct operation *operation, int64_t zone_us)
{
    struct arena arena = {0};
    struct value *object = value_object();
    value_add_int(object, "operation", operation->no);
    value_add_text(object, "action", action_name(operation->action));
    value_add_text(object, "state", operation_state_name(operation->state));
    value_add_text(object, "requested_by", operation->requested_by);
    value_add_text(object, "reason", operation->reason);
    value_add_text(object, "note", operation->state_note);
    value_add_text(object, "outcome", outcome_sentence(operation, &arena));
    counts_json(object, operation);
    value_add_int_or_null(object, "rate", operation->rate != RATE_UNLIMITED, operation->rate);
    value_add_time(object, "created_at", operation->created_at, zone_us);
    value_add_time(object, "begins_at", operation->plan.begin.at ? operation->plan.begin.at : TIME_ABSENT,
                   zone_us);
    value_add_time(object, "finished_at", operation->finished_at, zone_us);
    arena_release(&arena);
    return object;
}

void
operation_row(struct output_table *table, const struct operation *operation)
{
    char rate[TEXT_SHORT];
    struct arena arena = {0};
    char begins[BEGIN_TEXT];
    const char *sentence = outcome_sentence(operation, &arena);
    snprintf(rate, sizeof rate, "%" PRId32 "/s", operation->rate);
    table_add_number(table, operation->no);
    table_add_text(table, action_name(operation->action));
    table_add_text(table, operation->requested_by);
    table_add_count(table, operation->done);
    table_add_count(table, operation->total);
    table_add_text(table, sentence ? sentence
                          : operation_begins_later(operation, clock_now())
                              ? arena_printf(&arena, "begins %s",
                                             begin_brief(operation->plan.begin.at, clock_now(), begins))
                              : operation_state_name(operation->state));
    table_add_text(table, operation->rate == RATE_UNLIMITED ? NULL : rate);
    table_add_time(table, operation->created_at);
    table_add_text(table, operation->reason != NULL ? operation->reason : "");
    arena_release(&arena);
}

int
operation_status(const struct operation *operation)
{
    if (operation->state == OPERATION_AWAITING)
        return STATUS_DENIED;
    if (operation->total > 0 && operation->skipped == operation->total)
        return STATUS_NOTHING; // every event belonged to another operation: nothing was left to act on
    if (operation->skipped + operation->refused + operation->in_doubt + operation->returned > 0)
        return STATUS_PART;
    bool is_all_done = operation->state == OPERATION_DONE && operation->done == operation->total;
    if (is_all_done ||
        !operation_state_is_final(operation->state)) // one that still runs has lost nothing so far
        return STATUS_DONE;
    return STATUS_PART;
}

void
operation_unknown_remedy(struct err *err)
{
    static const char known_by[] = "there is no operation ";
    size_t len = strlen(err->text);
    if (err->kind == ERR_NOT_FOUND && strncmp(err->text, known_by, sizeof known_by - 1) == 0)
        snprintf(err->text + len, sizeof err->text - len, "; redrive operations lists them");
}
