// texts: every sentence of the payload editor. Verb and number first, the remedy last.
#ifndef REDRIVE_UI_VIEWS_EDITOR_TEXTS_H
#define REDRIVE_UI_VIEWS_EDITOR_TEXTS_H

#include <inttypes.h>
#include "ui/views/texts.h"

// where the bytes come from
#define MSG_FROM_REVISION "revision %" PRId32 " by %s: %s"
#define MSG_EXACT "exact: %s"
#define MSG_NOT_EXACT "NOT byte for byte: %s"
#define MSG_RECORD_AWAITED "NOT byte for byte yet: a worker reads the original record in Kafka…"
#define MSG_RECORD_NOBODY "NOT byte for byte: no worker runs that could read the original record in Kafka"
#define MSG_RECORD_MISSING "NOT byte for byte: the original record did not come; PostgreSQL's text is edited"
#define MSG_RECORD_WHY "NOT byte for byte: the original record was not read: %s"
#define MSG_RECORD_THERE "the original record is here: its exact bytes are edited"
#define MSG_RECORD_LATE "the original record is here now; close and open again to edit its exact bytes"
#define MSG_KEY_HINT "the key as JSON: a text, null, or {\"base64\": \"AAEC\"}"
#define MSG_HEADERS_HINT "all headers in order: value is a text or null, or base64"
#define MSG_TARGET_HINT "topic, and partition: a number, or null for the usual one"

// why it cannot be edited
#define MSG_READ_ONLY_TOKENS "%s; read-only"
#define MSG_READ_ONLY_DECODED                                                                                \
    "decoded from %s, schema %s, only to look at; a reprocess sends the bytes; read-only"
#define MSG_READ_ONLY_LONG "this payload has %s, up to %s can be edited; read-only"
#define MSG_READ_ONLY_CUT "only the first %s of %s are here; read-only"
#define MSG_HEX_ONLY "bytes are shown here and edited as text; hex goes back to it"
#define MSG_READ_ONLY_CLOSED "event %" PRId64 " is %s; only a pending event is corrected"
#define MSG_READ_ONLY_SESSION "read-only session; nothing can be changed"

// editing
#define MSG_TOO_LONG "not done: the text would become too long"
#define MSG_NOTHING_TO_UNDO "nothing to undo"
#define MSG_NOTHING_TO_REDO "nothing to redo"
#define MSG_NOTHING_CUT "nothing was cut yet"
#define MSG_NO_FINDING "no error and no warning"
#define MSG_NO_FOLD "nothing to fold here"
#define MSG_FOLDED_ALL "folded %zu"
#define MSG_NO_BRACKET "no bracket here"
#define MSG_AS_IT_IS "nothing to change"
#define MSG_FORMATTED "formatted; every token keeps its bytes"
#define MSG_MINIFIED "minified; every token keeps its bytes"
#define MSG_PASTED "pasted %s"

// JSON within a text
#define MSG_EMBEDDED_NONE "no JSON object or array in the text under the cursor"
#define MSG_EMBEDDED_DEEP "not opened: JSON in JSON in JSON, more than %d deep"
#define MSG_EMBEDDED_OPENED "the JSON in this text; save puts it back into %s"
#define MSG_EMBEDDED_SURROGATE                                                                               \
    "lone surrogates are shown as U+FFFD; putting back a text around them changes them"
#define MSG_EMBEDDED_FIRST "JSON within a text is open; save puts it back, close leaves it"
#define MSG_EMBEDDED_BACK "put back into %s; not saved yet"
#define MSG_EMBEDDED_SAME "nothing changed in %s"
#define MSG_EMBEDDED_LOSSY "put back into %s; a lone surrogate became U+FFFD"
#define MSG_EMBEDDED_HINT "JSON within a text: save puts it back; outside, every byte stays"

// envelopes
#define MSG_ENVELOPE_NONE "no dead letter envelope that is known; nothing was changed"
#define MSG_ENVELOPE_OFF "done, and no other byte changed: %s"
#define MSG_ENVELOPE_NOT "not done: %s"

// places
#define MSG_PLACE_OF "%zu of %zu: %s"
#define MSG_NO_PLACE "the error message names no place in this payload"

// searching
#define MSG_FIND_LABEL "find (/a.b/ is a pattern): "
#define MSG_NOT_FOUND "not found: %s"
#define MSG_NO_MORE "no more of %s up to the end"
#define MSG_NO_SEARCH "nothing is searched for; find first"
#define MSG_REPLACE_LABEL "replace by: "
#define MSG_REPLACED "replaced %s"
#define MSG_GO_TO_LABEL "go to ($.path or LINE:COLUMN): "

