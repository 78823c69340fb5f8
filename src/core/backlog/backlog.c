#include "core/backlog/backlog.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/backlog/rows.h"

static const char *const pivot_names[PIVOT_COUNT] = {"error",    "type", "source", "topic",
                                                     "category", "hour", "path"};

const char *
pivot_name(enum pivot pivot)
{
    return pivot_names[pivot];
}

bool
pivot_parse(struct bytes name, enum pivot *pivot)
{
    if (bytes_equal_text(name, "kind")) // a synonym, as in filters
        name = BYTES("category");
    for (int i = 0; i < PIVOT_PATH; i++) {
        if (bytes_equal_text(name, pivot_names[i])) {
            *pivot = (enum pivot)i;
            return true;
        }
    }
    return false;
}

struct bytes
pivot_value(enum pivot pivot, const struct event *event, char text[TIME_TEXT])
{
    const int64_t hour = 3600 * (int64_t)US_PER_SECOND;
    switch (pivot) {
    case PIVOT_TYPE:
        return event->event_type;
    case PIVOT_SOURCE:
        return event->source_table;
    case PIVOT_TOPIC:
        return event->topic;
    case PIVOT_CATEGORY:
        return bytes_of(category_name(event->category));
    case PIVOT_HOUR:
        return event->created_at == TIME_ABSENT
                   ? BYTES_ABSENT
                   : bytes_of(time_rfc3339(event->created_at / hour * hour, 0, text));
    case PIVOT_PATH:
        return BYTES_ABSENT;
    case PIVOT_ERROR:
    case PIVOT_COUNT:
        break;
    }
    _Static_assert(GROUP_TEXT <= TIME_TEXT, "a group key fits");
    return bytes_of(group_text(event->group, text));
}

void
backlog_set_paths(struct backlog *backlog, struct path_values *paths)
{
    backlog->paths = paths;
}

struct backlog *
backlog_create(void)
{
    struct backlog *backlog = alloc_bytes(sizeof *backlog);
    backlog->older.is_descending = true;
    return backlog;
}

void
backlog_destroy(struct backlog *backlog)
{
    if (!backlog)
        return;
    backlog_rollup_release(backlog);
    free(backlog->older.rows);
    free(backlog->newer.rows);
    free(backlog->infos);
    free(backlog->lives);
    keys_release(&backlog->keys);
    intern_release(&backlog->types);
    intern_release(&backlog->topics);
    intern_release(&backlog->sources);
    intern_release(&backlog->classes);
    arena_release(&backlog->texts);
    arena_release(&backlog->outcomes);
    free(backlog);
}

static bool
is_behind(const struct side *side, int64_t id)
{
    int64_t last = side->count ? side->rows[side->count - 1].id : id;
    return side->is_descending ? id < last : id > last;
}

// Where id stands in the side, or where it would be put: mostly at its end, since they are read in its order.
static size_t
side_position(const struct side *side, int64_t id, bool *is_there)
{
    size_t low = is_behind(side, id) ? side->count : 0;
    size_t high = side->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t here = side->rows[middle].id;
        if (here == id) {
            *is_there = true;
            return middle;
        }
        if (side->is_descending ? here > id : here < id)
            low = middle + 1;
        else
            high = middle;
    }
    *is_there = false;
    return low;
}

static const struct backlog_row *
find_row(const struct backlog *backlog, int64_t id)
{
    const struct side *sides[] = {&backlog->newer, &backlog->older};
    for (int i = 0; i < 2; i++) {
        bool is_there;
        size_t at = side_position(sides[i], id, &is_there);
        if (is_there)
            return &sides[i]->rows[at];
    }
    return NULL;
}

static bool
side_insert(struct side *side, const struct backlog_row *row)
{
    bool is_there;
    size_t at = side_position(side, row->id, &is_there);
    if (is_there)
        return false;
    side->rows = alloc_grow(side->rows, side->count, &side->capacity, sizeof *side->rows);
    memmove(side->rows + at + 1, side->rows + at, (side->count - at) * sizeof *side->rows);
    side->rows[at] = *row;
    side->count++;
    return true;
}

static bool
is_described(const struct group_info *info)
{
    return info->text && info->text->pattern;
}

static const char *
class_of(const struct backlog *backlog, const struct group_info *info)
{
    return info->error_class == WORDS_OTHER ? NULL : intern_text(&backlog->classes, info->error_class);
}

struct group_text
backlog_text(const struct backlog *backlog, const struct group_info *info)
{
    return is_described(info) ? *info->text : (struct group_text){.error_class = class_of(backlog, info)};
}

