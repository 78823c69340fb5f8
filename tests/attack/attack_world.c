#include "attack_world.h"

#include "base/strbuf.h"
#include "store/rollup/rollup.h"

const char *const attack_levels[ATTACK_ROLES] = {"nobody", "viewer", "worker", "operator", "admin"};

struct attack attack = {
    .names = {{.name = "slot"},
              {.name = "fence"},
              {.name = "chunk"},
              {.name = "doubt"},
              {.name = "person"},
              {.name = "key"},
              {.name = "session"}},
};

// --- guards ---

enum { NEVER = ATTACK_ROLES };
#define OURS                                                                                                 \
    "'redrive'::regnamespace, '" ATTACK_FURTHER_SCHEMA                                                       \
    "'::regnamespace, 'public'::regnamespace, 'archive'::regnamespace"

// A text that stands for some rows, and the least level of those who may change them. attack.who: the
// attacker; attack.audit: the last row of the audit before.
static const struct guard {
    const char *what;
    int least;
    const char *sql;
} guards[] = {
    {"the catalog", NEVER,
     "SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM ("
     " SELECT concat('f', p.oid::regprocedure, p.proowner, p.proacl, p.proconfig, p.prosecdef, p.prosrc) AS "
     "line"
     "   FROM pg_proc p WHERE p.pronamespace IN (" OURS ")"
     " UNION ALL SELECT concat('c', c.oid::regclass, c.relowner, c.relacl, c.relhastriggers, c.relhasrules,"
     "   c.relrowsecurity, c.relnatts) FROM pg_class c"
     "   WHERE c.relnamespace IN (" OURS ")"
     " UNION ALL SELECT concat('a', a.attrelid::regclass, a.attname, a.attacl) FROM pg_attribute a JOIN "
     "pg_class c"
     "   ON c.oid = a.attrelid WHERE c.relnamespace IN (" OURS ")"
     " UNION ALL SELECT concat('t', tgname, tgrelid::regclass, tgenabled) FROM pg_trigger"
     " UNION ALL SELECT concat('n', nspname, nspowner, nspacl) FROM pg_namespace WHERE nspname !~ "
     "'^pg_temp|^pg_toast'"
     " UNION ALL SELECT concat('s', setdatabase, setrole, setconfig) FROM pg_db_role_setting) AS lines"},
    {"roles and their members", NEVER,
     "SELECT md5(string_agg(line, E'\\n' ORDER BY line)) FROM ("
     " SELECT concat(rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolbypassrls, "
     "rolreplication)"
     "   AS line FROM pg_roles WHERE rolname ~ 'redrive|postgres'"
     " UNION ALL SELECT concat('m', m.roleid::regrole, m.member::regrole, m.admin_option) FROM "
     "pg_auth_members m"
     "   WHERE m.roleid::regrole::text ~ 'redrive') AS lines"},
    {"columns that are not redrive's to change", NEVER,
     "SELECT md5(string_agg(concat_ws('/', id, event_id, event_type, source_table, source_id, event_payload,"
     " error_message, stack_trace, max_retries, created_at, kafka_offset, kafka_partition, kafka_topic,"
     " correlation_id, card_number), '|' ORDER BY id)) FROM public.dlq_events"},
    {"events that nobody confirmed anything for", LEVEL_ADMIN, // who may close what Kafka proves to be sent
     "SELECT md5(string_agg(concat_ws('/', id, status, resolved_at, resolved_by, retry_count, "
     "last_retry_at), '|'"
     " ORDER BY id)) FROM public.dlq_events WHERE id BETWEEN 19 AND 36 OR id > 40"},
    {"events", LEVEL_WORKER, "SELECT md5(string_agg(e::text, '|' ORDER BY id)) FROM public.dlq_events e"},
    {"what is in the audit", NEVER,
     "SELECT md5(string_agg(a::text, '|' ORDER BY no)) FROM redrive.audit a"
     " WHERE no <= current_setting('attack.audit')::bigint"},
    {"the name in the audit", NEVER,
     "SELECT count(*)::text FROM redrive.audit WHERE no > current_setting('attack.audit')::bigint"
     " AND (who <> current_setting('attack.who') OR at NOT BETWEEN clock_timestamp() - interval '10 min' AND"
     " clock_timestamp() OR pid <> pg_backend_pid())"},
    {"the audit", LEVEL_WORKER, "SELECT count(*)::text FROM redrive.audit"},
    {"whose table it is", NEVER, "SELECT string_agg(m::text, '|') FROM redrive.mapping m"},
    {"the version", NEVER, "SELECT string_agg(v::text, '|') FROM redrive.schema_version v"},
    {"the turn of a freeze", NEVER, "SELECT string_agg(t::text, '|') FROM redrive.freeze_turn t"},
    {"the turn of an ingester", NEVER, "SELECT string_agg(t::text, '|') FROM redrive.ingest_turn t"},
    {"the turns of imports", NEVER,
     "SELECT string_agg(t::text, '|' ORDER BY part) FROM redrive.import_turn t"},
    {"the install", LEVEL_ADMIN, "SELECT string_agg(i::text, '|') FROM redrive.install i"},
    {"what was asked for", NEVER,
     "SELECT md5(string_agg(concat_ws('/', no, key, action, requested_by, host, scope, filter_text, "
     "group_key,"
     " reason, target_topic, recipe, created_at, undoes, approve_above, policy), '|' ORDER BY no)) FROM "
     "redrive.operation"
     " WHERE no <= 8"},
    {"how operations of others are sent", LEVEL_OPERATOR,
     "SELECT md5(string_agg(concat_ws('/', no, rate, steps, settle_for, halt_above, is_cancelling, undo_for,"
     " approved_by), '|' ORDER BY no)) FROM redrive.operation WHERE no <= 8"},
    {"an operation that waits for approval", LEVEL_OPERATOR,
     "SELECT concat((SELECT o::text FROM redrive.operation o WHERE no = 5), (SELECT string_agg(b::text, '|') "
     "FROM"
     " redrive.operation_batch b WHERE operation_no = 5))"},
    {"an operation that is being frozen", LEVEL_OPERATOR,
     "SELECT concat((SELECT o::text FROM redrive.operation o WHERE no = 6), (SELECT string_agg(b::text, '|') "
     "FROM"
     " redrive.operation_batch b WHERE operation_no = 6), (SELECT count(*) FROM redrive.freeze_batch))"},
    {"what others froze", NEVER, // it may be cancelled
     "SELECT string_agg(concat_ws('/', no, total, frozen_to, state = 'frozen' AND NOT is_cancelling,"
     " (SELECT string_agg(b.dlq_ids::text, '|' ORDER BY b.no) FROM redrive.operation_batch b WHERE "
     "b.operation_no"
     " = o.no)), '|') FROM redrive.operation o WHERE no = 6"},
    {"operations", LEVEL_WORKER, "SELECT md5(string_agg(o::text, '|' ORDER BY no)) FROM redrive.operation o"},
    {"operations in another name", NEVER,
     "SELECT count(*)::text FROM redrive.operation WHERE no > 8 AND requested_by <> "
     "current_setting('attack.who')"},
    {"new operations", LEVEL_OPERATOR, "SELECT count(*)::text FROM redrive.operation"},
    {"items", LEVEL_WORKER,
     "SELECT md5(concat((SELECT string_agg(i::text, '|' ORDER BY operation_no, dlq_id) FROM "
     "redrive.operation_item i),"
     " (SELECT string_agg(b::text, '|' ORDER BY operation_no, no) FROM redrive.operation_batch b),"
     " (SELECT string_agg(k::text, '|' ORDER BY k::text) FROM redrive.publish_key k),"
     " (SELECT string_agg(k::text, '|' ORDER BY k::text) FROM redrive.publish_key_recent k)))"},
    {"the slot in another worker's hand", LEVEL_ADMIN,
     "SELECT string_agg(s::text, '|') FROM redrive.slot s WHERE cluster = 'kafka-1' AND s.no = "
     "current_setting('attack.slot')::int"},
    {"chunks in flight and in doubt", LEVEL_ADMIN,
     "SELECT md5(string_agg(c::text, '|' ORDER BY id)) FROM redrive.chunk c WHERE c.operation_no <= 3"},
    {"chunks", LEVEL_WORKER, "SELECT md5(string_agg(c::text, '|' ORDER BY id)) FROM redrive.chunk c"},
    {"where records are, and who has read them", LEVEL_WORKER,
     "SELECT md5(concat((SELECT string_agg(s::text, '|' ORDER BY s::text) FROM redrive.sent s),"
     " (SELECT string_agg(c::text, '|' ORDER BY c::text) FROM redrive.consumer c),"
     " (SELECT string_agg(t::text, '|' ORDER BY t::text) FROM redrive.consumer_topic t),"
     " (SELECT string_agg(t::text, '|') FROM redrive.consumer_turn t)))"},
    {"the slot of a chunk that waits for a person", LEVEL_ADMIN,
     "SELECT string_agg(s::text, '|') FROM redrive.slot s JOIN redrive.chunk c ON c.cluster = s.cluster AND"
     " c.slot = s.no AND c.needs_person"},
    {"slots", LEVEL_WORKER, "SELECT md5(string_agg(s::text, '|' ORDER BY no)) FROM redrive.slot s"},
    {"the turn in another worker's hand", LEVEL_ADMIN,
     "SELECT concat_ws('/', no, id, before_no, before_id, is_confirmed, finished_no) FROM redrive.turn t "
     "WHERE"
     " cluster = 'kafka-1'"},
    {"what an administrator asked about a stop, and what was counted", LEVEL_ADMIN,
     "SELECT string_agg(concat_ws('/', no, state, who, at, cluster, chunks, records, sent, confirmed_by, "
     "reason, "
     "why), '|') FROM redrive.adopting a"},
    {"turns and stops", LEVEL_WORKER, "SELECT string_agg(t::text, '|' ORDER BY cluster) FROM redrive.turn t"},
    {"sums for metrics", LEVEL_WORKER,
     "SELECT concat((SELECT string_agg(x::text, '|') FROM redrive.watch_state x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.watch_bucket x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.watch_arrival x))"},
    {"the backlog over time", LEVEL_WORKER,
     "SELECT md5(concat((SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.trend x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.trend_recent x),"
     " (SELECT string_agg(x::text, '|') FROM redrive.trend_state x)))"},
    {"how much is written to topics", LEVEL_WORKER,
     "SELECT md5(concat((SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.written x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.written_end x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.written_turn x),"
     " (SELECT string_agg(x::text, '|') FROM redrive.written_state x)))"},
    {"alerts", LEVEL_WORKER,
     "SELECT md5(concat((SELECT string_agg(x::text, '|') FROM redrive.alert_state x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.alert_rule x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.alert x),"
     " (SELECT string_agg(x::text, '|' ORDER BY no) FROM redrive.alert_notice x),"
     " (SELECT string_agg(x::text, '|' ORDER BY name) FROM redrive.alert_destination x),"
     " (SELECT string_agg(x::text, '|' ORDER BY at) FROM redrive.alert_sample x)))"},
    {"silences", LEVEL_OPERATOR,
     "SELECT string_agg(concat_ws('/', name, silenced_until, silenced_by, silenced_reason), '|' ORDER BY "
     "name)"
     " FROM redrive.alert_rule WHERE silenced_by IS NOT NULL"},
    {"silences and acknowledgements in another name", NEVER,
     "SELECT ((SELECT count(*) FROM redrive.alert_rule WHERE silenced_by <> current_setting('attack.who'))"
     " + (SELECT count(*) FROM redrive.alert WHERE acknowledged_by <> current_setting('attack.who')))::text"},
    {"policies", LEVEL_WORKER, "SELECT md5(string_agg(x::text, '|' ORDER BY name)) FROM redrive.policy x"},
    {"what policies do, whether they do it, and in whose claim they are", LEVEL_OPERATOR,
     "SELECT md5(concat((SELECT string_agg(concat_ws('/', name, action, definition, words, schedule, "
     "probe_after,"
     " is_enabled, switched, switched_by, switched_for, halted_at, is_probing), '|' ORDER BY name) FROM "
     "redrive.policy WHERE redrive._policy_is_on(policy) OR name = 'fix'), (SELECT concat_ws('/', holder, "
     "holder_who, lease_until) FROM redrive.policy WHERE name = 'host/1/1')))"},
    {"what policies share of a topic", LEVEL_WORKER,
     "SELECT string_agg(x::text, '|' ORDER BY topic) FROM redrive.policy_topic x"},
    {"runs of policies", LEVEL_OPERATOR,
     "SELECT md5(string_agg(x::text, '|' ORDER BY operation_no)) FROM redrive.policy_run x"},
    {"policies switched in another name", NEVER,
     "SELECT count(*)::text FROM redrive.policy WHERE switched_by <> current_setting('attack.who')"},
    {"the archive, and its jobs", LEVEL_OPERATOR,
     "SELECT md5(concat((SELECT string_agg(x::text, '|' ORDER BY x::text) FROM archive.dlq_events_archive x),"
     " (SELECT string_agg(x::text, '|' ORDER BY no) FROM redrive.archive_job x)))"},
    {"a job of the archive that somebody else runs, or in another name", NEVER,
     "SELECT concat((SELECT x::text FROM redrive.archive_job x WHERE no = 1), (SELECT count(*) FROM"
     " redrive.archive_job WHERE no > 1 AND who <> current_setting('attack.who')))"},
    {"marks", LEVEL_OPERATOR, "SELECT count(*)::text FROM redrive.mark"},
    {"marks in another name", NEVER,
     "SELECT count(*)::text FROM redrive.mark WHERE who <> current_setting('attack.who')"},
    {"the row of another worker", NEVER, "SELECT w::text FROM redrive.worker w WHERE name = 'host/1/1'"},
    {"workers", LEVEL_WORKER, "SELECT string_agg(w::text, '|' ORDER BY name) FROM redrive.worker w"},
    {"clusters", LEVEL_WORKER, "SELECT string_agg(c::text, '|' ORDER BY name) FROM redrive.cluster c"},
    {"revisions that are there", NEVER,
     "SELECT r::text FROM redrive.revision r WHERE dlq_id = 41 AND no = 1"},
    {"revisions in another name", NEVER,
     "SELECT count(*)::text FROM redrive.revision WHERE (dlq_id, no) <> (41, 1)"
     " AND author <> current_setting('attack.who')"},
    {"revisions", LEVEL_WORKER, "SELECT count(*)::text FROM redrive.revision"},
    {"records that are there", NEVER, "SELECT r::text FROM redrive.record r WHERE dlq_id = 42"},
    {"originals that are there", NEVER, "SELECT o::text FROM redrive.original o WHERE dlq_id = 42"},
    {"records", LEVEL_WORKER,
     "SELECT concat((SELECT count(*) FROM redrive.record), (SELECT string_agg(o::text, '|' ORDER BY dlq_id) "
     "FROM "
     "redrive.original o), (SELECT string_agg(dlq_id::text, ',' ORDER BY "
     "dlq_id)"
     " FROM redrive.record_wanted))"},
    {"what another ingester holds", NEVER,
     "SELECT concat((SELECT string_agg(concat_ws('/', i.no, i.fence, i.who, i.seen_at), '|') FROM "
     "redrive.ingester i WHERE who = 'olga'), (SELECT string_agg(p::text, '|' ORDER BY partition) FROM "
     "redrive.ingest_position p WHERE topic = 'olgas-dlq' AND partition < 2))"},
    {"dead letters that were taken in", LEVEL_WORKER,
     "SELECT concat((SELECT string_agg(i::text, '|' ORDER BY no) FROM redrive.ingester i), (SELECT "
     "string_agg(p::text, '|' ORDER BY cluster, topic, partition) FROM redrive.ingest_position p), (SELECT "
     "count(*) FROM redrive.attempt), (SELECT count(*) FROM redrive.alarm), (SELECT string_agg(u::text, '|') "
     "FROM redrive.unfit u))"},
    {"schemas", LEVEL_WORKER,
     "SELECT concat((SELECT string_agg(s::text, '|' ORDER BY name) FROM redrive.schema s), (SELECT "
     "string_agg(m::text, '|' ORDER BY name) FROM redrive.schema_missed m))"},
    {"what Kafka said of topics", LEVEL_WORKER,
     "SELECT string_agg(t::text, '|' ORDER BY name) FROM redrive.topic t"},
    {"what others ask about newer records", NEVER,
     "SELECT concat_ws('/', no, asked_by, dlq_ids, left_out) FROM redrive.newer_question WHERE asked_by = "
     "'olga'"},
    {"questions and answers about newer records", LEVEL_WORKER,
     "SELECT md5(string_agg(n::text, '|' ORDER BY no)) FROM redrive.newer_question n"},
    {"what people say about groups", LEVEL_OPERATOR,
     "SELECT string_agg(c::text, '|' ORDER BY group_key) FROM redrive.group_care c"},
    {"what people say about groups in another name", NEVER,
     "SELECT count(*)::text FROM redrive.group_care WHERE group_key <> 255"
     " AND (taken_by <> current_setting('attack.who') OR noted_by <> current_setting('attack.who')"
     " OR snoozed_by <> current_setting('attack.who'))"},
    {"screens of others", NEVER, "SELECT p::text FROM redrive.presence p WHERE who = 'olga'"},
    {"screens in another name", NEVER,
     "SELECT count(*)::text FROM redrive.presence WHERE who NOT IN ('olga', current_setting('attack.who'))"},
    {"screens", LEVEL_OPERATOR, "SELECT string_agg(p::text, '|' ORDER BY screen) FROM redrive.presence p"},
    {"recipes and categories", LEVEL_OPERATOR,
     "SELECT concat((SELECT string_agg(r::text, '|' ORDER BY name) FROM redrive.recipe r),"
     " (SELECT string_agg(c::text, '|' ORDER BY group_key) FROM redrive.group_category c))"},
    {"recipes and categories in another name", NEVER,
     "SELECT ((SELECT count(*) FROM redrive.recipe WHERE name <> 'fix' AND author <> "
     "current_setting('attack.who'))"
     " + (SELECT count(*) FROM redrive.group_category WHERE group_key <> 255 AND who <>"
     " current_setting('attack.who')))::text"},
    {"counts and texts that somebody maintains", NEVER,
     "SELECT md5(concat((SELECT string_agg(x::text, '|') FROM redrive.rollup_state x),"
     " (SELECT string_agg(x::text, '|' ORDER BY key) FROM redrive.rollup_group x),"
     " (SELECT string_agg(x::text, '|' ORDER BY no) FROM redrive.rollup_series x),"
     " (SELECT string_agg(x::text, '|' ORDER BY series) FROM redrive.rollup_idle x),"
     " (SELECT string_agg(x::text, '|' ORDER BY group_key) FROM redrive.rollup_seen x),"
     " (SELECT string_agg(x::text, '|' ORDER BY dlq_id) FROM redrive.rollup_event x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.rollup_total x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.rollup_hour x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.rollup_bucket x),"
     " (SELECT string_agg(x::text, '|' ORDER BY low) FROM redrive.rollup_batch x),"
     " (SELECT string_agg(x::text, '|' ORDER BY low) FROM redrive.text_snapshot x)))"},
    {"notes for the counts", LEVEL_WORKER,
     "SELECT md5(concat((SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.rollup_due x),"
     " (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM redrive.rollup_outcome x),"
     " (SELECT string_agg(x::text, '|') FROM redrive.rollup_closed x)))"},
    {"what returned", LEVEL_WORKER,
     "SELECT concat((SELECT string_agg(x::text, '|' ORDER BY dlq_id) FROM redrive.returned x),"
     " (SELECT x::text FROM redrive.returned_position x),"
     " (SELECT string_agg(x::text, '|' ORDER BY low) FROM redrive.returned_gap x))"},
};
// The last guard is over all of the further table and its schema.
enum { GUARDS = sizeof guards / sizeof *guards, ALL_GUARDS = GUARDS + 1, SEEN = 1000 };

