// outcome_row: the outcomes of an operation's events, a row each: in doubt, returned, every other end.
#ifndef REDRIVE_UI_VIEWS_OPERATIONS_OUTCOME_ROW_H
#define REDRIVE_UI_VIEWS_OPERATIONS_OUTCOME_ROW_H

#include "core/doubt.h"
#include "core/operation.h"
#include "ui/canvas/canvas.h"

enum outcome_column { OUTCOME_STATE, OUTCOME_COUNT, OUTCOME_REASON, OUTCOME_COLUMNS };

void outcome_row_doubt(const struct doubt *doubt, int column, struct canvas *canvas, struct area area);
void outcome_row_returned(const struct returned *returned, int column, struct canvas *canvas,
                          struct area area);
void outcome_row_cell(const struct outcome *outcome, enum operation_action action, int column,
                      struct canvas *canvas, struct area area);

#endif
