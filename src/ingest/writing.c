// writing: chunks are written by threads of their own while the next ones are read, so that neither
// PostgreSQL nor the program waits for the other. A writer has one chunk at a time, of its own partitions.
// Its store is not used by anybody else meanwhile, and what was read since is forgotten where it fails.
//
// What writers write beside each other must not have an identity in common: each would find that there is no
// event of it yet, and make one. Then one of them waits for the other.
#include <string.h>
#include "async/lane.h"
#include "base/clock.h"
#include "base/log.h"
#include "ingest/private.h"

// Where further attempts come, or what the table refuses, more of them do: to try each chunk as new events
// first would be work done twice.
enum { MIXED_CHUNKS = 15 };
// Arrays lie in memory whole, here and several times in the server: not those of a record of a hundred
// megabytes.
enum { ARRAY_BYTES = 8 << 20 };

static void
write_chunk(struct lane *lane, void *job)
{
    struct writing *writing = job;
    const struct chunk *chunk = &writing->chunk;
    const struct ingest_chunk letters = {.letters = chunk->letters,
                                         .letter_count = chunk->letter_count,
                                         .stretches = writing->stretches,
                                         .stretch_count = writing->stretch_count,
                                         .is_mixed = writing->mixed_chunks > 0 || chunk->bytes > ARRAY_BYTES,
                                         .arrays = writing->arrays};
    writing->is_written =
        ingest_take(writing->store, &writing->ingester, &letters, &writing->taken, &writing->err);
    if (letters.is_mixed)
        writing->mixed_chunks -= writing->mixed_chunks > 0;
    else if (writing->is_written && writing->taken.was_staged)
        writing->mixed_chunks = MIXED_CHUNKS;
    (void)!lane_put(lane, writing);
}

static void
wait_for_it(void *context)
{
    struct writing *writing = context;
    if (writing->is_under_way && !writing->is_over)
        writing->is_over = lane_take(writing->lane, -1) != NULL;
}

void
writing_begin(struct reading *reading)
{
    reading->writer_count = 1;
    for (size_t i = 0; i < WRITERS; i++)
        reading->writings[i].lane = lane_create(
            &(struct lane_settings){.name = "writer", .work = write_chunk, .jobs = 1, .results = 1});
    schema_cache_before_asking(reading->schemas, wait_for_it, &reading->writings[0]);
}

void
writing_end(struct reading *reading)
{
    for (size_t i = 0; i < WRITERS; i++) {
        lane_destroy(reading->writings[i].lane);
        ingest_arrays_free(reading->writings[i].arrays);
        ingest_arrays_free(reading->writings[i].used);
        chunk_release(&reading->writings[i].chunk);
    }
}

static bool
is_busy(struct writing *writing)
{
    if (writing->is_under_way && !writing->is_over)
        writing->is_over = lane_take(writing->lane, 0) != NULL;
    return writing->is_under_way && !writing->is_over;
}

bool
writing_is_under_way(const struct reading *reading)
{
    bool is = false;
    for (size_t i = 0; i < WRITERS; i++)
        is = is || reading->writings[i].is_under_way;
    return is;
}

// Those of two chunks take turns: the memory of new ones would be given by the system page by page.
static void
keep_used(struct writing *writing, struct ingest_arrays *arrays)
{
    if (!arrays)
        return;
    ingest_arrays_free(writing->used);
    writing->used = arrays;
}

static bool
finish(struct reading *reading, struct writing *writing, struct err *err)
{
    if (!writing->is_under_way)
        return true;
    wait_for_it(writing);
    writing->is_under_way = false;
    writing->expects_mixed = writing->mixed_chunks > 0;
    keep_used(writing, writing->arrays);
    writing->arrays = NULL;
    if (!writing->is_written) {
        *err = writing->err;
        return false;
    }
    reading->report->events += writing->taken.events;
    reading->report->attempts += writing->taken.attempts;
    reading->report->unfit += writing->taken.unfit;
    if (writing->taken.unfit > 0)
        log_line(LOG_WARN, "the table of dead letters refuses some: they are kept in redrive.unfit",
                 LOG_INT("letters", writing->taken.unfit));
    reading->times.moved_at = clock_mono();
    return true;
}

bool
writing_finish(struct reading *reading, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < WRITERS; i++)
        ok = finish(reading, &reading->writings[i], err) && ok;
    return ok;
}

// Moves what the program knows to where PostgreSQL is once the chunk is written.
static void
move_on(struct reading *reading, size_t writer)
{
    for (size_t i = 0; i < reading->part_count; i++) {
        struct part *part = &reading->parts[i];
        if (part->to < 0 || part->writer != writer)
            continue;
        part->position.next = part->to;
        if (part->last_offset >= 0) {
            part->position.last_offset = part->last_offset;
            part->position.last_crc = part->last_crc;
        }
    }
}

static void
count_dry(struct reading *reading)
{
    struct ingest_report *report = reading->report;
    for (size_t i = 0; i < reading->chunks[0].letter_count; i++) {
        const struct ingest_letter *letter = &reading->chunks[0].letters[i];
        size_t at = 0;
        while (at < report->count_count && (strcmp(report->counts[at].topic, letter->topic) != 0 ||
                                            strcmp(report->counts[at].format, letter->format) != 0))
            at++;
        if (at == report->count_count) {
            struct ingest_count *more = arena_array(reading->arena, at + 1, sizeof *more);
            if (at > 0)
                memcpy(more, report->counts, at * sizeof *more);
            more[at] = (struct ingest_count){.topic = arena_text(reading->arena, bytes_of(letter->topic)),
                                             .format = letter->format};
            report->counts = more;
            report->count_count++;
        }
        report->counts[at].letters++;
    }
    report->events += (int64_t)reading->chunks[0].letter_count;
}

