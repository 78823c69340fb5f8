-- The rollup: counts of pending events by series and time, from which the list of groups is read without counting a million events.
--
-- rollup_event says in which series each pending event is counted. A series is group × event type × source table × topic. Counts per series are
-- only appended to (+n for a batch of arrivals, -n for a batch of closed events) and folded now and then, so two writers never meet at a row. The
-- counts are at all times those of rollup_event and rollup_batch together.
--
-- Derived data is not logged. After a crash of the server it is empty and loaded again; standbys do not receive it.
--
-- Times are whole seconds, hours, or buckets of 10 s since 2000-01-01 UTC; 0: absent.

CREATE TABLE redrive.rollup_group (
    key         bigint PRIMARY KEY, -- the fingerprint, its 64 bits
    error_class text,
    pattern     text NOT NULL,
    sample      text NOT NULL,
    frame       text,
    known_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE redrive.rollup_series (
    no           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_key    bigint NOT NULL,
    event_type   text NOT NULL, -- '' where absent, as below
    source_table text NOT NULL,
    topic        text NOT NULL,
    UNIQUE (group_key, event_type, source_table, topic)
);

-- Series without an event, and since when: rollup_prune removes them, and groups without a series.
CREATE UNLOGGED TABLE redrive.rollup_idle (
    series integer PRIMARY KEY,
    since  timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE UNLOGGED TABLE redrive.rollup_event (
    dlq_id  bigint PRIMARY KEY,
    series  integer NOT NULL,
    created integer NOT NULL,
    retries smallint NOT NULL,
    -- The row's xmin when it was counted, so that a change of any column of a pending row is noticed. 0: not noted, from the first load; then a
    -- row version that is not older than xmin_floor may be newer.
    version xid NOT NULL DEFAULT '0'
);
CREATE INDEX rollup_event_series ON redrive.rollup_event (series, created, dlq_id);

CREATE UNLOGGED TABLE redrive.rollup_total (series integer NOT NULL, retries smallint NOT NULL, n bigint NOT NULL);
CREATE UNLOGGED TABLE redrive.rollup_hour (series integer NOT NULL, hour integer NOT NULL, n bigint NOT NULL);
CREATE UNLOGGED TABLE redrive.rollup_bucket (series integer NOT NULL, bucket integer NOT NULL, n bigint NOT NULL); -- of the last hour only

-- Events of the first load that are counted already and not in rollup_event yet, a batch a row; ids ascending. The counts come first, because people
-- wait for them, and rollup_event second, because its indexes cost twice as much. rollup_load writes a batch, rollup_move_batch moves it. A
-- maintainer that is killed leaves them to the next one.
CREATE UNLOGGED TABLE redrive.rollup_batch (
    low     bigint PRIMARY KEY, -- all its ids are above this one
    dlq_ids bigint[] NOT NULL,
    series  integer[] NOT NULL,
    created integer[] NOT NULL,
    retries integer[] NOT NULL,
    -- Of each series of the batch, as rollup_event would tell it.
    bounded integer[] NOT NULL, -- the series
    first   integer[] NOT NULL, -- its earliest created, 0: absent
    last    integer[] NOT NULL,
    newest  bigint[] NOT NULL   -- the highest id among those created last
);
ALTER TABLE redrive.rollup_batch ALTER dlq_ids SET STORAGE EXTERNAL, ALTER series SET STORAGE EXTERNAL,
                                 ALTER created SET STORAGE EXTERNAL, ALTER retries SET STORAGE EXTERNAL;

-- Events whose status redrive changed itself, in the transaction that did: still counted until the maintainer has looked at them. Readers subtract
-- them.
CREATE UNLOGGED TABLE redrive.rollup_due (dlq_ids bigint[] NOT NULL);
ALTER TABLE redrive.rollup_due ALTER dlq_ids SET STORAGE EXTERNAL;

-- One row; only maintainers lock it.
CREATE UNLOGGED TABLE redrive.rollup_state (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    version       integer NOT NULL,  -- of the fingerprint
    zone          text NOT NULL,
    low           bigint NOT NULL,   -- ids above it, up to high, are counted; the lowest bigint: the load is complete
    high          bigint NOT NULL,
    buckets_from  integer NOT NULL,  -- arrivals since this bucket are counted by bucket
    maintainer    text,
    maintainer_who name,             -- the login that acquired it; nobody else changes counts
    lease_until   timestamptz NOT NULL DEFAULT '-infinity',
    behind        bigint NOT NULL DEFAULT 0, -- pending events that were not counted at the last check
    checked_at    timestamptz,
    exact_at      timestamptz,       -- when counts and table last agreed
    changed       bigint NOT NULL DEFAULT 0,
    xmin_floor    xid,               -- every transaction below it was over when the load began; NULL: not known
    uncompared    bigint NOT NULL DEFAULT -9223372036854775808, -- nobody maintained it for a while: ids up to this one are to be compared; so: done
    -- Row versions of transactions below compared_floor are counted as they are, once the load is complete.
    compared_floor bigint,
    compared_changes bigint,         -- the table's count of changes when it was compared to here; NULL: not known
    -- The text snapshots are true of what was written before texts_floor (texts.sql). NULL: not known yet.
    texts_floor   bigint,
    texts_changes bigint             -- the table's count of changes then
) WITH (fillfactor = 10);

-- How events of a group left the backlog, counted since the rollup exists. Appended to and folded as the counts are, but logged: it cannot be
-- derived again.
CREATE TABLE redrive.rollup_outcome (
    group_key bigint NOT NULL,
    outcome   text NOT NULL CHECK (outcome IN ('resolved', 'discarded', 'reprocessed')),
    n         bigint NOT NULL,
    since     timestamptz NOT NULL DEFAULT clock_timestamp() -- of the first that is in n
);

-- When an event of a group was first seen. Kept when the group is emptied, so that one that returns is not taken for new; logged, as the above.
CREATE TABLE redrive.rollup_seen (
    group_key bigint PRIMARY KEY,
    first_at  integer NOT NULL -- seconds, as in rollup_event
);

---- functions

-- The newest version of the fingerprint that programs of this schema have (core/fingerprint/fingerprint.h). Numbers from 2^20 on stand for a
-- version with a team's own rules; these have no order.
CREATE OR REPLACE FUNCTION redrive._rollup_newest() RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$ SELECT 10; $$;

-- The maintainer's lease, for 10 s. Every function that changes counts renews it first, and refuses (RD001) all others. is_mine false: somebody
-- else maintains the rollup, or the caller's fingerprints or zone are not those of the counts. p_bucket: the bucket of an hour ago. uncompared: after
-- a pause, even the caller's own, differences that cancel each other out may be unnoticed; the counts are not called exact before rollup_compare
-- has come from this id to the lowest. The lowest bigint: nothing is left to compare. Counts of a higher version are counted again where nobody has maintained
-- them for a minute, so a claim with a version that no other program has does not end the rollup.
CREATE OR REPLACE FUNCTION redrive.rollup_acquire(p_maintainer text, p_version integer, p_zone text, p_bucket integer,
                                      OUT is_mine boolean, OUT low bigint, OUT high bigint, OUT buckets_from integer, OUT uncompared bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    v_zone text := (SELECT zone FROM redrive.install);
    v_running bigint := txid_snapshot_xmin(txid_current_snapshot());
    v_floor xid := (v_running % 4294967296)::text::xid;
BEGIN
    is_mine := false;
    IF coalesce(p_version, 0) < 1 OR p_version > redrive._rollup_newest() AND p_version < 1048576 THEN
        RAISE EXCEPTION 'the schema redrive does not know version % of the fingerprint: run redrive migrate', p_version USING ERRCODE = 'RD004';
    ELSIF p_zone <> v_zone THEN
        RETURN;
    END IF;
    INSERT INTO redrive.rollup_state (version, zone, low, high, buckets_from, xmin_floor, compared_floor)
    SELECT p_version, v_zone, m.top, m.top, p_bucket, v_floor, v_running FROM (SELECT coalesce(max(e.id), 0) AS top FROM :"events" e) AS m
     WHERE NOT EXISTS (SELECT FROM redrive.rollup_state)
    ON CONFLICT DO NOTHING;
    INSERT INTO redrive.rollup_closed (one) SELECT true WHERE NOT EXISTS (SELECT FROM redrive.rollup_closed) ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM redrive.rollup_state FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR (s.maintainer <> p_maintainer OR s.maintainer_who <> session_user) AND s.lease_until > clock_timestamp()
       OR s.version > p_version AND s.lease_until > clock_timestamp() - interval '60 s' THEN
        RETURN;
    END IF;
    IF s.version <> p_version OR s.zone <> v_zone THEN
        TRUNCATE redrive.rollup_event, redrive.rollup_batch, redrive.rollup_total, redrive.rollup_hour, redrive.rollup_bucket, redrive.text_snapshot;
        SELECT coalesce(max(e.id), 0) INTO s.high FROM :"events" e;
        s.low := s.high;
        s.buckets_from := p_bucket;
        UPDATE redrive.rollup_state
           SET version = p_version, zone = v_zone, low = s.low, high = s.high, buckets_from = p_bucket, xmin_floor = v_floor,
               compared_floor = v_running, compared_changes = NULL, texts_floor = NULL,
               texts_changes = NULL, exact_at = NULL, checked_at = NULL;
    END IF;
    IF s.lease_until < clock_timestamp() - interval '5 s' THEN
        UPDATE redrive.rollup_state SET uncompared = s.high, exact_at = NULL;
        s.uncompared := s.high;
    END IF;
    UPDATE redrive.rollup_state
       SET maintainer = p_maintainer, maintainer_who = session_user, lease_until = clock_timestamp() + interval '10 s';
    is_mine := true;
    low := s.low;
    high := s.high;
    buckets_from := s.buckets_from;
    uncompared := s.uncompared;
END $$;

CREATE OR REPLACE FUNCTION redrive.rollup_release(p_maintainer text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.rollup_state SET maintainer = NULL, lease_until = clock_timestamp()
     WHERE maintainer = p_maintainer AND maintainer_who = session_user;
$$;

CREATE OR REPLACE FUNCTION redrive._rollup_renew(p_maintainer text) RETURNS redrive.rollup_state
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE s redrive.rollup_state;
BEGIN
    -- Derived data, found again after a crash: no need to wait for the disk.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE redrive.rollup_state SET lease_until = clock_timestamp() + interval '10 s'
     WHERE maintainer = p_maintainer AND maintainer_who = session_user RETURNING * INTO s;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'somebody else maintains the rollup now' USING ERRCODE = 'RD001';
    END IF;
    RETURN s;
END $$;

-- Numbers of these series, in order; missing ones are made.
CREATE OR REPLACE FUNCTION redrive.rollup_series_of(p_maintainer text, p_groups bigint[], p_types text[], p_sources text[], p_topics text[])
RETURNS integer[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    INSERT INTO redrive.rollup_series (group_key, event_type, source_table, topic)
    SELECT DISTINCT w.g, w.t, w.s, w.o FROM unnest(p_groups, p_types, p_sources, p_topics) AS w (g, t, s, o)
     WHERE NOT EXISTS (SELECT FROM redrive.rollup_series c
                        WHERE c.group_key = w.g AND c.event_type = w.t AND c.source_table = w.s AND c.topic = w.o);
    RETURN (SELECT array_agg(c.no ORDER BY w.place)
              FROM unnest(p_groups, p_types, p_sources, p_topics) WITH ORDINALITY AS w (g, t, s, o, place)
              JOIN redrive.rollup_series c ON c.group_key = w.g AND c.event_type = w.t AND c.source_table = w.s AND c.topic = w.o);
END $$;

CREATE OR REPLACE FUNCTION redrive.rollup_describe(p_maintainer text, p_keys bigint[], p_classes text[], p_patterns text[], p_samples text[],
                                         p_frames text[])
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    INSERT INTO redrive.rollup_group (key, error_class, pattern, sample, frame)
    SELECT * FROM unnest(p_keys, p_classes, p_patterns, p_samples, p_frames)
    ON CONFLICT DO NOTHING;
END $$;

-- Refuses series that are not there, or whose group has no description: rollup_prune of another maintainer removed what the caller remembers.
CREATE OR REPLACE FUNCTION redrive._rollup_known(p_series integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM (SELECT DISTINCT w.no FROM unnest(p_series) AS w (no)) a
                WHERE NOT EXISTS (SELECT FROM redrive.rollup_series c JOIN redrive.rollup_group g ON g.key = c.group_key WHERE c.no = a.no)) THEN
        RAISE EXCEPTION 'a series of the rollup was removed meanwhile' USING ERRCODE = 'RD001';
    END IF;
END $$;

-- Pending events above an id that are not counted, the lowest first, with the versions that were seen.
-- Plan: made again for each p_above, which may leave a hundred rows or all.
CREATE OR REPLACE FUNCTION redrive.rollup_arrivals(p_above bigint, p_limit bigint, OUT ids bigint[], OUT versions xid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_custom_plan AS $$
BEGIN
    SELECT array_agg(a.id ORDER BY a.id), array_agg(a.version ORDER BY a.id) INTO ids, versions
      FROM (SELECT e.id, e.xmin AS version FROM :"events" e
             WHERE e.status = 'PENDING' AND e.id > p_above AND NOT EXISTS (SELECT FROM redrive.rollup_event b WHERE b.dlq_id = e.id)
             ORDER BY e.id LIMIT p_limit) a;
END $$;

-- Notes when events of these series were created, where that is earlier than was known of their group. Most batches bring nothing earlier.
CREATE OR REPLACE FUNCTION redrive._rollup_see(p_series integer[], p_first integer[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.rollup_seen AS had (group_key, first_at)
    SELECT c.group_key, min(w.first_at) FROM unnest(p_series, p_first) AS w (series, first_at)
      JOIN redrive.rollup_series c ON c.no = w.series
     WHERE w.first_at > 0 GROUP BY c.group_key
    HAVING min(w.first_at) < coalesce((SELECT s.first_at FROM redrive.rollup_seen s WHERE s.group_key = c.group_key), 2147483647)
     ORDER BY c.group_key
    ON CONFLICT (group_key) DO UPDATE SET first_at = least(had.first_at, excluded.first_at);
END $$;

-- Counts a batch of pending events, and counts those again that are counted as something else. p_versions: seen before the rows were read.
-- p_high: how far the caller looked; NULL: as before. Returns how many were new or different.
CREATE OR REPLACE FUNCTION redrive.rollup_add(p_maintainer text, p_ids bigint[], p_series integer[], p_created integer[], p_retries integer[],
                                    p_versions xid[], p_high bigint)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    s redrive.rollup_state;
    v_put bigint;
    v_reopened bigint[]; -- below `high` and not counted before: no arrivals
    v_covered bigint := (SELECT max(high) FROM redrive.text_snapshot);
    v_stale bigint[]; -- a snapshot may hold their old text
    v_entered bigint[];
    v_created integer[]; -- of these, in the same order
    v_restored bigint[];
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    PERFORM redrive._rollup_known(p_series);
    PERFORM redrive._rollup_see(p_series, p_created);
    WITH looked AS MATERIALIZED (
        SELECT DISTINCT ON (w.id) w.id, w.series, w.created, w.retries::smallint AS retries, w.version
          FROM unnest(p_ids, p_series, p_created, p_retries, p_versions) AS w (id, series, created, retries, version) ORDER BY w.id),
    was AS MATERIALIZED (
        SELECT b.* FROM looked l
          JOIN LATERAL (SELECT x.dlq_id, x.series, x.created, x.retries, x.version FROM redrive.rollup_event x
                         WHERE x.dlq_id = l.id OFFSET 0) b ON true),
    put AS (
        INSERT INTO redrive.rollup_event (dlq_id, series, created, retries, version)
        SELECT l.id, l.series, l.created, l.retries, l.version FROM looked l LEFT JOIN was w ON w.dlq_id = l.id
         WHERE (w.series, w.created, w.retries, w.version) IS DISTINCT FROM (l.series, l.created, l.retries, l.version)
        ON CONFLICT (dlq_id) DO UPDATE
           SET series = excluded.series, created = excluded.created, retries = excluded.retries, version = excluded.version
        RETURNING dlq_id, series, created, retries),
    change AS (
        SELECT p.series, p.created, p.retries, 1 AS n FROM put p
        UNION ALL SELECT w.series, w.created, w.retries, -1 FROM was w JOIN put p ON p.dlq_id = w.dlq_id),
    total AS (INSERT INTO redrive.rollup_total SELECT series, retries, sum(n) FROM change GROUP BY series, retries HAVING sum(n) <> 0),
    hour AS (INSERT INTO redrive.rollup_hour SELECT series, created / 3600, sum(n) FROM change GROUP BY series, created / 3600 HAVING sum(n) <> 0),
    bucket AS (
        INSERT INTO redrive.rollup_bucket
        SELECT series, created / 10, sum(n) FROM change WHERE created / 10 >= s.buckets_from GROUP BY series, created / 10 HAVING sum(n) <> 0)
    SELECT count(*), array_agg(p.dlq_id) FILTER (WHERE w.dlq_id IS NULL AND p.dlq_id <= s.high),
           array_agg(p.dlq_id) FILTER (WHERE p.dlq_id <= v_covered), array_agg(p.dlq_id) FILTER (WHERE w.dlq_id IS NULL),
           array_agg(p.created) FILTER (WHERE w.dlq_id IS NULL)
      INTO v_put, v_reopened, v_stale, v_entered, v_created
      FROM put p LEFT JOIN was w ON w.dlq_id = p.dlq_id;
    IF v_stale IS NOT NULL THEN
        PERFORM redrive._text_snapshot_touch(v_stale);
    END IF;
    -- An event that was restored no longer counts as discarded or resolved.
    IF v_reopened IS NOT NULL THEN
        PERFORM redrive._closed_forget();
        INSERT INTO redrive.rollup_outcome (group_key, outcome, n)
        SELECT c.group_key, lower(d.restores), -count(*) FROM redrive.rollup_event b JOIN redrive.rollup_series c ON c.no = b.series
          JOIN redrive._items_done(v_reopened) d ON d.dlq_id = b.dlq_id AND d.action = 'restore'
         GROUP BY c.group_key, d.restores;
        v_restored := ARRAY(SELECT d.dlq_id FROM redrive._items_done(v_reopened) d WHERE d.action = 'restore');
    END IF;
    PERFORM redrive._trend_enter(ARRAY(SELECT w.created FROM unnest(v_entered, v_created) AS w (id, created)
                                        WHERE w.id <> ALL (coalesce(v_restored, '{}'))), coalesce(cardinality(v_restored), 0));
    UPDATE redrive.rollup_state
       SET high = greatest(high, p_high), changed = changed + v_put;
    RETURN v_put;
END $$;

-- The first load, downwards: a batch of events at and below p_was_low and above p_low, with its counts and the ends of its series' times. They
-- are counted now and get into rollup_event when rollup_move_batch comes to them.
CREATE OR REPLACE FUNCTION redrive.rollup_load(p_maintainer text, p_ids bigint[], p_series integer[], p_created integer[], p_retries integer[],
                                     p_totals integer[], p_hours integer[], p_buckets integer[], p_bounded integer[], p_first integer[],
                                     p_last integer[], p_newest bigint[], p_was_low bigint, p_low bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE s redrive.rollup_state;
BEGIN
    s := redrive._rollup_renew(p_maintainer);
    PERFORM redrive._rollup_known(p_bounded);
    PERFORM redrive._rollup_see(p_bounded, p_first);
    IF s.low <> p_was_low THEN
        RAISE EXCEPTION 'the rollup has loaded down to %, not to %', s.low, p_was_low USING ERRCODE = 'RD001';
    END IF;
    INSERT INTO redrive.rollup_batch (low, dlq_ids, series, created, retries, bounded, first, last, newest)
    SELECT p_low, p_ids, p_series, p_created, p_retries, p_bounded, p_first, p_last, p_newest WHERE cardinality(p_ids) > 0;
    -- Counts arrive flat: series, time, count, series, time, …
    INSERT INTO redrive.rollup_total SELECT p_totals[i], p_totals[i + 1], p_totals[i + 2] FROM generate_series(1, cardinality(p_totals), 3) AS i;
    INSERT INTO redrive.rollup_hour SELECT p_hours[i], p_hours[i + 1], p_hours[i + 2] FROM generate_series(1, cardinality(p_hours), 3) AS i;
    INSERT INTO redrive.rollup_bucket SELECT p_buckets[i], p_buckets[i + 1], p_buckets[i + 2] FROM generate_series(1, cardinality(p_buckets), 3) AS i;
    UPDATE redrive.rollup_state SET low = p_low, changed = changed + cardinality(p_ids);
END $$;

-- Moves the lowest batch into rollup_event, in the ascending order that its indexes take best. Returns how many batches are left. An event that
-- rollup_event has already was counted twice: rollup_recount finds it.
CREATE OR REPLACE FUNCTION redrive.rollup_move_batch(p_maintainer text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    BEGIN
        WITH batch AS (DELETE FROM redrive.rollup_batch WHERE low = (SELECT min(low) FROM redrive.rollup_batch) RETURNING *)
        INSERT INTO redrive.rollup_event (dlq_id, series, created, retries)
        SELECT unnest(dlq_ids), unnest(series), unnest(created), unnest(retries) FROM batch;
    EXCEPTION WHEN unique_violation THEN
        WITH batch AS (DELETE FROM redrive.rollup_batch WHERE low = (SELECT min(low) FROM redrive.rollup_batch) RETURNING *)
        INSERT INTO redrive.rollup_event (dlq_id, series, created, retries)
        SELECT unnest(dlq_ids), unnest(series), unnest(created), unnest(retries) FROM batch ON CONFLICT DO NOTHING;
    END;
    RETURN (SELECT count(*) FROM redrive.rollup_batch);
END $$;

-- Removes events from the counts, and counts their outcomes. One that was archived before anybody looked is found there.
CREATE OR REPLACE FUNCTION redrive._rollup_remove(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_from integer := (SELECT buckets_from FROM redrive.rollup_state);
    v_zone text := (SELECT zone FROM redrive.install);
    v_created integer[];
    v_outcomes text[];
    v_left integer[];
    v_archived boolean[];
BEGIN
    WITH gone AS (DELETE FROM redrive.rollup_event WHERE dlq_id = ANY (p_ids) RETURNING dlq_id, series, created, retries),
    archived AS MATERIALIZED (SELECT * FROM redrive._archived(p_ids)),
    left_as AS MATERIALIZED (
        SELECT g.series, g.created, redrive._trend_minute(s.resolved_at, v_zone) AS left_at, s.is_archived,
               CASE WHEN s.status = 'DISCARDED' THEN 'discarded' WHEN s.status IS DISTINCT FROM 'RESOLVED' THEN 'gone'
                    WHEN d.action = 'reprocess' THEN 'reprocessed' ELSE 'resolved' END AS outcome
          FROM gone g LEFT JOIN redrive._items_done(p_ids) d ON d.dlq_id = g.dlq_id
          LEFT JOIN LATERAL (SELECT x.id, x.status, x.resolved_at::timestamp AS resolved_at FROM :"events" x WHERE x.id = g.dlq_id LIMIT 1) e ON true
          LEFT JOIN archived a ON a.dlq_id = g.dlq_id
         CROSS JOIN LATERAL (SELECT coalesce(e.status, a.status) AS status, coalesce(e.resolved_at, a.resolved_at) AS resolved_at,
                                    e.id IS NULL AND a.dlq_id IS NOT NULL AS is_archived) s),
    outcome AS (
        INSERT INTO redrive.rollup_outcome (group_key, outcome, n)
        SELECT c.group_key, l.outcome, count(*) FROM left_as l JOIN redrive.rollup_series c ON c.no = l.series WHERE l.outcome <> 'gone' GROUP BY 1, 2),
    total AS (INSERT INTO redrive.rollup_total SELECT series, retries, -count(*) FROM gone GROUP BY series, retries),
    hour AS (INSERT INTO redrive.rollup_hour SELECT series, created / 3600, -count(*) FROM gone GROUP BY series, created / 3600),
    bucket AS (
        INSERT INTO redrive.rollup_bucket
        SELECT series, created / 10, -count(*) FROM gone WHERE created / 10 >= v_from GROUP BY series, created / 10)
    SELECT array_agg(l.created), array_agg(l.outcome), array_agg(l.left_at), array_agg(l.is_archived)
      INTO v_created, v_outcomes, v_left, v_archived FROM left_as l;
    PERFORM redrive._trend_leave(v_created, v_outcomes, v_left, v_archived);
    PERFORM redrive._closed_forget();
    UPDATE redrive.rollup_state SET changed = changed + 1;
END $$;

-- Notes events whose status the calling transaction has changed: an insert, so nobody waits for anybody.
CREATE OR REPLACE FUNCTION redrive._rollup_note(p_ids bigint[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    INSERT INTO redrive.rollup_due (dlq_ids) SELECT p_ids WHERE cardinality(p_ids) > 0;
$$;
