// ready: tells systemd that a service of Type=notify is ready, or about to end (sd_notify(3)): a datagram to
// the socket that NOTIFY_SOCKET names. Elsewhere it does nothing.
#ifndef REDRIVE_COMMANDS_CLI_READY_H
#define REDRIVE_COMMANDS_CLI_READY_H

void ready_tell(void);
void ready_tell_stopping(void);
// Files are read again; ready_tell comes when that is over.
void ready_tell_reloading(void);
// Nobody waits for this process, which another one of the service started.
void ready_mute(void);

#endif
