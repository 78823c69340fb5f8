// Recipes as operations: which events a worker gets next, what it keeps of them, who is skipped and why; and
// a worker (correct/step.c) that reads ahead (correct/pages.c) and is killed again and again, after which
// each event was corrected once.
#include "correcting.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "correct/correct.h"
#include "store/events/revisions.h"

// The parts of all events travel side by side; each event gets its own.
static void
each_event_gets_its_own_parts(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 6);
    struct event_header two[] = {{BYTES("a"), BYTES("1\0x")}, {BYTES("b"), BYTES_ABSENT}};
    struct event_header three[] = {
        {BYTES("a"), BYTES("\xff")}, {BYTES("a"), BYTES("")}, {BYTES("é"), BYTES("z")}};
    const struct corrected events[] = {
        {.outcome = "changed",
         .correction = {.has_payload = true,
                        .payload = BYTES("{ \"n\":1.50e0 }"),
                        .has_headers = true,
                        .headers = two,
                        .header_count = 2}},
        {.outcome = "unchanged", .detail = "unchanged"},
        {.outcome = "changed", .correction = {.has_headers = true, .has_key = true}}, // none, and a null key
        {.outcome = "changed",
         .correction = {.has_topic = true, .topic = BYTES("fixed"), .has_partition = true, .partition = 0}},
        {.outcome = "not_applicable", .detail = "line 1: $.x does not exist"},
        {.outcome = "changed",
         .correction = {.has_payload = true,
                        .payload = BYTES("\0\xff"),
                        .has_key = true,
                        .key = BYTES("k"),
                        .has_headers = true,
                        .headers = three,
                        .header_count = 3}},
    };
    int64_t no = ask_correct(&world, 1, 6, "set $.n 1");
    struct hand hand = take_correct(world.store, no, 100);
    assert_int_equal(hand.count, 6);
    assert_int_equal(keep_correct(world.store, no, &hand, events), 6);
    for (int64_t id = 1; id <= 6; id++) {
        const struct corrected *event = &events[id - 1];
        struct revision *revisions;
        size_t count;
        assert_works(store_revisions(world.store, id, &world.arena, &revisions, &count, &err));
        assert_int_equal(count, strcmp(event->outcome, "changed") == 0);
        if (!count)
            continue;
        assert_true(correction_equals(&revisions[0].parts, &event->correction));
        assert_int_equal(revisions[0].operation, no);
        assert_string_equal(revisions[0].reason, "INC-7");
    }
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, 6);
    assert_int_equal(operation.recipe.unchanged, 1);
    assert_int_equal(operation.recipe.not_applicable, 1);
    assert_string_equal(detail_of(&world, no, 5), "done: line 1: $.x does not exist");
    world_end(&world);
}

// The pages of one queue are written one after the other, without a look at the queue between them: whole
// ones, and the two parts of one that was read in two.
static void
pages_follow_each_other(void **state)
{
    (void)state;
    enum { EVENTS = 7300, PAGE = 2000 };
    struct world world;
    world_make(&world, EVENTS);
    int64_t no = ask_correct(&world, 1, EVENTS, "set $.n 1");
    struct correct_queue queue;
    assert_works(work_correct_next(world.store, no, 6500, PAGE, &queue, &err));
    assert_in_range(queue.count, PAGE, 6500);
    assert_true(queue.page_count >= 3);
    size_t at = 0;
    for (size_t i = 0; i < queue.page_count; i++) {
        assert_in_range(queue.pages[i], 1, PAGE);
        size_t first = i == 1 ? queue.pages[i] / 2 + 7 : queue.pages[i];
        for (size_t part = 0; part < (i == 1 ? 2u : 1u); part++) {
            struct hand hand = {.count = part ? queue.pages[i] - first : first};
            hand.ids = malloc(hand.count * sizeof *hand.ids);
            assert_non_null(hand.ids);
            memcpy(hand.ids, queue.ids + at, hand.count * sizeof *hand.ids);
            for (size_t k = 0; k < hand.count; k++)
                assert_int_equal(hand.ids[k], (int64_t)(at + k) + 1);
            at += hand.count;
            int64_t count = (int64_t)hand.count;
            assert_int_equal(keep_correct(world.store, no, &hand, NULL), count);
        }
    }
    assert_int_equal(at, queue.count);
    correct_queue_release(&queue);
    struct hand hand;
    while ((hand = take_correct(world.store, no, PAGE)).count)
        keep_correct(world.store, no, &hand, NULL);
    free(hand.ids);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(revisions_by(&world, no), EVENTS);
    assert_int_equal(test_number(world.admin, "SELECT max(no) FROM redrive.revision"), 1);
    assert_int_equal(test_number(world.admin, "SELECT sum(events) FROM redrive.audit WHERE action = 'apply'"),
                     EVENTS);
    world_end(&world);
}

