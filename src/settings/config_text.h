// config_text: reads a text of the configuration syntax: settings, group rules, keymaps, themes.
//
//     # a comment, as are // and /* … */
//     include("other.keymap")
//     name = "text"
//     list = {"one", "two"}    list += "three"
//     section { name = "text" }
//     titled "its title" { name = "text" }
//
// A reader describes its options by a config_form and gets what the text says, section by section, each value
// with its line. A fault in the syntax is "file:line: what is wrong". This is the only file that knows
// libconfuse. Its lexer is one for the whole program, so texts are read one after the other, in one thread.
#ifndef REDRIVE_SETTINGS_CONFIG_TEXT_H
#define REDRIVE_SETTINGS_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"

enum config_kind {
    CONFIG_VALUE,   // name = "text"
    CONFIG_LIST,    // name = {"text", …}, and with += in addition to what was there before
    CONFIG_SECTION, // name { … }, as often as one likes
    CONFIG_TITLED,  // name "title" { … }, each title once
    CONFIG_RETITLED // the same; a later section may have the title of an earlier one
};

struct config_option {
    const char *name;
    enum config_kind kind;
    const struct config_form *inside; // of a section
};

// The options of a text or a section.
struct config_form {
    const struct config_option *options;
    size_t count;
    const char *free_names; // names that begin so are taken too, as CONFIG_VALUE; "": any; NULL: none
    bool takes_dashes;      // confirm-above is confirm_above
};

// One kind of text.
struct config_language {
    const char *what; // "a keymap"
    const struct config_form *form;
    const char *include_example; // "default.keymap"; NULL: the text includes no other
    // Says in err that the section (NULL: outside of sections) has no option of that name. File and line are
    // put before the sentence.
    void (*say_unknown)(const char *section, const char *name, struct err *err);
};

struct config_value {
    const char *text;
    int line;
};

struct config_entry {
    const char *name;                  // as the form spells it
    const struct config_value *values; // one of a CONFIG_VALUE; none of an emptied list
    size_t count;
    bool is_added; // of a list: += only, so that what was there before stays
};

struct config_section {
    const char *name;                   // NULL: the text outside of sections
    const char *title;                  // its own, else that of the section around it; NULL: none
    int line;                           // of its end
    const struct config_entry *entries; // emptied lists first, then in the order of the text
    size_t entry_count;
};

struct config_text {
    struct config_section
        *sections; // first what is outside of sections, then sections in order of their ends
    size_t section_count;
    struct config_value *includes; // names, in the order of the text
    size_t include_count;
    struct arena arena; // all of the above
};

// Reads `source`, which has no comments (settings/comments.h). `path` is for messages. On failure err says
// why, and there is nothing to release.
bool config_text_read(struct config_text *text, const struct config_language *language, const char *path,
                      const char *source, struct err *err) MUST_CHECK;
void config_text_release(struct config_text *text);

// For say_unknown: there is no such option, and which was probably meant, or else `otherwise`.
void config_say_unknown(const struct config_form *form, const char *name, const char *otherwise,
                        struct err *err);

// The entry of that name, or NULL; and the text of a CONFIG_VALUE, or NULL.
const struct config_entry *config_section_entry(const struct config_section *section, const char *name);
const char *config_section_value(const struct config_section *section, const char *name);

#endif
