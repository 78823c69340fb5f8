// json: what core/json/value needs beside itself to print the objects of --json, one a line. Scripts rely on
// their names, so a name never changes its meaning.
#ifndef REDRIVE_COMMANDS_CLI_JSON_H
#define REDRIVE_COMMANDS_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "core/json/value.h"

void json_group(struct value *object, const char *name, uint64_t key); // 16 hex digits

// Prints the object as one line and forgets it.
bool json_print(struct value *object, struct err *err) MUST_CHECK;

#endif
