// Finds in a payload the place that a message names: its path; a member; a position; a value; as much of the
// path as there is; else the first departure from the shape.
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/shape/locate_search.h"
#include "core/shape/trail.h"

enum { SHOWN_BYTES = 60 };

struct locator {
    struct bytes payload;
    bool is_exact;
    const struct locate_where *where;
    const struct shape *shape; // or NULL
    struct arena *arena;
    struct locate_found *found;
    struct path_search path; // the best that was found
    bool has_departures;     // were looked for
    struct shape_departure *departures;
    size_t departure_count;
};

static const char *
locate_shown(const struct locator *locator, struct bytes text)
{
    return arena_text(locator->arena, bytes_slice(text, 0, utf8_cut(text, SHOWN_BYTES)));
}

static void
place_at(struct locator *locator, size_t from)
{
    struct json_scan scan;
    json_begin(&scan, bytes_slice(locator->payload, from, SIZE_MAX));
    struct strbuf path = {0};
    json_path_at(locator->payload, from, &path);
    locator->found->from = from;
    locator->found->len = json_next(&scan).len;
    locator->found->path = arena_text(locator->arena, strbuf_bytes(&path));
    strbuf_release(&path);
}

static bool
found_value(struct locator *locator, size_t from, const char *why)
{
    place_at(locator, from);
    locator->found->why = why;
    return true;
}

// The member that the object at `object` lacks.
static bool
found_missing(struct locator *locator, size_t object, struct bytes name)
{
    place_at(locator, object);
    struct strbuf path = {0};
    strbuf_add_text(&path, locator->found->path);
    trail_print_name(name, &path);
    locator->found->path = arena_text(locator->arena, strbuf_bytes(&path));
    strbuf_release(&path);
    locator->found->is_missing = true;
    locator->found->why = arena_printf(locator->arena, "%s names %s, which is missing here",
                                       locator->where->library, locate_shown(locator, name));
    return true;
}

static bool
found_path(struct locator *locator, size_t from)
{
    place_at(locator, from);
    locator->found->why = arena_printf(locator->arena, "%s names %s", locator->where->library,
                                       locate_shown(locator, bytes_of(locator->found->path)));
    return true;
}

static void
need_departures(struct locator *locator)
{
    if (locator->has_departures || !locator->shape)
        return;
    shape_departures(locator->shape, locator->payload, locator->arena, &locator->departures,
                     &locator->departure_count);
    locator->has_departures = true;
}

// A path that leads to its end, in the payload or in something it wraps, or whose last member is missing.
static bool
try_path(struct locator *locator, bool is_loose)
{
    const struct locate_where *where = locator->where;
    struct path_search search;
    search_path(locator->payload, where, is_loose, &search);
    const struct locate_step *last = where->step_count ? &where->steps[where->step_count - 1] : NULL;
    bool is_all_but_last = last && search.beginning_steps + 1 == where->step_count && search.is_object &&
                           last->name.len > 0 && !where->is_without_indexes;
    if (search.rooted != SIZE_MAX)
        return found_path(locator, search.rooted);
    if (where->step_count && search.ending_steps == where->step_count && !where->is_path_missing)
        return found_path(locator, search.ending);
    // At the root any member may be missing, so a single name says too little to be so sure.
    if (is_all_but_last && (where->step_count > 1 || where->is_path_missing))
        return found_missing(locator, search.beginning, last->name);
    if (search.ending_steps + search.beginning_steps >
        locator->path.ending_steps + locator->path.beginning_steps)
        locator->path = search;
    return false;
}

// The path leads to an object, and the message says which member it lacks.
static bool
try_member_at_path(struct locator *locator)
{
    const struct locate_where *where = locator->where;
    if (!where->has_path || where->name.len == 0 || !where->is_missing)
        return false;
    struct path_search search;
    search_path(locator->payload, where, false, &search);
    if (search.rooted == SIZE_MAX || locator->payload.data[search.rooted] != '{')
        return false;
    size_t member = search_member(locator->payload, search.rooted, where->name);
    if (member != SIZE_MAX)
        return found_path(locator, member);
    return found_missing(locator, search.rooted, where->name);
}

// A departure that is about the member of that name.
static const struct shape_departure *
departure_of(struct locator *locator, struct bytes name, bool is_missing)
{
    need_departures(locator);
    for (size_t i = 0; i < locator->departure_count; i++) {
        const struct shape_departure *departure = &locator->departures[i];
        if (bytes_equal(departure->name, name) && (departure->reason == SHAPE_MISSING) == is_missing)
            return departure;
    }
    return NULL;
}

static bool
found_departure(struct locator *locator, const struct shape_departure *departure)
{
    *locator->found = (struct locate_found){
        .ground = LOCATE_NAMED,
        .from = departure->from,
        .len = departure->len,
        .path = departure->path,
        .is_missing = departure->reason == SHAPE_MISSING,
        .why = arena_printf(locator->arena, "%s names %s: %s", locator->where->library,
                            locate_shown(locator, departure->name), departure->sentence)};
    return true;
}

static bool
try_missing(struct locator *locator, const struct name_search *search)
{
    struct bytes name = locator->where->name;
    const struct shape_departure *departure = departure_of(locator, name, true);
    if (search->around != SIZE_MAX)
        return found_missing(locator, search->around, name);
    if (departure)
        return found_departure(locator, departure);
    if (search->odd_sibling != SIZE_MAX)
        return found_missing(locator, search->odd_sibling, name);
    bool is_object = locator->payload.data[search_offset(locator->payload, 0)] == '{';
    if (search->count == 0 && locator->where->is_missing && is_object)
        return found_missing(locator, search_offset(locator->payload, 0), name);
    return false;
}

