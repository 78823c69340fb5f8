// probe_inside: what the files of the probe share.
#ifndef REDRIVE_BROKER_PROBE_INSIDE_H
#define REDRIVE_BROKER_PROBE_INSIDE_H

#include "broker/probe.h"

// Adds a finding for each ACL that the protocol needs and that is missing; `id` is a transactional id and
// group of the probe's own.
void probe_rights(struct broker *broker, const struct broker_settings *settings, const char *id,
                  struct probe *probe);

#endif
