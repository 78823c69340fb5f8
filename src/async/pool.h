// crew: threads that help their owner with work that falls into pieces. They begin with the first work of
// more than one piece, sleep while there is none, and end with the crew. One owner; own lock.
#ifndef REDRIVE_ASYNC_POOL_H
#define REDRIVE_ASYNC_POOL_H

#include <stddef.h>

struct crew;

// One piece. `hand` says by whom it is done: 0 is the owner, below the crew's hands; a hand does one piece at
// a time.
typedef void crew_work_fn(void *context, size_t piece, unsigned hand);

struct crew *crew_create(unsigned hands, const char *name); // with the owner's own; the name is borrowed
void crew_destroy(struct crew *crew);
// Does every piece below `pieces`, begun in their order, and returns when the last has ended. What the owner
// wrote before is seen by all, what they wrote is seen by the owner.
void crew_run(struct crew *crew, size_t pieces, crew_work_fn *work, void *context);

unsigned crew_processors(void); // that this process may use

#endif
