// topic_rules: what a team says of the topics that events are sent to; the rows of the setting `consumers`:
//
//     orders.events: billing
//     orders.events: billing, not audit search, to orders.events.retry.billing
//     customers: check-newer
//
//     orders.v1: moved orders.v2
//     failures.eu: of orders, format dlq-wrapper
//     tickets-dlq: key $.ticket_id, type header:ce_type
//
// First the consumer groups that its events are for: they are taken when these have read them. `not`: groups
// that must not get them again; `to`: the topic for events that are sent again, which those do not read.
// `check-newer`: before events of it are sent again, it is looked whether their keys have newer records
// (core/newer.h). `moved`: the topic is another one now; what would be sent to it by itself goes there.
// Of a topic of dead letters: `of`, the topic that they were meant for, where its name does not say;
// `format`, which format they have, where that is guessed wrongly (core/envelope/formats.def; `unknown`: they
// are sent as they are); and for redrive ingest where in them the columns of their rows are: `key`, which
// event it is (event_id; dead letters of one key are one event), `type`, `source` and `correlation`. Such a
// place is $.a.b[2] in the original's value, else in the dead letter's, header:NAME, or key: the record's. It
// has no blank and no comma. The first row of a topic counts.
#ifndef REDRIVE_CORE_TOPIC_RULES_H
#define REDRIVE_CORE_TOPIC_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "core/envelope/envelope.h"

// NULL: as the format says.
struct letter_places {
    const char *key, *type, *source, *correlation;
};

struct topic_rule {
    const char *topic;
    const char **awaited;
    size_t awaited_count;
    const char **spared; // behind `not`
    size_t spared_count;
    const char *to; // NULL: the topic itself
    bool checks_newer;
    const char *moved;                    // NULL: it is where it was
    const char *of;                       // NULL: its name or its records say
    const struct envelope_format *format; // NULL: it is recognised
    struct letter_places places;
};

struct topic_rules;

// Rows with newlines between them; NULL: none. They live in the arena. NULL, with ERR_USAGE that names the
// row.
const struct topic_rules *topic_rules_read(const char *rows, struct arena *arena, struct err *err);

// NULL: nothing is said of it. `rules` may be NULL.
const struct topic_rule *topic_rule_of(const struct topic_rules *rules, const char *topic);
bool topic_rule_awaits(const struct topic_rule *rule, const char *consumer);
bool topic_rule_spares(const struct topic_rule *rule, const char *consumer);

#endif
