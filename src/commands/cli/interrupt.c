#include "commands/cli/interrupt.h"

#include <stddef.h>
#include <unistd.h>
#include "commands/cli/command.h"

static volatile sig_atomic_t is_interrupted;

static void
on_interrupt(int signal)
{
    if (is_interrupted && signal == SIGINT)
        _exit(STATUS_INTERRUPTED); // asked twice: the database holds the truth, the next worker continues
    is_interrupted = 1;
}

// Before anything is in flight. The status of an interrupt is the same for every command.
static void
on_early_interrupt(int signal)
{
    (void)signal;
    _exit(STATUS_INTERRUPTED);
}

void
interrupt_exit(void)
{
    struct sigaction action = {.sa_handler = on_early_interrupt};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    // Ignored from outside (nohup, a script's background) stays ignored.
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

void
interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}; // no SA_RESTART: waits end
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) // by nohup, or by the daemon
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); // a reader that goes away does not stop what is in flight
}

bool
interrupt_is_set(void)
{
    return is_interrupted != 0;
}

const volatile sig_atomic_t *
interrupt_flag(void)
{
    return &is_interrupted;
}
