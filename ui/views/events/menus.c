// The menus of the list of events: copy, status, order, narrow, facets.
#include "ui/views/events/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/json/json.h"
#include "ui/views/copy_menu.h"
#include "ui/views/events/texts.h"

// As `--id -` reads them. A choice behind those of the row under the cursor.
static struct bytes
selected_ids(struct app *app)
{
    const struct selection *selection = app_selection(app);
    struct strbuf ids = {0};
    for (size_t i = 0; i < selection->count; i++)
        strbuf_printf(&ids, "%s%" PRId64, i ? " " : "", selection->ids[i]);
    struct bytes copy = arena_copy(app_frame(app), strbuf_bytes(&ids));
    strbuf_release(&ids);
    return copy;
}

static bool
events_menus_copy_choice(struct app *app, const void *state, size_t i, const char **text, struct bytes *value)
{
    const struct event *event = events_cursor(state);
    if (event && event_copy_choice(app, event, i, text, value))
        return true;
    bool is_first = i == 0 || (event && event_copy_choice(app, event, i - 1, text, value));
    if (!is_first || app_selection(app)->count == 0)
        return false;
    *text = MSG_SELECTED_IDS;
    *value = selected_ids(app);
    return true;
}

static void
events_menus_copy_chosen(struct app *app, void *state, size_t index)
{
    copy_menu_take(app, state, events_menus_copy_choice, index);
}

bool
events_ask_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    copy_menu_ask(app, events, events_menus_copy_choice, events_menus_copy_chosen);
    return true;
}

static const struct {
    const char *text;
    unsigned statuses;
} status_choices[] = {
    {"pending", 1u << EVENT_PENDING},
    {"resolved", 1u << EVENT_RESOLVED},
    {"discarded", 1u << EVENT_DISCARDED},
    {"all", 0},
};

static void
status_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    bool is_pending = status_choices[index].statuses == 1u << EVENT_PENDING;
    events->query.source = is_pending ? LIST_PENDING : LIST_CLOSED;
    events->query.statuses = status_choices[index].statuses;
    if (!is_pending)
        events->query.order = ORDER_WHEN;
    events_send(app, events);
}

bool
events_ask_status(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    struct menu_item items[sizeof status_choices / sizeof *status_choices];
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        items[i] = (struct menu_item){
            .key = (uint32_t)status_choices[i].text[0],
            .text = status_choices[i].text,
            .is_current = events->query.source == LIST_PENDING
                              ? i == 0
                              : events->query.statuses == status_choices[i].statuses,
        };
    app_menu(app, &(struct menu_request){.title = "Status",
                                         .items = items,
                                         .count = sizeof items / sizeof *items,
                                         .chosen = status_chosen});
    return true;
}

// --- a path of the payload as a column ---

// Shows what is at the path, or this column of dead letters, in a column; empty: in none. False: it is
// neither, which the prompt says.
static bool
show_path(struct app *app, struct events *events, struct bytes text, bool takes_letters)
{
    struct json_path *path = NULL;
    struct err err = {0};
    text = bytes_trim(text);
    bool is_letter = takes_letters && event_letter_column_is(text);
    if (text.len > 0 && !is_letter && !json_path_parse(&path, text, &err)) {
        app_prompt_error(app, &err);
        return false;
    }
    json_path_destroy(path);
    free(events->path);
    events->path = text.len > 0 ? alloc_text(arena_text(app_frame(app), text)) : NULL;
    events->window.rows_from = events->window.rows_to = 0; // they are fetched again at once
    return true;
}

// Is the column one of the payload? Lists are sorted by these only.
static bool
has_path(const struct events *events)
{
    return events->path && !event_letter_column_is(bytes_of(events->path));
}

static const char *
column_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    static const char *const names[] = {"format", "consumer", "queue"};
    if (bytes_starts(text, "$"))
        return events_filter_candidate(app, state, text, i);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (bytes_starts(bytes_of(names[n]), arena_text(app_frame(app), text)) && i-- == 0)
            return names[n];
    return NULL;
}

static void
ask_path(struct app *app, struct events *events, const char *label, const char *hint,
         bool (*accepted)(struct app *app, void *state, struct bytes text))
{
    events->prompt.values.number = app_send(app, request_create(REQUEST_VALUES));
    app_prompt(app, &(struct prompt_request){.label = label,
                                             .text = events->path ? events->path : "$.",
                                             .history = "path",
                                             .hint = hint,
                                             .accepted = accepted,
                                             .complete = column_candidate});
}

// --- the order ---

// The orders of a list; the first two are one column, both ways.
static const struct {
    const char *text;
    const char *words; // of the status line
    uint32_t key;
    enum list_order order;
    bool is_reversed;
    enum event_column column;
} orders[] = {
    {"newest first", "newest first", 'n', ORDER_WHEN, false, COLUMN_WHEN},
    {"oldest first", "oldest first", 'o', ORDER_WHEN, true, COLUMN_WHEN},
    {"id", "by id", 'i', ORDER_ID, false, COLUMN_ID},
    {"type", "by type", 't', ORDER_TYPE, false, COLUMN_TYPE},
    {"key", "by key", 'k', ORDER_KEY, false, COLUMN_KEY},
    {"tries", "by tries", 'r', ORDER_TRY, true, COLUMN_TRY},
    {"error", "by error", 'e', ORDER_ERROR, false, COLUMN_ERROR},
    {"a path of the payload", "by path", 'p', ORDER_PATH, false, COLUMN_PATH},
};
enum { ORDERS = sizeof orders / sizeof *orders };

