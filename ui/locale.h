// locale: whether this terminal session speaks UTF-8.
#ifndef REDRIVE_UI_LOCALE_H
#define REDRIVE_UI_LOCALE_H

#include <stdbool.h>
#include <stddef.h>

// Sets LC_CTYPE from the environment; true when characters are UTF-8. ssh forwards the name of a locale that
// this host may not have: then C.UTF-8 serves, and `note` says so (else it is left alone).
bool locale_set(char *note, size_t room);

#endif
