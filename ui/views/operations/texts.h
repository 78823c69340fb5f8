// texts: every sentence of the views of operations and of the audit. Verb and number first, the remedy last.
// Words of one row each (states and counts in row.c, columns) are in their tables.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_TEXTS_H
#define REDRIVE_UI_VIEWS_OPERATIONS_TEXTS_H

#include <inttypes.h>
#include "ui/views/texts.h"

// what a key does to an operation
#define MSG_OPERATION_IS "operation %" PRId64 " is %s"
#define MSG_APPROVE_FIRST "operation %" PRId64 " needs approval first · A approve"
#define MSG_STEERING_CANCELLED "cancelled; nothing changed"
#define MSG_NO_APPROVAL_NEEDED "operation %" PRId64 " needs no approval; it is %s"
#define MSG_NO_RATE "only a reprocess has a rate"
#define MSG_RATE_CHANGE "operation %" PRId64 ": %s → %s"
#define MSG_RATE_RANGE "events per second; 0 pauses, empty is no limit"
#define MSG_RATE_PROMPT "operation %" PRId64 ", events/s: "
#define MSG_REPROCESS_UNDONE "operation %" PRId64 " undone: nothing was sent"
#define MSG_SENT_STOP_REST "cannot undo: events were sent · X cancel the rest"
#define MSG_SENT "cannot undo: events were sent"
#define MSG_NOT_A_DISCARD                                                                                    \
    "cannot undo operation %" PRId64 ": only a discard, a resolve or a recipe can be undone"
#define MSG_CLOSED_NOTHING "operation %" PRId64 " closed nothing; nothing to undo"
#define MSG_CORRECTED_NOTHING "operation %" PRId64 " changed nothing; nothing to undo"
#define MSG_DISCARD_UNDONE "operation %" PRId64 " %s undone by operation %" PRId64
#define MSG_EVENTS_OF_REASON "operation %" PRId64 ": %s, %s"
#define MSG_EVENTS_TITLE "operation %" PRId64 ": %s"
#define MSG_NO_FAILED "operation %" PRId64 " has no failed events"
#define MSG_DECIDE_ON_EVENTS "decide on events, not on operations · f failed events"
#define MSG_NO_OPERATION "no operation here"

// its dialogs: stop, pause, resume, rate, approve
#define MSG_STEERING_REASON_HINT "why, for the audit"
#define MSG_REASON_REQUIRED "required"
#define MSG_PAUSE_EFFECT "it pauses after the current chunk"
#define MSG_RATE_EFFECT "%s → %s"
#define MSG_STOP_STAY "the %s not yet %s %s %s; the current chunk finishes first"
#define MSG_STOP_NOT_CORRECTED "the %s not yet corrected %s as %s"
#define MSG_STOP_CORRECTED "the %s corrected %s so; u undoes %s"
#define MSG_STOP_THEN_UNDO "then asks about undoing the %s corrected"
#define MSG_STOP_ASKED "type %s: that many were left when this dialog opened"
#define MSG_STOP_FINAL "cancelling is final; p pauses"
#define MSG_RESUME_EFFECT "%s %s on from where it stopped"
#define MSG_QUESTION_TITLE "%s operation %" PRId64
#define MSG_REQUESTED_BY "requested by %s%s%s"

// what is in doubt
#define MSG_DOUBT_NO_EVIDENCE "reason unknown"
#define MSG_CHUNKS_IN_DOUBT "%zu chunk%s in doubt"
#define MSG_SLOTS_SUSPENDED "%zu slot%s suspended"
#define MSG_VERDICT_WRONG "type published or again"
#define MSG_DOUBT_CANCELLED "cancelled; nothing decided"
#define MSG_NOTHING_IN_DOUBT "nothing is in doubt here"
#define MSG_VERDICT_REASON_HINT "what was found in the topic"
#define MSG_DOUBT_CHUNK "%s event%s of operation %" PRId64 ", ids %" PRId64 " to %" PRId64 ", claimed %s"
#define MSG_DOUBT_SEARCHING "a worker is still searching the topics and may decide by itself"
#define MSG_DOUBT_LOOK "search their topics for the header"
#define MSG_DOUBT_PUBLISHED "published: they were found; if that is wrong, consumers never get them"
#define MSG_DOUBT_AGAIN "again: they were not found; if that is wrong, consumers get them twice"
#define MSG_SLOT_TITLE "Release a suspended slot"
#define MSG_SLOT "slot %d of cluster %s, nothing in flight"
#define MSG_SLOT_EFFECT "it resumes under new transactional ids; commits under the old ones no longer count"
#define MSG_SLOT_RISK "if the database lost confirmed work, events can be sent twice"

