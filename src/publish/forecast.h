// forecast: what a reprocess would do to chosen events before it is asked for: how many go to which topic,
// which are left out or refused, and why. It asks what the worker asks: where an event goes and whether it
// can be sent is for the plan to say (publish/plan.h), which events are skipped for the store. So dialog, dry
// run and outcome agree.
//
// Where Kafka is there it is asked about the topics now; elsewhere counts what workers learned last
// (store/operations/topics.h), whose age goes along. Events that may be too large, and those whose row
// does not say where they go, are planned one by one, the largest first, for three seconds; before, the
// server measures them, so that only what may be refused is read.
#ifndef REDRIVE_PUBLISH_FORECAST_H
#define REDRIVE_PUBLISH_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "broker/broker.h"
#include "core/operation.h"
#include "publish/plan.h"
#include "store/operations/operations.h"
#include "store/store.h"

struct forecast {
    struct store *store;
    const struct plan_settings *plan;
    struct broker *broker; // NULL: what workers learned last counts
    bool wants_topics;     // ask the workers about topics that they have not learned of, or long ago

    bool has_worker;  // filled: they were asked, and one lives
    struct err kafka; // filled: why Kafka did not answer about the topics
    struct forecast_topic *topics;
    size_t topic_count, topic_capacity;
    struct preview_rows *rows; // of the events of the preview that is made
    struct arena arena;
};

// Adds a part to the preview (operation_preview_part); texts go to the arena. Other actions than a reprocess
// have no forecast but the store's counts.
bool forecast_part(struct forecast *forecast, const struct preview_query *query, enum preview_part part,
                   struct arena *arena, struct preview *preview, struct err *err) MUST_CHECK;
// All parts of the action.
bool forecast_make(struct forecast *forecast, const struct preview_query *query, struct arena *arena,
                   struct preview *preview, struct err *err) MUST_CHECK;
// Has a worker learned of the topics since they were asked for? Then they are forgotten here, and the parts
// made again know it.
bool forecast_has_news(struct forecast *forecast, bool *has_news, struct err *err) MUST_CHECK;
void forecast_release(struct forecast *forecast);

#endif
