#include "correct/shapes.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "store/events/events.h"

// --- one type ---

// Leaves out ids before a payload is read: those of the group that is corrected may be large.
static bool
choose_sample(struct store *store, int64_t *ids, size_t *count, shape_skips_fn *skips, const void *context,
              struct err *err)
{
    struct event_page page = {0};
    const struct event_query query = {
        .fields = EVENT_NARROW | EVENT_GROUP, .ids = ids, .id_count = *count, .limit = *count};
    bool ok = store_events(store, &query, &page, err);
    *count = 0;
    for (size_t i = 0; i < page.count; i++)
        if (!skips(context, &page.events[i]))
            ids[(*count)++] = page.events[i].id;
    event_page_release(&page);
    return ok;
}

bool
shape_learn(struct store *store, struct bytes type, shape_skips_fn *skips, const void *context,
            struct shape **shape, struct err *err)
{
    struct event_page page = {0};
    int64_t *ids = NULL;
    size_t count = 0;
    bool ok = store_ids_of_type(store, type, SHAPE_SAMPLE, &ids, &count, err);
    if (ok && count > 0)
        ok = choose_sample(store, ids, &count, skips, context, err);
    const struct event_query query = {.fields = EVENT_PAYLOAD,
                                      .ids = ids,
                                      .id_count = count,
                                      .limit = count,
                                      .most_bytes = SHAPE_SAMPLE_BYTES,
                                      .takes_unreadable = true};
    if (ok && count > 0)
        ok = store_events(store, &query, &page, err);
    if (ok) {
        *shape = shape_create();
        for (size_t i = 0; i < page.count; i++)
            (void)shape_add(*shape, event_payload_shown(&page.events[i]));
    }
    event_page_release(&page);
    free(ids);
    return ok;
}

// --- the types of a selection ---

struct typed_shape {
    char *type;
    size_t len;
    struct shape *shape;
};

struct shapes {
    const int64_t *ids;
    size_t id_count;
    struct typed_shape known[SHAPES_KEPT];
    size_t count;
};

struct shapes *
shapes_create(const int64_t *ids, size_t count)
{
    struct shapes *shapes = alloc_bytes(sizeof *shapes);
    *shapes = (struct shapes){.ids = ids, .id_count = count};
    return shapes;
}

void
shapes_destroy(struct shapes *shapes)
{
    if (!shapes)
        return;
    for (size_t i = 0; i < shapes->count; i++) {
        free(shapes->known[i].type);
        shape_destroy(shapes->known[i].shape);
    }
    free(shapes);
}

static int
compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool
is_selected(const void *context, const struct event *event)
{
    const struct shapes *shapes = context;
    return shapes->id_count > 0 &&
           bsearch(&event->id, shapes->ids, shapes->id_count, sizeof event->id, compare_ids) != NULL;
}

static const struct typed_shape *
find_known(const struct shapes *shapes, struct bytes type)
{
    for (size_t i = 0; i < shapes->count; i++)
        if (bytes_equal(type, (struct bytes){shapes->known[i].type, shapes->known[i].len}))
            return &shapes->known[i];
    return NULL;
}

static bool
find_type(struct shapes *shapes, struct store *store, struct bytes type, const struct shape **of,
          struct err *err)
{
    const struct typed_shape *known = find_known(shapes, type);
    if (!known && shapes->count < SHAPES_KEPT) {
        struct shape *shape;
        if (!shape_learn(store, type, is_selected, shapes, &shape, err))
            return false;
        struct typed_shape *added = &shapes->known[shapes->count++];
        *added = (struct typed_shape){.type = strndup(type.data, type.len), .len = type.len, .shape = shape};
        known = added;
    }
    *of = known && shape_events(known->shape) >= SHAPE_LEAST ? known->shape : NULL;
    return true;
}

bool
shapes_find(struct shapes *shapes, struct store *store, const struct event *events, size_t count,
            const struct shape **of, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        of[i] = NULL;
        if (bytes_present(events[i].event_type) &&
            !find_type(shapes, store, events[i].event_type, &of[i], err))
            return false;
    }
    return true;
}
