-- A recipe that was applied: one of each outcome of its events.
INSERT INTO redrive.operation (no, key, action, state, requested_by, host, scope, reason, recipe, rate, total, done, refused, skipped, unchanged,
                               not_applicable, refused_by_check, failed, created_at, started_at, finished_at)
OVERRIDING SYSTEM VALUE VALUES
(42, '00000000-0000-4000-8000-000000000042', 'correct', 'done', 'ana', '10.0.0.7', '12 events of JsonMappingException', 'amounts, INC-4412',
 'to-number $.amount', -1, 12, 9, 2, 1, 2, 3, 1, 1, '2026-11-20 13:50:07Z', '2026-11-20 13:50:07Z', '2026-11-20 13:50:08Z');
INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, detail)
SELECT id, 42, '2026-11-20 13:50:08Z',
       CASE WHEN n <= 9 THEN 'done' WHEN n <= 11 THEN 'refused' ELSE 'skipped' END,
       CASE WHEN n <= 4 THEN NULL WHEN n <= 6 THEN 'unchanged' WHEN n <= 9 THEN 'line 1: $.amount does not exist'
            WHEN n = 10 THEN 'amount is above the limit' WHEN n = 11 THEN 'line 1: no memory is left for jq' ELSE 'corrected meanwhile' END
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM public.dlq_events WHERE event_id IN (SELECT 'evt-' || g FROM generate_series(3100, 3111) g)) e;
INSERT INTO redrive.revision (dlq_id, no, payload, author, at, reason, operation_no)
SELECT i.dlq_id, 1, '{"amount": 1}', 'ana', '2026-11-20 13:50:08Z', 'amounts, INC-4412', 42
  FROM redrive.operation_item i WHERE i.operation_no = 42 AND i.state = 'done' AND i.detail IS NULL;

-- One that halted after its first step.
INSERT INTO redrive.operation (no, key, action, state, requested_by, host, scope, reason, recipe, is_forced, rate, total, queued, done, forced, steps,
                               observe_until, state_note, created_at, started_at)
OVERRIDING SYSTEM VALUE VALUES
(43, '00000000-0000-4000-8000-000000000043', 'correct', 'halted', 'ana', '10.0.0.7', '3 events of JsonMappingException', 'forced: the check is wrong',
 'to-number $.amount', true, -1, 3, 2, 1, 1, '{1}', '2026-11-20 13:50:08Z', 'step 1 of 2 ended: 1 done, 0 refused; look at them, then resume',
 '2026-11-20 13:50:07Z', '2026-11-20 13:50:07Z');
INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, detail)
SELECT id, 43, '2026-11-20 13:50:08Z', CASE WHEN n = 1 THEN 'done' ELSE 'queued' END, CASE WHEN n = 1 THEN 'forced: this order is closed' END
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM public.dlq_events WHERE event_id IN ('evt-3112', 'evt-3113', 'evt-3114')) e;
