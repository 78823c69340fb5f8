// The screen's backend on a real PostgreSQL: what it tells, and what it does when the world changes behind
// its back. Previews that are told part by part, and stopped, are of backend/preview.
#include "backend_world.h"

#include "base/alloc.h"
#include "base/uuid.h"
#include "store/rollup/categories.h"

static void
what_needs_the_schema_is_answered_without_it(void **state)
{
    (void)state;
    struct bench bench;
    bench_prepare(&bench, 3);
    test_sql(bench.world.admin, "DROP SCHEMA redrive CASCADE");
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 3));
    static const enum request_kind kinds[] = {REQUEST_OPERATIONS, REQUEST_OPERATION};
    for (int i = 0; i < 2; i++) {
        struct request *request = request_create(kinds[i]);
        request->operation = 1;
        struct reply *reply = bench_answer(&bench, request);
        assert_int_equal(reply->kind, REPLY_ERROR);
        assert_non_null(strstr(reply->err.text, "redrive migrate"));
        reply_destroy(reply);
    }
    bench_end(&bench);
}

static void
groups_follow_what_others_do(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 1000);
    PGconn *admin = bench.world.admin;
    bench_watch_groups(&bench);
    struct reply *reply = bench_await_count(&bench, 1000);
    assert_int_equal(reply->groups.list.count, 1);
    assert_non_null(reply->groups.list.groups[0].text.pattern);
    assert_non_null(strstr(reply->groups.list.groups[0].text.sample, "Connection refused"));
    assert_string_equal(reply->groups.list.groups[0].types[0].name, "order.created");
    reply_destroy(reply);

    add_events(admin, 5); // consumers insert
    reply_destroy(bench_await_count(&bench, 1005));
    test_sql(
        admin,
        "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id <= 10"); // others
                                                                                                 // close
    reply_destroy(bench_await_count(&bench, 995));
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id = 3"); // and open again
    reply_destroy(bench_await_count(&bench, 996));
    test_sql(admin, "DELETE FROM public.dlq_events WHERE id BETWEEN 100 AND 199");
    reply_destroy(bench_await_count(&bench, 896));
    test_sql(admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message) VALUES"
             " ('new', 'x', '{}', 'division by zero in ledger')");
    reply = bench_await_count(&bench, 897);
    assert_int_equal(reply->groups.list.count, 2);
    assert_int_equal(reply->groups.list.groups[1].count, 1);
    reply_destroy(reply);
    bench_end(&bench);
}

// A session that may not keep the sums, where nobody else does, counts rows itself.
static void
who_may_not_keep_sums_counts_rows(void **state)
{
    (void)state;
    struct bench bench;
    bench_prepare(&bench, 300);
    bench.settings.store.is_read_only = true;
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 300));
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_state"), 0);
    add_events(bench.world.admin, 5);
    reply_destroy(bench_await_count(&bench, 305));
    bench_end(&bench);
}

// The server's process of the connection by which the screen was tried; 0: it is gone.
static int64_t
tried_pid(PGconn *admin)
{
    return test_number(admin, "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE datname = "
                              "current_database() AND application_name LIKE 'redrive/tried/%'");
}

static void
the_reader_goes_on_with_the_connection_that_was_tried(void **state)
{
    (void)state;
    for (int is_like = 1; is_like >= 0; is_like--) {
        struct bench bench;
        bench_prepare(&bench, 30);
        struct store_settings tried = bench.settings.store;
        tried.program = "tried";
        tried.is_read_only = true;
        if (!is_like)
            tried.zone = "Asia/Tokyo";
        assert_works(store_open(&bench.settings.connected, &tried, &err));
        int64_t pid = tried_pid(bench.world.admin);
        assert_true(pid > 0);
        bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);
        bench_watch_groups(&bench);
        reply_destroy(bench_await_count(&bench, 30));
        add_events(bench.world.admin, 5);
        reply_destroy(bench_await_count(&bench, 35));
        // Where it was closed, the server needs a moment for that.
        for (int64_t until = clock_mono() + PATIENCE; !is_like && tried_pid(bench.world.admin);) {
            assert_true(clock_mono() < until);
            clock_sleep(10000);
        }
        assert_int_equal(tried_pid(bench.world.admin), is_like ? pid : 0);
        bench_end(&bench);
    }
}

