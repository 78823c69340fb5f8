#include "rollup/maintainer.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "rollup/loader.h"
#include "rollup/retries.h"
#include "rollup/snapshot_writer.h"
#include "store/rollup/rollup.h"
#include "store/rollup/trend.h"

enum {
    BATCH = 4000,
    FIRST_LOADED = 2000,   // events of the first batch of a first count, so that a screen soon shows some
    MOST_LOADED = 32000,   // later batches grow to this
    MANY_GROUPS = 2000,    // a batch that meets more holds their texts: the next one is small
    FEW_LOADED = 8000,     // which is this
    FIRST_COMPARED = 2000, // rows of the table; later steps grow
    MOST_COMPARED = 64000,
    SWEPT = 50000, // rows that a step of the sweep compares, or whose counts it compares
    FOLD_EVERY = 64,
    FOLD_ROWS = 4000,
    PRUNED = 2000,    // series that a step of the pruning looks at
    WRITTEN = 100000, // differences that a look at what was written finds at most,
    CATCH_UPS = 20,   // and looks, before all rows are compared instead
};
static const int64_t WITHOUT_TABLE = 10 * US_PER_SECOND;
static const int64_t LOOK_EVERY = US_PER_SECOND / 4;
static const int64_t CHECK_EVERY = US_PER_SECOND;
static const int64_t ACQUIRE_EVERY = 2 * US_PER_SECOND;
static const int64_t TREND_EVERY = 5 * US_PER_SECOND;
static const int64_t PRUNE_EVERY = 60 * US_PER_SECOND;
static const int64_t KEPT_EMPTY = 3600 * US_PER_SECOND; // a group without an event, so that one that comes
                                                        // and goes is not described again and again
static const int64_t LATE_FOR = 2 * US_PER_SECOND; // an id below the highest may be committed so much later
// Work that confirms what is known takes at most one part in so many of the time, work that finds changes one
// in so few.
static const int64_t CONFIRMING = 20;
static const int64_t CHANGING = 5;

// Times are of clock_mono, ids of the contract table.
//
// Looks above the highest id.
struct maintainer_arrivals {
    int64_t look_at;
    int64_t sure, sure_next; // looks begin above sure, which follows the highest id after LATE_FOR
    int64_t sure_at;
};

// The first count.
struct maintainer_load {
    struct rollup_series *series;
    struct rollup_batch batch;
    struct loader *loader; // NULL: no first count runs
    size_t rows;           // of the next batch of a first count
    bool is_listed;        // no batch of a first count, of this maintainer or an earlier one, is left to move
};

// For a difference that the count of events shows.
struct maintainer_search {
    int64_t check_at;
    int64_t upto; // the search compares at and below this id; ROLLUP_END: no search runs
    size_t rows;  // in the next step
    int64_t began, difference;
    int64_t not_before;          // the last search explained nothing
    int64_t pending, counted_at; // of the last check
};

// For differences that it does not show: ids and series in turn.
struct maintainer_sweep {
    int64_t at;
    enum {
        SWEEP_IDS,
        SWEEP_SERIES,
        SWEEP_SERIES_NOW, // all ids were compared and the counts still differ: wrong counts are likely
    } turn;
    int64_t upto;   // of SWEEP_IDS; ROLLUP_END: from the newest again
    int32_t series; // of SWEEP_SERIES: those up to this number are compared
};

// For series and groups that have no event any more.
struct maintainer_prune {
    int64_t at;
    int32_t above; // the walk goes on above this series
};

struct maintainer {
    const struct store_settings *settings;
    struct store *store;
    bool is_borrowed;     // the store
    char name[UUID_SIZE]; // the holder of the lease
    bool is_over;         // no rights
    struct retries retries;
    int64_t acquire_at;
    struct rollup_lease lease; // kept up to date here between two calls
    bool is_all_uncompared;    // and the comparison of those events has not begun
    int catch_ups; // looks at what was written meanwhile that may still be made before it; -1: one failed
    bool is_exact;
    int changes; // since the counts were folded

    struct maintainer_arrivals arrivals;
    struct maintainer_load load;
    struct maintainer_search search;
    struct maintainer_sweep sweep;
    struct maintainer_prune prune;
    int64_t trend_at; // when the trend is written next
    struct snapshot_writer snapshots;
};

