#include "ui/views/groups/query.h"

#include <string.h>
#include "base/strbuf.h"
#include "ui/views/filter_line.h"
#include "ui/views/groups/texts.h"

// All the keys of a merged group.
static const char *
parts_text(const struct event_group *group, struct arena *arena)
{
    struct strbuf term = {0};
    char key[GROUP_TEXT];
    for (size_t i = 0; i < group->part_count; i++)
        strbuf_printf(&term, "%s%s", i ? "," : "", group_text(group->parts[i], key));
    const char *text = arena_text(arena, strbuf_bytes(&term));
    strbuf_release(&term);
    return text;
}

static char *
arena_copy_of(const char *text, struct arena *arena)
{
    char *copy = arena_alloc(arena, strlen(text) + 1);
    memcpy(copy, text, strlen(text));
    return copy;
}

// The group by error that a pivot is turned within, and the filter; NULL: neither.
static char *
narrowed_by(const uint64_t *within, const char *filter, struct arena *arena)
{
    char key[GROUP_TEXT];
    const char *group = within ? arena_printf(arena, "group:%s", group_text(*within, key)) : NULL;
    const char *text = filter_line_both(group, filter, arena);
    return text && *text ? arena_copy_of(text, arena) : NULL;
}

struct list_query
group_query_matching(const uint64_t *within, struct bytes filter, struct arena *arena)
{
    return (struct list_query){.source = LIST_PENDING,
                               .filter = narrowed_by(within, arena_text(arena, filter), arena)};
}

// The events with one value at a path.
static struct list_query
value_query(const uint64_t *within, const struct event_group *group, const char *filter, struct arena *arena)
{
    const char *both = filter_line_both(group->path_term, filter, arena);
    struct list_query query = group_query_matching(within, bytes_of(both), arena);
    query.path = arena_copy_of(group->path, arena);
    query.path_key = group->key;
    query.path_filter = bytes_hash(bytes_of(query.filter));
    return query;
}

struct list_query
group_query(enum pivot pivot, const uint64_t *within, const struct event_group *group, const char *filter,
            struct arena *arena)
{
    if (pivot == PIVOT_PATH)
        return value_query(within, group, filter, arena);
    struct list_query query = {.source = LIST_PENDING, .pivot = pivot, .has_value = true};
    const char *value = group->part_count ? parts_text(group, arena) : group->value;
    strncpy(query.value, value, sizeof query.value - 1);
    query.filter = narrowed_by(within, filter, arena);
    return query;
}

const char *
group_exact_term(const char *field, const char *value, struct arena *arena)
{
    struct strbuf term = {0};
    strbuf_printf(&term, "%s:=\"", field);
    for (const char *at = value; *at; at++) {
        if (*at == '"' || *at == '\\')
            strbuf_add_char(&term, '\\');
        strbuf_add_char(&term, *at);
    }
    strbuf_add_char(&term, '"');
    const char *text = arena_text(arena, strbuf_bytes(&term));
    strbuf_release(&term);
    return text;
}

const char *
group_term(enum pivot pivot, const struct event_group *group, struct arena *arena)
{
    static const char *const fields[PIVOT_COUNT] = {[PIVOT_TYPE] = "type",
                                                    [PIVOT_SOURCE] = "source",
                                                    [PIVOT_TOPIC] = "topic",
                                                    [PIVOT_CATEGORY] = "category"};
    const char *field = fields[pivot];
    if (group->part_count)
        return arena_printf(arena, "group:%s", parts_text(group, arena));
    if (pivot == PIVOT_PATH)
        return group->path_term;
    if (!field)
        return NULL;
    if (!*group->value)
        return arena_printf(arena, "!%s:/^/", field);
    if (pivot == PIVOT_CATEGORY)
        return arena_printf(arena, "category:%s", group->value);
    return group_exact_term(field, group->value, arena);
}
