-- A table of another program, such as a job queue in PostgreSQL, read as if it were a table of dead letters.
--
-- The table stays its owner's: redrive reads it and writes nothing into it, so no rule of its owner can break. What redrive needs besides is here:
--
--   mapping           which columns and words of the table mean what. One row, or none: then the schema's table has the contract's own columns.
--   _mapped_source()  the table's failures in the contract's words. A text that PostgreSQL does not tie to the table, so that its owner's
--                     migrations go through; and one SELECT, which the planner takes into the statement around it.
--   mapped_row        a failure that was seen, with its number, and what was decided about it here.
--   mapped            the two joined, with the columns of the contract: what stands for the events.
--
-- An id is of one failure: of a row with its key, as it failed at one time. A row that its owner tries again is not pending meanwhile; when it fails
-- again, that is another id, and a decision about the first does not hold for it. Ids rise as failures are seen, whatever type the key has.

CREATE TABLE redrive.mapping (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    name       text NOT NULL,        -- as it was given: river, or a file's title
    settings   jsonb NOT NULL,       -- src/settings/mapping_file.h
    columns    name[] NOT NULL,      -- of the table: all that are read
    sends      boolean NOT NULL,     -- it names a topic
    owner      text,                 -- the program whose table it is, for sentences
    retry      text,                 -- how that program tries a failed row again
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    looked_at  timestamptz,
    next_at    timestamptz NOT NULL DEFAULT '-infinity' -- the next look, after ten times as long as the last one took
);

---- functions

-- The first of the choices for `p_what` that the table has: its column, the path within it, and its type. NULLs where the mapping has no such entry.
CREATE OR REPLACE FUNCTION redrive._mapping_column(p_table regclass, p_settings jsonb, p_what text, OUT name name, OUT path text[], OUT type oid)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_settings->p_what IS NULL THEN
        RETURN;
    END IF;
    SELECT a.attname, ARRAY(SELECT jsonb_array_elements_text(c.choice->'path')), a.atttypid INTO name, path, type
      FROM jsonb_array_elements(p_settings->p_what) WITH ORDINALITY AS c (choice, n)
      JOIN pg_attribute a ON a.attrelid = p_table AND a.attname = c.choice->>'column' AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.n LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the mapping wants % for %, and % has no such column', p_what,
            (SELECT string_agg(quote_ident(c->>'column'), ' or ') FROM jsonb_array_elements(p_settings->p_what) AS c), p_table USING ERRCODE = 'RD004';
    END IF;
END $$;

