// A monkey before the real screen: random keys, escape sequences, clicks and pastes, on a real database. On a
// protected profile nothing changes. As built in, nothing large and nothing that holds for everybody does,
// and each change was made on purpose: the focus stood on the button that confirms and Enter came, or a click
// on that button. Time is the monkey's own, so nobody waits for it.
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "tests/lib/folder.h"
#include "tests/store/backend_world.h"
#include "ui/app/app.h"
#include "ui/term/input.h"

enum { KEYS = 10000, SITTING = 125, LOOKS = 20, EVENTS = 900, CONFIRM_ABOVE = 100, DIALOGS = 25 };

struct monkey {
    struct bench bench;
    struct app_config config;
    struct app *app;
    struct input input;
    uint64_t random;
    struct strbuf picture; // before the next event
    int64_t began;         // the last line of the audit before the first key
    int64_t presses;       // on purpose: the button had the focus and Enter came, or a click on it
    int64_t dialogs, starts;
};

// xorshift64*: the same keys on every machine.
static uint64_t
pick(struct monkey *monkey, uint64_t below)
{
    monkey->random ^= monkey->random >> 12;
    monkey->random ^= monkey->random << 25;
    monkey->random ^= monkey->random >> 27;
    return (monkey->random * 2685821657736338717ULL >> 33) % below;
}

static const char *const verbs[] = {"Reprocess",     "Resolve", "Discard", "Restore",
                                    "Apply recipe",  "Save",    "Set",     "Approve",
                                    "Stop the rest", "Resume",  "Decide",  "Release"};
enum { VERBS = sizeof verbs / sizeof *verbs };

// What is in the table, and decided before by others: something to approve, to resume, to stop.
static void
fill(struct monkey *monkey)
{
    struct world *world = &monkey->bench.world;
    test_sql(world->admin,
             "UPDATE public.dlq_events SET event_type = CASE WHEN id %% 2 = 0 THEN 'order.created' ELSE "
             "'paid' END,"
             " stack_trace = NULL, error_message = CASE WHEN id <= 1 THEN 'NullPointerException: a'"
             " WHEN id <= 4 THEN 'ValidationError: amount must be positive'"
             " WHEN id <= 60 THEN 'TimeoutException: no answer within 30 s'"
             " WHEN id <= 240 THEN 'DuplicateKeyException: orders_pkey'"
             " ELSE 'ConnectException: connection refused by host-' || id %% 7 END");
    (void)make_operation(world, world->store, ACTION_REPROCESS, 300, 450);
    (void)make_operation(world, world->store, ACTION_REPROCESS, 451, 470);
    (void)make_operation(world, world->store, ACTION_REPROCESS, 471, 620);
    (void)make_operation(world, world->store, ACTION_DISCARD, 621, 630);
    test_sql(world->admin,
             "UPDATE redrive.operation SET state = 'halted', state_note = '9%% returned' WHERE no = 1;"
             "UPDATE redrive.operation SET state = 'paused' WHERE no = 2;"
             "UPDATE redrive.operation SET state = 'awaiting approval', requested_by = 'rui' WHERE no = 3");
    monkey->began = test_number(world->admin, "SELECT max(no) FROM redrive.audit");
}

static void
sit_down(struct monkey *monkey, bool is_protected, uint64_t seed)
{
    *monkey = (struct monkey){.random = seed};
    bench_prepare(&monkey->bench, EVENTS);
    fill(monkey);
    monkey->config = (struct app_config){.views = views,
                                         .view_count = view_count,
                                         .breadcrumb = "redrive",
                                         .label = is_protected ? "PROD" : NULL,
                                         .decision = {.is_protected = is_protected,
                                                      .confirm_above = CONFIRM_ABOVE,
                                                      .approve_above = 10000,
                                                      .max_replays = 3,
                                                      .send_after = 3 * US_PER_SECOND},
                                         .takes_mouse = true,
                                         .editor = {.style = "plain"},
                                         .idle_fd = -1};
    input_set_delay(&monkey->input, 1000);
}

static void
get_up(struct monkey *monkey)
{
    app_destroy(monkey->app);
    input_release(&monkey->input);
    strbuf_release(&monkey->picture);
    bench_end(&monkey->bench);
}

