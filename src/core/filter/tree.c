// What joins the terms of a filter: matching by it, deciding by the verdicts of some terms, and its parts.
#include "core/filter/parse.h"

#include <assert.h>

enum { MASKED = 64 }; // terms that a set of them can name

static enum filter_verdict
match_node(struct filter *filter, size_t n, const struct event *event)
{
    const struct filter_node *node = &filter->nodes[n];
    if (node->join == JOIN_NONE)
        return filter_match_term(filter, node->term, event);
    enum filter_verdict decides = node->join == JOIN_ALL ? FILTER_NO : FILTER_YES;
    enum filter_verdict all = node->join == JOIN_ALL ? FILTER_YES : FILTER_NO;
    for (size_t child = node->first; child != FILTER_NO_NODE; child = filter->nodes[child].next) {
        enum filter_verdict one = match_node(filter, child, event);
        if (one == decides)
            return decides;
        if (one == FILTER_UNDECIDED)
            all = FILTER_UNDECIDED;
    }
    return all;
}

enum filter_verdict
filter_match(struct filter *filter, const struct event *event)
{
    return filter->root == FILTER_NO_NODE ? FILTER_YES : match_node(filter, filter->root, event);
}

// --- by the verdicts of some terms ---

void
filter_know(struct filter_known *known, uint64_t terms, enum filter_verdict verdict)
{
    *(verdict == FILTER_YES ? &known->yes : verdict == FILTER_NO ? &known->no : &known->undecided) |= terms;
}

static enum filter_verdict
decide_term(size_t term, const struct filter_known *known, uint64_t *open)
{
    uint64_t bit = 1ull << term;
    *open = (known->yes | known->no | known->undecided) & bit ? 0 : bit;
    return known->yes & bit ? FILTER_YES : known->no & bit ? FILTER_NO : FILTER_UNDECIDED;
}

static enum filter_verdict
decide_node(const struct filter *filter, size_t n, const struct filter_known *known, uint64_t *open)
{
    const struct filter_node *node = &filter->nodes[n];
    if (node->join == JOIN_NONE)
        return decide_term(node->term, known, open);
    enum filter_verdict decides = node->join == JOIN_ALL ? FILTER_NO : FILTER_YES;
    enum filter_verdict all = node->join == JOIN_ALL ? FILTER_YES : FILTER_NO;
    *open = 0;
    for (size_t child = node->first; child != FILTER_NO_NODE; child = filter->nodes[child].next) {
        uint64_t left;
        enum filter_verdict one = decide_node(filter, child, known, &left);
        *open |= left;
        if (!left && one == decides) {
            *open = 0;
            return decides;
        }
        if (!left && one == FILTER_UNDECIDED)
            all = FILTER_UNDECIDED;
    }
    return all;
}

enum filter_verdict
filter_decide(const struct filter *filter, const struct filter_known *known, uint64_t *open)
{
    assert(filter->count <= MASKED);
    *open = 0;
    return filter->root == FILTER_NO_NODE ? FILTER_YES : decide_node(filter, filter->root, known, open);
}

// --- parts ---

// The node of a part: a child of the root where that joins by and, else the root.
static size_t
part_node(const struct filter *filter, size_t part)
{
    size_t n = filter->root;
    if (n == FILTER_NO_NODE || filter->nodes[n].join != JOIN_ALL)
        return part == 0 ? n : FILTER_NO_NODE;
    for (n = filter->nodes[n].first; n != FILTER_NO_NODE && part; part--)
        n = filter->nodes[n].next;
    return n;
}

size_t
filter_parts(const struct filter *filter)
{
    size_t count = 0;
    while (part_node(filter, count) != FILTER_NO_NODE)
        count++;
    return count;
}

bool
filter_part_term(const struct filter *filter, size_t part, size_t *term)
{
    const struct filter_node *node = &filter->nodes[part_node(filter, part)];
    *term = node->term;
    return node->join == JOIN_NONE;
}

