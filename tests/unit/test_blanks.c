// The blanks at the end of a row: which look they are given, and when they stay as they are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "ui/canvas/blanks.h"

enum { COLS = 8 };

static const bool is_seen[ROLE_COUNT] = {[ROLE_CURSOR] = true};

// Letters in a role, then blanks in another.
static void
lay(struct cell row[COLS], const char *letters, enum role role, enum role behind)
{
    size_t len = strlen(letters);
    memset(row, 0, COLS * sizeof *row);
    for (size_t i = 0; i < COLS; i++)
        row[i] = (struct cell){.base = i < len ? (unsigned char)letters[i] : ' ',
                               .width = 1,
                               .role = (uint8_t)(i < len ? role : behind)};
}

// The role of the last cell, after checking that all blanks from `from` have the same and are blank still.
static enum role
role_behind(const struct cell *row, int from)
{
    for (int col = from; col < COLS; col++) {
        assert_int_equal(row[col].base, ' ');
        assert_int_equal(row[col].role, row[COLS - 1].role);
    }
    return (enum role)row[COLS - 1].role;
}

static void
rebuilt_blanks_look_like_the_letter_before_them(void **state)
{
    struct cell row[COLS], shown[COLS];
    (void)state;
    lay(shown, "longest", ROLE_TEXT, ROLE_TEXT);
    lay(row, "bold", ROLE_STRONG, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_int_equal(role_behind(row, 4), ROLE_STRONG);
    assert_int_equal(row[3].role, ROLE_STRONG);
}

static void
blanks_that_stand_there_stay_as_they_are(void **state)
{
    struct cell row[COLS], shown[COLS];
    (void)state;
    lay(shown, "bold", ROLE_STRONG, ROLE_STRONG);
    lay(row, "text", ROLE_TEXT, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_int_equal(role_behind(row, 4), ROLE_STRONG);
    lay(row, "longer", ROLE_TEXT, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_int_equal(role_behind(row, 6), ROLE_STRONG);
    lay(shown, "", ROLE_TEXT, ROLE_DIM);
    lay(row, "", ROLE_TEXT, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_memory_equal(row, shown, sizeof row);
}

static void
a_letter_that_is_not_written_lends_nothing(void **state)
{
    struct cell row[COLS], shown[COLS];
    (void)state;
    lay(shown, "| text", ROLE_DIM, ROLE_TEXT);
    lay(row, "|", ROLE_DIM, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_int_equal(role_behind(row, 1), ROLE_TEXT);
}

static void
what_is_seen_on_blanks_is_left_alone(void **state)
{
    struct cell row[COLS], shown[COLS], as_it_was[COLS];
    (void)state;
    lay(shown, "longest", ROLE_TEXT, ROLE_TEXT);
    lay(row, "bar", ROLE_CURSOR, ROLE_CURSOR);
    memcpy(as_it_was, row, sizeof row);
    blanks_finish(row, shown, COLS, is_seen);
    assert_memory_equal(row, as_it_was, sizeof row);

    lay(row, "bar", ROLE_CURSOR, ROLE_TEXT); // it ends where it ends
    memcpy(as_it_was, row, sizeof row);
    blanks_finish(row, shown, COLS, is_seen);
    assert_memory_equal(row, as_it_was, sizeof row);

    lay(row, "lines", ROLE_TEXT, ROLE_TEXT); // an underline of its own
    for (int col = 0; col < COLS; col++)
        row[col].attributes = CELL_UNDERLINE;
    memcpy(as_it_was, row, sizeof row);
    blanks_finish(row, shown, COLS, is_seen);
    assert_memory_equal(row, as_it_was, sizeof row);
}

static void
an_unknown_row_is_rebuilt(void **state)
{
    struct cell row[COLS], shown[COLS];
    (void)state;
    memset(shown, 0xff, sizeof shown);
    lay(row, "", ROLE_TEXT, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_int_equal(role_behind(row, 0), ROLE_TEXT);
    lay(row, "bold", ROLE_STRONG, ROLE_TEXT);
    blanks_finish(row, shown, COLS, is_seen);
    assert_int_equal(role_behind(row, 4), ROLE_STRONG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rebuilt_blanks_look_like_the_letter_before_them),
        cmocka_unit_test(blanks_that_stand_there_stay_as_they_are),
        cmocka_unit_test(a_letter_that_is_not_written_lends_nothing),
        cmocka_unit_test(what_is_seen_on_blanks_is_left_alone),
        cmocka_unit_test(an_unknown_row_is_rebuilt),
    };
    return cmocka_run_group_tests_name("blanks", tests, NULL, NULL);
}
