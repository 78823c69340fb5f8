#include "core/filter/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "core/filter/required_literals.h"
#include "core/filter/literal.h"

// A pattern that backtracks without end, ^(a+)+$, meets the match limit, which holds for one start offset.
// One that scans in quadratic time, a*[bc] on a run of a's, never meets it (4 s for 100 kB without JIT): so
// the clock is looked at between slices of start offsets.
enum {
    PATTERN_BYTES = 1024,
    NEST = 50,
    MATCHES = 100000,
    DEPTH = 10000,
    HEAP_KIB = 20 << 10,
    JIT_STACK = 1 << 20,
    QUICK_MATCHES = 1000,        // so few at every offset of a short text cost some milliseconds at worst
    QUICK_JIT = 4 << 10,         // bytes of a text that is short, with JIT
    QUICK_INTERPRETED = 1 << 10, // and without
    SLICE_MOST = 1024,           // start offsets
    SLICE_STEPS = 2 << 20,       // a step of a match may cost as much as the text is long
};
static const int64_t BUDGET = 50000;     // µs a text
static const int64_t BUDGET_LEAST = 100; // of a pattern that has run into its limits often
static const int64_t PATIENCE = 2000000; // µs spent at limits before a text is given less
static const int64_t IDLE = 500;         // µs: a slice that took less may grow
static const int64_t BUSY = 2000;        // µs: a slice that took more has to shrink

// Replaces a byte that is not UTF-8: one byte too, so that offsets stay.
static const char SUBSTITUTE = '\x1A';

struct pattern {
    bool is_twin; // code, literal, required and held are another one's
    // Several threads may use the code, but each needs the three below for itself (pcre2api,
    // "Multithreading").
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    bool has_jit;
    bool is_whole; // \G means the start offset: slices would change what it matches
    bool is_caseless;
    bool is_plain;         // the literal is all of it
    struct strbuf literal; // every match holds it
    struct strbuf required;
    pcre2_code *held;     // that literal, compiled; NULL: none
    int64_t limited;      // µs spent on texts that ended at the limit
    struct strbuf mended; // the text last matched, where it was no UTF-8
};

static bool
is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The offset behind the escape at `at`: \S and \p{…} are over after two bytes (what a property is named
// counts as a capital, since \p{Lu} means it), the digits of \xE9 and \x{1F600} belong to it.
static size_t
escape_end(struct bytes text, size_t at)
{
    bool is_code = at + 1 < text.len && text.data[at + 1] == 'x';
    at += 2;
    if (!is_code || at >= text.len)
        return at;
    if (text.data[at] == '{') {
        size_t end = bytes_find(text, BYTES("}"), at);
        return end == SIZE_MAX ? text.len : end + 1;
    }
    for (int digits = 0; digits < 2 && at < text.len && is_hex(text.data[at]); digits++)
        at++;
    return at;
}

// Asks pcre2, which has the tables.
static bool
has_capital_beyond_ascii(struct bytes text)
{
    int code;
    PCRE2_SIZE offset;
    pcre2_code *capital = pcre2_compile((PCRE2_SPTR) "(?![\\x00-\\x7F])[\\p{Lu}\\p{Lt}]",
                                        PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &offset, NULL);
    pcre2_match_data *data = capital ? pcre2_match_data_create_from_pattern(capital, NULL) : NULL;
    if (!data)
        die("out of memory");
    int result = pcre2_match(capital, (PCRE2_SPTR)text.data, text.len, 0, 0, data, NULL);
    pcre2_match_data_free(data);
    pcre2_code_free(capital);
    return result > 0;
}

// A capital letter that is not part of an escape makes the pattern exact.
static bool
has_capital(struct bytes text)
{
    size_t at = 0;
    while (bytes_starts(bytes_slice(text, at, SIZE_MAX),
                        "(*")) { // (*UCP) and the like, before the pattern itself
        size_t end = bytes_find(text, BYTES(")"), at);
        at = end == SIZE_MAX ? text.len : end + 1;
    }
    bool is_ascii = true;
    while (at < text.len) {
        if (text.data[at] == '\\') {
            at = escape_end(text, at);
            continue;
        }
        if (text.data[at] >= 'A' && text.data[at] <= 'Z')
            return true;
        is_ascii = is_ascii && (unsigned char)text.data[at] < 0x80;
        at++;
    }
    return !is_ascii && has_capital_beyond_ascii(text);
}

static int
characters(struct bytes text, size_t bytes)
{
    int count = 0;
    for (size_t at = 0; at < bytes && at < text.len; count++) {
        uint32_t point;
        at += utf8_decode(text, at, &point);
    }
    return count;
}

// What a person forgot or did not mean, in few words: the line that shows it may begin near the right edge.
static const char *
bracket_mistake(int code)
{
    switch (code) {
    case PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS:
        return "( is not closed; \\( finds a bracket";
    case PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS:
        return ") closes nothing; \\) finds a bracket";
    case PCRE2_ERROR_MISSING_SQUARE_BRACKET:
        return "[ is not closed; \\[ finds a bracket";
    default:
        return NULL;
    }
}

static pcre2_code *
compile_code(struct bytes text, bool is_caseless, struct err *err)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        die("out of memory");
    pcre2_set_parens_nest_limit(context, NEST);
    pcre2_set_max_pattern_length(context, PATTERN_BYTES);
    uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
    if (is_caseless)
        options |= PCRE2_CASELESS;

    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)text.data, text.len, options, &code, &offset, context);
    pcre2_compile_context_free(context);
    if (compiled)
        return compiled;

    PCRE2_UCHAR words[200];
    pcre2_get_error_message(code, words, sizeof words);
    if (bracket_mistake(code))
        err_set(err, ERR_USAGE, "%s", bracket_mistake(code));
    else
        err_set(err, ERR_USAGE, "the regular expression cannot be read here: %s", (const char *)words);
    if (err)
        err->column = characters(text, offset) + 1;
    return NULL;
}

