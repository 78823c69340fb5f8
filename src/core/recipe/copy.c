// copy and move: values from one place to another.
#include "core/recipe/private.h"

// The first place is a path with values, or one JSON value. Items of both paths come in the order of their
// indexes, so that one walk over both pairs them.
struct copying {
    struct choice to;                   // first, so that a choice is a copying
    const struct json_matches *sources; // NULL: `json` goes to every item
    struct bytes payload;
    struct bytes json;
    size_t source;
    bool is_used; // the source has a place to go to
    bool is_lost; // an earlier one has none
};

// Compares the indexes of a source with those of an item, as far as the source has them.
static int
compare_indexes(const struct copying *copying, size_t item)
{
    const size_t *a = json_match_indexes(copying->sources, copying->source);
    const size_t *b = json_match_indexes(copying->to.matches, item);
    for (size_t i = 0; i < copying->sources->stars; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static void
leave_source(struct copying *copying)
{
    bool is_there = !copying->sources->items[copying->source].is_missing;
    copying->is_lost = copying->is_lost || (is_there && !copying->is_used);
    copying->is_used = false;
    copying->source++;
}

// The value that belongs to an item; false: none.
static bool
source_of(struct copying *copying, size_t item, struct bytes *value)
{
    *value = copying->json;
    if (!copying->sources)
        return true;
    while (copying->source < copying->sources->count && compare_indexes(copying, item) < 0)
        leave_source(copying);
    if (copying->source == copying->sources->count || compare_indexes(copying, item) > 0 ||
        copying->sources->items[copying->source].is_missing)
        return false;
    struct json_token token = copying->sources->items[copying->source].value;
    *value = bytes_slice(copying->payload, token.from, token.len);
    copying->is_used = true;
    return true;
}

static bool
choose_copy(void *context, size_t item, struct bytes *value)
{
    struct copying *copying = context;
    const struct json_match *match = &copying->to.matches->items[item];
    if (copying->to.stopped != RECIPE_CHANGED || !source_of(copying, item, value))
        return false;
    copying->to.places++;
    if (match->is_missing || match->value.kind == JSON_NULL)
        return !bytes_equal_text(*value, "null") || match->is_missing;
    if (!bytes_equal(choice_bytes(&copying->to, item), *value))
        (void)choice_unfit(&copying->to, item, "already set");
    return false;
}

static enum recipe_outcome
copy_to_payload(struct apply *apply, const struct operation *operation, struct copying *copying)
{
    copying->to = (struct choice){.operation = operation, .place = &operation->to};
    copying->payload = apply->now.payload;
    apply->may_be_deep = true;
    enum recipe_outcome outcome = apply_each(apply, &copying->to, choose_copy);
    if (outcome != RECIPE_CHANGED && outcome != RECIPE_UNCHANGED)
        return outcome;
    while (copying->sources && copying->source < copying->sources->count)
        leave_source(copying);
    if (!copying->is_lost)
        return outcome;
    return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s has no place for every value of %.*s",
                      BYTES_ARGS(operation->to.text), BYTES_ARGS(operation->place.text));
}

// Keeps a value that is set; only a topic, which always is, is replaced.
static enum recipe_outcome
copy_to_record(struct apply *apply, const struct place *to, struct bytes json)
{
    struct record_parts before = apply->now;
    const struct event_header *header = to->kind == HEADER ? parts_header(&before, to->name) : NULL;
    bool is_taken = to->kind == HEADER ? header && bytes_present(header->value) : place_exists(apply, to);
    enum recipe_outcome outcome = place_set(apply, to, json, false);
    if (outcome != RECIPE_CHANGED || !is_taken || to->kind == TOPIC)
        return outcome;
    apply->now = before;
    return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s is already set", BYTES_ARGS(to->text));
}

static enum recipe_outcome
copy_from_payload(struct apply *apply, const struct operation *operation)
{
    struct json_matches *sources = &apply->recipe->more;
    enum recipe_outcome outcome = apply_find(apply, &operation->place, sources);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    if (sources->found == 0)
        return apply_missing(apply, &operation->place);
    if (operation->to.kind == PAYLOAD)
        return copy_to_payload(apply, operation, &(struct copying){.sources = sources});
    struct json_token value = sources->items[0].value;
    return copy_to_record(apply, &operation->to, bytes_slice(apply->now.payload, value.from, value.len));
}

enum recipe_outcome
recipe_do_copy(struct apply *apply, const struct operation *operation)
{
    if (operation->place.kind == PAYLOAD)
        return copy_from_payload(apply, operation);
    struct strbuf json = {0};
    if (!place_json(apply, &operation->place, &json))
        return apply_missing(apply, &operation->place);
    enum recipe_outcome outcome =
        operation->to.kind == PAYLOAD
            ? copy_to_payload(apply, operation, &(struct copying){.json = strbuf_bytes(&json)})
            : copy_to_record(apply, &operation->to, strbuf_bytes(&json));
    strbuf_release(&json);
    return outcome;
}

enum recipe_outcome
recipe_do_move(struct apply *apply, const struct operation *operation)
{
    enum recipe_outcome outcome = recipe_do_copy(apply, operation);
    if (outcome != RECIPE_CHANGED && outcome != RECIPE_UNCHANGED)
        return outcome;
    return recipe_do_remove(apply, operation);
}
