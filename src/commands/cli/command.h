// command: what every command is given and what it answers with. One file per command, one row each in
// commands.def.
#ifndef REDRIVE_COMMANDS_CLI_COMMAND_H
#define REDRIVE_COMMANDS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "commands/cli/options.h"
#include "settings/settings.h"
#include "store/store.h"

#define REDRIVE_VERSION "0.1.0"
#ifndef REDRIVE_SHARE // where make install puts themes and keymaps
#define REDRIVE_SHARE "/usr/local/share/redrive"
#endif

enum exit_status {
    STATUS_DONE = 0,        // all of it
    STATUS_PART = 1,        // something was refused, skipped, halted or cancelled
    STATUS_USAGE = 2,       // nothing was done
    STATUS_UNREACHABLE = 3, // PostgreSQL or Kafka
    STATUS_DENIED = 4,      // a right, a confirmation or an approval is missing
    STATUS_NOTHING = 5,     // an action found nothing to act on
    STATUS_STOPPED = 6,     // this database may not publish: an administrator decides
    STATUS_INTERRUPTED = 130,
};

struct command;

// One call of the program.
struct call {
    const struct command *command;
    struct options options;
    struct settings settings;
    char **args; // of the command; borrowed from argv
    size_t arg_count;
    bool in_is_terminal, out_is_terminal, err_is_terminal;
    bool has_color; // standard output may be coloured
    struct category_rules *rules;
    struct group_rules *group_rules;
    const char *table; // of dead letters, once command_store knows it; NULL: as the settings say
};

// Returns an exit status. Where err is set, main prints its sentence; command_status gives the status for it.
typedef int command_run(struct call *call, struct err *err);

struct command {
    const char *name;
    uint64_t options; // AREA_…
    const char *args;
    const char *help;
    command_run *run;
};

#define COMMAND(name, options, args, help) command_run command_##name;
#include "commands/commands.def"
#undef COMMAND

extern const struct command commands[];
extern const size_t command_count;

int command_status(const struct err *err);

// The access to the database that a command needs.
enum store_need {
    STORE_READ,   // only reads; the schema may be missing; goes to read_service where that is set
    STORE_USUAL,  // as STORE_READ; of several tables, where none is named, the usual one or the first
    STORE_SCHEMA, // reads tables of the schema
    STORE_WRITE,  // changes something
    STORE_BARE,   // with or without the schema: migrate, doctor
};
// Makes category and group rules of what the settings say, once.
bool command_rules(struct call *call, struct err *err) MUST_CHECK;

// The settings as command_store takes them: the table is that of the call, or one that somebody named; NULL:
// the only one of the database.
struct store_settings command_store_settings(const struct call *call, enum store_need need);

// Connects, and asks for a password where the server wants one and a terminal is there. Makes the rules
// first. From then on the call and its settings name the table.
bool command_store(struct call *call, enum store_need need, struct store **store, struct err *err) MUST_CHECK;

// The tables of dead letters that the call is about, as far as that is known before one is opened: the one
// that was named, or all that the database has; none where it has no schema. In call's arena. `only` may be
// NULL. Else it is for a command that changes something, and where no table was named and there are not
// several the connection is left in it, as command_store with STORE_WRITE makes it; else *only is NULL.
bool command_tables(struct call *call, const char ***tables, size_t *count, struct store **only,
                    struct err *err) MUST_CHECK;

// No positional arguments are left over; else ERR_USAGE.
bool command_no_args(const struct call *call, struct err *err) MUST_CHECK;
bool command_number(const char *text, const char *what, int64_t *number, struct err *err) MUST_CHECK;
// Any number: a consumer gives its events the ids it likes.
bool command_event_id(const char *text, int64_t *id, struct err *err) MUST_CHECK;

#endif