// Somebody makes the steps smaller while a worker has more in hand: it writes none of it, and takes what the
// step allows.
static void
fewer_are_allowed_than_were_read(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    int64_t no = ask_correct(&world, 1, 30, "set $.n 1");
    struct hand hand = take_correct(world.store, no, 10);
    assert_int_equal(hand.count, 10);
    const struct send_plan four = {.steps = {4}, .step_count = 1};
    assert_works(operation_tune(world.store, no, STEER_STEPS, &four, NULL, &err));
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), 0);
    assert_int_equal(revisions_by(&world, no), 0);
    hand = take_correct(world.store, no, 10);
    assert_int_equal(hand.count, 4);
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), 4);
    assert_int_equal(get_operation(&world, no).state, OPERATION_HALTED);
    assert_int_equal(revisions_by(&world, no), 4);
    world_end(&world);
}

// Two workers read the same events; what the slower one made of them is not written.
static void
another_worker_was_quicker(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 30);
    struct store *other = open_store(world.conninfo);
    int64_t no = ask_correct(&world, 1, 30, "set $.n 1");
    struct hand slow = take_correct(world.store, no, 10), quick = take_correct(other, no, 10);
    assert_int_equal(slow.count, 10);
    assert_memory_equal(slow.ids, quick.ids, 10 * sizeof *slow.ids);
    assert_int_equal(keep_correct(other, no, &quick, NULL), 10);
    assert_int_equal(keep_correct(world.store, no, &slow, NULL), 0);
    assert_int_equal(revisions_by(&world, no), 10);
    slow = take_correct(world.store, no, 20);
    quick = take_correct(other, no, 20);
    assert_int_equal(keep_correct(other, no, &quick, NULL), 20);
    assert_int_equal(get_operation(&world, no).state, OPERATION_DONE);
    assert_int_equal(keep_correct(world.store, no, &slow, NULL), 0); // there is nothing left at all
    assert_int_equal(revisions_by(&world, no), 30);
    assert_int_equal(test_number(world.admin, "SELECT max(no) FROM redrive.revision"), 1);
    store_close(other);
    world_end(&world);
}

static void
what_changed_meanwhile_is_skipped(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 20);
    int64_t no = ask_correct(&world, 1, 20, "set $.n 1");
    struct hand hand = take_correct(world.store, no, 100);
    test_sql(world.admin, "UPDATE dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 3");
    test_sql(world.admin, "INSERT INTO redrive.revision (dlq_id, no, payload) VALUES (5, 1, 'other')");
    test_sql(world.admin, "DELETE FROM dlq_events WHERE id = 7");
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), 20);

    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.done, 17);
    assert_int_equal(operation.skipped, 3);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(revisions_by(&world, no), 17);
    assert_int_equal(
        test_number(world.admin, "SELECT count(*) FROM redrive.revision WHERE dlq_id IN (3, 5, 7)"), 1);
    assert_string_equal(detail_of(&world, no, 5), "skipped: corrected meanwhile");
    const char *closed = detail_of(&world, no, 3);
    if (strncmp(closed, "skipped: resolved by api", 24) != 0)
        fail_msg("%s", closed);
    const char *gone = detail_of(&world, no, 7);
    if (strncmp(gone, "skipped: ", 9) != 0 || !gone[9])
        fail_msg("%s", gone);
    world_end(&world);
}

