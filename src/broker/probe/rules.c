#include "broker/probe/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "broker/marker.h"

static const char *
brokers_of(const struct broker_settings *settings)
{
    return settings->brokers ? settings->brokers : "HOST:PORT";
}

// --- settings ---

// One row per setting: at least `least` (or, for a flag, exactly `word`).
struct probe_rule {
    const char *name;
    long long least;
    const char *word;
    const char *why;
    bool is_dynamic; // kafka-configs.sh changes it; else server.properties and a restart
};

static const struct probe_rule broker_rules[] = {
    {"default.replication.factor", 3, NULL, "a topic made with it may be lost with one broker", false},
    {"min.insync.replicas", 2, NULL, "an acknowledged record may exist on one broker only", true},
    {"unclean.leader.election.enable", 0, "false",
     "a broker that is behind may become leader and lose records", true},
    {"transaction.state.log.replication.factor", 3, NULL,
     "the fate of transactions may be lost with one broker", false},
    {"transaction.state.log.min.isr", 2, NULL, "the fate of a transaction may be known to one broker only",
     false},
    {"offsets.topic.replication.factor", 3, NULL, "markers may be lost with one broker", false},
    {"offsets.retention.minutes", 1440, NULL, "markers of idle slots expire before they are refreshed",
     false},
    {"transaction.max.timeout.ms", 30000, NULL, "transactions of redrive need 30 s", false},
    {"transactional.id.expiration.ms", 86400000, NULL, "transactional ids of idle slots expire early", false},
};

static const struct probe_rule topic_rules[] = {
    {"min.insync.replicas", 2, NULL, "an acknowledged record may exist on one broker only", true},
    {"unclean.leader.election.enable", 0, "false",
     "a broker that is behind may become leader and lose records", true},
};

static void
setting_remedy(const struct broker_settings *settings, const struct probe_rule *rule, const char *topic,
               char out[PROBE_REMEDY])
{
    char wanted[80], of[300];
    if (rule->word)
        snprintf(wanted, sizeof wanted, "%s=%s", rule->name, rule->word);
    else
        snprintf(wanted, sizeof wanted, "%s=%lld", rule->name, rule->least);
    if (topic)
        snprintf(of, sizeof of, "--entity-type topics --entity-name %.249s", topic);
    else
        snprintf(of, sizeof of, "--entity-type brokers --entity-default");
    if (rule->is_dynamic)
        snprintf(out, PROBE_REMEDY, "kafka-configs.sh --bootstrap-server %.100s --alter %s --add-config %s",
                 brokers_of(settings), of, wanted);
    else
        snprintf(out, PROBE_REMEDY, "put %s into server.properties of every broker and restart them in turn",
                 wanted);
}

static void
probe_rules_judge(const struct broker_settings *settings, const struct probe_rule *rule, const char *topic,
                  const char *value, struct probe *probe)
{
    char remedy[PROBE_REMEDY];
    bool is_ok = rule->word ? strcmp(value, rule->word) == 0 : strtoll(value, NULL, 10) >= rule->least;
    setting_remedy(settings, rule, topic, remedy);
    probe_found(probe, is_ok, remedy, "%s%s%.100s is %.60s%s%s", rule->name, topic ? " of the topic " : "",
                topic ? topic : "", value, is_ok ? "" : ": ", is_ok ? "" : rule->why);
}

void
probe_judge_settings(const struct broker_settings *settings, const char *topic,
                     const struct broker_property *values, size_t count, struct probe *probe)
{
    const struct probe_rule *rules = topic ? topic_rules : broker_rules;
    size_t rule_count =
        topic ? sizeof topic_rules / sizeof *topic_rules : sizeof broker_rules / sizeof *broker_rules;
    for (size_t r = 0; r < rule_count; r++)
        for (size_t i = 0; i < count; i++)
            if (values[i].value && strcmp(values[i].name, rules[r].name) == 0)
                probe_rules_judge(settings, &rules[r], topic, values[i].value, probe);
}

void
probe_judge_brokers(int brokers, struct probe *probe)
{
    if (brokers < BROKERS_ENOUGH)
        probe_found(probe, false, "production needs three brokers",
                    "the cluster has %d broker%s: no topic has three copies", brokers,
                    brokers == 1 ? "" : "s");
}

void
probe_judge_copies(const struct broker_settings *settings, const char *topic, int copies, struct probe *probe)
{
    char remedy[PROBE_REMEDY];
    snprintf(remedy, sizeof remedy,
             "raise it to 3: kafka-reassign-partitions.sh --bootstrap-server %.100s --generate "
             "--topics-to-move-json-file … --broker-list …, then --execute",
             brokers_of(settings));
    probe_found(probe, copies >= 3, remedy, "the topic %.100s has %d cop%s", topic, copies,
                copies == 1 ? "y" : "ies");
}

