#include "store/operations/operations.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/target.h"
#include "store/pg.h"

enum { ATTEMPTS = 5 };

static bool
operations_may_change(const struct store *store, struct err *err)
{
    return pg_may_write(store, err) && pg_has_schema(store, err);
}

// Returns the new operation's number, or that of the one the key made before (then *is_new is false).
static const char begin_sql[] =
    "SELECT no, is_new FROM redrive.operation_begin($1, $2, $3, $4, $5, $6, $7, $8)";
static const char begin_policy_sql[] = "SELECT no, is_new FROM redrive.policy_begin($1, $2, $3, $4, $5, $6, "
                                       "$7, $8, $9, $10, $11, $12, $13, $14)";

static void
add_policy(struct params *params, const struct operation_request *request)
{
    const struct policy_begun *policy = request->policy;
    param_text(params, policy->holder);
    param_text(params, policy->name);
    param_int8(params, policy->matched);
    param_int8(params, (int64_t)request->count);
    param_int8(params, policy->next_at);
    param_texts(params, policy->topics, policy->topic_count);
}

static bool
begin_freeze(struct store *store, const struct operation_request *request, int64_t *no, bool *is_new,
             struct err *err)
{
    struct params params = {0};
    param_uuid(&params, request->key);
    param_text(&params, action_name(request->action));
    param_text(&params, request->scope ? request->scope : "");
    param_text(&params, request->filter_text);
    param_text(&params, request->group);
    param_text(&params, request->reason);
    param_text(&params, request->target_topic);
    param_int4(&params, request->rate);
    if (request->policy)
        add_policy(&params, request);
    PGresult *r;
    if (!pg_ask(store, FOR_FREEZING, request->policy ? begin_policy_sql : begin_sql, &params, &r, err))
        return false;
    *no = value_int8(r, 0, 0);
    *is_new = value_bool(r, 0, 1);
    PQclear(r);
    return true;
}

static int
ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Slices are frozen in ascending order, so that PostgreSQL sees by one number that no event comes twice.
static bool
freeze_ids(struct store *store, const struct operation_request *request, int64_t no,
           operation_progress_fn *progress, void *context, struct err *err)
{
    enum { SLICE = 10000 };
    int64_t *ids = alloc_array(request->count, sizeof *ids);
    if (request->count)
        memcpy(ids, request->ids, request->count * sizeof *ids);
    qsort(ids, request->count, sizeof *ids, ascending);
    bool ok = true;
    for (size_t from = 0; ok && from < request->count;) {
        size_t count = request->count - from < SLICE ? request->count - from : SLICE;
        while (from + count < request->count && ids[from + count] == ids[from + count - 1])
            count++;
        struct params params = {0};
        param_int8(&params, no);
        param_ids(&params, ids + from, count);
        ok = pg_do(store, FOR_FREEZING, "SELECT redrive.operation_freeze($1, $2)", &params, err);
        from += count;
        if (ok && progress && !progress(context, from, request->count))
            ok = err_set(err, ERR_CANCELLED, "stopped as asked; nothing was written");
    }
    free(ids);
    return ok;
}

// A plan's steps are int4[], also when there are none.
static void
add_steps(struct params *params, const struct send_plan *plan)
{
    param_numbers(params, plan->steps, plan->step_count);
}

static bool
operations_add_plan(struct store *store, const struct send_plan *plan, int64_t no, struct err *err)
{
    struct params params = {0};
    param_int8(&params, no);
    add_steps(&params, plan);
    param_int8(&params, (plan->settle_for ? plan->settle_for : SETTLE_FOR) / 1000);
    param_double(&params, plan->halts ? plan->halt_above : -1);
    param_int8(&params, plan->send_after / 1000);
    param_int8(&params, plan->approve_above ? plan->approve_above : INT64_MAX);
    return pg_do(store, FOR_FREEZING,
                 "SELECT redrive.operation_plan($1, $2, $3, nullif($4, -1)::real, $5, nullif($6, "
                 "9223372036854775807))",
                 &params, err);
}

