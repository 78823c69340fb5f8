#include "commands/path_read.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "commands/choosing.h"
#include "commands/cli/interrupt.h"
#include "store/events/paths.h"

// Fewer events are read one by one, whatever their payloads: a pass looks at all pending ones.
enum { FEW = 5000, TICK = 1000 };

struct path_reading {
    struct path_values *values;
    void *progress;
    int64_t events;
};

static bool
tick(const struct path_reading *reading)
{
    const struct choose_tally tally = {.scanned = reading->events};
    return choosing_tick(reading->progress, &tally);
}

static bool
put_value(void *context, int64_t id, struct bytes token)
{
    struct path_reading *reading = context;
    path_values_put(reading->values, id, token);
    return ++reading->events % TICK || tick(reading);
}

struct path_ahead {
    struct store_settings settings;
    const struct json_path *path;
    struct path_values *values;
    struct thread *thread;
    atomic_bool is_stopped;
    bool is_whole;
};

static bool
put_ahead(void *context, int64_t id, struct bytes token)
{
    struct path_ahead *ahead = context;
    path_values_put(ahead->values, id, token);
    return !atomic_load_explicit(&ahead->is_stopped, memory_order_relaxed) && !interrupt_is_set();
}

static void
pass_ahead(void *context)
{
    struct path_ahead *ahead = context;
    struct store *store = NULL;
    struct err ignored = {0}; // path_read reads by the caller's connection, which says what is wrong
    ahead->is_whole = store_open(&store, &ahead->settings, &ignored) &&
                      store_path_pass(store, ahead->path, put_ahead, ahead, &ignored);
    store_close(store);
}

struct path_ahead *
path_ahead_start(const struct store_settings *settings, const struct json_path *path,
                 struct path_values *values)
{
    struct path_ahead *ahead = alloc_bytes(sizeof *ahead);
    *ahead = (struct path_ahead){.settings = *settings, .path = path, .values = values};
    ahead->thread = thread_start(pass_ahead, ahead, "reading");
    return ahead;
}

bool
path_ahead_end(struct path_ahead *ahead)
{
    if (!ahead)
        return false;
    thread_join(ahead->thread);
    bool is_whole = ahead->is_whole;
    free(ahead);
    return is_whole;
}

void
path_ahead_stop(struct path_ahead *ahead)
{
    if (ahead)
        atomic_store(&ahead->is_stopped, true);
    (void)path_ahead_end(ahead);
}

bool
path_read(struct store *store, const struct json_path *path, const int64_t *ids, size_t count,
          struct path_values *values, struct path_ahead *ahead, void *progress, struct err *err)
{
    struct path_reading reading = {.values = values, .progress = progress};
    bool is_passed = path_ahead_end(ahead);
    bool ok = is_passed || count <= FEW || store_path_pass(store, path, put_value, &reading, err);
    // Closed events, and those that became pending since.
    int64_t *unread = alloc_array(count + 1, sizeof *unread);
    count = ok ? path_values_unread(values, ids, count, unread) : 0;
    ok = ok && store_path_values(store, path, unread, count, put_value, &reading, err);
    free(unread);
    return ok;
}