// Turns of the loop until nothing is outstanding, or nothing came for a moment: a hand does not wait for ever
// either.
static void
turn(struct monkey *monkey)
{
    enum { MOMENT = 20 };
    for (;;) {
        (void)app_receive(monkey->app, US_PER_SECOND);
        app_tick(monkey->app);
        (void)app_draw(monkey->app);
        if (app_wants(monkey->app, WISH_RUN))
            app_program_ended(monkey->app, -1);
        struct pollfd fd = {.fd = mailbox_fd(monkey->bench.replies), .events = POLLIN};
        if (app_is_idle(monkey->app) || app_is_over(monkey->app) || poll(&fd, 1, MOMENT) == 0)
            return;
    }
}

static void
look(struct monkey *monkey)
{
    strbuf_reset(&monkey->picture);
    canvas_to_text(app_draw(monkey->app), &monkey->picture);
}

// The button that confirms, in brackets or not: where it stands. false: there is none.
static bool
find_button(const struct monkey *monkey, bool in_focus, int *row, int *col, int *width)
{
    const char *picture = monkey->picture.data;
    if (!strstr(picture, "Cancel"))
        return false;
    for (int i = 0; i < VERBS; i++) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, in_focus ? "[ %s ]" : "Cancel     %s  ", verbs[i]);
        const char *at = strstr(picture, wanted);
        if (!at)
            continue;
        at += in_focus ? 0 : strlen("Cancel   ");
        const char *line = at;
        while (line > picture && line[-1] != '\n')
            line--;
        *row = 0;
        for (const char *c = picture; c < line; c++)
            *row += *c == '\n';
        *col = text_cells((struct bytes){line, (size_t)(at - line)}, false);
        *width = (int)strlen(verbs[i]) + 4;
        return true;
    }
    return false;
}

static bool
is_on_purpose(const struct monkey *monkey, const struct input_event *event)
{
    int row, col, width;
    bool has_focus = find_button(monkey, true, &row, &col, &width);
    if (event->kind == INPUT_KEY)
        return has_focus && event->key == KEY_CODE_ENTER;
    if (event->kind != INPUT_MOUSE || event->button != MOUSE_LEFT ||
        (!has_focus && !find_button(monkey, false, &row, &col, &width)))
        return false;
    return event->row == row && event->col >= col && event->col < col + width;
}

static int64_t
changes(const struct monkey *monkey, const char *which)
{
    char sql[700];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.audit AS a WHERE a.no > %lld AND %s",
             (long long)monkey->began, which);
    return test_number(monkey->bench.world.admin, sql);
}

// What is asked about: not pausing and rates, which change no event, nor calling back what waits to be sent.
#define ASKED                                                                                                \
    "action IN ('reprocess', 'resolve', 'discard', 'restore', 'correct', 'category', 'cancel', 'approve', "  \
    "'resume', 'decide') AND NOT (action = 'cancel' AND EXISTS (SELECT FROM redrive.operation WHERE "        \
    "operation.no = "                                                                                        \
    "operation_no AND finished_at < send_after))"

static void
handle(struct monkey *monkey, const struct input_event *event)
{
    look(monkey);
    monkey->presses += is_on_purpose(monkey, event);
    if (event->kind == INPUT_KEY) {
        app_pace(monkey->app);
        app_key(monkey->app, event->key);
    } else if (event->kind == INPUT_PASTE) {
        app_paste(monkey->app, event->paste);
    } else {
        app_mouse(monkey->app, event->button, event->row, event->col);
    }
    if (!app_wants(monkey->app, WISH_FLUSH))
        return;
    monkey->dialogs++;
    input_reset(&monkey->input);
}

static void
feed(struct monkey *monkey, struct bytes bytes)
{
    struct input_event event;
    input_feed(&monkey->input, bytes);
    while (!app_is_over(monkey->app) && input_next(&monkey->input, true, &event))
        handle(monkey, &event);
}

static void
add_random_text(struct monkey *monkey, struct strbuf *out, size_t most)
{
    static const char often[] = "\t\r\t\r\n\x1b[C1234567890yYnqRDSKAX";
    for (uint64_t i = 1 + pick(monkey, most); i > 0; i--)
        strbuf_add_char(out, pick(monkey, 3) ? (char)(' ' + pick(monkey, 95))
                                             : often[pick(monkey, sizeof often - 1)]);
}