static char before[ALL_GUARDS][SEEN];
static struct strbuf further; // its statement

bool
attack_is_guarded(const char *table)
{
    size_t len = strlen(table);
    for (size_t i = 0; i < GUARDS; i++)
        for (const char *at = guards[i].sql; (at = strstr(at, table)); at += len)
            if (at[len] == ' ' || at[len] == ')' || at[len] == '\0')
                return true;
    return false;
}

// Of all guards in one statement, in their order.
static PGresult *
read_guards(void)
{
    static struct strbuf sql;
    if (sql.len == 0) {
        for (size_t i = 0; i < GUARDS; i++)
            strbuf_printf(&sql, "SELECT %zu, (%s) UNION ALL ", i, guards[i].sql);
        strbuf_printf(&sql, "SELECT %d, (%s)", GUARDS, strbuf_text(&further));
    }
    PGresult *r = PQexec(actors.session, strbuf_text(&sql));
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(actors.session));
    return r;
}

static void
keep_guards(void)
{
    PGresult *r = read_guards();
    for (int i = 0; i < ALL_GUARDS; i++)
        snprintf(before[i], SEEN, "%s", PQgetvalue(r, i, 1));
    PQclear(r);
}

// --- the world ---

static void
name_text(const char *name, const char *value)
{
    for (size_t i = 0; i < ATTACK_NAMES; i++)
        if (strcmp(attack.names[i].name, name) == 0)
            snprintf(attack.names[i].value, sizeof attack.names[i].value, "'%s'", value);
}

