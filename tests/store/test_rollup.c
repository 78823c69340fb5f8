// The rollup against the table itself: every event fingerprinted and counted.
#include "world.h"

#include <stdatomic.h>
#include "async/thread.h"
#include "base/alloc.h"
#include "core/backlog/backlog.h"
#include "core/selection.h"
#include "rollup/maintainer.h"
#include "search/choose.h"
#include "store/events/events.h"
#include "store/rollup/rollup.h"

struct bench {
    struct world world;
    struct maintainer *maintainer;
};

static void
begin(struct bench *bench, int events)
{
    *bench = (struct bench){0};
    world_make_with_rules(&bench->world, events);
    bench->maintainer = maintainer_create(&bench->world.settings);
}

static void
end(struct bench *bench)
{
    maintainer_destroy(bench->maintainer);
    world_end(&bench->world);
}

// The expected counts: the table, event by event, into the backlog that counts rows.
static struct backlog *
count_rows(struct bench *bench)
{
    struct backlog *backlog = backlog_create();
    int64_t below = 0;
    for (bool has_below = false;; has_below = true) {
        struct event_page page = {0};
        struct event_query query = {.fields = EVENT_GROUP | EVENT_COUNTED,
                                    .statuses = 1u << EVENT_PENDING,
                                    .before_id = below,
                                    .has_before = has_below,
                                    .limit = 500};
        assert_works(store_events(bench->world.store, &query, &page, &err));
        backlog_add(backlog, page.events, page.count);
        size_t count = page.count;
        below = count ? page.events[count - 1].id : 0;
        event_page_release(&page);
        if (count < query.limit)
            return backlog;
    }
}

static const struct event_group *
find_group(const struct group_list *list, const char *value)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->groups[i].value, value) == 0)
            return &list->groups[i];
    return NULL;
}

// `a` is of the rows, `b` of the rollup, which remembers when a group was first seen after its first event
// left.
static bool
is_same_group(enum pivot pivot, const struct event_group *a, const struct event_group *b)
{
    bool same = a->count == b->count && memcmp(a->heat, b->heat, sizeof a->heat) == 0;
    for (int i = 0; i < GROUP_TOP; i++)
        same = same && a->types[i].count == b->types[i].count && a->topics[i].count == b->topics[i].count;
    if (pivot == PIVOT_HOUR)
        return same;
    return same && a->first_at >= b->first_at && a->last_at == b->last_at &&
           a->retries_low == b->retries_low && a->retries_high == b->retries_high;
}

// Asserts that rollup and table agree by every pivot, and in the list of each group's events.
static bool
agrees(struct bench *bench)
{
    bool same = true;
    struct backlog *expected = count_rows(bench);
    struct backlog *rollup = backlog_create();
    assert_works(rollup_read(bench->world.store, rollup, true, &err));
    int64_t now = clock_now();
    for (enum pivot pivot = PIVOT_ERROR; same && pivot < PIVOT_PATH; pivot++) {
        struct arena arena = {0};
        struct group_list a, b;
        backlog_groups(expected, pivot, NULL, now, &arena, &a);
        backlog_groups(rollup, pivot, NULL, now, &arena, &b);
        same = a.count == b.count && a.events == b.events;
        if (pivot == PIVOT_CATEGORY) { // rows and rollup learn the category in two ways
            arena_release(&arena);
            continue;
        }
        for (size_t i = 0; same && i < a.count; i++) {
            const struct event_group *other = find_group(&b, a.groups[i].value);
            same = other && is_same_group(pivot, &a.groups[i], other);
        }
        arena_release(&arena);
    }
    backlog_destroy(expected);
    backlog_destroy(rollup);
    return same;
}

static const int64_t PATIENCE = 120 * US_PER_SECOND;

