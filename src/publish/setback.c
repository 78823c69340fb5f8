#include "publish/setback.h"

#include <stdio.h>
#include <string.h>
#include "base/clock.h"

#define EMPTY_TRIES 3 // an operation that others are busy with is empty once or twice

static struct setback *
find_setback(struct setbacks *setbacks, int64_t operation)
{
    for (size_t i = 0; i < SETBACKS; i++)
        if (setbacks->rows[i].operation == operation)
            return &setbacks->rows[i];
    return NULL;
}

static struct setback *
make_setback(struct setbacks *setbacks, int64_t operation)
{
    struct setback *row = find_setback(setbacks, operation);
    if (row)
        return row;
    row = &setbacks->rows[0];
    for (size_t i = 1; i < SETBACKS && row->operation; i++)
        if (!setbacks->rows[i].operation || setbacks->rows[i].until < row->until)
            row = &setbacks->rows[i];
    *row = (struct setback){.operation = operation, .limit = SIZE_MAX};
    return row;
}

static void
note_try(struct setback *row, int64_t now, int64_t until, const char *why)
{
    row->tries++;
    row->until = until;
    row->again_at = now + SETBACK_SETTLES;
    snprintf(row->why, sizeof row->why, "%s", why);
}

static int64_t
next_wait(const struct setback *row)
{
    int64_t wait = US_PER_SECOND;
    for (int i = 0; i < row->tries && wait < SETBACK_LONGEST; i++)
        wait *= 2;
    return wait < SETBACK_LONGEST ? wait : SETBACK_LONGEST;
}

void
setback_add(struct setbacks *setbacks, int64_t operation, size_t limit, int64_t now, const char *why)
{
    struct setback *row = make_setback(setbacks, operation);
    size_t tried = limit < row->limit ? limit : row->limit;
    row->limit = tried > 1 ? tried / 2 : 1;
    note_try(row, now, now + next_wait(row), why);
    row->is_untold = true;
}

void
setback_pass(struct setbacks *setbacks, int64_t operation, int64_t now, int64_t until, const char *why)
{
    struct setback *row = make_setback(setbacks, operation);
    bool is_news = strncmp(row->why, why, sizeof row->why - 1) != 0;
    note_try(row, now, until, why);
    row->is_untold = row->is_untold || is_news;
}

void
setback_empty(struct setbacks *setbacks, int64_t operation, int64_t queued, int64_t now, const char *why)
{
    struct setback *row = make_setback(setbacks, operation);
    if (row->queued != queued)
        row->tries = 0;
    row->queued = queued;
    note_try(row, now, now + next_wait(row), why);
    row->is_untold = row->tries == EMPTY_TRIES;
    if (row->tries < EMPTY_TRIES)
        row->again_at = 0;
}

void
setback_end(struct setbacks *setbacks, int64_t operation, size_t most)
{
    struct setback *row = operation ? find_setback(setbacks, operation) : NULL;
    if (!row)
        return;
    if (row->limit >= most / 2) {
        *row = (struct setback){0};
        return;
    }
    row->tries = 0;
    row->until = 0;
    row->is_untold = false;
    row->again_at = 0;
    row->why[0] = '\0';
    row->limit *= 2;
}

int64_t
setback_wait(const struct setbacks *setbacks, int64_t operation, int64_t now)
{
    for (size_t i = 0; i < SETBACKS; i++)
        if (operation && setbacks->rows[i].operation == operation)
            return setbacks->rows[i].until > now ? setbacks->rows[i].until - now : 0;
    return 0;
}

size_t
setback_limit(const struct setbacks *setbacks, int64_t operation, size_t most)
{
    for (size_t i = 0; i < SETBACKS; i++)
        if (operation && setbacks->rows[i].operation == operation)
            return setbacks->rows[i].limit < most ? setbacks->rows[i].limit : most;
    return most;
}

int64_t
setback_soonest(const struct setbacks *setbacks, int64_t now, const struct setback **which)
{
    int64_t soonest = 0;
    for (size_t i = 0; i < SETBACKS; i++) {
        int64_t wait = setback_wait(setbacks, setbacks->rows[i].operation, now);
        if (wait > 0 && (soonest == 0 || wait < soonest)) {
            soonest = wait;
            if (which)
                *which = &setbacks->rows[i];
        }
    }
    return soonest;
}

const struct setback *
setback_tell(struct setbacks *setbacks, int64_t now)
{
    for (size_t i = 0; i < SETBACKS; i++) {
        struct setback *row = &setbacks->rows[i];
        bool is_again = row->again_at && row->again_at <= now;
        if (row->operation && (row->is_untold || is_again)) {
            row->again_at = is_again ? 0 : row->again_at;
            row->is_untold = false;
            return row;
        }
    }
    return NULL;
}