// A sequence is not commit order: a lower id that commits later is found.
static void
late_commits_are_found(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 10);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 10));
    PGconn *late = test_connect(bench.world.conninfo);
    test_sql(late, "BEGIN; INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                   "error_message) VALUES ('late', 'x', '{}', 'late')");
    test_sql(bench.world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                                "error_message) VALUES ('soon', 'x', '{}', 'soon')");
    reply_destroy(bench_await_count(&bench, 11));
    test_sql(late, "COMMIT");
    reply_destroy(bench_await_count(&bench, 12));
    PQfinish(late);
    bench_end(&bench);
}

static bool
is_permanent(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_GROUPS && reply->groups.list.count > 0 &&
           reply->groups.list.groups[0].is_overridden &&
           reply->groups.list.groups[0].category == CATEGORY_PERMANENT;
}

static bool
is_by_rules(const struct reply *reply, const void *context)
{
    return reply->kind == REPLY_GROUPS && reply->groups.list.count > 0 &&
           !reply->groups.list.groups[0].is_overridden &&
           reply->groups.list.groups[0].category == *(const enum category *)context;
}

static struct request *
category_of_group(uint64_t group, bool is_given)
{
    struct request *request = request_create(REQUEST_CATEGORY);
    request->groups.group = group;
    request->set.is_given = is_given;
    request->set.category = CATEGORY_PERMANENT;
    request->reason = alloc_text("no way back");
    return request;
}

// What one gives is seen by the others, with who and why; taken back, the rules decide.
static void
a_category_is_given_and_taken_back(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 40);
    int64_t pending =
        test_number(bench.world.admin, "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING'");
    bench_ask(&bench, request_create(REQUEST_GROUPS));
    struct reply *reply = bench_await(&bench, has_count, &pending);
    uint64_t group = reply->groups.list.groups[0].key;
    int64_t sample = reply->groups.list.groups[0].sample_id;
    enum category by_rules = reply->groups.list.groups[0].category;
    assert_false(reply->groups.list.groups[0].is_overridden);
    assert_int_not_equal(by_rules, CATEGORY_PERMANENT);
    reply_destroy(reply);

    assert_works(store_category_set(bench.world.store, group, &(enum category){CATEGORY_PERMANENT},
                                    "no way back",
                                    &err)); // of another session
    reply_destroy(bench_await(&bench, is_permanent, NULL));
    struct request *why = request_create(REQUEST_WHY);
    why->id = sample;
    reply = bench_answer(&bench, why);
    assert_true(reply->explanation.is_overridden);
    assert_int_equal(reply->explanation.category, CATEGORY_PERMANENT);
    assert_int_equal(reply->explanation.by_rules, by_rules);
    assert_string_equal(reply->explanation.override.reason, "no way back");
    reply_destroy(reply);

    reply = bench_answer(&bench, category_of_group(group, false));
    assert_int_equal(reply->kind, REPLY_CATEGORY);
    reply_destroy(reply);
    reply_destroy(bench_await(&bench, is_by_rules, &by_rules));
    bench_end(&bench);
}

static struct request *
correction_of(int64_t id, int32_t parent, const char *payload)
{
    struct request *request = request_create(REQUEST_CORRECT);
    request->id = id;
    request->reason = alloc_text("a test");
    request->correct.parent = parent;
    request->correct.parts.has_payload = true;
    request->correct.parts.payload = arena_copy(&request->correct.arena, bytes_of(payload));
    return request;
}

