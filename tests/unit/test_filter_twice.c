// The filter language by a second, deliberately naive evaluator: random filters on random events. The filter
// is made as a tree and written as a line; the naive one looks at the tree, byte by byte, and never at the
// line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/filter/filter.h"

enum { EVENTS = 60, TREES = 4000, CHILDREN = 3, DEPTH = 4, NODES = 200, WORDS = 4 };

static unsigned seed = 7;

static unsigned
chance(unsigned of)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % of;
}

// --- letters ---

// Each pair is one letter in the eyes of a pattern without capitals.
static const char *const letters[][2] = {
    {"a", "A"},
    {"b", "B"},
    {"s", "\xc5\xbf"},
    {"\xc3\xa9", "\xc3\x89"},
    {"\xce\xb4", "\xce\x94"},
    {"\xec\x98\xa4", "\xec\x98\xa4"},
};
enum { LETTERS = sizeof letters / sizeof *letters };

// The length of the letter at `text`; *which: its number, or the byte itself.
static size_t
letter_at(const char *text, unsigned *which, bool *is_capital)
{
    for (unsigned i = 0; i < LETTERS; i++)
        for (int form = 0; form < 2; form++)
            if (strncmp(text, letters[i][form], strlen(letters[i][form])) == 0) {
                *which = 1000 + i;
                *is_capital = form == 1 && strcmp(letters[i][0], letters[i][1]) != 0 && i != 2;
                return strlen(letters[i][form]);
            }
    *which = (unsigned char)*text;
    *is_capital = *text >= 'A' && *text <= 'Z';
    return 1;
}

static bool
has_capital(const char *text)
{
    bool is_capital = false;
    unsigned which;
    while (*text && !is_capital)
        text += letter_at(text, &which, &is_capital);
    return is_capital;
}

static bool
begins_as(const char *text, const char *word)
{
    while (*word) {
        unsigned a, b;
        bool ignored;
        if (!*text)
            return false;
        text += letter_at(text, &a, &ignored);
        word += letter_at(word, &b, &ignored);
        if (a != b)
            return false;
    }
    return true;
}

// Smart case, as the manual says.
static bool
holds(const char *text, const char *word)
{
    if (!text)
        return false;
    if (has_capital(word))
        return strstr(text, word) != NULL;
    unsigned which;
    bool ignored;
    for (; *text; text += letter_at(text, &which, &ignored))
        if (begins_as(text, word))
            return true;
    return !*word;
}

static const char *
random_text(char *room, unsigned most)
{
    static const char *const others[] = {" ", "x", "(", ")", "or", "not", "topic:", "!", "1"};
    size_t len = 0;
    room[0] = '\0';
    for (unsigned left = chance(most + 1); left; left--) {
        const char *next = chance(4) ? letters[chance(LETTERS)][chance(4) == 0] : others[chance(9)];
        memcpy(room + len, next, strlen(next) + 1);
        len += strlen(next);
    }
    return room;
}

// --- events ---

static struct naive_event {
    char error[200], type[200], topic[200], stack[200], payload[300], who[200];
    const char *has_type, *has_topic, *has_stack; // or NULL
    int64_t amount;                               // in the payload; -1: none
    bool has_payload, has_partition;
    struct event event;
} events[EVENTS];

static void
write_payload(struct naive_event *naive)
{
    struct strbuf json = {0};
    strbuf_printf(&json, "{\"who\": \"%s\"", naive->who);
    if (naive->amount >= 0)
        strbuf_printf(&json, ", \"amount\": %d", (int)naive->amount);
    strbuf_add_char(&json, '}');
    snprintf(naive->payload, sizeof naive->payload, "%s", strbuf_text(&json));
    strbuf_release(&json);
}

static void
make_event(struct naive_event *naive, int64_t id)
{
    naive->amount = chance(3) ? (int64_t)chance(5) : -1;
    naive->has_payload = chance(5) > 0;
    naive->has_partition = chance(2);
    random_text(naive->error, 8);
    random_text(naive->who, 3);
    naive->has_type = chance(4) ? random_text(naive->type, 3) : NULL;
    naive->has_topic = chance(4) ? random_text(naive->topic, 3) : NULL;
    naive->has_stack = chance(4) ? random_text(naive->stack, 5) : NULL;
    write_payload(naive);
    naive->event = (struct event){
        .id = id,
        .status = EVENT_PENDING,
        .error_message = bytes_of(naive->error),
        .event_type = naive->has_type ? bytes_of(naive->type) : BYTES_ABSENT,
        .topic = naive->has_topic ? bytes_of(naive->topic) : BYTES_ABSENT,
        .stack_trace = naive->has_stack ? bytes_of(naive->stack) : BYTES_ABSENT,
        .payload = naive->has_payload ? bytes_of(naive->payload) : BYTES_ABSENT,
        .origin = {.has_partition = naive->has_partition, .partition = (int32_t)chance(4)},
        .retries.count = (int32_t)chance(5),
        .category = (enum category)chance(CATEGORY_COUNT),
        .created_at = TIME_ABSENT,
        .known.revisions = (int32_t)chance(2),
        .known.returned = (int32_t)chance(2),
    };
}

