#include "core/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"

// Limits of reliability.md 5.6.
enum {
    PATTERN_BYTES = 1024,
    NEST = 50,
    MATCHES = 100000,
    DEPTH = 10000,
    HEAP_KIB = 20 << 10,
    JIT_STACK = 1 << 20,
    SLICE = 64,           // start offsets between two looks at the clock, without JIT
    SLICE_FROM = 2 << 10, // shorter texts cannot cost much
};
static const int64_t BUDGET = 50000; // µs a text

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    bool has_jit;
};

// A capital letter that is not part of an escape makes the pattern exact.
static bool
has_capital(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\\')
            i++;
        else if (text.data[i] >= 'A' && text.data[i] <= 'Z')
            return true;
    }
    return false;
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

static pcre2_code *
compile(struct bytes text, struct err *err)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        die("out of memory");
    pcre2_set_parens_nest_limit(context, NEST);
    pcre2_set_max_pattern_length(context, PATTERN_BYTES);
    uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
    if (!has_capital(text))
        options |= PCRE2_CASELESS;

    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)text.data, text.len, options, &code, &offset, context);
    pcre2_compile_context_free(context);
    if (compiled)
        return compiled;

    PCRE2_UCHAR words[200];
    pcre2_get_error_message(code, words, sizeof words);
    err_set(err, ERR_USAGE, "the regular expression cannot be read here: %s", (const char *)words);
    if (err)
        err->column = characters(text, offset) + 1;
    return NULL;
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
    pcre2_code *code = compile(text, err);
    if (!code)
        return false;

    struct pattern *made = alloc_bytes(sizeof *made);
    made->code = code;
    made->data = pcre2_match_data_create_from_pattern(code, NULL);
    made->context = pcre2_match_context_create(NULL);
    if (!made->data || !made->context)
        die("out of memory");
    pcre2_set_match_limit(made->context, MATCHES);
    pcre2_set_depth_limit(made->context, DEPTH);
    pcre2_set_heap_limit(made->context, HEAP_KIB);
    // A hardened kernel may forbid executable memory; then the interpreter works under the same limits.
    made->has_jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
    if (made->has_jit) {
        made->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK, NULL);
        pcre2_jit_stack_assign(made->context, NULL, made->stack);
    }
    *pattern = made;
    return true;
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
    pcre2_code_free(pattern->code);
    free(pattern);
}

static int
match(struct pattern *pattern, struct bytes text, size_t from, size_t limit, uint32_t options)
{
    pcre2_set_offset_limit(pattern->context, limit);
    return pcre2_match(pattern->code, (PCRE2_SPTR)text.data, text.len, from, options, pattern->data,
                       pattern->context);
}

// The interpreter may scan a long text in quadratic time without ever touching the match limit: so it goes
// slice by slice of start offsets, with a look at the clock between.
static int
match_sliced(struct pattern *pattern, struct bytes text, size_t from)
{
    int64_t until = clock_mono() + BUDGET;
    while (from <= text.len) {
        size_t limit = text.len - from > SLICE ? from + SLICE - 1 : text.len;
        int result = match(pattern, text, from, limit, PCRE2_NO_JIT);
        if (result != PCRE2_ERROR_NOMATCH || limit == text.len)
            return result;
        if (clock_mono() > until)
            return PCRE2_ERROR_MATCHLIMIT;
        from = limit + 1;
        while (from < text.len && ((unsigned char)text.data[from] & 0xC0) == 0x80)
            from++;
    }
    return PCRE2_ERROR_NOMATCH;
}

enum pattern_verdict
pattern_find(struct pattern *pattern, struct bytes text, size_t from, size_t *start, size_t *len)
{
    if (!text.data || from > text.len)
        return PATTERN_NO;

    int result = PCRE2_ERROR_JIT_STACKLIMIT;
    if (pattern->has_jit)
        result = match(pattern, text, from, PCRE2_UNSET, 0);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = text.len - from > SLICE_FROM ? match_sliced(pattern, text, from)
                                              : match(pattern, text, from, PCRE2_UNSET, PCRE2_NO_JIT);
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
