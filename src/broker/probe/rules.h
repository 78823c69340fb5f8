// probe_rules: judges settings, copies and rights of a cluster, which probe_settings and probe_rights read.
// Pure, so that tests can try every rule with a good value and a bad one.
//
// Each function adds findings to the probe; a problem comes with the command that solves it.
#ifndef REDRIVE_BROKER_PROBE_RULES_H
#define REDRIVE_BROKER_PROBE_RULES_H

#include "broker/probe/probe.h"

// Settings as the broker returns them. topic NULL: of the brokers themselves. Settings without a rule or
// without a value add no finding.
void probe_judge_settings(const struct broker_settings *settings, const char *topic,
                          const struct broker_property *values, size_t count, struct probe *probe);
// Settings that may not be read: adds a note, since publishing does not need the right.
void probe_judge_unread(const struct broker_settings *settings, struct probe *probe);
// A cluster with too few brokers for three copies of anything: said once, not of each topic.
#define BROKERS_ENOUGH 3
void probe_judge_brokers(int brokers, struct probe *probe);
// copies: the fewest replicas of any partition of the topic, in a cluster that has enough brokers.
void probe_judge_copies(const struct broker_settings *settings, const char *topic, int copies,
                        struct probe *probe);

// A topic of dead letters as Kafka tells of it.
struct queue_seen {
    const char *topic;
    const char *source; // the topic of its name; NULL: Kafka has none of that name
    const char *other;  // another dead letter queue of the same topic; NULL: none
    int partitions;
    int source_partitions;                // with source
    int copies, brokers;                  // as above
    int64_t oldest;                       // age in µs of the oldest pending event; 0: none
    const struct broker_property *values; // its settings
    size_t count;                         // 0: they may not be read
};
// Adds a finding for each thing that is wrong, a note for what is only worth knowing, else one that all is
// well.
void probe_judge_queue(const struct broker_settings *settings, const struct queue_seen *seen,
                       struct probe *probe);

// The rights that the protocol needs, tried one by one.
struct rights_seen {
    bool lacks_transactions;       // the transactional id was denied
    enum topic_state marker_topic; // TOPIC_MISSING: and it could not be created
    bool lacks_group;              // the nonce was denied for its group
    bool lacks_marker_topic;       // or for its topic
};
// Adds nothing if no right is missing.
void probe_judge_rights(const struct broker_settings *settings, const struct rights_seen *seen,
                        struct probe *probe);

enum may { MAY, MAY_NOT, MAY_PERHAPS };
// A target topic. Adds one finding for each missing right, else one in all.
void probe_judge_target(const struct broker_settings *settings, const char *topic, bool exists,
                        enum may may_write, enum may may_read, struct probe *probe);

#endif
