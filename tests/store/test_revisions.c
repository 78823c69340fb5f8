// Corrections of one event: what is kept of them, who is refused, what is sent, and what a row that returns
// gets of them.
#include "sender.h"

#include "store/events/records.h"
#include "store/events/revisions.h"

static struct sender sender;

static struct revision *
revisions_of(struct world *world, int64_t id, size_t wanted)
{
    struct revision *revisions;
    size_t count;
    assert_works(store_revisions(world->store, id, &world->arena, &revisions, &count, &err));
    assert_int_equal(count, wanted);
    return revisions;
}

static int32_t
correct(struct store *store, int64_t id, int32_t parent, struct bytes payload, const char *reason)
{
    int32_t no = 0;
    const struct correction correction = {.has_payload = true, .payload = payload};
    assert_works(event_correct(store, id, parent, &correction, reason, &no, &err));
    return no;
}

static void
every_part_is_kept_byte_for_byte(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    struct event_header headers[] = {
        {BYTES("trace"), BYTES("a\0b")}, {BYTES("gone"), BYTES_ABSENT}, {BYTES(""), BYTES("")}};
    const struct correction whole = {
        .has_payload = true,
        .payload = BYTES("{ \"n\": 1.0,\0 \xff}"),
        .has_key = true,
        .key = BYTES(""),
        .has_headers = true,
        .headers = headers,
        .header_count = 3,
        .has_topic = true,
        .topic = BYTES("orders.fixed"),
        .has_partition = true,
        .partition = 3,
    };
    int32_t no = 0;
    assert_works(event_correct(world->store, 1, 0, &whole, "INC-1", &no, &err));
    assert_int_equal(no, 1);
    // A null key is not an empty one, and no headers are not the original's.
    const struct correction bare = {.has_key = true, .has_headers = true};
    assert_works(event_correct(world->store, 1, 1, &bare, NULL, &no, &err));
    assert_works(event_correct(world->store, 1, 2, &(struct correction){0}, NULL, &no, &err));

    const struct revision *revisions = revisions_of(world, 1, 3);
    assert_int_equal(revisions[2].no, 1);
    assert_int_equal(revisions[2].parent, 0);
    assert_string_equal(revisions[2].reason, "INC-1");
    assert_int_equal(revisions[2].operation, 0);
    assert_true(correction_equals(&revisions[2].parts, &whole));
    assert_null(revisions[1].reason);
    assert_true(correction_equals(&revisions[1].parts, &bare));
    assert_false(correction_equals(&revisions[1].parts, &whole));
    assert_int_equal(revisions[0].parent, 2);
    assert_true(correction_is_empty(&revisions[0].parts));
    assert_string_equal(
        test_text(world->admin, "SELECT string_agg(detail, '|' ORDER BY no) FROM redrive.audit "
                                "WHERE action = 'correct'"),
        "event 1: revision 1 of 0; payload of 15 bytes, key, 3 headers, topic orders.fixed, "
        "partition 3|event 1: revision 2 of 1; key, 0 headers|event 1: revision 3 of 2; as the "
        "original");
}