// sections
#define MSG_SECTION_WRONG "%s: %s"
#define MSG_KEY_FORM "the key is a text in quotes, null, or {\"base64\": \"AAEC\"}"
#define MSG_HEADERS_FORM "headers are a list of {\"name\": \"a\", \"value\": \"b\"}"
#define MSG_HEADER_FORM "header %zu: has a name, and a value (a text or null) or base64"
#define MSG_TARGET_FORM "the target is {\"topic\": \"a\", \"partition\": a number or null}"

// saving
#define MSG_NO_CHANGES "no changes"
#define MSG_NO_JSON_TITLE "Not JSON any more: line %d, column %d: expected %s"
#define MSG_SAVE_WHAT "revision %" PRId32 " of event %" PRId64
#define MSG_SAVE_ONLY "the original stays; nothing is sent"
#define MSG_SAVE_THEN_REPROCESS "the original stays; then asks about the reprocess"
#define MSG_SAVE_THEN_RECIPE "the original stays; then shows the recipe"
#define MSG_SAVE_REASON_HINT "why, for the audit"
#define MSG_SAVE_CANCELLED "not saved"
#define MSG_SAVING "saving"
#define MSG_SAVE_CHECKING "not saved yet: waits for the check of event %" PRId64 " · C-c stops"
#define MSG_SAVE_REFUSED "not saved: the check refuses it: %s"
#define MSG_SAVE_REFUSED_LINE "the check refuses it: %s"
#define MSG_SAVE_FORCE_HINT "why it is saved all the same"
#define MSG_SAVED "saved as revision %" PRId32 " of event %" PRId64
#define MSG_RECIPE_GROUP "the group of %" PRId64
#define MSG_RECIPE_FILTERED "the group of %" PRId64 " that match /%s"
#define MSG_CONFLICT_CORRECTED "Not saved: revision %" PRId32 " is by %s"
#define MSG_CONFLICT_CLOSED "Not saved: the event is %s"
#define MSG_CONFLICT_BUSY "Not saved: the event is in operation %" PRId64
#define MSG_CONFLICT_OTHER "Not saved: somebody was faster"
#define MSG_REBASED "editing on top of revision %" PRId32 "; save again"
#define MSG_RELOADED "revision %" PRId32 " reloaded; your text is kept as a draft"
#define MSG_KEPT_EDITING "not saved; your text is here"
#define MSG_UNSAVED "event %" PRId64 " has unsaved corrections; close its editor first"

// revisions
#define MSG_NO_REVISIONS "event %" PRId64 " was never corrected; this is the original"
#define MSG_REVISIONS_TITLE "Revisions"
#define MSG_REVISION_NAME "revision %" PRId32
#define MSG_ORIGINAL_NAME "the original"
#define MSG_REVISIONS_SAME "no differences"
#define MSG_REVERT_UNSAVED "save or undo what was typed first, then revert"
#define MSG_REVERT_WHAT "revision %" PRId32 " of event %" PRId64 ": equal to %s"
#define MSG_REVERT_NOTE "every revision stays; nothing is sent"
#define MSG_REVERTED "saved as revision %" PRId32 ", equal to %s"

// drafts
#define MSG_DRAFT_TITLE "Draft from %s%s"
#define MSG_DRAFT_OLDER ", made before revision %" PRId32
#define MSG_DRAFT_RESTORED "draft restored; not saved yet"
#define MSG_DRAFT_GONE "draft removed"
#define MSG_DRAFT_FAILED "no draft is kept: %s"

// another program
#define MSG_OUTSIDE_OFF "external_editor is off: nothing is written to a file"
#define MSG_OUTSIDE_SAME "no changes"
#define MSG_OUTSIDE_TAKEN "took the text of %s; not saved yet"
#define MSG_OUTSIDE_INVALID "took the text of %s; %s"
#define MSG_OUTSIDE_MISSING "%s was not found; set REDRIVE_EDITOR, VISUAL or EDITOR. Text kept"
#define MSG_OUTSIDE_STATUS "%s ended with status %d; text kept as it was%s%s"
#define MSG_OUTSIDE_KILLED "%s was ended by signal %d; text kept as it was%s%s"
#define MSG_OUTSIDE_NO_TERMINAL "there is no terminal for %s; text kept"
#define MSG_OUTSIDE_UNREADABLE "text kept as it was: %s"

#endif
