// The list of events beyond its filter line: saved filters, counts of what is shown, and stepping through the
// matches of the last filter once it is cleared.
#include "ui/views/events/state.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/filter/saved.h"
#include "ui/views/events/texts.h"

enum { CHOICES = 64, FIRST_SAVED = 2 };

static void
filter_by(struct app *app, struct events *events, struct bytes text)
{
    struct err err = {0};
    if (!events_filter(app, events, text, &err))
        app_say_err(app, &err);
}

// --- saved filters ---

static bool
name_given(struct app *app, void *state, struct bytes text)
{
    struct events *events = state;
    struct notes saved = {0};
    struct err err = {0};
    const char *name = arena_text(app_frame(app), bytes_trim(text));
    bool ok = notes_set(&saved, app_config(app)->state_home, FILTER_SAVED_FILE, name,
                        strbuf_text(&events->filter), &err);
    notes_release(&saved);
    if (!ok) {
        app_prompt_error(app, &err);
        return false;
    }
    app_say(app, SAY_OK, MSG_FILTER_SAVED, name);
    return true;
}

static bool
name_forgotten(struct app *app, void *state, struct bytes text)
{
    (void)state;
    struct notes saved = {0};
    struct err err = {0};
    const char *name = arena_text(app_frame(app), bytes_trim(text));
    bool ok = notes_set(&saved, app_config(app)->state_home, FILTER_SAVED_FILE, name, NULL, &err);
    notes_release(&saved);
    if (ok)
        app_say(app, SAY_OK, MSG_FILTER_REMOVED, name);
    else
        app_prompt_error(app, &err);
    return ok;
}

static void
saved_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    struct notes saved = {0};
    if (index == 0 && events->filter.len == 0)
        app_say(app, SAY_INFO, MSG_NO_FILTER_TO_SAVE);
    else if (index == 0)
        app_prompt(app, &(struct prompt_request){.label = "save as ", .accepted = name_given});
    else if (index == 1)
        app_prompt(app, &(struct prompt_request){.label = "remove ", .accepted = name_forgotten});
    else if (notes_load(&saved, app_config(app)->state_home, FILTER_SAVED_FILE, NULL) &&
             index - FIRST_SAVED < saved.count)
        filter_by(app, events, bytes_of(saved.notes[index - FIRST_SAVED].text));
    notes_release(&saved);
}

bool
events_ask_saved(struct app *app, void *state, enum action action)
{
    (void)action;
    (void)state;
    struct menu_item items[CHOICES] = {{.key = 's', .text = "save the current filter"},
                                       {.key = 'x', .text = "remove a saved filter"}};
    struct notes saved = {0};
    struct err err = {0};
    if (!notes_load(&saved, app_config(app)->state_home, FILTER_SAVED_FILE, &err)) {
        app_say_err(app, &err);
        return true;
    }
    size_t count = FIRST_SAVED;
    for (size_t i = 0; i < saved.count && count < CHOICES; i++)
        items[count++].text =
            arena_printf(app_frame(app), "%-12s %s", saved.notes[i].name, saved.notes[i].text);
    app_menu(app, &(struct menu_request){
                      .title = "Saved filters", .items = items, .count = count, .chosen = saved_chosen});
    notes_release(&saved);
    return true;
}

// --- counts of what is shown ---

bool
events_ask_facets(struct app *app, void *state, enum action action)
{
    (void)action;
    struct events *events = state;
    if (events->query.source == LIST_CLOSED) {
        app_say(app, SAY_INFO, MSG_COUNT_PENDING);
        return true;
    }
    struct request *request = request_create(REQUEST_FACETS);
    request->id_count = events->count;
    request->ids = alloc_array(events->count + 1, sizeof *request->ids);
    if (events->count)
        memcpy(request->ids, events->ids, events->count * sizeof *request->ids);
    events->facets.number = app_send(app, request);
    return true;
}

