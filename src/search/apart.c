#include "search/apart.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/filter/filter.h"
#include "core/selection.h"
#include "store/events/events.h"
#include "store/events/texts.h"

enum {
    TYPES_MOST = 8,
    PAGE = 500,
    SPARSE = 50, // of so many ids that were drawn one is pending: then the pending ones are listed
};
static const uint64_t SEED = 0x9e3779b97f4a7c15;

// A sample on its way.
struct sampling {
    struct store *store;
    const struct search_apart *search;
    struct apart *apart;
    uint64_t chance;
    size_t wanted; // of each side
    size_t there;  // read so far
};

static uint64_t
draw_below(struct sampling *sampling, uint64_t limit)
{
    sampling->chance ^= sampling->chance << 13;
    sampling->chance ^= sampling->chance >> 7;
    sampling->chance ^= sampling->chance << 17;
    return limit ? sampling->chance % limit : 0;
}

static int
compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool
is_here(const struct apart_sides *sides, int64_t id)
{
    return bsearch(&id, sides->ids, sides->id_count, sizeof id, compare_ids) != NULL;
}

// --- reading ---

typedef bool side_fn(const struct sampling *sampling, const struct event *event, bool *is_here);

static bool
on_here(const struct sampling *sampling, const struct event *event, bool *here)
{
    (void)sampling;
    (void)event;
    return *here = true;
}

static bool
on_there(const struct sampling *sampling, const struct event *event, bool *here)
{
    (void)event;
    *here = false;
    return sampling->there < sampling->wanted;
}

static bool
by_moment(const struct sampling *sampling, const struct event *event, bool *here)
{
    *here = event->created_at >= sampling->search->sides.moment;
    return event->created_at != TIME_ABSENT;
}

// Learns from these events, as far as they have a status and a side. Their payloads are in memory a page at a
// time.
static bool
learn(struct sampling *sampling, const int64_t *ids, size_t count, unsigned statuses, side_fn *side,
      struct err *err)
{
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = APART_NEEDS,
                                          .statuses = statuses,
                                          .ids = ids + at,
                                          .id_count = count - at < PAGE ? count - at : PAGE,
                                          .most_bytes = EVENT_PAGE_BYTES,
                                          .takes_unreadable = true};
        struct event_page page = {0};
        if (!store_events(sampling->store, &query, &page, err))
            return false;
        at += event_page_answers(&page, &query);
        for (size_t i = 0; i < page.count; i++) {
            bool here;
            if (!side(sampling, &page.events[i], &here))
                continue;
            sampling->there += !here;
            apart_add(sampling->apart, &page.events[i], here);
        }
        event_page_release(&page);
    }
    return true;
}

// `count` of the ids, ascending; all of them if there are no more. The caller frees.
static int64_t *
draw_ids(struct sampling *sampling, const int64_t *ids, size_t *count, size_t wanted)
{
    int64_t *drawn = alloc_array(wanted + 1, sizeof *drawn);
    size_t all = *count;
    *count = 0;
    // Each has the same chance: as many as are still wanted of those that are left.
    for (size_t i = 0; i < all && *count < wanted; i++)
        if (draw_below(sampling, all - i) < wanted - *count)
            drawn[(*count)++] = ids[i];
    return drawn;
}

// --- what is here ---

static bool
sample_here(struct sampling *sampling, struct err *err)
{
    const struct apart_sides *sides = &sampling->search->sides;
    size_t count = sides->id_count;
    int64_t *ids = draw_ids(sampling, sides->ids, &count, sampling->wanted);
    bool ok = learn(sampling, ids, count, 0, on_here, err);
    free(ids);
    return ok;
}

// --- other pending events ---

struct others {
    struct sampling *sampling;
    int64_t *ids;
    size_t count, capacity;
};

