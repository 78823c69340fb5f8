// The sentences of departures.
#include <string.h>
#include "base/text.h"
#include "base/utf8.h"
#include "core/shape/departures.h"

enum { SHOWN_BYTES = 40, SHOWN_VALUES = 5, SHOWN_STEPS = 8 };

static const char *const kind_words[KIND_COUNT] = {
    [KIND_OBJECT] = "an object", [KIND_ARRAY] = "an array",        [KIND_TEXT] = "text",
    [KIND_NUMBER] = "a number",  [KIND_BOOLEAN] = "true or false", [KIND_NULL] = "null",
};

static void
add_cut(struct strbuf *out, struct bytes text)
{
    strbuf_add(out, bytes_slice(text, 0, utf8_cut(text, SHOWN_BYTES)));
    if (text.len > SHOWN_BYTES)
        strbuf_add_text(out, "…");
}

static void
add_value(struct strbuf *out, enum shape_kind kind, struct bytes text)
{
    const char *quote = kind == KIND_TEXT ? "\"" : "";
    strbuf_add_text(out, quote);
    add_cut(out, text);
    strbuf_add_text(out, quote);
}

// amount  lines[2]  the payload
static void
add_place(struct strbuf *out, const struct trail *trail)
{
    int at = trail->token.depth;
    while (at > 0 && trail->steps[at].is_element && trail->token.depth - at < SHOWN_STEPS)
        at--;
    struct strbuf scratch = {0};
    if (at == 0)
        strbuf_add_text(out, trail->token.depth ? "$" : "the payload");
    else if (trail->steps[at].is_element)
        strbuf_add_text(out, "…");
    else
        add_cut(out, trail_content(trail, trail->steps[at].name, &scratch));
    strbuf_release(&scratch);
    while (++at <= trail->token.depth)
        strbuf_printf(out, "[%zu]", trail->steps[at].index);
}

// lines[*].amount: the last steps of a path.
static void
add_general(struct strbuf *out, const struct shape *shape, uint32_t at)
{
    const struct shape_node *steps[SHOWN_STEPS];
    size_t count = 0;
    for (; at != NODE_ROOT && count < SHOWN_STEPS; at = shape->nodes[at].links.parent)
        steps[count++] = &shape->nodes[at];
    if (at != NODE_ROOT)
        strbuf_add_text(out, "…");
    for (bool is_first = at == NODE_ROOT; count-- > 0; is_first = false) {
        if (steps[count]->role == NODE_ELEMENT) {
            strbuf_add_text(out, "[*]");
            continue;
        }
        strbuf_add_text(out, is_first ? "" : ".");
        if (steps[count]->role == NODE_ANY)
            strbuf_add_char(out, '*');
        else
            add_cut(out, (struct bytes){steps[count]->name, steps[count]->name_len});
    }
}

// 2,108 of 2,114  all 2,114
static void
add_share(struct strbuf *out, uint32_t k, uint32_t n)
{
    char part[TEXT_SHORT];
    char whole[TEXT_SHORT];
    if (k == n)
        strbuf_printf(out, "all %s", text_count(n, whole));
    else
        strbuf_printf(out, "%s of %s", text_count(k, part), text_count(n, whole));
}

// Which events are counted: those that have the node.
static void
add_events(struct strbuf *out, const struct shape *shape, uint32_t n, uint32_t node)
{
    strbuf_add_text(out, n == 1 ? " event" : " events");
    if (n == shape->events) {
        strbuf_add_text(out, " of this type");
        return;
    }
    strbuf_add_text(out, " with ");
    if (node == NODE_ROOT)
        strbuf_add_text(out, "an object");
    else
        add_general(out, shape, node);
}

static enum shape_kind
usual_kind(const struct node_sums *sums)
{
    enum shape_kind usual = KIND_OBJECT;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++)
        if (sums->only[kind] > sums->only[usual])
            usual = (enum shape_kind)kind;
    return usual;
}

static void
sentence_type(struct strbuf *out, const struct shape *shape, const struct departure *departure)
{
    const struct node_sums *sums = &shape->nodes[departure->node].sums;
    enum shape_kind usual = usual_kind(sums);
    strbuf_printf(out, " is %s here", kind_words[departure->kind]);
    if (tree_is_nearly_all(sums->only[usual], sums->events)) {
        strbuf_printf(out, " and %s in ", kind_words[usual]);
        add_share(out, sums->only[usual], sums->events);
    } else {
        const char *between = "";
        for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
            char count[TEXT_SHORT];
            if (tree_is_rare(sums->any[kind], sums->events))
                continue;
            strbuf_printf(out, "%s %s in %s", *between ? between : ";", kind_words[kind],
                          text_count(sums->any[kind], count));
            between = ",";
        }
        char count[TEXT_SHORT];
        strbuf_printf(out, " of %s", text_count(sums->events, count));
    }
    add_events(out, shape, sums->events, departure->node);
}