// Lets the maintainer work until rollup and table agree.
static void
await_agreement(struct bench *bench)
{
    int64_t until = clock_mono() + PATIENCE;
    for (;;) {
        int64_t wait = maintainer_step(bench->maintainer);
        if (maintainer_is_exact(bench->maintainer) && agrees(bench))
            return;
        if (clock_mono() > until)
            fail_msg("the rollup does not agree with the table");
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
}

static void
vary(struct bench *bench)
{
    test_sql(
        bench->world.admin,
        "UPDATE public.dlq_events SET event_type = 'type.' || id %% 3, kafka_topic = CASE id %% 4 WHEN 0 THEN"
        " NULL ELSE 'topic.' || id %% 4 END, retry_count = id %% 5, source_table = NULLIF('s' ||"
        " id %% 2, 's1'), created_at = now() - make_interval(mins => (id * 7 %% 3000)::int), error_message ="
        " (ARRAY['timeout after ' || id || ' ms', 'duplicate key value violates unique constraint \"c_' || "
        "id %%"
        " 3 || '\"', '결제 실패 ' || id, 'order is closed'])[1 + id %% 4]");
}

static void
the_first_count_is_the_table(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 9000);
    vary(&bench);
    await_agreement(&bench);
    struct rollup_state rollup;
    assert_works(rollup_state(bench.world.store, &rollup, &err));
    assert_true(rollup.is_ours && rollup.is_kept && rollup.may_keep && !rollup.is_counting);
    assert_int_equal(rollup.counted, 9000);
    assert_int_equal(rollup.behind, 0);
    end(&bench);
}

static struct rollup_state
state_of(struct bench *bench)
{
    struct rollup_state state;
    assert_works(rollup_state(bench->world.store, &state, &err));
    return state;
}

// Counts are exact before lists and rows are complete. A maintainer that vanishes leaves them to the next
// one, which also handles events that were closed or arrived in between.
static void
counts_come_before_lists(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 12000);
    vary(&bench);
    while (!state_of(&bench).exists || state_of(&bench).is_counting)
        maintainer_step(bench.maintainer);
    assert_true(state_of(&bench).is_listing);
    assert_true(agrees(&bench));
    assert_false(maintainer_is_exact(bench.maintainer));
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_event"), 0);

    add_events(bench.world.admin, 10);
    int64_t no = make_operation(&bench.world, bench.world.store, ACTION_DISCARD, 5000, 5999);
    int64_t applied, left = 1;
    while (left > 0)
        assert_works(work_apply(bench.world.store, no, 500, &applied, &left, &err));
    for (int i = 0; i < 2; i++) {
        maintainer_destroy(bench.maintainer);
        bench.maintainer = maintainer_create(&bench.world.settings);
        maintainer_step(bench.maintainer);
    }
    assert_true(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_event") > 0);
    await_agreement(&bench);
    assert_false(state_of(&bench).is_listing);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_event"), 11010);
    end(&bench);
}

// Others close, delete, set back and insert events, in equal numbers so that no count shows it; low ids are
// committed long after higher ones.
static void
changes_of_others_are_found(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 4000);
    PGconn *admin = bench.world.admin;
    vary(&bench);
    await_agreement(&bench);

    PGconn *late = test_connect(bench.world.conninfo);
    test_sql(late, "BEGIN; INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message)"
                   " SELECT 'late-' || i, 'late', '{}', 'late' FROM generate_series(1, 100) AS i");
    add_events(admin, 50);
    await_agreement(&bench);
    test_sql(late, "COMMIT");
    await_agreement(&bench);
    assert_int_equal(test_number(admin, "SELECT sum(n) FROM redrive.rollup_total"), 4150);

    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id %% 10 = 3");
    await_agreement(&bench);
    test_sql(admin, "DELETE FROM public.dlq_events WHERE id BETWEEN 700 AND 900");
    await_agreement(&bench);
    test_sql(admin, "UPDATE public.dlq_events SET status = 'PENDING' WHERE id %% 10 = 3");
    await_agreement(&bench);

    // As many arrive as leave: the count agrees all the time.
    test_sql(admin, "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id BETWEEN 1000 AND 1099;"
                    "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id BETWEEN 10 AND 19");
    await_agreement(&bench);
    test_sql(admin,
             "UPDATE public.dlq_events SET status = CASE WHEN id BETWEEN 1000 AND 1009 THEN 'PENDING' ELSE"
             " 'RESOLVED' END WHERE id BETWEEN 1000 AND 1009 OR id BETWEEN 3000 AND 3009");
    await_agreement(&bench);
    test_sql(admin, "DELETE FROM public.dlq_events");
    await_agreement(&bench);
    PQfinish(late);
    end(&bench);
}

