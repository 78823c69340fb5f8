#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "core/diff/diff.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

static uint64_t seed;

static unsigned
random_below(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

// Lines of a small alphabet, some indented; the last may have no line end.
static void
random_text(struct strbuf *out, unsigned lines, unsigned letters)
{
    strbuf_reset(out);
    for (unsigned i = 0; i < lines; i++)
        strbuf_printf(out, "%*s%c\n", (int)random_below(3), "", 'a' + (int)random_below(letters));
    if (out->len && random_below(3) == 0)
        strbuf_splice(out, out->len - 1, 1, BYTES(""));
}

// The same text with some lines taken out, put in or repeated.
static void
random_edit(const struct strbuf *text, struct strbuf *out)
{
    strbuf_reset(out);
    for (size_t at = 0; at < text->len;) {
        const char *end = memchr(text->data + at, '\n', text->len - at);
        size_t len = end ? (size_t)(end - text->data) + 1 - at : text->len - at;
        unsigned what = random_below(8);
        if (what != 0)
            strbuf_add(out, (struct bytes){text->data + at, len});
        if (what == 1)
            strbuf_printf(out, "%*sn%u\n", (int)random_below(3), "", random_below(4));
        if (what == 2)
            strbuf_add(out, (struct bytes){text->data + at, len});
        at += len;
    }
}

static void
add_line(struct strbuf *out, const struct diff_text *text, size_t line)
{
    strbuf_add(out, diff_line(text, line));
}

// The first text with the changes applied is the second; equal lines are equal; changes do not touch.
static void
check_changes(const struct diff *diff)
{
    struct strbuf built = {0};
    size_t a = 0;
    size_t b = 0;
    for (size_t i = 0; i <= diff->change_count; i++) {
        const struct diff_change *change = i < diff->change_count ? &diff->changes[i] : NULL;
        size_t end = change ? change->a : diff->a.line_count;
        assert_true(i == 0 || !change || change->a > a);
        for (; a < end; a++, b++) {
            assert_true(bytes_equal(diff_line(&diff->a, a), diff_line(&diff->b, b)));
            add_line(&built, &diff->a, a);
        }
        if (!change)
            break;
        assert_int_equal(b, change->b);
        assert_true(change->a_count || change->b_count);
        for (size_t k = 0; k < change->b_count; k++)
            add_line(&built, &diff->b, b + k);
        a += change->a_count;
        b += change->b_count;
    }
    assert_int_equal(b, diff->b.line_count);
    assert_true(bytes_equal(strbuf_bytes(&built), diff->b.text));
    strbuf_release(&built);
}

// `,COUNT` of a range, 1 if it is left out.
static size_t
range_count(char **at)
{
    return **at == ',' ? strtoul(*at + 1, at, 10) : 1;
}

// A hunk of the unified form, behind its first line: as many lines of each side as that line says.
static void
apply_hunk(const struct diff *diff, struct bytes text, size_t *at, size_t a_left, size_t b_left, size_t *a,
           struct strbuf *built)
{
    while (a_left || b_left) {
        size_t end = bytes_find(text, BYTES("\n"), *at) + 1;
        bool is_last = bytes_starts(bytes_slice(text, end, SIZE_MAX), "\\ No newline");
        char mark = text.data[*at];
        struct bytes line = bytes_slice(text, *at + 1, end - *at - 1 - is_last);
        *at = is_last ? bytes_find(text, BYTES("\n"), end) + 1 : end;
        assert_true(mark == ' ' || mark == '-' || mark == '+');
        if (mark != '+') {
            assert_true(a_left-- > 0 && bytes_equal(line, diff_line(&diff->a, (*a)++)));
        }
        if (mark != '-') {
            assert_true(b_left-- > 0);
            strbuf_add(built, line);
        }
    }
}

// What patch(1) would make of the unified form.
static void
check_patch(const struct diff *diff, size_t context)
{
    struct strbuf unified = {0}, built = {0};
    diff_unified(diff, context, "a", "b", &unified);
    struct bytes text = strbuf_bytes(&unified);
    assert_int_equal(unified.len == 0, diff->change_count == 0);
    size_t a = 0;
    size_t b = 0;
    for (size_t at = text.len ? strlen("--- a\n+++ b\n") : 0; at < text.len;) {
        char *number = unified.data + at + strlen("@@ -");
        size_t a_from = strtoul(number, &number, 10);
        size_t a_count = range_count(&number);
        size_t b_from = strtoul(number + 2, &number, 10);
        size_t b_count = range_count(&number);
        assert_memory_equal(number, " @@\n", 4);
        a_from -= a_count > 0;
        for (b += a_from - a; a < a_from; a++)
            add_line(&built, &diff->a, a);
        assert_int_equal(b, b_from - (b_count > 0));
        b += b_count;
        at = (size_t)(number + 4 - unified.data);
        apply_hunk(diff, text, &at, a_count, b_count, &a, &built);
    }
    for (; a < diff->a.line_count; a++)
        add_line(&built, &diff->a, a);
    assert_true(bytes_equal(strbuf_bytes(&built), diff->b.text));
    strbuf_release(&unified);
    strbuf_release(&built);
}

// Every line of a hunk is in one row, in order.
static void
check_rows(const struct diff *diff, size_t context)
{
    struct diff_hunk hunk = {0};
    size_t last_a = 0;
    while (diff_next_hunk(diff, context, &hunk)) {
        size_t count;
        struct diff_row *rows = diff_rows(diff, &hunk, &count);
        size_t a = hunk.a;
        size_t b = hunk.b;
        assert_true(hunk.a >= last_a);
        for (size_t i = 0; i < count; i++) {
            assert_true(rows[i].a == DIFF_NO_LINE || rows[i].a == a++);
            assert_true(rows[i].b == DIFF_NO_LINE || rows[i].b == b++);
            assert_true(rows[i].a != DIFF_NO_LINE || rows[i].b != DIFF_NO_LINE);
            if (!rows[i].is_changed)
                assert_true(bytes_equal(diff_line(&diff->a, rows[i].a), diff_line(&diff->b, rows[i].b)));
        }
        assert_int_equal(a, hunk.a + hunk.a_count);
        assert_int_equal(b, hunk.b + hunk.b_count);
        last_a = a;
        free(rows);
    }
}

static size_t
changed_lines(const struct diff *diff)
{
    size_t sum = 0;
    for (size_t i = 0; i < diff->change_count; i++)
        sum += diff->changes[i].a_count + diff->changes[i].b_count;
    return sum;
}

// The fewest lines that must change, by the longest common subsequence.
static size_t
fewest_changes(const struct diff *diff)
{
    size_t n = diff->a.line_count;
    size_t m = diff->b.line_count;
    size_t *common = alloc_array((n + 1) * (m + 1), sizeof *common);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = m; k-- > 0;) {
            size_t down = common[(i + 1) * (m + 1) + k];
            size_t right = common[i * (m + 1) + k + 1];
            bool is_equal = bytes_equal(diff_line(&diff->a, i), diff_line(&diff->b, k));
            size_t best = down > right ? down : right;
            common[i * (m + 1) + k] = is_equal ? common[(i + 1) * (m + 1) + k + 1] + 1 : best;
        }
    }
    size_t longest = common[0];
    free(common);
    return n + m - 2 * longest;
}

