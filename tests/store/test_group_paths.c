// backend/group_paths: groups by a path of the payload on the screen: their counts are those of SQL, what a
// row opens and an action collects are exactly its events, and both follow what comes, goes and is corrected.
#include "backend_world.h"

#include "base/alloc.h"

enum { EVENTS = 1200 };

static const char fill_sql[] =
    "UPDATE public.dlq_events SET event_payload = CASE id %% 8 WHEN 0 THEN '{}' WHEN 1 THEN '{\"task\": "
    "null}'"
    " WHEN 2 THEN '{\"task\": \"null\"}' WHEN 3 THEN '{\"task\": 5}' WHEN 4 THEN '{\"task\": \"5\"}'"
    " WHEN 5 THEN '{\"task\": {\"a\": 1}}' WHEN 6 THEN '{\"task\": \"say \\\"hi\\\" \\\\ \\u001b[31m or\"}'"
    " ELSE jsonb_build_object('task', repeat('long', 100)) END,"
    " error_message = CASE WHEN id %% 3 = 0 THEN 'java.io.IOException: disk full' ELSE error_message END";

static struct request *
paths_request(const char *path, const char *filter, const uint64_t *within)
{
    struct request *request = request_create(REQUEST_GROUPS);
    request->groups.pivot = PIVOT_PATH;
    request->path = alloc_text(path);
    request->groups.has_group = within != NULL;
    request->groups.group = within ? *within : 0;
    request->list.filter = filter ? alloc_text(filter) : NULL;
    return request;
}

struct wanted {
    uint64_t number;
    int64_t events;
    size_t groups;
};

static bool
is_wanted(const struct reply *reply, const void *context)
{
    const struct wanted *wanted = context;
    return reply->kind == REPLY_GROUPS && reply->number == wanted->number && reply->is_last &&
           reply->groups.list.events == wanted->events && reply->groups.list.total == wanted->groups;
}

static struct reply *
await_values(struct bench *bench, struct request *request, int64_t events, size_t groups)
{
    struct wanted wanted = {bench_ask(bench, request), events, groups};
    return bench_await(bench, is_wanted, &wanted);
}

static const struct event_group *
group_called(const struct reply *reply, enum path_kind kind, const char *value)
{
    const struct group_list *list = &reply->groups.list;
    for (size_t i = 0; i < list->count; i++)
        if (list->groups[i].path_kind == kind && strcmp(list->groups[i].value, value) == 0)
            return &list->groups[i];
    fail_msg("no group %s", value);
    return NULL;
}

