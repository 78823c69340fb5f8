-- Decisions that only a person takes: chunks in doubt that neither the marker nor a scan for their headers resolves, suspended slots without a
-- chunk, and copies of the database.
--
-- Each leaves the slot with other names in Kafka. A process that still has the old names can write to nothing that is believed again.

---- functions

-- Takes the slot away from any holder, so that only one of the two decides.
CREATE OR REPLACE FUNCTION redrive._slot_seize(p_cluster text, p_no integer) RETURNS redrive.slot
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.slot SET fence = fence + 1, holder = NULL, holder_who = NULL, holder_pid = NULL, holder_since = NULL, lease_until = '-infinity'
     WHERE cluster = p_cluster AND no = p_no RETURNING *;
$$;

CREATE OR REPLACE FUNCTION redrive._needs_reason(p_reason text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF coalesce(btrim(p_reason), '') = '' THEN
        RAISE EXCEPTION 'a decision of this kind needs its reason: --reason TEXT, such as what was found in the topic' USING ERRCODE = 'RD004';
    END IF;
END $$;

-- p_chunk: the beginning of its id. p_verdict: 'published' treats all its events as sent, 'again' sends them once more. Returns how many they are.
CREATE OR REPLACE FUNCTION redrive.chunk_decide(p_operation bigint, p_chunk text, p_verdict text, p_reason text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    c redrive.chunk;
    v_found bigint;
BEGIN
    PERFORM redrive._needs_reason(p_reason);
    IF p_verdict NOT IN ('published', 'again') THEN
        RAISE EXCEPTION 'a chunk is decided as published or again, not as %', p_verdict USING ERRCODE = 'RD004';
    END IF;
    SELECT count(*) INTO v_found FROM redrive.chunk WHERE operation_no = p_operation AND state = 'in doubt' AND starts_with(id::text, lower(p_chunk));
    IF v_found <> 1 THEN
        RAISE EXCEPTION 'operation % has % chunks in doubt that begin with %', p_operation, v_found, p_chunk USING ERRCODE = 'RD002';
    END IF;
    SELECT * INTO c FROM redrive.chunk WHERE operation_no = p_operation AND state = 'in doubt' AND starts_with(id::text, lower(p_chunk));
    PERFORM redrive._slot_seize(c.cluster, c.slot);
    PERFORM redrive._audit('decide', p_operation, c.events, p_reason, format('chunk %s: %s; evidence: %s', c.id, p_verdict, c.evidence));
    PERFORM redrive._chunk_finish(c.cluster, c.slot, c.id, CASE p_verdict WHEN 'published' THEN 'committed' ELSE 'aborted' END,
                                  format('decided by %s: %s; %s', session_user, p_verdict, p_reason),
                                  CASE p_verdict WHEN 'published' THEN c.dlq_ids ELSE '{}' END);
    UPDATE redrive.chunk SET decided_by = session_user WHERE id = c.id;
    RETURN c.events;
END $$;

-- A suspended slot without an unfinished chunk works again, under other names.
CREATE OR REPLACE FUNCTION redrive.slot_renew(p_cluster text, p_no integer, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE s redrive.slot;
BEGIN
    PERFORM redrive._needs_reason(p_reason);
    s := redrive._slot_seize(p_cluster, p_no);
    IF s.no IS NULL OR NOT s.is_suspended THEN
        RAISE EXCEPTION 'slot % of % is not suspended', p_no, p_cluster USING ERRCODE = 'RD002';
    ELSIF EXISTS (SELECT FROM redrive.chunk WHERE cluster = p_cluster AND slot = p_no AND state IN ('claimed', 'in doubt')) THEN
        RAISE EXCEPTION 'slot % has a chunk in doubt: decide that first', p_no USING ERRCODE = 'RD001';
    END IF;
    PERFORM redrive._audit('decide', NULL, 0, p_reason, format('%s slot %s works again; it was suspended: %s', p_cluster, p_no, s.note));
    PERFORM redrive._slot_retire(p_cluster, p_no, p_reason);
END $$;

-- For administrators: makes a copied database an install of its own. Chunks that were in flight when it was copied are decided in the original
-- only.
CREATE OR REPLACE FUNCTION redrive.adopt() RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_old uuid := (SELECT id FROM redrive.install);
    v_new uuid;
    v_chunks bigint;
BEGIN
    PERFORM FROM redrive.slot ORDER BY cluster, no FOR UPDATE;
    PERFORM redrive._batches_write_out(operation_no, batches) FROM redrive.chunk WHERE state = 'claimed' AND batches IS NOT NULL;
    UPDATE redrive.install SET id = gen_random_uuid(), system_identifier = redrive._system_identifier() RETURNING id INTO v_new;
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
    PERFORM redrive._audit('adopt', NULL, 0, NULL, format('install %s became %s; %s chunks in doubt', v_old, v_new, v_chunks));
    RETURN v_new;
END $$;
