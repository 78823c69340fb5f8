#include "store/watch/policies.h"

#include <string.h>
#include "base/clock.h"
#include "core/json/value.h"
#include "store/pg.h"

static const char results_sql[] =
    "SELECT o.no, o.state, o.done, o.refused, o.returned, o.skipped, o.state_note FROM redrive.operation o"
    " WHERE o.policy = $1 AND o.state IN ('done', 'halted', 'cancelled')"
    " AND o.created_at >= (SELECT p.judged_from FROM redrive.policy p WHERE p.name = $1)"
    " ORDER BY o.no DESC LIMIT $2";

// An event failed last when it was written, returned or refused.
static const char events_sql[] =
    "SELECT e.id, (coalesce(r.times, 0) + f.n)::int4,"
    " greatest(e.created_at AT TIME ZONE (SELECT zone FROM redrive.install), r.at, f.at), e.kafka_topic"
    " FROM unnest($1) WITH ORDINALITY AS w (id, n)"
    " CROSS JOIN LATERAL (SELECT x.id, x.created_at, x.kafka_topic FROM :\"events\" x WHERE x.id = w.id"
    "  AND coalesce(x.status, '') = 'PENDING' LIMIT 1) e"
    " LEFT JOIN redrive.returned r ON r.dlq_id = w.id"
    " CROSS JOIN LATERAL (SELECT count(*) AS n, max(i.at) AS at FROM redrive.operation_item i"
    "  WHERE i.dlq_id = w.id AND i.state = 'refused') f"
    " WHERE w.id NOT IN (SELECT l.dlq_id FROM redrive.items_live($1) l)"
    " ORDER BY w.n";

static const char busy_sql[] = "SELECT redrive.policy_busy($1)";

// Of a run: without what was called back before it was sent, as redrive._policy_acted has it.
#define KEPT "greatest(r.acted - coalesce(o.cancelled, 0), 0)"

static const char list_sql[] =
    "SELECT p.name, p.words, p.action, coalesce(p.switched, p.is_enabled), p.switched_by::text, "
    "p.switched_at,"
    " p.halted_why, p.halted_at, p.matched, s.runs + a.runs, s.acted + a.acted, s.returned, s.refused, "
    "s.today + a.today, s.operation,"
    " p.ran_at, p.next_at, p.note FROM redrive.policy p"
    " CROSS JOIN LATERAL (SELECT count(*) AS runs, coalesce(sum(" KEPT "), 0)::int8 AS acted,"
    "  coalesce(sum(o.returned), 0)::int8 AS returned, coalesce(sum(o.refused), 0)::int8 AS refused,"
    "  coalesce(sum(" KEPT
    ") FILTER (WHERE r.at > clock_timestamp() - interval '24 hours'), 0)::int8 AS today,"
    "  max(r.operation_no) AS operation FROM redrive.policy_run r"
    "  LEFT JOIN redrive.operation o ON o.no = r.operation_no WHERE r.policy = p.name) s"
    " CROSS JOIN LATERAL (SELECT count(*) AS runs, coalesce(sum(j.moved + j.deleted), 0)::int8 AS acted,"
    "  coalesce(sum(j.moved + j.deleted) FILTER (WHERE j.seen_at > clock_timestamp() - interval '24 hours'), "
    "0)::int8 AS today FROM redrive.archive_job j WHERE j.policy = p.name) a"
    " ORDER BY p.name";

// What it does, which a person switches on (sql/policies.sql).
static struct value *
policy_definition(const struct policy *policy)
{
    struct value *object = value_object();
    value_add_text(object, "action", policy_action_name(policy->action));
    value_add_text(object, "filter", policy->filter);
    value_add_text(object, "group", policy->group);
    value_add_int(object, "limit", policy->limit);
    value_add_text(object, "target", policy->target);
    value_add_text(object, "recipe", policy->recipe);
    value_add_int(object, "rate", policy->rate);
    value_add_int(object, "attempts", policy->attempts);
    value_add_int(object, "backoff", policy->backoff.first);
    value_add_int(object, "at_most", policy->backoff.most);
    value_add_real(object, "factor", policy->backoff.factor);
    value_add_int(object, "canary", policy->plan.step_count ? policy->plan.steps[0] : 0);
    value_add_real(object, "halt_above", policy->plan.halts ? policy->plan.halt_above : -1);
    if (policy_is_retention(policy->action))
        value_add_int(object, "older_than", policy->older_than);
    return object;
}

