#include "store/watch/measure.h"

#include <string.h>
#include "base/clock.h"
#include "core/event.h"
#include "store/pg.h"
#include "store/watch/written.h"

enum { MOST_INSTANCES = 50 };

// $1: the window, in seconds. The minute in which it begins counts whole; the second number says how long it
// is then.
static const char rate_sql[] =
    "WITH t AS (SELECT floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer AS now)"
    " SELECT coalesce(sum(x.arrived), 0)::int8, (t.now - (t.now - $1) / 60 * 60)::int4"
    " FROM t LEFT JOIN redrive.trend x ON x.step = 'minute' AND x.at >= (t.now - $1) / 60 * 60 AND x.at <= "
    "t.now"
    " WHERE EXISTS (SELECT FROM redrive.trend_state) GROUP BY t.now";

// $1: likewise. How many were pending then, up to ten minutes before.
static const char then_sql[] =
    "WITH t AS (SELECT floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer - $1 AS at)"
    " SELECT x.pending FROM redrive.trend x, t WHERE x.step = 'minute' AND x.pending IS NOT NULL"
    " AND x.at <= t.at AND x.at > t.at - 600 ORDER BY x.at DESC LIMIT 1";

// $1: likewise; $2: arrivals of no more are left out. A bucket is ten seconds long.
static const char groups_sql[] =
    "WITH t AS (SELECT (floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer - $1) / 10 AS "
    "bucket)"
    " SELECT c.group_key, sum(b.n)::int8, d.error_class FROM redrive.rollup_bucket b CROSS JOIN t"
    " JOIN redrive.rollup_series c ON c.no = b.series LEFT JOIN redrive.rollup_group d ON d.key = c.group_key"
    " WHERE b.bucket >= t.bucket GROUP BY c.group_key, d.error_class HAVING sum(b.n) > $2"
    " ORDER BY 2 DESC, 1 LIMIT 50";

// $1: a group, or NULL; $2: an event type, or NULL.
static const char part_sql[] =
    "SELECT coalesce(sum(t.n), 0)::int8 FROM redrive.rollup_total t JOIN redrive.rollup_series c ON c.no = "
    "t.series"
    " WHERE ($1::int8 IS NULL OR c.group_key = $1) AND ($2::text IS NULL OR c.event_type = $2)";

static const char halted_sql[] = "SELECT o.no, o.action, o.state_note FROM redrive.operation o"
                                 " WHERE o.state = 'halted' ORDER BY o.no DESC LIMIT 50";

static const char halted_policies_sql[] = "SELECT p.name, p.halted_why FROM redrive.policy p"
                                          " WHERE p.halted_at IS NOT NULL AND coalesce(p.switched, "
                                          "p.is_enabled) ORDER BY p.name";

// Those that no process has had in its file for ten minutes match nothing any more.
static const char policies_sql[] =
    "SELECT p.name, p.action, coalesce(p.matched, 0) FROM redrive.policy p"
    " WHERE p.action IN ('alert', 'manual_review') AND coalesce(p.switched, p.is_enabled)"
    " AND p.matched > 0 AND p.seen_at > clock_timestamp() - interval '10 minutes' ORDER BY p.name LIMIT 50";

// $1: the window, in seconds. The sums when it began, up to ten minutes before, else the earliest since: what
// happened while nobody looked, perhaps a day ago, is not of the window.
static const char sample_sql[] =
    "WITH t AS (SELECT floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer - $1 AS at)"
    " SELECT s.sent, s.refused, s.returned, s.arrived, s.retries FROM redrive.alert_sample s, t"
    " WHERE s.at > t.at - 600 ORDER BY s.at <= t.at DESC, abs(s.at - t.at) LIMIT 1";

// Room for values, of which there are none yet.
static void
begin_values(struct measured *measured, struct arena *arena, size_t room)
{
    measured->is_known = true;
    measured->values = arena_array(arena, room, sizeof *measured->values);
}

static struct measured_value *
measure_add(struct measured *measured, const char *instance, double value)
{
    struct measured_value *added = &measured->values[measured->count++];
    *added = (struct measured_value){.instance = instance, .value = value};
    return added;
}

static void
add_label(struct measured_value *value, const char *name, const char *text)
{
    value->labels[value->label_count++] = (struct alert_label){name, text ? text : ""};
}

static void
table_value(struct measured *measured, struct arena *arena, double value)
{
    begin_values(measured, arena, 1);
    measure_add(measured, "", value);
}

