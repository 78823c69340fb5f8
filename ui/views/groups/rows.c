#include "ui/views/groups/rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

const struct event_group *
group_rows_at(const struct group_rows *rows, size_t shown)
{
    return &rows->rows[rows->shown[shown]];
}

int64_t
group_rows_largest(const struct group_rows *rows)
{
    int64_t largest = 0;
    for (size_t i = 0; i < rows->count; i++)
        largest = rows->rows[i].count > largest ? rows->rows[i].count : largest;
    return largest;
}

bool
group_rows_are_cut(const struct group_rows *rows)
{
    return rows->latest.total > rows->latest.count;
}

size_t
group_rows_single(const struct group_rows *rows)
{
    if (group_rows_are_cut(rows))
        return rows->parts.total > rows->latest.total ? rows->parts.total : rows->latest.total;
    if (rows->parts.count == 0)
        return rows->count;
    size_t count = rows->parts.count;
    for (size_t i = 0; i < rows->latest.count; i++)
        count += rows->latest.groups[i].part_count == 0;
    return count;
}

static bool
has_part(const struct event_group *merged, uint64_t key)
{
    for (size_t i = 0; i < merged->part_count; i++)
        if (merged->parts[i] == key)
            return true;
    return false;
}

int64_t
group_rows_shown(const struct group_rows *rows, size_t *groups)
{
    int64_t events = 0;
    const struct event_group *merged = NULL; // the last one above
    *groups = 0;
    for (size_t i = 0; i < rows->shown_count; i++) {
        const struct event_group *group = group_rows_at(rows, i);
        if (merged && has_part(merged, group->key))
            continue;
        if (group->part_count)
            merged = group;
        events += group->count;
        *groups += group->part_count ? group->part_count : 1;
    }
    return events;
}

bool
group_rows_are_overridden(const struct group_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].is_overridden)
            return true;
    return false;
}

void
group_rows_show(struct group_rows *rows, const struct group_picks *picks)
{
    rows->shown_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (picks && !group_picks_has(picks, rows->rows[i].key))
            continue;
        rows->shown = alloc_grow(rows->shown, rows->shown_count, &rows->shown_capacity, sizeof *rows->shown);
        rows->shown[rows->shown_count++] = i;
    }
}

void
group_rows_renew(struct group_rows *rows)
{
    rows->count = 0;
    rows->is_frozen = false;
}

static int
compare_rows(const void *left, const void *right, void *context)
{
    const struct group_rows *rows = context;
    if (rows->waits) {
        bool left_waits = rows->waits(rows->context, left), right_waits = rows->waits(rows->context, right);
        if (left_waits != right_waits)
            return left_waits ? 1 : -1;
    }
    int result = group_compare(left, right, rows->order);
    return rows->is_reversed ? -result : result;
}

// The same for where they stand, because so many groups are large.
static int
compare_places(const void *left, const void *right, void *context)
{
    const struct event_group *const *a = left;
    const struct event_group *const *b = right;
    return compare_rows(*a, *b, context);
}

// A group's own keys are what a merged one hides, turned round.
static const struct event_group *
merged_with(const struct group_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++)
        if (has_part(&list->groups[i], key))
            return &list->groups[i];
    return NULL;
}

static bool
is_unfolded(const struct group_rows *rows, uint64_t key)
{
    return keys_find(&rows->unfolded, key) >= 0;
}

// The single groups of a merged one, from there on in the rows.
static size_t
add_parts(struct group_rows *rows, const struct event_group *merged, size_t at)
{
    size_t from = at;
    for (size_t i = 0; i < rows->parts.count; i++)
        if (has_part(merged, rows->parts.groups[i].key))
            rows->rows[at++] = rows->parts.groups[i];
    qsort_r(rows->rows + from, at - from, sizeof *rows->rows, compare_rows, rows);
    return at;
}

void
group_rows_order(struct group_rows *rows)
{
    const struct group_list *latest = &rows->latest;
    const struct event_group **ordered = alloc_array(latest->count + 1, sizeof *ordered);
    for (size_t i = 0; i < latest->count; i++)
        ordered[i] = &latest->groups[i];
    if (latest->count)
        qsort_r(ordered, latest->count, sizeof *ordered, compare_places, rows);
    free(rows->rows);
    rows->rows = alloc_array(latest->count + rows->parts.count + 1, sizeof *rows->rows);
    rows->count = 0;
    for (size_t i = 0; i < latest->count; i++) {
        rows->rows[rows->count++] = *ordered[i];
        if (ordered[i]->part_count && is_unfolded(rows, ordered[i]->key))
            rows->count = add_parts(rows, ordered[i], rows->count);
    }
    free(ordered);
    arena_release(&rows->kept);
    rows->arrived = 0;
}

