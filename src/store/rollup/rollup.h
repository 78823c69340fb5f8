// rollup: the sums that the groups of the backlog are made of, kept in the schema redrive
// (sql/rollup.sql) so that a list of groups reads some hundred rows however many events are pending.
//
// Anybody may read them; one maintainer at a time, by a lease, keeps them true (rollup/maintainer.h says
// how). A maintainer's calls fail with ERR_CONFLICT once another one has taken over.
#ifndef REDRIVE_STORE_ROLLUP_ROLLUP_H
#define REDRIVE_STORE_ROLLUP_ROLLUP_H

#include <stddef.h>
#include <stdint.h>
#include "core/backlog/backlog.h"
#include "store/store.h"

// --- reading ---

struct rollup_state {
    bool exists;      // somebody has begun to count
    bool is_ours;     // made with this program's fingerprints, in this store's zone
    bool may_keep;    // the session may keep them
    bool is_kept;     // somebody keeps them now
    bool is_counting; // the first count runs
    bool is_listing;  // all are counted, and some not in lists and rows yet (below): they are on their way
    int64_t counted;  // events in the sums
    int64_t behind;   // pending events that were not counted yet when they were checked last
    int64_t exact_at; // when sums and table agreed; TIME_ABSENT: never yet
    int64_t highest;  // id that was looked at
    int64_t as_of;    // the database's clock now
    uint64_t token;   // another one when sums may have changed
};
// ERR_NOT_FOUND without the schema, or with one that knows no sums.
bool rollup_state(struct store *store, struct rollup_state *state, struct err *err) MUST_CHECK;
// Puts the sums into the backlog, with descriptions and when groups were emptied. all_hours: for PIVOT_HOUR.
bool rollup_read(struct store *store, struct backlog *backlog, bool all_hours, struct err *err) MUST_CHECK;

// Ids of the pending events of a group in list order (created_at, then id): first some of them at once, then
// the others. These and the rows below are not whole while the state says is_counting or is_listing.
struct rollup_list {
    enum pivot pivot;
    const char *value; // as in struct event_group, or by error several with commas between; NULL: all. Not
                       // looked at for PIVOT_KIND, which PostgreSQL
                       // does not know: name its groups by error
    uint64_t *groups;  // borrowed: only these groups by error; NULL: any
    size_t group_count;
    bool oldest_first;
    struct rollup_place { // how far was read
        int32_t created;
        int64_t id;
    } place;
};
// At most `limit` into ids; *count below it: there are no more.
bool rollup_first_ids(struct store *store, struct rollup_list *list, int64_t *ids, size_t limit,
                      size_t *count, struct err *err) MUST_CHECK;
// Those behind the place, in slices. each returns false to stop early (then ERR_CANCELLED).
typedef bool rollup_ids_fn(void *context, const int64_t *ids, size_t count);
bool rollup_other_ids(struct store *store, const struct rollup_list *list, rollup_ids_fn *each, void *context,
                      struct err *err) MUST_CHECK;

// The counted events one by one, highest id first, below before_id (0: from the newest), at most `limit`: id,
// event_type, source_table, topic, retry_count, created_at to the second (absent where it is
// before 2000), group, category, error_class. The bytes are valid during the call.
typedef void rollup_row_fn(void *context, const struct event *event);
bool rollup_rows(struct store *store, int64_t before_id, size_t limit, rollup_row_fn *each, void *context,
                 struct err *err) MUST_CHECK;

// --- keeping ---

struct rollup_cells; // what a maintainer remembers of cells and groups
struct rollup_cells *rollup_cells_create(void);
void rollup_cells_destroy(struct rollup_cells *cells);

// A slice of pending events, each with its cell.
struct rollup_slice {
    int64_t *ids; // heap, as the others
    int32_t *cells, *created, *retries;
    int32_t
        *versions; // of their rows (PostgreSQL's xmin, its bits), seen before they were read; 0: not noted
    size_t count, capacity;
};
void rollup_slice_release(struct rollup_slice *slice);

