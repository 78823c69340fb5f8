-- The audit: one row for each decision and each change, written in the transaction that makes it, and never changed.

CREATE TABLE redrive.audit (
    no           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    who          name NOT NULL DEFAULT session_user,
    host         text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    program      text DEFAULT current_setting('application_name', true),
    pid          integer NOT NULL DEFAULT pg_backend_pid(),
    action       text NOT NULL,
    operation_no bigint,
    events       bigint NOT NULL DEFAULT 0,
    reason       text,
    detail       text
);
CREATE INDEX audit_operation ON redrive.audit (operation_no, no) WHERE operation_no IS NOT NULL;

-- Beside the table, because the trigger needs it there.
CREATE OR REPLACE FUNCTION redrive._audit_is_final() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the audit is written once: % is refused', TG_OP USING ERRCODE = 'RD003';
END $$;
CREATE TRIGGER audit_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON redrive.audit
    FOR EACH STATEMENT EXECUTE FUNCTION redrive._audit_is_final();
ALTER TABLE redrive.audit ENABLE ALWAYS TRIGGER audit_is_final;

---- functions

CREATE OR REPLACE FUNCTION redrive._audit(p_action text, p_operation bigint, p_events bigint, p_reason text, p_detail text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    INSERT INTO redrive.audit (action, operation_no, events, reason, detail) VALUES (p_action, p_operation, p_events, p_reason, p_detail);
END $$;
