// decide_fields: the fields of a decision's dialog: their checks, and their options in the same command.
#ifndef REDRIVE_UI_VIEWS_DECIDE_FIELDS_H
#define REDRIVE_UI_VIEWS_DECIDE_FIELDS_H

#include "async/message.h"
#include "ui/app/app.h"
#include "ui/widgets/dialog.h"

// Fills in the fields (DIALOG_FIELDS) and returns how many there are.
int decide_fields(const struct app_config *config, enum operation_action action, struct dialog_field *fields);

// Copies the fields into a REQUEST_CONFIRM whose action is set. The dialog has checked them.
void decide_fields_take(const struct app_config *config, const struct dialog *dialog,
                        struct request *request);

#endif
