// Themes: the shipped ones can be read and seen; files of one's own are checked.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "ui/theme/theme.h"

static void
colours_are_read(void **state)
{
    (void)state;
    struct color color;
    assert_true(color_parse(bytes_of("#93a1a1 247 default"), &color));
    assert_true(color.has_rgb);
    assert_int_equal(color.rgb, 0x93a1a1);
    assert_int_equal(color.index_256, 247);
    assert_int_equal(color.index_16, COLOR_DEFAULT);
    assert_true(color_parse(bytes_of("#ff0000"), &color));
    assert_int_equal(color.index_256, 196);
    assert_true(color_parse(bytes_of("bright-red"), &color));
    assert_int_equal(color.index_16, 9);
    assert_int_equal(color.index_256, 9);
    assert_true(color_parse(bytes_of("240"), &color));
    assert_int_equal(color.index_256, 240);
    static const char *const bad[] = {"", "redd", "#12345", "#12345g", "256", "-1", "red green blue cyan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(color_parse(bytes_of(bad[i]), &color));
}

static void
colours_fit_their_terminal(void **state)
{
    (void)state;
    struct color color;
    bool is_bright;
    assert_true(color_parse(bytes_of("#ff8080 210 bright-red"), &color));
    assert_int_equal(color_number(&color, COLOR_TRUE, 1 << 24, &is_bright), 0xff8080);
    assert_int_equal(color_number(&color, COLOR_256, 256, &is_bright), 210);
    assert_int_equal(color_number(&color, COLOR_16, 16, &is_bright), 9);
    assert_false(is_bright);
    assert_int_equal(color_number(&color, COLOR_16, 8, &is_bright), 1);
    assert_true(is_bright);
    assert_true(color_parse(bytes_of("#000001"), &color)); // 1 would be the terminal's red
    assert_int_equal(color_number(&color, COLOR_TRUE, 1 << 24, &is_bright), 8);
    assert_true(color_contrast(0xffffff, 0x000000) > 20.9);
    assert_true(color_contrast(0x777777, 0x777777) < 1.01);
}

// Roles whose glyphs are decoration, not text to read.
static bool
is_decoration(int role)
{
    return role == ROLE_BORDER || role == ROLE_GRAPH_AXIS || role == ROLE_GAUGE_REST ||
           role == ROLE_DIALOG_BORDER;
}

static void
shipped_themes_can_be_read(void **state)
{
    (void)state;
    size_t seen = 0;
    for (size_t i = 0; builtin_name(i); i++) {
        if (!bytes_ends(bytes_of(builtin_name(i)), ".theme"))
            continue;
        struct strbuf warnings = {0};
        struct err err = {0};
        struct theme *theme = theme_load(builtin_name(i), NULL, &warnings, &err);
        if (!theme)
            fail_msg("%s", err.text);
        assert_string_equal(strbuf_text(&warnings), "");
        uint32_t ink, paper;
        theme_page(theme, &ink, &paper);
        double least = strstr(builtin_name(i), "high-contrast") ? 7.0 : 4.5;
        bool has_own_colours = theme_look(theme, ROLE_TEXT, COLOR_TRUE)->foreground.has_rgb;
        for (int role = 0; has_own_colours && role < ROLE_COUNT; role++) {
            const struct look *look = theme_look(theme, (enum role)role, COLOR_TRUE);
            double contrast =
                color_contrast(color_rgb(&look->foreground, ink), color_rgb(&look->background, paper));
            if (!is_decoration(role) && contrast < least)
                fail_msg("%s: %s has a contrast of %.2f", builtin_name(i), role_name((enum role)role),
                         contrast);
        }
        seen++;
        theme_destroy(theme);
        strbuf_release(&warnings);
    }
    assert_true(seen >= 13);
}

// Letters that keep their hue in the cursor row are read there too.
static void
hues_are_read_on_the_cursor_row(void **state)
{
    static const enum role hues[] = {
        ROLE_KIND_TRANSIENT, ROLE_KIND_DATA, ROLE_KIND_SYSTEM, ROLE_KIND_PERMANENT, ROLE_KIND_UNKNOWN,
        ROLE_GRAPH,          ROLE_GROUP_NEW, ROLE_GROUP_BACK,  ROLE_EVENT_RETURNED, ROLE_OPERATION_FAILED};
    (void)state;
    for (size_t i = 0; builtin_name(i); i++) {
        if (!bytes_ends(bytes_of(builtin_name(i)), ".theme"))
            continue;
        struct theme *theme = theme_load(builtin_name(i), NULL, NULL, NULL);
        uint32_t ink, paper;
        theme_page(theme, &ink, &paper);
        bool has_own_colours = theme_look(theme, ROLE_TEXT, COLOR_TRUE)->foreground.has_rgb;
        for (size_t h = 0; has_own_colours && h < sizeof hues / sizeof *hues; h++) {
            struct look look = theme_look_on_cursor(theme, hues[h], COLOR_TRUE);
            double contrast =
                color_contrast(color_rgb(&look.foreground, ink), color_rgb(&look.background, paper));
            if (contrast < 3.0)
                fail_msg("%s: %s on the cursor row has a contrast of %.2f", builtin_name(i),
                         role_name(hues[h]), contrast);
        }
        struct look mono = theme_look_on_cursor(theme, ROLE_KIND_DATA, COLOR_MONO);
        const struct look *cursor = theme_look(theme, ROLE_CURSOR, COLOR_MONO);
        assert_int_equal(mono.attributes, cursor->attributes);
        theme_destroy(theme);
    }
}

static bool
same_look(const struct look *a, const struct look *b)
{
    return a->attributes == b->attributes && a->foreground.index_256 == b->foreground.index_256 &&
           a->background.index_256 == b->background.index_256 &&
           a->foreground.index_16 == b->foreground.index_16 &&
           a->background.index_16 == b->background.index_16;
}

// The cursor row, the button Enter presses and the environment are seen on every terminal, also without
// colours.
static void
what_matters_stands_out_at_every_depth(void **state)
{
    (void)state;
    for (size_t i = 0; builtin_name(i); i++) {
        if (!bytes_ends(bytes_of(builtin_name(i)), ".theme") || strcmp(builtin_name(i), "roles.theme") == 0)
            continue;
        struct theme *theme = theme_load(builtin_name(i), NULL, NULL, NULL);
        for (int depth = COLOR_MONO; depth <= COLOR_TRUE; depth++) {
            static const enum role roles[] = {ROLE_CURSOR, ROLE_BUTTON_FOCUS, ROLE_ENV_PROD, ROLE_MATCH,
                                              ROLE_STATUS_ERROR};
            const struct look *text = theme_look(theme, ROLE_TEXT, (enum color_depth)depth);
            for (size_t r = 0; r < sizeof roles / sizeof *roles; r++)
                if (same_look(text, theme_look(theme, roles[r], (enum color_depth)depth)))
                    fail_msg("%s: %s looks like text at depth %d", builtin_name(i), role_name(roles[r]),
                             depth);
        }
        theme_destroy(theme);
    }
}

static void
no_colours_means_attributes_only(void **state)
{
    (void)state;
    struct theme *theme = theme_load("dark", NULL, NULL, NULL);
    for (int role = 0; role < ROLE_COUNT; role++) {
        const struct look *look = theme_look(theme, (enum role)role, COLOR_MONO);
        assert_int_equal(look->foreground.index_256, COLOR_DEFAULT);
        assert_int_equal(look->background.index_256, COLOR_DEFAULT);
        assert_false(look->foreground.has_rgb || look->background.has_rgb);
    }
    theme_destroy(theme);
}

static struct theme *
load_text(const char *text, struct strbuf *warnings, struct err *err)
{
    char path[] = "/tmp/redrive-theme-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    struct theme *theme = theme_load(path, NULL, warnings, err);
    unlink(path);
    return theme;
}

static void
a_short_theme_is_complete(void **state)
{
    (void)state;
    struct strbuf warnings = {0};
    struct err err = {0};
    struct theme *theme = load_text("include(\"dark.theme\")\n"
                                    "palette { fg = \"#111111\" mine = \"#222222 33 green\" }\n"
                                    "role { event = \"mine bold\" cursor = \"red on mine\" }\n"
                                    "role-16 { cursor = \"reverse\" }\n",
                                    &warnings, &err);
    if (!theme)
        fail_msg("%s", err.text);
    assert_string_equal(strbuf_text(&warnings), "");
    assert_int_equal(theme_look(theme, ROLE_TEXT, COLOR_TRUE)->foreground.rgb, 0x111111);
    assert_int_equal(theme_look(theme, ROLE_EVENT_PENDING, COLOR_TRUE)->foreground.rgb,
                     0x111111); // named in roles.theme
    assert_int_equal(theme_look(theme, ROLE_CURSOR, COLOR_256)->background.index_256, 33);
    assert_int_equal(theme_look(theme, ROLE_CURSOR, COLOR_16)->attributes, LOOK_REVERSE);
    assert_string_equal(theme_background(theme), "dark");
    theme_destroy(theme);

    theme = load_text("role { event = \"red bold\" text = \"blue\" }\n", &warnings, &err);
    assert_int_equal(theme_look(theme, ROLE_EVENT_RETURNED, COLOR_16)->foreground.index_16,
                     1);                                                                  // along the dots
    assert_int_equal(theme_look(theme, ROLE_JSON_KEY, COLOR_16)->foreground.index_16, 4); // down to text
    theme_destroy(theme);
    strbuf_release(&warnings);
}

static void
mistakes_are_reported_and_stop_nobody(void **state)
{
    static const char *const said[] = {
        ":3: red: \"#zz\" is neither a colour nor an attribute",
        ":6: there is no role \"curser\"; did you mean cursor?",
        ":7: status.error: \"redd\" is neither a colour nor an attribute",
        "background is dark, light or any, not \"blue\"",
    };
    (void)state;
    struct strbuf warnings = {0};
    struct err err = {0};
    struct theme *theme = load_text("include(\"dark\")\n"
                                    "background = blue\n"
                                    "palette { red = \"#zz\" }\n"
                                    "# a comment\n"
                                    "role {\n"
                                    "  curser = \"red\"\n"
                                    "  status.error = \"redd bold\"\n"
                                    "}\n",
                                    &warnings, &err);
    if (!theme)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(strbuf_text(&warnings), said[i]))
            fail_msg("%s\nis not in\n%s", said[i], strbuf_text(&warnings));
    assert_int_equal(theme_look(theme, ROLE_STATUS_ERROR, COLOR_TRUE)->attributes, LOOK_BOLD);
    theme_destroy(theme);
    strbuf_release(&warnings);

    assert_null(load_text("rules { a = \"b\" }\n", NULL, &err));
    assert_non_null(strstr(err.text, ":1: a theme has no \"rules\"; did you mean role?"));
    err_clear(&err);
    assert_null(load_text("role { a = ", NULL, &err));
    assert_non_null(strstr(err.text, "a } is missing"));
    err_clear(&err);
    assert_null(theme_load("drak", NULL, NULL, &err));
    assert_non_null(strstr(err.text, "did you mean dark?"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_read),
        cmocka_unit_test(colours_fit_their_terminal),
        cmocka_unit_test(shipped_themes_can_be_read),
        cmocka_unit_test(hues_are_read_on_the_cursor_row),
        cmocka_unit_test(what_matters_stands_out_at_every_depth),
        cmocka_unit_test(no_colours_means_attributes_only),
        cmocka_unit_test(a_short_theme_is_complete),
        cmocka_unit_test(mistakes_are_reported_and_stop_nobody),
    };
    return cmocka_run_group_tests_name("theme", tests, NULL, NULL);
}
