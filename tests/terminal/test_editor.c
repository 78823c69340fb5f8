// The payload editor in a terminal: what a key costs, long pastes, sizes, drafts, other programs, two
// persons.
#include <setjmp.h>
#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "tests/lib/folder.h"
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
static char folder[64]; // of the person: state and runtime

// Event 1: 300 lines. Event 2: short. Event 3: one line of 1 MB.
static void
fill(void)
{
    testdb_run(&db,
               "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, "
               "error_message, kafka_topic, created_at) SELECT 'e' || i, 'order.created', 'c-' || i, "
               "'{\"amount\": 10}', 'ReadError: no. ' || i, 'orders.events', '2026-11-21 08:00'::timestamp "
               "- i * interval '1 second' FROM generate_series(1, 3) i");
}

static void
fill_records(void)
{
    testdb_run(&db,
               "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value) SELECT id, "
               "'orders.events', 0, id, 'k', CASE event_id "
               "WHEN 'e1' THEN convert_to(E'{\\n' || (SELECT string_agg(format('  \"name%%s\": {\"sku\": "
               "\"A%%s\", \"amount\": %%s.50}', i, i, i), E',\\n') FROM generate_series(1, 300) i) || "
               "E'\\n}\\n', 'UTF8') "
               "WHEN 'e2' THEN '{\"amount\": 10}' "
               "ELSE convert_to('[' || repeat('{\"sku\":\"A1\",\"amount\":10},', 41000) || '0]', 'UTF8') END "
               "FROM public.dlq_events");
}

static int
make_database(void **state)
{
    (void)state;
    program = filled_db_make(&db, fill);
    if (!program)
        return -1;
    fill_records();
    return 0;
}

static int
drop_database(void **state)
{
    (void)state;
    testdb_drop(&db);
    return 0;
}

static int
begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/redrive-editor.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    folder_remove(folder);
    testdb_run(&db, "DELETE FROM redrive.revision");
    return 0;
}

// Opens the editor of an event. `more`: another variable.
static struct vt *
start(const char *event, int rows, int cols, const char *more)
{
    const char *argv[] = {program, "-d", db.conninfo, NULL};
    char home[100], runtime[100], filter[64];
    snprintf(home, sizeof home, "XDG_STATE_HOME=%s", folder);
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", folder);
    const char *env[] = {"REDRIVE_START_WORKER=off", home, runtime, more, NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.rows = rows, .cols = cols, .argv = argv, .env = env});
    assert_screen(vt, vt_wait_text(vt, "live"));
    assert_screen(vt, vt_press(vt, "2"));
    snprintf(filter, sizeof filter, "/event-id:=%s<Enter>", event);
    assert_screen(vt, vt_press(vt, filter));
    assert_screen(vt, vt_wait_text(vt, "1/1 of 3"));
    assert_screen(vt, vt_press(vt, "e"));
    return vt;
}

static struct vt *
start_short(const char *more)
{
    struct vt *vt = start("e2", 24, 80, more);
    assert_screen(vt, vt_wait_text(vt, "{\"amount\": 10}"));
    return vt;
}

// Until the screen shows one of these.
static void
wait_either(struct vt *vt, const char *one, const char *other)
{
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND; !vt_shows(vt, one) && !vt_shows(vt, other);) {
        assert_screen(vt, clock_mono() < until);
        assert_screen(vt, vt_run(vt, 20));
    }
}

static void
finish(struct vt *vt)
{
    vt_keys(vt, "<C-q>");
    wait_either(vt, "Not saved yet", "1/1 of 3");
    if (vt_shows(vt, "Not saved yet"))
        vt_keys(vt, "d");
    assert_screen(vt, vt_wait_text(vt, "1/1 of 3"));
    vt_keys(vt, "Q");
    assert_int_equal(vt_result(vt, 30000), 0);
    vt_end(vt);
}

static size_t
bytes_of_keys(struct vt *vt, const char *what, const char *keys, int count)
{
    (void)vt_run(vt, 700);
    vt_forget(vt);
    for (int i = 0; i < count; i++) {
        vt_keys(vt, keys);
        (void)vt_run(vt, 60);
    }
    (void)vt_run(vt, 800);
    size_t bytes = vt_output(vt).len / (size_t)count;
    print_message("%s: %zu bytes a key\n", what, bytes);
    return bytes;
}

