// Payloads that are wrong, mended by keys alone: the demo's broken orders lie in Kafka. The operator opens
// the first one where it hurts, mends it, sees the difference, makes a recipe of the edit, tries it on all,
// applies it and sends them; the demo's consumer, which fails what is still wrong, takes every one, and every
// byte outside the edit is the original's. Likewise by a recipe that also sends, when no screen is open. And
// two operators who correct the same event at the same moment.
#include <signal.h>
#include <unistd.h>
#include "tests/acceptance/mending.h"
#include "tests/acceptance/screen.h"
#include "tests/store/actors.h"

static struct running
start_worker(const struct mending *mending)
{
    return program_start(redrive_program(), (const char *const[]){"work", "-d", mending->world.conninfo, "-b",
                                                                  test_kafka(), NULL});
}

static void
open_first_event(struct screen *screen, const char *count)
{
    screen_see(screen, count); // of the groups
    screen_press(screen, "<Enter>");
    screen_see(screen, "OrderPlaced");
    screen_press(screen, "e");
    screen_see(screen, "exact: the bytes of the record"); // which a worker has read
}

// From the edited text to the recipe's dry run.
static void
make_recipe(struct screen *screen, const char *change, const char *operation, const char *applies)
{
    screen_press(screen, "<C-s>");
    screen_see(screen, change);
    screen_press(screen, "<Enter>");
    screen_see(screen, "save and make a recipe of it");
    screen_press(screen, "m");
    screen_confirm(screen, &(struct screen_answers){.button = "Save", .reason = "INC-4711"});
    screen_see(screen, applies);
    screen_see(screen, operation);
    screen_see(screen, "unchanged 1"); // the one that was mended by hand
}

// Applies it to all of them, goes back to the list and sends them.
static void
apply_and_send(struct screen *screen, const char *count, const char *changed, const char *sent)
{
    screen_press(screen, "<Enter>");
    screen_confirm(screen, &(struct screen_answers){"Apply recipe", "INC-4711", .count = count});
    screen_see(screen, changed);
    screen_press(screen, "q");
    screen_see(screen, "revision 1 by");
    screen_press(screen, "<C-q>");
    screen_see(screen, "newest first");
    screen_press(screen, "A");
    screen_see(screen, "sel ");
    screen_press(screen, "R");
    screen_confirm(screen, &(struct screen_answers){"Reprocess", "INC-4711", .count = count});
    screen_see(screen, sent);
}

static void
mend_the_amounts(struct screen *screen)
{
    open_first_event(screen, "220 pending in 2 groups");
    screen_see(screen, "Jackson names $.lines[3].amount");
    screen_see(screen, "amount is text here and a number in all 320 events of this type");
    screen_see(screen, "\"756,54\"");
    screen_press(screen, "<Del><Right><Right><Right><Del>.<Right><Right><Del>"); // the cursor stood on it
    screen_see(screen, " 756.54,");
    screen_press(screen, "<A-n>"); // the next one that departs from the others
    screen_see(screen, "$.lines[4].amount");
    screen_press(screen, "<Del><Right><Right><Right><Del>.<Right><Right><Del>");
    screen_see(screen, " 796.78,");
    make_recipe(screen, "2 values changed", "to-number $.lines[*].amount", "applies 199");
    if (vt_shows(screen->vt, "departs")) // corrected, they are as all others of the type
        screen_give_up(screen, "departs");
    apply_and_send(screen, "200", "done, 199 corrected, 1 unchanged", "done, watching 200");
}

static void
mend_the_addresses(struct screen *screen)
{
    screen_press(screen, "1"); // from the events of the other group
    screen_press(screen, "r");
    open_first_event(screen, " 20 pending in 1 group");
    screen_see(screen, "jsonschema names postal_code, which is missing here");
    screen_see(screen, "postal_code is missing here and present in");
    screen_press(screen, "\"postal_code\":12345,  "); // the cursor is where it is missing
    screen_press(screen, "<C-s>");
    screen_see(screen, "postal_code is a number here and text in"); // the difference warns of it
    screen_press(screen, "q<BS><BS><BS><BS><BS><BS><BS><BS>");
    screen_press(screen, "\"00000-000\",  ");
    make_recipe(screen, "1 key added", "default $.address.postal_code \"00000-000\"", "applies 19");
    apply_and_send(screen, NULL, "done, 19 corrected, 1 unchanged", "done, watching 20");
}

