// chunk: the letters of one transaction, as they are read.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "ingest/private.h"

#define TELL_TROUBLE_EVERY (10 * US_PER_SECOND)
// Then a chunk that is not full is written too, while other partitions give more and more.
#define OLDEST (US_PER_SECOND / 2)
enum { ENOUGH_LETTERS = 2000 }; // for a writer that waits

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
    struct chunk *chunk = &reading->chunks[part->writer];
    struct ingest_letter *letter = &chunk->letters[chunk->letter_count++];
    const struct letter_place place = {.cluster = reading->cluster,
                                       .topic = part->position.topic,
                                       .generation = part->position.generation,
                                       .rule = part->rule,
                                       .find_schema = schema_cache_find,
                                       .find_context = reading->schemas};
    struct arena_mark mark = arena_mark(&reading->read_arena);
    letter_read(&item->record, &place, &reading->read_arena, letter);
    letter_keep(letter, &item->record, &chunk->arena);
    arena_rewind(&reading->read_arena, mark);
    part->to = item->offset + 1;
    part->last_offset = item->offset;
    part->last_crc = letter->crc;
    chunk->bytes += size_of(&item->record);
    chunk->has_moved = true;
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
    reading->chunks[part->writer].has_moved = true;
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

// The item's bytes stay as long as the chunk that has its letter.
static void
keep_message(struct reading *reading, const struct tail_item *item)
{
    size_t writer = item->at < reading->part_count ? reading->parts[item->at].writer : 0;
    struct chunk *chunk = &reading->chunks[writer];
    if (chunk->message_count == 0)
        chunk->begun_at = clock_mono();
    chunk->messages[chunk->message_count++] = item->message;
}

static size_t
bytes_left(const struct reading *reading)
{
    size_t most = CHUNK_BYTES / reading->writer_count, left = most;
    for (size_t i = 0; i < reading->writer_count; i++) {
        size_t bytes = reading->chunks[i].bytes;
        size_t of_this = bytes < most ? most - bytes : 1;
        left = of_this < left ? of_this : left;
    }
    return left;
}

static bool
has_room(const struct reading *reading, const struct chunk *chunk, size_t letters)
{
    return chunk->message_count < letters && chunk->bytes < CHUNK_BYTES / reading->writer_count;
}

enum chunk_due
chunk_is_due(const struct reading *reading, size_t writer)
{
    const struct chunk *chunk = &reading->chunks[writer];
    if (reading->is_drained || reading->wants_assign || !has_room(reading, chunk, CHUNK_LETTERS))
        return CHUNK_DUE;
    bool is_enough = !has_room(reading, chunk, ENOUGH_LETTERS) ||
                     (chunk->message_count > 0 && clock_mono() - chunk->begun_at > OLDEST);
    return is_enough ? CHUNK_ENOUGH : CHUNK_SMALL;
}

static void
make_room(struct reading *reading)
{
    if (!reading->items)
        reading->items = alloc_array(READ_ROOM, sizeof *reading->items);
    for (size_t i = 0; i < reading->writer_count; i++) {
        struct chunk *chunk = &reading->chunks[i];
        if (chunk->messages)
            continue;
        chunk->messages = alloc_array(CHUNK_LETTERS + READ_ROOM, sizeof *chunk->messages);
        chunk->letters = alloc_array(CHUNK_LETTERS + READ_ROOM, sizeof *chunk->letters);
    }
}

bool
chunks_read(struct reading *reading, bool *is_full, struct err *err)
{
    enum { WAIT_MS = 100 };
    make_room(reading);
    schema_cache_begin(reading->schemas, reading->store);
    arena_reset(&reading->read_arena);
    size_t count = tail_read(reading->tail, WAIT_MS, &reading->read_arena, reading->items, READ_ROOM,
                             bytes_left(reading));
    for (size_t i = 0; i < count; i++)
        keep_message(reading, &reading->items[i]);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = take_item(reading, &reading->items[i], err);
    // Less than was asked for: there is no more at the moment, so nobody waits for the rest.
    reading->is_drained = count < READ_ROOM;
    *is_full = false;
    for (size_t i = 0; i < reading->writer_count; i++)
        *is_full = chunk_is_due(reading, i) != CHUNK_SMALL || *is_full;
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
chunk_drop(struct reading *reading, size_t writer)
{
    chunk_empty(&reading->chunks[writer]);
    for (size_t i = 0; i < reading->part_count; i++) {
        struct part *part = &reading->parts[i];
        if (part->writer != writer)
            continue;
        part->to = -1;
        part->last_offset = -1;
    }
}

void
chunks_drop(struct reading *reading)
{
    for (size_t i = 0; i < WRITERS; i++)
        chunk_drop(reading, i);
}
