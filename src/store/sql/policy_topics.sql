-- What policies share of a topic to which they send: its rate, its ramp, and a circuit that opens when the target fails.
--
-- Operations of policies together never send more a second to a topic than the lowest of their rates. While one of them is in its canary or a later
-- step, those that began after it wait. When a policy or its operation halts, the circuit of its topics opens, and all operations of policies that send there wait.
-- After a time, or when a person switches that policy, the circuit is half-open: one event is sent, and watched. It closes when that event stays
-- away, and opens again when it is refused or returns. Operations of people are not held.

CREATE TABLE redrive.policy_topic (
    topic        text PRIMARY KEY,
    full_at      timestamptz NOT NULL DEFAULT '-infinity', -- from then on a second's worth may be sent
    opened_at    timestamptz, -- NULL: the circuit is closed
    opened_by    text,        -- the policy that halted
    half_open_at timestamptz, -- from then on one event may be sent
    probe        bigint,      -- the operation that has sent that event, or sends it
    probe_done   bigint,      -- what it had sent before
    probe_bad    bigint       -- of which refused or returned
) WITH (fillfactor = 50);

---- functions

-- The lowest rate of the operations of policies that send to a topic now; NULL: none has a limit.
CREATE OR REPLACE FUNCTION redrive._policy_topic_rate(p_topic text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT min(o.rate) FROM redrive.operation o JOIN redrive.policy_run r ON r.operation_no = o.no
     WHERE o.state NOT IN ('done', 'cancelled') AND o.state <> 'halted' AND o.action = 'reprocess' AND o.rate > 0 AND p_topic = ANY (r.topics);
$$;

-- How many events of this operation may be claimed now, and how many are worth a claim. The bucket of a topic holds a second's worth; a time that is
-- far ahead comes from a clock that was set back.
CREATE OR REPLACE FUNCTION redrive._policy_room(v redrive.operation, OUT room bigint, OUT wanted bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    SELECT min(CASE WHEN t.opened_at IS NULL
                    THEN floor(w.rate * (1 - CASE WHEN t.full_at BETWEEN v_now AND v_now + interval '5 s'
                                                  THEN extract(epoch FROM t.full_at - v_now) ELSE 0 END))
                    WHEN t.half_open_at <= v_now AND (t.probe IS NULL OR t.probe = v.no AND v.done + v.refused <= t.probe_done AND v.claimed = 0)
                    THEN 1 ELSE 0 END),
           min(CASE WHEN t.opened_at IS NULL THEN greatest(1, least(v.queued, w.rate / 2)) ELSE 1 END)
      INTO room, wanted
      FROM redrive.policy_run r JOIN redrive.policy_topic t ON t.topic = ANY (r.topics)
      CROSS JOIN LATERAL (SELECT redrive._policy_topic_rate(t.topic) AS rate) w
     WHERE r.operation_no = v.no;
END $$;

-- Has an operation of a policy to wait for others at its topics? Its row says why.
CREATE OR REPLACE FUNCTION redrive._policy_holds(v redrive.operation) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    n record := redrive._policy_room(v);
    v_topics text[] := (SELECT r.topics FROM redrive.policy_run r WHERE r.operation_no = v.no);
    v_why text;
BEGIN
    SELECT format('waits for the first steps of operation %s', o.no) INTO v_why
      FROM redrive.operation o JOIN redrive.policy_run r ON r.operation_no = o.no
     WHERE o.state NOT IN ('done', 'cancelled') AND o.state IN ('frozen', 'running', 'waiting') AND o.no < v.no AND o.action = 'reprocess'
       AND o.step <= cardinality(o.steps) AND r.topics && v_topics AND o.policy <> v.policy LIMIT 1;
    IF v_why IS NULL AND n.room < n.wanted THEN
        SELECT format('waits: %s fails, as policy %s found', t.topic, t.opened_by) INTO v_why
          FROM redrive.policy_topic t WHERE t.topic = ANY (v_topics) AND t.opened_at IS NOT NULL ORDER BY t.topic LIMIT 1;
    END IF;
    UPDATE redrive.operation SET state_note = v_why, changed = nextval('redrive.change')
     WHERE no = v.no AND state IN ('frozen', 'running') AND claimed = 0 AND v_why IS NOT NULL AND state_note IS DISTINCT FROM v_why;
    RETURN v_why IS NOT NULL OR coalesce(n.room < n.wanted, false);
END $$;

-- Locks the topics of an operation, whose row the caller holds, and says how much of it may be claimed.
CREATE OR REPLACE FUNCTION redrive._policy_topics_lock(v redrive.operation) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM FROM redrive.policy_topic t WHERE t.topic = ANY (SELECT unnest(r.topics) FROM redrive.policy_run r WHERE r.operation_no = v.no)
      ORDER BY t.topic FOR UPDATE;
    RETURN (redrive._policy_room(v)).room;
END $$;

-- So many events of it were claimed.
CREATE OR REPLACE FUNCTION redrive._policy_topics_spend(v redrive.operation, p_events bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    UPDATE redrive.policy_topic t
       SET full_at = coalesce(CASE WHEN t.full_at BETWEEN v_now AND v_now + interval '5 s' THEN t.full_at ELSE v_now END
                              + p_events * interval '1 second' / redrive._policy_topic_rate(t.topic), '-infinity'),
           probe = CASE WHEN t.opened_at IS NOT NULL THEN v.no END,
           probe_done = CASE WHEN t.opened_at IS NOT NULL THEN v.done + v.refused END,
           probe_bad = CASE WHEN t.opened_at IS NOT NULL THEN v.refused + v.returned END
     WHERE t.topic = ANY (SELECT unnest(r.topics) FROM redrive.policy_run r WHERE r.operation_no = v.no);
END $$;

-- Judges the events that half-open circuits have sent: each is watched for as long as its operation says.
CREATE OR REPLACE FUNCTION redrive._policy_topics_judge() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    w record;
BEGIN
    FOR w IN SELECT t.topic, o.refused + o.returned > t.probe_bad AS is_bad, o.state IN ('done', 'cancelled') AND o.done + o.refused <= t.probe_done AS is_void
               FROM redrive.policy_topic t JOIN redrive.operation o ON o.no = t.probe
              WHERE t.opened_at IS NOT NULL
                AND (o.refused + o.returned > t.probe_bad OR o.state IN ('done', 'cancelled') AND o.done + o.refused <= t.probe_done
                     OR o.done + o.refused > t.probe_done AND o.claimed = 0
                        AND (SELECT max(c.decided_at) FROM redrive.chunk c WHERE c.operation_no = o.no) <= v_now - o.settle_for)
              ORDER BY t.topic FOR UPDATE OF t SKIP LOCKED LOOP
        UPDATE redrive.policy_topic t
           SET probe = NULL, opened_at = CASE WHEN w.is_bad OR w.is_void THEN t.opened_at END,
               half_open_at = CASE WHEN w.is_bad THEN v_now + (SELECT nullif(p.probe_after, '0 s') FROM redrive.policy p WHERE p.name = t.opened_by)
                                   WHEN w.is_void THEN t.half_open_at END
         WHERE t.topic = w.topic;
        IF NOT w.is_bad AND NOT w.is_void THEN
            PERFORM redrive._audit('circuit closed', NULL, 0, NULL, format('topic %s', w.topic));
        END IF;
    END LOOP;
END $$;

-- The policy, or its operation, halted: the circuit of the topics of its last run opens. The audit has it once, however often it is tried until it closes.
CREATE OR REPLACE FUNCTION redrive._policy_topics_open(p redrive.policy) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_topics text[] := (SELECT r.topics FROM redrive.policy_run r WHERE r.policy = p.name AND p.action = 'reprocess' ORDER BY r.operation_no DESC LIMIT 1);
    t redrive.policy_topic;
BEGIN
    FOR t IN SELECT * FROM redrive.policy_topic x WHERE x.topic = ANY (v_topics) ORDER BY x.topic FOR UPDATE LOOP
        UPDATE redrive.policy_topic
           SET opened_at = coalesce(t.opened_at, v_now), opened_by = p.name, half_open_at = v_now + nullif(p.probe_after, '0 s'), probe = NULL
         WHERE topic = t.topic;
        IF t.opened_at IS NULL THEN
            PERFORM redrive._audit('circuit open', NULL, 0, NULL, format('topic %s, by policy %s', t.topic, p.name));
        END IF;
    END LOOP;
END $$;

-- A person switched the policy that opened circuits, or resumed or cancelled its operation: they are half-open.
CREATE OR REPLACE FUNCTION redrive._policy_topics_retry(p_name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.policy_topic SET half_open_at = clock_timestamp() WHERE opened_by = p_name AND opened_at IS NOT NULL;
END $$;

-- To these topics no run of this policy may send now: another one's operation has halted there, or found that the target fails.
CREATE OR REPLACE FUNCTION redrive.policy_busy(p_name text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT unnest(r.topics) FROM redrive.operation o JOIN redrive.policy_run r ON r.operation_no = o.no
     WHERE o.policy <> p_name AND o.state = 'halted' AND NOT o.is_cancelling
    UNION
    SELECT t.topic FROM redrive.policy_topic t
     WHERE t.opened_at IS NOT NULL AND t.opened_by <> p_name AND coalesce(t.half_open_at > clock_timestamp(), true);
$$;
