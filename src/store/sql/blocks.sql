-- Items that stand many to a row (012_blocks.sql): made, found, written out.
--
-- Plans: arrays are kept outside the row, which the planner does not know when it prefers to read all of a table that looks small. What is
-- looked for in arrays is therefore found by index or not at all. Functions here say of every way to plan whether they want it: those that call
-- them have ruled out some for themselves. An index of arrays takes time by the square of what it is asked for at once: it is asked for a hundred
-- keys at a time.

-- What an event that was published is known by when it is back: its event id, its correlation id, its place. Equal marks are a hint only.
CREATE OR REPLACE FUNCTION redrive._marks(p_keys text[], p_correlations uuid[], p_sources integer[], p_offsets bigint[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT array_agg(m) FROM (
        SELECT hashtext(k) FROM unnest(p_keys) AS k
        UNION ALL SELECT uuid_hash(c) FROM unnest(p_correlations) AS c WHERE c IS NOT NULL
        UNION ALL SELECT hashint8(o # (s::bigint << 32)) FROM unnest(p_sources, p_offsets) AS w (s, o) WHERE s <> 0) AS all_marks (m);
$$;

-- Blocks that have one of these events, in any state.
CREATE OR REPLACE FUNCTION redrive._blocks_with(p_ids bigint[]) RETURNS SETOF redrive.operation_block
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = on AS $$
BEGIN
    RETURN QUERY SELECT b.* FROM (
        SELECT DISTINCT f.operation_no, f.no FROM generate_series(1, cardinality(p_ids), 100) AS s (at)
         CROSS JOIN LATERAL (SELECT h.operation_no, h.no FROM redrive.operation_block h WHERE h.event_ids && p_ids[s.at : s.at + 99] OFFSET 0) f) w
      JOIN redrive.operation_block b ON b.operation_no = w.operation_no AND b.no = w.no;
END $$;

-- Blocks that were published and have one of these marks.
CREATE OR REPLACE FUNCTION redrive._blocks_marked(p_marks integer[]) RETURNS SETOF redrive.operation_block
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = on AS $$
BEGIN
    RETURN QUERY SELECT b.* FROM (
        SELECT DISTINCT f.operation_no, f.no FROM generate_series(1, cardinality(p_marks), 100) AS s (at)
         CROSS JOIN LATERAL (SELECT m.operation_no, m.no FROM redrive.operation_mark m WHERE m.marks && p_marks[s.at : s.at + 99] OFFSET 0) f) w
      JOIN redrive.operation_block b ON b.operation_no = w.operation_no AND b.no = w.no;
END $$;

-- Which of these events are in hand of an operation that is not through with them, and of which.
CREATE OR REPLACE FUNCTION redrive.items_live(p_ids bigint[]) RETURNS TABLE (event_id bigint, operation_no bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
ROWS 100000 SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_item WHERE is_live) THEN
        RETURN QUERY SELECT w.id, i.operation_no FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
            SELECT l.operation_no FROM redrive.operation_item l WHERE l.event_id = w.id AND l.is_live LIMIT 1) i;
    END IF;
    IF NOT EXISTS (SELECT FROM redrive.operation_block b WHERE b.state IN ('queued', 'claimed')) THEN
        RETURN;
    ELSIF cardinality(p_ids) > 20000 THEN
        RETURN QUERY SELECT m.id, b.operation_no
                       FROM redrive.operation_block b CROSS JOIN LATERAL unnest(b.event_ids) AS m (id)
                      WHERE b.state IN ('queued', 'claimed') AND m.id IN (SELECT w.id FROM unnest(p_ids) AS w (id));
    ELSE -- the index knows, and no array is read
        RETURN QUERY SELECT w.id, b.operation_no FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
            SELECT l.operation_no FROM redrive.operation_block l WHERE l.event_ids @> ARRAY[w.id] AND l.state IN ('queued', 'claimed') OFFSET 0) b;
    END IF;
END $$;

-- Is another operation not through with something?
CREATE OR REPLACE FUNCTION redrive._has_live(p_but bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM redrive.operation o WHERE o.no <> p_but AND o.queued + o.claimed + o.held > 0);
END $$;

-- Was anything ever published?
CREATE OR REPLACE FUNCTION redrive.has_sent() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM redrive.operation_mark)
        OR EXISTS (SELECT FROM redrive.operation_item WHERE NOT is_live AND event_key IS NOT NULL AND state = 'done');
END $$;

-- Events that were published under one of these event ids, once for each time.
CREATE OR REPLACE FUNCTION redrive.items_sent(p_keys text[])
RETURNS TABLE (event_key text, event_id bigint, operation_no bigint, at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
ROWS 100000 SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
DECLARE v_marks integer[];
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_item) THEN
        RETURN QUERY SELECT w.key, i.event_id, i.operation_no, i.at FROM (SELECT DISTINCT k FROM unnest(p_keys) AS k) AS w (key) CROSS JOIN LATERAL (
            SELECT s.event_id, s.operation_no, s.at FROM redrive.operation_item s
             WHERE s.event_key = w.key AND NOT s.is_live AND s.event_key IS NOT NULL AND s.state = 'done' OFFSET 0) i;
    END IF;
    IF NOT EXISTS (SELECT FROM redrive.operation_mark) THEN
        RETURN;
    ELSIF cardinality(p_keys) > 20000 THEN
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM redrive.operation_mark s JOIN redrive.operation_block b ON b.operation_no = s.operation_no AND b.no = s.no
                      CROSS JOIN LATERAL unnest(b.event_keys, b.event_ids) AS m (key, id)
                      WHERE m.key IN (SELECT k FROM unnest(p_keys) AS k);
    ELSIF cardinality(p_keys) <= 4000 THEN -- what a list shows is spread over all blocks, what a claim takes over few
        RETURN QUERY SELECT w.key, b.event_ids[n], b.operation_no, b.at
                       FROM (SELECT DISTINCT k FROM unnest(p_keys) AS k) AS w (key) CROSS JOIN LATERAL (
                            SELECT l.* FROM redrive.operation_mark s JOIN redrive.operation_block l ON l.operation_no = s.operation_no AND l.no = s.no
                             WHERE s.marks @> ARRAY[hashtext(w.key)] OFFSET 0) b
                      CROSS JOIN LATERAL unnest(array_positions(b.event_keys, w.key)) AS n;
    ELSE
        v_marks := ARRAY(SELECT DISTINCT hashtext(k) FROM unnest(p_keys) AS k);
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM redrive._blocks_marked(v_marks) b CROSS JOIN LATERAL unnest(b.event_keys, b.event_ids) AS m (key, id)
                      WHERE m.key IN (SELECT k FROM unnest(p_keys) AS k);
    END IF;
END $$;

-- The first without the second, in order.
CREATE OR REPLACE FUNCTION redrive._without(p_ids bigint[], p_some bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(p_some) ORDER BY 1);
$$;

-- How often each of these events was tried in earlier operations; NULL: none of them ever.
CREATE OR REPLACE FUNCTION redrive._attempts_of(p_ids bigint[]) RETURNS integer[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
DECLARE v_attempts integer[];
BEGIN
    IF NOT EXISTS (SELECT FROM redrive.operation_item) AND NOT EXISTS (SELECT FROM redrive.operation_block) THEN
        RETURN NULL;
    END IF;
    WITH before AS (
        SELECT m.id, b.tries + coalesce(m.attempt, 0) AS attempt
          FROM redrive._blocks_with(p_ids) b CROSS JOIN LATERAL unnest(b.event_ids, b.attempts) AS m (id, attempt)
        UNION ALL
        SELECT w.id, i.attempt FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
            SELECT max(h.attempt) AS attempt FROM redrive.operation_item h WHERE h.event_id = w.id) i
         WHERE (SELECT EXISTS (SELECT FROM redrive.operation_item))),
    most AS (SELECT id, max(attempt) AS attempt FROM before WHERE attempt > 0 GROUP BY id)
    SELECT array_agg(coalesce(m.attempt, 0) ORDER BY w.n) INTO v_attempts
      FROM unnest(p_ids) WITH ORDINALITY AS w (id, n) LEFT JOIN most m ON m.id = w.id
    HAVING count(m.id) > 0;
    RETURN v_attempts;
END $$;

-- All items of an event.
CREATE OR REPLACE FUNCTION redrive.items_of(p_id bigint) RETURNS SETOF redrive.item
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT i.event_id, i.operation_no, i.source, i.source_offset, i.at, i.attempt, i.state, i.is_live, i.event_key::text, i.correlation,
                        i.detail
                   FROM redrive.operation_item i WHERE i.event_id = p_id;
    RETURN QUERY SELECT p_id, b.operation_no, coalesce(b.sources[n], 0), coalesce(b.source_offsets[n], 0), b.at, b.tries + coalesce(b.attempts[n], 0),
                        b.state, b.state IN ('queued', 'claimed'), b.event_keys[n], b.correlations[n], NULL::text
                   FROM redrive._blocks_with(ARRAY[p_id]) b CROSS JOIN LATERAL array_position(b.event_ids, p_id) AS n;
END $$;

-- What redrive did last to each of these events, where it did something.
CREATE OR REPLACE FUNCTION redrive._items_done(p_ids bigint[]) RETURNS TABLE (event_id bigint, action text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
        SELECT DISTINCT ON (d.id) d.id, o.action FROM (
            SELECT m.id, b.operation_no, b.at FROM redrive._blocks_with(p_ids) b CROSS JOIN LATERAL unnest(b.event_ids) AS m (id)
             WHERE b.state = 'done' AND m.id IN (SELECT w.id FROM unnest(p_ids) AS w (id))
            UNION ALL
            SELECT w.id, i.operation_no, i.at FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
                SELECT h.operation_no, h.at FROM redrive.operation_item h WHERE h.event_id = w.id AND h.state = 'done' OFFSET 0) i
             WHERE (SELECT EXISTS (SELECT FROM redrive.operation_item))) d
          JOIN redrive.operation o ON o.no = d.operation_no
         WHERE o.action <> 'correct' ORDER BY d.id, d.at DESC;
END $$;

-- From here on these are rows, in a state of rows. What a chunk has in hand it has by the ids of its events.
CREATE OR REPLACE FUNCTION redrive._blocks_write_out(p_operation bigint, p_blocks integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    WITH gone AS (DELETE FROM redrive.operation_block WHERE operation_no = p_operation AND no = ANY (p_blocks) RETURNING *)
    INSERT INTO redrive.operation_item (operation_no, event_id, at, attempt, source, source_offset, event_key, correlation)
    SELECT g.operation_no, w.event_id, g.at, g.tries + coalesce(w.attempt, 0), coalesce(w.source, 0), coalesce(w.source_offset, 0), w.event_key,
           w.correlation
      FROM gone g CROSS JOIN LATERAL unnest(g.event_ids, g.attempts, g.sources, g.source_offsets, g.event_keys, g.correlations)
                                     WITH ORDINALITY AS w (event_id, attempt, source, source_offset, event_key, correlation, n)
     ORDER BY g.no, w.n;
    UPDATE redrive.chunk SET blocks = NULL WHERE operation_no = p_operation AND state = 'claimed' AND blocks && p_blocks;
END $$;

-- The same for those that have one of these events and that nobody has in hand.
CREATE OR REPLACE FUNCTION redrive._blocks_write_out_of(p_operation bigint, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_blocks integer[] := ARRAY(SELECT b.no FROM redrive._blocks_with(p_ids) b WHERE b.operation_no = p_operation AND b.state = 'queued');
BEGIN
    IF v_blocks <> '{}' THEN
        PERFORM redrive._blocks_write_out(p_operation, v_blocks);
    END IF;
END $$;

-- The next blocks of an operation whose sources nobody is busy with, together at most p_limit events. Where the first alone has more, it becomes
-- rows, and is_written_out says so. `first`: the events of the first block, for whom all of them are too much.
CREATE OR REPLACE FUNCTION redrive._blocks_pick(p_operation bigint, p_busy integer[], p_limit bigint, OUT blocks integer[], OUT ids bigint[],
                                     OUT sources integer[], OUT first bigint, OUT is_written_out boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE b record;
BEGIN
    blocks := '{}';
    ids := '{}';
    sources := '{}';
    FOR b IN SELECT q.no, q.events, q.event_ids, q.sources FROM redrive.operation_block q
              WHERE q.operation_no = p_operation AND q.state = 'queued' AND NOT q.busy && p_busy ORDER BY q.no LIMIT 32 LOOP
        EXIT WHEN blocks <> '{}' AND cardinality(ids) + b.events > p_limit;
        first := coalesce(first, b.events);
        blocks := blocks || b.no;
        ids := ids || b.event_ids;
        sources := sources || coalesce(b.sources, array_fill(0, ARRAY[b.events]));
    END LOOP;
    is_written_out := coalesce(first > p_limit, false);
    IF is_written_out THEN
        PERFORM redrive._blocks_write_out(p_operation, blocks);
    END IF;
END $$;

-- The end of a freeze: the slices it came in become blocks, in the order of work. Rows that a consumer wrote twice for one record (same event id,
-- same place): the first is sent, the others end as conflicts that name it. Returns how many those are.
CREATE OR REPLACE FUNCTION redrive._blocks_sort(p_operation bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET work_mem = '64MB' SET enable_seqscan = on SET enable_hashjoin = on SET enable_nestloop = off SET enable_mergejoin = off AS $$
DECLARE
    v_size bigint := 1000; -- events of a block
    v_doubled bigint;
BEGIN
    WITH item AS MATERIALIZED (
        SELECT u.event_id, u.attempt, u.source, u.source_offset, u.event_key COLLATE "C" AS event_key, u.correlation
          FROM redrive.operation_slice s
         CROSS JOIN LATERAL unnest(s.event_ids, s.attempts, s.sources, s.source_offsets, s.event_keys, s.correlations)
                            AS u (event_id, attempt, source, source_offset, event_key, correlation)
         WHERE s.operation_no = p_operation),
    sized AS MATERIALIZED (
        SELECT i.source, count(*) AS n, i.source = 0 OR count(*) >= v_size AS is_large, (count(*) + v_size - 1) / v_size AS blocks
          FROM item i GROUP BY i.source),
    -- The blocks of large sources come first, each source's after another; then what small ones share.
    source AS MATERIALIZED (
        SELECT z.source, z.is_large,
               CASE WHEN z.is_large THEN 1 + (sum(z.blocks) FILTER (WHERE z.is_large) OVER (ORDER BY z.source))::bigint - z.blocks
                    ELSE 1 + coalesce((SELECT sum(l.blocks) FROM sized l WHERE l.is_large), 0)::bigint
                         + ((sum(z.n) FILTER (WHERE NOT z.is_large) OVER (ORDER BY z.source))::bigint - z.n) / v_size END AS first_no
          FROM sized z),
    placed AS MATERIALIZED (
        SELECT i.*, row_number() OVER work AS place,
               i.source <> 0 AND coalesce(i.source_offset = lag(i.source_offset) OVER work AND i.event_key = lag(i.event_key) OVER work, false) AS is_double
          FROM item i WINDOW work AS (PARTITION BY i.source ORDER BY i.source_offset, i.event_key, i.event_id)),
    doubled AS (
        INSERT INTO redrive.operation_item (operation_no, event_id, state, detail)
        SELECT p_operation, d.event_id, 'conflict',
               format('the same record as event %s, which is sent',
                      (SELECT min(i.event_id) FROM item i
                        WHERE i.source = d.source AND i.source_offset = d.source_offset AND i.event_key = d.event_key))
          FROM placed d WHERE d.is_double RETURNING 1),
    made AS (
        INSERT INTO redrive.operation_block (operation_no, no, state, at, events, event_ids, busy, attempts, sources, source_offsets, event_keys,
                                             correlations)
        SELECT p_operation, p.no, 'queued', clock_timestamp(), count(*), array_agg(p.event_id),
               coalesce(array_agg(DISTINCT p.source) FILTER (WHERE p.source <> 0), '{}'), CASE WHEN max(p.attempt) > 0 THEN array_agg(p.attempt) END,
               array_agg(p.source), array_agg(p.source_offset), array_agg(p.event_key),
               CASE WHEN bool_or(p.correlation IS NOT NULL) THEN array_agg(p.correlation) END
          FROM (SELECT w.*, (s.first_no + CASE WHEN s.is_large THEN (w.place - 1) / v_size ELSE 0 END)::integer AS no
                  FROM placed w JOIN source s ON s.source = w.source WHERE NOT w.is_double) p
         GROUP BY p.no)
    SELECT count(*) INTO v_doubled FROM doubled;
    DELETE FROM redrive.operation_slice WHERE operation_no = p_operation;
    RETURN v_doubled;
END $$;
