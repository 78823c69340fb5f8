-- The schema's version, and the row that identifies this install. guard.sql made the schema.
--
-- Three words are put in before a file runs: the contract table's quoted name, the same as plain text, and the time zone in which its
-- `timestamp` columns are written. The README says how a file is divided and what the schema's owner needs.

CREATE TABLE redrive.schema_version (
    version integer PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    who     name NOT NULL DEFAULT session_user
);

-- One row. Its id is part of every Kafka name and the server's system identifier tells a copy, so a restored copy cannot fence the original by
-- accident.
CREATE TABLE redrive.install (
    one               boolean PRIMARY KEY DEFAULT true CHECK (one),
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    system_identifier bigint, -- NULL: the server does not tell it to this owner
    source_table      text NOT NULL,
    zone              text NOT NULL CHECK ((timestamptz '2000-01-01 00:00:00Z' AT TIME ZONE zone) IS NOT NULL),
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Operations above so many events need a second person, whatever the asker's own settings say. The schema's owner sets it:
    --     UPDATE redrive.install SET approve_above = 1000;
    approve_above     bigint CHECK (approve_above >= 0)
);

---- functions

-- The server's own identifier; NULL where the owner may not read it.
CREATE OR REPLACE FUNCTION redrive._system_identifier() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_id bigint;
BEGIN
    EXECUTE 'SELECT system_identifier FROM pg_catalog.pg_control_system()' INTO v_id;
    RETURN v_id;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN NULL;
END $$;

-- Is this database a copy of the one the install was made in? A copy must not publish before it is adopted.
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
