-- The table of pg-boss before version 10, in words of our own.
CREATE SCHEMA pgboss;
CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'expired', 'cancelled', 'failed');
CREATE TABLE pgboss.job (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name        text NOT NULL,
    data        jsonb,
    state       pgboss.job_state NOT NULL DEFAULT 'created',
    retrylimit  integer NOT NULL DEFAULT 0,
    retrycount  integer NOT NULL DEFAULT 0,
    createdon   timestamptz NOT NULL DEFAULT now(),
    completedon timestamptz,
    output      jsonb
);
INSERT INTO pgboss.job (name, data, state, retrycount, completedon, output)
VALUES ('mail', '{"to": 1}', 'failed', 1, now(), '{"message": "mailbox full", "stack": "Error: mailbox full"}'), ('mail', '{}', 'expired', 1, now(), NULL);
