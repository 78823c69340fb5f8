// A backlog that holds sums instead of rows.
#include "core/backlog/rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

void
backlog_rollup_release(struct backlog *backlog)
{
    free(backlog->cells);
    free(backlog->rollup.cells);
    free(backlog->rollup.retries);
    free(backlog->rollup.hours);
    free(backlog->rollup.slots);
    backlog->cells = NULL;
    backlog->rollup = (struct backlog_rollup){0};
    backlog->summed = 0;
    backlog->has_rollup = false;
}

static uint16_t
word_of(struct intern *words, struct bytes text)
{
    return intern_number(words, text.len ? text : BYTES_ABSENT);
}

static uint32_t
seconds_of(int64_t at)
{
    return at == TIME_ABSENT || at < 0 ? 0 : at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
}

static struct rollup_group_cell
sum_cell(struct backlog *backlog, const struct backlog_cell *cell)
{
    bool is_new;
    uint32_t group = backlog_group_index(backlog, cell->group, &is_new);
    if (cell->newest_id > backlog->infos[group].sample_id)
        backlog->infos[group].sample_id = cell->newest_id;
    return (struct rollup_group_cell){
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
backlog_adopt_rollup(struct backlog *backlog, struct backlog_rollup *rollup)
{
    backlog_rollup_release(backlog);
    free(backlog->older.rows);
    free(backlog->newer.rows);
    backlog->older = (struct side){.is_descending = true};
    backlog->newer = (struct side){0};

    backlog->has_rollup = true;
    backlog->rollup = *rollup;
    *rollup = (struct backlog_rollup){0};
    backlog->cells = alloc_array(backlog->rollup.cell_count, sizeof *backlog->cells);
    for (size_t i = 0; i < backlog->keys.count; i++)
        backlog->infos[i].outcomes.returned = 0;
    for (size_t i = 0; i < backlog->rollup.cell_count; i++) {
        backlog->cells[i] = sum_cell(backlog, &backlog->rollup.cells[i]);
        backlog->infos[backlog->cells[i].row.group].outcomes.returned += backlog->rollup.cells[i].returned;
    }
    if (backlog->rollup.highest_id > backlog->highest)
        backlog->highest = backlog->rollup.highest_id;
    for (size_t i = 0; i < backlog->rollup.retry_count; i++)
        backlog->summed += backlog->rollup.retries[i].count;
}

bool
backlog_has_rollup(const struct backlog *backlog)
{
    return backlog->has_rollup;
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
