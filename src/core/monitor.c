#include "core/monitor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/strbuf.h"

enum { GROUPS_MOST = 20000 }; // whose classes are looked at; of the others nobody keeps the texts

static const int64_t HOUR = 3600 * US_PER_SECOND;

static const struct {
    const char *name;
    int64_t hours; // how many it goes back, from the end of the current hour
} ages[MONITOR_AGES] = {
    [AGE_THIS_HOUR] = {"this hour", 1},   [AGE_6_HOURS] = {"6 hours", 6},
    [AGE_24_HOURS] = {"24 hours", 24},    [AGE_7_DAYS] = {"7 days", 7 * 24},
    [AGE_30_DAYS] = {"30 days", 30 * 24}, [AGE_OLDER] = {"older", 0},
};

const char *
monitor_age_name(enum monitor_age age)
{
    return ages[age].name;
}

static int
by_class(const void *left, const void *right)
{
    const struct event_group *a = *(const struct event_group *const *)left;
    const struct event_group *b = *(const struct event_group *const *)right;
    if (!a->text.error_class || !b->text.error_class)
        return (a->text.error_class != NULL) - (b->text.error_class != NULL);
    return strcmp(a->text.error_class, b->text.error_class);
}

static int
by_count(const void *left, const void *right)
{
    const struct monitor_class *a = left;
    const struct monitor_class *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (!a->name || !b->name)
        return (a->name != NULL) - (b->name != NULL);
    return strcmp(a->name, b->name);
}

// Groups whose texts are not known have no class here; their events are among the others.
static void
count_classes(const struct group_list *list, struct arena *arena, struct monitor_pending *pending)
{
    const struct event_group **groups = alloc_array(list->count + 1, sizeof *groups);
    struct monitor_class *classes = arena_array(arena, list->count + 1, sizeof *classes);
    size_t described = 0, count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->groups[i].text.pattern)
            groups[described++] = &list->groups[i];
    qsort(groups, described, sizeof *groups, by_class);
    for (size_t i = 0; i < described; i++) {
        if (i == 0 || by_class(&groups[i - 1], &groups[i]) != 0)
            classes[count++] = (struct monitor_class){.name = groups[i]->text.error_class};
        classes[count - 1].count += groups[i]->count;
    }
    qsort(classes, count, sizeof *classes, by_count);
    pending->classes = classes;
    pending->class_count = count < MONITOR_CLASSES ? count : MONITOR_CLASSES;
    pending->in_other_classes = list->events;
    for (size_t i = 0; i < pending->class_count; i++)
        pending->in_other_classes -= classes[i].count;
    free(groups);
}

static void
count_categories(const struct backlog *backlog, int64_t now, struct arena *arena,
                 struct monitor_pending *pending)
{
    struct group_list list;
    enum category category;
    backlog_groups(backlog, PIVOT_CATEGORY, NULL, now, arena, &list);
    for (size_t i = 0; i < list.count; i++)
        if (category_parse(bytes_of(list.groups[i].value), &category))
            pending->categories[category] += list.groups[i].count;
}

static void
count_ages(const struct backlog *backlog, int64_t now, struct arena *arena, struct monitor_ages *counted)
{
    struct group_list list;
    int64_t end = now - now % HOUR + HOUR;
    *counted = (struct monitor_ages){.is_known = true, .oldest_at = TIME_ABSENT};
    for (int i = 0; i < AGE_OLDER; i++)
        counted->from[i] = end - ages[i].hours * HOUR;
    counted->from[AGE_OLDER] = INT64_MIN;
    backlog_groups(backlog, PIVOT_HOUR, NULL, now, arena, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (!*list.groups[i].value) // without a time
            continue;
        int64_t hour = list.groups[i].first_at - list.groups[i].first_at % HOUR;
        int age = 0;
        while (hour < counted->from[age])
            age++;
        counted->counts[age] += list.groups[i].count;
        if (counted->oldest_at == TIME_ABSENT || hour < counted->oldest_at)
            counted->oldest_at = hour;
    }
}

static void
count_retries(const struct backlog *backlog, struct monitor_pending *pending)
{
    int64_t counts[BACKLOG_RETRIES];
    int64_t upto = 0, all = backlog_retries(backlog, counts);
    bool is_found = false;
    for (int i = 0; i < BACKLOG_RETRIES; i++) {
        upto += counts[i];
        pending->retries[i < MONITOR_RETRIES ? i : MONITOR_RETRIES - 1] += counts[i];
        if (!is_found && upto * 100 >= all * 95) {
            pending->retries_95 = i;
            is_found = true;
        }
    }
}

void
monitor_count(const struct backlog *backlog, bool has_ages, int64_t now, struct arena *arena,
              struct monitor_pending *pending)
{
    const struct group_limit limit = {.most = GROUPS_MOST};
    struct group_list list;
    *pending = (struct monitor_pending){0};
    backlog_groups_limited(backlog, PIVOT_ERROR, NULL, &limit, now, arena, &list);
    pending->count = list.events;
    count_classes(&list, arena, pending);
    count_categories(backlog, now, arena, pending);
    count_retries(backlog, pending);
    if (has_ages)
        count_ages(backlog, now, arena, &pending->ages);
}

static bool
is_asked(const struct operation *operation, int64_t from)
{
    int64_t began = operation->started_at == TIME_ABSENT ? operation->created_at : operation->started_at;
    return operation->action == ACTION_REPROCESS && operation->state != OPERATION_FREEZING && began >= from;
}

size_t
monitor_results(const struct monitor *monitor, int64_t from, struct outcomes *results)
{
    size_t count = 0;
    *results = (struct outcomes){0};
    for (size_t i = 0; i < monitor->operation_count; i++) {
        if (!is_asked(&monitor->operations[i], from))
            continue;
        struct outcomes one = outcomes_of(&monitor->operations[i]);
        for (int part = 0; part < OUTCOME_PARTS; part++)
            results->parts[part] += one.parts[part];
        results->total += one.total;
        results->severity = one.severity > results->severity ? one.severity : results->severity;
        count++;
    }
    return count;
}

// Numbers in a row are one range. What a range leaves out between two numbers is no operation of the list.
const char *
monitor_results_filter(const struct monitor *monitor, int64_t from, const char *outcome, struct arena *arena)
{
    struct strbuf filter = {0};
    for (size_t i = 0; i < monitor->operation_count;) {
        size_t end = i;
        while (end < monitor->operation_count && is_asked(&monitor->operations[end], from))
            end++;
        if (end == i + 1)
            strbuf_printf(&filter, "%s(operation:%" PRId64 " outcome:%s)", filter.len ? " or " : "",
                          monitor->operations[i].no, outcome);
        else if (end > i)
            strbuf_printf(&filter, "%s(operation:%" PRId64 "..%" PRId64 " outcome:%s)",
                          filter.len ? " or " : "", monitor->operations[end - 1].no,
                          monitor->operations[i].no, outcome);
        i = end + 1;
    }
    const char *text = filter.len ? arena_text(arena, strbuf_bytes(&filter)) : NULL;
    strbuf_release(&filter);
    return text;
}