// --- topics of dead letters ---

#define MS_PER_DAY 86400000LL

static const char *
value_of(const struct queue_seen *seen, const char *name)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strcmp(seen->values[i].name, name) == 0)
            return seen->values[i].value;
    return NULL;
}

static void
alter(const struct broker_settings *settings, const struct queue_seen *seen, const char *name,
      const char *value, char remedy[PROBE_REMEDY])
{
    snprintf(remedy, PROBE_REMEDY,
             "kafka-configs.sh --bootstrap-server %.100s --alter --entity-type topics --entity-name %.249s "
             "--add-config %s=%s",
             brokers_of(settings), seen->topic, name, value);
}

// A week to look at them, or as long as the oldest of them has been waiting.
static void
judge_retention(const struct broker_settings *settings, const struct queue_seen *seen, struct probe *probe)
{
    const char *value = value_of(seen, "retention.ms");
    long long ms = value ? strtoll(value, NULL, 10) : -1;
    long long waits = seen->oldest / 1000, days = ms / MS_PER_DAY;
    char remedy[PROBE_REMEDY], wanted[32];
    if (ms < 0)
        return;
    long long enough = (waits / MS_PER_DAY + 1) * MS_PER_DAY;
    snprintf(wanted, sizeof wanted, "%lld", enough > 7 * MS_PER_DAY ? enough : 7 * MS_PER_DAY);
    alter(settings, seen, "retention.ms", wanted, remedy);
    if (ms < 7 * MS_PER_DAY)
        probe_found(
            probe, false, remedy,
            "the dead letter queue %.100s keeps records for %lld h: one that nobody looks at within a "
            "week is lost",
            seen->topic, ms / 3600000);
    else if (ms < waits)
        probe_note(probe, remedy,
                   "the dead letter queue %.100s keeps records for %lld days, and the oldest pending event "
                   "waits for %lld",
                   seen->topic, days, waits / MS_PER_DAY);
}

static void
judge_cleanup(const struct broker_settings *settings, const struct queue_seen *seen, struct probe *probe)
{
    const char *value = value_of(seen, "cleanup.policy");
    char remedy[PROBE_REMEDY];
    alter(settings, seen, "cleanup.policy", "delete", remedy);
    if (value && strcmp(value, "delete") != 0)
        probe_found(
            probe, false, remedy,
            "cleanup.policy of the dead letter queue %.100s is %.40s: of two dead letters with one key "
            "the older is removed",
            seen->topic, value);
}

static void
judge_copies_of_queue(const struct broker_settings *settings, const struct queue_seen *seen,
                      struct probe *probe)
{
    const char *least = value_of(seen, "min.insync.replicas");
    char remedy[PROBE_REMEDY];
    if (seen->brokers < BROKERS_ENOUGH)
        return; // said of the cluster already
    if (seen->copies < 3)
        probe_judge_copies(settings, seen->topic, seen->copies, probe);
    alter(settings, seen, "min.insync.replicas", "2", remedy);
    if (least && strtoll(least, NULL, 10) < 2)
        probe_found(
            probe, false, remedy,
            "min.insync.replicas of the dead letter queue %.100s is %.20s: an acknowledged record may "
            "exist on one broker only",
            seen->topic, least);
}

static void
judge_shape(const struct queue_seen *seen, struct probe *probe)
{
    if (seen->source && seen->partitions > seen->source_partitions)
        probe_note(probe, "create it again with fewer when it is empty: dead letters are few",
                   "the dead letter queue %.100s has %d partitions, more than %.100s, which has %d",
                   seen->topic, seen->partitions, seen->source, seen->source_partitions);
    if (seen->other)
        probe_note(probe,
                   "let its consumers write to one of them: one queue a topic is looked at by one name",
                   "%.100s and %.100s are dead letter queues of the same topic", seen->topic, seen->other);
}

void
probe_judge_queue(const struct broker_settings *settings, const struct queue_seen *seen, struct probe *probe)
{
    size_t before = probe->count;
    if (seen->count == 0) {
        probe_note(probe, "allow DescribeConfigs on it",
                   "the settings of the dead letter queue %.100s may not be read", seen->topic);
        return;
    }
    judge_retention(settings, seen, probe);
    judge_cleanup(settings, seen, probe);
    judge_copies_of_queue(settings, seen, probe);
    judge_shape(seen, probe);
    if (probe->count == before)
        probe_found(probe, true, "", "the dead letter queue %.100s keeps what it gets", seen->topic);
}

