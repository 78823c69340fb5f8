// Rights: what each level of user can do, all of it and nothing beyond, and that nobody writes another's name
// into the audit.
#include "tests/store/actors.h"
#include "store/rollup/categories.h"
#include "tests/lib/forecast.h"
#include "store/operations/doubt.h"
#include "store/events/texts.h"

// --- seven attempts, and their relatives ---

// Each is made by an operator who has all of an operator's rights, with psql instead of redrive.
static const struct attempt {
    const char *what;
    const char *sql;
    const char *state; // SQLSTATE it is refused with
} attempts[] = {
    {"changing_an_entry", "UPDATE redrive.audit SET who = 'somebody'", "42501"},
    {"inserting_an_entry_with_a_name",
     "INSERT INTO redrive.audit (who, action) VALUES ('somebody', 'discard')", "42501"},
    {"inserting_an_entry_with_a_date",
     "INSERT INTO redrive.audit (at, action) VALUES ('2020-01-01', 'discard')", "42501"},
    {"deleting_entries", "DELETE FROM redrive.audit", "42501"},
    {"emptying_the_audit", "TRUNCATE redrive.audit", "42501"},
    {"becoming_the_owner", "SET ROLE postgres", "42501"},
    {"becoming_another_session_user", "SET SESSION AUTHORIZATION postgres", "42501"},
    {"an_entry_of_plain_columns", "INSERT INTO redrive.audit (action) VALUES ('discard')", "42501"},
    {"an_entry_by_copy", "COPY redrive.audit (action) FROM STDIN", "42501"},
    {"calling_the_audit", "SELECT redrive._audit('discard', 1, 1, 'x', 'x')", "42501"},
    {"calling_an_inner_step", "SELECT redrive._operation_finish(1)", "42501"},
    {"switching_triggers_off", "SET session_replication_role = replica", "42501"},
    {"dropping_the_trigger", "DROP TRIGGER audit_is_final ON redrive.audit", "42501"},
    {"disabling_the_trigger", "ALTER TABLE redrive.audit DISABLE TRIGGER ALL", "42501"},
    {"dropping_the_audit", "DROP TABLE redrive.audit", "42501"},
    {"locking_the_audit", "DO $$ BEGIN LOCK TABLE redrive.audit IN ACCESS EXCLUSIVE MODE; END $$", "42501"},
    {"a_function_in_the_schema", "CREATE FUNCTION redrive.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
     "42501"},
    {"a_table_in_the_schema", "CREATE TABLE redrive.mine ()", "42501"},
    {"replacing_a_function",
     "CREATE OR REPLACE FUNCTION redrive._audit(p_action text, p_operation bigint, p_events bigint, p_reason "
     "text, p_detail text) RETURNS void LANGUAGE sql AS ''",
     "42501"},
    {"another_search_path_for_a_function",
     "ALTER FUNCTION redrive.operation_begin(uuid, text, text, text, text, text, text, integer) SET "
     "search_path = pg_temp",
     "42501"},
    {"closing_events_by_hand", "UPDATE public.dlq_events SET status = 'RESOLVED'", "42501"},
    {"removing_events", "DELETE FROM public.dlq_events", "42501"},
    {"reading_a_column_that_is_not_the_contract's", "SELECT card_number FROM public.dlq_events", "42501"},
    {"reading_whole_rows", "SELECT * FROM public.dlq_events", "42501"},
    {"another_owner_of_an_operation", "UPDATE redrive.operation SET requested_by = 'somebody'", "42501"},
    {"another_outcome_of_an_item", "UPDATE redrive.operation_item SET state = 'done'", "42501"},
    {"lowering_a_fence", "UPDATE redrive.slot SET fence = 0", "42501"},
    {"forgetting_a_chunk", "DELETE FROM redrive.chunk", "42501"},
    {"another_install", "UPDATE redrive.install SET id = gen_random_uuid()", "42501"},
    {"going_on_as_a_copy", "SELECT redrive.history_as_copy('x')", "42501"},
    {"going_on_as_the_true_one", "SELECT redrive.history_adopt('k', 1, NULL, '{}', '{}', 'x')", "42501"},
    {"asking_a_worker_to_take_the_history_over", "SELECT redrive.history_ask()", "42501"},
    {"confirming_what_a_worker_counted", "SELECT redrive.history_confirm(1, 0, 0, 'x')", "42501"},
    {"taking_the_history_over_unasked",
     "SELECT redrive.work_history_adopt(1, 'w', 'k', 1, NULL, '{}', 0, '{}')", "RD001"},
    {"writing_a_turn_that_nobody_takes", "SELECT redrive.turn_write('k', 'w', 0, NULL, gen_random_uuid())",
     "RD001"},
    {"saying_what_was_taken", "UPDATE redrive.sent SET taken = events", "42501"},
    {"deciding_what_is_in_doubt", "SELECT redrive.chunk_decide(1, '', 'published', 'x')", "42501"},
    {"releasing_a_slot_from_quarantine", "SELECT redrive.slot_renew('kafka-1', 1, 'x')", "42501"},
    {"deleting_for_good", "SELECT redrive.archive_purge('purge', '2020-01-01', 'x', 'x', 1)", "42501"},
    {"deleting_for_good_as_an_archive", "SELECT redrive.archive_begin('delete', '2020-01-01', 'x', 'x', 1)",
     "RD004"},
    {"a_category_past_its_function", "UPDATE redrive.group_category SET who = 'somebody'", "42501"},
    {"a_note_past_its_function", "UPDATE redrive.group_care SET noted_by = 'somebody'", "42501"},
    {"a_recipe_past_its_function", "UPDATE redrive.recipe SET author = 'somebody'", "42501"},
    {"making_himself_an_admin", "GRANT redrive_admin TO redrive_operator", "42501"},
};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static void
is_refused_and_leaves_the_audit_alone(void **state)
{
    const struct attempt *attempt = *state;
    int64_t before = test_number(actors.world.admin, "SELECT count(*) FROM redrive.audit");
    char sum[64];
    snprintf(sum, sizeof sum, "%s",
             test_text(actors.world.admin,
                       "SELECT md5(string_agg(a::text, '/' ORDER BY no)) FROM redrive.audit a"));
    const char *got = test_state(actors.session, attempt->sql);
    if (strcmp(got, attempt->state) != 0)
        fail_msg("%s: %s instead of %s", attempt->sql, *got ? got : "it worked", attempt->state);
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.audit"), before);
    assert_string_equal(test_text(actors.world.admin,
                                  "SELECT md5(string_agg(a::text, '/' ORDER BY no)) FROM redrive.audit a"),
                        sum);
}

