// The turn: what Kafka's means to a database, and how a worker takes one (publish/turn.c; worker_turn.c runs
// it).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "publish/turn.h"
#include "tests/unit/publisher_fixture.h"

static struct marker
marker_of(int64_t seq, const char *id)
{
    struct marker marker = {.is_present = seq > 0, .seq = seq};
    snprintf(marker.id, sizeof marker.id, "%s", id);
    return marker;
}

static void
judges_turns(void **state)
{
    (void)state;
    const struct turn none = {0};
    const struct turn first = {.last = {1, "a"}};                       // never seen in Kafka
    const struct turn written = {.last = {7, "g"}, .before = {6, "f"}}; // nor this one
    const struct turn seen = {.last = {7, "g"}, .before = {6, "f"}, .is_confirmed = true};
    const struct turn seen_first = {.last = {1, "a"}, .is_confirmed = true};
    const struct turn resumed = {.last = {7, "g"},
                                 .before = {4, "d"}}; // two turns ended between their writes
    const struct {
        const char *what;
        const struct turn *turn;
        int64_t no;
        const char *id;
        enum turn_verdict verdict;
    } cases[] = {
        {"a new install", &none, 0, "", TURN_AGREES},
        {"a database from before the first turn", &none, 1, "a", TURN_ELSEWHERE},
        {"the first turn, not committed", &first, 0, "", TURN_CONTINUES},
        {"the first turn, committed", &first, 1, "a", TURN_AGREES},
        {"the first turn, expired", &seen_first, 0, "", TURN_GONE},
        {"agreement", &seen, 7, "g", TURN_AGREES},
        {"a turn that was not committed", &written, 6, "f", TURN_CONTINUES},
        {"a turn that was committed and not noted", &written, 7, "g", TURN_AGREES},
        {"Kafka lost a turn", &seen, 6, "f", TURN_PASSED},
        {"an old turn that nobody remembers", &seen, 3, "c", TURN_PASSED},
        {"the same number by another database", &seen, 7, "other", TURN_ELSEWHERE},
        {"the same number, while ours was not committed", &written, 7, "other", TURN_ELSEWHERE},
        {"a later one", &seen, 8, "h", TURN_ELSEWHERE},
        {"expired or deleted", &seen, 0, "", TURN_GONE},
        {"expired or deleted, while one is written", &written, 0, "", TURN_GONE},
        {"two in a row that were not committed", &resumed, 4, "d", TURN_CONTINUES},
        {"one between them", &resumed, 5, "e", TURN_PASSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct marker kafka = marker_of(cases[i].no, cases[i].id);
        if (turn_judge(cases[i].turn, &kafka) != cases[i].verdict)
            fail_msg("%s: verdict %d", cases[i].what, (int)turn_judge(cases[i].turn, &kafka));
    }
}

static void
knows_what_is_ahead(void **state)
{
    (void)state;
    const struct turn_slot idle = {.slot = {.finished_seq = 7, .finished_id = "seven"}};
    struct turn_slot busy = idle;
    busy.unfinished = (struct chunk){.exists = true, .seq = 8, .id = "eight"};
    const struct {
        int64_t seq;
        const char *id;
        bool of_idle, of_busy;
    } cases[] = {{0, "", false, false},     {6, "six", false, false}, {7, "seven", false, false},
                 {8, "eight", true, false}, {8, "other", true, true}, {9, "nine", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct marker marker = marker_of(cases[i].seq, cases[i].id);
        assert_int_equal(turn_is_ahead(&idle, &marker), cases[i].of_idle);
        assert_int_equal(turn_is_ahead(&busy, &marker), cases[i].of_busy);
    }
}

// A world in which turns are taken; nobody has had one.
static int
turns_set_up(void **state)
{
    if (fixture_set_up(state))
        return 1;
    struct sim *sim = &((struct publisher_fixture *)*state)->sim;
    sim->has_turns = true;
    sim->slots[SIM_TURNS].row.no = SIM_TURNS;
    sim->is_quiet = true;
    sim->endless = 0;
    sim_process_start(sim, 0);
    sim_process_start(sim, 1);
    return 0;
}

static struct sim *
sim_in(void **state)
{
    return &((struct publisher_fixture *)*state)->sim;
}

// Steps this worker until it has its turn; false: it stops, or does not get there.
static bool
takes_turn(struct sim *sim, int which)
{
    struct sim_process *process = &sim->processes[which];
    for (int i = 0; i < 200 && !process->has_turn && !process->is_stopped; i++) {
        struct err err = {0};
        sim_process_step(process, &err);
    }
    return process->has_turn;
}

static void
takes_the_first_turn_and_the_next(void **state)
{
    struct sim *sim = sim_in(state);
    assert_true(takes_turn(sim, 0));
    assert_int_equal(sim->turn.last.no, 1);
    assert_int_equal(sim->turn.finished_no, 1);
    assert_int_equal(sim->slots[SIM_TURNS].offsets.marker.seq, 1);
    assert_true(takes_turn(sim, 1));
    assert_int_equal(sim->turn.last.no, 2);
    assert_int_equal(sim->turn.before.no, 1);
    for (int i = 0; i < SIM_SLOTS; i++) // fenced by both
        assert_int_equal(sim->slots[i].epoch, 2);
}

static void
shares_a_turn_that_another_worker_takes(void **state)
{
    struct sim *sim = sim_in(state);
    struct err err = {0};
    sim->is_quiet = false; // the holder's lease holds
    sim_process_step(&sim->processes[0], &err);
    sim_process_step(&sim->processes[1], &err);
    assert_true(takes_turn(sim, 0));
    assert_true(takes_turn(sim, 1));
    assert_int_equal(sim->turn.last.no, 1);
}

// Killed between the write in PostgreSQL and the commit to Kafka, any number of times.
static void
goes_on_after_a_turn_that_ended_in_the_middle(void **state)
{
    struct sim *sim = sim_in(state);
    assert_true(takes_turn(sim, 0));
    for (int n = 0; n < 3; n++) {
        int64_t before = sim->turn.last.no;
        sim_process_end(sim, 0);
        sim_process_start(sim, 0);
        while (sim->turn.last.no == before) {
            struct err err = {0};
            sim_process_step(&sim->processes[0], &err);
        }
    }
    assert_int_equal(sim->turn.last.no, 4);
    assert_int_equal(sim->slots[SIM_TURNS].offsets.marker.seq, 1);
    assert_true(takes_turn(sim, 1));
    assert_int_equal(sim->slots[SIM_TURNS].offsets.marker.seq, 5);
}

static void
stops_where_another_database_took_the_turn(void **state)
{
    struct sim *sim = sim_in(state);
    assert_true(takes_turn(sim, 0));
    sim->slots[SIM_TURNS].offsets.marker = marker_of(2, "other");
    assert_false(takes_turn(sim, 1));
    assert_int_equal(sim->turn.stop, STOP_ELSEWHERE);
    assert_int_equal(sim->turn.last.no, 1);
}

static void
stops_where_the_turn_is_gone(void **state)
{
    struct sim *sim = sim_in(state);
    assert_true(takes_turn(sim, 0));
    sim->slots[SIM_TURNS].offsets = (struct sim_offsets){0};
    assert_false(takes_turn(sim, 1));
    assert_int_equal(sim->turn.stop, STOP_GONE);
}

// A database that is older within one turn. It is found before its turn disturbs anybody.
static void
stops_where_a_marker_is_ahead(void **state)
{
    struct sim *sim = sim_in(state);
    assert_true(takes_turn(sim, 0));
    sim->slots[1].offsets.marker = marker_of(3, "three");
    assert_false(takes_turn(sim, 1));
    assert_int_equal(sim->turn.stop, STOP_AHEAD);
    assert_int_equal(sim->turn.last.no, 1);
    assert_int_equal(sim->slots[1].epoch, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_turns),
        cmocka_unit_test(knows_what_is_ahead),
        cmocka_unit_test_setup_teardown(takes_the_first_turn_and_the_next, turns_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(shares_a_turn_that_another_worker_takes, turns_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(goes_on_after_a_turn_that_ended_in_the_middle, turns_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(stops_where_another_database_took_the_turn, turns_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(stops_where_the_turn_is_gone, turns_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(stops_where_a_marker_is_ahead, turns_set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
