// Limits of a search: its memory, the time before it gives way, and the use of a trigram index.
#include "world.h"

#include "base/alloc.h"
#include "core/filter/filter.h"
#include "search/search.h"
#include "search/prefilter.h"
#include "search/text_cache.h"
#include "store/events/texts.h"

enum { LONG_TEXTS = 6000, LONG_BYTES = 3000 };

struct bench {
    struct world world;
    int64_t *ids; // highest first
    size_t count;
};

static void
begin(struct bench *bench, int events)
{
    *bench = (struct bench){0};
    world_make_with_rules(&bench->world, events);
    bench->ids = alloc_array((size_t)events, sizeof *bench->ids);
    for (int i = 0; i < events; i++)
        bench->ids[bench->count++] = events - i;
}

static void
end(struct bench *bench)
{
    free(bench->ids);
    world_end(&bench->world);
}

// Texts that do not compress, twenty times the limit: memory exceeds the limit by one page at most, and
// events whose texts are not in memory are found all the same.
static void
memory_stays_within_the_limit(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 20, PAGE = 3 << 20 };
    struct bench bench;
    begin(&bench, LONG_TEXTS);
    test_sql(
        bench.world.admin,
        "UPDATE public.dlq_events SET error_message = (SELECT string_agg(md5(random()::text || g || id), '')"
        " FROM generate_series(1, %d) AS g) || CASE WHEN id = 7 THEN 'needle' ELSE '' END",
        LONG_BYTES / 32);
    const struct store_settings *const settings[] = {NULL, &bench.world.settings};
    for (int i = 0; i < 2; i++) {
        struct text_cache *cache = text_cache_create(LIMIT, settings[i]);
        struct filter *filter = make_filter("needle");
        struct search *search = search_create(
            &(struct search_query){.filter = filter, .ids = bench.ids, .count = bench.count, .cache = cache});
        struct search_found found = {0};
        while (!search_is_over(search)) {
            assert_works(search_step(search, bench.world.store, clock_mono() + 10000, &found, &err));
            assert_true(text_cache_memory(cache) < LIMIT + PAGE);
        }
        assert_true(text_cache_is_full(cache));
        assert_int_equal(found.count, 1);
        assert_true(found.ids && found.ids[0] == 7);
        free(found.ids);
        search_destroy(search);
        filter_destroy(filter);
        text_cache_destroy(cache);
    }
    end(&bench);
}

static bool
is_typing(void *context)
{
    (*(int *)context)++;
    return true;
}

// A person types on: a long search gives way after a small part of its work, whatever its pattern costs, and
// loses nothing by it.
static void
a_search_gives_way(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    struct bench bench;
    begin(&bench, EVENTS);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET error_message = repeat('a', 30000) || id");
    static const char *const patterns[] = {"zzz", "[b-z]{3}", "(a+)+$"};
    struct text_cache *cache = text_cache_create(64 << 20, NULL);
    for (bool is_over = false; !is_over;)
        assert_works(text_cache_fill(cache, bench.world.store, EVENT_TEXT_ERROR, 0, &is_over, &err));
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        int asked = 0;
        struct filter *filter = make_filter(patterns[i]);
        struct search *search = search_create(&(struct search_query){.filter = filter,
                                                                     .ids = bench.ids,
                                                                     .count = bench.count,
                                                                     .cache = cache,
                                                                     .is_wanted_elsewhere = is_typing,
                                                                     .context = &asked});
        struct search_found found = {0};
        size_t most = 0;
        for (size_t at = 0, steps = 0; !search_is_over(search) && steps < 40; steps++) {
            assert_works(
                search_step(search, bench.world.store, clock_mono() + 3600 * US_PER_SECOND, &found, &err));
            most = search_at(search) - at > most ? search_at(search) - at : most;
            at = search_at(search);
        }
        if (most > EVENTS / 10)
            fail_msg("%s: %zu events in one piece", patterns[i], most);
        assert_true(asked > 0);
        free(found.ids);
        search_destroy(search);
        filter_destroy(filter);
    }
    text_cache_destroy(cache);
    end(&bench);
}

static struct search *
search_with(const struct bench *bench, struct filter *filter, struct text_cache *cache)
{
    return search_create(&(struct search_query){
        .filter = filter, .ids = bench->ids, .count = bench->count, .cache = cache, .seek = SEEK_ALL_FIRST});
}

static size_t
found_with(struct bench *bench, struct filter *filter, struct text_cache *cache)
{
    struct search *search = search_with(bench, filter, cache);
    struct search_found found = {0};
    while (!search_is_over(search))
        assert_works(search_step(search, bench->world.store, clock_mono() + 10000, &found, &err));
    search_destroy(search);
    free(found.ids);
    return found.count;
}

