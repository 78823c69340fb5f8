// message: a notice in the words of each channel. Pure.
//
// Alertmanager: the body of POST /api/v2/alerts (its OpenAPI document). While an alert fires it has no end,
// so Alertmanager takes it for over by its own clock when it is not told again (resolve_timeout). Slack: an
// incoming webhook. PagerDuty: Events API v2; the fingerprint is the dedup_key. A command: a mail (RFC 5322).
#ifndef REDRIVE_NOTIFY_MESSAGE_H
#define REDRIVE_NOTIFY_MESSAGE_H

#include "base/strbuf.h"
#include "core/alerts.h"

void message_write(const struct alert_destination *destination, const struct alert_notice *notice,
                   struct strbuf *out);

#endif