// Asks for a discard of one event as psql would, in a session that was prepared, and says what the audit has.
static const char *
audited_in(PGconn *session, int event)
{
    int64_t no = test_number(
        session, "SELECT no FROM redrive.operation_begin(gen_random_uuid(), 'discard', 'one event', "
                 "NULL, NULL, 'because', NULL, -1)");
    test_sql(session, "SELECT redrive.operation_freeze(%lld, '{%d}')", (long long)no, event);
    test_sql(session, "SELECT redrive.operation_confirm(%lld)", (long long)no);
    static char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT who || ' ' || action FROM redrive.audit WHERE operation_no = %lld ORDER BY no LIMIT 1",
             (long long)no);
    return test_text(actors.world.admin, sql);
}

static void
assert_names_the_operator(const char *prepare, int event)
{
    char wanted[120];
    PGconn *session = test_connect(conninfo_of(actors.operator_));
    test_sql(session, "SET client_min_messages = error");
    test_sql(session, "%s", prepare);
    snprintf(wanted, sizeof wanted, "%s discard", actors.operator_);
    assert_string_equal(audited_in(session, event), wanted);
    PQfinish(session);
}

static void
a_group_does_not_hide_the_person(void **state)
{
    (void)state;
    assert_names_the_operator("SET ROLE redrive_operator", 1);
}

