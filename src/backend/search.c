// Lists that are searched for or sorted, in steps of some milliseconds; texts kept for the searches to come;
// and what a list comes to by its columns.
#include "backend/session.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/intern.h"
#include "search/order.h"

enum { SCREENFUL = 50, FACETS_A_FIELD = 8 };
static const int64_t STEP_US = 10000;       // of a search, between two looks for requests
static const int64_t TELL_FIRST_US = 30000; // the list before stays until then, where nothing was found yet
static const int64_t TELL_EVERY_US = 50000;
static const int64_t KEEP_EVERY = US_PER_SECOND;

static bool
is_asked_for(void *context)
{
    return !mailbox_is_empty(((struct session *)context)->inbox);
}

void
session_search_begin(struct session *session, struct list_job *list)
{
    struct err err = {0};
    if (!text_cache_check(session->cache, session->store, &err))
        session_failed(session, 0, &err);
    bool is_pending = list->query.source != LIST_OPERATION && list->statuses == 1u << EVENT_PENDING;
    list->search = search_create(&(struct search_query){
        .filter = list->filter,
        .ids = list->candidates,
        .count = list->candidate_count,
        .backlog = is_pending ? session_rows_known(session) : NULL,
        .cache = is_pending ? session->cache : NULL,
        .leaves_undecided = list->leaves_undecided,
        .is_wanted_elsewhere = is_asked_for,
        .context = session,
    });
}

bool
session_list_is_sorted(const struct list_job *list)
{
    return list->query.order != ORDER_WHEN && list->candidates && list->query.source == LIST_PENDING &&
           list->statuses == 1u << EVENT_PENDING;
}

// How far it is, before anything can be told: the list before stays.
static void
tell_progress(struct session *session, struct list_job *list)
{
    if (clock_mono() - list->told_at < TELL_EVERY_US)
        return;
    struct reply *reply = reply_create(REPLY_LIST, list->number);
    reply->scanned = list->scanned;
    reply->total = (int64_t)list->candidate_count;
    reply->undecided = list->undecided;
    list->told_at = clock_mono();
    session_reply(session, reply);
}

// What is sorted is told in handfuls.
static void
tell_sorted(struct session *session, struct list_job *list)
{
    size_t left = list->found.count - list->at;
    size_t count = left < LIST_AT_ONCE ? left : LIST_AT_ONCE;
    int64_t *ids = alloc_array(count + 1, sizeof *ids);
    if (count)
        memcpy(ids, list->found.ids + list->at, count * sizeof *ids);
    list->at += count;
    list->is_running = list->at < list->found.count;
    session_list_tell(session, list, ids, count);
    if (!list->is_running)
        session_list_end(list);
}

// Sorts what was found once the texts it is sorted by are there. False: the store failed.
static bool
sort_found(struct session *session, struct list_job *list, struct err *err)
{
    const struct backlog *rows = session_rows_known(session);
    enum event_text text = list_order_text(list->query.order);
    bool is_over = true;
    if (text != EVENT_TEXT_COUNT) {
        const struct column *column = text_cache_column(session->cache, text);
        int64_t highest = backlog_highest_id(session->backlog);
        int64_t towards = column->is_bottom ? highest : 0;
        if (!(column->is_bottom && highest <= column->high) &&
            !text_cache_fill(session->cache, session->store, text, towards, &is_over, err))
            return false;
        is_over = is_over || (column->is_bottom && highest <= column->high);
    }
    tell_progress(session, list);
    if (!is_over)
        return true;
    if (!list->search && list->candidate_count) {
        list->found.ids = alloc_array(list->candidate_count, sizeof *list->found.ids);
        memcpy(list->found.ids, list->candidates, list->candidate_count * sizeof *list->found.ids);
        list->found.count = list->candidate_count;
        list->scanned = (int64_t)list->candidate_count;
    }
    list_order_ids(rows ? rows : session->backlog, session->cache, list->query.order,
                   list->query.oldest_first, list->found.ids, list->found.count);
    list->is_sorted = true;
    list->at = 0;
    return true;
}

static void
tell_found(struct session *session, struct list_job *list)
{
    int64_t waited = clock_mono() - list->told_at;
    bool is_due = list->is_first ? list->found.count >= SCREENFUL || waited > TELL_FIRST_US
                                 : list->found.count >= LIST_AT_ONCE || waited > TELL_EVERY_US;
    if (list->is_running && !is_due)
        return;
    int64_t *ids = list->found.ids;
    size_t count = list->found.count;
    list->found = (struct search_found){.undecided = list->found.undecided};
    list->told_at = clock_mono();
    session_list_tell(session, list, ids, count);
    if (!list->is_running)
        session_list_end(list);
}

static bool
search_some(struct session *session, struct list_job *list, struct err *err)
{
    if (!search_step(list->search, session->store, clock_mono() + STEP_US, &list->found, err))
        return false;
    list->scanned = (int64_t)search_at(list->search);
    list->undecided = list->found.undecided;
    return true;
}

