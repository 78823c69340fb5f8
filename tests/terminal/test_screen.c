// The program itself in a terminal, on a database: hostile rows, bytes, sizes, a lost connection, the ways to
// end.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/lib/testdb.h"
#include "tests/terminal/filled_db.h"
#include "tests/terminal/vt.h"

#define assert_screen(vt, condition)                                                                         \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            print_message("%s\n", vt_screen(vt));                                                            \
            fail_msg("%s", #condition);                                                                      \
        }                                                                                                    \
    } while (0)

static struct testdb db;
static const char *program;

// Whatever consumers may write: sequences of every kind, C1, bidi, broken ones that a parser of sequences
// would let through.
static void
fill(void)
{
    testdb_run(&db, "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, "
                    "error_message, stack_trace, "
                    "kafka_topic, kafka_partition, kafka_offset, created_at) SELECT 'e' || i, "
                    "'order.created', 'c-' || i, "
                    "jsonb_build_object('order', i), 'SocketTimeoutException: connect to pay-' || i || ':443 "
                    "timed out', NULL, "
                    "'orders.events', 0, i, '2026-11-21 08:00'::timestamp + i * interval '1 second' FROM "
                    "generate_series(1, 400) i");
    testdb_run(
        &db,
        "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message, "
        "stack_trace, "
        "kafka_topic, created_at) SELECT 'h' || i, E'type\\x1b]0;owned\\x07', E'key\\x1b[2J', "
        "jsonb_build_object('a', E'\\x1b]52;c;AAAA\\x07', E'b\\u202e', E'\\u009b31m'), "
        "E'HostileException: \\x1b]0;owned\\x07\\x1b[31m\\r\\n\\x1b]8;;http://x\\x1b\\\\ "
        "\\u009b2J\\u202eevil\\u200b "
        "\\x1b\\x50q\\x1b\\\\ \\x7f \\x0e\\x0f', E'HostileException\\n\\tat a.b(\\x1b]0;t\\x07.java:1)\\n', "
        "E'topic\\x1bc', '2026-11-21 09:00' FROM generate_series(1, 20) i");
}

static int
make_database(void **state)
{
    (void)state;
    program = filled_db_make(&db, fill);
    return program ? 0 : -1;
}

static int
drop_database(void **state)
{
    (void)state;
    testdb_drop(&db);
    return 0;
}

static struct vt *
start_on(const char *conninfo, int rows, int cols, const char *more)
{
    const char *argv[] = {program, "-d", conninfo, NULL};
    const char *env[] = {"REDRIVE_NOW=2026-11-21T10:00:00Z", "REDRIVE_START_WORKER=off", "REDRIVE_LABEL=PROD",
                         more, NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.rows = rows, .cols = cols, .argv = argv, .env = env});
    assert_screen(vt, vt_wait_text(vt, "in 2 groups"));
    assert_screen(vt, vt_wait_text(vt, "live"));
    (void)vt_run(vt, 100);
    return vt;
}

static struct vt *
start(int rows, int cols, const char *more)
{
    return start_on(db.conninfo, rows, cols, more);
}

static void
finish(struct vt *vt)
{
    vt_keys(vt, "Q");
    int result = vt_result(vt, 8000);
    if (result != 0)
        print_message("%s\n", vt_screen(vt));
    assert_int_equal(result, 0);
    assert_false(vt_alternate(vt));
    assert_false(vt_bracketed(vt));
    vt_end(vt);
}

// What is asked of the terminal once: the colour of its background, and its kind.
#define QUESTION "\033]11;?\033\\\033[c"

