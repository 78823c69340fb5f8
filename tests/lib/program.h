// program: runs the scripts beside this file from a test, and reads what they print.
#ifndef REDRIVE_TESTS_LIB_PROGRAM_H
#define REDRIVE_TESTS_LIB_PROGRAM_H

#include <stddef.h>

// What it printed in out; its exit status, -1: a signal. argv ends with NULL.
int program_run(char *out, size_t room, const char *const argv[]);
// The rest of the line after `name`, as in NAME=value; fails the test where there is none.
void program_value(const char *text, const char *name, char *out, size_t room);
// The guard of a server that is started after this ends it with this program, whatever happens to it.
void program_own_servers(void);

#endif
