// Tries the formats in order, and fills the envelope from the tables of the one that matches.
#include "core/envelope/envelope.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "core/envelope/dropped_headers.h"
#include "core/envelope/format.h"
#include "core/envelope/reading.h"
#include "core/envelope/schema_id.h"

static const struct envelope_format *const formats[] = {
#define FORMAT(name) &envelope_##name,
#include "core/envelope/formats.def"
#undef FORMAT
    &envelope_unknown,
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct {
    const char *name, *title;
    bool is_origin;
} facts[FACT_COUNT] = {
    [FACT_NONE] = {"", "", false},
#define FACT(id, name, title, is_origin) [FACT_##id] = {name, title, is_origin},
#include "core/envelope/facts.def"
#undef FACT
};

const char *
envelope_fact_name(enum envelope_fact fact)
{
    return facts[fact].name;
}

const char *
envelope_fact_title(enum envelope_fact fact)
{
    return facts[fact].title;
}

const char *
envelope_format_name(const struct envelope_format *format)
{
    return format->name;
}

const char *
envelope_format_title(const struct envelope_format *format)
{
    return format->title;
}

bool
envelope_format_is_known(const struct envelope_format *format)
{
    return format != &envelope_unknown;
}

const struct envelope_format *
envelope_format_at(size_t i)
{
    return i < FORMATS ? formats[i] : NULL;
}

const struct envelope_format *
envelope_format_find(struct bytes name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (bytes_equal_text(name, formats[i]->name))
            return formats[i];
    return NULL;
}

static const struct envelope_header_row *
row_of(const struct envelope_format *format, struct bytes name)
{
    for (const struct envelope_header_row *row = format->headers; row && row->name; row++)
        if (header_name_matches(name, row->name))
            return row;
    return NULL;
}

static const char *
proof_by_header(const struct envelope_format *format, const struct envelope_record *record,
                struct arena *arena)
{
    if (record->header_count == 0)
        return NULL;
    for (const struct envelope_header_row *row = format->headers; row && row->name; row++)
        for (size_t i = 0; row->flags & PROVES && i < record->header_count; i++)
            if (header_name_matches(record->headers[i].name, row->name))
                return arena_join(
                    arena,
                    (const struct bytes[]){BYTES("header "), bytes_slice(record->headers[i].name, 0, 4096)},
                    2);
    return NULL;
}

// Of each letter that is taken in, whether or not anybody reads it.
static const char *
why_members(const char *const *shape, struct arena *arena)
{
    struct bytes parts[1 + 2 * SHAPE_MOST] = {BYTES("the value has")};
    size_t count = 1;
    for (size_t i = 0; i < SHAPE_MOST && shape[i]; i++) {
        parts[count++] = bytes_of(i == 0 ? " " : shape[i + 1] ? ", " : " and ");
        parts[count++] = bytes_of(shape[i]);
    }
    return arena_join(arena, parts, count);
}

static const char *
proof_by_members(const struct envelope_format *format, const struct members *members, struct arena *arena)
{
    if (!format->shape || members->count == 0)
        return NULL;
    for (size_t i = 0; format->shape[i]; i++)
        if (!bytes_present(members_at(members, format->shape[i], arena)))
            return NULL;
    return why_members(format->shape, arena);
}

// Why it is this format; NULL: it is not.
static const char *
proof(const struct envelope_format *format, const struct envelope_record *record,
      const struct members *members, struct arena *arena)
{
    const char *why = proof_by_header(format, record, arena);
    if (!why)
        why = proof_by_members(format, members, arena);
    return why && format->recognise && !format->recognise(record, members) ? NULL : why;
}

static bool
is_number(enum envelope_fact fact)
{
    return fact == FACT_ATTEMPTS || fact == FACT_REPROCESSED || fact == FACT_PARTITION || fact == FACT_OFFSET;
}

static bool
is_time(enum envelope_fact fact)
{
    return fact == FACT_FAILED_AT || fact == FACT_TIMESTAMP;
}

void
envelope_say(struct envelope *envelope, enum envelope_fact fact, struct bytes text)
{
    if (fact == FACT_NONE || bytes_present(envelope->facts[fact]) || !bytes_present(text))
        return;
    envelope->facts[fact] = text;
    int64_t *number = &envelope->numbers[fact];
    if (is_number(fact))
        envelope->has_number[fact] = envelope_number(text, number) && *number >= 0;
    else if (is_time(fact))
        envelope->has_number[fact] = envelope_time(text, number);
    if (fact == FACT_PARTITION && *number > INT32_MAX)
        envelope->has_number[fact] = false;
}

static void
add_field(struct envelope *envelope, struct envelope_field field, enum envelope_as as, struct arena *arena)
{
    if (field.is_header)
        field.text = envelope_text(field.raw, as, arena, &field.note);
    envelope->fields[envelope->field_count++] = field;
}

// The object that a path led into last: rows with members of one object follow one another.
struct inner {
    struct bytes object;
    struct members members;
};

// As members_at, which reads that object for each path.
static struct bytes
member_at(const struct members *members, const char *path, struct inner *last, struct arena *arena)
{
    const char *dot = strchr(path, '.');
    if (!dot)
        return members_find(members, bytes_of(path));
    struct bytes object = members_find(members, (struct bytes){path, (size_t)(dot - path)});
    if (object.data != last->object.data) {
        members_read(object, arena, &last->members);
        last->object = object;
    }
    return members_at(&last->members, dot + 1, arena);
}

// The headers of the format, then its members.
static void
collect(struct envelope *envelope, const struct envelope_record *record, const struct members *members,
        struct arena *arena)
{
    size_t most = record->header_count;
    struct inner last = {0};
    const struct envelope_format *format = envelope->format;
    for (const struct envelope_member_row *row = format->members; row && row->path; row++)
        most++;
    envelope->fields = arena_array(arena, most + 1, sizeof *envelope->fields);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct event_header *header = &record->headers[i];
        const struct envelope_header_row *row = row_of(format, header->name);
        if (row || dropped_header(header->name))
            add_field(envelope,
                      (struct envelope_field){.name = header->name,
                                              .is_header = true,
                                              .fact = row ? row->fact : FACT_NONE,
                                              .raw = header->value},
                      row ? row->as : AS_TEXT, arena);
    }
    for (const struct envelope_member_row *row = format->members; row && row->path; row++) {
        struct bytes token = member_at(members, row->path, &last, arena);
        if (bytes_present(token))
            add_field(envelope,
                      (struct envelope_field){.name = bytes_of(row->path),
                                              .fact = row->fact,
                                              .raw = token,
                                              .text = member_text(token, arena)},
                      row->as, arena);
    }
}

