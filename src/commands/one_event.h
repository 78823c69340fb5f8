// one_event: one event with all that is known about it, for the commands that show or correct it.
#ifndef REDRIVE_COMMANDS_ONE_EVENT_H
#define REDRIVE_COMMANDS_ONE_EVENT_H

#include "base/arena.h"
#include "commands/cli/command.h"
#include "commands/letter_text.h"
#include "core/event.h"
#include "core/history.h"
#include "core/schema/decoded.h"
#include "publish/plan.h"
#include "store/store.h"

struct one_event {
    struct event event;         // the payload is that of the newest revision
    struct revision *revisions; // newest first
    size_t revision_count;
    struct decision *decisions;
    size_t decision_count;
    struct event *attempts; // oldest first, the event among them
    size_t attempt_count;
    struct letter_attempt *letters; // further dead letters of it, oldest first
    size_t letter_count;
    struct letter letter; // its dead letter; with has_letter: it has a format
    bool has_letter;
    struct decoded decoded;   // of one_event_plan: its value, where that is no JSON
    struct original original; // of one_event_plan and one_event_original
    struct plan plan;         // of one_event_plan
    struct arena arena;
    int64_t zone_us; // wall time minus UTC in the table
};

// ERR_NOT_FOUND: no event has the id. one_event_release in any case.
bool one_event_read(struct store *store, int64_t id, struct one_event *one, struct err *err) MUST_CHECK;
// Plans what a reprocess would send. Asks Kafka for the original record where none is kept, and for the
// target topic. Without brokers, or when they do not answer, the plan says that Kafka was not asked.
bool one_event_plan(struct call *call, struct store *store, struct one_event *one,
                    struct err *err) MUST_CHECK;
// The original payload, without corrections. *is_exact: these are the bytes that were received; otherwise it
// is PostgreSQL's text of the JSON. Asks Kafka where no copy is kept.
bool one_event_original(struct call *call, struct store *store, struct one_event *one, struct bytes *payload,
                        bool *is_exact, struct err *err) MUST_CHECK;
void one_event_release(struct one_event *one);

// The revision with this number; NULL: there is none. The original is no revision.
const struct revision *one_event_revision(const struct one_event *one, int64_t no);

#endif
