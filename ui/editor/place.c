#include "ui/editor/place.h"

#include <stdlib.h>
#include "core/json/path.h"
#include "ui/editor/private.h"

// Appends one step for the name that begins at `from`, spelled as json_path_at does.
static void
add_name_step(struct editor *editor, size_t from, struct strbuf *out)
{
    struct strbuf scratch = {0}, object = {0}, path = {0};
    size_t end = tree_string_end(&editor->tree, from);
    strbuf_add_char(&object, '{');
    strbuf_add(&object, buffer_slice(editor->buffer, from, end - from, &scratch));
    strbuf_add_text(&object, ":0}");
    (void)json_path_at(strbuf_bytes(&object), 1, &path);
    strbuf_add(out, bytes_slice(strbuf_bytes(&path), 1, SIZE_MAX)); // behind the $
    strbuf_release(&scratch);
    strbuf_release(&object);
    strbuf_release(&path);
}

// The state in which the token at `at` has begun; a comma there has not.
static void
place_seek(struct editor *editor, size_t at, struct syntax_scan *scan)
{
    struct syntax_piece piece;
    tree_seek(&editor->tree, at, scan);
    enum scan_token token = scan->head.token;
    bool is_between = token == SCAN_BETWEEN || token == SCAN_NUMBER || token == SCAN_JUNK;
    bool is_comma = at < buffer_len(editor->buffer) && buffer_byte(editor->buffer, at) == ',';
    if (scan->head.at <= at && !(is_between && is_comma))
        (void)tree_next(&editor->tree, scan, at + 1, &piece);
}

bool
editor_path_at(struct editor *editor, size_t at, struct strbuf *out)
{
    struct syntax_scan scan;
    if (!editor->is_json)
        return false;
    place_seek(editor, at, &scan);
    strbuf_add_char(out, '$');
    for (int i = 0; i < scan.head.path_depth; i++) {
        const struct scan_level *level = &scan.levels[i];
        if (!(level->open & SCAN_OBJECT))
            strbuf_printf(out, "[%u]", (unsigned)level->place);
        else if (level->place != SCAN_NONE)
            add_name_step(editor, level->place, out);
    }
    return true;
}

bool
editor_value_at(struct editor *editor, size_t at, size_t *from, size_t *to)
{
    struct syntax_scan scan;
    struct syntax_piece piece = {0};
    if (!editor->is_json)
        return false;
    place_seek(editor, at, &scan);
    int depth = scan.head.path_depth;
    while (scan.head.value == SIZE_MAX && scan.head.depth == depth) {
        // Between a name, or the comma before an element, and its value.
        if (!tree_next(&editor->tree, &scan, scan.head.at + TREE_STRIDE, &piece) ||
            (piece.begins && piece.kind == JSON_COMMA))
            return false;
    }
    if (scan.head.value == SIZE_MAX || scan.head.path_depth != depth)
        return false;
    *from = scan.head.value;
    return tree_value_end(&editor->tree, *from, to);
}

bool
editor_name_at(struct editor *editor, size_t at, size_t *from, size_t *to)
{
    struct syntax_scan scan;
    if (!editor->is_json)
        return false;
    place_seek(editor, at, &scan);
    int depth = scan.head.path_depth;
    if (depth == 0 || !(scan.levels[depth - 1].open & SCAN_OBJECT) ||
        scan.levels[depth - 1].place == SCAN_NONE)
        return false;
    *from = scan.levels[depth - 1].place;
    *to = tree_string_end(&editor->tree, *from);
    return true;
}

bool
editor_copy_value_at(struct editor *editor, size_t at, struct strbuf *out)
{
    size_t from;
    size_t to;
    if (!editor_value_at(editor, at, &from, &to))
        return false;
    struct strbuf scratch = {0};
    struct bytes value = buffer_slice(editor->buffer, from, to - from, &scratch);
    if (!json_decode(value, out))
        strbuf_add(out, value);
    strbuf_release(&scratch);
    return true;
}

// --- the way to a path ---

static bool
name_matches(struct editor *editor, size_t from, const struct strbuf *name)
{
    struct strbuf scratch = {0}, decoded = {0};
    size_t end = tree_string_end(&editor->tree, from);
    struct bytes token = buffer_slice(editor->buffer, from, end - from, &scratch);
    bool is_same = json_decode(token, &decoded) && bytes_equal(strbuf_bytes(&decoded), strbuf_bytes(name));
    strbuf_release(&scratch);
    strbuf_release(&decoded);
    return is_same;
}

// The child of the container at *value that the step names; of equal names the last.
static bool
follow_step(struct editor *editor, const struct json_step *step, size_t *value)
{
    struct tree_children children;
    bool is_found = false;
    if (!tree_children(&editor->tree, *value, &children) ||
        children.is_object == (step->kind == JSON_STEP_INDEX))
        return false;
    while (tree_child(&editor->tree, &children)) {
        bool is_it = step->kind == JSON_STEP_INDEX
                         ? children.index == step->index
                         : children.name != SIZE_MAX && name_matches(editor, children.name, &step->name);
        if (!is_it)
            continue;
        *value = children.value;
        is_found = true;
        if (step->kind == JSON_STEP_INDEX)
            break;
    }
    return is_found;
}

