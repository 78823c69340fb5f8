// A payload as lines of a pager, and what keeps a hostile one from filling the memory.
#include "ui/views/events/payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include "core/json/json.h"

static struct pager *
lines_of(struct bytes payload, enum payload_form form)
{
    struct pager *pager = pager_create();
    pager_begin(pager);
    payload_lines(pager, payload, form);
    pager_end(pager);
    return pager;
}

static void
expect_line(struct pager *pager, const char *text)
{
    struct bytes line = pager_line_at(pager);
    assert_int_equal(line.len, strlen(text));
    assert_memory_equal(line.data, text, line.len);
    (void)pager_handle(pager, DO_DOWN);
}

static void
forms_show_the_same_bytes(void **state)
{
    (void)state;
    struct bytes payload = BYTES("[1.50,{\"a\":{\"b\":[]}}]");
    struct area area = {0, 0, 10, 40};
    struct pager *pager = lines_of(payload, PAYLOAD_PRETTY);
    pager_layout(pager, area);
    expect_line(pager, "[");
    expect_line(pager, "  1.50,");
    expect_line(pager, "  {");
    expect_line(pager, "    \"a\": {");
    expect_line(pager, "      \"b\": []");
    pager_destroy(pager);

    pager = lines_of(payload, PAYLOAD_TREE);
    pager_layout(pager, area);
    assert_int_equal(pager_lines(pager), 2);
    expect_line(pager, "$[0]  1.50");
    expect_line(pager, "$[1].a.b  []");
    pager_destroy(pager);

    // Paths as a filter and a recipe take them.
    pager = lines_of(BYTES("{\"a b\":{\"it's\":1,\"\\u0063\":2},\"d.e\":[3]}"), PAYLOAD_TREE);
    pager_layout(pager, area);
    expect_line(pager, "$['a b']['it\\'s']  1");
    expect_line(pager, "$['a b'].c  2");
    expect_line(pager, "$['d.e'][0]  3");
    pager_destroy(pager);

    pager = lines_of(BYTES("7"), PAYLOAD_TREE);
    pager_layout(pager, area);
    expect_line(pager, "$  7");
    pager_destroy(pager);
}

// 400 kB of text would become 200 MB of blanks.
static void
deep_and_wide_is_indented_so_far(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (int i = 0; i < JSON_DEPTH - 1; i++)
        strbuf_add_char(&text, '[');
    for (int i = 0; i < 200000; i++)
        strbuf_add_text(&text, "0,");
    struct pager *pager = lines_of(strbuf_bytes(&text), PAYLOAD_PRETTY);
    pager_layout(pager, (struct area){0, 0, 10, 200});
    for (int i = 0; i < JSON_DEPTH; i++)
        (void)pager_handle(pager, DO_DOWN);
    struct bytes line = pager_line_at(pager);
    assert_int_equal(line.len, JSON_INDENTED * 2 + 2);
    assert_int_equal(line.data[line.len - 2], '0');
    pager_destroy(pager);
    strbuf_release(&text);
}

// A name of 100 kB above 100,000 values would become 10 GB of paths.
static void
long_paths_end_the_tree(void **state)
{
    (void)state;
    struct strbuf text = {0};
    strbuf_add_text(&text, "{\"");
    for (int i = 0; i < 100000; i++)
        strbuf_add_char(&text, 'n');
    strbuf_add_text(&text, "\":[0");
    for (int i = 0; i < 100000; i++)
        strbuf_add_text(&text, ",0");
    strbuf_add_text(&text, "]}");
    struct pager *pager = lines_of(strbuf_bytes(&text), PAYLOAD_TREE);
    assert_in_range(pager_lines(pager), 100, 300);
    pager_destroy(pager);
    strbuf_release(&text);
}

static void
what_does_not_fit_is_raw(void **state)
{
    (void)state;
    struct strbuf text = {0};
    strbuf_add_char(&text, '[');
    for (int i = 0; i < JSON_TOKENS; i++)
        strbuf_add_text(&text, "0,");
    static const enum payload_form forms[] = {PAYLOAD_PRETTY, PAYLOAD_TREE};
    for (int i = 0; i < 2; i++) {
        struct pager *pager = lines_of(strbuf_bytes(&text), forms[i]);
        assert_int_equal(pager_lines(pager), 2);
        pager_layout(pager, (struct area){0, 0, 10, 40});
        expect_line(pager, "this payload has more than 500,000 JSON tokens; shown raw");
        pager_destroy(pager);
    }
    strbuf_release(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_show_the_same_bytes),
        cmocka_unit_test(deep_and_wide_is_indented_so_far),
        cmocka_unit_test(long_paths_end_the_tree),
        cmocka_unit_test(what_does_not_fit_is_raw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
