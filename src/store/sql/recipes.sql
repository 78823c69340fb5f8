-- Recipes that people keep under a name, to be applied again. An operation has a copy of the text of its own, so a recipe that is changed or
-- forgotten changes no operation.

CREATE TABLE redrive.recipe (
    name   text PRIMARY KEY CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
    text   text NOT NULL CHECK (text <> ''),
    author name NOT NULL, -- who saved it last
    at     timestamptz NOT NULL,
    reason text
);

---- functions

-- Keeps a recipe under a name, in place of the one that had it.
CREATE OR REPLACE FUNCTION redrive.recipe_save(p_name text, p_text text, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_before text;
BEGIN
    IF coalesce(p_name, '') !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' THEN
        RAISE EXCEPTION 'a recipe''s name has 1 to 64 letters, digits, dots, - and _' USING ERRCODE = 'RD004';
    ELSIF coalesce(p_text, '') = '' OR octet_length(p_text) > 1048576 THEN
        RAISE EXCEPTION 'a recipe has some text, at most 1 MiB' USING ERRCODE = 'RD004';
    END IF;
    SELECT r.text INTO v_before FROM redrive.recipe r WHERE r.name = p_name FOR UPDATE;
    INSERT INTO redrive.recipe AS r (name, text, author, at, reason) VALUES (p_name, p_text, session_user, clock_timestamp(), p_reason)
        ON CONFLICT (name) DO UPDATE SET text = excluded.text, author = excluded.author, at = excluded.at, reason = excluded.reason;
    PERFORM redrive._audit('recipe', NULL, 0, p_reason, format('saved %s: %s%s', p_name, p_text, E'\nbefore: ' || v_before));
END $$;

-- Forgets a recipe. Its text stays in the audit.
CREATE OR REPLACE FUNCTION redrive.recipe_forget(p_name text, p_reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_before text;
BEGIN
    DELETE FROM redrive.recipe WHERE name = p_name RETURNING recipe.text INTO v_before;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no recipe %', p_name USING ERRCODE = 'RD002';
    END IF;
    PERFORM redrive._audit('recipe', NULL, 0, p_reason, format('forgot %s: %s', p_name, v_before));
END $$;
