#include "correct/private.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "correct/pages.h"
#include "process/jq.h"

enum { WAIT_STEP = 50000 }; // µs

struct corrector {
    struct recipe *recipe;      // NULL: it only checks, or is useless
    char *why;                  // of a useless one; heap
    enum correct_outcome asked; // what becomes of an event about which the checks are asked
    correct_originals_fn *originals;
    void *originals_context;
    struct jq_process *jq;
    struct checks *checks; // NULL: no event is checked
    bool is_forced;        // what they refuse is changed all the same
    size_t twice;          // so many more are applied twice
    size_t event_bytes;    // on average, of the page with the largest events; 0: none was read yet
    bool (*is_wanted)(void *context);
    void *context;
    bool is_stopped; // it was not wanted any more; checks owe answers
};

bool
correct_has_checks(const struct correct_limits *limits)
{
    return limits->checks && limits->checks[0];
}

bool
corrector_create(struct corrector **corrector, const char *file, struct bytes recipe,
                 const struct correct_limits *limits, struct err *err)
{
    struct corrector *made = alloc_bytes(sizeof *made);
    *made = (struct corrector){
        .is_forced = limits->is_forced, .is_wanted = limits->is_wanted, .context = limits->context};
    const struct jq_limits jq = {.time = limits->jq_time,
                                 .memory = limits->jq_memory,
                                 .is_wanted = limits->is_wanted,
                                 .context = limits->context};
    bool ok = recipe_parse(&made->recipe, file, recipe, err);
    if (ok && correct_has_checks(limits))
        ok = (made->checks = checks_create(limits->checks, &limits->check, err)) != NULL;
    if (!ok) {
        corrector_destroy(made);
        return false;
    }
    made->jq = jq_process_create(&jq);
    *corrector = made;
    return true;
}

bool
corrector_create_check(struct corrector **corrector, const struct correct_limits *limits, struct err *err)
{
    if (!correct_has_checks(limits))
        return err_set(err, ERR_USAGE, "no check is configured; see checks in redrive-config");
    struct checks *checks = checks_create(limits->checks, &limits->check, err);
    if (!checks)
        return false;
    *corrector = alloc_bytes(sizeof **corrector);
    **corrector = (struct corrector){.asked = CORRECT_UNCHANGED,
                                     .checks = checks,
                                     .is_forced = limits->is_forced,
                                     .is_wanted = limits->is_wanted,
                                     .context = limits->context};
    return true;
}

struct corrector *
corrector_create_useless(const char *why)
{
    struct corrector *made = alloc_bytes(sizeof *made);
    *made = (struct corrector){.why = alloc_text(why)};
    return made;
}

void
corrector_set_originals(struct corrector *corrector, correct_originals_fn *originals, void *context)
{
    corrector->originals = originals;
    corrector->originals_context = context;
}

void
corrector_look_twice(struct corrector *corrector, size_t most)
{
    corrector->twice = most;
}

void
corrector_destroy(struct corrector *corrector)
{
    if (!corrector)
        return;
    recipe_destroy(corrector->recipe);
    jq_process_destroy(corrector->jq);
    checks_destroy(corrector->checks);
    free(corrector->why);
    free(corrector);
}

static bool
has_programs(const struct corrector *corrector)
{
    return corrector->checks || (corrector->recipe && recipe_has_jq(corrector->recipe));
}

bool
corrector_knows_size(const struct corrector *corrector)
{
    return corrector->event_bytes || has_programs(corrector);
}

size_t
corrector_page_size(const struct corrector *corrector, size_t most_bytes)
{
    return has_programs(corrector) ? PAGE_FEW : pages_size(corrector->event_bytes, most_bytes);
}

unsigned
corrector_fields(const struct corrector *corrector)
{
    unsigned fields = EVENT_EDITED | EVENT_PAYLOAD | EVENT_RAW | EVENT_REPLACED;
    if (corrector->checks)
        fields |= EVENT_TYPED;
    if (corrector->checks || (corrector->recipe && !recipe_is_of_payload(corrector->recipe)))
        fields |= EVENT_KEYED | EVENT_PLACED;
    if (corrector->originals)
        fields |= EVENT_PLACED;
    return fields;
}

void
corrector_note_page(struct corrector *corrector, size_t bytes, size_t events)
{
    size_t each = events ? bytes / events + 1 : 0;
    if (each > corrector->event_bytes)
        corrector->event_bytes = each;
}

// --- one event ---

