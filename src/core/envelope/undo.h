// undo: the record that was sent before it failed, as far as its dead letter tells: to which topic, with
// which key, value and headers, and why each is exact or not. Pure, so that what is shown before a reprocess
// is what is sent.
#ifndef REDRIVE_CORE_ENVELOPE_UNDO_H
#define REDRIVE_CORE_ENVELOPE_UNDO_H

#include "base/strbuf.h"
#include "core/envelope/envelope.h"

enum header_fate {
    FATE_KEPT,
    FATE_DROPPED, // of the failure
    FATE_ADDED,   // reprocess.count, redrive-original-timestamp, or a header that the value holds
};

struct undo_header {
    struct bytes name, value;
    enum header_fate fate;
};

enum undo_value {
    UNDO_AS_IS,     // the dead letter's value
    UNDO_CHANGED,   // the same but for the members that the failure added or changed
    UNDO_UNWRAPPED, // what was inside
    UNDO_POINTER,   // not in the record: read where the envelope's pointer says
    UNDO_LOST,      // not available
};

struct envelope_undo {
    struct bytes topic; // absent: the record does not say, and neither does the name of its topic
    bool is_topic_by_name;
    int32_t partition; // of the original; -1: by the key
    struct bytes key, value;
    enum undo_value how;
    const char *how_text; // in words
    bool is_exact;        // the value is the original's, byte for byte
    const char *why;      // why it is or is not
    struct undo_header *headers;
    size_t header_count; // kept and dropped in their order, then added
    int64_t reprocessed; // so often it was sent again before
};

// Everything lives in the arena or is a view of the record.
void envelope_undo(const struct envelope_record *record, const struct envelope *envelope, struct arena *arena,
                   struct envelope_undo *undo);

// How often a record with these headers was sent again before, by its header reprocess.count; `otherwise`
// where that is more.
int64_t envelope_reprocessed(const struct event_header *headers, size_t count, int64_t otherwise);

// What the message is about and what tells more of it, apart from the control fields of the format. Absent:
// the format has no such part. A value that only headers were added to has neither: it is the payload itself.
void envelope_parts(const struct envelope_record *record, const struct envelope *envelope,
                    const struct envelope_undo *undo, struct arena *arena, struct bytes *data,
                    struct bytes *metadata);

// The changes of a JSON payload that has such a format, as a recipe, one operation a line, appended. false:
// it is not such a payload, or nothing is left to change. What applies it is core/recipe.
bool envelope_recipe(struct bytes payload, struct strbuf *recipe);

#endif
