// The edit as a recipe for the other events of the group, once it is saved; and the recipe that takes an
// envelope off this one.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "core/envelope/undo.h"
#include "core/recipe/recipe.h"
#include "ui/views/editor/texts.h"
#include "ui/views/groups/query.h"
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
    struct record_parts from = parts_of(editing, before, editing_origin(editing, SECTION_PAYLOAD));
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
    const uint64_t *group = &editing->detail.event.group;
    const char *filter = editing->save.keeps_filter ? app_list_filter(app) : "";
    struct list_query query = {.source = LIST_PENDING, .pivot = PIVOT_ERROR, .has_value = true};
    struct decide_words words = {.what = arena_printf(app_frame(app), MSG_RECIPE_GROUP, editing->id),
                                 .group = group_text(*group, key)};
    snprintf(query.value, sizeof query.value, "%s", key);
    if (*filter) {
        query = group_query_matching(group, bytes_of(filter), app_frame(app));
        words.filter = filter;
        words.what = arena_printf(app_frame(app), MSG_RECIPE_FILTERED, editing->id, filter);
    }
    app_open(app, &view_recipe,
             &(struct recipe_argument){
                 .text = strbuf_text(&editing->save.recipe), .list = &query, .words = &words});
    strbuf_reset(&editing->save.recipe);
}

// Only the bytes between the first and the last that differ are replaced, so that the cursor stays near.
static bool
replace_changed(struct editor *editor, struct bytes after)
{
    struct bytes before = editor_text(editor);
    size_t least = before.len < after.len ? before.len : after.len;
    size_t from = 0, behind = 0;
    while (from < least && before.data[from] == after.data[from])
        from++;
    while (behind < least - from &&
           before.data[before.len - 1 - behind] == after.data[after.len - 1 - behind])
        behind++;
    size_t to = before.len - behind;
    if (!editor_replace(editor, from, to, bytes_slice(after, from, after.len - behind - from), clock_mono()))
        return false;
    editor_set_cursor(editor, from, false);
    return true;
}

// "set $.error null, set $.retry_count 0"
static const char *
on_one_line(struct app *app, struct bytes recipe)
{
    struct strbuf line = {0};
    for (size_t i = 0; i + 1 < recipe.len; i++)
        if (recipe.data[i] == '\n')
            strbuf_add_text(&line, ", ");
        else
            strbuf_add_char(&line, recipe.data[i]);
    const char *text = arena_text(app_frame(app), strbuf_bytes(&line));
    strbuf_release(&line);
    return text;
}

static void
apply_envelope(struct app *app, struct editor *editor, const struct strbuf *text)
{
    struct recipe *recipe;
    struct arena arena = {0};
    struct record_parts in = {.payload = editor_text(editor), .partition = PARTITION_NONE}, out;
    struct recipe_note note;
    struct err err = {0};
    if (!recipe_parse(&recipe, "envelope", strbuf_bytes(text), &err)) {
        app_say_err(app, &err);
        return;
    }
    if (recipe_apply(recipe, &in, NULL, &arena, &out, &note) != RECIPE_CHANGED)
        app_say(app, SAY_WARN, MSG_ENVELOPE_NOT, note.reason);
    else if (!replace_changed(editor, arena_copy(&arena, out.payload)))
        app_say(app, SAY_WARN, MSG_TOO_LONG);
    else
        app_say(app, SAY_OK, MSG_ENVELOPE_OFF, on_one_line(app, strbuf_bytes(text)));
    recipe_destroy(recipe);
    arena_release(&arena);
}

bool
editing_take_off(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    struct strbuf text = {0};
    if (!editing_may_edit(app, editing))
        return true;
    struct editor *editor = editing_editor(editing);
    if (editing->section == SECTION_PAYLOAD && envelope_recipe(editor_text(editor), &text))
        apply_envelope(app, editor, &text);
    else
        app_say(app, SAY_INFO, MSG_ENVELOPE_NONE);
    strbuf_release(&text);
    return true;
}
