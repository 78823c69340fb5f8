// Every road of a search gives the answer of filter_match on the whole event: random filters over random
// rows.
#include "world.h"

#include "core/filter.h"
#include "engine/choose.h"
#include "engine/search.h"
#include "engine/text_cache.h"

enum { EVENTS = 3000, FILTERS = 40 };

// Messages, stacks and payloads that repeat, differ in case, are absent, long, of other scripts, hard to
// match.
static const char rows_sql[] =
    "INSERT INTO public.dlq_events (event_id, event_type, source_table, event_payload, error_message, "
    "stack_trace,"
    " retry_count, status, created_at, kafka_topic) SELECT 'e-' || i,"
    " (ARRAY['order.created', 'order.updated', 'payment.failed'])[1 + i %% 3],"
    " CASE WHEN i %% 5 > 0 THEN 'orders' END,"
    " jsonb_build_object('amount', i %% 97, 'who', CASE WHEN i %% 4 = 0 THEN 'Ana' ELSE 'rui' END, 'note',"
    " repeat('x', i %% 50)),"
    " CASE i %% 8 WHEN 0 THEN 'Timeout after ' || i || ' ms' WHEN 1 THEN 'connect to host-' || i %% 13 || ': "
    "TIMEOUT'"
    " WHEN 2 THEN 'duplicate key value' WHEN 3 THEN U&'\\017Focket closed' WHEN 4 THEN 'Socket closed by "
    "peer'"
    " WHEN 5 THEN repeat('a', 40 + i %% 3000) || '!' WHEN 6 THEN '' ELSE 'pay-' || i || ':443 refused' END,"
    " CASE WHEN i %% 3 > 0 THEN 'at com.acme.Gateway.charge(Gateway.java:' || i %% 40 || ')' END,"
    " i %% 6, CASE WHEN i %% 11 = 0 THEN 'RESOLVED' ELSE 'PENDING' END,"
    " localtimestamp - (i * 37 %% 3001) * interval '7 s', 'orders.events'"
    " FROM generate_series(1, %d) AS i";

static const char *const terms[] = {
    "timeout",
    "Timeout",
    "socket",
    "!closed",
    "t[io]meout",
    "time.*\\d{3}",
    "^connect",
    "(a+)+[bc]$",
    "!(a+)+[bc]$",
    "pay-\\d+:443",
    "error:=\"\"",
    "stack:gateway",
    "!stack:Gateway",
    "stack:java:1\\d",
    "has:stack",
    "!has:stack",
    "payload:ana",
    "payload:Ana",
    "!payload:xxxxxxxx",
    "$.amount>50",
    "!$.amount>50",
    "$.who~^a",
    "$.who=rui",
    "$.missing?",
    "type:order",
    "type:=order.created",
    "!source:orders",
    "topic:orders",
    "retries:2..4",
    "age:<2h",
    "!age:>30m",
    "is:new",
    "created:>2020-01-01",
    "id:100..900",
    "kind:transient",
    "class:.",
    "group:a",
    "status:pending",
    "\"\xc5\xbfocket\"",
    "key:x",
    "!is:edited",
    "event-id:e-1.*5$",
};
enum { TERMS = sizeof terms / sizeof *terms };

struct truth {
    struct world world;
    struct category_rules *rules;
    struct store *store;
    struct backlog *backlog;
    struct event_page page; // everything of every pending event
    int64_t *ids;
    size_t count;
};

static unsigned seed = 20261121;

static unsigned
chance(unsigned below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % below;
}

static void
begin(struct truth *truth)
{
    *truth = (struct truth){0};
    world_make(&truth->world, 0);
    test_sql(truth->world.admin, rows_sql, EVENTS);
    truth->rules = category_rules_create(NULL, NULL);
    const struct store_settings settings = {.conninfo = truth->world.conninfo,
                                            .table = "public.dlq_events",
                                            .program = "test",
                                            .rules = truth->rules};
    assert_works(store_open(&truth->store, &settings, &err));
    struct event_query query = {.fields = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD |
                                          EVENT_RAW | EVENT_GROUP | EVENT_KNOWN,
                                .statuses = 1u << EVENT_PENDING,
                                .limit = EVENTS};
    assert_works(store_events(truth->store, &query, &truth->page, &err));
    truth->backlog = backlog_create();
    backlog_add(truth->backlog, truth->page.events, truth->page.count);
    backlog_ids(truth->backlog, PIVOT_ERROR, NULL, false, &truth->ids, &truth->count);
    assert_int_equal(truth->count, truth->page.count);
}

static void
end(struct truth *truth)
{
    free(truth->ids);
    backlog_destroy(truth->backlog);
    event_page_release(&truth->page);
    store_close(truth->store);
    category_rules_destroy(truth->rules);
    world_end(&truth->world);
}

static struct filter *
parse(const char *text)
{
    struct filter *filter;
    struct filter_context context = {.now = clock_now(), .new_after = TIME_ABSENT};
    assert_works(filter_parse(&filter, bytes_of(text), &context, &err));
    return filter;
}

// The page has the events by id downwards.
static const struct event *
event_of(const struct truth *truth, int64_t id)
{
    size_t low = 0;
    for (size_t high = truth->page.count; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        *(truth->page.events[middle].id >= id ? &low : &high) = middle;
    }
    assert_int_equal(truth->page.events[low].id, id);
    return &truth->page.events[low];
}

