-- Items: one row for each event of an operation, with its state and the reason.
--
-- Most events have the same fate as their neighbours, so they are kept many to a row (batches.sql). They become rows here when something happens
-- to a single one.
--
-- Plans, here and in the files that follow: items of an operation are younger than the table's statistics, and a session may live from ten items
-- to a million. A plan that was right for ten would be kept. Functions on the hot path therefore leave the planner one way: rows by key, in scalar
-- or LATERAL … OFFSET 0 subqueries instead of joins. Each says so under "Plan".

-- Written by functions only, so no foreign key: a check per row would cost as much as the row. No index has a column that a claim changes, so a
-- claim rewrites the row within its page; the free part of each page is for that.
CREATE TABLE redrive.operation_item (
    dlq_id        bigint NOT NULL,
    operation_no  bigint NOT NULL,
    source_offset bigint NOT NULL DEFAULT 0, -- order within the source
    at            timestamptz NOT NULL DEFAULT clock_timestamp(), -- of the last change
    source        integer NOT NULL DEFAULT 0, -- hash of topic and partition; 0: no order to keep
    attempt       integer NOT NULL DEFAULT 0, -- of this event over all operations
    is_live       boolean GENERATED ALWAYS AS (state IN ('queued', 'claimed', 'in doubt')) STORED,
    is_due        boolean GENERATED ALWAYS AS (state IN ('queued', 'claimed', 'in doubt')) STORED, -- the same, for the work list
    state         text NOT NULL DEFAULT 'queued',
    event_id      varchar(50), -- of the contract table; only where the event is to be republished
    detail        text,
    correlation   uuid, -- tells an event that failed again under another event id
    PRIMARY KEY (dlq_id, operation_no),
    CHECK (state IN ('queued', 'claimed', 'in doubt', 'done', 'refused', 'skipped', 'cancelled'))
) WITH (fillfactor = 60);
-- An event is in at most one live operation.
CREATE UNIQUE INDEX operation_item_live ON redrive.operation_item (dlq_id) WHERE is_live;
-- The work list has a predicate column of its own: with is_live, the planner looks up single events in this index from end to end whenever it
-- remembers the index as empty.
CREATE INDEX operation_item_work ON redrive.operation_item (operation_no, source, source_offset, dlq_id) WHERE is_due;
CREATE INDEX operation_item_published ON redrive.operation_item (event_id) WHERE NOT is_live AND event_id IS NOT NULL;
CREATE INDEX operation_item_correlation ON redrive.operation_item (correlation) WHERE NOT is_live AND correlation IS NOT NULL;
CREATE INDEX operation_item_origin ON redrive.operation_item (source, source_offset) WHERE NOT is_live AND event_id IS NOT NULL AND source <> 0;
-- Items of an operation are neighbours on disk: a block range index costs nothing to keep and finds them.
CREATE INDEX operation_item_operation ON redrive.operation_item USING brin (operation_no) WITH (pages_per_range = 32);

---- functions

-- Why an event is not open for an action. Many events can share the reason, so times are cut to the minute.
CREATE OR REPLACE FUNCTION redrive._closed(p_status text, p_by text, p_at timestamp) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN p_status IS NULL THEN 'no longer in the table'
                WHEN p_status = 'PENDING' THEN 'is pending'
                ELSE lower(p_status) || ' by ' || coalesce(p_by, 'somebody')
                     || coalesce(' at ' || to_char(p_at, 'YYYY-MM-DD HH24:MI'), '') END;
$$;

-- Topic and partition as a number; 0 where the place is not known.
CREATE OR REPLACE FUNCTION redrive._source(p_topic text, p_partition integer, p_offset bigint) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN p_topic IS NULL OR p_partition IS NULL OR p_offset IS NULL THEN 0
                ELSE coalesce(nullif(hashtext(p_topic || '/' || p_partition), 0), 1) END;
$$;

-- The first list without the second, in order.
CREATE OR REPLACE FUNCTION redrive._without(p_ids bigint[], p_some bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(p_some) ORDER BY 1);
$$;

