// operation: an action on a set of events that an operator requested and confirmed. Its items are frozen when
// it is created; the names of actions and states are the same in SQL, on the screen and in JSON.
#ifndef REDRIVE_CORE_OPERATION_H
#define REDRIVE_CORE_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/uuid.h"
#include "core/begin.h"
#include "core/consumers.h"

enum operation_action {
    ACTION_REPROCESS,
    ACTION_RESOLVE,
    ACTION_DISCARD,
    ACTION_RESTORE,
    ACTION_CORRECT,
    ACTION_COUNT
};

enum operation_state {
    OPERATION_FREEZING, // its items are being written; not yet confirmed, no worker may take it
    OPERATION_AWAITING, // "awaiting approval"
    OPERATION_FROZEN,   // confirmed, no worker has begun
    OPERATION_RUNNING,
    OPERATION_WAITING, // after a step: watches whether sent events return
    OPERATION_PAUSED,
    OPERATION_DONE,      // every item has its outcome, refused ones included
    OPERATION_CANCELLED, // the current chunk was finished, the rest cancelled
    OPERATION_HALTED,    // stopped by itself; a person may resume it
    OPERATION_STATE_COUNT,
};

enum item_state {
    ITEM_QUEUED,
    ITEM_CLAIMED,  // in a chunk whose fate is not yet known
    ITEM_IN_DOUBT, // a person or a header scan decides
    ITEM_DONE,
    ITEM_REFUSED, // cannot be carried out, with the reason; the event is pending again
    ITEM_SKIPPED, // before its turn the event was closed or joined another live operation
    ITEM_CANCELLED,
    ITEM_STATE_COUNT,
};

const char *action_name(enum operation_action action); // "reprocess", …
bool action_parse(struct bytes name, enum operation_action *action);
const char *operation_state_name(enum operation_state state); // "awaiting approval", "frozen", …
bool operation_state_parse(struct bytes name, enum operation_state *state);
bool operation_state_is_final(enum operation_state state);
const char *item_state_name(enum item_state state);
// The same for people: "sent", "to send", "in flight"; done has another word for each action.
const char *item_state_word(enum item_state state, enum operation_action action);
bool item_state_parse(struct bytes name, enum item_state *state);

#define RATE_UNLIMITED (-1)

// How a reprocess is sent: in steps, each watched before the next, and the share at which it halts by itself.
#define STEPS_MOST 12
struct send_plan {
    int32_t steps[STEPS_MOST]; // events of the canary and of each step after it; then the rest
    size_t step_count;         // 0: all at once
    int64_t settle_for;        // µs to watch after a step; 0: 60 s
    double halt_above;         // percent of refused or returned events; with halts
    bool halts;
    struct begin begin;    // of any action
    int64_t send_after;    // µs before the first send, in which it can be undone
    int64_t approve_above; // with more events another person has to approve it; 0: never
    int64_t max_lag;       // nothing is sent while a consumer group has more records to read; with holds
    bool holds;
};
#define HALT_ABOVE 5        // percent; default of a plan with steps
#define HALT_PLAIN_ABOVE 20 // percent; default without steps, of more events than the next
#define HALT_PLAIN_EVENTS 100
#define SETTLE_FOR (60 * (int64_t)1000000)

// "10,100,1000,rest"; "rest", at the end, may be omitted. Appends to the plan's steps.
bool steps_parse(struct bytes text, struct send_plan *plan, struct err *err) MUST_CHECK;
// "20%", "0.5 %", "20"; "none": never halts.
bool halt_parse(struct bytes text, struct send_plan *plan, struct err *err) MUST_CHECK;
// Appends "10, 100, rest"; nothing without steps.
void steps_text(const int32_t *steps, size_t count, struct strbuf *out);
// A plan of so many events that does not say when it halts gets HALT_ABOVE with steps, HALT_PLAIN_ABOVE
// without them where there are many.
void send_plan_complete(struct send_plan *plan, size_t events);

// The run of a policy that makes a request (core/policy.h), and which ends its claim.
struct policy_begun {
    const char *name, *holder; // of the claim
    int64_t matched;
    int64_t next_at;           // when the policy is due again
    const char *const *topics; // to which it sends
    size_t topic_count;
};