static void
a_key_costs_little(void **state)
{
    (void)state;
    struct vt *vt = start("e1", 24, 80, NULL);
    assert_screen(vt, vt_wait_text(vt, "name10"));
    assert_in_range(bytes_of_keys(vt, "right", "<Right>", 20), 1, 600);
    assert_in_range(bytes_of_keys(vt, "down", "<Down>", 12), 1, 600);
    assert_in_range(bytes_of_keys(vt, "down, scrolling", "<Down>", 40), 1, 600);
    assert_in_range(bytes_of_keys(vt, "up, scrolling", "<Up>", 40), 1, 600);
    assert_in_range(bytes_of_keys(vt, "typing", "x", 20), 1, 600);
    assert_in_range(bytes_of_keys(vt, "deleting", "<BS>", 20), 1, 600);
    finish(vt);
    vt = start("e3", 40, 120, NULL);
    assert_screen(vt, vt_wait_text(vt, "sku"));
    vt_keys(vt, "<A-gt>");
    (void)vt_run(vt, 500);
    assert_in_range(bytes_of_keys(vt, "left in a line of 1 MB", "<Left>", 20), 1, 600);
    assert_in_range(bytes_of_keys(vt, "typing in a line of 1 MB", "1", 20), 1, 600);
    finish(vt);
}

static void
a_paste_of_1_mb_is_one_step(void **state)
{
    (void)state;
    struct vt *vt = start_short(NULL);
    struct strbuf text = {0};
    while (text.len < 1000000)
        strbuf_add_text(&text, ", {\"sku\": \"A1\"}\n");
    vt_keys(vt, "<A-gt><Left>");
    (void)vt_run(vt, 200);
    vt_paste(vt, strbuf_text(&text));
    assert_screen(vt, vt_wait_text(vt, "pasted"));
    assert_screen(vt, vt_wait_text(vt, "1,000,0"));
    strbuf_release(&text);
    vt_keys(vt, "<A-u>");
    assert_screen(vt, vt_wait_text(vt, " 14 bytes"));
    assert_screen(vt, !vt_shows(vt, "modified"));
    finish(vt);
}

static void
an_edit_survives_resizing(void **state)
{
    static const int sizes[][2] = {{10, 40}, {5, 20}, {3, 10}, {1, 1}, {60, 200}, {24, 80}};
    (void)state;
    struct vt *vt = start_short(NULL);
    vt_keys(vt, "<End><Left>");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vt_resize(vt, sizes[i][0], sizes[i][1]);
        vt_keys(vt, "1");
        assert_true(vt_run(vt, 150));
    }
    assert_screen(vt, vt_wait_text(vt, "{\"amount\": 10111111}"));
    vt_keys(vt, "<A-u>");
    assert_screen(vt, vt_wait_text(vt, "{\"amount\": 10}"));
    finish(vt);
}

// The only file in folder/drafts, with its mode; "" where there is none.
static const char *
the_draft(int *mode)
{
    static char name[300];
    char path[100], whole[500];
    struct stat status;
    snprintf(path, sizeof path, "%s/redrive/drafts", folder);
    DIR *stream = opendir(path);
    const struct dirent *entry;
    name[0] = '\0';
    while (stream && (entry = readdir(stream))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s", entry->d_name);
        snprintf(whole, sizeof whole, "%s/%s", path, name);
        assert_int_equal(stat(whole, &status), 0);
        *mode = (int)status.st_mode & 0777;
    }
    if (stream)
        (void)closedir(stream);
    return name;
}