struct rollup_claim {
    bool is_mine;
    int64_t low, high; // ids in (low, high] were looked at
    int32_t slots_from;
    int64_t unswept; // nobody kept them for a while: to be compared at and below this id; 0: done
};
bool rollup_claim(struct store *store, const char *maintainer, struct rollup_claim *claim,
                  struct err *err) MUST_CHECK;
bool rollup_release(struct store *store, const char *maintainer, struct err *err) MUST_CHECK;

// Pending events that are not counted as they stand, with the versions that were seen of them.
struct rollup_missing {
    int64_t *ids;
    int32_t *versions;
    size_t count;
    int64_t gone;  // how many were taken out
    int64_t until; // rollup_compare: looked down to above this id
};
void rollup_missing_release(struct rollup_missing *missing);

// What to read: pending events at and below before_id and above after_id, descending; or of these ids.
struct rollup_range {
    int64_t after_id, before_id; // after_id 0: to the end
    size_t limit;
    const int64_t *ids;
    const int32_t *versions;
    size_t id_count;
};
// Reads a slice and finds each event's cell. Not changed in the database but for cells and groups that are
// new.
bool rollup_gather(struct store *store, const char *maintainer, struct rollup_cells *cells,
                   const struct rollup_range *range, struct rollup_slice *slice, struct err *err) MUST_CHECK;
// What a slice of at most `limit` that was read downwards lies above; 0: it reached the end.
int64_t rollup_low(const struct rollup_slice *slice, size_t limit);
// The id that `rows` rows of the table, pending or not, lie above, at and below `upto`; 0: there are no more.
bool rollup_rows_below(struct store *store, int64_t upto, size_t rows, int64_t *id,
                       struct err *err) MUST_CHECK;
// high: how far was looked; INT64_MIN: as before. What is counted as something else is counted anew.
bool rollup_add(struct store *store, const char *maintainer, const struct rollup_slice *slice, int64_t high,
                struct err *err) MUST_CHECK;
// For the first count: counts a slice that lies at and below was_low and above low, by descending ids (it is
// turned round). slots_from: of the claim.
bool rollup_fill(struct store *store, const char *maintainer, struct rollup_slice *slice, int64_t was_low,
                 int64_t low, int32_t slots_from, struct err *err) MUST_CHECK;
// Afterwards: puts one of those slices where lists and rows are read. *left 0: that was the last.
bool rollup_list_slice(struct store *store, const char *maintainer, int64_t *left,
                       struct err *err) MUST_CHECK;

// Of what arrived above an id, at most `limit` of the lowest, ascending.
bool rollup_arrivals(struct store *store, int64_t above, size_t limit, struct rollup_missing *missing,
                     struct err *err) MUST_CHECK;
// What was changed by redrive itself. *looked_at 0: nothing is due.
bool rollup_reconcile(struct store *store, const char *maintainer, struct rollup_missing *missing,
                      int64_t *looked_at, struct err *err) MUST_CHECK;
// Compares the `rows` rows below and at `upto` with the table.
bool rollup_compare(struct store *store, const char *maintainer, int64_t upto, size_t rows,
                    struct rollup_missing *missing, struct err *err) MUST_CHECK;
struct rollup_check {
    int64_t pending, ahead;
    int64_t difference; // 0: exact
};
bool rollup_check(struct store *store, const char *maintainer, struct rollup_check *check,
                  struct err *err) MUST_CHECK;
// Holds the sums of the cells above *cell against their events, about `rows` of these, and puts right what is
// wrong. *cell: looked up to it, 0: to the last; *wrong: so many sums.
bool rollup_recount(struct store *store, const char *maintainer, size_t rows, int32_t *cell, int64_t *wrong,
                    struct err *err) MUST_CHECK;
bool rollup_fold(struct store *store, const char *maintainer, int64_t rows, struct err *err) MUST_CHECK;

#endif
