// audit_line: one entry of the audit, the same for audit and for the timeline of operation N.
#ifndef REDRIVE_COMMANDS_AUDIT_LINE_H
#define REDRIVE_COMMANDS_AUDIT_LINE_H

#include <stdint.h>
#include "core/history.h"
#include "core/json/value.h"

struct value *audit_object(const struct audit_row *row, int64_t zone_us);

#endif