// Searches ask the server while the column is not in memory, which it is to be from then on. Literals that
// the server refuses are found all the same.
static void
the_server_is_asked_until_the_column_is_filled(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    struct bench bench;
    begin(&bench, EVENTS);
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET error_message = 'a needle ' || id WHERE id %% 100 = 7");
    struct filter *filter = make_filter("needle");
    struct text_cache *cache = text_cache_create(64 << 20, &bench.world.settings);
    const struct column *column = text_cache_column(cache, EVENT_TEXT_ERROR);
    assert_false(text_cache_wants(cache, EVENT_TEXT_PAYLOAD, EVENTS));
    assert_int_equal(found_with(&bench, filter, cache), EVENTS / 100);
    assert_int_equal(found_with(&bench, filter, cache), EVENTS / 100);
    assert_int_equal(column_count(column), 0);
    bool is_over;
    while (text_cache_wants(cache, EVENT_TEXT_ERROR, EVENTS))
        assert_works(text_cache_fill(cache, bench.world.store, EVENT_TEXT_ERROR, 0, &is_over, &err));
    assert_int_equal(column_count(column), EVENTS);
    assert_int_equal(found_with(&bench, filter, cache), EVENTS / 100);
    text_cache_destroy(cache);

    struct filter *in_payload = make_filter("payload:needle");
    cache = text_cache_create(64 << 20, &bench.world.settings);
    assert_int_equal(found_with(&bench, in_payload, cache), 0);
    assert_true(text_cache_wants(cache, EVENT_TEXT_PAYLOAD, EVENTS));
    assert_false(text_cache_wants(cache, EVENT_TEXT_STACK, EVENTS));
    text_cache_destroy(cache);
    filter_destroy(in_payload);

    struct store_settings nowhere = bench.world.settings;
    nowhere.conninfo = "host=/nowhere port=1";
    cache = text_cache_create(64 << 20, &nowhere);
    assert_int_equal(found_with(&bench, filter, cache), EVENTS / 100);
    text_cache_destroy(cache);
    filter_destroy(filter);
    end(&bench);
}

// The server is also asked for an inverted term, and for one of several: the other texts are read for the
// rest.
static void
one_of_several_terms_is_sought(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    struct bench bench;
    begin(&bench, EVENTS);
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET error_message = 'a needle ' || id WHERE id %% 100 = 7");
    static const struct {
        const char *text;
        size_t count;
    } rows[] = {{"!needle", EVENTS - EVENTS / 100},
                {"/needle \\d+7/ payload:.", EVENTS / 100 - 1},
                {"payload:. needle !stack:zzz", EVENTS / 100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct filter *filter = make_filter(rows[i].text);
        struct text_cache *cache = text_cache_create(64 << 20, &bench.world.settings);
        size_t found = found_with(&bench, filter, cache);
        if (found != rows[i].count)
            fail_msg("%s: %zu found", rows[i].text, found);
        assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_ERROR)), 0);
        assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_PAYLOAD)), 0);
        text_cache_destroy(cache);
        filter_destroy(filter);
    }
    end(&bench);
}

// A connection breaks between two ranges: after the reconnect the search continues at its place.
static void
a_broken_range_is_read_again(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    struct bench bench;
    begin(&bench, EVENTS);
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET error_message = 'a needle ' || id WHERE id %% 100 = 7");
    struct filter *filter = make_filter("needle");
    struct text_cache *cache = text_cache_create(64 << 20, &bench.world.settings);
    struct search *search = search_create(&(struct search_query){
        .filter = filter, .ids = bench.ids, .count = bench.count, .cache = cache, .seek = SEEK_RANGES});
    struct search_found found = {0};
    int broken = 0;
    for (int steps = 0; !search_is_over(search); steps++) {
        if (steps % 3 == 1)
            test_sql(bench.world.admin, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE"
                                        " datname = current_database() AND pid <> pg_backend_pid()");
        struct err failure = {0};
        if (search_step(search, bench.world.store, clock_mono(), &found, &failure))
            continue;
        assert_int_equal(failure.kind, ERR_UNREACHABLE);
        broken++;
        assert_works(store_reconnect(bench.world.store, &err));
    }
    assert_true(broken > 0);
    assert_int_equal(found.count, EVENTS / 100);
    search_destroy(search);
    free(found.ids);
    text_cache_destroy(cache);
    filter_destroy(filter);
    end(&bench);
}

