-- Asking for operations, steering them, and carrying out those that are plain SQL.
--
-- Each function is a transition: it checks state, changes it and writes the audit in one transaction. Refusals carry a state that the
-- program knows: RD001 conflict, RD002 not found, RD003 not allowed, RD004 wrong request.
-- Locks are taken in this order everywhere: slot, operation, chunk, items, events by id. The operation's row lock is what makes several
-- workers at one operation take turns.
-- Items stand in blocks (blocks.sql) until something happens to one of them alone; then those of its block are rows of operation_item.
--
-- Plans: the items of an operation are younger than what the planner knows of the table, and a session may live from ten items to a million.
-- A plan that was right for ten would be kept. Functions that handle slices therefore leave no choice: rows are found by key alone, in scalar or
-- LATERAL … OFFSET 0 subqueries rather than joins; the contract table's status is compared in a form that its index does not serve.

-- Why an event is not open for what was asked: a reason that many events can share, so times are cut to the minute.
CREATE OR REPLACE FUNCTION redrive._closed(p_status text, p_by text, p_at timestamp) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN p_status IS NULL THEN 'no longer in the table'
                WHEN p_status = 'PENDING' THEN 'is pending'
                ELSE lower(p_status) || ' by ' || coalesce(p_by, 'somebody')
                     || coalesce(' at ' || to_char(p_at, 'YYYY-MM-DD HH24:MI'), '') END;
$$;

-- Topic and partition as a number; 0 where the place is not known.
CREATE OR REPLACE FUNCTION redrive._source(p_topic text, p_partition integer, p_offset bigint) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN p_topic IS NULL OR p_partition IS NULL OR p_offset IS NULL THEN 0
                ELSE coalesce(nullif(hashtext(p_topic || '/' || p_partition), 0), 1) END;
$$;

