// Every source that a search may use gives the same answer, which is PostgreSQL's own on a plain predicate
// (expected.h): for each field, each term and its inversion, and filters of several terms.
#include "expected.h"

#include "base/alloc.h"
#include "core/filter/pattern.h"
#include "search/choose.h"
#include "rollup/maintainer.h"
#include "search/search.h"
#include "search/prefilter.h"
#include "search/text_cache.h"
#include "store/rollup/snapshots.h"
#include "store/rollup/rollup.h"

enum { FILTERS = 40 };

static unsigned seed = 20261121;

static unsigned
chance(unsigned below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % below;
}

static void
compare(const struct expected *expected, const struct expected_filter *asked,
        const struct search_found *found, const char *road)
{
    size_t at = 0;
    int64_t undecided = 0;
    for (size_t i = 0; i < expected->count; i++) {
        enum filter_verdict verdict = expected_says(expected, asked, expected->ids[i]);
        undecided += verdict == FILTER_UNDECIDED;
        bool is_found = at < found->count && found->ids[at] == expected->ids[i];
        if (is_found != (verdict != FILTER_NO))
            fail_msg("%s, %s: event %lld is %d", asked->text, road, (long long)expected->ids[i],
                     (int)verdict);
        at += is_found;
    }
    assert_int_equal(at, found->count);
    assert_int_equal(undecided, found->undecided);
}

// The filter on the whole event.
static void
match_rows(const struct expected *expected, const struct expected_filter *asked)
{
    struct filter *filter = expected_parse(expected, asked->text);
    for (int64_t id = 1; id <= EXPECTED_EVENTS; id++) {
        enum filter_verdict verdict = filter_match(filter, expected_event(expected, id));
        if (verdict != expected_says(expected, asked, id))
            fail_msg("%s, matched: event %lld is %d", asked->text, (long long)id, (int)verdict);
    }
    filter_destroy(filter);
}

// The sources of one search.
struct road {
    const char *name;
    struct text_cache *cache;
    const struct backlog *backlog;
    enum search_seek seek;
    unsigned threads;
};

static void
run_search(struct expected *expected, struct filter *filter, const struct road *road,
           struct search_found *found)
{
    struct search *search = search_create(&(struct search_query){.filter = filter,
                                                                 .ids = expected->ids,
                                                                 .count = expected->count,
                                                                 .backlog = road->backlog,
                                                                 .cache = road->cache,
                                                                 .seek = road->seek,
                                                                 .threads = road->threads});
    for (int steps = 0; !search_is_over(search); steps++) {
        assert_works(search_step(search, expected->store, clock_mono() + 500, found, &err));
        assert_true(steps < 100000);
    }
    search_destroy(search);
}

static void
search(struct expected *expected, const struct expected_filter *asked, const struct road *road)
{
    struct filter *filter = expected_parse(expected, asked->text);
    struct search_found found = {0};
    run_search(expected, filter, road, &found);
    compare(expected, asked, &found, road->name);
    free(found.ids);
    filter_destroy(filter);
}

// The server looks for the literals that every match holds.
static void
seek(struct expected *expected, const struct expected_filter *asked, enum search_seek how, bool is_begun,
     const char *name)
{
    struct text_cache *cache = text_cache_create(64 << 20, &expected->settings);
    bool is_over;
    for (unsigned text = 0; is_begun && text < EVENT_TEXT_COUNT; text++)
        assert_works(text_cache_fill(cache, expected->store, (enum event_text)text, 0, &is_over, &err));
    search(expected, asked,
           &(struct road){.name = name, .cache = cache, .backlog = expected->backlog, .seek = how});
    text_cache_destroy(cache);
}