static bool
try_name(struct locator *locator)
{
    const struct locate_where *where = locator->where;
    if (where->name.len == 0)
        return false;
    bool has_position = locator->is_exact && (where->line || where->has_offset) && where->is_missing;
    size_t position = has_position ? search_position(locator->payload, where) : SIZE_MAX;
    struct name_search search;
    search_name(locator->payload, where->name, false, position, &search);
    if (search.count == 0) {
        struct name_search loose;
        search_name(locator->payload, where->name, true, position, &loose);
        if (loose.count)
            search = loose;
    }
    if ((where->is_missing || search.count == 0) && try_missing(locator, &search))
        return true;
    if (search.count == 0)
        return false;
    const struct shape_departure *departure = departure_of(locator, where->name, false);
    return departure ? found_departure(locator, departure) : found_path(locator, search.first);
}

static bool
try_position(struct locator *locator)
{
    const struct locate_where *where = locator->where;
    if (!locator->is_exact || (!where->line && !where->has_offset))
        return false;
    size_t at = search_position(locator->payload, where);
    if (at == SIZE_MAX)
        return false;
    const char *why =
        where->line ? arena_printf(locator->arena, "%s names line %d, column %d", where->library, where->line,
                                   where->column)
                    : arena_printf(locator->arena, "%s names offset %zu", where->library, where->offset);
    return found_value(locator, search_offset(locator->payload, at), why);
}

static bool
try_value(struct locator *locator)
{
    const struct locate_where *where = locator->where;
    size_t from = where->value.len ? search_value(locator->payload, where->value) : SIZE_MAX;
    if (from == SIZE_MAX)
        return false;
    return found_value(locator, from,
                       arena_printf(locator->arena, "%s names the value \"%s\"", where->library,
                                    locate_shown(locator, where->value)));
}

// As much of the path as there is.
static bool
try_part_of_path(struct locator *locator)
{
    const struct path_search *search = &locator->path;
    if (!locator->where->has_path || (search->ending_steps == 0 && search->beginning_steps == 0))
        return false;
    bool is_ending = search->ending_steps >= search->beginning_steps;
    place_at(locator, is_ending ? search->ending : search->beginning);
    locator->found->why =
        arena_printf(locator->arena, "%s names a path of which only %s is here", locator->where->library,
                     locate_shown(locator, bytes_of(locator->found->path)));
    return true;
}

static bool
try_message(struct locator *locator)
{
    const struct locate_where *where = locator->where;
    if (!where->library)
        return false;
    if (try_member_at_path(locator))
        return true;
    if (where->has_path && where->step_count && (try_path(locator, false) || try_path(locator, true)))
        return true;
    return try_name(locator) || try_position(locator) || try_value(locator) || try_part_of_path(locator);
}

// Where the payload is no JSON, that is what stopped the consumer: only a position can be more exact.
static void
locate_syntax(struct locator *locator, const struct err *err)
{
    const struct locate_where *where = locator->where;
    struct bytes payload = locator->payload;
    struct locate_where wrong = {.line = err->line, .column = err->column, .unit = LOCATE_CHARACTERS};
    size_t at = search_position(payload, &wrong);
    locator->found->ground = LOCATE_SYNTAX;
    locator->found->why = arena_text(locator->arena, bytes_of(err->text));
    bool has_position = where->library && locator->is_exact && (where->line || where->has_offset);
    size_t named = has_position ? search_position(payload, where) : SIZE_MAX;
    if (named != SIZE_MAX) {
        at = named;
        locator->found->ground = LOCATE_NAMED;
        locator->found->why =
            arena_printf(locator->arena, "%s names this place; %s", where->library, err->text);
    }
    struct strbuf path = {0};
    json_path_at(payload, at, &path);
    locator->found->from = at;
    locator->found->len = at < payload.len;
    locator->found->path = arena_text(locator->arena, strbuf_bytes(&path));
    strbuf_release(&path);
}

void
locate_in(struct bytes payload, bool is_exact, const struct locate_where *where, const struct shape *shape,
          struct arena *arena, struct locate_found *found)
{
    struct locator locator = {.payload = payload,
                              .is_exact = is_exact,
                              .where = where,
                              .shape = shape,
                              .arena = arena,
                              .found = found};
    *found = (struct locate_found){.ground = LOCATE_NAMED, .path = "$"};
    struct err err = {0};
    if (!json_check(payload, &err)) {
        locate_syntax(&locator, &err);
        return;
    }
    if (try_message(&locator))
        return;
    need_departures(&locator);
    if (locator.departure_count) {
        const struct shape_departure *first = &locator.departures[0];
        *found = (struct locate_found){.ground = LOCATE_DEPARTURE,
                                       .from = first->from,
                                       .len = first->len,
                                       .path = first->path,
                                       .is_missing = first->reason == SHAPE_MISSING,
                                       .why = first->sentence};
        return;
    }
    *found = (struct locate_found){.ground = LOCATE_NOTHING,
                                   .from = search_offset(payload, 0),
                                   .path = "$",
                                   .why = shape ? "the error names no place, and nothing departs from other "
                                                  "events of this type"
                                                : "the error names no place"};
}
