// The view of a recipe: what it shows while the dry run goes on, what it asks of the backend, and what can be
// confirmed. The test is the backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "tests/unit/app_world.h"
#include "ui/views/recipe/recipe.h"
#include "ui/views/recipe/state.h"

static const int64_t ids[] = {30, 10, 20, 10};
enum { IDS = 3 };

static const char *text_given = "set $.a 1\n";

static bool
fixture_open_recipe(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    const struct decide_words words = {.what = "Timeout", .group = "00000000000000ff"};
    app_open(app, &view_recipe,
             &(struct recipe_argument){.text = text_given, .ids = ids, .count = 4, .words = &words});
    return true;
}

static const struct view_action actions[] = {{.action = DO_RECIPE, .run = fixture_open_recipe}, {0}};

static void
fixture_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    (void)app;
    (void)state;
    (void)canvas;
    (void)areas;
}

static const struct view view = {
    .name = "fixture", .context = CONTEXT_LIST, .actions = actions, .draw = fixture_draw};
static const struct view_row rows[] = {{&view, 1}};

static int
begin(void **state)
{
    text_given = "set $.a 1\n";
    return make_world_of(state,
                         &(struct app_config){.views = rows, .view_count = 1, .decision.confirm_above = 100});
}

// The next request of this kind; those of other kinds are dropped. NULL: there is none.
static struct request *
next_request(struct world *world, enum request_kind kind)
{
    struct request *request;
    while ((request = take_request(world)) && request->kind != kind)
        request_destroy(request);
    return request;
}

// Opens the view; the number of its dry run.
static uint64_t
open_view(struct world *world)
{
    press(world->app, "C");
    struct request *request = next_request(world, REQUEST_RECIPE_TRY);
    assert_non_null(request);
    assert_string_equal(request->recipe.text, text_given);
    assert_int_equal(request->id_count, IDS); // ascending, each once
    for (size_t i = 0; i < IDS; i++)
        assert_int_equal(request->ids[i], 10 * (int64_t)(i + 1));
    uint64_t number = request->number;
    request_destroy(request);
    struct request *saved = next_request(world, REQUEST_RECIPES);
    assert_non_null(saved);
    request_destroy(saved);
    return number;
}

static struct reply *
trial_reply(uint64_t number, int64_t changed, int64_t unfit, bool is_last)
{
    struct reply *reply = reply_create(REPLY_RECIPE, number);
    struct recipe_trial *trial = &reply->recipe;
    reply->is_last = is_last;
    trial->of = IDS;
    trial->read = changed + unfit;
    trial->tally.counts[CORRECT_CHANGED] = changed;
    trial->tally.counts[CORRECT_NOT_APPLICABLE] = unfit;
    trial->classes[CORRECT_NOT_APPLICABLE].example = unfit ? "line 1: $.a does not exist" : NULL;
    return reply;
}

static void
add_sample(struct reply *reply, int64_t id, const char *before, const char *after)
{
    struct recipe_trial *trial = &reply->recipe;
    if (!trial->samples)
        trial->samples = arena_array(&reply->arena, TRIAL_SAMPLES, sizeof *trial->samples);
    trial->samples[trial->sample_count++] =
        (struct recipe_sample){.id = id,
                               .before = before ? bytes_of(before) : BYTES_ABSENT,
                               .after = after ? bytes_of(after) : BYTES_ABSENT,
                               .record = ""};
}

static void
add_class(struct reply *reply, enum correct_outcome outcome, int64_t id)
{
    struct recipe_class *class = &reply->recipe.classes[outcome];
    class->ids = alloc_array(1, sizeof *class->ids);
    class->ids[0] = id;
    class->count = 1;
}

