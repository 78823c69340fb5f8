// worker_desk: what each publisher of a worker has for itself: a connection, and a thread that makes its long
// calls on it. While one settles, the other claims, and Kafka takes a third chunk's records.
#include "publish/worker_private.h"

#include <stddef.h>
#include "async/mailbox.h"
#include "async/thread.h"

// One call at a time, so one of each is enough and no put ever waits.
static void
serve(void *context)
{
    struct links *desk = context;
    while (mailbox_take(desk->calls, -1)) {
        desk->call(desk->argument);
        mailbox_put(desk->answers, desk, -1);
    }
}

bool
desk_open(struct links *desk, const struct links *links, const struct store_settings *settings,
          struct err *err)
{
    *desk = *links;
    desk->store = NULL;
    if (!store_open(&desk->store, settings, err))
        return false;
    desk->calls = mailbox_create(1);
    desk->answers = mailbox_create(1);
    desk->thread = thread_start(serve, desk, "ledger");
    return true;
}

void
desk_close(struct links *desk)
{
    if (desk->calls)
        mailbox_close(desk->calls);
    thread_join(desk->thread);
    mailbox_destroy(desk->calls, NULL);
    mailbox_destroy(desk->answers, NULL);
    store_close(desk->store);
    *desk = (struct links){0};
}

void
desk_aside(void *context, void (*call)(void *argument), void *argument)
{
    struct links *desk = context;
    desk->call = call;
    desk->argument = argument;
    desk->is_away = true;
    mailbox_put(desk->calls, desk, -1);
}

bool
desk_is_back(void *context, int wait_ms)
{
    struct links *desk = context;
    desk->is_away = !mailbox_take(desk->answers, (int64_t)wait_ms * 1000);
    return !desk->is_away;
}

bool
desk_is_connected(const struct links *desk)
{
    return !desk->store || desk->is_away || store_is_connected(desk->store);
}
