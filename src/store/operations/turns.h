// turns: PostgreSQL's half of a turn (src/publish/PROTOCOL.md, "Turn"): which database published last to a
// Kafka cluster, and the stop of a database that did not.
//
// A turn has a number and an id. Kafka keeps those of the last turn as the marker of the group
// `redrive.<install>.lease`; the table redrive.turn keeps the last two, one row a cluster. The errors are
// those of store/operations/ledger.h. ERR_CONFLICT: another worker of this database has the turn now, or
// Kafka's turn is not one that this row may follow.
#ifndef REDRIVE_STORE_OPERATIONS_TURNS_H
#define REDRIVE_STORE_OPERATIONS_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/uuid.h"
#include "store/operations/ledger.h"
#include "store/store.h"

// One turn; no 0, id "": none.
struct turn_mark {
    int64_t no;
    char id[UUID_SIZE];
};

// Why nothing may be published from this database. A person ends a stop: history_adopt or history_as_copy.
enum stop_reason {
    STOP_NONE,
    STOP_COPY,      // the server or the database is another than the install was made on
    STOP_ELSEWHERE, // Kafka's last turn is one that this database does not know: it is a copy, or older
    STOP_AHEAD,     // Kafka holds chunks that this database does not know: it is older, or a copy
    STOP_GONE,      // Kafka holds no turn, or one before the last: expired or deleted
};
const char *stop_reason_name(enum stop_reason reason); // as in SQL: "copy", "elsewhere", "ahead", "gone"

// The row of a cluster.
struct turn {
    char group[64]; // transactional id and marker group of the turns
    struct turn_mark last;
    struct turn_mark before; // what Kafka held when `last` was written
    bool is_confirmed;       // Kafka was seen to hold `last`
    int64_t finished_no;     // the last one after which all slots were fenced and compared
    bool is_mine;            // the asking worker is the one that may write now
    int64_t at;              // of `last`
    enum stop_reason stop;
    int64_t stopped_at;
    char stop_detail[1200]; // what is known, in sentences
};

// Asks to be the one worker of this database that takes a turn. `since`: the number of the last turn when the
// caller first asked, -1 at that first time. The answer is one of: stop set; finished_no > since, so another
// worker's turn serves the caller as well; is_mine; or none of them: another worker is at it, ask
// again. Creates the row, and the cluster's slots, on first use.
bool turn_take(struct store *store, const char *cluster, const char *worker, int64_t since, struct turn *turn,
               struct err *err) MUST_CHECK;
// Compare and set: `kafka` is what Kafka holds and must be `last`, or `before` while `last` is not
// confirmed. `last` becomes (last.no + 1, id), and `before` becomes `kafka`.
bool turn_write(struct store *store, const char *cluster, const char *worker, const struct turn_mark *kafka,
                const char *id, struct turn *turn, struct err *err) MUST_CHECK;
// Kafka was seen to hold `no`, the last turn, which this worker has written.
bool turn_confirm(struct store *store, const char *cluster, const char *worker, int64_t no,
                  struct err *err) MUST_CHECK;
// All slots are fenced and agree: workers of this database may publish.
bool turn_finish(struct store *store, const char *cluster, const char *worker, int64_t no,
                 struct err *err) MUST_CHECK;
// Stops publishing to this cluster until a person has decided. Audited. A stop that is there already stays.
bool turn_stop(struct store *store, const char *cluster, enum stop_reason reason, const char *detail,
               struct err *err) MUST_CHECK;

// The row as it is now, for Check and for doctor; is_mine is false. Zeroed without a row.
bool turn_read(struct store *store, const char *cluster, struct turn *turn, struct err *err) MUST_CHECK;
// The newest stop of any cluster (its name in `cluster`); stop is STOP_NONE without one.
bool turn_stopped(struct store *store, char cluster[64], struct turn *turn, struct err *err) MUST_CHECK;

// The slots of a cluster by number, each with its unfinished chunk. *count: at most `room`. next_txn_id in
// struct turn_slot: its names in the next generation.
#define TURN_SLOTS 16
struct turn_slot {
    struct slot slot;
    struct chunk unfinished;
    char next_txn_id[200];
};
bool turn_slots(struct store *store, const char *cluster, struct turn_slot *slots, size_t room, size_t *count,
                struct err *err) MUST_CHECK;

#endif
