// runbook: what the team's file says about kinds of errors: all of it, of one group; or is a file sound?
#include "core/runbook.h"

#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "core/event.h"
#include "settings/runbook_file.h"
#include "store/people/people.h"

static const struct output_column columns[] = {{"line", ALIGN_RIGHT, 4, 0}, {"advice", ALIGN_LAST, 0, 0}};

static bool
print_advice_json(const struct advice *advice, struct err *err)
{
    struct value *object = value_object();
    value_add_text(object, "cause", advice->cause);
    value_add_text(object, "first", advice->first);
    value_add_text(object, "link", advice->link);
    value_add_int(object, "line", advice->line);
    return json_print(object, err);
}

static bool
print_advices(struct call *call, const struct advice *const *advices, size_t count, struct err *err)
{
    struct arena arena = {0};
    struct output_table table;
    bool ok = true;
    table_begin(&table, call, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; ok && i < count; i++) {
        if (call->options.general.json) {
            ok = print_advice_json(advices[i], err);
            continue;
        }
        table_add_number(&table, advices[i]->line);
        table_add_text(&table, advice_words(advices[i], &arena));
    }
    ok = table_end(&table, err) && ok;
    arena_release(&arena);
    return ok;
}

static bool
print_all(struct call *call, const struct runbook *runbook, struct err *err)
{
    struct arena arena = {0};
    size_t count = runbook_count(runbook);
    const struct advice **advices = arena_array(&arena, count, sizeof *advices);
    for (size_t i = 0; i < count; i++)
        advices[i] = runbook_at(runbook, i);
    if (count == 0)
        remark(call, "there is no runbook; share/redrive/monitoring/runbook.conf is one to begin with");
    bool ok = print_advices(call, advices, count, err);
    arena_release(&arena);
    return ok;
}

static bool
print_of_group(struct call *call, struct runbook *runbook, struct err *err)
{
    struct store *store = NULL;
    struct arena arena = {0};
    struct runbook_subject subject = {0};
    uint64_t last;
    bool ok = group_parse(bytes_of(call->args[0]), &subject.group, &last) && subject.group == last;
    if (!ok)
        return err_set(err, ERR_USAGE,
                       "\"%s\" is no group's key: its 16 digits are needed, as redrive groups prints them",
                       call->args[0]);
    ok = command_store(call, STORE_SCHEMA, &store, err) &&
         people_subject(store, subject.group, &arena, &subject, err);
    if (ok) {
        const struct advice *advice = runbook_find(runbook, &subject);
        if (!advice)
            remark(call, "the runbook says nothing of group %s", call->args[0]);
        ok = print_advices(call, &advice, advice != NULL, err);
    }
    store_close(store);
    arena_release(&arena);
    return ok;
}

int
command_runbook(struct call *call, struct err *err)
{
    struct runbook *runbook;
    bool is_check = call->options.command.check;
    const char *path = is_check && call->arg_count ? call->args[0] : call->settings.grouping.runbook;
    bool ok = call->arg_count <= 1 || err_set(err, ERR_USAGE, "redrive runbook takes one group, or a file");
    if (!ok || !runbook_file_read(path, &runbook, err))
        return STATUS_USAGE;
    if (is_check)
        remark(call, "sound: %zu cause%s", runbook_count(runbook), runbook_count(runbook) == 1 ? "" : "s");
    else
        ok = call->arg_count ? print_of_group(call, runbook, err) : print_all(call, runbook, err);
    runbook_destroy(runbook);
    return ok ? STATUS_DONE : command_status(err);
}
