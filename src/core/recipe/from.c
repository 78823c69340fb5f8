// Makes a recipe of an edit: writes operations down and tries them on the text before.
#include <stdlib.h>
#include <string.h>
#include "core/json/changes.h"
#include "core/recipe/private.h"

// [*] is tried for the operations of one edit until so many bytes were compared, or so many trials failed.
static const size_t TRIAL_BYTES = (size_t)32 << 20;
enum { TRIALS_FAILED = 100 };

// One operation, from one or two changes of the payload.
struct line {
    const char *word;
    struct bytes path;
    struct bytes argument;                    // a value, a name or, of move, a path
    const struct json_change *change, *other; // other: where a moved value went
    struct bytes starred, starred_argument;   // with [*], as it is being tried
    bool is_tried;                            // with [*] it does something else
    bool is_done;                             // written, or part of another line
};

struct draft {
    const struct record_parts *before, *after;
    struct arena *arena;
    const struct json_changes *changes;
    struct line *lines;
    size_t count;
    size_t tried;  // bytes
    size_t failed; // trials
    struct strbuf *out;
};

static struct bytes
token_of(struct bytes text, struct json_token token)
{
    return bytes_slice(text, token.from, token.len);
}

// A value as it can stand on a line: a line end between its tokens cannot.
static struct bytes
on_a_line(struct arena *arena, struct bytes value)
{
    if (!value.data || (!memchr(value.data, '\n', value.len) && !memchr(value.data, '\r', value.len)))
        return value;
    struct strbuf small = {0};
    (void)json_minify(value, &small);
    struct bytes copy = arena_copy(arena, strbuf_bytes(&small));
    strbuf_release(&small);
    return copy;
}

static struct bytes
quoted(struct arena *arena, struct bytes content)
{
    struct strbuf json = {0};
    json_quote(content, &json);
    struct bytes copy = arena_copy(arena, strbuf_bytes(&json));
    strbuf_release(&json);
    return copy;
}

// --- one operation ---

// The conversion that makes `after` of `before`, or NULL.
static const char *
conversion(struct bytes before, struct bytes after)
{
    static const char *const words[] = {"to-number $", "to-text $", "to-boolean $"};
    static const char *const names[] = {"to-number", "to-text", "to-boolean"};
    struct record_parts in = {.payload = before, .partition = PARTITION_NONE};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct recipe *recipe;
        struct record_parts out;
        struct arena arena = {0};
        if (!recipe_parse(&recipe, "edit", bytes_of(words[i]), NULL))
            continue;
        bool makes_it = recipe_apply(recipe, &in, NULL, &arena, &out, NULL) == RECIPE_CHANGED &&
                        bytes_equal(out.payload, after);
        recipe_destroy(recipe);
        arena_release(&arena);
        if (makes_it)
            return names[i];
    }
    return NULL;
}

static bool
is_scalar(enum json_kind kind)
{
    return kind != JSON_OBJECT_BEGIN && kind != JSON_ARRAY_BEGIN;
}

// The path of the container of an element.
static struct bytes
array_path(struct bytes path)
{
    while (path.len && path.data[path.len - 1] != '[')
        path.len--;
    return bytes_slice(path, 0, path.len - 1);
}

static struct line
line_of(const struct draft *draft, const struct json_change *change)
{
    struct bytes before = token_of(draft->before->payload, change->before);
    struct bytes after = token_of(draft->after->payload, change->after);
    struct line line = {.path = change->path, .change = change};
    switch (change->kind) {
    case JSON_VALUE_CHANGED:
        if (is_scalar(change->before.kind) && is_scalar(change->after.kind))
            line.word = conversion(before, after);
        if (!line.word) {
            line.word = "set";
            line.argument = on_a_line(draft->arena, after);
        }
        break;
    case JSON_KEY_ADDED:
        line.word = "default";
        line.argument = on_a_line(draft->arena, after);
        break;
    case JSON_KEY_REMOVED:
    case JSON_ELEMENT_REMOVED:
        line.word = "remove";
        break;
    case JSON_KEY_RENAMED:
        line.word = "rename";
        line.argument = quoted(draft->arena, change->name);
        break;
    case JSON_ELEMENT_ADDED:
        line.word = "add";
        line.path = array_path(change->path);
        line.argument = on_a_line(draft->arena, after);
        break;
    case JSON_ORDER_CHANGED:
    case JSON_CHANGE_KINDS:
        line.is_done = true;
        break;
    }
    return line;
}

