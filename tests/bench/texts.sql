-- texts.sql: fills dlq_events with :rows pending events of 1.2 kB whose texts differ: 2,649 error messages, some frequent and most rare,
-- payloads of four shapes with 66,667 customers (c-10000 to c-76666), stacks of a few hundred bytes.
INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count,
                               status, created_at, kafka_offset, kafka_partition, kafka_topic)
SELECT 'evt-' || i, (ARRAY['OrderCreated', 'PaymentCaptured', 'StockReserved', 'CustomerChanged'])[shape + 1], 'outbox', 'c-' || customer,
       CASE shape
       WHEN 0 THEN jsonb_build_object('order_id', 'A-' || i, 'customer', 'c-' || customer, 'amount', h % 100000, 'currency', 'BRL',
                                      'lines', jsonb_build_array(jsonb_build_object('sku', 'SKU-' || h % 99991, 'quantity', h % 7 + 1),
                                                                 jsonb_build_object('sku', 'SKU-' || h % 99989, 'quantity', h % 5 + 1)))
       WHEN 1 THEN jsonb_build_object('payment', jsonb_build_object('id', md5(i::text), 'order', i, 'method', 'card'),
                                      'payer', jsonb_build_object('id', 'c-' || customer, 'country', 'DE'), 'amount', (h % 9999999) / 100.0)
       WHEN 2 THEN jsonb_build_object('warehouse', 'W' || h % 40, 'reservation', md5(h::text), 'for', 'c-' || customer, 'items', h % 90)
       ELSE jsonb_build_object('id', 'c-' || customer, 'before', jsonb_build_object('email', 'user' || h % 88888 || '@example.org'),
                               'after', jsonb_build_object('email', 'user' || h % 88887 || '@example.com', 'phone', 550000000 + h % 9999999))
       END || jsonb_build_object('trace', md5(h::text || 'a') || md5(h::text || 'b'), 'note', repeat('lorem ipsum ', 10)),
       format((ARRAY['SocketTimeoutException: connect to node-%s.internal:443 timed out after 3000 ms',
                     'ConnectException: connection refused by shard %s of the inventory',
                     'JsonMappingException: Cannot deserialize value of type BigDecimal at line %s of the record',
                     'PSQLException: duplicate key value violates unique constraint uq_orders_%s',
                     'AccessDeniedException: permission denied for role writer_%s on table stock',
                     'ValidationError: amount must be positive in rule %s'])[message % 6 + 1], message),
       'at com.acme.orders.Handler' || message || '.handle(Handler.java:' || h % 400 || E')\n' || repeat(E'\tat com.acme.platform.Dispatcher.dispatch(Dispatcher.java:118)\n', 7),
       h % 4, 'PENDING', localtimestamp - (:rows - i) * interval '100 milliseconds', i, h % 12,
       (ARRAY['orders.events', 'payments.captured', 'stock.reserved', 'customers.changed'])[shape + 1]
FROM (SELECT i, h, h % 4 AS shape, 10000 + (h / 7) % 66667 AS customer,
             CASE WHEN h % 5 < 2 THEN h / 11 % 37 ELSE h / 13 % 2649 END AS message
      FROM (SELECT i, hashint8(i)::bigint & 2147483647 AS h FROM generate_series(1, :rows) AS i) AS hashed) AS chosen;
