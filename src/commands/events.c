// events: the chosen events, newest first, or by a path of their payloads. The ids are chosen first, so that
// the order is exact; rows follow page by page.
#include "store/events/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/events_sort.h"

enum { PAGE = 1000 };

enum { COLUMNS = 7 };
static const struct output_column columns[COLUMNS] = {
    {"id", ALIGN_RIGHT, 6, 0},    {"created", ALIGN_LEFT, 19, 0}, {"type", ALIGN_LEFT, 12, 24},
    {"status", ALIGN_LEFT, 7, 0}, {"group", ALIGN_LEFT, 16, 0},   {"try", ALIGN_RIGHT, 3, 0},
    {"error", ALIGN_LAST, 0, 0}};

static bool
command_events_print_json(const struct event *event, struct events_sort *sort, struct err *err)
{
    struct value *object = value_object();
    struct strbuf text = {0};
    value_add_int(object, "id", event->id);
    value_add_bytes(object, "event_id", event->event_id);
    value_add_bytes(object, "event_type", event->event_type);
    value_add_bytes(object, "status", event->status_text);
    json_group(object, "group", event->group);
    value_add_text(object, "category", category_name(event->category));
    value_add_bytes(object, "error_message", event->error_message);
    if (event->known.unreadable_error)
        value_add_text(object, "unreadable_error_message", event->known.unreadable_error);
    value_add_int(object, "retry_count", event->retries.count);
    value_add_time(object, "created_at", event->created_at, event->created_wall - event->created_at);
    value_add_bytes(object, "topic", event->topic);
    value_add_int_or_null(object, "partition", event->origin.has_partition, event->origin.partition);
    value_add_int_or_null(object, "offset", event->origin.has_offset, event->origin.offset);
    value_add_payload(object, "key", event_key(event));
    value_add_bytes(object, "format", event->record.format);
    value_add_bytes(object, "consumer", event->record.consumer);
    value_add_bytes(object, "dlq_topic", event_queue(event));
    value_add_bool(object, "edited", event->known.revisions > 0);
    value_add_int(object, "returned", event->known.returned);
    if (sort->path)
        value_add_text(object, "value",
                       events_sort_value(sort, event->id, &text) ? strbuf_text(&text) : NULL);
    strbuf_release(&text);
    return json_print(object, err);
}

// The time as the table holds it, as an operator sees it in psql.
static void
add_wall(struct output_table *table, int64_t wall)
{
    char text[TIME_TEXT];
    if (wall == TIME_ABSENT) {
        table_add_text(table, NULL);
        return;
    }
    time_rfc3339(wall / US_PER_SECOND * US_PER_SECOND, 0, text);
    text[10] = ' ';
    table_add(table, (struct bytes){text, 19});
}

static void
add_value(struct output_table *table, const struct event *event, struct events_sort *sort)
{
    struct strbuf text = {0};
    if (sort->path)
        table_add_text(table, events_sort_value(sort, event->id, &text) ? strbuf_text(&text) : NULL);
    strbuf_release(&text);
}

static void
command_events_add_row(struct output_table *table, const struct event *event, struct events_sort *sort)
{
    char group[GROUP_TEXT];
    table_add_number(table, event->id);
    add_wall(table, event->created_wall);
    table_add(table, event->event_type);
    table_add(table, event->status_text);
    table_add_text(table, group_text(event->group, group));
    table_add_number(table, event->retries.count);
    add_value(table, event, sort);
    table_add(table, event_error_text(event));
}

static const int leaves[] = {3, 4, 5, -1}; // status, group, try

// The value that they are sorted by stands before the error.
static void
begin_table(struct output_table *table, struct call *call, const struct events_sort *sort,
            struct output_column with_value[COLUMNS + 1])
{
    memcpy(with_value, columns, sizeof columns);
    with_value[COLUMNS] = columns[COLUMNS - 1];
    with_value[COLUMNS - 1] = (struct output_column){sort->title, ALIGN_LEFT, 12, 40};
    table_begin(table, call, sort->path ? with_value : columns, COLUMNS + (sort->path != NULL));
    table_leaves(table, leaves);
}

static bool
print_events(struct call *call, struct store *store, struct events_sort *sort, const int64_t *ids,
             size_t count, struct err *err)
{
    unsigned fields =
        EVENT_NARROW | EVENT_ERROR | EVENT_GROUP | EVENT_KNOWN | (call->options.general.json ? EVENT_RAW : 0);
    struct output_table table;
    struct output_column with_value[COLUMNS + 1];
    begin_table(&table, call, sort, with_value);
    bool ok = true;
    for (size_t at = 0, answered = 0; ok && at < count && !interrupt_is_set(); at += answered) {
        struct event_query query = {.takes_unreadable = true,
                                    .fields = fields,
                                    .ids = ids + at,
                                    .id_count = count - at < PAGE ? count - at : PAGE,
                                    .cut = call->options.general.json ? 0 : 1024,
                                    .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        ok = store_events(store, &query, &page, err);
        answered = event_page_answers(&page, &query);
        for (size_t i = 0; ok && i < page.count; i++) {
            if (call->options.general.json)
                ok = command_events_print_json(&page.events[i], sort, err);
            else
                command_events_add_row(&table, &page.events[i], sort);
        }
        ok = ok && table_flush(&table, err);
        event_page_release(&page);
    }
    return table_end(&table, err) && ok;
}

static bool
events(struct call *call, struct store *store, struct events_sort *sort, struct err *err)
{
    struct choice choice;
    struct choose_tally tally = {0};
    struct progress_line progress;
    int64_t *ids = NULL;
    size_t count = 0;
    progress_begin(&progress, call, "events");
    bool ok = choosing_read(call, 1u << EVENT_PENDING, &choice, err);
    int64_t limit = choice.limit;
    choice.newest_first = true;
    choice.limit = sort->path ? 0 : limit;
    ok = ok && choose_ids(store, &choice, choosing_tick, &progress, &ids, &count, &tally, err) &&
         choosing_check_known(&tally, err) &&
         events_sort_ids(store, sort, limit, ids, &count, &progress, err);
    progress_end(&progress);
    ok = ok && print_events(call, store, sort, ids, count, err);
    if (ok && count == 0)
        choosing_say_none(call, store);
    choosing_say_undecided(call, &tally);
    choose_tally_release(&tally);
    free(ids);
    return ok;
}

int
command_events(struct call *call, struct err *err)
{
    struct store *store = NULL;
    struct events_sort sort = {0};
    bool ok = command_no_args(call, err) && events_sort_parse(call->options.command.sort, &sort, err) &&
              command_store(call, STORE_READ, &store, err) && events(call, store, &sort, err);
    events_sort_release(&sort);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
