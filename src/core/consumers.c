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

// "no consumer group has committed on ", of "no consumer group has committed on orders.events"; len 0 where
// it does not name the topic.
static struct bytes
before_topic(const struct topic_consumers *topic)
{
    const char *name = topic->note ? strstr(topic->note, topic->topic) : NULL;
    return name ? (struct bytes){topic->note, (size_t)(name - topic->note)} : (struct bytes){0};
}

static const char *
behind_topic(const struct topic_consumers *topic)
{
    return topic->note + before_topic(topic).len + strlen(topic->topic);
}

static bool
is_unknown_alike(const struct topic_consumers *a, const struct topic_consumers *b)
{
    struct bytes start = before_topic(a);
    return a->count == 0 && b->count == 0 && a->read_at != TIME_ABSENT && b->read_at != TIME_ABSENT &&
           start.len > 0 && bytes_equal(start, before_topic(b)) &&
           strcmp(behind_topic(a), behind_topic(b)) == 0;
}

const char *
consumers_sentence_among(const struct topic_consumers *topics, size_t count, size_t i, int64_t now,
                         struct arena *arena)
{
    struct topic_consumers all = topics[i];
    struct strbuf names = {0};
    size_t alike = 0;
    for (size_t k = 0; k < count; k++) {
        if (!is_unknown_alike(&topics[i], &topics[k]))
            continue;
        if (k < i) {
            strbuf_release(&names);
            return NULL;
        }
        strbuf_printf(&names, "%s%s", alike++ ? ", " : "", topics[k].topic);
        all.read_at = topics[k].read_at < all.read_at ? topics[k].read_at : all.read_at;
    }
    struct bytes start = before_topic(&topics[i]);
    if (alike > 1)
        all.note = arena_printf(arena, "%.*s%s%s", (int)start.len, start.data, strbuf_text(&names),
                                behind_topic(&topics[i]));
    strbuf_release(&names);
    return consumers_sentence(&all, count > 1 && alike < 2, now, arena);
}
