// Counts the types, topics, sources and categories of the events in a list.
#include "backend/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/intern.h"

enum { FACETS_A_FIELD = 8 };

static const struct facet_field {
    const char *name;
    size_t at; // of a struct bytes in struct event; 0: the category
} facet_fields[] = {{"type", offsetof(struct event, event_type)},
                    {"topic", offsetof(struct event, topic)},
                    {"category", 0},
                    {"source", offsetof(struct event, source_table)}};
enum { FACET_FIELDS = sizeof facet_fields / sizeof *facet_fields };

struct facet_counts {
    struct intern words[FACET_FIELDS];
    int64_t *counts[FACET_FIELDS]; // by number of the word
};

static struct bytes
facet_value(const struct event *event, const struct facet_field *field)
{
    struct bytes value = bytes_of(category_name(event->category));
    if (field->at)
        memcpy(&value, (const char *)event + field->at, sizeof value);
    return value;
}

static int
by_frequency(const void *left, const void *right)
{
    int64_t a = ((const struct facet *)left)->count;
    int64_t b = ((const struct facet *)right)->count;
    return (a < b) - (a > b);
}

// Appends the most frequent values of one field.
static void
add_facets(struct reply *reply, const struct intern *words, const int64_t *counts, const char *field)
{
    struct facet *all = alloc_array((size_t)WORDS_OTHER + 1, sizeof *all);
    size_t count = 0;
    for (uint32_t number = 0; number <= WORDS_OTHER; number++) {
        if (counts[number] == 0)
            continue;
        const char *value = intern_text(words, (uint16_t)number);
        all[count] = (struct facet){.field = field, .value = value, .count = counts[number]};
        count++;
    }
    if (count)
        qsort(all, count, sizeof *all, by_frequency);
    for (size_t i = 0; i < count && i < FACETS_A_FIELD; i++) {
        struct facet *facet = &reply->facets.list[reply->facets.count++];
        *facet = all[i];
        facet->value = arena_text(&reply->arena, bytes_of(all[i].value));
    }
    free(all);
}

void
reader_facets_request(struct reader *reader, const struct request *request)
{
    const struct backlog *rows = reader_rows_known(reader);
    struct reply *reply = reply_create(REPLY_FACETS, request->number);
    struct facet_counts counting = {0};
    for (size_t f = 0; f < FACET_FIELDS; f++)
        counting.counts[f] = alloc_array((size_t)WORDS_OTHER + 1, sizeof **counting.counts);
    size_t hint = 0;
    for (size_t i = 0; i < request->id_count; i++) {
        struct event event;
        if (!rows || !backlog_event(rows, request->ids[i], &hint, &event)) {
            reply->facets.uncounted++;
            continue;
        }
        for (size_t f = 0; f < FACET_FIELDS; f++)
            counting.counts[f][intern_number(&counting.words[f], facet_value(&event, &facet_fields[f]))]++;
    }
    reply->facets.list =
        arena_array(&reply->arena, FACET_FIELDS * FACETS_A_FIELD, sizeof *reply->facets.list);
    for (size_t f = 0; f < FACET_FIELDS; f++) {
        add_facets(reply, &counting.words[f], counting.counts[f], facet_fields[f].name);
        free(counting.counts[f]);
        intern_release(&counting.words[f]);
    }
    reply->is_last = true;
    session_reply(&reader->session, reply);
}
