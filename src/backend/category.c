// The categories that people gave to groups: seen by every screen, and given.
#include "backend/session.h"

#include "store/rollup/categories.h"

// CATEGORY_COUNT where nothing is known: left as it is.
static enum category
decided(const void *context, uint64_t key, const struct group_text *text, bool *is_overridden)
{
    const struct store *store = context;
    if (!text->pattern && !overrides_of(store_overrides(store), key))
        return CATEGORY_COUNT;
    return store_category(store, key, bytes_of(text->error_class), bytes_of(text->pattern), is_overridden);
}

// Rows beside sums have no texts of their own.
static enum category
as_in_sums(const void *context, uint64_t key, const struct group_text *text, bool *is_overridden)
{
    (void)text;
    (void)is_overridden;
    enum category category;
    return backlog_category(context, key, &category) ? category : CATEGORY_COUNT;
}

bool
desk_categories_look(struct desk *desk, struct err *err)
{
    bool has_changed;
    if (!store_categories_look(desk->store, &has_changed, err))
        return false;
    if (!has_changed)
        return true;
    backlog_categorize(desk->backlog, decided, desk->store);
    if (desk->rows)
        backlog_categorize(desk->rows, as_in_sums, desk->backlog);
    desk->is_dirty = true;
    return true;
}

void
desk_category_request(struct desk *desk, const struct request *request)
{
    struct err err = {0};
    if (!store_category_set(desk->store, request->group, request->has_category ? &request->category : NULL,
                            request->reason, &err)) {
        desk_failed(desk, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_CATEGORY, request->number);
    reply->is_last = true;
    desk_reply(desk, reply);
}
