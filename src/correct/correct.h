// correct: applies a recipe (core/recipe) to events: to a selection, to see what would become of it, or to
// the next events of an operation, whose revisions are written. Both go through correct_events, so that an
// operation does what its dry run said.
#ifndef REDRIVE_CORRECT_CORRECT_H
#define REDRIVE_CORRECT_CORRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "core/event.h"
#include "core/recipe/recipe.h"
#include "core/recipe/tally.h"
#include "process/check.h"
#include "store/store.h"

struct correct_result {
    int64_t id;
    int32_t parent; // the revision that was read; 0: the original
    enum correct_outcome outcome;
    int line; // of the recipe; 0: none decided
    const char
        *reason; // in words; NULL of CORRECT_CHANGED and CORRECT_UNCHANGED; of CORRECT_FORCED the check's
    unsigned warnings;            // 1u << enum recipe_warning
    uint64_t replaced;            // hash of the values that set put others in the place of; 0: none
    bool is_exact;                // before are the bytes that were received, or a revision's
    struct bytes before;          // the payload; absent: a null value
    struct bytes after;           // of one that changes (correct_outcome_writes)
    struct correction correction; // likewise: the whole new revision
    const char *departs; // where the result departs from the shape of its type, in words; NULL: nowhere
    int again; // the line that would change it again at a second application; 0: none, or not looked at
};

struct correct_limits {
    const char *checks;        // rows of the setting `checks`; NULL: none
    struct check_limits check; // of these
    int64_t jq_time;           // for one payload, µs
    int64_t jq_memory;         // bytes
    bool is_forced;            // what a check refuses is CORRECT_FORCED
    // Asked ten times a second while a check or jq is waited for; false ends the wait. May be NULL.
    bool (*is_wanted)(void *context);
    void *context;
};

// Looks for the original records of events whose bytes are not kept, and completes the events with them:
// is_kept, payload, key, headers. troubles[i]: why one could not be read now; NULL: it was found, or there is
// none. `is_kept_for_good`: also writes what was found down. false: PostgreSQL failed; or,
// `is_kept_for_good`, one could not be read now.
typedef bool correct_originals_fn(void *context, struct store *store, struct event *events, size_t count,
                                  bool is_kept_for_good, struct arena *arena, const char **troubles,
                                  struct err *err);

// One recipe with the programs that it needs. Used by one thread.
struct corrector;
// `file` is what errors call the recipe.
bool corrector_create(struct corrector **corrector, const char *file, struct bytes recipe,
                      const struct correct_limits *limits, struct err *err) MUST_CHECK;
// One without a recipe: it changes nothing and asks the checks of the limits about every event as it would be
// sent. Its outcomes are CORRECT_UNCHANGED, _FAILED, _REFUSED and _FORCED.
bool corrector_create_check(struct corrector **corrector, const struct correct_limits *limits,
                            struct err *err) MUST_CHECK;
// One with which every event fails with this reason: for a recipe that cannot be used, whose operation has to
// end all the same.
struct corrector *corrector_create_useless(const char *why);
// NULL, as at first: nobody looks for original records, and what tells where they are is not read.
void corrector_set_originals(struct corrector *corrector, correct_originals_fn *originals, void *context);
// Of the next `most` events that change, the results tell whether a second application would change them
// again. It takes as long as the first.
void corrector_look_twice(struct corrector *corrector, size_t most);
void corrector_destroy(struct corrector *corrector); // NULL is fine

// What of an event an edit may change: as the newest revision has it, else as the record that is kept, else
// as the row says.
void correct_parts(const struct event *event, struct record_parts *parts);
// The revision of the event that has these parts: what differs from `before` beside what was corrected
// before. Headers and texts are borrowed from `after`, or are in the arena.
void correct_revision(const struct event *event, const struct record_parts *before,
                      const struct record_parts *after, struct arena *arena, struct correction *correction);

// Applies the recipe to each event (EVENT_EDITED, EVENT_TYPED, EVENT_KEYED, EVENT_PLACED, EVENT_PAYLOAD and
// EVENT_RAW), except those with a trouble, which fail with it; troubles may be NULL. One whose payload
// PostgreSQL cannot return fails too, unless its original record was found. Texts are in the arena or in the
// events. false: it is not wanted any more (limits.is_wanted), ERR_CANCELLED; then the results say nothing,
// and the corrector can only be destroyed.
bool correct_events(struct corrector *corrector, const struct event *events, const char *const *troubles,
                    size_t count, struct arena *arena, struct correct_result *results,
                    struct err *err) MUST_CHECK;

// Is there any check to be asked?
bool correct_has_checks(const struct correct_limits *limits);
// What the checks say of one event as it would be sent with this correction; where that has no payload, with
// the event's. CORRECT_UNCHANGED: it passes, or no row of them is for it. CORRECT_REFUSED (with is_forced
// CORRECT_FORCED) and CORRECT_FAILED, which is no answer, with the reason. Without checks it passes, and no
// program is started. false: a row is malformed, or it is not wanted any more, ERR_CANCELLED.
bool correct_ask_check(const struct correct_limits *limits, const struct event *event,
                       const struct correction *correction, struct arena *arena,
                       struct correct_result *result, struct err *err) MUST_CHECK;

// The events of a dry run.
struct correct_reading {
    struct store *store;
    // Another store, not connected or connected, by which every other page is read: most of the time goes
    // into PostgreSQL's text of the payloads. NULL: there is none. Both are used by threads that read while
    // `each` runs; so is what looks for original records, which must bear two threads at once.
    struct store *beside;
    const int64_t *ids; // ascending
    size_t count;
};

// Reads them page by page, ahead, and applies the recipe, without writing anything. `each` (may be NULL) gets
// the results of a page, in the order of the ids and valid during the call, and the number of events read;
// false ends: ERR_CANCELLED.
typedef bool correct_each_fn(void *context, const struct correct_result *results, size_t count, size_t read);
bool correct_dry_run(struct corrector *corrector, const struct correct_reading *reading,
                     correct_each_fn *each, void *context, struct correct_tally *tally,
                     struct err *err) MUST_CHECK;

// Applies the recipe to the operation's next events and keeps the outcomes, a page of events in a transaction
// of its own, for about two seconds. `ahead` is another store, not connected or connected, by which pages are
// read ahead; both are used by threads that end with the call. NULL: there is none, or few events are left
// (CORRECT_FEW), for which none is worth a connection. *applied is 0 where nothing may be applied now, or
// another worker was quicker; *left: how many are still queued.
enum { CORRECT_FEW = 4000 };
bool correct_step(struct corrector *corrector, struct store *store, struct store *ahead, int64_t operation,
                  int64_t *applied, int64_t *left, struct err *err) MUST_CHECK;

#endif
