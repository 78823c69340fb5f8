#include "base/kill_point.h"

#ifdef REDRIVE_KILL_POINTS

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The signal that the environment asks for at this passage of this point; 0: none.
static int
due(const char *name)
{
    static unsigned passages;
    const char *wish = getenv("REDRIVE_KILL");
    size_t len = strlen(name);
    if (!wish || strncmp(wish, name, len) != 0 || wish[len] != ':')
        return 0;
    char *end;
    if (++passages != strtoul(wish + len + 1, &end, 10))
        return 0;
    return strcmp(end, ":stop") == 0 ? SIGSTOP : SIGKILL;
}

void
kill_point(const char *name)
{
    int signal = due(name);
    if (signal)
        raise(signal);
}

void
kill_point_soon(const char *name)
{
    int signal = due(name);
    if (!signal)
        return;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
    timer_t timer;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct itimerspec soon = {.it_value.tv_nsec = 1000 + now.tv_nsec % 3000000};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL))
        raise(signal);
}

#else

// An empty file is none in ISO C.
typedef int kill_points_are_not_compiled;

#endif
