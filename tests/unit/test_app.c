// The app without a terminal: views on places, requests and replies, keys to actions, prompts and menus.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/unit/app_world.h"
#include "ui/app/private.h"

static void
late_replies_are_dropped(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    (void)app_draw(app);
    assert_true(app_is_idle(app));
    uint64_t first = app_send(app, request_create(REQUEST_LIST));
    assert_false(app_is_idle(app));
    assert_true(app_is_waiting(app, first));
    answer(world, REPLY_LIST, first, false, 1);
    assert_int_equal(newest->last_total, 1);
    uint64_t second = app_send(app, request_create(REQUEST_LIST));
    assert_int_equal(second, first + 1);
    answer(world, REPLY_LIST, first, false, 2); // of the older one
    assert_int_equal(newest->last_total, 1);
    answer(world, REPLY_LIST, second, true, 3);
    assert_int_equal(newest->last_total, 3);
    assert_false(app_is_waiting(app, second));
    answer(world, REPLY_LIST, second, true, 4); // something changed since
    assert_int_equal(newest->last_total, 4);
    (void)app_draw(app);
    assert_true(app_is_idle(app));

    // Two of a kind that do not replace each other.
    uint64_t one = app_send(app, request_create(REQUEST_STEER));
    uint64_t two = app_send(app, request_create(REQUEST_STEER));
    answer(world, REPLY_STEERED, one, true, 5);
    answer(world, REPLY_STEERED, two, true, 6);
    assert_int_equal(newest->last_total, 6);
    for (struct request *request; (request = take_request(world));)
        request_destroy(request);
}

static void
closed_views_get_no_replies(void **state)
{
    struct world *world = *state;
    struct probe *below = newest;
    press(world->app, "<Enter>");
    uint64_t number = app_send(world->app, request_create(REQUEST_EVENT));
    press(world->app, "q");
    assert_int_equal(closed, 1);
    assert_int_equal(below->shown, 1);
    answer(world, REPLY_EVENT, number, true, 9);
    assert_int_equal(below->replies, 0);
    (void)app_draw(world->app);
    assert_true(app_is_idle(world->app));
    answer(world, REPLY_NEWS, 0, true, 1);
    assert_int_equal(below->news, 1);
}

static void
errors_reach_the_person(void **state)
{
    struct world *world = *state;
    uint64_t number = app_send(world->app, request_create(REQUEST_WHY));
    answer(world, REPLY_ERROR, number, true, 0);
    assert_true(shows(world->app, "error: it did not work"));
    struct app_message message;
    assert_true(app_message(world->app, 0, &message));
    assert_string_equal(message.text, "it did not work");
    press(world->app, "j"); // the next key clears it, and says something of its own
    assert_false(shows(world->app, "error: it did not work"));
    assert_true(app_message(world->app, 1, &message));
}

static void
ends(struct world *world, int64_t operation, enum outcome_severity severity, const char *sentence)
{
    struct reply *reply = reply_create(REPLY_NEWS, 0);
    reply->is_last = true;
    reply->news.operation = operation;
    reply->news.severity = severity;
    reply->news.sentence = sentence;
    assert_true(mailbox_put(world->replies, reply, 0));
    (void)app_receive(world->app, 1000);
}

// Whoever has just confirmed reads how to undo it, not how an earlier operation ended, unless that went
// wrong.
static void
what_was_confirmed_stays_on_the_line(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    struct app_message message;
    app_say_about(app, SAY_OK, 2, TIME_ABSENT, "operation 2 queued, u undo");
    ends(world, 1, OUTCOME_OPEN, "operation 1: done, watching 600");
    assert_true(shows(app, "operation 2 queued, u undo"));
    assert_false(shows(app, "watching 600"));
    assert_true(app_message(app, 1, &message));
    assert_string_equal(message.text, "operation 1: done, watching 600");
    ends(world, 2, OUTCOME_WELL, "operation 2: done");
    assert_true(shows(app, "operation 2: done"));
    ends(world, 1, OUTCOME_OPEN, "operation 1: done, watching 599"); // 2 has ended: nothing is ahead of it
    assert_true(shows(app, "watching 599"));

    app_say_about(app, SAY_OK, 4, TIME_ABSENT, "operation 4: begins 02:00, u undo");
    app->messages.ring[(app->messages.count - 1) % MESSAGES].at -= MESSAGE_HIDES_FOR; // it has been read
    ends(world, 1, OUTCOME_OPEN, "operation 1: done, watching 598");
    assert_true(shows(app, "watching 598"));

    app_say_about(app, SAY_OK, 3, TIME_ABSENT, "operation 3 queued, u undo");
    ends(world, 1, OUTCOME_RETURNED, "operation 1: 7 RETURNED");
    assert_true(shows(app, "7 RETURNED"));
    assert_true(app_message(app, 1, &message));
    assert_string_equal(message.text, "operation 3 queued, u undo");
}

