#include "search/term_text.h"

#include <stddef.h>

static const struct {
    bool is_long;
    enum event_text text;
    size_t member; // of struct event
} columns[] = {
    [FILTER_FROM_ERROR] = {true, EVENT_TEXT_ERROR, offsetof(struct event, error_message)},
    [FILTER_FROM_STACK] = {true, EVENT_TEXT_STACK, offsetof(struct event, stack_trace)},
    [FILTER_FROM_PAYLOAD] = {true, EVENT_TEXT_PAYLOAD, offsetof(struct event, payload)},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

enum event_text
term_text(const struct filter *filter, size_t term)
{
    enum filter_from from = filter_term_from(filter, term);
    return (size_t)from < COLUMNS && columns[from].is_long ? columns[from].text : EVENT_TEXT_COUNT;
}

static struct event
event_with(const struct filter *filter, size_t term, struct bytes text)
{
    struct event event = {.created_at = TIME_ABSENT};
    size_t member = columns[filter_term_from(filter, term)].member;
    *(struct bytes *)((char *)&event + member) = text;
    return event;
}

enum filter_verdict
term_text_match(struct filter *filter, size_t term, struct bytes text)
{
    const struct event event = event_with(filter, term, text);
    return filter_match_term(filter, term, &event);
}

enum event_text
part_text(const struct filter *filter, size_t part)
{
    size_t term;
    enum event_text text = EVENT_TEXT_COUNT;
    for (size_t i = 0; filter_part_terms(filter, part, i, &term); i++) {
        if (i > 0 && term_text(filter, term) != text)
            return EVENT_TEXT_COUNT;
        text = term_text(filter, term);
    }
    return text;
}

enum filter_verdict
part_text_match(struct filter *filter, size_t part, struct bytes text)
{
    size_t term = 0;
    (void)filter_part_terms(filter, part, 0, &term);
    const struct event event = event_with(filter, term, text);
    return filter_match_part(filter, part, &event);
}

enum filter_verdict
term_text_without(const struct filter *filter, size_t term)
{
    return filter_term_is_inverted(filter, term) ? FILTER_YES : FILTER_NO;
}
