-- How a stopped database goes on (turns.sql), which an administrator decides with a reason: it is the true one, whose history is taken over from
-- Kafka; or it is a copy, which becomes an install of its own.

-- An administrator without Kafka has a worker count what Kafka proves, sees the counts, and confirms these: the worker then takes the history over.
-- One row: the last request.
CREATE TABLE redrive.adopting (
    one          boolean PRIMARY KEY DEFAULT true CHECK (one),
    no           bigint NOT NULL, -- of the request
    state        text NOT NULL CHECK (state IN ('asked', 'counted', 'confirmed', 'done', 'failed')),
    who          name NOT NULL,
    at           timestamptz NOT NULL, -- when it came into this state
    taken_by     text, -- the worker that counts or carries out now
    taken_who    name, -- its login; nobody else answers
    taken_at     timestamptz,
    cluster      text,
    chunks       bigint,   -- of Kafka, not known here
    records      bigint,   -- that were searched
    sent         bigint[], -- events that are open here and that Kafka proves as sent, ascending
    confirmed_by name,
    reason       text,
    why          text      -- it failed, or has to be confirmed once more
);

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
-- ahead, once for each of their generations that is used in Kafka; they get other names. p_sent: events that Kafka proves as sent since; p_by: who decided it. Returns how many were open.
CREATE OR REPLACE FUNCTION redrive._history_adopt(p_cluster text, p_no bigint, p_id uuid, p_slots integer[], p_sent bigint[], p_by name, p_reason text)
RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
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
           SET status = 'RESOLVED', resolved_at = v_wall, resolved_by = left(p_by::text, 50),
               retry_count = coalesce(e.retry_count, 0) + 1, last_retry_at = v_wall
         WHERE e.id = ANY (p_sent) AND coalesce(e.status, '') = 'PENDING' RETURNING e.id)
    SELECT coalesce(array_agg(id), '{}') INTO v_closed FROM changed;
    PERFORM redrive._rollup_note(v_closed);
    UPDATE redrive.install SET system_identifier = redrive._system_identifier(), database_oid = redrive._database_oid();
    UPDATE redrive.turn SET no = p_no, id = p_id, before_no = 0, before_id = NULL, is_confirmed = p_no > 0, finished_no = p_no, at = clock_timestamp()
     WHERE cluster = p_cluster;
    PERFORM redrive._history_end_stop(p_cluster);
    PERFORM redrive._audit('adopt', NULL, v_open, p_reason,
        format('%s, by decision of %s: this database goes on after turn %s; %s events closed as sent; other names for slots %s', p_cluster, p_by, p_no,
               v_open, coalesce(nullif(array_to_string(p_slots, ', '), ''), 'none')));
    RETURN v_open;
END $$;

CREATE OR REPLACE FUNCTION redrive.history_adopt(p_cluster text, p_no bigint, p_id uuid, p_slots integer[], p_sent bigint[], p_reason text)
RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT redrive._history_adopt(p_cluster, p_no, p_id, p_slots, p_sent, session_user, p_reason);
$$;

-- Asks a worker to count what Kafka proves. Replaces the request before, unless that is being carried out. Returns its number.
CREATE OR REPLACE FUNCTION redrive.history_ask() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_no bigint;
BEGIN
    IF NOT redrive.is_copy() AND NOT EXISTS (SELECT FROM redrive.turn WHERE stop IS NOT NULL) THEN
        RAISE EXCEPTION 'this database is not stopped: there is nothing to adopt' USING ERRCODE = 'RD002';
    END IF;
    INSERT INTO redrive.adopting AS a (no, state, who, at) VALUES (1, 'asked', session_user, clock_timestamp())
    ON CONFLICT (one) DO UPDATE SET no = a.no + 1, state = 'asked', who = session_user, at = clock_timestamp(), taken_by = NULL, taken_who = NULL,
                                    taken_at = NULL, cluster = NULL, chunks = NULL, records = NULL, sent = NULL, confirmed_by = NULL,
                                    reason = NULL, why = NULL
     WHERE a.state <> 'confirmed' OR coalesce(a.taken_at, a.at) < clock_timestamp() - interval '30 s'
    RETURNING a.no INTO v_no;
    IF v_no IS NULL THEN
        RAISE EXCEPTION 'a worker takes the history over already' USING ERRCODE = 'RD001';
    END IF;
    PERFORM redrive._audit('adopt', NULL, 0, NULL, format('request %s: a worker is to count what Kafka proves', v_no));
    RETURN v_no;
END $$;

