// What people say about groups, and who has a screen open: who may, what is kept, what the audit has of it.
#include "actors.h"

#include "store/people/people.h"

#define HOUR (3600 * US_PER_SECOND)
enum { GROUP = 77 };

static struct store *viewer, *user, *admin;

static void
read_people(struct people *people, struct arena *arena)
{
    *people = (struct people){0};
    assert_works(people_read(viewer, arena, people, &err));
}

static int64_t
token_now(void)
{
    int64_t token;
    assert_works(people_token(viewer, &token, &err));
    return token;
}

static void
is_audited(const char *action, const char *who, const char *detail)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT concat_ws(' ', who, detail) FROM redrive.audit WHERE action = '%s' ORDER BY no DESC"
             " LIMIT 1",
             action);
    const char *row = test_text(actors.world.admin, sql);
    assert_memory_equal(row, who, strlen(who));
    if (!strstr(row, detail))
        fail_msg("%s", row);
}

static void
a_group_is_of_the_last_who_took_it(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct people people;
    const char *before;
    int64_t token = token_now();
    assert_works(group_take(user, GROUP, HOUR, "looking", &arena, &before, &err));
    assert_null(before);
    is_audited("take", actors.operator_, "group 000000000000004d until ");
    assert_int_not_equal(token_now(), token);
    read_people(&people, &arena);
    const struct group_care *care = people_care(&people, GROUP);
    assert_string_equal(care->taken.who, actors.operator_);
    assert_int_equal(care->taken.until - care->taken.at > HOUR - US_PER_SECOND, 1);
    assert_string_equal(care->note.text, "looking");

    assert_works(group_take(admin, GROUP, 2 * HOUR, NULL, &arena, &before, &err));
    assert_string_equal(before, actors.operator_);
    read_people(&people, &arena);
    care = people_care(&people, GROUP);
    assert_string_equal(care->taken.who, actors.admin);
    assert_string_equal(care->note.text, "looking"); // of whom it was
    assert_string_equal(care->note.who, actors.operator_);

    assert_works(group_release(user, GROUP, &err));
    is_audited("release", actors.operator_, actors.admin);
    assert_refused(group_release(user, GROUP, &err), ERR_NOT_FOUND, "nobody has taken");
    read_people(&people, &arena);
    assert_null(people_care(&people, GROUP)->taken.who);
    assert_string_equal(people_care(&people, GROUP)->note.text, "looking");
    assert_works(group_note(admin, GROUP, "  ", &err));
    is_audited("note", actors.admin, "before: looking");
    read_people(&people, &arena);
    assert_null(people_care(&people, GROUP));
    arena_release(&arena);
}

static void
a_group_waits(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct people people;
    assert_works(group_snooze(user, GROUP, HOUR, 50, &err));
    is_audited("snooze", actors.operator_, "or above 50 events");
    read_people(&people, &arena);
    const struct group_care *care = people_care(&people, GROUP);
    assert_string_equal(care->snooze.who, actors.operator_);
    assert_int_equal(care->snooze.above, 50);
    assert_true(care_is_snoozed(care, care->snooze.at, 50));
    static const char waiting[] = "SELECT count(*) FROM redrive.group_waiting WHERE key = '000000000000004d'";
    assert_int_equal(test_number(actors.world.admin, waiting), 1);
    assert_works(group_snooze(admin, GROUP, 0, 0, &err));
    is_audited("snooze", actors.admin, "until now");
    assert_int_equal(test_number(actors.world.admin, waiting), 0);
    arena_release(&arena);
}

