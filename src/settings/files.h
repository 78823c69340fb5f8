// settings_files: what the configuration files say, value by value, each with its file and line. Which of
// them counts is settings.c's to decide.
#ifndef REDRIVE_SETTINGS_FILES_H
#define REDRIVE_SETTINGS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"

// One value; it is kept until it is known which profile is chosen.
struct settings_found {
    int id;              // enum setting_id; -1: a Kafka property
    const char *profile; // NULL: outside of profiles
    const char *name;    // of a Kafka property; NULL with id -1: the profile exists
    const char *value;   // NULL: an emptied list
    const char *file;
    int line;
};

struct settings_files {
    struct arena *arena;          // owner's; all text lives there
    struct settings_found *found; // in the order of files and lines
    size_t found_count, found_capacity;
    const char *profile_default; // NULL: none is named
    const char *paths[8];        // that were read, in order
    size_t path_count;
};

// Reads one file more. A missing one is fine unless `is_named`. Kafka properties and commands are refused
// from a file that somebody else than we or root could have written.
bool settings_files_read(struct settings_files *files, const char *path, bool is_named,
                         struct err *err) MUST_CHECK;
void settings_files_release(struct settings_files *files);

#endif