static struct value *
policy_value(const struct policy *policy, int64_t now, int64_t zone_us)
{
    struct value *object = value_object();
    bool is_every = policy->schedule.every > 0 && day_window_has(&policy->window, now, zone_us);
    value_add_text(object, "name", policy->name);
    value_add_text(object, "action", policy_action_name(policy->action));
    value_add(object, "definition", policy_definition(policy));
    value_add_text(object, "words", policy->words);
    value_add_text(object, "schedule", policy->schedule_text);
    value_add_int(object, "probe_after", policy->probe_after);
    value_add_bool(object, "is_enabled", policy->is_enabled);
    value_add_int(object, "next",
                  is_every ? now : schedule_next(&policy->schedule, &policy->window, now, zone_us));
    return object;
}

static void
policies_text(struct store *store, const struct policy *policies, size_t count, int64_t now,
              struct strbuf *text)
{
    struct value *array = value_array();
    for (size_t i = 0; i < count; i++)
        value_add(array, NULL, policy_value(&policies[i], now, store_info(store)->zone_us));
    value_dump(array, text);
    value_destroy(array);
}

bool
policies_know(struct store *store, const struct policy *policies, size_t count, int64_t now, struct err *err)
{
    struct strbuf text = {0};
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    policies_text(store, policies, count, now, &text);
    param_text(&params, strbuf_text(&text));
    bool ok = pg_do(store, FOR_WRITING, "SELECT redrive.policy_know($1::jsonb)", &params, err);
    strbuf_release(&text);
    return ok;
}

bool
policies_claim(struct store *store, const char *holder, const struct policy *policies, size_t count,
               const char *only, int64_t lease, struct policy_claim *claim, struct err *err)
{
    struct strbuf text = {0};
    struct params params = {0};
    PGresult *r;
    *claim = (struct policy_claim){0};
    policies_text(store, policies, count, 0, &text);
    param_text(&params, holder);
    param_text(&params, strbuf_text(&text));
    param_text(&params, only);
    param_int8(&params, lease);
    param_int4(&params, PQbackendPID(store->conn)); // a pooler makes up one of its own
    bool ok = pg_ask(store, FOR_WRITING,
                     "SELECT c.name, c.acted, c.is_probe FROM redrive.policy_claim($1, $2::jsonb, $3,"
                     " $4 * interval '1 microsecond', $5) c",
                     &params, &r, err);
    strbuf_release(&text);
    if (!ok)
        return false;
    for (size_t i = 0; PQntuples(r) == 1 && i < count; i++)
        if (bytes_equal_text(value_bytes(r, 0, 0), policies[i].name))
            *claim = (struct policy_claim){&policies[i], value_int8(r, 0, 1), value_bool(r, 0, 2)};
    PQclear(r);
    return true;
}

bool
policies_finish(struct store *store, const char *holder, const char *name, int64_t matched, int64_t next_at,
                const char *note, struct err *err)
{
    struct params params = {0};
    param_text(&params, holder);
    param_text(&params, name);
    param_int8(&params, matched);
    param_int8(&params, next_at);
    param_text(&params, note);
    return pg_do(store, FOR_WRITING, "SELECT redrive.policy_finish($1, $2, $3, $4, $5)", &params, err);
}

bool
policies_halt(struct store *store, const char *holder, const char *name, const char *why, struct err *err)
{
    struct params params = {0};
    param_text(&params, holder);
    param_text(&params, name);
    param_text(&params, why);
    return pg_do(store, FOR_WRITING, "SELECT redrive.policy_halt($1, $2, $3)", &params, err);
}

