-- Policies: what acts on dead letters by itself, by a file that a person wrote. What each did, when it runs next, who switched it, and why it halted.
--
-- A process that runs policies claims one that is due: its row is held by a lease and by its session, so several processes run it once. It chooses
-- events and freezes them as an operation. The transaction of that freeze notes the run and ends the claim. So a process that is killed leaves no
-- operation and a claim that ends with its session, or an operation and a run that is noted: never a run that is made twice.
--
-- Whoever may decide may run any policy. A worker's login runs one that acts on events only as somebody who may decide has switched it on:
-- with that definition, and within its limit. What its file alone says begins nothing.

CREATE TABLE redrive.policy (
    name        text PRIMARY KEY,
    action      text NOT NULL,
    definition  jsonb NOT NULL,               -- what it does, as a file says: filter, group, limit, target, recipe and so on
    words       text NOT NULL,                -- for people: "reprocess category:transient, every 10m, at most 500 a day"
    schedule    text NOT NULL,
    probe_after interval NOT NULL,            -- one that halted tries one event then; 0: a person decides
    is_enabled  boolean NOT NULL,             -- by the file
    seen_at     timestamptz NOT NULL,         -- it was in a process's file
    switched    boolean,                      -- by a person; NULL: as the file says
    switched_by name,
    switched_at timestamptz,
    switched_for jsonb,                       -- the definition that this person switched
    halted_at   timestamptz,
    halted_why  text,
    is_probing  boolean NOT NULL DEFAULT false, -- runs act on one event until one has stayed away
    judged_from timestamptz NOT NULL DEFAULT '-infinity', -- its runs since then say whether it halts
    next_at     timestamptz NOT NULL,
    ran_at      timestamptz,
    matched     bigint,                       -- by the last run
    note        text,                         -- why the last run began nothing
    holder      text,
    holder_who  name,                         -- its login: nobody else ends the claim
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

CREATE OR REPLACE FUNCTION redrive._policy_acts(p_action text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_action NOT IN ('alert', 'manual_review');
$$;

-- Has this session an operator's rights?
CREATE OR REPLACE FUNCTION redrive._may_decide() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT has_function_privilege(session_user, to_regprocedure('redrive.policy_switch(text, boolean, text)'), 'EXECUTE');
$$;

-- May this session enable a policy that does this? What deletes for good is an administrator's.
CREATE OR REPLACE FUNCTION redrive._policy_may_enable(p_action text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT NOT redrive._policy_acts(p_action) OR redrive._may_decide()
           AND (p_action <> 'purge' OR has_function_privilege(session_user,
                to_regprocedure('redrive.archive_purge(text, timestamptz, text, text, bigint)'), 'EXECUTE'));
$$;

-- May this session run the policy? Who may not enable it: as it was switched on.
CREATE OR REPLACE FUNCTION redrive._policy_is_allowed(p redrive.policy) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT redrive._policy_may_enable(p.action) OR p.switched IS TRUE AND p.switched_for IS NOT DISTINCT FROM p.definition;
$$;

-- On how many events it has acted since then. Those that somebody called back before they were sent are not among them.
CREATE OR REPLACE FUNCTION redrive._policy_acted(p_name text, p_since timestamptz) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(sum(greatest(r.acted - coalesce(o.cancelled, 0), 0)), 0)::bigint
      FROM redrive.policy_run r LEFT JOIN redrive.operation o ON o.no = r.operation_no
     WHERE r.policy = p_name AND r.at > p_since;
$$;

-- Takes in what a file says. Rows that say so already are not touched, since a freeze may hold them. A worker's login changes no definition, and
-- enables nothing that acts: the row says what a person has to do.
CREATE OR REPLACE FUNCTION redrive.policy_know(p_policies jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_decides boolean := redrive._may_decide();
BEGIN
    IF coalesce(jsonb_typeof(p_policies), '') <> 'array' THEN
        RAISE EXCEPTION 'these are no policies' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.policy AS had (name, action, definition, words, schedule, probe_after, is_enabled, seen_at, next_at)
    SELECT f.name, f.action, f.definition, f.words, f.schedule, f.probe_after * interval '1 microsecond',
           f.is_enabled AND redrive._policy_may_enable(f.action), v_now, to_timestamp(f.next / 1000000.0)
      FROM jsonb_to_recordset(p_policies) AS f (name text, action text, definition jsonb, words text, schedule text, probe_after bigint,
                                                is_enabled boolean, next bigint)
      LEFT JOIN redrive.policy p ON p.name = f.name
     WHERE p.name IS NULL OR p.seen_at < v_now - interval '1 minute' OR p.seen_at > v_now
        OR v_decides AND (p.action, p.definition, p.words, p.schedule, p.probe_after, p.is_enabled)
           IS DISTINCT FROM (f.action, f.definition, f.words, f.schedule, f.probe_after * interval '1 microsecond',
                                 f.is_enabled AND redrive._policy_may_enable(f.action))
    ON CONFLICT (name) DO UPDATE
       SET action = excluded.action, definition = excluded.definition, words = excluded.words, schedule = excluded.schedule,
           probe_after = excluded.probe_after, is_enabled = excluded.is_enabled, seen_at = v_now,
           next_at = CASE WHEN had.schedule = excluded.schedule THEN had.next_at ELSE excluded.next_at END
     WHERE v_decides;
    IF NOT v_decides THEN
        PERFORM redrive._policy_know_more(p_policies, v_now);
    END IF;
END $$;

-- The same by a worker's login, for the rows that are there.
CREATE OR REPLACE FUNCTION redrive._policy_know_more(p_policies jsonb, p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.policy p SET seen_at = p_at, note = w.note
      FROM (SELECT k.name, CASE WHEN NOT redrive._policy_acts(k.action) OR NOT coalesce(k.switched, f.is_enabled) THEN k.note
                                WHEN k.switched IS NULL THEN 'only its file enables it: an operator switches it on'
                                WHEN k.definition IS DISTINCT FROM f.definition OR k.switched_for IS DISTINCT FROM k.definition
                                THEN 'its file has changed since it was switched on: an operator switches it on again'
                                ELSE k.note END AS note
              FROM jsonb_to_recordset(p_policies) AS f (name text, definition jsonb, is_enabled boolean)
              JOIN redrive.policy k ON k.name = f.name) w
     WHERE p.name = w.name AND (p.note IS DISTINCT FROM w.note OR p.seen_at < p_at - interval '1 minute' OR p.seen_at > p_at);
END $$;

-- Claims a policy that is due, of those of a file, as the file defines them; p_only: this one, due or not. p_session: as for slot_acquire. Until its last operation has ended, and was watched for as long as
-- that says, none is. No row: nothing to do.
CREATE OR REPLACE FUNCTION redrive.policy_claim(p_holder text, p_policies jsonb, p_only text, p_lease interval, p_session integer)
RETURNS TABLE (name text, acted bigint, is_probe boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v redrive.policy;
BEGIN
    IF coalesce(jsonb_typeof(p_policies), '') <> 'array' OR coalesce(p_holder, '') = '' OR p_lease IS NULL OR p_lease NOT BETWEEN interval '1 ms' AND interval '1 hour' THEN
        RAISE EXCEPTION 'a claim has a holder and a lease' USING ERRCODE = 'RD004';
    END IF;
    SELECT p.* INTO v FROM redrive.policy p
     WHERE (p.name, p.definition) IN (SELECT f.name, f.definition FROM jsonb_to_recordset(p_policies) AS f (name text, definition jsonb))
       AND redrive._policy_is_allowed(p) AND (p.name = p_only OR p_only IS NULL AND redrive._policy_is_on(p) AND p.next_at <= v_now)
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
       SET holder = p_holder, holder_who = session_user, lease_until = v_now + p_lease,
           holder_pid = CASE WHEN p_session = pg_backend_pid() THEN p_session END,
           holder_since = (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = p_session AND p_session = pg_backend_pid()),
           is_probing = p.is_probing OR p.halted_at IS NOT NULL,
           judged_from = CASE WHEN p.halted_at IS NOT NULL THEN v_now ELSE p.judged_from END, halted_at = NULL, halted_why = NULL
     WHERE p.name = v.name RETURNING * INTO v;
    RETURN QUERY
    SELECT v.name, redrive._policy_acted(v.name, v_now - interval '24 hours'),
           v.is_probing AND NOT EXISTS (SELECT FROM redrive.operation o WHERE o.policy = v.name AND o.created_at >= v.judged_from
                                           AND o.done > o.returned);
END $$;

-- Locks the row of a policy that p_holder has claimed.
CREATE OR REPLACE FUNCTION redrive._policy_lock(p_holder text, p_name text) RETURNS redrive.policy
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.policy;
BEGIN
    SELECT * INTO v FROM redrive.policy WHERE name = p_name FOR UPDATE;
    IF v.holder IS DISTINCT FROM p_holder OR v.holder_who IS DISTINCT FROM session_user OR p_holder IS NULL THEN
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
       SET holder = NULL, holder_who = NULL, lease_until = NULL, next_at = to_timestamp(p_next / 1000000.0), ran_at = clock_timestamp(), matched = p_matched,
           note = left(p_note, 500)
     WHERE name = p_name;
END $$;

-- A run of retention begins a job of the archive, as the policy is defined, or continues the one that its last run left. job: NULL where nothing is
-- due. taken: so far.
CREATE OR REPLACE FUNCTION redrive.policy_archive(p_holder text, p_name text, OUT job bigint, OUT chosen bigint, OUT taken bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.policy := redrive._policy_lock(p_holder, p_name);
    v_before timestamptz := clock_timestamp() - (v.definition ->> 'older_than')::bigint * interval '1 microsecond';
BEGIN
    IF v.action NOT IN ('archive', 'purge') OR NOT redrive._policy_is_allowed(v) THEN
        RAISE EXCEPTION 'the policy "%" is no retention that % may run', p_name, session_user USING ERRCODE = 'RD003';
    END IF;
    SELECT j.no, j.chosen, j.moved + j.deleted INTO job, chosen, taken FROM redrive.archive_job j
     WHERE j.policy = p_name AND j.action = v.action AND j.state = 'running' AND j.who = session_user ORDER BY j.no DESC LIMIT 1;
    IF FOUND THEN
        RETURN;
    END IF;
    taken := 0;
    chosen := redrive.archive_count(v.action, v_before, NULL);
    IF chosen > 0 THEN
        job := redrive._archive_begin(v.action, v_before, format('policy %s: %s', p_name, v.words), 'policy ' || p_name, chosen);
        UPDATE redrive.archive_job j SET policy = p_name WHERE j.no = job;
    END IF;
END $$;

-- Begins the freeze of a run, as operation_begin does, and ends the claim. What policies share of a topic is in policy_topics.sql.
CREATE OR REPLACE FUNCTION redrive.policy_begin(p_key uuid, p_action text, p_scope text, p_filter text, p_group text, p_reason text, p_topic text,
                                     p_rate integer, p_holder text, p_name text, p_matched bigint, p_acted bigint, p_next bigint,
                                     p_topics text[], OUT no bigint, OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.policy;
BEGIN
    SELECT b.no, b.is_new INTO no, is_new FROM redrive.operation_begin(p_key, p_action, p_scope, p_filter, p_group, p_reason, p_topic, p_rate) b;
    IF NOT is_new THEN
        RETURN;
    END IF;
    PERFORM FROM redrive.freeze_turn FOR UPDATE;
    v := redrive._policy_lock(p_holder, p_name);
    IF NOT redrive._policy_is_allowed(v) OR p_action <> ALL (CASE v.action WHEN 'reprocess' THEN '{reprocess,correct}' ELSE ARRAY[v.action] END)
       OR NOT redrive._policy_acts(v.action) THEN
        RAISE EXCEPTION 'the policy "%" is not one that % may run as a %', p_name, session_user, p_action USING ERRCODE = 'RD003';
    END IF;
    IF EXISTS (SELECT FROM redrive.policy_busy(p_name) b WHERE b = ANY (p_topics)) THEN
        RAISE EXCEPTION 'an operation of another policy has halted at the same topic' USING ERRCODE = 'RD001';
    END IF;
    INSERT INTO redrive.policy_topic (topic) SELECT DISTINCT w FROM unnest(p_topics) AS w ORDER BY 1 ON CONFLICT DO NOTHING;
    UPDATE redrive.operation o SET policy = p_name WHERE o.no = policy_begin.no AND o.state = 'freezing';
    INSERT INTO redrive.policy_run (operation_no, policy, matched, acted, topics) VALUES (no, p_name, p_matched, p_acted, p_topics);
    DELETE FROM redrive.policy_run WHERE policy = p_name AND at < clock_timestamp() - interval '400 days';
    UPDATE redrive.policy
       SET holder = NULL, holder_who = NULL, lease_until = NULL, next_at = to_timestamp(p_next / 1000000.0), ran_at = clock_timestamp(),
           matched = p_matched, note = NULL
     WHERE name = p_name;
END $$;

-- At the end of a freeze: does a run do what its policy is defined to do, and no more? A day's limit counts the run itself.
CREATE OR REPLACE FUNCTION redrive._policy_check(v redrive.operation) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    p redrive.policy;
    v_acted bigint := (SELECT r.acted FROM redrive.policy_run r WHERE r.operation_no = v.no);
BEGIN
    SELECT * INTO p FROM redrive.policy k WHERE k.name = v.policy;
    IF v.policy IS NULL AND NOT redrive._may_decide() THEN
        RAISE EXCEPTION 'operation % is of no policy', v.no USING ERRCODE = 'RD003';
    ELSIF v.policy IS NULL OR redrive._may_decide() THEN
        RETURN;
    ELSIF v.total > v_acted OR NOT redrive._policy_is_allowed(p) OR v.is_forced
          OR (v.target_topic, v.recipe) IS DISTINCT FROM (p.definition ->> 'target', p.definition ->> 'recipe')
          OR v.then_reprocess <> (v.recipe IS NOT NULL)
          OR redrive._policy_acted(p.name, clock_timestamp() - interval '24 hours') > (p.definition ->> 'limit')::bigint THEN
        RAISE EXCEPTION 'operation % is more than policy "%" may do', v.no, v.policy USING ERRCODE = 'RD003';
    END IF;
END $$;

-- It made things worse, so it does nothing until a person switches it on, or until it probes.
CREATE OR REPLACE FUNCTION redrive.policy_halt(p_holder text, p_name text, p_why text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._policy_topics_open(redrive._policy_lock(p_holder, p_name));
    UPDATE redrive.policy SET holder = NULL, holder_who = NULL, lease_until = NULL, halted_at = clock_timestamp(), halted_why = left(p_why, 500)
     WHERE name = p_name;
    PERFORM redrive._audit('policy halted', NULL, 0, NULL, format('policy %s: %s', p_name, left(p_why, 500)));
END $$;

-- Switches a policy on or off, whatever the file says; a run in preparation is given up. One that had halted begins with one event.
CREATE OR REPLACE FUNCTION redrive.policy_switch(p_name text, p_on boolean, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    IF p_on AND EXISTS (SELECT FROM redrive.policy p WHERE p.name = p_name AND NOT redrive._policy_may_enable(p.action)) THEN
        RAISE EXCEPTION 'the policy "%" deletes for good, so an administrator switches it on', p_name USING ERRCODE = 'RD003';
    END IF;
    UPDATE redrive.policy
       SET switched = p_on, switched_by = session_user, switched_at = v_now, switched_for = definition, is_probing = p_on AND (is_probing OR halted_at IS NOT NULL),
           judged_from = CASE WHEN p_on THEN v_now ELSE judged_from END, halted_at = CASE WHEN NOT p_on THEN halted_at END,
           halted_why = CASE WHEN NOT p_on THEN halted_why END, holder = NULL, holder_who = NULL, lease_until = NULL
     WHERE name = p_name AND p_on IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no policy "%"', p_name USING ERRCODE = 'RD002';
    END IF;
    PERFORM redrive._policy_topics_retry(p_name);
    PERFORM redrive._audit(CASE WHEN p_on THEN 'policy on' ELSE 'policy off' END, NULL, 0, p_reason, format('policy %s', p_name));
END $$;