static void
facet_chosen(struct app *app, void *state, size_t index)
{
    struct events *events = state;
    if (index >= events->facets.count)
        return;
    const char *term = events->facets.terms[index];
    const char *text = arena_printf(app_frame(app), "%s%s%s", strbuf_text(&events->filter),
                                    events->filter.len ? " " : "", term);
    filter_by(app, events, bytes_of(text));
}

static void
forget_facets(struct events *events)
{
    for (size_t i = 0; i < events->facets.count; i++)
        free(events->facets.terms[i]);
    free(events->facets.terms);
    events->facets.terms = NULL;
    events->facets.count = 0;
}

void
events_take_facets(struct app *app, struct events *events, const struct reply *reply)
{
    struct menu_item items[CHOICES] = {0};
    char count[TEXT_SHORT];
    struct arena *arena = app_frame(app);
    forget_facets(events);
    events->facets.terms = alloc_array(reply->facets.count + 1, sizeof *events->facets.terms);
    for (size_t i = 0; i < reply->facets.count && i < CHOICES; i++) {
        const struct facet *facet = &reply->facets.list[i];
        items[i].text = arena_printf(arena, "%-7s %10s  %s", facet->field, text_count(facet->count, count),
                                     facet->value ? facet->value : "(none)");
        events->facets.terms[events->facets.count++] =
            alloc_text(event_facet_term(facet->field, facet->value, arena));
    }
    if (events->facets.count == 0) {
        app_say(app, SAY_INFO, MSG_NOTHING_TO_COUNT);
        return;
    }
    const char *title = reply->facets.uncounted ? arena_printf(arena, MSG_FACETS_TITLE_CLOSED,
                                                               text_count(reply->facets.uncounted, count))
                                                : "Narrow to";
    app_menu(app, &(struct menu_request){
                      .title = title, .items = items, .count = events->facets.count, .chosen = facet_chosen});
}

// --- next and previous match ---

// With a filter in force every row is a match. Without one the last filter's matches are found by a search
// beside the list, once.
bool
events_step_match(struct app *app, void *state, enum action action)
{
    struct events *events = state;
    bool is_forward = action == DO_NEXT_MATCH;
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    if (events->filter.len) {
        table_handle(&events->table, &model, is_forward ? DO_DOWN : DO_UP);
        return true;
    }
    if (events->matches.filter.len == 0) {
        app_say(app, SAY_INFO, MSG_NO_FILTER_YET);
        return true;
    }
    events->matches.is_forward = is_forward;
    if (events->matches.are_known)
        events_go_to_match(app, events);
    else
        events_collect_matches(app, events);
    return true;
}

static bool
is_match(const struct events *events, int64_t id)
{
    size_t low = 0;
    for (size_t high = events->matches.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (events->matches.ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < events->matches.count && events->matches.ids[low] == id;
}

void
events_go_to_match(struct app *app, struct events *events)
{
    const struct events_drawing drawing = {.events = events};
    struct table_model model = events_model(&drawing);
    size_t at = events->table.cursor;
    while (events->matches.is_forward ? ++at < events->count : at-- > 0) {
        if (!is_match(events, events->ids[at]))
            continue;
        table_move_to(&events->table, &model, at);
        return;
    }
    app_say(app, SAY_INFO, MSG_NO_MORE_MATCHES, strbuf_text(&events->matches.filter),
            events->matches.is_forward ? "below" : "above");
}

void
events_take_matches(struct app *app, struct events *events)
{
    free(events->matches.ids);
    events->matches.ids = events->collecting.ids;
    events->matches.count = ids_normalise(events->matches.ids, events->collecting.count);
    events->collecting.ids = NULL;
    events->collecting.count = events->collecting.capacity = 0;
    events->matches.are_known = true;
    events_go_to_match(app, events);
}

void
events_saved_release(struct events *events)
{
    forget_facets(events);
    free(events->matches.ids);
    strbuf_release(&events->matches.filter);
}
