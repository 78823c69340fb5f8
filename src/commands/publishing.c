#include "commands/publishing.h"

#include <string.h>

struct store_settings
publishing_store(const struct call *call)
{
    return (struct store_settings){.conninfo = call->settings.conninfo,
                                   .table = call->settings.table,
                                   .zone = call->settings.zone,
                                   .is_read_only = call->settings.read_only,
                                   .max_replays = call->settings.max_replays,
                                   .program = call->command->name,
                                   .rules = call->rules,
                                   .group_rules = call->group_rules};
}

struct broker_settings
publishing_broker(struct call *call)
{
    struct settings *settings = &call->settings;
    struct broker_property *properties =
        arena_array(&settings->arena, settings->kafka_count + 1, sizeof *properties);
    size_t count = 0;
    for (size_t i = 0; i < settings->kafka_count; i++)
        if (settings->kafka[i].value)
            properties[count++] = (struct broker_property){settings->kafka[i].name, settings->kafka[i].value};
    return (struct broker_settings){
        .brokers = settings->brokers, .properties = properties, .property_count = count};
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
publishing_plan(const struct call *call)
{
    return (struct plan_settings){.key = call->settings.key,
                                  .is_key_only = strcmp(call->settings.partition, "key") == 0,
                                  .keeps_headers = call->settings.keep_headers};
}

struct worker_settings
publishing_worker(struct call *call)
{
    return (struct worker_settings){.store = publishing_store(call),
                                    .broker = publishing_broker(call),
                                    .plan = publishing_plan(call),
                                    .chunk = (size_t)call->settings.chunk,
                                    .stop = command_interrupt_flag()};
}
