// stale: events of a reprocess that have newer records of the same key in Kafka (core/newer.h), for commands.
#ifndef REDRIVE_COMMANDS_STALE_H
#define REDRIVE_COMMANDS_STALE_H

#include "broker/settings.h"
#include "commands/cli/command.h"
#include "core/newer.h"
#include "core/operation.h"
#include "publish/plan.h"
#include "store/store.h"

// Is it to be looked? By an option, or by the setting consumers for a topic of the preview; that one counts
// only where a person sees what is found.
bool stale_is_asked(const struct call *call, const struct preview *preview);
// Looks, with Kafka itself where there are brokers, else through a worker, and says how far it is.
bool stale_find(const struct call *call, struct store *store, const struct broker_settings *broker,
                const struct plan_settings *plan, const int64_t *ids, size_t count, struct arena *arena,
                struct newer *newer, struct err *err) MUST_CHECK;
// Appends "; 37 have newer records of the same key …"; nothing where it was not looked. is_left_out: these
// are not sent.
void stale_describe(const struct newer *newer, bool is_left_out, struct strbuf *out);
// With --json: one object; with --each a line for each stale event before it.
bool stale_print(const struct call *call, const struct newer *newer, int64_t zone_us,
                 struct err *err) MUST_CHECK;

#endif
