#include "commands/events_sort.h"

#include "commands/path_read.h"
#include "search/order.h"

bool
events_sort_parse(const char *text, struct events_sort *sort, struct err *err)
{
    if (!text)
        return true;
    sort->is_reversed = text[0] == '-';
    sort->title = text + sort->is_reversed;
    if (sort->title[0] != '$')
        return err_set(err, ERR_USAGE,
                       "--sort takes a path of the payload such as $.amount, or -$.amount for the highest "
                       "first, not \"%s\"",
                       text);
    if (!json_path_parse(&sort->path, bytes_of(sort->title), err))
        return err_context(err, "--sort, column %d", err->column + sort->is_reversed);
    sort->values = path_values_create();
    return true;
}

void
events_sort_release(struct events_sort *sort)
{
    path_values_destroy(sort->values);
    json_path_destroy(sort->path);
    *sort = (struct events_sort){0};
}

bool
events_sort_ids(struct store *store, struct events_sort *sort, int64_t limit, int64_t *ids, size_t *count,
                void *progress, struct err *err)
{
    if (!sort->path)
        return true;
    if (!path_read(store, sort->path, ids, *count, sort->values, NULL, progress, err))
        return false;
    list_order_ids(&(struct list_ordering){.order = ORDER_PATH,
                                           .is_reversed = sort->is_reversed,
                                           .values = sort->values},
                   ids, *count);
    if (limit > 0 && *count > (size_t)limit)
        *count = (size_t)limit;
    return true;
}

bool
events_sort_value(struct events_sort *sort, int64_t id, struct strbuf *text)
{
    struct bytes name;
    uint32_t number = path_values_of(sort->values, id);
    if (number == PATH_UNREAD)
        return false;
    enum path_kind kind = path_values_value(sort->values, number, &name);
    if (kind != PATH_MISSING)
        path_value_print(kind, name, text);
    return kind != PATH_MISSING;
}
