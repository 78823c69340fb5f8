-- Decisions of people about single groups.

-- The category that somebody set for a group; NULL: cleared, so the rules decide again. Earlier decisions are in the audit.
CREATE TABLE redrive.group_category (
    group_key bigint PRIMARY KEY, -- the fingerprint, its 64 bits
    category  text CHECK (category IN ('transient', 'data', 'system', 'permanent', 'unknown')),
    who       name NOT NULL,
    at        timestamptz NOT NULL,
    reason    text,
    changed   bigint NOT NULL -- of redrive.change: the sum over all rows differs after each decision, in whatever order they commit
);

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
