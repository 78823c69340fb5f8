// The operations that put, add, remove and rename: set, default, add, remove, rename; and those that make
// another payload: unwrap, jq.
#include "core/recipe/private.h"

static bool
is_container(struct bytes json)
{
    return json.len && (json.data[0] == '{' || json.data[0] == '[');
}

// A value that comes again in the same event is no other one: an array of equal values is like its first.
static uint64_t
add_replaced(uint64_t replaced, uint64_t value)
{
    return (replaced ^ value) * UINT64_C(0x100000001b3) | 1;
}

static bool
choose_set(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    choice->places++;
    *value = choice->operation->json;
    if (choice->matches->items[item].is_missing)
        return true;
    struct bytes old = choice_bytes(choice, item);
    if (bytes_equal(old, *value))
        return false;
    uint64_t hash = bytes_hash(old);
    if (choice->replaced == 0 || hash != choice->first)
        choice->replaced = add_replaced(choice->replaced, hash);
    choice->first = choice->first ? choice->first : hash;
    return true;
}

static bool
choose_default(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    choice->places++;
    *value = choice->operation->json;
    return choice->matches->items[item].is_missing;
}

static enum recipe_outcome
set_part(struct apply *apply, const struct operation *operation)
{
    struct strbuf *scratch = &apply->recipe->scratch;
    strbuf_reset(scratch);
    bool had_value = place_json(apply, &operation->place, scratch);
    uint64_t old = bytes_hash(strbuf_bytes(scratch));
    enum recipe_outcome outcome = place_set(apply, &operation->place, operation->json, false);
    if (had_value && outcome == RECIPE_CHANGED)
        apply->note.replaced = add_replaced(apply->note.replaced, old);
    return outcome;
}

enum recipe_outcome
recipe_do_set(struct apply *apply, const struct operation *operation)
{
    if (operation->place.kind != PAYLOAD)
        return set_part(apply, operation);
    struct choice choice = {.operation = operation, .place = &operation->place};
    apply->may_be_deep = apply->may_be_deep || is_container(operation->json);
    enum recipe_outcome outcome = apply_each(apply, &choice, choose_set);
    if (choice.replaced)
        apply->note.replaced = add_replaced(apply->note.replaced, choice.replaced);
    return outcome;
}

enum recipe_outcome
recipe_do_default(struct apply *apply, const struct operation *operation)
{
    if (operation->place.kind != PAYLOAD)
        return place_exists(apply, &operation->place)
                   ? RECIPE_UNCHANGED
                   : place_set(apply, &operation->place, operation->json, false);
    struct choice choice = {.operation = operation, .place = &operation->place};
    apply->may_be_deep = apply->may_be_deep || is_container(operation->json);
    return apply_each(apply, &choice, choose_default);
}

// Can a member be added to what the path leads to?
static bool
is_member_missing(const struct json_matches *matches)
{
    for (size_t i = 0; i < matches->count; i++)
        if (matches->items[i].is_missing && matches->items[i].parent.kind == JSON_OBJECT_BEGIN)
            return true;
    return false;
}

enum recipe_outcome
recipe_do_add(struct apply *apply, const struct operation *operation)
{
    const struct place *place = &operation->place;
    if (place->kind != PAYLOAD)
        return place_set(apply, place, operation->json, true);
    const struct json_matches *matches;
    enum recipe_outcome outcome = apply_look(apply, place, &matches);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    for (size_t i = 0; i < matches->count; i++)
        if (!matches->items[i].is_missing && matches->items[i].value.kind != JSON_ARRAY_BEGIN)
            return apply_unfit(apply, place, matches, i, "not an array");

    // Elements first: an added member may be an array itself.
    bool adds_members = is_member_missing(matches);
    apply->may_be_deep = true;
    if (matches->found > JSON_BYTES / operation->json.len)
        return apply_stop(apply, RECIPE_FAILED, "the result is too large");
    if (matches->found) {
        (void)json_insert(place->path, apply->now.payload, JSON_LAST, operation->json, apply_buffer(apply));
        outcome = apply_payload(apply);
    } else if (!adds_members) {
        return apply_missing(apply, place);
    }
    return adds_members && outcome == RECIPE_CHANGED ? recipe_do_default(apply, operation) : outcome;
}

