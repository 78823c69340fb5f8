#include "store/watch/alerts.h"

#include <string.h>
#include "base/clock.h"
#include "core/event.h"
#include "core/json/value.h"
#include "store/pg.h"
#include "store/rollup/categories.h"
#include "store/watch/measure.h"

// Turns are a little shorter than looks, so that a watcher alone misses none.
static const char turn_sql[] = "SELECT redrive.watch_alerts_turn($1 * interval '0.8 microsecond')";
static const char observe_sql[] =
    "SELECT redrive.watch_alerts_observe(to_timestamp(0) + $1 * interval '1 microsecond',"
    " $2 * interval '1 microsecond', $3::jsonb, $4::jsonb)";

static const char board_sql[] =
    "SELECT r.name, coalesce(a.instance, ''), a.state, coalesce(a.since, r.fired_at),"
    " CASE WHEN a.rule IS NULL THEN r.value ELSE a.value END, r.threshold, r.condition, r.words, r.severity,"
    " a.summary, r.description, r.runbook, r.resolved_at,"
    " CASE WHEN r.silenced_until > clock_timestamp() THEN r.silenced_until ELSE w.snoozed_until END,"
    " CASE WHEN r.silenced_until > clock_timestamp() THEN r.silenced_by ELSE w.snoozed_by END,"
    " CASE WHEN r.silenced_until > clock_timestamp() THEN r.silenced_reason"
    " WHEN w.key IS NOT NULL THEN 'its group may wait' END,"
    " a.acknowledged_at, a.acknowledged_by, a.acknowledged_reason"
    " FROM redrive.alert_rule r LEFT JOIN redrive.alert a ON a.rule = r.name"
    " LEFT JOIN redrive.group_waiting w ON w.key = a.labels ->> 'group'"
    " ORDER BY coalesce(array_position(ARRAY['firing', 'pending'], a.state), 3), a.since, r.name, a.instance";
static const char labels_sql[] = "SELECT a.rule, a.instance, l.key, l.value FROM redrive.alert a,"
                                 " jsonb_each_text(a.labels) l ORDER BY 1, 2, 3";
static const char deliveries_sql[] = "SELECT d.name, (SELECT count(*) FROM redrive.alert_notice n WHERE "
                                     "n.destination = d.name), d.dropped, d.sent,"
                                     " d.error, d.failed_at FROM redrive.alert_destination d ORDER BY d.name";
static const char firing_sql[] =
    "SELECT count(*) FROM redrive.alert a JOIN redrive.alert_rule r ON r.name = a.rule WHERE a.state = "
    "'firing'"
    " AND a.acknowledged_by IS NULL AND (r.silenced_until > clock_timestamp()) IS NOT TRUE"
    " AND NOT EXISTS (SELECT FROM redrive.group_waiting w WHERE w.key = a.labels ->> 'group')";
static const char state_sql[] =
    "SELECT clock_timestamp(), CASE WHEN isfinite(as_of) THEN as_of END FROM redrive.alert_state";

// --- evaluating ---

static void
add_labels(struct value *object, const struct alert_label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        value_add_text(object, labels[i].name, labels[i].value);
}

// What the runbook says of the group or category that the instance is about.
static void
add_advice(struct store *store, struct runbook *runbook, const struct measured_value *measured,
           struct strbuf *text)
{
    struct runbook_subject subject = {.category = CATEGORY_UNKNOWN};
    struct arena arena = {0};
    uint64_t last;
    bool is_about = false;
    for (size_t i = 0; i < measured->label_count; i++) {
        const struct alert_label *label = &measured->labels[i];
        if (strcmp(label->name, "group") == 0)
            is_about |= group_parse(bytes_of(label->value), &subject.group, &last);
        else if (strcmp(label->name, "error_class") == 0)
            subject.error_class = bytes_of(label->value);
        else if (strcmp(label->name, "category") == 0)
            is_about |= category_parse(bytes_of(label->value), &subject.category);
    }
    if (subject.group)
        subject.category = store_category(store, subject.group, subject.error_class, (struct bytes){0}, NULL);
    const struct advice *advice = is_about ? runbook_find(runbook, &subject) : NULL;
    if (advice)
        strbuf_printf(text, " · %s", advice_words(advice, &arena));
    arena_release(&arena);
}

static struct value *
instance_value(struct store *store, struct runbook *runbook, const struct alert_rule *rule,
               const struct measured_value *measured)
{
    struct value *object = value_object(), *labels = value_object();
    struct strbuf text = {0};
    alert_summary(rule, measured->value, measured->of, &text);
    add_advice(store, runbook, measured, &text);
    value_add_text(object, "instance", measured->instance);
    value_add_real(object, "value", measured->value);
    value_add_text(object, "summary", strbuf_text(&text));
    add_labels(labels, measured->labels, measured->label_count);
    add_labels(labels, rule->labels, rule->label_count);
    value_add(object, "labels", labels);
    strbuf_release(&text);
    return object;
}