static void
keep_text(struct backlog *backlog, struct group_info *info, const struct group_text *text)
{
    info->text = arena_alloc(&backlog->texts, sizeof *info->text);
    *info->text = (struct group_text){
        .pattern = arena_text(&backlog->texts, bytes_of(text->pattern)),
        .error_class = arena_text(&backlog->texts, bytes_of(text->error_class)),
        .sample = arena_text(&backlog->texts, bytes_of(text->sample)),
        .frame = arena_text(&backlog->texts, bytes_of(text->frame)),
    };
}

uint32_t
backlog_group_index(struct backlog *backlog, uint64_t key, bool *is_new)
{
    size_t before = backlog->keys.count;
    uint32_t index = keys_index(&backlog->keys, key);
    *is_new = index == before;
    if (!*is_new)
        return index;

    backlog->infos = alloc_grow(backlog->infos, index, &backlog->info_capacity, sizeof *backlog->infos);
    backlog->infos[index] = (struct group_info){.category = CATEGORY_UNKNOWN};
    return index;
}

static uint32_t
group_index(struct backlog *backlog, const struct event *event)
{
    bool is_new;
    uint32_t index = backlog_group_index(backlog, event->group, &is_new);
    struct group_info *info = &backlog->infos[index];
    if (!is_new && info->sample_id)
        return index;

    info->category = event->category;
    info->sample_id = event->id;
    if (bytes_present(event->error_class))
        info->error_class = intern_number(&backlog->classes, event->error_class);
    return index;
}

static struct backlog_row
make_row(struct backlog *backlog, const struct event *event)
{
    int64_t seconds = event->created_at == TIME_ABSENT ? 0 : event->created_at / US_PER_SECOND;
    if (seconds < 0)
        seconds = 0;
    if (seconds > UINT32_MAX)
        seconds = UINT32_MAX;
    int32_t retries = event->retries.count < 0 ? 0 : event->retries.count;
    return (struct backlog_row){
        .id = event->id,
        .created = (uint32_t)seconds,
        .group = group_index(backlog, event),
        .type = intern_number(&backlog->types, event->event_type),
        .topic = intern_number(&backlog->topics, event->topic),
        .source = intern_number(&backlog->sources, event->source_table),
        .retries = (uint8_t)(retries > 255 ? 255 : retries),
        .is_returned = event->known.returned > 0,
    };
}

size_t
backlog_add(struct backlog *backlog, const struct event *events, size_t count)
{
    size_t added = 0;
    for (size_t i = 0; i < count; i++) {
        if (find_row(backlog, events[i].id))
            continue;
        struct backlog_row row = make_row(backlog, &events[i]);
        bool is_newer = backlog->newer.count ? row.id > backlog->newer.rows[0].id
                                             : backlog->older.count && row.id > backlog->older.rows[0].id;
        added += side_insert(is_newer ? &backlog->newer : &backlog->older, &row);
        if (row.id > backlog->highest)
            backlog->highest = row.id;
    }
    return added;
}

size_t
backlog_renew(struct backlog *backlog, const struct event *events, size_t count)
{
    size_t renewed = 0;
    struct side *sides[] = {&backlog->newer, &backlog->older};
    for (size_t i = 0; i < count * 2; i++) {
        const struct event *event = &events[i / 2];
        struct side *side = sides[i % 2];
        bool is_there;
        size_t at = side_position(side, event->id, &is_there);
        if (!is_there)
            continue;
        struct backlog_row row = make_row(backlog, event);
        struct backlog_row *known = &side->rows[at];
        renewed += row.created != known->created || row.group != known->group || row.type != known->type ||
                   row.topic != known->topic || row.source != known->source || row.retries != known->retries;
        *known = row;
    }
    return renewed;
}

static bool
id_is_among(const int64_t *ids, size_t count, int64_t id)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle] == id)
            return true;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static void
side_reconcile(struct side *side, const int64_t *ids, size_t count, int64_t highest)
{
    size_t kept = 0;
    for (size_t i = 0; i < side->count; i++)
        if (side->rows[i].id > highest || id_is_among(ids, count, side->rows[i].id))
            side->rows[kept++] = side->rows[i];
    side->count = kept;
}

