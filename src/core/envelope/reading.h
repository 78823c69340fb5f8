// reading: the values of headers and members as text, as what they are meant to be. Lengths are never
// trusted: what has another length than it should is read as decimal text, and else not at all.
#ifndef REDRIVE_CORE_ENVELOPE_READING_H
#define REDRIVE_CORE_ENVELOPE_READING_H

#include "base/arena.h"
#include "core/envelope/format.h"

// *note is NULL, or says why there is no text, or how the bytes were read.
struct bytes envelope_text(struct bytes raw, enum envelope_as as, struct arena *arena, const char **note);
// A whole decimal number, a fraction behind it left out. false: it is none.
bool envelope_number(struct bytes text, int64_t *number);
// An instant: ISO 8601 with Z, an offset or neither (UTC); the same with blanks and with a colon before
// microseconds, as NServiceBus has it; a number: of milliseconds from 10^11 on (1973), else of seconds.
bool envelope_time(struct bytes text, int64_t *instant);

#endif
