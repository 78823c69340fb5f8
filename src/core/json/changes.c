#include "core/json/changes.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/json/path.h"

// A value; those within it follow directly.
struct node {
    struct json_token token; // with all its bytes
    struct json_token name;  // of a member
    size_t size;             // nodes of the value, itself included
    size_t children;
    uint64_t hash; // of its tokens
};

struct tree {
    struct bytes text;
    struct node *nodes;
    size_t count, capacity;
};

struct comparison {
    struct tree before, after;
    struct arena *arena;
    struct json_changes *changes;
    size_t capacity;
    struct strbuf path;
    struct json_change unlisted; // behind the limit
};

static uint64_t
mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static bool
is_container(enum json_kind kind)
{
    return kind == JSON_OBJECT_BEGIN || kind == JSON_ARRAY_BEGIN;
}

static void
tree_close(struct tree *tree, size_t at, struct json_token end)
{
    struct node *node = &tree->nodes[at];
    node->token.len = end.from + end.len - node->token.from;
    node->size = tree->count - at;
    node->hash = mix(node->hash, node->children);
    for (size_t i = at + 1; i < tree->count; i += tree->nodes[i].size) {
        const struct node *child = &tree->nodes[i];
        if (child->name.len)
            node->hash =
                mix(node->hash, bytes_hash(bytes_slice(tree->text, child->name.from, child->name.len)));
        node->hash = mix(node->hash, child->hash);
    }
}

static size_t
tree_add(struct tree *tree, struct json_token token, struct json_token name)
{
    tree->nodes = alloc_grow(tree->nodes, tree->count, &tree->capacity, sizeof *tree->nodes);
    tree->nodes[tree->count] =
        (struct node){.token = token,
                      .name = name,
                      .size = 1,
                      .hash = mix(token.kind, bytes_hash(bytes_slice(tree->text, token.from, token.len)))};
    return tree->count++;
}

// The text is known to be JSON.
static void
tree_read(struct tree *tree)
{
    size_t open[JSON_DEPTH + 1] = {0};
    int depth = 0;
    struct json_token name = {0};
    struct json_scan scan;
    json_begin(&scan, tree->text);
    for (;;) {
        struct json_token token = json_next(&scan);
        switch (token.kind) {
        case JSON_END:
        case JSON_ERROR:
            return;
        case JSON_OBJECT_END:
        case JSON_ARRAY_END:
            if (depth > 0)
                tree_close(tree, open[--depth], token);
            break;
        case JSON_NAME:
            name = token;
            break;
        case JSON_COLON:
        case JSON_COMMA:
            break;
        case JSON_OBJECT_BEGIN:
        case JSON_ARRAY_BEGIN:
        case JSON_STRING:
        case JSON_NUMBER:
        case JSON_TRUE:
        case JSON_FALSE:
        case JSON_NULL:
            if (depth > 0)
                tree->nodes[open[depth - 1]].children++;
            size_t at = tree_add(tree, token, name);
            name = (struct json_token){0};
            if (is_container(token.kind))
                open[depth++] = at;
            break;
        }
    }
}

static struct bytes
token_bytes(const struct tree *tree, struct json_token token)
{
    return bytes_slice(tree->text, token.from, token.len);
}

// Have two values the same tokens? A hash alone could be forged.
static bool
nodes_equal(const struct comparison *comparison, size_t b, size_t a)
{
    const struct node *before = &comparison->before.nodes[b];
    const struct node *after = &comparison->after.nodes[a];
    if (before->hash != after->hash || before->size != after->size)
        return false;
    for (size_t i = 0; i < before->size; i++) {
        if (before[i].token.kind != after[i].token.kind || before[i].size != after[i].size)
            return false;
        if (i > 0 && !bytes_equal(token_bytes(&comparison->before, before[i].name),
                                  token_bytes(&comparison->after, after[i].name)))
            return false;
        if (!is_container(before[i].token.kind) &&
            !bytes_equal(token_bytes(&comparison->before, before[i].token),
                         token_bytes(&comparison->after, after[i].token)))
            return false;
    }
    return true;
}

