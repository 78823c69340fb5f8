// Finds departures: one pass over the payload beside the paths of the shape, keeping the most surprising in a
// heap; then a second pass that writes the paths and sentences of those.
#include "core/shape/departures.h"

#include <stdlib.h>
#include "base/alloc.h"

enum { REASONS = SHAPE_UNKNOWN + 1 };

// What a seeker remembers of a node.
struct node_mark {
    uint64_t container; // the last one that had it
    uint32_t expected;  // children that nearly all its containers have
    uint8_t listed[REASONS];
    bool is_expected;
    bool is_exhausted; // all that its containers may lack was listed often enough
};

struct seek_level {
    uint32_t node;
    uint32_t before;
    uint32_t present;        // of the expected children
    uint64_t number;         // of the container
    struct json_token token; // that opens it
};

struct seeker {
    const struct shape *shape;
    struct trail trail;
    struct strbuf scratch;
    struct node_mark *marks;
    uint64_t containers;
    struct departure heap[SHAPE_DEPARTURES]; // the least surprising first
    size_t count;
    struct seek_level levels[JSON_DEPTH + 1]; // by the depth of their children
};

// A half is added so that "never seen" is not "impossible", and is less likely the more events were seen.
static double
chance_of(uint32_t k, uint32_t n)
{
    return (k + 0.5) / (n + 1.0);
}

// How often an event of the queue has such a place without failing for it, against a wrong type: consumers
// nearly always read types, and often ignore values and names.
static const double harmless[REASONS] = {
    [SHAPE_TYPE] = 1, [SHAPE_MISSING] = 1, [SHAPE_EMPTY] = 4, [SHAPE_VALUE] = 16, [SHAPE_UNKNOWN] = 16};

// < 0: a is the more surprising of two places.
static int
surprise_compare(double chance_a, enum shape_reason a, size_t from_a, double chance_b, enum shape_reason b,
                 size_t from_b)
{
    chance_a *= harmless[a];
    chance_b *= harmless[b];
    if (chance_a < chance_b || chance_a > chance_b)
        return chance_a < chance_b ? -1 : 1;
    if (a != b)
        return a < b ? -1 : 1;
    return (from_a > from_b) - (from_a < from_b);
}

static int
departure_compare(const struct departure *a, const struct departure *b)
{
    return surprise_compare(a->chance, a->reason, a->value.from, b->chance, b->reason, b->value.from);
}

static void
heap_sink(struct seeker *seeker, size_t at)
{
    for (;;) {
        size_t child = at * 2 + 1;
        if (child + 1 < seeker->count &&
            departure_compare(&seeker->heap[child + 1], &seeker->heap[child]) > 0)
            child++;
        if (child >= seeker->count || departure_compare(&seeker->heap[child], &seeker->heap[at]) <= 0)
            return;
        struct departure held = seeker->heap[at];
        seeker->heap[at] = seeker->heap[child];
        seeker->heap[child] = held;
        at = child;
    }
}

static void
report(struct seeker *seeker, const struct departure *departure)
{
    uint8_t *listed = &seeker->marks[departure->node].listed[departure->reason];
    if (*listed == SHAPE_SAME)
        return;
    ++*listed;
    if (seeker->count == SHAPE_DEPARTURES) {
        if (departure_compare(departure, &seeker->heap[0]) >= 0)
            return;
        seeker->heap[0] = *departure;
        heap_sink(seeker, 0);
        return;
    }
    seeker->heap[seeker->count++] = *departure;
    if (seeker->count == SHAPE_DEPARTURES)
        for (size_t at = SHAPE_DEPARTURES / 2; at-- > 0;)
            heap_sink(seeker, at);
}

static uint32_t
holders_of(const struct shape *shape, const struct shape_node *node)
{
    return shape->nodes[node->links.parent].sums.any[node->role == NODE_ELEMENT ? KIND_ARRAY : KIND_OBJECT];
}

static void
mark_expected(struct seeker *seeker)
{
    const struct shape *shape = seeker->shape;
    seeker->marks = alloc_array(shape->count, sizeof *seeker->marks);
    for (size_t i = 1; i < shape->count; i++) {
        const struct shape_node *node = &shape->nodes[i];
        if (node->role != NODE_MEMBER && node->role != NODE_ELEMENT)
            continue;
        if (!tree_is_nearly_all(node->sums.full, holders_of(shape, node)))
            continue;
        seeker->marks[i].is_expected = true;
        if (node->role == NODE_MEMBER)
            seeker->marks[node->links.parent].expected++;
    }
}

