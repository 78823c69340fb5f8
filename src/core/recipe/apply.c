// Applies a recipe to one event: the operations in order, all of them or none.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/utf8.h"
#include "core/recipe/private.h"

const char *
recipe_outcome_name(enum recipe_outcome outcome)
{
    static const char *const names[] = {[RECIPE_CHANGED] = "changed",
                                        [RECIPE_UNCHANGED] = "unchanged",
                                        [RECIPE_NOT_APPLICABLE] = "not_applicable",
                                        [RECIPE_INVALID] = "invalid",
                                        [RECIPE_FAILED] = "failed"};
    return outcome < RECIPE_OUTCOMES ? names[outcome] : "";
}

const char *
recipe_warning_sentence(enum recipe_warning warning)
{
    static const char *const sentences[] = {
        [RECIPE_WARN_DUPLICATE] = "a name on the path occurs twice; the last one counts and was changed",
        [RECIPE_WARN_NUMBER] =
            "the number made of text is beyond what some readers hold; they would round it",
        [RECIPE_WARN_JQ_NUMBER] = "the payload has numbers that jq may round or write in another form",
        [RECIPE_WARN_JQ_DUPLICATE] = "the payload has duplicate names; jq keeps the last of them"};
    return warning < RECIPE_WARN_COUNT ? sentences[warning] : "";
}

enum recipe_outcome
apply_stop(struct apply *apply, enum recipe_outcome outcome, const char *format, ...)
{
    char *reason = apply->note.reason;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(reason, RECIPE_REASON, format, args);
    va_end(args);
    if (len >= RECIPE_REASON)
        reason[utf8_cut((struct bytes){reason, RECIPE_REASON - 1}, RECIPE_REASON - 4)] = '\0';
    return outcome;
}

// Why no path leads anywhere, if the payload is the reason.
static enum recipe_outcome
check_payload(struct apply *apply)
{
    struct err err = {0};
    struct bytes payload = apply->now.payload;
    if (!bytes_present(payload))
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "there is no payload: the value is null");
    if (!json_check(payload, &err))
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "the payload: %s", err.text);
    apply->is_read = true;
    return RECIPE_CHANGED;
}

enum recipe_outcome
apply_missing(struct apply *apply, const struct place *place)
{
    if (place->kind == PAYLOAD && check_payload(apply) != RECIPE_CHANGED)
        return RECIPE_NOT_APPLICABLE;
    return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s does not exist", BYTES_ARGS(place->text));
}

enum recipe_outcome
apply_unfit(struct apply *apply, const struct place *place, const struct json_matches *matches, size_t item,
            const char *said)
{
    struct strbuf path = {0};
    json_path_print(place->path, json_match_indexes(matches, item), &path);
    struct json_token value = matches->items[item].value;
    struct bytes text = bytes_slice(apply->now.payload, value.from, value.len);
    size_t shown = utf8_cut(text, 40);
    apply_stop(apply, RECIPE_NOT_APPLICABLE, "%s is %s: %.*s%s", strbuf_text(&path), said, (int)shown,
               text.data, shown < text.len ? "…" : "");
    strbuf_release(&path);
    return RECIPE_NOT_APPLICABLE;
}

// Texts of fewer bytes than tokens are allowed cannot have too many.
static bool
fits(struct bytes payload, struct err *err)
{
    return payload.len <= JSON_TOKENS || json_fits(payload, err);
}

enum recipe_outcome
apply_ready(struct apply *apply)
{
    struct err err = {0};
    if (!apply->is_read && !fits(apply->now.payload, &err))
        return apply_stop(apply, RECIPE_FAILED, "%s", err.text);
    return RECIPE_CHANGED;
}

enum recipe_outcome
apply_find(struct apply *apply, const struct place *place, struct json_matches *matches)
{
    enum recipe_outcome outcome = apply_ready(apply);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (!bytes_present(apply->now.payload) || !json_matches_find(place->path, apply->now.payload, matches))
        return check_payload(apply);
    apply->is_read = true;
    if (matches->replaced)
        apply->note.warnings |= 1u << RECIPE_WARN_DUPLICATE;
    return RECIPE_CHANGED;
}

// Does the operation look its place up, and nothing else?
static bool
looks_up(const struct operation *operation)
{
    bool is_plain = operation->kind->arguments != PATH_PATH && operation->kind->arguments != PATH_NAME &&
                    operation->kind->apply != recipe_do_remove;
    return is_plain && operation->place.kind == PAYLOAD;
}

bool
apply_only_swaps(const struct operation *operation)
{
    return operation->kind->apply == recipe_do_to_number || operation->kind->apply == recipe_do_to_text ||
           operation->kind->apply == recipe_do_to_boolean || operation->kind->apply == recipe_do_replace;
}

static void
gather_places(struct apply *apply, const struct place *place)
{
    const struct recipe *recipe = apply->recipe;
    apply->looked_up[0] = place;
    apply->looked_up_count = 1;
    for (size_t i = apply->operation; i + 1 < recipe->count && apply->looked_up_count < JSON_PATHS; i++) {
        const struct operation *before = &recipe->operations[i];
        bool may_change =
            !apply->is_second && before->kind->apply != recipe_do_expect && !apply_only_swaps(before);
        if (may_change || !looks_up(&recipe->operations[i + 1]))
            break;
        apply->looked_up[apply->looked_up_count++] = &recipe->operations[i + 1].place;
    }
}