// a stopped database
#define MSG_STOP_CHIP "stopped, W decide"
#define MSG_NOT_STOPPED "this database is not stopped"
#define MSG_STOPPED_TITLE "Decide how this database continues"
#define MSG_STOP_CHECKING "counting what a decision would touch"
#define MSG_STOP_SINCE "nothing is published since %s: %s"
#define MSG_STOP_FOUND "nothing may be published: %s"
#define MSG_STOP_CHOICE "This database is stopped"
#define MSG_STOP_TRUE "the true one: what Kafka proves as sent is closed"
#define MSG_STOP_COPY "a copy: it becomes an installation of its own"
#define MSG_ADOPT_TITLE "This is the true database"
#define MSG_ADOPT_COUNTING "a worker counts what Kafka proves"
#define MSG_ADOPT_COUNTED "Kafka has %s chunk%s that this database does not know, found among %s records"
#define MSG_ADOPT_CLOSES "%s open event%s will be closed as sent"
#define MSG_ADOPT_OTHERS "every other database with this history publishes nothing from then on"
#define MSG_ADOPT_NO_WORKER "no worker can ask Kafka: start one with redrive work -b HOST:PORT, then W again"
#define MSG_ADOPT_STILL "still counting: W shows the counts"
#define MSG_ADOPT_CONFIRMED "confirmed already: a worker takes the history over"
#define MSG_ADOPT_FAILED "not counted: %s"
#define MSG_ADOPT_REASON_HINT "how it is known that this is the true one"
#define MSG_STOP_CANCELS "%s operation%s with %s queued event%s will be cancelled; the events stay pending"
#define MSG_STOP_DOUBTS "%s chunk%s with %s event%s will be in doubt: they are not sent by themselves"
#define MSG_STOP_RISK "if this is not a copy, events that Kafka has already stay open and can be sent twice"
#define MSG_STOP_REASON_HINT "how it is known that this is a copy"

// what a recipe did
#define MSG_CHANGED "changed"
#define MSG_UNCHANGED "unchanged"
#define MSG_NOT_APPLICABLE "not applicable"
#define MSG_BY_CHECK "of these by the check"
#define MSG_RECIPE_FAILED "of these failed"
#define MSG_FORCED "of these forced"
#define MSG_NO_FIT "no fit"
#define MSG_OUTCOME_FORCED "forced"

// one operation
#define MSG_WATCHING                                                                                         \
    "step %" PRId32 " of %zu %s watching %s for returns %s next step in %s%s" // separators: GLYPH_SEPARATOR
#define MSG_RESUME "resume"
#define MSG_TAKEN "taken"
#define MSG_TAKEN_UNKNOWN "taken: not known, %s"
#define MSG_BEGINS "begins %s"
#define MSG_SENDING_IN "sending in %s"
#define MSG_CORRECTING_IN "correcting in %s"
#define MSG_RETURNED_TITLE "returned"
#define MSG_DOUBT_HINT "V decide what is in doubt"
#define MSG_NO_WORKER "no worker; run: redrive work"
#define MSG_NO_PUBLISHER "no worker with Kafka brokers; run: redrive work -b HOST:PORT"
#define MSG_WORKER_SILENT "no sign of the worker for %ds" // as in the message line
#define MSG_HALTS_ABOVE "halts above %g%%"
#define MSG_THEN "then "
#define MSG_ALL_EVENTS "events"
#define MSG_NO_OUTCOMES "No outcomes yet."

// the list of operations
#define MSG_DOUBT_CHIP "%s, V decide"
#define MSG_NO_OPERATION_ABOUT "No operation covers this group as a whole."
#define MSG_NO_OPERATIONS "No operations yet. Reprocess, discard or resolve events; each is listed here."

// the audit
#define MSG_AUDIT_NEWEST "newest %s, append-only"
#define MSG_AUDIT_ENTRIES "%s entr%s, append-only"
#define MSG_AUDIT_PEOPLE "of people, Tab all"
#define MSG_AUDIT_NEWS "new entries, r"
#define MSG_AUDIT_NO_OPERATION "not part of an operation"
#define MSG_AUDIT_FIXED "the audit is append-only: nothing here can be changed"
#define MSG_AUDIT_EMPTY "Nothing decided yet."

#endif
