#include "rollup/maintainer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "rollup/loader.h"
#include "rollup/packer.h"
#include "store/rollup/rollup.h"

enum {
    SLICE = 4000,
    FIRST_FILLED = 2000, // of the first count, so that something is seen at once; the next slices are larger
    MOST_FILLED = 32000,
    FIRST_COMPARED = 2000, // rows of the table; the next slices are larger
    MOST_COMPARED = 64000,
    SWEPT = 50000, // rows of a slice that is compared, or counted again, although nothing is known to differ
    FOLD_EVERY = 64,
    FOLD_ROWS = 4000,
};
static const int64_t LOOK_EVERY = US_PER_SECOND / 4;
static const int64_t CHECK_EVERY = US_PER_SECOND;
static const int64_t CLAIM_EVERY = 2 * US_PER_SECOND;
static const int64_t LATE_FOR =
    2 * US_PER_SECOND;                 // how long an id below the highest may be committed unnoticed
static const int64_t DEAR = 20;        // what only confirms may take this part of the time
static const int64_t DEAR_CHANGES = 5; // what follows changes, this

struct maintainer {
    const struct store_settings *settings;
    struct store *_Atomic store;
    char name[UUID_SIZE];
    bool is_over; // no rights, or no schema
    int attempts;

    bool is_mine;
    int64_t claim_at; // clock_mono, as the others
    int64_t low, high;
    int32_t slots_from;
    int64_t sure, sure_next; // arrivals are looked at above sure, which trails high by LATE_FOR
    int64_t sure_at;
    int64_t look_at, check_at, sweep_at;
    bool is_exact;
    int64_t compare_upto; // a difference is looked for at and below this id; 0: not now
    size_t compare_rows;
    int64_t sweep_upto; // the next slice that is compared anyway; 0: from the newest again
    int64_t unswept;    // nobody kept the sums for a while: compared at once at and below this id; 0: done
    bool is_all_unswept;
    struct {
        int64_t began, difference; // what it is to explain
        int64_t not_before;        // it explained nothing
    } search;
    bool is_at_rollup;    // what is not known to differ is looked through by ids, then by sums, and so on
    int32_t recount_from; // above this cell; 0: from the first
    bool is_doubtful;     // all ids were compared, and the counts differ: it may be the sums
    int changes;          // since the sums were folded
    struct rollup_cells *cells;
    struct rollup_slice slice;
    struct loader *loader; // during the first count
    size_t fill_rows;
    bool is_listed; // no slices of a first count are left, this maintainer's or an earlier one's
    struct packer packer;
};

struct maintainer *
maintainer_create(const struct store_settings *settings)
{
    struct maintainer *maintainer = alloc_bytes(sizeof *maintainer);
    maintainer->settings = settings;
    uuid_make(maintainer->name);
    maintainer->cells = rollup_cells_create();
    packer_init(&maintainer->packer);
    return maintainer;
}

void
maintainer_destroy(struct maintainer *maintainer)
{
    if (!maintainer)
        return;
    loader_destroy(maintainer->loader);
    if (maintainer->is_mine && maintainer->store && store_is_connected(maintainer->store))
        (void)!rollup_release(maintainer->store, maintainer->name, NULL);
    store_close(maintainer->store);
    rollup_cells_destroy(maintainer->cells);
    rollup_slice_release(&maintainer->slice);
    free(maintainer);
}

void
maintainer_interrupt(struct maintainer *maintainer)
{
    struct store *store = atomic_load(&maintainer->store);
    if (store)
        store_interrupt(store);
}

bool
maintainer_is_exact(const struct maintainer *maintainer)
{
    return maintainer->is_exact;
}

static bool
maintainer_connect(struct maintainer *maintainer, struct err *err)
{
    struct store *opened = NULL;
    if (maintainer->store)
        return store_is_connected(maintainer->store) || store_reconnect(maintainer->store, err);
    if (!store_open(&opened, maintainer->settings, err))
        return false;
    atomic_store(&maintainer->store, opened);
    return true;
}

