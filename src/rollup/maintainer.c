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

struct keeper {
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
    bool is_at_sums;      // what is not known to differ is looked through by ids, then by sums, and so on
    int32_t recount_from; // above this cell; 0: from the first
    bool is_doubtful;     // all ids were compared, and the counts differ: it may be the sums
    int changes;          // since the sums were folded
    struct rollup_cells *cells;
    struct rollup_slice slice;
    struct filler *filler; // during the first count
    size_t fill_rows;
    bool is_listed; // no slices of a first count are left, this keeper's or an earlier one's
    struct text_packer packer;
};

struct keeper *
keeper_create(const struct store_settings *settings)
{
    struct keeper *keeper = alloc_bytes(sizeof *keeper);
    keeper->settings = settings;
    uuid_make(keeper->name);
    keeper->cells = rollup_cells_create();
    text_packer_init(&keeper->packer);
    return keeper;
}

void
keeper_destroy(struct keeper *keeper)
{
    if (!keeper)
        return;
    filler_destroy(keeper->filler);
    if (keeper->is_mine && keeper->store && store_is_connected(keeper->store))
        (void)!rollup_release(keeper->store, keeper->name, NULL);
    store_close(keeper->store);
    rollup_cells_destroy(keeper->cells);
    rollup_slice_release(&keeper->slice);
    free(keeper);
}

void
keeper_interrupt(struct keeper *keeper)
{
    struct store *store = atomic_load(&keeper->store);
    if (store)
        store_interrupt(store);
}

bool
keeper_is_exact(const struct keeper *keeper)
{
    return keeper->is_exact;
}

static bool
connect(struct keeper *keeper, struct err *err)
{
    struct store *opened = NULL;
    if (keeper->store)
        return store_is_connected(keeper->store) || store_reconnect(keeper->store, err);
    if (!store_open(&opened, keeper->settings, err))
        return false;
    atomic_store(&keeper->store, opened);
    return true;
}

// Are the sums as this keeper left them? Behind a pooler its connection outlives the server: then what is not
// logged is gone, and the claim has begun to count anew.
static bool
goes_on(const struct keeper *keeper, const struct rollup_claim *claim)
{
    return keeper->is_mine && claim->low == keeper->low && claim->high == keeper->high;
}

static void
begin(struct keeper *keeper, const struct rollup_claim *claim)
{
    keeper->sure = keeper->sure_next = keeper->high = claim->high;
    keeper->compare_upto = keeper->sweep_upto = 0;
    keeper->recount_from = 0;
    keeper->search.not_before = 0;
    keeper->is_exact = keeper->is_listed = keeper->is_doubtful = false;
    keeper->packer.mark = 0;
    keeper->fill_rows = FIRST_FILLED;
    // What was remembered of cells may have gone with a crash of the server.
    filler_destroy(keeper->filler);
    keeper->filler = NULL;
    rollup_cells_destroy(keeper->cells);
    keeper->cells = rollup_cells_create();
}

static bool
claim(struct keeper *keeper, struct err *err)
{
    struct rollup_claim claim;
    if (keeper->filler && !filler_wait(keeper->filler, err)) // so that low is where the count is
        return false;
    if (!rollup_claim(keeper->store, keeper->name, &claim, err))
        return false;
    keeper->claim_at = clock_mono() + CLAIM_EVERY;
    if (claim.is_mine && !goes_on(keeper, &claim))
        begin(keeper, &claim);
    keeper->is_mine = claim.is_mine;
    keeper->low = claim.low;
    keeper->slots_from = claim.slots_from;
    keeper->unswept = claim.unswept;
    keeper->is_all_unswept = claim.unswept > 0 && claim.unswept == claim.high;
    if (keeper->is_mine) {
        keeper->is_exact &= keeper->unswept == 0;
        return true;
    }
    struct rollup_state state;
    if (!rollup_state(keeper->store, &state, err))
        return false;
    keeper->is_exact = state.is_ours && state.is_kept && !state.is_counting && state.behind == 0 &&
                       state.exact_at != TIME_ABSENT;
    return true;
}

