// Makes lists of event ids, page by page, and fetches the rows of the window that is looked at.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/json/path_value.h"
#include "search/highest_first.h"
#include "store/events/paths.h"
#include "store/operations/corrections.h"

enum {
    LIST_PAGE = 4000,
    FIRST_PAGE = 200, // so that the first screenful comes at once
    ROW_TEXT = 1024,
    SCREENFUL = 50,
    MOST_NEWEST = 20000, // events looked at for them
};

void
reader_list_end(struct list_job *list)
{
    search_destroy(list->search);
    list->search = NULL;
    free(list->found.ids);
    list->found = (struct search_found){0};
    reader_rollup_forget(list);
    reader_list_paths_release(list);
    list->sort = (struct list_sort){0};
    list->waits = WAITS_FOR_NOTHING;
    free(list->candidates);
    list->candidates = NULL;
    list->candidate_count = 0;
    list->is_running = false;
}

void
reader_list_drop(struct list_job *list)
{
    reader_list_end(list);
    filter_destroy(list->filter);
    list_query_release(&list->query);
    *list = (struct list_job){0};
}

void
reader_list_release(struct reader *reader)
{
    reader_list_drop(&reader->list);
    reader_list_drop(&reader->collect);
    reader_matches_release(reader);
}

// Is this event in the group that the list is about? Candidates were chosen by it already.
static bool
belongs(const struct list_job *list, const struct event *event)
{
    const struct list_query *query = &list->query;
    if (!query->has_value)
        return true;

    char text[TIME_TEXT];
    struct bytes value = pivot_value(query->pivot, event, text);
    if (query->pivot == PIVOT_ERROR) // of merged groups all keys, whole ones
        return strstr(query->value, text) != NULL;
    return bytes_equal_text(bytes_present(value) ? value : BYTES(""), query->value);
}

// What an action is about is not chosen by kept counts alone: of these ids, those whose row is pending and in
// another group now are left out. Rows that were closed or deleted stay, as the action says what became of
// them.
static bool
keep_members(struct reader *reader, const struct list_job *list, int64_t *ids, size_t *count, struct err *err)
{
    size_t kept = 0;
    for (size_t at = 0; at < *count;) {
        struct event_page page = {0};
        const struct event_query query = {.fields = EVENT_NARROW | EVENT_GROUP,
                                          .ids = ids + at,
                                          .id_count = *count - at < LIST_PAGE ? *count - at : LIST_PAGE,
                                          .most_bytes = EVENT_PAGE_BYTES};
        if (!store_events(reader->session.store, &query, &page, err))
            return false;
        size_t end = at + event_page_answers(&page, &query);
        for (size_t row = 0; at < end; at++) {
            const struct event *event =
                row < page.count && page.events[row].id == ids[at] ? &page.events[row++] : NULL;
            if (!event || event->status != EVENT_PENDING || belongs(list, event))
                ids[kept++] = ids[at];
        }
        event_page_release(&page);
    }
    *count = kept;
    return true;
}

// Those of the ids whose rows are pending now.
static bool
keep_pending(struct reader *reader, int64_t *ids, size_t *count, struct err *err)
{
    size_t kept = 0;
    for (size_t at = 0; at < *count;) {
        struct event_page page = {0};
        const struct event_query query = {.statuses = 1u << EVENT_PENDING,
                                          .ids = ids + at,
                                          .id_count = *count - at < LIST_PAGE ? *count - at : LIST_PAGE};
        if (!store_events(reader->session.store, &query, &page, err))
            return false;
        at += query.id_count;
        for (size_t i = 0; i < page.count; i++)
            ids[kept++] = page.events[i].id;
        event_page_release(&page);
    }
    *count = kept;
    return true;
}

// Leaves out what the kept counts still have, and must not.
static bool
keep_true(struct reader *reader, const struct list_job *list, int64_t *ids, size_t *count, struct err *err)
{
    if (list->query.source != LIST_PENDING)
        return true;
    if (list->leaves_undecided && list->query.has_value && !keep_members(reader, list, ids, count, err))
        return false;
    bool is_checked = list->query.is_checked && list->statuses == 1u << EVENT_PENDING;
    return !is_checked || keep_pending(reader, ids, count, err);
}

