#include "commands/change_ahead.h"

#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "core/selection.h"

struct change_ahead {
    struct store_settings settings;
    struct choice choice;
    struct preview_ahead *rows;
    struct thread *thread;
};

// A guess may miss what the caller finds: its preview reads that, and says what is wrong.
static void
read_ahead(void *context)
{
    struct change_ahead *ahead = context;
    struct store *store;
    struct choose_tally tally = {0};
    int64_t *ids = NULL;
    size_t count = 0;
    struct err ignored = {0};
    if (!store_open(&store, &ahead->settings, &ignored))
        return;
    if (!choose_ids(store, &ahead->choice, NULL, NULL, &ids, &count, &tally, &ignored))
        count = 0;
    if (preview_ahead_begin(ahead->rows, store, ids, ids_normalise(ids, count)))
        preview_ahead_read(ahead->rows, store);
    choose_tally_release(&tally);
    free(ids);
}

struct change_ahead *
change_ahead_start(const struct store_settings *settings, const struct choice *choice)
{
    struct change_ahead *ahead = alloc_bytes(sizeof *ahead);
    *ahead = (struct change_ahead){.settings = *settings, .choice = *choice, .rows = preview_ahead_create()};
    ahead->choice.is_counted = true;
    ahead->thread = thread_start(read_ahead, ahead, "reading");
    return ahead;
}

struct preview_ahead *
change_ahead_join(struct change_ahead *ahead, struct store *store, const int64_t *ids, size_t count)
{
    if (!ahead)
        return NULL;
    if (preview_ahead_is_of_use(ahead->rows, ids, count))
        preview_ahead_read(ahead->rows, store);
    preview_ahead_stop(ahead->rows);
    thread_join(ahead->thread);
    ahead->thread = NULL;
    return ahead->rows;
}

void
change_ahead_destroy(struct change_ahead *ahead)
{
    if (!ahead)
        return;
    (void)change_ahead_join(ahead, NULL, NULL, 0);
    preview_ahead_destroy(ahead->rows);
    free(ahead);
}
