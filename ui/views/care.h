// care: what people say about a group, in words: for lists, previews and dialogs.
#ifndef REDRIVE_UI_VIEWS_CARE_H
#define REDRIVE_UI_VIEWS_CARE_H

#include "core/event.h"
#include "core/people.h"
#include "ui/app/app.h"

// "taken by anna 12m ago, until 16:30: looking at the schema"; "note by anna 2d ago: rollback at 14:30";
// "waits until 14:00, by anna"; several with blanks between. "": nobody says anything (care may be NULL).
const char *care_words(const struct group_care *care, struct moments moments, int64_t events,
                       struct arena *arena);
// In a row of a list: "@anna"; "note"; "until 14:00", in the arena. NULL: nothing.
const char *care_mark(const struct group_care *care, int64_t now, int64_t events, struct arena *arena);
// A line of the dialog about events of this group (its key as text), where somebody says something about it.
void care_line(struct app *app, struct dialog *dialog, const char *group);
// What the runbook of the team says about an event; NULL: nothing. The event has its group, category and
// class.
const char *care_event_advice(struct app *app, const struct event *event, struct arena *arena);
// A dialog that only tells who has a screen open, and on what.
void care_show_people(struct app *app);

#endif
