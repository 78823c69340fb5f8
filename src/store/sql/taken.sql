-- Where the records of a reprocess are in Kafka, and how far the consumer groups of their topics have read. An event is taken when its group has
-- committed past its record: without that, silence is no success, because nobody may be there to fail.

-- One row for the records of a chunk in one partition. Chunks that a recoverer finished have none: nobody knows their offsets any more.
CREATE TABLE redrive.sent (
    operation_no bigint NOT NULL,
    chunk_id     uuid NOT NULL,
    cluster      text NOT NULL,
    topic        text NOT NULL,
    partition    integer NOT NULL,
    consumer     text NOT NULL DEFAULT '', -- the consumer group that the dead letters name; '': none
    low          bigint NOT NULL, -- offset of the first record
    high         bigint NOT NULL, -- and of the last
    events       integer NOT NULL CHECK (events > 0),
    taken        integer NOT NULL DEFAULT 0, -- the first so many of dlq_ids
    dlq_ids      bigint[] NOT NULL, -- in the order of their offsets
    first_id     bigint NOT NULL, -- the lowest of these
    last_id      bigint NOT NULL, -- and the highest, so that few rows are unpacked to find some events
    offsets      integer[], -- of each, above low; NULL: one follows the other without a gap
    readers      text, -- the groups that have to take them; NULL: not known
    slowest      text, -- the one of them that has read least
    sent_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    taken_at     timestamptz, -- the last time that `taken` rose
    is_watched   boolean NOT NULL DEFAULT true,
    PRIMARY KEY (operation_no, chunk_id, topic, partition, consumer)
) WITH (fillfactor = 70);
ALTER TABLE redrive.sent ALTER dlq_ids SET STORAGE EXTERNAL, ALTER offsets SET STORAGE EXTERNAL;
CREATE INDEX sent_watched ON redrive.sent (operation_no) WHERE is_watched;
CREATE INDEX sent_place ON redrive.sent (topic, partition, high); -- _sent_at; none of these columns is ever updated

-- A topic whose consumer groups somebody wants to know.
CREATE TABLE redrive.consumer_topic (
    topic    text PRIMARY KEY,
    asked_at timestamptz, -- by a person; a worker answers
    read_at  timestamptz,
    note     text -- why they are not known, or not all of them
);

-- The consumer groups that have committed on it.
CREATE TABLE redrive.consumer (
    topic    text NOT NULL,
    name     text NOT NULL,
    state    text NOT NULL, -- as Kafka calls it: Stable, Empty, …
    lag      bigint, -- records that it has not read yet; NULL: not known
    is_awaited boolean NOT NULL, -- events whose dead letters name no group wait for this one
    PRIMARY KEY (topic, name)
);