// Batches are finished whole where everything changed, and become rows where it did not; the counters are the
// same.
static void
batches_and_rows_count_alike(void **state)
{
    (void)state;
    enum { EVENTS = 2500 };
    struct world world;
    world_make(&world, EVENTS);
    int64_t no = ask_correct(&world, 1, EVENTS, "set $.n 1");
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.operation_item"), 0);
    struct hand hand = take_correct(world.store, no, 1000);
    int64_t first = (int64_t)hand.count;
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), first);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.operation_item"), 0);
    assert_int_equal(items_in(&world, no, "done"), first);

    hand = take_correct(world.store, no, 1000);
    static struct corrected events[1000];
    int64_t second = (int64_t)hand.count, counts[5] = {0};
    static const char *const outcomes[] = {"changed", "unchanged", "not_applicable", "invalid",
                                           "refused_by_check"};
    for (size_t i = 0; i < hand.count; i++) {
        counts[i % 5]++;
        events[i] = (struct corrected){
            .outcome = outcomes[i % 5],
            .detail = i % 5 ? "why" : NULL,
            .correction = {.has_payload = i % 5 == 0, .payload = BYTES("{\"n\": 2}")},
        };
    }
    assert_int_equal(keep_correct(world.store, no, &hand, events), second);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_RUNNING);
    assert_int_equal(operation.done, first + counts[0] + counts[1] + counts[2]);
    assert_int_equal(operation.refused, counts[3] + counts[4]);
    assert_int_equal(operation.recipe.unchanged, counts[1]);
    assert_int_equal(operation.recipe.not_applicable, counts[2]);
    assert_int_equal(operation.recipe.refused_by_check, counts[4]);
    assert_int_equal(operation.queued, EVENTS - first - second);
    assert_int_equal(items_in(&world, no, "done"), operation.done);
    assert_int_equal(items_in(&world, no, "refused"), operation.refused);
    assert_int_equal(revisions_by(&world, no), first + counts[0]);
    while ((hand = take_correct(world.store, no, 700)).count)
        keep_correct(world.store, no, &hand, NULL);
    free(hand.ids);
    operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(revisions_by(&world, no),
                     operation.done - operation.recipe.unchanged - operation.recipe.not_applicable);
    int64_t *ids;
    size_t corrected;
    assert_works(operation_corrected_ids(world.store, no, &ids, &corrected, &err));
    assert_int_equal(corrected, revisions_by(&world, no));
    free(ids);
    world_end(&world);
}

static void
is_paused_and_cancelled_in_the_middle(void **state)
{
    (void)state;
    enum { EVENTS = 2000 };
    struct world world;
    world_make(&world, EVENTS);
    int64_t no = ask_correct(&world, 1, EVENTS, "set $.n 1");
    struct hand hand = take_correct(world.store, no, 300);
    int64_t done = (int64_t)hand.count;
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), done);

    hand = take_correct(world.store, no, 300);
    struct hand none;
    assert_works(operation_steer(world.store, no, STEER_PAUSE, 0, NULL, &err));
    none = take_correct(world.store, no, 300);
    assert_int_equal(none.count, 0);
    free(none.ids);
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), 0);
    assert_works(operation_steer(world.store, no, STEER_RESUME, 0, NULL, &err));

    hand = take_correct(world.store, no, 300);
    assert_true(hand.count > 0);
    assert_works(operation_steer(world.store, no, STEER_CANCEL, 0, NULL, &err));
    assert_int_equal(keep_correct(world.store, no, &hand, NULL), 0); // it was read before
    none = take_correct(world.store, no, 300);
    assert_int_equal(none.count, 0);
    free(none.ids);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_CANCELLED);
    assert_int_equal(operation.done, done);
    assert_int_equal(operation.cancelled, EVENTS - done);
    assert_int_equal(revisions_by(&world, no), done);
    world_end(&world);
}

// --- dry runs ---

struct seen {
    int64_t events;
    int64_t last; // id
    size_t read;
    int pages, most_pages;
    PGconn *spoiler; // takes the table away in the second page
};