-- Confirms exactly what was counted: a worker carries it out.
CREATE OR REPLACE FUNCTION redrive.history_confirm(p_no bigint, p_sent bigint, p_chunks bigint, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._needs_reason(p_reason);
    UPDATE redrive.adopting SET state = 'confirmed', at = clock_timestamp(), confirmed_by = session_user, reason = p_reason, taken_by = NULL,
                                taken_who = NULL, taken_at = NULL, why = NULL
     WHERE no = p_no AND state = 'counted' AND cardinality(sent) = p_sent AND chunks = p_chunks AND at > clock_timestamp() - interval '15 min';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing was decided: what was counted is not what was shown any more; look again' USING ERRCODE = 'RD001';
    END IF;
    PERFORM redrive._audit('adopt', NULL, p_sent, p_reason, format('request %s confirmed: %s events of %s chunks are to be closed as sent', p_no,
                                                                   p_sent, p_chunks));
END $$;

-- What a worker of this database is to do, also where it is stopped: count (asked), carry out (confirmed), or wait for the decision (counted). No
-- row: nothing. Whoever counts calls it again and again; a worker without a sign for 15 s loses the request to another.
CREATE OR REPLACE FUNCTION redrive.work_history_next(p_worker text) RETURNS TABLE (no bigint, state text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.adopting a SET taken_by = p_worker, taken_who = session_user, taken_at = clock_timestamp()
     WHERE a.state IN ('asked', 'confirmed') AND a.at > clock_timestamp() - interval '1 hour'
       AND (a.taken_at IS NULL OR a.taken_at < clock_timestamp() - interval '15 s' OR a.taken_by = p_worker AND a.taken_who = session_user);
    RETURN QUERY SELECT a.no, a.state FROM redrive.adopting a
                  WHERE a.state IN ('asked', 'confirmed') AND a.taken_by = p_worker AND a.taken_who = session_user
                        AND a.at > clock_timestamp() - interval '1 hour'
                     OR a.state = 'counted' AND a.at > clock_timestamp() - interval '10 min';
END $$;

-- What Kafka proves, or why that is not known.
CREATE OR REPLACE FUNCTION redrive.work_history_counted(p_no bigint, p_worker text, p_cluster text, p_chunks bigint, p_records bigint, p_sent bigint[],
                                                        p_why text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.adopting SET state = CASE WHEN p_why IS NULL THEN 'counted' ELSE 'failed' END, at = clock_timestamp(), cluster = left(p_cluster, 63),
                                chunks = coalesce(p_chunks, 0), records = coalesce(p_records, 0), why = left(p_why, 500),
                                sent = ARRAY(SELECT DISTINCT n FROM unnest(p_sent) AS n ORDER BY n)
     WHERE no = p_no AND state IN ('asked', 'confirmed') AND taken_by = p_worker AND taken_who = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'request % is not this worker''s to answer', p_no USING ERRCODE = 'RD001';
    END IF;
END $$;

-- Carries out what an administrator confirmed, and nothing else: what Kafka proves now must be what was confirmed, else it is to be confirmed once
-- more. Returns how many events were closed; NULL: that.
CREATE OR REPLACE FUNCTION redrive.work_history_adopt(p_no bigint, p_worker text, p_cluster text, p_turn bigint, p_id uuid, p_slots integer[],
                                                      p_chunks bigint, p_sent bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    a redrive.adopting;
    v_sent bigint[] := ARRAY(SELECT DISTINCT n FROM unnest(p_sent) AS n ORDER BY n);
    v_closed bigint;
BEGIN
    SELECT * INTO a FROM redrive.adopting WHERE no = p_no AND state = 'confirmed' AND taken_by = p_worker AND taken_who = session_user FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no administrator has confirmed request % for this worker', p_no USING ERRCODE = 'RD001';
    ELSIF a.cluster <> p_cluster OR a.sent <> v_sent OR a.chunks <> p_chunks THEN
        UPDATE redrive.adopting SET state = 'counted', at = clock_timestamp(), sent = v_sent, chunks = p_chunks,
                                    why = 'Kafka proves something else by now than what was confirmed';
        RETURN NULL;
    END IF;
    v_closed := redrive._history_adopt(p_cluster, p_turn, p_id, p_slots, v_sent, a.confirmed_by, a.reason);
    UPDATE redrive.adopting SET state = 'done', at = clock_timestamp();
    RETURN v_closed;
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
    SELECT count(redrive.operation_steer(no, 'cancel', NULL, p_reason)) INTO v_operations FROM redrive.operation
     WHERE state NOT IN ('freezing', 'done', 'cancelled') AND NOT is_cancelling;
    DELETE FROM redrive.turn;
    PERFORM redrive._audit('as copy', NULL, 0, p_reason, format('install %s became %s; %s operations cancelled, %s chunks in doubt', v_old, v_new,
                                                                v_operations, v_chunks));
    RETURN v_new;
END $$;
