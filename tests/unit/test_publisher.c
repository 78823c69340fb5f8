// The publisher's state machine in single situations: what a marker says, what is lost, in_doubt, refused or
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
#include "tests/unit/fake.h"

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
        {{true, 7, "seven"}, VERDICT_FINISHED, VERDICT_FINISHED},
        {{true, 7, "other"}, VERDICT_FOREIGN, VERDICT_FOREIGN},
        {{true, 8, "eight"}, VERDICT_AHEAD, VERDICT_COMMITTED},
        {{true, 8, "other"}, VERDICT_AHEAD, VERDICT_FOREIGN},
        {{true, 9, "nine"}, VERDICT_AHEAD, VERDICT_AHEAD},
        {{true, 6, "six"}, VERDICT_FOREIGN, VERDICT_FOREIGN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(marker_judge(&slot, &none, &cases[i].marker), cases[i].idle);
        assert_int_equal(marker_judge(&slot, &eight, &cases[i].marker), cases[i].busy);
    }
}

// Steps one publisher until `wanted`, at most 200 times.
static bool
step_until(struct process *process, enum publisher_status wanted)
{
    for (int i = 0; i < 200; i++) {
        struct err err = {0};
        enum publisher_status status = publisher_step(process->publisher, NULL, 0, 10, &err);
        if (status == wanted)
            return true;
        if (status == PUBLISHER_READY)
            publisher_assign(process->publisher, 1, 10);
    }
    return false;
}

// Until every event has its end, or for so long that one of them never will.
static void
step_to_the_end(struct process *process)
{
    for (int i = 0; i < 3000 && !fake_is_finished(process->fake); i++) {
        struct err err = {0};
        process_step(process, &err);
        fake_check_invariants(process->fake);
    }
}

// A slot that has published, and nobody who holds it.
static void
publish_some(struct fake *fake, struct process *process)
{
    fake_begin_run(fake, 42);
    for (int i = 1; i < FAKE_SLOTS; i++)
        fake->slots[i].is_quarantined = true;
    process_start(process, fake);
    assert_true(step_until(process, PUBLISHER_FINISHED));
    publisher_destroy(process->publisher);
    fake->slots[0].holder[0] = '\0';
    process_start(process, fake);
}