static void
set_order(struct app *app, struct events *events, enum list_order order, bool is_reversed)
{
    if (order != ORDER_WHEN && events->query.source != LIST_PENDING) {
        app_say(app, SAY_INFO, MSG_SORT_PENDING);
        return;
    }
    free(events->query.order_path);
    events->query.order_path = order == ORDER_PATH ? alloc_text(events->path) : NULL;
    events->query.order = order;
    events->query.oldest_first = is_reversed;
    events->progress.goes_to_first = true;
    events_send(app, events);
}

static bool
order_path_accepted(struct app *app, void *state, struct bytes text)
{
    struct events *events = state;
    if (!show_path(app, events, text, false))
        return false;
    if (events->path)
        set_order(app, events, ORDER_PATH, false);
    return true;
}

// By the path that is shown as a column; where none is, or another one is asked for, it is shown from now on.
static void
order_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    if (orders[index].order == ORDER_PATH && events->query.source == LIST_PENDING)
        ask_path(app, events, MSG_ORDER_PATH_LABEL, MSG_ORDER_PATH_HINT, order_path_accepted);
    else
        set_order(app, events, orders[index].order, orders[index].is_reversed);
}

bool
events_ask_order(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    struct menu_item items[ORDERS];
    for (size_t i = 0; i < ORDERS; i++)
        items[i] = (struct menu_item){
            .key = orders[i].key,
            .text = orders[i].text,
            .is_current =
                events->query.order == orders[i].order &&
                (orders[i].order != ORDER_WHEN || events->query.oldest_first == orders[i].is_reversed),
        };
    app_menu(app, &(struct menu_request){
                      .title = "Order", .items = items, .count = ORDERS, .chosen = order_chosen});
    return true;
}

void
events_order_by(struct app *app, struct events *events, enum event_column column)
{
    for (size_t i = 0; i < ORDERS; i++) {
        if (orders[i].column != column || (column == COLUMN_PATH && !has_path(events)))
            continue;
        bool is_same = events->query.order == orders[i].order;
        set_order(app, events, orders[i].order,
                  is_same ? !events->query.oldest_first : orders[i].is_reversed);
        return;
    }
}

// A list that is sorted by the column stays so: by the new path, or by time again.
static bool
column_accepted(struct app *app, void *state, struct bytes text)
{
    struct events *events = state;
    if (!show_path(app, events, text, true))
        return false;
    bool is_path = has_path(events);
    if (events->query.order == ORDER_PATH)
        set_order(app, events, is_path ? ORDER_PATH : ORDER_WHEN, is_path && events->query.oldest_first);
    return true;
}

bool
events_ask_column(struct app *app, void *state, enum action action)
{
    (void)action;
    ask_path(app, state, MSG_COLUMN_LABEL, MSG_COLUMN_HINT, column_accepted);
    return true;
}

// Of the orders by id and when, newest first is the highest first.
void
events_mark_order(struct events *events)
{
    bool is_by_id = events->progress.is_by_id && events->query.order == ORDER_WHEN;
    for (size_t i = 0; i < ORDERS; i++) {
        if (orders[i].order != (is_by_id ? ORDER_ID : events->query.order))
            continue;
        struct table_column *column = &events->columns[orders[i].column];
        bool starts_high = orders[i].column == COLUMN_WHEN || orders[i].column == COLUMN_ID;
        column->is_order = true;
        column->is_descending = starts_high != events->query.oldest_first;
        column->priority = column->width ? 0 : column->priority;
        return;
    }
}

const char *
events_order_words(const struct events *events, struct arena *arena)
{
    for (size_t i = 0; i < ORDERS; i++) {
        if (events->query.order != orders[i].order)
            continue;
        if (events->query.order != ORDER_WHEN)
            return arena_printf(arena, "%s%s",
                                events->query.order_path
                                    ? arena_printf(arena, "by %s", events->query.order_path)
                                    : orders[i].words,
                                events->query.oldest_first ? MSG_DESCENDING : "");
        if (events->progress.is_by_id)
            return events->query.oldest_first ? "by id, oldest first" : "by id, newest first";
        if (events->query.oldest_first == orders[i].is_reversed)
            return orders[i].words;
    }
    return "";
}

const char *
events_status_name(const struct events *events)
{
    if (events->query.source != LIST_CLOSED)
        return NULL;
    for (size_t i = 0; i < sizeof status_choices / sizeof *status_choices; i++)
        if (status_choices[i].statuses == events->query.statuses)
            return status_choices[i].text;
    return NULL;
}
