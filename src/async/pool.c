#include "async/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"

struct helper {
    struct crew *crew;
    unsigned hand;
    struct thread *thread;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t has_work, has_ended;
    crew_work_fn *work;  // under lock, as all below
    void *context;       // of the work
    size_t next, pieces; // the first piece that nobody has begun
    size_t running;      // pieces that are being done
    bool is_over;

    // Of the owner.
    const char *name;
    unsigned hands;
    struct helper *helpers; // one less than hands; NULL: not begun
};

struct crew *
crew_create(unsigned hands, const char *name)
{
    struct crew *crew = alloc_bytes(sizeof *crew);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->has_work, NULL);
    pthread_cond_init(&crew->has_ended, NULL);
    crew->name = name;
    crew->hands = hands;
    return crew;
}

void
crew_destroy(struct crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->has_work);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; crew->helpers && i + 1 < crew->hands; i++)
        thread_join(crew->helpers[i].thread);
    free(crew->helpers);
    pthread_cond_destroy(&crew->has_ended);
    pthread_cond_destroy(&crew->has_work);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

// Does what nobody has begun. Called with the lock held, which is given back while a piece is done.
static void
do_pieces(struct crew *crew, unsigned hand)
{
    while (crew->next < crew->pieces) {
        crew_work_fn *work = crew->work;
        void *context = crew->context;
        size_t piece = crew->next++;
        crew->running++;
        pthread_mutex_unlock(&crew->lock);
        work(context, piece, hand);
        pthread_mutex_lock(&crew->lock);
        crew->running--;
    }
    if (crew->running == 0)
        pthread_cond_signal(&crew->has_ended);
}

static void
help(void *context)
{
    struct helper *helper = context;
    struct crew *crew = helper->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over) {
        do_pieces(crew, helper->hand);
        if (!crew->is_over)
            pthread_cond_wait(&crew->has_work, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

static void
begin(struct crew *crew)
{
    crew->helpers = alloc_array(crew->hands, sizeof *crew->helpers);
    for (unsigned i = 0; i + 1 < crew->hands; i++) {
        struct helper *helper = &crew->helpers[i];
        *helper = (struct helper){.crew = crew, .hand = i + 1};
        helper->thread = thread_start(help, helper, crew->name);
    }
}

void
crew_run(struct crew *crew, size_t pieces, crew_work_fn *work, void *context)
{
    if (pieces > 1 && crew->hands > 1 && !crew->helpers)
        begin(crew);
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->next = 0;
    crew->pieces = pieces;
    if (pieces > 1)
        pthread_cond_broadcast(&crew->has_work);
    do_pieces(crew, 0);
    while (crew->running > 0)
        pthread_cond_wait(&crew->has_ended, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

unsigned
crew_processors(void)
{
    cpu_set_t set;
    bool is_known = sched_getaffinity(0, sizeof set, &set) == 0;
    return is_known ? (unsigned)CPU_COUNT(&set) : 1;
}