static struct value *
rule_value(struct store *store, struct runbook *runbook, const struct alert_rule *rule,
           const struct measured *measured)
{
    struct value *object = value_object(), *instances = value_array();
    struct strbuf text = {0};
    alert_rule_words(rule, &text);
    value_add_text(object, "name", rule->name);
    value_add_text(object, "condition", alert_condition_row(rule->condition)->name);
    value_add_text(object, "words", strbuf_text(&text));
    value_add_real(object, "threshold", rule->limit);
    value_add_bool(object, "is_below", rule->is_below);
    value_add_real(object, "clear", rule->clear);
    value_add_real(object, "for", (double)rule->for_us / US_PER_SECOND);
    value_add_text(object, "severity", rule->severity);
    value_add_text(object, "description", rule->description);
    value_add_text(object, "runbook", rule->runbook);
    value_add_bool(object, "is_known", measured->is_known);
    for (size_t i = 0; i < measured->count; i++)
        value_add(instances, NULL, instance_value(store, runbook, rule, &measured->values[i]));
    value_add(object, "instances", instances);
    strbuf_release(&text);
    return object;
}

// Alertmanager takes an alert for resolved when it is not told again.
static struct value *
destination_value(const struct alert_destination *destination)
{
    struct value *object = value_object();
    value_add_text(object, "name", destination->name);
    value_add_bool(object, "forgets", destination->channel == CHANNEL_ALERTMANAGER);
    if (destination->severity_count > 0) {
        struct value *severities = value_array();
        for (size_t i = 0; i < destination->severity_count; i++)
            value_add_text(severities, NULL, destination->severities[i]);
        value_add(object, "severities", severities);
    }
    return object;
}

static bool
observe(struct store *store, const struct alert_plan *plan, struct value *rules,
        const struct watch_sums *sums, int64_t every, struct err *err)
{
    struct value *destinations = value_array();
    struct strbuf texts[2] = {{0}};
    for (size_t i = 0; i < plan->destination_count; i++)
        value_add(destinations, NULL, destination_value(&plan->destinations[i]));
    value_dump(rules, &texts[0]);
    value_dump(destinations, &texts[1]);
    struct params params = {0};
    param_int8(&params, sums->as_of);
    param_int8(&params, every);
    param_text(&params, strbuf_text(&texts[0]));
    param_text(&params, strbuf_text(&texts[1]));
    bool ok = pg_do(store, FOR_WRITING, observe_sql, &params, err);
    strbuf_release(&texts[0]);
    strbuf_release(&texts[1]);
    value_destroy(destinations);
    return ok;
}

static bool
is_our_turn(struct store *store, int64_t every, bool *is_ours, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_int8(&params, every);
    if (!pg_ask(store, FOR_WRITING, turn_sql, &params, &r, err))
        return false;
    *is_ours = value_bool(r, 0, 0);
    PQclear(r);
    return true;
}

bool
alerts_evaluate(struct store *store, const struct alert_plan *plan, const struct watch_sums *sums,
                int64_t every, struct err *err)
{
    bool is_ours;
    if (!pg_may_write(store, err) || !is_our_turn(store, every, &is_ours, err))
        return false;
    if (!is_ours)
        return true;
    struct value *rules = value_array();
    struct arena arena = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < plan->rule_count; i++) {
        struct measured measured;
        ok = measure_rule(store, &plan->rules[i], sums, &arena, &measured, err);
        if (ok)
            value_add(rules, NULL, rule_value(store, plan->runbook, &plan->rules[i], &measured));
    }
    ok = ok && observe(store, plan, rules, sums, every, err);
    value_destroy(rules);
    arena_release(&arena);
    return ok;
}

// --- reading ---

static struct alert_note
read_note(const PGresult *r, int i, int column, struct arena *arena)
{
    if (value_is_null(r, i, column))
        return (struct alert_note){.at = TIME_ABSENT};
    return (struct alert_note){.at = value_time(r, i, column),
                               .who = value_text(r, i, column + 1, arena),
                               .reason = value_text(r, i, column + 2, arena)};
}

static enum alert_state
state_of(const struct alert_row *row, const char *state)
{
    if (!state)
        return ALERT_INACTIVE;
    if (row->silence.who)
        return ALERT_SILENCED;
    if (!row->is_firing)
        return ALERT_WAITING;
    return row->acknowledgement.who ? ALERT_ACKNOWLEDGED : ALERT_FIRING;
}

