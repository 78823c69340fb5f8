// undoing: what the dead letter of an event says of the record that failed, and that record as its format
// gives it back: for the plan of what is sent, and for whoever shows the event.
//
// The dead letter is the record that is kept, else the one that was read again in Kafka, else the payload of
// the row, whose value may be an envelope too. Nothing is undone where it is not certain what to undo: two
// formats match and would send different values, the value names another topic than the row does, or a
// corrected payload has not the format that the dead letter was taken in with.
#ifndef REDRIVE_PUBLISH_UNDOING_H
#define REDRIVE_PUBLISH_UNDOING_H

#include <stdbool.h>
#include "base/arena.h"
#include "broker/fetch.h"
#include "core/envelope/undo.h"
#include "core/event.h"
#include "core/topic_rules.h"

struct letter_undoing {
    bool is_sure;                  // it has a format, and `undo` is what was sent before it failed
    const char *unsure;            // why nothing is undone although it has one; NULL otherwise
    const struct topic_rule *rule; // of the topic of dead letters; NULL: nothing is said of it
    struct envelope_record record;
    struct envelope envelope;
    struct envelope_undo undo;
};

// Of the event PAYLOAD and RAW, as far as they are known, and its topic. `original`: read again in Kafka;
// NULL: not to be had. A corrected payload stands for the dead letter's value. Everything lives in the arena
// or is borrowed.
void undoing_read(const struct topic_rules *rules, const struct event *event, const struct record *original,
                  struct arena *arena, struct letter_undoing *undoing);

// Is the record that is kept only a pointer to the original, which has no copy in it?
bool undoing_is_pointer(const struct event *event);

#endif
