-- Snapshots of error messages: the texts of pending events once more, compressed. A screen that searches them reads a sixtieth of the bytes and
-- leaves the contract table alone. The rollup's maintainer keeps them true, since it learns of every write to a pending event: rollup_add marks
-- such an event as stale in its snapshot. Derived, so not logged (rollup.sql).

-- A row holds the messages of all pending events with ids low … high, but for stale ones. The C file that writes `content` knows its form; the
-- database does not look inside.
CREATE UNLOGGED TABLE redrive.text_snapshot (
    low     bigint PRIMARY KEY,
    high    bigint NOT NULL,
    n       integer NOT NULL, -- events
    stale   bigint[] NOT NULL DEFAULT '{}', -- events whose text here is outdated or missing
    content bytea NOT NULL
);
ALTER TABLE redrive.text_snapshot ALTER content SET STORAGE EXTERNAL;

---- functions

-- The highest range of ids that no snapshot covers and that is worth one: events above `after` and below `before`. p_upto: ids above it may still
-- be committed; p_arrivals: so many above the highest snapshot are worth one; p_room: bytes that snapshots may take. NULL: there is none.
CREATE OR REPLACE FUNCTION redrive.text_snapshot_gap(p_maintainer text, p_upto bigint, p_arrivals bigint, p_room bigint,
                                                     OUT after bigint, OUT before bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    IF (SELECT sum(octet_length(t.content)) >= p_room FROM redrive.text_snapshot t) THEN
        RETURN;
    END IF;
    SELECT h.after, h.before INTO after, before
      FROM (SELECT t.high, coalesce(lead(t.low) OVER (ORDER BY t.low), least(p_upto, 9223372036854775806) + 1)
              FROM (SELECT low, high FROM redrive.text_snapshot UNION ALL SELECT 0, 0) AS t) AS h (after, before)
     WHERE h.after + 1 < h.before
       AND EXISTS (SELECT FROM redrive.rollup_event b WHERE b.dlq_id > h.after AND b.dlq_id < h.before
                   OFFSET CASE WHEN h.before > p_upto AND h.after > 0 THEN p_arrivals - 1 ELSE 0 END)
     ORDER BY h.before DESC LIMIT 1;
END $$;

-- What is put is as large as the program makes it, and no larger: every screen unpacks it.
CREATE OR REPLACE FUNCTION redrive.text_snapshot_put(p_maintainer text, p_low bigint, p_high bigint, p_events integer, p_content bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    IF (p_low >= 0 AND p_high >= p_low AND p_events BETWEEN 1 AND 1000000 AND octet_length(p_content) <= 33554432) IS NOT TRUE
       OR EXISTS (SELECT FROM redrive.text_snapshot t WHERE t.low <= p_high AND t.high >= p_low) THEN
        RAISE EXCEPTION 'that is no snapshot of events % to %', p_low, p_high USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.text_snapshot (low, high, n, content) VALUES (p_low, p_high, p_events, p_content);
END $$;

-- All events were compared since p_floor. Deletes snapshots most of whose events are gone, and small ones side by side; fewer snapshots fill
-- these gaps again.
CREATE OR REPLACE FUNCTION redrive.text_snapshot_compared(p_maintainer text, p_floor bigint, p_changes bigint, p_small bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._rollup_renew(p_maintainer);
    UPDATE redrive.rollup_state SET texts_floor = p_floor, texts_changes = p_changes;
    WITH live AS (
        SELECT t.low, t.n, (SELECT count(*) FROM redrive.rollup_event b WHERE b.dlq_id BETWEEN t.low AND t.high) AS left
          FROM redrive.text_snapshot t),
    judged AS (
        SELECT l.low, l.left * 2 < l.n AS is_sparse, l.left < p_small AS is_small,
               coalesce(lag(l.left) OVER w < p_small OR lead(l.left) OVER w < p_small, false) AS is_beside_small
          FROM live l WINDOW w AS (ORDER BY l.low))
    DELETE FROM redrive.text_snapshot t USING judged j WHERE t.low = j.low AND (j.is_sparse OR j.is_small AND j.is_beside_small);
END $$;

-- These events were written to, or are new in a range that was complete. Deletes snapshots with many stale events.
CREATE OR REPLACE FUNCTION redrive._text_snapshot_touch(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.text_snapshot t SET stale = t.stale || touched.ids
      FROM (SELECT (SELECT CASE WHEN t.high >= w.id THEN t.low END FROM redrive.text_snapshot t
                     WHERE t.low <= w.id ORDER BY t.low DESC LIMIT 1) AS low,
                   array_agg(w.id) AS ids
              FROM unnest(p_ids) AS w (id) GROUP BY 1) AS touched
     WHERE t.low = touched.low;
    DELETE FROM redrive.text_snapshot WHERE cardinality(stale) * 16 > n;
END $$;