// The i-th term below a node, counted down; FILTER_NO_NODE: it has fewer.
static size_t
nth_term(const struct filter *filter, size_t n, size_t *i)
{
    const struct filter_node *node = &filter->nodes[n];
    if (node->join == JOIN_NONE)
        return (*i)-- == 0 ? node->term : FILTER_NO_NODE;
    for (size_t child = node->first; child != FILTER_NO_NODE; child = filter->nodes[child].next) {
        size_t term = nth_term(filter, child, i);
        if (term != FILTER_NO_NODE)
            return term;
    }
    return FILTER_NO_NODE;
}

bool
filter_part_terms(const struct filter *filter, size_t part, size_t i, size_t *term)
{
    *term = nth_term(filter, part_node(filter, part), &i);
    return *term != FILTER_NO_NODE;
}

bool
filter_part_is_choice(const struct filter *filter, size_t part)
{
    const struct filter_node *node = &filter->nodes[part_node(filter, part)];
    if (node->join != JOIN_ANY)
        return false;
    for (size_t child = node->first; child != FILTER_NO_NODE; child = filter->nodes[child].next)
        if (filter->nodes[child].join != JOIN_NONE)
            return false;
    return true;
}

enum filter_verdict
filter_match_part(struct filter *filter, size_t part, const struct event *event)
{
    return match_node(filter, part_node(filter, part), event);
}

bool
filter_term_is_part(const struct filter *filter, size_t term)
{
    size_t only;
    for (size_t part = 0; part_node(filter, part) != FILTER_NO_NODE; part++)
        if (filter_part_term(filter, part, &only) && only == term)
            return true;
    return false;
}

bool
filter_is_choice(const struct filter *filter)
{
    return filter->root != FILTER_NO_NODE && filter->nodes[filter->root].join == JOIN_ANY;
}

// --- for people ---

struct printing {
    size_t left; // rows to step over
    struct filter_row *row;
};

static bool
print_node(const struct filter *filter, size_t n, int depth, struct printing *printing)
{
    const struct filter_node *node = &filter->nodes[n];
    if (printing->left-- == 0) {
        *printing->row = (struct filter_row){.depth = depth, .term = node->term, .join = node->join};
        return true;
    }
    for (size_t child = node->first; child != FILTER_NO_NODE; child = filter->nodes[child].next)
        if (print_node(filter, child, depth + 1, printing))
            return true;
    return false;
}

bool
filter_row(const struct filter *filter, size_t i, struct filter_row *row)
{
    // The terms that a plain filter joins by and need no row above them.
    bool is_plain = filter->root != FILTER_NO_NODE && filter->nodes[filter->root].join == JOIN_ALL;
    struct printing printing = {.left = i + is_plain, .row = row};
    return filter->root != FILTER_NO_NODE && print_node(filter, filter->root, is_plain ? -1 : 0, &printing);
}

// --- statuses ---

// A term about something else leaves every status open.
static unsigned
node_statuses(const struct filter *filter, size_t n, bool *has_term)
{
    const struct filter_node *node = &filter->nodes[n];
    const struct filter_term *term = &filter->terms[node->term];
    if (node->join == JOIN_NONE && term->field != FIELD_STATUS)
        return FILTER_ALL_STATUSES;
    if (node->join == JOIN_NONE) {
        *has_term = true;
        return term->is_inverted ? FILTER_ALL_STATUSES & ~term->statuses : term->statuses;
    }
    unsigned statuses = node->join == JOIN_ALL ? FILTER_ALL_STATUSES : 0;
    for (size_t child = node->first; child != FILTER_NO_NODE; child = filter->nodes[child].next) {
        unsigned some = node_statuses(filter, child, has_term);
        statuses = node->join == JOIN_ALL ? statuses & some : statuses | some;
    }
    return statuses;
}

unsigned
filter_statuses(const struct filter *filter)
{
    bool has_term = false;
    unsigned statuses = filter->root == FILTER_NO_NODE ? 0 : node_statuses(filter, filter->root, &has_term);
    return has_term ? statuses : 0;
}
