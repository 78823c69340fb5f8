// pool: threads that help their owner with work that can be divided. They start with the first work of more
// than one piece, sleep between two works, and end with the pool. One thread owns a pool and calls its
// functions.
#ifndef REDRIVE_ASYNC_POOL_H
#define REDRIVE_ASYNC_POOL_H

#include <stddef.h>

struct pool;

// Does one piece. `worker` is below the pool's number of workers, 0 is the owner; a worker does one piece at
// a time, so it may have memory of its own.
typedef void pool_work_fn(void *context, size_t piece, unsigned worker);

struct pool *pool_create(unsigned workers, const char *name); // the owner counts as one; the name is borrowed
void pool_destroy(struct pool *pool);
// Does every piece below `pieces`, begun in that order, and returns when all have ended. The workers see all
// that the owner wrote before the call; the owner sees all that they wrote, after it.
void pool_run(struct pool *pool, size_t pieces, pool_work_fn *work, void *context);

unsigned pool_processors(void); // how many this process may use

#endif
