-- The table of Oban, in words of our own: times without a zone, which are UTC.
CREATE TYPE oban_job_state AS ENUM ('available', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled');
CREATE TABLE oban_jobs (
    id           bigserial PRIMARY KEY,
    state        oban_job_state NOT NULL DEFAULT 'available',
    queue        text NOT NULL DEFAULT 'default',
    worker       text NOT NULL,
    args         jsonb NOT NULL DEFAULT '{}',
    errors       jsonb[] NOT NULL DEFAULT '{}',
    attempt      integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL DEFAULT 20,
    inserted_at  timestamp NOT NULL DEFAULT timezone('UTC', now()),
    scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
    attempted_at timestamp,
    completed_at timestamp,
    discarded_at timestamp,
    cancelled_at timestamp,
    attempted_by text[],
    meta         jsonb DEFAULT '{}',
    tags         text[] DEFAULT '{}',
    priority     integer NOT NULL DEFAULT 0
);
CREATE INDEX oban_jobs_state_queue_priority_scheduled_at_id_index ON oban_jobs (state, queue, priority, scheduled_at, id);

INSERT INTO oban_jobs (id, state, queue, worker, args, errors, attempt, discarded_at)
SELECT i, 'discarded', 'events', CASE WHEN i % 4 = 0 THEN 'App.Mailer' ELSE 'App.Importer' END, jsonb_build_object('id', i),
       ARRAY[jsonb_build_object('at', '2026-11-20T10:00:00Z', 'attempt', 20, 'error',
             CASE WHEN i % 4 = 0 THEN '** (RuntimeError) mailbox full' ELSE '** (KeyError) key :total not found' END
             || E'\n    (app 0.1.0) lib/app/worker.ex:' || i % 4 || E': App.Worker.perform/1\n')], 20, timestamp '2026-11-20 10:00' + i * interval '1 s'
  FROM generate_series(1, 12) i;
SELECT setval('oban_jobs_id_seq', 1000);
INSERT INTO oban_jobs (state, worker) VALUES ('available', 'App.Mailer'), ('executing', 'App.Mailer'), ('retryable', 'App.Mailer');
