// texts: every sentence of the view of a recipe. Verb and number first, the remedy last.
#ifndef REDRIVE_UI_VIEWS_RECIPE_TEXTS_H
#define REDRIVE_UI_VIEWS_RECIPE_TEXTS_H

#include "ui/views/texts.h"

// the counts
#define MSG_APPLIES "applies"
#define MSG_UNCHANGED "unchanged"
#define MSG_NOT_APPLICABLE "does not apply"
#define MSG_INVALID "invalid after"
#define MSG_FAILED "failed"
#define MSG_REFUSED_BY_CHECK "refused by check"
#define MSG_FORCED "forced"
#define MSG_DEPARTS "departs from shape"
#define MSG_GONE "gone"
#define MSG_MISTAKE "mistake in the recipe"
#define MSG_OF "of %s"
#define MSG_READ_SO_FAR "%s of %s read"

// in place of samples
#define MSG_NO_RECIPE "No recipe yet. o opens a saved one or a file, e writes one here."
#define MSG_NO_EVENTS "No events: select some, or go to a group, then C."
#define MSG_COLLECTING_EVENTS "collecting the events"
#define MSG_NOTHING_WOULD_CHANGE "Nothing would change."
#define MSG_STOPPED_AT "stopped after %s of %s; r runs it again"
#define MSG_SAMPLE "sample %zu of %zu   event %" PRId64
#define MSG_SAMPLE_LARGE "payload of %s bytes before, %s after: too large to compare here"
#define MSG_ONLY_SPACE "only white space differs"
#define MSG_NULL_VALUE "(null value)"

// sections
#define MSG_SECTION_WHY "left alone"
#define MSG_SECTION_RISKS "risks"
#define MSG_SECTION_RECIPE "recipe"
#define MSG_WHY_EXAMPLE "%s %s   for example %s"
#define MSG_WARNED "%s: %s"
#define MSG_INEXACT_WHY                                                                                      \
    "the bytes that were received are not kept here; the text of PostgreSQL is taken unless a worker finds " \
    "the record in Kafka"
#define MSG_DEPARTS_WHY "would depart from the shape of their type, for example: %s"
#define MSG_APPLIED_QUEUED "operation %" PRId64 ": queued"
#define MSG_APPLIED_RUNNING "operation %" PRId64 ": %s, %s of %s"
#define MSG_APPLIED_TO "operation %" PRId64 " applies it to %s event%s"
#define MSG_APPLIED_NEXT "@ opens it, u undoes it, r tries the recipe on them again"
#define MSG_LEVELLED "set gives them one value where they have different ones"
#define MSG_AGAIN "a second application would change them again: line %d"

// the message line
#define MSG_NO_SAMPLE "no samples"
#define MSG_NO_CLASS "nothing to list yet"
#define MSG_WAIT_FOR_DRY_RUN "the dry run is not over yet; C-c stops it"
#define MSG_RUN_IT_AGAIN "the dry run was stopped · r run again"
#define MSG_MEND_FIRST "the recipe has a mistake · e edit"
#define MSG_NOTHING_TO_APPLY "nothing would change; nothing to apply"
#define MSG_APPLIED_ALREADY "operation %" PRId64 " has applied it · @ watch · r try it again"
#define MSG_COLLECT_STOPPED "stopped; no events were collected"
#define MSG_NO_TEXT "no recipe yet"
#define MSG_NAME_WRONG "1 to 64 letters, digits, dots, - and _; a letter or digit first"
#define MSG_REASON_NEEDED "a reason is required"
#define MSG_REPLACES_REASON "replaces the one of %s; reason: "
#define MSG_TOO_MANY_LINES "more than %d lines: edit it as a file, then o opens it"

// the menus
#define MSG_ADD_LINE "add a line"
#define MSG_FROM_FILE "a file"
#define MSG_NEW_RECIPE "write a new one"
#define MSG_REMOVE_RECIPE "remove a saved one"
#define MSG_NOT_KEPT "The recipe is not saved"
#define MSG_KEEP "save it under a name"
#define MSG_THROW_AWAY "throw it away"
#define MSG_UNSAVED_RECIPE "a recipe that was typed here is not saved; close its view first"
#define MSG_NO_SUCH_RECIPE "there is no recipe %s"

#endif
