// json_path: private part of paths, shared by finding and editing.
#ifndef REDRIVE_CORE_JSON_PATH_H
#define REDRIVE_CORE_JSON_PATH_H

#include "core/json/json.h"

enum { JSON_PATH_STEPS = 64 };

struct json_step {
    bool is_index;
    size_t index;
    struct strbuf name;
};

struct json_path {
    struct json_step steps[JSON_PATH_STEPS];
    size_t count;
};

// As json_path_find, for the first `count` steps.
bool json_steps_find(const struct json_step *steps, size_t count, struct bytes text,
                     struct json_token *value);
// Does the step name the child that was just returned?
bool json_step_is(const struct json_step *step, const struct json_children *children, struct json_token name);

#endif
