// schema_place: where redrive ingest finds schemas, as the settings say: a folder of files, and a registry.
#ifndef REDRIVE_COMMANDS_SCHEMA_PLACE_H
#define REDRIVE_COMMANDS_SCHEMA_PLACE_H

#include "commands/cli/command.h"
#include "ingest/schemas.h"

struct schema_place;
// *source is NULL where the settings name neither; it is valid until schema_place_close.
bool schema_place_open(struct call *call, const struct topic_rules *rules, struct schema_place **place,
                       const struct schema_source **source, struct err *err) MUST_CHECK;
void schema_place_close(struct schema_place *place); // NULL is fine

#endif
