// programs: redrive and the programs of the demo, as somebody starts them.
#ifndef REDRIVE_TESTS_ACCEPTANCE_PROGRAMS_H
#define REDRIVE_TESTS_ACCEPTANCE_PROGRAMS_H

#include <sys/types.h>

enum { PROGRAM_WORDS = 20, PROGRAM_ROOM = 4000 };

const char *redrive_program(void);           // REDRIVE
const char *built_program(const char *name); // below REDRIVE_TEST_BUILD; good until the next call

struct running {
    pid_t pid;
    int out; // a file that is gone from its folder: both outputs
};

// Without a terminal, and with nothing to read. The arguments end with NULL.
struct running program_start(const char *path, const char *const arguments[]);
// Its exit status, minus the signal that ended it; and what it said.
int program_end(struct running *running, char said[PROGRAM_ROOM]);
// Until it has said that; a minute and a half at most.
void program_await(const struct running *running, const char *words);

#endif