static void
name_number(const char *name, int64_t number)
{
    for (size_t i = 0; i < ATTACK_NAMES; i++)
        if (strcmp(attack.names[i].name, name) == 0)
            snprintf(attack.names[i].value, sizeof attack.names[i].value, "%lld", (long long)number);
}

static struct store *worker, *operator_; // stay connected: their sessions hold slot and counts

static struct claim
claim_of(int64_t operation, struct slot *slot)
{
    struct claim claim;
    char id[UUID_SIZE];
    snprintf(id, sizeof id, "%s", new_uuid(actors.world.admin));
    assert_works(slot_acquire(worker, "kafka-1", "host/1/1", NULL, 0, slot, &err));
    assert_works(chunk_claim(worker, slot, operation, id, 3, MANY_BYTES, &actors.world.arena, &claim, &err));
    assert_int_equal(claim.count, 3);
    return claim;
}

static int64_t
ask(enum operation_action action, int64_t first, int64_t last)
{
    return make_operation(&actors.world, operator_, action, first, last);
}

// Operations 2, 3 and 1: two chunks in doubt, the second waits for a person, and one in flight.
static void
begin_chunks(void)
{
    struct slot slot;
    int64_t in_flight = ask(ACTION_REPROCESS, 1, 6), first = ask(ACTION_REPROCESS, 7, 9),
            second = ask(ACTION_REPROCESS, 10, 12);
    struct claim claim = claim_of(first, &slot);
    assert_works(chunk_finish(worker, &slot, &claim.chunk, CHUNK_IN_DOUBT, "unknown", &err));
    name_text("doubt", claim.chunk.id);
    claim = claim_of(second, &slot);
    assert_works(chunk_finish(worker, &slot, &claim.chunk, CHUNK_IN_DOUBT, "unknown", &err));
    test_sql(actors.world.admin, "UPDATE redrive.chunk SET needs_person = true WHERE id = '%s'",
             claim.chunk.id);
    name_text("person", claim.chunk.id);
    claim = claim_of(in_flight, &slot);
    name_text("chunk", claim.chunk.id);
    name_number("slot", slot.no);
    name_number("fence", slot.fence);
    test_sql(actors.world.admin, "UPDATE redrive.slot SET lease_until = 'infinity' WHERE no = %d", slot.no);
}

