// A backlog whose newest messages are a megabyte each: every reader of many events holds a few messages at a
// time, and still sees all.
#include "world.h"

#include <stdatomic.h>
#include "base/alloc.h"
#include "core/filter/filter.h"
#include "search/choose.h"
#include "rollup/maintainer.h"
#include "search/search.h"
#include "search/text_cache.h"
#include "search/text_reader.h"
#include "search/text_watch.h"
#include "store/events/texts.h"
#include "store/rollup/rollup.h"

enum { SHORT = 4000, EVENTS = 60, MB = 1 << 20 }; // those below are short: who packs wants many

static struct world world;
static int64_t ids[EVENTS]; // of the long ones, highest first

// --- the most that was allocated at once, by all threads ---

// Of the sanitizers' common interface (allocator_interface.h, which gcc does not bring along). Without them
// the tests are skipped where they would measure.
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *,
                                                                                      size_t),
                                                                    void (*freed)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *memory);

static atomic_llong in_use, most;

static void
was_allocated(const volatile void *memory, size_t size)
{
    (void)memory;
    long long now = atomic_fetch_add(&in_use, (long long)size) + (long long)size;
    for (long long before = most; now > before && !atomic_compare_exchange_weak(&most, &before, now);)
        ;
}

static void
is_freed(const volatile void *memory)
{
    if (memory)
        atomic_fetch_sub(&in_use, (long long)__sanitizer_get_allocated_size(memory));
}

// From here on.
static void
watch_memory(void)
{
    in_use = 0;
    most = 0;
}

static void
assert_below(int megabytes)
{
    if (!__sanitizer_install_malloc_and_free_hooks)
        skip();
    if (most >= (long long)megabytes * MB)
        fail_msg("%lld MB were in memory at once", most / MB);
}

// --- the backlog ---

static int
begin(void **state)
{
    (void)state;
    world_make_with_rules(&world, SHORT + EVENTS);
    test_sql(world.admin,
             "UPDATE dlq_events SET error_message = repeat(md5(id::text), 32768) || ' needle ' || id,"
             " event_payload = jsonb_build_object('blob', repeat(md5(id::text), 32768)) WHERE id > %d",
             SHORT);
    for (int i = 0; i < EVENTS; i++)
        ids[i] = SHORT + EVENTS - i;
    if (__sanitizer_install_malloc_and_free_hooks)
        assert_int_not_equal(__sanitizer_install_malloc_and_free_hooks(was_allocated, is_freed), 0);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    world_end(&world);
    return 0;
}

static void
search(struct text_cache *cache, const char *text)
{
    struct filter *filter = make_filter(text);
    struct search *search = search_create(
        &(struct search_query){.filter = filter, .ids = ids, .count = EVENTS, .cache = cache, .threads = 1});
    struct search_found found = {0};
    while (!search_is_over(search))
        assert_works(search_step(search, world.store, clock_mono() + 10000, &found, &err));
    assert_int_equal(found.count, EVENTS);
    assert_memory_equal(found.ids, ids, sizeof ids);
    free(found.ids);
    search_destroy(search);
    filter_destroy(filter);
}

// --- the readers ---

struct reading {
    size_t count, wanted;
    int64_t last;
};

static bool
count_text(void *context, int64_t id, struct bytes text)
{
    struct reading *reading = context;
    assert_true(text.len > MB);
    assert_true(reading->last == 0 || id < reading->last);
    reading->last = id;
    return ++reading->count != reading->wanted;
}

static void
texts_come_one_by_one(void **state)
{
    (void)state;
    const struct event_texts_query all = {
        .text = EVENT_TEXT_ERROR, .after_id = INT64_MIN, .before_id = INT64_MAX, .limit = EVENTS};
    struct reading reading = {0};
    watch_memory();
    assert_works(store_event_texts(world.store, &all, count_text, &reading, &err));
    assert_int_equal(reading.count, EVENTS);
    assert_below(8);
}

