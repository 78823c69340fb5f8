// Kafka's markers are gone, or say something else than they should: the slot is suspended, a scan looks for
// the headers, and where it cannot be complete a person decides (PROTOCOL.md, "Doubt"). Never a guess.
#include <unistd.h>
#include "broker/producer.h"
#include "broker/scan.h"
#include "publish/adopt.h"
#include "store/checkup.h"
#include "store/operations/adoption.h"
#include "store/operations/doubt.h"
#include "tests/broker/kafka_harm.h"
#include "tests/broker/fixture.h"

#define OTHER_ID "0b5e55ed-0000-4000-8000-000000000000" // no chunk and no install of this database

enum { EVENTS = 40, PARTITIONS = 2 };

static struct broker_fixture fixture = {.stem = "doubt", .partitions = PARTITIONS};
static const struct plan_settings sends;

static int
begin(void **state)
{
    (void)state;
    void *context = &fixture;
    broker_fixture_set_up(&context);
    broker_fixture_fail(&fixture, EVENTS);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    void *context = &fixture;
    return broker_fixture_tear_down(&context);
}

static int64_t
ask(int64_t first, int64_t last)
{
    return make_operation(&fixture.world, fixture.world.store, ACTION_REPROCESS, first, last);
}

static void
work(int64_t operation)
{
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation, .doubt_wait = 1}),
                     0);
}

// The same; then `count` events of the operation are done, and the topic has every event once.
static void
work_to_the_end(int64_t operation, int64_t count)
{
    work(operation);
    assert_all_done(&fixture.world, operation, count);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

// An operation of ten events that is done.
static void
publish_ten(void)
{
    int64_t operation = ask(1, 10);
    work(operation);
    assert_all_done(&fixture.world, operation, 10);
}

// A worker that does what can be done now and leaves the rest.
static void
work_once(void)
{
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.doubt_wait = 1}), 0);
}

// A worker that dies at this point of its first chunk, which then waits for somebody to find out.
static void
die_at(const char *point)
{
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.chunk = EVENTS, .kill = point}), -SIGKILL);
    expire_leases(&fixture.world);
}

// The marker group of the slot that worked last.
static const char *
last_group(void)
{
    return test_text(fixture.world.admin,
                     "SELECT s.txn_id FROM redrive.slot s JOIN redrive.chunk c ON c.cluster = s.cluster AND "
                     "c.slot = s.no ORDER BY c.created_at DESC LIMIT 1");
}

static int64_t
count_of(const char *what)
{
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.%s", what);
    return test_number(fixture.world.admin, sql);
}

// A record of somebody else in each partition, so many µs from now by its time.
static void
put_strangers(int64_t from_now)
{
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int partition = 0; partition < PARTITIONS; partition++)
        put_record_at(producer, fixture.topic, partition, "k", "a stranger", "t", clock_now() + from_now);
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
    rd_kafka_destroy(producer);
}

// Another marker in the slot that worked last; no other slot is free.
static void
forge_marker(int64_t seq)
{
    char group[200];
    snprintf(group, sizeof group, "%s", last_group());
    write_marker(group, seq, OTHER_ID);
    test_sql(fixture.world.admin,
             "UPDATE redrive.slot SET lease_until = CASE WHEN txn_id = '%s' THEN timestamptz '-infinity' "
             "ELSE 'infinity' END",
             group);
}

// Nothing of the operation is done, all of it is in doubt, and the note of its slot says why.
static void
assert_stays_in_doubt(int64_t operation, const char *why)
{
    struct operation found = get_operation(&fixture.world, operation);
    assert_int_equal(found.in_doubt, EVENTS);
    assert_int_equal(found.done, 0);
    char what[200];
    snprintf(what, sizeof what, "slot WHERE is_suspended AND note LIKE '%%%s%%'", why);
    assert_int_equal(count_of(what), 1);
}

