// report: the review of a stretch of time, for a team's routine; or the evidence of one operation.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/groups_describe.h"
#include "commands/operation_line.h"
#include "commands/report_print.h"
#include "core/backlog/backlog.h"
#include "core/category.h"
#include "core/event.h"
#include "store/report/report.h"
#include "store/watch/written.h"

enum { MOST_GROUPS = 20, MOST_CLASSES = 10 };

struct reporting {
    struct progress_line progress; // first: choosing_tick is given the whole
    struct call *call;
    struct store *store;
    struct report_span span;
    struct backlog *backlog; // what arrived, by group
    struct group_list groups;
    struct arena arena;
    struct report report;
};

// --- what arrived, by category, error and group ---

#define COLUMNS(...)                                                                                         \
    .columns = (const struct report_column[]){__VA_ARGS__},                                                  \
    .column_count = sizeof((const struct report_column[]){__VA_ARGS__}) / sizeof(struct report_column)

static const struct report_part categories_part = {.name = "by_category",
                                                   .title = "Arrived, by category",
                                                   .none = "Nothing arrived.",
                                                   .shape = REPORT_COUNTS,
                                                   COLUMNS({"category", "category", REPORT_TEXT},
                                                           {"events", "events", REPORT_COUNT},
                                                           {"percent", "share", REPORT_PERCENT})};
static const struct report_part classes_part = {
    .name = "error_types",
    .title = "Arrived, by type of error",
    .none = "Nothing arrived.",
    .shape = REPORT_ROWS,
    COLUMNS({"error_class", "type", REPORT_TEXT}, {"events", "events", REPORT_COUNT},
            {"percent", "share", REPORT_PERCENT}, {"groups", "groups", REPORT_COUNT})};
static const struct report_part groups_part = {
    .name = "groups",
    .title = "Arrived, largest groups",
    .none = "Nothing arrived.",
    .shape = REPORT_ROWS,
    COLUMNS({"group", "group", REPORT_TEXT}, {"events", "events", REPORT_COUNT},
            {"percent", "share", REPORT_PERCENT}, {"category", "category", REPORT_TEXT},
            {"last_seen", "last", REPORT_TIME}, {"error", "error", REPORT_TEXT})};
static const struct report_part new_part = {
    .name = "new",
    .title = "Groups seen for the first time",
    .none = "None that the counts of groups know of.",
    .shape = REPORT_ROWS,
    COLUMNS({"group", "group", REPORT_TEXT}, {"events", "events", REPORT_COUNT},
            {"category", "category", REPORT_TEXT}, {"error", "error", REPORT_TEXT})};

static const struct report_part shares_part = {
    .name = "dead_letter_share",
    .title = "Dead letters of all messages, by topic",
    .none = "It is not known how much is written to topics: no worker asks Kafka.",
    .shape = REPORT_ROWS,
    COLUMNS({"topic", "topic", REPORT_TEXT}, {"messages", "messages", REPORT_COUNT},
            {"dead_letters", "dead letters", REPORT_COUNT}, {"percent", "share", REPORT_PERCENT},
            {"known_seconds", "seconds known", REPORT_COUNT}, {"note", "note", REPORT_TEXT})};

static bool
count_event(void *context, const struct event *event)
{
    struct reporting *reporting = context;
    backlog_add(reporting->backlog, event, 1);
    return true;
}

// The span as a filter, in the wall time of the table.
static const char *
span_filter(struct reporting *reporting)
{
    char since[TIME_TEXT], until[TIME_TEXT];
    int64_t zone_us = store_info(reporting->store)->zone_us;
    time_rfc3339(reporting->span.since + zone_us, 0, since);
    time_rfc3339(reporting->span.until + zone_us, 0, until);
    return arena_printf(&reporting->arena, "created:%.*s..%.*s", (int)strlen(since) - 1, since,
                        (int)strlen(until) - 1, until);
}

static bool
count_arrived(struct reporting *reporting, struct err *err)
{
    struct call *call = reporting->call;
    struct choice choice = {.filter = span_filter(reporting), .otherwise = (1u << (EVENT_OTHER + 1)) - 1};
    struct choose_tally tally = {0};
    reporting->backlog = backlog_create();
    progress_begin(&reporting->progress, call, "events");
    bool ok = choose_scan(reporting->store, &choice, EVENT_NARROW | EVENT_GROUP | EVENT_KNOWN, count_event,
                          choosing_tick, reporting, &tally, err) &&
              groups_describe(reporting->store, call->group_rules, reporting->backlog, err);
    progress_end(&reporting->progress);
    choose_tally_release(&tally);
    if (ok)
        backlog_groups(reporting->backlog, PIVOT_ERROR, NULL, reporting->span.until, &reporting->arena,
                       &reporting->groups);
    return ok;
}

static int64_t
arrived_events(const struct reporting *reporting)
{
    int64_t events = 0;
    for (size_t i = 0; i < reporting->groups.count; i++)
        events += reporting->groups.groups[i].count;
    return events;
}

// Most events first.
struct share {
    const char *name;
    int64_t events, groups;
};