// Others change columns of pending rows: no count shows it, and each event moves to its new series.
static void
changed_columns_are_followed(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "event_type = 'changed' WHERE id BETWEEN 100 AND 199",
        "source_table = 'changed' WHERE id % 5 = 0",
        "kafka_topic = CASE WHEN id % 2 = 0 THEN 'changed' END WHERE id BETWEEN 1000 AND 1999",
        "retry_count = 9, created_at = created_at - interval '2 days' WHERE id % 7 = 0",
        "error_message = 'changed: no such thing' WHERE id BETWEEN 300 AND 399",
        "stack_trace = 'java.lang.IllegalStateException: changed' WHERE id BETWEEN 500 AND 599",
        "error_message = error_message || ' ' WHERE id = 1",
        "max_retries = 4", // nothing that is counted
    };
    struct bench bench;
    begin(&bench, 4000);
    vary(&bench);
    await_agreement(&bench);
    add_events(bench.world.admin, 200); // their versions are noted in another way
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        test_sql(bench.world.admin, "UPDATE public.dlq_events SET %s", changes[i]);
        await_agreement(&bench);
    }
    assert_int_equal(test_number(bench.world.admin, "SELECT sum(n) FROM redrive.rollup_total"), 4200);
    end(&bench);
}

// Each change is found once, since versions are noted; also in a partitioned table.
static void
versions_are_noted(void **state)
{
    (void)state;
    struct bench bench = {0};
    world_make_partitioned(&bench.world, 500);
    bench.maintainer = maintainer_create(&bench.world.settings);
    await_agreement(&bench);
    PGconn *admin = bench.world.admin;
    add_events(admin, 100);
    test_sql(admin, "UPDATE public.dlq_events SET event_type = 'changed' WHERE id BETWEEN 401 AND 550");
    await_agreement(&bench);
    static const char unlike[] =
        "SELECT count(*) FROM redrive.rollup_event b JOIN public.dlq_events e ON e.id = b.dlq_id WHERE "
        "b.version <> e.xmin AND e.id > 400";
    assert_int_equal(test_number(admin, unlike), 0);
    end(&bench);
}

static void
heals(struct bench *bench, const char *harm)
{
    test_sql(bench->world.admin, "%s", harm);
    assert_false(agrees(bench));
    await_agreement(bench);
}

// Buckets of the last hour, which agrees() does not compare.
static void
await_buckets(struct bench *bench)
{
    static const char buckets[] = "SELECT coalesce(sum(n * bucket), 0) FROM redrive.rollup_bucket";
    int64_t wanted = test_number(bench->world.admin, buckets);
    assert_true(wanted > 0);
    test_sql(bench->world.admin, "DELETE FROM redrive.rollup_bucket");
    int64_t until = clock_mono() + PATIENCE;
    while (test_number(bench->world.admin, buckets) != wanted) {
        assert_true(clock_mono() < until);
        int64_t wait = maintainer_step(bench->maintainer);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
}

// Counts that are wrong, for any reason, are repaired while a consumer is in a transaction.
static void
wrong_counts_are_repaired(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 4000);
    vary(&bench);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET created_at = now() WHERE id %% 3 = 0");
    await_agreement(&bench);
    PGconn *consumer = test_connect(bench.world.conninfo);
    test_sql(consumer, "BEGIN; UPDATE public.dlq_events SET retry_count = 77 WHERE id BETWEEN 1 AND 50");

    heals(&bench, "UPDATE redrive.rollup_total SET n = n + 5 WHERE series = (SELECT min(series) FROM "
                  "redrive.rollup_total)");
    heals(&bench,
          "INSERT INTO redrive.rollup_total SELECT series, retries, CASE WHEN series % 2 = 0 THEN 3 ELSE -3 "
          "END "
          "FROM"
          " (SELECT DISTINCT series, retries FROM redrive.rollup_total ORDER BY series LIMIT 12) AS few");
    heals(&bench, "UPDATE redrive.rollup_hour SET hour = hour - 1");
    await_buckets(&bench);
    heals(&bench, "DELETE FROM redrive.rollup_total; DELETE FROM redrive.rollup_hour");
    heals(&bench,
          "INSERT INTO redrive.rollup_total SELECT max(no) + 1000000, 0, 4 FROM redrive.rollup_series;"
          "DELETE FROM redrive.rollup_total WHERE retries = 2");
    test_sql(consumer, "COMMIT");
    PQfinish(consumer);
    await_agreement(&bench);
    end(&bench);
}