// One chunk ended so, by that evidence.
static void
assert_decided(const char *state, const char *evidence)
{
    char what[200];
    snprintf(what, sizeof what, "chunk WHERE state = '%s' AND evidence LIKE '%s%%'", state, evidence);
    assert_int_equal(count_of(what), 1);
}

// Looks for a chunk in the topic; the caller releases the scan.
static struct scan
scan_topic(const char *chunk, bool (*tick)(void *context))
{
    static const char *topic;
    topic = fixture.topic;
    struct broker *broker;
    const struct broker_settings settings = {.brokers = test_kafka()};
    struct scan scan = {.topics = &topic, .topic_count = 1, .chunk_id = chunk, .since = clock_now()};
    assert_works(broker_open(&broker, &settings, &err));
    assert_works(broker_scan(broker, &scan, 10000, tick, NULL, &err));
    broker_close(broker);
    return scan;
}

// --- with nothing in flight ---

static void
an_idle_slot_whose_marker_is_gone_gets_new_names(void **state)
{
    (void)state;
    publish_ten();
    delete_group(last_group());
    // Every slot is tried until the one is met: the others have never worked.
    test_sql(fixture.world.admin, "UPDATE redrive.slot SET lease_until = CASE WHEN finished_seq = 0 THEN "
                                  "timestamptz 'infinity' ELSE '-infinity' END");
    int64_t second = ask(11, EVENTS);
    work_to_the_end(second, EVENTS - 10);
    assert_int_equal(count_of("audit WHERE action = 'retire' AND detail LIKE '%its marker is gone%'"), 1);
    assert_int_equal(count_of("slot WHERE generation = 2"), 1);
}

// A worker of this operation ends at a stop of that kind, and nothing was sent.
static void
work_is_stopped(int64_t operation, const char *stop)
{
    assert_int_equal(work_run(&fixture.world, &(struct work_how){.operation = operation}), ERR_STOPPED);
    char condition[80];
    snprintf(condition, sizeof condition, "turn WHERE stop = '%s'", stop);
    assert_int_equal(count_of(condition), 1);
    assert_int_equal(get_operation(&fixture.world, operation).done, 0);
}

// The administrator says that this database is the true one; so many events are closed as sent.
static void
go_on(int64_t closed)
{
    const struct broker_settings settings = {.brokers = getenv("REDRIVE_TEST_KAFKA")};
    struct adoption adoption;
    int64_t events;
    assert_works(adoption_find(fixture.world.store, &settings, &sends, true, NULL, NULL, &adoption, &err));
    assert_works(history_adopt(fixture.world.store, adoption.cluster, &adoption.kafka, adoption.slots,
                               adoption.slot_count, adoption.sent, adoption.sent_count, "test", &events,
                               &err));
    assert_int_equal(events, closed);
    adoption_release(&adoption);
}

// Every marker went with it, and the turn.
static void
a_deleted_marker_topic_is_a_stop(void **state)
{
    (void)state;
    publish_ten();
    delete_topic("redrive.marker");
    int64_t second = ask(11, EVENTS);
    work_is_stopped(second, "gone");
    go_on(0);
    work_to_the_end(second, EVENTS - 10);
}

// Expired, or deleted as a group that looks abandoned.
static void
a_deleted_turn_is_a_stop(void **state)
{
    (void)state;
    char group[80];
    publish_ten();
    snprintf(group, sizeof group, "redrive.%s.lease", store_info(fixture.world.store)->install);
    delete_group(group);
    int64_t second = ask(11, EVENTS);
    work_is_stopped(second, "gone");
    go_on(0);
    work_to_the_end(second, EVENTS - 10);
}

static void
find_suspended(void *context, enum checkup_verdict verdict, const char *sentence, const char *remedy)
{
    if (verdict == CHECKUP_WRONG && strstr(sentence, "is suspended") && strstr(remedy, "redrive.slot_renew("))
        ++*(int *)context;
}

