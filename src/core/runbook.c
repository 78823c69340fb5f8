#include "core/runbook.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "core/event.h"
#include "core/filter/filter.h"
#include "core/filter/pattern.h"

struct entry {
    struct advice advice;
    struct pattern *class_pattern; // NULL: any
    bool has_category;
    enum category category;
    struct filter *filter; // NULL: any
};

struct runbook {
    struct arena arena;
    struct entry *entries; // heap
    size_t count, capacity;
};

struct runbook *
runbook_create(void)
{
    return alloc_bytes(sizeof(struct runbook));
}

static void
entry_release(struct entry *entry)
{
    pattern_destroy(entry->class_pattern);
    filter_destroy(entry->filter);
}

void
runbook_destroy(struct runbook *runbook)
{
    if (!runbook)
        return;
    for (size_t i = 0; i < runbook->count; i++)
        entry_release(&runbook->entries[i]);
    free(runbook->entries);
    arena_release(&runbook->arena);
    free(runbook);
}

size_t
runbook_count(const struct runbook *runbook)
{
    return runbook ? runbook->count : 0;
}

const struct advice *
runbook_at(const struct runbook *runbook, size_t i)
{
    return &runbook->entries[i].advice;
}

// A group is known by what its events share: a filter about anything else could not be decided.
static bool
parse_filter(const char *text, struct filter **filter, struct err *err)
{
    const unsigned known = EVENT_NARROW | EVENT_ERROR | EVENT_GROUP;
    static const char *const fields[] = {"error", "class", "category", "group", "type", "topic"};
    const struct filter_context context = {.now = 0, .new_after = TIME_ABSENT};
    if (!filter_parse(filter, bytes_of(text), &context, err))
        return false;
    for (size_t i = 0; i < filter_terms(*filter); i++) {
        bool is_one = (filter_term_needs(*filter, i) & ~known) == 0;
        bool is_named = false;
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            is_named = is_named || strcmp(filter_term_name(*filter, i), fields[f]) == 0;
        if (!is_one || !is_named)
            return err_set(err, ERR_USAGE,
                           "a filter here is about error, class, category, group, type and topic, not %s",
                           filter_term_name(*filter, i));
    }
    return true;
}

static bool
is_web(const char *link)
{
    size_t scheme = strncmp(link, "https://", 8) == 0 ? 8 : strncmp(link, "http://", 7) == 0 ? 7 : 0;
    for (const char *c = link; *c; c++)
        if (*c <= ' ' || *c > '~')
            return false;
    return scheme && link[scheme];
}

static bool
entry_read(struct entry *entry, const struct runbook_match *match, const struct advice *advice,
           const char **option, struct err *err)
{
    *option = "class";
    if (match->class_pattern && !pattern_compile(&entry->class_pattern, bytes_of(match->class_pattern), err))
        return false;
    *option = "category";
    entry->has_category = match->category != NULL;
    if (match->category && !category_parse(bytes_of(match->category), &entry->category))
        return err_set(err, ERR_USAGE, "a category is transient, data, system, permanent or unknown");
    *option = "filter";
    if (match->filter && !parse_filter(match->filter, &entry->filter, err))
        return false;
    *option = "link";
    if (advice->link && !is_web(advice->link))
        return err_set(err, ERR_USAGE, "a link begins with https:// or http://, and has no blanks");
    *option = "first";
    if (!match->class_pattern && !match->category && !match->filter)
        return err_set(err, ERR_USAGE, "it matches nothing: it needs class, category or filter");
    return true;
}

static const char *
kept(struct runbook *runbook, const char *text)
{
    return text ? arena_text(&runbook->arena, bytes_of(text)) : NULL;
}

bool
runbook_add(struct runbook *runbook, const struct runbook_match *match, const struct advice *advice,
            const char **option, struct err *err)
{
    struct entry entry = {0};
    if (!entry_read(&entry, match, advice, option, err)) {
        entry_release(&entry);
        return false;
    }
    entry.advice = (struct advice){.cause = kept(runbook, advice->cause),
                                   .first = kept(runbook, advice->first),
                                   .link = kept(runbook, advice->link),
                                   .line = advice->line};
    runbook->entries =
        alloc_grow(runbook->entries, runbook->count, &runbook->capacity, sizeof *runbook->entries);
    runbook->entries[runbook->count++] = entry;
    return true;
}

static bool
entry_matches(struct entry *entry, const struct runbook_subject *subject, const struct event *event)
{
    bool has_class = bytes_present(subject->error_class) && subject->error_class.len > 0;
    struct bytes named = has_class ? subject->error_class : subject->message;
    if (entry->has_category && entry->category != subject->category)
        return false;
    if (entry->class_pattern &&
        (!bytes_present(named) || pattern_find(entry->class_pattern, named, 0, NULL, NULL) != PATTERN_YES))
        return false;
    return !entry->filter || filter_match(entry->filter, event) == FILTER_YES;
}

const struct advice *
runbook_find(struct runbook *runbook, const struct runbook_subject *subject)
{
    const struct event event = {.status = EVENT_PENDING,
                                .group = subject->group,
                                .category = subject->category,
                                .error_class = subject->error_class,
                                .error_message = subject->message,
                                .event_type = subject->event_type,
                                .topic = subject->topic};
    for (size_t i = 0; i < runbook_count(runbook); i++)
        if (entry_matches(&runbook->entries[i], subject, &event))
            return &runbook->entries[i].advice;
    return NULL;
}

const char *
advice_words(const struct advice *advice, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s%s%s", advice->cause, advice->first ? ": " : "",
                        advice->first ? advice->first : "", advice->link ? " · " : "",
                        advice->link ? advice->link : "");
}
