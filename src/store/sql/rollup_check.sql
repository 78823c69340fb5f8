-- How the rollup stays true (rollup.sql): what redrive changed itself, comparison by ranges of ids, and folding.
--
-- Closed events are removed here. Missing ones, or those written to since they were counted, are returned with the versions that were seen, for the
-- caller to read, fingerprint and hand to rollup_add. The caller reads that version or a later one, so a change in between is found by the next
-- look. While there are rows in rollup_batch nothing is drained or compared: their events cannot be found by id.

---- functions

-- Is an event counted from this version of its row? p_counted: rollup_event.version, NULL: it is not counted at all. Inlined where it is called.
CREATE OR REPLACE FUNCTION redrive._rollup_is_current(p_counted xid, p_version xid, p_floor xid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT (p_counted = p_version OR p_counted = '0'::xid AND age(p_version) > age(p_floor)) IS TRUE;
$$;

-- Takes up to 200 notes of rollup_due: removes closed events. missing: pending ones that are not counted as they are now.
CREATE OR REPLACE FUNCTION redrive.rollup_drain(p_maintainer text, OUT looked_at bigint, OUT missing bigint[], OUT versions xid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    v_ids bigint[];
    v_gone bigint[];
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    WITH taken AS (
        DELETE FROM redrive.rollup_due
         WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM redrive.rollup_due d LIMIT 200 FOR UPDATE SKIP LOCKED)) RETURNING dlq_ids)
    SELECT array_agg(DISTINCT w.id) INTO v_ids FROM taken, unnest(taken.dlq_ids) AS w (id);
    looked_at := coalesce(cardinality(v_ids), 0);
    IF looked_at = 0 THEN
        RETURN;
    END IF;
    PERFORM redrive._closed_forget();
    SELECT array_agg(b.dlq_id) FILTER (WHERE b.dlq_id IS NOT NULL AND e.status IS DISTINCT FROM 'PENDING'),
           array_agg(w.id) FILTER (WHERE e.status = 'PENDING' AND NOT redrive._rollup_is_current(b.version, e.version, s.xmin_floor)),
           array_agg(e.version) FILTER (WHERE e.status = 'PENDING' AND NOT redrive._rollup_is_current(b.version, e.version, s.xmin_floor))
      INTO v_gone, missing, versions
      FROM unnest(v_ids) AS w (id)
      LEFT JOIN LATERAL (SELECT x.dlq_id, x.version FROM redrive.rollup_event x WHERE x.dlq_id = w.id OFFSET 0) b ON true
      LEFT JOIN LATERAL (SELECT x.status, x.xmin AS version FROM :"events" x WHERE x.id = w.id LIMIT 1) e ON true;
    IF v_gone IS NOT NULL THEN
        PERFORM redrive._rollup_remove(v_gone);
    END IF;
END $$;

-- Compares the p_rows rows of the table up to an id, and the ids between: removes what is no longer pending. missing: pending events that are not
-- counted as they are now. until: compared down to above this id; the lowest bigint: to the end.
-- Plan: planned for each range, since the ids asked for may be a page or most of the table.
CREATE OR REPLACE FUNCTION redrive.rollup_compare(p_maintainer text, p_upto bigint, p_rows bigint, OUT until bigint, OUT gone bigint,
                                        OUT missing bigint[], OUT versions xid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    s redrive.rollup_state;
    v_gone bigint[];
    v_end bigint := -9223372036854775808;
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    p_upto := least(p_upto, s.high);
    SELECT least(
        coalesce((SELECT e.id FROM :"events" e WHERE e.id <= p_upto ORDER BY e.id DESC OFFSET p_rows LIMIT 1), v_end),
        coalesce((SELECT b.dlq_id FROM redrive.rollup_event b WHERE b.dlq_id <= p_upto ORDER BY b.dlq_id DESC OFFSET p_rows LIMIT 1), v_end)) INTO until;
    until := greatest(until, s.low);
    -- One statement, so one snapshot: between two, an arrival would look like a difference.
    WITH counted AS MATERIALIZED (SELECT b.dlq_id, b.version FROM redrive.rollup_event b WHERE b.dlq_id > until AND b.dlq_id <= p_upto),
         pending AS MATERIALIZED (
             SELECT e.id, e.xmin AS version FROM :"events" e WHERE e.id > until AND e.id <= p_upto AND e.status = 'PENDING')
    SELECT array_agg(c.dlq_id) FILTER (WHERE p.id IS NULL), array_agg(p.id) FILTER (WHERE p.id IS NOT NULL),
           array_agg(p.version) FILTER (WHERE p.id IS NOT NULL)
      INTO v_gone, missing, versions
      FROM counted c FULL JOIN pending p ON p.id = c.dlq_id
     WHERE p.id IS NULL OR NOT redrive._rollup_is_current(c.version, p.version, s.xmin_floor);
    IF s.uncompared > until AND s.uncompared <= p_upto THEN
        UPDATE redrive.rollup_state SET uncompared = until;
    END IF;
    gone := coalesce(cardinality(v_gone), 0);
    IF gone > 0 THEN
        PERFORM redrive._rollup_remove(v_gone);
    END IF;
END $$;

-- Does PostgreSQL count what changes in the contract table, without losing any? Not that of a view, of a foreign table, or where counting is off.
CREATE OR REPLACE FUNCTION redrive._rollup_counts_changes() RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT current_setting('server_version_num')::integer >= 150000 AND current_setting('track_counts')::boolean
       AND EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(:'events') AND c.relkind IN ('r', 'p'));
