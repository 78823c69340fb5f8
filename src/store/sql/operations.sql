-- Operations: what somebody asked for and confirmed. Their items are in items.sql and batches.sql.
--
-- Each function is one transition: it checks the state, changes it and writes the audit in one transaction. A refusal has a state that the program
-- knows: RD001 somebody else was first, RD002 not found, RD003 not allowed, RD004 wrong request.
--
-- Every function takes its locks in this order: slot, returned_position, sent, operation, chunk, items, events by id. The operation's row lock makes
-- workers at one operation take turns.

CREATE SEQUENCE redrive.change; -- a new number for each change of an operation or a group

CREATE TABLE redrive.operation (
    no              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key             uuid NOT NULL UNIQUE, -- chosen by the asker: asked twice, made once
    action          text NOT NULL CHECK (action IN ('reprocess', 'resolve', 'discard', 'restore', 'correct')),
    state           text NOT NULL DEFAULT 'freezing',
    is_cancelling   boolean NOT NULL DEFAULT false, -- the rest is cancelled; chunks in flight finish first
    requested_by    name NOT NULL DEFAULT session_user,
    policy          text, -- that began it (policies.sql); NULL: a person did
    host            text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    approved_by     name,
    scope           text NOT NULL,
    filter_text     text,
    group_key       text,
    reason          text,
    target_topic    text,
    recipe          text, -- of a correct operation; NULL of one that undoes another
    is_forced       boolean NOT NULL DEFAULT false, -- events that the team's own check refuses are not left out
    then_reprocess  boolean NOT NULL DEFAULT false, -- what it has corrected is sent once it is done; rate, steps and halt_above are that reprocess's
    followed_by     bigint, -- that reprocess; 0: there was nothing to send
    max_replays     bigint, -- events that returned so often are not in it
    rate            integer NOT NULL DEFAULT -1 CHECK (rate >= -1), -- events/s; 0 paused; -1 without limit
    -- Counts of its events.
    total           bigint NOT NULL DEFAULT 0,
    queued          bigint NOT NULL DEFAULT 0 CHECK (queued >= 0),
    claimed         bigint NOT NULL DEFAULT 0 CHECK (claimed >= 0),
    in_doubt        bigint NOT NULL DEFAULT 0 CHECK (in_doubt >= 0),
    done            bigint NOT NULL DEFAULT 0,
    refused         bigint NOT NULL DEFAULT 0,
    skipped         bigint NOT NULL DEFAULT 0,
    cancelled       bigint NOT NULL DEFAULT 0,
    returned        bigint NOT NULL DEFAULT 0, -- of the done ones: failed again
    taken           bigint, -- of the done ones: a consumer group has committed past them (taken.sql); NULL: no group is known
    takeable        bigint NOT NULL DEFAULT 0, -- of the done ones: those whose groups are known
    taken_by        text, -- these groups
    taken_note      text, -- what is still missing, or why no group is known
    max_lag         bigint CHECK (max_lag >= 0), -- nothing is sent while a consumer group of its topics has more records to read; NULL: whatever it has
    lag_topics      text[], -- these topics
    unchanged       bigint NOT NULL DEFAULT 0, -- of the done ones: the recipe changed nothing
    not_applicable  bigint NOT NULL DEFAULT 0, -- of the done ones: the recipe does not apply
    refused_by_check bigint NOT NULL DEFAULT 0, -- of the refused ones: by the team's own check
    failed          bigint NOT NULL DEFAULT 0, -- of the refused ones: the recipe or its check failed on them
    forced          bigint NOT NULL DEFAULT 0, -- of the done ones: corrected although the team's own check refuses them
    worker          text,
    state_note      text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at      timestamptz,
    finished_at     timestamptz,
    frozen_to       bigint, -- while it is frozen: the highest id so far
    begins_at       timestamptz, -- as its asker wanted it; NULL: at once
    send_after      timestamptz, -- nothing is sent, or done, before
    undo_for        interval NOT NULL DEFAULT '0 s', -- from the confirmation to the first send
    approve_above   bigint, -- as the asker's settings had it
    undoes          bigint, -- of a restore: the newest discard of which it leaves nothing discarded, or the resolve it takes back; of a correct: the
                            -- one whose revisions it reverts
    restores        text NOT NULL DEFAULT 'DISCARDED' CHECK (restores IN ('DISCARDED', 'RESOLVED')), -- of a restore: what its events are
    -- Steps (steering.sql).
    steps           integer[] NOT NULL DEFAULT '{}', -- events of the canary and of each later step; then the rest
    step            integer NOT NULL DEFAULT 1 CHECK (step >= 1), -- the current one; above the number of steps: the rest
    settle_for      interval NOT NULL DEFAULT '60 s' CHECK (settle_for >= '0 s'), -- how long a step is observed
    observe_until   timestamptz, -- the end of that; NULL: no step is observed
    halt_above      real CHECK (halt_above BETWEEN 0 AND 100), -- percent refused or returned; NULL: never
    baseline_failed bigint NOT NULL DEFAULT 0, -- refused or returned when a person resumed it after a halt
    baseline_of     bigint NOT NULL DEFAULT 0, -- out of so many
    changed         bigint NOT NULL DEFAULT nextval('redrive.change'),
    CONSTRAINT operation_state_check CHECK (state IN ('freezing', 'awaiting approval', 'frozen', 'running', 'waiting', 'paused', 'done',
                                                      'cancelled', 'halted')),
    CONSTRAINT operation_steps_check CHECK (cardinality(steps) <= 16 AND 0 < ALL (steps))
) WITH (fillfactor = 50);
CREATE INDEX operation_live ON redrive.operation (no) WHERE state NOT IN ('done', 'cancelled');
CREATE INDEX operation_undoes ON redrive.operation (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX operation_policy ON redrive.operation (policy, no) WHERE policy IS NOT NULL;
CREATE INDEX operation_to_follow ON redrive.operation (no) WHERE then_reprocess AND followed_by IS NULL;

---- functions

-- Who asked for it, for people: the policy, or the login.
CREATE OR REPLACE FUNCTION redrive._asked_by(p_policy text, p_by name) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce('policy ' || p_policy, p_by::text);
$$;

-- Locks an operation's row.
CREATE OR REPLACE FUNCTION redrive._operation_lock(p_no bigint) RETURNS redrive.operation
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    SELECT * INTO v FROM redrive.operation WHERE no = p_no FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no operation %', p_no USING ERRCODE = 'RD002';
    END IF;
    RETURN v;
END $$;

-- Ends an operation that has nothing left to do; harmless otherwise. The caller holds the operation's row.
CREATE OR REPLACE FUNCTION redrive._operation_finish(p_no bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    UPDATE redrive.operation
       SET state = CASE WHEN is_cancelling AND cancelled > 0 THEN 'cancelled' ELSE 'done' END,
           finished_at = clock_timestamp(), observe_until = NULL, worker = NULL, state_note = NULL, changed = nextval('redrive.change')
     WHERE no = p_no AND state IN ('frozen', 'running', 'waiting', 'paused', 'halted') AND queued = 0 AND claimed = 0 AND in_doubt = 0
    RETURNING * INTO v;
    IF FOUND THEN
        PERFORM redrive._audit(v.state, v.no, v.total, NULL,
            (SELECT string_agg(to_char(c.count, 'FM999,999,999,990') || c.word, ', ' ORDER BY c.place)
               FROM (VALUES (1, v.done, CASE v.action WHEN 'reprocess' THEN ' sent' ELSE ' done' END), (2, v.refused, ' refused'),
                            (3, v.skipped, ' skipped'), (4, v.cancelled, ' cancelled')) AS c (place, count, word)
              WHERE c.count > 0 OR c.place = 1));
        RETURN;
    END IF;
    UPDATE redrive.operation SET state_note = in_doubt || ' in doubt', changed = nextval('redrive.change')
     WHERE no = p_no AND state = 'running' AND queued = 0 AND claimed = 0 AND in_doubt > 0
       AND state_note IS DISTINCT FROM in_doubt || ' in doubt';
END $$;

-- Has another operation unfinished events?
-- Plan: without seqscan the partial answer comes from an index, however small the table looked when the session planned this.
CREATE OR REPLACE FUNCTION redrive._has_live(p_but bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM redrive.operation o WHERE o.no <> p_but AND o.queued + o.claimed + o.in_doubt > 0);
END $$;

-- Begins a freeze, or finds the operation that the same key already made. A client that lost the answer to its COMMIT asks again this way: the
-- unique key waits for a server process that still carries the first request out.
CREATE OR REPLACE FUNCTION redrive.operation_begin(p_key uuid, p_action text, p_scope text, p_filter text, p_group text, p_reason text,
                                        p_topic text, p_rate integer, OUT no bigint, OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_action NOT IN ('reprocess', 'resolve', 'discard', 'restore', 'correct') THEN
        RAISE EXCEPTION '% is not carried out by this version of the schema', p_action USING ERRCODE = 'RD004';
    END IF;
    PERFORM redrive._mapped_target(p_action, p_topic);
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

-- Within the transaction of a freeze: how the operation is sent, and from how many events on somebody else approves it. NULL leaves a column
-- unchanged.
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

-- Within the transaction of a freeze: how far the consumer groups of its topics may be behind while it sends.
CREATE OR REPLACE FUNCTION redrive.operation_max_lag(p_no bigint, p_max_lag bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation SET max_lag = p_max_lag
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user AND action = 'reprocess';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not a reprocess that is being frozen', p_no USING ERRCODE = 'RD004';
    END IF;
END $$;

-- Within the transaction of a freeze: nothing of it is carried out before this time, or before so many ms after now. What is past counts as now.
CREATE OR REPLACE FUNCTION redrive.operation_begins(p_no bigint, p_at timestamptz, p_after_ms bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_at timestamptz := coalesce(p_at, clock_timestamp() + p_after_ms * interval '1 ms');
BEGIN
    IF v_at IS NULL OR v_at > clock_timestamp() + interval '367 days' THEN
        RAISE EXCEPTION 'an operation begins within a year, not at %', coalesce(v_at::text, 'an unknown time') USING ERRCODE = 'RD004';
    END IF;
    UPDATE redrive.operation SET begins_at = greatest(v_at, clock_timestamp()) WHERE no = p_no AND state = 'freezing' AND requested_by = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    END IF;
END $$;

-- Within the transaction of a freeze: events that the team's own check refuses are acted on too. Somebody answers for that with a reason.
CREATE OR REPLACE FUNCTION redrive.operation_force(p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation SET is_forced = true
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user AND action IN ('correct', 'reprocess') AND coalesce(reason, '') <> '';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % cannot be forced without a reason', p_no USING ERRCODE = 'RD004';
    END IF;
END $$;

-- Within the transaction of a freeze: this restore is of resolved events. Those that were sent are not pending again by it (_freeze_page).
CREATE OR REPLACE FUNCTION redrive.operation_restores_resolved(p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation SET restores = 'RESOLVED'
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user AND action = 'restore';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % restores nothing', p_no USING ERRCODE = 'RD004';
    END IF;
END $$;

-- Within the transaction of a freeze: the discard or resolve that this restore takes back, or the correct operation whose revisions this one reverts.
CREATE OR REPLACE FUNCTION redrive.operation_undoes(p_no bigint, p_undone bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation r SET undoes = d.no FROM redrive.operation d
     WHERE r.no = p_no AND r.state = 'freezing' AND r.requested_by = session_user AND d.no = p_undone
       AND (r.action = 'restore' AND d.action = CASE r.restores WHEN 'RESOLVED' THEN 'resolve' ELSE 'discard' END OR r.action = 'correct' AND d.action = 'correct' AND d.recipe IS NOT NULL);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % cannot undo operation %', p_no, p_undone USING ERRCODE = 'RD004';
    END IF;
END $$;

-- The newest discard that this restore completes, so that none of its events stays discarded. It is then undone, whoever asked for the restore.
-- Candidates are discards that closed one of two events: the lowest and the highest of the restore. NULL: there is none.
-- Plan: items of one operation are found by key; the tables may have grown a thousandfold since the session planned this.
CREATE OR REPLACE FUNCTION redrive._discard_undone(p_no bigint, p_lowest bigint, p_highest bigint) RETURNS bigint
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
        PERFORM FROM (SELECT unnest(b.dlq_ids) FROM redrive.operation_batch b WHERE b.operation_no = v_discard AND b.state = 'done'
                      UNION ALL SELECT i.dlq_id FROM redrive.operation_item i WHERE i.operation_no = v_discard AND i.state = 'done'
                      EXCEPT (SELECT unnest(b.dlq_ids) FROM redrive.operation_batch b WHERE b.operation_no = p_no
                              UNION ALL SELECT i.dlq_id FROM redrive.operation_item i WHERE i.operation_no = p_no)) AS other (id)
          CROSS JOIN LATERAL (SELECT FROM :"events" e WHERE e.id = other.id AND e.status = 'DISCARDED' LIMIT 1) AS still
          LIMIT 1;
        IF NOT FOUND THEN
            RETURN v_discard;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- The end of the freeze. From here on it is confirmed and any worker may carry it out, once a second person has approved a large one.
CREATE OR REPLACE FUNCTION redrive.operation_confirm(p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._policy_check(o) FROM redrive.operation o WHERE o.no = p_no;
    PERFORM redrive._operation_confirm(p_no, session_user);
END $$;

-- p_by: who asked for it. One that follows another was approved with that one.
CREATE OR REPLACE FUNCTION redrive._operation_confirm(p_no bigint, p_by name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation;
    v_first bigint;
    v_last bigint;
    v_count bigint;
    v_above bigint := (SELECT least(o.approve_above, i.approve_above) FROM redrive.operation o, redrive.install i WHERE o.no = p_no);
BEGIN
    IF EXISTS (SELECT FROM redrive.operation WHERE no = p_no AND state = 'freezing' AND requested_by = p_by AND action = 'reprocess') THEN
        v_count := redrive._batches_make(p_no);
        UPDATE redrive.operation SET queued = queued - v_count, skipped = skipped + v_count WHERE no = p_no AND v_count > 0;
    END IF;
    UPDATE redrive.operation
       SET state = CASE WHEN queued > v_above AND approved_by IS NULL THEN 'awaiting approval' ELSE 'frozen' END,
           state_note = CASE WHEN queued > v_above AND approved_by IS NULL THEN format('more than %s events: somebody else approves it', v_above) END,
           send_after = greatest(begins_at, CASE WHEN undo_for > '0 s' THEN clock_timestamp() + undo_for END), changed = nextval('redrive.change')
     WHERE no = p_no AND state = 'freezing' AND requested_by = p_by
    RETURNING * INTO v;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % is not being frozen', p_no USING ERRCODE = 'RD001';
    END IF;
    SELECT min(id), max(id), count(*) INTO v_first, v_last, v_count FROM (
        SELECT unnest(b.dlq_ids) AS id FROM redrive.operation_batch b WHERE b.operation_no = p_no
        UNION ALL SELECT i.dlq_id FROM redrive.operation_item i WHERE i.operation_no = p_no) AS item;
    IF v.action = 'correct' AND v.recipe IS NULL AND v.undoes IS NULL THEN
        RAISE EXCEPTION 'operation % has no recipe', p_no USING ERRCODE = 'RD004';
    END IF;
    IF v_count <> v.total THEN
        RAISE EXCEPTION 'operation % counted % items and has %', p_no, v.total, v_count;
    END IF;
    IF v.max_lag IS NOT NULL THEN
        UPDATE redrive.operation SET lag_topics = redrive._lag_topics(v) WHERE no = p_no;
    END IF;
    IF v.action = 'restore' AND v.undoes IS NULL THEN
        UPDATE redrive.operation SET undoes = redrive._discard_undone(p_no, v_first, v_last) WHERE no = p_no;
    END IF;
    PERFORM redrive._audit(v.action, p_no, v.total, v.reason,
        format('selected %s%s; ids %s to %s; %s%s', to_char(v.queued, 'FM999,999,999,990'),
               CASE WHEN v.skipped > 0 THEN ', skipped ' || to_char(v.skipped, 'FM999,999,999,990') ELSE '' END, v_first, v_last, v.scope,
               coalesce('; filter: ' || v.filter_text, '')
               || CASE WHEN v.is_forced THEN '; forced: what the check refuses too' ELSE '' END
               || CASE WHEN v.action = 'correct' AND v.undoes IS NOT NULL THEN '; undoes operation ' || v.undoes ELSE '' END
               || CASE WHEN v.then_reprocess THEN '; then reprocess' ELSE '' END
               || coalesce('; begins ' || to_char(v.begins_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC', '')
               || CASE WHEN v.action IN ('reprocess', 'correct') THEN redrive._plan_text(v) ELSE '' END));
    PERFORM redrive._operation_finish(p_no);
END $$;
