// The publisher's state machine in single situations: what a marker says, what is lost, in doubt, refused or
// stopped by it. Its schedules are in test_schedules and in tests/sim.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/unit/publisher_fixture.h"

static void
judges_markers(void **state)
{
    (void)state;
    const struct slot slot = {.finished_seq = 7, .finished_id = "seven"};
    const struct chunk none = {0}, eight = {.exists = true, .seq = 8, .id = "eight"};
    const struct {
        struct marker marker;
        enum marker_verdict idle, busy;
    } cases[] = {
        {{.is_present = false}, VERDICT_ABSENT, VERDICT_ABSENT},
        {{.is_present = true, .seq = 7, .id = "seven"}, VERDICT_FINISHED, VERDICT_FINISHED},
        {{.is_present = true, .seq = 7, .id = "other"}, VERDICT_FOREIGN, VERDICT_FOREIGN},
        {{.is_present = true, .seq = 8, .id = "eight"}, VERDICT_AHEAD, VERDICT_COMMITTED},
        {{.is_present = true, .seq = 8, .id = "other"}, VERDICT_AHEAD, VERDICT_FOREIGN},
        {{.is_present = true, .seq = 9, .id = "nine"}, VERDICT_AHEAD, VERDICT_AHEAD},
        {{.is_present = true, .seq = 6, .id = "six"}, VERDICT_FOREIGN, VERDICT_FOREIGN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(marker_judge(&slot, &none, &cases[i].marker), cases[i].idle);
        assert_int_equal(marker_judge(&slot, &eight, &cases[i].marker), cases[i].busy);
    }
}

// Steps the publisher until `wanted`, at most 200 times.
static bool
step_until(struct publisher_fixture *fixture, enum publisher_status wanted)
{
    for (int i = 0; i < 200; i++)
        if (fixture_step(fixture) == wanted)
            return true;
    return false;
}

// Until every event has its end, or for so long that one of them never will.
static void
step_to_the_end(struct publisher_fixture *fixture)
{
    for (int i = 0; i < 3000 && !sim_is_finished(&fixture->sim); i++) {
        fixture_step(fixture);
        fixture_check(fixture);
    }
}

// One free slot that has published; the others are suspended.
static struct sim_slot *
publish_some(struct publisher_fixture *fixture)
{
    for (int i = 1; i < SIM_SLOTS; i++)
        fixture->sim.slots[i].is_suspended = true;
    fixture_start(fixture);
    assert_true(step_until(fixture, PUBLISHER_FINISHED));
    fixture_start_again(fixture);
    return &fixture->sim.slots[0];
}

// And a chunk in flight in it.
static struct sim_slot *
claim_some(struct publisher_fixture *fixture)
{
    struct sim_slot *slot = publish_some(fixture);
    while (!slot->chunk.exists)
        fixture_step(fixture);
    return slot;
}

static void
stops_when_postgresql_has_lost_work(void **state)
{
    struct sim_slot *slot = publish_some(*state);
    slot->offsets.marker.seq += 3; // what Kafka knows and PostgreSQL has forgotten
    assert_true(step_until(*state, PUBLISHER_STOPPED));
    assert_int_equal(((struct publisher_fixture *)*state)->sim.turn.stop, STOP_AHEAD);
}

// Between its reading of the slot and of the marker another publisher took the slot and published. That is no
// lost work: its fence has moved.
static void
goes_on_when_the_slot_was_lost_before_the_marker_was_read(void **state)
{
    struct sim_slot *slot = publish_some(*state);
    while (!slot->offsets.has_nonce || !slot->holder[0])
        fixture_step(*state);
    slot->row.fence++;
    slot->offsets.marker.seq = slot->row.finished_seq = ++slot->next_seq;
    snprintf(slot->offsets.marker.id, sizeof slot->offsets.marker.id, "other");
    snprintf(slot->row.finished_id, UUID_SIZE, "other");
    assert_true(step_until(*state, PUBLISHER_FINISHED));
    assert_false(slot->is_suspended);
}

static void
gives_a_slot_without_marker_new_names(void **state)
{
    struct sim_slot *slot = publish_some(*state);
    slot->offsets.marker.is_present = false; // expired
    assert_true(step_until(*state, PUBLISHER_FINISHED));
    assert_int_equal(slot->row.generation, 2);
}

static void
never_takes_absence_for_an_abort(void **state)
{
    struct sim_slot *slot = claim_some(*state);
    slot->offsets.marker.is_present = false;
    fixture_start_again(*state);
    assert_true(step_until(*state, PUBLISHER_NO_SLOT));
    assert_true(slot->is_suspended);
    assert_true(fixture_count(*state, SIM_IN_DOUBT) > 0);
}

static void
suspends_the_slot_of_a_foreign_marker(void **state)
{
    struct sim_slot *slot = publish_some(*state);
    snprintf(slot->offsets.marker.id, sizeof slot->offsets.marker.id, "somebody else");
    assert_true(step_until(*state, PUBLISHER_NO_SLOT));
    assert_true(slot->is_suspended);
}

static void
decides_nothing_while_the_marker_is_unstable(void **state)
{
    struct publisher_fixture *fixture = *state;
    struct sim_slot *slot = claim_some(fixture);
    fixture->sim.wishes.stops_reads = true;
    fixture_start_again(fixture);
    int failures = 0;
    for (int i = 0; i < 100000; i++) {
        struct err err = {0};
        enum publisher_status status = sim_process_step(fixture->process, &err);
        assert_true(status != PUBLISHER_FINISHED && status != PUBLISHER_REQUEUED &&
                    status != PUBLISHER_READY);
        failures += status == PUBLISHER_FAILED && err.kind == ERR_UNREACHABLE;
    }
    // It says so now and then, and tries once each time to end the transaction that blocks the answer.
    assert_true(failures > 1);
    assert_true(fixture->sim.nudges >= failures && fixture->sim.nudges <= failures + 1);
    assert_true(slot->chunk.exists);
    fixture->sim.wishes.stops_reads = false;
    fixture_run_out(fixture);
}

// A clock that is set while the worker runs: a search for the chunk's records would begin too late.
static void
sends_nothing_by_a_wrong_clock(void **state)
{
    struct publisher_fixture *fixture = *state;
    assert_non_null(publish_some(fixture));
    fixture->sim.wishes.skew = -3600 * US_PER_SECOND;
    size_t sent = fixture_count(fixture, SIM_RESOLVED);
    for (int i = 0; i < 500; i++) {
        struct err err = {0};
        enum publisher_status status = sim_process_step(fixture->process, &err);
        assert_true(status != PUBLISHER_FINISHED);
        if (status == PUBLISHER_FAILED && err.kind == ERR_DATA)
            assert_non_null(strstr(err.text, "behind PostgreSQL's"));
    }
    assert_int_equal(fixture_count(fixture, SIM_RESOLVED), sent);
    fixture->sim.wishes.skew = 0;
    fixture_run_out(fixture);
}

// Events that cannot be sent are refused before any record of their chunk is sent; the others go.
static void
sends_nothing_of_what_it_refuses(void **state)
{
    struct publisher_fixture *fixture = *state;
    for (int transactional = 0; transactional < 2; transactional++) {
        fixture_begin(fixture, 11);
        fixture->sim.wishes = (struct sim_wishes){
            .has_no_transactions = !transactional, .has_no_forbidden = true, .forbidden = 20};
        fixture_run_out(fixture);
        fixture_assert_ends(fixture, 0, 20);
        fixture_end(fixture);
    }
}

// An original that Kafka does not give in time may still be there: its event is neither refused nor sent with
// PostgreSQL's text of it.
static void
waits_for_originals_that_are_late(void **state)
{
    struct publisher_fixture *fixture = *state;
    for (int transactional = 0; transactional < 2; transactional++) {
        fixture_begin(fixture, 13);
        fixture->sim.wishes = (struct sim_wishes){
            .has_no_transactions = !transactional, .has_originals = true, .late_originals = 3};
        fixture_start(fixture);
        int failures = 0;
        for (int i = 0; i < 400 && fixture->sim.wishes.late_originals > 0; i++) {
            struct err err = {0};
            bool is_failed = sim_process_step(fixture->process, &err) == PUBLISHER_FAILED;
            bool is_late = publisher_failed_alone(fixture->process->publisher);
            assert_int_equal(is_late, is_failed);
            failures += is_late && err.kind == ERR_UNREACHABLE &&
                        (strstr(err.text, "no leader") || strstr(err.text, "not all be read"));
            assert_int_equal(fixture->sim.log_end, 0);
        }
        assert_int_equal(failures, 3);
        fixture_run_out(fixture);
        fixture_assert_ends(fixture, 0, SIM_EVENTS);
        fixture_end(fixture);
    }
}

// A batch holds no more than the smallest topic takes; a limit learnt in the middle needs another handle.
static void
learns_how_large_a_batch_may_be(void **state)
{
    struct publisher_fixture *fixture = *state;
    for (int transactional = 0; transactional < 2; transactional++) {
        fixture_begin(fixture, 12);
        fixture->sim.wishes = (struct sim_wishes){.has_no_transactions = !transactional, .limit = 2000};
        fixture_run_out(fixture); // each record is compared with its handle: sim_kafka.c
        assert_true(fixture->sim.is_limit_known);
        assert_int_equal(fixture->sim.events[SIM_EVENTS].fate, SIM_RESOLVED);
        fixture_end(fixture);
    }
}

// A record that is not taken in time while others are: once or twice an outage, three times its destination.
static void
blames_a_destination_at_the_third_time(void **state)
{
    struct publisher_fixture *fixture = *state;
    fixture->sim.wishes.late = 5;
    fixture_start(fixture);
    int failures = 0;
    for (int i = 0; i < 20000 && !sim_is_finished(&fixture->sim); i++) {
        failures += fixture_step(fixture) == PUBLISHER_FAILED;
        fixture_check(fixture);
    }
    assert_int_equal(failures, 2);
    fixture_assert_ends(fixture, 5, SIM_EVENTS);
}

// While an event has that fate.
static void
step_while(struct publisher_fixture *fixture, int64_t event, enum sim_fate fate)
{
    for (int i = 0; i < 3000 && fixture->sim.events[event].fate == fate; i++)
        fixture_step(fixture);
}

// A topic that refused an event takes it by now, and the slot was lost before the refusal was written down.
// The next attempt tries the event again, however often it was refused before.
static void
keeps_no_refusal_of_an_earlier_tenure(void **state)
{
    struct publisher_fixture *fixture = *state;
    for (int times = 1; times <= 4; times++) {
        fixture_begin(fixture, 42);
        struct sim_slot *slot = publish_some(fixture);
        fixture->sim.wishes.rejected = SIM_EVENTS;
        for (int i = 0; i < times; i++) {
            step_while(fixture, SIM_EVENTS, SIM_QUEUED);
            step_while(fixture, SIM_EVENTS, SIM_CLAIMED);
        }
        enum sim_fate then = fixture->sim.events[SIM_EVENTS].fate;
        slot->row.fence++;
        slot->holder[0] = '\0';
        fixture->sim.wishes.rejected = 0;
        step_to_the_end(fixture);
        fixture_end(fixture);
        assert_int_equal(fixture->sim.events[SIM_EVENTS].fate,
                         then == SIM_REFUSED ? SIM_REFUSED : SIM_RESOLVED);
    }
}

// It believes its reading of a marker while it holds the slot; with the slot acquired again it reads again.
static void
believes_nothing_of_an_earlier_tenure(void **state)
{
    struct publisher_fixture *fixture = *state;
    struct err err = {0};
    struct sim_slot *slot = publish_some(fixture);
    assert_true(step_until(fixture, PUBLISHER_FINISHED));
    assert_true(publisher_release(fixture->process->publisher, &err));
    snprintf(slot->offsets.marker.id, sizeof slot->offsets.marker.id, "somebody else");
    assert_true(step_until(fixture, PUBLISHER_NO_SLOT));
    assert_true(slot->is_suspended);
}

// Runs until the chunk in flight is committed in Kafka, and no further.
static struct sim_slot *
step_to_the_commit(struct publisher_fixture *fixture)
{
    struct sim_slot *slot = publish_some(fixture);
    while (!slot->chunk.exists || strcmp(slot->offsets.marker.id, slot->chunk.id) != 0)
        assert_int_not_equal(fixture_step(fixture), PUBLISHER_FAILED);
    return slot;
}

static enum publisher_status
step_until_finished_in_postgresql(struct publisher_fixture *fixture)
{
    enum publisher_status status = PUBLISHER_BUSY;
    while (fixture->sim.slots[0].chunk.exists)
        status = fixture_step(fixture);
    return status;
}

// A chunk that is proved needs its handle no longer. So the next epoch is asked for while PostgreSQL writes
// down the end, and the events are not kept until then.
static void
fences_its_next_epoch_before_it_finishes(void **state)
{
    struct publisher_fixture *fixture = *state;
    int ahead = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fixture_begin(fixture, seed);
        struct sim_slot *slot = step_to_the_commit(fixture);
        assert_false(publisher_has_events(fixture->process->publisher));
        assert_true(publisher_is_busy(fixture->process->publisher));
        int64_t epoch = slot->epoch;
        assert_int_equal(step_until_finished_in_postgresql(fixture), PUBLISHER_FINISHED);
        ahead += slot->epoch == epoch + 1;
        fixture_run_out(fixture);
        fixture_end(fixture);
    }
    assert_true(ahead > 0);
}