static void
keys_mend_every_order(void **state)
{
    (void)state;
    struct mending mending = {0};
    struct screen screen = {0};
    char said[PROGRAM_ROOM];
    mending_begin(&mending);
    PGconn *admin = mending.world.admin;
    struct running worker = start_worker(&mending);
    screen_open(&screen, mending.world.conninfo, NULL); // which has no Kafka

    mend_the_amounts(&screen);
    program_await(&mending.consumer, "consumed 200, failed again 0");
    mend_the_addresses(&screen);
    program_await(&mending.consumer, "consumed 220, failed again 0");

    screen_close(&screen);
    kill(worker.pid, SIGTERM);
    assert_int_equal(program_end(&worker, said), 0);
    assert_int_equal(events_in(&mending.world, "RESOLVED"), MENDING_CLOSED + MENDING_ALL);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.revision WHERE no = 1"), MENDING_ALL);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.revision"), MENDING_ALL);
    mending_check_bytes(&mending, &(struct mended){.rows = MENDING_ALL, .by_hand = MENDING_ALL});
    mending_end(&mending);
}

// --- a recipe that also sends ---

// A recipe for the larger group, to be sent as well, is confirmed on a screen that is closed at once.
static void
confirm_and_leave(const struct mending *mending)
{
    struct screen screen = {0};
    screen_open(&screen, mending->world.conninfo, NULL);
    screen_see(&screen, "220 pending in 2 groups");
    screen_press(&screen, "C");
    screen_see(&screen, "write a new one");
    screen_press(&screen, "n");
    screen_press(&screen, "to-number $.lines[*].amount<Enter>");
    screen_see(&screen, "applies 200");
    screen_press(&screen, "<Enter>");
    screen_confirm(&screen,
                   &(struct screen_answers){"Apply recipe", "INC-4711", .count = "200", .send = "50/s"});
    screen_see(&screen, "operation 1");
    screen_close(&screen);
}

static void
await_number(PGconn *admin, const char *sql, int64_t least)
{
    int64_t end = clock_mono() + 60 * US_PER_SECOND;
    while (test_number(admin, sql) < least) {
        if (clock_mono() > end)
            fail_msg("less than %lld after a minute: %s", (long long)least, sql);
        usleep(20000);
    }
}

// Nobody looks on, and the worker is killed in the middle: another one goes on.
static void
what_a_recipe_corrected_is_sent_with_no_screen_open(void **state)
{
    (void)state;
    struct mending mending = {0};
    char said[PROGRAM_ROOM];
    mending_begin(&mending);
    PGconn *admin = mending.world.admin;
    confirm_and_leave(&mending);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.revision"), 0); // no worker has run yet

    struct running killed = start_worker(&mending);
    await_number(admin, "SELECT max(done) FROM redrive.operation WHERE action = 'reprocess'", 40);
    kill(killed.pid, SIGKILL);
    (void)program_end(&killed, said);
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.revision"), MENDING_COMMAS);
    assert_in_range(events_in(&mending.world, "RESOLVED"), MENDING_CLOSED + 1,
                    MENDING_CLOSED + MENDING_COMMAS - 1);

    struct running worker = start_worker(&mending);
    program_await(&mending.consumer, "consumed 200, failed again 0");
    await_number(admin, "SELECT count(*) FROM redrive.operation WHERE state = 'done'", 2);
    kill(worker.pid, SIGTERM);
    assert_int_equal(program_end(&worker, said), 0);
    assert_string_equal(test_text(admin, "SELECT string_agg(action || ' ' || total || ' ' || done || ' ' || "
                                         "reason, ', ' ORDER BY no) FROM redrive.operation"),
                        "correct 200 200 INC-4711, reprocess 200 200 INC-4711");
    assert_int_equal(events_in(&mending.world, "RESOLVED"), MENDING_CLOSED + MENDING_COMMAS);
    mending_check_bytes(&mending, &(struct mended){.rows = MENDING_COMMAS});
    mending_end(&mending);
}

// --- two operators ---

enum { OLGA, OTTO, OPERATORS };

// Up to the key that saves.
static void
edit_the_same(struct screen *screen, const char *conninfo, const char *edit)
{
    screen_open(screen, conninfo, NULL);
    screen_see(screen, "live");
    screen_press(screen, "2");
    screen_press(screen, "/event-id:=evt-7<Enter>");
    screen_see(screen, "1/1 of ");
    screen_press(screen, "e");
    screen_see(screen, "\"order\": 7}");
    screen_press(screen, edit);
    screen_press(screen, "<C-s>");
    screen_see(screen, "1 value changed");
    screen_press(screen, "<Enter>");
    screen_see(screen, "save and make a recipe of it");
    screen_press(screen, "s");
    screen_see(screen, "Save");
    screen_press(screen, "INC-4711<Tab>");
    screen_see(screen, "[ Save ]");
}