static void
what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *before;
    char note[1002];
    memset(note, 'x', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    assert_refused(group_take(user, GROUP, 0, NULL, &arena, &before, &err), ERR_USAGE, "how long");
    assert_refused(group_take(user, GROUP, 9000 * HOUR, NULL, &arena, &before, &err), ERR_USAGE, "how long");
    assert_refused(group_snooze(user, GROUP, -HOUR, 0, &err), ERR_USAGE, "how long");
    assert_refused(group_note(user, GROUP, note, &err), ERR_USAGE, "1000 bytes");
    assert_refused(group_take(viewer, GROUP, HOUR, NULL, &arena, &before, &err), ERR_DENIED,
                   "GRANT redrive_operator TO");
    assert_refused(group_note(viewer, GROUP, "x", &err), ERR_DENIED, "GRANT redrive_operator TO");
    assert_refused(group_release(viewer, GROUP, &err), ERR_DENIED, "GRANT redrive_operator TO");
    assert_refused(group_snooze(viewer, GROUP, HOUR, 0, &err), ERR_DENIED, "GRANT redrive_operator TO");
    arena_release(&arena);
}

static const char screens[3][37] = {"00000000-0000-4000-8000-000000000001",
                                    "00000000-0000-4000-8000-000000000002",
                                    "00000000-0000-4000-8000-000000000003"};

static size_t
here_now(struct people *people, struct arena *arena, uint64_t *hash)
{
    *people = (struct people){0};
    assert_works(presence_read(viewer, screens[0], arena, people, hash, &err));
    return people->here_count;
}

static void
screens_are_seen(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct people people;
    uint64_t hash, before;
    const uint64_t group = GROUP;
    assert_int_equal(here_now(&people, &arena, &before), 0);
    assert_int_equal(people_here(&people), 1); // who asks
    assert_works(presence_tell(user, screens[0], "groups", NULL, &err));
    assert_works(presence_tell(admin, screens[1], "events", &group, &err));
    assert_int_equal(here_now(&people, &arena, &hash), 2);
    assert_int_not_equal(hash, before);
    assert_int_equal(people_here(&people), 2);
    for (size_t i = 0; i < 2; i++) {
        bool is_operator = strcmp(people.here[i].who, actors.operator_) == 0;
        assert_int_equal(people.here[i].is_this, is_operator);
        assert_int_equal(people.here[i].has_group, !is_operator);
        assert_string_equal(people.here[i].place, is_operator ? "groups" : "events");
    }
    // Somebody else's screen stays as it is; one's own says where it is now.
    assert_works(presence_tell(user, screens[1], "audit", NULL, &err));
    before = hash;
    (void)here_now(&people, &arena, &hash);
    assert_int_equal(hash, before);
    assert_works(presence_tell(admin, screens[1], "monitor", NULL, &err));
    (void)here_now(&people, &arena, &hash);
    assert_int_not_equal(hash, before);
    assert_refused(presence_tell(viewer, screens[2], "groups", NULL, &err), ERR_DENIED, "GRANT");

    // A screen that is gone says nothing: its row ends by itself, and goes with the next word of another.
    test_sql(actors.world.admin, "UPDATE redrive.presence SET seen_at = seen_at - interval '31 seconds'"
                                 " WHERE place = 'monitor'");
    assert_int_equal(here_now(&people, &arena, &hash), 1);
    test_sql(actors.world.admin, "UPDATE redrive.presence SET seen_at = seen_at - interval '31 seconds'"
                                 " WHERE place = 'monitor'");
    assert_works(presence_tell(user, screens[0], "groups", NULL, &err));
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.presence"), 1);

    // A login cannot fill the table.
    test_sql(actors.session, "SELECT redrive.presence_tell(gen_random_uuid(), 'h', 'p', i)"
                             " FROM generate_series(1, 200) AS i");
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.presence"), 100);
    arena_release(&arena);
}

static int
begin(void **state)
{
    int failed = begin_actors(state);
    viewer = store_of(actors.viewer);
    user = store_of(actors.operator_);
    admin = store_of(actors.admin);
    return failed;
}

static int
end(void **state)
{
    store_close(viewer);
    store_close(user);
    store_close(admin);
    return end_actors(state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_of_the_last_who_took_it),
        cmocka_unit_test(a_group_waits),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(screens_are_seen),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
