// The screen's backend on a real PostgreSQL: what it tells, and what it does when the world changes behind
// its back.
#include "world.h"

#include "async/mailbox.h"
#include "async/message.h"
#include "base/alloc.h"
#include "base/uuid.h"
#include "engine/analyses.h"
#include "engine/backend/backend.h"
#include "engine/keeper.h"
#include "engine/sums.h"
#include "store/categories.h"

struct bench {
    struct world world;
    struct mailbox *requests, *replies;
    struct backend *backend;
    struct backend_settings settings;
    struct category_rules *rules;
    uint64_t numbers;
};

static const int64_t PATIENCE = 20 * US_PER_SECOND;

static void
drop_request(void *message)
{
    request_destroy(message);
}

static void
drop_reply(void *message)
{
    reply_destroy(message);
}

static void
prepare(struct bench *bench, int events)
{
    *bench = (struct bench){0};
    world_make(&bench->world, events);
    bench->rules = category_rules_create(NULL, NULL);
    bench->settings = (struct backend_settings){
        .store = {.conninfo = bench->world.conninfo,
                  .table = "public.dlq_events",
                  .program = "test",
                  .rules = bench->rules},
        .refresh_us = 100000,
    };
    bench->requests = mailbox_create(256);
    bench->replies = mailbox_create(64);
}

static void
begin(struct bench *bench, int events)
{
    prepare(bench, events);
    bench->backend = backend_start(&bench->settings, bench->requests, bench->replies);
}

static void
end(struct bench *bench)
{
    backend_stop(bench->backend);
    mailbox_destroy(bench->requests, drop_request);
    mailbox_destroy(bench->replies, drop_reply);
    category_rules_destroy(bench->rules);
    world_end(&bench->world);
}

static uint64_t
ask(struct bench *bench, struct request *request)
{
    uint64_t number = ++bench->numbers;
    request->number = number;
    assert_true(mailbox_put(bench->requests, request, 0)); // it is the backend's from here on
    return number;
}

typedef bool wanted_fn(const struct reply *reply, const void *context);

// The next reply that is wanted; others are dropped. Fails the test when none comes.
static struct reply *
await(struct bench *bench, wanted_fn *wanted, const void *context)
{
    int64_t until = clock_mono() + PATIENCE;
    while (clock_mono() < until) {
        struct reply *reply = mailbox_take(bench->replies, until - clock_mono());
        if (reply && wanted(reply, context))
            return reply;
        reply_destroy(reply);
    }
    fail_msg("the reply that was waited for did not come");
    return NULL;
}

static bool
answers(const struct reply *reply, const void *context)
{
    return reply->number == *(const uint64_t *)context;
}

static struct reply *
answer(struct bench *bench, struct request *request)
{
    uint64_t number = ask(bench, request);
    return await(bench, answers, &number);
}

static bool
counts(const struct reply *reply, const void *context)
{
    return reply->kind == REPLY_GROUPS && reply->is_last && reply->groups.events == *(const int64_t *)context;
}

static struct reply *
await_count(struct bench *bench, int64_t events)
{
    return await(bench, counts, &events);
}

static void
watch_groups(struct bench *bench)
{
    struct request *request = request_create(REQUEST_GROUPS);
    request->pivot = PIVOT_ERROR;
    ask(bench, request);
}

static void
what_needs_the_schema_is_answered_without_it(void **state)
{
    (void)state;
    struct bench bench;
    prepare(&bench, 3);
    test_sql(bench.world.admin, "DROP SCHEMA redrive CASCADE");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 3));
    static const enum request_kind kinds[] = {REQUEST_OPERATIONS, REQUEST_OPERATION};
    for (int i = 0; i < 2; i++) {
        struct request *request = request_create(kinds[i]);
        request->operation = 1;
        struct reply *reply = answer(&bench, request);
        assert_int_equal(reply->kind, REPLY_ERROR);
        assert_non_null(strstr(reply->err.text, "redrive migrate"));
        reply_destroy(reply);
    }
    end(&bench);
}

