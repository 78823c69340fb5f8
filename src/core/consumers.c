#include "core/consumers.h"

#include <string.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

enum { NAMED_MOST = 8 };

const char *
consumers_words(const struct topic_consumers *topic, struct arena *arena)
{
    struct strbuf words = {0};
    char count[TEXT_SHORT];
    for (size_t i = 0; i < topic->count && i < NAMED_MOST; i++) {
        const struct consumer *consumer = &topic->rows[i];
        bool is_empty = strcmp(consumer->state, "Empty") == 0 || strcmp(consumer->state, "Dead") == 0;
        strbuf_printf(&words, "%s%s", i ? ", " : "", consumer->name);
        if (consumer->lag > 0)
            strbuf_printf(&words, " (lag %s%s)", text_count(consumer->lag, count),
                          is_empty ? ", nobody runs" : "");
        else if (is_empty)
            strbuf_add_text(&words, " (nobody runs)");
    }
    if (topic->count > NAMED_MOST)
        strbuf_printf(&words, " and %zu more", topic->count - NAMED_MOST);
    const char *text = arena_text(arena, strbuf_bytes(&words));
    strbuf_release(&words);
    return text;
}

const char *
consumers_sentence(const struct topic_consumers *topic, bool is_named, int64_t now, struct arena *arena)
{
    char age[TEXT_SHORT] = "";
    if (topic->read_at == TIME_ABSENT)
        return NULL;
    bool is_old = now - topic->read_at > 60 * US_PER_SECOND;
    if (is_old)
        text_age(now - topic->read_at, age);
    const char *name = is_named ? arena_printf(arena, "%s ", topic->topic) : "";
    const char *when = is_old ? arena_printf(arena, " (%s ago)", age) : "";
    if (topic->count == 0)
        return arena_printf(arena, "%sreaders not known: %s%s", name,
                            topic->note ? topic->note : "no consumer group has committed", when);
    return arena_printf(arena, "%sread by %s%s%s", name, consumers_words(topic, arena), when,
                        topic->count > 1 ? ": all of them get these again" : "");
}
