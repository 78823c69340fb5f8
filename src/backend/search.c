// Lists that are searched for or sorted, in steps of some milliseconds, and texts
// kept for the searches to come.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "search/order.h"

enum { SCREENFUL = 50 };
static const int64_t STEP_US = 10000;       // of a search, between two looks for requests
static const int64_t SEND_FIRST_US = 30000; // the list before stays until then, where nothing was found yet
static const int64_t SEND_EVERY_US = 50000;
static const int64_t KEEP_EVERY = US_PER_SECOND;

static bool
is_asked_for(void *context)
{
    return !mailbox_is_empty(((struct reader *)context)->session.inbox);
}

void
reader_search_begin(struct reader *reader, struct list_job *list)
{
    struct err err = {0};
    if (!text_cache_check(reader->texts.cache, reader->session.store, &err))
        session_failed(&reader->session, 0, &err);
    bool is_pending = list->query.source != LIST_OPERATION && list->query.source != LIST_IDS &&
                      list->statuses == 1u << EVENT_PENDING;
    list->search = search_create(&(struct search_query){
        .filter = list->filter,
        .ids = list->candidates,
        .count = list->candidate_count,
        .backlog = is_pending ? reader_rows_known(reader) : NULL,
        .cache = is_pending ? reader->texts.cache : NULL,
        .leaves_undecided = list->leaves_undecided,
        .is_wanted_elsewhere = is_asked_for,
        .context = reader,
    });
}

bool
reader_list_is_sorted(const struct list_job *list)
{
    return list->query.order != ORDER_WHEN && list->candidates && list->query.source == LIST_PENDING &&
           list->statuses == 1u << EVENT_PENDING;
}

// Progress before the first result. The screen keeps the list before.
static void
send_progress(struct reader *reader, struct list_job *list)
{
    if (clock_mono() - list->sent_at < SEND_EVERY_US)
        return;
    struct reply *reply = reply_create(REPLY_LIST, list->number);
    reply->list.scanned = list->scanned;
    reply->list.total = (int64_t)list->candidate_count;
    reply->list.undecided = list->undecided;
    list->sent_at = clock_mono();
    session_reply(&reader->session, reply);
}

// A sorted list is sent in parts.
static void
send_sorted(struct reader *reader, struct list_job *list)
{
    size_t left = list->found.count - list->at;
    size_t count = left < LIST_AT_ONCE ? left : LIST_AT_ONCE;
    int64_t *ids = alloc_array(count + 1, sizeof *ids);
    if (count)
        memcpy(ids, list->found.ids + list->at, count * sizeof *ids);
    list->at += count;
    list->is_running = list->at < list->found.count;
    reader_list_send(reader, list, ids, count);
    if (!list->is_running)
        reader_list_end(list);
}

// Everything, where nothing had to be searched for.
static void
find_all(struct list_job *list)
{
    if (list->search || list->found.ids || !list->candidate_count)
        return;
    list->found.ids = alloc_array(list->candidate_count, sizeof *list->found.ids);
    memcpy(list->found.ids, list->candidates, list->candidate_count * sizeof *list->found.ids);
    list->found.count = list->candidate_count;
    list->scanned = (int64_t)list->candidate_count;
}

// Some of the texts that it is sorted by. False: the store failed.
static bool
fill_texts(struct reader *reader, enum event_text text, bool *is_over, struct err *err)
{
    const struct column *column = text_cache_column(reader->texts.cache, text);
    int64_t highest = backlog_highest_id(reader->counts.backlog);
    int64_t towards = column->is_bottom ? highest : 0;
    if (!(column->is_bottom && highest <= column->high) &&
        !text_cache_fill(reader->texts.cache, reader->session.store, text, towards, is_over, err))
        return false;
    *is_over = *is_over || (column->is_bottom && highest <= column->high);
    return true;
}

// Sorts what was found once the values it is sorted by are there. False: the store failed.
static bool
sort_found(struct reader *reader, struct list_job *list, struct err *err)
{
    const struct backlog *rows = reader_rows_known(reader);
    enum event_text text = list_order_text(list->query.order);
    bool is_by_path = list->query.order == ORDER_PATH, is_over = true;
    if (is_by_path)
        find_all(list);
    if (text != EVENT_TEXT_COUNT && !fill_texts(reader, text, &is_over, err))
        return false;
    if (is_by_path && !reader_list_paths_step(reader, list, &is_over, err))
        return false;
    send_progress(reader, list);
    if (!is_over)
        return true;
    find_all(list);
    list_order_ids(
        &(struct list_ordering){.order = list->query.order,
                                .is_reversed = list->query.oldest_first,
                                .backlog = rows ? rows : reader->counts.backlog,
                                .cache = reader->texts.cache,
                                .values = is_by_path ? reader_list_paths_values(reader, list) : NULL},
        list->found.ids, list->found.count);
    list->sort.is_over = true;
    list->at = 0;
    return true;
}

