// groups: groups of the chosen events, largest first; counted by core/backlog/backlog, as on the screen.
#include "core/backlog/backlog.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/groups_category.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/rollup.h"
#include "core/fingerprint/fingerprint.h"
#include "core/fingerprint/merge.h"
#include "base/intern.h"
#include "store/rollup/categories.h"
#include "store/events/events.h"

// What --json tells beyond a group's top three: every event type and topic of each group, and how many events
// came back.
struct breakdown {
    struct intern values; // of all pivots but error
    struct intern names;  // of types and topics
    struct keys groups;   // fingerprints, or numbers of values
    int64_t *returned;    // by index in groups
    size_t returned_capacity, returned_count;
    struct keys pairs; // group index << 32 | is_topic << 31 | number of a name
    int64_t *pair_counts;
    size_t pair_capacity, pair_count;
    struct pair {
        uint64_t pair;
        int64_t count;
    } * sorted; // by pair, so those of a group stand together; made when counting is over
};

struct counting {
    struct progress progress; // first: choosing_tick is given the whole
    struct backlog *backlog;
    const struct overrides *overrides; // of the store
    struct breakdown breakdown;
    enum pivot pivot;
    bool is_merged;
};

static uint64_t
group_number(struct counting *counting, const struct event *event)
{
    struct intern *values = &counting->breakdown.values;
    char hour[TIME_TEXT];
    int64_t us = 3600 * (int64_t)US_PER_SECOND;
    switch (counting->pivot) {
    case PIVOT_TYPE:
        return intern_number(values, event->event_type);
    case PIVOT_SOURCE:
        return intern_number(values, event->source_table);
    case PIVOT_TOPIC:
        return intern_number(values, event->topic);
    case PIVOT_KIND:
        return intern_number(values, bytes_of(category_name(event->category)));
    case PIVOT_HOUR:
        return event->created_at == TIME_ABSENT
                   ? 0
                   : intern_number(values, bytes_of(time_rfc3339(event->created_at / us * us, 0, hour)));
    case PIVOT_ERROR:
    case PIVOT_COUNT:
        break;
    }
    return event->group;
}

static void
count_pair(struct breakdown *breakdown, uint32_t group, bool is_topic, struct bytes name, int64_t count)
{
    if (!bytes_present(name))
        return;
    uint64_t pair = (uint64_t)group << 32 | (uint64_t)is_topic << 31 | intern_number(&breakdown->names, name);
    uint32_t index = keys_index(&breakdown->pairs, pair);
    if (index >= breakdown->pair_count) {
        breakdown->pair_counts = alloc_grow(breakdown->pair_counts, index, &breakdown->pair_capacity,
                                            sizeof *breakdown->pair_counts);
        breakdown->pair_counts[index] = 0;
        breakdown->pair_count = index + 1;
    }
    breakdown->pair_counts[index] += count;
}

static void
break_down(struct counting *counting, const struct event *event, int64_t count, int64_t returned)
{
    struct breakdown *breakdown = &counting->breakdown;
    uint32_t index = keys_index(&breakdown->groups, group_number(counting, event));
    if (index >= breakdown->returned_count) {
        breakdown->returned = alloc_grow(breakdown->returned, index, &breakdown->returned_capacity,
                                         sizeof *breakdown->returned);
        breakdown->returned[index] = 0;
        breakdown->returned_count = index + 1;
    }
    breakdown->returned[index] += returned;
    count_pair(breakdown, index, false, event->event_type, count);
    count_pair(breakdown, index, true, event->topic, count);
}

static bool
count_event(void *context, const struct event *event)
{
    struct counting *counting = context;
    backlog_add(counting->backlog, event, 1);
    break_down(counting, event, 1, event->returned > 0);
    return true;
}

// --- out of sums that somebody keeps ---

static void
count_cell(void *context, const struct backlog_cell *cell, int64_t count)
{
    struct counting *counting = context;
    struct event event = {.group = cell->group,
                          .event_type = cell->event_type,
                          .source_table = cell->source_table,
                          .topic = cell->topic,
                          .category = CATEGORY_UNKNOWN};
    (void)backlog_category(counting->backlog, cell->group, &event.category);
    if (count > 0)
        break_down(counting, &event, count, cell->returned);
}

// Everything pending, by what cells know; hours are not among that for what came back.
static bool
read_rollup(struct call *call, struct store *store, struct counting *counting, bool *is_read, struct err *err)
{
    const struct options *options = &call->options;
    bool is_whole = !options->choice.ids.is_given && !options->choice.group && !options->choice.filter &&
                    !options->choice.queue && !options->choice.status;
    *is_read = false;
    if (!is_whole || counting->pivot == PIVOT_HOUR)
        return true;
    if (!sums_read(call, store, counting->backlog, is_read, err))
        return false;
    if (*is_read)
        backlog_each_cell(counting->backlog, count_cell, counting);
    return true;
}

