// runbook: what the team knows about kinds of errors: the cause, the first thing to do, a link. Entries match
// groups by their class, their category, a filter, or several of these; the first entry that matches counts.
// Used by one thread at a time.
#ifndef REDRIVE_CORE_RUNBOOK_H
#define REDRIVE_CORE_RUNBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "core/category.h"

struct runbook;

// What is said about a group; texts belong to the runbook.
struct advice {
    const char *cause; // "a slow dependency"
    const char *first; // the first thing to do; NULL: none
    const char *link;  // http or https; NULL: none
    int line;          // of the file
};

// NULL: that condition is not asked.
struct runbook_match {
    const char *class_pattern; // a regular expression on the class of the root error, or where it has none,
                               // on the message
    const char *category;
    const char *filter; // about what all events of a group share: error, class, category, group, type, topic
};

// A group, as far as it is known; absent texts match nothing.
struct runbook_subject {
    uint64_t group;
    enum category category;
    struct bytes error_class, message, event_type, topic;
};

struct runbook *runbook_create(void);
void runbook_destroy(struct runbook *runbook); // NULL is fine
size_t runbook_count(const struct runbook *runbook);
const struct advice *runbook_at(const struct runbook *runbook, size_t i);
// Copies everything. On failure *option names the member that is wrong: "class", "category", "filter",
// "link".
bool runbook_add(struct runbook *runbook, const struct runbook_match *match, const struct advice *advice,
                 const char **option, struct err *err) MUST_CHECK;
// NULL: no entry matches, or there is no runbook.
const struct advice *runbook_find(struct runbook *runbook, const struct runbook_subject *subject);
// "a slow dependency: check it, then reprocess with a canary · https://…"
const char *advice_words(const struct advice *advice, struct arena *arena);

#endif
