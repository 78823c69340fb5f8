// conninfo: the connection string for libpq, composed of parts, and the check that it holds no password.
#ifndef REDRIVE_SETTINGS_CONNINFO_H
#define REDRIVE_SETTINGS_CONNINFO_H

#include <stdbool.h>
#include "base/strbuf.h"

struct conninfo_parts {
    const char *database;                                // a name, a conninfo, or a URI; NULL: none
    const char *service, *host, *port, *user, *password; // NULL: not given
};

// Appends one conninfo (or URI, where database is one) that libpq reads; parts win over what database says.
void conninfo_print(const struct conninfo_parts *parts, struct strbuf *out);

// Does this conninfo or URI carry a password? Such a text is in the process list, in shell histories and in
// logs.
bool conninfo_has_password(const char *database);

#endif
