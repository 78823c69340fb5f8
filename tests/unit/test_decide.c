// How a decision is prepared: what would happen, and what is risky about it (decide_risks), becomes known
// part by part, and can be left at any time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/unit/app_world.h"
#include "ui/views/decide/decide.h"

enum { IDS = 30000 };

// A view that has nothing but something to decide on.
struct fixture_view {
    struct decide decide;
};

static void *
view_open(struct app *app, const void *argument)
{
    (void)app;
    (void)argument;
    return alloc_bytes(sizeof(struct fixture_view));
}

static void
view_close(struct app *app, void *state)
{
    (void)app;
    decide_release(state);
    free(state);
}

static bool
view_undo(struct app *app, void *state, enum action action)
{
    (void)action;
    decide_undo(app, state);
    return true;
}

static const char *shown_by; // the filter of the list

static bool
view_decide(struct app *app, void *state, enum action action)
{
    int64_t *ids = alloc_array(IDS, sizeof *ids);
    for (int64_t i = 0; i < IDS; i++)
        ids[i] = i + 1;
    const struct decide_words words = {.what = "Timeout", .shown_by = shown_by};
    decide_ids(app, state, decide_operation(action), ids, IDS, &words);
    free(ids);
    return true;
}

static const struct view_action actions[] = {
    {.action = DO_UNDO, .run = view_undo},
    {.part = decide_begins, .run = view_decide},
    {0},
};

static bool
view_receive(struct app *app, void *state, struct reply *reply)
{
    return decide_receive(app, state, reply);
}

static void
view_draw(const struct app *app, const void *state, struct canvas *canvas, const struct view_areas *areas)
{
    (void)app;
    (void)state;
    (void)canvas;
    (void)areas;
}

static const struct view view = {.name = "fixture",
                                 .context = CONTEXT_LIST,
                                 .open = view_open,
                                 .close = view_close,
                                 .actions = actions,
                                 .receive = view_receive,
                                 .draw = view_draw};
static const struct view_row rows[] = {{&view, 1}, {&view, 2}};

static int
begin(void **state)
{
    return make_world_of(
        state, &(struct app_config){
                   .views = rows, .view_count = 2, .decision.confirm_above = 100, .decision.max_replays = 3});
}

static char asked_to[300]; // the target of the last preview

// The next request, which is of this kind; returns its number, or that of what it cancels.
static uint64_t
asked(struct world *world, enum request_kind kind)
{
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, kind);
    uint64_t number = kind == REQUEST_CANCEL ? request->target : request->number;
    snprintf(asked_to, sizeof asked_to, "%s", request->texts.target_topic ? request->texts.target_topic : "");
    if (kind == REQUEST_CONFIRM || kind == REQUEST_PREVIEW)
        assert_int_equal(request->ids[0], 1);
    request_destroy(request);
    return number;
}

static void
know(struct world *world, uint64_t number, struct preview preview, bool is_last)
{
    struct reply *reply = reply_create(REPLY_PREVIEW, number);
    reply->preview = preview;
    reply->is_last = is_last;
    tell(world, reply);
}

static const struct preview counted = {.known = 1u << PREVIEW_COUNTS, .open = IDS};

static void
tell_failure(struct world *world, uint64_t number, enum err_kind kind, const char *text)
{
    struct reply *reply = reply_create(REPLY_ERROR, number);
    reply->is_last = true;
    err_set(&reply->err, kind, "%s", text);
    tell(world, reply);
}

// The row of the screen that says this, from 0.
static size_t
row_of(struct world *world, const char *text)
{
    struct strbuf picture = {0};
    canvas_to_text(app_draw(world->app), &picture);
    const char *found = strstr(strbuf_text(&picture), text);
    assert_non_null(found);
    size_t row = 0;
    for (const char *c = strbuf_text(&picture); c < found; c++)
        row += *c == '\n';
    strbuf_release(&picture);
    return row;
}

// Of the dialog, which stands in the middle.
static size_t
height_of(struct world *world)
{
    return row_of(world, "to confirm") - row_of(world, "of Timeout");
}

