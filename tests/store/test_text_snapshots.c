// Snapshots of error messages: how the maintainer of the rollup writes them, and how a cache uses them.
#include "world.h"

#include "rollup/maintainer.h"
#include "search/text_cache.h"
#include "rollup/snapshot_writer.h"
#include "store/rollup/snapshots.h"

enum { EVENTS = 20000, PACKS = 3 };
static const int64_t PATIENCE = 60 * US_PER_SECOND;

static struct world world;
static struct maintainer *maintainer;

static void
step(void)
{
    int64_t wait = maintainer_step(maintainer);
    clock_sleep(wait > 20000 ? 20000 : wait);
}

// Until that is so.
static void
keep_until(const char *sql)
{
    int64_t until = clock_mono() + PATIENCE;
    while (test_number(world.admin, sql) != 1) {
        step();
        if (clock_mono() > until)
            fail_msg("in vain: %s", sql);
    }
}

static const char packed[] = "SELECT count(*) FROM redrive.rollup_state WHERE texts_floor IS NOT NULL AND "
                             "uncompared = -9223372036854775808"
                             " AND (SELECT sum(n) FROM redrive.text_snapshot) ="
                             " (SELECT count(*) FROM dlq_events WHERE status = 'PENDING')";

static int
begin(void **state)
{
    (void)state;
    world_make_with_rules(&world, EVENTS);
    test_sql(world.admin, "UPDATE dlq_events SET error_message = 'message ' || id WHERE id %% 2 = 0;"
                          "UPDATE dlq_events SET error_message = '' WHERE id = 15000");
    maintainer = maintainer_create(&world.settings);
    keep_until(packed);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    maintainer_destroy(maintainer);
    world_end(&world);
    return 0;
}

// The lease is held by a maintainer that never looks, so that none repairs anything from here on.
static void
leave_kept(void)
{
    maintainer_destroy(maintainer);
    maintainer = NULL;
    test_sql(world.admin, "UPDATE redrive.rollup_state SET maintainer = 'test', lease_until = 'infinity'");
}

static void
fill(struct text_cache *cache)
{
    bool is_over = false;
    while (!is_over)
        assert_works(text_cache_fill(cache, world.store, EVENT_TEXT_ERROR, 0, &is_over, &err));
    assert_true(text_cache_column(cache, EVENT_TEXT_ERROR)->is_bottom);
}

static const char *
text_in(struct text_cache *cache, int64_t id)
{
    static char text[100];
    const struct column *column = text_cache_column(cache, EVENT_TEXT_ERROR);
    size_t hint = 0;
    uint32_t number;
    if (!column_find(column, id, &hint, &number))
        return "(not there)";
    struct text_room room = {0};
    struct text_block block = texts_block(column->texts, number, &room);
    struct bytes bytes = text_block_at(&block, number - block.first);
    snprintf(text, sizeof text, "%.*s", (int)bytes.len, bytes.data);
    text_room_release(&room);
    return text;
}

static struct text_cache *
load(void)
{
    struct text_cache *cache = text_cache_create(64 << 20, NULL);
    fill(cache);
    return cache;
}

// Does the cache hold every pending event with its text?
static void
assert_whole(struct text_cache *cache)
{
    PGresult *r = PQexec(world.admin, "SELECT id, error_message FROM dlq_events"
                                      " WHERE status = 'PENDING' ORDER BY id");
    assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_ERROR)), PQntuples(r));
    for (int i = 0; i < PQntuples(r); i++)
        assert_string_equal(text_in(cache, strtoll(PQgetvalue(r, i, 0), NULL, 10)), PQgetvalue(r, i, 1));
    PQclear(r);
}

static int64_t
packs(void)
{
    return test_number(world.admin, "SELECT count(*) FROM redrive.text_snapshot");
}

static void
snapshots_hold_every_event(void **state)
{
    (void)state;
    assert_int_equal(packs(), PACKS);
    leave_kept();
    struct text_cache *cache = load();
    assert_whole(cache);
    text_cache_destroy(cache);
}

