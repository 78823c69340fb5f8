#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "async/pool.h"
#include "base/clock.h"

enum { PIECES = 1000, HANDS = 4 };

struct work {
    unsigned done[PIECES]; // how often each piece was
    unsigned by[HANDS];    // pieces by each hand
    int64_t rest;          // µs a piece
};

static void
do_piece(void *context, size_t piece, unsigned hand)
{
    struct work *work = context;
    work->done[piece]++;
    work->by[hand]++;
    if (work->rest)
        clock_sleep(work->rest);
}

// What the pieces wrote is read without any lock: the thread sanitizer would say if that were not safe.
static void
each_piece_is_done_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, HANDS, PIECES};
    struct crew *crew = crew_create(HANDS, "test");
    for (unsigned round = 0; round < 300; round++) {
        size_t pieces = sizes[round % (sizeof sizes / sizeof *sizes)];
        struct work work = {0};
        crew_run(crew, pieces, do_piece, &work);
        unsigned all = 0;
        for (unsigned hand = 0; hand < HANDS; hand++)
            all += work.by[hand];
        assert_int_equal(all, pieces);
        for (size_t i = 0; i < PIECES; i++)
            assert_int_equal(work.done[i], i < pieces);
    }
    crew_destroy(crew);
}

static void
all_hands_are_used(void **state)
{
    (void)state;
    struct crew *crew = crew_create(HANDS, "test");
    struct work work = {.rest = 1000};
    for (int64_t until = clock_mono() + 20 * US_PER_SECOND; clock_mono() < until;) {
        crew_run(crew, HANDS * 4, do_piece, &work);
        if (work.by[0] && work.by[1] && work.by[2] && work.by[3])
            break;
    }
    for (unsigned hand = 0; hand < HANDS; hand++)
        assert_true(work.by[hand] > 0);
    crew_destroy(crew);
}

static void
one_hand_is_the_owner(void **state)
{
    (void)state;
    struct crew *crew = crew_create(1, "test");
    struct work work = {0};
    crew_run(crew, PIECES, do_piece, &work);
    assert_int_equal(work.by[0], PIECES);
    crew_destroy(crew);
    crew_destroy(crew_create(HANDS, "test")); // that never worked
    crew_destroy(NULL);
    assert_true(crew_processors() >= 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_is_done_once),
        cmocka_unit_test(all_hands_are_used),
        cmocka_unit_test(one_hand_is_the_owner),
    };
    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