// A reader that stops early leaves the connection usable.
static void
a_reader_with_enough_gets_no_more(void **state)
{
    (void)state;
    const struct event_texts_query all = {
        .text = EVENT_TEXT_PAYLOAD, .after_id = INT64_MIN, .before_id = INT64_MAX, .limit = EVENTS};
    for (size_t wanted = 1; wanted <= 3; wanted++) {
        struct reading reading = {.wanted = wanted};
        assert_works(store_event_texts(world.store, &all, count_text, &reading, &err));
        assert_int_equal(reading.count, wanted);
        int64_t pending, highest;
        assert_works(store_pending_count(world.store, &pending, &highest, &err));
        assert_int_equal(pending, SHORT + EVENTS);
    }
}

static void
a_cache_fills_a_few_at_a_time(void **state)
{
    (void)state;
    struct text_cache *cache = text_cache_create(64 * MB, NULL);
    watch_memory();
    for (bool is_over = false; !is_over;)
        assert_works(text_cache_fill(cache, world.store, EVENT_TEXT_ERROR, 0, &is_over, &err));
    assert_int_equal(column_count(text_cache_column(cache, EVENT_TEXT_ERROR)), SHORT + EVENTS);
    assert_below(24);
    text_cache_destroy(cache);
}

// Several pages are read ahead.
static void
pages_ahead_are_a_few_megabytes(void **state)
{
    (void)state;
    struct text_reader *reader = text_reader_create(&world.settings);
    int64_t next = SHORT + EVENTS;
    watch_memory();
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, SHORT + EVENTS);
    for (bool is_bottom = false; !is_bottom;) {
        struct texts_page *page = text_reader_take(reader, 20 * US_PER_SECOND);
        assert_non_null(page);
        assert_false(err_is_set(&page->err));
        for (size_t i = 0; i < page->count; i++)
            assert_int_equal(page->rows[i].id, next--);
        is_bottom = page->is_bottom;
        texts_page_destroy(page);
    }
    assert_int_equal(next, 0);
    assert_below(40);
    text_reader_destroy(reader);
}

// By texts in a cache, by what the server finds, and by rows.
static void
searches_hold_a_few_at_a_time(void **state)
{
    (void)state;
    struct text_cache *cache = text_cache_create(64 * MB, &world.settings);
    watch_memory();
    search(cache, "error:/needle \\d/");
    search(cache, "payload:/[0-9a-f]{99}/");
    search(NULL, "error:/needle \\d/ payload:/[0-9a-f]{99}/");
    assert_below(40);
    text_cache_destroy(cache);
}

static void
choosing_holds_a_few_at_a_time(void **state)
{
    (void)state;
    const char *const filters[] = {"error:/needle \\d/", "payload:/[0-9a-f]{99}/",
                                   "error:/needle \\d/ payload:/[0-9a-f]{99}/ !error:/needle x/"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        const struct choice choice = {.filter = filters[i], .statuses = 1u << EVENT_PENDING};
        const struct choice named = {.filter = filters[i], .ids = ids, .id_count = EVENTS, .has_ids = true};
        const struct choice *const both[] = {&choice, &named};
        for (int k = 0; k < 2; k++) {
            struct choose_tally tally = {0};
            int64_t *chosen;
            size_t count;
            watch_memory();
            assert_works(choose_ids(world.store, both[k], NULL, NULL, &chosen, &count, &tally, &err));
            assert_int_equal(count, EVENTS);
            assert_int_equal(tally.unknown_count, 0);
            assert_below(24);
            choose_tally_release(&tally);
            free(chosen);
        }
    }
}

