-- A small backlog in which nothing depends on the clock or on chance: the instant is 2026-11-20 14:02:11 UTC.
-- Needs the contract table; the schema is there (redrive migrate) unless the test is about its absence.

\set ON_ERROR_STOP on
SET timezone = 'UTC';

-- at(seconds ago)
CREATE FUNCTION pg_temp.at(double precision) RETURNS timestamp LANGUAGE sql IMMUTABLE
    AS $$ SELECT timestamp '2026-11-20 14:02:11' - $1 * interval '1 second' $$;

CREATE FUNCTION pg_temp.order_payload(n bigint, amount text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT format('{"order_id": "A-%s", "customer": "c-%s", "amount": %s, "currency": "BRL", "lines": [{"sku": "A1", "quantity": %s}]}',
                  80000 + n, 10000 + n * 37 % 90000, amount, 1 + n % 3)::jsonb $$;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count,
                               created_at, kafka_topic, kafka_partition, kafka_offset, correlation_id)
SELECT 'evt-' || n, CASE WHEN n % 10 = 0 THEN 'order.updated' ELSE 'order.created' END, 'orders', 'c-' || (10000 + n * 37 % 90000),
       pg_temp.order_payload(n, '1200.50'),
       format('connect to pay-%s:443 timed out after 3000 ms', 1 + n % 3),
       format(E'java.net.SocketTimeoutException: connect to pay-%s:443 timed out after 3000 ms\n'
              '\tat java.base/sun.nio.ch.NioSocketImpl.timedFinishConnect(NioSocketImpl.java:546)\n'
              '\tat java.base/java.net.Socket.connect(Socket.java:633)\n'
              '\tat com.acme.pay.Gateway.charge(Gateway.java:88)\n'
              '\tat com.acme.orders.OrderHandler.handle(OrderHandler.java:41)\n'
              '\tat org.springframework.kafka.listener.KafkaMessageListenerContainer.run(KafkaMessageListenerContainer.java:1241)',
              1 + n % 3),
       n % 4, pg_temp.at(7400 * power((2114 - n) / 2114.0, 2) + 4), 'orders.events', n % 12, 500000 + n,
       ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid
  FROM generate_series(1, 2114) AS n;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count,
                               created_at, kafka_topic, kafka_partition, kafka_offset)
SELECT 'evt-' || n, 'order.created', 'orders', 'c-' || (10000 + n * 37 % 90000), pg_temp.order_payload(n, '"10,00"'),
       'Cannot deserialize value of type `java.math.BigDecimal` from String "10,00": not a valid representation (line: 1, column: '
           || (20 + n % 7) || ')',
       E'com.fasterxml.jackson.databind.JsonMappingException: Cannot deserialize value of type `java.math.BigDecimal` from String "10,00": '
           'not a valid representation\n\tat com.fasterxml.jackson.databind.DeserializationContext.weirdStringException(DeserializationContext.java:1996)\n'
           '\tat com.acme.orders.OrderReader.read(OrderReader.java:27)',
       0, pg_temp.at(2 + 6600 * power((n - 3000) / 880.0, 1.5)), 'orders.events', n % 12, 600000 + n
  FROM generate_series(3001, 3880) AS n;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count,
                               created_at, kafka_topic, kafka_partition, kafka_offset)
SELECT 'evt-' || n, 'payment.captured', 'payments', 'p-' || n, jsonb_build_object('payment', 'p-' || n, 'order', 'A-' || n),
       format(E'ERROR: duplicate key value violates unique constraint "payment_pkey"\n  Detail: Key (id)=(%s) already exists.', n),
       E'org.postgresql.util.PSQLException: ERROR: duplicate key value violates unique constraint "payment_pkey"\n'
           '\tat com.acme.pay.Ledger.book(Ledger.java:112)',
       1, pg_temp.at(1 + (4291 - n)), 'payments.events', n % 6, 1000 + n
  FROM generate_series(4001, 4291) AS n;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, retry_count, created_at, kafka_topic,
                               kafka_partition, kafka_offset)
SELECT 'evt-' || n, 'order.updated', 'orders', 'c-' || n, pg_temp.order_payload(n, '99'),
       format('OrderClosedException: order A-%s is closed', n), 3, pg_temp.at(7300 + n % 80 * 60), 'orders.events', 1, 9000 + n
  FROM generate_series(5001, 5084) AS n;

-- One of each of the smaller kinds, from other languages.
INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count,
                               created_at, kafka_topic, kafka_partition, kafka_offset)
SELECT format('evt-%s-%s', k.first, n), k.event_type, k.source, 's-' || n, jsonb_build_object('n', n), k.message, k.stack, 0,
       pg_temp.at(k.youngest + n * 97), k.topic, 0, k.first + n
  FROM (VALUES
    (7000, 31, 1860, 'order.created', 'orders', 'orders.events', 'ValidationError: amount must be positive',
     E'Traceback (most recent call last):\n  File "/srv/app/orders/validate.py", line 41, in check_amount\n    raise ValidationError("amount must be positive")\nValidationError: amount must be positive'),
    (7100, 17, 3900, 'customer.changed', 'customers', 'customers', 'KeyError: ''segment''',
     E'Traceback (most recent call last):\n  File "/srv/app/customers/sync.py", line 77, in handle\n    segment = payload["segment"]\nKeyError: ''segment'''),
    (7200, 12, 240, 'shipment.requested', 'shipments', 'shipping.requests',
     'rpc error: code = DeadlineExceeded desc = context deadline exceeded', NULL),
    (7300, 9, 90000, 'mail.requested', NULL, NULL, 'TypeError: Cannot read properties of undefined (reading ''address'')',
     E'TypeError: Cannot read properties of undefined (reading ''address'')\n    at render (/srv/mailer/src/render.js:18:22)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)'),
    (7400, 5, 600, '支払い', 'payments', 'payments.events', '支払いゲートウェイに接続できません (code 503)', NULL),
    (7500, 3, 1200, 'order.created', 'orders', 'orders.events',
     E'bad token \x1b[31mRED\x1b[0m \x1b]52;c;ZXZpbA==\x07 in \u202Egpj.exe', NULL)
  ) AS k(first, count, youngest, event_type, source, topic, message, stack), generate_series(1, k.count) AS n;

-- Closed before: what operations 40 and 37 did.
INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, created_at, status, resolved_at,
                               resolved_by, kafka_topic, kafka_partition, kafka_offset)
SELECT 'old-' || n, 'order.created', 'orders', 'c-' || n, pg_temp.order_payload(n, '5'), 'ValidationError: amount must be positive',
       pg_temp.at(90000 + n), CASE WHEN n <= 84 THEN 'DISCARDED' ELSE 'RESOLVED' END, pg_temp.at(CASE WHEN n <= 84 THEN 1320 ELSE 5200 END),
       'ana', 'orders.events', 0, n
  FROM generate_series(1, 104) AS n;
