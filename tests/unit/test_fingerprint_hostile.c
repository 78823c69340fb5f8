// Texts that are made to be slow: what is worse than linear in their length shows in the time that they take.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/strbuf.h"
#include "core/fingerprint/fingerprint.h"
#include "tests/unit/cpu_time.h"

// Each is repeated: openings without an end, words that begin something, separators, broken characters.
static const char *const hostile[] = {
    "(",
    "[",
    "{",
    "{a=",
    "{\"a\":",
    "\"",
    "'",
    "'a ",
    "`x ",
    "a",
    "1",
    "a.",
    "..",
    "://",
    "@",
    "\\",
    "a=",
    "a: ",
    "<",
    "\xC2\xAB",
    "select ",
    "cliente A ",
    "Jan ",
    "nested exception is ",
    "; nested exception is a.B: ",
    " ---> a.B: c",
    ": a.BException: c",
    "Caused by: a.B: c\n",
    "\nCaused by: a.B: c\n\tat a.B.c(B.java:1)",
    "\n\tat a.B.c(B.java:1)",
    "\nNext A\\B: c in /x.php:1\n#0 x",
    "\nTraceback (most recent call last):\n  File \"a\", line 1, in b\nE: x\n",
    "\n",
    "\xEF\xBC\x91",
    "\xED\x95\x9C",
    "\x80",
    "\xFF",
    "[Source: ",
    "; line: 1]",
    "Detail: \n",
    "-",
    "Aa",
    "A:",
    "::",
    "file:1:in `",
    "errors\":[\"a\",",
    "a 'b",
    "a=(",
    "value (",
    "status [",
    "\"a\".",
    "\"A\" ",
    "[[1,",
    "map[a:",
    "=\"",
    "cliente A",
    "user ",
    "/a",
    "a1/",
    "12 ms ",
    "on an `Err` value: A: ",
    "thread '",
    "insert into t values (",
    "0|null|",
    "for Aa & ",
    "for Aa, ",
    "R$ ",
    "payload=a ",
    "enum constant a.B.",
    "a.b-",
    "args:(",
    "variant `a`, expected ",
    "cart:a@",
    "{\"code\":1,\"message\":\"a\",\"path\":[\"a\",1,",
    "0|a.b.com|",
    "node-[1,",
    "a=b{",
    "value is (",
    "locked by user ",
    "value a due to",
    "convert a b to in",
    "Ana O'B. ",
    "[{\\\"a\\\":",
    "{\"errors\":[{\"details\":{\"a\":[{\"message\":",
    "]: a (field"};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static void
repeat(struct strbuf *text, const char *part, size_t count)
{
    strbuf_reset(text);
    for (size_t i = 0; i < count; i++)
        strbuf_add_text(text, part);
}

// What it takes to key and explain `count` times `part`, the quickest of three.
static int64_t
time_of(struct strbuf *text, const char *part, size_t count)
{
    int64_t best = INT64_MAX;
    repeat(text, part, count);
    for (int i = 0; i < 3; i++) {
        int64_t from = cpu_time();
        struct fingerprint_input as_message = {.message = strbuf_bytes(text)};
        struct fingerprint_input as_stack = {.message = BYTES("x"), .stack = strbuf_bytes(text)};
        assert_true(fingerprint_key(&as_message) == fingerprint_key(&as_message));
        assert_true(fingerprint_key(&as_stack) == fingerprint_key(&as_stack));
        struct arena arena = {0};
        (void)fingerprint_explain(&as_stack, &arena);
        arena_release(&arena);
        int64_t took = cpu_time() - from;
        best = took < best ? took : best;
    }
    return best;
}

// Texts made to be slow: eight times the text may take sixteen times as long (what is worse than linear takes
// sixty-four), and what is over in a few milliseconds is not looked at.
static void
are_read_in_linear_time(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, NOISE = 5000000 };
    struct strbuf text = {0};
    for (size_t i = 0; i < HOSTILE; i++) {
        size_t count = LONG / strlen(hostile[i]);
        int64_t short_time = time_of(&text, hostile[i], count / 8);
        int64_t long_time = time_of(&text, hostile[i], count);
        if (long_time > 16 * short_time + NOISE)
            fail_msg("%s: %lld ns for an eighth of a megabyte, %lld ns for the whole", hostile[i],
                     (long long)short_time, (long long)long_time);
    }
    strbuf_release(&text);
}

// What it takes to key `len` bytes of repeated `part`, in nanoseconds, the quickest of many.
static int64_t
time_of_masking(struct strbuf *text, const char *part, size_t len)
{
    int64_t best = INT64_MAX;
    repeat(text, part, len / strlen(part));
    struct fingerprint_input input = {.message = strbuf_bytes(text)};
    uint64_t key = fingerprint_key(&input);
    for (int i = 0; i < 9; i++) {
        int64_t from = cpu_time();
        for (int n = 0; n < 4; n++)
            assert_true(fingerprint_key(&input) == key);
        int64_t took = cpu_time() - from;
        best = took < best ? took : best;
    }
    return best;
}

// The mask sees no more than 4 KB, within which it must be linear too: eight times the text may take
// thirty-two times as long, since brackets are looked at for half a kilobyte; what is worse takes sixty-four.
static void
are_masked_in_linear_time(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (size_t i = 0; i < HOSTILE; i++) {
        int64_t short_time = time_of_masking(&text, hostile[i], 512);
        int64_t long_time = time_of_masking(&text, hostile[i], 4096);
        if (long_time > 32 * short_time)
            fail_msg("%s: %lld ns for half a kilobyte, %lld ns for four", hostile[i], (long long)short_time,
                     (long long)long_time);
    }
    strbuf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_read_in_linear_time),
        cmocka_unit_test(are_masked_in_linear_time),
    };
    return cmocka_run_group_tests_name("fingerprint of hostile texts", tests, NULL, NULL);
}
