-- The answer of a worker that has Kafka to the question about newer records: at once, and always the same one.
CREATE FUNCTION redrive.test_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.worker := 'db1/1';
    NEW.taken_at := NEW.wanted_at;
    NEW.ended_at := NEW.wanted_at;
    NEW.records := 1204000;
    NEW.record_sum := 5400000;
    NEW.why := 'the time for it is over';
    NEW.stale := (SELECT array_agg(i ORDER BY i) FROM unnest(NEW.dlq_ids[1:3]) AS i);
    NEW.stale_at := ARRAY[(SELECT max(created_at) FROM public.dlq_events), NULL, NULL]::timestamptz[];
    NEW.key_count := 3;
    NEW.keys := '{c-88213,c-10021,c-70411}'::bytea[];
    NEW.keys_at := NEW.stale_at;
    NEW.keys_deleted := '{0,1,0}';
    NEW.resent := 0;
    NEW.untold := '{0,0,0,4,0,0,0,2}';
    RETURN NEW;
END $$;
CREATE TRIGGER answer BEFORE INSERT ON redrive.newer_question FOR EACH ROW EXECUTE FUNCTION redrive.test_answer();
