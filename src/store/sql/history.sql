-- How a stopped database goes on (turns.sql), which an administrator decides with a reason: it is the true one, whose history is taken over from
-- Kafka; or it is a copy, which becomes an install of its own.

---- functions

-- What a decision would touch: operations that are not over, their events that wait, and chunks whose end is not known.
CREATE OR REPLACE FUNCTION redrive.history_counts(OUT operations bigint, OUT queued bigint, OUT chunks bigint, OUT in_flight bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT (SELECT count(*) FROM redrive.operation WHERE state NOT IN ('freezing', 'done', 'cancelled')),
           (SELECT coalesce(sum(queued), 0)::bigint FROM redrive.operation WHERE state NOT IN ('freezing', 'done', 'cancelled')),
           (SELECT count(*) FROM redrive.chunk WHERE state IN ('claimed', 'in doubt')),
           (SELECT coalesce(sum(events), 0)::bigint FROM redrive.chunk WHERE state IN ('claimed', 'in doubt'));
$$;

-- The topics that this install has sent to, or may have sent to before it was put back.
CREATE OR REPLACE FUNCTION redrive.history_topics(p_cluster text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT t FROM redrive.chunk c, unnest(c.topics) AS t WHERE c.cluster = p_cluster
    UNION SELECT o.target_topic FROM redrive.operation o WHERE o.target_topic IS NOT NULL
    UNION SELECT e.kafka_topic::text FROM :"events" e WHERE e.status = 'PENDING' AND e.kafka_topic IS NOT NULL;
END $$;

-- When the chunk that each of these slots finished last was claimed; the install's time where there is none. What a slot did later is not known here.
CREATE OR REPLACE FUNCTION redrive.history_since(p_cluster text, p_slots integer[]) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT min(coalesce((SELECT max(c.created_at) FROM redrive.chunk c WHERE c.cluster = p_cluster AND c.slot = n AND c.state = 'committed'),
                        i.created_at))
      FROM redrive.install i, unnest(p_slots) AS n;
$$;

-- Of these chunks those that this database does not know to have ended.
CREATE OR REPLACE FUNCTION redrive.history_unknown(p_chunks uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT DISTINCT n FROM unnest(p_chunks) AS n
     WHERE NOT EXISTS (SELECT FROM redrive.chunk c WHERE c.id = n AND c.state IN ('committed', 'aborted'));
$$;

-- Of these events, found in Kafka, those that are open here, with the source that their record names: adopting closes them as sent.
CREATE OR REPLACE FUNCTION redrive.history_sent(p_ids bigint[], p_sources text[]) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT DISTINCT e.id FROM unnest(p_ids, p_sources) AS n (id, source) JOIN :"events" e ON e.id = n.id
     WHERE coalesce(e.status, '') = 'PENDING'
       AND n.source = coalesce(CASE WHEN e.kafka_partition IS NULL OR e.kafka_offset IS NULL THEN e.kafka_topic
                                    ELSE format('%s/%s/%s', e.kafka_topic, e.kafka_partition, e.kafka_offset) END, '');
END $$;

CREATE OR REPLACE FUNCTION redrive._history_end_stop(p_cluster text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.turn SET stop = NULL, stopped_at = NULL, stop_detail = NULL, holder = NULL, holder_who = NULL, holder_pid = NULL,
                            holder_since = NULL, lease_until = '-infinity'
     WHERE cluster = p_cluster;
$$;

-- This is the true one. p_no, p_id: the turn that Kafka holds, which becomes the last one here; 0 and NULL: none. p_slots: slots whose markers are
-- ahead, once for each of their generations that is used in Kafka; they get other names. p_sent: events that Kafka proves as sent since. Returns how many were open.
CREATE OR REPLACE FUNCTION redrive.history_adopt(p_cluster text, p_no bigint, p_id uuid, p_slots integer[], p_sent bigint[], p_reason text)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_wall timestamp := redrive._wall(clock_timestamp());
    v_slot integer;
    c redrive.chunk;
    v_closed bigint[];
    v_open bigint;
BEGIN
    PERFORM redrive._needs_reason(p_reason);
    PERFORM redrive._turn_lock(p_cluster);
    PERFORM FROM redrive.slot WHERE cluster = p_cluster ORDER BY no FOR UPDATE;
    v_open := (SELECT count(*) FROM :"events" WHERE id = ANY (p_sent) AND coalesce(status, '') = 'PENDING');
    FOREACH v_slot IN ARRAY p_slots LOOP
        PERFORM redrive._slot_seize(p_cluster, v_slot);
        SELECT * INTO c FROM redrive.chunk WHERE cluster = p_cluster AND slot = v_slot AND state IN ('claimed', 'in doubt');
        IF FOUND THEN
            PERFORM redrive._chunk_finish(p_cluster, v_slot, c.id, 'aborted', 'decided by what the topics hold: ' || p_reason,
                                          ARRAY(SELECT n FROM unnest(c.dlq_ids) AS n WHERE n = ANY (p_sent)));
        ELSE
            PERFORM redrive._slot_retire(p_cluster, v_slot, 'its marker was ahead of this database');
        END IF;
    END LOOP;
    WITH changed AS (
        UPDATE :"events" e
           SET status = 'RESOLVED', resolved_at = v_wall, resolved_by = left(session_user::text, 50),
               retry_count = coalesce(e.retry_count, 0) + 1, last_retry_at = v_wall
         WHERE e.id = ANY (p_sent) AND coalesce(e.status, '') = 'PENDING' RETURNING e.id)
    SELECT coalesce(array_agg(id), '{}') INTO v_closed FROM changed;
    PERFORM redrive._rollup_note(v_closed);
    UPDATE redrive.install SET system_identifier = redrive._system_identifier(), database_oid = redrive._database_oid();
    UPDATE redrive.turn SET no = p_no, id = p_id, before_no = 0, before_id = NULL, is_confirmed = p_no > 0, finished_no = p_no, at = clock_timestamp()
     WHERE cluster = p_cluster;
    PERFORM redrive._history_end_stop(p_cluster);
    PERFORM redrive._audit('adopt', NULL, v_open, p_reason,
        format('%s: this database goes on after turn %s; %s events closed as sent; other names for slots %s', p_cluster, p_no, v_open,
               coalesce(nullif(array_to_string(p_slots, ', '), ''), 'none')));
    RETURN v_open;
END $$;

-- This is a copy: an install of its own. Live operations are cancelled. Chunks that were in flight are in doubt and never sent by themselves: only
-- the original knows their fate.
CREATE OR REPLACE FUNCTION redrive.history_as_copy(p_reason text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_old uuid := (SELECT id FROM redrive.install);
    v_new uuid;
    v_chunks bigint;
    v_operations bigint;
BEGIN
    PERFORM redrive._needs_reason(p_reason);
    PERFORM FROM redrive.turn ORDER BY cluster FOR UPDATE;
    PERFORM FROM redrive.slot ORDER BY cluster, no FOR UPDATE;
    PERFORM redrive._batches_write_out(operation_no, batches) FROM redrive.chunk WHERE state = 'claimed' AND batches IS NOT NULL;
    UPDATE redrive.install
       SET id = gen_random_uuid(), system_identifier = redrive._system_identifier(), database_oid = redrive._database_oid() RETURNING id INTO v_new;
    UPDATE redrive.slot s
       SET fence = fence + 1, holder = NULL, holder_who = NULL, holder_pid = NULL, holder_since = NULL, lease_until = '-infinity', generation = 1,
           txn_id = redrive._txn_id(v_new, cluster, s.no, 1),
           finished_seq = 0, finished_id = v_new, is_provisioned = false, marker_at = NULL,
           is_suspended = EXISTS (SELECT FROM redrive.chunk c WHERE c.cluster = s.cluster AND c.slot = s.no
                                                               AND c.state IN ('claimed', 'in doubt'));
    UPDATE redrive.operation o SET claimed = claimed - c.events, in_doubt = in_doubt + c.events, changed = nextval('redrive.change')
      FROM (SELECT operation_no, sum(events) AS events FROM redrive.chunk WHERE state = 'claimed' GROUP BY operation_no) c
     WHERE o.no = c.operation_no;
    UPDATE redrive.operation_item i
       SET state = 'in doubt', at = clock_timestamp(), detail = 'in flight when the database was copied',
           attempt = i.attempt + (i.state = 'queued')::integer
      FROM (SELECT c.operation_no, w.id FROM redrive.chunk c, unnest(c.dlq_ids) AS w (id) WHERE c.state = 'claimed') h
     WHERE i.operation_no = h.operation_no AND i.dlq_id = h.id AND i.state IN ('queued', 'claimed');
    UPDATE redrive.chunk SET needs_person = true WHERE state IN ('claimed', 'in doubt');
    UPDATE redrive.chunk SET state = 'in doubt', decided_at = clock_timestamp(), evidence = 'in flight when the database was copied'
     WHERE state = 'claimed';
    GET DIAGNOSTICS v_chunks = ROW_COUNT;
    SELECT count(redrive.operation_steer(no, 'cancel', NULL)) INTO v_operations FROM redrive.operation
     WHERE state NOT IN ('freezing', 'done', 'cancelled') AND NOT is_cancelling;
    DELETE FROM redrive.turn;
    PERFORM redrive._audit('as copy', NULL, 0, p_reason, format('install %s became %s; %s operations cancelled, %s chunks in doubt', v_old, v_new,
                                                                v_operations, v_chunks));
    RETURN v_new;
END $$;
