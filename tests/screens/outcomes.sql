-- Five ends of a reprocess, of events of one table: failed whole, half returned (three groups), cancelled, all well, nothing sent. After
-- operations.sql.

\set ON_ERROR_STOP on
SET timezone = 'UTC';

UPDATE redrive.operation SET state = 'done', queued = 0, claimed = 0, done = 1997, worker = NULL, finished_at = '2026-11-20 14:02:00Z' WHERE no = 41;
INSERT INTO redrive.operation (no, key, action, state, requested_by, host, scope, reason, total, done, refused, cancelled, returned, halt_above,
                               created_at, started_at, finished_at)
OVERRIDING SYSTEM VALUE
SELECT no, ('00000000-0000-4000-8000-0000000000' || no)::uuid, 'reprocess', state, 'ana', '10.0.0.7', scope, reason, total, done, refused, cancelled,
       returned, 20, '2026-11-20 13:50:00Z', '2026-11-20 13:50:03Z', '2026-11-20 13:51:00Z'
  FROM (VALUES (42, 'done', '2,011 events of InvalidFormatException', 'reader is out', 2011, 2011, 0, 0, 2011),
               (43, 'done', '1,500 events that match /gateway', 'gateway fixed', 1500, 1500, 0, 0, 750),
               (44, 'cancelled', '2,000 events of SocketTimeoutException', NULL, 2000, 310, 0, 1690, 0),
               (45, 'done', '12 events of context deadline exceeded', 'network is back', 12, 12, 0, 0, 0),
               (46, 'done', '5 events of RecordTooLarge', NULL, 5, 0, 5, 0, 0))
       AS v (no, state, scope, reason, total, done, refused, cancelled, returned);
SELECT setval(pg_get_serial_sequence('redrive.operation', 'no'), 46);

-- More than any page shows, so a count that is the length of a page is seen.
INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, event_id, detail)
SELECT n, v.no, timestamptz '2026-11-20 13:50:30Z',
       CASE WHEN v.no = 46 THEN 'refused' WHEN v.no = 44 AND n > 310 THEN 'cancelled' ELSE 'done' END, 'sent-' || v.no || '-' || n,
       CASE WHEN v.no = 46 AND n > 3 THEN 'message of 2,310,448 bytes, topic payments.events allows 1,048,588'
            WHEN v.no = 46 THEN 'the topic nosuch.topic does not exist; create it, or give another "to", or --to' END
  FROM (VALUES (42, 2011), (43, 1500), (44, 2000), (45, 12), (46, 5)) AS v (no, total) CROSS JOIN LATERAL generate_series(1, v.total) AS n;

INSERT INTO redrive.returned (dlq_id, operation_no, at, sent_id, sent_at, group_key, sent_group)
SELECT e.id, 43, '2026-11-20 13:50:40Z', e.n, '2026-11-20 13:50:30Z', s.group_key,
       CASE WHEN e.n <= 450 THEN s.group_key ELSE 1 END
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM public.dlq_events WHERE status = 'PENDING') e
  JOIN (SELECT group_key, row_number() OVER (ORDER BY group_key) AS n FROM (VALUES (11::bigint), (12), (13)) AS g (group_key)) s
    ON s.n = CASE WHEN e.n <= 450 THEN 1 WHEN e.n <= 650 THEN 2 ELSE 3 END
 WHERE e.n <= 750;
INSERT INTO redrive.returned (dlq_id, operation_no, at, sent_id, sent_at, group_key, sent_group)
SELECT e.id, 42, '2026-11-20 13:50:40Z', e.n - 750, '2026-11-20 13:50:30Z', 14, 14
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM public.dlq_events WHERE status = 'PENDING') e WHERE e.n BETWEEN 751 AND 2761;