static void
groups_follow_what_others_do(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 1000);
    PGconn *admin = bench.world.admin;
    watch_groups(&bench);
    struct reply *reply = await_count(&bench, 1000);
    assert_int_equal(reply->groups.count, 1);
    assert_non_null(reply->groups.groups[0].text.pattern);
    assert_non_null(strstr(reply->groups.groups[0].text.sample, "Connection refused"));
    assert_string_equal(reply->groups.groups[0].types[0].name, "order.created");
    reply_destroy(reply);

    add_events(admin, 5); // consumers insert
    reply_destroy(await_count(&bench, 1005));
    test_sql(
        admin,
        "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id <= 10"); // others
                                                                                                 // close
    reply_destroy(await_count(&bench, 995));
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 3"); // and open again
    reply_destroy(await_count(&bench, 996));
    test_sql(admin, "DELETE FROM public.dlq_events WHERE id BETWEEN 100 AND 199");
    reply_destroy(await_count(&bench, 896));
    test_sql(admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message) VALUES"
             " ('new', 'x', '{}', 'division by zero in ledger')");
    reply = await_count(&bench, 897);
    assert_int_equal(reply->groups.count, 2);
    assert_int_equal(reply->groups.groups[1].count, 1);
    reply_destroy(reply);
    end(&bench);
}

// A sequence is not commit order: a lower id that commits later is found.
// A session that may not keep the sums, where nobody else does, counts rows itself.
static void
who_may_not_keep_sums_counts_rows(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 300);
    backend_stop(bench.backend);
    mailbox_destroy(bench.requests, drop_request);
    mailbox_destroy(bench.replies, drop_reply);
    bench.requests = mailbox_create(256);
    bench.replies = mailbox_create(64);
    test_sql(bench.world.admin, "TRUNCATE redrive.backlog_state");
    bench.settings.store.is_read_only = true;
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 300));
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.backlog_state"), 0);
    add_events(bench.world.admin, 5);
    reply_destroy(await_count(&bench, 305));
    end(&bench);
}

static void
late_commits_are_found(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 10);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 10));
    PGconn *late = test_connect(bench.world.conninfo);
    test_sql(late, "BEGIN; INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                   "error_message) VALUES ('late', 'x', '{}', 'late')");
    test_sql(bench.world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                                "error_message) VALUES ('soon', 'x', '{}', 'soon')");
    reply_destroy(await_count(&bench, 11));
    test_sql(late, "COMMIT");
    reply_destroy(await_count(&bench, 12));
    PQfinish(late);
    end(&bench);
}

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
    begin(&bench, 700);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 700));
    // In pages, the first of them small.
    uint64_t number = ask(&bench, list_request(NULL));
    int64_t listed = 0;
    bool is_last = false;
    while (!is_last) {
        struct reply *reply = await(&bench, answers, &number);
        assert_int_equal(reply->is_first, listed == 0);
        for (size_t i = 0; i < reply->id_count; i++)
            assert_int_equal(reply->ids[i], 700 - listed++);
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    assert_int_equal(listed, 700);

    // Together exactly what matches.
    number = ask(&bench, list_request("host-3 source-id:src-1"));
    size_t matched = 0;
    is_last = false;
    while (!is_last) {
        struct reply *reply = await(&bench, answers, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        matched += reply->id_count;
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    assert_int_equal(
        matched,
        test_number(
            bench.world.admin,
            "SELECT count(*) FROM public.dlq_events WHERE error_message ~ 'host-3' AND source_id ~ 'src-1'"));

    struct reply *reply = answer(&bench, list_request("(broken"));
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.column, 8);
    reply_destroy(reply);

    reply = answer(&bench, list_request("status:resolved"));
    assert_int_equal(reply->id_count, 0);
    assert_true(reply->is_last);
    reply_destroy(reply);
    end(&bench);
}

// All replies to a list or a collection; its ids in order.
static size_t
gather(struct bench *bench, uint64_t number, int64_t *ids, size_t room, int64_t *undecided)
{
    size_t count = 0;
    for (bool is_last = false; !is_last;) {
        struct reply *reply = await(bench, answers, &number);
        assert_int_equal(reply->kind, REPLY_LIST);
        for (size_t i = 0; i < reply->id_count && !reply->is_new_available; i++) {
            assert_true(count < room);
            ids[count++] = reply->ids[i];
        }
        *undecided = reply->undecided;
        is_last = reply->is_last;
        reply_destroy(reply);
    }
    return count;
}

// Counted, and not yet kept event by event: lists are whole all the same, and so is what an action is about.
static void
lists_do_not_wait_for_the_keeper(void **state)
{
    (void)state;
    struct bench bench;
    prepare(&bench, 3000);
    struct keeper *keeper = keeper_create(&bench.settings.store);
    struct rollup_state told = {.is_counting = true};
    while (!told.exists || told.is_counting) {
        keeper_step(keeper);
        assert_works(rollup_state(bench.world.store, &told, &err));
    }
    assert_true(told.is_listing);
    test_sql(bench.world.admin, "UPDATE redrive.backlog_state SET keeper_until = now() + interval '1 hour'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 3000));

    int64_t *ids = alloc_array(3000, sizeof *ids);
    int64_t undecided;
    assert_int_equal(gather(&bench, ask(&bench, list_request(NULL)), ids, 3000, &undecided), 3000);
    assert_int_equal(ids[0], 3000);
    size_t matched = gather(&bench, ask(&bench, list_request("host-3")), ids, 3000, &undecided);
    assert_int_equal(matched, test_number(bench.world.admin, "SELECT count(*) FROM public.dlq_events WHERE"
                                                             " error_message ~ 'host-3'"));

    // In another order it comes as soon as all is kept.
    struct request *request = list_request(NULL);
    request->list.order = ORDER_TYPE;
    uint64_t number = ask(&bench, request);
    while (told.is_listing) {
        keeper_step(keeper);
        assert_works(rollup_state(bench.world.store, &told, &err));
    }
    assert_int_equal(gather(&bench, number, ids, 3000, &undecided), 3000);
    free(ids);
    keeper_destroy(keeper);
    end(&bench);
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
    prepare(&bench, EVENTS);
    bench.settings.filter_cache = 64 << 20;
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET error_message = repeat('a', 30000) || '!' WHERE id <= %d",
             HOSTILE);
    int64_t matching = test_number(bench.world.admin,
                                   "SELECT count(*) FROM public.dlq_events WHERE error_message ~ 'host-3'");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, EVENTS));

    int64_t *ids = alloc_array(EVENTS * 2, sizeof *ids);
    int64_t undecided = 0;
    size_t count = gather(&bench, ask(&bench, list_request(text)), ids, EVENTS * 2, &undecided);
    assert_int_equal(count, matching + HOSTILE);
    assert_int_equal(undecided, HOSTILE);

    struct request *request = list_request(text);
    request->kind = REQUEST_COLLECT;
    uint64_t number = ask(&bench, request);
    add_events(bench.world.admin, 70);
    count = gather(&bench, number, ids, EVENTS * 2, &undecided);
    assert_int_equal(count, matching);
    assert_int_equal(undecided, HOSTILE);
    for (size_t i = 0; i < count; i++)
        assert_true(ids[i] > HOSTILE && ids[i] <= EVENTS && ids[i] % 7 == 3);
    free(ids);
    end(&bench);
}

