// Reads error messages by the rows of locate.def.
#include "core/shape/locate.h"

#include <string.h>
#include "base/text.h"
#include "core/shape/locate_readers.h"
#include "core/shape/trail.h"

// Of one marker in one text, and bytes between a marker and the text behind it.
enum { TRIES = 64, BEHIND_BYTES = 300 };

struct locate_form {
    const char *library;
    const char *marker;
    const char *behind;
    enum locate_reader reader;
    bool is_missing;
    enum locate_unit unit;
};

static const struct locate_form forms[] = {
#define LOCATE_FORM(library, marker, behind, reader, is_missing, unit)                                       \
    {library, marker, behind, READ_##reader, is_missing, LOCATE_##unit},
#include "core/shape/locate.def"
#undef LOCATE_FORM
};

enum part { PART_PATH, PART_NAME, PART_VALUE, PART_POSITION };

static enum part
part_read_by(enum locate_reader reader)
{
    if (reader <= READ_PARSE_FIELDS)
        return PART_PATH;
    if (reader <= READ_WORDS)
        return PART_NAME;
    return reader == READ_VALUE ? PART_VALUE : PART_POSITION;
}

static bool
where_has_part(const struct locate_where *where, enum part part)
{
    switch (part) {
    case PART_PATH:
        return where->has_path;
    case PART_NAME:
        return where->name.len > 0;
    case PART_VALUE:
        return where->value.len > 0;
    case PART_POSITION:
        return where->line > 0 || where->has_offset;
    }
    return true;
}

static bool
read_form_at(const struct locate_form *form, struct form_reader *reader)
{
    reader->marked = reader->at = reader->start + bytes_of(form->marker).len;
    if (*form->behind) {
        struct bytes rest = bytes_slice(reader->text, reader->at, BEHIND_BYTES);
        size_t line = bytes_find(rest, BYTES("\n"), 0);
        size_t behind = bytes_find(bytes_slice(rest, 0, line), bytes_of(form->behind), 0);
        if (behind == SIZE_MAX)
            return false;
        reader->at += behind + bytes_of(form->behind).len;
    }
    if (locate_read_part(form->reader, reader))
        return true;
    if (!reader->where->has_path)
        reader->where->step_count = 0; // of a path that was given up half-way
    return false;
}

// Plain words of a stack are read in the messages of causes only, which are not indented: frames are, and
// lines of source, or begin with #.
static bool
is_frame_line(struct bytes stack, size_t at)
{
    size_t line = bytes_find_last(bytes_slice(stack, 0, at), BYTES("\n"));
    char first = stack.data[line == SIZE_MAX ? 0 : line + 1];
    return first == ' ' || first == '\t' || first == '#';
}

static bool
is_in_plain_words(enum locate_reader reader)
{
    return reader == READ_SUBJECT || reader == READ_WORDS || reader == READ_WHOLE;
}

static bool
read_form(const struct locate_form *form, struct form_reader *reader, bool is_stack)
{
    size_t from = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        reader->start = bytes_find(reader->text, bytes_of(form->marker), from);
        if (reader->start == SIZE_MAX)
            return false;
        bool is_left_out =
            is_stack && is_in_plain_words(form->reader) && is_frame_line(reader->text, reader->start);
        if (!is_left_out && read_form_at(form, reader))
            return true;
        from = reader->start + 1;
    }
    return false;
}

static void
read_text(struct bytes text, bool is_stack, struct arena *arena, struct locate_where *where)
{
    if (text.len == 0)
        return;
    struct form_reader reader = {.text = text, .arena = arena, .where = where};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (where_has_part(where, part_read_by(forms[i].reader)))
            continue;
        reader.is_missing = forms[i].is_missing;
        reader.unit = forms[i].unit;
        if (read_form(&forms[i], &reader, is_stack) && !where->library)
            where->library = forms[i].library;
    }
}

// A message that was logged as JSON has its quotes and line ends escaped. Absent: this one has none.
static struct bytes
without_escapes(struct bytes text, struct arena *arena)
{
    if (bytes_find(text, BYTES("\\\""), 0) == SIZE_MAX)
        return BYTES_ABSENT;
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool is_escape = text.data[i] == '\\' && i + 1 < text.len && memchr("\"\\n", text.data[i + 1], 3);
        i += is_escape;
        out[len++] = is_escape && text.data[i] == 'n' ? '\n' : text.data[i];
    }
    return (struct bytes){out, len};
}

