-- Retention: closed events leave public.dlq_events for archive.dlq_events_archive, come back from there, and are deleted in the end.
--
-- The archive has the columns of the contract table, whatever they are, and says of each row when it came, by whom and by which job. It is made and
-- widened when a job begins, not by the migration, since the contract table may get columns at any time. A further table of dead letters has an
-- archive of its own, with the name of its schema.
--
-- A job is what somebody confirmed. It works in batches, each a transaction of its own that takes a row out of one table and puts it into the other
-- in one statement: killed at any point, it leaves every event in exactly one of the two, and the next job goes on. Rows that somebody has locked
-- are passed over, so nobody waits for a batch but who wants to change the same closed event.
--
-- "Closed before" is about resolved_at, where that is NULL about created_at. A pending event is never moved, and one that an operation waits for
-- (a restore) is not moved either. Revisions, records and further attempts stay as long as the event is in one of the two tables; the operations,
-- the audit and all sums stay for ever.

CREATE TABLE redrive.archive_job (
    no       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- archive: table to archive; restore: archive to table; purge: delete in the archive; delete: delete in the table, without archive
    action   text NOT NULL CHECK (action IN ('archive', 'restore', 'purge', 'delete')),
    before   timestamptz, -- events closed before; NULL: whenever
    scope    text NOT NULL, -- the choice in words
    who      name NOT NULL DEFAULT session_user,
    host     text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    reason   text,
    policy   text, -- that began it; NULL: a person did
    chosen   bigint NOT NULL, -- events, as they were counted before
    position bigint NOT NULL DEFAULT -9223372036854775808, -- ids up to it were looked at
    highest  bigint, -- id when it began: what came later is too young, and may come faster than it is looked at; NULL: there was none
    moved    bigint NOT NULL DEFAULT 0,
    deleted  bigint NOT NULL DEFAULT 0,
    skipped  bigint NOT NULL DEFAULT 0,
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at  timestamptz NOT NULL DEFAULT clock_timestamp(), -- the last batch
    state    text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'interrupted'))
) WITH (fillfactor = 10);

---- functions

-- The archive's name, for statements: the first table's with _archive behind it, unless that is too long; of a further table its schema's, which no
-- other has.
CREATE OR REPLACE FUNCTION redrive._archive_name() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT 'archive.' || quote_ident(CASE WHEN length('redrive') = 7 AND octet_length(c.relname::text) <= 55 THEN c.relname || '_archive'
                                          ELSE 'redrive' END)
      FROM pg_class c WHERE c.oid = to_regclass(:'events');
$$;

-- The same for a program that reads the archive.
CREATE OR REPLACE FUNCTION redrive.archive_table() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT redrive._archive_name();
$$;

-- Which rows are due: $1 is the wall time before which they were closed, or NULL.
CREATE OR REPLACE FUNCTION redrive._archive_due() RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT '(e.status IN (''RESOLVED'', ''DISCARDED'') AND ($1::timestamp IS NULL OR coalesce(e.resolved_at, e.created_at)::timestamp < $1))';
$$;

-- The columns of the contract table that hold values of their own, quoted, in their order.
CREATE OR REPLACE FUNCTION redrive._archive_columns() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
     WHERE a.attrelid = to_regclass(:'events') AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
$$;

-- Is the archive there, and nobody else's? What is in another's schema may be put in its place at any time, and a trigger of another's table would run
-- with the rights of this schema's owner.
CREATE OR REPLACE FUNCTION redrive._archive_check() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v record;
BEGIN
    SELECT c.oid, c.relkind, pg_get_userbyid(n.nspowner) AS schema_owner, o.rolsuper, pg_get_userbyid(c.relowner) AS table_owner INTO v
      FROM pg_namespace n JOIN pg_roles o ON o.oid = n.nspowner
      LEFT JOIN pg_class c ON c.relnamespace = n.oid AND format('%I.%I', n.nspname, c.relname) = redrive._archive_name()
     WHERE n.nspname = 'archive';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no schema archive' USING ERRCODE = 'RD003',
            HINT = format('a superuser runs first: CREATE SCHEMA archive AUTHORIZATION %I;', current_user);
    ELSIF v.schema_owner <> current_user AND NOT v.rolsuper THEN
        RAISE EXCEPTION 'the schema archive belongs to %, who could put another table in the archive''s place', v.schema_owner
            USING ERRCODE = 'RD003', HINT = format('ALTER SCHEMA archive OWNER TO %I;', current_user);
    ELSIF v.table_owner <> current_user OR v.relkind <> 'r' THEN
        RAISE EXCEPTION '% is not a plain table of %', redrive._archive_name(), current_user USING ERRCODE = 'RD003',
            HINT = format('ALTER TABLE %s OWNER TO %I;', redrive._archive_name(), current_user);
    END IF;
    RETURN v.oid IS NOT NULL;
