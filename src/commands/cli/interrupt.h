// interrupt: SIGINT, SIGTERM and SIGHUP of a command without a screen.
//
// A signal handler is handed nothing, so the flag that it sets is one for the process.
#ifndef REDRIVE_COMMANDS_CLI_INTERRUPT_H
#define REDRIVE_COMMANDS_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

// From here on an interrupt ends the program with 130: while nothing is in flight.
void interrupt_exit(void);

// From here on a signal sets the flag: long loops end soon and finish what is in flight. A second SIGINT ends
// the program. A SIGHUP that is ignored stays so.
void interrupt_catch(void);
bool interrupt_is_set(void);
const volatile sig_atomic_t *interrupt_flag(void); // for worker_settings.stop

#endif