static bool
names_change(const struct reply *reply, const void *context)
{
    for (size_t i = 0; reply->kind == REPLY_CHANGED && i < reply->id_count; i++)
        if (reply->ids[i] == *(const int64_t *)context)
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
    prepare(&bench, EVENTS);
    bench.settings.filter_cache = 64 << 20;
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, EVENTS));
    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    int64_t undecided;
    uint64_t number = ask(&bench, list_request("nowhere type:=another.type retries:9"));
    assert_int_equal(gather(&bench, number, ids, EVENTS, &undecided), 0);

    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET event_type = 'another.type', retry_count = 9 WHERE id = 77");
    reply_destroy(await(&bench, names_change, &changed));
    number = ask(&bench, list_request("type:=another.type retries:9"));
    assert_int_equal(gather(&bench, number, ids, EVENTS, &undecided), 1);
    assert_int_equal(ids[0], changed);
    free(ids);
    end(&bench);
}

static void
rows_and_details_are_read_by_id(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 20);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 20));
    struct request *request = request_create(REQUEST_ROWS);
    request->ids = alloc_array(3, sizeof *request->ids);
    request->ids[0] = 7;
    request->ids[1] = 999;
    request->ids[2] = 3;
    request->id_count = 3;
    struct reply *reply = answer(&bench, request);
    assert_int_equal(reply->row_count, 2);
    assert_int_equal(reply->rows[0].id, 7);
    assert_true(bytes_equal_text(reply->rows[1].event_id, "evt-3"));
    reply_destroy(reply);

    request = request_create(REQUEST_EVENT);
    request->id = 5;
    reply = answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_EVENT);
    assert_true(bytes_equal_text(reply->detail.event.topic, "orders"));
    assert_non_null(reply->detail.would_send.topic);
    assert_null(reply->detail.would_send.refusal);
    reply_destroy(reply);

    request = request_create(REQUEST_EVENT);
    request->id = 12345;
    reply = answer(&bench, request);
    assert_int_equal(reply->err.kind, ERR_NOT_FOUND);
    reply_destroy(reply);

    request = request_create(REQUEST_WHY);
    request->id = 5;
    reply = answer(&bench, request);
    assert_true(bytes_present(reply->explanation.print.pattern));
    assert_string_not_equal(reply->explanation.rules_version, "");
    assert_non_null(reply->explanation.category_rule);
    reply_destroy(reply);
    end(&bench);
}