END $$;

-- The statements that let a role look at the archive, as it may look at the contract table.
CREATE OR REPLACE FUNCTION redrive._archive_grants(p_role name) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT unnest(ARRAY[format('GRANT USAGE ON SCHEMA archive TO %I;', p_role),
                        format('GRANT SELECT (%s) ON %s TO %I;', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
                               redrive._archive_name(), p_role)])
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
     WHERE n.nspname = 'archive' AND format('%I.%I', n.nspname, c.relname) = redrive._archive_name()
       AND c.relowner = (SELECT nspowner FROM pg_namespace WHERE nspname = 'redrive')
       AND a.attname = ANY ('{id,event_id,event_type,source_table,source_id,event_payload,error_message,stack_trace,retry_count,max_retries,'
                            'status,created_at,last_retry_at,resolved_at,resolved_by,kafka_offset,kafka_partition,kafka_topic,correlation_id,'
                            'archived_at,archived_by,archived_job}')
    HAVING count(*) > 0;
$$;

-- Makes the archive, or gives it what the contract table has got since: columns, and wider types. Whoever may read this schema may read it.
CREATE OR REPLACE FUNCTION redrive._archive_prepare() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET client_min_messages = error AS $$
DECLARE
    v_name text := redrive._archive_name();
    v_statement text;
BEGIN
    IF NOT redrive._archive_check() THEN
        BEGIN
            EXECUTE format('CREATE TABLE %s (id bigint)', v_name);
            EXECUTE format('CREATE INDEX ON %s (id)', v_name);
        EXCEPTION WHEN duplicate_table OR unique_violation THEN
            PERFORM redrive._archive_check(); -- made a moment ago
        WHEN insufficient_privilege THEN
            RAISE EXCEPTION '% may not make tables in the schema archive', current_user USING ERRCODE = 'RD003',
                HINT = format('GRANT USAGE, CREATE ON SCHEMA archive TO %I;', current_user);
        END;
    END IF;
    FOR v_statement IN
        SELECT CASE WHEN h.attname IS NULL THEN format('ALTER TABLE %s ADD COLUMN %I %s', v_name, w.name, w.type)
                    ELSE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', v_name, w.name, w.type) END
          FROM (SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnum::integer AS place FROM pg_attribute a
                 WHERE a.attrelid = to_regclass(:'events') AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
                UNION ALL VALUES ('archived_at', 'timestamp with time zone', 10001), ('archived_by', 'name', 10002), ('archived_job', 'bigint', 10003)) w
          LEFT JOIN pg_attribute h ON h.attrelid = to_regclass(v_name) AND h.attname = w.name AND NOT h.attisdropped
         WHERE h.attname IS NULL OR format_type(h.atttypid, h.atttypmod) <> w.type ORDER BY w.place
    LOOP
        EXECUTE v_statement;
    END LOOP;
    FOR v_statement IN
        SELECT g.statement FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
         CROSS JOIN LATERAL redrive._archive_grants(r.rolname) AS g(statement)
         WHERE c.oid = 'redrive.schema_version'::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
    LOOP
        BEGIN
            EXECUTE v_statement;
        EXCEPTION WHEN insufficient_privilege THEN
            NULL; -- a superuser's schema: who lacks the right is told so
        END;
    END LOOP;
END $$;

-- Status and resolved_at of those of these events that are in the archive. Whoever counts needs no archive that is out of order: then none are.
CREATE OR REPLACE FUNCTION redrive._archived(p_ids bigint[]) RETURNS TABLE (dlq_id bigint, status text, resolved_at timestamp)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM redrive.archive_job j WHERE j.action = 'archive') AND redrive._archive_check() THEN
        RETURN QUERY EXECUTE format('SELECT DISTINCT ON (a.id) a.id::bigint, a.status::text, a.resolved_at::timestamp FROM %s a WHERE a.id = ANY ($1)'
                                    ' ORDER BY a.id, a.archived_at DESC', redrive._archive_name()) USING p_ids;
    END IF;
EXCEPTION WHEN SQLSTATE 'RD003' THEN
    RETURN;
END $$;