static void
add_click(struct monkey *monkey, struct strbuf *out)
{
    int row = (int)pick(monkey, 24), col = (int)pick(monkey, 80), width;
    look(monkey);
    if (pick(monkey, 3) == 0 &&
        (find_button(monkey, false, &row, &col, &width) || find_button(monkey, true, &row, &col, &width)))
        col += (int)pick(monkey, (uint64_t)width);
    static const int buttons[] = {0, 0, 0, 1, 2, 64, 65};
    strbuf_printf(out, "\x1b[<%d;%d;%dM", buttons[pick(monkey, 7)], col + 1, row + 1);
}

// What the monkey does next, as a terminal sends it.
static void
add_act(struct monkey *monkey, struct strbuf *out)
{
    static const char *const sequences[] = {
        "\x1b[A",  "\x1b[B", "\x1b[C",   "\x1b[D",       "\x1b[Z",   "\x1b[H",       "\x1b[F",  "\x1b[5~",
        "\x1b[6~", "\x1bOP", "\x1bOQ",   "\x1b[15~",     "\x1b[24~", "\x1b[1;2B",    "\x1b[3~", "\x1b[2~",
        "\x1bm",   "\x1by",  "\x1b[99x", "\x1b]0;t\x07", "\xc3\xa9", "\xe2\x82\xac", "\xff",    "\x1b[I"};
    static const char capitals[] = "RSDURKAXCVFPEOM";
    uint64_t kind = pick(monkey, 100);
    if (kind < 50)
        strbuf_add_char(out, (char)(' ' + pick(monkey, 95)));
    else if (kind < 58)
        strbuf_add_char(out, capitals[pick(monkey, sizeof capitals - 1)]);
    else if (kind < 61)
        strbuf_add_char(out, (char)('1' + pick(monkey, 9)));
    else if (kind < 69)
        strbuf_add_char(out, pick(monkey, 2) ? '\t' : '\r');
    else if (kind < 82)
        strbuf_add_char(out, (char)(1 + pick(monkey, 0x1f)));
    else if (kind < 92)
        strbuf_add_text(out, sequences[pick(monkey, sizeof sequences / sizeof *sequences)]);
    else if (kind < 97)
        add_click(monkey, out);
    else if (kind < 98)
        add_random_text(monkey, out, 60); // a paste that the terminal does not mark
    else {
        strbuf_add_text(out, "\x1b[200~");
        add_random_text(monkey, out, 60);
        strbuf_add_text(out, "\x1b[201~");
    }
}

// Everything anew, as when the program is started again after a key has ended it.
static void
open_screen(struct monkey *monkey)
{
    struct bench *bench = &monkey->bench;
    struct err err = {0};
    app_destroy(monkey->app);
    backend_stop(bench->backend);
    mailbox_destroy(bench->requests, request_drop);
    mailbox_destroy(bench->replies, reply_drop);
    bench->requests = monkey->config.requests = mailbox_create(256);
    bench->replies = monkey->config.replies = mailbox_create(64);
    bench->backend = backend_start(&bench->settings, bench->requests, bench->replies);
    monkey->app = app_create(&monkey->config, &err);
    assert_non_null(monkey->app);
    monkey->starts++;
    turn(monkey);
}

static void
check_purpose(struct monkey *monkey, int key)
{
    int64_t changed = changes(monkey, ASKED);
    if (changed <= monkey->presses)
        return;
    look(monkey);
    const char *last =
        test_text(monkey->bench.world.admin,
                  "SELECT format('%s %s %s', action, operation_no, detail) FROM redrive.audit ORDER "
                  "BY no DESC LIMIT 1");
    fail_msg("at key %d: %lld changes, %lld presses of a button; the last was %s\n%s", key,
             (long long)changed, (long long)monkey->presses, last, strbuf_text(&monkey->picture));
}

