#include "core/alerts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"

#define MINUTES(n) ((n)*60 * US_PER_SECOND)
#define HOURS(n) ((n)*3600 * US_PER_SECOND)

// The trend keeps minutes for 48 hours, the rollup buckets for one, and samples are kept for two days.
static const struct alert_condition_row conditions[ALERT_CONDITIONS] = {
    [ALERT_PENDING] = {"pending", UNIT_COUNT, 0, 0, true, "event is pending", "events are pending"},
    [ALERT_RATE] = {"rate", UNIT_RATE, MINUTES(5), HOURS(24), false, "", ""},
    [ALERT_OLDEST] = {"oldest", UNIT_SECONDS, 0, 0, false, "", ""},
    [ALERT_SHARE] = {"share", UNIT_PERCENT, 0, 0, true, "of the pending events", "of the pending events"},
    [ALERT_GROWTH] = {"growth", UNIT_COUNT, HOURS(1), HOURS(24), false, "event more is pending",
                      "events more are pending"},
    [ALERT_GROUP] = {"group", UNIT_COUNT, MINUTES(10), HOURS(1), false, "event arrived", "events arrived"},
    [ALERT_NO_WORKER] = {"no-worker", UNIT_COUNT, 0, 0, false,
                         "operation waits, and no worker that publishes is running",
                         "operations wait, and no worker that publishes is running"},
    [ALERT_HALTED] = {"halted", UNIT_COUNT, 0, 0, false, "operation halted", "operations halted"},
    [ALERT_POLICY] = {"policy", UNIT_COUNT, 0, 0, false, "event is for people to look at",
                      "events are for people to look at"},
    [ALERT_IN_DOUBT] = {"in-doubt", UNIT_COUNT, 0, 0, false,
                        "event is in doubt: no evidence shows whether it was published",
                        "events are in doubt: no evidence shows whether they were published"},
    [ALERT_RETRIES] = {"retries", UNIT_MEAN, HOURS(1), HOURS(24), false, "retries an arrival on average",
                       "retries an arrival on average"},
    [ALERT_SUCCESS] = {"success", UNIT_PERCENT, HOURS(1), HOURS(24), false,
                       "of the reprocessed events stayed away", "of the reprocessed events stayed away"},
    [ALERT_PUBLISH_FAILURES] = {"publish-failures", UNIT_COUNT, HOURS(1), HOURS(24), false,
                                "event could not be republished", "events could not be republished"},
    [ALERT_REPROCESS_FAILURES] = {"reprocess-failures", UNIT_COUNT, HOURS(1), HOURS(24), false,
                                  "reprocessed event was refused or returned",
                                  "reprocessed events were refused or returned"},
    [ALERT_DEAD_LETTERS] = {"dead-letters", UNIT_PERCENT, HOURS(1), HOURS(24), false,
                            "of the messages became dead letters", "of the messages became dead letters"},
};

const struct alert_condition_row *
alert_condition_row(enum alert_condition condition)
{
    return &conditions[condition];
}

bool
alert_condition_parse(struct bytes name, enum alert_condition *condition)
{
    for (size_t i = 0; i < ALERT_CONDITIONS; i++)
        if (bytes_equal_text(name, conditions[i].name)) {
            *condition = (enum alert_condition)i;
            return true;
        }
    return false;
}

const char *
alert_condition_suggest(const char *name)
{
    const char *names[ALERT_CONDITIONS];
    for (size_t i = 0; i < ALERT_CONDITIONS; i++)
        names[i] = conditions[i].name;
    return text_suggest(name, names, ALERT_CONDITIONS);
}

// --- values ---

// A plain decimal number at the beginning. *rest: what stands behind it.
static bool
read_number(const char *text, double *value, const char **rest)
{
    char *end;
    *rest = text + strspn(text, "0123456789.");
    *value = strtod(text, &end);
    return end != text && end == *rest;
}

// Per what, as a part of a minute; 0: no such unit.
static double
per_minute(const char *rest)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1}, {"/m", 1}, {"/min", 1}, {"/s", 60}, {"/h", 1.0 / 60}, {"/d", 1.0 / 1440}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(rest, units[i].name) == 0)
            return units[i].factor;
    return 0;
}

static bool
parse_as(enum alert_unit unit, struct bytes bytes, const char *text, double *value)
{
    const char *rest = "";
    int64_t us;
    if (unit == UNIT_SECONDS) {
        bool ok = text_parse_duration(bytes, &us, NULL);
        *value = ok ? (double)us / US_PER_SECOND : 0;
        return ok;
    }
    if (!read_number(text, value, &rest))
        return false;
    if (unit == UNIT_RATE) {
        *value *= per_minute(rest);
        return per_minute(rest) > 0;
    }
    if (unit == UNIT_PERCENT && strcmp(rest, "%") == 0)
        rest = "";
    return rest[0] == '\0' && (unit != UNIT_PERCENT || *value <= 100);
}

bool
alert_value_parse(enum alert_condition condition, struct bytes text, double *value, struct err *err)
{
    static const char *const wanted[] = {[UNIT_COUNT] = "a number of events, as 1000",
                                         [UNIT_RATE] = "events per time, as 10/s, 10/min or 100/h",
                                         [UNIT_SECONDS] = "a duration, as 30m or 1d",
                                         [UNIT_PERCENT] = "a percentage, as 50%",
                                         [UNIT_MEAN] = "a number, as 2.5"};
    char copy[40];
    enum alert_unit unit = conditions[condition].unit;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(text.len < sizeof copy ? text.len : sizeof copy),
                   text.data);
    if (text.len < sizeof copy && parse_as(unit, text, copy, value))
        return true;
    return err_set(err, ERR_USAGE, "\"%s\" is not %s", copy, wanted[unit]);
}

