// What was promised is what is done: the dry run of a thousand random selections against what becomes of
// their operations.
#include "base/alloc.h"
#include "core/selection.h"
#include "core/target.h"
#include "publish/plan.h"
#include "world.h"

enum { EVENTS = 400, SELECTIONS = 1000, MOST = 60 };

static uint64_t random_state = 42;

static uint64_t
pick(uint64_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * 2685821657736338717ULL >> 33) % below;
}

// Topics of every kind, corrections of targets, closed and returned events, and two operations in flight.
static void
fill(struct world *world)
{
    world_make(world, EVENTS);
    test_sql(world->admin,
             "UPDATE public.dlq_events SET kafka_topic = (ARRAY['orders', 'orders_dlq', NULL, "
             "'paid',"
             " 'redrive.marker', 'dlq.paid'])[1 + id %% 6];"
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE id %% 11 = 0;"
             "INSERT INTO redrive.revision (dlq_id, no, topic, author) SELECT id, 1,"
             " (ARRAY['paid', 'orders_dlq', 'audit', NULL])[1 + id %% 4], 'ana' FROM "
             "public.dlq_events"
             "  WHERE id %% 5 = 0;"
             "INSERT INTO redrive.revision (dlq_id, no, parent, topic, author) SELECT id, 2, 1, "
             "'late', 'ana'"
             "  FROM public.dlq_events WHERE id %% 35 = 0;"
             "INSERT INTO redrive.returned (dlq_id, operation_no, times) SELECT id, 1, 2 + id %% 4 FROM "
             "public.dlq_events"
             "  WHERE id %% 13 = 0");
    (void)make_operation(world, world->store, ACTION_REPROCESS, 50, 70);
    (void)make_operation(world, world->store, ACTION_DISCARD, 200, 215);
}

static size_t
choose(int64_t ids[MOST])
{
    size_t wanted = 1 + pick(MOST), count = 0;
    for (int64_t id = 1; id <= EVENTS + 5 && count < wanted; id++) // the last ones do not exist
        if (pick((uint64_t)(EVENTS + 6 - id)) < wanted - count)
            ids[count++] = id;
    return count;
}

// What the worker makes of one event, without a broker to ask.
static const char *
planned_topic(struct world *world, const struct event *event, const char *to, const char **refusal)
{
    struct plan plan;
    plan_make(&(struct plan_settings){0}, &(struct plan_input){.event = event, .target_topic = to},
              &world->arena, &plan);
    *refusal = plan.refusal;
    return plan.topic;
}

static int64_t
promised(const struct preview *preview, const char *topic)
{
    for (size_t i = 0; i < preview->topic_count; i++)
        if (strcmp(preview->topics[i].topic ? preview->topics[i].topic : "", topic) == 0)
            return preview->topics[i].count;
    return 0;
}

// The events that the operation holds, planned one by one, are those of the preview by topic.
static void
compare_targets(struct world *world, int64_t no, const char *to, const struct preview *preview)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT coalesce(string_agg(dlq_id::text, ' ' ORDER BY dlq_id), '') FROM redrive.item"
             " WHERE operation_no = %lld AND state = 'queued'",
             (long long)no);
    int64_t ids[MOST];
    size_t count = 0;
    char *text = alloc_text(test_text(world->admin, sql)), *rest = text;
    for (char *word; (word = strsep(&rest, " ")) && *word;)
        ids[count++] = strtoll(word, NULL, 10);
    free(text);
    struct event_page page = {0};
    const struct event_query query = {
        .fields = EVENT_SENT | EVENT_PAYLOAD | EVENT_RAW, .ids = ids, .id_count = count};
    assert_works(store_events(world->store, &query, &page, &err));
    assert_int_equal(page.count, count);
    int64_t refused = 0;
    for (size_t i = 0; i < preview->topic_count; i++) {
        int64_t met = 0;
        for (size_t e = 0; e < page.count; e++) {
            const char *refusal;
            const char *topic = planned_topic(world, &page.events[e], to, &refusal);
            bool is_it = strcmp(topic, preview->topics[i].topic ? preview->topics[i].topic : "") == 0;
            met += is_it;
            refused += is_it && refusal;
            if (is_it && !refusal != !preview->topics[i].refusal)
                fail_msg("event %lld to %s: %s, promised: %s", (long long)page.events[e].id, topic,
                         refusal ? refusal : "sent",
                         preview->topics[i].refusal ? preview->topics[i].refusal : "sent");
            if (is_it && refusal)
                assert_string_equal(refusal, preview->topics[i].refusal);
        }
        assert_int_equal(met, promised(preview, preview->topics[i].topic ? preview->topics[i].topic : ""));
    }
    assert_int_equal(refused, preview->refused);
    event_page_release(&page);
}

static void
compare(struct world *world, enum operation_action action, int64_t *ids, size_t count, const char *to)
{
    struct preview preview;
    struct preview_query query = {.action = action, .ids = ids, .count = count, .to = to};
    assert_works(operation_preview(world->store, &query, &world->arena, &preview, &err));
    if (preview.quarantined_count) { // left out, and the rest counted again, as dialog and command do
        query.count = ids_without(ids, count, preview.quarantined_ids, preview.quarantined_count);
        assert_works(operation_preview(world->store, &query, &world->arena, &preview, &err));
        assert_int_equal(preview.quarantined, 0);
    }
    if (query.count == 0)
        return;
    struct operation_request request = {.action = action,
                                        .ids = ids,
                                        .count = query.count,
                                        .scope = "a promise",
                                        .target_topic = to,
                                        .rate = RATE_UNLIMITED};
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world->admin));
    int64_t no = 0;
    if (to && !target_check(bytes_of(to), NULL)) { // all of them were to be refused: it is not even begun
        assert_int_equal(preview.refused, preview.open);
        assert_refused(operation_create(world->store, &request, NULL, NULL, &no, &err), ERR_USAGE, to);
        return;
    }
    assert_works(operation_create(world->store, &request, NULL, NULL, &no, &err));
    struct operation made = get_operation(world, no);
    assert_int_equal(made.queued, preview.open);
    assert_int_equal(made.skipped, preview.closed + preview.busy);
    if (action == ACTION_REPROCESS && made.queued)
        compare_targets(world, no, to, &preview);
    if (made.queued)
        assert_works(operation_steer(world->store, no, STEER_CANCEL, 0, &err));
    arena_reset(&world->arena);
}

static void
a_dry_run_promises_what_becomes_of_it(void **state)
{
    (void)state;
    static const enum operation_action actions[] = {ACTION_REPROCESS, ACTION_REPROCESS, ACTION_REPROCESS,
                                                    ACTION_DISCARD, ACTION_RESOLVE};
    static const char *const targets[] = {NULL, NULL, "audit", "orders_dlq", "redrive.probe"};
    struct world world;
    fill(&world);
    for (int i = 0; i < SELECTIONS; i++) {
        int64_t ids[MOST];
        size_t count = choose(ids);
        enum operation_action action = actions[pick(sizeof actions / sizeof *actions)];
        const char *to = targets[pick(sizeof targets / sizeof *targets)];
        compare(&world, action, ids, count, action == ACTION_REPROCESS ? to : NULL);
    }
    world_end(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dry_run_promises_what_becomes_of_it),
    };
    return cmocka_run_group_tests_name("promised", tests, NULL, NULL);
}
