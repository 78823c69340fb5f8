#include "core/outcomes.h"

#include <inttypes.h>
#include "base/text.h"

enum outcome_severity
outcome_part_severity(enum outcome_part part)
{
    switch (part) {
    case PART_STAYED:
        return OUTCOME_WELL;
    case PART_TAKEN:
    case PART_WATCHING:
        return OUTCOME_OPEN;
    case PART_UNSENT:
        return OUTCOME_INCOMPLETE;
    case PART_RETURNED:
        return OUTCOME_RETURNED;
    case PART_REFUSED:
    case PART_SKIPPED:
    case PART_IN_DOUBT:
    case OUTCOME_PARTS:
        break;
    }
    return OUTCOME_FAILED;
}

static int64_t
at_most(int64_t n, int64_t most)
{
    return n > most ? most : n;
}

struct outcomes
outcomes_of(const struct operation *operation)
{
    struct outcomes outcomes = {.total = operation->total};
    int64_t *parts = outcomes.parts;
    parts[PART_STAYED] = operation->done;
    if (operation->action == ACTION_REPROCESS) {
        const struct taken *taken = &operation->sent.taken;
        parts[PART_RETURNED] = at_most(operation->returned, operation->done);
        int64_t watched = at_most(operation->sent.watched, operation->done - parts[PART_RETURNED]);
        parts[PART_STAYED] = operation->done - parts[PART_RETURNED] - watched;
        parts[PART_WATCHING] = taken->count < 0 ? watched : at_most(taken->of - taken->count, watched);
        parts[PART_TAKEN] = watched - parts[PART_WATCHING];
    }
    parts[PART_REFUSED] = operation->refused;
    parts[PART_SKIPPED] = operation->skipped;
    parts[PART_IN_DOUBT] = operation->in_doubt;
    parts[PART_UNSENT] = operation->queued + operation->claimed + operation->cancelled;
    for (int i = 0; i < OUTCOME_PARTS; i++) {
        enum outcome_severity severity = outcome_part_severity((enum outcome_part)i);
        if (parts[i] > 0 && severity > outcomes.severity)
            outcomes.severity = severity;
    }
    if (operation->state == OPERATION_HALTED)
        outcomes.severity = OUTCOME_FAILED;
    else if (!operation_state_is_final(operation->state) && outcomes.severity < OUTCOME_RETURNED)
        outcomes.severity = OUTCOME_OPEN;
    else if (operation_changed(operation) == 0 && outcomes.severity == OUTCOME_WELL)
        outcomes.severity = OUTCOME_INCOMPLETE;
    return outcomes;
}

int
outcomes_percent(const struct outcomes *outcomes)
{
    int64_t unsent = outcomes->parts[PART_UNSENT];
    if (outcomes->total <= 0 || unsent <= 0)
        return 100;
    return unsent >= outcomes->total ? 0 : (int)((outcomes->total - unsent) * 100 / outcomes->total);
}

static const char *
done_word(enum operation_action action, bool in_capitals)
{
    static const char *const words[ACTION_COUNT][2] = {
        [ACTION_REPROCESS] = {"sent", "SENT"},         [ACTION_RESOLVE] = {"resolved", "RESOLVED"},
        [ACTION_DISCARD] = {"discarded", "DISCARDED"}, [ACTION_RESTORE] = {"restored", "RESTORED"},
        [ACTION_CORRECT] = {"corrected", "CORRECTED"},
    };
    return words[action][in_capitals];
}

// What went wrong, worst last: "96 OF 1,010 RETURNED, 2 REFUSED".
static void
add_failures(const struct operation *operation, const struct outcomes *outcomes, bool in_capitals,
             struct strbuf *out)
{
    const struct {
        const char *word, *capitals;
        int64_t count;
        bool is_of_sent;
    } failures[] = {
        {"returned", "RETURNED", outcomes->parts[PART_RETURNED], true},
        {"refused", "REFUSED", outcomes->parts[PART_REFUSED], false},
        {"skipped", "SKIPPED", outcomes->parts[PART_SKIPPED], false},
        {"in doubt", "IN DOUBT", outcomes->parts[PART_IN_DOUBT], false},
    };
    char count[TEXT_SHORT];
    char sent[TEXT_SHORT];
    bool is_first = true;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        if (failures[i].count == 0)
            continue;
        strbuf_printf(out, "%s%s", is_first ? "" : ", ", text_count(failures[i].count, count));
        if (failures[i].is_of_sent)
            strbuf_printf(out, " %s %s", in_capitals ? "OF" : "of", text_count(operation->done, sent));
        strbuf_printf(out, " %s", in_capitals ? failures[i].capitals : failures[i].word);
        is_first = false;
    }
}

