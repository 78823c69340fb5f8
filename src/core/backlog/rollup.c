// A backlog that holds sums instead of rows.
#include "core/backlog/rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

void
backlog_sums_release(struct backlog *backlog)
{
    free(backlog->cells);
    free(backlog->sums.cells);
    free(backlog->sums.retries);
    free(backlog->sums.hours);
    free(backlog->sums.slots);
    backlog->cells = NULL;
    backlog->sums = (struct backlog_sums){0};
    backlog->summed = 0;
    backlog->has_sums = false;
}

static uint16_t
word_of(struct words *words, struct bytes text)
{
    return words_number(words, text.len ? text : BYTES_ABSENT);
}

static uint32_t
seconds_of(int64_t at)
{
    return at == TIME_ABSENT || at < 0 ? 0 : at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
}

static struct summed_cell
sum_cell(struct backlog *backlog, const struct backlog_cell *cell)
{
    bool is_new;
    uint32_t group = backlog_group_index(backlog, cell->group, &is_new);
    if (cell->newest_id > backlog->infos[group].sample_id)
        backlog->infos[group].sample_id = cell->newest_id;
    return (struct summed_cell){
        .row = {.id = cell->newest_id,
                .created = seconds_of(cell->first_at),
                .group = group,
                .type = word_of(&backlog->types, cell->event_type),
                .topic = word_of(&backlog->topics, cell->topic),
                .source = word_of(&backlog->sources, cell->source_table)},
        .last_at = seconds_of(cell->last_at),
    };
}

void
backlog_sum_up(struct backlog *backlog, struct backlog_sums *sums)
{
    backlog_sums_release(backlog);
    free(backlog->older.rows);
    free(backlog->newer.rows);
    backlog->older = (struct side){.is_descending = true};
    backlog->newer = (struct side){0};

    backlog->has_sums = true;
    backlog->sums = *sums;
    *sums = (struct backlog_sums){0};
    backlog->cells = alloc_array(backlog->sums.cell_count, sizeof *backlog->cells);
    for (size_t i = 0; i < backlog->keys.count; i++)
        backlog->infos[i].outcomes.came_back = 0;
    for (size_t i = 0; i < backlog->sums.cell_count; i++) {
        backlog->cells[i] = sum_cell(backlog, &backlog->sums.cells[i]);
        backlog->infos[backlog->cells[i].row.group].outcomes.came_back += backlog->sums.cells[i].came_back;
    }
    if (backlog->sums.highest_id > backlog->highest)
        backlog->highest = backlog->sums.highest_id;
    for (size_t i = 0; i < backlog->sums.retry_count; i++)
        backlog->summed += backlog->sums.retries[i].count;
}

// The texts of cells are gone with what they came in; these are the backlog's.
static struct bytes
word_bytes(const struct words *words, uint16_t word)
{
    return bytes_of(words_text(words, word));
}

void
backlog_each_cell(const struct backlog *backlog, backlog_cell_fn *each, void *context)
{
    int64_t *counts = alloc_array(backlog->sums.cell_count, sizeof *counts);
    for (size_t i = 0; i < backlog->sums.retry_count; i++)
        counts[backlog->sums.retries[i].cell] += backlog->sums.retries[i].count;
    for (size_t i = 0; i < backlog->sums.cell_count; i++) {
        const struct row *row = &backlog->cells[i].row;
        struct backlog_cell cell = backlog->sums.cells[i];
        cell.event_type = word_bytes(&backlog->types, row->type);
        cell.source_table = word_bytes(&backlog->sources, row->source);
        cell.topic = word_bytes(&backlog->topics, row->topic);
        each(context, &cell, counts[i]);
    }
    free(counts);
}

bool
backlog_has_sums(const struct backlog *backlog)
{
    return backlog->has_sums;
}

uint64_t *
backlog_keys_of(const struct backlog *backlog, enum category category, size_t *count)
{
    uint64_t *keys = alloc_array(backlog->keys.count, sizeof *keys);
    *count = 0;
    for (size_t i = 0; i < backlog->keys.count; i++)
        if (backlog->infos[i].category == category)
            keys[(*count)++] = backlog->keys.keys[i];
    return keys;
}
