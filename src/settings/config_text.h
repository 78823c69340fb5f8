// config_text: reads a text of libconfuse's syntax (settings, group rules, keymaps, themes) and tells faults
// as "file:line: what is wrong".
//
// What the options of a text are, and what they mean, is its reader's: he makes libconfuse's table of them,
// and his callbacks ask config_text_current for what libconfuse hands them no way to reach. libconfuse's
// lexer is one for the whole program, so texts are read one after the other, in one thread.
#ifndef REDRIVE_SETTINGS_CONFIG_TEXT_H
#define REDRIVE_SETTINGS_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "base/err.h"

#define CONFIG_TEXT_INCLUDES 8 // of one text

struct cfg_t; // libconfuse's
struct cfg_opt_t;

struct config_include {
    char *name; // heap
    int line;
};

struct config_text {
    const char *path; // for messages
    const char *what; // "a keymap"
    void *reader;     // for callbacks
    // A name that is no option of the section, alone in the message of libconfuse; either it is refused here,
    // into err, or the section takes free names: then this is the only place where their lines are told.
    void (*unknown)(struct config_text *text, const struct cfg_t *section, const char *name, int line);
    const char *include_example; // "default.keymap"
    struct config_include includes[CONFIG_TEXT_INCLUDES];
    size_t include_count;
    struct err *err;
};

// Reads `source`, which has no comments (settings/comments.h). The result is for libconfuse's functions, also
// while config_text_current no longer answers; the caller frees it with cfg_free. NULL: err says why.
struct cfg_t *config_text_parse(struct config_text *text, struct cfg_opt_t *options, int flags,
                                const char *source) MUST_CHECK;
void config_text_release(struct config_text *text); // the includes' names

// The text that is being read; for callbacks.
struct config_text *config_text_current(void);

// For CFG_FUNC: keeps the name for the reader, who reads it when this text is through.
int config_text_include(struct cfg_t *section, struct cfg_opt_t *option, int count, const char **names);

#endif