// --- rights ---

static const char *
property(const struct broker_settings *settings, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < settings->property_count; i++)
        if (strcmp(settings->properties[i].name, name) == 0)
            value = settings->properties[i].value;
    return value;
}

// Whom the ACLs are for, as kafka-acls.sh wants it.
static void
principal(const struct broker_settings *settings, char *out, size_t room)
{
    const char *user = property(settings, "sasl.username"),
               *protocol = property(settings, "security.protocol");
    if (user)
        snprintf(out, room, "User:%.80s", user);
    else if (protocol && strcasecmp(protocol, "ssl") == 0)
        snprintf(out, room, "'User:<the subject of its certificate>'");
    else
        snprintf(out, room, "User:ANONYMOUS");
}

static void
grant(const struct broker_settings *settings, const char *resource, char out[PROBE_REMEDY])
{
    char who[120];
    principal(settings, who, sizeof who);
    snprintf(out, PROBE_REMEDY, "kafka-acls.sh --bootstrap-server %.100s --add --allow-principal %s %.300s",
             brokers_of(settings), who, resource);
}

__attribute__((format(printf, 4, 5))) static void
lacks(struct probe *probe, const struct broker_settings *settings, const char *resource, const char *format,
      ...)
{
    char remedy[PROBE_REMEDY], sentence[200];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    grant(settings, resource, remedy);
    probe_found(probe, false, remedy, "%s", sentence);
}

void
probe_judge_unread(const struct broker_settings *settings, struct probe *probe)
{
    char command[PROBE_REMEDY], remedy[PROBE_REMEDY];
    grant(settings, "--operation DescribeConfigs --cluster", command);
    snprintf(remedy, sizeof remedy, "an administrator looks, or allows it: %.500s", command);
    probe_note(probe, remedy,
               "the brokers' settings may not be read, so that what endangers the promise is not known");
}

void
probe_judge_rights(const struct broker_settings *settings, const struct rights_seen *seen,
                   struct probe *probe)
{
    if (seen->lacks_transactions)
        lacks(probe, settings,
              "--operation Write --operation Describe --transactional-id redrive. --resource-pattern-type "
              "prefixed",
              "Write on transactional ids that begin with redrive. is missing");
    if (seen->marker_topic == TOPIC_MISSING) {
        char remedy[PROBE_REMEDY];
        snprintf(remedy, sizeof remedy,
                 "kafka-topics.sh --bootstrap-server %.100s --create --topic " MARKER_TOPIC " --partitions 2",
                 brokers_of(settings));
        probe_found(probe, false, remedy, "the topic " MARKER_TOPIC " is missing and may not be created");
    }
    if (seen->lacks_group)
        lacks(probe, settings,
              "--operation Read --operation Describe --group redrive. --resource-pattern-type prefixed",
              "Read on groups that begin with redrive. is missing");
    if (seen->lacks_marker_topic || seen->marker_topic == TOPIC_DENIED)
        lacks(probe, settings, "--operation Read --operation Describe --topic " MARKER_TOPIC,
              "Read on the topic " MARKER_TOPIC " is missing");
}

static void
lacks_on_topic(struct probe *probe, const struct broker_settings *settings, const char *operation,
               const char *name, const char *why)
{
    char resource[320];
    snprintf(resource, sizeof resource, "--operation %s --operation Describe --topic %.249s", operation,
             name);
    lacks(probe, settings, resource, "%s on the topic %.60s is missing: %s", operation, name, why);
}

void
probe_judge_target(const struct broker_settings *settings, const char *topic, bool exists, enum may may_write,
                   enum may may_read, struct probe *probe)
{
    if (!exists) {
        probe_found(probe, false,
                    "its events are refused until it exists, or are sent elsewhere with \"to\", or --to",
                    "the topic %.100s does not exist", topic);
        return;
    }
    if (may_write == MAY_NOT)
        lacks_on_topic(probe, settings, "Write", topic, "its events are refused");
    if (may_read == MAY_NOT)
        lacks_on_topic(probe, settings, "Read", topic,
                       "original bytes are not fetched, chunks in doubt are not searched");
    if (may_write == MAY && may_read == MAY)
        probe_found(probe, true, "", "the topic %.100s may be written to and read", topic);
    else if (may_write == MAY_PERHAPS || may_read == MAY_PERHAPS)
        probe_found(probe, true, "", "whether %.100s may be written to and read was not found out", topic);
}
