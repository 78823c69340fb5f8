// environment: what the session says about its terminal.
#ifndef REDRIVE_UI_TERM_ENVIRONMENT_H
#define REDRIVE_UI_TERM_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

// Sets LC_CTYPE from the environment; true when characters are UTF-8. ssh forwards the name of a locale that
// this host may not have: then C.UTF-8 serves, and `note` says so (else it is left alone).
bool locale_set(char *note, size_t room);

// What to take a terminal for that this host does not describe: xterm's many children know what it knows.
const char *terminal_fallback(const char *name);
bool terminal_promises_24_bits(void); // COLORTERM
// COLORFGBG, which rxvt and its kin set: "15;0". false: it says nothing.
bool terminal_names_background(bool *is_light);
bool colors_unwanted(void); // NO_COLOR

#endif