// The same in set and remove alone; an array is set as a whole.
static struct line
plain_line_of(const struct draft *draft, const struct json_change *change)
{
    struct line line = line_of(draft, change);
    if (change->kind == JSON_VALUE_CHANGED || change->kind == JSON_KEY_ADDED) {
        line.word = "set";
        line.argument = on_a_line(draft->arena, token_of(draft->after->payload, change->after));
    }
    if (change->kind != JSON_ELEMENT_ADDED && change->kind != JSON_ELEMENT_REMOVED)
        return line;
    struct json_path *path;
    struct json_token array;
    line.path = array_path(change->path);
    line.word = "set";
    line.is_done = true;
    if (!json_path_parse(&path, line.path, NULL))
        return line;
    if (json_path_find(path, draft->after->payload, &array)) {
        line.argument = on_a_line(draft->arena, token_of(draft->after->payload, array));
        line.is_done = false;
    }
    json_path_destroy(path);
    return line;
}

// A removed value and a new one that are the same, and not a value that many members have, are one that
// moved.
static void
join_moves(struct draft *draft)
{
    enum { DISTINCT = 6 }; // bytes of a value that does not occur twice by chance: true and false have fewer
    for (size_t i = 0; i < draft->count; i++) {
        struct line *gone = &draft->lines[i];
        struct line *found = NULL;
        struct bytes value = token_of(draft->before->payload, gone->change->before);
        if (gone->change->kind != JSON_KEY_REMOVED || value.len < DISTINCT)
            continue;
        for (size_t j = 0; j < draft->count; j++) {
            struct line *new = &draft->lines[j];
            if (new->change->kind == JSON_KEY_ADDED && !new->is_done && !found &&
                bytes_equal(token_of(draft->after->payload, new->change->after), value))
                found = new;
        }
        if (!found)
            continue;
        gone->word = "move";
        gone->argument = found->path;
        gone->other = found->change;
        found->is_done = true;
    }
}

// --- [*] ---

// The path with [*] for its indexes, or only for the last of them. Returns how many it has.
static size_t
star(struct arena *arena, struct bytes path, bool only_last, struct bytes *out)
{
    struct strbuf text = {0};
    size_t stars = 0;
    size_t kept = 0; // of the text, where the last index is all that is wanted
    size_t last = 0; // of the path
    char quote = '\0';
    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];
        strbuf_add_char(&text, c);
        if (quote && c == '\\') {
            strbuf_add_char(&text, path.data[++i]);
        } else if (c == '\'' && (quote || path.data[i - 1] == '[')) {
            quote = quote ? '\0' : c;
        } else if (!quote && c == '[' && path.data[i + 1] != '\'') {
            kept = text.len;
            last = i + 1;
            strbuf_add_char(&text, '*');
            while (path.data[i + 1] != ']')
                i++;
            stars++;
        }
    }
    if (only_last && stars > 0) {
        strbuf_splice(&text, 0, kept, bytes_slice(path, 0, last));
        stars = 1;
    }
    *out = arena_copy(arena, strbuf_bytes(&text));
    strbuf_release(&text);
    return stars;
}

static void
write_line(struct strbuf *out, const char *word, struct bytes path, struct bytes argument)
{
    strbuf_printf(out, "%s ", word);
    strbuf_add(out, path);
    if (bytes_present(argument)) {
        strbuf_add_char(out, ' ');
        strbuf_add(out, argument);
    }
    strbuf_add_char(out, '\n');
}

