#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/uuid.h"

static void
counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    char out[TEXT_SHORT];
    assert_string_equal(text_count(0, out), "0");
    assert_string_equal(text_count(999, out), "999");
    assert_string_equal(text_count(1204000, out), "1,204,000");
    assert_string_equal(text_count(-1234, out), "-1,234");
    assert_string_equal(text_count(INT64_MIN, out), "-9,223,372,036,854,775,808");
}

static void
ages_are_short(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } rows[] = {{-5, "0s"},   {4, "4s"},     {59, "59s"},         {60, "1m"},        {3599, "59m"},
                {3600, "1h"}, {86400, "1d"}, {13 * 86400, "13d"}, {14 * 86400, "2w"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[TEXT_SHORT];
        assert_string_equal(text_age(rows[i].seconds * US_PER_SECOND, out), rows[i].text);
    }
    static const struct {
        int64_t at; // seconds
        const char *text;
    } agos[] = {{7300, "<1m"}, {7200, "<1m"}, {7171, "<1m"}, {7170, "1m"},   {7111, "1m"},
                {7110, "2m"},  {3631, "59m"}, {3630, "1h"},  {-100000, "1d"}};
    for (size_t i = 0; i < sizeof agos / sizeof *agos; i++) {
        char out[TEXT_SHORT];
        for (int64_t second = 7200; second < 7260; second++) // nothing changes before the minute is over
            assert_string_equal(text_ago(agos[i].at * US_PER_SECOND, second * US_PER_SECOND, out),
                                agos[i].text);
    }
}

static void
durations_and_numbers_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    int64_t n;
    assert_true(text_parse_duration(BYTES("500ms"), &n, NULL));
    assert_int_equal(n, 500000);
    assert_true(text_parse_duration(BYTES("2h"), &n, NULL));
    assert_int_equal(n, 7200 * US_PER_SECOND);
    static const char *const bad[] = {"", "h", "2x", "2h3", "99999999999999999999d", "-1s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_parse_duration(bytes_of(bad[i]), &n, NULL));

    assert_true(text_parse_int(BYTES("-9223372036854775808"), &n, NULL));
    assert_true(n == INT64_MIN);
    assert_true(text_parse_int(BYTES("9223372036854775807"), &n, NULL));
    assert_false(text_parse_int(BYTES("9223372036854775808"), &n, NULL));
    assert_false(text_parse_int(BYTES("12a"), &n, NULL));
    assert_false(text_parse_int(BYTES("-"), &n, NULL));
}

static void
times_keep_their_offset(void **state)
{
    (void)state;
    char out[TIME_TEXT];
    int64_t wall;
    bool is_date;
    assert_true(time_parse_wall(BYTES("2026-11-21T14:02:11.5"), &wall, &is_date, NULL));
    assert_false(is_date);
    assert_string_equal(time_rfc3339(wall, 0, out), "2026-11-21T14:02:11.500000Z");
    assert_string_equal(time_rfc3339(wall, -3 * 3600 * US_PER_SECOND, out),
                        "2026-11-21T11:02:11.500000-03:00");
    assert_true(time_parse_wall(BYTES("1969-12-31"), &wall, &is_date, NULL));
    assert_true(is_date);
    assert_string_equal(time_rfc3339(wall, 0, out), "1969-12-31T00:00:00Z");
    assert_false(time_parse_wall(BYTES("2026-13-01"), &wall, &is_date, NULL));
    assert_false(time_parse_wall(BYTES("2026-11-21T25:00"), &wall, &is_date, NULL));
    assert_false(time_parse_wall(BYTES("yesterday"), &wall, &is_date, NULL));
}

static void
yesterday_has_its_date(void **state)
{
    (void)state;
    char text[TIME_TEXT];
    const int64_t morning = (int64_t)1795255200 * US_PER_SECOND; // 2026-11-21 10:00:00 UTC
    const int64_t hour = 3600 * US_PER_SECOND;
    assert_string_equal(time_brief(morning - 9 * hour, morning, text), "01:00:00");
    assert_string_equal(time_brief(morning - 11 * hour, morning, text), "2026-11-20 23:00:00");
    assert_string_equal(time_brief(morning + 15 * hour, morning, text), "2026-11-22 01:00:00");
}

