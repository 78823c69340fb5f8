// letters: what becomes of the dead letters of chosen events before a reprocess: which formats they have,
// which headers are kept, dropped and added, and how many are sent exactly. Told by a sample, since a million
// events cannot all be looked at while somebody waits.
#ifndef REDRIVE_PUBLISH_LETTERS_H
#define REDRIVE_PUBLISH_LETTERS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "core/operation.h"
#include "publish/plan.h"
#include "store/operations/operations.h"
#include "store/store.h"

// Plans up to 20 of the events, evenly chosen, without asking Kafka. Texts go to the arena.
bool letters_sample(struct store *store, const struct plan_settings *settings,
                    const struct preview_query *query, struct arena *arena, struct preview_letters *letters,
                    struct err *err) MUST_CHECK;

// Appends what they say as sentences without a full stop, each after `between`; nothing where none has a
// format or headers.
void letters_describe(const struct preview_letters *letters, const char *between, struct strbuf *out);

#endif