void
correct_parts(const struct event *event, struct record_parts *parts)
{
    const struct correction *correction = &event->known.correction;
    uint32_t header_count;
    const struct event_header *headers = event_kept_headers(event, &header_count);
    *parts = (struct record_parts){
        .payload = event->payload,
        .key = correction->has_key     ? correction->key
               : event->record.is_kept ? event_kept_key(event)
                                       : event->source_id,
        .topic = correction->has_topic ? correction->topic : event->topic,
        .partition = correction->has_partition ? correction->partition : PARTITION_NONE,
        .headers = correction->has_headers ? correction->headers : headers,
        .header_count = correction->has_headers ? correction->header_count : header_count,
    };
}

static bool
differs(struct bytes a, struct bytes b)
{
    return bytes_present(a) != bytes_present(b) || (bytes_present(a) && !bytes_equal(a, b));
}

static bool
headers_differ(const struct record_parts *a, const struct record_parts *b)
{
    if (a->header_count != b->header_count)
        return true;
    for (size_t i = 0; a->headers != b->headers && i < a->header_count; i++)
        if (differs(a->headers[i].name, b->headers[i].name) ||
            differs(a->headers[i].value, b->headers[i].value))
            return true;
    return false;
}

void
correct_revision(const struct event *event, const struct record_parts *before,
                 const struct record_parts *after, struct arena *arena, struct correction *correction)
{
    *correction = event->known.correction;
    if (correction->has_payload || differs(before->payload, after->payload)) {
        correction->has_payload = true;
        correction->payload = after->payload;
    }
    if (differs(before->key, after->key)) {
        correction->has_key = true;
        correction->key = after->key;
    }
    if (differs(before->topic, after->topic)) {
        correction->has_topic = true;
        correction->topic = after->topic;
    }
    if (before->partition != after->partition) {
        correction->has_partition = after->partition != PARTITION_NONE;
        correction->partition = correction->has_partition ? after->partition : 0;
    }
    if (headers_differ(before, after)) {
        correction->has_headers = true;
        correction->header_count = (uint32_t)after->header_count;
        correction->headers = arena_array(arena, after->header_count, sizeof *correction->headers);
        if (after->header_count)
            memcpy(correction->headers, after->headers, after->header_count * sizeof *correction->headers);
    }
}

static enum correct_outcome
outcome_of(enum recipe_outcome outcome)
{
    switch (outcome) {
    case RECIPE_CHANGED:
        return CORRECT_CHANGED;
    case RECIPE_UNCHANGED:
        return CORRECT_UNCHANGED;
    case RECIPE_NOT_APPLICABLE:
        return CORRECT_NOT_APPLICABLE;
    case RECIPE_INVALID:
        return CORRECT_INVALID;
    case RECIPE_FAILED:
    case RECIPE_OUTCOMES:
        break;
    }
    return CORRECT_FAILED;
}

// Why the recipe cannot be applied to the event; NULL: it can. Where PostgreSQL cannot return the payload,
// the original record is as good.
static const char *
trouble_of(const struct corrector *corrector, const struct event *event, const char *why_not)
{
    if (corrector->why || why_not)
        return corrector->why ? corrector->why : why_not;
    return event->record.is_kept || bytes_present(event->payload) ? NULL : event->known.unreadable;
}

static void
correct_event(struct corrector *corrector, const struct event *event, const char *why_not,
              struct arena *arena, struct record_parts *after, struct correct_result *result)
{
    const struct recipe_host host = {.jq = jq_process_run, .context = corrector->jq};
    struct record_parts before;
    struct recipe_note note = {0};
    correct_parts(event, &before);
    *after = before;
    const char *trouble = trouble_of(corrector, event, why_not);
    if (trouble) {
        *result = (struct correct_result){.id = event->id,
                                          .parent = event->known.revisions,
                                          .outcome = CORRECT_FAILED,
                                          .reason = arena_printf(arena, "%s", trouble),
                                          .before = before.payload};
        return;
    }
    enum recipe_outcome outcome = corrector->recipe
                                      ? recipe_apply(corrector->recipe, &before, &host, arena, after, &note)
                                      : RECIPE_UNCHANGED;
    *result = (struct correct_result){
        .id = event->id,
        .parent = event->known.revisions,
        .outcome = outcome_of(outcome),
        .line = note.line,
        .reason = note.reason[0] ? arena_printf(arena, "%s", note.reason) : NULL,
        .warnings = note.warnings,
        .replaced = note.replaced,
        .is_exact = event->record.is_kept || event->known.correction.has_payload,
        .before = before.payload,
    };
    if (result->outcome == CORRECT_CHANGED) {
        result->after = after->payload;
        correct_revision(event, &before, after, arena, &result->correction);
    }
    if (result->outcome == CORRECT_CHANGED && corrector->twice > 0) {
        corrector->twice--;
        if (!recipe_is_stable_on(corrector->recipe, after, &host, arena, &note))
            result->again = note.line;
    }
}

