#include "tests/lib/json_tree.h"

#include <string.h>
#include "base/utf8.h"

enum { MOST_DEPTH = 6 };

#define NAME(literal)                                                                                        \
    {                                                                                                        \
        literal, sizeof(literal) - 1                                                                         \
    }
const struct bytes tree_names[TREE_NAMES] = {
    NAME("a"), NAME("b"),    NAME("id"),   NAME("\xc3\xa9"), NAME("a b"),
    NAME(""),  NAME("it's"), NAME("\\\""), NAME("x\ny\0"),   NAME("\xf0\x9f\x98\x80]"),
};

unsigned
chance_below(struct chance *chance, unsigned limit)
{
    if (chance->len) {
        chance->len--;
        return *chance->data++ % limit;
    }
    chance->seed += 0x9E3779B97F4A7C15u;
    uint64_t mixed = (chance->seed ^ chance->seed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (unsigned)((mixed ^ mixed >> 31) % limit);
}

static void
add_space(struct tree *tree, struct chance *chance)
{
    static const char blanks[] = " \n\t\r";
    for (unsigned i = chance_below(chance, 4); i > 1; i--)
        strbuf_add_char(&tree->text, blanks[chance_below(chance, 4)]);
}

static size_t
add_token(struct tree *tree, struct chance *chance, enum json_kind kind, struct bytes text, int depth)
{
    add_space(tree, chance);
    tree->tokens[tree->token_count] =
        (struct json_token){.kind = kind, .from = tree->text.len, .len = text.len, .depth = depth};
    strbuf_add(&tree->text, text);
    return tree->token_count++;
}

static void
add_unit(struct strbuf *out, struct chance *chance, uint32_t unit)
{
    if (chance_below(chance, 2))
        strbuf_printf(out, "\\u%04x", unit);
    else
        strbuf_printf(out, "\\u%04X", unit);
}

void
tree_spell(struct chance *chance, struct bytes content, struct strbuf *out)
{
    strbuf_add_char(out, '"');
    for (size_t at = 0; at < content.len;) {
        uint32_t point;
        size_t len = utf8_decode(content, at, &point);
        bool needs = point < 0x20 || point == '"' || point == '\\';
        if (!needs && chance_below(chance, 4)) {
            strbuf_add(out, bytes_slice(content, at, len));
        } else if (point == '"' || point == '\\' || point == '/') {
            strbuf_add_char(out, '\\');
            strbuf_add_char(out, (char)point);
        } else if (point == '\n' && chance_below(chance, 2)) {
            strbuf_add_text(out, "\\n");
        } else if (point >= 0x10000) {
            add_unit(out, chance, 0xD800 + ((point - 0x10000) >> 10));
            add_unit(out, chance, 0xDC00 + ((point - 0x10000) & 0x3FF));
        } else {
            add_unit(out, chance, point);
        }
        at += len;
    }
    strbuf_add_char(out, '"');
}

static void
make_number(struct chance *chance, struct strbuf *out)
{
    if (chance_below(chance, 3) == 0)
        strbuf_add_char(out, '-');
    strbuf_add_char(out, (char)('0' + chance_below(chance, 10)));
    if (out->data[out->len - 1] != '0')
        for (unsigned i = chance_below(chance, 4) ? chance_below(chance, 3) : chance_below(chance, 40); i > 0;
             i--)
            strbuf_add_char(out, (char)('0' + chance_below(chance, 10)));
    if (chance_below(chance, 3) == 0) {
        strbuf_add_char(out, '.');
        for (unsigned i = 1 + chance_below(chance, 20); i > 0; i--)
            strbuf_add_char(out, (char)('0' + chance_below(chance, 10)));
    }
    if (chance_below(chance, 5) == 0) {
        static const char *const signs[] = {"e", "E", "e+", "E-"};
        strbuf_add_text(out, signs[chance_below(chance, 4)]);
        strbuf_printf(out, "%u", chance_below(chance, 500));
    }
}

static void
make_string(struct chance *chance, struct strbuf *out)
{
    static const char *const pieces[] = {
        "a",        "text", "\"",          "\\", "/", "\n", "\x01", " ", "\xf0\x9f\x98\x80",
        "\xc3\xa9", "{}",   "\xe6\x97\xa5"};
    struct strbuf content = {0};
    for (unsigned i = chance_below(chance, 6); i > 0; i--)
        strbuf_add_text(&content, pieces[chance_below(chance, 12)]);
    tree_spell(chance, strbuf_bytes(&content), out);
    strbuf_release(&content);
}

static void
grow_scalar(struct tree *tree, struct chance *chance, struct tree_node *node, int depth)
{
    struct strbuf text = {0};
    switch (chance_below(chance, 8)) {
    case 0:
        node->kind = JSON_TRUE;
        strbuf_add_text(&text, "true");
        break;
    case 1:
        node->kind = JSON_FALSE;
        strbuf_add_text(&text, "false");
        break;
    case 2:
        node->kind = JSON_NULL;
        strbuf_add_text(&text, "null");
        break;
    case 3:
    case 4:
        node->kind = JSON_STRING;
        make_string(chance, &text);
        break;
    default:
        node->kind = JSON_NUMBER;
        make_number(chance, &text);
        break;
    }
    node->first = node->last = add_token(tree, chance, node->kind, strbuf_bytes(&text), depth);
    strbuf_release(&text);
}

static void
add_name(struct tree *tree, struct chance *chance, int child, int depth)
{
    struct tree_node *node = &tree->nodes[child];
    struct strbuf text = {0};
    node->name = (int)chance_below(chance, TREE_NAMES);
    bool is_duplicate = false;
    for (int i = node->parent + 1; i < child; i++) {
        struct tree_node *other = &tree->nodes[i];
        if (other->parent == node->parent && other->name == node->name)
            is_duplicate = other->is_replaced = true;
    }
    tree->duplicates += is_duplicate;
    tree_spell(chance, tree_names[node->name], &text);
    node->name_token = add_token(tree, chance, JSON_NAME, strbuf_bytes(&text), depth);
    add_token(tree, chance, JSON_COLON, BYTES(":"), depth);
    strbuf_release(&text);
}

static void
grow_node(struct tree *tree, struct chance *chance, int number, int depth)
{
    struct tree_node *node = &tree->nodes[number];
    // Half of the rooms are kept for the siblings.
    unsigned room = (unsigned)(TREE_NODES - tree->node_count) / 2;
    bool is_container = depth < MOST_DEPTH && room && chance_below(chance, 10) < (depth == 0 ? 9 : 5);
    if (!is_container) {
        grow_scalar(tree, chance, node, depth);
        return;
    }
    bool is_object = chance_below(chance, 2);
    node->kind = is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
    node->first = add_token(tree, chance, node->kind, is_object ? BYTES("{") : BYTES("["), depth);
    unsigned count = chance_below(chance, room < 7 ? room + 1 : 7);
    for (unsigned i = 0; i < count && tree->node_count < TREE_NODES; i++) {
        int child = tree->node_count++;
        tree->nodes[child] = (struct tree_node){.parent = number, .index = i, .name = -1};
        if (i)
            add_token(tree, chance, JSON_COMMA, BYTES(","), depth + 1);
        if (is_object)
            add_name(tree, chance, child, depth + 1);
        grow_node(tree, chance, child, depth + 1);
    }
    node->last = add_token(tree, chance, is_object ? JSON_OBJECT_END : JSON_ARRAY_END,
                           is_object ? BYTES("}") : BYTES("]"), depth);
}

void
tree_grow(struct tree *tree, struct chance *chance)
{
    tree->node_count = 1;
    tree->nodes[0] = (struct tree_node){.parent = -1, .name = -1};
    grow_node(tree, chance, 0, 0);
    add_space(tree, chance);
}

void
tree_release(struct tree *tree)
{
    strbuf_release(&tree->text);
}

struct bytes
tree_token(const struct tree *tree, size_t token)
{
    return bytes_slice(strbuf_bytes(&tree->text), tree->tokens[token].from, tree->tokens[token].len);
}

struct bytes
tree_value(const struct tree *tree, int node)
{
    const struct json_token *first = &tree->tokens[tree->nodes[node].first];
    const struct json_token *last = &tree->tokens[tree->nodes[node].last];
    return bytes_slice(strbuf_bytes(&tree->text), first->from, last->from + last->len - first->from);
}
