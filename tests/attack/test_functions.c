// Every role × every function and table of the catalog, of two tables of dead letters × hostile, forged and
// foreign arguments.
//
// Before it there is a world in which others are at work: operations in each state, a chunk in flight, chunks
// in doubt, counts that somebody maintains. Guards are texts that stand for what is in it; each says from
// which level on it may change at all. All calls of one function by one role run in one transaction, each
// within a savepoint; then the guards are compared, and the transaction is rolled back, so that the next
// function finds the same world.
#include "attack_world.h"
#include "base/strbuf.h"

// --- arguments ---

// Of each type: what is missing, too large, malformed or somebody else's. `@` stands for one of the world's
// own.
static const struct hostile {
    const char *type;
    const char *values[24];
} hostiles[] = {
    {"bigint",
     {"NULL", "0", "-1", "1", "2", "3", "4", "5", "6", "7", "8", "9", "9223372036854775807",
      "-9223372036854775808", "60", "@fence"}},
    {"integer", {"NULL", "0", "-1", "1", "100", "1048577", "2147483647", "-2147483648", "@slot", "@session"}},
    {"smallint", {"NULL", "0", "-1", "32767"}},
    {"boolean", {"NULL", "true", "false"}},
    {"real", {"NULL", "0", "-1", "101", "'NaN'", "'Infinity'"}},
    {"double precision", {"NULL", "0", "-1", "1e308", "'NaN'", "'-Infinity'"}},
    {"text",
     {"NULL",
      "''",
      "'kafka-1'",
      "'host/1/1'",
      "'m'",
      "'discard'",
      "'restore'",
      "'reprocess'",
      "'published'",
      "'again'",
      "'committed'",
      "'in doubt'",
      "'cancel'",
      "'approve'",
      "'resume'",
      "'steps'",
      "'halt'",
      "'redrive.marker'",
      "'fix'",
      "$$'; DROP TABLE redrive.audit; --$$",
      "E'\\x1b[2J\\x07%s%n\\\\'",
      "repeat('x', 100000)"}},
    {"name",
     {"NULL", "''", "'redrive_admin'", "'x\"; ALTER ROLE postgres; --'", "'chunk_decide'", "'_audit'"}},
    {"uuid",
     {"NULL", "'00000000-0000-0000-0000-000000000000'", "@chunk", "@doubt", "@person", "@key",
      "gen_random_uuid()"}},
    {"bytea", {"NULL", "''", "'\\x00'", "'{}'", "decode(repeat('ff', 5000), 'hex')"}},
    {"xid", {"NULL", "'0'", "'3'", "'4294967295'"}},
    {"bigint[]",
     {"NULL", "'{}'", "'{NULL}'", "'{1,2,3}'", "'{13,14}'", "'{50,51}'",
      "'{-9223372036854775808,9223372036854775807}'", "'{{1,2},{3,4}}'",
      "ARRAY(SELECT generate_series(1, 60))", "'{5,5,5}'", "'[-5:-3]={1,2,3}'"}},
    {"integer[]",
     {"NULL", "'{}'", "'{NULL}'", "'{1}'", "'{0}'", "'{-1,2147483647}'", "'{{1},{2}}'",
      "array_fill(1, ARRAY[60])"}},
    {"text[]", {"NULL", "'{}'", "'{NULL}'", "'{\"\"}'", "'{a,b,c}'", "array_fill('x'::text, ARRAY[60])"}},
    {"bytea[]", {"NULL", "'{}'", "'{NULL}'", "'{\"\\\\x7b7d\"}'", "'{\"\\\\xff\",\"\\\\x00\"}'"}},
    {"boolean[]", {"NULL", "'{}'", "'{NULL}'", "'{t}'", "'{{f},{t}}'"}},
    {"uuid[]", {"NULL", "'{}'", "'{NULL}'", "'{00000000-0000-0000-0000-000000000000}'"}},
    {"timestamp with time zone[]", {"NULL", "'{}'", "'{NULL}'", "'{infinity,-infinity}'"}},
    {"redrive.header_names[]", {"NULL", "'{}'", "'{NULL}'", "ARRAY['{a}'::redrive.header_names]"}},
    {"redrive.header_values[]", {"NULL", "'{}'", "'{NULL}'", "ARRAY['{a}'::redrive.header_values]"}},
    {"xid[]", {"NULL", "'{}'", "'{NULL}'", "'{0}'", "'{3,4,5}'"}},
    {"timestamp with time zone", {"NULL", "'infinity'", "'-infinity'", "'2000-01-01'"}},
    {"timestamp without time zone", {"NULL", "'infinity'", "'-infinity'", "'2000-01-01'"}},
    {"interval", {"NULL", "'0'", "'-1 day'", "'1000000 years'"}},
    {"jsonb", {"NULL", "'{}'", "'null'", "'[1e131071]'"}},
};

