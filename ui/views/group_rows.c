#include "ui/views/group_rows.h"

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
group_rows_are_overridden(const struct group_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].is_overridden)
            return true;
    return false;
}

void
group_rows_show(struct group_rows *rows, const struct row_filter *filter, const struct group_picks *picks)
{
    struct strbuf text = {0};
    rows->shown_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct event_group *group = &rows->rows[i];
        strbuf_reset(&text);
        if (row_filter_is_on(filter))
            group_row_text(group, &text);
        if (!row_filter_match(filter, strbuf_bytes(&text)) || (picks && !group_picks_has(picks, group->key)))
            continue;
        rows->shown = alloc_grow(rows->shown, rows->shown_count, &rows->shown_capacity, sizeof *rows->shown);
        rows->shown[rows->shown_count++] = i;
    }
    strbuf_release(&text);
}

static int
compare_rows(const void *left, const void *right, void *context)
{
    const struct group_rows *rows = context;
    int result = group_compare(left, right, rows->order);
    return rows->is_reversed ? -result : result;
}

void
group_rows_order(struct group_rows *rows)
{
    free(rows->rows);
    rows->count = rows->latest.count;
    rows->rows = alloc_array(rows->count ? rows->count : 1, sizeof *rows->rows);
    if (rows->count) {
        memcpy(rows->rows, rows->latest.groups, rows->count * sizeof *rows->rows);
        qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare_rows, rows);
    }
    arena_release(&rows->kept);
    rows->arrived = 0;
}

static int
by_key(const void *left, const void *right)
{
    const struct event_group *const *a = left;
    const struct event_group *const *b = right;
    return ((*a)->key > (*b)->key) - ((*a)->key < (*b)->key);
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
    memset(group->spark, 0, sizeof group->spark);
    memset(group->types, 0, sizeof group->types);
    memset(group->topics, 0, sizeof group->topics);
    group->value = arena_text(kept, bytes_of(group->value));
    group->text.pattern = arena_text(kept, bytes_of(group->text.pattern));
    group->text.error_class = arena_text(kept, bytes_of(group->text.error_class));
    group->text.sample = arena_text(kept, bytes_of(group->text.sample));
    group->text.frame = arena_text(kept, bytes_of(group->text.frame));
}

// The newest numbers into the rows as they stand.
static void
update(struct group_rows *rows, const struct group_list *latest)
{
    const struct event_group **found = alloc_array(latest->count ? latest->count : 1, sizeof *found);
    for (size_t i = 0; i < latest->count; i++)
        found[i] = &latest->groups[i];
    qsort(found, latest->count, sizeof *found, by_key);
    size_t known = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct event_group *row = &rows->rows[i];
        const struct event_group **at = bsearch(&row, found, latest->count, sizeof *found, by_key);
        known += at != NULL;
        if (at)
            rows->rows[i] = **at;
        else
            keep_empty(rows, &rows->rows[i]);
    }
    rows->arrived = latest->count - known;
    free(found);
}

bool
group_rows_take(struct group_rows *rows, struct reply *reply)
{
    // Rows still point into the answer before, until they are updated.
    update(rows, &reply->groups);
    arena_release(&rows->arena);
    arena_adopt(&rows->arena, &reply->arena);
    rows->latest = reply->groups;
    bool is_ordered = !rows->is_frozen || rows->count == 0;
    if (is_ordered)
        group_rows_order(rows);
    rows->is_frozen |= reply->is_last && rows->count > 0;
    return is_ordered;
}

void
group_rows_forget(struct group_rows *rows)
{
    struct group_rows empty = {.order = rows->order, .is_reversed = rows->is_reversed};
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
    *rows = (struct group_rows){0};
}
