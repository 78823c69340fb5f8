// texts: every sentence of a decision: its dialog, and what is said about it afterwards. Verb and number
// first, the remedy last. Words of one row each (verbs[] in decide.c, fields) are in their tables.
#ifndef REDRIVE_UI_VIEWS_DECIDE_TEXTS_H
#define REDRIVE_UI_VIEWS_DECIDE_TEXTS_H

#include <inttypes.h>
#include "ui/views/texts.h"

// the message line
#define MSG_SUBMITTING "submitting: %s %s event%s"
#define MSG_DECISION_CANCELLED "cancelled; nothing changed"
#define MSG_COLLECTING "collecting %s"
#define MSG_NOTHING_LEFT_IN "nothing left to %s in %s"
#define MSG_COLLECTING_STOPPED "stopped; nothing changed"
#define MSG_ASKED_ELSEWHERE "%s of %s was not asked: another question was open; press its key again"
#define MSG_SELECTING "selecting %s of %s events"
#define MSG_NOTHING_TO_RESTORE "operation %" PRId64 ": nothing left to restore"
#define MSG_NOTHING_TO_REVERT                                                                                \
    "operation %" PRId64 ": nothing left to undo; sent, closed, corrected again or reverted since"

// after it was confirmed
#define MSG_ALL_SKIPPED_WHY "operation %" PRId64 ": nothing to %s, all %s skipped: %s"
#define MSG_ALL_SKIPPED "operation %" PRId64 ": nothing to %s, all %s skipped · 4 operations"
#define MSG_NEEDS_APPROVAL "operation %" PRId64 " needs approval by somebody else · 4 operations"
#define MSG_SENDING_SOON "operation %" PRId64 ": sending in " MSG_LEFT " · u undo · @ watch"
#define MSG_CORRECTING_SOON "operation %" PRId64 ": correcting in " MSG_LEFT " · u undo · @ watch"
#define MSG_BEGINS_LATER "operation %" PRId64 ": begins %s · u undo · @ watch"
#define MSG_QUEUED "operation %" PRId64 " queued · @ watch"
#define MSG_QUEUED_UNDO "operation %" PRId64 " queued · u undo · @ watch"
#define MSG_NOTHING_TO_UNDO "nothing to undo"
#define MSG_NO_UNDO_OF "operation %" PRId64 " is a %s; u does not undo it"
#define MSG_SELECTION_UNDONE "step of the selection undone: %s selected"

// the dialog
#define MSG_SCOPE_OF "%s %s of %s"
#define MSG_SCOPE_SELECTED "%s selected %s"
#define MSG_SCOPE_HIDDEN "%s, %s hidden by the filter"
#define MSG_SCOPE_ELSEWHERE "%s, %s not in this list"
#define MSG_SCOPE_UNSEEN "%s, none of them in this list"
#define MSG_NO_TARGET "no topic"
#define MSG_TARGET_REFUSED "%s will be refused: %s"
#define MSG_TARGET_WHY "     %s; edit `to` to send elsewhere"
#define MSG_LETTERS "     dead letters, of %zu looked at: %s"
#define MSG_HEADERS_KEPT "     headers kept     %s"
#define MSG_HEADERS_DROPPED "     headers dropped  %s"
#define MSG_HEADERS_ADDED "     headers added    %s"
#define MSG_EXACT_OF "     %zu of %zu byte for byte%s%s"
#define MSG_LETTERS_UNSURE "     %zu not certain: %s"
#define MSG_TARGET_ROUTED "     by the setting consumers; edit `to` to send elsewhere"
#define MSG_TOPICS_NOT_ASKED " · topics not asked yet"
#define MSG_TOPICS_ASKED " · topics asked just now"
#define MSG_TOPICS_ASKED_AGO " · topics asked %s ago"
#define MSG_PAYLOAD "payload: %s"
#define MSG_PAYLOAD_CORRECTED "%s corrected"
#define MSG_PAYLOAD_ORIGINAL "%s original bytes"
#define MSG_CHECKING "checking the events"
#define MSG_NOT_PROBED "not probed yet: exactly once if Kafka allows it, else at least once"
#define MSG_QUARANTINE_LEFT_OUT                                                                              \
    "left out %s in quarantine (returned %" PRId64 " times); to include: is:quarantined"
