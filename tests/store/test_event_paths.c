// The value at a path that PostgreSQL finds in a payload is the one that redrive finds in its bytes.
#include "store/events/paths.h"
#include "commands/cli/output.h"
#include "commands/path_read.h"
#include "core/backlog/path_values.h"
#include "world.h"

enum { EVENTS = 60 };

static bool
put_value(void *context, int64_t id, struct bytes token)
{
    path_values_put(context, id, token);
    return true;
}

static const char *const payloads[] = {
    "null",
    "5",
    "\"text\"",
    "{}",
    "[]",
    "[1, {\"a\": 2}]",
    "{\"a\": null}",
    "{\"a\": \"null\"}",
    "{\"a\": 5}",
    "{\"a\": 5.00}",
    "{\"a\": \"5\"}",
    "{\"a\": 1e300}",
    "{\"a\": 1e1500}",
    "{\"a\": -0.0}",
    "{\"a\": true}",
    "{\"a\": {\"b\": [10, {\"c\": \"deep\"}]}}",
    "{\"a\": {\"b\": {\"1\": {\"c\": \"no array\"}}}}",
    "{\"a\": [1, 2]}",
    "{\"a\": \"\\u001b]52;c;aGk=\\u0007\\n\\\"quoted\\\" \\\\ a\\u00e7\\u00e3o\"}",
    "{\"a b\": \"odd\", \"say \\\"hi\\\"\": 1, \"$\": 2, \"0\": 3}",
    "{\"a\": 1, \"a\": 2}",
    "{\"{\\\\,\\\"}\": \"a name as arrays have it\"}",
    "{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": {\"f\": {\"g\": {\"h\": {\"i\": 9}}}}}}}}}",
};
enum { PAYLOADS = sizeof payloads / sizeof *payloads };

static void
fill(struct world *world)
{
    for (size_t i = 0; i < PAYLOADS; i++) {
        const char *values[] = {payloads[i]};
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE public.dlq_events SET event_payload = $1::jsonb WHERE id = %zu",
                 i + 1);
        PGresult *r = PQexecParams(world->admin, sql, 1, NULL, values, NULL, NULL, 0);
        assert_int_equal(PQresultStatus(r), PGRES_COMMAND_OK);
        PQclear(r);
    }
    test_sql(world->admin, "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', "
                           "repeat('ab', 100)) WHERE id = 31;"
                           "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', "
                           "repeat(E'\\x01', 200)) WHERE id = 32;"
                           "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('é', "
                           "201)) WHERE id = 33;"
                           "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', "
                           "repeat('long ', 400000)) WHERE id = 34;"
                           "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('9', "
                           "201)::numeric) WHERE id = 35;"
                           "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('9', "
                           "5000)::numeric) WHERE id = 36;"
                           "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id > 50;"
                           "INSERT INTO redrive.revision (dlq_id, no, parent, payload, reason) VALUES"
                           " (41, 1, 0, '{\"a\": \"corrected\"}', 'x'), (42, 1, 0, '{\"a\": \"once\"}', 'x'),"
                           " (42, 2, 1, '{\"a\": \"twice\"}', 'x'), (43, 1, 0, 'not JSON', 'x'),"
                           " (44, 1, 0, '{\"a\": \"nul \\\\u0000\"}', 'x')");
}

static void
pass_and_bytes_agree(struct world *world, const char *text)
{
    struct json_path *path;
    assert_works(json_path_parse(&path, bytes_of(text), &err));
    struct path_values *passed = path_values_create(), *read = path_values_create();
    int64_t ids[EVENTS];
    for (int i = 0; i < EVENTS; i++)
        ids[i] = i + 1;
    assert_works(store_path_pass(world->store, path, put_value, passed, &err));
    assert_works(store_path_values(world->store, path, ids, EVENTS, put_value, read, &err));
    for (int64_t id = 1; id <= EVENTS; id++) {
        struct bytes a, b;
        uint32_t first = path_values_of(passed, id), second = path_values_of(read, id);
        assert_int_equal(first == PATH_UNREAD, id > 50); // closed
        assert_int_not_equal(second, PATH_UNREAD);
        if (first == PATH_UNREAD)
            continue;
        enum path_kind kind = path_values_value(passed, first, &a);
        if (kind != path_values_value(read, second, &b) || !bytes_equal(a, b))
            fail_msg("event %d at %s: %s %.*s, but %.*s", (int)id, text, path_kind_name(kind), (int)a.len,
                     a.data, (int)b.len, b.data);
    }
    path_values_destroy(passed);
    path_values_destroy(read);
    json_path_destroy(path);
}

