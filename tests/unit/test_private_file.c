// Files that only their owner may read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/private_file.h"

static char root[64], folder[128];

static int
make_folder(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/redrive-private.XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(folder, sizeof folder, "%s/drafts", root);
    return private_folder_make(folder, NULL) ? 0 : -1;
}

static int
remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.draft", "b.draft", "c.json", "link", "target"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        private_file_remove(folder, names[i]);
    (void)rmdir(folder);
    return rmdir(root);
}

static mode_t
mode_of(const char *name)
{
    char path[200];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 0777;
}

static void
what_is_written_is_read_by_its_owner_alone(void **state)
{
    (void)state;
    struct strbuf text = {0};
    struct err err = {0};
    assert_true(private_file_write(folder, "a.draft", BYTES("one\0two"), &err));
    const struct bytes parts[] = {BYTES("three"), BYTES("\0"), BYTES("four")};
    assert_true(private_file_write_parts(folder, "a.draft", parts, 3, &err)); // in its place
    assert_true(private_file_read(folder, "a.draft", 100, &text, &err));
    assert_true(bytes_equal(strbuf_bytes(&text), BYTES("three\0four")));
    assert_int_equal(mode_of("a.draft"), 0600);
    assert_int_equal(mode_of(""), 0700);
    strbuf_reset(&text);
    assert_false(private_file_read(folder, "a.draft", 9, &text, &err));
    assert_int_equal(err.kind, ERR_DATA);
    err_clear(&err);
    assert_false(private_file_read(folder, "b.draft", 9, &text, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    strbuf_release(&text);
}

static void
an_open_folder_is_closed(void **state)
{
    (void)state;
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(private_folder_make(folder, NULL));
    assert_int_equal(mode_of(""), 0700);
}

// Somebody who may write there must not lead us elsewhere.
static void
links_are_not_followed(void **state)
{
    (void)state;
    char link[200], target[200];
    struct strbuf text = {0};
    struct err err = {0};
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(target, sizeof target, "%s/target", folder);
    assert_true(private_file_write(folder, "target", BYTES("theirs"), NULL));
    assert_int_equal(symlink(target, link), 0);
    assert_false(private_file_read(folder, "link", 100, &text, &err));
    assert_true(private_file_write(folder, "link", BYTES("ours"), NULL)); // the link is replaced
    assert_true(private_file_read(folder, "target", 100, &text, NULL));
    assert_string_equal(strbuf_text(&text), "theirs");
    strbuf_release(&text);

    char elsewhere[200];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", root);
    assert_int_equal(symlink(folder, elsewhere), 0);
    err_clear(&err);
    assert_false(private_folder_make(elsewhere, &err));
    assert_non_null(strstr(err.text, "not a folder of your own"));
    assert_int_equal(unlink(elsewhere), 0);
}

static void
old_ones_go(void **state)
{
    (void)state;
    char path[200];
    struct strbuf text = {0};
    time_t now = time(NULL);
    assert_true(private_file_write(folder, "a.draft", BYTES("old"), NULL));
    assert_true(private_file_write(folder, "b.draft", BYTES("young"), NULL));
    assert_true(private_file_write(folder, "c.json", BYTES("other"), NULL));
    snprintf(path, sizeof path, "%s/a.draft", folder);
    assert_int_equal(utime(path, &(struct utimbuf){now - 8 * 86400, now - 8 * 86400}), 0);
    snprintf(path, sizeof path, "%s/c.json", folder);
    assert_int_equal(utime(path, &(struct utimbuf){now - 8 * 86400, now - 8 * 86400}), 0);
    assert_int_equal(private_files_age(folder, ".draft", ((int64_t)now - 7 * 86400) * US_PER_SECOND), 1);
    assert_false(private_file_read(folder, "a.draft", 100, &text, NULL));
    assert_true(private_file_read(folder, "b.draft", 100, &text, NULL));
    assert_true(private_file_read(folder, "c.json", 100, &text, NULL));
    strbuf_release(&text);
    assert_int_equal(private_files_age("/nowhere", ".draft", INT64_MAX), 0);
}

#define PRIVATE(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        PRIVATE(what_is_written_is_read_by_its_owner_alone),
        PRIVATE(an_open_folder_is_closed),
        PRIVATE(links_are_not_followed),
        PRIVATE(old_ones_go),
    };
    return cmocka_run_group_tests_name("private_file", tests, NULL, NULL);
}