-- Events that chunks of an operation have in flight. A claim writes its chunk and not its items, so these are still queued by their row. Only
-- their chunk's finish may touch them.
CREATE OR REPLACE FUNCTION redrive._in_flight(p_operation bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT w.id FROM redrive.chunk c, unnest(c.dlq_ids) AS w (id) WHERE c.operation_no = p_operation AND c.state = 'claimed';
$$;

-- Queued items of an operation in source order, at most p_limit, of sources with a hash above p_above that no chunk is busy with. Source 0 has no
-- order to keep, so several chunks may be busy with it; events in flight are passed over. The caller holds the operation's row. Nobody else
-- changes a queued item then, so the items need no locks, each of which would be a write.
-- Plan: the first p_limit entries of operation_item_work, in its order; no sort, no scan of the rest.
CREATE OR REPLACE FUNCTION redrive._items_pick(p_operation bigint, p_above bigint, p_limit bigint, OUT ids bigint[], OUT sources integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off AS $$
BEGIN
    WITH pick AS MATERIALIZED (
        SELECT dlq_id, source FROM redrive.operation_item
         WHERE operation_no = p_operation AND is_due AND state = 'queued' AND source > p_above
           AND (source <> 0 OR dlq_id NOT IN (SELECT redrive._in_flight(p_operation)))
         ORDER BY source, source_offset, dlq_id LIMIT p_limit)
    SELECT coalesce(array_agg(dlq_id), '{}'), coalesce(array_agg(source), '{}') INTO ids, sources FROM pick;
END $$;

-- The same around sources that another chunk is busy with, so that order within a source partition survives two slots that take turns: first
-- sources above the busy ones, then from the start.
-- Plan: as in _items_pick; each source is one descent of operation_item_work.
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
    LOOP -- from source to source, skipping busy ones without reading their items
        SELECT i.source INTO v_source FROM redrive.operation_item i
         WHERE i.operation_no = p_operation AND i.is_due AND i.state = 'queued' AND i.source > v_last ORDER BY i.source LIMIT 1;
        EXIT WHEN NOT FOUND OR cardinality(ids) >= p_limit;
        v_last := v_source;
        CONTINUE WHEN v_source = ANY (p_busy);
        WITH pick AS MATERIALIZED (
            SELECT dlq_id FROM redrive.operation_item
             WHERE operation_no = p_operation AND is_due AND state = 'queued' AND source = v_source
               AND (source <> 0 OR dlq_id NOT IN (SELECT redrive._in_flight(p_operation)))
             ORDER BY source_offset, dlq_id LIMIT p_limit - cardinality(ids))
        SELECT coalesce(array_agg(dlq_id), '{}') INTO v_more FROM pick;
        ids := ids || v_more;
        sources := sources || array_fill(v_source::integer, ARRAY[cardinality(v_more)]);
    END LOOP;
END $$;

-- Items of an operation whose event somebody else closed or opened end as skipped, with the reason.
-- Plan: with the settings of its callers, chunk_claim and work_apply: items and events by key.
CREATE OR REPLACE FUNCTION redrive._items_skip(p_operation bigint, p_ids bigint[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation_item i SET state = 'skipped', at = p_at,
           detail = redrive._closed((SELECT e.status FROM :"events" e WHERE e.id = i.dlq_id),
                                    (SELECT e.resolved_by FROM :"events" e WHERE e.id = i.dlq_id),
                                    (SELECT e.resolved_at FROM :"events" e WHERE e.id = i.dlq_id))
     WHERE i.operation_no = p_operation AND i.dlq_id = ANY (p_ids);
END $$;

-- Refuses these items, each with its reason.
-- Plan: with the settings of chunk_claim: items by key.
CREATE OR REPLACE FUNCTION redrive._items_refuse(p_operation bigint, p_ids bigint[], p_reasons text[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation_item SET state = 'refused', at = p_at, detail = p_reasons[array_position(p_ids, dlq_id)]
     WHERE operation_no = p_operation AND dlq_id = ANY (p_ids);
    PERFORM redrive._audit('refuse', p_operation, cardinality(p_ids), NULL, p_reasons[1]);
END $$;

-- How many bytes the payloads of these events have as text, in the order of the list. Raises where PostgreSQL cannot return one of them.
-- Plan: with the settings of _items_measure: events by key.
CREATE OR REPLACE FUNCTION redrive._payload_bytes(p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN (SELECT array_agg(e.bytes ORDER BY w.n) FROM unnest(p_ids) WITH ORDINALITY AS w (id, n) CROSS JOIN LATERAL (
        SELECT coalesce((SELECT octet_length(x.event_payload::text) FROM :"events" x WHERE x.id = w.id LIMIT 1), 0)::bigint AS bytes OFFSET 0) e);
END $$;

-- The same where one of them cannot be returned: -1 for each of those, and why.
CREATE OR REPLACE FUNCTION redrive._payload_bytes_each(p_ids bigint[], OUT bytes bigint[], OUT reasons text[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_id bigint;
BEGIN
    reasons := '{}';
    FOREACH v_id IN ARRAY p_ids LOOP
        BEGIN
            bytes := bytes || redrive._payload_bytes(ARRAY[v_id]);
        EXCEPTION WHEN program_limit_exceeded OR data_corrupted OR index_corrupted OR internal_error OR data_exception OR out_of_memory THEN
            bytes := bytes || -1::bigint;
            reasons := reasons || ('the payload cannot be read: ' || SQLERRM);
        END;
    END LOOP;
END $$;

-- Which of these events fit into p_max_bytes, in the order of the list: the first open one always, others while the sum allows it. p_bytes: sizes
-- that are known, NULL: not yet, -1: cannot be read. A large payload is stored compressed: where its size is not known, p_is_final ends the list
-- there; otherwise it counts as stored, and `large` has its place in the list. fit: so many of the list, closed and unreadable ones included.
-- Plan: events by key in the order of the list, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive._items_fit(p_picked bigint[], p_sources integer[], p_bytes bigint[], p_max_bytes bigint, p_is_final boolean,
                                              OUT open bigint[], OUT closed bigint[], OUT unreadable bigint[], OUT topics text[],
                                              OUT sources integer[], OUT fit integer, OUT large integer[], OUT stored bigint[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_are_revised boolean := EXISTS (SELECT FROM redrive.revision); -- asked once, not per item
    v_are_kept boolean := EXISTS (SELECT FROM redrive.record);
BEGIN
    WITH sized AS (
        SELECT w.id, w.n::integer AS n, w.source, coalesce(e.status = 'PENDING', false) AS is_open, e.stored, w.bytes = -1 AS is_unreadable,
               coalesce(CASE WHEN v_are_revised THEN (SELECT r.topic FROM redrive.revision r WHERE r.dlq_id = w.id ORDER BY r.no DESC LIMIT 1) END,
                        e.kafka_topic::text) AS topic,
               CASE WHEN e.status IS DISTINCT FROM 'PENDING' OR w.bytes = -1 THEN 0
                    ELSE coalesce(w.bytes,
                                  CASE WHEN v_are_revised THEN (SELECT octet_length(r.payload) FROM redrive.revision r
                                                                 WHERE r.dlq_id = w.id ORDER BY r.no DESC LIMIT 1) END,
                                  CASE WHEN v_are_kept THEN (SELECT coalesce(octet_length(r.value), (SELECT octet_length(o.value) FROM redrive.original o
                                                                                                       WHERE o.dlq_id = r.dlq_id), 0) FROM redrive.record r
                                                              WHERE r.dlq_id = w.id) END,
                                  CASE WHEN e.stored <= 1500 THEN e.stored END) END AS size
          FROM unnest(p_picked, p_sources, p_bytes) WITH ORDINALITY AS w (id, source, bytes, n)
          LEFT JOIN LATERAL (SELECT x.status, x.kafka_topic, coalesce(pg_column_size(x.event_payload), 0)::bigint AS stored
                               FROM :"events" x WHERE x.id = w.id OFFSET 0) e ON true),
    counted AS (SELECT s.*, coalesce(s.size, CASE WHEN p_is_final THEN p_max_bytes + 1 ELSE s.stored END) AS counts FROM sized s),
    summed AS (SELECT c.*, sum(c.counts) OVER (ORDER BY c.n) AS after FROM counted c),
    judged AS MATERIALIZED (
        SELECT s.*, NOT s.is_open OR (s.size IS NOT NULL OR NOT p_is_final) AND (s.after <= p_max_bytes OR s.after = s.counts) AS fits FROM summed s),
    fits AS MATERIALIZED (
        SELECT j.* FROM judged j WHERE j.n < (SELECT coalesce(min(w.n), cardinality(p_picked) + 1) FROM judged w WHERE NOT w.fits))
    SELECT ARRAY(SELECT id FROM fits f WHERE f.is_open AND f.is_unreadable IS NOT TRUE ORDER BY id),
           ARRAY(SELECT id FROM fits f WHERE NOT f.is_open ORDER BY id),
           ARRAY(SELECT id FROM fits f WHERE f.is_open AND f.is_unreadable ORDER BY n),
           ARRAY(SELECT DISTINCT topic FROM fits f WHERE f.is_open AND f.topic IS NOT NULL),
           ARRAY(SELECT DISTINCT source FROM fits f WHERE f.is_open AND f.source <> 0),
           (SELECT count(*) FROM fits), ARRAY(SELECT n FROM fits f WHERE f.size IS NULL ORDER BY n),
           ARRAY(SELECT f.stored FROM fits f WHERE f.size IS NULL ORDER BY n)
      INTO open, closed, unreadable, topics, sources, fit, large, stored;
END $$;

-- Which of these events to take together (_items_fit), without unpacking small payloads, and of the large ones no more than are taken: in slices of
-- what is stored, until they have p_max_bytes or two seconds have passed. Whoever waits for the operation's row waits for three.
-- A large payload becomes text here and once more when the chunk is read, after the claim. Nothing that is cheaper bounds its text: a number of
-- ten bytes may have 131,072 digits. To hand the text on from here would keep the operation's row locked while it travels.
-- reasons: of the unreadable ones.
-- Plan: as in _items_fit.
CREATE OR REPLACE FUNCTION redrive._items_measure(p_picked bigint[], p_sources integer[], p_max_bytes bigint, OUT open bigint[], OUT closed bigint[],
                                                  OUT unreadable bigint[], OUT topics text[], OUT sources integer[], OUT fit integer,
                                                  OUT reasons text[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_slice bigint := 262144; -- a compressed payload can be a hundred times as large
    v_until timestamptz := clock_timestamp() + interval '2 s';
    v_sum bigint := 0;
    v_bytes bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(p_picked)]);
    v_some bigint[];
    v_why text[];
    f record; -- of _items_fit
    s record; -- a slice: the places of its events
BEGIN
    reasons := '{}';
    SELECT * INTO f FROM redrive._items_fit(p_picked, p_sources, v_bytes, p_max_bytes, false);
    FOR s IN SELECT array_agg(l.n ORDER BY l.n) AS at, array_agg(p_picked[l.n] ORDER BY l.n) AS ids
               FROM (SELECT w.n, div(sum(w.stored) OVER (ORDER BY w.n) - w.stored, v_slice) AS slice FROM unnest(f.large, f.stored) AS w (n, stored)) l
              GROUP BY l.slice ORDER BY l.slice LOOP
        BEGIN
            v_some := redrive._payload_bytes(s.ids);
        EXCEPTION WHEN program_limit_exceeded OR data_corrupted OR index_corrupted OR internal_error OR data_exception OR out_of_memory THEN
            SELECT e.bytes, e.reasons INTO v_some, v_why FROM redrive._payload_bytes_each(s.ids) e;
            reasons := reasons || v_why;
        END;
        FOR i IN 1 .. cardinality(s.at) LOOP
            v_bytes[s.at[i]] := v_some[i];
            v_sum := v_sum + greatest(v_some[i], 0);
        END LOOP;
        EXIT WHEN v_sum >= p_max_bytes OR clock_timestamp() > v_until;
    END LOOP;
    IF f.large <> '{}' THEN
        SELECT * INTO f FROM redrive._items_fit(p_picked, p_sources, v_bytes, p_max_bytes, true);
    END IF;
    open := f.open;
    closed := f.closed;
    unreadable := f.unreadable;
    topics := f.topics;
    sources := f.sources;
    fit := f.fit;
END $$;

-- Those of these events that are small, in the order of the list. In a source, none that follows one which is not. A payload that is stored
-- compressed can be a hundred times as large as text: 16 kB make 1.6 MB at most, and nothing has to be unpacked to know it. held: the sources of
-- those that are not among them, without 0. Closed events count as small.
-- Plan: as in _items_fit.
CREATE OR REPLACE FUNCTION redrive._items_small(p_picked bigint[], p_sources integer[], OUT ids bigint[], OUT sources integer[], OUT held integer[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    WITH sized AS (
        SELECT w.id, w.source, w.n,
               coalesce((SELECT octet_length(r.payload) FROM redrive.revision r WHERE r.dlq_id = w.id ORDER BY r.no DESC LIMIT 1) <= 1048576,
                        (SELECT coalesce(octet_length(r.value), (SELECT octet_length(o.value) FROM redrive.original o WHERE o.dlq_id = r.dlq_id), 0)
                           FROM redrive.record r WHERE r.dlq_id = w.id) <= 1048576,
                        (SELECT coalesce(pg_column_size(e.event_payload), 0) <= 16384 OR e.status <> 'PENDING' FROM :"events" e WHERE e.id = w.id),
                        true) AS is_small
          FROM unnest(p_picked, p_sources) WITH ORDINALITY AS w (id, source, n)),
    judged AS MATERIALIZED (
        SELECT s.id, s.source, s.n, CASE WHEN s.source = 0 THEN s.is_small ELSE bool_and(s.is_small) OVER (PARTITION BY s.source ORDER BY s.n) END AS goes
          FROM sized s)
    SELECT ARRAY(SELECT j.id FROM judged j WHERE j.goes ORDER BY j.n), ARRAY(SELECT j.source FROM judged j WHERE j.goes ORDER BY j.n),
           ARRAY(SELECT DISTINCT j.source FROM judged j WHERE NOT j.goes AND j.source <> 0)
      INTO ids, sources, held;
END $$;

-- Published events: each is closed where nobody closed it meanwhile, and its item is done in any case. p_batches: the events are all those of
-- these batches; NULL: they are rows. p_sent: the time of the claim, so that an event that returns is younger than its item, however quick the
-- consumer. Returns the number of items.
-- Plan: events and items by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive._items_published(v redrive.operation, p_ids bigint[], p_batches integer[], p_sent timestamptz) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_wall timestamp := redrive._wall(clock_timestamp());
    v_by text := left(redrive._asked_by(v.policy, v.requested_by), 50);
    v_closed bigint[];
    v_items integer;
    v_more integer := 0;
BEGIN
    WITH changed AS (
        UPDATE :"events" e
           SET status = 'RESOLVED', resolved_at = v_wall, resolved_by = v_by,
               retry_count = coalesce(e.retry_count, 0) + 1, last_retry_at = v_wall
         WHERE e.id = ANY (p_ids) AND coalesce(e.status, '') = 'PENDING' RETURNING e.id)
    SELECT coalesce(array_agg(id), '{}') INTO v_closed FROM changed;
    PERFORM redrive._rollup_note(v_closed);
    IF p_batches IS NOT NULL AND cardinality(v_closed) = cardinality(p_ids) THEN
        WITH changed AS (
            UPDATE redrive.operation_batch b SET state = 'done', at = p_sent, tries = b.tries + 1
             WHERE b.operation_no = v.no AND b.no = ANY (p_batches) AND b.state = 'claimed' RETURNING b.events)
        SELECT sum(events) INTO v_items FROM changed;
        PERFORM redrive._publish_keys_add(v.no, p_batches);
        RETURN v_items;
    ELSIF p_batches IS NOT NULL THEN
        PERFORM redrive._batches_write_out(v.no, p_batches);
    END IF;
    UPDATE redrive.operation_item i SET state = 'done', at = p_sent, attempt = i.attempt + (i.state = 'queued')::integer, detail = NULL
     WHERE operation_no = v.no AND dlq_id = ANY (v_closed) AND state IN ('queued', 'claimed', 'in doubt');
    GET DIAGNOSTICS v_items = ROW_COUNT;
    IF cardinality(v_closed) < cardinality(p_ids) THEN
        UPDATE redrive.operation_item i SET state = 'done', at = p_sent, attempt = i.attempt + (i.state = 'queued')::integer,
               detail = 'published, and meanwhile ' || redrive._closed((SELECT e.status FROM :"events" e WHERE e.id = i.dlq_id),
                                                                       (SELECT e.resolved_by FROM :"events" e WHERE e.id = i.dlq_id),
                                                                       (SELECT e.resolved_at FROM :"events" e WHERE e.id = i.dlq_id))
         WHERE operation_no = v.no AND dlq_id = ANY (p_ids) AND dlq_id <> ALL (v_closed) AND state IN ('queued', 'claimed', 'in doubt');
        GET DIAGNOSTICS v_more = ROW_COUNT;
    END IF;
    RETURN v_items + v_more;
END $$;