// The payload that one line makes of the payload before. false: it cannot be read or does not apply.
static bool
try_line(struct draft *draft, struct bytes line, struct arena *arena, struct bytes *payload)
{
    struct recipe *recipe;
    struct record_parts out;
    struct record_parts in = {.payload = draft->before->payload, .partition = PARTITION_NONE};
    if (!recipe_parse(&recipe, "edit", line, NULL))
        return false;
    bool is_changed = recipe_apply(recipe, &in, NULL, arena, &out, NULL) == RECIPE_CHANGED;
    recipe_destroy(recipe);
    *payload = out.payload;
    return is_changed;
}

static bool
same_change(const struct draft *draft, const struct json_change *wanted, const struct json_change *made,
            struct bytes payload)
{
    return wanted->kind == made->kind && bytes_equal(wanted->path, made->path) &&
           bytes_equal(wanted->name, made->name) &&
           bytes_equal(on_a_line(draft->arena, token_of(draft->after->payload, wanted->after)),
                       on_a_line(draft->arena, token_of(payload, made->after)));
}

static int
compare_changes(const void *a, const void *b)
{
    const struct json_change *const *x = a;
    const struct json_change *const *y = b;
    int order = bytes_compare((*x)->path, (*y)->path);
    return order ? order : (*x > *y) - (*x < *y);
}

// Lines of one group: the same word, and the same path and argument with [*].
struct group {
    size_t *lines; // indexes
    size_t count;
};

// Does the line change what the group changes, and nothing else?
static bool
changes_the_same(struct draft *draft, const struct group *group, struct bytes payload, struct arena *arena)
{
    struct json_changes made;
    if (!json_compare(draft->before->payload, payload, arena, &made, NULL) || made.is_cut)
        return false;
    const struct json_change **wanted = arena_array(arena, 2 * group->count + 1, sizeof *wanted);
    const struct json_change **found = arena_array(arena, made.count + 1, sizeof *found);
    size_t count = 0;
    size_t found_count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct line *line = &draft->lines[group->lines[i]];
        wanted[count++] = line->change;
        if (line->other)
            wanted[count++] = line->other;
    }
    for (size_t i = 0; i < made.count; i++)
        if (made.items[i].kind != JSON_ORDER_CHANGED)
            found[found_count++] = &made.items[i];
    if (count != found_count)
        return false;
    qsort(wanted, count, sizeof *wanted, compare_changes);
    qsort(found, count, sizeof *found, compare_changes);
    for (size_t i = 0; i < count; i++)
        if (!same_change(draft, wanted[i], found[i], payload))
            return false;
    return true;
}

// Does the operation say more about the shape of payloads than about this event? Then one element is enough
// for [*].
static bool
is_about_shape(const char *word)
{
    return strcmp(word, "set") != 0 && strcmp(word, "default") != 0 && strcmp(word, "remove") != 0;
}

// Paths of all lines with [*], or with [*] in place of the last index only.
static void
star_lines(struct draft *draft, bool only_last)
{
    for (size_t i = 0; i < draft->count; i++) {
        struct line *line = &draft->lines[i];
        if (line->is_done)
            continue;
        size_t stars = star(draft->arena, line->path, only_last, &line->starred);
        line->starred_argument = line->argument;
        if (line->other)
            (void)star(draft->arena, line->argument, only_last, &line->starred_argument);
        bool is_element =
            line->change->kind == JSON_ELEMENT_ADDED || line->change->kind == JSON_ELEMENT_REMOVED;
        line->is_tried = stars == 0 || is_element;
    }
}

// All lines that become the same as `first` with [*].
static bool
collect_group(struct draft *draft, size_t first, struct group *group)
{
    const struct line *line = &draft->lines[first];
    group->count = 0;
    for (size_t i = first; i < draft->count; i++) {
        const struct line *other = &draft->lines[i];
        if (!other->is_done && !other->is_tried && strcmp(other->word, line->word) == 0 &&
            bytes_equal(other->starred, line->starred) &&
            bytes_equal(other->starred_argument, line->starred_argument))
            group->lines[group->count++] = i;
    }
    return group->count > 1 || is_about_shape(line->word);
}

