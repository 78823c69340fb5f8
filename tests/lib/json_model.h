// json_model: what reading and editing do to a random text, worked out from what it was made of and compared
// with what core/json does, byte for byte.
#ifndef REDRIVE_TESTS_LIB_JSON_MODEL_H
#define REDRIVE_TESTS_LIB_JSON_MODEL_H

#include "base/strbuf.h"
#include "tests/lib/json_tree.h"

// Makes a text and tries everything on it. false: `why` tells what went wrong, and the text.
bool json_model_check(struct chance *chance, struct strbuf *why);

#endif
