// The form in which a change is decided.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/unit/canvas_fixture.h"
#include "ui/widgets/dialog.h"

static bool
check_rate(struct bytes text, struct err *err)
{
    return bytes_equal_text(text, "500") || err_set(err, ERR_USAGE, "a rate is a number");
}

static struct dialog *
make_dialog(int64_t typed_count)
{
    struct dialog_request request = {
        .title = "Reprocess",
        .confirm = "Reprocess",
        .typed_count = typed_count,
        .fields = {{.label = "reason", .option = "--reason", .is_required = true},
                   {.label = "rate",
                    .option = "--rate",
                    .value = "500",
                    .hint = "events/s",
                    .width = 8,
                    .check = check_rate}},
        .field_count = 2,
        .command = "redrive reprocess --group 8f3a",
    };
    struct dialog *dialog = dialog_create(&request, "PROD", ROLE_ENV_PROD);
    dialog_line(dialog, ROLE_DIALOG, "%d events of %s", 2114, "SocketTimeoutException");
    return dialog;
}

// As a person does it: with pauses that a finger needs.
static enum dialog_outcome
press(struct dialog *dialog, enum action action)
{
    clock_skip(2 * DIALOG_PAUSE);
    return dialog_handle(dialog, action);
}

static void
type(struct dialog *dialog, const char *text)
{
    clock_skip(2 * DIALOG_PAUSE);
    assert_true(dialog_type(dialog, bytes_of(text), false));
}

static const char *
draw(const struct dialog *dialog)
{
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    return drawn();
}

#define assert_drawn(dialog_, text_)                                                                         \
    do {                                                                                                     \
        if (!strstr(draw(dialog_), text_))                                                                   \
            fail_msg("%s is not in\n%s", text_, drawn());                                                    \
    } while (0)

// Where there is no room for all of it: what it is about, the count and the field in focus stay.
static void
a_small_form_says_what_it_is_about(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    struct area area = {0, 0, 6, 40};
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, area);
    assert_non_null(strstr(drawn_row(1), "2114 events of SocketTimeout"));
    assert_non_null(strstr(drawn_row(2), "reason"));
    assert_non_null(strstr(drawn_row(3), "type 2114"));
    assert_non_null(strstr(drawn_row(4), "Cancel     Reprocess"));
    press(dialog, DO_FIELD_DOWN);
    dialog_draw(dialog, &canvas, area);
    assert_non_null(strstr(drawn_row(1), "2114 events"));
    assert_non_null(strstr(drawn_row(2), "rate   500"));
    dialog_destroy(dialog);
}

static void
a_form_shows_the_same_command(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    type(dialog, "it's");
    assert_drawn(dialog, "same as: redrive reprocess --group 8f3a --reason 'it'\\''s' --rate 500");
    dialog_destroy(dialog);
}

static void
a_form_asks_before_it_confirms(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    (void)press(dialog, DO_FIELD_NEXT); // the count
    type(dialog, "2113");
    (void)press(dialog, DO_FIELD_NEXT);
    assert_drawn(dialog, "[ Reprocess ]");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    assert_drawn(dialog, "reason is required");
    type(dialog, "gateway fixed");
    (void)press(dialog, DO_FIELD_DOWN);
    type(dialog, "x");
    (void)press(dialog, DO_FIELD_PREVIOUS);
    assert_drawn(dialog, "[ Reprocess ]");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    assert_drawn(dialog, "a rate is a number");
    (void)press(dialog, DO_CHAR_LEFT);
    assert_drawn(dialog, "a rate is a number"); // nothing has changed yet
    (void)press(dialog, DO_CHAR_RIGHT);
    (void)press(dialog, DO_DELETE_LEFT);
    assert_null(strstr(draw(dialog), "a rate is a number"));
    (void)press(dialog, DO_FIELD_PREVIOUS);
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    assert_drawn(dialog, "type 2114 to confirm");
    (void)press(dialog, DO_DELETE_LEFT);
    type(dialog, "4");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN); // the right count: on to the button
    assert_drawn(dialog, "[ Reprocess ]");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    assert_true(bytes_equal_text(dialog_value(dialog, 0), "gateway fixed"));
    assert_true(bytes_equal_text(dialog_value(dialog, 1), "500"));
    dialog_destroy(dialog);
}

// Reason, count, button, the other fields, Cancel; one event is Tab and Enter.
static void
tab_comes_to_the_button_before_the_other_fields(void **state)
{
    (void)state;
    static const char *const words[] = {"to the count", "to Reprocess", "to rate", "to Cancel", "to reason"};
    struct arena arena = {0};
    struct dialog *dialog = make_dialog(2114);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_string_equal(dialog_next_word(dialog, &arena), words[i]);
        assert_int_equal(press(dialog, DO_FIELD_NEXT), DIALOG_OPEN);
    }
    for (size_t i = sizeof words / sizeof *words; i > 0; i--) {
        (void)press(dialog, DO_FIELD_PREVIOUS);
        assert_string_equal(dialog_next_word(dialog, &arena), words[i - 1]);
    }
    dialog_destroy(dialog);

    dialog = make_dialog(0);
    type(dialog, "y");
    assert_string_equal(dialog_next_word(dialog, &arena), "to Reprocess");
    (void)press(dialog, DO_FIELD_NEXT);
    clock_skip(DIALOG_PAUSE);
    assert_string_equal(dialog_enter_word(dialog, &arena), "reprocess");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    dialog_destroy(dialog);
    arena_release(&arena);
}