static void
alerts_read_row(const PGresult *r, int i, struct arena *arena, struct alert_row *row)
{
    const char *state = value_text(r, i, 2, arena);
    *row = (struct alert_row){.rule = value_text(r, i, 0, arena),
                              .instance = value_text(r, i, 1, arena),
                              .is_firing = state && strcmp(state, "firing") == 0,
                              .since = value_time(r, i, 3),
                              .is_known = !value_is_null(r, i, 4),
                              .value = value_double(r, i, 4),
                              .threshold = value_double(r, i, 5),
                              .condition = value_text(r, i, 6, arena),
                              .words = value_text(r, i, 7, arena),
                              .severity = value_text(r, i, 8, arena),
                              .summary = value_text(r, i, 9, arena),
                              .description = value_text(r, i, 10, arena),
                              .runbook = value_text(r, i, 11, arena),
                              .resolved_at = value_time(r, i, 12),
                              .silence = read_note(r, i, 13, arena),
                              .acknowledgement = read_note(r, i, 16, arena)};
    row->state = state_of(row, state);
}

static void
alerts_read_labels(const PGresult *r, struct arena *arena, struct alert_row *row)
{
    int rows = PQntuples(r);
    row->labels = arena_array(arena, (size_t)rows, sizeof *row->labels);
    for (int i = 0; i < rows; i++)
        if (bytes_equal_text(value_bytes(r, i, 0), row->rule) &&
            bytes_equal_text(value_bytes(r, i, 1), row->instance))
            row->labels[row->label_count++] =
                (struct alert_label){value_text(r, i, 2, arena), value_text(r, i, 3, arena)};
}

static void
alerts_read_deliveries(const PGresult *r, struct arena *arena, struct alert_board *board)
{
    board->delivery_count = (size_t)PQntuples(r);
    board->deliveries = arena_array(arena, board->delivery_count, sizeof *board->deliveries);
    for (int i = 0; i < PQntuples(r); i++)
        board->deliveries[i] = (struct alert_delivery){.name = value_text(r, i, 0, arena),
                                                       .waiting = value_int8(r, i, 1),
                                                       .dropped = value_int8(r, i, 2),
                                                       .sent = value_int8(r, i, 3),
                                                       .error = value_text(r, i, 4, arena),
                                                       .failed_at = value_time(r, i, 5)};
}

bool
alerts_read(struct store *store, struct arena *arena, struct alert_board *board, struct err *err)
{
    *board = (struct alert_board){.measured_at = TIME_ABSENT};
    if (!pg_has_schema(store, err))
        return false;
    PGresult *rows = NULL, *labels = NULL, *deliveries = NULL, *state = NULL;
    struct pg_step steps[] = {{.sql = board_sql, .whole = &rows},
                              {.sql = labels_sql, .whole = &labels},
                              {.sql = deliveries_sql, .whole = &deliveries},
                              {.sql = state_sql, .whole = &state}};
    bool ok = pg_run(store, FOR_READING, steps, sizeof steps / sizeof *steps, err);
    if (ok) {
        board->count = (size_t)PQntuples(rows);
        board->rows = arena_array(arena, board->count, sizeof *board->rows);
        for (int i = 0; i < PQntuples(rows); i++) {
            alerts_read_row(rows, i, arena, &board->rows[i]);
            if (board->rows[i].state != ALERT_INACTIVE)
                alerts_read_labels(labels, arena, &board->rows[i]);
        }
        alerts_read_deliveries(deliveries, arena, board);
        board->as_of = value_time(state, 0, 0);
        board->measured_at = value_time(state, 0, 1);
    }
    PQclear(rows);
    PQclear(labels);
    PQclear(deliveries);
    PQclear(state);
    return ok;
}

bool
alerts_count_firing(struct store *store, int64_t *count, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING, firing_sql, &(struct params){0}, &r, err))
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

// --- people ---

bool
alert_silence(struct store *store, const char *rule, int64_t length, const char *reason, struct err *err)
{
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_text(&params, rule);
    if (length > 0)
        param_int8(&params, length);
    else
        param_null(&params);
    param_text(&params, reason);
    return pg_do(store, FOR_WRITING,
                 "SELECT redrive.alert_silence($1, $2::int8 * interval '1 microsecond', $3)", &params, err);
}

bool
alert_acknowledge(struct store *store, const char *rule, const char *reason, struct err *err)
{
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_text(&params, rule);
    param_text(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.alert_acknowledge($1, $2)", &params, err);
}
