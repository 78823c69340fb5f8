-- Policies: what acts on dead letters by itself, by a file that a person wrote. What each did, when it runs next, who switched it, and why it halted.
--
-- A process that runs policies claims one that is due: its row is held by a lease and by its session, so several processes run it once. It chooses
-- events and freezes them as an operation. The transaction of that freeze notes the run and ends the claim. So a process that is killed leaves no
-- operation and a claim that ends with its session, or an operation and a run that is noted: never a run that is made twice.

CREATE TABLE redrive.policy (
    name        text PRIMARY KEY,
    action      text NOT NULL,
    words       text NOT NULL,                -- for people: "reprocess category:transient, every 10m, at most 500 a day"
    schedule    text NOT NULL,
    probe_after interval NOT NULL,            -- one that halted tries one event then; 0: a person decides
    is_enabled  boolean NOT NULL,             -- by the file
    seen_at     timestamptz NOT NULL,         -- it was in a process's file
    switched    boolean,                      -- by a person; NULL: as the file says
    switched_by name,
    switched_at timestamptz,
    halted_at   timestamptz,
    halted_why  text,
    is_probing  boolean NOT NULL DEFAULT false, -- runs act on one event until one has stayed away
    judged_from timestamptz NOT NULL DEFAULT '-infinity', -- its runs since then say whether it halts
    next_at     timestamptz NOT NULL,
    ran_at      timestamptz,
    matched     bigint,                       -- by the last run
    note        text,                         -- why the last run began nothing
    holder      text,
    lease_until timestamptz,
    holder_pid  integer,                      -- a holder whose session is gone holds no claim; NULL: behind a pooler, where the lease alone tells
    holder_since timestamptz                  -- backend_start of that process
) WITH (fillfactor = 50);

-- A run that began an operation.
CREATE TABLE redrive.policy_run (
    operation_no bigint PRIMARY KEY,
    policy       text NOT NULL,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    matched      bigint NOT NULL,
    acted        bigint NOT NULL,
    topics       text[] NOT NULL -- to which it sends
);
CREATE INDEX policy_run_of ON redrive.policy_run (policy, at);

---- functions

CREATE OR REPLACE FUNCTION redrive._policy_is_on(p redrive.policy) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(p.switched, p.is_enabled);
$$;

