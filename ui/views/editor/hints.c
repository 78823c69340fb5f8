// What helps whoever opens an event in the editor: the cursor stands where the error message points, places
// where the payload departs from others of its type are marked, and the original record is sent for where
// only it has the exact bytes.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/clock.h"
#include "core/shape/locate.h"
#include "ui/views/editor/texts.h"

enum { PLACES = 32, RECORD_TRIES = 30, DEPARTURE_BYTES = 1 << 20 };
#define RECORD_PAUSE US_PER_SECOND // between them

static struct editor *
payload_editor(const struct editing *editing)
{
    return editing->texts[SECTION_PAYLOAD].editor;
}

// A missing member is typed behind the opening bracket of its object.
static size_t
cursor_of(size_t from, bool is_missing)
{
    return from + is_missing;
}

// --- departures

static void
find_departures(struct editing *editing)
{
    struct editing_hints *hints = &editing->hints;
    struct editor *editor = payload_editor(editing);
    hints->version = editor_version(editor);
    hints->count = 0;
    arena_reset(&hints->arena);
    if (hints->shape && editor_is_json(editor) && editor_len(editor) <= DEPARTURE_BYTES)
        shape_departures(hints->shape, editor_text(editor), &hints->arena, &hints->departures, &hints->count);
}

const struct shape_departure *
editing_departure_of_line(const struct editing *editing, size_t line)
{
    const struct editing_hints *hints = &editing->hints;
    struct editor *editor = payload_editor(editing);
    if (editing->section != SECTION_PAYLOAD || editing_is_embedded(editing) ||
        hints->version != editor_version(editor))
        return NULL;
    struct buffer *buffer = editor_buffer(editor);
    for (size_t i = 0; i < hints->count; i++)
        if (buffer_line_at(buffer, hints->departures[i].from) == line)
            return &hints->departures[i];
    return NULL;
}

size_t
editing_departure_cursor(const struct shape_departure *departure)
{
    return cursor_of(departure->from, departure->reason == SHAPE_MISSING);
}

const struct shape_departure *
editing_next_departure(struct editing *editing, size_t at, bool is_forward)
{
    const struct editing_hints *hints = &editing->hints;
    const struct shape_departure *next = NULL, *other_end = NULL;
    if (editing->section != SECTION_PAYLOAD || editing_is_embedded(editing))
        return NULL;
    if (hints->version !=
        editor_version(payload_editor(editing))) // as it is now, not as it was before a pause
        find_departures(editing);
    for (size_t i = 0; i < hints->count; i++) {
        const struct shape_departure *one = &hints->departures[i];
        size_t cursor = editing_departure_cursor(one);
        bool is_ahead = is_forward ? cursor > at : cursor < at;
        const struct shape_departure **best = is_ahead ? &next : &other_end;
        size_t best_cursor = *best ? editing_departure_cursor(*best) : 0;
        if (!*best || (is_forward ? cursor < best_cursor : cursor > best_cursor))
            *best = one;
    }
    return next ? next : other_end;
}

// --- the place that the message names

struct named_place {
    size_t at;
    const char *why;
};

// The places of the payload that the message names, in its order; those that are not there are left out.
static size_t
find_places(struct editing *editing, struct arena *arena, struct named_place **places)
{
    struct locate_where *wheres = arena_array(arena, PLACES, sizeof *wheres);
    struct locate_found found;
    struct bytes payload = editing_text(editing, SECTION_PAYLOAD);
    size_t count = 0;
    *places = arena_array(arena, PLACES, sizeof **places);
    if (!editor_is_json(payload_editor(editing)))
        return 0;
    size_t named = locate_read_all(editing->detail.event.error_message, arena, wheres, PLACES);
    for (size_t i = 0; named > 1 && i < named; i++) {
        locate_in(payload, false, &wheres[i], editing->hints.shape, arena, &found);
        if (found.ground == LOCATE_NAMED)
            (*places)[count++] =
                (struct named_place){.at = cursor_of(found.from, found.is_missing), .why = found.why};
    }
    return count;
}

