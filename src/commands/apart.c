// apart: what sets the chosen events apart from others. One row a question, the one that tells most first;
// counts are of all events.
#include "core/apart/apart.h"

#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/rollup.h"
#include "core/selection.h"
#include "search/apart.h"

struct apart_report {
    const struct call *call;
    struct search_apart search;
    struct apart_answer answer;
    int64_t here, there; // events of the sides; 0: they were not counted
    int64_t zone_us, now;
    struct arena arena;
};

// others, resolved, earlier, earlier:2026-11-20T12:00
static bool
read_against(const char *word, int64_t zone_us, struct apart_sides *sides, struct err *err)
{
    static const char earlier[] = "earlier:";
    if (!word || strcmp(word, "others") == 0)
        return true;
    if (strcmp(word, "resolved") == 0 || strcmp(word, "earlier") == 0) {
        sides->against = *word == 'r' ? APART_RESOLVED : APART_EARLIER;
        return true;
    }
    if (strncmp(word, earlier, sizeof earlier - 1) != 0)
        return err_set(err, ERR_USAGE, "--against is others, resolved, earlier or earlier:TIME, not \"%s\"",
                       word);
    bool is_date;
    int64_t wall;
    if (!time_parse_wall(bytes_of(word + sizeof earlier - 1), &wall, &is_date, err))
        return err_context(err, "--against");
    sides->against = APART_EARLIER;
    sides->moment = wall - zone_us;
    return true;
}

static const char *
against_words(enum apart_against against)
{
    static const char *const words[] = {
        [APART_OTHERS] = "other", [APART_RESOLVED] = "resolved", [APART_EARLIER] = "earlier"};
    return words[against];
}

// --- for programs ---

static bool
print_row_json(const struct apart_report *report, const struct apart_row *row, struct err *err)
{
    const struct apart_question *question = &row->question;
    struct value *object = value_object(), *same = value_array();
    struct strbuf text = {0};
    value_add_text(object, "what", apart_what_name(question->what));
    apart_subject(question, &text);
    value_add_bytes(object, "field", strbuf_bytes(&text));
    strbuf_reset(&text);
    apart_sentence(question, report->now, &text);
    value_add_bytes(object, "where", strbuf_bytes(&text));
    strbuf_reset(&text);
    bool has_filter = apart_filter(question, report->zone_us, &text);
    value_add_bytes(object, "filter", has_filter ? strbuf_bytes(&text) : BYTES_ABSENT);
    value_add_bool(object, "exact", row->is_exact);
    value_add_int(object, "here", row->is_exact ? row->all_here : row->here);
    value_add_int(object, "here_of", row->is_exact ? report->here : report->answer.here);
    value_add_int(object, "there", row->is_exact ? row->all_there : row->there);
    value_add_int(object, "there_of", row->is_exact ? report->there : report->answer.there);
    value_add_real(object, "score", row->score);
    for (size_t i = 0; i < row->same_count && i < APART_SAME; i++)
        value_add_text(same, NULL, row->same[i]);
    value_add(object, "same", same);
    strbuf_release(&text);
    return json_print(object, err);
}

// --- for people ---

static void
add_where(const struct apart_report *report, const struct apart_row *row, struct strbuf *out)
{
    apart_sentence(&row->question, report->now, out);
    for (size_t i = 0; i < row->same_count && i < APART_SAME; i++)
        strbuf_printf(out, "%s%s", i ? ", = " : "   = ", row->same[i]);
}

static bool
print_text(const struct apart_report *report, struct err *err)
{
    static const struct output_column columns[] = {
        {"here", ALIGN_RIGHT, 5, 0}, {"there", ALIGN_RIGHT, 6, 0}, {"where", ALIGN_LAST, 0, 0}};
    const struct apart_answer *answer = &report->answer;
    char here[TEXT_SHORT], there[TEXT_SHORT], read_here[TEXT_SHORT], read_there[TEXT_SHORT],
        share[APART_SHARE];
    struct output_table table;
    struct strbuf where = {0};
    table_begin(&table, report->call, columns, 3);
    for (size_t i = 0; i < answer->row_count; i++) {
        const struct apart_row *row = &answer->rows[i];
        int64_t of_here = row->is_exact ? report->here : answer->here;
        int64_t of_there = row->is_exact ? report->there : answer->there;
        table_add_text(&table, apart_share(row->is_exact ? row->all_here : row->here, of_here, share));
        table_add_text(&table, apart_share(row->is_exact ? row->all_there : row->there, of_there, share));
        strbuf_reset(&where);
        add_where(report, row, &where);
        table_add(&table, strbuf_bytes(&where));
    }
    strbuf_release(&where);
    remark(report->call, "%s events against %s %s events, ranked by a sample of %s and %s",
           text_count(report->here, here), text_count(report->there, there),
           against_words(report->search.sides.against), text_count(answer->here, read_here),
           text_count(answer->there, read_there));
    return table_end(&table, err);
}

