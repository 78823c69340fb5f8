#include "publish/sent_places.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

struct stored {
    const char *topic;
    const char *consumer;
    struct delivery_place place;
    int64_t id;
};

static int
compare_rows(const struct stored *x, const struct stored *y)
{
    int order = strcmp(x->topic, y->topic);
    if (order == 0)
        order = (x->place.partition > y->place.partition) - (x->place.partition < y->place.partition);
    return order ? order : strcmp(x->consumer, y->consumer);
}

static int
compare_stored(const void *a, const void *b)
{
    const struct stored *x = a, *y = b;
    int order = compare_rows(x, y);
    return order ? order : (x->place.offset > y->place.offset) - (x->place.offset < y->place.offset);
}

static size_t
collect(const struct flight *flight, struct stored *stored)
{
    size_t count = 0;
    for (size_t i = 0; i < flight->claim.count; i++)
        if (flight->deliveries.of_item[i] == 1 + REPORT_DELIVERED && flight->deliveries.places[i].offset >= 0)
            stored[count++] = (struct stored){.topic = flight->plans[i].topic,
                                              .consumer = flight->plans[i].consumer,
                                              .place = flight->deliveries.places[i],
                                              .id = flight->claim.items[i].event_id};
    qsort(stored, count, sizeof *stored, compare_stored);
    return count;
}

static struct sent_row *
next_row(struct sent_places *places, const struct stored *first)
{
    struct sent_row *row = &places->rows[places->row_count++];
    *row = (struct sent_row){
        .topic = arena_text(&places->arena, bytes_of(first->topic)),
        .consumer = arena_text(&places->arena, bytes_of(first->consumer)),
        .partition = first->place.partition,
        .low = first->place.offset,
    };
    return row;
}

void
sent_places_make(struct sent_places *places, const struct flight *flight)
{
    *places = (struct sent_places){0};
    struct stored *stored = alloc_array(flight->claim.count, sizeof *stored);
    size_t count = collect(flight, stored), rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += i == 0 || compare_rows(&stored[i - 1], &stored[i]) != 0;
    places->rows = arena_array(&places->arena, rows, sizeof *places->rows);
    places->ids = arena_array(&places->arena, count, sizeof *places->ids);
    places->offsets = arena_array(&places->arena, count, sizeof *places->offsets);

    struct sent_row *row = NULL;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_rows(&stored[i - 1], &stored[i]) != 0)
            row = next_row(places, &stored[i]);
        if (stored[i].place.offset - row->low > INT32_MAX)
            continue;
        places->ids[places->count] = stored[i].id;
        places->offsets[places->count++] = (int32_t)(stored[i].place.offset - row->low);
        row->count++;
    }
    free(stored);
}