// The literal is looked for by pcre2 too, so that its idea of case is the pattern's.
static void
find_literal(struct pattern *pattern, struct bytes text)
{
    pattern->is_plain = pattern_literal(text, &pattern->literal, &pattern->required);
    if (pattern->is_caseless)
        required_ignore_case(&pattern->required, "");
    if (pattern->literal.len == 0)
        return;
    int code;
    PCRE2_SIZE offset;
    uint32_t options = PCRE2_UTF | PCRE2_LITERAL | (pattern->is_caseless ? PCRE2_CASELESS : 0);
    pattern->held =
        pcre2_compile((PCRE2_SPTR)pattern->literal.data, pattern->literal.len, options, &code, &offset, NULL);
    if (pattern->held)
        pcre2_jit_compile(pattern->held, PCRE2_JIT_COMPLETE);
    else
        pattern->is_plain = false;
}

// The state of one thread for matching.
static void
make_workplace(struct pattern *pattern)
{
    pattern->data = pcre2_match_data_create_from_pattern(pattern->code, NULL);
    pattern->context = pcre2_match_context_create(NULL);
    if (!pattern->data || !pattern->context)
        die("out of memory");
    pcre2_set_depth_limit(pattern->context, DEPTH);
    pcre2_set_heap_limit(pattern->context, HEAP_KIB);
    if (pattern->has_jit) {
        pattern->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK, NULL);
        pcre2_jit_stack_assign(pattern->context, NULL, pattern->stack);
    }
}

bool
pattern_compile(struct pattern **pattern, struct bytes text, struct err *err)
{
    if (text.len > PATTERN_BYTES) {
        err_set(err, ERR_USAGE, "a regular expression has at most %d bytes, this one has %zu", PATTERN_BYTES,
                text.len);
        if (err)
            err->column = characters(text, PATTERN_BYTES) + 1;
        return false;
    }
    bool is_caseless = !has_capital(text);
    pcre2_code *code = compile_code(text, is_caseless, err);
    if (!code)
        return false;

    struct pattern *made = alloc_bytes(sizeof *made);
    made->code = code;
    made->is_caseless = is_caseless;
    find_literal(made, text);
    made->is_whole = bytes_find(text, BYTES("\\G"), 0) != SIZE_MAX;
    // A hardened kernel may forbid executable memory; then the interpreter works under the same limits.
    made->has_jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
    make_workplace(made);
    *pattern = made;
    return true;
}

