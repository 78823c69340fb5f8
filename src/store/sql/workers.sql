-- Workers, what they carry out next, and operations that are plain SQL: discard, resolve, restore.

CREATE TABLE redrive.worker (
    name       text PRIMARY KEY, -- <host>/<pid>/<start>
    publishes  boolean NOT NULL,
    note       text,
    rate       double precision NOT NULL DEFAULT 0,
    who        name NOT NULL DEFAULT session_user,
    host       text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

---- functions

-- A sign of life. A name belongs to the login that used it first.
CREATE OR REPLACE FUNCTION redrive.worker_beat(p_name text, p_publishes boolean, p_note text, p_rate double precision) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.worker (name, publishes, note, rate) VALUES (p_name, p_publishes, p_note, p_rate)
    ON CONFLICT (name) DO UPDATE SET publishes = p_publishes, note = p_note, rate = p_rate, seen_at = clock_timestamp()
     WHERE worker.who = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the worker % is somebody else''s', p_name USING ERRCODE = 'RD003';
    END IF;
    DELETE FROM redrive.worker WHERE seen_at < clock_timestamp() - interval '1 day';
END $$;

CREATE OR REPLACE FUNCTION redrive.worker_gone(p_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.worker WHERE name = p_name AND who = session_user;
    IF FOUND THEN
        UPDATE redrive.operation SET worker = NULL, changed = nextval('redrive.change') WHERE worker = p_name;
    END IF;
END $$;

-- Is there a queued item whose source no chunk is busy with?
-- Plan: from source to source along operation_item_work, without reading the items of each.
CREATE OR REPLACE FUNCTION redrive._is_claimable(p_operation bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_sort = off SET enable_bitmapscan = off AS $$
DECLARE
    v_busy integer[] := ARRAY(SELECT DISTINCT b FROM redrive.chunk c, unnest(c.sources) AS b
                               WHERE c.operation_no = p_operation AND c.state = 'claimed');
    v_source bigint := -2147483649;
BEGIN
    IF EXISTS (SELECT FROM redrive.operation_batch b WHERE b.operation_no = p_operation AND b.state = 'queued' AND NOT b.busy && v_busy) THEN
        RETURN true;
    END IF;
    LOOP
        SELECT i.source INTO v_source FROM redrive.operation_item i
         WHERE i.operation_no = p_operation AND i.is_due AND i.state = 'queued' AND i.source > v_source
           AND (i.source <> 0 OR i.dlq_id NOT IN (SELECT redrive._in_flight(p_operation))) ORDER BY i.source LIMIT 1;
        IF NOT FOUND THEN
            RETURN false;
        ELSIF v_source <> ALL (v_busy) THEN
            RETURN true;
        END IF;
    END LOOP;
END $$;

-- Does it wait for a consumer group that lags? Its row says so.
CREATE OR REPLACE FUNCTION redrive._lag_holds(v redrive.operation) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE l record := redrive._lag_room(v);
BEGIN
    UPDATE redrive.operation SET state_note = l.why, changed = nextval('redrive.change')
     WHERE no = v.no AND state IN ('frozen', 'running') AND claimed = 0 AND l.why ~ '^waits: ' AND state_note IS DISTINCT FROM l.why;
    RETURN coalesce(l.room <= 0, false);
END $$;

-- The oldest operation that has work now. A frozen one becomes running; one whose worker has given no sign for five seconds is taken over. Only a
-- worker that publishes gets a reprocess, and only one from which it could claim something. Without any: the one whose wait ends first, and in how
-- many ms; is_observing says that it waits after a step, is_later that its time to begin has not come.
CREATE OR REPLACE FUNCTION redrive.work_next(p_worker text, p_publishes boolean, p_skip bigint[])
RETURNS TABLE (no bigint, action text, rate integer, target_topic text, requested_by name, wait_ms bigint, is_observing boolean, recipe text,
               queued bigint, is_forced boolean, is_later boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation;
    v_before text;     -- the worker that has it
    v_silent interval; -- since the last sign of that one, where it is another
BEGIN
    IF p_publishes THEN
        PERFORM redrive._operations_observe();
        PERFORM redrive._policy_topics_judge();
    END IF;
    PERFORM redrive._operations_follow();
    FOR v IN SELECT o.* FROM redrive.operation o
              WHERE o.state IN ('frozen', 'running') AND o.queued > 0 AND (o.rate <> 0 OR o.then_reprocess) AND (p_publishes OR o.action <> 'reprocess')
                AND o.no <> ALL (p_skip) AND coalesce(o.send_after <= clock_timestamp(), true)
              ORDER BY o.no
    LOOP
        CONTINUE WHEN v.action = 'reprocess' AND v.claimed > 0 AND NOT redrive._is_claimable(v.no);
        CONTINUE WHEN redrive._allowance(v) <= 0;
        CONTINUE WHEN v.max_lag IS NOT NULL AND redrive._lag_holds(v);
        CONTINUE WHEN v.policy IS NOT NULL AND v.action = 'reprocess' AND redrive._policy_holds(v);
        v_before := v.worker;
        v_silent := CASE WHEN v_before <> p_worker
                         THEN clock_timestamp() - coalesce((SELECT least(w.seen_at, clock_timestamp()) FROM redrive.worker w WHERE w.name = v_before),
                                                           clock_timestamp() - interval '1 day') END;
        IF v.state = 'frozen' OR v_before IS NULL OR v_silent > '5 s' THEN
            -- It may have been paused, ended or taken since the row was read: try the next one.
            UPDATE redrive.operation o
               SET state = 'running', worker = p_worker, started_at = coalesce(o.started_at, clock_timestamp()),
                   changed = nextval('redrive.change')
             WHERE o.no = v.no AND o.state IN ('frozen', 'running') AND o.worker IS NOT DISTINCT FROM v_before
            RETURNING * INTO v;
            CONTINUE WHEN NOT FOUND;
            IF v_silent > '5 s' THEN
                PERFORM redrive._audit('takeover', v.no, v.queued + v.claimed, NULL,
                                       format('by %s: no sign of %s for %s s', p_worker, v_before, round(extract(epoch FROM v_silent))));
            END IF;
        END IF;
        RETURN QUERY SELECT v.no, v.action, v.rate, v.target_topic, v.requested_by, 0::bigint, false, v.recipe, v.queued, v.is_forced, false;
        RETURN;
    END LOOP;
    RETURN QUERY SELECT o.no, o.action, o.rate, o.target_topic, o.requested_by,
                        CASE WHEN o.state = 'waiting' AND o.observe_until <= clock_timestamp() THEN 500 -- until its events are taken
                             ELSE greatest(1, extract(epoch FROM least(o.observe_until, o.send_after) - clock_timestamp()) * 1000)::bigint END,
                        o.state = 'waiting', o.recipe, o.queued, o.is_forced, coalesce(o.begins_at > clock_timestamp(), false)
                   FROM redrive.operation o
                  WHERE (o.state = 'waiting' OR o.state IN ('frozen', 'running') AND o.send_after > clock_timestamp() AND (o.rate <> 0 OR o.then_reprocess))
                    AND o.queued > 0 AND (p_publishes OR o.action <> 'reprocess') AND o.no <> ALL (p_skip)
                  ORDER BY 7, 6 LIMIT 1;
END $$;

-- The next queued events of an operation that sends nothing, at most p_limit. batches: they are all events of these batches; '{}': they are rows.
CREATE OR REPLACE FUNCTION redrive._work_pick(p_no bigint, p_limit bigint, OUT ids bigint[], OUT batches integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_is_written_out boolean;
BEGIN
    LOOP
        batches := '{}';
        SELECT p.ids INTO ids FROM redrive._items_pick(p_no, -1, p_limit) p; -- all of source 0, so these are in order of id
        EXIT WHEN ids <> '{}';
        SELECT p.batches, p.ids, p.is_written_out INTO batches, ids, v_is_written_out FROM redrive._batches_pick(p_no, '{}', p_limit) p;
        EXIT WHEN NOT v_is_written_out;
    END LOOP;
END $$;

-- Discards, resolves or restores these events, or reverts their revisions. The UPDATE is guarded: an event that somebody else closed or opened
-- since the freeze is not touched. Returns those that were changed.
CREATE OR REPLACE FUNCTION redrive._work_change(v redrive.operation, p_ids bigint[], p_at timestamptz) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_wall timestamp := redrive._wall(p_at);
    v_by text := left(redrive._asked_by(v.policy, v.requested_by), 50);
    v_done bigint[];
BEGIN
    IF v.action = 'correct' THEN
        RETURN redrive._correct_undo(v, p_ids);
    ELSIF v.action = 'restore' THEN
        WITH changed AS (
            UPDATE :"events" e SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL
             WHERE e.id = ANY (p_ids) AND coalesce(e.status, '') = v.restores RETURNING e.id)
        SELECT coalesce(array_agg(id), '{}') INTO v_done FROM changed;
    ELSE
        WITH changed AS (
            UPDATE :"events" e
               SET status = CASE v.action WHEN 'discard' THEN 'DISCARDED' ELSE 'RESOLVED' END,
                   resolved_at = v_wall, resolved_by = v_by
             WHERE e.id = ANY (p_ids) AND coalesce(e.status, '') = 'PENDING' RETURNING e.id)
        SELECT coalesce(array_agg(id), '{}') INTO v_done FROM changed;
    END IF;
    PERFORM redrive._rollup_note(v_done);
    RETURN v_done;
END $$;

-- Carries out up to p_limit queued items of a discard, resolve or restore, or of a correct that undoes another. An item whose event was not open
-- any more is skipped, with the reason.
-- Plan: of this and of the steps above: events and items by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive.work_apply(p_no bigint, p_limit bigint, OUT applied bigint, OUT remaining bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v redrive.operation := redrive._operation_lock(p_no);
    v_now timestamptz := clock_timestamp();
    v_ids bigint[];
    v_batches integer[];
    v_done bigint[];
BEGIN
    applied := 0;
    IF v.action NOT IN ('discard', 'resolve', 'restore') AND (v.action <> 'correct' OR v.recipe IS NOT NULL) THEN
        RAISE EXCEPTION 'operation % is a %, which is published, not applied', p_no, v.action USING ERRCODE = 'RD004';
    END IF;
    remaining := v.queued;
    IF v.state NOT IN ('frozen', 'running') OR v.rate = 0 OR v.send_after > clock_timestamp() THEN
        RETURN;
    END IF;

    SELECT p.ids, p.batches INTO v_ids, v_batches FROM redrive._work_pick(p_no, p_limit) p;
    v_done := redrive._work_change(v, v_ids, v_now);
    applied := cardinality(v_ids);
    IF v_batches <> '{}' AND cardinality(v_done) < applied THEN
        PERFORM redrive._batches_write_out(p_no, v_batches);
        v_batches := '{}';
    END IF;
    IF v_batches <> '{}' THEN
        UPDATE redrive.operation_batch SET state = 'done', at = v_now WHERE operation_no = p_no AND no = ANY (v_batches);
    ELSE
        UPDATE redrive.operation_item SET state = 'done', at = v_now WHERE operation_no = p_no AND dlq_id = ANY (v_done);
    END IF;
    IF cardinality(v_done) < applied THEN
        PERFORM redrive._items_skip(p_no, redrive._without(v_ids, v_done), v_now);
        UPDATE redrive.operation_item SET detail = 'corrected meanwhile'
         WHERE v.action = 'correct' AND operation_no = p_no AND dlq_id = ANY (redrive._without(v_ids, v_done)) AND detail = 'is pending';
    END IF;

    UPDATE redrive.operation
       SET state = 'running', started_at = coalesce(started_at, v_now), queued = queued - applied,
           state_note = CASE WHEN applied = 0 THEN state_note END,
           done = done + cardinality(v_done), skipped = skipped + applied - cardinality(v_done), changed = nextval('redrive.change')
     WHERE no = p_no
    RETURNING queued INTO remaining;
    IF applied > 0 THEN
        PERFORM redrive._audit('apply', p_no, applied, NULL,
            format('%s: %s done, %s skipped', v.action, cardinality(v_done), applied - cardinality(v_done)));
    END IF;
    PERFORM redrive._operation_finish(p_no);
END $$;

-- Why an operation does not proceed: its row says so until its next step succeeds. While a chunk of it is in flight it does proceed.
CREATE OR REPLACE FUNCTION redrive.work_note(p_no bigint, p_note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation SET state_note = left(p_note, 300), changed = nextval('redrive.change')
     WHERE no = p_no AND state IN ('frozen', 'running') AND NOT is_cancelling AND queued > 0
       AND NOT EXISTS (SELECT FROM redrive.chunk c WHERE c.operation_no = p_no AND claimed > 0 -- others are at work
                          AND greatest(c.created_at, c.decided_at) > clock_timestamp() - interval '2 s')
       AND state_note IS DISTINCT FROM left(p_note, 300);
END $$;

CREATE OR REPLACE FUNCTION redrive.work_finish(p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM FROM redrive.operation WHERE no = p_no FOR UPDATE;
    PERFORM redrive._operation_finish(p_no);
END $$;
