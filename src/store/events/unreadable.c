#include "store/events/unreadable.h"

#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"

enum { REMEMBERED = 256, TOGETHER = 16 };
#define REMEMBERED_FOR (60 * US_PER_SECOND) // somebody may have mended it

struct unreadable {
    size_t count;
    struct {
        int64_t id;
        int64_t until; // clock_mono
        char why[160];
    } events[REMEMBERED];
};

bool
unreadable_is_cause(const struct err *err)
{
    // Program limit exceeded, data exception, internal error with damaged data, out of memory.
    static const char *const states[] = {"54", "22", "XX", "53200"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(err->sqlstate, states[i], strlen(states[i])) == 0)
            return true;
    return false;
}

static bool
can_read(struct store *store, const int64_t *ids, size_t count, struct err *err)
{
    struct params params = {0};
    param_ids(&params, ids, count);
    PGresult *r = NULL;
    bool ok =
        pg_ask(store, FOR_READING,
               "SELECT count(octet_length(e.event_payload::text)) FROM :\"events\" e WHERE e.id = ANY ($1)",
               &params, &r, err);
    PQclear(r);
    return ok;
}

static void
forget_old(struct unreadable *unreadable)
{
    size_t kept = 0;
    for (size_t i = 0; i < unreadable->count; i++)
        if (clock_mono() < unreadable->events[i].until)
            unreadable->events[kept++] = unreadable->events[i];
    unreadable->count = kept;
}

static bool
remember(struct store *store, int64_t id, const struct err *why)
{
    if (!store->unreadable)
        store->unreadable = alloc_bytes(sizeof *store->unreadable);
    struct unreadable *unreadable = store->unreadable;
    const char *last = strrchr(why->text, ':'); // the server's own words
    if (unreadable->count == REMEMBERED || unreadable_why(store, id))
        return false;
    unreadable->events[unreadable->count].id = id;
    unreadable->events[unreadable->count].until = clock_mono() + REMEMBERED_FOR;
    snprintf(unreadable->events[unreadable->count].why, sizeof unreadable->events[0].why,
             "PostgreSQL cannot return the payload: %.110s", last && last[1] ? last + 2 : why->text);
    unreadable->count++;
    return true;
}

bool
unreadable_find(struct store *store, const int64_t *ids, size_t count)
{
    bool is_found = false;
    if (store->unreadable)
        forget_old(store->unreadable);
    for (size_t at = 0; at < count; at += TOGETHER) {
        size_t together = count - at < TOGETHER ? count - at : TOGETHER;
        struct err err = {0};
        if (can_read(store, ids + at, together, &err))
            continue;
        if (!unreadable_is_cause(&err))
            return false;
        for (size_t i = at; i < at + together; i++) {
            struct err why = {0};
            if (!unreadable_why(store, ids[i]) && !can_read(store, &ids[i], 1, &why))
                is_found = (unreadable_is_cause(&why) && remember(store, ids[i], &why)) || is_found;
        }
    }
    return is_found;
}

void
unreadable_param(const struct store *store, struct params *params)
{
    int64_t ids[REMEMBERED];
    size_t count = 0;
    for (size_t i = 0; store->unreadable && i < store->unreadable->count; i++)
        if (clock_mono() < store->unreadable->events[i].until)
            ids[count++] = store->unreadable->events[i].id;
    param_ids(params, ids, count);
}

const char *
unreadable_why(const struct store *store, int64_t id)
{
    for (size_t i = 0; store->unreadable && i < store->unreadable->count; i++)
        if (store->unreadable->events[i].id == id)
            return store->unreadable->events[i].why;
    return NULL;
}
