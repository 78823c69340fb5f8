-- Sums of closed events, by type, hour and status, so that the analyses need not read these events again while none of them has changed.
--
-- Nobody maintains them. Whoever counts closed events leaves the sums here with a stamp, and whoever comes next takes them where the stamp is the
-- same, the count of closed events of each status is that of the sums, and redrive itself has closed, reopened or moved nothing since:
-- * The stamp holds how many rows of the table PostgreSQL has seen updated and deleted. It is read before the events are, so that a change that is
--   told late only makes the next one count again. A change after that is told ten seconds late at most: until then the sums may be those before it.
-- * What redrive does itself is known at once, by its notes (rollup_due). Whoever takes them forgets the sums.
-- * Inserted rows show in the count, which the index on the status answers.
--
-- Derived data without a version: the table is made here, so that a schema that was made without it gets it with the functions.

---- functions

CREATE UNLOGGED TABLE IF NOT EXISTS redrive.rollup_closed (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    settled  bigint NOT NULL DEFAULT 0, -- counts how often sums were forgotten: those that were begun before are not kept
    stamp    text,        -- NULL: there are no sums
    since    timestamp,   -- events that were created before it are summed up without an hour
    types    text[],      -- from here on one value a sum
    hours    timestamp[], -- in the table's zone
    statuses text[],
    counts   bigint[],
    timed    bigint[],    -- of these, those with both times,
    taken    interval[]   -- and how long they took together
) WITH (fillfactor = 10);
ALTER TABLE redrive.rollup_closed ALTER types SET STORAGE EXTERNAL, ALTER hours SET STORAGE EXTERNAL, ALTER statuses SET STORAGE EXTERNAL,
                                  ALTER counts SET STORAGE EXTERNAL, ALTER timed SET STORAGE EXTERNAL, ALTER taken SET STORAGE EXTERNAL;

-- What the table's count of changes was counted by, and the count: another server process, database or table, or a count that was set back, is another
-- stamp. NULL: PostgreSQL does not count every change, or hours would depend on who reads them.
CREATE OR REPLACE FUNCTION redrive._closed_stamp() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), d.oid, a.attrelid, extract(epoch FROM pg_stat_get_db_stat_reset_time(d.oid)),
                     (SELECT sum(pg_stat_get_tuples_updated(t.relid) + pg_stat_get_tuples_deleted(t.relid))
                        FROM (SELECT a.attrelid AS relid UNION SELECT p.relid FROM pg_partition_tree(a.attrelid) p) t))
      FROM pg_database d, pg_attribute a
     WHERE d.datname = current_database() AND a.attrelid = to_regclass(:'events') AND a.attname = 'created_at' AND a.atttypid = 'timestamp'::regtype
       AND redrive._rollup_counts_changes();
$$;

-- The sums, where they are still true. p_since: as `since`, and not before it. may_sum: where they are not,
-- rollup_sum_closed counts again and may leave its sums here.
-- Plan: three looks into the index on the status, without the table.
CREATE OR REPLACE FUNCTION redrive.closed_sums(p_since timestamp, OUT is_known boolean, OUT may_sum boolean, OUT types text[], OUT hours timestamp[],
                                               OUT statuses text[], OUT counts bigint[], OUT timed bigint[], OUT taken interval[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_stamp text := redrive._closed_stamp();
    c redrive.rollup_closed;
BEGIN
    is_known := false;
    may_sum := v_stamp IS NOT NULL AND has_function_privilege('redrive.rollup_sum_closed(timestamp)', 'EXECUTE');
    IF v_stamp IS NULL OR NOT has_table_privilege('redrive.rollup_closed', 'SELECT') THEN
        RETURN;
    END IF;
    SELECT * INTO c FROM redrive.rollup_closed s WHERE s.stamp = v_stamp AND s.since <= p_since AND NOT EXISTS (SELECT FROM redrive.rollup_due);
    IF NOT FOUND
       OR EXISTS (SELECT FROM (SELECT e.status::text AS status, count(*) AS n FROM :"events" e WHERE e.status < 'PENDING' GROUP BY 1
                               UNION ALL SELECT e.status::text, count(*) FROM :"events" e WHERE e.status > 'PENDING' GROUP BY 1
                               UNION ALL SELECT NULL, count(*) FROM :"events" e WHERE e.status IS NULL
                               UNION ALL SELECT w.status, -w.n FROM unnest(c.statuses, c.counts) AS w (status, n)) d
                  GROUP BY d.status HAVING sum(d.n) <> 0) THEN
        RETURN;
    END IF;
    is_known := true;
    types := c.types;
    hours := c.hours;
    statuses := c.statuses;
    counts := c.counts;
    timed := c.timed;
    taken := c.taken;
END $$;

-- RETURN QUERY: of the statements of PL/pgSQL this one lets other processes of the server help.
CREATE OR REPLACE FUNCTION redrive._closed_count(p_since timestamp) RETURNS SETOF redrive.rollup_closed
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT true, 0::bigint, NULL::text, p_since, array_agg(c.type), array_agg(c.hour), array_agg(c.status), array_agg(c.n), array_agg(c.timed),
           array_agg(c.taken)
      FROM (SELECT e.event_type::text AS type, CASE WHEN e.created_at >= p_since THEN date_trunc('hour', e.created_at::timestamp) END AS hour,
                   e.status::text AS status, count(*) AS n, count(e.resolved_at - e.created_at) AS timed, sum(e.resolved_at - e.created_at) AS taken
              FROM :"events" e WHERE e.status < 'PENDING' OR e.status > 'PENDING' OR e.status IS NULL GROUP BY 1, 2, 3) c;
END $$;

-- Counts the closed events, and leaves the sums to those who come next: but not very many, nor where redrive changed events meanwhile. The caller gives
-- no number, so nobody can leave false ones. An older snapshot than that of the stamp would.
CREATE OR REPLACE FUNCTION redrive.rollup_sum_closed(p_since timestamp, OUT types text[], OUT hours timestamp[], OUT statuses text[],
                                                     OUT counts bigint[], OUT timed bigint[], OUT taken interval[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_settled bigint := (SELECT c.settled FROM redrive.rollup_closed c);
    v_stamp text := redrive._closed_stamp();
    v redrive.rollup_closed;
BEGIN
    SELECT * INTO v FROM redrive._closed_count(p_since);
    types := v.types;
    hours := v.hours;
    statuses := v.statuses;
    counts := v.counts;
    timed := v.timed;
    taken := v.taken;
    IF v_stamp IS NOT NULL AND p_since IS NOT NULL AND coalesce(cardinality(types), 0) <= 20000
       AND current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM set_config('synchronous_commit', 'off', true);
        UPDATE redrive.rollup_closed c
           SET stamp = v_stamp, since = v.since, types = v.types, hours = v.hours, statuses = v.statuses, counts = v.counts, timed = v.timed,
               taken = v.taken
         WHERE c.settled = v_settled;
    END IF;
END $$;

-- For a maintainer that has met an event which was closed or reopened.
CREATE OR REPLACE FUNCTION redrive._closed_forget() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.rollup_closed
       SET settled = settled + 1, stamp = NULL, types = NULL, hours = NULL, statuses = NULL, counts = NULL, timed = NULL, taken = NULL;
$$;