// --- filters as trees ---

enum leaf {
    LEAF_BARE,
    LEAF_ERROR,
    LEAF_TYPE,
    LEAF_TOPIC,
    LEAF_STACK,
    LEAF_PAYLOAD,
    LEAF_EXACT,
    LEAF_ID,
    LEAF_RETRIES,
    LEAF_PARTITION,
    LEAF_CATEGORY,
    LEAF_EDITED,
    LEAF_RETURNED,
    LEAF_HAS_STACK,
    LEAF_WHO,
    LEAF_AMOUNT,
    LEAVES
};

struct node {
    enum { IS_LEAF, IS_ALL, IS_ANY } kind;
    bool is_inverted, says_not; // not instead of !
    enum leaf leaf;
    char text[100];
    int64_t number;
    const struct node *children[CHILDREN];
    size_t count;
};
static struct node nodes[NODES];
static size_t node_count;

static const struct node *
make_leaf(bool may_be_bare)
{
    struct node *node = &nodes[node_count++];
    *node = (struct node){.leaf = (enum leaf)chance(LEAVES), .number = (int64_t)chance(5)};
    if (node->leaf == LEAF_BARE && !may_be_bare)
        node->leaf = LEAF_ERROR;
    node->is_inverted = node->leaf != LEAF_BARE && chance(4) == 0;
    node->says_not = chance(2);
    do
        random_text(node->text, 2);
    while (!node->text[0] || node->text[0] == ' ');
    return node;
}

static const struct node *
make_tree(int depth, bool is_below_all)
{
    if (depth == 0 || node_count > NODES - 50 || chance(3) == 0)
        return make_leaf(false);
    struct node *node = &nodes[node_count++];
    *node = (struct node){.kind = chance(2) ? IS_ALL : IS_ANY, .says_not = chance(2)};
    node->is_inverted = chance(4) == 0 && (depth < DEPTH || is_below_all);
    node->count = 2 + chance(2);
    for (size_t i = 0; i < node->count; i++)
        node->children[i] =
            node->kind == IS_ALL && i == 0 && chance(2) ? make_leaf(true) : make_tree(depth - 1, true);
    return node;
}

// In quotes, each character that means something escaped.
static void
write_expression(struct strbuf *line, const char *text)
{
    strbuf_add_char(line, '"');
    for (; *text; text++) {
        if (strchr("()[]{}.*+?^$|\\", *text))
            strbuf_add_char(line, '\\');
        strbuf_add_char(line, *text);
    }
    strbuf_add_char(line, '"');
}

static void
write_leaf(const struct node *node, struct strbuf *line)
{
    static const char *const fields[LEAVES] = {
        [LEAF_BARE] = "",        [LEAF_ERROR] = "error:", [LEAF_TYPE] = "type:",
        [LEAF_TOPIC] = "topic:", [LEAF_STACK] = "stack:", [LEAF_PAYLOAD] = "payload:"};
    switch (node->leaf) {
    case LEAF_BARE:
    case LEAF_ERROR:
    case LEAF_TYPE:
    case LEAF_TOPIC:
    case LEAF_STACK:
    case LEAF_PAYLOAD:
        strbuf_add_text(line, fields[node->leaf]);
        write_expression(line, node->text);
        return;
    case LEAF_EXACT:
        strbuf_printf(line, "topic:=\"%s\"", node->text);
        return;
    case LEAF_ID:
        strbuf_printf(line, "id:>%d", (int)node->number * 10);
        return;
    case LEAF_RETRIES:
        strbuf_printf(line, "retries:<%d", (int)node->number);
        return;
    case LEAF_PARTITION:
        strbuf_printf(line, "partition:%d", (int)node->number);
        return;
    case LEAF_CATEGORY:
        strbuf_printf(line, "category:%s", category_name((enum category)node->number));
        return;
    case LEAF_EDITED:
    case LEAF_RETURNED:
        strbuf_add_text(line, node->leaf == LEAF_EDITED ? "is:edited" : "is:returned");
        return;
    case LEAF_HAS_STACK:
        strbuf_add_text(line, "has:stack");
        return;
    case LEAF_WHO:
        strbuf_add_text(line, "$.who~");
        write_expression(line, node->text);
        return;
    case LEAF_AMOUNT:
        strbuf_printf(line, "$.amount>%d", (int)node->number);
        return;
    case LEAVES:
        break;
    }
}