static void
an_application_name_does_not_hide_the_person(void **state)
{
    (void)state;
    assert_names_the_operator("SET application_name = 'redrive/screen/bastion/1 as postgres'", 2);
}

static void
temporary_tables_take_nothing_in(void **state)
{
    (void)state;
    int64_t before = test_number(actors.world.admin, "SELECT count(*) FROM redrive.audit");
    assert_names_the_operator("CREATE TEMP TABLE audit (LIKE redrive.audit INCLUDING ALL);"
                              "CREATE TEMP TABLE operation (LIKE redrive.operation INCLUDING ALL);"
                              "CREATE TEMP TABLE operation_item (LIKE redrive.operation_item);"
                              "CREATE TEMP TABLE dlq_events AS SELECT id, status FROM public.dlq_events;"
                              "SET search_path = pg_temp, public, redrive",
                              3);
    assert_true(test_number(actors.world.admin, "SELECT count(*) FROM redrive.audit") > before);
}

static void
functions_of_his_own_are_not_called(void **state)
{
    (void)state;
    assert_names_the_operator(
        "CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT timestamptz "
        "'2020-01-01' $$;"
        "CREATE FUNCTION pg_temp._audit(text, bigint, bigint, text, text) RETURNS void LANGUAGE sql AS '';"
        "SET search_path = pg_temp, pg_catalog, redrive",
        4);
    assert_int_equal(test_number(actors.world.admin,
                                 "SELECT count(*) FROM redrive.audit WHERE at < now() - interval '1 day'"),
                     0);
}

static void
even_the_owner_needs_to_undo_the_lock_first(void **state)
{
    (void)state;
    assert_string_equal(test_state(actors.world.admin, "DELETE FROM redrive.audit"), "RD003");
    assert_string_equal(test_state(actors.world.admin, "TRUNCATE redrive.audit"), "RD003");
    assert_string_equal(
        test_state(actors.world.admin,
                   "SET session_replication_role = replica; UPDATE redrive.audit SET who = 'x'"),
        "RD003");
    test_sql(actors.world.admin, "RESET session_replication_role");
}

// --- what each level is for ---

static int64_t
ask(struct store *store, enum operation_action action, int64_t first, int64_t last)
{
    return make_operation(&actors.world, store, action, first, last);
}

// Everything that a screen reads.
static void
assert_sees_everything(struct store *store)
{
    const unsigned all = EVENT_NARROW | EVENT_ERROR | EVENT_STACK | EVENT_PAYLOAD | EVENT_RAW | EVENT_GROUP;
    const struct event_query query = {.fields = all, .limit = 10};
    struct arena arena = {0};
    struct event_page page;
    assert_works(store_events(store, &query, &page, &err));
    assert_int_equal(page.count, 10);
    const int64_t id = page.events[0].id;
    event_page_release(&page);
    const struct event_query one = {.fields = all, .ids = &id, .id_count = 1};
    assert_works(store_events(store, &one, &page, &err));
    assert_int_equal(page.count, 1);
    event_page_release(&page);

    size_t ids = 0, count;
    int64_t pending, highest, token = 0, at;
    bool has_changed;
    char by[64];
    struct stats stats;
    struct audit_row *rows;
    struct operation *operations;
    struct preview preview;
    assert_works(store_pending_ids(store, count_ids, &ids, &err));
    assert_works(store_pending_count(store, &pending, &highest, &err));
    assert_works(store_last_closed(store, &at, by, &err));
    assert_works(stats_read(store, false, &arena, &stats, &err));
    assert_works(audit_list(store, &(struct audit_query){.limit = 10}, &arena, &rows, &count, &err));
    assert_works(operation_list(store, 0, 10, &arena, &operations, &count, &err));
    assert_works(operation_changes(store, &token, &has_changed, &err));
    assert_works(look_ahead(store,
                            &(struct preview_query){.action = ACTION_REPROCESS, .ids = &id, .count = 1},
                            &arena, &preview, &err));
    arena_release(&arena);
}