struct pattern *
pattern_twin(const struct pattern *pattern)
{
    struct pattern *twin = alloc_bytes(sizeof *twin);
    *twin = *pattern;
    twin->is_twin = true;
    twin->mended = (struct strbuf){0};
    make_workplace(twin);
    return twin;
}

void
pattern_destroy(struct pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_match_data_free(pattern->data);
    pcre2_match_context_free(pattern->context);
    if (pattern->stack)
        pcre2_jit_stack_free(pattern->stack);
    if (!pattern->is_twin) {
        pcre2_code_free(pattern->code);
        pcre2_code_free(pattern->held);
        strbuf_release(&pattern->literal);
        strbuf_release(&pattern->required);
    }
    strbuf_release(&pattern->mended);
    free(pattern);
}

// The text as pcre2 may read it without a check of its own: a `.` goes over a bad byte as over any other
// character.
static struct bytes
mend(struct pattern *pattern, struct bytes text)
{
    if (utf8_valid(text))
        return text;
    strbuf_reset(&pattern->mended);
    strbuf_add(&pattern->mended, text);
    for (size_t at = 0; at < text.len;) {
        uint32_t point;
        size_t len = utf8_decode(text, at, &point);
        if (point == UTF8_INVALID)
            pattern->mended.data[at] = SUBSTITUTE;
        at += len;
    }
    return strbuf_bytes(&pattern->mended);
}

// The first character at or behind `at`, which may lie within one.
static size_t
boundary(struct bytes text, size_t at)
{
    while (at < text.len && ((unsigned char)text.data[at] & 0xC0) == 0x80)
        at++;
    return at;
}

// With start offsets up to `last`, and so many matches at each.
static int
match(struct pattern *pattern, struct bytes text, size_t from, size_t last, size_t matches, uint32_t options)
{
    pcre2_set_offset_limit(pattern->context, last);
    pcre2_set_match_limit(pattern->context, (uint32_t)matches);
    return pcre2_match(pattern->code, (PCRE2_SPTR)text.data, text.len, from, options | PCRE2_NO_UTF_CHECK,
                       pattern->data, pattern->context);
}

// The time limit for a text: less for a pattern that used up its time on earlier texts.
static int64_t
budget(const struct pattern *pattern)
{
    int64_t left = (PATIENCE - pattern->limited) / 20;
    return left > BUDGET ? BUDGET : left < BUDGET_LEAST ? BUDGET_LEAST : left;
}

// A step of a match may cost as much as the text is long, and a scan may take quadratic time without ever
// touching the match limit. So a long text begins with few steps at one start offset, and has more of both
// while they are quick and there is time. Where limit and time are both used up the answer is the limit.
static int
match_sliced(struct pattern *pattern, struct bytes text, size_t from)
{
    int64_t until = clock_mono() + budget(pattern);
    size_t most = (size_t)SLICE_STEPS / (text.len + 1);
    most = most < 50 ? 50 : most > MATCHES ? MATCHES : most;
    size_t matches = most < 400 ? 50 : most / 8;
    for (size_t slice = 1;;) {
        bool is_last = pattern->is_whole || text.len - from < slice;
        size_t last = is_last ? text.len : from + slice - 1;
        int64_t began = clock_mono();
        int result = match(pattern, text, from, last, matches, 0);
        // Too deep for the stack of JIT: the interpreter keeps its own on the heap.
        if (result == PCRE2_ERROR_JIT_STACKLIMIT)
            result = match(pattern, text, from, last, matches, PCRE2_NO_JIT);
        int64_t now = clock_mono();
        if (result == PCRE2_ERROR_MATCHLIMIT && matches < MATCHES && now < until &&
            (slice > 1 || now - began < BUSY)) {
            matches = slice > 1 ? matches : matches * 4 < MATCHES ? matches * 4 : MATCHES;
            slice = 1;
            continue;
        }
        if (result != PCRE2_ERROR_NOMATCH || is_last)
            return result;
        if (now > until)
            return PCRE2_ERROR_MATCHLIMIT;
        if (now - began < IDLE && slice < SLICE_MOST)
            slice *= 4;
        else if (now - began > BUSY && slice > 1)
            slice /= 4;
        from = boundary(text, last + 1);
    }
}

