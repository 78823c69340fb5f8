#include "correcting.h"

int64_t
ask_correct_with(struct world *world, int64_t first, int64_t last, const char *recipe,
                 const struct operation_request *with)
{
    int64_t *ids = malloc((size_t)(last - first + 1) * sizeof *ids);
    assert_non_null(ids);
    for (int64_t id = first; id <= last; id++)
        ids[id - first] = id;
    struct operation_request request = {.action = ACTION_CORRECT,
                                        .ids = ids,
                                        .count = (size_t)(last - first + 1),
                                        .scope = "a test",
                                        .reason = "INC-7",
                                        .recipe = recipe,
                                        .rate = RATE_UNLIMITED};
    if (with) {
        request.plan = with->plan;
        request.is_forced = with->is_forced;
        request.then_reprocess = with->then_reprocess;
        request.rate = with->then_reprocess ? with->rate : RATE_UNLIMITED; // that of the sending
    }
    snprintf(request.key, sizeof request.key, "%s", new_uuid(world->admin));
    int64_t no = 0;
    assert_works(operation_create(world->store, &request, NULL, NULL, &no, &err));
    free(ids);
    return no;
}

int64_t
ask_correct(struct world *world, int64_t first, int64_t last, const char *recipe)
{
    return ask_correct_with(world, first, last, recipe, NULL);
}

struct hand
take_correct(struct store *store, int64_t no, size_t limit)
{
    struct correct_queue queue;
    assert_works(work_correct_next(store, no, limit, limit, &queue, &err));
    assert_in_range(queue.page_count, 0, 1);
    assert_int_equal(queue.count, queue.page_count ? queue.pages[0] : 0);
    struct hand hand = {.ids = queue.ids, .count = queue.count};
    free(queue.pages);
    return hand;
}

int64_t
keep_correct(struct store *store, int64_t no, struct hand *hand, const struct corrected *given)
{
    struct corrected *events = calloc(hand->count + 1, sizeof *events);
    assert_non_null(events);
    for (size_t i = 0; i < hand->count; i++) {
        events[i] =
            given ? given[i]
                  : (struct corrected){.outcome = "changed",
                                       .correction = {.has_payload = true, .payload = BYTES("{\"n\": 2}")}};
        events[i].id = hand->ids[i];
    }
    int64_t applied = -1, left = -1;
    struct strbuf room = {0};
    assert_works(work_correct(store, no, events, hand->count, &room, &applied, &left, &err));
    strbuf_release(&room);
    assert_in_range(left, 0, 1000000);
    free(events);
    free(hand->ids);
    *hand = (struct hand){0};
    return applied;
}

void
carry_on_correct(struct store *store, int64_t no)
{
    struct hand hand = take_correct(store, no, 1000);
    while (hand.count > 0) {
        keep_correct(store, no, &hand, NULL);
        hand = take_correct(store, no, 1000);
    }
    free(hand.ids);
}

int64_t
revisions_by(struct world *world, int64_t no)
{
    char sql[120];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM redrive.revision WHERE operation_no = %lld",
             (long long)no);
    return test_number(world->admin, sql);
}

const char *
detail_of(struct world *world, int64_t no, int64_t id)
{
    char sql[160];
    snprintf(sql, sizeof sql,
             "SELECT state || ': ' || detail FROM redrive.item WHERE operation_no = %lld AND dlq_id = %lld",
             (long long)no, (long long)id);
    return test_text(world->admin, sql);
}
