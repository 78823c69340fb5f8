// Finds valid JSON that some readers change or refuse.
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/utf8.h"
#include "core/json/number.h"

static const char *const sentences[JSON_RISK_COUNT] = {
    [JSON_RISK_DUPLICATE] = "this name again: most readers keep only the last",
    [JSON_RISK_NUMBER] = "readers that keep doubles change this number",
    [JSON_RISK_NUL] = "\\u0000: jsonb refuses it, some readers end here",
    [JSON_RISK_SURROGATE] = "half of a surrogate pair: many readers refuse it",
};

const char *
json_risk_sentence(enum json_risk risk)
{
    return sentences[risk];
}

struct name {
    struct bytes content;
    size_t from, len; // of its token
};

struct risk_finding {
    enum json_risk risk;
    size_t from, len;
};

struct risk_search {
    struct json_scan scan;
    struct risk_finding *findings;
    size_t count, capacity;
    struct name *names; // of the objects around the token that is read, the outermost first
    size_t name_count, name_capacity;
    struct arena contents; // of names with escapes
};

static void
found(struct risk_search *search, enum json_risk risk, size_t from, size_t len)
{
    search->findings =
        alloc_grow(search->findings, search->count, &search->capacity, sizeof *search->findings);
    search->findings[search->count++] = (struct risk_finding){.risk = risk, .from = from, .len = len};
}

// Does a double give the number back, printed as shortly as a reader would? Fifteen digits always
// survive, more than seventeen never.
static bool
survives_double(struct bytes token)
{
    char digits[DBL_DECIMAL_DIG];
    int64_t exponent;
    size_t count = json_number_digits(token, digits, sizeof digits, &exponent);
    if (count <= DBL_DIG && exponent > -300 && exponent < 300)
        return true;
    if (count > sizeof digits)
        return false;
    char text[64];
    char back[40];
    snprintf(text, sizeof text, "0.%.*se%lld", (int)count, digits, (long long)exponent);
    double value = strtod(text, NULL);
    if (value > DBL_MAX)
        return false;
    // The smallest doubles have fewer digits.
    for (int shown = exponent > -290 ? DBL_DIG : 1; shown <= DBL_DECIMAL_DIG; shown++) {
        snprintf(back, sizeof back, "%.*g", shown, value);
        if (strtod(back, NULL) == value) // exactly the same double is what is asked for
            break;
    }
    return json_number_compare(bytes_of(text), bytes_of(back)) == 0;
}

static void
check_number(struct risk_search *search, struct json_token token)
{
    struct bytes text = json_bytes(&search->scan, token);
    // Up to fifteen characters: the common case. Only an exponent can take such a number out of a double.
    if (text.len <= DBL_DIG && !memchr(text.data, 'e', text.len) && !memchr(text.data, 'E', text.len))
        return;
    bool is_whole = true;
    for (size_t i = 0; i < text.len; i++)
        is_whole = is_whole && text.data[i] != '.' && text.data[i] != 'e' && text.data[i] != 'E';
    bool is_beyond = is_whole && (json_number_compare(text, BYTES("9007199254740992")) > 0 ||
                                  json_number_compare(text, BYTES("-9007199254740992")) < 0);
    if (is_beyond || !survives_double(text))
        found(search, JSON_RISK_NUMBER, token.from, token.len);
}

static unsigned
code_unit(const char *at)
{
    char digits[5];
    memcpy(digits, at, 4);
    digits[4] = '\0';
    return (unsigned)strtoul(digits, NULL, 16);
}

// \uXXXX at `at` within a valid string token; its length, or that of the pair.
static size_t
check_escape(struct risk_search *search, struct json_token token, struct bytes text, size_t at)
{
    unsigned unit = code_unit(text.data + at + 2);
    if (unit == 0)
        found(search, JSON_RISK_NUL, token.from + at, 6);
    if (unit < 0xD800 || unit > 0xDFFF)
        return 6;
    bool has_next =
        unit < 0xDC00 && at + 12 < text.len && text.data[at + 6] == '\\' && text.data[at + 7] == 'u';
    unsigned next = has_next ? code_unit(text.data + at + 8) : 0;
    if (next >= 0xDC00 && next <= 0xDFFF)
        return 12;
    found(search, JSON_RISK_SURROGATE, token.from + at, 6);
    return 6;
}