static void
breakdown_release(struct breakdown *breakdown)
{
    intern_release(&breakdown->values);
    intern_release(&breakdown->names);
    keys_release(&breakdown->groups);
    keys_release(&breakdown->pairs);
    free(breakdown->returned);
    free(breakdown->pair_counts);
    free(breakdown->sorted);
}

static int
by_pair(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return (a->pair > b->pair) - (a->pair < b->pair);
}

static void
breakdown_sort(struct breakdown *breakdown)
{
    breakdown->sorted = alloc_array(breakdown->pair_count + 1, sizeof *breakdown->sorted);
    for (size_t i = 0; i < breakdown->pair_count; i++)
        breakdown->sorted[i] = (struct pair){breakdown->pairs.keys[i], breakdown->pair_counts[i]};
    qsort(breakdown->sorted, breakdown->pair_count, sizeof *breakdown->sorted, by_pair);
}

// The first of the sorted pairs that is not below.
static size_t
first_pair(const struct breakdown *breakdown, uint64_t pair)
{
    size_t low = 0, high = breakdown->pair_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (breakdown->sorted[middle].pair < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// --- what a group is called: learned from a sample of each ---

static void
describe_group(struct backlog *backlog, const struct group_rules *rules, const struct event *event,
               struct arena *arena)
{
    struct fingerprint_input input = {
        .message = event->error_message, .stack = event->stack_trace, .rules = rules};
    struct fingerprint parts = fingerprint_explain(&input, arena);
    struct group_text text = {.pattern = arena_text(arena, parts.pattern),
                              .error_class = arena_text(arena, parts.root_class),
                              .sample = arena_text(arena, bytes_slice(event->error_message, 0, 300)),
                              .frame = arena_text(arena, parts.frame)};
    backlog_describe(backlog, event->group, &text);
}

static bool
describe_some(struct store *store, const struct group_rules *rules, struct backlog *backlog, size_t *cursor,
              bool *is_more, struct err *err)
{
    enum { SLICE = 200 };
    int64_t ids[SLICE];
    uint64_t keys[SLICE];
    size_t count = 0;
    while (count < SLICE && backlog_undescribed(backlog, cursor, &keys[count], &ids[count]))
        count++;
    *is_more = count == SLICE;
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = EVENT_ERROR | EVENT_STACK | EVENT_GROUP,
                                          .ids = ids + at,
                                          .id_count = count - at,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(store, &query, &page, err))
            return false;
        at += event_page_answers(&page, &query);
        for (size_t i = 0; i < page.count; i++)
            describe_group(backlog, rules, &page.events[i], &page.arena);
        event_page_release(&page);
    }
    return true;
}

static bool
command_groups_describe(struct store *store, const struct group_rules *rules, struct backlog *backlog,
                        struct err *err)
{
    size_t cursor = 0;
    bool is_more = true;
    while (is_more)
        if (!describe_some(store, rules, backlog, &cursor, &is_more, err))
            return false;
    return true;
}

// --- printing ---

struct named_count {
    const char *name;
    int64_t count;
};

static int
more_first(const void *left, const void *right)
{
    const struct named_count *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int
command_groups_by_name(const void *left, const void *right)
{
    return strcmp(((const struct named_count *)left)->name, ((const struct named_count *)right)->name);
}

// What the parts of a merged group have in common stands there once.
static size_t
add_up(struct named_count *found, size_t count)
{
    size_t kept = 0;
    qsort(found, count, sizeof *found, command_groups_by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(found[kept - 1].name, found[i].name) == 0)
            found[kept - 1].count += found[i].count;
        else
            found[kept++] = found[i];
    }
    return kept;
}

static struct value *
names_json(const struct breakdown *breakdown, const uint32_t *groups, size_t group_count, bool is_topic)
{
    struct named_count *found = NULL;
    size_t count = 0, capacity = 0;
    for (size_t g = 0; g < group_count; g++) {
        uint64_t low = (uint64_t)groups[g] << 32 | (uint64_t)is_topic << 31, high = low + (1u << 31);
        for (size_t i = first_pair(breakdown, low);
             i < breakdown->pair_count && breakdown->sorted[i].pair < high; i++) {
            const struct pair *pair = &breakdown->sorted[i];
            found = alloc_grow(found, count, &capacity, sizeof *found);
            found[count++] = (struct named_count){
                intern_text(&breakdown->names, (uint16_t)(pair->pair & 0xFFFF)), pair->count};
        }
    }
    if (group_count > 1 && count > 0)
        count = add_up(found, count);
    if (count > 0)
        qsort(found, count, sizeof *found, more_first);
    struct value *list = value_array();
    for (size_t i = 0; i < count; i++)
        value_add_text(list, NULL, found[i].name);
    free(found);
    return list;
}