static bool
add(struct keeper *keeper, int64_t high, struct err *err)
{
    if (!rollup_add(keeper->store, keeper->name, &keeper->slice, high, err))
        return false;
    keeper->changes++;
    return true;
}

// Counts these, in slices; releases them. high: how far was looked with them, as rollup_add takes it.
static bool
add_missing(struct keeper *keeper, struct rollup_missing *missing, int64_t high, struct err *err)
{
    bool ok = true;
    for (size_t at = 0; ok && at < missing->count; at += SLICE) {
        struct rollup_range range = {.ids = missing->ids + at,
                                     .versions = missing->versions + at,
                                     .id_count = missing->count - at < SLICE ? missing->count - at : SLICE};
        ok = rollup_gather(keeper->store, keeper->name, keeper->cells, &range, &keeper->slice, err) &&
             add(keeper, high, err);
    }
    rollup_missing_release(missing);
    return ok;
}

// --- what is due, most urgent first; each tells in *is_done whether there is more of its kind ---

static bool
look_at_arrivals(struct keeper *keeper, bool *is_done, struct err *err)
{
    struct rollup_missing came;
    if (!rollup_arrivals(keeper->store, keeper->sure, SLICE, &came, err))
        return false;
    *is_done = came.count < SLICE;
    if (came.count) {
        int64_t last = came.ids[came.count - 1];
        if (!add_missing(keeper, &came, last, err))
            return false;
        if (last > keeper->high)
            keeper->high = last;
    }
    int64_t now = clock_mono();
    if (!*is_done) {
        keeper->sure = keeper->sure_next =
            keeper->high; // what commits out of order is found by the comparison
        keeper->sure_at = now + LATE_FOR;
    } else if (now >= keeper->sure_at) {
        keeper->sure = keeper->sure_next;
        keeper->sure_next = keeper->high;
        keeper->sure_at = now + LATE_FOR;
    }
    return true;
}

// A slice of the first count, the highest ids that are not counted; and the one below it by the filler.
static bool
fill_two(struct keeper *keeper, int64_t *low, struct err *err)
{
    int64_t middle;
    struct rollup_range range = {.before_id = keeper->low, .limit = keeper->fill_rows};
    if (!rollup_rows_below(keeper->store, keeper->low, keeper->fill_rows, &middle, err))
        return false;
    range.after_id = middle;
    bool ok = (middle == 0 || filler_read(keeper->filler, middle, keeper->fill_rows, err)) &&
              rollup_gather(keeper->store, keeper->name, keeper->cells, &range, &keeper->slice, err) &&
              (middle ? filler_wait_written : filler_wait)(keeper->filler, err) &&
              rollup_fill(keeper->store, keeper->name, &keeper->slice, keeper->low, middle,
                          keeper->slots_from, err);
    if (!ok)
        return false;
    keeper->low = *low = middle;
    return middle == 0 || filler_write(keeper->filler, middle, keeper->slots_from, low, err);
}

static bool
look_below(struct keeper *keeper, struct err *err)
{
    if (!keeper->filler)
        keeper->filler = filler_create(keeper->settings, keeper->name);
    int64_t low;
    if (!fill_two(keeper, &low, err))
        return false;
    if (low == 0) {
        if (!filler_wait(keeper->filler, err))
            return false;
        filler_destroy(keeper->filler);
        keeper->filler = NULL;
    }
    if (keeper->fill_rows < MOST_FILLED)
        keeper->fill_rows *= 4;
    keeper->changes++;
    keeper->low = low;
    keeper->is_listed = false;
    keeper->check_at = 0;
    return true;
}

// A slice of the first count that is in the sums only.
static bool
list_slice(struct keeper *keeper, struct err *err)
{
    int64_t left;
    if (!rollup_list_slice(keeper->store, keeper->name, &left, err))
        return false;
    keeper->is_listed = left == 0;
    if (keeper->is_listed)
        keeper->look_at = 0; // what was noted meanwhile waits
    return true;
}

