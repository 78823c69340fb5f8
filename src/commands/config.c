// config: the settings in force and where each came from.
#include <string.h>
#include "commands/cli/command.h"
#include "commands/cli/json.h"
#include "commands/look.h"
#include "commands/cli/output.h"
#include "commands/publishing.h"
#include "core/link.h"
#include "core/topic_rules.h"
#include "process/check_probe.h"
#include "settings/kafka_properties.h"

static const struct output_column columns[] = {
    {"setting", ALIGN_LEFT, 15, 0}, {"value", ALIGN_LEFT, 20, 48}, {"from", ALIGN_LAST, 0, 0}};

static bool
print_row(struct output_table *table, bool is_json, const char *name, struct bytes value, bool is_set,
          const struct settings_origin *origin, struct err *err)
{
    if (!is_json) {
        table_add_text(table, name);
        table_add(table, is_set ? value : BYTES_ABSENT);
        table_add_text(table, origin->where);
        return true;
    }
    struct value *object = value_object();
    value_add_text(object, "setting", name);
    value_add_bytes(object, "value", is_set ? value : BYTES_ABSENT);
    value_add_text(object, "from", origin->where);
    return json_print(object, err);
}

static bool
print_settings(const struct call *call, struct output_table *table, struct err *err)
{
    const struct settings *settings = &call->settings;
    bool ok = true;
    for (int i = 0; ok && i < SETTING_ID_COUNT; i++) {
        struct strbuf value = {0};
        setting_print(settings, (enum setting_id)i, &value);
        ok = print_row(table, call->options.general.json, setting_name((enum setting_id)i),
                       strbuf_bytes(&value), value.len > 0, &settings->origins[i], err);
        strbuf_release(&value);
    }
    for (size_t i = 0; ok && i < settings->kafka.property_count; i++) {
        const struct kafka_property *property = &settings->kafka.properties[i];
        struct strbuf name = {0};
        strbuf_printf(&name, "kafka.%s%s%s", property->name, property->source ? "." : "",
                      property->source ? secret_source_word(property->source) : "");
        struct bytes value = property->source                           ? bytes_of(property->source_place)
                             : kafka_property_is_secret(property->name) ? BYTES("(not shown)")
                                                                        : bytes_of(property->value);
        ok = print_row(table, call->options.general.json, strbuf_text(&name), value, true, &property->origin,
                       err);
        strbuf_release(&name);
    }
    return ok;
}

struct checks_found {
    const struct call *call;
    struct err *err;
};

// The first fault is told.
static void
found_in_check(void *context, const struct check_finding *row)
{
    const struct checks_found *found = context;
    if (row->fault && !err_is_set(found->err))
        (void)err_set(found->err, ERR_USAGE, "%s: checks, row %zu (%.200s): %s",
                      found->call->settings.origins[SETTING_ID_checks].where, row->no, row->text, row->fault);
}

// Nothing is started: a file can be checked on a host where it is not used.
static bool
checks_check(const struct call *call, struct err *err)
{
    struct checks_found found = {.call = call, .err = err};
    const char *rows = call->settings.process.checks;
    if (!check_probe(rows, 0, 0, found_in_check, &found, err))
        return err_context(err, "%s", call->settings.origins[SETTING_ID_checks].where);
    return !err_is_set(err);
}

static bool
consumers_check(const struct call *call, struct err *err)
{
    struct arena arena = {0};
    bool ok = topic_rules_read(call->settings.publish.consumers, &arena, err) ||
              err_context(err, "%s", call->settings.origins[SETTING_ID_consumers].where);
    arena_release(&arena);
    return ok;
}

static bool
links_check(const struct call *call, struct err *err)
{
    struct arena arena = {0};
    struct link_list links;
    bool ok = link_list_read(call->settings.screen.links, &arena, &links, err) ||
              err_context(err, "%s", call->settings.origins[SETTING_ID_links].where);
    arena_release(&arena);
    return ok;
}

int
command_config(struct call *call, struct err *err)
{
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    if (!command_rules(call, err))
        return STATUS_USAGE;
    if (call->options.command.check) {
        struct broker_settings broker;
        if (!plan_key_check(call->settings.publish.key, err) ||
            !publishing_broker_ready(call, &broker, err) || !checks_check(call, err) ||
            !consumers_check(call, err) || !links_check(call, err) || !look_check(call, err))
            return command_status(err);
        remark(call, "the configuration is valid");
        return STATUS_DONE;
    }
    struct output_table table;
    table_begin(&table, call, columns, 3);
    bool ok = print_settings(call, &table, err);
    return table_end(&table, err) && ok ? STATUS_DONE : command_status(err);
}
