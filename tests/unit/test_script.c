// Scripts of keys: what they play, and how they fail.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/unit/app_world.h"
#include "ui/app/script.h"

static bool
play(struct world *world, const char *text, struct err *err)
{
    char path[] = "/tmp/redrive-script-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    char folder[] = "/tmp/redrive-out-XXXXXX";
    assert_non_null(mkdtemp(folder));
    bool ok = script_run(world->app, NULL, path, folder, err);
    static const char *const names[] = {"one.txt", "one.svg", "one.roles", "FAILED.txt"};
    for (size_t i = 0; i < 4; i++) {
        char file[200];
        snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        bool is_there = access(file, R_OK) == 0;
        assert_int_equal(is_there, (i == 3) != ok);
        unlink(file);
    }
    rmdir(folder);
    unlink(path);
    return ok;
}

static void
scripts_play_keys(void **state)
{
    struct world *world = *state;
    struct err err = {0};
    if (!play(world,
              "# a story\n"
              "size 60x12\n"
              "\n"
              "keys gg/\n"
              "type aRb\n"
              "paste x\n"
              "expect /aRbx\n"
              "reject Cancel\n"
              "keys <Enter>\n"
              "wait\n"
              "await total 0\n"
              "save one\n"
              "svg one\n"
              "roles one\n",
              &err))
        fail_msg("%s", err.text);
    assert_string_equal(newest->accepted, "aRbx");
}

static void
scripts_fail_with_their_line(void **state)
{
    struct world *world = *state;
    static const char *const scripts[][2] = {
        {"keys j\nexpect nothing of this\n", ":2: the screen does not show \"nothing of this\""},
        {"reject total\n", ":1: the screen shows \"total\""},
        {"size 10\n", ":1: a size is like 120x40"},
        {"keys <Foo>\n", ":1: <Foo> names no key"},
        {"dance\n", ":1: there is no command \"dance\""},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct err err = {0};
        char path[] = "/tmp/redrive-script-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, scripts[i][0], strlen(scripts[i][0])), strlen(scripts[i][0]));
        close(fd);
        char folder[] = "/tmp/redrive-out-XXXXXX";
        assert_non_null(mkdtemp(folder));
        assert_false(script_run(world->app, NULL, path, folder, &err));
        if (!strstr(err.text, scripts[i][1]))
            fail_msg("%s", err.text);
        char failed[200];
        snprintf(failed, sizeof failed, "%s/FAILED.txt", folder);
        assert_int_equal(access(failed, R_OK), 0);
        unlink(failed);
        rmdir(folder);
        unlink(path);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(scripts_play_keys),
        WORLD(scripts_fail_with_their_line),
    };
    return cmocka_run_group_tests_name("script", tests, NULL, NULL);
}
