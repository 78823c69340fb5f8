#include "core/letter_topic.h"

#include "base/clock.h"

static const int64_t RATE_OVER = 10 * US_PER_SECOND; // at least; twice as much at the most

int64_t
letter_topics_left(const struct letter_topic *topics, size_t count)
{
    int64_t left = 0;
    for (size_t i = 0; i < count; i++)
        left += topics[i].is_read && topics[i].left > 0 ? topics[i].left : 0;
    return left;
}

double
letters_per_second(struct letters_seen seen[2], const struct letter_topic *topics, size_t count, int64_t now)
{
    struct letters_seen moment = {.at = now};
    for (size_t i = 0; i < count; i++)
        moment.read += topics[i].read;
    if (seen[1].at == 0 || moment.read < seen[1].read || now - seen[1].at > 2 * RATE_OVER) {
        seen[0] = seen[1] = moment;
    } else if (now - seen[1].at >= RATE_OVER) {
        seen[0] = seen[1];
        seen[1] = moment;
    }
    int64_t over = now - seen[0].at;
    return over < US_PER_SECOND ? -1 : (double)(moment.read - seen[0].read) * US_PER_SECOND / (double)over;
}