static int
by_events(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->events != b->events)
        return a->events < b->events ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void
add_share(struct share *shares, size_t *count, const char *name, int64_t events)
{
    size_t i = 0;
    while (i < *count && strcmp(shares[i].name, name) != 0)
        i++;
    if (i == *count)
        shares[(*count)++] = (struct share){.name = name};
    shares[i].events += events;
    shares[i].groups++;
}

static void
add_categories(struct reporting *reporting)
{
    struct share shares[CATEGORY_COUNT] = {0};
    size_t count = 0;
    for (size_t i = 0; i < reporting->groups.count; i++)
        add_share(shares, &count, category_name(reporting->groups.groups[i].category),
                  reporting->groups.groups[i].count);
    qsort(shares, count, sizeof *shares, by_events);
    struct report_table *table = report_add(&reporting->report, &categories_part, count, &reporting->arena);
    for (size_t i = 0; i < count; i++) {
        *report_cell(table, i, 0) = report_text(shares[i].name);
        *report_cell(table, i, 1) = report_number(shares[i].events);
        *report_cell(table, i, 2) = report_percent(shares[i].events, arrived_events(reporting));
    }
}

static int
by_name(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    return strcmp(a->name, b->name);
}

// One share for each name; there may be as many as groups.
static size_t
join_shares(struct share *shares, size_t count)
{
    size_t kept = 0;
    qsort(shares, count, sizeof *shares, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && strcmp(shares[kept - 1].name, shares[i].name) == 0) {
            shares[kept - 1].events += shares[i].events;
            shares[kept - 1].groups++;
        } else {
            shares[kept++] = shares[i];
        }
    }
    qsort(shares, kept, sizeof *shares, by_events);
    return kept;
}

// The largest classes; the last row has the others together.
static void
add_classes(struct reporting *reporting)
{
    size_t count = reporting->groups.count;
    if (count == 0) {
        report_add(&reporting->report, &classes_part, 0, &reporting->arena);
        return;
    }
    struct share *shares = arena_array(&reporting->arena, count, sizeof *shares);
    for (size_t i = 0; i < count; i++) {
        const struct event_group *group = &reporting->groups.groups[i];
        const char *name =
            group->text.error_class && *group->text.error_class ? group->text.error_class : "no type";
        shares[i] = (struct share){.name = name, .events = group->count, .groups = 1};
    }
    count = join_shares(shares, count);
    for (size_t i = MOST_CLASSES + 1; i < count; i++) {
        shares[MOST_CLASSES].events += shares[i].events;
        shares[MOST_CLASSES].groups += shares[i].groups;
    }
    if (count > MOST_CLASSES + 1) {
        shares[MOST_CLASSES].name = "other";
        count = MOST_CLASSES + 1;
    }
    struct report_table *table = report_add(&reporting->report, &classes_part, count, &reporting->arena);
    for (size_t i = 0; i < count; i++) {
        *report_cell(table, i, 0) = report_text(shares[i].name);
        *report_cell(table, i, 1) = report_number(shares[i].events);
        *report_cell(table, i, 2) = report_percent(shares[i].events, arrived_events(reporting));
        *report_cell(table, i, 3) = report_number(shares[i].groups);
    }
}

static struct report_cell
group_cell(struct reporting *reporting, uint64_t key)
{
    char text[GROUP_TEXT];
    return report_text(arena_text(&reporting->arena, bytes_of(group_text(key, text))));
}

static struct report_cell
error_cell(struct reporting *reporting, const struct event_group *group)
{
    const char *class = group->text.error_class;
    return report_text(arena_printf(&reporting->arena, "%s%s%s", class ? class : "", class ? ": " : "",
                                    group->text.pattern ? group->text.pattern : ""));
}

static void
add_groups(struct reporting *reporting)
{
    size_t count = reporting->groups.count < MOST_GROUPS ? reporting->groups.count : MOST_GROUPS;
    struct report_table *table = report_add(&reporting->report, &groups_part, count, &reporting->arena);
    for (size_t i = 0; i < count; i++) {
        const struct event_group *group = &reporting->groups.groups[i];
        *report_cell(table, i, 0) = group_cell(reporting, group->key);
        *report_cell(table, i, 1) = report_number(group->count);
        *report_cell(table, i, 2) = report_percent(group->count, arrived_events(reporting));
        *report_cell(table, i, 3) = report_text(category_name(group->category));
        *report_cell(table, i, 4) = report_number(group->last_at);
        *report_cell(table, i, 5) = error_cell(reporting, group);
    }
}

