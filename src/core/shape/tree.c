#include "core/shape/tree.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { NAME_BYTES = 128 }; // a longer name is not kept

// How many values of a kind are few. Numbers are more often amounts than codes, so that a fourth one is
// nothing new; true and false are few only while one of the two never occurs.
static const size_t values_most[KIND_COUNT] = {
    [KIND_TEXT] = VALUES_KEPT, [KIND_NUMBER] = 3, [KIND_BOOLEAN] = 1};

enum shape_kind
tree_kind(enum json_kind kind)
{
    switch (kind) {
    case JSON_OBJECT_BEGIN:
        return KIND_OBJECT;
    case JSON_ARRAY_BEGIN:
        return KIND_ARRAY;
    case JSON_STRING:
        return KIND_TEXT;
    case JSON_NUMBER:
        return KIND_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return KIND_BOOLEAN;
    case JSON_NULL:
    case JSON_END:
    case JSON_ERROR:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_NAME:
    case JSON_COLON:
    case JSON_COMMA:
        break;
    }
    return KIND_NULL;
}

static uint64_t
tree_hash(uint32_t parent, struct bytes name)
{
    return (bytes_hash(name) ^ parent) * 0x9E3779B97F4A7C15u;
}

static uint32_t *
bucket_of(const struct shape *shape, uint64_t hash)
{
    return &shape->buckets[hash >> 52];
}

static bool
tree_is_member(const struct shape_node *node, uint32_t parent, struct bytes name)
{
    return node->role == NODE_MEMBER && node->links.parent == parent && node->name_len == name.len &&
           memcmp(node->name, name.data, name.len) == 0;
}

static uint32_t
child_of_role(const struct shape *shape, uint32_t parent, enum node_role role)
{
    // These are the first children: at most one of each is put before the members.
    uint32_t child = shape->nodes[parent].links.first_child;
    while (child != NODE_NONE && shape->nodes[child].role != role) {
        if (shape->nodes[child].role == NODE_MEMBER)
            return NODE_NONE;
        child = shape->nodes[child].links.next;
    }
    return child;
}

uint32_t
tree_element(const struct shape *shape, uint32_t parent)
{
    return child_of_role(shape, parent, NODE_ELEMENT);
}

uint32_t
tree_member(const struct shape *shape, uint32_t parent, struct bytes name, uint32_t before)
{
    const struct shape_node *node = &shape->nodes[parent];
    if (node->is_map)
        return child_of_role(shape, parent, NODE_ANY);
    uint32_t guess = before == NODE_NONE ? node->links.leader : shape->nodes[before].links.follower;
    if (guess != NODE_NONE && guess != NODE_ROOT && tree_is_member(&shape->nodes[guess], parent, name))
        return guess;
    uint64_t hash = tree_hash(parent, name);
    uint32_t at = *bucket_of(shape, hash);
    while (at != NODE_NONE &&
           !(shape->nodes[at].hash == hash && tree_is_member(&shape->nodes[at], parent, name)))
        at = shape->nodes[at].links.next_in_bucket;
    return at;
}

static uint32_t
take_node(struct shape *shape)
{
    if (shape->used == SHAPE_PATHS)
        return NODE_NONE;
    uint32_t at = shape->free;
    if (at != NODE_NONE) {
        shape->free = shape->nodes[at].links.next;
    } else if (shape->count < SHAPE_PATHS) {
        shape->nodes = alloc_grow(shape->nodes, shape->count, &shape->capacity, sizeof *shape->nodes);
        at = (uint32_t)shape->count++;
    } else {
        return NODE_NONE; // the rest was dropped by this very event
    }
    shape->used++;
    return at;
}

// Elements and members of maps come before members with names (child_of_role).
static void
link_child(struct shape *shape, uint32_t parent, uint32_t child)
{
    struct shape_node *node = &shape->nodes[child];
    uint32_t *place = &shape->nodes[parent].links.first_child;
    if (node->role == NODE_MEMBER)
        while (*place != NODE_NONE && shape->nodes[*place].role != NODE_MEMBER)
            place = &shape->nodes[*place].links.next;
    node->links.next = *place;
    *place = child;
}