// 4 a discard that is confirmed; 5 waits for approval; 6 is half frozen; 7 is done; 8 is paused.
static void
begin_operations(void)
{
    PGconn *olga = test_connect(conninfo_of(actors.operator_));
    ask(ACTION_DISCARD, 13, 18);
    static const char *const asked[] = {"reprocess", "discard"};
    for (int i = 0; i < 2; i++) {
        int64_t no;
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT no FROM redrive.operation_begin(gen_random_uuid(), '%s', 'some', NULL, NULL, 'why', "
                 "NULL, -1)",
                 asked[i]);
        no = test_number(olga, sql);
        assert_int_equal(no, 5 + i);
        if (i == 0)
            test_sql(olga, "SELECT redrive.operation_plan(%lld, '{2,4}', 60000, 20, 0, 1)", (long long)no);
        test_sql(olga, "SELECT redrive.operation_freeze(%lld, ARRAY(SELECT generate_series(%d, %d)))",
                 (long long)no, i ? 31 : 19, i ? 33 : 30);
        if (i == 0)
            test_sql(olga, "SELECT redrive.operation_confirm(%lld)", (long long)no);
    }
    assert_int_equal(apply_operation(&actors.world, ACTION_DISCARD, 34, 36), 7);
    int64_t paused = ask(ACTION_REPROCESS, 37, 40);
    assert_int_equal(paused, 8);
    assert_works(operation_steer(operator_, paused, STEER_PAUSE, 0, NULL, &err));
    name_text("key", test_text(actors.world.admin, "SELECT key FROM redrive.operation WHERE no = 5"));
    PQfinish(olga);
}

