// What the terminal sees of the framework: bytes, modes, hostile text, resizing, the ways to end.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <cmocka.h>
#include "tests/terminal/sample_app.h"
#include "tests/terminal/vt.h"

#define assert_screen(vt, condition)                                                                         \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail_msg("%s\n%s", #condition, vt_screen(vt));                                                   \
    } while (0)

static struct vt *
start(int rows, int cols, struct sample_app_options *options, const char *const *env)
{
    struct vt *vt = vt_start(&(struct vt_setup){
        .rows = rows, .cols = cols, .run = sample_app_run, .context = options, .env = env});
    assert_screen(vt, vt_wait_idle(vt));
    return vt;
}

static struct sample_app_options plain = {.rows = 500, .theme = "default"};

static void
first_picture_is_whole(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    assert_screen(vt, strstr(vt_row(vt, 0), "redrive ▸ toy") != NULL);
    assert_screen(vt, strstr(vt_row(vt, 0), "PROD") != NULL);
    assert_screen(vt, strstr(vt_row(vt, 3), "▌") != NULL);
    assert_screen(vt, strstr(vt_row(vt, 5), "row 2  ▁▂▃ 漢字 é") != NULL);
    assert_screen(vt,
                  strstr(vt_row(vt, 23), "Enter open  / filter  Space select  R reprocess  ? help") != NULL);
    assert_true(vt_alternate(vt));
    assert_true(vt_bracketed(vt));
    vt_end(vt);
}

// A slow SSH line must not be felt. Others need 2.4 kB (less) to 9.6 kB (lnav) for a first screen, and up to
// 230 bytes for a key.
static void
keys_cost_few_bytes(void **state)
{
    (void)state;
    struct vt *vt = start(40, 120, &plain, NULL);
    assert_in_range(vt_output(vt).len, 1, 7000);
    vt_forget(vt);
    for (int i = 0; i < 20; i++)
        assert_screen(vt, vt_press(vt, "j"));
    print_message("cursor down: %zu bytes\n", vt_output(vt).len / 20);
    assert_in_range(vt_output(vt).len / 20, 1, 600);
    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "<C-f>"));
    print_message("page: %zu bytes\n", vt_output(vt).len);
    assert_in_range(vt_output(vt).len, 1, 3072);

    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "<C-g>")); // a message comes
    assert_screen(vt, vt_press(vt, "<C-g><C-g>") || vt_result(vt, 0) >= 0);
    vt_end(vt);
}

static void
nothing_costs_nothing(void **state)
{
    (void)state;
    struct vt *vt = start(40, 120, &plain, NULL);
    vt_forget(vt);
    assert_true(vt_run(vt, 1500));
    assert_int_equal(vt_output(vt).len, 0);
    assert_screen(vt, vt_press(vt, "k")); // at the top already: the same picture
    assert_int_equal(vt_output(vt).len, 0);
    vt_end(vt);
}

static void
hostile_text_is_visible(void **state)
{
    (void)state;
    struct vt *vt = start(24, 100, &plain, NULL);
    assert_screen(
        vt, strstr(vt_row(vt, 4), "a\\e]0;title\\x07b\\e[31mc\\r\\nd<U+009B>31me<U+202E>f\\x9b\\xff\\x7fg"));
    struct bytes output = vt_output(vt);
    assert_true(bytes_find(output, BYTES("\033]"), 0) == SIZE_MAX);
    assert_true(bytes_find(output, BYTES("\a"), 0) == SIZE_MAX);
    assert_true(bytes_find(output, BYTES("\xc2\x9b"), 0) == SIZE_MAX);
    // NOLINTNEXTLINE(misc-misleading-bidirectional)
    assert_true(bytes_find(output, BYTES("\xe2\x80\xae"), 0) == SIZE_MAX);

    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "c"));
    output = vt_output(vt);
    size_t osc = bytes_find(output, BYTES("\033]52;c;"), 0);
    assert_true(osc != SIZE_MAX);
    assert_screen(vt, vt_shows(vt, "to the clipboard"));
    vt_end(vt);
}

static bool
wrote(struct vt *vt, const char *text)
{
    return bytes_find(vt_output(vt), bytes_of(text), 0) != SIZE_MAX;
}