// Writes the line with [*], if it does what the lines of its group do, and marks them.
static void
write_group(struct draft *draft, const struct line *line, const struct group *group)
{
    struct arena arena = {0};
    struct strbuf text = {0};
    struct bytes payload;
    write_line(&text, line->word, line->starred, line->starred_argument);
    draft->tried += draft->before->payload.len;
    bool is_same = try_line(draft, strbuf_bytes(&text), &arena, &payload) &&
                   changes_the_same(draft, group, payload, &arena);
    draft->failed += !is_same;
    if (is_same)
        strbuf_add(draft->out, strbuf_bytes(&text));
    for (size_t i = 0; i < group->count; i++) {
        draft->lines[group->lines[i]].is_done = is_same;
        draft->lines[group->lines[i]].is_tried = true;
    }
    strbuf_release(&text);
    arena_release(&arena);
}

static void
write_with_stars(struct draft *draft, bool only_last)
{
    star_lines(draft, only_last);
    struct group group = {.lines = arena_array(draft->arena, draft->count + 1, sizeof *group.lines)};
    for (size_t i = 0; i < draft->count; i++) {
        if (draft->tried > TRIAL_BYTES || draft->failed > TRIALS_FAILED)
            break;
        struct line *line = &draft->lines[i];
        if (line->is_done || line->is_tried)
            continue;
        if (collect_group(draft, i, &group))
            write_group(draft, line, &group);
        line->is_tried = true;
    }
}

// --- the recipe ---

enum tier { WITH_STARS, EACH_INDEX, PLAIN, TIERS };

static void
write_once(struct draft *draft, size_t at)
{
    struct line *line = &draft->lines[at];
    write_line(draft->out, line->word, line->path, line->argument);
    // An array that is set as a whole is set once.
    for (size_t i = at + 1; i < draft->count && strcmp(line->word, "set") == 0; i++)
        if (strcmp(draft->lines[i].word ? draft->lines[i].word : "", "set") == 0 &&
            bytes_equal(draft->lines[i].path, line->path))
            draft->lines[i].is_done = true;
    line->is_done = true;
}

// Elements go last: first all others, whose indexes are those of the text before, then removals from behind,
// then additions.
static void
write_payload(struct draft *draft, enum tier tier)
{
    for (size_t i = 0; i < draft->changes->count; i++)
        draft->lines[i] = tier == PLAIN ? plain_line_of(draft, &draft->changes->items[i])
                                        : line_of(draft, &draft->changes->items[i]);
    draft->count = draft->changes->count;
    if (tier != PLAIN)
        join_moves(draft);
    if (tier == WITH_STARS) {
        write_with_stars(draft, false);
        write_with_stars(draft, true);
    }
    for (size_t i = 0; i < draft->count; i++) {
        enum json_change_kind kind = draft->lines[i].change->kind;
        if (!draft->lines[i].is_done && kind != JSON_ELEMENT_ADDED && kind != JSON_ELEMENT_REMOVED)
            write_once(draft, i);
    }
    for (size_t i = draft->count; i > 0; i--)
        if (!draft->lines[i - 1].is_done && draft->lines[i - 1].change->kind == JSON_ELEMENT_REMOVED)
            write_once(draft, i - 1);
    for (size_t i = 0; i < draft->count; i++)
        if (!draft->lines[i].is_done)
            write_once(draft, i);
}

static struct bytes
header_path(struct arena *arena, struct bytes name)
{
    struct strbuf path = {0};
    bool is_plain = name.len > 0 && name.data[0] != '"' && name.data[0] != '#';
    for (size_t i = 0; i < name.len; i++)
        is_plain = is_plain && name.data[i] > ' ' && name.data[i] < 0x7F;
    strbuf_add_text(&path, "header:");
    if (is_plain)
        strbuf_add(&path, name);
    else
        json_quote(name, &path);
    struct bytes copy = arena_copy(arena, strbuf_bytes(&path));
    strbuf_release(&path);
    return copy;
}

