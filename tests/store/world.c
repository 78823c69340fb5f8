#include "world.h"

#include "base/strbuf.h"
#include "tests/lib/contract.h"

PGconn *
test_connect(const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(conn));
    return conn;
}

void
test_sql(PGconn *conn, const char *format, ...)
{
    struct strbuf sql = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&sql, format, args);
    va_end(args);
    PGresult *r = PQexec(conn, strbuf_text(&sql));
    ExecStatusType status = PQresultStatus(r);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s\nin %s", PQerrorMessage(conn), strbuf_text(&sql));
    strbuf_release(&sql);
    PQclear(r);
}

const char *
test_state(PGconn *conn, const char *sql)
{
    static char state[6];
    PGresult *r = PQexec(conn, sql);
    const char *s = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    snprintf(state, sizeof state, "%s", s ? s : "");
    PQclear(r);
    return state;
}

const char *
test_text(PGconn *conn, const char *sql)
{
    static char text[64000];
    PGresult *r = PQexec(conn, sql);
    if (PQresultStatus(r) != PGRES_TUPLES_OK || PQntuples(r) < 1)
        fail_msg("%s\nin %s", PQerrorMessage(conn), sql);
    snprintf(text, sizeof text, "%s", PQgetvalue(r, 0, 0));
    PQclear(r);
    return text;
}

int64_t
test_number(PGconn *conn, const char *sql)
{
    return strtoll(test_text(conn, sql), NULL, 10);
}

void
add_events(PGconn *conn, int count)
{
    test_sql(
        conn,
        "INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload,"
        " error_message, stack_trace, kafka_topic, kafka_partition, kafka_offset, correlation_id)"
        " SELECT 'evt-' || i, 'order.created', 'orders', 'src-' || i,"
        " jsonb_build_object('order', i, 'note', repeat('x', 40)), 'Connection refused: host-' || i %% 7,"
        " 'java.net.ConnectException: Connection refused', 'orders', i %% 12, i / 12, gen_random_uuid()"
        " FROM (SELECT count(*) AS n FROM public.dlq_events) AS had, generate_series(had.n + 1, had.n + %d)"
        " AS i; ANALYZE public.dlq_events",
        count);
}

struct store *
open_store(const char *conninfo)
{
    struct store *store = NULL;
    const struct store_settings settings = {
        .conninfo = conninfo, .table = "public.dlq_events", .program = "test"};
    assert_works(store_open(&store, &settings, &err));
    return store;
}

static void
begin_on(struct world *world)
{
    world->conninfo = world->db.conninfo;
    world->admin = world->db.conn;
    world->settings =
        (struct store_settings){.conninfo = world->conninfo, .table = "public.dlq_events", .program = "test"};
    test_sql(world->admin, "SET client_min_messages = error");
}

void
world_begin(struct world *world)
{
    *world = (struct world){0};
    assert_true(testdb_create(&world->db));
    begin_on(world);
}

static void
migrate(struct world *world)
{
    world->store = open_store(world->conninfo);
    struct schema_result result;
    assert_works(schema_migrate(world->store, &result, &err));
}

// A database with a migrated schema, named after all that is in it: to copy it takes a fraction of the time.
static const char *
model(void)
{
    static char name[64];
    if (*name)
        return name;
    struct strbuf script = {0};
    const struct schema_wanted wanted = {.table = "public.dlq_events"};
    assert_works(schema_print(&wanted, &script, &err));
    strbuf_add_text(&script, CONTRACT_TABLE CONTRACT_INDEXES);
    snprintf(name, sizeof name, "redrive_model_%016llx",
             (unsigned long long)bytes_hash(strbuf_bytes(&script)));
    strbuf_release(&script);
    if (testdb_has_model(name))
        return name;
    struct world world;
    world_begin(&world);
    migrate(&world);
    store_close(world.store);
    testdb_become_model(&world.db, name);
    return name;
}

void
world_make(struct world *world, int events)
{
    *world = (struct world){0};
    assert_true(testdb_create_like(&world->db, model()));
    begin_on(world);
    // What a migration writes down of its moment and its database.
    test_sql(world->admin,
             "UPDATE redrive.install SET id = gen_random_uuid(), database_oid = redrive._database_oid(), "
             "created_at = clock_timestamp();"
             "UPDATE redrive.schema_version SET at = clock_timestamp();"
             "UPDATE redrive.returned_position SET seen_at = clock_timestamp();"
             "UPDATE redrive.watch_arrival SET at = clock_timestamp()");
    if (events)
        add_events(world->admin, events);
    world->store = open_store(world->conninfo);
}

