#include "commands/people_line.h"

#include "base/clock.h"
#include "core/event.h"

void
people_line_json(struct value *object, const struct group_care *care, int64_t events, bool has_until,
                 int64_t zone_us)
{
    static const struct group_care nobody;
    int64_t now = clock_now();
    care = care ? care : &nobody;
    bool is_taken = care_is_taken(care, now);
    bool is_snoozed = care_is_snoozed(care, now, events);
    value_add_text(object, "assignee", is_taken ? care->taken.who : NULL);
    if (has_until)
        value_add_time(object, "until", is_taken ? care->taken.until : TIME_ABSENT, zone_us);
    value_add_text(object, "note", care->note.text);
    value_add_time(object, "snoozed_until", is_snoozed ? care->snooze.until : TIME_ABSENT, zone_us);
}

bool
people_line_print_json(uint64_t group, const struct group_care *care, int64_t events, int64_t zone_us,
                       struct err *err)
{
    struct value *object = value_object();
    json_group(object, "group", group);
    people_line_json(object, care, events, true, zone_us);
    return json_print(object, err);
}
