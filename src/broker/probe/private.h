// probe: private part, shared by the files of the probe.
#ifndef REDRIVE_BROKER_PROBE_PRIVATE_H
#define REDRIVE_BROKER_PROBE_PRIVATE_H

#include "broker/probe/probe.h"

// Notes a broker's time on a record that was sent at sent_at and reported at reported_at by this host's
// clock. The record with the shortest round trip counts.
void probe_note_clock(struct probe *probe, int32_t broker, int64_t stamped_at, int64_t sent_at,
                      int64_t reported_at);

// Opens a producer that holds this transactional id. The caller destroys it, also after a failure (NULL is
// fine).
struct producer;
bool probe_take_id(const struct broker_settings *settings, const char *id, struct producer **producer,
                   struct err *err) MUST_CHECK;

// Adds a finding for each missing ACL that the protocol needs; `id` is a transactional id and group of the
// probe's own.
void probe_rights(struct broker *broker, const struct broker_settings *settings, const char *id,
                  struct probe *probe);

#endif