// However often it is pressed.
static void
enter_in_a_field_confirms_nothing(void **state)
{
    (void)state;
    static const enum action ways[] = {DO_ACCEPT, DO_FIELD_DOWN, DO_FIELD_UP};
    struct dialog *dialog = make_dialog(2114);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(press(dialog, ways[i % 7 % 3]), DIALOG_OPEN);
        assert_null(strstr(draw(dialog), "[ "));
        type(dialog, "ynqY ");
    }
    dialog_destroy(dialog);
}

// A letter is text: on a button it goes to the first field, where there is none it is nothing.
static void
letters_are_text(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    (void)press(dialog, DO_FIELD_NEXT);
    assert_drawn(dialog, "[ Reprocess ]");
    type(dialog, "y");
    assert_true(bytes_equal_text(dialog_value(dialog, 0), "y"));
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN); // in the field again
    (void)press(dialog, DO_CHAR_LEFT);
    dialog_destroy(dialog);

    struct dialog_request bare = {.title = "Stop", .confirm = "Stop"};
    dialog = dialog_create(&bare, NULL, ROLE_ENV);
    assert_drawn(dialog, "[ Cancel ]");
    static const char letters[] = "yYnqs 1";
    for (const char *c = letters; *c; c++) {
        clock_skip(2 * DIALOG_PAUSE);
        assert_false(dialog_type(dialog, (struct bytes){c, 1}, false));
    }
    assert_drawn(dialog, "[ Cancel ]");
    (void)press(dialog, DO_FIELD_NEXT);
    assert_drawn(dialog, "[ Stop ]");
    (void)press(dialog, DO_NONE); // a key that means nothing
    assert_drawn(dialog, "[ Cancel ]");
    (void)press(dialog, DO_FIELD_NEXT);
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    dialog_destroy(dialog);
}

// What comes faster than a finger is a paste, or a key that bounces.
static void
what_comes_at_once_confirms_nothing(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct dialog *dialog = make_dialog(0);
    type(dialog, "why");
    (void)press(dialog, DO_FIELD_NEXT);
    assert_drawn(dialog, "[ Reprocess ]");
    for (int i = 0; i < 50; i++) {
        assert_null(dialog_enter_word(dialog, &arena));
        assert_true(dialog_due(dialog) > clock_mono());
        clock_skip(i * DIALOG_PAUSE / 50);
        assert_int_equal(dialog_handle(dialog, DO_ACCEPT), DIALOG_OPEN);
    }
    clock_skip(DIALOG_PAUSE);
    assert_true(dialog_due(dialog) < 0);
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    dialog_destroy(dialog);

    dialog = make_dialog(0);
    type(dialog, "why");
    dialog_set_waiting(dialog, true);
    (void)press(dialog, DO_FIELD_NEXT);
    clock_skip(2 * DIALOG_PAUSE);
    assert_null(dialog_enter_word(dialog, &arena));
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN); // not known yet what
    clock_skip(2 * DIALOG_PAUSE);
    dialog_set_waiting(dialog, false);
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT), DIALOG_OPEN); // it was not seen yet
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    dialog_destroy(dialog);
    arena_release(&arena);
}

static void
a_paste_does_not_fill_in_the_count(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    assert_true(dialog_type(dialog, bytes_of("it\ty\r\n"), true));
    (void)press(dialog, DO_FIELD_NEXT);
    assert_false(dialog_type(dialog, bytes_of("2114"), true));
    assert_int_equal(dialog_value(dialog, 0).len, 4);
    (void)press(dialog, DO_FIELD_NEXT);
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    assert_drawn(dialog, "type 2114 to confirm");
    dialog_destroy(dialog);
}

// Whoever reads "type 2114 to confirm" types it on a button as well.
static void
a_count_is_typed_from_a_button(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    type(dialog, "gateway fixed");
    (void)press(dialog, DO_FIELD_PREVIOUS);
    assert_drawn(dialog, "[ Cancel ]");
    type(dialog, "2");
    type(dialog, "114");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    dialog_destroy(dialog);
}

static void
a_word_is_typed_to_confirm(void **state)
{
    (void)state;
    struct dialog_request request = {.title = "Category",
                                     .confirm = "Set",
                                     .typed_word = "data",
                                     .fields = {{.label = "reason"}},
                                     .field_count = 1};
    struct dialog *dialog = dialog_create(&request, NULL, ROLE_ENV);
    assert_drawn(dialog, "type data to confirm: ");
    (void)press(dialog, DO_ACCEPT);
    type(dialog, "dat");
    (void)press(dialog, DO_FIELD_NEXT);
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    type(dialog, "a");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_OPEN);
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CONFIRMED);
    dialog_destroy(dialog);
}

