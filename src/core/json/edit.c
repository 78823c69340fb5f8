// Replaces, adds, renames and removes values without touching a byte beside them.
#include <string.h>
#include "core/json/path.h"

void
json_splice(struct bytes text, size_t from, size_t len, struct bytes b, struct strbuf *out)
{
    strbuf_add(out, bytes_slice(text, 0, from));
    strbuf_add(out, b);
    strbuf_add(out, bytes_slice(text, from + len, SIZE_MAX));
}

// Splices of one text, in ascending order. Nothing is written before the first.
struct edit {
    struct bytes text;
    struct strbuf *out;
    size_t before; // length of out at the start
    size_t at;     // text up to here was written or replaced
    bool is_done;  // something was spliced
};

static void
edit_splice(struct edit *edit, size_t from, size_t len, struct bytes b)
{
    strbuf_add(edit->out, bytes_slice(edit->text, edit->at, from - edit->at));
    strbuf_add(edit->out, b);
    edit->at = from + len;
    edit->is_done = true;
}

static bool
edit_end(struct edit *edit)
{
    if (edit->is_done)
        strbuf_add(edit->out, bytes_slice(edit->text, edit->at, SIZE_MAX));
    return edit->is_done;
}

static bool
edit_undo(struct edit *edit)
{
    if (edit->out->len > edit->before)
        strbuf_splice(edit->out, edit->before, SIZE_MAX, BYTES(""));
    return false;
}

// Offsets of a child in its container.
struct edit_child {
    size_t lead;  // where the white space before it begins
    size_t from;  // its name, or the value of an element
    size_t colon; // behind its name
    size_t value;
    size_t end;
};

// Reads the children up to the one of that index, or the last. Returns how many were read.
static size_t
edit_child(struct bytes container, size_t index, struct edit_child *child)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token value;
    *child = (struct edit_child){.end = 1};
    if (!json_children(&children, container))
        return 0;
    while (children.count <= index && json_child(&children, &name, &value)) {
        size_t from = children.is_object ? name.from : value.from;
        const char *comma = memchr(container.data + child->end, ',', from - child->end);
        child->lead = comma ? (size_t)(comma - container.data) + 1 : child->end;
        child->from = from;
        child->colon = name.from + name.len;
        child->value = value.from;
        child->end = value.from + value.len;
    }
    return children.count;
}

static struct bytes
lead_of(struct bytes container, const struct edit_child *child)
{
    return bytes_slice(container, child->lead, child->from - child->lead);
}

// A last member of the object that stands at `base` of the text.
static void
add_member(struct edit *edit, struct json_token there, struct bytes name, struct bytes value)
{
    struct bytes object = bytes_slice(edit->text, there.from, there.len);
    struct edit_child last;
    size_t count = edit_child(object, SIZE_MAX, &last);
    struct strbuf member = {0};
    if (count) {
        strbuf_add_char(&member, ',');
        strbuf_add(&member, lead_of(object, &last));
    }
    json_quote(name, &member);
    strbuf_add(&member, count ? bytes_slice(object, last.colon, last.value - last.colon) : BYTES(":"));
    strbuf_add(&member, value);
    edit_splice(edit, there.from + last.end, 0, strbuf_bytes(&member));
    strbuf_release(&member);
}

bool
json_set_each(const struct json_path *path, struct bytes text, const struct json_matches *matches,
              bool (*choose)(void *context, size_t item, struct bytes *value), void *context,
              struct strbuf *out)
{
    struct edit edit = {.text = text, .out = out};
    for (size_t i = 0; i < matches->count; i++) {
        struct json_match match = matches->items[i];
        bool is_member = match.is_missing && match.parent.kind == JSON_OBJECT_BEGIN;
        struct bytes value;
        if ((match.is_missing && !is_member) || !choose(context, i, &value))
            continue;
        if (is_member)
            add_member(&edit, match.parent, strbuf_bytes(&path->steps[path->count - 1].name), value);
        else
            edit_splice(&edit, match.value.from, match.value.len, value);
    }
    return edit_end(&edit);
}

static bool
choose_always(void *context, size_t item, struct bytes *value)
{
    (void)item;
    *value = *(const struct bytes *)context;
    return true;
}

bool
json_set(const struct json_path *path, struct bytes text, struct bytes value, struct strbuf *out)
{
    struct json_matches matches = {0};
    bool ok = json_matches_find(path, text, &matches) &&
              json_set_each(path, text, &matches, choose_always, &value, out);
    json_matches_release(&matches);
    return ok;
}