// A delay counts by PostgreSQL's clock, as the time does by which a worker begins.
static bool
add_begin(struct store *store, const struct begin *begin, int64_t no, struct err *err)
{
    struct params params = {0};
    if (!begin->at && !begin->after)
        return true;
    param_int8(&params, no);
    param_int8(&params, begin->at);
    param_int8(&params, begin->after / 1000);
    return pg_do(
        store, FOR_FREEZING,
        "SELECT redrive.operation_begins($1, timestamptz 'epoch' + nullif($2, 0) * interval '1 us', $3)",
        &params, err);
}

static bool
add_max_lag(struct store *store, const struct operation_request *request, int64_t no, struct err *err)
{
    if (!request->plan.holds || request->action != ACTION_REPROCESS)
        return true;
    struct params params = {0};
    param_int8(&params, no);
    param_int8(&params, request->plan.max_lag);
    return pg_do(store, FOR_FREEZING, "SELECT redrive.operation_max_lag($1, $2)", &params, err);
}

static bool
add_undone(struct store *store, const struct operation_request *request, int64_t no, struct err *err)
{
    struct params params = {0};
    if (request->restores_resolved) {
        param_int8(&params, no);
        if (!pg_do(store, FOR_FREEZING, "SELECT redrive.operation_restores_resolved($1)", &params, err))
            return false;
        params = (struct params){0};
    }
    if (request->undoes == 0)
        return true;
    param_int8(&params, no);
    param_int8(&params, request->undoes);
    return pg_do(store, FOR_FREEZING, "SELECT redrive.operation_undoes($1, $2)", &params, err);
}

static bool
add_recipe(struct store *store, const char *recipe, int64_t no, struct err *err)
{
    if (!recipe)
        return true;
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, recipe);
    return pg_do(store, FOR_FREEZING, "SELECT redrive.operation_recipe($1, $2)", &params, err);
}

static bool
add_then_reprocess(struct store *store, const struct operation_request *request, int64_t no, struct err *err)
{
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, request->target_topic);
    param_int8(&params, request->takes_quarantined ? INT64_MAX : store->max_replays);
    return pg_do(store, FOR_FREEZING, "SELECT redrive.operation_then_reprocess($1, $2, $3)", &params, err);
}

static bool
add_force(struct store *store, int64_t no, struct err *err)
{
    struct params params = {0};
    param_int8(&params, no);
    return pg_do(store, FOR_FREEZING, "SELECT redrive.operation_force($1)", &params, err);
}

static bool
operations_confirm(struct store *store, int64_t no, struct err *err)
{
    struct params params = {0};
    param_int8(&params, no);
    return pg_do(store, FOR_FREEZING, "SELECT redrive.operation_confirm($1)", &params, err);
}

bool
operation_create(struct store *store, const struct operation_request *request,
                 operation_progress_fn *progress, void *context, int64_t *no, struct err *err)
{
    bool is_new;
    if (request->target_topic && !target_check(bytes_of(request->target_topic), err))
        return false;
    if (!operations_may_change(store, err) || !pg_begin(store, FOR_FREEZING, err))
        return false;
    bool ok = begin_freeze(store, request, no, &is_new, err);
    if (ok && is_new)
        ok = operations_add_plan(store, &request->plan, *no, err) && add_max_lag(store, request, *no, err) &&
             add_begin(store, &request->plan.begin, *no, err) && add_undone(store, request, *no, err) &&
             add_recipe(store, request->recipe, *no, err) &&
             (!request->then_reprocess || add_then_reprocess(store, request, *no, err)) &&
             (!request->is_forced || add_force(store, *no, err)) &&
             freeze_ids(store, request, *no, progress, context, err) && operations_confirm(store, *no, err);
    if (ok)
        return pg_commit(store, err);
    pg_rollback(store);
    return false;
}

