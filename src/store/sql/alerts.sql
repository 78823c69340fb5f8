-- Alerts: which rules of `redrive watch` are broken, since when, who knows, and what is still to be sent about them.
--
-- A watcher measures, and watch_alerts_observe decides: whether an alert waits for its `for`, fires or is over, and which notices go out, in one
-- transaction. Watchers take turns, and a measurement that is older than the last one changes nothing, so several watchers decide once. All
-- times are PostgreSQL's. `for` is counted in time that was observed: a clock that jumps adds a minute at most.
--
-- A notice stays in its queue until its destination has taken it, and one watcher at a time holds it by a lease. So a notice is sent at least once;
-- its fingerprint tells a destination that it has it already. Notices of an alert go to a destination in their order.

-- One row. A watcher that finds it locked leaves the turn to the other.
CREATE TABLE redrive.alert_state (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    turn_at timestamptz NOT NULL DEFAULT '-infinity',
    as_of   timestamptz NOT NULL DEFAULT '-infinity' -- of the last measurement
) WITH (fillfactor = 10);
INSERT INTO redrive.alert_state DEFAULT VALUES;

CREATE TABLE redrive.alert_rule (
    name            text PRIMARY KEY,
    condition       text NOT NULL,       -- what is measured: "pending"
    words           text NOT NULL,       -- for people: "pending above 1,000 for 5m"
    threshold       double precision NOT NULL,
    severity        text NOT NULL,
    description     text,                -- the first thing to do
    runbook         text,                -- a link
    value           double precision,    -- the worst of its instances; NULL: not known now
    seen_at         timestamptz NOT NULL, -- it was in a watcher's file
    fired_at        timestamptz,         -- last
    resolved_at     timestamptz,         -- last
    silenced_until  timestamptz,
    silenced_by     name,
    silenced_reason text
) WITH (fillfactor = 50);

-- What is broken now. A rule about each group or operation has an instance for each.
CREATE TABLE redrive.alert (
    rule         text NOT NULL,
    instance     text NOT NULL,          -- '' of a rule about the table
    state        text NOT NULL CHECK (state IN ('pending', 'firing')),
    since        timestamptz NOT NULL,   -- of the state
    held         interval NOT NULL DEFAULT '0 s', -- for so long it was seen broken
    value        double precision,
    summary      text NOT NULL,
    labels       jsonb NOT NULL,
    told         text[] NOT NULL DEFAULT '{}', -- destinations that were told that it fires
    refreshed_at timestamptz,            -- those that forget were told again
    acknowledged_by     name,
    acknowledged_at     timestamptz,
    acknowledged_reason text,
    PRIMARY KEY (rule, instance)
) WITH (fillfactor = 50);

CREATE TABLE redrive.alert_notice (
    no          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule        text NOT NULL,
    instance    text NOT NULL,
    destination text NOT NULL,
    state       text NOT NULL CHECK (state IN ('firing', 'resolved')),
    content     jsonb NOT NULL,
    queued_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries       integer NOT NULL DEFAULT 0,
    holder      text,
    lease_until timestamptz
) WITH (fillfactor = 50);
CREATE INDEX alert_notice_of ON redrive.alert_notice (destination, rule, instance, no);

CREATE TABLE redrive.alert_destination (
    name       text PRIMARY KEY,
    sent       bigint NOT NULL DEFAULT 0,
    dropped    bigint NOT NULL DEFAULT 0, -- notices that were never taken: the queue was full, or a day passed
    failures   integer NOT NULL DEFAULT 0, -- since the last success
    sent_at    timestamptz,
    failed_at  timestamptz,
    error      text,                      -- of the last failure; NULL: it works
    next_at    timestamptz NOT NULL DEFAULT '-infinity' -- nothing is tried before
) WITH (fillfactor = 50);

-- Sums that only grow, once a minute for two days, so that their increase over a window can be told.
CREATE TABLE redrive.alert_sample (
    at       integer PRIMARY KEY, -- seconds since 2000-01-01 UTC
    sent     bigint NOT NULL,     -- by operations that reprocess
    refused  bigint NOT NULL,
    returned bigint NOT NULL,
    arrived  bigint NOT NULL,     -- those whose retry_count is known
    retries  double precision NOT NULL -- of these, in all
);