static void
hostile_text_becomes_visible(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *visible;
    } rows[] = {
        {"plain", 5, "plain"},
        {"\x1b]0;x\x07", 6, "\\e]0;x\\x07"},
        {"a\nb\tc\r", 6, "a\\nb\\tc\\r"},
        {"\x9b"
         "31m",
         4, "\\x9b31m"},                 // a C1 byte alone is no UTF-8
        {"\xc2\x9b", 2, "<U+009B>"},     // the same as a character
        {"\xe2\x80\xae", 3, "<U+202E>"}, // right-to-left override // NOLINT(misc-misleading-bidirectional)
        {"\xe2\x80\x8b", 3, "<U+200B>"}, // zero width
        // A fifth mark on one base, and none on the next.
        {"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81x\xcc\x81", 14,
         "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81<U+0301>x\xcc\x81"},
        {"\xee\x80\x80", 3, "<U+E000>"},        // private use
        {"\xc0\xaf", 2, "\\xc0\\xaf"},          // overlong
        {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"}, // surrogate
        {"\x00", 1, "\\0"},
        {"\x7f", 1, "\\x7f"},
        {"\xeb\xac\xb8\xec\x9e\x90", 6, "\xeb\xac\xb8\xec\x9e\x90"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf out = {0};
        text_visible(&out, (struct bytes){rows[i].bytes, rows[i].len}, false);
        assert_string_equal(strbuf_text(&out), rows[i].visible);
        strbuf_release(&out);
    }
}

static void
cutting_never_splits_a_character(void **state)
{
    (void)state;
    struct bytes text = BYTES("a\xe2\x82\xac\xf0\x9f\x98\x80z"); // a, euro, an emoji, z
    assert_int_equal(utf8_cut(text, 2), 1);
    assert_int_equal(utf8_cut(text, 4), 4);
    assert_int_equal(utf8_cut(text, 7), 4);
    assert_int_equal(utf8_cut(text, 8), 8);
    assert_int_equal(utf8_cut(text, 99), 9);
    assert_int_equal(utf8_width(0x20AC), 1);
    assert_int_equal(utf8_width(0x1F600), 2);
    assert_int_equal(utf8_width(0x0301), 0);
    assert_int_equal(utf8_width(0xD55C), 2);
}

static void
every_character_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        if (point >= 0xD800 && point <= 0xDFFF)
            continue;
        char out[4];
        uint32_t back;
        struct bytes b = {out, utf8_encode(point, out)};
        assert_int_equal(utf8_decode(b, 0, &back), b.len);
        assert_int_equal(back, point);
    }
}

static void
suggestions_are_near(void **state)
{
    (void)state;
    static const char *const words[] = {"reprocess", "discard", "restore", "resolve"};
    assert_string_equal(text_suggest("reproces", words, 4), "reprocess");
    assert_string_equal(text_suggest("dicsard", words, 4), "discard");
    assert_string_equal(text_suggest("disc", words, 4), "discard");
    assert_null(text_suggest("banana", words, 4));
}

static void
a_splice_changes_only_its_range(void **state)
{
    (void)state;
    struct strbuf buf = {0};
    strbuf_add_text(&buf, "hello world");
    strbuf_splice(&buf, 0, 5, BYTES("bye"));
    assert_string_equal(strbuf_text(&buf), "bye world");
    strbuf_splice(&buf, 3, 0, BYTES(", cruel"));
    assert_string_equal(strbuf_text(&buf), "bye, cruel world");
    strbuf_splice(&buf, 99, 5, BYTES("!"));
    assert_string_equal(strbuf_text(&buf), "bye, cruel world!");
    strbuf_release(&buf);
    assert_string_equal(strbuf_text(&buf), "");
}

static void
whole_numbers_are_printed(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(arena_int(&arena, 0), "0");
    assert_string_equal(arena_int(&arena, -7), "-7");
    assert_string_equal(arena_int(&arena, 1204000), "1204000");
    assert_string_equal(arena_int(&arena, INT64_MAX), "9223372036854775807");
    assert_string_equal(arena_int(&arena, INT64_MIN), "-9223372036854775808");
    const struct bytes parts[] = {BYTES("a"), BYTES_ABSENT, BYTES(""), BYTES("bc")};
    assert_string_equal(arena_join(&arena, parts, 4), "abc");
    assert_string_equal(arena_join(&arena, parts, 0), "");
    arena_release(&arena);
}

// What was taken before a mark stays, whether the arena took further blocks since then or not.
static void
an_arena_is_rewound_to_a_mark(void **state)
{
    (void)state;
    for (int size = 10; size <= 1000000; size *= 10) {
        struct arena arena = {0};
        struct arena_mark empty = arena_mark(&arena);
        const char *kept = arena_printf(&arena, "kept %d", size);
        struct arena_mark mark = arena_mark(&arena);
        size_t used = arena.used;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < 3; i++)
                memset(arena_alloc(&arena, (size_t)size), 'x', (size_t)size);
            arena_rewind(&arena, mark);
            assert_int_equal(arena.used, used);
        }
        const char *zeroed = arena_alloc(&arena, (size_t)size);
        assert_int_equal(zeroed[0] | zeroed[size - 1], 0);
        assert_int_equal(strtol(kept + 5, NULL, 10), size);
        arena_rewind(&arena, empty);
        assert_int_equal(arena.used, 0);
        arena_release(&arena);
    }
}