static void
a_correction_becomes_a_revision_once(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 10);
    struct reply *reply = bench_answer(&bench, correction_of(3, 0, "{\"n\": 1.0}"));
    if (reply->kind != REPLY_CORRECTED)
        fail_msg("%s", reply->err.text);
    assert_int_equal(reply->news.revision, 1);
    reply_destroy(reply);

    // Made from the original as well: somebody was faster.
    reply = bench_answer(&bench, correction_of(3, 0, "{\"n\": 2}"));
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.kind, ERR_CONFLICT);
    reply_destroy(reply);

    struct request *look = request_create(REQUEST_EVENT);
    look->id = 3;
    reply = bench_answer(&bench, look);
    assert_int_equal(reply->detail.revision_count, 1);
    assert_string_equal(reply->detail.revisions[0].reason, "a test");
    assert_true(bytes_equal_text(reply->detail.event.payload, "{\"n\": 1.0}"));
    reply_destroy(reply);

    // What was received is still there, for a comparison; and of an event that is not, there is none.
    for (int64_t id = 3; id <= 999; id += 996) {
        struct request *original = request_create(REQUEST_ORIGINAL);
        original->id = id;
        reply = bench_answer(&bench, original);
        assert_int_equal(reply->kind, REPLY_EVENT);
        assert_int_equal(bytes_present(reply->detail.event.payload), id == 3);
        if (id == 3)
            assert_false(bytes_equal_text(reply->detail.event.payload, "{\"n\": 1.0}"));
        reply_destroy(reply);
    }
    bench_end(&bench);
}

static bool
confirms(const struct reply *reply, const void *context)
{
    return reply->kind != REPLY_PROGRESS && reply->number == *(const uint64_t *)context;
}

// Discards the events 1 to 3.
static struct reply *
confirm_three(struct bench *bench, const char key[UUID_SIZE])
{
    struct request *request = request_create(REQUEST_CONFIRM);
    request->confirm = (struct operation_request){.action = ACTION_DISCARD, .rate = RATE_UNLIMITED};
    memcpy(request->confirm.key, key, sizeof request->confirm.key);
    request->texts.scope = alloc_text("3 events of a test");
    request->reason = alloc_text("a test");
    request->ids = alloc_array(3, sizeof *request->ids);
    for (int64_t id = 1; id <= 3; id++)
        request->ids[id - 1] = id;
    request->id_count = 3;
    uint64_t number = bench_ask(bench, request);
    struct reply *reply = bench_await(bench, confirms, &number);
    if (reply->kind != REPLY_CONFIRMED)
        fail_msg("%s", reply->err.text);
    return reply;
}

static bool
is_checking(const struct reply *reply, const void *number)
{
    return reply->kind == REPLY_CHECKING && reply->number == *(const uint64_t *)number;
}

static bool
is_end(const struct reply *reply, const void *number)
{
    return reply->number == *(const uint64_t *)number && reply->is_last;
}

// The check is asked about what would be sent, where a row is for the event; only what it takes is written.
// One that thinks for long keeps nobody waiting, and can be cancelled.
static void
a_correction_is_checked_before_it_is_saved(void **state)
{
    (void)state;
    struct bench bench;
    bench_prepare(&bench, 10);
    bench.settings.correct = (struct correct_limits){
        .checks = "type order.* while read -r line; do case $line in *'\"n\":7'*) echo seven;; "
                  "*'\"n\":8'*) exit 3;; *'\"n\":9'*) exec sleep 600;; *) echo ok;; esac; done",
        .check = {.time = 60 * US_PER_SECOND, .start = US_PER_SECOND, .processes = 1}};
    bench.backend = backend_start(&bench.settings, bench.requests, bench.replies);

    uint64_t number = bench_ask(&bench, correction_of(3, 0, "{\"n\": 9}"));
    reply_destroy(bench_await(&bench, is_checking, &number));
    struct request *forced = correction_of(4, 0, "{\"n\": 7}");
    forced->correct.is_forced = true;
    struct reply *reply = bench_answer(&bench, forced);
    assert_int_equal(reply->kind, REPLY_CORRECTED);
    reply_destroy(reply);
    struct request *cancel = request_create(REQUEST_CANCEL);
    cancel->target = number;
    bench_ask(&bench, cancel);
    reply = bench_await(&bench, is_end, &number);
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.kind, ERR_CANCELLED);
    reply_destroy(reply);

    number = bench_ask(&bench, correction_of(3, 0, "{\"n\": 7}"));
    reply = bench_await(&bench, is_end, &number);
    assert_int_equal(reply->kind, REPLY_REFUSED);
    assert_string_equal(reply->news.sentence, "seven");
    reply_destroy(reply);
    number = bench_ask(&bench, correction_of(3, 0, "{\"n\": 8}"));
    reply = bench_await(&bench, is_end, &number);
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_non_null(strstr(reply->err.text, "event 3 was not corrected: "));
    reply_destroy(reply);
    number = bench_ask(&bench, correction_of(3, 0, "{\"n\": 6}"));
    reply = bench_await(&bench, is_end, &number);
    assert_int_equal(reply->kind, REPLY_CORRECTED);
    assert_int_equal(reply->news.revision, 1); // none of those before was written
    reply_destroy(reply);

    // The end of the screen does not wait for the check.
    number = bench_ask(&bench, correction_of(5, 0, "{\"n\": 9}"));
    reply_destroy(bench_await(&bench, is_checking, &number));
    bench_end(&bench);
}

