// json_tree: a random JSON text together with what it was made of, so that tests know its tokens, values and
// duplicates without reading it.
#ifndef REDRIVE_TESTS_LIB_JSON_TREE_H
#define REDRIVE_TESTS_LIB_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strbuf.h"
#include "core/json/json.h"

// Choices: from given bytes as long as there are any (a fuzzer's), then from a generator of the seed.
struct chance {
    const uint8_t *data;
    size_t len;
    uint64_t seed;
};
unsigned chance_below(struct chance *chance, unsigned limit); // 0 to limit - 1

enum { TREE_NODES = 64, TREE_TOKENS = 512, TREE_NAMES = 10 };

struct tree_node {
    enum json_kind kind;
    int parent;        // node, or -1
    size_t index;      // among the children of its parent
    int name;          // of tree_names, or -1
    size_t name_token; // tokens of its text: of its name, and its first and last
    size_t first, last;
    bool is_replaced; // by a later member of the same name
};

struct tree {
    struct strbuf text;
    struct json_token tokens[TREE_TOKENS];
    size_t token_count;
    struct tree_node nodes[TREE_NODES]; // a parent before its children, children in order
    int node_count;
    int duplicates;
};

// The names that members may have, as contents.
extern const struct bytes tree_names[TREE_NAMES];

void tree_grow(struct tree *tree, struct chance *chance); // zero-initialised before
void tree_release(struct tree *tree);

// The text of a token, and of the value of a node with all its bytes.
struct bytes tree_token(const struct tree *tree, size_t token);
struct bytes tree_value(const struct tree *tree, int node);
// A string token with this content, its characters spelled at random.
void tree_spell(struct chance *chance, struct bytes content, struct strbuf *out);

#endif