// The events that the list is chosen from; below 0 where nobody counted them: those that are closed.
static int64_t
count_looked_at(const struct reader *reader, const struct list_job *list)
{
    if (list->candidates && !list->others)
        return (int64_t)list->candidate_count;
    return list->statuses == 1u << EVENT_PENDING ? (int64_t)backlog_count(reader->counts.backlog) : -1;
}

// One reply of the list: ids (heap, given away) to append.
void
reader_list_send(struct reader *reader, struct list_job *list, int64_t *ids, size_t count)
{
    if (list->matched) {
        reader_matches_found(reader, list, ids, count);
        list->is_first = false;
        free(ids);
        return;
    }
    struct err err = {0};
    if (!keep_true(reader, list, ids, &count, &err)) {
        uint64_t number = list->number;
        free(ids);
        reader_list_end(list);
        session_failed(&reader->session, number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_LIST, list->number);
    reply->list.ids = ids;
    reply->list.count = count;
    reply->list.is_first = list->is_first;
    reply->list.is_by_id = list->is_by_id;
    reply->list.is_beginning = list->sort.is_beginning;
    reply->is_last = !list->is_running;
    reply->list.scanned = list->scanned;
    reply->list.undecided = list->undecided;
    reply->list.is_unconfirmed = reader_search_is_unconfirmed(reader, list);
    reply->list.total = count_looked_at(reader, list);
    list->is_first = false;
    session_reply(&reader->session, reply);
}

static void
turn_round(int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        int64_t id = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
}

// By id, as they are stored.
static bool
find_items(struct reader *reader, struct list_job *list, struct err *err)
{
    const struct list_query *query = &list->query;
    struct store *store = reader->session.store;
    bool ok =
        query->is_corrected
            ? operation_corrected_ids(store, query->operation, &list->candidates, &list->candidate_count, err)
            : operation_item_ids(store, query->operation, query->item_states, query->reason,
                                 &list->candidates, &list->candidate_count, err);
    if (!ok)
        return false;
    // No items is an empty list, not a list of everything.
    if (!list->candidates)
        list->candidates = alloc_array(1, sizeof *list->candidates);
    if (!query->oldest_first)
        turn_round(list->candidates, list->candidate_count);
    return true;
}

// The ids that the list looks at, where they are known beforehand.
static bool
find_candidates(struct reader *reader, struct list_job *list, struct err *err)
{
    const struct list_query *query = &list->query;
    unsigned asked = list->filter ? filter_statuses(list->filter) : 0;
    list->statuses = asked ? asked : query->source == LIST_CLOSED ? query->statuses : 1u << EVENT_PENDING;
    list->is_by_id = true;
    if (query->source == LIST_OPERATION) {
        list->statuses = asked;
        return find_items(reader, list, err);
    }
    if (query->source == LIST_IDS) {
        list->statuses = asked;
        list->candidates = alloc_array(query->id_count + 1, sizeof *list->candidates);
        memcpy(list->candidates, query->ids, query->id_count * sizeof *list->candidates);
        list->candidate_count = query->id_count;
        if (!query->oldest_first)
            turn_round(list->candidates, list->candidate_count);
        return true;
    }
    int64_t no;
    if (list->filter && filter_operation(list->filter, &no)) {
        if (!operation_event_ids(reader->session.store, no, &list->candidates, &list->candidate_count, err))
            return false;
        if (!query->oldest_first)
            turn_round(list->candidates, list->candidate_count);
        return true;
    }
    if (list->statuses != 1u << EVENT_PENDING)
        return true;
    const struct backlog *rows = reader_rows_known(reader);
    if (reader->counts.has_rollup) {
        // With a filter they are all looked at; without one the first screenful does not wait for the others.
        bool has_filter = list->filter && !filter_is_empty(list->filter);
        bool needs_all = has_filter || query->order != ORDER_WHEN;
        // Until the rollup can be read event by event, the table itself is read.
        list->is_provisional = !reader_rollup_readable(reader) && query->order == ORDER_WHEN;
        if (list->is_provisional)
            return true;
        list->waits = needs_all && !rows ? WAITS_FOR_ROWS : WAITS_FOR_NOTHING;
        list->is_by_id = list->waits == WAITS_FOR_ROWS;
        if (list->waits)
            return true;
        if (!needs_all)
            return reader_rollup_ids(reader, list, FIRST_PAGE, err);
    }
    list->is_by_id = false;
    backlog_ids(rows, query->pivot, query->has_value ? query->value : NULL, query->oldest_first,
                &list->candidates, &list->candidate_count);
    reader_paths_narrow(reader, query, list->candidates, &list->candidate_count);
    if (list->matched) // rows are counted best by id
        sort_highest_first(list->candidates, list->candidate_count, sizeof *list->candidates);
    return true;
}

// False: the store failed, and a reply says so.
bool
reader_list_begin(struct reader *reader, struct list_job *list)
{
    struct err err = {0};
    list->is_running = false;
    list->waits = WAITS_FOR_NOTHING;
    if (!find_candidates(reader, list, &err))
        return session_failed(&reader->session, list->number, &err);
    list->is_running = true;
    list->sent_at = clock_mono();
    if (list->candidates && list->filter && !filter_is_empty(list->filter))
        reader_search_begin(reader, list);
    return true;
}

// Times are known now: the list is made again, in their order.
static bool
list_restart(struct reader *reader, struct list_job *list)
{
    reader_list_end(list);
    list->is_provisional = false;
    list->is_first = true;
    list->at = 0;
    list->place = (struct list_place){0};
    list->shown = 0;
    list->scanned = list->undecided = list->arrived = 0;
    return reader_list_begin(reader, list);
}

void
reader_list_request(struct reader *reader, const struct request *request)
{
    struct list_job *list = request->kind == REQUEST_COLLECT ? &reader->collect : &reader->list;
    reader_list_drop(list);
    list->number = request->number;
    list->query = list_query_copy(&request->list);
    list->is_first = true;
    list->leaves_undecided = request->kind == REQUEST_COLLECT;

    struct err err = {0};
    const char *text = list->query.filter;
    if (text && *text) {
        struct filter_context context = {.now = clock_now(),
                                         .zone_us = store_info(reader->session.store)->zone_us,
                                         .new_after = TIME_ABSENT};
        if (!filter_parse(&list->filter, bytes_of(text), &context, &err)) {
            session_error(&reader->session, request->number, &err);
            return;
        }
    }
    list->is_running = true;
    list->waits = WAITS_TO_BEGIN;
}

void
reader_list_cancel(struct reader *reader, uint64_t number)
{
    struct list_job *list = reader->collect.number == number ? &reader->collect : &reader->list;
    if (!list->is_running || list->number != number)
        return;
    reader_list_end(list);
    list->is_provisional = false;
    struct err err = {0};
    err_set(&err, ERR_CANCELLED, "stopped; the list is exact but incomplete");
    session_error(&reader->session, number, &err);
}

// Without a filter candidates are the list.
static void
list_all(struct reader *reader, struct list_job *list)
{
    struct err err = {0};
    if (list->others && list->at == list->candidate_count && !reader_rollup_other_ids(reader, list, &err)) {
        if (err.kind == ERR_CANCELLED) // a request that waits decides
            return;
        uint64_t number = err.kind == ERR_UNREACHABLE ? 0 : list->number;
        if (number)
            reader_list_end(list);
        session_failed(&reader->session, number, &err);
        return;
    }
    size_t count = list->candidate_count - list->at;
    if (count > LIST_AT_ONCE)
        count = LIST_AT_ONCE;
    int64_t *ids = alloc_array(count, sizeof *ids);
    memcpy(ids, list->candidates + list->at, count * sizeof *ids);
    list->at += count;
    list->scanned = (int64_t)list->at;
    list->is_running = list->others || list->at < list->candidate_count;
    reader_list_send(reader, list, ids, count);
    if (!list->is_running)
        reader_list_end(list);
}

static unsigned
list_fields(const struct list_job *list)
{
    unsigned fields = list->filter ? filter_needs(list->filter) : 0;
    if ((list->query.has_value && !list->candidates) || list->matched)
        fields |= EVENT_NARROW | EVENT_GROUP;
    return fields;
}

// One page. False: the store failed.
static bool
list_page(struct reader *reader, struct list_job *list)
{
    size_t limit = list->is_first ? FIRST_PAGE : LIST_PAGE;
    struct event_query query = {.takes_unreadable = true,
                                .fields = list_fields(list),
                                .statuses = list->statuses,
                                .limit = limit,
                                .most_bytes = EVENT_PAGE_BYTES};
    if (list->candidates) {
        query.ids = list->candidates + list->at;
        query.id_count = list->candidate_count - list->at < limit ? list->candidate_count - list->at : limit;
        query.limit = 0;
    } else {
        query.before_id = list->query.oldest_first ? 0 : list->place.id;
        query.after_id = list->query.oldest_first ? list->place.id : 0;
        query.has_before = list->place.is_known && !list->query.oldest_first;
        query.has_after = list->place.is_known && list->query.oldest_first;
        query.ascending = list->query.oldest_first;
    }

    struct event_page page = {0};
    struct err err = {0};
    if (!store_events(reader->session.store, &query, &page, &err)) {
        // The place is kept: after a reconnect the list continues.
        if (err.kind != ERR_UNREACHABLE)
            reader_list_end(list);
        return session_failed(&reader->session, err.kind == ERR_UNREACHABLE ? 0 : list->number, &err);
    }

    int64_t *ids = alloc_array(page.count, sizeof *ids);
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        const struct event *event = &page.events[i];
        if (!list->candidates && !belongs(list, event))
            continue;
        enum filter_verdict verdict = list->filter ? filter_match(list->filter, event) : FILTER_YES;
        list->undecided += verdict == FILTER_UNDECIDED;
        if (verdict == FILTER_NO || (verdict == FILTER_UNDECIDED && list->leaves_undecided))
            continue;
        if (list->matched)
            backlog_add(list->matched, event, 1);
        ids[count++] = event->id;
    }
    size_t answered = event_page_answers(&page, &query);
    list->at += answered;
    list->scanned += list->candidates ? (int64_t)answered : (int64_t)page.count;
    if (page.count)
        list->place = (struct list_place){true, page.events[page.count - 1].id};
    list->is_running =
        list->candidates ? list->at < list->candidate_count : page.count == limit || page.is_cut;
    event_page_release(&page);
    if (count == 0 && list->waits == WAITS_FOR_ROWS) { // the list before stays until there is something
        free(ids);
        return true;
    }
    list->shown += count;
    reader_list_send(reader, list, ids, count);
    if (!list->is_running)
        reader_list_end(list);
    return true;
}

