#include "commands/cli/ready.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"

static void
notify(const char *line)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, strlen(path));
    if (*path == '@') // of the abstract namespace
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, line, strlen(line), MSG_NOSIGNAL, (struct sockaddr *)&to,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(fd);
}

void
ready_tell(void)
{
    notify("READY=1");
}

void
ready_tell_stopping(void)
{
    notify("STOPPING=1");
}

// With the time, by which systemd knows that the READY=1 of before is not meant.
void
ready_tell_reloading(void)
{
    char lines[80];
    snprintf(lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, (int64_t)clock_mono());
    notify(lines);
}

void
ready_mute(void)
{
    (void)unsetenv("NOTIFY_SOCKET");
}