// An event of a batch of the first count that the list already has is counted once in the end.
static void
an_event_listed_twice_counts_once(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 12000);
    vary(&bench);
    while (!state_of(&bench).exists || state_of(&bench).is_counting)
        maintainer_step(bench.maintainer);
    test_sql(bench.world.admin,
             "INSERT INTO redrive.rollup_event (dlq_id, series, created, retries)"
             " SELECT e.id, e.series, e.created, e.retries FROM redrive.rollup_batch s,"
             " unnest(s.dlq_ids, s.series, s.created, s.retries) AS e (id, series, created, retries)"
             " WHERE e.id %% 100 = 0;"
             "INSERT INTO redrive.rollup_total SELECT series, retries, count(*) FROM"
             " redrive.rollup_event GROUP BY series, retries");
    await_agreement(&bench);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_event"), 12000);
    assert_int_equal(test_number(bench.world.admin, "SELECT sum(n) FROM redrive.rollup_total"), 12000);
    end(&bench);
}

static void
apply_all(struct bench *bench, enum operation_action action, int64_t first, int64_t last)
{
    int64_t no = make_operation(&bench->world, bench->world.store, action, first, last);
    int64_t applied, left = 1;
    while (left > 0) {
        assert_works(work_apply(bench->world.store, no, 300, &applied, &left, &err));
        // Readers count right even before the next step of the maintainer.
        if (action != ACTION_RESTORE && !agrees(bench))
            fail_msg("the rollup still counts events that redrive itself closed");
    }
}

static void
changes_of_redrive_count_at_once(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 2000);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET created_at = '2026-01-01'");
    await_agreement(&bench);
    apply_all(&bench, ACTION_DISCARD, 1, 900);
    await_agreement(&bench);
    apply_all(&bench, ACTION_RESOLVE, 901, 1000);
    await_agreement(&bench);
    apply_all(&bench, ACTION_RESTORE, 101, 400);
    await_agreement(&bench);
    assert_int_equal(test_number(bench.world.admin, "SELECT sum(n) FROM redrive.rollup_total"), 1300);

    // Outcomes: 900 discarded and 300 of those reopened, 100 resolved. They are counted since the group is
    // known, not since the first outcome.
    test_sql(bench.world.admin, "UPDATE redrive.rollup_group SET known_at = '2026-01-02 03:04:05Z'");
    struct backlog *backlog = backlog_create();
    struct arena arena = {0};
    struct group_list list;
    struct group_outcomes sum = {0};
    assert_works(rollup_read(bench.world.store, backlog, false, &err));
    backlog_groups(backlog, PIVOT_ERROR, NULL, clock_now(), &arena, &list);
    for (size_t i = 0; i < list.count; i++) {
        sum.discarded += list.groups[i].outcomes.discarded;
        sum.resolved += list.groups[i].outcomes.resolved;
        sum.reprocessed += list.groups[i].outcomes.reprocessed;
        sum.returned += list.groups[i].outcomes.returned;
        assert_int_equal(list.groups[i].outcomes.since, INT64_C(1767323045) * US_PER_SECOND);
    }
    assert_int_equal(sum.discarded, 600);
    assert_int_equal(sum.resolved, 100);
    assert_int_equal(sum.reprocessed, 0);
    assert_int_equal(sum.returned, 0);
    arena_release(&arena);
    backlog_destroy(backlog);
    end(&bench);
}

