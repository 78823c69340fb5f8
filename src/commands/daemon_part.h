// daemon_part: a part of the daemon: a command that runs in a process of its own, which tells when it is
// ready as it would tell systemd (commands/cli/ready.h).
//
// One process could not hold all parts: librdkafka may abort the process when a transaction is fenced, and
// each part catches signals for itself.
#ifndef REDRIVE_COMMANDS_DAEMON_PART_H
#define REDRIVE_COMMANDS_DAEMON_PART_H

#include <sys/types.h>
#include "commands/cli/command.h"

struct daemon_part {
    const char *name;
    command_run *run;
    pid_t pid;     // 0: it does not run
    int notices;   // the socket on which it tells; only while it runs
    bool is_ready; // it has told so since it was started
    int status;    // its exit status, once it has ended; 128 + signal
};

// *is_part: this is the new process, which is to run the part and end with its status.
bool daemon_part_start(struct daemon_part *part, bool *is_part, struct err *err) MUST_CHECK;
// Takes what it told and whether it ended. True: it runs.
bool daemon_part_look(struct daemon_part *part);
// Has it finish what is in flight, and waits for its end.
void daemon_part_stop(struct daemon_part *part);

#endif
