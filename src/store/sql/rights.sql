-- Rights to call functions. The last file: it looks at all functions.
--
-- Four levels. viewer: look. worker: carry out what others decided. operator: decide, and carry out as well, since a screen may start a worker.
-- admin: also what no machine can decide (chunks in doubt, suspended slots, copies of the database) and what no decision takes back (purge). No level writes to a table, here or
-- in the contract: everything goes through functions that run with the rights of the schema's owner and write down session_user.

---- functions

-- The level that a function is for. A new one is the operator's, unless it is named like a worker's or listed here.
CREATE OR REPLACE FUNCTION redrive.level_of(p_function name) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN p_function IN ('history_topics', 'history_since', 'history_unknown', 'history_sent') THEN 'worker' -- they look
                WHEN p_function ~ '^history_' OR p_function IN ('chunk_decide', 'slot_renew', 'archive_purge') THEN 'admin'
                WHEN p_function IN ('policy_know', 'policy_claim', 'policy_finish', 'policy_halt', 'policy_begin', 'policy_busy',
                                     'policy_archive', 'archive_step', 'archive_end') THEN 'worker' -- what was switched on
                WHEN p_function IN ('operation_plan', 'operation_recipe', 'operation_then_reprocess', 'operation_freeze', 'operation_confirm')
                THEN 'worker' -- of what the same login began, which for a worker is a policy's run
                WHEN p_function IN ('changed_since', 'mapped_look') THEN 'viewer' -- granted to PUBLIC
                WHEN p_function ~ '^(chunk|cluster|ingest|items|returned|rollup|slot|text|trend|turn|watch|work|worker)_' THEN 'worker'
                ELSE 'operator' END;
$$;

-- The statements that give a role the functions of some levels, and everything to look at but fences (slots.sql). Of the contract table: its own columns, and no
-- others that it may have besides.
CREATE OR REPLACE FUNCTION redrive._grants(p_role name, p_levels text[]) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH contract AS (
        SELECT n.nspname, c.oid, i.source_table FROM redrive.install i, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE i.source_table IN (format('%s.%s', n.nspname, c.relname), format('%I.%I', n.nspname, c.relname)))
    SELECT format('GRANT USAGE ON SCHEMA redrive TO %I;', p_role)
    UNION ALL SELECT * FROM (
              SELECT format('GRANT SELECT%s ON redrive.%I TO %I;',
                            CASE WHEN bool_or(a.attname = 'fence')
                                 THEN format(' (%s)', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE a.attname <> 'fence'))
                                 ELSE '' END, c.relname, p_role)
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
               WHERE c.relnamespace = 'redrive'::regnamespace AND c.relkind IN ('r', 'v') GROUP BY c.relname ORDER BY c.relname) AS tables
    UNION ALL SELECT format('GRANT USAGE ON SCHEMA %I TO %I;', nspname, p_role) FROM contract WHERE nspname <> 'public'
    UNION ALL SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I;', p.oid::regprocedure, p_role) FROM pg_proc p
               WHERE p.pronamespace = 'redrive'::regnamespace AND p.proname = '_mapped_source'
    UNION ALL SELECT format('GRANT SELECT (%s) ON %s TO %I;', string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), t.source_table, p_role)
                FROM contract t JOIN pg_attribute a ON a.attrelid = t.oid AND NOT a.attisdropped LEFT JOIN redrive.mapping m ON true
               WHERE CASE WHEN m.one THEN a.attname = ANY (m.columns) ELSE a.attname = ANY ('{id,event_id,event_type,source_table,source_id,event_payload,error_message,stack_trace,retry_count,'
                                      'max_retries,status,created_at,last_retry_at,resolved_at,resolved_by,kafka_offset,kafka_partition,'
                                      'kafka_topic,correlation_id}') END
               GROUP BY t.source_table
    UNION ALL SELECT * FROM redrive._archive_grants(p_role)
    UNION ALL SELECT * FROM (
              SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I;', p.oid::regprocedure, p_role) FROM pg_proc p
               WHERE p.pronamespace = 'redrive'::regnamespace AND p.prosecdef AND p.proname !~ '^_' AND p.proname NOT IN ('is_copy', 'grants')
                 AND (redrive.level_of(p.proname) = ANY (p_levels)
                      -- an operator who is no worker freezes as well, and knows policies
                      OR 'operator' = ANY (p_levels) AND p.proname ~ '^(operation|policy)_') ORDER BY p.proname) AS functions;
$$;