static void
refuses_what_was_not_seen(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    const struct correction other = {.has_payload = true, .payload = BYTES("2")};
    int32_t no = 0;
    assert_int_equal(correct(world->store, 1, 0, BYTES("1"), NULL), 1);
    assert_refused(event_correct(world->store, 1, 0, &other, NULL, &no, &err), ERR_CONFLICT,
                   "event 1 was corrected meanwhile: revision 1 is by ");
    assert_refused(event_correct(world->store, 1, 7, &other, NULL, &no, &err), ERR_CONFLICT, "meanwhile");
    assert_refused(event_correct(world->store, 987654, 0, &other, NULL, &no, &err), ERR_NOT_FOUND,
                   "no event has the id 987654");
    test_sql(world->admin,
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 2");
    assert_refused(event_correct(world->store, 2, 0, &other, NULL, &no, &err), ERR_CONFLICT,
                   "event 2 is not pending any more (resolved by api");
    int64_t operation = sender_ask(&sender, &(struct send_plan){0}, 3, 3);
    assert_refused(event_correct(world->store, 3, 0, &other, NULL, &no, &err), ERR_CONFLICT,
                   "cancel that operation, or wait until it has ended");
    assert_works(operation_steer(world->store, operation, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(correct(world->store, 3, 0, BYTES("3"), NULL), 1);
    revisions_of(world, 1, 1);
    revisions_of(world, 2, 0);
}

static void
a_viewer_may_not_correct(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    test_sql(world->admin, "DROP ROLE IF EXISTS revision_viewer");
    test_sql(world->admin, "CREATE ROLE revision_viewer LOGIN");
    test_sql(world->admin, "DO $$ DECLARE s text; BEGIN FOR s IN SELECT redrive.grants('revision_viewer', "
                           "'viewer') LOOP EXECUTE s; END LOOP; END $$");
    test_sql(world->admin, "SET ROLE revision_viewer");
    assert_string_equal(test_state(world->admin,
                                   "SELECT redrive.event_correct(1, 0, NULL, false, NULL, NULL, "
                                   "NULL, NULL, NULL, NULL)"),
                        "42501");
    assert_string_equal(
        test_state(world->admin, "INSERT INTO redrive.revision (dlq_id, no, payload) VALUES (1, 1, 'x')"),
        "42501");
    test_sql(world->admin, "RESET ROLE");
    test_sql(world->admin, "DROP OWNED BY revision_viewer");
    test_sql(world->admin, "DROP ROLE revision_viewer");
}

static void
the_correction_is_what_is_claimed(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    int32_t no = 0;
    const struct correction moved = {.has_topic = true, .topic = BYTES("orders.fixed")};
    assert_works(event_correct(world->store, 1, 0, &moved, NULL, &no, &err));
    correct(world->store, 2, 0, BYTES("{ \"b\":2 }"), NULL);
    struct claim claim = sender_claim(&sender, sender_ask(&sender, &(struct send_plan){0}, 1, 3));
    assert_int_equal(claim.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct event *event = &claim.items[i].event;
        assert_int_equal(event->known.correction.has_topic, event->id == 1);
        assert_int_equal(event->known.correction.has_payload, event->id == 2);
        assert_int_equal(bytes_equal_text(event->payload, "{ \"b\":2 }"), event->id == 2);
    }
    // A chunk in doubt is searched for where its records went.
    assert_string_equal(test_text(world->admin,
                                  "SELECT array_to_string(ARRAY(SELECT unnest(topics) ORDER BY 1), ',') FROM "
                                  "redrive.chunk WHERE state = 'claimed'"),
                        "orders,orders.fixed");
}

// A consumer writes what it was sent as a new row, or the same row is opened again.
static void
a_row_that_returns_has_its_revisions(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    correct(world->store, 1, 0, BYTES("{\"a\": 1.00}"), "first");
    correct(world->store, 1, 1, BYTES("{ \"a\": 2.00 }"), "second");
    correct(world->store, 2, 0, BYTES("{\"a\": 1}"), "other");
    assert_int_equal(sender_send(&sender, sender_ask(&sender, &(struct send_plan){0}, 1, 3)), 3);
    test_sql(world->admin,
             "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at) "
             "VALUES ('evt-1', 'x', '{\"a\": 2.00}', 'again', clock_timestamp()::timestamp),"
             " ('evt-2', 'x', '{\"a\": 99}', 'again', clock_timestamp()::timestamp),"
             " ('evt-3', 'x', '{}', 'again', clock_timestamp()::timestamp)");
    assert_works(worker_beat(world->store, "w", true, "idle", 0, &err));

    const struct revision *revisions = revisions_of(world, 301, 2);
    assert_true(bytes_equal_text(revisions[0].parts.payload, "{ \"a\": 2.00 }"));
    assert_string_equal(revisions[1].reason, "first");
    assert_int_equal(correct(world->store, 301, 2, BYTES("{\"a\": 3}"), "third"), 3);
    revisions_of(world, 302, 0); // another payload than was sent is a new original
    revisions_of(world, 303, 0); // never corrected
}

static struct record_answer
want(struct world *world, int64_t id)
{
    struct record_answer answer;
    assert_works(record_want(world->store, id, &world->arena, &answer, &err));
    return answer;
}

static int64_t
wanted_now(struct world *world)
{
    int64_t ids[10];
    size_t count;
    assert_works(records_wanted(world->store, ids, 10, &count, &err));
    return count == 1 ? ids[0] : -(int64_t)count;
}

// A worker that dies over a request leaves it to the next; one that cannot have the record says why, for a
// while.
static void
requests_for_records_are_answered(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    (void)want(world, 1);
    assert_int_equal(wanted_now(world), 1);
    assert_int_equal(wanted_now(world), 0);
    test_sql(world->admin, "UPDATE redrive.record_wanted SET taken_at = taken_at - interval '11 s'");
    (void)want(world, 1); // whoever waits asks on
    assert_int_equal(wanted_now(world), 1);

    const int64_t id = 1;
    const char *const why = "retention has removed it";
    assert_works(records_answer(world->store, &id, &why, 1, &err));
    assert_string_equal(want(world, 1).why, why);
    assert_string_equal(want(world, 1).why, why); // for somebody else
    assert_int_equal(wanted_now(world), 0);
    test_sql(world->admin, "UPDATE redrive.record_wanted SET taken_at = taken_at - interval '6 s'");
    assert_null(want(world, 1).why); // asked again
    assert_int_equal(wanted_now(world), 1);

    // Nobody waits for it any more.
    test_sql(world->admin, "UPDATE redrive.record_wanted SET at = at - interval '2 min', taken_at = NULL");
    assert_int_equal(wanted_now(world), 0);
    (void)want(world, 2);
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.record_wanted"), 1);
}

static void
wanted_records_are_kept_where_they_are_the_events_own(void **state)
{
    (void)state;
    struct world *world = &sender.world;
    test_sql(world->admin, "DELETE FROM redrive.worker");
    assert_false(want(world, 1).has_worker);
    assert_works(worker_beat(world->store, "w", true, "idle", 0, &err));
    assert_true(want(world, 2).has_worker);
    assert_false(want(world, 2).is_kept);
    int64_t ids[10];
    size_t count;
    assert_works(records_wanted(world->store, ids, 10, &count, &err));
    assert_int_equal(count, 2);
    (void)want(world, 2); // taken already
    assert_works(records_wanted(world->store, ids, 10, &count, &err));
    assert_int_equal(count, 0);

    struct event_header headers[] = {{BYTES("trace"), BYTES("t")}, {BYTES("null"), BYTES_ABSENT}};
    test_sql(world->admin,
             "UPDATE public.dlq_events SET event_payload = '{\"a\": 1.50}' WHERE id IN (1, 2, 3)");
    const struct found_record kept[] = {
        {.id = 1,
         .timestamp = 1000000,
         .key = BYTES("k"),
         .value = BYTES("{ \"a\":1.50 }"),
         .headers = headers,
         .header_count = 2},
        {.id = 2, .timestamp = TIME_ABSENT, .value = BYTES("{\"a\":2}")}, // of another event
        {.id = 3,
         .timestamp = TIME_ABSENT,
         .value = BYTES(" {\"a\":1.50}"),
         .headers = headers + 1,
         .header_count = 1},
    };
    assert_works(records_keep(world->store, kept, 3, &err));
    assert_works(records_keep(world->store, kept, 3, &err)); // again changes nothing
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.record"), 2);
    const int64_t wanted[] = {1, 2, 3};
    struct event_page page = {0};
    const struct event_query query = {
        .fields = EVENT_PAYLOAD | EVENT_RAW | EVENT_SENT, .ids = wanted, .id_count = 3};
    assert_works(store_events(world->store, &query, &page, &err));
    assert_true(bytes_equal_text(page.events[0].payload, "{ \"a\":1.50 }"));
    assert_true(bytes_equal_text(page.events[0].record.key, "k"));
    assert_int_equal(page.events[0].record.header_count, 2);
    assert_false(bytes_present(page.events[0].record.headers[1].value));
    assert_false(page.events[1].record.is_kept);
    assert_true(bytes_equal_text(page.events[2].record.headers[0].name, "null"));
    assert_false(bytes_present(page.events[2].record.key));
    event_page_release(&page);
    // One that is kept is not asked for.
    assert_works(records_answer(world->store, wanted, (const char *const[]){"", ""}, 2, &err));
    assert_true(want(world, 1).is_kept);
    assert_works(records_wanted(world->store, ids, 10, &count, &err));
    assert_int_equal(count, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        sent(every_part_is_kept_byte_for_byte),
        sent(refuses_what_was_not_seen),
        sent(a_viewer_may_not_correct),
        sent(the_correction_is_what_is_claimed),
        sent(a_row_that_returns_has_its_revisions),
        sent(wanted_records_are_kept_where_they_are_the_events_own),
        sent(requests_for_records_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
