// Strings whose content was edited: what did not change keeps the way it is written.
#include <string.h>
#include "base/utf8.h"
#include "core/json/string.h"

enum spelling {
    SPELLED_UNKNOWN,
    SPELLED_RAW,
    SPELLED_SHORT, // \n
    SPELLED_LONG,  // \u000a
};

// How a token writes its characters. The first of each kind tells.
struct spellings {
    unsigned char ascii[128]; // enum spelling
    unsigned char wide;       // of all characters beyond ASCII
    bool is_upper;            // \u00E9
    bool has_letter;          // a hex digit has told
};

// A character of a token.
struct string_unit {
    size_t from, len; // in the token
    size_t size;      // in the content
    uint32_t point;
    bool is_lone; // half of a surrogate pair; U+FFFD in the content
};

static bool
next_unit(struct bytes token, struct string_unit *unit)
{
    size_t from = unit->len ? unit->from + unit->len : 1;
    if (from + 1 >= token.len)
        return false;
    *unit = (struct string_unit){.from = from};
    if (token.data[from] != '\\') {
        unit->len = unit->size = utf8_decode(token, from, &unit->point);
        return true;
    }
    char encoded[4];
    unit->len = json_escape_point(bytes_slice(token, from, SIZE_MAX), &unit->point);
    unit->size = utf8_encode(unit->point, encoded);
    unit->is_lone = unit->point == 0xFFFD && (token.data[from + 2] | 0x20) == 'd';
    return true;
}

static void
requote_learn_case(struct spellings *spellings, struct bytes escape)
{
    for (size_t i = 2; i < escape.len && !spellings->has_letter; i++) {
        char c = escape.data[i];
        bool is_upper = c >= 'A' && c <= 'F';
        spellings->has_letter = is_upper || (c >= 'a' && c <= 'f');
        spellings->is_upper = is_upper;
    }
}

static void
requote_learn(struct spellings *spellings, struct bytes token)
{
    struct string_unit unit = {0};
    while (next_unit(token, &unit)) {
        enum spelling spelling = SPELLED_RAW;
        if (unit.is_lone)
            continue;
        if (token.data[unit.from] == '\\')
            spelling = token.data[unit.from + 1] == 'u' ? SPELLED_LONG : SPELLED_SHORT;
        if (spelling == SPELLED_LONG)
            requote_learn_case(spellings, bytes_slice(token, unit.from, 6));
        unsigned char *known = unit.point < 128 ? &spellings->ascii[unit.point] : &spellings->wide;
        if (*known == SPELLED_UNKNOWN)
            *known = (unsigned char)spelling;
    }
}

static void
requote_add_unit(uint32_t unit, bool is_upper, struct strbuf *out)
{
    if (is_upper)
        strbuf_printf(out, "\\u%04X", unit);
    else
        strbuf_printf(out, "\\u%04x", unit);
}

static void
requote_add_long(uint32_t point, bool is_upper, struct strbuf *out)
{
    if (point >= 0x10000) {
        requote_add_unit(0xD800 + ((point - 0x10000) >> 10), is_upper, out);
        point = 0xDC00 + ((point - 0x10000) & 0x3FF);
    }
    requote_add_unit(point, is_upper, out);
}

static void
add_spelled(const struct spellings *spellings, struct bytes content, struct strbuf *out)
{
    for (size_t at = 0; at < content.len;) {
        uint32_t point;
        size_t len = utf8_decode(content, at, &point);
        if (point == UTF8_INVALID)
            point = 0xFFFD;
        char letter = json_escape_letter(point);
        unsigned spelling = point < 128 ? spellings->ascii[point] : spellings->wide;
        if (spelling == SPELLED_UNKNOWN && letter && point != '/')
            spelling = SPELLED_SHORT;
        if (spelling == SPELLED_LONG || (spelling == SPELLED_UNKNOWN && point < 0x20)) {
            requote_add_long(point, spellings->is_upper, out);
        } else if (spelling == SPELLED_SHORT) {
            strbuf_add_char(out, '\\');
            strbuf_add_char(out, letter);
        } else {
            char encoded[4];
            strbuf_add(out, (struct bytes){encoded, utf8_encode(point, encoded)});
        }
        at += len;
    }
}

