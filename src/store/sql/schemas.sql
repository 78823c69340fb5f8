-- Schemas of values that are no JSON, as redrive ingest found them in files or in a registry: kept, so that whoever has no registry decodes as well.
-- Only what is looked at is decoded; the bytes in redrive.record stay what they are, and are what is sent.
--
-- redrive.record.schema names the schema of a value: its number ("42") or GUID as the value or a header says, else "TOPIC.value" of the original topic.
-- redrive.record.decoding: 'waiting' until its schema is known, 'decoded' where event_payload has the value as JSON, 'failed' where the value is not
-- what its schema says.

CREATE TABLE redrive.schema (
    name     text PRIMARY KEY,
    language text NOT NULL CHECK (language IN ('avro', 'protobuf', 'json')),
    texts    bytea[] NOT NULL, -- what it refers to first, its own last
    origin   text NOT NULL,    -- in words: "the file 42.avsc", "the schema registry"
    who      name NOT NULL DEFAULT session_user,
    at       timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Schemas that a registry was asked for in vain.
CREATE TABLE redrive.schema_missed (
    name    text PRIMARY KEY,
    times   integer NOT NULL DEFAULT 1,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- the last time
    next_at timestamptz NOT NULL, -- not asked again before
    why     text NOT NULL
);

---- functions

-- Keeps a schema. One that is there already is replaced by another one of the same name: a file that was put right.
CREATE OR REPLACE FUNCTION redrive.ingest_schema_keep(p_name text, p_language text, p_texts bytea[], p_origin text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF coalesce(p_name, '') !~ '^[A-Za-z0-9._-]+$' OR char_length(p_name) > 260 OR coalesce(p_language NOT IN ('avro', 'protobuf', 'json'), true)
       OR coalesce(cardinality(p_texts), 0) NOT BETWEEN 1 AND 256 OR p_origin IS NULL OR (SELECT sum(octet_length(t)) FROM unnest(p_texts) AS t) > 1048576 THEN
        RAISE EXCEPTION 'a schema has a name, a language and at most 1 MB of text' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.schema AS s (name, language, texts, origin) VALUES (p_name, p_language, p_texts, left(p_origin, 300))
    ON CONFLICT (name) DO UPDATE SET language = excluded.language, texts = excluded.texts, origin = excluded.origin, who = session_user,
                                     at = clock_timestamp()
     WHERE (s.language, s.texts, s.origin) IS DISTINCT FROM (excluded.language, excluded.texts, excluded.origin);
    DELETE FROM redrive.schema_missed m WHERE m.name = p_name;
END $$;

-- A registry has it not, or did not answer: it is asked again after 10 s, 20 s, … up to 10 minutes.
CREATE OR REPLACE FUNCTION redrive.ingest_schema_missed(p_name text, p_why text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF coalesce(p_name, '') !~ '^[A-Za-z0-9._-]+$' OR char_length(p_name) > 260 THEN
        RAISE EXCEPTION 'this is no name of a schema' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.schema_missed AS m (name, next_at, why) VALUES (p_name, clock_timestamp() + interval '10 s', left(coalesce(p_why, ''), 300))
    ON CONFLICT (name) DO UPDATE SET times = m.times + 1, at = clock_timestamp(), why = excluded.why,
                                     next_at = clock_timestamp() + interval '10 s' * least(60, 2 ^ least(m.times, 6));
END $$;

-- Puts what became of values that waited into event_payload: p_states 'decoded', or 'failed' with the small object that says why. Only rows that redrive
-- took in itself and that wait are touched. Returns how many there were; another session may have been faster.
CREATE OR REPLACE FUNCTION redrive.ingest_decoded(p_ids bigint[], p_payloads text[], p_states text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v record;
    v_payload jsonb;
    v_state text;
    v_count bigint := 0;
BEGIN
    FOR v IN SELECT w.id, w.payload, w.state, r.schema,
                    coalesce(octet_length(r.value), (SELECT octet_length(o.value) FROM redrive.original o WHERE o.dlq_id = r.dlq_id)) AS bytes
               FROM unnest(p_ids, p_payloads, p_states) AS w (id, payload, state) JOIN redrive.record r ON r.dlq_id = w.id
              WHERE r.decoding = 'waiting' ORDER BY w.id FOR UPDATE OF r SKIP LOCKED LOOP
        v_state := CASE WHEN v.state = 'decoded' AND redrive._is_jsonb(v.payload) THEN 'decoded' ELSE 'failed' END;
        v_payload := CASE WHEN v_state = v.state THEN v.payload::jsonb
                          ELSE jsonb_build_object('not_json', format('schema %s: PostgreSQL cannot hold it decoded', v.schema), 'bytes', v.bytes) END;
        BEGIN
            UPDATE :"events" e SET event_payload = v_payload WHERE e.id = v.id;
        EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR raise_exception OR with_check_option_violation THEN
            v_state := 'failed'; -- the table takes no such payload; it keeps the one that it has
        END;
        UPDATE redrive.record r SET decoding = v_state WHERE r.dlq_id = v.id;
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;