static void
play(struct monkey *monkey)
{
    struct strbuf act = {0};
    for (int i = 0; i < KEYS; i++) {
        if (i % SITTING == 0 || app_is_over(monkey->app)) // or it would type into the editor for ever
            open_screen(monkey);
        clock_skip(1000 * (int64_t)(5 + pick(monkey, 500)));
        strbuf_reset(&act);
        add_act(monkey, &act);
        feed(monkey, strbuf_bytes(&act));
        turn(monkey);
        if (i % LOOKS == LOOKS - 1)
            check_purpose(monkey, i);
    }
    strbuf_release(&act);
}

enum { SEEDS = 4 };
static const int64_t seeds[SEEDS] = {42, 7, 8, 9};

// One run, in a process of its own: they wait for PostgreSQL most of the time.
struct run {
    int64_t seed;
    bool is_protected;
    pid_t pid;
    FILE *said;
};

static void
play_one(void **state)
{
    const struct run *run = *state;
    struct monkey monkey;
    clock_hold();
    sit_down(&monkey, run->is_protected, (uint64_t)run->seed);
    play(&monkey);
    int64_t changed = changes(&monkey, ASKED);
    print_message(
        "seed %lld%s: %d keys, %lld sittings, %lld dialogs, %lld presses of a button, %lld changes\n",
        (long long)run->seed, run->is_protected ? ", protected" : "", KEYS, (long long)monkey.starts,
        (long long)monkey.dialogs, (long long)monkey.presses, (long long)changed);
    // It came to where it can do harm. Some 60 on a quiet machine; on a busy one answers come after the next
    // key.
    assert_in_range(monkey.dialogs, DIALOGS, KEYS);
    if (run->is_protected)
        assert_int_equal(changed, 0);
    assert_int_equal(changes(&monkey, "action = 'category'"), 0);
    assert_int_equal(changes(&monkey, ASKED " AND events > 100"), 0);
    assert_int_equal(changes(&monkey, "action IN ('approve', 'resume') AND operation_no IN (1, 3)"), 0);
    get_up(&monkey);
}

static struct run runs[2 * SEEDS];
static char folder[] = "/tmp/redrive-monkey.XXXXXX"; // for what random keys export

static int
start_all(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2 * SEEDS; i++) {
        struct run *run = &runs[i];
        char seed[24];
        snprintf(seed, sizeof seed, "%lld", (long long)seeds[i % SEEDS]);
        run->said = tmpfile();
        assert_non_null(run->said);
        run->pid = fork();
        if (run->pid == 0) {
            (void)dup2(fileno(run->said), STDOUT_FILENO);
            (void)dup2(fileno(run->said), STDERR_FILENO);
            if (chdir(folder) != 0)
                _exit(126);
            execl("/proc/self/exe", "test_monkey", seed, i < SEEDS ? "protected" : "built-in", (char *)NULL);
            _exit(127);
        }
        assert_true(run->pid > 0);
    }
    return 0;
}

static int
remove_folder(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

static void
await_runs(struct run *from)
{
    bool ok = true;
    for (struct run *run = from; run < from + SEEDS; run++) {
        int status = -1;
        assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
        ok &= status == 0;
        char line[1000];
        rewind(run->said);
        while (fgets(line, sizeof line, run->said))
            if (status != 0 || strncmp(line, "seed", 4) == 0 || strncmp(line, "# seed", 6) == 0)
                print_message("%s", line);
        (void)fclose(run->said);
    }
    assert_true(ok);
}

static void
nothing_changes_on_a_protected_profile(void **state)
{
    (void)state;
    await_runs(runs);
}

static void
only_what_was_meant_changes_elsewhere(void **state)
{
    (void)state;
    await_runs(runs + SEEDS);
}

// SEED protected|built-in: one run, and what it did.
int
main(int argc, char **argv)
{
    struct run run = {.is_protected = argc == 3 && strcmp(argv[2], "protected") == 0};
    const struct CMUnitTest one[] = {cmocka_unit_test_prestate(play_one, &run)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes_on_a_protected_profile),
        cmocka_unit_test(only_what_was_meant_changes_elsewhere),
    };
    if (argc == 3 && text_parse_int(bytes_of(argv[1]), &run.seed, NULL))
        return cmocka_run_group_tests_name("monkey", one, NULL, NULL);
    return cmocka_run_group_tests_name("monkey", tests, start_all, remove_folder);
}
