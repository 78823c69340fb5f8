// texts: every sentence of the list of groups and of why a group is one. Verb and number first, the remedy
// last. Words of one row each (orders and columns in row.c, categories in category.c) are in their tables.
#ifndef REDRIVE_UI_VIEWS_GROUPS_TEXTS_H
#define REDRIVE_UI_VIEWS_GROUPS_TEXTS_H

#include "ui/views/texts.h"

// the list
#define MSG_COLLECTING_CHIP "collecting, C-c stop"
#define MSG_MERGED "merged, za unfold"
#define MSG_NONE_SIMILAR "merged: no similar groups"
#define MSG_MIGRATE_FIRST "to change anything, run: redrive migrate"
#define MSG_COUNTING_CHIP "counting, %s scanned so far"
#define MSG_BEHIND "%s behind"
#define MSG_PENDING_IN "%s pending in %s group%s"
#define MSG_PENDING_OF_VALUES "%s pending in %s value%s"
#define MSG_MATCHING_VALUES "%s / %s in %s of %s value%s"
#define MSG_READING_PAYLOADS "reading payloads"
#define MSG_READING_PATH "reading %s of the pending events"
#define MSG_PATH_HINT "a path of the payload: $.type  $.lines[0].sku  $['odd name']  Tab completes"
#define MSG_FIRST_LISTED "first %s listed, / narrows"
#define MSG_NO_WHOLE_GROUP "No whole group is selected. Esc shows all groups."
#define MSG_NOTHING_MATCHES "Nothing matches; %s without the filter. Esc clears it."
#define MSG_SEARCHING "searching"
#define MSG_SEARCHED_SO_FAR "%s so far, %s of %s looked at"
#define MSG_MATCHING_IN "%s / %s in %s of %s group%s"
#define MSG_UNDECIDED "%s undecided"
#define MSG_THAT_MATCH "%s that match /%s"
#define MSG_CONNECTING "connecting"
#define MSG_COUNTING "counting pending events"
#define MSG_GROUP_EMPTY "No pending events left in this group."
#define MSG_NO_PENDING_SINCE "No pending events. The last one was closed %s%s%s."
#define MSG_NO_PENDING "No pending events."

// what a key does
#define MSG_CONTINUES_THEN "still collecting the selection, then this continues · C-c stop"
#define MSG_STILL_SELECTING "still selecting the events of a group; press the key again then"
#define MSG_SELECT_RANGE_FIRST "select the range first · Space select"
#define MSG_NOTHING_TO_DECIDE "nothing here to decide on"
#define MSG_STILL_COLLECTING "still collecting · C-c stop"
#define MSG_TRAIL_OF_PARTS "%zu groups, each with its own trail · za unfold"
#define MSG_MERGE_BY_ERROR "only groups by error can be merged"
#define MSG_SINGLE_GROUP "a single group · f merge similar groups"

#define MSG_SELECTING_STOPPED "stopped; selection unchanged"

// its category
#define MSG_CATEGORY_REASON_HINT "why, for everybody"
#define MSG_CATEGORY_FOR_ALL "counts as %s from now on, for everybody"
#define MSG_CATEGORY_BY_RULES_AGAIN "the rules decide again, for everybody"
#define MSG_CATEGORY_UNCHANGED "category unchanged"
#define MSG_CATEGORY_BY_ERROR "only groups by error have a category of their own"
#define MSG_CLEAR_CATEGORY "clear: the rules decide"
#define MSG_CATEGORY_CLEARED "category cleared; the rules decide"
#define MSG_CATEGORY_SET "category set to %s, for everybody · K change"

// what people say about it
#define MSG_UNTIL_HINT "2h, 14:30, or 2026-11-23T14:30"
#define MSG_SNOOZE_HINT "4h, 14:30, or 2026-11-23T14:30; 0 ends"
#define MSG_NOTE_HINT "what you are doing about it"
#define MSG_TAKE_EFFECT "everybody sees that you take care of this group, and your note"
#define MSG_NOTE_EFFECT "everybody sees the note; without a text it is removed"
#define MSG_SNOOZE_EFFECT "listed last, its alerts silent, until then or above %s events; 0 ends"
#define MSG_KEEP_LONGER "keep it longer…"
#define MSG_TAKE_OVER "take it over…"
#define MSG_EDIT_NOTE "edit the note…"
#define MSG_RELEASE "release it"
#define MSG_TAKEN "the group is yours · a release"
#define MSG_NOTED "note kept"
#define MSG_RELEASED "the group is free · a take"
#define MSG_SNOOZED "the group may wait · s change"
#define MSG_SNOOZE_ENDED "the group waits no longer"
#define MSG_CARE_BY_ERROR "only groups by error can be taken or snoozed"
#define MSG_CARE_SINGLE "several groups in one row · za unfold, then choose one"

// the preview
#define MSG_SET_BY_HAND "  category set by hand"
#define MSG_LAST_DECISION "operation %" PRId64 ": %s by %s %s: %s"
#define MSG_CHART_FROM "24 hours ago"
#define MSG_CHART_TO "now"
#define MSG_RETURNED_SO_FAR "returned %s so far"
#define MSG_RETURNED_AFTER_EMPTIED "   returned after it was emptied"

// why a group is one
#define MSG_KEY_BY_RULES "%-9s %s  grouping rules v%s"
#define MSG_KEY_PARTS "Events share a group when these three match."
#define MSG_KEY_CUT "The text is too long for a key; only its beginning counts."
#define MSG_NOTHING_IGNORED "nothing; every word counts"
#define MSG_CATEGORY_SET_BY "%-9s set by %s, %s"
#define MSG_CATEGORY_BY_RULES "%-9s %s, by the rules"

#endif
