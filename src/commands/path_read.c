#include "commands/path_read.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "commands/choosing.h"
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

bool
path_read(struct store *store, const struct json_path *path, const int64_t *ids, size_t count,
          struct path_values *values, void *progress, struct err *err)
{
    struct path_reading reading = {.values = values, .progress = progress};
    bool ok = count <= FEW || store_path_pass(store, path, put_value, &reading, err);
    // Closed events, and those that became pending since.
    int64_t *unread = alloc_array(count + 1, sizeof *unread);
    count = ok ? path_values_unread(values, ids, count, unread) : 0;
    ok = ok && store_path_values(store, path, unread, count, put_value, &reading, err);
    free(unread);
    return ok;
}
