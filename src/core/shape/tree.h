// tree: the paths of a shape and what is known of each. Private to the room.
#ifndef REDRIVE_CORE_SHAPE_TREE_H
#define REDRIVE_CORE_SHAPE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "core/json/json.h"
#include "core/shape/shape.h"

#define NODE_NONE UINT32_MAX
#define NODE_ROOT 0

enum shape_kind {
    KIND_OBJECT,
    KIND_ARRAY,
    KIND_TEXT,
    KIND_NUMBER,
    KIND_BOOLEAN,
    KIND_NULL,
    KIND_COUNT,
};

enum node_role {
    NODE_MEMBER,  // one name of an object; also the root
    NODE_ELEMENT, // all elements of an array
    NODE_ANY,     // all members of a map
    NODE_FREE,
};

// Values of a path while they are few.
enum { VALUES_KEPT = 12, VALUE_BYTES = 48 };
struct shape_value {
    char *text; // content of a text; else the token
    uint32_t len;
    enum shape_kind kind;
    uint32_t events; // that have it
    uint32_t event;  // the last one
};

// What the event that is being read has at a path.
struct node_event {
    uint32_t number;        // of the event; other fields belong to an older one otherwise
    unsigned kinds;         // a bit each
    bool is_blank;          // an empty text
    uint32_t containers[2]; // objects, arrays
    uint32_t holders;       // containers at the parent that have this child
    uint64_t holder;        // the last such container
};

// Numbers of events.
struct node_sums {
    uint32_t events;           // that have the path
    uint32_t any[KIND_COUNT];  // that have it with this type, perhaps with others too
    uint32_t only[KIND_COUNT]; // that have it with no other type
    uint32_t full;             // in which every container that could have it has it
    uint32_t blanks;           // with an empty text
};

struct node_links {
    uint32_t parent, first_child, next; // next: of the same parent
    uint32_t next_in_bucket;
    uint32_t follower; // the child read after this one the last time; for a container: its first child
    uint32_t leader;
};

struct shape_node {
    enum node_role role;
    struct node_links links;
    char *name; // content, of a NODE_MEMBER
    uint32_t name_len;
    uint64_t hash;
    struct node_event event;
    struct node_sums sums;
    uint32_t child_count; // members with a name
    uint32_t rare_names;  // members that occur in a single event
    bool is_map;          // the names are data; the one child is NODE_ANY
    bool is_cut;          // some names were not kept
    struct shape_value *values;
    uint8_t value_count;
    uint8_t many; // a bit for each kind whose values are too many, or too long
};

struct shape {
    struct shape_node *nodes; // [0] is the root
    size_t count, capacity;
    uint32_t *buckets;
    uint32_t free;     // links.next
    uint32_t dropped;  // free once the event that is being read is over
    size_t used;       // nodes that are not free
    size_t text;       // bytes of names and values
    uint32_t *touched; // by the event that is being read
    size_t touched_count;
    size_t events, skipped;
    uint64_t containers; // a number for each container ever read
};

enum { TREE_BUCKETS = 4096 };

// The child of that name, or NODE_NONE; of a map NODE_ANY's. `before`: the sibling read before it, which
// makes it quick where the order is the usual one; NODE_NONE: it is the first.
uint32_t tree_member(const struct shape *shape, uint32_t parent, struct bytes name, uint32_t before);
uint32_t tree_element(const struct shape *shape, uint32_t parent);
// The same, made where it is missing. NODE_NONE: a limit forbids it.
uint32_t tree_need_member(struct shape *shape, uint32_t parent, struct bytes name, uint32_t before);
uint32_t tree_need_element(struct shape *shape, uint32_t parent);
// From here on the names of the object are data: forgets the members it has.
void tree_make_map(struct shape *shape, uint32_t node);
// Takes back what tree_make_map forgot, when no one holds its numbers any more.
void tree_recycle(struct shape *shape);

// Counts a value of the event that is being read; forgets the values of its kind once they are many.
void tree_add_value(struct shape *shape, uint32_t node, enum shape_kind kind, struct bytes text);
// May the values of that kind be called few, so that another one is a surprise?
bool tree_has_few_values(const struct shape_node *node, enum shape_kind kind);
const struct shape_value *tree_value(const struct shape_node *node, enum shape_kind kind, struct bytes text);

enum shape_kind tree_kind(enum json_kind kind); // of the first token of a value

// Are k of n events so many, or so few, that the others are the exception?
static inline bool
tree_is_nearly_all(uint32_t k, uint32_t n)
{
    return n >= SHAPE_LEAST && (uint64_t)k * 20 >= (uint64_t)n * SHAPE_MAJORITY;
}
static inline bool
tree_is_rare(uint32_t k, uint32_t n)
{
    return n >= SHAPE_LEAST && (uint64_t)k * 20 <= (uint64_t)n * (20 - SHAPE_MAJORITY);
}

#endif