// What else others wrote down.
static void
begin_notes(void)
{
    struct rollup_lease lease;
    assert_works(worker_beat(worker, "host/1/1", true, "busy", 5, &err));
    assert_works(rollup_acquire(worker, "m", &lease, &err));
    test_sql(
        actors.world.admin,
        "UPDATE redrive.rollup_state SET lease_until = 'infinity', high = 60, low = -9223372036854775808");
    test_sql(
        actors.world.admin,
        "INSERT INTO redrive.cluster (name, promise, words, evidence) VALUES ('kafka-1', 'exactly once', "
        "'exactly once', 'tried');"
        "INSERT INTO redrive.revision (dlq_id, no, payload, reason) VALUES (41, 1, '{}', 'because');"
        "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", value) VALUES (42, 'orders', 1, "
        "1, '{}');"
        "INSERT INTO redrive.original (dlq_id, cluster, topic, partition, \"offset\", state, value, crc32c) "
        "VALUES "
        "(42, 'kafka-1', 'orders', 1, 1, 'fetched', '{}', 7), (50, 'kafka-1', 'orders', 1, 2, 'waiting', "
        "NULL, "
        "NULL);"
        "INSERT INTO redrive.record_wanted (dlq_id) VALUES (43);"
        "INSERT INTO redrive.ingester (fence, cluster, who, host, pid, seen_at) VALUES (123456789, "
        "'kafka-1', 'olga', 'host', 1, 'infinity');"
        "INSERT INTO redrive.ingest_position (cluster, topic, partition, next_offset, holder) SELECT "
        "'kafka-1', 'olgas-dlq', n, 7, no FROM redrive.ingester, generate_series(0, 1) AS n;"
        "INSERT INTO redrive.unfit (cluster, topic, partition, generation, \"offset\", header_names, "
        "header_values, crc32c, format, identity, was_sent, event_id, event_type, payload, error_message, "
        "is_pointer, why) VALUES ('kafka-1', 'olgas-dlq', 0, 0, 6, '{}', '{}', 1, 'unknown', 1, false, 'a', "
        "'t', "
        "'{}', 'boom', false, 'because');"
        "INSERT INTO redrive.adopting (no, state, who, at, cluster, chunks, records, sent) VALUES (1, "
        "'counted', 'olga', now(), 'kafka-1', 2, 100, '{19,20}');"
        "INSERT INTO redrive.topic (name, asked_at, cluster, state, partitions) VALUES ('orders', now(), "
        "'kafka-1', 'known', 3);"
        "INSERT INTO redrive.newer_question (asked_by, worker, wanted_at, taken_at, dlq_ids, left_out) "
        "VALUES ('olga', 'host/1/1', now() + interval '1 day', now(), '{1,2}', 0);"
        "INSERT INTO redrive.recipe VALUES ('fix', 'remove $.a', 'olga', now(), 'because');"
        "INSERT INTO redrive.alert_rule (name, condition, words, threshold, severity, seen_at, "
        "silenced_until, "
        "silenced_by) VALUES ('fix', 'pending', 'pending above 1', 1, 'page', now(), NULL, NULL), "
        "('night', 'rate', 'rate above 1', 1, 'page', now(), 'infinity', 'olga');"
        "INSERT INTO redrive.alert (rule, instance, state, since, value, summary, labels) VALUES ('fix', '', "
        "'firing', now(), 2, '2 events are pending', '{}');"
        "INSERT INTO redrive.alert_destination (name) VALUES ('a');"
        "INSERT INTO redrive.alert_notice (rule, instance, destination, state, content) VALUES ('fix', '', "
        "'a', 'firing', '{}');"
        "INSERT INTO redrive.policy (name, action, definition, words, schedule, probe_after, is_enabled, "
        "seen_at, next_at, holder, holder_who, lease_until) VALUES ('host/1/1', 'discard', '{\"limit\": 9}', "
        "'discard all', 'every 1s', '0', true, now(), '-infinity', 'm', 'olga', now() + interval '59 min'), "
        "('fix', 'discard', '{\"limit\": 9}', 'discard', 'every 1s', '0', false, now(), now(), NULL, NULL, "
        "NULL);"
        "INSERT INTO redrive.policy_run (operation_no, policy, matched, acted, topics) VALUES (7, 'fix', 2, "
        "2, '{orders}');"
        "INSERT INTO redrive.group_category VALUES (255, 'data', 'olga', now(), 'because', 1);"
        "INSERT INTO redrive.presence VALUES ('00000000-0000-0000-0000-000000000000', 'olga', 'host', "
        "'groups', 255, 'infinity');"
        "INSERT INTO redrive.group_care (group_key, taken_by, taken_at, taken_until, note, noted_by, "
        "noted_at, snoozed_by, snoozed_at, snoozed_until, changed) VALUES (255, 'olga', now(), 'infinity', "
        "'because', 'olga', now(), 'olga', now(), 'infinity', 1);"
        "INSERT INTO redrive.rollup_group (key, pattern, sample) VALUES (255, 'boom', 'boom');"
        "INSERT INTO redrive.rollup_series (group_key, event_type, source_table, topic) VALUES (255, 't', "
        "'', 'orders');"
        "INSERT INTO redrive.rollup_event SELECT i, 1, 1, 0 FROM generate_series(1, 60) AS i;"
        "INSERT INTO redrive.rollup_total VALUES (1, 0, 60);"
        "INSERT INTO redrive.text_snapshot (low, high, n, content) VALUES (1, 60, 60, 'pack')");
    test_sql(
        actors.world.admin,
        "INSERT INTO redrive.turn (cluster, no, id, holder, holder_who, lease_until) VALUES ('kafka-1', 3, "
        "gen_random_uuid(), 'host/1/1', '%s', 'infinity')",
        actors.worker);
    name_number("session", test_number(actors.world.admin, "SELECT coalesce(max(holder_pid), 0) FROM "
                                                           "redrive.slot WHERE holder = 'host/1/1'"));
}