#define MSG_QUARANTINE_INCLUDED "%s returned %" PRId64 " times or more"
#define MSG_CLOSED_MEANWHILE "%s %s closed meanwhile and will be skipped"
#define MSG_NOT_TO_RESTORE "%s %s pending already, or %s sent, and will be skipped"
#define MSG_BUSY_ELSEWHERE "%s %s already in %s and will be skipped"
#define MSG_ALL_QUARANTINED "all are in quarantine; to include: is:quarantined"
#define MSG_ALL_BUSY "already in other operations; nothing left to %s"
#define MSG_NONE_TO_RESTORE "pending already, or sent; nothing left to restore"
#define MSG_ALL_CLOSED "already closed; nothing left to %s"

#define MSG_APPLY_EFFECT "writes a revision of each that changes; undo: u in operations"
#define MSG_APPLY_SENDS "with send: then sends those that changed, by these steps, halt and rate"
#define MSG_REVERT_EFFECT                                                                                    \
    "writes a revision of each as it was before operation %" PRId64 "; the history stays"

// what is checked while the dialog is open
#define MSG_REPEATED "%s will be skipped: another row of the same record is sent"
#define MSG_REFUSED_SINGLY "%s will be refused: %s%s"
#define MSG_REFUSED_MORE ", and others"
#define MSG_REFUSED_NONE "none is too large for its topic"
#define MSG_REFUSED_WHAT "events too large for their topic"
#define MSG_UNMEASURED "%s were not looked at one by one"
#define MSG_DUPLICATES "%s have the same event id as another one here"
#define MSG_DUPLICATES_WHAT "duplicate event ids"
#define MSG_DUPLICATES_NONE "no duplicate event ids"
#define MSG_OVERTAKEN_NONE "no newer events of the same key"
#define MSG_OVERTAKEN "%s %s newer events of the same key%s%s%s"
#define MSG_OVERTAKEN_WHAT "newer events of the same key"
#define MSG_NEWER_WHAT "newer records of the same key in Kafka"
#define MSG_NEWER_LEFT_OUT "left out: "
#define MSG_NEWER_NO_WORKER "newer records: no worker that has Kafka is alive; start redrive work"
#define MSG_NEWER_TITLE "newer records in Kafka"
#define MSG_NEWER_ALL "every event has newer records of its key: nothing would be left"
#define MSG_RISK_CHECKING "checking for %s"
#define MSG_RISK_UNKNOWN "could not check for %s%s%s"

// its offers in the footer
#define MSG_NEWER_CHECK "newer records"
#define MSG_NEWER_LEAVE_OUT "leave those out"
#define MSG_NEWER_TAKE_BACK "take those back"
#define MSG_NEWER_LIST "list those"

// the fields
#define MSG_RATE_WRONG "events per second; 0 starts paused"
#define MSG_REASON_HINT "why, for the audit"
#define MSG_RATE_HINT "events/s; empty: no limit"
#define MSG_STEPS_HINT "10,100,rest 60s; empty: all at once"
#define MSG_LAST_TIME "reprocessed %s by %s, operation %" PRId64 ": %s"
#define MSG_HALT_HINT "5%: when more fail or return; none: never"
#define MSG_LAG_WRONG "records that a consumer group may lag, such as 500"
#define MSG_LAG_HINT "500: wait while a group lags more; empty: never"
#define MSG_BEGIN_HINT "now, 02:00 or 30m"
#define MSG_TOPIC_HINT "each event's own topic"
#define MSG_FIRST_HINT "10,rest: halts after each; empty: all at once"
#define MSG_FORCE_HINT "why: takes the %s that the check refuses too"
#define MSG_SEND_HINT "yes, or a rate such as 50/s; empty: only corrects"
#define MSG_SEND_WRONG "yes, a rate such as 50/s, or nothing"

#endif
