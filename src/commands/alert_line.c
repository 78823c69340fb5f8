#include "commands/alert_line.h"

#include "base/clock.h"
#include "commands/cli/json.h"

bool
alert_line_json(const struct alert_row *row, int64_t zone_us, struct err *err)
{
    struct value *object = value_object(), *labels = value_object();
    value_add_text(object, "alert", row->rule);
    value_add_text(object, "state", alert_state_name(row->state));
    value_add_bool(object, "firing", row->is_firing);
    value_add_time(object, "since", row->state == ALERT_INACTIVE ? TIME_ABSENT : row->since, zone_us);
    if (row->is_known)
        value_add_real(object, "value", row->value);
    else
        value_add_null(object, "value");
    value_add_real(object, "threshold", row->threshold);
    value_add_text(object, "condition", row->words);
    value_add_text(object, "severity", row->severity);
    value_add_text(object, "summary", row->summary);
    value_add_text(object, "description", row->description);
    value_add_text(object, "runbook", row->runbook);
    value_add_time(object, "silenced_until", row->silence.at, zone_us);
    value_add_text(object, "silenced_by", row->silence.who);
    value_add_text(object, "acknowledged_by", row->acknowledgement.who);
    value_add_time(object, "resolved_at", row->resolved_at, zone_us);
    for (size_t i = 0; i < row->label_count; i++)
        value_add_text(labels, row->labels[i].name, row->labels[i].value);
    value_add(object, "labels", labels);
    return json_print(object, err);
}