static uint32_t
add_node(struct shape *shape, uint32_t parent, enum node_role role)
{
    uint32_t at = take_node(shape);
    if (at == NODE_NONE)
        return NODE_NONE;
    struct node_links links = {parent, NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE};
    shape->nodes[at] = (struct shape_node){.role = role, .links = links};
    link_child(shape, parent, at);
    return at;
}

static bool
has_room_for(const struct shape *shape, size_t len)
{
    return len <= NAME_BYTES && shape->text + len <= SHAPE_TEXT;
}

uint32_t
tree_need_member(struct shape *shape, uint32_t parent, struct bytes name, uint32_t before)
{
    uint32_t at = tree_member(shape, parent, name, before);
    if (at == NODE_NONE && shape->nodes[parent].child_count == SHAPE_NAMES)
        tree_make_map(shape, parent);
    if (at == NODE_NONE && shape->nodes[parent].is_map) {
        at = child_of_role(shape, parent, NODE_ANY);
        if (at == NODE_NONE)
            at = add_node(shape, parent, NODE_ANY);
    }
    if (at == NODE_NONE && !shape->nodes[parent].is_map && has_room_for(shape, name.len))
        at = add_node(shape, parent, NODE_MEMBER);
    if (at == NODE_NONE) {
        shape->nodes[parent].is_cut = true;
        return NODE_NONE;
    }

    struct shape_node *node = &shape->nodes[at];
    if (node->role == NODE_MEMBER && !node->name) {
        node->name = alloc_bytes(name.len + 1);
        memcpy(node->name, name.data, name.len);
        node->name_len = (uint32_t)name.len;
        node->hash = tree_hash(parent, name);
        uint32_t *bucket = bucket_of(shape, node->hash);
        node->links.next_in_bucket = *bucket;
        *bucket = at;
        shape->text += name.len;
        shape->nodes[parent].child_count++;
    }
    if (before == NODE_NONE)
        shape->nodes[parent].links.leader = at;
    else
        shape->nodes[before].links.follower = at;
    return at;
}

uint32_t
tree_need_element(struct shape *shape, uint32_t parent)
{
    uint32_t at = tree_element(shape, parent);
    return at == NODE_NONE ? add_node(shape, parent, NODE_ELEMENT) : at;
}

static void
unlink_from_bucket(struct shape *shape, uint32_t at)
{
    uint32_t *place = bucket_of(shape, shape->nodes[at].hash);
    while (*place != at)
        place = &shape->nodes[*place].links.next_in_bucket;
    *place = shape->nodes[at].links.next_in_bucket;
}

static void
forget_values(struct shape *shape, struct shape_node *node, unsigned kinds)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->value_count; i++) {
        if (kinds & 1u << node->values[i].kind) {
            shape->text -= node->values[i].len;
            free(node->values[i].text);
        } else {
            node->values[kept++] = node->values[i];
        }
    }
    node->value_count = (uint8_t)kept;
}

static void
drop_node(struct shape *shape, uint32_t at)
{
    struct shape_node *node = &shape->nodes[at];
    if (node->role == NODE_MEMBER)
        unlink_from_bucket(shape, at);
    forget_values(shape, node, ~0u);
    free(node->values);
    shape->text -= node->name_len;
    free(node->name);
    *node = (struct shape_node){.role = NODE_FREE, .links = {.parent = NODE_NONE, .next = shape->dropped}};
    shape->dropped = at;
}

// A node's children are dropped before it; the way back up is its parent, so that depth needs no memory.
static void
drop_tree(struct shape *shape, uint32_t top)
{
    uint32_t at = top;
    for (;;) {
        uint32_t child = shape->nodes[at].links.first_child;
        if (child != NODE_NONE) {
            at = child;
            continue;
        }
        uint32_t parent = shape->nodes[at].links.parent;
        uint32_t next = shape->nodes[at].links.next;
        drop_node(shape, at);
        if (at == top)
            return;
        shape->nodes[parent].links.first_child = next;
        at = parent;
    }
}

