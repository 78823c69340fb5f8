// The original record of an event whose table has jsonb only: the screen has no Kafka, so a worker reads it
// while the editor waits. Whatever stops that is said where the bytes come from, and PostgreSQL's text can be
// edited.
#include <signal.h>
#include <unistd.h>
#include "tests/acceptance/programs.h"
#include "tests/acceptance/screen.h"
#include "tests/broker/kafka_harm.h"
#include "tests/lib/program.h"

#define EXACT "exact: the bytes of the record"
#define NOT_READ "NOT byte for byte: the original record was not read: "

enum { FOUND = 1, FOUND_LATER, ANOTHER, TOO_FAR, NO_TOPIC, REMOVED, FROZEN, AWAY, EVENTS };

static struct {
    struct world world;
    char topic[64];
    struct screen screen;
    struct running worker;
} scene;

static void
insert_event(int id, const char *topic, int64_t offset)
{
    test_sql(
        scene.world.admin,
        "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, kafka_topic, "
        "kafka_partition, kafka_offset) VALUES ('e%d', 'x', '{ \"n\" : %d.0e0 , \"a\":\"x\" }', 'x', '%s', "
        "0, "
        "%lld)",
        id, id, topic, (long long)offset);
}

// The record of event i is at the offset i - 1, except for one that is another's.
static void
fill(void)
{
    make_topic(scene.topic, "record", 1, NULL, NULL);
    rd_kafka_t *producer = kafka_client(RD_KAFKA_PRODUCER, NULL);
    for (int i = 1; i < EVENTS; i++) {
        char value[100];
        snprintf(value, sizeof value, "{ \"n\" : %d.0e0 , \"a\":\"x\" }", i == ANOTHER ? 99 : i);
        put_record(producer, scene.topic, 0, "k", value, "t");
        insert_event(i, i == NO_TOPIC ? "no.such.topic" : scene.topic, i == TOO_FAR ? 999 : i - 1);
    }
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    rd_kafka_destroy(producer);
}

static void
start_worker(const char *brokers)
{
    scene.worker = program_start(
        redrive_program(), (const char *const[]){"work", "-d", scene.world.conninfo, "-b", brokers, NULL});
}

static void
end_worker(int signal)
{
    char said[PROGRAM_ROOM];
    kill(scene.worker.pid, signal);
    assert_int_equal(program_end(&scene.worker, said), signal == SIGKILL ? -SIGKILL : 0);
}

static void
open_editor(int id)
{
    char keys[60];
    snprintf(keys, sizeof keys, "2/<C-u>event-id:=e%d<Enter>", id);
    screen_press(&scene.screen, keys);
    screen_see(&scene.screen, "1/1 of ");
    screen_press(&scene.screen, "e");
}

static void
close_editor(void)
{
    screen_press(&scene.screen, "<C-q>");
    screen_see(&scene.screen, "newest first");
}

static void
see_json_of(int id)
{
    char text[60];
    snprintf(text, sizeof text, "{\"a\": \"x\", \"n\": %d.0}", id);
    screen_see(&scene.screen, text);
}

static void
see_record_of(int id)
{
    char text[60];
    snprintf(text, sizeof text, "{ \"n\" : %d.0e0 , \"a\":\"x\" }", id);
    screen_see(&scene.screen, EXACT);
    screen_see(&scene.screen, text);
}

static void
is_not_read(int id, const char *why)
{
    char words[200];
    snprintf(words, sizeof words, NOT_READ "%s", why);
    open_editor(id);
    screen_see(&scene.screen, words);
    see_json_of(id);
    close_editor();
}

static void
kafka(const char *action)
{
    char said[200];
    const char *folder = getenv("REDRIVE_TEST_KAFKA_DIR");
    assert_non_null(folder);
    assert_int_equal(
        program_run(said, sizeof said, (const char *[]){"tests/lib/kafka.sh", action, folder, NULL}), 0);
}

static void
await_taken(void)
{
    int64_t end = clock_mono() + 30 * US_PER_SECOND;
    while (test_number(scene.world.admin,
                       "SELECT count(*) FROM redrive.record_wanted WHERE taken_at IS NOT NULL") == 0)
        if (clock_mono() > end)
            screen_give_up(&scene.screen, "no worker took the request");
}