-- Takes in what a file says. Rows that say so already are not touched, since a freeze may hold them.
CREATE OR REPLACE FUNCTION redrive.policy_know(p_policies jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    IF coalesce(jsonb_typeof(p_policies), '') <> 'array' THEN
        RAISE EXCEPTION 'these are no policies' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.policy AS had (name, action, words, schedule, probe_after, is_enabled, seen_at, next_at)
    SELECT f.name, f.action, f.words, f.schedule, f.probe_after * interval '1 microsecond', f.is_enabled, v_now,
           to_timestamp(f.next / 1000000.0)
      FROM jsonb_to_recordset(p_policies) AS f (name text, action text, words text, schedule text, probe_after bigint, is_enabled boolean,
                                                next bigint)
      LEFT JOIN redrive.policy p ON p.name = f.name
     WHERE p.name IS NULL OR p.seen_at < v_now - interval '1 minute' OR p.seen_at > v_now
        OR (p.action, p.words, p.schedule, p.probe_after, p.is_enabled)
           IS DISTINCT FROM (f.action, f.words, f.schedule, f.probe_after * interval '1 microsecond', f.is_enabled)
    ON CONFLICT (name) DO UPDATE
       SET action = excluded.action, words = excluded.words, schedule = excluded.schedule, probe_after = excluded.probe_after,
           is_enabled = excluded.is_enabled, seen_at = v_now,
           next_at = CASE WHEN had.schedule = excluded.schedule THEN had.next_at ELSE excluded.next_at END;
END $$;

-- Claims a policy that is due, of those of a file; p_only: this one, due or not. p_session: as for slot_acquire. Until its last operation has ended, and was watched for as long as
-- that says, none is. No row: nothing to do.
CREATE OR REPLACE FUNCTION redrive.policy_claim(p_holder text, p_names text[], p_only text, p_lease interval, p_session integer)
RETURNS TABLE (name text, acted bigint, is_probe boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v redrive.policy;
BEGIN
    IF coalesce(p_holder, '') = '' OR p_lease IS NULL OR p_lease NOT BETWEEN interval '1 ms' AND interval '1 hour' THEN
        RAISE EXCEPTION 'a claim has a holder and a lease' USING ERRCODE = 'RD004';
    END IF;
    SELECT p.* INTO v FROM redrive.policy p
     WHERE p.name = ANY (p_names) AND (p.name = p_only OR p_only IS NULL AND redrive._policy_is_on(p) AND p.next_at <= v_now)
       AND (p.halted_at IS NULL OR p.probe_after > interval '0 s' AND p.halted_at <= v_now - p.probe_after)
       AND (p.lease_until IS NULL OR p.lease_until <= v_now OR p.lease_until > v_now + interval '1 hour'
            OR redrive._session_is_gone(p.holder_pid, p.holder_since))
       AND NOT EXISTS (SELECT FROM redrive.operation o WHERE o.policy = p.name
                          AND (o.state NOT IN ('done', 'cancelled', 'halted') OR o.then_reprocess AND o.followed_by IS NULL AND o.state = 'done'
                               OR o.action = 'reprocess' AND o.done > 0 AND o.finished_at > v_now - o.settle_for))
     ORDER BY p.next_at, p.name LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE redrive.policy p
       SET holder = p_holder, lease_until = v_now + p_lease,
           holder_pid = CASE WHEN p_session = pg_backend_pid() THEN p_session END,
           holder_since = (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = p_session AND p_session = pg_backend_pid()),
           is_probing = p.is_probing OR p.halted_at IS NOT NULL,
           judged_from = CASE WHEN p.halted_at IS NOT NULL THEN v_now ELSE p.judged_from END, halted_at = NULL, halted_why = NULL
     WHERE p.name = v.name RETURNING * INTO v;
    RETURN QUERY
    SELECT v.name, coalesce((SELECT sum(r.acted) FROM redrive.policy_run r WHERE r.policy = v.name AND r.at > v_now - interval '24 hours'), 0)::bigint,
           v.is_probing AND NOT EXISTS (SELECT FROM redrive.operation o WHERE o.policy = v.name AND o.created_at >= v.judged_from
                                           AND o.done > o.returned);
END $$;

-- Locks the row of a policy that p_holder has claimed.
CREATE OR REPLACE FUNCTION redrive._policy_lock(p_holder text, p_name text) RETURNS redrive.policy
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.policy;
BEGIN
    SELECT * INTO v FROM redrive.policy WHERE name = p_name FOR UPDATE;
    IF v.holder IS DISTINCT FROM p_holder OR p_holder IS NULL THEN
        RAISE EXCEPTION 'the policy "%" was switched, or another process runs it', p_name USING ERRCODE = 'RD001';
    END IF;
    RETURN v;
END $$;

-- The run began nothing.
CREATE OR REPLACE FUNCTION redrive.policy_finish(p_holder text, p_name text, p_matched bigint, p_next bigint, p_note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._policy_lock(p_holder, p_name);
    UPDATE redrive.policy
       SET holder = NULL, lease_until = NULL, next_at = to_timestamp(p_next / 1000000.0), ran_at = clock_timestamp(), matched = p_matched,
           note = left(p_note, 500)
     WHERE name = p_name;
END $$;

-- Within the transaction of a freeze, before its events: it is a run of a policy, which ends the claim. Two operations of policies never send to one
-- topic at a time, and none to a topic to which another policy's operation has halted.
CREATE OR REPLACE FUNCTION redrive.operation_policy(p_no bigint, p_holder text, p_name text, p_matched bigint, p_acted bigint, p_next bigint,
                                         p_topics text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_busy record;
BEGIN
    PERFORM FROM redrive.freeze_turn FOR UPDATE;
    PERFORM redrive._policy_lock(p_holder, p_name);
    SELECT b.operation_no, b.policy INTO v_busy FROM redrive.policy_busy() b WHERE b.topics && p_topics AND (b.policy <> p_name OR NOT b.is_halted) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'operation % of policy % has not ended, and sends to the same topic', v_busy.operation_no, v_busy.policy
            USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.operation SET policy = p_name WHERE no = p_no AND state = 'freezing' AND requested_by = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    END IF;
    INSERT INTO redrive.policy_run (operation_no, policy, matched, acted, topics) VALUES (p_no, p_name, p_matched, p_acted, p_topics);
    DELETE FROM redrive.policy_run WHERE policy = p_name AND at < clock_timestamp() - interval '400 days';
    UPDATE redrive.policy
       SET holder = NULL, lease_until = NULL, next_at = to_timestamp(p_next / 1000000.0), ran_at = clock_timestamp(), matched = p_matched,
           note = NULL
     WHERE name = p_name;
END $$;

-- Operations of policies that have not ended, with the topics to which they send.
CREATE OR REPLACE FUNCTION redrive.policy_busy() RETURNS TABLE (operation_no bigint, policy text, is_halted boolean, topics text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT r.operation_no, r.policy, o.state = 'halted', r.topics FROM redrive.operation o JOIN redrive.policy_run r ON r.operation_no = o.no
     WHERE o.policy IS NOT NULL AND o.state NOT IN ('done', 'cancelled') AND NOT o.is_cancelling;
$$;

-- It made things worse, so it does nothing until a person switches it on, or until it probes.
CREATE OR REPLACE FUNCTION redrive.policy_halt(p_holder text, p_name text, p_why text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._policy_lock(p_holder, p_name);
    UPDATE redrive.policy SET holder = NULL, lease_until = NULL, halted_at = clock_timestamp(), halted_why = left(p_why, 500)
     WHERE name = p_name;
    PERFORM redrive._audit('policy halted', NULL, 0, NULL, format('policy %s: %s', p_name, left(p_why, 500)));
END $$;

-- Switches a policy on or off, whatever the file says; a run in preparation is given up. One that had halted begins with one event.
CREATE OR REPLACE FUNCTION redrive.policy_switch(p_name text, p_on boolean, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    UPDATE redrive.policy
       SET switched = p_on, switched_by = session_user, switched_at = v_now, is_probing = p_on AND (is_probing OR halted_at IS NOT NULL),
           judged_from = CASE WHEN p_on THEN v_now ELSE judged_from END, halted_at = CASE WHEN NOT p_on THEN halted_at END,
           halted_why = CASE WHEN NOT p_on THEN halted_why END, holder = NULL, lease_until = NULL
     WHERE name = p_name AND p_on IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no policy "%"', p_name USING ERRCODE = 'RD002';
    END IF;
    PERFORM redrive._audit(CASE WHEN p_on THEN 'policy on' ELSE 'policy off' END, NULL, 0, p_reason, format('policy %s', p_name));
END $$;