// That this fails is no reason not to write down what was published; it is tried again, and reported, then.
static void
finishes_where_the_next_handle_cannot_be_made(void **state)
{
    struct publisher_fixture *fixture = *state;
    step_to_the_commit(fixture);
    fixture->sim.wishes.failing_opens = 2;
    assert_int_equal(step_until_finished_in_postgresql(fixture), PUBLISHER_FINISHED);
    assert_int_equal(fixture->sim.wishes.failing_opens, 1);
    assert_true(step_until(fixture, PUBLISHER_FAILED));
    assert_int_equal(fixture->sim.wishes.failing_opens, 0);
    fixture_run_out(fixture);
}

// A commit that does not come to an end is given up in time, before the broker ends it by itself. Resolve
// finds out whether it took place, as after any other error.
static void
waits_for_a_commit_no_longer_than_its_deadline(void **state)
{
    struct publisher_fixture *fixture = *state;
    struct sim_slot *slot = claim_some(fixture);
    enum publisher_status status = PUBLISHER_BUSY;
    struct err err = {0};
    fixture->sim.wishes.stalls_commits = true;
    for (int i = 0; i < 1000 && status != PUBLISHER_FAILED; i++) {
        fixture->sim.now += 100000;
        status = sim_process_step(fixture->process, &err);
    }
    assert_int_equal(status, PUBLISHER_FAILED);
    assert_non_null(strstr(err.text, "did not commit within 15 s"));
    assert_true(slot->chunk.exists);
    fixture->sim.wishes.stalls_commits = false;
    fixture_run_out(fixture);
}

