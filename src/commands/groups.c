// groups: groups of the chosen events, largest first; counted by core/backlog/backlog, as on the screen.
#include "core/backlog/backlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/groups_category.h"
#include "commands/groups_describe.h"
#include "commands/groups_path.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/people_line.h"
#include "commands/rollup.h"
#include "base/clock.h"
#include "base/text.h"
#include "core/fingerprint/fingerprint.h"
#include "core/fingerprint/merge.h"
#include "store/rollup/categories.h"
#include "store/events/events.h"
#include "store/people/people.h"

struct group_counting {
    struct progress_line progress; // first: choosing_tick is given the whole
    struct backlog *backlog;
    const struct overrides *overrides; // of the store
    struct people people;              // in the arena of the call
    struct arena arena;
    struct grouped_by by[GROUPS_BY_MOST];
    size_t by_count;
    bool is_merged;
    int (*compare)(const void *left, const void *right); // of --sort; NULL: largest first
    bool is_chosen;                                      // of all groups only those with these keys:
    uint64_t chosen_low, chosen_high;
};

static bool
is_by(const struct group_counting *counting, enum pivot pivot)
{
    bool is = false;
    for (size_t i = 0; i < counting->by_count; i++)
        is = is || counting->by[i].pivot == pivot;
    return is;
}

static bool
is_pair(const struct group_counting *counting)
{
    return counting->by_count > 1;
}

// Of one pivot or of two: the rows may be many.
static bool
is_long(const struct group_counting *counting)
{
    return is_pair(counting) || is_by(counting, PIVOT_PATH);
}

static bool
count_event(void *context, const struct event *event)
{
    struct group_counting *counting = context;
    backlog_add(counting->backlog, event, 1);
    return true;
}

// A group by its key is one of all that the rollup counts, with what is known of its life: when it was seen
// first, and what became of its events before. False: it is not chosen so.
static bool
read_chosen(const char *key, struct group_counting *counting)
{
    counting->is_chosen = !is_pair(counting) && !counting->is_merged && is_by(counting, PIVOT_ERROR) &&
                          group_parse(bytes_of(key), &counting->chosen_low, &counting->chosen_high);
    return counting->is_chosen;
}

// Everything pending, but for the group, which may be named.
static bool
is_everything(const struct choice_options *choice)
{
    return !choice->ids.is_given && !choice->filter && !choice->queue && !choice->status;
}

// Everything pending, out of the rollup. It does not know in which hour the events that returned were
// created. Where something is chosen, the choice may take its events one by one.
static bool
read_rollup(struct call *call, struct store *store, struct group_counting *counting, struct choice *chosen,
            bool *is_read, struct err *err)
{
    const struct choice_options *choice = &call->options.choice;
    bool is_whole = is_everything(choice);
    *is_read = false;
    if (choice->group && !read_chosen(choice->group, counting)) // the choice says what is wrong
        is_whole = false;
    if (is_whole && !is_long(counting) && !is_by(counting, PIVOT_HOUR))
        return sums_read(call, store, counting->backlog, is_read, err);
    if (choose_is_counted(store, chosen))
        (void)rollup_find(call, store, &chosen->is_counted, NULL);
    return true;
}

// --- printing ---

static struct value *
names_json(const struct group_share *shares, size_t count)
{
    struct value *list = value_array();
    for (size_t i = 0; i < count; i++)
        value_add_text(list, NULL, shares[i].name);
    return list;
}

static struct value *
keys_json(const struct event_group *group)
{
    struct value *list = value_array();
    char key[GROUP_TEXT];
    for (size_t i = 0; i < group->part_count; i++)
        value_add_text(list, NULL, group_text(group->parts[i], key));
    if (group->part_count == 0)
        value_add_text(list, NULL, group->value);
    return list;
}

// The group by error that the row is of; NULL: of none.
static const struct event_group *
error_of(const struct group_counting *counting, const struct event_group *group)
{
    if (counting->by[0].pivot == PIVOT_ERROR)
        return group;
    return is_by(counting, PIVOT_ERROR) ? group->details->second : NULL;
}

// What people say about the group of the row; NULL: nothing.
static const struct group_care *
care_of(const struct group_counting *counting, const struct event_group *group)
{
    const struct event_group *named = error_of(counting, group);
    return named && !group->part_count ? people_care(&counting->people, named->key) : NULL;
}

