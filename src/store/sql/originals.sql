-- Originals of dead letters that only point at them: share groups copy no record by default (src/core/envelope/formats/share_group.c). `redrive ingest`
-- reads each one where its dead letter says, soon after it took the dead letter in, before retention removes it (src/ingest/pointers.h).
--
-- Their bytes are kept here and not in redrive.record, whose bytes stay those of the dead letter. Neither is ever changed once it is written. The row of
-- the contract table gets what the original says, or that it is gone. Which event it is stays what it was: the place of the original.

CREATE TABLE redrive.original (
    dlq_id        bigint PRIMARY KEY,
    cluster       text NOT NULL,
    topic         text NOT NULL, -- where the dead letter says that it is
    partition     integer NOT NULL,
    "offset"      bigint NOT NULL,
    state         text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'fetched', 'gone')),
    at            timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it came into this state, or was last asked for
    tries         integer NOT NULL DEFAULT 0,
    next_at       timestamptz NOT NULL DEFAULT clock_timestamp(), -- not asked for before
    why           text, -- why it is gone, or could not be read the last time
    -- Of one that was fetched; as in redrive.record:
    "timestamp"   timestamptz,
    key           bytea,
    value         bytea,
    header_names  text[] NOT NULL DEFAULT '{}',
    header_values bytea[] NOT NULL DEFAULT '{}',
    crc32c        bigint,
    CHECK ((state = 'fetched') = (crc32c IS NOT NULL))
);
CREATE INDEX original_waiting ON redrive.original (cluster, next_at, dlq_id) WHERE state = 'waiting';

---- functions

-- Puts what the staged record p_no says with its original, or without one that is gone, into the row of its event. Not where the contract table refuses it: it
-- keeps the row that it has. Columns that tell which event it is stay.
CREATE OR REPLACE FUNCTION redrive._original_tell(p_no integer, p_id bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE s record;
BEGIN
    SELECT * INTO s FROM pg_temp.redrive_letter l WHERE l.no = p_no;
    s.payload := coalesce(s.payload, convert_from(s.value, 'UTF8'));
    IF NOT redrive._is_jsonb(s.payload) THEN
        s.payload := json_build_object('not_json', 'PostgreSQL cannot hold it', 'bytes', (SELECT octet_length(o.value) FROM redrive.original o WHERE o.dlq_id = p_id));
        s.decoding := CASE WHEN s.decoding IS NOT NULL THEN 'failed' END;
    END IF;
    UPDATE :"events" e
       SET event_payload = s.payload::jsonb, event_type = left(s.event_type, redrive._event_room('event_type')),
           source_table = left(s.source_table, redrive._event_room('source_table')), source_id = left(s.source_id, redrive._event_room('source_id')),
           correlation_id = s.correlation_id
     WHERE e.id = p_id;
    UPDATE redrive.record r SET schema = s.schema, decoding = s.decoding
     WHERE r.dlq_id = p_id AND (r.schema, r.decoding) IS DISTINCT FROM (s.schema, s.decoding);
EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR feature_not_supported OR raise_exception
            OR with_check_option_violation THEN
    RETURN;
END $$;

-- Writes what became of originals that wait. p_states: 'fetched', with time (microseconds since 1970; -1: none), key, value, checksum and headers, which stand
-- one after the other; 'gone'; or 'waiting', where it could not be read now: it is asked for again after 10 s, 20 s, … up to 10 minutes. The staged record at
-- the place of each in p_ids is its dead letter as it is read then (ingest_take says how it is staged). Returns how many were written: another ingester may
-- have been faster.
CREATE OR REPLACE FUNCTION redrive.ingest_originals(p_no bigint, p_fence bigint, p_ids bigint[], p_states text[], p_whys text[], p_times bigint[],
                                                    p_keys bytea[], p_values bytea[], p_crcs bigint[], p_header_counts integer[], p_header_names text[],
                                                    p_header_values bytea[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_ingester redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v record;
    v_count bigint := 0;
BEGIN
    PERFORM redrive._ingest_stage_check();
    SET CONSTRAINTS ALL IMMEDIATE; -- a deferred one would refuse all of them at the commit
    FOR v IN SELECT w.*, l.no AS staged
               FROM (SELECT u.*, (sum(u.headers) OVER (ORDER BY u.n) - u.headers)::integer AS before
                       FROM unnest(p_ids, p_states, p_whys, p_times, p_keys, p_values, p_crcs, p_header_counts) WITH ORDINALITY
                            AS u (id, state, why, time, key, value, crc, headers, n)) w
               JOIN redrive.original o ON o.dlq_id = w.id
               JOIN redrive.record r ON r.dlq_id = w.id
               JOIN pg_temp.redrive_letter l ON l.no = w.n AND (l.topic, l.partition, l."offset") = (r.topic, r.partition, r."offset")
              WHERE o.state = 'waiting' AND o.cluster = v_ingester.cluster ORDER BY w.id FOR UPDATE OF o SKIP LOCKED LOOP
        IF v.state = 'fetched' THEN
            UPDATE redrive.original o
               SET state = 'fetched', at = clock_timestamp(), tries = o.tries + 1, why = NULL, key = v.key, value = v.value, crc32c = v.crc,
                   "timestamp" = to_timestamp(nullif(v.time, -1) / 1000000.0),
                   header_names = coalesce(p_header_names[v.before + 1 : v.before + v.headers], '{}'),
                   header_values = coalesce(p_header_values[v.before + 1 : v.before + v.headers], '{}')
             WHERE o.dlq_id = v.id;
        ELSE
            UPDATE redrive.original o
               SET state = v.state, at = clock_timestamp(), tries = o.tries + 1, why = left(v.why, 300),
                   next_at = clock_timestamp() + interval '10 s' * least(60, 2 ^ least(o.tries, 6))
             WHERE o.dlq_id = v.id;
        END IF;
        IF v.state IN ('fetched', 'gone') THEN
            PERFORM redrive._original_tell(v.staged, v.id);
        END IF;
        v_count := v_count + 1;
    END LOOP;
    UPDATE redrive.ingester i SET seen_at = clock_timestamp() WHERE i.no = p_no;
    RETURN v_count;
END $$;
