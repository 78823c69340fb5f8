-- Recipes: an operation that writes a revision of each of its events. The program applies the recipe, which stands in the operation; these functions
-- keep its outcomes. An event and its outcome are written in one transaction, so each event has either the old or the new revision.

---- functions

-- Within the transaction of a freeze: the recipe of a correct operation.
CREATE OR REPLACE FUNCTION redrive.operation_recipe(p_no bigint, p_recipe text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.operation SET recipe = p_recipe
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user AND action = 'correct' AND p_recipe <> '';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % takes no recipe', p_no USING ERRCODE = 'RD004';
    END IF;
END $$;

-- Within the transaction of a freeze: what it corrects is sent once it is done, without what returned p_max_replays times.
CREATE OR REPLACE FUNCTION redrive.operation_then_reprocess(p_no bigint, p_topic text, p_max_replays bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._mapped_target('reprocess', p_topic);
    UPDATE redrive.operation SET then_reprocess = true, target_topic = p_topic, max_replays = p_max_replays
     WHERE no = p_no AND state = 'freezing' AND requested_by = session_user AND recipe IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % has no recipe, so nothing of it is sent', p_no USING ERRCODE = 'RD004';
    END IF;
END $$;

-- May a worker apply this recipe now? Its rate may be that of the reprocess that follows.
CREATE OR REPLACE FUNCTION redrive._is_correcting(v redrive.operation) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN v.action = 'correct' AND v.recipe IS NOT NULL AND v.state IN ('frozen', 'running') AND (v.rate <> 0 OR v.then_reprocess)
       AND coalesce(v.send_after <= clock_timestamp(), true);
END $$;

-- The next events of a recipe, at most p_limit, in pages of at most p_page, so that a program reads ahead. Each page is what work_correct finds next
-- once the pages before it are done.
CREATE OR REPLACE FUNCTION redrive.work_correct_next(p_no bigint, p_limit bigint, p_page bigint, OUT ids bigint[], OUT pages integer[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation := redrive._operation_lock(p_no);
    v_most bigint := least(p_limit, redrive._allowance(v), v.queued);
BEGIN
    ids := '{}';
    pages := '{}';
    IF NOT redrive._is_correcting(v) OR v_most <= 0 THEN
        RETURN;
    END IF;
    SELECT p.ids INTO ids FROM redrive._work_pick(p_no, least(p_page, v_most)) p; -- divides what is larger than a page
    IF ids <> '{}' THEN
        SELECT q.ids, q.pages INTO ids, pages FROM redrive._correct_queue(p_no, v_most, p_page) q;
    END IF;
END $$;

-- The pages of what is queued: rows, or else whole batches. The last ones of many are short, since the last page of all is read, corrected and written
-- one after the other. Their ids are collected at the end: a list that grows page by page is copied each time.
-- Plan: in the order of the primary key, reading no more batches than are taken.
CREATE OR REPLACE FUNCTION redrive._correct_queue(p_no bigint, p_limit bigint, p_page bigint, OUT ids bigint[], OUT pages integer[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    b record;
    v_page integer := 0;
    v_is_end boolean;
    v_batches integer := 0; -- of this page
    v_last integer;
    v_events bigint := 0;
BEGIN
    SELECT p.ids INTO ids FROM redrive._items_pick(p_no, -1, p_limit) p;
    pages := ARRAY(SELECT least(p_page, cardinality(ids) - w.at) FROM generate_series(0, cardinality(ids) - 1, p_page) AS w (at));
    IF ids <> '{}' THEN
        RETURN;
    END IF;
    FOR b IN SELECT q.no, q.events FROM redrive.operation_batch q WHERE q.operation_no = p_no AND q.state = 'queued' ORDER BY q.no LOOP
        EXIT WHEN v_events + b.events > p_limit OR b.events > p_page;
        v_is_end := p_limit > 3 * p_page AND p_limit - v_events <= 2 * p_page;
        IF v_page > 0 AND (v_batches = 32 -- as _batches_pick would end it
                           OR v_page + b.events > CASE WHEN v_is_end THEN p_page / 4 ELSE p_page END) THEN
            pages := pages || v_page;
            v_page := 0;
            v_batches := 0;
        END IF;
        v_events := v_events + b.events;
        v_page := v_page + b.events;
        v_batches := v_batches + 1;
        v_last := b.no;
    END LOOP;
    IF v_page > 0 THEN
        pages := pages || v_page;
    END IF;
    ids := ARRAY(SELECT unnest(q.dlq_ids) FROM (SELECT x.dlq_ids FROM redrive.operation_batch x
                  WHERE x.operation_no = p_no AND x.state = 'queued' AND x.no <= v_last ORDER BY x.no) AS q);
END $$;

-- Of these events, ascending, those that are as the program read them: pending, and p_parents are their newest revisions.
-- Plan: events and revisions by key, whatever the statistics say.
CREATE OR REPLACE FUNCTION redrive._correct_unchanged(p_ids bigint[], p_parents integer[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_first bigint := p_ids[1];
    v_last bigint := p_ids[cardinality(p_ids)];
    v_are_revised boolean := EXISTS (SELECT FROM redrive.revision r WHERE r.dlq_id BETWEEN v_first AND v_last); -- asked once, not per event
BEGIN
    IF NOT v_are_revised AND v_last - v_first < 4 * cardinality(p_ids) THEN
        RETURN redrive._correct_pending(p_ids, p_parents);
    END IF;
    RETURN ARRAY(
        SELECT w.id FROM unnest(p_ids, p_parents) WITH ORDINALITY AS w (id, parent, n)
          CROSS JOIN LATERAL (SELECT x.status FROM :"events" x WHERE x.id = w.id LIMIT 1) e
         WHERE coalesce(e.status, '') = 'PENDING'
           AND w.parent = CASE WHEN v_are_revised
                               THEN coalesce((SELECT r.no FROM redrive.revision r WHERE r.dlq_id = w.id ORDER BY r.no DESC LIMIT 1), 0) ELSE 0 END
         ORDER BY w.n);
END $$;

-- The same of events without revisions that are most of those between the first and the last of them.
-- Plan: one range of the table, which costs a fourth of as many descents, beside a hash of the list.
CREATE OR REPLACE FUNCTION redrive._correct_pending(p_ids bigint[], p_parents integer[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = on SET enable_mergejoin = off SET enable_nestloop = off AS $$
DECLARE
    v_first bigint := p_ids[1];
    v_last bigint := p_ids[cardinality(p_ids)];
BEGIN
    IF v_last - v_first + 1 = cardinality(p_ids) AND 0 = ALL (p_parents)
       AND cardinality(p_ids) = (SELECT count(*) FROM :"events" e WHERE e.id BETWEEN v_first AND v_last AND coalesce(e.status, '') = 'PENDING') THEN
        RETURN p_ids; -- the range holds nothing else
    END IF;
    RETURN ARRAY(
        SELECT w.id FROM unnest(p_ids, p_parents) AS w (id, parent) JOIN :"events" e ON e.id = w.id
         WHERE e.id BETWEEN v_first AND v_last AND coalesce(e.status, '') = 'PENDING' AND w.parent = 0 ORDER BY w.id);
END $$;

-- Writes the revisions of the events whose outcome is 'changed' or 'forced' and that are among p_fit. A list that is NULL says of each event that
-- this part is the original's. Payloads stand one behind the other in p_payloads, since a list of them is copied twice as often; p_payload_at says
-- where each begins, from 1, and p_payload_bytes how long it is, -1: as in the original. So do headers; p_header_counts of -1 is the original's, a
-- partition of -1 too. p_has_keys are 0 or 1. Lists are read by index, because unnest copies each of them into a store of its own first.
CREATE OR REPLACE FUNCTION redrive._correct_write(v redrive.operation, p_fit bigint[], p_ids bigint[], p_parents integer[], p_outcomes text[],
                                                  p_payloads bytea, p_payload_at integer[], p_payload_bytes integer[], p_has_keys integer[],
                                                  p_keys bytea[], p_header_at integer[], p_header_counts integer[], p_header_names text[],
                                                  p_header_values bytea[], p_topics text[], p_partitions integer[], p_at timestamptz)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_are_all boolean := cardinality(p_fit) = cardinality(p_ids);
    v_have_changed boolean := 'changed' = ALL (p_outcomes); -- a text is looked for from the list's start
    v_author name := v.requested_by; -- not taken out of the row for every event
    v_reason text := v.reason;
    v_operation bigint := v.no;
BEGIN
    INSERT INTO redrive.revision (dlq_id, no, parent, payload, has_key, key, header_names, header_values, topic, partition, author, at, reason,
                                  operation_no)
    SELECT p_ids[n], p_parents[n] + 1, p_parents[n],
           CASE WHEN p_payload_bytes[n] >= 0 THEN substring(p_payloads FROM p_payload_at[n] FOR p_payload_bytes[n]) END,
           coalesce(p_has_keys[n] <> 0, false), p_keys[n],
           CASE WHEN p_header_counts[n] >= 0
                THEN coalesce(p_header_names[p_header_at[n] : p_header_at[n] + p_header_counts[n] - 1], '{}') END,
           CASE WHEN p_header_counts[n] >= 0
                THEN coalesce(p_header_values[p_header_at[n] : p_header_at[n] + p_header_counts[n] - 1], '{}') END,
           p_topics[n], nullif(p_partitions[n], -1), v_author, p_at, v_reason, v_operation
      FROM generate_series(1, cardinality(p_ids)) AS n
     WHERE (v_have_changed OR p_outcomes[n] IN ('changed', 'forced')) AND (v_are_all OR p_ids[n] = ANY (p_fit));
END $$;

-- How many events have each outcome, of those that are as they were read. No outcomes: each is changed.
CREATE OR REPLACE FUNCTION redrive._correct_count(p_fit bigint[], p_ids bigint[], p_outcomes text[], OUT changed bigint, OUT unchanged bigint,
                                                  OUT forced bigint, OUT failed bigint, OUT not_applicable bigint, OUT by_check bigint,
                                                  OUT refused bigint, OUT skipped bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    SELECT cardinality(p_ids), 0, 0, 0, 0, 0, 0, 0 INTO changed, unchanged, forced, failed, not_applicable, by_check, refused, skipped;
    IF cardinality(p_fit) < cardinality(p_ids) OR 'changed' <> ANY (p_outcomes) THEN
        SELECT count(*) FILTER (WHERE w.outcome IN ('changed', 'forced')), count(*) FILTER (WHERE w.outcome = 'unchanged'),
               count(*) FILTER (WHERE w.outcome = 'forced'), count(*) FILTER (WHERE w.outcome = 'failed'),
               count(*) FILTER (WHERE w.outcome = 'not_applicable'), count(*) FILTER (WHERE w.outcome = 'refused_by_check'),
               count(*) FILTER (WHERE w.outcome NOT IN ('changed', 'forced', 'unchanged', 'not_applicable')), cardinality(p_ids) - count(*)
          INTO changed, unchanged, forced, failed, not_applicable, by_check, refused, skipped
          FROM (SELECT u.id, CASE WHEN p_outcomes = '{}' THEN 'changed' ELSE u.outcome END AS outcome
                  FROM unnest(p_ids, p_outcomes) AS u (id, outcome)) AS w
         WHERE cardinality(p_fit) = cardinality(p_ids) OR w.id = ANY (p_fit);
    END IF;
END $$;

-- The outcomes of events that were looked at: of those that are as they were read, and of the others, which are skipped. No outcomes: each is
-- changed.
CREATE OR REPLACE FUNCTION redrive._correct_items(p_no bigint, p_batches integer[], p_fit bigint[], p_ids bigint[], p_outcomes text[],
                                                  p_details text[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_batches <> '{}' AND cardinality(p_fit) = cardinality(p_ids) AND 'changed' = ALL (p_outcomes) THEN
        UPDATE redrive.operation_batch SET state = 'done', at = p_at WHERE operation_no = p_no AND no = ANY (p_batches);
        RETURN;
    ELSIF p_batches <> '{}' THEN
        PERFORM redrive._batches_write_out(p_no, p_batches);
    END IF;
    UPDATE redrive.operation_item i SET at = p_at, detail = w.detail,
           state = CASE WHEN p_outcomes = '{}' OR w.outcome IN ('changed', 'forced', 'unchanged', 'not_applicable') THEN 'done' ELSE 'refused' END
      FROM unnest(p_ids, p_outcomes, p_details) AS w (id, outcome, detail)
     WHERE i.operation_no = p_no AND i.dlq_id = w.id AND w.id = ANY (p_fit);
    IF cardinality(p_fit) < cardinality(p_ids) THEN
        PERFORM redrive._items_skip(p_no, redrive._without(p_ids, p_fit), p_at);
        UPDATE redrive.operation_item SET detail = 'corrected meanwhile'
         WHERE operation_no = p_no AND dlq_id = ANY (redrive._without(p_ids, p_fit)) AND detail = 'is pending';
    END IF;
END $$;

-- Keeps what a recipe made of the operation's next events: outcome and reason of each, and the revision of each that changed; no outcomes where all
-- of them did, which is the rule. They are a page of work_correct_next, or its first part. Nothing is written where other events are next: another
-- worker has done these meanwhile.
CREATE OR REPLACE FUNCTION redrive.work_correct(p_no bigint, p_ids bigint[], p_parents integer[], p_outcomes text[], p_details text[],
                                                p_payloads bytea, p_payload_at integer[], p_payload_bytes integer[], p_has_keys integer[],
                                                p_keys bytea[], p_header_at integer[], p_header_counts integer[], p_header_names text[],
                                                p_header_values bytea[], p_topics text[], p_partitions integer[],
                                                OUT applied bigint, OUT remaining bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.operation := redrive._operation_lock(p_no);
    v_now timestamptz := clock_timestamp();
    v_ids bigint[];
    v_batches integer[];
    v_fit bigint[];
    n record;
BEGIN
    applied := 0;
    remaining := v.queued;
    IF NOT redrive._is_correcting(v) OR cardinality(p_ids) > redrive._allowance(v) THEN -- the steps may have changed since
        RETURN;
    END IF;
    SELECT p.ids, p.batches INTO v_ids, v_batches FROM redrive._work_pick(p_no, cardinality(p_ids)) p;
    IF v_batches <> '{}' AND v_ids <> p_ids AND v_ids[1] = p_ids[1] THEN -- the part ends within a batch
        PERFORM redrive._batches_write_out_of(p_no, p_ids);
        SELECT p.ids, p.batches INTO v_ids, v_batches FROM redrive._work_pick(p_no, cardinality(p_ids)) p;
    END IF;
    IF v_ids <> p_ids THEN
        RETURN;
    END IF;
    v_fit := redrive._correct_unchanged(p_ids, p_parents);
    PERFORM redrive._correct_write(v, v_fit, p_ids, p_parents, p_outcomes, p_payloads, p_payload_at, p_payload_bytes, p_has_keys, p_keys,
                                   p_header_at, p_header_counts, p_header_names, p_header_values, p_topics, p_partitions, v_now);
    PERFORM redrive._correct_items(p_no, v_batches, v_fit, p_ids, p_outcomes, p_details, v_now);
    SELECT c.* INTO n FROM redrive._correct_count(v_fit, p_ids, p_outcomes) c;
    applied := cardinality(p_ids);
    UPDATE redrive.operation
       SET state = 'running', started_at = coalesce(started_at, v_now), queued = queued - applied,
           state_note = CASE WHEN applied = 0 THEN state_note END,
           done = done + n.changed + n.unchanged + n.not_applicable, unchanged = unchanged + n.unchanged,
           not_applicable = not_applicable + n.not_applicable,
           refused_by_check = refused_by_check + n.by_check, failed = failed + n.failed, forced = forced + n.forced,
           refused = refused + n.refused,
           skipped = skipped + n.skipped, changed = nextval('redrive.change')
     WHERE no = p_no
    RETURNING queued INTO remaining;
    -- What a loss of power takes back is queued again, with its revisions; whatever follows from the operation waits for its last events.
    IF remaining > 0 THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    PERFORM redrive._audit('apply', p_no, applied, NULL,
        format('correct: %s changed, %s unchanged, %s not applicable, %s refused, %s skipped', n.changed, n.unchanged, n.not_applicable,
               n.refused, n.skipped)
        || CASE WHEN n.forced > 0 THEN format('; %s of the changed ones forced: the check refuses them', n.forced) ELSE '' END);
    PERFORM redrive._operation_judge(p_no, 0);
    PERFORM redrive._operation_finish(p_no);
END $$;

-- The pending events of these whose newest revision is by this operation: those whose correction still holds, and was not sent.
-- Plan: items of one operation by key; then events and revisions by key.
CREATE OR REPLACE FUNCTION redrive._correct_holding(p_no bigint, p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN ARRAY(
        SELECT w.id FROM unnest(p_ids) AS w (id)
          CROSS JOIN LATERAL (SELECT r.operation_no FROM redrive.revision r WHERE r.dlq_id = w.id ORDER BY r.no DESC LIMIT 1) n
          CROSS JOIN LATERAL (SELECT x.status FROM :"events" x WHERE x.id = w.id LIMIT 1) e
         WHERE n.operation_no = p_no AND coalesce(e.status, '') = 'PENDING' ORDER BY w.id);
END $$;

-- Reverts what the operation that v undoes has corrected, where that still holds: a new revision, equal to what was before. Returns those events.
CREATE OR REPLACE FUNCTION redrive._correct_undo(v redrive.operation, p_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_holding bigint[] := redrive._correct_holding(v.undoes, p_ids);
BEGIN
    INSERT INTO redrive.revision (dlq_id, no, parent, payload, has_key, key, header_names, header_values, topic, partition, author, reason,
                                  operation_no)
    SELECT w.id, n.no + 1, n.no, b.payload, coalesce(b.has_key, false), b.key, b.header_names, b.header_values, b.topic, b.partition,
           v.requested_by, v.reason, v.no
      FROM unnest(v_holding) AS w (id)
      CROSS JOIN LATERAL (SELECT r.no, r.parent FROM redrive.revision r WHERE r.dlq_id = w.id ORDER BY r.no DESC LIMIT 1) n
      LEFT JOIN LATERAL (SELECT r.* FROM redrive.revision r WHERE r.dlq_id = w.id AND r.no = n.parent LIMIT 1) b ON true;
    RETURN v_holding;
END $$;

-- Those of these events that were sent and returned p_times times or more.
CREATE OR REPLACE FUNCTION redrive._returned_often(p_ids bigint[], p_times bigint) RETURNS bigint[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RETURN ARRAY(
        SELECT e.id FROM :"events" e
          JOIN redrive.items_sent((SELECT array_agg(w.event_id::text) FROM :"events" w WHERE w.id = ANY (p_ids) AND redrive.has_sent())) i
            ON i.event_id = e.event_id
           AND NOT EXISTS (SELECT FROM redrive.record a JOIN redrive.record b ON b.dlq_id = i.dlq_id WHERE a.dlq_id = e.id AND a.identity <> b.identity)
         WHERE e.id = ANY (p_ids) GROUP BY e.id HAVING count(*) >= p_times
        UNION SELECT c.dlq_id FROM redrive.returned c WHERE c.dlq_id = ANY (p_ids) AND c.times >= p_times
        ORDER BY 1);
END $$;

-- Makes the reprocess of what this operation has corrected: who asked for the one asked for the other too, with the same reason. It is exactly the
-- events whose corrections still hold; where there are none, nothing follows.
CREATE OR REPLACE FUNCTION redrive._operation_follow(v redrive.operation) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_ids bigint[] := redrive._correct_holding(v.no, ARRAY(SELECT i.dlq_id FROM redrive.item i WHERE i.operation_no = v.no AND i.state = 'done'));
    v_no bigint;
BEGIN
    v_ids := redrive._without(v_ids, redrive._returned_often(v_ids, v.max_replays));
    IF v_ids = '{}' THEN
        UPDATE redrive.operation SET followed_by = 0 WHERE no = v.no;
        RETURN;
    END IF;
    INSERT INTO redrive.operation (key, action, requested_by, host, approved_by, scope, reason, target_topic, is_forced, rate, steps, settle_for,
                                   halt_above, approve_above, policy)
    VALUES (gen_random_uuid(), 'reprocess', v.requested_by, v.host, v.approved_by, format('what operation %s corrected', v.no), v.reason,
            v.target_topic, v.is_forced, v.rate, v.steps, v.settle_for, v.halt_above, v.approve_above, v.policy)
    RETURNING no INTO v_no;
    INSERT INTO redrive.policy_run (operation_no, policy, matched, acted, topics)
    SELECT v_no, r.policy, 0, 0, r.topics FROM redrive.policy_run r WHERE r.operation_no = v.no;
    FOR v_page IN 0 .. (cardinality(v_ids) - 1) / 10000 LOOP
        PERFORM redrive._freeze_page(v_no, v.requested_by, v_ids[v_page * 10000 + 1 : (v_page + 1) * 10000]);
    END LOOP;
    PERFORM redrive._operation_confirm(v_no, v.requested_by);
    UPDATE redrive.operation SET followed_by = v_no, changed = nextval('redrive.change') WHERE no = v.no;
END $$;

-- The same for every operation that is done and has such a reprocess to follow. While somebody freezes, it is left to the next call.
CREATE OR REPLACE FUNCTION redrive._operations_follow() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.operation;
BEGIN
    FOR v IN SELECT * FROM redrive.operation WHERE then_reprocess AND followed_by IS NULL AND state = 'done' ORDER BY no FOR UPDATE SKIP LOCKED LOOP
        PERFORM FROM redrive.freeze_turn FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        PERFORM redrive._operation_follow(v);
    END LOOP;
END $$;