// The ids that an action on the row collects; heap.
static int64_t *
collect(struct bench *bench, const struct event_group *group, const char *filter, bool knows_path,
        size_t *count)
{
    struct request *request = request_create(REQUEST_COLLECT);
    request->list.filter = alloc_text(filter);
    request->list.path = knows_path ? alloc_text(group->path) : NULL;
    request->list.path_key = group->key;
    request->list.path_filter = bytes_hash(bytes_of(group->path_term));
    uint64_t number = bench_ask(bench, request);
    int64_t *ids = NULL;
    *count = 0;
    for (bool is_last = false; !is_last;) {
        struct reply *reply = bench_await(bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        ids = alloc_resize(ids, *count + reply->list.count + 1, sizeof *ids);
        if (reply->list.count)
            memcpy(ids + *count, reply->list.ids, reply->list.count * sizeof *ids);
        *count += reply->list.count;
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    return ids;
}

static void
check_collected(struct bench *bench, const struct event_group *group, int64_t remainder)
{
    for (int knows_path = 0; knows_path < 2; knows_path++) {
        size_t count;
        int64_t *ids = collect(bench, group, group->path_term, knows_path, &count);
        assert_int_equal(count, group->count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(ids[i] % 8, remainder);
        free(ids);
    }
}

static const struct {
    enum path_kind kind;
    const char *value;
} rows[8] = {{PATH_MISSING, ""},
             {PATH_NULL, ""},
             {PATH_TEXT, "null"},
             {PATH_NUMBER, "5"},
             {PATH_TEXT, "5"},
             {PATH_OBJECT, ""},
             {PATH_TEXT, "say \"hi\" \\ \x1b[31m or"},
             {PATH_LONG, ""}};

static void
each_value_is_a_row_of_its_own(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    test_sql(bench.world.admin, fill_sql);
    struct reply *reply = await_values(&bench, paths_request("$.task", NULL, NULL), EVENTS, 8);
    for (int64_t i = 0; i < 8; i++) {
        const struct event_group *group = group_called(reply, rows[i].kind, rows[i].value);
        assert_int_equal(group->count, EVENTS / 8);
        assert_int_equal(group->sample_id % 8, i);
        check_collected(&bench, group, i);
    }
    // A filter that was typed over the row's is not narrowed by the row.
    size_t count;
    free(collect(&bench, &reply->groups.list.groups[0], "$.task?", true, &count));
    assert_int_equal(count, EVENTS / 8 * 7);
    reply_destroy(reply);
    bench_end(&bench);
}

static bool
is_group_list(const struct reply *reply, const void *context)
{
    return is_answer(reply, context) && reply->is_last;
}

static void
a_group_and_a_filter_narrow_them(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    test_sql(bench.world.admin, fill_sql);
    struct request *request = request_create(REQUEST_GROUPS);
    uint64_t number = bench_ask(&bench, request);
    uint64_t within = 0;
    while (!within) { // until the messages that were written are counted
        struct reply *groups = bench_await(&bench, is_group_list, &number);
        const struct group_list *list = &groups->groups.list;
        for (size_t i = 0; i < list->count; i++)
            if (list->groups[i].count == EVENTS / 3 && list->groups[i].text.pattern &&
                strstr(list->groups[i].text.pattern, "disk full"))
                within = list->groups[i].key;
        reply_destroy(groups);
    }
    struct reply *reply = await_values(&bench, paths_request("$.task", NULL, &within), EVENTS / 3, 8);
    assert_int_equal(group_called(reply, PATH_NULL, "")->count, EVENTS / 24);
    reply_destroy(reply);
    reply = await_values(&bench, paths_request("$.task", "$.task=5 !disk", NULL), EVENTS / 8 * 2 / 3 * 2, 2);
    assert_true(reply->groups.matched.is_on);
    assert_int_equal(reply->groups.matched.groups, 8);
    assert_int_equal(group_called(reply, PATH_NUMBER, "5")->count, EVENTS / 8 * 2 / 3);
    reply_destroy(reply);
    bench_end(&bench);
}

static void
counts_follow_what_comes_goes_and_is_corrected(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, EVENTS);
    test_sql(bench.world.admin, fill_sql);
    struct request *request = paths_request("$.task", NULL, NULL);
    struct wanted wanted = {bench_ask(&bench, request), EVENTS, 8};
    reply_destroy(bench_await(&bench, is_wanted, &wanted));
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id %% 8 = 7;"
             "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message,"
             " created_at) SELECT 'late-' || i, 'late', 'other', '{\"task\": \"late\"}', 'late', now()"
             " FROM generate_series(1, 25) i");
    wanted.events = EVENTS - EVENTS / 8 + 25;
    struct reply *reply = bench_await(&bench, is_wanted, &wanted);
    assert_int_equal(group_called(reply, PATH_TEXT, "late")->count, 25);
    reply_destroy(reply);

    test_sql(bench.world.admin, "INSERT INTO redrive.revision (dlq_id, no, parent, payload, reason)"
                                " VALUES (8, 1, 0, '{\"task\": \"corrected\"}', 'x')");
    wanted.groups = 9;
    reply = bench_await(&bench, is_wanted, &wanted);
    size_t count;
    const struct event_group *corrected = group_called(reply, PATH_TEXT, "corrected");
    int64_t *ids = collect(&bench, corrected, corrected->path_term, true, &count);
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], 8);
    free(ids);
    reply_destroy(reply);
    bench_end(&bench);
}

static void
a_path_that_is_none_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 10);
    struct reply *reply = bench_answer(&bench, paths_request("$.task[x]", NULL, NULL));
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.column, 8);
    reply_destroy(reply);
    reply_destroy(await_values(&bench, paths_request("$.order", NULL, NULL), 10, 10));
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_a_row_of_its_own),
        cmocka_unit_test(a_group_and_a_filter_narrow_them),
        cmocka_unit_test(counts_follow_what_comes_goes_and_is_corrected),
        cmocka_unit_test(a_path_that_is_none_is_refused),
    };
    return cmocka_run_group_tests_name("group_paths", tests, NULL, NULL);
}
