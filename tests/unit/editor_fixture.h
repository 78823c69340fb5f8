// editor_fixture: random documents and a random number generator of its own, for the tests of the editor.
#ifndef REDRIVE_TESTS_UNIT_EDITOR_FIXTURE_H
#define REDRIVE_TESTS_UNIT_EDITOR_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "ui/editor/editor.h"

struct dice {
    uint64_t state; // the seed
};
size_t dice_roll(struct dice *dice, size_t sides); // 0 … sides - 1; 0 for 0 sides

// Appends valid JSON of about `size` bytes, with white space, escapes, wide characters and duplicate names.
void random_json(struct dice *dice, size_t size, struct strbuf *out);
// Appends a few bytes of the kind that breaks editors: letters, line ends, tabs, marks, wide characters,
// bytes that are not UTF-8, brackets and quotes.
void random_text(struct dice *dice, size_t pieces, struct strbuf *out);

// The editor's document equals `text`.
void expect_text(struct editor *editor, struct bytes text);

#endif