-- Workers ask Kafka in turns: one of them, every second or two.
CREATE TABLE redrive.consumer_turn (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    at  timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO redrive.consumer_turn DEFAULT VALUES;

---- functions

-- Notes where the records of a chunk are. The rows of redrive.sent come as arrays, one element a row; p_ids and p_offsets have those of all rows, one
-- after the other, p_counts of them each.
CREATE OR REPLACE FUNCTION redrive._sent_note(p_cluster text, p_operation bigint, p_chunk uuid, p_topics text[], p_partitions integer[],
                                              p_consumers text[], p_lows bigint[], p_counts integer[], p_ids bigint[], p_offsets integer[])
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.sent (operation_no, chunk_id, cluster, topic, partition, consumer, low, high, events, dlq_ids, first_id, last_id, offsets)
    SELECT p_operation, p_chunk, p_cluster, r.topic, r.partition, r.consumer, r.low, r.low + p_offsets[r.last], r.events,
           p_ids[r.last - r.events + 1:r.last], i.first, i.last,
           CASE WHEN p_offsets[r.last] >= r.events THEN p_offsets[r.last - r.events + 1:r.last] END
      FROM (SELECT u.*, sum(u.events) OVER (ORDER BY u.n)::integer AS last
              FROM unnest(p_topics, p_partitions, p_consumers, p_lows, p_counts) WITH ORDINALITY
                   AS u (topic, partition, consumer, low, events, n)) r
     CROSS JOIN LATERAL (SELECT min(w.id) AS first, max(w.id) AS last FROM unnest(p_ids[r.last - r.events + 1:r.last]) AS w (id)) i;
END $$;

-- The topics whose consumer groups a worker of this cluster ('': not known yet) should ask for now; '{}': none, or another worker has just asked. is_urgent: something
-- was sent lately, or a step waits for it.
CREATE OR REPLACE FUNCTION redrive.work_consumers_wanted(p_cluster text, OUT topics text[], OUT is_urgent boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_asked text[] := ARRAY(SELECT t.topic FROM redrive.consumer_topic t
                             WHERE t.asked_at > coalesce(t.read_at, '-infinity') AND t.asked_at > v_now - interval '1 min'
                            UNION SELECT unnest(o.lag_topics) FROM redrive.operation o
                             WHERE o.max_lag IS NOT NULL AND o.state IN ('frozen', 'running', 'waiting') AND o.queued > 0);
BEGIN
    SELECT coalesce(array_agg(DISTINCT s.topic), '{}'),
           coalesce(bool_or(o.state = 'waiting' OR s.sent_at > v_now - greatest(o.settle_for * 2, interval '2 min')), false)
      INTO topics, is_urgent
      FROM redrive.sent s JOIN redrive.operation o ON o.no = s.operation_no WHERE s.is_watched AND p_cluster IN (s.cluster, '');
    is_urgent := is_urgent OR v_asked <> '{}';
    topics := ARRAY(SELECT unnest(topics) UNION SELECT unnest(v_asked));
    IF topics <> '{}' THEN
        UPDATE redrive.consumer_turn SET at = v_now
         WHERE at < v_now - CASE WHEN is_urgent THEN interval '1.5 s' ELSE interval '30 s' END;
        IF NOT FOUND THEN
            topics := '{}';
        END IF;
    END IF;
END $$;

-- How many records of a row a group has read that has committed p_committed.
CREATE OR REPLACE FUNCTION redrive._sent_read(s redrive.sent, p_committed bigint) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN p_committed > s.high THEN s.events
                WHEN p_committed <= s.low THEN 0
                WHEN s.offsets IS NULL THEN (p_committed - s.low)::integer
                ELSE (SELECT count(*) FROM unnest(s.offsets) AS o WHERE s.low + o < p_committed)::integer END;
$$;

-- "billing has read 3 of 10", for the group that has most still to read; NULL: all that can be known is taken.
CREATE OR REPLACE FUNCTION redrive._taken_sentence(p_no bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT format('%s has read %s of %s', m.slowest, to_char(o.takeable - m.missing, 'FM999,999,999,990'),
                  to_char(o.takeable, 'FM999,999,999,990'))
      FROM redrive.operation o
     CROSS JOIN LATERAL (SELECT s.slowest, sum(s.events - s.taken)::bigint AS missing FROM redrive.sent s
                          WHERE s.operation_no = o.no AND s.is_watched AND s.taken < s.events AND s.readers IS NOT NULL
                          GROUP BY s.slowest ORDER BY 2 DESC, 1 LIMIT 1) m
     WHERE o.no = p_no;
$$;

-- Takes what a worker read: of each topic why its groups are not known (NULL: they are), the groups, and what they committed. p_of: the place of a
-- group's topic in p_topics; p_awaited: 1 or 0; p_offset_of: the place of an offset's group in p_names. Only committed offsets are given.
CREATE OR REPLACE FUNCTION redrive.work_consumers(p_cluster text, p_topics text[], p_notes text[], p_of integer[], p_names text[], p_states text[],
                                                  p_lags bigint[], p_awaited integer[], p_offset_of integer[], p_partitions integer[],
                                                  p_committed bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v record;
BEGIN
    PERFORM FROM redrive.returned_position FOR UPDATE; -- which is locked before operations
    DELETE FROM redrive.consumer c WHERE c.topic = ANY (p_topics);
    INSERT INTO redrive.consumer (topic, name, state, lag, is_awaited)
    SELECT p_topics[u.topic], u.name, u.state, nullif(u.lag, -1), u.awaited <> 0
      FROM unnest(p_of, p_names, p_states, p_lags, p_awaited) AS u (topic, name, state, lag, awaited) ON CONFLICT DO NOTHING;
    INSERT INTO redrive.consumer_topic AS t (topic, read_at, note)
    SELECT u.topic, v_now, nullif(u.note, '') FROM unnest(p_topics, p_notes) AS u (topic, note)
    ON CONFLICT (topic) DO UPDATE SET read_at = v_now, note = excluded.note;
    FOR v IN
        WITH committed AS MATERIALIZED (
            SELECT p_topics[p_of[u.of]] AS topic, p_names[u.of] AS name, u.partition, u.committed
              FROM unnest(p_offset_of, p_partitions, p_committed) AS u (of, partition, committed)),
        seen AS MATERIALIZED (
            SELECT s.operation_no, s.chunk_id, s.topic, s.partition, s.consumer, w.readers, w.slowest,
                   CASE WHEN w.readers IS NULL THEN s.taken ELSE greatest(s.taken, redrive._sent_read(s, w.committed)) END AS taken,
                   CASE WHEN w.readers IS NULL AND s.readers IS NULL THEN s.sent_at > v_now - greatest(o.settle_for * 2, interval '2 min')
                        ELSE s.sent_at > v_now - interval '24 h'
                             AND (s.taken < s.events OR s.taken_at > v_now - o.settle_for) END AS is_watched
              FROM redrive.sent s JOIN redrive.operation o ON o.no = s.operation_no
             CROSS JOIN LATERAL (
                   SELECT min(coalesce(k.committed, 0)) AS committed, string_agg(c.name, ', ' ORDER BY c.name) AS readers,
                          (array_agg(c.name ORDER BY coalesce(k.committed, 0), c.name))[1] AS slowest
                     FROM redrive.consumer c LEFT JOIN committed k ON k.topic = c.topic AND k.name = c.name AND k.partition = s.partition
                    WHERE c.topic = s.topic
                      AND CASE WHEN EXISTS (SELECT FROM redrive.consumer x WHERE x.topic = s.topic AND x.name = s.consumer)
                               THEN c.name = s.consumer ELSE c.is_awaited END) w
             WHERE s.is_watched AND s.cluster = p_cluster AND s.topic = ANY (p_topics)),
        changed AS (
            UPDATE redrive.sent s
               SET taken = n.taken, readers = coalesce(n.readers, s.readers), slowest = coalesce(n.slowest, s.slowest),
                   taken_at = CASE WHEN n.taken > s.taken THEN v_now ELSE s.taken_at END, is_watched = n.is_watched
              FROM seen n
             WHERE (s.operation_no, s.chunk_id, s.topic, s.partition, s.consumer) = (n.operation_no, n.chunk_id, n.topic, n.partition, n.consumer)
               AND (n.taken > s.taken OR n.readers <> s.readers OR n.readers IS NOT NULL AND s.readers IS NULL OR n.slowest <> s.slowest
                    OR NOT n.is_watched))
        SELECT n.operation_no AS no, string_agg(DISTINCT n.readers, ', ') AS readers FROM seen n GROUP BY 1 ORDER BY 1
    LOOP
        PERFORM redrive._operation_taken(v.no, v.readers);
    END LOOP;
END $$;

-- The counts of an operation after its rows were looked at.
CREATE OR REPLACE FUNCTION redrive._operation_taken(p_no bigint, p_readers text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_taken bigint;
    v_takeable bigint;
    v_note text;
BEGIN
    PERFORM FROM redrive.operation WHERE no = p_no FOR UPDATE;
    SELECT sum(s.taken), sum(s.events) INTO v_taken, v_takeable FROM redrive.sent s WHERE s.operation_no = p_no AND s.readers IS NOT NULL;
    UPDATE redrive.operation SET taken = v_taken, takeable = coalesce(v_takeable, 0), changed = nextval('redrive.change')
     WHERE no = p_no AND (taken IS DISTINCT FROM v_taken OR takeable IS DISTINCT FROM coalesce(v_takeable, 0));
    v_note := CASE WHEN v_takeable IS NULL
                   THEN (SELECT string_agg(DISTINCT coalesce(t.note, 'no consumer group has committed on ' || t.topic), '; ')
                           FROM redrive.consumer_topic t
                          WHERE t.topic IN (SELECT s.topic FROM redrive.sent s WHERE s.operation_no = p_no)) || ': time alone decides'
                   ELSE redrive._taken_sentence(p_no) END;
    UPDATE redrive.operation SET taken_by = coalesce(p_readers, taken_by), taken_note = v_note, changed = nextval('redrive.change')
     WHERE no = p_no AND (taken_note IS DISTINCT FROM v_note OR p_readers IS NOT NULL AND taken_by IS DISTINCT FROM p_readers);
END $$;

-- At the end of a step's settle time: has everything been taken that was sent? is_open: not yet, or nobody has asked Kafka since; there is time for
-- that once more. halt: the sentence where that is over as well.
CREATE OR REPLACE FUNCTION redrive._taken_wait(v redrive.operation, OUT is_open boolean, OUT halt text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_end timestamptz := v.observe_until + v.settle_for;
    v_missing bigint;
    v_is_unasked boolean;
    v_is_stale boolean;
BEGIN
    is_open := false;
    IF v.settle_for = '0 s' OR v.returned >= v.done THEN
        RETURN;
    END IF;
    SELECT coalesce(sum(s.events - s.taken) FILTER (WHERE s.readers IS NOT NULL), 0), coalesce(bool_or(coalesce(t.read_at < s.sent_at, true)), false),
           coalesce(bool_or(s.taken < s.events AND t.read_at < v_end), false)
      INTO v_missing, v_is_unasked, v_is_stale
      FROM redrive.sent s LEFT JOIN redrive.consumer_topic t ON t.topic = s.topic WHERE s.operation_no = v.no AND s.is_watched;
    is_open := v_is_unasked AND v_now < v_end OR v_missing > 0 AND (v_now < v_end OR v_is_stale);
    IF v_missing > 0 AND NOT is_open THEN
        halt := redrive._taken_sentence(v.no) || ': is it running?';
    END IF;
END $$;

-- The topics of an operation's events. Those of one source share their topic (_source), so one of each is enough.
CREATE OR REPLACE FUNCTION redrive._lag_topics(v redrive.operation) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF v.target_topic IS NOT NULL THEN
        RETURN ARRAY[v.target_topic];
    END IF;
    RETURN ARRAY(
        WITH item AS NOT MATERIALIZED (
            SELECT w.id, coalesce(w.source, 0) AS source
              FROM redrive.operation_batch b CROSS JOIN LATERAL unnest(b.dlq_ids, b.sources) AS w (id, source) WHERE b.operation_no = v.no
            UNION ALL SELECT i.dlq_id, i.source FROM redrive.operation_item i WHERE i.operation_no = v.no),
        one AS (SELECT min(id) AS id FROM item WHERE source <> 0 GROUP BY source UNION ALL SELECT id FROM item WHERE source = 0)
        SELECT DISTINCT e.kafka_topic::text
          FROM one CROSS JOIN LATERAL (SELECT x.kafka_topic FROM :"events" x WHERE x.id = one.id OFFSET 0) e WHERE e.kafka_topic IS NOT NULL);
END $$;

-- 1,204,000
CREATE OR REPLACE FUNCTION redrive._grouped(p_number bigint) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT regexp_replace(p_number::text, '(\d)(?=(\d{3})+$)', '\1,', 'g');
$$;

-- How many more events may be sent before a consumer group is further behind than max_lag; NULL: no limit. why: it is, or nobody has asked Kafka since
-- the last chunk, which the lag then does not show.
CREATE OR REPLACE FUNCTION redrive._lag_room(v redrive.operation, OUT room bigint, OUT why text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_since timestamptz := greatest((SELECT max(c.decided_at) FROM redrive.chunk c WHERE c.operation_no = v.no AND c.state = 'committed'),
                                    clock_timestamp() - interval '15 s');
    v_name text;
    v_lag bigint;
BEGIN
    IF v.max_lag IS NULL OR v.lag_topics = '{}' THEN
        RETURN;
    END IF;
    SELECT c.name, c.lag INTO v_name, v_lag FROM redrive.consumer c
     WHERE c.topic = ANY (v.lag_topics) AND c.is_awaited AND c.lag IS NOT NULL ORDER BY c.lag DESC, c.name LIMIT 1;
    room := greatest(0, v.max_lag - coalesce(v_lag, 0));
    IF v_lag > v.max_lag THEN
        why := format('waits: %s lags %s, more than %s', v_name, redrive._grouped(v_lag), redrive._grouped(v.max_lag));
    ELSIF v.claimed > 0 OR EXISTS (SELECT FROM unnest(v.lag_topics) AS w (topic) LEFT JOIN redrive.consumer_topic t ON t.topic = w.topic
                                    WHERE t.read_at IS NULL OR t.read_at < v_since) THEN
        room := 0;
        why := 'waits until the lag is known';
    ELSIF v_name IS NULL THEN
        room := NULL; -- nobody reads, so nobody lags
    ELSIF room = 0 THEN
        why := format('waits: %s lags %s', v_name, redrive._grouped(v_lag));
    END IF;
END $$;

-- The events of an operation that were taken.
CREATE OR REPLACE FUNCTION redrive.taken_of(p_no bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT unnest(s.dlq_ids[:s.taken]) FROM redrive.sent s WHERE s.operation_no = p_no AND s.taken > 0;
$$;

-- A person wants to know who reads these topics: a worker answers within some seconds (redrive.consumer, redrive.consumer_topic). Returns whether one
-- that can ask Kafka lives.
CREATE OR REPLACE FUNCTION redrive.consumers_ask(p_topics text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.consumer_topic AS t (topic, asked_at)
    SELECT DISTINCT w.topic, clock_timestamp() FROM unnest(p_topics[1:100]) AS w (topic)
     WHERE w.topic ~ '^[A-Za-z0-9._-]{1,249}$' AND (SELECT count(*) FROM redrive.consumer_topic) < 2000 ORDER BY 1
    ON CONFLICT (topic) DO UPDATE SET asked_at = clock_timestamp();
    DELETE FROM redrive.consumer_topic t WHERE greatest(t.asked_at, t.read_at) < clock_timestamp() - interval '30 days';
    RETURN EXISTS (SELECT FROM redrive.worker w WHERE w.publishes AND w.seen_at > clock_timestamp() - interval '15 s');
END $$;
