// category: the kind of failure of a group, which suggests the remedy: transient (retry), data (correct, then
// reprocess), system (fix, deploy, then reprocess), permanent (discard, or repair by hand), unknown.
//
// The rules are data: src/core/category.def, one row a line, built into the binary; the configuration may put
// rows before them. A rule matches the root error class, the masked root text, or an error code. First match
// wins. A row may say not-transient instead of a category: transient rows after it do not count then, and
// what nothing else decides is permanent.
#ifndef REDRIVE_CORE_CATEGORY_H
#define REDRIVE_CORE_CATEGORY_H

#include <stdbool.h>
#include "base/bytes.h"
#include "base/err.h"

enum category {
    CATEGORY_UNKNOWN,
    CATEGORY_TRANSIENT,
    CATEGORY_DATA,
    CATEGORY_SYSTEM,
    CATEGORY_PERMANENT,
    CATEGORY_COUNT
};

const char *category_name(enum category category);
bool category_parse(struct bytes name, enum category *category);

struct category_rules;

// The built-in rules, with `extra` (rows of the same form, may be NULL) before them. A bad row is an error
// with its line.
struct category_rules *category_rules_create(const char *extra, struct err *err);
void category_rules_destroy(struct category_rules *rules);

// Pure; safe from several threads. *why (may be NULL) receives the rule's text, valid as long as the rules.
enum category category_of(const struct category_rules *rules, struct bytes error_class,
                          struct bytes root_text, const char **why);

#endif
