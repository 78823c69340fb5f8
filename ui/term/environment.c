#include "ui/term/environment.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

static bool
speaks_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

// The name that decides LC_CTYPE, by POSIX's order; "" for none.
static const char *
wanted_name(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return value;
    }
    return "";
}

bool
locale_set(char *note, size_t room)
{
    bool is_known = setlocale(LC_CTYPE, "") != NULL;
    if (is_known)
        return speaks_utf8();
    const char *wanted = wanted_name();
    if (!strcasestr(wanted, "utf-8") && !strcasestr(wanted, "utf8"))
        return false;
    if (!setlocale(LC_CTYPE, "C.UTF-8") || !speaks_utf8())
        return false;
    snprintf(note, room, "locale %.40s is not on this host, C.UTF-8 is used instead", wanted);
    return true;
}

const char *
terminal_fallback(const char *name)
{
    static const char *const children[] = {"xterm", "foot",    "alacritty", "wezterm", "kitty",
                                           "rio",   "ghostty", "konsole",   "contour", "vte"};
    for (size_t i = 0; i < sizeof children / sizeof *children; i++)
        if (strncmp(name, children[i], strlen(children[i])) == 0)
            return "xterm-256color";
    return "vt100";
}

bool
terminal_promises_24_bits(void)
{
    const char *word = getenv("COLORTERM");
    return word && (strcmp(word, "truecolor") == 0 || strcmp(word, "24bit") == 0);
}

bool
terminal_names_background(bool *is_light)
{
    const char *word = getenv("COLORFGBG");
    const char *last = word ? strrchr(word, ';') : NULL;
    int64_t color;
    if (!last || !text_parse_int(bytes_of(last + 1), &color, NULL))
        return false;
    *is_light = color == 7 || color == 15;
    return true;
}

bool
colors_unwanted(void)
{
    const char *word = getenv("NO_COLOR");
    return word && *word;
}
