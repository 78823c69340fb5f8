// filter: the saved filters; or of one filter how it is read and, with --explain, how it is searched for.
#include "core/filter/filter.h"

#include <inttypes.h>
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "core/filter/saved.h"
#include "core/filter/required_literals.h"
#include "core/filter/pattern.h"
#include "search/prefilter.h"
#include "store/events/events.h"

static const struct output_column saved_columns[] = {{"name", ALIGN_LEFT, 8, 0},
                                                     {"filter", ALIGN_LAST, 0, 0}};
static const struct output_column term_columns[] = {{"term", ALIGN_LEFT, 10, 0},
                                                    {"answered from", ALIGN_LEFT, 13, 0},
                                                    {"every match holds", ALIGN_LAST, 0, 0}};

static bool
list_saved(struct call *call, const struct notes *saved, struct err *err)
{
    struct output_table table;
    bool ok = true;
    table_begin(&table, call, saved_columns, sizeof saved_columns / sizeof *saved_columns);
    for (size_t i = 0; ok && i < saved->count; i++) {
        if (call->options.general.json) {
            struct value *object = value_object();
            value_add_text(object, "name", saved->notes[i].name);
            value_add_text(object, "filter", saved->notes[i].text);
            ok = json_print(object, err);
        } else {
            table_add_text(&table, saved->notes[i].name);
            table_add_text(&table, saved->notes[i].text);
        }
    }
    if (saved->count == 0)
        remark(call, "no saved filters; redrive filter --save NAME FILTER saves one");
    return table_end(&table, err) && ok;
}

static bool
command_filter_parse(const char *text, int64_t now, int64_t zone_us, struct filter **filter, struct err *err)
{
    const struct filter_context context = {.now = now, .zone_us = zone_us, .new_after = TIME_ABSENT};
    return filter_parse(filter, bytes_of(text), &context, err) ||
           err_context(err, "the filter, column %d", err->column);
}

static bool
save(struct call *call, struct notes *saved, const char *text, struct err *err)
{
    struct filter *filter;
    if (!command_filter_parse(text, clock_now(), 0, &filter, err))
        return false;
    filter_destroy(filter);
    return settings_make_state_home(&call->settings, err) &&
           notes_set(saved, call->settings.state_home, FILTER_SAVED_FILE, call->options.command.save, text,
                     err);
}

static const char *
from_words(enum filter_from from)
{
    static const char *const words[] = {[FILTER_FROM_ROW] = "short columns",
                                        [FILTER_FROM_ERROR] = "error message",
                                        [FILTER_FROM_STACK] = "stack trace",
                                        [FILTER_FROM_PAYLOAD] = "payload",
                                        [FILTER_FROM_EVENT] = "redrive's tables"};
    return words[from];
}

static const char *const joins[] = {[JOIN_ALL] = "all of", [JOIN_ANY] = "one of"};

static bool
print_row(struct call *call, struct output_table *table, const struct filter *filter,
          const struct filter_row *row, struct err *err)
{
    bool is_term = row->join == JOIN_NONE;
    const struct pattern *pattern = is_term ? filter_term_pattern(filter, row->term) : NULL;
    struct bytes holds = pattern   ? pattern_holds(pattern)
                         : is_term ? filter_term_exact(filter, row->term)
                                   : BYTES_ABSENT;
    holds = holds.len ? holds : BYTES_ABSENT;
    char name[64];
    snprintf(name, sizeof name, "%s%s", is_term && filter_term_is_inverted(filter, row->term) ? "!" : "",
             is_term ? filter_term_name(filter, row->term) : joins[row->join]);
    const char *from = is_term ? from_words(filter_term_from(filter, row->term)) : NULL;
    if (call->options.general.json) {
        struct value *object = value_object();
        value_add_text(object, "term", name);
        value_add_int(object, "depth", row->depth);
        value_add_text(object, "answered_from", from);
        value_add_bytes(object, "holds", holds);
        return json_print(object, err);
    }
    char indented[TEXT_SHORT + sizeof name];
    snprintf(indented, sizeof indented, "%*s%s", row->depth * 2, "", name);
    table_add_text(table, indented);
    table_add_text(table, from ? from : "");
    table_add(table, holds);
    return true;
}