-- SQL for a text out of the table t. Of a list the last element counts: what was tried last.
CREATE OR REPLACE FUNCTION redrive._mapping_text(p_table regclass, p_settings jsonb, p_what text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    c record;
    v_is_list boolean;
    v_sql text;
BEGIN
    SELECT * INTO c FROM redrive._mapping_column(p_table, p_settings, p_what);
    IF c.name IS NULL THEN
        RETURN 'NULL::pg_catalog.text';
    END IF;
    v_is_list := (SELECT t.typcategory = 'A' FROM pg_type t WHERE t.oid = c.type);
    v_sql := CASE WHEN v_is_list THEN format('t.%1$I[pg_catalog.array_upper(t.%1$I, 1)]', c.name) ELSE format('t.%I', c.name) END;
    IF c.path = '{}' THEN
        RETURN v_sql || '::pg_catalog.text';
    ELSIF c.type NOT IN ('json'::regtype, 'jsonb'::regtype, 'json[]'::regtype, 'jsonb[]'::regtype) THEN
        RAISE EXCEPTION 'the mapping looks for % within %, which is %, not json', p_what, quote_ident(c.name), format_type(c.type, NULL)
            USING ERRCODE = 'RD004';
    END IF;
    RETURN format('(%s OPERATOR(pg_catalog.#>>) %L::pg_catalog.text[])', v_sql, c.path::text);
END $$;

-- SQL for an instant out of the table t.
CREATE OR REPLACE FUNCTION redrive._mapping_time(p_table regclass, p_settings jsonb, p_what text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE c record;
BEGIN
    SELECT * INTO c FROM redrive._mapping_column(p_table, p_settings, p_what);
    RETURN CASE WHEN c.name IS NULL THEN 'NULL::pg_catalog.timestamptz'
                WHEN c.type = 'timestamptz'::regtype THEN format('t.%I', c.name)
                WHEN c.type = 'timestamp'::regtype THEN format('pg_catalog.timezone(%L, t.%I)', coalesce(p_settings->>'zone', 'UTC'), c.name)
                ELSE redrive._mapping_refuse(p_what, c.name, c.type, 'a time') END;
END $$;

-- SQL for a number out of the table t.
CREATE OR REPLACE FUNCTION redrive._mapping_number(p_table regclass, p_settings jsonb, p_what text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE c record;
BEGIN
    SELECT * INTO c FROM redrive._mapping_column(p_table, p_settings, p_what);
    RETURN CASE WHEN c.name IS NULL THEN 'NULL::pg_catalog.int4'
                WHEN c.type IN ('int2'::regtype, 'int4'::regtype) THEN format('t.%I::pg_catalog.int4', c.name)
                ELSE redrive._mapping_refuse(p_what, c.name, c.type, 'a number of at most four bytes') END;
END $$;

CREATE OR REPLACE FUNCTION redrive._mapping_refuse(p_what text, p_name name, p_type oid, p_wanted text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the mapping takes % from %, which is %, not %', p_what, quote_ident(p_name), format_type(p_type, NULL), p_wanted
        USING ERRCODE = 'RD004';
END $$;

-- SQL for the payload. What jsonb cannot hold is a string of its text.
CREATE OR REPLACE FUNCTION redrive._mapping_payload(p_table regclass, p_settings jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE c record;
BEGIN
    SELECT * INTO c FROM redrive._mapping_column(p_table, p_settings, 'payload');
    RETURN CASE WHEN c.name IS NULL THEN 'NULL::pg_catalog.jsonb'
                WHEN c.type <> 'jsonb'::regtype THEN format('redrive.mapped_json(%s)', redrive._mapping_text(p_table, p_settings, 'payload'))
                WHEN c.path = '{}' THEN format('t.%I', c.name)
                ELSE format('(t.%I OPERATOR(pg_catalog.#>) %L::pg_catalog.text[])', c.name, c.path::text) END;
END $$;

CREATE OR REPLACE FUNCTION redrive.mapped_json(p_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_text::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN
    RETURN to_jsonb(p_text);
END $$;

-- SQL for the error and for the stack. Where both are one text, its first line is the error.
CREATE OR REPLACE FUNCTION redrive._mapping_error(p_table regclass, p_settings jsonb, p_what text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN s.sql <> redrive._mapping_text(p_table, p_settings, CASE p_what WHEN 'error' THEN 'stack' ELSE 'error' END) THEN s.sql
                WHEN p_what = 'error' THEN format('pg_catalog.split_part(%s, E''\n'', 1)', s.sql)
                ELSE format('nullif(pg_catalog.regexp_replace(%s, E''^[^\n]*\n?'', ''''), '''')', s.sql) END
      FROM (SELECT redrive._mapping_text(p_table, p_settings, p_what) AS sql) s;
$$;

-- SQL for whether the state is one of these words. Words of the column's own type, so that an index on it serves.
CREATE OR REPLACE FUNCTION redrive._mapping_words(p_table regclass, p_settings jsonb, p_words jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    c record;
    v_words text[] := ARRAY(SELECT jsonb_array_elements_text(coalesce(p_words, '[]')));
BEGIN
    SELECT * INTO c FROM redrive._mapping_column(p_table, p_settings, 'state');
    IF c.name IS NULL THEN
        RETURN 'true';
    END IF;
    RETURN format('t.%I OPERATOR(pg_catalog.=) ANY (%L::%s[])', c.name, v_words::text, format_type(c.type, NULL));
END $$;

-- SQL for what tells two failures of one row apart: when it failed, else how often it was tried.
CREATE OR REPLACE FUNCTION redrive._mapping_stamp(p_table regclass, p_settings jsonb) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_time text := redrive._mapping_time(p_table, p_settings, 'failed');
BEGIN
    IF p_settings->'failed' IS NULL AND p_settings->'attempts' IS NULL THEN
        RAISE EXCEPTION 'the mapping needs failed or attempts: without them a decision about a row would hold for its next failure too'
            USING ERRCODE = 'RD004';
    ELSIF p_settings->'failed' IS NULL THEN
        RETURN format('coalesce(%s, 0)::pg_catalog.int8', redrive._mapping_number(p_table, p_settings, 'attempts'));
    END IF;
    RETURN format('CASE WHEN pg_catalog.isfinite(%1$s) THEN (pg_catalog.date_part(''epoch'', %1$s) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8'
                  ' ELSE 0::pg_catalog.int8 END', v_time);
END $$;

-- One row of the table must not be taken for another, so a unique index covers its key.
CREATE OR REPLACE FUNCTION redrive._mapping_check_key(p_table regclass, p_key name, p_key_type oid, p_part name) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_key IS NULL THEN
        RAISE EXCEPTION 'the mapping has no id' USING ERRCODE = 'RD004';
    ELSIF p_key_type NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'uuid'::regtype, 'text'::regtype, 'varchar'::regtype) THEN
        PERFORM redrive._mapping_refuse('id', p_key, p_key_type, 'a whole number, a uuid or a text');
    ELSIF NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = p_table AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
                         AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = p_table AND a.attnum = ANY (i.indkey::int2[])
                                            AND a.attname <> p_key AND a.attname IS DISTINCT FROM p_part)) THEN
        RAISE EXCEPTION 'no unique index of % keeps % apart, so one row could be taken for another', p_table, concat_ws(' and ', p_key, p_part)
            USING ERRCODE = 'RD004', HINT = 'name the columns of a unique index in id and part';
    END IF;
END $$;

-- What is mapped: the SELECT behind _mapped_source().
CREATE OR REPLACE FUNCTION redrive._mapping_select(p_table regclass, p_settings jsonb, p_key name, p_part name) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT format('SELECT t.%I, %s, %s, t.%I::pg_catalog.text, %s, %s, %s, %s, %s, %s, %s, %s, CASE WHEN %s THEN ''PENDING'' WHEN %s THEN ''RESOLVED'''
                  ' ELSE ''DISCARDED'' END::pg_catalog.text, %s, %s FROM %s AS t WHERE t.%I IS NOT NULL AND %s',
                  p_key, CASE WHEN p_part IS NULL THEN '''''::pg_catalog.text' ELSE format('t.%I::pg_catalog.text', p_part) END, redrive._mapping_stamp(p_table, p_settings),
                  p_key, redrive._mapping_text(p_table, p_settings, 'type'), redrive._mapping_text(p_table, p_settings, 'source'),
                  redrive._mapping_text(p_table, p_settings, 'source_id'), redrive._mapping_payload(p_table, p_settings),
                  redrive._mapping_error(p_table, p_settings, 'error'), redrive._mapping_error(p_table, p_settings, 'stack'),
                  redrive._mapping_number(p_table, p_settings, 'attempts'), redrive._mapping_number(p_table, p_settings, 'most_attempts'),
                  redrive._mapping_words(p_table, p_settings, p_settings->'pending'), redrive._mapping_words(p_table, p_settings, p_settings->'resolved'),
                  redrive._mapping_time(p_table, p_settings, 'failed'),
                  CASE WHEN p_settings ? 'topic' THEN format('%L::pg_catalog.text', p_settings->>'topic')
                       ELSE redrive._mapping_text(p_table, p_settings, 'topic_from') END,
                  (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = p_table),
                  p_key, redrive._mapping_words(p_table, p_settings, coalesce(p_settings->'pending', '[]') || coalesce(p_settings->'resolved', '[]')
                                                              || coalesce(p_settings->'discarded', '[]')));
$$;

-- The table of failures that were seen, and the view that stands for the events.
-- Plan: rows of the table by key (OFFSET 0), because a page of events joined otherwise reads all of the table.
CREATE OR REPLACE FUNCTION redrive._mapping_make(p_key_type oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    EXECUTE format('CREATE TABLE redrive.mapped_row ('
        'id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key %s NOT NULL, part text NOT NULL, stamp bigint NOT NULL,'
        ' seen_at timestamptz NOT NULL DEFAULT clock_timestamp(), status text CHECK (status IN (''RESOLVED'', ''DISCARDED'')),'
        ' resolved_at timestamp, resolved_by text, retried integer NOT NULL DEFAULT 0, last_retry_at timestamp, UNIQUE (key, part, stamp))',
        format_type(p_key_type, NULL));
    CREATE VIEW redrive.mapped AS
    SELECT s.id, n.event_id, n.event_type, n.source_table, n.source_id, n.event_payload, n.error_message, n.stack_trace,
           coalesce(n.attempts, 0) + s.retried AS retry_count, n.most_attempts AS max_retries, coalesce(s.status, n.status) AS status,
           coalesce(n.failed_at, s.seen_at) AT TIME ZONE (SELECT i.zone FROM redrive.install i) AS created_at, s.last_retry_at, s.resolved_at,
           s.resolved_by, NULL::bigint AS kafka_offset, NULL::integer AS kafka_partition, n.topic AS kafka_topic, NULL::uuid AS correlation_id,
           s.xmin AS xmin
      FROM redrive.mapped_row s
     CROSS JOIN LATERAL (SELECT * FROM redrive._mapped_source() w WHERE w.key = s.key AND w.part = s.part AND w.stamp = s.stamp OFFSET 0) n;
    CREATE TRIGGER mapped_change INSTEAD OF INSERT OR UPDATE OR DELETE ON redrive.mapped FOR EACH ROW EXECUTE FUNCTION redrive._mapped_change();
END $$;

-- Applies a mapping in a migration. It names columns and words; SQL is made of them by format() alone, and only here.
CREATE OR REPLACE FUNCTION redrive._mapping_apply(p_settings jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_table regclass := to_regclass((SELECT source_table FROM redrive.install));
    k record;
    p record;
BEGIN
    IF v_table IS NULL THEN
        RAISE EXCEPTION 'there is no table % to map', (SELECT source_table FROM redrive.install) USING ERRCODE = 'RD002';
    END IF;
    SELECT * INTO k FROM redrive._mapping_column(v_table, p_settings, 'id');
    SELECT * INTO p FROM redrive._mapping_column(v_table, p_settings, 'part');
    PERFORM redrive._mapping_check_key(v_table, k.name, k.type, p.name);
    IF (p_settings->'state' IS NULL) <> (p_settings->'pending' IS NULL) THEN
        RAISE EXCEPTION 'the mapping has state and pending both, or neither: then every row is a dead letter' USING ERRCODE = 'RD004';
    END IF;
    EXECUTE format('CREATE OR REPLACE FUNCTION redrive._mapped_source() RETURNS TABLE (key %s, part text, stamp bigint, event_id text, event_type text,'
        ' source_table text, source_id text, event_payload jsonb, error_message text, stack_trace text, attempts integer, most_attempts integer,'
        ' status text, failed_at timestamptz, topic text) LANGUAGE sql STABLE AS %L', format_type(k.type, NULL),
        redrive._mapping_select(v_table, p_settings, k.name, p.name));
    IF to_regclass('redrive.mapped') IS NULL THEN
        PERFORM redrive._mapping_make(k.type);
    END IF;
    INSERT INTO redrive.mapping AS m (name, settings, columns, sends, owner, retry)
    SELECT p_settings->>'name', p_settings,
           ARRAY(SELECT DISTINCT c.name FROM jsonb_object_keys(p_settings) AS w (what)
                  CROSS JOIN LATERAL redrive._mapping_column(v_table, p_settings, w.what) AS c
                  WHERE jsonb_typeof(p_settings->w.what->0) = 'object' AND c.name IS NOT NULL),
           p_settings ?| '{topic,topic_from}', p_settings->>'owner', p_settings->>'retry'
    ON CONFLICT (one) DO UPDATE SET name = excluded.name, settings = excluded.settings, columns = excluded.columns, sends = excluded.sends,
           owner = excluded.owner, retry = excluded.retry, applied_at = excluded.applied_at, next_at = '-infinity';
    PERFORM redrive._audit('migrate', NULL, 0, NULL, format('%s is read by the mapping %s', v_table, p_settings->>'name'));
END $$;

-- Decisions are kept here. An event that somebody decided about meanwhile, or that its owner's own words close, is not changed: the statement does not
-- count it.
CREATE OR REPLACE FUNCTION redrive._mapped_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        PERFORM redrive._mapped_refuse('nothing is inserted or deleted');
    END IF;
    UPDATE redrive.mapped_row s
       SET status = nullif(NEW.status, 'PENDING'), resolved_at = NEW.resolved_at, resolved_by = NEW.resolved_by,
           retried = s.retried + NEW.retry_count - OLD.retry_count, last_retry_at = NEW.last_retry_at
     WHERE s.id = OLD.id AND coalesce(s.status, 'PENDING') = OLD.status;
    IF FOUND THEN
        RETURN NEW;
    END IF;
    RETURN NULL;
END $$;

-- Refuses what would write to the table of another program.
CREATE OR REPLACE FUNCTION redrive._mapped_refuse(p_what text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.mapping;
BEGIN
    SELECT * INTO v FROM redrive.mapping;
    IF FOUND THEN
        RAISE EXCEPTION '% is the table of %, which redrive reads and never writes to: %', (SELECT source_table FROM redrive.install),
            coalesce(v.owner, 'another program'), p_what USING ERRCODE = 'RD004';
    END IF;
END $$;

-- Refuses to send where no topic is known: a job goes back by its owner's own tool.
CREATE OR REPLACE FUNCTION redrive._mapped_target(p_action text, p_topic text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.mapping;
BEGIN
    SELECT * INTO v FROM redrive.mapping m WHERE NOT m.sends AND p_action = 'reprocess' AND coalesce(p_topic, '') = '';
    IF FOUND THEN
        RAISE EXCEPTION 'no topic is known for %, and redrive does not write to the table of %: %', (SELECT source_table FROM redrive.install),
            coalesce(v.owner, 'another program'), coalesce(v.retry, 'try its rows again with its own tool') || '; or name a topic with --to'
            USING ERRCODE = 'RD004';
    END IF;
END $$;

-- Numbers the failures that were not seen before, the oldest first, and has those counted again that are not pending any more. One looks at a time,
-- and after a rest. Returns how many were new.
CREATE OR REPLACE FUNCTION redrive.mapped_look() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_from timestamptz := clock_timestamp();
    v_new bigint;
BEGIN
    PERFORM FROM redrive.mapping m WHERE m.next_at <= v_from OR m.looked_at > v_from FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    INSERT INTO redrive.mapped_row (key, part, stamp)
    SELECT n.key, n.part, n.stamp FROM redrive._mapped_source() n
     WHERE NOT EXISTS (SELECT FROM redrive.mapped_row s WHERE s.key = n.key AND s.part = n.part AND s.stamp = n.stamp)
     ORDER BY n.failed_at, n.key
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_new = ROW_COUNT;
    IF v_new > 10000 THEN
        ANALYZE redrive.mapped_row;
    END IF;
    PERFORM redrive._rollup_note(ARRAY(
        SELECT b.dlq_id FROM redrive.rollup_event b
         WHERE NOT EXISTS (SELECT FROM redrive.mapped m WHERE m.id = b.dlq_id AND m.status = 'PENDING') LIMIT 10000));
    UPDATE redrive.mapping SET looked_at = clock_timestamp(),
           next_at = clock_timestamp() + greatest(interval '1 s', 10 * (clock_timestamp() - v_from));
    RETURN v_new;
END $$;
