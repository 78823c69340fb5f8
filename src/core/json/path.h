// path: private part of paths, shared by finding and editing.
#ifndef REDRIVE_CORE_JSON_PATH_H
#define REDRIVE_CORE_JSON_PATH_H

#include "core/json/json.h"
#include "core/json/match.h"

enum json_step_kind {
    JSON_STEP_NAME,  // .name
    JSON_STEP_INDEX, // [2]
    JSON_STEP_EVERY, // [*]
};

struct json_step {
    enum json_step_kind kind;
    size_t index;
    struct strbuf name;
};

struct json_path {
    struct json_step *steps;
    size_t count, capacity;
    size_t stars; // steps that are [*]
};

// As json_matches_find, for the first `count` steps.
bool json_steps_find(const struct json_path *path, size_t count, struct bytes text,
                     struct json_matches *matches);
// Has the name token this content?
bool json_name_is(struct bytes token, const struct strbuf *name);
// Appends a step with that name: .name or ['odd name'].
void json_name_print(struct bytes content, struct strbuf *out);
// Does the step name the child that was just returned?
bool json_step_is(const struct json_step *step, const struct json_children *children, struct json_token name);

#endif
