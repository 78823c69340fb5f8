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
#include "ui/widgets/preview.h"

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

static void
show(const struct event_group *group, int64_t now, struct area area)
{
    group_preview(&(struct group_previewed){.group = group, .moments.now = now}, &canvas, area);
}

// Counts of what was done begin some day, and say so; what came back is counted in what is pending.
static void
what_was_done_says_since_when(void **state)
{
    (void)state;
    struct event_group group = {.value = "00c7918f6f1b7231", .text.pattern = "refused", .count = 7};
    const int64_t now = INT64_C(1767323045) * US_PER_SECOND;
    group.outcomes = (struct group_outcomes){.resolved = 12, .reprocessed = 840, .since = now, .returned = 3};
    show(&group, now, canvas_area(&canvas));
    char wanted[120];
    char time[TIME_TEXT];
    snprintf(wanted, sizeof wanted, "resolved 12   reprocessed 840   since %s   returned 3",
             time_of_day(now, time));
    assert_non_null(strstr(drawn(), wanted));

    canvas_clear(&canvas);
    group.outcomes = (struct group_outcomes){.since = now, .returned = 3};
    show(&group, now, canvas_area(&canvas));
    assert_null(strstr(drawn(), "since"));
    assert_non_null(strstr(drawn(), "returned 3   fresh 4"));

    // While ids are listed, more may have returned than are known.
    canvas_clear(&canvas);
    group.outcomes.is_partial = true;
    show(&group, now, canvas_area(&canvas));
    assert_non_null(strstr(drawn(), "returned 3 so far"));
    assert_null(strstr(drawn(), "fresh"));
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
    show(&group, 0, area);
    assert_non_null(strstr(drawn(), "data: correct, then send"));
    assert_non_null(strstr(drawn(), "24 hours ago"));
    canvas_clear(&canvas);
    area.rows = 5;
    show(&group, 0, area);
    assert_non_null(strstr(drawn(), "refused"));
    assert_null(strstr(drawn(), "24 hours ago"));
}

static void
what_happened_last_is_told(void **state)
{
    (void)state;
    const int64_t now = INT64_C(1767323045) * US_PER_SECOND;
    struct event_group group = {.value = "00c7918f6f1b7231", .text.pattern = "refused", .count = 7};
    struct event events[] = {
        {.id = 912204,
         .created_at = now - 200 * US_PER_SECOND,
         .event_type = BYTES("order.created"),
         .source_id = BYTES("c-88213"),
         .error_message = BYTES("java.net.ConnectException: refused by pay-3")},
    };
    struct operation decision = {.no = 41,
                                 .action = ACTION_REPROCESS,
                                 .state = OPERATION_DONE,
                                 .requested_by = "ana",
                                 .created_at = now - 7300 * US_PER_SECOND,
                                 .total = 2011,
                                 .done = 2011,
                                 .returned = 2011};
    struct recent_reply recent = {.events = events, .count = 1, .decision = &decision};
    struct group_previewed previewed = {.group = &group, .moments.now = now, .recent = &recent};
    struct area area = canvas_area(&canvas);
    group_preview(&previewed, &canvas, area);
    assert_non_null(
        strstr(drawn(), "operation 41: reprocess by ana 2h ago: DONE, BUT 2,011 OF 2,011 RETURNED"));
    assert_non_null(strstr(drawn(), "912,204  order.created  c-88213  ConnectException: refused by pay-3"));
    canvas_clear(&canvas);
    area.rows = 5;
    group_preview(&previewed, &canvas, area);
    assert_non_null(strstr(drawn(), "operation 41: reprocess by ana"));
    assert_null(strstr(drawn(), "912,204"));
}

// The row in which a text is drawn; -1: none.
static int
row_of(const char *text, int rows)
{
    for (int row = 0; row < rows; row++)
        if (strstr(drawn_row(row), text))
            return row;
    return -1;
}

static void
no_row_stays_empty_that_could_say_something(void **state)
{
    (void)state;
    struct event_group group = {.value = "00c7918f6f1b7231",
                                .text.pattern = "refused",
                                .text.sample = "Read timed out calling pay-3",
                                .category = CATEGORY_DATA,
                                .count = 7};
    struct event events[] = {{.id = 912204, .error_message = BYTES("refused by pay-3")}};
    struct recent_reply recent = {.events = events, .count = 1};
    struct group_previewed previewed = {.group = &group, .recent = &recent};
    struct area area = canvas_area(&canvas);
    area.rows = 14;
    group_preview(&previewed, &canvas, area);
    assert_int_equal(row_of("912,204", 14), row_of("seen as: Read timed out", 14) + 2);

    canvas_clear(&canvas);
    area.rows = 6;
    group_preview(&previewed, &canvas, area);
    assert_int_equal(row_of("data: correct, then send", 6), row_of("seen as: Read timed out", 6) + 1);
    assert_null(strstr(drawn(), "912,204")); // a higher preview has first more to say about the group
}

static void
lines(const void *what, struct canvas *into, struct area area)
{
    for (int i = 0; i < *(const int *)what && i < area.rows; i++)
        canvas_printf(into, area.row + i, area.col, area.cols, ROLE_TEXT, "line %d", i);
}

static void
a_preview_with_the_keys_scrolls(void **state)
{
    (void)state;
    int count = 12;
    struct preview_pane pane = {0};
    struct area area = canvas_area(&canvas);
    area.rows = 6;
    preview_layout(&pane, area, false, lines, &count);
    assert_false(preview_handle(&pane, DO_DOWN)); // the list's
    assert_false(preview_handle(&pane, DO_BACK));
    assert_true(preview_handle(&pane, DO_NEXT_PANE));
    preview_layout(&pane, area, false, lines, &count);
    assert_true(preview_handle(&pane, DO_BOTTOM));
    preview_draw(&pane, &canvas, area, lines, &count);
    assert_non_null(strstr(drawn_row(0), "preview 8-12/12"));
    assert_non_null(strstr(drawn_row(5), "line 11"));
    assert_true(preview_handle(&pane, DO_DOWN)); // not beyond the last
    assert_int_equal(pane.top, 7);
    count = 3; // of another row
    preview_layout(&pane, area, false, lines, &count);
    assert_int_equal(pane.top, 0);
    assert_true(preview_handle(&pane, DO_BACK));
    assert_false(pane.has_focus);

    assert_true(preview_handle(&pane, DO_NEXT_PANE));
    preview_layout(&pane, (struct area){0}, false, lines, &count); // the window became too low
    assert_false(pane.has_focus);
    assert_false(preview_handle(&pane, DO_NEXT_PANE));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_message_shows_what_varies_in_its_group),
                                       DRAWS(what_was_done_says_since_when),
                                       cmocka_unit_test(a_trend_needs_events),
                                       DRAWS(a_high_preview_says_what_to_do_and_draws_the_day),
                                       DRAWS(what_happened_last_is_told),
                                       DRAWS(no_row_stays_empty_that_could_say_something),
                                       DRAWS(a_preview_with_the_keys_scrolls),
                                       cmocka_unit_test(a_full_row_says_that_it_is)};
    return cmocka_run_group_tests_name("group_preview", tests, NULL, NULL);
}
