// sections: key, headers and target of a record as JSON texts that a person can edit, and back.
//
//   key      "c-10037"   null   {"base64": "AAEC"}
//   headers  [{"name": "trace", "value": "1f"}, {"name": "bin", "base64": "AAEC"}, {"name": "n", "value":
//   null}] target   {"topic": "orders.events", "partition": null}
//
// Bytes that are UTF-8 are given as text, others as base64. Text that was not touched gives the same bytes
// back.
#ifndef REDRIVE_UI_VIEWS_EDITOR_SECTIONS_H
#define REDRIVE_UI_VIEWS_EDITOR_SECTIONS_H

#include <stdbool.h>
#include "async/message.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "core/revision.h"

enum section { SECTION_PAYLOAD, SECTION_KEY, SECTION_HEADERS, SECTION_TARGET, SECTION_COUNT };
const char *section_name(enum section section);

// The section of the event as its newest revision has it, else as a reprocess would send it; appended to out.
void section_print(enum section section, const struct event_detail *detail, struct strbuf *out);
// Puts what the text says into the correction; copies live in the arena. err says what is wrong.
bool section_parse(enum section section, struct bytes text, struct arena *arena,
                   struct correction *correction, struct err *err) MUST_CHECK;

#endif