static void
a_viewer_sees_all_and_decides_nothing(void **state)
{
    (void)state;
    assert_int_equal(
        test_number(actors.world.admin,
                    "SELECT count(*) FROM redrive.grants('eva', 'viewer') g WHERE g LIKE '%EXECUTE%'"),
        0);
    struct store *store = store_of(actors.viewer);
    assert_false(store_info(store)->may_decide);
    assert_sees_everything(store);
    const int64_t id = 10;
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = &id, .count = 1, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(actors.world.admin));
    int64_t no;
    char grant[160];
    snprintf(grant, sizeof grant, "GRANT redrive_operator TO \"%s\";", actors.viewer);
    assert_refused(operation_create(store, &request, NULL, NULL, &no, &err), ERR_DENIED, grant);
    snprintf(grant, sizeof grant, "GRANT redrive_worker TO \"%s\";", actors.viewer);
    assert_refused(worker_beat(store, "w", true, "", 0, &err), ERR_DENIED, grant);
    store_close(store);
}

// The screen of somebody who has columns of the table, and not the table, follows what others write into it.
static void
a_viewer_sees_changes(void **state)
{
    (void)state;
    struct store *store = store_of(actors.viewer);
    int64_t mark, *ids;
    size_t count;
    assert_works(store_xmin_floor(store, &mark, &err));
    test_sql(actors.world.admin,
             "UPDATE public.dlq_events SET error_message = error_message || '!' WHERE id = 21");
    assert_works(store_changed_ids(store, mark, ACTORS_EVENTS, 10, &ids, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], 21);
    free(ids);
    store_close(store);
}

static bool
count_text(void *context, int64_t id, struct bytes text)
{
    (void)id;
    (void)text;
    ++*(int *)context;
    return true;
}

// Neither do columns that the table has besides keep a search from reading texts.
static void
a_viewer_reads_every_text(void **state)
{
    static const int64_t ids[] = {31, 32, 33};
    (void)state;
    struct store *store = store_of(actors.viewer);
    for (int text = 0; text < EVENT_TEXT_COUNT; text++) {
        struct event_texts_query query = {
            .text = (enum event_text)text, .after_id = 30, .before_id = 34, .limit = 10};
        int seen = 0;
        assert_works(store_event_texts(store, &query, count_text, &seen, &err));
        query.ascending = true;
        assert_works(store_event_texts(store, &query, count_text, &seen, &err));
        query.ids = ids;
        query.id_count = 3;
        assert_works(store_event_texts(store, &query, count_text, &seen, &err));
        assert_int_equal(seen, 9);
    }
    store_close(store);
}

static void
an_operator_asks_steers_and_carries_out(void **state)
{
    (void)state;
    struct store *store = store_of(actors.operator_);
    assert_true(store_info(store)->may_decide);
    assert_sees_everything(store);
    int64_t no = ask(store, ACTION_DISCARD, 11, 13), applied, left;
    assert_works(operation_steer(store, no, STEER_PAUSE, 0, NULL, &err));
    assert_works(operation_steer(store, no, STEER_RESUME, 0, NULL, &err));
    assert_works(work_apply(store, no, 10, &applied, &left, &err));
    assert_int_equal(applied, 3);
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM public.dlq_events WHERE status = 'DISCARDED' AND resolved_by = '%s'",
             actors.operator_);
    assert_int_equal(test_number(actors.world.admin, sql), 3);
    store_close(store);
}

static struct claim
claim_some(struct store *store, struct slot *slot, int64_t operation, size_t limit)
{
    struct claim claim = {0};
    char id[UUID_SIZE];
    snprintf(id, sizeof id, "%s", new_uuid(actors.world.admin));
    assert_works(slot_acquire(store, "kafka-1", "w", NULL, 0, slot, &err));
    assert_works(
        chunk_claim(store, slot, operation, id, limit, MANY_BYTES, &actors.world.arena, &claim, &err));
    assert_int_equal(claim.count, limit);
    return claim;
}

