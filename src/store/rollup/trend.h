// trend: how many events arrived, left and were pending over time, as a maintainer of the rollup wrote it
// down (sql/trend.sql), and the marks on that time axis. Not the history of history.sql, which is about
// databases that were put back.
#ifndef REDRIVE_STORE_ROLLUP_TREND_H
#define REDRIVE_STORE_ROLLUP_TREND_H

#include "base/arena.h"
#include "core/trend.h"
#include "store/store.h"

#define TREND_UNKNOWN (-1) // as the number of pending events: not known now

// The maintainer's step. *is_done false: call again at once, more is to be counted. ERR_CONFLICT: another
// maintainer has taken over.
bool rollup_take_trend(struct store *store, const char *maintainer, int64_t pending, bool *is_done,
                       struct err *err) MUST_CHECK;

// Reads a span up to clock_now: points, marks, and operations as marks. Arrays and texts are in the arena.
// ERR_NOT_FOUND without the schema.
bool trend_read(struct store *store, enum trend_span span, struct arena *arena, struct trend *trend,
                struct err *err) MUST_CHECK;

// Sets a mark now, as the session's user.
bool trend_set_mark(struct store *store, const char *text, struct err *err) MUST_CHECK;

#endif
