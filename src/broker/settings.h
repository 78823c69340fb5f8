// settings: the addresses of brokers and the properties of connections, as the person gave them.
//
// Properties go to librdkafka unchanged; src/settings/kafka_properties.h has already refused those that run
// programs or that the publish protocol sets itself. Values may be secrets: nothing in this folder ever
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

// All text is borrowed and must outlive the handles that are opened with it.
struct broker_settings {
    const char *brokers; // HOST:PORT[,HOST:PORT…]; NULL: perhaps among the properties
    const struct broker_property *properties;
    size_t property_count;
};

// Do the settings have an address of brokers?
bool broker_settings_present(const struct broker_settings *settings);
// Does librdkafka accept names and values? Makes no connection. ERR_USAGE names the property, never its
// value.
bool broker_settings_check(const struct broker_settings *settings, struct err *err) MUST_CHECK;
// Does the producer compress what it sends?
bool broker_settings_compress(const struct broker_settings *settings);
// A weakness of the connection ("certificates are not verified"), for a permanent badge; NULL: none.
const char *broker_settings_weakness(const struct broker_settings *settings);

#endif
