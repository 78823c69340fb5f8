// What the filter line completes: the values of fields, most events first, and the paths of some payloads,
// the newest of each of the largest groups.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/json/json.h"
#include "core/target.h"
#include "store/events/records.h"

enum {
    VALUES_A_FIELD = 300,
    PATHS = 200,
    PAYLOADS = 40,
    PATH_DEPTH = 3,
    PATH_BYTES = 120,
};

struct values {
    struct reply *reply;
    size_t capacity;
    struct facet *list; // heap, until it is whole
};

static void
values_add(struct values *values, const char *field, const char *value, int64_t count)
{
    struct facets_reply *facets = &values->reply->facets;
    values->list = alloc_grow(values->list, facets->count, &values->capacity, sizeof *values->list);
    values->list[facets->count++] = (struct facet){
        .field = field, .value = arena_text(&values->reply->arena, bytes_of(value)), .count = count};
}

static void
add_pivot(struct values *values, const struct backlog *backlog, enum pivot pivot)
{
    struct arena arena = {0};
    struct group_list list;
    const struct group_limit limit = {.most = VALUES_A_FIELD, .rank = RANK_COUNT};
    backlog_groups_limited(backlog, pivot, NULL, &limit, clock_now(), &arena, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct event_group *group = &list.groups[i];
        if (!*group->value)
            continue;
        values_add(values, pivot_name(pivot), group->value, group->count);
        if (pivot == PIVOT_TOPIC && topic_is_queue(bytes_of(group->value)))
            values_add(values, "queue", group->value, group->count);
    }
    arena_release(&arena);
}

// --- dead letters ---

static void
add_letter_value(void *context, const char *field, struct bytes value, int64_t count)
{
    struct values *values = context;
    struct facets_reply *facets = &values->reply->facets;
    const char *text = arena_text(&values->reply->arena, value);
    field = arena_text(&values->reply->arena, bytes_of(field));
    for (size_t i = 0; i < facets->count; i++)
        if (strcmp(values->list[i].field, field) == 0 && strcmp(values->list[i].value, text) == 0)
            return;
    values_add(values, field, text, count);
}

static bool
add_letters(struct reader *reader, struct values *values, struct err *err)
{
    return store_info(reader->session.store)->schema_version == 0 ||
           letter_values(reader->session.store, add_letter_value, values, err);
}

// --- paths ---

static bool
is_plain_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.len > 0;
}

static void
add_path(struct values *values, size_t from, struct bytes path)
{
    struct facets_reply *facets = &values->reply->facets;
    for (size_t i = from; i < facets->count; i++)
        if (bytes_equal_text(path, values->list[i].value)) {
            values->list[i].count++;
            return;
        }
    if (facets->count - from < PATHS)
        values_add(values, "$", arena_text(&values->reply->arena, path), 1);
}

// Of members with plain names; of an array its first element.
static void
add_paths(struct values *values, size_t from, struct bytes container, struct strbuf *path, int depth)
{
    struct json_children children;
    struct json_token name, value;
    if (depth == PATH_DEPTH || !json_children(&children, container))
        return;
    size_t len = path->len;
    while (json_child(&children, &name, &value)) {
        struct bytes quoted = bytes_slice(container, name.from, name.len);
        struct bytes plain = bytes_slice(quoted, 1, quoted.len > 2 ? quoted.len - 2 : 0);
        if (children.is_object && !is_plain_name(plain))
            continue;
        if (children.is_object)
            strbuf_printf(path, ".%.*s", BYTES_ARGS(plain));
        else
            strbuf_add_text(path, "[0]");
        if (path->len <= PATH_BYTES) {
            if (children.is_object)
                add_path(values, from, strbuf_bytes(path));
            add_paths(values, from, bytes_slice(container, value.from, value.len), path, depth + 1);
        }
        path->len = len;
        if (!children.is_object)
            break;
    }
}

static bool
add_payloads(struct reader *reader, struct values *values, struct err *err)
{
    struct event_page page = {0};
    struct arena arena = {0};
    struct group_list list = {0};
    int64_t ids[PAYLOADS];
    struct event_query query = {
        .takes_unreadable = true, .fields = EVENT_PAYLOAD, .ids = ids, .most_bytes = EVENT_PAGE_BYTES};
    const struct group_limit limit = {.most = PAYLOADS, .rank = RANK_COUNT};
    if (reader->counts.backlog)
        backlog_groups_limited(reader->counts.backlog, PIVOT_ERROR, NULL, &limit, clock_now(), &arena, &list);
    while (query.id_count < list.count) {
        ids[query.id_count] = list.groups[query.id_count].sample_id;
        query.id_count++;
    }
    arena_release(&arena);
    if (query.id_count == 0)
        return true;
    if (!store_events(reader->session.store, &query, &page, err))
        return false;
    size_t from = values->reply->facets.count;
    struct strbuf path = {0};
    for (size_t i = 0; i < page.count; i++) {
        strbuf_reset(&path);
        strbuf_add_char(&path, '$');
        if (bytes_present(event_payload_shown(&page.events[i])))
            add_paths(values, from, event_payload_shown(&page.events[i]), &path, 0);
    }
    strbuf_release(&path);
    event_page_release(&page);
    return true;
}

void
reader_values_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    struct values values = {.reply = reply_create(REPLY_FACETS, request->number)};
    struct facets_reply *facets = &values.reply->facets;
    static const enum pivot pivots[] = {PIVOT_TYPE, PIVOT_TOPIC, PIVOT_SOURCE};
    for (size_t i = 0; reader->counts.backlog && i < sizeof pivots / sizeof *pivots; i++)
        add_pivot(&values, reader->counts.backlog, pivots[i]);
    if (!add_letters(reader, &values, &err) || !add_payloads(reader, &values, &err)) {
        reply_destroy(values.reply);
        free(values.list);
        session_failed(&reader->session, request->number, &err);
        return;
    }
    facets->list = arena_array(&values.reply->arena, facets->count + 1, sizeof *facets->list);
    if (values.list)
        memcpy(facets->list, values.list, facets->count * sizeof *facets->list);
    free(values.list);
    values.reply->is_last = true;
    session_reply(&reader->session, values.reply);
}