// Are the sums as this maintainer left them? Behind a pooler its connection outlives the server: then what is
// not logged is gone, and the claim has begun to count anew.
static bool
goes_on(const struct maintainer *maintainer, const struct rollup_claim *claim)
{
    return maintainer->is_mine && claim->low == maintainer->low && claim->high == maintainer->high;
}

static void
maintainer_begin(struct maintainer *maintainer, const struct rollup_claim *claim)
{
    maintainer->sure = maintainer->sure_next = maintainer->high = claim->high;
    maintainer->compare_upto = maintainer->sweep_upto = 0;
    maintainer->recount_from = 0;
    maintainer->search.not_before = 0;
    maintainer->is_exact = maintainer->is_listed = maintainer->is_doubtful = false;
    maintainer->packer.mark = 0;
    maintainer->fill_rows = FIRST_FILLED;
    // What was remembered of cells may have gone with a crash of the server.
    loader_destroy(maintainer->loader);
    maintainer->loader = NULL;
    rollup_cells_destroy(maintainer->cells);
    maintainer->cells = rollup_cells_create();
}

static bool
claim(struct maintainer *maintainer, struct err *err)
{
    struct rollup_claim claim;
    if (maintainer->loader && !loader_wait(maintainer->loader, err)) // so that low is where the count is
        return false;
    if (!rollup_claim(maintainer->store, maintainer->name, &claim, err))
        return false;
    maintainer->claim_at = clock_mono() + CLAIM_EVERY;
    if (claim.is_mine && !goes_on(maintainer, &claim))
        maintainer_begin(maintainer, &claim);
    maintainer->is_mine = claim.is_mine;
    maintainer->low = claim.low;
    maintainer->slots_from = claim.slots_from;
    maintainer->unswept = claim.unswept;
    maintainer->is_all_unswept = claim.unswept > 0 && claim.unswept == claim.high;
    if (maintainer->is_mine) {
        maintainer->is_exact &= maintainer->unswept == 0;
        return true;
    }
    struct rollup_state state;
    if (!rollup_state(maintainer->store, &state, err))
        return false;
    maintainer->is_exact = state.is_ours && state.is_kept && !state.is_counting && state.behind == 0 &&
                           state.exact_at != TIME_ABSENT;
    return true;
}

static bool
add(struct maintainer *maintainer, int64_t high, struct err *err)
{
    if (!rollup_add(maintainer->store, maintainer->name, &maintainer->slice, high, err))
        return false;
    maintainer->changes++;
    return true;
}

// Counts these, in slices; releases them. high: how far was looked with them, as rollup_add takes it.
static bool
add_missing(struct maintainer *maintainer, struct rollup_missing *missing, int64_t high, struct err *err)
{
    bool ok = true;
    for (size_t at = 0; ok && at < missing->count; at += SLICE) {
        struct rollup_range range = {.ids = missing->ids + at,
                                     .versions = missing->versions + at,
                                     .id_count = missing->count - at < SLICE ? missing->count - at : SLICE};
        ok = rollup_gather(maintainer->store, maintainer->name, maintainer->cells, &range, &maintainer->slice,
                           err) &&
             add(maintainer, high, err);
    }
    rollup_missing_release(missing);
    return ok;
}

// --- what is due, most urgent first; each tells in *is_done whether there is more of its kind ---