static void
a_suspended_slot_is_shown_and_renewed_by_a_person(void **state)
{
    (void)state;
    publish_ten();
    forge_marker(0);
    int64_t second = ask(11, EVENTS);
    pid_t worker = work_start(&fixture.world, &(struct work_how){.lives = 3 * US_PER_SECOND});
    for (int i = 0; i < 300 && count_of("slot WHERE is_suspended") == 0; i++)
        clock_sleep(50000);
    assert_int_equal(count_of("slot WHERE is_suspended AND note LIKE '%it should be%'"), 1);
    kill(worker, SIGTERM);
    work_wait(worker);
    assert_int_equal(get_operation(&fixture.world, second).queued, EVENTS - 10);

    int told = 0;
    assert_works(store_checkup(fixture.world.store, find_suspended, &told, &err));
    assert_int_equal(told, 1);
    test_sql(fixture.world.admin, "SELECT redrive.slot_renew(cluster, no, 'the other install is gone') FROM "
                                  "redrive.slot WHERE is_suspended");
    work_to_the_end(second, EVENTS - 10);
}

static void
a_database_that_lost_work_stops(void **state)
{
    (void)state;
    publish_ten();
    forge_marker(99);
    int64_t second = ask(11, EVENTS);
    work_is_stopped(second, "ahead");
    work_is_stopped(second, "ahead"); // the next start does not take another slot
    assert_each_once(fixture.topic, PARTITIONS, 1, 10);
}

// --- with a chunk in flight ---

// An operation whose only chunk was published by a worker that died of it, and its marker is gone.
static int64_t
lose_marker(void)
{
    int64_t operation = ask(1, EVENTS);
    die_at("after-commit:1");
    delete_group(last_group());
    return operation;
}

static void
a_chunk_whose_marker_is_gone_is_found_by_its_headers(void **state)
{
    (void)state;
    int64_t operation = lose_marker();
    work_to_the_end(operation, EVENTS);
    assert_decided("committed", "found 40 of 40");
}

// Records of other times, before and after, that the same topic has do not hide it.
static void
a_chunk_is_found_among_others(void **state)
{
    (void)state;
    put_strangers(-3600 * US_PER_SECOND);
    int64_t operation = ask(1, EVENTS);
    die_at("after-commit:1");
    put_strangers(3600 * US_PER_SECOND);
    delete_group(last_group());
    work_to_the_end(operation, EVENTS);
    assert_decided("committed", "found 40 of 40");
}

// The host's clock was an hour behind PostgreSQL's: by time the search would begin after the records.
static void
a_chunk_is_found_whatever_the_clocks_say(void **state)
{
    (void)state;
    int64_t operation = ask(1, EVENTS);
    die_at("after-commit:1");
    put_strangers(3600 * US_PER_SECOND);
    delete_group(last_group());
    test_sql(fixture.world.admin, "UPDATE redrive.chunk SET created_at = created_at + interval '1 hour'");
    assert_int_equal(count_of("chunk WHERE cardinality(ends) = 1"), 1);
    work_to_the_end(operation, EVENTS);
    assert_decided("committed", "found 40 of 40");
}

// What others did to the events since does not send the search elsewhere.
static void
a_chunk_is_searched_where_it_went(void **state)
{
    (void)state;
    int64_t operation = lose_marker();
    test_sql(fixture.world.admin, "UPDATE dlq_events SET kafka_topic = 'redrive.marker' WHERE id > 5");
    work_to_the_end(operation, EVENTS);
    assert_decided("committed", "found 40 of 40");
}

static void
a_chunk_that_never_was_is_sent_again(void **state)
{
    (void)state;
    int64_t operation = ask(1, EVENTS);
    die_at("all-reports:1");
    delete_group(last_group());
    work_to_the_end(operation, EVENTS);
    assert_decided("aborted", "found 0 of 40");
}

