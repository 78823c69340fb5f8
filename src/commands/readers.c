#include "commands/readers.h"

#include "base/clock.h"
#include "broker/consumers.h"
#include "commands/publishing.h"
#include "store/operations/consumers.h"

enum { READERS_MS = 4000, READERS_MOST = 5 };

static bool
ask_kafka(struct call *call, struct broker *broker, const char *const *topics, size_t count,
          struct arena *arena, struct topic_consumers *found)
{
    struct broker_settings settings;
    struct broker *own = NULL;
    struct err ignored = {0};
    if (!broker && (!publishing_broker_ready(call, &settings, &ignored) ||
                    !broker_settings_present(&settings) || !broker_open(&own, &settings, &ignored)))
        return false;
    bool ok = broker_consumers(broker ? broker : own, topics, count, READERS_MS, arena, found, &ignored);
    broker_close(own);
    return ok;
}

bool
readers_find(struct call *call, struct store *store, struct broker *broker, const char *const *topics,
             size_t count, struct arena *arena, struct topic_consumers **found)
{
    struct err ignored = {0};
    *found = arena_array(arena, count, sizeof **found);
    return ask_kafka(call, broker, topics, count, arena, *found) ||
           consumers_read(store, topics, count, arena, found, &ignored);
}

void
readers_describe(struct call *call, struct store *store, struct broker *broker, const struct preview *preview,
                 struct strbuf *out)
{
    struct arena arena = {0};
    struct topic_consumers *found;
    const char *topics[READERS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < preview->topic_count && count < READERS_MOST; i++)
        if (!preview->topics[i].refusal && preview->topics[i].topic)
            topics[count++] = preview->topics[i].topic;
    if (count && readers_find(call, store, broker, topics, count, &arena, &found))
        for (size_t i = 0; i < count; i++) {
            const char *sentence = consumers_sentence_among(found, count, i, clock_now(), &arena);
            if (sentence)
                strbuf_printf(out, "; %s", sentence);
        }
    arena_release(&arena);
}
