// rollup: counts of the pending events by group, kept in tables of the schema redrive (src/store/sql), so
// that a list of groups reads some hundred rows, no matter how many events are pending.
//
// Words. A series is one combination of group, event type, source table and topic; each counted event belongs
// to one. Counts are kept per series: by retry_count, by hour, and for the last hour by bucket (ten seconds).
// Each counted event has the version of its row (PostgreSQL's xmin) that was read. A batch is a set of
// events handled together.
//
// Anybody may read the rollup. One maintainer at a time keeps it true, by a lease (rollup/maintainer.h says
// how). The calls of a maintainer fail with ERR_CONFLICT once another one has taken over.
#ifndef REDRIVE_STORE_ROLLUP_ROLLUP_H
#define REDRIVE_STORE_ROLLUP_ROLLUP_H

#include <stddef.h>
#include <stdint.h>
#include "core/backlog/backlog.h"
#include "store/store.h"

// --- reading ---

struct rollup_state {
    bool exists;      // a first count has begun
    bool is_ours;     // made with this program's fingerprints, in this store's zone
    bool may_keep;    // this session may be the maintainer
    bool is_kept;     // a maintainer holds the lease now
    bool is_counting; // the first count runs
    bool is_listing;  // all events are counted, but batches still have to move to lists and rows
    int64_t counted;  // events in the rollup
    int64_t behind;   // pending events that were not counted at the last check
    int64_t exact_at; // when rollup and table agreed; TIME_ABSENT: never yet
    int64_t highest;  // all ids up to this one were read
    int64_t as_of;    // the database's clock now
    uint64_t token;   // differs when counts may have changed
};
// ERR_NOT_FOUND without the schema, or with one that has no rollup.
bool rollup_state(struct store *store, struct rollup_state *state, struct err *err) MUST_CHECK;
// Puts the counts into the backlog, with the descriptions of groups and the times at which operations emptied
// them. all_hours: for PIVOT_HOUR.
bool rollup_read(struct store *store, struct backlog *backlog, bool all_hours, struct err *err) MUST_CHECK;
// Describes these groups, whose texts were not kept (backlog_keep_texts).
bool rollup_describe(struct store *store, struct backlog *backlog, const uint64_t *keys, size_t count,
                     struct err *err) MUST_CHECK;

// Ids of the pending events of a group in list order (created_at, then id): the first of them at once, then
// the others. These and the rows below are incomplete while the state says is_counting or is_listing.
struct rollup_list {
    enum pivot pivot;
    const char *value; // as in struct event_group, by error also several with commas between; NULL: all. Not
                       // used for PIVOT_CATEGORY, which PostgreSQL does not know: name its groups by error
    uint64_t *groups;  // borrowed: only these groups by error; NULL: any
    size_t group_count;
    bool oldest_first;
    struct rollup_place { // everything before it was read
        int32_t created;
        int64_t id;
    } place;
};
// At most `limit` into ids; *count below it: the list has no more.
bool rollup_first_ids(struct store *store, struct rollup_list *list, int64_t *ids, size_t limit,
                      size_t *count, struct err *err) MUST_CHECK;
// The ids behind the place, some at a time. each returns false to stop early (then ERR_CANCELLED).
typedef bool rollup_ids_fn(void *context, const int64_t *ids, size_t count);
bool rollup_other_ids(struct store *store, const struct rollup_list *list, rollup_ids_fn *each, void *context,
                      struct err *err) MUST_CHECK;

// The counted events one by one, highest id first, from upto (INT64_MAX: the newest) on, at most `limit`: id,
// event_type, source_table, topic, retry_count, created_at to the second (absent where it is
// before 2000), group, category, error_class. The bytes are valid during the call.
// The names of a page's series are kept for the next page, as long as they are not very many.
struct rollup_names; // of groups, types, sources and topics
struct rollup_names *rollup_names_create(void);
void rollup_names_destroy(struct rollup_names *names); // NULL is fine
struct rollup_page {
    size_t count;   // of rows; below the limit there are no more
    int64_t lowest; // id
};
typedef void rollup_row_fn(void *context, const struct event *event);
bool rollup_rows(struct store *store, struct rollup_names *names, int64_t upto, size_t limit,
                 rollup_row_fn *each, void *context, struct rollup_page *page, struct err *err) MUST_CHECK;

// All counted events, highest id first, as of one moment: what rollup_rows gives, and known.returned.
// is_whole false: the rollup does not know all of that, and only the id is filled in. each returns false to
// stop early (then ERR_CANCELLED). Complete while the state says neither is_counting nor is_listing.
typedef bool rollup_event_fn(void *context, const struct event *event, bool is_whole);
struct group_range {
    uint64_t low, high; // both included
};
// range: of these groups only; NULL: of all.
bool rollup_events(struct store *store, const struct group_range *range, rollup_event_fn *each, void *context,
                   struct err *err) MUST_CHECK;
// The ids of the counted events of these groups alone, in no order, some at a time. Complete as above.
bool rollup_ids(struct store *store, const struct group_range *range, rollup_ids_fn *each, void *context,
                struct err *err) MUST_CHECK;

// --- maintaining ---

// As the id where reading downwards has ended: any id may be in the table, 0 and negative ones too.
#define ROLLUP_END INT64_MIN

struct rollup_series; // a maintainer's cache: the numbers of series, and the groups that have a description
struct rollup_series *rollup_series_create(void);
void rollup_series_destroy(struct rollup_series *series);

// Pending events, each with its series.
struct rollup_batch {
    int64_t *ids; // heap, as the others
    int32_t *series, *created, *retries;
    int32_t *versions; // xmin of their rows, read before the rows; 0: not noted
    size_t count, capacity;
    size_t described; // groups that the reader had not met before
};
void rollup_batch_release(struct rollup_batch *batch);

