-- An incident among other failures: since 11:58 orders in yen come with amounts as texts, mostly in one partition.
-- \set events for more of them. Needs the contract table.

\set ON_ERROR_STOP on
\if :{?events}
\else
\set events 4000
\endif
SET timezone = 'UTC';

-- chance(n, k): 0 to 99, the same for the same numbers
CREATE FUNCTION pg_temp.chance(bigint, integer) RETURNS integer LANGUAGE sql IMMUTABLE
    AS $$ SELECT (abs(hashint8($1 * 1009 + $2)::bigint) % 100)::integer $$;

INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count,
                               created_at, kafka_topic, kafka_partition, kafka_offset)
SELECT 'order-' || n, CASE WHEN n % 3 = 0 THEN 'order.updated' ELSE 'order.created' END, 'orders', 'c-' || abs(hashint8(n)) % 90000,
       jsonb_build_object('order_id', 46000000 + n, 'customer', 'c-' || abs(hashint8(n)) % 90000, 'currency', currency,
                          'region', CASE currency WHEN 'JPY' THEN 'ap' WHEN 'BRL' THEN 'sa' ELSE 'eu' END,
                          'amount', CASE WHEN is_yen THEN to_jsonb((n % 9000) || ',00') ELSE to_jsonb(n % 9000 + 0.5) END,
                          'trace', md5(n::text), 'lines', jsonb_build_array(jsonb_build_object('sku', 'A' || n % 40, 'quantity', 1 + n % 3))),
       CASE WHEN is_yen THEN format('Cannot deserialize value of type `java.math.BigDecimal` from String "%s,00": not a valid representation', n % 9000)
            WHEN n % 2 = 0 THEN format('connect to pay-%s:443 timed out after %s ms', 1 + n % 5, 3000 + n % 7)
            ELSE format('duplicate key value violates unique constraint "orders_pkey": Key (id)=(%s)', n) END,
       CASE WHEN is_yen THEN E'com.fasterxml.jackson.databind.exc.InvalidFormatException: Cannot deserialize value of type `java.math.BigDecimal`\n'
            WHEN n % 2 = 0 THEN E'java.net.SocketTimeoutException: connect timed out\n'
            ELSE E'org.postgresql.util.PSQLException: duplicate key value violates unique constraint "orders_pkey"\n' END || repeat(E'\tat com.acme.orders.Handler.handle(Handler.java:41)\n', 8),
       pg_temp.chance(n, 5) % 3,
       timestamp '2026-11-20 14:02:11' - CASE WHEN is_yen THEN n % 7440 ELSE n % 86400 END * interval '1 second',
       'orders.events', CASE WHEN is_yen AND pg_temp.chance(n, 6) < 80 THEN 5 ELSE n % 12 END, n
  FROM (SELECT n, is_yen, CASE WHEN is_yen OR pg_temp.chance(n, 1) < 12 THEN 'JPY' WHEN pg_temp.chance(n, 2) < 70 THEN 'BRL'
                               WHEN pg_temp.chance(n, 3) < 80 THEN 'USD' ELSE 'EUR' END AS currency
          FROM (SELECT n, pg_temp.chance(n, 4) < 10 AS is_yen FROM generate_series(1, :events) AS n) AS numbers) AS orders;
