// The lists that the screen's backend gives, what it collects for an action, and single rows.
#include "backend_world.h"

#include <stdio.h>
#include "base/alloc.h"
#include "base/uuid.h"
#include "store/operations/operations.h"
#include "rollup/maintainer.h"
#include "store/rollup/rollup.h"

static struct request *
list_request(const char *filter)
{
    struct request *request = request_create(REQUEST_LIST);
    request->list.filter = filter ? alloc_text(filter) : NULL;
    return request;
}

static void
lists_are_whole_and_newest_first(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 700);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 700));
    // In pages, the first of them small.
    uint64_t number = bench_ask(&bench, list_request(NULL));
    int64_t listed = 0;
    bool is_last = false;
    while (!is_last) {
        struct reply *reply = bench_await(&bench, is_answer, &number);
        assert_int_equal(reply->list.is_first, listed == 0);
        for (size_t i = 0; i < reply->list.count; i++)
            assert_int_equal(reply->list.ids[i], 700 - listed++);
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    assert_int_equal(listed, 700);

    // Together exactly what matches.
    number = bench_ask(&bench, list_request("host-3 source-id:src-1"));
    size_t matched = 0;
    is_last = false;
    while (!is_last) {
        struct reply *reply = bench_await(&bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        matched += reply->list.count;
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    assert_int_equal(
        matched,
        test_number(
            bench.world.admin,
            "SELECT count(*) FROM public.dlq_events WHERE error_message ~ 'host-3' AND source_id ~ 'src-1'"));

    struct reply *reply = bench_answer(&bench, list_request("(broken"));
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.column, 8);
    reply_destroy(reply);

    reply = bench_answer(&bench, list_request("status:resolved"));
    assert_int_equal(reply->list.count, 0);
    assert_true(reply->is_last);
    reply_destroy(reply);
    bench_end(&bench);
}

// All replies to a list or a collection; its ids in order.
static size_t
gather(struct bench *bench, uint64_t number, int64_t *ids, size_t room, int64_t *undecided)
{
    size_t count = 0;
    for (bool is_last = false; !is_last;) {
        struct reply *reply = bench_await(bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        for (size_t i = 0; i < reply->list.count && !reply->list.is_new_available; i++) {
            assert_true(count < room);
            ids[count++] = reply->list.ids[i];
        }
        *undecided = reply->list.undecided;
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    return count;
}

// Counted, and not yet kept event by event: lists are whole all the same, and so is what an action is about.
static bool
is_whole_answer(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_GROUPS && reply->groups.list.count > 0 &&
           !reply->groups.list.groups[0].outcomes.is_partial;
}

static void
lists_do_not_wait_for_the_maintainer(void **state)
{
    (void)state;
    struct bench bench;
    bench_prepare(&bench, 3000);
    struct maintainer *maintainer = maintainer_create(&bench.settings.store);
    struct rollup_state told = {.is_counting = true};
    while (!told.exists || told.is_counting) {
        maintainer_step(maintainer);
        assert_works(rollup_state(bench.world.store, &told, &err));
    }
    assert_true(told.is_listing);
    test_sql(bench.world.admin, "UPDATE redrive.rollup_state SET lease_until = now() + interval '1 hour'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    struct reply *reply = bench_await_count(&bench, 3000);
    assert_true(reply->groups.list.groups[0].outcomes.is_partial);
    reply_destroy(reply);

    int64_t *ids = alloc_array(3000, sizeof *ids);
    int64_t undecided;
    assert_int_equal(gather(&bench, bench_ask(&bench, list_request(NULL)), ids, 3000, &undecided), 3000);
    assert_int_equal(ids[0], 3000);
    size_t matched = gather(&bench, bench_ask(&bench, list_request("host-3")), ids, 3000, &undecided);
    assert_int_equal(matched, test_number(bench.world.admin, "SELECT count(*) FROM public.dlq_events WHERE"
                                                             " error_message ~ 'host-3'"));

    // In another order it comes as soon as all is kept.
    struct request *request = list_request(NULL);
    request->list.order = ORDER_TYPE;
    uint64_t number = bench_ask(&bench, request);
    while (told.is_listing) {
        maintainer_step(maintainer);
        assert_works(rollup_state(bench.world.store, &told, &err));
    }
    assert_int_equal(gather(&bench, number, ids, 3000, &undecided), 3000);
    free(ids);
    reply_destroy(bench_await(&bench, is_whole_answer, NULL));
    maintainer_destroy(maintainer);
    bench_end(&bench);
}

static int64_t
order_of(const struct bench *bench, int64_t id)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT event_payload->>'order' FROM public.dlq_events WHERE id = %lld",
             (long long)id);
    return test_number(bench->world.admin, sql);
}

// A list by a path: of few events at once; of many some first, in their order, and then all anew. What has
// no value is last.
static void
a_list_is_sorted_by_a_path(void **state)
{
    (void)state;
    enum { EVENTS = 6000 };
    struct bench bench;
    bench_prepare(&bench, EVENTS);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET event_payload = CASE id %% 10 WHEN 0 THEN '{}'"
                                " ELSE jsonb_build_object('order', id * 7919 %% 6007) END");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));

    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    for (int many = 0; many < 2; many++) {
        struct request *request = list_request(many ? NULL : "id:..400");
        request->list.order = ORDER_PATH;
        request->list.order_path = alloc_text("$.order");
        uint64_t number = bench_ask(&bench, request);
        int64_t total = many ? EVENTS : 400, with_value = total - total / 10;
        size_t count = 0;
        bool had_beginning = false;
        for (bool is_last = false; !is_last;) {
            struct reply *reply = bench_await(&bench, is_answer, &number);
            assert_int_equal(reply->kind, REPLY_LIST);
            count = reply->list.is_first ? 0 : count;
            assert_true(count + reply->list.count <= EVENTS);
            for (size_t i = 0; i < reply->list.count; i++)
                ids[count++] = reply->list.ids[i];
            if (reply->list.is_beginning) {
                had_beginning = true;
                assert_false(reply->is_last);
                assert_in_range(count, 100, EVENTS - 1);
                assert_true(order_of(&bench, ids[0]) < order_of(&bench, ids[90]));
            }
            is_last = reply->is_last;
            reply_destroy(reply);
        }
        assert_int_equal(had_beginning, many);
        assert_int_equal(count, total);
        for (int64_t i = 0; i + 1 < with_value; i += many ? 97 : 1)
            assert_true(order_of(&bench, ids[i]) < order_of(&bench, ids[i + 1]));
        for (int64_t i = with_value; i < total; i++)
            assert_int_equal(ids[i] % 10, 0);
    }

    struct request *request = list_request(NULL);
    request->list.order = ORDER_PATH;
    request->list.order_path = alloc_text("$.[");
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_ERROR);
    reply_destroy(reply);
    free(ids);
    bench_end(&bench);
}

