-- An incident for `redrive apart` to explain, in a backlog as a shop has one: psql -v seed=N -v events=3000. The seed chooses what is wrong.
-- public.truth says it, for whoever wants to know afterwards: the field, and the words in which apart tells it.
--
-- A fifth of the events failed in the pricing rules, nine of ten of these because of what was planted; others have it too, now and then. Everything
-- else is a decoy: ids, hashes, a counter, constants, fields that follow one another, a type that is a little more frequent among the failed ones.
\set ON_ERROR_STOP on
SELECT setseed((:seed % 1000) / 1000.0) \g /dev/null
CREATE TABLE public.truth AS
SELECT (ARRAY['currency', 'version', 'warehouse', 'partition', 'since', 'text', 'missing', 'sku', 'tier'])[1 + floor(random() * 9)::int] AS kind,
       floor(random() * 5)::int AS n, NULL::text AS field, NULL::text AS value;
UPDATE public.truth SET
    field = CASE kind WHEN 'currency' THEN '$.currency' WHEN 'version' THEN '$.client.version' WHEN 'warehouse' THEN '$.warehouse'
                      WHEN 'partition' THEN 'partition' WHEN 'since' THEN 'created' WHEN 'text' THEN '$.total' WHEN 'missing' THEN '$.address.zip'
                      WHEN 'sku' THEN '$.lines[*].sku' ELSE '$.customer.tier' END,
    value = CASE kind WHEN 'currency' THEN (ARRAY['BRL', 'USD', 'EUR', 'JPY', 'KRW'])[n + 1] WHEN 'version' THEN '4.' || 13 + n || '.2'
                      WHEN 'warehouse' THEN 'wh-' || n + 1 WHEN 'partition' THEN n::text WHEN 'since' THEN 'after' WHEN 'text' THEN 'text'
                      WHEN 'missing' THEN 'missing' WHEN 'sku' THEN 'SKU-' || 100 + n ELSE (ARRAY['gold', 'silver', 'basic', 'staff', 'new'])[n + 1] END;

CREATE TEMP TABLE drawn AS
SELECT i, random() < 0.2 AS has_failed, random() AS luck, random() AS a, random() AS b, random() AS c, random() AS d, random() AS e, random() AS f,
       random() AS g, random() AS h
  FROM generate_series(1, :events) i;
CREATE TEMP TABLE made AS
SELECT i, has_failed, a, b, h, t.kind, t.n, t.value, has_failed AND luck < 0.9 OR luck > 0.97 AS is_hit FROM drawn, public.truth t;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, created_at, retry_count, kafka_topic,
                               kafka_partition, kafka_offset)
SELECT 'evt-' || m.i, CASE WHEN d.a < CASE WHEN m.has_failed THEN 0.6 ELSE 0.5 END THEN 'OrderCreated' ELSE 'OrderUpdated' END, 'orders',
       (40000000 + floor(d.b * 9000000))::bigint::text,
       jsonb_build_object('orderId', 40000000 + m.i, 'checksum', md5(m.i::text), 'schema', 7, 'seq', m.i,
           'currency', CASE WHEN m.kind = 'currency' AND m.is_hit THEN m.value
                            ELSE (ARRAY['BRL', 'BRL', 'BRL', 'USD', 'USD', 'EUR', 'EUR', 'JPY', 'KRW'])[1 + floor(d.c * 9)::int] END,
           'client', jsonb_build_object('app', 'shop', 'version', CASE WHEN m.kind = 'version' AND m.is_hit THEN m.value
                                                                       ELSE '4.' || 13 + floor(d.d * 5)::int || '.2' END),
           'warehouse', CASE WHEN m.kind = 'warehouse' AND m.is_hit THEN m.value ELSE 'wh-' || 1 + floor(d.e * 5)::int END,
           'total', CASE WHEN m.kind = 'text' AND m.is_hit THEN to_jsonb((d.f * 900)::numeric(9, 2)::text) ELSE to_jsonb((d.f * 900)::numeric(9, 2)) END,
           'address', jsonb_build_object('city', 'c' || floor(d.g * 40)::int)
               || CASE WHEN m.kind = 'missing' AND m.is_hit THEN '{}'::jsonb ELSE jsonb_build_object('zip', 10000 + floor(d.h * 80000)::int) END,
           'customer', jsonb_build_object('id', 'c-' || floor(d.b * 50000)::int, 'tier',
               CASE WHEN m.kind = 'tier' AND m.is_hit THEN m.value
                    ELSE (ARRAY['gold', 'silver', 'basic', 'basic', 'basic', 'staff', 'new'])[1 + floor(d.luck * 7)::int] END),
           'lines', jsonb_build_array(jsonb_build_object('sku', 'SKU-' || 100 + floor(d.g * 30)::int, 'quantity', 1 + floor(d.d * 4)::int),
               jsonb_build_object('sku', CASE WHEN m.kind = 'sku' AND m.is_hit THEN m.value ELSE 'SKU-' || 100 + floor(d.h * 30)::int END))),
       CASE WHEN m.has_failed THEN 'PricingException: rule engine rejected order ' || 40000000 + m.i || ' after ' || 3 + floor(d.c * 40)::int || ' ms'
            ELSE (ARRAY['java.net.SocketTimeoutException: Read timed out calling https://stock.example/items/' || m.i,
                        'ERROR: deadlock detected', 'StockException: sku SKU-' || 100 + floor(d.g * 30)::int || ' is not on stock',
                        'KafkaException: record of ' || 1000000 + m.i || ' bytes is too large',
                        'ValidationError: "phone" must be a valid number'])[1 + floor(d.a * 5)::int] END,
       timestamp '2026-11-20 14:00:00' - interval '1 second' *
           CASE WHEN m.kind = 'since' AND m.is_hit THEN d.e * 1800 ELSE d.e * 6 * 3600 END,
       floor(d.f * 3)::int, 'orders.events', CASE WHEN m.kind = 'partition' AND m.is_hit THEN m.n ELSE floor(d.h * 6)::int END, m.i
  FROM made m JOIN drawn d USING (i);
