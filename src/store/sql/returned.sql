-- Events that failed again after they were republished, joined to the operation that republished them.

CREATE TABLE redrive.returned (
    dlq_id       bigint PRIMARY KEY, -- the row that returned
    operation_no bigint NOT NULL,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_id      bigint, -- the row that was republished
    sent_at      timestamptz,
    times        integer NOT NULL DEFAULT 1, -- how often the event has returned by now
    known_by     text NOT NULL DEFAULT 'event id',
    -- The groups of both rows, as the program that looked knows them; NULL: nobody has looked yet.
    group_key    bigint,
    sent_group   bigint
);
CREATE INDEX returned_ungrouped ON redrive.returned (dlq_id) WHERE group_key IS NULL;
CREATE INDEX returned_sent ON redrive.returned (sent_id);
CREATE INDEX returned_operation ON redrive.returned (operation_no, sent_at);

-- How far the contract table was searched for them. `sure` trails `seen` by ten seconds: a consumer may be quicker than the end of the chunk.
CREATE TABLE redrive.returned_position (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    sure    bigint NOT NULL DEFAULT 0,
    seen    bigint NOT NULL DEFAULT 0,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    looked_at timestamptz -- the last search; NULL: none yet
) WITH (fillfactor = 10);
INSERT INTO redrive.returned_position DEFAULT VALUES;

