#include "commands/choosing.h"

#include <inttypes.h>
#include <string.h>
#include "base/text.h"
#include "commands/cli/interrupt.h"
#include "core/filter/filter.h"
#include "core/filter/saved.h"
#include "store/events/records.h"

static bool
read_status(const char *word, unsigned *statuses, struct err *err)
{
    static const struct {
        const char *word;
        unsigned statuses;
    } rows[] = {
        {"pending", 1u << EVENT_PENDING},
        {"resolved", 1u << EVENT_RESOLVED},
        {"discarded", 1u << EVENT_DISCARDED},
        {"all", 1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED | 1u << EVENT_OTHER}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0) {
            *statuses = rows[i].statuses;
            return true;
        }
    return err_set(err, ERR_USAGE, "--status is pending, resolved, discarded or all, not \"%s\"", word);
}

bool
choosing_expand(struct call *call, const char **filter, struct err *err)
{
    struct notes saved = {0};
    struct strbuf text = {0};
    if (!*filter || !strchr(*filter, '@'))
        return true;
    bool ok = notes_load(&saved, call->settings.state_home, FILTER_SAVED_FILE, err) &&
              filter_expand(bytes_of(*filter), &saved, &text, err);
    if (ok)
        *filter = arena_text(&call->settings.arena, strbuf_bytes(&text));
    strbuf_release(&text);
    notes_release(&saved);
    return ok || err_context(err, "--filter");
}

bool
choosing_read(struct call *call, unsigned otherwise, struct choice *choice, struct err *err)
{
    const struct options *options = &call->options;
    if (!choosing_expand(call, &call->options.choice.filter, err))
        return false;
    *choice = (struct choice){.ids = options->choice.ids.items,
                              .id_count = options->choice.ids.count,
                              .has_ids = options->choice.ids.is_given,
                              .group = options->choice.group,
                              .filter = options->choice.filter,
                              .queue = options->choice.queue,
                              .otherwise = otherwise,
                              .limit = options->choice.limit.number};
    return options->choice.status == NULL || read_status(options->choice.status, &choice->statuses, err);
}

bool
choosing_is_any(const struct call *call)
{
    const struct options *options = &call->options;
    return options->choice.ids.is_given || options->choice.group || options->choice.filter ||
           options->choice.queue || options->choice.status || options->choice.limit.number;
}

void
choosing_describe(const struct call *call, size_t count, struct strbuf *out)
{
    const struct options *options = &call->options;
    char text[TEXT_SHORT];
    strbuf_printf(out, "%s event%s", text_count((int64_t)count, text), count == 1 ? "" : "s");
    if (options->choice.ids.is_given)
        strbuf_printf(out, " by id");
    if (options->choice.group != NULL)
        strbuf_printf(out, " of group %s", options->choice.group);
    if (options->choice.queue != NULL)
        strbuf_printf(out, " of queue %s", options->choice.queue);
    if (options->choice.filter != NULL)
        strbuf_printf(out, " that match%s %s", count == 1 ? "es" : "", options->choice.filter);
    if (options->choice.status != NULL)
        strbuf_printf(out, ", status %s", options->choice.status);
    if (options->choice.limit.number > 0)
        strbuf_printf(out, ", the oldest %" PRId64, options->choice.limit.number);
}

static void
command_choosing_add_ids(struct strbuf *out, const int64_t *ids, size_t count)
{
    enum { SHOWN = 10 };
    for (size_t i = 0; i < count && i < SHOWN; i++)
        strbuf_printf(out, "%s%" PRId64, i > 0 ? ", " : "", ids[i]);
    if (count > SHOWN)
        strbuf_printf(out, " and %zu more", count - SHOWN);
}

bool
choosing_check_known(const struct choose_tally *tally, struct err *err)
{
    if (tally->unknown_count == 0)
        return true;
    struct strbuf ids = {0};
    command_choosing_add_ids(&ids, tally->unknown, tally->unknown_count);
    err_set(err, ERR_NOT_FOUND, "no event has the id %s; nothing was done", strbuf_text(&ids));
    strbuf_release(&ids);
    return false;
}

void
choosing_say_undecided(const struct call *call, const struct choose_tally *tally)
{
    if (tally->undecided_count == 0)
        return;
    struct strbuf ids = {0};
    command_choosing_add_ids(&ids, tally->undecided, tally->undecided_count);
    remark(
        call,
        "left out %zu undecided events: their text cannot be read, or the pattern ran into its match limit "
        "on %s; redrive show says which, or simplify the pattern",
        tally->undecided_count, strbuf_text(&ids));
    strbuf_release(&ids);
}

// Does the filter ask for what only an original record tells? A key has the source id in its place.
static bool
is_of_records(const char *text)
{
    const struct filter_context context = {.new_after = TIME_ABSENT};
    struct filter *filter;
    bool is = false;
    if (!text || !filter_parse(&filter, bytes_of(text), &context, NULL))
        return false;
    for (size_t i = 0; i < filter_terms(filter); i++)
        is = is || (filter_term_needs(filter, i) & EVENT_RAW && !filter_term_is_inverted(filter, i) &&
                    strcmp(filter_term_name(filter, i), "key") != 0);
    filter_destroy(filter);
    return is;
}

void
choosing_say_none(const struct call *call, struct store *store)
{
    struct strbuf words = {0};
    bool has_records = true;
    choosing_describe(call, 0, &words);
    if (!call->options.choice.status)
        strbuf_add_text(&words, "; only pending ones, unless --status or the filter says so");
    if (is_of_records(call->options.choice.filter) && records_exist(store, &has_records, NULL) &&
        !has_records)
        strbuf_add_text(&words, "; no original record is kept, so headers and has:raw match nothing: redrive "
                                "ingest keeps them");
    if (choosing_is_any(call))
        remark(call, "nothing found: %s", strbuf_text(&words));
    else
        remark(call, "no pending events");
    strbuf_release(&words);
}

bool
choosing_tick(void *progress, const struct choose_tally *tally)
{
    progress_show(progress, tally->scanned, 0, NULL);
    return !interrupt_is_set();
}