bool
policies_results(struct store *store, const char *name, struct arena *arena,
                 struct policy_result results[POLICY_RUNS_JUDGED], size_t *count, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *count = 0;
    param_text(&params, name);
    param_int8(&params, POLICY_RUNS_JUDGED);
    if (!pg_ask(store, FOR_READING, results_sql, &params, &r, err))
        return false;
    for (int i = 0; i < PQntuples(r); i++) {
        struct policy_result *result = &results[*count];
        *result = (struct policy_result){.no = value_int8(r, i, 0),
                                         .done = value_int8(r, i, 2),
                                         .refused = value_int8(r, i, 3),
                                         .returned = value_int8(r, i, 4),
                                         .skipped = value_int8(r, i, 5),
                                         .note = value_text(r, i, 6, arena)};
        *count += operation_state_parse(value_bytes(r, i, 1), &result->state);
    }
    PQclear(r);
    return true;
}

bool
policies_events(struct store *store, const int64_t *ids, size_t count, struct arena *arena,
                struct policy_event **events, size_t *found, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_ids(&params, ids, count);
    if (!pg_ask(store, FOR_SCANNING, events_sql, &params, &r, err))
        return false;
    *found = (size_t)PQntuples(r);
    *events = arena_array(arena, *found, sizeof **events);
    for (int i = 0; i < PQntuples(r); i++)
        (*events)[i] = (struct policy_event){.id = value_int8(r, i, 0),
                                             .attempts = value_int4(r, i, 1),
                                             .failed_at = value_time(r, i, 2),
                                             .topic = value_text(r, i, 3, arena)};
    PQclear(r);
    return true;
}

bool
policies_busy(struct store *store, const char *name, struct arena *arena, const char ***topics, size_t *count,
              struct err *err)
{
    struct params params = {0};
    param_text(&params, name);
    return pg_ask_texts(store, FOR_READING, busy_sql, &params, arena, topics, count, err);
}

static struct policy_row
policies_read_row(const PGresult *r, int i, struct arena *arena)
{
    struct policy_row row = {.name = value_text(r, i, 0, arena),
                             .words = value_text(r, i, 1, arena),
                             .action = value_text(r, i, 2, arena),
                             .switched_by = value_text(r, i, 4, arena),
                             .switched_at = value_time(r, i, 5),
                             .halted_why = value_text(r, i, 6, arena),
                             .halted_at = value_time(r, i, 7),
                             .matched = value_int8(r, i, 8),
                             .runs = value_int8(r, i, 9),
                             .acted = value_int8(r, i, 10),
                             .returned = value_int8(r, i, 11),
                             .refused = value_int8(r, i, 12),
                             .today = value_int8(r, i, 13),
                             .operation = value_int8(r, i, 14),
                             .ran_at = value_time(r, i, 15),
                             .next_at = value_time(r, i, 16),
                             .note = value_text(r, i, 17, arena)};
    row.state = !value_bool(r, i, 3) ? POLICY_DISABLED : row.halted_why ? POLICY_HALTED : POLICY_ENABLED;
    return row;
}

bool
policies_archive(struct store *store, const char *holder, const char *name, struct policy_job *job,
                 struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_text(&params, holder);
    param_text(&params, name);
    if (!pg_ask(store, FOR_FREEZING, "SELECT job, chosen, taken FROM redrive.policy_archive($1, $2)", &params,
                &r, err))
        return false;
    *job = (struct policy_job){.no = value_is_null(r, 0, 0) ? 0 : value_int8(r, 0, 0),
                               .chosen = value_int8(r, 0, 1),
                               .taken = value_int8(r, 0, 2)};
    PQclear(r);
    return true;
}

bool
policies_list(struct store *store, struct arena *arena, struct policy_row **rows, size_t *count,
              struct err *err)
{
    PGresult *r;
    *count = 0;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_READING, list_sql, &(struct params){0}, &r, err))
        return false;
    *rows = arena_array(arena, (size_t)PQntuples(r), sizeof **rows);
    for (int i = 0; i < PQntuples(r); i++)
        (*rows)[(*count)++] = policies_read_row(r, i, arena);
    PQclear(r);
    return true;
}

bool
policy_switch(struct store *store, const char *name, bool is_on, const char *reason, struct err *err)
{
    struct params params = {0};
    if (!pg_may_write(store, err) || !pg_has_schema(store, err))
        return false;
    param_text(&params, name);
    param_bool(&params, is_on);
    param_text(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.policy_switch($1, $2, $3)", &params, err);
}