// Only what ncurses and ui/term/term write: no other OSC, DCS, APC, PM or SOS, no mode but ours, no other
// report asked for.
static void
check_sequences(struct bytes output)
{
    static const char *const modes[] = {"?1049", "?2004", "?25", "?12;25", "?12",
                                        "?1",    "?7",    "4",   "?1000",  "?1006"};
    bool was_asked = false;
    for (size_t at = 0; at < output.len; at++) {
        unsigned char byte = (unsigned char)output.data[at];
        if (byte == 0xc2 && at + 1 < output.len)
            assert_true((unsigned char)output.data[at + 1] >= 0xa0); // C1
        if (byte == 0x7f || (byte < 0x20 && (byte == 0 || !strchr("\033\r\n\b\t\016\017", byte))))
            fail_msg("byte %02x at %zu", byte, at);
        if (byte != 0x1b)
            continue;
        assert_true(at + 1 < output.len);
        char kind = output.data[at + 1];
        if (strchr("78=>MHcD", kind) && kind != 'c')
            continue;
        if (kind == '(' || kind == ')') {
            at += 2;
            continue;
        }
        struct bytes rest = bytes_slice(output, at, SIZE_MAX);
        if (bytes_starts(rest, QUESTION) && !was_asked) {
            was_asked = true;
            at += sizeof QUESTION - 2;
            continue;
        }
        if (kind != '[')
            fail_msg("ESC %c at %zu", kind, at);
        size_t end = at + 2;
        while (end < output.len && strchr("0123456789;?!>", output.data[end]))
            end++;
        char final = output.data[end];
        char parameters[40];
        snprintf(parameters, sizeof parameters, "%.*s", (int)(end - at - 2), output.data + at + 2);
        bool is_cursor_look = final == 'c' && parameters[0] == '?'; // of the linux console
        if (!strchr("ABCDEFGHJKLMPSTXZ@bdmrhlt", final) && !is_cursor_look)
            fail_msg("CSI %s%c", parameters, final);
        bool is_mode = final == 'h' || final == 'l';
        bool is_ours = false;
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            is_ours |= strcmp(modes[i], parameters) == 0;
        if (is_mode && !is_ours)
            fail_msg("mode %s%c", parameters, final);
        if (final == 't' && strcmp(parameters, "22;0;0") != 0 && strcmp(parameters, "23;0;0") != 0)
            fail_msg("CSI %st", parameters);
        at = end;
    }
}

static void
hostile_rows_drive_nothing(void **state)
{
    static const char *const keys[] = {"G",     "x",       "<Esc>",   "<Enter>", "/\\x1b<C-u>Hostile<Enter>",
                                       "y",     "<Esc>",   "<Enter>", "<Space>", "<Space>",
                                       "zR",    "<Space>", "<Space>", "<Space>", "r",
                                       "h",     "t",       "q",       "<Space>", "R",
                                       "<Esc>", "q",       "2",       "4",       "5",
                                       "?",     "q",       "1"};
    (void)state;
    struct vt *vt = start(24, 100, NULL);
    assert_screen(vt, vt_shows(vt, "HostileException"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!vt_press(vt, keys[i])) {
            print_message("%s\n", vt_screen(vt));
            fail_msg("no answer to %s", keys[i]);
        }
        if (i == 4)
            assert_screen(vt, vt_shows(vt, "\\e]0;owned\\x07") || vt_shows(vt, "key\\e[2J"));
    }
    check_sequences(vt_output(vt));
    finish(vt);
}

// What a key costs on the average, pressed every so many milliseconds.
static size_t
bytes_of_keys(struct vt *vt, const char *there, const char *back, int ms)
{
    enum { KEYS = 20 };
    (void)vt_run(vt, 100);
    vt_forget(vt);
    for (int i = 0; i < KEYS; i++) {
        vt_keys(vt, i % 2 ? back : there);
        (void)vt_run(vt, ms);
    }
    (void)vt_run(vt, 100);
    print_message("%s in groups every %d ms: %zu bytes\n", there, ms, vt_output(vt).len / KEYS);
    // Attributes do not choose the character set anew each time: ESC ( B.
    assert_int_equal(bytes_find(vt_output(vt), BYTES("\033(B\033["), 0), SIZE_MAX);
    return vt_output(vt).len / KEYS;
}

static void
bytes_stay_within_budget(void **state)
{
    (void)state;
    struct vt *vt = start(40, 120, NULL);
    print_message("first pictures: %zu bytes\n", vt_output(vt).len);
    assert_in_range(vt_output(vt).len, 1, 2500);
    assert_in_range(bytes_of_keys(vt, "j", "k", 90), 1, 700); // a dozen rows of preview with each
    assert_in_range(bytes_of_keys(vt, "j", "k", 20), 1, 400); // held down: only when the key rests
    assert_screen(vt, vt_press(vt, "<Enter>"));
    (void)vt_run(vt, 100);
    vt_forget(vt);
    for (int i = 0; i < 20; i++)
        assert_screen(vt, vt_press(vt, "j"));
    print_message("cursor down in events: %zu bytes\n", vt_output(vt).len / 20);
    assert_in_range(vt_output(vt).len / 20, 1, 350);
    (void)vt_run(vt, 100);
    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "<C-f>"));
    (void)vt_run(vt, 200);
    print_message("page in events: %zu bytes\n", vt_output(vt).len);
    assert_in_range(vt_output(vt).len, 1, 3072);
    finish(vt);
}