void
backlog_reconcile(struct backlog *backlog, const int64_t *ids, size_t count, int64_t highest,
                  int64_t **missing, size_t *missing_count)
{
    side_reconcile(&backlog->older, ids, count, highest);
    side_reconcile(&backlog->newer, ids, count, highest);

    *missing = NULL;
    *missing_count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        if (find_row(backlog, ids[i]))
            continue;
        *missing = alloc_grow(*missing, *missing_count, &capacity, sizeof **missing);
        (*missing)[(*missing_count)++] = ids[i];
    }
}

size_t
backlog_count(const struct backlog *backlog)
{
    return backlog->has_rollup ? (size_t)backlog->counted : backlog->older.count + backlog->newer.count;
}

size_t
backlog_count_upto(const struct backlog *backlog, int64_t id)
{
    bool is_there;
    size_t newer = side_position(&backlog->newer, id, &is_there) + is_there;
    size_t above = side_position(&backlog->older, id, &is_there);
    return newer + backlog->older.count - above;
}

int64_t
backlog_highest_id(const struct backlog *backlog)
{
    return backlog->highest;
}

const struct backlog_row *
backlog_row(const struct backlog *backlog, size_t i)
{
    if (i < backlog->newer.count)
        return &backlog->newer.rows[backlog->newer.count - 1 - i];
    return &backlog->older.rows[i - backlog->newer.count];
}

void
backlog_describe(struct backlog *backlog, uint64_t key, const struct group_text *text)
{
    int64_t index = keys_find(&backlog->keys, key);
    if (index < 0)
        return;
    struct group_info *info = &backlog->infos[index];
    if (is_described(info))
        return;
    if (text->has_category) {
        info->category = text->category;
        info->is_overridden = text->is_overridden;
    }
    if (backlog->texts_most && backlog->texts_kept >= backlog->texts_most && !info->is_left_out) {
        info->is_left_out = true;
        return;
    }
    info->is_left_out = false;
    backlog->texts_kept++;
    struct group_text described = *text;
    if (!described.error_class)
        described.error_class = class_of(backlog, info);
    keep_text(backlog, info, &described);
}

void
backlog_keep_texts(struct backlog *backlog, size_t most)
{
    backlog->texts_most = most;
}

bool
backlog_make_room(struct backlog *backlog, size_t more)
{
    if (!backlog->texts_most || backlog->texts_kept + more <= 2 * backlog->texts_most)
        return false;
    for (size_t i = 0; i < backlog->keys.count; i++) {
        struct group_info *info = &backlog->infos[i];
        info->is_left_out |= is_described(info);
        info->text = NULL;
    }
    backlog->texts_kept = 0;
    arena_release(&backlog->texts);
    return true;
}

bool
backlog_describe_again(struct backlog *backlog)
{
    bool is_some = false;
    for (size_t i = 0; i < backlog->keys.count; i++) {
        is_some |= backlog->infos[i].is_left_out;
        backlog->infos[i].is_left_out = false;
    }
    return is_some;
}

bool
backlog_undescribed(const struct backlog *backlog, size_t *cursor, uint64_t *key, int64_t *sample_id)
{
    for (; *cursor < backlog->keys.count; (*cursor)++) {
        const struct group_info *info = &backlog->infos[*cursor];
        if (is_described(info) || info->is_left_out || !info->sample_id)
            continue;
        *key = backlog->keys.keys[(*cursor)++];
        *sample_id = info->sample_id;
        return true;
    }
    return false;
}

void
backlog_categorize(struct backlog *backlog, backlog_category_fn *category_of_group, const void *context)
{
    for (size_t i = 0; i < backlog->keys.count; i++) {
        struct group_info *info = &backlog->infos[i];
        bool is_overridden = false;
        const struct group_text text = backlog_text(backlog, info);
        enum category category = category_of_group(context, backlog->keys.keys[i], &text, &is_overridden);
        if (category == CATEGORY_COUNT)
            continue;
        info->category = category;
        info->is_overridden = is_overridden;
    }
}

bool
backlog_category(const struct backlog *backlog, uint64_t key, enum category *category)
{
    int64_t index = keys_find(&backlog->keys, key);
    if (index >= 0)
        *category = backlog->infos[index].category;
    return index >= 0;
}

static const struct group_life unknown_life = {.emptied_at = TIME_ABSENT, .seen_at = TIME_ABSENT};

const struct group_life *
backlog_life(const struct backlog *backlog, size_t index)
{
    return index < backlog->life_count ? &backlog->lives[index] : &unknown_life;
}

static struct group_life *
life_of(struct backlog *backlog, size_t index)
{
    while (backlog->life_count <= index) {
        backlog->lives =
            alloc_grow(backlog->lives, backlog->life_count, &backlog->life_capacity, sizeof *backlog->lives);
        backlog->lives[backlog->life_count++] = unknown_life;
    }
    return &backlog->lives[index];
}

