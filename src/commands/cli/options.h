// options: what the command line asks for, from the rows of options.def.
#ifndef REDRIVE_COMMANDS_CLI_OPTIONS_H
#define REDRIVE_COMMANDS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "settings/settings.h"

// Where an option is allowed: a set of these.
#define AREA_NONE UINT64_C(0)
#define AREA_ALL (UINT64_C(1) << 0)
#define AREA_SCREEN (UINT64_C(1) << 1)
#define AREA_LOOK (UINT64_C(1) << 2) // keys, themes
#define AREA_CHOOSE (UINT64_C(1) << 3)
#define AREA_LIST (UINT64_C(1) << 4)
#define AREA_CHANGE (UINT64_C(1) << 5)
#define AREA_STEER (UINT64_C(1) << 6)
#define AREA_REPROCESS (UINT64_C(1) << 7)
#define AREA_GROUPS (UINT64_C(1) << 8)
#define AREA_SHOW (UINT64_C(1) << 9)
#define AREA_WORK (UINT64_C(1) << 10)
#define AREA_MIGRATE (UINT64_C(1) << 11)
#define AREA_CONFIG (UINT64_C(1) << 12)
#define AREA_FINGERPRINT (UINT64_C(1) << 13)
#define AREA_FILTER (UINT64_C(1) << 14)
#define AREA_CORRECT (UINT64_C(1) << 15)
#define AREA_RESTORE (UINT64_C(1) << 16)
#define AREA_APART (UINT64_C(1) << 17)
#define AREA_WATCH (UINT64_C(1) << 18)
#define AREA_INGEST (UINT64_C(1) << 19)
#define AREA_EXPORT (UINT64_C(1) << 20)
#define AREA_EVENTS (UINT64_C(1) << 21)
#define AREA_STATS (UINT64_C(1) << 22)
#define AREA_ALERTS (UINT64_C(1) << 23)
#define AREA_ALERT (UINT64_C(1) << 24)
#define AREA_DAEMON (UINT64_C(1) << 25)
#define AREA_PEOPLE (UINT64_C(1) << 26)
#define AREA_POLICIES (UINT64_C(1) << 27)
#define AREA_REPORT (UINT64_C(1) << 28)
#define AREA_IMPORT (UINT64_C(1) << 29)
#define AREA_RUNBOOK (UINT64_C(1) << 30)
#define AREA_ARCHIVE (UINT64_C(1) << 31) // archive, purge
#define AREA_PURGE (UINT64_C(1) << 32)
#define AREA_POLICY (UINT64_C(1) << 33)

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
    uint64_t areas; // AREA_…
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