static bool
print_rows(const struct apart_report *report, struct err *err)
{
    bool ok = true;
    if (!report->call->options.general.json)
        return print_text(report, err);
    for (size_t i = 0; ok && i < report->answer.row_count; i++)
        ok = print_row_json(report, &report->answer.rows[i], err);
    return ok;
}

// Why there are no rows.
static bool
say_nothing(const struct apart_report *report)
{
    const struct apart_answer *answer = &report->answer;
    const char *others = against_words(report->search.sides.against);
    if (answer->here < APART_LEAST)
        remark(report->call, "only %u event%s chosen: at least %d are needed to compare", answer->here,
               answer->here == 1 ? "" : "s", APART_LEAST);
    else if (answer->there < APART_LEAST)
        remark(report->call,
               "only %u %s event%s to compare with: at least %d are needed; choose fewer events or "
               "another --against",
               answer->there, others, answer->there == 1 ? "" : "s", APART_LEAST);
    else
        remark(report->call, "nothing sets these events apart from the %s events", others);
    return true;
}

static bool
count_rows(struct store *store, struct apart_report *report, struct err *err)
{
    bool ok = true;
    for (size_t from = 0; ok && from < report->answer.row_count; from += APART_COUNTED)
        ok = search_apart_count(store, &report->search, &report->answer, from, &report->here, &report->there,
                                err);
    return ok;
}

static bool
compare(struct store *store, struct apart_report *report, struct err *err)
{
    struct apart *apart = NULL;
    bool ok = search_apart_sample(store, &report->search, &apart, &report->arena, &report->answer, err);
    apart_destroy(apart);
    if (!ok)
        return false;
    if (report->answer.row_count == 0)
        return say_nothing(report);
    return count_rows(store, report, err) && print_rows(report, err);
}

static bool
choose_here(struct call *call, struct store *store, int64_t **ids, size_t *count, struct err *err)
{
    struct choice choice;
    struct choose_tally tally = {0};
    struct progress_line progress;
    if (!choosing_read(call, 1u << EVENT_PENDING, &choice, err))
        return false;
    if (choose_is_counted(store, &choice))
        (void)rollup_find(call, store, &choice.is_counted, NULL);
    progress_begin(&progress, call, "apart");
    bool ok = choose_ids(store, &choice, choosing_tick, &progress, ids, count, &tally, err) &&
              choosing_check_known(&tally, err);
    progress_end(&progress);
    choosing_say_undecided(call, &tally);
    choose_tally_release(&tally);
    if (ok && *count == 0)
        return err_set(err, ERR_NOT_FOUND, "no event was chosen: nothing to compare");
    if (ok)
        *count = ids_normalise(*ids, *count);
    return ok;
}

static bool
apart(struct call *call, struct store *store, struct err *err)
{
    int64_t *ids = NULL;
    size_t count = 0;
    struct apart_report report = {.call = call, .zone_us = store_info(store)->zone_us, .now = clock_now()};
    if (!choosing_is_any(call))
        return err_set(err, ERR_USAGE,
                       "choose the events to compare: --group, --filter, --queue, --status or --id");
    bool ok = read_against(call->options.command.against, report.zone_us, &report.search.sides, err) &&
              choose_here(call, store, &ids, &count, err);
    report.search.sides.ids = ids;
    report.search.sides.id_count = count;
    report.search.rules = call->group_rules;
    if (ok)
        report.search.leaves_out = search_apart_defined(call->options.choice.filter);
    ok = ok && compare(store, &report, err);
    search_apart_release(&report.search);
    arena_release(&report.arena);
    free(ids);
    return ok;
}

int
command_apart(struct call *call, struct err *err)
{
    struct store *store = NULL;
    bool ok =
        command_no_args(call, err) && command_store(call, STORE_READ, &store, err) && apart(call, store, err);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