static void
add_number(double value, struct strbuf *out)
{
    char text[TEXT_SHORT];
    if (fabs(value) >= 100 || value == floor(value))
        strbuf_add_text(out, text_count((int64_t)llround(value), text));
    else
        strbuf_printf(out, "%.3g", value);
}

void
alert_value_add(enum alert_condition condition, double value, struct strbuf *out)
{
    char text[TEXT_SHORT];
    switch (conditions[condition].unit) {
    case UNIT_COUNT:
    case UNIT_MEAN:
        add_number(value, out);
        return;
    case UNIT_RATE:
        add_number(value, out);
        strbuf_add_text(out, "/min");
        return;
    case UNIT_SECONDS:
        strbuf_add_text(out, text_age((int64_t)(value * US_PER_SECOND), text));
        return;
    case UNIT_PERCENT:
        add_number(value, out);
        strbuf_add_char(out, '%');
        return;
    }
}

// --- sentences ---

static const char *
part_word(enum alert_part part)
{
    static const char *const words[] = {
        [PART_ALL] = "", [PART_GROUP] = "group", [PART_CATEGORY] = "category", [PART_TYPE] = "type"};
    return words[part];
}

void
alert_rule_words(const struct alert_rule *rule, struct strbuf *out)
{
    char text[TEXT_SHORT];
    strbuf_add_text(out, conditions[rule->condition].name);
    if (rule->part != PART_ALL)
        strbuf_printf(out, " of %s%s%s", rule->part_name ? "" : "a ", part_word(rule->part),
                      rule->part_name ? " " : "");
    if (rule->part != PART_ALL && rule->part_name)
        strbuf_add_text(out, rule->part_name);
    if (rule->condition != ALERT_HALTED) {
        strbuf_add_text(out, rule->is_below ? " below " : " above ");
        alert_value_add(rule->condition, rule->limit, out);
    }
    if (rule->window > 0)
        strbuf_printf(out, " within %s", text_age(rule->window, text));
    if (rule->for_us > 0)
        strbuf_printf(out, " for %s", text_age(rule->for_us, text));
}

void
alert_summary(const struct alert_rule *rule, double value, const char *of, struct strbuf *out)
{
    const struct alert_condition_row *row = &conditions[rule->condition];
    char text[TEXT_SHORT];
    if (rule->condition == ALERT_HALTED) {
        strbuf_add_text(out, of ? of : "an operation halted");
        return;
    }
    if (rule->condition == ALERT_OLDEST) {
        strbuf_add_text(out, "the oldest pending event is ");
        alert_value_add(rule->condition, value, out);
        strbuf_add_text(out, " old");
        return;
    }
    if (rule->condition == ALERT_RATE) {
        add_number(value, out);
        strbuf_add_text(out, " events a minute arrive");
        return;
    }
    alert_value_add(rule->condition, value, out);
    strbuf_printf(out, " %s", value == 1 ? row->one : row->many);
    if (row->window > 0)
        strbuf_printf(out, rule->condition == ALERT_GROWTH ? " than %s ago" : " within %s",
                      text_age(rule->window, text));
    if (rule->condition == ALERT_SHARE)
        strbuf_printf(out, " have the same %s", part_word(rule->part));
    if (of)
        strbuf_printf(out, ": %s", of);
}

// --- destinations ---

static const char *const channels[CHANNELS] = {[CHANNEL_ALERTMANAGER] = "alertmanager",
                                               [CHANNEL_SLACK] = "slack",
                                               [CHANNEL_PAGERDUTY] = "pagerduty",
                                               [CHANNEL_COMMAND] = "command"};

const char *
alert_channel_name(enum alert_channel channel)
{
    return channels[channel];
}

bool
alert_channel_parse(struct bytes name, enum alert_channel *channel)
{
    for (size_t i = 0; i < CHANNELS; i++)
        if (bytes_equal_text(name, channels[i])) {
            *channel = (enum alert_channel)i;
            return true;
        }
    return false;
}

// --- what the database knows ---

const char *
alert_state_name(enum alert_state state)
{
    static const char *const names[] = {[ALERT_INACTIVE] = "inactive",
                                        [ALERT_WAITING] = "pending",
                                        [ALERT_FIRING] = "firing",
                                        [ALERT_SILENCED] = "silenced",
                                        [ALERT_ACKNOWLEDGED] = "acknowledged"};
    return names[state];
}

size_t
alert_board_firing(const struct alert_board *board)
{
    size_t firing = 0;
    for (size_t i = 0; i < board->count; i++)
        firing += board->rows[i].state == ALERT_FIRING;
    return firing;
}

void
alert_row_add_value(const struct alert_row *row, double value, struct strbuf *out)
{
    enum alert_condition condition = ALERT_PENDING; // of a newer program's condition
    (void)alert_condition_parse(bytes_of(row->condition), &condition);
    if (row->is_known)
        alert_value_add(condition, value, out);
    else
        strbuf_add_char(out, '-');
}
