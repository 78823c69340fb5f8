-- Events to correct: one with a kept record, as it was sent, over several lines; one that the jsonb alone tells; one that is no JSON object; one
-- somebody corrected before.
INSERT INTO public.dlq_events (id, event_id, event_type, source_id, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at)
VALUES (95001, 'edit-1', 'order.edited', 'c-1', '{"order_id": "A-1"}', 'Cannot deserialize: amount of line 2', 'orders.events', 2, 77, '2026-11-20 13:00'),
       (95002, 'edit-2', 'order.edited', 'c-2', '{"amount": 1}', 'ReadError: jsonb alone', 'orders.events', NULL, NULL, '2026-11-20 13:00'),
       (95003, 'edit-3', 'order.edited', 'c-3', '{"amount": 2}', 'ReadError: corrected', 'orders.events', 2, 79, '2026-11-20 13:00');
UPDATE public.dlq_events SET event_payload = E'{"order_id": "A-1", "customer": {"name": "J\u00fcrgen \\t <b>", "vip": true}, "lines": [{"sku": "A1", "amount": 10.00}, {"sku": "B7", "amount": "10,00"}], "total": 12345678901234567890}' WHERE id = 95001;
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value, header_names, header_values)
VALUES (95001, 'orders.events', 2, 77, 'c-1', convert_to(E'{\n  "order_id": "A-1",\n  "customer": {\n    "name": "J\u00fcrgen \\t <b>",\n    "vip": true\n  },\n  "lines": [\n    {"sku": "A1", "amount": 10.00},\n    {"sku": "B7", "amount": "10,00"}\n  ],\n  "total": 12345678901234567890\n}\n', 'UTF8'),
        '{trace,bin,nothing}', ARRAY['t-1'::bytea, '\x00ff', NULL]);
INSERT INTO redrive.revision (dlq_id, no, parent, payload, author, at, reason)
VALUES (95003, 1, 0, '{"amount": 2.0}', 'ana', '2026-11-20 13:40Z', 'amount was text');

INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at, status, resolved_at, resolved_by)
VALUES (95004, 'edit-4', 'note', '"x"', 'ReadError: text', 'notes', 0, 4, '2026-11-20 13:00', 'PENDING', NULL, NULL),
       (95005, 'edit-5', 'note', '"x"', 'ReadError: bytes', 'notes', 0, 5, '2026-11-20 13:00', 'PENDING', NULL, NULL),
       (95006, 'edit-6', 'note', '{"a": 1}', 'ReadError: closed', 'notes', 0, 6, '2026-11-20 13:00', 'RESOLVED', '2026-11-20 13:30', 'api');
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value)
VALUES (95004, 'notes', 0, 4, NULL, convert_to(E'Dear Ana,\n\n  {"this": is no JSON}\r\n', 'UTF8')),
       (95005, 'notes', 0, 5, '\x00ff', '\x00ff41c3280a42');