// Somebody else's job is on its way, and two closed events are archived.
static void
begin_archive(const char *schema, const char *archive)
{
    PGconn *olga = test_connect(conninfo_of(actors.operator_));
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT %s.archive_begin('restore', NULL, 'some', 'why', 2)", schema);
    assert_int_equal(test_number(olga, sql), 1);
    test_sql(actors.world.admin,
             "INSERT INTO archive.%s (id, event_id, event_type, event_payload, error_message, status, "
             "archived_job) SELECT 1000 + i, 'old', 't', '{}', 'boom', 'RESOLVED', 0 FROM generate_series(1, "
             "2) AS i;"
             "UPDATE %s.archive_job SET seen_at = 'infinity'",
             archive, schema);
    PQfinish(olga);
}

// A second table of dead letters, with the ids of the first and the same people.
static void
begin_further(void)
{
    test_sql(actors.world.admin,
             "CREATE TABLE " ATTACK_FURTHER_TABLE " (LIKE public.dlq_events INCLUDING ALL);"
             "INSERT INTO " ATTACK_FURTHER_TABLE " SELECT * FROM public.dlq_events WHERE id <= 60");
    struct store *store = NULL;
    const struct store_settings settings = {
        .conninfo = actors.world.conninfo, .table = ATTACK_FURTHER_TABLE, .program = "test"};
    struct schema_result result;
    assert_works(store_open(&store, &settings, &err));
    assert_works(schema_migrate(store, &result, &err));
    assert_string_equal(store_info(store)->schema, ATTACK_FURTHER_SCHEMA);
    make_roles(store, true);
    store_close(store);
    begin_archive(ATTACK_FURTHER_SCHEMA, ATTACK_FURTHER_SCHEMA);

    PGresult *r = PQexec(actors.world.admin,
                         "SELECT c.oid::regclass FROM pg_class c WHERE c.relkind = 'r' AND (c.relnamespace = "
                         "'" ATTACK_FURTHER_SCHEMA "'::regnamespace OR c.oid = "
                         "'archive." ATTACK_FURTHER_SCHEMA "'::regclass)");
    strbuf_add_text(
        &further,
        "SELECT md5(concat((SELECT string_agg(x::text, '|' ORDER BY x::text) FROM " ATTACK_FURTHER_TABLE
        " x)");
    for (int i = 0; i < PQntuples(r); i++)
        strbuf_printf(&further, ", (SELECT string_agg(x::text, '|' ORDER BY x::text) FROM %s x)",
                      PQgetvalue(r, i, 0));
    strbuf_add_text(&further, "))");
    PQclear(r);
}