static bool
continues_character(struct bytes content, size_t at)
{
    return at < content.len && ((unsigned char)content.data[at] & 0xC0) == 0x80;
}

// What two contents have in common at their begin and at their end, in whole characters.
static void
requote_common_ends(struct bytes a, struct bytes b, size_t *head, size_t *tail)
{
    size_t most = a.len < b.len ? a.len : b.len;
    size_t i = 0;
    while (i < most && a.data[i] == b.data[i])
        i++;
    while (i > 0 && (continues_character(a, i) || continues_character(b, i)))
        i--;
    *head = i;
    size_t j = 0;
    while (j < most - i && a.data[a.len - 1 - j] == b.data[b.len - 1 - j])
        j++;
    while (j > 0 && (continues_character(a, a.len - j) || continues_character(b, b.len - j)))
        j--;
    *tail = j;
}

// Is the unit the first half of a pair, without the second?
static bool
is_first_half(struct bytes token, const struct string_unit *unit)
{
    return unit->is_lone && strchr("89abAB", token.data[unit->from + 3]);
}

// Where the changed part of the content stands in the token.
struct requoted_part {
    size_t from, to;
    bool has_lone;   // a half of a surrogate pair is in it
    bool joins_pair; // without it, two halves beside it would become a character
};

static struct requoted_part
find_part(struct bytes token, size_t from, size_t to)
{
    struct requoted_part part = {.from = 1, .to = 1};
    struct string_unit unit = {0};
    bool follows_half = false;
    size_t at = 0;
    while (at < to && next_unit(token, &unit)) {
        at += unit.size;
        part.to = unit.from + unit.len;
        if (at <= from) {
            part.from = part.to;
            follows_half = is_first_half(token, &unit);
        } else {
            part.has_lone = part.has_lone || unit.is_lone;
        }
    }
    bool precedes_half = next_unit(token, &unit) && unit.is_lone && !is_first_half(token, &unit);
    part.joins_pair = part.from < part.to && follows_half && precedes_half;
    return part;
}

bool
json_requote(struct bytes token, struct bytes content, struct strbuf *out)
{
    struct strbuf old = {0};
    if (!json_decode(token, &old)) {
        json_quote(content, out);
        return true;
    }
    size_t head;
    size_t tail;
    requote_common_ends(strbuf_bytes(&old), content, &head, &tail);
    struct requoted_part part = find_part(token, head, old.len - tail);
    strbuf_release(&old);
    if (part.joins_pair && head + tail == content.len) {
        head -= 3; // U+FFFD
        part.from -= 6;
        part.has_lone = true;
    }
    struct bytes changed = bytes_slice(content, head, content.len - tail - head);
    struct spellings spellings = {0};
    if (changed.len)
        requote_learn(&spellings, token);
    strbuf_add(out, bytes_slice(token, 0, part.from));
    add_spelled(&spellings, changed, out);
    strbuf_add(out, bytes_slice(token, part.to, SIZE_MAX));
    return !part.has_lone || bytes_find(changed, BYTES("\xEF\xBF\xBD"), 0) == SIZE_MAX;
}

size_t
json_lone_surrogates(struct bytes token)
{
    struct string_unit unit = {0};
    size_t count = 0;
    while (next_unit(token, &unit))
        count += unit.is_lone;
    return count;
}

bool
json_embedded(struct bytes token, struct strbuf *text)
{
    size_t before = text->len;
    if (!json_decode(token, text))
        return false;
    struct bytes content = bytes_slice(strbuf_bytes(text), before, SIZE_MAX);
    struct bytes inside = bytes_trim(content);
    bool is_container = inside.len && (inside.data[0] == '{' || inside.data[0] == '[');
    if (is_container && json_check(content, NULL))
        return true;
    strbuf_splice(text, before, SIZE_MAX, BYTES(""));
    return false;
}