static void
a_worker_carries_out_what_others_asked_for(void **state)
{
    (void)state;
    struct store *operator_ = store_of(actors.operator_), *worker = store_of(actors.worker);
    int64_t no = ask(operator_, ACTION_REPROCESS, 20, 24);
    assert_false(store_info(worker)->may_decide);
    const int64_t id = 30;
    struct operation_request request = {
        .action = ACTION_DISCARD, .ids = &id, .count = 1, .scope = "x", .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(actors.world.admin));
    int64_t refused;
    assert_refused(operation_create(worker, &request, NULL, NULL, &refused, &err), ERR_DENIED,
                   "GRANT redrive_operator TO");
    assert_refused(operation_steer(worker, no, STEER_CANCEL, 0, NULL, &err), ERR_DENIED,
                   "GRANT redrive_operator TO");

    const struct cluster cluster = {
        .name = "kafka-1", .promise = PROMISE_EXACTLY_ONCE, .words = "exactly once", .evidence = "tried"};
    struct slot slot;
    assert_works(worker_beat(worker, "w", true, "starting", 0, &err));
    assert_works(cluster_put(worker, &cluster, &err));
    struct claim claim = claim_some(worker, &slot, no, 5);
    assert_works(slot_heartbeat(worker, &slot, &err));
    assert_works(chunk_finish(worker, &slot, &claim.chunk, CHUNK_COMMITTED, "read back", &err));
    assert_works(slot_release(worker, &slot, &err));
    assert_works(worker_gone(worker, "w", &err));
    struct operation operation = get_operation(&actors.world, no);
    assert_int_equal(operation.state, OPERATION_DONE);
    // Two names: who asked is in the table of dead letters, who sent is in the audit.
    char sql[240];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM public.dlq_events WHERE status = 'RESOLVED' AND resolved_by = '%s'",
             actors.operator_);
    assert_int_equal(test_number(actors.world.admin, sql), 5);
    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM redrive.audit WHERE action = 'finish' AND operation_no = %lld AND who = '%s'",
        (long long)no, actors.worker);
    assert_int_equal(test_number(actors.world.admin, sql), 1);
    store_close(operator_);
    store_close(worker);
}

// Who says what kind a group is of stands beside it, the last one, and in the audit each.
static void
a_category_is_of_whom_gave_it(void **state)
{
    (void)state;
    static const struct {
        const char *who;
        enum category category;
        bool is_taken_back;
        const char *detail;
    } turns[] = {
        {actors.operator_, CATEGORY_DATA, false, "group 00000000000000ff: data, before: by the rules"},
        {actors.admin, CATEGORY_SYSTEM, false, "group 00000000000000ff: system, before: data"},
        {actors.operator_, CATEGORY_DATA, true, "group 00000000000000ff: by the rules, before: system"},
    };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct store *store = store_of(turns[i].who);
        assert_works(store_category_set(store, 255, turns[i].is_taken_back ? NULL : &turns[i].category,
                                        "because", &err));
        store_close(store);
        assert_string_equal(
            test_text(actors.world.admin, "SELECT who FROM redrive.group_category WHERE group_key = 255"),
            turns[i].who);
        char want[400];
        snprintf(want, sizeof want, "%s because %s", turns[i].who, turns[i].detail);
        assert_string_equal(test_text(actors.world.admin,
                                      "SELECT concat_ws(' ', who, reason, detail) FROM "
                                      "redrive.audit WHERE action = 'category' ORDER BY no "
                                      "DESC LIMIT 1"),
                            want);
    }
    const char *const others[] = {actors.viewer, actors.worker};
    for (size_t i = 0; i < 2; i++) {
        struct store *store = store_of(others[i]);
        assert_refused(store_category_set(store, 255, &turns[0].category, "x", &err), ERR_DENIED,
                       "GRANT redrive_operator TO");
        store_close(store);
    }
    assert_int_equal(
        test_number(actors.world.admin, "SELECT count(*) FROM redrive.audit WHERE action = 'category'"), 3);
}

