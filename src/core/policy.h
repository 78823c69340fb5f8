// policy: what is done with dead letters by itself, within limits that a person set. Pure.
//
// A policy chooses pending events by a filter and acts on those that are due, by their own history, as an
// operation like any other. Its runs follow a schedule. One that makes things worse is halted until a person
// switches it on again.
#ifndef REDRIVE_CORE_POLICY_H
#define REDRIVE_CORE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "core/operation.h"
#include "core/schedule.h"

enum policy_action {
    POLICY_REPROCESS,
    POLICY_ALERT,         // only counts what matches, which an alert tells
    POLICY_DISCARD,       // also the expiry of old events
    POLICY_MANUAL_REVIEW, // as alert; and no other policy acts on what matches
    POLICY_ARCHIVE,       // retention: moves what was closed long ago into the archive
    POLICY_PURGE,         // retention: deletes for good what is in the archive
    POLICY_ACTIONS
};
const char *policy_action_name(enum policy_action action); // "reprocess", …
// In either case, as REPROCESS.
bool policy_action_parse(struct bytes name, enum policy_action *action);
bool policy_acts(enum policy_action action);         // does it begin operations?
bool policy_is_retention(enum policy_action action); // of closed events; its age is the only choice

// How long an event rests before an attempt: `first`, then each time `factor` as long, `most` at most; and up
// to a quarter longer, so that what failed together does not return together.
struct policy_backoff {
    int64_t first, most; // µs
    double factor;
};

enum { POLICY_NAME_MOST = 60, POLICY_ATTEMPTS_MOST = 10, POLICY_RUNS_JUDGED = 3 };

struct policy {
    const char *name;
    enum policy_action action;
    const char *filter; // chooses the events; NULL: the group alone does
    const char *group;  // 16 digits, or NULL
    int64_t older_than; // µs, which the filter asks for too; 0: any age. Of retention: since it was closed
    const char *words;  // for people: "reprocess category:transient every 10m, at most 500 a day"
    const char *schedule_text;
    struct policy_schedule schedule;
    struct day_window window; // within which runs begin
    int32_t attempts;         // an event with so many is left to people
    struct policy_backoff backoff;
    int32_t rate; // events/s; RATE_UNLIMITED
    struct send_plan plan;
    int64_t limit;       // events within 24 hours
    const char *target;  // topic; NULL: each event's own
    const char *recipe;  // its text, applied first; NULL: none
    int64_t probe_after; // µs after which a halted policy tries one event; 0: a person decides
    bool is_enabled;     // by the file; a person may have switched it since
};

// --- an event's own history ---

struct policy_event {
    int64_t id;
    int32_t attempts;  // reprocesses after which it failed again
    int64_t failed_at; // last, instant
    const char *topic; // its own; NULL: none
};
// The instant from which on the event may be tried; TIME_ABSENT: never, since it was tried often enough.
int64_t policy_due(const struct policy *policy, const struct policy_event *event);

// --- a run ---

// How a run of this policy ended, as its operation tells.
struct policy_result {
    int64_t no; // of the operation
    enum operation_state state;
    int64_t done, refused, returned, skipped;
    const char *note;
};
// Halts it? By its last runs since a person switched it on, newest first. `why`: a sentence.
bool policy_judge(const struct policy *policy, const struct policy_result *results, size_t count,
                  struct strbuf *why);
// How many events a run may act on, of which `acted` within 24 hours were before.
int64_t policy_room(const struct policy *policy, int64_t acted, bool is_probe);

// --- rehearsal ---

struct policy_day {
    int64_t ends_at;  // instant; 24 hours
    int64_t matched;  // events that became due
    int64_t acted;    // on how many it would have acted
    int64_t left;     // that waited at its end, since the limit was reached
    int64_t returned; // of the matched ones: had been sent before, and failed again
};
// When an event that arrived then is due for the first time.
int64_t policy_first_due(const struct policy *policy, int64_t created_at);
// Fills acted and left from matched; the days are in their order. The limit is that of each day here.
void policy_rehearse(const struct policy *policy, struct policy_day *days, size_t count);

// --- what the database knows ---

enum policy_state { POLICY_DISABLED, POLICY_ENABLED, POLICY_HALTED };
const char *policy_state_name(enum policy_state state);

struct policy_row {
    const char *name, *words, *action;
    enum policy_state state;
    const char *switched_by; // NULL: as the file says
    int64_t switched_at;
    const char *halted_why; // NULL: it is not halted
    int64_t halted_at;
    int64_t matched;                        // by the last run
    int64_t runs, acted, returned, refused; // in all; acted: without what was called back before it was sent
    int64_t today;                          // acted on within 24 hours; also archived or deleted
    int64_t operation;                      // the last one; 0: none
    int64_t ran_at, next_at;                // TIME_ABSENT
    const char *note;                       // why the last run began nothing; NULL
};

#endif
