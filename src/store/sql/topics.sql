-- What Kafka said of topics that events would be sent to. The screen has no Kafka: it asks for a topic here, a worker asks Kafka and writes the
-- answer down. Only a forecast is made of it: whether a record is sent is up to the worker that sends it.

CREATE TABLE redrive.topic (
    name       text PRIMARY KEY,
    wanted_at  timestamptz NOT NULL DEFAULT clock_timestamp(), -- asked for, the last time
    taken_at   timestamptz, -- by a worker that asks Kafka now
    asked_at   timestamptz, -- when Kafka answered last; NULL: never yet
    cluster    text,        -- that answered
    state      text CHECK (state IN ('known', 'missing', 'denied')),
    partitions integer,
    max_bytes  bigint       -- max.message.bytes; NULL: not told
);

---- functions

-- Asks the workers about these topics. Names that Kafka does not allow are passed over; a topic that nobody asked for within a day is forgotten.
-- Returns whether a worker that can ask Kafka lives.
CREATE OR REPLACE FUNCTION redrive.topics_want(p_names text[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.topic t WHERE t.wanted_at < clock_timestamp() - interval '1 day';
    INSERT INTO redrive.topic AS t (name)
    SELECT DISTINCT w.name FROM unnest(p_names[1:200]) AS w (name)
     WHERE w.name ~ '^[A-Za-z0-9._-]{1,249}$' AND (SELECT count(*) FROM redrive.topic) < 2000 ORDER BY 1
    ON CONFLICT (name) DO UPDATE SET wanted_at = clock_timestamp();
    RETURN EXISTS (SELECT FROM redrive.worker w WHERE w.publishes AND w.seen_at > clock_timestamp() - interval '15 s');
END $$;

-- Takes up to p_limit topics that somebody asked for, and whose answer is older than half a minute. One that is not answered within 10 s may be
-- taken by another worker.
CREATE OR REPLACE FUNCTION redrive.work_topics_wanted(p_limit integer) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY UPDATE redrive.topic t SET taken_at = clock_timestamp()
                  WHERE t.name IN (SELECT q.name FROM redrive.topic q
                                    WHERE q.wanted_at > coalesce(q.asked_at, '-infinity') AND q.wanted_at > clock_timestamp() - interval '1 minute'
                                      AND (q.asked_at IS NULL OR q.asked_at < clock_timestamp() - interval '30 s')
                                      AND (q.taken_at IS NULL OR q.taken_at < clock_timestamp() - interval '10 s')
                                    ORDER BY q.wanted_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
                 RETURNING t.name;
END $$;

-- What Kafka said; p_max_bytes: -1 where it did not tell. Only of topics that somebody asked for.
CREATE OR REPLACE FUNCTION redrive.work_topics_answer(p_cluster text, p_names text[], p_states text[], p_partitions integer[], p_max_bytes bigint[])
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.topic t SET asked_at = clock_timestamp(), taken_at = NULL, cluster = left(p_cluster, 63), state = a.state,
                               partitions = greatest(a.partitions, 0), max_bytes = nullif(greatest(a.max_bytes, -1), -1)
      FROM unnest(p_names, p_states, p_partitions, p_max_bytes) AS a (name, state, partitions, max_bytes) WHERE t.name = a.name;
END $$;