static void
what_is_known_is_shown(void **state)
{
    struct world *world = *state;
    press(world->app, "R");
    uint64_t number = asked(world, REQUEST_PREVIEW);
    assert_true(shows(world->app, "counting"));
    assert_false(shows(world->app, "to confirm"));
    press(world->app, "why<Tab><Enter>"); // there is nothing to confirm yet
    know(world, number, counted, false);
    assert_true(shows(world->app, "type 30000 to confirm:  "));
    assert_true(shows(world->app, "[ Reprocess ]"));
    assert_true(shows(world->app, "reason why  "));
    assert_true(shows(world->app, "checking for newer events of the same key"));
    size_t height = height_of(world);
    press(world->app, "300");
    know(world, number,
         (struct preview){.known = 1u << PREVIEW_OVERTAKEN, .overtaken.events = 7, .overtaken.resolved = 2},
         false);
    assert_true(shows(world->app, "7 have newer events of the same key, 2 already resolved"));
    assert_true(shows(world->app, "checking for duplicate event ids"));
    assert_true(shows(world->app, "type 30000 to confirm: 300")); // what was typed stays
    assert_int_equal(height_of(world), height);                   // and so does what may be clicked on
    know(world, number, (struct preview){.known = 1u << PREVIEW_DOUBLED, .doubled = 4}, false);
    assert_true(shows(world->app, "checking for events too large for their topic"));
    struct preview_refusal refusal = {"message of 7 bytes, topic a allows 5", "a", 6};
    know(world, number,
         (struct preview){.known = 1u << PREVIEW_REFUSED,
                          .refused.by = &refusal,
                          .refused.by_count = 1,
                          .refused.events = 6},
         true);
    assert_true(shows(world->app, "7 have newer events of the same key, 2 already resolved"));
    assert_true(shows(world->app, "4 have the same event id as another one here"));
    assert_true(shows(world->app, "6 will be refused: message of 7 bytes, topic a allows 5"));
    assert_int_equal(height_of(world), height);
    assert_false(shows(world->app, "checking"));
}

static void
what_was_looked_for_and_not_found_is_said(void **state)
{
    struct world *world = *state;
    press(world->app, "R");
    uint64_t number = asked(world, REQUEST_PREVIEW);
    know(world, number, counted, false);
    size_t height = height_of(world);
    know(world, number, (struct preview){.known = 1u << PREVIEW_OVERTAKEN}, false);
    assert_true(shows(world->app, "no newer events of the same key"));
    assert_true(shows(world->app, "checking for duplicate event ids"));
    assert_int_equal(height_of(world), height);
    know(world, number, (struct preview){.known = 1u << PREVIEW_DOUBLED}, false);
    know(world, number, (struct preview){.known = 1u << PREVIEW_REFUSED}, true);
    assert_true(shows(world->app, "none is too large for its topic"));
    assert_true(shows(world->app, "no newer events of the same key"));
    assert_true(shows(world->app, "no duplicate event ids"));
    assert_int_equal(height_of(world), height);
    assert_false(shows(world->app, "checking"));
}

static void
a_complete_preview_leaves_nothing_to_check(void **state)
{
    struct world *world = *state;
    press(world->app, "R");
    struct preview all = counted;
    all.known = (1u << PREVIEW_PARTS) - 1;
    know(world, asked(world, REQUEST_PREVIEW), all, true);
    assert_false(shows(world->app, "checking"));
    assert_false(shows(world->app, "no newer events"));
    press(world->app, "<Esc>D");
    know(world, asked(world, REQUEST_PREVIEW), counted, true);
    assert_true(shows(world->app, "discards; nothing is sent"));
    assert_false(shows(world->app, "checking"));
}

// The next request about newer records; *question: that it goes on with.
static uint64_t
asked_newer(struct world *world, int64_t *question)
{
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_NEWER);
    uint64_t number = request->number;
    *question = request->id;
    assert_int_equal(request->id_count, request->id ? 0 : IDS);
    request_destroy(request);
    return number;
}

