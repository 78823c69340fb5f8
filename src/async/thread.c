#include "async/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

struct thread {
    pthread_t id;
    void (*run)(void *context);
    void *context;
};

static void *
thread_enter(void *argument)
{
    struct thread *thread = argument;
    thread->run(thread->context);
    return NULL;
}

struct thread *
thread_start(void (*run)(void *context), void *context, const char *name)
{
    struct thread *thread = alloc_bytes(sizeof *thread);
    thread->run = run;
    thread->context = context;

    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&thread->id, NULL, thread_enter, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        die("no thread could be started (%s); raise the limit of processes", strerror(failure));
    pthread_setname_np(thread->id, name);
    return thread;
}

void
thread_join(struct thread *thread)
{
    if (!thread)
        return;
    pthread_join(thread->id, NULL);
    free(thread);
}
