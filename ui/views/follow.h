// follow: a list whose cursor rests on the first row takes in what is new by itself. Whoever moved the cursor
// away, or pressed a key a moment ago, finds the rows where they were; line 2 says what waits.
#ifndef REDRIVE_UI_VIEWS_FOLLOW_H
#define REDRIVE_UI_VIEWS_FOLLOW_H

#include "ui/app/app.h"
#include "ui/widgets/table.h"

struct follow {
    int64_t since;  // clock_mono of the last key here, or of the last time that rows were taken in
    int64_t after;  // µs without a key; 0: never
    bool is_asleep; // another view lies above: until it is shown again
};

void follow_begin(struct follow *follow, const struct app *app);
void follow_touch(struct follow *follow); // a key came, or the view is shown again
// When to try, as `due` of a view: negative where nothing waits or the cursor is elsewhere.
int64_t follow_due(const struct follow *follow, const struct table *table, bool has_news);
// May it be done now? Begins the next wait in any case.
bool follow_now(struct follow *follow, const struct app *app, const void *state);

#endif
