// A backlog that holds a rollup instead of rows.
#include "core/backlog/rows.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

void
backlog_rollup_release(struct backlog *backlog)
{
    free(backlog->series_rows);
    free(backlog->rollup.retries);
    free(backlog->rollup.hours);
    free(backlog->rollup.buckets);
    backlog->series_rows = NULL;
    backlog->series_count = 0;
    backlog->rollup = (struct backlog_rollup){0};
    backlog->counted = 0;
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

static struct rollup_series_row
make_series_row(struct backlog *backlog, const struct backlog_series *series)
{
    bool is_new;
    uint32_t group = backlog_group_index(backlog, series->group, &is_new);
    if (series->newest_id > backlog->infos[group].sample_id)
        backlog->infos[group].sample_id = series->newest_id;
    return (struct rollup_series_row){
        .row = {.id = series->newest_id,
                .created = seconds_of(series->first_at),
                .group = group,
                .type = word_of(&backlog->types, series->event_type),
                .topic = word_of(&backlog->topics, series->topic),
                .source = word_of(&backlog->sources, series->source_table)},
        .last_at = seconds_of(series->last_at),
        .returned = series->returned,
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
    backlog->series_count = backlog->rollup.series_count;
    backlog->series_rows = alloc_array(backlog->series_count, sizeof *backlog->series_rows);
    for (size_t i = 0; i < backlog->life_count; i++)
        if (backlog->lives[i].outcomes)
            backlog->lives[i].outcomes->returned = 0;
    for (size_t i = 0; i < backlog->series_count; i++) {
        struct rollup_series_row *series = &backlog->series_rows[i];
        *series = make_series_row(backlog, &backlog->rollup.series[i]);
        if (series->returned)
            backlog_outcomes_of(backlog, series->row.group)->returned += series->returned;
    }
    free(backlog->rollup.series);
    backlog->rollup.series = NULL;
    backlog->rollup.series_count = 0;
    if (backlog->rollup.highest_id > backlog->highest)
        backlog->highest = backlog->rollup.highest_id;
    for (size_t i = 0; i < backlog->rollup.retry_count; i++)
        backlog->counted += backlog->rollup.retries[i].count;
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
