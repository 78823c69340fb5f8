-- Sums for metrics: what `redrive watch` tells and the rollup does not know, because it counts pending events only. Any watcher adds to them, in
-- turns; a metric that is read costs no look at the contract table.
--
-- What only ever grows is logged and kept: a counter that falls looks like a restart to whoever draws its rate. Rows that are archived or deleted
-- take nothing away. An arrival is an id that is higher than all were a minute ago: a consumer that gives its events lower ones is not counted.

-- One row. A watcher that finds it locked leaves the look to the other.
CREATE TABLE redrive.watch_state (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    looked_at  timestamptz NOT NULL DEFAULT '-infinity',
    -- Arrivals. Sequences are not commit order: ids above `sure` are counted again at each look, and `sure` follows `seen` a minute later.
    sure       bigint,
    seen       bigint,
    seen_at    timestamptz,
    settled    bigint NOT NULL DEFAULT 0, -- rows with ids up to `sure`, counted when `sure` passed them
    arrived    bigint NOT NULL DEFAULT 0, -- settled, and those above; never falls
    -- The table by status, as it was at counted_at.
    counted_at timestamptz,
    took       interval NOT NULL DEFAULT '0 s',
    pending    bigint NOT NULL DEFAULT 0,
    resolved   bigint NOT NULL DEFAULT 0,
    discarded  bigint NOT NULL DEFAULT 0,
    other      bigint NOT NULL DEFAULT 0,
    resolved_to timestamp -- events resolved up to then are in watch_bucket
) WITH (fillfactor = 10);
INSERT INTO redrive.watch_state DEFAULT VALUES;

-- Histograms: how many values were above the bound before and up to this one, and their sum.
CREATE TABLE redrive.watch_bucket (
    histogram text NOT NULL CHECK (histogram IN ('resolution', 'retries')), -- seconds until resolved; retry_count of arrivals
    bound     double precision NOT NULL,
    n         bigint NOT NULL DEFAULT 0,
    total     double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (histogram, bound)
) WITH (fillfactor = 10);
INSERT INTO redrive.watch_bucket (histogram, bound)
SELECT 'resolution', b FROM unnest('{60,300,900,3600,10800,21600,43200,86400,259200,604800,2592000,Infinity}'::float8[]) AS b
UNION ALL SELECT 'retries', b FROM unnest('{0,1,2,3,5,10,20,Infinity}'::float8[]) AS b;

-- Arrivals by error class and event type, since somebody watches. At most fifty pairs, each kept while it has arrivals; all others are 'other'.
CREATE TABLE redrive.watch_arrival (
    error_class text NOT NULL, -- 'none': the message has none; 'unknown': closed before anybody looked at it
    event_type  text NOT NULL,
    n           bigint NOT NULL DEFAULT 0,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(), -- of the last ones
    PRIMARY KEY (error_class, event_type)
);
INSERT INTO redrive.watch_arrival (error_class, event_type) VALUES ('other', 'other');

---- functions

-- The bounds of a histogram, negative and ascending. The bound of a value x is -bounds[width_bucket(-x, bounds)]: width_bucket finds the highest bound
-- that a value has reached, and a value belongs to the lowest that it does not exceed.
CREATE OR REPLACE FUNCTION redrive._watch_bounds(p_histogram text) RETURNS double precision[]
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT array_agg(-bound ORDER BY bound DESC) FROM redrive.watch_bucket WHERE histogram = p_histogram;
$$;

