-- How many messages are written to the topics that events come from, and how many of these became dead letters: by minute (kept for 48 hours), hour
-- (90 days) and day of UTC (5 years), so that the share of dead letters can be told.
--
-- Once a minute one worker asks Kafka where the partitions of these topics end. What a topic's ends have grown by was written since the last answer,
-- and is laid evenly over the seconds between. A minute counts where all of its seconds are covered. One that is not is a gap: nobody asked for more
-- than two and a half minutes, Kafka did not tell all partitions, or an end is lower than before, as of a topic that was made anew. Nothing is said of
-- a gap, neither of what was written nor of what arrived. Transactions write a marker for each partition, which counts as a message.
--
-- Each event is counted once, in the minute of its created_at, when its id is no higher than all were a minute ago (watch.sql does the same): a row
-- that is committed late still gets into its minute, and one that is deleted later stays counted. Hours and days are sums of minutes that count, up to
-- the minute whose events are counted.
--
-- Times are whole seconds since 2000-01-01 UTC, as in rollup.sql.

CREATE TABLE redrive.written (
    step    text NOT NULL CHECK (step IN ('minute', 'hour', 'day')),
    topic   text NOT NULL,
    at      integer NOT NULL, -- its beginning
    covered integer NOT NULL DEFAULT 0, -- seconds, of which it is known how much was written
    written bigint NOT NULL DEFAULT 0,
    arrived bigint NOT NULL DEFAULT 0, -- events that came from the topic
    PRIMARY KEY (step, topic, at)
);

-- Where topics ended when Kafka told last.
CREATE TABLE redrive.written_end (
    cluster text NOT NULL,
    topic   text NOT NULL,
    ends    bigint[] NOT NULL, -- of partition 0, 1, …; none: Kafka did not tell
    at      integer NOT NULL,
    note    text,              -- why it did not; NULL: it did
    PRIMARY KEY (cluster, topic)
) WITH (fillfactor = 50);