static void
tell_newer(struct world *world, uint64_t number, const struct newer *found, bool has_worker)
{
    struct reply *reply = reply_create(REPLY_NEWER, number);
    reply->newer = (struct newer_reply){.question = 7, .has_worker = has_worker, .found = *found};
    reply->newer.found.stale = arena_array(&reply->arena, 2, sizeof(int64_t));
    reply->newer.found.keys = arena_array(&reply->arena, 1, sizeof(struct newer_key));
    if (found->stale_count) {
        memcpy(reply->newer.found.stale, found->stale, found->stale_count * sizeof(int64_t));
        reply->newer.found.keys[0] =
            (struct newer_key){.key = arena_copy(&reply->arena, BYTES("c-1")), .at = TIME_ABSENT};
    }
    reply->is_last = true;
    tell(world, reply);
}

static void
newer_records_are_looked_for_on_request(void **state)
{
    struct world *world = *state;
    int64_t stale[] = {2, 30000}, question;
    struct preview all = counted;
    all.known = (1u << PREVIEW_PARTS) - 1;
    press(world->app, "R");
    uint64_t preview = asked(world, REQUEST_PREVIEW);
    know(world, preview, all, false);
    press(world->app, "<A-n>"); // once the preview is over, which it would end
    assert_true(shows(world->app, "checking for newer records of the same key in Kafka"));
    assert_null(take_request(world));
    know(world, preview, all, true);
    uint64_t number = asked_newer(world, &question);
    assert_int_equal(question, 0);
    tell_newer(world, number, &(struct newer){.records = 0}, false);
    assert_true(shows(world->app, "no worker that has Kafka is alive"));
    number = asked_newer(world, &question);
    assert_int_equal(question, 7);
    tell_newer(world, number, &(struct newer){.records = 5, .of = 900}, true);
    assert_true(shows(world->app, "5 of 900"));
    number = asked_newer(world, &question);
    tell_newer(world, number,
               &(struct newer){.is_over = true,
                               .events = IDS,
                               .stale = stale,
                               .stale_count = 2,
                               .key_count = 1,
                               .shown = 1,
                               .untold = {[UNTOLD_KEY] = 3}},
               true);
    assert_null(take_request(world));
    assert_true(shows(world->app, "2 have newer records of the same key"));
    assert_true(shows(world->app, "key: c-1"));
    assert_true(shows(world->app, "3 unknown: have no key"));
    assert_true(shows(world->app, "--check-newer"));
    press(world->app, "<A-n>"); // left out
    know(world, asked(world, REQUEST_PREVIEW), all, true);
    assert_true(shows(world->app, "29,998 events of Timeout"));
    assert_true(shows(world->app, "left out: 2 have newer records"));
    assert_true(shows(world->app, "type 29998 to confirm"));
    assert_true(shows(world->app, "--skip-stale"));
    press(world->app, "<A-n>"); // taken back
    know(world, asked(world, REQUEST_PREVIEW), all, true);
    assert_true(shows(world->app, "type 30000 to confirm"));
    press(world->app, "<A-n>");
    know(world, asked(world, REQUEST_PREVIEW), all, true);
    press(world->app, "<Tab>29998<Enter><Enter>");
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_CONFIRM);
    assert_int_equal(request->id_count, IDS - 2);
    assert_int_equal(request->ids[1], 3);
    assert_int_equal(request->ids[IDS - 3], 29999);
    request_destroy(request);
}