-- Adds arrivals to the sums by class and type: the events above p_after, up to p_upto.
-- Plan: the events are few, and each is looked up in the rollup by its id.
CREATE OR REPLACE FUNCTION redrive._watch_settle(p_after bigint, p_upto bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    v_classes text[];
    v_types text[];
    v_counts bigint[];
    v_bounds float8[] := redrive._watch_bounds('retries');
    v_pairs bigint;
BEGIN
    SELECT array_agg(a.class), array_agg(a.type), array_agg(a.n) INTO v_classes, v_types, v_counts
      FROM (SELECT CASE WHEN c.no IS NULL THEN 'unknown' ELSE coalesce(nullif(left(g.error_class, 100), ''), 'none') END AS class,
                   coalesce(left(e.event_type, 100), 'none') AS type, count(*) AS n
              FROM :"events" e
              LEFT JOIN LATERAL (SELECT b.series FROM redrive.rollup_event b WHERE b.dlq_id = e.id OFFSET 0) b ON true
              LEFT JOIN redrive.rollup_series c ON c.no = b.series
              LEFT JOIN redrive.rollup_group g ON g.key = c.group_key
             WHERE e.id > p_after AND e.id <= p_upto GROUP BY 1, 2) a;
    IF v_counts IS NULL THEN
        RETURN 0;
    END IF;
    UPDATE redrive.watch_bucket b SET n = b.n + a.n, total = b.total + a.total
      FROM (SELECT -v_bounds[width_bucket(-e.retry_count::float8, v_bounds)] AS bound, count(*) AS n, sum(e.retry_count) AS total
              FROM :"events" e WHERE e.id > p_after AND e.id <= p_upto AND e.retry_count IS NOT NULL GROUP BY 1) a
     WHERE b.histogram = 'retries' AND b.bound = a.bound;
    DELETE FROM redrive.watch_arrival w WHERE w.at < clock_timestamp() - interval '7 days' AND (w.error_class, w.event_type) <> ('other', 'other');
    SELECT count(*) INTO v_pairs FROM redrive.watch_arrival;
    INSERT INTO redrive.watch_arrival (error_class, event_type)
    SELECT a.class, a.type FROM unnest(v_classes, v_types, v_counts) AS a (class, type, n)
     WHERE NOT EXISTS (SELECT FROM redrive.watch_arrival w WHERE w.error_class = a.class AND w.event_type = a.type)
     ORDER BY a.n DESC LIMIT greatest(51 - v_pairs, 0);
    UPDATE redrive.watch_arrival w SET n = w.n + a.n, at = clock_timestamp()
      FROM (SELECT coalesce(k.error_class, 'other') AS class, coalesce(k.event_type, 'other') AS type, sum(a.n)::bigint AS n
              FROM unnest(v_classes, v_types, v_counts) AS a (class, type, n)
              LEFT JOIN redrive.watch_arrival k ON k.error_class = a.class AND k.event_type = a.type GROUP BY 1, 2) a
     WHERE w.error_class = a.class AND w.event_type = a.type;
    RETURN (SELECT sum(n) FROM unnest(v_counts) AS n);
END $$;

-- Counts what arrived, at most every p_every. False: it was done lately, or another watcher is at it. The first look counts all rows.
CREATE OR REPLACE FUNCTION redrive.watch_look(p_every interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.watch_state;
    v_now timestamptz := clock_timestamp();
    v_top bigint;
    v_above bigint;
BEGIN
    SELECT * INTO s FROM redrive.watch_state WHERE looked_at <= v_now - p_every OR looked_at > v_now FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT coalesce(max(e.id), -9223372036854775808) INTO v_top FROM :"events" e;
    IF s.sure IS NULL THEN
        SELECT count(*) INTO s.settled FROM :"events" e WHERE e.id <= v_top;
        s.sure := v_top;
        s.seen := v_top;
        s.seen_at := v_now;
    ELSIF s.seen_at <= v_now - interval '1 minute' OR s.seen_at > v_now THEN
        s.settled := s.settled + redrive._watch_settle(s.sure, s.seen);
        s.sure := s.seen;
        s.seen := greatest(v_top, s.seen);
        s.seen_at := v_now;
    END IF;
    SELECT count(*) INTO v_above FROM :"events" e WHERE e.id > s.sure;
    s.settled := s.settled + greatest(s.arrived - s.settled - v_above, 0); -- those above `sure` that were deleted meanwhile
    UPDATE redrive.watch_state
       SET looked_at = v_now, sure = s.sure, seen = s.seen, seen_at = s.seen_at, settled = s.settled,
           arrived = s.settled + v_above;
    RETURN true;
END $$;

-- Counts the table by status and adds events that were resolved meanwhile to their histogram, at most every p_every, and not before twenty times as
-- long as the last count took. Events of the last minute wait for the next count, because their transactions may commit later.
CREATE OR REPLACE FUNCTION redrive.watch_count(p_every interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.watch_state;
    v_now timestamptz := clock_timestamp();
    v_to timestamp := redrive._wall(clock_timestamp() - interval '1 minute');
    v_bounds float8[] := redrive._watch_bounds('resolution');
BEGIN
    SELECT * INTO s FROM redrive.watch_state
     WHERE counted_at IS NULL OR counted_at <= v_now - greatest(p_every, 20 * took) OR counted_at > v_now FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH counted AS MATERIALIZED (
        SELECT e.status, -v_bounds[width_bucket(-e.seconds, v_bounds)] AS bound, count(*) AS n, sum(e.seconds) AS total
          FROM (SELECT x.status::text AS status,
                       CASE WHEN x.status = 'RESOLVED' AND x.resolved_at::timestamp <= v_to
                             AND (s.resolved_to IS NULL OR x.resolved_at::timestamp > s.resolved_to)
                            THEN greatest(extract(epoch FROM x.resolved_at::timestamp - x.created_at::timestamp), 0)::float8 END AS seconds
                  FROM :"events" x OFFSET 0) e GROUP BY 1, 2),
    added AS (
        UPDATE redrive.watch_bucket b SET n = b.n + a.n, total = b.total + a.total
          FROM (SELECT c.bound, sum(c.n) AS n, sum(c.total) AS total FROM counted c WHERE c.bound IS NOT NULL GROUP BY 1) a
         WHERE b.histogram = 'resolution' AND b.bound = a.bound)
    SELECT coalesce(sum(c.n) FILTER (WHERE c.status = 'PENDING'), 0), coalesce(sum(c.n) FILTER (WHERE c.status = 'RESOLVED'), 0),
           coalesce(sum(c.n) FILTER (WHERE c.status = 'DISCARDED'), 0),
           coalesce(sum(c.n) FILTER (WHERE c.status IS NULL OR c.status NOT IN ('PENDING', 'RESOLVED', 'DISCARDED')), 0)
      INTO s.pending, s.resolved, s.discarded, s.other FROM counted c;
    UPDATE redrive.watch_state
       SET counted_at = v_now, took = clock_timestamp() - v_now, pending = s.pending, resolved = s.resolved, discarded = s.discarded, other = s.other,
           resolved_to = greatest(v_to, s.resolved_to);
    RETURN true;
END $$;
