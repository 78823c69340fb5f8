#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "core/json/json.h"
#include "core/shape/shape.h"
#include "tests/unit/cpu_time.h"

static const char *const reasons[] = {[SHAPE_TYPE] = "type",
                                      [SHAPE_MISSING] = "missing",
                                      [SHAPE_EMPTY] = "empty",
                                      [SHAPE_VALUE] = "value",
                                      [SHAPE_UNKNOWN] = "unknown"};

// Adds `text` that many times, with the number of the event in place of each #.
static void
add_sample(struct shape *shape, long count, const char *text)
{
    for (long i = 0; i < count; i++) {
        struct strbuf payload = {0};
        for (const char *c = text; *c; c++) {
            if (*c == '#')
                strbuf_printf(&payload, "%zu", shape_events(shape));
            else
                strbuf_add_char(&payload, *c);
        }
        shape_add(shape, strbuf_bytes(&payload));
        strbuf_release(&payload);
    }
}

static void
list_all(const struct shape *shape, struct bytes payload, struct strbuf *out)
{
    struct arena arena = {0};
    struct shape_departure *list;
    size_t count;
    shape_departures(shape, payload, &arena, &list, &count);
    for (size_t i = 0; i < count; i++)
        strbuf_printf(out, "=> %s %s %zu %s\n", reasons[list[i].reason], list[i].path, list[i].from,
                      list[i].sentence);
    if (count == 0)
        strbuf_add_text(out, "=> none\n");
    arena_release(&arena);
}

static void
departures_are_those_of_the_cases(void **state)
{
    (void)state;
    FILE *file = fopen("tests/cases/shape/departures.txt", "r");
    assert_non_null(file);
    char line[1024];
    struct shape *shape = shape_create();
    struct strbuf payload = {0}, expected = {0}, is = {0};
    int failures = 0;
    int blocks = 0;
    for (bool is_more = true; is_more;) {
        is_more = fgets(line, sizeof line, file) != NULL;
        if (is_more && strncmp(line, "=> ", 3) == 0)
            strbuf_add_text(&expected, line);
        line[strcspn(line, "\n")] = '\0';
        char *rest;
        if (is_more && strncmp(line, "sample ", 7) == 0) {
            long count = strtol(line + 7, &rest, 10);
            add_sample(shape, count, rest + 1);
        } else if (is_more && strncmp(line, "payload ", 8) == 0) {
            strbuf_add_text(&payload, line + 8);
        } else if ((!is_more || !*line) && payload.len) {
            list_all(shape, strbuf_bytes(&payload), &is);
            if (strcmp(strbuf_text(&is), strbuf_text(&expected)) != 0) {
                print_error("%s\n is\n%s not\n%s", strbuf_text(&payload), strbuf_text(&is),
                            strbuf_text(&expected));
                failures++;
            }
            blocks++;
            shape_destroy(shape);
            shape = shape_create();
            strbuf_reset(&payload);
            strbuf_reset(&expected);
            strbuf_reset(&is);
        }
    }
    fclose(file);
    shape_destroy(shape);
    strbuf_release(&payload);
    strbuf_release(&expected);
    strbuf_release(&is);
    assert_int_equal(failures, 0);
    assert_true(blocks > 15);
}

static void
what_is_no_json_is_only_counted(void **state)
{
    (void)state;
    struct shape *shape = shape_create();
    assert_false(shape_add(shape, BYTES("{\"a\": 1")));
    assert_false(shape_add(shape, BYTES("")));
    assert_false(shape_add(shape, BYTES_ABSENT));
    assert_true(shape_add(shape, BYTES("{\"a\": 1}")));
    assert_int_equal(shape_events(shape), 1);
    assert_int_equal(shape_skipped(shape), 3);
    assert_int_equal(shape_paths(shape), 2);
    shape_destroy(shape);
}

// An object with 100,000 different names, in each of 30 events: linear, and not kept.
static void
an_object_of_too_many_names_is_a_map(void **state)
{
    (void)state;
    struct shape *shape = shape_create();
    int64_t began = cpu_time();
    struct strbuf payload = {0};
    for (int event = 0; event < 30; event++) {
        strbuf_reset(&payload);
        strbuf_add_text(&payload, "{\"usual\": 1, \"map\": {");
        for (int i = 0; i < 100000; i++)
            strbuf_printf(&payload, "%s\"k%d-%d\": {\"n\": %d}", i ? ", " : "", event, i, i);
        strbuf_add_text(&payload, "}}");
        assert_true(shape_add(shape, strbuf_bytes(&payload)));
    }
    assert_true(shape_paths(shape) <= 8);
    assert_true(shape_memory(shape) < 2 << 20);
    struct strbuf is = {0};
    list_all(shape, BYTES("{\"usual\": 1, \"map\": {\"x\": {\"n\": \"text\"}, \"y\": {}}}"), &is);
    assert_string_equal(
        strbuf_text(&is),
        "=> type $.map.x.n 32 n is text here and a number in all 30 events of this type\n"
        "=> missing $.map.y.n 46 n is missing here and present in all 30 events of this type\n");
    strbuf_reset(&is);
    // All of them unknown to another shape.
    struct shape *other = shape_create();
    add_sample(other, 30, "{\"usual\": 1, \"map\": {\"a\": 1}}");
    list_all(other, strbuf_bytes(&payload), &is);
    assert_true(cpu_time() - began < 20 * SECOND_SPENT);
    shape_destroy(shape);
    shape_destroy(other);
    strbuf_release(&payload);
    strbuf_release(&is);
}

