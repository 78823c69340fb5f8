// recipe: is a recipe well formed; and the edit of an event's newest revision as a recipe.
#include <inttypes.h>
#include <string.h>
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "commands/correcting.h"
#include "commands/one_event.h"
#include "commands/revisions.h"
#include "commands/whole_file.h"

static bool
print_recipe(const struct call *call, const struct recipe *recipe, struct err *err)
{
    struct strbuf text = {0};
    bool ok;
    if (call->options.general.json) {
        struct value *list = value_array();
        for (size_t i = 0; i < recipe_count(recipe); i++) {
            const char *word;
            int line;
            strbuf_reset(&text);
            recipe_print_operation(recipe, i, &word, &line, &text);
            struct value *row = value_object();
            value_add_text(row, "operation", word);
            value_add_bytes(row, "text", strbuf_bytes(&text));
            value_add_int(row, "line", line);
            value_add(list, NULL, row);
        }
        struct value *object = value_object();
        value_add(object, "operations", list);
        ok = json_print(object, err);
    } else {
        recipe_print(recipe, &text);
        ok = output_bytes(strbuf_bytes(&text), err);
    }
    strbuf_release(&text);
    return ok;
}

static bool
recipe_check(struct call *call, const char *file, struct err *err)
{
    struct strbuf text = {0};
    struct recipe *recipe = NULL;
    bool ok = whole_file_read(file, &text, err) && recipe_parse(&recipe, file, strbuf_bytes(&text), err) &&
              print_recipe(call, recipe, err);
    if (ok)
        remark(call, "%s is well formed: %zu operation%s", file, recipe_count(recipe),
               recipe_count(recipe) == 1 ? "" : "s");
    recipe_destroy(recipe);
    strbuf_release(&text);
    return ok;
}

// The parts of the event as revision `no` has them; 0: the original.
static bool
parts_at(struct call *call, struct store *store, struct one_event *one, int64_t no,
         struct record_parts *parts, struct err *err)
{
    const struct revision *revision = one_event_revision(one, no);
    struct event event = one->event;
    event.known.correction = revision ? revision->parts : (struct correction){0};
    if (!revision_payload(call, store, one, no, &event.payload, err))
        return false;
    correct_parts(&event, parts);
    return true;
}

// What the recipe does not repeat is said.
static bool
make_recipe(const struct call *call, const struct record_parts *before, const struct record_parts *after,
            struct strbuf *text, struct err *err)
{
    switch (recipe_from(before, after, text, err)) {
    case RECIPE_EXACT:
        return true;
    case RECIPE_ALL_BUT_SPACE:
        remark(call, "the recipe repeats the edit but for its white space");
        return true;
    case RECIPE_ALL_BUT_ORDER:
        remark(call, "the recipe repeats the edit but for white space and the order of members");
        return true;
    case RECIPE_NOT_EXPRESSIBLE:
        break;
    }
    return false;
}

static bool
recipe_of_event(struct call *call, struct store *store, int64_t id, struct err *err)
{
    struct one_event one = {0};
    struct record_parts before, after;
    struct strbuf text = {0};
    struct recipe *recipe = NULL;
    bool ok = one_event_read(store, id, &one, err);
    if (ok && one.revision_count == 0)
        ok = err_set(err, ERR_NOT_FOUND, "event %" PRId64 " was never corrected", id);
    ok = ok && parts_at(call, store, &one, one.revisions[0].parent, &before, err) &&
         parts_at(call, store, &one, one.revisions[0].no, &after, err) &&
         make_recipe(call, &before, &after, &text, err) &&
         recipe_parse(&recipe, "recipe", strbuf_bytes(&text), err) && print_recipe(call, recipe, err);
    recipe_destroy(recipe);
    strbuf_release(&text);
    one_event_release(&one);
    return ok;
}

int
command_recipe(struct call *call, struct err *err)
{
    struct store *store = NULL;
    int64_t id;
    bool ok;
    if (call->arg_count == 2 && strcmp(call->args[0], "check") == 0)
        ok = recipe_check(call, call->args[1], err);
    else if (call->arg_count == 2 && strcmp(call->args[0], "from") == 0)
        ok = command_event_id(call->args[1], &id, err) && command_store(call, STORE_SCHEMA, &store, err) &&
             recipe_of_event(call, store, id, err);
    else
        ok = err_set(err, ERR_USAGE, "give redrive recipe check FILE, or redrive recipe from ID");
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
