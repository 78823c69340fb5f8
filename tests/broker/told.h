// told: everybody is told the same of an operation: list, page and message line of the screen, commands for
// people and for programs, exit status; and it is what SQL says.
#ifndef REDRIVE_TESTS_BROKER_TOLD_H
#define REDRIVE_TESTS_BROKER_TOLD_H

#include "tests/acceptance/programs.h"
#include "tests/store/world.h"

struct told {
    const char *sentence; // how it stands or ended
    int status;           // of `redrive operation N`
    int64_t done, taken, returned;
};

// A screen that is open while the operation goes on, and waits for its message.
struct told_screen {
    struct running running;
    char folder[40];
};
void told_watch(struct told_screen *screen, const struct world *world, int64_t no, const char *sentence);
// The message came; and now the others.
void told_everywhere(struct told_screen *screen, struct world *world, int64_t no, const struct told *told);

#endif