static bool
command_groups_print_json(const struct group_counting *counting, const struct event_group *group,
                          int64_t zone_us, struct err *err)
{
    const struct event_group *named = error_of(counting, group);
    bool is_error = !is_pair(counting) && counting->by[0].pivot == PIVOT_ERROR;
    struct value *object = value_object();
    if (is_pair(counting))
        groups_pair_json(counting->by, group, object);
    else
        groups_by_json(&counting->by[0], group, object);
    if (counting->is_merged)
        value_add(object, "groups", keys_json(group));
    value_add_int(object, "count", group->count);
    value_add_text(object, "error_class", named ? named->text.error_class : NULL);
    value_add_text(object, "error", named ? named->text.pattern : NULL);
    value_add_text(object, "category", category_name(group->category));
    const struct override *override =
        overrides_of(counting->overrides, named && !group->part_count ? named->key : 0);
    value_add_text(object, "category_by", override ? override->who : NULL);
    value_add_time(object, "first_seen", group->first_at, zone_us);
    value_add_time(object, "last_seen", group->last_at, zone_us);
    value_add_real(object, "rate_per_minute", group->per_minute);
    const struct group_details *details = group->details;
    value_add(object, "event_types", names_json(details->types, details->type_count));
    value_add(object, "topics", names_json(details->topics, details->topic_count));
    value_add_int(object, "returned", details->returned);
    bool is_known = is_error && backlog_has_rollup(counting->backlog);
    const struct group_outcomes *outcomes = &group->outcomes;
    value_add_int_or_null(object, "resolved", is_known, outcomes->resolved);
    value_add_int_or_null(object, "discarded", is_known, outcomes->discarded);
    value_add_int_or_null(object, "reprocessed", is_known, outcomes->reprocessed);
    value_add_time(object, "outcomes_since", is_known && outcomes->since ? outcomes->since : TIME_ABSENT,
                   zone_us);
    people_line_json(object, care_of(counting, group), group->count, false, zone_us);
    return json_print(object, err);
}

static const struct output_column error_columns[] = {
    {"group", ALIGN_LEFT, 16, 0}, {"count", ALIGN_RIGHT, 9, 0},   {"rate/min", ALIGN_RIGHT, 0, 0},
    {"last", ALIGN_LEFT, 19, 0},  {"category", ALIGN_LEFT, 9, 0}, {"error", ALIGN_LAST, 0, 0}};
static const struct output_column other_columns[] = {{"group", ALIGN_LEFT, 24, 60},
                                                     {"count", ALIGN_RIGHT, 9, 0},
                                                     {"rate/min", ALIGN_RIGHT, 0, 0},
                                                     {"last", ALIGN_LEFT, 19, 0},
                                                     {"category", ALIGN_LAST, 0, 0}};

static const struct output_column pair_columns[] = {
    {"group", ALIGN_LEFT, 16, 40},   {"and", ALIGN_LEFT, 16, 40}, {"count", ALIGN_RIGHT, 9, 0},
    {"rate/min", ALIGN_RIGHT, 0, 0}, {"last", ALIGN_LEFT, 19, 0}, {"category", ALIGN_LEFT, 9, 0},
    {"error", ALIGN_LAST, 0, 0}};
static const int leaves[] = {3, 2, -1}, pair_leaves[] = {4, 3, -1}; // last, rate/min
// Without the error where no row has one.
enum { ERROR_COLUMNS = 6, OTHER_COLUMNS = 5, PAIR_COLUMNS = 7 };

static void
command_groups_add_error(struct output_table *table, const struct event_group *group,
                         const struct group_care *care, int64_t events)
{
    struct strbuf error = {0};
    char time[TIME_TEXT];
    int64_t now = clock_now();
    if (care_is_snoozed(care, now, events))
        strbuf_printf(&error, "until %s ", until_text(care->snooze.until, now, time));
    if (care_is_taken(care, now))
        strbuf_printf(&error, "@%s ", care->taken.who);
    if (group->part_count)
        strbuf_printf(&error, "%zu groups: ", group->part_count);
    if (group->text.error_class != NULL)
        strbuf_printf(&error, "%s: ", group->text.error_class);
    strbuf_add_text(&error, group->text.pattern != NULL ? group->text.pattern : "");
    table_add(table, strbuf_bytes(&error));
    strbuf_release(&error);
}

static void
command_groups_add_row(struct output_table *table, const struct group_counting *counting,
                       const struct event_group *group, struct arena *arena)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%.1f", group->per_minute);
    for (size_t i = 0; i < counting->by_count; i++) {
        const char *name = groups_by_text(&counting->by[i], i ? group->details->second : group, arena);
        table_add_text(table, name[0] == '\0' ? NULL : name);
    }
    table_add_count(table, group->count);
    table_add_text(table, rate);
    table_add_time(table, group->last_at);
    table_add_text(table, category_name(group->category));
    const struct event_group *named = error_of(counting, group);
    if (named)
        command_groups_add_error(table, named, care_of(counting, group), group->count);
}