static void
a_full_mailbox_loses_nothing(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 10; i++)
        (void)app_send(world->app, request_create(REQUEST_STEER));
    uint64_t expected = 1;
    for (int turn = 0; turn < 4; turn++) {
        for (struct request *request; (request = take_request(world));) {
            assert_int_equal(request->number, expected++);
            request_destroy(request);
        }
        (void)app_receive(world->app, 1000);
    }
    assert_int_equal(expected, 11);
}

static void
places_keep_what_they_show(void **state)
{
    struct world *world = *state;
    struct probe *home = newest;
    press(world->app, "<Enter>");
    struct probe *deep = newest;
    press(world->app, "4");
    struct probe *fourth = newest;
    assert_ptr_not_equal(deep, fourth);
    press(world->app, "1");
    assert_int_equal(deep->shown, 1); // still on top there
    assert_int_equal(home->shown, 0);
    press(world->app, "-");
    assert_int_equal(fourth->shown, 1);
    press(world->app, "3");
    assert_true(shows(world->app, "no view has the digit 3"));
    press(world->app, "]"); // over the missing ones to the first
    assert_int_equal(deep->shown, 2);
    press(world->app, "q");
    assert_int_equal(home->shown, 1);
    press(world->app, "4q");
    assert_int_equal(home->shown, 2); // the base of another place goes home
    assert_false(app_is_over(world->app));
}

static void
the_digit_of_the_place_one_is_in_goes_to_its_first_view(void **state)
{
    struct world *world = *state;
    struct probe *home = newest;
    closed = 0;
    press(world->app, "<Enter>");
    newest->unsaved = "event 7 is not saved";
    press(world->app, "1");
    assert_int_equal(closed, 0);
    assert_true(shows(world->app, "event 7 is not saved"));
    newest->unsaved = NULL;
    press(world->app, "1");
    assert_int_equal(closed, 1);
    assert_int_equal(home->shown, 1);
    press(world->app, "1"); // it is there already
    assert_int_equal(home->shown, 1);
}

static void
back_walks_and_escape_never_leaves(void **state)
{
    struct world *world = *state;
    newest->keeps_back = true;
    press(world->app, "q");
    assert_false(app_is_over(world->app));
    newest->keeps_back = false;
    press(world->app, "<Esc><BS>");
    assert_false(app_is_over(world->app));
    assert_true(shows(world->app, "this is the first view"));
    press(world->app, "q");
    assert_true(app_is_over(world->app));
}

static void
cancel_stops_before_it_leaves(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    uint64_t number = app_send(app, request_create(REQUEST_LIST));
    request_destroy(take_request(world));
    press(app, "<C-c>");
    assert_false(app_is_over(app));
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_CANCEL);
    assert_int_equal(request->target, number);
    request_destroy(request);
    answer(world, REPLY_ERROR, number, true, 0);
    press(app, "<C-c>j<C-c>"); // another key in between
    assert_false(app_is_over(app));
    press(app, "<C-c>");
    assert_true(app_is_over(app));
}

// The count of the backlog goes on, and C-c does not say otherwise; it leaves like at rest.
static void
cancel_does_not_claim_what_it_cannot(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    static const enum request_kind kinds[] = {REQUEST_GROUPS, REQUEST_CONFIRM};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t number = app_send(app, request_create(kinds[i]));
        request_destroy(take_request(world));
        press(app, "<C-c>");
        assert_null(take_request(world));
        assert_true(shows(world->app, "cannot stop this; Ctrl-C again quits"));
        assert_false(shows(world->app, "stopped"));
        answer(world, REPLY_ERROR, number, true, 0);
        press(app, "j");
    }
    (void)app_send(app, request_create(REQUEST_GROUPS));
    press(app, "<C-c><C-c>");
    assert_true(app_is_over(app));
}