static void
a_later_operation_names_the_earlier_one(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 50);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 50));
    char keys[2][UUID_SIZE];
    uuid_make(keys[0]);
    uuid_make(keys[1]);
    struct reply *first = confirm_three(&bench, keys[0]);
    assert_int_equal(first->operations.list->queued, 3);
    assert_int_equal(first->operations.outcome_count, 0); // nobody asks
    struct reply *second = confirm_three(&bench, keys[1]);
    assert_int_equal(second->operations.list->skipped, 3);
    assert_int_equal(second->operations.outcome_count, 1);
    assert_int_equal(second->operations.outcomes->count, 3);
    char says[64];
    snprintf(says, sizeof says, "s operation %lld", (long long)first->news.operation);
    assert_non_null(strstr(second->operations.outcomes->reason, says));
    reply_destroy(first);
    reply_destroy(second);
    bench_end(&bench);
}

static void
what_is_confirmed_is_asked_for_once(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 50);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 50));
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 2");

    char key[UUID_SIZE];
    uuid_make(key);
    int64_t no = 0;
    for (int i = 0; i < 2; i++) { // the same key again: an answer that was lost
        struct reply *reply = confirm_three(&bench, key);
        assert_true(i == 0 || reply->news.operation == no);
        no = reply->news.operation;
        reply_destroy(reply);
    }
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.operation"), 1);

    struct request *request = request_create(REQUEST_OPERATION);
    request->operation = no;
    struct reply *reply = bench_answer(&bench, request);
    assert_int_equal(reply->operations.list[0].total, 3);
    assert_int_equal(reply->operations.list[0].skipped, 1);
    assert_string_equal(reply->operations.list[0].reason, "a test");
    reply_destroy(reply);

    request = request_create(REQUEST_STEER);
    request->operation = no;
    request->steering.steer = STEER_CANCEL;
    reply = bench_answer(&bench, request);
    assert_int_equal(reply->kind, REPLY_STEERED);
    reply_destroy(reply);
    bench_end(&bench);
}

static struct reply *
ask_stop(struct bench *bench)
{
    struct reply *reply = bench_answer(bench, request_create(REQUEST_STOP));
    assert_int_equal(reply->kind, REPLY_STOP);
    return reply;
}

static struct reply *
make_a_copy(struct bench *bench, const struct stop *stop)
{
    struct request *request = request_create(REQUEST_AS_COPY);
    request->steering.stop = (struct stop_seen){.since = stop->since, .counts = stop->counts};
    request->reason = alloc_text("staging");
    return bench_answer(bench, request);
}

