// Sets the items of a path, each to what an operation chooses for it.
#include <string.h>
#include "base/alloc.h"
#include "core/recipe/private.h"

static void
note_swap(struct choice *choice, struct json_token old, size_t len)
{
    struct recipe *recipe = choice->apply->recipe;
    size_t at = choice->swaps++;
    recipe->swaps = alloc_grow(recipe->swaps, at, &recipe->swap_capacity, sizeof *recipe->swaps);
    ptrdiff_t before = at ? recipe->swaps[at - 1].grown : 0;
    recipe->swaps[at] = (struct json_swap){
        .from = old.from, .end = old.from + old.len, .grown = before + (ptrdiff_t)len - (ptrdiff_t)old.len};
}

// The result is put together at once, so that its size is looked at before: a large value in many places.
static bool
choose_within_limit(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    if (!choice->choose(choice, item, value))
        return false;
    if (apply_only_swaps(choice->operation))
        note_swap(choice, choice->matches->items[item].value, value->len);
    choice->put += value->len + choice->place->text.len;
    if (choice->put <= JSON_BYTES)
        return true;
    if (choice->stopped == RECIPE_CHANGED)
        choice->stopped = apply_stop(choice->apply, RECIPE_FAILED, "the result is too large");
    return false;
}

enum recipe_outcome
apply_each(struct apply *apply, struct choice *choice,
           bool (*choose)(void *choice, size_t item, struct bytes *value))
{
    enum recipe_outcome outcome = apply_look(apply, choice->place, &choice->matches);
    if (outcome != RECIPE_CHANGED)
        return outcome;
    choice->apply = apply;
    choice->choose = choose;
    bool is_set = json_set_each(choice->place->path, apply->now.payload, choice->matches, choose_within_limit,
                                choice, apply_buffer(apply));
    if (choice->stopped != RECIPE_CHANGED)
        return choice->stopped;
    if (choice->places == 0)
        return apply_missing(apply, choice->place);
    if (!is_set)
        return RECIPE_UNCHANGED;
    return apply_only_swaps(choice->operation) ? apply_swapped(apply, choice->place, choice->swaps)
                                               : apply_payload(apply);
}

struct bytes
choice_bytes(const struct choice *choice, size_t item)
{
    struct json_token value = choice->matches->items[item].value;
    return bytes_slice(choice->apply->now.payload, value.from, value.len);
}

struct bytes
choice_content(const struct choice *choice, size_t item)
{
    struct bytes token = choice_bytes(choice, item);
    if (!memchr(token.data, '\\', token.len))
        return bytes_slice(token, 1, token.len - 2);
    struct strbuf *scratch = &choice->apply->recipe->scratch;
    strbuf_reset(scratch);
    (void)json_decode(token, scratch);
    return strbuf_bytes(scratch);
}

bool
choice_unfit(struct choice *choice, size_t item, const char *said)
{
    choice->stopped = apply_unfit(choice->apply, choice->place, choice->matches, item, said);
    return false;
}