static void
tell_status(struct world *world, enum link_state link, bool has_schema)
{
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    reply->status.link = link;
    reply->status.has_schema = has_schema;
    reply->status.as_of = TIME_ABSENT;
    snprintf(reply->status.host, sizeof reply->status.host, "db1");
    snprintf(reply->status.database, sizeof reply->status.database, "orders");
    snprintf(reply->status.trouble, sizeof reply->status.trouble, "the server closed the connection");
    assert_true(mailbox_put(world->replies, reply, 0));
    (void)app_receive(world->app, 1000);
}

static void
a_worker_that_cannot_go_on_says_why(void **state)
{
    struct world *world = *state;
    static const struct {
        double rate;
        const char *note;
        const char *shown;
    } cases[] = {{0, "Kafka cannot be reached", "returned 0: Kafka cannot be reached"},
                 {0, "operation 7, slot 1", "sent 1 of 9, returned 0  "},
                 {5, "Kafka was away", "sent 1 of 9, returned 0, 5/s, 1s left  "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reply *reply = reply_create(REPLY_STATUS, 0);
        reply->status = (struct status){.link = LINK_LIVE, .has_schema = true, .as_of = TIME_ABSENT};
        reply->status.worker.count = 1;
        snprintf(reply->status.worker.note, sizeof reply->status.worker.note, "%s", cases[i].note);
        reply->status.running = (struct operation){.no = 7,
                                                   .action = ACTION_REPROCESS,
                                                   .state = OPERATION_RUNNING,
                                                   .total = 9,
                                                   .done = 1,
                                                   .queued = 8,
                                                   .rate_now = cases[i].rate};
        assert_true(mailbox_put(world->replies, reply, 0));
        (void)app_receive(world->app, 1000);
        if (!shows(world->app, cases[i].shown))
            fail_msg("%s", cases[i].shown);
    }
}

static void
give_running(struct world *world, int64_t no, int workers, int silent)
{
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    reply->status = (struct status){.link = LINK_LIVE, .has_schema = true, .as_of = TIME_ABSENT};
    reply->status.worker.count = workers;
    reply->status.worker.silent = silent;
    reply->status.running = (struct operation){.no = no,
                                               .action = ACTION_REPROCESS,
                                               .state = OPERATION_RUNNING,
                                               .total = 900,
                                               .done = 100,
                                               .queued = 800,
                                               .rate_now = 35};
    assert_true(mailbox_put(world->replies, reply, 0));
    (void)app_receive(world->app, 1000);
}

static void
nobody_at_work_is_said_in_the_message(void **state)
{
    struct world *world = *state;
    give_running(world, 7, 1, 0);
    assert_true(shows(world->app, "returned 0, 35/s, 22s left"));
    give_running(world, 7, 1, 6);
    assert_true(shows(world->app, "returned 0: no sign of the worker for 6s"));
    assert_false(shows(world->app, "35/s"));
    give_running(world, 7, 0, 0);
    assert_true(shows(world->app, "returned 0: no worker"));
}

// What went well gives way to what goes on, in a while; what went wrong waits for a key.
static void
an_old_message_hides_no_operation(void **state)
{
    struct world *world = *state;
    give_running(world, 7, 1, 0);
    app_say_about(world->app, SAY_OK, 4, INT64_MAX, "operation 4: done, 10 restored");
    app_redraw(world->app);
    assert_true(shows(world->app, "10 restored"));
    assert_false(shows(world->app, "sent 100 of 900"));
    world->app->messages.ring[0].at -= MESSAGE_HIDES_FOR;
    app_redraw(world->app);
    assert_true(shows(world->app, "sent 100 of 900"));

    app_say(world->app, SAY_ERROR, "operation 4 failed");
    world->app->messages.ring[1].at -= MESSAGE_HIDES_FOR;
    app_redraw(world->app);
    assert_true(shows(world->app, "operation 4 failed"));
}

static void
nothing_changes_without_the_right_state(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    newest->last = DO_NONE;
    tell_status(world, LINK_LOST, true);
    assert_true(shows(app, "reconnecting: the server closed the connection"));
    assert_true(app_is_stale(app));
    press(app, "R");
    assert_int_equal(newest->last, DO_NONE);
    assert_true(shows(app, "connection lost; nothing can be changed"));
    tell_status(world, LINK_LIVE, false);
    assert_false(shows(app, "connection lost")); // not true any more
    press(app, "R");
    assert_int_equal(newest->last, DO_NONE);
    assert_true(shows(app, "redrive migrate"));
    tell_status(world, LINK_LIVE, true);
    assert_true(shows(app, "db1/orders  UTC  live"));
    press(app, "R");
    assert_int_equal(newest->last, DO_REPROCESS);
    world->config.is_read_only = true;
    newest->last = DO_NONE;
    press(app, "R");
    assert_int_equal(newest->last, DO_NONE);
    assert_true(shows(app, "read-only"));
}

static void
keys_become_actions(void **state)
{
    struct world *world = *state;
    press(world->app, "g");
    assert_true(shows(world->app, " g…"));
    press(world->app, "g");
    assert_int_equal(newest->last, DO_TOP);
    press(world->app, "gy");
    assert_true(shows(world->app, "gy is not bound · ? help"));
    press(world->app, "~");
    assert_true(shows(world->app, "~ is not bound"));
    press(world->app, "g<Esc>"); // silently
    assert_false(shows(world->app, "bound"));
    press(world->app, "<C-z>");
    assert_true(app_wants(world->app, WISH_SUSPEND));
    assert_false(app_wants(world->app, WISH_SUSPEND));
    app_paste(world->app, bytes_of("RDq"));
    assert_true(shows(world->app, "ignored a paste of 3 bytes; press / to paste into the filter"));
}

static void
a_prompt_has_all_the_keys(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    press(app, "/RDq1");
    assert_string_equal(newest->typed, "RDq1");
    assert_int_equal(newest->last, DO_FILTER);
    press(app, "<C-u>1");
    assert_true(shows(app, "no digits"));
    press(app, "<C-g>");
    assert_string_equal(newest->typed, "before");
    press(app, "/stay<Enter>");
    assert_string_equal(newest->accepted, "stay");
    press(app, "x<Enter>");
    assert_string_equal(newest->accepted, "stayx");
    press(app, "G"); // closed: keys are actions again
    assert_int_equal(newest->last, DO_BOTTOM);
    press(app, "/");
    app_paste(app, bytes_of("one\ntwo"));
    assert_string_equal(newest->typed, "one two");
}

static void
a_menu_is_chosen_from(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    press(app, "o");
    assert_true(shows(app, "order") && shows(app, "second"));
    press(app, "b");
    assert_int_equal(newest->chosen, 1);
    assert_false(shows(app, "second"));
    press(app, "okk<Enter>"); // round to the last
    assert_int_equal(newest->chosen, 1);
    press(app, "ok<Enter>");
    assert_int_equal(newest->chosen, 2);
    newest->chosen = 99;
    press(app, "oq");
    assert_int_equal(newest->chosen, 99);
    assert_false(app_is_over(app));
    press(app, "oR"); // no changing key works in it
    assert_true(shows(app, "order"));
    press(app, "<Esc>");
}

static void
copies_are_harmless(void **state)
{
    struct world *world = *state;
    app_copy(world->app, bytes_of("rm -rf /\n\033]0;x\a\ttail\n"), "payload");
    assert_true(app_wants(world->app, WISH_COPY));
    assert_true(bytes_equal_text(app_copied(world->app), "rm -rf / \\e]0;x\\x07 tail"));
    assert_false(app_wants(world->app, WISH_COPY));
    assert_true(shows(world->app, "copied payload rm -rf / \\e]0;x\\x07 tail to the clipboard"));
}

static void
bad_files_keep_nobody_from_working(void **state)
{
    struct world *world = *state;
    struct app_config config = world->config;
    config.look.theme = "nope";
    config.look.keymap = "nope";
    struct app *app = app_create(&config, NULL);
    assert_non_null(app);
    assert_true(shows(app, "there is no keymap \"nope\""));
    struct app_message message;
    assert_true(app_message(app, 1, &message));
    assert_non_null(strstr(message.text, "there is no theme \"nope\""));
    press(app, "q");
    assert_true(app_is_over(app));
    app_destroy(app);
    newest = NULL;
}

static const struct app_connection two_connections[] = {{.profile = "prod", .of = 0, .words = "prod  PROD"},
                                                        {.profile = "staging", .of = 1, .words = "staging"}};

static uint64_t
take_connect(struct world *world)
{
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_CONNECT);
    assert_int_equal(request->connection, 1);
    uint64_t number = request->number;
    request_destroy(request);
    return number;
}