// Without transactions only the process that never handed an event to Kafka knows that. It requeues the event
// itself; otherwise the event would be in doubt.
static void
without_transactions_it_puts_back_what_it_did_not_send(void **state)
{
    struct publisher_fixture *fixture = *state;
    fixture->sim.wishes = (struct sim_wishes){.has_no_transactions = true, .failing_begins = 3};
    fixture_run_out(fixture);
    fixture_assert_ends(fixture, 0, SIM_EVENTS);
}

// A broker has confirmed a commit and lost it: only a marker that is read back finishes a chunk.
static void
finishes_only_what_is_read_back(void **state)
{
    struct publisher_fixture *fixture = *state;
    struct sim_slot *slot = publish_some(fixture);
    fixture->sim.wishes.forgets_commits = true;
    assert_false(step_until(fixture, PUBLISHER_FINISHED));
    fixture_check(fixture);
    fixture->sim.wishes.forgets_commits = false;
    fixture_run_out(fixture);
    assert_false(slot->is_suspended);
}

// One step without giving work.
static enum publisher_status
step_without_work(struct publisher_fixture *fixture, struct err *err)
{
    return publisher_step(fixture->process->publisher, NULL, 0, 10, err);
}

static void
step_until_ready(struct publisher_fixture *fixture)
{
    struct err err = {0};
    for (int i = 0; i < 200; i++)
        if (step_without_work(fixture, &err) == PUBLISHER_READY)
            return;
    fail_msg("it does not become ready");
}

