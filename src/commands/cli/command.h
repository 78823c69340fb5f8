// command: what every command is given and what it answers with. One file per command, one row each in
// commands.def.
#ifndef REDRIVE_COMMANDS_CLI_COMMAND_H
#define REDRIVE_COMMANDS_CLI_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
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
    STATUS_INTERRUPTED = 130,
};

// Where an option is allowed.
enum option_area {
    AREA_NONE = 0,
    AREA_ALL = 1 << 0,
    AREA_SCREEN = 1 << 1,
    AREA_LOOK = 1 << 2, // keys, themes
    AREA_CHOOSE = 1 << 3,
    AREA_LIST = 1 << 4,
    AREA_CHANGE = 1 << 5,
    AREA_STEER = 1 << 6,
    AREA_REPROCESS = 1 << 7,
    AREA_GROUPS = 1 << 8,
    AREA_SHOW = 1 << 9,
    AREA_WORK = 1 << 10,
    AREA_MIGRATE = 1 << 11,
    AREA_CONFIG = 1 << 12,
    AREA_FINGERPRINT = 1 << 13,
    AREA_FILTER = 1 << 14,
};

// The values of options that are no settings, as they were given.
struct options {
    bool json, quiet, no_color, help, version;
    const char *generate;
    // choosing
    int64_t *ids; // heap
    size_t id_count, id_capacity;
    bool has_ids;
    const char *group, *filter, *queue, *status;
    int64_t limit; // 0: none
    bool all;
    // changing
    const char *reason, *to, *ramp, *settle_for, *halt_above;
    bool yes, dry_run, detach, has_confirm, has_rate;
    int64_t confirm, rate, canary; // canary 0: none
    // the screen
    const char *script, *script_out;
    // single commands
    const char *by;
    const char *save, *forget;
    bool merged, raw, as_sent, once, print, roles, with_indexes, adopt, check, record, explain, dump_keymap;
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
};

// Answers with an exit status. Where err is set, main says its sentence; command_status makes a status of it.
typedef int command_run(struct call *call, struct err *err);

struct command {
    const char *name;
    unsigned options; // set of enum option_area
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

// What a command wants of the database.
enum store_need {
    STORE_READ,   // only reads; the schema may be missing; goes to read_service where that is set
    STORE_SCHEMA, // reads tables of the schema
    STORE_WRITE,  // changes something
    STORE_BARE,   // whatever there is: migrate, doctor
};
// Makes category and group rules of what the settings say, once.
bool command_rules(struct call *call, struct err *err) MUST_CHECK;

// Connects, asking for a password where the server wants one and a person is there. Category rules are made
// on the way.
bool command_store(struct call *call, enum store_need need, struct store **store, struct err *err) MUST_CHECK;

// No positional arguments are left over; else ERR_USAGE.
bool command_no_args(const struct call *call, struct err *err) MUST_CHECK;
bool command_number(const char *text, const char *what, int64_t *number, struct err *err) MUST_CHECK;

// An interrupt ends the program with 130: while there is nothing to settle.
void command_answer_interrupt(void);
// Set by SIGINT and SIGTERM from then on: long loops end soon and settle what is in flight. A second SIGINT
// ends the program.
void command_catch_signals(void);
bool command_is_interrupted(void);
const volatile sig_atomic_t *command_interrupt_flag(void); // for worker_settings.stop

#endif