// A request as confirmed: ids, and their description.
struct operation_request {
    enum operation_action action;
    const int64_t *ids; // ascending, no doubles
    size_t count;
    const char *scope;        // in words: "2,114 events of SocketTimeoutException"
    const char *filter_text;  // may be NULL
    const char *group;        // 16 hex digits, may be NULL
    const char *reason;       // may be NULL
    const char *target_topic; // reprocess --to; NULL: each event's own
    const char *recipe;       // of ACTION_CORRECT: its text; NULL: it undoes another
    bool is_forced;           // what the team's own check refuses is not left out; takes a reason
    bool then_reprocess;      // of a recipe: what it corrected is sent once it is done; rate, plan and
                              // target_topic are those of that reprocess
    bool takes_quarantined;   // of such a reprocess: somebody named its events (core/filter/filter.h)
    int32_t rate;             // events/s; 0 paused; RATE_UNLIMITED
    struct send_plan plan;
    int64_t undoes;         // of a restore: the discard or resolve that it reverts; 0: the freeze finds a
                            // discard. Of a correct without a recipe: the one whose revisions it reverts
    bool restores_resolved; // of a restore: its events are resolved; else they are discarded
    const struct policy_begun *policy; // NULL: a person asks
    char key[UUID_SIZE]; // uuid of the caller: repeating a request with its key creates one operation
};

// A recipe's own outcomes: of the done events the others were changed.
struct recipe_counts {
    int64_t unchanged;
    int64_t not_applicable;
    int64_t refused_by_check; // among the refused ones, as is the next
    int64_t failed;           // the recipe or its check failed
    int64_t forced;           // among the changed ones: the check refuses them
    int64_t departs;          // of a dry run: among the changed ones, as is the next (core/recipe/tally.h)
    int64_t again;
};

// The restore that reverts a discard or resolve, or the correct operation that reverts another.
struct undoing {
    int64_t by;   // its number; 0: there is none, or it was cancelled
    bool is_done; // it is done
    int64_t of;   // the operation that this one reverts itself; 0: none
};

// The sent events that a consumer group has committed past, which is how one knows that they were read.
struct taken {
    int64_t count;    // -1: no consumer group is known, so time alone decides
    int64_t of;       // sent events whose consumer groups are known
    const char *by;   // "billing", "audit, billing"; NULL: nobody
    const char *note; // "billing has read 3 of 10", or why no group is known; NULL: all are taken
};

// The reprocess of what a recipe corrected.
struct follower {
    bool is_wanted;
    int64_t by; // its number; 0: there is none yet, or there was nothing to send
};

// What became of the events that were sent.
struct operation_sent {
    struct taken taken;
    int64_t watched; // not yet known to be one of the next
    int64_t quiet;   // taken, or sent where no group is known, and did not return within plan.settle_for
};

// One operation as stored, for lists and for its own view. Text lives in the page's arena.
struct operation {
    int64_t no;
    enum operation_action action;
    enum operation_state state;
    const char *requested_by;
    const char *host; // from which it was requested
    const char *scope;
    const char *filter_text;
    const char *group;
    const char *reason;
    const char *target_topic;
    const char *worker;     // that carries it out now, or NULL
    const char *state_note; // why it is halted, in words, or NULL
    const char *approved_by;
    int32_t rate;
    double rate_now; // measured events/s over the last seconds
    int64_t total, queued, claimed, in_doubt, done, refused, skipped, cancelled, returned;
    struct recipe_counts recipe;                 // of a correct operation
    struct follower follower;                    // likewise
    int64_t created_at, started_at, finished_at; // instants, TIME_ABSENT
    struct send_plan plan;                       // its steps, settle_for and halt_above
    int32_t step;                                // from 1; above plan.step_count: the rest
    int64_t settle_until;                        // WAITING: end of the wait; TIME_ABSENT
    int64_t send_after;                          // nothing is sent, or done, before; TIME_ABSENT
    struct operation_sent sent;                  // of a reprocess
    struct undoing undone;                       // of a discard or a recipe, or of what reverts one
};

// It waits for the time at which its asker wants it to begin.
bool operation_begins_later(const struct operation *operation, int64_t now);
// Could a worker go on with it now? One that does not publish leaves a reprocess alone.
bool operation_waits_for_worker(const struct operation *operation, bool publishes, int64_t now);
// A reprocess can be undone until its first send; so can whatever begins at a time of its own.
bool operation_can_be_called_back(const struct operation *operation);
// A finished discard, resolve or recipe can be undone once, where it changed something.
bool operation_can_be_undone(const struct operation *operation);

// Of a correct operation: the events of which it wrote a revision. Of others: all that are done.
int64_t operation_changed(const struct operation *operation);

// Of a recipe whose follower is wanted: what follows, "operation 43: reprocess what it corrected, at most
// 50/s, in steps of 10, rest, halting above 5%".
void operation_follower_text(const struct operation *operation, struct strbuf *out);

