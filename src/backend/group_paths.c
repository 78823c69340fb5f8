// Groups by a path of the payload: which value each pending event has there. A lane reads all of them, in one
// pass over the table; then those of arrivals and of events that somebody wrote are read in short steps.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "core/filter/path_term.h"
#include "search/text_watch.h"
#include "store/events/paths.h"

enum { READ_AT_ONCE = 500, WANTED_EVERY = 1000 };
static const int64_t LOOK_EVERY = US_PER_SECOND;
static const int64_t AGAIN_AFTER = 5 * US_PER_SECOND; // after a failure

// One pass. What it has read goes to the reader by lane_put.
struct path_job {
    struct json_path *path;
    struct path_values *values;
    struct backlog *rows; // the short columns of all events, with wants_rows
    bool wants_rows;      // nothing holds them one by one yet
    struct err err;
    struct lane *lane;
    int64_t events;
};

static void
drop_job(void *given)
{
    struct path_job *job = given;
    path_values_destroy(job->values);
    backlog_destroy(job->rows);
    json_path_destroy(job->path);
    free(job);
}

static bool
put_value(void *context, int64_t id, struct bytes token)
{
    struct path_job *job = context;
    path_values_put(job->values, id, token);
    return ++job->events % WANTED_EVERY || lane_is_wanted(job->lane);
}

// Those that the rollup knows in part are found to be missing later, and read then.
static bool
add_row(void *context, const struct event *event, bool is_whole)
{
    struct path_job *job = context;
    if (is_whole)
        backlog_add(job->rows, event, 1);
    return ++job->events % WANTED_EVERY || lane_is_wanted(job->lane);
}

static void
read_beside(struct lane *lane, void *given)
{
    struct path_job *job = given;
    struct store *store = lane_connection(lane);
    job->lane = lane;
    job->values = path_values_create();
    job->rows = job->wants_rows ? backlog_create() : NULL;
    bool ok = store_connect(store, &job->err) &&
              (!job->wants_rows || rollup_events(store, NULL, add_row, job, &job->err)) &&
              store_path_pass(store, job->path, put_value, job, &job->err);
    if (ok)
        (void)path_values_of(job->values, 0); // brings them into order
    if (!lane_put(lane, job))
        drop_job(job);
}

static bool
parse_path(const char *text, struct json_path **path, struct err *err)
{
    return json_path_parse(path, bytes_of(text), err);
}

// What is written from now on is looked for after the pass.
static bool
begin_pass(struct reader *reader, struct err *err)
{
    struct group_paths *paths = &reader->paths;
    struct store *store = reader->session.store;
    if (!store_change_count(store, &paths->written.count, err) ||
        !store_xmin_floor(store, &paths->written.xmin_floor, err))
        return false;
    struct path_job *job = alloc_bytes(sizeof *job);
    struct err ignored = {0}; // it was parsed when it was asked for
    (void)!parse_path(paths->text, &job->path, &ignored);
    job->wants_rows = reader_rows_known(reader) == NULL;
    paths->lane =
        lane_create(&(struct lane_settings){.name = "paths",
                                            .work = read_beside,
                                            .connection = store_create(&reader->session.settings->store),
                                            .interrupt = store_lane_interrupt,
                                            .close = store_lane_close,
                                            .jobs = 1,
                                            .results = 1,
                                            .drop_job = drop_job,
                                            .drop_result = drop_job});
    (void)lane_give(paths->lane, job, 0);
    return true;
}

static void
forget_values(struct reader *reader)
{
    struct group_paths *paths = &reader->paths;
    struct backlog *backlogs[] = {reader->counts.backlog, reader->rows.backlog, reader->matches.matched,
                                  reader->matches.job.matched};
    for (size_t i = 0; i < sizeof backlogs / sizeof *backlogs; i++)
        if (backlogs[i])
            backlog_set_paths(backlogs[i], NULL);
    path_values_destroy(paths->values);
    paths->values = NULL;
    paths->unread_at = paths->unread_count = 0;
    paths->is_outdated = false;
}

void
reader_paths_release(struct reader *reader)
{
    struct group_paths *paths = &reader->paths;
    lane_destroy(paths->lane);
    text_watch_destroy(paths->written.watch);
    forget_values(reader);
    json_path_destroy(paths->path);
    free(paths->unread);
    free(paths->text);
    *paths = (struct group_paths){0};
}

