#include "process/check_probe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/check_rows.h"
#include "process/judge.h"

// What the shell does itself. The words of POSIX, 2.4 and 2.14 and 1.6 of "Shell Command Language".
static bool
is_of_shell(struct bytes word)
{
    static const char *const words[] = {".",      "case",  "cd",    "command", "eval", "exec",   "exit",
                                        "export", "false", "for",   "getopts", "if",   "printf", "read",
                                        "set",    "shift", "test",  "times",   "trap", "true",   "ulimit",
                                        "umask",  "unset", "until", "while",   "echo"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_equal_text(word, words[i]))
            return true;
    return false;
}

// The name of the program; absent where only a shell can tell.
static struct bytes
program_of(const char *command)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
    struct bytes word = bytes_of(command);
    size_t len = strspn(command, plain);
    bool is_whole = len == word.len || command[len] == ' ' || command[len] == '\t';
    word = bytes_slice(word, 0, len);
    return is_whole && len > 0 && !is_of_shell(word) ? word : BYTES_ABSENT;
}

static bool
can_execute(const char *path, bool *is_there)
{
    struct stat status;
    *is_there = stat(path, &status) == 0;
    return *is_there && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool
is_in_path(struct bytes name)
{
    const char *path = getenv("PATH");
    struct bytes left = bytes_of(path ? path : "/usr/bin:/bin");
    while (left.len > 0) {
        size_t end = bytes_find(left, BYTES(":"), 0);
        end = end < left.len ? end : left.len;
        char file[PATH_MAX];
        bool is_there;
        int len = snprintf(file, sizeof file, "%.*s/%.*s", (int)end, left.data, BYTES_ARGS(name));
        if (len > 0 && (size_t)len < sizeof file && can_execute(file, &is_there))
            return true;
        left = bytes_slice(left, end + 1 < left.len ? end + 1 : left.len, left.len);
    }
    return false;
}

static const char *
fault_of_program(const struct check_row *row, struct arena *arena)
{
    struct bytes program = program_of(row->command);
    bool is_there = false;
    if (!bytes_present(program))
        return NULL;
    const char *name = arena_text(arena, program);
    if (!strchr(name, '/'))
        return is_in_path(program) ? NULL : arena_printf(arena, "there is no program %s in PATH", name);
    if (can_execute(name, &is_there))
        return NULL;
    return arena_printf(arena, is_there ? "%s cannot be executed; chmod +x it" : "there is no program %s",
                        name);
}

static const char *
fault_of_start(const struct check_row *row, int64_t time, int64_t memory, struct arena *arena)
{
    struct judge judge = {0};
    struct err err = {0};
    if (!judge_start(&judge, row->command, memory, &err))
        return arena_printf(arena, "it cannot be started: %s", err.text);
    child_finish(&judge.child);
    judge_end(&judge, clock_mono() + time);
    const char *fault = NULL;
    if (!judge.child.is_known) {
        fault = arena_printf(arena, "it did not end within %d s after its standard input had ended",
                             (int)(time / US_PER_SECOND));
    } else if (judge.child.status != 0) {
        struct strbuf words = {0};
        child_describe(&judge.child, &words);
        fault = arena_printf(arena, "started without a question, it %s", strbuf_text(&words));
        strbuf_release(&words);
    }
    judge_release(&judge);
    return fault;
}

bool
check_probe(const char *rows, int64_t time, int64_t memory, check_finding_fn *each, void *context,
            struct err *err)
{
    struct arena arena = {0};
    struct check_row *list;
    size_t count;
    bool ok = check_rows_read(rows, &arena, &list, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        struct check_finding finding = {.no = i + 1,
                                        .text = list[i].text,
                                        .is_topic = list[i].is_topic,
                                        .pattern = list[i].pattern,
                                        .fault = fault_of_program(&list[i], &arena)};
        if (!finding.fault && time > 0)
            finding.fault = fault_of_start(&list[i], time, memory, &arena);
        each(context, &finding);
    }
    arena_release(&arena);
    return ok;
}

bool
check_finding_matches(const struct check_finding *finding, struct bytes name)
{
    const struct check_row row = {.is_topic = finding->is_topic, .pattern = finding->pattern};
    return check_row_matches(&row, name, name);
}
