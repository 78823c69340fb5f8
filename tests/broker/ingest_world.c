#include "tests/broker/ingest_world.h"

void
put_letter(rd_kafka_t *producer, const char *topic, const struct envelope_record *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++)
        rd_kafka_header_add(headers, record->headers[i].name.data, (ssize_t)record->headers[i].name.len,
                            record->headers[i].value.data, (ssize_t)record->headers[i].value.len);
    union {
        const char *in;
        void *out;
    } k = {.in = record->key.data}, v = {.in = record->value.data};
    rd_kafka_vu_t arguments[] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = record->partition},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {.ptr = k.out, .size = record->key.len}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {.ptr = v.out, .size = record->value.len}},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(producer, arguments, sizeof arguments / sizeof *arguments);
    if (error)
        fail_msg("%s", rd_kafka_error_string(error));
}

rd_kafka_t *
letter_producer(const char *name, const char *value)
{
    char text[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    kafka_property(conf, "bootstrap.servers", test_kafka());
    kafka_property(conf, "message.max.bytes", "8000000");
    if (name)
        kafka_property(conf, name, value);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    if (!client)
        fail_msg("%s", text);
    return client;
}

void
letters_sent(rd_kafka_t *producer)
{
    assert_int_equal(rd_kafka_flush(producer, 20000), 0);
    assert_int_equal(rd_kafka_outq_len(producer), 0);
    rd_kafka_destroy(producer);
}

static struct ingest_report
ingest(const struct world *world, const char *topic, enum ingest_mode mode)
{
    const char *const topics[] = {topic};
    const struct ingest_settings settings = {.store = world->settings,
                                             .broker = {.brokers = test_kafka()},
                                             .topics = topics,
                                             .topic_count = 1,
                                             .group = "redrive-dlq-test",
                                             .mode = mode};
    struct ingest_report report = {0};
    struct arena arena = {0};
    assert_works(ingester_run(&settings, &arena, &report, &err));
    report.counts = NULL;
    arena_release(&arena);
    return report;
}

struct ingest_report
ingest_once(const struct world *world, const char *topic)
{
    return ingest(world, topic, INGEST_ONCE);
}

struct ingest_report
ingest_dry(const struct world *world, const char *topic)
{
    return ingest(world, topic, INGEST_DRY);
}

struct compared {
    PGconn *conn;
    const char *topic;
    int generation;
};

static void
assert_same(const rd_kafka_message_t *message, const PGresult *r, int column, const void *data, size_t len)
{
    if (PQgetisnull(r, 0, column) != (data == NULL) ||
        (data &&
         ((size_t)PQgetlength(r, 0, column) != len || memcmp(PQgetvalue(r, 0, column), data, len) != 0)))
        fail_msg("%s/%d/%lld: column %d is not what Kafka has (%zu bytes)", rd_kafka_topic_name(message->rkt),
                 (int)message->partition, (long long)message->offset, column, len);
}

static void
assert_headers(const rd_kafka_message_t *message, PGconn *conn, const char *of)
{
    rd_kafka_headers_t *headers;
    size_t count = rd_kafka_message_headers(message, &headers) ? 0 : rd_kafka_header_cnt(headers);
    char sql[600];
    for (size_t i = 0; i <= count; i++) {
        snprintf(
            sql, sizeof sql,
            "SELECT header_values[%zu], convert_to(header_names[%zu], 'UTF8'), cardinality(header_names) = "
            "%zu AND cardinality(header_values) = %zu %s",
            i + 1, i + 1, count, count, of);
        PGresult *r = PQexecParams(conn, sql, 0, NULL, NULL, NULL, NULL, 1);
        assert_int_equal(PQntuples(r), 1);
        assert_true(PQgetvalue(r, 0, 2)[0] == 1);
        const char *name = NULL;
        const void *value = NULL;
        size_t size = 0;
        if (i < count)
            assert_int_equal(rd_kafka_header_get_all(headers, i, &name, &value, &size), 0);
        assert_same(message, r, 0, value, size);
        assert_same(message, r, 1, name, name ? strlen(name) : 0);
        PQclear(r);
    }
}

static void
assert_kept(void *context, const rd_kafka_message_t *message)
{
    const struct compared *compared = context;
    char of[400], sql[600];
    snprintf(
        of, sizeof of,
        "FROM (SELECT topic, partition, generation, \"offset\", key, value, header_names, header_values FROM "
        "redrive.record UNION ALL SELECT topic, partition, generation, \"offset\", key, value, header_names, "
        "header_values FROM redrive.attempt) x WHERE topic = '%s' AND generation = %d AND partition = %d "
        "AND \"offset\" = %lld",
        compared->topic, compared->generation, (int)message->partition, (long long)message->offset);
    snprintf(sql, sizeof sql, "SELECT key, value %s", of);
    PGresult *r = PQexecParams(compared->conn, sql, 0, NULL, NULL, NULL, NULL, 1);
    if (PQntuples(r) != 1)
        fail_msg("%s/%d/%lld is there %d times", compared->topic, (int)message->partition,
                 (long long)message->offset, PQntuples(r));
    assert_same(message, r, 0, message->key, message->key_len);
    assert_same(message, r, 1, message->payload, message->len);
    PQclear(r);
    assert_headers(message, compared->conn, of);
}

size_t
assert_taken_in(const struct world *world, const char *topic, int partitions, int generation)
{
    char sql[400];
    struct compared compared = {.conn = world->admin, .topic = topic, .generation = generation};
    size_t count = read_topic(topic, partitions, "read_committed", assert_kept, &compared);
    snprintf(sql, sizeof sql,
             "SELECT (SELECT count(*) FROM redrive.record WHERE topic = '%s' AND generation = %d) + (SELECT "
             "count(*) "
             "FROM redrive.attempt WHERE topic = '%s' AND generation = %d)",
             topic, generation, topic, generation);
    assert_int_equal(test_number(world->admin, sql), count);
    return count;
}