static void
stops_when_postgresql_has_lost_work(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    fake.slots[0].marker.seq += 3; // what Kafka knows and PostgreSQL has forgotten
    assert_true(step_until(&process, PUBLISHER_STOPPED));
    assert_true(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

// Between its look at the slot and at the marker another one took the slot and published: what it sees then
// is not lost work, and its fence has moved.
static void
goes_on_when_the_slot_was_lost_before_the_marker_was_read(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    struct err err = {0};
    while (!fake.slots[0].has_nonce || !fake.slots[0].holder[0])
        process_step(&process, &err);
    fake.slots[0].pg.fence++;
    fake.slots[0].marker.seq = fake.slots[0].pg.finished_seq = ++fake.slots[0].next_seq;
    snprintf(fake.slots[0].marker.id, sizeof fake.slots[0].marker.id, "other");
    snprintf(fake.slots[0].pg.finished_id, UUID_TEXT, "other");
    assert_true(step_until(&process, PUBLISHER_FINISHED));
    assert_false(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

static void
gives_a_slot_without_marker_new_names(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    fake.slots[0].marker.is_present = false; // expired
    assert_true(step_until(&process, PUBLISHER_FINISHED));
    assert_int_equal(fake.slots[0].pg.generation, 2);
    publisher_destroy(process.publisher);
}

static void
never_takes_absence_for_an_abort(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    while (!fake.slots[0].chunk.exists) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    fake.slots[0].holder[0] = '\0';
    fake.slots[0].marker.is_present = false;
    process_start(&process, &fake);
    assert_true(step_until(&process, PUBLISHER_NO_SLOT));
    assert_true(fake.slots[0].is_quarantined);
    int in_doubt = 0;
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        in_doubt += fake.items[id].fate == HELD;
    assert_true(in_doubt > 0);
    publisher_destroy(process.publisher);
}

static void
suspends_the_slot_of_a_foreign_marker(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    snprintf(fake.slots[0].marker.id, sizeof fake.slots[0].marker.id, "somebody else");
    assert_true(step_until(&process, PUBLISHER_NO_SLOT));
    assert_true(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

static void
decides_nothing_while_the_marker_is_unstable(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    while (!fake.slots[0].chunk.exists) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    fake.slots[0].holder[0] = '\0';
    fake.stops_reads = true;
    process_start(&process, &fake);
    int failures = 0;
    for (int i = 0; i < 100000; i++) {
        struct err err = {0};
        enum publisher_status status = process_step(&process, &err);
        assert_true(status != PUBLISHER_FINISHED && status != PUBLISHER_REQUEUED &&
                    status != PUBLISHER_READY);
        failures += status == PUBLISHER_FAILED && err.kind == ERR_UNREACHABLE;
    }
    // It says so now and then, and tries once each time to end what hangs there.
    assert_true(failures > 1);
    assert_true(fake.nudges >= failures && fake.nudges <= failures + 1);
    assert_true(fake.slots[0].chunk.exists);
    fake.stops_reads = false;
    publisher_destroy(process.publisher);
    fake_run_out(&fake);
}

// What cannot be sent is refused before anything of its chunk is; the others go.
static void
sends_nothing_of_what_it_refuses(void **state)
{
    (void)state;
    for (int transactional = 0; transactional < 2; transactional++) {
        struct fake fake;
        fake_begin_run(&fake, 11);
        fake.is_transactional = transactional;
        fake.has_forbidden = false;
        fake.forbidden = 20;
        fake_run_out(&fake);
        for (int64_t id = 1; id <= FAKE_ITEMS; id++)
            assert_int_equal(fake.items[id].fate, id > 20 ? REFUSED : DONE);
    }
}

// A batch holds no more than the smallest topic takes; learnt in the middle, it asks for another handle.
static void
learns_how_large_a_batch_may_be(void **state)
{
    (void)state;
    for (int transactional = 0; transactional < 2; transactional++) {
        struct fake fake;
        fake_begin_run(&fake, 12);
        fake.is_transactional = transactional;
        fake.limit = 2000;
        fake_run_out(&fake); // each record says so: fake_kafka.c
        assert_true(fake.is_limit_known);
        assert_int_equal(fake.items[FAKE_ITEMS].fate, DONE);
    }
}

// A record that is not taken in time while others are: once or twice an outage, three times its destination.
static void
blames_a_destination_at_the_third_time(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    fake_begin_run(&fake, 13);
    fake.late = 5;
    process_start(&process, &fake);
    int failures = 0;
    for (int i = 0; i < 20000 && !fake_is_finished(&fake); i++) {
        struct err err = {0};
        enum publisher_status status = publisher_step(process.publisher, NULL, 0, 10, &err);
        failures += status == PUBLISHER_FAILED;
        if (status == PUBLISHER_READY)
            publisher_assign(process.publisher, 1, 10);
        fake_check_invariants(&fake);
    }
    publisher_destroy(process.publisher);
    assert_int_equal(failures, 2);
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        assert_int_equal(fake.items[id].fate, id == 5 ? REFUSED : DONE);
}

// While an event is in that state.
static void
step_while(struct process *process, int64_t event, enum fate fate)
{
    struct err err = {0};
    for (int i = 0; i < 3000 && process->fake->items[event].fate == fate; i++)
        process_step(process, &err);
}

// A topic that refused an event takes it by now, and the slot was lost before the refusal was written down:
// who begins again tries it again, whichever time that was.
static void
keeps_no_refusal_of_an_earlier_tenure(void **state)
{
    (void)state;
    for (int times = 1; times <= 4; times++) {
        struct fake fake;
        struct process process;
        publish_some(&fake, &process);
        fake.poison = FAKE_ITEMS;
        for (int i = 0; i < times; i++) {
            step_while(&process, fake.poison, QUEUED);
            step_while(&process, fake.poison, CLAIMED);
        }
        enum fate then = fake.items[FAKE_ITEMS].fate;
        fake.slots[0].pg.fence++;
        fake.slots[0].holder[0] = '\0';
        fake.poison = 0;
        step_to_the_end(&process);
        publisher_destroy(process.publisher);
        assert_int_equal(fake.items[FAKE_ITEMS].fate, then == REFUSED ? REFUSED : DONE);
    }
}

// What it saw of a slot holds while it has the slot; when it comes again it looks again.
static void
believes_nothing_of_an_earlier_tenure(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    struct err err = {0};
    publish_some(&fake, &process);
    assert_true(step_until(&process, PUBLISHER_FINISHED));
    assert_true(publisher_release(process.publisher, &err));
    snprintf(fake.slots[0].marker.id, sizeof fake.slots[0].marker.id, "somebody else");
    assert_true(step_until(&process, PUBLISHER_NO_SLOT));
    assert_true(fake.slots[0].is_quarantined);
    publisher_destroy(process.publisher);
}

// Runs until the chunk in flight is committed in Kafka, and no further.
static void
step_to_the_commit(struct process *process)
{
    const struct fake_slot *slot = &process->fake->slots[0];
    struct err err = {0};
    while (!slot->chunk.exists || strcmp(slot->marker.id, slot->chunk.id) != 0)
        assert_int_not_equal(process_step(process, &err), PUBLISHER_FAILED);
}

// What is proved needs its handle no longer, so the next epoch is asked for while PostgreSQL writes it down;
// and the events are not kept until then.
static void
fences_its_next_epoch_before_it_finishes(void **state)
{
    (void)state;
    int ahead = 0;
    for (int seed = 0; seed < 20; seed++) {
        struct fake fake;
        struct process process;
        struct err err = {0};
        publish_some(&fake, &process);
        fake.state += (uint64_t)seed;
        step_to_the_commit(&process);
        assert_false(publisher_has_events(process.publisher));
        assert_true(publisher_is_busy(process.publisher));
        int64_t epoch = fake.slots[0].epoch;
        enum publisher_status status = PUBLISHER_BUSY;
        while (fake.slots[0].chunk.exists)
            status = process_step(&process, &err);
        assert_int_equal(status, PUBLISHER_FINISHED);
        ahead += fake.slots[0].epoch == epoch + 1;
        publisher_destroy(process.publisher);
        fake_run_out(&fake);
        fake_check_invariants(&fake);
    }
    assert_true(ahead > 0);
}

// That this fails is no reason not to write down what was published; it is tried again, and told, afterwards.
static void
finishes_where_the_next_handle_cannot_be_made(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    struct err err = {0};
    publish_some(&fake, &process);
    step_to_the_commit(&process);
    fake.failing_opens = 2;
    enum publisher_status status = PUBLISHER_BUSY;
    while (fake.slots[0].chunk.exists)
        status = process_step(&process, &err);
    assert_int_equal(status, PUBLISHER_FINISHED);
    assert_int_equal(fake.failing_opens, 1);
    assert_true(step_until(&process, PUBLISHER_FAILED));
    assert_int_equal(fake.failing_opens, 0);
    publisher_destroy(process.publisher);
    fake_run_out(&fake);
    fake_check_invariants(&fake);
}

// A commit that does not come to an end is given up in time, before the broker ends it by itself; whether it
// took place is found out like after any other end.
static void
waits_for_a_commit_no_longer_than_its_deadline(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    enum publisher_status status = PUBLISHER_BUSY;
    struct err err = {0};
    while (!fake.slots[0].chunk.exists)
        process_step(&process, &err);
    fake.stalls_commits = true;
    for (int i = 0; i < 1000 && status != PUBLISHER_FAILED; i++) {
        fake.now += 100000;
        status = process_step(&process, &err);
    }
    assert_int_equal(status, PUBLISHER_FAILED);
    assert_non_null(strstr(err.text, "did not commit within 15 s"));
    assert_true(fake.slots[0].chunk.exists);
    fake.stalls_commits = false;
    publisher_destroy(process.publisher);
    fake_run_out(&fake);
    fake_check_invariants(&fake);
}

// Without transactions, what was never handed to Kafka is put back by the one who knows that: nobody else
// could, and it would be in doubt.
static void
without_transactions_it_puts_back_what_it_did_not_send(void **state)
{
    (void)state;
    struct fake fake;
    fake_begin_run(&fake, 14);
    fake.is_transactional = false;
    fake.failing_begins = 3;
    fake_run_out(&fake);
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        assert_int_equal(fake.items[id].fate, DONE);
}

// A broker has confirmed a commit and lost it: what is not read back is not finished.
static void
finishes_only_what_is_read_back(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    fake.forgets_commits = true;
    assert_false(step_until(&process, PUBLISHER_FINISHED));
    fake_check_invariants(&fake);
    fake.forgets_commits = false;
    publisher_destroy(process.publisher);
    fake_run_out(&fake);
    assert_false(fake.slots[0].is_quarantined);
}

static void
step_until_ready(struct process *process)
{
    struct err err = {0};
    for (int i = 0; i < 200; i++)
        if (publisher_step(process->publisher, NULL, 0, 10, &err) == PUBLISHER_READY)
            return;
    fail_msg("it does not become ready");
}

// Every third of the lease, no oftener; who finds that the slot is another's lets it go.
static void
keeps_its_lease(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    struct err err = {0};
    publish_some(&fake, &process);
    step_until_ready(&process);
    fake.beats = 0;
    for (int i = 0; i < 4; i++) {
        fake.now += 10 * US_PER_SECOND;
        assert_int_equal(publisher_step(process.publisher, NULL, 0, 10, &err), PUBLISHER_READY);
        assert_int_equal(publisher_step(process.publisher, NULL, 0, 10, &err), PUBLISHER_READY);
        assert_int_equal(fake.beats, i + 1);
    }
    fake.slots[0].pg.fence++;
    fake.now += 10 * US_PER_SECOND;
    assert_int_equal(publisher_step(process.publisher, NULL, 0, 10, &err), PUBLISHER_BUSY);
    assert_int_equal(publisher_slot(process.publisher), -1);
    assert_int_equal(publisher_tally(process.publisher)->fenced, 1);
    publisher_destroy(process.publisher);
}

static void
waits_for_a_transactional_id_no_longer_than_that(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    publish_some(&fake, &process);
    fake.stalls_init = true;
    int64_t start = fake.now;
    enum publisher_status status = PUBLISHER_BUSY;
    struct err err = {0};
    while (status != PUBLISHER_FAILED && fake.now - start < 60 * US_PER_SECOND) {
        fake.now += 100000;
        status = publisher_step(process.publisher, NULL, 0, 10, &err);
    }
    assert_int_equal(status, PUBLISHER_FAILED);
    assert_int_equal(err.kind, ERR_UNREACHABLE);
    assert_true(fake.now - start > 15 * US_PER_SECOND && fake.now - start < 20 * US_PER_SECOND);
    fake.stalls_init = false;
    assert_true(step_until(&process, PUBLISHER_FINISHED));
    publisher_destroy(process.publisher);
}

static void
without_transactions_it_holds_what_is_not_sure(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    fake_begin_run(&fake, 7);
    fake.is_transactional = false;
    fake.poison = 3;
    fake.forbidden = 35;
    process_start(&process, &fake);
    step_to_the_end(&process);
    publisher_destroy(process.publisher);
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        assert_int_equal(fake.items[id].fate, id == 3 || id > 35 ? REFUSED : DONE);

    // The next one dies with a chunk in flight: nobody can know.
    fake_begin_run(&fake, 8);
    fake.is_transactional = false;
    process_start(&process, &fake);
    while (!fake.slots[0].chunk.exists && !fake.slots[1].chunk.exists && !fake.slots[2].chunk.exists) {
        struct err err = {0};
        process_step(&process, &err);
    }
    publisher_destroy(process.publisher);
    fake.expiry_percent = 100;
    process_start(&process, &fake);
    step_to_the_end(&process);
    publisher_destroy(process.publisher);
    int in_doubt = 0;
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        in_doubt += fake.items[id].fate == HELD;
    assert_true(in_doubt > 0);
}

// A record whose answer does not come may be there: its chunk is in_doubt, and nothing of it is sent again.
static void
without_transactions_it_holds_what_was_not_answered(void **state)
{
    (void)state;
    struct fake fake;
    struct process process;
    fake_begin_run(&fake, 9);
    fake.is_transactional = false;
    fake.late = 5;
    process_start(&process, &fake);
    step_to_the_end(&process);
    assert_true(fake_is_finished(&fake));
    assert_true(publisher_tally(process.publisher)->in_doubt == 1);
    publisher_destroy(process.publisher);
    assert_int_equal(fake.items[5].fate, HELD);
    assert_int_equal(fake.items[FAKE_ITEMS].fate, DONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_markers),
        cmocka_unit_test(stops_when_postgresql_has_lost_work),
        cmocka_unit_test(goes_on_when_the_slot_was_lost_before_the_marker_was_read),
        cmocka_unit_test(gives_a_slot_without_marker_new_names),
        cmocka_unit_test(never_takes_absence_for_an_abort),
        cmocka_unit_test(suspends_the_slot_of_a_foreign_marker),
        cmocka_unit_test(decides_nothing_while_the_marker_is_unstable),
        cmocka_unit_test(sends_nothing_of_what_it_refuses),
        cmocka_unit_test(learns_how_large_a_batch_may_be),
        cmocka_unit_test(blames_a_destination_at_the_third_time),
        cmocka_unit_test(keeps_no_refusal_of_an_earlier_tenure),
        cmocka_unit_test(believes_nothing_of_an_earlier_tenure),
        cmocka_unit_test(waits_for_a_commit_no_longer_than_its_deadline),
        cmocka_unit_test(without_transactions_it_puts_back_what_it_did_not_send),
        cmocka_unit_test(finishes_only_what_is_read_back),
        cmocka_unit_test(fences_its_next_epoch_before_it_finishes),
        cmocka_unit_test(finishes_where_the_next_handle_cannot_be_made),
        cmocka_unit_test(keeps_its_lease),
        cmocka_unit_test(waits_for_a_transactional_id_no_longer_than_that),
        cmocka_unit_test(without_transactions_it_holds_what_is_not_sure),
        cmocka_unit_test(without_transactions_it_holds_what_was_not_answered),
    };
    return cmocka_run_group_tests_name("publisher", tests, NULL, NULL);
}
