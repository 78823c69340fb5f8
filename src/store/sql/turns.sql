-- Turns: which database published last to a Kafka cluster, and the stop of one that did not. src/publish/PROTOCOL.md, "Turn", explains the steps.
--
-- Kafka holds the number and id of the last turn as well. Whoever may publish from this database has seen that both agree, and has raised both.

CREATE TABLE redrive.turn (
    cluster      text PRIMARY KEY,
    no           bigint NOT NULL DEFAULT 0, -- of the last turn; 0: none yet
    id           uuid,
    before_no    bigint NOT NULL DEFAULT 0, -- what Kafka held when the last was written
    before_id    uuid,
    is_confirmed boolean NOT NULL DEFAULT false, -- Kafka was seen to hold the last
    finished_no  bigint NOT NULL DEFAULT 0,      -- the last turn after which all slots were fenced and compared
    at           timestamptz,
    -- The one worker of this database that takes a turn now. As with slots the lease and the session only say whether it is alive.
    holder       text,
    holder_who   name, -- the login that took it; nobody else changes it
    lease_until  timestamptz NOT NULL DEFAULT '-infinity',
    holder_pid   integer,
    holder_since timestamptz,
    -- Nothing is published before a person has decided (doubt.sql).
    stop         text CHECK (stop IN ('copy', 'elsewhere', 'ahead', 'gone')),
    stopped_at   timestamptz,
    stop_detail  text
);

---- functions

-- The cluster's row, locked, with what an acknowledged change needs.
CREATE OR REPLACE FUNCTION redrive._turn_lock(p_cluster text) RETURNS redrive.turn
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.turn;
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    SELECT * INTO v FROM redrive.turn WHERE cluster = p_cluster FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO redrive.turn (cluster) VALUES (p_cluster) ON CONFLICT DO NOTHING;
        SELECT * INTO v FROM redrive.turn WHERE cluster = p_cluster FOR UPDATE;
    END IF;
    RETURN v;
END $$;

