-- Chunks: the part of a reprocess that is one Kafka transaction. The steps claim and finish of src/publish/PROTOCOL.md; fence and locks: slots.sql.

CREATE TABLE redrive.chunk (
    id           uuid PRIMARY KEY,
    cluster      text NOT NULL,
    slot         integer NOT NULL,
    seq          bigint NOT NULL,
    fence        bigint NOT NULL,
    operation_no bigint NOT NULL REFERENCES redrive.operation,
    state        text NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'committed', 'aborted', 'in doubt')),
    events       integer NOT NULL,
    dlq_ids      bigint[] NOT NULL,  -- the events it claimed, ascending
    sources      integer[] NOT NULL, -- whose order it is busy with
    batches      integer[],          -- it has these in flight, whole; NULL: rows of operation_item
    topics       text[],             -- its target topics: searched when it is in doubt, whatever became of the events. Those of its events' rows,
                                     -- until chunk_ends knows those of its records
    ends         text[],             -- where these ended before its first record, 'topic n,n,n': a search begins there; NULL: by time
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_at   timestamptz,
    decided_by   name, -- NULL: by its marker, or by a scan
    evidence     text,
    -- In flight elsewhere, under names of another install that nobody here can fence: a scan would prove nothing.
    needs_person boolean NOT NULL DEFAULT false,
    UNIQUE (cluster, slot, seq),
    FOREIGN KEY (cluster, slot) REFERENCES redrive.slot
);
ALTER TABLE redrive.chunk ALTER dlq_ids SET STORAGE EXTERNAL;
-- A slot has at most one unfinished chunk, ever.
CREATE UNIQUE INDEX chunk_unfinished ON redrive.chunk (cluster, slot) WHERE state IN ('claimed', 'in doubt');
CREATE INDEX chunk_claimed ON redrive.chunk (operation_no) WHERE state = 'claimed';
CREATE INDEX chunk_decided ON redrive.chunk (operation_no, decided_at) WHERE state = 'committed';

---- functions