// What a forger would give, who knows everything: by the parameter's name.
static const struct {
    const char *name, *value;
} forged[] = {
    {"p_no", "5"},
    {"p_operation", "1"},
    {"p_discard", "7"},
    {"p_id", "41"},
    {"p_ids", "'{50,51}'"},
    {"p_cluster", "'kafka-1'"},
    {"p_slot", "@slot"},
    {"p_fence", "@fence"},
    {"p_chunk", "@chunk"},
    {"p_worker", "'host/1/1'"},
    {"p_name", "'host/1/1'"},
    {"p_maintainer", "'m'"},
    {"p_key", "@key"},
    {"p_action", "'discard'"},
    {"p_steer", "'cancel'"},
    {"p_what", "'steps'"},
    {"p_outcome", "'committed'"},
    {"p_verdict", "'published'"},
    {"p_reason", "'forged'"},
    {"p_evidence", "'forged'"},
    {"p_session", "@session"},
    {"p_mine", "'{}'"},
    {"p_skip", "'{}'"},
    {"p_limit", "100"},
    {"p_max_bytes", "1000000"},
    {"p_rate", "-1"},
    {"p_publishes", "true"},
    {"p_suspended", "false"},
    {"p_version", "'4'"},
    {"p_published", "'{1,2,3}'"},
};

static const char *
value_of_world(const char *value)
{
    if (!value || *value != '@')
        return value ? value : "NULL";
    for (size_t i = 0; i < ATTACK_NAMES; i++)
        if (strcmp(attack.names[i].name, value + 1) == 0)
            return attack.names[i].value;
    fail_msg("nothing of the world is called %s", value);
    return "NULL";
}

static const struct hostile *
hostile_of(const char *type)
{
    static const struct hostile unknown = {"", {"NULL"}};
    for (size_t i = 0; i < sizeof hostiles / sizeof *hostiles; i++)
        if (strcmp(hostiles[i].type, type) == 0)
            return &hostiles[i];
    return &unknown;
}

static size_t
count_of(const struct hostile *hostile)
{
    size_t count = 0;
    while (count < 24 && hostile->values[count])
        count++;
    return count;
}

// --- functions ---

enum { MOST_ARGS = 40, MOST_FUNCTIONS = 1000, RANDOM_CALLS = 16 };
static struct function {
    char name[100];       // qualified
    char signature[1200]; // as regprocedure
    char schema[80];
    int args;
    char types[MOST_ARGS][40], names[MOST_ARGS][40];
} functions[MOST_FUNCTIONS];
static size_t function_count;

static void
split(const char *text, char out[MOST_ARGS][40], int *count)
{
    for (*count = 0; *text && *count < MOST_ARGS; ++*count) {
        size_t len = strcspn(text, "|");
        snprintf(out[*count], 40, "%.*s", (int)len, text);
        text += len + (text[len] == '|');
    }
}

static void
read_functions(void)
{
    PGresult *r = PQexec(
        actors.world.admin,
        "SELECT format('%s.%I', p.pronamespace::regnamespace, p.proname), p.oid::regprocedure,"
        " (SELECT string_agg(format_type(t.oid, NULL), '|' ORDER BY t.n) FROM unnest(p.proargtypes) WITH "
        "ORDINALITY t (oid, n)),"
        " (SELECT string_agg(coalesce(nullif(a.name, ''), '?'), '|' ORDER BY a.n) FROM unnest(p.proargnames,"
        "   p.proargmodes) WITH ORDINALITY a (name, mode, n) WHERE coalesce(a.mode, 'i') IN ('i', 'b', 'v')),"
        " p.pronamespace::regnamespace"
        " FROM pg_proc p WHERE p.pronamespace IN ('redrive'::regnamespace, '" ATTACK_FURTHER_SCHEMA
        "'::regnamespace) AND p.prorettype <> "
        "'trigger'::regtype ORDER BY 2");
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    function_count = (size_t)PQntuples(r);
    assert_in_range(function_count, 100, MOST_FUNCTIONS);
    for (int i = 0; i < PQntuples(r); i++) {
        struct function *f = &functions[i];
        int names;
        snprintf(f->name, sizeof f->name, "%s", PQgetvalue(r, i, 0));
        snprintf(f->signature, sizeof f->signature, "%s", PQgetvalue(r, i, 1));
        snprintf(f->schema, sizeof f->schema, "%s", PQgetvalue(r, i, 4));
        split(PQgetvalue(r, i, 2), f->types, &f->args);
        split(PQgetvalue(r, i, 3), f->names, &names);
    }
    PQclear(r);
}