// A name that the object never had, unless new names come often there or were not all kept.
static void
check_unknown(struct seeker *seeker, uint32_t parent, struct json_token name)
{
    const struct shape_node *node = &seeker->shape->nodes[parent];
    uint32_t objects = node->sums.any[KIND_OBJECT];
    if (node->is_map || node->is_cut || !tree_is_rare(node->rare_names, objects))
        return;
    report(seeker, &(struct departure){.reason = SHAPE_UNKNOWN,
                                       .node = parent,
                                       .value = seeker->trail.token,
                                       .name = name,
                                       .chance = chance_of(node->rare_names, objects)});
}

static uint32_t
seek_node(struct seeker *seeker)
{
    const struct trail *trail = &seeker->trail;
    if (trail->token.depth == 0)
        return NODE_ROOT;
    struct seek_level *level = &seeker->levels[trail->token.depth];
    const struct trail_step *step = trail_step(trail);
    if (level->node == NODE_NONE)
        return NODE_NONE;
    uint32_t at;
    if (step->is_element) {
        at = tree_element(seeker->shape, level->node);
    } else {
        struct bytes name = trail_content(trail, step->name, &seeker->scratch);
        at = tree_member(seeker->shape, level->node, name, level->before);
        if (at == NODE_NONE)
            check_unknown(seeker, level->node, step->name);
        else if (seeker->shape->nodes[at].role == NODE_MEMBER)
            level->before = at;
    }
    if (at != NODE_NONE && seeker->marks[at].container != level->number) {
        seeker->marks[at].container = level->number;
        level->present += seeker->marks[at].is_expected;
    }
    return at;
}

static void
check_scalar(struct seeker *seeker, uint32_t at, enum shape_kind kind)
{
    const struct shape_node *node = &seeker->shape->nodes[at];
    struct json_token token = seeker->trail.token;
    uint32_t events = node->sums.any[kind];
    struct bytes text = kind == KIND_TEXT ? trail_content(&seeker->trail, token, &seeker->scratch)
                                          : json_bytes(&seeker->trail.scan, token);
    struct departure departure = {.node = at, .kind = kind, .value = token};
    if (text.len == 0) {
        departure.reason = SHAPE_EMPTY;
        departure.chance = chance_of(node->sums.blanks, events);
        if (tree_is_rare(node->sums.blanks, events))
            report(seeker, &departure);
        return;
    }
    if (!tree_has_few_values(node, kind) || tree_value(node, kind, text))
        return;
    uint32_t single = 0;
    for (size_t i = 0; i < node->value_count; i++)
        single += node->values[i].kind == kind && node->values[i].events == 1;
    departure.reason = SHAPE_VALUE;
    departure.chance = chance_of(single, events);
    report(seeker, &departure);
}

static void
check_value(struct seeker *seeker)
{
    struct json_token token = seeker->trail.token;
    uint32_t at = seek_node(seeker);
    enum shape_kind kind = tree_kind(token.kind);
    bool is_container = kind == KIND_OBJECT || kind == KIND_ARRAY;
    if (is_container)
        seeker->levels[token.depth + 1] = (struct seek_level){
            .node = at, .before = NODE_NONE, .number = ++seeker->containers, .token = token};
    if (at == NODE_NONE)
        return;

    const struct node_sums *sums = &seeker->shape->nodes[at].sums;
    if (tree_is_rare(sums->any[kind], sums->events)) {
        report(seeker, &(struct departure){.reason = SHAPE_TYPE,
                                           .node = at,
                                           .kind = kind,
                                           .value = token,
                                           .chance = chance_of(sums->any[kind], sums->events)});
        // What is inside is not at fault by itself.
        if (is_container)
            seeker->levels[token.depth + 1].node = NODE_NONE;
    } else if (!is_container && kind != KIND_NULL) {
        check_scalar(seeker, at, kind);
    }
}

static void
report_missing(struct seeker *seeker, const struct seek_level *level, uint32_t at)
{
    const struct shape_node *node = &seeker->shape->nodes[at];
    uint32_t holders = holders_of(seeker->shape, node);
    bool is_array = node->role == NODE_ELEMENT;
    report(seeker, &(struct departure){.reason = is_array ? SHAPE_EMPTY : SHAPE_MISSING,
                                       .node = at,
                                       .kind = is_array ? KIND_ARRAY : KIND_OBJECT,
                                       .value = level->token,
                                       .chance = chance_of(holders - node->sums.full, holders)});
}