// From the key that asks for it, over the differences and the menu, to the button of the dialog.
static void
save(struct vt *vt, const char *keys, const char *reason)
{
    vt_keys(vt, keys);
    assert_screen(vt, vt_wait_text(vt, "added"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_press(vt, "s"));
    if (*reason)
        assert_screen(vt, vt_press(vt, reason));
    assert_screen(vt, vt_press(vt, "<Tab>"));
    assert_screen(vt, vt_shows(vt, "Enter save"));
    vt_keys(vt, "<Enter>");
}

static void
unsaved_text_outlives_the_terminal(void **state)
{
    enum { BY_CLOSING = 0 };
    static const int ways[] = {BY_CLOSING, SIGHUP, SIGTERM, SIGKILL};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct vt *vt = start_short(NULL);
        vt_keys(vt, "<End><Left>55");
        assert_screen(vt, vt_wait_text(vt, "1055}"));
        int mode = 0;
        if (ways[i] == SIGKILL) // the draft is a few seconds old
            assert_true(vt_run(vt, 4500));
        if (ways[i] == BY_CLOSING)
            vt_hang_up(vt);
        else
            assert_int_equal(kill(vt_pid(vt), ways[i]), 0);
        assert_int_not_equal(vt_result(vt, 8000), -1);
        vt_end(vt);
        assert_string_not_equal(the_draft(&mode), "");
        assert_int_equal(mode, 0600);

        vt = start_short(NULL);
        assert_screen(vt, vt_wait_text(vt, "Draft from"));
        vt_keys(vt, "<Esc>x"); // not decided on: asked again, nothing typed
        assert_screen(vt, vt_wait_text(vt, "restore it"));
        vt_keys(vt, "r");
        assert_screen(vt, vt_wait_text(vt, "1055}"));
        assert_screen(vt, vt_wait_text(vt, "modified"));
        save(vt, "<C-s>", "mended");
        assert_screen(vt, vt_wait_text(vt, "saved as revision 1"));
        assert_string_equal(the_draft(&mode), "");
        finish(vt);
        testdb_run(&db, "DELETE FROM redrive.revision");
    }
}

// JSON within a text that was not put back yet: the draft holds the payload with it, spaced as it was.
static void
unsaved_json_in_a_text_outlives_the_terminal(void **state)
{
    (void)state;
    struct vt *vt = start_short(NULL);
    vt_keys(vt, "<C-a>");
    vt_paste(vt, "{\"v\":\"{\\\"a\\\":1,\\\"b\\\": 2}\"}");
    assert_screen(vt, vt_wait_text(vt, "pasted"));
    vt_keys(vt, "<C-t>$.v<Enter><A-j>");
    assert_screen(vt, vt_wait_text(vt, "\"a\": 1,"));
    vt_keys(vt, "<C-t>$.a<Enter>7");
    assert_screen(vt, vt_wait_text(vt, "\"a\": 71,"));
    vt_hang_up(vt);
    assert_int_not_equal(vt_result(vt, 8000), -1);
    vt_end(vt);
    vt = start_short(NULL);
    assert_screen(vt, vt_wait_text(vt, "Draft from"));
    vt_keys(vt, "r");
    assert_screen(vt, vt_wait_text(vt, "{\"v\":\"{\\\"a\\\":71,\\\"b\\\": 2}\"}"));
    finish(vt);
}

static void
drafts_can_be_switched_off(void **state)
{
    (void)state;
    int mode;
    struct vt *vt = start_short("REDRIVE_DRAFTS=off");
    vt_keys(vt, "<End><Left>5");
    assert_screen(vt, vt_wait_text(vt, "105}"));
    vt_hang_up(vt);
    assert_int_not_equal(vt_result(vt, 8000), -1);
    vt_end(vt);
    assert_string_equal(the_draft(&mode), "");
}

// Puts a text or an old time on the draft's file.
static void
damage_draft(const char *text, int64_t age)
{
    char path[500];
    int mode;
    snprintf(path, sizeof path, "%s/redrive/drafts/%s", folder, the_draft(&mode));
    FILE *file = text ? fopen(path, "we") : NULL;
    if (file) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
    time_t then = time(NULL) - (time_t)age;
    assert_int_equal(utime(path, &(struct utimbuf){then, then}), 0);
}

static void
leave_a_draft(void)
{
    struct vt *vt = start_short(NULL);
    vt_keys(vt, "<End><Left>5");
    assert_screen(vt, vt_wait_text(vt, "105}"));
    vt_hang_up(vt);
    assert_int_not_equal(vt_result(vt, 8000), -1);
    vt_end(vt);
}