// Is the sentence of a departure in the line below the text, as long as the cursor is on this line?
static bool
is_told_below(const struct editing *editing, size_t at)
{
    struct editor *editor = payload_editor(editing);
    struct check_finding finding;
    size_t line = buffer_line_at(editor_buffer(editor), at);
    return editing_departure_of_line(editing, line) && !editor_finding_of_line(editor, line, &finding);
}

static void
place_cursor(struct app *app, struct editing *editing)
{
    struct editing_hints *hints = &editing->hints;
    struct editor *editor = payload_editor(editing);
    const struct event *event = &editing->detail.event;
    struct locate_where where = {0};
    struct locate_found found;
    if (!editor_is_json(editor))
        return;
    (void)locate_read(event->error_message, event->stack_trace, &editing->arena, &where);
    bool is_what_failed = editing->detail.would_send.is_received_exact && !editing->parent;
    locate_in(editor_text(editor), is_what_failed, &where, hints->shape, &editing->arena, &found);
    struct named_place *places;
    hints->place = 0;
    hints->place_count = find_places(editing, &editing->arena, &places);
    if (found.ground != LOCATE_NOTHING) {
        editor_set_cursor(editor, cursor_of(found.from, found.is_missing), false);
        if (hints->place_count > 1)
            app_say(app, SAY_INFO, MSG_PLACE_OF, (size_t)1, hints->place_count, found.why);
        else if (found.ground != LOCATE_DEPARTURE || !is_told_below(editing, found.from))
            app_say(app, SAY_INFO, "%s", found.why);
    }
    hints->placed_at = editor_cursor(editor);
    hints->is_placed = found.ground == LOCATE_NAMED || found.ground == LOCATE_SYNTAX;
}

bool
editing_next_named(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    struct editing_hints *hints = &editing->hints;
    struct arena arena = {0};
    struct named_place *places;
    if (editing->life != EDITING_OPEN || editing->section != SECTION_PAYLOAD || editing_is_embedded(editing))
        return true;
    size_t count = find_places(editing, &arena, &places);
    if (count == 0 && hints->is_placed) {
        place_cursor(app, editing);
    } else if (count == 0) {
        app_say(app, SAY_INFO, MSG_NO_PLACE);
    } else {
        hints->place = (hints->place + 1) % count;
        editor_set_cursor(payload_editor(editing), places[hints->place].at, false);
        app_say(app, SAY_INFO, MSG_PLACE_OF, hints->place + 1, count, places[hints->place].why);
    }
    arena_release(&arena);
    return true;
}

// --- the original record

static bool
wants_record(const struct app *app, const struct editing *editing)
{
    const struct event *event = &editing->detail.event;
    return !event->record.is_kept && !event->known.correction.has_payload && event->origin.has_partition &&
           event->origin.has_offset && bytes_present(event->topic) && app_status(app)->has_schema &&
           !app_config(app)->is_read_only && !app_status(app)->is_read_only && !editing->read_only.event;
}

static void
send_about_record(struct app *app, struct editing *editing, enum request_kind kind)
{
    struct request *request = request_create(kind);
    request->id = editing->id;
    request->is_on = true; // the whole payload of an event, not its beginning
    editing->hints.record_number = app_send(app, request);
    editing->hints.record_at = 0; // not before the answer is there
}

static void
give_up_record(struct app *app, struct editing *editing, const char *why)
{
    struct editing_hints *hints = &editing->hints;
    hints->record = RECORD_MISSING;
    if (why)
        snprintf(hints->record_words, sizeof hints->record_words, MSG_RECORD_WHY, why);
    else
        snprintf(hints->record_words, sizeof hints->record_words, "%s", MSG_RECORD_MISSING);
    app_redraw(app);
}

static void
look_for_record(struct app *app, struct editing *editing)
{
    struct editing_hints *hints = &editing->hints;
    hints->record_at = 0;
    if (hints->record_tries++ < RECORD_TRIES)
        send_about_record(app, editing, REQUEST_RECORD);
    else if (hints->record == RECORD_AWAITED)
        give_up_record(app, editing, NULL);
}

