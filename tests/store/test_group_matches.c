// Groups with a filter: the same words choose the same events in the groups of the screen, in the lists that
// an action collects, in commands and in SQL; and the counts follow what comes and goes.
#include "backend_world.h"

#include "base/alloc.h"
#include "search/choose.h"

enum { EVENTS = 3000 };

static const struct {
    const char *text, *sql;
} filters[] = {
    {"host-3", "error_message ~* 'host-3'"},
    {"(source-id:=src-1 or source-id:=src-2) !host-3",
     "source_id IN ('src-1', 'src-2') AND error_message !~* 'host-3'"},
    {"host-3 or source-id:=src-1", "error_message ~* 'host-3' OR source_id = 'src-1'"},
    {"not (host-1 retries:>0) id:..2500", "NOT (error_message ~* 'host-1' AND coalesce(retry_count, 0) > 0)"
                                          " AND id <= 2500"},
    {"$.n?", "event_payload ? 'n'"},
    {"payload:/[13]/ (type:=created or topic:=elsewhere)",
     "event_payload::text ~ '[13]' AND (event_type = 'created' OR kafka_topic = 'elsewhere')"},
    {"nothing-like-this", "false"},
    {"status:resolved", NULL},
};
enum { FILTERS = sizeof filters / sizeof *filters };

static struct request *
groups_request(const char *filter, enum pivot pivot)
{
    struct request *request = request_create(REQUEST_GROUPS);
    request->groups.pivot = pivot;
    request->list.filter = filter ? alloc_text(filter) : NULL;
    return request;
}

static bool
is_whole(const struct reply *reply, const void *context)
{
    return reply->number == *(const uint64_t *)context &&
           (reply->kind == REPLY_ERROR || (reply->kind == REPLY_GROUPS && reply->is_last));
}

static struct reply *
ask_groups(struct bench *bench, const char *filter, enum pivot pivot)
{
    uint64_t number = bench_ask(bench, groups_request(filter, pivot));
    struct reply *reply = bench_await(bench, is_whole, &number);
    assert_int_equal(reply->kind, REPLY_GROUPS);
    return reply;
}