static bool
add_others(void *context, const int64_t *ids, size_t count)
{
    struct others *others = context;
    for (size_t i = 0; i < count; i++) {
        if (is_here(&others->sampling->search->sides, ids[i]))
            continue;
        others->ids = alloc_grow(others->ids, others->count, &others->capacity, sizeof *others->ids);
        others->ids[others->count++] = ids[i];
    }
    return true;
}

static bool
sample_listed(struct sampling *sampling, struct err *err)
{
    struct others others = {.sampling = sampling};
    bool ok = store_pending_ids(sampling->store, add_others, &others, err);
    size_t count = others.count;
    if (ok) {
        int64_t *ids = draw_ids(sampling, others.ids, &count, sampling->wanted - sampling->there);
        ok = learn(sampling, ids, count, 1u << EVENT_PENDING, on_there, err);
        free(ids);
    }
    free(others.ids);
    return ok;
}

// Ids between the bounds that are not here and were not drawn before; fewer where those are rare.
static size_t
draw_between(struct sampling *sampling, int64_t low, int64_t high, int64_t *ids, size_t wanted)
{
    enum { TRIES = 8 };
    size_t count = 0;
    for (size_t i = 0; i < wanted * TRIES && count < wanted; i++) {
        uint64_t range = (uint64_t)high - (uint64_t)low;
        int64_t id = (int64_t)((uint64_t)low + draw_below(sampling, range < UINT64_MAX ? range + 1 : range));
        if (!is_here(&sampling->search->sides, id))
            ids[count++] = id;
    }
    return ids_normalise(ids, count);
}

static bool
sample_others(struct sampling *sampling, struct err *err)
{
    int64_t low, high;
    if (!store_id_bounds(sampling->store, &low, &high, err))
        return false;
    size_t wanted = sampling->wanted + sampling->wanted / 4;
    int64_t *ids = alloc_array(wanted + 1, sizeof *ids);
    size_t drawn = draw_between(sampling, low, high, ids, wanted);
    bool is_small = (uint64_t)high - (uint64_t)low < (uint64_t)wanted * SPARSE;
    bool ok = is_small || learn(sampling, ids, drawn, 1u << EVENT_PENDING, on_there, err);
    // Some of the ids are gaps or closed: as many are drawn again as are missing by that share.
    size_t found = sampling->there;
    if (ok && found < sampling->wanted && found * SPARSE > drawn && drawn > 0) {
        size_t more = (sampling->wanted - found) * drawn / found;
        free(ids);
        ids = alloc_array(more + 1, sizeof *ids);
        drawn = draw_between(sampling, low, high, ids, more);
        ok = learn(sampling, ids, drawn, 1u << EVENT_PENDING, on_there, err);
    }
    free(ids);
    // Half of what was wanted says as much; below that all of them are worth a listing.
    return ok && (sampling->there * 2 >= sampling->wanted || sample_listed(sampling, err));
}

// --- resolved events of the same types ---

// The most frequent types of these ids, from a first page of them.
static bool
find_types(struct sampling *sampling, struct search_apart *search, struct err *err)
{
    size_t count = search->sides.id_count;
    int64_t *ids = draw_ids(sampling, search->sides.ids, &count, PAGE);
    const struct event_query query = {.fields = EVENT_COUNTED, .ids = ids, .id_count = count};
    struct event_page page = {0};
    struct bytes *types = arena_array(&search->arena, TYPES_MOST, sizeof *types);
    bool ok = count == 0 || store_events(sampling->store, &query, &page, err);
    size_t known = 0;
    for (size_t i = 0; ok && i < page.count && known < TYPES_MOST; i++) {
        size_t at = 0;
        while (at < known && !bytes_equal(types[at], page.events[i].event_type))
            at++;
        if (at == known && bytes_present(page.events[i].event_type))
            types[known++] = arena_copy(&search->arena, page.events[i].event_type);
    }
    search->sides.types = types;
    search->sides.type_count = known;
    event_page_release(&page);
    free(ids);
    return ok;
}

