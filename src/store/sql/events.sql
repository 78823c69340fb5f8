-- Records as Kafka had them, kept beside the rows of the contract table.

-- The record an event came from, byte for byte, where redrive read it itself.
CREATE TABLE redrive.record (
    dlq_id        bigint PRIMARY KEY,
    topic         text NOT NULL,
    partition     integer NOT NULL,
    "offset"      bigint NOT NULL,
    "timestamp"   timestamptz,
    key           bytea,
    value         bytea,
    header_names  text[] NOT NULL DEFAULT '{}',
    header_values bytea[] NOT NULL DEFAULT '{}',
    crc32c        bigint
);

-- Events whose original record somebody wants to see: the screen has no Kafka, so a worker reads it.
CREATE TABLE redrive.record_wanted (
    dlq_id bigint PRIMARY KEY,
    who    name NOT NULL DEFAULT session_user,
    at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

---- functions

-- Is each original the same JSON value as the event's payload? Bytes that are not JSON or not UTF-8 are not the same.
CREATE OR REPLACE FUNCTION redrive.same_json(p_ids bigint[], p_originals bytea[]) RETURNS boolean[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_same boolean[] := '{}';
    v_one boolean;
BEGIN
    FOR i IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
        BEGIN
            SELECT e.event_payload = convert_from(p_originals[i], 'UTF8')::jsonb INTO v_one FROM :"events" e WHERE e.id = p_ids[i];
        EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN
            v_one := false;
        END;
        v_same := v_same || coalesce(v_one, false);
    END LOOP;
    RETURN v_same;
END $$;

-- Pending events up to p_highest, at most p_limit, whose row, revision or record a transaction wrote that was still open at p_floor. The owner
-- runs it: a role with grants on columns may not read xmin. A transaction id has 32 bits and no order of its own; age() counts back from now.
CREATE OR REPLACE FUNCTION redrive.changed_since(p_floor xid, p_highest bigint, p_limit bigint) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT e.id::bigint FROM :"events" e WHERE e.status = 'PENDING' AND e.id <= p_highest AND age(e.xmin) <= age(p_floor)
         UNION ALL SELECT r.dlq_id FROM redrive.revision r WHERE age(r.xmin) <= age(p_floor)
         UNION ALL SELECT w.dlq_id FROM redrive.record w WHERE age(w.xmin) <= age(p_floor)
         LIMIT p_limit;
END $$;

-- Keeps records that a worker read again in Kafka, where they are the event's own: the same JSON value. Headers stand one after the other. Returns
-- how many were kept.
CREATE OR REPLACE FUNCTION redrive.work_keep_records(p_ids bigint[], p_times bigint[], p_keys bytea[], p_values bytea[], p_header_counts integer[],
                                                     p_header_names text[], p_header_values bytea[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_same boolean[] := redrive.same_json(p_ids, p_values);
    v_kept bigint;
BEGIN
    INSERT INTO redrive.record (dlq_id, topic, partition, "offset", "timestamp", key, value, header_names, header_values)
    SELECT w.id, e.kafka_topic, e.kafka_partition, e.kafka_offset, to_timestamp(nullif(w.time, -1) / 1000000.0), w.key, w.value,
           coalesce(p_header_names[w.before + 1 : w.before + w.headers], '{}'), coalesce(p_header_values[w.before + 1 : w.before + w.headers], '{}')
      FROM (SELECT u.*, (sum(u.headers) OVER (ORDER BY u.n) - u.headers)::integer AS before
              FROM unnest(p_ids, p_times, p_keys, p_values, p_header_counts, v_same) WITH ORDINALITY
                   AS u (id, time, key, value, headers, is_same, n)) w
     CROSS JOIN LATERAL (SELECT x.kafka_topic, x.kafka_partition, x.kafka_offset FROM :"events" x WHERE x.id = w.id LIMIT 1) e
     WHERE w.is_same AND e.kafka_topic IS NOT NULL AND e.kafka_partition IS NOT NULL AND e.kafka_offset IS NOT NULL
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_kept = ROW_COUNT;
    RETURN v_kept;
END $$;

-- Asks the workers for the original record of an event. Returns whether one that can read Kafka runs now.
CREATE OR REPLACE FUNCTION redrive.record_want(p_id bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.record_wanted WHERE at < clock_timestamp() - interval '1 minute';
    INSERT INTO redrive.record_wanted (dlq_id)
    SELECT e.id FROM :"events" e
     WHERE e.id = p_id AND e.kafka_topic IS NOT NULL AND e.kafka_partition IS NOT NULL AND e.kafka_offset IS NOT NULL
       AND NOT EXISTS (SELECT FROM redrive.record r WHERE r.dlq_id = p_id) LIMIT 1
    ON CONFLICT (dlq_id) DO UPDATE SET at = clock_timestamp();
    RETURN EXISTS (SELECT FROM redrive.worker w WHERE w.publishes AND w.seen_at > clock_timestamp() - interval '15 s');
END $$;

-- Takes up to p_limit of these requests. One that a worker cannot answer is gone: the screen asks again.
CREATE OR REPLACE FUNCTION redrive.work_records_wanted(p_limit integer) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY DELETE FROM redrive.record_wanted w
                  WHERE w.dlq_id IN (SELECT q.dlq_id FROM redrive.record_wanted q ORDER BY q.at LIMIT p_limit FOR UPDATE SKIP LOCKED)
                 RETURNING w.dlq_id;
END $$;
