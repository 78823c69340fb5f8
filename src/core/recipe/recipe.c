// A recipe as it was read: its operations, its twins and its text.
#include "core/recipe/recipe.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/recipe/private.h"

const struct operation_kind recipe_kinds[RECIPE_KINDS + 1] = {
#define OPERATION(name, word, arguments, places, sentence)                                                   \
    {word, arguments, places, sentence, recipe_do_##name},
#include "core/recipe/operations.def"
#undef OPERATION
    {0},
};

static const char *
arguments_text(enum arguments arguments)
{
    switch (arguments) {
    case PATH:
        return "PATH";
    case PATH_JSON:
        return "PATH JSON";
    case PATH_NAME:
        return "PATH NAME";
    case PATH_PATH:
        return "PATH PATH";
    case PATH_REPLACEMENT:
        return "PATH /RE/TEXT/";
    case PATH_EXPECTATION:
        return "PATH present|absent|number|text|boolean|null|object|array|= JSON|~ /RE/";
    case PROGRAM:
        return "PROGRAM";
    }
    return "";
}

const char *
recipe_word(size_t index, const char **arguments, const char **sentence)
{
    if (index >= RECIPE_KINDS)
        return NULL;
    *arguments = arguments_text(recipe_kinds[index].arguments);
    *sentence = recipe_kinds[index].sentence;
    return recipe_kinds[index].word;
}

struct recipe *
recipe_twin(const struct recipe *recipe)
{
    struct recipe *twin = alloc_bytes(sizeof *twin);
    *twin = (struct recipe){.is_twin = true, .count = recipe->count};
    twin->operations = alloc_array(recipe->count, sizeof *twin->operations);
    for (size_t i = 0; i < recipe->count; i++) {
        twin->operations[i] = recipe->operations[i];
        if (recipe->operations[i].pattern)
            twin->operations[i].pattern = pattern_twin(recipe->operations[i].pattern);
    }
    return twin;
}

void
recipe_destroy(struct recipe *recipe)
{
    if (!recipe)
        return;
    for (size_t i = 0; i < recipe->count; i++) {
        struct operation *operation = &recipe->operations[i];
        pattern_destroy(operation->pattern);
        if (recipe->is_twin)
            continue;
        json_path_destroy(operation->place.path);
        json_path_destroy(operation->place.holder);
        json_path_destroy(operation->to.path);
        json_path_destroy(operation->to.holder);
        free(operation->replacements);
    }
    free(recipe->operations);
    strbuf_release(&recipe->payloads[0]);
    strbuf_release(&recipe->payloads[1]);
    strbuf_release(&recipe->value);
    strbuf_release(&recipe->scratch);
    for (size_t i = 0; i < JSON_PATHS; i++)
        json_matches_release(&recipe->matches[i]);
    json_matches_release(&recipe->more);
    free(recipe->swaps);
    arena_release(&recipe->arena);
    free(recipe);
}

size_t
recipe_count(const struct recipe *recipe)
{
    return recipe->count;
}

bool
recipe_has_jq(const struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->count; i++)
        if (recipe->operations[i].kind->apply == recipe_do_jq)
            return true;
    return false;
}

bool
recipe_is_of_payload(const struct recipe *recipe)
{
    unsigned places = 0;
    for (size_t i = 0; i < recipe->count; i++)
        places |= recipe->operations[i].place.kind | recipe->operations[i].to.kind;
    return (places & ~(unsigned)PAYLOAD) == 0;
}

void
recipe_print_operation(const struct recipe *recipe, size_t index, const char **word, int *line,
                       struct strbuf *out)
{
    const struct operation *operation = &recipe->operations[index];
    strbuf_add_text(out, operation->kind->word);
    if (operation->kind->arguments != PROGRAM) {
        strbuf_add_char(out, ' ');
        strbuf_add(out, operation->place.text);
    }
    if (operation->operand.len) {
        strbuf_add_char(out, ' ');
        strbuf_add(out, operation->operand);
    }
    if (word)
        *word = operation->kind->word;
    if (line)
        *line = operation->line;
}

void
recipe_print(const struct recipe *recipe, struct strbuf *out)
{
    for (size_t i = 0; i < recipe->count; i++) {
        recipe_print_operation(recipe, i, NULL, NULL, out);
        strbuf_add_char(out, '\n');
    }
}
