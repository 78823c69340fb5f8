#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/category_overrides.h"

static void
what_was_decided_is_found_by_group(void **state)
{
    (void)state;
    struct overrides *overrides = overrides_create();
    char who[] = "ana";
    char reason[] = "the gateway was shut down";
    overrides_add(overrides, &(struct override){7, CATEGORY_PERMANENT, who, 5, reason});
    overrides_add(overrides, &(struct override){3, CATEGORY_DATA, "rui", 4, NULL});
    overrides_add(overrides, &(struct override){7, CATEGORY_SYSTEM, "rui", 6, "too late"});
    memset(who, 'x', sizeof who - 1); // texts were copied
    memset(reason, 'x', sizeof reason - 1);

    assert_int_equal(overrides_count(overrides), 2);
    assert_int_equal(overrides_at(overrides, 0)->group, 7);
    assert_int_equal(overrides_at(overrides, 1)->group, 3);
    const struct override *first = overrides_of(overrides, 7);
    assert_int_equal(first->category, CATEGORY_PERMANENT);
    assert_string_equal(first->who, "ana");
    assert_string_equal(first->reason, "the gateway was shut down");
    assert_int_equal(first->at, 5);
    assert_null(overrides_of(overrides, 3)->reason);
    assert_null(overrides_of(overrides, 8));
    overrides_destroy(overrides);
}

static void
without_decisions_the_rules_decide(void **state)
{
    (void)state;
    assert_int_equal(overrides_count(NULL), 0);
    assert_null(overrides_of(NULL, 7));
    overrides_destroy(NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_decided_is_found_by_group),
        cmocka_unit_test(without_decisions_the_rules_decide),
    };
    return cmocka_run_group_tests_name("overrides", tests, NULL, NULL);
}
