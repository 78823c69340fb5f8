// undoing: what the dead letter of an event says of the record that failed, and that record as its format
// gives it back: for the plan of what is sent, and for whoever shows the event.
//
// The dead letter is the record that is kept, else the one that was read again in Kafka, else the payload of
// the row, whose value may be an envelope too. Nothing is undone where it is not certain what to undo: two
// formats match and would send different values, the value names another topic than the row does, or nobody
// knows what a corrected payload replaces.
//
// A corrected payload that has the format of its dead letter is a dead letter, and is undone. One that has it
// no more replaces what was inside, or what is left when it is undone: it is sent as it is, with the topic,
// partition, key, headers and times of the dead letter as it was received.
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
    bool is_set;                   // a person chose the format
    bool is_inside;                // the corrected payload replaces what undoing gives
    bool is_nested;                // it may replace the dead letter or what is inside, which look alike
    const struct topic_rule *rule; // of the topic of dead letters; NULL: nothing is said of it
    struct envelope_record record;
    struct envelope envelope;
    struct envelope_undo undo;
};

// Of the event PAYLOAD and RAW, as far as they are known, and its topic; of a corrected one also
// EVENT_REPLACED. `original`: read again in Kafka; NULL: not available. Everything lives in the arena or is
// borrowed.
void undoing_read(const struct topic_rules *rules, const struct event *event, const struct record *original,
                  struct arena *arena, struct letter_undoing *undoing);

// Is the record that is kept only a pointer to the original, which has no copy in it and is still to be read?
bool undoing_is_pointer(const struct event *event);

#endif
