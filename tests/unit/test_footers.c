// A footer offers only what works here, now, for this person: each key that it names is pressed, in every
// situation. The test is the backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/strbuf.h"
#include "tests/unit/answers.h"
#include "ui/keymap/key.h"

enum { ROWS = 40, COLS = 250, KEYS_MOST = 16, KEY_MOST = 16, LOOK_ROWS = ROWS - 2 };

static int failures;

enum person { OPERATOR, READER };
enum workers { WORKING, NO_WORKER };

struct situation {
    const char *name;
    const char *keys; // that lead there from the groups
    enum person person;
    enum workers workers;
    struct answers answers;
    const char *offers, *hides; // words of the footer that are there, and that are not; NULL: any
};

#define OPERATION(its_action, its_state, ...)                                                                \
    (const struct operation[])                                                                               \
    {                                                                                                        \
        {                                                                                                    \
            .no = 41, .action = its_action, .state = its_state, .requested_by = "ana", .scope = "",          \
            .reason = "", .total = 10, .started_at = TIME_ABSENT, .finished_at = TIME_ABSENT,                \
            .settle_until = TIME_ABSENT, .send_after = TIME_ABSENT, __VA_ARGS__                              \
        }                                                                                                    \
    }
#define WITH_A(action, ...)                                                                                  \
    {                                                                                                        \
        .groups = 3, .events = 5, .operations = OPERATION(action, __VA_ARGS__), .operation_count = 1         \
    }
#define WITH(...) WITH_A(ACTION_REPROCESS, __VA_ARGS__)

static const struct situation situations[] = {
    {"groups", "", OPERATOR, WORKING, {.groups = 3, .events = 5}, "R reprocess", NULL},
    {"groups, no worker", "", OPERATOR, NO_WORKER, {.groups = 3, .events = 5}, "R reprocess", NULL},
    {"groups, a reader", "", READER, WORKING, {.groups = 3, .events = 5}, "Enter open", "R reprocess"},
    {"no groups", "", OPERATOR, WORKING, {0}, "/ filter", "Enter open"},
    {"one group", "", OPERATOR, WORKING, {.groups = 1, .events = 1}, "Enter open", NULL},
    {"a group selected", "<Space>", OPERATOR, WORKING, {.groups = 3, .events = 5}, "R reprocess", NULL},
    {"the preview of groups", "<Tab>", OPERATOR, WORKING, {.groups = 3, .events = 5}, "Tab list", NULL},
    {"events", "2", OPERATOR, WORKING, {.groups = 3, .events = 5}, "R reprocess", NULL},
    {"events, a reader", "2", READER, WORKING, {.groups = 3, .events = 5}, "Enter open", "D discard"},
    {"no events", "2", OPERATOR, WORKING, {0}, "/ filter", "R reprocess"},
    {"one event", "2", OPERATOR, WORKING, {.groups = 1, .events = 1}, "Enter open", NULL},
    {"an event selected", "2<Space>", OPERATOR, WORKING, {.groups = 3, .events = 5}, "D discard", NULL},
    {"the preview of events", "2<Tab>", OPERATOR, WORKING, {.groups = 3, .events = 5}, "Tab list", NULL},
    {"an event", "2<Enter>", OPERATOR, WORKING, {.groups = 3, .events = 5}, "R reprocess", NULL},
    {"an event, a reader", "2<Enter>", READER, WORKING, {.groups = 3, .events = 5}, "y copy", "R reprocess"},
    {"a resolved event",
     "2<Enter>",
     OPERATOR,
     WORKING,
     {.groups = 3, .events = 5, .status = EVENT_RESOLVED},
     "y copy",
     "R reprocess"},
    {"a discarded event",
     "2<Enter>",
     OPERATOR,
     WORKING,
     {.groups = 3, .events = 5, .status = EVENT_DISCARDED},
     "y copy",
     "D discard"},
    {"no operations", "4", OPERATOR, WORKING, {0}, NULL, "Enter open"},
    {"a running operation in the list", "4", OPERATOR, WORKING, WITH(OPERATION_RUNNING, .queued = 5),
     "p pause", NULL},
    {"a running operation", "4<Enter>", OPERATOR, WORKING, WITH(OPERATION_RUNNING, .queued = 5), "p pause",
     NULL},
    {"a running operation, a reader", "4<Enter>", READER, WORKING, WITH(OPERATION_RUNNING, .queued = 5), NULL,
     "p pause"},
    {"a paused operation", "4<Enter>", OPERATOR, WORKING, WITH(OPERATION_PAUSED, .queued = 5), "p resume",
     NULL},
    {"a halted operation", "4<Enter>", OPERATOR, WORKING, WITH(OPERATION_HALTED, .queued = 5), "p resume",
     NULL},
    {"an operation to approve", "4<Enter>", OPERATOR, WORKING, WITH(OPERATION_AWAITING, .queued = 10),
     "A approve", "p pause"},
    {"a finished operation in the list", "4", OPERATOR, WORKING, WITH(OPERATION_DONE, .done = 10),
     "Enter open", "p pause"},
    {"a finished operation", "4<Enter>", OPERATOR, WORKING, WITH(OPERATION_DONE, .done = 10), NULL,
     "X cancel"},
    {"a finished discard", "4<Enter>", OPERATOR, WORKING, WITH_A(ACTION_DISCARD, OPERATION_DONE, .done = 10),
     "u undo", "p pause"},
    {"a cancelled operation", "4<Enter>", OPERATOR, WORKING, WITH(OPERATION_CANCELLED, .cancelled = 10), NULL,
     "+ faster"},
    {"an empty audit", "5", OPERATOR, WORKING, {0}, "/ filter", "Enter open"},
    {"help", "?", OPERATOR, WORKING, {.groups = 3}, "/ search", "? help"},
    {"messages", ":messages<Enter>", OPERATOR, WORKING, {.groups = 3}, NULL, NULL},
    {"the palette", ":", OPERATOR, WORKING, {.groups = 3}, NULL, NULL},
};

