-- Keeping the sums of the backlog (007_backlog.sql). One keeper at a time: it holds a lease in backlog_state, and each function that changes
-- sums locks that row first and refuses (RD001) whom it does not belong to.
--
-- A keeper looks at arrivals above `high` (and while it counts for the first time, below `low`), at what backlog_due names, and compares: a count
-- that does not agree calls for a comparison by ranges of ids. What it finds closed it takes out by itself; what it finds missing, or written to
-- since it was counted, it returns with the versions it saw, for the caller to read, fingerprint and hand to backlog_add. What is read then is that
-- version or a later one, so a change in between is found by the next look.
--
-- The sums are at all times those of backlog_event and backlog_slice together (011_slices.sql). Nothing is settled or compared while there are
-- slices: their events cannot be found by id.

-- The lease, for 10 s. is_mine false: somebody else keeps the sums, or the caller's fingerprints or zone are not those of the sums. p_slot: the
-- slot in which an hour ago was. unswept: nobody kept the sums for a while, be it the caller itself, so differences that cancel each other out may
-- have gone unnoticed: until backlog_compare has come from this id to the lowest, the sums are not called exact. 0: nothing of that kind is left.
CREATE OR REPLACE FUNCTION redrive.backlog_claim(p_keeper text, p_version integer, p_zone text, p_slot integer,
                                      OUT is_mine boolean, OUT low bigint, OUT high bigint, OUT slots_from integer, OUT unswept bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.backlog_state;
    v_zone text := (SELECT zone FROM redrive.install);
    v_mark xid := (txid_snapshot_xmin(txid_current_snapshot()) % 4294967296)::text::xid;
BEGIN
    is_mine := false;
    IF p_zone <> v_zone THEN
        RETURN;
    END IF;
    INSERT INTO redrive.backlog_state (version, zone, low, high, slots_from, mark)
    SELECT p_version, v_zone, m.top, m.top, p_slot, v_mark FROM (SELECT coalesce(max(e.id), 0) AS top FROM :"events" e) AS m
     WHERE NOT EXISTS (SELECT FROM redrive.backlog_state)
    ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM redrive.backlog_state FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR s.version > p_version OR s.keeper <> p_keeper AND s.keeper_until > clock_timestamp() THEN
        RETURN;
    END IF;
    IF s.version < p_version OR s.zone <> v_zone THEN
        TRUNCATE redrive.backlog_event, redrive.backlog_slice, redrive.backlog_total, redrive.backlog_hour, redrive.backlog_slot, redrive.backlog_text;
        SELECT coalesce(max(e.id), 0) INTO s.high FROM :"events" e;
        s.low := s.high;
        s.slots_from := p_slot;
        UPDATE redrive.backlog_state
           SET version = p_version, zone = v_zone, low = s.low, high = s.high, slots_from = p_slot, mark = v_mark, exact_at = NULL,
               checked_at = NULL;
    END IF;
    IF s.keeper_until < clock_timestamp() - interval '5 s' THEN
        UPDATE redrive.backlog_state SET unswept = s.high, exact_at = NULL;
        s.unswept := s.high;
    END IF;
    UPDATE redrive.backlog_state SET keeper = p_keeper, keeper_until = clock_timestamp() + interval '10 s';
    is_mine := true;
    low := s.low;
    high := s.high;
    slots_from := s.slots_from;
    unswept := s.unswept;
END $$;

CREATE OR REPLACE FUNCTION redrive.backlog_release(p_keeper text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.backlog_state SET keeper = NULL, keeper_until = clock_timestamp() WHERE keeper = p_keeper;
$$;

CREATE OR REPLACE FUNCTION redrive._backlog_hold(p_keeper text) RETURNS redrive.backlog_state
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE s redrive.backlog_state;
BEGIN
    -- Derived, and found again after a crash: nobody waits for the disk.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE redrive.backlog_state SET keeper_until = clock_timestamp() + interval '10 s' WHERE keeper = p_keeper RETURNING * INTO s;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the sums of the backlog are kept by somebody else now' USING ERRCODE = 'RD001';
    END IF;
    RETURN s;
END $$;

-- Numbers of these cells, in order; those that are not there yet are made.
CREATE OR REPLACE FUNCTION redrive.backlog_cells(p_keeper text, p_groups bigint[], p_types text[], p_sources text[], p_topics text[])
RETURNS integer[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    INSERT INTO redrive.backlog_cell (group_key, event_type, source_table, topic)
    SELECT DISTINCT w.g, w.t, w.s, w.o FROM unnest(p_groups, p_types, p_sources, p_topics) AS w (g, t, s, o)
     WHERE NOT EXISTS (SELECT FROM redrive.backlog_cell c
                        WHERE c.group_key = w.g AND c.event_type = w.t AND c.source_table = w.s AND c.topic = w.o);
    RETURN (SELECT array_agg(c.no ORDER BY w.place)
              FROM unnest(p_groups, p_types, p_sources, p_topics) WITH ORDINALITY AS w (g, t, s, o, place)
              JOIN redrive.backlog_cell c ON c.group_key = w.g AND c.event_type = w.t AND c.source_table = w.s AND c.topic = w.o);
END $$;

CREATE OR REPLACE FUNCTION redrive.backlog_describe(p_keeper text, p_keys bigint[], p_classes text[], p_patterns text[], p_samples text[], p_frames text[])
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    INSERT INTO redrive.backlog_group (key, error_class, pattern, sample, frame)
    SELECT * FROM unnest(p_keys, p_classes, p_patterns, p_samples, p_frames)
    ON CONFLICT DO NOTHING;
END $$;

-- What is pending above an id and not counted, the lowest first, with the versions that were seen.
CREATE OR REPLACE FUNCTION redrive.backlog_arrivals(p_above bigint, p_limit bigint, OUT ids bigint[], OUT versions xid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    SELECT array_agg(a.id ORDER BY a.id), array_agg(a.version ORDER BY a.id) INTO ids, versions
      FROM (SELECT e.id, e.xmin AS version FROM :"events" e
             WHERE e.status = 'PENDING' AND e.id > p_above AND NOT EXISTS (SELECT FROM redrive.backlog_event b WHERE b.id = e.id)
             ORDER BY e.id LIMIT p_limit) a;
END $$;

-- Pending events at and below an id that were written, or what their payloads come from, by a transaction that was not over at the mark; at most
-- so many. Of the owner: a role with grants on columns may not read xmin. It is of 32 bits and has no order of its own, so age() counts back from
-- now (manual, 25.1.5).
CREATE OR REPLACE FUNCTION redrive.changed_since(p_mark xid, p_highest bigint, p_limit bigint) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT e.id::bigint FROM :"events" e WHERE e.status = 'PENDING' AND e.id <= p_highest AND age(e.xmin) <= age(p_mark)
         UNION ALL SELECT r.event_id FROM redrive.revision r WHERE age(r.xmin) <= age(p_mark)
         UNION ALL SELECT w.event_id FROM redrive.record w WHERE age(w.xmin) <= age(p_mark)
         LIMIT p_limit;
END $$;

-- Counts a slice of pending events: those that are not counted yet, and anew those that are counted as something else. p_versions: seen before they
-- were read. p_high: how far was looked; NULL: as before. Returns of how many of them something was new.
CREATE OR REPLACE FUNCTION redrive.backlog_add(p_keeper text, p_ids bigint[], p_cells integer[], p_created integer[], p_retries integer[],
                                    p_versions xid[], p_high bigint)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.backlog_state;
    v_put bigint;
    v_back bigint[]; -- no arrivals: what lay below all that is counted, and was not
    v_packed bigint := (SELECT max(high) FROM redrive.backlog_text);
    v_stale bigint[]; -- of which a pack may tell
BEGIN
    s := redrive._backlog_hold(p_keeper);
    WITH looked AS MATERIALIZED (
        SELECT DISTINCT ON (w.id) w.id, w.cell, w.created, w.retries::smallint AS retries, w.version
          FROM unnest(p_ids, p_cells, p_created, p_retries, p_versions) AS w (id, cell, created, retries, version) ORDER BY w.id),
    was AS MATERIALIZED (
        SELECT b.* FROM looked l
          JOIN LATERAL (SELECT x.id, x.cell, x.created, x.retries, x.version FROM redrive.backlog_event x WHERE x.id = l.id OFFSET 0) b ON true),
    put AS (
        INSERT INTO redrive.backlog_event (id, cell, created, retries, version)
        SELECT l.id, l.cell, l.created, l.retries, l.version FROM looked l LEFT JOIN was w ON w.id = l.id
         WHERE (w.cell, w.created, w.retries, w.version) IS DISTINCT FROM (l.cell, l.created, l.retries, l.version)
        ON CONFLICT (id) DO UPDATE SET cell = excluded.cell, created = excluded.created, retries = excluded.retries, version = excluded.version
        RETURNING id, cell, created, retries),
    change AS (
        SELECT p.cell, p.created, p.retries, 1 AS n FROM put p
        UNION ALL SELECT w.cell, w.created, w.retries, -1 FROM was w JOIN put p ON p.id = w.id),
    total AS (INSERT INTO redrive.backlog_total SELECT cell, retries, sum(n) FROM change GROUP BY cell, retries HAVING sum(n) <> 0),
    hour AS (INSERT INTO redrive.backlog_hour SELECT cell, created / 3600, sum(n) FROM change GROUP BY cell, created / 3600 HAVING sum(n) <> 0),
    slot AS (
        INSERT INTO redrive.backlog_slot
        SELECT cell, created / 10, sum(n) FROM change WHERE created / 10 >= s.slots_from GROUP BY cell, created / 10 HAVING sum(n) <> 0)
    SELECT count(*), array_agg(p.id) FILTER (WHERE w.id IS NULL AND p.id <= s.high), array_agg(p.id) FILTER (WHERE p.id <= v_packed)
      INTO v_put, v_back, v_stale
      FROM put p LEFT JOIN was w ON w.id = p.id;
    IF v_stale IS NOT NULL THEN
        PERFORM redrive._backlog_text_touch(v_stale);
    END IF;
    -- What was discarded and is brought back counts as discarded no more.
    IF v_back IS NOT NULL THEN
        INSERT INTO redrive.backlog_outcome (group_key, outcome, n)
        SELECT c.group_key, 'discarded', -count(*) FROM redrive.backlog_event b JOIN redrive.backlog_cell c ON c.no = b.cell
         WHERE b.id IN (SELECT d.event_id FROM redrive._items_done(v_back) d WHERE d.action = 'restore')
         GROUP BY c.group_key;
    END IF;
    UPDATE redrive.backlog_state
       SET high = greatest(high, p_high), changed = changed + v_put;
    RETURN v_put;
END $$;

-- The first count, downwards: a slice of events at and below p_was_low and above p_low, with its sums and the ends of its cells' times. None of
-- them can be there already. They are counted now, and in backlog_event when backlog_list has come to them.
CREATE OR REPLACE FUNCTION redrive.backlog_fill(p_keeper text, p_ids bigint[], p_cells integer[], p_created integer[], p_retries integer[],
                                     p_totals integer[], p_hours integer[], p_slots integer[], p_bounded integer[], p_first integer[],
                                     p_last integer[], p_newest bigint[], p_was_low bigint, p_low bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE s redrive.backlog_state;
BEGIN
    s := redrive._backlog_hold(p_keeper);
    IF s.low <> p_was_low THEN
        RAISE EXCEPTION 'the backlog was counted down to %, not to %', s.low, p_was_low USING ERRCODE = 'RD001';
    END IF;
    INSERT INTO redrive.backlog_slice (low, ids, cells, created, retries, bounded, first, last, newest)
    SELECT p_low, p_ids, p_cells, p_created, p_retries, p_bounded, p_first, p_last, p_newest WHERE cardinality(p_ids) > 0;
    -- Sums come as cell, at, count, cell, at, …
    INSERT INTO redrive.backlog_total SELECT p_totals[i], p_totals[i + 1], p_totals[i + 2] FROM generate_series(1, cardinality(p_totals), 3) AS i;
    INSERT INTO redrive.backlog_hour SELECT p_hours[i], p_hours[i + 1], p_hours[i + 2] FROM generate_series(1, cardinality(p_hours), 3) AS i;
    INSERT INTO redrive.backlog_slot SELECT p_slots[i], p_slots[i + 1], p_slots[i + 2] FROM generate_series(1, cardinality(p_slots), 3) AS i;
    UPDATE redrive.backlog_state SET low = p_low, changed = changed + cardinality(p_ids);
END $$;

-- Moves the lowest slice into backlog_event: in ascending order, which its indexes take best. Returns how many slices are left. What stands there
-- already was counted twice: backlog_recount finds it.
CREATE OR REPLACE FUNCTION redrive.backlog_list(p_keeper text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    BEGIN
        WITH slice AS (DELETE FROM redrive.backlog_slice WHERE low = (SELECT min(low) FROM redrive.backlog_slice) RETURNING *)
        INSERT INTO redrive.backlog_event (id, cell, created, retries)
        SELECT unnest(ids), unnest(cells), unnest(created), unnest(retries) FROM slice;
    EXCEPTION WHEN unique_violation THEN
        WITH slice AS (DELETE FROM redrive.backlog_slice WHERE low = (SELECT min(low) FROM redrive.backlog_slice) RETURNING *)
        INSERT INTO redrive.backlog_event (id, cell, created, retries)
        SELECT unnest(ids), unnest(cells), unnest(created), unnest(retries) FROM slice ON CONFLICT DO NOTHING;
    END;
    RETURN (SELECT count(*) FROM redrive.backlog_slice);
END $$;

-- Takes events out of the sums, and counts what became of them.
CREATE OR REPLACE FUNCTION redrive._backlog_drop(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_from integer := (SELECT slots_from FROM redrive.backlog_state);
BEGIN
    WITH gone AS (DELETE FROM redrive.backlog_event WHERE id = ANY (p_ids) RETURNING id, cell, created, retries),
    outcome AS (
        INSERT INTO redrive.backlog_outcome (group_key, outcome, n)
        SELECT c.group_key, CASE WHEN e.status = 'DISCARDED' THEN 'discarded' WHEN d.action = 'reprocess' THEN 'reprocessed' ELSE 'resolved' END,
               count(*)
          FROM gone g LEFT JOIN redrive._items_done(p_ids) d ON d.event_id = g.id
          JOIN LATERAL (SELECT x.status FROM :"events" x WHERE x.id = g.id LIMIT 1) e ON e.status IN ('RESOLVED', 'DISCARDED')
          JOIN redrive.backlog_cell c ON c.no = g.cell
         GROUP BY 1, 2),
    total AS (INSERT INTO redrive.backlog_total SELECT cell, retries, -count(*) FROM gone GROUP BY cell, retries),
    hour AS (INSERT INTO redrive.backlog_hour SELECT cell, created / 3600, -count(*) FROM gone GROUP BY cell, created / 3600)
    INSERT INTO redrive.backlog_slot
    SELECT cell, created / 10, -count(*) FROM gone WHERE created / 10 >= v_from GROUP BY cell, created / 10;
    UPDATE redrive.backlog_state SET changed = changed + 1;
END $$;

-- Is an event counted from this version of its row? p_counted: backlog_event.version, NULL: it is not counted at all. Inlined where it is called.
CREATE OR REPLACE FUNCTION redrive._backlog_knows(p_counted xid, p_version xid, p_mark xid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT (p_counted = p_version OR p_counted = '0'::xid AND age(p_version) > age(p_mark)) IS TRUE;
$$;

-- What we changed ourselves (at most 200 notes): takes out what is closed; missing: what is pending and not counted as it stands.
CREATE OR REPLACE FUNCTION redrive.backlog_settle(p_keeper text, OUT looked_at bigint, OUT missing bigint[], OUT versions xid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.backlog_state;
    v_ids bigint[];
    v_gone bigint[];
BEGIN
    s := redrive._backlog_hold(p_keeper);
    WITH taken AS (
        DELETE FROM redrive.backlog_due
         WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM redrive.backlog_due d LIMIT 200 FOR UPDATE SKIP LOCKED)) RETURNING ids)
    SELECT array_agg(DISTINCT w.id) INTO v_ids FROM taken, unnest(taken.ids) AS w (id);
    looked_at := coalesce(cardinality(v_ids), 0);
    IF looked_at = 0 THEN
        RETURN;
    END IF;
    SELECT array_agg(b.id) FILTER (WHERE b.id IS NOT NULL AND e.status IS DISTINCT FROM 'PENDING'),
           array_agg(w.id) FILTER (WHERE e.status = 'PENDING' AND NOT redrive._backlog_knows(b.version, e.version, s.mark)),
           array_agg(e.version) FILTER (WHERE e.status = 'PENDING' AND NOT redrive._backlog_knows(b.version, e.version, s.mark))
      INTO v_gone, missing, versions
      FROM unnest(v_ids) AS w (id)
      LEFT JOIN LATERAL (SELECT x.id, x.version FROM redrive.backlog_event x WHERE x.id = w.id OFFSET 0) b ON true
      LEFT JOIN LATERAL (SELECT x.status, x.xmin AS version FROM :"events" x WHERE x.id = w.id LIMIT 1) e ON true;
    IF v_gone IS NOT NULL THEN
        PERFORM redrive._backlog_drop(v_gone);
    END IF;
END $$;

-- Compares the p_rows rows of the table up to an id, and the ids between: takes out what is not pending any more; missing: what is pending and
-- not counted as it stands. until: compared down to above this id; 0: to the end.
CREATE OR REPLACE FUNCTION redrive.backlog_compare(p_keeper text, p_upto bigint, p_rows bigint, OUT until bigint, OUT gone bigint,
                                        OUT missing bigint[], OUT versions xid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    s redrive.backlog_state;
    v_gone bigint[];
BEGIN
    s := redrive._backlog_hold(p_keeper);
    p_upto := least(p_upto, s.high);
    SELECT least(
        coalesce((SELECT e.id FROM :"events" e WHERE e.id <= p_upto ORDER BY e.id DESC OFFSET p_rows LIMIT 1), 0),
        coalesce((SELECT b.id FROM redrive.backlog_event b WHERE b.id <= p_upto ORDER BY b.id DESC OFFSET p_rows LIMIT 1), 0)) INTO until;
    until := greatest(until, s.low);
    -- Two snapshots would take arrivals and departures between them for differences: one statement.
    WITH counted AS MATERIALIZED (SELECT b.id, b.version FROM redrive.backlog_event b WHERE b.id > until AND b.id <= p_upto),
         pending AS MATERIALIZED (
             SELECT e.id, e.xmin AS version FROM :"events" e WHERE e.id > until AND e.id <= p_upto AND e.status = 'PENDING')
    SELECT array_agg(c.id) FILTER (WHERE p.id IS NULL), array_agg(p.id) FILTER (WHERE p.id IS NOT NULL),
           array_agg(p.version) FILTER (WHERE p.id IS NOT NULL)
      INTO v_gone, missing, versions
      FROM counted c FULL JOIN pending p ON p.id = c.id
     WHERE p.id IS NULL OR NOT redrive._backlog_knows(c.version, p.version, s.mark);
    IF s.unswept > until AND s.unswept <= p_upto THEN
        UPDATE redrive.backlog_state SET unswept = until;
    END IF;
    gone := coalesce(cardinality(v_gone), 0);
    IF gone > 0 THEN
        PERFORM redrive._backlog_drop(v_gone);
    END IF;
END $$;

-- Do sums and table agree? In one statement, so in one snapshot. difference: pending events that are not counted, less counted ones that are not
-- pending, leaving aside what is known to be ahead: arrivals and what we changed ourselves.
CREATE OR REPLACE FUNCTION redrive.backlog_check(p_keeper text, OUT pending bigint, OUT ahead bigint, OUT difference bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.backlog_state;
    v_counted bigint;
    v_opened bigint;
    v_closed bigint;
BEGIN
    s := redrive._backlog_hold(p_keeper);
    SELECT (SELECT count(*) FROM :"events" e WHERE e.status = 'PENDING'),
           (SELECT count(*) FROM :"events" e WHERE e.id > s.high AND coalesce(e.status, '') = 'PENDING'),
           (SELECT coalesce(sum(t.n), 0) FROM redrive.backlog_total t),
           coalesce(count(*) FILTER (WHERE b.id IS NOT NULL AND e.status IS DISTINCT FROM 'PENDING'), 0),
           coalesce(count(*) FILTER (WHERE b.id IS NULL AND e.status = 'PENDING' AND d.id <= s.high), 0)
      INTO pending, ahead, v_counted, v_closed, v_opened
      FROM (SELECT DISTINCT w.id FROM redrive.backlog_due, unnest(ids) AS w (id)) d
      LEFT JOIN LATERAL (SELECT x.id FROM redrive.backlog_event x WHERE x.id = d.id OFFSET 0) b ON true
      LEFT JOIN LATERAL (SELECT x.status FROM :"events" x WHERE x.id = d.id LIMIT 1) e ON true;
    ahead := ahead + v_opened;
    difference := pending - ahead - (v_counted - v_closed);
    UPDATE redrive.backlog_state
       SET checked_at = clock_timestamp(), exact_at = CASE WHEN difference = 0 AND unswept = 0 THEN clock_timestamp() ELSE exact_at END,
           behind = ahead + abs(difference), changed = changed + (CASE WHEN behind = ahead + abs(difference) THEN 0 ELSE 1 END);
END $$;

-- Are the sums of some cells those of their events? The cells above p_above, as many as have about p_rows events. What is wrong is put right by
-- adding the difference, which stays the same whatever is added or taken out meanwhile. until: looked up to this cell; NULL: to the last.
CREATE OR REPLACE FUNCTION redrive.backlog_recount(p_keeper text, p_above integer, p_rows bigint, OUT until integer, OUT wrong bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    s redrive.backlog_state;
    v_to integer;
BEGIN
    s := redrive._backlog_hold(p_keeper);
    SELECT min(c.cell) INTO until
      FROM (SELECT t.cell, sum(sum(abs(t.n))) OVER (ORDER BY t.cell) AS n FROM redrive.backlog_total t WHERE t.cell > p_above GROUP BY t.cell) c
     WHERE c.n >= p_rows;
    v_to := coalesce(until, 2147483647);
    WITH event AS MATERIALIZED (
        SELECT b.cell, b.retries, b.created FROM redrive.backlog_event b WHERE b.cell > p_above AND b.cell <= v_to),
    total AS (
        INSERT INTO redrive.backlog_total
        SELECT d.cell, d.retries, sum(d.n)
          FROM (SELECT cell, retries, count(*) AS n FROM event GROUP BY cell, retries
                UNION ALL SELECT cell, retries, -n FROM redrive.backlog_total WHERE cell > p_above AND cell <= v_to) d
         GROUP BY d.cell, d.retries HAVING sum(d.n) <> 0 RETURNING 1),
    hour AS (
        INSERT INTO redrive.backlog_hour
        SELECT d.cell, d.hour, sum(d.n)
          FROM (SELECT cell, created / 3600 AS hour, count(*) AS n FROM event GROUP BY cell, created / 3600
                UNION ALL SELECT cell, hour, -n FROM redrive.backlog_hour WHERE cell > p_above AND cell <= v_to) d
         GROUP BY d.cell, d.hour HAVING sum(d.n) <> 0 RETURNING 1),
    slot AS (
        INSERT INTO redrive.backlog_slot
        SELECT d.cell, d.slot, sum(d.n)
          FROM (SELECT cell, created / 10 AS slot, count(*) AS n FROM event GROUP BY cell, created / 10
                UNION ALL SELECT cell, slot, -n FROM redrive.backlog_slot WHERE cell > p_above AND cell <= v_to) d
         WHERE d.slot >= s.slots_from GROUP BY d.cell, d.slot HAVING sum(d.n) <> 0 RETURNING 1)
    SELECT (SELECT count(*) FROM total) + (SELECT count(*) FROM hour) + (SELECT count(*) FROM slot) INTO wrong;
    IF wrong > 0 THEN
        UPDATE redrive.backlog_state SET changed = changed + 1;
    END IF;
END $$;

-- Folds sums that have grown to more than p_rows rows, and forgets slots before p_slot.
CREATE OR REPLACE FUNCTION redrive.backlog_fold(p_keeper text, p_rows bigint, p_slot integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    IF (SELECT count(*) FROM redrive.backlog_total) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.backlog_total RETURNING *)
        INSERT INTO redrive.backlog_total SELECT cell, retries, sum(n) FROM gone GROUP BY cell, retries HAVING sum(n) <> 0;
    END IF;
    IF (SELECT count(*) FROM redrive.backlog_hour) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.backlog_hour RETURNING *)
        INSERT INTO redrive.backlog_hour SELECT cell, hour, sum(n) FROM gone GROUP BY cell, hour HAVING sum(n) <> 0;
    END IF;
    IF (SELECT count(*) FROM redrive.backlog_slot) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.backlog_slot RETURNING *)
        INSERT INTO redrive.backlog_slot
        SELECT cell, slot, sum(n) FROM gone WHERE slot >= p_slot GROUP BY cell, slot HAVING sum(n) <> 0;
        UPDATE redrive.backlog_state SET slots_from = greatest(slots_from, p_slot);
    END IF;
END $$;

-- The same for what became of events; when the first of them left is kept.
CREATE OR REPLACE FUNCTION redrive.backlog_fold_outcomes(p_keeper text, p_rows bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    IF (SELECT count(*) FROM redrive.backlog_outcome) > p_rows THEN
        WITH gone AS (DELETE FROM redrive.backlog_outcome RETURNING *)
        INSERT INTO redrive.backlog_outcome
        SELECT group_key, outcome, sum(n), min(since) FROM gone GROUP BY group_key, outcome HAVING sum(n) <> 0;
    END IF;
END $$;

-- Notes events whose status the calling transaction has changed: an insert, so nobody waits for anybody.
CREATE OR REPLACE FUNCTION redrive._backlog_note(p_ids bigint[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    INSERT INTO redrive.backlog_due (ids) SELECT p_ids WHERE cardinality(p_ids) > 0;
$$;
