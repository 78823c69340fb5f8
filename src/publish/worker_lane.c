// The part of a publisher's endpoints that is its own: a lane (async/lane) that makes its long calls to
// PostgreSQL. While one publisher finishes a chunk, another claims one, and Kafka takes the records of a
// third.
#include "publish/worker_private.h"

#include "async/lane.h"

#define CONNECT_MS 50 // between two signs while it connects

// One call at a time, so one place in each queue is enough and no put ever waits.
static void
make_call(struct lane *lane, void *given)
{
    struct endpoints *endpoints = given;
    endpoints->call(endpoints->argument);
    (void)!lane_put(lane, endpoints);
}

static void
call_connect(void *argument)
{
    struct endpoints *own = argument;
    (void)!store_connect(own->store, &own->failure);
}

void
endpoints_open_lane(struct endpoints *own, const struct endpoints *shared,
                    const struct store_settings *settings)
{
    *own = *shared;
    own->failure = (struct err){0};
    own->store = store_create(settings);
    // Without interrupt: a call that began is always finished.
    own->lane = lane_create(&(struct lane_settings){.name = "ledger",
                                                    .work = make_call,
                                                    .connection = own->store,
                                                    .close = store_lane_close,
                                                    .jobs = 1,
                                                    .results = 1});
    endpoints_start(own, call_connect, own);
}

bool
endpoints_await_lane(struct endpoints *own, struct err *err)
{
    while (!endpoints_is_done(own, CONNECT_MS))
        (void)own->tick(own->tick_context);
    return !err_is_set(&own->failure) || err_set(err, own->failure.kind, "%s", own->failure.text);
}

void
endpoints_close_lane(struct endpoints *own)
{
    if (own->is_running)
        (void)!lane_take(own->lane, -1);
    lane_destroy(own->lane);
    *own = (struct endpoints){0};
}

void
endpoints_start(void *context, void (*call)(void *argument), void *argument)
{
    struct endpoints *own = context;
    own->call = call;
    own->argument = argument;
    own->is_running = lane_give(own->lane, own, -1);
}

bool
endpoints_is_done(void *context, int wait_ms)
{
    struct endpoints *own = context;
    own->is_running = !lane_take(own->lane, (int64_t)wait_ms * 1000);
    return !own->is_running;
}

bool
endpoints_is_connected(const struct endpoints *own)
{
    return !own->store || own->is_running || store_is_connected(own->store);
}
