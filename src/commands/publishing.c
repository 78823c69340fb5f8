#include "commands/publishing.h"

#include <string.h>
#include "commands/cli/interrupt.h"

struct store_settings
publishing_store(const struct call *call)
{
    const struct connection_settings *connection = &call->settings.connection;
    return (struct store_settings){.conninfo = connection->conninfo,
                                   .table = connection->table,
                                   .zone = connection->zone,
                                   .is_read_only = connection->read_only,
                                   .max_replays = call->settings.decision.max_replays,
                                   .program = call->command->name,
                                   .rules = call->rules,
                                   .group_rules = call->group_rules};
}

struct broker_settings
publishing_broker(struct call *call)
{
    const struct kafka_settings *kafka = &call->settings.kafka;
    struct broker_property *properties =
        arena_array(&call->settings.arena, kafka->property_count + 1, sizeof *properties);
    size_t count = 0;
    for (size_t i = 0; i < kafka->property_count; i++)
        if (kafka->properties[i].value)
            properties[count++] =
                (struct broker_property){kafka->properties[i].name, kafka->properties[i].value};
    return (struct broker_settings){
        .brokers = kafka->brokers, .properties = properties, .property_count = count};
}

bool
publishing_broker_ready(struct call *call, struct broker_settings *broker, struct err *err)
{
    *broker = publishing_broker(call);
    if (!broker_settings_present(broker))
        return true;
    if (!settings_read_secrets(&call->settings, err))
        return false;
    *broker = publishing_broker(call);
    return broker_settings_check(broker, err);
}

struct plan_settings
publishing_plan(struct call *call)
{
    struct broker_settings broker = publishing_broker(call);
    const struct publish_settings *publish = &call->settings.publish;
    struct err ignored = {0}; // whoever begins to send checks the rows
    const struct topic_rules *rules = topic_rules_read(publish->consumers, &call->settings.arena, &ignored);
    return (struct plan_settings){.rules = rules,
                                  .key = publish->key,
                                  .is_key_only = strcmp(publish->partition, "key") == 0,
                                  .keeps_headers = publish->keep_headers,
                                  .is_compressing = broker_settings_compress(&broker)};
}

struct worker_settings
publishing_worker(struct call *call)
{
    return (struct worker_settings){.store = publishing_store(call),
                                    .broker = publishing_broker(call),
                                    .plan = publishing_plan(call),
                                    .consumers = call->settings.publish.consumers,
                                    .chunk = (size_t)call->settings.publish.chunk,
                                    .stop = interrupt_flag()};
}
