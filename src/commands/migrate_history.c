#include "commands/migrate_history.h"

#include <inttypes.h>
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "publish/adopt.h"
#include "store/operations/adoption.h"

bool
migrate_history_is_asked(const struct call *call)
{
    return call->options.command.adopt || call->options.command.as_copy;
}

bool
migrate_history_check(const struct call *call, struct err *err)
{
    const struct options *options = &call->options;
    if (!migrate_history_is_asked(call))
        return (!options->change.yes && !options->change.dry_run && !options->change.reason) ||
               err_set(err, ERR_USAGE, "--yes, --dry-run and --reason belong to --adopt and --as-copy");
    if (options->command.adopt && options->command.as_copy)
        return err_set(err, ERR_USAGE,
                       "give --adopt (this is the true one) or --as-copy (this is a copy), not both");
    if (options->change.yes && options->change.dry_run)
        return err_set(err, ERR_USAGE, "give --yes or --dry-run, not both");
    if (options->change.yes && (!options->change.reason || !options->change.reason[0]))
        return err_set(err, ERR_USAGE, "this decision needs --reason TEXT; the audit keeps it");
    return true;
}

// What is done, or would be.
struct history_result {
    const char *state; // "adopted", "a copy", "dry run"
    int64_t closed_as_sent, cancelled, in_doubt;
};

static bool
say_history(const struct history_result *result, struct err *err)
{
    struct value *object = value_object();
    value_add_text(object, "state", result->state);
    value_add_int(object, "closed_as_sent", result->closed_as_sent);
    value_add_int(object, "cancelled", result->cancelled);
    value_add_int(object, "in_doubt", result->in_doubt);
    return json_print(object, err);
}

// After a dry run that was not asked for: nothing is done without --yes.
static bool
needs_yes(const struct call *call, const char *option, struct err *err)
{
    return call->options.change.dry_run ||
           err_set(err, ERR_DENIED, "nothing was changed; to do it: redrive migrate %s --yes --reason TEXT",
                   option);
}

static bool
say_found(struct call *call, const struct adoption *adoption, bool is_done, struct err *err)
{
    const struct history_result result = {.state = is_done ? "adopted" : "dry run",
                                          .closed_as_sent = (int64_t)adoption->sent_count};
    if (call->options.general.json)
        return say_history(&result, err);
    remark(call, "Kafka's last turn is %" PRId64 ", that of this database %" PRId64, adoption->kafka.no,
           adoption->turn.last.no);
    remark(call, "%zu chunks of Kafka are not known here, found among %" PRId64 " records", adoption->chunks,
           adoption->records);
    remark(call, "%zu open events %s closed as sent", adoption->sent_count, is_done ? "were" : "will be");
    if (is_done)
        remark(call, "this database continues as the true one; start a worker");
    return true;
}

static bool
decide_adopt(struct call *call, struct store *store, struct err *err)
{
    struct broker_settings broker;
    struct adoption adoption = {0};
    bool is_for_real = call->options.change.yes;
    if (!publishing_broker_ready(call, &broker, err))
        return false;
    if (!broker_settings_present(&broker))
        return err_set(err, ERR_USAGE, "what was sent is looked up in Kafka: give -b HOST:PORT");
    int64_t closed = 0;
    const struct plan_settings plan = publishing_plan(call);
    bool ok = adoption_find(store, &broker, &plan, is_for_real, NULL, NULL, &adoption, err) &&
              (!is_for_real || history_adopt(store, adoption.cluster, &adoption.kafka, adoption.slots,
                                             adoption.slot_count, adoption.sent, adoption.sent_count,
                                             call->options.change.reason, &closed, err)) &&
              say_found(call, &adoption, is_for_real, err) &&
              (is_for_real || needs_yes(call, "--adopt", err));
    adoption_release(&adoption);
    return ok;
}

static bool
say_copy(struct call *call, const struct history_counts *counts, bool is_done, struct err *err)
{
    const struct history_result result = {
        .state = is_done ? "a copy" : "dry run", .cancelled = counts->queued, .in_doubt = counts->in_flight};
    if (call->options.general.json)
        return say_history(&result, err);
    remark(call,
           "%" PRId64 " operations with %" PRId64 " queued events %s cancelled; the events stay pending",
           counts->operations, counts->queued, is_done ? "were" : "will be");
    remark(call, "%" PRId64 " chunks with %" PRId64 " events %s in doubt: they are not sent by themselves",
           counts->chunks, counts->in_flight, is_done ? "are" : "will be");
    if (is_done)
        remark(call, "this database is an installation of its own now and may publish");
    return true;
}

static bool
decide_as_copy(struct call *call, struct store *store, struct err *err)
{
    struct history_counts counts;
    bool is_for_real = call->options.change.yes;
    return history_counts(store, &counts, err) &&
           (!is_for_real || history_as_copy(store, call->options.change.reason, err)) &&
           say_copy(call, &counts, is_for_real, err) && (is_for_real || needs_yes(call, "--as-copy", err));
}

bool
migrate_history_decide(struct call *call, struct store *store, struct err *err)
{
    return call->options.command.adopt ? decide_adopt(call, store, err) : decide_as_copy(call, store, err);
}
