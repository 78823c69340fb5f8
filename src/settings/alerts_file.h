// alerts_file: reads the file of alerts and of destinations for their notices (core/alerts.h).
//
//     alert "too many" {
//         when = "pending"    above = 1000    clear = 800    for = "5m"
//         severity = "page"   labels = { "team=orders" }
//         description = "Open redrive: the largest group comes first."
//         runbook = "https://wiki.example/dlq"
//     }
//     destination "alertmanager" { url = "https://alerts.example:9093" }
//     destination "slack" { url.file = "/etc/redrive/slack.url"    severity = { "page" } }
//     destination "pagerduty" { key.file = "/etc/redrive/pagerduty.key" }
//     destination "command" { command = { "/usr/sbin/sendmail", "-t" }    to = "oncall@example" }
//
// It is the file of the setting `alerts`, else `alerts` in the configuration folder, else the one that is
// built in: monitoring/alerts.conf, without destinations.
#ifndef REDRIVE_SETTINGS_ALERTS_FILE_H
#define REDRIVE_SETTINGS_ALERTS_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/alerts.h"

struct alerts_file {
    struct alert_rule *rules; // those that are enabled
    size_t rule_count;
    size_t disabled;
    struct alert_destination *destinations;
    size_t destination_count;
    struct arena arena; // all of the above
};

// NULL as path: the built-in file. Secrets are read. A fault names file and line, and what was probably
// meant; then there is nothing to release.
bool alerts_file_read(const char *path, struct alerts_file *file, struct err *err) MUST_CHECK;
void alerts_file_release(struct alerts_file *file); // wipes secrets

#endif
