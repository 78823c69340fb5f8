#include "commands/groups_path.h"

#include <stdlib.h>
#include "core/filter/path_term.h"

static bool
is_path(struct bytes text)
{
    return bytes_starts(text, "$");
}

static bool
parse_one(struct bytes text, struct grouped_by *by, struct err *err)
{
    text = bytes_trim(text);
    if (is_path(text)) {
        by->pivot = PIVOT_PATH;
        return json_path_parse(&by->path, text, err) || err_context(err, "--by, column %d", err->column);
    }
    return pivot_parse(text, &by->pivot) ||
           err_set(err, ERR_USAGE,
                   "--by is error, type, source, topic, category or hour, or a path of the payload such as "
                   "$.type, or two of them with a comma between, not \"%.*s\"",
                   BYTES_ARGS(text));
}

// The first comma that is not part of a path; SIZE_MAX: none.
static size_t
comma_between(struct bytes text)
{
    size_t at = bytes_find(text, BYTES(","), 0);
    while (at != SIZE_MAX && is_path(text)) {
        struct json_path *path = NULL;
        struct err ignored = {0};
        bool is_whole = json_path_parse(&path, bytes_trim(bytes_slice(text, 0, at)), &ignored);
        json_path_destroy(path);
        if (is_whole)
            break;
        at = bytes_find(text, BYTES(","), at + 1);
    }
    return at;
}

bool
groups_by_parse(const char *text, struct grouped_by by[GROUPS_BY_MOST], size_t *count, struct err *err)
{
    struct bytes all = bytes_of(text ? text : pivot_name(PIVOT_ERROR));
    size_t comma = comma_between(all);
    *count = comma == SIZE_MAX ? 1 : 2;
    bool ok = parse_one(bytes_slice(all, 0, comma == SIZE_MAX ? all.len : comma), &by[0], err) &&
              (*count == 1 || parse_one(bytes_slice(all, comma + 1, all.len), &by[1], err));
    for (size_t i = 0; ok && i < *count; i++)
        by[i].values = by[i].pivot == PIVOT_PATH ? path_values_create() : NULL;
    return ok;
}

void
groups_by_release(struct grouped_by by[GROUPS_BY_MOST])
{
    for (size_t i = 0; i < GROUPS_BY_MOST; i++) {
        path_ahead_stop(by[i].ahead);
        path_values_destroy(by[i].values);
        json_path_destroy(by[i].path);
        by[i] = (struct grouped_by){0};
    }
}

void
groups_path_begin(const struct store_settings *settings, struct grouped_by *by)
{
    by->ahead = path_ahead_start(settings, by->path, by->values);
}

bool
groups_path_read(struct store *store, struct grouped_by *by, const struct backlog *backlog, void *progress,
                 struct err *err)
{
    struct path_ahead *ahead = by->ahead;
    by->ahead = NULL;
    int64_t *ids;
    size_t count;
    backlog_ids(backlog, PIVOT_ERROR, NULL, false, &ids, &count);
    bool ok = path_read(store, by->path, ids, count, by->values, ahead, progress, err);
    free(ids);
    return ok;
}

// The term that chooses the events with this value; false: there is none.
static bool
print_term(const struct grouped_by *by, const struct event_group *group, struct strbuf *out)
{
    if (by->pivot == PIVOT_PATH)
        path_term_print(by->path, group->path_kind, bytes_of(group->value), out);
    else if (by->pivot == PIVOT_ERROR)
        strbuf_printf(out, "group:%s", group->value);
    else if (by->pivot == PIVOT_CATEGORY)
        strbuf_printf(out, "category:%s", group->value);
    else
        return false;
    return true;
}

static void
add_value(const struct grouped_by *by, const struct event_group *group, const char *name,
          const char *kind_name, struct value *object)
{
    bool is_path = by->pivot == PIVOT_PATH;
    bool has_name = group->value[0] != '\0' || (is_path && group->path_kind == PATH_TEXT);
    value_add_text(object, name, has_name ? group->value : NULL);
    if (is_path)
        value_add_text(object, kind_name, path_kind_name(group->path_kind));
}

void
groups_by_json(const struct grouped_by *by, const struct event_group *group, struct value *object)
{
    struct strbuf term = {0};
    add_value(by, group, "group", "value", object);
    if (by->pivot == PIVOT_PATH && print_term(by, group, &term))
        value_add_text(object, "filter", strbuf_text(&term));
    strbuf_release(&term);
}

void
groups_pair_json(const struct grouped_by by[GROUPS_BY_MOST], const struct event_group *group,
                 struct value *object)
{
    const struct event_group *second = group->details->second;
    struct strbuf term = {0};
    add_value(&by[0], group, "group", "value", object);
    add_value(&by[1], second, "second", "second_value", object);
    bool has_term = print_term(&by[0], group, &term);
    strbuf_add_text(&term, " ");
    has_term = has_term && print_term(&by[1], second, &term);
    value_add_text(object, "filter", has_term ? strbuf_text(&term) : NULL);
    strbuf_release(&term);
}

const char *
groups_by_text(const struct grouped_by *by, const struct event_group *group, struct arena *arena)
{
    if (by->pivot != PIVOT_PATH)
        return group->value;
    struct strbuf text = {0};
    path_value_print(group->path_kind, bytes_of(group->value), &text);
    const char *kept = arena_text(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return kept;
}
