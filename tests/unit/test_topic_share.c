// The share of dead letters in words, and what is no share.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/topic_share.h"

static void
test_words(void **state)
{
    static const struct {
        struct topic_share share;
        const char *words;
    } cases[] = {
        {{.written = 1000, .arrived = 4}, "not known"}, // no second of it
        {{.covered = 60}, "not known"},                 // nothing was written
        {{.written = 1000, .covered = 60}, "0%"},
        {{.written = 1000000, .arrived = 1, .covered = 60}, "<0.01%"},
        {{.written = 10000, .arrived = 41, .covered = 60}, "0.41%"},
        {{.written = 1000, .arrived = 14, .covered = 60}, "1.4%"},
        {{.written = 1000, .arrived = 120, .covered = 60}, "12%"},
        {{.written = 10, .arrived = 12, .covered = 60}, "100%"}, // a message may be written down twice
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        topic_share_add(&cases[i].share, &out);
        assert_string_equal(strbuf_text(&out), cases[i].words);
        strbuf_release(&out);
    }
}

static void
test_sum(void **state)
{
    struct topic_share topics[] = {{.written = 100, .arrived = 1, .covered = 3600},
                                   {.written = 300, .arrived = 3, .covered = 60},
                                   {.written = 7, .arrived = 7}};
    const struct topic_shares shares = {.topics = topics, .count = 3};
    (void)state;
    struct topic_share sum = topic_shares_sum(&shares);
    assert_int_equal(sum.written, 400);
    assert_int_equal(sum.arrived, 4);
    assert_int_equal(sum.covered, 3600);
    assert_int_equal(topic_shares_known(&shares), 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