static bool
look_at_arrivals(struct maintainer *maintainer, bool *is_done, struct err *err)
{
    struct rollup_missing came;
    if (!rollup_arrivals(maintainer->store, maintainer->sure, SLICE, &came, err))
        return false;
    *is_done = came.count < SLICE;
    if (came.count) {
        int64_t last = came.ids[came.count - 1];
        if (!add_missing(maintainer, &came, last, err))
            return false;
        if (last > maintainer->high)
            maintainer->high = last;
    }
    int64_t now = clock_mono();
    if (!*is_done) {
        maintainer->sure = maintainer->sure_next =
            maintainer->high; // what commits out of order is found by the comparison
        maintainer->sure_at = now + LATE_FOR;
    } else if (now >= maintainer->sure_at) {
        maintainer->sure = maintainer->sure_next;
        maintainer->sure_next = maintainer->high;
        maintainer->sure_at = now + LATE_FOR;
    }
    return true;
}

// A slice of the first count, the highest ids that are not counted; and the one below it by the loader.
static bool
fill_two(struct maintainer *maintainer, int64_t *low, struct err *err)
{
    int64_t middle;
    struct rollup_range range = {.before_id = maintainer->low, .limit = maintainer->fill_rows};
    if (!rollup_rows_below(maintainer->store, maintainer->low, maintainer->fill_rows, &middle, err))
        return false;
    range.after_id = middle;
    bool ok = (middle == 0 || loader_read(maintainer->loader, middle, maintainer->fill_rows, err)) &&
              rollup_gather(maintainer->store, maintainer->name, maintainer->cells, &range,
                            &maintainer->slice, err) &&
              (middle ? loader_wait_written : loader_wait)(maintainer->loader, err) &&
              rollup_fill(maintainer->store, maintainer->name, &maintainer->slice, maintainer->low, middle,
                          maintainer->slots_from, err);
    if (!ok)
        return false;
    maintainer->low = *low = middle;
    return middle == 0 || loader_write(maintainer->loader, middle, maintainer->slots_from, low, err);
}

static bool
look_below(struct maintainer *maintainer, struct err *err)
{
    if (!maintainer->loader)
        maintainer->loader = loader_create(maintainer->settings, maintainer->name);
    int64_t low;
    if (!fill_two(maintainer, &low, err))
        return false;
    if (low == 0) {
        if (!loader_wait(maintainer->loader, err))
            return false;
        loader_destroy(maintainer->loader);
        maintainer->loader = NULL;
    }
    if (maintainer->fill_rows < MOST_FILLED)
        maintainer->fill_rows *= 4;
    maintainer->changes++;
    maintainer->low = low;
    maintainer->is_listed = false;
    maintainer->check_at = 0;
    return true;
}

// A slice of the first count that is in the sums only.
static bool
list_slice(struct maintainer *maintainer, struct err *err)
{
    int64_t left;
    if (!rollup_list_slice(maintainer->store, maintainer->name, &left, err))
        return false;
    maintainer->is_listed = left == 0;
    if (maintainer->is_listed)
        maintainer->look_at = 0; // what was noted meanwhile waits
    return true;
}

static bool
maintainer_settle(struct maintainer *maintainer, bool *is_done, struct err *err)
{
    struct rollup_missing missing;
    int64_t looked_at;
    if (!rollup_reconcile(maintainer->store, maintainer->name, &missing, &looked_at, err))
        return false;
    *is_done = looked_at == 0;
    maintainer->changes += !*is_done;
    return add_missing(maintainer, &missing, INT64_MIN, err);
}

static bool
maintainer_check(struct maintainer *maintainer, struct err *err)
{
    struct rollup_check check;
    int64_t began = clock_mono();
    if (!rollup_check(maintainer->store, maintainer->name, &check, err))
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * DEAR;
    maintainer->check_at = now + (pause > CHECK_EVERY ? pause : CHECK_EVERY);
    bool agrees = check.difference == 0 && maintainer->low == 0;
    maintainer->is_exact = agrees && maintainer->unswept == 0;
    if (agrees) {
        maintainer->compare_upto = 0;
    } else if (maintainer->low == 0 && maintainer->compare_upto == 0 &&
               now >= maintainer->search.not_before) {
        maintainer->compare_upto = maintainer->high;
        maintainer->compare_rows = FIRST_COMPARED;
        maintainer->search.began = now;
        maintainer->search.difference = check.difference;
    }
    return true;
}

