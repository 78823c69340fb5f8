// operation: what an operator asked for and confirmed. Its items are frozen when it is made; the words here
// are those of the SQL, the screen and the JSON.
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

enum operation_action {
    ACTION_REPROCESS,
    ACTION_RESOLVE,
    ACTION_DISCARD,
    ACTION_RESTORE,
    ACTION_CORRECT,
    ACTION_COUNT
};

enum operation_state {
    OPERATION_FREEZING, // its items are being written; not yet confirmed, nobody carries it out
    OPERATION_AWAITING, // "awaiting approval"
    OPERATION_FROZEN,   // confirmed, no worker has begun
    OPERATION_RUNNING,
    OPERATION_WAITING, // at the end of a step: did what was sent come back?
    OPERATION_PAUSED,
    OPERATION_DONE,      // every item has its outcome, also where some are refused
    OPERATION_CANCELLED, // the rest was cancelled; what was in flight was finished first
    OPERATION_HALTED,    // stopped itself; a person may let it go on
    OPERATION_STATE_COUNT,
};

enum item_state {
    ITEM_QUEUED,
    ITEM_CLAIMED,  // in a chunk whose fate is not yet known
    ITEM_IN_DOUBT, // in doubt: a person, or a header scan, decides
    ITEM_DONE,
    ITEM_REFUSED, // could not be carried out, with the reason; the event is pending again
    ITEM_SKIPPED, // closed by somebody else, or in another live operation, before its turn
    ITEM_CANCELLED,
    ITEM_STATE_COUNT,
};

const char *action_name(enum operation_action action); // "reprocess", …
bool action_parse(struct bytes name, enum operation_action *action);
const char *operation_state_name(enum operation_state state); // "awaiting approval", "frozen", …
bool operation_state_parse(struct bytes name, enum operation_state *state);
bool operation_state_is_final(enum operation_state state);
const char *item_state_name(enum item_state state);
bool item_state_parse(struct bytes name, enum item_state *state);

#define RATE_UNLIMITED (-1)

// How a reprocess is sent: in steps, each watched before the next, and when it halts by itself.
#define STEPS_MOST 12
struct send_plan {
    int32_t steps[STEPS_MOST]; // events of the canary and of each step after it; then the rest
    size_t step_count;         // 0: all at once
    int64_t settle_for;        // µs to watch after a step; 0: 60 s
    double halt_above;         // percent of refused or returned events; with halts
    bool halts;
    int64_t send_after;    // µs in which it can be called back before the first send
    int64_t approve_above; // with more events somebody else approves it; 0: never
};
#define HALT_ABOVE 5 // percent, where there are steps and nobody said otherwise
#define SETTLE_FOR (60 * (int64_t)1000000)

// "10,100,1000,rest"; "rest", at the end, may be left out. Appended to the steps that are there.
bool steps_parse(struct bytes text, struct send_plan *plan, struct err *err) MUST_CHECK;
// "20%", "0.5 %", "20"; "none": it does not halt.
bool halt_parse(struct bytes text, struct send_plan *plan, struct err *err) MUST_CHECK;
// "10, 100, rest"; nothing without steps.
void steps_text(const int32_t *steps, size_t count, struct strbuf *out);
// Steps that nobody has set a share for get one.
void send_plan_complete(struct send_plan *plan);

// What is confirmed: these ids, described in words.
struct operation_request {
    enum operation_action action;
    const int64_t *ids; // ascending, no doubles
    size_t count;
    const char *scope;        // in words: "2,114 events of SocketTimeoutException"
    const char *filter_text;  // may be NULL
    const char *group;        // 16 hex digits, may be NULL
    const char *reason;       // may be NULL
    const char *target_topic; // reprocess --to; NULL: each event's own
    int32_t rate;             // events/s; 0 paused; RATE_UNLIMITED
    struct send_plan plan;
    int64_t undoes;      // of a restore: the discard that it takes back; 0: found out when it is frozen
    char key[UUID_SIZE]; // uuid made by the asker: asking twice with the same key makes one operation
};

// One operation as stored, for lists and for its own view. Text lives in the page's arena.
struct operation {
    int64_t no;
    enum operation_action action;
    enum operation_state state;
    const char *requested_by;
    const char *host; // where it was asked for
    const char *scope;
    const char *filter_text;
    const char *group;
    const char *reason;
    const char *target_topic;
    const char *worker;     // who carries it out now, or NULL
    const char *state_note; // why it is halted, in words, or NULL
    const char *approved_by;
    int32_t rate;
    double rate_now; // measured events/s over the last seconds
    int64_t total, queued, claimed, in_doubt, done, refused, skipped, cancelled, returned;
    int64_t created_at, started_at, finished_at; // instants, TIME_ABSENT
    struct send_plan plan;                       // its steps, settle_for and halt_above
    int32_t step;                                // from 1; above plan.step_count: the rest
    int64_t settle_until;                        // WAITING: then it goes on; TIME_ABSENT
    int64_t send_after;                          // nothing is sent before; TIME_ABSENT
    int64_t watched;                             // sent, but not long enough ago to be called quiet
    int64_t quiet;                               // sent, and not come back for plan.settle_for
    int64_t undone_by; // of a discard: the restore that takes it back; 0: none, or it was cancelled
    bool is_undone;    // that one is done
};

// done + refused + conflict (+ cancelled + held) of total, 0..100.
int operation_percent(const struct operation *operation);

// Until its first send a reprocess can be called back.
bool operation_can_be_called_back(const struct operation *operation);
// A discard that is over can be undone once.
bool operation_can_be_undone(const struct operation *operation);

// What to tell who did not look when an operation came to its end, or halted: then why.
const char *operation_end_sentence(const struct operation *operation, struct arena *arena);

enum steer {
    STEER_PAUSE,
    STEER_RESUME,
    STEER_CANCEL,
    STEER_RATE,
    STEER_APPROVE,
    STEER_STEPS, // these three: by the plan
    STEER_SETTLE_FOR,
    STEER_HALT,
};

// How many items there are per state and reason: "refused 2: message of 2,310,448 bytes, topic allows
// 1,048,588".
struct outcome {
    enum item_state state;
    const char *reason; // NULL: none
    int64_t count;
    int64_t first_event;
};

// Of an operation's events, those that failed again with the same error.
struct returned {
    uint64_t group;
    bool is_same; // as the group they had when they were sent
    int64_t count;
    int64_t event; // one of them
    const char *error;
};

// What the dialog shows before anything is asked for.
struct preview_topic {
    const char *topic; // original topic; NULL: the event names none
    int64_t count;
};
// It becomes known part by part, in this order.
enum preview_part {
    PREVIEW_COUNTS,    // and topics
    PREVIEW_OVERTAKEN, // of a reprocess alone, as what follows
    PREVIEW_DOUBLED,
    PREVIEW_PARTS
};
struct preview {
    unsigned known;           // set of 1 << enum preview_part
    int64_t open;             // of the ids, how many the action can act on now
    int64_t closed;           // already closed by somebody
    int64_t busy;             // in another live operation
    const char *busy_with;    // "ana's operation 41", or NULL
    int64_t quarantined;      // of a reprocess
    int64_t *quarantined_ids; // ascending
    size_t quarantined_count;
    int64_t overtaken;            // newer events of the same key are there that are not among them
    int64_t overtaken_resolved;   // of those: such a newer one was resolved already
    int64_t doubled;              // share their event id with another one of them
    int64_t revised;              // newest revision would be sent
    int64_t raw;                  // original bytes are kept
    struct preview_topic *topics; // most first, at most 20
    size_t topic_count;
};

#endif