// A copy is made of what the person saw, or not at all.
static void
a_stopped_database_becomes_a_copy(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 5);
    struct reply *stop = ask_stop(&bench);
    assert_string_equal(stop->stop->detail, "");
    reply_destroy(stop);

    test_sql(bench.world.admin, "INSERT INTO redrive.turn (cluster, no, stop, stopped_at, stop_detail)"
                                " VALUES ('k1', 7, 'ahead', now(), 'slot 3 is ahead')");
    stop = ask_stop(&bench);
    assert_string_equal(stop->stop->detail, "slot 3 is ahead");
    assert_string_equal(stop->stop->denied, "");
    assert_int_equal(stop->stop->counts.operations, 0);

    // Somebody asks for an operation while the dialog is open: it was not counted.
    char key[UUID_SIZE];
    uuid_make(key);
    reply_destroy(confirm_three(&bench, key));
    struct reply *reply = make_a_copy(&bench, stop->stop);
    assert_int_equal(reply->kind, REPLY_ERROR);
    assert_int_equal(reply->err.kind, ERR_CONFLICT);
    reply_destroy(reply);
    reply_destroy(stop);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.turn WHERE stop = 'ahead'"),
                     1);

    stop = ask_stop(&bench);
    assert_int_equal(stop->stop->counts.operations, 1);
    assert_int_equal(stop->stop->counts.queued, 3);
    reply = make_a_copy(&bench, stop->stop);
    assert_int_equal(reply->kind, REPLY_STEERED);
    reply_destroy(reply);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.turn"), 0);
    assert_int_equal(test_number(bench.world.admin, "SELECT sum(cancelled) FROM redrive.operation"), 3);

    // Decided once, whoever had it on the screen.
    reply = make_a_copy(&bench, stop->stop);
    assert_int_equal(reply->err.kind, ERR_CONFLICT);
    reply_destroy(reply);
    reply_destroy(stop);
    bench_end(&bench);
}

static struct request *
preview_of(enum operation_action action, size_t count)
{
    struct request *request = request_create(REQUEST_PREVIEW);
    request->action = action;
    request->ids = alloc_array(count, sizeof *request->ids);
    for (size_t i = 0; i < count; i++)
        request->ids[i] = (int64_t)i + 1;
    request->id_count = count;
    return request;
}

enum { MANY = 20500 }; // so many are counted part by part

static void
a_preview_arrives_part_by_part(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, MANY);
    test_sql(bench.world.admin,
             "UPDATE public.dlq_events SET event_id = 'twin', source_id = 'one' WHERE id IN (5, 7);"
             "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload,"
             " error_message, kafka_topic, created_at) SELECT 'newer', 'x', 'one', '{}', 'x',"
             " 'orders', created_at + interval '1 h' FROM public.dlq_events WHERE id = 7");
    uint64_t number = bench_ask(&bench, preview_of(ACTION_REPROCESS, MANY));
    for (unsigned part = 0; part < PREVIEW_PARTS; part++) {
        struct reply *reply = bench_await(&bench, is_answer, &number);
        assert_int_equal(reply->kind, REPLY_PREVIEW);
        assert_int_equal(reply->preview.known, 1u << part);
        assert_int_equal(reply->is_last, part + 1 == PREVIEW_PARTS);
        assert_int_equal(reply->preview.open, part == PREVIEW_COUNTS ? MANY : 0);
        assert_int_equal(reply->preview.overtaken.events, part == PREVIEW_OVERTAKEN ? 2 : 0);
        assert_int_equal(reply->preview.doubled, part == PREVIEW_DOUBLED ? 2 : 0);
        reply_destroy(reply);
    }
    // Few at once; and of what is not sent nothing but counts.
    struct reply *reply = bench_answer(&bench, preview_of(ACTION_REPROCESS, 10));
    assert_true(reply->is_last);
    assert_int_equal(reply->preview.known, preview_parts(ACTION_REPROCESS));
    reply_destroy(reply);
    reply = bench_answer(&bench, preview_of(ACTION_DISCARD, MANY));
    assert_true(reply->is_last);
    assert_int_equal(reply->preview.known, 1u << PREVIEW_COUNTS);
    reply_destroy(reply);
    bench_end(&bench);
}

// Until a statement of the screen waits for the lock that somebody has on the table.
static void
await_waiting(PGconn *conn, bool waits)
{
    int64_t until = clock_mono() + PATIENCE;
    while (test_number(conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                             " AND wait_event_type = 'Lock' AND query LIKE '%get_bit%'") != waits) {
        if (clock_mono() > until)
            fail_msg("no statement began, or ended, to wait");
        clock_sleep(10000);
    }
}