bool
operation_insist(struct store *store, const struct operation_request *request,
                 operation_progress_fn *progress, void *context, int64_t *no, struct err *err)
{
    bool ok = operation_create(store, request, progress, context, no, err);
    for (int i = 0; !ok && err->kind == ERR_UNREACHABLE && i < ATTEMPTS; i++) {
        struct err lost = {0};
        clock_sleep(store_backoff(i));
        if (progress && !progress(context, 0, request->count))
            return false;
        if (!store_reconnect(store, &lost))
            continue;
        err_clear(err);
        ok = operation_create(store, request, progress, context, no, err);
    }
    return ok;
}

#define OPERATION_COLUMNS                                                                                    \
    "SELECT o.no, o.action, o.state, coalesce('policy ' || o.policy, o.requested_by::text), o.host, "        \
    "o.scope, o.filter_text, o.group_key, "                                                                  \
    "o.reason, o.target_topic, o.worker,"                                                                    \
    " o.state_note, o.rate, coalesce(w.rate, 0), o.total, o.queued, o.claimed, o.in_doubt, o.done, "         \
    "o.refused, "                                                                                            \
    "o.skipped, o.cancelled,"                                                                                \
    " o.returned, o.created_at, o.started_at, o.finished_at, array_to_string(o.steps, ','), o.step,"         \
    " (extract(epoch FROM o.settle_for) * 1000000)::int8, o.observe_until, o.halt_above::float8,"            \
    " o.send_after, o.approved_by::text, lately.sent, lately.back, undone.no, coalesce(undone.state = "      \
    "'done', false), o.unchanged, o.not_applicable, o.refused_by_check, o.failed, o.forced, o.undoes, "      \
    "o.then_reprocess, o.followed_by, o.taken, o.takeable, o.taken_by, o.taken_note, lately.open, "          \
    "o.max_lag, "                                                                                            \
    "o.begins_at"                                                                                            \
    " FROM redrive.operation o"                                                                              \
    " CROSS JOIN LATERAL (SELECT "                                                                           \
    "(SELECT sum(c.events) FROM redrive.chunk c WHERE c.operation_no = o.no AND c.state = 'committed'"       \
    " AND c.decided_at > clock_timestamp() - o.settle_for)::int8 AS sent,"                                   \
    " (SELECT count(DISTINCT b.sent_id) FROM redrive.returned b WHERE b.operation_no = o.no"                 \
    " AND b.sent_at > clock_timestamp() - o.settle_for) AS back,"                                            \
    " (SELECT sum(CASE WHEN s.readers IS NULL THEN s.events"                                                 \
    " WHEN s.taken_at > clock_timestamp() - o.settle_for THEN s.taken ELSE 0 END) FROM redrive.sent s"       \
    " WHERE s.operation_no = o.no AND s.is_watched)::int8 AS open) lately"                                   \
    " LEFT JOIN LATERAL (SELECT r.no, r.state FROM redrive.operation r WHERE r.undoes = o.no"                \
    " AND r.state <> 'cancelled' ORDER BY r.no DESC LIMIT 1) undone ON true"                                 \
    " LEFT JOIN redrive.worker w ON w.name = o.worker AND w.seen_at > clock_timestamp() - interval '15 s'"

// Columns 26 on: how it is sent.
static void
operations_read_plan(const PGresult *r, int row, struct send_plan *plan)
{
    struct bytes steps = value_bytes(r, row, 26);
    if (steps.len > 0 && !steps_parse(steps, plan, NULL))
        plan->step_count = 0; // more than this program knows of: it shows none
    plan->settle_for = value_int8(r, row, 28);
    plan->halts = !value_is_null(r, row, 30);
    plan->halt_above = value_double(r, row, 30);
    plan->holds = !value_is_null(r, row, 50);
    plan->max_lag = value_int8(r, row, 50);
    plan->begin.at = value_is_null(r, row, 51) ? 0 : value_time(r, row, 51);
}

