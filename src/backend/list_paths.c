// The values at a path of the payload that a list is sorted by. Those of a few events are read in short
// steps; of many, a lane reads all pending ones in one pass over the table, and the list begins with the
// first of them meanwhile.
#include "backend/reader.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "search/order.h"
#include "store/events/paths.h"

enum {
    FEW = 5000, // read one by one: a pass looks at all pending ones
    AT_ONCE = 500,
    WANTED_EVERY = 1000,
};
static const int64_t LOOK_US = 10000; // waits for the pass, between two looks for requests

struct list_paths {
    struct json_path *path;
    struct path_values *values; // NULL: those of the groups by this path are taken
    int64_t *unread;            // events to read, from unread_at on; heap; NULL: the pass is not over
    size_t unread_count, unread_at;
    struct lane *lane; // runs the pass; NULL: that is over, or none is needed
    _Atomic int64_t passed;
};

struct list_pass {
    struct list_paths *owner; // outlives the lane
    struct path_values *values;
    struct lane *lane;
    struct err err;
};

static void
drop_pass(void *given)
{
    struct list_pass *pass = given;
    path_values_destroy(pass->values);
    free(pass);
}

static bool
put_passed(void *context, int64_t id, struct bytes token)
{
    struct list_pass *pass = context;
    path_values_put(pass->values, id, token);
    return ++pass->owner->passed % WANTED_EVERY || lane_is_wanted(pass->lane);
}

static void
pass_beside(struct lane *lane, void *given)
{
    struct list_pass *pass = given;
    struct store *store = lane_connection(lane);
    pass->lane = lane;
    pass->values = path_values_create();
    bool ok = store_connect(store, &pass->err) &&
              store_path_pass(store, pass->owner->path, put_passed, pass, &pass->err);
    if (ok)
        (void)path_values_of(pass->values, 0); // brings them into order
    if (!lane_put(lane, pass))
        drop_pass(pass);
}

static void
begin_pass(struct reader *reader, struct list_paths *paths)
{
    struct list_pass *pass = alloc_bytes(sizeof *pass);
    pass->owner = paths;
    paths->lane =
        lane_create(&(struct lane_settings){.name = "order",
                                            .work = pass_beside,
                                            .connection = store_create(&reader->session.settings->store),
                                            .interrupt = store_lane_interrupt,
                                            .close = store_lane_close,
                                            .jobs = 1,
                                            .results = 1,
                                            .drop_job = drop_pass,
                                            .drop_result = drop_pass});
    (void)lane_give(paths->lane, pass, 0);
}

// What is still to be read of these events.
static void
note_unread(struct list_paths *paths, const int64_t *ids, size_t count)
{
    paths->unread = alloc_array(count + 1, sizeof *paths->unread);
    paths->unread_count = path_values_unread(paths->values, ids, count, paths->unread);
    paths->unread_at = 0;
}

static bool
put_read(void *context, int64_t id, struct bytes token)
{
    path_values_put(context, id, token);
    return true;
}

// The first of many, sorted by themselves, so that there is something to see.
static bool
send_beginning(struct reader *reader, struct list_job *list, struct err *err)
{
    struct list_paths *paths = list->sort.paths;
    if (!store_path_values(reader->session.store, paths->path, list->found.ids, AT_ONCE, put_read,
                           paths->values, err))
        return false;
    int64_t *ids = alloc_array(AT_ONCE, sizeof *ids);
    memcpy(ids, list->found.ids, AT_ONCE * sizeof *ids);
    list_order_ids(&(struct list_ordering){.order = ORDER_PATH,
                                           .is_reversed = list->query.oldest_first,
                                           .values = paths->values},
                   ids, AT_ONCE);
    list->scanned = AT_ONCE;
    list->sort.is_beginning = true;
    reader_list_send(reader, list, ids, AT_ONCE);
    list->sort.is_beginning = false;
    list->is_first = true;
    return true;
}

// Those by which groups are counted, where they know all these events. NULL: they do not.
static struct path_values *
known_values(const struct reader *reader, const struct list_job *list)
{
    const struct group_paths *known = &reader->paths;
    bool is_same = known->text && known->values && strcmp(known->text, list->query.order_path) == 0 &&
                   known->unread_at == known->unread_count;
    for (size_t i = 0; is_same && i < list->found.count; i++)
        is_same = path_values_of(known->values, list->found.ids[i]) != PATH_UNREAD;
    return is_same ? known->values : NULL;
}

static bool
begin(struct reader *reader, struct list_job *list, struct err *err)
{
    struct list_paths *paths = list->sort.paths = alloc_bytes(sizeof *paths);
    const char *text = list->query.order_path;
    if (!text)
        return err_set(err, ERR_USAGE, "no path to sort by");
    if (known_values(reader, list))
        return true;
    if (!json_path_parse(&paths->path, bytes_of(text), err))
        return false;
    paths->values = path_values_create();
    if (list->found.count <= FEW) {
        note_unread(paths, list->found.ids, list->found.count);
        return true;
    }
    begin_pass(reader, paths);
    return list->leaves_undecided || send_beginning(reader, list, err);
}

// The end of the pass. False: it failed.
static bool
take_pass(struct list_job *list, struct err *err)
{
    struct list_paths *paths = list->sort.paths;
    struct list_pass *pass = lane_take(paths->lane, LOOK_US);
    int64_t passed = paths->passed, total = (int64_t)list->found.count;
    list->scanned = passed < total ? passed : total;
    if (!pass)
        return true;
    lane_destroy(paths->lane);
    paths->lane = NULL;
    bool ok = !err_is_set(&pass->err);
    if (ok) {
        path_values_destroy(paths->values);
        paths->values = pass->values;
        pass->values = NULL;
        note_unread(paths, list->found.ids, list->found.count);
    } else {
        *err = pass->err;
    }
    drop_pass(pass);
    return ok;
}

bool
reader_list_paths_step(struct reader *reader, struct list_job *list, bool *is_over, struct err *err)
{
    *is_over = false;
    if (!list->sort.paths && !begin(reader, list, err)) {
        reader_list_paths_release(list);
        return false;
    }
    struct list_paths *paths = list->sort.paths;
    if (paths->lane && !take_pass(list, err)) {
        reader_list_paths_release(list); // it begins anew after a reconnect
        return false;
    }
    if (paths->unread_at < paths->unread_count) {
        size_t left = paths->unread_count - paths->unread_at, count = left < AT_ONCE ? left : AT_ONCE;
        if (!store_path_values(reader->session.store, paths->path, paths->unread + paths->unread_at, count,
                               put_read, paths->values, err))
            return false;
        paths->unread_at += count;
    }
    *is_over = !paths->lane && paths->unread_at == paths->unread_count;
    return true;
}

struct path_values *
reader_list_paths_values(const struct reader *reader, const struct list_job *list)
{
    return list->sort.paths->values ? list->sort.paths->values : known_values(reader, list);
}

void
reader_list_paths_release(struct list_job *list)
{
    struct list_paths *paths = list->sort.paths;
    if (!paths)
        return;
    lane_destroy(paths->lane);
    path_values_destroy(paths->values);
    json_path_destroy(paths->path);
    free(paths->unread);
    free(paths);
    list->sort.paths = NULL;
}