// A preview waits for a lock, and `kind` is asked for meanwhile. False: the screen's own look at the counts
// began to wait for the same lock a moment before that, and read the request only when its three seconds were
// over.
static bool
stops_preview(struct bench *bench, PGconn *locker, enum request_kind kind)
{
    test_sql(locker, "BEGIN; LOCK TABLE public.dlq_events");
    uint64_t number = bench_ask(bench, preview_of(ACTION_REPROCESS, MANY));
    await_waiting(bench->world.admin, true);
    struct request *next = request_create(kind);
    next->target = number;
    next->operation = 77;
    uint64_t next_number = bench_ask(bench, next);
    struct reply *reply = bench_await(bench, is_answer, &number);
    assert_int_equal(reply->kind, REPLY_ERROR);
    bool is_stopped = reply->err.kind == ERR_CANCELLED;
    if (is_stopped) {
        assert_non_null(strstr(reply->err.text, "stopped"));
        assert_null(strstr(reply->err.text, "too long"));
    } else
        assert_int_equal(reply->err.kind, ERR_CONFLICT);
    reply_destroy(reply);
    await_waiting(bench->world.admin, false);
    if (kind == REQUEST_STEER) { // and what was asked is answered for itself
        reply = bench_await(bench, is_answer, &next_number);
        assert_int_equal(reply->err.kind, ERR_NOT_FOUND);
        reply_destroy(reply);
    }
    test_sql(locker, "ROLLBACK");
    return is_stopped;
}

// By the person, or because something else is asked for: the server stops at once, long before its own
// limits.
static void
a_preview_that_nobody_waits_for_is_stopped(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, MANY);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, MANY));
    PGconn *locker = test_connect(bench.world.conninfo);
    static const enum request_kind kinds[] = {REQUEST_CANCEL, REQUEST_STEER};
    for (int i = 0; i < 2; i++) {
        bool is_stopped = false;
        for (int attempt = 0; attempt < 5 && !is_stopped; attempt++)
            is_stopped = stops_preview(&bench, locker, kinds[i]);
        assert_true(is_stopped);
    }
    PQfinish(locker);
    struct reply *reply = bench_answer(&bench, preview_of(ACTION_DISCARD, MANY));
    assert_int_equal(reply->kind, REPLY_PREVIEW);
    assert_int_equal(reply->preview.open, MANY);
    reply_destroy(reply);
    bench_end(&bench);
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
    bench_begin(&bench, 30);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 30));
    test_sql(bench.world.admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                                "current_database() AND pid <> pg_backend_pid()");
    enum link_state lost = LINK_LOST;
    struct reply *reply = bench_await(&bench, link_is, &lost);
    assert_true(*reply->status.trouble != '\0');
    reply_destroy(reply);
    enum link_state live = LINK_LIVE;
    reply_destroy(bench_await(&bench, link_is, &live));
    add_events(bench.world.admin, 4);
    reply_destroy(bench_await_count(&bench, 34));
    bench_end(&bench);
}

static bool
is_about_missing_table(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_ERROR && strstr(reply->err.text, "there is no table") != NULL;
}

// The maintainer reads the table, not the screen: without the table nobody keeps the sums, and that has to be
// said. The sums go on by themselves when the table has its name again.
static void
a_missing_table_is_said(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 30);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 30));
    test_sql(bench.world.admin, "ALTER TABLE public.dlq_events RENAME TO elsewhere");
    reply_destroy(bench_await(&bench, is_about_missing_table, NULL));
    test_sql(bench.world.admin, "ALTER TABLE public.elsewhere RENAME TO dlq_events");
    add_events(bench.world.admin, 4);
    reply_destroy(bench_await_count(&bench, 34));
    bench_end(&bench);
}

// A screen on which nothing happens is told nothing, so that it can send nothing.
static void
nothing_new_is_no_news(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, 10);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET created_at = created_at - interval '3 days'");
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, 10));
    // What is still told of the beginning takes its time on a busy machine.
    int64_t deadline = clock_mono() + 60 * US_PER_SECOND;
    for (struct reply *reply; (reply = mailbox_take(bench.replies, 2 * US_PER_SECOND));) {
        reply_destroy(reply);
        assert_true(clock_mono() < deadline);
    }
    bench_end(&bench);
}

