-- Decisions that only a person takes: chunks in doubt that neither the marker nor a scan for their headers resolves, and suspended slots without a
-- chunk. How a stopped database goes on is in history.sql.
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
