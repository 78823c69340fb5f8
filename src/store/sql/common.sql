-- Functions that the others rest on, and the row that says who this install is.
--
-- The files of functions are run whole after the numbered ones, at every migration, so each function stands in one place. A function
-- whose arguments or result change, or that goes, is dropped by the numbered file of that version (DROP FUNCTION IF EXISTS).

CREATE OR REPLACE FUNCTION redrive._audit(p_action text, p_operation bigint, p_events bigint, p_reason text, p_detail text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    INSERT INTO redrive.audit (action, operation_no, events, reason, detail) VALUES (p_action, p_operation, p_events, p_reason, p_detail);
$$;

-- The server's own identifier, or NULL where the owner may not read it.
CREATE OR REPLACE FUNCTION redrive._system_identifier() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_id bigint;
BEGIN
    EXECUTE 'SELECT system_identifier FROM pg_catalog.pg_control_system()' INTO v_id;
    RETURN v_id;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN NULL;
END $$;

-- Is this database a copy of the one the install was made in? Then it must not publish before it is adopted.
CREATE OR REPLACE FUNCTION redrive.is_copy() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(system_identifier <> redrive._system_identifier(), false) FROM redrive.install;
$$;

-- An instant as the contract table writes it.
CREATE OR REPLACE FUNCTION redrive._wall(p_at timestamptz) RETURNS timestamp
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_at AT TIME ZONE zone FROM redrive.install;
$$;

INSERT INTO redrive.install (system_identifier, source_table, zone)
    SELECT redrive._system_identifier(), :'events', :'zone'
    ON CONFLICT DO NOTHING;
