-- Dead letters that are all events of their own, which most chunks are, written without the stage: their columns come as arrays. A column's values are at
-- the same places in all arrays; one that no letter has a value for is NULL. ingest_take does whatever else there is.

---- functions

-- An array of arrays is to PostgreSQL an array with two dimensions, where all rows are as long.
DO $$
BEGIN
    IF to_regtype('redrive.header_names') IS NULL THEN
        CREATE DOMAIN redrive.header_names AS text[];
    END IF;
    IF to_regtype('redrive.header_values') IS NULL THEN
        CREATE DOMAIN redrive.header_values AS bytea[];
    END IF;
END $$;

-- Another build of this version may have made them with other parameters.
DO $$
DECLARE v regprocedure;
BEGIN
    FOR v IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'redrive'::regnamespace
                AND (p.proname = 'ingest_take_new' AND p.pronargs <> 38 OR p.proname = '_ingest_new_events' AND p.pronargs <> 17) LOOP
        EXECUTE format('DROP FUNCTION %s', v);
    END LOOP;
END $$;

-- How many characters columns of the contract table take (_event_room), in one statement.
CREATE OR REPLACE FUNCTION redrive._event_rooms(OUT event_id integer, OUT event_type integer, OUT source_table integer, OUT source_id integer,
                                                OUT kafka_topic integer)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    SELECT max(c.room) FILTER (WHERE c.name = 'event_id'), max(c.room) FILTER (WHERE c.name = 'event_type'),
           max(c.room) FILTER (WHERE c.name = 'source_table'), max(c.room) FILTER (WHERE c.name = 'source_id'),
           max(c.room) FILTER (WHERE c.name = 'kafka_topic') INTO event_id, event_type, source_table, source_id, kafka_topic
      FROM (SELECT a.attname AS name, CASE WHEN a.atttypid = 'varchar'::regtype AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 100000000 END AS room
              FROM pg_attribute a WHERE a.attrelid = to_regclass(:'events') AND a.attnum > 0) c;
END $$;

