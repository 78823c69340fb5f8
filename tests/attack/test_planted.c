// Texts that somebody with a worker's rights wrote for all screens: what they find is not what is acted upon.
#include "base/alloc.h"
#include "core/backlog/column.h"
#include "rollup/maintainer.h"
#include "tests/store/backend_world.h"

enum { EVENTS = 5000, FORGED = 5 }; // every fifth event

static struct bench bench;
static bool was_unconfirmed; // what the last list ended with

// Snapshots as they are kept for a backlog that nobody writes to, and a maintainer that never looks again.
static void
keep_snapshots(void)
{
    static const char kept[] =
        "SELECT count(*) FROM redrive.rollup_state WHERE texts_floor IS NOT NULL AND uncompared = "
        "-9223372036854775808 AND "
        "(SELECT "
        "sum(n) FROM redrive.text_snapshot) = (SELECT count(*) FROM dlq_events WHERE status = 'PENDING')";
    struct maintainer *maintainer = maintainer_create(&bench.settings.store);
    int64_t until = clock_mono() + 60 * US_PER_SECOND;
    while (test_number(bench.world.admin, kept) == 0) {
        assert_true(clock_mono() < until);
        maintainer_step(maintainer);
    }
    maintainer_destroy(maintainer);
    test_sql(bench.world.admin,
             "UPDATE redrive.rollup_state SET maintainer = 'test', lease_until = 'infinity'");
}

// The same events in one snapshot; of some another text than theirs.
static void
plant(void)
{
    static const uint64_t key[2] = {1, 2};
    struct column column;
    struct strbuf pack = {0};
    PGresult *r = PQexec(bench.world.admin, "SELECT id, error_message FROM dlq_events ORDER BY id DESC");
    column_init(&column, key);
    for (int i = 0; i < PQntuples(r); i++) {
        int64_t id = strtoll(PQgetvalue(r, i, 0), NULL, 10);
        column_add(&column, id, id % FORGED == 0 ? BYTES("zzzforged") : bytes_of(PQgetvalue(r, i, 1)));
    }
    PQclear(r);
    column_pack(&column, &pack);
    column_release(&column);
    test_sql(bench.world.admin, "DELETE FROM redrive.text_snapshot");
    r = PQexecParams(bench.world.admin,
                     "INSERT INTO redrive.text_snapshot (low, high, n, content) VALUES (1, 5000, 5000, $1)",
                     1, (const Oid[]){17}, (const char *const[]){strbuf_text(&pack)},
                     (const int[]){(int)pack.len}, (const int[]){1}, 0);
    assert_int_equal(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    strbuf_release(&pack);
}

static int
begin(void **state)
{
    (void)state;
    bench_prepare(&bench, EVENTS);
    bench.settings.filter_cache = 64 << 20;
    keep_snapshots();
    plant();
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));
    return 0;
}

static int
end(void **state)
{
    (void)state;
    bench_end(&bench);
    return 0;
}

// The ids that a list or a collection for a filter ends with; heap.
static int64_t *
ask(enum request_kind kind, const char *filter, enum list_order order, size_t *count)
{
    struct request *request = request_create(kind);
    request->list.filter = alloc_text(filter);
    request->list.order = order;
    uint64_t number = bench_ask(&bench, request);
    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    *count = 0;
    for (bool is_last = false; !is_last;) {
        struct reply *reply = bench_await(&bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        for (size_t i = 0; i < reply->list.count; i++) {
            assert_in_range(*count, 0, EVENTS - 1);
            ids[(*count)++] = reply->list.ids[i];
        }
        is_last = reply->is_last;
        was_unconfirmed = reply->list.is_unconfirmed;
        reply_destroy(reply);
    }
    return ids;
}

static void
nothing_is_done_by_a_text_that_is_not_the_events(void **state)
{
    (void)state;
    size_t count;
    free(ask(REQUEST_LIST, "zzzforged", ORDER_WHEN, &count));
    assert_in_range(count, EVENTS / FORGED / 2, EVENTS / FORGED); // so the snapshot was taken
    assert_true(was_unconfirmed);
    free(ask(REQUEST_COLLECT, "zzzforged", ORDER_WHEN, &count));
    assert_int_equal(count, 0);
    assert_false(was_unconfirmed);
    free(ask(REQUEST_COLLECT, "zzzforged", ORDER_TYPE, &count));
    assert_int_equal(count, 0);
    // Also where the text is what excludes an event.
    int64_t *ids = ask(REQUEST_COLLECT, "!host-3 id:1..100", ORDER_WHEN, &count);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_int_not_equal(ids[i] % 7, 3);
    free(ids);
}

static void
what_matches_is_collected_in_its_order(void **state)
{
    (void)state;
    size_t count;
    int64_t *ids = ask(REQUEST_COLLECT, "host-3", ORDER_WHEN, &count);
    assert_in_range(count, EVENTS / 7 * 3 / 4, EVENTS / 7 + 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ids[i] % 7, 3);
        assert_true(i == 0 || ids[i] < ids[i - 1]);
    }
    free(ids);
}

static void
what_is_put_is_bounded(void **state)
{
    (void)state;
    struct world *world = &bench.world;
    test_sql(world->admin, "UPDATE redrive.rollup_state SET maintainer_who = session_user");
    static const char *const refused[] = {
        "1, 60, 60, 'x'",
        "5000, 6000, 10, 'x'",
        "6000, 5999, 1, 'x'",
        "-5, -1, 5, 'x'",
        "6000, 6001, 0, 'x'",
        "6000, 6001, 2, NULL",
        "NULL, 6001, 2, 'x'",
        "6000, 9000, 2147483647, 'x'",
        "6000, 6001, 2, decode(repeat('ff', 33554433), 'hex')",
    };
    char sql[200];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(sql, sizeof sql, "SELECT redrive.text_snapshot_put('test', %s)", refused[i]);
        if (strcmp(test_state(world->admin, sql), "RD004") != 0)
            fail_msg("%s: %s", sql, test_state(world->admin, sql));
    }
    assert_string_equal(
        test_state(world->admin, "SELECT redrive.text_snapshot_put('test', 6000, 6001, 2, 'x')"), "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_done_by_a_text_that_is_not_the_events),
        cmocka_unit_test(what_matches_is_collected_in_its_order),
        cmocka_unit_test(what_is_put_is_bounded),
    };
    return cmocka_run_group_tests_name("planted", tests, begin, end);
}
