// Says what a change would do: its events, where they go, who reads them.
#include "commands/change_parts.h"

#include <inttypes.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/readers.h"
#include "commands/stale.h"
#include "publish/letters.h"

static void
describe_plan(const struct change *change, struct strbuf *out)
{
    const struct option_count *rate = &change->call->options.reprocess.rate;
    char count[TEXT_SHORT];
    if (rate->is_given && rate->number == 0)
        strbuf_add_text(out, ", paused at first");
    else if (rate->is_given)
        strbuf_printf(out, ", at most %s/s", text_count(rate->number, count));
    if (change->plan.step_count > 0) {
        strbuf_add_text(out, ", in steps of ");
        steps_text(change->plan.steps, change->plan.step_count, out);
    }
    if (change->plan.halts)
        strbuf_printf(out, ", halting above %g%%", change->plan.halt_above);
    if (change->plan.holds)
        strbuf_printf(out, ", while no group lags more than %" PRId64, change->plan.max_lag);
}

static void
describe_begin(const struct change *change, struct strbuf *out)
{
    char text[BEGIN_TEXT];
    if (change->plan.begin.at)
        strbuf_printf(out, "; begins %s", begin_words(change->plan.begin.at, text));
    else if (change->plan.begin.after)
        strbuf_printf(out, "; begins in %s", change->call->options.change.after);
}

// How old the answers are that were not asked for now; of how many topics there is none.
static void
describe_asked(const struct change *change, struct strbuf *out)
{
    const struct preview *preview = &change->preview;
    int64_t now = clock_now(), oldest = now;
    size_t unknown = 0, known = 0;
    char age[TEXT_SHORT];
    for (size_t i = 0; i < preview->topic_count; i++) {
        const struct preview_topic *topic = &preview->topics[i];
        bool is_known = topic->is_asked;
        unknown += !is_known && !topic->refusal;
        known += is_known;
        if (is_known && topic->asked_at < oldest)
            oldest = topic->asked_at;
    }
    if (known && !change->forecast.broker)
        strbuf_printf(out, "; a worker asked Kafka about the topics %s ago", text_age(now - oldest, age));
    if (unknown)
        strbuf_printf(out, "; nobody asked Kafka yet whether %s",
                      unknown == 1 ? "the topic exists" : "they exist");
}

static void
describe_topics(const struct change *change, struct strbuf *out)
{
    enum { MOST = 5 };
    const struct preview *preview = &change->preview;
    char count[TEXT_SHORT];
    int shown = 0;
    for (size_t i = 0; i < preview->topic_count && shown < MOST; i++) {
        if (!preview->topics[i].refusal)
            strbuf_printf(out, "%s%s (%s)", shown++ == 0 ? ", to " : ", ", preview->topics[i].topic,
                          text_count(preview->topics[i].count, count));
    }
    describe_asked(change, out);
    letters_describe(&preview->letters, "; ", out);
    for (size_t i = 0; i < preview->topic_count; i++) {
        if (preview->topics[i].refusal)
            strbuf_printf(out, "; %s will be refused: %s", text_count(preview->topics[i].count, count),
                          preview->topics[i].refusal);
    }
    for (size_t i = 0; i < preview->refused.by_count && i < MOST; i++)
        strbuf_printf(out, "; %s will be refused: %s", text_count(preview->refused.by[i].count, count),
                      preview->refused.by[i].reason);
    if (preview->refused.unmeasured)
        strbuf_printf(out, "; %s were not looked at one by one",
                      text_count(preview->refused.unmeasured, count));
}

void
change_describe(const struct change *change, struct strbuf *out)
{
    const struct preview *preview = &change->preview;
    char count[TEXT_SHORT];
    strbuf_printf(out, "%s ", change_undone(change) ? "revert" : action_name(change->action));
    choosing_describe(change->call, change->count, out);
    if (change_restored(change))
        strbuf_printf(out, " of operation %" PRId64, change_restored(change));
    if (change_undone(change))
        strbuf_printf(out, " to what %s before operation %" PRId64,
                      change->count == 1 ? "it was" : "they were", change_undone(change));
    if (change->call->settings.decision.label != NULL)
        strbuf_printf(out, " on %s", change->call->settings.decision.label);
    if (change->action == ACTION_REPROCESS)
        describe_topics(change, out);
    if (change->action == ACTION_REPROCESS)
        readers_describe(change->call, change->store, change->forecast.broker, preview, out);
    if (!change_sends_corrected(change))
        describe_plan(change, out);
    if (change->action == ACTION_CORRECT && !change_undone(change)) {
        strbuf_add_text(out, ": ");
        recipe_use_describe(&change->recipe, out);
    }
    if (change_sends_corrected(change)) {
        strbuf_add_text(out, "; then reprocess what changed");
        describe_plan(change, out);
    }
    describe_begin(change, out);
    if (preview->closed > 0)
        strbuf_printf(out, "; %s already closed", text_count(preview->closed, count));
    if (preview->overtaken.events > 0)
        strbuf_printf(out, "; %s with newer events of the same key",
                      text_count(preview->overtaken.events, count));
    stale_describe(&change->newer, change->call->options.reprocess.skip_stale, out);
    if (preview->doubled > 0)
        strbuf_printf(out, "; %s with the event id of another", text_count(preview->doubled, count));
    if (preview->repeated > 0)
        strbuf_printf(out, "; %s of a record that is sent already, to be skipped",
                      text_count(preview->repeated, count));
    if (preview->busy > 0)
        strbuf_printf(out, "; %s already in %s, to be skipped", text_count(preview->busy, count),
                      preview->busy_with ? preview->busy_with : "another operation");
}
