-- Would it turn time back to send these events again? The screen has no Kafka: it asks here, a worker reads Kafka and writes the answer down
-- (core/newer.h). Nothing depends on it but what a person is told, and which events she leaves out.

CREATE TABLE redrive.newer_question (
    no         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asked_by   text NOT NULL DEFAULT session_user,
    wanted_at  timestamptz NOT NULL DEFAULT clock_timestamp(), -- somebody waits for it, the last time
    worker     text,        -- that reads
    taken_at   timestamptz, -- its last sign
    dlq_ids    bigint[] NOT NULL,
    left_out   bigint NOT NULL, -- events that are too many for one question
    records    bigint NOT NULL DEFAULT 0, -- read so far
    record_sum bigint NOT NULL DEFAULT 0, -- of so many
    ended_at   timestamptz, -- the answer is there:
    why        text, -- reading ended early
    stale      bigint[], -- events that have newer records
    stale_at   timestamptz[], -- the newest one of each
    key_count  bigint, -- their keys
    keys       bytea[], -- the newest of these
    keys_at    timestamptz[],
    keys_deleted integer[], -- 1: that is a tombstone
    resent     bigint,
    untold     bigint[] -- events, by the numbers of enum untold
);
ALTER TABLE redrive.newer_question ALTER dlq_ids SET STORAGE EXTERNAL;

---- functions

-- Asks the workers. An answer that nobody waits for is forgotten after ten minutes, or when its asker has ten younger ones. has_worker: one that can
-- ask Kafka lives.
CREATE OR REPLACE FUNCTION redrive.newer_ask(p_ids bigint[], OUT no bigint, OUT has_worker boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.newer_question n WHERE n.wanted_at < clock_timestamp() - interval '10 minutes';
    DELETE FROM redrive.newer_question n WHERE n.no IN (SELECT o.no FROM redrive.newer_question o WHERE o.asked_by = session_user ORDER BY o.no DESC OFFSET 9);
    INSERT INTO redrive.newer_question AS n (dlq_ids, left_out)
    VALUES (coalesce(p_ids[1:200000], '{}'), greatest(coalesce(cardinality(p_ids), 0) - 200000, 0)) RETURNING n.no INTO no;
    has_worker := redrive._newer_has_worker();
END $$;

CREATE OR REPLACE FUNCTION redrive._newer_has_worker() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT EXISTS (SELECT FROM redrive.worker w WHERE w.publishes AND w.seen_at > clock_timestamp() - interval '15 s');
$$;

-- Says that somebody still waits; every second or so. has_worker as above; NULL: the question was forgotten, or is somebody else's.
CREATE OR REPLACE FUNCTION redrive.newer_wait(p_no bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.newer_question n SET wanted_at = clock_timestamp() WHERE n.no = p_no AND n.asked_by = session_user;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN redrive._newer_has_worker();
END $$;

-- Takes a question that somebody waits for and no worker reads for; no: 0 where there is none.
CREATE OR REPLACE FUNCTION redrive.work_newer_take(p_worker text, OUT no bigint, OUT dlq_ids bigint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.newer_question n SET worker = left(p_worker, 200), taken_at = clock_timestamp()
     WHERE n.no = (SELECT q.no FROM redrive.newer_question q
                    WHERE q.ended_at IS NULL AND q.wanted_at > clock_timestamp() - interval '10 s'
                      AND (q.taken_at IS NULL OR q.taken_at < clock_timestamp() - interval '10 s')
                    ORDER BY q.no LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING n.no, n.dlq_ids INTO no, dlq_ids;
    no := coalesce(no, 0);
END $$;

-- How far the worker is. Returns whether somebody still waits for it.
CREATE OR REPLACE FUNCTION redrive.work_newer_sign(p_no bigint, p_worker text, p_records bigint, p_of bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.newer_question n SET taken_at = clock_timestamp(), records = p_records, record_sum = p_of
     WHERE n.no = p_no AND n.worker = p_worker AND n.ended_at IS NULL AND n.wanted_at > clock_timestamp() - interval '10 s';
    RETURN FOUND;
END $$;

-- Microseconds since 1970 as times; the lowest number is none.
CREATE OR REPLACE FUNCTION redrive._newer_times(p_at bigint[]) RETURNS timestamptz[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT ARRAY(SELECT CASE WHEN u.at > -9223372036854775808 THEN to_timestamp(u.at / 1000000.0) END FROM unnest(p_at) WITH ORDINALITY AS u (at, n)
                  ORDER BY u.n);
$$;

CREATE OR REPLACE FUNCTION redrive.work_newer_answer(p_no bigint, p_worker text, p_records bigint, p_of bigint, p_why text, p_stale bigint[],
                                                     p_stale_at bigint[], p_key_count bigint, p_keys bytea[], p_keys_at bigint[],
                                                     p_keys_deleted integer[], p_resent bigint, p_untold bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.newer_question n
       SET ended_at = clock_timestamp(), records = p_records, record_sum = p_of, why = left(p_why, 400), stale = p_stale,
           stale_at = redrive._newer_times(p_stale_at), key_count = p_key_count, keys = p_keys[1:20], keys_at = redrive._newer_times(p_keys_at),
           keys_deleted = p_keys_deleted, resent = p_resent, untold = p_untold
     WHERE n.no = p_no AND n.worker = p_worker AND n.ended_at IS NULL;
END $$;
