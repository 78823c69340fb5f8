// What is known of an event beside itself: that it failed again after it was sent, that it was written twice,
// what came after it, and its whole story.
#include "sender.h"
#include "tests/lib/forecast.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/filter/parse.h"
#include "search/choose.h"
#include "store/events/history.h"

static struct sender sender;

static void
assert_known_by(int64_t id, const char *how, int64_t no)
{
    char sql[200], want[64];
    snprintf(
        sql, sizeof sql,
        "SELECT concat_ws(' ', operation_no, sent_id, known_by) FROM redrive.returned WHERE dlq_id = %lld",
        (long long)id);
    snprintf(want, sizeof want, "%lld %s", (long long)no, how);
    assert_string_equal(test_text(sender.world.admin, sql), want);
}

static void
knows_what_came_back(void **state)
{
    (void)state;
    int64_t no = sender_ask(&sender, &(struct send_plan){0}, 1, 10);
    assert_int_equal(sender_send(&sender, no), 10);
    // 301: its event id. 302: its correlation id, type and source. 303: its place. 304: a header. 305: the
    // correlation of another type, which is another event. 306: written before it was sent. 307: an offset of
    // the same partition from which nothing was sent. 308: the correlation of another source. 309, 310,
    // 311: correlation, place and header once more, but written before. 305 has also
    // the headers of another table's operation: the same numbers, and another chunk.
    test_sql(
        sender.world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message, "
        "correlation_id, kafka_topic,"
        " kafka_partition, kafka_offset, created_at) SELECT v.event_id, v.type, v.source, '{}', 'again',"
        " (SELECT correlation_id FROM public.dlq_events WHERE id = v.like_id), v.topic, v.part, v.off, "
        "clock_timestamp()::timestamp - v.age"
        " FROM (VALUES (1, 'evt-1', 'x', NULL, NULL::bigint, NULL, NULL::int, NULL::bigint, interval '0'),"
        " (2, 'new-2', 'order.created', 'src-2', 2, NULL, NULL, NULL, '0'),"
        " (3, 'new-3', 'x', NULL, NULL, 'orders', 3, 0, '0'),"
        " (4, 'new-4', 'x', NULL, NULL, NULL, NULL, NULL, '0'),"
        " (5, 'new-5', 'other.type', 'src-5', 5, NULL, NULL, NULL, '0'),"
        " (6, 'evt-6', 'x', NULL, NULL, NULL, NULL, NULL, '1 hour'),"
        " (7, 'new-7', 'x', NULL, NULL, 'orders', 3, 77, '0'),"
        " (8, 'new-8', 'order.created', 'src-2', 8, NULL, NULL, NULL, '0'),"
        " (9, 'new-9', 'order.created', 'src-2', 2, NULL, NULL, NULL, '1 hour'),"
        " (10, 'new-10', 'x', NULL, NULL, 'orders', 3, 0, '1 hour'),"
        " (11, 'new-11', 'x', NULL, NULL, NULL, NULL, NULL, '1 hour')) AS v(n, event_id, type, source, "
        "like_id, topic, part, off, age)"
        " ORDER BY n");
    test_sql(
        sender.world.admin,
        "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", header_names, "
        "header_values) VALUES"
        " (304, 'orders-dlq', 0, 1, '{redrive-event-id,redrive-operation,redrive-chunk-id}', "
        "ARRAY['4'::bytea, '%lld'::bytea,"
        " (SELECT convert_to(c.id::text, 'UTF8') FROM redrive.chunk c WHERE c.operation_no = %lld LIMIT 1)]),"
        " (305, 'orders-dlq', 0, 3, '{redrive-event-id,redrive-operation,redrive-chunk-id}', "
        "ARRAY['6'::bytea, '%lld'::bytea, convert_to(gen_random_uuid()::text, 'UTF8')]),"
        " (311, 'orders-dlq', 0, 2, '{redrive-event-id,redrive-operation}', ARRAY['5'::bytea, "
        "'%lld'::bytea])",
        (long long)no, (long long)no, (long long)no, (long long)no);
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&sender.world, no).returned, 4);
    assert_known_by(301, "1 event id", no);
    assert_known_by(302, "2 correlation id", no);
    assert_known_by(303, "3 coordinates", no);
    assert_known_by(304, "4 headers", no);
    assert_int_equal(test_number(sender.world.admin, "SELECT count(*) FROM redrive.returned"), 4);

    // Sent and failed once more, it has come back twice.
    int64_t again = sender_ask(&sender, &(struct send_plan){0}, 302, 302);
    assert_int_equal(sender_send(&sender, again), 1);
    test_sql(sender.world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, "
             "error_message, correlation_id,"
             " created_at) SELECT 'newer-2', event_type, source_id, '{}', 'again', "
             "correlation_id, clock_timestamp()::timestamp"
             " FROM public.dlq_events WHERE id = 302");
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_known_by(312, "302 correlation id", again);
    assert_int_equal(test_number(sender.world.admin, "SELECT times FROM redrive.returned WHERE dlq_id = 312"),
                     2);
}