// Each child goes with what stands between it and the one before; the first that stays begins where the first
// of all began.
static void
remove_children(struct edit *edit, struct json_token there, const struct json_step *step)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token value;
    bool has_kept = false;
    size_t first = 0; // where the first child began
    size_t end = 0;   // of the child before
    size_t gone = 0;  // end of the last child that goes, 0: the child before stays
    if (!json_children(&children, bytes_slice(edit->text, there.from, there.len)))
        return;
    while (json_child(&children, &name, &value)) {
        size_t from = children.is_object ? name.from : value.from;
        if (children.count == 1)
            first = end = from;
        if (json_step_is(step, &children, name)) {
            if (has_kept)
                edit_splice(edit, there.from + end, value.from + value.len - end, BYTES(""));
            gone = value.from + value.len;
        } else if (!has_kept) {
            if (gone)
                edit_splice(edit, there.from + first, from - first, BYTES(""));
            has_kept = true;
        }
        end = value.from + value.len;
    }
    if (gone && !has_kept)
        edit_splice(edit, there.from + first, gone - first, BYTES(""));
}

bool
json_remove(const struct json_path *path, struct bytes text, struct strbuf *out)
{
    struct edit edit = {.text = text, .out = out};
    struct json_matches matches = {0};
    if (path->count && json_matches_find(path, text, &matches)) {
        const struct json_match *last = NULL;
        for (size_t i = 0; i < matches.count; i++) {
            const struct json_match *match = &matches.items[i];
            if (match->is_missing || (last && last->parent.from == match->parent.from))
                continue;
            remove_children(&edit, match->parent, &path->steps[path->count - 1]);
            last = match;
        }
    }
    json_matches_release(&matches);
    return edit_end(&edit);
}

// false: the object has a member of the new name.
static bool
rename_members(struct edit *edit, struct json_token there, const struct json_step *step,
               const struct json_step *wanted, struct bytes token)
{
    struct json_children children;
    struct json_token name = {0};
    struct json_token value;
    if (!json_children(&children, bytes_slice(edit->text, there.from, there.len)))
        return true;
    while (json_child(&children, &name, &value)) {
        if (json_step_is(wanted, &children, name))
            return false;
        if (json_step_is(step, &children, name))
            edit_splice(edit, there.from + name.from, name.len, token);
    }
    return true;
}

bool
json_rename(const struct json_path *path, struct bytes text, struct bytes name, struct strbuf *out)
{
    const struct json_step *step = path->count ? &path->steps[path->count - 1] : NULL;
    if (!step || step->kind != JSON_STEP_NAME)
        return false;
    bool is_same = bytes_equal(strbuf_bytes(&step->name), name);
    struct edit edit = {.text = text, .out = out, .before = out->len};
    struct json_step wanted = {.kind = JSON_STEP_NAME};
    struct strbuf token = {0};
    struct json_matches matches = {0};
    bool ok = json_matches_find(path, text, &matches);
    strbuf_add(&wanted.name, name);
    json_quote(name, &token);
    for (size_t i = 0; ok && i < matches.count; i++) {
        if (matches.items[i].is_missing)
            continue;
        if (is_same)
            edit.is_done = true;
        else
            ok = rename_members(&edit, matches.items[i].parent, step, &wanted, strbuf_bytes(&token));
    }
    json_matches_release(&matches);
    strbuf_release(&wanted.name);
    strbuf_release(&token);
    return ok ? edit_end(&edit) : edit_undo(&edit);
}

// An element of the array, or nothing where the array ends before the index.
static void
add_element(struct edit *edit, struct json_token there, size_t index, struct bytes value)
{
    struct bytes array = bytes_slice(edit->text, there.from, there.len);
    struct edit_child at;
    size_t count = edit_child(array, index, &at);
    struct strbuf element = {0};
    if (index < count) {
        // The space between the first two is the better pattern: what stands before the first follows a
        // bracket.
        struct edit_child spaced = at;
        if (index == 0)
            (void)edit_child(array, 1, &spaced);
        strbuf_add(&element, value);
        strbuf_add_char(&element, ',');
        strbuf_add(&element, lead_of(array, &spaced));
        edit_splice(edit, there.from + at.from, 0, strbuf_bytes(&element));
    } else if (index == count || index == JSON_LAST) {
        if (count) {
            strbuf_add_char(&element, ',');
            strbuf_add(&element, lead_of(array, &at));
        }
        strbuf_add(&element, value);
        edit_splice(edit, there.from + at.end, 0, strbuf_bytes(&element));
    }
    strbuf_release(&element);
}

bool
json_insert(const struct json_path *array, struct bytes text, size_t index, struct bytes value,
            struct strbuf *out)
{
    struct edit edit = {.text = text, .out = out};
    struct json_matches matches = {0};
    if (json_matches_find(array, text, &matches)) {
        for (size_t i = 0; i < matches.count; i++)
            if (!matches.items[i].is_missing && matches.items[i].value.kind == JSON_ARRAY_BEGIN)
                add_element(&edit, matches.items[i].value, index, value);
    }
    json_matches_release(&matches);
    return edit_end(&edit);
}
