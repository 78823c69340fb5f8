// Private part of recipes: operations as they were parsed, and the state of one application.
#ifndef REDRIVE_CORE_RECIPE_PRIVATE_H
#define REDRIVE_CORE_RECIPE_PRIVATE_H

#include "core/filter/pattern.h"
#include "core/json/match.h"
#include "core/recipe/recipe.h"

enum place_kind {
    PAYLOAD = 1 << 0,
    KEY = 1 << 1,
    HEADER = 1 << 2,
    TOPIC = 1 << 3,
    PARTITION = 1 << 4,
    PLACES_NONE = 0,
    PLACES_ALL = PAYLOAD | KEY | HEADER | TOPIC | PARTITION,
};

// A PATH.
struct place {
    enum place_kind kind;
    struct bytes text;        // as written
    struct bytes name;        // of a header
    struct json_path *path;   // within the payload, else NULL
    struct json_path *holder; // the same up to its last [*]; NULL: it ends there, or has none
};

enum arguments { PATH, PATH_JSON, PATH_NAME, PATH_PATH, PATH_REPLACEMENT, PATH_EXPECTATION, PROGRAM };

enum expectation {
    EXPECT_PRESENT,
    EXPECT_ABSENT,
    EXPECT_NUMBER,
    EXPECT_TEXT,
    EXPECT_BOOLEAN,
    EXPECT_NULL,
    EXPECT_OBJECT,
    EXPECT_ARRAY,
    EXPECT_EQUAL,
    EXPECT_MATCH,
};

// A part of the TEXT of replace: bytes, or a group.
struct replacement {
    struct bytes literal; // absent: the group
    size_t group;
};
enum { REPLACEMENT_GROUPS = 100 };

struct apply;

struct operation {
    const struct operation_kind *kind;
    int line; // in the text that was parsed
    struct place place, to;
    struct bytes operand; // everything behind the first path, as written
    struct bytes json;
    struct bytes name; // of rename, its content
    enum expectation expectation;
    struct pattern *pattern;
    struct replacement *replacements;
    size_t replacement_count;
    const char *program;
};

struct operation_kind {
    const char *word;
    enum arguments arguments;
    unsigned places;
    const char *sentence;
    enum recipe_outcome (*apply)(struct apply *apply, const struct operation *operation);
};
enum {
    RECIPE_KINDS =
#define OPERATION(name, word, arguments, places, sentence) +1
#include "core/recipe/operations.def"
#undef OPERATION
};
extern const struct operation_kind recipe_kinds[RECIPE_KINDS + 1]; // the last one has no word

struct recipe {
    bool is_twin; // everything but the patterns and the buffers is another one's
    struct arena arena;
    struct operation *operations;
    size_t count;
    // Buffers that keep their memory from event to event.
    struct strbuf payloads[2]; // what the last operation made, and what the next one makes
    struct strbuf value, scratch;
    struct json_matches matches[JSON_PATHS], more;
    struct json_swap *swaps; // of the last operation that only put single values in the place of others
    size_t swap_capacity;
};

// One application of a recipe to one event.
struct apply {
    struct recipe *recipe;
    const struct recipe_host *host;
    struct arena *arena;
    struct record_parts now; // after the operations so far; the payload may be in recipe->payloads
    bool is_read;            // the payload is known to fit and to be JSON
    bool may_be_deep;        // a container was put into the payload
    int first_change;        // line of the first operation that changed something
    size_t operation;        // the one that is being applied
    bool is_second;          // of two applications: nothing is expected to change
    // Places that recipe->matches holds for the payload as it is now.
    const struct place *looked_up[JSON_PATHS];
    size_t looked_up_count;
    struct recipe_note note;
};

// Writes the reason and returns the outcome.
enum recipe_outcome apply_stop(struct apply *apply, enum recipe_outcome outcome, const char *format, ...)
    PRINTF_LIKE(3, 4);
// "PATH does not exist", or why the payload has no paths at all.
enum recipe_outcome apply_missing(struct apply *apply, const struct place *place);
// Not applicable because of the value of one match: "PATH is SAID: VALUE".
enum recipe_outcome apply_unfit(struct apply *apply, const struct place *place,
                                const struct json_matches *matches, size_t item, const char *said);
// Finds the values of a place of the payload. RECIPE_CHANGED: go on; otherwise the payload cannot be read.
enum recipe_outcome apply_find(struct apply *apply, const struct place *place, struct json_matches *matches);
// The same for the place of an operation, to read only. The places of the operations behind it are found in
// the same pass, as long as none of those before is likely to change where paths lead.
enum recipe_outcome apply_look(struct apply *apply, const struct place *place,
                               const struct json_matches **matches);
// Refuses a payload that is too large, once. RECIPE_CHANGED: go on.
enum recipe_outcome apply_ready(struct apply *apply);
// The buffer for the next payload, empty; apply_payload makes its content the payload, if it differs.
struct strbuf *apply_buffer(struct apply *apply);
enum recipe_outcome apply_payload(struct apply *apply);
// Does the operation only put single values in the place of single values? Then paths lead where they led.
bool apply_only_swaps(const struct operation *operation);
// As apply_payload, by such an operation: what was found for the operations behind it stays known.
enum recipe_outcome apply_swapped(struct apply *apply, const struct place *place, size_t swaps);

// What an operation makes of the items of a path, one after the other.
struct choice {
    struct apply *apply;
    const struct operation *operation;
    const struct place *place;
    const struct json_matches *matches;
    size_t places;               // items that it acts on, whether they change or not
    enum recipe_outcome stopped; // RECIPE_CHANGED: it is not
    bool (*choose)(void *choice, size_t item, struct bytes *value);
    uint64_t first, replaced; // hashes: the first value that set replaced, and all of them
    size_t put;               // bytes of the values so far, and of the paths to them
    size_t swaps;             // in the recipe's list, where the operation only swaps
};
// Finds the place and sets each item to what choose says (json_set_each; the context is the choice). Does not
// apply where no item was acted on.
enum recipe_outcome apply_each(struct apply *apply, struct choice *choice,
                               bool (*choose)(void *choice, size_t item, struct bytes *value));
// The item's bytes; and the content of a text, in the recipe's scratch where it has escapes.
struct bytes choice_bytes(const struct choice *choice, size_t item);
struct bytes choice_content(const struct choice *choice, size_t item);
// Ends the operation because of this item: apply_unfit. Always false.
bool choice_unfit(struct choice *choice, size_t item, const char *said);

// The parts of the record other than the payload (place.c). The value of a place as JSON, appended; false: it
// has none.
bool place_json(const struct apply *apply, const struct place *place, struct strbuf *out);
bool place_exists(const struct apply *apply, const struct place *place);
// Puts JSON there. A header of that name is set where `appends` is not.
enum recipe_outcome place_set(struct apply *apply, const struct place *place, struct bytes json,
                              bool appends);
enum recipe_outcome place_remove(struct apply *apply, const struct place *place);
enum recipe_outcome place_rename(struct apply *apply, const struct place *place, struct bytes name);
// Can this JSON be put at a place? Otherwise *expected says what can.
bool place_takes(enum place_kind kind, struct bytes json, const char **expected);

// Are two JSON values equal: numbers by value, members in any order, escapes undone?
bool values_equal(struct bytes a, struct bytes b);
// Appends the number that text stands for (see to-number). false: it is none.
bool number_of_text(struct bytes content, struct strbuf *out);

#define OPERATION(name, word, arguments, places, sentence)                                                   \
    enum recipe_outcome recipe_do_##name(struct apply *apply, const struct operation *operation);
#include "core/recipe/operations.def"
#undef OPERATION

#endif