static bool
print_terms(struct call *call, const struct filter *filter, struct err *err)
{
    struct output_table table;
    struct filter_row row;
    bool ok = true;
    table_begin(&table, call, term_columns, sizeof term_columns / sizeof *term_columns);
    for (size_t i = 0; ok && filter_row(filter, i, &row); i++)
        ok = print_row(call, &table, filter, &row, err);
    return table_end(&table, err) && ok;
}

static bool
print_plan(struct call *call, const struct prefilter *prefilter, int64_t pending, struct err *err)
{
    struct strbuf words = {0};
    double us = prefilter->asks_server ? prefilter->asked_us : prefilter->read_us;
    bool ok;
    if (call->options.general.json) {
        struct value *object = value_object();
        value_add_text(object, "plan",
                       !prefilter->is_usable    ? "rows"
                       : prefilter->asks_server ? prefilter->index[0] ? "index" : "server literal"
                                                : "column");
        struct strbuf literal = {0};
        required_print(strbuf_bytes(&prefilter->required), &literal);
        value_add_bytes(object, "literal", literal.len ? strbuf_bytes(&literal) : BYTES_ABSENT);
        strbuf_release(&literal);
        value_add_text(object, "index", prefilter->index[0] ? prefilter->index : NULL);
        value_add_int(object, "sample", prefilter->sample);
        value_add_real(object, "read_us", prefilter->read_us);
        value_add_real(object, "asked_us", prefilter->asked_us);
        value_add_int(object, "pending", pending);
        ok = json_print(object, err);
    } else {
        char count[TEXT_SHORT];
        strbuf_add_text(&words, "\nby a command: ");
        prefilter_explain(prefilter, &words);
        if (prefilter->sample)
            strbuf_printf(&words, "about %.0f ms for the %s pending events\n", us * (double)pending / 1000,
                          text_count(pending, count));
        strbuf_add_text(
            &words, "\non the screen: short columns and long texts from memory, each distinct text once; a "
                    "row is read only where these do not decide\n");
        struct strbuf visible = {0}; // names of indexes and literals are anybody's
        text_visible(&visible, strbuf_bytes(&words), true);
        ok = output_bytes(strbuf_bytes(&visible), err);
        strbuf_release(&visible);
    }
    strbuf_release(&words);
    return ok;
}

static bool
explain(struct call *call, const char *text, struct err *err)
{
    struct store *store = NULL;
    struct filter *filter = NULL;
    struct prefilter prefilter = {0};
    int64_t now, pending, highest;
    bool ok = command_store(call, STORE_READ, &store, err) && store_now(store, &now, err) &&
              command_filter_parse(text, now, store_info(store)->zone_us, &filter, err) &&
              prefilter_init(&prefilter, store, filter, err) &&
              store_pending_count(store, &pending, &highest, err) && print_terms(call, filter, err) &&
              print_plan(call, &prefilter, pending, err);
    prefilter_release(&prefilter);
    filter_destroy(filter);
    store_close(store);
    return ok;
}

static bool
read_filter(struct call *call, const char *text, struct err *err)
{
    struct filter *filter = NULL;
    if (call->options.command.explain)
        return explain(call, text, err);
    bool ok = command_filter_parse(text, clock_now(), 0, &filter, err) && print_terms(call, filter, err);
    filter_destroy(filter);
    return ok;
}

int
command_filter(struct call *call, struct err *err)
{
    struct notes saved = {0};
    const struct options *options = &call->options;
    const char *text = call->arg_count ? call->args[0] : NULL;
    bool ok = true;
    if (call->arg_count > 1)
        ok = err_set(err, ERR_USAGE,
                     "filter takes one filter; quote it: redrive filter 'timeout topic:orders'");
    else if ((options->command.save || options->command.explain) && !text)
        ok =
            err_set(err, ERR_USAGE, "filter --%s needs a filter", options->command.save ? "save" : "explain");
    else if (options->command.forget && (text || options->command.save))
        ok = err_set(err, ERR_USAGE, "filter --forget takes only the name");
    ok = ok && (!text || choosing_expand(call, &text, err));

    const char *home = call->settings.state_home;
    if (ok && options->command.forget)
        ok = notes_set(&saved, home, FILTER_SAVED_FILE, options->command.forget, NULL, err);
    else if (ok && options->command.save)
        ok = save(call, &saved, text, err);
    else if (ok && text)
        ok = read_filter(call, text, err);
    else if (ok)
        ok = notes_load(&saved, home, FILTER_SAVED_FILE, err) && list_saved(call, &saved, err);
    notes_release(&saved);
    return ok ? STATUS_DONE : command_status(err);
}
