#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/shape/locate.h"
#include "tests/unit/cases.h"
#include "tests/unit/cpu_time.h"

// \n in a case is a line end.
static void
unescape(const char *text, struct strbuf *out)
{
    for (; *text; text++) {
        bool is_escape = text[0] == '\\' && text[1] == 'n';
        strbuf_add_char(out, *text);
        if (is_escape) {
            out->data[out->len - 1] = '\n';
            text++;
        }
    }
}

static bool
check_message(char *text, const char *expected)
{
    struct arena arena = {0};
    struct strbuf message = {0}, is = {0};
    struct locate_where where;
    unescape(text, &message);
    bool is_read = locate_read(strbuf_bytes(&message), BYTES_ABSENT, &arena, &where);
    locate_print(&where, &is);
    bool ok = strcmp(strbuf_text(&is), expected) == 0 && is_read == (strcmp(expected, "nothing") != 0);
    if (!ok)
        print_error("%s\n  is  %s\n  not %s\n", text, strbuf_text(&is), expected);
    strbuf_release(&message);
    strbuf_release(&is);
    arena_release(&arena);
    return ok;
}

static void
messages_of_libraries_are_read(void **state)
{
    (void)state;
    each_case("tests/cases/shape/messages.txt", check_message);
}

// A list of errors names several places, each once.
static void
lists_of_errors_name_all_their_places(void **state)
{
    (void)state;
    static const struct {
        const char *message, *places;
    } rows[] = {
        {"3 validation errors for Order\nlines.0.amount\n  Input should be a valid number\n    For further "
         "information visit https://x\nlines.2.amount\n  Field required [type=missing]\nshipping.city\n  no",
         "pydantic: path $.lines[0].amount; pydantic: path $.lines[2].amount missing; "
         "pydantic: path $.shipping.city; "},
        {"[{\"code\": \"invalid_type\", \"path\": [\"lines\", 0, \"amount\"]}, {\"path\": [\"a\"]}, "
         "{\"path\": "
         "[\"a\"]}]",
         "Zod: path $.lines[0].amount; Zod: path $.a; "},
        {"Key: 'Order.Lines[2].Amount' Error:Field validation\nKey: 'Order.City' Error:Field validation",
         "Go validator: path $.Lines[2].Amount; Go validator: path $.City; "},
        {"KeyError: 'postal_code'", "Python: member postal_code missing; "},
        {"at line 3 column 14", ""},
        {"no", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = {0};
        struct strbuf is = {0};
        struct locate_where wheres[3];
        size_t count = locate_read_all(bytes_of(rows[i].message), &arena, wheres, 3);
        for (size_t at = 0; at < count; at++) {
            locate_print(&wheres[at], &is);
            strbuf_add_text(&is, "; ");
        }
        assert_string_equal(strbuf_text(&is), rows[i].places);
        // No more than there is room for.
        assert_true(locate_read_all(bytes_of(rows[i].message), &arena, wheres, 1) <= 1);
        strbuf_release(&is);
        arena_release(&arena);
    }
}

static char payload[1024];

static bool
check_place(char *text, const char *expected)
{
    if (strcmp(text, "payload") == 0) {
        snprintf(payload, sizeof payload, "%s", expected);
        return true;
    }
    struct arena arena = {0};
    struct strbuf message = {0}, is = {0};
    struct locate_where where;
    struct locate_found found;
    unescape(text, &message);
    locate_read(strbuf_bytes(&message), BYTES_ABSENT, &arena, &where);
    locate_in(bytes_of(payload), true, &where, NULL, &arena, &found);
    strbuf_printf(&is, "%s %zu%s", found.ground == LOCATE_NOTHING ? "none" : found.path, found.from,
                  found.is_missing ? " missing" : "");
    bool ok = strcmp(strbuf_text(&is), expected) == 0;
    if (!ok)
        print_error("%s\n  is  %s (%s)\n  not %s\n", text, strbuf_text(&is), found.why, expected);
    strbuf_release(&message);
    strbuf_release(&is);
    arena_release(&arena);
    return ok;
}

static void
places_are_found_in_payloads(void **state)
{
    (void)state;
    each_case("tests/cases/shape/locate.txt", check_place);
}

static void
find(const char *message, const char *stack, const char *text, bool is_exact, const struct shape *shape,
     struct arena *arena, struct locate_found *found)
{
    struct locate_where where;
    locate_read(bytes_of(message), bytes_of(stack), arena, &where);
    locate_in(bytes_of(text), is_exact, &where, shape, arena, found);
}

static void
the_shape_decides_where_messages_do_not(void **state)
{
    (void)state;
    struct shape *shape = shape_create();
    for (int i = 0; i < 30; i++)
        shape_add(
            shape,
            BYTES("{\"to\": {\"city\": \"x\", \"zip\": \"1\"}, \"from\": {\"city\": \"y\"}, \"n\": 1}"));
    static const char text[] = "{\"to\": {\"city\": \"x\"}, \"from\": {\"city\": \"y\"}, \"n\": \"1\"}";
    struct arena arena = {0};
    struct locate_found found;
    find("KeyError: 'zip'", NULL, text, true, shape, &arena, &found);
    assert_string_equal(found.path, "$.to.zip");
    assert_int_equal(found.from, 7);
    assert_true(found.is_missing);
    assert_string_equal(found.why,
                        "Python names zip: zip is missing here and present in all 30 events of this type");
    find("Connection refused", NULL, text, true, shape, &arena, &found);
    assert_int_equal(found.ground, LOCATE_DEPARTURE);
    assert_string_equal(found.path, "$.n");
    assert_int_equal(found.len, 3);
    find("Connection refused", NULL,
         "{\"to\": {\"city\": \"x\", \"zip\": \"1\"}, \"from\": {\"city\": \"y\"}, \"n\": 1}", true, shape,
         &arena, &found);
    assert_int_equal(found.ground, LOCATE_NOTHING);
    assert_int_equal(found.from, 0);
    // A member that occurs twice: the one that departs.
    static const char cities[] =
        "{\"to\": {\"city\": \"x\", \"zip\": \"1\"}, \"from\": {\"city\": 7}, \"n\": 1}";
    find("city must be text", NULL, cities, true, shape, &arena, &found);
    assert_string_equal(found.path, "$.from.city");
    arena_release(&arena);
    shape_destroy(shape);
}

static void
positions_count_only_in_the_bytes_the_consumer_read(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct locate_found found;
    static const char text[] = "{\"a\": 1, \"b\": 2}";
    find("x at line 1 column 15", NULL, text, true, NULL, &arena, &found);
    assert_string_equal(found.path, "$.b");
    assert_string_equal(found.why, "serde_json names line 1, column 15");
    find("x at line 1 column 15", NULL, text, false, NULL, &arena, &found);
    assert_int_equal(found.ground, LOCATE_NOTHING);
    arena_release(&arena);
}

static void
a_stack_is_read_for_what_the_message_does_not_say(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct locate_found found;
    static const char stack[] =
        "org.acme.ListenerException: Listener failed\n\tat com.acme.Order$.apply(Order.scala:12)\n"
        "Caused by: com.fasterxml.jackson.databind.exc.InvalidFormatException: x (through reference chain: "
        "com.acme.Order[\"b\"])\n\tat that.must.be(One.java:3)\n";
    find("Listener failed", stack, "{\"a\": 1, \"b\": 2}", true, NULL, &arena, &found);
    assert_string_equal(found.path, "$.b");
    assert_string_equal(found.why, "Jackson names $.b");
    // Words are read in causes, not in frames and lines of source.
    static const char words[] = "Traceback:\n  File \"x.py\", line 3, in f\n    # a must be text\n"
                                "#0 a must be\nCaused by: com.acme.Invalid: b must be positive\n";
    find("Listener failed", words, "{\"a\": 1, \"b\": 2}", true, NULL, &arena, &found);
    assert_string_equal(found.path, "$.b");
    arena_release(&arena);
}

// Texts that repeat a marker, or begin a form and do not end it.
static void
hostile_messages_take_no_time(void **state)
{
    (void)state;
    static const char *const parts[] = {"(through reference chain: [\"",
                                        "Path '['",
                                        "'",
                                        "\"",
                                        " must be ",
                                        "$[",
                                        "line 1",
                                        "Failed to parse a field: ",
                                        "validation error for \n",
                                        " within \"/",
                                        "KeyError: '",
                                        "'loc': (1, "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct strbuf message = {0};
        while (message.len < 2 << 20)
            strbuf_add_text(&message, parts[i]);
        struct arena arena = {0};
        struct locate_where where;
        struct locate_found found;
        int64_t began = cpu_time();
        locate_read(strbuf_bytes(&message), strbuf_bytes(&message), &arena, &where);
        locate_in(BYTES("{\"a\": 1}"), true, &where, NULL, &arena, &found);
        assert_true(cpu_time() - began < SECOND_SPENT);
        assert_true(arena.used < 16 << 20);
        arena_release(&arena);
        strbuf_release(&message);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_libraries_are_read),
        cmocka_unit_test(places_are_found_in_payloads),
        cmocka_unit_test(lists_of_errors_name_all_their_places),
        cmocka_unit_test(the_shape_decides_where_messages_do_not),
        cmocka_unit_test(positions_count_only_in_the_bytes_the_consumer_read),
        cmocka_unit_test(a_stack_is_read_for_what_the_message_does_not_say),
        cmocka_unit_test(hostile_messages_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