static void
newer_records_of_every_event_leave_nothing_to_send(void **state)
{
    struct world *world = *state;
    int64_t question;
    int64_t *every = alloc_array(IDS, sizeof *every);
    for (int64_t i = 0; i < IDS; i++)
        every[i] = i + 1;
    struct preview all = counted;
    all.known = (1u << PREVIEW_PARTS) - 1;
    all.checks_newer = true; // the setting asks
    press(world->app, "R");
    know(world, asked(world, REQUEST_PREVIEW), all, true);
    struct reply *reply = reply_create(REPLY_NEWER, asked_newer(world, &question));
    reply->newer = (struct newer_reply){
        .question = 7, .found = {.is_over = true, .events = IDS, .stale_count = IDS, .key_count = IDS}};
    reply->newer.found.stale = arena_array(&reply->arena, IDS, sizeof *every);
    memcpy(reply->newer.found.stale, every, IDS * sizeof *every);
    tell(world, reply);
    free(every);
    press(world->app, "<A-n>");
    assert_null(take_request(world));
    assert_true(shows(world->app, "30,000 have newer records"));
    assert_true(shows(world->app, "nothing would be left"));
    press(world->app, "<Esc>R"); // of another decision nothing is known
    know(world, asked(world, REQUEST_PREVIEW), counted, true);
    assert_false(shows(world->app, "have newer records"));
}

static void
leaving_stops_the_counting(void **state)
{
    struct world *world = *state;
    static const char *const ways[] = {"<Esc>", "<C-c>", "<S-Tab><Enter>", "no, <C-g>"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool has_counts = i % 2 == 1;
        press(world->app, "R");
        uint64_t number = asked(world, REQUEST_PREVIEW);
        if (has_counts)
            know(world, number, counted, false);
        press(world->app, ways[i]);
        assert_int_equal(asked(world, REQUEST_CANCEL), number);
        assert_false(shows(world->app, "Reprocess"));
        tell_failure(world, number, ERR_CANCELLED, "stopped");
        assert_true(shows(world->app, "nothing changed")); // and not how the counting ended
    }
}

static void
confirmed_it_looks_no_further(void **state)
{
    struct world *world = *state;
    press(world->app, "R");
    uint64_t number = asked(world, REQUEST_PREVIEW);
    know(world, number, counted, false);
    press(world->app, "<Tab>30000<Enter><Enter>");
    assert_int_equal(asked(world, REQUEST_CANCEL), number);
    uint64_t confirm = asked(world, REQUEST_CONFIRM);
    tell_failure(world, number, ERR_CANCELLED, "stopped");
    struct reply *reply = reply_create(REPLY_CONFIRMED, confirm);
    reply->news.operation = 7;
    reply->is_last = true;
    tell(world, reply);
    assert_true(shows(world->app, "operation 7 queued · u undo · @ watch"));
}

// Confirms a reprocess of which all is known. The answer is the caller's: to be filled in, and told.
static struct reply *
confirm(struct world *world)
{
    press(world->app, "R");
    struct preview all = counted;
    all.known = (1u << PREVIEW_PARTS) - 1;
    know(world, asked(world, REQUEST_PREVIEW), all, true);
    press(world->app, "<Tab>30000<Enter><Enter>");
    struct reply *reply = reply_create(REPLY_CONFIRMED, asked(world, REQUEST_CONFIRM));
    reply->operations.list = arena_alloc(&reply->arena, sizeof *reply->operations.list);
    reply->operations.count = 1;
    reply->is_last = true;
    return reply;
}

// Two people confirm for the same events in the same second: the second one learns who has the events, not
// that they are sent.
static void
a_later_decision_names_the_earlier_one(void **state)
{
    struct world *world = *state;
    struct reply *reply = confirm(world);
    *reply->operations.list = (struct operation){.no = 7,
                                                 .action = ACTION_REPROCESS,
                                                 .state = OPERATION_DONE,
                                                 .total = 30000,
                                                 .skipped = 30000,
                                                 .send_after = clock_now() + US_PER_SECOND};
    reply->operations.outcomes = arena_alloc(&reply->arena, sizeof *reply->operations.outcomes);
    reply->operations.outcome_count = 1;
    *reply->operations.outcomes =
        (struct outcome){.state = ITEM_SKIPPED, .reason = "in ana's operation 6", .count = 30000};
    tell(world, reply);
    assert_true(shows(world->app, "operation 7: nothing to send, all 30,000 skipped: in ana's operation 6"));
    press(world->app, "u"); // there is nothing to call back
    assert_null(take_request(world));
}