// Parameters of one name may have different types: a number is not for a uuid.
static bool
fits(const char *value, const char *type)
{
    bool is_number = (value[0] >= '0' && value[0] <= '9') || value[0] == '-';
    return !is_number || strcmp(type, "bigint") == 0 || strcmp(type, "integer") == 0;
}

static const char *
forged_value(const struct function *function, int arg)
{
    const struct hostile *hostile = hostile_of(function->types[arg]);
    for (size_t i = 0; i < sizeof forged / sizeof *forged && count_of(hostile) > 1; i++)
        if (strcmp(forged[i].name, function->names[arg]) == 0 && fits(forged[i].value, function->types[arg]))
            return forged[i].value;
    return hostile->values[count_of(hostile) > 1 ? 1 : 0];
}

static void
call_text(const struct function *function, const char *const *values, struct strbuf *sql)
{
    strbuf_reset(sql);
    strbuf_printf(sql, "SELECT * FROM %s(", function->name);
    for (int i = 0; i < function->args; i++)
        strbuf_printf(sql, "%s%s::%s", i ? ", " : "", value_of_world(values[i]), function->types[i]);
    strbuf_add_text(sql, ")");
}

// --- calls ---

static uint64_t dice; // the same calls in each run

static size_t
roll(size_t sides)
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(dice >> 33) % sides;
}

static void
call(const struct function *function, const char *const *values, bool may)
{
    struct strbuf sql = {0};
    call_text(function, values, &sql);
    attack_try(strbuf_text(&sql), may);
    strbuf_release(&sql);
}

static void
call_with_all(const struct function *function, bool may)
{
    const char *base[MOST_ARGS] = {0}, *values[MOST_ARGS] = {0};
    for (int i = 0; i < function->args; i++)
        base[i] = forged_value(function, i);
    call(function, base, may);
    for (int i = 0; i < function->args && may; i++) {
        const struct hostile *hostile = hostile_of(function->types[i]);
        memcpy(values, base, sizeof values);
        for (size_t v = 0; v < count_of(hostile); v++) {
            values[i] = hostile->values[v];
            call(function, values, may);
        }
    }
    for (int n = 0; n < RANDOM_CALLS && function->args && may; n++) {
        for (int i = 0; i < function->args; i++) {
            const struct hostile *hostile = hostile_of(function->types[i]);
            values[i] = roll(3) ? hostile->values[roll(count_of(hostile))] : base[i];
        }
        call(function, values, may);
    }
}

static bool
may_call(const char *login, const struct function *function)
{
    char sql[1500];
    snprintf(sql, sizeof sql,
             "SELECT (has_schema_privilege('%s', '%s', 'USAGE') AND has_function_privilege('%s', '%s', "
             "'EXECUTE'))::int",
             login, function->schema, login, function->signature);
    return test_number(actors.world.admin, sql) == 1;
}

static void
calls_every_function(void **state)
{
    const struct attacker *attacker = *state;
    long unwanted = attack.unwanted;
    dice = 1;
    for (size_t i = 0; i < function_count; i++) {
        attack.is_further = strcmp(functions[i].schema, ATTACK_FURTHER_SCHEMA) == 0;
        attack_begin(attacker);
        call_with_all(&functions[i], may_call(attacker->login, &functions[i]));
        attack_end(functions[i].signature);
    }
    assert_int_equal(attack.unwanted - unwanted, 0);
}

// --- tables ---

