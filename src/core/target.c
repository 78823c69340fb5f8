#include "core/target.h"

#include <string.h>
#include "core/event.h"

struct bytes
target_of(struct bytes own, struct bytes corrected, const char *to)
{
    struct bytes topic = to ? bytes_of(to) : bytes_present(corrected) ? corrected : own;
    return topic.len > 0 ? topic : BYTES_ABSENT;
}

const char *
target_refusal(struct bytes topic, struct arena *arena)
{
    if (!bytes_present(topic) || topic.len == 0)
        return "the event names no topic; give \"to\", or --to";
    if (topic_is_reserved(topic))
        return arena_printf(
            arena,
            "%.*s is a topic of the publish protocol, or of Kafka's own; give another \"to\", "
            "or --to",
            BYTES_ARGS(topic));
    struct bytes original = topic_original(topic);
    if (topic_is_queue(topic))
        return arena_printf(arena,
                            "%.*s is itself a dead letter queue; by its name it is of %.*s: give that as "
                            "\"to\", or --to %.*s",
                            BYTES_ARGS(topic), BYTES_ARGS(original), BYTES_ARGS(original));
    return NULL;
}

bool
target_name_check(struct bytes topic, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    bool ok = topic.len > 0 && topic.len <= TARGET_MOST && !bytes_equal_text(topic, ".") &&
              !bytes_equal_text(topic, "..");
    for (size_t i = 0; ok && i < topic.len; i++)
        ok = topic.data[i] && strchr(allowed, topic.data[i]);
    return ok || err_set(err, ERR_USAGE,
                         "the name of a topic has letters, digits, '.', '_' and '-' only, at most %d of them",
                         TARGET_MOST);
}

bool
target_check(struct bytes topic, struct err *err)
{
    if (!target_name_check(topic, err))
        return false;
    struct arena arena = {0};
    const char *refusal = target_refusal(topic, &arena);
    if (refusal)
        err_set(err, ERR_USAGE, "%s", refusal);
    arena_release(&arena);
    return !refusal;
}
