#include "store/events/unreadable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"

enum { REMEMBERED = 256, FEW = 16 };
#define REMEMBERED_FOR (60 * US_PER_SECOND) // somebody may have mended it

struct unreadable {
    size_t count;
    struct {
        int64_t id;
        int64_t until; // clock_mono
        enum long_column column;
        char why[160];
    } found[REMEMBERED];
};

// What it is called, and how it is read whole, as the reader of a page does.
static const struct {
    const char *name, *sql;
} long_columns[LONG_COLUMNS] = {
#define TRY(text) "SELECT count(octet_length(" text ")) FROM :\"events\" e WHERE e.id = ANY ($1)"
    [LONG_PAYLOAD] = {"payload", TRY("e.event_payload::text")},
    [LONG_ERROR] = {"error_message", TRY("convert_to(e.error_message::text, 'UTF8')")},
    [LONG_STACK] = {"stack_trace", TRY("convert_to(e.stack_trace::text, 'UTF8')")},
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
can_read(struct store *store, enum long_column column, const int64_t *ids, size_t count, struct err *err)
{
    struct params params = {0};
    param_ids(&params, ids, count);
    PGresult *r = NULL;
    bool ok = pg_ask(store, FOR_READING, long_columns[column].sql, &params, &r, err);
    PQclear(r);
    return ok;
}

static void
forget_old(struct unreadable *unreadable)
{
    size_t kept = 0;
    for (size_t i = 0; i < unreadable->count; i++)
        if (clock_mono() < unreadable->found[i].until)
            unreadable->found[kept++] = unreadable->found[i];
    unreadable->count = kept;
}

static bool
remember(struct store *store, enum long_column column, int64_t id, const struct err *why)
{
    struct unreadable *unreadable = store->unreadable;
    const char *words = strstr(why->text, ": "); // the server's own
    if (unreadable->count == REMEMBERED)
        return false;
    unreadable->found[unreadable->count].id = id;
    unreadable->found[unreadable->count].column = column;
    unreadable->found[unreadable->count].until = clock_mono() + REMEMBERED_FOR;
    snprintf(unreadable->found[unreadable->count].why, sizeof unreadable->found[0].why,
             "PostgreSQL cannot return the %s: %.110s", long_columns[column].name,
             words ? words + 2 : why->text);
    unreadable->count++;
    return true;
}

// Halves what cannot be read together; a few are tried one by one, since a failing text may cost a gigabyte
// each time. The ids are not known to be unreadable. False: the server fails for another reason, or no more
// can be remembered.
static bool
find_in(struct store *store, enum long_column column, const int64_t *ids, size_t count, bool *is_found)
{
    struct err err = {0};
    if (count == 0 || can_read(store, column, ids, count, &err))
        return true;
    if (!unreadable_is_cause(&err))
        return false;
    if (count == 1)
        return remember(store, column, ids[0], &err) && (*is_found = true);
    size_t part = count > FEW ? count / 2 : 1;
    bool is_good = true;
    for (size_t at = 0; is_good && at < count; at += part)
        is_good = find_in(store, column, ids + at, count - at < part ? count - at : part, is_found);
    return is_good;
}

bool
unreadable_find(struct store *store, unsigned wanted, const int64_t *ids, size_t count)
{
    if (!store->unreadable)
        store->unreadable = alloc_bytes(sizeof *store->unreadable);
    forget_old(store->unreadable);
    bool is_found = false, is_good = true;
    int64_t *unknown = alloc_array(count + 1, sizeof *unknown);
    for (enum long_column column = 0; is_good && column < LONG_COLUMNS; column++) {
        size_t n = 0;
        for (size_t i = 0; wanted & 1u << column && i < count; i++)
            if (!unreadable_why(store, column, ids[i]))
                unknown[n++] = ids[i];
        is_good = find_in(store, column, unknown, n, &is_found);
    }
    free(unknown);
    return is_found;
}

bool
unreadable_any(const struct store *store, enum long_column column)
{
    for (size_t i = 0; store->unreadable && i < store->unreadable->count; i++)
        if (store->unreadable->found[i].column == column)
            return true;
    return false;
}

void
unreadable_param(const struct store *store, enum long_column column, struct params *params)
{
    int64_t ids[REMEMBERED];
    size_t count = 0;
    for (size_t i = 0; store->unreadable && i < store->unreadable->count; i++)
        if (store->unreadable->found[i].column == column && clock_mono() < store->unreadable->found[i].until)
            ids[count++] = store->unreadable->found[i].id;
    param_ids(params, ids, count);
}

const char *
unreadable_why(const struct store *store, enum long_column column, int64_t id)
{
    for (size_t i = 0; store->unreadable && i < store->unreadable->count; i++)
        if (store->unreadable->found[i].id == id && store->unreadable->found[i].column == column)
            return store->unreadable->found[i].why;
    return NULL;
}
