// report_print: writes a report as text, Markdown, HTML or JSON. Whatever came from outside is harmless in
// each: control characters are escaped, and so is what Markdown or HTML would take for its own.
#ifndef REDRIVE_COMMANDS_REPORT_PRINT_H
#define REDRIVE_COMMANDS_REPORT_PRINT_H

#include "commands/cli/command.h"
#include "core/report.h"

bool report_print(struct call *call, const struct report *report, enum report_form form, int64_t zone_us,
                  struct err *err) MUST_CHECK;

#endif
