// session: what each thread of the backend has: a connection that comes and goes, requests, and replies.
//
// A session belongs to its thread. The UI thread sees the mailboxes, and at the end `is_stopping` and
// `store`, to interrupt the statement that runs.
#ifndef REDRIVE_BACKEND_SESSION_H
#define REDRIVE_BACKEND_SESSION_H

#include <stdatomic.h>
#include "backend/backend.h"
#include "store/events/events.h"

// The connection as the thread last saw it.
struct session_link {
    bool is_lost;
    int attempts;     // since it was lost
    int64_t retry_at; // clock_mono of the next attempt
    char trouble[300];
};

struct session {
    const struct backend_settings *settings;
    struct mailbox *inbox;
    struct mailbox *replies;
    struct store *_Atomic store; // NULL until the first connection
    atomic_bool is_stopping;
    struct session_link link;
    void (*link_changed)(
        struct session *session); // after the connection was lost or an attempt failed; may be NULL
};

// Gives the reply away.
void session_reply(struct session *session, struct reply *reply);
void session_error(struct session *session, uint64_t number, const struct err *err);
// After a failed store call: answers the request (number may be 0) and notes a lost connection. Always
// returns false.
bool session_failed(struct session *session, uint64_t number, const struct err *err);
// One attempt to connect where that is due. True: connected.
bool session_connect(struct session *session);
// Answers a request that needs the database while there is no connection.
void session_refuse(struct session *session, const struct request *request);

#endif