static void
take_record(struct app *app, struct editing *editing, struct reply *reply)
{
    struct editing_hints *hints = &editing->hints;
    if (!reply->detail.event.record.is_kept) { // of a page that was read before it was there
        hints->record_at = clock_mono() + RECORD_PAUSE;
        return;
    }
    if (editing_is_dirty(editing)) {
        hints->record = RECORD_LATE;
        app_say(app, SAY_WARN, MSG_RECORD_LATE);
        return;
    }
    hints->record = RECORD_NOT_WANTED;
    editing_take(app, editing, &reply->arena, &reply->detail);
    app_say(app, SAY_INFO, MSG_RECORD_THERE);
    find_departures(editing);
    place_cursor(app, editing);
}

static void
take_answer(struct app *app, struct editing *editing, const struct news_reply *answer)
{
    struct editing_hints *hints = &editing->hints;
    if (answer->is_kept) {
        send_about_record(app, editing, REQUEST_EVENT);
    } else if (answer->sentence) {
        give_up_record(app, editing, answer->sentence);
    } else {
        hints->record = answer->has_worker ? RECORD_AWAITED : RECORD_NOBODY;
        hints->record_at = clock_mono() + RECORD_PAUSE;
    }
}

static bool
receive_record(struct app *app, struct editing *editing, struct reply *reply)
{
    struct editing_hints *hints = &editing->hints;
    if (!hints->record_number || reply->number != hints->record_number)
        return false;
    if (reply->kind == REPLY_EVENT)
        take_record(app, editing, reply);
    else if (reply->kind == REPLY_RECORD)
        take_answer(app, editing, &reply->news);
    else // a right is missing, or PostgreSQL is away
        give_up_record(app, editing, reply->err.text);
    app_redraw(app);
    return true;
}

const char *
editing_record_words(const struct editing *editing)
{
    switch (editing->hints.record) {
    case RECORD_NOT_WANTED:
        break;
    case RECORD_AWAITED:
        return MSG_RECORD_AWAITED;
    case RECORD_NOBODY:
        return MSG_RECORD_NOBODY;
    case RECORD_MISSING:
        return editing->hints.record_words;
    case RECORD_LATE:
        return MSG_RECORD_LATE;
    }
    return NULL;
}

// --- all of it

void
editing_hints_begin(struct app *app, struct editing *editing)
{
    place_cursor(app, editing);
    if (wants_record(app, editing)) {
        editing->hints.record = RECORD_AWAITED;
        look_for_record(app, editing);
    }
    struct request *request = request_create(REQUEST_SHAPE);
    request->id = editing->id;
    editing->hints.shape_number = app_send(app, request);
}

bool
editing_hints_receive(struct app *app, struct editing *editing, struct reply *reply)
{
    struct editing_hints *hints = &editing->hints;
    if (receive_record(app, editing, reply))
        return true;
    if (!hints->shape_number || reply->number != hints->shape_number)
        return false;
    if (reply->kind != REPLY_SHAPE) // without it there is nothing to compare with
        return true;
    shape_destroy(hints->shape);
    hints->shape = reply->shape;
    reply->shape = NULL;
    find_departures(editing);
    if (!hints->is_placed && !editing_is_dirty(editing) &&
        editor_cursor(payload_editor(editing)) == hints->placed_at)
        place_cursor(app, editing);
    app_redraw(app);
    return true;
}

int64_t
editing_hints_due(const struct editing *editing)
{
    const struct editing_hints *hints = &editing->hints;
    int64_t due = hints->record_at ? hints->record_at : -1;
    bool is_old = hints->shape && hints->version != editor_version(payload_editor(editing));
    int64_t pause = editing->work.changed_at + US_PER_SECOND;
    return is_old && (due < 0 || pause < due) ? pause : due;
}

void
editing_hints_tick(struct app *app, struct editing *editing)
{
    struct editing_hints *hints = &editing->hints;
    int64_t now = clock_mono();
    if (hints->record_at && hints->record_at <= now)
        look_for_record(app, editing);
    if (hints->shape && hints->version != editor_version(payload_editor(editing)) &&
        editing->work.changed_at + US_PER_SECOND <= now) {
        find_departures(editing);
        app_redraw(app);
    }
}

void
editing_hints_release(struct editing *editing)
{
    shape_destroy(editing->hints.shape);
    arena_release(&editing->hints.arena);
}