static bool
see_page(void *context, const struct correct_result *results, size_t count, size_t read)
{
    struct seen *seen = context;
    for (size_t i = 0; i < count; i++) {
        assert_true(results[i].id > seen->last); // in order, each once
        seen->last = results[i].id;
        assert_int_equal(results[i].outcome, results[i].id % 10 ? CORRECT_CHANGED : CORRECT_NOT_APPLICABLE);
        if (results[i].id % 10)
            assert_true(bytes_equal_text(results[i].after, "{\"list\": [1]}"));
    }
    seen->events += (int64_t)count;
    assert_true(read > seen->read);
    seen->read = read;
    if (++seen->pages == 2 && seen->spoiler)
        test_sql(seen->spoiler, "ALTER TABLE dlq_events RENAME TO away");
    return seen->pages != seen->most_pages;
}

// Pages are read while those before them are looked at: none is left out, and none is looked at when it was
// told to stop. Long texts end pages early.
static void
see_every_page(bool is_beside)
{
    enum { EVENTS = 20500 };
    struct world world;
    struct corrector *corrector;
    const struct correct_limits limits = {.jq_time = US_PER_SECOND, .jq_memory = 1 << 26};
    static int64_t ids[EVENTS];
    for (int i = 0; i < EVENTS; i++)
        ids[i] = i + 1;
    world_make(&world, EVENTS);
    test_sql(world.admin,
             "UPDATE dlq_events SET event_payload = CASE WHEN id %% 10 = 0 THEN '1' ELSE "
             "'{\"list\": []}' END::jsonb; DELETE FROM dlq_events WHERE id BETWEEN 2990 AND 3010; UPDATE "
             "dlq_events SET event_payload = to_jsonb(repeat('x', 50000)) WHERE id %% 10 = 0 AND id BETWEEN "
             "4001 AND 12000");
    struct correct_reading reading = {.store = world.store, .ids = ids, .count = EVENTS};
    if (is_beside)
        reading.beside = open_store(world.conninfo);
    assert_works(corrector_create(&corrector, "recipe", BYTES("add $.list 1"), &limits, &err));
    struct correct_tally tally = {0};
    struct seen seen = {.most_pages = -1};
    assert_works(correct_dry_run(corrector, &reading, see_page, &seen, &tally, &err));
    assert_in_range(seen.pages, 8, 12);
    assert_int_equal(tally.gone, 21);
    assert_int_equal(seen.events, EVENTS - 21);
    assert_int_equal(seen.read, EVENTS);
    assert_int_equal(tally.counts[CORRECT_NOT_APPLICABLE], EVENTS / 10 - 3);
    assert_int_equal(tally.counts[CORRECT_CHANGED], EVENTS - 21 - EVENTS / 10 + 3);

    seen = (struct seen){.most_pages = 2};
    tally = (struct correct_tally){0};
    assert_refused(correct_dry_run(corrector, &reading, see_page, &seen, &tally, &err), ERR_CANCELLED,
                   "stopped as asked");
    assert_int_equal(seen.pages, 2);
    reading.count = 0;
    assert_works(correct_dry_run(corrector, &reading, see_page, &seen, &tally, &err));
    assert_int_equal(seen.pages, 2);
    reading.count = EVENTS;

    // A page that cannot be read is said.
    seen = (struct seen){.most_pages = -1, .spoiler = world.admin};
    assert_refused(correct_dry_run(corrector, &reading, see_page, &seen, &tally, &err), ERR_NOT_FOUND,
                   "there is no table public.dlq_events");
    assert_in_range(seen.pages, 2, is_beside ? 6 : 4);
    corrector_destroy(corrector);
    store_close(reading.beside);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision"), 0);
    world_end(&world);
}

static void
a_dry_run_sees_every_page_once(void **state)
{
    (void)state;
    see_every_page(false);
}

static void
two_readers_see_every_page_once_in_order(void **state)
{
    (void)state;
    see_every_page(true);
}

// --- killed ---

// Applies the recipe to the end, in a process of its own. The recipe appends, so that a second application
// shows.
#define APPENDS "add $.list 1"

