// Parses a line into terms and what joins them. The grammar, where a sequence is joined by and:
//
//   level     sequence { "or" sequence }
//   sequence  { item | bare word }
//   item      [ "not" ] [ "!" ] ( FIELD:VALUE | $.path test | bare word | "(" level ")" )
//
// The bare words of a sequence are one expression. An inversion goes down to the terms: what joins them is
// turned round, so that the tree has no node for it. Every error has the column of the mistake.
#include "core/filter/reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"

enum { DEEPEST = 32 }; // brackets within brackets

// --- the tree ---

// The cost of a term: a comparison, a match in a short text, or in a long one.
static int
cost(const struct filter_term *term)
{
    enum filter_kind kind = filter_field_kind(term->field);
    if (term->field == FIELD_STACK || term->field == FIELD_PAYLOAD || kind == KIND_JSON)
        return 3;
    if (term->field == FIELD_ERROR || kind == KIND_HEADER)
        return 2;
    return kind == KIND_TEXT;
}

static int
node_cost(const struct filter *filter, size_t n)
{
    return filter->nodes[n].cost;
}

static size_t
add_node(struct filter *filter, enum filter_join join, size_t term)
{
    filter->nodes =
        alloc_grow(filter->nodes, filter->node_count, &filter->node_capacity, sizeof *filter->nodes);
    filter->nodes[filter->node_count] =
        (struct filter_node){.join = join,
                             .term = term,
                             .first = FILTER_NO_NODE,
                             .next = FILTER_NO_NODE,
                             .cost = join == JOIN_NONE ? cost(&filter->terms[term]) : 0};
    return filter->node_count++;
}

// Behind the children that cost as much, before those that cost more.
static void
add_child(struct filter *filter, size_t parent, size_t child)
{
    size_t *at = &filter->nodes[parent].first;
    while (*at != FILTER_NO_NODE && node_cost(filter, *at) <= node_cost(filter, child))
        at = &filter->nodes[*at].next;
    filter->nodes[child].next = *at;
    *at = child;
    if (filter->nodes[parent].cost < filter->nodes[child].cost)
        filter->nodes[parent].cost = filter->nodes[child].cost;
}

// Joins one more to what `*node` holds so far; a node of the same join gives its children.
static void
join_to(struct filter *filter, size_t *node, enum filter_join join, size_t more)
{
    if (*node == FILTER_NO_NODE) {
        *node = more;
        return;
    }
    if (filter->nodes[*node].join != join) {
        size_t parent = add_node(filter, join, 0);
        add_child(filter, parent, *node);
        *node = parent;
    }
    if (filter->nodes[more].join != join) {
        add_child(filter, *node, more);
        return;
    }
    for (size_t child = filter->nodes[more].first; child != FILTER_NO_NODE;) {
        size_t next = filter->nodes[child].next;
        add_child(filter, *node, child);
        child = next;
    }
}

// --- one sequence ---

struct sequence {
    bool is_inverted; // all of it
    bool or_joins;
    size_t node;         // FILTER_NO_NODE: nothing yet
    struct spelled bare; // the words that are no terms, joined by single blanks
    int own;             // brackets that they have opened
};

static bool read_level(struct filter_reader *reader, bool is_inverted, size_t *node);

static void
add_item(struct filter_reader *reader, struct sequence *sequence, size_t node)
{
    join_to(reader->filter, &sequence->node, sequence->is_inverted ? JOIN_ANY : JOIN_ALL, node);
}

// The last term of the filter.
static void
add_term_item(struct filter_reader *reader, struct sequence *sequence)
{
    add_item(reader, sequence, add_node(reader->filter, JOIN_NONE, reader->filter->count - 1));
}

static bool
add_bare(struct filter_reader *reader, struct sequence *sequence, const struct spelled *bare,
         bool is_inverted)
{
    if (!filter_compile(reader, filter_add_term(reader, FIELD_ERROR, is_inverted), bare))
        return false;
    add_term_item(reader, sequence);
    return true;
}

static bool
read_bare(struct filter_reader *reader, struct sequence *sequence, bool is_banged, bool is_inverted)
{
    struct spelled *bare = &sequence->bare;
    if (!is_banged) {
        if (bare->text.len)
            spelled_add(bare, ' ', reader->at);
        return filter_read_value(reader, FORM_EXPRESSION, &sequence->own, bare);
    }
    size_t from = reader->at;
    struct spelled value = {0};
    bool ok = filter_read_value(reader, FORM_EXPRESSION, NULL, &value);
    if (ok && value.text.len == 0)
        ok = filter_wrong(reader, from, "expected an expression after !");
    else if (ok)
        ok = add_bare(reader, sequence, &value, is_inverted);
    spelled_release(&value);
    return ok;
}

static bool
read_bracket(struct filter_reader *reader, struct sequence *sequence, bool is_inverted)
{
    size_t opened_at = reader->at++;
    size_t node = FILTER_NO_NODE;
    if (reader->brackets == DEEPEST)
        return filter_wrong(reader, opened_at, "brackets are nested too deep");
    reader->brackets++;
    if (!read_level(reader, is_inverted, &node))
        return false;
    if (reader->at >= reader->text.len)
        return filter_wrong(reader, opened_at, "expected the ) that closes this bracket");
    reader->brackets--;
    reader->at++;
    if (!filter_ends_word(reader, reader->at))
        return filter_wrong(reader, reader->at, "expected a blank after )");
    if (node != FILTER_NO_NODE)
        add_item(reader, sequence, node);
    return true;
}

