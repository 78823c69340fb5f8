-- The table of River as its sixth migration leaves it, in words of our own, with jobs in every state.
CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');
CREATE TABLE river_job (
    id           bigserial PRIMARY KEY,
    state        river_job_state NOT NULL DEFAULT 'available',
    attempt      smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL,
    attempted_at timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    finalized_at timestamptz,
    scheduled_at timestamptz NOT NULL DEFAULT now(),
    priority     smallint NOT NULL DEFAULT 1,
    args         jsonb NOT NULL,
    attempted_by text[],
    errors       jsonb[],
    kind         text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 127),
    metadata     jsonb NOT NULL DEFAULT '{}',
    queue        text NOT NULL DEFAULT 'default' CHECK (char_length(queue) BETWEEN 1 AND 127),
    tags         varchar(255)[] NOT NULL DEFAULT '{}',
    CHECK ((finalized_at IS NULL) = (state NOT IN ('cancelled', 'completed', 'discarded')))
);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);

INSERT INTO river_job (id, state, attempt, max_attempts, finalized_at, args, errors, kind, queue)
SELECT i, 'discarded', 3, 3, timestamptz '2026-11-20 10:00Z' + i * interval '1 s', jsonb_build_object('order', i, 'note', 'it''s "quoted"; DROP TABLE x'),
       ARRAY[jsonb_build_object('attempt', 1, 'error', 'warming up', 'trace', ''),
             jsonb_build_object('attempt', 3, 'error', CASE WHEN i % 3 = 0 THEN 'connection refused' ELSE 'card ' || i || ' declined' END,
                                'trace', E'goroutine 1 [running]:\nmain.Work(...)\n\t/app/work.go:' || 10 + i % 3)],
       CASE WHEN i % 3 = 0 THEN 'sync' ELSE 'charge' END, CASE WHEN i % 2 = 0 THEN 'default' ELSE 'slow' END
  FROM generate_series(1, 30) i;
INSERT INTO river_job (id, state, attempt, max_attempts, finalized_at, args, errors, kind)
VALUES (101, 'available', 0, 3, NULL, '{"secret": 1}', NULL, 'charge'), (102, 'running', 1, 3, NULL, '{}', NULL, 'charge'),
       (103, 'retryable', 1, 3, NULL, '{}', '{"{\"error\": \"once\"}"}', 'charge'), (104, 'completed', 1, 3, now(), '{}', NULL, 'charge'),
       (105, 'cancelled', 1, 3, now(), '{}', NULL, 'charge'), (106, 'scheduled', 0, 3, NULL, '{}', NULL, 'charge'),
       (107, 'pending', 0, 3, NULL, '{}', NULL, 'charge');
SELECT setval('river_job_id_seq', 1000);
