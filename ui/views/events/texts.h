// texts: every sentence of the list of events and of one event. Verb and number first, the remedy last.
// Words of one row each (orders and statuses in menus.c, columns and fields in row.c) are in their tables.
#ifndef REDRIVE_UI_VIEWS_EVENTS_TEXTS_H
#define REDRIVE_UI_VIEWS_EVENTS_TEXTS_H

#include <inttypes.h>
#include "ui/views/texts.h"

// the list
#define MSG_COLUMN_LABEL "column "
#define MSG_ORDER_PATH_LABEL "order by "
#define MSG_ORDER_PATH_HINT "a path of the payload: $.type  $.lines[0].sku  Tab completes"
#define MSG_COLUMN_HINT                                                                                      \
    "$.type  $.lines[0].sku, or format, consumer, queue  Tab completes  nothing: no column"
#define MSG_SEARCHING "searching"
#define MSG_ALL_DONE "No pending events. The last one was closed %s by %s."
#define MSG_NO_EVENTS "No events here."
#define MSG_SEARCHED_SO_FAR "%s so far, %s of %s searched"
#define MSG_SEARCHED_UNCOUNTED "%s so far, %s searched"
#define MSG_NOTHING_MATCHES_HERE "Nothing matches. Esc clears the filter."
#define MSG_POSITION_OF "%s of %s"
#define MSG_SEARCH_FAILED "failed after %s"
#define MSG_UNDECIDED "%s undecided: costly or unreadable"
#define MSG_UNREADABLE "unreadable"

// selecting
#define MSG_NOTHING_SELECTED "nothing selected"
#define MSG_MATCHING_ROWS "matching %s events once more, in their rows"
#define MSG_ROWS_LEFT_OUT ", %s left out: gone, or its row does not match"
#define MSG_STILL_LOADING "still loading; select all when the list is complete"
#define MSG_NOT_ALL_LOADED "the list is not complete: nothing was selected; r reads it again"

// orders, filters, matches
#define MSG_SORT_PENDING "only pending events can be sorted by column"
#define MSG_DESCENDING ", descending"
#define MSG_FILTER_SAVED "saved as @%s; use it in any filter"
#define MSG_FILTER_REMOVED "removed @%s"
#define MSG_NO_FILTER_TO_SAVE "no filter to save; press / to type one"
#define MSG_COUNT_PENDING "only pending events can be counted"
#define MSG_NOTHING_TO_COUNT "nothing to count"
#define MSG_FACETS_TITLE_CLOSED "Narrow to (%s closed meanwhile)"
#define MSG_NO_FILTER_YET "no filter yet; press / to type one"
#define MSG_NO_MORE_MATCHES "no more matches of %s %s"

// one event, or a range
#define MSG_SCOPE_ID "id %" PRId64
#define MSG_SCOPE_RANGE "the marked range"
#define MSG_LAST_EVENT "last event of the list"
#define MSG_FIRST_EVENT "first event of the list"

// its sections
#define MSG_LIBRARY_FRAMES "        %s %s library frame%s"
#define MSG_NO_STACK "no stack trace"
#define MSG_DECODED "decoded from %s, schema %s (%s); the bytes are what is sent"
#define MSG_NOT_DECODED "schema %s, not decoded: %s"
#define MSG_NO_ORIGINAL "no payload: the original is %.*s"
#define MSG_PAYLOAD_CUT "truncated here; run: redrive show %" PRId64 " --raw"
#define MSG_SECTION_STACK "stack"
#define MSG_SECTION_ORIGIN "origin"
#define MSG_SECTION_LINKS "links"
#define MSG_SECTION_DECISIONS "decisions"
#define MSG_SECTION_LETTER "dead letter"
#define MSG_SECTION_DATA "data"
#define MSG_SECTION_METADATA "metadata"
#define MSG_LETTER_UNSURE "not certain: %s"
#define MSG_SECTION_SEND "what a reprocess would send"
#define MSG_QUARANTINED "in quarantine: returned too often, left out of bulk operations"
#define MSG_SELECTED_IDS "selected ids"
#define MSG_RETURNED_FROM "returned from operation %" PRId64 ", which sent it as event %" PRId64
#define MSG_REOPENED_FROM "returned from operation %" PRId64 ", as the same event"
#define MSG_CLOSED_SINCE "%s closed · r"
#define MSG_IN_OPERATION "in operation %" PRId64 " now"
#define MSG_DECISION "%s  %s %s%s%s; %s's operation %" PRId64 "%s%s"
#define MSG_SENDS_NOTHING "nothing: %s"
#define MSG_SENDS_IF_PENDING "nothing while %s; if it were pending:"
#define MSG_NOT_JSON_AT "not JSON at line %d, column %d: expected %s"
#define MSG_HEX_CUT "first %s of %s bytes"
#define MSG_NOT_JSON "not JSON from here: expected %s"
#define MSG_TREE_CUT "truncated here: too long to show as a tree"
#define MSG_SHOWN_RAW "%s; shown raw"

#endif