// The first value of the document.
static bool
root_value(struct editor *editor, size_t *value)
{
    struct syntax_scan scan;
    struct syntax_piece piece;
    tree_seek(&editor->tree, 0, &scan);
    while (tree_next(&editor->tree, &scan, SIZE_MAX, &piece)) {
        if (scan_is_value(&piece)) {
            *value = piece.from;
            return true;
        }
    }
    return false;
}

static size_t
follow_all(struct editor *editor, const struct json_path *path, size_t *value)
{
    size_t steps = 0;
    while (steps < path->count && follow_step(editor, &path->steps[steps], value))
        steps++;
    return steps;
}

// The end of a value, or of the document where it does not end.
static size_t
value_end(struct editor *editor, size_t from)
{
    size_t end;
    return tree_value_end(&editor->tree, from, &end) ? end : buffer_len(editor->buffer);
}

bool
editor_find_path(struct editor *editor, struct bytes path, size_t *from, size_t *to, struct err *err)
{
    struct json_path *parsed;
    if (!editor->is_json)
        return err_set(err, ERR_USAGE, "this is edited as text; only JSON has paths");
    if (!json_path_parse(&parsed, path, err))
        return false;
    bool ok = root_value(editor, from);
    size_t steps = ok ? follow_all(editor, parsed, from) : 0;
    if (ok && steps == parsed->count) {
        *to = value_end(editor, *from);
    } else if (!ok) {
        err_set(err, ERR_NOT_FOUND, "the document has no value yet");
    } else {
        const struct json_step *step = &parsed->steps[steps];
        ok = false;
        if (step->kind == JSON_STEP_INDEX)
            err_set(err, ERR_NOT_FOUND, "no element [%zu] at step %zu of the path", step->index, steps + 1);
        else
            err_set(err, ERR_NOT_FOUND, "no \"%.*s\" at step %zu of the path", 100, strbuf_text(&step->name),
                    steps + 1);
    }
    json_path_destroy(parsed);
    return ok;
}

bool
editor_find_nearest(struct editor *editor, struct bytes path, size_t *from, size_t *to, size_t *steps)
{
    struct json_path *parsed;
    if (!editor->is_json || !json_path_parse(&parsed, path, NULL))
        return false;
    bool ok = root_value(editor, from);
    size_t count = ok ? follow_all(editor, parsed, from) : 0;
    if (ok)
        *to = value_end(editor, *from);
    if (steps)
        *steps = count;
    json_path_destroy(parsed);
    return ok;
}

// --- completion ---

enum { READ_MOST = 1 << 20 };

// Where the last step of a partial path begins: at its dot or bracket; the length if it ends with a whole
// one.
static size_t
last_step(struct bytes partial)
{
    size_t start = partial.len;
    for (size_t at = 1; at < partial.len;) {
        char c = partial.data[at];
        start = at++;
        if (c == '.') {
            while (at < partial.len && partial.data[at] != '.' && partial.data[at] != '[')
                at++;
            continue;
        }
        char quote = at < partial.len ? partial.data[at] : ']';
        bool is_quoted = quote == '\'' || quote == '"';
        at += is_quoted;
        while (at < partial.len && partial.data[at] != (is_quoted ? quote : ']'))
            at += partial.data[at] == '\\' ? 2 : 1;
        at += is_quoted;
        if (at >= partial.len)
            return start;
        at++;
        start = partial.len;
    }
    return start;
}

size_t
editor_complete_path(struct editor *editor, struct bytes partial, struct arena *arena,
                     struct bytes *candidates, size_t room)
{
    struct json_path *parsed;
    size_t last = last_step(partial);
    size_t value = 0;
    size_t count = 0;
    if (!editor->is_json || !json_path_parse(&parsed, bytes_slice(partial, 0, last), NULL))
        return 0;
    struct tree_children children;
    bool ok = root_value(editor, &value) && follow_all(editor, parsed, &value) == parsed->count &&
              tree_children(&editor->tree, value, &children);
    json_path_destroy(parsed);
    uint64_t until = editor->tree.work + READ_MOST;
    struct strbuf step = {0};
    while (ok && count < room && editor->tree.work < until && tree_child(&editor->tree, &children)) {
        strbuf_reset(&step);
        strbuf_add(&step, bytes_slice(partial, 0, last));
        if (children.is_object && children.name != SIZE_MAX)
            add_name_step(editor, children.name, &step);
        else if (!children.is_object)
            strbuf_printf(&step, "[%zu]", children.index);
        bool fits =
            step.len > last && step.len >= partial.len && memcmp(step.data, partial.data, partial.len) == 0;
        bool is_again = count > 0 && bytes_equal(candidates[count - 1], strbuf_bytes(&step));
        if (fits && !is_again)
            candidates[count++] = arena_copy(arena, strbuf_bytes(&step));
    }
    strbuf_release(&step);
    return count;
}
