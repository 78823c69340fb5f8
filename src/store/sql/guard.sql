-- The first step of every migration: whose schema is it, and who would get rights by it?
--
-- Functions of the schema run with the rights of its owner, for everybody who calls them. So nothing is built on what somebody else put there, and
-- the owner has no rights that the table's owner could come by: a trigger of the table runs with the rights of whoever changes it.
--
-- The owner is the one who migrates, or the role that the setting redrive.owner names; whoever owns the schema may give it to that role. Ends with
-- the transaction as the owner, and with a lock on the schema that only its owner can take: two migrations at once take turns.

-- Who owns it.
DO $$
DECLARE
    v_me name := current_user;
    v_owner name := coalesce(nullif(current_setting('redrive.owner', true), ''), current_user);
    v_table regclass := to_regclass(:'events');
    v_table_owner name := (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = v_table);
    v_schema_owner name;
    v_is_mapped boolean := current_setting('redrive.mapped', true) = 'yes'
        OR EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'redrive' AND c.relname = 'mapped');
    -- Of another program's table (mapping.sql) redrive only reads. REFERENCES, which nobody has by chance, tells a superuser whom the owner trusts.
    v_rights text := CASE WHEN v_is_mapped THEN 'SELECT, REFERENCES' ELSE 'SELECT, INSERT, UPDATE, DELETE' END;
BEGIN
    IF (SELECT o.rolsuper AND NOT t.rolsuper FROM pg_roles o, pg_roles t WHERE o.rolname = v_owner AND t.rolname = v_table_owner) THEN
        RAISE EXCEPTION '% is a superuser, and a trigger on % would give such rights to its owner, %', v_owner, v_table, v_table_owner
            USING ERRCODE = 'RD003', HINT = 'redrive migrate --owner redrive_owner makes a role without login that owns the schema redrive';
    END IF;
    IF v_owner <> v_me THEN
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = v_owner) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', v_owner);
            END IF;
            IF NOT pg_has_role(v_me, v_owner, 'MEMBER') THEN
                EXECUTE format('GRANT %I TO %I', v_owner, v_me);
            END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE EXCEPTION '% may not become %', v_me, v_owner USING ERRCODE = 'RD003',
                HINT = format('a superuser runs first: CREATE ROLE %I NOLOGIN; GRANT %I TO %I;', v_owner, v_owner, v_me);
        END;
        BEGIN -- what is missing afterwards, redrive doctor names
            EXECUTE (SELECT format('GRANT USAGE ON SCHEMA %I TO %I; GRANT %s ON %s TO %I', n.nspname, v_owner, v_rights, v_table, v_owner)
                       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = v_table);
            EXECUTE (SELECT coalesce(string_agg(format('GRANT USAGE ON SEQUENCE %s TO %I', d.refobjid::regclass, v_owner), '; '), 'SELECT')
                       FROM pg_attrdef f JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid
                       JOIN pg_class s ON d.refclassid = 'pg_class'::regclass AND s.oid = d.refobjid AND s.relkind = 'S'
                      WHERE f.adrelid = v_table AND NOT v_is_mapped);
        EXCEPTION WHEN insufficient_privilege OR null_value_not_allowed THEN
            NULL;
        END;
    END IF;

    LOOP
        SELECT pg_get_userbyid(n.nspowner) INTO v_schema_owner FROM pg_namespace n WHERE n.nspname = 'redrive';
        EXIT WHEN FOUND;
        BEGIN
            EXECUTE format('CREATE SCHEMA redrive AUTHORIZATION %I', v_owner);
        EXCEPTION WHEN duplicate_schema OR unique_violation THEN
            NULL; -- somebody made it a moment ago: whose is it?
        END;
    END LOOP;
    IF v_schema_owner NOT IN (v_owner, v_me) THEN
        RAISE EXCEPTION 'the schema redrive belongs to %, not to %, and what its owner does in it runs with the rights of others',
            v_schema_owner, v_owner USING ERRCODE = 'RD003', HINT = format(
            'where redrive was installed with that owner: --owner %s; where nobody knows it: DROP SCHEMA redrive CASCADE', v_schema_owner);
    END IF;