static void
compare(struct truth *truth, struct filter *filter, const char *text, const struct search_found *found,
        const char *road)
{
    size_t at = 0;
    int64_t undecided = 0;
    for (size_t i = 0; i < truth->count; i++) {
        enum filter_verdict verdict = filter_match(filter, event_of(truth, truth->ids[i]));
        undecided += verdict == FILTER_UNDECIDED;
        bool is_found = at < found->count && found->ids[at] == truth->ids[i];
        if (is_found != (verdict != FILTER_NO))
            fail_msg("%s, %s: event %lld is %d", text, road, (long long)truth->ids[i], (int)verdict);
        at += is_found;
    }
    assert_int_equal(at, found->count);
    assert_int_equal(undecided, found->undecided);
}

static void
search(struct truth *truth, const char *text, struct text_cache *cache, const struct backlog *backlog,
       const char *road)
{
    struct filter *filter = parse(text);
    struct search *search = search_create(&(struct search_query){
        .filter = filter, .ids = truth->ids, .count = truth->count, .backlog = backlog, .cache = cache});
    struct search_found found = {0};
    for (int steps = 0; !search_is_over(search); steps++) {
        assert_works(search_step(search, truth->store, clock_mono() + 500, &found, &err));
        assert_true(steps < 100000);
    }
    compare(truth, filter, text, &found, road);
    free(found.ids);
    search_destroy(search);
    filter_destroy(filter);
}

// What commands choose by: what is undecided is told apart.
static void
choose(struct truth *truth, const char *text)
{
    struct filter *filter = parse(text);
    struct choice choice = {.filter = text, .statuses = 1u << EVENT_PENDING, .newest_first = true};
    struct choose_tally tally = {0};
    int64_t *ids;
    size_t count;
    assert_works(choose_ids(truth->store, &choice, NULL, NULL, &ids, &count, &tally, &err));
    size_t at = 0;
    size_t undecided = 0;
    for (size_t i = 0; i < truth->count; i++) {
        enum filter_verdict verdict = filter_match(filter, event_of(truth, truth->ids[i]));
        bool is_chosen = at < count && ids[at] == truth->ids[i];
        if (is_chosen != (verdict == FILTER_YES))
            fail_msg("%s, chosen: event %lld is %d", text, (long long)truth->ids[i], (int)verdict);
        at += is_chosen;
        undecided += verdict == FILTER_UNDECIDED;
    }
    assert_int_equal(at, count);
    assert_int_equal(undecided, tally.undecided_count);
    choose_tally_release(&tally);
    free(ids);
    filter_destroy(filter);
}

static void
every_road_gives_the_same_answer(void **state)
{
    (void)state;
    struct truth truth;
    begin(&truth);
    struct text_cache *warm = text_cache_create(64 << 20);
    struct text_cache *small = text_cache_create(100000);
    for (int i = 0; i < TERMS + FILTERS; i++) {
        char text[400];
        if (i < TERMS)
            snprintf(text, sizeof text, "%s", terms[i]);
        else
            snprintf(text, sizeof text, "%s %s %s", terms[chance(TERMS)],
                     chance(2) ? "" : terms[chance(TERMS)], chance(3) ? "" : terms[chance(TERMS)]);
        struct text_cache *cold = text_cache_create(64 << 20);
        search(&truth, text, cold, truth.backlog, "cold");
        search(&truth, text, warm, truth.backlog, "warm");
        search(&truth, text, warm, NULL, "without backlog");
        search(&truth, text, small, truth.backlog, "little memory");
        if (i % 8 == 0)
            search(&truth, text, NULL, NULL, "rows");
        choose(&truth, text);
        text_cache_destroy(cold);
    }
    text_cache_destroy(warm);
    text_cache_destroy(small);
    end(&truth);
}

// What somebody else changed in a pending row is seen at the next search.
static void
a_changed_row_is_read_again(void **state)
{
    (void)state;
    struct truth truth;
    begin(&truth);
    struct text_cache *cache = text_cache_create(64 << 20);
    assert_works(text_cache_check(cache, truth.store, &err));
    search(&truth, "timeout", cache, truth.backlog, "before");
    uint64_t before = text_cache_generation(cache);
    test_sql(truth.world.admin, "UPDATE public.dlq_events SET error_message = 'a needle' WHERE id = 1500");
    for (int64_t until = clock_mono() + 20 * US_PER_SECOND;
         text_cache_generation(cache) == before && clock_mono() < until; clock_sleep(100000))
        assert_works(text_cache_check(cache, truth.store, &err));
    assert_true(text_cache_generation(cache) != before);

    struct filter *filter = parse("needle");
    struct search *search = search_create(&(struct search_query){
        .filter = filter, .ids = truth.ids, .count = truth.count, .backlog = truth.backlog, .cache = cache});
    struct search_found found = {0};
    while (!search_is_over(search))
        assert_works(search_step(search, truth.store, clock_mono() + 1000, &found, &err));
    assert_int_equal(found.count, 1);
    assert_true(found.ids && found.ids[0] == 1500);
    free(found.ids);
    search_destroy(search);
    filter_destroy(filter);
    text_cache_destroy(cache);
    end(&truth);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_road_gives_the_same_answer),
        cmocka_unit_test(a_changed_row_is_read_again),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
