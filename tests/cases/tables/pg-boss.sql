-- The table of pg-boss since version 10, in words of our own: one partition a queue, and a key of name and id. pg-boss.old.sql is that before.
CREATE SCHEMA pgboss;
CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
CREATE TABLE pgboss.job (
    id            uuid NOT NULL DEFAULT gen_random_uuid(),
    name          text NOT NULL,
    priority      integer NOT NULL DEFAULT 0,
    data          jsonb,
    state         pgboss.job_state NOT NULL DEFAULT 'created',
    retry_limit   integer NOT NULL DEFAULT 2,
    retry_count   integer NOT NULL DEFAULT 0,
    retry_delay   integer NOT NULL DEFAULT 0,
    retry_backoff boolean NOT NULL DEFAULT false,
    start_after   timestamptz NOT NULL DEFAULT now(),
    started_on    timestamptz,
    singleton_key text,
    singleton_on  timestamp,
    expire_in     interval NOT NULL DEFAULT '15 minutes',
    created_on    timestamptz NOT NULL DEFAULT now(),
    completed_on  timestamptz,
    keep_until    timestamptz NOT NULL DEFAULT now() + interval '14 days',
    output        jsonb,
    dead_letter   text,
    policy        text,
    PRIMARY KEY (name, id)
) PARTITION BY LIST (name);
CREATE TABLE pgboss.j_mail PARTITION OF pgboss.job FOR VALUES IN ('mail');
CREATE TABLE pgboss.j_bill PARTITION OF pgboss.job FOR VALUES IN ('bill');

INSERT INTO pgboss.job (id, name, data, state, retry_count, completed_on, output)
SELECT ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, CASE WHEN i % 2 = 0 THEN 'mail' ELSE 'bill' END, jsonb_build_object('to', i),
       'failed', 2, timestamptz '2026-11-20 10:00Z' + i * interval '1 s',
       jsonb_build_object('name', 'Error', 'message', CASE WHEN i % 2 = 0 THEN 'mailbox full' ELSE 'no such account' END,
                          'stack', 'Error: ' || CASE WHEN i % 2 = 0 THEN 'mailbox full' ELSE 'no such account' END || E'\n    at send (/app/send.js:' || i % 2 + 7 || ':3)')
  FROM generate_series(1, 20) i;
-- The same uuid in another queue is another job.
INSERT INTO pgboss.job (id, name, data, state, retry_count, completed_on, output)
VALUES ('00000000-0000-4000-8000-000000000002', 'bill', '{"to": "twin"}', 'failed', 2, '2026-11-20 11:00Z', '{"message": "no such account"}');
INSERT INTO pgboss.job (name, data, state) VALUES ('mail', '{}', 'created'), ('mail', '{}', 'active'), ('bill', '{}', 'completed'), ('bill', '{}', 'retry');