static struct bytes
json_of(struct arena *arena, struct bytes value)
{
    struct strbuf json = {0};
    parts_json(value, &json);
    struct bytes copy = arena_copy(arena, strbuf_bytes(&json));
    strbuf_release(&json);
    return copy;
}

static size_t
headers_named(const struct record_parts *parts, struct bytes name)
{
    size_t count = 0;
    for (size_t i = 0; i < parts->header_count; i++)
        count += bytes_equal(parts->headers[i].name, name);
    return count;
}

// A header that occurs once is set or removed; of several with one name all are written again.
static void
write_headers(struct draft *draft, const struct parts_changes *changes)
{
    struct arena *arena = draft->arena;
    for (size_t i = 0; i < changes->header_count; i++) {
        struct bytes name = changes->headers[i].name;
        struct bytes path = header_path(arena, name);
        if (i > 0 && bytes_equal(changes->headers[i - 1].name, name))
            continue;
        size_t before = headers_named(draft->before, name);
        size_t after = headers_named(draft->after, name);
        if (before == 1 && after == 1) {
            write_line(draft->out, "set", path, json_of(arena, parts_header(draft->after, name)->value));
            continue;
        }
        if (before)
            write_line(draft->out, "remove", path, BYTES_ABSENT);
        for (size_t j = 0; j < draft->after->header_count; j++)
            if (bytes_equal(draft->after->headers[j].name, name))
                write_line(draft->out, after == 1 ? "set" : "add", path,
                           json_of(arena, draft->after->headers[j].value));
    }
}

static void
write_record(struct draft *draft, const struct parts_changes *changes)
{
    const struct record_parts *after = draft->after;
    struct arena *arena = draft->arena;
    if (changes->key && !bytes_present(after->key))
        write_line(draft->out, "remove", BYTES("key"), BYTES_ABSENT);
    else if (changes->key)
        write_line(draft->out, "set", BYTES("key"), json_of(arena, after->key));
    if (changes->topic)
        write_line(draft->out, "set", BYTES("topic"), json_of(arena, after->topic));
    if (changes->partition && after->partition == PARTITION_NONE)
        write_line(draft->out, "remove", BYTES("partition"), BYTES_ABSENT);
    else if (changes->partition)
        strbuf_printf(draft->out, "set partition %d\n", after->partition);
    write_headers(draft, changes);
}

// How near the text brings the event before to the event after.
static enum recipe_fidelity
fidelity_of(const struct draft *draft, struct bytes text, struct err *err)
{
    struct recipe *recipe;
    struct record_parts out;
    struct recipe_note note;
    struct parts_changes left;
    struct arena arena = {0};
    if (!recipe_parse(&recipe, "edit", text, err))
        return RECIPE_NOT_EXPRESSIBLE;
    enum recipe_fidelity fidelity = RECIPE_NOT_EXPRESSIBLE;
    if (recipe_apply(recipe, draft->before, NULL, &arena, &out, &note) == RECIPE_CHANGED) {
        parts_compare(&out, draft->after, &arena, &left);
        const size_t *counts = left.payload_changes.counts;
        size_t count = 0;
        for (int kind = 0; kind < JSON_CHANGE_KINDS; kind++)
            count += kind == JSON_ORDER_CHANGED ? 0 : counts[kind];
        bool differs = left.key || left.topic || left.partition || left.header_count || count ||
                       (left.payload && !left.is_compared);
        if (!differs)
            fidelity = counts[JSON_ORDER_CHANGED] || left.headers_reordered ? RECIPE_ALL_BUT_ORDER
                       : left.payload                                       ? RECIPE_ALL_BUT_SPACE
                                                                            : RECIPE_EXACT;
    }
    recipe_destroy(recipe);
    arena_release(&arena);
    return fidelity;
}