static void
the_server_finds_what_the_bytes_hold(void **state)
{
    (void)state;
    static const char *const paths[] = {"$",
                                        "$.a",
                                        "$['a b']",
                                        "$['say \"hi\"']",
                                        "$['$']",
                                        "$['0']",
                                        "$[0]",
                                        "$[1].a",
                                        "$.a.b",
                                        "$.a.b[1].c",
                                        "$.a[1]",
                                        "$.none",
                                        "$['a\\u0000']",
                                        "$['\\u001b']",
                                        "$[99999999999]",
                                        "$.a[0]",
                                        "$.a['1']",
                                        "$.a.b['1'].c",
                                        "$['a b'].none",
                                        "$['{\\\\,\"}']",
                                        "$.a.b.c.d.e.f.g.h.i"};
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        pass_and_bytes_agree(&world, paths[i]);
    world_end(&world);
}

static bool
stop(void *context, int64_t id, struct bytes token)
{
    (void)id;
    (void)token;
    return ++*(int *)context < 3;
}

static void
who_has_enough_stops_it(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    struct json_path *path;
    const int64_t ids[] = {1, 2, 3, 4, 5};
    int passed = 0, read = 0;
    assert_works(json_path_parse(&path, BYTES("$.a"), &err));
    assert_refused(store_path_pass(world.store, path, stop, &passed, &err), ERR_CANCELLED, "");
    assert_refused(store_path_values(world.store, path, ids, 5, stop, &read, &err), ERR_CANCELLED, "");
    assert_int_equal(passed, 3);
    assert_int_equal(read, 3);
    json_path_destroy(path);
    world_end(&world);
}

static void
assert_same_values(struct path_values *few, struct path_values *many)
{
    for (int64_t id = 1; id <= EVENTS; id++) {
        struct bytes a, b;
        enum path_kind kind = path_values_value(few, path_values_of(few, id), &a);
        assert_int_equal(path_values_value(many, path_values_of(many, id), &b), kind);
        assert_true(bytes_equal(a, b));
    }
}

// A command asks for many events by a pass over the pending ones and reads the others, for few it reads each.
// The pass may run ahead, and where it has failed there is another one.
static void
many_events_have_the_values_that_few_have(void **state)
{
    (void)state;
    enum { MANY = 5001 };
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    const struct store_settings ways[] = {{.conninfo = world.conninfo},
                                          {.conninfo = "host=127.0.0.1 port=1 connect_timeout=2"}};
    struct progress_line progress = {0};
    struct json_path *path;
    struct path_values *few = path_values_create();
    int64_t ids[MANY];
    for (int i = 0; i < MANY; i++)
        ids[i] = i + 1;
    assert_works(json_path_parse(&path, BYTES("$.a"), &err));
    assert_works(path_read(world.store, path, ids, EVENTS, few, NULL, &progress, &err));
    for (size_t i = 0; i <= sizeof ways / sizeof *ways; i++) {
        struct path_values *many = path_values_create();
        bool is_ahead = i < sizeof ways / sizeof *ways;
        struct path_ahead *ahead = is_ahead ? path_ahead_start(&ways[i], path, many) : NULL;
        assert_works(path_read(world.store, path, ids, MANY, many, ahead, &progress, &err));
        assert_same_values(few, many);
        path_values_destroy(many);
    }
    path_values_destroy(few);
    json_path_destroy(path);
    world_end(&world);
}

static void
a_pass_ahead_reads_all_or_says_so(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, EVENTS);
    fill(&world);
    const struct store_settings there = {.conninfo = world.conninfo},
                                away = {.conninfo = "host=127.0.0.1 port=1 connect_timeout=2"};
    struct json_path *path;
    struct path_values *values = path_values_create(), *none = path_values_create();
    assert_works(json_path_parse(&path, BYTES("$.a"), &err));
    assert_true(path_ahead_end(path_ahead_start(&there, path, values)));
    assert_int_not_equal(path_values_of(values, 1), PATH_UNREAD);
    assert_false(path_ahead_end(path_ahead_start(&away, path, none)));
    assert_int_equal(path_values_of(none, 1), PATH_UNREAD);
    path_ahead_stop(path_ahead_start(&there, path, none));
    assert_false(path_ahead_end(NULL));
    path_ahead_stop(NULL);
    path_values_destroy(values);
    path_values_destroy(none);
    json_path_destroy(path);
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_finds_what_the_bytes_hold),
        cmocka_unit_test(who_has_enough_stops_it),
        cmocka_unit_test(many_events_have_the_values_that_few_have),
        cmocka_unit_test(a_pass_ahead_reads_all_or_says_so),
    };
    return cmocka_run_group_tests_name("event_paths", tests, NULL, NULL);
}
