-- The freeze: the ids of a selection become the items of an operation, page by page, in one transaction from operation_begin to
-- operation_confirm. The contract table is only read.

-- A reprocess from its first page to its confirmation, in one transaction: nobody else sees it, and no crash leaves it behind. A row has the events
-- of one source within one page, in the order of work. Pages come by id, which is nearly always the order of offsets too; then the rows of a
-- source only need to be joined.
CREATE UNLOGGED TABLE redrive.freeze_batch (
    operation_no   bigint NOT NULL,
    source         integer NOT NULL,
    no             bigint NOT NULL, -- within its source: the lowest id of its page; after _freeze_reorder from 0
    first_offset   bigint NOT NULL,
    last_offset    bigint NOT NULL,
    has_repeats    boolean NOT NULL, -- an offset occurs twice
    events         integer NOT NULL,
    dlq_ids        bigint[] NOT NULL,
    attempts       integer[], -- NULL: no event was ever tried
    source_offsets bigint[] NOT NULL,
    event_ids      text[] NOT NULL,
    correlations   uuid[] NOT NULL,
    PRIMARY KEY (operation_no, source, no)
);
ALTER TABLE redrive.freeze_batch
    ALTER dlq_ids SET STORAGE EXTERNAL, ALTER source_offsets SET STORAGE EXTERNAL, ALTER event_ids SET STORAGE EXTERNAL,
    ALTER correlations SET STORAGE EXTERNAL;

-- One row, to be locked. Only our own functions may lock it: an advisory lock could be taken and kept by any login, and then nobody would freeze.
CREATE TABLE redrive.freeze_turn (one boolean PRIMARY KEY DEFAULT true CHECK (one));
INSERT INTO redrive.freeze_turn DEFAULT VALUES;

---- functions

-- Locks the caller's operation for another page that begins with p_lowest. One freeze runs at a time, so that of two freezes that want the same
-- event the second sees the first.
CREATE OR REPLACE FUNCTION redrive._freeze_lock(p_no bigint, p_by name, p_lowest bigint) RETURNS redrive.operation
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    SELECT * INTO v FROM redrive.operation WHERE no = p_no AND state = 'freezing' AND requested_by = p_by FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    ELSIF p_lowest <= v.frozen_to THEN
        RAISE EXCEPTION 'operation % is frozen up to event %: % comes too late', p_no, v.frozen_to, p_lowest USING ERRCODE = 'RD004';
    END IF;
    -- After the lock, each statement must see what other freezes committed.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'events are frozen in a transaction that is read committed, not %', current_setting('transaction_isolation')
            USING ERRCODE = 'RD004';
    END IF;
    PERFORM FROM redrive.freeze_turn FOR UPDATE;
    RETURN v;
END $$;

-- Events that are in another unfinished operation are skipped. Returns the others.
CREATE OR REPLACE FUNCTION redrive._freeze_skip_live(p_no bigint, p_ids bigint[], p_at timestamptz) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_other record;
BEGIN
    -- The operation's own batches are of earlier pages. Where no other operation is live, nothing is looked up.
    FOR v_other IN SELECT l.operation_no AS no, array_agg(l.dlq_id) AS ids FROM redrive.items_live(p_ids) l
                    WHERE (SELECT redrive._has_live(p_no)) GROUP BY l.operation_no LOOP
        INSERT INTO redrive.operation_item (operation_no, dlq_id, at, state, detail)
        SELECT p_no, w.id, p_at, 'skipped', format('in %s''s operation %s', redrive._asked_by(o.policy, o.requested_by), o.no)
          FROM redrive.operation o CROSS JOIN LATERAL unnest(v_other.ids) AS w (id) WHERE o.no = v_other.no;
        p_ids := redrive._without(p_ids, v_other.ids);
    END LOOP;
    RETURN p_ids;
END $$;