// Is the payload after the content of a member's text? Then this is the operation.
static bool
write_unwrap(const struct record_parts *before, const struct record_parts *after, struct strbuf *out)
{
    struct json_children children;
    struct json_token name, value;
    struct strbuf content = {0};
    bool is_found = false;
    if (!bytes_present(before->payload) || !json_children(&children, bytes_trim(before->payload)) ||
        !children.is_object)
        return false;
    struct bytes text = bytes_trim(before->payload);
    while (!is_found && json_child(&children, &name, &value)) {
        struct bytes token = bytes_slice(text, value.from, value.len);
        strbuf_reset(&content);
        is_found = json_embedded(token, &content) && json_lone_surrogates(token) == 0 &&
                   bytes_equal(strbuf_bytes(&content), after->payload);
    }
    strbuf_reset(&content);
    if (is_found) {
        strbuf_add_char(&content, '$');
        json_path_add_name(bytes_slice(text, name.from, name.len), &content);
        write_line(out, "unwrap", strbuf_bytes(&content), BYTES_ABSENT);
    }
    strbuf_release(&content);
    return is_found;
}

static bool
is_expressible(const struct parts_changes *changes, const struct record_parts *before,
               const struct record_parts *after, struct err *err)
{
    if (parts_equal(before, after))
        return err_set(err, ERR_NOT_FOUND, "nothing was edited, so there is no recipe");
    if (changes->payload && !changes->is_compared)
        return err_set(err, ERR_DATA,
                       "no recipe repeats this edit: a recipe edits JSON, and the payload is not JSON before "
                       "and after, or is too large");
    if (changes->payload_changes.count > RECIPE_OPERATIONS * 20 || changes->payload_changes.is_cut)
        return err_set(err, ERR_DATA, "no recipe repeats this edit: too much of the payload differs");
    return true;
}

enum recipe_fidelity
recipe_from(const struct record_parts *before, const struct record_parts *after, struct strbuf *text,
            struct err *err)
{
    struct arena arena = {0};
    struct parts_changes changes;
    struct strbuf best = {0};
    enum recipe_fidelity fidelity = RECIPE_NOT_EXPRESSIBLE;
    parts_compare(before, after, &arena, &changes);
    bool ok = is_expressible(&changes, before, after, err);
    struct draft draft = {
        .before = before, .after = after, .arena = &arena, .changes = &changes.payload_changes};
    draft.lines = arena_array(&arena, changes.payload_changes.count + 1, sizeof *draft.lines);
    draft.out = &best;
    if (ok && changes.payload && write_unwrap(before, after, &best)) {
        write_record(&draft, &changes);
        fidelity = fidelity_of(&draft, strbuf_bytes(&best), NULL);
        if (fidelity == RECIPE_NOT_EXPRESSIBLE)
            strbuf_reset(&best);
    }
    for (int tier = 0; ok && tier < TIERS && fidelity != RECIPE_EXACT; tier++) {
        // The values of one event as a whole are the last resort: others have other values.
        if (tier == PLAIN && fidelity != RECIPE_NOT_EXPRESSIBLE)
            break;
        struct strbuf out = {0};
        draft.out = &out;
        write_payload(&draft, (enum tier)tier);
        write_record(&draft, &changes);
        enum recipe_fidelity reached = fidelity_of(&draft, strbuf_bytes(&out), NULL);
        if (reached < fidelity) {
            fidelity = reached;
            strbuf_release(&best);
            best = out;
        } else {
            strbuf_release(&out);
        }
    }
    if (ok && fidelity == RECIPE_NOT_EXPRESSIBLE)
        err_set(err, ERR_DATA, "no recipe repeats this edit: apply it to this event alone");
    strbuf_add(text, strbuf_bytes(&best));
    strbuf_release(&best);
    arena_release(&arena);
    return fidelity;
}