static void
changes_lead_from_one_text_to_the_other(void **state)
{
    (void)state;
    struct strbuf a = {0}, b = {0};
    for (uint64_t run = 0; run < 4000; run++) {
        seed = run;
        random_text(&a, random_below(40), 1 + random_below(6));
        if (run % 2)
            random_edit(&a, &b);
        else
            random_text(&b, random_below(40), 1 + random_below(6));
        struct diff *diff = diff_create(strbuf_bytes(&a), strbuf_bytes(&b), DIFF_WORK);
        check_changes(diff);
        check_patch(diff, run % 4);
        check_rows(diff, run % 4);
        assert_false(diff->is_rough);
        assert_int_equal(changed_lines(diff), fewest_changes(diff));
        diff_destroy(diff);
        // With nearly no work the changes are more, and right.
        diff = diff_create(strbuf_bytes(&a), strbuf_bytes(&b), run % 50);
        check_changes(diff);
        check_patch(diff, 3);
        diff_destroy(diff);
    }
    strbuf_release(&a);
    strbuf_release(&b);
}

// Long enough that a search is cut short.
static void
long_texts_are_compared_in_bounded_time(void **state)
{
    (void)state;
    struct strbuf a = {0}, b = {0};
    seed = 7;
    for (int i = 0; i < 200000; i++) {
        strbuf_printf(&a, "line %u\n", random_below(1000));
        strbuf_printf(&b, "line %u\n", random_below(1000));
    }
    int64_t began = cpu_time();
    struct diff *diff = diff_create(strbuf_bytes(&a), strbuf_bytes(&b), DIFF_WORK);
    assert_true(cpu_time() - began < 5 * SECOND_SPENT);
    check_changes(diff);
    check_patch(diff, 3);
    diff_destroy(diff);

    // Edits here and there are all found.
    random_edit(&a, &b);
    began = cpu_time();
    diff = diff_create(strbuf_bytes(&a), strbuf_bytes(&b), DIFF_WORK);
    assert_true(cpu_time() - began < 5 * SECOND_SPENT);
    check_changes(diff);
    assert_true(changed_lines(diff) < 120000);
    diff_destroy(diff);

    // One line against very many of the same.
    strbuf_reset(&b);
    strbuf_reset(&a);
    for (int i = 0; i < 300000; i++)
        strbuf_add_text(&a, "  },\n");
    strbuf_add_text(&b, "  },\n");
    diff = diff_create(strbuf_bytes(&a), strbuf_bytes(&b), DIFF_WORK);
    check_changes(diff);
    diff_destroy(diff);
    strbuf_release(&a);
    strbuf_release(&b);
}

