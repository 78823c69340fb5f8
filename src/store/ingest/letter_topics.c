#include "store/ingest/letter_topics.h"

#include "store/pg.h"

// One that was away for 15 s has lost its partitions (src/store/sql/ingest.sql).
static const char topics_sql[] =
    "SELECT p.topic, p.read, p.left_over, EXISTS (SELECT FROM redrive.ingester i WHERE i.cluster = p.cluster"
    "   AND p.topic = ANY (i.topics) AND i.seen_at > pg_catalog.clock_timestamp() - interval '15 s'),"
    " coalesce(a.count, 0), a.newest"
    " FROM (SELECT q.cluster, q.topic, coalesce(sum(q.next_offset), 0)::int8 AS read,"
    "   CASE WHEN bool_and(q.end_offset IS NOT NULL)"
    "    THEN sum(greatest(q.end_offset - coalesce(q.next_offset, 0), 0))::int8 ELSE -1 END AS left_over"
    "   FROM redrive.ingest_position q GROUP BY q.cluster, q.topic) p"
    " LEFT JOIN (SELECT x.cluster, x.topic, count(*), (array_agg(x.sentence ORDER BY x.no DESC))[1] AS newest"
    "   FROM redrive.alarm x WHERE x.at > pg_catalog.now() - interval '7 days' GROUP BY x.cluster, x.topic) a"
    "   ON a.cluster = p.cluster AND a.topic = p.topic"
    " ORDER BY p.left_over DESC, a.count IS NULL, p.topic COLLATE \"C\"";

bool
letter_topics_list(struct store *store, struct arena *arena, struct letter_topic **topics, size_t *count,
                   struct err *err)
{
    PGresult *r;
    *count = 0;
    if (!pg_has_schema(store, err) || !pg_ask(store, FOR_READING, topics_sql, NULL, &r, err))
        return false;
    *topics = arena_array(arena, (size_t)PQntuples(r) + 1, sizeof **topics);
    for (int i = 0; i < PQntuples(r); i++)
        (*topics)[(*count)++] = (struct letter_topic){
            .name = value_text(r, i, 0, arena),
            .read = value_int8(r, i, 1),
            .left = value_int8(r, i, 2),
            .is_read = value_bool(r, i, 3),
            .alarms = value_int8(r, i, 4),
            .alarm = PQgetisnull(r, i, 5) ? NULL : value_text(r, i, 5, arena),
        };
    PQclear(r);
    return true;
}