// The cell of the picture where this text begins.
static void
find(const char *text, int *row, int *col)
{
    for (*row = 0; *row < canvas.rows; ++*row) {
        const char *at = strstr(drawn_row(*row), text);
        if (at) {
            *col = text_cells((struct bytes){drawn_row(*row), (size_t)(at - drawn_row(*row))}, false);
            return;
        }
    }
    fail_msg("%s is not in\n%s", text, drawn());
}

static enum dialog_outcome
click(struct dialog *dialog, const char *text)
{
    int row = 0, col = 0;
    clock_skip(2 * DIALOG_PAUSE);
    (void)draw(dialog);
    dialog_layout(dialog, false, canvas_area(&canvas));
    find(text, &row, &col);
    return dialog_click(dialog, row, col);
}

// The button must have stood where it is clicked on: not a moment ago, and not elsewhere.
static void
a_click_counts_on_a_button_that_was_seen(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    dialog_set_waiting(dialog, true);
    assert_int_equal(click(dialog, "reason"), DIALOG_OPEN);
    type(dialog, "why");
    assert_int_equal(click(dialog, "rate"), DIALOG_OPEN);
    type(dialog, "x");
    assert_true(bytes_equal_text(dialog_value(dialog, 1), "500x"));
    (void)press(dialog, DO_DELETE_LEFT);

    assert_int_equal(click(dialog, "Reprocess  "), DIALOG_OPEN);
    clock_skip(2 * DIALOG_SHOWN);
    assert_int_equal(click(dialog, "Reprocess  "), DIALOG_OPEN); // nothing to confirm yet
    dialog_set_waiting(dialog, false);
    assert_int_equal(click(dialog, "Reprocess  "), DIALOG_OPEN);
    clock_skip(DIALOG_SHOWN - 3 * DIALOG_PAUSE);
    assert_int_equal(click(dialog, "Reprocess  "), DIALOG_OPEN);
    clock_skip(DIALOG_SHOWN);
    dialog_line(dialog, ROLE_DIALOG, "7 have newer events of the same key");
    dialog_line(dialog, ROLE_DIALOG, "so that the button is a row below");
    assert_int_equal(click(dialog, "Reprocess  "), DIALOG_OPEN);
    clock_skip(DIALOG_SHOWN);
    int row = 0, col = 0;
    find("Reprocess  ", &row, &col);
    (void)press(dialog, DO_NONE);
    assert_int_equal(dialog_click(dialog, row, col), DIALOG_OPEN); // at once after a key
    assert_int_equal(click(dialog, "Reprocess  "), DIALOG_CONFIRMED);
    assert_int_equal(click(dialog, "Cancel"), DIALOG_CANCELLED);
    dialog_destroy(dialog);
}

static void
what_cannot_be_confirmed_has_no_button(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    dialog_refuse(dialog, "already in ana's operation 41");
    assert_drawn(dialog, "already in ana's operation 41");
    assert_null(strstr(drawn(), "Cancel ]   Reprocess"));
    assert_false(dialog_type(dialog, bytes_of("y"), false));
    assert_int_equal(press(dialog, DO_FIELD_NEXT), DIALOG_OPEN);
    assert_drawn(dialog, "[ Cancel ]");
    assert_int_equal(press(dialog, DO_ACCEPT), DIALOG_CANCELLED);
    dialog_destroy(dialog);
}

static void
a_form_fits_small_screens(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    for (int i = 0; i < 20; i++)
        dialog_line(dialog, ROLE_DIALOG,
                    "line %d of many that do not all fit on the screen of a small terminal", i);
    for (int rows = 0; rows <= 24; rows++) {
        for (int cols = 0; cols <= 80; cols += 5) {
            canvas_clear(&canvas);
            dialog_draw(dialog, &canvas, (struct area){0, 0, rows, cols});
            if (rows >= 8 && cols >= 40) {
                static const char *const parts[] = {"Cancel", "reason", "type 2114 to confirm",
                                                    "2114 events of"};
                for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                    if (!strstr(drawn(), parts[i]))
                        fail_msg("%dx%d lacks %s", cols, rows, parts[i]);
            }
        }
    }
    dialog_destroy(dialog);
}

int
main(void)
{
    clock_hold();
    const struct CMUnitTest tests[] = {
        DRAWS(a_form_shows_the_same_command),
        DRAWS(a_form_asks_before_it_confirms),
        DRAWS(tab_comes_to_the_button_before_the_other_fields),
        DRAWS(enter_in_a_field_confirms_nothing),
        DRAWS(letters_are_text),
        DRAWS(what_comes_at_once_confirms_nothing),
        DRAWS(a_paste_does_not_fill_in_the_count),
        DRAWS(a_count_is_typed_from_a_button),
        DRAWS(a_word_is_typed_to_confirm),
        DRAWS(a_small_form_says_what_it_is_about),
        DRAWS(a_click_counts_on_a_button_that_was_seen),
        DRAWS(what_cannot_be_confirmed_has_no_button),
        DRAWS(a_form_fits_small_screens),
    };
    return cmocka_run_group_tests_name("dialog", tests, NULL, NULL);
}
