// decide_fields: what the dialog of a decision asks for, how it is checked, and what the same command has for
// it.
#ifndef REDRIVE_UI_VIEWS_DECIDE_FIELDS_H
#define REDRIVE_UI_VIEWS_DECIDE_FIELDS_H

#include "async/message.h"
#include "ui/app/app.h"
#include "ui/widgets/dialog.h"

// Fills in the fields (DIALOG_FIELDS) and returns how many there are.
int decide_fields(const struct app_config *config, enum operation_action action, struct dialog_field *fields);

// What was typed, into a REQUEST_CONFIRM whose action is set. The dialog has checked it.
void decide_fields_take(const struct app_config *config, const struct dialog *dialog,
                        struct request *request);

#endif