// A link is written around the letters that ncurses drew. Letters that are none any more lose it.
static void
links_surround_their_letters(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    char before[800];
    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "/link<Enter>"));
    assert_true(wrote(vt, "\033]8;;https://trace.example/a%20b\033\\link\033]8;;\033\\"));
    snprintf(before, sizeof before, "%s", vt_row(vt, 5));
    assert_screen(vt, strstr(before, "row 2 link ▁▂▃ 漢字 é"));

    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "j")); // its row is as it was
    assert_false(wrote(vt, "\033]8"));
    assert_screen(vt, vt_press(vt, "j")); // its look changes, the link stays
    assert_true(wrote(vt, "\033]8;;https://trace.example/a%20b\033\\"));
    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "k"));
    assert_string_equal(vt_row(vt, 5), before);

    vt_forget(vt);
    assert_screen(vt, vt_press(vt, "/<C-u>lint<Enter>"));
    assert_screen(vt, strstr(vt_row(vt, 5), "row 2 lint ▁▂▃ 漢字 é"));
    assert_false(wrote(vt, "https://"));
    assert_true(wrote(vt, "lint")); // all four, not only the one that differs

    vt_end(vt);
    const char *const console[] = {"TERM=linux", NULL};
    vt = start(24, 80, &plain, console);
    assert_screen(vt, vt_press(vt, "/link<Enter>"));
    assert_false(wrote(vt, "\033]8"));
    vt_end(vt);
}

static void
unknown_sequences_do_nothing(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    char before[8000];
    snprintf(before, sizeof before, "%s", vt_screen(vt));
    vt_bytes(vt, BYTES("\033[27;5;13~\033]11;rgb:0000/0000/"
                       "0000\033\\\033P1$r0m\033\\\033[?62;1;2c\033[1;1R\033[200;3u"));
    assert_screen(vt, vt_press(vt, "k"));
    assert_string_equal(vt_screen(vt), before);
    vt_end(vt);
}

static void
paste_never_runs(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    vt_paste(vt, "RQqDjjj\n");
    assert_screen(vt, vt_wait_text(vt, "ignored a paste of 8 bytes"));
    assert_screen(vt, !vt_shows(vt, "Cancel") && vt_shows(vt, "1/500"));

    assert_screen(vt, vt_press(vt, "/"));
    vt_paste(vt, "one\r\ntwo\tthree");
    assert_screen(vt, vt_wait_text(vt, "filter one two three"));
    assert_screen(vt, vt_press(vt, "<C-g>"));
    assert_screen(vt, !vt_shows(vt, "one two"));
    vt_end(vt);
}

