// metrics: the sums of some tables as metrics of Prometheus. Pure.
//
// The names that teams have in their dashboards already (dlq_events_total, dlq_messages_total,
// dlq_pending_messages, dlq_resolution_time_seconds, dlq_reprocess_success_total, …) and beside them names by
// Prometheus' conventions. Every sample of a table has the label `table`. Labels have few values: at most
// fifty groups, event types, classes and topics a table, and `other` with the rest.
#ifndef REDRIVE_WATCH_METRICS_H
#define REDRIVE_WATCH_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/watch/sums.h"
#include "watch/exposition.h"

struct metrics_table {
    const char *table;             // "public.dlq_events"
    const struct watch_sums *sums; // NULL: not known, or too old to be told
    bool is_up;                    // the last look succeeded
    int64_t looks, failed_looks;
    int64_t took; // the last look, µs
};

// The watcher itself.
struct metrics_process {
    const char *version;
    int64_t started_at; // µs since 1970
    double cpu_seconds;
    int64_t memory; // bytes, resident
};

void metrics_write(enum exposition_form form, const struct metrics_process *process,
                   const struct metrics_table *tables, size_t count, struct strbuf *out);

#endif
