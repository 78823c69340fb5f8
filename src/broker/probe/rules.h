// probe_rules: what was read of a cluster, judged: settings, copies, rights. Pure, so that every rule can be
// tried with a good value and a bad one; who reads them is probe_settings and probe_rights.
//
// Each function adds findings to the probe; one that is not right comes with the command that mends it.
#ifndef REDRIVE_BROKER_PROBE_RULES_H
#define REDRIVE_BROKER_PROBE_RULES_H

#include "broker/probe/probe.h"

// Settings as the broker tells them. topic NULL: of the brokers themselves. Those without a rule, or without
// a value, say nothing.
void probe_judge_settings(const struct broker_settings *settings, const char *topic,
                          const struct broker_property *values, size_t count, struct probe *probe);
// They may not be read at all: noted, since publishing does not need it.
void probe_judge_unread(const struct broker_settings *settings, struct probe *probe);
// The fewest copies that a partition of the topic has, on a cluster of so many brokers.
void probe_judge_copies(const struct broker_settings *settings, const char *topic, int copies, int brokers,
                        struct probe *probe);

// What the protocol needs, tried one by one.
struct rights_seen {
    bool lacks_transactions;       // the transactional id was denied
    enum topic_state marker_topic; // TOPIC_MISSING: and it could not be made
    bool lacks_group;              // the nonce was denied for its group
    bool lacks_marker_topic;       // or for its topic
};
// Adds nothing where nothing is missing.
void probe_judge_rights(const struct broker_settings *settings, const struct rights_seen *seen,
                        struct probe *probe);

enum may { MAY, MAY_NOT, MAY_PERHAPS };
// A topic that events go to. Exactly one finding for each right that is missing, else one in all.
void probe_judge_target(const struct broker_settings *settings, const char *topic, bool exists,
                        enum may may_write, enum may may_read, struct probe *probe);

#endif
