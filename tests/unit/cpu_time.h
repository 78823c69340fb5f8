// cpu_time: time of the processor, for tests that something does not take for ever. What others do on the
// machine does not count.
#ifndef REDRIVE_TESTS_UNIT_CPU_TIME_H
#define REDRIVE_TESTS_UNIT_CPU_TIME_H

#include <stdint.h>
#include <time.h>

// Nanoseconds that this thread has used.
static inline int64_t
cpu_time(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * 1000000000 + spent.tv_nsec;
}

// A second of the same. The thread sanitizer takes many times as much.
#ifdef __SANITIZE_THREAD__
#define SECOND_SPENT INT64_C(20000000000)
#else
#define SECOND_SPENT INT64_C(1000000000)
#endif

#endif
