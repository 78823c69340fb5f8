// frame: the place in one's own code where an exception came from, as module and function.
#ifndef REDRIVE_CORE_FINGERPRINT_FRAME_H
#define REDRIVE_CORE_FINGERPRINT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct group_rules;

#define FRAME_TEXT_MAX 256
#define FRAMES_MAX 200 // looked at

// The newest frame that belongs to no library (library.def), or is the
// operators' own by their rules (may be NULL), without line, file path, arguments
// and generated parts, into out; returns its length, 0 where there is none. is_newest_last: Python.
size_t frame_own(struct bytes frames, bool is_newest_last, const struct group_rules *rules,
                 char out[FRAME_TEXT_MAX]);

// Do these frames end in "... 12 more": the rest is printed with the exception around it.
bool frame_is_shared(struct bytes frames);

#endif
