// lane: a thread with a connection of its own. It does the jobs of one owner, one after another.
//
// The owner is the thread that calls lane_create. It gives jobs and takes results; both queues keep their
// order and are bounded. A job or result in a queue belongs to the lane, before and after that to whoever
// holds it. An owner that no longer waits for what it gave abandons it: then queued jobs and results are
// dropped, and a result that the running job still makes never reaches the owner. The owner makes the
// connection, the lane's thread alone uses it, and the lane closes it at the end. A lane never looks at its
// connection: it only knows how to interrupt and close it.
//
// The functions are grouped by the thread that may call them.
#ifndef REDRIVE_ASYNC_LANE_H
#define REDRIVE_ASYNC_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane;

struct lane_settings {
    const char *name; // of the thread, 15 bytes at most; borrowed
    // Does one job, on the lane's thread. It takes the job over: it frees it, or gives it back by lane_put.
    void (*work)(struct lane *lane, void *job);
    void *connection; // NULL: none
    void (*interrupt)(
        void *connection);           // ends the statement that runs, safe at any time; NULL: jobs are never
                                     // interrupted, lane_destroy waits for the end of the one that runs
    void (*close)(void *connection); // NULL: somebody else closes it
    size_t jobs, results;            // that may be queued; 0: no result is ever put
    void (*drop_job)(void *job);     // what nobody takes any more; NULL: it needs no release
    void (*drop_result)(void *result);
};

// --- owner ---

struct lane *lane_create(const struct lane_settings *settings); // starts the thread
// Abandons everything, interrupts the job that runs until it has ended, and closes the connection. An
// interrupt that comes between two statements is lost, so it is repeated. NULL is fine.
void lane_destroy(struct lane *lane);
// Gives the job away. Full: waits up to wait_us (negative: for ever); false: still full, the owner keeps it.
bool lane_give(struct lane *lane, void *job, int64_t wait_us);
// The oldest result; waits up to wait_us (0: not at all, negative: for ever). NULL: none in that time.
void *lane_take(struct lane *lane, int64_t wait_us);
// Nothing given so far is wanted any more. Does not wait, and does not interrupt.
void lane_abandon(struct lane *lane);

// --- any thread ---

void lane_interrupt(struct lane *lane); // once, where a job runs
void lane_stop(struct lane *lane);      // begins what lane_destroy does, without waiting; NULL is fine

// --- the lane's thread, during a job ---

void *lane_connection(const struct lane *lane);
// Is the job still wanted? One that takes long asks now and then, and returns early where it is not.
bool lane_is_wanted(const struct lane *lane);
// Gives a result away; waits for room. False: it is not wanted any more, the job keeps it.
bool lane_put(struct lane *lane, void *result);
// Sleeps until the time is over or the lane is to end. False: it is to end.
bool lane_sleep(struct lane *lane, int64_t us);

#endif
