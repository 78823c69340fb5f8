-- Dead letters that are in the table already, decoded again after somebody corrected what the settings say of their topic (`redrive ingest --decode-again`).
--
-- Their further dead letters (redrive.attempt) follow. The records' bytes stay what they are. A wrong guess of their format is in the event's row and in redrive.record; both are written together, while nobody
-- freezes or corrects, so whoever confirms or corrects an event sees it as it is then. What a person has decided on stays: a corrected event, one in an
-- operation that has not ended, and one that is closed.

---- functions

-- Writes what the staged record p_no is now into the pending event p_id and its record. 'decoded'; 'unchanged': it is so already; 'taken': another pending
-- event has the identity that it would get (as in _ingest_events); 'refused': by the contract table; 'closed': it is closed, or somebody writes it just now.
-- A value whose schema is not at hand now, and that was decoded before, stays decoded. retry_count is the letter's until something here was retried.
CREATE OR REPLACE FUNCTION redrive._decode_again(p_no integer, p_id bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s record;
    v_old redrive.record := (SELECT r FROM redrive.record r WHERE r.dlq_id = p_id);
    v_event record;
    v_room integer := redrive._event_room('event_id');
    v_written boolean;
BEGIN
    SELECT * INTO s FROM pg_temp.redrive_letter l WHERE l.no = p_no;
    s.payload := coalesce(s.payload, convert_from(s.value, 'UTF8'));
    SELECT e.event_payload, e.retry_count, e.last_retry_at INTO v_event FROM :"events" e WHERE e.id = p_id AND e.status = 'PENDING' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 'closed';
    ELSIF s.identity <> v_old.identity AND NOT s.was_sent
          AND EXISTS (SELECT FROM (SELECT r.dlq_id FROM redrive.record r WHERE r.identity = s.identity AND r.dlq_id <> p_id OFFSET 0) o
                        JOIN :"events" e ON e.id = o.dlq_id WHERE e.status = 'PENDING' AND e.event_id = left(s.event_id, v_room)) THEN
        RETURN 'taken';
    ELSIF NOT redrive._is_jsonb(s.payload) THEN
        s.payload := json_build_object('not_json', 'PostgreSQL cannot hold it', 'bytes', octet_length(s.value));
        s.decoding := CASE WHEN s.decoding IS NOT NULL THEN 'failed' END;
    ELSIF s.decoding = 'waiting' AND (s.format, s.schema) = (v_old.format, v_old.schema) THEN
        s.payload := v_event.event_payload;
        s.decoding := v_old.decoding;
    END IF;
    IF char_length(s.original_topic) > redrive._event_room('kafka_topic') THEN -- a name that was cut would be another topic's
        s.original_topic := NULL;
        s.original_partition := NULL;
        s.original_offset := NULL;
    END IF;
    UPDATE :"events" e
       SET (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count, kafka_offset, kafka_partition,
            kafka_topic, correlation_id) = (n.event_id, n.event_type, n.source_table, n.source_id, n.payload, s.error_message, s.stack_trace, n.retries,
                                            s.original_offset, s.original_partition, s.original_topic, s.correlation_id)
      FROM (SELECT left(s.event_id, v_room) AS event_id, left(s.event_type, redrive._event_room('event_type')) AS event_type,
                   left(s.source_table, redrive._event_room('source_table')) AS source_table,
                   left(s.source_id, redrive._event_room('source_id')) AS source_id, s.payload::jsonb AS payload,
                   CASE WHEN v_event.last_retry_at IS NULL THEN coalesce(s.attempts, 0) ELSE v_event.retry_count END AS retries) n
     WHERE e.id = p_id
       AND (e.event_id, e.event_type, e.source_table, e.source_id, e.event_payload, e.error_message, e.stack_trace, e.retry_count, e.kafka_offset,
            e.kafka_partition, e.kafka_topic, e.correlation_id)
           IS DISTINCT FROM (n.event_id, n.event_type, n.source_table, n.source_id, n.payload, s.error_message, s.stack_trace, n.retries,
                             s.original_offset, s.original_partition, s.original_topic, s.correlation_id);
    v_written := FOUND;
    UPDATE redrive.record r
       SET format = s.format, consumer = s.consumer, failed_at = s.failed_at, identity = s.identity, schema = s.schema, decoding = s.decoding
     WHERE r.dlq_id = p_id AND (r.format, r.consumer, r.failed_at, r.identity, r.schema, r.decoding)
                               IS DISTINCT FROM (s.format, s.consumer, s.failed_at, s.identity, s.schema, s.decoding);
    RETURN CASE WHEN v_written OR FOUND THEN 'decoded' ELSE 'unchanged' END;
EXCEPTION WHEN integrity_constraint_violation OR data_exception OR program_limit_exceeded OR feature_not_supported OR raise_exception
            OR with_check_option_violation THEN
    RETURN 'refused';
END $$;

-- Writes what the staged record p_no is now into the further dead letter of that event in its place. 'decoded', 'unchanged', 'closed'.
CREATE OR REPLACE FUNCTION redrive._decode_attempt(p_no integer, p_id bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM :"events" e WHERE e.id = p_id AND e.status = 'PENDING') THEN
        RETURN 'closed';
    END IF;
    UPDATE redrive.attempt a
       SET format = s.format, consumer = s.consumer, failed_at = s.failed_at, error_message = s.error_message, stack_trace = s.stack_trace
      FROM pg_temp.redrive_letter s
     WHERE s.no = p_no AND a.dlq_id = p_id AND (a.topic, a.partition, a."offset") = (s.topic, s.partition, s."offset")
       AND (a.format, a.consumer, a.failed_at, a.error_message, a.stack_trace)
           IS DISTINCT FROM (s.format, s.consumer, s.failed_at, s.error_message, s.stack_trace);
    RETURN CASE WHEN FOUND THEN 'decoded' ELSE 'unchanged' END;
END $$;

-- The same for all that are staged and are further dead letters of their events: fates gets what became of each. One that would be of another event than
-- the one that it is an attempt of stays as it is: 'split'.
CREATE OR REPLACE FUNCTION redrive._decode_attempts(p_cluster text, p_ids bigint[], p_busy bigint[], INOUT fates text[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v record;
BEGIN
    FOR v IN SELECT l.no, a.dlq_id,
                    CASE WHEN EXISTS (SELECT FROM redrive.revision x WHERE x.dlq_id = a.dlq_id) THEN 'corrected'
                         WHEN a.dlq_id = ANY (p_busy) THEN 'busy'
                         WHEN r.identity <> l.identity THEN 'split' END AS fate
               FROM pg_temp.redrive_letter l
               JOIN redrive.attempt a ON a.dlq_id = p_ids[l.no] AND (a.topic, a.partition, a."offset") = (l.topic, l.partition, l."offset")
               JOIN redrive.record r ON r.dlq_id = a.dlq_id
              WHERE a.cluster = p_cluster
                AND (a.key, a.value, a.header_names, a.header_values) IS NOT DISTINCT FROM (l.key, l.value, l.header_names, l.header_values)
              ORDER BY l.no FOR UPDATE OF a LOOP
        fates[v.no] := coalesce(v.fate, redrive._decode_attempt(v.no, v.dlq_id));
    END LOOP;
END $$;

-- What is staged, as ingest_take has it, are the records of the events at their places in p_ids, and further dead letters of these, read by the settings
-- of now: each gets what differs. Returns what became of each, in that order: what _decode_again says; 'corrected'; 'busy': it is in an operation that
-- has not ended; 'split': it has further dead letters that are not of the event which it would become, or are not staged; 'closed' also where the record
-- is another one.
CREATE OR REPLACE FUNCTION redrive.ingest_decode_again(p_no bigint, p_fence bigint, p_ids bigint[]) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_ingester redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v_fates text[] := array_fill('closed'::text, ARRAY[coalesce(cardinality(p_ids), 0)]);
    v_busy bigint[];
    v_decoded bigint;
    v record;
BEGIN
    PERFORM redrive._ingest_stage_check();
    PERFORM FROM redrive.freeze_turn FOR UPDATE; -- nobody freezes or corrects (event_correct)
    SET CONSTRAINTS ALL IMMEDIATE; -- a deferred one would refuse the whole page at the commit
    v_busy := ARRAY(SELECT l.dlq_id FROM redrive.items_live(p_ids) AS l);
    FOR v IN SELECT l.no, r.dlq_id,
                    CASE WHEN EXISTS (SELECT FROM redrive.revision x WHERE x.dlq_id = r.dlq_id) THEN 'corrected'
                         WHEN r.dlq_id = ANY (v_busy) THEN 'busy'
                         WHEN r.identity <> l.identity AND EXISTS (
                              SELECT FROM redrive.attempt a WHERE a.dlq_id = r.dlq_id AND NOT EXISTS (
                                     SELECT FROM pg_temp.redrive_letter o WHERE p_ids[o.no] = a.dlq_id AND o.identity = l.identity
                                                AND (o.topic, o.partition, o."offset") = (a.topic, a.partition, a."offset"))) THEN 'split' END AS fate
               FROM pg_temp.redrive_letter l JOIN redrive.record r ON r.dlq_id = p_ids[l.no]
              WHERE r.cluster = v_ingester.cluster AND NOT r.is_imported AND (r.topic, r.partition, r."offset") = (l.topic, l.partition, l."offset")
                AND (r.key, r.value, r.header_names, r.header_values) IS NOT DISTINCT FROM (l.key, l.value, l.header_names, l.header_values)
              ORDER BY l.no FOR UPDATE OF r LOOP
        v_fates[v.no] := coalesce(v.fate, redrive._decode_again(v.no, v.dlq_id));
    END LOOP;
    v_fates := redrive._decode_attempts(v_ingester.cluster, p_ids, v_busy, v_fates);
    v_decoded := (SELECT count(DISTINCT u.id) FROM unnest(p_ids, v_fates) AS u (id, fate) WHERE u.fate = 'decoded');
    IF v_decoded > 0 THEN
        PERFORM redrive._audit('decode again', NULL, v_decoded, NULL,
            (SELECT format('dead letters of %s: events %s', string_agg(DISTINCT l.topic, ', '), redrive._decoded_text(p_ids, v_fates))
               FROM pg_temp.redrive_letter l WHERE v_fates[l.no] = 'decoded'));
    END IF;
    UPDATE redrive.ingester i SET seen_at = clock_timestamp() WHERE i.no = p_no;
    RETURN v_fates;
END $$;

-- Which events were decoded, for the audit.
CREATE OR REPLACE FUNCTION redrive._decoded_text(p_ids bigint[], p_fates text[]) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT min(u.id) || ' to ' || max(u.id) FROM unnest(p_ids, p_fates) AS u (id, fate) WHERE u.fate = 'decoded';
$$;