// Every group that is listed was counted, so it is there.
static uint32_t
group_index(const struct counting *counting, const struct event_group *group)
{
    const struct breakdown *breakdown = &counting->breakdown;
    if (counting->pivot == PIVOT_ERROR)
        return (uint32_t)keys_find(&breakdown->groups, group->key);
    bool is_named = group->value[0] != '\0';
    int32_t number = is_named ? intern_find(&breakdown->values, bytes_of(group->value)) : 0;
    int64_t index = keys_find(&breakdown->groups, number < 0 ? WORDS_OTHER : (uint64_t)number);
    if (index < 0) // an empty text, which a group does not tell from an absent one
        index = keys_find(&breakdown->groups, (uint64_t)intern_find(&breakdown->values, BYTES("")));
    return index < 0 ? 0 : (uint32_t)index;
}

static void
add_breakdown(struct value *object, const struct counting *counting, const struct event_group *group)
{
    const struct breakdown *breakdown = &counting->breakdown;
    uint32_t indexes[MERGE_MOST];
    size_t count = group->part_count ? group->part_count : 1;
    int64_t returned = 0;
    for (size_t i = 0; i < count; i++) {
        indexes[i] = group->part_count ? (uint32_t)keys_find(&breakdown->groups, group->parts[i])
                                       : group_index(counting, group);
        returned += breakdown->returned[indexes[i]];
    }
    value_add(object, "event_types", names_json(breakdown, indexes, count, false));
    value_add(object, "topics", names_json(breakdown, indexes, count, true));
    value_add_int(object, "returned", returned);
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

static bool
command_groups_print_json(const struct counting *counting, const struct event_group *group, int64_t zone_us,
                          struct err *err)
{
    bool is_error = counting->pivot == PIVOT_ERROR;
    struct value *object = value_object();
    value_add_text(object, "group", group->value[0] == '\0' ? NULL : group->value);
    if (counting->is_merged)
        value_add(object, "groups", keys_json(group));
    value_add_int(object, "count", group->count);
    value_add_text(object, "error_class", is_error ? group->text.error_class : NULL);
    value_add_text(object, "error", is_error ? group->text.pattern : NULL);
    value_add_text(object, "category", category_name(group->category));
    const struct override *override =
        overrides_of(counting->overrides, is_error && !group->part_count ? group->key : 0);
    value_add_text(object, "category_by", override ? override->who : NULL);
    value_add_time(object, "first_seen", group->first_at, zone_us);
    value_add_time(object, "last_seen", group->last_at, zone_us);
    value_add_real(object, "rate_per_minute", group->per_minute);
    add_breakdown(object, counting, group);
    bool is_known = is_error && backlog_has_rollup(counting->backlog);
    const struct group_outcomes *outcomes = &group->outcomes;
    json_int_or_null(object, "resolved", is_known, outcomes->resolved);
    json_int_or_null(object, "discarded", is_known, outcomes->discarded);
    json_int_or_null(object, "reprocessed", is_known, outcomes->reprocessed);
    value_add_time(object, "outcomes_since", is_known && outcomes->since ? outcomes->since : TIME_ABSENT,
                   zone_us);
    return json_print(object, err);
}

static const struct column error_columns[] = {{"group", ALIGN_LEFT, 16, 0},    {"count", ALIGN_RIGHT, 9, 0},
                                              {"rate/min", ALIGN_RIGHT, 0, 0}, {"last", ALIGN_LEFT, 19, 0},
                                              {"kind", ALIGN_LEFT, 9, 0},      {"error", ALIGN_LAST, 0, 0}};
static const struct column other_columns[] = {{"group", ALIGN_LEFT, 24, 60},
                                              {"count", ALIGN_RIGHT, 9, 0},
                                              {"rate/min", ALIGN_RIGHT, 0, 0},
                                              {"last", ALIGN_LEFT, 19, 0},
                                              {"kind", ALIGN_LAST, 0, 0}};

static void
command_groups_add_row(struct table *table, const struct event_group *group, bool is_error)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%.1f", group->per_minute);
    table_add_text(table, group->value[0] == '\0' ? NULL : group->value);
    table_add_count(table, group->count);
    table_add_text(table, rate);
    table_add_time(table, group->last_at);
    table_add_text(table, category_name(group->category));
    if (!is_error)
        return;
    struct strbuf error = {0};
    if (group->part_count)
        strbuf_printf(&error, "%zu groups: ", group->part_count);
    if (group->text.error_class != NULL)
        strbuf_printf(&error, "%s: ", group->text.error_class);
    strbuf_add_text(&error, group->text.pattern != NULL ? group->text.pattern : "");
    table_add(table, strbuf_bytes(&error));
    strbuf_release(&error);
}