-- The statements that let a role use redrive up to a level: for a login or group of your own.
CREATE OR REPLACE FUNCTION redrive.grants(p_role name, p_level text DEFAULT 'operator') RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE v_levels text[] := CASE p_level WHEN 'viewer' THEN '{}'
                                        WHEN 'worker' THEN '{worker}'
                                        WHEN 'operator' THEN '{worker,operator}'
                                        WHEN 'admin' THEN '{worker,operator,admin}' END::text[];
BEGIN
    IF v_levels IS NULL THEN
        RAISE EXCEPTION 'there is no level %: viewer, worker, operator or admin', p_level USING ERRCODE = 'RD004';
    END IF;
    RETURN QUERY SELECT * FROM redrive._grants(p_role, v_levels);
END $$;

-- Makes the missing ones of the group roles redrive_viewer, redrive_worker, redrive_operator and redrive_admin. Roles belong to the whole server;
-- what is granted to them is this database's. An operator is a member of worker. Where a service does all the sending, REVOKE
-- redrive_worker FROM redrive_operator holds, also through later migrations.
CREATE OR REPLACE FUNCTION redrive._roles_make() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v text[];
    v_made text[] := '{}';
BEGIN
    FOREACH v SLICE 1 IN ARRAY '{{viewer,NULL},{worker,NULL},{operator,worker},{admin,operator}}'::text[] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = 'redrive_' || v[1]);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', 'redrive_' || v[1]);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            CONTINUE; -- made a moment ago, by a migration of this or another database
        END;
        IF v[2] IS NOT NULL THEN
            EXECUTE format('GRANT %I TO %I', 'redrive_' || v[2], 'redrive_' || v[1]);
        END IF;
        v_made := v_made || ('redrive_' || v[1]);
    END LOOP;
    IF v_made <> '{}' THEN
        PERFORM redrive._audit('migrate', NULL, 0, NULL, 'roles made: ' || array_to_string(v_made, ', '));
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE EXCEPTION '% may not create roles; a superuser runs first: CREATE ROLE redrive_viewer NOLOGIN; CREATE ROLE redrive_worker NOLOGIN;'
        ' CREATE ROLE redrive_operator NOLOGIN IN ROLE redrive_worker; CREATE ROLE redrive_admin NOLOGIN IN ROLE redrive_operator;', session_user
        USING ERRCODE = 'RD003';
END $$;

-- Grants each group role what its level needs, new functions included. p_all: every role that exists; otherwise only roles that have rights in
-- this database already, because the others may serve another database. Returns the statements that had no effect because somebody else owns
-- the contract table: the owner has to run them.
CREATE OR REPLACE FUNCTION redrive._roles_grant(p_all boolean) RETURNS SETOF text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = error AS $$
DECLARE
    v record;
    v_may boolean;
BEGIN
    FOR v IN SELECT r.rolname, g.statement FROM unnest('{viewer,worker,operator,admin}'::text[]) AS l(level)
               JOIN pg_roles r ON r.rolname = 'redrive_' || l.level AND (p_all OR has_schema_privilege(r.oid, 'redrive', 'USAGE'))
              CROSS JOIN LATERAL redrive._grants(r.rolname, ARRAY[l.level]) AS g(statement)
    LOOP
        BEGIN
            EXECUTE v.statement;
            -- PostgreSQL only warns when the grantor lacks the grant option.
            v_may := v.statement !~ '^GRANT SELECT \(' OR v.statement LIKE '%) ON redrive.%'
                     OR has_column_privilege(v.rolname, to_regclass((SELECT source_table FROM redrive.install)),
                                             coalesce((SELECT m.columns[1] FROM redrive.mapping m), 'event_payload'), 'SELECT');
        EXCEPTION WHEN insufficient_privilege THEN
            v_may := false;
        END;
        IF NOT v_may THEN
            RETURN NEXT v.statement;
        END IF;
    END LOOP;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA redrive FROM PUBLIC;
GRANT EXECUTE ON FUNCTION redrive.is_copy(), redrive.same_json(bigint[], bytea[]), redrive.payload_text(jsonb), redrive.level_of(name),
    redrive.grants(name, text), redrive.changed_since(xid, bigint, bigint), redrive.mapped_look(), redrive.mapped_json(text), redrive.has_sent(), redrive.items_live(bigint[]), redrive.items_sent(text[], bigint),
    redrive.items_of(bigint), redrive.taken_of(bigint), redrive.closed_sums(timestamp), redrive._closed_stamp(), redrive._rollup_counts_changes(), redrive._batches_with_events(bigint[]), redrive._batches_with_keys(integer[], bigint),
    redrive._batches_with_recent_keys(integer[], bigint) TO PUBLIC;