static int
match_limited(struct pattern *pattern, struct bytes text, size_t from)
{
    int result = PCRE2_ERROR_MATCHLIMIT;
    if (text.len - from <= (pattern->has_jit ? QUICK_JIT : QUICK_INTERPRETED))
        result = match(pattern, text, from, text.len, QUICK_MATCHES, 0);
    if (result != PCRE2_ERROR_MATCHLIMIT && result != PCRE2_ERROR_JIT_STACKLIMIT)
        return result;

    int64_t began = clock_mono();
    result = match_sliced(pattern, text, from);
    if (result >= 0 || result == PCRE2_ERROR_NOMATCH)
        return result;
    pattern->limited += clock_mono() - began;
    bool may_match = pattern_find_held(pattern, text, from) != SIZE_MAX &&
                     required_fits(pattern_required(pattern), pattern->is_caseless, text);
    return may_match ? result : PCRE2_ERROR_NOMATCH;
}

enum pattern_verdict
pattern_find(struct pattern *pattern, struct bytes text, size_t from, size_t *start, size_t *len)
{
    if (!text.data || from > text.len)
        return PATTERN_NO;
    text = mend(pattern, text);
    from = boundary(text, from);

    int result = match_limited(pattern, text, from);
    if (result == PCRE2_ERROR_NOMATCH)
        return PATTERN_NO;
    if (result < 0)
        return PATTERN_LIMIT;

    const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(pattern->data);
    // \K in a lookahead may put the start behind the end; then there is nothing to show.
    if (start)
        *start = ovector[0];
    if (len)
        *len = ovector[1] > ovector[0] ? ovector[1] - ovector[0] : 0;
    return PATTERN_YES;
}

enum pattern_verdict
pattern_find_groups(struct pattern *pattern, struct bytes text, size_t from, struct pattern_group *groups,
                    size_t room)
{
    if (!text.data || from > text.len)
        return PATTERN_NO;
    int result = match_limited(pattern, text, boundary(text, from));
    if (result < 0)
        return result == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_LIMIT;

    const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(pattern->data);
    for (size_t i = 0; i < room; i++) {
        // Groups behind the last that took part are not filled.
        bool is_set = i < (size_t)result && ovector[2 * i] != PCRE2_UNSET;
        groups[i] = (struct pattern_group){.is_set = is_set};
        if (!is_set)
            continue;
        groups[i].from = ovector[2 * i];
        groups[i].len =
            ovector[2 * i + 1] > ovector[2 * i] ? (size_t)(ovector[2 * i + 1] - ovector[2 * i]) : 0;
    }
    return PATTERN_YES;
}

size_t
pattern_group_count(const struct pattern *pattern)
{
    uint32_t count = 0;
    pcre2_pattern_info(pattern->code, PCRE2_INFO_CAPTURECOUNT, &count);
    return count;
}

enum pattern_verdict
pattern_is_in(struct pattern *pattern, struct bytes text)
{
    int result = match_limited(pattern, text, 0);
    return result == PCRE2_ERROR_NOMATCH ? PATTERN_NO : result < 0 ? PATTERN_LIMIT : PATTERN_YES;
}

struct bytes
pattern_holds(const struct pattern *pattern)
{
    return strbuf_bytes(&pattern->literal);
}

struct bytes
pattern_required(const struct pattern *pattern)
{
    return strbuf_bytes(&pattern->required);
}

bool
pattern_is_required(const struct pattern *pattern)
{
    return pattern->is_plain && pattern->required.len == pattern->literal.len &&
           required_is_text(pattern_required(pattern));
}

bool
pattern_is_caseless(const struct pattern *pattern)
{
    return pattern->is_caseless;
}

size_t
pattern_find_held(struct pattern *pattern, struct bytes text, size_t from)
{
    if (!pattern->held)
        return from;
    int result = pcre2_match(pattern->held, (PCRE2_SPTR)text.data, text.len, from, PCRE2_NO_UTF_CHECK,
                             pattern->data, NULL);
    return result < 0 ? SIZE_MAX : pcre2_get_ovector_pointer(pattern->data)[0];
}