static void
connect_to_the_other(struct world *world)
{
    world->config.connections = (struct app_connections){.list = two_connections, .count = 2};
    for (struct request *request; (request = take_request(world));)
        request_destroy(request);
    app_connect(world->app, 1);
}

// Nothing ends before the other connection is reached; one that is not leaves everything as it is.
static void
another_connection_is_reached_first(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    size_t next;
    connect_to_the_other(world);
    assert_true(shows(app, "connecting to staging"));
    uint64_t number = take_connect(world);
    struct reply *reply = reply_create(REPLY_ERROR, number);
    (void)!err_set(&reply->err, ERR_UNREACHABLE, "no such host");
    reply->is_last = true;
    tell(world, reply);
    assert_true(shows(app, "staging: no such host"));
    assert_false(app_is_over(app));
    assert_false(app_is_leaving_for(app, &next));

    connect_to_the_other(world);
    answer(world, REPLY_CONNECTED, take_connect(world), true, 0);
    assert_true(app_is_over(app));
    assert_true(app_is_leaving_for(app, &next));
    assert_int_equal(next, 1);
}

static void
what_ends_by_another_connection_is_asked(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    size_t next;
    selection_add(app_selection(app), (const int64_t[]){7, 9}, 2);
    connect_to_the_other(world);
    assert_null(take_request(world));
    assert_true(shows(app, "2 selected events will be unselected."));
    press(app, "<Esc>");
    selection_remove(app_selection(app), (const int64_t[]){7, 9}, 2);

    (void)app_send(app, request_create(REQUEST_CONFIRM)); // the answer tells the operation's number
    connect_to_the_other(world);
    assert_true(shows(app, "a change is being written"));
    assert_null(take_request(world));
    assert_false(app_is_leaving_for(app, &next));
}

