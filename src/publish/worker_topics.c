// Topics that somebody is about to send to: the worker asks Kafka what they take, and writes it down.
#include "publish/worker_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/operations/topics.h"

enum { TOPICS_AT_ONCE = 20, TOPIC_MS = 3000 };

static enum topic_answer
worker_topics_state(enum topic_state state)
{
    switch (state) {
    case TOPIC_KNOWN:
        return ANSWER_KNOWN;
    case TOPIC_MISSING:
        return ANSWER_MISSING;
    case TOPIC_DENIED:
        return ANSWER_DENIED;
    }
    return ANSWER_NONE;
}

// Those that Kafka answers. The others are asked for again.
static bool
ask_topics(struct worker_run *run, char (*wanted)[TOPIC_NAME], size_t count, struct err *err)
{
    const char *names[TOPICS_AT_ONCE];
    struct topic_known known[TOPICS_AT_ONCE];
    struct err failure = {0};
    size_t answered = 0;
    for (size_t i = 0; i < count && !err_is_set(&failure); i++) {
        struct topic topic;
        if (!broker_topic(run->endpoints.broker, wanted[i], TOPIC_MS, &topic, &failure))
            break;
        names[answered] = wanted[i];
        known[answered++] = (struct topic_known){.answer = worker_topics_state(topic.state),
                                                 .partitions = topic.partitions,
                                                 .max_bytes = topic.max_bytes};
    }
    if (err_is_set(&failure))
        log_line(LOG_WARN, "topics not asked for", LOG_TEXT("why", failure.text));
    return answered == 0 ||
           topics_answer(run->endpoints.store, run->endpoints.cluster.name, names, known, answered, err);
}

bool
worker_ask_topics(struct worker_run *run, struct err *err)
{
    if (!broker_settings_present(&run->settings->broker) || clock_mono() < run->due.topics)
        return true;
    run->due.topics = clock_mono() + US_PER_SECOND / 2;
    char names[TOPICS_AT_ONCE][TOPIC_NAME];
    size_t count;
    struct err failure = {0};
    bool is_there = false;
    if (!topics_wanted(run->endpoints.store, names, TOPICS_AT_ONCE, &count, &failure))
        return worker_store_failed(run, &failure, err);
    if (count == 0)
        return true;
    if (!worker_need_kafka(run, &is_there, err))
        return false;
    return !is_there || ask_topics(run, names, count, &failure) || worker_store_failed(run, &failure, err);
}
