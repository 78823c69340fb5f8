#include "settings/policies_yaml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>
#include "base/text.h"
#include "core/alerts.h"
#include "core/policy.h"
#include "core/schedule.h"

enum yaml_kind { YAML_COUNT, YAML_FACTOR, YAML_SWITCH, YAML_SCHEDULE, YAML_RATE };

enum yaml_place {
    RETRY_ATTEMPTS,
    RETRY_FACTOR,
    RETRY_DELAY,
    REPROCESS_ENABLED,
    REPROCESS_ATTEMPTS,
    REPROCESS_SCHEDULE,
    RETENTION_DAYS,
    RETENTION_ARCHIVE,
    ALERTING_RATE,
    ALERTING_BACKLOG,
    YAML_PLACES
};

static const struct yaml_field {
    const char *section, *name;
    enum yaml_kind kind;
    int64_t most; // of a count
} fields[YAML_PLACES] = {
    [RETRY_ATTEMPTS] = {"retry", "max_attempts", YAML_COUNT, POLICY_ATTEMPTS_MOST},
    [RETRY_FACTOR] = {"retry", "backoff_multiplier", YAML_FACTOR, 0},
    [RETRY_DELAY] = {"retry", "initial_delay_ms", YAML_COUNT, 86400000},
    [REPROCESS_ENABLED] = {"reprocess", "enabled", YAML_SWITCH, 0},
    [REPROCESS_ATTEMPTS] = {"reprocess", "max_attempts", YAML_COUNT, POLICY_ATTEMPTS_MOST},
    [REPROCESS_SCHEDULE] = {"reprocess", "schedule", YAML_SCHEDULE, 0},
    [RETENTION_DAYS] = {"retention", "days", YAML_COUNT, 36500},
    [RETENTION_ARCHIVE] = {"retention", "archive_enabled", YAML_SWITCH, 0},
    [ALERTING_RATE] = {"alerting", "high_rate_threshold", YAML_RATE, 0},
    [ALERTING_BACKLOG] = {"alerting", "backlog_threshold", YAML_COUNT, INT32_MAX},
};

struct reading {
    const char *name; // of the file
    yaml_document_t document;
    const char *values[YAML_PLACES]; // the document's; NULL: not given
};

// Both count from 0 in libyaml.
static bool
yaml_refuse(const struct reading *reading, yaml_mark_t mark, struct err *err, const char *what,
            const char *of)
{
    return err_set(err, ERR_USAGE, "%s:%zu:%zu: %s%s%s%s", reading->name, mark.line + 1, mark.column + 1,
                   what, of ? " \"" : "", of ? of : "", of ? "\"" : "");
}

// The text of a scalar without bytes of zero; else NULL.
static const char *
scalar_text(const yaml_node_t *node)
{
    const char *text = node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
    return text && strlen(text) == node->data.scalar.length ? text : NULL;
}

static bool
is_yes(const char *text)
{
    return strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 || strcasecmp(text, "on") == 0;
}

static bool
is_no(const char *text)
{
    return strcasecmp(text, "false") == 0 || strcasecmp(text, "no") == 0 || strcasecmp(text, "off") == 0;
}

static double
factor_of(const char *text)
{
    char *end;
    double factor = strtod(text, &end);
    return *text && *end == '\0' && factor >= 1 && factor <= 100 ? factor : 0;
}

static bool
check_value(const struct reading *reading, const struct yaml_field *field, const yaml_node_t *node,
            struct err *err)
{
    const char *text = scalar_text(node);
    struct policy_schedule schedule;
    struct err local = {0};
    int64_t n;
    double value;
    if (!text)
        return yaml_refuse(reading, node->start_mark, err, "one value is expected for", field->name);
    if (field->kind == YAML_COUNT &&
        !(text_parse_int(bytes_of(text), &n, NULL) && n >= 1 && n <= field->most))
        return err_set(err, ERR_USAGE, "%s:%zu:%zu: %s is a number from 1 to %" PRId64, reading->name,
                       node->start_mark.line + 1, node->start_mark.column + 1, field->name, field->most);
    if (field->kind == YAML_FACTOR && factor_of(text) <= 0)
        return yaml_refuse(reading, node->start_mark, err, "a number from 1 to 100 is expected for",
                           field->name);
    if (field->kind == YAML_SWITCH && !is_yes(text) && !is_no(text))
        return yaml_refuse(reading, node->start_mark, err, "true or false is expected for", field->name);
    if (field->kind == YAML_SCHEDULE && !schedule_parse(bytes_of(text), &schedule, &local))
        return yaml_refuse(reading, node->start_mark, err, local.text, NULL);
    if (field->kind == YAML_RATE && !alert_value_parse(ALERT_RATE, bytes_of(text), &value, &local))
        return yaml_refuse(reading, node->start_mark, err, local.text, NULL);
    return true;
}

static bool
read_field(struct reading *reading, const char *section, const yaml_node_t *key, const yaml_node_t *node,
           struct err *err)
{
    const char *name = scalar_text(key);
    for (size_t i = 0; name && i < YAML_PLACES; i++) {
        if (strcmp(fields[i].section, section) != 0 || strcmp(fields[i].name, name) != 0)
            continue;
        if (reading->values[i])
            return yaml_refuse(reading, key->start_mark, err, "there are two of", name);
        reading->values[i] = scalar_text(node);
        return check_value(reading, &fields[i], node, err);
    }
    return err_set(err, ERR_USAGE, "%s:%zu:%zu: %s has no \"%s\"", reading->name, key->start_mark.line + 1,
                   key->start_mark.column + 1, section, name ? name : "?");
}