// Where no consumer group is known, an event that was sent and did not return is quiet after plan.settle_for.
// Otherwise that time begins when its group has taken it; rows of redrive.sent whose groups are not known yet
// are still open.
static void
read_silence(const PGresult *r, int row, struct operation *operation)
{
    struct taken *taken = &operation->sent.taken;
    int64_t open =
        taken->count < 0 ? value_int8(r, row, 33) : taken->of - taken->count + value_int8(r, row, 49);
    int64_t lately = open - value_int8(r, row, 34);
    int64_t silent = operation->done > operation->returned ? operation->done - operation->returned : 0;
    operation->sent.watched = lately < 0 ? 0 : lately < silent ? lately : silent;
    operation->sent.quiet = silent - operation->sent.watched;
}

static bool
read_operation(const PGresult *r, int row, struct arena *arena, struct operation *operation, struct err *err)
{
    enum operation_action action;
    enum operation_state state;
    if (!action_parse(value_bytes(r, row, 1), &action) ||
        !operation_state_parse(value_bytes(r, row, 2), &state))
        return err_set(
            err, ERR_DATA,
            "operation %lld has an action or a state that this program does not know: use the newer program",
            (long long)value_int8(r, row, 0));
    *operation = (struct operation){
        .no = value_int8(r, row, 0),
        .action = action,
        .state = state,
        .requested_by = value_text(r, row, 3, arena),
        .host = value_text(r, row, 4, arena),
        .scope = value_text(r, row, 5, arena),
        .filter_text = value_text(r, row, 6, arena),
        .group = value_text(r, row, 7, arena),
        .reason = value_text(r, row, 8, arena),
        .target_topic = value_text(r, row, 9, arena),
        .worker = value_text(r, row, 10, arena),
        .state_note = value_text(r, row, 11, arena),
        .rate = value_int4(r, row, 12),
        .rate_now = state == OPERATION_RUNNING ? value_double(r, row, 13) : 0,
        .total = value_int8(r, row, 14),
        .queued = value_int8(r, row, 15),
        .claimed = value_int8(r, row, 16),
        .in_doubt = value_int8(r, row, 17),
        .done = value_int8(r, row, 18),
        .refused = value_int8(r, row, 19),
        .skipped = value_int8(r, row, 20),
        .cancelled = value_int8(r, row, 21),
        .returned = value_int8(r, row, 22),
        .created_at = value_time(r, row, 23),
        .started_at = value_time(r, row, 24),
        .finished_at = value_time(r, row, 25),
        .step = value_int4(r, row, 27),
        .settle_until = value_time(r, row, 29),
        .send_after = value_time(r, row, 31),
        .approved_by = value_text(r, row, 32, arena),
        .undone = {.by = value_int8(r, row, 35),
                   .is_done = value_bool(r, row, 36),
                   .of = value_int8(r, row, 42)},
        .recipe = {.unchanged = value_int8(r, row, 37),
                   .not_applicable = value_int8(r, row, 38),
                   .refused_by_check = value_int8(r, row, 39),
                   .failed = value_int8(r, row, 40),
                   .forced = value_int8(r, row, 41)},
        .follower = {.is_wanted = value_bool(r, row, 43), .by = value_int8(r, row, 44)},
        .sent.taken = {.count = value_is_null(r, row, 45) ? -1 : value_int8(r, row, 45),
                       .of = value_int8(r, row, 46),
                       .by = value_text(r, row, 47, arena),
                       .note = value_text(r, row, 48, arena)},
    };
    operations_read_plan(r, row, &operation->plan);
    if (operation->action == ACTION_REPROCESS)
        read_silence(r, row, operation);
    return true;
}

bool
operation_get(struct store *store, int64_t no, struct arena *arena, struct operation *operation,
              struct err *err)
{
    struct params params = {0};
    param_int8(&params, no);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING, OPERATION_COLUMNS " WHERE o.no = $1", &params, &r, err))
        return false;
    bool ok = PQntuples(r) == 1 || err_set(err, ERR_NOT_FOUND, "there is no operation %lld", (long long)no);
    ok = ok && read_operation(r, 0, arena, operation, err);
    PQclear(r);
    return ok;
}