static bool
is_permanent(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_GROUPS && reply->groups.count > 0 && reply->groups.groups[0].is_overridden &&
           reply->groups.groups[0].category == CATEGORY_PERMANENT;
}

static bool
is_by_rules(const struct reply *reply, const void *context)
{
    return reply->kind == REPLY_GROUPS && reply->groups.count > 0 && !reply->groups.groups[0].is_overridden &&
           reply->groups.groups[0].category == *(const enum category *)context;
}

static struct request *
category_of_group(uint64_t group, bool is_given)
{
    struct request *request = request_create(REQUEST_CATEGORY);
    request->group = group;
    request->has_category = is_given;
    request->category = CATEGORY_PERMANENT;
    request->reason = alloc_text("no way back");
    return request;
}

// What one gives is seen by the others, with who and why; taken back, the rules decide.
static void
a_category_is_given_and_taken_back(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 40);
    int64_t pending =
        test_number(bench.world.admin, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING'");
    ask(&bench, request_create(REQUEST_GROUPS));
    struct reply *reply = await(&bench, counts, &pending);
    uint64_t group = reply->groups.groups[0].key;
    int64_t sample = reply->groups.groups[0].sample_id;
    enum category by_rules = reply->groups.groups[0].category;
    assert_false(reply->groups.groups[0].is_overridden);
    assert_int_not_equal(by_rules, CATEGORY_PERMANENT);
    reply_destroy(reply);

    assert_works(store_category_set(bench.world.store, group, &(enum category){CATEGORY_PERMANENT},
                                    "no way back",
                                    &err)); // of another session
    reply_destroy(await(&bench, is_permanent, NULL));
    struct request *why = request_create(REQUEST_WHY);
    why->id = sample;
    reply = answer(&bench, why);
    assert_true(reply->explanation.is_overridden);
    assert_int_equal(reply->explanation.category, CATEGORY_PERMANENT);
    assert_int_equal(reply->explanation.by_rules, by_rules);
    assert_string_equal(reply->explanation.override.reason, "no way back");
    reply_destroy(reply);

    reply = answer(&bench, category_of_group(group, false));
    assert_int_equal(reply->kind, REPLY_CATEGORY);
    reply_destroy(reply);
    reply_destroy(await(&bench, is_by_rules, &by_rules));
    end(&bench);
}

static bool
confirms(const struct reply *reply, const void *context)
{
    return reply->kind != REPLY_PROGRESS && reply->number == *(const uint64_t *)context;
}

static void
what_is_confirmed_is_asked_for_once(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 50);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 50));
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 2");

    char key[UUID_SIZE];
    uuid_make(key);
    int64_t no = 0;
    for (int i = 0; i < 2; i++) { // the same key again: an answer that was lost
        struct request *request = request_create(REQUEST_CONFIRM);
        request->confirm = (struct operation_request){.action = ACTION_DISCARD, .rate = RATE_UNLIMITED};
        memcpy(request->confirm.key, key, sizeof key);
        request->scope = alloc_text("3 events of a test");
        request->reason = alloc_text("a test");
        request->ids = alloc_array(3, sizeof *request->ids);
        for (int64_t id = 1; id <= 3; id++)
            request->ids[id - 1] = id;
        request->id_count = 3;
        uint64_t number = ask(&bench, request);
        struct reply *reply = await(&bench, confirms, &number);
        if (reply->kind != REPLY_CONFIRMED)
            fail_msg("%s", reply->err.text);
        assert_true(i == 0 || reply->operation == no);
        no = reply->operation;
        reply_destroy(reply);
    }
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.operation"), 1);

    struct request *request = request_create(REQUEST_OPERATION);
    request->operation = no;
    struct reply *reply = answer(&bench, request);
    assert_int_equal(reply->operations[0].total, 3);
    assert_int_equal(reply->operations[0].conflict, 1);
    assert_string_equal(reply->operations[0].reason, "a test");
    reply_destroy(reply);

    request = request_create(REQUEST_STEER);
    request->operation = no;
    request->steer = STEER_CANCEL;
    reply = answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_STEERED);
    reply_destroy(reply);
    end(&bench);
}

