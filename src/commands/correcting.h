// correcting: the settings of a call in the form of the room correct, and the worker's way to it.
#ifndef REDRIVE_COMMANDS_CORRECTING_H
#define REDRIVE_COMMANDS_CORRECTING_H

#include "broker/broker.h"
#include "commands/cli/command.h"
#include "correct/correct.h"
#include "publish/worker.h"

struct correct_limits correcting_limits(const struct call *call);

// Finds original records in Kafka. Lives as long as the corrector that uses it. `broker` NULL: nobody can be
// asked, and PostgreSQL's text of the payloads is taken.
struct correcting_originals {
    struct broker *broker;
};
correct_originals_fn correcting_find_originals; // context: a struct correcting_originals

// The worker's part: carries on a correct operation. The context is zero-initialised, with `call` set.
struct correcting_worker {
    struct call *call;
    int64_t operation; // whose recipe is ready
    struct corrector *corrector;
    struct correcting_originals originals;
    struct store *ahead; // reads while the worker's own connection writes
};
worker_correct_fn correcting_apply; // context: a struct correcting_worker
void correcting_worker_release(struct correcting_worker *worker);

#endif