static void
a_dry_run_is_shown_while_it_goes_on(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    assert_true(shows(world->app, "0 of 3 read"));
    struct reply *reply = trial_reply(number, 1, 0, false);
    add_sample(reply, 10, "{\"a\":7}", "{\"a\":1}");
    tell(world, reply);
    assert_true(shows(world->app, "applies 1"));
    assert_true(shows(world->app, "1 of 3 read"));
    assert_true(shows(world->app, "sample 1 of 1   event 10"));
    assert_true(shows(world->app, "-   \"a\": 7"));
    tell(world, trial_reply(number, 2, 0, false)); // without samples: those before stay
    assert_true(shows(world->app, "2 of 3 read"));
    assert_true(shows(world->app, "+   \"a\": 1"));
    press(world->app, "<Enter>");
    assert_true(shows(world->app, "the dry run is not over yet"));
    assert_null(next_request(world, REQUEST_PREVIEW));
    reply = trial_reply(number, 2, 1, true);
    add_sample(reply, 20, "{\"a\":8}", "{\"a\":1}");
    tell(world, reply);
    assert_true(shows(world->app, "   of 3"));
    assert_true(shows(world->app, "event 20"));
    assert_false(shows(world->app, "event 10"));
    assert_true(shows(world->app, "does not apply 1   for example line 1: $.a does not exist"));
}

static void
a_dry_run_can_be_stopped(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    tell(world, trial_reply(number, 2, 0, false));
    press(world->app, "<C-c>");
    struct request *request = next_request(world, REQUEST_CANCEL);
    assert_non_null(request);
    assert_int_equal(request->target, number);
    request_destroy(request);
    struct reply *reply = reply_create(REPLY_ERROR, number);
    err_set(&reply->err, ERR_CANCELLED, "stopped");
    reply->is_last = true;
    tell(world, reply);
    assert_true(shows(world->app, "stopped after 2 of 3"));
    press(world->app, "<Enter>");
    assert_true(shows(world->app, "the dry run was stopped"));
    press(world->app, "r");
    request = next_request(world, REQUEST_RECIPE_TRY);
    assert_non_null(request);
    request_destroy(request);
}

static void
a_closed_view_stops_its_dry_run(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    press(world->app, "q");
    struct request *request = next_request(world, REQUEST_CANCEL);
    assert_non_null(request);
    assert_int_equal(request->target, number);
    request_destroy(request);
}

static void
a_mistake_is_shown_at_its_place_and_not_tried(void **state)
{
    struct world *world = *state;
    text_given = "set $.a 1\nset $.b\n";
    press(world->app, "C");
    assert_null(next_request(world, REQUEST_RECIPE_TRY));
    assert_true(shows(world->app, "  2  set $.b"));
    assert_true(shows(world->app, "recipe:2:8: expected JSON"));
    press(world->app, "<Enter>");
    assert_true(shows(world->app, "the recipe has a mistake"));
    press(world->app, "e"); // the line with the mistake
    press(world->app, " 2<Enter>");
    struct request *request = next_request(world, REQUEST_RECIPE_TRY);
    assert_non_null(request);
    assert_string_equal(request->recipe.text, "set $.a 1\nset $.b 2\n");
    tell(world, trial_reply(request->number, 3, 0, true));
    assert_true(shows(world->app, "applies 3"));
    request_destroy(request);
    press(world->app, "ea"); // a new line, with a mistake: the counts were of another recipe
    press(world->app, "remove<Enter>");
    assert_true(shows(world->app, "recipe:3:"));
    assert_false(shows(world->app, "applies"));
}

// From a dry run that is over to a dialog that can be confirmed.
static void
open_dialog(struct world *world)
{
    press(world->app, "<Enter>");
    struct request *request = next_request(world, REQUEST_PREVIEW);
    assert_non_null(request);
    assert_int_equal(request->action, ACTION_CORRECT);
    struct reply *reply = reply_create(REPLY_PREVIEW, request->number);
    reply->preview = (struct preview){.known = 1u << PREVIEW_COUNTS, .open = IDS};
    reply->is_last = true;
    request_destroy(request);
    tell(world, reply);
}

static void
what_is_confirmed_is_what_was_tried(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    struct reply *reply = trial_reply(number, 2, 1, true);
    add_sample(reply, 20, "{\"a\":8}", "{\"a\":1}");
    tell(world, reply);
    open_dialog(world);
    assert_true(shows(world->app, "3 events of Timeout"));
    assert_true(shows(world->app, "2 would change, 1 does not fit the recipe"));
    assert_true(shows(world->app, "undo: u in operations"));
    assert_false(shows(world->app, "force"));
    assert_true(shows(world->app, "redrive correct --recipe FILE --group 00000000000000ff"));
    press(world->app, "<Tab><Enter>");
    struct request *request = next_request(world, REQUEST_CONFIRM);
    assert_non_null(request);
    assert_int_equal(request->confirm.action, ACTION_CORRECT);
    assert_string_equal(request->recipe.text, "set $.a 1\n");
    assert_int_equal(request->id_count, IDS);
    assert_false(request->confirm.then_reprocess);
    assert_false(request->confirm.is_forced);
    assert_int_equal(request->confirm.plan.step_count, 0);
    assert_false(request->confirm.plan.halts);
    request_destroy(request);
}

