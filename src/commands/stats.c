// stats: the five analyses of the table of dead letters: what is pending, the most common errors, errors an
// hour over a week, the state of each event type, and the mean time to resolution. And, where it is known how
// much is written to topics, how many of these messages became dead letters.
#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "commands/rollup.h"
#include "commands/stats_trend.h"
#include "rollup/analyses.h"
#include "rollup/reader.h"
#include "store/watch/written.h"

static const int64_t SHARES_OF = 24 * 3600 * US_PER_SECOND;

struct stats_report {
    const struct call *call;
    const struct stats *stats;
    const struct topic_shares *shares; // of the last day
    int64_t zone_us;
};

// --- for people ---

static bool
title(const char *text, bool is_first, struct err *err)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "%s%s\n", is_first ? "" : "\n", text);
    bool ok = output_bytes(strbuf_bytes(&line), err);
    strbuf_release(&line);
    return ok;
}

static bool
pending_text(const struct stats_report *report, struct err *err)
{
    static const struct output_column columns[] = {{"status", ALIGN_LEFT, 10, 0},
                                                   {"events", ALIGN_RIGHT, 12, 0},
                                                   {"oldest", ALIGN_LEFT, 0, 0},
                                                   {"newest", ALIGN_LAST, 0, 0}};
    const struct stats_pending *pending = &report->stats->pending;
    struct stats_state states[STATS_STATES];
    size_t count = stats_states(pending, states);
    struct output_table table;
    table_begin(&table, report->call, columns, 4);
    for (size_t i = 0; i < count; i++) {
        table_add_text(&table, states[i].name);
        table_add_count(&table, states[i].count);
        table_add_time(&table, i == 0 ? pending->oldest_at : TIME_ABSENT);
        table_add_time(&table, i == 0 ? pending->newest_at : TIME_ABSENT);
    }
    return title("Pending events", true, err) && table_end(&table, err);
}

// Groups out of the rollup; without one messages, each by itself, since grouping them would read every event
// to this program. The numbers differ, so each says what it counts.
static bool
is_by_group(const struct stats *stats)
{
    return stats->error_count && stats->errors[0].group;
}

static bool
errors_text(const struct stats_report *report, struct err *err)
{
    static const struct output_column columns[] = {{"events", ALIGN_RIGHT, 10, 0},
                                                   {"first", ALIGN_LEFT, 0, 0},
                                                   {"last", ALIGN_LEFT, 0, 0},
                                                   {"error", ALIGN_LAST, 0, 0}};
    struct output_table table;
    table_begin(&table, report->call, columns, 4);
    for (size_t i = 0; i < report->stats->error_count; i++) {
        const struct stats_error *error = &report->stats->errors[i];
        table_add_count(&table, error->count);
        table_add_time(&table, error->first_at);
        table_add_time(&table, error->last_at);
        table_add_text(&table, error->message);
    }
    const char *heading = is_by_group(report->stats) ? "Most common errors, one per group"
                                                     : "Most common errors, one per message";
    return title(heading, false, err) && table_end(&table, err);
}

// Hours with nothing are left out: what is drawn is where something happened.
static bool
hours_text(const struct stats_report *report, struct err *err)
{
    static const struct output_column columns[] = {
        {"hour", ALIGN_LEFT, 19, 0}, {"errors", ALIGN_RIGHT, 10, 0}, {"", ALIGN_LAST, 0, 0}};
    int64_t most = 1;
    for (size_t i = 0; i < report->stats->hour_count; i++)
        most = report->stats->hours[i].count > most ? report->stats->hours[i].count : most;
    struct output_table table;
    table_begin(&table, report->call, columns, 3);
    for (size_t i = 0; i < report->stats->hour_count; i++) {
        const struct stats_hour *hour = &report->stats->hours[i];
        if (hour->count == 0)
            continue;
        char bar[41];
        int len = (int)((double)hour->count / (double)most * 40.0 + 0.5);
        snprintf(bar, sizeof bar, "%.*s", len, "########################################");
        table_add_time(&table, hour->hour);
        table_add_count(&table, hour->count);
        table_add_text(&table, bar);
    }
    return title("Errors per hour, last 7 days", false, err) && table_end(&table, err);
}

static bool
types_text(const struct stats_report *report, struct err *err)
{
    static const struct output_column columns[] = {{"event type", ALIGN_LEFT, 20, 50},
                                                   {"total", ALIGN_RIGHT, 10, 0},
                                                   {"pending", ALIGN_RIGHT, 10, 0},
                                                   {"resolved", ALIGN_RIGHT, 10, 0}};
    struct output_table table;
    table_begin(&table, report->call, columns, 4);
    for (size_t i = 0; i < report->stats->type_count; i++) {
        const struct stats_type *type = &report->stats->types[i];
        table_add_text(&table, type->event_type);
        table_add_count(&table, type->total);
        table_add_count(&table, type->pending);
        table_add_count(&table, type->resolved);
    }
    return title("Per event type", false, err) && table_end(&table, err);
}