// Nobody brings the counts up to date: a list that is checked leaves out what is closed all the same.
static void
a_checked_list_has_only_pending_events(void **state)
{
    (void)state;
    enum { EVENTS = 3000, CLOSED = 50 };
    struct bench bench;
    bench_prepare(&bench, EVENTS);
    struct maintainer *maintainer = maintainer_create(&bench.settings.store);
    struct rollup_state told = {.is_counting = true};
    while (!told.exists || told.is_counting || told.is_listing) {
        maintainer_step(maintainer);
        assert_works(rollup_state(bench.world.store, &told, &err));
    }
    maintainer_destroy(maintainer);
    // Exact for as long as the test takes, however busy the machine is.
    test_sql(bench.world.admin, "UPDATE redrive.rollup_state SET lease_until = now() + interval '1 hour',"
                                " exact_at = now() + interval '1 hour'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id %% (3000 / 50) = 0");

    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    int64_t undecided;
    for (int is_checked = 0; is_checked < 2; is_checked++) {
        for (enum list_order order = ORDER_WHEN; order <= ORDER_TYPE; order += ORDER_TYPE) {
            struct request *request = list_request(NULL);
            request->list.is_checked = is_checked;
            request->list.order = order;
            size_t count = gather(&bench, bench_ask(&bench, request), ids, EVENTS, &undecided);
            // One that is not checked may have them until the screen sees that they were closed.
            assert_true(count == EVENTS - CLOSED || (!is_checked && count == EVENTS));
            for (size_t i = 0; i < count && is_checked; i++)
                assert_int_not_equal(ids[i] % (EVENTS / CLOSED), 0);
        }
    }
    free(ids);
    bench_end(&bench);
}