// Every third of the lease, no oftener; a publisher that finds its slot taken over lets it go.
static void
keeps_its_lease(void **state)
{
    struct publisher_fixture *fixture = *state;
    struct err err = {0};
    struct sim_slot *slot = publish_some(fixture);
    step_until_ready(fixture);
    fixture->sim.beats = 0;
    for (int i = 0; i < 4; i++) {
        fixture->sim.now += 10 * US_PER_SECOND;
        assert_int_equal(step_without_work(fixture, &err), PUBLISHER_READY);
        assert_int_equal(step_without_work(fixture, &err), PUBLISHER_READY);
        assert_int_equal(fixture->sim.beats, i + 1);
    }
    slot->row.fence++;
    fixture->sim.now += 10 * US_PER_SECOND;
    assert_int_equal(step_without_work(fixture, &err), PUBLISHER_BUSY);
    assert_int_equal(publisher_slot(fixture->process->publisher), -1);
    assert_int_equal(publisher_tally(fixture->process->publisher)->fenced, 1);
}

static void
waits_for_a_transactional_id_no_longer_than_that(void **state)
{
    struct publisher_fixture *fixture = *state;
    publish_some(fixture);
    fixture->sim.wishes.stalls_init = true;
    int64_t start = fixture->sim.now;
    enum publisher_status status = PUBLISHER_BUSY;
    struct err err = {0};
    while (status != PUBLISHER_FAILED && fixture->sim.now - start < 60 * US_PER_SECOND) {
        fixture->sim.now += 100000;
        status = step_without_work(fixture, &err);
    }
    assert_int_equal(status, PUBLISHER_FAILED);
    assert_int_equal(err.kind, ERR_UNREACHABLE);
    int64_t waited = fixture->sim.now - start;
    assert_true(waited > 15 * US_PER_SECOND && waited < 20 * US_PER_SECOND);
    fixture->sim.wishes.stalls_init = false;
    assert_true(step_until(fixture, PUBLISHER_FINISHED));
}

