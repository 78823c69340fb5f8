// The builder of statements: names become numbers, and nothing else of a piece changes.
#include "store/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
values_are_numbered_in_the_order_they_were_given(void **state)
{
    (void)state;
    struct query query = {0};
    query_add(&query, PIECE("SELECT e.id FROM t e WHERE e.id > :after AND e.zone = :zone"));
    param_text(query_param(&query, "zone"), "UTC");
    param_int8(query_param(&query, "after"), 7);
    query_add(&query, PIECE(" OR e.at = :zone"));
    assert_string_equal(query_text(&query),
                        "SELECT e.id FROM t e WHERE e.id > $2 AND e.zone = $1 OR e.at = $1");
    assert_int_equal(query.params.count, 2);
    assert_string_equal(query.params.values[0], "UTC");
    query_release(&query);
}

static void
casts_quotes_and_the_table_stay(void **state)
{
    (void)state;
    struct query query = {0};
    query_add(&query, PIECE("SELECT e.id::int8, '{a:1}', x[1:2], ':'  FROM :\"events\" e, :'events'"));
    assert_string_equal(query_text(&query),
                        "SELECT e.id::int8, '{a:1}', x[1:2], ':'  FROM :\"events\" e, :'events'");
    query_release(&query);
}

static void
a_name_is_taken_whole(void **state)
{
    (void)state;
    struct query query = {0};
    param_int4(query_param(&query, "cut"), 1);
    param_int4(query_param(&query, "cut_short"), 2);
    query_add(&query, PIECE("left(a, :cut_short),:cut)"));
    assert_string_equal(query_text(&query), "left(a, $2),$1)");
    query_release(&query);
}

// The text may be asked for, added to and asked for again.
static void
an_empty_piece_adds_nothing(void **state)
{
    (void)state;
    struct query query = {0};
    assert_string_equal(query_text(&query), "");
    query_add(&query, (struct query_piece){0});
    query_add(&query, PIECE("SELECT 1"));
    assert_string_equal(query_text(&query), "SELECT 1");
    query_add(&query, PIECE(" LIMIT 1"));
    assert_string_equal(query_text(&query), "SELECT 1 LIMIT 1");
    query_release(&query);
    query_release(&query);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_numbered_in_the_order_they_were_given),
        cmocka_unit_test(casts_quotes_and_the_table_stay),
        cmocka_unit_test(a_name_is_taken_whole),
        cmocka_unit_test(an_empty_piece_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