static const char *
key_text(struct arena *arena, uint64_t key)
{
    char text[GROUP_TEXT];
    return arena_printf(arena, "%s", group_text(key, text));
}

static void
add_window(struct params *params, const struct alert_rule *rule)
{
    param_int4(params, (int32_t)(rule->window / US_PER_SECOND));
}

// --- pending events and parts of them ---

static bool
read_part(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums, int64_t *count,
          struct err *err)
{
    struct params params = {0};
    enum category category;
    uint64_t low = 0, high;
    PGresult *r;
    if (rule->part == PART_ALL) {
        *count = sums->pending.count;
        return true;
    }
    if (rule->part == PART_CATEGORY) {
        *count =
            category_parse(bytes_of(rule->part_name), &category) ? sums->pending.by_category[category] : 0;
        return true;
    }
    if (rule->part == PART_GROUP && group_parse(bytes_of(rule->part_name), &low, &high))
        param_int8(&params, (int64_t)low);
    else
        param_null(&params);
    param_text(&params, rule->part == PART_TYPE ? rule->part_name : NULL);
    if (!pg_ask(store, FOR_READING, part_sql, &params, &r, err))
        return false;
    *count = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

// Every part that is above the value at which an alert is over.
static void
share_of_each(const struct alert_rule *rule, const struct watch_sums *sums, struct arena *arena,
              struct measured *measured)
{
    const struct watch_pending *pending = &sums->pending;
    double percent = 100.0 / (double)pending->count;
    begin_values(measured, arena, WATCH_GROUPS + WATCH_TYPES + CATEGORY_COUNT);
    for (size_t i = 0; rule->part == PART_GROUP && i < pending->group_count; i++) {
        const struct watch_group *group = &pending->groups[i];
        const char *key = key_text(arena, group->key);
        struct measured_value *value = measure_add(measured, key, percent * (double)group->pending);
        value->of = arena_printf(arena, "%s (%s)", group->error_class ? group->error_class : "no class", key);
        add_label(value, "group", key);
        add_label(value, "error_class", group->error_class);
    }
    for (enum category c = 0; rule->part == PART_CATEGORY && c < CATEGORY_COUNT; c++) {
        struct measured_value *value =
            measure_add(measured, category_name(c), percent * (double)pending->by_category[c]);
        value->of = category_name(c);
        add_label(value, "category", category_name(c));
    }
    for (size_t i = 0; rule->part == PART_TYPE && i < pending->type_count; i++) {
        const struct watch_type *type = &pending->types[i];
        struct measured_value *value =
            measure_add(measured, type->event_type, percent * (double)type->pending);
        value->of = type->event_type;
        add_label(value, "event_type", type->event_type);
    }
    size_t kept = 0;
    for (size_t i = 0; i < measured->count; i++)
        if (rule->is_below ? measured->values[i].value < rule->clear
                           : measured->values[i].value > rule->clear)
            measured->values[kept++] = measured->values[i];
    measured->count = kept;
}

static bool
measure_pending(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                struct arena *arena, struct measured *measured, struct err *err)
{
    int64_t count = 0;
    if (!sums->rollup.is_counted || !sums->rollup.is_kept)
        return true;
    if (rule->condition == ALERT_SHARE &&
        (sums->pending.count == 0 || (double)sums->pending.count < rule->at_least)) {
        begin_values(measured, arena, 1);
        return true;
    }
    if (rule->condition == ALERT_SHARE && !rule->part_name) {
        share_of_each(rule, sums, arena, measured);
        return true;
    }
    if (!read_part(store, rule, sums, &count, err))
        return false;
    table_value(measured, arena,
                rule->condition == ALERT_SHARE ? 100.0 * (double)count / (double)sums->pending.count
                                               : (double)count);
    if (rule->part != PART_ALL)
        measured->values[0].of = rule->part_name;
    if (rule->part == PART_GROUP)
        add_label(&measured->values[0], "group", rule->part_name);
    return true;
}

static bool
measure_oldest(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
               struct arena *arena, struct measured *measured, struct err *err)
{
    (void)store;
    (void)rule;
    (void)err;
    if (!sums->rollup.is_counted || !sums->rollup.is_kept)
        return true;
    int64_t age = sums->pending.oldest_at == TIME_ABSENT ? 0 : sums->as_of - sums->pending.oldest_at;
    table_value(measured, arena, age > 0 ? (double)age / US_PER_SECOND : 0);
    return true;
}

// --- over a window ---

static bool
measure_rate(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
             struct arena *arena, struct measured *measured, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    add_window(&params, rule);
    if (!pg_ask(store, FOR_READING, rate_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 1 && sums->rollup.is_kept)
        table_value(measured, arena, 60.0 * (double)value_int8(r, 0, 0) / value_int4(r, 0, 1));
    PQclear(r);
    return true;
}

static bool
measure_growth(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
               struct arena *arena, struct measured *measured, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    add_window(&params, rule);
    if (!pg_ask(store, FOR_READING, then_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 1 && sums->rollup.is_counted && sums->rollup.is_kept)
        table_value(measured, arena, (double)(sums->pending.count - value_int8(r, 0, 0)));
    PQclear(r);
    return true;
}

static bool
measure_group(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
              struct arena *arena, struct measured *measured, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    add_window(&params, rule);
    param_double(&params, rule->clear);
    if (!sums->rollup.is_kept) {
        params_release(&params);
        return true;
    }
    if (!pg_ask(store, FOR_READING, groups_sql, &params, &r, err))
        return false;
    begin_values(measured, arena, MOST_INSTANCES);
    for (int i = 0; i < PQntuples(r); i++) {
        const char *key = key_text(arena, (uint64_t)value_int8(r, i, 0));
        const char *class = value_text(r, i, 2, arena);
        struct measured_value *value = measure_add(measured, key, (double)value_int8(r, i, 1));
        value->of = arena_printf(arena, "%s (%s)", class ? class : "no class", key);
        add_label(value, "group", key);
        add_label(value, "error_class", class);
    }
    PQclear(r);
    return true;
}

// What the sums of reprocessing and of retries grew by; never less than nothing, since operations may be
// deleted.
struct growth {
    double sent, refused, returned, arrived, retries;
};

static double
grown(double now, double then)
{
    return now > then ? now - then : 0;
}

static struct growth
growth_since(const PGresult *sample, const struct watch_sums *sums)
{
    struct growth growth = {0};
    double arrived = 0;
    for (size_t i = 0; i < sums->retries.count; i++)
        arrived += (double)sums->retries.counts[i];
    for (size_t i = 0; i < sums->operation_count; i++) {
        const struct watch_operations *operations = &sums->operations[i];
        if (strcmp(operations->action, "reprocess") != 0)
            continue;
        growth.sent = grown((double)operations->done, (double)value_int8(sample, 0, 0));
        growth.refused = grown((double)operations->refused, (double)value_int8(sample, 0, 1));
        growth.returned = grown((double)operations->returned, (double)value_int8(sample, 0, 2));
    }
    growth.arrived = grown(arrived, (double)value_int8(sample, 0, 3));
    growth.retries = grown(sums->retries.sum, value_double(sample, 0, 4));
    return growth;
}

static void
measure_growth_of(const struct alert_rule *rule, const struct growth *growth, struct arena *arena,
                  struct measured *measured)
{
    double decided = growth->sent + growth->refused;
    bool is_share = rule->condition == ALERT_SUCCESS, is_mean = rule->condition == ALERT_RETRIES;
    double of = is_share ? decided : growth->arrived;
    if ((is_share || is_mean) && (of <= 0 || of < rule->at_least))
        begin_values(measured, arena, 1);
    else if (is_share)
        table_value(measured, arena, 100.0 * grown(growth->sent, growth->returned) / decided);
    else if (is_mean)
        table_value(measured, arena, growth->retries / growth->arrived);
    else if (rule->condition == ALERT_PUBLISH_FAILURES)
        table_value(measured, arena, growth->refused);
    else
        table_value(measured, arena, growth->refused + growth->returned);
}

static bool
measure_increase(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                 struct arena *arena, struct measured *measured, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    add_window(&params, rule);
    if (!pg_ask(store, FOR_READING, sample_sql, &params, &r, err))
        return false;
    if (PQntuples(r) == 1) {
        struct growth growth = growth_since(r, sums);
        measure_growth_of(rule, &growth, arena, measured);
    }
    PQclear(r);
    return true;
}

// Topics whose rates are not known have no value: where none is, nothing can be told.
static bool
measure_dead_letters(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                     struct arena *arena, struct measured *measured, struct err *err)
{
    struct topic_shares shares;
    (void)sums;
    if (!written_read(store, rule->window, arena, &shares, err))
        return false;
    if (topic_shares_known(&shares) == 0)
        return true;
    begin_values(measured, arena, shares.count);
    for (size_t i = 0; i < shares.count; i++) {
        const struct topic_share *share = &shares.topics[i];
        double percent = topic_share_percent(share);
        if (percent < 0 || (double)share->written < rule->at_least)
            continue;
        struct measured_value *value = measure_add(measured, share->topic, percent);
        value->of = share->topic;
        add_label(value, "topic", share->topic);
    }
    return true;
}

// --- operations ---

static bool
measure_no_worker(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                  struct arena *arena, struct measured *measured, struct err *err)
{
    int64_t waiting = 0;
    (void)store;
    (void)rule;
    (void)err;
    for (size_t i = 0; i < sums->state_count; i++)
        if (strcmp(sums->states[i].state, "frozen") == 0 || strcmp(sums->states[i].state, "running") == 0)
            waiting += sums->states[i].due;
    table_value(measured, arena, sums->publishing_workers == 0 ? (double)waiting : 0);
    return true;
}

static bool
measure_in_doubt(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                 struct arena *arena, struct measured *measured, struct err *err)
{
    (void)store;
    (void)rule;
    (void)err;
    table_value(measured, arena, (double)sums->in_doubt);
    return true;
}

static bool
measure_policies(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                 struct arena *arena, struct measured *measured, struct err *err)
{
    PGresult *r;
    (void)rule;
    (void)sums;
    if (!pg_ask(store, FOR_READING, policies_sql, &(struct params){0}, &r, err))
        return false;
    begin_values(measured, arena, MOST_INSTANCES);
    for (int i = 0; i < PQntuples(r); i++) {
        const char *name = value_text(r, i, 0, arena);
        struct measured_value *value = measure_add(measured, name, (double)value_int8(r, i, 2));
        value->of = arena_printf(arena, "policy %s", name);
        add_label(value, "policy", name);
        add_label(value, "action", value_text(r, i, 1, arena));
    }
    PQclear(r);
    return true;
}

// Halted policies stand beside operations.
static bool
measure_halted_policies(struct store *store, struct arena *arena, struct measured *measured, struct err *err)
{
    PGresult *r;
    if (!pg_ask(store, FOR_READING, halted_policies_sql, &(struct params){0}, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r) && measured->count < MOST_INSTANCES; i++) {
        const char *name = value_text(r, i, 0, arena);
        struct measured_value *value = measure_add(measured, arena_printf(arena, "policy %s", name), 1);
        value->of = arena_printf(arena, "policy %s halted: %s", name, value_text(r, i, 1, arena));
        add_label(value, "policy", name);
    }
    PQclear(r);
    return true;
}

static bool
measure_halted(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
               struct arena *arena, struct measured *measured, struct err *err)
{
    PGresult *r;
    (void)rule;
    (void)sums;
    if (!pg_ask(store, FOR_READING, halted_sql, &(struct params){0}, &r, err))
        return false;
    begin_values(measured, arena, MOST_INSTANCES);
    for (int i = 0; i < PQntuples(r); i++) {
        const char *no = arena_int(arena, value_int8(r, i, 0));
        const char *action = value_text(r, i, 1, arena), *note = value_text(r, i, 2, arena);
        struct measured_value *value = measure_add(measured, no, 1);
        value->of = arena_printf(arena, "operation %s (%s) halted%s%s", no, action, note ? ": " : "",
                                 note ? note : "");
        add_label(value, "operation", no);
        add_label(value, "action", action);
    }
    PQclear(r);
    return measure_halted_policies(store, arena, measured, err);
}

typedef bool measure_fn(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
                        struct arena *arena, struct measured *measured, struct err *err);

static measure_fn *const measures[ALERT_CONDITIONS] = {
    [ALERT_PENDING] = measure_pending,
    [ALERT_RATE] = measure_rate,
    [ALERT_OLDEST] = measure_oldest,
    [ALERT_SHARE] = measure_pending,
    [ALERT_GROWTH] = measure_growth,
    [ALERT_GROUP] = measure_group,
    [ALERT_NO_WORKER] = measure_no_worker,
    [ALERT_HALTED] = measure_halted,
    [ALERT_POLICY] = measure_policies,
    [ALERT_IN_DOUBT] = measure_in_doubt,
    [ALERT_RETRIES] = measure_increase,
    [ALERT_SUCCESS] = measure_increase,
    [ALERT_PUBLISH_FAILURES] = measure_increase,
    [ALERT_REPROCESS_FAILURES] = measure_increase,
    [ALERT_DEAD_LETTERS] = measure_dead_letters,
};

bool
measure_rule(struct store *store, const struct alert_rule *rule, const struct watch_sums *sums,
             struct arena *arena, struct measured *measured, struct err *err)
{
    *measured = (struct measured){0};
    return measures[rule->condition](store, rule, sums, arena, measured, err);
}