struct maintainer *
maintainer_create(const struct store_settings *settings)
{
    return maintainer_create_on(settings, NULL);
}

struct maintainer *
maintainer_create_on(const struct store_settings *settings, struct store *store)
{
    struct maintainer *maintainer = alloc_bytes(sizeof *maintainer);
    maintainer->settings = settings;
    maintainer->is_borrowed = store != NULL;
    maintainer->store = store ? store : store_create(settings);
    uuid_make(maintainer->name);
    maintainer->load.series = rollup_series_create();
    snapshot_writer_init(&maintainer->snapshots);
    return maintainer;
}

void
maintainer_destroy(struct maintainer *maintainer)
{
    if (!maintainer)
        return;
    loader_destroy(maintainer->load.loader);
    if (maintainer->lease.is_mine && store_is_connected(maintainer->store))
        (void)!rollup_release(maintainer->store, maintainer->name, NULL);
    if (!maintainer->is_borrowed)
        store_close(maintainer->store);
    rollup_series_destroy(maintainer->load.series);
    rollup_batch_release(&maintainer->load.batch);
    free(maintainer);
}

void
maintainer_interrupt(struct maintainer *maintainer)
{
    store_interrupt(maintainer->store);
}

bool
maintainer_is_exact(const struct maintainer *maintainer)
{
    return maintainer->is_exact;
}

// Is the rollup as this maintainer left it? Behind a pooler its connection outlives the server. Unlogged
// tables are empty after a crash of the server, and acquiring the lease has begun a new count.
static bool
is_continued(const struct maintainer *maintainer, const struct rollup_lease *lease)
{
    return maintainer->lease.is_mine && lease->low == maintainer->lease.low &&
           lease->high == maintainer->lease.high;
}

static void
maintainer_begin(struct maintainer *maintainer)
{
    maintainer->arrivals.sure = maintainer->arrivals.sure_next = maintainer->lease.high;
    maintainer->search.upto = ROLLUP_END;
    maintainer->search.not_before = 0;
    maintainer->sweep.turn = SWEEP_IDS;
    maintainer->sweep.upto = ROLLUP_END;
    maintainer->sweep.series = 0;
    maintainer->is_exact = false;
    maintainer->snapshots.xmin_floor = 0;
    // Series that were remembered may be gone from the database after a crash of the server.
    loader_destroy(maintainer->load.loader);
    maintainer->load.loader = NULL;
    maintainer->load.rows = FIRST_LOADED;
    maintainer->load.is_listed = false;
    rollup_series_destroy(maintainer->load.series);
    maintainer->load.series = rollup_series_create();
}

static bool
look_at_other(struct maintainer *maintainer, struct err *err)
{
    struct rollup_state state;
    if (!rollup_state(maintainer->store, &state, err))
        return false;
    maintainer->is_exact = state.is_ours && state.is_kept && !state.is_counting && state.behind == 0 &&
                           state.exact_at != TIME_ABSENT;
    return true;
}

static bool
acquire(struct maintainer *maintainer, struct err *err)
{
    struct rollup_lease lease;
    // The lease tells how far the count came, so the loader writes its batch first.
    if (maintainer->load.loader && !loader_wait(maintainer->load.loader, err))
        return false;
    if (!rollup_acquire(maintainer->store, maintainer->name, &lease, err))
        return false;
    maintainer->acquire_at = clock_mono() + ACQUIRE_EVERY;
    bool begins = lease.is_mine && !is_continued(maintainer, &lease);
    maintainer->lease = lease;
    maintainer->is_all_uncompared = lease.uncompared > ROLLUP_END && lease.uncompared == lease.high;
    if (maintainer->is_all_uncompared && maintainer->catch_ups >= 0)
        maintainer->catch_ups = CATCH_UPS;
    if (begins)
        maintainer_begin(maintainer);
    if (!lease.is_mine)
        return look_at_other(maintainer, err);
    maintainer->is_exact &= lease.uncompared == ROLLUP_END;
    return true;
}

