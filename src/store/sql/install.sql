-- The schema's version, and the row that identifies this install. guard.sql made the schema.
--
-- Three words are put in before a file runs: the contract table's quoted name, the same as plain text, and the time zone in which its
-- `timestamp` columns are written. The README says how a file is divided and what the schema's owner needs.

CREATE TABLE redrive.schema_version (
    version integer PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    who     name NOT NULL DEFAULT session_user
);

-- One row. Its id is part of every Kafka name. The server's system identifier and the database's oid tell most copies before they ask Kafka; turns
-- (turns.sql) tell the others.
CREATE TABLE redrive.install (
    one               boolean PRIMARY KEY DEFAULT true CHECK (one),
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    system_identifier bigint, -- NULL: the server does not tell it to this owner
    database_oid      oid NOT NULL,
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

CREATE OR REPLACE FUNCTION redrive._database_oid() RETURNS oid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT oid FROM pg_database WHERE datname = current_database();
$$;

-- Is this database another than the one the install was made in? Then nothing is published from it before a person has decided.
CREATE OR REPLACE FUNCTION redrive.is_copy() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(system_identifier <> redrive._system_identifier(), false) OR database_oid <> redrive._database_oid() FROM redrive.install;
$$;

-- The same in words.
CREATE OR REPLACE FUNCTION redrive._copy_words() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN system_identifier <> redrive._system_identifier() THEN 'it is on another server than the one that redrive was installed on'
                ELSE 'it is another database of this server than the one that redrive was installed in' END
           || ', so it is a copy or it was restored from one' FROM redrive.install;
$$;

-- Is the session of a holder known, and gone? A pid of NULL is not known.
CREATE OR REPLACE FUNCTION redrive._session_is_gone(p_pid integer, p_since timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_pid IS NOT NULL
           AND NOT EXISTS (SELECT FROM pg_stat_activity a
                            WHERE a.pid = p_pid AND coalesce(a.backend_start = p_since, true)); -- invisible to us: take it for alive
$$;

-- An instant as the contract table writes it.
CREATE OR REPLACE FUNCTION redrive._wall(p_at timestamptz) RETURNS timestamp
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT p_at AT TIME ZONE zone FROM redrive.install;
$$;

INSERT INTO redrive.install (system_identifier, database_oid, source_table, zone)
    SELECT redrive._system_identifier(), redrive._database_oid(), :'events', :'zone'
    ON CONFLICT DO NOTHING;
