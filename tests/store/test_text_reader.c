// The reader of long texts: every event in order, and an error where its connections fail.
#include "world.h"

#include "search/text_reader.h"

enum { EVENTS = 5000 };

static struct world world;
static struct store_settings settings;
static struct text_reader *reader;

static int
begin(void **state)
{
    (void)state;
    world_make(&world, EVENTS);
    settings = (struct store_settings){
        .conninfo = world.conninfo, .table = "public.dlq_events", .program = "reader"};
    reader = text_reader_create(&settings);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    text_reader_destroy(reader);
    world_end(&world);
    return 0;
}

static struct texts_page *
take(void)
{
    struct texts_page *page = text_reader_take(reader, 20 * US_PER_SECOND);
    assert_non_null(page);
    return page;
}

// Reads down to the bottom; next is the highest id that is still to come. Pages follow each other without a
// gap, and each event between is in its page.
static void
assert_all_from(int64_t next)
{
    for (bool is_bottom = false; !is_bottom;) {
        struct texts_page *page = take();
        if (err_is_set(&page->err))
            fail_msg("%s", page->err.text);
        for (size_t i = 0; i < page->count; i++) {
            assert_int_equal(page->rows[i].id, next--);
            assert_true(bytes_starts(texts_page_at(page, i), "Connection refused"));
        }
        is_bottom = page->is_bottom;
        assert_true(is_bottom || page->low == next + 1);
        texts_page_destroy(page);
    }
    assert_int_equal(next, 0);
}

static void
reads_all_without_a_gap(void **state)
{
    (void)state;
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, EVENTS);
    assert_all_from(EVENTS);
    assert_null(text_reader_take(reader, 0));
}

// Nothing can be read: every page says so, and none claims to be the bottom.
static void
says_that_it_cannot_connect(void **state)
{
    (void)state;
    settings.conninfo = "host=/nowhere";
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, EVENTS);
    int pages = 0;
    for (struct texts_page *page; (page = text_reader_take(reader, 20 * US_PER_SECOND)); pages++) {
        assert_int_equal(page->err.kind, ERR_UNREACHABLE);
        assert_int_equal(page->count, 0);
        assert_false(page->is_bottom);
        texts_page_destroy(page);
        assert_true(pages < EVENTS);
    }
    assert_true(pages > 0);

    // It is used again when the way is open.
    text_reader_rest(reader);
    settings.conninfo = world.conninfo;
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, EVENTS);
    assert_all_from(EVENTS);
}

static void
kill_readers(void)
{
    assert_true(test_number(world.admin,
                            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                            "application_name LIKE 'redrive/reader/%'") > 0);
}

// The connections break in the middle: the page that could not be read says so, and is not taken for the
// bottom. The other connection may not have noticed yet that it is broken too; after a rest the reader has
// new connections.
static void
says_where_it_was_cut_off(void **state)
{
    (void)state;
    test_sql(world.admin, "UPDATE public.dlq_events SET error_message = error_message || repeat('x', 4000)");
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, EVENTS);
    struct texts_page *page = take();
    int64_t low = page->low;
    texts_page_destroy(page);
    kill_readers();
    for (bool is_cut = false; !is_cut;) {
        page = take();
        is_cut = err_is_set(&page->err);
        assert_false(is_cut && page->is_bottom);
        assert_true(is_cut || page->low <= low); // the last page of a range may be empty
        low = is_cut ? low : page->low;
        texts_page_destroy(page);
        if (!is_cut && low < 100)
            fail_msg("it was cut off and read on to %lld", (long long)low);
    }
    text_reader_rest(reader);
    text_reader_begin(reader, EVENT_TEXT_ERROR, low, 1, EVENTS);
    assert_all_from(low - 1);
}

// A rest in the middle of reading: pages that were on their way never come out.
static void
rests_in_the_middle(void **state)
{
    (void)state;
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, EVENTS);
    texts_page_destroy(take());
    text_reader_rest(reader);
    assert_false(text_reader_is_reading(reader, EVENT_TEXT_ERROR));
    text_reader_begin(reader, EVENT_TEXT_ERROR, 1001, 1, EVENTS);
    assert_true(text_reader_is_reading(reader, EVENT_TEXT_ERROR));
    assert_all_from(1000);
    text_reader_begin(reader, EVENT_TEXT_ERROR, INT64_MAX, 1, EVENTS);
    text_reader_begin(reader, EVENT_TEXT_ERROR, 2001, 1, EVENTS);
    assert_all_from(2000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_all_without_a_gap, begin, end),
        cmocka_unit_test_setup_teardown(says_that_it_cannot_connect, begin, end),
        cmocka_unit_test_setup_teardown(says_where_it_was_cut_off, begin, end),
        cmocka_unit_test_setup_teardown(rests_in_the_middle, begin, end),
    };
    return cmocka_run_group_tests_name("text_reader", tests, NULL, NULL);
}
