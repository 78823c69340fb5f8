// worker_desk: what each publisher of a worker has for itself: a connection, and a thread that makes its long
// calls on it. While one finishes, the other claims, and Kafka takes a third chunk's records.
#include "publish/worker_private.h"

#include <stddef.h>
#include "async/mailbox.h"
#include "async/thread.h"

// One call at a time, so one of each is enough and no put ever waits.
static void
serve(void *context)
{
    struct endpoints *lane = context;
    while (mailbox_take(lane->calls, -1)) {
        lane->call(lane->argument);
        mailbox_put(lane->answers, lane, -1);
    }
}

bool
lane_open(struct endpoints *lane, const struct endpoints *endpoints, const struct store_settings *settings,
          struct err *err)
{
    *lane = *endpoints;
    lane->store = NULL;
    if (!store_open(&lane->store, settings, err))
        return false;
    lane->calls = mailbox_create(1);
    lane->answers = mailbox_create(1);
    lane->thread = thread_start(serve, lane, "ledger");
    return true;
}

void
lane_close(struct endpoints *lane)
{
    if (lane->calls)
        mailbox_close(lane->calls);
    thread_join(lane->thread);
    mailbox_destroy(lane->calls, NULL);
    mailbox_destroy(lane->answers, NULL);
    store_close(lane->store);
    *lane = (struct endpoints){0};
}

void
lane_start(void *context, void (*call)(void *argument), void *argument)
{
    struct endpoints *lane = context;
    lane->call = call;
    lane->argument = argument;
    lane->is_running = true;
    mailbox_put(lane->calls, lane, -1);
}

bool
lane_is_done(void *context, int wait_ms)
{
    struct endpoints *lane = context;
    lane->is_running = !mailbox_take(lane->answers, (int64_t)wait_ms * 1000);
    return !lane->is_running;
}

bool
lane_is_connected(const struct endpoints *lane)
{
    return !lane->store || lane->is_running || store_is_connected(lane->store);
}
