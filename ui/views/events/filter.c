// The filter line of the list of events.
#include "ui/views/events/state.h"

#include <string.h>
#include "ui/views/filter_line.h"

enum { CHOICES = 16 };

const struct strbuf *
events_marked(const struct events *events)
{
    return events->filter.len ? &events->filter : &events->matches.filter;
}

char *
events_whole_filter(const struct events *events)
{
    struct strbuf both = {0};
    strbuf_printf(&both, "%s%s%s", events->fixed ? events->fixed : "",
                  events->fixed && events->filter.len ? " " : "", strbuf_text(&events->filter));
    if (both.len)
        return strbuf_detach(&both);
    strbuf_release(&both);
    return NULL;
}

void
events_parse(const struct app *app, struct events *events)
{
    struct filter_context context = filter_line_context(app);
    filter_destroy(events->parsed);
    events->parsed = NULL;
    const struct strbuf *shown = events_marked(events);
    if (shown->len && !filter_parse(&events->parsed, strbuf_bytes(shown), &context, NULL))
        events->parsed = NULL;
}

// Lists what matches this text, if it can be read; otherwise the last good result stays and err says where it
// is wrong.
bool
events_filter(struct app *app, struct events *events, struct bytes text, struct err *err)
{
    struct strbuf copy = {0};
    if (!filter_line_read(app, text, &copy, err)) {
        strbuf_release(&copy);
        return false;
    }
    if (bytes_equal(strbuf_bytes(&copy), strbuf_bytes(&events->filter))) {
        strbuf_release(&copy);
        return true;
    }
    if (copy.len == 0) { // n and N go through what it found
        strbuf_release(&events->matches.filter);
        events->matches.filter = events->filter;
        events->filter = (struct strbuf){0};
    }
    events->matches.are_known = false;
    strbuf_release(&events->filter);
    events->filter = copy;
    events_parse(app, events);
    events_send(app, events);
    return true;
}

static void
events_filter_filter_changed(struct app *app, void *state, struct bytes text)
{
    struct err err = {0};
    bool ok = events_filter(app, state, text, &err);
    app_prompt_error(app, ok ? NULL : &err);
}

static bool
events_filter_filter_accepted(struct app *app, void *state, struct bytes text)
{
    struct events *events = state;
    struct err err = {0};
    if (events_filter(app, events, text, &err)) {
        events->prompt.has_anchor = events->prompt.is_typing = false;
        return true;
    }
    app_prompt_error(app, &err);
    return false;
}

static void
events_filter_filter_cancelled(struct app *app, void *state)
{
    struct events *events = state;
    events->prompt.is_typing = false;
    (void)!events_filter(app, events, strbuf_bytes(&events->prompt.before), NULL);
}

const char *
events_filter_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    const struct events *events = state;
    return filter_line_candidate(app, &events->prompt.values, text, i);
}

bool
events_ask_filter(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    strbuf_reset(&events->prompt.before);
    strbuf_add(&events->prompt.before, strbuf_bytes(&events->filter));
    events->prompt.is_typing = true;
    events->prompt.has_anchor = events->count > 0;
    events->prompt.anchor = events->count ? events->ids[events->table.cursor] : 0;
    struct prompt_request request = {
        .label = "/",
        .text = strbuf_text(&events->filter),
        .changed = events_filter_filter_changed,
        .accepted = events_filter_filter_accepted,
        .cancelled = events_filter_filter_cancelled,
        .complete = events_filter_candidate,
    };
    filter_line_begin(app, &events->prompt.values, &request);
    app_prompt(app, &request);
    return true;
}

static void
narrow_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    const struct event *event = events_cursor(events);
    const char *text;
    const char *term;
    if (!event || !event_narrow_term(event, index, app_frame(app), &text, &term))
        return;
    const char *narrowed = arena_printf(app_frame(app), "%s%s%s", strbuf_text(&events->filter),
                                        events->filter.len ? " " : "", term);
    struct err err = {0};
    if (!events_filter(app, events, bytes_of(narrowed), &err))
        app_say_err(app, &err);
}

bool
events_ask_narrow(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct events *events = state;
    const struct event *event = events_cursor(events);
    struct menu_item items[CHOICES];
    size_t count = 0;
    const char *term;
    memset(items, 0, sizeof items);
    while (event && count < CHOICES &&
           event_narrow_term(event, count, app_frame(app), &items[count].text, &term))
        count++;
    if (count)
        app_menu(app, &(struct menu_request){
                          .title = "Narrow to", .items = items, .count = count, .chosen = narrow_chosen});
    return true;
}

const char *
events_filter_here(const void *state)
{
    const struct events *events = state;
    return events->filter.len ? strbuf_text(&events->filter) : "";
}

void
events_take_filter(struct app *app, void *state, struct bytes text)
{
    (void)!events_filter(app, state, text, NULL);
}