// Until times are known, a list is by id and says so; then it is sent again by time. The later the id, the
// older the event.
static void
a_list_says_which_order_it_has(void **state)
{
    (void)state;
    enum { EVENTS = 3000 };
    struct bench bench;
    bench_prepare(&bench, EVENTS);
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET created_at = timestamp '2026-01-01' - id * interval '1 s'");
    struct maintainer *maintainer = maintainer_create(&bench.settings.store);
    struct rollup_state told = {.is_counting = true};
    while (!told.exists || told.is_counting) {
        maintainer_step(maintainer);
        assert_works(rollup_state(bench.world.store, &told, &err));
    }
    test_sql(bench.world.admin, "UPDATE redrive.rollup_state SET lease_until = now() + interval '1 hour'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));

    uint64_t number = bench_ask(&bench, list_request("host-3"));
    int64_t total = test_number(bench.world.admin,
                                "SELECT count(*) FROM public.dlq_events WHERE error_message ~ 'host-3'");
    for (int by_time = 0; by_time < 2; by_time++) {
        int64_t listed = 0;
        int64_t before = by_time ? 0 : EVENTS + 1;
        for (bool is_last = false; !is_last;) {
            struct reply *reply = bench_await(&bench, is_answer, &number);
            assert_int_equal(reply->kind, REPLY_LIST);
            assert_int_equal(reply->list.is_by_id, !by_time);
            assert_int_equal(reply->list.is_first, listed == 0);
            for (size_t i = 0; i < reply->list.count; before = reply->list.ids[i++], listed++)
                assert_true(by_time ? reply->list.ids[i] > before : reply->list.ids[i] < before);
            is_last = reply->is_last;
            reply_destroy(reply);
        }
        assert_int_equal(listed, total);
        while (told.is_listing) {
            maintainer_step(maintainer);
            assert_works(rollup_state(bench.world.store, &told, &err));
        }
    }
    maintainer_destroy(maintainer);

    // What is closed is by id, and so is what an operation has.
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id IN (5, 6)");
    struct reply *reply = bench_answer(&bench, list_request("status:resolved"));
    assert_true(reply->list.is_by_id);
    assert_int_equal(reply->list.ids[0], 6);
    reply_destroy(reply);
    int64_t no = make_operation(&bench.world, bench.world.store, ACTION_DISCARD, 11, 13);
    for (int oldest_first = 0; oldest_first < 2; oldest_first++) {
        struct request *request = list_request(NULL);
        request->list.source = LIST_OPERATION;
        request->list.operation = no;
        request->list.oldest_first = oldest_first;
        reply = bench_answer(&bench, request);
        assert_true(reply->list.is_by_id);
        assert_int_equal(reply->list.count, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(reply->list.ids[i], oldest_first ? 11 + (int64_t)i : 13 - (int64_t)i);
        reply_destroy(reply);
    }
    bench_end(&bench);
}

// What an action is about is exactly what matched when it was asked for: nothing that arrives while it is
// searched for, and nothing that a pattern could not decide, which the list shows.
static void
what_is_collected_matched(void **state)
{
    (void)state;
    enum { EVENTS = 3000, HOSTILE = 5 };
    static const char text[] = "\"(a+)+[bc]$|host-3\"";
    struct bench bench;
    bench_prepare(&bench, EVENTS);
    bench.settings.filter_cache = 64 << 20;
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET error_message = repeat('a', 30000) || '!' WHERE id <= %d",
             HOSTILE);
    int64_t matching = test_number(bench.world.admin,
                                   "SELECT count(*) FROM public.dlq_events WHERE error_message ~ 'host-3'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));

    int64_t *ids = alloc_array(EVENTS * 2, sizeof *ids);
    int64_t undecided = 0;
    size_t count = gather(&bench, bench_ask(&bench, list_request(text)), ids, EVENTS * 2, &undecided);
    assert_int_equal(count, matching + HOSTILE);
    assert_int_equal(undecided, HOSTILE);

    struct request *request = list_request(text);
    request->kind = REQUEST_COLLECT;
    uint64_t number = bench_ask(&bench, request);
    add_events(bench.world.admin, 70);
    count = gather(&bench, number, ids, EVENTS * 2, &undecided);
    assert_int_equal(count, matching);
    assert_int_equal(undecided, HOSTILE);
    for (size_t i = 0; i < count; i++)
        assert_true(ids[i] > HOSTILE && ids[i] <= EVENTS && ids[i] % 7 == 3);
    free(ids);
    bench_end(&bench);
}

static bool
names_change(const struct reply *reply, const void *context)
{
    for (size_t i = 0; reply->kind == REPLY_CHANGED && i < reply->list.count; i++)
        if (reply->list.ids[i] == *(const int64_t *)context)
            return true;
    return false;
}

// Type, topic and retries of a pending row are not what others closed: no count changes by them.
static void
rows_follow_what_others_write(void **state)
{
    (void)state;
    enum { EVENTS = 600 };
    static const int64_t changed = 77;
    struct bench bench;
    bench_prepare(&bench, EVENTS);
    bench.settings.filter_cache = 64 << 20;
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));
    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    int64_t undecided;
    uint64_t number = bench_ask(&bench, list_request("nowhere type:=another.type retries:9"));
    assert_int_equal(gather(&bench, number, ids, EVENTS, &undecided), 0);

    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET event_type = 'another.type', retry_count = 9 WHERE id = 77");
    reply_destroy(bench_await(&bench, names_change, &changed));
    number = bench_ask(&bench, list_request("type:=another.type retries:9"));
    assert_int_equal(gather(&bench, number, ids, EVENTS, &undecided), 1);
    assert_int_equal(ids[0], changed);
    free(ids);

    // The next change names no more than itself.
    static const int64_t next = 78;
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET retry_count = 9 WHERE id = 78");
    struct reply *reply = bench_await(&bench, names_change, &next);
    assert_int_equal(reply->list.count, 1);
    reply_destroy(reply);
    bench_end(&bench);
}