static bool
resolutions_text(const struct stats_report *report, struct err *err)
{
    static const struct output_column columns[] = {{"event type", ALIGN_LEFT, 20, 50},
                                                   {"resolved", ALIGN_RIGHT, 10, 0},
                                                   {"mean time", ALIGN_RIGHT, 10, 0}};
    struct output_table table;
    table_begin(&table, report->call, columns, 3);
    for (size_t i = 0; i < report->stats->resolution_count; i++) {
        const struct stats_resolution *resolution = &report->stats->resolutions[i];
        char mean[TEXT_SHORT];
        table_add_text(&table, resolution->event_type);
        table_add_count(&table, resolution->resolved);
        table_add_text(&table, text_seconds(resolution->mean_seconds, mean));
    }
    return title("Mean time to resolution", false, err) && table_end(&table, err);
}

static bool
shares_text(const struct stats_report *report, struct err *err)
{
    static const struct output_column columns[] = {{"topic", ALIGN_LEFT, 20, 50},
                                                   {"messages", ALIGN_RIGHT, 12, 0},
                                                   {"dead letters", ALIGN_RIGHT, 12, 0},
                                                   {"share", ALIGN_RIGHT, 10, 0},
                                                   {"", ALIGN_LAST, 0, 0}};
    const struct topic_shares *shares = report->shares;
    struct output_table table;
    if (shares->count == 0)
        return title("Dead letters of all messages, last 24h", false, err) &&
               output_bytes(BYTES("It is not known how much is written to topics; run: redrive work\n"), err);
    table_begin(&table, report->call, columns, 5);
    for (size_t i = 0; i < shares->count; i++) {
        const struct topic_share *share = &shares->topics[i];
        struct strbuf percent = {0};
        topic_share_add(share, &percent);
        table_add_text(&table, share->topic);
        if (share->covered > 0) {
            table_add_count(&table, share->written);
            table_add_count(&table, share->arrived);
        } else {
            table_add(&table, BYTES_ABSENT);
            table_add(&table, BYTES_ABSENT);
        }
        table_add_text(&table, strbuf_text(&percent));
        table_add_text(&table, share->note ? share->note : "");
        strbuf_release(&percent);
    }
    return title("Dead letters of all messages, last 24h", false, err) && table_end(&table, err);
}

// --- for programs: one object for each analysis ---

static bool
pending_json(const struct stats_report *report, struct err *err)
{
    const struct stats_pending *pending = &report->stats->pending;
    struct value *object = value_object();
    value_add_text(object, "analysis", "pending");
    value_add_int(object, "pending", pending->pending);
    value_add_int(object, "resolved", pending->resolved);
    value_add_int(object, "discarded", pending->discarded);
    value_add_int(object, "other", pending->other);
    value_add_time(object, "oldest", pending->oldest_at, report->zone_us);
    value_add_time(object, "newest", pending->newest_at, report->zone_us);
    return json_print(object, err);
}

static bool
errors_json(const struct stats_report *report, struct err *err)
{
    struct value *list = value_array();
    for (size_t i = 0; i < report->stats->error_count; i++) {
        const struct stats_error *error = &report->stats->errors[i];
        struct value *row = value_object();
        value_add_text(row, "error_message", error->message);
        if (error->group)
            json_group(row, "group", error->group);
        else
            value_add_text(row, "group", NULL);
        value_add_int(row, "count", error->count);
        value_add_time(row, "first_seen", error->first_at, report->zone_us);
        value_add_time(row, "last_seen", error->last_at, report->zone_us);
        value_add(list, NULL, row);
    }
    struct value *object = value_object();
    value_add_text(object, "analysis", "errors");
    value_add_text(object, "by", is_by_group(report->stats) ? "group" : "message");
    value_add(object, "errors", list);
    return json_print(object, err);
}

static bool
hours_json(const struct stats_report *report, struct err *err)
{
    struct value *list = value_array();
    for (size_t i = 0; i < report->stats->hour_count; i++) {
        struct value *row = value_object();
        value_add_time(row, "hour", report->stats->hours[i].hour, report->zone_us);
        value_add_int(row, "count", report->stats->hours[i].count);
        value_add(list, NULL, row);
    }
    struct value *object = value_object();
    value_add_text(object, "analysis", "errors_per_hour");
    value_add(object, "hours", list);
    return json_print(object, err);
}