static bool
has_failures(const struct outcomes *outcomes)
{
    return outcomes->parts[PART_RETURNED] + outcomes->parts[PART_REFUSED] + outcomes->parts[PART_SKIPPED] +
               outcomes->parts[PART_IN_DOUBT] >
           0;
}

// Of a recipe: what it left alone.
static void
add_left_alone(const struct operation *operation, struct strbuf *out)
{
    char count[TEXT_SHORT];
    if (operation->recipe.unchanged)
        strbuf_printf(out, ", %s unchanged", text_count(operation->recipe.unchanged, count));
    if (operation->recipe.not_applicable)
        strbuf_printf(out, ", %s not applicable", text_count(operation->recipe.not_applicable, count));
}

static void
well_sentence(const struct operation *operation, const struct outcomes *outcomes, struct strbuf *out)
{
    char count[TEXT_SHORT];
    int64_t watched = outcomes->parts[PART_WATCHING] + outcomes->parts[PART_TAKEN];
    bool is_untaken = operation->sent.taken.count >= 0 && outcomes->parts[PART_WATCHING] &&
                      operation->sent.taken.note != NULL;
    if (operation->action == ACTION_REPROCESS && watched && is_untaken)
        strbuf_printf(out, "done, %s", operation->sent.taken.note);
    else if (operation->action == ACTION_REPROCESS && watched)
        strbuf_printf(out, "done, watching %s for returns", text_count(watched, count));
    else if (operation->action == ACTION_REPROCESS)
        strbuf_printf(out, "done, %s%s stayed away", operation->done > 1 ? "all " : "",
                      text_count(operation->done, count));
    else
        strbuf_printf(out, "done, %s %s", text_count(operation_changed(operation), count),
                      done_word(operation->action, false));
    add_left_alone(operation, out);
}

static void
done_sentence(const struct operation *operation, const struct outcomes *outcomes, struct strbuf *out)
{
    char count[TEXT_SHORT];
    if (operation_changed(operation) == 0) {
        strbuf_printf(out, "NOTHING %s", done_word(operation->action, true));
        if (has_failures(outcomes))
            strbuf_add_text(out, ": ");
        add_failures(operation, outcomes, false, out);
        add_left_alone(operation, out);
    } else if (has_failures(outcomes)) {
        strbuf_add_text(out, "DONE, BUT ");
        add_failures(operation, outcomes, true, out);
        if (operation->action == ACTION_CORRECT)
            strbuf_printf(out, ", %s corrected", text_count(operation_changed(operation), count));
        add_left_alone(operation, out);
    } else
        well_sentence(operation, outcomes, out);
}

// One that did not come to its end: "CANCELLED after 310 of 2,000: 5 of 310 returned".
static void
broken_sentence(const struct operation *operation, const struct outcomes *outcomes, struct strbuf *out)
{
    char done[TEXT_SHORT];
    char total[TEXT_SHORT];
    bool is_halted = operation->state == OPERATION_HALTED;
    strbuf_add_text(out, is_halted ? "HALTED" : "CANCELLED");
    if (operation->done)
        strbuf_printf(out, " after %s of %s", text_count(operation->done, done),
                      text_count(operation->total, total));
    else
        strbuf_printf(out, ", nothing %s", done_word(operation->action, false));
    bool has_note = is_halted && operation->state_note;
    if (has_note)
        strbuf_printf(out, ": %s", operation->state_note);
    else if (has_failures(outcomes)) {
        strbuf_add_text(out, ": ");
        add_failures(operation, outcomes, false, out);
    }
}

const char *
outcome_sentence(const struct operation *operation, struct arena *arena)
{
    if (!operation_state_is_final(operation->state))
        return NULL;
    struct outcomes outcomes = outcomes_of(operation);
    struct strbuf out = {0};
    if (operation->state == OPERATION_DONE)
        done_sentence(operation, &outcomes, &out);
    else
        broken_sentence(operation, &outcomes, &out);
    const char *copy = arena_text(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return copy;
}

const char *
operation_end_sentence(const struct operation *operation, struct arena *arena)
{
    const char *sentence = outcome_sentence(operation, arena);
    return arena_printf(arena, "operation %" PRId64 ": %s", operation->no,
                        sentence ? sentence : operation_state_name(operation->state));
}

const char *
returned_group_words(const struct returned *returned)
{
    return returned->same == returned->count ? "the same" : returned->same == 0 ? "another" : "a";
}
