// c11_threads: C11's threads as those of POSIX, for the thread sanitizer.
//
// librdkafka starts its threads with thrd_create, which gcc's sanitizer does not know: in a thread that it
// has not seen begin, it crashes. These take the place of the C library's. librdkafka's own locks stay
// unseen, and so does what it does with memory (tsan.supp).
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include "base/alloc.h"

struct start {
    thrd_start_t begin;
    void *argument;
};

static void *
begin_thread(void *context)
{
    struct start start = *(struct start *)context;
    free(context);
    return (void *)(intptr_t)start.begin(start.argument);
}

int
thrd_create(thrd_t *thread, thrd_start_t begin, void *argument)
{
    struct start *start = alloc_bytes(sizeof *start);
    *start = (struct start){begin, argument};
    return pthread_create(thread, NULL, begin_thread, start) == 0 ? thrd_success : thrd_error;
}

int
thrd_join(thrd_t thread, int *ended)
{
    void *value;
    if (pthread_join(thread, &value) != 0)
        return thrd_error;
    if (ended)
        *ended = (int)(intptr_t)value;
    return thrd_success;
}
