// Random texts, read and edited, against what they were made of.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/lib/json_model.h"

static void
random_texts_are_read_and_edited_as_their_model(void **state)
{
    (void)state;
    struct strbuf why = {0};
    for (uint64_t seed = 1; seed <= 3000; seed++)
        if (!json_model_check(&(struct chance){.seed = seed}, &why))
            fail_msg("seed %llu: %s", (unsigned long long)seed, strbuf_text(&why));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts_are_read_and_edited_as_their_model),
    };
    return cmocka_run_group_tests_name("json_model", tests, NULL, NULL);
}