// A button pressed and released, as mode 1006 tells it; rows and columns from 1.
static void
click(struct vt *vt, int row, int col)
{
    char bytes[64];
    snprintf(bytes, sizeof bytes, "\033[<0;%d;%dM\033[<0;%d;%dm", col, row, col, row);
    vt_bytes(vt, bytes_of(bytes));
    assert_screen(vt, vt_wait_idle(vt));
}

static void
the_mouse_is_taken_when_asked(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, NULL);
    assert_true(bytes_find(vt_output(vt), BYTES("\033[?1000h"), 0) == SIZE_MAX);
    finish(vt);

    vt = start(24, 80, "REDRIVE_MOUSE=on");
    assert_true(bytes_find(vt_output(vt), BYTES("\033[?1000h\033[?1006h"), 0) != SIZE_MAX);
    assert_screen(vt, strstr(vt_row(vt, 3), "▌"));
    click(vt, 5, 30);
    assert_screen(vt, strstr(vt_row(vt, 4), "▌"));
    click(vt, 3, 10); // the heading of the count: the other way round
    assert_screen(vt, strstr(vt_row(vt, 2), "count↑"));
    assert_screen(vt, strstr(vt_row(vt, 3), "▌")); // the cursor stays with its group
    click(vt, 20, 10);                             // the preview: nothing
    vt_bytes(vt, BYTES("\033[<65;10;10M"));        // the wheel
    assert_screen(vt, vt_wait_idle(vt));
    assert_screen(vt, strstr(vt_row(vt, 4), "▌"));
    (void)vt_run(vt, 500);
    click(vt, 4, 30);
    click(vt, 4, 30);
    assert_screen(vt, vt_wait_text(vt, "newest first"));
    finish(vt);
}

// Screens of earlier tests are here for another minute, and the first line counts them.
static void
forget_earlier_screens(void)
{
    testdb_run(&db, "DELETE FROM redrive.presence");
}

static void
nothing_happens_nothing_is_sent(void **state)
{
    (void)state;
    forget_earlier_screens();
    struct vt *vt = start(40, 120, NULL);
    static const char *const places[] = {"1", "2", "4", "5"};
    for (size_t i = 0; i < 4; i++) {
        assert_screen(vt, vt_press(vt, places[i]));
        (void)vt_run(vt, 500);
        vt_forget(vt);
        assert_true(vt_run(vt, 2500));
        if (vt_output(vt).len != 0)
            fail_msg("%zu bytes in place %s", vt_output(vt).len, places[i]);
    }
    finish(vt);
}

// Two of its looks find nothing new, and the third a worker.
static void
the_monitor_stands_still_until_there_is_news(void **state)
{
    (void)state;
    forget_earlier_screens();
    struct vt *vt = start(40, 120, NULL);
    assert_screen(vt, vt_press(vt, "3"));
    assert_screen(vt, vt_wait_text(vt, "nothing resolved yet"));
    assert_screen(vt, vt_wait_text(vt, "HostileException"));
    (void)vt_run(vt, 1000);
    vt_forget(vt);
    assert_true(vt_run(vt, 11000));
    if (vt_output(vt).len != 0)
        fail_msg("%zu bytes in the monitor", vt_output(vt).len);
    testdb_run(&db, "INSERT INTO redrive.worker (name, publishes, note) VALUES ('there/7/1', false, 'idle')");
    assert_screen(vt, vt_wait_text(vt, "there/7"));
    testdb_run(&db, "DELETE FROM redrive.worker");
    finish(vt);
}