static int
by_id(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// The search of commands: undecided events are counted apart.
static void
choose(struct expected *expected, const struct expected_filter *asked, unsigned statuses, const char *road)
{
    struct choice choice = {.filter = asked->text, .statuses = statuses};
    struct choose_tally tally = {0};
    int64_t *ids;
    size_t count;
    assert_works(choose_ids(expected->store, &choice, NULL, NULL, &ids, &count, &tally, &err));
    if (count)
        qsort(ids, count, sizeof *ids, by_id);
    size_t at = 0;
    size_t undecided = 0;
    for (int64_t id = 1; id <= EXPECTED_EVENTS; id++) {
        enum filter_verdict verdict = statuses >> expected_event(expected, id)->status & 1
                                          ? expected_says(expected, asked, id)
                                          : FILTER_NO;
        bool is_chosen = at < count && ids[at] == id;
        if (is_chosen != (verdict == FILTER_YES))
            fail_msg("%s, %s: event %lld is %d", asked->text, road, (long long)id, (int)verdict);
        at += is_chosen;
        undecided += verdict == FILTER_UNDECIDED;
    }
    assert_int_equal(at, count);
    assert_int_equal(undecided, tally.undecided_count);
    choose_tally_release(&tally);
    free(ids);
}

// The whole column, and only rows with the literals: both, whichever was measured to be quicker.
static void
run_prefilter(struct expected *expected, const struct expected_filter *asked, struct filter *filter,
              const struct prefilter *prefilter, const char *road)
{
    struct prefiltered *prefiltered = NULL;
    size_t count = 0;
    assert_works(prefilter_run(prefilter, expected->store, filter, 1u << EVENT_PENDING, NULL, NULL,
                               &prefiltered, &count, &err));
    bool *is_through = alloc_array(EXPECTED_EVENTS + 1, sizeof *is_through);
    for (size_t i = 0; i < count; i++)
        is_through[prefiltered[i].id] = true;
    for (size_t i = 0; i < expected->count; i++) {
        bool is_found = expected_says(expected, asked, expected->ids[i]) != FILTER_NO;
        bool is_exact = filter_parts(filter) == 1;
        if (is_through[expected->ids[i]] ? is_exact && !is_found : is_found)
            fail_msg("%s, %s: event %lld", asked->text, road, (long long)expected->ids[i]);
    }
    free(is_through);
    free(prefiltered);
}

static void
prefilter_rows(struct expected *expected, const struct expected_filter *asked)
{
    struct filter *filter = expected_parse(expected, asked->text);
    struct prefilter prefilter;
    assert_works(prefilter_init(&prefilter, expected->store, filter, &err));
    prefilter.asks_server = false;
    if (prefilter.is_usable)
        run_prefilter(expected, asked, filter, &prefilter, "column");
    prefilter.asks_server = prefilter.required.len > 0;
    if (prefilter.is_usable && prefilter.asks_server)
        run_prefilter(expected, asked, filter, &prefilter, "server's literal");
    prefilter_release(&prefilter);
    filter_destroy(filter);
}

static void
add_rolled_up(void *context, const struct event *event)
{
    backlog_add(context, event, 1);
}

// Error messages come from snapshots while a maintainer keeps them.
static void
offer_packs(struct expected *expected, bool is_kept)
{
    test_sql(expected->world.admin, "UPDATE redrive.rollup_state SET lease_until = '%s'",
             is_kept ? "infinity" : "-infinity");
}

// The events one by one as the rollup knows them, once their messages are in snapshots.
static struct backlog *
summed_rows(struct expected *expected)
{
    struct maintainer *maintainer = maintainer_create(&expected->settings);
    struct text_snapshots packs = {0};
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND;
         !(maintainer_is_exact(maintainer) && packs.is_usable) && clock_mono() < until;) {
        int64_t wait = maintainer_step(maintainer);
        clock_sleep(wait > 20000 ? 20000 : wait);
        assert_works(text_snapshots_state(expected->store, &packs, &err));
    }
    assert_int_equal(packs.events, expected->count);
    maintainer_destroy(maintainer);
    struct backlog *rows = backlog_create();
    struct rollup_names *names = rollup_names_create();
    struct rollup_page page;
    assert_works(
        rollup_rows(expected->store, names, INT64_MAX, EXPECTED_EVENTS, add_rolled_up, rows, &page, &err));
    rollup_names_destroy(names);
    assert_int_equal(backlog_count(rows), expected->count);
    return rows;
}

struct roads {
    struct expected expected;
    struct text_cache *warm, *small;
    struct backlog *summed;
};

