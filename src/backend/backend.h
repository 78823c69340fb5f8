// backend: answers what the screen asks (async/message.h) from the store, in two threads of its own with a
// connection each; what reads for long, or waits for a program, has a lane beside them (stats.c, recipe.c,
// correct.c).
//
// The reader keeps the backlog, lists and details; it works in small steps, so a new question never waits for
// a long answer. The writer asks for and steers operations, so that freezing a million events does not stop
// the reader. A lost connection is reported, retried with back-off, and ends nothing. When an operation waits
// and no worker is alive, one is started as a detached child.
#ifndef REDRIVE_BACKEND_BACKEND_H
#define REDRIVE_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stdint.h>
#include "async/mailbox.h"
#include "async/message.h"
#include "correct/correct.h"
#include "publish/plan.h"
#include "store/store.h"

struct backend_settings {
    struct store_settings store; // all borrowed until backend_stop
    struct store *connected;     // a connection for the reader to begin with, given away; NULL: it makes one
    struct plan_settings plan;   // for "what a reprocess would send"
    struct correct_limits correct; // for dry runs of recipes, and the check of one correction
    int64_t refresh_us;            // how often the database is looked at
    int64_t filter_cache;          // bytes of texts kept for searching; 0: none
    // Starts a detached worker; NULL: the screen never does (a service carries operations out, or the screen
    // is read-only).
    bool (*start_worker)(void *context, struct err *err);
    void *worker_context;
    bool worker_publishes; // it would have Kafka settings
    // Tries another connection (REQUEST_CONNECT), on a thread of its own; what it found stays with
    // `connections` until backend_stop has returned. NULL: there is no other.
    bool (*try_connection)(void *connections, size_t connection, struct err *err);
    void *connections;
    const char *screen; // a UUID by which others tell screens apart (presence); NULL: one of its own
};

struct backend;

// Never fails for want of a database: REPLY_STATUS reports that. Takes requests over from one mailbox
// and gives replies into the other; both belong to the caller and outlive it.
struct backend *backend_start(const struct backend_settings *settings, struct mailbox *requests,
                              struct mailbox *replies);
// Interrupts what runs, closes both mailboxes, ends both threads.
void backend_stop(struct backend *backend);

#endif