static void
send_found(struct reader *reader, struct list_job *list)
{
    int64_t waited = clock_mono() - list->sent_at;
    bool is_due = list->is_first ? list->found.count >= SCREENFUL || waited > SEND_FIRST_US
                                 : list->found.count >= LIST_AT_ONCE || waited > SEND_EVERY_US;
    if (list->is_running && !is_due)
        return;
    int64_t *ids = list->found.ids;
    size_t count = list->found.count;
    list->found = (struct search_found){.undecided = list->found.undecided};
    list->sent_at = clock_mono();
    reader_list_send(reader, list, ids, count);
    if (!list->is_running)
        reader_list_end(list);
}

static bool
search_some(struct reader *reader, struct list_job *list, struct err *err)
{
    if (!search_step(list->search, reader->session.store, clock_mono() + STEP_US, &list->found, err))
        return false;
    list->scanned = (int64_t)search_at(list->search);
    list->undecided = list->found.undecided;
    return true;
}

bool
reader_search_is_unconfirmed(const struct reader *reader, const struct list_job *list)
{
    return !list->is_confirmed && list->search && list->query.source == LIST_PENDING &&
           (filter_needs(list->filter) & EVENT_ERROR) && text_cache_has_foreign(reader->texts.cache);
}

// What an action is about is not chosen by texts that others may have written: it is matched once more, in
// the rows.
static bool
must_confirm(const struct reader *reader, const struct list_job *list)
{
    return list->leaves_undecided && reader_search_is_unconfirmed(reader, list);
}

static void
confirm_found(struct reader *reader, struct list_job *list)
{
    list->is_confirmed = true;
    if (list->found.count == 0)
        return;
    search_destroy(list->search);
    free(list->candidates);
    list->candidates = list->found.ids;
    list->candidate_count = list->found.count;
    list->found = (struct search_found){.undecided = list->found.undecided};
    list->search = search_create(&(struct search_query){.filter = list->filter,
                                                        .ids = list->candidates,
                                                        .count = list->candidate_count,
                                                        .leaves_undecided = true,
                                                        .is_wanted_elsewhere = is_asked_for,
                                                        .context = reader});
}

bool
reader_search_step(struct reader *reader, struct list_job *list)
{
    struct err err = {0};
    bool is_sorted = reader_list_is_sorted(list);
    bool is_searching = list->search && !search_is_over(list->search);
    if (list->sort.is_over) {
        send_sorted(reader, list);
        return true;
    }
    bool ok = is_searching || !is_sorted ? search_some(reader, list, &err) : sort_found(reader, list, &err);
    if (!ok) {
        // The place is kept: after a reconnect the list continues.
        uint64_t number = err.kind == ERR_UNREACHABLE ? 0 : list->number;
        if (number)
            reader_list_end(list);
        return session_failed(&reader->session, number, &err);
    }
    if (must_confirm(reader, list)) {
        send_progress(reader, list);
        if (search_is_over(list->search))
            confirm_found(reader, list);
        return true;
    }
    if (is_sorted) {
        send_progress(reader, list);
        return true;
    }
    list->is_running = !search_is_over(list->search);
    send_found(reader, list);
    return true;
}

bool
reader_cache_step(struct reader *reader)
{
    struct text_cache *cache = reader->texts.cache;
    int64_t highest = backlog_highest_id(reader->counts.backlog);
    if (reader->counts.is_counting || !reader_rollup_readable(reader) ||
        clock_mono() < reader->texts.look_at || reader->session.settings->filter_cache == 0)
        return false;
    text_cache_rest(cache);
    struct err err = {0};
    bool is_over = true;
    if (!reader_rows_step(reader, &is_over, &err))
        return session_failed(&reader->session, 0, &err);
    if (!is_over)
        return true;
    if (!text_cache_check(cache, reader->session.store, &err))
        return session_failed(&reader->session, 0, &err);
    for (unsigned i = 0; i < EVENT_TEXT_COUNT; i++) {
        enum event_text text = (enum event_text)i;
        if (!text_cache_wants(cache, text, highest))
            continue;
        int64_t towards = text_cache_column(cache, text)->is_bottom ? highest : 0;
        if (!text_cache_fill(cache, reader->session.store, text, towards, &is_over, &err))
            return session_failed(&reader->session, 0, &err);
        if (!is_over)
            return true;
    }
    reader->texts.look_at = clock_mono() + KEEP_EVERY;
    return false;
}
