#include "commands/audit_line.h"

struct value *
audit_object(const struct audit_row *row, int64_t zone_us)
{
    struct value *object = value_object();
    value_add_time(object, "at", row->at, zone_us);
    value_add_text(object, "who", row->who);
    value_add_text(object, "host", row->host);
    value_add_text(object, "action", row->action);
    value_add_int_or_null(object, "operation", row->operation > 0, row->operation);
    value_add_int(object, "events", row->events);
    value_add_text(object, "reason", row->reason);
    value_add_text(object, "detail", row->detail);
    return object;
}
