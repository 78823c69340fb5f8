#include "settings/kafka_properties.h"

#include <stddef.h>
#include <string.h>

// A name, an ending where it begins with '*', or a beginning where it ends with one.
static const struct refused {
    const char *name;
    const char *reason;
} refused[] = {
    {"plugin.library.paths", "it loads programs into this one"},
    {"sasl.kerberos.kinit.cmd", "it runs a shell command; get the ticket with kinit before"},
    {"ssl.engine.location", "it loads programs into this one"},
    {"ssl.engine.id", "it loads programs into this one"},
    {"ssl.providers", "it loads programs into this one"},
    {"test.*", "it puts a broker within this program, or breaks a connection on purpose"},
    {"ut_*", "it is for librdkafka's own tests"},
    {"*_cb", "only the program itself can set it"},
    {"interceptors", "only the program itself can set it"},
    {"default_topic_conf", "only the program itself can set it"},
    {"opaque", "only the program itself can set it"},
    {"debug", "its output goes over the screen and may show payloads"},
    {"transactional.id", "the publish protocol sets it"},
    {"transaction.timeout.ms", "the publish protocol sets it"},
    {"enable.idempotence", "the publish protocol sets it"},
    {"acks", "the publish protocol sets it"},
    {"request.required.acks", "the publish protocol sets it"},
    {"isolation.level", "the publish protocol sets it"},
    {"allow.auto.create.topics", "a mistyped topic must not come into being"},
    {"group.id", "the publish protocol sets it"},
};

static const char *const secrets[] = {
    "sasl.password", "ssl.key.password",        "ssl.keystore.password",          "ssl.key.pem",
    "ssl_key",       "sasl.oauthbearer.config", "sasl.oauthbearer.client.secret",
};

static bool
names(const struct refused *row, const char *name)
{
    size_t wanted = strlen(row->name), len = strlen(name);
    if (row->name[wanted - 1] == '*')
        return strncmp(row->name, name, wanted - 1) == 0;
    if (row->name[0] != '*')
        return strcmp(row->name, name) == 0;
    return len >= wanted - 1 && strcmp(name + len - (wanted - 1), row->name + 1) == 0;
}

bool
kafka_property_check(const char *name, const char *where, struct err *err)
{
    if (name[0] == '\0')
        return err_set(err, ERR_USAGE, "%s: a Kafka property is written name=value", where);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (names(&refused[i], name))
            return err_set(err, ERR_USAGE, "%s: the Kafka property %s is not passed on: %s; leave it out",
                           where, name, refused[i].reason);
    return true;
}

bool
kafka_property_is_secret(const char *name)
{
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strcmp(secrets[i], name) == 0)
            return true;
    return false;
}

bool
kafka_property_say_open(const char *name, const char *where, struct err *err)
{
    return err_set(
        err, ERR_USAGE,
        "%s: %s is a secret, and everybody may read this file: chmod o= it, or keep the secret in a "
        "file of its own, by %s.file",
        where, name, name);
}
