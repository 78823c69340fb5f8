// save: one setting of the person's own configuration file is changed, and nothing else in it: its comments,
// order and profiles stay as they are.
#ifndef REDRIVE_SETTINGS_SAVE_H
#define REDRIVE_SETTINGS_SAVE_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

// The configuration with NAME = "VALUE" outside of its profiles: in place of the value that stands there, the
// last one of several, else in a line of its own at the end. ERR_DATA where it is written in a way that is
// not changed by itself; err->line says where.
bool setting_put(struct bytes config, const char *name, const char *value, struct strbuf *out,
                 struct err *err) MUST_CHECK;
// The same with a file, which may be missing or a link to where it is kept. It is replaced whole and keeps
// its mode. An error names the line that a person can write instead.
bool setting_save(const char *path, const char *name, const char *value, struct err *err) MUST_CHECK;

#endif