static void
the_unified_form_is_that_of_diff(void **state)
{
    (void)state;
    static const char a[] = "{\n  \"id\": 1,\n  \"lines\": [\n    {\n      \"sku\": \"a\"\n    },\n    {\n"
                            "      \"sku\": \"c\"\n    }\n  ],\n  \"amount\": \"10,00\",\n  \"x\": 1\n}";
    static const char b[] = "{\n  \"id\": 1,\n  \"lines\": [\n    {\n      \"sku\": \"a\"\n    },\n    {\n"
                            "      \"sku\": \"b\"\n    },\n    {\n      \"sku\": \"c\"\n    }\n  ],\n"
                            "  \"amount\": 10.00,\n  \"x\": 1\n}\n";
    struct diff *diff = diff_create(bytes_of(a), bytes_of(b), DIFF_WORK);
    struct strbuf out = {0};
    diff_unified(diff, 1, "revision 1", "revision 2", &out);
    assert_string_equal(strbuf_text(&out), "--- revision 1\n+++ revision 2\n"
                                           "@@ -6,2 +6,5 @@\n"
                                           "     },\n"
                                           "+    {\n"
                                           "+      \"sku\": \"b\"\n"
                                           "+    },\n"
                                           "     {\n"
                                           "@@ -10,4 +13,4 @@\n"
                                           "   ],\n"
                                           "-  \"amount\": \"10,00\",\n"
                                           "+  \"amount\": 10.00,\n"
                                           "   \"x\": 1\n"
                                           "-}\n\\ No newline at end of file\n"
                                           "+}\n");
    diff_destroy(diff);
    strbuf_reset(&out);
    diff = diff_create(BYTES(""), BYTES("x"), DIFF_WORK);
    diff_unified(diff, 3, "a", "b", &out);
    assert_string_equal(strbuf_text(&out), "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
    diff_destroy(diff);
    strbuf_reset(&out);
    diff = diff_create(BYTES_ABSENT, BYTES(""), DIFF_WORK);
    diff_unified(diff, SIZE_MAX, "a", "b", &out);
    assert_string_equal(strbuf_text(&out), "");
    diff_destroy(diff);
    strbuf_release(&out);
}

// What is left when the work is used up counts as replaced, and that is said.
static void
a_diff_out_of_work_says_so(void **state)
{
    (void)state;
    struct bytes a = BYTES("a\nb\nc\nd\n");
    struct bytes b = BYTES("b\na\nd\nc\n");
    struct diff *diff = diff_create(a, b, 0);
    assert_true(diff->is_rough);
    assert_int_equal(diff->change_count, 1);
    assert_int_equal(diff->changes[0].a_count, 4);
    diff_destroy(diff);
    // Lines that only one of them has need no work.
    diff = diff_create(BYTES("a\nb\n"), BYTES("a\nx\nb\n"), 1);
    assert_false(diff->is_rough);
    assert_int_equal(changed_lines(diff), 1);
    diff_destroy(diff);
}

static void
lines_like_one_another_stand_in_one_row(void **state)
{
    (void)state;
    struct diff *diff = diff_create(BYTES("\"id\": 1\n\"amount\": \"10,00\"\n\"gone\": true\n"),
                                    BYTES("\"new\": {}\n\"amount\": 10.00\n"), DIFF_WORK);
    struct diff_hunk hunk = {0};
    assert_true(diff_next_hunk(diff, 3, &hunk));
    size_t count;
    struct diff_row *rows = diff_rows(diff, &hunk, &count);
    bool is_beside = false;
    for (size_t i = 0; i < count; i++)
        is_beside = is_beside || (rows[i].a == 1 && rows[i].b == 1);
    assert_true(is_beside);
    free(rows);
    diff_destroy(diff);
}

static void
add_marked(struct strbuf *out, struct bytes line, const struct diff_range *ranges, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        strbuf_add(out, bytes_slice(line, at, ranges[i].from - at));
        strbuf_add_char(out, '[');
        strbuf_add(out, bytes_slice(line, ranges[i].from, ranges[i].len));
        strbuf_add_char(out, ']');
        at = ranges[i].from + ranges[i].len;
    }
    strbuf_add(out, bytes_slice(line, at, SIZE_MAX));
}

