#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/filter/saved.h"

static char folder[64];

static int
make_folder(void **state)
{
    (void)state;
    strncpy(folder, "/tmp/redrive-notes.XXXXXX", sizeof folder - 1);
    return mkdtemp(folder) ? 0 : 1;
}

static int
remove_folder(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/filters", folder);
    (void)unlink(path);
    return rmdir(folder);
}

static void
set(const char *name, const char *text)
{
    struct notes notes = {0};
    struct err err = {0};
    if (!notes_set(&notes, folder, "filters", name, text, &err))
        fail_msg("%s: %s", name, err.text);
    notes_release(&notes);
}

static void
what_is_saved_is_there_for_others(void **state)
{
    (void)state;
    struct notes notes = {0};
    assert_true(notes_load(&notes, folder, "filters", NULL));
    assert_int_equal(notes.count, 0);
    set("slow", "timed out topic:orders");
    set("late", "age:>2h");
    set("slow", "timeout");
    assert_true(notes_load(&notes, folder, "filters", NULL));
    assert_int_equal(notes.count, 2);
    assert_string_equal(notes.notes[0].name, "late");
    assert_string_equal(notes_find(&notes, BYTES("slow")), "timeout");
    struct stat stat_of;
    char path[128];
    snprintf(path, sizeof path, "%s/filters", folder);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
    set("late", NULL);
    struct err err = {0};
    assert_false(notes_set(&notes, folder, "filters", "late", NULL, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(notes_set(&notes, folder, "filters", "Late", "x", NULL));
    assert_false(notes_set(&notes, folder, "filters", "late", "a\nb", NULL));
    assert_false(notes_set(&notes, NULL, "filters", "late", "a", NULL));
    notes_release(&notes);
}

static void
names_stand_for_what_was_saved(void **state)
{
    (void)state;
    set("slow", "timed out");
    set("deep", "@slow again");
    set("two", "topic:a or topic:b");
    set("quote", "a \"b\" \\\"c");
    static const struct {
        const char *text, *meaning;
        int column; // of the mistake
    } rows[] = {
        {"@slow", "timed out", 0},
        {"  topic:x @slow age:>2h", "  topic:x timed out age:>2h", 0},
        {"\"a @slow b\" error:\"x @slow\"", "\"a @slow b\" error:\"x @slow\"", 0},
        {"user@slow @Component @ x", "user@slow @Component @ x", 0},
        {"caf\xc3\xa9 @fast", NULL, 6},
        {"!@slow", "!error:\"timed out\"", 0},
        {"@slow or topic:x", "error:\"timed out\" or topic:x", 0},
        {"topic:x or @two", "topic:x or (topic:a or topic:b)", 0},
        {"@two age:>2h", "(topic:a or topic:b) age:>2h", 0},
        {"(@two or @slow) !@two", "((topic:a or topic:b) or error:\"timed out\") !(topic:a or topic:b)", 0},
        {"not @quote", "not error:\"a \\\"b\\\" \\\"c\"", 0},
        {"(@fast or topic:x)", NULL, 2},
        {"error:\"x @slow y\" $.a=\"b @slow\" z", "error:\"x @slow y\" $.a=\"b @slow\" z", 0},
        {"\"an \\\" @slow quote\"", "\"an \\\" @slow quote\"", 0},
        {"\"\" @slow", "\"\" timed out", 0},
        {"@deep", "@slow again", 0}, // what was saved is not looked into
        {"@slow @slow", "timed out timed out", 0},
    };
    struct notes notes = {0};
    assert_true(notes_load(&notes, folder, "filters", NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf out = {0};
        struct err err = {0};
        bool ok = filter_expand(bytes_of(rows[i].text), &notes, &out, &err);
        assert_int_equal(ok, rows[i].meaning != NULL);
        if (ok)
            assert_string_equal(strbuf_text(&out), rows[i].meaning);
        assert_int_equal(err.column, rows[i].column);
        strbuf_release(&out);
    }
    notes_release(&notes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_is_there_for_others),
        cmocka_unit_test(names_stand_for_what_was_saved),
    };
    return cmocka_run_group_tests_name("notes", tests, make_folder, remove_folder);
}
