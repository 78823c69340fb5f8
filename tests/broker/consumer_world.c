#include "tests/broker/consumer_world.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void
on_term(int number)
{
    (void)number;
    is_over = 1;
}

// As a service would: the record, and why it failed, into the table of dead letters.
static void
write_dead_letter(PGconn *database, const rd_kafka_message_t *message)
{
    test_sql(database,
             "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, stack_trace,"
             " kafka_topic, kafka_partition, kafka_offset) SELECT event_id, event_type, event_payload,"
             " 'boom again', 'at consumer', '%s', %d, %lld FROM dlq_events WHERE id = %s",
             rd_kafka_topic_name(message->rkt), (int)message->partition, (long long)message->offset,
             header_text(message, "redrive-event-id"));
}

static rd_kafka_t *
join(const char *group, const char *topic)
{
    char text[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_property(conf, "bootstrap.servers", test_kafka());
    kafka_property(conf, "group.id", group);
    kafka_property(conf, "auto.offset.reset", "earliest");
    kafka_property(conf, "enable.auto.commit", "false");
    kafka_property(conf, "isolation.level", "read_committed");
    kafka_property(conf, "fetch.wait.max.ms", "10");
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    if (!client)
        fail_msg("%s", text);
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
    assert_int_equal(rd_kafka_subscribe(client, topics), 0);
    rd_kafka_topic_partition_list_destroy(topics);
    return client;
}

static bool
consumer_fails(enum consumer_mood mood, const rd_kafka_message_t *message, int *count)
{
    if (!*header_text(message, "redrive-event-id"))
        return false;
    return mood == CONSUMER_FAILS_ALL || (mood == CONSUMER_FAILS_SOME && (*count)++ % 3 == 0);
}

static void
consume(rd_kafka_t *client, PGconn *database, enum consumer_mood mood, int taken)
{
    for (int count = 0; !is_over;) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 100);
        if (message && !message->err) {
            if (mood == CONSUMER_IS_SLOW)
                clock_sleep(US_PER_SECOND / 2);
            if (consumer_fails(mood, message, &count))
                write_dead_letter(database, message);
            if (rd_kafka_commit_message(client, message, 0) == 0)
                (void)!write(taken, "x", 1);
        }
        if (message)
            rd_kafka_message_destroy(message);
    }
}

void
consumer_start(struct test_consumer *consumer, const struct world *world, const char *group,
               const char *topic, enum consumer_mood mood)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    consumer->pid = fork();
    assert_true(consumer->pid >= 0);
    if (consumer->pid > 0) {
        close(ends[1]);
        consumer->taken = ends[0];
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // of a test that failed
    signal(SIGTERM, on_term);
    close(ends[0]);
    rd_kafka_t *client = join(group, topic);
    PGconn *database = PQconnectdb(world->conninfo);
    consume(client, database, mood, ends[1]);
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    PQfinish(database);
    _exit(0);
}

void
consumer_wait(const struct test_consumer *consumer, int records)
{
    char bytes[1];
    for (int i = 0; i < records; i++) {
        struct pollfd end = {.fd = consumer->taken, .events = POLLIN};
        if (poll(&end, 1, 40000) != 1 || read(consumer->taken, bytes, 1) != 1)
            fail_msg("a consumer took %d of %d records", i, records);
    }
}

void
consumer_stop(struct test_consumer *consumer)
{
    kill(consumer->pid, SIGTERM);
    waitpid(consumer->pid, NULL, 0);
    close(consumer->taken);
}

void
consumer_was_here(const struct world *world, const char *group, const char *topic, int records)
{
    struct test_consumer consumer;
    consumer_start(&consumer, world, group, topic, CONSUMER_TAKES_ALL);
    consumer_wait(&consumer, records);
    consumer_stop(&consumer);
}
