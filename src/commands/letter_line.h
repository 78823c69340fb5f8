// letter_line: a record of Kafka as a line of JSON, as `ingest --explain` reads it (redrive(1), "EXPLAINING
// DEAD LETTERS").
#ifndef REDRIVE_COMMANDS_LETTER_LINE_H
#define REDRIVE_COMMANDS_LETTER_LINE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/envelope/envelope.h"

// Everything lives in the arena. ERR_DATA: it is no such line; the sentence says which member is wrong.
bool letter_line_read(struct bytes line, struct arena *arena, struct envelope_record *record,
                      struct err *err) MUST_CHECK;

#endif
