#include "store/watch/notices.h"

#include "store/pg.h"

static const char claim_sql[] =
    "SELECT c.no, c.state = 'firing', c.destination, c.rule, c.instance, c.content->>'fingerprint',"
    " c.content->>'words', c.content->>'severity', c.content->>'summary', c.content->>'description',"
    " c.content->>'runbook', (c.content->>'value')::float8, (c.content->>'since')::int8, "
    "(c.content->>'at')::int8,"
    " c.content->>'labels', c.dropped FROM redrive.watch_alerts_claim($1, $2, $3 * interval '1 microsecond') "
    "c";
static const char labels_sql[] = "SELECT l.key, l.value FROM jsonb_each_text($1::jsonb) l ORDER BY 1";

static bool
read_labels(struct store *store, const char *json, struct arena *arena, struct alert_notice *notice,
            struct err *err)
{
    struct params params = {0};
    PGresult *r;
    param_text(&params, json);
    if (!pg_ask(store, FOR_READING, labels_sql, &params, &r, err))
        return false;
    notice->label_count = (size_t)PQntuples(r);
    notice->labels = arena_array(arena, notice->label_count, sizeof *notice->labels);
    for (int i = 0; i < PQntuples(r); i++)
        notice->labels[i] = (struct alert_label){value_text(r, i, 0, arena), value_text(r, i, 1, arena)};
    PQclear(r);
    return true;
}

bool
notice_claim(struct store *store, const struct notice_queue *queue, struct arena *arena,
             struct alert_notice *notice, bool *is_found, int64_t *dropped, struct err *err)
{
    struct params params = {0};
    PGresult *r;
    *is_found = false;
    param_text(&params, queue->holder);
    param_texts(&params, queue->destinations, queue->count);
    param_int8(&params, queue->lease);
    if (!pg_ask(store, FOR_WRITING, claim_sql, &params, &r, err))
        return false;
    *is_found = PQntuples(r) == 1;
    const char *labels = NULL;
    if (*is_found) {
        *notice = (struct alert_notice){.no = value_int8(r, 0, 0),
                                        .is_firing = value_bool(r, 0, 1),
                                        .destination = value_text(r, 0, 2, arena),
                                        .table = store_info(store)->table,
                                        .rule = value_text(r, 0, 3, arena),
                                        .instance = value_text(r, 0, 4, arena),
                                        .fingerprint = value_text(r, 0, 5, arena),
                                        .condition = value_text(r, 0, 6, arena),
                                        .severity = value_text(r, 0, 7, arena),
                                        .summary = value_text(r, 0, 8, arena),
                                        .description = value_text(r, 0, 9, arena),
                                        .runbook = value_text(r, 0, 10, arena),
                                        .value = value_double(r, 0, 11),
                                        .since = value_int8(r, 0, 12),
                                        .at = value_int8(r, 0, 13)};
        labels = value_text(r, 0, 14, arena);
        *dropped = value_int8(r, 0, 15);
    }
    PQclear(r);
    return !*is_found || read_labels(store, labels, arena, notice, err);
}

bool
notice_sent(struct store *store, const struct notice_queue *queue, int64_t no, struct err *err)
{
    struct params params = {0};
    param_text(&params, queue->holder);
    param_int8(&params, no);
    return pg_do(store, FOR_WRITING, "SELECT redrive.watch_alerts_sent($1, $2)", &params, err);
}

bool
notice_failed(struct store *store, const struct notice_queue *queue, int64_t no, const char *why,
              struct err *err)
{
    struct params params = {0};
    param_text(&params, queue->holder);
    param_int8(&params, no);
    param_text(&params, why);
    return pg_do(store, FOR_WRITING, "SELECT redrive.watch_alerts_failed($1, $2, $3)", &params, err);
}
