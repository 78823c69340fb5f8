-- What people decide about single groups: their category, who takes care of one, notes, and which may wait.

-- The category that somebody set for a group; NULL: cleared, so the rules decide again. Earlier decisions are in the audit.
CREATE TABLE redrive.group_category (
    group_key bigint PRIMARY KEY, -- the fingerprint, its 64 bits
    category  text CHECK (category IN ('transient', 'data', 'system', 'permanent', 'unknown')),
    who       name NOT NULL,
    at        timestamptz NOT NULL,
    reason    text,
    changed   bigint NOT NULL -- of redrive.change: the sum over all rows differs after each decision, in whatever order they commit
);

-- Who takes care of a group, what is noted about it, and until when it may wait. A row stays when its group has no events: notes come back with it.
CREATE TABLE redrive.group_care (
    group_key     bigint PRIMARY KEY,
    taken_by      name,        -- NULL: nobody
    taken_at      timestamptz,
    taken_until   timestamptz,
    note          text,        -- NULL: none
    noted_by      name,
    noted_at      timestamptz,
    snoozed_by    name,        -- NULL: it does not wait
    snoozed_at    timestamptz,
    snoozed_until timestamptz,
    snoozed_above bigint,      -- with more pending events it waits no longer
    changed       bigint NOT NULL -- as in group_category
);

-- The groups that may wait now.
CREATE VIEW redrive.group_waiting AS
    SELECT lpad(to_hex(c.group_key), 16, '0') AS key, c.snoozed_until, c.snoozed_by
      FROM redrive.group_care c
     WHERE c.snoozed_until > clock_timestamp()
       AND (c.snoozed_above IS NULL OR c.snoozed_above >= (SELECT coalesce(sum(t.n), 0) FROM redrive.rollup_series s
                                                              JOIN redrive.rollup_total t ON t.series = s.no WHERE s.group_key = c.group_key));

-- Who has a screen open, and on which group. A screen writes its row every ten seconds, and a row counts for thirty: nothing has to be taken back,
-- and it holds through a pooler, where a session tells nothing.
CREATE TABLE redrive.presence (
    screen    uuid PRIMARY KEY, -- of this run of the program
    who       name NOT NULL,
    host      text NOT NULL,
    place     text NOT NULL,    -- what the screen shows: "events"
    group_key bigint,           -- NULL: no single group
    seen_at   timestamptz NOT NULL
) WITH (fillfactor = 50);

---- functions

