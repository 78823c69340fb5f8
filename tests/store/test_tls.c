// TLS to PostgreSQL: verify-full lets the right server in and says of others what is wrong with them.
#include <sys/stat.h>
#include "store/checkup.h"
#include "tests/lib/program.h"
#include "world.h"

static struct server {
    char dir[100], tls[120];
    char conninfo[300]; // by the network; sslmode and sslrootcert are the tests'
    PGconn *admin;      // by the socket
} server;

static bool
run(char *out, size_t room, const char *const argv[])
{
    return program_run(out, room, argv) == 0;
}

// The postmaster reads its settings and its certificate when it comes to it; a new session has its time.
static void
await_settings(const char *socket, const char *since)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT (pg_conf_load_time() > '%s')::int", since);
    for (int tries = 0;; tries++) {
        PGconn *session = test_connect(socket);
        bool is_read = test_number(session, sql);
        PQfinish(session);
        if (is_read)
            return;
        if (tries == 1000)
            fail_msg("the server has not read its settings in ten seconds");
        clock_sleep(10000);
    }
}

// The server takes its certificate and key from texts it can read itself: whose files these are does not
// matter then.
static void
use_certificate(const char *name)
{
    char command[400], out[100];
    snprintf(command, sizeof command,
             "set -e; data=$(psql -XAtd \"$1\" -c 'SHOW data_directory'); for end in pem key; do cp "
             "%s/%s.$end $data/server.$end; "
             "chown --reference=$data $data/server.$end; chmod 600 $data/server.$end; done",
             server.tls, name);
    char socket[300];
    snprintf(socket, sizeof socket, "host=%s port=%s user=postgres dbname=postgres", PQhost(server.admin),
             PQport(server.admin));
    assert_true(run(out, sizeof out, (const char *[]){"/bin/sh", "-c", command, "use", socket, NULL}));
    test_sql(server.admin, "ALTER SYSTEM SET ssl_cert_file = 'server.pem'");
    test_sql(server.admin, "ALTER SYSTEM SET ssl_key_file = 'server.key'");
    test_sql(server.admin, "ALTER SYSTEM SET ssl = on");
    char since[60];
    snprintf(since, sizeof since, "%s", test_text(server.admin, "SELECT clock_timestamp()"));
    test_sql(server.admin, "SELECT pg_reload_conf()");
    await_settings(socket, since);
}

static int
begin_server(void **state)
{
    (void)state;
    char text[600];
    program_own_servers();
    snprintf(server.dir, sizeof server.dir, "/tmp/redrive-tls.XXXXXX");
    assert_non_null(mkdtemp(server.dir));
    chmod(server.dir, 0755);
    if (!run(text, sizeof text, (const char *[]){"tests/lib/pg.sh", "start", server.dir, "--tcp", NULL}))
        return -1;
    char socket[300], host[200], port[20];
    program_value(text, "PGPORT=", port, sizeof port);
    program_value(text, "PGHOST=", host, sizeof host);
    snprintf(socket, sizeof socket, "host=%s port=%s user=postgres dbname=postgres", host, port);
    server.admin = test_connect(socket);
    snprintf(server.conninfo, sizeof server.conninfo, "host=127.0.0.1 port=%s user=postgres dbname=postgres",
             port);
    snprintf(server.tls, sizeof server.tls, "%s/tls", server.dir);
    return run(text, sizeof text, (const char *[]){"tests/lib/certificates.sh", server.tls, NULL}) ? 0 : -1;
}

static int
end_server(void **state)
{
    (void)state;
    char text[100];
    PQfinish(server.admin);
    return run(text, sizeof text, (const char *[]){"tests/lib/pg.sh", "remove", server.dir, NULL}) ? 0 : -1;
}

static bool
open_tls(struct store **store, const char *mode, const char *authority, struct err *err)
{
    char conninfo[700];
    snprintf(conninfo, sizeof conninfo, "%s sslmode=%s sslrootcert=%s/%s", server.conninfo, mode, server.tls,
             authority);
    const struct store_settings settings = {
        .conninfo = conninfo, .table = "public.dlq_events", .program = "test"};
    return store_open(store, &settings, err);
}

struct told {
    const char *words;
    int times;
};

static void
hear(void *context, enum checkup_verdict verdict, const char *sentence, const char *remedy)
{
    (void)verdict;
    (void)remedy;
    struct told *told = context;
    told->times += strstr(sentence, told->words) != NULL;
}

static void
the_right_server_is_verified(void **state)
{
    (void)state;
    struct store *store;
    struct told told = {.words = "the server's certificate and name are verified"};
    use_certificate("server");
    assert_works(open_tls(&store, "verify-full", "ca.pem", &err));
    assert_works(store_checkup(store, hear, &told, &err));
    assert_int_equal(told.times, 1);
    store_close(store);
    assert_works(open_tls(&store, "require", "none.pem", &err));
    told = (struct told){.words = "the server's certificate is not verified"};
    assert_works(store_checkup(store, hear, &told, &err));
    assert_int_equal(told.times, 1);
    store_close(store);
}

static void
an_unknown_authority_is_refused(void **state)
{
    (void)state;
    struct store *store;
    use_certificate("server");
    assert_refused(open_tls(&store, "verify-full", "stranger.pem", &err), ERR_UNREACHABLE,
                   "certificate verify failed; let sslrootcert name the file of the authority");
}

static void
a_certificate_for_another_name_is_refused(void **state)
{
    (void)state;
    struct store *store;
    use_certificate("misnamed");
    assert_refused(open_tls(&store, "verify-full", "ca.pem", &err), ERR_UNREACHABLE,
                   "connect by the name that is in it");
}

static void
a_certificate_out_of_date_is_refused(void **state)
{
    (void)state;
    struct store *store;
    use_certificate("expired");
    assert_refused(open_tls(&store, "verify-full", "ca.pem", &err), ERR_UNREACHABLE, "certificate");
}

static void
a_server_without_tls_is_refused(void **state)
{
    (void)state;
    struct store *store;
    test_sql(server.admin, "ALTER SYSTEM SET ssl = off");
    test_sql(server.admin, "SELECT pg_reload_conf()");
    clock_sleep(300000);
    assert_refused(open_tls(&store, "verify-full", "ca.pem", &err), ERR_UNREACHABLE,
                   "server does not support SSL");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_server_is_verified),
        cmocka_unit_test(an_unknown_authority_is_refused),
        cmocka_unit_test(a_certificate_for_another_name_is_refused),
        cmocka_unit_test(a_certificate_out_of_date_is_refused),
        cmocka_unit_test(a_server_without_tls_is_refused),
    };
    return cmocka_run_group_tests_name("tls", tests, begin_server, end_server);
}
