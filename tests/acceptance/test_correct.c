// Payloads that are wrong, mended from a script: the demo's broken orders lie in Kafka, a recipe corrects
// them, they are sent, and the demo's consumer, which fails what is still wrong, takes every one. On Kafka's
// side each is there once, and every byte outside the edit is the original's. And two operators who correct
// the same event at the same moment.
#include <unistd.h>
#include "tests/acceptance/mending.h"
#include "tests/store/actors.h"

static void
run_redrive(struct mending *mending, const char *const arguments[], const char *expected)
{
    char said[PROGRAM_ROOM];
    const char *words[PROGRAM_WORDS + 1] = {
        arguments[0], "-d", mending->world.conninfo, "-b", test_kafka(), "--reason", "INC-4711", "--json"};
    for (size_t i = 1; arguments[i]; i++)
        words[7 + i] = arguments[i];
    struct running redrive = program_start(redrive_program(), words);
    int status = program_end(&redrive, said);
    if (status != 0 || !strstr(said, expected))
        fail_msg("%s ended with %d and said, instead of %s: %s", arguments[0], status, expected, said);
}

static void
write_recipe(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
a_script_mends_every_order(void **state)
{
    (void)state;
    struct mending mending = {0};
    char recipe[64], first[20];
    snprintf(first, sizeof first, "%d", MENDING_CLOSED + 1);
    snprintf(recipe, sizeof recipe, "/tmp/redrive-recipe.%ld", (long)getpid());
    mending_begin(&mending);
    PGconn *admin = mending.world.admin;

    // What is still wrong fails again, as another row of the same event.
    run_redrive(&mending, (const char *const[]){"reprocess", "--id", first, "--yes", NULL}, "\"done\":1");
    program_await(&mending.consumer, "consumed 1, failed again 1");
    assert_int_equal(events_in(&mending.world, "PENDING"), MENDING_ALL);

    // Looked at, applied, and sent, one after the other.
    write_recipe(recipe, "# amounts with a decimal comma\nto-number $.lines[*].amount\n");
    const char *const commas = "type:OrderPlaced deserialize";
    run_redrive(&mending,
                (const char *const[]){"correct", "--filter", commas, "--recipe", recipe, "--dry-run", NULL},
                "\"changed\":200");
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.revision"), 0);
    run_redrive(&mending,
                (const char *const[]){"correct", "--filter", commas, "--recipe", recipe, "--yes", NULL},
                "\"changed\":200");
    assert_int_equal(test_number(admin, "SELECT count(*) FROM redrive.record"),
                     MENDING_COMMAS); // kept for good
    assert_int_equal(test_number(admin, "SELECT count(DISTINCT dlq_id) FROM redrive.revision"),
                     MENDING_COMMAS);
    run_redrive(&mending, (const char *const[]){"reprocess", "--filter", commas, "--yes", NULL},
                "\"done\":200");

    // The other kind in one step.
    write_recipe(recipe, "default $.address.postal_code \"00000-000\"\n");
    run_redrive(&mending,
                (const char *const[]){"correct", "--filter", "type:OrderPlaced postal_code", "--recipe",
                                      recipe, "--reprocess", "--yes", NULL},
                "\"done\":20");
    program_await(&mending.consumer, "consumed 221, failed again 1");
    assert_int_equal(events_in(&mending.world, "PENDING"), 0);
    assert_int_equal(events_in(&mending.world, "RESOLVED"), MENDING_CLOSED + MENDING_ALL + 1);
    mending_check_bytes(&mending, &(struct mended){.rows = MENDING_ALL + 1, .uncorrected = 1});
    unlink(recipe);
    mending_end(&mending);
}

// --- two operators ---

// Holds what a save waits for, until both of them wait for it: they have read the same event.
static void
two_operators_correct_the_same_event(void **state)
{
    (void)state;
    enum { ROUNDS = 5 };
    char other[80], conninfos[2][800];
    make_login(other, "otto", "redrive_operator");
    snprintf(conninfos[0], sizeof conninfos[0], "%s", conninfo_of(actors.operator_));
    snprintf(conninfos[1], sizeof conninfos[1], "%s", conninfo_of(other));
    for (int round = 1; round <= ROUNDS; round++) {
        char said[2][PROGRAM_ROOM], id[20], sentence[200];
        struct running running[2];
        snprintf(id, sizeof id, "%d", round);
        test_sql(actors.world.admin, "BEGIN; SELECT FROM redrive.freeze_turn FOR UPDATE");
        for (int i = 0; i < 2; i++)
            running[i] = program_start(redrive_program(),
                                       (const char *const[]){"correct", id, "-d", conninfos[i], "--set",
                                                             i ? "$.by=\"otto\"" : "$.by=\"olga\"", NULL});
        int64_t end = clock_mono() + 60 * US_PER_SECOND;
        while (test_number(actors.world.admin, "SELECT count(*) FROM pg_locks WHERE NOT granted AND "
                                               "locktype IN ('tuple', 'transactionid')") < 2)
            assert_true(clock_mono() < end);
        test_sql(actors.world.admin, "COMMIT");
        int first = program_end(&running[0], said[0]), second = program_end(&running[1], said[1]);
        if (!((first == 0 && second == 1) || (first == 1 && second == 0)))
            fail_msg("%d: %s%d: %s", first, said[0], second, said[1]);
        snprintf(sentence, sizeof sentence, "event %s was corrected meanwhile", id);
        if (!strstr(said[first == 0 ? 1 : 0], sentence))
            fail_msg("%s", said[first == 0 ? 1 : 0]);
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT string_agg(no || ' ' || author || ' ' || convert_from(payload, 'UTF8'), ',') FROM "
                 "redrive.revision WHERE dlq_id = %s",
                 id);
        const char *kept = test_text(actors.world.admin, sql);
        const char *winner = first == 0 ? actors.operator_ : other;
        if (strncmp(kept, "1 ", 2) != 0 || !strstr(kept, winner) ||
            !strstr(kept, first == 0 ? "\"by\": \"olga\"" : "\"by\": \"otto\""))
            fail_msg("%s won and %s is kept", winner, kept);
    }
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.revision"), ROUNDS);
    test_sql(actors.world.admin, "DROP OWNED BY %s; DROP ROLE %s", other, other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_mends_every_order),
        cmocka_unit_test_setup_teardown(two_operators_correct_the_same_event, begin_actors, end_actors),
    };
    return cmocka_run_group_tests_name("correct", tests, NULL, NULL);
}
