// maintainer: keeps the sums of the backlog true (store/rollup/rollup.h), for whoever runs: a screen, a
// worker, a command.
//
// Consumers insert and others close events without a word, so it looks: at arrivals above the highest id
// looked at (again over those of the last two seconds, since sequences are not commit order), at what redrive
// noted when it changed an event itself, and it counts: PostgreSQL's count of pending events against its own.
// Where they do not agree it compares, from the newest ids down in growing slices, until they do.
//
// Two differences may cancel each other out, and a column that somebody changes in a pending event changes no
// count; so it also compares slice after slice all the time, by the version of each row, and then holds the
// sums against the events that they are of. That takes a twentieth of one processor, a sixth while it finds
// something: what is wrong is right again within some seconds at a hundred thousand events, within a minute
// at a million, two where the server is busy. Sums that let the count disagree, and are not explained by any
// event, are counted again at once.
//
// The first count has two strides: all are read and counted, newest first, and the sums are exact; then what
// was read is put where lists and rows are read (store/rollup/rollup.h), which costs more than the reading.
//
// Several maintainers may run: a lease lets one of them work, the others look now and then whether it still
// does. No statement of it takes a lock that anybody else waits for. Killed at any moment, the next one goes
// on.
#ifndef REDRIVE_ROLLUP_MAINTAINER_H
#define REDRIVE_ROLLUP_MAINTAINER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "store/store.h"

struct maintainer;

// Borrows the settings. It has a connection of its own, made at the first step.
struct maintainer *maintainer_create(const struct store_settings *settings);
// Gives the lease up.
void maintainer_destroy(struct maintainer *maintainer);

// One short step. Returns how many µs nothing is due, 0: go on at once. What fails is tried again later; a
// session without the rights, or a schema without sums, makes it rest for good (INT64_MAX).
int64_t maintainer_step(struct maintainer *maintainer);
// The sums are those of the table as far as the last look told (maintainer_step by step, whoever keeps them).
bool maintainer_is_exact(const struct maintainer *maintainer);
// From another thread: ends the statement that runs.
void maintainer_interrupt(struct maintainer *maintainer);

#endif
