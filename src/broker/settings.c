#include "broker/settings.h"

#include <string.h>
#include "broker/kafka.h"

static const char *
value_of(const struct broker_settings *settings, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < settings->property_count; i++)
        if (strcmp(settings->properties[i].name, name) == 0)
            value = settings->properties[i].value;
    return value;
}

bool
broker_settings_present(const struct broker_settings *settings)
{
    return (settings->brokers && settings->brokers[0]) || value_of(settings, "bootstrap.servers") ||
           value_of(settings, "metadata.broker.list");
}

bool
broker_settings_check(const struct broker_settings *settings, struct err *err)
{
    rd_kafka_conf_t *conf = kafka_conf(settings, NULL, err);
    if (!conf)
        return false;

    rd_kafka_conf_destroy(conf);
    return true;
}

const char *
broker_settings_weakness(const struct broker_settings *settings)
{
    const char *verifies = value_of(settings, "enable.ssl.certificate.verification");
    if (verifies && strcmp(verifies, "false") == 0)
        return "Kafka's certificates are not verified";

    const char *identifies = value_of(settings, "ssl.endpoint.identification.algorithm");
    if (identifies && strcmp(identifies, "none") == 0)
        return "the names in Kafka's certificates are not verified";
    return NULL;
}
