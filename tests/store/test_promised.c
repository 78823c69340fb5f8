// What was promised is what is done: the forecast of a thousand random selections against what becomes of
// their operations: which events are frozen, and what the worker's plan makes of each.
#include "base/alloc.h"
#include "core/selection.h"
#include "core/target.h"
#include "publish/plan.h"
#include "store/operations/topics.h"
#include "tests/lib/forecast.h"
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

// What Kafka says. The others were never asked about.
static const char *const topic_names[] = {"orders", "paid", "audit", "late"};
static const struct topic topic_facts[] = {
    {TOPIC_KNOWN, 3, 4000}, {TOPIC_KNOWN, 12, -1}, {TOPIC_DENIED, 0, -1}, {TOPIC_MISSING, 0, -1}};
enum { FACTS = sizeof topic_names / sizeof *topic_names };

static const struct topic *
fact_of(const char *name)
{
    for (size_t i = 0; i < FACTS; i++)
        if (strcmp(topic_names[i], name) == 0)
            return &topic_facts[i];
    return NULL;
}

// A worker has asked about these topics.
static void
learn_topics(struct world *world)
{
    struct topic_known known[FACTS];
    bool has_worker;
    for (size_t i = 0; i < FACTS; i++)
        known[i] = (struct topic_known){topic_facts[i].state == TOPIC_KNOWN     ? ANSWER_KNOWN
                                        : topic_facts[i].state == TOPIC_MISSING ? ANSWER_MISSING
                                                                                : ANSWER_DENIED,
                                        topic_facts[i].partitions, topic_facts[i].max_bytes, 0};
    assert_works(topics_want(world->store, topic_names, FACTS, &has_worker, &err));
    assert_false(has_worker);
    assert_works(topics_answer(world->store, "a", topic_names, known, FACTS, &err));
}

// Dead letters, in the rows' own payloads and kept as records: the same topic as the name of their queue
// says, another one, one that Kafka does not have, and one that cannot be; and some that have nothing to
// send.
static void
fill_letters(struct world *world)
{
    test_sql(
        world->admin,
        "UPDATE public.dlq_events SET event_payload = jsonb_build_object('message_id', id, 'queue',"
        " (ARRAY['orders', 'paid', 'late', 'orders_dlq', 'a b'])[1 + id %% 5], 'data', 1, 'error',"
        " jsonb_build_object('message', 'boom'), 'retry_count', 3) WHERE id %% 8 = 1;"
        "UPDATE public.dlq_events SET event_payload = jsonb_build_object('type',"
        " 'io.nats.jetstream.advisory.v1.max_deliver', 'stream', 's', 'stream_seq', id, 'deliveries', 5, 'x',"
        " (SELECT string_agg(md5(id || ' ' || i), '') FROM generate_series(1, 80) AS i)) WHERE id %% 23 = 2;"
        "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names, "
        "header_values)"
        " SELECT id, 'central-dlq', 0, id, 'k', '{\"a\": 1}', '{dlq.error.message,dlq.original.topic}',"
        "  ARRAY['boom', (ARRAY['orders', 'audit', 'paid'])[1 + id %% 3]]::bytea[]"
        "  FROM public.dlq_events WHERE id %% 16 = 3");
}

