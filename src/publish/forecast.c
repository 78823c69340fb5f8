#include "publish/forecast.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/envelope/envelope.h"
#include "core/selection.h"
#include "core/target.h"
#include "publish/letters.h"
#include "publish/originals.h"
#include "store/events/events.h"
#include "store/operations/topics.h"

enum {
    TOPIC_MS = 5000,
    ORIGINALS_MS = 2000,
    PAGE = 50,
    TOPICS_SHOWN = 20,
    LARGE_MOST = 2001, // events looked at one by one, each of which may go to a topic of its own
    // Stored in less, a payload is not compressed as a rule.
    SMALL = 1500,
    // How much smaller compression makes a text at most (lz4 255 times, pglz 91).
    COMPRESSION = 256,
    FEW = 10,    // of so many the payloads are read
    REST = 1024, // bytes of a record beside its payload, its key and the name of its topic: all in all 400
};
#define MEASURE_FOR (3 * US_PER_SECOND)
#define FRESH (30 * US_PER_SECOND)

struct forecast_topic {
    const char *name;
    bool is_asked; // Kafka said what follows
    struct topic topic;
    int64_t asked_at; // instant
};

static struct forecast_topic *
find_topic(struct forecast *forecast, const char *name)
{
    for (size_t i = 0; i < forecast->topic_count; i++)
        if (strcmp(forecast->topics[i].name, name) == 0)
            return &forecast->topics[i];
    return NULL;
}

static void
ask_kafka(struct forecast *forecast, struct forecast_topic *topic)
{
    if (!forecast->broker || err_is_set(&forecast->kafka))
        return;
    topic->is_asked = broker_topic(forecast->broker, topic->name, TOPIC_MS, &topic->topic, &forecast->kafka);
    topic->asked_at = clock_now();
}

static void
take_known(struct forecast_topic *topic, const struct topic_known *known)
{
    static const enum topic_state states[] = {[ANSWER_NONE] = TOPIC_KNOWN,
                                              [ANSWER_KNOWN] = TOPIC_KNOWN,
                                              [ANSWER_MISSING] = TOPIC_MISSING,
                                              [ANSWER_DENIED] = TOPIC_DENIED};
    topic->is_asked = known->answer != ANSWER_NONE;
    topic->asked_at = known->asked_at;
    topic->topic = (struct topic){states[known->answer], known->partitions, known->max_bytes};
}