// Events above and between the snapshots are read from the table.
static void
gaps_are_read_from_the_table(void **state)
{
    (void)state;
    leave_kept();
    test_sql(world.admin, "DELETE FROM redrive.text_snapshot WHERE 9000 BETWEEN low AND high");
    assert_int_equal(packs(), PACKS - 1);
    add_events(world.admin, 700);
    test_sql(world.admin, "UPDATE dlq_events SET error_message = 'new, and not packed' WHERE id > %d",
             EVENTS);
    struct text_cache *cache = load();
    assert_whole(cache);
    assert_string_equal(text_in(cache, EVENTS + 1), "new, and not packed");
    text_cache_destroy(cache);

    test_sql(world.admin, "DELETE FROM redrive.text_snapshot WHERE low = 1");
    cache = load();
    assert_whole(cache);
    text_cache_destroy(cache);
}

// An event that the maintainer found written is stale in its snapshot, and its row is read. A reopened event
// is one.
static void
a_change_that_the_maintainer_saw_is_stale(void **state)
{
    (void)state;
    test_sql(world.admin, "UPDATE dlq_events SET error_message = 'changed' WHERE id = 9000;"
                          "UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 9001");
    keep_until("SELECT count(*) FROM redrive.text_snapshot WHERE 9000 = ANY (stale)");
    test_sql(world.admin, "UPDATE dlq_events SET status = 'PENDING', error_message = 'back' WHERE id = 9001");
    keep_until("SELECT count(*) FROM redrive.text_snapshot WHERE 9001 = ANY (stale)");
    struct text_cache *cache = load();
    assert_string_equal(text_in(cache, 9000), "(not there)");
    assert_string_equal(text_in(cache, 9001), "(not there)");
    assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_ERROR)), EVENTS - 2);
    text_cache_destroy(cache);
}

// A snapshot with many stale events is written again.
static void
a_stale_snapshot_is_written_again(void **state)
{
    (void)state;
    char sql[300];
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM redrive.text_snapshot WHERE 9500 BETWEEN low AND high AND stale = '{}'"
        " AND xmin <> '%s'",
        test_text(world.admin, "SELECT xmin FROM redrive.text_snapshot WHERE 9500 BETWEEN low AND high"));
    test_sql(world.admin, "UPDATE dlq_events SET error_message = 'changed' WHERE id BETWEEN 9001 AND 10000");
    keep_until(sql);
    keep_until(packed);
    struct text_cache *cache = load();
    assert_string_equal(text_in(cache, 9500), "changed");
    assert_whole(cache);
    text_cache_destroy(cache);
}

// A change that no maintainer has seen yet is found by the cache's own look, since it knows how old snapshots
// are.
static void
assert_looked_for(void)
{
    leave_kept();
    PGconn *other = test_connect(world.conninfo);
    test_sql(other, "UPDATE dlq_events SET error_message = 'changed' WHERE id = 9000");
    PQfinish(other); // tells the server's counters
    struct text_cache *cache = load();
    assert_string_equal(text_in(cache, 9000), "message 9000");
    for (int64_t until = clock_mono() + PATIENCE; strcmp(text_in(cache, 9000), "changed") != 0;) {
        assert_works(text_cache_check(cache, world.store, &err));
        assert_true(clock_mono() < until);
        clock_sleep(20000);
    }
    assert_whole(cache);
    text_cache_destroy(cache);
}

static void
a_later_change_is_looked_for(void **state)
{
    (void)state;
    assert_looked_for();
}

// During a long transaction nothing is known to be older than it, so the xmin floor does not move.
static void
a_change_beside_a_long_transaction_is_looked_for(void **state)
{
    (void)state;
    PGconn *conn = test_connect(world.conninfo);
    char sql[200];
    test_sql(conn, "BEGIN");
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.rollup_state WHERE texts_floor = %s",
             test_text(conn, "SELECT txid_current()"));
    keep_until(sql);
    assert_looked_for();
    PQfinish(conn);
}