// A chunk of `operation` that nobody can decide any more.
static const char *
put_in_doubt(struct store *store, int64_t operation, size_t events)
{
    static char id[UUID_SIZE];
    struct slot slot;
    struct claim claim = claim_some(store, &slot, operation, events);
    assert_works(chunk_finish(store, &slot, &claim.chunk, CHUNK_IN_DOUBT, "the marker is gone", &err));
    snprintf(id, sizeof id, "%s", claim.chunk.id);
    return id;
}

static void
an_admin_decides_what_is_in_doubt(void **state)
{
    (void)state;
    struct store *operator_ = store_of(actors.operator_), *admin = store_of(actors.admin);
    int64_t no = ask(operator_, ACTION_REPROCESS, 31, 36), events;
    char published[9], again[9];
    snprintf(published, sizeof published, "%.8s", put_in_doubt(operator_, no, 2));
    snprintf(again, sizeof again, "%.8s", put_in_doubt(operator_, no, 4));

    struct doubt *chunks;
    size_t count;
    assert_works(doubt_list(operator_, no, &actors.world.arena, &chunks, &count, &err));
    assert_int_equal(count, 2);
    assert_string_equal(chunks[0].evidence, "the marker is gone");
    assert_int_equal(chunks[0].events, 2);

    assert_non_null(strstr(chunks[0].denied, "GRANT redrive_admin TO"));
    assert_true(chunks[0].is_searched);
    assert_works(doubt_list(admin, no, &actors.world.arena, &chunks, &count, &err));
    assert_null(chunks[0].denied);

    assert_refused(doubt_decide(operator_, no, published, true, "seen", &events, &err), ERR_DENIED,
                   "GRANT redrive_admin TO");
    assert_refused(doubt_decide(admin, no, published, true, " ", &events, &err), ERR_USAGE, "--reason");
    assert_refused(doubt_decide(admin, no, "", true, "seen", &events, &err), ERR_NOT_FOUND,
                   "2 chunks in doubt");
    assert_refused(doubt_decide(admin, no + 1, published, true, "seen", &events, &err), ERR_NOT_FOUND,
                   "0 chunks");
    assert_works(doubt_decide(admin, no, published, true, "both seen in the topic", &events, &err));
    assert_int_equal(events, 2);
    assert_refused(doubt_decide(admin, no, published, true, "once more", &events, &err), ERR_NOT_FOUND,
                   "0 chunks");
    assert_works(doubt_decide(admin, no, again, false, "none is in the topic", &events, &err));

    struct operation operation = get_operation(&actors.world, no);
    assert_int_equal(operation.done, 2);
    assert_int_equal(operation.queued, 4);
    assert_int_equal(operation.in_doubt, 0);
    assert_int_equal(test_number(actors.world.admin, "SELECT count(*) FROM redrive.slot WHERE is_suspended"),
                     0);
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT string_agg(reason || '|' || substring(detail FROM '; evidence: .*'), ' ' ORDER BY "
             "no) FROM redrive.audit"
             " WHERE action = 'decide' AND who = '%s' AND operation_no = %lld",
             actors.admin, (long long)no);
    assert_string_equal(test_text(actors.world.admin, sql),
                        "both seen in the topic|; evidence: the marker is gone "
                        "none is in the topic|; evidence: the marker is gone");
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.chunk WHERE decided_by = '%s'", actors.admin);
    assert_int_equal(test_number(actors.world.admin, sql), 2);
    store_close(operator_);
    store_close(admin);
}

static void
a_decision_takes_the_slot_from_whoever_looks_at_it(void **state)
{
    (void)state;
    struct store *operator_ = store_of(actors.operator_), *admin = store_of(actors.admin);
    int64_t no = ask(operator_, ACTION_REPROCESS, 41, 42), events;
    const char *chunk = put_in_doubt(operator_, no, 2);
    test_sql(actors.world.admin, "UPDATE redrive.slot SET lease_until = '-infinity'");
    struct slot slot;
    struct chunk found;
    assert_works(slot_acquire_in_doubt(operator_, "kafka-1", "scanner", NULL, 0, &slot, &err));
    assert_works(slot_check(operator_, &slot, &found, &err));
    assert_works(doubt_decide(admin, no, chunk, true, "seen", &events, &err));
    assert_refused(chunk_finish_scanned(operator_, &slot, &found, NULL, 0, "found 0 of 2", &err),
                   ERR_CONFLICT, "taken over");
    assert_int_equal(get_operation(&actors.world, no).done, 2);
    store_close(operator_);
    store_close(admin);
}