static void
every_road(struct roads *roads, const struct expected_filter *asked, bool is_thorough)
{
    struct expected *expected = &roads->expected;
    // Read ahead on threads, or page by page here.
    struct text_cache *cold = text_cache_create(64 << 20, is_thorough ? &expected->settings : NULL);
    match_rows(expected, asked);
    seek(expected, asked, SEEK_ALL_FIRST, false, "the server's pass");
    if (is_thorough)
        seek(expected, asked, SEEK_ALL_FIRST, true, "the server's pass below what is in memory");
    seek(expected, asked, SEEK_RANGES, false, "the server's ranges");
    struct text_cache *packed = text_cache_create(64 << 20, is_thorough ? &expected->settings : NULL);
    const struct road all[] = {
        {.name = "cold", .cache = cold, .backlog = expected->backlog},
        {.name = "warm", .cache = roads->warm, .backlog = expected->backlog, .threads = 1},
        {.name = "warm, by several threads",
         .cache = roads->warm,
         .backlog = expected->backlog,
         .threads = 3},
        {.name = "without backlog", .cache = roads->warm},
        {.name = "rows of the sums", .cache = roads->warm, .backlog = roads->summed},
        {.name = "little memory", .cache = roads->small, .backlog = roads->summed},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        search(expected, asked, &all[i]);
    if (is_thorough)
        search(expected, asked, &(struct road){.name = "rows"});
    offer_packs(expected, true);
    assert_int_equal(text_cache_in_snapshots(packed, expected->store, EVENT_TEXT_ERROR), expected->count);
    search(expected, asked, &(struct road){.name = "packs", .cache = packed, .backlog = expected->backlog});
    offer_packs(expected, false);
    prefilter_rows(expected, asked);
    choose(expected, asked, 1u << EVENT_PENDING, "chosen");
    if (is_thorough)
        choose(expected, asked, 1u << EVENT_PENDING | 1u << EVENT_RESOLVED | 1u << EVENT_DISCARDED,
               "of any status");
    text_cache_destroy(cold);
    text_cache_destroy(packed);
}

static void
roads_begin(struct roads *roads)
{
    roads->warm = text_cache_create(64 << 20, NULL);
    roads->small = text_cache_create(100000, NULL);
    roads->summed = summed_rows(&roads->expected);
}

static void
roads_end(struct roads *roads)
{
    backlog_destroy(roads->summed);
    text_cache_destroy(roads->warm);
    text_cache_destroy(roads->small);
    expected_end(&roads->expected);
}

static void
every_source_gives_the_same_answer(void **state)
{
    (void)state;
    static struct roads roads;
    expected_begin(&roads.expected);
    roads_begin(&roads);
    for (size_t i = 0; i < roads.expected.terms * 2; i++) {
        struct expected_filter asked = {0};
        expected_add(&asked, i / 2, i % 2);
        every_road(&roads, &asked, i % 8 == 0);
    }
    for (int i = 0; i < FILTERS; i++) {
        struct expected_filter asked = {0};
        for (unsigned many = 2 + chance(2); many; many--)
            expected_add(&asked, chance((unsigned)roads.expected.terms), chance(3) == 0);
        every_road(&roads, &asked, i % 8 == 0);
    }
    roads_end(&roads);
}

// Or, not and brackets; half of the filters are about one column, for which the server can be asked about
// several terms at once.
static void
every_source_gives_the_same_answer_to_what_is_joined(void **state)
{
    (void)state;
    static struct roads roads;
    static const char *const columns[] = {"", "stack:", "payload:", "$", "type:"};
    expected_begin(&roads.expected);
    roads_begin(&roads);
    for (int i = 0; i < FILTERS; i++) {
        struct expected_filter asked = {.join = (enum expected_join)(1 + i % (EXPECTED_JOINS - 1))};
        const char *column = columns[chance(sizeof columns / sizeof *columns)];
        for (size_t many = 2 + chance(2); asked.count < many;) {
            size_t term = chance((unsigned)roads.expected.terms);
            const char *text = expected_term(term);
            bool is_error = strchr("\"/^", text[0]) || strncmp(text, "error:", 6) == 0;
            bool is_about = *column ? strncmp(text, column, strlen(column)) == 0 : is_error;
            if (i % 2 == 0 || is_about)
                expected_add(&asked, term, chance(4) == 0);
        }
        every_road(&roads, &asked, i % 8 == 0);
    }
    roads_end(&roads);
}

// Without the schema redrive only the contract table has payloads and keys.
static void
every_source_gives_the_same_answer_without_records(void **state)
{
    (void)state;
    static struct roads roads;
    expected_begin_alone(&roads.expected);
    roads_begin(&roads);
    for (size_t i = 0; i < roads.expected.terms; i++) {
        struct expected_filter asked = {0};
        expected_add(&asked, i, false);
        if (strncmp(asked.text, "payload:", 8) == 0 || strncmp(asked.text, "key:", 4) == 0)
            every_road(&roads, &asked, i % 4 == 0);
    }
    roads_end(&roads);
}

// In a session that ends at once, so that the server's counters include it.
static void
change(const struct expected *expected, const char *sql)
{
    PGconn *conn = test_connect(expected->world.conninfo);
    test_sql(conn, "%s", sql);
    PQfinish(conn);
}

static size_t
found_by(struct expected *expected, struct text_cache *cache, const char *text, int64_t *id)
{
    struct filter *filter = expected_parse(expected, text);
    struct search_found found = {0};
    run_search(expected, filter, &(struct road){.cache = cache, .backlog = expected->backlog}, &found);
    size_t count = found.count;
    *id = count ? found.ids[0] : 0;
    free(found.ids);
    filter_destroy(filter);
    return count;
}

// Checks until exactly this event is found.
static void
await_event(struct expected *expected, struct text_cache *cache, const char *text, int64_t wanted)
{
    int64_t id = 0;
    size_t count = 0;
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND; clock_mono() < until; clock_sleep(50000)) {
        assert_works(text_cache_check(cache, expected->store, &err));
        count = found_by(expected, cache, text, &id);
        if (count == 1 && id == wanted)
            return;
    }
    fail_msg("%s: %zu found, the first is %lld", text, count, (long long)id);
}

