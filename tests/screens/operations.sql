-- What was decided before, by whom, and what came of it: as redrive's own functions would have left it, at fixed times.
-- After backlog.sql, with the schema. validation: key of the group that operation 37 emptied, and that came back.

\set ON_ERROR_STOP on
SET timezone = 'UTC';

INSERT INTO redrive.operation (no, key, action, state, requested_by, host, scope, filter_text, group_key, reason, rate, total, queued, claimed,
                               in_doubt, done, refused, skipped, cancelled, returned, worker, state_note, created_at, started_at, finished_at)
OVERRIDING SYSTEM VALUE VALUES
(37, '00000000-0000-4000-8000-000000000037', 'resolve', 'done', 'ana', '10.0.0.7', '20 events of ValidationError: amount must be positive', NULL,
 :'validation', 'fixed by hand in the shop', -1, 20, 0, 0, 0, 20, 0, 0, 0, 0, NULL, NULL, '2026-11-20 12:35:31Z', '2026-11-20 12:35:31Z', '2026-11-20 12:35:32Z'),
(38, '00000000-0000-4000-8000-000000000038', 'reprocess', 'awaiting approval', 'rui', '10.0.0.9',
 '31,204 events of everything that matches', 'timeout topic:orders', NULL, 'gateway is back, INC-4411', 500, 31204, 31204, 0, 0, 0, 0, 0, 0, 0,
 NULL, 'needs approval by somebody else', '2026-11-20 13:10:02Z', NULL, NULL),
(39, '00000000-0000-4000-8000-000000000039', 'reprocess', 'halted', 'rui', '10.0.0.9', '1,200 events of SocketTimeoutException', NULL, NULL,
 'a first try', -1, 1200, 190, 0, 0, 1010, 0, 0, 0, 96, NULL, '9.5% returned, more than 5%', '2026-11-20 13:12:44Z', '2026-11-20 13:12:44Z', NULL),
(40, '00000000-0000-4000-8000-000000000040', 'discard', 'done', 'ana', '10.0.0.7', '84 events of ValidationError: amount must be positive', NULL,
 NULL, 'test orders of the load run', -1, 84, 0, 0, 0, 84, 0, 0, 0, 0, NULL, NULL, '2026-11-20 13:40:07Z', '2026-11-20 13:40:07Z', '2026-11-20 13:40:08Z'),
(41, '00000000-0000-4000-8000-000000000041', 'reprocess', 'running', 'ana', '10.0.0.7', '2,000 events of SocketTimeoutException', NULL, NULL,
 'gateway fixed, INC-4411', 100, 2000, 570, 7, 0, 1420, 2, 1, 0, 0, 'db1-a/4711/1', NULL, '2026-11-20 14:01:52Z', '2026-11-20 14:01:53Z', NULL);
SELECT setval(pg_get_serial_sequence('redrive.operation', 'no'), 41);

INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, detail)
SELECT id, 40, timestamptz '2026-11-20 13:40:08Z', 'done', NULL FROM public.dlq_events WHERE status = 'DISCARDED'
UNION ALL
SELECT id, 37, timestamptz '2026-11-20 12:35:32Z', 'done', NULL FROM public.dlq_events WHERE status = 'RESOLVED';

INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, detail)
SELECT n, 41, timestamptz '2026-11-20 14:02:10Z',
       CASE WHEN n <= 2 THEN 'refused' WHEN n = 3 THEN 'skipped' WHEN n <= 1423 THEN 'done' WHEN n <= 1430 THEN 'claimed' ELSE 'queued' END,
       CASE WHEN n <= 2 THEN 'MSG_SIZE_TOO_LARGE: message of 2,310,448 bytes, topic allows 1,048,588'
            WHEN n = 3 THEN 'resolved by api-gateway at 2026-11-20 14:02' END
  FROM generate_series(1, 2000) AS n;

INSERT INTO redrive.revision (dlq_id, no, payload, author, at, reason)
VALUES (2113, 1, '{"order_id": "A-82113", "amount": 12.5}', 'ana', '2026-11-20 13:59:00Z', 'comma in the amount');

-- A worker that never ages, and what the probe found.
INSERT INTO redrive.worker (name, publishes, note, rate, who, host, started_at, seen_at)
VALUES ('db1-a/4711/1', true, 'operation 41, slot 2', 95, 'ana', '10.0.0.7', '2026-11-20 14:01:52Z', 'infinity');
INSERT INTO redrive.cluster (name, promise, words, evidence, checked_at)
VALUES ('acme', 'exactly once', 'exactly once', 'probe of a fixture', '2026-11-20 14:00:00Z');

-- What `redrive migrate` wrote has the server's time: the record is final for everybody but a test.
ALTER TABLE redrive.audit DISABLE TRIGGER ALL;
UPDATE redrive.audit SET at = '2026-11-18 07:00:00Z';
ALTER TABLE redrive.audit ENABLE ALWAYS TRIGGER audit_is_final;

INSERT INTO redrive.audit (at, who, host, action, operation_no, events, reason, detail)
SELECT timestamptz '2026-11-18 08:00:00Z' + n * interval '10 minutes', CASE WHEN n % 3 = 0 THEN 'rui' ELSE 'ana' END, '10.0.0.' || 7 + n % 3,
       CASE WHEN n % 2 = 0 THEN 'discard' ELSE 'resolve' END, NULL, 10 + n, 'spring cleaning ' || n, NULL
  FROM generate_series(1, 250) AS n;
INSERT INTO redrive.audit (at, who, host, action, operation_no, events, reason, detail) VALUES
('2026-11-20 12:35:31Z', 'ana', '10.0.0.7', 'resolve', 37, 20, 'fixed by hand in the shop', 'selected 20, skipped 0'),
('2026-11-20 12:35:32Z', 'ana', '10.0.0.7', 'done', 37, 20, NULL, '20 done'),
('2026-11-20 13:10:02Z', 'rui', '10.0.0.9', 'reprocess', 38, 31204, 'gateway is back, INC-4411', 'selected 31204, skipped 0'),
('2026-11-20 13:12:44Z', 'rui', '10.0.0.9', 'reprocess', 39, 1200, 'a first try', 'selected 1200, skipped 0'),
('2026-11-20 13:14:51Z', 'rui', '10.0.0.9', 'halted', 39, 190, NULL, '96 of 1010 returned'),
('2026-11-20 13:40:07Z', 'ana', '10.0.0.7', 'discard', 40, 84, 'test orders of the load run', 'selected 84, skipped 0'),
('2026-11-20 13:40:08Z', 'ana', '10.0.0.7', 'done', 40, 84, NULL, '84 done'),
('2026-11-20 14:01:52Z', 'ana', '10.0.0.7', 'reprocess', 41, 2000, 'gateway fixed, INC-4411', 'selected 2000, skipped 0'),
('2026-11-20 14:01:53Z', 'ana', '10.0.0.7', 'finish', 41, 10, NULL, 'chunk 1 committed'),
('2026-11-20 14:02:10Z', 'ana', '10.0.0.7', 'finish', 41, 1410, NULL, 'chunk 2 committed');
