-- Steering operations while they run, by a person and by themselves: rate, canary and later steps, halting.

---- functions

-- After a step of a recipe nothing can return that could be watched: a person looks, and resumes it.
CREATE OR REPLACE FUNCTION redrive._waits_for_person(v redrive.operation) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT v.action = 'correct' AND NOT v.then_reprocess;
$$;

-- Rates and states in the words of the screen.
CREATE OR REPLACE FUNCTION redrive._rate_text(p_rate integer) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN p_rate >= 0 THEN to_char(p_rate, 'FM999,999,999,990') || '/s' ELSE 'no limit' END;
$$;

CREATE OR REPLACE FUNCTION redrive._state_text(p_state text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE p_state WHEN 'freezing' THEN 'selecting' WHEN 'frozen' THEN 'queued' WHEN 'waiting' THEN 'watching for returns' ELSE p_state END;
$$;

-- How an operation is sent, as text for the audit; '' for all at once.
CREATE OR REPLACE FUNCTION redrive._plan_text(v redrive.operation) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN v.rate >= 0 THEN format('; %s/s', v.rate) ELSE '' END
        || CASE WHEN v.max_lag IS NOT NULL THEN format('; while no group lags more than %s', v.max_lag) ELSE '' END
        || CASE WHEN cardinality(v.steps) > 0
                THEN format('; first %s, then the rest', array_to_string(v.steps, ', then '))
                     || CASE WHEN redrive._waits_for_person(v) THEN ', each when somebody resumes it'
                             ELSE format(', %s s after each', trim_scale(extract(epoch FROM v.settle_for)::numeric)) END
                ELSE '' END
        || CASE WHEN v.halt_above IS NOT NULL THEN format('; halts above %s%%', v.halt_above) ELSE '' END;
$$;

-- The same as part of a sentence.
CREATE OR REPLACE FUNCTION redrive._plan_phrase(v redrive.operation) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(nullif(replace(ltrim(redrive._plan_text(v), '; '), '; ', ', '), ''), 'all at once');
$$;

-- How many more events may be claimed in the current step; NULL: no limit. The plan of a recipe may be that of the reprocess that follows.
CREATE OR REPLACE FUNCTION redrive._allowance(v redrive.operation) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN CASE WHEN v.step <= cardinality(v.steps) AND NOT v.then_reprocess
                THEN (SELECT sum(s) FROM unnest(v.steps[:v.step]) AS s)::bigint - (v.done + v.refused + v.claimed + v.in_doubt) END;
END $$;

-- Does resuming cut short what a second person approved? It ends the time for which returns are watched for, or accepts the failures that halted it.
CREATE OR REPLACE FUNCTION redrive._is_loosened_by_resume(v redrive.operation) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT v.approved_by IS NOT NULL AND v.state IN ('waiting', 'halted')
       AND NOT (redrive._waits_for_person(v) AND v.observe_until IS NOT NULL); -- the step of a recipe ends by it, as approved
$$;

-- Can this be done to the operation? The caller holds its row.
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
    ELSIF p_steer = 'undo' AND v.done + v.claimed + v.in_doubt > 0 THEN
        RAISE EXCEPTION 'operation % cannot be undone: some of it was carried out; cancel the rest', v.no USING ERRCODE = 'RD001';
    ELSIF p_steer = 'pause' AND v.state NOT IN ('frozen', 'running', 'waiting') THEN
        RAISE EXCEPTION 'operation % cannot be paused, it is %', v.no, v.state USING ERRCODE = 'RD001';
    ELSIF p_steer = 'resume' AND v.state NOT IN ('paused', 'halted', 'waiting') THEN
        RAISE EXCEPTION 'operation % cannot be resumed, it is %', v.no, v.state USING ERRCODE = 'RD001';
    ELSIF p_steer = 'resume' AND v.requested_by = session_user AND redrive._is_loosened_by_resume(v) THEN
        RAISE EXCEPTION 'operation % is approved with its steps, settle time and halt: somebody else than % resumes it', v.no, v.requested_by
            USING ERRCODE = 'RD003';
    END IF;
END $$;

-- pause, resume, rate, cancel, approve; undo, which is to cancel before the first event. Refuses with the operation's state when it cannot be done. Resuming an operation that waits after a step
-- begins the next step now. Resuming a halted one accepts the failures so far: they become the baseline, and only later ones count. What was
-- approved with a pause is not resumed before its end by its asker; whoever else resumes it approves that. p_reason: as the person wrote it, for
-- the audit.
CREATE OR REPLACE FUNCTION redrive.operation_steer(p_no bigint, p_steer text, p_rate integer, p_reason text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation := redrive._operation_lock(p_no);
    v_is_next boolean;
    v_is_loosened boolean := p_steer = 'resume' AND redrive._is_loosened_by_resume(v);
    v_state text;
    v_cancelled bigint := 0;
    v_doubled bigint;
BEGIN
    PERFORM redrive._steer_check(v, p_steer);
    p_steer := CASE WHEN p_steer = 'undo' THEN 'cancel' ELSE p_steer END;
    IF p_steer NOT IN ('pause', 'resume', 'rate', 'cancel', 'approve') OR p_steer = 'rate' AND coalesce(p_rate, -2) < -1 THEN
        RAISE EXCEPTION 'an operation cannot be steered by % %', p_steer, p_rate USING ERRCODE = 'RD004';
    END IF;

    -- A freeze that was committed without its confirmation: what it has of items is made whole, so that it ends like any other.
    IF p_steer = 'cancel' AND v.state = 'freezing' THEN
        v_doubled := redrive._batches_make(p_no);
        UPDATE redrive.operation SET queued = queued - v_doubled, skipped = skipped + v_doubled WHERE no = p_no RETURNING * INTO v;
    END IF;
    IF p_steer = 'cancel' THEN
        UPDATE redrive.operation_item SET state = 'cancelled', at = clock_timestamp()
         WHERE operation_no = p_no AND is_due AND state = 'queued' AND dlq_id NOT IN (SELECT redrive._in_flight(p_no));
        GET DIAGNOSTICS v_cancelled = ROW_COUNT;
        WITH changed AS (
            UPDATE redrive.operation_batch SET state = 'cancelled', at = clock_timestamp()
             WHERE operation_no = p_no AND state = 'queued' RETURNING events)
        SELECT v_cancelled + coalesce(sum(events), 0) INTO v_cancelled FROM changed;
        v_cancelled := CASE WHEN v.state = 'freezing' THEN v.queued ELSE v_cancelled END; -- whatever a crash left of them
    END IF;
    v_is_next := p_steer = 'resume' AND v.observe_until IS NOT NULL AND v.state IN ('waiting', 'halted');
    v_state := CASE p_steer WHEN 'pause' THEN 'paused'
                            WHEN 'approve' THEN 'frozen'
                            WHEN 'resume' THEN CASE WHEN v.state = 'paused' AND v.observe_until IS NOT NULL THEN 'waiting'
                                                    WHEN v.started_at IS NULL THEN 'frozen' ELSE 'running' END
                            WHEN 'cancel' THEN CASE WHEN v.state IN ('freezing', 'awaiting approval') THEN 'frozen' ELSE v.state END
                            ELSE v.state END;
    UPDATE redrive.operation
       SET state = v_state,
           rate = CASE WHEN p_steer = 'rate' THEN p_rate ELSE rate END,
           step = CASE WHEN v_is_next THEN step + 1 ELSE step END,
           observe_until = CASE WHEN NOT v_is_next THEN observe_until END,
           baseline_failed = CASE WHEN v.state = 'halted' AND p_steer = 'resume' THEN refused + returned ELSE baseline_failed END,
           baseline_of = CASE WHEN v.state = 'halted' AND p_steer = 'resume' THEN done + refused ELSE baseline_of END,
           approved_by = CASE WHEN p_steer = 'approve' OR v_is_loosened THEN session_user ELSE approved_by END,
           is_cancelling = p_steer = 'cancel',
           queued = queued - v_cancelled,
           cancelled = cancelled + v_cancelled,
           state_note = CASE WHEN p_steer = 'cancel' AND claimed + in_doubt > 0
                             THEN format('cancelled; %s in flight finish first', to_char(claimed + in_doubt, 'FM999,999,999,990'))
                             WHEN p_steer = 'rate' THEN state_note END,
           changed = nextval('redrive.change')
     WHERE no = p_no;
    IF p_steer IN ('resume', 'cancel') THEN
        PERFORM redrive._policy_topics_retry(v.policy);
    END IF;
    PERFORM redrive._audit(p_steer, p_no, v_cancelled, nullif(btrim(p_reason), ''),
        CASE WHEN p_steer = 'rate' THEN format('was %s; is %s', redrive._rate_text(v.rate), redrive._rate_text(p_rate))
             WHEN v_is_next THEN format('was %s; step %s begins', redrive._state_text(v.state), v.step + 1)
             WHEN p_steer = 'cancel' AND v.claimed + v.in_doubt > 0
             THEN format('%s in flight finish first', to_char(v.claimed + v.in_doubt, 'FM999,999,999,990'))
             ELSE format('was %s', redrive._state_text(v.state)) END);
    PERFORM redrive._operation_finish(p_no);
END $$;

-- Does the plan w send more events than v before it waits or halts? It does where it lacks a pause that v has still before it. p_sent: events
-- sent so far.
CREATE OR REPLACE FUNCTION redrive._is_looser(v redrive.operation, w redrive.operation, p_sent bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    WITH pause (plan, after) AS (
        SELECT 'v', sum(s) OVER (ORDER BY n) FROM unnest(v.steps) WITH ORDINALITY AS s (s, n)
        UNION ALL SELECT 'w', sum(s) OVER (ORDER BY n) FROM unnest(w.steps) WITH ORDINALITY AS s (s, n))
    SELECT coalesce(w.halt_above > v.halt_above, v.halt_above IS NOT NULL AND w.halt_above IS NULL)
        OR w.settle_for < v.settle_for AND cardinality(v.steps) > 0
        OR EXISTS (SELECT FROM pause p WHERE p.plan = 'v' AND p.after > p_sent
                                         AND NOT EXISTS (SELECT FROM pause q WHERE q.plan = 'w' AND q.after = p.after));
$$;

-- Changes the plan of a running reprocess. What a second person approves, or has approved, its asker does not loosen any more: anybody else may,
-- and approves the looser plan by that. p_what: 'steps' (p_steps: counted from what was sent so far), 'settle' (p_number: ms) or 'halt'
-- (p_number: percent, NULL never).
CREATE OR REPLACE FUNCTION redrive.operation_tune(p_no bigint, p_what text, p_steps integer[], p_number double precision, p_reason text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation := redrive._operation_lock(p_no);
    w redrive.operation;
    v_sent bigint := v.done + v.refused + v.claimed + v.in_doubt;
BEGIN
    PERFORM redrive._steer_check(v, p_what);
    IF p_what = 'settle' AND redrive._waits_for_person(v) THEN
        RAISE EXCEPTION 'operation % is a recipe: its steps end when somebody resumes it', p_no USING ERRCODE = 'RD004';
    ELSIF v.action NOT IN ('reprocess', 'correct') THEN
        RAISE EXCEPTION 'operation % is a %: only a reprocess or a recipe has steps and halts by itself', p_no, v.action USING ERRCODE = 'RD004';
    ELSIF p_what NOT IN ('steps', 'settle', 'halt') OR p_what = 'settle' AND coalesce(p_number, -1) < 0
          OR p_what = 'halt' AND p_number NOT BETWEEN 0 AND 100 THEN
        RAISE EXCEPTION 'an operation cannot be steered by % %', p_what, p_number USING ERRCODE = 'RD004';
    END IF;
    UPDATE redrive.operation
       SET steps = CASE WHEN p_what <> 'steps' THEN steps WHEN v_sent > 0 AND cardinality(p_steps) > 0 THEN v_sent::integer || p_steps
                        ELSE coalesce(p_steps, '{}') END,
           step = CASE WHEN p_what <> 'steps' THEN step WHEN v_sent > 0 AND cardinality(p_steps) > 0 AND v.observe_until IS NULL THEN 2 ELSE 1 END,
           settle_for = CASE WHEN p_what = 'settle' THEN p_number * interval '1 ms' ELSE settle_for END,
           observe_until = CASE WHEN p_what = 'settle' THEN observe_until - settle_for + p_number * interval '1 ms' ELSE observe_until END,
           halt_above = CASE WHEN p_what = 'halt' THEN p_number ELSE halt_above END,
           changed = nextval('redrive.change')
     WHERE no = p_no RETURNING * INTO w;
    IF (v.approved_by IS NOT NULL OR v.state = 'awaiting approval') AND redrive._is_looser(v, w, v_sent) THEN
        IF v.requested_by = session_user THEN
            RAISE EXCEPTION 'operation % is approved with its steps, settle time and halt: somebody else than % loosens them', p_no, v.requested_by
                USING ERRCODE = 'RD003';
        END IF;
        UPDATE redrive.operation SET approved_by = session_user WHERE no = p_no AND approved_by IS NOT NULL;
    END IF;
    PERFORM redrive._audit(p_what, p_no, 0, nullif(btrim(p_reason), ''), format('%s: was %s; is %s', p_what, redrive._plan_phrase(v), redrive._plan_phrase(w)));
    PERFORM redrive._operation_judge(p_no, 0);
END $$;

-- Decisions that an operation makes by itself. It halts above its share of refused or returned events, waits at the end of a step, and begins the
-- next step when waiting can bring nothing more. p_unsent: events to judge by beside those sent and refused. The caller holds its row.
CREATE OR REPLACE FUNCTION redrive._operation_judge(p_no bigint, p_unsent bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation;
    v_bad bigint;
    v_of bigint;
BEGIN
    SELECT * INTO v FROM redrive.operation
     WHERE no = p_no AND state IN ('running', 'waiting') AND NOT is_cancelling AND NOT then_reprocess AND queued > 0;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_bad := v.refused + v.returned - v.baseline_failed;
    -- An event that was refused earlier may be one of those beside them.
    v_of := least(v.done + v.refused + p_unsent, v.total) - v.baseline_of;
    -- One failure out of two proves little: at least ten events, or the first step.
    IF v_bad * 100.0 > v.halt_above * v_of AND v_of >= least(10, v.total, coalesce(v.steps[1], 10)) THEN
        UPDATE redrive.operation
           SET state = 'halted', worker = NULL, changed = nextval('redrive.change'),
               state_note = format('%s of %s %s, more than %s%%', redrive._grouped(v_bad), redrive._grouped(v_of),
                                   CASE WHEN v.refused = 0 THEN 'returned' WHEN v.returned = 0 THEN 'refused' ELSE 'failed' END, v.halt_above)
         WHERE no = p_no RETURNING * INTO v;
        PERFORM redrive._audit('halt', p_no, v.queued, NULL, v.state_note);
        PERFORM redrive._policy_topics_open(p) FROM redrive.policy p WHERE p.name = v.policy;
    ELSIF v.state = 'running' AND redrive._waits_for_person(v) AND redrive._allowance(v) <= 0 THEN
        UPDATE redrive.operation
           SET state = 'halted', worker = NULL, observe_until = clock_timestamp(), changed = nextval('redrive.change'),
               state_note = format('step %s of %s ended: %s done, %s refused; look at them, then resume', v.step, cardinality(v.steps) + 1,
                                   to_char(v.done, 'FM999,999,999,990'), to_char(v.refused, 'FM999,999,999,990'))
         WHERE no = p_no RETURNING * INTO v;
        PERFORM redrive._audit('step', p_no, v.done + v.refused, NULL, v.state_note);
    ELSIF v.state = 'running' AND v.claimed = 0 AND redrive._allowance(v) <= 0 THEN
        UPDATE redrive.operation
           SET state = 'waiting', observe_until = clock_timestamp() + settle_for, changed = nextval('redrive.change') WHERE no = p_no;
        PERFORM redrive._audit('step', p_no, v.done + v.refused, NULL, format('step %s of %s ended: %s sent, %s refused, %s returned so far',
                                                                       v.step, cardinality(v.steps) + 1, v.done, v.refused, v.returned));
    ELSIF v.state = 'waiting' AND (v.observe_until <= clock_timestamp() OR v.returned >= v.done) THEN
        PERFORM redrive._step_end(v);
    END IF;
END $$;

-- The settle time of a step is over: the next one begins when all its events are taken. It halts where they are not after the same time once more.
CREATE OR REPLACE FUNCTION redrive._step_end(v redrive.operation) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE w record := redrive._taken_wait(v);
BEGIN
    IF w.halt IS NOT NULL THEN
        UPDATE redrive.operation SET state = 'halted', worker = NULL, changed = nextval('redrive.change'), state_note = w.halt WHERE no = v.no;
        PERFORM redrive._audit('halt', v.no, v.queued, NULL, w.halt);
        PERFORM redrive._policy_topics_open(p) FROM redrive.policy p WHERE p.name = v.policy;
    ELSIF NOT w.is_open THEN
        UPDATE redrive.operation
           SET state = 'running', step = step + 1, observe_until = NULL, changed = nextval('redrive.change') WHERE no = v.no;
        PERFORM redrive._audit('step', v.no, v.done + v.refused, NULL,
                               format('%s%s of %s returned; step %s of %s begins',
                                      CASE WHEN v.taken IS NOT NULL AND v.taken_by IS NOT NULL THEN format('%s taken by %s, ', v.taken, v.taken_by) END,
                                      v.returned, v.done, v.step + 1, cardinality(v.steps) + 1));
    END IF;
END $$;
