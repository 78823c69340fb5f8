// JSON within a text: a wrapper's message, a field that was serialised twice. It opens as a document of its
// own, formatted where it is one line, and goes back into the text with the white space it had.
#include "ui/views/editor/state.h"

#include <string.h>
#include "base/clock.h"
#include "core/json/json.h"
#include "ui/editor/place.h"
#include "ui/views/editor/texts.h"

bool
editing_is_embedded(const struct editing *editing)
{
    return editing->section == SECTION_PAYLOAD && editing->embedded.count > 0;
}

static bool
level_is_modified(const struct editing_level *level)
{
    return editor_is_modified(level->text.editor) &&
           !bytes_equal(editor_text(level->text.editor), strbuf_bytes(&level->opened));
}

bool
editing_embedded_is_modified(const struct editing *editing)
{
    for (size_t i = 0; i < editing->embedded.count; i++)
        if (level_is_modified(&editing->embedded.levels[i]))
            return true;
    return false;
}

// The document below a level.
static struct editor *
below(const struct editing *editing, size_t level)
{
    return level ? editing->embedded.levels[level - 1].text.editor : editing->texts[SECTION_PAYLOAD].editor;
}

static void
close_level(struct editing *editing)
{
    struct editing_embedded *embedded = &editing->embedded;
    struct editing_level *level = &embedded->levels[--embedded->count];
    embedded->closed += editor_version(level->text.editor) + 1;
    editor_destroy(level->text.editor);
    strbuf_release(&level->opened);
    strbuf_release(&level->content);
    *level = (struct editing_level){0};
    editing_show(editing, editing->section);
}

void
editing_embedded_close(struct editing *editing)
{
    while (editing->embedded.count)
        close_level(editing);
}

// Appends the token of the level in `document`, which lies below it, with `edited` as its content. false: a
// lone surrogate was lost.
static bool
add_token(const struct editing_level *level, struct bytes document, struct bytes edited, struct strbuf *out)
{
    struct bytes token = bytes_slice(document, level->from, level->len);
    struct strbuf content = {0};
    if (bytes_equal(edited, strbuf_bytes(&level->opened))) {
        strbuf_add(out, token);
        return true;
    }
    if (!level->is_formatted || !json_respace(strbuf_bytes(&level->content), edited, &content))
        strbuf_add(&content, edited);
    bool is_exact = json_requote(token, strbuf_bytes(&content), out);
    strbuf_release(&content);
    return is_exact;
}

struct bytes
editing_whole(const struct editing *editing, struct strbuf *scratch)
{
    const struct editing_embedded *embedded = &editing->embedded;
    if (!editing_embedded_is_modified(editing))
        return editing_text(editing, SECTION_PAYLOAD);
    struct strbuf token = {0}, document = {0};
    strbuf_add(&document, editor_text(embedded->levels[embedded->count - 1].text.editor));
    for (size_t i = embedded->count; i-- > 0;) {
        const struct editing_level *level = &embedded->levels[i];
        struct bytes around = editor_text(below(editing, i));
        strbuf_reset(&token);
        (void)add_token(level, around, strbuf_bytes(&document), &token);
        strbuf_reset(&document);
        json_splice(around, level->from, level->len, strbuf_bytes(&token), &document);
    }
    strbuf_reset(scratch);
    strbuf_add(scratch, strbuf_bytes(&document));
    strbuf_release(&token);
    strbuf_release(&document);
    return strbuf_bytes(scratch);
}

void
editing_embedded_path(const struct editing *editing, const char *crumb, struct strbuf *out)
{
    for (size_t i = 0; i < editing->embedded.count; i++) {
        (void)editor_path_at(below(editing, i), editing->embedded.levels[i].from, out);
        strbuf_printf(out, " %s ", crumb);
    }
}

// The path of the innermost one in the document below it.
static const char *
inner_path(struct app *app, const struct editing *editing)
{
    size_t last = editing->embedded.count - 1;
    struct strbuf path = {0};
    (void)editor_path_at(below(editing, last), editing->embedded.levels[last].from, &path);
    const char *text = arena_text(app_frame(app), strbuf_bytes(&path));
    strbuf_release(&path);
    return text;
}

