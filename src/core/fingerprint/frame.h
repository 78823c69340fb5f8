// frame: the place in the operators' own code that an exception came from, as module and function.
#ifndef REDRIVE_CORE_FINGERPRINT_FRAME_H
#define REDRIVE_CORE_FINGERPRINT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct group_rules;

#define FRAME_TEXT_MAX 256
#define FRAMES_MAX 200 // limit of frames to read

// Writes the newest own frame to out, without line, file path, arguments and generated parts, and returns its
// length; 0: none. Own frames belong to no library (library.def), or are own by the operators' rules (may be
// NULL). is_newest_last: Python.
size_t frame_own(struct bytes frames, bool is_newest_last, const struct group_rules *rules,
                 char out[FRAME_TEXT_MAX]);

// Do these frames end in "... 12 more"? Then the exception around this one has the rest.
bool frame_is_shared(struct bytes frames);

#endif