-- Does the owner have what the action takes? And would it take rows of other tables along?
CREATE OR REPLACE FUNCTION redrive._archive_may(p_action text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_right text := CASE WHEN p_action IN ('archive', 'delete') THEN 'DELETE' WHEN p_action = 'restore' THEN 'INSERT' END;
    v_other text;
BEGIN
    PERFORM redrive._mapped_refuse('nothing is archived or deleted');
    IF NOT has_table_privilege(to_regclass(:'events'), v_right) THEN
        RAISE EXCEPTION '% lacks % on %', current_user, v_right, :'events' USING ERRCODE = 'RD003',
            HINT = format('the table''s owner runs: GRANT %s ON %s TO %I;', v_right, :'events', current_user);
    END IF;
    SELECT c.conrelid::regclass INTO v_other FROM pg_constraint c
     WHERE c.contype = 'f' AND c.confrelid = to_regclass(:'events') AND c.confdeltype IN ('c', 'n', 'd') LIMIT 1;
    IF v_right = 'DELETE' AND FOUND THEN
        RAISE EXCEPTION 'what leaves % would change rows of % as well, which refer to it', :'events', v_other USING ERRCODE = 'RD003',
            HINT = 'archive those first, and make the reference ON DELETE RESTRICT';
    END IF;
END $$;

-- How many events an action would be about now, among p_ids; NULL: all. p_before: closed before; NULL: whenever.
CREATE OR REPLACE FUNCTION redrive.archive_count(p_action text, p_before timestamptz, p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_count bigint := 0;
BEGIN
    PERFORM redrive._mapped_refuse('nothing is archived or deleted');
    IF p_action IN ('archive', 'delete') OR to_regclass(redrive._archive_name()) IS NOT NULL AND redrive._archive_check() THEN
        EXECUTE format('SELECT count(*) FROM %s e WHERE %s AND ($2::bigint[] IS NULL OR e.id = ANY ($2))',
                       CASE WHEN p_action IN ('archive', 'delete') THEN to_regclass(:'events')::text ELSE redrive._archive_name() END,
                       redrive._archive_due())
           INTO v_count USING redrive._wall(p_before), p_ids;
    END IF;
    RETURN v_count;
END $$;

-- Writes down that a job has ended.
CREATE OR REPLACE FUNCTION redrive._archive_ended(v redrive.archive_job, p_state text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    UPDATE redrive.archive_job SET state = p_state WHERE no = v.no;
    PERFORM redrive._audit(CASE v.action WHEN 'delete' THEN 'purge' ELSE v.action END, NULL, v.moved + v.deleted, v.reason,
        format('job %s of %s %s: %s; %s moved, %s deleted, %s skipped', v.no, v.who, p_state, v.scope, v.moved, v.deleted, v.skipped));
END $$;

-- Begins a job and returns its number. p_chosen: what was confirmed.
CREATE OR REPLACE FUNCTION redrive.archive_begin(p_action text, p_before timestamptz, p_scope text, p_reason text, p_chosen bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_action IS NULL OR p_action NOT IN ('archive', 'restore') THEN
        RAISE EXCEPTION 'that is no job for the archive' USING ERRCODE = 'RD004';
    END IF;
    RETURN redrive._archive_begin(p_action, p_before, p_scope, p_reason, p_chosen);
END $$;

-- The same of a job that deletes for good: no later decision brings its events back.
CREATE OR REPLACE FUNCTION redrive.archive_purge(p_action text, p_before timestamptz, p_scope text, p_reason text, p_chosen bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF p_action IS NULL OR p_action NOT IN ('purge', 'delete') THEN
        RAISE EXCEPTION 'that is no job that deletes' USING ERRCODE = 'RD004';
    END IF;
    RETURN redrive._archive_begin(p_action, p_before, p_scope, p_reason, p_chosen);
END $$;

-- Jobs that nobody carries on any more are ended.
CREATE OR REPLACE FUNCTION redrive._archive_begin(p_action text, p_before timestamptz, p_scope text, p_reason text, p_chosen bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.archive_job;
BEGIN
    IF p_before IS NULL AND p_action <> 'restore' OR coalesce(p_scope, '') = '' OR p_chosen IS NULL OR p_before > clock_timestamp() THEN
        RAISE EXCEPTION 'that is no job for the archive' USING ERRCODE = 'RD004';
    END IF;
    PERFORM redrive._archive_may(p_action);
    PERFORM redrive._archive_prepare();
    FOR v IN SELECT * FROM redrive.archive_job j WHERE j.state = 'running' AND j.seen_at < clock_timestamp() - interval '1 minute'
              ORDER BY j.no FOR UPDATE SKIP LOCKED LOOP
        PERFORM redrive._archive_ended(v, 'interrupted');
    END LOOP;
    INSERT INTO redrive.archive_job (action, before, scope, reason, chosen) VALUES (p_action, p_before, p_scope, p_reason, p_chosen)
    RETURNING * INTO v;
    EXECUTE format('UPDATE redrive.archive_job j SET highest = (SELECT max(e.id)::bigint FROM %s e) WHERE j.no = $1', redrive._archive_source(v))
      USING v.no;
    PERFORM redrive._audit(CASE p_action WHEN 'delete' THEN 'purge' ELSE p_action END, NULL, 0, p_reason,
                           format('job %s begins: %s', v.no, p_scope));
    RETURN v.no;
END $$;

CREATE OR REPLACE FUNCTION redrive._archive_hold(p_job bigint) RETURNS redrive.archive_job
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.archive_job;
BEGIN
    SELECT * INTO v FROM redrive.archive_job j WHERE j.no = p_job AND j.state = 'running' AND j.who = session_user FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'job % of the archive does not run, or is somebody else''s', p_job USING ERRCODE = 'RD001';
    ELSIF NOT redrive._archive_check() THEN
        RAISE EXCEPTION 'the table % is gone', redrive._archive_name() USING ERRCODE = 'RD001';
    END IF;
    RETURN v;
END $$;

-- Where the job takes its events from.
CREATE OR REPLACE FUNCTION redrive._archive_source(v redrive.archive_job) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN v.action IN ('restore', 'purge') THEN redrive._archive_name() ELSE to_regclass(:'events')::text END;
$$;

-- Puts rows of the archive back. A row whose id or event id the table has again stays where it is. Returns how many went.
CREATE OR REPLACE FUNCTION redrive._archive_put_back(p_rows tid[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_columns text := redrive._archive_columns();
    v_back bigint[];
    v_count bigint;
BEGIN
    EXECUTE format('WITH back AS (INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s a WHERE a.ctid = ANY ($1)'
                   ' AND NOT EXISTS (SELECT FROM %1$s e WHERE e.id = a.id) ON CONFLICT DO NOTHING RETURNING id::bigint)'
                   ' SELECT array_agg(id) FROM back', to_regclass(:'events'), v_columns, v_columns, redrive._archive_name())
       INTO v_back USING p_rows;
    EXECUTE format('DELETE FROM %s a WHERE a.ctid = ANY ($1) AND a.id = ANY ($2)', redrive._archive_name()) USING p_rows, v_back;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- What is kept beside an event goes with its last row.
CREATE OR REPLACE FUNCTION redrive._archive_forget(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_gone bigint[];
BEGIN
    EXECUTE format('SELECT array_agg(w.id) FROM unnest($1) AS w (id) WHERE NOT EXISTS (SELECT FROM %s e WHERE e.id = w.id)'
                   ' AND NOT EXISTS (SELECT FROM %s a WHERE a.id = w.id)', to_regclass(:'events'), redrive._archive_name()) INTO v_gone USING p_ids;
    DELETE FROM redrive.revision r WHERE r.dlq_id = ANY (v_gone);
    DELETE FROM redrive.record r WHERE r.dlq_id = ANY (v_gone);
    DELETE FROM redrive.original o WHERE o.dlq_id = ANY (v_gone);
    DELETE FROM redrive.attempt a WHERE a.dlq_id = ANY (v_gone);
END $$;

-- Locks those rows of these events that the job may take: due, locked by nobody, in no live operation. Of rows with one id the last one that came.
CREATE OR REPLACE FUNCTION redrive._archive_lock(v redrive.archive_job, p_ids bigint[], OUT ids bigint[], OUT rows tid[])
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    EXECUTE format('SELECT array_agg(l.id), array_agg(l.row) FROM (SELECT e.id::bigint AS id, e.ctid AS row FROM %s e'
                   ' WHERE e.id = ANY ($2) AND %s ORDER BY e.id FOR UPDATE SKIP LOCKED) l',
                   redrive._archive_source(v), redrive._archive_due())
       INTO ids, rows USING redrive._wall(v.before), p_ids;
    IF v.action = 'restore' THEN -- an id that came twice: the earlier row is restored by another job
        EXECUTE format('SELECT array_agg(d.id), array_agg(d.ctid) FROM (SELECT DISTINCT ON (a.id) a.id::bigint AS id, a.ctid FROM %s a'
                       ' WHERE a.ctid = ANY ($1) ORDER BY a.id, a.archived_at DESC) d', redrive._archive_name()) INTO ids, rows USING rows;
    ELSIF v.action <> 'purge' AND redrive._has_live(0) THEN
        ids := redrive._without(ids, ARRAY(SELECT l.dlq_id FROM redrive.items_live(ids) l));
    END IF;
END $$;

-- Takes these events. Returns how many rows went, and where.
CREATE OR REPLACE FUNCTION redrive._archive_take(v redrive.archive_job, p_ids bigint[], OUT moved bigint, OUT deleted bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_columns text := redrive._archive_columns();
    l record;
BEGIN
    moved := 0;
    deleted := 0;
    SELECT * INTO l FROM redrive._archive_lock(v, p_ids);
    IF coalesce(cardinality(l.ids), 0) = 0 THEN
        RETURN;
    ELSIF v.action = 'restore' THEN
        moved := redrive._archive_put_back(l.rows);
    ELSIF v.action = 'archive' THEN
        EXECUTE format('WITH gone AS (DELETE FROM %s e WHERE e.id = ANY ($2) AND %s RETURNING %s)'
                       ' INSERT INTO %s (%s, archived_at, archived_by, archived_job) SELECT %s, clock_timestamp(), $3, $4 FROM gone',
                       to_regclass(:'events'), redrive._archive_due(), v_columns, redrive._archive_name(), v_columns, v_columns)
          USING redrive._wall(v.before), l.ids, v.who, v.no;
        GET DIAGNOSTICS moved = ROW_COUNT;
    ELSE
        EXECUTE format('DELETE FROM %s e WHERE e.id = ANY ($2) AND %s', redrive._archive_source(v), redrive._archive_due())
          USING redrive._wall(v.before), l.ids;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        PERFORM redrive._archive_forget(l.ids);
    END IF;
END $$;

-- A batch of the job: these events, all of which are due. Of what a loss of power takes back each row is where it was, so nobody waits for the disk.
CREATE OR REPLACE FUNCTION redrive._archive_batch(v redrive.archive_job, p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    t record;
    v_taken bigint;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT * INTO t FROM redrive._archive_take(v, p_ids);
    v_taken := t.moved + t.deleted;
    -- One stands for all: what was known of closed events is no longer true.
    IF v_taken > 0 THEN
        PERFORM redrive._rollup_note(p_ids[1:1]);
    END IF;
    UPDATE redrive.archive_job j
       SET moved = j.moved + t.moved, deleted = j.deleted + t.deleted,
           skipped = j.skipped + greatest(coalesce(cardinality(p_ids), 0) - v_taken, 0), seen_at = clock_timestamp()
     WHERE j.no = v.no;
    RETURN v_taken;
END $$;

-- Takes those of these events that are due. Returns how many went.
CREATE OR REPLACE FUNCTION redrive.archive_ids(p_job bigint, p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.archive_job := redrive._archive_hold(p_job);
    v_ids bigint[];
BEGIN
    EXECUTE format('SELECT array_agg(DISTINCT e.id::bigint) FROM %s e WHERE e.id = ANY ($2) AND %s', redrive._archive_source(v), redrive._archive_due())
       INTO v_ids USING redrive._wall(v.before), p_ids;
    RETURN redrive._archive_batch(v, v_ids);
END $$;

-- Takes what is due among the next p_rows rows by id. looked: rows; 0: that was all.
CREATE OR REPLACE FUNCTION redrive.archive_step(p_job bigint, p_rows bigint, OUT looked bigint, OUT taken bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.archive_job := redrive._archive_hold(p_job);
    v_last bigint;
    v_ids bigint[];
BEGIN
    EXECUTE format('SELECT count(*), max(w.id), array_agg(DISTINCT w.id) FILTER (WHERE w.is_due) FROM (SELECT e.id::bigint AS id, %s AS is_due'
                   ' FROM %s e WHERE e.id > $2 AND e.id <= $4 ORDER BY e.id LIMIT $3) w', redrive._archive_due(), redrive._archive_source(v))
       INTO looked, v_last, v_ids USING redrive._wall(v.before), v.position, least(greatest(p_rows, 1), 20000), v.highest;
    taken := redrive._archive_batch(v, v_ids);
    UPDATE redrive.archive_job j SET position = coalesce(v_last, j.position) WHERE j.no = p_job;
END $$;

-- Ends a job: 'done', or 'interrupted' by who began it.
CREATE OR REPLACE FUNCTION redrive.archive_end(p_job bigint, p_state text, OUT moved bigint, OUT deleted bigint, OUT skipped bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.archive_job := redrive._archive_hold(p_job);
BEGIN
    IF p_state IS NULL OR p_state NOT IN ('done', 'interrupted') THEN
        RAISE EXCEPTION 'a job ends as done or interrupted' USING ERRCODE = 'RD004';
    END IF;
    PERFORM redrive._archive_ended(v, p_state);
    moved := v.moved;
    deleted := v.deleted;
    skipped := v.skipped;
END $$;