// A look for changes gives up where the changed texts are too long.
static void
changes_are_held_up_to_a_bound(void **state)
{
    (void)state;
    int64_t mark;
    assert_works(store_xmin_floor(world.store, &mark, &err));
    test_sql(world.admin, "UPDATE dlq_events SET error_message = error_message || '!' WHERE id > %d", SHORT);
    struct text_changes *changes = alloc_bytes(sizeof *changes);
    watch_memory();
    text_changes_find(world.store, mark, SHORT + EVENTS, 1u << EVENT_TEXT_ERROR, changes);
    assert_false(err_is_set(&changes->err));
    assert_true(changes->is_too_many);
    assert_below(40);
    text_changes_destroy(changes);
}

static void
snapshots_are_written_a_few_at_a_time(void **state)
{
    (void)state;
    static const char packed[] = "SELECT count(*) FROM redrive.rollup_state WHERE texts_floor IS NOT NULL "
                                 "AND uncompared = -9223372036854775808"
                                 " AND (SELECT sum(n) FROM redrive.text_snapshot) ="
                                 " (SELECT count(*) FROM dlq_events WHERE status = 'PENDING')";
    int64_t until = clock_mono() + 60 * US_PER_SECOND;
    watch_memory();
    struct maintainer *maintainer = maintainer_create(&world.settings);
    while (test_number(world.admin, packed) != 1) {
        int64_t wait = maintainer_step(maintainer);
        clock_sleep(wait > 20000 ? 20000 : wait);
        assert_true(clock_mono() < until);
    }
    maintainer_destroy(maintainer);
    assert_true(test_number(world.admin, "SELECT count(*) FROM redrive.text_snapshot") > EVENTS / 8);
    assert_below(32);
}

static void
count_row(void *context, const struct event *event)
{
    size_t *count = context;
    *count += bytes_present(event->event_type);
}

// Page by page, with what the series of a page say.
static void
read_all_rows(struct store *store, size_t expected)
{
    enum { PAGE = 2000 };
    struct rollup_names *names = rollup_names_create();
    struct rollup_page page = {.count = PAGE, .lowest = INT64_MAX};
    size_t count = 0;
    watch_memory();
    while (page.count == PAGE)
        assert_works(rollup_rows(store, names, page.lowest == INT64_MAX ? INT64_MAX : page.lowest - 1, PAGE,
                                 count_row, &count, &page, &err));
    rollup_names_destroy(names);
    assert_int_equal(count, expected);
    assert_below(6);
}

// Messages that differ in a word that nobody masks: each makes a group of its own, with its texts.
static void
groups_are_described_a_few_at_a_time(void **state)
{
    (void)state;
    enum { GROUPS = 60000 };
    struct world many;
    world_make_with_rules(&many, GROUPS);
    test_sql(many.admin, "UPDATE dlq_events SET error_message = 'failure of ' || translate(md5(id::text),"
                         " '0123456789abcdef', 'ghijklmnopqrstuv') || repeat(' as the peer said no', 8)");
    int64_t until = clock_mono() + 120 * US_PER_SECOND;
    watch_memory();
    struct maintainer *maintainer = maintainer_create(&many.settings);
    while (test_number(many.admin, "SELECT count(*) FROM redrive.rollup_event") < GROUPS) {
        int64_t wait = maintainer_step(maintainer);
        clock_sleep(wait > 20000 ? 20000 : wait);
        assert_true(clock_mono() < until);
    }
    maintainer_destroy(maintainer);
    assert_below(32);
    read_all_rows(many.store, GROUPS);
    world_end(&many);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_one_by_one),
        cmocka_unit_test(a_reader_with_enough_gets_no_more),
        cmocka_unit_test(a_cache_fills_a_few_at_a_time),
        cmocka_unit_test(pages_ahead_are_a_few_megabytes),
        cmocka_unit_test(searches_hold_a_few_at_a_time),
        cmocka_unit_test(choosing_holds_a_few_at_a_time),
        cmocka_unit_test(changes_are_held_up_to_a_bound),
        cmocka_unit_test(snapshots_are_written_a_few_at_a_time),
        cmocka_unit_test(groups_are_described_a_few_at_a_time),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