// --- many events ---

static struct question
question_of(const struct event *event, const struct record_parts *parts)
{
    return (struct question){
        .id = event->id,
        .type = event->event_type,
        .topic = parts->topic,
        .key = parts->key,
        .headers = parts->headers,
        .header_count = parts->header_count,
        .payload = parts->payload,
    };
}

// Waits in short steps, so that an interrupt is heard at once. False: it was.
static bool
await_answer(struct corrector *corrector, struct check_answer *answer, bool *is_there)
{
    while (!corrector->is_stopped) {
        *is_there = checks_answer(corrector->checks, answer, WAIT_STEP);
        if (*is_there || checks_waiting(corrector->checks) == 0)
            return true;
        corrector->is_stopped = corrector->is_wanted && !corrector->is_wanted(corrector->context);
    }
    return false;
}

static void
take_answer(struct corrector *corrector, struct correct_result *result, struct arena *arena)
{
    struct check_answer answer;
    bool is_there;
    if (!await_answer(corrector, &answer, &is_there))
        return;
    if (is_there && (answer.verdict == CHECK_OK || answer.verdict == CHECK_NONE))
        return;
    bool is_refused = is_there && answer.verdict == CHECK_REFUSED;
    result->outcome = !is_refused ? CORRECT_FAILED : corrector->is_forced ? CORRECT_FORCED : CORRECT_REFUSED;
    result->line = 0;
    result->reason =
        arena_printf(arena, "%s", is_there && answer.reason ? answer.reason : "the check gave no answer");
}

// Asks the checks about every event that changed, or about all. They answer in the order in which they were
// asked.
static void
ask_checks(struct corrector *corrector, const struct event *events, const struct record_parts *parts,
           size_t count, struct arena *arena, struct correct_result *results)
{
    size_t answered = 0;
    for (size_t i = 0; i < count && !corrector->is_stopped; i++) {
        if (results[i].outcome != corrector->asked)
            continue;
        const struct question question = question_of(&events[i], &parts[i]);
        while (!corrector->is_stopped && !checks_ask(corrector->checks, &question)) {
            while (results[answered].outcome != corrector->asked)
                answered++;
            take_answer(corrector, &results[answered++], arena);
        }
    }
    for (; answered < count && !corrector->is_stopped; answered++)
        if (results[answered].outcome == corrector->asked)
            take_answer(corrector, &results[answered], arena);
}

// Original records where they are wanted and can be had.
bool
corrector_find_originals(struct corrector *corrector, struct store *store, struct event *events, size_t count,
                         bool is_kept_for_good, struct arena *arena, const char ***troubles, struct err *err)
{
    *troubles = arena_array(arena, count, sizeof **troubles);
    for (size_t i = 0; i < count; i++)
        (*troubles)[i] = NULL;
    return !corrector->originals || corrector->originals(corrector->originals_context, store, events, count,
                                                         is_kept_for_good, arena, *troubles, err);
}

bool
correct_events(struct corrector *corrector, const struct event *events, const char *const *troubles,
               size_t count, struct arena *arena, struct correct_result *results, struct err *err)
{
    struct record_parts *parts = arena_array(arena, count, sizeof *parts);
    for (size_t i = 0; i < count && !corrector->is_stopped; i++) {
        correct_event(corrector, &events[i], troubles ? troubles[i] : NULL, arena, &parts[i], &results[i]);
        // jq gives up where it is not wanted any more, which is no fault of the event.
        if (results[i].outcome == CORRECT_FAILED)
            corrector->is_stopped = corrector->is_wanted && !corrector->is_wanted(corrector->context);
    }
    if (corrector->checks)
        ask_checks(corrector, events, parts, count, arena, results);
    return !corrector->is_stopped ||
           err_set(err, ERR_CANCELLED, "stopped as asked; nothing more was written");
}

bool
correct_ask_check(const struct correct_limits *limits, const struct event *event,
                  const struct correction *correction, struct arena *arena, struct correct_result *result,
                  struct err *err)
{
    struct corrector *corrector;
    struct event sent = *event;
    *result = (struct correct_result){.id = event->id, .outcome = CORRECT_UNCHANGED};
    if (!correct_has_checks(limits))
        return true;
    sent.known.correction = *correction;
    if (correction->has_payload)
        sent.payload = correction->payload;
    if (!corrector_create_check(&corrector, limits, err))
        return false;
    bool ok = correct_events(corrector, &sent, NULL, 1, arena, result, err);
    corrector_destroy(corrector);
    return ok;
}
