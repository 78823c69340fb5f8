-- Who may call what. The last file: it looks at all functions.

-- The statements that let a role use redrive: p_level 'viewer' (the screen, read-only) or 'operator' (decide, and work).
CREATE OR REPLACE FUNCTION redrive.grants(p_role name, p_level text DEFAULT 'operator') RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('GRANT USAGE ON SCHEMA redrive TO %I;', p_role)
    UNION ALL SELECT format('GRANT SELECT ON ALL TABLES IN SCHEMA redrive TO %I;', p_role)
    UNION ALL SELECT format('GRANT SELECT ON %s TO %I;', source_table, p_role) FROM redrive.install
    UNION ALL SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I;', p.oid::regprocedure, p_role)
                FROM pg_catalog.pg_proc p
               WHERE p.pronamespace = 'redrive'::regnamespace AND p_level = 'operator' AND p.prosecdef
                 AND p.proname !~ '^_' AND p.proname NOT IN ('adopt', 'is_copy');
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA redrive FROM PUBLIC;
GRANT EXECUTE ON FUNCTION redrive.is_copy(), redrive.same_json(bigint[], bytea[]), redrive.grants(name, text) TO PUBLIC;
