// probe_inside: what the files of the probe share.
#ifndef REDRIVE_BROKER_PROBE_PRIVATE_H
#define REDRIVE_BROKER_PROBE_PRIVATE_H

#include "broker/probe/probe.h"

// A broker's own time on a record that was handed over at sent_at and reported at told_at, by this host's
// clock. Of several the one that was least on the road stands.
void probe_note_clock(struct probe *probe, int32_t broker, int64_t stamped_at, int64_t sent_at,
                      int64_t told_at);

// A producer that holds this transactional id, for the caller to destroy, also after a failure (NULL is
// fine).
struct producer;
bool probe_take_id(const struct broker_settings *settings, const char *id, struct producer **producer,
                   struct err *err) MUST_CHECK;

// Adds a finding for each ACL that the protocol needs and that is missing; `id` is a transactional id and
// group of the probe's own.
void probe_rights(struct broker *broker, const struct broker_settings *settings, const char *id,
                  struct probe *probe);

#endif
