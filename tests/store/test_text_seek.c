// One pass of the server over a text: every event comes once, in whatever page, and only from the last pass.
#include "world.h"

#include "base/alloc.h"
#include "search/text_seek.h"

enum { EVENTS = 25000 }; // more than a page holds

static struct world world;
static struct store_settings settings;
static struct text_seek *seek;

static int
begin(void **state)
{
    (void)state;
    world_make(&world, EVENTS);
    settings =
        (struct store_settings){.conninfo = world.conninfo, .table = "public.dlq_events", .program = "seek"};
    seek = text_seek_create(&settings);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    text_seek_destroy(seek);
    world_end(&world);
    return 0;
}

// The seek has copied the literals: they are overwritten here.
static void
look_for(const char *text)
{
    char required[40];
    snprintf(required, sizeof required, "%s", text);
    text_seek_begin(seek, &(struct event_scan){.text = EVENT_TEXT_ERROR,
                                               .statuses = 1u << EVENT_PENDING,
                                               .required = bytes_of(required)});
    memset(required, 'x', sizeof required);
    assert_true(text_seek_is_busy(seek));
}

// Takes all pages and returns the number of events; each comes once, with a text that holds `text`.
static size_t
take_all(const char *text, int *pages)
{
    size_t count = 0;
    bool *is_there = alloc_array(EVENTS + 1, sizeof *is_there);
    *pages = 0;
    for (bool is_bottom = false; !is_bottom; ++*pages) {
        struct texts_page *page = text_seek_take(seek, 20 * US_PER_SECOND);
        assert_non_null(page);
        if (err_is_set(&page->err))
            fail_msg("%s", page->err.text);
        for (size_t i = 0; i < page->count; i++, count++) {
            int64_t id = page->rows[i].id;
            assert_in_range(id, 1, EVENTS);
            assert_false(is_there[id]);
            is_there[id] = true;
            assert_true(bytes_find(texts_page_at(page, i), bytes_of(text), 0) != SIZE_MAX);
        }
        is_bottom = page->is_bottom;
        texts_page_destroy(page);
    }
    free(is_there);
    assert_false(text_seek_is_busy(seek));
    assert_null(text_seek_take(seek, 0));
    return count;
}

static size_t
events_with(const char *text)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM dlq_events WHERE strpos(error_message, '%s') > 0", text);
    return (size_t)test_number(world.admin, sql);
}

static void
each_event_comes_once(void **state)
{
    (void)state;
    int pages;
    look_for("");
    assert_int_equal(take_all("Connection refused", &pages), EVENTS);
    assert_true(pages > 1);
    look_for("host-3");
    assert_int_equal(take_all("host-3", &pages), events_with("host-3"));
}

// Rows of a stopped pass never come from a later one.
static void
a_pass_that_was_stopped_leaves_nothing(void **state)
{
    (void)state;
    int pages;
    for (int i = 0; i < 5; i++) {
        look_for("");
        if (i % 2)
            texts_page_destroy(text_seek_take(seek, 20 * US_PER_SECOND));
        text_seek_stop(seek);
        assert_false(text_seek_is_busy(seek));
        assert_null(text_seek_take(seek, 0));
        look_for("host-5");
        assert_int_equal(take_all("host-5", &pages), events_with("host-5"));
    }
}

static void
says_that_it_cannot_connect(void **state)
{
    (void)state;
    settings.conninfo = "host=/nowhere";
    look_for("host-3");
    struct texts_page *page = text_seek_take(seek, 20 * US_PER_SECOND);
    assert_non_null(page);
    assert_true(page->is_bottom);
    assert_int_equal(page->count, 0);
    assert_int_equal(page->err.kind, ERR_UNREACHABLE);
    texts_page_destroy(page);
    assert_false(text_seek_is_busy(seek));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_event_comes_once, begin, end),
        cmocka_unit_test_setup_teardown(a_pass_that_was_stopped_leaves_nothing, begin, end),
        cmocka_unit_test_setup_teardown(says_that_it_cannot_connect, begin, end),
    };
    return cmocka_run_group_tests_name("text_seek", tests, NULL, NULL);
}