bool
locate_read(struct bytes message, struct bytes stack, struct arena *arena, struct locate_where *where)
{
    *where = (struct locate_where){.kind = JSON_END};
    message = bytes_slice(message, 0, LOCATE_TEXT);
    stack = bytes_slice(stack, 0, LOCATE_TEXT);
    read_text(message, false, arena, where);
    read_text(without_escapes(message, arena), false, arena, where);
    read_text(stack, true, arena, where);
    return where->library != NULL;
}

static bool
same_place(const struct locate_where *a, const struct locate_where *b)
{
    bool is_same = a->step_count == b->step_count && bytes_equal(a->name, b->name);
    for (size_t i = 0; is_same && i < a->step_count; i++)
        is_same = a->steps[i].is_index == b->steps[i].is_index && a->steps[i].index == b->steps[i].index &&
                  bytes_equal(a->steps[i].name, b->steps[i].name);
    return is_same;
}

// Where the reader of a form may find another place: at the next marker, or at the end of the line before the
// next line that is not indented, in a list below one marker.
static bool
next_place(const struct locate_form *form, struct form_reader *reader)
{
    struct bytes text = reader->text;
    if (form->reader != READ_LOCATION)
        return read_form(form, reader, false);
    for (size_t at = reader->at; (at = bytes_find(text, BYTES("\n"), at + 1)) != SIZE_MAX;) {
        if (at + 1 >= text.len || text.data[at + 1] == ' ' || text.data[at + 1] == '\n')
            continue;
        reader->at = at;
        if (locate_read_part(form->reader, reader))
            return true;
    }
    return false;
}

// All places that one form reads in a text.
static size_t
read_places(const struct locate_form *form, struct bytes text, struct arena *arena,
            struct locate_where *wheres, size_t room)
{
    struct form_reader reader = {
        .text = text, .arena = arena, .is_missing = form->is_missing, .unit = form->unit};
    size_t count = 0;
    for (int tries = 0; count < room && tries < TRIES; tries++) {
        struct locate_where *where = reader.where = &wheres[count];
        *where = (struct locate_where){.kind = JSON_END};
        if (tries == 0 ? !read_form(form, &reader, false) : !next_place(form, &reader))
            break;
        where->library = form->library;
        bool is_new = true;
        for (size_t i = 0; i < count; i++)
            is_new = is_new && !same_place(&wheres[i], where);
        count += is_new;
        if (form->reader != READ_LOCATION)
            reader.text = bytes_slice(reader.text, reader.start + 1, SIZE_MAX);
    }
    return count;
}

size_t
locate_read_all(struct bytes message, struct arena *arena, struct locate_where *wheres, size_t room)
{
    struct bytes texts[2] = {bytes_slice(message, 0, LOCATE_TEXT), BYTES_ABSENT};
    texts[1] = without_escapes(texts[0], arena);
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; texts[t].len && i < sizeof forms / sizeof *forms; i++) {
            enum part part = part_read_by(forms[i].reader);
            size_t count = part == PART_PATH || part == PART_NAME
                               ? read_places(&forms[i], texts[t], arena, wheres, room)
                               : 0;
            if (count)
                return count;
        }
    }
    return 0;
}

static void
print_path(const struct locate_where *where, struct strbuf *out)
{
    strbuf_add_char(out, '$');
    for (size_t i = 0; i < where->step_count; i++) {
        const struct locate_step *step = &where->steps[i];
        if (step->is_index)
            strbuf_printf(out, "[%zu]", step->index);
        else
            trail_print_name(step->name, out);
    }
}

void
locate_print(const struct locate_where *where, struct strbuf *out)
{
    if (!where->library) {
        strbuf_add_text(out, "nothing");
        return;
    }
    strbuf_printf(out, "%s:", where->library);
    const char *between = " ";
    if (where->has_path) {
        strbuf_printf(out, "%spath ", between);
        print_path(where, out);
        strbuf_add_text(out, where->is_path_missing ? " missing" : "");
        between = ", ";
    }
    if (where->name.len) {
        strbuf_printf(out, "%smember ", between);
        strbuf_add(out, where->name);
        strbuf_add_text(out, where->is_missing ? " missing" : "");
        between = ", ";
    }
    if (where->value.len) {
        strbuf_printf(out, "%svalue ", between);
        json_quote(where->value, out);
        between = ", ";
    }
    if (where->line)
        strbuf_printf(out, "%sline %d, column %d", between, where->line, where->column);
    if (where->has_offset)
        strbuf_printf(out, "%soffset %zu", between, where->offset);
}
