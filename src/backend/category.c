// The categories that people gave to groups: seen by every screen, and given.
#include "backend/reader.h"
#include "backend/writer.h"

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

// Rows beside a rollup have no texts of their own.
static enum category
as_in_rollup(const void *context, uint64_t key, const struct group_text *text, bool *is_overridden)
{
    (void)text;
    (void)is_overridden;
    enum category category;
    return backlog_category(context, key, &category) ? category : CATEGORY_COUNT;
}

bool
reader_categories_look(struct reader *reader, struct err *err)
{
    bool has_changed;
    if (!store_categories_look(reader->session.store, &has_changed, err))
        return false;
    if (!has_changed)
        return true;
    backlog_categorize(reader->counts.backlog, decided, reader->session.store);
    reader_rows_forget_names(reader);
    if (reader->rows.backlog)
        backlog_categorize(reader->rows.backlog, as_in_rollup, reader->counts.backlog);
    if (backlog_describe_again(reader->counts.backlog))
        reader->counts.rollup_token = 0; // reading the rollup describes them
    reader->groups.is_dirty = true;
    return true;
}

void
writer_category_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    struct err err = {0};
    if (!store_category_set(session->store, request->groups.group,
                            request->set.is_given ? &request->set.category : NULL, request->reason, &err)) {
        session_failed(session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_CATEGORY, request->number);
    reply->is_last = true;
    session_reply(session, reply);
}
