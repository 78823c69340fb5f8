-- Steering operations while they run, by a person and by themselves: canary and ramp, halting, and the events that came back.
--
-- Lock order: the row of comeback_watch comes before an operation's.

CREATE OR REPLACE FUNCTION redrive._percent(p_part bigint, p_of bigint) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT trim_scale(round(p_part * 100.0 / greatest(p_of, 1), 1)) || ' %';
$$;

-- How an operation is to be sent, in words for the audit; '' where that is all at once.
CREATE OR REPLACE FUNCTION redrive._plan_words(v redrive.operation) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN v.rate >= 0 THEN format('; %s/s', v.rate) ELSE '' END
        || CASE WHEN cardinality(v.steps) > 0
                THEN format('; first %s, then the rest, %s s after each', array_to_string(v.steps, ', then '),
                            trim_scale(extract(epoch FROM v.settle_for)::numeric))
                ELSE '' END
        || CASE WHEN v.halt_above IS NOT NULL THEN format('; halts above %s %%', v.halt_above) ELSE '' END;
$$;

-- The same as a part of a sentence.
CREATE OR REPLACE FUNCTION redrive._plan_said(v redrive.operation) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(nullif(replace(ltrim(redrive._plan_words(v), '; '), '; ', ', '), ''), 'all at once');
$$;

-- How many more may be claimed in the step at work; NULL: no limit.
CREATE OR REPLACE FUNCTION redrive._allowance(v redrive.operation) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN v.step <= cardinality(v.steps)
                THEN (SELECT sum(s) FROM unnest(v.steps[:v.step]) AS s)::bigint - (v.done + v.refused + v.claimed + v.held) END;
$$;