// Where Kafka keeps two chunks whose records lie between each other's: 1 to 3 at 10, 12 and 15, 4 and 5 at 11
// and
// 13. Their consumers copy no header, and neither does what they write name the event.
static void
a_record_is_known_by_its_place(void **state)
{
    (void)state;
    int64_t first = sender_ask(&sender, &(struct send_plan){0}, 1, 3);
    assert_int_equal(sender_send(&sender, first), 3);
    int64_t second = sender_ask(&sender, &(struct send_plan){0}, 4, 5);
    assert_int_equal(sender_send(&sender, second), 2);
    test_sql(
        sender.world.admin,
        "INSERT INTO redrive.sent (operation_no, chunk_id, cluster, topic, partition, low, high, events, "
        "dlq_ids,"
        " first_id, last_id, offsets) VALUES (%lld, gen_random_uuid(), 'kafka-1', 'paid', 3, 10, 15, 3, "
        "'{1,2,3}', 1, "
        "3, '{0,2,5}'), (%lld, gen_random_uuid(), 'kafka-1', 'paid', 3, 11, 13, 2, '{4,5}', 4, 5, '{0,2}'), "
        "(%lld, gen_random_uuid(), 'kafka-1', 'paid', 4, 10, 11, 2, '{4,5}', 4, 5, NULL)",
        (long long)first, (long long)second, (long long)second);
    // 301 to 303: of each chunk, and of one without a gap. 304: between them, sent by nobody. 305: in front.
    // 306: another partition. 307: written by a clock that is an hour behind. 308 and 309: dead letters, one
    // of another cluster. 310: behind.
    test_sql(
        sender.world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, kafka_topic, "
        "kafka_partition, kafka_offset, created_at) SELECT 'again-' || n, 'x', '{}', 'again', 'paid', "
        "v.part, v.off, "
        "clock_timestamp()::timestamp - v.age FROM (VALUES (1, 3, 12, interval '0'), (2, 3, 13, '0'), (3, 4, "
        "11, '0'), "
        "(4, 3, 14, '0'), (5, 3, 9, '0'), (6, 5, 12, '0'), (7, 3, 15, '1 hour'), (8, 3, 11, '0'), (9, 3, 10, "
        "'0'), "
        "(10, 3, 16, '0')) AS v (n, part, off, age) ORDER BY n");
    test_sql(sender.world.admin, "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", cluster, "
                                 "generation, format, identity) "
                                 "VALUES (308, 'paid-dlq', 0, 1, 'kafka-1', 0, 'dlq-headers', 8), (309, "
                                 "'paid-dlq', 0, 2, 'kafka-2', 0, "
                                 "'dlq-headers', 9)");
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_known_by(301, "2 sent place", first);
    assert_known_by(302, "5 sent place", second);
    assert_known_by(303, "5 sent place", second);
    assert_known_by(307, "3 sent place", first);
    assert_known_by(308, "4 sent place", second);
    assert_int_equal(test_number(sender.world.admin, "SELECT count(*) FROM redrive.returned"), 5);
    assert_int_equal(get_operation(&sender.world, first).returned, 2);
    assert_int_equal(get_operation(&sender.world, second).returned, 2); // 5 failed twice
}