bool
operation_last_reprocess(struct store *store, const char *group, const int64_t *ids, size_t count,
                         int64_t *no, struct err *err)
{
    enum { LOOKED_AT = 1000 };
    struct params params = {0};
    param_text(&params, group);
    param_ids(&params, ids, count < LOOKED_AT ? count : LOOKED_AT);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT greatest((SELECT max(o.no) FROM redrive.operation o WHERE o.action = 'reprocess'"
                "   AND o.group_key = nullif($1, '') AND o.started_at IS NOT NULL),"
                " (SELECT max(b.operation_no) FROM redrive.returned b WHERE b.dlq_id = ANY ($2)))",
                &params, &r, err))
        return false;
    *no = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
operation_last_of_group(struct store *store, const char *group, const int64_t *ids, size_t count, int64_t *no,
                        struct err *err)
{
    struct params params = {0};
    param_text(&params, group);
    param_ids(&params, ids, count);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT greatest((SELECT max(o.no) FROM redrive.operation o"
                "   WHERE o.group_key = nullif($1, '') AND o.state <> 'freezing'),"
                " (SELECT max(b.operation_no) FROM redrive.returned b WHERE b.dlq_id = ANY ($2)))",
                &params, &r, err))
        return false;
    *no = value_int8(r, 0, 0);
    PQclear(r);
    return true;
}

bool
operation_list(struct store *store, int64_t before, size_t limit, struct arena *arena,
               struct operation **operations, size_t *count, struct err *err)
{
    *operations = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, before ? before : INT64_MAX);
    param_int8(&params, (int64_t)limit);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING, OPERATION_COLUMNS " WHERE o.no < $1 ORDER BY o.no DESC LIMIT $2", &params,
                &r, err))
        return false;
    *operations = arena_array(arena, (size_t)PQntuples(r), sizeof **operations);
    bool ok = true;
    for (int i = 0; ok && i < PQntuples(r); i++)
        ok = read_operation(r, i, arena, &(*operations)[(*count)++], err);
    PQclear(r);
    return ok;
}

bool
operation_changes(struct store *store, int64_t *token, bool *changed, struct err *err)
{
    // A sum, not the highest: numbers are drawn before their transactions commit, so a lower one may appear
    // after a higher one. Of operations that are over, events of the newest may still return.
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_READING,
                "SELECT hashtextextended(concat_ws(',', (SELECT max(no) FROM redrive.operation), count(*), "
                "sum(changed)), 0)"
                " FROM redrive.operation WHERE state NOT IN ('done', 'cancelled')"
                " OR no > (SELECT max(no) FROM redrive.operation) - 200",
                NULL, &r, err))
        return false;
    int64_t now = value_int8(r, 0, 0);
    PQclear(r);
    now = now ? now : 1; // 0 is what the caller starts with
    *changed = now != *token;
    *token = now;
    return true;
}

bool
operation_steer(struct store *store, int64_t no, enum steer steer, int32_t rate, const char *reason,
                struct err *err)
{
    static const char *const words[] = {
        [STEER_PAUSE] = "pause",       [STEER_RESUME] = "resume",   [STEER_CANCEL] = "cancel",
        [STEER_RATE] = "rate",         [STEER_APPROVE] = "approve", [STEER_STEPS] = "steps",
        [STEER_SETTLE_FOR] = "settle", [STEER_HALT] = "halt",       [STEER_UNDO] = "undo",
    };
    if (!operations_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, words[steer]);
    param_int4(&params, rate);
    param_text(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.operation_steer($1, $2, $3, $4)", &params, err);
}

bool
operation_tune(struct store *store, int64_t no, enum steer steer, const struct send_plan *plan,
               const char *reason, struct err *err)
{
    if (!operations_may_change(store, err))
        return false;
    double number = steer == STEER_SETTLE_FOR ? (double)plan->settle_for / 1000
                    : plan->halts             ? plan->halt_above
                                              : -1;
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, steer == STEER_STEPS ? "steps" : steer == STEER_SETTLE_FOR ? "settle" : "halt");
    add_steps(&params, plan);
    param_double(&params, number);
    param_text(&params, reason);
    return pg_do(store, FOR_WRITING, "SELECT redrive.operation_tune($1, $2, $3, nullif($4, -1), $5)", &params,
                 err);
}