static bool
maintainer_compare(struct maintainer *maintainer, int64_t upto, size_t rows, int64_t *until, bool *differs,
                   struct err *err)
{
    struct rollup_missing missing;
    if (!rollup_compare(maintainer->store, maintainer->name, upto, rows, &missing, err))
        return false;
    *until = missing.until;
    *differs = missing.count > 0 || missing.gone > 0;
    maintainer->changes += *differs;
    return add_missing(maintainer, &missing, INT64_MIN, err);
}

// All ids were compared. If the counts still differ it may be the sums; and if they differ as before,
// comparing again at once will not help either.
static bool
end_search(struct maintainer *maintainer, struct err *err)
{
    struct rollup_check check;
    if (!rollup_check(maintainer->store, maintainer->name, &check, err))
        return false;
    int64_t now = clock_mono();
    if (check.difference == maintainer->search.difference)
        maintainer->search.not_before = now + (now - maintainer->search.began) * DEAR;
    maintainer->is_doubtful = check.difference != 0;
    maintainer->recount_from = 0;
    maintainer->check_at = 0;
    return true;
}

// A slice of the search for a difference that the count has shown.
static bool
search(struct maintainer *maintainer, struct err *err)
{
    int64_t until;
    bool differs;
    if (!maintainer_compare(maintainer, maintainer->compare_upto, maintainer->compare_rows, &until, &differs,
                            err))
        return false;
    maintainer->compare_upto = until > 0 ? until : 0;
    if (maintainer->compare_rows < MOST_COMPARED)
        maintainer->compare_rows *= 2;
    if (maintainer->compare_upto == 0)
        return end_search(maintainer, err);
    return !differs || maintainer_check(maintainer, err);
}

// All of it, once: from here on what changes is seen.
static bool
catch_up(struct maintainer *maintainer, struct err *err)
{
    int64_t until;
    bool differs;
    if (maintainer->is_all_unswept && !packer_sweep_began(&maintainer->packer, maintainer->store, err))
        return false;
    maintainer->is_all_unswept = false;
    if (!maintainer_compare(maintainer, maintainer->unswept, MOST_COMPARED, &until, &differs, err))
        return false;
    maintainer->unswept = until > maintainer->low ? until : 0;
    maintainer->check_at = 0;
    return maintainer->unswept ||
           packer_sweep_ended(&maintainer->packer, maintainer->store, maintainer->name, err);
}

// What somebody changed in equal numbers, or in a column.
static bool
sweep_ids(struct maintainer *maintainer, bool *differs, struct err *err)
{
    int64_t until;
    if (maintainer->sweep_upto == 0 && !packer_sweep_began(&maintainer->packer, maintainer->store, err))
        return false;
    if (!maintainer_compare(maintainer, maintainer->sweep_upto ? maintainer->sweep_upto : maintainer->high,
                            SWEPT, &until, differs, err))
        return false;
    maintainer->sweep_upto = until;
    maintainer->is_at_rollup = until == 0;
    return until || packer_sweep_ended(&maintainer->packer, maintainer->store, maintainer->name, err);
}

// Sums that are not those of their events.
static bool
sweep_rollup(struct maintainer *maintainer, bool *differs, struct err *err)
{
    int64_t wrong;
    if (!rollup_recount(maintainer->store, maintainer->name, SWEPT, &maintainer->recount_from, &wrong, err))
        return false;
    *differs = wrong > 0;
    if (*differs) {
        maintainer->changes++;
        maintainer->search.not_before = 0;
        maintainer->check_at = 0;
        log_line(LOG_WARN, "rollup was wrong", LOG_INT("corrected", wrong));
    }
    if (maintainer->recount_from == 0)
        maintainer->is_doubtful = maintainer->is_at_rollup = false;
    return true;
}

