#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/utf8.h"

const char *
text_count(int64_t n, char out[TEXT_SHORT])
{
    char digits[24];
    uint64_t magnitude = n < 0 ? (uint64_t) - (n + 1) + 1 : (uint64_t)n;
    int len = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    int at = 0;
    if (n < 0)
        out[at++] = '-';
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

const char *
text_age(int64_t us, char out[TEXT_SHORT])
{
    static const struct {
        int64_t seconds;
        const char *unit;
    } steps[] = {{604800 * 2, "w"}, {86400, "d"}, {3600, "h"}, {60, "m"}};

    int64_t seconds = us < 0 ? 0 : us / US_PER_SECOND;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (seconds >= steps[i].seconds) {
            int64_t per = i == 0 ? 604800 : steps[i].seconds;
            snprintf(out, TEXT_SHORT, "%" PRId64 "%s", seconds / per, steps[i].unit);
            return out;
        }
    }
    snprintf(out, TEXT_SHORT, "%" PRId64 "s", seconds);
    return out;
}

const char *
text_ago(int64_t at, int64_t now, char out[TEXT_SHORT])
{
    static const int64_t minute = 60 * US_PER_SECOND;
    int64_t age = now / minute * minute + minute / 2 - at;
    if (age >= minute)
        return text_age(age, out);
    snprintf(out, TEXT_SHORT, "<1m");
    return out;
}

const char *
text_seconds(double seconds, char out[TEXT_SHORT])
{
    if (seconds < 60)
        snprintf(out, TEXT_SHORT, "%.1fs", seconds);
    else if (seconds < 3600)
        snprintf(out, TEXT_SHORT, "%.1fm", seconds / 60);
    else if (seconds < 86400)
        snprintf(out, TEXT_SHORT, "%.1fh", seconds / 3600);
    else
        snprintf(out, TEXT_SHORT, "%.1fd", seconds / 86400);
    return out;
}

const char *
text_size(uint64_t bytes, char out[TEXT_SHORT])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(out, TEXT_SHORT, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}

bool
text_parse_int(struct bytes text, int64_t *n, struct err *err)
{
    size_t at = 0;
    bool negative = text.len && (text.data[0] == '-');
    if (negative)
        at++;
    int64_t value = 0;
    if (at == text.len)
        return err_set(err, ERR_USAGE, "\"%.*s\" is not a whole number", BYTES_ARGS(text));
    for (; at < text.len; at++) {
        int digit = text.data[at] - '0';
        if (digit < 0 || digit > 9)
            return err_set(err, ERR_USAGE, "\"%.*s\" is not a whole number", BYTES_ARGS(text));
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
            return err_set(err, ERR_USAGE, "%.*s is too large a number", BYTES_ARGS(text));
    }
    if (!negative && value == INT64_MIN)
        return err_set(err, ERR_USAGE, "%.*s is too large a number", BYTES_ARGS(text));
    *n = negative ? value : -value;
    return true;
}

struct unit {
    const char *name;
    int64_t scale;
};

// Digits and one of the units; without a unit the number is of `bare`.
static bool
parse_with_unit(struct bytes text, const struct unit *units, size_t count, int64_t bare, int64_t *value)
{
    size_t digits = 0;
    while (digits < text.len && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    struct bytes unit = bytes_slice(text, digits, SIZE_MAX);
    int64_t scale = unit.len == 0 ? bare : 0;
    for (size_t i = 0; i < count; i++)
        if (bytes_equal_text(unit, units[i].name))
            scale = units[i].scale;
    int64_t n;
    return digits > 0 && scale != 0 && text_parse_int(bytes_slice(text, 0, digits), &n, NULL) &&
           !__builtin_mul_overflow(n, scale, value);
}

bool
text_parse_duration(struct bytes text, int64_t *us, struct err *err)
{
    static const struct unit units[] = {{"ms", 1000},
                                        {"s", US_PER_SECOND},
                                        {"m", 60 * US_PER_SECOND},
                                        {"h", 3600 * US_PER_SECOND},
                                        {"d", 86400 * US_PER_SECOND},
                                        {"w", 604800 * US_PER_SECOND}};
    return parse_with_unit(text, units, sizeof units / sizeof *units, US_PER_SECOND, us) ||
           err_set(err, ERR_USAGE, "\"%.*s\" is not a duration; write 500ms, 10s, 2m, 3h or 7d",
                   BYTES_ARGS(text));
}

bool
text_parse_size(struct bytes text, int64_t *bytes, struct err *err)
{
    static const struct unit units[] = {{"B", 1}, {"kB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}};
    return parse_with_unit(text, units, sizeof units / sizeof *units, 1, bytes) ||
           err_set(err, ERR_USAGE, "\"%.*s\" is not a size; write 512kB, 256MB or 2GB", BYTES_ARGS(text));
}

static const char *
short_escape(uint32_t point)
{
    switch (point) {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case 0x1B:
        return "\\e";
    case 0:
        return "\\0";
    default:
        return NULL;
    }
}

enum { MOST_MARKS = 4 }; // combining, on one base; as on the screen

void
text_visible(struct strbuf *out, struct bytes untrusted, bool lines)
{
    int marks = 0; // on the last base
    for (size_t at = 0; at < untrusted.len;) {
        uint32_t point;
        size_t len = utf8_decode(untrusted, at, &point);
        marks = point != UTF8_INVALID && utf8_width(point) == 0 ? marks + 1 : 0;
        if (point == UTF8_INVALID)
            strbuf_printf(out, "\\x%02x", (unsigned char)untrusted.data[at]);
        else if (marks > MOST_MARKS)
            strbuf_printf(out, "<U+%04X>", point);
        else if (utf8_printable(point) || (lines && (point == '\n' || point == '\t')))
            strbuf_add(out, bytes_slice(untrusted, at, len));
        else if (short_escape(point))
            strbuf_add_text(out, short_escape(point));
        else if (point < 0x20 || point == 0x7F)
            strbuf_printf(out, "\\x%02x", point);
        else
            strbuf_printf(out, "<U+%04X>", point);
        at += len;
    }
}

// Damerau-Levenshtein distance (adjacent swaps count one) of words up to 63 bytes; longer ones are far apart.
static size_t
distance(const char *a, const char *b)
{
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la > 63 || lb > 63)
        return SIZE_MAX;

    size_t rows[3][64];
    size_t *before = rows[0];
    size_t *last = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= lb; j++)
        last[j] = j;
    for (size_t i = 1; i <= la; i++) {
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[lb];
}

const char *
text_suggest(const char *word, const char *const *words, size_t count)
{
    const char *best = NULL;
    size_t nearest = 3;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, words[i]);
        if (strlen(word) >= 3 && strncmp(words[i], word, strlen(word)) == 0)
            d = d < 1 ? d : 1;
        if (d < nearest && d < strlen(word)) {
            nearest = d;
            best = words[i];
        }
    }
    return best;
}

void
text_shell(struct strbuf *out, struct bytes text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./-";
    size_t at = 0;
    while (at < text.len && text.data[at] != '\0' && strchr(plain, text.data[at]))
        at++;
    if (text.len > 0 && at == text.len) {
        strbuf_add(out, text);
        return;
    }
    strbuf_add_char(out, '\'');
    for (at = 0; at < text.len; at++) {
        if (text.data[at] == '\'')
            strbuf_add_text(out, "'\\''");
        else
            strbuf_add_char(out, text.data[at]);
    }
    strbuf_add_char(out, '\'');
}
