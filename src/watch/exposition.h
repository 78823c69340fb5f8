// exposition: metrics as text, in the two forms that Prometheus reads: its own (text format 0.0.4) and
// OpenMetrics 1.0. Pure.
//
//     exposition_family(&e, &(struct metric){"dlq_pending_messages", METRIC_GAUGE, NULL, "Pending events."});
//     exposition_sample(&e, "", (const struct metric_label[]){{"table", "public.dlq_events"}}, 1, 12);
//     exposition_end(&e);
//
// The two differ in how a counter's family is called, in `untyped` and `unknown`, in UNIT and in the end.
// https://prometheus.io/docs/instrumenting/exposition_formats/ and the specification of OpenMetrics.
#ifndef REDRIVE_WATCH_EXPOSITION_H
#define REDRIVE_WATCH_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"

enum exposition_form { FORM_TEXT, FORM_OPENMETRICS, FORM_COUNT };
const char *exposition_type(enum exposition_form form); // Content-Type
// What a client prefers that sent this Accept (NULL: none): OpenMetrics where it is named and nothing that is
// ours is preferred to it.
enum exposition_form exposition_wanted(const char *accept);

enum metric_kind { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM, METRIC_UNKNOWN };
struct metric {
    const char *name; // of a counter with _total
    enum metric_kind kind;
    const char *unit; // the end of the name, such as "seconds"; NULL: none
    const char *help;
};

struct metric_label {
    const char *name;
    const char
        *value; // any bytes, shown as text_visible does, and cut after some hundred; NULL or "": left out
};

struct exposition {
    struct strbuf *out; // borrowed
    enum exposition_form form;
    const struct metric *metric; // the family that was begun last
};

void exposition_family(struct exposition *exposition, const struct metric *metric);
// suffix: "", or of a histogram "_bucket", "_sum", "_count".
void exposition_sample(struct exposition *exposition, const char *suffix, const struct metric_label *labels,
                       size_t label_count, double value);
void exposition_end(struct exposition *exposition);

#endif
