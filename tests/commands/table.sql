-- The contract table, and a backlog in which everything that is awkward occurs once.
CREATE TABLE public.dlq_events (
    id bigserial PRIMARY KEY, event_id varchar(50) NOT NULL, event_type varchar(50) NOT NULL, source_table varchar(50),
    source_id varchar(50), event_payload jsonb NOT NULL, error_message text NOT NULL, stack_trace text,
    retry_count integer DEFAULT 0, max_retries integer DEFAULT 3, status varchar(20) DEFAULT 'PENDING',
    created_at timestamp DEFAULT current_timestamp, last_retry_at timestamp, resolved_at timestamp, resolved_by varchar(50),
    kafka_offset bigint, kafka_partition integer, kafka_topic varchar(100), correlation_id uuid);
CREATE INDEX ON public.dlq_events (status);
CREATE INDEX ON public.dlq_events (created_at);
CREATE INDEX ON public.dlq_events (source_id);
CREATE INDEX ON public.dlq_events (event_type);

-- 1 to 1000: three errors; ids and times run against each other, so that an order by id is not one by time.
INSERT INTO public.dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, created_at, kafka_topic,
                               kafka_partition, kafka_offset)
SELECT 'event-' || i, (ARRAY['order.created', 'order.updated', 'payment.failed'])[1 + i % 3], 'orders', 'c-' || i,
       jsonb_build_object('n', i, 'amount', i * 1.5),
       CASE i % 4 WHEN 0 THEN format('connect to pay-%s:443 timed out after %s ms', i % 9, i)
                  WHEN 1 THEN format('duplicate key value violates unique constraint "orders_pkey": Key (id)=(%s)', i)
                  ELSE format('java.lang.IllegalStateException: order %s is closed', i) END,
       timestamp '2026-11-20 12:00:00' - i * interval '1 minute', 'orders', i % 4, i
  FROM generate_series(1, 1000) i;
-- 1001: everything that may be NULL is. 1002: a hostile one. 1003: of a queue.
INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, retry_count, max_retries, created_at)
VALUES ('nulls', 'nothing', 'null', '', NULL, NULL, NULL);
INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at)
VALUES ('hostile', E'evil\x1b[31m', '{"a": "\u001b]0;owned\u0007"}', E'red \x1b[31m alert \u202e gnp.exe\nsecond line\x1b]52;c;aGk=\x07',
        '2026-11-19 00:00:00');
INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, created_at, kafka_topic)
VALUES ('queued', 'order.created', '{}', 'from a queue', '2026-11-19 00:00:01', 'orders_dlq');
-- 1004, 1005: closed already.
INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, status, created_at, resolved_at, resolved_by)
VALUES ('done', 'order.created', '{}', 'old', 'RESOLVED', '2026-11-18 00:00:00', '2026-11-18 01:00:00', 'api'),
       ('gone', 'order.created', '{}', 'old', 'DISCARDED', '2026-11-18 00:00:00', '2026-11-18 01:00:00', 'api');