---- functions

CREATE OR REPLACE FUNCTION redrive._alert_sample() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now integer := redrive._trend_now() / 60 * 60;
BEGIN
    IF NOT EXISTS (SELECT FROM redrive.alert_sample WHERE at = v_now) THEN
        INSERT INTO redrive.alert_sample (at, sent, refused, returned, arrived, retries)
        SELECT v_now, o.sent, o.refused, o.returned, b.arrived, b.retries
          FROM (SELECT coalesce(sum(x.done), 0) AS sent, coalesce(sum(x.refused), 0) AS refused, coalesce(sum(x.returned), 0) AS returned
                  FROM redrive.operation x WHERE x.action = 'reprocess') o,
               (SELECT coalesce(sum(n), 0) AS arrived, coalesce(sum(total), 0) AS retries
                  FROM redrive.watch_bucket WHERE histogram = 'retries') b
        ON CONFLICT DO NOTHING;
        DELETE FROM redrive.alert_sample WHERE at < v_now - 172800 OR at > v_now;
    END IF;
END $$;

-- The same for every watcher and for every life of the alert.
CREATE OR REPLACE FUNCTION redrive._alert_fingerprint(p_rule text, p_instance text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT md5(i.id::text || ' ' || length(p_rule) || ' ' || p_rule || p_instance) FROM redrive.install i;
$$;

-- Is it a watcher's turn to measure? At most every p_every.
CREATE OR REPLACE FUNCTION redrive.watch_alerts_turn(p_every interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM FROM redrive.alert_state WHERE turn_at <= v_now - p_every OR turn_at > v_now FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE redrive.alert_state SET turn_at = v_now;
    RETURN true;
END $$;

-- Queues a notice about an alert for some destinations. Of a queue that is too long, the oldest notices go.
CREATE OR REPLACE FUNCTION redrive._alert_queue(p_alert redrive.alert, p_state text, p_destinations text[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.alert_destination (name) SELECT d FROM unnest(p_destinations) AS d ON CONFLICT DO NOTHING;
    INSERT INTO redrive.alert_notice (rule, instance, destination, state, content)
    SELECT p_alert.rule, p_alert.instance, d.name, p_state,
           jsonb_build_object('fingerprint', redrive._alert_fingerprint(p_alert.rule, p_alert.instance), 'words', r.words,
                              'severity', r.severity, 'summary', p_alert.summary, 'description', r.description, 'runbook', r.runbook,
                              'value', p_alert.value, 'labels', p_alert.labels, 'since', floor(extract(epoch FROM p_alert.since) * 1000000)::bigint,
                              'at', floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
      FROM unnest(p_destinations) AS d (name), redrive.alert_rule r WHERE r.name = p_alert.rule;
    WITH gone AS (
        DELETE FROM redrive.alert_notice n USING unnest(p_destinations) AS d (name)
         WHERE n.destination = d.name
           AND n.no <= (SELECT x.no FROM redrive.alert_notice x WHERE x.destination = d.name ORDER BY x.no DESC OFFSET 1000 LIMIT 1)
        RETURNING n.destination)
    UPDATE redrive.alert_destination t SET dropped = t.dropped + g.n
      FROM (SELECT destination, count(*) AS n FROM gone GROUP BY 1) g WHERE t.name = g.destination;
END $$;

-- An alert that fires is over: who was told that it fires, is told so.
CREATE OR REPLACE FUNCTION redrive._alert_end(p_alert redrive.alert) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    DELETE FROM redrive.alert WHERE rule = p_alert.rule AND instance = p_alert.instance;
    IF p_alert.state = 'firing' THEN
        PERFORM redrive._alert_queue(p_alert, 'resolved', p_alert.told);
        UPDATE redrive.alert_rule SET resolved_at = clock_timestamp() WHERE name = p_alert.rule;
    END IF;
END $$;

-- Tells of an alert that fires: destinations that were not told, and after a minute again those that forget. A silence withholds the first only,
-- and so does that the alert's group may wait.
CREATE OR REPLACE FUNCTION redrive._alert_tell(p_alert redrive.alert, p_destinations jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    r redrive.alert_rule;
    v_new text[];
    v_again text[] := '{}';
BEGIN
    SELECT * INTO r FROM redrive.alert_rule WHERE name = p_alert.rule;
    v_new := ARRAY(SELECT d.name FROM jsonb_to_recordset(p_destinations) AS d (name text, severities text[])
                    WHERE NOT d.name = ANY (p_alert.told) AND (d.severities IS NULL OR r.severity = ANY (d.severities))
                      AND NOT coalesce(r.silenced_until > v_now, false)
                      AND NOT EXISTS (SELECT FROM redrive.group_waiting w WHERE w.key = p_alert.labels ->> 'group'));
    IF p_alert.refreshed_at IS NULL OR p_alert.refreshed_at <= v_now - interval '1 minute' OR p_alert.refreshed_at > v_now THEN
        v_again := ARRAY(SELECT d.name FROM jsonb_to_recordset(p_destinations) AS d (name text, forgets boolean)
                          WHERE d.forgets AND d.name = ANY (p_alert.told)
                            AND NOT EXISTS (SELECT FROM redrive.alert_notice n WHERE n.destination = d.name
                                               AND n.rule = p_alert.rule AND n.instance = p_alert.instance));
    END IF;
    IF v_new || v_again <> '{}' THEN
        PERFORM redrive._alert_queue(p_alert, 'firing', v_new || v_again);
        UPDATE redrive.alert SET told = told || v_new, refreshed_at = v_now WHERE rule = p_alert.rule AND instance = p_alert.instance;
    END IF;
END $$;

-- What one rule came to. p_rule: name, condition, words, threshold, is_below, clear, for (seconds), severity, description, runbook, is_known, and
-- instances: instance, value, summary, labels. An instance that is not among them is not broken. Not known: all stays as it is.
CREATE OR REPLACE FUNCTION redrive._alert_observe(p_rule jsonb, p_passed interval) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_name text := p_rule ->> 'name';
    v_below boolean := (p_rule ->> 'is_below')::boolean;
    v_limit float8 := (p_rule ->> 'threshold')::float8;
    v_clear float8 := (p_rule ->> 'clear')::float8;
    v_for interval := (p_rule ->> 'for')::float8 * interval '1 s';
    v_known boolean := (p_rule ->> 'is_known')::boolean;
    a redrive.alert;
BEGIN
    INSERT INTO redrive.alert_rule AS had (name, condition, words, threshold, severity, description, runbook, value, seen_at)
    SELECT v_name, p_rule ->> 'condition', p_rule ->> 'words', v_limit, p_rule ->> 'severity', p_rule ->> 'description', p_rule ->> 'runbook',
           (SELECT CASE WHEN v_below THEN min(i.value) ELSE max(i.value) END FROM jsonb_to_recordset(p_rule -> 'instances') AS i (value float8)
             WHERE v_known), v_now
    ON CONFLICT (name) DO UPDATE
       SET condition = excluded.condition, words = excluded.words, threshold = excluded.threshold, severity = excluded.severity,
           description = excluded.description, runbook = excluded.runbook, value = excluded.value, seen_at = v_now;
    IF NOT v_known THEN
        RETURN;
    END IF;
    FOR a IN SELECT x.* FROM redrive.alert x
               LEFT JOIN jsonb_to_recordset(p_rule -> 'instances') AS i (instance text, value float8) ON i.instance = x.instance
              WHERE x.rule = v_name
                AND (i.instance IS NULL OR CASE WHEN x.state = 'pending' THEN NOT (CASE WHEN v_below THEN i.value < v_limit ELSE i.value > v_limit END)
                                                WHEN v_below THEN i.value >= v_clear ELSE i.value <= v_clear END)
              ORDER BY x.instance LOOP
        PERFORM redrive._alert_end(a);
    END LOOP;
    UPDATE redrive.alert x SET held = x.held + p_passed, since = least(x.since, v_now), value = i.value, summary = i.summary, labels = i.labels
      FROM jsonb_to_recordset(p_rule -> 'instances') AS i (instance text, value float8, summary text, labels jsonb)
     WHERE x.rule = v_name AND x.instance = i.instance;
    INSERT INTO redrive.alert (rule, instance, state, since, value, summary, labels)
    SELECT v_name, i.instance, 'pending', v_now, i.value, i.summary, i.labels
      FROM jsonb_to_recordset(p_rule -> 'instances') AS i (instance text, value float8, summary text, labels jsonb)
     WHERE CASE WHEN v_below THEN i.value < v_limit ELSE i.value > v_limit END
    ON CONFLICT DO NOTHING;
    UPDATE redrive.alert SET state = 'firing', since = v_now WHERE rule = v_name AND state = 'pending' AND held >= v_for;
    IF FOUND THEN
        UPDATE redrive.alert_rule SET fired_at = v_now WHERE name = v_name;
    END IF;
END $$;

-- Decides about all rules of a watcher by what it measured at p_as_of. p_destinations: name; forgets: an alert is to be told again every minute;
-- severities: NULL: all. Alerts of a rule that no watcher has had for five minutes end. False: a later measurement was here before, or another
-- watcher is at it.
CREATE OR REPLACE FUNCTION redrive.watch_alerts_observe(p_as_of timestamptz, p_every interval, p_rules jsonb, p_destinations jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    s redrive.alert_state;
    v_passed interval;
    v_rule jsonb;
    a redrive.alert;
BEGIN
    IF p_as_of > v_now + interval '1 minute' OR NOT isfinite(p_as_of) OR p_every < interval '0 s' OR p_as_of IS NULL OR p_every IS NULL
       OR coalesce(jsonb_typeof(p_rules), '') <> 'array' OR coalesce(jsonb_typeof(p_destinations), '') <> 'array' THEN
        RAISE EXCEPTION 'this is no measurement of alerts' USING ERRCODE = 'RD004';
    END IF;
    SELECT * INTO s FROM redrive.alert_state FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR p_as_of <= s.as_of AND s.as_of <= v_now THEN
        RETURN false;
    END IF;
    v_passed := CASE WHEN s.as_of = '-infinity' THEN interval '0 s'
                     ELSE greatest(least(p_as_of - s.as_of, greatest(interval '1 minute', 2 * p_every)), interval '0 s') END;
    UPDATE redrive.alert_state SET as_of = p_as_of;
    PERFORM redrive._alert_sample();
    FOR v_rule IN SELECT * FROM jsonb_array_elements(p_rules) LOOP
        PERFORM redrive._alert_observe(v_rule, v_passed);
    END LOOP;
    FOR a IN SELECT x.* FROM redrive.alert x JOIN redrive.alert_rule r ON r.name = x.rule WHERE r.seen_at < v_now - interval '5 minutes' LOOP
        PERFORM redrive._alert_end(a);
    END LOOP;
    DELETE FROM redrive.alert_rule WHERE seen_at < v_now - interval '5 minutes' AND NOT coalesce(silenced_until > v_now, false);
    FOR a IN SELECT x.* FROM redrive.alert x WHERE x.state = 'firing' ORDER BY x.since, x.rule, x.instance LOOP
        PERFORM redrive._alert_tell(a, p_destinations);
    END LOOP;
    RETURN true;
END $$;

-- The next notice for one of these destinations, held for p_lease: of those that were tried least often the oldest, and none while an earlier one
-- of the same alert waits. Notices that wait for a day are dropped, and counted. No row: nothing is due.
CREATE OR REPLACE FUNCTION redrive.watch_alerts_claim(p_holder text, p_destinations text[], p_lease interval)
RETURNS TABLE (no bigint, destination text, state text, rule text, instance text, content jsonb, dropped bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_now timestamptz := clock_timestamp();
BEGIN
    WITH gone AS (DELETE FROM redrive.alert_notice n WHERE n.queued_at < v_now - interval '1 day' RETURNING n.destination)
    UPDATE redrive.alert_destination t SET dropped = t.dropped + g.n
      FROM (SELECT x.destination, count(*) AS n FROM gone x GROUP BY 1) g WHERE t.name = g.destination;
    RETURN QUERY
    WITH next AS (
        SELECT n.no FROM redrive.alert_notice n JOIN redrive.alert_destination d ON d.name = n.destination
         WHERE n.destination = ANY (p_destinations)
           AND (d.next_at <= v_now OR d.next_at > v_now + interval '10 minutes')
           AND (n.lease_until IS NULL OR n.lease_until <= v_now OR n.lease_until > v_now + p_lease)
           AND NOT EXISTS (SELECT FROM redrive.alert_notice e WHERE e.destination = n.destination AND e.rule = n.rule
                              AND e.instance = n.instance AND e.no < n.no)
         ORDER BY n.tries, n.no LIMIT 1 FOR UPDATE OF n SKIP LOCKED)
    UPDATE redrive.alert_notice n SET holder = p_holder, lease_until = v_now + p_lease, tries = n.tries + 1
      FROM next, redrive.alert_destination d WHERE n.no = next.no AND d.name = n.destination
    RETURNING n.no, n.destination, n.state, n.rule, n.instance, n.content, d.dropped;
END $$;

-- The destination has taken it. False: the lease had ended, and another watcher holds it.
CREATE OR REPLACE FUNCTION redrive.watch_alerts_sent(p_holder text, p_no bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_destination text;
BEGIN
    DELETE FROM redrive.alert_notice WHERE no = p_no AND holder = p_holder RETURNING destination INTO v_destination;
    UPDATE redrive.alert_destination SET sent = sent + 1, sent_at = clock_timestamp(), failures = 0, error = NULL, next_at = '-infinity'
     WHERE name = v_destination;
    RETURN v_destination IS NOT NULL;
END $$;

-- It could not be sent: the destination is left alone for 1 s, then for twice as long each time, at most for five minutes, up to a quarter less by
-- chance.
CREATE OR REPLACE FUNCTION redrive.watch_alerts_failed(p_holder text, p_no bigint, p_error text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_destination text;
BEGIN
    UPDATE redrive.alert_notice SET holder = NULL, lease_until = NULL WHERE no = p_no AND holder = p_holder RETURNING destination INTO v_destination;
    UPDATE redrive.alert_destination
       SET failures = failures + 1, failed_at = clock_timestamp(), error = left(p_error, 500),
           next_at = clock_timestamp() + least(power(2, least(failures, 20)), 300) * (1 - random() / 4) * interval '1 s'
     WHERE name = v_destination;
    RETURN v_destination IS NOT NULL;
END $$;

-- Withholds notices of an alert until then; NULL: no longer.
CREATE OR REPLACE FUNCTION redrive.alert_silence(p_rule text, p_for interval, p_reason text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_until timestamptz := clock_timestamp() + p_for;
BEGIN
    IF p_for <= interval '0 s' OR p_for > interval '366 days' THEN
        RAISE EXCEPTION 'a silence lasts up to 366 days' USING ERRCODE = 'RD004';
    END IF;
    UPDATE redrive.alert_rule
       SET silenced_until = v_until, silenced_by = CASE WHEN p_for IS NOT NULL THEN session_user END,
           silenced_reason = CASE WHEN p_for IS NOT NULL THEN nullif(btrim(p_reason), '') END
     WHERE name = p_rule;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no alert "%"', p_rule USING ERRCODE = 'RD002';
    END IF;
    PERFORM redrive._audit(CASE WHEN p_for IS NULL THEN 'unsilence' ELSE 'silence' END, NULL, 0, p_reason,
                           format('alert %s', p_rule) || coalesce(format(' until %s', to_char(v_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC')), ''));
    RETURN v_until;
END $$;

-- Somebody is on it: until it is over, the alert says who. Returns how many instances fire.
CREATE OR REPLACE FUNCTION redrive.alert_acknowledge(p_rule text, p_reason text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_firing bigint;
BEGIN
    UPDATE redrive.alert SET acknowledged_by = session_user, acknowledged_at = clock_timestamp(), acknowledged_reason = nullif(btrim(p_reason), '')
     WHERE rule = p_rule AND state = 'firing';
    GET DIAGNOSTICS v_firing = ROW_COUNT;
    IF v_firing = 0 THEN
        RAISE EXCEPTION 'the alert "%" does not fire', p_rule USING ERRCODE = 'RD002';
    END IF;
    PERFORM redrive._audit('acknowledge', NULL, 0, p_reason, format('alert %s', p_rule));
    RETURN v_firing;
END $$;