// An item's state as people see it: of what is queued by its row, chunks have some in flight. $1 operation.
#define ITEM_STATE_OF_1                                                                                      \
    "CASE WHEN i.state = 'queued' AND i.dlq_id IN (SELECT unnest(c.dlq_ids) FROM redrive.chunk c"            \
    " WHERE c.operation_no = $1 AND c.state = 'claimed') THEN 'claimed' ELSE i.state END"

bool
operation_outcomes(struct store *store, int64_t no, struct arena *arena, struct outcome **outcomes,
                   size_t *count, struct err *err)
{
    *outcomes = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, no);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_SCANNING,
                "SELECT " ITEM_STATE_OF_1 ", i.detail, count(*), min(i.dlq_id) FROM "
                "redrive.item i WHERE i.operation_no = $1"
                " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 100",
                &params, &r, err))
        return false;
    *outcomes = arena_array(arena, (size_t)PQntuples(r), sizeof **outcomes);
    for (int i = 0; i < PQntuples(r); i++) {
        struct outcome *outcome = &(*outcomes)[*count];
        if (!item_state_parse(value_bytes(r, i, 0), &outcome->state))
            continue;
        outcome->reason = value_text(r, i, 1, arena);
        outcome->count = value_int8(r, i, 2);
        outcome->first_event = value_int8(r, i, 3);
        (*count)++;
    }
    PQclear(r);
    return true;
}

static void
add_item_states(struct params *params, unsigned states)
{
    const char *names[ITEM_STATE_COUNT];
    size_t count = 0;
    for (unsigned s = 0; s < ITEM_STATE_COUNT; s++) {
        if (states == 0 || (states & 1u << s))
            names[count++] = item_state_name((enum item_state)s);
    }
    param_texts(params, names, count);
}

// Of one value with eight bytes for each; heap.
static int64_t *
read_all_ids(const PGresult *r, size_t *count)
{
    struct bytes all = value_bytes(r, 0, 0);
    *count = all.len / 8;
    int64_t *ids = alloc_array(*count + 1, sizeof *ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = pg_read64(all.data + 8 * i);
    return ids;
}

bool
operation_item_ids(struct store *store, int64_t no, unsigned states, const char *reason, int64_t **ids,
                   size_t *count, struct err *err)
{
    *ids = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, no);
    add_item_states(&params, states);
    param_text(&params, reason);
    // All ids in one value of eight bytes each: a million rows of one number would cost four times as much.
    PGresult *r;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_SCANNING,
                                              "SELECT string_agg(int8send(i.dlq_id), ''::bytea ORDER BY "
                                              "i.dlq_id) FROM redrive.item i"
                                              " WHERE i.operation_no = $1 AND " ITEM_STATE_OF_1 " = ANY ($2)"
                                              " AND ($3::text IS NULL OR i.detail = $3)",
                                              &params, &r, err))
        return false;
    *ids = read_all_ids(r, count);
    PQclear(r);
    return true;
}

bool
operation_event_ids(struct store *store, int64_t no, int64_t **ids, size_t *count, struct err *err)
{
    *ids = NULL;
    *count = 0;
    struct params params = {0};
    param_int8(&params, no);
    PGresult *r;
    if (!pg_has_schema(store, err) ||
        !pg_ask(store, FOR_SCANNING,
                "SELECT string_agg(int8send(a.id), ''::bytea ORDER BY a.id) FROM ("
                " SELECT i.dlq_id AS id FROM redrive.item i WHERE i.operation_no = $1"
                " UNION SELECT b.dlq_id FROM redrive.returned b WHERE b.operation_no = $1) a",
                &params, &r, err))
        return false;
    *ids = read_all_ids(r, count);
    PQclear(r);
    return true;
}

