// alert_line: one alert as a JSON object, for alerts and alert.
#ifndef REDRIVE_COMMANDS_ALERT_LINE_H
#define REDRIVE_COMMANDS_ALERT_LINE_H

#include "base/err.h"
#include "core/alerts.h"

bool alert_line_json(const struct alert_row *row, int64_t zone_us, struct err *err) MUST_CHECK;

#endif