static void
a_record_comes_once_a_worker_runs(void **state)
{
    (void)state;
    open_editor(FOUND);
    screen_see(&scene.screen, "no worker runs that could read the original record");
    see_json_of(FOUND);
    start_worker(test_kafka());
    see_record_of(FOUND);
    close_editor();
    open_editor(FOUND); // and it is kept
    see_record_of(FOUND);
    close_editor();
}

static void
what_cannot_be_had_is_told(void **state)
{
    (void)state;
    is_not_read(ANOTHER, "the record in");
    is_not_read(TOO_FAR, "the partition");
    is_not_read(NO_TOPIC, "its topic or");
    delete_records(scene.topic, 1);
    is_not_read(REMOVED, "");
    assert_int_equal(test_number(scene.world.admin, // the worker may know the partition's bounds of before
                                 "SELECT count(*) FROM redrive.record_wanted WHERE why IN ('retention has "
                                 "removed it', 'it is no longer there')"),
                     1);
}

// The next worker takes the request over, and the editor still waits.
static void
a_worker_killed_over_it_loses_nothing(void **state)
{
    (void)state;
    kafka("freeze");
    open_editor(FOUND_LATER);
    await_taken();
    end_worker(SIGKILL);
    kafka("thaw");
    screen_see(&scene.screen, "a worker reads the original record");
    start_worker(test_kafka());
    see_record_of(FOUND_LATER);
    close_editor();
}

// How long ago the worker beat last, at most, until the request was answered; in seconds.
static int64_t
longest_silence(void)
{
    int64_t longest = 0, end = clock_mono() + 60 * US_PER_SECOND;
    while (test_number(scene.world.admin,
                       "SELECT count(*) FROM redrive.record_wanted WHERE why IS NOT NULL") == 0) {
        int64_t silence =
            test_number(scene.world.admin,
                        "SELECT extract(epoch FROM clock_timestamp() - max(seen_at)) FROM redrive.worker");
        longest = silence > longest ? silence : longest;
        if (clock_mono() > end)
            screen_give_up(&scene.screen, "no worker answered the request");
    }
    return longest;
}

// A worker that waits for Kafka still beats: nobody may think that it is gone. What it knows of a partition's
// bounds lasts five seconds, so that it asks for them here.
static void
a_worker_beats_while_kafka_is_frozen(void **state)
{
    (void)state;
    clock_sleep(6 * US_PER_SECOND);
    test_sql(scene.world.admin, "DELETE FROM redrive.record_wanted"); // those of before
    kafka("freeze");
    open_editor(FROZEN);
    await_taken();
    int64_t silence = longest_silence();
    kafka("thaw");
    print_message("# figure: the worker was silent for %d s at most\n", (int)silence);
    assert_true(silence < 10);
    screen_see(&scene.screen, NOT_READ "Kafka did not");
    see_json_of(FROZEN);
    close_editor();
}

static void
a_kafka_that_is_away_is_told(void **state)
{
    (void)state;
    end_worker(SIGTERM);
    start_worker("127.0.0.1:1");
    is_not_read(AWAY, "");
    end_worker(SIGTERM);
}

static int
begin_scene(void **state)
{
    (void)state;
    world_make(&scene.world, 0);
    fill();
    screen_open(&scene.screen, scene.world.conninfo, NULL);
    screen_see(&scene.screen, "live");
    return 0;
}

static int
end_scene(void **state)
{
    (void)state;
    kafka("thaw"); // a failed test may have left it
    screen_close(&scene.screen);
    world_end(&scene.world);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_once_a_worker_runs),
        cmocka_unit_test(a_worker_killed_over_it_loses_nothing),
        cmocka_unit_test(what_cannot_be_had_is_told),
        cmocka_unit_test(a_worker_beats_while_kafka_is_frozen),
        cmocka_unit_test(a_kafka_that_is_away_is_told),
    };
    return cmocka_run_group_tests_name("record", tests, begin_scene, end_scene);
}