-- Freezes a page of a reprocess: pending events by source and offset. p_attempts: of each; NULL: no event was ever tried. p_page: its lowest id.
-- Returns how many were pending.
CREATE OR REPLACE FUNCTION redrive._freeze_by_source(p_no bigint, p_ids bigint[], p_attempts integer[], p_page bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_queued bigint;
BEGIN
    -- Most events were never tried. One scan finds these, without a list of attempts and a look-up for each.
    WITH open AS (
        SELECT * FROM (
            SELECT DISTINCT ON (x.id) x.id, x.event_id, x.correlation_id, x.kafka_topic, x.kafka_partition, x.kafka_offset, NULL::integer AS attempt
              FROM :"events" x WHERE p_attempts IS NULL AND x.id = ANY (p_ids) AND coalesce(x.status, '') = 'PENDING' ORDER BY x.id) untried
        UNION ALL
        SELECT e.*, w.attempt FROM unnest(p_ids, p_attempts) AS w (id, attempt) CROSS JOIN LATERAL (
            SELECT x.id, x.event_id, x.correlation_id, x.kafka_topic, x.kafka_partition, x.kafka_offset
              FROM :"events" x WHERE x.id = w.id AND coalesce(x.status, '') = 'PENDING' LIMIT 1) e
         WHERE p_attempts IS NOT NULL),
    sourced AS (
        SELECT o.id, o.event_id, o.correlation_id, o.kafka_offset, o.attempt,
               CASE WHEN o.kafka_topic IS NULL OR o.kafka_partition IS NULL OR o.kafka_offset IS NULL THEN 0
                    ELSE coalesce(nullif(hashtext(o.kafka_topic || '/' || o.kafka_partition), 0), 1) END AS source -- as _source does
          FROM open o OFFSET 0),
    -- Rows arrive sorted and are grouped by sort, never by hash (enable_hashagg): so the arrays are in the order of work.
    placed AS (
        SELECT o.id, o.event_id, o.correlation_id, o.attempt, o.source, CASE WHEN o.source = 0 THEN 0 ELSE o.kafka_offset END AS source_offset
          FROM sourced o ORDER BY o.source, source_offset, o.id),
    made AS (
        INSERT INTO redrive.freeze_batch (operation_no, source, no, first_offset, last_offset, has_repeats, events, dlq_ids, attempts,
                                          source_offsets, event_ids, correlations)
        SELECT p_no, p.source, p_page, min(p.source_offset), max(p.source_offset),
               p.source <> 0 AND count(DISTINCT p.source_offset) < count(*), count(*), array_agg(p.id),
               CASE WHEN max(p.attempt) > 0 THEN array_agg(p.attempt) END, array_agg(p.source_offset), array_agg(p.event_id),
               array_agg(p.correlation_id)
          FROM placed p GROUP BY p.source
        RETURNING events)
    SELECT coalesce(sum(m.events), 0) INTO v_queued FROM made m;
    RETURN v_queued;
END $$;

-- Freezes a page of an operation that sends nothing: events with this status, in batches by id. Returns their ids.
CREATE OR REPLACE FUNCTION redrive._freeze_by_id(p_no bigint, p_ids bigint[], p_status text, p_at timestamptz) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_frozen bigint[];
    v_last integer := (SELECT coalesce(max(b.no), 0) FROM redrive.operation_batch b WHERE b.operation_no = p_no);
BEGIN
    SELECT coalesce(array_agg(e.id), '{}') INTO v_frozen
      FROM (SELECT DISTINCT x.id FROM :"events" x WHERE x.id = ANY (p_ids) AND coalesce(x.status, '') = p_status ORDER BY x.id) e;
    INSERT INTO redrive.operation_batch (operation_no, no, state, at, events, dlq_ids)
    SELECT p_no, v_last + s.n, 'queued', p_at, cardinality(s.ids), s.ids
      FROM (SELECT n, v_frozen[(n - 1) * 1000 + 1 : n * 1000] AS ids
              FROM generate_series(1, (cardinality(v_frozen) + 999) / 1000) AS n) s;
    RETURN v_frozen;
END $$;

-- Freezes a page of ids, in the transaction of operation_begin; pages come in ascending order. Events that are not open for the action are skipped,
-- with the reason.
CREATE OR REPLACE FUNCTION redrive.operation_freeze(p_no bigint, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._freeze_page(p_no, session_user, p_ids);
END $$;

-- The same for one that p_by asked for.
-- Plan: of this and of the steps above, which only it calls: events and items by key, the contract table's status compared in a form that its
-- index does not serve, groups by sort (_freeze_by_source). Without the settings, in a session that froze ten events first, a freeze of 70,000
-- took 136 s instead of 1.1 s.
CREATE OR REPLACE FUNCTION redrive._freeze_page(p_no bigint, p_by name, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_hashagg = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_ids bigint[] := ARRAY(SELECT DISTINCT w.id FROM unnest(p_ids) AS w (id) ORDER BY w.id);
    v redrive.operation := redrive._freeze_lock(p_no, p_by, v_ids[1]);
    v_wanted text := CASE WHEN v.action = 'restore' THEN v.restores ELSE 'PENDING' END;
    v_free bigint[] := redrive._freeze_skip_live(p_no, v_ids, v_now);
    v_sent bigint[] := '{}'; -- resolved because they were sent: pending again, they could be sent twice
    v_frozen bigint[];
    v_queued bigint;
    v_skipped bigint;
BEGIN
    IF v_wanted = 'RESOLVED' THEN
        v_sent := ARRAY(SELECT d.dlq_id FROM redrive._items_done(v_free) d WHERE d.action = 'reprocess');
    END IF;
    IF v.action = 'reprocess' THEN
        v_queued := redrive._freeze_by_source(p_no, v_free, redrive._attempts_of(v_free), v_ids[1]);
        IF v_queued < cardinality(v_free) THEN
            v_frozen := ARRAY(SELECT unnest(m.dlq_ids) FROM redrive.freeze_batch m WHERE m.operation_no = p_no AND m.no = v_ids[1]);
        END IF;
    ELSE
        v_frozen := redrive._freeze_by_id(p_no, redrive._without(v_free, v_sent), v_wanted, v_now);
        v_queued := cardinality(v_frozen);
    END IF;

    IF v_queued < cardinality(v_free) THEN
        INSERT INTO redrive.operation_item (operation_no, dlq_id, at, state, detail)
        SELECT p_no, w.id, v_now, 'skipped',
               coalesce((SELECT CASE WHEN w.id = ANY (v_sent) THEN 'was sent, so its consumer may have it'
                                     WHEN e.status = v_wanted THEN 'in another operation a moment ago'
                                     ELSE redrive._closed(e.status, e.resolved_by, e.resolved_at) END
                           FROM :"events" e WHERE e.id = w.id LIMIT 1),
                        redrive._closed(NULL, NULL, NULL))
          FROM unnest(redrive._without(v_free, v_frozen)) AS w (id);
    END IF;

    v_skipped := cardinality(v_ids) - v_queued;
    UPDATE redrive.operation
       SET total = total + v_queued + v_skipped, queued = queued + v_queued, skipped = skipped + v_skipped,
           frozen_to = coalesce(v_ids[cardinality(v_ids)], frozen_to)
     WHERE no = p_no;
END $$;

-- Sorts a source again where its rows overlap or an offset occurs twice. Rows that a consumer wrote twice for one record (same event id, same
-- place): the first is sent, the others are skipped and name it. Returns how many those are.
-- Plan: one pass over arrays that were just written, which the planner believes to be few rows: no nested loop over them; memory to sort a million
-- events; groups by sort, as arrays must be in order.
CREATE OR REPLACE FUNCTION redrive._freeze_reorder(p_operation bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET work_mem = '64MB' SET enable_nestloop = off SET enable_mergejoin = off SET enable_hashagg = off AS $$
DECLARE
    v_doubled bigint;
    v_sources integer[] := ARRAY(
        SELECT DISTINCT q.source FROM (
            SELECT p.source,
                   p.has_repeats OR p.source <> 0 AND p.first_offset <= lag(p.last_offset) OVER (PARTITION BY p.source ORDER BY p.first_offset)
                   AS has_repeats
              FROM redrive.freeze_batch p WHERE p.operation_no = p_operation) q WHERE q.has_repeats);
BEGIN
    IF v_sources = '{}' THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM redrive.freeze_batch p WHERE p.operation_no = p_operation AND p.source = ANY (v_sources) RETURNING *),
    item AS (
        SELECT g.source, u.dlq_id, u.attempt, u.source_offset, u.event_id COLLATE "C" AS event_id, u.correlation
          FROM gone g CROSS JOIN LATERAL unnest(g.dlq_ids, g.attempts, g.source_offsets, g.event_ids, g.correlations)
                                         AS u (dlq_id, attempt, source_offset, event_id, correlation)),
    ranked AS (
        SELECT i.*, first_value(i.dlq_id) OVER record AS first_id
          FROM item i WINDOW record AS (PARTITION BY i.source, i.source_offset, i.event_id ORDER BY i.dlq_id)),
    doubled AS (
        INSERT INTO redrive.operation_item (operation_no, dlq_id, state, detail)
        SELECT p_operation, r.dlq_id, 'skipped', format('the same record as event %s, which is sent', r.first_id)
          FROM ranked r WHERE r.dlq_id <> r.first_id RETURNING 1),
    placed AS (
        SELECT r.*, (row_number() OVER (PARTITION BY r.source ORDER BY r.source_offset, r.event_id, r.dlq_id) - 1) / 1000 AS no
          FROM ranked r WHERE r.dlq_id = r.first_id),
    made AS (
        INSERT INTO redrive.freeze_batch (operation_no, source, no, first_offset, last_offset, has_repeats, events, dlq_ids, attempts,
                                             source_offsets, event_ids, correlations)
        SELECT p_operation, p.source, p.no, min(p.source_offset), max(p.source_offset), false, count(*),
               array_agg(p.dlq_id ORDER BY p.source_offset, p.event_id, p.dlq_id),
               CASE WHEN max(p.attempt) > 0 THEN array_agg(coalesce(p.attempt, 0) ORDER BY p.source_offset, p.event_id, p.dlq_id) END,
               array_agg(p.source_offset ORDER BY p.source_offset, p.event_id, p.dlq_id),
               array_agg(p.event_id ORDER BY p.source_offset, p.event_id, p.dlq_id),
               array_agg(p.correlation ORDER BY p.source_offset, p.event_id, p.dlq_id)
          FROM placed p GROUP BY p.source, p.no)
    SELECT count(*) INTO v_doubled FROM doubled;
    RETURN v_doubled;
END $$;

-- Writes the first p_events events of b as a batch. Returns b with the rest, as the next batch.
CREATE OR REPLACE FUNCTION redrive._batch_write(b redrive.operation_batch, p_events integer) RETURNS redrive.operation_batch
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.operation_batch (operation_no, no, state, at, events, dlq_ids, busy, attempts, sources, source_offsets, event_ids,
                                         correlations)
    VALUES (b.operation_no, b.no, 'queued', clock_timestamp(), p_events, b.dlq_ids[1:p_events], b.busy,
            CASE WHEN 0 < ANY (b.attempts[1:p_events]) THEN b.attempts[1:p_events] END, b.sources[1:p_events], b.source_offsets[1:p_events],
            b.event_ids[1:p_events], CASE WHEN array_remove(b.correlations[1:p_events], NULL) <> '{}' THEN b.correlations[1:p_events] END);
    b.no := b.no + 1;
    b.events := b.events - p_events;
    b.dlq_ids := b.dlq_ids[p_events + 1:];
    b.busy := CASE WHEN b.events > 0 THEN b.busy ELSE '{}' END;
    b.attempts := b.attempts[p_events + 1:];
    b.sources := b.sources[p_events + 1:];
    b.source_offsets := b.source_offsets[p_events + 1:];
    b.event_ids := b.event_ids[p_events + 1:];
    b.correlations := b.correlations[p_events + 1:];
    RETURN b;
END $$;

-- The end of a freeze: freeze_batch becomes batches, in the order of work. Returns how many events are records that are sent already.
CREATE OR REPLACE FUNCTION redrive._batches_make(p_operation bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_size integer := 1000; -- events of a batch
    v_doubled bigint := redrive._freeze_reorder(p_operation);
    v_source integer;
    v_is_large boolean := false;
    p record;
    b redrive.operation_batch;
BEGIN
    b.operation_no := p_operation;
    b.no := 1;
    b.events := 0;
    b.busy := '{}';
    -- First the sources with batches of their own, then those that share one.
    FOR p IN SELECT w.*, w.source = 0 OR sum(w.events) OVER (PARTITION BY w.source) >= v_size AS is_large
               FROM redrive.freeze_batch w WHERE w.operation_no = p_operation ORDER BY is_large DESC, w.source, w.first_offset, w.no LOOP
        IF b.events > 0 AND p.source <> v_source AND (v_is_large OR b.events >= v_size) THEN
            b := redrive._batch_write(b, b.events);
        END IF;
        IF p.source <> 0 AND p.source <> ALL (b.busy) THEN
            b.busy := b.busy || p.source;
        END IF;
        v_source := p.source;
        v_is_large := p.is_large;
        b.events := b.events + p.events;
        b.dlq_ids := b.dlq_ids || p.dlq_ids;
        b.attempts := b.attempts || coalesce(p.attempts, array_fill(0, ARRAY[p.events]));
        b.sources := b.sources || array_fill(p.source, ARRAY[p.events]);
        b.source_offsets := b.source_offsets || p.source_offsets;
        b.event_ids := b.event_ids || p.event_ids;
        b.correlations := b.correlations || p.correlations;
        WHILE v_is_large AND b.events >= v_size LOOP
            b := redrive._batch_write(b, v_size);
        END LOOP;
    END LOOP;
    IF b.events > 0 THEN
        b := redrive._batch_write(b, b.events);
    END IF;
    DELETE FROM redrive.freeze_batch WHERE operation_no = p_operation;
    RETURN v_doubled;
END $$;