static bool
is_nameless_change(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_CHANGED && reply->list.count == 0;
}

// Somebody writes all rows, and the screen is told so without their names.
static void
begin_with_all_written(struct bench *bench, int events)
{
    bench_prepare(bench, events);
    bench->settings.filter_cache = 64 << 20;
    bench->backend = backend_start(&bench->settings, bench->requests, bench->replies);
    bench_watch_groups(bench);
    reply_destroy(bench_await_count(bench, events));
    int64_t none, undecided;
    uint64_t number = bench_ask(bench, list_request("nowhere type:=another.type"));
    assert_int_equal(gather(bench, number, &none, 0, &undecided), 0);
    test_sql(bench->world.admin, "UPDATE public.dlq_events SET event_type = 'another.type'");
    reply_destroy(bench_await(bench, is_nameless_change, NULL));
}

static void
more_than_can_be_named_are_read_again(void **state)
{
    (void)state;
    enum { EVENTS = 20001 };
    struct bench bench;
    begin_with_all_written(&bench, EVENTS);
    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    int64_t undecided;
    uint64_t number = bench_ask(&bench, list_request("type:=another.type"));
    assert_int_equal(gather(&bench, number, ids, EVENTS, &undecided), EVENTS);
    free(ids);
    bench_end(&bench);
}

