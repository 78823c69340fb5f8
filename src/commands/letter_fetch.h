// letter_fetch: dead letters that `ingest --explain` reads from Kafka: one at its place, or the newest.
#ifndef REDRIVE_COMMANDS_LETTER_FETCH_H
#define REDRIVE_COMMANDS_LETTER_FETCH_H

#include "base/arena.h"
#include "commands/cli/command.h"
#include "core/envelope/envelope.h"

struct letter_place {
    const char *topic;
    int32_t partition; // -1: every one
    int64_t offset;    // -1: the newest record
};

// Reads TOPIC[:PARTITION[:OFFSET]]. false: it is something else, as the name of a file.
bool letter_place_read(const char *text, struct arena *arena, struct letter_place *place);

// Only reads, with no consumer group: nothing of the cluster changes. Records live in the arena. Transactions
// leave marks in a partition, so the newest record is looked for among the last few offsets. ERR_NOT_FOUND:
// there is none, and the sentence says why.
bool letter_fetch(struct call *call, const struct letter_place *place, struct arena *arena,
                  struct envelope_record **records, size_t *count, struct err *err) MUST_CHECK;

#endif
