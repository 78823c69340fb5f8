// Turns in PostgreSQL: one worker at a time, compare and set, the stop, and the decisions that end it.
#include "world.h"

#include "store/operations/adoption.h"
#include "store/operations/turns.h"

#define K "kafka-1"
static const char *const ids[] = {"10000000-0000-4000-8000-000000000001",
                                  "20000000-0000-4000-8000-000000000002",
                                  "30000000-0000-4000-8000-000000000003"};

static struct world world;

static int
set_up(void **state)
{
    (void)state;
    world_make(&world, 10);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    world_end(&world);
    return 0;
}

// A turn of this worker, whole; Kafka holds `kafka`.
static struct turn
take(struct store *store, const char *worker, struct turn_mark kafka, const char *id)
{
    struct turn turn;
    assert_works(turn_take(store, K, worker, -1, &turn, &err));
    assert_true(turn.is_mine);
    assert_works(turn_write(store, K, worker, &kafka, id, &turn, &err));
    assert_works(turn_confirm(store, K, worker, turn.last.no, &err));
    assert_works(turn_finish(store, K, worker, turn.last.no, &err));
    assert_works(turn_read(store, K, &turn, &err));
    return turn;
}

static struct turn_mark
mark_of(int64_t no, const char *id)
{
    struct turn_mark mark = {.no = no};
    snprintf(mark.id, sizeof mark.id, "%s", id);
    return mark;
}

static void
turns_follow_each_other(void **state)
{
    (void)state;
    struct turn turn = take(world.store, "me", mark_of(0, ""), ids[0]);
    assert_int_equal(turn.last.no, 1);
    assert_string_equal(turn.last.id, ids[0]);
    assert_true(turn.is_confirmed);
    assert_int_equal(turn.finished_no, 1);
    assert_non_null(strstr(turn.group, store_info(world.store)->install));
    turn = take(world.store, "other", turn.last, ids[1]);
    assert_int_equal(turn.last.no, 2);
    assert_int_equal(turn.before.no, 1);
    assert_string_equal(turn.before.id, ids[0]);
}

// What Kafka holds must be the last, or the one before while the last was not seen there; by id, not by
// number.
static void
a_turn_follows_only_its_own(void **state)
{
    (void)state;
    struct turn turn;
    struct turn_mark first = mark_of(1, ids[0]), none = mark_of(0, ""), foreign = mark_of(1, ids[2]);
    take(world.store, "me", none, ids[0]);
    assert_works(turn_take(world.store, K, "me", -1, &turn, &err));
    assert_refused(turn_write(world.store, K, "me", &none, ids[1], &turn, &err), ERR_CONFLICT, "may follow");
    assert_refused(turn_write(world.store, K, "me", &foreign, ids[1], &turn, &err), ERR_CONFLICT,
                   "may follow");
    assert_works(turn_write(world.store, K, "me", &first, ids[1], &turn, &err));
    assert_int_equal(turn.last.no, 2);
    // It ends before its commit, and so does the next: Kafka still holds the first.
    assert_works(turn_write(world.store, K, "me", &first, ids[2], &turn, &err));
    assert_int_equal(turn.last.no, 3);
    assert_int_equal(turn.before.no, 1);
    assert_refused(turn_finish(world.store, K, "me", 3, &err), ERR_CONFLICT, "was not seen");
    assert_refused(turn_confirm(world.store, K, "me", 2, &err), ERR_CONFLICT, "not the last");
}

static void
one_worker_takes_it_and_the_others_share_it(void **state)
{
    (void)state;
    struct turn turn;
    struct turn_mark none = mark_of(0, "");
    struct store *second = open_store(world.conninfo);
    assert_works(turn_take(world.store, K, "me", -1, &turn, &err));
    assert_true(turn.is_mine);
    assert_works(turn_take(second, K, "other", -1, &turn, &err));
    assert_false(turn.is_mine);
    assert_refused(turn_write(second, K, "other", &none, ids[1], &turn, &err), ERR_CONFLICT,
                   "another worker");
    // Nor by another session that borrows the name.
    assert_refused(turn_write(second, K, "me", &none, ids[1], &turn, &err), ERR_CONFLICT, "another worker");
    assert_works(turn_write(world.store, K, "me", &none, ids[0], &turn, &err));
    assert_works(turn_confirm(world.store, K, "me", 1, &err));
    assert_works(turn_finish(world.store, K, "me", 1, &err));
    assert_works(turn_take(second, K, "other", 0, &turn, &err));
    assert_false(turn.is_mine);
    assert_int_equal(turn.finished_no, 1);
    // One that asks after it takes its own.
    assert_works(turn_take(second, K, "other", 1, &turn, &err));
    assert_true(turn.is_mine);
    store_close(second);
}