static bool
link_is(const struct reply *reply, const void *context)
{
    return reply->kind == REPLY_STATUS && reply->status.link == *(const enum link_state *)context;
}

// PostgreSQL throws everybody out: told, retried, and the numbers are right again.
static void
a_lost_connection_comes_back(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 30);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 30));
    test_sql(bench.world.admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                                "current_database() AND pid <> pg_backend_pid()");
    enum link_state lost = LINK_LOST;
    struct reply *reply = await(&bench, link_is, &lost);
    assert_true(*reply->status.trouble != '\0');
    reply_destroy(reply);
    enum link_state live = LINK_LIVE;
    reply_destroy(await(&bench, link_is, &live));
    add_events(bench.world.admin, 4);
    reply_destroy(await_count(&bench, 34));
    end(&bench);
}

// A screen on which nothing happens is told nothing, so that it can send nothing.
static void
nothing_new_is_no_news(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 10);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET created_at = created_at - interval '3 days'");
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 10));
    clock_sleep(500000);
    for (struct reply *reply; (reply = mailbox_take(bench.replies, 0));)
        reply_destroy(reply);
    assert_null(mailbox_take(bench.replies, 2 * US_PER_SECOND));
    end(&bench);
}

static bool
has_back(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_GROUPS && reply->groups.count == 1 && reply->groups.groups[0].is_back;
}

// A group that an operation emptied and that fills again is told apart from a new one.
static void
an_emptied_group_comes_back(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 3);
    watch_groups(&bench);
    struct reply *reply = await_count(&bench, 3);
    char group[GROUP_TEXT];
    group_text(reply->groups.groups[0].key, group);
    reply_destroy(reply);

    const int64_t ids[] = {1, 2, 3};
    struct operation_request request = {.action = ACTION_DISCARD,
                                        .ids = ids,
                                        .count = 3,
                                        .scope = "all",
                                        .group = group,
                                        .rate = RATE_UNLIMITED};
    uuid_make(request.key);
    int64_t no;
    int64_t applied;
    int64_t left;
    assert_works(operation_create(bench.world.store, &request, NULL, NULL, &no, &err));
    assert_works(work_apply(bench.world.store, no, 10, &applied, &left, &err));
    assert_works(work_finish(bench.world.store, no, &err));
    reply_destroy(await_count(&bench, 0));
    add_events(bench.world.admin, 2);
    reply_destroy(await(&bench, has_back, NULL));
    end(&bench);
}

static void
assert_same_errors(const struct stats *told, const struct stats *read)
{
    assert_int_equal(told->error_count, read->error_count);
    for (size_t i = 0; i < read->error_count; i++) {
        assert_string_equal(told->errors[i].message, read->errors[i].message);
        assert_int_equal(told->errors[i].group, read->errors[i].group);
        assert_int_equal(told->errors[i].count, read->errors[i].count);
        assert_int_equal(told->errors[i].first_at, read->errors[i].first_at);
        assert_int_equal(told->errors[i].last_at, read->errors[i].last_at);
    }
}

static void
assert_same_types(const struct stats *told, const struct stats *read)
{
    assert_int_equal(told->type_count, read->type_count);
    for (size_t i = 0; i < read->type_count; i++) {
        assert_string_equal(told->types[i].event_type, read->types[i].event_type);
        assert_int_equal(told->types[i].total, read->types[i].total);
        assert_int_equal(told->types[i].pending, read->types[i].pending);
        assert_int_equal(told->types[i].resolved, read->types[i].resolved);
    }
    assert_int_equal(told->resolution_count, read->resolution_count);
    for (size_t i = 0; i < read->resolution_count; i++) {
        assert_string_equal(told->resolutions[i].event_type, read->resolutions[i].event_type);
        assert_int_equal(told->resolutions[i].resolved, read->resolutions[i].resolved);
        assert_true(told->resolutions[i].mean_seconds == read->resolutions[i].mean_seconds);
    }
}

// What the screen is told is what `redrive stats` reads by itself at that moment.
static void
assert_same_stats(struct bench *bench, const struct stats *told)
{
    struct rollup_state state;
    struct stats read;
    bool has_sums = sums_catch_up(&bench->settings.store, bench->world.store, &state);
    assert_int_equal(told->errors[0].group != 0, has_sums);
    assert_works(analyses_read(bench->world.store, has_sums, &bench->world.arena, &read, &err));
    assert_memory_equal(&told->pending, &read.pending, sizeof read.pending);
    assert_same_errors(told, &read);
    assert_int_equal(told->hour_count, read.hour_count);
    int64_t told_hours = 0;
    int64_t read_hours = 0;
    for (size_t i = 0; i < read.hour_count; i++) {
        told_hours += told->hours[i].count;
        read_hours += read.hours[i].count;
    }
    assert_int_equal(told_hours, read_hours);
    assert_same_types(told, &read);
}