// Somebody began to write while the other server took its time.
static void
a_late_connection_takes_nothing_away(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    size_t next;
    connect_to_the_other(world);
    uint64_t number = take_connect(world);
    newest->unsaved = "unsaved changes";
    answer(world, REPLY_CONNECTED, number, true, 0);
    assert_true(shows(app, "staging can be reached; finish what is open here"));
    assert_false(app_is_leaving_for(app, &next));
    connect_to_the_other(world);
    assert_true(shows(app, "unsaved changes"));
    assert_null(take_request(world));
    newest->unsaved = NULL;
}

// While a key is held down a view may leave out what only follows the cursor; the picture is made whole as
// soon as the keys rest, and until then the program is not idle.
static void
a_held_key_is_known(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    (void)app_draw(app);
    app_pace(app);
    assert_false(app_is_hurried(app)); // the first key, or one after a rest
    app_pace(app);
    assert_true(app_is_hurried(app));
    assert_false(app_is_idle(app));
    assert_in_range(app_wake_after(app), 1, 60000);
    while (app_wake_after(app) > 0)
        ;
    app_redraw(app);
    (void)app_draw(app);
    assert_false(app_is_hurried(app));
    assert_true(app_wake_after(app) != 0);
}

// A view that was just opened and answers at once is seen when it has something to show; one that takes
// longer says so.
static void
an_opened_view_does_not_flash(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    (void)app_draw(app);
    press(app, "<Enter>");
    uint64_t number = app_send(app, request_create(REQUEST_EVENT));
    assert_true(app_needs_draw(app));
    assert_true(app_holds_back(app));
    assert_in_range(app_wake_after(app), 1, 60000);
    answer(world, REPLY_EVENT, number, true, 1);
    assert_false(app_holds_back(app));

    press(app, "q<Enter>");
    (void)app_send(app, request_create(REQUEST_EVENT));
    while (app_holds_back(app))
        ;
    assert_true(app_needs_draw(app));
    assert_false(app_is_idle(app));
    for (struct request *request; (request = take_request(world));)
        request_destroy(request);
}

// Also while another view lies above it.
static void
a_view_works_when_it_is_due(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    struct probe *probe = newest;
    app_tick(app);
    assert_int_equal(probe->ticks, 0);
    probe->due = clock_mono() + 10 * US_PER_SECOND;
    assert_false(app_is_working(app));
    assert_in_range(app_wake_after(app), 1, 10 * US_PER_SECOND);
    app_tick(app);
    assert_int_equal(probe->ticks, 0);
    press(app, "<Enter>");
    probe->due = clock_mono();
    assert_true(app_is_working(app));
    assert_int_equal(app_wake_after(app), 0);
    app_tick(app);
    app_tick(app);
    assert_int_equal(probe->ticks, 1);
}

