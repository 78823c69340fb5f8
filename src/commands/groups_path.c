#include "commands/groups_path.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/filter/path_term.h"
#include "store/events/paths.h"

// Fewer events are read one by one, whatever their payloads: a pass looks at all pending ones.
enum { FEW = 5000, TICK = 1000 };

bool
groups_path_is(const char *by)
{
    return by && by[0] == '$';
}

struct path_values_reading {
    struct path_values *values;
    bool (*tick)(void *context, int64_t events);
    void *context;
    int64_t events;
};

static bool
put_value(void *context, int64_t id, struct bytes token)
{
    struct path_values_reading *reading = context;
    path_values_put(reading->values, id, token);
    return ++reading->events % TICK || reading->tick(reading->context, reading->events);
}

bool
groups_path_read(struct store *store, const struct json_path *path, struct backlog *backlog,
                 struct path_values *values, bool (*tick)(void *context, int64_t events), void *context,
                 struct err *err)
{
    struct path_values_reading reading = {.values = values, .tick = tick, .context = context};
    int64_t *ids;
    size_t count;
    backlog_ids(backlog, PIVOT_ERROR, NULL, false, &ids, &count);
    bool ok = count <= FEW || store_path_pass(store, path, put_value, &reading, err);
    // Closed events, and those that became pending since.
    int64_t *unread = alloc_array(count + 1, sizeof *unread);
    count = ok ? path_values_unread(values, ids, count, unread) : 0;
    ok = ok && store_path_values(store, path, unread, count, put_value, &reading, err);
    free(unread);
    free(ids);
    if (ok)
        backlog_set_paths(backlog, values);
    return ok;
}

void
groups_path_json(const struct json_path *path, const struct event_group *group, struct value *object)
{
    bool has_name = group->path_kind == PATH_TEXT || group->value[0] != '\0';
    struct strbuf term = {0};
    path_term_print(path, group->path_kind, bytes_of(group->value), &term);
    value_add_text(object, "group", has_name ? group->value : NULL);
    value_add_text(object, "value", path_kind_name(group->path_kind));
    value_add_text(object, "filter", strbuf_text(&term));
    strbuf_release(&term);
}

const char *
groups_path_text(const struct event_group *group, struct arena *arena)
{
    struct strbuf text = {0};
    path_value_print(group->path_kind, bytes_of(group->value), &text);
    const char *kept = arena_text(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return kept;
}
