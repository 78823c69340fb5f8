-- The trend: how many events arrived and left by minute (kept for 48 hours), hour (90 days) and day of UTC (5 years), and how many were pending.
--
-- The maintainer of the rollup writes it, under its lease, so two maintainers write nothing twice. Each event is counted once, in the minute of its
-- created_at and in that of its resolved_at, when the database comes to know of it: a row that is committed late still gets into its minute, and
-- one that is deleted later stays counted.
--
-- Arrivals since counted_from are counted from the table again and again, because an event may come and go between two looks of the maintainer.
-- What was counted of them stands in trend_recent, so only what is more is added. Older events are counted when rollup_event gets or loses them.
--
-- Times are whole seconds since 2000-01-01 UTC, as in rollup.sql.

CREATE TABLE redrive.trend (
    step        text NOT NULL CHECK (step IN ('minute', 'hour', 'day')),
    at          integer NOT NULL, -- its beginning
    arrived     bigint NOT NULL DEFAULT 0,
    resolved    bigint NOT NULL DEFAULT 0, -- left, by outcome
    discarded   bigint NOT NULL DEFAULT 0,
    reprocessed bigint NOT NULL DEFAULT 0,
    gone        bigint NOT NULL DEFAULT 0, -- the row was deleted, or has a status of somebody else
    restored    bigint NOT NULL DEFAULT 0, -- pending again after redrive had closed it
    pending     bigint,                    -- when it was looked at last; NULL: nobody looked, which is drawn as a gap
    PRIMARY KEY (step, at)
);

CREATE TABLE redrive.trend_recent (
    created integer NOT NULL, -- the minute of created_at
    at      integer NOT NULL, -- the minute it counts in
    outcome text NOT NULL,    -- a column of trend
    n       bigint NOT NULL,
    PRIMARY KEY (created, at, outcome)
);

CREATE TABLE redrive.trend_state (
    one          boolean PRIMARY KEY DEFAULT true CHECK (one),
    began        integer NOT NULL, -- what left before is not counted
    counted_from integer NOT NULL
);

---- functions

CREATE OR REPLACE FUNCTION redrive._trend_now() RETURNS integer
LANGUAGE sql VOLATILE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()) - 946684800)::integer;
$$;

-- The minute of a time of the contract table; NULL for none, and outside 2000 to 2067. Inlined where it is called.
CREATE OR REPLACE FUNCTION redrive._trend_minute(p_wall timestamp, p_zone text) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_wall >= '2000-01-02' AND p_wall < '2068-01-01'
                THEN floor((extract(epoch FROM p_wall AT TIME ZONE p_zone) - 946684800) / 60)::integer * 60 END;
$$;

CREATE OR REPLACE FUNCTION redrive._trend_wall(p_at integer, p_zone text) RETURNS timestamp
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT to_timestamp(p_at + 946684800::bigint) AT TIME ZONE p_zone;
$$;

-- How long each step is, and how long it is kept, in seconds.
CREATE OR REPLACE FUNCTION redrive._trend_steps() RETURNS TABLE (step text, length integer, kept integer)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    VALUES ('minute', 60, 172800), ('hour', 3600, 7776000), ('day', 86400, 157766400);
$$;

