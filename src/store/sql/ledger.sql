-- PostgreSQL's half of the publish protocol: slots, fences, chunks. Letters A to H are those of the protocol.
--
-- Every function names the slot and the fence its caller holds; when the fence has moved it changes nothing and raises RD001. A lease
-- says only who is likely alive; what is safe rests on the fence here and on the producer epoch in Kafka.

CREATE OR REPLACE FUNCTION redrive._txn_id(p_install uuid, p_cluster text, p_no integer, p_generation integer) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT format('redrive.%s.%s.%s', p_install, p_cluster, p_no) || CASE WHEN p_generation > 1 THEN '.g' || p_generation ELSE '' END;
$$;

-- Takes the slot's row lock; the first thing every fenced write does.
CREATE OR REPLACE FUNCTION redrive._slot_lock(p_cluster text, p_no integer, p_fence bigint) RETURNS redrive.slot
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.slot;
BEGIN
    SELECT * INTO v FROM redrive.slot WHERE cluster = p_cluster AND no = p_no AND fence = p_fence FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'slot % was taken over by another worker', p_no USING ERRCODE = 'RD001';
    END IF;
    -- A claim or a settle that was acknowledged must be there after a crash, whatever the role or the database is set to.
    PERFORM set_config('synchronous_commit', 'on', true);
    RETURN v;
END $$;

