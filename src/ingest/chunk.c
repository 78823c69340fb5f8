// chunk: the letters of one transaction, as they are read.
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "ingest/private.h"

#define TELL_TROUBLE_EVERY (10 * US_PER_SECOND)

// Is it the record that was taken in last? Where another one is at its offset, the partition is looked at
// again from its beginning (begin.c).
static void
check_last(struct reading *reading, struct part *part, const struct tail_item *item)
{
    part->is_checked = true;
    part->is_changed =
        item->offset == part->position.last_offset && letter_crc(&item->record) != part->position.last_crc;
    if (part->is_changed)
        reading->wants_assign = true;
}

// Headers too: those with a stack trace are larger than most values.
static size_t
size_of(const struct envelope_record *record)
{
    size_t size = record->value.len + record->key.len;
    for (size_t i = 0; i < record->header_count; i++)
        size += record->headers[i].name.len + record->headers[i].value.len;
    return size;
}

static void
take_record(struct reading *reading, struct part *part, const struct tail_item *item)
{
    int64_t next = part->to >= 0 ? part->to : part->position.next;
    if (item->offset < next)
        return;
    struct ingest_letter *letter = &reading->chunk.letters[reading->chunk.letter_count++];
    const struct letter_place place = {.cluster = reading->cluster,
                                       .topic = part->position.topic,
                                       .generation = part->position.generation,
                                       .rule = part->rule,
                                       .find_schema = schema_cache_find,
                                       .find_context = reading->schemas};
    letter_read(&item->record, &place, &reading->chunk.arena, letter);
    part->to = item->offset + 1;
    part->last_offset = item->offset;
    part->last_crc = letter->crc;
    reading->chunk.bytes += size_of(&item->record);
    reading->chunk.has_moved = true;
}

// What stands before the end and is no record (marks of transactions) is passed, lest retention make a hole
// of it.
static void
reach_end(struct reading *reading, struct part *part, int64_t end)
{
    int64_t next = part->to >= 0 ? part->to : part->position.next;
    part->end = end;
    part->is_checked = true;
    if (part->target < 0)
        part->target = end;
    if (end <= next)
        return;
    part->to = end;
    reading->chunk.has_moved = true;
}

static bool
tell_trouble(struct reading *reading, const struct err *trouble, struct err *err)
{
    bool is_lasting = trouble->kind == ERR_DENIED;
    if (is_lasting && reading->settings->mode != INGEST_SERVICE)
        return err_set(err, ERR_DENIED, "%s; needed is Read on the topics and on the group", trouble->text);
    if (clock_mono() - reading->times.told_trouble < TELL_TROUBLE_EVERY)
        return true;
    reading->times.told_trouble = clock_mono();
    log_line(LOG_WARN, "Kafka gives nothing at the moment", LOG_TEXT("why", trouble->text));
    return true;
}

static bool
take_item(struct reading *reading, const struct tail_item *item, struct err *err)
{
    struct part *part = item->at < reading->part_count ? &reading->parts[item->at] : NULL;
    switch (item->kind) {
    case TAIL_RECORD:
        if (!part || reading->wants_assign)
            return true;
        if (!part->is_checked)
            check_last(reading, part, item);
        if (!reading->wants_assign)
            take_record(reading, part, item);
        return true;
    case TAIL_END:
        if (part && !reading->wants_assign)
            reach_end(reading, part, item->offset);
        return true;
    case TAIL_OUT_OF_RANGE:
    case TAIL_GONE:
        reading->wants_assign = true;
        return true;
    case TAIL_TROUBLE:
        return tell_trouble(reading, &item->err, err);
    }
    return true;
}

bool
chunk_read(struct reading *reading, bool *is_full, struct err *err)
{
    enum { WAIT_MS = 100 };
    struct chunk *chunk = &reading->chunk;
    if (!reading->items)
        reading->items = alloc_array(READ_ROOM, sizeof *reading->items);
    if (!chunk->messages) {
        chunk->messages = alloc_array(CHUNK_LETTERS + READ_ROOM, sizeof *chunk->messages);
        chunk->letters = alloc_array(CHUNK_LETTERS + READ_ROOM, sizeof *chunk->letters);
    }
    schema_cache_begin(reading->schemas, reading->store);
    size_t bytes = chunk->bytes < CHUNK_BYTES ? CHUNK_BYTES - chunk->bytes : 1;
    size_t count = tail_read(reading->tail, WAIT_MS, &chunk->arena, reading->items, READ_ROOM, bytes);
    for (size_t i = 0; i < count; i++)
        chunk->messages[chunk->message_count++] = reading->items[i].message;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = take_item(reading, &reading->items[i], err);
    // Less than was asked for: there is no more at the moment, so nobody waits for the rest.
    *is_full = count < READ_ROOM || chunk->message_count >= CHUNK_LETTERS || chunk->bytes >= CHUNK_BYTES ||
               reading->wants_assign;
    return ok;
}

void
chunk_empty(struct chunk *chunk)
{
    tail_free(chunk->messages, chunk->message_count);
    arena_reset(&chunk->arena);
    chunk->message_count = chunk->letter_count = chunk->bytes = 0;
    chunk->has_moved = false;
}

void
chunk_release(struct chunk *chunk)
{
    free(chunk->messages);
    free(chunk->letters);
    arena_release(&chunk->arena);
}

void
chunk_drop(struct reading *reading)
{
    chunk_empty(&reading->chunk);
    for (size_t i = 0; i < reading->part_count; i++) {
        reading->parts[i].to = -1;
        reading->parts[i].last_offset = -1;
    }
}