static void
unknown_risks_are_shown(void **state)
{
    struct world *world = *state;
    press(world->app, "R");
    uint64_t number = asked(world, REQUEST_PREVIEW);
    know(world, number, counted, false);
    tell_failure(world, number, ERR_INTERNAL, "42 s");
    assert_true(shows(world->app, "could not check for newer events of the same key"));
    assert_true(shows(world->app, "newer events of the same key: 42 s"));
    assert_true(shows(world->app, "could not check for duplicate event ids"));
    assert_false(shows(world->app, "twice: 42 s")); // said once
    assert_true(shows(world->app, "type 30000 to confirm"));
    // Without counts there is nothing to decide on.
    press(world->app, "<Esc>R");
    tell_failure(world, asked(world, REQUEST_PREVIEW), ERR_INTERNAL, "42 s");
    assert_false(shows(world->app, "Cancel"));
}

// The target that the setting consumers names is filled in, said, and counted; one that is typed is counted
// before it can be confirmed.
static void
a_target_is_filled_in_and_counted_again(void **state)
{
    struct world *world = *state;
    struct preview_topic topics[] = {
        {.topic = "orders.events", .count = IDS, .refusal = "audit must not get them again"}};
    struct preview preview = counted;
    preview.topics = topics;
    preview.topic_count = 1;
    preview.routed = "orders";
    press(world->app, "R");
    uint64_t number = asked(world, REQUEST_PREVIEW);
    assert_string_equal(asked_to, "");
    know(world, number, preview, true);
    number = asked(world, REQUEST_PREVIEW);
    assert_string_equal(asked_to, "orders");
    assert_false(shows(world->app, "to confirm")); // not counted yet
    topics[0] = (struct preview_topic){.topic = "orders", .count = IDS};
    preview.routed = NULL;
    preview.known = (1u << PREVIEW_PARTS) - 1;
    know(world, number, preview, true);
    assert_true(shows(world->app, "to   orders (30,000)"));
    assert_true(shows(world->app, "by the setting consumers"));
    assert_true(shows(world->app, "topics not asked yet"));
    assert_true(shows(world->app, "--to orders"));
    assert_true(shows(world->app, "to confirm"));

    // Five fields, the count, the button and Cancel: Shift-Tab goes backwards from the reason to the last
    // field.
    press(world->app, "<S-Tab><S-Tab>.retry");
    assert_null(take_request(world)); // while it is typed nothing is asked
    assert_false(shows(world->app, "[ Reprocess ]"));
    press(world->app, "<Tab>");
    number = asked(world, REQUEST_PREVIEW);
    assert_string_equal(asked_to, "orders.retry");
    topics[0] = (struct preview_topic){
        .topic = "orders.retry", .count = IDS, .is_asked = true, .asked_at = clock_now() - 240000000};
    know(world, number, preview, true);
    assert_true(shows(world->app, "to   orders.retry (30,000)"));
    assert_false(shows(world->app, "by the setting consumers"));
    assert_true(shows(world->app, "topics asked 4m ago"));
    press(world->app, "<Esc>");
}

// Where dead letters go, how that is known, and what becomes of their headers, before anything is sent.
static void
what_is_undone_is_said(void **state)
{
    struct world *world = *state;
    struct preview_topic topics[] = {
        {.topic = "orders", .count = IDS, .why = "by the name of its dead letter queue"}};
    struct preview preview = counted;
    preview.topics = topics;
    preview.topic_count = 1;
    preview.letters = (struct preview_letters){.events = 20,
                                               .letters = 20,
                                               .exact = 19,
                                               .unsure = 1,
                                               .formats = "spring-dlt (20)",
                                               .kept = "traceparent",
                                               .dropped = "kafka_dlt-original-topic",
                                               .added = "reprocess.count",
                                               .why_inexact = "PostgreSQL's text",
                                               .why_unsure = "two formats match"};
    press(world->app, "R");
    know(world, asked(world, REQUEST_PREVIEW), preview, true);
    static const char *const lines[] = {
        "by the name of its dead letter queue", "dead letters, of 20 looked at: spring-dlt (20)",
        "headers kept     traceparent",         "headers dropped  kafka_dlt-original-topic",
        "headers added    reprocess.count",     "19 of 20 byte for byte: PostgreSQL's text",
        "1 not certain: two formats match"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!shows(world->app, lines[i]))
            fail_msg("not shown: %s", lines[i]);
    press(world->app, "<Esc>");
}