// With a second connection or without.
static bool
correct_to_the_end(const char *conninfo, int64_t no, const char *recipe, bool is_ahead, struct err *err)
{
    struct store *store = NULL;
    const struct store_settings settings = {
        .conninfo = conninfo, .table = "public.dlq_events", .program = "correcting"};
    const struct correct_limits limits = {.jq_time = US_PER_SECOND, .jq_memory = 1 << 26};
    struct corrector *corrector = NULL;
    struct store *ahead = is_ahead ? store_create(&settings) : NULL;
    int64_t applied, left = 1;
    bool ok = store_open(&store, &settings, err) &&
              corrector_create(&corrector, "recipe", bytes_of(recipe), &limits, err);
    while (ok && left > 0)
        ok = correct_step(corrector, store, ahead, no, &applied, &left, err);
    corrector_destroy(corrector);
    store_close(ahead);
    store_close(store);
    return ok;
}

static pid_t
start_correcting(const struct world *world, int64_t no, bool is_ahead)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    struct err err = {0};
    bool ok = correct_to_the_end(world->conninfo, no, APPENDS, is_ahead, &err);
    if (!ok)
        fprintf(stderr, "correcting: %s\n", err.text);
    _exit(ok ? 0 : 1);
}

// Waits until a worker's statement that writes is under way, or `most` microseconds.
static void
await_writing(struct world *world, int64_t most)
{
    for (int64_t end = clock_mono() + most; clock_mono() < end;)
        if (test_number(world->admin, "SELECT count(*) FROM pg_stat_activity WHERE datname = "
                                      "current_database() AND state = 'active' AND query LIKE "
                                      "'%work_correct($%' AND pid <> pg_backend_pid()"))
            return;
}

static void
kill_again_and_again(bool is_ahead)
{
    enum { EVENTS = 30000, KILLS = 10 };
    struct world world;
    world_make(&world, EVENTS);
    test_sql(world.admin, "UPDATE dlq_events SET event_payload = '{\"list\": []}'");
    int64_t no = ask_correct(&world, 1, EVENTS, APPENDS);
    int killed = 0, midway = 0;
    for (int i = 0; i < KILLS; i++) {
        pid_t pid = start_correcting(&world, no, is_ahead);
        await_writing(&world, 5 * US_PER_SECOND);
        clock_sleep(clock_mono() % 20000);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        killed += WIFSIGNALED(status);
        struct operation operation = get_operation(&world, no);
        midway += operation.queued > 0;
        // Old or new, as the operation says; never half of a page.
        assert_int_equal(test_number(world.admin, "SELECT count(*) - (SELECT done FROM redrive.operation) "
                                                  "FROM redrive.revision"),
                         0);
        assert_int_equal(test_number(world.admin, "SELECT coalesce(sum(a.events), 0) - (SELECT done FROM "
                                                  "redrive.operation) FROM redrive.audit a WHERE action = "
                                                  "'apply'"),
                         0);
    }
    assert_true(killed >= 5 && midway >= 5); // else it was no test

    pid_t pids[2];
    for (int i = 0; i < 2; i++)
        pids[i] = start_correcting(&world, no, is_ahead);
    for (int i = 0; i < 2; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, EVENTS);
    assert_int_equal(operation.recipe.unchanged, 0);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision"), EVENTS);
    assert_int_equal(test_number(world.admin,
                                 "SELECT count(DISTINCT dlq_id) FROM redrive.revision WHERE no = "
                                 "1 AND parent = 0 AND payload = '{\"list\": [1]}'::bytea"),
                     EVENTS);
    world_end(&world);
}

static void
killed_again_and_again_corrects_each_once(void **state)
{
    (void)state;
    kill_again_and_again(false);
}

static void
killed_while_it_reads_ahead_corrects_each_once(void **state)
{
    (void)state;
    kill_again_and_again(true);
}