-- Within the transaction of a freeze: how its operation is to be sent, and from how many events on somebody else approves it.
-- NULL leaves a column as it is.
CREATE OR REPLACE FUNCTION redrive.operation_plan(p_no bigint, p_steps integer[], p_settle_ms bigint, p_halt_above real, p_undo_ms bigint,
                                       p_approve_above bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation
       SET steps = coalesce(p_steps, steps), settle_for = coalesce(p_settle_ms * interval '1 ms', settle_for),
           halt_above = coalesce(p_halt_above, halt_above), undo_for = coalesce(p_undo_ms * interval '1 ms', undo_for),
           approve_above = coalesce(p_approve_above, approve_above)
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    END IF;
END $$;

-- Within the transaction of a freeze: the discard that this restore takes back.
CREATE OR REPLACE FUNCTION redrive.operation_undoes(p_no bigint, p_discard bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation r SET undoes = d.no FROM redrive.operation d
     WHERE r.no = p_no AND r.state = 'freezing' AND r.requested_by = session_user AND r.action = 'restore'
       AND d.no = p_discard AND d.action = 'discard';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % cannot undo operation %', p_no, p_discard USING ERRCODE = 'RD004';
    END IF;
END $$;

-- The newest discard of which nothing is left to be brought back once this restore is done: it is undone by that, whoever asked for it and how.
-- Looked for among those that closed one of these two events, the lowest and the highest of the restore. NULL: there is none.
CREATE OR REPLACE FUNCTION redrive._takes_back(p_no bigint, p_lowest bigint, p_highest bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
DECLARE v_discard bigint;
BEGIN
    FOR v_discard IN
        SELECT d.no FROM redrive.operation d
         WHERE d.no IN (SELECT i.operation_no FROM unnest(ARRAY[p_lowest, p_highest]) AS w (id) CROSS JOIN LATERAL redrive.items_of(w.id) i
                         WHERE i.state = 'done')
           AND d.action = 'discard' AND d.state IN ('done', 'cancelled')
           AND NOT EXISTS (SELECT FROM redrive.operation r WHERE r.undoes = d.no AND r.state <> 'cancelled')
         ORDER BY d.no DESC
    LOOP
        PERFORM FROM (SELECT unnest(b.event_ids) FROM redrive.operation_block b WHERE b.operation_no = v_discard AND b.state = 'done'
                      UNION ALL SELECT i.event_id FROM redrive.operation_item i WHERE i.operation_no = v_discard AND i.state = 'done'
                      EXCEPT (SELECT unnest(b.event_ids) FROM redrive.operation_block b WHERE b.operation_no = p_no
                              UNION ALL SELECT i.event_id FROM redrive.operation_item i WHERE i.operation_no = p_no)) AS other (id)
          CROSS JOIN LATERAL (SELECT FROM :"events" e WHERE e.id = other.id AND e.status = 'DISCARDED' LIMIT 1) AS still
          LIMIT 1;
        IF NOT FOUND THEN
            RETURN v_discard;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Can this be done to it? The caller holds its row.
CREATE OR REPLACE FUNCTION redrive._steer_check(v redrive.operation, p_steer text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF v.state IN ('done', 'cancelled') THEN
        RAISE EXCEPTION 'operation % is already %', v.no, v.state USING ERRCODE = 'RD001';
    ELSIF v.is_cancelling THEN
        RAISE EXCEPTION 'operation % is being cancelled', v.no USING ERRCODE = 'RD001';
    ELSIF p_steer = 'approve' AND v.state <> 'awaiting approval' THEN
        RAISE EXCEPTION 'operation % does not wait for approval, it is %', v.no, v.state USING ERRCODE = 'RD001';
    ELSIF p_steer = 'approve' AND v.requested_by = session_user THEN
        RAISE EXCEPTION 'operation % was asked for by %, so somebody else approves it', v.no, v.requested_by USING ERRCODE = 'RD003';
    ELSIF p_steer = 'pause' AND v.state NOT IN ('frozen', 'running', 'waiting') THEN
        RAISE EXCEPTION 'operation % cannot be paused, it is %', v.no, v.state USING ERRCODE = 'RD001';
    ELSIF p_steer = 'resume' AND v.state NOT IN ('paused', 'halted', 'waiting') THEN
        RAISE EXCEPTION 'operation % cannot be resumed, it is %', v.no, v.state USING ERRCODE = 'RD001';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION redrive._steer_row(p_no bigint) RETURNS redrive.operation
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    SELECT * INTO v FROM redrive.operation WHERE no = p_no FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no operation %', p_no USING ERRCODE = 'RD002';
    END IF;
    RETURN v;
END $$;

-- pause, resume, rate, cancel, approve. Says what the operation is when it cannot be done. Who resumes one that waits after a step lets the next
-- step begin now; who resumes a halted one has seen what was refused and what came back, so only what is added counts from then on.
CREATE OR REPLACE FUNCTION redrive.operation_steer(p_no bigint, p_steer text, p_rate integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation := redrive._steer_row(p_no);
    v_is_next boolean;
    v_state text;
    v_cancelled bigint := 0;
BEGIN
    PERFORM redrive._steer_check(v, p_steer);
    IF p_steer NOT IN ('pause', 'resume', 'rate', 'cancel', 'approve') OR p_steer = 'rate' AND coalesce(p_rate, -2) < -1 THEN
        RAISE EXCEPTION 'an operation cannot be steered by % %', p_steer, p_rate USING ERRCODE = 'RD004';
    END IF;

    IF p_steer = 'cancel' THEN
        UPDATE redrive.operation_item SET state = 'cancelled', at = clock_timestamp()
         WHERE operation_no = p_no AND is_due AND state = 'queued' AND event_id NOT IN (SELECT redrive._in_hand(p_no));
        GET DIAGNOSTICS v_cancelled = ROW_COUNT;
        WITH changed AS (
            UPDATE redrive.operation_block SET state = 'cancelled', at = clock_timestamp()
             WHERE operation_no = p_no AND state = 'queued' RETURNING events)
        SELECT v_cancelled + coalesce(sum(events), 0) INTO v_cancelled FROM changed;
    END IF;
    v_is_next := p_steer = 'resume' AND v.settle_until IS NOT NULL AND v.state IN ('waiting', 'halted');
    v_state := CASE p_steer WHEN 'pause' THEN 'paused'
                            WHEN 'approve' THEN 'frozen'
                            WHEN 'resume' THEN CASE WHEN v.state = 'paused' AND v.settle_until IS NOT NULL THEN 'waiting'
                                                    WHEN v.started_at IS NULL THEN 'frozen' ELSE 'running' END
                            WHEN 'cancel' THEN CASE WHEN v.state IN ('freezing', 'awaiting approval') THEN 'frozen' ELSE v.state END
                            ELSE v.state END;
    UPDATE redrive.operation
       SET state = v_state,
           rate = CASE WHEN p_steer = 'rate' THEN p_rate ELSE rate END,
           step = CASE WHEN v_is_next THEN step + 1 ELSE step END,
           settle_until = CASE WHEN NOT v_is_next THEN settle_until END,
           pardoned = CASE WHEN v.state = 'halted' AND p_steer = 'resume' THEN refused + came_back ELSE pardoned END,
           pardoned_of = CASE WHEN v.state = 'halted' AND p_steer = 'resume' THEN done + refused ELSE pardoned_of END,
           approved_by = CASE WHEN p_steer = 'approve' THEN session_user ELSE approved_by END,
           is_cancelling = p_steer = 'cancel',
           queued = queued - v_cancelled,
           cancelled = cancelled + v_cancelled,
           state_note = CASE WHEN p_steer = 'cancel' AND claimed + held > 0
                             THEN format('cancelled; %s in hand are settled first', claimed + held)
                             WHEN p_steer = 'rate' THEN state_note END,
           changed = nextval('redrive.change')
     WHERE no = p_no;
    PERFORM redrive._audit(p_steer, p_no, v_cancelled, NULL,
        CASE WHEN p_steer = 'rate' THEN format('rate %s to %s', v.rate, p_rate)
             WHEN v_is_next THEN format('%s to %s, step %s', v.state, v_state, v.step + 1)
             ELSE format('%s to %s', v.state, v_state) END);
    PERFORM redrive._finish(p_no);
END $$;

-- The plan of a reprocess, while it runs: p_what 'steps' (p_steps: from what was sent so far), 'settle' (p_number: ms) or 'halt' (p_number:
-- percent, NULL never).
CREATE OR REPLACE FUNCTION redrive.operation_tune(p_no bigint, p_what text, p_steps integer[], p_number double precision) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation := redrive._steer_row(p_no);
    w redrive.operation;
    v_sent bigint := v.done + v.refused + v.claimed + v.held;
BEGIN
    PERFORM redrive._steer_check(v, p_what);
    IF v.action <> 'reprocess' THEN
        RAISE EXCEPTION 'operation % is a %: only a reprocess has steps and halts by itself', p_no, v.action USING ERRCODE = 'RD004';
    ELSIF p_what NOT IN ('steps', 'settle', 'halt') OR p_what = 'settle' AND coalesce(p_number, -1) < 0
          OR p_what = 'halt' AND p_number NOT BETWEEN 0 AND 100 THEN
        RAISE EXCEPTION 'an operation cannot be steered by % %', p_what, p_number USING ERRCODE = 'RD004';
    END IF;
    UPDATE redrive.operation
       SET steps = CASE WHEN p_what <> 'steps' THEN steps WHEN v_sent > 0 AND cardinality(p_steps) > 0 THEN v_sent::integer || p_steps
                        ELSE coalesce(p_steps, '{}') END,
           step = CASE WHEN p_what <> 'steps' THEN step WHEN v_sent > 0 AND cardinality(p_steps) > 0 AND v.settle_until IS NULL THEN 2 ELSE 1 END,
           settle_for = CASE WHEN p_what = 'settle' THEN p_number * interval '1 ms' ELSE settle_for END,
           settle_until = CASE WHEN p_what = 'settle' THEN settle_until - settle_for + p_number * interval '1 ms' ELSE settle_until END,
           halt_above = CASE WHEN p_what = 'halt' THEN p_number ELSE halt_above END,
           changed = nextval('redrive.change')
     WHERE no = p_no RETURNING * INTO w;
    PERFORM redrive._audit(p_what, p_no, 0, NULL, format('%s: was %s; is %s', p_what, redrive._plan_said(v), redrive._plan_said(w)));
    PERFORM redrive._watch(p_no, 0);
END $$;

-- What an operation decides by itself: it halts above its share of refused or returned events, waits at the end of a step, and goes on when
-- nothing more can come of waiting. p_unsent: events looked at beside those sent and refused. The caller holds its row.
CREATE OR REPLACE FUNCTION redrive._watch(p_no bigint, p_unsent bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation;
    v_bad bigint;
    v_of bigint;
BEGIN
    SELECT * INTO v FROM redrive.operation WHERE no = p_no AND state IN ('running', 'waiting') AND NOT is_cancelling AND queued > 0;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_bad := v.refused + v.came_back - v.pardoned;
    v_of := v.done + v.refused + p_unsent - v.pardoned_of;
    -- One in two is no share to judge by: at least ten, or as many as the first step has.
    IF v_bad * 100.0 > v.halt_above * v_of AND v_of >= least(10, v.total, coalesce(v.steps[1], 10)) THEN
        UPDATE redrive.operation
           SET state = 'halted', worker = NULL, changed = nextval('redrive.change'),
               state_note = format('%s of %s failed, more than %s %%: %s came back, %s refused', redrive._percent(v_bad, v_of), v_of,
                                   v.halt_above, v.came_back, v.refused)
         WHERE no = p_no RETURNING * INTO v;
        PERFORM redrive._audit('halt', p_no, v.queued, NULL, v.state_note);
    ELSIF v.state = 'running' AND v.claimed = 0 AND redrive._allowance(v) <= 0 THEN
        UPDATE redrive.operation
           SET state = 'waiting', settle_until = clock_timestamp() + settle_for, changed = nextval('redrive.change') WHERE no = p_no;
        PERFORM redrive._audit('step', p_no, v.done + v.refused, NULL, format('step %s of %s ended: %s sent, %s refused, %s came back so far',
                                                                       v.step, cardinality(v.steps) + 1, v.done, v.refused, v.came_back));
    ELSIF v.state = 'waiting' AND (v.settle_until <= clock_timestamp() OR v.came_back >= v.done) THEN
        UPDATE redrive.operation
           SET state = 'running', step = step + 1, settle_until = NULL, changed = nextval('redrive.change') WHERE no = p_no;
        PERFORM redrive._audit('step', p_no, v.done + v.refused, NULL, format('%s of %s came back, going on with step %s of %s', v.came_back, v.done,
                                                                       v.step + 1, cardinality(v.steps) + 1));
    END IF;
END $$;

-- Events of an operation whose own row is pending again: some consumers open it anew instead of writing another. Looks at its newest chunks.
CREATE OR REPLACE FUNCTION redrive._reopened_note(p_no bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    WITH sent AS MATERIALIZED (
        SELECT w.id, c.created_at AS at
          FROM (SELECT event_ids, created_at FROM redrive.chunk
                 WHERE operation_no = p_no AND state = 'committed' ORDER BY decided_at DESC LIMIT 10) c, unnest(c.event_ids) AS w(id)),
    back AS (
        INSERT INTO redrive.comeback AS had (event_id, operation_no, sent_id, sent_at, known_by)
        SELECT s.id, p_no, s.id, s.at, 'its row'
          FROM sent s CROSS JOIN LATERAL (SELECT FROM :"events" x WHERE x.id = s.id AND coalesce(x.status, '') = 'PENDING' OFFSET 0) e
         WHERE NOT EXISTS (SELECT FROM redrive.operation_item i WHERE i.event_id = s.id AND i.operation_no = p_no AND i.state <> 'done')
        ON CONFLICT (event_id) DO UPDATE SET operation_no = p_no, sent_id = excluded.sent_id, sent_at = excluded.sent_at,
                                             times = had.times + 1, known_by = excluded.known_by, at = clock_timestamp()
         WHERE had.operation_no <> p_no
        RETURNING 1)
    UPDATE redrive.operation SET came_back = came_back + n.n, changed = nextval('redrive.change')
      FROM (SELECT count(*) AS n FROM back) n WHERE no = p_no AND n.n > 0;
END $$;

-- Those that wait after a step: did it come back?
CREATE OR REPLACE FUNCTION redrive._watch_waiting() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_no bigint;
BEGIN
    -- Somebody else looks just now, or there is more than was looked at: then it is decided next time.
    IF NOT EXISTS (SELECT FROM redrive.operation WHERE state = 'waiting') OR NOT redrive.comebacks_note(20000) THEN
        RETURN;
    END IF;
    FOR v_no IN SELECT no FROM redrive.operation WHERE state = 'waiting' ORDER BY no FOR UPDATE SKIP LOCKED LOOP
        PERFORM redrive._reopened_note(v_no);
        PERFORM redrive._watch(v_no, 0);
    END LOOP;
END $$;

-- The item by which a failed event was republished last, if it was: known by the headers that were sent along, where the record is kept; else by
-- its event id; else by its correlation id, when it is the same type of the same source; else by the place that the original had.
CREATE OR REPLACE FUNCTION redrive._sent_item(p_id bigint, p_at timestamp, p_event_id text, p_correlation uuid, p_type text, p_source_id text, p_topic text,
                                    p_partition integer, p_offset bigint, OUT operation_no bigint, OUT sent_id bigint, OUT sent_at timestamptz,
                                    OUT known_by text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_at timestamptz := p_at AT TIME ZONE (SELECT zone FROM redrive.install);
    v_source integer := redrive._source(p_topic, p_partition, p_offset);
    v_event text;
    v_operation text;
BEGIN
    SELECT encode(r.header_values[array_position(r.header_names, 'redrive-event-id')], 'escape'),
           encode(r.header_values[array_position(r.header_names, 'redrive-operation')], 'escape') INTO v_event, v_operation
      FROM redrive.record r WHERE r.event_id = p_id;
    IF v_event ~ '^[0-9]{1,18}$' AND v_operation ~ '^[0-9]{1,18}$' THEN
        known_by := 'headers';
        SELECT i.operation_no, i.event_id, i.at INTO operation_no, sent_id, sent_at FROM redrive.items_of(v_event::bigint) i
         WHERE i.operation_no = v_operation::bigint AND i.event_id <> p_id AND i.state = 'done' AND i.event_key IS NOT NULL AND i.at <= v_at;
    END IF;
    IF operation_no IS NULL THEN
        known_by := 'event id';
        SELECT i.operation_no, i.event_id, i.at INTO operation_no, sent_id, sent_at FROM redrive.items_sent(ARRAY[p_event_id]) i
         WHERE i.event_id <> p_id AND i.at <= v_at
         ORDER BY i.at DESC LIMIT 1;
    END IF;
    IF operation_no IS NULL AND p_correlation IS NOT NULL THEN
        known_by := 'correlation id';
        SELECT i.operation_no, i.event_id, i.at INTO operation_no, sent_id, sent_at FROM (
            SELECT r.operation_no, r.event_id, r.at FROM redrive.operation_item r
             WHERE r.correlation = p_correlation AND NOT r.is_live AND r.correlation IS NOT NULL AND r.state = 'done'
            UNION ALL
            SELECT b.operation_no, b.event_ids[n], b.at
              FROM redrive._blocks_marked(ARRAY[uuid_hash(p_correlation)]) b CROSS JOIN LATERAL unnest(array_positions(b.correlations, p_correlation)) AS n) i
         WHERE i.event_id <> p_id AND i.at <= v_at
           AND EXISTS (SELECT FROM :"events" x WHERE x.id = i.event_id AND x.event_type = p_type
                                                 AND coalesce(x.source_id, '') = coalesce(p_source_id, ''))
         ORDER BY i.at DESC LIMIT 1;
    END IF;
    IF operation_no IS NULL AND v_source <> 0 THEN
        known_by := 'coordinates';
        SELECT i.operation_no, i.event_id, i.at INTO operation_no, sent_id, sent_at FROM (
            SELECT r.operation_no, r.event_id, r.at FROM redrive.operation_item r
             WHERE r.source = v_source AND r.source_offset = p_offset AND r.source <> 0 AND NOT r.is_live AND r.event_key IS NOT NULL
               AND r.state = 'done'
            UNION ALL
            SELECT b.operation_no, b.event_ids[n], b.at
              FROM redrive._blocks_marked(ARRAY[hashint8(p_offset # (v_source::bigint << 32))]) b
             CROSS JOIN LATERAL unnest(array_positions(b.source_offsets, p_offset)) AS n WHERE b.sources[n] = v_source) i
         WHERE i.event_id <> p_id AND i.at <= v_at
           AND EXISTS (SELECT FROM :"events" x WHERE x.id = i.event_id AND x.kafka_topic = p_topic
                                                 AND x.kafka_partition = p_partition AND x.kafka_offset = p_offset)
         ORDER BY i.at DESC LIMIT 1;
    END IF;
END $$;

-- Looks through rows that arrived since the last look (at most p_limit) for events that were republished before, and counts each for the
-- operation that did it last. One worker at a time; the others pass by. True: all there is has been looked at.
CREATE OR REPLACE FUNCTION redrive.comebacks_note(p_limit bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    w redrive.comeback_watch;
    v_top bigint;
    v_rows bigint;
    v_no bigint;
BEGIN
    SELECT * INTO w FROM redrive.comeback_watch FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF NOT EXISTS (SELECT FROM redrive.chunk WHERE state IN ('claimed', 'in doubt'))
       AND NOT redrive.has_sent() THEN
        SELECT coalesce(max(e.id), 0) INTO v_top FROM :"events" e; -- nothing was sent, so nothing can have come back
        UPDATE redrive.comeback_watch SET sure = v_top, seen = v_top, seen_at = clock_timestamp() WHERE seen <> v_top;
        RETURN true;
    END IF;
    SELECT max(id), count(*) INTO v_top, v_rows
      FROM (SELECT e.id FROM :"events" e WHERE e.id > w.sure ORDER BY e.id LIMIT p_limit) AS ahead;
    IF v_rows = 0 THEN
        RETURN true;
    ELSIF v_rows > 20 THEN -- each is looked for among what is not in the index yet
        PERFORM redrive.work_index_marks(1000);
    END IF;

    FOR v_no IN
        WITH back AS (
            INSERT INTO redrive.comeback (event_id, operation_no, sent_id, sent_at, known_by, times)
            SELECT e.id, i.operation_no, i.sent_id, i.sent_at, i.known_by,
                   1 + coalesce((SELECT c.times FROM redrive.comeback c WHERE c.event_id = i.sent_id), 0)
              FROM :"events" e CROSS JOIN LATERAL redrive._sent_item(e.id, e.created_at, e.event_id, e.correlation_id, e.event_type, e.source_id,
                                                                             e.kafka_topic, e.kafka_partition, e.kafka_offset) i
             WHERE e.id > w.sure AND e.id <= v_top AND i.operation_no IS NOT NULL
               AND NOT EXISTS (SELECT FROM redrive.comeback c WHERE c.event_id = e.id)
            ON CONFLICT DO NOTHING RETURNING operation_no, sent_id),
        -- Written twice by its consumer, it came back once.
        per AS (SELECT b.operation_no, count(DISTINCT b.sent_id) AS n FROM back b
                 WHERE NOT EXISTS (SELECT FROM redrive.comeback c WHERE c.sent_id = b.sent_id AND c.operation_no = b.operation_no)
                 GROUP BY b.operation_no)
        UPDATE redrive.operation o SET came_back = came_back + per.n, changed = nextval('redrive.change')
          FROM per WHERE o.no = per.operation_no RETURNING o.no
    LOOP
        PERFORM redrive._watch(v_no, 0);
    END LOOP;

    IF v_rows = p_limit THEN -- a full page: what commits out of order now lies beyond it
        UPDATE redrive.comeback_watch SET sure = v_top, seen = v_top, seen_at = clock_timestamp();
        RETURN false;
    ELSIF w.seen_at < clock_timestamp() - interval '10 s' THEN
        UPDATE redrive.comeback_watch SET sure = w.seen, seen = v_top, seen_at = clock_timestamp();
    END IF;
    RETURN true;
END $$;