-- Adds n events of an outcome (a column of trend) in a minute, to all steps that still keep it.
CREATE OR REPLACE FUNCTION redrive._trend_add(p_at integer[], p_outcomes text[], p_n bigint[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    INSERT INTO redrive.trend AS had (step, at, arrived, resolved, discarded, reprocessed, gone, restored)
    SELECT s.step, w.at / s.length * s.length,
           coalesce(sum(w.n) FILTER (WHERE w.outcome = 'arrived'), 0), coalesce(sum(w.n) FILTER (WHERE w.outcome = 'resolved'), 0),
           coalesce(sum(w.n) FILTER (WHERE w.outcome = 'discarded'), 0), coalesce(sum(w.n) FILTER (WHERE w.outcome = 'reprocessed'), 0),
           coalesce(sum(w.n) FILTER (WHERE w.outcome = 'gone'), 0), coalesce(sum(w.n) FILTER (WHERE w.outcome = 'restored'), 0)
      FROM unnest(p_at, p_outcomes, p_n) AS w (at, outcome, n), redrive._trend_steps() s
     WHERE w.at >= redrive._trend_now() - s.kept
     GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (step, at) DO UPDATE
       SET arrived = had.arrived + excluded.arrived, resolved = had.resolved + excluded.resolved, discarded = had.discarded + excluded.discarded,
           reprocessed = had.reprocessed + excluded.reprocessed, gone = had.gone + excluded.gone, restored = had.restored + excluded.restored;
$$;

-- Events that rollup_event has got (rollup_add): those created before counted_from arrived late. p_restored: of redrive itself, which arrived long
-- ago. One that somebody made pending again by hand arrives once more.
CREATE OR REPLACE FUNCTION redrive._trend_enter(p_created integer[], p_restored bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_from integer := (SELECT counted_from FROM redrive.trend_state);
    v_now integer := redrive._trend_now() / 60 * 60;
BEGIN
    IF v_from IS NOT NULL AND (p_restored > 0 OR cardinality(p_created) > 0) THEN
        PERFORM redrive._trend_add(array_agg(m.at), array_agg(m.outcome), array_agg(m.n))
           FROM (SELECT CASE WHEN w.created > 0 THEN w.created / 60 * 60 ELSE v_now END AS at, 'arrived' AS outcome, count(*) AS n
                   FROM unnest(p_created) AS w (created) WHERE w.created < v_from GROUP BY 1
                 UNION ALL SELECT v_now, 'restored', p_restored WHERE p_restored > 0) m HAVING count(*) > 0;
    END IF;
END $$;

-- Events that rollup_event has lost (_rollup_remove), each with its created, its outcome and the minute of resolved_at, or NULL. Of those that are in
-- the archive, trend_recent gets a note: their rows may come back.
CREATE OR REPLACE FUNCTION redrive._trend_leave(p_created integer[], p_outcomes text[], p_left integer[], p_archived boolean[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.trend_state;
    v_now integer := redrive._trend_now() / 60 * 60;
BEGIN
    SELECT * INTO s FROM redrive.trend_state;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM redrive._trend_add(array_agg(m.at), array_agg(m.outcome), array_agg(m.n))
       FROM (SELECT CASE WHEN w.left_at BETWEEN s.began AND v_now THEN w.left_at ELSE v_now END AS at, w.outcome, count(*) AS n
               FROM unnest(p_created, p_outcomes, p_left, p_archived) AS w (created, outcome, left_at, is_archived)
              WHERE w.created < s.counted_from OR w.outcome = 'gone' OR w.is_archived GROUP BY 1, 2) m HAVING count(*) > 0;
    INSERT INTO redrive.trend_recent AS had (created, at, outcome, n)
    SELECT w.created / 60 * 60, CASE WHEN w.left_at BETWEEN s.began AND v_now THEN w.left_at ELSE v_now END, w.outcome, count(*)
      FROM unnest(p_created, p_outcomes, p_left, p_archived) AS w (created, outcome, left_at, is_archived)
     WHERE w.is_archived AND w.created >= s.counted_from GROUP BY 1, 2, 3
    ON CONFLICT (created, at, outcome) DO UPDATE SET n = had.n + excluded.n;
END $$;

-- Counts what was created between two minutes, and adds what is more than before. An event that is pending and not in rollup_event yet is left to
-- the next look.
-- Plan: made for each range, by the index of created_at.
CREATE OR REPLACE FUNCTION redrive._trend_recount(p_from integer, p_to integer, p_began integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_zone text := (SELECT zone FROM redrive.install);
    v_low timestamp := redrive._trend_wall(p_from, v_zone);
    v_high timestamp := redrive._trend_wall(p_to, v_zone);
    v_now integer := redrive._trend_now() / 60 * 60;
    v_closed bigint[];
    v_created integer[];
    v_at integer[];
    v_outcomes text[];
    v_n bigint[];
BEGIN
    v_closed := ARRAY(SELECT e.id FROM :"events" e WHERE e.created_at >= v_low AND e.created_at < v_high AND e.status = 'RESOLVED');
    WITH seen AS MATERIALIZED (
        SELECT e.id, e.status::text AS status, redrive._trend_minute(e.created_at::timestamp, v_zone) AS created,
               redrive._trend_minute(e.resolved_at::timestamp, v_zone) AS left_at, b.is_counted
          FROM :"events" e LEFT JOIN LATERAL (SELECT true AS is_counted FROM redrive.rollup_event x WHERE x.dlq_id = e.id OFFSET 0) b ON true
         WHERE e.created_at >= v_low AND e.created_at < v_high),
    every AS (
        SELECT s.created, s.created AS at, 'arrived' AS outcome, count(*) AS n FROM seen s
         WHERE s.is_counted OR s.status IS DISTINCT FROM 'PENDING' GROUP BY 1
        UNION ALL
        SELECT s.created, CASE WHEN s.left_at <= v_now THEN s.left_at ELSE greatest(s.created, p_began) END,
               CASE WHEN s.status = 'DISCARDED' THEN 'discarded' WHEN d.action = 'reprocess' THEN 'reprocessed' ELSE 'resolved' END, count(*)
          FROM seen s LEFT JOIN redrive._items_done(v_closed) d ON d.dlq_id = s.id
         WHERE s.is_counted IS NULL AND s.status IN ('RESOLVED', 'DISCARDED') AND coalesce(s.left_at, p_began) >= p_began GROUP BY 1, 2, 3),
    more AS (
        SELECT e.created, e.at, e.outcome, e.n - coalesce(r.n, 0) AS n
          FROM every e LEFT JOIN redrive.trend_recent r ON r.created = e.created AND r.at = e.at AND r.outcome = e.outcome
         WHERE e.n > coalesce(r.n, 0))
    SELECT array_agg(m.created), array_agg(m.at), array_agg(m.outcome), array_agg(m.n) INTO v_created, v_at, v_outcomes, v_n FROM more m;
    IF v_at IS NOT NULL THEN
        INSERT INTO redrive.trend_recent AS had (created, at, outcome, n) SELECT * FROM unnest(v_created, v_at, v_outcomes, v_n)
        ON CONFLICT (created, at, outcome) DO UPDATE SET n = had.n + excluded.n;
        PERFORM redrive._trend_add(v_at, v_outcomes, v_n);
    END IF;
END $$;

-- One step of the trend: counts up to an hour of arrivals again, notes how many are pending (NULL: not known now), forgets what is too old. False:
-- there is more to count at once. Nothing is counted during a first count, whose events cannot be found by id.
CREATE OR REPLACE FUNCTION redrive.trend_take(p_maintainer text, p_pending bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    t redrive.trend_state;
    v_zone text := (SELECT zone FROM redrive.install);
    v_now integer := redrive._trend_now();
    v_to integer;
    v_next integer;
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    IF s.low > -9223372036854775808 OR EXISTS (SELECT FROM redrive.rollup_batch) THEN
        RETURN true;
    END IF;
    INSERT INTO redrive.trend_state (began, counted_from)
    SELECT v_now / 60 * 60, coalesce((SELECT redrive._trend_minute(min(e.created_at)::timestamp, v_zone) FROM :"events" e
                                       WHERE e.created_at >= redrive._trend_wall(v_now - 172800, v_zone)
                                         AND e.created_at < redrive._trend_wall(v_now, v_zone)), v_now / 60 * 60)
     WHERE NOT EXISTS (SELECT FROM redrive.trend_state) ON CONFLICT DO NOTHING;
    SELECT * INTO t FROM redrive.trend_state;
    v_to := least(v_now / 60 * 60 + 60, t.counted_from + 3600);
    IF v_to > t.counted_from THEN
        PERFORM redrive._trend_recount(t.counted_from, v_to, t.began);
    END IF;
    INSERT INTO redrive.trend AS had (step, at, pending) SELECT n.step, v_now / n.length * n.length, p_pending FROM redrive._trend_steps() n
     WHERE p_pending IS NOT NULL
       AND NOT EXISTS (SELECT FROM redrive.trend x WHERE x.step = n.step AND x.at = v_now / n.length * n.length AND x.pending = p_pending)
    ON CONFLICT (step, at) DO UPDATE SET pending = excluded.pending;
    v_next := least(v_to, v_now / 60 * 60 - 120);
    IF v_next > t.counted_from THEN
        UPDATE redrive.trend_state SET counted_from = v_next;
        DELETE FROM redrive.trend_recent r WHERE r.created < v_next;
        DELETE FROM redrive.trend x USING redrive._trend_steps() n WHERE x.step = n.step AND x.at < v_now - n.kept;
    END IF;
    RETURN v_to < t.counted_from OR v_to > v_now;
END $$;