// While the rows of a large backlog are read, the newest ones that match are shown, by id.
static bool
wants_newest(const struct reader *reader, const struct list_job *list)
{
    return list->query.order == ORDER_WHEN && !list->query.oldest_first && !list->matched &&
           !list->leaves_undecided && list->shown < SCREENFUL && list->scanned < MOST_NEWEST &&
           backlog_count(reader->counts.backlog) > 2 * MOST_NEWEST;
}

// Reads on in the short columns of all events, a page a step, so that the next key is not kept waiting.
// False: the store failed, or they cannot be read yet.
static bool
list_wait(struct reader *reader, struct list_job *list)
{
    if (!reader_rollup_readable(reader))
        return false;
    if (wants_newest(reader, list))
        return list_page(reader, list);
    struct err err = {0};
    bool is_over = false;
    if (reader_rows_step(reader, &is_over, &err))
        return !reader_rows_known(reader) || list_restart(reader, list);
    uint64_t number = err.kind == ERR_UNREACHABLE ? 0 : list->number;
    if (number)
        reader_list_end(list);
    return session_failed(&reader->session, number, &err);
}

bool
reader_list_step(struct reader *reader)
{
    if (reader->list.is_provisional && reader->counts.has_rollup && reader_rollup_readable(reader))
        return list_restart(reader, &reader->list);
    struct list_job *list = reader->list.is_running      ? &reader->list
                            : reader->collect.is_running ? &reader->collect
                                                         : &reader->matches.job;
    if (!list->is_running)
        return false;
    if (list->waits == WAITS_TO_BEGIN) {
        (void)reader_list_begin(reader, list);
        return true;
    }
    if (list->waits == WAITS_FOR_ROWS)
        return list_wait(reader, list);
    if (list->search || list->sort.is_over || reader_list_is_sorted(list))
        return reader_search_step(reader, list);
    bool is_empty = list->candidates && list->candidate_count == 0;
    if (is_empty || (list->candidates && (!list->filter || filter_is_empty(list->filter))))
        list_all(reader, list);
    else
        return list_page(reader, list);
    return true;
}