bool
backlog_emptied(struct backlog *backlog, uint64_t key, int64_t at)
{
    bool is_new; // no event of it was met yet: its first one fills in the rest
    uint32_t index = backlog_group_index(backlog, key, &is_new);
    struct group_life *life = life_of(backlog, index);
    bool is_later = at > life->emptied_at;
    if (is_later)
        life->emptied_at = at;
    return is_later;
}

struct group_outcomes *
backlog_outcomes_of(struct backlog *backlog, size_t index)
{
    struct group_life *life = life_of(backlog, index);
    if (!life->outcomes)
        life->outcomes = arena_alloc(&backlog->outcomes, sizeof *life->outcomes);
    return life->outcomes;
}

void
backlog_seen(struct backlog *backlog, uint64_t key, int64_t first_at)
{
    int64_t index = keys_find(&backlog->keys, key);
    if (index >= 0)
        life_of(backlog, (size_t)index)->seen_at = first_at;
}

void
backlog_outcomes(struct backlog *backlog, uint64_t key, const struct group_outcomes *outcomes)
{
    int64_t index = keys_find(&backlog->keys, key);
    if (index < 0)
        return;
    struct group_outcomes *kept = backlog_outcomes_of(backlog, (size_t)index);
    int64_t returned = kept->returned;
    *kept = *outcomes;
    kept->returned = returned;
}

static void
count_retries(const struct side *side, int64_t counts[BACKLOG_RETRIES])
{
    for (size_t i = 0; i < side->count; i++)
        counts[side->rows[i].retries]++;
}

int64_t
backlog_retries(const struct backlog *backlog, int64_t counts[BACKLOG_RETRIES])
{
    memset(counts, 0, BACKLOG_RETRIES * sizeof *counts);
    count_retries(&backlog->older, counts);
    count_retries(&backlog->newer, counts);
    for (size_t i = 0; i < backlog->rollup.retry_count; i++) {
        const struct rollup_count *count = &backlog->rollup.retries[i];
        counts[count->at < 0                 ? 0
               : count->at < BACKLOG_RETRIES ? count->at
                                             : BACKLOG_RETRIES - 1] += count->count;
    }
    return (int64_t)backlog_count(backlog);
}

bool
backlog_group_of(const struct backlog *backlog, int64_t id, uint64_t *key)
{
    const struct backlog_row *row = find_row(backlog, id);
    if (row)
        *key = backlog->keys.keys[row->group];
    return row != NULL;
}

static const struct backlog_row *
find_near(const struct backlog *backlog, int64_t id, size_t *hint)
{
    size_t count = backlog_count(backlog);
    for (size_t at = *hint ? *hint - 1 : 0; at <= *hint + 1 && at < count; at++) {
        const struct backlog_row *row = backlog_row(backlog, at);
        if (row->id != id)
            continue;
        *hint = at;
        return row;
    }
    bool is_there;
    size_t at = side_position(&backlog->newer, id, &is_there);
    if (is_there) {
        *hint = backlog->newer.count - 1 - at;
        return &backlog->newer.rows[at];
    }
    at = side_position(&backlog->older, id, &is_there);
    *hint = backlog->newer.count + at;
    return is_there ? &backlog->older.rows[at] : NULL;
}

bool
backlog_event(const struct backlog *backlog, int64_t id, size_t *hint, struct event *event)
{
    enum { RETRIES_OR_MORE = 255 };
    const struct backlog_row *row = find_near(backlog, id, hint);
    if (!row || row->type == WORDS_OTHER || row->topic == WORDS_OTHER || row->source == WORDS_OTHER ||
        row->retries == RETRIES_OR_MORE || row->created == 0)
        return false;
    const struct group_info *info = &backlog->infos[row->group];
    *event = (struct event){
        .id = id,
        .status = EVENT_PENDING,
        .event_type = bytes_of(intern_text(&backlog->types, row->type)),
        .source_table = bytes_of(intern_text(&backlog->sources, row->source)),
        .topic = bytes_of(intern_text(&backlog->topics, row->topic)),
        .retries.count = row->retries,
        .group = backlog->keys.keys[row->group],
        .category = info->category,
        .error_class = bytes_of(backlog_text(backlog, info).error_class),
        .known.returned = row->is_returned,
        .created_at = (int64_t)row->created * US_PER_SECOND,
        .created_wall = TIME_ABSENT,
    };
    return true;
}
