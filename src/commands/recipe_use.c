#include "commands/recipe_use.h"

#include <inttypes.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "commands/whole_file.h"
#include "core/recipe/trial.h"

enum { LOOKED_AT_TWICE = TRIAL_TWICE };

bool
recipe_use_open(struct recipe_use *use, struct call *call, struct err *err)
{
    const char *file = call->options.command.recipe;
    struct correct_limits limits = correcting_limits(call);
    limits.is_forced = call->options.command.force;
    use->call = call;
    if (!whole_file_read(file, &use->text, err) ||
        !corrector_create(&use->corrector, file, strbuf_bytes(&use->text), &limits, err))
        return false;
    corrector_look_twice(use->corrector, LOOKED_AT_TWICE);
    return true;
}

bool
recipe_use_open_check(struct recipe_use *use, struct call *call, struct err *err)
{
    struct correct_limits limits = correcting_limits(call);
    limits.is_forced = call->options.command.force;
    use->call = call;
    return corrector_create_check(&use->corrector, &limits, err);
}

struct trying {
    struct recipe_use *use;
    struct progress_line progress;
    size_t total;
    struct err err;
};

static bool
print_each(const struct correct_result *result, struct err *err)
{
    struct value *object = value_object();
    value_add_int(object, "id", result->id);
    value_add_text(object, "outcome", correct_outcome_name(result->outcome));
    value_add_int_or_null(object, "line", result->line > 0, result->line);
    value_add_text(object, "reason", result->reason);
    value_add_text(object, "departs", result->departs);
    return json_print(object, err);
}

static void
note_barred(struct recipe_use *use, const struct correct_result *result)
{
    if (result->outcome != CORRECT_REFUSED && result->outcome != CORRECT_FAILED)
        return;
    use->barred = alloc_grow(use->barred, use->barred_count, &use->barred_capacity, sizeof *use->barred);
    use->barred[use->barred_count++] = result->id;
    if (!use->why_barred.len)
        strbuf_printf(&use->why_barred, "%s (event %" PRId64 ")",
                      result->reason ? result->reason : "no reason", result->id);
}

static bool
try_page(void *context, const struct correct_result *results, size_t count, size_t read)
{
    struct trying *trying = context;
    const struct options *options = &trying->use->call->options;
    progress_show(&trying->progress, (int64_t)read, (int64_t)trying->total, NULL);
    for (size_t i = 0; i < count; i++)
        note_barred(trying->use, &results[i]);
    for (size_t i = 0; options->command.each && options->general.json && i < count; i++)
        if (!print_each(&results[i], &trying->err))
            return false;
    return !interrupt_is_set();
}

bool
recipe_use_dry_run(struct recipe_use *use, struct store *store, const int64_t *ids, size_t count,
                   struct err *err)
{
    struct broker_settings settings;
    if (!publishing_broker_ready(use->call, &settings, err))
        return false;
    if (broker_settings_present(&settings) && !use->originals.broker &&
        !broker_open(&use->originals.broker, &settings, err))
        return false;
    corrector_set_originals(use->corrector, use->originals.broker ? correcting_find_originals : NULL,
                            &use->originals);
    use->tally = (struct correct_tally){0};
    use->barred_count = 0;
    struct trying trying = {.use = use, .total = count};
    progress_begin(&trying.progress, use->call, "dry run");
    const struct store_settings beside = publishing_store(use->call);
    const struct correct_reading reading = {
        .store = store,
        .beside = use->originals.broker ? NULL : store_create(&beside), // one thread at a time uses a broker
        .ids = ids,
        .count = count,
    };
    bool ok = correct_dry_run(use->corrector, &reading, try_page, &trying, &use->tally, err);
    store_close(reading.beside);
    progress_end(&trying.progress);
    if (!ok && err_is_set(&trying.err))
        *err = trying.err;
    return ok;
}

void
recipe_use_describe(const struct recipe_use *use, struct strbuf *out)
{
    correct_tally_describe(&use->tally, out);
}

struct operation
recipe_use_operation(const struct recipe_use *use, size_t total)
{
    const int64_t *counts = use->tally.counts;
    return (struct operation){
        .action = ACTION_CORRECT,
        .state = OPERATION_STATE_COUNT, // printed as "dry run"
        .total = (int64_t)total,
        .done = counts[CORRECT_CHANGED] + counts[CORRECT_FORCED] + counts[CORRECT_UNCHANGED] +
                counts[CORRECT_NOT_APPLICABLE],
        .refused = counts[CORRECT_INVALID] + counts[CORRECT_FAILED] + counts[CORRECT_REFUSED],
        .skipped = use->tally.gone,
        .recipe = {.unchanged = counts[CORRECT_UNCHANGED],
                   .not_applicable = counts[CORRECT_NOT_APPLICABLE],
                   .refused_by_check = counts[CORRECT_REFUSED],
                   .failed = counts[CORRECT_FAILED],
                   .forced = counts[CORRECT_FORCED],
                   .departs = use->tally.departs,
                   .again = use->tally.again},
    };
}

void
recipe_use_close(struct recipe_use *use)
{
    corrector_destroy(use->corrector);
    broker_close(use->originals.broker);
    strbuf_release(&use->text);
    strbuf_release(&use->why_barred);
    free(use->barred);
}
