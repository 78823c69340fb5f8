-- Records as Kafka had them, kept beside the rows of the contract table.

-- The record an event came from, byte for byte, where redrive read it itself. There are two kinds, which `format` tells apart:
--
--   format NULL      the original record, which a worker read again where kafka_topic, kafka_partition and kafka_offset of the event say.
--   format 'NAME'    a dead letter that `redrive ingest` took in (ingest.sql), in the format of that name (src/core/envelope), or 'unknown'. topic,
--                    partition, generation, offset and timestamp are the dead letter's own; key, value and headers are its bytes, with whatever
--                    the failure put around them. Undoing the format gives the original. The event's row has the original's coordinates.
--
-- Further dead letters of the same event are in redrive.attempt; an original that a dead letter has no copy of is in redrive.original.
CREATE TABLE redrive.record (
    dlq_id        bigint PRIMARY KEY,
    topic         text NOT NULL,
    partition     integer NOT NULL,
    "offset"      bigint NOT NULL,
    "timestamp"   timestamptz,
    key           bytea, -- NULL: a null of Kafka, as in value and in header_values
    value         bytea,
    header_names  text[] NOT NULL DEFAULT '{}', -- in the record's order; a name may occur several times
    header_values bytea[] NOT NULL DEFAULT '{}',
    crc32c        bigint, -- of timestamp, key, value and headers (src/ingest/letter.h); NULL: not reckoned
    -- Of dead letters:
    cluster       text,    -- the id of the Kafka cluster, as in redrive.sent
    generation    integer, -- of the topic: one more each time that it was deleted and made anew
    format        text,
    queue         text,        -- the topic that it was seen in last, where that is another: it came from a retry topic to the dead letter topic
    consumer      text,        -- the consumer group that failed, where the format names it
    failed_at     timestamptz, -- when, where the format says so
    identity      bigint,      -- hash of the cluster and the whole event id, which the event's own column may have cut; of a key that a
                               -- setting names also of the original topic. Others are another event, also with the same event id
    schema        text,        -- of a value that is no JSON: the name of its schema (schemas.sql)
    decoding      text CHECK (decoding IN ('waiting', 'decoded', 'failed')), -- NULL: there is nothing to decode
    is_imported   boolean NOT NULL DEFAULT false, -- by a file of `redrive export`: redrive ingest has not read it, and may still do so
    CHECK ((format IS NULL) = (cluster IS NULL) AND (format IS NULL) = (generation IS NULL) AND (format IS NULL) = (identity IS NULL))
);
CREATE UNIQUE INDEX record_place ON redrive.record (cluster, topic, generation, partition, "offset") WHERE format IS NOT NULL AND NOT is_imported;
CREATE INDEX record_identity ON redrive.record (identity) WHERE identity IS NOT NULL;
CREATE INDEX record_waiting ON redrive.record (schema, dlq_id) WHERE decoding = 'waiting';

-- Events whose original record somebody wants to see: the screen has no Kafka, so a worker reads it.
CREATE TABLE redrive.record_wanted (
    dlq_id   bigint PRIMARY KEY,
    who      name NOT NULL DEFAULT session_user,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(), -- asked for, the last time
    taken_at timestamptz, -- by a worker; with `why`: answered
    why      text         -- it could not be had; NULL: not answered yet
);

---- functions

-- The text of a payload, as bytes; NULL where PostgreSQL cannot return it.
CREATE OR REPLACE FUNCTION redrive.payload_text(p_payload jsonb) RETURNS bytea
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN convert_to(p_payload::text, 'UTF8');
EXCEPTION WHEN program_limit_exceeded OR data_corrupted OR index_corrupted OR internal_error OR data_exception OR out_of_memory THEN
    RETURN NULL;
END $$;

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
         UNION ALL SELECT o.dlq_id FROM redrive.original o WHERE age(o.xmin) <= age(p_floor)
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

-- Asks the workers for the original record of an event; whoever waits asks again and again. why: a worker tried within the last 5 s, and could not.
CREATE OR REPLACE FUNCTION redrive.record_want(p_id bigint, OUT is_kept boolean, OUT has_worker boolean, OUT why text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.record_wanted w WHERE w.at < clock_timestamp() - interval '1 minute';
    is_kept := EXISTS (SELECT FROM redrive.record r WHERE r.dlq_id = p_id);
    has_worker := EXISTS (SELECT FROM redrive.worker w WHERE w.publishes AND w.seen_at > clock_timestamp() - interval '15 s');
    why := (SELECT w.why FROM redrive.record_wanted w WHERE w.dlq_id = p_id AND w.taken_at > clock_timestamp() - interval '5 s');
    IF is_kept OR why IS NOT NULL THEN
        RETURN;
    END IF;
    INSERT INTO redrive.record_wanted AS w (dlq_id)
    SELECT e.id FROM :"events" e
     WHERE e.id = p_id AND e.kafka_topic IS NOT NULL AND e.kafka_partition IS NOT NULL AND e.kafka_offset IS NOT NULL LIMIT 1
    ON CONFLICT (dlq_id) DO UPDATE SET at = clock_timestamp(), taken_at = CASE WHEN w.why IS NULL THEN w.taken_at END, why = NULL;
END $$;

-- Takes up to p_limit of these requests. One that is not answered within 10 s, since its worker is gone, may be taken by another.
CREATE OR REPLACE FUNCTION redrive.work_records_wanted(p_limit integer) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY UPDATE redrive.record_wanted w SET taken_at = clock_timestamp()
                  WHERE w.dlq_id IN (SELECT q.dlq_id FROM redrive.record_wanted q
                                      WHERE q.why IS NULL AND q.at > clock_timestamp() - interval '1 minute'
                                        AND (q.taken_at IS NULL OR q.taken_at < clock_timestamp() - interval '10 s')
                                      ORDER BY q.at LIMIT p_limit FOR UPDATE SKIP LOCKED)
                 RETURNING w.dlq_id;
END $$;

-- Ends these requests: the record is kept where the why is empty, else that is why it is not.
CREATE OR REPLACE FUNCTION redrive.work_records_answer(p_ids bigint[], p_whys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.record_wanted w USING unnest(p_ids, p_whys) AS a (id, why) WHERE w.dlq_id = a.id AND a.why = '';
    UPDATE redrive.record_wanted w SET taken_at = clock_timestamp(), why = a.why FROM unnest(p_ids, p_whys) AS a (id, why)
     WHERE w.dlq_id = a.id AND a.why <> '';
END $$;