// As the dialog says: the list has the filter is:quarantined.
static void
events_in_quarantine_are_sent_where_they_are_named(void **state)
{
    struct world *world = *state;
    int64_t quarantined[] = {2, 30000};
    struct preview preview = counted;
    preview.quarantine.events = 2;
    preview.quarantine.id_count = 2;
    preview.quarantine.ids = quarantined;
    shown_by = "topic:orders is:quarantined";
    press(world->app, "R");
    know(world, asked(world, REQUEST_PREVIEW), preview, false);
    assert_true(shows(world->app, "2 returned 3 times or more"));
    assert_true(shows(world->app, "type 30000 to confirm"));
    press(world->app, "<Esc>");
    (void)asked(world, REQUEST_CANCEL);
    shown_by = "!is:quarantined";
    press(world->app, "R");
    know(world, asked(world, REQUEST_PREVIEW), preview, false);
    (void)asked(world, REQUEST_PREVIEW); // of the rest
    shown_by = NULL;
}

static void
quarantined_events_are_left_out_and_the_rest_counted_again(void **state)
{
    struct world *world = *state;
    press(world->app, "R");
    uint64_t number = asked(world, REQUEST_PREVIEW);
    struct preview preview = counted;
    int64_t quarantined[] = {2, 30000};
    preview.quarantine.events = 2;
    preview.quarantine.id_count = 2;
    preview.quarantine.ids = quarantined;
    know(world, number, preview, false);
    assert_false(shows(world->app, "to confirm")); // what is left is not counted yet
    uint64_t again = asked(world, REQUEST_PREVIEW);
    know(world, number, (struct preview){.known = 1u << PREVIEW_OVERTAKEN, .overtaken.events = 9}, false);
    assert_false(shows(world->app, "9 have"));
    know(world, again, counted, false);
    assert_true(shows(world->app, "type 29998 to confirm"));
    assert_true(shows(world->app, "left out 2 in quarantine (returned 3 times)"));
    assert_true(shows(world->app, "checking for newer events"));
    press(world->app, "<Esc>");
    assert_int_equal(asked(world, REQUEST_CANCEL), again);
}

// Confirms a reprocess that waits so long before its first send.
static void
confirm_with_wait(struct world *world, int64_t wait)
{
    struct reply *reply = confirm(world);
    *reply->operations.list = (struct operation){.no = 7,
                                                 .action = ACTION_REPROCESS,
                                                 .state = OPERATION_FROZEN,
                                                 .created_at = clock_now(),
                                                 .send_after = clock_now() + wait};
    tell(world, reply);
    assert_true(shows(world->app, wait > US_PER_SECOND ? "operation 7: sending in 1h · u undo · @ watch"
                                                       : "operation 7"));
}

static void
assert_undoes(struct world *world, int64_t no)
{
    press(world->app, "u");
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_STEER);
    assert_int_equal(request->steering.steer, STEER_UNDO);
    assert_int_equal(request->operation, no);
    request_destroy(request);
}

// The database refuses where something was sent, so nobody here has to know the time.
static void
a_reprocess_is_called_back_until_its_first_send(void **state)
{
    struct world *world = *state;
    confirm_with_wait(world, 3600 * US_PER_SECOND);
    assert_undoes(world, 7);
    press(world->app, "u"); // once
    assert_null(take_request(world));
    assert_true(shows(world->app, "nothing to undo"));
}

// A countdown that is over is not true any more.
static void
a_message_leaves_when_it_is_no_longer_true(void **state)
{
    struct world *world = *state;
    enum { WAIT = 100000 };
    confirm_with_wait(world, WAIT);
    clock_sleep(WAIT);
    app_redraw(world->app);
    assert_false(shows(world->app, "operation 7"));
    assert_undoes(world, 7);
}

