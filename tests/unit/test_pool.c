#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "async/pool.h"
#include "base/clock.h"

enum { PIECES = 1000, WORKERS = 4 };

struct work {
    unsigned done[PIECES]; // how often each piece was
    unsigned by[WORKERS];  // pieces by each worker
    int64_t rest;          // µs a piece
};

static void
do_piece(void *context, size_t piece, unsigned worker)
{
    struct work *work = context;
    work->done[piece]++;
    work->by[worker]++;
    if (work->rest)
        clock_sleep(work->rest);
}

// What the pieces wrote is read without any lock: the thread sanitizer would say if that were not safe.
static void
each_piece_is_done_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, WORKERS, PIECES};
    struct pool *pool = pool_create(WORKERS, "test");
    for (unsigned round = 0; round < 300; round++) {
        size_t pieces = sizes[round % (sizeof sizes / sizeof *sizes)];
        struct work work = {0};
        pool_run(pool, pieces, do_piece, &work);
        unsigned all = 0;
        for (unsigned worker = 0; worker < WORKERS; worker++)
            all += work.by[worker];
        assert_int_equal(all, pieces);
        for (size_t i = 0; i < PIECES; i++)
            assert_int_equal(work.done[i], i < pieces);
    }
    pool_destroy(pool);
}

static void
all_workers_are_used(void **state)
{
    (void)state;
    struct pool *pool = pool_create(WORKERS, "test");
    struct work work = {.rest = 1000};
    for (int64_t until = clock_mono() + 20 * US_PER_SECOND; clock_mono() < until;) {
        pool_run(pool, WORKERS * 4, do_piece, &work);
        if (work.by[0] && work.by[1] && work.by[2] && work.by[3])
            break;
    }
    for (unsigned worker = 0; worker < WORKERS; worker++)
        assert_true(work.by[worker] > 0);
    pool_destroy(pool);
}

static void
one_worker_is_the_owner(void **state)
{
    (void)state;
    struct pool *pool = pool_create(1, "test");
    struct work work = {0};
    pool_run(pool, PIECES, do_piece, &work);
    assert_int_equal(work.by[0], PIECES);
    pool_destroy(pool);
    pool_destroy(pool_create(WORKERS, "test")); // that never worked
    pool_destroy(NULL);
    assert_true(pool_processors() >= 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_is_done_once),
        cmocka_unit_test(all_workers_are_used),
        cmocka_unit_test(one_worker_is_the_owner),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
