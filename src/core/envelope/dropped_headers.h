// dropped_headers: the headers of a dead letter that do not belong to the original record. One list for what
// is sent again and for what is shown beforehand.
#ifndef REDRIVE_CORE_ENVELOPE_DROPPED_HEADERS_H
#define REDRIVE_CORE_ENVELOPE_DROPPED_HEADERS_H

#include <stdbool.h>
#include "base/bytes.h"

// Is this a header of a dead-letter framework, of replication, or of an earlier republishing, that is not
// sent on?
bool dropped_header(struct bytes name);

// Is it this name, or one that begins with it where the pattern ends in '*'?
bool header_name_matches(struct bytes name, const char *pattern);

#endif