static bool
types_json(const struct stats_report *report, struct err *err)
{
    struct value *list = value_array();
    for (size_t i = 0; i < report->stats->type_count; i++) {
        const struct stats_type *type = &report->stats->types[i];
        struct value *row = value_object();
        value_add_text(row, "event_type", type->event_type);
        value_add_int(row, "total", type->total);
        value_add_int(row, "pending", type->pending);
        value_add_int(row, "resolved", type->resolved);
        value_add(list, NULL, row);
    }
    struct value *object = value_object();
    value_add_text(object, "analysis", "event_types");
    value_add(object, "event_types", list);
    return json_print(object, err);
}

static bool
resolutions_json(const struct stats_report *report, struct err *err)
{
    struct value *list = value_array();
    for (size_t i = 0; i < report->stats->resolution_count; i++) {
        const struct stats_resolution *resolution = &report->stats->resolutions[i];
        struct value *row = value_object();
        value_add_text(row, "event_type", resolution->event_type);
        value_add_int(row, "resolved", resolution->resolved);
        value_add_real(row, "mean_seconds", resolution->mean_seconds);
        value_add(list, NULL, row);
    }
    struct value *object = value_object();
    value_add_text(object, "analysis", "resolution_time");
    value_add(object, "event_types", list);
    return json_print(object, err);
}

static void
add_share(struct value *row, const struct topic_share *share)
{
    double percent = topic_share_percent(share);
    value_add_int_or_null(row, "messages", share->covered > 0, share->written);
    value_add_int_or_null(row, "dead_letters", share->covered > 0, share->arrived);
    if (percent < 0)
        value_add_text(row, "share_percent", NULL);
    else
        value_add_real(row, "share_percent", percent);
    value_add_int(row, "known_seconds", share->covered);
}

static bool
shares_json(const struct stats_report *report, struct err *err)
{
    const struct topic_shares *shares = report->shares;
    struct topic_share sum = topic_shares_sum(shares);
    struct value *list = value_array();
    for (size_t i = 0; i < shares->count; i++) {
        struct value *row = value_object();
        value_add_text(row, "topic", shares->topics[i].topic);
        add_share(row, &shares->topics[i]);
        value_add_text(row, "note", shares->topics[i].note);
        value_add(list, NULL, row);
    }
    struct value *object = value_object();
    value_add_text(object, "analysis", "dead_letter_share");
    value_add_int(object, "window_seconds", shares->window / US_PER_SECOND);
    add_share(object, &sum);
    value_add(object, "topics", list);
    return json_print(object, err);
}

typedef bool print_fn(const struct stats_report *report, struct err *err);

static const struct {
    print_fn *text, *json;
} analyses[] = {
    {pending_text, pending_json}, {errors_text, errors_json},           {hours_text, hours_json},
    {types_text, types_json},     {resolutions_text, resolutions_json}, {shares_text, shares_json}};

static struct closed_ahead *
begin_closed(struct store *store, const struct store_settings *keeping)
{
    return rollup_may_be_exact(keeping, store) ? closed_ahead_start(keeping) : NULL;
}

int
command_stats(struct call *call, struct err *err)
{
    struct store *store = NULL;
    if (!command_no_args(call, err) || !command_store(call, STORE_READ, &store, err))
        return command_status(err);
    const char *span = call->options.command.trend;
    if (span) {
        bool is_printed = stats_trend(call, store, bytes_of(span), err);
        store_close(store);
        return is_printed ? STATUS_DONE : command_status(err);
    }
    struct arena arena = {0};
    struct stats stats = {0};
    struct topic_shares shares = {.window = SHARES_OF};
    const struct store_settings keeping = publishing_store(call);
    struct closed_ahead *ahead = begin_closed(store, &keeping);
    // Without the schema the analyses read the table alone.
    bool ok =
        analyses_read(store, rollup_find(call, store, NULL, NULL), ahead, &arena, &stats, err) &&
        (store_info(store)->schema_version == 0 || written_read(store, SHARES_OF, &arena, &shares, err));
    if (ok && stats.error_count && !is_by_group(&stats))
        remark(call, "nobody keeps the counts of groups, so the most common errors are single messages; "
                     "redrive work, redrive watch or a screen keeps them");
    struct stats_report report = {
        .call = call, .stats = &stats, .shares = &shares, .zone_us = store_info(store)->zone_us};
    for (size_t i = 0; ok && i < sizeof analyses / sizeof *analyses; i++)
        ok = call->options.general.json ? analyses[i].json(&report, err) : analyses[i].text(&report, err);
    closed_ahead_stop(ahead);
    arena_release(&arena);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
