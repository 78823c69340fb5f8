-- Dead letters that the contract table refuses, by a constraint or a trigger that a team has put on it. Nothing is skipped and nobody waits for them:
-- the record stays here, whole, with what refused it, and is tried again every ten minutes and at each start of an ingester.

-- The columns are those of redrive.record, and what the row of the contract table would get.
CREATE TABLE redrive.unfit (
    cluster            text NOT NULL,
    topic              text NOT NULL,
    partition          integer NOT NULL,
    generation         integer NOT NULL,
    "offset"           bigint NOT NULL,
    "timestamp"        timestamptz,
    key                bytea,
    value              bytea,
    header_names       text[] NOT NULL,
    header_values      bytea[] NOT NULL,
    crc32c             bigint NOT NULL,
    format             text NOT NULL,
    consumer           text,
    failed_at          timestamptz,
    identity           bigint NOT NULL,
    was_sent           boolean NOT NULL,
    event_id           text NOT NULL,
    event_type         text NOT NULL,
    source_table       text,
    source_id          text,
    payload            text NOT NULL,
    error_message      text NOT NULL,
    stack_trace        text,
    attempts           integer,
    correlation_id     uuid,
    original_topic     text,
    original_partition integer,
    original_offset    bigint,
    schema             text,
    decoding           text,
    is_pointer         boolean NOT NULL,
    why                text NOT NULL, -- what PostgreSQL said
    at                 timestamptz NOT NULL DEFAULT clock_timestamp(),
    tried_at           timestamptz NOT NULL DEFAULT clock_timestamp(), -- the last time
    PRIMARY KEY (cluster, topic, generation, partition, "offset")
);

---- functions

-- Inserts staged records from p_from to p_to, all that PostgreSQL takes; returns the others with what it said of each. Halves find them: few of many are
-- refused, or all. What our own tables refuse is no matter of the record.
CREATE OR REPLACE FUNCTION redrive._ingest_try(p_cluster text, p_generations integer[], p_of bigint[], p_ids bigint[], p_from integer, p_to integer)
RETURNS TABLE (no integer, why text)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_schema text;
    v_half integer := (p_from + p_to) / 2;
BEGIN
    BEGIN
        PERFORM redrive._ingest_insert(p_cluster, p_generations, p_of, p_ids, p_from, p_to);
        RETURN;
    EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR feature_not_supported OR raise_exception
                OR with_check_option_violation THEN
        GET STACKED DIAGNOSTICS v_schema = SCHEMA_NAME, why = MESSAGE_TEXT;
        IF v_schema = 'redrive' THEN
            RAISE;
        END IF;
    END;
    IF p_from = p_to THEN
        no := p_from;
        RETURN NEXT;
    ELSE
        RETURN QUERY SELECT t.no, t.why FROM redrive._ingest_try(p_cluster, p_generations, p_of, p_ids, p_from, v_half) t;
        RETURN QUERY SELECT t.no, t.why FROM redrive._ingest_try(p_cluster, p_generations, p_of, p_ids, v_half + 1, p_to) t;
    END IF;
END $$;