// A person who types on does not wait for the server, and the server stops its pass.
static void
a_pass_of_the_server_is_left_at_once(void **state)
{
    (void)state;
    static const char at_work[] = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state ="
                                  " 'active' AND wait_event_type = 'Lock' AND datname = current_database()";
    struct bench bench;
    begin(&bench, 1000);
    struct filter *filter = make_filter("needle");
    struct text_cache *cache = text_cache_create(64 << 20, &bench.world.settings);
    PGconn *holder = test_connect(bench.world.conninfo);
    test_sql(holder, "BEGIN; LOCK TABLE public.dlq_events IN ACCESS EXCLUSIVE MODE");
    struct search *search = search_with(&bench, filter, cache);
    struct search_found found = {0};
    int64_t until = clock_mono() + 60 * US_PER_SECOND;
    while (test_number(bench.world.admin, at_work) == 0 && clock_mono() < until)
        assert_works(search_step(search, bench.world.store, clock_mono() + 1000, &found, &err));
    assert_int_equal(test_number(bench.world.admin, at_work), 1);
    assert_int_equal(search_at(search), 0);

    int64_t began = clock_mono();
    search_destroy(search);
    int64_t took = clock_mono() - began;
    if (took > 20000)
        fail_msg("it took %lld us", (long long)took);
    while (test_number(bench.world.admin, at_work) > 0 && clock_mono() < until)
        clock_sleep(1000);
    assert_int_equal(test_number(bench.world.admin, at_work), 0);
    test_sql(holder, "ROLLBACK");
    PQfinish(holder);

    // A search that was left counts as typing: the column is read.
    assert_int_equal(found_with(&bench, filter, cache), 0);
    assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_ERROR)), 1000);
    free(found.ids);
    text_cache_destroy(cache);
    filter_destroy(filter);
    end(&bench);
}

static int64_t
uses_of_index(struct bench *bench)
{
    test_sql(bench->world.admin, "SELECT pg_stat_clear_snapshot()");
    return test_number(
        bench->world.admin,
        "SELECT coalesce(sum(idx_scan), 0)::int8 FROM pg_stat_user_indexes WHERE indexrelname ="
        " 'messages_trgm'");
}

// A trigram index of the DBA is used, and gives the same events as a pass over the table.
static void
a_trigram_index_is_used(void **state)
{
    (void)state;
    enum { EVENTS = 20000 };
    struct bench bench;
    begin(&bench, EVENTS);
    if (strcmp(test_state(bench.world.admin, "CREATE EXTENSION pg_trgm"), "") != 0) {
        end(&bench);
        skip();
    }
    test_sql(
        bench.world.admin,
        "UPDATE public.dlq_events SET error_message = 'No_Route 100%% to \\host-' || id WHERE id %% 400 = 0;"
        "UPDATE public.dlq_events SET error_message = 'no_route 100%% to \\host-' || id WHERE id %% 999 = 0;"
        "UPDATE public.dlq_events SET error_message = 'noXroute 100x to host-' || id WHERE id %% 997 = 0;"
        "CREATE INDEX messages_trgm ON public.dlq_events USING gin (error_message gin_trgm_ops);"
        "ANALYZE public.dlq_events");
    static const struct {
        const char *text;
        int64_t count;
    } rows[] = {{"No_Route", 50}, {"no_route 100%", 70}, {"/No_Route 100% to .host-8\\d+/", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct filter *filter = make_filter(rows[i].text);
        struct prefilter prefilter;
        assert_works(prefilter_init(&prefilter, bench.world.store, filter, &err));
        assert_string_equal(prefilter.index, "public.messages_trgm");
        assert_true(prefilter.asks_server);
        struct strbuf words = {0};
        prefilter_explain(&prefilter, &words);
        assert_non_null(strstr(strbuf_text(&words), "by index public.messages_trgm"));
        strbuf_release(&words);

        int64_t uses = uses_of_index(&bench);
        for (int asks = 1; asks >= 0; asks--) {
            struct prefiltered *prefiltered;
            size_t count;
            prefilter.asks_server = asks;
            assert_works(prefilter_run(&prefilter, bench.world.store, filter, 1u << EVENT_PENDING, NULL, NULL,
                                       &prefiltered, &count, &err));
            assert_int_equal(count, rows[i].count);
            free(prefiltered);
        }
        store_close(bench.world.store); // tells the server's counters
        assert_works(store_open(&bench.world.store, &bench.world.settings, &err));
        int64_t until = clock_mono() + 60 * US_PER_SECOND;
        while (uses_of_index(&bench) == uses && clock_mono() < until)
            clock_sleep(50000);
        assert_true(uses_of_index(&bench) > uses);
        prefilter_release(&prefilter);
        filter_destroy(filter);
    }
    end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_stays_within_the_limit),
        cmocka_unit_test(a_search_gives_way),
        cmocka_unit_test(the_server_is_asked_until_the_column_is_filled),
        cmocka_unit_test(one_of_several_terms_is_sought),
        cmocka_unit_test(a_broken_range_is_read_again),
        cmocka_unit_test(a_pass_of_the_server_is_left_at_once),
        cmocka_unit_test(a_trigram_index_is_used),
    };
    return cmocka_run_group_tests_name("search_limits", tests, NULL, NULL);
}