static void
the_monitor_goes_along_time_and_opens_it(void **state)
{
    (void)state;
    testdb_run(&db,
               "INSERT INTO redrive.trend (step, at, arrived, pending) SELECT 'minute', "
               "extract(epoch FROM timestamptz '2026-11-21 08:00Z')::int - 946684800 + m * 60, m, 1000 + m "
               "FROM generate_series(0, 119) AS m");
    struct vt *vt = start(24, 80, NULL);
    assert_screen(vt, vt_press(vt, "3"));
    assert_screen(vt, vt_wait_text(vt, "1,119"));
    assert_screen(vt, vt_press(vt, "hh"));
    assert_screen(vt, vt_wait_text(vt, "09:54:00   pending 1,119   in 699   out 0"));
    assert_screen(vt, vt_press(vt, "hhhhhhhhhhl"));
    assert_screen(vt, vt_wait_text(vt, "09:00:00   pending 1,065"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_wait_text(vt, "created:>=2026-11-21T09:00 created:<2026-11-21T09:06"));
    assert_screen(vt, vt_wait_text(vt, "1/20"));
    assert_screen(vt, vt_press(vt, "q"));
    assert_screen(vt, vt_wait_text(vt, "09:00:00   pending 1,065"));
    assert_screen(vt, vt_press(vt, "+"));
    assert_screen(vt, vt_wait_text(vt, "24 h ago"));
    assert_screen(vt, vt_press(vt, "-"));
    assert_screen(vt, vt_wait_text(vt, "6 h ago"));
    assert_screen(vt, vt_press(vt, "--"));
    assert_screen(vt, vt_wait_text(vt, "15 min ago"));
    finish(vt);
    testdb_run(&db, "DELETE FROM redrive.trend");
}

// Returns at a moment that leaves this many ms of the minute of the clock.
static void
await_room_in_minute(struct vt *vt, int ms)
{
    int gone = (int)(clock_now() / 1000 % 60000);
    if (gone + ms > 60000)
        assert_screen(vt, vt_run(vt, 62000 - gone));
}

// The clock goes, and events of this minute, of the last ones and of the hour are there: their ages, rates
// and curves wait for the end of the minute; an event does not.
static void
recent_events_stand_still_until_the_next_one(void **state)
{
    (void)state;
    struct testdb live;
    assert_true(testdb_create(&live));
    for (int i = 0; i < 40; i++) {
        testdb_run(
            &live,
            "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message, "
            "kafka_topic, created_at) SELECT 'l%d-' || i, 'order.created', 'c', '{}', "
            "'LateException%c: kind %d', 'orders.events', localtimestamp - %d * i * interval '1 second' "
            "FROM generate_series(0, 20) i",
            i, 'A' + i % 26, i, i % 8);
    }
    const char *migration[] = {program, "migrate", "-d", live.conninfo, NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.argv = migration});
    assert_int_equal(vt_result(vt, 20000), 0);
    vt_end(vt);

    const char *argv[] = {program, "-d", live.conninfo, NULL};
    const char *env[] = {"REDRIVE_START_WORKER=off", NULL};
    vt = vt_start(&(struct vt_setup){.rows = 40, .cols = 120, .argv = argv, .env = env});
    assert_screen(vt, vt_wait_text(vt, "840 pending in"));
    assert_screen(vt, vt_wait_text(vt, "<1m"));
    (void)vt_run(vt, 1000);
    print_message("first pictures of a full screen: %zu bytes\n", vt_output(vt).len);
    assert_in_range(vt_output(vt).len, 1, 7168);
    static const char *const places[] = {"1", "2"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_screen(vt, vt_press(vt, places[i]));
        await_room_in_minute(vt, 9000);
        assert_screen(vt, vt_run(vt, 3000));
        vt_forget(vt);
        assert_screen(vt, vt_run(vt, 5500));
        if (vt_output(vt).len != 0)
            fail_msg("%zu bytes in place %s", vt_output(vt).len, places[i]);
    }
    assert_screen(vt, vt_press(vt, "1"));
    testdb_run(&live,
               "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message) VALUES "
               "('new', 'order.created', '{}', 'LateExceptionA: kind 0')");
    assert_screen(vt, vt_wait_text(vt, "841 pending in"));
    finish(vt);
    testdb_drop(&live);
}