bool
event_decisions(struct store *store, int64_t id, struct arena *arena, struct decision **decisions,
                size_t *count, struct err *err)
{
    *decisions = NULL;
    *count = 0;
    PGresult *r;
    if (!pg_ask_of_event(
            store,
            "SELECT o.no, o.action, CASE WHEN hand.at IS NOT NULL THEN 'claimed' ELSE i.state END,"
            " coalesce('policy ' || o.policy, o.requested_by::text), o.reason, i.detail,"
            " coalesce(hand.at, i.at) AS at"
            " FROM redrive.items_of($1) i JOIN redrive.operation o ON o.no = i.operation_no"
            " LEFT JOIN LATERAL (SELECT c.created_at AS at FROM redrive.chunk c"
            " WHERE i.state = 'queued' AND c.operation_no = i.operation_no AND c.state = 'claimed'"
            " AND i.dlq_id = ANY (c.dlq_ids) LIMIT 1) hand ON true"
            " ORDER BY 7 DESC, o.no DESC",
            id, &r, err))
        return false;
    *decisions = arena_array(arena, (size_t)PQntuples(r), sizeof **decisions);
    for (int i = 0; i < PQntuples(r); i++) {
        struct decision *decision = &(*decisions)[*count];
        if (!action_parse(value_bytes(r, i, 1), &decision->action) ||
            !item_state_parse(value_bytes(r, i, 2), &decision->state))
            continue;
        decision->operation = value_int8(r, i, 0);
        decision->who = value_text(r, i, 3, arena);
        decision->reason = value_text(r, i, 4, arena);
        decision->detail = value_text(r, i, 5, arena);
        decision->at = value_time(r, i, 6);
        (*count)++;
    }
    PQclear(r);
    return true;
}

bool
work_next(struct store *store, const char *worker, bool publishes, const int64_t *skip, size_t skip_count,
          struct arena *arena, struct work *work, struct err *err)
{
    if (!operations_may_change(store, err))
        return false;
    struct params params = {0};
    param_text(&params, worker);
    param_bool(&params, publishes);
    param_ids(&params, skip, skip_count);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING,
                "SELECT no, action, rate, target_topic, requested_by::text, wait_ms, is_observing, recipe, "
                "queued, is_forced, is_later FROM redrive.work_next($1, $2, $3)",
                &params, &r, err))
        return false;
    bool ok = PQntuples(r) == 1 || err_set(err, ERR_NOT_FOUND, "no operation can go on now");
    if (ok) {
        *work = (struct work){
            .no = value_int8(r, 0, 0),
            .rate = value_int4(r, 0, 2),
            .target_topic = value_text(r, 0, 3, arena),
            .requested_by = value_text(r, 0, 4, arena),
            .wait = value_int8(r, 0, 5) * 1000,
            .is_observing = value_bool(r, 0, 6),
            .recipe = value_text(r, 0, 7, arena),
            .queued = value_int8(r, 0, 8),
            .is_forced = value_bool(r, 0, 9),
            .is_later = value_bool(r, 0, 10),
        };
        ok = action_parse(value_bytes(r, 0, 1), &work->action) ||
             err_set(err, ERR_DATA, "operation %lld has an action that this program does not know",
                     (long long)work->no);
    }
    PQclear(r);
    return ok;
}

bool
work_apply(struct store *store, int64_t no, size_t limit, int64_t *applied, int64_t *left, struct err *err)
{
    if (!operations_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_int8(&params, (int64_t)limit);
    PGresult *r;
    if (!pg_ask(store, FOR_WRITING, "SELECT applied, remaining FROM redrive.work_apply($1, $2)", &params, &r,
                err))
        return false;
    *applied = value_int8(r, 0, 0);
    *left = value_int8(r, 0, 1);
    PQclear(r);
    return true;
}

bool
work_note(struct store *store, int64_t no, const char *note, struct err *err)
{
    if (!operations_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    param_text(&params, note);
    return pg_do(store, FOR_WRITING, "SELECT redrive.work_note($1, $2)", &params, err);
}

bool
work_finish(struct store *store, int64_t no, struct err *err)
{
    if (!operations_may_change(store, err))
        return false;
    struct params params = {0};
    param_int8(&params, no);
    return pg_do(store, FOR_WRITING, "SELECT redrive.work_finish($1)", &params, err);
}
