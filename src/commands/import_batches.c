#include "commands/import_batches.h"

#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "store/ingest/import.h"

// Of one part. Rows are many, because each batch looks for its event ids in the whole table where they have
// no index.
enum { MOST_ROWS = 20000, MOST_BYTES = 16 << 20 };

struct part {
    struct store *store;
    struct import_batch batch;
    struct import_row *rows;
    int64_t *lines; // of each row
    struct arena arena;
    struct import_taken taken; // in the arena
    bool is_under_way, is_taken;
    struct err err;
};

// What is read and inserted at a time.
struct load {
    struct arena arena; // of the rows
    struct part parts[IMPORT_PARTS];
    size_t bytes; // of its lines
    bool is_divided;
};

struct import_batches {
    struct import_batches_settings settings;
    struct store *other; // NULL: not opened, or not to be had
    bool was_opened;
    struct lane *lanes[IMPORT_PARTS];
    struct load loads[2]; // one is filled while the other one is inserted
    size_t filled;
    struct import_counts counts;
};

static void
take_part(struct lane *lane, void *job)
{
    struct part *part = job;
    part->is_taken = import_take(part->store, &part->batch, &part->arena, &part->taken, &part->err);
    (void)!lane_put(lane, part);
}

struct import_batches *
import_batches_begin(const struct import_batches_settings *settings)
{
    struct import_batches *batches = alloc_bytes(sizeof *batches);
    *batches = (struct import_batches){.settings = *settings};
    for (size_t i = 0; i < IMPORT_PARTS; i++)
        batches->lanes[i] = lane_create(
            &(struct lane_settings){.name = "writer", .work = take_part, .jobs = 1, .results = 1});
    for (size_t i = 0; i < 2 * IMPORT_PARTS; i++) {
        struct part *part = &batches->loads[i / IMPORT_PARTS].parts[i % IMPORT_PARTS];
        part->rows = alloc_array(MOST_ROWS, sizeof *part->rows);
        part->lines = alloc_array(MOST_ROWS, sizeof *part->lines);
    }
    return batches;
}

bool
import_batches_add(struct import_batches *batches, struct bytes line, int64_t no, struct err *err)
{
    struct load *load = &batches->loads[batches->filled];
    struct import_row row;
    load->bytes += line.len;
    if (!import_line_read(line, &load->arena, &row, err))
        return false;
    struct part *part = &load->parts[load->is_divided ? import_part(row.columns[IMPORT_event_id]) : 0];
    part->lines[part->batch.count] = no;
    part->rows[part->batch.count++] = row;
    return true;
}

bool
import_batches_is_full(const struct import_batches *batches)
{
    const struct load *load = &batches->loads[batches->filled];
    size_t most_bytes = load->is_divided ? (size_t)IMPORT_PARTS * MOST_BYTES : MOST_BYTES;
    bool is_full = load->bytes >= most_bytes;
    for (size_t i = 0; i < IMPORT_PARTS; i++)
        is_full = is_full || load->parts[i].batch.count == MOST_ROWS;
    return is_full;
}

static void
empty_load(struct load *load, bool is_divided)
{
    for (size_t i = 0; i < IMPORT_PARTS; i++) {
        load->parts[i].batch.count = 0;
        arena_reset(&load->parts[i].arena);
    }
    arena_reset(&load->arena);
    load->bytes = 0;
    load->is_divided = is_divided;
}

static void
count_part(struct import_batches *batches, const struct part *part)
{
    batches->counts.inserted += part->taken.inserted;
    batches->counts.duplicates += part->taken.duplicates;
    for (size_t i = 0; i < part->taken.refused_count; i++)
        batches->settings.refuse(batches->settings.context, part->batch.source,
                                 part->lines[part->taken.refused[i].row], part->taken.refused[i].why);
}

bool
import_batches_wait(struct import_batches *batches, struct err *err)
{
    struct load *load = &batches->loads[!batches->filled];
    bool ok = true;
    for (size_t i = 0; i < IMPORT_PARTS; i++) {
        struct part *part = &load->parts[i];
        if (!part->is_under_way)
            continue;
        part->is_under_way = false;
        if (!lane_take(batches->lanes[i], -1))
            ok = err_set(err, ERR_INTERNAL, "the thread that writes has ended");
        else if (part->is_taken)
            count_part(batches, part);
        else if (ok) {
            *err = part->err;
            ok = false;
        }
    }
    return ok;
}

static bool
give_part(struct import_batches *batches, struct load *load, size_t i, const char *source, struct err *err)
{
    struct part *part = &load->parts[i];
    if (part->batch.count == 0)
        return true;
    part->store = i == 0 ? batches->settings.store : batches->other;
    part->batch.rows = part->rows;
    part->batch.source = source;
    part->batch.reason = batches->settings.reason;
    part->batch.is_dry = batches->settings.is_dry;
    part->batch.part = load->is_divided ? (int)i : IMPORT_ALL_PARTS;
    part->is_under_way = lane_give(batches->lanes[i], part, -1);
    return part->is_under_way || err_set(err, ERR_INTERNAL, "the thread that writes has ended");
}

bool
import_batches_insert(struct import_batches *batches, const char *source, struct err *err)
{
    struct load *load = &batches->loads[batches->filled];
    if (!import_batches_wait(batches, err))
        return false;
    bool ok = true, is_more = import_batches_is_full(batches);
    for (size_t i = 0; ok && i < IMPORT_PARTS; i++)
        ok = give_part(batches, load, i, source, err);
    if (is_more && !batches->was_opened) {
        struct err ignored = {0}; // the first connection is enough
        (void)!store_open(&batches->other, &batches->settings.other, &ignored);
        batches->was_opened = true;
    }
    batches->filled = !batches->filled;
    empty_load(&batches->loads[batches->filled], batches->other != NULL);
    return ok;
}

struct import_counts
import_batches_counts(const struct import_batches *batches)
{
    return batches->counts;
}

void
import_batches_end(struct import_batches *batches)
{
    if (!batches)
        return;
    for (size_t i = 0; i < IMPORT_PARTS; i++)
        lane_destroy(batches->lanes[i]);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < IMPORT_PARTS; j++) {
            free(batches->loads[i].parts[j].rows);
            free(batches->loads[i].parts[j].lines);
            arena_release(&batches->loads[i].parts[j].arena);
        }
        arena_release(&batches->loads[i].arena);
    }
    store_close(batches->other);
    free(batches);
}