static void
stats_are_those_of_the_command(void **state)
{
    (void)state;
    struct bench bench;
    for (int keeps = 0; keeps < 2; keeps++) {
        prepare(&bench, 60);
        test_sql(bench.world.admin,
                 "UPDATE dlq_events SET error_message = 'no account ' || id %% 7, "
                 "event_type = CASE WHEN id %% 3 = 0 THEN 'order.updated' ELSE event_type END");
        test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = created_at + "
                                    "interval '90 seconds' WHERE id <= 10");
        test_sql(bench.world.admin, "UPDATE dlq_events SET status = 'DISCARDED' WHERE id = 11");
        bench.settings.store.is_read_only = !keeps;
        bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
        watch_groups(&bench);
        reply_destroy(await_count(&bench, 49));
        struct reply *reply = answer(&bench, request_create(REQUEST_STATS));
        assert_int_equal(reply->kind, REPLY_STATS);
        assert_int_equal(reply->stats.pending.pending, 49);
        assert_int_equal(reply->stats.pending.resolved, 10);
        assert_int_equal(reply->stats.pending.discarded, 1);
        assert_int_equal(reply->stats.errors[0].group != 0,
                         keeps); // by group out of the sums, else by message
        assert_same_stats(&bench, &reply->stats);
        reply_destroy(reply);
        end(&bench);
    }
}

static void
await_blocked_count(struct bench *bench)
{
    int64_t until = clock_mono() + PATIENCE;
    while (test_number(bench->world.admin, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = "
                                           "'Lock' AND query LIKE 'WITH %'") == 0) {
        assert_true(clock_mono() < until);
        clock_sleep(10000);
    }
}

// The count waits for a lock that nobody gives; meanwhile the reader answers, and the count can be stopped.
static void
a_count_of_stats_is_in_nobodys_way(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 20);
    watch_groups(&bench);
    reply_destroy(await_count(&bench, 20));
    struct request *request = request_create(REQUEST_STATS);
    PGconn *locker = test_connect(bench.world.conninfo);
    test_sql(locker, "BEGIN; LOCK TABLE dlq_events IN ACCESS EXCLUSIVE MODE");
    uint64_t number = ask(&bench, request);
    await_blocked_count(&bench);
    struct reply *reply = answer(&bench, request_create(REQUEST_AUDIT));
    assert_int_equal(reply->kind, REPLY_AUDIT);
    reply_destroy(reply);

    request = request_create(REQUEST_CANCEL);
    request->target = number;
    int64_t asked_at = clock_mono();
    ask(&bench, request);
    reply = await(&bench, answers, &number);
    assert_true(clock_mono() - asked_at < 2 * US_PER_SECOND); // not by lock_timeout, after 3 s
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.kind, ERR_CANCELLED);
    assert_non_null(strstr(reply->err.text, "r counts again"));
    reply_destroy(reply);
    PQfinish(locker);
    reply = answer(&bench, request_create(REQUEST_STATS));
    assert_int_equal(reply->stats.pending.pending, 20);
    reply_destroy(reply);
    end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_the_schema_is_answered_without_it),
        cmocka_unit_test(groups_follow_what_others_do),
        cmocka_unit_test(who_may_not_keep_sums_counts_rows),
        cmocka_unit_test(late_commits_are_found),
        cmocka_unit_test(lists_are_whole_and_newest_first),
        cmocka_unit_test(lists_do_not_wait_for_the_keeper),
        cmocka_unit_test(what_is_collected_matched),
        cmocka_unit_test(rows_follow_what_others_write),
        cmocka_unit_test(rows_and_details_are_read_by_id),
        cmocka_unit_test(what_is_confirmed_is_asked_for_once),
        cmocka_unit_test(a_lost_connection_comes_back),
        cmocka_unit_test(nothing_new_is_no_news),
        cmocka_unit_test(an_emptied_group_comes_back),
        cmocka_unit_test(a_category_is_given_and_taken_back),
        cmocka_unit_test(stats_are_those_of_the_command),
        cmocka_unit_test(a_count_of_stats_is_in_nobodys_way),
    };
    return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
