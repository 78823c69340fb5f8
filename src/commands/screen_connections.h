// screen_connections: what the screen can be connected to: what the program was started with, and each
// profile of the configuration. One of them is in use.
//
// Options that connect (-d -h -p -U -b -X -F --table --zone) belong to the connection that the program was
// started with. All others (--read-only, --theme …) hold for every profile. A profile takes its settings from
// the files and the environment, as `redrive -P NAME` does, but for a variable that would win over what the
// profile says of its connection: then it is refused.
#ifndef REDRIVE_COMMANDS_SCREEN_CONNECTIONS_H
#define REDRIVE_COMMANDS_SCREEN_CONNECTIONS_H

#include "commands/cli/command.h"

struct screen_connection {
    const char *profile; // NULL: as the program was started
    const char *words;   // what it is, for a menu: "prod  PROD  service=orders"
    size_t of; // the place of the connection that stands for the profile: its own, but for a further table
    const char *table; // NULL: not known yet, or the only one of its database
    bool asks_table; // the table was taken because none was named: the person chooses when it is shown first
    const char **tables; // of the database, once it was tried
    size_t table_count;
    const char *read_only_why; // this user can only look, for this reason; NULL: not for that
    int place;                 // where the person was; 0: nowhere yet
    char *filter;              // likewise; heap
    struct call *call;         // &own, but for the one that was started with
    struct call own;
};

struct screen_connections {
    struct screen_connection **list; // the first is that of the start
    size_t count, current, capacity;
    struct arena arena;
};

// Reads the settings of all profiles; connects to none.
bool screen_connections_read(struct screen_connections *connections, struct call *start,
                             struct err *err) MUST_CHECK;
void screen_connections_release(struct screen_connections *connections);

// The one in use was tried: adds the other tables of its database, where it has several.
void screen_connections_add_tables(struct screen_connections *connections);

// Connects once, so that a wrong name or a missing right is a sentence before the screen depends on it. A
// password is asked only for the connection that was started with. For backend_settings.try_connection.
bool screen_connections_try(void *connections, size_t connection, struct err *err) MUST_CHECK;
// The same, and the connection is kept, for backend_settings.connected; on failure *store is NULL.
bool screen_connections_open(struct screen_connections *connections, size_t connection, struct store **store,
                             struct err *err) MUST_CHECK;

#endif