static void
open_level(struct app *app, struct editing *editing, size_t from, size_t len, const struct strbuf *content)
{
    struct editing_embedded *embedded = &editing->embedded;
    struct editing_level *level = &embedded->levels[embedded->count];
    struct bytes text = strbuf_bytes(content);
    *level = (struct editing_level){.from = from, .len = len};
    strbuf_add(&level->content, text);
    level->is_formatted = bytes_find(text, BYTES("\n"), 0) == SIZE_MAX;
    if (level->is_formatted)
        (void)json_format(text, &level->opened);
    else
        strbuf_add(&level->opened, text);
    level->text.editor = editor_create(strbuf_bytes(&level->opened), true);
    editor_set_ascii(level->text.editor, app_config(app)->is_ascii);
    editor_set_saved(level->text.editor);
    editor_set_read_only(level->text.editor, editor_is_read_only(editing_editor(editing)));
    embedded->count++;
    editing_show(editing, editing->section);
}

bool
editing_open_embedded(struct app *app, void *state, enum action action)
{
    (void)action;
    struct editing *editing = state;
    if (editing->life != EDITING_OPEN)
        return true;
    struct editor *editor = editing_editor(editing);
    struct strbuf content = {0};
    size_t from = 0, to = 0;
    bool is_payload = editing->section == SECTION_PAYLOAD && !editing_is_hex(editing);
    bool is_there = is_payload && editor_value_at(editor, editor_cursor(editor), &from, &to);
    struct bytes token = is_there ? bytes_slice(editor_text(editor), from, to - from) : BYTES("");
    if (!json_embedded(token, &content)) {
        app_say(app, SAY_INFO, MSG_EMBEDDED_NONE);
    } else if (editing->embedded.count == EMBEDDED_MOST) {
        app_say(app, SAY_WARN, MSG_EMBEDDED_DEEP, EMBEDDED_MOST);
    } else {
        bool has_lone = json_lone_surrogates(token) > 0;
        open_level(app, editing, from, to - from, &content);
        if (has_lone)
            app_say(app, SAY_WARN, MSG_EMBEDDED_SURROGATE);
        else
            app_say(app, SAY_INFO, MSG_EMBEDDED_OPENED, inner_path(app, editing));
    }
    strbuf_release(&content);
    return true;
}

// --- going back

static void
put_back(struct app *app, struct editing *editing)
{
    size_t last = editing->embedded.count - 1;
    const struct editing_level *level = &editing->embedded.levels[last];
    struct editor *around = below(editing, last);
    const char *path = inner_path(app, editing);
    struct strbuf token = {0};
    size_t from = level->from, len = level->len;
    if (!level_is_modified(level)) {
        close_level(editing);
        app_say(app, SAY_INFO, MSG_EMBEDDED_SAME, path);
        return;
    }
    bool is_exact = add_token(level, editor_text(around), editor_text(level->text.editor), &token);
    if (editor_replace(around, from, from + len, strbuf_bytes(&token), clock_mono())) {
        close_level(editing);
        editor_set_cursor(around, from, false);
        if (is_exact)
            app_say(app, SAY_OK, MSG_EMBEDDED_BACK, path);
        else
            app_say(app, SAY_WARN, MSG_EMBEDDED_LOSSY, path);
    } else {
        app_say(app, SAY_WARN, MSG_TOO_LONG);
    }
    strbuf_release(&token);
}

static void
broken_chosen(struct app *app, void *state, size_t index)
{
    if (index == 1)
        put_back(app, state);
}

void
editing_put_back(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'k', .text = "keep editing", .is_current = true},
        {.key = 'p', .text = "put it back as it is"},
    };
    const struct editing_level *level = &editing->embedded.levels[editing->embedded.count - 1];
    struct json_fault fault;
    if (!level_is_modified(level) || !json_find_fault(editor_text(level->text.editor), &fault)) {
        put_back(app, editing);
        return;
    }
    app_say(app, SAY_WARN, MSG_NO_JSON_TITLE, fault.line, fault.column, fault.expected);
    app_menu(app,
             &(struct menu_request){
                 .title = "This is not JSON any more", .items = items, .count = 2, .chosen = broken_chosen});
}

static void
leave_embedded_chosen(struct app *app, void *state, size_t index)
{
    if (index == 1)
        editing_put_back(app, state);
    else if (index == 2)
        close_level(state);
}

void
editing_leave_embedded(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'k', .text = "keep editing", .is_current = true},
        {.key = 'p', .text = "put it back into its text"},
        {.key = 'd', .text = "discard what was changed in it"},
    };
    if (!level_is_modified(&editing->embedded.levels[editing->embedded.count - 1])) {
        close_level(editing);
        return;
    }
    app_menu(app,
             &(struct menu_request){
                 .title = "Not put back yet", .items = items, .count = 3, .chosen = leave_embedded_chosen});
}