// Remarks on what the rows do not show.
static void
say_merged(const struct call *call, const struct group_list *list, size_t count)
{
    bool is_some = false, is_full = false;
    for (size_t i = 0; i < count; i++) {
        is_some |= list->groups[i].part_count > 0;
        is_full |= list->groups[i].part_count >= MERGE_MOST;
    }
    if (is_some)
        remark(call, "a row of several groups has the smallest of their keys; --json lists them all, for"
                     " --filter group:KEY,KEY");
    if (is_full)
        remark(call, "one row joins at most %d groups; the others follow in rows of their own", MERGE_MOST);
}

// Of very many values only the largest are printed.
static void
say_unlisted(const struct call *call, const struct group_list *list, size_t count)
{
    char shown[TEXT_SHORT], total[TEXT_SHORT], events[TEXT_SHORT];
    int64_t others = list->events;
    for (size_t i = 0; i < count; i++)
        others -= list->groups[i].count;
    if (count < list->total)
        remark(call, "the %s largest of %s values; the others have %s event%s; --limit lists more",
               text_count((int64_t)count, shown), text_count((int64_t)list->total, total),
               text_count(others, events), others == 1 ? "" : "s");
}

// --- the order: of the largest, where not all are listed ---

static int
by_newest(const void *left, const void *right)
{
    const struct event_group *a = left, *b = right;
    return (a->last_at < b->last_at) - (a->last_at > b->last_at);
}

static int
by_rate(const void *left, const void *right)
{
    const struct event_group *a = left, *b = right;
    return (a->per_minute < b->per_minute) - (a->per_minute > b->per_minute);
}

static int
by_first(const void *left, const void *right)
{
    const struct event_group *a = left, *b = right;
    return (a->first_at < b->first_at) - (a->first_at > b->first_at);
}

static const struct {
    const char *name;
    int (*compare)(const void *left, const void *right); // NULL: as they come
} sorts[] = {{"count", NULL}, {"newest", by_newest}, {"rate", by_rate}, {"first", by_first}};

static bool
read_sort(const char *name, struct group_counting *counting, struct err *err)
{
    for (size_t i = 0; name && i < sizeof sorts / sizeof *sorts; i++) {
        counting->compare = sorts[i].compare;
        if (strcmp(name, sorts[i].name) == 0)
            return true;
    }
    return !name ||
           err_set(err, ERR_USAGE, "--sort of groups is count, newest, rate or first, not \"%s\"", name);
}

// Groups that may wait come last, and keep their order otherwise.
static void
move_snoozed(const struct group_counting *counting, struct group_list *list, struct arena *arena)
{
    struct event_group *waiting = arena_array(arena, list->count, sizeof *waiting);
    size_t waiting_count = 0, kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct event_group *group = &list->groups[i];
        if (care_is_snoozed(care_of(counting, group), clock_now(), group->count))
            waiting[waiting_count++] = *group;
        else
            list->groups[kept++] = *group;
    }
    for (size_t i = 0; i < waiting_count; i++)
        list->groups[kept++] = waiting[i];
}

static void
list_groups(const struct group_counting *counting, const struct group_limit *most, int64_t now,
            struct arena *arena, struct group_list *list)
{
    const struct grouped_by *by = counting->by;
    if (is_pair(counting))
        backlog_groups_paired(counting->backlog, by[0].pivot,
                              &(struct second_pivot){.pivot = by[1].pivot, .paths = by[1].values}, most, now,
                              arena, list);
    else
        backlog_groups_detailed(counting->backlog, by[0].pivot, counting->is_merged,
                                is_long(counting) ? most : NULL, now, arena, list);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!counting->is_chosen ||
            (list->groups[i].key >= counting->chosen_low && list->groups[i].key <= counting->chosen_high))
            list->groups[kept++] = list->groups[i];
    list->count = kept;
    if (counting->compare && list->count)
        qsort(list->groups, list->count, sizeof *list->groups, counting->compare);
    if (counting->people.care_count)
        move_snoozed(counting, list, arena);
}

static void
begin_table(struct output_table *table, struct call *call, const struct group_counting *counting)
{
    bool has_error = is_by(counting, PIVOT_ERROR);
    if (is_pair(counting))
        table_begin(table, call, pair_columns, has_error ? PAIR_COLUMNS : PAIR_COLUMNS - 1);
    else
        table_begin(table, call, has_error ? error_columns : other_columns,
                    has_error ? ERROR_COLUMNS : OTHER_COLUMNS);
    if (has_error)
        table_leaves(table, is_pair(counting) ? pair_leaves : leaves);
}