// Without a maintainer as many events were closed as were set back.
static void
a_night_without_maintainer_is_caught_up(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 3000);
    PGconn *admin = bench.world.admin;
    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id BETWEEN 100 AND 199");
    await_agreement(&bench);
    maintainer_destroy(bench.maintainer);
    test_sql(
        admin,
        "UPDATE redrive.rollup_state SET lease_until = now() - interval '9 h';"
        "UPDATE public.dlq_events SET event_type = 'back', status = 'PENDING' WHERE id BETWEEN 100 AND 199;"
        "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id BETWEEN 2000 AND 2099");
    tell_statistics(admin); // the night was longer than they are late
    bench.maintainer = maintainer_create(&bench.world.settings);
    for (int64_t until = clock_mono() + PATIENCE;
         !maintainer_is_exact(bench.maintainer) && clock_mono() < until;)
        maintainer_step(bench.maintainer);
    assert_true(agrees(&bench)); // maintainer_is_exact did not claim it earlier
    end(&bench);
}

// --- choosing out of the rollup ---

struct chosen {
    struct chosen_event {
        int64_t id, created;
        uint64_t group;
        int32_t retries;
        uint64_t type, source, topic, class; // hashes
        bool is_returned;
    } events[4000];
    size_t count;
};

static bool
note_chosen(void *context, const struct event *event)
{
    struct chosen *chosen = context;
    struct bytes texts[] = {event->event_type, event->source_table, event->topic, event->error_class};
    uint64_t hashes[4];
    for (int i = 0; i < 4; i++)
        hashes[i] = texts[i].len ? bytes_hash(texts[i]) : 0;
    struct chosen_event *noted = &chosen->events[chosen->count++];
    memset(noted, 0, sizeof *noted);
    noted->id = event->id;
    noted->created = event->created_at == TIME_ABSENT
                         ? TIME_ABSENT
                         : event->created_at / US_PER_SECOND; // may be before 2000
    noted->group = event->group;
    noted->retries = event->retries.count;
    noted->type = hashes[0];
    noted->source = hashes[1];
    noted->topic = hashes[2];
    noted->class = hashes[3];
    noted->is_returned = event->known.returned > 0;
    return true;
}

