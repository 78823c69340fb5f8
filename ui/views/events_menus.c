#include "ui/views/events_state.h"

#include <string.h>

enum { CHOICES = 16 };

static void
copy_chosen(struct app *app, void *state, size_t index)
{
    const struct event *event = events_cursor(state);
    const char *text;
    struct bytes value;
    if (event && event_copy_choice(event, index, app_frame(app), &text, &value))
        app_copy(app, value, text);
}

void
events_ask_copy(struct app *app, const struct events *events)
{
    const struct event *event = events_cursor(events);
    struct menu_item items[CHOICES];
    size_t count = 0;
    struct bytes value;
    memset(items, 0, sizeof items);
    while (event && count < CHOICES &&
           event_copy_choice(event, count, app_frame(app), &items[count].text, &value))
        count++;
    if (count)
        app_menu(app, &(struct menu_request){
                          .title = "Copy", .items = items, .count = count, .chosen = copy_chosen});
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
    events_send(app, events);
}

void
events_ask_status(struct app *app, const struct events *events)
{
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
}

static void
order_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    events->query.oldest_first = index == 1;
    events_send(app, events);
}

void
events_ask_order(struct app *app, const struct events *events)
{
    const struct menu_item items[] = {
        {.key = 'n', .text = "newest first", .is_current = !events->query.oldest_first},
        {.key = 'o', .text = "oldest first", .is_current = events->query.oldest_first},
    };
    app_menu(app,
             &(struct menu_request){.title = "Order", .items = items, .count = 2, .chosen = order_chosen});
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