// A slice of what is not known to differ. Where it does, there may be more.
static bool
sweep(struct maintainer *maintainer, struct err *err)
{
    int64_t began = clock_mono();
    bool differs;
    bool ok = maintainer->is_at_rollup || maintainer->is_doubtful ? sweep_rollup(maintainer, &differs, err)
                                                                  : sweep_ids(maintainer, &differs, err);
    if (!ok)
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * (differs ? DEAR_CHANGES : DEAR);
    maintainer->sweep_at = now + (!differs && pause < CHECK_EVERY ? CHECK_EVERY : pause);
    return true;
}

static bool
maintainer_fold(struct maintainer *maintainer, struct err *err)
{
    maintainer->changes = 0;
    return rollup_fold(maintainer->store, maintainer->name, FOLD_ROWS, err);
}

// Does what is due; *wait: µs until something is.
static bool
maintainer_keep(struct maintainer *maintainer, int64_t *wait, struct err *err)
{
    int64_t now = clock_mono();
    bool is_done = true;
    bool is_settled = true;
    *wait = 0;
    if (now >= maintainer->look_at) {
        if ((maintainer->is_listed && !maintainer_settle(maintainer, &is_settled, err)) ||
            !look_at_arrivals(maintainer, &is_done, err))
            return false;
        if (is_done && is_settled)
            maintainer->look_at = clock_mono() + LOOK_EVERY;
    }
    if (maintainer->changes >= FOLD_EVERY)
        return maintainer_fold(maintainer, err);
    if (maintainer->low > 0)
        return look_below(maintainer, err);
    if (!is_done || !is_settled)
        return true;
    if (!maintainer->is_listed)
        return list_slice(maintainer, err);
    if (maintainer->unswept > 0)
        return catch_up(maintainer, err);
    if (now >= maintainer->check_at)
        return maintainer_check(maintainer, err);
    if (maintainer->compare_upto > 0)
        return search(maintainer, err);
    if (now >= maintainer->sweep_at || maintainer->is_doubtful)
        return sweep(maintainer, err);
    if (now >= maintainer->packer.at)
        return packer_step(&maintainer->packer, maintainer->store, maintainer->name, maintainer->sure, err);

    int64_t until = maintainer->look_at;
    until = maintainer->check_at < until ? maintainer->check_at : until;
    until = maintainer->sweep_at < until ? maintainer->sweep_at : until;
    until = maintainer->packer.at < until ? maintainer->packer.at : until;
    *wait = until > now ? until - now : 1000;
    return true;
}

// After a failure: how long to rest.
static int64_t
rest(struct maintainer *maintainer, const struct err *err)
{
    maintainer->is_mine = false;
    maintainer->is_exact = false;
    maintainer->claim_at = 0;
    if (err->kind == ERR_CONFLICT)
        return 0; // another one keeps them: then its state is looked at
    if (err->kind == ERR_DENIED || err->kind == ERR_NOT_FOUND || err->kind == ERR_USAGE) {
        maintainer->is_over = true;
        return INT64_MAX;
    }
    log_line(LOG_WARN, "rollup paused", LOG_TEXT("why", err->text));
    return store_backoff(maintainer->attempts++);
}

int64_t
maintainer_step(struct maintainer *maintainer)
{
    struct err err = {0};
    int64_t wait = 0;
    if (maintainer->is_over)
        return INT64_MAX;
    if (!maintainer_connect(maintainer, &err))
        return rest(maintainer, &err);
    if (clock_mono() >= maintainer->claim_at && !claim(maintainer, &err))
        return rest(maintainer, &err);
    if (!maintainer->is_mine)
        return maintainer->claim_at - clock_mono() > 1000 ? maintainer->claim_at - clock_mono() : 1000;
    if (!maintainer_keep(maintainer, &wait, &err))
        return rest(maintainer, &err);
    maintainer->attempts = 0;
    return wait;
}
