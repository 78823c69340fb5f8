// history: past decisions as they are read. Text lives in the page's arena.
#ifndef REDRIVE_CORE_HISTORY_H
#define REDRIVE_CORE_HISTORY_H

#include <stdint.h>
#include "core/operation.h"

// The outcome of one event in one operation.
struct decision {
    int64_t operation;
    enum operation_action action;
    enum item_state state;
    const char *who;
    const char *reason;
    const char *detail;
    int64_t at;
};

// A further dead letter of an event, as ingest took it in: of a retry topic, or written twice.
struct letter_attempt {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t at;           // when it failed, else when the dead letter was written; TIME_ABSENT
    const char *format;   // "spring-retry"
    const char *consumer; // the group that failed, or NULL
    struct bytes error_message, stack_trace;
};

struct audit_row {
    int64_t no;
    int64_t at;
    const char *who;    // session_user
    const char *host;   // client address or "local"
    const char *action; // "reprocess", "pause", "settle", "migrate", …
    int64_t operation;  // 0: none
    int64_t events;     // number of affected events
    const char *reason; // as the operator wrote it, or NULL
    const char *detail; // evidence, states before and after, or NULL
};

#endif
