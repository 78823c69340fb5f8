#include "broker/settings.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/bytes.h"
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

// Is this host, with or without a port, the one that the program runs on? A name that only begins like one is
// not.
static bool
is_this_host(struct bytes host)
{
    char text[64];
    struct in_addr address;
    if (bytes_starts(host, "["))
        return bytes_starts(host, "[::1]");
    host = bytes_slice(host, 0, bytes_find(host, BYTES(":"), 0));
    if (host.len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", BYTES_ARGS(host));
    return strcasecmp(text, "localhost") == 0 ||
           (inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

// Is every broker on this host? Then nobody listens in between.
static bool
is_local(const char *brokers)
{
    while (*brokers) {
        size_t len = strcspn(brokers, ",");
        struct bytes one = bytes_trim((struct bytes){brokers, len});
        size_t at = bytes_find(one, BYTES("://"), 0);
        if (!is_this_host(at < one.len ? bytes_slice(one, at + 3, SIZE_MAX) : one))
            return false;
        brokers += len;
        brokers += strspn(brokers, ", ");
    }
    return true;
}

// As librdkafka understood it, whatever the spelling: "FALSE", "f" and "0" are one value.
static bool
is_set_to(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[64];
    size_t size = sizeof text;
    return rd_kafka_conf_get(conf, name, text, &size) == RD_KAFKA_CONF_OK && strcasecmp(text, value) == 0;
}

static const char *
weakness_of(rd_kafka_conf_t *conf)
{
    char brokers[4000];
    size_t size = sizeof brokers;
    if (is_set_to(conf, "enable.ssl.certificate.verification", "false"))
        return "Kafka's certificates are not verified";
    if (is_set_to(conf, "ssl.endpoint.identification.algorithm", "none"))
        return "the names in Kafka's certificates are not verified";

    bool has_tls =
        is_set_to(conf, "security.protocol", "ssl") || is_set_to(conf, "security.protocol", "sasl_ssl");
    bool is_here =
        rd_kafka_conf_get(conf, "bootstrap.servers", brokers, &size) == RD_KAFKA_CONF_OK && is_local(brokers);
    if (!has_tls && !is_here)
        return "what goes to Kafka and comes from it can be read on the way: set security.protocol to ssl or "
               "sasl_ssl";
    return NULL;
}

const char *
broker_settings_weakness(const struct broker_settings *settings)
{
    struct err ignored = {0}; // said by whoever opens a connection with them
    rd_kafka_conf_t *conf = kafka_conf(settings, NULL, &ignored);
    if (!conf)
        return NULL;
    const char *weakness = weakness_of(conf);
    rd_kafka_conf_destroy(conf);
    return weakness;
}

bool
broker_settings_compress(const struct broker_settings *settings)
{
    for (size_t i = 0; i < settings->property_count; i++) {
        const struct broker_property *property = &settings->properties[i];
        if (strncmp(property->name, "compression.", strlen("compression.")) == 0 &&
            strcmp(property->value, "none") != 0)
            return true;
    }
    return false;
}