// Its session is gone, so nobody waits for the end of its lease.
static void
a_dead_workers_turn_is_taken_over(void **state)
{
    (void)state;
    struct turn turn;
    struct store *second = open_store(world.conninfo);
    assert_works(turn_take(second, K, "other", -1, &turn, &err));
    assert_true(turn.is_mine);
    store_close(second);
    for (int i = 0; i < 200 && !(turn.is_mine && i); i++) { // the server notices it in its own time
        assert_works(turn_take(world.store, K, "me", -1, &turn, &err));
        clock_sleep(turn.is_mine ? 0 : 10000);
    }
    assert_true(turn.is_mine);
}

static void
a_stop_is_for_all_until_a_person_decides(void **state)
{
    (void)state;
    struct turn turn;
    struct slot slot;
    char cluster[64];
    take(world.store, "me", mark_of(0, ""), ids[0]);
    assert_works(turn_stop(world.store, K, STOP_AHEAD, "slot 3 is ahead", &err));
    assert_works(turn_stop(world.store, K, STOP_GONE, "a second reason", &err)); // the first one stays
    assert_refused(slot_acquire(world.store, K, "me", NULL, 0, &slot, &err), ERR_STOPPED, "slot 3 is ahead");
    assert_refused(slot_acquire_in_doubt(world.store, K, "me", NULL, 0, &slot, &err), ERR_STOPPED, "--adopt");
    assert_works(turn_take(world.store, K, "me", -1, &turn, &err));
    assert_int_equal(turn.stop, STOP_AHEAD);
    assert_false(turn.is_mine);
    assert_works(turn_stopped(world.store, cluster, &turn, &err));
    assert_string_equal(cluster, K);
    assert_string_equal(turn.stop_detail, "slot 3 is ahead");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'stop'"), 1);
    // Another cluster is another history.
    assert_works(slot_acquire(world.store, "kafka-2", "me", NULL, 0, &slot, &err));
}

// CREATE DATABASE … TEMPLATE has another oid and the same system identifier.
static void
a_copy_on_the_same_server_is_stopped(void **state)
{
    (void)state;
    struct turn turn;
    struct slot slot;
    test_sql(world.admin, "UPDATE redrive.install SET database_oid = (database_oid::bigint + 1)::oid");
    assert_refused(slot_acquire(world.store, K, "me", NULL, 0, &slot, &err), ERR_STOPPED, "another database");
    assert_works(turn_take(world.store, K, "me", -1, &turn, &err));
    assert_int_equal(turn.stop, STOP_COPY);
}

// Events that Kafka proves are closed if their record names their source; a slot that is ahead gets other
// names; workers go on after Kafka's turn.
static void
the_true_one_closes_what_was_sent(void **state)
{
    (void)state;
    struct turn turn;
    struct slot slot;
    int64_t closed;
    take(world.store, "me", mark_of(0, ""), ids[0]);
    assert_works(turn_stop(world.store, K, STOP_AHEAD, "x", &err));

    const int64_t found[] = {1, 2, 3, 3};
    const char *const sources[] = {"orders/1/0", "orders/2/99", "orders/3/0", "orders/3/0"};
    int64_t *sent = NULL;
    size_t count = 0;
    assert_works(history_sent(world.store, found, sources, 4, &world.arena, &sent, &count, &err));
    assert_int_equal(count, 2); // not 2: another offset
    const int32_t slots[] = {4};
    struct turn_mark kafka = mark_of(7, ids[2]);
    assert_refused(history_adopt(world.store, K, &kafka, slots, 1, sent, count, "", &closed, &err), ERR_USAGE,
                   "reason");
    assert_works(history_adopt(world.store, K, &kafka, slots, 1, sent, count, "backup", &closed, &err));
    assert_int_equal(closed, 2);
    assert_int_equal(
        test_number(world.admin, "SELECT sum(id) FROM public.dlq_events WHERE status = 'RESOLVED'"), 4);
    assert_int_equal(
        test_number(world.admin, "SELECT generation FROM redrive.slot WHERE cluster = 'kafka-1' AND no = 4"),
        2);
    assert_works(turn_take(world.store, K, "me", -1, &turn, &err));
    assert_int_equal(turn.last.no, 7);
    assert_int_equal(turn.stop, STOP_NONE);
    assert_works(slot_acquire(world.store, K, "me", NULL, 0, &slot, &err));
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'adopt' AND "
                                              "reason = 'backup' AND events = 2"),
                     1);
}

