// settings: where the brokers are and how to talk to them, as the person gave it.
//
// Properties go to librdkafka as they stand; src/settings/kafka_properties.h has already refused those that
// run programs or that the publish protocol sets itself. Values may be secrets: nothing in this folder ever
// prints one.
#ifndef REDRIVE_BROKER_SETTINGS_H
#define REDRIVE_BROKER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

struct broker_property {
    const char *name;
    const char *value;
};

// All text is borrowed and must outlive what is opened with it.
struct broker_settings {
    const char *brokers; // HOST:PORT[,HOST:PORT…]; NULL: perhaps among the properties
    const struct broker_property *properties;
    size_t property_count;
};

// Is it known at all where the brokers are?
bool broker_settings_present(const struct broker_settings *settings);
// Are names and values ones that librdkafka takes? Makes no connection. ERR_USAGE names the property, never
// its value.
bool broker_settings_check(const struct broker_settings *settings, struct err *err) MUST_CHECK;
// What makes the link weaker than it should be ("certificates are not verified"), for a permanent badge;
// NULL: nothing.
const char *broker_settings_weakness(const struct broker_settings *settings);

#endif
