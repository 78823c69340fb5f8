// sender: a worker of a test that sends without Kafka: it asks for a reprocess, claims and settles as one
// would who has read its marker back. 300 pending events, one slot of cluster kafka-1.
#ifndef REDRIVE_TESTS_STORE_SENDER_H
#define REDRIVE_TESTS_STORE_SENDER_H

#include "world.h"

struct sender {
    struct world world;
    struct slot slot;
};

// A test on the file's own `sender`, a new one for each.
#define sent(test) cmocka_unit_test_prestate_setup_teardown(test, sender_set, sender_clear, &sender)
int sender_set(void **sender);
int sender_clear(void **sender);
struct slot sender_another_slot(struct sender *sender);

// A reprocess of the events from first to last; its number.
int64_t sender_ask(struct sender *sender, const struct send_plan *plan, int64_t first, int64_t last);
// Is there something to do now? Where there is, it is for this operation.
struct work sender_look(struct sender *sender, int64_t no);
struct claim sender_claim(struct sender *sender, int64_t no);
struct claim sender_claim_with(struct sender *sender, struct slot *with, int64_t no, size_t limit);
// Claims and settles as published what may be sent now; how many they were.
size_t sender_send(struct sender *sender, int64_t no);
// Of what was sent, or is in flight, these fail again (from 1, in the order of sending): a consumer writes a
// new row under the same event id.
void sender_fail_again(struct sender *sender, int first, int last);

#endif