enum recipe_outcome
recipe_do_remove(struct apply *apply, const struct operation *operation)
{
    const struct place *place = &operation->place;
    if (place->kind != PAYLOAD)
        return place_remove(apply, place);
    enum recipe_outcome outcome = apply_ready(apply);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (!bytes_present(apply->now.payload) ||
        !json_remove(place->path, apply->now.payload, apply_buffer(apply)))
        return apply_missing(apply, place);
    return apply_payload(apply);
}

enum recipe_outcome
recipe_do_rename(struct apply *apply, const struct operation *operation)
{
    const struct place *place = &operation->place;
    if (place->kind != PAYLOAD)
        return place_rename(apply, place, operation->name);
    enum recipe_outcome outcome = apply_ready(apply);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (bytes_present(apply->now.payload) &&
        json_rename(place->path, apply->now.payload, operation->name, apply_buffer(apply)))
        return apply_payload(apply);

    struct json_matches *matches = &apply->recipe->more;
    outcome = apply_find(apply, place, matches);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (matches->found == 0)
        return apply_missing(apply, place);
    return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s cannot be renamed: its object has \"%.*s\" already",
                      BYTES_ARGS(place->text), BYTES_ARGS(operation->name));
}

enum recipe_outcome
recipe_do_unwrap(struct apply *apply, const struct operation *operation)
{
    const struct place *place = &operation->place;
    struct json_matches *matches = &apply->recipe->more;
    enum recipe_outcome outcome = apply_find(apply, place, matches);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (matches->found == 0)
        return apply_missing(apply, place);
    struct json_token value = matches->items[0].value;
    struct bytes token = bytes_slice(apply->now.payload, value.from, value.len);
    if (value.kind != JSON_STRING)
        return apply_unfit(apply, place, matches, 0, "not a text");
    if (json_lone_surrogates(token) > 0)
        return apply_unfit(apply, place, matches, 0, "a text with half of a surrogate pair");
    apply->may_be_deep = true; // it may be no JSON at all
    (void)json_decode(token, apply_buffer(apply));
    return apply_payload(apply);
}

static void
warn_of_risks(struct apply *apply)
{
    size_t count = json_warnings(apply->now.payload, NULL, 0);
    if (count == 0)
        return;
    struct json_warning *warnings = arena_array(apply->arena, count, sizeof *warnings);
    (void)json_warnings(apply->now.payload, warnings, count);
    for (size_t i = 0; i < count; i++) {
        if (warnings[i].risk == JSON_RISK_NUMBER)
            apply->note.warnings |= 1u << RECIPE_WARN_JQ_NUMBER;
        else if (warnings[i].risk == JSON_RISK_DUPLICATE)
            apply->note.warnings |= 1u << RECIPE_WARN_JQ_DUPLICATE;
    }
}

enum recipe_outcome
recipe_do_jq(struct apply *apply, const struct operation *operation)
{
    struct err err = {0};
    if (!apply->host || !apply->host->jq)
        return apply_stop(apply, RECIPE_FAILED, "jq cannot be run here; use the other operations");
    enum recipe_outcome outcome = apply_ready(apply);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (!bytes_present(apply->now.payload))
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "there is no payload: the value is null");
    if (!json_check(apply->now.payload, &err))
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "the payload: %s", err.text);

    struct strbuf *out = apply_buffer(apply);
    if (!apply->host->jq(apply->host->context, operation->program, apply->now.payload, out, &err))
        return apply_stop(apply, RECIPE_FAILED, "jq: %s", err.text);
    warn_of_risks(apply);
    if (bytes_trim(strbuf_bytes(out)).len == 0)
        return apply_stop(apply, RECIPE_FAILED, "jq made no value; a program makes one value of a payload");
    if (!json_check(strbuf_bytes(out), &err))
        return apply_stop(apply, RECIPE_INVALID, "what jq made: %s", err.text);
    return apply_payload(apply);
}
