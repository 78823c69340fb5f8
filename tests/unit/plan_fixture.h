// plan_fixture: a publish plan with its arena, and checks of it.
//
// Include it after cmocka.h.
#ifndef REDRIVE_TESTS_UNIT_PLAN_FIXTURE_H
#define REDRIVE_TESTS_UNIT_PLAN_FIXTURE_H

#include <string.h>
#include "publish/plan.h"

static struct arena arena;
static struct plan plan;

// Teardown of a test.
static int
forget(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

// The last header of the plan with this name.
static struct bytes
header(const char *name)
{
    struct bytes value = BYTES_ABSENT;
    for (uint32_t i = 0; i < plan.header_count; i++)
        if (bytes_equal_text(plan.headers[i].name, name))
            value = plan.headers[i].value;
    return value;
}

#define assert_bytes(b, text) assert_true(bytes_equal((b), bytes_of(text)))
#define assert_says(sentence, part)                                                                          \
    do {                                                                                                     \
        if (!(sentence) || !strstr((sentence), (part)))                                                      \
            fail_msg("%s does not say %s", (sentence) ? (sentence) : "(nothing)", part);                     \
    } while (0)

#endif