// What workers learned of those that Kafka was not asked about; asks them where that is old. That somebody
// may not ask is no failure: nothing is known then.
static bool
ask_workers(struct forecast *forecast, size_t from, struct err *err)
{
    size_t count = forecast->topic_count - from, old = 0;
    const char **names = arena_array(&forecast->arena, count + 1, sizeof *names);
    const char **stale = arena_array(&forecast->arena, count + 1, sizeof *stale);
    struct topic_known *known = arena_array(&forecast->arena, count + 1, sizeof *known);
    int64_t now = 0;
    for (size_t i = 0; i < count; i++)
        names[i] = forecast->topics[from + i].name;
    if (!topics_known(forecast->store, names, count, known, err) || !store_now(forecast->store, &now, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct forecast_topic *topic = &forecast->topics[from + i];
        if (!topic->is_asked)
            take_known(topic, &known[i]);
        if (!topic->is_asked || now - topic->asked_at > FRESH)
            stale[old++] = names[i];
    }
    struct err ignored = {0};
    bool has_worker = false;
    if (old && forecast->wants_topics && topics_want(forecast->store, stale, old, &has_worker, &ignored))
        forecast->has_worker |= has_worker;
    return true;
}

// Where an event of this source is sent.
static void
place_source(const struct forecast *forecast, const struct preview_source *source, const char *to,
             const struct topic *topic, struct arena *arena, struct plan *plan)
{
    struct event event = {
        .topic = source->topic ? bytes_of(source->topic) : BYTES_ABSENT,
        .origin = {.has_partition = source->partition >= 0, .partition = source->partition},
        .known.correction = {.has_topic = source->corrected != NULL,
                             .topic = source->corrected ? bytes_of(source->corrected) : BYTES_ABSENT,
                             .has_partition = source->moved >= 0,
                             .partition = source->moved},
    };
    const struct plan_input input = {.event = &event, .target_topic = to, .topic = topic};
    plan_place(forecast->plan, &input, arena, plan);
}

static void
learn_topic(struct forecast *forecast, const char *name)
{
    if (find_topic(forecast, name))
        return;
    forecast->topics = alloc_grow(forecast->topics, forecast->topic_count, &forecast->topic_capacity,
                                  sizeof *forecast->topics);
    struct forecast_topic *topic = &forecast->topics[forecast->topic_count++];
    *topic = (struct forecast_topic){
        .name = arena_text(&forecast->arena, bytes_of(name)), .topic.max_bytes = -1, .asked_at = TIME_ABSENT};
    ask_kafka(forecast, topic);
}

// Of those that were added from here on, what Kafka did not say.
static bool
learn_rest(struct forecast *forecast, size_t from, struct err *err)
{
    bool is_whole = from == forecast->topic_count || (forecast->broker && !err_is_set(&forecast->kafka));
    return is_whole || ask_workers(forecast, from, err);
}

// Topics that something can be sent to and that were not asked about yet.
static bool
learn_topics(struct forecast *forecast, const struct preview_query *query, const struct preview *preview,
             struct err *err)
{
    size_t from = forecast->topic_count;
    for (size_t i = 0; i < preview->source_count; i++) {
        struct plan plan;
        if (preview->sources[i].count <= 0)
            continue;
        place_source(forecast, &preview->sources[i], query->to, NULL, &forecast->arena, &plan);
        if (!plan.refusal)
            learn_topic(forecast, plan.topic);
    }
    return learn_rest(forecast, from, err);
}

static bool
is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

// Adds to the events of a topic, or takes one away that was counted there.
static void
count_topic(struct preview *preview, const struct preview_topic *one)
{
    for (size_t i = 0; i < preview->topic_count; i++) {
        struct preview_topic *known = &preview->topics[i];
        if (!is_same(known->topic, one->topic) || !is_same(known->refusal, one->refusal))
            continue;
        if (known->count == 0)
            known->why = one->why;
        else if (one->count > 0 && !is_same(known->why, one->why))
            known->why = "as their dead letters say, or the names of their queues";
        known->count += one->count;
        return;
    }
    if (one->count > 0)
        preview->topics[preview->topic_count++] = *one;
}

static int
by_count(const void *a, const void *b)
{
    const struct preview_topic *x = a, *y = b;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

// The one topic that the setting names where groups that read the events' own must not get them again.
static const char *
route(const struct forecast *forecast, const struct preview *preview, struct arena *arena)
{
    const struct topic_rule *rule = preview->topic_count == 1 && preview->topics[0].topic
                                        ? topic_rule_of(forecast->plan->rules, preview->topics[0].topic)
                                        : NULL;
    return rule && rule->spared_count ? arena_printf(arena, "%s", rule->to) : NULL;
}

static bool
wants_newer(const struct forecast *forecast, const struct preview *preview)
{
    for (size_t i = 0; i < preview->source_count; i++) {
        const char *topic = preview->sources[i].topic;
        const struct topic_rule *rule = topic ? topic_rule_of(forecast->plan->rules, topic) : NULL;
        if (rule && rule->checks_newer && preview->sources[i].count > 0)
            return true;
    }
    return false;
}

// Without the topics to which nothing goes after all.
static void
tidy_topics(struct preview *preview)
{
    size_t count = 0;
    for (size_t i = 0; i < preview->topic_count; i++)
        if (preview->topics[i].count != 0)
            preview->topics[count++] = preview->topics[i];
    preview->topic_count = count;
    if (count)
        qsort(preview->topics, count, sizeof *preview->topics, by_count);
    if (preview->topic_count > TOPICS_SHOWN)
        preview->topic_count = TOPICS_SHOWN;
}

static bool
forecast_topics(struct forecast *forecast, const struct preview_query *query, struct arena *arena,
                struct preview *preview, struct err *err)
{
    if (!learn_topics(forecast, query, preview, err))
        return false;
    preview->topics = arena_array(arena, preview->source_count + LARGE_MOST, sizeof *preview->topics);
    preview->topic_count = 0;
    preview->refused.events = 0;
    for (size_t i = 0; i < preview->source_count; i++) {
        const struct preview_source *source = &preview->sources[i];
        struct plan plan;
        if (source->count <= 0)
            continue;
        place_source(forecast, source, query->to, NULL, arena, &plan);
        const struct forecast_topic *known = plan.refusal ? NULL : find_topic(forecast, plan.topic);
        if (known && known->is_asked)
            place_source(forecast, source, query->to, &known->topic, arena, &plan);
        const struct preview_topic one = {.topic = plan.topic[0] ? plan.topic : NULL,
                                          .count = source->count,
                                          .refusal = plan.refusal,
                                          .why = plan.topic_why,
                                          .is_asked = known && known->is_asked,
                                          .asked_at = known ? known->asked_at : TIME_ABSENT};
        count_topic(preview, &one);
        preview->refused.events += plan.refusal ? source->count : 0;
    }
    preview->checks_newer = wants_newer(forecast, preview);
    preview->routed = query->to ? NULL : route(forecast, preview, arena);
    tidy_topics(preview);
    return preview->letters.events ||
           letters_sample(forecast->store, forecast->plan, query, arena, &preview->letters, err);
}

// --- one by one ---

static void
count_refusal(struct preview *preview, const struct plan *plan, struct arena *arena)
{
    for (size_t i = 0; i < preview->refused.by_count; i++) {
        struct preview_refusal *known = &preview->refused.by[i];
        if (plan->is_too_large ? known->too_large_for && strcmp(known->too_large_for, plan->topic) == 0
                               : strcmp(known->reason, plan->refusal) == 0) {
            known->count++;
            return;
        }
    }
    preview->refused.by[preview->refused.by_count++] = (struct preview_refusal){
        .reason = arena_text(arena, bytes_of(plan->refusal)),
        .too_large_for = plan->is_too_large ? arena_text(arena, bytes_of(plan->topic)) : NULL,
        .count = 1};
}

static bool
is_repeated(const struct preview *preview, int64_t id)
{
    int64_t one = id;
    return preview->repeated && ids_without(&one, 1, preview->repeated_ids, (size_t)preview->repeated) == 0;
}

// Where its row says that an event goes, or, with its dead letter, where it does go.
static bool
place_event(struct forecast *forecast, const struct plan_input *input, bool is_whole, struct arena *arena,
            struct plan *plan, const struct topic **topic, struct err *err)
{
    struct event row = *input->event;
    struct plan_input place = *input;
    if (!is_whole) {
        row.payload = row.known.correction.replaced = BYTES_ABSENT;
        row.record = (struct event_record){0};
        place.event = &row;
        place.original = NULL;
    }
    *topic = NULL;
    plan_place(forecast->plan, &place, arena, plan);
    if (plan->refusal)
        return true;
    size_t from = forecast->topic_count;
    learn_topic(forecast, plan->topic);
    if (!learn_rest(forecast, from, err))
        return false;
    const struct forecast_topic *known = find_topic(forecast, plan->topic);
    if (!known->is_asked)
        return true;
    *topic = &known->topic;
    place.topic = *topic;
    plan_place(forecast->plan, &place, arena, plan);
    return true;
}

static struct preview_topic
topic_of_plan(const struct forecast *forecast, const struct plan *plan, struct arena *arena)
{
    struct forecast *all = (struct forecast *)(uintptr_t)forecast;
    const struct forecast_topic *known = plan->refusal ? NULL : find_topic(all, plan->topic);
    return (struct preview_topic){
        .topic = plan->topic[0] ? arena_text(arena, bytes_of(plan->topic)) : NULL,
        .count = 1,
        .refusal = plan->refusal ? arena_text(arena, bytes_of(plan->refusal)) : NULL,
        .why = plan->topic_why ? arena_text(arena, bytes_of(plan->topic_why)) : NULL,
        .is_asked = known && known->is_asked,
        .asked_at = known ? known->asked_at : TIME_ABSENT,
    };
}

// An event that was counted where its row says, and that goes where its dead letter says.
static void
move_event(struct forecast *forecast, const struct plan *from, const struct plan *to, struct arena *arena,
           struct preview *preview)
{
    struct preview_topic one = topic_of_plan(forecast, from, arena),
                         other = topic_of_plan(forecast, to, arena);
    one.count = -1;
    count_topic(preview, &one);
    count_topic(preview, &other);
    preview->refused.events += (to->refusal != NULL) - (from->refusal != NULL);
}

static bool
plan_one(struct forecast *forecast, const struct event *event, const struct original *original,
         const char *to, struct arena *arena, struct preview *preview, struct err *err)
{
    struct arena of_this = {0};
    struct plan row, plan;
    struct plan_input input = {.event = event, .original = original, .target_topic = to};
    bool ok = place_event(forecast, &input, false, &of_this, &row, &input.topic, err) &&
              place_event(forecast, &input, true, &of_this, &plan, &input.topic, err);
    if (ok && !is_repeated(preview, event->id)) { // else it is counted with its topic
        move_event(forecast, &row, &plan, arena, preview);
        bool is_placed = !plan.refusal;
        if (is_placed)
            plan_make(forecast->plan, &input, &of_this, &plan);
        if (is_placed && plan.refusal) {
            count_refusal(preview, &plan, arena);
            preview->refused.events++;
        }
    }
    arena_release(&of_this);
    return ok;
}

// The records in Kafka, where the worker would send these; NULL: it sends what is kept, or Kafka is slow now,
// which is nothing to foretell from.
static bool
find_originals(struct forecast *forecast, const struct event_page *page, struct arena *arena,
               struct original **originals, struct err *err)
{
    *originals = NULL;
    if (!forecast->broker || err_is_set(&forecast->kafka))
        return true;
    struct err failure = {0};
    const struct event **events = arena_array(arena, page->count + 1, sizeof *events);
    struct original *found = arena_array(arena, page->count + 1, sizeof *found);
    for (size_t i = 0; i < page->count; i++)
        events[i] = &page->events[i];
    if (!originals_find(forecast->store, forecast->broker, events, page->count, ORIGINALS_MS, NULL, NULL,
                        arena, found, &failure))
        return failure.kind == ERR_UNREACHABLE || err_set(err, failure.kind, "%s", failure.text);
    for (size_t i = 0; i < page->count; i++)
        if (found[i].state == ORIGINAL_FAILED)
            found[i].state = ORIGINAL_NOT_ASKED;
    *originals = found;
    return true;
}

static bool
plan_page(struct forecast *forecast, const struct preview_query *query, const struct event_page *page,
          struct arena *arena, struct preview *preview, struct err *err)
{
    struct arena of_these = {0};
    struct original *originals;
    bool ok = find_originals(forecast, page, &of_these, &originals, err);
    for (size_t i = 0; ok && i < page->count; i++)
        ok = plan_one(forecast, &page->events[i], originals ? &originals[i] : NULL, query->to, arena, preview,
                      err);
    arena_release(&of_these);
    return ok;
}

// What is stored in as much or less fits into every topic that is known.
static int64_t
always_fits(const struct forecast *forecast)
{
    const char *key = forecast->plan->key;
    int64_t fits = key && key[0] == '$' ? -1 : SMALL; // the key may not be there in any of them
    for (size_t i = 0; i < forecast->topic_count; i++) {
        int64_t limit = forecast->topics[i].is_asked ? forecast->topics[i].topic.max_bytes : -1;
        if (limit > 0 && limit / COMPRESSION < fits)
            fits = limit / COMPRESSION;
    }
    return fits;
}

// Events that are looked at one by one.
static void
choose_large(const struct forecast *forecast, const struct preview_query *query,
             const struct preview *preview, struct arena *arena, struct preview_large *large)
{
    const char **topics = arena_array(arena, preview->source_count + 1, sizeof *topics);
    *large = (struct preview_large){.larger = always_fits(forecast), .topics = topics};
    for (size_t i = 0; i < preview->source_count; i++) {
        const struct preview_source *source = &preview->sources[i];
        struct bytes topic = source->topic ? bytes_of(source->topic) : BYTES_ABSENT;
        if (source->count <= 0 || plan_is_placed(forecast->plan, topic, query->to || source->corrected))
            continue;
        bool is_known = false;
        if (topic.len == 0) {
            large->has_none = true;
            continue;
        }
        for (size_t k = 0; k < large->topic_count; k++)
            is_known |= strcmp(topics[k], source->topic) == 0;
        if (!is_known)
            topics[large->topic_count++] = source->topic;
    }
}

// What no topic that is known refuses; INT64_MAX: nothing is too large.
static int64_t
fits_everywhere(const struct forecast *forecast)
{
    int64_t fits = INT64_MAX;
    for (size_t i = 0; i < forecast->topic_count && !forecast->plan->is_compressing; i++) {
        int64_t limit = forecast->topics[i].is_asked ? forecast->topics[i].topic.max_bytes : -1;
        if (limit > 0 && limit < fits)
            fits = limit;
    }
    return fits;
}

// Besides, the topics whose format somebody set: nothing of their payloads is judged without it.
static void
add_formatted(const struct forecast *forecast, const struct preview *preview, struct arena *arena,
              struct preview_large *large)
{
    const char **topics = arena_array(arena, large->topic_count + preview->source_count + 1, sizeof *topics);
    for (size_t i = 0; i < large->topic_count; i++)
        topics[i] = large->topics[i];
    for (size_t i = 0; i < preview->source_count; i++) {
        const char *topic = preview->sources[i].topic;
        const struct topic_rule *rule = topic ? topic_rule_of(forecast->plan->rules, topic) : NULL;
        if (rule && rule->format)
            topics[large->topic_count++] = topic;
    }
    large->topics = topics;
}

// Leaves out those of which the server says that they fit and can be read, and whose plan has nothing else to
// refuse. Not where the record is read again in Kafka, whose bytes are others, nor where the key comes out of
// the payload, which may not have it.
static bool
leave_fitting(struct forecast *forecast, const struct preview_query *query, const struct preview *preview,
              struct preview_large large, struct arena *arena, int64_t *ids, size_t *count, struct err *err)
{
    bool is_read_again = forecast->broker && !err_is_set(&forecast->kafka);
    if (is_read_again || large.larger < 0 || *count <= FEW)
        return true;
    struct strbuf unsendable = {0};
    int64_t *bytes = arena_array(arena, *count, sizeof *bytes), fits = fits_everywhere(forecast);
    size_t kept = 0;
    envelope_unsendable(&unsendable);
    add_formatted(forecast, preview, arena, &large);
    large.fits_all = fits == INT64_MAX;
    bool ok =
        operation_bytes(forecast->store, query, &large, strbuf_text(&unsendable), ids, *count, bytes, err);
    for (size_t i = 0; ok && i < *count; i++)
        if (bytes[i] < 0 || bytes[i] > fits - REST)
            ids[kept++] = ids[i];
    if (ok)
        *count = kept;
    strbuf_release(&unsendable);
    return ok;
}

static bool
forecast_refused(struct forecast *forecast, const struct preview_query *query, struct arena *arena,
                 struct preview *preview, struct err *err)
{
    int64_t *ids;
    size_t count;
    struct preview_large large;
    choose_large(forecast, query, preview, arena, &large);
    if (!operation_large(forecast->store, query, &large, arena, &ids, &count, &preview->refused.unmeasured,
                         err))
        return false;
    int64_t start = clock_mono();
    if (!leave_fitting(forecast, query, preview, large, arena, ids, &count, err))
        return false;
    preview->refused.by = arena_array(arena, count + 1, sizeof *preview->refused.by);
    size_t at = 0;
    while (at < count && clock_mono() - start < MEASURE_FOR) {
        const struct event_query page_of = {.takes_unreadable = true,
                                            .fields = EVENT_PLANNED,
                                            .ids = ids + at,
                                            .id_count = count - at < PAGE ? count - at : PAGE,
                                            .most_bytes = EVENT_PAGE_BYTES};
        struct event_page page = {0};
        if (!store_events(forecast->store, &page_of, &page, err))
            return false;
        at += event_page_answers(&page, &page_of);
        bool ok = plan_page(forecast, query, &page, arena, preview, err);
        event_page_release(&page);
        if (!ok)
            return false;
    }
    preview->refused.unmeasured += (int64_t)(count - at);
    tidy_topics(preview);
    return true;
}

// The counts come first, and the other parts are of the same rows.
static bool
read_rows(struct forecast *forecast, const struct preview_query *query, struct err *err)
{
    preview_rows_destroy(forecast->rows);
    return preview_rows_read(forecast->store, query, &forecast->rows, err);
}

bool
forecast_part(struct forecast *forecast, const struct preview_query *query, enum preview_part part,
              struct arena *arena, struct preview *preview, struct err *err)
{
    int64_t repeated = preview->repeated;
    struct preview_query of_rows = *query;
    if (part == PREVIEW_COUNTS && !read_rows(forecast, query, err))
        return false;
    of_rows.rows = forecast->rows;
    if (!operation_preview_part(forecast->store, &of_rows, part, arena, preview, err))
        return false;
    if (query->action != ACTION_REPROCESS)
        return true;
    if (part == PREVIEW_COUNTS || (preview->repeated > repeated && preview->known & 1u << PREVIEW_COUNTS))
        return forecast_topics(forecast, &of_rows, arena, preview, err);
    return part != PREVIEW_REFUSED || forecast_refused(forecast, &of_rows, arena, preview, err);
}

bool
forecast_make(struct forecast *forecast, const struct preview_query *query, struct arena *arena,
              struct preview *preview, struct err *err)
{
    *preview = (struct preview){0};
    for (unsigned part = 0; part < PREVIEW_PARTS; part++)
        if ((preview_parts(query->action) & 1u << part) &&
            !forecast_part(forecast, query, (enum preview_part)part, arena, preview, err))
            return false;
    return true;
}

bool
forecast_has_news(struct forecast *forecast, bool *has_news, struct err *err)
{
    const char **names = arena_array(&forecast->arena, forecast->topic_count + 1, sizeof *names);
    struct topic_known *known = arena_array(&forecast->arena, forecast->topic_count + 1, sizeof *known);
    *has_news = false;
    for (size_t i = 0; i < forecast->topic_count; i++)
        names[i] = forecast->topics[i].name;
    if (!topics_known(forecast->store, names, forecast->topic_count, known, err))
        return false;
    bool is_whole = true;
    for (size_t i = 0; i < forecast->topic_count; i++) {
        *has_news |= known[i].asked_at != forecast->topics[i].asked_at;
        is_whole &= known[i].answer != ANSWER_NONE;
    }
    *has_news = *has_news && is_whole;
    if (*has_news)
        forecast->topic_count = 0;
    return true;
}

void
forecast_release(struct forecast *forecast)
{
    free(forecast->topics);
    preview_rows_destroy(forecast->rows);
    arena_release(&forecast->arena);
}
