// alerts: rules about a table of dead letters, what they came to, and the sentences about that. Pure.
//
// A condition names what is measured. Its value is a number whose unit the condition fixes: events, events a
// minute, seconds, percent. Most conditions are about the table; some have a value for each group or
// operation, an instance.
#ifndef REDRIVE_CORE_ALERTS_H
#define REDRIVE_CORE_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

enum alert_condition {
    ALERT_PENDING,            // pending events
    ALERT_RATE,               // arrivals a minute, over the window
    ALERT_OLDEST,             // age of the oldest pending event
    ALERT_SHARE,              // a group's, category's or type's part of the pending events
    ALERT_GROWTH,             // pending events more than a window ago
    ALERT_GROUP,              // arrivals of a group within the window; an instance a group
    ALERT_NO_WORKER,          // operations that wait while no worker publishes
    ALERT_HALTED,             // an instance for each operation, and each policy, that halted
    ALERT_POLICY,             // what policies match that leave it to people; an instance a policy
    ALERT_IN_DOUBT,           // events in doubt
    ALERT_RETRIES,            // mean retry_count of what arrived within the window
    ALERT_SUCCESS,            // of what was reprocessed within the window: neither refused nor returned
    ALERT_PUBLISH_FAILURES,   // refused within the window
    ALERT_REPROCESS_FAILURES, // refused or returned within the window
    ALERT_DEAD_LETTERS,       // of the messages written within the window to a topic; an instance a topic
    ALERT_CONDITIONS
};

enum alert_unit { UNIT_COUNT, UNIT_RATE, UNIT_SECONDS, UNIT_PERCENT, UNIT_MEAN };

struct alert_condition_row {
    const char *name; // "pending", "no-worker"
    enum alert_unit unit;
    int64_t window;      // µs, where the rule names none; 0: the condition has none
    int64_t most_window; // µs
    bool takes_part;     // group, category or type narrow it
    const char *one;     // a value in a sentence: "event is pending"
    const char *many;
};
const struct alert_condition_row *alert_condition_row(enum alert_condition condition);
bool alert_condition_parse(struct bytes name, enum alert_condition *condition);
const char *alert_condition_suggest(const char *name); // the nearest; or NULL

// Which part of the pending events counts.
enum alert_part { PART_ALL, PART_GROUP, PART_CATEGORY, PART_TYPE };

struct alert_label {
    const char *name, *value;
};

struct alert_rule {
    const char *name;
    enum alert_condition condition;
    bool is_below;  // broken below the threshold, else above it
    double limit;   // the threshold, in the condition's unit
    double clear;   // it is over at this value; the threshold where the rule names none
    int64_t for_us; // so long it has to be broken before it fires
    int64_t window; // µs
    double
        at_least; // of SHARE, SUCCESS, RETRIES, DEAD_LETTERS: with fewer events or messages nothing is broken
    enum alert_part part;
    const char *part_name;   // of the part; NULL: each, the largest counts
    const char *severity;    // "warning"
    const char *description; // the first thing to do; NULL: none
    const char *runbook;     // a link; NULL: none
    struct alert_label *labels;
    size_t label_count;
};

// "1000", "10/s", "1d", "50%" as the condition wants it.
bool alert_value_parse(enum alert_condition condition, struct bytes text, double *value,
                       struct err *err) MUST_CHECK;
// The other way, for people: "1,000", "10.5/min", "2h", "50%", "1.5".
void alert_value_add(enum alert_condition condition, double value, struct strbuf *out);
// "pending above 1,000 for 5m", "share of category data above 50%".
void alert_rule_words(const struct alert_rule *rule, struct strbuf *out);
// "12,345 events are pending". of: the part or instance that the value belongs to, for people; NULL: the
// table.
void alert_summary(const struct alert_rule *rule, double value, const char *of, struct strbuf *out);

// Where notices go.
enum alert_channel { CHANNEL_ALERTMANAGER, CHANNEL_SLACK, CHANNEL_PAGERDUTY, CHANNEL_COMMAND, CHANNELS };
const char *alert_channel_name(enum alert_channel channel);
bool alert_channel_parse(struct bytes name, enum alert_channel *channel);

struct alert_destination {
    const char *name; // the channel's where the file names none
    enum alert_channel channel;
    const char *url;         // may hold a secret
    const char *key;         // of PagerDuty's integration; of others a bearer token, NULL: none. A secret
    const char *ca;          // file of certificates that are trusted instead of the system's; NULL
    const char *const *argv; // of a command; ends with NULL
    const char *to, *from;   // headers of a command's message; NULL: none
    const char **severities; // NULL: all
    size_t severity_count;
};

// What is sent, in the words of every channel.
struct alert_notice {
    int64_t no;
    bool is_firing; // else it is over
    const char *destination, *table, *rule, *instance, *fingerprint, *condition, *severity, *summary;
    const char *description, *runbook; // or NULL
    double value;
    int64_t since, at; // instants; since when it fires, and when this was decided
    struct alert_label *labels;
    size_t label_count;
};

// --- what the database knows ---

// Of silenced and acknowledged ones the rule is broken, too.
enum alert_state { ALERT_INACTIVE, ALERT_WAITING, ALERT_FIRING, ALERT_SILENCED, ALERT_ACKNOWLEDGED };
const char *alert_state_name(enum alert_state state); // "inactive", "pending", "firing", …

struct alert_note {           // who did something about it
    const char *who, *reason; // NULL: nobody; no reason
    int64_t at;               // of a silence: its end
};

// A rule, or one of its instances that is broken.
struct alert_row {
    const char *rule;
    const char *instance; // "": the table
    enum alert_state state;
    bool is_firing; // also where the state says more than that
    bool is_known;  // value is
    double value, threshold;
    const char *condition, *words;  // "pending"; "pending above 1,000 for 5m"
    const char *severity, *summary; // summary: NULL where it is inactive
    const char *description, *runbook;
    int64_t since;       // of its state; of an inactive one, when it fired last, or TIME_ABSENT
    int64_t resolved_at; // last, or TIME_ABSENT
    struct alert_note silence, acknowledgement;
    struct alert_label *labels;
    size_t label_count;
};

struct alert_delivery { // of a destination
    const char *name;
    int64_t waiting, dropped, sent;
    const char *error; // NULL: it works
    int64_t failed_at;
};

struct alert_board {
    struct alert_row *rows; // what fires first, longest first; then what is pending; then the others
    size_t count;
    struct alert_delivery *deliveries;
    size_t delivery_count;
    int64_t as_of;       // the database's clock
    int64_t measured_at; // TIME_ABSENT: never
};
size_t alert_board_firing(const struct alert_board *board); // neither silenced nor acknowledged
// A value of a row as people read it, "-" where it is not known.
void alert_row_add_value(const struct alert_row *row, double value, struct strbuf *out);

#endif