static void
write_node(const struct node *node, bool needs_bracket, struct strbuf *line)
{
    needs_bracket |= node->is_inverted;
    if (node->is_inverted)
        strbuf_add_text(line, node->says_not ? "not " : "!");
    if (node->kind == IS_LEAF) {
        write_leaf(node, line);
        return;
    }
    strbuf_add_text(line, needs_bracket ? "(" : "");
    for (size_t i = 0; i < node->count; i++) {
        strbuf_add_text(line, i == 0 ? "" : node->kind == IS_ANY ? "  or " : " ");
        // Or binds less than what stands side by side.
        write_node(node->children[i], node->kind == IS_ALL || node->children[i]->kind == IS_ANY, line);
    }
    strbuf_add_text(line, needs_bracket ? ")" : "");
}

// --- the naive evaluator ---

static bool
leaf_matches(const struct node *node, const struct naive_event *naive)
{
    const struct event *event = &naive->event;
    switch (node->leaf) {
    case LEAF_BARE:
    case LEAF_ERROR:
        return holds(naive->error, node->text);
    case LEAF_TYPE:
        return holds(naive->has_type, node->text);
    case LEAF_TOPIC:
        return holds(naive->has_topic, node->text);
    case LEAF_STACK:
        return holds(naive->has_stack, node->text);
    case LEAF_PAYLOAD:
        return naive->has_payload && holds(naive->payload, node->text);
    case LEAF_EXACT:
        return naive->has_topic && strcmp(naive->topic, node->text) == 0;
    case LEAF_ID:
        return event->id > node->number * 10;
    case LEAF_RETRIES:
        return event->retries.count < node->number;
    case LEAF_PARTITION:
        return naive->has_partition && event->origin.partition == node->number;
    case LEAF_CATEGORY:
        return (int64_t)event->category == node->number;
    case LEAF_EDITED:
        return event->known.revisions > 0;
    case LEAF_RETURNED:
        return event->known.returned > 0;
    case LEAF_HAS_STACK:
        return naive->has_stack && naive->stack[0];
    case LEAF_WHO:
        return naive->has_payload && holds(naive->who, node->text);
    case LEAF_AMOUNT:
        return naive->has_payload && naive->amount > node->number;
    case LEAVES:
        break;
    }
    return false;
}

static bool
naively(const struct node *node, const struct naive_event *naive)
{
    bool matches = node->kind == IS_ALL;
    if (node->kind == IS_LEAF)
        matches = leaf_matches(node, naive);
    for (size_t i = 0; i < node->count; i++) {
        bool one = naively(node->children[i], naive);
        matches = node->kind == IS_ALL ? matches && one : matches || one;
    }
    return matches != node->is_inverted;
}

// --- both ---

// By the verdicts of the terms one by one, in an order that chance gives.
static enum filter_verdict
decide_piecemeal(struct filter *filter, const struct event *event)
{
    struct filter_known known = {0};
    uint64_t open;
    enum filter_verdict verdict = filter_decide(filter, &known, &open);
    while (open) {
        size_t term = chance((unsigned)filter_terms(filter));
        if (open >> term & 1)
            filter_know(&known, 1ull << term, filter_match_term(filter, term, event));
        verdict = filter_decide(filter, &known, &open);
    }
    return verdict;
}

static size_t
compare(const struct node *tree, const char *line)
{
    const struct filter_context context = {0};
    struct err err = {0};
    struct filter *filter = NULL;
    size_t matching = 0;
    if (!filter_parse(&filter, bytes_of(line), &context, &err))
        fail_msg("%s\ncolumn %d: %s", line, err.column, err.text);
    for (size_t i = 0; i < EVENTS; i++) {
        enum filter_verdict expected = naively(tree, &events[i]) ? FILTER_YES : FILTER_NO;
        enum filter_verdict said = filter_match(filter, &events[i].event);
        enum filter_verdict pieced =
            filter_terms(filter) <= 64 ? decide_piecemeal(filter, &events[i].event) : said;
        matching += expected == FILTER_YES;
        if (said != expected || pieced != expected)
            fail_msg("%s\n%d and %d, naively %d, of error \"%s\", type \"%s\", topic \"%s\", payload %s",
                     line, (int)said, (int)pieced, (int)expected, events[i].error, events[i].type,
                     events[i].topic, events[i].payload);
    }
    filter_destroy(filter);
    return matching;
}

static void
two_evaluators_agree(void **state)
{
    (void)state;
    size_t matching = 0;
    for (size_t i = 0; i < EVENTS; i++)
        make_event(&events[i], (int64_t)i + 1);
    for (int i = 0; i < TREES; i++) {
        struct strbuf line = {0};
        node_count = 0;
        const struct node *tree = make_tree(DEPTH, false);
        write_node(tree, false, &line);
        matching += compare(tree, strbuf_text(&line));
        strbuf_release(&line);
    }
    // Neither nothing nor everything: both would agree on anything.
    assert_in_range(matching, (size_t)TREES * EVENTS / 5, (size_t)TREES * EVENTS / 5 * 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_evaluators_agree)};
    return cmocka_run_group_tests_name("filter_twice", tests, NULL, NULL);
}
