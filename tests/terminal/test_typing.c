// Patterns that replace each other while they are searched for: line 2 never shows numbers of another pattern
// than the one in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "tests/terminal/filled_db.h"
#include "tests/terminal/vt.h"

static struct testdb db;
static const char *program;

enum { EVENTS = 20000, ROUNDS = 40, LINE = 1 };

static struct {
    const char *text, *sql;
    long matches; // each has a number of its own
} patterns[] = {
    {"alpha", "error_message ~* 'alpha'", 0},
    {"beta \\d*7$", "error_message ~* 'beta [0-9]*7$'", 0},
    {"payload:/ 1\\d*3,/", "event_payload::text ~ ' 1[0-9]*3,'", 0},
    {"beta", "error_message ~* 'beta'", 0},
    {"payload:/\"n\": 5,/", "event_payload::text ~ '\"n\": 5,'", 0},
    {"gamma", "error_message ~* 'gamma'", 0},
    {"payload:even", "event_payload::text ~* 'even'", 0},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static void
fill(void)
{
    testdb_run(
        &db, "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at)"
             " SELECT 'e' || i, 'order.created', jsonb_build_object('n', i, 'z', CASE WHEN i %% 2 = 0 OR"
             " i = 1 THEN 'even' END), CASE WHEN i %% 1000 = 999 THEN 'gamma ' WHEN i %% 2 = 0 THEN 'alpha '"
             " ELSE 'beta ' END || i, '2026-11-21 08:00'::timestamp + i * interval '100 ms'"
             " FROM generate_series(1, 20000) i");
}

// A count as it is shown, up to `end`.
static long
count_before(const char *line, const char *end)
{
    const char *from = end;
    while (from > line && ((from[-1] >= '0' && from[-1] <= '9') || from[-1] == ','))
        from--;
    long count = -1;
    for (; from < end; from++)
        if (*from != ',')
            count = (count < 0 ? 0 : count) * 10 + (*from - '0');
    return count;
}

// True: it shows all of this pattern. Numbers of another one fail.
static bool
check_line(struct vt *vt, size_t wanted)
{
    char line[1024], chip[128];
    assert_true(vt_read(vt, 5));
    assert_true(vt_run(vt, 1)); // the rest of the picture
    snprintf(line, sizeof line, "%s", vt_row(vt, LINE));
    for (size_t i = 0; i < PATTERNS; i++) {
        snprintf(chip, sizeof chip, " /%s ", patterns[i].text);
        if (!strstr(line, chip))
            continue;
        const char *growing = strstr(line, " so far");
        const char *all = growing ? NULL : strstr(line, " of 20,000"); // of events; and of groups:
        all = all || growing ? all : strstr(line, " / 20,000");
        const char *end = all ? all : growing;
        long shown = end ? count_before(line, end) : -1;
        if (shown > patterns[i].matches || (all && shown != patterns[i].matches))
            fail_msg("%ld are not of this pattern:\n%s", shown, vt_screen(vt));
        return i == wanted && all;
    }
    return false;
}

static void
type_over_each_other(const char *place, const char *ready)
{
    const char *argv[] = {program, "-d", db.conninfo, NULL};
    const char *env[] = {"REDRIVE_NOW=2026-11-21T10:00:00Z", "REDRIVE_START_WORKER=off", NULL};
    struct vt *vt = vt_start(&(struct vt_setup){.rows = 24, .cols = 120, .argv = argv, .env = env});
    assert_true(vt_wait_text(vt, " pending in "));
    vt_keys(vt, place);
    assert_true(vt_wait_text(vt, ready));
    vt_keys(vt, "/");
    size_t last = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        last = i * 3 % PATTERNS;
        vt_bytes(vt, BYTES("\x15"));
        vt_paste(vt, patterns[last].text);
        for (size_t looks = i % 4; looks; looks--)
            (void)check_line(vt, last);
    }
    int64_t until = clock_mono() + 20 * US_PER_SECOND;
    while (!check_line(vt, last) && clock_mono() < until)
        continue;
    vt_run(vt, 300);
    if (!check_line(vt, last))
        fail_msg("not complete:\n%s", vt_screen(vt));
    vt_keys(vt, "<Enter>Q");
    assert_int_equal(vt_result(vt, 8000), 0);
    vt_end(vt);
}

static void
numbers_are_of_the_pattern_in_events(void **state)
{
    (void)state;
    type_over_each_other("2", "newest first");
}

static void
numbers_are_of_the_pattern_in_groups(void **state)
{
    (void)state;
    type_over_each_other("1", " pending in ");
}

static int
make_database(void **state)
{
    (void)state;
    program = filled_db_make(&db, fill);
    for (size_t i = 0; program && i < PATTERNS; i++)
        patterns[i].matches =
            (long)testdb_number(&db, "SELECT count(*) FROM public.dlq_events WHERE %s", patterns[i].sql);
    return program ? 0 : -1;
}

static int
drop_database(void **state)
{
    (void)state;
    testdb_drop(&db);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_of_the_pattern_in_events),
        cmocka_unit_test(numbers_are_of_the_pattern_in_groups),
    };
    return cmocka_run_group_tests_name("typing", tests, make_database, drop_database);
}
