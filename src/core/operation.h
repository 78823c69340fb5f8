// operation: what an operator asked for and confirmed. Its items are frozen when it is made; the words here
// are those of the SQL, the screen and the JSON.
#ifndef REDRIVE_CORE_OPERATION_H
#define REDRIVE_CORE_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

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
    OPERATION_PAUSED,
    OPERATION_DONE,      // every item has its outcome, also where some are refused
    OPERATION_CANCELLED, // the rest was cancelled; what was in hand was settled first
    OPERATION_HALTED,    // stopped itself
    OPERATION_STATE_COUNT,
};

enum item_state {
    ITEM_QUEUED,
    ITEM_CLAIMED, // in a chunk whose fate is not yet known
    ITEM_HELD,    // in doubt: a person, or a header scan, decides
    ITEM_DONE,
    ITEM_REFUSED,  // could not be carried out, with the reason; the event is pending again
    ITEM_CONFLICT, // closed by somebody else, or in another live operation, before its turn
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

// What is confirmed: these ids, described in words.
struct operation_request {
    enum operation_action action;
    const int64_t *ids; // ascending, no doubles
    size_t count;
    const char *scope; // in words: "2,114 events of SocketTimeoutException, 7 of them hidden by the filter"
    const char *filter_text;  // may be NULL
    const char *group;        // 16 hex digits, may be NULL
    const char *reason;       // may be NULL
    const char *target_topic; // reprocess --to; NULL: each event's own
    int32_t rate;             // events/s; 0 paused; RATE_UNLIMITED
    char key[37];             // uuid made by the asker: asking twice with the same key makes one operation
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
    const char *state_note; // why it is halted or waiting, in words, or NULL
    int32_t rate;
    double rate_now; // measured events/s over the last seconds
    int64_t total, queued, claimed, held, done, refused, conflict, cancelled, came_back;
    int64_t created_at, started_at, finished_at; // instants, TIME_ABSENT
};

// done + refused + conflict (+ cancelled + held) of total, 0..100.
int operation_percent(const struct operation *operation);

enum steer { STEER_PAUSE, STEER_RESUME, STEER_CANCEL, STEER_RATE, STEER_APPROVE };

// How many items there are per state and reason: "refused 2: message of 2,310,448 bytes, topic allows
// 1,048,588".
struct outcome {
    enum item_state state;
    const char *reason; // NULL: none
    int64_t count;
    int64_t first_event;
};

// What the dialog shows before anything is asked for.
struct preview_topic {
    const char *topic; // original topic; NULL: the event names none
    int64_t count;
};
struct preview {
    int64_t open;          // of the ids, how many the action can act on now
    int64_t closed;        // already closed by somebody
    int64_t busy;          // in another live operation
    const char *busy_with; // "operation 41 of ana", or NULL
    int64_t quarantined;
    int64_t revised;              // newest revision would be sent
    int64_t raw;                  // original bytes are kept
    struct preview_topic *topics; // most first, at most 20
    size_t topic_count;
};

#endif
