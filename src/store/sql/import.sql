-- Events from files (`redrive import`): what consumers wrote down while the database was away, and what `redrive export` wrote. An event whose event_id
-- the table has already is not inserted again, so a file may be given twice, and a run that was cut is continued by the same command.

---- functions

-- A row for each part of the event ids, to be locked by our own functions alone, as ingest_turn (ingest.sql).
CREATE TABLE IF NOT EXISTS redrive.import_turn (part integer PRIMARY KEY);
INSERT INTO redrive.import_turn VALUES (0), (1) ON CONFLICT DO NOTHING;

-- Another build of this version may have made them with other parameters.
DO $$
DECLARE v regprocedure;
BEGIN
    FOR v IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'redrive'::regnamespace
                AND (p.proname = 'import_take' AND p.pronargs <> 3 OR p.proname = '_import_try' AND p.pronargs <> 5) LOOP
        EXECUTE format('DROP FUNCTION %s', v);
    END LOOP;
END $$;

-- Makes the table of this session to which lines are copied before import_take, within the same transaction. It belongs to the schema's owner, so
-- nobody can put a trigger or a view in its place; the session may only insert.
CREATE OR REPLACE FUNCTION redrive.import_stage() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET client_min_messages = error AS $$
BEGIN
    PERFORM redrive._mapped_refuse('nothing is imported');
    IF to_regclass('pg_temp.redrive_import') IS NULL THEN
        CREATE TEMPORARY TABLE redrive_import (
            no integer PRIMARY KEY, event_id text NOT NULL, event_type text, source_table text, source_id text, error_message text, stack_trace text,
            retry_count text, max_retries text, status text, created_at text, last_retry_at text, resolved_at text, resolved_by text,
            kafka_offset text, kafka_partition text, kafka_topic text, correlation_id text, payload text, is_exact boolean NOT NULL, value bytea,
            key bytea, headers text, record text, revisions text) ON COMMIT DELETE ROWS;
        EXECUTE format('GRANT INSERT ON pg_temp.redrive_import TO %I', session_user);
    END IF;
    PERFORM redrive._import_stage_check();
END $$;

CREATE OR REPLACE FUNCTION redrive._import_stage_check() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('pg_temp.redrive_import') AND c.relkind = 'r'
                      AND c.relowner = (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'redrive')) THEN
        RAISE EXCEPTION 'this session has another table of the name redrive_import' USING ERRCODE = 'RD003';
    END IF;
END $$;

-- A time in the zone of the contract table, which has none.
CREATE OR REPLACE FUNCTION redrive._import_time(p_text text, p_zone text) RETURNS timestamp
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN p_text ~ '[T ][0-9:.]+ ?(Z|[+-]\d\d(:?\d\d)?)$' THEN p_text::timestamptz AT TIME ZONE p_zone ELSE p_text::timestamp END;
$$;

-- What export wrote as a text, or as base64 where it was none; NULL: a null.
CREATE OR REPLACE FUNCTION redrive._import_bytes(p_object jsonb, p_name text) RETURNS bytea
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN p_object ? (p_name || '_base64') THEN decode(p_object->>(p_name || '_base64'), 'base64')
                ELSE convert_to(p_object->>p_name, 'UTF8') END;
$$;

