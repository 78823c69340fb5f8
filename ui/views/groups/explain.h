// explain: why an event is in its group (`x`): the key and its parts, what was masked and by which rule, the
// frame, and what decided its kind.
#ifndef REDRIVE_UI_VIEWS_GROUPS_EXPLAIN_H
#define REDRIVE_UI_VIEWS_GROUPS_EXPLAIN_H

#include "async/message.h"

struct explain_argument {
    const struct explanation *explanation; // only read while the view opens
};

#endif
