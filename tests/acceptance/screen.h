// screen: the real screen in a pseudo terminal, as one operator sits before it. Whatever does not come fails
// the test with the screen in its message.
#ifndef REDRIVE_TESTS_ACCEPTANCE_SCREEN_H
#define REDRIVE_TESTS_ACCEPTANCE_SCREEN_H

#include <stdbool.h>
#include "tests/terminal/vt.h"

struct screen {
    struct vt *vt;
    char home[64]; // an empty folder of the operator's
};

// brokers NULL: it has none, and starts no worker.
void screen_open(struct screen *screen, const char *conninfo, const char *brokers);
void screen_close(struct screen *screen); // by Q, from where that leaves

void screen_see(struct screen *screen, const char *text); // half a minute at most
void screen_press(struct screen *screen, const char *keys);
void screen_give_up(struct screen *screen, const char *why);

// What is filled in before a change is confirmed; NULL: left as it is.
struct screen_answers {
    const char *button, *reason, *rate;
    const char *count; // typed where there are many; NULL: few
    const char *send;  // of a recipe: "yes", or the rate of what is sent after it
};
// The keys from the open dialog, which begins in the reason, to the pressed button.
void screen_confirm(struct screen *screen, const struct screen_answers *answers);

#endif