// Snapshots of events that are gone are deleted, and the cache does not show their texts.
static void
snapshots_of_gone_events_are_deleted(void **state)
{
    (void)state;
    test_sql(world.admin, "UPDATE dlq_events SET status = 'DISCARDED' WHERE id BETWEEN 2000 AND 19000");
    keep_until("SELECT count(*) FROM redrive.text_snapshot");
    keep_until(packed);
    struct text_cache *cache = load();
    assert_whole(cache);
    text_cache_destroy(cache);
}

// The bytes of its texts also end a snapshot: writing one takes some megabytes of memory, however long texts
// are.
static void
long_messages_make_small_snapshots(void **state)
{
    (void)state;
    enum { LONG = 600, BYTES = 30000, STEPS = 20 };
    leave_kept();
    test_sql(world.admin,
             "DELETE FROM redrive.text_snapshot;"
             "UPDATE dlq_events SET error_message = id || repeat(md5(id::text), %d) WHERE id <= %d",
             BYTES / 32, LONG);
    struct snapshot_writer writer;
    snapshot_writer_init(&writer);
    for (int i = 0; i < STEPS; i++)
        assert_works(snapshot_writer_step(&writer, world.store, "test", EVENTS, &err));
    assert_int_equal(test_number(world.admin, "SELECT sum(n) FROM redrive.text_snapshot"), EVENTS);
    // 18 MB of messages; a snapshot takes 4 MB and one more page.
    assert_in_range(test_number(world.admin, "SELECT count(*) FROM redrive.text_snapshot WHERE low <= 600"),
                    3, 6);
    struct text_cache *cache = load();
    assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_ERROR)), EVENTS);
    assert_int_equal(strncmp(text_in(cache, 7), "78f14e45f", 9), 0);
    text_cache_destroy(cache);
}

static void
assert_usable(bool wanted)
{
    struct text_snapshots packs;
    assert_works(text_snapshots_state(world.store, &packs, &err));
    assert_int_equal(packs.is_usable, wanted);
}

static void
snapshots_without_maintainer_are_not_used(void **state)
{
    (void)state;
    assert_usable(true);
    leave_kept();
    assert_usable(true);
    test_sql(world.admin, "UPDATE redrive.rollup_state SET lease_until = now() - interval '1 s'");
    assert_usable(false);
    test_sql(world.admin, "UPDATE redrive.rollup_state SET lease_until = 'infinity', uncompared = 1");
    assert_usable(false);
    test_sql(world.admin,
             "UPDATE redrive.rollup_state SET uncompared = -9223372036854775808, texts_floor = NULL");
    assert_usable(false);
    struct text_cache *cache = load();
    assert_whole(cache);
    text_cache_destroy(cache);
}

// Content that is no snapshot is ignored: the texts are read from the contract table.
static void
broken_content_is_ignored(void **state)
{
    (void)state;
    leave_kept();
    test_sql(world.admin,
             "UPDATE redrive.text_snapshot SET content = 'nonsense' WHERE 9000 BETWEEN low AND high");
    struct text_cache *cache = load();
    assert_whole(cache);
    text_cache_destroy(cache);
}

