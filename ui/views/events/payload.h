// payload: the exact bytes of a payload as lines of a pager: pretty (only white space is ours), raw,
// hexadecimal, or a tree of paths.
#ifndef REDRIVE_UI_VIEWS_EVENTS_PAYLOAD_H
#define REDRIVE_UI_VIEWS_EVENTS_PAYLOAD_H

#include "base/bytes.h"
#include "ui/widgets/pager.h"

enum payload_form { PAYLOAD_PRETTY, PAYLOAD_AS_IS, PAYLOAD_HEX, PAYLOAD_TREE };

// Appends the lines. What is not JSON is shown as text, and says so.
void payload_lines(struct pager *pager, struct bytes payload, enum payload_form form);
const char *payload_form_name(enum payload_form form); // for line 2

#endif
