// What sets events apart, as the screen is told: from samples, then the rows it shows, then all of them.
#include "backend_world.h"

#include <string.h>

#include "base/alloc.h"
#include "store/events/apart_counts.h"

enum { EVENTS = 600, FIELDS = 16 };

// Sixteen fields, each of which tells the events of even ids from the others, more or less.
static void
fill(struct bench *bench)
{
    test_sql(bench->world.admin,
             "UPDATE public.dlq_events e SET event_payload = (SELECT jsonb_object_agg('f' || k, CASE WHEN "
             "abs(hashint8(e.id * 1009 + k)) %% 100 < CASE WHEN e.id %% 2 = 0 THEN 95 - k ELSE 15 END "
             "THEN 'yes' ELSE 'no' END) FROM generate_series(1, %d) AS k)",
             FIELDS);
}

static size_t
exact_rows(const struct apart_answer *answer)
{
    size_t count = 0;
    while (count < answer->row_count && answer->rows[count].is_exact)
        count++;
    return count;
}

static void
the_rows_shown_are_counted_before_the_others(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    fill(&bench);
    struct request *request = request_create(REQUEST_APART);
    request->ids = alloc_array(EVENTS, sizeof *request->ids);
    for (int64_t id = 2; id <= EVENTS; id += 2)
        request->ids[request->id_count++] = id;
    uint64_t number = bench_ask(&bench, request);

    struct reply *reply = bench_await(&bench, is_answer, &number);
    assert_int_equal(reply->kind, REPLY_APART);
    assert_false(reply->figures.apart.is_counted);
    size_t rows = reply->figures.apart.answer.row_count;
    assert_true(rows > APART_COUNTED);
    reply_destroy(reply);

    for (size_t counted = APART_COUNTED; counted < rows; counted += APART_COUNTED) {
        reply = bench_await(&bench, is_answer, &number);
        assert_false(reply->is_last);
        assert_int_equal(exact_rows(&reply->figures.apart.answer), counted);
        assert_int_equal(reply->figures.apart.here, EVENTS / 2);
        reply_destroy(reply);
    }

    reply = bench_await(&bench, is_answer, &number);
    assert_true(reply->is_last);
    assert_int_equal(exact_rows(&reply->figures.apart.answer), rows);
    assert_int_equal(reply->figures.apart.there, EVENTS / 2);
    reply_destroy(reply);
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_shown_are_counted_before_the_others),
    };
    return cmocka_run_group_tests_name("backend apart", tests, NULL, NULL);
}
