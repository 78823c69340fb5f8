// loader: a second pair of hands for the first count of the backlog: reads and fingerprints one slice while
// the maintainer does the slice above it, and writes it while the maintainer goes on.
//
// A thread and a connection of its own, one thing at a time, in the order in which it is asked. Used by one
// maintainer. What failed is told by the next call that waits.
#ifndef REDRIVE_ROLLUP_LOADER_H
#define REDRIVE_ROLLUP_LOADER_H

#include <stdint.h>
#include "base/err.h"
#include "store/rollup/rollup.h"

struct loader;

// Borrows both; connects when it is asked for something.
struct loader *loader_create(const struct store_settings *settings, const char *maintainer);
void loader_destroy(struct loader *loader); // what it is asked for is done first

// Begins to read the `rows` highest pending events at and below an id, once what was to be written before is.
bool loader_read(struct loader *loader, int64_t upto, size_t rows, struct err *err) MUST_CHECK;
// Until what was to be written is there; reading may go on.
bool loader_wait_written(struct loader *loader, struct err *err) MUST_CHECK;
// Waits for them and begins to write them: they lie at and below was_low. *low: above it; 0: there are no
// more.
bool loader_write(struct loader *loader, int64_t was_low, int32_t slots_from, int64_t *low,
                  struct err *err) MUST_CHECK;
// Until nothing is under way.
bool loader_wait(struct loader *loader, struct err *err) MUST_CHECK;

#endif
