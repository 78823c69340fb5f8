// The evidence of one operation: what was asked and by whom, what was frozen, what became of it, and when.
#include "store/report/ask.h"

// $1: its number.
static const struct report_question questions[] = {
    {{.title = "What was asked",
      .shape = REPORT_FACTS,
      REPORT_PART({"operation", "operation", REPORT_NUMBER}, {"action", "action", REPORT_TEXT},
                  {"state", "state", REPORT_TEXT}, {"requested_by", "requested by", REPORT_TEXT},
                  {"host", "from", REPORT_TEXT}, {"reason", "reason", REPORT_TEXT},
                  {"approved_by", "approved by", REPORT_TEXT}, {"what", "what", REPORT_TEXT},
                  {"filter", "filter", REPORT_TEXT}, {"group", "group", REPORT_TEXT},
                  {"target_topic", "to", REPORT_TEXT}, {"recipe", "recipe", REPORT_TEXT},
                  {"rate", "events/s at most", REPORT_COUNT}, {"steps", "steps", REPORT_TEXT},
                  {"halt_above", "halts above", REPORT_PERCENT},
                  {"undoes", "undoes operation", REPORT_NUMBER}, {"created_at", "created", REPORT_TIME},
                  {"begins_at", "to begin", REPORT_TIME}, {"started_at", "started", REPORT_TIME},
                  {"finished_at", "finished", REPORT_TIME})},
     "SELECT o.no, o.action, o.state, coalesce('policy ' || o.policy, o.requested_by::text), o.host, "
     "o.reason, o.approved_by::text, o.scope,"
     " o.filter_text, o.group_key, o.target_topic, o.recipe, nullif(o.rate, -1)::int8,"
     " nullif(array_to_string(o.steps || NULL::integer, ', ', 'rest'), 'rest'), o.halt_above::float8, "
     "o.undoes,"
     " o.created_at, o.begins_at, o.started_at, o.finished_at FROM redrive.operation o WHERE o.no = $1"},
    {{.name = "counts",
      .title = "Its own counts",
      .shape = REPORT_FACTS,
      REPORT_PART({"total", "frozen", REPORT_COUNT}, {"queued", "queued", REPORT_COUNT},
                  {"claimed", "claimed", REPORT_COUNT}, {"in_doubt", "in doubt", REPORT_COUNT},
                  {"done", "done", REPORT_COUNT}, {"refused", "refused", REPORT_COUNT},
                  {"skipped", "skipped", REPORT_COUNT}, {"cancelled", "cancelled", REPORT_COUNT},
                  {"returned", "returned", REPORT_COUNT}, {"taken", "taken", REPORT_COUNT})},
     "SELECT o.total, o.queued, o.claimed, o.in_doubt, o.done, o.refused, o.skipped, o.cancelled, "
     "o.returned, "
     "o.taken FROM redrive.operation o WHERE o.no = $1"},
    {{.name = "outcomes",
      .title = "Its events, counted one by one",
      .none = "It has no events.",
      .shape = REPORT_ROWS,
      REPORT_PART({"state", "outcome", REPORT_TEXT}, {"reason", "reason", REPORT_TEXT},
                  {"events", "events", REPORT_COUNT}, {"first_id", "lowest id", REPORT_NUMBER},
                  {"last_id", "highest id", REPORT_NUMBER})},
     "SELECT i.state, i.detail, count(*)::int8, min(i.dlq_id), max(i.dlq_id) FROM redrive.item i"
     " WHERE i.operation_no = $1 GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2 LIMIT 100"},
    {{.name = "ids",
      .title = "Ranges of ids",
      .none = "It has no events.",
      .shape = REPORT_ROWS,
      REPORT_PART({"first_id", "from", REPORT_NUMBER}, {"last_id", "to", REPORT_NUMBER},
                  {"events", "events", REPORT_COUNT})},
     "SELECT min(r.id), max(r.id), count(*)::int8 FROM (SELECT i.dlq_id AS id, i.dlq_id - row_number() OVER "
     "(ORDER "
     "BY i.dlq_id) AS run FROM redrive.item i WHERE i.operation_no = $1) r GROUP BY r.run ORDER BY 1 LIMIT "
     "100"},
    {{.name = "targets",
      .title = "Where its records are",
      .none = "No record of it is known.",
      .shape = REPORT_ROWS,
      REPORT_PART({"topic", "topic", REPORT_TEXT}, {"partition", "partition", REPORT_NUMBER},
                  {"events", "events", REPORT_COUNT}, {"first_offset", "first offset", REPORT_NUMBER},
                  {"last_offset", "last offset", REPORT_NUMBER}, {"taken", "taken", REPORT_COUNT},
                  {"readers", "read by", REPORT_TEXT})},
     "SELECT s.topic, s.partition::int8, sum(s.events)::int8, min(s.low), max(s.high), sum(s.taken)::int8, "
     "max(s.readers) FROM redrive.sent s WHERE s.operation_no = $1 GROUP BY 1, 2 ORDER BY 1, 2"},
    {{.name = "chunks",
      .title = "Kafka transactions",
      .none = "None.",
      .shape = REPORT_ROWS,
      REPORT_PART({"state", "state", REPORT_TEXT}, {"chunks", "chunks", REPORT_COUNT},
                  {"events", "events", REPORT_COUNT}, {"first_at", "first", REPORT_TIME},
                  {"last_at", "last", REPORT_TIME})},
     "SELECT c.state, count(*)::int8, sum(c.events)::int8, min(c.created_at), max(c.decided_at) FROM "
     "redrive.chunk "
     "c WHERE c.operation_no = $1 GROUP BY 1 ORDER BY 1"},
    {{.name = "returned",
      .title = "Returned",
      .none = "Nothing returned.",
      .shape = REPORT_ROWS,
      REPORT_PART({"group", "group", REPORT_TEXT}, {"events", "events", REPORT_COUNT},
                  {"last_at", "last", REPORT_TIME}, {"error", "error", REPORT_TEXT})},
     "SELECT lpad(to_hex(r.group_key), 16, '0'), count(*)::int8, max(r.at), coalesce(g.error_class || ': ', "
     "'') || "
     "g.pattern FROM redrive.returned r LEFT JOIN redrive.rollup_group g ON g.key = r.group_key WHERE "
     "r.operation_no = $1 GROUP BY r.group_key, g.error_class, g.pattern ORDER BY 2 DESC, 1 LIMIT 50"},
    // A row per chunk repeats what the transactions say.
    {{.name = "timeline",
      .title = "Timeline",
      .none = "Nothing is written down.",
      .shape = REPORT_ROWS,
      REPORT_PART({"at", "at", REPORT_TIME}, {"who", "who", REPORT_TEXT}, {"host", "from", REPORT_TEXT},
                  {"action", "what", REPORT_TEXT}, {"events", "events", REPORT_COUNT},
                  {"reason", "reason", REPORT_TEXT}, {"detail", "detail", REPORT_TEXT})},
     "SELECT a.at, a.who::text, a.host, a.action, a.events, a.reason, a.detail FROM redrive.audit a WHERE "
     "a.operation_no = $1 AND a.action NOT IN ('finish', 'apply') ORDER BY a.no LIMIT 1000"},
};

bool
report_read_operation(struct store *store, int64_t no, struct arena *arena, struct report *report,
                      struct err *err)
{
    if (!pg_has_schema(store, err))
        return false;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct params params = {0};
        param_int8(&params, no);
        if (!report_ask(store, &questions[i], &params, arena, report, err))
            return false;
        if (i == 0 && report->tables[report->count - 1].rows == 0)
            return err_set(err, ERR_NOT_FOUND, "there is no operation %lld", (long long)no);
    }
    return true;
}