// Events of an operation that came from places to which the operation then sends, as where a topic was made
// anew: they were there before, and have not returned.
static void
its_own_events_do_not_return_by_their_places(void **state)
{
    (void)state;
    test_sql(
        sender.world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, kafka_topic, "
        "kafka_partition, kafka_offset) VALUES ('old-1', 'x', '{}', 'no', 'paid', 3, 11), ('old-2', 'x', "
        "'{}', 'no', 'paid', 3, 10)");
    int64_t no = sender_ask(&sender, &(struct send_plan){0}, 301, 302);
    assert_int_equal(sender_send(&sender, no), 2);
    test_sql(
        sender.world.admin,
        "INSERT INTO redrive.sent (operation_no, chunk_id, cluster, topic, partition, low, high, events, "
        "dlq_ids, first_id, last_id) VALUES (%lld, gen_random_uuid(), 'kafka-1', 'paid', 3, 10, 11, 2, "
        "'{301,302}', 301, 302)",
        (long long)no);
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_int_equal(test_number(sender.world.admin, "SELECT count(*) FROM redrive.returned"), 0);
    assert_int_equal(get_operation(&sender.world, no).returned, 0);
}

static void
a_quick_consumer_is_noticed(void **state)
{
    (void)state;
    int64_t no = sender_ask(&sender, &(struct send_plan){0}, 1, 10);
    struct claim some = sender_claim(&sender, no);
    sender_fail_again(&sender, 1, 1); // after the commit in Kafka, before PostgreSQL has it
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_works(chunk_finish(sender.world.store, &sender.slot, &some.chunk, CHUNK_COMMITTED, "x", &err));
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&sender.world, no).returned, 1);
}

// A consumer's transaction stays open while rows of others arrive, and longer than the ten seconds after
// which a gap in the ids is given up where nobody can fill it.
static void
a_slow_consumer_is_noticed(void **state)
{
    (void)state;
    static const char age_sql[] =
        "UPDATE redrive.returned_gap SET noted_at = noted_at - interval '25 s';"
        "UPDATE redrive.returned_position SET seen_at = seen_at - interval '25 s';"
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message)"
        " SELECT 'other', 'x', '{}', 'x' FROM generate_series(1, 3)";
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    assert_int_equal(sender_send(&sender, no), 10);
    PGconn *slow = test_connect(sender.world.conninfo);
    test_sql(slow, "BEGIN; SAVEPOINT s");
    test_sql(
        slow,
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, "
        "created_at) SELECT event_id, event_type, '{}', 'again', clock_timestamp()::timestamp"
        " FROM public.dlq_events WHERE id IN (SELECT dlq_id FROM redrive.item WHERE state = 'done' LIMIT 5)");
    for (int look = 0; look < 3; look++) {
        test_sql(sender.world.admin, age_sql);
        assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    }
    assert_int_equal(get_operation(&sender.world, no).returned, 0);
    test_sql(slow, "COMMIT");
    PQfinish(slow);
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.returned, 5);
    assert_int_equal(operation.state, OPERATION_HALTED);

    test_sql(sender.world.admin, age_sql);
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&sender.world, no).returned, 5);
    assert_int_equal(test_number(sender.world.admin, "SELECT count(*) FROM redrive.returned_gap"), 0);
}

static void
a_row_set_back_to_pending_returned(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1, .halts = true, .halt_above = 20};
    int64_t no = sender_ask(&sender, &plan, 1, 200);
    assert_int_equal(sender_send(&sender, no), 10);
    test_sql(sender.world.admin,
             "UPDATE public.dlq_events SET status = 'PENDING' WHERE id IN (SELECT dlq_id FROM "
             "redrive.item WHERE state = 'done' LIMIT 5)");
    sender_look(&sender, no);
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.returned, 5);
    assert_int_equal(operation.state, OPERATION_HALTED);
}