static int
by_id(const void *left, const void *right)
{
    const struct chosen_event *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static void
scan_chosen(struct bench *bench, struct choice choice, bool is_counted, struct chosen *chosen)
{
    struct choose_tally tally = {0};
    choice.otherwise = 1u << EVENT_PENDING;
    choice.is_counted = is_counted;
    chosen->count = 0;
    assert_works(choose_scan(bench->world.store, &choice, EVENT_NARROW | EVENT_GROUP | EVENT_KNOWN,
                             note_chosen, NULL, chosen, &tally, &err));
    if (chosen->count)
        qsort(chosen->events, chosen->count, sizeof *chosen->events, by_id);
    choose_tally_release(&tally);
}

// The ids of these groups, out of the rollup and out of the table; how many there are.
static size_t
compare_ids(struct bench *bench, const char *group)
{
    struct choice choice = {.group = group, .otherwise = 1u << EVENT_PENDING};
    struct choose_tally tally[2] = {0};
    int64_t *ids[2];
    size_t counts[2];
    for (size_t i = 0; i < 2; i++) {
        choice.is_counted = i == 1;
        assert_works(
            choose_ids(bench->world.store, &choice, NULL, NULL, &ids[i], &counts[i], &tally[i], &err));
        choose_tally_release(&tally[i]);
        counts[i] = ids_normalise(ids[i], counts[i]);
    }
    size_t count = counts[0];
    assert_int_equal(counts[1], count);
    assert_memory_equal(ids[0], ids[1], count * sizeof *ids[0]);
    free(ids[0]);
    free(ids[1]);
    return count;
}

static bool
add_count(void *context, const int64_t *ids, size_t count)
{
    (void)ids;
    *(size_t *)context += count;
    return true;
}

// Of one group, of all whose keys begin alike, and of all: keys beyond the middle are negative in PostgreSQL.
static void
compare_groups(struct bench *bench, const char *group)
{
    const struct group_range all = {0, UINT64_MAX};
    size_t count = 0, counted = 0;
    assert_true(compare_ids(bench, group) > 0);
    for (const char *digit = "0123456789abcdef"; *digit; digit++) {
        const char prefix[] = {*digit, '\0'};
        count += compare_ids(bench, prefix);
    }
    assert_works(rollup_ids(bench->world.store, &all, add_count, &counted, &err));
    assert_int_equal(count, 1960);
    assert_int_equal(counted, 1960);
}

// Also where a second, 255 retries or a time before 2000 does not tell, and with what redrive closed a moment
// ago.
static void
a_choice_is_the_same_out_of_the_rollup(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 2000);
    PGconn *admin = bench.world.admin;
    test_sql(
        admin,
        "UPDATE public.dlq_events SET retry_count = 254 + id %% 4 WHERE id %% 50 = 0;"
        "UPDATE public.dlq_events SET created_at = '1999-01-01' WHERE id %% 70 = 0;"
        "UPDATE public.dlq_events SET created_at = NULL WHERE id %% 71 = 0;"
        "UPDATE public.dlq_events SET kafka_topic = NULL WHERE id %% 73 = 0;"
        "UPDATE public.dlq_events SET created_at = '2026-01-02 03:04:05'::timestamp + id * interval '1 ms'"
        " WHERE id BETWEEN 1000 AND 1999");
    for (int64_t until = clock_mono() + PATIENCE;
         !maintainer_is_exact(bench.maintainer) ||
         test_number(admin, "SELECT count(*) FROM redrive.rollup_batch") > 0;) {
        assert_true(clock_mono() < until);
        maintainer_step(bench.maintainer);
    }
    int64_t no = make_operation(&bench.world, bench.world.store, ACTION_DISCARD, 301, 340), applied, left = 1;
    while (left > 0)
        assert_works(work_apply(bench.world.store, no, 100, &applied, &left, &err));

    static struct chosen counted, read;
    char group[GROUP_TEXT];
    const char *const filters[] = {NULL,         "retries:>255",  "retries:<2",           "age:>1d",
                                   "age:<5000d", "!topic:orders", "retries:>0 age:<5000d"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        scan_chosen(&bench, (struct choice){.filter = filters[i]}, false, &read);
        scan_chosen(&bench, (struct choice){.filter = filters[i]}, true, &counted);
        const struct choice choice = {.filter = filters[i], .otherwise = 1u << EVENT_PENDING};
        assert_true(choose_is_counted(bench.world.store, &choice));
        assert_int_equal(counted.count, read.count);
        assert_memory_equal(counted.events, read.events, read.count * sizeof *read.events);
        assert_true(i > 0 || read.count == 1960);
        if (i == 0)
            group_text(read.events[0].group, group);
    }
    scan_chosen(&bench, (struct choice){.group = group}, false, &read);
    scan_chosen(&bench, (struct choice){.group = group}, true, &counted);
    assert_true(read.count > 0);
    assert_int_equal(counted.count, read.count);
    assert_memory_equal(counted.events, read.events, read.count * sizeof *read.events);
    compare_groups(&bench, group);
    // Numbers that are given out one by one may be high.
    test_sql(admin, "ALTER TABLE redrive.rollup_series ALTER no SET GENERATED BY DEFAULT;"
                    "UPDATE redrive.rollup_series SET no = no + 2000000000;"
                    "UPDATE redrive.rollup_event SET series = series + 2000000000");
    scan_chosen(&bench, (struct choice){.filter = "retries:>0"}, false, &read);
    scan_chosen(&bench, (struct choice){.filter = "retries:>0"}, true, &counted);
    assert_true(read.count > 0);
    assert_int_equal(counted.count, read.count);
    assert_memory_equal(counted.events, read.events, read.count * sizeof *read.events);
    const struct choice by_text = {.filter = "timed.out", .otherwise = 1u << EVENT_PENDING};
    assert_false(choose_is_counted(bench.world.store, &by_text));
    const struct choice by_wall = {.filter = "created:<2026-01-03", .otherwise = 1u << EVENT_PENDING};
    assert_false(choose_is_counted(bench.world.store, &by_wall));
    end(&bench);
}