static void
draw(struct world *world, const struct situation *situation)
{
    for (int i = 0; i < 4; i++) { // what comes into sight is requested
        (void)app_draw(world->app);
        answer_all(world, &situation->answers);
    }
}

static struct world *
arrive(const struct situation *situation)
{
    void *state;
    (void)make_world_of(&state, &(struct app_config){.views = views, .view_count = view_count});
    struct world *world = state;
    struct reply *reply = reply_create(REPLY_STATUS, 0);
    reply->status = (struct status){.link = LINK_LIVE,
                                    .has_schema = true,
                                    .is_read_only = situation->person == READER,
                                    .pending = situation->answers.events,
                                    .worker.count = situation->workers == WORKING};
    tell(world, reply);
    app_resize(world->app, ROWS, COLS);
    draw(world, situation);
    uint32_t key;
    for (size_t at = 0, from = 0; key_parse_next(bytes_of(situation->keys), &at, &key, NULL); from = at) {
        char one[KEY_MOST];
        snprintf(one, sizeof one, "%.*s", (int)(at - from), situation->keys + from);
        press(world->app, one);
        draw(world, situation);
    }
    return world;
}

static void
footer_of(struct world *world, struct strbuf *footer)
{
    struct strbuf picture = {0};
    canvas_to_text(app_draw(world->app), &picture);
    const char *text = strbuf_text(&picture);
    size_t end = picture.len && text[picture.len - 1] == '\n' ? picture.len - 1 : picture.len;
    size_t from = end;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    strbuf_reset(footer);
    strbuf_add(footer, bytes_slice(strbuf_bytes(&picture), from, end - from));
    strbuf_release(&picture);
}

// "Enter open  / filter": the keys, as one presses them.
static size_t
keys_of(const struct strbuf *footer, char keys[KEYS_MOST][KEY_MOST])
{
    size_t count = 0;
    for (const char *at = strbuf_text(footer); *at && count < KEYS_MOST; count++) {
        at += strspn(at, " ");
        size_t len = strcspn(at, " ");
        if (!len)
            break;
        snprintf(keys[count], KEY_MOST, len > 1 ? "<%.*s>" : "%.*s", (int)len, at);
        const char *gap = strstr(at, "  ");
        at = gap ? gap : at + strlen(at);
    }
    return count;
}

// The picture without its message and its footer.
static void
look(struct world *world, struct strbuf *picture)
{
    strbuf_reset(picture);
    canvas_to_text(app_draw(world->app), picture);
    size_t at = 0;
    for (int row = 0; row < LOOK_ROWS && at < picture->len; row++)
        at = bytes_find(strbuf_bytes(picture), BYTES("\n"), at) + 1;
    picture->len = at;
}

static bool
is_refused(struct world *world)
{
    struct app_message message;
    return app_message(world->app, 0, &message) && (message.say == SAY_WARN || message.say == SAY_ERROR);
}

// Something else is seen, was requested, copied or begun.
static void
expect_effect(const struct situation *situation, const char *key)
{
    struct world *world = arrive(situation);
    struct strbuf before = {0}, after = {0}, footer = {0}, footer_before = {0};
    look(world, &before);
    footer_of(world, &footer_before);
    struct app_message message;
    bool had_message = app_message(world->app, 0, &message);
    press(world->app, key);
    struct request *request = take_request(world);
    look(world, &after);
    footer_of(world, &footer);
    bool says = !had_message && app_message(world->app, 0, &message);
    bool acts = request || says || app_wants(world->app, WISH_COPY) ||
                !bytes_equal(strbuf_bytes(&before), strbuf_bytes(&after)) ||
                !bytes_equal(strbuf_bytes(&footer_before), strbuf_bytes(&footer));
    if (!acts || is_refused(world))
        print_error("%s: the footer offers %s, which %s%s\n", situation->name, key,
                    acts ? "is refused: " : "does nothing", acts ? message.text : "");
    failures += !acts || is_refused(world);
    request_destroy(request);
    strbuf_release(&before);
    strbuf_release(&after);
    strbuf_release(&footer);
    strbuf_release(&footer_before);
    void *state = world;
    (void)destroy_world(&state);
}

static void
a_footer_offers_what_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        const struct situation *situation = &situations[i];
        struct world *world = arrive(situation);
        struct strbuf footer = {0};
        char keys[KEYS_MOST][KEY_MOST];
        footer_of(world, &footer);
        if (situation->offers && !strstr(strbuf_text(&footer), situation->offers))
            failures++,
                print_error("%s: no \"%s\" in%s\n", situation->name, situation->offers, strbuf_text(&footer));
        if (situation->hides && strstr(strbuf_text(&footer), situation->hides))
            failures++,
                print_error("%s: \"%s\" in%s\n", situation->name, situation->hides, strbuf_text(&footer));
        size_t count = keys_of(&footer, keys);
        for (size_t k = 0; k < count; k++)
            if (strcmp(keys[k], "w") != 0 || !strstr(strbuf_text(&footer), "w wrap")) // every line fits
                expect_effect(situation, keys[k]);
        strbuf_release(&footer);
        void *created = world;
        (void)destroy_world(&created);
    }
    assert_int_equal(failures, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_footer_offers_what_works),
    };
    return cmocka_run_group_tests_name("footers", tests, NULL, NULL);
}
