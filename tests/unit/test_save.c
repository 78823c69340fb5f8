// One setting is changed in the person's own configuration file.
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
#include "settings/save.h"
#include "tests/lib/folder.h"

static void
nothing_else_changes(void **state)
{
    static const struct {
        const char *before, *after; // NULL: it is refused
        int line;
    } cases[] = {
        {"", "theme = \"light\"\n", 0},
        {"follow = \"5s\"", "follow = \"5s\"\ntheme = \"light\"\n", 0},
        {"# mine\ntheme = \"dark\"  # at night\nmouse = \"on\"\n",
         "# mine\ntheme = \"light\"  # at night\nmouse = \"on\"\n", 0},
        {"  theme='dark'\n", "  theme=\"light\"\n", 0},
        {"# theme = \"dark\"\n", "# theme = \"dark\"\ntheme = \"light\"\n", 0},
        {"profile \"p\" {\n    theme = \"dark\"\n}\n",
         "profile \"p\" {\n    theme = \"dark\"\n}\ntheme = \"light\"\n", 0},
        {"theme = \"a\"\ntheme = \"b\"\n", "theme = \"a\"\ntheme = \"light\"\n", 0},
        {"label = \"x { theme = \\\" y\"\ntheme = \"a\"\n",
         "label = \"x { theme = \\\" y\"\ntheme = \"light\"\n", 0},
        {"theme_of = \"a\"\n", "theme_of = \"a\"\ntheme = \"light\"\n", 0},
        {"links = {\n  \"a https://b\"\n}\n", "links = {\n  \"a https://b\"\n}\ntheme = \"light\"\n", 0},
        {"mouse = \"on\"\ntheme = dark\n", NULL, 2},
        {"profile \"p\" {\n", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        struct err err = {0};
        bool ok = setting_put(bytes_of(cases[i].before), "theme", "light", &out, &err);
        if (ok != (cases[i].after != NULL))
            fail_msg("case %zu: %s", i, err.text);
        if (ok)
            assert_string_equal(strbuf_text(&out), cases[i].after);
        else
            assert_int_equal(err.line, cases[i].line);
        strbuf_release(&out);
    }
}

static void
text_of(const char *path, char text[200])
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, 199, file)] = '\0';
    fclose(file);
}

static void
the_file_keeps_its_mode_and_its_place(void **state)
{
    (void)state;
    char folder[] = "/tmp/redrive-save-XXXXXX";
    char path[80], kept[80], text[200];
    struct err err = {0};
    struct stat status;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/redrive/config", folder);
    snprintf(kept, sizeof kept, "%s/dotfile", folder);
    assert_true(setting_save(path, "theme", "dark", &err)); // the folder is made, too
    text_of(path, text);
    assert_string_equal(text, "theme = \"dark\"\n");

    assert_int_equal(rename(path, kept), 0);
    assert_int_equal(chmod(kept, 0644), 0);
    assert_int_equal(symlink(kept, path), 0);
    assert_true(setting_save(path, "theme", "light", &err));
    text_of(kept, text);
    assert_string_equal(text, "theme = \"light\"\n");
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);

    // A link whose file is not there, as before the first `stow`, stays a link.
    assert_int_equal(unlink(kept), 0);
    assert_false(setting_save(path, "theme", "light", &err));
    assert_non_null(strstr(err.text, "a link to a file that is not there; write theme = \"light\""));
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));

    // One that is too long says so.
    FILE *file = fopen(kept, "w");
    assert_non_null(file);
    for (int i = 0; i < 40000; i++)
        fputs("# forty characters of a comment ........\n", file);
    fclose(file);
    err = (struct err){0};
    assert_false(setting_save(path, "theme", "light", &err));
    assert_non_null(strstr(err.text, "File too large"));
    err = (struct err){0};

    snprintf(path, sizeof path, "%s/nowhere/at/all", folder);
    assert_false(setting_save(path, "theme", "light", &err));
    assert_non_null(strstr(err.text, "write theme = \"light\" into it"));
    folder_remove(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_else_changes),
        cmocka_unit_test(the_file_keeps_its_mode_and_its_place),
    };
    return cmocka_run_group_tests_name("save", tests, NULL, NULL);
}