static bool
check_words(char *text, const char *expected)
{
    char *bar = strstr(text, "| ");
    if (!bar)
        return false;
    struct bytes a = {text, bar > text ? (size_t)(bar - text) - 1 : 0};
    struct bytes b = bytes_of(bar + 2);
    struct diff_words words;
    diff_words(a, b, &words);
    struct strbuf is = {0};
    add_marked(&is, a, words.a, words.a_count);
    strbuf_add_text(&is, " | ");
    add_marked(&is, b, words.b, words.b_count);
    bool ok = strcmp(strbuf_text(&is), expected) == 0;
    if (!ok)
        print_error("%s | %s\n  is  %s\n  not %s\n", text, b.data, strbuf_text(&is), expected);
    strbuf_release(&is);
    return ok;
}

static void
words_that_differ_are_marked(void **state)
{
    (void)state;
    each_case("tests/cases/diff/words.txt", check_words);
}

// What is not marked is the same in both lines.
static void
marks_leave_equal_texts(void **state)
{
    (void)state;
    for (uint64_t run = 0; run < 5000; run++) {
        seed = run;
        char text[2][400];
        size_t len[2];
        for (int side = 0; side < 2; side++) {
            len[side] = random_below(run % 10 ? 30 : 400);
            for (size_t i = 0; i < len[side]; i++)
                text[side][i] = "ab ,"[random_below(4)];
        }
        struct bytes a = {text[0], len[0]};
        struct bytes b = {text[1], len[1]};
        struct diff_words words;
        diff_words(a, b, &words);
        struct strbuf left = {0}, right = {0};
        for (size_t i = 0, at = 0; i <= words.a_count; i++) {
            size_t end = i < words.a_count ? words.a[i].from : a.len;
            assert_true(end >= at && end <= a.len);
            strbuf_add(&left, bytes_slice(a, at, end - at));
            at = i < words.a_count ? end + words.a[i].len : at;
        }
        for (size_t i = 0, at = 0; i <= words.b_count; i++) {
            size_t end = i < words.b_count ? words.b[i].from : b.len;
            assert_true(end >= at && end <= b.len);
            strbuf_add(&right, bytes_slice(b, at, end - at));
            at = i < words.b_count ? end + words.b[i].len : at;
        }
        // Joined marks may swallow a blank or, past the 32nd, equal words.
        bool is_joined = words.a_count == DIFF_RANGES || words.b_count == DIFF_RANGES;
        for (int side = 0; side < 2; side++) {
            struct strbuf *text_left = side ? &right : &left;
            size_t kept = 0;
            for (size_t i = 0; i < text_left->len; i++)
                if (text_left->data[i] != ' ')
                    text_left->data[kept++] = text_left->data[i];
            text_left->len = kept;
        }
        assert_true(is_joined || bytes_equal(strbuf_bytes(&left), strbuf_bytes(&right)));
        strbuf_release(&left);
        strbuf_release(&right);
    }
}

static void
long_lines_are_marked_in_bounded_time(void **state)
{
    (void)state;
    struct strbuf a = {0}, b = {0};
    seed = 3;
    for (int i = 0; i < 1000000; i++) {
        strbuf_add_char(&a, "ab ,"[random_below(4)]);
        strbuf_add_char(&b, "ab ,"[random_below(4)]);
    }
    struct diff_words words;
    int64_t began = cpu_time();
    diff_words(strbuf_bytes(&a), strbuf_bytes(&b), &words);
    assert_true(cpu_time() - began < SECOND_SPENT);
    assert_int_equal(words.a_count, 1);
    strbuf_release(&a);
    strbuf_release(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_lead_from_one_text_to_the_other),
        cmocka_unit_test(long_texts_are_compared_in_bounded_time),
        cmocka_unit_test(the_unified_form_is_that_of_diff),
        cmocka_unit_test(a_diff_out_of_work_says_so),
        cmocka_unit_test(lines_like_one_another_stand_in_one_row),
        cmocka_unit_test(words_that_differ_are_marked),
        cmocka_unit_test(marks_leave_equal_texts),
        cmocka_unit_test(long_lines_are_marked_in_bounded_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