// It names a chunk that is in no topic: what was sent is not proved, so this database cannot be the true one.
static void
a_foreign_marker_beside_a_chunk_is_a_stop(void **state)
{
    (void)state;
    const struct broker_settings settings = {.brokers = getenv("REDRIVE_TEST_KAFKA")};
    int64_t operation = ask(1, EVENTS);
    die_at("after-commit:1");
    write_marker(last_group(), 7, OTHER_ID);
    work_is_stopped(operation, "ahead");
    struct adoption adoption;
    assert_refused(adoption_find(fixture.world.store, &settings, &sends, false, NULL, NULL, &adoption, &err),
                   ERR_DATA, OTHER_ID);
    adoption_release(&adoption);
}

// As if the database had been put back to before the claim.
static void
put_back(void)
{
    test_sql(fixture.world.admin, "UPDATE redrive.operation_batch SET state = 'queued';"
                                  "UPDATE redrive.operation_item SET state = 'queued';"
                                  "UPDATE redrive.operation SET queued = queued + claimed, claimed = 0;"
                                  "DELETE FROM redrive.chunk; UPDATE redrive.slot SET next_seq = 0");
}

// The database is put back; a person resumes the operation, which finds that all its records were sent.
static void
assert_closed_as_sent(int64_t operation)
{
    put_back();
    work_is_stopped(operation, "ahead");
    go_on(EVENTS);
    work(operation);
    assert_int_equal(get_operation(&fixture.world, operation).skipped, EVENTS);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
}

// The chunk's marker was written over, and its records are there: they are what counts.
static void
what_was_sent_is_closed_as_sent(void **state)
{
    (void)state;
    int64_t operation = ask(1, EVENTS);
    die_at("after-commit:1");
    assert_closed_as_sent(operation);
}

// No row names the topic that these were sent to, and the marker does not: it names those of one chunk only.
static void
a_topic_that_only_dead_letters_name_is_searched(void **state)
{
    (void)state;
    test_sql(fixture.world.admin,
             "UPDATE dlq_events SET kafka_topic = NULL, kafka_partition = NULL, event_payload = "
             "jsonb_build_object('originalTopic', '%s', 'originalValue', event_payload::text)",
             fixture.topic);
    int64_t operation = ask(1, EVENTS);
    die_at("after-commit:1");
    char group[200], chunk[40];
    snprintf(group, sizeof group, "%s", last_group());
    snprintf(chunk, sizeof chunk, "%s", test_text(fixture.world.admin, "SELECT id FROM redrive.chunk"));
    write_marker(group, 1, chunk);
    assert_closed_as_sent(operation);
}

// Marker and records are both gone: nobody can know.
static int64_t
lose_all_evidence(void)
{
    int64_t operation = lose_marker();
    delete_records(fixture.topic, PARTITIONS);
    for (int i = 0; i < 3; i++) // whoever looks next leaves it as well
        work_once();
    assert_stays_in_doubt(operation, "not everything could be read");
    return operation;
}

// What came later shows that the topic can be read, and nothing of what was there before.
static void
records_that_came_later_are_no_evidence(void **state)
{
    (void)state;
    int64_t operation = lose_marker();
    delete_records(fixture.topic, PARTITIONS);
    put_strangers(0);
    work_once();
    assert_stays_in_doubt(operation, "retention may have removed");
}

static void
a_topic_that_is_gone_is_no_evidence(void **state)
{
    (void)state;
    int64_t operation = lose_marker();
    delete_topic(fixture.topic);
    work_once();
    assert_stays_in_doubt(operation, "not everything could be read");
}

static void
no_topic_to_search_is_no_evidence(void **state)
{
    (void)state;
    int64_t operation = lose_marker();
    test_sql(fixture.world.admin, "UPDATE redrive.chunk SET topics = '{}'");
    work_once();
    assert_stays_in_doubt(operation, "no topic is known");
}

static bool
stop_at_once(void *context)
{
    (void)context;
    return false;
}

