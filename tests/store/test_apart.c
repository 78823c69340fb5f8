// What sets events apart, as the server counts it, is what this program finds in the events themselves.
#include "search/apart.h"
#include "store/events/apart_counts.h"
#include "world.h"

enum { EVENTS = 600 };

// Odd and even ids differ in every field that can be asked about.
static void
fill(struct world *world)
{
    test_sql(
        world->admin,
        "UPDATE public.dlq_events SET event_payload = jsonb_build_object("
        "  'kind', CASE WHEN id %% 2 = 0 THEN 'a\"b\\\\c' ELSE 'other' END,"
        "  'amount', CASE WHEN id %% 2 = 0 THEN to_jsonb('10,00'::text) ELSE to_jsonb(id * 1.5) END,"
        "  'total', CASE WHEN id %% 2 = 0 THEN 5000 + id ELSE id %% 7 END,"
        "  'odd key', jsonb_build_object('$', id %% 2 = 0),"
        "  'note', repeat(E'\\u00e7\\n', CASE WHEN id %% 2 = 0 THEN 300 + id::int ELSE id::int %% 40 END),"
        "  'ref', CASE WHEN id %% 2 = 0 THEN 'EU-' ELSE 'US-' END || id * 17,"
        "  'lines', jsonb_build_array(jsonb_build_object('sku', id %% 50), jsonb_build_object('sku', "
        "     CASE WHEN id %% 2 = 0 THEN to_jsonb('bad'::text) ELSE to_jsonb(id %% 9) END)))"
        "  || CASE WHEN id %% 2 = 0 THEN '{}' ELSE '{\"zip\": null}' END::jsonb,"
        " event_type = CASE WHEN id %% 2 = 0 THEN 'refund' ELSE 'order' END,"
        " kafka_partition = CASE WHEN id %% 2 = 0 THEN 9 ELSE id %% 5 END,"
        " retry_count = CASE WHEN id %% 2 = 0 THEN 3 ELSE id %% 2 END,"
        " error_message = format('connect to pay-%%s:443 timed out', CASE WHEN id %% 2 = 0 THEN 7 ELSE id %% "
        "3 END),"
        " created_at = timestamp '2026-11-20 12:00:00' + CASE WHEN id %% 2 = 0 THEN 0 ELSE id * 60 END * "
        "interval '1 second'"
        " + id * interval '1 second'");
    // Some do not follow the rule, and some were closed.
    test_sql(world->admin, "UPDATE public.dlq_events SET event_payload = '{\"kind\": 5, \"lines\": {}, "
                           "\"amount\": [1]}' WHERE id %% 37 = 0;"
                           "UPDATE public.dlq_events SET event_payload = '[]' WHERE id %% 53 = 0;"
                           "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id %% 11 = 0");
}

// All events of the sides, read here.
static struct apart *
read_all(struct world *world, const struct apart_sides *sides)
{
    struct apart *apart = apart_create(0, NULL);
    struct event_page page;
    const struct event_query query = {.fields = APART_NEEDS, .ascending = true, .limit = EVENTS * 2};
    assert_works(store_events(world->store, &query, &page, &err));
    for (size_t i = 0; i < page.count; i++) {
        const struct event *event = &page.events[i];
        bool is_here = event->id % 2 == 0 && event->id <= EVENTS;
        if (sides->against == APART_EARLIER) {
            if (is_here)
                apart_add(apart, event, event->created_at >= sides->moment);
        } else if (is_here) {
            apart_add(apart, event, true);
        } else if (event->status == (sides->against == APART_OTHERS ? EVENT_PENDING : EVENT_RESOLVED)) {
            apart_add(apart, event, false);
        }
    }
    event_page_release(&page);
    return apart;
}

static void
counts_are_those_of_the_events(struct world *world, struct search_apart *search, size_t least)
{
    struct apart *sample = NULL;
    struct apart_answer answer;
    struct arena arena = {0};
    int64_t here = 0, there = 0;
    assert_works(search_apart_sample(world->store, search, &sample, &arena, &answer, &err));
    if (answer.row_count < least)
        fail_msg("%zu rows", answer.row_count);
    struct apart *all = read_all(world, &search->sides);
    uint32_t all_here, all_there;
    apart_sizes(all, &all_here, &all_there);
    for (size_t from = 0; from < answer.row_count; from += APART_COUNTED)
        assert_works(search_apart_count(world->store, search, &answer, from, &here, &there, &err));
    if (answer.row_count) {
        assert_int_equal(here, all_here);
        assert_int_equal(there, all_there);
    }
    for (size_t i = 0; i < answer.row_count; i++) {
        const struct apart_row *row = &answer.rows[i];
        struct strbuf text = {0};
        uint32_t row_here, row_there;
        apart_sentence(&row->question, 0, &text);
        apart_count(all, &row->question, &row_here, &row_there);
        if (!row->is_exact || row->all_here != row_here || row->all_there != row_there)
            fail_msg("%s: exact %d, %d and %d instead of %u and %u", strbuf_text(&text), row->is_exact,
                     (int)row->all_here, (int)row->all_there, row_here, row_there);
        strbuf_release(&text);
    }
    apart_destroy(all);
    apart_destroy(sample);
    arena_release(&arena);
    search_apart_release(search);
}

static size_t
even_ids(int64_t ids[EVENTS])
{
    size_t count = 0;
    for (int64_t id = 2; id <= EVENTS; id += 2)
        ids[count++] = id;
    return count;
}