// Topics of every kind, places beyond the last partition, payloads too large and one that cannot be read, two
// rows for one record, corrections of targets, closed and returned events, and two operations in flight.
static void
fill(struct world *world)
{
    world_make(world, EVENTS);
    test_sql(world->admin,
             "UPDATE public.dlq_events SET kafka_topic = (ARRAY['orders', 'orders_dlq', NULL, "
             "'paid',"
             " 'redrive.marker', 'dlq.paid'])[1 + id %% 6],"
             " kafka_partition = nullif(id %% 7, 6), kafka_offset = id;"
             "UPDATE public.dlq_events SET event_payload = jsonb_build_object('a', repeat('x', 3000 + "
             "(100 * id)::int)) WHERE id %% 9 = 0;"
             "UPDATE public.dlq_events SET event_payload = (SELECT jsonb_agg('1e131071'::jsonb) FROM "
             "generate_series(1, 9000)) WHERE id = 102;"
             "UPDATE public.dlq_events e SET kafka_topic = f.kafka_topic, kafka_partition = "
             "f.kafka_partition, kafka_offset = f.kafka_offset, event_id = f.event_id"
             "  FROM public.dlq_events f WHERE e.id %% 17 = 0 AND f.id = e.id - 6;"
             "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE id %% 11 = 0;"
             "INSERT INTO redrive.revision (dlq_id, no, topic, author) SELECT id, 1,"
             " (ARRAY['paid', 'orders_dlq', 'audit', NULL])[1 + id %% 4], 'ana' FROM "
             "public.dlq_events"
             "  WHERE id %% 5 = 0;"
             "INSERT INTO redrive.revision (dlq_id, no, parent, topic, author) SELECT id, 2, 1, "
             "'late', 'ana'"
             "  FROM public.dlq_events WHERE id %% 35 = 0;"
             "INSERT INTO redrive.revision (dlq_id, no, partition, author) SELECT id, 3, id %% 20, 'ana'"
             "  FROM public.dlq_events WHERE id %% 14 = 0;"
             "INSERT INTO redrive.revision (dlq_id, no, payload, author) SELECT id, 4,"
             " convert_to(repeat(' ', 2500 + 5 * id::int) || '1', 'UTF8'), 'ana'"
             "  FROM public.dlq_events WHERE id %% 19 = 0;"
             "INSERT INTO redrive.returned (dlq_id, operation_no, times) SELECT id, 1, 2 + id %% 4 FROM "
             "public.dlq_events"
             "  WHERE id %% 13 = 0");
    fill_letters(world);
    (void)make_operation(world, world->store, ACTION_REPROCESS, 50, 70);
    (void)make_operation(world, world->store, ACTION_DISCARD, 200, 215);
    learn_topics(world);
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

// What the worker makes of one event.
static const char *
planned_topic(struct world *world, const struct event *event, const char *to, const char **refusal)
{
    struct plan plan;
    const struct plan_settings settings = {0};
    struct plan_input input = {.event = event, .target_topic = to};
    plan_place(&settings, &input, &world->arena, &plan);
    input.topic = fact_of(plan.topic);
    plan_make(&settings, &input, &world->arena, &plan);
    *refusal = plan.refusal;
    return plan.topic;
}

// How many the forecast promises to send to this topic.
static int64_t
promised(const struct preview *preview, const char *topic)
{
    int64_t count = 0;
    for (size_t i = 0; i < preview->topic_count; i++)
        if (!preview->topics[i].refusal && strcmp(preview->topics[i].topic, topic) == 0)
            count += preview->topics[i].count;
    return count;
}

static int64_t
promised_refusals(const struct preview *preview, const char *reason)
{
    int64_t count = 0;
    for (size_t i = 0; i < preview->topic_count; i++)
        if (preview->topics[i].refusal && strcmp(preview->topics[i].refusal, reason) == 0)
            count += preview->topics[i].count;
    return count;
}

static bool
is_single(const struct preview *preview, const char *reason)
{
    bool is_size = strncmp(reason, "message of ", strlen("message of ")) == 0;
    for (size_t i = 0; i < preview->refused.by_count; i++)
        if (is_size ? preview->refused.by[i].too_large_for != NULL
                    : strcmp(preview->refused.by[i].reason, reason) == 0)
            return true;
    return false;
}

struct met {
    char words[300];
    int64_t count;
};

static void
meet(struct met *met, size_t *count, const char *words)
{
    size_t i = 0;
    while (i < *count && strcmp(met[i].words, words) != 0)
        i++;
    if (i == *count)
        snprintf(met[(*count)++].words, sizeof met->words, "%s", words);
    met[i].count++;
}

// The events that the operation holds, planned one by one, are those of the forecast: by topic, and by the
// words that refuse them.
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
        .takes_unreadable = true, .fields = EVENT_PLANNED, .ids = ids, .id_count = count};
    assert_works(store_events(world->store, &query, &page, &err));
    assert_int_equal(page.count, count);
    struct met sent[MOST] = {0}, refused[MOST] = {0};
    size_t sent_count = 0, refused_count = 0, all_refused = 0;
    for (size_t e = 0; e < page.count; e++) {
        const char *refusal;
        const char *topic = planned_topic(world, &page.events[e], to, &refusal);
        all_refused += refusal != NULL;
        if (refusal && is_single(preview, refusal))
            meet(sent, &sent_count, topic); // it is counted with its topic, and refused besides
        else if (refusal)
            meet(refused, &refused_count, refusal);
        else
            meet(sent, &sent_count, topic);
    }
    assert_int_equal(all_refused, preview->refused.events);
    int64_t foretold = 0;
    for (size_t i = 0; i < sent_count; i++) {
        assert_int_equal(sent[i].count, promised(preview, sent[i].words));
        foretold += sent[i].count;
    }
    for (size_t i = 0; i < refused_count; i++) {
        assert_int_equal(refused[i].count, promised_refusals(preview, refused[i].words));
        foretold += refused[i].count;
    }
    assert_int_equal(foretold, preview->open);
    event_page_release(&page);
}

static void
compare(struct world *world, enum operation_action action, int64_t *ids, size_t count, const char *to)
{
    struct preview preview;
    struct preview_query query = {.action = action, .ids = ids, .count = count, .to = to};
    assert_works(look_ahead(world->store, &query, &world->arena, &preview, &err));
    if (preview.quarantine.id_count) { // left out, and the rest counted again, as dialog and command do
        query.count = ids_without(ids, count, preview.quarantine.ids, preview.quarantine.id_count);
        assert_works(look_ahead(world->store, &query, &world->arena, &preview, &err));
        assert_int_equal(preview.quarantine.events, 0);
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
        assert_int_equal(preview.refused.events, preview.open);
        assert_refused(operation_create(world->store, &request, NULL, NULL, &no, &err), ERR_USAGE, to);
        return;
    }
    assert_works(operation_create(world->store, &request, NULL, NULL, &no, &err));
    struct operation made = get_operation(world, no);
    assert_int_equal(made.queued, preview.open);
    assert_int_equal(made.skipped, preview.closed + preview.busy + preview.repeated);
    assert_int_equal(preview.refused.unmeasured, 0);
    if (action == ACTION_REPROCESS && made.queued)
        compare_targets(world, no, to, &preview);
    if (made.queued)
        assert_works(operation_steer(world->store, no, STEER_CANCEL, 0, NULL, &err));
    arena_reset(&world->arena);
}

static void
a_dry_run_promises_what_becomes_of_it(void **state)
{
    (void)state;
    static const enum operation_action actions[] = {ACTION_REPROCESS, ACTION_REPROCESS, ACTION_REPROCESS,
                                                    ACTION_DISCARD, ACTION_RESOLVE};
    static const char *const targets[] = {NULL,    NULL,         "orders",       "audit",
                                          "fresh", "orders_dlq", "redrive.probe"};
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