-- May this worker take the slot? Its lease has ended, or it is the worker's own, or the session that took it is gone: then so is its holder, or
-- it has begun again at A. Should that be wrong, it costs a takeover: fence and epoch keep it safe.
CREATE OR REPLACE FUNCTION redrive.slot_is_free(p_slot redrive.slot, p_worker text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_slot.lease_until < clock_timestamp() OR p_slot.holder = p_worker
        OR p_slot.holder_pid IS NOT NULL
           AND NOT EXISTS (SELECT FROM pg_stat_activity a
                            WHERE a.pid = p_slot.holder_pid
                              AND coalesce(a.backend_start = p_slot.holder_since, true)); -- not allowed to see it: take it for alive
$$;

-- Was its marker written so long ago that it is to be written again? Kafka forgets it after offsets.retention.minutes, a week by default.
CREATE OR REPLACE FUNCTION redrive.slot_is_old(p_slot redrive.slot) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_slot.is_provisioned AND NOT p_slot.quarantined AND p_slot.marker_at < clock_timestamp() - interval '24 h';
$$;

-- A. A slot that nobody holds, those with an unfinished chunk first: recovery is everybody's work. p_mine: slots the caller works with
-- already. p_quarantined: instead a slot whose chunk is in doubt, for the procedure that decides it. p_session: the server process that the
-- caller's connection was made to; behind a pooler it is not the one that runs this, and the lease alone tells whether the holder is alive.
CREATE OR REPLACE FUNCTION redrive.slot_acquire(p_cluster text, p_worker text, p_mine integer[], p_quarantined boolean, p_session integer)
RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_no integer;
BEGIN
    IF redrive.is_copy() THEN
        RAISE EXCEPTION 'this database is a copy of the one that redrive was installed in, so it must not publish' USING ERRCODE = 'RD003',
            HINT = 'if the original is gone or this shall be an install of its own: redrive migrate --adopt';
    END IF;
    PERFORM set_config('synchronous_commit', 'on', true);
    IF NOT EXISTS (SELECT FROM redrive.slot WHERE cluster = p_cluster) THEN
        INSERT INTO redrive.slot (cluster, no, txn_id, settled_id)
        SELECT p_cluster, n, redrive._txn_id(i.id, p_cluster, n, 1), i.id FROM redrive.install i, generate_series(0, 15) AS n
        ON CONFLICT DO NOTHING;
    END IF;
    SELECT s.no INTO v_no FROM redrive.slot s
     WHERE s.cluster = p_cluster AND s.quarantined = p_quarantined AND s.no <> ALL (p_mine)
       AND redrive.slot_is_free(s, p_worker)
       AND (NOT p_quarantined OR EXISTS (SELECT FROM redrive.chunk c WHERE c.cluster = s.cluster AND c.slot = s.no AND c.state = 'in doubt'
                                                                   AND NOT c.needs_person))
     ORDER BY EXISTS (SELECT FROM redrive.chunk c
                       WHERE c.cluster = s.cluster AND c.slot = s.no AND c.state IN ('claimed', 'in doubt')) DESC,
              redrive.slot_is_old(s) DESC, random()
     LIMIT 1 FOR UPDATE OF s SKIP LOCKED;
    RETURN QUERY UPDATE redrive.slot s
                    SET fence = s.fence + 1, holder = p_worker, lease_until = clock_timestamp() + interval '30 s',
                        holder_pid = CASE WHEN p_session = pg_backend_pid() THEN p_session END,
                        holder_since = (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = p_session AND p_session = pg_backend_pid())
                  WHERE s.cluster = p_cluster AND s.no = v_no
              RETURNING s.*;
END $$;

CREATE OR REPLACE FUNCTION redrive.slot_heartbeat(p_cluster text, p_no integer, p_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.slot SET lease_until = clock_timestamp() + interval '30 s'
     WHERE cluster = p_cluster AND no = p_no AND fence = p_fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'slot % was taken over by another worker', p_no USING ERRCODE = 'RD001';
    END IF;
END $$;

-- The marker (settled_seq, settled_id) is in Kafka now.
CREATE OR REPLACE FUNCTION redrive.slot_provisioned(p_cluster text, p_no integer, p_fence bigint) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_at timestamptz := clock_timestamp();
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    UPDATE redrive.slot SET is_provisioned = true, marker_at = v_at WHERE cluster = p_cluster AND no = p_no;
    RETURN v_at;
END $$;

CREATE OR REPLACE FUNCTION redrive.slot_release(p_cluster text, p_no integer, p_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    IF EXISTS (SELECT FROM redrive.chunk WHERE cluster = p_cluster AND slot = p_no AND state = 'claimed') THEN
        RAISE EXCEPTION 'slot % has a chunk whose fate is not known yet', p_no USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.slot SET lease_until = clock_timestamp() - interval '1 ms', holder = NULL, holder_pid = NULL, holder_since = NULL
     WHERE cluster = p_cluster AND no = p_no;
END $$;

CREATE OR REPLACE FUNCTION redrive.slot_quarantine(p_cluster text, p_no integer, p_fence bigint, p_evidence text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    UPDATE redrive.slot SET quarantined = true, note = p_evidence WHERE cluster = p_cluster AND no = p_no;
    PERFORM redrive._audit('quarantine', NULL, 0, NULL, format('%s slot %s: %s', p_cluster, p_no, p_evidence));
END $$;

-- Next generation, new names in Kafka, no marker yet. Sequence numbers go on, so that a chunk's number stays its own.
CREATE OR REPLACE FUNCTION redrive._slot_retire(p_cluster text, p_no integer, p_why text) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._audit('retire', NULL, 0, NULL, format('%s slot %s: %s', p_cluster, p_no, p_why));
    RETURN QUERY UPDATE redrive.slot s
                    SET generation = s.generation + 1, txn_id = redrive._txn_id(i.id, s.cluster, s.no, s.generation + 1), settled_seq = 0,
                        settled_id = i.id, is_provisioned = false, quarantined = false, note = p_why, marker_at = NULL
                   FROM redrive.install i
                  WHERE s.cluster = p_cluster AND s.no = p_no
              RETURNING s.*;
END $$;

CREATE OR REPLACE FUNCTION redrive.slot_retire(p_cluster text, p_no integer, p_fence bigint, p_why text) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_no, p_fence);
    IF EXISTS (SELECT FROM redrive.chunk WHERE cluster = p_cluster AND slot = p_no AND state IN ('claimed', 'in doubt')) THEN
        RAISE EXCEPTION 'slot % has a chunk whose fate is not known yet', p_no USING ERRCODE = 'RD001';
    END IF;
    RETURN QUERY SELECT * FROM redrive._slot_retire(p_cluster, p_no, p_why);
END $$;

-- The same around sources that another chunk is busy with, so that order within a source partition survives two slots that take turns: first
-- those above the busy ones, then from the start.
CREATE OR REPLACE FUNCTION redrive._items_pick_around(p_operation bigint, p_busy integer[], p_limit integer, OUT ids bigint[], OUT sources integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off AS $$
DECLARE
    v_more bigint[];
    v_source bigint;
    v_last bigint := (SELECT max(b) FROM unnest(p_busy) AS b);
BEGIN
    SELECT p.ids, p.sources INTO ids, sources FROM redrive._items_pick(p_operation, coalesce(v_last, -2147483649), p_limit) p;
    IF cardinality(ids) > 0 OR v_last IS NULL THEN
        RETURN;
    END IF;
    v_last := -2147483649;
    LOOP -- from source to source, past those that are busy, without reading their items
        SELECT i.source INTO v_source FROM redrive.operation_item i
         WHERE i.operation_no = p_operation AND i.is_due AND i.state = 'queued' AND i.source > v_last ORDER BY i.source LIMIT 1;
        EXIT WHEN NOT FOUND OR cardinality(ids) >= p_limit;
        v_last := v_source;
        CONTINUE WHEN v_source = ANY (p_busy);
        WITH pick AS MATERIALIZED (
            SELECT event_id FROM redrive.operation_item
             WHERE operation_no = p_operation AND is_due AND state = 'queued' AND source = v_source
               AND (source <> 0 OR event_id NOT IN (SELECT redrive._in_hand(p_operation)))
             ORDER BY source_offset, event_id LIMIT p_limit - cardinality(ids))
        SELECT coalesce(array_agg(event_id), '{}') INTO v_more FROM pick;
        ids := ids || v_more;
        sources := sources || array_fill(v_source::integer, ARRAY[cardinality(v_more)]);
    END LOOP;
END $$;

-- Of these items those whose payload PostgreSQL itself cannot give: they are refused with its words, so that they do not stop the others. One by
-- one: it is asked for only when a claim has failed. Returns how many there were.
CREATE OR REPLACE FUNCTION redrive._items_unreadable(p_operation bigint, p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_id bigint;
    v_refused bigint := 0;
BEGIN
    FOREACH v_id IN ARRAY p_ids LOOP
        BEGIN
            PERFORM octet_length(e.event_payload::text) FROM :"events" e
              WHERE e.id = v_id AND NOT EXISTS (SELECT FROM redrive.revision r WHERE r.event_id = v_id)
                AND NOT EXISTS (SELECT FROM redrive.record r WHERE r.event_id = v_id); -- else another is sent
        EXCEPTION WHEN program_limit_exceeded OR data_corrupted OR index_corrupted OR internal_error OR data_exception OR out_of_memory THEN
            UPDATE redrive.operation_item SET state = 'refused', at = clock_timestamp(), detail = 'the payload cannot be read: ' || SQLERRM
             WHERE operation_no = p_operation AND event_id = v_id;
            v_refused := v_refused + 1;
        END;
    END LOOP;
    IF v_refused > 0 THEN
        PERFORM redrive._audit('refuse', p_operation, v_refused, NULL, 'the payload cannot be read');
    END IF;
    RETURN v_refused;
END $$;

-- How many bytes each has to send, and whether it is open, without unpacking what is small: a large jsonb is compressed, so its text is measured.
-- Of those that are open and fit: their ids in order, their topics, their sources but for 0.
CREATE OR REPLACE FUNCTION redrive._items_measure(p_picked bigint[], p_sources integer[], p_max_bytes bigint, OUT open bigint[], OUT closed bigint[],
                                                  OUT topics text[], OUT sources integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_are_revised boolean := EXISTS (SELECT FROM redrive.revision); -- asked once, not for every item
    v_are_kept boolean := EXISTS (SELECT FROM redrive.record);
BEGIN
    WITH sized AS (
        SELECT w.id, w.n, w.source, e.status = 'PENDING' AS is_open, e.kafka_topic::text AS topic,
               CASE WHEN e.status <> 'PENDING' THEN 0
                    ELSE coalesce(CASE WHEN v_are_revised THEN (SELECT octet_length(r.payload) FROM redrive.revision r
                                                                 WHERE r.event_id = w.id ORDER BY r.no DESC LIMIT 1) END,
                                  CASE WHEN v_are_kept THEN (SELECT coalesce(octet_length(r.value), 0) FROM redrive.record r
                                                              WHERE r.event_id = w.id) END,
                                  CASE WHEN pg_column_size(e.event_payload) > 1500 THEN octet_length(e.event_payload::text)
                                       ELSE pg_column_size(e.event_payload) END) END AS size
          FROM unnest(p_picked, p_sources) WITH ORDINALITY AS w(id, source, n)
          LEFT JOIN LATERAL (SELECT x.status, x.event_payload, x.kafka_topic FROM :"events" x WHERE x.id = w.id OFFSET 0) e ON true),
    summed AS MATERIALIZED (SELECT id, source, coalesce(is_open, false) AS is_open, topic, sum(size) OVER (ORDER BY n) - size AS before FROM sized),
    fits AS MATERIALIZED (SELECT id, source, topic FROM summed WHERE is_open AND before < p_max_bytes)
    SELECT ARRAY(SELECT id FROM fits ORDER BY id), ARRAY(SELECT id FROM summed WHERE NOT is_open ORDER BY id),
           ARRAY(SELECT DISTINCT topic FROM fits WHERE topic IS NOT NULL), ARRAY(SELECT DISTINCT source FROM fits WHERE source <> 0)
      INTO open, closed, topics, sources;
END $$;

-- E. Claims queued items under the next sequence number. Events that somebody closed since the freeze become conflicts, also where
-- nothing is left to claim; then seq is NULL and no chunk is made.
CREATE OR REPLACE FUNCTION redrive.chunk_claim(p_cluster text, p_slot integer, p_fence bigint, p_operation bigint, p_chunk uuid, p_limit integer,
                                    p_max_bytes bigint, OUT seq bigint, OUT events integer, OUT conflicts bigint, OUT created_at timestamptz,
                                    OUT rate integer, OUT requested_by name, OUT target_topic text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    s redrive.slot;
    v redrive.operation;
    v_picked bigint[];
    v_picked_sources integer[];
    v_open bigint[];
    v_closed bigint[];
    v_busy integer[];
    v_topics text[];
    v_sources integer[];
    v_blocks integer[];
    v_first bigint; -- events of the first of them
    v_is_written_out boolean;
    v_most bigint;
    v_unreadable bigint;
    v_refused bigint := 0;
BEGIN
    events := 0;
    conflicts := 0;
    created_at := clock_timestamp();
    s := redrive._slot_lock(p_cluster, p_slot, p_fence);
    IF s.quarantined OR EXISTS (SELECT FROM redrive.chunk c WHERE c.cluster = p_cluster AND c.slot = p_slot
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
    p_limit := least(p_limit, redrive._allowance(v));
    IF v.state NOT IN ('frozen', 'running') OR v.rate = 0 OR v.send_after > created_at OR p_limit <= 0 THEN
        RETURN;
    END IF;

    v_busy := ARRAY(SELECT DISTINCT b FROM redrive.chunk c, unnest(c.sources) AS b
                     WHERE c.operation_no = p_operation AND c.state = 'claimed');
    v_most := p_limit;
    LOOP
        v_blocks := '{}';
        SELECT p.ids, p.sources INTO v_picked, v_picked_sources FROM redrive._items_pick_around(p_operation, v_busy, p_limit) p;
        IF v_picked = '{}' THEN
            SELECT p.blocks, p.ids, p.sources, p.first, p.is_written_out
              INTO v_blocks, v_picked, v_picked_sources, v_first, v_is_written_out FROM redrive._blocks_pick(p_operation, v_busy, v_most) p;
            CONTINUE WHEN v_is_written_out;
        END IF;
        EXIT WHEN v_picked = '{}';
        BEGIN
            SELECT m.open, m.closed, m.topics, m.sources INTO v_open, v_closed, v_topics, v_sources
              FROM redrive._items_measure(v_picked, v_picked_sources, p_max_bytes) m;
        EXCEPTION WHEN program_limit_exceeded OR data_corrupted OR index_corrupted OR internal_error OR data_exception OR out_of_memory THEN
            IF v_blocks <> '{}' THEN
                PERFORM redrive._blocks_write_out(p_operation, v_blocks[1:1]);
                CONTINUE;
            END IF;
            v_unreadable := redrive._items_unreadable(p_operation, v_picked);
            IF v_unreadable = 0 THEN
                RAISE; -- something else
            END IF;
            v_refused := v_refused + v_unreadable;
            CONTINUE;
        END;
        -- Blocks are claimed whole: else the first alone, or what it was made of.
        IF cardinality(v_blocks) > 1 AND cardinality(v_open) < cardinality(v_picked) THEN
            v_most := v_first;
            CONTINUE;
        ELSIF v_blocks <> '{}' AND cardinality(v_open) < cardinality(v_picked) THEN
            PERFORM redrive._blocks_write_out(p_operation, v_blocks);
            v_blocks := '{}';
        END IF;
        IF cardinality(v_closed) > 0 THEN
            UPDATE redrive.operation_item i SET state = 'conflict', at = created_at,
                   detail = redrive._closed((SELECT e.status FROM :"events" e WHERE e.id = i.event_id),
                                            (SELECT e.resolved_by FROM :"events" e WHERE e.id = i.event_id),
                                            (SELECT e.resolved_at FROM :"events" e WHERE e.id = i.event_id))
             WHERE i.operation_no = p_operation AND i.event_id = ANY (v_closed);
            conflicts := conflicts + cardinality(v_closed);
        END IF;
        EXIT WHEN cardinality(v_open) > 0;
    END LOOP;

    IF coalesce(cardinality(v_open), 0) > 0 THEN
        events := cardinality(v_open);
        UPDATE redrive.slot SET next_seq = next_seq + 1, lease_until = clock_timestamp() + interval '30 s'
         WHERE cluster = p_cluster AND no = p_slot RETURNING next_seq INTO seq;
        INSERT INTO redrive.chunk (id, cluster, slot, seq, fence, operation_no, events, event_ids, sources, topics, created_at, blocks)
        VALUES (p_chunk, p_cluster, p_slot, seq, p_fence, p_operation, events, v_open, v_sources,
                CASE WHEN v.target_topic IS NULL THEN v_topics ELSE ARRAY[v.target_topic] END, created_at, nullif(v_blocks, '{}'));
        UPDATE redrive.operation_block b SET state = 'claimed', at = created_at WHERE b.operation_no = p_operation AND b.no = ANY (v_blocks);
    END IF;
    IF events + conflicts + v_refused > 0 THEN
        UPDATE redrive.operation o
           SET state = 'running', started_at = coalesce(o.started_at, chunk_claim.created_at), queued = o.queued - events - conflicts - v_refused,
               refused = o.refused + v_refused, claimed = o.claimed + events, conflict = o.conflict + conflicts, changed = nextval('redrive.change')
         WHERE o.no = p_operation;
        PERFORM redrive._finish(p_operation);
    END IF;
END $$;

-- What is published: the event is closed where nobody closed it meanwhile, the item is done in any case. p_blocks: these are all events of these
-- blocks; NULL: rows. p_sent: when they were claimed, so that whatever comes back is younger than its item, however quick the consumer. Returns
-- the number of items.
CREATE OR REPLACE FUNCTION redrive._items_published(v redrive.operation, p_ids bigint[], p_blocks integer[], p_sent timestamptz) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_wall timestamp := redrive._wall(clock_timestamp());
    v_closed bigint[];
    v_items integer;
    v_more integer := 0;
BEGIN
    WITH changed AS (
        UPDATE :"events" e
           SET status = 'RESOLVED', resolved_at = v_wall, resolved_by = left(v.requested_by::text, 50),
               retry_count = coalesce(e.retry_count, 0) + 1, last_retry_at = v_wall
         WHERE e.id = ANY (p_ids) AND coalesce(e.status, '') = 'PENDING' RETURNING e.id)
    SELECT coalesce(array_agg(id), '{}') INTO v_closed FROM changed;
    PERFORM redrive._backlog_note(v_closed);
    IF p_blocks IS NOT NULL AND cardinality(v_closed) = cardinality(p_ids) THEN
        WITH changed AS (
            UPDATE redrive.operation_block b SET state = 'done', at = p_sent, tries = b.tries + 1
             WHERE b.operation_no = v.no AND b.no = ANY (p_blocks) AND b.state = 'claimed' RETURNING b.events)
        SELECT sum(events) INTO v_items FROM changed;
        PERFORM redrive._marks_add(v.no, p_blocks);
        RETURN v_items;
    ELSIF p_blocks IS NOT NULL THEN
        PERFORM redrive._blocks_write_out(v.no, p_blocks);
    END IF;
    UPDATE redrive.operation_item i SET state = 'done', at = p_sent, attempt = i.attempt + (i.state = 'queued')::integer
     WHERE operation_no = v.no AND event_id = ANY (v_closed) AND state IN ('queued', 'claimed', 'held');
    GET DIAGNOSTICS v_items = ROW_COUNT;
    IF cardinality(v_closed) < cardinality(p_ids) THEN
        UPDATE redrive.operation_item i SET state = 'done', at = p_sent, attempt = i.attempt + (i.state = 'queued')::integer,
               detail = 'published, and meanwhile ' || redrive._closed((SELECT e.status FROM :"events" e WHERE e.id = i.event_id),
                                                                       (SELECT e.resolved_by FROM :"events" e WHERE e.id = i.event_id),
                                                                       (SELECT e.resolved_at FROM :"events" e WHERE e.id = i.event_id))
         WHERE operation_no = v.no AND event_id = ANY (p_ids) AND event_id <> ALL (v_closed) AND state IN ('queued', 'claimed', 'held');
        GET DIAGNOSTICS v_more = ROW_COUNT;
    END IF;
    RETURN v_items + v_more;
END $$;

-- G and D. Writes down what became of a chunk. p_published: NULL for a chunk that was decided as a whole; else, by a complete scan for its
-- header, the ids that were found, and the slot gets new names because its marker no longer tells the truth.
CREATE OR REPLACE FUNCTION redrive.chunk_settle(p_cluster text, p_slot integer, p_fence bigint, p_chunk uuid, p_outcome text, p_evidence text,
                                     p_published bigint[]) RETURNS SETOF redrive.slot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    c redrive.chunk;
    v redrive.operation;
    v_ids bigint[];
    v_was_held boolean;
    v_done bigint[] := '{}';
    v_back bigint[] := '{}';
    v_held bigint[] := '{}';
    v_items integer;
    v_more integer;
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_slot, p_fence);
    -- What goes back to the queue must not miss a cancel. A chunk that was published concerns nobody but itself, so while it is written
    -- down another slot may claim: the operation's row is locked last, for its counters.
    IF p_outcome = 'committed' AND p_published IS NULL THEN
        SELECT o.* INTO v FROM redrive.operation o WHERE o.no = (SELECT operation_no FROM redrive.chunk WHERE id = p_chunk);
    ELSE
        SELECT o.* INTO v FROM redrive.operation o WHERE o.no = (SELECT operation_no FROM redrive.chunk WHERE id = p_chunk) FOR UPDATE;
    END IF;
    SELECT * INTO c FROM redrive.chunk
     WHERE id = p_chunk AND cluster = p_cluster AND slot = p_slot
       AND (state = 'claimed' OR state = 'in doubt' AND p_published IS NOT NULL) FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'chunk % is not one that waits for its outcome', p_chunk USING ERRCODE = 'RD001';
    ELSIF p_outcome NOT IN ('committed', 'aborted', 'in doubt') THEN
        RAISE EXCEPTION 'a chunk cannot become %', p_outcome USING ERRCODE = 'RD004';
    END IF;
    v_was_held := c.state = 'in doubt';
    v_ids := c.event_ids;

    IF p_published IS NOT NULL THEN
        v_done := ARRAY(SELECT id FROM unnest(v_ids) AS id WHERE id = ANY (p_published) ORDER BY id);
        v_back := ARRAY(SELECT id FROM unnest(v_ids) AS id WHERE id <> ALL (p_published) ORDER BY id);
    ELSIF p_outcome = 'committed' THEN
        v_done := v_ids;
    ELSIF p_outcome = 'aborted' THEN
        v_back := v_ids;
    ELSE
        v_held := v_ids;
    END IF;

    UPDATE redrive.slot
       SET settled_seq = CASE WHEN p_outcome = 'committed' AND p_published IS NULL THEN c.seq ELSE settled_seq END,
           settled_id = CASE WHEN p_outcome = 'committed' AND p_published IS NULL THEN c.id ELSE settled_id END,
           marker_at = CASE WHEN p_outcome = 'committed' AND p_published IS NULL THEN v_now ELSE marker_at END,
           quarantined = p_outcome = 'in doubt', note = CASE WHEN p_outcome = 'in doubt' THEN p_evidence END,
           lease_until = clock_timestamp() + interval '30 s'
     WHERE cluster = p_cluster AND no = p_slot;
    UPDATE redrive.chunk SET state = p_outcome, decided_at = v_now, evidence = p_evidence WHERE id = p_chunk;

    IF c.blocks IS NOT NULL AND (v_held <> '{}' OR p_published IS NOT NULL) THEN
        PERFORM redrive._blocks_write_out(v.no, c.blocks);
        c.blocks := NULL;
    END IF;
    IF c.blocks IS NOT NULL AND v_back <> '{}' THEN
        UPDATE redrive.operation_block
           SET state = CASE WHEN v.is_cancelling THEN 'cancelled' ELSE 'queued' END, at = v_now, tries = tries + 1
         WHERE operation_no = v.no AND no = ANY (c.blocks) AND state = 'claimed';
        v_items := (SELECT sum(b.events) FROM redrive.operation_block b WHERE b.operation_no = v.no AND b.no = ANY (c.blocks));
    ELSE
        v_items := redrive._items_published(v, v_done, c.blocks, c.created_at);
    END IF;
    UPDATE redrive.operation_item
       SET state = CASE WHEN v.is_cancelling THEN 'cancelled' ELSE 'queued' END, detail = NULL, at = v_now,
           attempt = attempt + (state = 'queued')::integer
     WHERE operation_no = v.no AND event_id = ANY (v_back) AND state IN ('queued', 'claimed', 'held');
    GET DIAGNOSTICS v_more = ROW_COUNT;
    v_items := v_items + v_more;
    UPDATE redrive.operation_item SET state = 'held', at = v_now, detail = p_evidence, attempt = attempt + (state = 'queued')::integer
     WHERE operation_no = v.no AND event_id = ANY (v_held) AND state IN ('queued', 'claimed');
    GET DIAGNOSTICS v_more = ROW_COUNT;
    IF v_items + v_more <> c.events THEN
        RAISE EXCEPTION 'chunk % was claimed with % events and settles %', p_chunk, c.events, v_items + v_more;
    END IF;

    UPDATE redrive.operation
       SET claimed = claimed - CASE WHEN v_was_held THEN 0 ELSE c.events END,
           held = held - CASE WHEN v_was_held THEN c.events ELSE 0 END + cardinality(v_held),
           done = done + cardinality(v_done),
           queued = queued + CASE WHEN is_cancelling THEN 0 ELSE cardinality(v_back) END,
           cancelled = cancelled + CASE WHEN is_cancelling THEN cardinality(v_back) ELSE 0 END,
           changed = nextval('redrive.change')
     WHERE no = v.no;
    PERFORM redrive._audit('settle', v.no, c.events, NULL,
        format('%s: %s published, %s back, %s held; slot %s seq %s: %s', p_outcome, cardinality(v_done), cardinality(v_back),
               cardinality(v_held), p_slot, c.seq, p_evidence));
    PERFORM redrive._finish(v.no);
    PERFORM redrive._watch(v.no, 0);
    IF p_published IS NOT NULL THEN
        PERFORM redrive._slot_retire(p_cluster, p_slot, 'its last chunk was decided without its marker: ' || p_evidence);
    END IF;
    RETURN QUERY SELECT s.* FROM redrive.slot s WHERE s.cluster = p_cluster AND s.no = p_slot;
END $$;

-- Items that cannot be published leave the operation with their reason; their events stay pending. Only queued ones.
CREATE OR REPLACE FUNCTION redrive.items_refuse(p_cluster text, p_slot integer, p_fence bigint, p_operation bigint, p_ids bigint[], p_reasons text[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE v_refused bigint;
BEGIN
    PERFORM redrive._slot_lock(p_cluster, p_slot, p_fence);
    PERFORM FROM redrive.operation WHERE no = p_operation FOR UPDATE;
    PERFORM redrive._blocks_write_out_of(p_operation, p_ids);
    UPDATE redrive.operation_item SET state = 'refused', at = clock_timestamp(), detail = p_reasons[array_position(p_ids, event_id)]
     WHERE operation_no = p_operation AND event_id = ANY (p_ids) AND state = 'queued'
       AND event_id NOT IN (SELECT redrive._in_hand(p_operation));
    GET DIAGNOSTICS v_refused = ROW_COUNT;
    IF v_refused > 0 THEN
        UPDATE redrive.operation SET queued = queued - v_refused, refused = refused + v_refused, changed = nextval('redrive.change')
         WHERE no = p_operation;
        PERFORM redrive._audit('refuse', p_operation, v_refused, NULL, p_reasons[1]);
        PERFORM redrive._finish(p_operation);
        -- They are some of a chunk that was returned: out of all of that they are judged.
        PERFORM redrive._watch(p_operation, coalesce((SELECT greatest(0, c.events - v_refused) FROM redrive.chunk c
                                                       WHERE c.cluster = p_cluster AND c.slot = p_slot AND c.operation_no = p_operation
                                                       ORDER BY c.seq DESC LIMIT 1), 0));
    END IF;
    RETURN v_refused;
END $$;

CREATE OR REPLACE FUNCTION redrive.cluster_put(p_name text, p_promise text, p_words text, p_evidence text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.cluster (name, promise, words, evidence) VALUES (p_name, p_promise, p_words, p_evidence)
    ON CONFLICT (name) DO UPDATE SET promise = p_promise, words = p_words, evidence = p_evidence, checked_at = clock_timestamp();
    PERFORM redrive._audit('probe', NULL, 0, NULL, format('%s: %s: %s', p_name, p_words, p_evidence));
END $$;

-- Is each original the same JSON value as the event's payload? What is not JSON, or not UTF-8, is not the same.
CREATE OR REPLACE FUNCTION redrive.same_json(p_ids bigint[], p_originals bytea[]) RETURNS boolean[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_same boolean[] := '{}';
    v_one boolean;
BEGIN
    FOR i IN 1 .. coalesce(cardinality(p_ids), 0) LOOP
        BEGIN
            SELECT e.event_payload = convert_from(p_originals[i], 'UTF8')::jsonb INTO v_one FROM :"events" e WHERE e.id = p_ids[i];
        EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN
            v_one := false;
        END;
        v_same := v_same || coalesce(v_one, false);
    END LOOP;
    RETURN v_same;
END $$;

-- For administrators: makes a copied database an install of its own. What was in hand when it was copied is decided in the original only.
CREATE OR REPLACE FUNCTION redrive.adopt() RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_old uuid := (SELECT id FROM redrive.install);
    v_new uuid;
    v_chunks bigint;
BEGIN
    PERFORM FROM redrive.slot ORDER BY cluster, no FOR UPDATE;
    PERFORM redrive._blocks_write_out(operation_no, blocks) FROM redrive.chunk WHERE state = 'claimed' AND blocks IS NOT NULL;
    UPDATE redrive.install SET id = gen_random_uuid(), system_identifier = redrive._system_identifier() RETURNING id INTO v_new;
    UPDATE redrive.slot s
       SET fence = fence + 1, holder = NULL, holder_pid = NULL, holder_since = NULL, lease_until = '-infinity', generation = 1,
           txn_id = redrive._txn_id(v_new, cluster, s.no, 1),
           settled_seq = 0, settled_id = v_new, is_provisioned = false, marker_at = NULL,
           quarantined = EXISTS (SELECT FROM redrive.chunk c WHERE c.cluster = s.cluster AND c.slot = s.no
                                                               AND c.state IN ('claimed', 'in doubt'));
    UPDATE redrive.operation o SET claimed = claimed - c.events, held = held + c.events, changed = nextval('redrive.change')
      FROM (SELECT operation_no, sum(events) AS events FROM redrive.chunk WHERE state = 'claimed' GROUP BY operation_no) c
     WHERE o.no = c.operation_no;
    UPDATE redrive.operation_item i
       SET state = 'held', at = clock_timestamp(), detail = 'in hand when the database was copied', attempt = i.attempt + (i.state = 'queued')::integer
      FROM (SELECT c.operation_no, w.id FROM redrive.chunk c, unnest(c.event_ids) AS w (id) WHERE c.state = 'claimed') h
     WHERE i.operation_no = h.operation_no AND i.event_id = h.id AND i.state IN ('queued', 'claimed');
    UPDATE redrive.chunk SET needs_person = true WHERE state IN ('claimed', 'in doubt');
    UPDATE redrive.chunk SET state = 'in doubt', decided_at = clock_timestamp(), evidence = 'in hand when the database was copied'
     WHERE state = 'claimed';
    GET DIAGNOSTICS v_chunks = ROW_COUNT;
    PERFORM redrive._audit('adopt', NULL, 0, NULL, format('install %s became %s; %s chunks in doubt', v_old, v_new, v_chunks));
    RETURN v_new;
END $$;
