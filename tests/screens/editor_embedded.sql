-- A wrapper whose message is JSON in a text, which has JSON in a text itself; a payload of bytes; and 30 events of one type, of which one has
-- an amount that departs from the others'.
INSERT INTO public.dlq_events (id, event_id, event_type, source_id, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at)
VALUES (95011, 'wrapped', 'order.wrapped', 'c-1', '{}', 'ReadError: wrapped', 'orders.events', 2, 91, '2026-11-20 13:00'),
       (95012, 'bytes', 'order.avro', 'c-2', '{}', 'ReadError: bytes', 'orders.events', 2, 92, '2026-11-20 13:00');
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value)
VALUES (95011, 'orders.events', 2, 91, 'c-1', convert_to($${"originalTopic":"orders","originalValue":"{\"id\": 7, \"note\": \"{\\\"by\\\":\\\"Zo\\u00eb\\\",\\\"n\\\":1}\", \"amount\": 1.50}","retryCount":3}$$, 'UTF8')),
       (95012, 'orders.events', 2, 92, 'c-2', '\x0000000007ff6f7264657220374d61c3a9723a2c2c2c0a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, created_at, status, resolved_at, resolved_by)
SELECT 95100 + i, 'shape-' || i, 'order.shaped', jsonb_build_object('amount', i, 'sku', 'A' || i, 'city', 'Porto'), 'ReadError: shape', 'orders.events',
       '2026-11-20 12:00', 'RESOLVED', '2026-11-20 12:30', 'api' FROM generate_series(1, 30) i;
INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, created_at)
VALUES (95013, 'departs', 'order.shaped', '{"amount": "10,00", "sku": "A1", "city": "Porto"}', 'ReadError: departs', 'orders.events', '2026-11-20 13:00');
INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at)
VALUES (95014, 'retried', 'order.retried', '{}', 'ReadError: retried', 'orders.events', 2, 94, '2026-11-20 13:00');
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value)
VALUES (95014, 'orders.events', 2, 94, 'c-1', convert_to(E'{\n  "message_id": "79a50895",\n  "queue": "orders",\n  "data": {"total": 299.90},\n  "error": {"message": "Connection refused", "code": "500"},\n  "retry_count": 3\n}\n', 'UTF8'));
INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at)
VALUES (95015, 'several', 'order.several', '{}', E'2 validation errors for Order\nlines.0.amount\n  Input should be a valid number\nlines.1.amount\n  Input should be a valid number', 'orders.events', 2, 95, '2026-11-20 13:00');
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value)
VALUES (95015, 'orders.events', 2, 95, 'c-1', convert_to(E'{\n  "lines": [\n    {"amount": "10,00"},\n    {"amount": "11,00"}\n  ]\n}\n', 'UTF8'));
INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at)
VALUES (95016, 'risky', 'order.risky', '{}', 'ReadError: risky', 'orders.events', 2, 96, '2026-11-20 13:00'),
       (95017, 'deep', 'order.deep', '{}', 'ReadError: deep', 'orders.events', 2, 97, '2026-11-20 13:00'),
       (95018, 'huge', 'order.huge', '{}', 'ReadError: huge', 'orders.events', 2, 98, '2026-11-20 13:00');
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value)
VALUES (95016, 'orders.events', 2, 96, 'c-1', convert_to(E'{\n  "big": 12345678901234567890,\n  "id": 1,\n  "id": 2,\n  "nul": "a\\u0000b",\n  "half": "\\ud83d"\n}\n', 'UTF8')),
       (95017, 'orders.events', 2, 97, 'c-1', convert_to(repeat('[', 600) || repeat(']', 600), 'UTF8')),
       (95018, 'orders.events', 2, 98, 'c-1', convert_to('[' || repeat(E'{"sku": "A1", "amount": 10},\n', 700000) || '"the end"]', 'UTF8'));
INSERT INTO public.dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset, created_at)
VALUES (95019, 'lacking', 'order.lacking', '{}', E'''postal_code'' is a required property\n\nOn instance[''shipping'']:\n    {}', 'orders.events', 2, 99, '2026-11-20 13:00');
INSERT INTO redrive.record (dlq_id, topic, partition, "offset", key, value)
VALUES (95019, 'orders.events', 2, 99, 'c-1', convert_to(E'{\n  "shipping": {"city": "Porto"},\n  "lines": []\n}\n', 'UTF8'));
