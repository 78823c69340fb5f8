// apart CONNINFO FILTER: how long it takes to find what sets the matching events apart from all others: until
// the samples say so, until all are counted, and beside it when every event is read and compared instead. One
// line, `name=value` pairs; a second one says whether both found the same first row.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "core/selection.h"
#include "search/apart.h"
#include "search/choose.h"
#include "store/events/events.h"

enum { PAGE = 2000 };

static void
fail(const struct err *err)
{
    fprintf(stderr, "apart: %s\n", err->text);
    exit(1);
}

static double
seconds_since(int64_t began)
{
    return (double)(clock_mono() - began) / (double)US_PER_SECOND;
}

// What the samples would be if they were all events.
static void
read_everything(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                struct apart_answer *answer)
{
    struct apart *apart = apart_create(0, NULL);
    struct err err = {0};
    size_t at = 0;
    int64_t after = 0;
    for (bool is_more = true; is_more;) {
        struct event_query query = {.fields = APART_NEEDS,
                                    .statuses = 1u << EVENT_PENDING,
                                    .ascending = true,
                                    .has_after = true,
                                    .after_id = after,
                                    .limit = PAGE};
        struct event_page page = {0};
        if (!store_events(store, &query, &page, &err))
            fail(&err);
        for (size_t i = 0; i < page.count; i++) {
            while (at < count && ids[at] < page.events[i].id)
                at++;
            apart_add(apart, &page.events[i], at < count && ids[at] == page.events[i].id);
            after = page.events[i].id;
        }
        is_more = page.count == PAGE;
        event_page_release(&page);
    }
    apart_rank(apart, arena, answer);
    apart_destroy(apart);
}

static void
print_first(const struct apart_answer *answer)
{
    struct strbuf text = {0};
    if (answer->row_count)
        apart_sentence(&answer->rows[0].question, 0, &text);
    printf("%s", strbuf_text(&text));
    strbuf_release(&text);
}

int
main(int argc, char **argv)
{
    struct err err = {0};
    if (argc < 3)
        return 2;
    const struct store_settings settings = {.conninfo = argv[1], .program = "bench"};
    struct store *store = NULL;
    if (!store_open(&store, &settings, &err))
        fail(&err);
    const struct choice choice = {.filter = argv[2], .otherwise = 1u << EVENT_PENDING};
    struct choose_tally tally = {0};
    int64_t *ids = NULL;
    size_t count = 0;
    if (!choose_ids(store, &choice, NULL, NULL, &ids, &count, &tally, &err))
        fail(&err);
    count = ids_normalise(ids, count);

    struct search_apart search = {.sides = {.ids = ids, .id_count = count}};
    struct arena arena = {0};
    struct apart *apart = NULL;
    struct apart_answer answer, whole = {0};
    int64_t here = 0, there = 0;
    int64_t began = clock_mono();
    if (!search_apart_sample(store, &search, &apart, &arena, &answer, &err))
        fail(&err);
    double sampled = seconds_since(began);
    if (!search_apart_count(store, &search, &answer, 0, &here, &there, &err))
        fail(&err);
    double counted = seconds_since(began);
    began = clock_mono();
    bool reads_all = argc > 3;
    if (reads_all)
        read_everything(store, ids, count, &arena, &whole);
    double everything = seconds_since(began);
    printf("apart events=%" PRId64 " here=%" PRId64
           " rows=%zu sample_s=%.3f counted_s=%.3f everything_s=%.2f\n",
           here + there, here, answer.row_count, sampled, counted, everything);
    printf("first sample=\"");
    print_first(&answer);
    printf("\" everything=\"");
    print_first(&whole);
    printf("\"\n");
    apart_destroy(apart);
    arena_release(&arena);
    choose_tally_release(&tally);
    free(ids);
    store_close(store);
    return 0;
}