static const struct json_token NO_TOKEN = {0};

static struct json_change *
add_change(struct comparison *comparison, enum json_change_kind kind, struct json_token before,
           struct json_token after)
{
    struct json_changes *changes = comparison->changes;
    changes->counts[kind]++;
    if (changes->count == JSON_CHANGES) {
        changes->is_cut = true;
        return &comparison->unlisted;
    }
    changes->items =
        alloc_grow(changes->items, changes->count, &comparison->capacity, sizeof *changes->items);
    struct json_change *change = &changes->items[changes->count++];
    *change = (struct json_change){.kind = kind,
                                   .path = arena_copy(comparison->arena, strbuf_bytes(&comparison->path)),
                                   .before = before,
                                   .after = after};
    return change;
}

static void
cut_path(struct comparison *comparison, size_t len)
{
    strbuf_splice(&comparison->path, len, SIZE_MAX, BYTES(""));
}

static void
push_name(struct comparison *comparison, const struct tree *tree, struct json_token name)
{
    struct strbuf content = {0};
    (void)json_decode(token_bytes(tree, name), &content);
    json_name_print(strbuf_bytes(&content), &comparison->path);
    strbuf_release(&content);
}

static void compare_nodes(struct comparison *comparison, size_t b, size_t a);

// --- objects ---

static const size_t NONE = SIZE_MAX;

// A member of one of two objects and the member of the other that it belongs to.
struct member {
    size_t node;
    size_t partner; // position in the other object, or NONE
    bool is_renamed;
};

struct members {
    const struct tree *tree;
    struct member *items;
    size_t count;
};

static struct members
members_of(struct arena *arena, const struct tree *tree, size_t object)
{
    struct members members = {.tree = tree, .count = tree->nodes[object].children};
    members.items = arena_array(arena, members.count + 1, sizeof *members.items);
    size_t node = object + 1;
    for (size_t i = 0; i < members.count; i++, node += tree->nodes[node].size)
        members.items[i] = (struct member){.node = node, .partner = NONE};
    return members;
}

struct named {
    struct bytes name;
    size_t position;
};

static int
compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    int order = bytes_compare(x->name, y->name);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

static struct named *
sorted_names(struct arena *arena, const struct members *members)
{
    struct named *names = arena_array(arena, members->count + 1, sizeof *names);
    for (size_t i = 0; i < members->count; i++)
        names[i] =
            (struct named){token_bytes(members->tree, members->tree->nodes[members->items[i].node].name), i};
    qsort(names, members->count, sizeof *names, compare_named);
    return names;
}

