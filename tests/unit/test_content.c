// What payloads are said to be, and the limits of what is edited.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/content.h"
#include "tests/unit/cpu_time.h"

static void
kinds_are_told_with_their_reason(void **state)
{
    (void)state;
    static const struct {
        struct bytes payload;
        enum content_kind kind;
        const char *why;
    } rows[] = {
        {{NULL, 0}, CONTENT_NONE, "there is no value: a null, which deletes the key in a compacted topic"},
        {{"", 0}, CONTENT_TEXT, "this value is empty: it has no bytes"},
        {{"{\"a\":1}", 7}, CONTENT_JSON, "this is JSON"},
        {{" 7 \n", 4}, CONTENT_JSON, "this is JSON"},
        {{"{\"a\":1,}", 8},
         CONTENT_TEXT,
         "this is text and not JSON: line 1, column 8: expected a name in quotes"},
        {{"id;name\n1;Zo\xc3\xab", 14},
         CONTENT_TEXT,
         "this is text and not JSON: line 1, column 1: expected a value"},
        {{"\xEF\xBB\xBF{}", 5},
         CONTENT_TEXT,
         "this is text and not JSON: line 1, column 1: expected a value: an invisible byte order mark (EF BB "
         "BF) "
         "precedes it"},
        {{"Zo\xeb", 3}, CONTENT_BYTES, "these are bytes and no text: byte 2 is not UTF-8"},
        {{"{\"a\":\"Zo\xeb\"}", 11}, CONTENT_BYTES, "these are bytes and no text: byte 8 is not UTF-8"},
        {{"ab\0c", 4}, CONTENT_BYTES, "these are bytes and no text: byte 2 is NUL"},
        {{"\0", 1}, CONTENT_BYTES, "these are bytes and no text: byte 0 is NUL"},
        {{"\0\0\0\0\x2a\x0cORD-17", 12},
         CONTENT_BYTES,
         "these are bytes and no text: byte 0 is NUL; it begins like a value of schema 42 of a schema "
         "registry (Avro or Protobuf)"},
        {{"\0\0\x01\0\x02{\"a\":1}", 12},
         CONTENT_BYTES,
         "these are bytes and no text: byte 0 is NUL; it begins like a value of schema 65538 of a schema "
         "registry (JSON Schema)"},
        {{"\x1F\x8B\x08\0", 4},
         CONTENT_BYTES,
         "these are bytes and no text: byte 1 is not UTF-8; it begins like gzip"},
        {{"\xFF\xFE{\0}\0", 6},
         CONTENT_BYTES,
         "these are bytes and no text: byte 0 is not UTF-8; it begins like UTF-16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct content content;
        content_of(rows[i].payload, &content);
        assert_string_equal(content.why, rows[i].why);
        assert_int_equal(content.kind, rows[i].kind);
        assert_non_null(content_name(content.kind));
        bool is_text = content.kind == CONTENT_JSON || content.kind == CONTENT_TEXT;
        assert_int_equal(content.is_editable, is_text);
    }
}

static void
fill(struct strbuf *text, const char *piece, size_t len)
{
    while (text->len < len)
        strbuf_add_text(text, piece);
    strbuf_splice(text, len, SIZE_MAX, BYTES(""));
}

static void
expect(struct strbuf *text, enum content_kind kind, bool is_editable, const char *part)
{
    struct content content;
    content_of(strbuf_bytes(text), &content);
    assert_int_equal(content.kind, kind);
    assert_int_equal(content.is_editable, is_editable);
    if (!strstr(content.why, part))
        fail_msg("%s, not %s", content.why, part);
}

// 4 MiB are edited, one byte more is read only; so of text.
static void
large_payloads_are_read_only(void **state)
{
    (void)state;
    struct strbuf text = {0};
    strbuf_add_char(&text, '"');
    fill(&text, "x", JSON_BYTES - 1);
    strbuf_add_char(&text, '"');
    expect(&text, CONTENT_JSON, true, "this is JSON");
    strbuf_add_char(&text, ' ');
    expect(&text, CONTENT_JSON, false,
           "; it has 4,194,305 bytes and is to be read only: up to 4,194,304 are edited");
    strbuf_reset(&text);
    fill(&text, "a line of text\n", JSON_BYTES);
    expect(&text, CONTENT_TEXT, true, "this is text");
    strbuf_add_char(&text, '\n');
    expect(&text, CONTENT_TEXT, false, "; it has 4,194,305 bytes and is to be read only");
    strbuf_release(&text);
}

static void
many_tokens_are_read_only(void **state)
{
    (void)state;
    struct strbuf text = {0};
    strbuf_add_char(&text, '[');
    // A bracket, 249,999 times two tokens, and what follows.
    for (int i = 0; i < JSON_TOKENS / 2 - 1; i++)
        strbuf_add_text(&text, "0,");
    size_t len = text.len;
    strbuf_splice(&text, len - 1, 1, BYTES("]"));
    expect(&text, CONTENT_JSON, true, "this is JSON");
    strbuf_splice(&text, len - 1, 1, BYTES(",0]"));
    expect(&text, CONTENT_JSON, false,
           "; it has 500,001 tokens and is to be read only: up to 500,000 are edited");
    strbuf_release(&text);
}

static void
depth_has_a_limit_that_is_told(void **state)
{
    (void)state;
    struct strbuf text = {0};
    fill(&text, "[", JSON_DEPTH);
    for (int i = 0; i < JSON_DEPTH; i++)
        strbuf_add_char(&text, ']');
    expect(&text, CONTENT_JSON, true, "this is JSON");
    strbuf_splice(&text, JSON_DEPTH, 0, BYTES("{}"));
    expect(&text, CONTENT_TEXT, true,
           "this is nested more than 512 levels deep at line 1, column 513: it is shown as text");
    // At that depth, another mistake is that mistake.
    strbuf_splice(&text, JSON_DEPTH, 2, BYTES("1 ["));
    expect(&text, CONTENT_TEXT, true, "expected a comma or ]");
    strbuf_release(&text);
}

// 20 MB in one line, of JSON, of text and of bytes, are looked at in a moment.
static void
twenty_megabytes_are_looked_at_quickly(void **state)
{
    (void)state;
    struct strbuf text = {0};
    int64_t began = cpu_time();
    strbuf_add_char(&text, '[');
    fill(&text, "{\"sku\":\"A-17\",\"amount\":1.50,\"name\":\"caf\xc3\xa9\"},", 20 << 20);
    strbuf_splice(&text, text.len - 64, 64, BYTES(""));
    size_t end = bytes_find_last(strbuf_bytes(&text), BYTES(","));
    size_t object = bytes_find_last(bytes_slice(strbuf_bytes(&text), 0, end), BYTES("}"));
    strbuf_splice(&text, object + 1, SIZE_MAX, BYTES("]"));
    expect(&text, CONTENT_JSON, false, "to be read only");
    strbuf_add_text(&text, " and more");
    expect(&text, CONTENT_TEXT, false, "nothing more after the value");
    strbuf_add_text(&text, "\xff");
    expect(&text, CONTENT_BYTES, false, "is not UTF-8");
    assert_true(cpu_time() - began < 5 * SECOND_SPENT);
    strbuf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_with_their_reason),
        cmocka_unit_test(large_payloads_are_read_only),
        cmocka_unit_test(many_tokens_are_read_only),
        cmocka_unit_test(depth_has_a_limit_that_is_told),
        cmocka_unit_test(twenty_megabytes_are_looked_at_quickly),
    };
    return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