// What an action on a group that is filtered collects.
static size_t
collect(struct bench *bench, const char *filter, const char *group)
{
    struct request *request = request_create(REQUEST_COLLECT);
    request->list.filter = alloc_text(filter);
    if (group) {
        request->list.has_value = true;
        snprintf(request->list.value, sizeof request->list.value, "%s", group);
    }
    uint64_t number = bench_ask(bench, request);
    size_t count = 0;
    for (bool is_last = false; !is_last;) {
        struct reply *reply = bench_await(bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        count += reply->list.is_new_available ? 0 : reply->list.count;
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    return count;
}

// What a command chooses.
static size_t
choose(struct bench *bench, const char *filter, const char *group)
{
    const struct choice choice = {.filter = filter, .group = group, .otherwise = 1u << EVENT_PENDING};
    struct choose_tally tally = {0};
    int64_t *ids;
    size_t count;
    assert_works(choose_ids(bench->world.store, &choice, NULL, NULL, &ids, &count, &tally, &err));
    choose_tally_release(&tally);
    free(ids);
    return count;
}

static int64_t
in_sql(struct bench *bench, const char *condition)
{
    struct strbuf sql = {0};
    strbuf_printf(&sql, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING' AND (%s)",
                  condition);
    int64_t count = test_number(bench->world.admin, strbuf_text(&sql));
    strbuf_release(&sql);
    return count;
}

static void
check_by_error(struct bench *bench, const char *filter, const char *condition)
{
    int64_t all = in_sql(bench, "true");
    struct reply *reply = ask_groups(bench, filter, PIVOT_ERROR);
    const struct group_list *list = &reply->groups.list;
    if (list->events != in_sql(bench, condition))
        fail_msg("%s: %lld in groups, not %lld", filter, (long long)list->events,
                 (long long)in_sql(bench, condition));
    assert_true(reply->groups.matched.is_on && reply->groups.matched.is_whole);
    assert_int_equal(reply->groups.matched.events, all);
    assert_int_equal(reply->groups.matched.undecided, 0);
    assert_int_equal(collect(bench, filter, NULL), list->events);
    assert_int_equal(choose(bench, filter, NULL), list->events);
    for (size_t i = 0; i < list->count; i++) {
        assert_true(list->groups[i].count > 0);
        assert_non_null(list->groups[i].text.pattern);
        assert_int_equal(collect(bench, filter, list->groups[i].value), list->groups[i].count);
        assert_int_equal(choose(bench, filter, list->groups[i].value), list->groups[i].count);
    }
    reply_destroy(reply);
}

// First, newest and the curve are of the matches.
static void
check_times(struct bench *bench, const char *filter, const char *condition)
{
    struct reply *reply = ask_groups(bench, filter, PIVOT_TYPE);
    const struct group_list *list = &reply->groups.list;
    for (size_t i = 0; i < list->count; i++) {
        const struct event_group *group = &list->groups[i];
        struct strbuf sql = {0};
        strbuf_printf(&sql, "coalesce(event_type, '') = '%s' AND (%s)", group->value, condition);
        assert_int_equal(in_sql(bench, strbuf_text(&sql)), group->count);
        strbuf_add_text(&sql, " AND id = ");
        strbuf_printf(&sql, "%lld", (long long)group->sample_id);
        assert_int_equal(in_sql(bench, strbuf_text(&sql)), 1);
        strbuf_release(&sql);
        int64_t recent = 0;
        for (int column = 0; column < GROUP_SPARK; column++)
            recent += group->spark[column];
        assert_true(recent <= group->count);
    }
    reply_destroy(reply);
}

static void
same_words_same_events(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    test_sql(
        bench.world.admin,
        "UPDATE public.dlq_events SET event_payload = '{\"n\": 1}' WHERE id %% 7 = 0;"
        "UPDATE public.dlq_events SET kafka_topic = 'elsewhere', event_type = 'created' WHERE id %% 11 = 0;"
        "UPDATE public.dlq_events SET retry_count = 300, created_at = NULL WHERE id %% 13 = 0");
    for (size_t i = 0; i < FILTERS; i++) {
        if (!filters[i].sql)
            continue;
        check_by_error(&bench, filters[i].text, filters[i].sql);
        check_times(&bench, filters[i].text, filters[i].sql);
    }
    bench_end(&bench);
}

// A status: term takes closed events, as it does in commands.
static void
closed_events_are_counted_where_a_filter_asks_for_them(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id %% 10 = 0");
    struct reply *reply = ask_groups(&bench, "status:resolved", PIVOT_ERROR);
    assert_int_equal(reply->groups.list.events, EVENTS / 10);
    assert_int_equal(choose(&bench, "status:resolved", NULL), EVENTS / 10);
    reply_destroy(reply);
    bench_end(&bench);
}

struct counted {
    uint64_t number;
    int64_t events;
};

static bool
has_matches(const struct reply *reply, const void *context)
{
    const struct counted *counted = context;
    return reply->kind == REPLY_GROUPS && reply->number == counted->number && reply->is_last &&
           reply->groups.list.events == counted->events;
}

static void
counts_follow_what_comes_and_goes(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    uint64_t number = bench_ask(&bench, groups_request("host-3 or source-id:=other", PIVOT_ERROR));
    struct counted counted = {number, in_sql(&bench, "error_message ~* 'host-3'")};
    reply_destroy(bench_await(&bench, has_matches, &counted));

    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id <= 500;"
             "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message,"
             " created_at) SELECT 'late-' || i, 'late', 'other', '{}', 'late', now()"
             " FROM generate_series(1, 25) i");
    counted.events = in_sql(&bench, "error_message ~* 'host-3' OR source_id = 'other'");
    struct reply *reply = bench_await(&bench, has_matches, &counted);
    assert_int_equal(reply->groups.matched.events, EVENTS - 500 + 25);
    reply_destroy(reply);

    // Without it all are counted again; and a mistake is told with its place.
    reply = ask_groups(&bench, NULL, PIVOT_ERROR);
    assert_int_equal(reply->groups.list.events, EVENTS - 500 + 25);
    assert_false(reply->groups.matched.is_on);
    reply_destroy(reply);
    reply = bench_answer(&bench, groups_request("topic:x or", PIVOT_ERROR));
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.column, 11);
    reply_destroy(reply);
    bench_end(&bench);
}

static void
a_search_can_be_stopped(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    reply_destroy(ask_groups(&bench, NULL, PIVOT_ERROR));

    // The table is locked, so that the search is under way when it is stopped.
    test_sql(bench.world.admin, "BEGIN; LOCK TABLE public.dlq_events IN ACCESS EXCLUSIVE MODE");
    uint64_t number = bench_ask(&bench, groups_request("payload:/[13]/", PIVOT_ERROR));
    struct request *stop = request_create(REQUEST_CANCEL);
    stop->target = number;
    (void)bench_ask(&bench, stop);
    test_sql(bench.world.admin, "COMMIT");
    struct reply *reply = bench_await(&bench, is_whole, &number);
    assert_int_equal(reply->kind, REPLY_GROUPS);
    assert_true(reply->groups.matched.is_stopped);
    assert_false(reply->groups.matched.is_whole);
    assert_true(reply->groups.matched.scanned < EVENTS);
    reply_destroy(reply);

    // Asked for again, it comes to its end.
    reply = ask_groups(&bench, "payload:/[13]/", PIVOT_ERROR);
    assert_true(reply->groups.matched.is_whole);
    assert_int_equal(reply->groups.list.events, in_sql(&bench, "event_payload::text ~ '[13]'"));
    reply_destroy(reply);
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_words_same_events),
        cmocka_unit_test(closed_events_are_counted_where_a_filter_asks_for_them),
        cmocka_unit_test(counts_follow_what_comes_and_goes),
        cmocka_unit_test(a_search_can_be_stopped),
    };
    return cmocka_run_group_tests_name("group_matches", tests, NULL, NULL);
}
