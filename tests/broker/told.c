#include "tests/broker/told.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *
in_folder(const struct told_screen *screen, const char *name)
{
    static char path[80];
    snprintf(path, sizeof path, "%s/%s", screen->folder, name);
    return path;
}

static struct running
run_screen(const struct told_screen *screen, const struct world *world, const char *script, const char *text)
{
    char path[80];
    snprintf(path, sizeof path, "%s", in_folder(screen, script));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return program_start(redrive_program(), (const char *[]){"-d", world->conninfo, "--script", path,
                                                             "--script-out", screen->folder, NULL});
}

void
told_watch(struct told_screen *screen, const struct world *world, int64_t no, const char *sentence)
{
    char script[500];
    snprintf(screen->folder, sizeof screen->folder, "/tmp/redrive-told.XXXXXX");
    assert_non_null(mkdtemp(screen->folder));
    snprintf(script, sizeof script,
             "size 120x40\nawait operation %" PRId64 "\nawait operation %" PRId64 ": %s\nsave message\n", no,
             no, sentence);
    screen->running = run_screen(screen, world, "message.script", script);
}

static void
assert_says(const struct running *given, const char *words, int status)
{
    char said[PROGRAM_ROOM];
    struct running running = *given;
    int ended = program_end(&running, said);
    if (ended != status || !strstr(said, words))
        fail_msg("status %d instead of %d, or no \"%s\" in:\n%s", ended, status, words, said);
}

static void
assert_command_says(const struct world *world, const char *command, const char *no, const char *option,
                    const char *words, int status)
{
    struct running running =
        program_start(redrive_program(), (const char *[]){"-d", world->conninfo, command, no ? no : option,
                                                          no ? option : NULL, NULL});
    assert_says(&running, words, status);
}

void
told_everywhere(struct told_screen *screen, struct world *world, int64_t no, const struct told *told)
{
    char number[32], json[200], script[900];
    snprintf(number, sizeof number, "%" PRId64, no);
    assert_says(&screen->running, "", 0); // the message came
    assert_command_says(world, "operation", number, NULL, told->sentence, told->status);
    assert_command_says(world, "operations", NULL, NULL, told->sentence, 0);
    snprintf(json, sizeof json,
             "\"done\":%" PRId64 ",\"refused\":0,\"skipped\":0,\"taken\":%" PRId64 ",\"returned\":%" PRId64,
             told->done, told->taken, told->returned);
    assert_command_says(world, "operation", number, "--json", json, told->status);
    assert_command_says(world, "operations", NULL, "--json", json, 0);
    snprintf(script, sizeof script,
             "size 120x40\nkeys 4\nawait %s\nsave list\nkeys <Enter>\nawait sent %" PRId64 "\nexpect %s\n"
             "expect taken %" PRId64 "\nexpect returned %" PRId64 "\nsave page\n",
             told->sentence, told->done, told->sentence, told->taken, told->returned);
    struct running running = run_screen(screen, world, "list.script", script);
    assert_says(&running, "", 0);

    char sql[200];
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT t) FROM redrive.taken_of(%" PRId64 ") t", no);
    assert_int_equal(test_number(world->admin, sql), told->taken);
    assert_int_equal(
        test_number(world->admin, "SELECT count(*) FROM dlq_events WHERE error_message = 'boom again'"),
        told->returned);
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM dlq_events WHERE status = 'RESOLVED'"),
                     told->done);
    static const char *const files[] = {"message.script", "message.txt", "list.script", "list.txt",
                                        "page.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(in_folder(screen, files[i]));
    rmdir(screen->folder);
}
