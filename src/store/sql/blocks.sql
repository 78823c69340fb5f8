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

-- Blocks that were published lately and have one of these marks. p_but: not those of this operation. A few marks are compared with each; of many
-- a hash is made, whatever the planner thinks.
CREATE OR REPLACE FUNCTION redrive._blocks_marked_new(p_marks integer[], p_but bigint) RETURNS SETOF redrive.operation_block
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_nestloop = off SET enable_mergejoin = off SET enable_hashjoin = on AS $$
DECLARE n record;
BEGIN
    FOR n IN SELECT w.operation_no, w.no FROM redrive.operation_mark_new w
              WHERE cardinality(p_marks) <= 4 AND w.operation_no IS DISTINCT FROM p_but AND w.marks && p_marks
             UNION
             SELECT e.operation_no, e.no FROM (
                 SELECT w.operation_no, w.no, m FROM redrive.operation_mark_new w CROSS JOIN LATERAL unnest(w.marks) AS m
                  WHERE cardinality(p_marks) > 4 AND w.operation_no IS DISTINCT FROM p_but OFFSET 0) e
              WHERE e.m IN (SELECT unnest(p_marks)) LOOP
        RETURN QUERY SELECT b.* FROM redrive.operation_block b WHERE b.operation_no = n.operation_no AND b.no = n.no;
    END LOOP;
END $$;

-- Blocks that were published and have one of these marks. p_but: not those of this operation.
CREATE OR REPLACE FUNCTION redrive._blocks_marked(p_marks integer[], p_but bigint DEFAULT NULL) RETURNS SETOF redrive.operation_block
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = on AS $$
BEGIN
    RETURN QUERY SELECT b.* FROM (
        SELECT DISTINCT f.operation_no, f.no FROM generate_series(1, cardinality(p_marks), 100) AS s (at)
         CROSS JOIN LATERAL (SELECT m.operation_no, m.no FROM redrive.operation_mark m WHERE m.marks && p_marks[s.at : s.at + 99] OFFSET 0) f
         WHERE f.operation_no IS DISTINCT FROM p_but) w
      JOIN redrive.operation_block b ON b.operation_no = w.operation_no AND b.no = w.no;
    IF EXISTS (SELECT FROM redrive.operation_mark_new) THEN -- the same snapshot: nothing is moved on in between
        RETURN QUERY SELECT * FROM redrive._blocks_marked_new(p_marks, p_but);
    END IF;
END $$;

