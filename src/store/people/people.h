// people: what people say about groups, in the schema redrive (sql/people.sql).
#ifndef REDRIVE_STORE_PEOPLE_PEOPLE_H
#define REDRIVE_STORE_PEOPLE_PEOPLE_H

#include "base/arena.h"
#include "core/people.h"
#include "core/runbook.h"
#include "store/store.h"

// A number that differs after each decision about a group.
bool people_token(struct store *store, int64_t *token, struct err *err) MUST_CHECK;
// Everything that holds or is noted, what ended a moment ago included; in the arena. Nothing without the
// schema, or the right to read it.
bool people_read(struct store *store, struct arena *arena, struct people *people, struct err *err) MUST_CHECK;
// Who has a screen open now, by name; screen: this one. hash: differs where something of it does.
bool presence_read(struct store *store, const char *screen, struct arena *arena, struct people *people,
                   uint64_t *hash, struct err *err) MUST_CHECK;
// This screen is open and shows `place`, of a group or not (NULL).
bool presence_tell(struct store *store, const char *screen, const char *place, const uint64_t *group,
                   struct err *err) MUST_CHECK;

// How many pending events the group has by the rollup; 0 where there is none.
bool people_events(struct store *store, uint64_t group, int64_t *events, struct err *err) MUST_CHECK;

// What is known of the group by the rollup, for a runbook; in the arena. ERR_NOT_FOUND: nothing.
bool people_subject(struct store *store, uint64_t group, struct arena *arena, struct runbook_subject *subject,
                    struct err *err) MUST_CHECK;

// The caller takes care of the group for so long (µs). note NULL: the one that is there stays. *before: who
// had it, in the arena; NULL: nobody.
bool group_take(struct store *store, uint64_t group, int64_t length, const char *note, struct arena *arena,
                const char **before, struct err *err) MUST_CHECK;
// ERR_NOT_FOUND: nobody has taken it.
bool group_release(struct store *store, uint64_t group, struct err *err) MUST_CHECK;
bool group_note(struct store *store, uint64_t group, const char *note, struct err *err) MUST_CHECK;
// length 0: the group waits no longer. above 0: however many events it gets.
bool group_snooze(struct store *store, uint64_t group, int64_t length, int64_t above,
                  struct err *err) MUST_CHECK;

#define TAKE_LENGTH (8 * 3600 * 1000000LL) // where nobody says how long

#endif