// Searches find a pending row that others changed; the texts of all other events stay in memory.
static void
changes_are_found(struct expected *expected, const struct store_settings *settings)
{
    struct text_cache *cache = text_cache_create(64 << 20, settings);
    int64_t id;
    assert_works(text_cache_check(cache, expected->store, &err));
    assert_int_equal(found_by(expected, cache, "needle", &id), 0);
    assert_int_equal(found_by(expected, cache, "payload:needle", &id), 0);
    uint64_t before = text_cache_generation(cache);
    size_t texts = texts_count(text_cache_column(cache, EVENT_TEXT_ERROR)->texts);

    // Of no text: nothing is forgotten, and no text is new.
    change(
        expected,
        "UPDATE public.dlq_events SET retry_count = 5, last_retry_at = now() WHERE id BETWEEN 500 AND 600");
    change(expected,
           "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id BETWEEN 601 AND 700;"
           "UPDATE public.dlq_events SET status = 'PENDING' WHERE id BETWEEN 601 AND 700 AND id % 11 > 0"
           " AND id % 29 > 0");
    change(expected, "UPDATE public.dlq_events SET error_message = 'a needle' WHERE id = 301");
    await_event(expected, cache, "needle", 301);
    assert_int_equal(text_cache_generation(cache), before);
    assert_int_equal(texts_count(text_cache_column(cache, EVENT_TEXT_ERROR)->texts), texts + 1);

    change(expected, "UPDATE public.dlq_events SET error_message = 'none' WHERE id = 301;"
                     "DELETE FROM public.dlq_events WHERE id = 302;"
                     "INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message)"
                     " VALUES (302, 'e-302', 'again', '{}', 'the same id, another needle')");
    await_event(expected, cache, "needle", 302);
    change(expected,
           "INSERT INTO redrive.revision (dlq_id, no, payload) VALUES (304, 9, '{\"a\": \"needle\"}')");
    await_event(expected, cache, "payload:needle", 304);
    assert_int_equal(text_cache_generation(cache), before);

    change(expected, "UPDATE public.dlq_events SET error_message = 'none' WHERE id = 302;"
                     "DELETE FROM redrive.revision WHERE dlq_id = 304");
    text_cache_destroy(cache);
}

static void
a_changed_row_is_read_again(void **state)
{
    (void)state;
    static struct expected expected;
    expected_begin(&expected);
    changes_are_found(&expected, NULL);
    changes_are_found(&expected, &expected.settings);
    expected_end(&expected);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_source_gives_the_same_answer),
        cmocka_unit_test(every_source_gives_the_same_answer_to_what_is_joined),
        cmocka_unit_test(every_source_gives_the_same_answer_without_records),
        cmocka_unit_test(a_changed_row_is_read_again),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