END $$;

-- What it holds.
DO $$
DECLARE
    v_owner name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'redrive');
    v_what text;
BEGIN
    SELECT format('%s of %s', pg_describe_object(d.classid, d.objid, d.objsubid), coalesce(pg_get_userbyid(s.refobjid), '?')) INTO v_what
      FROM pg_depend d
      LEFT JOIN pg_shdepend s ON s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND s.classid = d.classid
                             AND s.objid = d.objid AND s.objsubid = 0 AND s.deptype = 'o' AND s.refclassid = 'pg_authid'::regclass
     WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = 'redrive'::regnamespace
       -- The role that initdb made owns without a note of it, and has the oid 10.
       AND (coalesce(s.refobjid, 10) <> (SELECT r.oid FROM pg_roles r WHERE r.rolname = v_owner)
            OR to_regclass('redrive.schema_version') IS NULL)
     ORDER BY 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the schema redrive holds what redrive did not make: %', v_what USING ERRCODE = 'RD003',
            HINT = 'look at it, and drop it';
    END IF;
    SELECT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END INTO v_what
      FROM pg_namespace n, aclexplode(n.nspacl) a
     WHERE n.nspname = 'redrive' AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% may create functions in the schema redrive', v_what USING ERRCODE = 'RD003',
            HINT = format('REVOKE CREATE ON SCHEMA redrive FROM %s;', v_what);
    END IF;
END $$;

-- Becomes the owner, and gives the schema to another one before that, if that was asked for.
DO $$
DECLARE
    v_owner name := coalesce(nullif(current_setting('redrive.owner', true), ''), current_user);
    v_statement text;
BEGIN
    IF to_regnamespace('archive') IS NULL THEN -- for archive.sql, which says what is missing if this may not be
        BEGIN
            EXECUTE format('CREATE SCHEMA archive AUTHORIZATION %I', v_owner);
        EXCEPTION WHEN insufficient_privilege OR duplicate_schema OR unique_violation THEN
            NULL;
        END;
    END IF;
    IF v_owner <> (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'redrive') THEN
        FOR v_statement IN
            SELECT format('ALTER SCHEMA redrive OWNER TO %I', v_owner)
            UNION ALL
            SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, v_owner)
              FROM pg_class c WHERE c.relnamespace = 'redrive'::regnamespace AND c.relkind IN ('r', 'v')
            UNION ALL
            SELECT format('ALTER SEQUENCE %s OWNER TO %I', c.oid::regclass, v_owner) -- those of columns go with their tables
              FROM pg_class c WHERE c.relnamespace = 'redrive'::regnamespace AND c.relkind = 'S'
               AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i'))
            UNION ALL
            SELECT format('ALTER DOMAIN %s OWNER TO %I', t.oid::regtype, v_owner)
              FROM pg_type t WHERE t.typnamespace = 'redrive'::regnamespace AND t.typtype = 'd'
            UNION ALL
            SELECT format('ALTER ROUTINE %s OWNER TO %I', p.oid::regprocedure, v_owner)
              FROM pg_proc p WHERE p.pronamespace = 'redrive'::regnamespace
            UNION ALL
            SELECT format('ALTER SCHEMA archive OWNER TO %I', v_owner)
              FROM pg_namespace a, pg_namespace n WHERE a.nspname = 'archive' AND n.nspname = 'redrive' AND a.nspowner = n.nspowner
            UNION ALL
            SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, v_owner)
              FROM pg_class c, pg_namespace n WHERE c.relnamespace = to_regnamespace('archive') AND c.relkind = 'r' AND n.nspname = 'redrive'
               AND c.relowner = n.nspowner AND c.relname ~ '^redrive|_archive$'
        LOOP
            EXECUTE v_statement;
        END LOOP;
    END IF;
    IF v_owner <> current_user THEN
        PERFORM set_config('role', v_owner, true);
    END IF;
    COMMENT ON SCHEMA redrive IS 'redrive: what became of dead letters; made and upgraded by redrive migrate';
END $$;