// The screen reads its visible rows again, and nothing more.
static void
only_requested_rows_are_read_again(void **state)
{
    (void)state;
    struct bench bench;
    begin_with_all_written(&bench, 50001);
    struct request *request = request_create(REQUEST_ROWS);
    request->ids = alloc_array(1, sizeof *request->ids);
    request->ids[0] = 50001;
    request->id_count = 1;
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->rows.count, 1);
    assert_true(bytes_equal_text(reply->rows.events[0].event_type, "another.type"));
    reply_destroy(reply);
    bench_end(&bench);
}

static void
rows_and_details_are_read_by_id(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 20);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 20));
    struct request *request = request_create(REQUEST_ROWS);
    request->ids = alloc_array(3, sizeof *request->ids);
    request->ids[0] = 7;
    request->ids[1] = 999;
    request->ids[2] = 3;
    request->id_count = 3;
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->rows.count, 2);
    assert_int_equal(reply->rows.events[0].id, 7);
    assert_true(bytes_equal_text(reply->rows.events[1].event_id, "evt-3"));
    reply_destroy(reply);

    request = request_create(REQUEST_EVENT);
    request->id = 5;
    reply = bench_answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_EVENT);
    assert_true(bytes_equal_text(reply->detail.event.topic, "orders"));
    assert_non_null(reply->detail.would_send.topic);
    assert_null(reply->detail.would_send.refusal);
    reply_destroy(reply);

    request = request_create(REQUEST_EVENT);
    request->id = 12345;
    reply = bench_answer(&bench, request);
    assert_int_equal(reply->err.kind, ERR_NOT_FOUND);
    reply_destroy(reply);

    request = request_create(REQUEST_WHY);
    request->id = 5;
    reply = bench_answer(&bench, request);
    assert_true(bytes_present(reply->explanation.print.pattern));
    assert_string_not_equal(reply->explanation.rules_version, "");
    assert_non_null(reply->explanation.category_rule);
    reply_destroy(reply);
    bench_end(&bench);
}

static struct reply *
recent_of(struct bench *bench, const char *group, const char *filter)
{
    struct request *request = request_create(REQUEST_RECENT);
    request->list = (struct list_query){.source = LIST_PENDING, .pivot = PIVOT_ERROR, .has_value = true};
    request->list.filter = filter ? alloc_text(filter) : NULL;
    snprintf(request->list.value, sizeof request->list.value, "%s", group);
    struct reply *reply = bench_answer(bench, request);
    if (reply->kind != REPLY_RECENT)
        fail_msg("%s", reply->err.text);
    return reply;
}

// The newest events of a group by their time, and what was decided about it last.
static void
what_happened_in_a_group_last_is_told(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 200);
    bench_watch_groups(&bench);
    struct reply *reply = bench_await_count(&bench, 200);
    char group[GROUP_TEXT];
    snprintf(group, sizeof group, "%s", reply->groups.list.groups[0].value);
    int64_t newest = reply->groups.list.groups[0].sample_id;
    reply_destroy(reply);

    reply = recent_of(&bench, group, NULL);
    assert_int_equal(reply->recent.count, RECENT_EVENTS);
    assert_int_equal(reply->recent.events[0].id, newest);
    for (size_t i = 1; i < reply->recent.count; i++)
        assert_true(reply->recent.events[i - 1].created_at >= reply->recent.events[i].created_at);
    assert_null(reply->recent.decision);
    reply_destroy(reply);

    int64_t no;
    struct operation_request asked = {.action = ACTION_DISCARD,
                                      .scope = "a group",
                                      .group = group,
                                      .rate = RATE_UNLIMITED,
                                      .ids = &newest,
                                      .count = 1};
    uuid_make(asked.key);
    assert_works(operation_create(bench.world.store, &asked, NULL, NULL, &no, &err));
    reply = recent_of(&bench, group, "id:1");
    assert_int_equal(reply->recent.count, 0); // which of them match is not known
    assert_non_null(reply->recent.decision);
    assert_int_equal(reply->recent.decision->no, no);
    assert_int_equal(reply->recent.decision->action, ACTION_DISCARD);
    reply_destroy(reply);
    // One that was closed, which the kept counts need not know yet, is none of them.
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id = %lld",
             (long long)newest);
    reply = recent_of(&bench, group, NULL);
    for (size_t i = 0; i < reply->recent.count; i++)
        assert_int_not_equal(reply->recent.events[i].id, newest);
    reply_destroy(reply);
    reply = recent_of(&bench, "0123456789abcdef", NULL);
    assert_null(reply->recent.decision);
    assert_int_equal(reply->recent.count, 0);
    reply_destroy(reply);
    bench_end(&bench);
}