enum recipe_outcome
apply_look(struct apply *apply, const struct place *place, const struct json_matches **matches)
{
    struct json_matches *found = apply->recipe->matches;
    size_t at = 0;
    while (at < apply->looked_up_count && apply->looked_up[at] != place)
        at++;
    if (at == apply->looked_up_count) {
        const struct json_path *paths[JSON_PATHS];
        enum recipe_outcome outcome = apply_ready(apply);
        if (outcome != RECIPE_CHANGED)
            return outcome;
        gather_places(apply, place);
        for (at = 0; at < apply->looked_up_count; at++)
            paths[at] = apply->looked_up[at]->path;
        if (!bytes_present(apply->now.payload) ||
            !json_matches_find_all(paths, at, apply->now.payload, found))
            return check_payload(apply);
        apply->is_read = true;
        at = 0;
    }
    if (found[at].replaced)
        apply->note.warnings |= 1u << RECIPE_WARN_DUPLICATE;
    *matches = &found[at];
    return RECIPE_CHANGED;
}

struct strbuf *
apply_buffer(struct apply *apply)
{
    struct recipe *recipe = apply->recipe;
    bool is_first = apply->now.payload.data != recipe->payloads[0].data;
    struct strbuf *buffer = &recipe->payloads[is_first ? 0 : 1];
    strbuf_reset(buffer);
    return buffer;
}

enum recipe_outcome
apply_payload(struct apply *apply)
{
    struct recipe *recipe = apply->recipe;
    bool is_first = apply->now.payload.data != recipe->payloads[0].data;
    struct bytes made = strbuf_bytes(&recipe->payloads[is_first ? 0 : 1]);
    struct err err = {0};
    if (bytes_equal(made, apply->now.payload))
        return RECIPE_UNCHANGED;
    if (!fits(made, &err))
        return apply_stop(apply, RECIPE_FAILED, "the result is too large: %s", err.text);
    apply->now.payload = made;
    apply->looked_up_count = 0;
    return RECIPE_CHANGED;
}

enum recipe_outcome
apply_swapped(struct apply *apply, const struct place *place, size_t swaps)
{
    struct recipe *recipe = apply->recipe;
    size_t known = apply->looked_up_count;
    enum recipe_outcome outcome = apply_payload(apply);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    apply->looked_up_count = known;
    for (size_t i = 0; i < known; i++)
        if (apply->looked_up[i] == place || !json_matches_follow(&recipe->matches[i], recipe->swaps, swaps))
            apply->looked_up[i] = NULL;
    return outcome;
}

// Deep values within deep values may exceed what can be read.
static enum recipe_outcome
check_result(struct apply *apply)
{
    struct err err = {0};
    if (apply->may_be_deep && bytes_present(apply->now.payload) && !json_check(apply->now.payload, &err))
        return apply_stop(apply, RECIPE_INVALID, "the result: %s", err.text);
    return RECIPE_CHANGED;
}

static enum recipe_outcome
apply_operations(struct apply *apply)
{
    const struct recipe *recipe = apply->recipe;
    for (size_t i = 0; i < recipe->count; i++) {
        const struct operation *operation = &recipe->operations[i];
        apply->operation = i;
        enum recipe_outcome outcome = operation->kind->apply(apply, operation);
        apply->note.line = operation->line;
        if (outcome != RECIPE_CHANGED && outcome != RECIPE_UNCHANGED)
            return outcome;
        if (outcome == RECIPE_CHANGED && !apply->first_change)
            apply->first_change = operation->line;
    }
    return check_result(apply);
}

enum recipe_outcome
recipe_apply(struct recipe *recipe, const struct record_parts *in, const struct recipe_host *host,
             struct arena *arena, struct record_parts *out, struct recipe_note *note)
{
    struct apply apply = {.recipe = recipe, .host = host, .arena = arena, .now = *in};
    enum recipe_outcome outcome = apply_operations(&apply);
    *out = *in;
    if (outcome == RECIPE_CHANGED) {
        bool is_changed = apply.first_change && !parts_equal(&apply.now, in);
        outcome = is_changed ? RECIPE_CHANGED : RECIPE_UNCHANGED;
        apply.note.line = 0;
        if (is_changed) {
            *out = apply.now;
            // Only the payload lives in buffers of the recipe.
            out->payload = apply.now.payload.data == in->payload.data ? in->payload
                                                                      : arena_copy(arena, apply.now.payload);
        }
    }
    if (note)
        *note = apply.note;
    return outcome;
}

bool
recipe_is_stable_on(struct recipe *recipe, const struct record_parts *result, const struct recipe_host *host,
                    struct arena *arena, struct recipe_note *note)
{
    struct apply apply = {.recipe = recipe, .host = host, .arena = arena, .now = *result, .is_second = true};
    enum recipe_outcome outcome = apply_operations(&apply);
    bool is_stable = outcome != RECIPE_CHANGED || !apply.first_change || parts_equal(&apply.now, result);
    apply.note.line = is_stable ? 0 : apply.first_change;
    if (!is_stable)
        apply_stop(&apply, outcome, "a second application would change the event again");
    if (note)
        *note = apply.note;
    return is_stable;
}
