// adopt: what Kafka proves about a database that was stopped, so that it can go on as the true one
// (PROTOCOL.md, "Stop").
#ifndef REDRIVE_PUBLISH_ADOPT_H
#define REDRIVE_PUBLISH_ADOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "broker/fetch.h"
#include "broker/settings.h"
#include "publish/plan.h"
#include "store/operations/turns.h"
#include "store/store.h"

struct adoption {
    char cluster[64];
    struct turn turn;              // as PostgreSQL has it
    struct turn_mark kafka;        // as Kafka has it; no 0: none
    int32_t slots[2 * TURN_SLOTS]; // whose markers are ahead, once for each generation
    size_t slot_count;
    int64_t *sent; // events that are open here, and sent by chunks that are not known here
    size_t sent_count;
    size_t chunks;   // those chunks
    int64_t records; // that were searched
    struct arena arena;
};

// Searches the topics for what the database does not know: those that it has sent to, that markers name, and
// that its pending events would be sent to by `plan`. `is_for_real`: first takes Kafka's turn away from
// whoever has it, and fences all slots, so that nothing is sent while it searches; without it nothing is
// written anywhere. ERR_NOT_FOUND: the database is not stopped. ERR_DATA where the search proves too little,
// with what would help.
// tick (may be NULL) is called while records are read; false ends it.
bool adoption_find(struct store *store, const struct broker_settings *settings,
                   const struct plan_settings *plan, bool is_for_real, fetch_tick_fn *tick, void *context,
                   struct adoption *adoption, struct err *err) MUST_CHECK;
void adoption_release(struct adoption *adoption);

// Do Kafka and this database hold the same history? By a plain look, for doctor: writes nothing. `words` says
// what was seen.
struct broker;
bool history_compare(struct store *store, struct broker *broker, const char *cluster, bool *is_same,
                     char words[300], struct err *err) MUST_CHECK;

#endif
