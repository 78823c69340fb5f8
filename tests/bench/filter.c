// filter [-k] CONNINFO EXPRESSION…: how long a search over all pending events takes, with texts read from the
// table (cold), again, when the column is read where the server had been asked for a literal, and from memory
// (warm): time to the first screenful, to the end, matches, memory of the texts.
// -k: maintains the rollup until snapshots of error messages exist (rollup/maintainer); while a maintainer
// runs, they are read instead of the table. One line an expression, `name=value` pairs in milliseconds and
// MB.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/backlog/backlog.h"
#include "core/category.h"
#include "rollup/maintainer.h"
#include "search/search.h"
#include "store/events/events.h"
#include "store/store.h"
#include "store/rollup/snapshots.h"

enum { PAGE = 5000, SCREENFUL = 50, WARM = 5, LEFT_OUT = 4000 };

struct bench {
    const struct store_settings *settings;
    struct store *store;
    struct backlog *backlog;
    int64_t *ids;
    size_t count;
};

static void
need(bool ok, const struct err *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void
load(struct bench *bench)
{
    struct err err = {0};
    struct event_query query = {
        .fields = EVENT_NARROW | EVENT_GROUP, .statuses = 1u << EVENT_PENDING, .limit = PAGE};
    for (bool is_more = true; is_more;) {
        struct event_page page = {0};
        need(store_events(bench->store, &query, &page, &err), &err);
        backlog_add(bench->backlog, page.events, page.count);
        is_more = page.count == PAGE;
        if (page.count)
            query.before_id = page.events[page.count - 1].id;
        event_page_release(&page);
    }
    backlog_ids(bench->backlog, PIVOT_ERROR, NULL, false, &bench->ids, &bench->count);
}

static struct maintainer *
keep_snapshots(struct bench *bench)
{
    struct err err = {0};
    struct maintainer *maintainer = maintainer_create(bench->settings);
    struct text_snapshots state = {0};
    int64_t began = clock_mono();
    while (!state.is_usable || state.events + LEFT_OUT < (int64_t)bench->count) {
        int64_t wait = maintainer_step(maintainer);
        if (wait == INT64_MAX)
            need(err_set(&err, ERR_USAGE, "the sums cannot be kept here: run redrive migrate"), &err);
        clock_sleep(wait > 100000 ? 100000 : wait);
        need(text_snapshots_state(bench->store, &state, &err), &err);
    }
    fprintf(stderr, "in snapshots after %.1f s\n", (double)(clock_mono() - began) / US_PER_SECOND);
    return maintainer;
}

static void
search(struct bench *bench, struct text_cache *cache, const char *expression, const char *name)
{
    struct err err = {0};
    struct filter *filter;
    struct filter_context context = {.now = clock_now(), .new_after = TIME_ABSENT};
    int64_t began = clock_mono();
    int64_t first = 0, longest = 0;
    need(filter_parse(&filter, bytes_of(expression), &context, &err), &err);
    struct search *search = search_create(&(struct search_query){.filter = filter,
                                                                 .ids = bench->ids,
                                                                 .count = bench->count,
                                                                 .backlog = bench->backlog,
                                                                 .cache = cache});
    struct search_found found = {0};
    while (!search_is_over(search)) {
        int64_t step = clock_mono();
        need(search_step(search, bench->store, step + 10000, &found, &err), &err);
        int64_t now = clock_mono();
        longest = now - step > longest ? now - step : longest;
        if (!first && found.count >= SCREENFUL)
            first = now - began;
    }
    printf("  %s_first_ms=%.1f %s_ms=%.1f %s_longest_step_ms=%.1f", name, (double)first / 1000, name,
           (double)(clock_mono() - began) / 1000, name, (double)longest / 1000);
    printf(" matches=%zu undecided=%" PRId64 " memory_mb=%.1f\n", found.count, found.undecided,
           (double)text_cache_memory(cache) / 1048576);
    struct strbuf how = {0};
    search_explain(search, &how);
    printf("    %s", strbuf_text(&how));
    strbuf_release(&how);
    free(found.ids);
    search_destroy(search);
    filter_destroy(filter);
}

int
main(int argc, char **argv)
{
    struct err err = {0};
    bool keeps = argc > 1 && strcmp(argv[1], "-k") == 0;
    argc -= keeps;
    argv += keeps;
    struct category_rules *rules = category_rules_create(NULL, &err);
    need(rules != NULL, &err);
    const struct store_settings settings = {.conninfo = argc > 1 ? argv[1] : "",
                                            .table = "public.dlq_events",
                                            .program = "bench",
                                            .rules = rules};
    struct bench bench = {.settings = &settings, .backlog = backlog_create()};
    need(store_open(&bench.store, &settings, &err), &err);
    load(&bench);
    struct maintainer *maintainer = keeps ? keep_snapshots(&bench) : NULL;
    for (int i = 2; i < argc; i++) {
        struct text_cache *cache = text_cache_create(1ll << 30, bench.settings);
        printf("%s\n", argv[i]);
        search(&bench, cache, argv[i], "cold");
        search(&bench, cache, argv[i], "again");
        for (int again = 0; again < WARM; again++)
            search(&bench, cache, argv[i], "warm");
        text_cache_destroy(cache);
        if (maintainer)
            (void)maintainer_step(maintainer);
    }
    maintainer_destroy(maintainer);
    free(bench.ids);
    backlog_destroy(bench.backlog);
    store_close(bench.store);
    category_rules_destroy(rules);
    return 0;
}