static bool
sample_resolved(struct sampling *sampling, struct err *err)
{
    const struct apart_sides *sides = &sampling->search->sides;
    for (size_t i = 0; i < sides->type_count; i++) {
        int64_t *ids = NULL;
        size_t count;
        bool ok = store_ids_of_type(sampling->store, sides->types[i],
                                    sampling->wanted / sides->type_count + 1, &ids, &count, err);
        if (ok && count > 0)
            (void)ids_normalise(ids, count);
        if (ok)
            ok = learn(sampling, ids, count, 1u << EVENT_RESOLVED, on_there, err);
        free(ids);
        if (!ok)
            return false;
    }
    return true;
}

// --- the same events before a moment ---

// An hour ago, where enough events lie on both sides of that; else the middle.
static int64_t
choose_moment(const struct event_page *page, int64_t now)
{
    const int64_t HOUR = 3600 * US_PER_SECOND;
    int64_t *times = alloc_array(page->count + 1, sizeof *times);
    size_t count = 0, late = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (page->events[i].created_at == TIME_ABSENT)
            continue;
        times[count++] = page->events[i].created_at;
        late += page->events[i].created_at >= now - HOUR;
    }
    int64_t moment = now - HOUR;
    if (count > 0 && (late * 10 < count || (count - late) * 10 < count)) {
        qsort(times, count, sizeof *times, compare_ids);
        moment = times[count / 2];
    }
    free(times);
    return moment;
}

static bool
find_moment(struct sampling *sampling, struct search_apart *search, struct err *err)
{
    size_t count = search->sides.id_count;
    int64_t *ids = draw_ids(sampling, search->sides.ids, &count, PAGE);
    const struct event_query query = {.fields = EVENT_COUNTED, .ids = ids, .id_count = count};
    struct event_page page = {0};
    bool ok = count == 0 || store_events(sampling->store, &query, &page, err);
    if (ok)
        search->sides.moment = choose_moment(&page, clock_now());
    event_page_release(&page);
    free(ids);
    return ok;
}

static bool
sample_by_moment(struct sampling *sampling, struct err *err)
{
    const struct apart_sides *sides = &sampling->search->sides;
    size_t count = sides->id_count;
    int64_t *ids = draw_ids(sampling, sides->ids, &count, sampling->wanted * 2);
    bool ok = learn(sampling, ids, count, 0, by_moment, err);
    free(ids);
    return ok;
}

static bool
is_of_types(const struct sampling *sampling, const struct event *event, bool *here)
{
    const struct apart_sides *sides = &sampling->search->sides;
    *here = false;
    for (size_t i = 0; i < sides->type_count; i++)
        if (bytes_equal(sides->types[i], event->event_type))
            return true;
    return false;
}

// --- both ---

static bool
sample(struct sampling *sampling, struct search_apart *search, struct err *err)
{
    switch (search->sides.against) {
    case APART_OTHERS:
        return sample_here(sampling, err) && sample_others(sampling, err);
    case APART_RESOLVED:
        return find_types(sampling, search, err) && sample_here(sampling, err) &&
               sample_resolved(sampling, err);
    case APART_EARLIER:
        return (search->sides.moment || find_moment(sampling, search, err)) &&
               sample_by_moment(sampling, err);
    }
    return false;
}

bool
search_apart_sample(struct store *store, struct search_apart *search, struct apart **apart,
                    struct arena *arena, struct apart_answer *answer, struct err *err)
{
    // When the other side is older or was resolved, its time of creation says nothing new.
    unsigned leaves_out =
        search->leaves_out | (search->sides.against == APART_OTHERS ? 0 : 1u << APART_CREATED);
    *apart = apart_create(leaves_out, search->rules);
    struct sampling sampling = {.store = store,
                                .search = search,
                                .apart = *apart,
                                .chance = SEED,
                                .wanted = search->sample ? search->sample : APART_SAMPLE};
    *answer = (struct apart_answer){0};
    if (!sample(&sampling, search, err)) {
        apart_destroy(*apart);
        *apart = NULL;
        return false;
    }
    apart_rank(*apart, arena, answer);
    return true;
}