CREATE OR REPLACE FUNCTION redrive._import_names(p_headers jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT ARRAY(SELECT coalesce(h.header->>'name', '') FROM jsonb_array_elements(p_headers) WITH ORDINALITY AS h (header, no) ORDER BY h.no);
$$;

CREATE OR REPLACE FUNCTION redrive._import_values(p_headers jsonb) RETURNS bytea[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT ARRAY(SELECT redrive._import_bytes(h.header, 'value') FROM jsonb_array_elements(p_headers) WITH ORDINALITY AS h (header, no) ORDER BY h.no);
$$;

-- The records and revisions of staged rows from p_from to p_to. A revision is its importer's: whose it was is told in its reason.
CREATE OR REPLACE FUNCTION redrive._import_kept(p_ids bigint[], p_from integer, p_to integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.record (dlq_id, topic, partition, "offset", "timestamp", key, value, header_names, header_values, crc32c, cluster, generation,
                                format, consumer, failed_at, identity, is_imported)
    SELECT p_ids[s.no], coalesce(p.place->>'topic', s.kafka_topic, ''), coalesce((p.place->>'partition')::integer, s.kafka_partition::integer, -1),
           coalesce((p.place->>'offset')::bigint, s.kafka_offset::bigint, -1), (p.place->>'timestamp')::timestamptz, s.key,
           CASE WHEN p.place->'original' IS NULL THEN s.value END, -- else it is the original's
           redrive._import_names(coalesce(s.headers, '[]')::jsonb), redrive._import_values(coalesce(s.headers, '[]')::jsonb),
           (l.letter->>'crc32c')::bigint, l.letter->>'cluster', (l.letter->>'generation')::integer, l.letter->>'format', l.letter->>'consumer',
           (l.letter->>'failed_at')::timestamptz, (l.letter->>'identity')::bigint, l.letter IS NOT NULL
      FROM pg_temp.redrive_import s CROSS JOIN LATERAL (SELECT s.record::jsonb AS place OFFSET 0) p
     CROSS JOIN LATERAL (SELECT CASE WHEN p.place->>'format' <> '' AND p.place->>'cluster' <> '' AND p.place->>'generation' <> ''
                                      AND p.place->>'identity' <> '' THEN p.place END AS letter) l -- an older file does not say all of it
     WHERE s.is_exact AND s.no BETWEEN p_from AND p_to AND p_ids[s.no] <> 0;
    INSERT INTO redrive.original (dlq_id, cluster, topic, partition, "offset", state, at, why, "timestamp", key, value, header_names, header_values, crc32c)
    SELECT p_ids[s.no], s.record::jsonb->>'cluster', o.one->>'topic', (o.one->>'partition')::integer, (o.one->>'offset')::bigint, o.one->>'state',
           coalesce((o.one->>'at')::timestamptz, clock_timestamp()), o.one->>'why', (o.one->>'timestamp')::timestamptz, redrive._import_bytes(o.one, 'key'),
           CASE WHEN o.one->>'state' = 'fetched' THEN s.value END, redrive._import_names(coalesce(o.one->'headers', '[]')),
           redrive._import_values(coalesce(o.one->'headers', '[]')), (o.one->>'crc32c')::bigint
      FROM pg_temp.redrive_import s CROSS JOIN LATERAL (SELECT s.record::jsonb->'original' AS one OFFSET 0) o
     WHERE s.is_exact AND strpos(s.record, '"original"') > 0 AND o.one IS NOT NULL AND s.no BETWEEN p_from AND p_to AND p_ids[s.no] <> 0;
    INSERT INTO redrive.revision (dlq_id, no, parent, payload, has_key, key, header_names, header_values, topic, partition, reason)
    SELECT p_ids[s.no], (r.one->>'revision')::integer, coalesce((r.one->>'parent')::integer, 0), redrive._import_bytes(r.one, 'payload'),
           r.one ?| '{key,key_base64}', redrive._import_bytes(r.one, 'key'),
           CASE WHEN r.one ? 'headers' THEN redrive._import_names(r.one->'headers') END,
           CASE WHEN r.one ? 'headers' THEN redrive._import_values(r.one->'headers') END, r.one->>'topic', (r.one->>'partition')::integer,
           concat_ws(': ', 'imported, by ' || coalesce(r.one->>'author', 'nobody'), r.one->>'reason')
      FROM pg_temp.redrive_import s CROSS JOIN LATERAL jsonb_array_elements(s.revisions::jsonb) AS r (one)
     WHERE s.revisions IS NOT NULL AND s.no BETWEEN p_from AND p_to AND p_ids[s.no] <> 0;
END $$;

-- Inserts staged rows from p_from to p_to, all that PostgreSQL takes; returns the others with what it said of each. p_ids: 0 is left out. p_has_kept:
-- some have a record or revisions.
CREATE OR REPLACE FUNCTION redrive._import_try(p_ids bigint[], p_has_kept boolean, p_zone text, p_from integer, p_to integer)
RETURNS TABLE (no integer, why text)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_half integer := (p_from + p_to) / 2;
BEGIN
    BEGIN
        INSERT INTO :"events" (id, event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count, max_retries,
                               status, created_at, last_retry_at, resolved_at, resolved_by, kafka_offset, kafka_partition, kafka_topic, correlation_id)
        OVERRIDING SYSTEM VALUE
        SELECT p_ids[s.no], s.event_id, s.event_type, s.source_table, s.source_id, s.payload::jsonb, s.error_message, s.stack_trace,
               coalesce(s.retry_count::integer, 0), coalesce(s.max_retries::integer, 3), coalesce(s.status, 'PENDING'),
               CASE WHEN s.created_at IS NULL THEN clock_timestamp() AT TIME ZONE p_zone
                    WHEN s.created_at LIKE '%Z' THEN s.created_at::timestamptz AT TIME ZONE p_zone -- the same, without a call for each row
                    ELSE redrive._import_time(s.created_at, p_zone) END,
               redrive._import_time(s.last_retry_at, p_zone), redrive._import_time(s.resolved_at, p_zone), s.resolved_by, s.kafka_offset::bigint,
               s.kafka_partition::integer, s.kafka_topic, s.correlation_id::uuid
          FROM pg_temp.redrive_import s WHERE s.no BETWEEN p_from AND p_to AND p_ids[s.no] <> 0;
        SET CONSTRAINTS ALL IMMEDIATE; -- a deferred one would be checked at the commit, and refuse the whole batch there
        IF p_has_kept THEN
            PERFORM redrive._import_kept(p_ids, p_from, p_to);
        END IF;
        RETURN;
    EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR feature_not_supported OR raise_exception
                OR with_check_option_violation THEN
        GET STACKED DIAGNOSTICS why = MESSAGE_TEXT;
    END;
    IF p_from = p_to THEN
        UPDATE pg_temp.redrive_import s -- the record has its bytes
           SET payload = json_build_object('not_json', 'PostgreSQL cannot hold it', 'bytes', octet_length(s.value))
         WHERE s.no = p_from AND s.is_exact AND NOT redrive._is_jsonb(s.payload);
        IF FOUND THEN
            RETURN QUERY SELECT t.no, t.why FROM redrive._import_try(p_ids, p_has_kept, p_zone, p_from, p_to) t;
        ELSE
            no := p_from;
            RETURN NEXT;
        END IF;
    ELSE
        RETURN QUERY SELECT t.no, t.why FROM redrive._import_try(p_ids, p_has_kept, p_zone, p_from, v_half) t;
        RETURN QUERY SELECT t.no, t.why FROM redrive._import_try(p_ids, p_has_kept, p_zone, v_half + 1, p_to) t;
    END IF;
END $$;

-- The staged rows whose event the table has, or an earlier row, but for refused ones.
CREATE OR REPLACE FUNCTION redrive._import_known(p_refused integer[]) RETURNS TABLE (no integer)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp
SET enable_mergejoin = off AS $$ -- nothing is known of event ids where they have no index: a merge join would sort the whole table
BEGIN
    RETURN QUERY SELECT s.no FROM :"events" e JOIN pg_temp.redrive_import s ON s.event_id = e.event_id;
    IF (SELECT count(*) < (SELECT count(*) FROM pg_temp.redrive_import) FROM (SELECT FROM pg_temp.redrive_import s GROUP BY s.event_id) g) THEN
        RETURN QUERY SELECT w.no FROM (SELECT s.no, min(s.no) OVER (PARTITION BY s.event_id) AS first FROM pg_temp.redrive_import s
                                        WHERE NOT EXISTS (SELECT FROM unnest(p_refused) AS r (no) WHERE r.no = s.no)) w WHERE w.no > w.first;
    END IF;
END $$;

-- Takes in what this transaction copied to the stage, whose `no` counts from 1. p_part: the part of all event ids, 0 or 1, that the stage's are of; NULL:
-- of both. One session at a time takes events of a part in, so that none of two misses what the other one inserts. refused: rows that PostgreSQL does not
-- take, with what it said.
CREATE OR REPLACE FUNCTION redrive.import_take(p_source text, p_reason text, p_part integer, OUT inserted bigint, OUT duplicates bigint,
                                               OUT refused integer[], OUT whys text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_sequence regclass := redrive._event_sequence();
    v_count integer;
    v_last integer;
    v_has_kept boolean;
    v_left_out integer[];
    v_ids bigint[];
    v_failed integer := 1;
BEGIN
    inserted := 0;
    refused := '{}';
    whys := '{}';
    PERFORM redrive._import_stage_check();
    SELECT count(*), CASE WHEN min(s.no) = 1 THEN max(s.no) ELSE 0 END, coalesce(bool_or(s.is_exact OR s.revisions IS NOT NULL), false)
      INTO v_count, v_last, v_has_kept FROM pg_temp.redrive_import s;
    IF v_count <> v_last THEN
        RAISE EXCEPTION 'the staged rows are not numbered from 1' USING ERRCODE = 'RD004';
    END IF;
    PERFORM FROM redrive.import_turn t WHERE t.part = coalesce(p_part, t.part) ORDER BY t.part FOR UPDATE;
    IF v_has_kept THEN -- an ingester may have the same letters: it waits, and whoever comes later finds the event
        PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
        LOCK TABLE redrive.ingest_turn IN SHARE MODE;
    END IF;
    -- Once more where some are refused: another row of the same event may be better.
    WHILE v_failed > 0 LOOP
        v_left_out := ARRAY(SELECT k.no FROM redrive._import_known(refused) k UNION SELECT unnest(refused));
        EXIT WHEN cardinality(v_left_out) = v_count;
        v_ids := ARRAY(SELECT CASE WHEN o.no IS NULL THEN nextval(v_sequence) ELSE 0 END
                         FROM generate_series(1, v_count) AS n LEFT JOIN unnest(v_left_out) AS o (no) ON o.no = n ORDER BY n);
        SELECT count(*), refused || coalesce(array_agg(t.no), '{}'), whys || coalesce(array_agg(t.why), '{}') INTO v_failed, refused, whys
          FROM redrive._import_try(v_ids, v_has_kept, (SELECT i.zone FROM redrive.install i), 1, v_count) t;
        inserted := inserted + v_count - cardinality(v_left_out) - v_failed;
    END LOOP;
    duplicates := v_count - inserted - cardinality(refused);
    IF inserted > 0 THEN
        PERFORM redrive._audit('import', NULL, inserted, p_reason, p_source);
    END IF;
END $$;