bool
session_search_step(struct session *session, struct list_job *list)
{
    struct err err = {0};
    bool is_sorted = session_list_is_sorted(list);
    bool is_searching = list->search && !search_is_over(list->search);
    if (list->is_sorted) {
        tell_sorted(session, list);
        return true;
    }
    bool ok = is_searching || !is_sorted ? search_some(session, list, &err) : sort_found(session, list, &err);
    if (!ok) {
        // The place is kept: after a reconnect the list goes on.
        uint64_t number = err.kind == ERR_UNREACHABLE ? 0 : list->number;
        if (number)
            session_list_end(list);
        return session_failed(session, number, &err);
    }
    if (is_sorted) {
        tell_progress(session, list);
        return true;
    }
    list->is_running = !search_is_over(list->search);
    tell_found(session, list);
    return true;
}

bool
session_cache_step(struct session *session)
{
    struct column *column = text_cache_column(session->cache, EVENT_TEXT_ERROR);
    int64_t highest = backlog_highest_id(session->backlog);
    if (session->is_counting || !session_rollup_readable(session) || clock_mono() < session->cache_at ||
        session->settings->filter_cache == 0)
        return false;
    text_cache_rest(session->cache);
    struct err err = {0};
    bool is_over = true;
    if (!session_rows_step(session, &is_over, &err))
        return session_failed(session, 0, &err);
    if (!is_over)
        return true;
    is_over = column->is_bottom && highest <= column->high;
    int64_t towards = column->is_bottom ? highest : 0;
    if (!text_cache_check(session->cache, session->store, &err) ||
        (!is_over &&
         !text_cache_fill(session->cache, session->store, EVENT_TEXT_ERROR, towards, &is_over, &err)))
        return session_failed(session, 0, &err);
    if (is_over)
        session->cache_at = clock_mono() + KEEP_EVERY;
    return !is_over;
}

// --- facets ---

static const struct facet_field {
    const char *name;
    size_t at; // of a struct bytes in struct event; 0: the category
} facet_fields[] = {{"type", offsetof(struct event, event_type)},
                    {"topic", offsetof(struct event, topic)},
                    {"kind", 0},
                    {"source", offsetof(struct event, source_table)}};
enum { FACET_FIELDS = sizeof facet_fields / sizeof *facet_fields };

struct counting {
    struct intern words[FACET_FIELDS];
    int64_t *counts[FACET_FIELDS]; // by number of the word
};

static struct bytes
facet_value(const struct event *event, const struct facet_field *field)
{
    struct bytes value = bytes_of(category_name(event->category));
    if (field->at)
        memcpy(&value, (const char *)event + field->at, sizeof value);
    return value;
}

static int
by_frequency(const void *left, const void *right)
{
    int64_t a = ((const struct facet *)left)->count;
    int64_t b = ((const struct facet *)right)->count;
    return (a < b) - (a > b);
}

// Appends the most frequent values of one field.
static void
add_facets(struct reply *reply, const struct intern *words, const int64_t *counts, const char *field)
{
    struct facet *all = alloc_array((size_t)WORDS_OTHER + 1, sizeof *all);
    size_t count = 0;
    for (uint32_t number = 0; number <= WORDS_OTHER; number++) {
        if (counts[number] == 0)
            continue;
        const char *value = intern_text(words, (uint16_t)number);
        all[count] = (struct facet){.field = field, .value = value, .count = counts[number]};
        count++;
    }
    if (count)
        qsort(all, count, sizeof *all, by_frequency);
    for (size_t i = 0; i < count && i < FACETS_A_FIELD; i++) {
        struct facet *facet = &reply->facets[reply->facet_count++];
        *facet = all[i];
        facet->value = arena_text(&reply->arena, bytes_of(all[i].value));
    }
    free(all);
}

void
session_facets_request(struct session *session, const struct request *request)
{
    const struct backlog *rows = session_rows_known(session);
    struct reply *reply = reply_create(REPLY_FACETS, request->number);
    struct counting counting = {0};
    for (size_t f = 0; f < FACET_FIELDS; f++)
        counting.counts[f] = alloc_array((size_t)WORDS_OTHER + 1, sizeof **counting.counts);
    size_t hint = 0;
    for (size_t i = 0; i < request->id_count; i++) {
        struct event event;
        if (!rows || !backlog_event(rows, request->ids[i], &hint, &event)) {
            reply->uncounted++;
            continue;
        }
        for (size_t f = 0; f < FACET_FIELDS; f++)
            counting.counts[f][intern_number(&counting.words[f], facet_value(&event, &facet_fields[f]))]++;
    }
    reply->facets = arena_array(&reply->arena, FACET_FIELDS * FACETS_A_FIELD, sizeof *reply->facets);
    for (size_t f = 0; f < FACET_FIELDS; f++) {
        add_facets(reply, &counting.words[f], counting.counts[f], facet_fields[f].name);
        free(counting.counts[f]);
        intern_release(&counting.words[f]);
    }
    reply->is_last = true;
    session_reply(session, reply);
}
