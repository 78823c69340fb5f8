// jansson: JSON as another library reads it, for tests and figures to compare with. A file of its own,
// because its names are those of core/json.
#ifndef REDRIVE_TESTS_LIB_JANSSON_H
#define REDRIVE_TESTS_LIB_JANSSON_H

#include <stdbool.h>
#include "base/bytes.h"

// Reads any value (JSON_DECODE_ANY, JSON_ALLOW_NUL). false: jansson refuses the text.
bool jansson_reads(struct bytes text);
// Reads and prints with two blanks a level; the caller frees. NULL: jansson refuses the text.
char *jansson_format(struct bytes text);

#endif
