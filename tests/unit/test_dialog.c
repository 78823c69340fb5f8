// The form in which a change is decided.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
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
    struct dialog *dialog = dialog_create(&request, "PROD", 'R');
    dialog_line(dialog, ROLE_DIALOG, "%d events of %s", 2114, "SocketTimeoutException");
    return dialog;
}

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
    assert_non_null(strstr(drawn_row(4), "[ Cancel ]"));
    for (int i = 0; i < 3; i++) // Reprocess, reason, rate
        (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
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
    while (!dialog_is_typing(dialog))
        (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    dialog_type(dialog, bytes_of("it's"), false);
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(
        strstr(drawn(), "same as: redrive reprocess --group 8f3a --reason 'it'\\''s' --rate 500"));
    dialog_destroy(dialog);
}

static void
a_form_asks_before_it_confirms(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_CANCELLED);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'R'), DIALOG_OPEN); // the key that opened it
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "[ Cancel ]"));

    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN); // the reason is missing
    assert_true(dialog_is_typing(dialog));
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "reason is required"));
    dialog_type(dialog, bytes_of("gateway fixed"), false);
    assert_int_equal(dialog_handle(dialog, DO_FIELD_NEXT, 0), DIALOG_OPEN);
    dialog_type(dialog, bytes_of("x"), false);
    assert_int_equal(dialog_handle(dialog, DO_FIELD_NEXT, 0), DIALOG_OPEN);
    dialog_type(dialog, bytes_of("2113"), false);
    (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "[ Reprocess ]"));
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_OPEN); // the rate
    (void)dialog_handle(dialog, DO_DELETE_LEFT, 0);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN); // the count
    (void)dialog_handle(dialog, DO_DELETE_LEFT, 0);
    dialog_type(dialog, bytes_of("4"), false);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_CONFIRMED);
    assert_true(bytes_equal_text(dialog_value(dialog, 0), "gateway fixed"));
    assert_true(bytes_equal_text(dialog_value(dialog, 1), "500"));
    dialog_destroy(dialog);
}

// Whoever reads "type 2114 to confirm" types it, wherever the focus is; Enter behind it goes on to what it
// confirms.
static void
a_count_is_typed_from_anywhere(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(2114);
    assert_false(dialog_takes(dialog, bytes_of("y"))); // a key
    assert_true(dialog_takes(dialog, bytes_of("2")));
    dialog_set_waiting(dialog, true);
    assert_false(dialog_takes(dialog, bytes_of("2"))); // not known yet how many
    dialog_set_waiting(dialog, false);
    dialog_type(dialog, bytes_of("2"), false);
    assert_true(dialog_is_typing(dialog));
    assert_true(dialog_takes(dialog, bytes_of("y")));
    dialog_type(dialog, bytes_of("113"), false);
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_OPEN);
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "[ Cancel ]")); // 2113 is not it
    (void)dialog_handle(dialog, DO_FIELD_PREVIOUS, 0);
    (void)dialog_handle(dialog, DO_DELETE_LEFT, 0);
    dialog_type(dialog, bytes_of("4"), false);
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_OPEN);
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "[ Reprocess ]"));
    assert_int_equal(dialog_handle(dialog, DO_ACCEPT, 0), DIALOG_OPEN); // the reason is missing
    dialog_type(dialog, bytes_of("gateway fixed"), false);
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_CONFIRMED);
    dialog_destroy(dialog);

    dialog = make_dialog(0); // none to type
    assert_false(dialog_takes(dialog, bytes_of("2")));
    dialog_destroy(dialog);
}

static void
what_cannot_be_confirmed_has_no_button(void **state)
{
    (void)state;
    struct dialog *dialog = make_dialog(0);
    dialog_set_waiting(dialog, true);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_null(strstr(drawn(), "Cancel ]   Reprocess"));
    (void)dialog_handle(dialog, DO_FIELD_NEXT, 0);
    assert_false(dialog_is_typing(dialog));
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN);
    dialog_set_waiting(dialog, false);
    dialog_refuse(dialog, "already in ana's operation 41");
    canvas_clear(&canvas);
    dialog_draw(dialog, &canvas, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "already in ana's operation 41"));
    assert_int_equal(dialog_handle(dialog, DO_YES, 'y'), DIALOG_OPEN);
    assert_int_equal(dialog_handle(dialog, DO_NO, 'n'), DIALOG_CANCELLED);
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
                static const char *const parts[] = {"[ Cancel ]", "reason", "type 2114 to confirm",
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
    const struct CMUnitTest tests[] = {
        DRAWS(a_form_shows_the_same_command),          DRAWS(a_form_asks_before_it_confirms),
        DRAWS(a_count_is_typed_from_anywhere),         DRAWS(a_small_form_says_what_it_is_about),
        DRAWS(what_cannot_be_confirmed_has_no_button), DRAWS(a_form_fits_small_screens),
    };
    return cmocka_run_group_tests_name("dialog", tests, NULL, NULL);
}