static bool
add_batch(struct maintainer *maintainer, int64_t high, struct err *err)
{
    if (!rollup_add(maintainer->store, maintainer->name, &maintainer->load.batch, high, err))
        return false;
    maintainer->changes++;
    return true;
}

// Counts these events, batch by batch, and releases the list. high: as in rollup_add.
static bool
add_missing(struct maintainer *maintainer, struct rollup_missing *missing, int64_t high, struct err *err)
{
    bool ok = true;
    for (size_t at = 0; ok && at < missing->count; at += BATCH) {
        const struct rollup_range range = {.ids = missing->ids + at,
                                           .versions = missing->versions + at,
                                           .id_count =
                                               missing->count - at < BATCH ? missing->count - at : BATCH};
        ok = rollup_gather(maintainer->store, maintainer->name, maintainer->load.series, &range,
                           &maintainer->load.batch, err) &&
             add_batch(maintainer, high, err);
    }
    rollup_missing_release(missing);
    return ok;
}

// --- arrivals and notes; *is_done: nothing more of the kind is due now ---

static bool
look_at_arrivals(struct maintainer *maintainer, bool *is_done, struct err *err)
{
    struct rollup_missing arrived;
    if (!rollup_arrivals(maintainer->store, maintainer->arrivals.sure, BATCH, &arrived, err))
        return false;
    *is_done = arrived.count < BATCH;
    if (arrived.count) {
        int64_t last = arrived.ids[arrived.count - 1];
        if (!add_missing(maintainer, &arrived, last, err))
            return false;
        if (last > maintainer->lease.high)
            maintainer->lease.high = last;
    }
    int64_t now = clock_mono();
    if (!*is_done) {
        // Events that are committed out of order are left to the comparison.
        maintainer->arrivals.sure = maintainer->arrivals.sure_next = maintainer->lease.high;
        maintainer->arrivals.sure_at = now + LATE_FOR;
    } else if (now >= maintainer->arrivals.sure_at) {
        maintainer->arrivals.sure = maintainer->arrivals.sure_next;
        maintainer->arrivals.sure_next = maintainer->lease.high;
        maintainer->arrivals.sure_at = now + LATE_FOR;
    }
    return true;
}

static bool
drain_notes(struct maintainer *maintainer, bool *is_done, struct err *err)
{
    struct rollup_missing missing;
    int64_t looked_at;
    if (!rollup_drain(maintainer->store, maintainer->name, &missing, &looked_at, err))
        return false;
    *is_done = looked_at == 0;
    maintainer->changes += !*is_done;
    return add_missing(maintainer, &missing, INT64_MIN, err);
}

// --- the first count ---

// Loads the highest batch that is not counted, and the one below it by the loader.
static bool
load_two(struct maintainer *maintainer, int64_t *low, struct err *err)
{
    struct loader *loader = maintainer->load.loader;
    int64_t was_low = maintainer->lease.low;
    size_t rows = maintainer->load.rows;
    struct rollup_range range = {.before_id = was_low, .limit = rows};
    int64_t middle;
    if (!rollup_rows_below(maintainer->store, was_low, rows, &middle, err))
        return false;
    range.after_id = middle;
    bool ok = (middle == ROLLUP_END || loader_read(loader, middle, rows, err)) &&
              rollup_gather(maintainer->store, maintainer->name, maintainer->load.series, &range,
                            &maintainer->load.batch, err) &&
              (middle != ROLLUP_END ? loader_wait_written : loader_wait)(loader, err) &&
              rollup_load(maintainer->store, maintainer->name, &maintainer->load.batch, was_low, middle,
                          maintainer->lease.buckets_from, err);
    if (!ok)
        return false;
    maintainer->lease.low = *low = middle;
    return middle == ROLLUP_END || loader_write(loader, middle, maintainer->lease.buckets_from, low, err);
}

static bool
load_below(struct maintainer *maintainer, struct err *err)
{
    if (!maintainer->load.loader)
        maintainer->load.loader = loader_create(maintainer->settings, maintainer->name);
    int64_t low;
    if (!load_two(maintainer, &low, err))
        return false;
    if (low == ROLLUP_END) {
        if (!loader_wait(maintainer->load.loader, err))
            return false;
        loader_destroy(maintainer->load.loader);
        maintainer->load.loader = NULL;
    }
    if (maintainer->load.batch.described > MANY_GROUPS)
        maintainer->load.rows = FEW_LOADED;
    else if (maintainer->load.rows < MOST_LOADED)
        maintainer->load.rows *= 4;
    maintainer->changes++;
    maintainer->lease.low = low;
    maintainer->load.is_listed = false;
    maintainer->search.check_at = 0;
    return true;
}