// A week is the limit, whichever event is opened, and where drafts are off by now.
static void
old_drafts_go(void **state)
{
    enum { DAY = 86400 };
    static const struct {
        int64_t age;
        const char *drafts;
        bool stays;
    } cases[] = {
        {6 * DAY, "REDRIVE_DRAFTS=on", true},
        {8 * DAY, "REDRIVE_DRAFTS=on", false},
        {6 * DAY, "REDRIVE_DRAFTS=off", true},
        {8 * DAY, "REDRIVE_DRAFTS=off", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int mode;
        leave_a_draft();
        damage_draft(NULL, cases[i].age);
        struct vt *vt = start("e1", 24, 80, cases[i].drafts); // another event than the draft's
        assert_screen(vt, vt_wait_text(vt, "name10"));
        finish(vt);
        assert_int_equal(*the_draft(&mode) != '\0', cases[i].stays);
        if (!cases[i].stays)
            continue;
        vt = start_short(NULL);
        assert_screen(vt, vt_wait_text(vt, "Draft from"));
        vt_keys(vt, "d");
        assert_screen(vt, vt_wait_text(vt, "draft removed"));
        finish(vt);
    }
}

// The command removes drafts and what other programs were handed, and nothing else of the folder.
static void
drafts_are_removed_by_a_command(void **state)
{
    (void)state;
    char home[100], runtime[100], path[200];
    const char *argv[] = {program, "--purge-drafts", NULL};
    int mode;
    snprintf(home, sizeof home, "XDG_STATE_HOME=%s", folder);
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", folder);
    const char *env[] = {home, runtime, NULL};
    leave_a_draft();
    assert_string_not_equal(the_draft(&mode), "");
    snprintf(path, sizeof path, "%s/redrive/2-payload-1.json", folder);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    struct vt *vt = vt_start(&(struct vt_setup){.argv = argv, .env = env});
    assert_screen(vt, vt_wait_text(vt, "removed 2 drafts"));
    assert_int_equal(vt_result(vt, 8000), 0);
    vt_end(vt);
    assert_string_equal(the_draft(&mode), "");
    assert_int_not_equal(access(path, F_OK), 0);
    vt = start_short(NULL);
    (void)vt_run(vt, 300);
    assert_screen(vt, !vt_shows(vt, "Draft from"));
    finish(vt);
}

// Too old, or not what was written: not offered, and the event is edited as ever.
static void
drafts_that_are_no_use_are_not_offered(void **state)
{
    static const char *const texts[] = {
        NULL, "", "redrive-draft 1\n",
        "redrive-draft 1\nwhere x/y\nevent 2\nparent 0\nat 1\nsection payload 1\nx\n", "\xff\xfe"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int mode;
        leave_a_draft();
        damage_draft(texts[i], texts[i] ? 0 : 8 * 86400);
        struct vt *vt = start_short(NULL);
        (void)vt_run(vt, 300);
        assert_screen(vt, !vt_shows(vt, "Draft from"));
        if (!texts[i])
            assert_string_equal(the_draft(&mode), "");
        vt_keys(vt, "<End><Left>7");
        assert_screen(vt, vt_wait_text(vt, "107}"));
        finish(vt);
    }
}

static void
quitting_asks_about_unsaved_text(void **state)
{
    (void)state;
    struct vt *vt = start_short(NULL);
    vt_keys(vt, "<End><Left>5<A-x>quit<Enter>");
    assert_screen(vt, vt_wait_text(vt, "has unsaved corrections"));
    vt_keys(vt, "<C-q><Esc>");
    (void)vt_run(vt, 200);
    assert_screen(vt, vt_shows(vt, "105}"));
    finish(vt);
}

// Ctrl-C ends what is open over the text and nothing else, however often it comes.
static void
ctrl_c_keeps_the_text(void **state)
{
    (void)state;
    struct vt *vt = start_short(NULL);
    vt_keys(vt, "<End><Left>55");
    assert_screen(vt, vt_wait_text(vt, "1055}"));
    for (int i = 0; i < 5; i++)
        vt_bytes(vt, BYTES("\003"));
    assert_true(vt_run(vt, 300));
    vt_keys(vt, "<C-t>$.amo");
    assert_screen(vt, vt_wait_text(vt, "$.amo"));
    vt_bytes(vt, BYTES("\003"));
    assert_true(vt_run(vt, 300));
    vt_keys(vt, "7"); // text again
    assert_screen(vt, vt_wait_text(vt, "10557}"));
    vt_keys(vt, "<C-s>");
    assert_screen(vt, vt_wait_text(vt, "1 value changed"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_press(vt, "s"));
    vt_bytes(vt, BYTES("\003")); // in the dialog that asks for the reason
    assert_screen(vt, vt_wait_text(vt, "A-u undo"));
    assert_screen(vt, vt_shows(vt, "10557}"));
    assert_screen(vt, vt_shows(vt, "modified"));
    finish(vt);
    assert_int_equal(testdb_number(&db, "SELECT count(*) FROM redrive.revision"), 0);
}

static struct vt *
start_with_editor(const char *command)
{
    char more[400];
    snprintf(more, sizeof more, "REDRIVE_EDITOR=%s", command);
    struct vt *vt = start_short(more);
    vt_keys(vt, "<End><Left>5");
    assert_screen(vt, vt_wait_text(vt, "105}"));
    vt_keys(vt, "<C-o>");
    return vt;
}

static void
another_program_edits(void **state)
{
    (void)state;
    struct vt *vt = start_with_editor("sed -i s/105/106/");
    assert_screen(vt, vt_wait_text(vt, "106}"));
    assert_screen(vt, vt_shows(vt, "took the text"));
    assert_true(vt_alternate(vt));
    assert_true(vt_bracketed(vt));
    vt_keys(vt, "<A-u>"); // one step
    assert_screen(vt, vt_wait_text(vt, "105}"));
    finish(vt);

    vt = start_with_editor("touch");
    assert_screen(vt, vt_wait_text(vt, "no changes"));
    finish(vt);

    // A line end that programs add is no change; who may read the file is said by the program.
    vt = start_with_editor("sh -c 'stat -c \"mode %a %n\" \"$0\"; sleep 1; echo >>\"$0\"'");
    assert_screen(vt, vt_wait_text(vt, "mode 600"));
    assert_screen(vt, vt_shows(vt, ".json"));
    assert_screen(vt, vt_wait_text(vt, "no changes"));
    finish(vt);

    vt = start_short("REDRIVE_EXTERNAL_EDITOR=off");
    vt_keys(vt, "<C-o>");
    assert_screen(vt, vt_wait_text(vt, "external_editor is off"));
    finish(vt);
}

static void
another_program_fails(void **state)
{
    static const struct {
        const char *command, *says;
    } ways[] = {
        {"/nowhere/editor", "was not found"},
        {"sh -c 'echo changed >\"$0\"; exit 3'", "ended with status 3; text kept"},
        {"sh -c 'kill -9 $$'", "ended by signal 9; text kept"},
        {"rm", "text kept as it was"},
        {"sh -c 'rm \"$0\"; ln -s /etc/passwd \"$0\"'", "text kept as it was"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct vt *vt = start_with_editor(ways[i].command);
        if (!vt_wait_text(vt, ways[i].says))
            print_message("%s\n", ways[i].command);
        assert_screen(vt, vt_shows(vt, ways[i].says));
        assert_screen(vt, vt_shows(vt, "105}"));
        assert_screen(vt, vt_shows(vt, "modified"));
        finish(vt);
    }
    // What is not JSON is taken all the same, and the cursor stands at the error.
    struct vt *vt = start_with_editor("sed -i 's/:/;/'");
    assert_screen(vt, vt_wait_text(vt, "{\"amount\"; 105}"));
    assert_screen(vt, vt_wait_text(vt, "1 error"));
    assert_screen(vt, vt_shows(vt, "1:10"));
    finish(vt);
}

static void
the_list_hands_over_at_once(void **state)
{
    (void)state;
    struct vt *vt = start_short("REDRIVE_EDITOR=sed -i s/10/11/");
    vt_keys(vt, "<C-q>");
    assert_screen(vt, vt_wait_text(vt, "1/1 of 3"));
    vt_keys(vt, "E");
    assert_screen(vt, vt_wait_text(vt, "{\"amount\": 11}"));
    assert_screen(vt, vt_shows(vt, "took the text"));
    finish(vt);
}

// In the program Ctrl-C is its own, and the screen is there afterwards.
static void
another_program_has_the_keys(void **state)
{
    (void)state;
    struct vt *vt =
        start_with_editor("sh -c 'trap \"echo 7 >$0; exit 0\" INT; echo ready; while :; do sleep 0.1; done'");
    assert_screen(vt, vt_wait_text(vt, "ready"));
    vt_bytes(vt, BYTES("\003"));
    assert_screen(vt, vt_wait_text(vt, "took the text"));
    assert_screen(vt, vt_shows(vt, "1:1"));
    assert_int_equal(vt_result(vt, 100), -1);
    finish(vt);
}

// While another program has the text, what was typed before is in a draft: the line is cut, or redrive
// killed.
static void
the_terminal_is_lost_under_another_program(void **state)
{
    enum { BY_CLOSING = 0 };
    static const int ways[] = {BY_CLOSING, SIGKILL};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int mode = 0;
        struct vt *vt = start_with_editor("sh -c 'echo ready; read line'"); // ends with the terminal
        assert_screen(vt, vt_wait_text(vt, "ready"));
        if (ways[i] == BY_CLOSING)
            vt_hang_up(vt);
        else
            assert_int_equal(kill(vt_pid(vt), ways[i]), 0);
        assert_int_not_equal(vt_result(vt, 8000), -1);
        vt_end(vt);
        assert_string_not_equal(the_draft(&mode), "");
        assert_int_equal(mode, 0600);
        vt = start_short(NULL);
        assert_screen(vt, vt_wait_text(vt, "Draft from"));
        vt_keys(vt, "r");
        assert_screen(vt, vt_wait_text(vt, "105}"));
        finish(vt);
    }
}

// An edit of ours, then a revision of somebody else, then our save: up to the question.
static struct vt *
lose_a_race(const char *more)
{
    struct vt *vt = start_short(more);
    vt_keys(vt, "<End><Left>5");
    assert_screen(vt, vt_wait_text(vt, "105}"));
    testdb_run(&db, "INSERT INTO redrive.revision (dlq_id, no, parent, payload, author) SELECT id, 1, 0, "
                    "'{\"amount\": 99}', 'rui' FROM public.dlq_events WHERE event_id = 'e2'");
    save(vt, "<C-s>", "mine");
    assert_screen(vt, vt_wait_text(vt, "look at both"));
    assert_screen(vt, vt_shows(vt, "revision 1 is by rui"));
    return vt;
}

static void
somebody_else_was_faster(void **state)
{
    static const char *const drafts[] = {"REDRIVE_DRAFTS=on", "REDRIVE_DRAFTS=off"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct vt *vt = lose_a_race(drafts[i]);
        vt_keys(vt, "r"); // theirs; mine is kept
        assert_screen(vt, vt_wait_text(vt, "{\"amount\": 99}"));
        assert_screen(vt, !vt_shows(vt, "modified"));
        if (i == 1) { // in no file: not lost by leaving
            vt_keys(vt, "<C-q>");
            assert_screen(vt, vt_wait_text(vt, "Draft from"));
            vt_keys(vt, "<Esc>");
        }
        vt_keys(vt, "1");
        assert_screen(vt, vt_wait_text(vt, "Draft from"));
        vt_keys(vt, "r");
        assert_screen(vt, vt_wait_text(vt, "105}"));
        finish(vt);
        testdb_run(&db, "DELETE FROM redrive.revision");
    }
}

// A revert that comes too late writes nothing, says so, and shows what is the newest by now.
static void
somebody_corrected_before_a_revert(void **state)
{
    (void)state;
    testdb_run(&db, "INSERT INTO redrive.revision (dlq_id, no, parent, payload, author) SELECT id, 1, 0, "
                    "'{\"amount\": 99}', 'rui' FROM public.dlq_events WHERE event_id = 'e2'");
    struct vt *vt = start("e2", 24, 80, NULL);
    assert_screen(vt, vt_wait_text(vt, "{\"amount\": 99}"));
    vt_keys(vt, "<A-v>");
    assert_screen(vt, vt_wait_text(vt, "the original"));
    vt_keys(vt, "0");
    assert_screen(vt, vt_wait_text(vt, "revert to it"));
    vt_keys(vt, "r");
    assert_screen(vt, vt_wait_text(vt, "- revision 1"));
    vt_keys(vt, "<Enter>");
    assert_screen(vt, vt_wait_text(vt, "equal to the original"));
    testdb_run(&db, "INSERT INTO redrive.revision (dlq_id, no, parent, payload, author) SELECT id, 2, 1, "
                    "'{\"amount\": 98}', 'rui' FROM public.dlq_events WHERE event_id = 'e2'");
    assert_screen(vt, vt_press(vt, "mine"));
    assert_screen(vt, vt_press(vt, "<Tab>"));
    assert_screen(vt, vt_shows(vt, "Enter save"));
    vt_keys(vt, "<Enter>");
    assert_screen(vt, vt_wait_text(vt, "corrected meanwhile"));
    assert_screen(vt, vt_wait_text(vt, "{\"amount\": 98}"));
    assert_int_equal(testdb_number(&db, "SELECT max(no) FROM redrive.revision"), 2);
    finish(vt);
}

// Somebody closed the event: what was typed stays, and cannot be saved.
static void
somebody_closed_the_event(void **state)
{
    (void)state;
    struct vt *vt = start_short(NULL);
    vt_keys(vt, "<End><Left>5");
    assert_screen(vt, vt_wait_text(vt, "105}"));
    testdb_run(&db,
               "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = now(), resolved_by = 'api' "
               "WHERE event_id = 'e2'");
    save(vt, "<C-s>", "mine");
    assert_screen(vt, vt_wait_text(vt, "Not saved: the event is resolved"));
    vt_keys(vt, "c");
    assert_screen(vt, vt_wait_text(vt, "not saved; your text is here"));
    assert_screen(vt, vt_shows(vt, "105}"));
    testdb_run(&db, "UPDATE public.dlq_events SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL "
                    "WHERE event_id = 'e2'");
    save(vt, "<C-q>s", "");
    assert_screen(vt, vt_wait_text(vt, "saved as revision 1"));
    assert_screen(vt, vt_wait_text(vt, "1/1 of 3")); // and closed
    vt_keys(vt, "Q");
    assert_int_equal(vt_result(vt, 8000), 0);
    vt_end(vt);
}

// The check thinks: the screen says so, a closing editor waits for it, and C-c ends the wait; the text stays.
static void
the_check_is_waited_for(void **state)
{
    (void)state;
    struct vt *vt = start_short("REDRIVE_CHECKS=type * exec sleep 600");
    vt_keys(vt, "<End><Left>5");
    assert_screen(vt, vt_wait_text(vt, "105}"));
    save(vt, "<C-s>", "mine");
    assert_screen(vt, vt_wait_text(vt, "not saved yet: waits for the check"));
    vt_keys(vt, "<Left>"); // takes the message away
    (void)vt_run(vt, 200);
    assert_screen(vt, !vt_shows(vt, "waits for the check"));
    vt_keys(vt, "<C-q>");
    assert_screen(vt, vt_wait_text(vt, "waits for the check"));
    vt_keys(vt, "<C-c>");
    assert_screen(vt, vt_wait_text(vt, "the check was not waited for"));
    assert_screen(vt, vt_shows(vt, "105}"));
    assert_int_equal(testdb_number(&db, "SELECT count(*) FROM redrive.revision"), 0);
    finish(vt);
}

#define EDITOR(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        EDITOR(a_key_costs_little),
        EDITOR(a_paste_of_1_mb_is_one_step),
        EDITOR(an_edit_survives_resizing),
        EDITOR(unsaved_text_outlives_the_terminal),
        EDITOR(drafts_can_be_switched_off),
        EDITOR(old_drafts_go),
        EDITOR(drafts_that_are_no_use_are_not_offered),
        EDITOR(the_list_hands_over_at_once),
        EDITOR(quitting_asks_about_unsaved_text),
        EDITOR(ctrl_c_keeps_the_text),
        EDITOR(another_program_edits),
        EDITOR(another_program_fails),
        EDITOR(another_program_has_the_keys),
        EDITOR(the_terminal_is_lost_under_another_program),
        EDITOR(somebody_else_was_faster),
        EDITOR(somebody_corrected_before_a_revert),
        EDITOR(somebody_closed_the_event),
        EDITOR(the_check_is_waited_for),
        EDITOR(drafts_are_removed_by_a_command),
        EDITOR(unsaved_json_in_a_text_outlives_the_terminal),
    };
    return cmocka_run_group_tests_name("editor", tests, make_database, drop_database);
}