-- Ids up to `sure` that no row had when it passed them. Sequences are not commit order, so a transaction that was open may still bring rows with
-- them: they are looked for until every transaction that had begun to write by then has ended, and for ten seconds at least.
CREATE TABLE redrive.returned_gap (
    low      bigint NOT NULL,
    high     bigint NOT NULL,
    ended_by bigint NOT NULL, -- the transactions that may bring them are below this one
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

---- functions

-- The event whose record redrive sent to this place of a topic. p_cluster NULL: nobody knows which Kafka the place is of. Chunks are in flight beside
-- each other, so a range of offsets may lie within another one: 64 of those that end there or behind it are enough, since so many are never in flight
-- together. A topic that was made anew has old places too: the newest counts.
-- Plan: ranges by index, in its order, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive._sent_at(p_cluster text, p_topic text, p_partition integer, p_offset bigint, OUT operation_no bigint, OUT sent_id bigint,
                                            OUT sent_at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
    SELECT f.operation_no, f.dlq_ids[f.n], f.sent_at INTO operation_no, sent_id, sent_at
      FROM (SELECT s.operation_no, s.dlq_ids, s.sent_at,
                   CASE WHEN s.offsets IS NULL THEN (p_offset - s.low + 1)::integer ELSE array_position(s.offsets, (p_offset - s.low)::integer) END AS n
              FROM (SELECT x.operation_no, x.cluster, x.low, x.dlq_ids, x.offsets, x.sent_at FROM redrive.sent x
                     WHERE x.topic = p_topic AND x.partition = p_partition AND x.high >= p_offset ORDER BY x.high LIMIT 64) s
             WHERE s.low <= p_offset AND s.cluster = coalesce(p_cluster, s.cluster) OFFSET 0) f
     WHERE f.n IS NOT NULL ORDER BY f.sent_at DESC LIMIT 1;
END $$;

-- The item by whose record a dead letter was made, as the headers say that were sent along, where the record is kept. cluster: of the dead letter, also
-- where no item is found; NULL: it is none. The numbers are those of one table of dead letters, or of one database: another one has the same. A chunk has
-- an id that only one has.
-- Plan: with the settings of _sent_item.
CREATE OR REPLACE FUNCTION redrive._sent_headers(p_id bigint, p_at timestamptz, OUT operation_no bigint, OUT sent_id bigint, OUT sent_at timestamptz,
                                                 OUT cluster text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_event text;
    v_operation text;
    v_chunk text;
BEGIN
    SELECT encode(r.header_values[array_position(r.header_names, 'redrive-event-id')], 'escape'),
           encode(r.header_values[array_position(r.header_names, 'redrive-operation')], 'escape'),
           encode(r.header_values[array_position(r.header_names, 'redrive-chunk-id')], 'escape'), r.cluster
      INTO v_event, v_operation, v_chunk, cluster
      FROM redrive.record r WHERE r.dlq_id = p_id;
    IF v_event ~ '^[0-9]{1,18}$' AND v_operation ~ '^[0-9]{1,18}$' AND (CASE WHEN v_chunk ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
         THEN EXISTS (SELECT FROM redrive.chunk c WHERE c.id = v_chunk::uuid AND c.operation_no::text = v_operation) ELSE true END) THEN
        SELECT i.operation_no, i.dlq_id, i.at INTO operation_no, sent_id, sent_at FROM redrive.items_of(v_event::bigint) i
         WHERE i.operation_no = v_operation::bigint AND i.dlq_id <> p_id AND i.state = 'done' AND i.event_id IS NOT NULL AND i.at <= p_at;
    END IF;
END $$;

-- The item by which a failed event was republished last, if it was. It is known by the headers that were sent along, where the record is kept; else
-- by the place of the record that failed, where redrive sent one, whatever its consumer copied and whatever its clock says; else by its event id, but
-- for dead letters of another identity, whose topics have the same key; else by its correlation id, for the same type of the same source; else by the place of the original.
-- Plan: items and events by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive._sent_item(p_id bigint, p_at timestamp, p_event_id text, p_correlation uuid, p_type text, p_source_id text,
                                    p_topic text, p_partition integer, p_offset bigint, OUT operation_no bigint, OUT sent_id bigint,
                                    OUT sent_at timestamptz, OUT known_by text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_at timestamptz := p_at AT TIME ZONE (SELECT zone FROM redrive.install);
    v_source integer := redrive._source(p_topic, p_partition, p_offset);
    v_cluster text;
BEGIN
    known_by := 'headers';
    SELECT h.operation_no, h.sent_id, h.sent_at, h.cluster INTO operation_no, sent_id, sent_at, v_cluster FROM redrive._sent_headers(p_id, v_at) h;
    IF operation_no IS NULL AND p_offset IS NOT NULL THEN
        known_by := 'sent place';
        SELECT s.operation_no, s.sent_id, s.sent_at INTO operation_no, sent_id, sent_at
          FROM redrive._sent_at(v_cluster, p_topic, p_partition, p_offset) s
         WHERE s.sent_id <> p_id -- what is one of the operation's own events was there before it sent anything
           AND NOT EXISTS (SELECT FROM redrive.items_of(p_id) i WHERE i.operation_no = s.operation_no);
    END IF;
    IF operation_no IS NULL THEN
        known_by := 'event id';
        SELECT i.operation_no, i.dlq_id, i.at INTO operation_no, sent_id, sent_at FROM redrive.items_sent(ARRAY[p_event_id]) i
         WHERE i.dlq_id <> p_id AND i.at <= v_at
           AND NOT EXISTS (SELECT FROM redrive.record a JOIN redrive.record b ON b.dlq_id = i.dlq_id WHERE a.dlq_id = p_id AND a.identity <> b.identity)
         ORDER BY i.at DESC LIMIT 1;
    END IF;
    IF operation_no IS NULL AND p_correlation IS NOT NULL THEN
        known_by := 'correlation id';
        SELECT i.operation_no, i.dlq_id, i.at INTO operation_no, sent_id, sent_at FROM (
            SELECT r.operation_no, r.dlq_id, r.at FROM redrive.operation_item r
             WHERE r.correlation = p_correlation AND NOT r.is_live AND r.correlation IS NOT NULL AND r.state = 'done'
            UNION ALL
            SELECT b.operation_no, b.dlq_ids[n], b.at
              FROM redrive._batches_with_keys(ARRAY[uuid_hash(p_correlation)]) b
             CROSS JOIN LATERAL unnest(array_positions(b.correlations, p_correlation)) AS n) i
         WHERE i.dlq_id <> p_id AND i.at <= v_at
           AND EXISTS (SELECT FROM :"events" x WHERE x.id = i.dlq_id AND x.event_type = p_type
                                                 AND coalesce(x.source_id, '') = coalesce(p_source_id, ''))
         ORDER BY i.at DESC LIMIT 1;
    END IF;
    IF operation_no IS NULL AND v_source <> 0 THEN
        known_by := 'coordinates';
        SELECT i.operation_no, i.dlq_id, i.at INTO operation_no, sent_id, sent_at FROM (
            SELECT r.operation_no, r.dlq_id, r.at FROM redrive.operation_item r
             WHERE r.source = v_source AND r.source_offset = p_offset AND r.source <> 0 AND NOT r.is_live AND r.event_id IS NOT NULL
               AND r.state = 'done'
            UNION ALL
            SELECT b.operation_no, b.dlq_ids[n], b.at
              FROM redrive._batches_with_keys(ARRAY[hashint8(p_offset # (v_source::bigint << 32))]) b
             CROSS JOIN LATERAL unnest(array_positions(b.source_offsets, p_offset)) AS n WHERE b.sources[n] = v_source) i
         WHERE i.dlq_id <> p_id AND i.at <= v_at
           AND EXISTS (SELECT FROM :"events" x WHERE x.id = i.dlq_id AND x.kafka_topic = p_topic
                                                 AND x.kafka_partition = p_partition AND x.kafka_offset = p_offset)
         ORDER BY i.at DESC LIMIT 1;
    END IF;
END $$;

-- The rows, at most p_limit, that were committed since at ids that had none (returned_gap). Forgets gaps that nobody can fill any more.
-- Plan: gaps one by one, by key.
CREATE OR REPLACE FUNCTION redrive._returned_late(p_limit bigint) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
DECLARE
    v_floor bigint := txid_snapshot_xmin(txid_current_snapshot()); -- before the look, which sees all that ended below it
    v_ids bigint[];
    v_gaps bigint[]; -- of each id, the gap's low
BEGIN
    SELECT coalesce(array_agg(f.id ORDER BY f.id), '{}'), array_agg(f.low ORDER BY f.id) INTO v_ids, v_gaps
      FROM (SELECT e.id, g.low FROM redrive.returned_gap g
             CROSS JOIN LATERAL (SELECT x.id FROM :"events" x WHERE x.id >= g.low AND x.id <= g.high ORDER BY x.id LIMIT p_limit) e
             ORDER BY e.id LIMIT p_limit) f;
    IF cardinality(v_ids) > 0 THEN
        WITH filled AS (DELETE FROM redrive.returned_gap g WHERE g.low IN (SELECT unnest(v_gaps)) RETURNING g.*),
        ends AS (
            SELECT f.low AS gap, f.low - 1 AS id, f.ended_by, f.noted_at FROM filled f
            UNION ALL SELECT f.low, w.id, f.ended_by, f.noted_at FROM filled f JOIN unnest(v_ids, v_gaps) AS w (id, gap) ON w.gap = f.low
            UNION ALL SELECT f.low, f.high + 1, f.ended_by, f.noted_at FROM filled f)
        INSERT INTO redrive.returned_gap (low, high, ended_by, noted_at)
        SELECT p.was + 1, p.id - 1, p.ended_by, p.noted_at
          FROM (SELECT e.*, lag(e.id) OVER (PARTITION BY e.gap ORDER BY e.id) AS was FROM ends e) p WHERE p.id - 1 > p.was;
    END IF;
    IF cardinality(v_ids) < p_limit THEN
        DELETE FROM redrive.returned_gap WHERE ended_by <= v_floor AND noted_at < clock_timestamp() - interval '10 s';
    END IF;
    RETURN v_ids;
END $$;

-- Moves `sure` from p_from to p_to, the id of a row, and notes the ids between that no row has. The 20000 highest gaps are kept, lest a transaction
-- that is left open for days makes each look dearer.
CREATE OR REPLACE FUNCTION redrive._returned_pass(p_from bigint, p_to bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_kept CONSTANT bigint := 20000;
BEGIN
    INSERT INTO redrive.returned_gap (low, high, ended_by)
    SELECT p.was + 1, p.id - 1, txid_snapshot_xmax(txid_current_snapshot())
      FROM (SELECT w.id, lag(w.id, 1, p_from) OVER (ORDER BY w.id) AS was
              FROM (SELECT e.id FROM :"events" e WHERE e.id > p_from AND e.id <= p_to UNION SELECT p_to) w) p WHERE p.id - 1 > p.was;
    IF (SELECT count(*) FROM redrive.returned_gap) > v_kept THEN
        DELETE FROM redrive.returned_gap WHERE low < (SELECT g.low FROM redrive.returned_gap g ORDER BY g.low DESC OFFSET v_kept - 1 LIMIT 1);
    END IF;
    UPDATE redrive.returned_position SET sure = p_to;
END $$;

-- Counts those of these rows whose events were republished before, each for the operation that did it last.
CREATE OR REPLACE FUNCTION redrive._returned_count(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_no bigint;
BEGIN
    FOR v_no IN
        WITH found AS (
            INSERT INTO redrive.returned (dlq_id, operation_no, sent_id, sent_at, known_by, times)
            SELECT e.id, i.operation_no, i.sent_id, i.sent_at, i.known_by,
                   1 + coalesce((SELECT c.times FROM redrive.returned c WHERE c.dlq_id = i.sent_id), 0)
              FROM unnest(p_ids) AS w (id)
             CROSS JOIN LATERAL (SELECT x.id, x.created_at, x.event_id, x.correlation_id, x.event_type, x.source_id, x.kafka_topic,
                                        x.kafka_partition, x.kafka_offset FROM :"events" x WHERE x.id = w.id LIMIT 1) e
             CROSS JOIN LATERAL redrive._sent_item(e.id, e.created_at, e.event_id, e.correlation_id, e.event_type, e.source_id, e.kafka_topic,
                                                   e.kafka_partition, e.kafka_offset) i
             WHERE i.operation_no IS NOT NULL AND NOT EXISTS (SELECT FROM redrive.returned c WHERE c.dlq_id = e.id)
            ON CONFLICT DO NOTHING RETURNING operation_no, sent_id),
        -- A consumer may write one failure twice: it counts once.
        per AS (SELECT b.operation_no, count(DISTINCT b.sent_id) AS n FROM found b
                 WHERE NOT EXISTS (SELECT FROM redrive.returned c WHERE c.sent_id = b.sent_id AND c.operation_no = b.operation_no)
                 GROUP BY b.operation_no)
        UPDATE redrive.operation o SET returned = returned + per.n, changed = nextval('redrive.change')
          FROM per WHERE o.no = per.operation_no RETURNING o.no
    LOOP
        PERFORM redrive._operation_judge(v_no, 0);
    END LOOP;
    PERFORM redrive._revisions_carry(c.sent_id, c.dlq_id) FROM redrive.returned c
      WHERE c.dlq_id = ANY (p_ids) AND c.sent_id <> c.dlq_id AND (SELECT EXISTS (SELECT FROM redrive.revision))
        AND EXISTS (SELECT FROM redrive.revision r WHERE r.dlq_id = c.sent_id);
END $$;

-- Searches rows that arrived since the last call, and as many that were committed late, at most p_limit of each, for events that were republished
-- before. One worker at a time; others return false. True: all rows are searched.
CREATE OR REPLACE FUNCTION redrive.returned_find(p_limit bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    w redrive.returned_position;
    v_top bigint;
    v_late bigint[];
    v_ahead bigint[];
BEGIN
    SELECT * INTO w FROM redrive.returned_position FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE redrive.returned_position SET looked_at = clock_timestamp();
    IF NOT EXISTS (SELECT FROM redrive.chunk WHERE state IN ('claimed', 'in doubt'))
       AND NOT redrive.has_sent() THEN
        SELECT coalesce(max(e.id), 0) INTO v_top FROM :"events" e; -- nothing was sent, so nothing can return
        UPDATE redrive.returned_position SET sure = v_top, seen = v_top, seen_at = clock_timestamp() WHERE seen <> v_top;
        DELETE FROM redrive.returned_gap;
        RETURN true;
    END IF;
    v_late := redrive._returned_late(p_limit);
    v_ahead := ARRAY(SELECT e.id FROM :"events" e WHERE e.id > w.sure ORDER BY e.id LIMIT p_limit);
    v_top := v_ahead[cardinality(v_ahead)];
    IF cardinality(v_late) + cardinality(v_ahead) > 20 THEN -- each would scan the keys outside the index
        PERFORM redrive.work_index_keys(1000);
    END IF;
    IF cardinality(v_late) + cardinality(v_ahead) > 0 THEN
        PERFORM redrive._returned_count(v_late || v_ahead);
    END IF;
    IF cardinality(v_ahead) = p_limit THEN -- a full page
        PERFORM redrive._returned_pass(w.sure, v_top);
        UPDATE redrive.returned_position SET seen = v_top, seen_at = clock_timestamp();
    ELSIF cardinality(v_ahead) > 0 AND w.seen_at < clock_timestamp() - interval '10 s' THEN
        IF w.seen > w.sure THEN
            PERFORM redrive._returned_pass(w.sure, w.seen);
        END IF;
        UPDATE redrive.returned_position SET seen = v_top, seen_at = clock_timestamp();
    END IF;
    RETURN cardinality(v_late) < p_limit AND cardinality(v_ahead) < p_limit;
END $$;

-- Events of an operation whose own row is pending again: some consumers reopen it instead of writing another. Looks at its ten newest chunks.
CREATE OR REPLACE FUNCTION redrive._returned_reopened(p_no bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    WITH sent AS MATERIALIZED (
        SELECT w.id, c.created_at AS at
          FROM (SELECT dlq_ids, created_at FROM redrive.chunk
                 WHERE operation_no = p_no AND state = 'committed' ORDER BY decided_at DESC LIMIT 10) c, unnest(c.dlq_ids) AS w(id)),
    found AS (
        INSERT INTO redrive.returned AS had (dlq_id, operation_no, sent_id, sent_at, known_by)
        SELECT s.id, p_no, s.id, s.at, 'its row'
          FROM sent s CROSS JOIN LATERAL (SELECT FROM :"events" x WHERE x.id = s.id AND coalesce(x.status, '') = 'PENDING' OFFSET 0) e
         WHERE NOT EXISTS (SELECT FROM redrive.operation_item i WHERE i.dlq_id = s.id AND i.operation_no = p_no AND i.state <> 'done')
        ON CONFLICT (dlq_id) DO UPDATE SET operation_no = p_no, group_key = NULL, sent_id = excluded.sent_id, sent_at = excluded.sent_at,
                                             times = had.times + 1, known_by = excluded.known_by, at = clock_timestamp()
         WHERE had.operation_no <> p_no
        RETURNING 1)
    UPDATE redrive.operation SET returned = returned + n.n, changed = nextval('redrive.change')
      FROM (SELECT count(*) AS n FROM found) n WHERE no = p_no AND n.n > 0;
END $$;

-- Operations that wait after a step: do their events return?
CREATE OR REPLACE FUNCTION redrive._operations_observe() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_no bigint;
BEGIN
    -- Another worker is looking, or more rows wait: the next call decides.
    IF NOT EXISTS (SELECT FROM redrive.operation WHERE state = 'waiting') OR NOT redrive.returned_find(20000) THEN
        RETURN;
    END IF;
    FOR v_no IN SELECT no FROM redrive.operation WHERE state = 'waiting' ORDER BY no FOR UPDATE SKIP LOCKED LOOP
        PERFORM redrive._returned_reopened(v_no);
        PERFORM redrive._operation_judge(v_no, 0);
    END LOOP;
END $$;

-- The groups of these rows and of the events that were sent, which only the program can tell: from then on they are counted by group.
CREATE OR REPLACE FUNCTION redrive.returned_group(p_ids bigint[], p_groups bigint[], p_sent_groups bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
DECLARE v_operations bigint[];
BEGIN
    WITH put AS (
        UPDATE redrive.returned c SET group_key = w.group_key, sent_group = w.sent_group
          FROM unnest(p_ids, p_groups, p_sent_groups) AS w (id, group_key, sent_group)
         WHERE c.dlq_id = w.id AND c.group_key IS NULL RETURNING c.operation_no)
    SELECT array_agg(DISTINCT operation_no ORDER BY operation_no) INTO v_operations FROM put;
    UPDATE redrive.operation SET changed = nextval('redrive.change') WHERE no = ANY (v_operations);
END $$;

-- What became of each of these events in the operations it was part of, as bits (core/event.h): 1 sent or done, 2 taken, 4 waiting, 8 stayed away,
-- 16 returned (the row that failed again, not the one that was sent), 32 refused, 64 skipped, 128 in doubt, 256 unsent.
-- Plan: as in items_live.
CREATE OR REPLACE FUNCTION redrive.items_outcomes(p_ids bigint[]) RETURNS TABLE (dlq_id bigint, operation_no bigint, outcomes bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
ROWS 100000 SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
        WITH item AS MATERIALIZED (
            SELECT u.id AS dlq_id, b.operation_no, b.state, b.at FROM redrive._batches_with_events(p_ids) b
             CROSS JOIN LATERAL unnest(b.dlq_ids) AS u (id) WHERE u.id IN (SELECT w.id FROM unnest(p_ids) AS w (id))
            UNION ALL
            SELECT w.id, l.operation_no, l.state, l.at FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
                SELECT h.operation_no, h.state, h.at FROM redrive.operation_item h WHERE h.dlq_id = w.id OFFSET 0) l),
        near AS MATERIALIZED ( -- 100 ids each, as ranges
            SELECT min(r.id) AS low, max(r.id) AS high
              FROM (SELECT w.id, (row_number() OVER (ORDER BY w.id) - 1) / 100 AS no FROM unnest(p_ids) AS w (id)) r GROUP BY r.no),
        place AS MATERIALIZED ( -- where it is known who has to read them
            SELECT s.operation_no, s.dlq_ids, s.taken, s.taken_at FROM redrive.sent s
             WHERE s.operation_no IN (SELECT i.operation_no FROM item i WHERE i.state = 'done') AND s.readers <> ''
               AND EXISTS (SELECT FROM near n WHERE n.low <= s.last_id AND n.high >= s.first_id)),
        taken AS MATERIALIZED (
            SELECT p.operation_no, u.id, u.n <= p.taken AS is_taken, CASE WHEN u.n <= p.taken THEN p.taken_at END AS taken_at
              FROM place p CROSS JOIN LATERAL unnest(p.dlq_ids) WITH ORDINALITY AS u (id, n)
             WHERE u.id IN (SELECT w.id FROM unnest(p_ids) AS w (id)))
        SELECT m.dlq_id, m.operation_no, bit_or(m.bits)::bigint FROM (
            SELECT i.dlq_id, i.operation_no,
                   CASE i.state WHEN 'refused' THEN 32 WHEN 'skipped' THEN 64 WHEN 'in doubt' THEN 128
                                WHEN 'done' THEN 1 + coalesce(t.is_taken::integer, 0) * 2 + CASE
                                     WHEN o.action <> 'reprocess' OR EXISTS (
                                         SELECT FROM redrive.returned c WHERE c.sent_id = i.dlq_id AND c.operation_no = i.operation_no) THEN 0
                                     WHEN t.is_taken = false OR coalesce(t.taken_at, i.at) > clock_timestamp() - o.settle_for THEN 4 ELSE 8 END
                                ELSE 256 END AS bits
              FROM item i
              JOIN redrive.operation o ON o.no = i.operation_no
              LEFT JOIN taken t ON t.operation_no = i.operation_no AND t.id = i.dlq_id
            UNION ALL
            SELECT c.dlq_id, c.operation_no, 16 FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
                SELECT r.dlq_id, r.operation_no FROM redrive.returned r WHERE r.dlq_id = w.id OFFSET 0) c) m
         GROUP BY m.dlq_id, m.operation_no;
END $$;
