#include "commands/groups_describe.h"

#include "core/fingerprint/fingerprint.h"
#include "store/events/events.h"

static void
describe_group(struct backlog *backlog, const struct group_rules *rules, const struct event *event,
               struct arena *arena)
{
    struct fingerprint_input input = {
        .message = event->error_message, .stack = event->stack_trace, .rules = rules};
    struct fingerprint parts = fingerprint_explain(&input, arena);
    struct group_text text = {.pattern = arena_text(arena, parts.pattern),
                              .error_class = arena_text(arena, parts.root_class),
                              .sample = arena_text(arena, bytes_slice(event_error_text(event), 0, 300)),
                              .frame = arena_text(arena, parts.frame)};
    backlog_describe(backlog, event->group, &text);
}

static bool
describe_some(struct store *store, const struct group_rules *rules, struct backlog *backlog, size_t *cursor,
              bool *is_more, struct err *err)
{
    enum { SLICE = 200 };
    int64_t ids[SLICE];
    uint64_t keys[SLICE];
    size_t count = 0;
    while (count < SLICE && backlog_undescribed(backlog, cursor, &keys[count], &ids[count]))
        count++;
    *is_more = count == SLICE;
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = EVENT_ERROR | EVENT_STACK | EVENT_GROUP,
                                          .ids = ids + at,
                                          .id_count = count - at,
                                          .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(store, &query, &page, err))
            return false;
        at += event_page_answers(&page, &query);
        for (size_t i = 0; i < page.count; i++)
            describe_group(backlog, rules, &page.events[i], &page.arena);
        event_page_release(&page);
    }
    return true;
}

bool
groups_describe(struct store *store, const struct group_rules *rules, struct backlog *backlog,
                struct err *err)
{
    size_t cursor = 0;
    bool is_more = true;
    while (is_more)
        if (!describe_some(store, rules, backlog, &cursor, &is_more, err))
            return false;
    return true;
}
