// script: keys from a file, without a terminal: the same app, the same turn, the canvas as text or picture.
// For tests and screenshots.
//
// One command a line; blank lines and lines that begin with # are skipped.
//
//   size 120x40          the screen from here on (80x24 at first)
//   keys jj<Enter>       keys in vim's notation
//   type some text       characters as they are
//   paste some text      one paste
//   wait                 until nothing is outstanding (also after each of the above)
//   await some text      until the screen shows it
//   expect some text     the screen shows it
//   reject some text     it does not
//   save NAME            the screen as NAME.txt in the folder given
//   roles NAME           which colour roles stand where, as NAME.roles
//   svg NAME             the screen as NAME.svg
//
// Waits end by idleness, never by time; after a minute without it the script fails.
#ifndef REDRIVE_UI_APP_SCRIPT_H
#define REDRIVE_UI_APP_SCRIPT_H

#include <stdbool.h>
#include "base/err.h"
#include "ui/app/app.h"

// The app that follows one that was left for another connection (app_is_leaving_for), which it replaces;
// NULL: the script fails with err.
struct script_follow {
    struct app *(*follow)(void *context, struct err *err);
    void *context;
};

// out: a folder that exists, or NULL: pictures go to standard output. On failure err names file and line; the
// screen as it was then is saved as FAILED.txt.
// follow: NULL where no other connection is asked for.
bool script_run(struct app *app, const struct script_follow *follow, const char *path, const char *out,
                struct err *err) MUST_CHECK;

#endif
