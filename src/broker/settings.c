#include "broker/settings.h"

#include <string.h>
#include <strings.h>
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

// Is every broker on this host? Then nobody listens in between.
static bool
is_local(const char *brokers)
{
    static const char *const hosts[] = {"localhost", "127.", "[::1]"};
    while (brokers && *brokers) {
        const char *host = strstr(brokers, "://");
        host = host && host < brokers + strcspn(brokers, ",") ? host + 3 : brokers;
        bool is_one = false;
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
            is_one = is_one || strncmp(host, hosts[i], strlen(hosts[i])) == 0;
        if (!is_one)
            return false;
        brokers += strcspn(brokers, ",");
        brokers += strspn(brokers, ", ");
    }
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

    const char *protocol = value_of(settings, "security.protocol");
    bool has_tls = protocol && (strcasecmp(protocol, "ssl") == 0 || strcasecmp(protocol, "sasl_ssl") == 0);
    if (!has_tls && !is_local(settings->brokers))
        return "what goes to Kafka and comes from it can be read on the way: set security.protocol to ssl or "
               "sasl_ssl";
    return NULL;
}
