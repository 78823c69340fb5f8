// The edit as a recipe for the other events of the group, once it is saved.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdio.h>
#include "core/recipe/recipe.h"
#include "ui/views/editor/texts.h"
#include "ui/views/recipe/recipe.h"

static struct record_parts
parts_of(const struct editing *editing, const struct correction *correction, struct bytes payload)
{
    const struct event_record *record = &editing->detail.event.record;
    return (struct record_parts){
        .payload = payload,
        .key = correction->has_key ? correction->key : record->key,
        .topic = correction->has_topic ? correction->topic : editing->detail.event.topic,
        .partition = correction->has_partition ? correction->partition : PARTITION_NONE,
        .headers = correction->has_headers ? correction->headers : record->headers,
        .header_count = correction->has_headers ? correction->header_count : record->header_count,
    };
}

bool
editing_recipe_make(struct app *app, struct editing *editing, const struct correction *correction)
{
    const struct correction *before = &editing->detail.event.known.correction;
    struct record_parts from = parts_of(editing, before, strbuf_bytes(&editing->origins[SECTION_PAYLOAD]));
    struct record_parts to = parts_of(editing, correction, editing_text(editing, SECTION_PAYLOAD));
    struct err err = {0};
    strbuf_reset(&editing->save.recipe);
    switch (recipe_from(&from, &to, &editing->save.recipe, &err)) {
    case RECIPE_EXACT:
    case RECIPE_ALL_BUT_SPACE:
    case RECIPE_ALL_BUT_ORDER:
        return true;
    case RECIPE_NOT_EXPRESSIBLE:
        break;
    }
    app_say_err(app, &err);
    return false;
}

void
editing_recipe_open(struct app *app, struct editing *editing)
{
    char key[GROUP_TEXT];
    struct list_query query = {.source = LIST_PENDING, .pivot = PIVOT_ERROR, .has_value = true};
    snprintf(query.value, sizeof query.value, "%s", group_text(editing->detail.event.group, key));
    const struct decide_words words = {.what = arena_printf(app_frame(app), MSG_RECIPE_GROUP, editing->id),
                                       .group = query.value};
    app_open(app, &view_recipe,
             &(struct recipe_argument){
                 .text = strbuf_text(&editing->save.recipe), .list = &query, .words = &words});
    strbuf_reset(&editing->save.recipe);
}