// Rows of unfolded groups have an order of their own.
bool
group_rows_are_out_of_order(const struct group_rows *rows)
{
    for (size_t i = 1; rows->parts.count == 0 && i < rows->count; i++)
        if (compare_rows(&rows->rows[i - 1], &rows->rows[i], (void *)(uintptr_t)rows) > 0)
            return true;
    return false;
}

bool
group_rows_is_part(const struct group_rows *rows, const struct event_group *group)
{
    return !group->part_count && rows->parts.count && merged_with(&rows->latest, group->key) != NULL;
}

bool
group_rows_fold(struct group_rows *rows, size_t shown)
{
    const struct event_group *group = group_rows_at(rows, shown);
    if (!group->part_count)
        group = merged_with(&rows->latest, group->key);
    if (!group)
        return false;
    uint64_t key = group->key;
    if (!is_unfolded(rows, key)) {
        keys_index(&rows->unfolded, key);
        return true;
    }
    struct keys left = {0};
    for (size_t i = 0; i < rows->unfolded.count; i++)
        if (rows->unfolded.keys[i] != key)
            keys_index(&left, rows->unfolded.keys[i]);
    keys_release(&rows->unfolded);
    rows->unfolded = left;
    return true;
}

static bool
group_rows_is_among(const struct event_group *group, const struct group_list *list)
{
    return group >= list->groups && group < list->groups + list->count;
}

// Its texts must outlive the answer they came with.
static void
keep_empty(struct group_rows *rows, struct event_group *group)
{
    struct arena *kept = &rows->kept;
    if (group->count == 0)
        return;
    group->count = 0;
    group->per_minute = 0;
    group->parts = NULL;
    group->part_count = 0;
    memset(group->spark, 0, sizeof group->spark);
    memset(group->types, 0, sizeof group->types);
    memset(group->topics, 0, sizeof group->topics);
    group->value = arena_text(kept, bytes_of(group->value));
    group->path = arena_text(kept, bytes_of(group->path));
    group->path_term = arena_text(kept, bytes_of(group->path_term));
    group->text.pattern = arena_text(kept, bytes_of(group->text.pattern));
    group->text.error_class = arena_text(kept, bytes_of(group->text.error_class));
    group->text.sample = arena_text(kept, bytes_of(group->text.sample));
    group->text.frame = arena_text(kept, bytes_of(group->text.frame));
}

// The newest numbers into the rows as they stand. false: other groups are merged or listed now than the rows
// say.
static bool
update(struct group_rows *rows, const struct group_list *latest, const struct group_list *parts)
{
    size_t count = latest->count + parts->count;
    const struct event_group **found = alloc_array(count ? count : 1, sizeof *found);
    for (size_t i = 0; i < count; i++)
        found[i] = i < latest->count ? &latest->groups[i] : &parts->groups[i - latest->count];
    qsort(found, count, sizeof *found, event_group_by_key);
    size_t known = 0;
    bool is_same = true;
    for (size_t i = 0; i < rows->count; i++) {
        const struct event_group *row = &rows->rows[i];
        const struct event_group **at = bsearch(&row, found, count, sizeof *found, event_group_by_key);
        bool is_part = at && parts->count && group_rows_is_among(*at, parts);
        known += at != NULL && !is_part;
        is_same &= at ? row->part_count == (*at)->part_count : row->part_count == 0;
        is_same &= !is_part || group_rows_is_part(rows, row);
        if (at)
            rows->rows[i] = **at;
        else if (latest->total > latest->count)
            is_same = false;
        else
            keep_empty(rows, &rows->rows[i]);
    }
    rows->arrived = latest->count - known;
    free(found);
    return is_same;
}

bool
group_rows_take(struct group_rows *rows, struct reply *reply)
{
    // Rows still point into the answer before, until they are updated.
    bool is_same = update(rows, &reply->groups.list, &reply->groups.parts);
    arena_release(&rows->arena);
    arena_adopt(&rows->arena, &reply->arena);
    rows->latest = reply->groups.list;
    rows->parts = reply->groups.parts;
    bool is_ordered = !rows->is_frozen || rows->count == 0;
    if (is_ordered || !is_same)
        group_rows_order(rows);
    rows->is_frozen |= reply->is_last && rows->count > 0;
    return is_ordered;
}

void
group_rows_forget(struct group_rows *rows)
{
    struct group_rows empty = {.order = rows->order,
                               .is_reversed = rows->is_reversed,
                               .waits = rows->waits,
                               .context = rows->context};
    group_rows_release(rows);
    *rows = empty;
}

void
group_rows_release(struct group_rows *rows)
{
    arena_release(&rows->arena);
    arena_release(&rows->kept);
    free(rows->rows);
    free(rows->shown);
    keys_release(&rows->unfolded);
    *rows = (struct group_rows){0};
}
