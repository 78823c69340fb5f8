-- Items many to a row. Most events of an operation are queued, claimed and done together, so one row holds many events in the order of work,
-- and their common fate is written once. When something happens to one alone (it is skipped or refused, or a chunk is smaller than its
-- batch), its batch is written out as rows of operation_item first.
--
-- A source that has many events has batches of its own; small sources share one, which then has all events of each. So two batches share a source
-- only where it is a large one, and order within a source is the order of the batches.
--
-- Plans: the arrays are stored outside the row, which the planner overlooks when it prefers to read all of a table that looks small. Functions
-- here find by index what is in arrays. Each names every method it wants or not, because it inherits the settings of its callers. A GIN index
-- takes time by the square of the keys in one question, so it is asked for a hundred at a time.

CREATE TABLE redrive.operation_batch (
    operation_no bigint NOT NULL,
    no           integer NOT NULL, -- order of work
    state        text NOT NULL CHECK (state IN ('queued', 'claimed', 'done', 'cancelled')),
    tries        integer NOT NULL DEFAULT 0, -- attempts since the freeze
    at           timestamptz NOT NULL, -- of the last change
    events       integer NOT NULL,
    dlq_ids      bigint[] NOT NULL,
    busy         integer[] NOT NULL DEFAULT '{}', -- its sources, each once, without 0
    -- Of each event, as in operation_item; NULL: no event has one.
    attempts       integer[],
    sources        integer[],
    source_offsets bigint[],
    event_ids      text[],
    correlations   uuid[],
    PRIMARY KEY (operation_no, no)
) WITH (fillfactor = 50);
-- Lists are written once and read whole: compressing them would cost more than it saves. CREATE TABLE takes STORAGE from PostgreSQL 16 on.
ALTER TABLE redrive.operation_batch
    ALTER dlq_ids SET STORAGE EXTERNAL, ALTER sources SET STORAGE EXTERNAL, ALTER source_offsets SET STORAGE EXTERNAL,
    ALTER event_ids SET STORAGE EXTERNAL, ALTER correlations SET STORAGE EXTERNAL;
-- A batch brings its keys in order, so a pending list would only slow down searches.
CREATE INDEX operation_batch_events ON redrive.operation_batch USING gin (dlq_ids) WITH (fastupdate = off);

-- The keys by which events of a published batch are found again when they return (_publish_keys). They have a table of their own, so that an update
-- of the batch never has to touch this index.
CREATE TABLE redrive.publish_key (
    operation_no bigint NOT NULL,
    no           integer NOT NULL,
    keys         integer[] NOT NULL,
    PRIMARY KEY (operation_no, no),
    FOREIGN KEY (operation_no, no) REFERENCES redrive.operation_batch ON DELETE CASCADE
);
ALTER TABLE redrive.publish_key ALTER keys SET STORAGE EXTERNAL;
CREATE INDEX publish_key_keys ON redrive.publish_key USING gin (keys) WITH (fastupdate = off);

-- Keys of recently published batches, not in the index yet: three entries per event cost a third of what closing the event does. A search scans
-- them one by one, so they are kept few (_publish_keys_add). An idle worker moves them to publish_key (work_index_keys).
CREATE TABLE redrive.publish_key_recent (
    operation_no bigint NOT NULL,
    no           integer NOT NULL,
    keys         integer[] NOT NULL,
    PRIMARY KEY (operation_no, no),
    FOREIGN KEY (operation_no, no) REFERENCES redrive.operation_batch ON DELETE CASCADE
);
ALTER TABLE redrive.publish_key_recent ALTER keys SET STORAGE EXTERNAL;

-- All items of operations, in rows and in batches: to look through an operation with. By event: items_live, items_sent, items_of.
CREATE VIEW redrive.item AS
    SELECT dlq_id, operation_no, source, source_offset, at, attempt, state, is_live, event_id::text AS event_id, correlation, detail
      FROM redrive.operation_item
    UNION ALL
    SELECT w.dlq_id, b.operation_no, coalesce(w.source, 0), coalesce(w.source_offset, 0), b.at, b.tries + coalesce(w.attempt, 0), b.state,
           b.state IN ('queued', 'claimed'), w.event_id, w.correlation, NULL
      FROM redrive.operation_batch b
     CROSS JOIN LATERAL unnest(b.dlq_ids, b.attempts, b.sources, b.source_offsets, b.event_ids, b.correlations)
                        AS w (dlq_id, attempt, source, source_offset, event_id, correlation);

---- functions