-- Whose turn it is to ask a cluster: a worker that comes back late from its question writes nothing.
CREATE TABLE redrive.written_turn (
    cluster text PRIMARY KEY,
    no      bigint NOT NULL,
    at      timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE redrive.written_state (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    sure    bigint, -- events with ids up to it are counted; NULL: counting has not begun
    seen    bigint,
    seen_at timestamptz,
    counted_to integer NOT NULL DEFAULT 0 -- events of minutes before it are counted
) WITH (fillfactor = 50);
INSERT INTO redrive.written_state DEFAULT VALUES;

---- functions

-- The topics that a worker of this cluster should ask for now, most events first, and its turn; '{}': another one has just asked, or nothing came
-- from a topic.
CREATE OR REPLACE FUNCTION redrive.work_written_wanted(p_cluster text, OUT turn bigint, OUT topics text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    topics := '{}';
    IF coalesce(p_cluster, '') !~ '^[A-Za-z0-9_-]{1,63}$' THEN
        RAISE EXCEPTION 'a worker asks one cluster, whose id has letters, digits, _ and -' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.written_turn AS t (cluster, no, at) VALUES (p_cluster, 1, v_now)
    ON CONFLICT (cluster) DO UPDATE SET no = t.no + 1, at = v_now WHERE t.at <= v_now - interval '1 minute' OR t.at > v_now
    RETURNING t.no INTO turn;
    IF turn IS NOT NULL THEN
        topics := ARRAY(
            SELECT w.topic FROM (SELECT s.topic, sum(t.n) AS n FROM redrive.rollup_series s JOIN redrive.rollup_total t ON t.series = s.no GROUP BY s.topic
                                 UNION ALL SELECT x.topic, sum(x.arrived) + 1 FROM redrive.written x
                                            WHERE x.step = 'hour' AND x.arrived > 0 AND x.at > redrive._trend_now() - 604800 GROUP BY x.topic) w
             WHERE w.topic ~ '^[A-Za-z0-9._-]{1,249}$' GROUP BY w.topic HAVING sum(w.n) > 0 ORDER BY sum(w.n) DESC, w.topic LIMIT 50);
    END IF;
END $$;

-- Sums up the hours and days of these minutes again.
CREATE OR REPLACE FUNCTION redrive._written_fold(p_minutes integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_from integer := redrive._trend_now() - 165600; -- of earlier hours some minutes may be forgotten already
    v_to integer := (SELECT counted_to FROM redrive.written_state);
BEGIN
    INSERT INTO redrive.written (step, topic, at, covered, written, arrived)
    SELECT 'hour', w.topic, w.at / 3600 * 3600, sum(least(w.covered, 60)), sum(w.written), sum(w.arrived) FROM redrive.written w
     WHERE w.step = 'minute' AND w.covered >= 60 AND w.at < v_to AND w.at / 3600 IN (SELECT m / 3600 FROM unnest(p_minutes) AS m WHERE m >= v_from)
     GROUP BY w.topic, w.at / 3600
    ON CONFLICT (step, topic, at) DO UPDATE SET covered = excluded.covered, written = excluded.written, arrived = excluded.arrived;
    INSERT INTO redrive.written (step, topic, at, covered, written, arrived)
    SELECT 'day', w.topic, w.at / 86400 * 86400, sum(w.covered), sum(w.written), sum(w.arrived) FROM redrive.written w
     WHERE w.step = 'hour' AND w.at / 86400 IN (SELECT m / 86400 FROM unnest(p_minutes) AS m WHERE m >= v_from)
     GROUP BY w.topic, w.at / 86400
    ON CONFLICT (step, topic, at) DO UPDATE SET covered = excluded.covered, written = excluded.written, arrived = excluded.arrived;
END $$;

-- Lays what was written to a topic between two instants over its minutes. Returns their beginnings.
CREATE OR REPLACE FUNCTION redrive._written_lay(p_topic text, p_from integer, p_to integer, p_written bigint) RETURNS integer[]
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    WITH parts AS (
        SELECT m AS at, greatest(m, p_from) AS low, least(m + 60, p_to) AS high
          FROM generate_series(p_from / 60 * 60, (p_to - 1) / 60 * 60, 60) AS m),
    laid AS (
        INSERT INTO redrive.written AS had (step, topic, at, covered, written)
        SELECT 'minute', p_topic, p.at, p.high - p.low,
               p_written * (p.high - p_from) / (p_to - p_from) - p_written * (p.low - p_from) / (p_to - p_from) FROM parts p
        ON CONFLICT (step, topic, at) DO UPDATE SET covered = had.covered + excluded.covered, written = had.written + excluded.written
        RETURNING at)
    SELECT coalesce(array_agg(l.at), '{}') FROM laid l;
$$;

-- Takes the ends that Kafka told of one topic. Returns the minutes about which something is known now.
CREATE OR REPLACE FUNCTION redrive._written_take(p_cluster text, p_topic text, p_ends bigint[], p_note text, p_now integer) RETURNS integer[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    had redrive.written_end;
    v_grown bigint;
    v_is_whole boolean;
    v_minutes integer[] := '{}';
BEGIN
    SELECT * INTO had FROM redrive.written_end e WHERE e.cluster = p_cluster AND e.topic = p_topic FOR UPDATE;
    IF FOUND AND cardinality(had.ends) > 0 AND cardinality(p_ends) >= cardinality(had.ends) AND p_now > had.at AND p_now <= had.at + 150 THEN
        SELECT bool_and(w.now >= coalesce(w.before, 0)), sum(w.now - coalesce(w.before, 0)) INTO v_is_whole, v_grown
          FROM unnest(p_ends, had.ends) AS w (now, before);
        IF v_is_whole THEN
            v_minutes := redrive._written_lay(p_topic, had.at, p_now, v_grown);
        END IF;
    END IF;
    INSERT INTO redrive.written_end (cluster, topic, ends, at, note) VALUES (p_cluster, p_topic, p_ends, p_now, p_note)
    ON CONFLICT (cluster, topic) DO UPDATE SET ends = excluded.ends, at = excluded.at, note = excluded.note;
    RETURN v_minutes;
END $$;

-- Counts events that came from topics, each once. Returns the minutes in which they were created, and those that are counted from now on.
-- Plan: the events are few, and found by their ids.
CREATE OR REPLACE FUNCTION redrive._written_arrivals() RETURNS integer[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_zone text := (SELECT zone FROM redrive.install);
    s redrive.written_state;
    v_top bigint;
    v_to integer;
    v_minutes integer[] := '{}';
BEGIN
    SELECT * INTO s FROM redrive.written_state WHERE seen_at IS NULL OR seen_at <= v_now - interval '59 s' OR seen_at > v_now FOR UPDATE;
    IF NOT FOUND THEN
        RETURN v_minutes;
    END IF;
    SELECT coalesce(max(e.id), -9223372036854775808) INTO v_top FROM :"events" e;
    IF s.sure IS NOT NULL THEN
        WITH came AS (
            SELECT e.kafka_topic::text AS topic, redrive._trend_minute(e.created_at::timestamp, v_zone) AS at, count(*) AS n FROM :"events" e
             WHERE e.id > s.sure AND e.id <= s.seen AND e.kafka_topic IN (SELECT x.topic FROM redrive.written_end x) GROUP BY 1, 2),
        added AS (
            INSERT INTO redrive.written AS had (step, topic, at, arrived)
            SELECT 'minute', c.topic, c.at, c.n FROM came c WHERE c.at BETWEEN redrive._trend_now() - 165600 AND redrive._trend_now() + 60
            ON CONFLICT (step, topic, at) DO UPDATE SET arrived = had.arrived + excluded.arrived RETURNING at)
        SELECT coalesce(array_agg(DISTINCT a.at), '{}') INTO v_minutes FROM added a;
        v_to := floor(extract(epoch FROM least(s.seen_at, v_now)) - 946684800)::integer / 60 * 60;
        v_minutes := v_minutes || ARRAY(SELECT generate_series(greatest(s.counted_to, v_to - 86400), v_to - 60, 60));
    END IF;
    UPDATE redrive.written_state
       SET sure = coalesce(s.seen, v_top), seen = greatest(v_top, s.seen), seen_at = v_now, counted_to = greatest(v_to, s.counted_to);
    RETURN v_minutes;
END $$;

-- Takes the answers of Kafka: p_of is the place of a partition's topic in p_topics, its partitions in their order; p_notes: why a topic has none; '': it
-- has. False: another worker has the turn.
CREATE OR REPLACE FUNCTION redrive.work_written(p_cluster text, p_turn bigint, p_topics text[], p_notes text[], p_of integer[], p_ends bigint[])
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now integer := redrive._trend_now();
    v_minutes integer[] := '{}';
    w record;
BEGIN
    IF cardinality(p_topics) > 50 OR cardinality(p_of) <> cardinality(p_ends) OR cardinality(p_of) > 100000 OR cardinality(p_notes) <> cardinality(p_topics)
       OR EXISTS (SELECT FROM unnest(p_topics) AS t WHERE coalesce(t, '') !~ '^[A-Za-z0-9._-]{1,249}$') OR EXISTS (SELECT FROM unnest(p_ends) AS e WHERE e IS NULL OR e < 0) THEN
        RAISE EXCEPTION 'these are no ends of topics' USING ERRCODE = 'RD004';
    END IF;
    PERFORM FROM redrive.written_turn t WHERE t.cluster = p_cluster AND t.no = p_turn FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    FOR w IN SELECT t.topic, nullif(t.note, '') AS note, ARRAY(SELECT e.value FROM unnest(p_of, p_ends) WITH ORDINALITY AS e (of, value, n) WHERE e.of = t.no ORDER BY e.n) AS ends
               FROM unnest(p_topics, p_notes) WITH ORDINALITY AS t (topic, note, no) ORDER BY t.topic LOOP
        v_minutes := v_minutes || redrive._written_take(p_cluster, w.topic, w.ends, left(w.note, 200), v_now);
    END LOOP;
    PERFORM redrive._written_fold(v_minutes || redrive._written_arrivals());
    DELETE FROM redrive.written x USING redrive._trend_steps() n WHERE x.step = n.step AND x.at < v_now - n.kept;
    DELETE FROM redrive.written_end x WHERE x.at < v_now - 604800;
    RETURN true;
END $$;