// Of an event only what the recipe needs is read.
static void
a_recipe_gets_the_parts_that_it_names(void **state)
{
    (void)state;
    enum { EVENTS = 1000 };
    static const char *const recipes[] = {"copy key $.part", "copy topic $.part",
                                          "remove key\ncopy topic key"};
    static const char *const expected[] = {
        "payload = convert_to(format('{\"part\": \"%s\"}', e.source_id), 'UTF8')",
        "payload = convert_to(format('{\"part\": \"%s\"}', e.kafka_topic), 'UTF8')",
        "key = convert_to(e.kafka_topic, 'UTF8') AND payload IS NULL"};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        struct world world;
        world_make(&world, EVENTS);
        test_sql(world.admin,
                 "UPDATE dlq_events SET event_payload = '{\"part\": null}', source_id = 'source-' || "
                 "id, kafka_topic = 'topic-' || id");
        int64_t no = ask_correct(&world, 1, EVENTS, recipes[i]);
        assert_works(correct_to_the_end(world.conninfo, no, recipes[i], true, &err));
        char sql[512];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM redrive.revision r JOIN dlq_events e ON e.id = r.dlq_id WHERE r.%s",
                 expected[i]);
        assert_int_equal(test_number(world.admin, sql), EVENTS);
        world_end(&world);
    }
}

// Pages end by what was received: a megabyte is kept in some kilobytes, which PostgreSQL does not unpack to
// count it.
static void
large_payloads_make_small_pages(void **state)
{
    (void)state;
    enum { EVENTS = 1500, LARGE = 50, MOST = 10 };
    for (int is_ahead = 0; is_ahead < 2; is_ahead++) {
        struct world world;
        world_make(&world, EVENTS);
        test_sql(world.admin, "UPDATE dlq_events SET event_payload = jsonb_build_object('list', '[]'::jsonb, "
                              "'t', CASE WHEN id BETWEEN 401 AND 450 THEN repeat('x', 1000000) ELSE '' END)");
        int64_t no = ask_correct(&world, 1, EVENTS, APPENDS);
        assert_works(correct_to_the_end(world.conninfo, no, APPENDS, is_ahead, &err));
        assert_int_equal(get_operation(&world, no).done, EVENTS);
        assert_int_equal(revisions_by(&world, no), EVENTS);
        assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision WHERE no = 1 AND "
                                                  "convert_from(payload, 'UTF8')::jsonb -> 'list' = '[1]' "
                                                  "AND octet_length(payload) > 1000000"),
                         LARGE);
        assert_true(test_number(world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'apply'") >=
                    LARGE / MOST);
        world_end(&world);
    }
}

// A jsonb whose text has more than a gigabyte: its event alone is refused, with the reason. By the dry run
// too, which looks at such events for the shape of the others.
static void
a_payload_that_cannot_be_read_is_refused_alone(void **state)
{
    (void)state;
    enum { EVENTS = 60, BAD = 7, BAD_BESIDE = 50, CORRECTED = 40 };
    struct world world;
    struct corrector *corrector;
    const struct correct_limits limits = {.jq_time = US_PER_SECOND, .jq_memory = 1 << 26};
    int64_t ids[CORRECTED], applied, left;
    for (int i = 0; i < CORRECTED; i++)
        ids[i] = i + 1;
    world_make(&world, EVENTS);
    test_sql(world.admin,
             "UPDATE dlq_events SET event_type = 'same', event_payload = CASE WHEN id IN (%d, %d) THEN "
             "(SELECT jsonb_agg(1e131071) FROM generate_series(1, 9000)) ELSE '{\"list\": []}' END",
             BAD, BAD_BESIDE);
    assert_works(corrector_create(&corrector, "recipe", bytes_of(APPENDS), &limits, &err));
    struct correct_tally tally = {0};
    const struct correct_reading reading = {.store = world.store, .ids = ids, .count = CORRECTED};
    assert_works(correct_dry_run(corrector, &reading, NULL, NULL, &tally, &err));
    assert_int_equal(tally.counts[CORRECT_CHANGED], CORRECTED - 1);
    assert_int_equal(tally.counts[CORRECT_FAILED], 1);

    int64_t no = ask_correct(&world, 1, CORRECTED, APPENDS);
    assert_works(correct_step(corrector, world.store, NULL, no, &applied, &left, &err));
    assert_int_equal(applied, CORRECTED);
    assert_int_equal(left, 0);
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.done, CORRECTED - 1);
    assert_int_equal(operation.refused, 1);
    assert_non_null(strstr(detail_of(&world, no, BAD), "refused: PostgreSQL cannot return the payload"));
    assert_int_equal(revisions_by(&world, no), CORRECTED - 1);
    corrector_destroy(corrector);
    world_end(&world);
}