// The field that a row's fact is taken from: of a repeated header the first or the last with text.
static struct envelope_field *
field_for(struct envelope *envelope, bool is_header, const char *name, enum envelope_fact fact)
{
    struct envelope_field *found = NULL;
    bool is_first = envelope->format->reads_first || facts[fact].is_origin;
    for (size_t i = 0; i < envelope->field_count; i++) {
        struct envelope_field *field = &envelope->fields[i];
        if (field->is_header != is_header || field->fact != fact || field->text.len == 0)
            continue;
        if (is_header ? !header_name_matches(field->name, name) : !bytes_equal_text(field->name, name))
            continue;
        if (!found || !is_first)
            found = field;
    }
    return found;
}

static void
take(struct envelope *envelope, struct envelope_field *field)
{
    if (!field || field->fact == FACT_NONE || bytes_present(envelope->facts[field->fact]))
        return;
    envelope_say(envelope, field->fact, field->text);
    field->is_taken = true;
}

static void
take_facts(struct envelope *envelope)
{
    const struct envelope_format *format = envelope->format;
    for (const struct envelope_header_row *row = format->headers; row && row->name; row++)
        take(envelope, field_for(envelope, true, row->name, row->fact));
    for (const struct envelope_member_row *row = format->members; row && row->path; row++)
        take(envelope, field_for(envelope, false, row->path, row->fact));
}

static void
decode(const struct envelope_record *record, const struct members *members, struct arena *arena,
       struct envelope *envelope)
{
    collect(envelope, record, members, arena);
    take_facts(envelope);
    if (envelope->format->decode)
        envelope->format->decode(record, arena, envelope);
}

void
envelope_read_as(const struct envelope_format *format, const struct envelope_record *record,
                 struct arena *arena, struct envelope *envelope)
{
    struct members members;
    members_read(record->value, arena, &members);
    *envelope = (struct envelope){.format = format, .why = "the topic's setting"};
    decode(record, &members, arena, envelope);
}

// What could be meant, where no format matches.
static const char *
why_unknown(const struct envelope_record *record, struct arena *arena)
{
    struct schema_id schema;
    if (schema_id_of(record, &schema))
        return arena_printf(arena,
                            "no header of a known format, and the value begins like one of %s: an envelope "
                            "within is not looked for",
                            schema_id_text(&schema, arena));
    return "no header and no member of a known format";
}

void
envelope_read(const struct envelope_record *record, struct arena *arena, struct envelope *envelope)
{
    struct members members;
    size_t also = 0;
    members_read(record->value, arena, &members);
    *envelope = (struct envelope){0};
    for (size_t i = 0; i + 1 < FORMATS; i++) {
        const char *why = proof(formats[i], record, &members, arena);
        if (why && !envelope->format) {
            envelope->format = formats[i];
            envelope->why = why;
        } else if (why && also < ENVELOPE_ALSO - 1) {
            envelope->also[also++] = formats[i];
        }
    }
    if (!envelope->format) {
        envelope->format = &envelope_unknown;
        envelope->why = why_unknown(record, arena);
    }
    decode(record, &members, arena, envelope);
}

void
envelope_unsendable(struct strbuf *out)
{
    const char *between = "";
    for (size_t i = 0; i + 1 < FORMATS; i++) {
        if (!formats[i]->lost || !formats[i]->shape)
            continue;
        strbuf_printf(out, "%s(", between);
        for (const char *const *member = formats[i]->shape; *member; member++)
            strbuf_printf(out, "%sexists($.%s)", member == formats[i]->shape ? "" : " && ", *member);
        strbuf_add_text(out, ")");
        between = " || ";
    }
    if (!*between)
        strbuf_add_text(out, "1 == 0");
}