// %s: the table. None may do any of these to any.
static const char *const deeds[] = {
    "INSERT INTO %s DEFAULT VALUES",
    "DELETE FROM %s",
    "TRUNCATE %s",
    "SELECT FROM %s FOR KEY SHARE",
    "SELECT FROM %s FOR UPDATE",
    "LOCK TABLE %s IN ROW SHARE MODE",
    "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE",
    "ALTER TABLE %s ADD COLUMN mine integer",
    "ALTER TABLE %s DISABLE TRIGGER ALL",
    "ALTER TABLE %s OWNER TO CURRENT_USER",
    "DROP TABLE %s CASCADE",
    "CREATE INDEX ON %s ((1))",
    "CREATE TRIGGER t BEFORE UPDATE ON %s EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE RULE mine AS ON UPDATE TO %s DO INSTEAD NOTHING",
    "GRANT ALL ON %s TO CURRENT_USER",
    "COMMENT ON TABLE %s IS 'mine'",
    "ANALYZE (SKIP_LOCKED) %s",
};

static void
touches_every_table(void **state)
{
    const struct attacker *attacker = *state;
    long unwanted = attack.unwanted;
    PGresult *r =
        PQexec(actors.world.admin,
               "SELECT c.oid::regclass, (SELECT quote_ident(a.attname) FROM pg_attribute a WHERE "
               "a.attrelid = c.oid AND a.attnum > 0 AND a.attidentity = '' ORDER BY a.attnum LIMIT 1) FROM "
               "pg_class c WHERE c.relkind IN ('r', 'v', 'S') "
               "AND (c.relnamespace IN ('redrive'::regnamespace, '" ATTACK_FURTHER_SCHEMA
               "'::regnamespace) OR c.oid IN ('public.dlq_events'::regclass, '" ATTACK_FURTHER_TABLE
               "'::regclass)) ORDER BY 1");
    for (int i = 0; i < PQntuples(r); i++) {
        const char *table = PQgetvalue(r, i, 0), *column = PQgetvalue(r, i, 1);
        char sql[400];
        attack.is_further = bytes_starts(bytes_of(table), ATTACK_FURTHER_SCHEMA ".") ||
                            strcmp(table, strchr(ATTACK_FURTHER_TABLE, '.') + 1) == 0;
        attack_begin(attacker);
        for (size_t d = 0; d < sizeof deeds / sizeof *deeds; d++) {
            size_t head = (size_t)(strstr(deeds[d], "%s") - deeds[d]);
            snprintf(sql, sizeof sql, "%.*s%s%s", (int)head, deeds[d], table, deeds[d] + head + 2);
            attack_try(sql, strstr(deeds[d], "ANALYZE") || strstr(deeds[d], "GRANT")); // these only warn
        }
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = %s", table, column, column);
        attack_try(sql, false);
        snprintf(sql, sizeof sql, "SELECT setval('%s', 1)", table);
        attack_try(sql, false);
        attack_end(table);
    }
    PQclear(r);
    assert_int_equal(attack.unwanted - unwanted, 0);
}

// A new table is not left unguarded.
static void
every_table_has_a_guard(void **state)
{
    (void)state;
    PGresult *r =
        PQexec(actors.world.admin, "SELECT c.oid::regclass FROM pg_class c WHERE c.relkind = 'r' AND "
                                   "c.relnamespace = 'redrive'::regnamespace");
    for (int i = 0; i < PQntuples(r); i++)
        if (!attack_is_guarded(PQgetvalue(r, i, 0)))
            fail_msg("%s is in no guard of tests/attack/attack_world.c", PQgetvalue(r, i, 0));
    PQclear(r);
}

static int
begin(void **state)
{
    attack_make(state);
    read_functions();
    return 0;
}

static int
end(void **state)
{
    printf("# figure: %ld attempts, %ld were refused, %ld unwanted effects\n", attack.attempts,
           attack.refused, attack.unwanted);
    return attack_unmake(state);
}

int
main(void)
{
    enum { ROLES = ATTACK_ROLES };
    static struct CMUnitTest tests[1 + 2 * ROLES];
    static char names[2 * ROLES][80];
    tests[0] = (struct CMUnitTest)cmocka_unit_test(every_table_has_a_guard);
    for (size_t i = 0; i < ROLES; i++) {
        snprintf(names[2 * i], sizeof names[0], "%s_calls_every_function", attack_levels[i]);
        snprintf(names[2 * i + 1], sizeof names[0], "%s_touches_every_table", attack_levels[i]);
        tests[1 + 2 * i] = (struct CMUnitTest){
            .name = names[2 * i], .test_func = calls_every_function, .initial_state = &attack.attackers[i]};
        tests[2 + 2 * i] = (struct CMUnitTest){.name = names[2 * i + 1],
                                               .test_func = touches_every_table,
                                               .initial_state = &attack.attackers[i]};
    }
    return cmocka_run_group_tests_name("functions", tests, begin, end);
}
