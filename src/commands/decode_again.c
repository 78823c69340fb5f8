#include "commands/decode_again.h"

#include <inttypes.h>
#include "base/log.h"
#include "base/text.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "core/recipe/parts.h"
#include "ingest/decode_again.h"

// Behind a count of events; NULL: it is told elsewhere.
static const char *const reasons[] = {
    [AGAIN_CORRECTED] = "somebody corrected them",
    [AGAIN_BUSY] = "they are in an operation that has not ended",
    [AGAIN_SPLIT] = "they would be other events than their further dead letters",
    [AGAIN_TAKEN] = "they would be events that are pending already",
    [AGAIN_REFUSED] = "the table of dead letters refuses them",
    [AGAIN_CLOSED] = "they are not pending any more, or somebody writes them just now",
};

static bool
print_json(const struct decode_again *again, const struct decode_again_counts *counts, struct err *err)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "{\"topic\":\"%s\"", again->topic); // parts_topic_is_legal
    for (enum decode_again_fate i = 0; i < AGAIN_FATES; i++)
        strbuf_printf(&line, ",\"%s\":%" PRId64, decode_again_word(i), counts->of[i]);
    strbuf_printf(&line, ",\"attempts\":%" PRId64 ",\"attempts_split\":%" PRId64, counts->attempts,
                  counts->attempts_split);
    strbuf_printf(&line, ",\"is_dry\":%s}\n", again->is_dry ? "true" : "false");
    bool ok = output_bytes(strbuf_bytes(&line), err);
    strbuf_release(&line);
    return ok;
}

static bool
tell_counts(const struct call *call, const struct decode_again *again,
            const struct decode_again_counts *counts, struct err *err)
{
    char decoded[TEXT_SHORT], unchanged[TEXT_SHORT], left[TEXT_SHORT];
    if (call->options.general.json)
        return print_json(again, counts, err);
    remark(call, "%s %s pending events of %s again; %s are unchanged",
           again->is_dry ? "would decode" : "decoded", text_count(counts->of[AGAIN_DECODED], decoded),
           again->topic, text_count(counts->of[AGAIN_UNCHANGED], unchanged));
    if (counts->attempts > 0)
        remark(call, "%s %s further dead letters of events", again->is_dry ? "would decode" : "decoded",
               text_count(counts->attempts, left));
    if (counts->attempts_split > 0)
        remark(call, "%s further dead letters left out: they would be of other events",
               text_count(counts->attempts_split, left));
    for (int i = AGAIN_CORRECTED; i < AGAIN_FATES; i++)
        if (counts->of[i] > 0)
            remark(call, "%s left out: %s", text_count(counts->of[i], left), reasons[i]);
    return true;
}

static int
status_of(const struct decode_again_counts *counts)
{
    int64_t left = counts->attempts_split;
    for (int i = AGAIN_CORRECTED; i < AGAIN_FATES; i++)
        left += counts->of[i];
    int64_t seen =
        counts->of[AGAIN_DECODED] + counts->of[AGAIN_UNCHANGED] + counts->attempts + counts->attempts_same;
    return interrupt_is_set() ? STATUS_INTERRUPTED
           : left > 0         ? STATUS_PART
           : seen == 0        ? STATUS_NOTHING
                              : STATUS_DONE;
}

int
decode_again(struct call *call, const char *topic, struct err *err)
{
    struct decode_again again = {
        .topic = topic, .is_dry = call->options.change.dry_run, .stop = interrupt_flag()};
    struct decode_again_counts counts;
    struct store *store = NULL;
    log_to(stderr, LOG_WARN, call->options.general.json);
    if (!parts_topic_is_legal(bytes_of(topic))) {
        err_set(err, ERR_USAGE, "%s is no name of a topic: letters, digits, . _ and -, at most 249", topic);
        return STATUS_USAGE;
    }
    again.rules = topic_rules_read(call->settings.publish.consumers, &call->settings.arena, err);
    if (!again.rules || !command_rules(call, err) || !command_store(call, STORE_WRITE, &store, err))
        return command_status(err);
    interrupt_catch();
    bool ok = decode_again_run(store, &again, &counts, err) && tell_counts(call, &again, &counts, err);
    store_close(store);
    return ok ? status_of(&counts) : command_status(err);
}
