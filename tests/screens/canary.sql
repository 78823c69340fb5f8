-- Operations that are sent in steps, as redrive's own functions would have left them at 14:02:11: 42 waits after its canary, 43 halted by itself,
-- 44 can still be called back. After operations.sql.

\set ON_ERROR_STOP on
SET timezone = 'UTC';

INSERT INTO redrive.operation (no, key, action, state, requested_by, host, scope, reason, total, queued, done, refused, returned, steps, step,
                               settle_for, observe_until, send_after, halt_above, state_note, worker, created_at, started_at)
OVERRIDING SYSTEM VALUE VALUES
(42, '00000000-0000-4000-8000-000000000042', 'reprocess', 'waiting', 'ana', '10.0.0.7', '291 events of PSQLException', 'constraint dropped, INC-4412',
 291, 281, 10, 0, 1, '{10,100}', 1, '60 s', '2026-11-20 14:02:54Z', NULL, 20, NULL, 'db1-a/4711/1', '2026-11-20 14:01:50Z', '2026-11-20 14:01:53Z'),
(43, '00000000-0000-4000-8000-000000000043', 'reprocess', 'halted', 'ana', '10.0.0.7', '880 events of JsonMappingException', 'new reader is out',
 880, 870, 9, 1, 4, '{10,100}', 1, '60 s', '2026-11-20 14:02:54Z', NULL, 20, '5 of 10 failed, more than 20%', NULL,
 '2026-11-20 14:01:51Z', '2026-11-20 14:01:53Z'),
(44, '00000000-0000-4000-8000-000000000044', 'reprocess', 'frozen', 'ana', '10.0.0.7', '12 events of context deadline exceeded', NULL,
 12, 12, 0, 0, 0, '{}', 1, '60 s', NULL, '2026-11-20 14:02:14Z', NULL, NULL, NULL, '2026-11-20 14:02:11Z', NULL);
SELECT setval(pg_get_serial_sequence('redrive.operation', 'no'), 44);

INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, event_id, detail)
SELECT id, CASE WHEN event_id LIKE 'evt-3%' THEN 43 ELSE 42 END, timestamptz '2026-11-20 14:01:53Z',
       CASE WHEN event_id = 'evt-3010' THEN 'refused' WHEN right(event_id, 3)::int <= 10 THEN 'done' ELSE 'queued' END, event_id,
       CASE WHEN event_id = 'evt-3010' THEN 'partition 10 of orders.events no longer exists, the topic has 6; let the key choose with partition = key' END
  FROM public.dlq_events WHERE event_id ~ '^evt-[34]\d\d\d$' AND event_id <= 'evt-4291';
INSERT INTO redrive.operation_item (dlq_id, operation_no, at, event_id)
SELECT id, 44, timestamptz '2026-11-20 14:02:11Z', event_id FROM public.dlq_events WHERE event_id LIKE 'evt-7200-%';
UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = '2026-11-20 14:01:54', resolved_by = 'ana', retry_count = retry_count + 1
 WHERE id IN (SELECT dlq_id FROM redrive.operation_item WHERE operation_no IN (42, 43) AND state = 'done');

-- What was sent a moment ago is not quiet yet: for ever, here.
INSERT INTO redrive.slot (cluster, no, txn_id, finished_id) SELECT 'acme', n, 'redrive.test.' || n, gen_random_uuid() FROM generate_series(0, 1) AS n;
INSERT INTO redrive.chunk (id, cluster, slot, seq, fence, operation_no, state, events, dlq_ids, sources, created_at, decided_at)
SELECT gen_random_uuid(), 'acme', no - 42, 1, 1, no, 'committed', done, '{}', '{}', started_at, 'infinity'
  FROM redrive.operation WHERE no IN (42, 43);

-- One of 42 came back with another error, four of 43 with the same, one of them for the third time. A newer event of the key of evt-3811 is resolved.
INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count, created_at,
                               kafka_topic, kafka_partition, kafka_offset)
SELECT e.event_id, e.event_type, e.source_table, e.source_id, e.event_payload,
       CASE WHEN e.event_id = 'evt-4004' THEN 'ERROR: null value in column "booked_at" violates not-null constraint' ELSE e.error_message END,
       CASE WHEN e.event_id = 'evt-4004' THEN E'org.postgresql.util.PSQLException: ERROR: null value in column "booked_at" violates not-null constraint\n'
                                               '\tat com.acme.pay.Ledger.stamp(Ledger.java:140)' ELSE e.stack_trace END,
       e.retry_count, timestamp '2026-11-20 14:02:10', e.kafka_topic, e.kafka_partition, e.kafka_offset + 10000
  FROM public.dlq_events e WHERE e.event_id IN ('evt-4004', 'evt-3001', 'evt-3002', 'evt-3003', 'evt-3004') ORDER BY e.id;
INSERT INTO redrive.returned (dlq_id, operation_no, at, sent_id, sent_at, times)
SELECT n.id, i.operation_no, '2026-11-20 14:02:10Z', i.dlq_id, 'infinity', CASE WHEN n.event_id = 'evt-3001' THEN 3 ELSE 1 END
  FROM public.dlq_events n JOIN redrive.operation_item i ON i.event_id = n.event_id AND i.operation_no IN (42, 43) AND i.dlq_id < n.id;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, created_at, status, resolved_at, resolved_by,
                               kafka_topic)
SELECT 'evt-9011', event_type, source_table, source_id, '{}', 'ValidationError: amount must be positive', timestamp '2026-11-20 14:02:10', 'RESOLVED',
       '2026-11-20 14:02:10', 'rest-api', kafka_topic FROM public.dlq_events WHERE event_id = 'evt-3811';

INSERT INTO redrive.audit (at, who, host, action, operation_no, events, reason, detail) VALUES
('2026-11-20 14:01:50Z', 'ana', '10.0.0.7', 'reprocess', 42, 291, 'constraint dropped, INC-4412', 'selected 291, skipped 0'),
('2026-11-20 14:01:54Z', 'ana', '10.0.0.7', 'step', 42, 10, NULL, 'step 1 of 3 ended: 10 sent, 0 refused, 0 returned so far'),
('2026-11-20 14:01:51Z', 'ana', '10.0.0.7', 'reprocess', 43, 880, 'new reader is out', 'selected 880, skipped 0'),
('2026-11-20 14:01:54Z', 'ana', '10.0.0.7', 'step', 43, 10, NULL, 'step 1 of 3 ended: 9 sent, 1 refused, 0 returned so far'),
('2026-11-20 14:02:10Z', 'ana', '10.0.0.7', 'halt', 43, 870, NULL, '5 of 10 failed, more than 20%');
