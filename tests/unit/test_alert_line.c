// An alert as a JSON object: what is not known is null, and texts from outside stay texts.
#include "commands/alert_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>
#include "base/clock.h"

static json_t *
line_of(const struct alert_row *row)
{
    struct err err = {0};
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    FILE *caught = tmpfile();
    assert_non_null(caught);
    assert_true(dup2(fileno(caught), STDOUT_FILENO) >= 0);
    bool ok = alert_line_json(row, 0, &err);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(caught);
    json_t *line = json_loadf(caught, 0, NULL);
    fclose(caught);
    assert_true(ok);
    assert_non_null(line);
    return line;
}

#define assert_text(object, name, text)                                                                      \
    assert_string_equal(json_string_value(json_object_get(object, name)), text)
#define assert_none(object, name) assert_true(json_is_null(json_object_get(object, name)))

static void
what_is_not_known_is_null(void **state)
{
    (void)state;
    const struct alert_row row = {.rule = "Growing",
                                  .instance = "",
                                  .state = ALERT_INACTIVE,
                                  .threshold = 1000,
                                  .words = "pending above 1,000 for 5m",
                                  .severity = "warning",
                                  .since = INT64_C(1767323045) * US_PER_SECOND,
                                  .resolved_at = TIME_ABSENT,
                                  .silence.at = TIME_ABSENT};
    json_t *line = line_of(&row);
    assert_text(line, "alert", "Growing");
    assert_text(line, "state", "inactive");
    assert_text(line, "condition", "pending above 1,000 for 5m");
    assert_true(json_is_false(json_object_get(line, "firing")));
    assert_none(line, "value");
    assert_none(line, "since"); // it fires no longer
    assert_none(line, "summary");
    assert_none(line, "silenced_until");
    assert_none(line, "resolved_at");
    assert_int_equal(json_object_size(json_object_get(line, "labels")), 0);
    json_decref(line);
}

static void
what_is_known_is_said(void **state)
{
    (void)state;
    struct alert_label labels[] = {{"topic", "orders\"\n"}, {"team", "pay"}};
    const struct alert_row row = {.rule = "Growing",
                                  .instance = "orders",
                                  .state = ALERT_SILENCED,
                                  .is_firing = true,
                                  .is_known = true,
                                  .value = 1204,
                                  .threshold = 1000,
                                  .words = "",
                                  .severity = "critical",
                                  .since = INT64_C(1767323045) * US_PER_SECOND,
                                  .resolved_at = TIME_ABSENT,
                                  .silence = {.who = "ana", .at = INT64_C(1767330000) * US_PER_SECOND},
                                  .labels = labels,
                                  .label_count = 2};
    json_t *line = line_of(&row);
    assert_text(line, "state", "silenced");
    assert_true(json_is_true(json_object_get(line, "firing")));
    assert_true(json_number_value(json_object_get(line, "value")) == 1204);
    assert_non_null(json_string_value(json_object_get(line, "since")));
    assert_text(line, "silenced_by", "ana");
    assert_none(line, "acknowledged_by");
    assert_text(json_object_get(line, "labels"), "topic", "orders\"\n");
    assert_text(json_object_get(line, "labels"), "team", "pay");
    json_decref(line);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(what_is_known_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
