// texts: the sentences that several views say. Each folder of views has a texts.h of its own beside this one.
//
// The screen speaks to a tired person: verb and number first, the remedy last. "· KEY verb" names the key
// that helps.
#ifndef REDRIVE_UI_VIEWS_TEXTS_H
#define REDRIVE_UI_VIEWS_TEXTS_H

// in place of rows
#define MSG_LOADING "loading"
#define MSG_UNREACHABLE "PostgreSQL cannot be reached: %s"
#define MSG_NO_SCHEMA "redrive's own schema is missing; run: redrive migrate"
#define MSG_NEW_WAIT "%s new · r"
#define MSG_ORDER_CHANGED "order changed · r"
#define MSG_NOTHING_MATCHES "Nothing matches; %s without the filter. Esc clears it."
#define MSG_STOPPED_EARLY "Stopped before anything was found. r looks again."

// the message line
#define MSG_NOTHING_HERE_TO "nothing here to %s"
#define MSG_SELECTED_MORE "selected %s more"
#define MSG_UNSELECTED "unselected %s"
#define MSG_UNDECIDED_LEFT_OUT ", %s undecided left out"

// between a list and its preview
#define MSG_NO_PREVIEW "no preview here: it needs 24 rows · d show or hide it"
#define MSG_TO_LIST "list"

#endif