-- How large values are compressed from here on in this transaction, where the server knows that way. pglz, the default, takes several times as long as lz4.
CREATE OR REPLACE FUNCTION redrive._compress_by(p_method text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM set_config('default_toast_compression', p_method, true);
EXCEPTION WHEN invalid_parameter_value OR undefined_object THEN -- it was built without, or is PostgreSQL 13
    RETURN;
END $$;

-- The same texts, none of them longer than p_room characters. p_longest: the bytes of the longest one. Mostly nothing is to be cut, and to look at each
-- would take longer than to write it.
CREATE OR REPLACE FUNCTION redrive._ingest_cut(p_texts text[], p_longest integer, p_room integer) RETURNS text[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_longest <= p_room THEN
        RETURN p_texts;
    END IF;
    RETURN ARRAY(SELECT left(u.value, p_room) FROM unnest(p_texts) WITH ORDINALITY AS u (value, n) ORDER BY u.n);
END $$;

-- Has the array a value for each of so many letters?
CREATE OR REPLACE FUNCTION redrive._ingest_is_whole(p_values anyarray, p_count bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN coalesce(array_ndims(p_values) = 1 AND array_lower(p_values, 1) = 1 AND cardinality(p_values) = p_count, false)
           AND cardinality(array_remove(p_values, NULL)) = p_count; -- looks at no element where the array says that none is NULL
END $$;

-- Puts letters into the contract table; how many. The id of each is at its place in p_ids. p_longest: the bytes of the longest event id, event type,
-- source table, source id and original topic; where one is longer than is said, the table refuses it.
CREATE OR REPLACE FUNCTION redrive._ingest_new_events(
    p_ids bigint[], p_longest integer[], p_timestamps timestamptz[], p_values bytea[], p_were_sent boolean[], p_event_ids text[], p_event_types text[],
    p_source_tables text[], p_source_ids text[], p_payloads text[], p_errors text[], p_stacks text[], p_attempts integer[], p_correlations uuid[],
    p_original_topics text[], p_original_partitions integer[], p_original_offsets bigint[], OUT events bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_zone text := (SELECT zone FROM redrive.install);
    v_now timestamptz := clock_timestamp();
    v_room record;
BEGIN
    SELECT * INTO v_room FROM redrive._event_rooms();
    p_event_ids := redrive._ingest_cut(p_event_ids, p_longest[1], v_room.event_id);
    p_event_types := redrive._ingest_cut(p_event_types, p_longest[2], v_room.event_type);
    p_source_tables := redrive._ingest_cut(p_source_tables, p_longest[3], v_room.source_table);
    p_source_ids := redrive._ingest_cut(p_source_ids, p_longest[4], v_room.source_id);
    IF p_longest[5] > v_room.kafka_topic THEN -- a name that was cut would be another topic's
        SELECT array_agg(w.topic ORDER BY w.n), array_agg(CASE WHEN w.topic IS NOT NULL THEN p_original_partitions[w.n] END ORDER BY w.n),
               array_agg(CASE WHEN w.topic IS NOT NULL THEN p_original_offsets[w.n] END ORDER BY w.n)
          INTO p_original_topics, p_original_partitions, p_original_offsets
          FROM (SELECT u.n, CASE WHEN char_length(u.topic) <= v_room.kafka_topic THEN u.topic END AS topic
                  FROM unnest(p_original_topics) WITH ORDINALITY AS u (topic, n)) w;
    END IF;
    INSERT INTO :"events" (id, event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count, status,
                           created_at, kafka_offset, kafka_partition, kafka_topic, correlation_id)
    OVERRIDING SYSTEM VALUE
    SELECT p_ids[n], p_event_ids[n], p_event_types[n], p_source_tables[n], p_source_ids[n],
           coalesce(p_payloads[n], convert_from(p_values[n], 'UTF8'))::jsonb, p_errors[n], p_stacks[n], coalesce(p_attempts[n], 0), 'PENDING',
           (CASE WHEN p_were_sent[n] THEN v_now ELSE least(p_timestamps[n], v_now) END) AT TIME ZONE v_zone,
           p_original_offsets[n], p_original_partitions[n], p_original_topics[n], p_correlations[n]
      FROM generate_series(1, cardinality(p_ids)) AS n;
    GET DIAGNOSTICS events = ROW_COUNT;
    SET CONSTRAINTS ALL IMMEDIATE; -- a deferred one would be checked at the commit, and refuse the whole chunk there
END $$;

-- Puts those that lie within the chunk into redrive.record; how many.
-- Plan: OFFSET 0 keeps place and offset from being looked up again wherever they are named.
CREATE OR REPLACE FUNCTION redrive._ingest_new_records(
    p_cluster text, p_ids bigint[], p_topics text[], p_partitions integer[], p_generations integer[], p_from bigint[], p_to bigint[],
    p_stretches integer[], p_offsets bigint[], p_timestamps timestamptz[], p_keys bytea[], p_values bytea[], p_header_names redrive.header_names[],
    p_header_values redrive.header_values[], p_checksums bigint[], p_formats text[], p_consumers text[], p_failed timestamptz[], p_identities bigint[],
    p_schemas text[], p_decodings text[], OUT records bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_compression text := current_setting('default_toast_compression', true);
BEGIN
    PERFORM redrive._compress_by('lz4');
    INSERT INTO redrive.record (dlq_id, cluster, topic, partition, generation, "offset", "timestamp", key, value, header_names, header_values,
                                crc32c, format, consumer, failed_at, identity, schema, decoding)
    SELECT p_ids[w.n], p_cluster, p_topics[w.place], p_partitions[w.place], p_generations[w.place], w.at, p_timestamps[w.n], p_keys[w.n], p_values[w.n],
           coalesce(p_header_names[w.n], '{}'), coalesce(p_header_values[w.n], '{}'), p_checksums[w.n], p_formats[w.n], p_consumers[w.n],
           p_failed[w.n], p_identities[w.n], p_schemas[w.n], p_decodings[w.n]
      FROM (SELECT n, p_stretches[n] AS place, p_offsets[n] AS at FROM generate_series(1, cardinality(p_ids)) AS n OFFSET 0) w
     WHERE w.at >= p_from[w.place] AND w.at < p_to[w.place];
    GET DIAGNOSTICS records = ROW_COUNT;
    PERFORM redrive._compress_by(v_compression);
END $$;

-- Takes in letters that are all events of their own: events, records, and the positions, as ingest_take does. NULL: there is one among them that is
-- not, or the contract table refuses one; nothing is written then, and ingest_take finds out which. p_stretches: the partition of each letter, by its
-- place in p_topics. A mark that is not set is NULL. p_longest: see _ingest_new_events. p_distinct: p_identities in ascending order, each once. The
-- program has sorted them while PostgreSQL wrote the chunk before; whoever gives other ones has no more than an event where an attempt should be.
--
-- Where other ingesters live, they are excluded last, so that all write at a time: then it is looked whether one has taken in such an event meanwhile.
--
-- The commit does not wait for the disk. A server that loses it loses the positions with the letters, and they are read again from there.
-- Plan: one for all arrays. One for these alone would hold them as constants, in which each element is looked for from the first one on.
CREATE OR REPLACE FUNCTION redrive.ingest_take_new(
    p_no bigint, p_fence bigint, p_topics text[], p_partitions integer[], p_from bigint[], p_to bigint[], p_last bigint[], p_crcs bigint[],
    p_stretches integer[], p_offsets bigint[], p_timestamps timestamptz[], p_keys bytea[], p_values bytea[], p_header_names redrive.header_names[],
    p_header_values redrive.header_values[], p_checksums bigint[], p_formats text[], p_consumers text[], p_failed timestamptz[], p_identities bigint[],
    p_were_sent boolean[], p_event_ids text[], p_event_types text[], p_source_tables text[], p_source_ids text[], p_payloads text[], p_errors text[],
    p_stacks text[], p_attempts integer[], p_correlations uuid[], p_original_topics text[], p_original_partitions integer[],
    p_original_offsets bigint[], p_schemas text[], p_decodings text[], p_are_pointers boolean[], p_longest integer[], p_distinct bigint[],
    OUT events bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold_beside(p_no, p_fence);
    v_is_alone boolean := redrive._ingest_is_alone(p_no);
    v_count bigint := coalesce(cardinality(p_stretches), 0);
    v_sequence regclass := redrive._event_sequence();
    v_generations integer[]; -- of each stretch
    v_ids bigint[];
    v_written bigint[];
BEGIN
    IF v_count = 0 OR cardinality(p_distinct) IS DISTINCT FROM v_count OR redrive._ingest_is_any_known(p_distinct) THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    IF NOT (redrive._ingest_is_whole(p_checksums, v_count) AND redrive._ingest_is_whole(p_event_ids, v_count)
            AND redrive._ingest_is_whole(p_event_types, v_count) AND redrive._ingest_is_whole(p_errors, v_count)) THEN
        RAISE EXCEPTION 'a letter has no checksum, name, type or error' USING ERRCODE = 'RD004';
    END IF;
    BEGIN
        PERFORM redrive._ingest_move(v, p_topics, p_partitions, p_from, p_to, p_last, p_crcs);
        v_generations := ARRAY(SELECT p.generation FROM unnest(p_topics, p_partitions) WITH ORDINALITY AS w (topic, partition, n)
                                 JOIN redrive.ingest_position p ON p.cluster = v.cluster AND p.topic = w.topic AND p.partition = w.partition ORDER BY w.n);
        v_ids := ARRAY(SELECT nextval(v_sequence) FROM generate_series(1, v_count));
        v_written[1] := redrive._ingest_new_events(v_ids, p_longest, p_timestamps, p_values, p_were_sent, p_event_ids, p_event_types, p_source_tables,
            p_source_ids, p_payloads, p_errors, p_stacks, p_attempts, p_correlations, p_original_topics, p_original_partitions, p_original_offsets);
        v_written[2] := redrive._ingest_new_records(v.cluster, v_ids, p_topics, p_partitions, v_generations, p_from, p_to, p_stretches, p_offsets,
            p_timestamps, p_keys, p_values, p_header_names, p_header_values, p_checksums, p_formats, p_consumers, p_failed, p_identities,
            p_schemas, p_decodings);
        IF p_are_pointers IS NOT NULL THEN
            INSERT INTO redrive.original (dlq_id, cluster, topic, partition, "offset")
            SELECT v_ids[n], v.cluster, p_original_topics[n], p_original_partitions[n], p_original_offsets[n]
              FROM generate_series(1, v_count) AS n WHERE p_are_pointers[n];
        END IF;
        IF NOT v_is_alone THEN
            PERFORM redrive._ingest_exclude();
            IF redrive._ingest_known(p_distinct) > v_count THEN
                RAISE EXCEPTION 'another ingester has taken in an event of these letters';
            END IF;
        END IF;
    EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR feature_not_supported OR raise_exception
                OR with_check_option_violation THEN
        RETURN;
    END;
    IF v_written IS DISTINCT FROM ARRAY[v_count, v_count] THEN
        RAISE EXCEPTION 'a record is outside the chunk that is taken in, or the table leaves its event out' USING ERRCODE = 'RD004';
    END IF;
    PERFORM redrive._ingest_seen(p_no);
    events := v_count;
END $$;