static void
a_search_that_is_cut_short_is_no_evidence(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        put_strangers(0);
    struct scan scan = scan_topic("none", NULL);
    if (!scan.is_complete)
        fail_msg("%s", scan.why);
    assert_int_equal(scan.records, 3 * PARTITIONS);
    scan_release(&scan);
    scan = scan_topic("none", stop_at_once);
    assert_false(scan.is_complete);
    assert_non_null(strstr(scan.why, "could not be read to its end in time"));
    scan_release(&scan);
}

// A chunk in doubt of which nothing was sent, and its slot as it was.
static struct chunk
leave_in_doubt(struct slot *slot)
{
    char cluster[64];
    struct chunk chunk;
    die_at("after-claim:1");
    snprintf(cluster, sizeof cluster, "%s",
             test_text(fixture.world.admin, "SELECT name FROM redrive.cluster"));
    assert_works(slot_acquire(fixture.world.store, cluster, "t", NULL, 0, slot, &err));
    assert_works(slot_check(fixture.world.store, slot, &chunk, &err));
    assert_true(chunk.exists);
    struct slot was = *slot;
    assert_works(chunk_finish(fixture.world.store, slot, &chunk, CHUNK_IN_DOUBT, "a test", &err));
    assert_works(slot_release(fixture.world.store, slot, &err));
    *slot = was;
    return chunk;
}

// One record, sent and reported.
static void
deliver(struct producer *producer, const struct producer_record *record)
{
    struct report report;
    size_t count = 0;
    bool is_full = false;
    assert_works(producer_send(producer, record, 0, &is_full, &err));
    while (!count)
        assert_works(producer_serve(producer, 100, &report, 1, &count, &err));
    assert_int_equal(report.kind, REPORT_DELIVERED);
}

// Records of that chunk, one for each of these events, outside of any transaction.
static void
deliver_events(const char *chunk, const char *const *ids, size_t count)
{
    struct producer *producer;
    const struct broker_settings settings = {.brokers = test_kafka()};
    const struct producer_settings how = {.records = (uint32_t)count};
    assert_works(producer_open(&producer, &settings, &how, &err));
    for (size_t i = 0; i < count; i++) {
        const struct event_header headers[] = {{BYTES("redrive-chunk-id"), bytes_of(chunk)},
                                               {BYTES("redrive-event-id"), bytes_of(ids[i])}};
        deliver(producer, &(struct producer_record){.topic = fixture.topic,
                                                    .partition = (int32_t)(i % PARTITIONS),
                                                    .value = BYTES("{}"),
                                                    .headers = headers,
                                                    .header_count = 2});
    }
    producer_destroy(producer);
}

// Without transactions a record may be there twice: that is one event that was published.
static void
an_event_that_is_there_twice_is_one(void **state)
{
    (void)state;
    static const char *const ids[] = {"12", "3", "12", "12", "7", "3"};
    deliver_events("a chunk", ids, sizeof ids / sizeof *ids);
    struct scan scan = scan_topic("a chunk", NULL);
    assert_int_equal(scan.records, 6);
    assert_int_equal(scan.found_count, 3);
    const int64_t found[] = {3, 7, 12};
    assert_memory_equal(scan.found, found, sizeof found);
    scan_release(&scan);
}

// A part of a transaction is there: no cluster that keeps its word does that, and nothing is made of it.
static void
a_torn_transaction_is_left_to_a_person(void **state)
{
    (void)state;
    int64_t operation = ask(1, EVENTS);
    struct slot slot;
    struct chunk chunk = leave_in_doubt(&slot);
    const char *const first = "1";
    deliver_events(chunk.id, &first, 1);
    work_once();
    assert_stays_in_doubt(operation, "the cluster has torn it");
}