static void
an_admin_releases_a_suspended_slot(void **state)
{
    (void)state;
    struct store *worker = store_of(actors.worker), *admin = store_of(actors.admin);
    struct slot slot;
    struct doubt *doubts;
    size_t count;
    test_sql(actors.world.admin, "UPDATE redrive.slot SET lease_until = '-infinity'");
    assert_works(slot_acquire(worker, "kafka-1", "w", NULL, 0, &slot, &err));
    assert_works(slot_suspend(worker, &slot, "the marker is somebody else's", &err));
    assert_works(doubt_list(worker, 0, &actors.world.arena, &doubts, &count, &err));
    assert_int_equal(count, 1);
    assert_null(doubts[0].chunk);
    assert_int_equal(doubts[0].slot, slot.no);
    assert_string_equal(doubts[0].evidence, "the marker is somebody else's");
    assert_non_null(strstr(doubts[0].denied, "GRANT redrive_admin TO"));

    assert_refused(doubt_renew(worker, "kafka-1", slot.no, "seen", &err), ERR_DENIED, "redrive_admin");
    assert_refused(doubt_renew(admin, "kafka-1", slot.no, " ", &err), ERR_USAGE, "--reason");
    assert_works(doubt_renew(admin, "kafka-1", slot.no, "the other database is gone", &err));
    assert_refused(doubt_renew(admin, "kafka-1", slot.no, "once more", &err), ERR_NOT_FOUND, "not suspended");
    assert_refused(slot_heartbeat(worker, &slot, &err), ERR_CONFLICT, "taken over");
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT generation FROM redrive.slot WHERE no = %d AND NOT is_suspended",
             slot.no);
    assert_int_equal(test_number(actors.world.admin, sql), slot.generation + 1);
    assert_works(doubt_list(admin, 0, &actors.world.arena, &doubts, &count, &err));
    assert_int_equal(count, 0);
    store_close(admin);
    store_close(worker);
}

int
main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(a_group_does_not_hide_the_person),
        cmocka_unit_test(an_application_name_does_not_hide_the_person),
        cmocka_unit_test(temporary_tables_take_nothing_in),
        cmocka_unit_test(functions_of_his_own_are_not_called),
        cmocka_unit_test(even_the_owner_needs_to_undo_the_lock_first),
        cmocka_unit_test(a_viewer_sees_all_and_decides_nothing),
        cmocka_unit_test(a_viewer_sees_changes),
        cmocka_unit_test(a_viewer_reads_every_text),
        cmocka_unit_test(an_operator_asks_steers_and_carries_out),
        cmocka_unit_test(a_worker_carries_out_what_others_asked_for),
        cmocka_unit_test(a_category_is_of_whom_gave_it),
        cmocka_unit_test(an_admin_decides_what_is_in_doubt),
        cmocka_unit_test(a_decision_takes_the_slot_from_whoever_looks_at_it),
        cmocka_unit_test(an_admin_releases_a_suspended_slot),
    };
    enum { OTHERS = sizeof others / sizeof *others };
    static struct CMUnitTest tests[ATTEMPTS + OTHERS];
    static struct attempt states[ATTEMPTS];
    memcpy(states, attempts, sizeof states);
    for (size_t i = 0; i < ATTEMPTS; i++)
        tests[i] = (struct CMUnitTest){.name = attempts[i].what,
                                       .test_func = is_refused_and_leaves_the_audit_alone,
                                       .initial_state = &states[i]};
    memcpy(tests + ATTEMPTS, others, sizeof others);
    return cmocka_run_group_tests_name("rights", tests, begin_actors, end_actors);
}
