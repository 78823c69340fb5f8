// Groups by error with near-equal groups as one. They are counted from the same rows or the same rollup as
// single groups, so their figures are as exact.
#include "core/backlog/rows.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/fingerprint/merge.h"

_Static_assert((int)MERGE_MOST <= (int)GROUPS_LISTED, "an operation can name all parts of a merged group");

static struct merge *
find_merges(const struct group_list *single)
{
    struct merge_input *inputs = alloc_array(single->count, sizeof *inputs);
    struct merge *merges = alloc_array(single->count, sizeof *merges);
    for (size_t i = 0; i < single->count; i++)
        inputs[i] = (struct merge_input){.key = single->groups[i].key,
                                         .error_class = bytes_of(single->groups[i].text.error_class),
                                         .pattern = bytes_of(single->groups[i].text.pattern)};
    group_merge(inputs, single->count, merges);
    free(inputs);
    return merges;
}

// A single group that is shown with others.
struct member {
    uint64_t leader; // key
    uint64_t key;
    const struct event_group *group;
    struct bytes word;
};

static int
by_leader(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->leader != b->leader)
        return a->leader < b->leader ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

struct members {
    struct member *list; // by leader, then by key: the leader is the first of its own
    size_t count;
};

static struct members
find_members(const struct group_list *single)
{
    struct merge *merges = find_merges(single);
    struct members members = {.list = alloc_array(single->count, sizeof *members.list)};
    for (size_t i = 0; i < single->count; i++)
        if (bytes_present(merges[i].word))
            members.list[members.count++] = (struct member){.leader = single->groups[merges[i].leader].key,
                                                            .key = single->groups[i].key,
                                                            .group = &single->groups[i],
                                                            .word = merges[i].word};
    free(merges);
    if (members.count)
        qsort(members.list, members.count, sizeof *members.list, by_leader);
    return members;
}

// For each group by error, the index of the group that it is counted with.
static uint32_t *
find_leaders(const struct backlog *backlog, const struct members *members)
{
    uint32_t *leaders = alloc_array(backlog->keys.count, sizeof *leaders);
    for (size_t i = 0; i < backlog->keys.count; i++)
        leaders[i] = (uint32_t)i;
    for (size_t i = 0; i < members->count; i++)
        leaders[keys_find(&backlog->keys, members->list[i].key)] =
            (uint32_t)keys_find(&backlog->keys, members->list[i].leader);
    return leaders;
}

static void
add_outcomes(struct group_outcomes *sum, const struct group_outcomes *outcomes)
{
    sum->resolved += outcomes->resolved;
    sum->discarded += outcomes->discarded;
    sum->reprocessed += outcomes->reprocessed;
    sum->returned += outcomes->returned;
    if (outcomes->since && (!sum->since || outcomes->since < sum->since))
        sum->since = outcomes->since;
}

// Makes the counted group, which has the leader's name so far, a group of its own. Its members begin at
// `from`.
static void
name_merged(struct event_group *group, const struct members *members, size_t from, struct arena *arena)
{
    size_t to = from;
    while (to < members->count && members->list[to].leader == group->key)
        to++;
    uint64_t *parts = arena_array(arena, to - from, sizeof *parts);
    group->is_returned = group->is_overridden = false;
    group->outcomes = (struct group_outcomes){0};
    for (size_t i = from; i < to; i++) {
        parts[i - from] = members->list[i].key;
        group->is_returned |= members->list[i].group->is_returned;
        group->is_overridden |= members->list[i].group->is_overridden;
        add_outcomes(&group->outcomes, &members->list[i].group->outcomes);
    }
    // A placeholder where they differ.
    const struct member *leader = &members->list[from];
    const char *pattern = leader->group->text.pattern;
    group->text.pattern = arena_printf(arena, "%.*s<word>%s", (int)(leader->word.data - pattern), pattern,
                                       leader->word.data + leader->word.len);
    group->parts = parts;
    group->part_count = to - from;
    group->key = ~group->key; // never the key of a single group: both may be shown
}

static const struct member *
find_leader(const struct members *members, uint64_t key)
{
    const struct member wanted = {.leader = key, .key = key};
    return members->count ? bsearch(&wanted, members->list, members->count, sizeof *members->list, by_leader)
                          : NULL;
}

static const char *
keep_text(const char *text, struct arena *arena)
{
    return arena_text(arena, bytes_of(text));
}

// A copy with its texts.
static struct event_group
keep_group(const struct event_group *group, struct arena *arena)
{
    struct event_group kept = *group;
    kept.value = keep_text(group->value, arena);
    kept.text.pattern = keep_text(group->text.pattern, arena);
    kept.text.error_class = keep_text(group->text.error_class, arena);
    kept.text.sample = keep_text(group->text.sample, arena);
    kept.text.frame = keep_text(group->text.frame, arena);
    for (int i = 0; i < GROUP_TOP; i++) {
        kept.types[i].name = keep_text(group->types[i].name, arena);
        kept.topics[i].name = keep_text(group->topics[i].name, arena);
    }
    return kept;
}

static void
merge_groups(const struct backlog *backlog, const struct group_limit *limit, bool is_detailed, int64_t now,
             struct arena *arena, struct group_list *list, struct group_list *parts)
{
    struct group_list single;
    struct arena scratch = {0}; // of the single groups, of which few are kept
    backlog_groups_limited(backlog, PIVOT_ERROR, NULL, limit, now, &scratch, &single);
    struct members members = find_members(&single);
    uint32_t *leaders = find_leaders(backlog, &members);
    const struct tally_query query = {
        .pivot = PIVOT_ERROR, .leaders = leaders, .is_detailed = is_detailed, .limit = limit};
    backlog_tally(backlog, &query, now, arena, list);
    for (size_t g = 0; g < list->count; g++) {
        const struct member *leader = find_leader(&members, list->groups[g].key);
        if (leader)
            name_merged(&list->groups[g], &members, (size_t)(leader - members.list), arena);
    }

    *parts = (struct group_list){.groups = arena_array(arena, members.count, sizeof *parts->groups),
                                 .total = single.total};
    for (size_t i = 0; i < members.count; i++)
        parts->groups[parts->count++] = keep_group(members.list[i].group, arena);
    arena_release(&scratch);
    free(members.list);
    free(leaders);
}

void
backlog_groups_merged(const struct backlog *backlog, const struct group_limit *limit, int64_t now,
                      struct arena *arena, struct group_list *list, struct group_list *parts)
{
    merge_groups(backlog, limit, false, now, arena, list, parts);
}

void
backlog_groups_detailed(const struct backlog *backlog, enum pivot pivot, bool is_merged,
                        const struct group_limit *limit, int64_t now, struct arena *arena,
                        struct group_list *list)
{
    struct group_list parts;
    if (is_merged)
        merge_groups(backlog, limit, true, now, arena, list, &parts);
    else
        backlog_tally(backlog, &(struct tally_query){.pivot = pivot, .is_detailed = true, .limit = limit},
                      now, arena, list);
}
