// What is said of newer records of the same key (core/newer.c).
#include "core/newer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"

#define MINUTE (60 * US_PER_SECOND)
static const int64_t now = 1000 * MINUTE;

static void
are_about_keys_and_times(void **state)
{
    (void)state;
    struct arena arena = {0};
    int64_t ids[] = {1, 2, 3};
    struct newer_key keys[] = {{BYTES("c-1"), 997 * MINUTE, false}, {BYTES("c-2"), 940 * MINUTE, true}};
    struct newer newer = {.is_over = true,
                          .events = 9,
                          .stale = ids,
                          .stale_count = 3,
                          .keys = keys,
                          .shown = 2,
                          .key_count = 2};
    assert_string_equal(newer_found(&newer, now, &arena),
                        "3 have newer records of the same key, the newest 3m ago");
    assert_string_equal(newer_keys(&newer, 5, now, &arena), "keys: c-1 (3m ago), c-2 (deleted 1h ago)");
    assert_string_equal(newer_keys(&newer, 1, now, &arena), "keys: c-1 (3m ago) and 1 more");
    assert_null(newer_gaps(&newer, &arena));
    newer.stale_count = newer.shown = 1;
    newer.key_count = 1;
    newer.resent = 2;
    assert_string_equal(newer_found(&newer, now, &arena),
                        "1 has newer records of the same key, the newest 3m ago; of 2 only redrive's own");
    assert_string_equal(newer_keys(&newer, 5, now, &arena), "key: c-1 (3m ago)");
    arena_release(&arena);
}

static void
say_what_they_do_not_hold_for(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct newer newer = {.is_over = true, .events = 1200};
    assert_string_equal(newer_found(&newer, now, &arena), "no newer records of the same key");
    assert_null(newer_keys(&newer, 5, now, &arena));
    newer.untold[UNTOLD_KEY] = 1;
    assert_string_equal(newer_found(&newer, now, &arena), "no other has newer records of the same key");
    assert_string_equal(newer_gaps(&newer, &arena), "1 unknown: has no key");
    newer.untold[UNTOLD_PLACE] = 1199;
    assert_string_equal(newer_found(&newer, now, &arena),
                        "newer records of the same key: unknown for all of these events");
    assert_string_equal(newer_gaps(&newer, &arena),
                        "1,200 unknown: 1,199 do not say where their records were, 1 has no key");
    newer.records = 1000;
    newer.of = 5400;
    newer.why = "the time for it is over";
    assert_string_equal(newer_progress(&newer, &arena),
                        "read 1,000 of 5,400 records: the time for it is over");
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_about_keys_and_times),
        cmocka_unit_test(say_what_they_do_not_hold_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