// As far as they can be read.
static int64_t
count_matching(struct reader *reader, struct filter *filter, const int64_t *ids, size_t count)
{
    int64_t matching = 0;
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.takes_unreadable = true,
                                          .fields = filter_needs(filter),
                                          .ids = ids + at,
                                          .id_count = count - at,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page;
        if (!store_events(reader->session.store, &query, &page, NULL))
            break;
        for (size_t i = 0; i < page.count; i++)
            matching += filter_match(filter, &page.events[i]) != FILTER_NO;
        at += event_page_answers(&page, &query);
        event_page_release(&page);
    }
    return matching;
}

void
reader_list_arrived(struct reader *reader, const struct event *events, size_t count)
{
    reader_rows_arrived(reader, events, count);
    struct list_job *list = &reader->list;
    if (!list->number || list->is_running || list->query.source != LIST_PENDING ||
        list->statuses != 1u << EVENT_PENDING)
        return;

    int64_t *ids = alloc_array(count, sizeof *ids);
    size_t candidates = 0;
    for (size_t i = 0; i < count; i++)
        if (belongs(list, &events[i]))
            ids[candidates++] = events[i].id;
    int64_t before = list->arrived;
    if (candidates && list->filter && !filter_is_empty(list->filter))
        list->arrived += count_matching(reader, list->filter, ids, candidates);
    else
        list->arrived += (int64_t)candidates;
    free(ids);
    if (list->arrived == before)
        return;

    struct reply *reply = reply_create(REPLY_LIST, list->number);
    reply->list.is_new_available = true;
    reply->is_last = true;
    reply->list.count = (size_t)list->arrived;
    session_reply(&reader->session, reply);
}