// Each statement may meet another session of the server: PgBouncer in transaction mode.
static void
the_screen_works_behind_a_pooler(void **state)
{
    (void)state;
    if (!*db.pooled)
        skip();
    struct vt *vt = start_on(db.pooled, 24, 80, NULL);
    assert_screen(vt, vt_press(vt, "/Socket<Enter>"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_wait_text(vt, "400"));
    assert_screen(vt, vt_press(vt, "/<C-u>:44[0-9]<Enter>"));
    assert_screen(vt, vt_wait_text(vt, "/400 of 400"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_wait_text(vt, "\"order\""));
    assert_screen(vt, vt_press(vt, "qD"));
    assert_screen(vt, vt_wait_text(vt, "Cancel"));
    assert_screen(vt, vt_press(vt, "<Esc>")); // by itself: with another key it is Alt
    assert_screen(vt, vt_press(vt, "4"));
    assert_screen(vt, vt_wait_text(vt, "operations"));
    assert_screen(vt, vt_press(vt, "5"));
    assert_screen(vt, vt_wait_text(vt, "migrate"));
    assert_screen(vt, !vt_shows(vt, "error:"));
    finish(vt);
}

static void
an_open_dialog_survives_resizing(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, NULL);
    testdb_run(&db, "SELECT 1");
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_press(vt, "A"));
    assert_screen(vt, vt_press(vt, "D"));
    static const int sizes[][2] = {{10, 40}, {60, 200}, {24, 80}};
    for (size_t i = 0; i < 3; i++) {
        vt_resize(vt, sizes[i][0], sizes[i][1]);
        assert_screen(vt, vt_wait_idle(vt));
        assert_screen(vt, vt_shows(vt, "Cancel") || vt_shows(vt, "Close")); // where nothing can be changed
        assert_screen(vt, vt_shows(vt, "400"));
    }
    assert_screen(vt, vt_press(vt, "by hand<Enter><Enter>"));
    assert_int_equal(testdb_number(&db, "SELECT count(*) FROM public.dlq_events WHERE status <> 'PENDING'"),
                     0);
    assert_screen(vt, vt_press(vt, "<C-g>"));
    finish(vt);
}

// From another database: nobody may close the one they are in.
static void
set_reachable(bool is_reachable)
{
    char conninfo[700], sql[400];
    snprintf(conninfo, sizeof conninfo, "%s dbname=postgres", getenv("REDRIVE_TEST_PG"));
    PGconn *conn = PQconnectdb(conninfo);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    snprintf(sql, sizeof sql, "ALTER DATABASE %s ALLOW_CONNECTIONS %s", db.name,
             is_reachable ? "true" : "false");
    PQclear(PQexec(conn, sql));
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s' AND "
             "application_name <> ''",
             db.name);
    if (!is_reachable)
        PQclear(PQexec(conn, sql));
    PQfinish(conn);
}

static void
a_lost_connection_is_told_and_mended(void **state)
{
    (void)state;
    struct vt *vt = start(24, 120, NULL);
    assert_screen(vt, vt_press(vt, " "));
    assert_screen(vt, vt_wait_text(vt, " sel "));
    set_reachable(false);
    assert_screen(vt, vt_wait_text(vt, "as of "));
    assert_screen(vt, vt_shows(vt, "SocketTimeoutException")); // what was there stays
    assert_screen(vt, vt_press(vt, "R"));
    assert_screen(vt, vt_shows(vt, "connection lost; nothing can be changed"));
    set_reachable(true);
    assert_screen(vt, vt_press(vt, "r"));
    assert_screen(vt, vt_wait_text(vt, "live"));
    assert_screen(vt, vt_shows(vt, " sel ")); // what was selected still is
    finish(vt);
}

// The same terminal, another connection: the header says which, and leaving gives the terminal back.
static void
profiles_change_in_one_terminal(void **state)
{
    (void)state;
    char path[] = "/tmp/redrive-profiles-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file,
            "profile one { database = \"%s\" label = FIRST theme = default }\n"
            "profile two { database = \"%s\" label = SECOND theme = dark }\n",
            db.conninfo, db.conninfo);
    assert_int_equal(fclose(file), 0);
    char config[64];
    snprintf(config, sizeof config, "REDRIVE_CONFIG=%s", path);
    const char *argv[] = {program, "-P", "one", NULL};
    const char *env[] = {"REDRIVE_NOW=2026-11-21T10:00:00Z", "REDRIVE_START_WORKER=off", config, NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.rows = 24, .cols = 80, .argv = argv, .env = env});
    assert_screen(vt, vt_wait_text(vt, "in 2 groups"));
    assert_screen(vt, strstr(vt_screen(vt), "FIRST"));
    vt_keys(vt, ":profile two<Enter>");
    assert_screen(vt, vt_wait_text(vt, "SECOND"));
    assert_screen(vt, vt_wait_text(vt, "in 2 groups"));
    assert_screen(vt, !strstr(vt_screen(vt), "FIRST"));
    vt_keys(vt, ":profile one<Enter>");
    assert_screen(vt, vt_wait_text(vt, "FIRST"));
    assert_screen(vt, vt_wait_text(vt, "in 2 groups"));
    finish(vt);
    unlink(path);
}