static void
an_arena_prints_texts_of_any_length(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(arena_printf(&arena, "%s", ""), "");
    for (int len = 395; len < 405; len++) { // around what is formatted once
        const char *text = arena_printf(&arena, "%0*d", len, 7);
        assert_int_equal(strlen(text), len);
        assert_int_equal(text[0], '0');
        assert_int_equal(text[len - 1], '7');
    }
    arena_release(&arena);
}

static void
an_adopted_arena_keeps_its_bytes(void **state)
{
    (void)state;
    struct arena page = {0};
    struct arena reply = {0};
    const char *first = arena_printf(&page, "%s", "kept");
    char *large = arena_alloc(&page, 100000);
    memset(large, 'x', 100000);
    const char *own = arena_printf(&reply, "%d", 42);
    arena_adopt(&reply, &page);
    arena_release(&page);
    assert_string_equal(first, "kept");
    assert_string_equal(own, "42");
    assert_int_equal(large[99999], 'x');
    struct bytes absent = arena_copy(&reply, BYTES_ABSENT);
    assert_false(bytes_present(absent));
    arena_release(&reply);
}

static void
bytes_are_found_from_both_ends(void **state)
{
    (void)state;
    struct bytes text = BYTES("one two one");
    assert_int_equal(bytes_find(text, BYTES("one"), 1), 8);
    assert_int_equal(bytes_find_last(text, BYTES("one")), 8);
    assert_int_equal(bytes_find_last(text, BYTES("two")), 4);
    assert_true(bytes_find(text, BYTES("three"), 0) == SIZE_MAX);
    assert_true(bytes_compare(BYTES_ABSENT, BYTES("")) < 0);
    assert_true(bytes_compare(BYTES("a"), BYTES("ab")) < 0);
    assert_false(bytes_equal(BYTES_ABSENT, BYTES("")));
}

static void
uuids_differ_and_are_well_formed(void **state)
{
    (void)state;
    char a[UUID_SIZE];
    char b[UUID_SIZE];
    uuid_make(a);
    uuid_make(b);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
}

static void
test_words_of_a_shell(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"10,100,rest", "10,100,rest"},
        {"", "''"},
        {"gateway fixed", "'gateway fixed'"},
        {"it's", "'it'\\''s'"},
        {"$(id)", "'$(id)'"},
        {"a;b", "'a;b'"},
        {"~", "'~'"},
        {"#1", "'#1'"},
        {"zu sp\xc3\xa4t", "'zu sp\xc3\xa4t'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf out = {0};
        text_shell(&out, bytes_of(rows[i][0]));
        assert_string_equal(strbuf_text(&out), rows[i][1]);
        strbuf_release(&out);
    }
}

// Examples of RFC 4648, "Test Vectors".
static void
base64_goes_both_ways(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"},
                                          {"\xfb\xff\xfe", "+//+"}};
    struct strbuf out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        strbuf_reset(&out);
        base64_add(&out, bytes_of(rows[i][0]));
        assert_string_equal(strbuf_text(&out), rows[i][1]);
        strbuf_reset(&out);
        assert_true(base64_decode(&out, bytes_of(rows[i][1])));
        assert_string_equal(strbuf_text(&out), rows[i][0]);
        // The padding may be missing.
        strbuf_reset(&out);
        struct bytes bare = bytes_of(rows[i][1]);
        while (bare.len && bare.data[bare.len - 1] == '=')
            bare.len--;
        assert_true(base64_decode(&out, bare));
        assert_string_equal(strbuf_text(&out), rows[i][0]);
    }
    strbuf_reset(&out);
    static const char *const wrong[] = {"Z", "Zg=", "Z===", "Zg== ", "Zm9v!", "=", "Zg==Zg==", "Zm9-"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(base64_decode(&out, bytes_of(wrong[i])));
    assert_int_equal(out.len, 0);
    strbuf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_a_shell),
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(ages_are_short),
        cmocka_unit_test(durations_and_numbers_are_read_whole_or_not_at_all),
        cmocka_unit_test(times_keep_their_offset),
        cmocka_unit_test(yesterday_has_its_date),
        cmocka_unit_test(hostile_text_becomes_visible),
        cmocka_unit_test(cutting_never_splits_a_character),
        cmocka_unit_test(every_character_survives_encoding),
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(a_splice_changes_only_its_range),
        cmocka_unit_test(whole_numbers_are_printed),
        cmocka_unit_test(an_arena_is_rewound_to_a_mark),
        cmocka_unit_test(an_arena_prints_texts_of_any_length),
        cmocka_unit_test(an_adopted_arena_keeps_its_bytes),
        cmocka_unit_test(bytes_are_found_from_both_ends),
        cmocka_unit_test(uuids_differ_and_are_well_formed),
        cmocka_unit_test(base64_goes_both_ways),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