// Both have read the same event; what a save waits for is held until both wait for it.
static void
save_at_the_same_moment(struct screen screens[OPERATORS])
{
    PGconn *admin = actors.world.admin;
    test_sql(admin, "BEGIN; SELECT FROM redrive.freeze_turn FOR UPDATE");
    for (int i = 0; i < OPERATORS; i++)
        vt_keys(screens[i].vt, "<Enter>");
    int64_t end = clock_mono() + 30 * US_PER_SECOND;
    while (test_number(admin, "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('tuple', "
                              "'transactionid')") < OPERATORS)
        if (clock_mono() > end)
            screen_give_up(&screens[OLGA], "they do not wait for the same");
    test_sql(admin, "COMMIT");
}

// Each revision, its author, and the end of its payload.
static const char *
revisions_kept(void)
{
    return test_text(actors.world.admin, "SELECT string_agg(no || ' ' || author || ' ' || right(convert_from("
                                         "payload, 'UTF8'), 13), ', ' ORDER BY no) FROM redrive.revision");
}

// Both versions are shown, and the text is put above the other one's.
static void
go_on_above(struct screen *screen, const char *theirs, const char *mine)
{
    screen_see(screen, "keep editing on top of theirs");
    screen_see(screen, "reload theirs, keep mine as a draft");
    screen_see(screen, "cancel: nothing changes here");
    screen_press(screen, "l");
    screen_see(screen, "- theirs");
    screen_see(screen, theirs);
    screen_see(screen, mine);
    screen_press(screen, "q");
    screen_see(screen, "look at both versions");
    screen_press(screen, "k");
    screen_see(screen, "editing on top of revision 1");
    screen_see(screen, mine);
    screen_press(screen, "<C-s>");
    screen_see(screen, "- revision 1");
    screen_press(screen, "<Enter>");
    screen_see(screen, "save and make a recipe of it");
    screen_press(screen, "s");
    screen_see(screen, "INC-4711"); // nor is that typed again
    screen_press(screen, "<Tab>");
    screen_see(screen, "[ Save ]");
    screen_press(screen, "<Enter>");
    screen_see(screen, "saved as revision 2 of event 7");
}

static void
two_operators_correct_the_same_event(void **state)
{
    (void)state;
    static const char *const edits[] = {"<End><Left>00", "<End><Left>55"};
    static const char *const texts[] = {"\"order\": 700}", "\"order\": 755}"};
    struct screen screens[OPERATORS] = {0};
    char names[OPERATORS][80], line[300];
    make_login(names[OLGA], "olga2", "redrive_operator");
    make_login(names[OTTO], "otto", "redrive_operator");
    for (int i = 0; i < OPERATORS; i++)
        edit_the_same(&screens[i], conninfo_of(names[i]), edits[i]);
    save_at_the_same_moment(screens);

    for (int i = 0; i < OPERATORS; i++)
        screen_see(&screens[i], "saved"); // "saved as revision 1 of …", "Not saved: revision 1 is by …"
    // The question stays on the screen, the message does not.
    int winner = vt_shows(screens[OLGA].vt, "Not saved") ? OTTO : OLGA;
    int other = OPERATORS - 1 - winner;
    snprintf(line, sizeof line, "Not saved: revision 1 is by %s", names[winner]);
    screen_see(&screens[other], line);
    snprintf(line, sizeof line, "1 %s %s", names[winner], texts[winner]);
    assert_string_equal(revisions_kept(), line);
    go_on_above(&screens[other], texts[winner], texts[other]);
    snprintf(line, sizeof line, "1 %s %s, 2 %s %s", names[winner], texts[winner], names[other], texts[other]);
    assert_string_equal(revisions_kept(), line);

    for (int i = 0; i < OPERATORS; i++) {
        screen_press(&screens[i], "<C-q>");
        screen_close(&screens[i]);
        test_sql(actors.world.admin, "DROP OWNED BY %s; DROP ROLE %s", names[i], names[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_mend_every_order),
        cmocka_unit_test(what_a_recipe_corrected_is_sent_with_no_screen_open),
        cmocka_unit_test_setup_teardown(two_operators_correct_the_same_event, begin_actors, end_actors),
    };
    return cmocka_run_group_tests_name("mend", tests, NULL, NULL);
}
