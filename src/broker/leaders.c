#include "broker/leaders.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "broker/kafka.h"

#define PATIENCE (3 * US_PER_SECOND)             // of a connection that works
#define CONNECTION_PATIENCE (10 * US_PER_SECOND) // below what a chunk may read for
#define WORKS_FOR (60 * US_PER_SECOND)           // after its last answer

static struct known_leader *
leaders_find(struct broker *broker, int32_t id)
{
    for (size_t i = 0; i < broker->leader_count; i++)
        if (broker->leaders[i].id == id)
            return &broker->leaders[i];
    broker->leaders =
        alloc_grow(broker->leaders, broker->leader_count, &broker->leader_capacity, sizeof *broker->leaders);
    struct known_leader *fresh = &broker->leaders[broker->leader_count++];
    *fresh = (struct known_leader){.id = id};
    return fresh;
}

static bool
is_within(int64_t at, int64_t length)
{
    return at && clock_mono() - at < length;
}

bool
leaders_are_left_alone(struct broker *broker, int32_t id)
{
    return is_within(leaders_find(broker, id)->failed_at, LEADERS_LEFT_ALONE);
}

int64_t
leaders_wait(struct broker *broker, int32_t id)
{
    struct known_leader *leader = leaders_find(broker, id);
    if (is_within(leader->answered_at, WORKS_FOR)) {
        int64_t wait = PATIENCE + 2 * leader->took;
        return clock_mono() + (wait < CONNECTION_PATIENCE ? wait : CONNECTION_PATIENCE);
    }
    if (!is_within(leader->asked_at, LEADERS_LEFT_ALONE))
        leader->asked_at = clock_mono();
    int64_t least = clock_mono() + PATIENCE, until = leader->asked_at + CONNECTION_PATIENCE;
    return until > least ? until : least;
}

void
leaders_note_answer(struct broker *broker, int32_t id, int64_t took)
{
    struct known_leader *leader = leaders_find(broker, id);
    bool is_first = !is_within(leader->answered_at, WORKS_FOR); // it has waited for the connection, too
    leader->took = is_first ? 0 : took;
    leader->answered_at = clock_mono();
    leader->asked_at = leader->failed_at = 0;
}

bool
leaders_note_silence(struct broker *broker, int32_t id)
{
    struct known_leader *leader = leaders_find(broker, id);
    if (is_within(leader->answered_at, WORKS_FOR))
        return true;
    leader->failed_at = clock_mono();
    leader->asked_at = 0;
    return false;
}