static bool
settle(struct keeper *keeper, bool *is_done, struct err *err)
{
    struct rollup_missing missing;
    int64_t looked_at;
    if (!rollup_settle(keeper->store, keeper->name, &missing, &looked_at, err))
        return false;
    *is_done = looked_at == 0;
    keeper->changes += !*is_done;
    return add_missing(keeper, &missing, INT64_MIN, err);
}

static bool
check(struct keeper *keeper, struct err *err)
{
    struct rollup_check check;
    int64_t began = clock_mono();
    if (!rollup_check(keeper->store, keeper->name, &check, err))
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * DEAR;
    keeper->check_at = now + (pause > CHECK_EVERY ? pause : CHECK_EVERY);
    bool agrees = check.difference == 0 && keeper->low == 0;
    keeper->is_exact = agrees && keeper->unswept == 0;
    if (agrees) {
        keeper->compare_upto = 0;
    } else if (keeper->low == 0 && keeper->compare_upto == 0 && now >= keeper->search.not_before) {
        keeper->compare_upto = keeper->high;
        keeper->compare_rows = FIRST_COMPARED;
        keeper->search.began = now;
        keeper->search.difference = check.difference;
    }
    return true;
}

static bool
compare(struct keeper *keeper, int64_t upto, size_t rows, int64_t *until, bool *differs, struct err *err)
{
    struct rollup_missing missing;
    if (!rollup_compare(keeper->store, keeper->name, upto, rows, &missing, err))
        return false;
    *until = missing.until;
    *differs = missing.count > 0 || missing.gone > 0;
    keeper->changes += *differs;
    return add_missing(keeper, &missing, INT64_MIN, err);
}

// All ids were compared. If the counts still differ it may be the sums; and if they differ as before,
// comparing again at once will not help either.
static bool
end_search(struct keeper *keeper, struct err *err)
{
    struct rollup_check check;
    if (!rollup_check(keeper->store, keeper->name, &check, err))
        return false;
    int64_t now = clock_mono();
    if (check.difference == keeper->search.difference)
        keeper->search.not_before = now + (now - keeper->search.began) * DEAR;
    keeper->is_doubtful = check.difference != 0;
    keeper->recount_from = 0;
    keeper->check_at = 0;
    return true;
}

// A slice of the search for a difference that the count has shown.
static bool
search(struct keeper *keeper, struct err *err)
{
    int64_t until;
    bool differs;
    if (!compare(keeper, keeper->compare_upto, keeper->compare_rows, &until, &differs, err))
        return false;
    keeper->compare_upto = until > 0 ? until : 0;
    if (keeper->compare_rows < MOST_COMPARED)
        keeper->compare_rows *= 2;
    if (keeper->compare_upto == 0)
        return end_search(keeper, err);
    return !differs || check(keeper, err);
}

// All of it, once: from here on what changes is seen.
static bool
catch_up(struct keeper *keeper, struct err *err)
{
    int64_t until;
    bool differs;
    if (keeper->is_all_unswept && !text_packer_sweep_began(&keeper->packer, keeper->store, err))
        return false;
    keeper->is_all_unswept = false;
    if (!compare(keeper, keeper->unswept, MOST_COMPARED, &until, &differs, err))
        return false;
    keeper->unswept = until > keeper->low ? until : 0;
    keeper->check_at = 0;
    return keeper->unswept || text_packer_sweep_ended(&keeper->packer, keeper->store, keeper->name, err);
}

// What somebody changed in equal numbers, or in a column.
static bool
sweep_ids(struct keeper *keeper, bool *differs, struct err *err)
{
    int64_t until;
    if (keeper->sweep_upto == 0 && !text_packer_sweep_began(&keeper->packer, keeper->store, err))
        return false;
    if (!compare(keeper, keeper->sweep_upto ? keeper->sweep_upto : keeper->high, SWEPT, &until, differs, err))
        return false;
    keeper->sweep_upto = until;
    keeper->is_at_sums = until == 0;
    return until || text_packer_sweep_ended(&keeper->packer, keeper->store, keeper->name, err);
}

