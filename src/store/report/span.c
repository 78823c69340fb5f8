// The review of a stretch of time.
#include "store/report/ask.h"

// $1, $2: since and until, µs since 1970; $3: the zone of the contract table.
#define SINCE "(timestamptz 'epoch' + $1 * interval '1 us')"
#define UNTIL "(timestamptz 'epoch' + $2 * interval '1 us')"
#define WITHIN " BETWEEN " SINCE " AND " UNTIL
// Who asked for an operation, for people: the policy, or the login.
#define BY "coalesce('policy ' || o.policy, o.requested_by::text)"
#define WALL_WITHIN " BETWEEN (" SINCE " AT TIME ZONE $3) AND (" UNTIL " AT TIME ZONE $3)"

static const struct report_question questions[SPAN_PARTS] = {
    [SPAN_SUMMARY] =
        {{.title = "Summary",
          .shape = REPORT_FACTS,
          REPORT_PART({"since", "since", REPORT_TIME}, {"until", "until", REPORT_TIME},
                      {"arrived", "arrived", REPORT_COUNT}, {"resolved", "resolved", REPORT_COUNT},
                      {"discarded", "discarded", REPORT_COUNT}, {"pending", "pending now", REPORT_COUNT},
                      {"oldest_pending_at", "oldest pending", REPORT_TIME})},
         "SELECT " SINCE ", " UNTIL ","
         " (SELECT count(*) FROM :\"events\" e WHERE e.created_at" WALL_WITHIN ")::int8,"
         " (SELECT count(*) FROM :\"events\" e WHERE e.status = 'RESOLVED' AND e.resolved_at" WALL_WITHIN
         ")::int8,"
         " (SELECT count(*) FROM :\"events\" e WHERE e.status = 'DISCARDED' AND e.resolved_at" WALL_WITHIN
         ")::int8,"
         " (SELECT count(*) FROM :\"events\" e WHERE e.status = 'PENDING')::int8,"
         " (SELECT min(e.created_at) FROM :\"events\" e WHERE e.status = 'PENDING')::timestamp AT TIME ZONE "
         "$3"},
    [SPAN_DAYS] =
        {{.name = "days",
          .title = "In and out by day",
          .none = "No day.",
          .shape = REPORT_ROWS,
          REPORT_PART({"day", "day", REPORT_TEXT}, {"arrived", "arrived", REPORT_COUNT},
                      {"resolved", "resolved", REPORT_COUNT}, {"discarded", "discarded", REPORT_COUNT})},
         "WITH came AS (SELECT e.created_at::date AS day, count(*) AS n FROM :\"events\" e WHERE "
         "e.created_at" WALL_WITHIN " GROUP BY 1),"
         " went AS (SELECT e.resolved_at::date AS day, count(*) FILTER (WHERE e.status = 'RESOLVED') AS "
         "resolved,"
         " count(*) FILTER (WHERE e.status = 'DISCARDED') AS discarded FROM :\"events\" e WHERE "
         "e.status IN ('RESOLVED', 'DISCARDED') AND e.resolved_at" WALL_WITHIN " GROUP BY 1)"
         " SELECT to_char(d.day, 'YYYY-MM-DD'), coalesce(came.n, 0)::int8, coalesce(went.resolved, 0)::int8,"
         " coalesce(went.discarded, 0)::int8 FROM generate_series(date_trunc('day', " SINCE
         " AT TIME ZONE $3), " UNTIL " AT TIME ZONE $3, interval '1 day') AS d (day)"
         " LEFT JOIN came ON came.day = d.day::date LEFT JOIN went ON went.day = d.day::date ORDER BY d.day"},
    [SPAN_RETURNED] =
        {{.name = "returned",
          .title = "Returned after a reprocess",
          .none = "Nothing returned.",
          .shape = REPORT_ROWS,
          REPORT_PART({"group", "group", REPORT_TEXT}, {"events", "events", REPORT_COUNT},
                      {"operations", "operations", REPORT_COUNT}, {"most_times", "most times", REPORT_COUNT},
                      {"last_at", "last", REPORT_TIME}, {"error", "error", REPORT_TEXT})},
         "SELECT lpad(to_hex(r.group_key), 16, '0'), count(*)::int8, count(DISTINCT r.operation_no)::int8,"
         " max(r.times)::int8, max(r.at), coalesce(g.error_class || ': ', '') || g.pattern FROM "
         "redrive.returned r"
         " LEFT JOIN redrive.rollup_group g ON g.key = r.group_key WHERE r.at" WITHIN
         " GROUP BY r.group_key, g.error_class, g.pattern ORDER BY 2 DESC, 1 LIMIT 50"},
    [SPAN_REPROCESS] =
        {{.name = "reprocess",
          .title = "Reprocesses that began",
          .shape = REPORT_FACTS,
          REPORT_PART({"sent", "sent", REPORT_COUNT}, {"taken", "taken", REPORT_COUNT},
                      {"returned", "returned", REPORT_COUNT}, {"refused", "refused", REPORT_COUNT})},
         "SELECT coalesce(sum(o.done), 0)::int8, sum(o.taken)::int8, coalesce(sum(o.returned), 0)::int8,"
         " coalesce(sum(o.refused), 0)::int8 FROM redrive.operation o WHERE o.action = 'reprocess' AND $3 <> "
         "''"
         " AND o.started_at" WITHIN},
    [SPAN_OPERATIONS] =
        {{.name = "operations",
          .title = "Decisions",
          .none = "Nothing was decided.",
          .shape = REPORT_ROWS,
          REPORT_PART({"operation", "no", REPORT_NUMBER}, {"action", "what", REPORT_TEXT},
                      {"state", "state", REPORT_TEXT}, {"requested_by", "who", REPORT_TEXT},
                      {"approved_by", "approved by", REPORT_TEXT}, {"total", "events", REPORT_COUNT},
                      {"done", "done", REPORT_COUNT}, {"refused", "refused", REPORT_COUNT},
                      {"skipped", "skipped", REPORT_COUNT}, {"returned", "returned", REPORT_COUNT},
                      {"created_at", "created", REPORT_TIME}, {"what", "of", REPORT_TEXT},
                      {"reason", "reason", REPORT_TEXT})},
         "SELECT o.no, o.action, o.state, " BY ", o.approved_by::text, o.total, o.done, "
         "o.refused,"
         " o.skipped, o.returned, o.created_at, o.scope, o.reason FROM redrive.operation o WHERE $3 <> '' AND"
         " (o.created_at" WITHIN " OR o.started_at" WITHIN " OR o.finished_at" WITHIN
         ") ORDER BY o.no LIMIT 1000"},
    [SPAN_PEOPLE] =
        {{.name = "people",
          .title = "People",
          .none = "Nobody changed anything.",
          .shape = REPORT_ROWS,
          REPORT_PART({"who", "who", REPORT_TEXT}, {"operations", "operations", REPORT_COUNT},
                      {"events", "events", REPORT_COUNT}, {"approved", "approved", REPORT_COUNT},
                      {"steered", "steered", REPORT_COUNT},
                      {"corrected", "corrected by hand", REPORT_COUNT})},
         "SELECT w.who, sum(w.asked)::int8, sum(w.events)::int8, sum(w.approved)::int8, sum(w.steered)::int8,"
         " sum(w.corrected)::int8 FROM ("
         "SELECT " BY " AS who, 1 AS asked, o.total - o.cancelled AS events, 0 AS approved, 0 AS steered, 0 "
         "AS "
         "corrected FROM redrive.operation o WHERE $3 <> '' AND o.created_at" WITHIN
         " UNION ALL SELECT a.who::text, 0, 0, (a.action = 'approve')::integer, (a.action <> "
         "'approve')::integer, 0"
         " FROM redrive.audit a WHERE a.at" WITHIN
         " AND a.action IN ('approve', 'pause', 'resume', 'cancel', 'rate', 'steps', 'settle')"
         " UNION ALL SELECT r.author::text, 0, 0, 0, 0, 1 FROM redrive.revision r WHERE r.operation_no IS "
         "NULL"
         " AND r.at" WITHIN ") w GROUP BY w.who ORDER BY 2 DESC, 1"},
    [SPAN_FOLLOW_UP] =
        {{.name = "follow_up",
          .title = "To follow up",
          .none = "No operation is open.",
          .shape = REPORT_ROWS,
          REPORT_PART({"operation", "no", REPORT_NUMBER}, {"action", "what", REPORT_TEXT},
                      {"state", "state", REPORT_TEXT}, {"requested_by", "who", REPORT_TEXT},
                      {"open", "open", REPORT_COUNT}, {"in_doubt", "in doubt", REPORT_COUNT},
                      {"created_at", "created", REPORT_TIME}, {"begins_at", "begins", REPORT_TIME},
                      {"note", "note", REPORT_TEXT})},
         "SELECT o.no, o.action, o.state, " BY ", o.queued + o.claimed, o.in_doubt, "
         "o.created_at,"
         " CASE WHEN o.started_at IS NULL THEN o.begins_at END, o.state_note FROM redrive.operation o"
         " WHERE o.state NOT IN ('done', 'cancelled') AND $1 <= $2 AND $3 <> '' ORDER BY o.no"},
};

static void
add_span(struct params *params, const struct store *store, const struct report_span *span)
{
    param_int8(params, span->since);
    param_int8(params, span->until);
    param_text(params, store->zone);
}

bool
report_read_span(struct store *store, enum report_of_span which, const struct report_span *span,
                 struct arena *arena, struct report *report, struct err *err)
{
    struct params params = {0};
    add_span(&params, store, span);
    return pg_has_schema(store, err) && report_ask(store, &questions[which], &params, arena, report, err);
}

bool
report_new_groups(struct store *store, const struct report_span *span, struct arena *arena, uint64_t **groups,
                  size_t *count, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    add_span(&params, store, span);
    if (!pg_ask(store, FOR_SCANNING,
                "SELECT s.group_key FROM redrive.rollup_seen s WHERE $3 <> ''"
                " AND to_timestamp(s.first_at + 946684800::int8)" WITHIN " ORDER BY 1",
                &params, &r, err))
        return false;
    *count = (size_t)PQntuples(r);
    *groups = arena_array(arena, *count, sizeof **groups);
    for (size_t i = 0; i < *count; i++)
        (*groups)[i] = (uint64_t)value_int8(r, (int)i, 0);
    PQclear(r);
    return true;
}
