#include "core/envelope/reading.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "core/json/json.h"

static bool
is_digits(struct bytes b)
{
    size_t from = b.len > 1 && b.data[0] == '-' ? 1 : 0;
    for (size_t i = from; i < b.len; i++)
        if (b.data[i] < '0' || b.data[i] > '9')
            return false;
    return b.len > from;
}

static struct bytes
print_number(int64_t number, struct arena *arena)
{
    return bytes_of(arena_int(arena, number));
}

// Big-endian two's complement of 1 to 8 bytes.
static int64_t
big_endian(struct bytes raw)
{
    uint64_t value = raw.len > 0 && (unsigned char)raw.data[0] >= 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < raw.len; i++)
        value = value << 8 | (unsigned char)raw.data[i];
    return (int64_t)value;
}

// Eight digits as a binary offset would be 3.4 x 10^18, four as a partition 808 million: they are text.
static struct bytes
read_integer(struct bytes raw, enum envelope_as as, struct arena *arena, const char **note)
{
    bool is_count = as == AS_COUNT && raw.len == 1;
    bool is_shortest = (as == AS_SHORTEST || as == AS_TIME_SHORTEST) && raw.len > 0 && raw.len <= 8;
    if (!is_count && is_digits(raw))
        return raw;
    if (!is_count && !is_shortest && raw.len != 4 && raw.len != 8) {
        *note = arena_printf(arena, "%zu bytes are no number", raw.len);
        return BYTES_ABSENT;
    }
    *note = arena_printf(arena, raw.len == 1 ? "a byte" : "%zu bytes, big-endian", raw.len);
    return print_number(is_count ? (unsigned char)raw.data[0] : big_endian(raw), arena);
}

static struct bytes
read_text(struct bytes raw, const char **note)
{
    if (bytes_starts(raw, "\xAC\xED")) {
        *note = "a serialised Java object: not opened";
        return BYTES_ABSENT;
    }
    if (!utf8_valid(raw) || (raw.len > 0 && memchr(raw.data, 0, raw.len))) {
        *note = "not UTF-8 text";
        return BYTES_ABSENT;
    }
    return raw;
}

static struct bytes
read_quoted(struct bytes raw, struct arena *arena, const char **note)
{
    struct strbuf text = {0};
    struct bytes decoded = raw;
    if (raw.len >= 2 && raw.data[0] == '"' && json_check(raw, NULL) && json_decode(raw, &text)) {
        decoded = arena_copy(arena, strbuf_bytes(&text));
        *note = "a JSON string";
    }
    strbuf_release(&text);
    return *note ? decoded : read_text(raw, note);
}

struct bytes
envelope_text(struct bytes raw, enum envelope_as as, struct arena *arena, const char **note)
{
    *note = NULL;
    if (!bytes_present(raw)) {
        *note = "null";
        return raw;
    }
    switch (as) {
    case AS_TEXT:
    case AS_TIME:
    case AS_DECIMAL:
        return read_text(raw, note);
    case AS_QUOTED:
        return read_quoted(raw, arena, note);
    case AS_INTEGER:
    case AS_COUNT:
    case AS_SHORTEST:
    case AS_TIME_INTEGER:
    case AS_TIME_SHORTEST:
        return read_integer(raw, as, arena, note);
    case AS_OPAQUE:
        break;
    }
    *note = "a serialised Java object: not opened";
    return BYTES_ABSENT;
}

bool
envelope_number(struct bytes text, int64_t *number)
{
    size_t dot = bytes_find(text, BYTES("."), 0);
    if (dot != SIZE_MAX && !is_digits(bytes_slice(text, dot + 1, SIZE_MAX)))
        return false;
    struct bytes whole = bytes_trim(dot == SIZE_MAX ? text : bytes_slice(text, 0, dot));
    return bytes_present(whole) && is_digits(whole) && text_parse_int(whole, number, NULL);
}

// "+01:00", "-0330" or "Z" at the end: microseconds to take off; the text without it.
static int64_t
take_zone(struct bytes *text)
{
    if (bytes_ends(*text, "Z")) {
        text->len--;
        *text = bytes_trim(*text);
        return 0;
    }
    size_t len = text->len > 6 && text->data[text->len - 3] == ':' ? 6 : 5;
    char sign = text->len > 19 ? text->data[text->len - len] : 0;
    if (sign != '+' && sign != '-')
        return 0;
    struct bytes zone = bytes_slice(*text, text->len - len + 1, len - 1);
    struct bytes hours = bytes_slice(zone, 0, 2), minutes = bytes_slice(zone, len - 3, 2);
    if (!is_digits(hours) || !is_digits(minutes))
        return 0;
    text->len -= len;
    *text = bytes_trim(*text);
    int64_t all = (hours.data[0] - '0') * 600 + (hours.data[1] - '0') * 60 + (minutes.data[0] - '0') * 10 +
                  (minutes.data[1] - '0');
    return (sign == '-' ? -all : all) * 60 * US_PER_SECOND;
}

bool
envelope_time(struct bytes text, int64_t *instant)
{
    int64_t number;
    bool is_date;
    text = bytes_trim(text);
    if (envelope_number(text, &number)) {
        bool is_seconds = number < 100000000000 && number > -100000000000;
        int64_t unit = is_seconds ? US_PER_SECOND : 1000;
        if (number > INT64_MAX / unit || number < INT64_MIN / unit)
            return false;
        *instant = number * unit;
        return true;
    }
    char copy[64];
    if (!bytes_present(text) || text.len >= sizeof copy)
        return false;
    int64_t zone = take_zone(&text);
    memcpy(copy, text.data, text.len);
    if (text.len > 19 && copy[19] == ':')
        copy[19] = '.';
    if (!time_parse_wall((struct bytes){copy, text.len}, instant, &is_date, NULL))
        return false;
    *instant -= zone;
    return true;
}