unsigned
search_apart_defined(const char *filter)
{
    static const struct {
        const char *field;
        enum apart_what what;
    } fields[] = {{"type", APART_TYPE},           {"source", APART_SOURCE},   {"topic", APART_TOPIC},
                  {"partition", APART_PARTITION}, {"retries", APART_RETRIES}, {"age", APART_CREATED},
                  {"created", APART_CREATED},     {"key", APART_KEY},         {"stack", APART_FRAME}};
    struct filter *read = NULL;
    unsigned defined = 0;
    if (!filter ||
        !filter_parse(&read, bytes_of(filter), &(struct filter_context){.new_after = TIME_ABSENT}, NULL))
        return 0;
    for (size_t i = 0; i < filter_terms(read); i++)
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            if (strcmp(filter_term_name(read, i), fields[f].field) == 0)
                defined |= 1u << fields[f].what;
    filter_destroy(read);
    return defined;
}

void
search_apart_release(struct search_apart *search)
{
    arena_release(&search->arena);
}

// --- counts ---

// The corrected events of both sides are few: they are read.
static bool
count_corrected(struct store *store, const struct search_apart *search, const struct apart_counts *counts,
                struct apart *apart, struct err *err)
{
    struct sampling sampling = {.store = store, .search = search, .apart = apart, .wanted = SIZE_MAX};
    for (size_t at = 0; at < counts->corrected_count; at += PAGE) {
        size_t count = counts->corrected_count - at < PAGE ? counts->corrected_count - at : PAGE;
        int64_t *here = alloc_array(count + 1, sizeof *here), *there = alloc_array(count + 1, sizeof *there);
        size_t heres = 0, theres = 0;
        for (size_t i = 0; i < count; i++) {
            int64_t id = counts->corrected[at + i];
            if (is_here(&search->sides, id))
                here[heres++] = id;
            else
                there[theres++] = id;
        }
        bool by_time = search->sides.against == APART_EARLIER;
        bool ok = learn(&sampling, here, heres, 0, by_time ? by_moment : on_here, err);
        if (ok && search->sides.against == APART_OTHERS)
            ok = learn(&sampling, there, theres, 1u << EVENT_PENDING, on_there, err);
        if (ok && search->sides.against == APART_RESOLVED)
            ok = learn(&sampling, there, theres, 1u << EVENT_RESOLVED, is_of_types, err);
        free(here);
        free(there);
        if (!ok)
            return false;
    }
    return true;
}

bool
search_apart_count(struct store *store, const struct search_apart *search, struct apart_answer *answer,
                   size_t from, int64_t *here, int64_t *there, struct err *err)
{
    const struct apart_question *questions[APART_COUNTED];
    size_t count = 0;
    while (count < APART_COUNTED && from + count < answer->row_count) {
        questions[count] = &answer->rows[from + count].question;
        count++;
    }
    struct apart_counts counts;
    if (!store_apart_counts(store, &search->sides, questions, count, &counts, err))
        return false;
    struct apart *apart = apart_create(0, search->rules);
    bool ok = count_corrected(store, search, &counts, apart, err);
    for (size_t i = 0; ok && i < count; i++) {
        struct apart_row *row = &answer->rows[from + i];
        uint32_t corrected_here, corrected_there;
        apart_count(apart, questions[i], &corrected_here, &corrected_there);
        row->is_exact = counts.rows[i].is_counted;
        row->all_here = counts.rows[i].here + corrected_here;
        row->all_there = counts.rows[i].there + corrected_there;
    }
    uint32_t more_here = 0, more_there = 0;
    apart_sizes(apart, &more_here, &more_there);
    *here = counts.all_here + more_here;
    *there = counts.all_there + more_there;
    apart_destroy(apart);
    apart_counts_release(&counts);
    return ok;
}