-- Sets a group's category; NULL: clears it. Returns the category that was set before, NULL: none.
CREATE OR REPLACE FUNCTION redrive.category_set(p_group bigint, p_category text, p_reason text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_before text;
BEGIN
    IF p_category NOT IN ('transient', 'data', 'system', 'permanent', 'unknown') THEN
        RAISE EXCEPTION 'there is no category %: transient, data, system, permanent or unknown', p_category USING ERRCODE = 'RD004';
    END IF;
    -- The row lock serialises decisions, so each audits what it replaced.
    INSERT INTO redrive.group_category AS g (group_key, category, who, at, reason, changed)
    VALUES (p_group, NULL, session_user, clock_timestamp(), NULL, 0) ON CONFLICT (group_key) DO NOTHING;
    SELECT category INTO v_before FROM redrive.group_category WHERE group_key = p_group FOR UPDATE;
    UPDATE redrive.group_category
       SET category = p_category, who = session_user, at = clock_timestamp(), reason = p_reason, changed = nextval('redrive.change')
     WHERE group_key = p_group;
    PERFORM redrive._audit('category', NULL, 0, p_reason, format('group %s: %s, before: %s', lpad(to_hex(p_group), 16, '0'),
                           coalesce(p_category, 'by the rules'), coalesce(v_before, 'by the rules')));
    RETURN v_before;
END $$;

CREATE OR REPLACE FUNCTION redrive._group_words(p_group bigint) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT format('group %s', lpad(to_hex(p_group), 16, '0'));
$$;

-- The row of a group, locked, so that each decision audits what it replaced.
CREATE OR REPLACE FUNCTION redrive._group_care(p_group bigint) RETURNS redrive.group_care
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.group_care;
BEGIN
    INSERT INTO redrive.group_care (group_key, changed) VALUES (p_group, nextval('redrive.change')) ON CONFLICT DO NOTHING;
    UPDATE redrive.group_care SET changed = nextval('redrive.change') WHERE group_key = p_group RETURNING * INTO v;
    RETURN v;
END $$;

CREATE OR REPLACE FUNCTION redrive._group_note_check(p_note text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF octet_length(p_note) > 1000 THEN
        RAISE EXCEPTION 'a note has at most 1000 bytes' USING ERRCODE = 'RD004';
    END IF;
    RETURN nullif(btrim(p_note), '');
END $$;

CREATE OR REPLACE FUNCTION redrive._group_length_check(p_length interval) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_length IS NULL OR p_length <= interval '0 s' OR p_length > interval '366 days' THEN
        RAISE EXCEPTION 'how long is more than nothing and at most a year' USING ERRCODE = 'RD004';
    END IF;
    RETURN clock_timestamp() + p_length;
END $$;

-- Who calls takes care of a group for so long. A note replaces the one that is there; NULL: that stays. Returns who had it, NULL: nobody.
CREATE OR REPLACE FUNCTION redrive.group_take(p_group bigint, p_length interval, p_note text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_until timestamptz := redrive._group_length_check(p_length);
    v_note text := redrive._group_note_check(p_note);
    v redrive.group_care := redrive._group_care(p_group);
    v_before name := CASE WHEN v.taken_until > clock_timestamp() THEN v.taken_by END;
BEGIN
    UPDATE redrive.group_care SET taken_by = session_user, taken_at = clock_timestamp(), taken_until = v_until WHERE group_key = p_group;
    IF v_note IS NOT NULL THEN
        UPDATE redrive.group_care SET note = v_note, noted_by = session_user, noted_at = clock_timestamp() WHERE group_key = p_group;
    END IF;
    PERFORM redrive._audit('take', NULL, 0, v_note, format('%s until %s, before: %s', redrive._group_words(p_group),
                           date_trunc('second', v_until), coalesce(v_before, 'nobody')));
    RETURN v_before;
END $$;

-- Nobody takes care of the group any more; its note stays. Returns who had it.
CREATE OR REPLACE FUNCTION redrive.group_release(p_group bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_before name;
BEGIN
    SELECT taken_by INTO v_before FROM redrive.group_care WHERE group_key = p_group FOR UPDATE;
    IF v_before IS NULL THEN
        RAISE EXCEPTION 'nobody has taken %', redrive._group_words(p_group) USING ERRCODE = 'RD002';
    END IF;
    UPDATE redrive.group_care SET taken_by = NULL, taken_at = NULL, taken_until = NULL, changed = nextval('redrive.change')
     WHERE group_key = p_group;
    PERFORM redrive._audit('release', NULL, 0, NULL, format('%s, before: %s', redrive._group_words(p_group), v_before));
    RETURN v_before;
END $$;

-- Replaces the note about a group; an empty one removes it.
CREATE OR REPLACE FUNCTION redrive.group_note(p_group bigint, p_note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_note text := redrive._group_note_check(p_note);
    v redrive.group_care := redrive._group_care(p_group);
BEGIN
    UPDATE redrive.group_care
       SET note = v_note, noted_by = CASE WHEN v_note IS NOT NULL THEN session_user END,
           noted_at = CASE WHEN v_note IS NOT NULL THEN clock_timestamp() END
     WHERE group_key = p_group;
    PERFORM redrive._audit('note', NULL, 0, v_note, format('%s, before: %s', redrive._group_words(p_group), coalesce(v.note, 'none')));
END $$;

-- The group may wait for so long, or until it has more than p_above pending events (NULL: however many). No length, or 0: it waits no longer.
CREATE OR REPLACE FUNCTION redrive.group_snooze(p_group bigint, p_length interval, p_above bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_until timestamptz := CASE WHEN p_length <> interval '0 s' THEN redrive._group_length_check(p_length) END;
    v redrive.group_care := redrive._group_care(p_group);
    v_who name := CASE WHEN v_until IS NOT NULL THEN session_user END;
BEGIN
    UPDATE redrive.group_care
       SET snoozed_by = v_who, snoozed_at = CASE WHEN v_who IS NOT NULL THEN clock_timestamp() END, snoozed_until = v_until,
           snoozed_above = CASE WHEN v_who IS NOT NULL THEN p_above END
     WHERE group_key = p_group;
    PERFORM redrive._audit('snooze', NULL, 0, NULL, format('%s until %s', redrive._group_words(p_group),
                           coalesce(date_trunc('second', v_until)::text || coalesce(format(' or above %s events', p_above), ''), 'now')));
END $$;

-- A screen of who calls is open. A row of somebody else is not touched; a login has a hundred rows at most, and rows of a minute ago go.
CREATE OR REPLACE FUNCTION redrive.presence_tell(p_screen uuid, p_host text, p_place text, p_group bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_screen IS NULL OR p_host IS NULL OR p_place IS NULL OR octet_length(p_host) > 255 OR octet_length(p_place) > 100 THEN
        RAISE EXCEPTION 'this is no screen' USING ERRCODE = 'RD004';
    END IF;
    DELETE FROM redrive.presence WHERE screen IN (SELECT p.screen FROM redrive.presence p WHERE p.seen_at < clock_timestamp() - interval '1 minute'
                                                  FOR UPDATE SKIP LOCKED);
    INSERT INTO redrive.presence AS had (screen, who, host, place, group_key, seen_at)
    SELECT p_screen, session_user, p_host, p_place, p_group, clock_timestamp()
     WHERE (SELECT count(*) FROM redrive.presence p WHERE p.who = session_user AND p.screen <> p_screen) < 100
    ON CONFLICT (screen) DO UPDATE
       SET host = excluded.host, place = excluded.place, group_key = excluded.group_key, seen_at = excluded.seen_at
     WHERE had.who = session_user;
END $$;
