#include "async/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"

struct helper {
    struct pool *pool;
    unsigned worker;
    struct thread *thread;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t has_work, has_ended;
    pool_work_fn *work;  // under lock, as all below
    void *context;       // of the work
    size_t next, pieces; // pieces below next were begun
    size_t running;      // pieces that are being done
    bool is_over;

    // Of the owner.
    const char *name;
    unsigned workers;
    struct helper *helpers; // one less than workers; NULL: not begun
};

struct pool *
pool_create(unsigned workers, const char *name)
{
    struct pool *pool = alloc_bytes(sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->has_work, NULL);
    pthread_cond_init(&pool->has_ended, NULL);
    pool->name = name;
    pool->workers = workers;
    return pool;
}

void
pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_over = true;
    pthread_cond_broadcast(&pool->has_work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; pool->helpers && i + 1 < pool->workers; i++)
        thread_join(pool->helpers[i].thread);
    free(pool->helpers);
    pthread_cond_destroy(&pool->has_ended);
    pthread_cond_destroy(&pool->has_work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

// Does pieces until all are begun. The caller holds the lock; it is released while a piece is done.
static void
do_pieces(struct pool *pool, unsigned worker)
{
    while (pool->next < pool->pieces) {
        pool_work_fn *work = pool->work;
        void *context = pool->context;
        size_t piece = pool->next++;
        pool->running++;
        pthread_mutex_unlock(&pool->lock);
        work(context, piece, worker);
        pthread_mutex_lock(&pool->lock);
        pool->running--;
    }
    if (pool->running == 0)
        pthread_cond_signal(&pool->has_ended);
}

static void
help(void *context)
{
    struct helper *helper = context;
    struct pool *pool = helper->pool;
    pthread_mutex_lock(&pool->lock);
    while (!pool->is_over) {
        do_pieces(pool, helper->worker);
        if (!pool->is_over)
            pthread_cond_wait(&pool->has_work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void
pool_begin(struct pool *pool)
{
    pool->helpers = alloc_array(pool->workers, sizeof *pool->helpers);
    for (unsigned i = 0; i + 1 < pool->workers; i++) {
        struct helper *helper = &pool->helpers[i];
        *helper = (struct helper){.pool = pool, .worker = i + 1};
        helper->thread = thread_start(help, helper, pool->name);
    }
}

void
pool_run(struct pool *pool, size_t pieces, pool_work_fn *work, void *context)
{
    if (pieces > 1 && pool->workers > 1 && !pool->helpers)
        pool_begin(pool);
    pthread_mutex_lock(&pool->lock);
    pool->work = work;
    pool->context = context;
    pool->next = 0;
    pool->pieces = pieces;
    if (pieces > 1)
        pthread_cond_broadcast(&pool->has_work);
    do_pieces(pool, 0);
    while (pool->running > 0)
        pthread_cond_wait(&pool->has_ended, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

unsigned
pool_processors(void)
{
    cpu_set_t set;
    bool is_known = sched_getaffinity(0, sizeof set, &set) == 0;
    return is_known ? (unsigned)CPU_COUNT(&set) : 1;
}