// false: it has no escapes.
static bool
check_string(struct risk_search *search, struct json_token token)
{
    struct bytes text = json_bytes(&search->scan, token);
    const char *first = memchr(text.data, '\\', text.len);
    if (!first)
        return false;
    for (size_t at = (size_t)(first - text.data); at < text.len;) {
        if (text.data[at] != '\\')
            at++;
        else
            at += text.data[at + 1] == 'u' ? check_escape(search, token, text, at) : 2;
    }
    return true;
}

static void
keep_name(struct risk_search *search, struct json_token token)
{
    struct bytes text = json_bytes(&search->scan, token);
    struct bytes content = bytes_slice(text, 1, text.len - 2);
    if (check_string(search, token)) {
        struct strbuf decoded = {0};
        json_decode(text, &decoded);
        content = arena_copy(&search->contents, strbuf_bytes(&decoded));
        strbuf_release(&decoded);
    }
    search->names =
        alloc_grow(search->names, search->name_count, &search->name_capacity, sizeof *search->names);
    search->names[search->name_count++] =
        (struct name){.content = content, .from = token.from, .len = token.len};
}

// By length and bytes, then as they stand.
static int
json_risk_by_name(const void *left, const void *right)
{
    const struct name *a = left;
    const struct name *b = right;
    if (a->content.len != b->content.len)
        return a->content.len < b->content.len ? -1 : 1;
    int order = memcmp(a->content.data, b->content.data, a->content.len);
    if (order)
        return order;
    return a->from < b->from ? -1 : 1;
}

static int
json_risk_by_place(const void *left, const void *right)
{
    const struct risk_finding *a = left;
    const struct risk_finding *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (int)a->risk - (int)b->risk;
}

// The innermost object ends: its names are compared, and forgotten.
static void
find_duplicates(struct risk_search *search, size_t first)
{
    size_t count = search->name_count - first;
    struct name *names = count ? &search->names[first] : NULL; // there may be no memory for any yet
    if (count > 1)
        qsort(names, count, sizeof *names, json_risk_by_name);
    for (size_t i = 1; i < count; i++)
        if (bytes_equal(names[i].content, names[i - 1].content))
            found(search, JSON_RISK_DUPLICATE, names[i].from, names[i].len);
    search->name_count = first;
}

// Where the text stops being JSON, all open objects end.
static void
json_risk_scan_all(struct risk_search *search)
{
    size_t first[JSON_DEPTH + 1]; // where the names of each open container begin
    int depth = 0;
    for (;;) {
        struct json_token token = json_next(&search->scan);
        switch (token.kind) {
        case JSON_OBJECT_BEGIN:
        case JSON_ARRAY_BEGIN:
            first[depth++] = search->name_count;
            break;
        case JSON_OBJECT_END:
        case JSON_ARRAY_END:
            if (depth > 0)
                find_duplicates(search, first[--depth]);
            break;
        case JSON_NAME:
            keep_name(search, token);
            break;
        case JSON_STRING:
            check_string(search, token);
            break;
        case JSON_NUMBER:
            check_number(search, token);
            break;
        case JSON_END:
        case JSON_ERROR:
            while (depth > 0)
                find_duplicates(search, first[--depth]);
            return;
        default:
            break;
        }
    }
}

size_t
json_warnings(struct bytes text, struct json_warning *warnings, size_t room)
{
    struct risk_search search = {0};
    json_begin(&search.scan, text);
    json_risk_scan_all(&search);
    if (search.count > 1)
        qsort(search.findings, search.count, sizeof *search.findings, json_risk_by_place);

    int line = 1;
    int column = 1;
    size_t at = 0;
    for (size_t i = 0; i < search.count && i < room; i++) {
        const struct risk_finding *finding = &search.findings[i];
        while (at < finding->from) {
            uint32_t point;
            at += utf8_decode(text, at, &point);
            column = point == '\n' ? 1 : column + 1;
            line += point == '\n';
        }
        warnings[i] = (struct json_warning){.risk = finding->risk,
                                            .from = finding->from,
                                            .len = finding->len,
                                            .line = line,
                                            .column = column};
    }
    size_t count = search.count;
    arena_release(&search.contents);
    free(search.names);
    free(search.findings);
    return count;
}