// The other fields of the dialog. Tab goes from the button to them.
static void
steps_sending_and_force_are_asked_for(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    struct reply *reply = trial_reply(number, 1, 1, true);
    reply->recipe.tally.counts[CORRECT_REFUSED] = 1;
    tell(world, reply);
    open_dialog(world);
    assert_true(shows(world->app, "why: takes the 1 that the check refuses too"));
    press(world->app, "INC-7<Tab><Tab>2,rest<Tab><Tab>no<Tab><Tab>the check is wrong");
    press(world->app, "<S-Tab><S-Tab><S-Tab><S-Tab><S-Tab><Enter>");
    assert_true(shows(world->app, "yes, a rate such as 50/s, or nothing"));
    assert_null(next_request(world, REQUEST_CONFIRM));
    press(world->app, "<C-u>"); // the focus is there
    for (int i = 0; i < 8 && !shows(world->app, "[ Apply recipe ]"); i++)
        press(world->app, "<S-Tab>");
    assert_true(shows(world->app, "--force --reason 'the check is wrong'"));
    press(world->app, "<Enter>");
    struct request *request = next_request(world, REQUEST_CONFIRM);
    assert_non_null(request);
    assert_true(request->confirm.is_forced);
    assert_false(request->confirm.then_reprocess);
    assert_string_equal(request->reason, "INC-7; forced: the check is wrong");
    assert_int_equal(request->confirm.plan.step_count, 1);
    assert_int_equal(request->confirm.plan.steps[0], 2);
    assert_false(request->confirm.plan.halts); // a recipe halts by its share only where that is asked for
    request_destroy(request);
}

static void
what_changed_is_sent_where_that_is_asked_for(void **state)
{
    struct world *world = *state;
    tell(world, trial_reply(open_view(world), 2, 1, true));
    open_dialog(world);
    press(world->app, "<Tab><Tab>2,rest<Tab><Tab>yes<S-Tab><S-Tab><S-Tab>");
    assert_true(shows(world->app, "--reprocess"));
    press(world->app, "<Enter>");
    struct request *request = next_request(world, REQUEST_CONFIRM);
    assert_non_null(request);
    assert_true(request->confirm.then_reprocess);
    assert_false(request->confirm.is_forced);
    assert_true(request->confirm.plan.halts && request->confirm.plan.halt_above == HALT_ABOVE);
    assert_int_equal(request->confirm.rate, RATE_UNLIMITED);
    request_destroy(request);
}

// The fields of the plan are those of the sending.
static void
what_is_sent_has_a_rate_and_a_halt(void **state)
{
    struct world *world = *state;
    tell(world, trial_reply(open_view(world), 2, 1, true));
    open_dialog(world);
    press(world->app, "<Tab><Tab>2,rest 30s<Tab>none<Tab>0050/s<S-Tab><S-Tab><S-Tab>");
    assert_true(shows(world->app, "--halt-above none"));
    assert_true(shows(world->app, "--reprocess --rate 50"));
    press(world->app, "<Enter>");
    struct request *request = next_request(world, REQUEST_CONFIRM);
    assert_non_null(request);
    assert_true(request->confirm.then_reprocess);
    assert_int_equal(request->confirm.rate, 50);
    assert_int_equal(request->confirm.plan.settle_for, 30 * US_PER_SECOND);
    assert_false(request->confirm.plan.halts);
    request_destroy(request);
}

static void
a_changed_recipe_is_not_applied_by_the_old_counts(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    tell(world, trial_reply(number, 3, 0, true));
    press(world->app, "e");
    press(world->app, "<Enter>");
    press(world->app, "5<Enter>"); // set $.a 15
    struct request *request = next_request(world, REQUEST_RECIPE_TRY);
    assert_non_null(request);
    assert_string_equal(request->recipe.text, "set $.a 15\n");
    request_destroy(request);
    tell(world, trial_reply(number, 3, 0, true)); // of the recipe before
    assert_true(shows(world->app, "0 of 3 read"));
    press(world->app, "<Enter>");
    assert_true(shows(world->app, "the dry run is not over yet"));
}

