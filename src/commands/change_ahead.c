#include "commands/change_ahead.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "core/selection.h"
#include "rollup/reader.h"

struct change_ahead {
    struct store_settings settings;
    struct choice choice;
    struct preview_ahead *rows;
    struct thread *thread;
    int64_t *ids; // the guess, ascending; heap
    size_t count;
    uint64_t token;         // of the rollup before the guess was made
    atomic_bool is_guessed; // the guess is there
};

// Only where each event of the rollup can be read in it, the token tells that these are the same.
static bool
guess(struct change_ahead *ahead, struct store *store)
{
    struct rollup_state state;
    struct choose_tally tally = {0};
    struct err ignored = {0};
    bool ok = rollup_state(store, &state, &ignored) && rollup_is_readable(&state) &&
              choose_ids(store, &ahead->choice, NULL, NULL, &ahead->ids, &ahead->count, &tally, &ignored);
    choose_tally_release(&tally);
    if (!ok)
        return false;
    ahead->count = ids_normalise(ahead->ids, ahead->count);
    ahead->token = state.token;
    atomic_store(&ahead->is_guessed, true);
    return true;
}

// A guess may miss what the caller finds: its preview reads that, and says what is wrong.
static void
read_ahead(void *context)
{
    struct change_ahead *ahead = context;
    struct store *store;
    struct err ignored = {0};
    if (!store_open(&store, &ahead->settings, &ignored))
        return;
    (void)guess(ahead, store);
    if (preview_ahead_begin(ahead->rows, store, ahead->ids, ahead->count))
        preview_ahead_read(ahead->rows, store);
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

bool
change_ahead_guess(const struct change_ahead *ahead, uint64_t token, const int64_t **ids, size_t *count)
{
    if (!ahead || !atomic_load(&ahead->is_guessed) || ahead->token != token)
        return false;
    *ids = ahead->ids;
    *count = ahead->count;
    return true;
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
    free(ahead->ids);
    free(ahead);
}