static bool
is_among(const uint64_t *keys, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static bool
add_new(struct reporting *reporting, struct err *err)
{
    uint64_t *keys;
    size_t key_count, count = 0;
    if (!report_new_groups(reporting->store, &reporting->span, &reporting->arena, &keys, &key_count, err))
        return false;
    const struct event_group *found[MOST_GROUPS];
    for (size_t i = 0; i < reporting->groups.count && count < MOST_GROUPS; i++)
        if (is_among(keys, key_count, reporting->groups.groups[i].key))
            found[count++] = &reporting->groups.groups[i];
    struct report_table *table = report_add(&reporting->report, &new_part, count, &reporting->arena);
    for (size_t i = 0; i < count; i++) {
        *report_cell(table, i, 0) = group_cell(reporting, found[i]->key);
        *report_cell(table, i, 1) = report_number(found[i]->count);
        *report_cell(table, i, 2) = report_text(category_name(found[i]->category));
        *report_cell(table, i, 3) = error_cell(reporting, found[i]);
    }
    return true;
}

static bool
add_shares(struct reporting *reporting, int64_t length, struct err *err)
{
    struct topic_shares shares;
    if (!written_read(reporting->store, length, &reporting->arena, &shares, err))
        return false;
    struct report_table *table =
        report_add(&reporting->report, &shares_part, shares.count, &reporting->arena);
    for (size_t i = 0; i < shares.count; i++) {
        const struct topic_share *share = &shares.topics[i];
        *report_cell(table, i, 0) = report_text(share->topic);
        *report_cell(table, i, 4) = report_number(share->covered);
        *report_cell(table, i, 5) = report_text(share->note);
        if (share->covered == 0)
            continue;
        *report_cell(table, i, 1) = report_number(share->written);
        *report_cell(table, i, 2) = report_number(share->arrived);
        if (share->written > 0)
            *report_cell(table, i, 3) = report_percent(share->arrived, share->written);
    }
    return true;
}

// --- the two reports ---

static bool
read_part(struct reporting *reporting, enum report_of_span which, struct err *err)
{
    return report_read_span(reporting->store, which, &reporting->span, &reporting->arena, &reporting->report,
                            err);
}

// "day", "2 hours": what stands behind "the last".
static const char *
length_words(int64_t length, struct arena *arena)
{
    static const struct {
        char letter;
        const char *unit;
    } units[] = {{'w', "week"}, {'d', "day"}, {'h', "hour"}, {'m', "minute"}, {'s', "second"}};
    char age[TEXT_SHORT];
    size_t digits = strspn(text_age(length, age), "0123456789");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (age[digits] == units[i].letter)
            return digits == 1 && age[0] == '1'
                       ? units[i].unit
                       : arena_printf(arena, "%.*s %ss", (int)digits, age, units[i].unit);
    return arena_printf(arena, "%s", age);
}

static bool
review(struct reporting *reporting, int64_t length, struct err *err)
{
    if (!store_now(reporting->store, &reporting->span.until, err))
        return false;
    reporting->span.since = reporting->span.until - length;
    reporting->report.title = arena_printf(&reporting->arena, "Dead letters of the last %s",
                                           length_words(length, &reporting->arena));
    if (!read_part(reporting, SPAN_SUMMARY, err) || !read_part(reporting, SPAN_DAYS, err) ||
        !count_arrived(reporting, err))
        return false;
    add_categories(reporting);
    add_classes(reporting);
    add_groups(reporting);
    return add_new(reporting, err) && add_shares(reporting, length, err) &&
           read_part(reporting, SPAN_RETURNED, err) && read_part(reporting, SPAN_REPROCESS, err) &&
           read_part(reporting, SPAN_OPERATIONS, err) && read_part(reporting, SPAN_PEOPLE, err) &&
           read_part(reporting, SPAN_FOLLOW_UP, err);
}

static bool
evidence(struct reporting *reporting, int64_t no, struct err *err)
{
    reporting->report.title = arena_printf(&reporting->arena, "Operation %" PRId64, no);
    return report_read_operation(reporting->store, no, &reporting->arena, &reporting->report, err);
}

static bool
report_wanted(const struct call *call, enum report_form *form, int64_t *length, struct err *err)
{
    const struct command_options *options = &call->options.command;
    *form = call->options.general.json ? REPORT_AS_JSON : REPORT_AS_TEXT;
    *length = 24 * 3600 * US_PER_SECOND;
    if (options->since && options->operation.is_given)
        return err_set(err, ERR_USAGE, "give --since or --operation, not both");
    if (options->since && !text_parse_duration(bytes_of(options->since), length, err))
        return err_context(err, "--since");
    if (*length < 60 * US_PER_SECOND || *length > 366 * 86400 * US_PER_SECOND)
        return err_set(err, ERR_USAGE, "--since takes a duration from 1m to 366d, such as 24h or 7d");
    return !options->form || report_form_parse(options->form, form, err);
}

int
command_report(struct call *call, struct err *err)
{
    enum report_form form;
    int64_t length;
    const struct option_count *operation = &call->options.command.operation;
    struct reporting reporting = {.call = call};
    bool ok = command_no_args(call, err) && report_wanted(call, &form, &length, err) &&
              command_store(call, STORE_SCHEMA, &reporting.store, err) &&
              (operation->is_given ? evidence(&reporting, operation->number, err)
                                   : review(&reporting, length, err)) &&
              report_print(call, &reporting.report, form, store_info(reporting.store)->zone_us, err);
    backlog_destroy(reporting.backlog);
    arena_release(&reporting.arena);
    store_close(reporting.store);
    if (!ok)
        operation_unknown_remedy(err);
    return ok ? STATUS_DONE : command_status(err);
}