bool
reader_paths_request(struct reader *reader, const struct request *request, struct err *err)
{
    struct group_paths *paths = &reader->paths;
    const char *text = request->groups.pivot == PIVOT_PATH ? request->path : NULL;
    if (text && paths->text && strcmp(paths->text, text) == 0)
        return true;
    reader_paths_release(reader);
    if (!text)
        return true;
    paths->text = alloc_text(text);
    if (parse_path(text, &paths->path, err))
        return true;
    reader_paths_release(reader);
    return false;
}

// --- steps ---

static void
note_unread(struct group_paths *paths, const int64_t *ids, size_t count)
{
    if (paths->unread_at == paths->unread_count)
        paths->unread_at = paths->unread_count = 0;
    for (size_t i = 0; i < count; i++) {
        paths->unread =
            alloc_grow(paths->unread, paths->unread_count, &paths->unread_capacity, sizeof *paths->unread);
        paths->unread[paths->unread_count++] = ids[i];
    }
}

static bool
put_unread(void *context, int64_t id, struct bytes token)
{
    path_values_put(context, id, token);
    return true;
}

static bool
read_some(struct reader *reader, struct err *err)
{
    struct group_paths *paths = &reader->paths;
    size_t left = paths->unread_count - paths->unread_at;
    size_t count = left < READ_AT_ONCE ? left : READ_AT_ONCE;
    if (!store_path_values(reader->session.store, paths->path, paths->unread + paths->unread_at, count,
                           put_unread, paths->values, err))
        return false;
    paths->unread_at += count;
    reader->groups.is_dirty = true;
    return true;
}

// Events that came since they were looked for last.
static void
look_for_unread(struct reader *reader, const struct backlog *rows)
{
    struct group_paths *paths = &reader->paths;
    int64_t *ids;
    size_t count;
    paths->looked_count = backlog_count(rows);
    paths->looked_highest = backlog_highest_id(rows);
    backlog_ids(rows, PIVOT_ERROR, NULL, false, &ids, &count);
    int64_t *unread = alloc_array(count + 1, sizeof *unread);
    count = path_values_unread(paths->values, ids, count, unread);
    note_unread(paths, unread, count);
    free(unread);
    free(ids);
    reader->groups.is_dirty = true;
}

// The end of the pass. false: it goes on, or failed.
static bool
take_pass(struct reader *reader)
{
    struct group_paths *paths = &reader->paths;
    struct path_job *job = lane_take(paths->lane, 0);
    if (!job)
        return false;
    lane_destroy(paths->lane);
    paths->lane = NULL;
    if (err_is_set(&job->err)) {
        paths->again_at = clock_mono() + AGAIN_AFTER;
        session_error(&reader->session, reader->groups.number, &job->err);
        drop_job(job);
        return false;
    }
    paths->values = job->values;
    job->values = NULL;
    if (job->rows)
        reader_rows_adopt(reader, job->rows);
    job->rows = NULL;
    drop_job(job);
    paths->looked_highest = -1;
    reader->groups.is_dirty = true;
    reader->groups.send_at = 0;
    return true;
}

// Too many to name them: all are read again.
static void
take_written(struct reader *reader, struct text_changes *changes)
{
    struct group_paths *paths = &reader->paths;
    paths->written.look_at = clock_mono() + LOOK_EVERY + changes->took * 8;
    if (err_is_set(&changes->err))
        return;
    paths->written.xmin_floor = changes->xmin_floor;
    note_unread(paths, changes->ids, changes->count);
    paths->is_outdated = changes->is_too_many;
}

// Payloads that others wrote, or corrected.
static bool
look_for_written(struct reader *reader, struct err *err)
{
    struct group_paths *paths = &reader->paths;
    int64_t count;
    if (!paths->written.watch)
        paths->written.watch = text_watch_create(&reader->session.settings->store);
    struct text_changes *changes = text_watch_take(paths->written.watch);
    if (changes)
        take_written(reader, changes);
    text_changes_destroy(changes);
    if (clock_mono() < paths->written.look_at || text_watch_is_looking(paths->written.watch))
        return true;
    paths->written.look_at = clock_mono() + LOOK_EVERY;
    if (!store_change_count(reader->session.store, &count, err))
        return false;
    if (count != paths->written.count)
        text_watch_look(paths->written.watch, paths->written.xmin_floor, INT64_MAX, 0);
    paths->written.count = count;
    return true;
}

