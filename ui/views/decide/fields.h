// decide_fields: the fields of a decision's dialog: their checks, and their options in the same command.
#ifndef REDRIVE_UI_VIEWS_DECIDE_FIELDS_H
#define REDRIVE_UI_VIEWS_DECIDE_FIELDS_H

#include "async/message.h"
#include "ui/app/app.h"
#include "ui/widgets/dialog.h"

// Fills in the fields (DIALOG_FIELDS) and returns how many there are. is_revert: a correct that undoes
// another. refused: how many events of a recipe a check refuses; with some, a field takes the reason to
// correct these too. events: how many it is about. Texts are in the arena.
int decide_fields(const struct app_config *config, enum operation_action action, bool is_revert,
                  int64_t refused, size_t events, struct arena *arena, struct dialog_field *fields);

// The topic that all events are sent to, as the field has it; "" none, or no name of a topic (yet).
struct bytes decide_fields_topic(const struct dialog *dialog);
// Fills it in.
void decide_fields_set_topic(struct dialog *dialog, const char *topic);

// Copies the fields into a REQUEST_CONFIRM whose action and ids are set. The dialog has checked them.
void decide_fields_take(const struct app_config *config, const struct dialog *dialog,
                        struct request *request);

// Why a person overrules the check: kept with the other reason of the request.
void decide_fields_force(struct request *request, struct bytes why);

#endif
