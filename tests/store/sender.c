#include "sender.h"

int
sender_set(void **state)
{
    struct sender *sender = *state;
    world_make(&sender->world, 300);
    assert_works(worker_beat(sender->world.store, "w", true, "idle", 0, &err));
    assert_works(slot_acquire(sender->world.store, "kafka-1", "w", NULL, 0, &sender->slot, &err));
    return 0;
}

int
sender_clear(void **state)
{
    struct sender *sender = *state;
    world_end(&sender->world);
    return 0;
}

struct slot
sender_another_slot(struct sender *sender)
{
    struct slot other;
    assert_works(slot_acquire(sender->world.store, "kafka-1", "w", &sender->slot.no, 1, &other, &err));
    return other;
}

int64_t
sender_ask(struct sender *sender, const struct send_plan *plan, int64_t first, int64_t last)
{
    int64_t ids[300];
    size_t count = 0;
    for (int64_t id = first; id <= last; id++)
        ids[count++] = id;
    struct operation_request request = {.action = ACTION_REPROCESS,
                                        .ids = ids,
                                        .count = count,
                                        .scope = "a test",
                                        .rate = RATE_UNLIMITED,
                                        .plan = *plan};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(sender->world.admin));
    int64_t no = 0;
    assert_works(operation_create(sender->world.store, &request, NULL, NULL, &no, &err));
    return no;
}

struct work
sender_look(struct sender *sender, int64_t no)
{
    struct work work = {0};
    struct err err = {0};
    if (!work_next(sender->world.store, "w", true, NULL, 0, &sender->world.arena, &work, &err) &&
        err.kind != ERR_NOT_FOUND)
        fail_msg("%s", err.text);
    if (work.no)
        assert_int_equal(work.no, no);
    return work;
}

struct claim
sender_claim_with(struct sender *sender, struct slot *with, int64_t no, size_t limit)
{
    return next_claim(&sender->world, with, no, limit);
}

struct claim
sender_claim(struct sender *sender, int64_t no)
{
    return sender_claim_with(sender, &sender->slot, no, 1000);
}

size_t
sender_send(struct sender *sender, int64_t no)
{
    struct claim some = sender_claim(sender, no);
    if (some.count)
        assert_works(
            chunk_finish(sender->world.store, &sender->slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    return some.count;
}

void
sender_fail_again(struct sender *sender, int first, int last)
{
    test_sql(sender->world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at)"
             " SELECT event_id, 'order.created', '{}', 'again', clock_timestamp()::timestamp FROM "
             "redrive.item WHERE state = 'done' OR dlq_id IN (SELECT unnest(dlq_ids) FROM "
             "redrive.chunk WHERE state = 'claimed') ORDER BY source, source_offset, dlq_id"
             " OFFSET %d LIMIT %d",
             first - 1, last - first + 1);
}
