// ready: tells systemd that a service of Type=notify is ready, or about to end (sd_notify(3)): a datagram to
// the socket that NOTIFY_SOCKET names. Elsewhere it does nothing.
#ifndef REDRIVE_COMMANDS_CLI_READY_H
#define REDRIVE_COMMANDS_CLI_READY_H

void ready_tell(void);
void ready_tell_stopping(void);

#endif
