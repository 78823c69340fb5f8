// What commands write beside their JSON: nothing from outside reaches a terminal as it came, wherever it
// stands.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/log.h"
#include "commands/cli/output.h"

#define HOSTILE                                                                                              \
    "\033]0;owned\007 \033[2J \xc2\x9b"                                                                      \
    "31m \xe2\x80\xae evil \r\n\x7f"

static const struct call call = {.err_is_terminal = true};
static char told[4000];

static FILE *caught;
static int kept = -1;

// From here on what goes to `fd` is caught.
static void
catch_output(int fd)
{
    fflush(NULL);
    kept = dup(fd);
    caught = tmpfile();
    assert_non_null(caught);
    assert_true(dup2(fileno(caught), fd) >= 0);
}

static void
release_output(int fd)
{
    fflush(NULL);
    dup2(kept, fd);
    close(kept);
    rewind(caught);
    told[fread(told, 1, sizeof told - 1, caught)] = '\0';
    fclose(caught);
}

// All of it is there to be read, and none of it works.
static void
assert_harmless(const char *what)
{
    static const char turns[] = {'\xe2', '\x80', '\xae', '\0'}; // U+202E
    static const char *const raw[] = {"\033]", "\007", "\033[2J", "\xc2\x9b", turns, "\x7f", "evil \r"};
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        if (strstr(told, raw[i]))
            fail_msg("%s lets %zu through: %s", what, i, told);
    if (!strstr(told, "owned") || !strstr(told, "evil") || !strstr(told, "\\e]0;"))
        fail_msg("%s does not show what it was: %s", what, told);
}

static void
remarks_are_harmless(void **state)
{
    (void)state;
    catch_output(STDERR_FILENO);
    remark(&call, "%s", HOSTILE);
    release_output(STDERR_FILENO);
    assert_harmless("a remark");
}

static void
progress_is_harmless(void **state)
{
    (void)state;
    struct progress progress = {.what = "w", .is_on = true};
    catch_output(STDERR_FILENO);
    progress_show(&progress, 1, 0, HOSTILE);
    release_output(STDERR_FILENO);
    assert_harmless("progress");
    assert_string_equal(told + strlen(told) - 3, "\033[K");
}

// Longer than the terminal is wide it would wrap, and each picture of it would stay.
static void
progress_stays_on_its_line(void **state)
{
    (void)state;
    struct progress progress = {.what = "waiting", .is_on = true};
    char tail[201];
    memset(tail, 'x', sizeof tail - 1);
    tail[sizeof tail - 1] = '\0';
    catch_output(STDERR_FILENO);
    progress_show(&progress, 1, 0, tail);
    release_output(STDERR_FILENO);
    assert_int_equal(strlen(told), 1 + 79 + 3);
}

static void
tables_are_harmless(void **state)
{
    (void)state;
    static const struct column columns[] = {{"a", ALIGN_LEFT, 0, 0}, {"b", ALIGN_LAST, 0, 0}};
    struct table table;
    struct err err = {0};
    table_begin(&table, &call, columns, 2);
    table_add(&table, BYTES(HOSTILE));
    table_add_text(&table, HOSTILE);
    catch_output(STDOUT_FILENO);
    bool ok = table_end(&table, &err);
    release_output(STDOUT_FILENO);
    assert_true(ok);
    assert_harmless("a table");
    assert_ptr_equal(strchr(told, '\n'), told + strlen(told) - 1); // a row stays a row
}

static void
the_log_is_harmless(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        catch_output(STDERR_FILENO);
        log_to(stderr, LOG_INFO, json);
        log_line(LOG_INFO, "a line", "why=\"%s\"", HOSTILE);
        log_to(NULL, LOG_INFO, false);
        release_output(STDERR_FILENO);
        assert_harmless("the log");
        assert_ptr_equal(strchr(told, '\n'), told + strlen(told) - 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remarks_are_harmless),       cmocka_unit_test(progress_is_harmless),
        cmocka_unit_test(progress_stays_on_its_line), cmocka_unit_test(tables_are_harmless),
        cmocka_unit_test(the_log_is_harmless),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
