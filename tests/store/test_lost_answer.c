// The answer to a COMMIT that does not come: the operation is there, and nobody was told. A function of libpq
// is replaced here: a program's own go before those of a library.
#include <dlfcn.h>
#include <sys/socket.h>
#include "world.h"

static int losses; // how many answers are still to be lost

typedef PGresult *exec_fn(PGconn *conn, const char *sql);

PGresult *
PQexec(PGconn *conn, const char *sql)
{
    static union {
        void *symbol;
        exec_fn *call;
    } theirs;
    if (!theirs.symbol)
        theirs.symbol = dlsym(RTLD_NEXT, "PQexec");
    PGresult *result = theirs.call(conn, sql);
    if (losses == 0 || strcmp(sql, "COMMIT") != 0)
        return result;
    losses--;
    PQclear(result);
    shutdown(PQsocket(conn), SHUT_RDWR);
    return theirs.call(conn, "SELECT"); // as libpq tells it
}

static struct operation_request
request_of_three(struct world *world)
{
    static const int64_t ids[] = {1, 2, 3};
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = ids, .count = 3, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world->admin));
    return request;
}

static void
assert_is_made_once(struct world *world, int64_t no)
{
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.operation"), 1);
    assert_int_equal(get_operation(world, no).queued, 3);
    assert_int_equal(test_number(world->admin, "SELECT count(*) FROM redrive.item"), 3);
}

static void
what_was_made_is_found_again(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    const struct operation_request request = request_of_three(&world);
    int64_t no = 0;
    losses = 2;
    assert_works(operation_insist(world.store, &request, NULL, NULL, &no, &err));
    assert_int_equal(losses, 0);
    assert_is_made_once(&world, no);
    world_end(&world);
}

// Freezes, and does not go on when it is to begin again.
static bool
stop_at_the_beginning(void *context, size_t written, size_t total)
{
    ++*(int *)context;
    assert_int_equal(total, 3);
    return written > 0;
}

static void
whoever_asks_may_give_up(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    const struct operation_request request = request_of_three(&world);
    int64_t no = 0;
    int calls = 0;
    losses = 1;
    assert_refused(operation_insist(world.store, &request, stop_at_the_beginning, &calls, &no, &err),
                   ERR_UNREACHABLE, "PostgreSQL");
    assert_int_equal(calls, 2);
    assert_works(store_reconnect(world.store, &err));
    assert_works(operation_insist(world.store, &request, NULL, NULL, &no, &err));
    assert_is_made_once(&world, no);
    world_end(&world);
}

static void
it_does_not_insist_for_ever(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 5);
    const struct operation_request request = request_of_three(&world);
    int64_t no = 0;
    losses = 100;
    assert_refused(operation_insist(world.store, &request, NULL, NULL, &no, &err), ERR_UNREACHABLE,
                   "PostgreSQL");
    assert_int_equal(losses, 100 - 6);
    losses = 0;
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_made_is_found_again),
        cmocka_unit_test(whoever_asks_may_give_up),
        cmocka_unit_test(it_does_not_insist_for_ever),
    };
    return cmocka_run_group_tests_name("lost answer", tests, NULL, NULL);
}