static struct adopting
request_now(void)
{
    struct adopting adopting;
    assert_works(adopting_look(world.store, &adopting, &err));
    return adopting;
}

// Only what an administrator asked for is counted, only what he confirmed is carried out, and only while
// Kafka still proves the same.
static void
a_worker_takes_over_what_was_confirmed(void **state)
{
    (void)state;
    struct adopting next;
    int64_t closed;
    const int64_t counted[] = {3, 1}, others[] = {1, 3, 5};
    const int32_t slots[] = {4};
    struct turn_mark kafka = mark_of(7, ids[2]);
    struct adopting_proof proof = {K, &kafka, slots, 1, 2, counted, 2};
    assert_refused(adopting_ask(world.store, &err), ERR_NOT_FOUND, "not stopped");
    take(world.store, "me", mark_of(0, ""), ids[0]);
    assert_works(turn_stop(world.store, K, STOP_AHEAD, "x", &err));
    assert_works(adopting_next(world.store, "me", &next, &err));
    assert_int_equal(next.state, ADOPTING_NONE);

    assert_works(adopting_ask(world.store, &err));
    assert_works(adopting_next(world.store, "me", &next, &err));
    assert_int_equal(next.state, ADOPTING_ASKED);
    struct adopting elsewhere;
    assert_works(adopting_next(world.store, "other", &elsewhere, &err)); // "me" has it
    assert_int_equal(elsewhere.state, ADOPTING_NONE);
    assert_refused(adopting_carry_out(world.store, "me", next.no, &proof, &closed, &err), ERR_CONFLICT,
                   "no administrator has confirmed");
    assert_refused(adopting_answer(world.store, "other", next.no, K, 2, 9, counted, 2, NULL, &err),
                   ERR_CONFLICT, "not this worker's");
    assert_works(adopting_answer(world.store, "me", next.no, K, 2, 9, counted, 2, NULL, &err));

    struct adopting seen = request_now();
    assert_int_equal(seen.state, ADOPTING_COUNTED);
    assert_int_equal(seen.sent, 2);
    assert_refused(adopting_confirm(world.store, &seen, " ", &err), ERR_USAGE, "reason");
    struct adopting wrong = seen;
    wrong.sent = 1;
    assert_refused(adopting_confirm(world.store, &wrong, "backup", &err), ERR_CONFLICT, "not what was shown");
    assert_works(adopting_confirm(world.store, &seen, "backup", &err));

    // Kafka proves more by now: nothing is done but to say so.
    assert_works(adopting_next(world.store, "me", &next, &err));
    assert_int_equal(next.state, ADOPTING_CONFIRMED);
    proof.sent = others;
    proof.sent_count = 3;
    assert_works(adopting_carry_out(world.store, "me", next.no, &proof, &closed, &err));
    assert_int_equal(closed, -1);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM public.dlq_events WHERE status <> 'PENDING'"), 0);
    seen = request_now();
    assert_int_equal(seen.sent, 3);
    assert_true(strstr(seen.why, "something else by now"));

    assert_works(adopting_confirm(world.store, &seen, "backup", &err));
    assert_works(adopting_next(world.store, "me", &next, &err));
    assert_works(adopting_carry_out(world.store, "me", next.no, &proof, &closed, &err));
    assert_int_equal(closed, 3);
    assert_int_equal(request_now().state, ADOPTING_DONE);
    assert_int_equal(
        test_number(world.admin, "SELECT sum(id) FROM public.dlq_events WHERE status = 'RESOLVED'"), 9);
    assert_refused(adopting_carry_out(world.store, "me", next.no, &proof, &closed, &err), ERR_CONFLICT,
                   "no administrator has confirmed");
    struct slot slot;
    assert_works(turn_take(world.store, K, "me", -1, &(struct turn){0}, &err));
    assert_works(slot_acquire(world.store, K, "me", NULL, 0, &slot, &err));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns_follow_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_turn_follows_only_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_worker_takes_it_and_the_others_share_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dead_workers_turn_is_taken_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stop_is_for_all_until_a_person_decides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_on_the_same_server_is_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_true_one_closes_what_was_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_takes_over_what_was_confirmed, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