// The same while the only maintainer was frozen.
static void
a_frozen_maintainer_catches_up(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 3000);
    PGconn *admin = bench.world.admin;
    test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id BETWEEN 100 AND 199");
    await_agreement(&bench);
    test_sql(
        admin,
        "UPDATE redrive.rollup_state SET lease_until = now() - interval '9 h';"
        "UPDATE public.dlq_events SET event_type = 'back', status = 'PENDING' WHERE id BETWEEN 100 AND 199;"
        "UPDATE public.dlq_events SET status = 'DISCARDED' WHERE id BETWEEN 2000 AND 2099");
    tell_statistics(admin);
    clock_sleep(2 * US_PER_SECOND); // until the lease is due
    maintainer_step(bench.maintainer);
    for (int64_t until = clock_mono() + PATIENCE;
         !maintainer_is_exact(bench.maintainer) && clock_mono() < until;)
        maintainer_step(bench.maintainer);
    assert_true(agrees(&bench));
    end(&bench);
}

struct helper {
    struct maintainer *maintainer;
    atomic_bool is_over;
};

static void
help(void *context)
{
    struct helper *helper = context;
    while (!helper->is_over) {
        int64_t wait = maintainer_step(helper->maintainer);
        clock_sleep(wait > 20000 ? 20000 : wait);
    }
}

// Several maintainers at once; some vanish in the middle of their work, and the server loses unlogged tables.
static void
helpers_do_the_work_once(void **state)
{
    (void)state;
    enum { HELPERS = 4 };
    struct bench bench;
    begin(&bench, 20000);
    vary(&bench);
    struct helper helpers[HELPERS] = {0};
    struct thread *threads[HELPERS];
    for (int i = 0; i < HELPERS; i++) {
        helpers[i].maintainer = maintainer_create(&bench.world.settings);
        threads[i] = thread_start(help, &helpers[i], "helper");
    }
    PGconn *admin = bench.world.admin;
    for (int round = 0; round < 20; round++) {
        add_events(admin, 50);
        test_sql(admin, "UPDATE public.dlq_events SET status = 'RESOLVED' WHERE id %% 97 = %d", round);
        if (round == 8)
            test_sql(admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                            "current_database() AND pid <> pg_backend_pid()");
        if (round == 14)
            test_sql(admin, "TRUNCATE redrive.rollup_state, redrive.rollup_event, redrive.rollup_batch,"
                            " redrive.rollup_total, redrive.rollup_hour, redrive.rollup_bucket,"
                            " redrive.rollup_due");
        clock_sleep(30000);
    }
    for (int i = 0; i < HELPERS; i++) {
        helpers[i].is_over = true;
        thread_join(threads[i]);
        maintainer_destroy(helpers[i].maintainer);
    }
    assert_works(store_reconnect(bench.world.store, &err));
    await_agreement(&bench);
    assert_int_equal(test_number(admin, "SELECT sum(n) FROM redrive.rollup_total"),
                     test_number(admin, "SELECT count(*) FROM redrive.rollup_event"));
    end(&bench);
}

// Behind a pooler a maintainer's connection outlives the server: unlogged tables are empty, and the
// maintainer asks to extend its lease as if nothing had happened.
static void
a_maintainer_of_lost_tables_begins_again(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 3000);
    vary(&bench);
    await_agreement(&bench);
    add_events(bench.world.admin, 50);
    test_sql(bench.world.admin,
             "TRUNCATE redrive.rollup_state, redrive.rollup_event, redrive.rollup_batch,"
             " redrive.rollup_total, redrive.rollup_hour, redrive.rollup_bucket, redrive.rollup_due");
    clock_sleep(2 * US_PER_SECOND); // until the lease is due
    await_agreement(&bench);
    assert_int_equal(test_number(bench.world.admin, "SELECT sum(n) FROM redrive.rollup_total"), 3050);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_event"), 3050);
    end(&bench);
}

static bool
collect(void *context, const int64_t *ids, size_t count)
{
    struct strbuf *text = context;
    for (size_t i = 0; i < count; i++)
        strbuf_printf(text, "%lld,", (long long)ids[i]);
    return true;
}