void
tree_make_map(struct shape *shape, uint32_t at)
{
    struct shape_node *node = &shape->nodes[at];
    uint32_t *place = &node->links.first_child;
    while (*place != NODE_NONE && shape->nodes[*place].role != NODE_MEMBER)
        place = &shape->nodes[*place].links.next;
    uint32_t child = *place;
    *place = NODE_NONE;
    while (child != NODE_NONE) {
        uint32_t next = shape->nodes[child].links.next;
        drop_tree(shape, child);
        child = next;
    }
    node->is_map = true;
    node->child_count = node->rare_names = 0;
    node->links.leader = NODE_NONE;
}

void
tree_recycle(struct shape *shape)
{
    while (shape->dropped != NODE_NONE) {
        uint32_t at = shape->dropped;
        shape->dropped = shape->nodes[at].links.next;
        shape->nodes[at].links.next = shape->free;
        shape->free = at;
        shape->used--;
    }
}

// 1 and 1.0 are the same value.
static bool
is_value(const struct shape_value *value, enum shape_kind kind, struct bytes text)
{
    struct bytes known = {value->text, value->len};
    if (value->kind != kind)
        return false;
    return bytes_equal(known, text) || (kind == KIND_NUMBER && json_number_compare(known, text) == 0);
}

const struct shape_value *
tree_value(const struct shape_node *node, enum shape_kind kind, struct bytes text)
{
    if (text.len > VALUE_BYTES)
        return NULL;
    for (size_t i = 0; i < node->value_count; i++)
        if (is_value(&node->values[i], kind, text))
            return &node->values[i];
    return NULL;
}

// Amounts have fractions; codes and versions do not.
static bool
may_be_few(enum shape_kind kind, struct bytes text)
{
    if (text.len > VALUE_BYTES)
        return false;
    for (size_t i = 0; kind == KIND_NUMBER && i < text.len; i++)
        if (memchr(".eE", text.data[i], 3))
            return false;
    return true;
}

static size_t
values_of_kind(const struct shape_node *node, enum shape_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < node->value_count; i++)
        count += node->values[i].kind == kind;
    return count;
}

void
tree_add_value(struct shape *shape, uint32_t at, enum shape_kind kind, struct bytes text)
{
    struct shape_node *node = &shape->nodes[at];
    if (node->many & 1u << kind || values_most[kind] == 0)
        return;
    const struct shape_value *known = tree_value(node, kind, text);
    if (known) {
        struct shape_value *value = &node->values[known - node->values];
        value->events += value->event != node->event.number;
        value->event = node->event.number;
        return;
    }
    bool has_room = may_be_few(kind, text) && shape->text + text.len <= SHAPE_TEXT &&
                    values_of_kind(node, kind) < values_most[kind];
    if (!has_room) {
        node->many = (uint8_t)(node->many | 1u << kind);
        forget_values(shape, node, 1u << kind);
        return;
    }
    if (!node->values)
        node->values = alloc_array(VALUES_KEPT + 4, sizeof *node->values);
    char *copy = alloc_bytes(text.len + 1);
    memcpy(copy, text.data, text.len);
    node->values[node->value_count++] =
        (struct shape_value){copy, (uint32_t)text.len, kind, 1, node->event.number};
    shape->text += text.len;
}

bool
tree_has_few_values(const struct shape_node *node, enum shape_kind kind)
{
    if (node->many & 1u << kind)
        return false;
    uint32_t single = 0;
    size_t count = 0;
    for (size_t i = 0; i < node->value_count; i++) {
        if (node->values[i].kind != kind)
            continue;
        count++;
        single += node->values[i].events == 1;
    }
    return count > 0 && tree_is_rare(single, node->sums.any[kind]);
}