// Somebody who has the slot's transactional id, and a transaction of it that is still open.
static struct producer *
start_zombie(const char *txn_id)
{
    struct producer *zombie;
    const struct broker_settings settings = {.brokers = test_kafka()};
    const struct producer_settings how = {.txn_id = txn_id, .records = 1};
    const struct producer_record record = {.topic = fixture.topic, .partition = 0, .value = BYTES("zombie")};
    bool is_done = false;
    assert_works(producer_open(&zombie, &settings, &how, &err));
    while (!is_done)
        assert_works(producer_init(zombie, 100, &is_done, &err));
    assert_works(producer_begin(zombie, &err));
    deliver(zombie, &record);
    return zombie;
}

// Whoever held the slot before may be alive: he is fenced before the topics are searched, or he could still
// commit what was just found not to be there.
static void
nobody_can_commit_behind_the_search(void **state)
{
    (void)state;
    int64_t operation = ask(1, EVENTS);
    struct slot slot;
    leave_in_doubt(&slot);

    struct producer *zombie = start_zombie(slot.txn_id);
    work(operation);
    assert_all_done(&fixture.world, operation, EVENTS);
    struct err err = {0};
    bool is_done = false;
    assert_false(producer_commit(zombie, 10000, &is_done, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    producer_destroy(zombie);
    assert_each_once(fixture.topic, PARTITIONS, 1, EVENTS);
    assert_decided("aborted", "found 0 of 40");
}

static void
decide(int64_t operation, bool is_published)
{
    int64_t events;
    assert_works(
        doubt_decide(fixture.world.store, operation,
                     test_text(fixture.world.admin, "SELECT id FROM redrive.chunk WHERE state = 'in doubt'"),
                     is_published, "asked those who consume it", &events, &err));
    assert_int_equal(events, EVENTS);
}

static void
without_any_evidence_a_person_says_that_it_was_published(void **state)
{
    (void)state;
    int64_t operation = lose_all_evidence();
    decide(operation, true);
    assert_all_done(&fixture.world, operation, EVENTS);
    assert_int_equal(
        read_topic(fixture.topic, PARTITIONS, "read_committed", tally_record, &(struct tally){.most = 0}), 0);
}

static void
without_any_evidence_a_person_says_that_it_is_sent_again(void **state)
{
    (void)state;
    int64_t operation = lose_all_evidence();
    decide(operation, false);
    work_to_the_end(operation, EVENTS);
    assert_int_equal(count_of("audit WHERE action = 'decide' AND reason = 'asked those who consume it' AND "
                              "detail LIKE '%evidence:%'"),
                     1);
}

#define in_doubt(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        in_doubt(an_idle_slot_whose_marker_is_gone_gets_new_names),
        in_doubt(a_deleted_marker_topic_is_a_stop),
        in_doubt(a_deleted_turn_is_a_stop),
        in_doubt(a_suspended_slot_is_shown_and_renewed_by_a_person),
        in_doubt(a_database_that_lost_work_stops),
        in_doubt(a_chunk_whose_marker_is_gone_is_found_by_its_headers),
        in_doubt(a_chunk_is_found_among_others),
        in_doubt(a_chunk_is_found_whatever_the_clocks_say),
        in_doubt(a_chunk_is_searched_where_it_went),
        in_doubt(a_chunk_that_never_was_is_sent_again),
        in_doubt(a_foreign_marker_beside_a_chunk_is_a_stop),
        in_doubt(what_was_sent_is_closed_as_sent),
        in_doubt(a_topic_that_only_dead_letters_name_is_searched),
        in_doubt(records_that_came_later_are_no_evidence),
        in_doubt(a_topic_that_is_gone_is_no_evidence),
        in_doubt(no_topic_to_search_is_no_evidence),
        in_doubt(a_search_that_is_cut_short_is_no_evidence),
        in_doubt(nobody_can_commit_behind_the_search),
        in_doubt(an_event_that_is_there_twice_is_one),
        in_doubt(a_torn_transaction_is_left_to_a_person),
        in_doubt(without_any_evidence_a_person_says_that_it_was_published),
        in_doubt(without_any_evidence_a_person_says_that_it_is_sent_again),
    };
    return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}