// What a person cannot see in the rows.
static void
say_merged(const struct call *call, const struct group_list *list, size_t count)
{
    bool is_some = false, is_full = false;
    for (size_t i = 0; i < count; i++) {
        is_some |= list->groups[i].part_count > 0;
        is_full |= list->groups[i].part_count >= MERGE_MOST;
    }
    if (is_some)
        remark(call, "a row of several groups bears the smallest of their keys; --json names them all, for"
                     " --filter group:KEY,KEY");
    if (is_full)
        remark(call, "one row holds %d groups at most: others of its kind stand beside it", MERGE_MOST);
}

static bool
print_groups(struct call *call, const struct counting *counting, int64_t now, int64_t zone_us,
             struct err *err)
{
    struct arena arena = {0};
    struct group_list list = {0};
    bool is_error = counting->pivot == PIVOT_ERROR, ok = true;
    struct group_list parts;
    if (counting->is_merged)
        backlog_groups_merged(counting->backlog, now, &arena, &list, &parts);
    else
        backlog_groups(counting->backlog, counting->pivot, NULL, now, &arena, &list);
    struct table table;
    table_begin(&table, call, is_error ? error_columns : other_columns, is_error ? 6 : 5);
    size_t count =
        call->options.choice.limit.number > 0 && (size_t)call->options.choice.limit.number < list.count
            ? (size_t)call->options.choice.limit.number
            : list.count;
    for (size_t i = 0; ok && i < count; i++) {
        if (call->options.general.json)
            ok = command_groups_print_json(counting, &list.groups[i], zone_us, err);
        else
            command_groups_add_row(&table, &list.groups[i], is_error);
    }
    ok = table_end(&table, err) && ok;
    if (counting->is_merged && !call->options.general.json)
        say_merged(call, &list, count);
    arena_release(&arena);
    return ok;
}

static bool
groups(struct call *call, struct store *store, struct counting *counting, struct err *err)
{
    struct choice choice;
    struct choose_tally tally = {0};
    unsigned fields = EVENT_NARROW | EVENT_GROUP | (store_info(store)->schema_version > 0 ? EVENT_KNOWN : 0);
    int64_t now = 0;
    counting->overrides = store_overrides(store);
    progress_begin(&counting->progress, call, "events");
    bool ok = choosing_read(call, 1u << EVENT_PENDING, &choice, err) && store_now(store, &now, err);
    choice.limit = 0; // of groups here: the largest N
    bool is_read = false;
    ok = ok && read_rollup(call, store, counting, &is_read, err);
    if (ok && !is_read)
        ok = choose_scan(store, &choice, fields, count_event, choosing_tick, counting, &tally, err) &&
             choosing_check_known(&tally, err) &&
             (counting->pivot != PIVOT_ERROR ||
              command_groups_describe(store, call->group_rules, counting->backlog, err));
    progress_end(&counting->progress);
    breakdown_sort(&counting->breakdown);
    ok = ok && print_groups(call, counting, now, store_info(store)->zone_us, err);
    choosing_say_undecided(call, &tally);
    choose_tally_release(&tally);
    return ok;
}

int
command_groups(struct call *call, struct err *err)
{
    struct counting counting = {.pivot = PIVOT_ERROR};
    struct store *store = NULL;
    if (call->arg_count > 0 && strcmp(call->args[0], "category") == 0)
        return groups_category(call, err);
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    if (call->options.command.by != NULL &&
        !pivot_parse(bytes_of(call->options.command.by), &counting.pivot)) {
        err_set(err, ERR_USAGE, "--by is error, type, source, topic, kind or hour, not \"%s\"",
                call->options.command.by);
        return STATUS_USAGE;
    }
    counting.is_merged = call->options.command.merged;
    if (counting.is_merged && counting.pivot != PIVOT_ERROR) {
        err_set(err, ERR_USAGE, "only groups by error are merged: leave out --by %s",
                call->options.command.by);
        return STATUS_USAGE;
    }
    counting.backlog = backlog_create();
    bool ok = command_store(call, STORE_READ, &store, err) && groups(call, store, &counting, err);
    breakdown_release(&counting.breakdown);
    backlog_destroy(counting.backlog);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