// Sums that are not those of their events.
static bool
sweep_sums(struct keeper *keeper, bool *differs, struct err *err)
{
    int64_t wrong;
    if (!rollup_recount(keeper->store, keeper->name, SWEPT, &keeper->recount_from, &wrong, err))
        return false;
    *differs = wrong > 0;
    if (*differs) {
        keeper->changes++;
        keeper->search.not_before = 0;
        keeper->check_at = 0;
        log_line(LOG_WARN, "sums of the backlog were wrong", "put_right=%lld", (long long)wrong);
    }
    if (keeper->recount_from == 0)
        keeper->is_doubtful = keeper->is_at_sums = false;
    return true;
}

// A slice of what is not known to differ. Where it does, there may be more.
static bool
sweep(struct keeper *keeper, struct err *err)
{
    int64_t began = clock_mono();
    bool differs;
    bool ok = keeper->is_at_sums || keeper->is_doubtful ? sweep_sums(keeper, &differs, err)
                                                        : sweep_ids(keeper, &differs, err);
    if (!ok)
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * (differs ? DEAR_CHANGES : DEAR);
    keeper->sweep_at = now + (!differs && pause < CHECK_EVERY ? CHECK_EVERY : pause);
    return true;
}

static bool
fold(struct keeper *keeper, struct err *err)
{
    keeper->changes = 0;
    return rollup_fold(keeper->store, keeper->name, FOLD_ROWS, err);
}

// Does what is due; *wait: µs until something is.
static bool
keep(struct keeper *keeper, int64_t *wait, struct err *err)
{
    int64_t now = clock_mono();
    bool is_done = true;
    bool is_settled = true;
    *wait = 0;
    if (now >= keeper->look_at) {
        if ((keeper->is_listed && !settle(keeper, &is_settled, err)) ||
            !look_at_arrivals(keeper, &is_done, err))
            return false;
        if (is_done && is_settled)
            keeper->look_at = clock_mono() + LOOK_EVERY;
    }
    if (keeper->changes >= FOLD_EVERY)
        return fold(keeper, err);
    if (keeper->low > 0)
        return look_below(keeper, err);
    if (!is_done || !is_settled)
        return true;
    if (!keeper->is_listed)
        return list_slice(keeper, err);
    if (keeper->unswept > 0)
        return catch_up(keeper, err);
    if (now >= keeper->check_at)
        return check(keeper, err);
    if (keeper->compare_upto > 0)
        return search(keeper, err);
    if (now >= keeper->sweep_at || keeper->is_doubtful)
        return sweep(keeper, err);
    if (now >= keeper->packer.at)
        return text_packer_step(&keeper->packer, keeper->store, keeper->name, keeper->sure, err);

    int64_t until = keeper->look_at;
    until = keeper->check_at < until ? keeper->check_at : until;
    until = keeper->sweep_at < until ? keeper->sweep_at : until;
    until = keeper->packer.at < until ? keeper->packer.at : until;
    *wait = until > now ? until - now : 1000;
    return true;
}

// After a failure: how long to rest.
static int64_t
rest(struct keeper *keeper, const struct err *err)
{
    keeper->is_mine = false;
    keeper->is_exact = false;
    keeper->claim_at = 0;
    if (err->kind == ERR_CONFLICT)
        return 0; // another one keeps them: then its state is looked at
    if (err->kind == ERR_DENIED || err->kind == ERR_NOT_FOUND || err->kind == ERR_USAGE) {
        keeper->is_over = true;
        return INT64_MAX;
    }
    log_line(LOG_WARN, "the sums of the backlog rest", "why=\"%s\"", err->text);
    return store_backoff(keeper->attempts++);
}

int64_t
keeper_step(struct keeper *keeper)
{
    struct err err = {0};
    int64_t wait = 0;
    if (keeper->is_over)
        return INT64_MAX;
    if (!connect(keeper, &err))
        return rest(keeper, &err);
    if (clock_mono() >= keeper->claim_at && !claim(keeper, &err))
        return rest(keeper, &err);
    if (!keeper->is_mine)
        return keeper->claim_at - clock_mono() > 1000 ? keeper->claim_at - clock_mono() : 1000;
    if (!keep(keeper, &wait, &err))
        return rest(keeper, &err);
    keeper->attempts = 0;
    return wait;
}