static bool
print_groups(struct call *call, struct store *store, const struct group_counting *counting, int64_t now,
             struct err *err)
{
    struct arena arena = {0};
    struct group_list list = {0};
    bool ok = true;
    int64_t limit = call->options.choice.limit.number;
    const struct group_limit most = {.most = limit > 0 ? (size_t)limit : GROUPS_OF_PATH};
    list_groups(counting, &most, now, &arena, &list);
    struct output_table table;
    begin_table(&table, call, counting);
    size_t count = limit > 0 && (size_t)limit < list.count ? (size_t)limit : list.count;
    for (size_t i = 0; ok && i < count; i++) {
        if (call->options.general.json)
            ok = command_groups_print_json(counting, &list.groups[i], store_info(store)->zone_us, err);
        else
            command_groups_add_row(&table, counting, &list.groups[i], &arena);
    }
    ok = table_end(&table, err) && ok;
    if (ok && list.count == 0)
        choosing_say_none(call, store);
    if (counting->is_merged && !call->options.general.json)
        say_merged(call, &list, count);
    if (is_long(counting))
        say_unlisted(call, &list, count);
    arena_release(&arena);
    return ok;
}

// Where all events are wanted, their values can be read while they are counted: both take about as long, one
// in the server and one here.
static void
begin_paths(struct call *call, struct group_counting *counting)
{
    const struct store_settings settings = command_store_settings(call, STORE_READ);
    bool is_whole = is_everything(&call->options.choice) && !call->options.choice.group;
    for (size_t i = 0; is_whole && i < counting->by_count; i++)
        if (counting->by[i].pivot == PIVOT_PATH)
            groups_path_begin(&settings, &counting->by[i]);
}

static bool
read_paths(struct store *store, struct group_counting *counting, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < counting->by_count; i++)
        if (counting->by[i].pivot == PIVOT_PATH)
            ok = groups_path_read(store, &counting->by[i], counting->backlog, &counting->progress, err);
    if (ok && counting->by[0].pivot == PIVOT_PATH)
        backlog_set_paths(counting->backlog, counting->by[0].values);
    return ok;
}

static bool
groups(struct call *call, struct store *store, struct group_counting *counting, struct err *err)
{
    struct choice choice;
    struct choose_tally tally = {0};
    unsigned fields = EVENT_NARROW | EVENT_GROUP | (store_info(store)->schema_version > 0 ? EVENT_KNOWN : 0);
    int64_t now = 0;
    counting->overrides = store_overrides(store);
    progress_begin(&counting->progress, call, "events");
    begin_paths(call, counting);
    bool ok = choosing_read(call, 1u << EVENT_PENDING, &choice, err) && store_now(store, &now, err) &&
              people_read(store, &counting->arena, &counting->people, err);
    choice.limit = 0; // of groups here: the largest N
    bool is_read = false;
    ok = ok && read_rollup(call, store, counting, &choice, &is_read, err);
    if (ok && !is_read)
        ok = choose_scan(store, &choice, fields, count_event, choosing_tick, counting, &tally, err) &&
             choosing_check_known(&tally, err) &&
             (!is_by(counting, PIVOT_ERROR) ||
              groups_describe(store, call->group_rules, counting->backlog, err));
    ok = ok && read_paths(store, counting, err);
    progress_end(&counting->progress);
    ok = ok && print_groups(call, store, counting, now, err);
    choosing_say_undecided(call, &tally);
    choose_tally_release(&tally);
    return ok;
}

// What --by says.
static bool
read_pivots(const struct call *call, struct group_counting *counting, struct err *err)
{
    const char *by = call->options.command.by;
    counting->is_merged = call->options.command.merged;
    if (!groups_by_parse(by, counting->by, &counting->by_count, err) ||
        !read_sort(call->options.command.sort, counting, err))
        return false;
    if (counting->is_merged && (is_pair(counting) || !is_by(counting, PIVOT_ERROR)))
        return err_set(err, ERR_USAGE, "only groups by error are merged: leave out --by %s", by);
    return true;
}

static void
command_groups_release(struct group_counting *counting)
{
    backlog_destroy(counting->backlog);
    groups_by_release(counting->by);
    arena_release(&counting->arena);
}

int
command_groups(struct call *call, struct err *err)
{
    struct group_counting counting = {0};
    struct store *store = NULL;
    if (call->arg_count > 0 && strcmp(call->args[0], "category") == 0)
        return groups_category(call, err);
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    if (!read_pivots(call, &counting, err)) {
        command_groups_release(&counting);
        return STATUS_USAGE;
    }
    counting.backlog = backlog_create();
    bool ok = command_store(call, STORE_READ, &store, err) && groups(call, store, &counting, err);
    command_groups_release(&counting);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
