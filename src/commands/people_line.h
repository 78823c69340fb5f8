// people_line: what people say about a group, as an object.
#ifndef REDRIVE_COMMANDS_PEOPLE_LINE_H
#define REDRIVE_COMMANDS_PEOPLE_LINE_H

#include "commands/cli/json.h"
#include "core/people.h"

// The members assignee, until, note and snoozed_until; null where care (NULL: nothing is said) has none that
// holds now for a group with so many events.
void people_line_json(struct value *object, const struct group_care *care, int64_t events, bool has_until,
                      int64_t zone_us);
// The object of one group.
bool people_line_print_json(uint64_t group, const struct group_care *care, int64_t events, int64_t zone_us,
                            struct err *err) MUST_CHECK;

#endif