// Each kind of question by itself: the others are left out or folded into the best one elsewhere.
static void
each_question_is_counted(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    int64_t ids[EVENTS];
    size_t count = even_ids(ids);
    const struct apart_question questions[] = {
        {.what = APART_PATH,
         .name = BYTES("$.kind"),
         .value_count = 2,
         .values = {{BYTES("a\"b\\c"), APART_TEXT}, {BYTES("5"), APART_NUMBER}}},
        {.what = APART_PATH, .name = BYTES("$.amount"), .test = APART_IS_KIND, .kind = APART_TEXT},
        {.what = APART_PATH, .name = BYTES("$.amount"), .test = APART_IS_KIND, .kind = APART_ARRAY},
        {.what = APART_PATH, .name = BYTES("$"), .test = APART_IS_KIND, .kind = APART_ARRAY},
        {.what = APART_PATH, .name = BYTES("$.zip"), .test = APART_MISSING},
        {.what = APART_PATH, .name = BYTES("$.zip"), .test = APART_THERE},
        {.what = APART_PATH, .name = BYTES("$.total"), .test = APART_FROM, .low = BYTES("5000")},
        {.what = APART_PATH, .name = BYTES("$.total"), .test = APART_UPTO, .high = BYTES("3")},
        {.what = APART_PATH,
         .name = BYTES("$['odd key']['$']"),
         .value_count = 1,
         .values = {{BYTES("true"), APART_BOOLEAN}}},
        {.what = APART_PATH, .name = BYTES("$.note"), .test = APART_LONG, .length = 641},
        {.what = APART_PATH,
         .name = BYTES("$.ref"),
         .test = APART_BEGINS,
         .value_count = 1,
         .values = {{BYTES("EU-"), APART_TEXT}}},
        {.what = APART_PATH,
         .name = BYTES("$.lines[*].sku"),
         .value_count = 2,
         .values = {{BYTES("bad"), APART_TEXT}, {BYTES("3"), APART_NUMBER}}},
        {.what = APART_TYPE, .value_count = 1, .values = {{BYTES("refund"), APART_TEXT}}},
        {.what = APART_TYPE, .test = APART_MISSING},
        {.what = APART_TOPIC, .test = APART_THERE},
        {.what = APART_SOURCE, .test = APART_MISSING},
        {.what = APART_PARTITION,
         .value_count = 2,
         .values = {{BYTES("9"), APART_NUMBER}, {BYTES("1"), APART_NUMBER}}},
        {.what = APART_PARTITION, .test = APART_UPTO, .high = BYTES("2")},
        {.what = APART_RETRIES, .test = APART_FROM, .low = BYTES("2")},
        {.what = APART_CREATED,
         .test = APART_BETWEEN,
         .low_time = 1795000000000000,
         .high_time = 1796000000000000},
    };
    enum { QUESTIONS = sizeof questions / sizeof *questions };
    const struct apart_sides sides = {.ids = ids, .id_count = count};
    struct apart *all = read_all(&world, &sides);
    for (size_t from = 0; from < QUESTIONS; from += APART_COUNTED) {
        const struct apart_question *asked[APART_COUNTED];
        size_t asked_count = 0;
        struct apart_counts counts;
        while (asked_count < APART_COUNTED && from + asked_count < QUESTIONS) {
            asked[asked_count] = &questions[from + asked_count];
            asked_count++;
        }
        assert_works(store_apart_counts(world.store, &sides, asked, asked_count, &counts, &err));
        for (size_t i = 0; i < asked_count; i++) {
            uint32_t here, there;
            apart_count(all, asked[i], &here, &there);
            if (!counts.rows[i].is_counted || counts.rows[i].here != here || counts.rows[i].there != there)
                fail_msg("question %zu: counted %d, %d and %d instead of %u and %u", from + i,
                         counts.rows[i].is_counted, (int)counts.rows[i].here, (int)counts.rows[i].there, here,
                         there);
        }
        apart_counts_release(&counts);
    }
    apart_destroy(all);
    world_end(&world);
}

static void
counts_every_row(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    int64_t ids[EVENTS];
    size_t count = even_ids(ids);
    struct search_apart others = {.sides = {.ids = ids, .id_count = count}};
    counts_are_those_of_the_events(&world, &others, 1);
    struct search_apart resolved = {.sides = {.ids = ids, .id_count = count, .against = APART_RESOLVED}};
    counts_are_those_of_the_events(&world, &resolved, 0);
    struct search_apart earlier = {.sides = {.ids = ids, .id_count = count, .against = APART_EARLIER}};
    counts_are_those_of_the_events(&world, &earlier, 0);
    world_end(&world);
}

// A corrected event counts as it is now.
static void
corrections_are_counted(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    test_sql(world.admin,
             "INSERT INTO redrive.revision (dlq_id, no, payload) SELECT id, 1, '{\"kind\": \"mended\"}' "
             "FROM public.dlq_events WHERE id <= 40");
    int64_t ids[EVENTS];
    size_t count = even_ids(ids);
    struct search_apart others = {.sides = {.ids = ids, .id_count = count}};
    counts_are_those_of_the_events(&world, &others, 1);
    world_end(&world);
}

// Where nearly all ids between the first and the last are closed or gone, the pending ones are listed.
static void
finds_rare_events(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    test_sql(world.admin, "UPDATE public.dlq_events SET id = id * 1000003 WHERE id > 500");
    int64_t ids[EVENTS];
    size_t count = 0;
    for (int64_t id = 2; id <= 500; id += 2)
        ids[count++] = id;
    struct search_apart search = {.sides = {.ids = ids, .id_count = count}};
    struct apart *apart = NULL;
    struct apart_answer answer;
    assert_works(search_apart_sample(world.store, &search, &apart, &world.arena, &answer, &err));
    assert_true(answer.there > 250);
    apart_destroy(apart);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_question_is_counted),
        cmocka_unit_test(counts_every_row),
        cmocka_unit_test(corrections_are_counted),
        cmocka_unit_test(finds_rare_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
