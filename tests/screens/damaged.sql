-- Storage that is damaged, as by a lost block: the newest event still points to its message, the next one to its stack trace, and neither is there.
ALTER TABLE public.dlq_events ALTER COLUMN error_message SET STORAGE EXTERNAL, ALTER COLUMN stack_trace SET STORAGE EXTERNAL;
UPDATE public.dlq_events SET error_message = repeat('a connection was refused ', 1000) WHERE id = 3285;
UPDATE public.dlq_events SET stack_trace = repeat('at java.net.ConnectException ', 1000) WHERE id = 3284;
CREATE EXTENSION pg_surgery SCHEMA public;
DO $$
DECLARE stored regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 'public.dlq_events'::regclass);
BEGIN
    EXECUTE format('SELECT public.heap_force_kill(%L, ARRAY(SELECT ctid FROM %s))', stored, stored);
END $$;