// Looks at each child only where the number of those present is too small, and no more once every place is
// listed: an object without its members costs no more than one with them.
static void
check_close(struct seeker *seeker)
{
    const struct seek_level *level = &seeker->levels[seeker->trail.token.depth + 1];
    if (level->node == NODE_NONE)
        return;
    bool is_array = seeker->trail.token.kind == JSON_ARRAY_END;
    if (is_array) {
        uint32_t element = tree_element(seeker->shape, level->node);
        if (element != NODE_NONE && seeker->marks[element].is_expected &&
            seeker->marks[element].container != level->number)
            report_missing(seeker, level, element);
        return;
    }
    struct node_mark *mark = &seeker->marks[level->node];
    if (level->present == mark->expected || mark->is_exhausted)
        return;
    bool is_listed = false;
    uint32_t at = seeker->shape->nodes[level->node].links.first_child;
    for (; at != NODE_NONE; at = seeker->shape->nodes[at].links.next) {
        const struct node_mark *child = &seeker->marks[at];
        if (!child->is_expected || child->container == level->number ||
            seeker->shape->nodes[at].role != NODE_MEMBER)
            continue;
        is_listed = is_listed || child->listed[SHAPE_MISSING] < SHAPE_SAME;
        report_missing(seeker, level, at);
    }
    mark->is_exhausted = !is_listed;
}

static int
by_place(const void *a, const void *b)
{
    const struct departure *x = a;
    const struct departure *y = b;
    if (x->value.from != y->value.from)
        return x->value.from < y->value.from ? -1 : 1;
    return departure_compare(x, y);
}

static int
by_surprise(const void *a, const void *b)
{
    const struct shape_departure *x = a;
    const struct shape_departure *y = b;
    return surprise_compare(x->chance, x->reason, x->from, y->chance, y->reason, y->from);
}

static struct bytes
last_name(const struct seeker *seeker, const struct departure *departure, struct strbuf *scratch)
{
    const struct shape_node *node = &seeker->shape->nodes[departure->node];
    if (departure->reason == SHAPE_MISSING)
        return (struct bytes){node->name, node->name_len};
    const struct trail_step *step = trail_step(&seeker->trail);
    if (seeker->trail.token.depth == 0 || step->is_element)
        return BYTES_ABSENT;
    return trail_content(&seeker->trail, step->name, scratch);
}

// The departure at the place that the trail has reached.
static void
list_departure(struct seeker *seeker, const struct departure *departure, struct arena *arena,
               struct shape_departure *listed)
{
    struct strbuf *text = &seeker->scratch;
    struct json_token place = departure->reason == SHAPE_UNKNOWN ? departure->name : departure->value;
    *listed = (struct shape_departure){
        .reason = departure->reason, .from = place.from, .len = place.len, .chance = departure->chance};
    struct bytes name = last_name(seeker, departure, text);
    listed->name = arena_copy(arena, bytes_slice(name, 0, SHAPE_PATH_BYTES));
    strbuf_reset(text);
    bool is_whole = trail_print(&seeker->trail, SHAPE_PATH_BYTES, text);
    if (is_whole && departure->reason == SHAPE_MISSING)
        trail_print_name(listed->name, text);
    listed->path = arena_text(arena, strbuf_bytes(text));
    strbuf_reset(text);
    departure_sentence(seeker->shape, departure, &seeker->trail, text);
    listed->sentence = arena_text(arena, strbuf_bytes(text));
}

static void
list_found(struct seeker *seeker, struct bytes payload, struct arena *arena, struct shape_departure *list)
{
    qsort(seeker->heap, seeker->count, sizeof *seeker->heap, by_place);
    size_t at = 0;
    trail_begin(&seeker->trail, payload);
    while (at < seeker->count) {
        enum trail_place place = trail_next(&seeker->trail);
        if (place == TRAIL_END)
            break;
        if (place != TRAIL_VALUE)
            continue;
        for (; at < seeker->count && seeker->heap[at].value.from == seeker->trail.token.from; at++)
            list_departure(seeker, &seeker->heap[at], arena, &list[at]);
    }
    qsort(list, seeker->count, sizeof *list, by_surprise);
}

void
shape_departures(const struct shape *shape, struct bytes payload, struct arena *arena,
                 struct shape_departure **list, size_t *count)
{
    struct seeker *seeker = alloc_bytes(sizeof *seeker);
    seeker->shape = shape;
    mark_expected(seeker);
    trail_begin(&seeker->trail, payload);
    for (;;) {
        enum trail_place place = trail_next(&seeker->trail);
        if (place == TRAIL_END)
            break;
        if (place == TRAIL_VALUE)
            check_value(seeker);
        else
            check_close(seeker);
    }
    *count = seeker->count;
    *list = arena_array(arena, seeker->count + 1, sizeof **list);
    if (seeker->count)
        list_found(seeker, payload, arena, *list);
    strbuf_release(&seeker->scratch);
    free(seeker->marks);
    free(seeker);
}