// Without transactions a chunk may be sent in part. What was refused of it is pending as before: that is no
// return.
static void
what_was_refused_did_not_come_back(void **state)
{
    (void)state;
    const struct send_plan plan = {.steps = {10}, .step_count = 1};
    int64_t no = sender_ask(&sender, &plan, 1, 200), published[6];
    struct claim some = sender_claim(&sender, no);
    struct refusal refusals[4];
    for (int i = 0; i < 10; i++)
        if (i < 6)
            published[i] = some.items[i].event_id;
        else
            refusals[i - 6] = (struct refusal){some.items[i].event_id, "no such topic"};
    assert_works(
        chunk_finish_scanned(sender.world.store, &sender.slot, &some.chunk, published, 6, "x", &err));
    assert_works(items_refuse(sender.world.store, &sender.slot, no, refusals, 4, &err));
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.done, 6);
    assert_int_equal(operation.state, OPERATION_WAITING);
    sender_look(&sender, no);
    assert_int_equal(get_operation(&sender.world, no).returned, 0);
}

static void
sends_a_record_once_that_was_written_twice(void **state)
{
    (void)state;
    test_sql(sender.world.admin, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                                 "error_message, kafka_topic, kafka_partition,"
                                 " kafka_offset) SELECT event_id, event_type, event_payload, error_message, "
                                 "kafka_topic, kafka_partition, kafka_offset"
                                 " FROM public.dlq_events WHERE id IN (7, 9);"
                                 "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
                                 "error_message) VALUES ('evt-8', 'x', '{}', 'x')");
    int64_t ids[] = {7, 8, 9, 10, 301, 302, 303};
    struct preview preview;
    assert_works(look_ahead(sender.world.store,
                            &(struct preview_query){.action = ACTION_REPROCESS, .ids = ids, .count = 7},
                            &sender.world.arena, &preview, &err));
    assert_int_equal(preview.doubled, 6);
    struct operation_request request = {
        .action = ACTION_REPROCESS, .ids = ids, .count = 7, .scope = "a test", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(sender.world.admin));
    int64_t no = 0;
    assert_works(operation_create(sender.world.store, &request, NULL, NULL, &no, &err));
    struct operation operation = get_operation(&sender.world, no);
    assert_int_equal(operation.skipped, 2);
    assert_string_equal(test_text(sender.world.admin, "SELECT detail FROM redrive.item WHERE dlq_id = 302"),
                        "the same record as event 9, which is sent");
    assert_int_equal(sender_send(&sender, no), 5); // another record under the same event id is another record
    assert_int_equal(get_operation(&sender.world, no).state, OPERATION_DONE);
}

static void
warns_of_what_was_overtaken(void **state)
{
    (void)state;
    // 1: a newer one of its key is resolved. 2: a newer one is pending. 3: the newer one is sent along. 4:
    // only an older one. 5: came back itself.
    test_sql(sender.world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message, "
             "kafka_topic, status, created_at)"
             " VALUES ('n1', 'x', 'src-1', '{}', 'x', 'orders', 'RESOLVED', localtimestamp + interval '1 h'),"
             " ('n2', 'x', 'src-2', '{}', 'x', 'orders', 'PENDING', localtimestamp + interval '1 h'),"
             " ('n3', 'x', 'src-3', '{}', 'x', 'orders', 'PENDING', localtimestamp + interval '1 h'),"
             " ('n4', 'x', 'src-4', '{}', 'x', 'orders', 'PENDING', localtimestamp - interval '1 h'),"
             " ('evt-5', 'x', 'src-5', '{}', 'x', 'orders', 'PENDING', localtimestamp + interval '1 h'),"
             " ('n6', 'x', 'src-6', '{}', 'x', 'other', 'PENDING', localtimestamp + interval '1 h')");
    const int64_t ids[] = {1, 2, 3, 4, 5, 6, 303};
    struct preview preview;
    assert_works(look_ahead(sender.world.store,
                            &(struct preview_query){.action = ACTION_REPROCESS, .ids = ids, .count = 7},
                            &sender.world.arena, &preview, &err));
    assert_int_equal(preview.overtaken.events, 2);
    assert_int_equal(preview.overtaken.resolved, 1);
    assert_works(look_ahead(sender.world.store,
                            &(struct preview_query){.action = ACTION_DISCARD, .ids = ids, .count = 7},
                            &sender.world.arena, &preview, &err));
    assert_int_equal(preview.overtaken.events, 0);
}

