-- Keeping the packs of error messages (017_texts.sql). By the keeper of the sums, who learns of every event that is written to: backlog_add notes
-- in the pack of an event that it counts anew that it is not true of that one any more.

-- The highest range of ids that no pack tells of and that is worth one: events above `after` and below `before`. p_upto: ids above it may still
-- be committed; p_arrivals: so many above the highest pack are worth one; p_room: bytes that packs may take. NULL: there is none.
CREATE OR REPLACE FUNCTION redrive.backlog_text_hole(p_keeper text, p_upto bigint, p_arrivals bigint, p_room bigint,
                                                     OUT after bigint, OUT before bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    IF (SELECT sum(octet_length(t.pack)) >= p_room FROM redrive.backlog_text t) THEN
        RETURN;
    END IF;
    SELECT h.after, h.before INTO after, before
      FROM (SELECT t.high, coalesce(lead(t.low) OVER (ORDER BY t.low), p_upto + 1)
              FROM (SELECT low, high FROM redrive.backlog_text UNION ALL SELECT 0, 0) AS t) AS h (after, before)
     WHERE h.after + 1 < h.before
       AND EXISTS (SELECT FROM redrive.backlog_event b WHERE b.id > h.after AND b.id < h.before
                   OFFSET CASE WHEN h.before > p_upto AND h.after > 0 THEN p_arrivals - 1 ELSE 0 END)
     ORDER BY h.before DESC LIMIT 1;
END $$;

CREATE OR REPLACE FUNCTION redrive.backlog_text_put(p_keeper text, p_low bigint, p_high bigint, p_events integer, p_pack bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    INSERT INTO redrive.backlog_text (low, high, n, pack) VALUES (p_low, p_high, p_events, p_pack);
END $$;

-- All events were compared since that mark. Takes away packs most of whose events are gone, and small ones that lie side by side: both become
-- holes that are filled by fewer.
CREATE OR REPLACE FUNCTION redrive.backlog_text_mark(p_keeper text, p_mark bigint, p_changes bigint, p_small bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._backlog_hold(p_keeper);
    UPDATE redrive.backlog_state SET texts_mark = p_mark, texts_changes = p_changes;
    WITH live AS (
        SELECT t.low, t.n, (SELECT count(*) FROM redrive.backlog_event b WHERE b.id BETWEEN t.low AND t.high) AS left
          FROM redrive.backlog_text t),
    judged AS (
        SELECT l.low, l.left * 2 < l.n AS is_sparse, l.left < p_small AS is_small,
               coalesce(lag(l.left) OVER w < p_small OR lead(l.left) OVER w < p_small, false) AS is_beside_small
          FROM live l WINDOW w AS (ORDER BY l.low))
    DELETE FROM redrive.backlog_text t USING judged j WHERE t.low = j.low AND (j.is_sparse OR j.is_small AND j.is_beside_small);
END $$;

-- These events were written to, or are new where nothing was to come any more. Packs that are stale in many are taken away.
CREATE OR REPLACE FUNCTION redrive._backlog_text_touch(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.backlog_text t SET stale = t.stale || touched.ids
      FROM (SELECT (SELECT CASE WHEN t.high >= w.id THEN t.low END FROM redrive.backlog_text t WHERE t.low <= w.id ORDER BY t.low DESC LIMIT 1) AS low,
                   array_agg(w.id) AS ids
              FROM unnest(p_ids) AS w (id) GROUP BY 1) AS touched
     WHERE t.low = touched.low;
    DELETE FROM redrive.backlog_text WHERE cardinality(stale) * 16 > n;
END $$;
