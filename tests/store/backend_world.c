#include "backend_world.h"

#include "base/alloc.h"

void
bench_prepare(struct bench *bench, int events)
{
    *bench = (struct bench){0};
    world_make(&bench->world, events);
    bench->rules = category_rules_create(NULL, NULL);
    bench->settings = (struct backend_settings){
        .store = {.conninfo = bench->world.conninfo,
                  .table = "public.dlq_events",
                  .program = "test",
                  .rules = bench->rules},
        .refresh_us = 100000,
    };
    bench->requests = mailbox_create(256);
    bench->replies = mailbox_create(64);
}

void
bench_begin(struct bench *bench, int events)
{
    bench_prepare(bench, events);
    bench->backend = backend_start(&bench->settings, bench->requests, bench->replies);
}

void
bench_end(struct bench *bench)
{
    backend_stop(bench->backend);
    mailbox_destroy(bench->requests, request_drop);
    mailbox_destroy(bench->replies, reply_drop);
    category_rules_destroy(bench->rules);
    world_end(&bench->world);
}

uint64_t
bench_ask(struct bench *bench, struct request *request)
{
    uint64_t number = ++bench->numbers;
    request->number = number;
    assert_true(mailbox_put(bench->requests, request, 0)); // it is the backend's from here on
    return number;
}

struct reply *
bench_await(struct bench *bench, wanted_fn *wanted, const void *context)
{
    int64_t until = clock_mono() + PATIENCE;
    while (clock_mono() < until) {
        struct reply *reply = mailbox_take(bench->replies, until - clock_mono());
        if (reply && wanted(reply, context))
            return reply;
        reply_destroy(reply);
    }
    fail_msg("the reply that was waited for did not come");
    return NULL;
}

bool
is_answer(const struct reply *reply, const void *context)
{
    return reply->number == *(const uint64_t *)context;
}

struct reply *
bench_answer(struct bench *bench, struct request *request)
{
    uint64_t number = bench_ask(bench, request);
    return bench_await(bench, is_answer, &number);
}

bool
has_count(const struct reply *reply, const void *context)
{
    return reply->kind == REPLY_GROUPS && reply->is_last &&
           reply->groups.list.events == *(const int64_t *)context;
}

struct reply *
bench_await_count(struct bench *bench, int64_t events)
{
    return bench_await(bench, has_count, &events);
}

void
bench_watch_groups(struct bench *bench)
{
    struct request *request = request_create(REQUEST_GROUPS);
    request->groups.pivot = PIVOT_ERROR;
    bench_ask(bench, request);
}
