// options: what the command line asks for, from the rows of options.def.
#ifndef REDRIVE_COMMANDS_CLI_OPTIONS_H
#define REDRIVE_COMMANDS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "settings/settings.h"

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
    AREA_CORRECT = 1 << 15,
    AREA_RESTORE = 1 << 16,
    AREA_APART = 1 << 17,
    AREA_WATCH = 1 << 18,
    AREA_INGEST = 1 << 19,
    AREA_EXPORT = 1 << 20,
    AREA_EVENTS = 1 << 21,
    AREA_STATS = 1 << 22,
    AREA_ALERTS = 1 << 23,
    AREA_ALERT = 1 << 24,
    AREA_DAEMON = 1 << 25,
    AREA_PEOPLE = 1 << 26,
    AREA_POLICIES = 1 << 27,
    AREA_REPORT = 1 << 28,
    AREA_RUNBOOK = 1 << 30,
};

struct option_count {
    bool is_given;
    int64_t number; // 0 where it is not given
};

struct option_ids {
    bool is_given;  // also by an empty standard input
    int64_t *items; // heap
    size_t count, capacity;
};

struct option_list {
    const char **items; // heap; the texts are argv's
    size_t count, capacity;
};

// The type of a member, by the kind in its row.
#define OPTION_TYPE_FLAG bool
#define OPTION_TYPE_TEXT const char *
#define OPTION_TYPE_COUNT(least, most) struct option_count
#define OPTION_TYPE_IDS struct option_ids
#define OPTION_TYPE_LIST struct option_list
#define OPTION_MEMBER(member, name, letter, value, areas, kind, help) OPTION_TYPE_##kind member;

struct general_options {
#define OPTION_GENERAL OPTION_MEMBER
#include "commands/cli/options.def"
};

struct screen_options {
#define OPTION_SCREEN OPTION_MEMBER
#include "commands/cli/options.def"
};

struct choice_options {
#define OPTION_CHOICE OPTION_MEMBER
#include "commands/cli/options.def"
};

struct change_options {
#define OPTION_CHANGE OPTION_MEMBER
#include "commands/cli/options.def"
};

struct reprocess_options {
#define OPTION_REPROCESS OPTION_MEMBER
#include "commands/cli/options.def"
};

struct command_options { // of single commands
#define OPTION_COMMAND OPTION_MEMBER
#include "commands/cli/options.def"
};
#undef OPTION_MEMBER

struct options {
    struct general_options general;
    struct screen_options screen;
    struct choice_options choice;
    struct change_options change;
    struct reprocess_options reprocess;
    struct command_options command;
    struct settings_option *settings; // given as options; heap
    size_t setting_count, setting_capacity;
};

struct option_row;
typedef bool option_take(struct options *options, const struct option_row *row, const char *value,
                         struct err *err);

struct option_row {
    const char *spelling; // "--table"
    const char *name;     // "table"
    const char *value;    // what its value is called; NULL: takes none
    const char *help;
    int letter;     // 0: none
    unsigned areas; // set of enum option_area
    option_take *take;
    size_t offset;       // of the member in struct options
    int64_t least, most; // of a count
    enum setting_id setting;
    const char *word; // for the setting, where the option takes no value
};
extern const struct option_row option_rows[];
extern const size_t option_count;

// Puts the value (NULL where the option takes none) where the row says. `--id -` reads standard input.
bool option_take_value(struct options *options, const struct option_row *row, const char *value,
                       struct err *err) MUST_CHECK;
void options_release(struct options *options);

// What settings_load is asked for; borrows from options.
struct settings_request options_request(const struct options *options);

#endif
