-- Slots: transactional ids that workers take turns with, and the Kafka clusters they are for. With chunks.sql this is the ledger, PostgreSQL's
-- half of a publish; src/publish/PROTOCOL.md explains its steps.
--
-- Every function names the slot and the fence that its caller has; when the fence has moved, it changes nothing and raises RD001. A lease only says
-- which holder is likely alive. Safety rests on the fence here and on the producer epoch in Kafka. A fence is also what its holder alone knows:
-- no role may read one, and it is of use only to the login and, without a pooler, to the session that acquired the slot.

CREATE TABLE redrive.cluster (
    name       text PRIMARY KEY CHECK (name <> ''),
    promise    text NOT NULL CHECK (promise IN ('unknown', 'exactly once', 'at least once')),
    words      text NOT NULL,
    evidence   text NOT NULL,
    who        name NOT NULL DEFAULT session_user, -- who probed it; a worker of another login probes it itself
    checked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A slot owns a transactional id and the marker group of the same name. Its fence moves at every acquisition.
CREATE TABLE redrive.slot (
    cluster        text NOT NULL CHECK (cluster <> ''),
    no             integer NOT NULL,
    generation     integer NOT NULL DEFAULT 1,
    txn_id         text NOT NULL UNIQUE,
    fence          bigint NOT NULL DEFAULT 0,
    holder         text,
    lease_until    timestamptz NOT NULL DEFAULT '-infinity',
    next_seq       bigint NOT NULL DEFAULT 0, -- last number given out
    finished_seq   bigint NOT NULL DEFAULT 0, -- the number in the marker; 0: the provisioning marker
    finished_id    uuid NOT NULL,             -- the chunk that the marker names; the install id for 0
    is_provisioned boolean NOT NULL DEFAULT false,
    is_suspended   boolean NOT NULL DEFAULT false, -- takes no chunk before its state is decided
    note           text,
    marker_at      timestamptz,
    holder_who     name, -- the login that acquired it; nobody else changes it
    -- By its server process a holder is known to be alive, so a lost session ends its lease at once. Nobody else's process changes the slot.
    holder_pid     integer,     -- NULL: behind a pooler, where the lease alone tells
    holder_since   timestamptz, -- backend_start of that process; NULL where the owner may not see it
    PRIMARY KEY (cluster, no)
);

---- functions

CREATE OR REPLACE FUNCTION redrive.cluster_put(p_name text, p_promise text, p_words text, p_evidence text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.cluster (name, promise, words, evidence) VALUES (p_name, p_promise, p_words, p_evidence)
    ON CONFLICT (name) DO UPDATE
       SET promise = p_promise, words = p_words, evidence = p_evidence, who = session_user, checked_at = clock_timestamp();
    PERFORM redrive._audit('probe', NULL, 0, NULL, format('%s: %s: %s', p_name, p_words, p_evidence));
END $$;

CREATE OR REPLACE FUNCTION redrive._txn_id(p_install uuid, p_cluster text, p_no integer, p_generation integer) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT format('redrive.%s.%s.%s', p_install, p_cluster, p_no) || CASE WHEN p_generation > 1 THEN '.g' || p_generation ELSE '' END;
$$;

-- Was the slot acquired by this login, and in this session where that is known? A pooler gives each transaction another one.
CREATE OR REPLACE FUNCTION redrive._slot_is_mine(p_slot redrive.slot) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT (p_slot.holder_who = session_user AND coalesce(p_slot.holder_pid = pg_backend_pid(), true)) IS TRUE;
$$;

-- Takes the slot's row lock; the first thing that every fenced write does.
CREATE OR REPLACE FUNCTION redrive._slot_lock(p_cluster text, p_no integer, p_fence bigint) RETURNS redrive.slot
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.slot;
BEGIN
    SELECT * INTO v FROM redrive.slot WHERE cluster = p_cluster AND no = p_no AND fence = p_fence FOR UPDATE;
    IF NOT FOUND OR NOT redrive._slot_is_mine(v) THEN
        RAISE EXCEPTION 'slot % was taken over by another worker', p_no USING ERRCODE = 'RD001';
    END IF;
    -- An acknowledged change must survive a crash, whatever the role or the database is set to.
    PERFORM set_config('synchronous_commit', 'on', true);
    RETURN v;
END $$;

-- May this worker take the slot? Its lease has ended, or it is the worker's own, or the session that took it is gone. Then its holder is gone
-- too, or has to acquire it again. A wrong answer costs a takeover: fence and epoch keep it safe.
CREATE OR REPLACE FUNCTION redrive._slot_is_free(p_slot redrive.slot, p_worker text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_slot.lease_until < clock_timestamp() OR p_slot.holder = p_worker AND p_slot.holder_who = session_user
        OR redrive._session_is_gone(p_slot.holder_pid, p_slot.holder_since);
$$;

-- Was its marker written so long ago that it must be written again? Kafka forgets it after offsets.retention.minutes, a week by default.
CREATE OR REPLACE FUNCTION redrive.slot_is_old(p_slot redrive.slot) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_slot.is_provisioned AND NOT p_slot.is_suspended AND p_slot.marker_at < clock_timestamp() - interval '24 h';
$$;

-- The slots of a cluster, on its first use.
CREATE OR REPLACE FUNCTION redrive._slots_make(p_cluster text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM redrive.slot WHERE cluster = p_cluster) THEN
        INSERT INTO redrive.slot (cluster, no, txn_id, finished_id)
        SELECT p_cluster, n, redrive._txn_id(i.id, p_cluster, n, 1), i.id FROM redrive.install i, generate_series(0, 15) AS n
        ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- Acquire: a slot that nobody holds, first one with an unfinished chunk, because recovery is everybody's work. p_mine: slots the caller works with
-- already. p_suspended: instead a slot whose chunk is in doubt, for the procedure that resolves it. p_session: the server process that the
-- caller connected to. Behind a pooler another process runs this, and the lease alone tells whether the holder is alive.
CREATE OR REPLACE FUNCTION redrive.slot_acquire(p_cluster text, p_worker text, p_mine integer[], p_suspended boolean, p_session integer)
RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_no integer;
BEGIN
    PERFORM redrive._turn_check(p_cluster);
    PERFORM set_config('synchronous_commit', 'on', true);
    PERFORM redrive._slots_make(p_cluster);
    SELECT s.no INTO v_no FROM redrive.slot s
     WHERE s.cluster = p_cluster AND s.is_suspended = p_suspended AND s.no <> ALL (p_mine)
       AND redrive._slot_is_free(s, p_worker)
       AND (NOT p_suspended OR EXISTS (SELECT FROM redrive.chunk c WHERE c.cluster = s.cluster AND c.slot = s.no AND c.state = 'in doubt'
                                                                   AND NOT c.needs_person))
     ORDER BY EXISTS (SELECT FROM redrive.chunk c
                       WHERE c.cluster = s.cluster AND c.slot = s.no AND c.state IN ('claimed', 'in doubt')) DESC,
              redrive.slot_is_old(s) DESC, random()
     LIMIT 1 FOR UPDATE OF s SKIP LOCKED;
    RETURN QUERY UPDATE redrive.slot s
                    SET fence = s.fence + 1, holder = p_worker, holder_who = session_user, lease_until = clock_timestamp() + interval '30 s',
                        holder_pid = CASE WHEN p_session = pg_backend_pid() THEN p_session END,
                        holder_since = (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = p_session AND p_session = pg_backend_pid())
                  WHERE s.cluster = p_cluster AND s.no = v_no
              RETURNING s.*;
END $$;

-- The slot as it is now, if it is still its holder's.
CREATE OR REPLACE FUNCTION redrive.slot_check(p_cluster text, p_no integer, p_fence bigint) RETURNS SETOF redrive.slot
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT s.* FROM redrive.slot s WHERE s.cluster = p_cluster AND s.no = p_no AND s.fence = p_fence AND redrive._slot_is_mine(s);
$$;

-- Counts slots of a cluster ('': of any) that no other worker holds now and that want somebody: with an unfinished chunk, with one in doubt that
-- a search may decide, and idle ones with an old marker. p_mine: slots that this worker holds, whose chunks are not counted.
CREATE OR REPLACE FUNCTION redrive.slot_recovery(p_cluster text, p_worker text, p_mine integer[], OUT unfinished bigint, OUT in_doubt bigint,
                                                 OUT old_markers bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT count(*) FILTER (WHERE c.state = 'claimed' AND s.no <> ALL (p_mine)),
           count(*) FILTER (WHERE c.state = 'in doubt' AND NOT c.needs_person),
           count(*) FILTER (WHERE c.id IS NULL AND redrive.slot_is_old(s))
      FROM redrive.slot s LEFT JOIN redrive.chunk c ON c.cluster = s.cluster AND c.slot = s.no AND c.state IN ('claimed', 'in doubt')
     WHERE p_cluster IN ('', s.cluster) AND redrive._slot_is_free(s, p_worker);
$$;

CREATE OR REPLACE FUNCTION redrive.slot_heartbeat(p_cluster text, p_no integer, p_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.slot s SET lease_until = clock_timestamp() + interval '30 s'
     WHERE cluster = p_cluster AND no = p_no AND fence = p_fence AND redrive._slot_is_mine(s);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'slot % was taken over by another worker', p_no USING ERRCODE = 'RD001';
    END IF;
END $$;

-- The marker (finished_seq, finished_id) is in Kafka now.
CREATE OR REPLACE FUNCTION redrive.slot_provisioned(p_cluster text, p_no integer, p_fence bigint) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_at timestamptz := clock_timestamp();
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    UPDATE redrive.slot SET is_provisioned = true, marker_at = v_at WHERE cluster = p_cluster AND no = p_no;
    RETURN v_at;
END $$;

CREATE OR REPLACE FUNCTION redrive.slot_release(p_cluster text, p_no integer, p_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    IF EXISTS (SELECT FROM redrive.chunk WHERE cluster = p_cluster AND slot = p_no AND state = 'claimed') THEN
        RAISE EXCEPTION 'slot % has a chunk whose fate is not known yet', p_no USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.slot SET lease_until = clock_timestamp() - interval '1 ms', holder = NULL, holder_who = NULL, holder_pid = NULL, holder_since = NULL
     WHERE cluster = p_cluster AND no = p_no;
END $$;

CREATE OR REPLACE FUNCTION redrive.slot_suspend(p_cluster text, p_no integer, p_fence bigint, p_evidence text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    UPDATE redrive.slot SET is_suspended = true, note = p_evidence WHERE cluster = p_cluster AND no = p_no;
    PERFORM redrive._audit('suspend', NULL, 0, NULL, format('%s slot %s: %s', p_cluster, p_no, p_evidence));
END $$;

-- Next generation: other names in Kafka, no marker yet. Sequence numbers continue, so that a chunk's number stays its own.
CREATE OR REPLACE FUNCTION redrive._slot_retire(p_cluster text, p_no integer, p_why text) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._audit('retire', NULL, 0, NULL, format('%s slot %s: %s', p_cluster, p_no, p_why));
    RETURN QUERY UPDATE redrive.slot s
                    SET generation = s.generation + 1, txn_id = redrive._txn_id(i.id, s.cluster, s.no, s.generation + 1), finished_seq = 0,
                        finished_id = i.id, is_provisioned = false, is_suspended = false, note = p_why, marker_at = NULL
                   FROM redrive.install i
                  WHERE s.cluster = p_cluster AND s.no = p_no
              RETURNING s.*;
END $$;

-- The same for the slot's holder. Refused while a chunk of the slot is unfinished.
CREATE OR REPLACE FUNCTION redrive.slot_retire(p_cluster text, p_no integer, p_fence bigint, p_why text) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    IF EXISTS (SELECT FROM redrive.chunk WHERE cluster = p_cluster AND slot = p_no AND state IN ('claimed', 'in doubt')) THEN
        RAISE EXCEPTION 'slot % has a chunk whose fate is not known yet', p_no USING ERRCODE = 'RD001';
    END IF;
    RETURN QUERY SELECT * FROM redrive._slot_retire(p_cluster, p_no, p_why);
END $$;