static bool
is_news(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_NEWS;
}

// A small operation is begun and over between two looks. Within one look the newest is told first; on a busy
// machine there are several looks.
static void
each_end_is_told(void **state)
{
    (void)state;
    enum { OPERATIONS = 5 };
    struct bench bench;
    int64_t numbers[OPERATIONS];
    int told[OPERATIONS] = {0};
    bench_begin(&bench, OPERATIONS);
    (void)apply_operation(&bench.world, ACTION_DISCARD, 1, 1);
    (void)apply_operation(&bench.world, ACTION_RESTORE, 1, 1);
    bench_watch_groups(&bench);
    reply_destroy(bench_await_count(&bench, OPERATIONS));
    // What was over when the screen looked first is no news.
    reply_destroy(bench_answer(&bench, request_create(REQUEST_OPERATIONS)));
    for (int i = 0; i < OPERATIONS; i++)
        numbers[i] = apply_operation(&bench.world, ACTION_DISCARD, i + 1, i + 1);
    for (int left = OPERATIONS; left > 0;) {
        struct reply *reply = bench_await(&bench, is_news, NULL);
        for (int i = 0; i < OPERATIONS; i++) {
            if (reply->news.operation != numbers[i])
                continue;
            assert_non_null(strstr(reply->news.sentence, "done"));
            assert_int_equal(told[i]++, 0);
            left--;
        }
        reply_destroy(reply);
    }
    bench_end(&bench);
}

static bool
has_back(const struct reply *reply, const void *context)
{
    (void)context;
    return reply->kind == REPLY_GROUPS && reply->groups.list.count == 1 &&
           reply->groups.list.groups[0].is_returned;
}

// Discards the three events of the group, all that it has.
static void
empty_group(struct bench *bench, const char *group)
{
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
    assert_works(operation_create(bench->world.store, &request, NULL, NULL, &no, &err));
    assert_works(work_apply(bench->world.store, no, 10, &applied, &left, &err));
    assert_works(work_finish(bench->world.store, no, &err));
}

// A group that an operation emptied and that fills again is told apart from a new one, also where it has
// filled before the screen sees that the operation is over.
static void
an_emptied_group_comes_back(void **state)
{
    (void)state;
    for (int is_seen = 1; is_seen >= 0; is_seen--) {
        struct bench bench;
        bench_begin(&bench, 3);
        bench_watch_groups(&bench);
        struct reply *reply = bench_await_count(&bench, 3);
        char group[GROUP_TEXT];
        group_text(reply->groups.list.groups[0].key, group);
        reply_destroy(reply);
        empty_group(&bench, group);
        if (is_seen)
            reply_destroy(bench_await_count(&bench, 0));
        add_events(bench.world.admin, 2);
        reply_destroy(bench_await(&bench, has_back, NULL));
        bench_end(&bench);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_the_schema_is_answered_without_it),
        cmocka_unit_test(groups_follow_what_others_do),
        cmocka_unit_test(who_may_not_keep_sums_counts_rows),
        cmocka_unit_test(the_reader_goes_on_with_the_connection_that_was_tried),
        cmocka_unit_test(late_commits_are_found),
        cmocka_unit_test(what_is_confirmed_is_asked_for_once),
        cmocka_unit_test(a_correction_becomes_a_revision_once),
        cmocka_unit_test(a_correction_is_checked_before_it_is_saved),
        cmocka_unit_test(a_later_operation_names_the_earlier_one),
        cmocka_unit_test(a_stopped_database_becomes_a_copy),
        cmocka_unit_test(a_preview_arrives_part_by_part),
        cmocka_unit_test(a_preview_that_nobody_waits_for_is_stopped),
        cmocka_unit_test(a_lost_connection_comes_back),
        cmocka_unit_test(a_missing_table_is_said),
        cmocka_unit_test(nothing_new_is_no_news),
        cmocka_unit_test(each_end_is_told),
        cmocka_unit_test(an_emptied_group_comes_back),
        cmocka_unit_test(a_category_is_given_and_taken_back),
    };
    return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