static bool
is_section(const char *name)
{
    for (size_t i = 0; name && i < YAML_PLACES; i++)
        if (strcmp(fields[i].section, name) == 0)
            return true;
    return false;
}

static bool
read_section(struct reading *reading, const yaml_node_t *key, const yaml_node_t *node, struct err *err)
{
    const char *name = scalar_text(key);
    if (!is_section(name))
        return yaml_refuse(reading, key->start_mark, err,
                           "dlq_policy has retry, reprocess, retention and alerting, but no",
                           name ? name : "?");
    if (node->type != YAML_MAPPING_NODE)
        return yaml_refuse(reading, node->start_mark, err, "settings are expected below", name);
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++)
        if (!read_field(reading, name, yaml_document_get_node(&reading->document, pair->key),
                        yaml_document_get_node(&reading->document, pair->value), err))
            return false;
    return true;
}

static bool
read_root(struct reading *reading, struct err *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(&reading->document);
    if (!root || root->type != YAML_MAPPING_NODE)
        return yaml_refuse(reading, root ? root->start_mark : (yaml_mark_t){0}, err,
                           "a policy begins with dlq_policy:", NULL);
    const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
    const yaml_node_t *key =
        pair < root->data.mapping.pairs.top ? yaml_document_get_node(&reading->document, pair->key) : NULL;
    const char *name = scalar_text(key);
    if (!name || strcmp(name, "dlq_policy") != 0 || pair + 1 < root->data.mapping.pairs.top)
        return yaml_refuse(reading, root->start_mark, err, "a policy is dlq_policy: and nothing beside it",
                           NULL);
    const yaml_node_t *policy = yaml_document_get_node(&reading->document, pair->value);
    if (policy->type != YAML_MAPPING_NODE)
        return yaml_refuse(reading, policy->start_mark, err, "settings are expected below", name);
    for (pair = policy->data.mapping.pairs.start; pair < policy->data.mapping.pairs.top; pair++)
        if (!read_section(reading, yaml_document_get_node(&reading->document, pair->key),
                          yaml_document_get_node(&reading->document, pair->value), err))
            return false;
    return true;
}

// --- as our files say it ---

static void
print_policy(const struct reading *reading, struct strbuf *out)
{
    const char *const *values = reading->values;
    const char *attempts = values[REPROCESS_ATTEMPTS] ? values[REPROCESS_ATTEMPTS] : values[RETRY_ATTEMPTS];
    int64_t delay = 0;
    if (values[RETRY_DELAY])
        (void)!text_parse_int(bytes_of(values[RETRY_DELAY]), &delay, NULL);
    strbuf_add_text(out,
                    "policy \"reprocess\" {\n    category = \"transient\"\n    action = \"reprocess\"\n");
    if (values[REPROCESS_SCHEDULE])
        strbuf_printf(out, "    schedule = \"%s\"\n", values[REPROCESS_SCHEDULE]);
    if (attempts)
        strbuf_printf(out, "    attempts = %s\n", attempts);
    if (delay)
        strbuf_printf(out, "    backoff = \"%" PRId64 "%s\"\n", delay % 1000 ? delay : delay / 1000,
                      delay % 1000 ? "ms" : "s");
    if (delay > 3600000)
        strbuf_printf(out, "    at_most = \"%" PRId64 "ms\"\n", delay);
    if (values[RETRY_FACTOR])
        strbuf_printf(out, "    factor = %g\n", factor_of(values[RETRY_FACTOR]));
    strbuf_printf(out, "    enabled = \"%s\"\n}\n",
                  values[REPROCESS_ENABLED] && is_yes(values[REPROCESS_ENABLED]) ? "yes" : "no");
}

static void
print_rest(const struct reading *reading, struct strbuf *out)
{
    const char *const *values = reading->values;
    const char *archive = values[RETENTION_ARCHIVE];
    if (values[RETENTION_DAYS] && archive && is_no(archive))
        strbuf_printf(out,
                      "\n# Retention is a command, once a day:\n"
                      "# redrive purge --older-than %sd --without-archive --yes\n",
                      values[RETENTION_DAYS]);
    else if (values[RETENTION_DAYS])
        strbuf_printf(out,
                      "\npolicy \"retention\" {\n    action = \"archive\"\n    older_than = \"%sd\"\n    "
                      "schedule = \"0 3 * * *\"\n    enabled = \"%s\"\n}\n",
                      values[RETENTION_DAYS], archive && is_yes(archive) ? "yes" : "no");
    if (values[ALERTING_RATE] || values[ALERTING_BACKLOG])
        strbuf_add_text(out, "\n# For the file of alerts:\n");
    if (values[ALERTING_RATE])
        strbuf_printf(out, "# alert \"DLQHighRate\" { when = \"rate\"  above = \"%s\"  for = \"5m\" }\n",
                      values[ALERTING_RATE]);
    if (values[ALERTING_BACKLOG])
        strbuf_printf(out, "# alert \"DLQBacklogHigh\" { when = \"pending\"  above = %s  for = \"15m\" }\n",
                      values[ALERTING_BACKLOG]);
}

bool
policies_yaml_print(const char *name, struct bytes yaml, struct strbuf *out, struct err *err)
{
    struct reading reading = {.name = name};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_USAGE, "%s cannot be read: there is no memory", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml.data, yaml.len);
    bool ok = yaml_parser_load(&parser, &reading.document);
    if (ok) {
        ok = read_root(&reading, err);
        if (ok) {
            print_policy(&reading, out);
            print_rest(&reading, out);
        }
        yaml_document_delete(&reading.document);
    } else {
        yaml_refuse(&reading, parser.problem_mark, err, parser.problem ? parser.problem : "this is no YAML",
                    NULL);
    }
    yaml_parser_delete(&parser);
    return ok;
}
