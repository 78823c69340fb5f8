-- Marks: what somebody wants to see on the time axis of every chart, such as a deployment.

CREATE TABLE redrive.mark (
    no   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    who  name NOT NULL DEFAULT session_user,
    text text NOT NULL CHECK (text <> '')
);
CREATE INDEX mark_at ON redrive.mark (at);

---- functions

-- Sets a mark now. Returns its time.
CREATE OR REPLACE FUNCTION redrive.mark_set(p_text text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_at timestamptz;
BEGIN
    IF coalesce(btrim(p_text), '') = '' OR octet_length(p_text) > 200 THEN
        RAISE EXCEPTION 'a mark has some text, at most 200 bytes' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.mark (text) VALUES (btrim(p_text)) RETURNING at INTO v_at;
    PERFORM redrive._audit('mark', NULL, 0, NULL, btrim(p_text));
    RETURN v_at;
END $$;