// One key that all have, more events than are looked up key by key, and as many newer ones: each is compared
// with what is newest, not with every other.
static void
warns_of_a_key_that_all_have(void **state)
{
    (void)state;
    enum { EVENTS = 25000, FIRST = 1000000 };
    test_sql(
        sender.world.admin,
        "INSERT INTO public.dlq_events (id, event_id, event_type, source_id, event_payload, error_message,"
        " kafka_topic, status, created_at)"
        " SELECT %d + n, CASE WHEN n IN (5, 20000) THEN 'b2' ELSE 'a' || n END, 'x', 'tenant', '{}', 'x', "
        "'orders', "
        "'PENDING',"
        "        timestamp '2026-01-01' + n * interval '1 s' FROM generate_series(1, %d) AS n",
        (int)FIRST, (int)EVENTS);
    // Newer ones of the first 20,000, resolved ones of the first 10,000; but the newest is one of them come
    // back.
    test_sql(
        sender.world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, source_id, event_payload, error_message,"
        " kafka_topic, status, created_at)"
        " SELECT CASE WHEN n = 20000 THEN 'b2' ELSE 'c' || n END, 'x', 'tenant', '{}', 'x', 'orders',"
        "        CASE WHEN n <= 10000 THEN 'RESOLVED' ELSE 'PENDING' END,"
        "        timestamp '2026-01-01 00:00:00.5' + n * interval '1 s' FROM generate_series(1, 20000) AS n");
    int64_t *ids = alloc_array(EVENTS, sizeof *ids);
    for (size_t i = 0; i < EVENTS; i++)
        ids[i] = FIRST + 1 + (int64_t)i;
    struct preview preview;
    assert_works(look_ahead(sender.world.store,
                            &(struct preview_query){.action = ACTION_REPROCESS, .ids = ids, .count = EVENTS},
                            &sender.world.arena, &preview, &err));
    assert_int_equal(preview.overtaken.events, 19999);
    assert_int_equal(preview.overtaken.resolved, 10000);
    assert_int_equal(preview.doubled, 2);
    // The same, key by key.
    assert_works(look_ahead(sender.world.store,
                            &(struct preview_query){.action = ACTION_REPROCESS, .ids = ids, .count = 15000},
                            &sender.world.arena, &preview, &err));
    assert_int_equal(preview.overtaken.events, 15000);
    assert_int_equal(preview.overtaken.resolved, 10000);
    free(ids);
}

