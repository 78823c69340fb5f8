// setting_values: one value of struct settings: read from text, checked, printed. Used by settings.c.
#ifndef REDRIVE_SETTINGS_VALUES_H
#define REDRIVE_SETTINGS_VALUES_H

#include "settings/settings.h"

// Puts a value into its member. NULL or "" for a text is the built-in one. `where` is put before the sentence
// when the value is refused: "/etc/redrive/config:12", "--table".
bool setting_set(struct settings *settings, enum setting_id id, const char *value, const char *where,
                 struct err *err) MUST_CHECK;
// The enum setting_id of a name in either spelling, confirm_above or confirm-above; -1: there is none.
int setting_of_name(const char *name);

#endif
