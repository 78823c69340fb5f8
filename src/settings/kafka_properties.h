// kafka_properties: which librdkafka properties may be passed on, and which of them are secrets.
#ifndef REDRIVE_SETTINGS_KAFKA_PROPERTIES_H
#define REDRIVE_SETTINGS_KAFKA_PROPERTIES_H

#include <stdbool.h>
#include "base/err.h"

// Refuses, with the reason, properties that run programs or load code (plugin.library.paths opens any file as
// a library), those of librdkafka's own tests (test.mock.num.brokers sends every record to a broker within
// this program) and those that the publish protocol sets itself. `where` is put before the sentence:
// "/etc/redrive/config:12", "-X".
bool kafka_property_check(const char *name, const char *where, struct err *err) MUST_CHECK;

// Is this property's value a secret (sasl.password …)? Such values are never printed and not taken from the
// command line.
bool kafka_property_is_secret(const char *name);
// ERR_USAGE for a secret in a file that everybody may read. `where` as above.
bool kafka_property_say_open(const char *name, const char *where, struct err *err);

#endif
