// pool: threads that help their owner with work that falls into pieces. They begin with the first work of
// more than one piece, sleep while there is none, and end with the pool. One owner; own lock.
#ifndef REDRIVE_ASYNC_POOL_H
#define REDRIVE_ASYNC_POOL_H

#include <stddef.h>

struct pool;

// One piece. `worker` says by whom it is done: 0 is the owner, below the pool's workers; a worker does one
// piece at a time.
typedef void pool_work_fn(void *context, size_t piece, unsigned worker);

struct pool *pool_create(unsigned workers, const char *name); // with the owner's own; the name is borrowed
void pool_destroy(struct pool *pool);
// Does every piece below `pieces`, begun in their order, and returns when the last has ended. What the owner
// wrote before is seen by all, what they wrote is seen by the owner.
void pool_run(struct pool *pool, size_t pieces, pool_work_fn *work, void *context);

unsigned pool_processors(void); // that this process may use

#endif
