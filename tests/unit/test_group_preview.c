// What the preview of a group makes of its pattern and a message.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "core/fingerprint/merge.h"
#include "canvas_fixture.h"
#include "ui/views/groups/preview.h"

// The message with what varies in brackets, or "no".
static const char *
varying(const char *pattern, const char *message, char out[400])
{
    struct canvas_span spans[GROUP_VARYING];
    size_t count;
    if (!group_varying(bytes_of(pattern), bytes_of(message), spans, &count))
        return "no";
    size_t at = 0;
    *out = '\0';
    for (size_t i = 0; i <= count; i++) {
        size_t from = i < count ? spans[i].from : strlen(message);
        size_t len = i < count ? spans[i].len : 0;
        size_t used = strlen(out);
        assert_true(from >= at);
        snprintf(out + used, 400 - used, i < count ? "%.*s[%.*s]" : "%.*s%.*s", (int)(from - at),
                 message + at, (int)len, message + from);
        at = from + len;
    }
    return out;
}

static void
a_message_shows_what_varies_in_its_group(void **state)
{
    static const char *const rows[][3] = {
        {"connect to <host>:<n> timed out", "connect to pay-3:443 timed out",
         "connect to [pay-3]:[443] timed out"},
        {"order <id>", "order 4711", "order [4711]"},
        {"<user> is unknown", "ana is unknown", "[ana] is unknown"},
        {"nothing varies", "nothing varies", "nothing varies"},
        {"was deadlocked", "(0x80131904): was deadlocked", "[(0x80131904): ]was deadlocked"},
        {"Rejeição 539: Chave", "Rejeição 539: Chave [nRec:1]", "Rejeição 539: Chave[ [nRec:1]]"},
        {"a<n><n>b", "a12b", "a[12]b"},
        {"gone", "something else", "no"},
        {"<n> of <n> left", "3 left", "no"},
        {"refused", "a class name much longer than what may stand before it: refused", "no"},
        {"<n>", "", ""},
        {"", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[400];
        assert_string_equal(varying(rows[i][0], rows[i][1], out), rows[i][2]);
    }
}

// Counts of what was done begin some day, and say so; what came back is counted in what is pending.
static void
what_was_done_says_since_when(void **state)
{
    (void)state;
    struct event_group group = {.value = "00c7918f6f1b7231", .text.pattern = "refused", .count = 7};
    const int64_t now = INT64_C(1767323045) * US_PER_SECOND;
    group.outcomes = (struct group_outcomes){.resolved = 12, .reprocessed = 840, .since = now, .returned = 3};
    group_preview(&group, PIVOT_ERROR, now, &canvas, canvas_area(&canvas));
    char wanted[120];
    char time[TIME_TEXT];
    snprintf(wanted, sizeof wanted, "resolved 12   reprocessed 840   since %s   returned 3",
             time_of_day(now, time));
    assert_non_null(strstr(drawn(), wanted));

    canvas_clear(&canvas);
    group.outcomes = (struct group_outcomes){.since = now, .returned = 3};
    group_preview(&group, PIVOT_ERROR, now, &canvas, canvas_area(&canvas));
    assert_null(strstr(drawn(), "since"));
    assert_non_null(strstr(drawn(), "returned 3"));
}

// A doubled rate is told from chance.
static void
a_trend_needs_events(void **state)
{
    static const struct {
        uint32_t spark[GROUP_SPARK];
        int trend;
    } rows[] = {
        {{1, 1, 1, 1, 2, 2, 2, 2}, 1}, {{2, 2, 2, 2, 1, 1, 1, 1}, -1}, {{2, 2, 2, 2, 3, 3, 3, 3}, 0},
        {{0, 0, 0, 0, 0, 0, 0, 7}, 0}, {{0, 0, 0, 0, 0, 0, 0, 8}, 1},  {{0}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct event_group group = {0};
        memcpy(group.spark, rows[i].spark, sizeof group.spark);
        assert_int_equal(group_trend(&group), rows[i].trend);
    }
}

static void
a_high_preview_says_what_to_do_and_draws_the_day(void **state)
{
    (void)state;
    struct event_group group = {
        .value = "00c7918f6f1b7231", .text.pattern = "refused", .category = CATEGORY_DATA, .count = 7};
    group.heat[GROUP_HEAT - 1] = 5;
    struct area area = canvas_area(&canvas);
    group_preview(&group, PIVOT_ERROR, 0, &canvas, area);
    assert_non_null(strstr(drawn(), "data: correct, then send"));
    assert_non_null(strstr(drawn(), "24 hours ago"));
    canvas_clear(&canvas);
    area.rows = 5;
    group_preview(&group, PIVOT_ERROR, 0, &canvas, area);
    assert_non_null(strstr(drawn(), "refused"));
    assert_null(strstr(drawn(), "24 hours ago"));
}

static void
a_full_row_says_that_it_is(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct event_group group = {.part_count = 6};
    assert_string_equal(group_parts_text(&group, &arena), "6 groups");
    group.part_count = MERGE_MOST;
    assert_string_equal(group_parts_text(&group, &arena), "240 groups (row limit)");
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_shows_what_varies_in_its_group), DRAWS(what_was_done_says_since_when),
        cmocka_unit_test(a_trend_needs_events), DRAWS(a_high_preview_says_what_to_do_and_draws_the_day),
        cmocka_unit_test(a_full_row_says_that_it_is)};
    return cmocka_run_group_tests_name("group_preview", tests, NULL, NULL);
}