int
attack_make(void **state)
{
    begin_actors(state);
    worker = store_of(actors.worker);
    operator_ = store_of(actors.operator_);
    begin_chunks();
    begin_operations();
    begin_notes();
    begin_archive("redrive", "dlq_events_archive");
    begin_further();
    for (int i = 0; i < ATTACK_ROLES; i++) {
        char stem[40], group[40];
        snprintf(stem, sizeof stem, "mallory_%s", attack_levels[i]);
        snprintf(group, sizeof group, "redrive_%s", attack_levels[i]);
        attack.attackers[i].level = (enum attack_level)i;
        make_login(attack.attackers[i].login, stem, i == LEVEL_NOBODY ? NULL : group);
    }
    // A superuser's session that takes the attackers' part and then looks at what became of it.
    PQfinish(actors.session);
    actors.session = test_connect(actors.world.conninfo);
    test_sql(actors.session,
             "SET client_min_messages = error; SET statement_timeout = '5s'; SET lock_timeout = '1s'");
    return 0;
}

int
attack_unmake(void **state)
{
    for (int i = 0; i < ATTACK_ROLES; i++)
        test_sql(actors.world.admin, "DROP OWNED BY %s; DROP ROLE %s", attack.attackers[i].login,
                 attack.attackers[i].login);
    store_close(worker);
    store_close(operator_);
    return end_actors(state);
}

