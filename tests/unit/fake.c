#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/unit/fake.h"

uint64_t
fake_chance(struct fake *fake, uint64_t below)
{
    fake->state ^= fake->state << 13;
    fake->state ^= fake->state >> 7;
    fake->state ^= fake->state << 17;
    return fake->state % below;
}

enum fault
fake_fault(struct fake *fake)
{
    if ((int)fake_chance(fake, 100) >= fake->fault_percent)
        return NO_FAULT;
    return fake_chance(fake, 2) ? FAULT_BEFORE : FAULT_AFTER;
}

bool
fake_lost(struct err *err)
{
    return err_set(err, ERR_UNREACHABLE, "no answer");
}

struct fake *
fake_of(void *context)
{
    return ((struct process *)context)->fake;
}

void
fake_check_invariants(struct fake *fake)
{
    for (int64_t id = 1; id <= FAKE_ITEMS; id++) {
        const struct item *item = &fake->items[id];
        if (item->copies > 1)
            fail_msg("seed %llu: event %lld was published %d times", (unsigned long long)fake->seed,
                     (long long)id, item->copies);
        if (item->fate == DONE && item->copies != 1)
            fail_msg("seed %llu: event %lld is done and was not published", (unsigned long long)fake->seed,
                     (long long)id);
        if ((item->fate == QUEUED || item->fate == REFUSED) && item->copies)
            fail_msg("seed %llu: event %lld is open again and was published", (unsigned long long)fake->seed,
                     (long long)id);
    }
}

static int64_t
fake_mono(void *context)
{
    return fake_of(context)->now += 1000;
}

static void
fake_sleep(void *context, int64_t us)
{
    fake_of(context)->now += us;
}

static void
fake_uuid(void *context, char out[UUID_TEXT])
{
    snprintf(out, UUID_TEXT, "chunk-%lld", (long long)++fake_of(context)->chunks);
}

static int64_t
fake_random(void *context)
{
    return (int64_t)fake_chance(fake_of(context), INT64_MAX);
}

static void
fake_start(void *context, void (*call)(void *argument), void *argument)
{
    struct process *process = context;
    process->call = call;
    process->argument = argument;
}

// It takes effect when it comes back; what others do meanwhile came first.
static bool
fake_is_done(void *context, int wait_ms)
{
    (void)wait_ms;
    struct process *process = context;
    if (fake_chance(fake_of(context), 3) == 0)
        return false;
    process->call(process->argument);
    return true;
}

static const struct publisher_world clockwork = {
    .mono = fake_mono,
    .sleep = fake_sleep,
    .uuid = fake_uuid,
    .random = fake_random,
    .start = fake_start,
    .is_done = fake_is_done,
};

void
fake_begin_run(struct fake *fake, uint64_t seed)
{
    *fake = (struct fake){.seed = seed,
                          .state = seed * 2654435761u + 88172645463325252u,
                          .is_transactional = true,
                          .has_forbidden = true};
    for (int32_t i = 0; i < FAKE_SLOTS; i++) {
        fake->slots[i].pg.no = i;
        fake_rename_slot(&fake->slots[i]);
    }
}

void
process_start(struct process *process, struct fake *fake)
{
    static const struct plan_settings plan;
    static int64_t starts;
    process->fake = fake;
    snprintf(process->name, sizeof process->name, "worker-%lld", (long long)++starts);
    const struct publisher_settings settings = {
        .ledger = &fake_ledger,
        .broker = &fake_broker,
        .world = &clockwork,
        .context = process,
        .plan = &plan,
        .is_transactional = fake->is_transactional,
    };
    process->publisher = publisher_create(&settings);
}

enum publisher_status
process_step(struct process *process, struct err *err)
{
    enum publisher_status status = publisher_step(process->publisher, NULL, 0, 10, err);
    if (status == PUBLISHER_READY)
        publisher_assign(process->publisher, 1, 1 + fake_chance(process->fake, 7));
    return status;
}

bool
fake_is_finished(const struct fake *fake)
{
    for (int64_t id = 1; id <= FAKE_ITEMS; id++)
        if (fake->items[id].fate == QUEUED || fake->items[id].fate == CLAIMED)
            return false;
    return true;
}

void
fake_run_out(struct fake *fake)
{
    struct process last;
    struct err err = {0};
    fake->fault_percent = 0;
    fake->expiry_percent = 100;
    process_start(&last, fake);
    for (int i = 0; i < 20000 && !fake_is_finished(fake); i++) {
        // What is left is on slots of the dead, as the worker would find out.
        if (process_step(&last, &err) == PUBLISHER_EMPTY)
            assert_true(publisher_release(last.publisher, &err));
        fake_deliver_late(fake);
        fake_check_invariants(fake);
    }
    publisher_destroy(last.publisher);
    if (!fake_is_finished(fake))
        fail_msg("seed %llu: it does not come to an end", (unsigned long long)fake->seed);
}
