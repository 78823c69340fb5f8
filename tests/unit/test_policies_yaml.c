// settings/policies_yaml: each NAME.yaml of tests/cases/policies_yaml gives NAME.conf, which is a sound file
// of policies, or the mistake in NAME.error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <unistd.h>
#include <cmocka.h>
#include "settings/policies_file.h"
#include "settings/policies_yaml.h"

static bool
read_whole(const char *path, struct strbuf *out)
{
    FILE *file = fopen(path, "r");
    char part[4096];
    size_t got;
    if (!file)
        return false;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        strbuf_add(out, (struct bytes){part, got});
    fclose(file);
    return true;
}

static void
assert_is_sound(struct bytes text)
{
    char path[] = "/tmp/redrive-policies-yaml.XXXXXX";
    struct policies_file file;
    struct err err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.data, text.len), text.len);
    close(fd);
    bool ok = policies_file_read(path, &file, &err);
    unlink(path);
    if (!ok)
        fail_msg("%s", err.text);
    assert_true(file.count >= 1);
    policies_file_release(&file);
}

static void
check_case(const char *path)
{
    char other[300];
    int stem = (int)(strlen(path) - strlen(".yaml"));
    struct strbuf yaml = {0}, wanted = {0}, got = {0};
    struct err err = {0};
    assert_true(read_whole(path, &yaml));
    bool ok = policies_yaml_print("x", strbuf_bytes(&yaml), &got, &err);
    if (!ok)
        strbuf_printf(&got, "%s\n", err.text);
    snprintf(other, sizeof other, "%.*s.%s", stem, path, ok ? "conf" : "error");
    if (!read_whole(other, &wanted) || strcmp(strbuf_text(&wanted), strbuf_text(&got)) != 0)
        fail_msg("%s is not:\n%s", other, strbuf_text(&got));
    if (ok)
        assert_is_sound(strbuf_bytes(&got));
    strbuf_release(&yaml);
    strbuf_release(&wanted);
    strbuf_release(&got);
}

static void
test_cases(void **state)
{
    glob_t found;
    (void)state;
    assert_int_equal(glob("tests/cases/policies_yaml/*.yaml", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 10);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_case(found.gl_pathv[i]);
    globfree(&found);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