static void
prompt_edits_like_readline(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    assert_screen(vt, vt_press(vt, "/abc def<C-w>x<C-a>y<C-e>z"));
    assert_screen(vt, vt_shows(vt, "filter yabc xz"));
    assert_screen(vt, vt_press(vt, "("));
    assert_screen(vt, vt_shows(vt, "this cannot be"));
    assert_screen(vt, vt_press(vt, "<BS><A-b><C-k>RD"));
    assert_screen(vt, vt_shows(vt, "filter yabc RD") && !vt_shows(vt, "Cancel"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_shows(vt, "filter yabc RD"));
    vt_end(vt);
}

static void
a_dialog_is_confirmed_on_purpose(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    assert_screen(vt, vt_press(vt, "R"));
    assert_screen(vt, vt_shows(vt, "reason ") && vt_shows(vt, "PROD") &&
                          vt_shows(vt, "2,114 selected events") && vt_shows(vt, "Tab to the count"));
    assert_screen(vt, vt_press(vt, "fixed by hand")); // no letter of it is a key
    assert_screen(vt, vt_shows(vt, "fixed by hand") && vt_shows(vt, "Tab to the count"));
    assert_screen(vt, vt_press(vt, "<S-Tab>"));
    assert_screen(vt, vt_shows(vt, "[ Cancel ]"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_shows(vt, "nothing was done"));

    assert_screen(vt, vt_press(vt, "R"));
    assert_screen(vt, vt_press(vt, "<Tab><Tab>"));
    assert_screen(vt, vt_shows(vt, "[ Reprocess ]") && vt_shows(vt, "Enter reprocess"));
    assert_screen(vt, vt_press(vt, "<Enter>")); // no count was typed
    assert_screen(vt, vt_shows(vt, "type 2114 to confirm"));
    assert_screen(vt, vt_press(vt, "2114"));
    vt_resize(vt, 12, 50);
    assert_screen(vt, vt_wait_idle(vt));
    assert_screen(vt, vt_shows(vt, "2114") && vt_shows(vt, "Cancel"));
    vt_resize(vt, 24, 80);
    assert_screen(vt, vt_wait_idle(vt));
    assert_screen(vt, vt_press(vt, "<S-Tab>why qy"));
    assert_screen(vt, vt_shows(vt, "why qy"));
    assert_screen(vt, vt_press(vt, "<Tab><Tab><Enter><Enter>")); // all at once, as in a paste
    assert_screen(vt, vt_shows(vt, "[ Reprocess ]"));
    assert_screen(vt, vt_press(vt, "<Enter>"));
    assert_screen(vt, vt_shows(vt, "done: why qy"));
    vt_end(vt);
}

static void
type_ahead_does_not_confirm(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    assert_screen(vt, vt_press(vt, "R<Tab>2114<Tab><Enter>"));
    assert_true(vt_run(vt, 50));
    assert_screen(vt, vt_shows(vt, "to confirm"));
    assert_screen(vt, !vt_shows(vt, "done:"));
    vt_end(vt);
}

static void
every_size_works(void **state)
{
    (void)state;
    static const int sizes[][2] = {{60, 200}, {10, 40}, {6, 30}, {5, 20}, {30, 100}, {24, 80}};
    struct vt *vt = start(24, 80, &plain, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vt_resize(vt, sizes[i][0], sizes[i][1]);
        assert_screen(vt, vt_wait_idle(vt));
        assert_screen(vt, vt_press(vt, "j"));
        assert_screen(vt, vt_shows(vt, "▌") && !vt_shows(vt, "too small"));
    }
    vt_resize(vt, 4, 80);
    assert_screen(vt, vt_wait_text(vt, "80x4 too small"));
    vt_resize(vt, 24, 19);
    assert_screen(vt, vt_wait_text(vt, "19x24 too small"));
    vt_keys(vt, "q");
    assert_int_equal(vt_result(vt, 10000), 0);
    vt_end(vt);
}

static void
leaving_gives_the_terminal_back(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    struct termios during, after;
    assert_true(vt_modes(vt, &during));
    assert_false(during.c_lflag & ICANON);
    vt_keys(vt, "Q");
    assert_int_equal(vt_result(vt, 10000), 0);
    assert_true(vt_modes(vt, &after) || true);
    assert_false(vt_alternate(vt));
    assert_false(vt_bracketed(vt));
    vt_end(vt);
}

static void
suspending_gives_it_back_and_takes_it_again(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    struct termios modes;
    vt_keys(vt, "<C-z>");
    // A group without a shell above it cannot be stopped by SIGTSTP; the kernel drops it, and the program
    // comes straight back.
    int result = vt_result(vt, 700);
    if (result == -2) {
        assert_true(vt_run(vt, 20));
        assert_false(vt_alternate(vt));
        assert_false(vt_bracketed(vt));
        assert_true(vt_modes(vt, &modes));
        assert_true(modes.c_lflag & ICANON);
        assert_int_equal(kill(vt_pid(vt), SIGCONT), 0);
    }
    assert_screen(vt, vt_wait_text(vt, "row 2"));
    assert_screen(vt, vt_press(vt, "j"));
    assert_screen(vt, vt_shows(vt, "2/500"));
    assert_true(vt_alternate(vt));
    assert_true(vt_bracketed(vt));
    assert_true(vt_modes(vt, &modes));
    assert_false(modes.c_lflag & ICANON);
    vt_end(vt);
}

static void
hang_up_ends_it(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    vt_hang_up(vt);
    int result = vt_result(vt, 10000);
    assert_int_not_equal(result, -1);
    vt_end(vt);
}

static void
a_signal_ends_it_orderly(void **state)
{
    (void)state;
    struct vt *vt = start(24, 80, &plain, NULL);
    assert_int_equal(kill(vt_pid(vt), SIGTERM), 0);
    assert_int_equal(vt_result(vt, 10000), 1);
    assert_false(vt_alternate(vt));
    assert_false(vt_bracketed(vt));
    vt_end(vt);
}

static void
a_crash_gives_the_terminal_back(void **state)
{
    static const char *const reasons[] = {"crash", "die"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct vt *vt = start(24, 80, &plain, NULL);
        assert_screen(vt, vt_press(vt, "R"));
        char keys[64];
        snprintf(keys, sizeof keys, "%s<Tab>2114<Tab>", reasons[i]);
        assert_screen(vt, vt_press(vt, keys));
        vt_keys(vt, "<Enter>");
        int result = vt_result(vt, 30000);
        assert_true(result != 0 && result != -1);
        assert_false(vt_alternate(vt));
        assert_false(vt_bracketed(vt));
        vt_end(vt);
    }
}

static void
every_terminal_is_drawn(void **state)
{
    static const struct {
        const char *term;
        const char *more;
        bool is_ascii;
    } rows[] = {
        {"TERM=xterm", "LANG=C.UTF-8", false},
        {"TERM=screen", "LANG=C.UTF-8", false},
        {"TERM=linux", "LANG=C.UTF-8", false},
        {"TERM=vt100", "LANG=C.UTF-8", false},
        {"TERM=xterm-256color", "NO_COLOR=1", false},
        {"TERM=xterm-256color", "LANG=C", true},
        {"TERM=xterm-ghostty", "LANG=en_XX.UTF-8", false},
        {"TERM=nonsense", "LANG=de_XX.utf8", false},
        {"TERM=xterm-256color", "COLORTERM=truecolor", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *env[] = {rows[i].term, rows[i].more, NULL};
        struct vt *vt = start(24, 80, &plain, env);
        assert_screen(vt, vt_shows(vt, rows[i].is_ascii ? "row 2  \\u2581" : "row 2  ▁▂▃"));
        assert_screen(vt, vt_press(vt, "j"));
        assert_screen(vt, vt_shows(vt, rows[i].is_ascii ? ">" : "▌"));
        if (rows[i].is_ascii)
            for (size_t b = 0; b < vt_output(vt).len; b++)
                assert_true((unsigned char)vt_output(vt).data[b] < 0x80);
        vt_keys(vt, "Q");
        assert_int_equal(vt_result(vt, 10000), 0);
        vt_end(vt);
    }
}

static void
every_theme_is_drawn(void **state)
{
    static const char *const themes[] = {"dark", "light", "mono", "high-contrast-dark", "solarized-light",
                                         "nope"};
    (void)state;
    for (size_t i = 0; i < sizeof themes / sizeof *themes; i++) {
        struct sample_app_options options = {.rows = 10, .theme = themes[i]};
        struct vt *vt = start(24, 120, &options, NULL);
        assert_screen(vt, vt_shows(vt, "row 2"));
        if (strcmp(themes[i], "nope") == 0)
            assert_screen(vt, vt_shows(vt, "error: there is no theme \"nope\""));
        vt_end(vt);
    }
}

// Who named no theme gets one that suits the background, as soon as the terminal has told it; who named one
// keeps it.
static void
the_theme_follows_the_background(void **state)
{
    static const char *const answers[] = {"\033]11;rgb:1e1e/1e1e/1e1e\033\\", "\033]11;rgb:ffff/ffff/ffff\a"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sample_app_options options = {.rows = 10};
        struct vt *vt = start(24, 80, &options, NULL);
        assert_true(bytes_find(vt_output(vt), BYTES("\033]11;?"), 0) != SIZE_MAX);
        assert_true(vt_cell(vt, 3, 20).is_reverse);
        vt_bytes(vt, bytes_of(answers[i]));
        assert_true(vt_wait_idle(vt));
        assert_screen(vt, vt_shows(vt, "row 2"));
        assert_screen(vt, !vt_cell(vt, 3, 20).is_reverse);
        vt_end(vt);
    }
    struct sample_app_options named = {.rows = 10, .theme = "default"};
    struct vt *vt = start(24, 80, &named, NULL);
    vt_bytes(vt, bytes_of(answers[0]));
    assert_true(vt_press(vt, "j"));
    assert_screen(vt, vt_cell(vt, 4, 20).is_reverse);
    vt_end(vt);
}

static void
no_color_means_none(void **state)
{
    (void)state;
    const char *env[] = {"NO_COLOR=1", NULL};
    struct vt *vt = start(24, 80, &plain, env);
    for (int row = 0; row < 24; row++)
        for (int col = 0; col < 80; col++)
            assert_false(vt_cell(vt, row, col).has_color);
    assert_true(vt_cell(vt, 3, 20).is_reverse); // the cursor row is seen all the same
    vt_end(vt);
}

static void
no_terminal_is_a_sentence(void **state)
{
    (void)state;
    const char *env[] = {"TERM=dumb", NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.run = sample_app_run, .context = &plain, .env = env});
    assert_int_equal(vt_result(vt, 10000), 2);
    assert_screen(vt, vt_shows(vt, "cannot place its cursor"));
    vt_end(vt);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_picture_is_whole),
        cmocka_unit_test(keys_cost_few_bytes),
        cmocka_unit_test(nothing_costs_nothing),
        cmocka_unit_test(hostile_text_is_visible),
        cmocka_unit_test(links_surround_their_letters),
        cmocka_unit_test(unknown_sequences_do_nothing),
        cmocka_unit_test(paste_never_runs),
        cmocka_unit_test(prompt_edits_like_readline),
        cmocka_unit_test(a_dialog_is_confirmed_on_purpose),
        cmocka_unit_test(type_ahead_does_not_confirm),
        cmocka_unit_test(every_size_works),
        cmocka_unit_test(leaving_gives_the_terminal_back),
        cmocka_unit_test(suspending_gives_it_back_and_takes_it_again),
        cmocka_unit_test(hang_up_ends_it),
        cmocka_unit_test(a_signal_ends_it_orderly),
        cmocka_unit_test(a_crash_gives_the_terminal_back),
        cmocka_unit_test(every_terminal_is_drawn),
        cmocka_unit_test(every_theme_is_drawn),
        cmocka_unit_test(the_theme_follows_the_background),
        cmocka_unit_test(no_color_means_none),
        cmocka_unit_test(no_terminal_is_a_sentence),
    };
    return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
