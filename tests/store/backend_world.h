// backend_world: the screen's backend on a database of its own, with the test in the screen's place.
#ifndef REDRIVE_TESTS_STORE_BACKEND_WORLD_H
#define REDRIVE_TESTS_STORE_BACKEND_WORLD_H

#include "async/mailbox.h"
#include "async/message.h"
#include "backend/backend.h"
#include "world.h"

#define PATIENCE (60 * US_PER_SECOND) // with what is waited for

struct bench {
    struct world world;
    struct mailbox *requests, *replies;
    struct backend *backend;
    struct backend_settings settings;
    struct category_rules *rules;
    uint64_t numbers;
};

// A database with so many events, and all but the backend: it starts with the settings as they then are.
void bench_prepare(struct bench *bench, int events);
void bench_begin(struct bench *bench, int events); // with the backend
void bench_end(struct bench *bench);

// Hands a request over; returns its number.
uint64_t bench_ask(struct bench *bench, struct request *request);

// The next reply that is wanted; others are dropped. Fails the test when none comes. The caller destroys it.
typedef bool wanted_fn(const struct reply *reply, const void *context);
struct reply *bench_await(struct bench *bench, wanted_fn *wanted, const void *context);
// What is wanted: a reply to the uint64_t request; groups of int64_t events, all of them.
wanted_fn is_answer, has_count;
struct reply *bench_answer(struct bench *bench, struct request *request);
struct reply *bench_await_count(struct bench *bench, int64_t events);

// Asks for the groups, as a screen does on which they stand.
void bench_watch_groups(struct bench *bench);

#endif