// A list read in two parts is the table's.
static void
lists_are_in_order(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 3000);
    vary(&bench);
    await_agreement(&bench);
    for (int oldest_first = 0; oldest_first < 2; oldest_first++) {
        struct rollup_list list = {.pivot = PIVOT_TYPE, .value = "type.1", .oldest_first = oldest_first != 0};
        int64_t ids[70];
        size_t count;
        struct strbuf text = {0};
        assert_works(rollup_first_ids(bench.world.store, &list, ids, 70, &count, &err));
        assert_int_equal(count, 70);
        collect(&text, ids, count);
        assert_works(rollup_other_ids(bench.world.store, &list, collect, &text, &err));
        char sql[300];
        snprintf(
            sql, sizeof sql,
            "SELECT md5(string_agg(id || ',', '' ORDER BY date_trunc('second', created_at) %s, id %s)) FROM"
            " public.dlq_events WHERE event_type = 'type.1'",
            oldest_first ? "" : "DESC", oldest_first ? "" : "DESC");
        const char *wanted = test_text(bench.world.admin, sql);
        char copy[33];
        snprintf(copy, sizeof copy, "%s", wanted);
        PGresult *r = PQexecParams(bench.world.admin, "SELECT md5($1)", 1, NULL,
                                   (const char *const[]){strbuf_text(&text)}, NULL, NULL, 0);
        assert_string_equal(PQgetvalue(r, 0, 0), copy);
        PQclear(r);
        strbuf_release(&text);
    }
    end(&bench);
}

struct paged {
    int64_t ids[500];
    size_t count;
};

static void
add_paged(void *context, const struct event *event)
{
    struct paged *paged = context;
    paged->ids[paged->count++] = event->id;
}

// A consumer may give any id: 0, negative ones, and both ends of the type.
static void
any_id_is_counted_and_paged(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, 9000);
    vary(&bench);
    test_sql(bench.world.admin, "UPDATE public.dlq_events SET id = id + 1000000;"
                                "UPDATE public.dlq_events SET id = id - 1005001;"
                                "UPDATE public.dlq_events SET id = -9223372036854775808 WHERE id = -7;"
                                "UPDATE public.dlq_events SET id = 9223372036854775807 WHERE id = 7");
    await_agreement(&bench);
    assert_int_equal(test_number(bench.world.admin, "SELECT count(*) FROM redrive.rollup_event"), 9000);

    size_t seen = 0;
    struct paged paged;
    struct rollup_names *names = rollup_names_create();
    struct rollup_page page = {.lowest = INT64_MAX};
    for (int64_t upto = INT64_MAX, last = INT64_MAX;;) {
        paged.count = 0;
        assert_works(rollup_rows(bench.world.store, names, upto, 500, add_paged, &paged, &page, &err));
        assert_int_equal(page.count, paged.count);
        assert_true(page.count == 0 || page.lowest == paged.ids[paged.count - 1]);
        for (size_t i = 0; i < paged.count; i++, seen++) {
            assert_true(seen == 0 || paged.ids[i] < last);
            last = paged.ids[i];
        }
        if (paged.count < 500 || last == INT64_MIN)
            break;
        upto = last - 1;
    }
    assert_int_equal(seen, 9000);
    rollup_names_destroy(names);
    end(&bench);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_count_is_the_table),
        cmocka_unit_test(counts_come_before_lists),
        cmocka_unit_test(changes_of_others_are_found),
        cmocka_unit_test(changed_columns_are_followed),
        cmocka_unit_test(versions_are_noted),
        cmocka_unit_test(wrong_counts_are_repaired),
        cmocka_unit_test(an_event_listed_twice_counts_once),
        cmocka_unit_test(changes_of_redrive_count_at_once),
        cmocka_unit_test(a_night_without_maintainer_is_caught_up),
        cmocka_unit_test(a_choice_is_the_same_out_of_the_rollup),
        cmocka_unit_test(a_frozen_maintainer_catches_up),
        cmocka_unit_test(helpers_do_the_work_once),
        cmocka_unit_test(a_maintainer_of_lost_tables_begins_again),
        cmocka_unit_test(lists_are_in_order),
        cmocka_unit_test(any_id_is_counted_and_paged),
    };
    return cmocka_run_group_tests_name("rollup", tests, NULL, NULL);
}
