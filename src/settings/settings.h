// settings: what user, host and environment have set, in one struct divided by who reads it.
//
// Later places win: built in → /etc/redrive/config → $XDG_CONFIG_HOME/redrive/config → the file named by
// REDRIVE_CONFIG → the chosen profile of those files → REDRIVE_<NAME> variables → command-line options. Every
// value remembers where it came from. The rows of settings.def are the only list of names; a name or a value
// that is not known is an error with file, line and a suggestion. All text lives as long as the struct.
#ifndef REDRIVE_SETTINGS_SETTINGS_H
#define REDRIVE_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "settings/secret.h"

enum settings_place { PLACE_BUILT_IN, PLACE_FILE, PLACE_PROFILE, PLACE_ENVIRONMENT, PLACE_OPTION };

// Where a value came from: "built in", "/etc/redrive/config:12", "profile prod, /etc/redrive/config:31",
// "REDRIVE_TABLE", "--table".
struct settings_origin {
    enum settings_place place;
    const char *where;
};

enum settings_kind {
    SETTING_TEXT,     // const char *; NULL: not set
    SETTING_COUNT,    // int64_t within the row's bounds
    SETTING_FLAG,     // bool
    SETTING_DURATION, // int64_t microseconds
    SETTING_SIZE,     // int64_t bytes
    SETTING_CHOICE,   // const char *, one of the row's words
    SETTING_LINES,    // const char *, a list of texts joined by newlines; NULL: none
};

enum setting_id {
#define SETTING(part, name, ...) SETTING_ID_##name,
#include "settings/settings.def"
#undef SETTING
    SETTING_ID_COUNT
};

// A property for librdkafka, passed on as it was written. kafka_property_check has let it pass.
struct kafka_property {
    const char *name;
    const char *value;         // NULL: a secret that settings_read_secrets has not read yet
    enum secret_source source; // of a secret that is kept elsewhere: sasl.password.file = "…"
    const char *source_place;  // the file, the variable, the command
    struct settings_origin origin;
};

// The type of a member, by the kind in its row.
#define SETTING_TYPE_TEXT const char *
#define SETTING_TYPE_COUNT int64_t
#define SETTING_TYPE_FLAG bool
#define SETTING_TYPE_DURATION int64_t
#define SETTING_TYPE_SIZE int64_t
#define SETTING_TYPE_CHOICE const char *
#define SETTING_TYPE_LINES const char *
#define SETTING_MEMBER(name, kind, ...) SETTING_TYPE_##kind name;

// PostgreSQL. conninfo is what the parts come to; it holds no password that was given in argv or in a file of
// ours.
struct connection_settings {
#define SETTING_CONNECTION SETTING_MEMBER
#include "settings/settings.def"
    const char *conninfo;
    const char *read_conninfo; // for commands that only read: the same with read_service, where that is set
    bool no_password;          // -w: never ask
    bool ask_password;         // -W: ask before connecting
};

// Without brokers this program cannot publish.
struct kafka_settings {
#define SETTING_KAFKA SETTING_MEMBER
#include "settings/settings.def"
    struct kafka_property *properties;
    size_t property_count;
    const char **files; // given with -F, absolute: a child is given the files, never the secrets in them
    size_t file_count;
};

struct publish_settings {
#define SETTING_PUBLISH SETTING_MEMBER
#include "settings/settings.def"
};

struct decision_settings {
#define SETTING_DECISION SETTING_MEMBER
#include "settings/settings.def"
};

struct grouping_settings {
#define SETTING_GROUPING SETTING_MEMBER
#include "settings/settings.def"
};

// Of programs that redrive starts (src/process).
struct process_settings {
#define SETTING_PROCESS SETTING_MEMBER
#include "settings/settings.def"
};

// Of redrive ingest.
struct ingest_words {
#define SETTING_INGEST SETTING_MEMBER
#include "settings/settings.def"
};

// Of redrive watch.
struct watch_settings {
#define SETTING_WATCH SETTING_MEMBER
#include "settings/settings.def"
};

struct screen_settings {
#define SETTING_SCREEN SETTING_MEMBER
#include "settings/settings.def"
};
#undef SETTING_MEMBER

// A profile that the files have, whether it is chosen or not.
struct settings_profile {
    const char *name;
    const char *where; // the line of its first value: "/etc/redrive/config:12"
};

struct settings {
    struct connection_settings connection;
    struct kafka_settings kafka;
    struct publish_settings publish;
    struct decision_settings decision;
    struct grouping_settings grouping;
    struct process_settings process;
    struct watch_settings watch;
    struct ingest_words ingest;
    struct screen_settings screen;

    const char *profile;               // NULL: none chosen
    struct settings_profile *profiles; // each once, in the order of the files
    size_t profile_count;
    bool in_profile[SETTING_ID_COUNT]; // the chosen profile says it, whatever wins
    struct settings_origin origins[SETTING_ID_COUNT];
    const char *files[8]; // that were read, in order
    size_t file_count;
    const char *config_home; // $XDG_CONFIG_HOME/redrive
    const char *state_home;  // $XDG_STATE_HOME/redrive
    struct arena arena;
};

// One value given on the command line. `option` as it was written, for messages: "--table".
struct settings_option {
    enum setting_id id;
    const char *option;
    const char *value;
};

struct settings_request {
    const char *profile; // -P, or NULL: REDRIVE_PROFILE, else the files' own `profile_default`
    const struct settings_option *options;
    size_t option_count;
    const char *const *kafka; // -X: "name=value"
    size_t kafka_count;
    const char *const *kafka_files; // -F: librdkafka properties, one name=value a line
    size_t kafka_file_count;
    bool no_password, ask_password;
};

// Reads all places and checks every value. On failure err names file and line, and settings may only be
// released.
bool settings_load(struct settings *settings, const struct settings_request *request,
                   struct err *err) MUST_CHECK;
void settings_release(struct settings *settings);

// Reads the secrets that are kept in files, variables or by programs. Call it once, before connecting to
// Kafka. ERR_USAGE names the setting and where it was set.
bool settings_read_secrets(struct settings *settings, struct err *err) MUST_CHECK;

// Is it of the connection itself, and not of what is done with it? Options of these belong to the connection
// that the program was started with, and not to a profile that is chosen later.
bool setting_connects(enum setting_id id);
// ERR_USAGE where a variable of the environment wins over what the chosen profile says of its connection, its
// label or its protection: then its name would stand over another database.
bool settings_check_profile(const struct settings *settings, struct err *err) MUST_CHECK;

// Puts a password that was typed into conninfo and read_conninfo.
void settings_set_password(struct settings *settings, const char *password);

// The rows, for `redrive config`, help and generated pages.
const char *setting_name(enum setting_id id); // "confirm_above"
const char *setting_help(enum setting_id id);
const char *setting_built_in(enum setting_id id); // as the file spells it; NULL: none
enum settings_kind setting_kind(enum setting_id id);
// The value in force as the file would spell it, appended to out; nothing for a text that is not set.
void setting_print(const struct settings *settings, enum setting_id id, struct strbuf *out);

// The state folder, created with mode 0700 where it is missing; refused when it belongs to another user or is
// a link.
bool settings_make_state_home(const struct settings *settings, struct err *err) MUST_CHECK;

#endif
