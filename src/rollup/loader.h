// loader: a second connection for the first count of the rollup. While the maintainer handles one batch of
// events, the loader reads and fingerprints the batch below it, and writes that one while the maintainer
// reads the next.
//
// A lane (async/lane), used by one maintainer. It does one thing at a time, in the order of the calls. The
// next call that waits reports a failure.
#ifndef REDRIVE_ROLLUP_LOADER_H
#define REDRIVE_ROLLUP_LOADER_H

#include <stdint.h>
#include "base/err.h"
#include "store/rollup/rollup.h"

struct loader;

// Borrows both; connects when it first has something to do.
struct loader *loader_create(const struct store_settings *settings, const char *maintainer);
void loader_destroy(struct loader *loader); // everything begun is done first; NULL is fine

// Begins to read the `rows` highest pending events at and below an id, after the batch before it is written.
bool loader_read(struct loader *loader, int64_t upto, size_t rows, struct err *err) MUST_CHECK;
// Waits until the batch before is written; reading may still run.
bool loader_wait_written(struct loader *loader, struct err *err) MUST_CHECK;
// Waits for the events that were read, which are at and below was_low, and begins to write them. *low: all
// above it are loaded; 0: the table has no more.
bool loader_write(struct loader *loader, int64_t was_low, int32_t buckets_from, int64_t *low,
                  struct err *err) MUST_CHECK;
// Waits until nothing is under way.
bool loader_wait(struct loader *loader, struct err *err) MUST_CHECK;

#endif