static void
lists_all_attempts(void **state)
{
    (void)state;
    assert_int_equal(sender_send(&sender, sender_ask(&sender, &(struct send_plan){0}, 4, 4)), 1);
    test_sql(sender.world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
             "error_message, stack_trace, created_at)"
             " VALUES ('evt-4', 'x', '{}', 'second', 'at b', clock_timestamp()::timestamp)");
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    int64_t again = sender_ask(&sender, &(struct send_plan){0}, 301, 301);
    assert_int_equal(sender_send(&sender, again), 1);
    test_sql(sender.world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, "
             "error_message, stack_trace, created_at)"
             " VALUES ('evt-4', 'x', '{}', 'second', 'at b', clock_timestamp()::timestamp)");
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    for (int64_t id = 301; id <= 302; id++) {
        struct event *attempts;
        size_t count;
        assert_works(event_attempts(sender.world.store, id, &sender.world.arena, &attempts, &count, &err));
        assert_int_equal(count, 3);
        assert_int_equal(attempts[0].id, 4);
        assert_int_equal(attempts[2].id, 302);
        assert_true(bytes_equal_text(attempts[1].error_message, "second"));
        assert_true(bytes_equal_text(attempts[1].stack_trace, "at b"));
        assert_true(bytes_starts(attempts[0].stack_trace, "java.net.ConnectException"));
    }
    struct event *attempts;
    size_t count;
    assert_works(event_attempts(sender.world.store, 10, &sender.world.arena, &attempts, &count, &err));
    assert_int_equal(count, 1);

    struct returned *returns;
    assert_works(operation_returns(sender.world.store, again, &sender.world.arena, &returns, &count, &err));
    assert_int_equal(count, 1);
    assert_true(returns[0].is_grouped && returns[0].same == 1 && returns[0].count == 1);
    assert_works(
        operation_returns(sender.world.store, again - 1, &sender.world.arena, &returns, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(returns[0].same, 0);
}

// How many events of the operation these terms choose, of any status.
static size_t
count_filtered(int64_t no, const char *outcome, const char *group)
{
    struct arena arena = {0};
    const struct choice choice = {
        .filter = arena_printf(&arena, "operation:%lld%s%s", (long long)no, outcome, group),
        .otherwise = FILTER_ALL_STATUSES};
    struct choose_tally tally = {0};
    int64_t *ids;
    size_t count;
    assert_works(choose_ids(sender.world.store, &choice, NULL, NULL, &ids, &count, &tally, &err));
    choose_tally_release(&tally);
    free(ids);
    arena_release(&arena);
    return count;
}

// However many there are: each group is counted, the counts add up, and each opens exactly its events.
static void
counts_what_returned_by_group(void **state)
{
    (void)state;
    int64_t no = sender_ask(&sender, &(struct send_plan){0}, 1, 280);
    size_t sent = 0;
    for (size_t n; (n = sender_send(&sender, no)) > 0;)
        sent += n;
    assert_int_equal(sent, 280);
    // 130 in the group they had, 70 and 50 in two others.
    test_sql(sender.world.admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, stack_trace,"
             " created_at) SELECT e.event_id, e.event_type, '{}',"
             " CASE WHEN e.id <= 130 THEN e.error_message WHEN e.id <= 200 THEN 'the disk is full'"
             "      ELSE 'the card was stolen' END,"
             " CASE WHEN e.id <= 130 THEN e.stack_trace END, clock_timestamp()::timestamp"
             " FROM public.dlq_events e WHERE e.id <= 250 ORDER BY e.id");
    assert_works(worker_beat(sender.world.store, "w", true, "idle", 0, &err));
    assert_int_equal(get_operation(&sender.world, no).returned, 250);

    struct returned *returns;
    size_t count;
    int64_t sum = 0;
    int64_t same = 0;
    assert_works(operation_returns(sender.world.store, no, &sender.world.arena, &returns, &count, &err));
    for (size_t i = 0; i < count; i++) {
        char group[GROUP_TEXT];
        assert_true(returns[i].is_grouped);
        char term[GROUP_TEXT + sizeof " group:"];
        snprintf(term, sizeof term, " group:%s", group_text(returns[i].group, group));
        assert_int_equal(count_filtered(no, " outcome:returned", term), returns[i].count);
        sum += returns[i].count;
        same += returns[i].same;
    }
    assert_int_equal(sum, test_number(sender.world.admin, "SELECT count(*) FROM redrive.returned"));
    assert_int_equal(same, 130);
    assert_true(count >= 3);
    assert_int_equal(count_filtered(no, " outcome:returned", ""), 250);
    assert_int_equal(count_filtered(no, " outcome:sent", ""), 280);
    assert_int_equal(count_filtered(no, " outcome:waiting", ""), 30);
    assert_int_equal(count_filtered(no, " outcome:stayed", ""), 0);
    assert_int_equal(count_filtered(no, "", ""), 530);
    assert_int_equal(count_filtered(no + 1, " outcome:returned", ""), 0);
    test_sql(sender.world.admin, "UPDATE redrive.operation SET settle_for = '0 s'");
    assert_int_equal(count_filtered(no, " outcome:stayed", ""), 30);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        sent(knows_what_came_back),
        sent(a_record_is_known_by_its_place),
        sent(its_own_events_do_not_return_by_their_places),
        sent(a_quick_consumer_is_noticed),
        sent(a_slow_consumer_is_noticed),
        sent(a_row_set_back_to_pending_returned),
        sent(what_was_refused_did_not_come_back),
        sent(sends_a_record_once_that_was_written_twice),
        sent(warns_of_what_was_overtaken),
        sent(warns_of_a_key_that_all_have),
        sent(lists_all_attempts),
        sent(counts_what_returned_by_group),
    };
    return cmocka_run_group_tests_name("returned", tests, NULL, NULL);
}
