// letter_text: a dead letter as `ingest --explain` prints it: its format and why, what it says, each control
// field, and the record that is sent instead of it.
#ifndef REDRIVE_COMMANDS_LETTER_TEXT_H
#define REDRIVE_COMMANDS_LETTER_TEXT_H

#include "core/envelope/envelope.h"
#include "core/envelope/undo.h"
#include "core/json/value.h"

struct letter {
    struct envelope_record record;
    struct envelope envelope;
    struct envelope_undo undo;
    struct bytes original; // what became of the original that it points at, in words; absent: not known
};

// For a person: long texts are cut, and nothing reaches a terminal raw.
void letter_text(const struct letter *letter, struct arena *arena, struct strbuf *out);
// The same without the record that is sent instead of it.
void letter_facts(const struct letter *letter, struct arena *arena, struct strbuf *out);
// For a program: everything. The caller forgets the object.
struct value *letter_json(const struct letter *letter, struct arena *arena);

#endif