static void
suspending_hands_the_terminal_over(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, NULL);
    vt_keys(vt, "<C-z>");
    if (vt_result(vt, 2000) == -2) {
        (void)vt_run(vt, 20);
        assert_false(vt_alternate(vt));
        assert_false(vt_bracketed(vt));
        assert_int_equal(kill(vt_pid(vt), SIGCONT), 0);
    }
    assert_screen(vt, vt_wait_text(vt, "in 2 groups"));
    assert_screen(vt, vt_press(vt, "j"));
    assert_true(vt_alternate(vt));
    finish(vt);
}

static void
a_gone_terminal_ends_it(void **state)
{
    static const int ways[] = {0, SIGHUP, SIGTERM};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct vt *vt = start(24, 80, NULL);
        int64_t before = clock_mono();
        if (ways[i])
            assert_int_equal(kill(vt_pid(vt), ways[i]), 0);
        else
            vt_hang_up(vt);
        int result = vt_result(vt, 8000);
        print_message("gone by %d: %.0f ms\n", ways[i], (double)(clock_mono() - before) / 1000);
        assert_int_not_equal(result, -1);
        assert_true(clock_mono() - before < 2 * US_PER_SECOND);
        vt_end(vt);
    }
}

static void
plain_terminals_are_served(void **state)
{
    static const char *const kinds[] = {"TERM=vt100", "TERM=linux", "TERM=screen", "NO_COLOR=1", "LANG=C"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct vt *vt = start(24, 80, kinds[i]);
        assert_screen(vt, vt_press(vt, "j"));
        assert_screen(vt, vt_press(vt, "<Enter>"));
        check_sequences(vt_output(vt));
        for (size_t b = 0; strcmp(kinds[i], "LANG=C") == 0 && b < vt_output(vt).len; b++)
            assert_true((unsigned char)vt_output(vt).data[b] < 0x80);
        finish(vt);
    }
}

static void
a_pipe_gets_a_sentence(void **state)
{
    (void)state;
    const char *argv[] = {"/bin/sh", "-c",
                          "\"$REDRIVE_PROGRAM\" -d \"$REDRIVE_DB\" </dev/null; echo status $?", NULL};
    char path[600], database[700];
    snprintf(path, sizeof path, "REDRIVE_PROGRAM=%s", program);
    snprintf(database, sizeof database, "REDRIVE_DB=%s", db.conninfo);
    const char *env[] = {path, database, NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.argv = argv, .env = env});
    assert_screen(vt, vt_wait_text(vt, "status 2"));
    assert_screen(vt, vt_shows(vt, "the screen needs a terminal"));
    vt_end(vt);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_rows_drive_nothing),
        cmocka_unit_test(bytes_stay_within_budget),
        cmocka_unit_test(the_mouse_is_taken_when_asked),
        cmocka_unit_test(nothing_happens_nothing_is_sent),
        cmocka_unit_test(the_monitor_stands_still_until_there_is_news),
        cmocka_unit_test(the_monitor_goes_along_time_and_opens_it),
        cmocka_unit_test(recent_events_stand_still_until_the_next_one),
        cmocka_unit_test(the_screen_works_behind_a_pooler),
        cmocka_unit_test(an_open_dialog_survives_resizing),
        cmocka_unit_test(a_lost_connection_is_told_and_mended),
        cmocka_unit_test(profiles_change_in_one_terminal),
        cmocka_unit_test(suspending_hands_the_terminal_over),
        cmocka_unit_test(a_gone_terminal_ends_it),
        cmocka_unit_test(plain_terminals_are_served),
        cmocka_unit_test(a_pipe_gets_a_sentence),
    };
    return cmocka_run_group_tests_name("screen", tests, make_database, drop_database);
}