static void
sentence_missing(struct strbuf *out, const struct shape *shape, const struct departure *departure)
{
    const struct shape_node *node = &shape->nodes[departure->node];
    uint32_t objects = shape->nodes[node->links.parent].sums.any[KIND_OBJECT];
    add_cut(out, (struct bytes){node->name, node->name_len});
    strbuf_add_text(out, " is missing here and present in ");
    add_share(out, node->sums.full, objects);
    add_events(out, shape, objects, node->links.parent);
}

static void
sentence_empty(struct strbuf *out, const struct shape *shape, const struct departure *departure)
{
    const struct shape_node *node = &shape->nodes[departure->node];
    bool is_array = departure->kind == KIND_ARRAY;
    uint32_t place = is_array ? node->links.parent : departure->node;
    uint32_t events = shape->nodes[place].sums.any[departure->kind];
    strbuf_printf(out, " is empty here and has %s in ", is_array ? "elements" : "text");
    add_share(out, is_array ? node->sums.full : events - node->sums.blanks, events);
    add_events(out, shape, events, place);
}

// The most frequent value that is not listed yet, or NULL.
static const struct shape_value *
next_value(const struct shape_node *node, enum shape_kind kind, const struct shape_value *before)
{
    const struct shape_value *next = NULL;
    for (const struct shape_value *value = node->values; value < node->values + node->value_count; value++) {
        bool is_behind =
            !before || value->events < before->events || (value->events == before->events && value > before);
        if (value->kind == kind && is_behind && (!next || value->events > next->events))
            next = value;
    }
    return next;
}

static void
sentence_value(struct strbuf *out, const struct shape *shape, const struct departure *departure,
               struct bytes text)
{
    const struct shape_node *node = &shape->nodes[departure->node];
    strbuf_add_text(out, " is ");
    add_value(out, departure->kind, text);
    strbuf_add_text(out, " here");
    size_t known = 0;
    for (size_t i = 0; i < node->value_count; i++)
        known += node->values[i].kind == departure->kind;
    const struct shape_value *value = next_value(node, departure->kind, NULL);
    if (known == 1) {
        strbuf_add_text(out, " and ");
        add_value(out, value->kind, (struct bytes){value->text, value->len});
        strbuf_add_text(out, " in ");
        add_share(out, value->events, node->sums.events);
        add_events(out, shape, node->sums.events, departure->node);
        return;
    }
    strbuf_printf(out, "; %zu values are known: ", known);
    for (size_t i = 0; value; i++, value = next_value(node, departure->kind, value)) {
        strbuf_add_text(out, i ? ", " : "");
        if (i == SHOWN_VALUES) {
            strbuf_add_text(out, "…");
            return;
        }
        add_value(out, value->kind, (struct bytes){value->text, value->len});
    }
}

static void
sentence_unknown(struct strbuf *out, const struct shape *shape, const struct departure *departure,
                 struct bytes name)
{
    char events[TEXT_SHORT];
    uint32_t objects = shape->nodes[departure->node].sums.any[KIND_OBJECT];
    add_general(out, shape, departure->node);
    strbuf_add_text(out, departure->node == NODE_ROOT ? "" : ".");
    add_cut(out, name);
    strbuf_printf(out, " is not known in %s", text_count(objects, events));
    add_events(out, shape, objects, departure->node);
}

void
departure_sentence(const struct shape *shape, const struct departure *departure, const struct trail *trail,
                   struct strbuf *out)
{
    struct strbuf scratch = {0};
    switch (departure->reason) {
    case SHAPE_TYPE:
        add_place(out, trail);
        sentence_type(out, shape, departure);
        break;
    case SHAPE_MISSING:
        sentence_missing(out, shape, departure);
        break;
    case SHAPE_EMPTY:
        add_place(out, trail);
        sentence_empty(out, shape, departure);
        break;
    case SHAPE_VALUE:
        add_place(out, trail);
        sentence_value(out, shape, departure,
                       departure->kind == KIND_TEXT ? trail_content(trail, trail->token, &scratch)
                                                    : json_bytes(&trail->scan, trail->token));
        break;
    case SHAPE_UNKNOWN:
        sentence_unknown(out, shape, departure, trail_content(trail, departure->name, &scratch));
        break;
    }
    strbuf_release(&scratch);
}