static bool
step(struct reader *reader, struct err *err)
{
    struct group_paths *paths = &reader->paths;
    bool is_over = true;
    if (!reader_rows_step(reader, &is_over, err) || !look_for_written(reader, err))
        return false;
    const struct backlog *rows = reader_rows_known(reader);
    if (!rows)
        return true;
    if (paths->unread_at < paths->unread_count)
        return read_some(reader, err);
    if (backlog_count(rows) != paths->looked_count || backlog_highest_id(rows) != paths->looked_highest)
        look_for_unread(reader, rows);
    return true;
}

bool
reader_paths_step(struct reader *reader)
{
    struct group_paths *paths = &reader->paths;
    struct err err = {0};
    if (!paths->text || !reader->counts.backlog || reader->session.link.is_lost ||
        clock_mono() < paths->again_at)
        return false;
    if (paths->lane && !take_pass(reader))
        return false;
    if (!paths->values) {
        bool is_ready =
            reader->counts.has_rollup ? reader_rollup_readable(reader) : !reader->counts.is_counting;
        return is_ready && (begin_pass(reader, &err) || session_failed(&reader->session, 0, &err));
    }
    if (paths->is_outdated) {
        forget_values(reader);
        return true;
    }
    size_t looked = paths->looked_count, unread = paths->unread_count - paths->unread_at;
    int64_t highest = paths->looked_highest;
    bool was_known = reader_rows_known(reader) != NULL;
    if (!step(reader, &err)) {
        paths->again_at = clock_mono() + AGAIN_AFTER;
        return session_failed(&reader->session, 0, &err);
    }
    bool did_step =
        !was_known || unread > 0 || looked != paths->looked_count || highest != paths->looked_highest;
    if (did_step)
        reader_backlog_send(reader, false);
    return did_step;
}

bool
reader_paths_is_reading(const struct reader *reader)
{
    return reader->paths.lane != NULL;
}

// --- what the screen gets ---

void
reader_paths_narrow(struct reader *reader, const struct list_query *query, int64_t *ids, size_t *count)
{
    struct group_paths *paths = &reader->paths;
    bool is_known = query->path && query->filter &&
                    bytes_hash(bytes_of(query->filter)) == query->path_filter && paths->text &&
                    strcmp(query->path, paths->text) == 0 && paths->values &&
                    paths->unread_at == paths->unread_count;
    size_t kept = 0;
    for (size_t i = 0; is_known && i < *count; i++) {
        uint32_t number = path_values_of(paths->values, ids[i]);
        if (number == PATH_UNREAD || path_values_key(paths->values, number) == query->path_key)
            ids[kept++] = ids[i];
    }
    *count = is_known ? kept : *count;
}

const struct backlog *
reader_paths_rows(struct reader *reader)
{
    const struct group_paths *paths = &reader->paths;
    const struct backlog *known = reader_rows_known(reader);
    bool is_ready =
        paths->values && known && paths->looked_highest >= 0 && paths->unread_at == paths->unread_count;
    struct backlog *backlogs[] = {reader->counts.backlog, reader->rows.backlog, reader->matches.matched};
    for (size_t i = 0; is_ready && i < sizeof backlogs / sizeof *backlogs; i++)
        if (backlogs[i])
            backlog_set_paths(backlogs[i], paths->values);
    return is_ready ? known : NULL;
}

void
reader_paths_name(const struct reader *reader, struct group_list *list, struct arena *arena)
{
    struct strbuf term = {0};
    for (size_t i = 0; i < list->count; i++) {
        struct event_group *group = &list->groups[i];
        strbuf_reset(&term);
        path_term_print(reader->paths.path, group->path_kind, bytes_of(group->value), &term);
        group->path_term = arena_text(arena, strbuf_bytes(&term));
        group->path = arena_text(arena, bytes_of(reader->paths.text));
    }
    strbuf_release(&term);
}