static void
what_is_unsaved_keeps_the_program(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    struct probe *probe = newest;
    probe->unsaved = "event 7 is not saved";
    static const char *const keys[] = {"Q", "q", "<C-c><C-c>", "<Enter>Q", ":quit<Enter>"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        press(app, keys[i]);
        assert_false(app_is_over(app));
    }
    press(app, "Q");
    assert_true(shows(app, "event 7 is not saved"));
    probe->unsaved = NULL;
    press(app, "Q");
    assert_true(app_is_over(app));
}

static void
program_ended(struct app *app, void *state, int status)
{
    (void)app;
    ((struct probe *)state)->status = status;
}

static void
a_program_gets_the_terminal(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    struct probe *probe = newest;
    app_run_program(app, "vi \"$1\"", "/tmp/a.json", program_ended);
    assert_true(app_wants(app, WISH_RUN));
    assert_false(app_wants(app, WISH_RUN));
    assert_string_equal(app_program(app)->file, "/tmp/a.json");
    app_program_ended(app, 3);
    assert_int_equal(probe->status, 3);
    app_program_ended(app, 4); // nobody waits any more
    assert_int_equal(probe->status, 3);

    press(app, "<Enter>"); // a view that is closed is told nothing
    app_run_program(app, "vi", "/tmp/a.json", program_ended);
    press(app, "q");
    app_program_ended(app, 5);
    assert_int_equal(probe->status, 3);
}

// Place 4 has a view whose table names three actions, and one more only to say why not.
static void
test_footer_offers_what_the_table_names(void **state)
{
    struct world *world = *state;
    struct app *app = world->app;
    app_resize(app, 24, 80);
    press(app, "4");
    assert_true(shows(app, "search"));
    assert_true(shows(app, "quit"));     // the app's own
    assert_false(shows(app, "wrap"));    // not in the table
    assert_false(shows(app, "discard")); // refused
    assert_false(shows(app, "copy"));    // not possible yet
    newest->replies = 1;
    press(app, "/<Esc>");
    assert_true(shows(app, "copy"));
}

static void
test_what_the_table_does_not_name_does_nothing(void **state)
{
    struct world *world = *state;
    press(world->app, "4");
    press(world->app, "w");
    assert_true(shows(world->app, "wrap: not available in this view"));
    press(world->app, "D");
    assert_true(shows(world->app, "this is a record"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(late_replies_are_dropped),
        WORLD(closed_views_get_no_replies),
        WORLD(errors_reach_the_person),
        WORLD(what_was_confirmed_stays_on_the_line),
        WORLD(a_full_mailbox_loses_nothing),
        WORLD(places_keep_what_they_show),
        WORLD(the_digit_of_the_place_one_is_in_goes_to_its_first_view),
        WORLD(back_walks_and_escape_never_leaves),
        WORLD(cancel_stops_before_it_leaves),
        WORLD(cancel_does_not_claim_what_it_cannot),
        WORLD(a_worker_that_cannot_go_on_says_why),
        WORLD(nobody_at_work_is_said_in_the_message),
        WORLD(an_old_message_hides_no_operation),
        WORLD(nothing_changes_without_the_right_state),
        WORLD(keys_become_actions),
        WORLD(a_prompt_has_all_the_keys),
        WORLD(a_menu_is_chosen_from),
        WORLD(copies_are_harmless),
        WORLD(bad_files_keep_nobody_from_working),
        WORLD(another_connection_is_reached_first),
        WORLD(what_ends_by_another_connection_is_asked),
        WORLD(a_late_connection_takes_nothing_away),
        WORLD(a_held_key_is_known),
        WORLD(an_opened_view_does_not_flash),
        WORLD(a_view_works_when_it_is_due),
        WORLD(what_is_unsaved_keeps_the_program),
        WORLD(a_program_gets_the_terminal),
        WORLD(test_footer_offers_what_the_table_names),
        WORLD(test_what_the_table_does_not_name_does_nothing),
    };
    return cmocka_run_group_tests_name("app", tests, NULL, NULL);
}