static bool
move_batch(struct maintainer *maintainer, struct err *err)
{
    int64_t left;
    if (!rollup_move_batch(maintainer->store, maintainer->name, &left, err))
        return false;
    maintainer->load.is_listed = left == 0;
    if (maintainer->load.is_listed)
        maintainer->arrivals.look_at = 0; // notes have waited for this
    return true;
}

// --- comparing ---

static bool
maintainer_check(struct maintainer *maintainer, struct err *err)
{
    struct rollup_check check;
    int64_t began = clock_mono();
    if (!rollup_check(maintainer->store, maintainer->name, &check, err))
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * CONFIRMING;
    maintainer->search.check_at = now + (pause > CHECK_EVERY ? pause : CHECK_EVERY);
    maintainer->search.pending = check.pending;
    maintainer->search.counted_at = now;
    bool is_whole = maintainer->lease.low == ROLLUP_END;
    bool agrees = check.difference == 0 && is_whole;
    maintainer->is_exact = agrees && maintainer->lease.uncompared == ROLLUP_END;
    if (agrees) {
        maintainer->search.upto = ROLLUP_END;
    } else if (is_whole && maintainer->search.upto == ROLLUP_END && now >= maintainer->search.not_before) {
        maintainer->search.upto = maintainer->lease.high;
        maintainer->search.rows = FIRST_COMPARED;
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

// All ids were compared. A difference that remains is most likely in the counts. One that is the same as
// before would not be explained by another search either.
static bool
end_search(struct maintainer *maintainer, struct err *err)
{
    struct rollup_check check;
    if (!rollup_check(maintainer->store, maintainer->name, &check, err))
        return false;
    int64_t now = clock_mono();
    if (check.difference == maintainer->search.difference)
        maintainer->search.not_before = now + (now - maintainer->search.began) * CONFIRMING;
    if (check.difference != 0)
        maintainer->sweep.turn = SWEEP_SERIES_NOW;
    else if (maintainer->sweep.turn == SWEEP_SERIES_NOW)
        maintainer->sweep.turn = SWEEP_SERIES;
    maintainer->sweep.series = 0;
    maintainer->search.check_at = 0;
    return true;
}

// One step of the search for a difference that the count has shown.
static bool
search_step(struct maintainer *maintainer, struct err *err)
{
    int64_t until;
    bool differs;
    if (!maintainer_compare(maintainer, maintainer->search.upto, maintainer->search.rows, &until, &differs,
                            err))
        return false;
    maintainer->search.upto = until;
    if (maintainer->search.rows < MOST_COMPARED)
        maintainer->search.rows *= 2;
    if (maintainer->search.upto == ROLLUP_END)
        return end_search(maintainer, err);
    return !differs || maintainer_check(maintainer, err);
}

// Looks at the rows that were written while there was no maintainer. After a failure, such as a limit of
// time, all rows are compared instead.
static bool
catch_up_written(struct maintainer *maintainer, struct err *err)
{
    enum rollup_compared result;
    struct rollup_missing missing;
    int left = maintainer->catch_ups;
    maintainer->catch_ups = -1;
    if (!snapshot_writer_sweep_began(&maintainer->snapshots, maintainer->store, err) ||
        !rollup_compare_written(maintainer->store, maintainer->name, WRITTEN, maintainer->snapshots.changes,
                                &result, &missing, err))
        return false;
    maintainer->catch_ups = result == COMPARED_SOME ? left - 1 : 0;
    if (result == COMPARED_ALL || result == COMPARED_NOTHING) {
        maintainer->is_all_uncompared = false;
        maintainer->lease.uncompared = ROLLUP_END;
        maintainer->search.check_at = 0;
        // Where nothing was read, the snapshots are as true as before.
        return result == COMPARED_NOTHING ||
               snapshot_writer_sweep_ended(&maintainer->snapshots, maintainer->store, maintainer->name, err);
    }
    maintainer->changes += result == COMPARED_SOME;
    return add_missing(maintainer, &missing, INT64_MIN, err);
}

// After a time without a maintainer all events are compared once. From then on it sees every change.
static bool
catch_up(struct maintainer *maintainer, struct err *err)
{
    int64_t until;
    bool differs;
    if (maintainer->catch_ups > 0)
        return catch_up_written(maintainer, err);
    if (maintainer->is_all_uncompared &&
        !snapshot_writer_sweep_began(&maintainer->snapshots, maintainer->store, err))
        return false;
    maintainer->is_all_uncompared = false;
    if (!maintainer_compare(maintainer, maintainer->lease.uncompared, MOST_COMPARED, &until, &differs, err))
        return false;
    maintainer->lease.uncompared = until > maintainer->lease.low ? until : ROLLUP_END;
    maintainer->search.check_at = 0;
    return maintainer->lease.uncompared > ROLLUP_END ||
           snapshot_writer_sweep_ended(&maintainer->snapshots, maintainer->store, maintainer->name, err);
}

static bool
sweep_ids(struct maintainer *maintainer, bool *differs, struct err *err)
{
    int64_t until;
    int64_t upto = maintainer->sweep.upto != ROLLUP_END ? maintainer->sweep.upto : maintainer->lease.high;
    if (maintainer->sweep.upto == ROLLUP_END &&
        !snapshot_writer_sweep_began(&maintainer->snapshots, maintainer->store, err))
        return false;
    if (!maintainer_compare(maintainer, upto, SWEPT, &until, differs, err))
        return false;
    maintainer->sweep.upto = until;
    if (until != ROLLUP_END)
        return true;
    maintainer->sweep.turn = SWEEP_SERIES;
    return snapshot_writer_sweep_ended(&maintainer->snapshots, maintainer->store, maintainer->name, err);
}

static bool
sweep_series(struct maintainer *maintainer, bool *differs, struct err *err)
{
    int64_t wrong;
    if (!rollup_recount(maintainer->store, maintainer->name, SWEPT, &maintainer->sweep.series, &wrong, err))
        return false;
    *differs = wrong > 0;
    if (*differs) {
        maintainer->changes++;
        maintainer->search.not_before = 0;
        maintainer->search.check_at = 0;
        log_line(LOG_WARN, "rollup was wrong", LOG_INT("corrected", wrong));
    }
    if (maintainer->sweep.series == 0)
        maintainer->sweep.turn = SWEEP_IDS;
    return true;
}

// One step of the sweep. Where something differs, more may differ: then the next step comes sooner.
static bool
sweep_step(struct maintainer *maintainer, struct err *err)
{
    int64_t began = clock_mono();
    bool differs;
    bool ok = maintainer->sweep.turn == SWEEP_IDS ? sweep_ids(maintainer, &differs, err)
                                                  : sweep_series(maintainer, &differs, err);
    if (!ok)
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * (differs ? CHANGING : CONFIRMING);
    maintainer->sweep.at = now + (!differs && pause < CHECK_EVERY ? CHECK_EVERY : pause);
    return true;
}

// --- pruning ---

static bool
prune_step(struct maintainer *maintainer, struct err *err)
{
    struct rollup_pruning pruning = {.above = maintainer->prune.above, .rows = PRUNED, .idle_us = KEPT_EMPTY};
    int64_t began = clock_mono();
    if (!rollup_prune(maintainer->store, maintainer->name, maintainer->load.series, &pruning, err))
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * CONFIRMING;
    int64_t least = pruning.above ? CHECK_EVERY : PRUNE_EVERY;
    maintainer->prune.at = now + (pause > least ? pause : least);
    maintainer->prune.above = pruning.above;
    return true;
}

// --- the trend ---

static bool
trend_step(struct maintainer *maintainer, struct err *err)
{
    int64_t began = clock_mono();
    bool is_known = maintainer->search.counted_at > 0 && began - maintainer->search.counted_at < TREND_EVERY;
    bool is_done;
    if (!rollup_take_trend(maintainer->store, maintainer->name,
                           is_known ? maintainer->search.pending : TREND_UNKNOWN, &is_done, err))
        return false;
    int64_t now = clock_mono();
    int64_t pause = (now - began) * CONFIRMING;
    int64_t least = is_done ? TREND_EVERY : 0;
    maintainer->trend_at = now + (pause > least ? pause : least);
    return true;
}

// --- one step ---

static bool
maintainer_fold(struct maintainer *maintainer, struct err *err)
{
    maintainer->changes = 0;
    return rollup_fold(maintainer->store, maintainer->name, FOLD_ROWS, err);
}

static int64_t
earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Does the most urgent thing that is due; *wait: µs until something is.
static bool
do_next(struct maintainer *maintainer, int64_t *wait, struct err *err)
{
    int64_t now = clock_mono();
    bool is_looked = true;
    bool is_drained = true;
    *wait = 0;
    if (now >= maintainer->arrivals.look_at) {
        if ((maintainer->load.is_listed && !drain_notes(maintainer, &is_drained, err)) ||
            !look_at_arrivals(maintainer, &is_looked, err))
            return false;
        if (is_looked && is_drained)
            maintainer->arrivals.look_at = clock_mono() + LOOK_EVERY;
    }
    if (maintainer->changes >= FOLD_EVERY)
        return maintainer_fold(maintainer, err);
    if (maintainer->lease.low > ROLLUP_END)
        return load_below(maintainer, err);
    if (!is_looked || !is_drained)
        return true;
    if (!maintainer->load.is_listed)
        return move_batch(maintainer, err);
    if (maintainer->lease.uncompared > ROLLUP_END)
        return catch_up(maintainer, err);
    if (now >= maintainer->search.check_at)
        return maintainer_check(maintainer, err);
    if (now >= maintainer->trend_at)
        return trend_step(maintainer, err);
    if (maintainer->search.upto > ROLLUP_END)
        return search_step(maintainer, err);
    if (now >= maintainer->sweep.at || maintainer->sweep.turn == SWEEP_SERIES_NOW)
        return sweep_step(maintainer, err);
    if (now >= maintainer->prune.at)
        return prune_step(maintainer, err);
    if (now >= maintainer->snapshots.at)
        return snapshot_writer_step(&maintainer->snapshots, maintainer->store, maintainer->name,
                                    maintainer->arrivals.sure, err);

    int64_t until = earlier(earlier(maintainer->arrivals.look_at, maintainer->search.check_at),
                            earlier(maintainer->sweep.at, maintainer->snapshots.at));
    until = earlier(until, earlier(maintainer->prune.at, maintainer->trend_at));
    *wait = until > now ? until - now : 1000;
    return true;
}

// After a failure: how long to rest.
static int64_t
rest(struct maintainer *maintainer, const struct err *err)
{
    maintainer->lease.is_mine = false;
    maintainer->is_exact = false;
    maintainer->acquire_at = 0;
    if (err->kind == ERR_CONFLICT)
        return 0; // another maintainer has taken over: look at its state
    if (err->kind == ERR_DENIED || err->kind == ERR_USAGE) {
        log_line(LOG_WARN, "rollup ended", LOG_TEXT("why", err->text));
        maintainer->is_over = true;
        return INT64_MAX;
    }
    log_line(LOG_WARN, "rollup paused", LOG_TEXT("why", err->text));
    if (err->kind == ERR_NOT_FOUND)
        return WITHOUT_TABLE; // somebody may make it, or give it its name again
    return store_backoff(retries_note(&maintainer->retries, clock_mono()));
}

int64_t
maintainer_step(struct maintainer *maintainer)
{
    struct err err = {0};
    int64_t wait = 0;
    if (maintainer->is_over)
        return INT64_MAX;
    if (!store_connect(maintainer->store, &err))
        return rest(maintainer, &err);
    if (clock_mono() >= maintainer->acquire_at && !acquire(maintainer, &err))
        return rest(maintainer, &err);
    if (!maintainer->lease.is_mine) {
        wait = maintainer->acquire_at - clock_mono();
        return wait > 1000 ? wait : 1000;
    }
    return do_next(maintainer, &wait, &err) ? wait : rest(maintainer, &err);
}