-- The keys by which a published event is recognised when it returns: hashes of its event id, its correlation id and its place. Equal keys are
-- only a hint.
CREATE OR REPLACE FUNCTION redrive._publish_keys(p_event_ids text[], p_correlations uuid[], p_sources integer[], p_offsets bigint[]) RETURNS integer[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT array_agg(m) FROM (
        SELECT hashtext(k) FROM unnest(p_event_ids) AS k
        UNION ALL SELECT uuid_hash(c) FROM unnest(p_correlations) AS c WHERE c IS NOT NULL
        UNION ALL SELECT hashint8(o # (s::bigint << 32)) FROM unnest(p_sources, p_offsets) AS w (s, o) WHERE s <> 0) AS all_keys (m);
$$;

-- Batches that have one of these events, in any state.
-- Plan: only through the GIN index operation_batch_events, which answers by bitmap scan alone.
CREATE OR REPLACE FUNCTION redrive._batches_with_events(p_ids bigint[]) RETURNS SETOF redrive.operation_batch
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = on AS $$
BEGIN
    RETURN QUERY SELECT b.* FROM (
        SELECT DISTINCT f.operation_no, f.no FROM generate_series(1, cardinality(p_ids), 100) AS s (at)
         CROSS JOIN LATERAL (SELECT h.operation_no, h.no FROM redrive.operation_batch h WHERE h.dlq_ids && p_ids[s.at : s.at + 99] OFFSET 0) f) w
      JOIN redrive.operation_batch b ON b.operation_no = w.operation_no AND b.no = w.no;
END $$;

-- Recently published batches that have one of these keys. p_but: not those of this operation.
-- Plan: a few keys are compared with each batch; many are hashed, which the planner would not do for a table that looks small.
CREATE OR REPLACE FUNCTION redrive._batches_with_recent_keys(p_keys integer[], p_but bigint) RETURNS SETOF redrive.operation_batch
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_nestloop = off SET enable_mergejoin = off SET enable_hashjoin = on AS $$
DECLARE n record;
BEGIN
    FOR n IN SELECT w.operation_no, w.no FROM redrive.publish_key_recent w
              WHERE cardinality(p_keys) <= 4 AND w.operation_no IS DISTINCT FROM p_but AND w.keys && p_keys
             UNION
             SELECT e.operation_no, e.no FROM (
                 SELECT w.operation_no, w.no, m FROM redrive.publish_key_recent w CROSS JOIN LATERAL unnest(w.keys) AS m
                  WHERE cardinality(p_keys) > 4 AND w.operation_no IS DISTINCT FROM p_but OFFSET 0) e
              WHERE e.m IN (SELECT unnest(p_keys)) LOOP
        RETURN QUERY SELECT b.* FROM redrive.operation_batch b WHERE b.operation_no = n.operation_no AND b.no = n.no;
    END LOOP;
END $$;

-- Published batches that have one of these keys. p_but: not those of this operation.
-- Plan: only through the GIN index publish_key_keys, which answers by bitmap scan alone.
CREATE OR REPLACE FUNCTION redrive._batches_with_keys(p_keys integer[], p_but bigint DEFAULT NULL) RETURNS SETOF redrive.operation_batch
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_indexscan = off SET enable_bitmapscan = on AS $$
BEGIN
    RETURN QUERY SELECT b.* FROM (
        SELECT DISTINCT f.operation_no, f.no FROM generate_series(1, cardinality(p_keys), 100) AS s (at)
         CROSS JOIN LATERAL (SELECT m.operation_no, m.no FROM redrive.publish_key m WHERE m.keys && p_keys[s.at : s.at + 99] OFFSET 0) f
         WHERE f.operation_no IS DISTINCT FROM p_but) w
      JOIN redrive.operation_batch b ON b.operation_no = w.operation_no AND b.no = w.no;
    IF EXISTS (SELECT FROM redrive.publish_key_recent) THEN -- the same snapshot, so nothing moves in between
        RETURN QUERY SELECT * FROM redrive._batches_with_recent_keys(p_keys, p_but);
    END IF;
END $$;

-- Writes down the keys of these batches, which were published just now.
-- Plan: batches by key; a scan would read arrays of all operations.
CREATE OR REPLACE FUNCTION redrive._publish_keys_add(p_operation bigint, p_batches integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE v_most integer := 256; -- scanning so many takes some milliseconds
BEGIN
    IF (SELECT count(*) FROM redrive.publish_key_recent) + cardinality(p_batches) <= v_most THEN
        INSERT INTO redrive.publish_key_recent (operation_no, no, keys)
        SELECT b.operation_no, b.no, redrive._publish_keys(b.event_ids, b.correlations, b.sources, b.source_offsets)
          FROM redrive.operation_batch b WHERE b.operation_no = p_operation AND b.no = ANY (p_batches);
    ELSE
        INSERT INTO redrive.publish_key (operation_no, no, keys)
        SELECT b.operation_no, b.no, redrive._publish_keys(b.event_ids, b.correlations, b.sources, b.source_offsets)
          FROM redrive.operation_batch b WHERE b.operation_no = p_operation AND b.no = ANY (p_batches);
    END IF;
END $$;

-- Moves the keys of at most p_batches batches into the index. Skips batches that another session is moving. Returns whether there may be more.
-- Plan: rows by key; a scan or a hash would read arrays that nobody asked for.
CREATE OR REPLACE FUNCTION redrive.work_index_keys(p_batches integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE v_moved integer;
BEGIN
    WITH next AS MATERIALIZED (
        SELECT n.operation_no, n.no FROM redrive.publish_key_recent n ORDER BY n.operation_no, n.no LIMIT p_batches FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM redrive.publish_key_recent n USING next WHERE n.operation_no = next.operation_no AND n.no = next.no
     RETURNING n.operation_no, n.no, n.keys)
    INSERT INTO redrive.publish_key (operation_no, no, keys) SELECT g.operation_no, g.no, g.keys FROM gone g;
    GET DIAGNOSTICS v_moved = ROW_COUNT;
    RETURN v_moved = p_batches;
END $$;

-- Which of these events are in an unfinished operation, and in which.
-- Plan: rows and batches by index, then a hash of the long list; never a scan of operation_item.
CREATE OR REPLACE FUNCTION redrive.items_live(p_ids bigint[]) RETURNS TABLE (dlq_id bigint, operation_no bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
ROWS 100000 SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_item WHERE is_live) THEN
        RETURN QUERY SELECT w.id, i.operation_no FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
            SELECT l.operation_no FROM redrive.operation_item l WHERE l.dlq_id = w.id AND l.is_live LIMIT 1) i;
    END IF;
    IF NOT EXISTS (SELECT FROM redrive.operation_batch b WHERE b.state IN ('queued', 'claimed')) THEN
        RETURN;
    ELSIF cardinality(p_ids) > 20000 THEN
        RETURN QUERY SELECT m.id, b.operation_no
                       FROM redrive.operation_batch b CROSS JOIN LATERAL unnest(b.dlq_ids) AS m (id)
                      WHERE b.state IN ('queued', 'claimed') AND m.id IN (SELECT w.id FROM unnest(p_ids) AS w (id));
    ELSE -- answered by the index, without reading an array
        RETURN QUERY SELECT w.id, b.operation_no FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
            SELECT l.operation_no FROM redrive.operation_batch l WHERE l.dlq_ids @> ARRAY[w.id] AND l.state IN ('queued', 'claimed') OFFSET 0) b;
    END IF;
END $$;

-- Was anything ever published?
-- Plan: the first entry of an index; a scan might pass a million live items before it finds one that is done.
CREATE OR REPLACE FUNCTION redrive.has_sent() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM redrive.publish_key) OR EXISTS (SELECT FROM redrive.publish_key_recent)
        OR EXISTS (SELECT FROM redrive.operation_item WHERE NOT is_live AND event_id IS NOT NULL AND state = 'done');
END $$;

-- Events that were published under one of these event ids, once for each time. p_but: not by this operation.
-- Plan: as in items_live.
CREATE OR REPLACE FUNCTION redrive.items_sent(p_event_ids text[], p_but bigint DEFAULT NULL)
RETURNS TABLE (event_id text, dlq_id bigint, operation_no bigint, at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
ROWS 100000 SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
DECLARE
    v_has_new boolean := EXISTS (SELECT FROM redrive.publish_key_recent s WHERE s.operation_no IS DISTINCT FROM p_but);
    v_keys integer[];
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_item) THEN
        RETURN QUERY SELECT w.key, i.dlq_id, i.operation_no, i.at
                       FROM (SELECT DISTINCT k FROM unnest(p_event_ids) AS k) AS w (key) CROSS JOIN LATERAL (
            SELECT s.dlq_id, s.operation_no, s.at FROM redrive.operation_item s
             WHERE s.event_id = w.key AND NOT s.is_live AND s.event_id IS NOT NULL AND s.state = 'done' OFFSET 0) i
         WHERE i.operation_no IS DISTINCT FROM p_but;
    END IF;
    IF NOT v_has_new AND NOT EXISTS (SELECT FROM redrive.publish_key s WHERE s.operation_no IS DISTINCT FROM p_but) THEN
        RETURN;
    ELSIF cardinality(p_event_ids) > 20000 THEN
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM (SELECT s.operation_no, s.no FROM redrive.publish_key s
                             UNION ALL SELECT s.operation_no, s.no FROM redrive.publish_key_recent s) s
                       JOIN redrive.operation_batch b ON b.operation_no = s.operation_no AND b.no = s.no
                      CROSS JOIN LATERAL unnest(b.event_ids, b.dlq_ids) AS m (key, id)
                      WHERE b.operation_no IS DISTINCT FROM p_but AND m.key IN (SELECT k FROM unnest(p_event_ids) AS k);
        RETURN;
    END IF;
    v_keys := ARRAY(SELECT DISTINCT hashtext(k) FROM unnest(p_event_ids) AS k);
    IF cardinality(p_event_ids) > 4000 THEN -- a list is spread over all batches, a claim over few
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM redrive._batches_with_keys(v_keys, p_but) b CROSS JOIN LATERAL unnest(b.event_ids, b.dlq_ids) AS m (key, id)
                      WHERE m.key IN (SELECT k FROM unnest(p_event_ids) AS k);
        RETURN;
    END IF;
    RETURN QUERY SELECT w.key, b.dlq_ids[n], b.operation_no, b.at
                   FROM (SELECT DISTINCT k FROM unnest(p_event_ids) AS k) AS w (key) CROSS JOIN LATERAL (
                        SELECT l.* FROM redrive.publish_key s JOIN redrive.operation_batch l ON l.operation_no = s.operation_no AND l.no = s.no
                         WHERE s.keys @> ARRAY[hashtext(w.key)] OFFSET 0) b
                  CROSS JOIN LATERAL unnest(array_positions(b.event_ids, w.key)) AS n
                  WHERE b.operation_no IS DISTINCT FROM p_but;
    IF v_has_new THEN
        RETURN QUERY SELECT m.key, m.id, b.operation_no, b.at
                       FROM redrive._batches_with_recent_keys(v_keys, p_but) b CROSS JOIN LATERAL unnest(b.event_ids, b.dlq_ids) AS m (key, id)
                      WHERE m.key IN (SELECT k FROM unnest(p_event_ids) AS k);
    END IF;
END $$;

-- How often each of these events was tried in earlier operations; NULL: no event ever was.
-- Plan: as in items_live.
CREATE OR REPLACE FUNCTION redrive._attempts_of(p_ids bigint[]) RETURNS integer[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
DECLARE v_attempts integer[];
BEGIN
    IF NOT EXISTS (SELECT FROM redrive.operation_item) AND NOT EXISTS (SELECT FROM redrive.operation_batch) THEN
        RETURN NULL;
    END IF;
    WITH before AS (
        SELECT m.id, b.tries + coalesce(m.attempt, 0) AS attempt
          FROM redrive._batches_with_events(p_ids) b CROSS JOIN LATERAL unnest(b.dlq_ids, b.attempts) AS m (id, attempt)
        UNION ALL
        SELECT w.id, i.attempt FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
            SELECT max(h.attempt) AS attempt FROM redrive.operation_item h WHERE h.dlq_id = w.id) i
         WHERE (SELECT EXISTS (SELECT FROM redrive.operation_item))),
    most AS (SELECT id, max(attempt) AS attempt FROM before WHERE attempt > 0 GROUP BY id)
    SELECT array_agg(coalesce(m.attempt, 0) ORDER BY w.n) INTO v_attempts
      FROM unnest(p_ids) WITH ORDINALITY AS w (id, n) LEFT JOIN most m ON m.id = w.id
    HAVING count(m.id) > 0;
    RETURN v_attempts;
END $$;

-- All items of an event.
-- Plan: by key; a scan would read a million items to find three.
CREATE OR REPLACE FUNCTION redrive.items_of(p_id bigint) RETURNS SETOF redrive.item
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT i.dlq_id, i.operation_no, i.source, i.source_offset, i.at, i.attempt, i.state, i.is_live, i.event_id::text, i.correlation,
                        i.detail
                   FROM redrive.operation_item i WHERE i.dlq_id = p_id;
    RETURN QUERY SELECT p_id, b.operation_no, coalesce(b.sources[n], 0), coalesce(b.source_offsets[n], 0), b.at, b.tries + coalesce(b.attempts[n], 0),
                        b.state, b.state IN ('queued', 'claimed'), b.event_ids[n], b.correlations[n], NULL::text
                   FROM redrive._batches_with_events(ARRAY[p_id]) b CROSS JOIN LATERAL array_position(b.dlq_ids, p_id) AS n;
END $$;

-- The last thing that redrive did to each of these events, where it did something.
-- Plan: as in items_live.
CREATE OR REPLACE FUNCTION redrive._items_done(p_ids bigint[]) RETURNS TABLE (dlq_id bigint, action text, restores text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = on SET enable_hashjoin = on SET enable_sort = on SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY
        SELECT DISTINCT ON (d.id) d.id, o.action, o.restores FROM (
            SELECT m.id, b.operation_no, b.at FROM redrive._batches_with_events(p_ids) b CROSS JOIN LATERAL unnest(b.dlq_ids) AS m (id)
             WHERE b.state = 'done' AND m.id IN (SELECT w.id FROM unnest(p_ids) AS w (id))
            UNION ALL
            SELECT w.id, i.operation_no, i.at FROM unnest(p_ids) AS w (id) CROSS JOIN LATERAL (
                SELECT h.operation_no, h.at FROM redrive.operation_item h WHERE h.dlq_id = w.id AND h.state = 'done' OFFSET 0) i
             WHERE (SELECT EXISTS (SELECT FROM redrive.operation_item))) d
          JOIN redrive.operation o ON o.no = d.operation_no
         WHERE o.action <> 'correct' ORDER BY d.id, d.at DESC;
END $$;

-- Turns batches into rows of operation_item. A chunk that has them in flight then knows its events by their ids alone.
-- Plan: by key; a scan would read arrays of all operations.
CREATE OR REPLACE FUNCTION redrive._batches_write_out(p_operation bigint, p_batches integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    WITH gone AS (DELETE FROM redrive.operation_batch WHERE operation_no = p_operation AND no = ANY (p_batches) RETURNING *)
    INSERT INTO redrive.operation_item (operation_no, dlq_id, at, attempt, source, source_offset, event_id, correlation)
    SELECT g.operation_no, w.dlq_id, g.at, g.tries + coalesce(w.attempt, 0), coalesce(w.source, 0), coalesce(w.source_offset, 0), w.event_id,
           w.correlation
      FROM gone g CROSS JOIN LATERAL unnest(g.dlq_ids, g.attempts, g.sources, g.source_offsets, g.event_ids, g.correlations)
                                     WITH ORDINALITY AS w (dlq_id, attempt, source, source_offset, event_id, correlation, n)
     ORDER BY g.no, w.n;
    UPDATE redrive.chunk SET batches = NULL WHERE operation_no = p_operation AND state = 'claimed' AND batches && p_batches;
END $$;

-- The same for queued batches that have one of these events.
CREATE OR REPLACE FUNCTION redrive._batches_write_out_of(p_operation bigint, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_batches integer[] := ARRAY(SELECT b.no FROM redrive._batches_with_events(p_ids) b
                                     WHERE b.operation_no = p_operation AND b.state = 'queued');
BEGIN
    IF v_batches <> '{}' THEN
        PERFORM redrive._batches_write_out(p_operation, v_batches);
    END IF;
END $$;

-- The next batches of an operation whose sources no chunk is busy with, together at most p_limit events. A first batch with more is written out,
-- and is_written_out says so. `first`: the number of events of the first batch.
-- Plan: in the order of the primary key, reading no more batches than are taken.
CREATE OR REPLACE FUNCTION redrive._batches_pick(p_operation bigint, p_busy integer[], p_limit bigint, OUT batches integer[], OUT ids bigint[],
                                     OUT sources integer[], OUT first bigint, OUT is_written_out boolean)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE b record;
BEGIN
    batches := '{}';
    ids := '{}';
    sources := '{}';
    FOR b IN SELECT q.no, q.events, q.dlq_ids, q.sources FROM redrive.operation_batch q
              WHERE q.operation_no = p_operation AND q.state = 'queued' AND NOT q.busy && p_busy ORDER BY q.no LIMIT 32 LOOP
        EXIT WHEN batches <> '{}' AND cardinality(ids) + b.events > p_limit;
        first := coalesce(first, b.events);
        batches := batches || b.no;
        ids := ids || b.dlq_ids;
        sources := sources || coalesce(b.sources, array_fill(0, ARRAY[b.events]));
    END LOOP;
    is_written_out := coalesce(first > p_limit, false);
    IF is_written_out THEN
        PERFORM redrive._batches_write_out(p_operation, batches);
    END IF;
END $$;