// What is read and not being written yet, made ready while the chunk before it is.
struct next_chunk {
    struct ingest_stretch *stretches;
    size_t stretch_count;
    struct ingest_arrays *arrays;
};

static void
add_stretches(const struct reading *reading, size_t writer, struct next_chunk *next, struct arena *arena)
{
    next->stretches = arena_array(arena, reading->part_count, sizeof *next->stretches);
    for (size_t i = 0; i < reading->part_count; i++) {
        const struct part *part = &reading->parts[i];
        if (part->to >= 0 && part->writer == writer)
            next->stretches[next->stretch_count++] =
                (struct ingest_stretch){.topic = part->position.topic,
                                        .partition = part->position.partition,
                                        .from = part->position.next,
                                        .to = part->to,
                                        .last_offset = part->last_offset,
                                        .last_crc = part->last_crc};
    }
}

static struct next_chunk
make_ready(struct reading *reading, size_t writer)
{
    struct next_chunk next = {0};
    struct chunk *chunk = &reading->chunks[writer];
    if (!chunk->has_moved || reading->settings->mode == INGEST_DRY)
        return next;
    add_stretches(reading, writer, &next, &chunk->arena);
    const struct ingest_chunk letters = {.letters = chunk->letters,
                                         .letter_count = chunk->letter_count,
                                         .stretches = next.stretches,
                                         .stretch_count = next.stretch_count};
    struct writing *writing = &reading->writings[writer];
    if (chunk->letter_count > 0 && chunk->bytes <= ARRAY_BYTES && !writing->expects_mixed) {
        next.arrays = ingest_arrays_make(&letters, writing->used);
        writing->used = NULL;
    }
    return next;
}

// May a letter of the one be the same event as one of the other? Without arrays nobody has compared them.
static bool
may_meet(const struct chunk *chunk, const struct ingest_arrays *arrays, const struct writing *other)
{
    if (!other->is_under_way || chunk->letter_count == 0 || other->chunk.letter_count == 0)
        return false;
    return !arrays || !other->arrays || ingest_arrays_meet(arrays, other->arrays);
}

static bool
start_writing(struct reading *reading, size_t writer, const struct next_chunk *next, struct err *err)
{
    struct writing *writing = &reading->writings[writer];
    struct chunk *chunk = &reading->chunks[writer];
    for (size_t i = 0; i < WRITERS; i++)
        if (may_meet(chunk, next->arrays, &reading->writings[i]) &&
            !finish(reading, &reading->writings[i], err)) {
            keep_used(writing, next->arrays);
            return false;
        }
    struct chunk written = writing->chunk;
    writing->stretches = next->stretches;
    writing->stretch_count = next->stretch_count;
    writing->arrays = next->arrays;
    move_on(reading, writer);
    writing->chunk = *chunk;
    *chunk = written;
    writing->store = writer == 0 ? reading->store : reading->beside;
    writing->ingester = reading->ingester;
    writing->taken = (struct ingest_taken){0};
    writing->err = (struct err){0};
    writing->is_over = false;
    writing->is_under_way = lane_give(writing->lane, writing, -1);
    chunk_drop(reading, writer); // PostgreSQL does not wait for that
    return writing->is_under_way || err_set(err, ERR_INTERNAL, "the thread that writes has ended");
}

static bool
take(struct reading *reading, size_t writer, struct err *err)
{
    struct next_chunk next = make_ready(reading, writer);
    bool ok = finish(reading, &reading->writings[writer], err);
    if (!ok || !reading->chunks[writer].has_moved) {
        keep_used(&reading->writings[writer], next.arrays);
        chunk_empty(&reading->writings[writer].chunk);
        chunk_drop(reading, writer);
    } else if (reading->settings->mode == INGEST_DRY) {
        count_dry(reading);
        move_on(reading, writer);
        reading->times.moved_at = clock_mono();
        chunk_drop(reading, writer);
    } else {
        ok = start_writing(reading, writer, &next, err);
    }
    return ok;
}

// What a writer that is free takes: also little, where nothing can be read anyway.
static bool
take_if_due(struct reading *reading, size_t writer, bool takes_little, struct err *err)
{
    const struct chunk *chunk = &reading->chunks[writer];
    bool is_due = chunk_is_due(reading, writer) != CHUNK_SMALL || (takes_little && chunk->has_moved);
    return is_due ? take(reading, writer, err) : finish(reading, &reading->writings[writer], err);
}

// *awaited: a writer whose chunk has no room left; NULL: there is none.
static bool
take_due(struct reading *reading, bool takes_little, struct writing **awaited, struct err *err)
{
    bool ok = true;
    *awaited = NULL;
    for (size_t i = 0; ok && i < reading->writer_count; i++) {
        struct writing *writing = &reading->writings[i];
        const struct chunk *chunk = &reading->chunks[i];
        bool is_empty = chunk->message_count == 0 && !chunk->has_moved;
        if (!is_busy(writing))
            ok = take_if_due(reading, i, takes_little, err);
        else if (!is_empty && chunk_is_due(reading, i) == CHUNK_DUE)
            *awaited = writing;
    }
    return ok;
}

bool
chunks_take(struct reading *reading, struct err *err)
{
    enum { LOOK_EVERY = 1000 }; // us
    struct writing *awaited = NULL;
    bool ok;
    while ((ok = take_due(reading, awaited != NULL, &awaited, err)) && awaited)
        awaited->is_over = lane_take(awaited->lane, LOOK_EVERY) != NULL;
    return ok;
}