// The kept counts say which events a group has. An action takes none whose row says otherwise by now.
static void
an_action_on_a_group_looks_at_the_rows(void **state)
{
    (void)state;
    enum { EVENTS = 3000, CHANGED = 5 };
    struct bench bench;
    bench_prepare(&bench, EVENTS);
    struct maintainer *maintainer = maintainer_create(&bench.settings.store);
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND;
         !maintainer_is_exact(maintainer) && clock_mono() < until;)
        maintainer_step(maintainer);
    PGconn *admin = bench.world.admin;
    test_sql(admin, "UPDATE redrive.rollup_state SET lease_until = now() + interval '1 hour'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, EVENTS));

    struct request *request = list_request(NULL);
    request->kind = REQUEST_COLLECT;
    request->list.pivot = PIVOT_ERROR;
    request->list.has_value = true;
    snprintf(request->list.value, sizeof request->list.value, "%s",
             test_text(admin, "SELECT lpad(to_hex(c.group_key), 16, '0') FROM redrive.rollup_event b"
                              " JOIN redrive.rollup_series c ON c.no = b.series WHERE b.dlq_id = 5"));
    test_sql(admin,
             "CREATE TABLE public.members AS SELECT b.dlq_id AS id FROM redrive.rollup_event b"
             " JOIN redrive.rollup_series c ON c.no = b.series WHERE c.group_key = (SELECT d.group_key FROM "
             "redrive.rollup_event a JOIN redrive.rollup_series d ON d.no = a.series WHERE a.dlq_id = 5)");
    int64_t members = test_number(admin, "SELECT count(*) FROM public.members");
    test_sql(admin,
             "UPDATE public.dlq_events SET error_message = 'something else altogether, by the consumer'"
             " WHERE id IN (SELECT id FROM public.members ORDER BY id LIMIT %d)",
             CHANGED);
    // One that was closed meanwhile stays: the action says so of it.
    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id = (SELECT max(id) FROM "
                    "public.members)");
    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    int64_t undecided;
    size_t count = gather(&bench, bench_ask(&bench, request), ids, EVENTS, &undecided);
    assert_int_equal(count, members - CHANGED);
    for (size_t i = 0; i < count; i++) {
        char sql[120];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM public.dlq_events WHERE id = %lld AND error_message ~ '^something'",
                 (long long)ids[i]);
        if (i % 50 == 0)
            assert_int_equal(test_number(admin, sql), 0);
    }
    free(ids);
    maintainer_destroy(maintainer);
    bench_end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_whole_and_newest_first),
        cmocka_unit_test(lists_do_not_wait_for_the_maintainer),
        cmocka_unit_test(a_list_is_sorted_by_a_path),
        cmocka_unit_test(a_checked_list_has_only_pending_events),
        cmocka_unit_test(a_list_says_which_order_it_has),
        cmocka_unit_test(what_is_collected_matched),
        cmocka_unit_test(what_happened_in_a_group_last_is_told),
        cmocka_unit_test(an_action_on_a_group_looks_at_the_rows),
        cmocka_unit_test(rows_follow_what_others_write),
        cmocka_unit_test(more_than_can_be_named_are_read_again),
        cmocka_unit_test(only_requested_rows_are_read_again),
        cmocka_unit_test(rows_and_details_are_read_by_id),
    };
    return cmocka_run_group_tests_name("backend lists", tests, NULL, NULL);
}
