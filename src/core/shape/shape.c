// Learning: what one event has is collected at its nodes first and becomes sums when the event is over.
#include "core/shape/shape.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/shape/trail.h"
#include "core/shape/tree.h"

// An object with that many names, half of which occur in one event only, is a map.
enum { MAP_NAMES = 64 };

// A container that is being read.
struct learn_level {
    uint32_t node;   // NODE_NONE: a limit keeps it from being learned
    uint32_t before; // the child read last
    uint64_t number; // of the container
};

struct learner {
    struct shape *shape;
    struct trail trail;
    struct strbuf scratch;
    struct learn_level levels[JSON_DEPTH + 1]; // by the depth of their children
};

struct shape *
shape_create(void)
{
    struct shape *shape = alloc_bytes(sizeof *shape);
    shape->free = shape->dropped = NODE_NONE;
    shape->buckets = alloc_array(TREE_BUCKETS, sizeof *shape->buckets);
    for (size_t i = 0; i < TREE_BUCKETS; i++)
        shape->buckets[i] = NODE_NONE;
    shape->touched = alloc_array(SHAPE_PATHS, sizeof *shape->touched);
    shape->nodes = alloc_grow(NULL, 0, &shape->capacity, sizeof *shape->nodes);
    struct node_links links = {NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE, NODE_NONE};
    shape->nodes[NODE_ROOT] = (struct shape_node){.role = NODE_MEMBER, .links = links};
    shape->count = shape->used = 1;
    return shape;
}

void
shape_destroy(struct shape *shape)
{
    if (!shape)
        return;
    for (size_t i = 0; i < shape->count; i++) {
        struct shape_node *node = &shape->nodes[i];
        for (size_t k = 0; k < node->value_count; k++)
            free(node->values[k].text);
        free(node->values);
        free(node->name);
    }
    free(shape->nodes);
    free(shape->buckets);
    free(shape->touched);
    free(shape);
}

size_t
shape_events(const struct shape *shape)
{
    return shape->events;
}

size_t
shape_skipped(const struct shape *shape)
{
    return shape->skipped;
}

size_t
shape_paths(const struct shape *shape)
{
    return shape->used;
}

size_t
shape_memory(const struct shape *shape)
{
    size_t values = 0;
    for (size_t i = 0; i < shape->count; i++)
        values += shape->nodes[i].values ? (VALUES_KEPT + 4) * sizeof(struct shape_value) : 0;
    return sizeof *shape + shape->capacity * sizeof *shape->nodes + TREE_BUCKETS * sizeof(uint32_t) +
           SHAPE_PATHS * sizeof(uint32_t) + shape->text + values;
}

// The path of the value that the trail has reached.
static uint32_t
node_of(struct learner *learner)
{
    const struct trail *trail = &learner->trail;
    if (trail->token.depth == 0)
        return NODE_ROOT;
    struct learn_level *level = &learner->levels[trail->token.depth];
    const struct trail_step *step = trail_step(trail);
    if (level->node == NODE_NONE)
        return NODE_NONE;
    if (step->is_element)
        return tree_need_element(learner->shape, level->node);
    struct bytes name = trail_content(trail, step->name, &learner->scratch);
    uint32_t at = tree_need_member(learner->shape, level->node, name, level->before);
    // The sibling may have been forgotten when its object became a map.
    level->before = at != NODE_NONE && learner->shape->nodes[at].role == NODE_MEMBER ? at : NODE_NONE;
    return at;
}

static struct shape_node *
touch(struct learner *learner, uint32_t at)
{
    struct shape *shape = learner->shape;
    struct shape_node *node = &shape->nodes[at];
    if (node->event.number == (uint32_t)shape->events)
        return node;
    node->event = (struct node_event){.number = (uint32_t)shape->events};
    shape->touched[shape->touched_count++] = at;
    return node;
}

static void
learn_value(struct learner *learner)
{
    const struct json_token token = learner->trail.token;
    uint32_t at = node_of(learner);
    bool is_container = token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN;
    if (is_container)
        learner->levels[token.depth + 1] = (struct learn_level){at, NODE_NONE, ++learner->shape->containers};
    if (at == NODE_NONE)
        return;

    struct shape_node *node = touch(learner, at);
    enum shape_kind kind = tree_kind(token.kind);
    node->event.kinds |= 1u << kind;
    if (is_container)
        node->event.containers[kind == KIND_ARRAY]++;
    uint64_t holder = token.depth ? learner->levels[token.depth].number : 0;
    if (node->event.holders == 0 || node->event.holder != holder)
        node->event.holders++;
    node->event.holder = holder;
    if (is_container || kind == KIND_NULL)
        return;
    struct bytes text = kind == KIND_TEXT ? trail_content(&learner->trail, token, &learner->scratch)
                                          : json_bytes(&learner->trail.scan, token);
    if (text.len == 0)
        node->event.is_blank = true;
    else
        tree_add_value(learner->shape, at, kind, text);
}

static void
sum_up(struct shape *shape, struct shape_node *node)
{
    unsigned kinds = node->event.kinds;
    node->sums.events++;
    node->sums.blanks += node->event.is_blank;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        node->sums.any[kind] += kinds >> kind & 1;
        node->sums.only[kind] += kinds == 1u << kind;
    }
    if (node->links.parent == NODE_NONE)
        return;
    struct shape_node *parent = &shape->nodes[node->links.parent];
    node->sums.full += node->event.holders == parent->event.containers[node->role == NODE_ELEMENT];
    if (node->role == NODE_MEMBER && node->sums.events == 1)
        parent->rare_names++;
    if (node->role == NODE_MEMBER && node->sums.events == 2)
        parent->rare_names--;
}

static bool
is_map(const struct shape_node *node)
{
    return !node->is_map && node->child_count >= MAP_NAMES && node->sums.any[KIND_OBJECT] >= SHAPE_LEAST &&
           node->rare_names * 2 >= node->child_count;
}

static void
end_event(struct shape *shape)
{
    for (size_t i = 0; i < shape->touched_count; i++)
        if (shape->nodes[shape->touched[i]].role != NODE_FREE)
            sum_up(shape, &shape->nodes[shape->touched[i]]);
    for (size_t i = 0; i < shape->touched_count; i++)
        if (is_map(&shape->nodes[shape->touched[i]]))
            tree_make_map(shape, shape->touched[i]);
    shape->touched_count = 0;
    tree_recycle(shape);
}

bool
shape_add(struct shape *shape, struct bytes payload)
{
    if (!json_check(payload, NULL)) {
        shape->skipped++;
        return false;
    }
    struct learner learner;
    learner.shape = shape;
    learner.scratch = (struct strbuf){0};
    shape->events++;
    trail_begin(&learner.trail, payload);
    for (;;) {
        enum trail_place place = trail_next(&learner.trail);
        if (place == TRAIL_END)
            break;
        if (place == TRAIL_VALUE)
            learn_value(&learner);
    }
    end_event(shape);
    strbuf_release(&learner.scratch);
    return true;
}
