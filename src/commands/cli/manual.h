// manual: the manual pages. src/commands/manual holds their text; a line @NAME@ in it is replaced by what a
// table of the program says, so that a page cannot differ from the program.
#ifndef REDRIVE_COMMANDS_CLI_MANUAL_H
#define REDRIVE_COMMANDS_CLI_MANUAL_H

#include <stdbool.h>
#include "base/strbuf.h"

// Appends the page (man macros) of that name: redrive, redrive-config, redrive-filter, redrive-operations.
// False: there is none.
bool manual_page(const char *name, struct strbuf *out);

#endif
