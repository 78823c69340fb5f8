-- A recipe that was applied: one of each outcome of its events.
INSERT INTO redrive.operation (no, key, action, state, requested_by, host, scope, reason, recipe, rate, total, done, refused, skipped, unchanged,
                               not_applicable, refused_by_check, created_at, started_at, finished_at)
OVERRIDING SYSTEM VALUE VALUES
(42, '00000000-0000-4000-8000-000000000042', 'correct', 'done', 'ana', '10.0.0.7', '12 events of JsonMappingException', 'amounts, INC-4412',
 'to-number $.amount', -1, 12, 9, 2, 1, 2, 3, 1, '2026-11-20 13:50:07Z', '2026-11-20 13:50:07Z', '2026-11-20 13:50:08Z');
INSERT INTO redrive.operation_item (dlq_id, operation_no, at, state, detail)
SELECT id, 42, '2026-11-20 13:50:08Z',
       CASE WHEN n <= 9 THEN 'done' WHEN n <= 11 THEN 'refused' ELSE 'skipped' END,
       CASE WHEN n <= 4 THEN NULL WHEN n <= 6 THEN 'unchanged' WHEN n <= 9 THEN 'line 1: $.amount does not exist'
            WHEN n = 10 THEN 'amount is above the limit' WHEN n = 11 THEN 'line 1: no memory is left for jq' ELSE 'corrected meanwhile' END
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM public.dlq_events WHERE event_id IN (SELECT 'evt-' || g FROM generate_series(3100, 3111) g)) e;
