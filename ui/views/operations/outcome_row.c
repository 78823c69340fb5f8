#include "ui/views/operations/outcome_row.h"

#include <string.h>
#include "core/outcomes.h"
#include "core/recipe/tally.h"
#include "ui/views/events/row.h"
#include "ui/views/operations/row.h"
#include "ui/views/operations/texts.h"

void
outcome_row_doubt(const struct doubt *doubt, int column, struct canvas *canvas, struct area area)
{
    if (column == OUTCOME_STATE)
        canvas_text(canvas, area.row, area.col, area.cols,
                    bytes_of(item_state_word(ITEM_IN_DOUBT, ACTION_REPROCESS)), ROLE_OPERATION_FAILED);
    else if (column == OUTCOME_COUNT)
        canvas_count(canvas, area.row, area.col, area.cols, doubt->events, ROLE_OPERATION_FAILED);
    else
        canvas_printf(canvas, area.row, area.col, area.cols, ROLE_TEXT, "chunk %.*s: %s", DOUBT_CHUNK_SHOWN,
                      doubt->chunk, doubt->evidence ? doubt->evidence : "");
}

// The message as the lists of events show it, without the package of its class.
static void
draw_group(const struct returned *returned, struct canvas *canvas, struct area area)
{
    const char *error = returned->error ? returned->error : "";
    canvas_printf(canvas, area.row, area.col, area.cols, ROLE_TEXT, "%s group: %s",
                  returned_group_words(returned), error + event_package_len(bytes_of(error)));
}

void
outcome_row_returned(const struct returned *returned, int column, struct canvas *canvas, struct area area)
{
    if (column == OUTCOME_STATE)
        canvas_text(canvas, area.row, area.col, area.cols, BYTES(MSG_RETURNED_TITLE), ROLE_EVENT_RETURNED);
    else if (column == OUTCOME_COUNT)
        canvas_count(canvas, area.row, area.col, area.cols, returned->count, ROLE_EVENT_RETURNED);
    else
        draw_group(returned, canvas, area);
}

// The events of a recipe that are done are told apart by their reason; a changed one has none.
static const char *
state_word(const struct outcome *outcome, enum operation_action action)
{
    if (action != ACTION_CORRECT || outcome->state != ITEM_DONE)
        return item_state_word(outcome->state, action);
    if (!outcome->reason)
        return MSG_CHANGED;
    if (bytes_starts(bytes_of(outcome->reason), CORRECT_FORCED_WORD))
        return MSG_OUTCOME_FORCED;
    return strcmp(outcome->reason, MSG_UNCHANGED) == 0 ? MSG_UNCHANGED : MSG_NO_FIT;
}

void
outcome_row_cell(const struct outcome *outcome, enum operation_action action, int column,
                 struct canvas *canvas, struct area area)
{
    switch ((enum outcome_column)column) {
    case OUTCOME_STATE:
        // That it was sent is no verdict yet: green is what stayed away.
        canvas_text(canvas, area.row, area.col, area.cols, bytes_of(state_word(outcome, action)),
                    action == ACTION_REPROCESS && outcome->state == ITEM_DONE ? ROLE_TEXT
                                                                              : item_role(outcome->state));
        break;
    case OUTCOME_COUNT:
        canvas_count(canvas, area.row, area.col, area.cols, outcome->count, ROLE_TEXT);
        break;
    case OUTCOME_REASON:
        if (outcome->reason && strcmp(outcome->reason, state_word(outcome, action)) != 0)
            canvas_text(canvas, area.row, area.col, area.cols, bytes_of(outcome->reason), ROLE_TEXT);
        break;
    case OUTCOME_COLUMNS:
        break;
    }
}
