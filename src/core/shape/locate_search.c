#include "core/shape/locate_search.h"

#include <string.h>
#include "base/utf8.h"
#include "core/shape/trail.h"

// The next letter or digit at *at, in lower case; -1 behind the last. Bytes beyond ASCII count as letters.
static int
next_letter(struct bytes text, size_t *at)
{
    while (*at < text.len) {
        unsigned char c = (unsigned char)text.data[(*at)++];
        if (c >= 'A' && c <= 'Z')
            c = (unsigned char)(c | 0x20);
        if (c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            return c;
    }
    return -1;
}

static bool
is_same_name(struct bytes a, struct bytes b, bool is_loose)
{
    if (!is_loose)
        return bytes_equal(a, b);
    size_t i = 0;
    size_t k = 0;
    for (int letter = -1;;) {
        int other = next_letter(b, &k);
        int one = next_letter(a, &i);
        if (one != other || one < 0)
            return one == other && letter >= 0;
        letter = one;
    }
}

static bool
is_step(const struct trail *trail, const struct trail_step *at, const struct locate_step *step, bool is_loose,
        struct strbuf *scratch)
{
    if (at->is_element)
        return step->is_index && step->index == at->index;
    return step->name.len > 0 && is_same_name(step->name, trail_content(trail, at->name, scratch), is_loose);
}

// How many of the path's last steps are the last ones of the trail.
static size_t
ending_steps(const struct trail *trail, const struct locate_where *where, bool is_loose,
             struct strbuf *scratch)
{
    size_t left = where->step_count;
    int at = trail->token.depth;
    while (at > 0 && left > 0) {
        const struct locate_step *step = &where->steps[left - 1];
        if (is_step(trail, &trail->steps[at], step, is_loose, scratch))
            left--;
        else if (!where->is_without_indexes || !trail->steps[at].is_element || left == where->step_count)
            break;
        at--;
    }
    return where->step_count - left;
}

static bool
is_kind(enum json_kind kind, enum json_kind wanted)
{
    return kind == wanted || (wanted == JSON_TRUE && kind == JSON_FALSE);
}

// Steps of the path that lead to the place reached, given those that lead to its container; -1: another way.
static int
beginning_steps(const struct trail *trail, const struct locate_where *where, int before, bool is_loose,
                struct strbuf *scratch)
{
    if (trail->token.depth == 0)
        return 0;
    if (before < 0 || (size_t)before == where->step_count)
        return -1;
    const struct trail_step *at = trail_step(trail);
    if (is_step(trail, at, &where->steps[before], is_loose, scratch))
        return before + 1;
    return where->is_without_indexes && at->is_element ? before : -1;
}

void
search_path(struct bytes payload, const struct locate_where *where, bool is_loose, struct path_search *search)
{
    *search = (struct path_search){.rooted = SIZE_MAX, .ending = SIZE_MAX, .beginning = SIZE_MAX};
    int steps[JSON_DEPTH + 1] = {0}; // of the path, that lead to each container
    bool is_rooted_kind = false;
    bool is_ending_kind = false;
    struct strbuf scratch = {0};
    struct trail trail;
    trail_begin(&trail, payload);
    for (enum trail_place place; (place = trail_next(&trail)) != TRAIL_END;) {
        if (place != TRAIL_VALUE)
            continue;
        struct json_token token = trail.token;
        int before = token.depth ? steps[token.depth - 1] : 0;
        int led = beginning_steps(&trail, where, before, is_loose, &scratch);
        steps[token.depth] = led;
        bool is_wanted = where->kind == JSON_END || is_kind(token.kind, where->kind);
        // Of equal names the last one counts; of elements that a path without indexes may mean the first one
        // of the right kind.
        bool is_whole = led == (int)where->step_count && (token.depth == 0 || before < led);
        if (is_whole &&
            (search->rooted == SIZE_MAX || !where->is_without_indexes || (is_wanted && !is_rooted_kind))) {
            search->rooted = token.from;
            is_rooted_kind = is_wanted;
        }
        if (led >= 0 && (search->beginning == SIZE_MAX || (size_t)led > search->beginning_steps)) {
            search->beginning = token.from;
            search->beginning_steps = (size_t)led;
            search->is_object = token.kind == JSON_OBJECT_BEGIN;
        }
        size_t ending = ending_steps(&trail, where, is_loose, &scratch);
        if (ending > search->ending_steps ||
            (ending && ending == search->ending_steps && is_wanted && !is_ending_kind)) {
            search->ending = token.from;
            search->ending_steps = ending;
            is_ending_kind = is_wanted;
        }
    }
    strbuf_release(&scratch);
}

// A container while its members are looked at.
struct name_level {
    size_t from;
    bool has_name;
    size_t others;  // elements of an array that have the member
    size_t without; // the first one that has not
};

static void
close_level(const struct trail *trail, struct name_level *levels, size_t position, struct name_search *search)
{
    struct json_token token = trail->token;
    const struct name_level *level = &levels[token.depth + 1];
    if (token.kind == JSON_ARRAY_END) {
        if (level->others && search->odd_sibling == SIZE_MAX)
            search->odd_sibling = level->without;
        return;
    }
    struct name_level *around = &levels[token.depth];
    if (token.depth && trail_step(trail)->is_element) {
        around->others += level->has_name;
        if (!level->has_name && around->without == SIZE_MAX)
            around->without = level->from;
    }
    // The first object that is closed behind the position is the innermost one around it.
    if (position == SIZE_MAX || level->from > position || token.from < position || levels[0].has_name)
        return;
    levels[0].has_name = true;
    if (!level->has_name)
        search->around = level->from;
}

void
search_name(struct bytes payload, struct bytes name, bool is_loose, size_t position,
            struct name_search *search)
{
    *search = (struct name_search){.first = SIZE_MAX, .odd_sibling = SIZE_MAX, .around = SIZE_MAX};
    struct name_level levels[JSON_DEPTH + 1]; // by the depth of their children; [0].has_name: `around` is
                                              // decided
    levels[0] = (struct name_level){0};
    struct strbuf scratch = {0};
    struct trail trail;
    trail_begin(&trail, payload);
    for (enum trail_place place; (place = trail_next(&trail)) != TRAIL_END;) {
        struct json_token token = trail.token;
        if (place == TRAIL_CLOSE) {
            close_level(&trail, levels, position, search);
            continue;
        }
        const struct trail_step *step = trail_step(&trail);
        if (token.depth && !step->is_element &&
            is_same_name(name, trail_content(&trail, step->name, &scratch), is_loose)) {
            levels[token.depth].has_name = true;
            search->first = search->count++ ? search->first : token.from;
        }
        if (token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN)
            levels[token.depth + 1] = (struct name_level){.from = token.from, .without = SIZE_MAX};
    }
    strbuf_release(&scratch);
}

size_t
search_member(struct bytes payload, size_t object, struct bytes name)
{
    size_t found = SIZE_MAX;
    struct strbuf scratch = {0};
    struct trail trail;
    trail_begin(&trail, bytes_slice(payload, object, SIZE_MAX));
    for (enum trail_place place; (place = trail_next(&trail)) != TRAIL_END;) {
        if (place == TRAIL_CLOSE && trail.token.depth == 0)
            break;
        const struct trail_step *step = trail_step(&trail);
        if (place == TRAIL_VALUE && trail.token.depth == 1 && !step->is_element &&
            bytes_equal(trail_content(&trail, step->name, &scratch), name))
            found = object + trail.token.from;
    }
    strbuf_release(&scratch);
    return found;
}

size_t
search_value(struct bytes payload, struct bytes content)
{
    size_t found = SIZE_MAX;
    struct strbuf scratch = {0};
    struct trail trail;
    trail_begin(&trail, payload);
    for (enum trail_place place; found == SIZE_MAX && (place = trail_next(&trail)) != TRAIL_END;) {
        struct json_token token = trail.token;
        if (place != TRAIL_VALUE || token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN)
            continue;
        struct bytes text = token.kind == JSON_STRING ? trail_content(&trail, token, &scratch)
                                                      : json_bytes(&trail.scan, token);
        if (bytes_equal(text, content))
            found = token.from;
    }
    strbuf_release(&scratch);
    return found;
}

size_t
search_offset(struct bytes payload, size_t offset)
{
    size_t found = 0;
    struct trail trail;
    trail_begin(&trail, payload);
    for (enum trail_place place; (place = trail_next(&trail)) != TRAIL_END;) {
        if (place != TRAIL_VALUE)
            continue;
        const struct trail_step *step = trail_step(&trail);
        bool is_member = trail.token.depth && !step->is_element;
        bool is_behind = (is_member ? step->name.from : trail.token.from) > offset;
        if (is_behind && trail.token.depth > 0)
            break;
        found = trail.token.from;
    }
    return found;
}

// The offset `units` behind `at`, in the same line where `in_line`; SIZE_MAX: the text is over before.
static size_t
advance(struct bytes text, size_t at, size_t units, enum locate_unit unit, bool in_line)
{
    while (units > 0 && at < text.len && !(in_line && text.data[at] == '\n')) {
        uint32_t point;
        size_t len = utf8_decode(text, at, &point);
        size_t used = 1;
        if (unit == LOCATE_BYTES)
            used = len;
        else if (unit == LOCATE_UTF16 && point != UTF8_INVALID && point > 0xFFFF)
            used = 2;
        if (used > units)
            return at;
        units -= used;
        at += len;
    }
    return units > 0 && at == text.len ? SIZE_MAX : at;
}

size_t
search_position(struct bytes payload, const struct locate_where *where)
{
    if (where->has_offset)
        return advance(payload, 0, where->offset, where->unit, false);
    size_t at = 0;
    for (int line = 1; line < where->line; line++) {
        size_t end = bytes_find(payload, BYTES("\n"), at);
        if (end == SIZE_MAX)
            return SIZE_MAX;
        at = end + 1;
    }
    return advance(payload, at, (size_t)where->column - 1, where->unit, true);
}