-- Ends an operation that has nothing left to do; harmless otherwise. The caller holds the operation's row.
CREATE OR REPLACE FUNCTION redrive._finish(p_no bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    UPDATE redrive.operation
       SET state = CASE WHEN is_cancelling AND cancelled > 0 THEN 'cancelled' ELSE 'done' END,
           finished_at = clock_timestamp(), settle_until = NULL, worker = NULL, state_note = NULL, changed = nextval('redrive.change')
     WHERE no = p_no AND state IN ('frozen', 'running', 'waiting', 'paused', 'halted') AND queued = 0 AND claimed = 0 AND held = 0
    RETURNING * INTO v;
    IF FOUND THEN
        PERFORM redrive._audit(v.state, v.no, v.total, NULL,
            format('%s done, %s refused, %s in conflict, %s cancelled', v.done, v.refused, v.conflict, v.cancelled));
        RETURN;
    END IF;
    UPDATE redrive.operation SET state_note = held || ' in doubt', changed = nextval('redrive.change')
     WHERE no = p_no AND state = 'running' AND queued = 0 AND claimed = 0 AND held > 0
       AND state_note IS DISTINCT FROM held || ' in doubt';
END $$;

-- What chunks of an operation have in hand. An item does not say so itself: a claim writes its chunk and nothing else, so until that has
-- settled they are queued by their row, and nobody but the chunk's settlement may touch them.
CREATE OR REPLACE FUNCTION redrive._in_hand(p_operation bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT w.id FROM redrive.chunk c, unnest(c.event_ids) AS w (id) WHERE c.operation_no = p_operation AND c.state = 'claimed';
$$;

-- Queued items of an operation in source order, at most p_limit; p_above: only of sources with a higher hash, none of which a chunk is busy
-- with. Source 0 has no order to keep, so several chunks may be busy with it: of that, what they have in hand is passed over. The caller holds the
-- operation's row, without which nobody changes an item that is queued: so they need no locks, which would be written to every one of them.
CREATE OR REPLACE FUNCTION redrive._items_pick(p_operation bigint, p_above bigint, p_limit bigint, OUT ids bigint[], OUT sources integer[])
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off AS $$
    WITH pick AS MATERIALIZED (
        SELECT event_id, source FROM redrive.operation_item
         WHERE operation_no = p_operation AND is_due AND state = 'queued' AND source > p_above
           AND (source <> 0 OR event_id NOT IN (SELECT redrive._in_hand(p_operation)))
         ORDER BY source, source_offset, event_id LIMIT p_limit)
    SELECT coalesce(array_agg(event_id), '{}'), coalesce(array_agg(source), '{}') FROM pick;
$$;

-- Begins a freeze, or finds the operation that the same key already made. The answer of a transaction whose COMMIT was lost is found
-- this way too: the unique key waits for a server process that still carries it out.
CREATE OR REPLACE FUNCTION redrive.operation_begin(p_key uuid, p_action text, p_scope text, p_filter text, p_group text, p_reason text,
                                        p_topic text, p_rate integer, OUT no bigint, OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_action NOT IN ('reprocess', 'resolve', 'discard', 'restore') THEN
        RAISE EXCEPTION '% is not carried out by this version of the schema', p_action USING ERRCODE = 'RD004';
    END IF;
    PERFORM set_config('synchronous_commit', 'on', true);
    INSERT INTO redrive.operation AS o (key, action, scope, filter_text, group_key, reason, target_topic, rate)
    VALUES (p_key, p_action, p_scope, p_filter, p_group, p_reason, p_topic, p_rate)
    ON CONFLICT (key) DO NOTHING RETURNING o.no INTO no;
    is_new := FOUND;
    IF NOT is_new THEN
        SELECT o.no INTO no FROM redrive.operation o WHERE o.key = p_key AND o.action = p_action AND o.requested_by = session_user;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the key % belongs to an operation of somebody else', p_key USING ERRCODE = 'RD001';
        END IF;
    END IF;
END $$;

-- Writes a slice of ids down, in the transaction of operation_begin: slices come in ascending order. What is not open for the action becomes a
-- conflict with its reason. One freeze at a time, so that of two that want the same event the second sees the first's; the contract table is
-- only read.
CREATE OR REPLACE FUNCTION redrive.operation_freeze(p_no bigint, p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_hashagg = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v redrive.operation;
    v_wanted text;
    v_other record;
    v_free bigint[];
    v_attempts integer[];
    v_frozen bigint[];
    v_queued bigint;
    v_conflict bigint;
BEGIN
    SELECT * INTO v FROM redrive.operation WHERE no = p_no AND state = 'freezing' AND requested_by = session_user FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    END IF;
    p_ids := ARRAY(SELECT DISTINCT w.id FROM unnest(p_ids) AS w (id) ORDER BY w.id);
    IF p_ids[1] <= v.frozen_to THEN
        RAISE EXCEPTION 'operation % is frozen up to event %: % comes too late', p_no, v.frozen_to, p_ids[1] USING ERRCODE = 'RD004';
    END IF;
    -- What others froze is seen after the lock only where each statement looks anew.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'events are frozen in a transaction that is read committed, not %', current_setting('transaction_isolation')
            USING ERRCODE = 'RD004';
    END IF;
    PERFORM pg_advisory_xact_lock('redrive.operation_block'::regclass::bigint);
    v_wanted := CASE WHEN v.action = 'restore' THEN 'DISCARDED' ELSE 'PENDING' END;
    v_free := p_ids;
    -- Its own blocks are of slices before this one: where nobody else's are live, nothing is looked for.
    FOR v_other IN SELECT l.operation_no AS no, array_agg(l.event_id) AS ids FROM redrive.items_live(p_ids) l
                    WHERE (SELECT redrive._has_live(p_no)) GROUP BY l.operation_no LOOP
        INSERT INTO redrive.operation_item (operation_no, event_id, at, state, detail)
        SELECT p_no, w.id, v_now, 'conflict', format('in operation %s of %s', o.no, o.requested_by)
          FROM redrive.operation o CROSS JOIN LATERAL unnest(v_other.ids) AS w (id) WHERE o.no = v_other.no;
        v_free := redrive._without(v_free, v_other.ids);
    END LOOP;

    IF v.action = 'reprocess' THEN
        v_attempts := redrive._attempts_of(v_free);
        -- Most were never tried: they are found without a list of attempts beside their ids, by one scan instead of a look-up for each.
        WITH open AS (
            SELECT * FROM (
                SELECT DISTINCT ON (x.id) x.id, x.event_id, x.correlation_id, x.kafka_topic, x.kafka_partition, x.kafka_offset, NULL::integer AS attempt
                  FROM :"events" x WHERE v_attempts IS NULL AND x.id = ANY (v_free) AND coalesce(x.status, '') = 'PENDING' ORDER BY x.id) untried
            UNION ALL
            SELECT e.*, w.attempt FROM unnest(v_free, v_attempts) AS w (id, attempt) CROSS JOIN LATERAL (
                SELECT x.id, x.event_id, x.correlation_id, x.kafka_topic, x.kafka_partition, x.kafka_offset
                  FROM :"events" x WHERE x.id = w.id AND coalesce(x.status, '') = 'PENDING' LIMIT 1) e
             WHERE v_attempts IS NOT NULL),
        sourced AS (
            SELECT o.id, o.event_id, o.correlation_id, o.kafka_offset, o.attempt,
                   CASE WHEN o.kafka_topic IS NULL OR o.kafka_partition IS NULL OR o.kafka_offset IS NULL THEN 0
                        ELSE coalesce(nullif(hashtext(o.kafka_topic || '/' || o.kafka_partition), 0), 1) END AS source -- as _source does
              FROM open o OFFSET 0),
        -- Groups are made of what is sorted already, never by hash (enable_hashagg): so arrays are in the order of work.
        placed AS (
            SELECT o.id, o.event_id, o.correlation_id, o.attempt, o.source, CASE WHEN o.source = 0 THEN 0 ELSE o.kafka_offset END AS source_offset
              FROM sourced o ORDER BY o.source, source_offset, o.id),
        made AS (
            INSERT INTO redrive.operation_piece (operation_no, source, slice, first_offset, last_offset, is_tangled, events, event_ids, attempts,
                                                 source_offsets, event_keys, correlations)
            SELECT p_no, p.source, p_ids[1], min(p.source_offset), max(p.source_offset),
                   p.source <> 0 AND count(DISTINCT p.source_offset) < count(*), count(*), array_agg(p.id),
                   CASE WHEN max(p.attempt) > 0 THEN array_agg(p.attempt) END, array_agg(p.source_offset), array_agg(p.event_id),
                   array_agg(p.correlation_id)
              FROM placed p GROUP BY p.source
            RETURNING events)
        SELECT coalesce(sum(m.events), 0) INTO v_queued FROM made m;
        IF v_queued < cardinality(v_free) THEN
            v_frozen := ARRAY(SELECT unnest(m.event_ids) FROM redrive.operation_piece m WHERE m.operation_no = p_no AND m.slice = p_ids[1]);
        END IF;
    ELSE
        SELECT coalesce(array_agg(e.id), '{}') INTO v_frozen
          FROM (SELECT DISTINCT x.id FROM :"events" x WHERE x.id = ANY (v_free) AND coalesce(x.status, '') = v_wanted ORDER BY x.id) e;
        INSERT INTO redrive.operation_block (operation_no, no, state, at, events, event_ids)
        SELECT p_no, (SELECT coalesce(max(b.no), 0) FROM redrive.operation_block b WHERE b.operation_no = p_no) + part, 'queued', v_now,
               cardinality(ids), ids
          FROM (SELECT n AS part, v_frozen[(n - 1) * 1000 + 1 : n * 1000] AS ids
                  FROM generate_series(1, (cardinality(v_frozen) + 999) / 1000) AS n) s;
        v_queued := cardinality(v_frozen);
    END IF;

    v_conflict := cardinality(p_ids) - v_queued;
    IF v_queued < cardinality(v_free) THEN
        INSERT INTO redrive.operation_item (operation_no, event_id, at, state, detail)
        SELECT p_no, w.id, v_now, 'conflict',
               coalesce((SELECT CASE WHEN e.status = v_wanted THEN 'in another operation a moment ago'
                                     ELSE redrive._closed(e.status, e.resolved_by, e.resolved_at) END
                           FROM :"events" e WHERE e.id = w.id LIMIT 1),
                        redrive._closed(NULL, NULL, NULL))
          FROM unnest(redrive._without(v_free, v_frozen)) AS w (id);
    END IF;

    UPDATE redrive.operation
       SET total = total + v_queued + v_conflict, queued = queued + v_queued, conflict = conflict + v_conflict,
           frozen_to = coalesce(p_ids[cardinality(p_ids)], frozen_to)
     WHERE no = p_no;
END $$;

-- The end of the freeze: from here on it is confirmed and anybody may carry it out, once somebody else has approved what is large.
CREATE OR REPLACE FUNCTION redrive.operation_confirm(p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation;
    v_first bigint;
    v_last bigint;
    v_count bigint;
    v_above bigint := (SELECT least(o.approve_above, i.approve_above) FROM redrive.operation o, redrive.install i WHERE o.no = p_no);
BEGIN
    IF EXISTS (SELECT FROM redrive.operation WHERE no = p_no AND state = 'freezing' AND requested_by = session_user AND action = 'reprocess') THEN
        v_count := redrive._blocks_make(p_no);
        UPDATE redrive.operation SET queued = queued - v_count, conflict = conflict + v_count WHERE no = p_no AND v_count > 0;
    END IF;
    UPDATE redrive.operation
       SET state = CASE WHEN queued > v_above THEN 'awaiting approval' ELSE 'frozen' END,
           state_note = CASE WHEN queued > v_above THEN format('more than %s events: somebody else approves it', v_above) END,
           send_after = CASE WHEN undo_for > '0 s' THEN clock_timestamp() + undo_for END, changed = nextval('redrive.change')
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user
    RETURNING * INTO v;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    END IF;
    SELECT min(id), max(id), count(*) INTO v_first, v_last, v_count FROM (
        SELECT unnest(b.event_ids) AS id FROM redrive.operation_block b WHERE b.operation_no = p_no
        UNION ALL SELECT i.event_id FROM redrive.operation_item i WHERE i.operation_no = p_no) AS item;
    IF v_count <> v.total THEN
        RAISE EXCEPTION 'operation % counted % items and has %', p_no, v.total, v_count;
    END IF;
    IF v.action = 'restore' AND v.undoes IS NULL THEN
        UPDATE redrive.operation SET undoes = redrive._takes_back(p_no, v_first, v_last) WHERE no = p_no;
    END IF;
    PERFORM redrive._audit(v.action, p_no, v.total, v.reason,
        format('%s frozen, %s in conflict; ids %s to %s; %s%s', v.queued, v.conflict, v_first, v_last, v.scope,
               coalesce('; filter: ' || v.filter_text, '')
               || CASE WHEN v.action = 'reprocess' THEN redrive._plan_words(v) ELSE '' END));
    PERFORM redrive._finish(p_no);
END $$;

-- Is there a queued item whose source no chunk is busy with? Rows from source to source, without reading the items of each.
CREATE OR REPLACE FUNCTION redrive._is_claimable(p_operation bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_sort = off SET enable_bitmapscan = off AS $$
DECLARE
    v_busy integer[] := ARRAY(SELECT DISTINCT b FROM redrive.chunk c, unnest(c.sources) AS b
                               WHERE c.operation_no = p_operation AND c.state = 'claimed');
    v_source bigint := -2147483649;
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_block b WHERE b.operation_no = p_operation AND b.state = 'queued' AND NOT b.busy && v_busy) THEN
        RETURN true;
    END IF;
    LOOP
        SELECT i.source INTO v_source FROM redrive.operation_item i
         WHERE i.operation_no = p_operation AND i.is_due AND i.state = 'queued' AND i.source > v_source
           AND (i.source <> 0 OR i.event_id NOT IN (SELECT redrive._in_hand(p_operation))) ORDER BY i.source LIMIT 1;
        IF NOT FOUND THEN
            RETURN false;
        ELSIF v_source <> ALL (v_busy) THEN
            RETURN true;
        END IF;
    END LOOP;
END $$;

-- The oldest operation that can go on now. A frozen one becomes running. Only a worker that publishes is given a reprocess, and only one that
-- it could claim something of: what is left of the others waits for chunks that other workers have in hand. Where none can go on, the one that
-- will soonest by itself, with how long to wait; then is_settling says that it waits for what a step brings back.
CREATE OR REPLACE FUNCTION redrive.work_next(p_worker text, p_publishes boolean, p_skip bigint[])
RETURNS TABLE (no bigint, action text, rate integer, target_topic text, requested_by name, wait_ms bigint, is_settling boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    IF p_publishes THEN
        PERFORM redrive._watch_waiting();
    END IF;
    FOR v IN SELECT o.* FROM redrive.operation o
              WHERE o.state IN ('frozen', 'running') AND o.queued > 0 AND o.rate <> 0 AND (p_publishes OR o.action <> 'reprocess')
                AND o.no <> ALL (p_skip) AND coalesce(o.send_after <= clock_timestamp(), true)
              ORDER BY o.no
    LOOP
        CONTINUE WHEN v.action = 'reprocess' AND v.claimed > 0 AND NOT redrive._is_claimable(v.no);
        CONTINUE WHEN redrive._allowance(v) <= 0;
        IF v.state = 'frozen' OR NOT EXISTS (SELECT FROM redrive.worker w
                                              WHERE w.name = v.worker AND w.seen_at > clock_timestamp() - interval '15 s') THEN
            -- It may have been paused or ended since it was read: then the next one is looked at.
            UPDATE redrive.operation o
               SET state = 'running', worker = p_worker, started_at = coalesce(o.started_at, clock_timestamp()),
                   changed = nextval('redrive.change')
             WHERE o.no = v.no AND o.state IN ('frozen', 'running')
            RETURNING * INTO v;
            CONTINUE WHEN NOT FOUND;
        END IF;
        RETURN QUERY SELECT v.no, v.action, v.rate, v.target_topic, v.requested_by, 0::bigint, false;
        RETURN;
    END LOOP;
    RETURN QUERY SELECT o.no, o.action, o.rate, o.target_topic, o.requested_by,
                        greatest(1, extract(epoch FROM least(o.settle_until, o.send_after) - clock_timestamp()) * 1000)::bigint, o.state = 'waiting'
                   FROM redrive.operation o
                  WHERE (o.state = 'waiting' OR o.state IN ('frozen', 'running') AND o.send_after > clock_timestamp() AND o.rate <> 0)
                    AND o.queued > 0 AND (p_publishes OR o.action <> 'reprocess') AND o.no <> ALL (p_skip)
                  ORDER BY 7, 6 LIMIT 1;
END $$;

-- Discard, resolve, restore: carries out up to p_limit queued items. The UPDATE is guarded: an event that somebody else closed (or
-- opened) since the freeze is not touched and its item ends as a conflict that names who did it.
CREATE OR REPLACE FUNCTION redrive.work_apply(p_no bigint, p_limit bigint, OUT applied bigint, OUT remaining bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v redrive.operation;
    v_ids bigint[];
    v_blocks integer[];
    v_is_written_out boolean;
    v_done bigint[];
    v_now timestamptz := clock_timestamp();
    v_wall timestamp := redrive._wall(v_now);
BEGIN
    applied := 0;
    SELECT * INTO v FROM redrive.operation WHERE no = p_no FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no operation %', p_no USING ERRCODE = 'RD002';
    ELSIF v.action NOT IN ('discard', 'resolve', 'restore') THEN
        RAISE EXCEPTION 'operation % is a %, which is published, not applied', p_no, v.action USING ERRCODE = 'RD004';
    END IF;
    remaining := v.queued;
    IF v.state NOT IN ('frozen', 'running') OR v.rate = 0 OR v.send_after > clock_timestamp() THEN
        RETURN;
    END IF;

    LOOP
        v_blocks := '{}';
        SELECT p.ids INTO v_ids FROM redrive._items_pick(p_no, -1, p_limit) p; -- what is not published has source 0, so these are in order of id
        EXIT WHEN v_ids <> '{}';
        SELECT p.blocks, p.ids, p.is_written_out INTO v_blocks, v_ids, v_is_written_out FROM redrive._blocks_pick(p_no, '{}', p_limit) p;
        EXIT WHEN NOT v_is_written_out;
    END LOOP;

    IF v.action = 'restore' THEN
        WITH changed AS (
            UPDATE :"events" e SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL
             WHERE e.id = ANY (v_ids) AND coalesce(e.status, '') = 'DISCARDED' RETURNING e.id)
        SELECT coalesce(array_agg(id), '{}') INTO v_done FROM changed;
    ELSE
        WITH changed AS (
            UPDATE :"events" e
               SET status = CASE v.action WHEN 'discard' THEN 'DISCARDED' ELSE 'RESOLVED' END,
                   resolved_at = v_wall, resolved_by = left(v.requested_by::text, 50)
             WHERE e.id = ANY (v_ids) AND coalesce(e.status, '') = 'PENDING' RETURNING e.id)
        SELECT coalesce(array_agg(id), '{}') INTO v_done FROM changed;
    END IF;
    PERFORM redrive._backlog_note(v_done);

    applied := cardinality(v_ids);
    IF v_blocks <> '{}' AND cardinality(v_done) < applied THEN
        PERFORM redrive._blocks_write_out(p_no, v_blocks);
        v_blocks := '{}';
    END IF;
    IF v_blocks <> '{}' THEN
        UPDATE redrive.operation_block SET state = 'done', at = v_now WHERE operation_no = p_no AND no = ANY (v_blocks);
    ELSE
        UPDATE redrive.operation_item SET state = 'done', at = v_now WHERE operation_no = p_no AND event_id = ANY (v_done);
    END IF;
    IF cardinality(v_done) < applied THEN
        UPDATE redrive.operation_item i SET state = 'conflict', at = v_now,
               detail = redrive._closed((SELECT e.status FROM :"events" e WHERE e.id = i.event_id),
                                        (SELECT e.resolved_by FROM :"events" e WHERE e.id = i.event_id),
                                        (SELECT e.resolved_at FROM :"events" e WHERE e.id = i.event_id))
         WHERE operation_no = p_no AND event_id = ANY (v_ids) AND event_id <> ALL (v_done);
    END IF;

    UPDATE redrive.operation
       SET state = 'running', started_at = coalesce(started_at, v_now), queued = queued - applied,
           done = done + cardinality(v_done), conflict = conflict + applied - cardinality(v_done), changed = nextval('redrive.change')
     WHERE no = p_no
    RETURNING queued INTO remaining;
    IF applied > 0 THEN
        PERFORM redrive._audit('apply', p_no, applied, NULL,
            format('%s: %s done, %s in conflict', v.action, cardinality(v_done), applied - cardinality(v_done)));
    END IF;
    PERFORM redrive._finish(p_no);
END $$;

CREATE OR REPLACE FUNCTION redrive.work_finish(p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM FROM redrive.operation WHERE no = p_no FOR UPDATE;
    PERFORM redrive._finish(p_no);
END $$;

CREATE OR REPLACE FUNCTION redrive.worker_beat(p_name text, p_publishes boolean, p_note text, p_rate double precision) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.worker (name, publishes, note, rate) VALUES (p_name, p_publishes, p_note, p_rate)
    ON CONFLICT (name) DO UPDATE SET publishes = p_publishes, note = p_note, rate = p_rate, seen_at = clock_timestamp();
    DELETE FROM redrive.worker WHERE seen_at < clock_timestamp() - interval '1 day';
END $$;

CREATE OR REPLACE FUNCTION redrive.worker_gone(p_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.worker WHERE name = p_name AND who = session_user;
    UPDATE redrive.operation SET worker = NULL, changed = nextval('redrive.change') WHERE worker = p_name;
END $$;