struct others {
    PGconn *admin;
    int64_t pages;
};

// Somebody closes, corrects and deletes events of each page, once it was read.
static bool
meddle(void *context, struct store *store, struct event *events, size_t count, bool is_kept_for_good,
       struct arena *arena, const char **troubles, struct err *err)
{
    struct others *others = context;
    (void)store, (void)arena, (void)troubles, (void)err;
    assert_true(is_kept_for_good && count > 10);
    others->pages++;
    test_sql(others->admin,
             "UPDATE dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = %lld; INSERT INTO "
             "redrive.revision (dlq_id, no, payload) VALUES (%lld, 1, 'other'); DELETE FROM dlq_events WHERE "
             "id = %lld",
             (long long)events[3].id, (long long)events[5].id, (long long)events[7].id);
    return true;
}

static void
what_changes_behind_the_reader_is_skipped(void **state)
{
    (void)state;
    enum { EVENTS = 13000 };
    struct world world;
    struct corrector *corrector;
    const struct correct_limits limits = {.jq_time = US_PER_SECOND, .jq_memory = 1 << 26};
    world_make(&world, EVENTS);
    test_sql(world.admin, "UPDATE dlq_events SET event_payload = '{\"list\": []}'");
    int64_t no = ask_correct(&world, 1, EVENTS - 100, APPENDS);
    struct others others = {.admin = world.admin};
    struct store *ahead = open_store(world.conninfo);
    assert_works(corrector_create(&corrector, "recipe", bytes_of(APPENDS), &limits, &err));
    corrector_set_originals(corrector, meddle, &others);
    int64_t applied, left = 1, all = 0;
    for (; left > 0; all += applied)
        assert_works(correct_step(corrector, world.store, ahead, no, &applied, &left, &err));
    assert_int_equal(all, EVENTS - 100);
    assert_in_range(others.pages, 4, 12); // a small one, larger ones once it is known how large events are,
                                          // and small ones in the end
    struct operation operation = get_operation(&world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    assert_int_equal(operation.skipped, 3 * others.pages);
    assert_int_equal(operation.done, EVENTS - 100 - operation.skipped);
    assert_int_equal(revisions_by(&world, no), operation.done);
    assert_int_equal(test_number(world.admin, "SELECT max(no) FROM redrive.revision"), 1);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.item WHERE state = 'skipped' AND "
                                              "detail = 'corrected meanwhile'"),
                     others.pages);
    assert_int_equal(test_number(world.admin, "SELECT count(*) FROM redrive.revision WHERE dlq_id > 12900"),
                     0);
    corrector_destroy(corrector);
    store_close(ahead);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_gets_its_own_parts),
        cmocka_unit_test(pages_follow_each_other),
        cmocka_unit_test(another_worker_was_quicker),
        cmocka_unit_test(fewer_are_allowed_than_were_read),
        cmocka_unit_test(what_changed_meanwhile_is_skipped),
        cmocka_unit_test(batches_and_rows_count_alike),
        cmocka_unit_test(is_paused_and_cancelled_in_the_middle),
        cmocka_unit_test(a_dry_run_sees_every_page_once),
        cmocka_unit_test(two_readers_see_every_page_once_in_order),
        cmocka_unit_test(a_recipe_gets_the_parts_that_it_names),
        cmocka_unit_test(large_payloads_make_small_pages),
        cmocka_unit_test(a_payload_that_cannot_be_read_is_refused_alone),
        cmocka_unit_test(what_changes_behind_the_reader_is_skipped),
        cmocka_unit_test(killed_again_and_again_corrects_each_once),
        cmocka_unit_test(killed_while_it_reads_ahead_corrects_each_once),
    };
    return cmocka_run_group_tests_name("corrections", tests, NULL, NULL);
}