static void
nothing_that_would_change_is_not_applied(void **state)
{
    struct world *world = *state;
    tell(world, trial_reply(open_view(world), 0, 3, true));
    assert_true(shows(world->app, "Nothing would change."));
    press(world->app, "<Enter>");
    assert_true(shows(world->app, "nothing to apply"));
    assert_null(next_request(world, REQUEST_PREVIEW));
}

static void
each_outcome_opens_as_a_list(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    struct reply *reply = trial_reply(number, 2, 1, true);
    add_class(reply, CORRECT_NOT_APPLICABLE, 30);
    tell(world, reply);
    press(world->app, "fa");
    struct request *request = next_request(world, REQUEST_LIST);
    assert_non_null(request);
    assert_int_equal(request->list.source, LIST_IDS);
    assert_int_equal(request->list.id_count, 1);
    assert_int_equal(request->list.ids[0], 30);
    request_destroy(request);
}

// A warning, not an outcome: these are among those that change.
static void
what_departs_from_the_shape_opens_as_a_list(void **state)
{
    struct world *world = *state;
    struct reply *reply = trial_reply(open_view(world), 3, 0, true);
    struct recipe_trial *trial = &reply->recipe;
    trial->tally.departs = 2;
    trial->departing =
        (struct recipe_class){.ids = calloc(2, sizeof(int64_t)), .count = 2, .example = "a is text"};
    trial->departing.ids[0] = 10;
    trial->departing.ids[1] = 30;
    tell(world, reply);
    assert_true(shows(world->app, "applies 3"));
    assert_true(shows(world->app, "departs from shape 2"));
    assert_true(shows(world->app, "2: would depart from the shape of their type, for example: a is text"));
    press(world->app, "fd");
    struct request *request = next_request(world, REQUEST_LIST);
    assert_non_null(request);
    assert_int_equal(request->list.id_count, 2);
    assert_int_equal(request->list.ids[1], 30);
    request_destroy(request);
}

static void
a_failure_is_said(void **state)
{
    struct world *world = *state;
    uint64_t number = open_view(world);
    struct reply *reply = reply_create(REPLY_ERROR, number);
    err_set(&reply->err, ERR_UNREACHABLE, "the connection to PostgreSQL is gone");
    reply->is_last = true;
    tell(world, reply);
    assert_true(shows(world->app, "the connection to PostgreSQL is gone"));
    press(world->app, "<Enter>");
    assert_true(shows(world->app, "the dry run was stopped"));
}

// However little room there is, nothing is drawn outside of it (asan), and the counts come first.
static void
it_fits_any_terminal(void **state)
{
    struct world *world = *state;
    static const int sizes[][2] = {{1, 1}, {3, 10}, {5, 20}, {10, 40}, {24, 80}, {60, 200}};
    uint64_t number = open_view(world);
    struct reply *reply = trial_reply(number, 2, 1, true);
    add_sample(reply, 20, "{\"a\":\"\x1b[31m\xff\"}", "{\"a\":1}");
    tell(world, reply);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        app_resize(world->app, sizes[i][0], sizes[i][1]);
        assert_true(shows(world->app, "applies 2") || sizes[i][0] < 10);
        assert_false(shows(world->app, "\x1b"));
        press(world->app, "njkG");
    }
}

// --- samples ---

// The lines of a sample, as they are shown.
static void
assert_sample(struct recipe_sample sample, const char *expected)
{
    struct pager *pager = pager_create();
    struct strbuf said = {0};
    pager_begin(pager);
    sample_lines(pager, &sample);
    pager_end(pager);
    for (size_t i = 0; i < pager_lines(pager); i++) {
        strbuf_add(&said, pager_text(pager, i));
        strbuf_add_char(&said, '\n');
    }
    assert_string_equal(strbuf_text(&said), expected);
    strbuf_release(&said);
    pager_destroy(pager);
}