void
world_make_with_rules(struct world *world, int events)
{
    world_make(world, events);
    world->rules = category_rules_create(NULL, NULL);
    world->settings.rules = world->rules;
    store_close(world->store);
    world->store = NULL;
    assert_works(store_open(&world->store, &world->settings, &err));
}

void
world_make_partitioned(struct world *world, int events)
{
    world_begin(world);
    test_sql(world->admin,
             "ALTER TABLE public.dlq_events RENAME TO dlq_plain; ALTER TABLE public.dlq_plain DROP CONSTRAINT"
             " dlq_events_pkey;"
             "CREATE TABLE public.dlq_events (LIKE public.dlq_plain INCLUDING DEFAULTS,"
             " PRIMARY KEY (id, created_at)) PARTITION BY RANGE (created_at);"
             "CREATE TABLE public.dlq_old PARTITION OF public.dlq_events FOR VALUES FROM (MINVALUE) TO"
             " ('2020-01-01');"
             "CREATE TABLE public.dlq_new PARTITION OF public.dlq_events FOR VALUES FROM ('2020-01-01') TO"
             " (MAXVALUE); " CONTRACT_INDEXES);
    if (events)
        add_events(world->admin, events);
    migrate(world);
    test_sql(world->admin, "UPDATE public.dlq_events SET created_at = '2019-05-05' WHERE id %% 2 = 0");
}

void
world_end(struct world *world)
{
    store_close(world->store);
    category_rules_destroy(world->rules);
    testdb_drop(&world->db);
    arena_release(&world->arena);
}

const char *
new_uuid(PGconn *conn)
{
    return test_text(conn, "SELECT gen_random_uuid()");
}

int64_t
make_operation(struct world *world, struct store *store, enum operation_action action, int64_t first,
               int64_t last)
{
    size_t count = (size_t)(last - first + 1);
    int64_t *ids = malloc(count * sizeof *ids);
    assert_non_null(ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = first + (int64_t)i;
    struct operation_request request = {
        .action = action, .ids = ids, .count = count, .scope = "a test", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world->admin));
    int64_t no = 0;
    assert_works(operation_create(store, &request, NULL, NULL, &no, &err));
    free(ids);
    return no;
}

struct slot
acquire(struct world *world, const char *worker)
{
    struct slot slot = {0};
    assert_works(slot_acquire(world->store, "kafka-1", worker, NULL, 0, &slot, &err));
    return slot;
}

struct claim
next_claim(struct world *world, struct slot *slot, int64_t operation, size_t limit)
{
    struct claim claim = {0};
    char id[UUID_SIZE];
    snprintf(id, sizeof id, "%s", new_uuid(world->admin));
    assert_works(
        chunk_claim(world->store, slot, operation, id, limit, MANY_BYTES, &world->arena, &claim, &err));
    return claim;
}

struct operation
get_operation(struct world *world, int64_t no)
{
    struct operation operation = {0};
    assert_works(operation_get(world->store, no, &world->arena, &operation, &err));
    assert_int_equal(operation.total, operation.queued + operation.claimed + operation.in_doubt +
                                          operation.done + operation.refused + operation.skipped +
                                          operation.cancelled);
    return operation;
}

int64_t
items_in(struct world *world, int64_t no, const char *state)
{
    enum item_state wanted;
    assert_true(item_state_parse(bytes_of(state), &wanted));
    int64_t *ids;
    size_t count;
    assert_works(operation_item_ids(world->store, no, 1u << wanted, NULL, &ids, &count, &err));
    free(ids);
    return (int64_t)count;
}

bool
count_ids(void *context, const int64_t *ids, size_t count)
{
    (void)ids;
    *(size_t *)context += count;
    return true;
}

void
apply_to_end(struct store *store, int64_t no, size_t limit)
{
    int64_t applied, left = 1;
    while (left)
        assert_works(work_apply(store, no, limit, &applied, &left, &err));
}

int64_t
apply_operation(struct world *world, enum operation_action action, int64_t first, int64_t last)
{
    int64_t no = make_operation(world, world->store, action, first, last);
    apply_to_end(world->store, no, 100);
    return no;
}

struct filter *
make_filter(const char *text)
{
    struct filter *filter;
    const struct filter_context context = {.now = clock_now(), .new_after = TIME_ABSENT};
    assert_works(filter_parse(&filter, bytes_of(text), &context, &err));
    return filter;
}

int64_t
events_in(struct world *world, const char *status)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM public.dlq_events WHERE status = '%s'", status);
    return test_number(world->admin, sql);
}

void
tell_statistics(PGconn *conn)
{
    test_sql(conn, "DO $$ BEGIN IF current_setting('server_version_num')::int >= 150000 THEN"
                   " PERFORM pg_stat_force_next_flush(); END IF; END $$");
}