-- Small events that may pass large ones, at most p_limit: of sources whose order allows it. Among the next thousand rows, then in the next batches,
-- which are written out for it. '{}': there are none.
-- Plan: with the settings of chunk_claim: rows and batches by key.
CREATE OR REPLACE FUNCTION redrive._chunk_pass(p_operation bigint, p_busy integer[], p_limit integer, OUT ids bigint[], OUT sources integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_window integer := greatest(p_limit, 1000);
    v_held integer[];
    v_batches integer[];
BEGIN
    SELECT s.ids, s.sources, s.held INTO ids, sources, v_held
      FROM redrive._items_pick_around(p_operation, p_busy, v_window) p CROSS JOIN LATERAL redrive._items_small(p.ids, p.sources) s;
    IF ids = '{}' AND v_held <> '{}' THEN -- other sources
        SELECT s.ids, s.sources INTO ids, sources FROM redrive._items_pick_around(p_operation, p_busy || v_held, v_window) p
         CROSS JOIN LATERAL redrive._items_small(p.ids, p.sources) s;
    END IF;
    IF ids = '{}' THEN -- a source's rows come before its batches
        v_held := ARRAY(SELECT DISTINCT i.source FROM redrive.operation_item i
                         WHERE i.operation_no = p_operation AND i.is_due AND i.state = 'queued' AND i.source <> 0);
        SELECT p.batches, s.ids, s.sources INTO v_batches, ids, sources FROM redrive._batches_pick(p_operation, p_busy || v_held, v_window) p
         CROSS JOIN LATERAL redrive._items_small(p.ids, p.sources) s;
        IF ids <> '{}' THEN
            PERFORM redrive._batches_write_out(p_operation, v_batches);
        END IF;
    END IF;
    ids := ids[1:p_limit];
    sources := sources[1:p_limit];
END $$;

-- Chooses the events of one chunk: queued ones whose source is free, without those that were closed meanwhile (skipped) or cannot be read (refused).
-- A few large ones that would fill a chunk wait for all small ones that may pass them: each of them can take seconds, and in the end be refused.
-- ids '{}': nothing is left to claim, or two seconds have passed with those. batches: the events are all those of these batches; '{}': they are
-- rows.
-- Plan: with the settings of chunk_claim, its only caller.
CREATE OR REPLACE FUNCTION redrive._chunk_choose(v redrive.operation, p_limit integer, p_max_bytes bigint, p_at timestamptz, OUT ids bigint[],
                                                 OUT topics text[], OUT sources integer[], OUT batches integer[], OUT skipped bigint,
                                                 OUT refused bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_busy integer[] := ARRAY(SELECT DISTINCT b FROM redrive.chunk c, unnest(c.sources) AS b WHERE c.operation_no = v.no AND c.state = 'claimed');
    v_most bigint := p_limit;
    v_picked bigint[];
    v_picked_sources integer[];
    v_first bigint; -- events of the first batch
    v_is_written_out boolean;
    v_few integer := 16; -- events in a chunk that large ones fill
    m record; -- of _items_measure
BEGIN
    skipped := 0;
    refused := 0;
    LOOP
        ids := '{}';
        batches := '{}';
        SELECT p.ids, p.sources INTO v_picked, v_picked_sources FROM redrive._items_pick_around(v.no, v_busy, p_limit) p;
        IF v_picked = '{}' THEN
            SELECT p.batches, p.ids, p.sources, p.first, p.is_written_out
              INTO batches, v_picked, v_picked_sources, v_first, v_is_written_out FROM redrive._batches_pick(v.no, v_busy, v_most) p;
            CONTINUE WHEN v_is_written_out;
        END IF;
        EXIT WHEN v_picked = '{}';
        SELECT * INTO m FROM redrive._items_measure(v_picked, v_picked_sources, p_max_bytes);
        -- Batches are claimed whole. Where not all fit, try the first alone; if that does not fit either, claim its rows.
        IF batches <> '{}' AND cardinality(m.open) < cardinality(v_picked) THEN
            IF cardinality(batches) > 1 AND m.fit >= v_first THEN
                v_most := v_first;
                CONTINUE;
            END IF;
            PERFORM redrive._batches_write_out(v.no, batches[1:1]);
            batches := '{}';
        END IF;
        IF batches = '{}' AND cardinality(m.open) BETWEEN 1 AND v_few AND (m.fit < cardinality(v_picked) OR cardinality(v_picked) = p_limit)
           AND cardinality((redrive._items_small(m.open, array_fill(0, ARRAY[cardinality(m.open)]))).ids) < cardinality(m.open) THEN
            SELECT p.ids, p.sources INTO v_picked, v_picked_sources FROM redrive._chunk_pass(v.no, v_busy, p_limit) p;
            IF v_picked <> '{}' THEN
                SELECT * INTO m FROM redrive._items_measure(v_picked, v_picked_sources, p_max_bytes);
            END IF;
        END IF;
        ids := m.open;
        topics := m.topics;
        sources := m.sources;
        IF m.closed <> '{}' THEN
            PERFORM redrive._items_skip(v.no, m.closed, p_at);
            skipped := skipped + cardinality(m.closed);
        END IF;
        IF m.unreadable <> '{}' THEN
            PERFORM redrive._items_refuse(v.no, m.unreadable, m.reasons, p_at);
            refused := refused + cardinality(m.unreadable);
        END IF;
        EXIT WHEN ids <> '{}' OR clock_timestamp() > p_at + interval '2 s';
    END LOOP;
END $$;

-- Claim: queued events under the next sequence number. Events that somebody closed since the freeze are skipped, also where nothing is left to
-- claim; then seq is NULL and no chunk is made.
-- Plan: items, batches and events by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive.chunk_claim(p_cluster text, p_slot integer, p_fence bigint, p_operation bigint, p_chunk uuid, p_limit integer,
                                    p_max_bytes bigint, OUT seq bigint, OUT events integer, OUT skipped bigint, OUT created_at timestamptz,
                                    OUT rate integer, OUT requested_by name, OUT target_topic text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    s redrive.slot;
    v redrive.operation;
    n record; -- the events of the new chunk
BEGIN
    events := 0;
    skipped := 0;
    created_at := clock_timestamp();
    s := redrive._slot_lock(p_cluster, p_slot, p_fence);
    IF s.is_suspended OR EXISTS (SELECT FROM redrive.chunk c WHERE c.cluster = p_cluster AND c.slot = p_slot
                                                             AND c.state IN ('claimed', 'in doubt')) THEN
        RAISE EXCEPTION 'slot % has a chunk whose fate is not known yet', p_slot USING ERRCODE = 'RD001';
    END IF;
    SELECT * INTO v FROM redrive.operation o WHERE o.no = p_operation FOR UPDATE;
    IF NOT FOUND OR v.action <> 'reprocess' THEN
        RAISE EXCEPTION 'operation % is not one that is published', p_operation USING ERRCODE = 'RD002';
    END IF;
    rate := v.rate;
    requested_by := v.requested_by;
    target_topic := v.target_topic;
    p_limit := least(p_limit, redrive._allowance(v), CASE WHEN v.max_lag IS NOT NULL THEN (redrive._lag_room(v)).room END,
                     CASE WHEN v.policy IS NOT NULL THEN redrive._policy_topics_lock(v) END);
    IF v.state NOT IN ('frozen', 'running') OR v.rate = 0 OR v.send_after > created_at OR p_limit <= 0 THEN
        RETURN;
    END IF;

    SELECT * INTO n FROM redrive._chunk_choose(v, p_limit, p_max_bytes, created_at);
    events := cardinality(n.ids);
    skipped := n.skipped;
    IF events > 0 AND v.policy IS NOT NULL THEN
        PERFORM redrive._policy_topics_spend(v, events);
    END IF;
    IF events > 0 THEN
        UPDATE redrive.slot SET next_seq = next_seq + 1, lease_until = clock_timestamp() + interval '30 s'
         WHERE cluster = p_cluster AND no = p_slot RETURNING next_seq INTO seq;
        INSERT INTO redrive.chunk (id, cluster, slot, seq, fence, operation_no, events, dlq_ids, sources, topics, created_at, batches)
        VALUES (p_chunk, p_cluster, p_slot, seq, p_fence, p_operation, events, n.ids, n.sources,
                CASE WHEN v.target_topic IS NULL THEN n.topics ELSE ARRAY[v.target_topic] END, created_at, nullif(n.batches, '{}'));
        UPDATE redrive.operation_batch b SET state = 'claimed', at = created_at WHERE b.operation_no = p_operation AND b.no = ANY (n.batches);
    END IF;
    IF events + n.skipped + n.refused > 0 THEN
        UPDATE redrive.operation o
           SET state = 'running', state_note = NULL, started_at = coalesce(o.started_at, chunk_claim.created_at),
               queued = o.queued - events - n.skipped - n.refused, refused = o.refused + n.refused, claimed = o.claimed + events,
               skipped = o.skipped + n.skipped, changed = nextval('redrive.change')
         WHERE o.no = p_operation;
        PERFORM redrive._operation_finish(p_operation);
    END IF;
END $$;

-- Divides the events of a chunk into done, requeued and in doubt. p_published: as for chunk_finish.
CREATE OR REPLACE FUNCTION redrive._chunk_divide(p_ids bigint[], p_outcome text, p_published bigint[], OUT done bigint[], OUT requeued bigint[],
                                                 OUT in_doubt bigint[])
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    done := '{}';
    requeued := '{}';
    in_doubt := '{}';
    IF p_published IS NOT NULL THEN
        done := ARRAY(SELECT id FROM unnest(p_ids) AS id WHERE id = ANY (p_published) ORDER BY id);
        requeued := ARRAY(SELECT id FROM unnest(p_ids) AS id WHERE id <> ALL (p_published) ORDER BY id);
    ELSIF p_outcome = 'committed' THEN
        done := p_ids;
    ELSIF p_outcome = 'aborted' THEN
        requeued := p_ids;
    ELSE
        in_doubt := p_ids;
    END IF;
END $$;

-- The outcome in the slot's row and the chunk's own. p_is_marked: the chunk committed with its marker, which names it from now on.
CREATE OR REPLACE FUNCTION redrive._chunk_write(c redrive.chunk, p_outcome text, p_is_marked boolean, p_evidence text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.slot
       SET finished_seq = CASE WHEN p_is_marked THEN c.seq ELSE finished_seq END,
           finished_id = CASE WHEN p_is_marked THEN c.id ELSE finished_id END,
           marker_at = CASE WHEN p_is_marked THEN p_at ELSE marker_at END,
           is_suspended = p_outcome = 'in doubt', note = CASE WHEN p_outcome = 'in doubt' THEN p_evidence END,
           lease_until = clock_timestamp() + interval '30 s'
     WHERE cluster = c.cluster AND no = c.slot;
    UPDATE redrive.chunk SET state = p_outcome, decided_at = p_at, evidence = p_evidence WHERE id = c.id;
END $$;

-- The outcome in the items of a chunk (_chunk_divide). Raises unless they are as many as it claimed.
-- Plan: with the settings of _chunk_finish, its only caller.
CREATE OR REPLACE FUNCTION redrive._chunk_items(v redrive.operation, c redrive.chunk, p_done bigint[], p_requeued bigint[], p_in_doubt bigint[],
                                                p_evidence text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_items integer;
    v_more integer;
BEGIN
    IF c.batches IS NOT NULL AND p_requeued <> '{}' THEN
        UPDATE redrive.operation_batch
           SET state = CASE WHEN v.is_cancelling THEN 'cancelled' ELSE 'queued' END, at = p_at, tries = tries + 1
         WHERE operation_no = v.no AND no = ANY (c.batches) AND state = 'claimed';
        v_items := (SELECT sum(b.events) FROM redrive.operation_batch b WHERE b.operation_no = v.no AND b.no = ANY (c.batches));
    ELSE
        v_items := redrive._items_published(v, p_done, c.batches, c.created_at);
    END IF;
    UPDATE redrive.operation_item
       SET state = CASE WHEN v.is_cancelling THEN 'cancelled' ELSE 'queued' END, detail = NULL, at = p_at,
           attempt = attempt + (state = 'queued')::integer
     WHERE operation_no = v.no AND dlq_id = ANY (p_requeued) AND state IN ('queued', 'claimed', 'in doubt');
    GET DIAGNOSTICS v_more = ROW_COUNT;
    v_items := v_items + v_more;
    UPDATE redrive.operation_item SET state = 'in doubt', at = p_at, detail = p_evidence, attempt = attempt + (state = 'queued')::integer
     WHERE operation_no = v.no AND dlq_id = ANY (p_in_doubt) AND state IN ('queued', 'claimed');
    GET DIAGNOSTICS v_more = ROW_COUNT;
    IF v_items + v_more <> c.events THEN
        RAISE EXCEPTION 'chunk % was claimed with % events and finishes %', c.id, c.events, v_items + v_more;
    END IF;
END $$;

-- Writes down what became of a chunk; the caller holds its slot's row. p_published: NULL for a chunk that was decided as a whole.
-- Otherwise the ids that a complete scan for its header found; the slot then gets other names, because its marker no longer tells the truth.
-- Plan: items, batches and events by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive._chunk_finish(p_cluster text, p_slot integer, p_chunk uuid, p_outcome text, p_evidence text,
                                                 p_published bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_is_marked boolean := p_outcome = 'committed' AND p_published IS NULL;
    c redrive.chunk;
    v redrive.operation;
    p record; -- its events: done, requeued, in_doubt
BEGIN
    -- A requeued chunk must not miss a cancel, so it locks the operation first. A published one concerns only itself: another slot may claim
    -- meanwhile, and the operation's row is locked last, for its counters.
    SELECT o.* INTO v FROM redrive.operation o WHERE o.no = (SELECT operation_no FROM redrive.chunk WHERE id = p_chunk);
    IF NOT v_is_marked THEN
        SELECT o.* INTO v FROM redrive.operation o WHERE o.no = v.no FOR UPDATE;
    END IF;
    SELECT * INTO c FROM redrive.chunk
     WHERE id = p_chunk AND cluster = p_cluster AND slot = p_slot
       AND (state = 'claimed' OR state = 'in doubt' AND p_published IS NOT NULL) FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'chunk % is not one that waits for its outcome', p_chunk USING ERRCODE = 'RD001';
    ELSIF p_outcome NOT IN ('committed', 'aborted', 'in doubt') THEN
        RAISE EXCEPTION 'a chunk cannot become %', p_outcome USING ERRCODE = 'RD004';
    END IF;

    SELECT * INTO p FROM redrive._chunk_divide(c.dlq_ids, p_outcome, p_published);
    PERFORM redrive._chunk_write(c, p_outcome, v_is_marked, p_evidence, v_now);
    IF c.batches IS NOT NULL AND (p.in_doubt <> '{}' OR p_published IS NOT NULL) THEN
        PERFORM redrive._batches_write_out(v.no, c.batches);
        c.batches := NULL;
    END IF;
    PERFORM redrive._chunk_items(v, c, p.done, p.requeued, p.in_doubt, p_evidence, v_now);

    UPDATE redrive.operation
       SET claimed = claimed - CASE WHEN c.state = 'in doubt' THEN 0 ELSE c.events END,
           in_doubt = in_doubt - CASE WHEN c.state = 'in doubt' THEN c.events ELSE 0 END + cardinality(p.in_doubt),
           done = done + cardinality(p.done),
           queued = queued + CASE WHEN is_cancelling THEN 0 ELSE cardinality(p.requeued) END,
           cancelled = cancelled + CASE WHEN is_cancelling THEN cardinality(p.requeued) ELSE 0 END,
           state_note = CASE WHEN state = 'running' AND c.state = 'claimed' AND p.done <> '{}' THEN NULL ELSE state_note END,
           changed = nextval('redrive.change')
     WHERE no = v.no;
    PERFORM redrive._audit('finish', v.no, c.events, NULL,
        format('%s: %s published, %s requeued, %s in doubt; slot %s seq %s: %s', p_outcome, cardinality(p.done), cardinality(p.requeued),
               cardinality(p.in_doubt), p_slot, c.seq, p_evidence));
    PERFORM redrive._operation_finish(v.no);
    PERFORM redrive._operation_judge(v.no, 0);
    IF p_published IS NOT NULL THEN
        PERFORM redrive._slot_retire(p_cluster, p_slot, 'its last chunk was decided without its marker: ' || p_evidence);
    END IF;
END $$;

-- Finish, after the publish or after resolve, by the slot's holder. A chunk that waits for a person's decision is not his to finish.
CREATE OR REPLACE FUNCTION redrive.chunk_finish(p_cluster text, p_slot integer, p_fence bigint, p_chunk uuid, p_outcome text, p_evidence text,
                                     p_published bigint[]) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_slot, p_fence);
    IF EXISTS (SELECT FROM redrive.chunk c WHERE c.id = p_chunk AND c.needs_person) THEN
        RAISE EXCEPTION 'chunk % is decided by an administrator', p_chunk USING ERRCODE = 'RD003';
    END IF;
    PERFORM redrive._chunk_finish(p_cluster, p_slot, p_chunk, p_outcome, p_evidence, p_published);
    RETURN QUERY SELECT s.* FROM redrive.slot s WHERE s.cluster = p_cluster AND s.no = p_slot;
END $$;

-- Finish of a chunk that its publisher saw committed: with the places of its records (_sent_note).
CREATE OR REPLACE FUNCTION redrive.chunk_published(p_cluster text, p_slot integer, p_fence bigint, p_chunk uuid, p_evidence text, p_topics text[],
                                        p_partitions integer[], p_consumers text[], p_lows bigint[], p_counts integer[], p_ids bigint[],
                                        p_offsets integer[]) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_slot, p_fence);
    IF (SELECT sum(n) FROM unnest(p_counts) AS n) <> cardinality(p_ids) OR cardinality(p_offsets) <> cardinality(p_ids)
       OR EXISTS (SELECT unnest(p_ids) EXCEPT SELECT unnest(c.dlq_ids) FROM redrive.chunk c
                   WHERE c.id = p_chunk AND c.cluster = p_cluster AND c.slot = p_slot) THEN
        RAISE EXCEPTION 'chunk % does not hold these events', p_chunk USING ERRCODE = 'RD004';
    END IF;
    PERFORM redrive._sent_note(p_cluster, c.operation_no, p_chunk, p_topics, p_partitions, p_consumers, p_lows, p_counts, p_ids, p_offsets)
       FROM redrive.chunk c WHERE c.id = p_chunk;
    RETURN QUERY SELECT * FROM redrive.chunk_finish(p_cluster, p_slot, p_fence, p_chunk, 'committed', p_evidence, NULL);
END $$;

-- Which topics its records go to, and where they end, before the first one is sent. Not worth waiting for a disk: without it a search begins by
-- time. But a topic that the claim did not know, since only a dead letter names it, is worth it: a search that passes it by would prove that nothing
-- was sent. Topics of rows to which nothing goes are forgotten: one that is gone or may not be read would leave the chunk to a person.
CREATE OR REPLACE FUNCTION redrive.chunk_ends(p_cluster text, p_slot integer, p_fence bigint, p_chunk uuid, p_ends text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_operation bigint;
    v_new text[]; -- topics
BEGIN
    SELECT c.operation_no, ARRAY(SELECT DISTINCT split_part(w, ' ', 1) FROM unnest(p_ends) AS w WHERE split_part(w, ' ', 1) <> ALL (coalesce(c.topics, '{}')))
      INTO v_operation, v_new FROM redrive.chunk c WHERE c.id = p_chunk;
    PERFORM set_config('synchronous_commit', CASE WHEN v_new <> '{}' THEN 'on' ELSE 'off' END, true);
    IF v_new <> '{}' THEN
        UPDATE redrive.operation o SET lag_topics = ARRAY(SELECT unnest(o.lag_topics) UNION SELECT unnest(v_new))
         WHERE o.no = v_operation AND o.max_lag IS NOT NULL AND NOT coalesce(o.lag_topics, '{}') @> v_new;
    END IF;
    UPDATE redrive.chunk c SET ends = p_ends, topics = ARRAY(SELECT DISTINCT split_part(w, ' ', 1) FROM unnest(p_ends) AS w) FROM redrive.slot s
     WHERE c.id = p_chunk AND c.cluster = p_cluster AND c.slot = p_slot AND c.state = 'claimed'
       AND s.cluster = p_cluster AND s.no = p_slot AND s.fence = p_fence AND redrive._slot_is_mine(s);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'slot % was taken over by another worker', p_slot USING ERRCODE = 'RD001';
    END IF;
END $$;

-- Events that cannot be published leave the operation with their reason, and stay pending. Only queued items are refused.
-- Plan: items by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive.items_refuse(p_cluster text, p_slot integer, p_fence bigint, p_operation bigint, p_ids bigint[], p_reasons text[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE v_refused bigint;
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_slot, p_fence);
    PERFORM FROM redrive.operation WHERE no = p_operation FOR UPDATE;
    PERFORM redrive._batches_write_out_of(p_operation, p_ids);
    UPDATE redrive.operation_item SET state = 'refused', at = clock_timestamp(), detail = p_reasons[array_position(p_ids, dlq_id)]
     WHERE operation_no = p_operation AND dlq_id = ANY (p_ids) AND state = 'queued'
       AND dlq_id NOT IN (SELECT redrive._in_flight(p_operation));
    GET DIAGNOSTICS v_refused = ROW_COUNT;
    IF v_refused > 0 THEN
        UPDATE redrive.operation SET queued = queued - v_refused, refused = refused + v_refused, changed = nextval('redrive.change')
         WHERE no = p_operation;
        PERFORM redrive._audit('refuse', p_operation, v_refused, NULL, p_reasons[1]);
        PERFORM redrive._operation_finish(p_operation);
        -- These are part of a requeued chunk: the share is judged out of all its events.
        PERFORM redrive._operation_judge(p_operation, coalesce((SELECT greatest(0, c.events - v_refused) FROM redrive.chunk c
                                                       WHERE c.cluster = p_cluster AND c.slot = p_slot AND c.operation_no = p_operation
                                                       ORDER BY c.seq DESC LIMIT 1), 0));
    END IF;
    RETURN v_refused;
END $$;