static void
a_sample_shows_the_lines_that_differ(void **state)
{
    (void)state;
    assert_sample((struct recipe_sample){.before = BYTES("{\"a\":1,\"b\":[1,2],\"c\":3}"),
                                         .after = BYTES("{\"a\":1,\"b\":[1,5,2],\"c\":3}")},
                  "  …\n    \"b\": [\n      1,\n+     5,\n      2\n    ],\n  …\n");
    assert_sample((struct recipe_sample){.before = BYTES("{\"a\":1}"), .after = BYTES("{ \"a\":1}")},
                  "  …\nonly white space differs\n");
    assert_sample((struct recipe_sample){.before = BYTES_ABSENT, .after = BYTES("1")},
                  "- (null value)\n+ 1\n");
    assert_sample((struct recipe_sample){.before = BYTES("not json"), .after = BYTES("not\njson")},
                  "- not json\n+ not\n+ json\n");
    assert_sample((struct recipe_sample){.is_large = true, .before_len = 3000000, .after_len = 3000001},
                  "payload of 3,000,000 bytes before, 3,000,001 after: too large to compare here\n");
}

static void
a_sample_shows_what_else_is_sent(void **state)
{
    (void)state;
    assert_sample((struct recipe_sample){.before = BYTES("1"),
                                         .after = BYTES("2"),
                                         .record = "topic orders.v2\nheader fixed-by redrive\n"},
                  "- 1\n+ 2\n+ topic orders.v2\n+ header fixed-by redrive\n");
}

static void
long_samples_are_shown_in_bounded_time(void **state)
{
    (void)state;
    struct strbuf before = {0};
    struct strbuf after = {0};
    strbuf_add_char(&before, '[');
    strbuf_add_char(&after, '[');
    for (int i = 0; i < 20000; i++) {
        strbuf_printf(&before, "%d,", i);
        strbuf_printf(&after, "%d,", i + 100000);
    }
    strbuf_add_text(&before, "0]");
    strbuf_add_text(&after, "0]");
    struct pager *pager = pager_create();
    pager_begin(pager);
    sample_lines(pager,
                 &(struct recipe_sample){.before = strbuf_bytes(&before), .after = strbuf_bytes(&after)});
    pager_end(pager);
    assert_int_equal(pager_lines(pager), 40000 + 3);
    pager_destroy(pager);
    strbuf_release(&before);
    strbuf_release(&after);
}

static void
the_tally_is_said_in_words(void **state)
{
    (void)state;
    struct strbuf said = {0};
    correct_tally_describe(&(struct correct_tally){0}, &said);
    assert_string_equal(strbuf_text(&said), "");
    const struct correct_tally tally = {
        .counts = {[CORRECT_CHANGED] = 2009, [CORRECT_UNCHANGED] = 1, [CORRECT_REFUSED] = 2}, .gone = 3};
    correct_tally_describe(&tally, &said);
    assert_string_equal(strbuf_text(&said), "2,009 would change, 1 would stay as it is, 2 refused by the "
                                            "check, 3 no longer in the table");
    assert_int_equal(correct_tally_total(&tally), 2015);
    strbuf_release(&said);
}

#define VIEWED(test) cmocka_unit_test_setup_teardown(test, begin, destroy_world)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        VIEWED(a_dry_run_is_shown_while_it_goes_on),
        VIEWED(a_dry_run_can_be_stopped),
        VIEWED(a_closed_view_stops_its_dry_run),
        VIEWED(a_mistake_is_shown_at_its_place_and_not_tried),
        VIEWED(what_is_confirmed_is_what_was_tried),
        VIEWED(steps_sending_and_force_are_asked_for),
        VIEWED(what_changed_is_sent_where_that_is_asked_for),
        VIEWED(what_is_sent_has_a_rate_and_a_halt),
        VIEWED(what_departs_from_the_shape_opens_as_a_list),
        VIEWED(a_changed_recipe_is_not_applied_by_the_old_counts),
        VIEWED(nothing_that_would_change_is_not_applied),
        VIEWED(each_outcome_opens_as_a_list),
        VIEWED(a_failure_is_said),
        VIEWED(it_fits_any_terminal),
        cmocka_unit_test(a_sample_shows_the_lines_that_differ),
        cmocka_unit_test(a_sample_shows_what_else_is_sent),
        cmocka_unit_test(long_samples_are_shown_in_bounded_time),
        cmocka_unit_test(the_tally_is_said_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
