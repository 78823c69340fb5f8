// Which settings of a connection to Kafka are weak, however they are written; and which are in no one's way.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "broker/settings.h"
#include "broker/tail.h"

static void
weak_settings_have_a_badge(void **state)
{
    (void)state;
    static const struct {
        const char *brokers, *name, *value, *badge;
    } cases[] = {
        {"127.0.0.1:9092", "client.id", "x", NULL},
        {"localhost:9092,[::1]:9092", "client.id", "x", NULL},
        {"kafka1:9092", "client.id", "x", "can be read on the way"},
        {"127.0.0.1:9092,kafka1:9092", "security.protocol", "SASL_PLAINTEXT", "can be read on the way"},
        {"kafka1:9092", "security.protocol", "SASL_SSL", NULL},
        {"kafka1:9092", "enable.ssl.certificate.verification", "false", "certificates are not verified"},
        {"kafka1:9092", "ssl.endpoint.identification.algorithm", "none", "names in Kafka's certificates"},
        // By any spelling that librdkafka takes.
        {"kafka1:9092", "enable.ssl.certificate.verification", "0", "certificates are not verified"},
        {"kafka1:9092", "enable.ssl.certificate.verification", "False", "certificates are not verified"},
        {"kafka1:9092", "enable.ssl.certificate.verification", "f", "certificates are not verified"},
        {"kafka1:9092", "ssl.endpoint.identification.algorithm", "NONE", "names in Kafka's certificates"},
        {"kafka1:9092", "security.protocol", "plaintext", "can be read on the way"},
        // Names and numbers that only begin like this host's.
        {"localhost.evil.org", "client.id", "x", "can be read on the way"},
        {"127.evil.org:9092", "client.id", "x", "can be read on the way"},
        {"localhost:9092,localhostile:9092", "client.id", "x", "can be read on the way"},
        {"PLAINTEXT://localhost.evil.org:9092", "client.id", "x", "can be read on the way"},
        {"128.0.0.1", "client.id", "x", "can be read on the way"},
        {"PLAINTEXT://127.0.0.1:9092, localhost", "client.id", "x", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct broker_property property = {cases[i].name, cases[i].value};
        const struct broker_settings settings = {
            .brokers = cases[i].brokers, .properties = &property, .property_count = 1};
        const char *badge = broker_settings_weakness(&settings);
        bool is_right = cases[i].badge ? badge && strstr(badge, cases[i].badge) : badge == NULL;
        if (!is_right)
            fail_msg("%s %s=%s: %s", cases[i].brokers, cases[i].name, cases[i].value,
                     badge ? badge : "no badge");
    }
}

// Of the records that are published: what is read at once is bounded beside it. librdkafka begins its threads
// by thrd_create of C11, which the thread sanitizer does not know: it crashes in the first of them.
static void
the_largest_message_is_no_matter_for_reading(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    printf("# skip: a client of Kafka under the thread sanitizer\n");
    skip();
#endif
    const struct broker_property property = {"message.max.bytes", "8000000"};
    const struct broker_settings settings = {
        .brokers = "127.0.0.1:1", .properties = &property, .property_count = 1};
    struct tail *tail;
    struct err err = {0};
    if (!tail_open(&tail, &settings, NULL, &err))
        fail_msg("%s", err.text);
    tail_close(tail);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_settings_have_a_badge),
        cmocka_unit_test(the_largest_message_is_no_matter_for_reading),
    };
    return cmocka_run_group_tests_name("broker settings", tests, NULL, NULL);
}
