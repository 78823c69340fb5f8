// texts: every sentence of the frame around the views: header, message line, keys that mean the same
// everywhere. Verb and number first, the remedy last; "· KEY verb" names the key that helps.
#ifndef REDRIVE_UI_APP_TEXTS_H
#define REDRIVE_UI_APP_TEXTS_H

#include <inttypes.h>

// why nothing can be changed
#define MSG_READ_ONLY "read-only session; nothing can be changed"
#define MSG_NO_CHANGES_OFFLINE "connection lost; nothing can be changed until it is restored"
#define MSG_MIGRATE_BEFORE_CHANGES "redrive's own schema is missing; run: redrive migrate"

// files, clipboard
#define MSG_DEFAULT_THEME "%s; using the default theme"
#define MSG_DEFAULT_KEYMAP "%s; using the default keymap"
#define MSG_COPIED "copied %s %.*s%s to the clipboard%s"

// keys
#define MSG_NOTHING_TO_REPEAT "no change was asked for yet; nothing to repeat"
#define MSG_NOT_ABOUT_EVENTS "this view is not about events; go to groups or events"
#define MSG_NOT_BOUND "%s is not bound · %s help"
#define MSG_FIRST_VIEW "this is the first view · Q quit"
#define MSG_STOPPED "stopped"
#define MSG_QUIT_IDLE "Ctrl-C again quits; operations keep running"
#define MSG_QUIT_BUSY "cannot stop this; Ctrl-C again quits, operations keep running"
#define MSG_AS_STARTED "(as started)"
#define MSG_CONNECTING_TO "connecting to %s; Ctrl-C stops"
#define MSG_CONNECTED_ALREADY "%s is the connection in use"
#define MSG_NOT_CONNECTED "%s: %s"
#define MSG_CHANGE_TITLE "Change to %s"
#define MSG_CHANGE_UNSELECTS "%s selected event%s will be unselected."
#define MSG_CHANGE_STOPS "A dry run, count or list that runs here stops."
#define MSG_CHANGE_KEEPS "Operations keep running: workers carry them out. Place and filter are kept."
#define MSG_CHANGE_BUSY "a change is being written; change the connection when it is done"
#define MSG_CHANGE_LATE "%s can be reached; finish what is open here, then ask again"
#define MSG_ONE_TABLE "redrive knows one table of dead letters in this database"
#define MSG_NO_PROFILES "the configuration has no profiles · man redrive-config"
#define MSG_ALERT_NOTED "noted on the alert for everybody · 3 monitor"
#define MSG_ALERTS "%d alert%s  %s"
#define MSG_HERE "%zu here  %s"
#define MSG_LETTERS_LEFT_BY_INGEST "%s left to ingest  %s"
#define MSG_MARKED "marked on the time axis · 3 monitor"
#define MSG_DISPLAY_PAUSED "display paused"
#define MSG_DISPLAY_LIVE "display live again"
#define MSG_SHOWS_OPERATION "this is operation %" PRId64
#define MSG_NONE_RUNNING "no operation is running"
#define MSG_MOUSE_ON "mouse on; hold Shift to select text"
#define MSG_SAVE_THEME "save the one shown"
#define MSG_THEME_SAVED "theme %s saved in %s"
#define MSG_THEME_SAVED_BUT "theme %s saved, but %s names another one: %s"
#define MSG_THEME_TITLE "theme · s save"
#define MSG_TIMES_CLOCK "times by the clock, %s"
#define MSG_TIMES_AGE "times as ages"
#define MSG_MOUSE_OFF "mouse off"
#define MSG_NOT_AVAILABLE "%s: not available in this view"
#define MSG_PASTE_IGNORED_FILTER "ignored a paste of %s byte%s; press %s to paste into the filter"
#define MSG_PASTE_NOT_HERE "paste ignored; what confirms is typed"
#define MSG_PASTE_IGNORED "ignored a paste of %s byte%s"
#define MSG_TOO_DEEP "%d views are open; go back first"
#define MSG_NO_PLACE "no view has the digit %d"

// header, message line
#define MSG_NO_CONNECTION "no connection"
#define MSG_CONNECTING_NOW "reconnecting: %s"
#define MSG_RECONNECTING "reconnecting in %s, %s now: %s"
#define MSG_CONNECTION_LOST "connection lost"
#define MSG_RUNNING "operation %" PRId64 ": %s %s of %s"
#define MSG_END_UNDO " · u undo"
#define MSG_RUNNING_RETURNED ", returned %s"
#define MSG_NOBODY_WORKS "no worker"
#define MSG_NO_SIGN "no sign of the worker for %ds"
#define MSG_WATCH "%s watch"
#define MSG_NO_SCHEMA_HERE "reading only: redrive's own schema is missing; run: redrive migrate"
#define MSG_STOP_STATE "STOPPED"
#define MSG_STOP "nothing is published; redrive migrate --adopt or --as-copy decides: %s"
#define MSG_TOO_SMALL "%dx%d too small"

#endif