// 8,192 paths at most, and names that were not kept are not called unknown.
static void
memory_is_bounded(void **state)
{
    (void)state;
    struct shape *shape = shape_create();
    struct strbuf payload = {0};
    for (int event = 0; event < 40; event++) {
        strbuf_reset(&payload);
        strbuf_add_char(&payload, '{');
        for (int i = 0; i < 600; i++) {
            strbuf_printf(&payload, "%s\"k%d\": {", i ? ", " : "", i);
            for (int k = 0; k < 40; k++)
                strbuf_printf(&payload, "%s\"name%d\": \"a text of some length %d\"", k ? ", " : "", k,
                              k % 3);
            strbuf_add_char(&payload, '}');
        }
        strbuf_add_char(&payload, '}');
        shape_add(shape, strbuf_bytes(&payload));
    }
    assert_int_equal(shape_paths(shape), SHAPE_PATHS);
    assert_true(shape_memory(shape) < 12 << 20);
    struct strbuf is = {0};
    list_all(shape, strbuf_bytes(&payload), &is);
    assert_string_equal(strbuf_text(&is), "=> none\n");
    strbuf_release(&payload);
    strbuf_release(&is);
    shape_destroy(shape);
}

// 100,000 wrong lines: the list is short, each place is right, and the time is that of two passes.
static void
a_document_that_departs_everywhere_has_a_short_list(void **state)
{
    (void)state;
    struct shape *shape = shape_create();
    add_sample(shape, 50, "{\"lines\": [{\"sku\": \"s#\", \"amount\": 1}]}");
    struct strbuf payload = {0};
    strbuf_add_text(&payload, "{\"lines\": [");
    for (int i = 0; i < 100000; i++)
        strbuf_printf(&payload, "%s{\"amount\": \"%d\"}", i ? ", " : "", i);
    strbuf_add_text(&payload, "]}");
    struct arena arena = {0};
    struct shape_departure *list;
    size_t count;
    int64_t began = cpu_time();
    shape_departures(shape, strbuf_bytes(&payload), &arena, &list, &count);
    assert_true(cpu_time() - began < 2 * SECOND_SPENT);
    assert_int_equal(count, 2 * SHAPE_SAME);
    assert_string_equal(list[15].path, "$.lines[15].amount");
    assert_string_equal(list[16].path, "$.lines[0].sku");
    for (size_t i = 0; i < SHAPE_SAME; i++) {
        struct json_path *path;
        struct json_token value;
        assert_true(json_path_parse(&path, bytes_of(list[i].path), NULL));
        assert_true(json_path_find(path, strbuf_bytes(&payload), &value));
        assert_int_equal(value.from, list[i].from);
        json_path_destroy(path);
    }
    arena_release(&arena);
    strbuf_release(&payload);
    shape_destroy(shape);
}

static void
a_path_too_long_ends_at_a_container(void **state)
{
    (void)state;
    struct shape *shape = shape_create();
    add_sample(shape, 30, "{\"a\": {\"b\": 1}}");
    struct strbuf payload = {0};
    strbuf_add_text(&payload, "{\"a\": {\"b\": 1, \"");
    for (int i = 0; i < 5000; i++)
        strbuf_add_char(&payload, 'x');
    strbuf_add_text(&payload, "\": 2}}");
    struct arena arena = {0};
    struct shape_departure *list;
    size_t count;
    shape_departures(shape, strbuf_bytes(&payload), &arena, &list, &count);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].path, "$.a");
    assert_true(strlen(list[0].sentence) < 200);
    arena_release(&arena);
    strbuf_release(&payload);
    shape_destroy(shape);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(departures_are_those_of_the_cases),
        cmocka_unit_test(what_is_no_json_is_only_counted),
        cmocka_unit_test(an_object_of_too_many_names_is_a_map),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_document_that_departs_everywhere_has_a_short_list),
        cmocka_unit_test(a_path_too_long_ends_at_a_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