static bool
refuse_field(struct filter_reader *reader, struct bytes name, const char *near)
{
    struct strbuf sentence = {0};
    strbuf_printf(&sentence, "there is no field %.*s; did you mean %s: ? (in quotes it is text)",
                  BYTES_ARGS(name), near);
    filter_wrong(reader, reader->at, strbuf_text(&sentence));
    strbuf_release(&sentence);
    return false;
}

static bool
read_item(struct filter_reader *reader, struct sequence *sequence)
{
    struct bytes text = reader->text;
    bool is_inverted = sequence->is_inverted;
    size_t next;
    bool is_not = filter_is_not(reader, reader->at, &next);
    reader->at = is_not ? next : reader->at;
    is_inverted ^= is_not;
    bool is_banged = text.data[reader->at] == '!' && !filter_ends_word(reader, reader->at + 1);
    reader->at += is_banged;
    is_inverted ^= is_banged;
    if (filter_is_bracket(reader, reader->at))
        return read_bracket(reader, sequence, is_inverted);
    struct bytes name = filter_field_name(text, reader->at);
    struct bytes rest = bytes_slice(text, reader->at, SIZE_MAX);
    enum filter_field field = FIELD_JSON;
    bool is_field = name.len && filter_field_find(name, &field);
    const char *near = name.len && !is_field ? filter_field_near(name) : NULL;
    if (near)
        return refuse_field(reader, name, near);
    if (!is_field && !bytes_starts(rest, "$.") && !bytes_starts(rest, "$["))
        return read_bare(reader, sequence, is_banged, is_inverted);
    reader->at += is_field ? name.len + 1 : 0;
    if (!filter_read_term(reader, field, is_inverted))
        return false;
    add_term_item(reader, sequence);
    return true;
}

static bool
ends_sequence(const struct filter_reader *reader, const struct sequence *sequence)
{
    struct bytes text = reader->text;
    return reader->at >= text.len ||
           (reader->brackets && text.data[reader->at] == ')' && sequence->own == 0) ||
           (sequence->or_joins && filter_is_word(reader, reader->at, "or"));
}

static bool
read_sequence(struct filter_reader *reader, struct sequence *sequence)
{
    struct bytes text = reader->text;
    for (;;) {
        while (reader->at < text.len && filter_is_blank(text.data[reader->at]))
            reader->at++;
        if (ends_sequence(reader, sequence))
            break;
        if (!read_item(reader, sequence))
            return false;
    }
    return sequence->bare.text.len == 0 || add_bare(reader, sequence, &sequence->bare, sequence->is_inverted);
}

// --- sequences with or between them ---

static bool
read_level(struct filter_reader *reader, bool is_inverted, size_t *node)
{
    bool or_joins = filter_or_joins(reader);
    size_t or_at = SIZE_MAX;
    for (;;) {
        struct sequence sequence = {.is_inverted = is_inverted, .or_joins = or_joins, .node = FILTER_NO_NODE};
        bool ok = read_sequence(reader, &sequence);
        spelled_release(&sequence.bare);
        if (!ok)
            return false;
        bool is_or = or_joins && filter_is_word(reader, reader->at, "or");
        if (sequence.node == FILTER_NO_NODE && (is_or || or_at != SIZE_MAX))
            return filter_wrong(reader, reader->at,
                                is_or ? "expected a term before or" : "expected a term after or");
        if (sequence.node != FILTER_NO_NODE)
            join_to(reader->filter, node, is_inverted ? JOIN_ALL : JOIN_ANY, sequence.node);
        if (!is_or)
            return true;
        or_at = reader->at;
        reader->at += 2;
    }
}

bool
filter_parse(struct filter **filter, struct bytes text, const struct filter_context *context, struct err *err)
{
    struct filter *made = alloc_bytes(sizeof *made);
    made->context = *context;
    if (made->context.new_after == TIME_ABSENT)
        made->context.new_after = context->now - 3600 * US_PER_SECOND;
    struct filter_reader reader = {.text = text, .filter = made, .err = err};
    made->root = FILTER_NO_NODE;
    bool ok = utf8_valid(text) ? read_level(&reader, false, &made->root)
                               : err_set(err, ERR_USAGE, "a filter is written in UTF-8");
    if (!ok) {
        filter_destroy(made);
        return false;
    }
    *filter = made;
    return true;
}

struct filter *
filter_twin(const struct filter *filter)
{
    struct filter *twin = alloc_bytes(sizeof *twin);
    *twin = (struct filter){.is_twin = true,
                            .count = filter->count,
                            .nodes = filter->nodes,
                            .node_count = filter->node_count,
                            .root = filter->root,
                            .context = filter->context};
    twin->terms = alloc_array(filter->count, sizeof *twin->terms);
    for (size_t i = 0; i < filter->count; i++) {
        twin->terms[i] = filter->terms[i];
        if (twin->terms[i].pattern)
            twin->terms[i].pattern = pattern_twin(filter->terms[i].pattern);
    }
    return twin;
}

void
filter_destroy(struct filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++) {
        struct filter_term *term = &filter->terms[i];
        pattern_destroy(term->pattern);
        if (filter->is_twin)
            continue;
        json_path_destroy(term->path);
        free(term->groups);
        strbuf_release(&term->exact);
        strbuf_release(&term->header);
    }
    free(filter->terms);
    if (!filter->is_twin)
        free(filter->nodes);
    strbuf_release(&filter->scratch);
    free(filter);
}

bool
filter_is_empty(const struct filter *filter)
{
    return filter->count == 0;
}
