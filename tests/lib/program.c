#include "tests/lib/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

// By way of a file: servers that it starts would hold a pipe open.
int
program_run(char *out, size_t room, const char *const argv[])
{
    union {
        const char *const *in;
        char *const *out;
    } words = {.in = argv}; // execv changes none of them
    FILE *said = tmpfile();
    assert_non_null(said);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(said), STDOUT_FILENO);
        execv(argv[0], words.out);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    rewind(said);
    out[fread(out, 1, room - 1, said)] = '\0';
    fclose(said);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void
program_value(const char *text, const char *name, char *out, size_t room)
{
    const char *at = strstr(text, name);
    if (!at) {
        fail_msg("no %s was printed: %s", name, text);
        return; // never reached, which only cmocka knows
    }
    at += strlen(name);
    snprintf(out, room, "%.*s", (int)strcspn(at, "\n"), at);
}

void
program_own_servers(void)
{
    char owner[40];
    snprintf(owner, sizeof owner, "%ld", (long)getpid());
    setenv("REDRIVE_OWNER", owner, 1);
}