struct rollup_lease {
    bool is_mine;
    int64_t low, high;    // ids in (low, high] were read; low ROLLUP_END: all were
    int32_t buckets_from; // first bucket that is kept
    int64_t
        uncompared; // after a time without maintainer: compare events at and below this id; ROLLUP_END: done
};
// Takes the lease, or extends it. is_mine false: another maintainer has it.
bool rollup_acquire(struct store *store, const char *maintainer, struct rollup_lease *lease,
                    struct err *err) MUST_CHECK;
bool rollup_release(struct store *store, const char *maintainer, struct err *err) MUST_CHECK;

// Pending events that are not counted, or counted as another version of their row, with the version seen now.
struct rollup_missing {
    int64_t *ids;
    int32_t *versions;
    size_t count;
    int64_t gone;  // events removed from the rollup: no longer pending
    int64_t until; // of rollup_compare: all above this id were compared
};
void rollup_missing_release(struct rollup_missing *missing);

// The events to read: pending ones at and below before_id and above after_id, descending; or `ids`.
struct rollup_range {
    int64_t after_id, before_id; // after_id ROLLUP_END: to the end
    size_t limit;
    const int64_t *ids;
    const int32_t *versions;
    size_t id_count;
};
// Reads a batch and finds the series of each event. Writes only new series and groups.
bool rollup_gather(struct store *store, const char *maintainer, struct rollup_series *series,
                   const struct rollup_range *range, struct rollup_batch *batch, struct err *err) MUST_CHECK;
// The id above which a batch of at most `limit`, read downwards, ends; ROLLUP_END: it reached the end.
int64_t rollup_low(const struct rollup_batch *batch, size_t limit);
// The id above which, up to `upto`, the table has `rows` rows, pending or not; ROLLUP_END: it has fewer.
bool rollup_rows_below(struct store *store, int64_t upto, size_t rows, int64_t *id,
                       struct err *err) MUST_CHECK;
// Counts a batch. An event that is counted as another series or version is moved. high: all ids up to this
// one were read; INT64_MIN: unchanged.
bool rollup_add(struct store *store, const char *maintainer, const struct rollup_batch *batch, int64_t high,
                struct err *err) MUST_CHECK;
// For the first count: counts a batch of all pending events in (low, was_low], read by descending ids; the
// call reverses it. buckets_from: of the lease.
bool rollup_load(struct store *store, const char *maintainer, struct rollup_batch *batch, int64_t was_low,
                 int64_t low, int32_t buckets_from, struct err *err) MUST_CHECK;
// After the first count: moves one of its batches into the tables of lists and rows. *left 0: it was the
// last.
bool rollup_move_batch(struct store *store, const char *maintainer, int64_t *left,
                       struct err *err) MUST_CHECK;

// Events that arrived above an id: the lowest, at most `limit`, ascending.
bool rollup_arrivals(struct store *store, int64_t above, size_t limit, struct rollup_missing *missing,
                     struct err *err) MUST_CHECK;
// Processes notes of events that redrive itself changed. *looked_at 0: no notes are left.
bool rollup_drain(struct store *store, const char *maintainer, struct rollup_missing *missing,
                  int64_t *looked_at, struct err *err) MUST_CHECK;
// Compares the `rows` rows at and below `upto` with the table.
bool rollup_compare(struct store *store, const char *maintainer, int64_t upto, size_t rows,
                    struct rollup_missing *missing, struct err *err) MUST_CHECK;
// Compares the rows that were written since all were compared last, at most `rows` differences at once.
// changes: store_change_count, read before; where it is the same as then, the table is not read.
// *result: COMPARED_ALL and COMPARED_NOTHING end the time without a maintainer; COMPARED_SOME: count what is
// missing and call again.
enum rollup_compared {
    COMPARED_NOT, // it cannot be told what was written since
    COMPARED_SOME,
    COMPARED_ALL,
    COMPARED_NOTHING // as far as PostgreSQL's statistics know, nothing was written
};
bool rollup_compare_written(struct store *store, const char *maintainer, size_t rows, int64_t changes,
                            enum rollup_compared *result, struct rollup_missing *missing,
                            struct err *err) MUST_CHECK;
struct rollup_check {
    int64_t pending, ahead;
    int64_t difference; // 0: exact
};
// Counts the pending events of the table and of the rollup.
bool rollup_check(struct store *store, const char *maintainer, struct rollup_check *check,
                  struct err *err) MUST_CHECK;
// Compares the counts of the series above *series with their events, about `rows` of these, and repairs wrong
// ones. *series: compared up to it, 0: to the last; *wrong: how many counts were wrong.
bool rollup_recount(struct store *store, const char *maintainer, size_t rows, int32_t *series, int64_t *wrong,
                    struct err *err) MUST_CHECK;
// Adds up rows of the same count that rollup_add appended, about `rows` rows.
bool rollup_fold(struct store *store, const char *maintainer, int64_t rows, struct err *err) MUST_CHECK;

// Removes series and groups that have had no pending event for a while; error messages do not outlive their
// events. One that comes back is described again. Not during a first count.
struct rollup_pruning {
    int32_t above;   // the walk: series above this number are looked at; 0: from the first
    size_t rows;     // series to look at
    int64_t idle_us; // without an event for so long
    int64_t gone;    // answer: series that were removed
};
// Sets above to where the next call goes on, 0: the walk is over. Forgets the cache where something was
// removed.
bool rollup_prune(struct store *store, const char *maintainer, struct rollup_series *series,
                  struct rollup_pruning *pruning, struct err *err) MUST_CHECK;

#endif