// --- attempts ---

static struct {
    const struct attacker *attacker;
    struct strbuf unwanted; // a line each
} now;

static void
note_unwanted(const char *what, const char *detail)
{
    attack.unwanted++;
    if (now.unwanted.len < 4000)
        strbuf_printf(&now.unwanted, "%s: %.300s\n", what, detail);
}

void
attack_begin(const struct attacker *attacker)
{
    now.attacker = attacker;
    strbuf_reset(&now.unwanted);
    test_sql(actors.session,
             "BEGIN; SELECT set_config('attack.who', '%s', true), set_config('attack.slot', '%s', true),"
             " set_config('attack.audit', (SELECT max(no) FROM redrive.audit)::text, true)",
             attacker->login, attack.names[0].value);
    keep_guards();
    test_sql(actors.session, "SET SESSION AUTHORIZATION %s", attacker->login);
}

// A right is missing; or the deed does not exist for this kind of a relation or column, which PostgreSQL says
// first; or somebody, such as autovacuum, has the lock.
static bool
is_refusal(const char *state)
{
    static const char *const refusals[] = {"0A000", "42501", "42809", "55000", "55P03"};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strcmp(state, refusals[i]) == 0)
            return true;
    return false;
}

void
attack_try(const char *sql, bool may)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "SAVEPOINT attempt; %s; RELEASE attempt", sql);
    PGresult *r = PQexec(actors.session, strbuf_text(&text));
    strbuf_release(&text);
    const char *field = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    char state[6] = "";
    snprintf(state, sizeof state, "%s", field ? field : "");
    attack.attempts++;
    if (*state) {
        attack.refused++;
        test_sql(actors.session, "ROLLBACK TO attempt");
    }
    if (strncmp(state, "XX", 2) == 0 || strncmp(state, "58", 2) == 0 || strcmp(state, "57014") == 0)
        note_unwanted(PQresultErrorMessage(r), sql);
    if (!may && !is_refusal(state))
        note_unwanted(*state ? state : "it worked", sql);
    PQclear(r);
}

// Nothing of the one table may change by way of the other.
static int
least_level(int guard)
{
    bool is_of_further = guard == GUARDS;
    if (is_of_further != attack.is_further)
        return NEVER;
    return is_of_further ? LEVEL_WORKER : guards[guard].least;
}

void
attack_end(const char *what)
{
    test_sql(actors.session, "RESET SESSION AUTHORIZATION");
    PGresult *r = read_guards();
    for (int i = 0; i < ALL_GUARDS; i++) {
        bool is_same = strncmp(before[i], PQgetvalue(r, i, 1), SEEN - 1) == 0;
        if (!is_same && (int)now.attacker->level < least_level(i))
            note_unwanted(i < GUARDS ? guards[i].what : "the further table and its schema",
                          PQgetvalue(r, i, 1));
    }
    PQclear(r);
    test_sql(actors.session, "ROLLBACK");
    if (now.unwanted.len)
        print_error("%s, %s:\n%s", attack_levels[now.attacker->level], what, strbuf_text(&now.unwanted));
    strbuf_release(&now.unwanted);
}