-- Writes down the marks of these blocks, which were published just now.
CREATE OR REPLACE FUNCTION redrive._marks_add(p_operation bigint, p_blocks integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE v_most integer := 256; -- a key is looked for among these in some milliseconds
BEGIN
    IF (SELECT count(*) FROM redrive.operation_mark_new) + cardinality(p_blocks) <= v_most THEN
        INSERT INTO redrive.operation_mark_new (operation_no, no, marks)
        SELECT b.operation_no, b.no, redrive._marks(b.event_keys, b.correlations, b.sources, b.source_offsets)
          FROM redrive.operation_block b WHERE b.operation_no = p_operation AND b.no = ANY (p_blocks);
    ELSE
        INSERT INTO redrive.operation_mark (operation_no, no, marks)
        SELECT b.operation_no, b.no, redrive._marks(b.event_keys, b.correlations, b.sources, b.source_offsets)
          FROM redrive.operation_block b WHERE b.operation_no = p_operation AND b.no = ANY (p_blocks);
    END IF;
END $$;

-- Moves the marks of at most p_blocks blocks into the index; those that somebody else is moving just now are left to them. Returns whether there
-- may be more.
CREATE OR REPLACE FUNCTION redrive.work_index_marks(p_blocks integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE v_moved integer;
BEGIN
    WITH next AS MATERIALIZED (
        SELECT n.operation_no, n.no FROM redrive.operation_mark_new n ORDER BY n.operation_no, n.no LIMIT p_blocks FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM redrive.operation_mark_new n USING next WHERE n.operation_no = next.operation_no AND n.no = next.no
     RETURNING n.operation_no, n.no, n.marks)
    INSERT INTO redrive.operation_mark (operation_no, no, marks) SELECT g.operation_no, g.no, g.marks FROM gone g;
    GET DIAGNOSTICS v_moved = ROW_COUNT;
    RETURN v_moved = p_blocks;
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
    RETURN EXISTS (SELECT FROM redrive.operation_mark) OR EXISTS (SELECT FROM redrive.operation_mark_new)
        OR EXISTS (SELECT FROM redrive.operation_item WHERE NOT is_live AND event_key IS NOT NULL AND state = 'done');
END $$;

-- Events that were published under one of these event ids, once for each time. p_but: not by this operation.
CREATE OR REPLACE FUNCTION redrive.items_sent(p_keys text[], p_but bigint DEFAULT NULL)
RETURNS TABLE (event_key text, event_id bigint, operation_no bigint, at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
ROWS 100000 SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
DECLARE
    v_has_new boolean := EXISTS (SELECT FROM redrive.operation_mark_new s WHERE s.operation_no IS DISTINCT FROM p_but);
    v_marks integer[];
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_item) THEN
        RETURN QUERY SELECT w.key, i.event_id, i.operation_no, i.at FROM (SELECT DISTINCT k FROM unnest(p_keys) AS k) AS w (key) CROSS JOIN LATERAL (
            SELECT s.event_id, s.operation_no, s.at FROM redrive.operation_item s
             WHERE s.event_key = w.key AND NOT s.is_live AND s.event_key IS NOT NULL AND s.state = 'done' OFFSET 0) i
         WHERE i.operation_no IS DISTINCT FROM p_but;
    END IF;
    IF NOT v_has_new AND NOT EXISTS (SELECT FROM redrive.operation_mark s WHERE s.operation_no IS DISTINCT FROM p_but) THEN
        RETURN;
    ELSIF cardinality(p_keys) > 20000 THEN
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM (SELECT s.operation_no, s.no FROM redrive.operation_mark s
                             UNION ALL SELECT s.operation_no, s.no FROM redrive.operation_mark_new s) s
                       JOIN redrive.operation_block b ON b.operation_no = s.operation_no AND b.no = s.no
                      CROSS JOIN LATERAL unnest(b.event_keys, b.event_ids) AS m (key, id)
                      WHERE b.operation_no IS DISTINCT FROM p_but AND m.key IN (SELECT k FROM unnest(p_keys) AS k);
        RETURN;
    END IF;
    v_marks := ARRAY(SELECT DISTINCT hashtext(k) FROM unnest(p_keys) AS k);
    IF cardinality(p_keys) > 4000 THEN -- what a list shows is spread over all blocks, what a claim takes over few
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM redrive._blocks_marked(v_marks, p_but) b CROSS JOIN LATERAL unnest(b.event_keys, b.event_ids) AS m (key, id)
                      WHERE m.key IN (SELECT k FROM unnest(p_keys) AS k);
        RETURN;
    END IF;
    RETURN QUERY SELECT w.key, b.event_ids[n], b.operation_no, b.at
                   FROM (SELECT DISTINCT k FROM unnest(p_keys) AS k) AS w (key) CROSS JOIN LATERAL (
                        SELECT l.* FROM redrive.operation_mark s JOIN redrive.operation_block l ON l.operation_no = s.operation_no AND l.no = s.no
                         WHERE s.marks @> ARRAY[hashtext(w.key)] OFFSET 0) b
                  CROSS JOIN LATERAL unnest(array_positions(b.event_keys, w.key)) AS n
                  WHERE b.operation_no IS DISTINCT FROM p_but;
    IF v_has_new THEN
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM redrive._blocks_marked_new(v_marks, p_but) b CROSS JOIN LATERAL unnest(b.event_keys, b.event_ids) AS m (key, id)
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

-- Where pieces of a source do not follow each other, or have an offset twice: all of that source anew, in order. Rows that a consumer wrote twice
-- for one record (same event id, same place): the first is sent, the others end as conflicts that name it. Returns how many those are.
CREATE OR REPLACE FUNCTION redrive._pieces_untangle(p_operation bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET work_mem = '64MB' SET enable_nestloop = off SET enable_mergejoin = off SET enable_hashagg = off AS $$
DECLARE
    v_doubled bigint;
    v_sources integer[] := ARRAY(
        SELECT DISTINCT q.source FROM (
            SELECT p.source, p.is_tangled OR p.source <> 0 AND p.first_offset <= lag(p.last_offset) OVER (PARTITION BY p.source ORDER BY p.first_offset)
                   AS is_tangled FROM redrive.operation_piece p WHERE p.operation_no = p_operation) q WHERE q.is_tangled);
BEGIN
    IF v_sources = '{}' THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM redrive.operation_piece p WHERE p.operation_no = p_operation AND p.source = ANY (v_sources) RETURNING *),
    item AS (
        SELECT g.source, u.event_id, u.attempt, u.source_offset, u.event_key COLLATE "C" AS event_key, u.correlation
          FROM gone g CROSS JOIN LATERAL unnest(g.event_ids, g.attempts, g.source_offsets, g.event_keys, g.correlations)
                                         AS u (event_id, attempt, source_offset, event_key, correlation)),
    ranked AS (
        SELECT i.*, first_value(i.event_id) OVER record AS first_id
          FROM item i WINDOW record AS (PARTITION BY i.source, i.source_offset, i.event_key ORDER BY i.event_id)),
    doubled AS (
        INSERT INTO redrive.operation_item (operation_no, event_id, state, detail)
        SELECT p_operation, r.event_id, 'conflict', format('the same record as event %s, which is sent', r.first_id)
          FROM ranked r WHERE r.event_id <> r.first_id RETURNING 1),
    placed AS (
        SELECT r.*, (row_number() OVER (PARTITION BY r.source ORDER BY r.source_offset, r.event_key, r.event_id) - 1) / 1000 AS slice
          FROM ranked r WHERE r.event_id = r.first_id),
    made AS (
        INSERT INTO redrive.operation_piece (operation_no, source, slice, first_offset, last_offset, is_tangled, events, event_ids, attempts,
                                             source_offsets, event_keys, correlations)
        SELECT p_operation, p.source, p.slice, min(p.source_offset), max(p.source_offset), false, count(*),
               array_agg(p.event_id ORDER BY p.source_offset, p.event_key, p.event_id),
               CASE WHEN max(p.attempt) > 0 THEN array_agg(coalesce(p.attempt, 0) ORDER BY p.source_offset, p.event_key, p.event_id) END,
               array_agg(p.source_offset ORDER BY p.source_offset, p.event_key, p.event_id),
               array_agg(p.event_key ORDER BY p.source_offset, p.event_key, p.event_id),
               array_agg(p.correlation ORDER BY p.source_offset, p.event_key, p.event_id)
          FROM placed p GROUP BY p.source, p.slice)
    SELECT count(*) INTO v_doubled FROM doubled;
    RETURN v_doubled;
END $$;

-- Writes the first events of what is joined so far as block b.no, and returns the rest as the next.
CREATE OR REPLACE FUNCTION redrive._block_write(b redrive.operation_block, p_events integer) RETURNS redrive.operation_block
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.operation_block (operation_no, no, state, at, events, event_ids, busy, attempts, sources, source_offsets, event_keys,
                                         correlations)
    VALUES (b.operation_no, b.no, 'queued', clock_timestamp(), p_events, b.event_ids[1:p_events], b.busy,
            CASE WHEN 0 < ANY (b.attempts[1:p_events]) THEN b.attempts[1:p_events] END, b.sources[1:p_events], b.source_offsets[1:p_events],
            b.event_keys[1:p_events], CASE WHEN array_remove(b.correlations[1:p_events], NULL) <> '{}' THEN b.correlations[1:p_events] END);
    b.no := b.no + 1;
    b.events := b.events - p_events;
    b.event_ids := b.event_ids[p_events + 1:];
    b.busy := CASE WHEN b.events > 0 THEN b.busy ELSE '{}' END;
    b.attempts := b.attempts[p_events + 1:];
    b.sources := b.sources[p_events + 1:];
    b.source_offsets := b.source_offsets[p_events + 1:];
    b.event_keys := b.event_keys[p_events + 1:];
    b.correlations := b.correlations[p_events + 1:];
    RETURN b;
END $$;

-- The end of a freeze: the pieces it came in become blocks, in the order of work. Returns how many events are records that are sent already.
CREATE OR REPLACE FUNCTION redrive._blocks_make(p_operation bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_size integer := 1000; -- events of a block
    v_doubled bigint := redrive._pieces_untangle(p_operation);
    v_source integer;
    v_is_large boolean := false;
    p record;
    b redrive.operation_block;
BEGIN
    b.operation_no := p_operation;
    b.no := 1;
    b.events := 0;
    b.busy := '{}';
    -- First what has blocks of its own, then what shares them.
    FOR p IN SELECT w.*, w.source = 0 OR sum(w.events) OVER (PARTITION BY w.source) >= v_size AS is_large
               FROM redrive.operation_piece w WHERE w.operation_no = p_operation ORDER BY is_large DESC, w.source, w.first_offset, w.slice LOOP
        IF b.events > 0 AND p.source <> v_source AND (v_is_large OR b.events >= v_size) THEN
            b := redrive._block_write(b, b.events);
        END IF;
        IF p.source <> 0 AND p.source <> ALL (b.busy) THEN
            b.busy := b.busy || p.source;
        END IF;
        v_source := p.source;
        v_is_large := p.is_large;
        b.events := b.events + p.events;
        b.event_ids := b.event_ids || p.event_ids;
        b.attempts := b.attempts || coalesce(p.attempts, array_fill(0, ARRAY[p.events]));
        b.sources := b.sources || array_fill(p.source, ARRAY[p.events]);
        b.source_offsets := b.source_offsets || p.source_offsets;
        b.event_keys := b.event_keys || p.event_keys;
        b.correlations := b.correlations || p.correlations;
        WHILE v_is_large AND b.events >= v_size LOOP
            b := redrive._block_write(b, v_size);
        END LOOP;
    END LOOP;
    IF b.events > 0 THEN
        b := redrive._block_write(b, b.events);
    END IF;
    DELETE FROM redrive.operation_piece WHERE operation_no = p_operation;
    RETURN v_doubled;
END $$;