static void
pair_by_name(struct arena *arena, struct members *before, struct members *after)
{
    struct named *b = sorted_names(arena, before);
    struct named *a = sorted_names(arena, after);
    for (size_t i = 0, j = 0; i < before->count && j < after->count;) {
        int order = bytes_compare(b[i].name, a[j].name);
        if (order == 0) {
            before->items[b[i].position].partner = a[j].position;
            after->items[a[j].position].partner = b[i].position;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

// Members without a partner between the same neighbours that have the same value were renamed.
static void
pair_renamed(const struct comparison *comparison, struct members *before, struct members *after)
{
    enum { LOOK_AHEAD = 16 };
    size_t from = 0; // of the gap in the object after
    for (size_t i = 0; i < before->count; i++) {
        struct member *member = &before->items[i];
        if (member->partner != NONE) {
            from = member->partner + 1;
            continue;
        }
        for (size_t j = from; j < after->count && after->items[j].partner == NONE && j - from < LOOK_AHEAD;
             j++) {
            if (!nodes_equal(comparison, member->node, after->items[j].node))
                continue;
            *member = (struct member){.node = member->node, .partner = j, .is_renamed = true};
            after->items[j].partner = i;
            after->items[j].is_renamed = true;
            from = j + 1;
            break;
        }
    }
}

static void
remove_members(struct comparison *comparison, const struct members *before, size_t from, size_t end)
{
    size_t len = comparison->path.len;
    for (size_t i = from; i < end; i++) {
        if (before->items[i].partner != NONE)
            continue;
        const struct node *node = &before->tree->nodes[before->items[i].node];
        push_name(comparison, before->tree, node->name);
        add_change(comparison, JSON_KEY_REMOVED, node->token, NO_TOKEN);
        cut_path(comparison, len);
    }
}

static void
compare_member(struct comparison *comparison, const struct member *before, const struct member *after)
{
    const struct node *old = &comparison->before.nodes[before->node];
    const struct node *new = &comparison->after.nodes[after->node];
    size_t len = comparison->path.len;
    push_name(comparison, &comparison->before, old->name);
    if (before->is_renamed) {
        struct strbuf name = {0};
        (void)json_decode(token_bytes(&comparison->after, new->name), &name);
        struct json_change *change = add_change(comparison, JSON_KEY_RENAMED, old->token, new->token);
        change->name = arena_copy(comparison->arena, strbuf_bytes(&name));
        strbuf_release(&name);
    } else {
        compare_nodes(comparison, before->node, after->node);
    }
    cut_path(comparison, len);
}

static void
compare_objects(struct comparison *comparison, size_t b, size_t a)
{
    struct arena arena = {0};
    struct members before = members_of(&arena, &comparison->before, b);
    struct members after = members_of(&arena, &comparison->after, a);
    pair_by_name(&arena, &before, &after);
    pair_renamed(comparison, &before, &after);

    size_t done = 0; // members before up to here were looked at
    bool is_ordered = true;
    for (size_t j = 0; j < after.count; j++) {
        size_t i = after.items[j].partner;
        if (i == NONE) {
            const struct node *node = &comparison->after.nodes[after.items[j].node];
            size_t len = comparison->path.len;
            push_name(comparison, &comparison->after, node->name);
            add_change(comparison, JSON_KEY_ADDED, NO_TOKEN, node->token);
            cut_path(comparison, len);
            continue;
        }
        is_ordered = is_ordered && i >= done;
        if (i >= done) {
            remove_members(comparison, &before, done, i);
            done = i + 1;
        }
        compare_member(comparison, &before.items[i], &after.items[j]);
    }
    remove_members(comparison, &before, done, before.count);
    if (!is_ordered)
        add_change(comparison, JSON_ORDER_CHANGED, comparison->before.nodes[b].token,
                   comparison->after.nodes[a].token);
    arena_release(&arena);
}

// --- arrays ---

// The elements [from, end) of an array.
struct span {
    const struct tree *tree;
    const size_t *nodes;
    size_t from, end;
};

static const size_t *
elements_of(struct arena *arena, const struct tree *tree, size_t array)
{
    size_t count = tree->nodes[array].children;
    size_t *nodes = arena_array(arena, count + 1, sizeof *nodes);
    size_t node = array + 1;
    for (size_t i = 0; i < count; i++, node += tree->nodes[node].size)
        nodes[i] = node;
    return nodes;
}

static void
compare_by_position(struct comparison *comparison, struct span before, struct span after)
{
    size_t len = comparison->path.len;
    for (; before.from < before.end && after.from < after.end; before.from++, after.from++) {
        strbuf_printf(&comparison->path, "[%zu]", before.from);
        compare_nodes(comparison, before.nodes[before.from], after.nodes[after.from]);
        cut_path(comparison, len);
    }
    for (; before.from < before.end; before.from++) {
        strbuf_printf(&comparison->path, "[%zu]", before.from);
        add_change(comparison, JSON_ELEMENT_REMOVED, before.tree->nodes[before.nodes[before.from]].token,
                   NO_TOKEN);
        cut_path(comparison, len);
    }
    for (; after.from < after.end; after.from++) {
        strbuf_printf(&comparison->path, "[%zu]", after.from);
        add_change(comparison, JSON_ELEMENT_ADDED, NO_TOKEN,
                   after.tree->nodes[after.nodes[after.from]].token);
        cut_path(comparison, len);
    }
}

struct hashed {
    uint64_t hash;
    size_t position;
    bool is_after;
};

static int
compare_hashed(const void *a, const void *b)
{
    const struct hashed *x = a;
    const struct hashed *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (int)x->is_after - (int)y->is_after;
}

struct anchor {
    size_t before, after;
    size_t previous; // of the longest chain that ends here
};

static int
compare_anchors(const void *a, const void *b)
{
    const struct anchor *x = a;
    const struct anchor *y = b;
    return (x->before > y->before) - (x->before < y->before);
}

// Elements that occur once in each, in the order before. Returns their number.
static size_t
unique_pairs(struct comparison *comparison, struct arena *arena, struct span before, struct span after,
             struct anchor *anchors)
{
    size_t total = before.end - before.from + after.end - after.from;
    struct hashed *all = arena_array(arena, total, sizeof *all);
    size_t count = 0;
    for (size_t i = before.from; i < before.end; i++)
        all[count++] = (struct hashed){before.tree->nodes[before.nodes[i]].hash, i, false};
    for (size_t i = after.from; i < after.end; i++)
        all[count++] = (struct hashed){after.tree->nodes[after.nodes[i]].hash, i, true};
    qsort(all, total, sizeof *all, compare_hashed);

    size_t pairs = 0;
    for (size_t i = 0; i < total;) {
        size_t end = i + 1;
        while (end < total && all[end].hash == all[i].hash)
            end++;
        if (end - i == 2 && !all[i].is_after && all[i + 1].is_after &&
            nodes_equal(comparison, before.nodes[all[i].position], after.nodes[all[i + 1].position]))
            anchors[pairs++] = (struct anchor){.before = all[i].position, .after = all[i + 1].position};
        i = end;
    }
    qsort(anchors, pairs, sizeof *anchors, compare_anchors);
    return pairs;
}

// Marks the longest chain of anchors that rises in both arrays; returns its last, or NONE. The chain is
// linked by `previous`.
static size_t
longest_chain(struct arena *arena, struct anchor *anchors, size_t count)
{
    size_t *ends = arena_array(arena, count + 1, sizeof *ends); // of the best chain of each length
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t low = 0;
        size_t high = longest;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (anchors[ends[middle]].after < anchors[i].after)
                low = middle + 1;
            else
                high = middle;
        }
        anchors[i].previous = low ? ends[low - 1] : NONE;
        ends[low] = i;
        longest += low == longest;
    }
    return longest ? ends[longest - 1] : NONE;
}

static void
compare_by_anchors(struct comparison *comparison, struct arena *arena, struct span before, struct span after)
{
    size_t most = before.end - before.from;
    struct anchor *anchors = arena_array(arena, most + 1, sizeof *anchors);
    size_t count = unique_pairs(comparison, arena, before, after, anchors);
    size_t *chain = arena_array(arena, count + 1, sizeof *chain);
    size_t length = 0;
    for (size_t at = longest_chain(arena, anchors, count); at != NONE; at = anchors[at].previous)
        chain[length++] = at;

    struct span old = before;
    struct span new = after;
    for (size_t i = length; i > 0; i--) {
        const struct anchor *anchor = &anchors[chain[i - 1]];
        old.end = anchor->before;
        new.end = anchor->after;
        compare_by_position(comparison, old, new);
        old.from = anchor->before + 1;
        new.from = anchor->after + 1;
    }
    old.end = before.end;
    new.end = after.end;
    compare_by_position(comparison, old, new);
}

static void
compare_arrays(struct comparison *comparison, size_t b, size_t a)
{
    struct arena arena = {0};
    struct span before = {.tree = &comparison->before, .end = comparison->before.nodes[b].children};
    struct span after = {.tree = &comparison->after, .end = comparison->after.nodes[a].children};
    before.nodes = elements_of(&arena, before.tree, b);
    after.nodes = elements_of(&arena, after.tree, a);
    bool is_same_length = before.end == after.end;
    while (before.from < before.end && after.from < after.end &&
           nodes_equal(comparison, before.nodes[before.from], after.nodes[after.from])) {
        before.from++;
        after.from++;
    }
    while (before.from < before.end && after.from < after.end &&
           nodes_equal(comparison, before.nodes[before.end - 1], after.nodes[after.end - 1])) {
        before.end--;
        after.end--;
    }
    if (is_same_length)
        compare_by_position(comparison, before, after);
    else
        compare_by_anchors(comparison, &arena, before, after);
    arena_release(&arena);
}

// --- both ---

static void
compare_nodes(struct comparison *comparison, size_t b, size_t a)
{
    const struct node *before = &comparison->before.nodes[b];
    const struct node *after = &comparison->after.nodes[a];
    if (nodes_equal(comparison, b, a))
        return;
    if (before->token.kind == JSON_OBJECT_BEGIN && after->token.kind == JSON_OBJECT_BEGIN)
        compare_objects(comparison, b, a);
    else if (before->token.kind == JSON_ARRAY_BEGIN && after->token.kind == JSON_ARRAY_BEGIN)
        compare_arrays(comparison, b, a);
    else
        add_change(comparison, JSON_VALUE_CHANGED, before->token, after->token);
}

static bool
check_text(struct bytes text, const char *which, struct err *err)
{
    if (json_fits(text, err) && json_check(text, err))
        return true;
    return err_context(err, "%s", which);
}

bool
json_compare(struct bytes before, struct bytes after, struct arena *arena, struct json_changes *changes,
             struct err *err)
{
    *changes = (struct json_changes){0};
    if (!check_text(before, "the text before", err) || !check_text(after, "the text after", err))
        return false;
    struct comparison comparison = {
        .before.text = before, .after.text = after, .arena = arena, .changes = changes};
    tree_read(&comparison.before);
    tree_read(&comparison.after);
    strbuf_add_char(&comparison.path, '$');
    compare_nodes(&comparison, 0, 0);

    struct json_change *listed = arena_array(arena, changes->count + 1, sizeof *listed);
    if (changes->count)
        memcpy(listed, changes->items, changes->count * sizeof *listed);
    free(changes->items);
    changes->items = listed;
    free(comparison.before.nodes);
    free(comparison.after.nodes);
    strbuf_release(&comparison.path);
    changes->is_spaced = changes->count == 0 && !bytes_equal(before, after);
    return true;
}

void
json_changes_sentence(const struct json_changes *changes, struct strbuf *out)
{
    static const struct {
        const char *one, *many;
    } sentences[JSON_CHANGE_KINDS] = {
        [JSON_VALUE_CHANGED] = {"value changed", "values changed"},
        [JSON_KEY_ADDED] = {"key added", "keys added"},
        [JSON_KEY_REMOVED] = {"key removed", "keys removed"},
        [JSON_KEY_RENAMED] = {"key renamed", "keys renamed"},
        [JSON_ELEMENT_ADDED] = {"element added", "elements added"},
        [JSON_ELEMENT_REMOVED] = {"element removed", "elements removed"},
        [JSON_ORDER_CHANGED] = {"object with its keys in another order",
                                "objects with their keys in another order"},
    };
    bool is_first = true;
    for (int kind = 0; kind < JSON_CHANGE_KINDS; kind++) {
        char number[TEXT_SHORT];
        if (changes->counts[kind] == 0)
            continue;
        strbuf_printf(out, "%s%s %s", is_first ? "" : ", ",
                      text_count((int64_t)changes->counts[kind], number),
                      changes->counts[kind] == 1 ? sentences[kind].one : sentences[kind].many);
        is_first = false;
    }
    if (is_first)
        strbuf_add_text(out, changes->is_spaced ? "only white space differs" : "no difference");
}