static bool
has_chunk_in_flight(const struct publisher_fixture *fixture)
{
    for (int i = 0; i < SIM_SLOTS; i++)
        if (fixture->sim.slots[i].chunk.exists)
            return true;
    return false;
}

static void
without_transactions_it_holds_what_is_not_sure(void **state)
{
    struct publisher_fixture *fixture = *state;
    fixture->sim.wishes =
        (struct sim_wishes){.has_no_transactions = true, .dallies = true, .rejected = 3, .forbidden = 35};
    fixture_start(fixture);
    step_to_the_end(fixture);
    fixture_assert_ends(fixture, 3, 35);
    fixture_end(fixture);

    // The next one dies with a chunk in flight, and no proof is left.
    fixture_begin(fixture, 8);
    fixture->sim.wishes.has_no_transactions = true;
    fixture_start(fixture);
    while (!has_chunk_in_flight(fixture))
        fixture_step(fixture);
    fixture->sim.expiry_rate = 256;
    fixture_start_again(fixture);
    step_to_the_end(fixture);
    assert_true(fixture_count(fixture, SIM_IN_DOUBT) > 0);
}

// A record whose answer does not come may be in the topic: its chunk is in doubt, and none of it is sent
// again.
static void
without_transactions_it_holds_what_was_not_answered(void **state)
{
    struct publisher_fixture *fixture = *state;
    fixture->sim.wishes = (struct sim_wishes){.has_no_transactions = true, .dallies = true, .late = 5};
    fixture_start(fixture);
    step_to_the_end(fixture);
    assert_true(sim_is_finished(&fixture->sim));
    assert_true(publisher_tally(fixture->process->publisher)->in_doubt == 1);
    assert_int_equal(fixture->sim.events[5].fate, SIM_IN_DOUBT);
    assert_int_equal(fixture->sim.events[SIM_EVENTS].fate, SIM_RESOLVED);
}

#define situation(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

// Where the marker is lost as well, a search by time would pass over records of a clock that was set back.
static void
sends_nothing_where_topics_tell_no_ends(void **state)
{
    struct publisher_fixture *fixture = *state;
    fixture->sim.wishes.tells_no_ends = true;
    fixture_start(fixture);
    for (int i = 0; i < 300; i++)
        fixture_step(fixture);
    fixture_check(fixture);
    for (int64_t id = 1; id <= fixture->sim.event_count; id++)
        assert_int_equal(fixture->sim.events[id].copies, 0);
    assert_int_equal(fixture->sim.log_end, 0);

    fixture->sim.wishes.tells_no_ends = false;
    fixture_run_out(fixture);
    fixture_assert_ends(fixture, 0, fixture->sim.event_count);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_markers),
        situation(stops_when_postgresql_has_lost_work),
        situation(goes_on_when_the_slot_was_lost_before_the_marker_was_read),
        situation(gives_a_slot_without_marker_new_names),
        situation(never_takes_absence_for_an_abort),
        situation(suspends_the_slot_of_a_foreign_marker),
        situation(decides_nothing_while_the_marker_is_unstable),
        situation(sends_nothing_of_what_it_refuses),
        situation(waits_for_originals_that_are_late),
        situation(sends_nothing_by_a_wrong_clock),
        situation(sends_nothing_where_topics_tell_no_ends),
        situation(learns_how_large_a_batch_may_be),
        situation(blames_a_destination_at_the_third_time),
        situation(keeps_no_refusal_of_an_earlier_tenure),
        situation(believes_nothing_of_an_earlier_tenure),
        situation(waits_for_a_commit_no_longer_than_its_deadline),
        situation(without_transactions_it_puts_back_what_it_did_not_send),
        situation(finishes_only_what_is_read_back),
        situation(fences_its_next_epoch_before_it_finishes),
        situation(finishes_where_the_next_handle_cannot_be_made),
        situation(keeps_its_lease),
        situation(waits_for_a_transactional_id_no_longer_than_that),
        situation(without_transactions_it_holds_what_is_not_sure),
        situation(without_transactions_it_holds_what_was_not_answered),
    };
    return cmocka_run_group_tests_name("publisher", tests, NULL, NULL);
}
