#include "ui/views/groups/picks.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/app/app.h"
#include "ui/views/groups/texts.h"

static struct group_pick *
find(const struct group_picks *picks, uint64_t key)
{
    for (size_t i = 0; i < picks->count; i++)
        if (picks->picks[i].has_key && picks->picks[i].key == key)
            return &picks->picks[i];
    return NULL;
}

static struct group_pick *
next_waiting(const struct group_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++)
        if (!picks->picks[i].is_done)
            return &picks->picks[i];
    return NULL;
}

static void
release_pick(struct group_pick *pick)
{
    list_query_release(&pick->query);
    free(pick->ids);
}

// Drops picks of no group, and unfinished ones if asked.
static void
drop_loose(struct group_picks *picks, bool drops_unfinished)
{
    size_t kept = 0;
    for (size_t i = 0; i < picks->count; i++) {
        struct group_pick *pick = &picks->picks[i];
        if (!pick->has_key || (drops_unfinished && !pick->is_done))
            release_pick(pick);
        else
            picks->picks[kept++] = *pick;
    }
    picks->count = kept;
}

void
group_picks_want(struct group_picks *picks, enum pick_verb verb, const uint64_t *key,
                 const struct list_query *query)
{
    struct group_pick *pick = key ? find(picks, *key) : NULL;
    if (pick) {
        release_pick(pick);
    } else {
        picks->picks = alloc_grow(picks->picks, picks->count, &picks->capacity, sizeof *picks->picks);
        pick = &picks->picks[picks->count++];
    }
    *pick = (struct group_pick){
        .has_key = key != NULL, .key = key ? *key : 0, .is_queued = true, .query = list_query_copy(query)};
    picks->verb = verb;
}

static void
group_picks_ask(struct app *app, struct group_picks *picks, struct group_pick *pick)
{
    struct request *request = request_create(REQUEST_COLLECT);
    request->list = pick->query;
    pick->query = (struct list_query){0}; // the request's now
    picks->number = app_send(app, request);
}

void
group_picks_start(struct app *app, struct group_picks *picks)
{
    struct group_pick *pick = next_waiting(picks);
    if (pick)
        group_picks_ask(app, picks, pick);
}

bool
group_picks_is_busy(const struct group_picks *picks)
{
    return picks->number != 0;
}

bool
group_picks_cancel(struct app *app, struct group_picks *picks)
{
    if (!picks->number)
        return false;
    app_cancel(app, picks->number);
    picks->number = 0;
    drop_loose(picks, true);
    app_say(app, SAY_INFO, MSG_SELECTING_STOPPED);
    return true;
}

void
group_picks_check(struct app *app, struct group_picks *picks)
{
    const struct selection *selection = app_selection(app);
    for (size_t i = 0; i < picks->count; i++) {
        struct group_pick *pick = &picks->picks[i];
        pick->is_whole = pick->count > 0 && pick->count <= selection->count;
        for (size_t at = 0; at < pick->count && pick->is_whole; at++)
            pick->is_whole = selection_has(selection, pick->ids[at]);
    }
}

// Ids of all picks that are queued, for one step of the selection; the caller frees them.
static int64_t *
take_queued(struct group_picks *picks, size_t *count)
{
    size_t room = 0;
    for (size_t i = 0; i < picks->count; i++)
        room += picks->picks[i].is_queued ? picks->picks[i].count : 0;
    int64_t *ids = alloc_array(room ? room : 1, sizeof *ids);
    *count = 0;
    for (size_t i = 0; i < picks->count; i++) {
        struct group_pick *pick = &picks->picks[i];
        if (pick->is_queued && pick->count)
            memcpy(ids + *count, pick->ids, pick->count * sizeof *ids);
        *count += pick->is_queued ? pick->count : 0;
        pick->is_queued = false;
    }
    return ids;
}

static void
group_picks_apply(struct app *app, struct group_picks *picks)
{
    struct selection *selection = app_selection(app);
    size_t count;
    int64_t *ids = take_queued(picks, &count);
    int64_t before = (int64_t)selection->count;
    if (picks->verb == PICK_ADD)
        selection_add(selection, ids, count);
    else if (picks->verb == PICK_REMOVE)
        selection_remove(selection, ids, count);
    else
        selection_invert(selection, ids, count);
    free(ids);

    char changed[TEXT_SHORT];
    int64_t difference = (int64_t)selection->count - before;
    text_count(difference < 0 ? -difference : difference, changed);
    if (difference < 0)
        app_say(app, SAY_INFO, MSG_UNSELECTED, changed);
    else
        app_say(app, SAY_INFO, MSG_SELECTED_MORE, changed);
    drop_loose(picks, true);
    group_picks_check(app, picks);
}

bool
group_picks_receive(struct app *app, struct group_picks *picks, const struct reply *reply)
{
    if (!picks->number || reply->number != picks->number)
        return false;
    struct group_pick *pick = next_waiting(picks);
    if (reply->kind == REPLY_ERROR || !pick) {
        picks->number = 0;
        drop_loose(picks, true);
        app_say_err(app, &reply->err);
        return true;
    }
    if (reply->list.is_new_available)
        return true; // later than the collected ids
    if (reply->list.is_first)
        pick->count = 0;
    for (size_t i = 0; i < reply->list.count; i++) {
        pick->ids = alloc_grow(pick->ids, pick->count, &pick->capacity, sizeof *pick->ids);
        pick->ids[pick->count++] = reply->list.ids[i];
    }
    if (!reply->is_last)
        return true;
    pick->is_done = true;
    picks->number = 0;
    group_picks_start(app, picks);
    if (!picks->number)
        group_picks_apply(app, picks);
    return true;
}

bool
group_picks_has(const struct group_picks *picks, uint64_t key)
{
    const struct group_pick *pick = find(picks, key);
    return pick && pick->is_whole;
}

void
group_picks_release(struct group_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++)
        release_pick(&picks->picks[i]);
    free(picks->picks);
    *picks = (struct group_picks){0};
}