static void
assert_asks_for(struct world *world, const char *keys, struct list_query *query)
{
    press(world->app, keys);
    struct request *request = take_request(world);
    assert_non_null(request);
    assert_int_equal(request->kind, REQUEST_COLLECT);
    *query = request->list;
    request_destroy(request);
}

// u undoes the last thing, whatever it was: a step of the selection that came after the decision first; the
// steps before it are gone with it.
static void
the_last_thing_is_undone_whatever_it_was(void **state)
{
    struct world *world = *state;
    struct list_query query;
    struct reply *reply = confirm(world);
    *reply->operations.list = (struct operation){
        .no = 8, .action = ACTION_RESOLVE, .state = OPERATION_FROZEN, .send_after = TIME_ABSENT};
    reply->news.operation = 8;
    selection_toggle(app_selection(world->app), 3);
    tell(world, reply);
    app_did(world->app, &(struct app_deed){.operation = 8, .action = ACTION_RESOLVE, .until = TIME_ABSENT});
    assert_true(shows(world->app, "operation 8 queued · u undo · @ watch"));
    assert_int_equal(app_selection(world->app)->count, 0);
    selection_toggle(app_selection(world->app), 4);
    press(world->app, "u");
    assert_null(take_request(world));
    assert_true(shows(world->app, "step of the selection undone: 0 selected"));
    assert_asks_for(world, "u", &query);
    assert_int_equal(query.source, LIST_OPERATION);
    assert_int_equal(query.operation, 8);
    assert_int_equal(query.item_states, 1u << ITEM_DONE);
}

// Events that were collected for one view come while another view asks. Whoever is about to answer it would
// confirm what they have not read.
static void
a_late_decision_does_not_take_the_place_of_another(void **state)
{
    struct world *world = *state;
    app_did(world->app, &(struct app_deed){.operation = 8, .action = ACTION_DISCARD, .until = TIME_ABSENT});
    press(world->app, "u");
    uint64_t collected = asked(world, REQUEST_COLLECT);
    press(world->app, "2R");
    uint64_t preview = asked(world, REQUEST_PREVIEW);
    assert_true(shows(world->app, "Reprocess"));

    struct reply *reply = reply_create(REPLY_LIST, collected);
    reply->is_last = reply->list.is_first = true;
    reply->list.count = 1;
    reply->list.ids = alloc_array(1, sizeof *reply->list.ids);
    reply->list.ids[0] = 1;
    tell(world, reply);
    assert_true(shows(world->app, "was not asked: another question was open"));
    assert_true(shows(world->app, "Reprocess"));
    assert_null(take_request(world));

    know(world, preview, counted, false);
    assert_true(shows(world->app, "to confirm"));
}

#define DECISION(test) cmocka_unit_test_setup_teardown(test, begin, destroy_world)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        DECISION(what_is_known_is_shown),
        DECISION(what_was_looked_for_and_not_found_is_said),
        DECISION(a_complete_preview_leaves_nothing_to_check),
        DECISION(newer_records_are_looked_for_on_request),
        DECISION(newer_records_of_every_event_leave_nothing_to_send),
        DECISION(leaving_stops_the_counting),
        DECISION(confirmed_it_looks_no_further),
        DECISION(a_later_decision_names_the_earlier_one),
        DECISION(unknown_risks_are_shown),
        DECISION(quarantined_events_are_left_out_and_the_rest_counted_again),
        DECISION(a_target_is_filled_in_and_counted_again),
        DECISION(what_is_undone_is_said),
        DECISION(events_in_quarantine_are_sent_where_they_are_named),
        DECISION(a_reprocess_is_called_back_until_its_first_send),
        DECISION(a_message_leaves_when_it_is_no_longer_true),
        DECISION(the_last_thing_is_undone_whatever_it_was),
        DECISION(a_late_decision_does_not_take_the_place_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
