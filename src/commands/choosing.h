// choosing: turns the options that choose events into a choice, and reports events that could not be chosen.
#ifndef REDRIVE_COMMANDS_CHOOSING_H
#define REDRIVE_COMMANDS_CHOOSING_H

#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "search/choose.h"

// `otherwise`: the statuses to choose from without --status (set of 1 << enum event_status). Borrows from
// call. Saved filters (@name) are expanded, in call->options too.
bool choosing_read(struct call *call, unsigned otherwise, struct choice *choice, struct err *err) MUST_CHECK;
// The same for a filter by itself.
bool choosing_expand(struct call *call, const char **filter, struct err *err) MUST_CHECK;
// Is there any option that chooses events?
bool choosing_is_any(const struct call *call);
// The choice in words, of which there are so many: "20 events of group 8f3a… that match /timeout/".
void choosing_describe(const struct call *call, size_t count, struct strbuf *out);

// Unknown ids end the command: ERR_NOT_FOUND, nothing was done.
bool choosing_check_known(const struct choose_tally *tally, struct err *err) MUST_CHECK;
// Says on standard error how many events a pattern could not decide, and which.
void choosing_say_undecided(const struct call *call, const struct choose_tally *tally);

// Says on standard error that a list of them is empty, and where it had to be; what is read by programs stays
// empty.
void choosing_say_none(const struct call *call, struct store *store);

// For choose_…: shows how many events were read, and ends after a signal.
bool choosing_tick(void *progress, const struct choose_tally *tally);

#endif