// A role whose rights were granted by hand has none on functions that an upgrade adds.
static void
a_role_without_snapshots_maintains_the_rollup(void **state)
{
    (void)state;
    maintainer_destroy(maintainer);
    test_sql(world.admin,
             "DROP ROLE IF EXISTS packs_eva; CREATE ROLE packs_eva LOGIN;"
             "DO $$ DECLARE s text; BEGIN FOR s IN SELECT redrive.grants('packs_eva', 'worker') LOOP"
             " EXECUTE s; END LOOP; END $$;"
             "REVOKE EXECUTE ON FUNCTION redrive.text_snapshot_gap(text, bigint, bigint, bigint),"
             " redrive.text_snapshot_compared(text, bigint, bigint, bigint) FROM packs_eva;"
             "UPDATE redrive.rollup_state SET texts_floor = NULL, lease_until = '-infinity'");
    char conninfo[300];
    snprintf(conninfo, sizeof conninfo, "%s user=packs_eva", world.conninfo);
    struct store_settings settings = world.settings;
    settings.conninfo = conninfo;
    maintainer = maintainer_create(&settings);
    int64_t until = clock_mono() + PATIENCE;
    while (!maintainer_is_exact(maintainer)) {
        step();
        assert_true(clock_mono() < until);
    }
    test_sql(world.admin, "UPDATE dlq_events SET status = 'RESOLVED' WHERE id <= 10");
    char sql[100];
    snprintf(sql, sizeof sql, "SELECT sum(n) = %d FROM redrive.rollup_total", EVENTS - 10);
    while (strcmp(test_text(world.admin, sql), "t") != 0) {
        step();
        assert_true(clock_mono() < until);
    }
    assert_usable(false);
    maintainer_destroy(maintainer);
    maintainer = NULL;
    test_sql(world.admin, "DROP OWNED BY packs_eva; DROP ROLE packs_eva");
}

static void
only_the_maintainer_writes_them(void **state)
{
    (void)state;
    leave_kept();
    struct text_gap hole;
    assert_refused(text_snapshot_gap(world.store, "another", EVENTS, &hole, &err), ERR_CONFLICT,
                   "somebody else");
    assert_refused(text_snapshot_put(world.store, "another", 1, 2, 1, BYTES("x"), &err), ERR_CONFLICT,
                   "somebody else");
    assert_refused(text_snapshot_compared(world.store, "another", 1, 1, 1, &err), ERR_CONFLICT,
                   "somebody else");
    assert_works(text_snapshot_gap(world.store, "test", EVENTS, &hole, &err));
    assert_int_equal(hole.before, 0);
    // Few arrivals are no gap, a missing snapshot is one.
    add_events(world.admin, 100);
    test_sql(world.admin,
             "INSERT INTO redrive.rollup_event (dlq_id, series, created, retries) SELECT id, 1, 1, 0 FROM "
             "dlq_events WHERE id > %d",
             EVENTS);
    assert_works(text_snapshot_gap(world.store, "test", EVENTS + 100, &hole, &err));
    assert_int_equal(hole.before, 0);
    test_sql(world.admin, "DELETE FROM redrive.text_snapshot WHERE 9000 BETWEEN low AND high");
    assert_works(text_snapshot_gap(world.store, "test", EVENTS + 100, &hole, &err));
    assert_in_range(9000, hole.after + 1, hole.before - 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(snapshots_hold_every_event, begin, end),
        cmocka_unit_test_setup_teardown(gaps_are_read_from_the_table, begin, end),
        cmocka_unit_test_setup_teardown(a_change_that_the_maintainer_saw_is_stale, begin, end),
        cmocka_unit_test_setup_teardown(a_stale_snapshot_is_written_again, begin, end),
        cmocka_unit_test_setup_teardown(a_later_change_is_looked_for, begin, end),
        cmocka_unit_test_setup_teardown(a_change_beside_a_long_transaction_is_looked_for, begin, end),
        cmocka_unit_test_setup_teardown(snapshots_of_gone_events_are_deleted, begin, end),
        cmocka_unit_test_setup_teardown(long_messages_make_small_snapshots, begin, end),
        cmocka_unit_test_setup_teardown(snapshots_without_maintainer_are_not_used, begin, end),
        cmocka_unit_test_setup_teardown(broken_content_is_ignored, begin, end),
        cmocka_unit_test_setup_teardown(a_role_without_snapshots_maintains_the_rollup, begin, end),
        cmocka_unit_test_setup_teardown(only_the_maintainer_writes_them, begin, end),
    };
    return cmocka_run_group_tests_name("text_snapshots", tests, NULL, NULL);
}