-- Puts staged records aside, and tells it: at most once an hour for a partition.
CREATE OR REPLACE FUNCTION redrive._ingest_put_aside(p_cluster text, p_generations integer[], p_unfit integer[], p_whys text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.unfit (cluster, topic, partition, generation, "offset", "timestamp", key, value, header_names, header_values, crc32c, format,
                               consumer, failed_at, identity, was_sent, event_id, event_type, source_table, source_id, payload, error_message,
                               stack_trace, attempts, correlation_id, original_topic, original_partition, original_offset, schema, decoding,
                               is_pointer, why)
    SELECT p_cluster, s.topic, s.partition, p_generations[s.no], s."offset", s."timestamp", s.key, s.value, s.header_names, s.header_values,
           s.crc32c, s.format, s.consumer, s.failed_at, s.identity, s.was_sent, s.event_id, s.event_type, s.source_table, s.source_id,
           coalesce(s.payload, convert_from(s.value, 'UTF8')), s.error_message, s.stack_trace, s.attempts, s.correlation_id, s.original_topic,
           s.original_partition, s.original_offset, s.schema, s.decoding, s.is_pointer, u.why
      FROM unnest(p_unfit, p_whys) AS u (no, why) JOIN pg_temp.redrive_letter s ON s.no = u.no
    ON CONFLICT (cluster, topic, generation, partition, "offset") DO UPDATE SET why = excluded.why, tried_at = clock_timestamp();
    INSERT INTO redrive.alarm (what, cluster, topic, partition, generation, first_offset, last_offset, sentence)
    SELECT 'unfit', p_cluster, s.topic, s.partition, p_generations[min(s.no)], min(s."offset"), max(s."offset"),
           format('the table of dead letters refuses some of %s, partition %s, from offset %s on (%s): they are in redrive.unfit',
                  s.topic, s.partition, min(s."offset"), left(min(u.why), 300))
      FROM unnest(p_unfit, p_whys) AS u (no, why) JOIN pg_temp.redrive_letter s ON s.no = u.no
     WHERE NOT EXISTS (SELECT FROM redrive.alarm a WHERE a.what = 'unfit' AND a.cluster = p_cluster AND a.topic = s.topic
                          AND a.partition = s.partition AND a.at > clock_timestamp() - interval '1 hour')
     GROUP BY s.topic, s.partition;
END $$;

-- Puts the staged records where they belong: events, attempts, or aside. p_of: what _ingest_events returned.
CREATE OR REPLACE FUNCTION redrive._ingest_put(p_cluster text, p_generations integer[], p_of bigint[],
                                               OUT events bigint, OUT attempts bigint, OUT unfit bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_sequence regclass := redrive._event_sequence();
    v_are_all_new boolean := 0 = ALL (p_of);
    v_ids bigint[];
    v_unfit integer[] := '{}';
    v_whys text[] := '{}';
BEGIN
    IF v_are_all_new THEN
        v_ids := ARRAY(SELECT nextval(v_sequence) FROM generate_series(1, cardinality(p_of)));
    ELSE
        v_ids := ARRAY(SELECT CASE WHEN w.of = 0 THEN nextval(v_sequence) ELSE w.of END FROM unnest(p_of) WITH ORDINALITY AS w (of, no) ORDER BY w.no);
        v_ids := ARRAY(SELECT CASE WHEN w.id < 0 THEN v_ids[-w.id] ELSE w.id END FROM unnest(v_ids) WITH ORDINALITY AS w (id, no) ORDER BY w.no);
    END IF;
    BEGIN
        PERFORM redrive._ingest_insert(p_cluster, p_generations, p_of, v_ids, 1, cardinality(p_of));
    EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR feature_not_supported OR raise_exception
                OR with_check_option_violation THEN -- which of them it was, nobody says
        UPDATE pg_temp.redrive_letter s SET payload = json_build_object('not_json', 'PostgreSQL cannot hold it', 'bytes', octet_length(s.value)),
               decoding = CASE WHEN s.decoding IS NOT NULL THEN 'failed' END
         WHERE NOT redrive._is_jsonb(coalesce(s.payload, convert_from(s.value, 'UTF8')));
        SELECT coalesce(array_agg(t.no ORDER BY t.no), '{}'), coalesce(array_agg(t.why ORDER BY t.no), '{}') INTO v_unfit, v_whys
          FROM redrive._ingest_try(p_cluster, p_generations, p_of, v_ids, 1, cardinality(p_of)) t;
        -- Further attempts of an event that is refused have none to belong to.
        SELECT v_unfit || coalesce(array_agg(w.no::integer ORDER BY w.no), '{}'),
               v_whys || coalesce(array_agg(v_whys[array_position(v_unfit, (-w.of)::integer)] ORDER BY w.no), '{}') INTO v_unfit, v_whys
          FROM unnest(p_of) WITH ORDINALITY AS w (of, no) WHERE w.of < 0 AND -w.of = ANY (v_unfit);
    END;
    IF NOT v_are_all_new THEN
        PERFORM redrive._ingest_attempts(p_cluster, p_generations, p_of, v_ids, v_unfit);
        attempts := (SELECT count(*) FROM unnest(p_of) WITH ORDINALITY AS w (of, no) WHERE w.of <> 0 AND w.no <> ALL (v_unfit));
    ELSE
        attempts := 0;
    END IF;
    unfit := cardinality(v_unfit);
    IF unfit > 0 THEN
        PERFORM redrive._ingest_put_aside(p_cluster, p_generations, v_unfit, v_whys);
    END IF;
    events := cardinality(p_of) - attempts - unfit;
END $$;

-- Tries again what was put aside and last tried before p_before: at most p_limit records, within a transaction that has called ingest_stage. tried: so
-- many there were; none: all are done.
CREATE OR REPLACE FUNCTION redrive.ingest_again(p_no bigint, p_fence bigint, p_before timestamptz, p_limit integer,
                                                OUT tried bigint, OUT events bigint, OUT attempts bigint, OUT unfit bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v_generations integer[];
BEGIN
    PERFORM redrive._ingest_stage_check();
    WITH wanted AS (
        SELECT u.* FROM redrive.unfit u WHERE u.cluster = v.cluster AND u.tried_at < p_before
         ORDER BY u.topic, u.generation, u.partition, u."offset" LIMIT p_limit FOR UPDATE SKIP LOCKED),
    numbered AS (SELECT (row_number() OVER (ORDER BY w.topic, w.generation, w.partition, w."offset"))::integer AS no, w.* FROM wanted w),
    staged AS (
        INSERT INTO pg_temp.redrive_letter (no, topic, partition, "offset", "timestamp", key, value, header_names, header_values, crc32c, format, consumer,
                                            failed_at, identity, was_sent, event_id, event_type, source_table, source_id, payload, error_message,
                                            stack_trace, attempts, correlation_id, original_topic, original_partition, original_offset, schema,
                                            decoding, is_pointer)
        SELECT n.no, n.topic, n.partition, n."offset", n."timestamp", n.key, n.value, n.header_names, n.header_values, n.crc32c, n.format,
               n.consumer, n.failed_at, n.identity, n.was_sent, n.event_id, n.event_type, n.source_table, n.source_id, n.payload,
               n.error_message, n.stack_trace, n.attempts, n.correlation_id, n.original_topic, n.original_partition, n.original_offset, n.schema, n.decoding, n.is_pointer
          FROM numbered n)
    SELECT array_agg(n.generation ORDER BY n.no), count(*) INTO v_generations, tried FROM numbered n;
    IF tried > 0 THEN
        PERFORM redrive._ingest_exclude_others(p_no);
        SELECT t.events, t.attempts, t.unfit INTO events, attempts, unfit
          FROM redrive._ingest_put(v.cluster, v_generations, redrive._ingest_events(tried::integer)) t;
        DELETE FROM redrive.unfit u USING pg_temp.redrive_letter s
         WHERE u.cluster = v.cluster AND u.topic = s.topic AND u.partition = s.partition AND u."offset" = s."offset"
           AND u.generation = v_generations[s.no] AND u.tried_at < p_before;
    END IF;
    UPDATE redrive.ingester i SET seen_at = clock_timestamp() WHERE i.no = p_no;
END $$;
