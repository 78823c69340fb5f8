// Links: what a template may say, and that no value of an event leaves its place in the address.
#include "core/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void
a_bad_template_is_refused_with_its_row(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *words;
    } cases[] = {
        {"logs ftp://x/", "begins with https://"},
        {"logs javascript:alert(1)", "begins with https://"},
        {"logs https://", "begins with https://"},
        {"logs https:///x", "begins with https://"},
        {"logs", "a name and an address"},
        {"logs https://{topic}.example/", "must not decide the host"},
        {"logs https://x:{offset}/", "must not decide the host"},
        {"logs https://me:secret@x/", "no user or password"},
        {"logs https://x/{topik}", "did you mean {topic}?"},
        {"logs https://x/{header:}", "there is no field"},
        {"logs https://x/{id", "a { without }"},
        {"logs https://x/id}", "a } without {"},
        {"logs https://x/\x1b]8", "a character that no address has"},
        {"logs https://x/a b", "a character that no address has"},
        {"logs https://x/é", "a character that no address has"},
        {"logs https://x/\nlogs https://y/", "a link \"logs\" already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct link_list list;
        struct err err = {0};
        assert_false(link_list_read(cases[i].rows, &arena, &list, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        assert_non_null(strstr(err.text, cases[i].words));
        assert_non_null(strstr(err.text, strchr(cases[i].rows, '\n') ? "row 2" : "row 1"));
        arena_release(&arena);
    }
}

static const char *
address(const char *template, struct bytes source_id, struct arena *arena)
{
    struct event_header header = {BYTES("trace"), BYTES("ab/12")};
    struct event event = {.id = 7, .source_id = source_id};
    event.record.headers = &header;
    event.record.header_count = 1;
    return link_address(&(struct link_template){"x", template}, &event, arena);
}

static void
values_are_encoded(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *query = "https://x/?q={source_id}&id={id}#a";
    assert_string_equal(address(query, BYTES("a-b_c.d~9"), &arena), "https://x/?q=a-b_c.d~9&id=7#a");
    assert_string_equal(address(query, BYTES("&b=/?#%{id}"), &arena),
                        "https://x/?q=%26b%3D%2F%3F%23%25%7Bid%7D&id=7#a");
    assert_string_equal(address(query, BYTES("\x1b\0\xff'\";$(x)"), &arena),
                        "https://x/?q=%1B%00%FF%27%22%3B%24%28x%29&id=7#a");
    assert_string_equal(address("http://x/{header:trace}/{header:trace}", BYTES_ABSENT, &arena),
                        "http://x/ab%2F12/ab%2F12");
    assert_string_equal(address("https://x", BYTES_ABSENT, &arena), "https://x");
    arena_release(&arena);
}

static void
a_link_without_its_value_is_none(void **state)
{
    (void)state;
    struct arena arena = {0};
    char big[1100];
    memset(big, 'a', sizeof big);
    assert_null(address("https://x/{source_id}", BYTES_ABSENT, &arena));
    assert_null(address("https://x/{source_id}", BYTES(""), &arena));
    assert_null(address("https://x/{source_id}/y", BYTES(".."), &arena));
    assert_null(address("https://x/{source_id}", (struct bytes){big, sizeof big}, &arena));
    assert_null(address("https://x/{group}", BYTES("a"), &arena));
    assert_null(address("https://x/{header:other}", BYTES("a"), &arena));
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_template_is_refused_with_its_row),
        cmocka_unit_test(values_are_encoded),
        cmocka_unit_test(a_link_without_its_value_is_none),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