$$;

-- The same for all rows at once that were written since all were compared: one look over the table, which costs a tenth of comparing each row.
-- Deleted rows escape it. The count of pending events tells them, because nothing is left that could balance it. is_done: nothing was different, so
-- that all is compared. NULL: it is not known since when, or too long ago for the age of a row to tell.
--
-- p_changes: the table's count of changes (store_change_count), read before. Where it is what it was when all were compared, nothing was written but
-- arrivals, and the table is not read (is_read). PostgreSQL writes its counts down up to ten seconds late, so the floor stays where it is: the next look
-- that finds another count reads from there. Before PostgreSQL 15 counts could be lost on their way.
-- Plan: each row that was written is looked up in rollup_event, since they are few.
CREATE OR REPLACE FUNCTION redrive.rollup_compare_written(p_maintainer text, p_rows bigint, p_changes bigint, OUT is_done boolean, OUT is_read boolean,
                                                OUT gone bigint, OUT missing bigint[], OUT versions xid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    v_running bigint := txid_snapshot_xmin(txid_current_snapshot()); -- before the look, which sees all that ended below it
    v_since bigint;
    v_floor xid;
    v_gone bigint[];
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    is_read := false;
    v_since := greatest(s.compared_floor, s.texts_floor);
    IF s.low > -9223372036854775808 OR v_since IS NULL OR v_since > v_running OR v_running - v_since > 1000000000
       OR EXISTS (SELECT FROM redrive.rollup_batch) THEN
        RETURN;
    END IF;
    IF p_changes IN (s.compared_changes, s.texts_changes) AND redrive._rollup_counts_changes() THEN
        UPDATE redrive.rollup_state SET uncompared = -9223372036854775808;
        is_done := true;
        gone := 0;
        RETURN;
    END IF;
    is_read := true;
    v_floor := (v_since % 4294967296)::text::xid;
    SELECT array_agg(d.id) FILTER (WHERE d.status IS DISTINCT FROM 'PENDING'), array_agg(d.id) FILTER (WHERE d.status = 'PENDING'),
           array_agg(d.version) FILTER (WHERE d.status = 'PENDING')
      INTO v_gone, missing, versions
      FROM (SELECT w.id, w.status, w.version
              FROM (SELECT e.id, e.status, e.xmin AS version FROM :"events" e WHERE age(e.xmin) <= age(v_floor) AND e.id <= s.high) w
              LEFT JOIN LATERAL (SELECT x.dlq_id, x.version FROM redrive.rollup_event x WHERE x.dlq_id = w.id OFFSET 0) b ON true
             WHERE CASE WHEN w.status = 'PENDING' THEN NOT redrive._rollup_is_current(b.version, w.version, s.xmin_floor)
                        ELSE b.dlq_id IS NOT NULL END
             LIMIT p_rows) d;
    is_done := v_gone IS NULL AND missing IS NULL;
    gone := coalesce(cardinality(v_gone), 0);
    IF gone > 0 THEN
        PERFORM redrive._rollup_remove(v_gone);
    END IF;
    IF is_done THEN
        UPDATE redrive.rollup_state SET uncompared = -9223372036854775808, compared_floor = v_running, compared_changes = p_changes;
    END IF;
END $$;

-- Do counts and table agree? One statement, so one snapshot. difference: pending events that are not counted, less counted ones that are not
-- pending. Arrivals and what redrive changed itself are known to be ahead and left out.
CREATE OR REPLACE FUNCTION redrive.rollup_check(p_maintainer text, OUT pending bigint, OUT ahead bigint, OUT difference bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    v_counted bigint;
    v_opened bigint;
    v_closed bigint;
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    SELECT (SELECT count(*) FROM :"events" e WHERE e.status = 'PENDING'),
           (SELECT count(*) FROM :"events" e WHERE e.id > s.high AND coalesce(e.status, '') = 'PENDING'),
           (SELECT coalesce(sum(t.n), 0) FROM redrive.rollup_total t),
           coalesce(count(*) FILTER (WHERE b.dlq_id IS NOT NULL AND e.status IS DISTINCT FROM 'PENDING'), 0),
           coalesce(count(*) FILTER (WHERE b.dlq_id IS NULL AND e.status = 'PENDING' AND d.id <= s.high), 0)
      INTO pending, ahead, v_counted, v_closed, v_opened
      FROM (SELECT DISTINCT w.id FROM redrive.rollup_due, unnest(dlq_ids) AS w (id)) d
      LEFT JOIN LATERAL (SELECT x.dlq_id FROM redrive.rollup_event x WHERE x.dlq_id = d.id OFFSET 0) b ON true
      LEFT JOIN LATERAL (SELECT x.status FROM :"events" x WHERE x.id = d.id LIMIT 1) e ON true;
    ahead := ahead + v_opened;
    difference := pending - ahead - (v_counted - v_closed);
    UPDATE redrive.rollup_state
       SET checked_at = clock_timestamp(), exact_at = CASE WHEN difference = 0 AND uncompared = -9223372036854775808 THEN clock_timestamp() ELSE exact_at END,
           behind = ahead + abs(difference), changed = changed + (CASE WHEN behind = ahead + abs(difference) THEN 0 ELSE 1 END);
END $$;

-- Are the counts of some series those of their events? Takes the series above p_above, as many as have about p_rows events. A wrong count is mended
-- by adding the difference, which stays the same whatever is added or removed meanwhile. until: looked up to this series; NULL: to the last.
-- Plan: planned for each range of series.
CREATE OR REPLACE FUNCTION redrive.rollup_recount(p_maintainer text, p_above integer, p_rows bigint, OUT until integer, OUT wrong bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    s redrive.rollup_state;
    v_to integer;
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    SELECT min(c.series) INTO until
      FROM (SELECT t.series, sum(sum(abs(t.n))) OVER (ORDER BY t.series) AS n FROM redrive.rollup_total t
             WHERE t.series > p_above GROUP BY t.series) c
     WHERE c.n >= p_rows;
    v_to := coalesce(until, 2147483647);
    WITH event AS MATERIALIZED (
        SELECT b.series, b.retries, b.created FROM redrive.rollup_event b WHERE b.series > p_above AND b.series <= v_to),
    total AS (
        INSERT INTO redrive.rollup_total
        SELECT d.series, d.retries, sum(d.n)
          FROM (SELECT series, retries, count(*) AS n FROM event GROUP BY series, retries
                UNION ALL SELECT series, retries, -n FROM redrive.rollup_total WHERE series > p_above AND series <= v_to) d
         GROUP BY d.series, d.retries HAVING sum(d.n) <> 0 RETURNING 1),
    hour AS (
        INSERT INTO redrive.rollup_hour
        SELECT d.series, d.hour, sum(d.n)
          FROM (SELECT series, created / 3600 AS hour, count(*) AS n FROM event GROUP BY series, created / 3600
                UNION ALL SELECT series, hour, -n FROM redrive.rollup_hour WHERE series > p_above AND series <= v_to) d
         GROUP BY d.series, d.hour HAVING sum(d.n) <> 0 RETURNING 1),
    bucket AS (
        INSERT INTO redrive.rollup_bucket
        SELECT d.series, d.bucket, sum(d.n)
          FROM (SELECT series, created / 10 AS bucket, count(*) AS n FROM event GROUP BY series, created / 10
                UNION ALL SELECT series, bucket, -n FROM redrive.rollup_bucket WHERE series > p_above AND series <= v_to) d
         WHERE d.bucket >= s.buckets_from GROUP BY d.series, d.bucket HAVING sum(d.n) <> 0 RETURNING 1)
    SELECT (SELECT count(*) FROM total) + (SELECT count(*) FROM hour) + (SELECT count(*) FROM bucket) INTO wrong;
    IF wrong > 0 THEN
        UPDATE redrive.rollup_state SET changed = changed + 1;
    END IF;
END $$;

-- Folds counts that have grown to more than p_rows rows, and forgets buckets before p_bucket.
CREATE OR REPLACE FUNCTION redrive.rollup_fold(p_maintainer text, p_rows bigint, p_bucket integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    IF (SELECT count(*) FROM redrive.rollup_total) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.rollup_total RETURNING *)
        INSERT INTO redrive.rollup_total SELECT series, retries, sum(n) FROM gone GROUP BY series, retries HAVING sum(n) <> 0;
    END IF;
    IF (SELECT count(*) FROM redrive.rollup_hour) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.rollup_hour RETURNING *)
        INSERT INTO redrive.rollup_hour SELECT series, hour, sum(n) FROM gone GROUP BY series, hour HAVING sum(n) <> 0;
    END IF;
    IF (SELECT count(*) FROM redrive.rollup_bucket) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.rollup_bucket RETURNING *)
        INSERT INTO redrive.rollup_bucket
        SELECT series, bucket, sum(n) FROM gone WHERE bucket >= p_bucket GROUP BY series, bucket HAVING sum(n) <> 0;
        UPDATE redrive.rollup_state SET buckets_from = greatest(buckets_from, p_bucket);
    END IF;
END $$;

-- The same for outcomes; keeps when the first one happened.
CREATE OR REPLACE FUNCTION redrive.rollup_fold_outcomes(p_maintainer text, p_rows bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    IF (SELECT count(*) FROM redrive.rollup_outcome) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.rollup_outcome RETURNING *)
        INSERT INTO redrive.rollup_outcome
        SELECT group_key, outcome, sum(n), min(since) FROM gone GROUP BY group_key, outcome HAVING sum(n) <> 0;
    END IF;
END $$;

-- Looks at the p_rows series above p_above: removes those that have had no pending event for p_idle, and groups without a series, with their texts.
-- Their outcomes stay, counted since the group was known. until: looked up to this series; NULL: to the last. gone: how many were removed.
-- Plan: series by key, each with the index of its events.
CREATE OR REPLACE FUNCTION redrive.rollup_prune(p_maintainer text, p_above integer, p_rows bigint, p_idle interval, OUT until integer, OUT gone bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    v_looked integer[];
    v_idle integer[];
    v_groups bigint[];
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    gone := 0;
    IF s.low > -9223372036854775808 OR EXISTS (SELECT FROM redrive.rollup_batch) THEN
        RETURN; -- their events cannot be found by series yet
    END IF;
    v_looked := ARRAY(SELECT c.no FROM redrive.rollup_series c WHERE c.no > p_above ORDER BY c.no LIMIT p_rows);
    IF cardinality(v_looked) = p_rows THEN
        until := v_looked[p_rows::integer];
    END IF;
    v_idle := ARRAY(SELECT w.no FROM unnest(v_looked) AS w (no)
                      LEFT JOIN LATERAL (SELECT b.series FROM redrive.rollup_event b WHERE b.series = w.no LIMIT 1) e ON true WHERE e.series IS NULL);
    DELETE FROM redrive.rollup_idle i WHERE i.series = ANY (v_looked) AND NOT i.series = ANY (v_idle);
    WITH due AS (DELETE FROM redrive.rollup_idle i WHERE i.series = ANY (v_idle) AND i.since <= clock_timestamp() - p_idle RETURNING i.series),
    pruned AS (DELETE FROM redrive.rollup_series c USING due WHERE c.no = due.series RETURNING c.group_key)
    SELECT array_agg(DISTINCT p.group_key), count(*) INTO v_groups, gone FROM pruned p;
    INSERT INTO redrive.rollup_idle (series) SELECT c.no FROM redrive.rollup_series c WHERE c.no = ANY (v_idle) ON CONFLICT DO NOTHING;
    IF gone > 0 THEN
        WITH pruned AS (
            DELETE FROM redrive.rollup_group g
             WHERE g.key = ANY (v_groups) AND NOT EXISTS (SELECT FROM redrive.rollup_series c WHERE c.group_key = g.key) RETURNING g.key, g.known_at)
        UPDATE redrive.rollup_outcome o SET since = p.known_at FROM pruned p WHERE o.group_key = p.key AND o.since > p.known_at;
    END IF;
END $$;
