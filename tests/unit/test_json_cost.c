// What shapes of text cost: eight times the text takes about eight times as long, whatever is done with it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/content.h"
#include "core/json/match.h"
#include "tests/unit/cpu_time.h"

enum { SMALL = 128 << 10, LARGE = 1 << 20, WARNINGS = 100000 };

// Texts of one line.
struct shape {
    const char *name, *begin, *piece, *end;
    const char *path, *new_name;
};
static const struct shape shapes[] = {
    {"a string", "\"", "text, ", "\"", "$", NULL},
    {"a string of escapes", "\"", "\\u00e9\\n\\\"\\ud83d\\ude00", "\"", "$", NULL},
    {"a string of JSON", "\"[0", ",{\\\"a\\\":1}", "]\"", "$", NULL},
    {"a string of characters beyond ASCII", "\"", "\xe6\x97\xa5\xc3\xa9", "\"", "$", NULL},
    {"a number", "1", "7", "", "$", NULL},
    {"a number behind zeros", "0.", "0", "1", "$", NULL},
    {"white space", "[", " \t", "]", "$", NULL},
    {"numbers", "[0", ",1.50", "]", "$[*]", NULL},
    {"arrays", "[[]", ",[]", "]", "$[*]", NULL},
    {"arrays in arrays", "[[]", ",[0,[1]]", "]", "$[*][*]", NULL},
    {"objects", "[0", ",{\"a\":1,\"b\":2}", "]", "$[*].a", "c"},
    {"one name again and again", "{\"a\":0", ",\"a\":1", "}", "$.a", "b"},
    {"one name with escapes again and again", "{\"a\":0", ",\"\\u0061\":1", "}", "$.a", "b"},
    {"a long name", "{\"", "n", "\":1}", "$.n", "m"},
    {"members without the one that is asked for", "{\"a\":0", ",\"b\":{}", "}", "$.c", "d"},
    {"deep again and again", "[0", ",[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]", "]", "$[*][0][0]", NULL},
    {"too deep", "[", "[", "", "$[*]", NULL},
    {"a fault at the end", "[0", ",{\"a\":[]}", "}", "$[*].a", "b"},
    {"not UTF-8 at the end", "\"", "text, ", "\xff\"", "$", NULL},
};

static struct strbuf
make_shape(const struct shape *shape, size_t len)
{
    struct strbuf text = {0};
    strbuf_add_text(&text, shape->begin);
    while (text.len < len)
        strbuf_add_text(&text, shape->piece);
    strbuf_add_text(&text, shape->end);
    return text;
}

static void
look(struct bytes text, struct strbuf *out)
{
    struct content content;
    static struct json_warning warnings[WARNINGS];
    content_of(text, &content);
    if (!json_fits(text, NULL))
        strbuf_add_char(out, '!');
    (void)json_warnings(text, warnings, WARNINGS);
    (void)json_path_at(text, text.len, out);
    int line;
    int column;
    json_position(text, text.len, &line, &column);
    (void)json_offset(text, line, column);
}

static void
rewrite(struct bytes text, struct strbuf *out)
{
    (void)json_format(text, out);
    (void)json_minify(text, out);
}

static void
edit(const struct shape *shape, struct bytes text, struct strbuf *out)
{
    struct json_path *path;
    assert_true(json_pattern_parse(&path, bytes_of(shape->path), NULL));
    (void)json_set(path, text, BYTES("null"), out);
    (void)json_remove(path, text, out);
    if (shape->new_name)
        (void)json_rename(path, text, bytes_of(shape->new_name), out);
    json_path_destroy(path);
    assert_true(json_path_parse(&path, BYTES("$"), NULL));
    (void)json_insert(path, text, 0, BYTES("1"), out);
    (void)json_insert(path, text, JSON_LAST, BYTES("1"), out);
    json_path_destroy(path);
}

static void
edit_within(struct bytes text, struct strbuf *out)
{
    struct strbuf content = {0};
    (void)json_embedded(text, out);
    if (json_decode(text, &content)) {
        strbuf_splice(&content, content.len / 2, 0, BYTES("/"));
        (void)json_requote(text, strbuf_bytes(&content), out);
        (void)json_lone_surrogates(text);
    }
    strbuf_release(&content);
}

static double
spend(const struct shape *shape, size_t len, int what)
{
    struct strbuf text = make_shape(shape, len);
    struct strbuf out = {0};
    int64_t began = cpu_time();
    if (what == 0)
        look(strbuf_bytes(&text), &out);
    else if (what == 1)
        rewrite(strbuf_bytes(&text), &out);
    else if (what == 2)
        edit(shape, strbuf_bytes(&text), &out);
    else
        edit_within(strbuf_bytes(&text), &out);
    double spent = (double)(cpu_time() - began);
    strbuf_release(&text);
    strbuf_release(&out);
    return spent;
}

static void
lines_of_a_megabyte_are_no_square(void **state)
{
    (void)state;
    static const char *const names[] = {"looked at", "rewritten", "edited", "edited within"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int what = 0; what < 4; what++) {
            double small = spend(&shapes[i], SMALL, what);
            double large = spend(&shapes[i], LARGE, what);
            // A square would be 64 times. The least is for what a clock and a cache do to short times.
            if (large > 24 * small && large > (double)SECOND_SPENT / 5)
                fail_msg("%s, %s: %.0f ms, of an eighth %.0f ms", shapes[i].name, names[what], large / 1e6,
                         small / 1e6);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_megabyte_are_no_square),
    };
    return cmocka_run_group_tests_name("json_cost", tests, NULL, NULL);
}