-- Refuses where a stop is written.
CREATE OR REPLACE FUNCTION redrive._turn_check(p_cluster text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_detail text := (SELECT stop_detail FROM redrive.turn WHERE cluster = p_cluster AND stop IS NOT NULL);
BEGIN
    IF v_detail IS NOT NULL THEN
        RAISE EXCEPTION 'nothing is published from this database: %', v_detail USING ERRCODE = 'RD005',
            HINT = 'an administrator decides with redrive migrate --adopt or --as-copy';
    ELSIF redrive.is_copy() THEN
        RAISE EXCEPTION 'nothing is published from this database: %', redrive._copy_words() USING ERRCODE = 'RD005',
            HINT = 'an administrator decides with redrive migrate --adopt or --as-copy';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION redrive._turn_stop(p_cluster text, p_reason text, p_detail text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.turn SET stop = p_reason, stopped_at = clock_timestamp(), stop_detail = p_detail, holder = NULL, holder_who = NULL,
                            holder_pid = NULL, holder_since = NULL, lease_until = '-infinity'
     WHERE cluster = p_cluster AND stop IS NULL;
    IF FOUND THEN
        PERFORM redrive._audit('stop', NULL, 0, NULL, format('%s: %s', p_cluster, p_detail));
    END IF;
END $$;

-- Asks to be the one worker that takes a turn. p_since: the last turn when the caller first asked, -1 at that time: a turn that was finished since
-- serves the caller as well. The row that it answers with names the holder; p_session: as for slot_acquire.
CREATE OR REPLACE FUNCTION redrive.turn_take(p_cluster text, p_worker text, p_since bigint, p_session integer) RETURNS SETOF redrive.turn
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.turn := redrive._turn_lock(p_cluster);
BEGIN
    PERFORM redrive._slots_make(p_cluster);
    IF v.stop IS NULL AND redrive.is_copy() THEN
        PERFORM redrive._turn_stop(p_cluster, 'copy', redrive._copy_words());
    ELSIF v.stop IS NULL AND NOT (p_since >= 0 AND v.finished_no > p_since)
          AND (v.lease_until < clock_timestamp() OR v.holder = p_worker AND v.holder_who = session_user
               OR redrive._session_is_gone(v.holder_pid, v.holder_since)) THEN
        UPDATE redrive.turn
           SET holder = p_worker, holder_who = session_user, lease_until = clock_timestamp() + interval '30 s',
               holder_pid = CASE WHEN p_session = pg_backend_pid() THEN p_session END,
               holder_since = (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = p_session AND p_session = pg_backend_pid())
         WHERE cluster = p_cluster;
    END IF;
    RETURN QUERY SELECT * FROM redrive.turn WHERE cluster = p_cluster;
END $$;

-- The row of a turn that this worker takes now, in the session that asked for it.
CREATE OR REPLACE FUNCTION redrive._turn_mine(p_cluster text, p_worker text) RETURNS redrive.turn
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.turn := redrive._turn_lock(p_cluster);
BEGIN
    PERFORM redrive._turn_check(p_cluster);
    IF (v.holder = p_worker AND v.holder_who = session_user AND coalesce(v.holder_pid = pg_backend_pid(), true)) IS NOT TRUE THEN
        RAISE EXCEPTION 'another worker takes the turn' USING ERRCODE = 'RD001';
    END IF;
    RETURN v;
END $$;

-- Compare and set, before the commit to Kafka. What Kafka holds is the last turn, or the one before it as long as the last was not seen there. It
-- becomes the one before, so that any number of turns may end between their two writes.
CREATE OR REPLACE FUNCTION redrive.turn_write(p_cluster text, p_worker text, p_kafka_no bigint, p_kafka_id uuid, p_id uuid)
RETURNS SETOF redrive.turn
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.turn := redrive._turn_mine(p_cluster, p_worker);
BEGIN
    IF (p_kafka_no, p_kafka_id) IS DISTINCT FROM (v.no, v.id)
       AND (v.is_confirmed OR (p_kafka_no, p_kafka_id) IS DISTINCT FROM (v.before_no, v.before_id)) THEN
        RAISE EXCEPTION 'turn % of Kafka is not one that turn % of this database may follow', p_kafka_no, v.no USING ERRCODE = 'RD001';
    END IF;
    RETURN QUERY UPDATE redrive.turn t
                    SET no = v.no + 1, id = p_id, before_no = p_kafka_no, before_id = p_kafka_id, is_confirmed = false, at = clock_timestamp(),
                        lease_until = clock_timestamp() + interval '30 s'
                  WHERE t.cluster = p_cluster RETURNING t.*;
END $$;

-- Kafka was seen to hold turn p_no, the last.
CREATE OR REPLACE FUNCTION redrive.turn_confirm(p_cluster text, p_worker text, p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.turn := redrive._turn_mine(p_cluster, p_worker);
BEGIN
    IF v.no <> p_no THEN
        RAISE EXCEPTION 'turn % is not the last', p_no USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.turn SET is_confirmed = true, lease_until = clock_timestamp() + interval '30 s' WHERE cluster = p_cluster;
END $$;

-- All slots were fenced after turn p_no, and their markers agree.
CREATE OR REPLACE FUNCTION redrive.turn_finish(p_cluster text, p_worker text, p_no bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.turn := redrive._turn_mine(p_cluster, p_worker);
BEGIN
    IF v.no <> p_no OR NOT v.is_confirmed THEN
        RAISE EXCEPTION 'turn % is not the last, or Kafka was not seen to hold it', p_no USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.turn SET finished_no = p_no, holder = NULL, holder_who = NULL, holder_pid = NULL, holder_since = NULL, lease_until = '-infinity'
     WHERE cluster = p_cluster;
END $$;

-- Kafka contradicts this database: workers stop here, and slot_acquire refuses.
CREATE OR REPLACE FUNCTION redrive.turn_stop(p_cluster text, p_reason text, p_detail text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._turn_lock(p_cluster);
    PERFORM redrive._turn_stop(p_cluster, p_reason, p_detail);
END $$;

-- The slots of a cluster without their fences, which are their holders' alone.
CREATE OR REPLACE FUNCTION redrive.turn_slots(p_cluster text) RETURNS SETOF redrive.slot
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT (jsonb_populate_record(s, '{"fence": 0}')).* FROM redrive.slot s WHERE s.cluster = p_cluster;
$$;

-- The names that each slot of a cluster gets in its next generation. A database that is older than Kafka may not know of them.
CREATE OR REPLACE FUNCTION redrive.turn_next_names(p_cluster text) RETURNS TABLE (no integer, txn_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT s.no, redrive._txn_id(i.id, s.cluster, s.no, s.generation + 1) FROM redrive.slot s, redrive.install i WHERE s.cluster = p_cluster;
$$;