enum steer {
    STEER_PAUSE,
    STEER_RESUME,
    STEER_CANCEL,
    STEER_UNDO, // cancels, unless anything was carried out
    STEER_RATE,
    STEER_APPROVE,
    STEER_STEPS, // these three take their value from the plan
    STEER_SETTLE_FOR,
    STEER_HALT,
};

// The number of items with one state and reason: "refused 2: message of 2,310,448 bytes, topic allows
// 1,048,588".
struct outcome {
    enum item_state state;
    const char *reason; // NULL: none
    int64_t count;
    int64_t first_event;
};

// Events of an operation that returned in the same group.
struct returned {
    uint64_t group;
    bool is_grouped; // else nobody has told their groups yet
    int64_t count;
    int64_t same;  // of these, how many were of this group when they were sent
    int64_t event; // one of them
    const char *error;
};

// The expected effect of an action, shown before it is requested.

// Events that are sent alike: of one place, with one correction of it.
struct preview_source {
    const char *topic;     // that they came from; NULL: they name none
    int32_t partition;     // -1: none
    const char *corrected; // the topic that their newest revisions name instead, or NULL
    int32_t moved;         // likewise, or -1
    int64_t count;
};
struct preview_topic {
    const char *topic; // that they are sent to; NULL: they name none
    int64_t count;
    const char *refusal; // why they are not sent to it (publish/forecast.h); NULL: they are
    const char *why;     // how its name was found; NULL: it is the rows' own, or a person named it
    bool is_asked;       // Kafka was asked about it
    int64_t asked_at;    // instant
};
// Events that are refused one by one: for their size, their key, or what cannot be read.
struct preview_refusal {
    const char *reason;        // of the first of them
    const char *too_large_for; // a topic, where that is the reason: each has its own size; or NULL
    int64_t count;
};
// What is undone of the dead letters of some of the events, evenly chosen.
struct preview_letters {
    size_t events;       // that were looked at
    size_t letters;      // of these, that have a format or headers
    size_t exact;        // byte for byte what was received, or what it was before it failed
    size_t unsure;       // that have a format, of which nothing is undone, since it is not certain
    const char *formats; // "spring-dlt (18), queue-message (2)"; "": none
    const char *kept, *dropped, *added; // names of headers, each once; "": none
    const char *why_inexact;            // of the first that is not exact; NULL: none
    const char *why_unsure;             // likewise
};
// The parts become known one after the other, in this order.
enum preview_part {
    PREVIEW_COUNTS,    // and topics
    PREVIEW_OVERTAKEN, // this and the next: of a reprocess only
    PREVIEW_DOUBLED,
    PREVIEW_REFUSED,
    PREVIEW_PARTS
};
// Of a reprocess: events in quarantine.
struct preview_quarantine {
    int64_t events;
    int64_t *ids; // ascending
    size_t id_count;
};
struct preview_overtaken {
    int64_t events;   // a newer event of the same key exists outside the ids
    int64_t resolved; // among these: that newer event is already resolved
};
struct preview_refused {
    int64_t events;             // for their topics, and one by one
    int64_t unmeasured;         // so many were to be looked at one by one, and were not
    struct preview_refusal *by; // most first
    size_t by_count;
};
struct preview {
    unsigned known;        // set of 1 << enum preview_part
    int64_t open;          // ids that the action can act on now
    int64_t closed;        // already closed by somebody
    int64_t busy;          // in another live operation
    const char *busy_with; // "ana's operation 41", or NULL
    struct preview_quarantine quarantine;
    struct preview_overtaken overtaken;
    int64_t doubled;       // share their event id with another of the ids
    int64_t repeated;      // are another row for a record that is sent, and will be skipped
    int64_t *repeated_ids; // ascending
    int64_t revised;       // a corrected payload would be sent
    int64_t raw;           // of the others: the bytes that were received are kept, and would be sent
    struct preview_source *sources;
    size_t source_count;
    const struct operation *last; // a reprocess of some of these events or their group; NULL: none is known
    struct preview_topic *topics; // most first, at most 20
    size_t topic_count;
    bool checks_newer;              // the setting consumers wants newer records looked for (core/newer.h)
    struct preview_letters letters; // with PREVIEW_COUNTS, of a reprocess
    const char *routed;             // the topic that the setting consumers names for all of them, or NULL
    struct preview_refused refused;
    struct topic_consumers *readers; // of reprocess: who reads these topics, as far as a worker has told
    size_t reader_count;
};

#endif
