// What differs between two texts, as a list and as a sentence.
#include "core/json/changes.h"

#include <stdlib.h>
#include "base/clock.h"
#include "tests/unit/cases.h"

static void
print_change(const struct json_change *change, struct bytes before, struct bytes after, struct strbuf *out)
{
    static const char *const words[JSON_CHANGE_KINDS] = {"=", "+", "-", ">", "+", "-", "order"};
    struct bytes old = bytes_slice(before, change->before.from, change->before.len);
    struct bytes new = bytes_slice(after, change->after.from, change->after.len);
    strbuf_printf(out, "%s%s %.*s", out->len ? "; " : "", words[change->kind], BYTES_ARGS(change->path));
    if (change->kind == JSON_KEY_RENAMED)
        strbuf_printf(out, " %.*s", BYTES_ARGS(change->name));
    else if (change->kind != JSON_ORDER_CHANGED)
        strbuf_printf(out, " %.*s%s%.*s", BYTES_ARGS(old), old.len && new.len ? " " : "", BYTES_ARGS(new));
}

static bool
check_changes(char *text, const char *expected)
{
    char *bar = strstr(text, " | ");
    assert_non_null(bar);
    struct bytes before = {text, (size_t)(bar - text)};
    struct bytes after = bytes_of(bar + 3);
    struct arena arena = {0};
    struct json_changes changes;
    struct err err = {0};
    struct strbuf out = {0};
    if (!json_compare(before, after, &arena, &changes, &err))
        strbuf_add_text(&out, err.text);
    else
        for (size_t i = 0; i < changes.count; i++)
            print_change(&changes.items[i], before, after, &out);
    if (out.len == 0)
        json_changes_sentence(&changes, &out);
    bool ok = strcmp(strbuf_text(&out), expected) == 0;
    if (!ok)
        print_error("%s: %s\n  not %s\n", text, strbuf_text(&out), expected);
    strbuf_release(&out);
    arena_release(&arena);
    return ok;
}

static void
changes_are_those_of_the_cases(void **state)
{
    (void)state;
    each_case("tests/cases/json/changes.txt", check_changes);
}

static const char *
sentence_of(const char *before, const char *after, struct strbuf *out)
{
    struct arena arena = {0};
    struct json_changes changes;
    strbuf_reset(out);
    assert_true(json_compare(bytes_of(before), bytes_of(after), &arena, &changes, NULL));
    json_changes_sentence(&changes, out);
    arena_release(&arena);
    return strbuf_text(out);
}

static void
changes_are_counted_in_a_sentence(void **state)
{
    (void)state;
    struct strbuf out = {0};
    assert_string_equal(sentence_of("{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":2,\"b\":3}", &out),
                        "2 values changed, 1 key removed");
    assert_string_equal(sentence_of("{\"a\":1,\"b\":[1]}", "{\"b\":[1,2,3],\"c\":1,\"d\":0}", &out),
                        "2 keys added, 1 key removed, 2 elements added");
    assert_string_equal(sentence_of("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", &out),
                        "1 object with its keys in another order");
    assert_string_equal(sentence_of("[1,2]", "[1, 2]", &out), "only white space differs");
    assert_string_equal(sentence_of("[1,2]", "[1,2]", &out), "no difference");
    strbuf_release(&out);
}

// Everything differs, in one array and in one object: counted to the end, listed to the limit, in little
// time.
static void
many_changes_are_counted_and_cut(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    struct strbuf texts[4] = {0};
    for (int i = 0; i < MANY; i++) {
        strbuf_printf(&texts[0], "%c%d", i ? ',' : '[', i);
        strbuf_printf(&texts[1], "%c%d", i ? ',' : '[', MANY - i);
        strbuf_printf(&texts[2], "%c\"a%d\":1", i ? ',' : '{', i);
        strbuf_printf(&texts[3], "%c\"b%d\":2", i ? ',' : '{', i);
    }
    strbuf_add_text(&texts[0], "]");
    strbuf_add_text(&texts[1], ",0]");
    strbuf_add_text(&texts[2], "}");
    strbuf_add_text(&texts[3], "}");
    int64_t began = clock_mono();
    for (int i = 0; i < 4; i += 2) {
        struct arena arena = {0};
        struct json_changes changes;
        assert_true(
            json_compare(strbuf_bytes(&texts[i]), strbuf_bytes(&texts[i + 1]), &arena, &changes, NULL));
        assert_true(changes.is_cut);
        assert_int_equal(changes.count, JSON_CHANGES);
        if (i == 2) {
            assert_int_equal(changes.counts[JSON_KEY_ADDED], MANY);
            assert_int_equal(changes.counts[JSON_KEY_REMOVED], MANY);
        }
        arena_release(&arena);
    }
    assert_true(clock_mono() - began < 20 * US_PER_SECOND);
    for (int i = 0; i < 4; i++)
        strbuf_release(&texts[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_those_of_the_cases),
        cmocka_unit_test(changes_are_counted_in_a_sentence),
        cmocka_unit_test(many_changes_are_counted_and_cut),
    };
    return cmocka_run_group_tests_name("json changes", tests, NULL, NULL);
}