struct path_filling {
    struct event *events;
    size_t count, at;
    struct arena *arena;
    struct strbuf name, text;
};

// Values come in the order of the ids, as the events do.
static bool
fill_path(void *context, int64_t id, struct bytes token)
{
    struct path_filling *filling = context;
    while (filling->at < filling->count && filling->events[filling->at].id != id)
        filling->at++;
    if (filling->at == filling->count)
        return true;
    enum path_kind kind = path_value_of(token, &filling->name);
    strbuf_reset(&filling->text);
    if (kind != PATH_MISSING)
        path_value_print(kind, strbuf_bytes(&filling->name), &filling->text);
    filling->events[filling->at++].at_path = arena_copy(filling->arena, strbuf_bytes(&filling->text));
    return true;
}

static bool
fill_paths(struct reader *reader, const struct request *request, struct event_page *page, struct err *err)
{
    struct path_filling filling = {.events = page->events, .count = page->count, .arena = &page->arena};
    struct json_path *path = NULL;
    struct bytes name = bytes_of(request->path);
    for (size_t i = 0; event_letter_column_is(name) && i < page->count; i++)
        page->events[i].at_path = event_letter_column(&page->events[i], name);
    if (event_letter_column_is(name))
        return true;
    bool ok = json_path_parse(&path, bytes_of(request->path), err) &&
              store_path_values(reader->session.store, path, request->ids, request->id_count, fill_path,
                                &filling, err);
    json_path_destroy(path);
    strbuf_release(&filling.name);
    strbuf_release(&filling.text);
    return ok;
}

void
reader_rows_request(struct reader *reader, const struct request *request)
{
    struct event_query query = {
        .takes_unreadable = true,
        .fields = EVENT_NARROW | EVENT_ERROR | EVENT_PAYLOAD | EVENT_RAW | EVENT_GROUP | EVENT_KNOWN,
        .ids = request->ids,
        .id_count = request->id_count,
        .cut = ROW_TEXT,
    };
    struct event_page page = {0};
    struct err err = {0};
    if (!store_events(reader->session.store, &query, &page, &err) ||
        (request->path && !fill_paths(reader, request, &page, &err))) {
        event_page_release(&page);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    struct reply *reply = reply_create(REPLY_ROWS, request->number);
    reply->rows.events = page.events;
    reply->rows.count = page.count;
    reply->is_last = true;
    arena_adopt(&reply->arena, &page.arena);
    event_page_release(&page);
    session_reply(&reader->session, reply);
}
